"""What is handed out: to students without solutions, to platforms so that it runs there."""

import io
import json
import re
import shutil
import stat
import sys
import zipfile
from pathlib import Path

import pytest
from graded import RELU, ROOT, RUNNER, finished, hand_in, start
from hostile_submissions import HOSTILE, at_the_top

import course
from grader import bundles, wall

COURSE = course.read_course()
TWO = [RELU, COURSE.find("07")]


# --- what is in them ---------------------------------------------------------------------------

MAKERS = bundles.MAKERS


@pytest.mark.parametrize("name", MAKERS)
def test_a_bundle_holds_its_files_and_nothing_secret(name, tmp_path, monkeypatch):
    home, private = tmp_path / "exercises", tmp_path / "private_cases.py"
    shutil.copytree(ROOT / "exercises", home)
    (home / "secret_cases.py").touch()  # what an instructor has put beside the course
    private.write_text("def cases():\n    return []\n")
    monkeypatch.setattr(bundles, "HERE", home)
    monkeypatch.setattr(bundles, "PRIVATE", private)
    bundle = MAKERS[name](COURSE.exercises)
    secrets = r"answers|solution|secret|oracle/vectors/v|oracle/generate"
    assert [path for path in bundle if re.search(secrets, path)] == []
    answer = b"return np.where(x > 0, upstream, 0.0)"
    found = [path for path, content in bundle.items() if answer in content]
    assert [path for path in found if path.startswith("exercises/")] == []
    assert {"LICENSE", "exercises/locale/zh.po"} <= set(bundle)
    grader = (ROOT / "exercises" / "grader").glob("*.py")
    of_graders = {f"exercises/grader/{path.name}" for path in grader}
    of_graders |= {"exercises/private_cases.py"}
    assert of_graders & set(bundle) == (set() if name == "students" else of_graders)


def test_a_student_gets_the_hints_in_other_languages():
    name = "docs/zh/exercises/02_central.md"
    hints = bundles.students(COURSE.choose(["02"]))[name].decode()
    assert re.findall(r"<summary>(\d)", hints) == ["1", "2", "3"]
    assert "[[block]]" in hints  # the code is in hints.md
    assert "](" not in hints  # no link to a page of the site
    assert name not in bundles.students([RELU])


def test_the_pages_of_the_stages_can_be_read_without_the_site(tmp_path):
    (first,) = COURSE.choose(["01"])
    bundles.write_folder(bundles.students([first]), tmp_path / "course")
    pages = sorted((tmp_path / "course" / "docs").rglob("*.md"))
    assert len([page for page in pages if page.name.startswith("stage")]) == 5
    links = [
        page.parent / target.partition("#")[0]
        for page in pages
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
        if not target.startswith(("#", "http"))
    ]
    assert len(links) > 20
    assert [link for link in links if not link.exists()] == []
    text = (tmp_path / "course/docs/stages/stage1_forward.md").read_text(encoding="utf-8")
    assert "```python\naround = Around(f, x)  # " in text
    assert "--8<--" not in "".join(page.read_text(encoding="utf-8") for page in pages)


def test_a_bundle_names_and_installs_the_packages_it_needs():
    (function,) = COURSE.choose(["16"])
    read = bundles.students([RELU, function])["README.md"].decode()
    assert "ReLU, 20 minutes\n- `work/16_torch_function.py`" in read
    assert "40 minutes, optional, needs torch\n" in read
    for exercises, packages in (([RELU], ""), ([RELU, function], " torch")):
        setup = bundles.grader("gradescope", exercises)["setup.sh"].decode()
        assert setup.endswith(f"install 'numpy>=2.0'{packages}\n")


