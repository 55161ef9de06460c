"""Every sentence that a report may have is on a page: in English as it is, in Chinese explained."""

import ast
import re
import sys
from html import unescape
from pathlib import Path

import pytest

from gradcheck_ref import check_gradient
from gradcheck_ref.check.claim.company import CIRCUMSTANCES
from gradcheck_ref.check.mistakes.table import KINDS, MISTAKES
from gradcheck_ref.check.report.table import entry_row

ROOT = Path(__file__).parents[2]
CHECK = ROOT / "gradcheck_ref/check"
sys.path.append(str(ROOT / "docs" / "hooks"))
import sentences  # noqa: E402, the hooks are no package

PAGE = (ROOT / "docs/zh/check/reading_a_report.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"`([^`]+)`", PAGE)

# What modules of the check say elsewhere: in errors, notes, commands and plots, and to one another.
ELSEWHERE = {
    "; inputs holds numbers, each an argument: for one array, pass np.array",
    "; f gets NumPy arrays: if it is written for torch or JAX, pass from_torch(f) or from_jax(f)",
    "f.many must return one value for each point",
    "f.vjps must return a list with the result of f.vjp for each upstream",
    " gives two numbers, and the first is the value of f: they may be a value and a gradient, or "
    "the gradients of ",
    ". Give the gradient alone, or by name",
    " object has no attribute ",
    "() got an unexpected keyword argument ",
    "x moved by ",
    " of its size, all coordinates at once",
    "to check the derivatives of ",
    "(f), inputs), with from gradcheck_ref.adapters import from_",
    "it is a torch.nn.Module: write check_module(f, inputs), with from ",
    "gradcheck_ref.adapters import check_module",
    ", -1 for all cores, None, an Executor or a function like map",
    ", or left out",
    "; did you mean ",
    "and not from the point that it is sent? Then take it from there",
    ": loss({**params, '",
    "a branch that is not taken",
    "a relative error of 1e-3",
    "notes_of_check",
    "reads_only_its_inputs",
    "nothing to compare",
    "the error bars",
    "away from special values",
    "combinations of outputs",
    "in every second cell",
    *(one.name for one in CIRCUMSTANCES),
}
# And what begins like this, and is longer.
BEGINNINGS = (
    "in gradcheck_ref, calling ",
    "a worker process died: ",
    "f and its inputs are sent to other processes",
)
# The rows of the table of mistakes are tested below; its descriptions are for another page. What a
# plot and data have in words is no sentence.
OTHER_FILES = {"table.py", "plot.py", "report.py", "text.py"}


def words_of(text):
    return " ".join(re.findall(r"[A-Za-z']+", text))


def texts_in(source):
    """Return the pieces of at least three words that a module writes, but in docstrings and errors.

    A formula of einsum has letters, and no words.
    """
    left_out, texts = set(), []
    for node in ast.walk(ast.parse(source)):  # what is around comes before what is inside
        if isinstance(node, ast.Raise):
            left_out.update(map(id, ast.walk(node)))
        elif isinstance(node, ast.Expr):
            left_out.add(id(node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts += [] if id(node) in left_out else node.value.split("{}")
    return [text for text in texts if len(words_of(text).split()) >= 3 and "->" not in text]


def not_explained(texts, page=QUOTED):
    explained = " | ".join(map(words_of, page))
    return [text for text in texts if f" {words_of(text)} " not in f" {explained} "]


def made():
    """Return the lines of the English page, which are made."""
    text = re.sub(r"\\(.)", r"\1", sentences.sentences())
    return unescape(text).replace("<br>", " | ").splitlines()


@pytest.mark.parametrize("page", [made, lambda: QUOTED], ids=["en", "zh"])
def test_every_sentence_of_a_report_is_quoted_on_the_page(page):
    files = [path for path in CHECK.rglob("*.py") if path.name not in OTHER_FILES]
    texts = [text for path in files for text in texts_in(path.read_text(encoding="utf-8"))]
    texts = [text for text in texts if text not in ELSEWHERE and not text.startswith(BEGINNINGS)]
    assert not_explained(texts, page()) == []


def test_every_kind_reason_column_and_special_point_is_quoted_on_the_page():
    listed = (ROOT / "docs/reference/kinds.md").read_text(encoding="utf-8")
    reasons = re.findall("^\\| `(.+)`{ #unsure-", listed, re.MULTILINE)
    assert reasons
    headings = entry_row(check_gradient(lambda x: x**2, 3.0, 6.0).worst, "pass").keys()
    assert {*KINDS, *headings, *reasons} - set(QUOTED) == set()
    texts = [text for row in MISTAKES for text in (*row.question.split("{}"), row.reason) if text]
    assert not_explained(text.removeprefix("whether ") for text in texts) == []


def test_a_sentence_that_is_not_quoted_is_noticed():
    found = texts_in('"""Say so."""\nx = f"{n} entries are not quoted on the page; so {y}"')
    assert not_explained(found) == [" entries are not quoted on the page; so "]


def test_the_sentences_of_a_function_are_a_row_with_its_kind_and_its_advice():
    source = (
        "def f(n, far):\n"
        "    advice = 'look at them'\n"
        "    said = f'it is wrong in {n} entries'\n"
        "    said += ', and ' + ('far' if far else 'near')\n"
        "    if far:\n"
        "        advice = 'look far away from here'\n"
        "    yield Guess('mask', said, advice)\n"
    )
    row = "- **`mask`**<br>it is wrong in … entries, and ⟨far | near⟩"
    row += "<br>*do:* look at them<br>*do:* look far away from here"
    assert [*sentences.listed(ast.parse(source))] == [row.replace("|", "\\|")]
