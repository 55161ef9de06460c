"""Notebooks: made of the exercises, run in a kernel, and graded as files are."""

import base64
import io
import json
import textwrap
import zipfile
from dataclasses import replace

import pytest
from wrong_submissions import solution_of

import course
import explained
import in_notebook
import run
from catalogue import speak
from grader import handed_in, notebooks, wall
from grader.grading import grade, load_checks
from grader.handed_in import NotTakenError, look
from grader.limits import Limits
from grader.notebooks import notebook

COURSE = course.read_course()
RELU = COURSE.find("06")


def of(*sources, **metadata):
    """Return a notebook as a platform saves it."""
    made = [
        {"cell_type": "code", "metadata": metadata, "outputs": [], "source": source}
        for source in sources
    ]
    return json.dumps({"cells": made, "nbformat": 4, "metadata": {}}).encode()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the notebooks of all exercises, as they are written."""
    nbformat = pytest.importorskip("nbformat", reason="notebooks are an extra: notebook")
    folder = tmp_path_factory.mktemp("notebooks")
    address = "someone/course/blob/main/notebooks"
    assert run.main(["notebooks", str(folder), "--colab", address]) == 0
    paths = {exercise.name: folder / f"{exercise.name}.ipynb" for exercise in COURSE.exercises}
    notebooks = {name: nbformat.read(path, as_version=4) for name, path in paths.items()}
    for one in notebooks.values():
        nbformat.validate(one)
    return notebooks


@pytest.mark.slow
@pytest.mark.parametrize("exercise", COURSE.exercises, ids=lambda exercise: exercise.name)
def test_a_notebook_has_the_readme_the_starter_the_checks_and_the_hints(made, exercise):
    first, setup, starter, check, *_, hints = made[exercise.name].cells
    assert first.source.endswith((exercise.folder / "README.md").read_text("utf-8").strip())
    link = "github/someone/course/blob/main/notebooks"
    assert f"{link}/{exercise.name}.ipynb" in first.source
    assert starter.source in (exercise.folder / "starter.py").read_text("utf-8")
    assert check.source == f'check("{exercise.number}", globals());'
    assert hints.source == (exercise.folder / "hints.md").read_text("utf-8").strip()
    assert "heldout" not in setup.source
    assert {handed_in.OURS in cell.metadata["tags"] for cell in (setup, check)} == {True}


@pytest.mark.slow
def test_notebooks_are_reproducible_and_have_no_link_without_an_address(made):
    assert notebook(RELU, "someone/course/blob/main/notebooks") == made["06_relu"]
    assert "colab" not in notebook(RELU)["cells"][0]["source"]


@pytest.mark.parametrize(("language", "there"), [("en", []), ("zh", ["exercises/locale/zh.po"])])
def test_a_notebook_speaks_the_language_of_the_course(monkeypatch, capsys, language, there):
    spoken = replace(COURSE, language=language)
    monkeypatch.setattr(notebooks, "read_course", lambda: spoken)
    setup = notebook(RELU)["cells"][1]["source"]
    packed = base64.b64decode(setup.split('"""')[1])
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert [name for name in archive.namelist() if name.endswith(".po")] == there
    monkeypatch.setattr(in_notebook, "read_course", lambda: spoken)
    in_notebook.check("06", {"relu": abs})
    speak("en")
    heading = {"en": "06 ReLU", "zh": "不对      正数原样通过，其余变成 0。"}
    assert heading[language] in capsys.readouterr().out


@pytest.mark.slow
def test_the_checks_run_in_cells_and_say_right_and_wrong(made):
    # All in one kernel: of each exercise the starter and the solution, and of one a wrong answer.
    nbclient = pytest.importorskip("nbclient", reason="notebooks are an extra: notebook")
    pytest.importorskip("ipykernel", reason="notebooks are an extra: notebook")
    from nbformat import v4

    fresh = "import sys\nfor name in ('course', 'expect', 'explained', 'judging', 'screen', "
    fresh += "'in_notebook'):"
    fresh += "\n    sys.modules.pop(name, None)"
    code, expected = [], []
    for exercise in COURSE.exercises:
        if course.missing(exercise):
            continue
        _, setup, starter, check, *_ = made[exercise.name].cells
        defined = solution_of(exercise)
        asked = {starter.source: "to do", defined: "Every check passes."}
        if exercise is RELU:
            wrong = defined.replace("np.where(x > 0, upstream, 0.0)", "(x > 0) * 1.0")
            asked[wrong] = "where does `upstream`"
        for source, says in asked.items():
            code += [fresh, setup.source, source, check.source]
            expected.append(says)
    ran = v4.new_notebook(cells=[v4.new_code_cell(source) for source in code])
    nbclient.NotebookClient(ran, timeout=300, kernel_name="python3").execute()
    for cell, says in zip(ran.cells[3::4], expected, strict=True):
        assert says in "".join(out.get("text", "") for out in cell.outputs), cell.source