@pytest.mark.parametrize("name", MAKERS)
def test_a_bundle_holds_only_the_chosen_exercises(name, tmp_path):
    bundles.write_folder(MAKERS[name](TWO), tmp_path)
    there = sorted(path.name for path in (tmp_path / "exercises").glob("[0-9]*"))
    assert there == ["06_relu", "07_softmax"]
    read = course.read_course(tmp_path / "exercises")
    assert [exercise.name for exercise in read.exercises] == there
    for exercise, original in zip(read.exercises, TWO, strict=True):
        lost = "heldout_" if name == "students" else "none"
        kept = {check: n for check, n in original.points.items() if not check.startswith(lost)}
        assert exercise.points == kept
        checks = course.checks_of(exercise, heldout=True)
        assert [check.__name__ for check in checks] == list(kept)


# --- how they are written ----------------------------------------------------------------------


def test_a_zip_file_is_reproducible_and_only_its_scripts_are_executable():
    bundle = bundles.grader("gradescope", TWO)
    bundle = {name: bundle[name] for name in bundle if not name.startswith("gradcheck_ref/")}
    archive = bundles.zipped(bundle)
    assert archive == bundles.zipped(dict(reversed(bundle.items())))
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        modes = {info.filename: info.external_attr >> 16 for info in file.infolist()}
    runs = {name for name, mode in modes.items() if mode & stat.S_IXUSR}
    assert runs == {"setup.sh", "run_autograder"}
    assert all(stat.S_ISREG(mode) and mode & stat.S_IRUSR for mode in modes.values())


# --- for students ------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_student_can_work_with_the_bundle(tmp_path):
    done = start([sys.executable, "exercises/run.py", "export", tmp_path / "course"], ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    home = tmp_path / "course"

    def run(*words):
        return start([sys.executable, "exercises/run.py", *words], home)

    assert "Welcome." in run().stdout
    (home / "work" / "06_relu.py").write_text(finished(RELU))
    with (home / "gradcheck_ref" / "__init__.py").open("a") as package:
        package.write("\nprint('this package')\n")
    done = start([sys.executable, "-m", "work.06_relu"], home)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("this package\nPASS")
    done = run("06")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Every check passes." in done.stdout
    assert "solution" not in done.stdout
    assert "'grade' is neither a command" in run("grade").stderr  # what grades is not there
    done = run("verify")
    assert (done.returncode, done.stderr) == (2, "")
    assert "has no solutions" in done.stdout


# --- rehearsals --------------------------------------------------------------------------------

NO_WALL = "no wall: a submission can do whatever you can\n"


@pytest.fixture(scope="module")
def autograder(tmp_path_factory):
    """Return the folder of Gradescope's image: the zip file unpacked, with its modes."""
    root = tmp_path_factory.mktemp("autograder")
    archive = root / "autograder.zip"
    words = ["export", "--gradescope", archive, "--only", "06"]
    assert start([sys.executable, ROOT / "exercises/run.py", *words], root).returncode == 0
    with zipfile.ZipFile(archive) as file:
        for info in file.infolist():
            path = Path(file.extract(info, root / "source"))
            path.chmod(info.external_attr >> 16 & 0o777)
    archive.unlink()
    shutil.copy(root / "source" / "run_autograder", root)  # as the platform does, and runs it there
    return root


MASK = at_the_top("").replace("x > 0, upstream", "x > 0, 1.0")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "earned", "says"),
    [(at_the_top(""), 13, ""), (MASK, 7, "you returned the mask")],
    ids=["right", "wrong"],
)
def test_the_gradescope_bundle_runs_in_folders_like_gradescopes(autograder, source, earned, says):
    root = autograder
    for folder in ("submission", "results"):
        shutil.rmtree(root / folder, ignore_errors=True)
    (root / "results").mkdir()
    hand_in(root, submission=source)
    done = start([root / "run_autograder"], root, AUTOGRADER_ROOT=str(root))
    assert (done.returncode, done.stderr) == (0, NO_WALL)
    assert {(root / folder).stat().st_mode & 0o077 for folder in ("source", "results")} == {0}
    results = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
    assert len(results["tests"]) == len(RELU.points) + 1
    assert results["score"] == earned
    assert says in json.dumps(results)


