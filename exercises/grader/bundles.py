"""Bundles: the course for students, and the grader for each platform.

A bundle is a mapping of names to members, written as a folder or as a zip file. None holds a
solution.
"""

import ast
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import gradcheck_ref
from course import HERE, ROOT, Exercise, read_course
from grader.reading import reading
from judging import PRIVATE

# By name: other files in the folder, such as an instructor's own cases, stay private.
MODULES = ("course", "expect", "in_notebook", "judging", "run", "screen", "verify")
UNNEEDED = ("oracle/vectors/", "oracle/generate/")  # of the package
IN_A_PAGE = ("course", "expect", "in_page", "judging", "screen")
LEARNERS = ("README.md", "hints.md", "starter.py", "checks.py")
GRADERS_NEED = ("starter.py", "checks.py")  # a bug hunt is graded with its starter
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date in a zip file


@dataclass(frozen=True)
class Member:
    """A file of a bundle."""

    content: bytes
    executable: bool = False


Bundle = dict[str, Member]


def students(exercises: Sequence[Exercise]) -> Bundle:
    """Return the course for students: no solution, no held-out check, no private case."""
    bundle = _everything(exercises, LEARNERS, heldout=False)
    for exercise in exercises:
        name = f"exercises/{exercise.name}/checks.py"
        bundle[name] = Member(without_heldout(bundle[name].content))
    bundle |= {name: Member(content) for name, content in reading(exercises).items()}
    return {**bundle, "README.md": Member(_readme(exercises).encode())}


def machinery_in_a_page() -> Bundle:
    """Return the modules that check any exercise on a page of the site, besides the package."""
    return {
        f"exercises/{name}.py": Member((HERE / f"{name}.py").read_bytes()) for name in IN_A_PAGE
    }


def exercise_in_a_page(exercise: Exercise) -> Bundle:
    """Return an exercise for its page: no solution, no held-out check.

    The page of a project also has the archives of the exercises that it needs, whose manifests
    differ.
    """
    folder, manifest = (
        f"exercises/{exercise.name}",
        manifest_of(with_needs(exercise), heldout=False),
    )
    checks = without_heldout((exercise.folder / "checks.py").read_bytes())
    return {
        "exercises/course.toml": Member(manifest.encode()),
        f"{folder}/checks.py": Member(checks),
        f"{folder}/starter.py": Member((exercise.folder / "starter.py").read_bytes()),
    }


def with_needs(exercise: Exercise) -> list[Exercise]:
    """Return a project after the exercises that it needs; any other exercise alone."""
    course = read_course()
    needed = exercise.needs if exercise in course.projects else ()
    return [*(e for e in course.exercises if e.name in needed), exercise]


def gradescope(exercises: Sequence[Exercise]) -> Bundle:
    """Return the autograder of Gradescope, for a zip file."""
    chosen = ",".join(exercise.number for exercise in exercises)
    return {
        **_grader(exercises),
        "setup.sh": _script(SETUP_GRADESCOPE.replace("@packages@", _packages(exercises))),
        "run_autograder": _script(RUN_GRADESCOPE.format(chosen=chosen)),
    }


def prairielearn(exercises: Sequence[Exercise]) -> Bundle:
    """Return a folder for ``serverFilesCourse`` of PrairieLearn."""
    return {
        **_grader(exercises),
        "run.sh": _script(RUN_PRAIRIELEARN),
    }


def classroom50(exercises: Sequence[Exercise]) -> Bundle:
    """Return a folder for ``autograders`` of Classroom 50."""
    chosen = ",".join(exercise.number for exercise in exercises)
    return {
        **_grader(exercises),
        "autograder.py": _script(RUN_CLASSROOM50.format(chosen=chosen)),
    }


GRADERS = {"gradescope": gradescope, "prairielearn": prairielearn, "classroom50": classroom50}


# --- contents ----------------------------------------------------------------------------------


