"""Bundles: the course for students, and the grader for each platform.

None holds a solution. A platform starts the contents that begin with ``#!``.
"""

import ast
import io
import re
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import gradcheck_ref
from catalogue import LOCALE, languages
from course import HERE, ROOT, Exercise, read_course
from grader.reading import reading
from judging import PRIVATE

# By name: other files in the folder, such as an instructor's own cases, stay private.
MODULES = (
    *("catalogue", "columns", "course", "effort", "expect", "explained", "in_notebook", "judging"),
    *("placed", "run", "screen", "sketches", "verify"),
)
UNNEEDED = ("oracle/vectors/", "oracle/generate/")  # of the package
CHECK = (
    *("catalogue", "columns", "course", "effort", "expect", "explained", "judging"),
    *("placed", "sketches", "screen"),
)
MESSAGES = [path.relative_to(HERE).as_posix() for path in sorted(LOCALE.glob("*.po"))]
LEARNERS = ("README.md", "hints.md", "starter.py", "checks.py")
GRADERS_NEED = ("starter.py", "checks.py")  # a bug hunt is graded with its starter
HINT = re.compile(rb"<summary>\d\..*?</details>", re.DOTALL)
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date in a zip file
Bundle = dict[str, bytes]  # names of files, and their contents


def students(exercises: Sequence[Exercise]) -> Bundle:
    """Return the course for students: no solution, no held-out check, no private case."""
    bundle = _everything(exercises, LEARNERS, heldout=False)
    for exercise in exercises:
        name = f"exercises/{exercise.name}/checks.py"
        bundle[name] = without_heldout(bundle[name])
        for page in map(exercise.page, languages()):
            if page.exists():
                hints = b"\n".join(HINT.findall(page.read_bytes()))  # the rest is for the site
                bundle[page.relative_to(ROOT).as_posix()] = hints + b"\n"
    return bundle | reading(exercises) | _written_for("students", exercises)


def machinery_in_a_page(check: str = "in_page", messages: Sequence[str] = MESSAGES) -> Bundle:
    """Return the modules that check any exercise in a page or notebook, besides the package.

    A page gets the ``messages`` of all languages, and chooses.
    """
    names = [*(f"{name}.py" for name in (*CHECK, check)), *messages]
    return {f"exercises/{name}": (HERE / name).read_bytes() for name in names}


def exercise_in_a_page(exercise: Exercise) -> Bundle:
    """Return an exercise for its page: no solution, no held-out check."""
    folder = f"exercises/{exercise.name}"
    return {
        "exercises/course.toml": manifest_of(with_needs(exercise), heldout=False).encode(),
        f"{folder}/checks.py": without_heldout((exercise.folder / "checks.py").read_bytes()),
        f"{folder}/starter.py": (exercise.folder / "starter.py").read_bytes(),
    }


def with_needs(exercise: Exercise) -> list[Exercise]:
    """Return a project after the exercises that it needs; any other exercise alone."""
    needed = exercise.needs if exercise.kind == "project" else ()
    return [*(e for e in read_course().exercises if e.name in needed), exercise]


def grader(platform: str, exercises: Sequence[Exercise]) -> Bundle:
    """Return the grader for a platform, with what this starts, and your cases if there are any."""
    bundle = _everything(exercises, GRADERS_NEED, heldout=True)
    for path in (HERE / "grader").glob("*.py"):
        bundle[f"exercises/grader/{path.name}"] = path.read_bytes()
    if PRIVATE.exists():
        bundle[f"exercises/{PRIVATE.name}"] = PRIVATE.read_bytes()
    return bundle | _written_for(platform, exercises)


MAKERS: dict[str, Callable[[Sequence[Exercise]], Bundle]] = {
    **{name: partial(grader, name) for name in ("gradescope", "prairielearn", "classroom50")},
    "students": students,
}


def _everything(exercises: Sequence[Exercise], files: Sequence[str], *, heldout: bool) -> Bundle:
    """Return the runner, the package, and these files of each exercise."""
    package = Path(gradcheck_ref.__file__).parent
    names = [f"{name}.py" for name in MODULES] + MESSAGES
    bundle = {f"exercises/{name}": HERE / name for name in names}
    bundle["LICENSE"] = ROOT / "LICENSE"  # which asks to go with every copy
    bundle |= {
        f"gradcheck_ref/{path.relative_to(package).as_posix()}": path
        for path in package.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and not path.relative_to(package).as_posix().startswith(UNNEEDED)
    }
    for exercise in exercises:
        bundle |= {f"exercises/{exercise.name}/{name}": exercise.folder / name for name in files}
    return {
        **{name: path.read_bytes() for name, path in bundle.items()},
        "exercises/course.toml": manifest_of(exercises, heldout=heldout).encode(),
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


def _written_for(platform: str, exercises: Sequence[Exercise]) -> Bundle:
    """Return the files of a platform, with what is to be filled in."""
    packages = sorted({f" {exercise.package}" for exercise in exercises if exercise.package})
    files = [
        f"- `work/{exercise.name}.py`: {exercise.title}, {exercise.minutes} minutes"
        + ", optional" * exercise.optional
        + f", needs {exercise.package}" * bool(exercise.package)
        for exercise in exercises
    ]
    filled_in = {
        "@first@": exercises[0].number,
        "@exercises@": ",".join(exercise.number for exercise in exercises),
        "@packages@": "".join(packages),
        "@files@": "\n".join(files),
    }
    bundle = {}
    for path in (HERE / "grader" / "platforms" / platform).glob("[!_]*"):
        text = path.read_text(encoding="utf-8")
        bundle[path.name] = re.sub("@[a-z]+@", lambda found: filled_in[found[0]], text).encode()
    return bundle


def zipped(bundle: Bundle) -> bytes:
    """Return a zip file; the same bundle gives the same bytes, with the same version of zlib."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in sorted(bundle.items()):
            info = zipfile.ZipInfo(name, EPOCH)
            info.create_system = 3  # Unix: the mode below counts
            info.external_attr = (0o100000 | _mode(content)) << 16
            file.writestr(info, content, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def write_folder(bundle: Bundle, folder: Path) -> None:
    """Write a folder; if it is not empty, an old file could stay in it, so that is refused."""
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty: choose a new folder")
    for name, content in bundle.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(_mode(content))


def _mode(content: bytes) -> int:
    return 0o755 if content.startswith(b"#!") else 0o644