@pytest.mark.slow
def test_the_prairielearn_bundle_runs_in_folders_like_prairielearns(tmp_path):
    grader = tmp_path / "serverFilesCourse" / "gradcheck_ref"
    bundles.write_folder(bundles.grader("prairielearn", TWO), grader)
    hand_in(tmp_path, student=HOSTILE["ends the process"].source)
    done = start([grader / "run.sh", "06"], tmp_path, GRADE_ROOT=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, NO_WALL)
    assert {folder.stat().st_mode & 0o077 for folder in (grader, tmp_path / "results")} == {0}
    results = json.loads((tmp_path / "results" / "results.json").read_text(encoding="utf-8"))
    assert not results["gradable"]


@pytest.mark.slow
def test_the_classroom50_bundle_runs_in_a_checkout(tmp_path):
    try:
        with wall.put_up():
            pass
    except wall.NoWallError as refusal:
        pytest.skip(f"there is no wall to put up here: {refusal}")
    bundles.write_folder(bundles.grader("classroom50", [RELU]), tmp_path / "bundle")
    hand_in(tmp_path, checkout=at_the_top(""))
    checkout = tmp_path / "checkout"
    done = start([sys.executable, tmp_path / "bundle" / "autograder.py"], checkout, **RUNNER)
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads((checkout / "result.json").read_text(encoding="utf-8"))
    assert (result["score"], result["max-score"]) == (1300, 1300)


def tools(folder, *real, **played):
    """Return a folder of programs: those of the system, and played ones."""
    folder.mkdir()
    for name in real:
        (folder / name).symlink_to(shutil.which(name))
    for name, script in played.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return str(folder)


# In the place of an old Python: its virtual environment has a pip that notes what it is asked.
PYTHON = """\
case "$*" in
  *"-m venv"*) mkdir -p "$3/bin"
    printf '#!/bin/sh\\necho pip "$@" >> "$LOG"\\n' > "$3/bin/pip"; chmod +x "$3/bin/pip";;
  *) exec "$REAL" "$@";;
esac"""
# It gets a new enough Python, and no other program.
APT_GET = """\
echo apt-get "$@" >> "$LOG"
case "$*" in *python3.11*) cp "$TOOLS/new" "$TOOLS/python3.11";; esac"""


@pytest.mark.slow
def test_gradescope_sets_up_its_own_python_with_numpy(tmp_path):
    bundles.write_folder(bundles.grader("gradescope", [RELU]), tmp_path / "source")
    played = {"python3": "exit 1", "new": PYTHON, "apt-get": APT_GET}
    system = ("bash", "env", "sh", "mkdir", "chmod", "cp", "cat")
    path = tools(tmp_path / "tools", *system, **played)
    known = {"PATH": path, "TOOLS": path, "REAL": sys.executable, "LOG": str(tmp_path / "log")}
    setup = tmp_path / "source" / "setup.sh"
    done = start([setup], tmp_path, AUTOGRADER_ROOT=str(tmp_path), **known)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "log").read_text().splitlines() == [
        "apt-get update",
        "apt-get install -y python3 python3-venv",
        "apt-get install -y python3.11 python3.11-venv",
        "pip install numpy>=2.0",
    ]


@pytest.mark.slow
def test_classroom50_installs_bubblewrap_or_says_that_it_is_missing(tmp_path):
    bundles.write_folder(bundles.grader("classroom50", [RELU]), tmp_path / "bundle")
    hand_in(tmp_path, checkout=at_the_top(""))
    checkout, log = tmp_path / "checkout", tmp_path / "log"
    path = tools(tmp_path / "tools", "sh", **{"apt-get": 'echo "$@" >> "$LOG"'})  # gets nothing
    words = [sys.executable, tmp_path / "bundle" / "autograder.py"]
    done = start(words, checkout, PATH=path, LOG=str(log))
    assert log.read_text().splitlines() == ["--quiet update", "--quiet install --yes bubblewrap"]
    assert done.returncode == 2
    assert "bubblewrap is not installed" in done.stdout
    assert not (checkout / "result.json").exists()