def _grader(exercises: Sequence[Exercise]) -> Bundle:
    """Return the grader, with the private cases if there are any."""
    bundle = _everything(exercises, GRADERS_NEED, heldout=True)
    for path in (HERE / "grader").glob("*.py"):
        bundle[f"exercises/grader/{path.name}"] = Member(path.read_bytes())
    if PRIVATE.exists():
        bundle[f"exercises/{PRIVATE.name}"] = Member(PRIVATE.read_bytes())
    return bundle


def _everything(exercises: Sequence[Exercise], files: Sequence[str], *, heldout: bool) -> Bundle:
    """Return the runner, the package, and these files of each exercise."""
    package = Path(gradcheck_ref.__file__).parent
    bundle = {f"exercises/{name}.py": HERE / f"{name}.py" for name in MODULES}
    if (ROOT / "LICENSE").exists():  # which asks to go with every copy
        bundle["LICENSE"] = ROOT / "LICENSE"
    bundle |= {
        f"gradcheck_ref/{path.relative_to(package).as_posix()}": path
        for path in package.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and not path.relative_to(package).as_posix().startswith(UNNEEDED)
    }
    for exercise in exercises:
        bundle |= {f"exercises/{exercise.name}/{name}": exercise.folder / name for name in files}
    manifest = manifest_of(exercises, heldout=heldout).encode()
    return {
        **{name: Member(path.read_bytes()) for name, path in bundle.items()},
        "exercises/course.toml": Member(manifest),
    }


def manifest_of(exercises: Sequence[Exercise], *, heldout: bool) -> str:
    """Return the manifest of these exercises, with or without points for held-out checks."""
    text = (HERE / "course.toml").read_text(encoding="utf-8")
    head, *entries = re.split(r"^(?=\[\[(?:exercise|project)\]\])", text, flags=re.MULTILINE)
    names = [re.escape(exercise.name) for exercise in exercises]
    wanted = re.compile(rf'^name = "({"|".join(names)})"$', re.MULTILINE)
    kept = head + "".join(entry for entry in entries if wanted.search(entry))
    return kept if heldout else re.sub(r"^heldout_\w+ = .*\n", "", kept, flags=re.MULTILINE)


def without_heldout(source: bytes) -> bytes:
    """Cut the held-out checks out of the source of ``checks.py``."""
    lines = source.splitlines(keepends=True)
    for node in reversed(ast.parse(source).body):
        begin = min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))])
        if re.match(r"(def )?heldout_", lines[node.lineno - 1].decode()):
            del lines[begin - 1 : node.end_lineno]
    return b"".join(lines).rstrip() + b"\n"


README = """\
# Gradients, checked

You work alone and offline, with Python 3.11 or newer, and NumPy. In this folder, once:

    python3 -m venv .venv
    .venv/bin/pip install numpy

and then, as often as you like:

    .venv/bin/python exercises/run.py

On Windows it is `.venv\\Scripts\\python`. Each run says where you are, and what to do next. There
are hints, `run.py hint {first}`, and a list of all commands, `run.py --help`. What you edit, and
hand in under the names they have, are these files; `run.py {first}` begins the first:

{files}

`docs/stages` explains what exercises 01 to 05 build; begin with `stage1_forward.md`.
"""


def _readme(exercises: Sequence[Exercise]) -> str:
    """Return the page that a student opens first."""
    files = [f"- `work/{e.name}.py`: {e.title}, {e.minutes} minutes{_apart(e)}" for e in exercises]
    return README.format(first=exercises[0].number, files="\n".join(files))


def _apart(exercise: Exercise) -> str:
    """Return the special needs of an exercise, if it has any."""
    needs = f", needs {exercise.package}" if exercise.package else ""
    return ", optional" * exercise.optional + needs


def _packages(exercises: Sequence[Exercise]) -> str:
    """Return the packages to install for these exercises, for a shell."""
    more = sorted({exercise.package for exercise in exercises if exercise.package})
    return " ".join(["'numpy>=2.0'", *more])