# --- handed in ---------------------------------------------------------------------------------


def test_the_code_of_the_learners_cells_is_graded():
    written = of("%matplotlib inline\nimport numpy as np", ["x = 1\n", "print(x"], "def broken(:")
    code = ["%matplotlib inline\nimport numpy as np\n", "x = 1\nprint(x\n", "def broken(:\n"]
    assert handed_in.code_of(written, "").decode().split("# %%\n") == ["", *code]
    assert handed_in.code_of(of("import os", tags=[handed_in.OURS]), "") == b""


@pytest.mark.one_in(12)
@pytest.mark.parametrize("exercise", COURSE.exercises, ids=lambda exercise: exercise.name)
def test_cells_of_the_course_are_known_without_their_tags(tmp_path, exercise):
    cells = notebook(exercise)["cells"]
    (learners,) = [c for c in cells if c["metadata"].get("tags") == []]
    learners["source"] = solution_of(exercise)
    for lost in ("metadata", "id"):  # first the tags, and then the names of the cells, too
        cells = [{key: cell[key] for key in cell if key != lost} for cell in cells]
        (tmp_path / f"{exercise.name}.ipynb").write_text(json.dumps({"cells": cells}))
        found = look(tmp_path)
        taken, source = found.read(exercise)
        assert source.decode() == f"# %%\n{solution_of(exercise)}\n"
        assert list(found.notes(exercise, taken, source)) == []


def test_a_notebook_may_have_as_much_code_as_a_file_and_much_output(monkeypatch):
    monkeypatch.setattr(handed_in, "MOST_BYTES", 100)
    of_output = of("x = 1").replace(b'"outputs": []', b'"outputs": [{"text": "%s"}]' % (b"x" * 999))
    assert handed_in.code_of(of_output, "") == b"# %%\nx = 1\n"
    with pytest.raises(NotTakenError, match="a notebook has more than 100 characters of code"):
        handed_in.code_of(of("x = 1\n" * 10, "y = 1\n" * 10), "a notebook")


@pytest.mark.parametrize(
    "content",
    [b"[]", b'{"cells": 3}', b'{"cells": [3]}', b"[" * 100_000, b"\xff"],
    ids=range(5),
)
def test_a_file_that_is_not_a_notebook_is_refused(content, tmp_path):
    (tmp_path / "06_relu.ipynb").write_bytes(content)
    with pytest.raises(NotTakenError, match=r"06_relu\.ipynb is no notebook"):
        look(tmp_path).read(RELU)


def test_a_notebook_of_an_old_format_is_said_to_be_one():
    with pytest.raises(NotTakenError, match="x has an old format: open and save it"):
        handed_in.code_of(b'{"worksheets": [{"cells": []}], "nbformat": 3}', "x")


NUMPY = "import numpy as np"
RELU_ITSELF = "def relu(x):\n    return np.maximum(x, 0)"
BACKWARD = "def relu_backward(x, upstream):\n    return np.where(x > 0, upstream, 0.0)"
CUPY = "try:\n    import cupy as np\nexcept ImportError:\n    import numpy as np"
IN_AN_IF = f"FAST = True\nif FAST:\n{textwrap.indent(RELU_ITSELF, '    ')}"
ENDLESS = "while True:\n    try:\n        relu(3)\n    except Exception:\n        pass"
SLOW = "import time\nfor h in range(9):\n    time.sleep(1)"
LATER = "from __future__ import annotations\nimport numpy as np"
GATE = """\
@dataclass
class Gate:
    at: float = 0.0
    def __call__(self, x):
        return np.maximum(x, self.at)"""
