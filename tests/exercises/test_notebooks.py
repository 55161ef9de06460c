"""Notebooks: made of the exercises, run in a kernel, and graded as files are."""

import json
import textwrap

import pytest

import course
import run
from grader import cells, wall
from grader.grading import grade, load_checks
from grader.handed_in import NotTakenError, look

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
    return {name: nbformat.read(path, as_version=4) for name, path in paths.items()}


@pytest.mark.parametrize("exercise", COURSE.exercises, ids=lambda exercise: exercise.name)
def test_a_notebook_has_the_readme_the_starter_the_checks_and_the_hints(made, exercise):
    first, setup, starter, *_, hints = made[exercise.name].cells
    check = made[exercise.name].cells[3]
    assert first.source.endswith((exercise.folder / "README.md").read_text("utf-8").strip())
    link = "github/someone/course/blob/main/notebooks"
    assert f"{link}/{exercise.name}.ipynb" in first.source
    assert starter.source in (exercise.folder / "starter.py").read_text("utf-8")
    assert "NotImplementedError" in starter.source
    assert check.source == f'check("{exercise.number}", globals());'
    assert hints.source == (exercise.folder / "hints.md").read_text("utf-8").strip()
    assert "heldout" not in setup.source
    assert {cells.OURS in cell.metadata["tags"] for cell in (setup, check)} == {True}


def test_the_same_notebook_is_made_every_time_and_without_an_address_it_has_no_link(made):
    from grader.notebooks import notebook

    assert notebook(RELU, "someone/course/blob/main/notebooks") == made["06_relu"]
    assert "colab" not in notebook(RELU).cells[0].source


@pytest.mark.slow
def test_the_checks_run_in_cells_and_say_right_and_wrong(made):
    # All in one kernel: of each exercise the starter and the solution, and of one a wrong answer.
    nbclient = pytest.importorskip("nbclient", reason="notebooks are an extra: notebook")
    pytest.importorskip("ipykernel", reason="notebooks are an extra: notebook")
    from nbformat import v4

    expected, code = [], []

    def ask(notebook, source, *says):
        _, setup, _, check, *_ = notebook.cells
        fresh = "import sys\nfor name in ('course', 'expect', 'judging', 'screen', 'in_notebook'):"
        code.extend([f"{fresh}\n    sys.modules.pop(name, None)", setup.source, source])
        code.append(check.source)
        expected.append((len(code) - 1, says))

    for exercise in COURSE.exercises:
        solution = (exercise.folder / "solution.py").read_text("utf-8")
        defined = solution.partition('if __name__ == "__main__":')[0]
        notebook = made[exercise.name]
        ask(notebook, notebook.cells[2].source, "to do", "task")
        ask(notebook, defined, "Every check passes.")
        if exercise is RELU:
            wrong = defined.replace("np.where(x > 0, upstream, 0.0)", "(x > 0) * 1.0")
            ask(notebook, wrong, "got", "[0 1 1]", "where does `upstream`", "run its cell")
    asked = v4.new_notebook(cells=[v4.new_code_cell(source) for source in code])
    nbclient.NotebookClient(asked, timeout=300, kernel_name="python3").execute()
    for at, says in expected:
        printed = "".join(out.get("text", "") for out in asked.cells[at].outputs)
        for words in says:
            assert words in printed, asked.cells[at].source


# --- handed in ---------------------------------------------------------------------------------


def test_what_cells_define_is_taken_and_what_they_try_is_not():
    source = cells.code_of(
        of(
            "%matplotlib inline\nimport numpy as np",
            ["!pip install x\n", "SCALE = 2.0\n", "x = np.ones(3)\n", "print(relu(x))"],
            "@np.vectorize\ndef relu(x):\n    return x\n\nrelu(1 / 0)\nTABLE = np.ones(3)\n",
            "class Layer:\n    pass",
            "for i in range(9): relu(i)",
            "a scratch cell",
        )
    ).decode()
    assert source.split("\n\n") == [
        "import numpy as np",
        "SCALE = 2.0",
        "@np.vectorize\ndef relu(x):\n    return x",
        "TABLE = np.ones(3)",
        "class Layer:\n    pass\n",
    ]
    assert cells.code_of(of("def broken(:")) == b"def broken(:\n"
    assert cells.code_of(of("import os", tags=[cells.OURS])) == b"\n"


def test_of_statements_on_one_line_the_line_is_taken_once():
    assert cells.code_of(of("x = 1; y = [\n2]; z = 3\nprint(x)\nw = 4")) == (
        b"x = 1; y = [\n2]; z = 3\n\nw = 4\n"
    )
    assert len(cells.code_of(of("x = 1;" * 10_000))) == 60_001


def test_a_notebook_may_have_as_much_code_as_a_file_and_much_output(monkeypatch):
    monkeypatch.setattr(cells, "MOST", 100)
    of_output = of("x = 1").replace(b'"outputs": []', b'"outputs": [{"text": "%s"}]' % (b"x" * 999))
    assert cells.code_of(of_output) == b"x = 1\n"
    with pytest.raises(ValueError, match="a notebook with more than 100 characters of code"):
        cells.code_of(of("x = 1\n" * 10, "y = 1\n" * 10))


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b'{"cells": 3}', b'{"cells": [3]}', b"[" * 100_000, b"\xff"],
    ids=range(7),
)
def test_what_is_no_notebook_is_said_to_be_none(content, tmp_path):
    (tmp_path / "06_relu.ipynb").write_bytes(content)
    with pytest.raises(NotTakenError, match=r"06_relu\.ipynb is no notebook"):
        look(tmp_path).read(RELU)


@pytest.mark.slow
def test_a_notebook_is_graded_as_a_file_is(tmp_path):
    solution = (RELU.folder / "solution.py").read_text("utf-8")
    functions = solution.partition('if __name__ == "__main__":')[0]
    tried = "print(relu_backward(np.ones(3), 1 / 0))"
    checks = load_checks([RELU])
    with wall.put_up(kind=wall.NONE) as it:  # it is about what is taken
        for content, share in (
            (of(functions, tried), 1),
            (of(functions.replace("x > 0", "x > 1"), tried), None),
        ):
            (tmp_path / "06_ReLU.ipynb").write_bytes(content)
            report = grade(tmp_path, checks, it)
            assert report.earned == RELU.worth if share else 0 < report.earned < 0.7 * RELU.worth
        broken = textwrap.dedent("def relu(x):\n    return x +\n")
        (tmp_path / "06_ReLU.ipynb").write_bytes(of(broken))
        (exercise,) = grade(tmp_path, checks, it).exercises
    assert "at: line 2: return x +" in exercise.problem


def test_beside_a_module_a_notebook_is_only_noted(tmp_path):
    (tmp_path / "06_relu.ipynb").write_bytes(of("x = 1"))
    (tmp_path / "06_relu.py").write_text("y = 1")
    found = look(tmp_path)
    assert found.read(RELU) == ("06_relu.py", b"y = 1")
    assert list(found.notes(RELU, "06_relu.py", b"")) == [
        "2 files are called 06_relu.py, and this is 06_relu.py"
    ]


def test_without_nbformat_it_is_said_what_to_install(tmp_path, monkeypatch, capsys):
    from grader import command

    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: None)
    assert run.main(["notebooks", str(tmp_path)]) == 2
    assert "pip install nbformat" in " ".join(capsys.readouterr().out.split())
