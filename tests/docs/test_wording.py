"""The Chinese page on reports explains every sentence that a report may have."""

import ast
import re
from pathlib import Path

import pytest

from gradcheck_ref.check.mistakes.table import KINDS, MISTAKES
from gradcheck_ref.check.report.table import HEADINGS

ROOT = Path(__file__).parents[2]
CHECK = ROOT / "gradcheck_ref/check"
PAGE = (ROOT / "docs/zh/check/reading_a_report.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"`([^`]+)`", PAGE)

# The modules that write sentences of a report, and what else they have in words.
SOURCES = {
    "report/sentences.py": [],
    "report/unsure.py": [],
    "report/wholes.py": [],
    "diagnose/*.py": ["a branch that is not taken"],  # in a command
    "mistakes/factors.py": [],
    "mistakes/numbers.py": ["a relative error of 1e-3"],
    "mistakes/places.py": [],
    "hides/blind.py": [],
    "hides/measured.py": [],
    "judge/ties.py": [],
    "examine.py": [
        "f must return one real number for check_gradient, or (value, gradient) with a gradient "
        "arranged as the inputs are; if it returns an array, a tuple or a complex number, use "
        "check_vjp",  # an error, as is the next one
        " is missing: give the gradient, or a function that returns it, or let f return (value, "
        "gradient)",
        "notes_of_check",
    ],
    "claim/alone.py": [
        " gives two numbers, and the first is the value of f: they may be a value and a gradient, "
        "or the gradients of ",  # an error
        ". Give the gradient alone, or by name",
    ],
    "claim/identities.py": [],
    "claim/jacobian.py": [],
    "claim/claims.py": [
        "f.vjps must return a list with the result of f.vjp for each upstream",  # an error
        "in gradcheck_ref, calling ",  # a note on an error
        "and not from the point that it is sent? Then take it from there",  # in a command
        ": loss({**params, '",
    ],
}


def words_of(text):
    return " ".join(re.findall(r"[A-Za-z']+", text))


def texts_in(source):
    """Return the pieces of at least three words that a module writes, without docstrings."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    strings = [one.value for one in constants if id(one) not in docstrings]
    pieces = [piece for one in strings if isinstance(one, str) for piece in one.split("{}")]
    return [piece for piece in pieces if len(words_of(piece).split()) >= 3]


def not_explained(texts):
    explained = " | ".join(map(words_of, QUOTED))
    return [text for text in texts if f" {words_of(text)} " not in f" {explained} "]


@pytest.mark.parametrize("source", SOURCES)
def test_every_sentence_of_a_report_is_quoted_on_the_page(source):
    files = sorted(CHECK.glob(source))
    texts = [text for file in files for text in texts_in(file.read_text(encoding="utf-8"))]
    assert texts
    assert not_explained(text for text in texts if text not in SOURCES[source]) == []


def test_every_kind_reason_column_and_special_point_is_quoted_on_the_page():
    unsure = (ROOT / "docs/check/unsure.md").read_text(encoding="utf-8")
    reasons = re.findall("^## `(.+)`$", unsure, re.MULTILINE)
    assert reasons
    assert {*KINDS, *HEADINGS, *reasons} - set(QUOTED) == set()
    texts = [text for row in MISTAKES for text in (*row.question.split("{}"), row.reason) if text]
    assert not_explained(text.removeprefix("whether ") for text in texts) == []


def test_a_sentence_that_is_not_quoted_is_noticed():
    found = texts_in('"""Say so."""\nx = f"{n} entries are not quoted on the page; so {y}"')
    assert not_explained(found) == [" entries are not quoted on the page; so "]