TO_ZERO = RELU_ITSELF.replace("0)", "ZERO)")
HONEST = {
    "a cell for each": [NUMPY, RELU_ITSELF, BACKWARD],
    "a constant by a call in its own cell": [NUMPY, "ZERO = np.zeros(1)", TO_ZERO, BACKWARD],
    "a constant that is filled in": [
        *(NUMPY, "SHUT = {}\nSHUT['slope'] = 0.0", RELU_ITSELF),
        BACKWARD.replace("0.0", "SHUT['slope']"),
    ],
    "partial": [
        f"{NUMPY}\nfrom functools import partial",
        *("relu = partial(np.maximum, 0.0)", BACKWARD),
    ],
    "a try around an import": [CUPY, RELU_ITSELF, BACKWARD],
    "functions that are defined in an if": [NUMPY, IN_AN_IF, BACKWARD],
    "a question mark": [NUMPY, f"{RELU_ITSELF}\nrelu?\n?relu", BACKWARD],
    "magics": [
        f"%matplotlib inline\n!pip install x\n{NUMPY}\nhere = !pwd",
        f"%%time\n{RELU_ITSELF}",
        f"for h in (1, 2):\n    %timeit relu(h)\n{BACKWARD}",
    ],
    "an indented magic": [
        *(NUMPY, "    %load_ext autoreload\n    %autoreload 2", RELU_ITSELF, BACKWARD)
    ],
    "a remainder that looks like a magic": [
        *(NUMPY, "TEXT = ('%s'\n    % 3)\n" + RELU_ITSELF, BACKWARD)
    ],
    "a cell that is one step to the right": [NUMPY, textwrap.indent(RELU_ITSELF, "  "), BACKWARD],
    "failed attempts next to a definition": [
        f"{NUMPY}\nimport seaborn, matplotlib.pyplot as plt",
        f"x = np.linspace(-1, 1)\nplt.plot(x, relu(x))\n{RELU_ITSELF}",
        f"{BACKWARD}\nrelu_backward(1 / 0)\ninput('h?')",
        *("a scratch cell", "import sys\nsys.exit()"),
    ],
    "a loop that does not end, and one that takes long": [
        *(NUMPY, RELU_ITSELF, ENDLESS, SLOW, BACKWARD)
    ],
    "annotations of later": [LATER, RELU_ITSELF.replace("(x)", "(x: Array) -> Array"), BACKWARD],
    "a class, decorated, and a function that asks it": [
        f"from dataclasses import dataclass\n{NUMPY}",
        *(GATE, "gate = Gate()\ndef relu(x):\n    return gate(x)", BACKWARD),
    ],
}
NO_ZERO = BACKWARD.replace("0.0", "ZERO")
BROKEN = BACKWARD.replace("0.0)", "0.0")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Return a function that grades the cells of a notebook for exercise 6."""
    checks, folder = load_checks([RELU]), tmp_path_factory.mktemp("handed in")
    with wall.put_up(kind=wall.NONE) as it:  # it is about what is taken

        def graded(*sources):
            (folder / "06_ReLU.ipynb").write_bytes(of(*sources))
            return grade(folder, checks, it, Limits(call_seconds=1.0, load_seconds=2.0))

        yield graded


@pytest.mark.one_in(14)
@pytest.mark.parametrize(
    "sources",
    [
        pytest.param(sources, id=name, marks=[pytest.mark.slow] * (ENDLESS in sources))
        for name, sources in HONEST.items()
    ],
)
def test_a_right_notebook_earns_everything(graded, sources):
    report = graded(*sources)
    assert report.earned == RELU.worth, report


NEVER_CLOSED = f"raised: SyntaxError: '(' was never closed, in {explained.PYTHON}\nat: line 8: "


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("sources", "says"),
    [
        ([NUMPY, RELU_ITSELF, BACKWARD.replace("x > 0", "x > 1")], "got: [0 -4 0]"),
        ([NUMPY, RELU_ITSELF, BROKEN], NEVER_CLOSED),
        ([NUMPY, RELU_ITSELF, f"ZERO = 1 / 0\n{NO_ZERO}"], "at: line 7: ZERO = 1 / 0"),
        ([NUMPY, RELU_ITSELF], "got: no function of that name in your file"),
    ],
    ids=["a wrong gate", "a bracket", "a constant", "nothing"],
)
def test_the_report_on_a_notebook_names_the_failed_check(graded, sources, says):
    report = graded(*sources)
    assert report.earned < 0.7 * RELU.worth
    told = [check.message for check in report.checks if check.status == "failed"][:-1]  # not whole
    assert len(told) == 1
    assert says in told[0]


def test_a_notebook_next_to_a_module_is_only_noted(tmp_path):
    (tmp_path / "06_relu.ipynb").write_bytes(of("x = 1"))
    (tmp_path / "06_relu.py").write_text("y = 1")
    found = look(tmp_path)
    assert found.read(RELU) == ("06_relu.py", b"y = 1")
    said = "06_relu.py counts, not 06_relu.ipynb"
    assert list(found.notes(RELU, "06_relu.py", b"")) == [said]
