"""What builds the site (docs/hooks), and what runs the examples in it (docs/assets/run)."""

import contextlib
import importlib.util
import io
import json
import logging
from pathlib import Path

import pytest

import gradcheck_ref

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"


def loaded(path):
    """Load a file of docs, which is no package."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / "docs" / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- the API reference -----------------------------------------------------------------------


def test_the_reference_has_every_public_name():
    text = "".join(page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md"))
    assert [
        name for name in gradcheck_ref.__all__ if f"::: gradcheck_ref.{name}\n" not in text
    ] == []


@pytest.fixture
def warnings_about(tmp_path, caplog):
    """Let griffe read a module, given as text, with our extension; return what it warns of."""
    griffe = pytest.importorskip("griffe", reason="comes with the extra docs")

    def read(source):
        (tmp_path / "example.py").write_text(source, encoding="utf-8")
        extensions = griffe.load_extensions(loaded("hooks/docstrings.py").Docstrings())
        with caplog.at_level(logging.WARNING):
            module = griffe.load("example", search_paths=[tmp_path], extensions=extensions)
        return module, [record.getMessage() for record in caplog.records]

    return read


DOUBLE = '''
def double(x, *, {more}):
    """Double it.

    Parameters
    ----------
    x : float
        The number.
    rtol, atol : float
        Two at once.
    """
'''


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("rtol, atol", []),
        ("rtol, atol, h=1", ["example.double: the parameter h is not documented"]),
    ],
)
def test_a_parameter_that_is_not_documented_is_told(warnings_about, more, said):
    assert warnings_about(DOUBLE.format(more=more))[1] == said


def test_terms_become_a_list_of_definitions(warnings_about):
    text = '"""Stage.\n\nIdea\n    Move ``x``,\n    a little.\nMisses\n    All.\n\nEnd.\n"""\n'
    module, said = warnings_about(text)
    terms = ["Idea\n:   Move ``x``,\n    a little.", "Misses\n:   All."]
    assert [part.strip() for part in module.docstring.value.split("\n\n")] == [
        "Stage.",
        *terms,
        "End.",
    ]
    assert said == []


# --- the Run button --------------------------------------------------------------------------

FENCES = {
    "an example": ("```python\na = 1\n```\n", "```{.python .run}\na = 1\n```\n"),
    "in a list": ("  ```python\n  a\n  ```\n", "  ```{.python .run}\n  a\n  ```\n"),
    "with a title": (
        '```python title="a.py"\na\n```\n',
        '```{.python .run title="a.py"}\na\n```\n',
    ),
    "an included file": ("```python\n--8<--\na.py\n--8<--\n```\n", None),
    "a framework": ("```python\nimport torch\n```\n", None),
    "a program": ('```python\nf = from_command(["./program"])\n```\n', None),
    "what is printed": ("```text\nprint\n```\n", None),
    "a session": ("```pycon\n>>> 1\n1\n```\n", None),
    "a fence about fences": ("````markdown\n```python\na = 1\n```\n````\n", None),
}


@pytest.mark.parametrize(("before", "after"), FENCES.values(), ids=FENCES)
def test_the_examples_that_the_tests_run_are_marked(before, after):
    pytest.importorskip("mkdocs", reason="comes with the extra docs")
    pytest.importorskip("hatchling", reason="comes with the extra docs")
    text = f"Before.\n\n{before}\nAfter.\n"
    marked = loaded("hooks/run.py").on_page_markdown(text)
    assert marked == f"Before.\n\n{after or before}\nAfter.\n"


def run(*sources):
    """Run examples as the reader's browser does; return what they say, and what ended them."""
    driver = loaded("assets/run/driver.py")
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        ended = driver.run(sources)
    return said.getvalue().splitlines(), *ended


def test_the_last_example_is_heard_and_knows_the_names_of_those_above():
    assert run("a = 1\nprint(a)", "print(a + 1)") == (["2"], "", "")
    assert run("print('a' in globals(), __name__)") == (["False __main__"], "", "")


ERRORS = {
    "an error": (["1 / 0"], "<example 1 on this page>", "ZeroDivisionError: division by zero", ""),
    "an error above": (["a", "1"], "<example 1 on this page>", "NameError: name 'a' is not", ""),
    "a slip": (["1", "1 +"], "<example 2 on this page>", "SyntaxError: invalid syntax", ""),
    "the end": (["raise SystemExit(2)"], "<example 1 on this page>", "SystemExit: 2", ""),
    "a missing module": (["import no_such"], "<example 1 on", "ModuleNotFoundError", "no_such"),
}


@pytest.mark.parametrize(("sources", "where", "what", "missing"), ERRORS.values(), ids=ERRORS)
def test_an_error_is_told_with_the_example_it_is_in(sources, where, what, missing):
    said, error, named = run(*sources)
    assert any(where in line for line in said)
    assert said[-1].startswith(what)
    assert error == what.split(":")[0]
    assert "driver.py" not in "".join(said)
    assert named == missing


def test_the_core_that_is_tested_in_a_browser_is_the_one_that_readers_get():
    package = json.loads((ROOT / "tests/browser/package.json").read_text(encoding="utf-8"))
    version = package["dependencies"]["pyodide"]
    assert f"/pyodide/v{version}/full/" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
