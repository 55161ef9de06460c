"""What builds the site (docs/hooks) does what mkdocs.yml says it does."""

import importlib.util
import logging
from pathlib import Path

import pytest

import gradcheck_ref

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"


def hook(name):
    """Load a file of docs/hooks, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "hooks" / f"{name}.py")
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
        extensions = griffe.load_extensions(hook("docstrings").Docstrings())
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