# --- files -------------------------------------------------------------------------------------


def write_zip(bundle: Bundle, path: Path | IO[bytes], *, compressed: bool = False) -> None:
    """Write a zip file; without compression, the same bundle gives the same bytes everywhere."""
    # The bytes depend on the version of zlib.
    way = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w") as file:
        for name, member in sorted(bundle.items()):
            info = zipfile.ZipInfo(name, EPOCH)
            info.create_system = 3  # Unix: the mode below counts
            info.external_attr = (0o100755 if member.executable else 0o100644) << 16
            file.writestr(info, member.content, way)


def write_folder(bundle: Bundle, folder: Path) -> None:
    """Write a folder.

    Raises
    ------
    ValueError
        If it is not empty: an old file could stay in it.
    """
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty: choose a new folder")
    for name, member in bundle.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(member.content)
        path.chmod(0o755 if member.executable else 0o644)


# --- scripts that the platforms start ----------------------------------------------------------


def _script(text: str) -> Member:
    return Member(text.lstrip().encode(), executable=True)


SETUP_GRADESCOPE = r"""
#!/usr/bin/env bash
# Run once by Gradescope, when the image is built: a Python of 3.11 or newer, with NumPy.
set -euo pipefail
root=${AUTOGRADER_ROOT:-/autograder}

new_enough() {
  "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}
find_python() {
  for python in python3 python3.14 python3.13 python3.12 python3.11; do
    if new_enough "$python"; then echo "$python"; return; fi
  done
  return 1
}

if ! find_python >/dev/null; then
  apt-get update
  apt-get install -y python3 python3-venv
  find_python >/dev/null || apt-get install -y python3.11 python3.11-venv
fi
"$(find_python)" -m venv "$root/venv"
"$root/venv/bin/pip" install @packages@
"""

RUN_GRADESCOPE = r"""
#!/usr/bin/env bash
# Run by Gradescope for each submission.
set -euo pipefail
root=${{AUTOGRADER_ROOT:-/autograder}}
python=$root/venv/bin/python
[ -x "$python" ] || python=python3

# The platform's container is the wall. No other user in it may read the checks or the results.
mkdir -p "$root/results"
chmod go= "$root/source" "$root/results"
"$python" -B "$root/source/exercises/run.py" grade "$root/submission" --no-wall \
  --only {chosen} --gradescope "$root/results/results.json"
"""

RUN_PRAIRIELEARN = r"""
#!/usr/bin/env bash
# Run by PrairieLearn for each submission; the exercises of the question are its arguments.
set -euo pipefail
root=${GRADE_ROOT:-/grade}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# The platform's container is the wall. No other user in it may read the checks or the results.
mkdir -p "$root/results"
chmod go= "$here" "$root/results"
python3 -B "$here/exercises/run.py" grade "$root/student" --no-wall \
  ${1:+--only "$1"} --prairielearn "$root/results/results.json"
"""

RUN_CLASSROOM50 = r'''
#!/usr/bin/env python3
"""Run by Classroom 50 for each submission, in the student's checkout; writes result.json."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

if importlib.util.find_spec("numpy") is None:
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "numpy>=2.0"], check=True)
run = Path(__file__).resolve().parent / "exercises" / "run.py"
words = ["grade", ".", "--only", "{chosen}", "--classroom50", "result.json"]
# The platform's runner may become root, who can install bubblewrap, and use it on every system.
root = ["sudo", "-n", "--preserve-env"] if os.getuid() and shutil.which("sudo") else []
if shutil.which("bwrap") is None and shutil.which("apt-get"):
    for asked in (["update"], ["install", "--yes", "bubblewrap"]):
        subprocess.run([*root, "apt-get", "--quiet", *asked], stdout=sys.stderr)
sys.exit(subprocess.run([*root, sys.executable, "-B", run, *words]).returncode)
'''
