"""A proof-reader for pages and docstrings: habits that make a reader read a sentence twice."""

import ast
import re
from pathlib import Path

import pytest
from docstrings import parsed

from conftest import FENCE

ROOT = Path(__file__).parents[2]

# {folder: what is proof-read in it}. Add what has none of the habits.
OVERVIEWS = (
    *("index", "backward_pass", "choosing_the_step", "found", "glossary", "judge"),
    *("network", "sources", "zoo"),
)
PLACES = {
    ".": ["*.md"],
    "docs": [f"{page}.md" for page in OVERVIEWS],
    "docs/stages": ["*.md"],
    "docs/check": ["*.md"],
    "docs/compat": ["*.md"],
    "docs/slides": ["*.md"],
    "docs/exercises": ["*.md"],
    "docs/reference": ["index.md", "kinds.md", "oracle*.md", "rules.md"],
    "exercises": ["*.md", "*/README.md", "*/hints.md", "**/*.py"],
    "gradcheck_ref": ["**/*.py"],
}

# A habit | what it looks like in a sentence | one that has it | the same in plain English
TABLE = r"""
a clause with who as the subject | ^(?:And )?[Ww]ho\b(?! ?[,:])[^?]*$ |
    Who forgets the mean gets a gradient that is too large. |
    If you forget the mean, the gradient is too large. Who found the bug?
a clause with what as the subject | ^(?:And |But )?[Ww]hat\b[^?]*[^?:]$ |
    What stands behind the slope is the truncation error. |
    The terms after the slope are the truncation error. What is missing?
a sentence that begins with so and a verb | ^So (?:are|did|do|does|had|has|have|was|were)\b |
    So were torch's own operators checked. | We checked torch's own operators in this way.
so that one | \bso that one\b | The step shrinks, so that one finds the slope. |
    The step shrinks until the slope shows.
one as a pronoun | \b[Oo]ne (?:can|has to|hopes|looks|may|must|sees|should)\b |
    There one can see the kink. | There you can see the kink. One entry must be zero.
somebody is told | \b(?:is|are) told\b | The user is told the step. | The report gives the step.
a verb at the end of a comparison | \b(?:as|than) (?:did|do|does|had|has|have)\b |
    It divides by the step, as do all others. | It divides by the step. All others do the same.
nor before a verb | \b[Nn]or (?:are|can|did|do|does|had|has|have|is|was|were)\b |
    It is not a pass. Nor is it a fail. | It is not a pass, and it is not a fail.
of which none | \bof (?:which|whom) (?:all|both|each|few|most|none|one)\b |
    It takes two steps, of which none is short. | It takes two steps, and neither is short.
but for | \bbut for\b | It is zero but for rounding. | It is zero except for rounding.
for in the sense of because | , for (?:he|it|nobody|none|there|they|this|you)\b |
    It finds the mistake, for it measures the slope. |
    It finds the mistake, because it measures the slope. Ask for one, for two, and for all.
an old adverb | \b(?:[Hh]ence|[Tt]hereby|[Tt]herein|[Ww]hereby|[Ww]herefore)\b |
    Hence the residual is small. | So the residual is small.
shall | \bshall\b | It shall be zero. | It must be zero.
whether or not | \bwhether or not\b | It passes whether or not you seed it. |
    It passes with a seed and without one.
a court beyond verdict and witness | \b(?:acquit|convict) | Noise convicts nobody. |
    Noise never fails a gradient.
bend as a noun | \b(?:a|the) bend\b | It measures the bend. | It measures the curvature.
"""
ROWS = [row.split(" | ") for row in TABLE.strip().replace("\n    ", " ").splitlines()]
HABITS = {name: row for name, *row in ROWS}
ANY_HABIT = re.compile("|".join(pattern for pattern, *_ in HABITS.values()))

SETTINGS = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
OUTSIDE = re.compile(r"^(?:\||#|!\[).*\n|<!--.*-->|\$\$[^$]*\$\$", re.MULTILINE)
START_OF_AN_ITEM = re.compile(r"^ *(?:[-*>]|\d+\.|!!! .*) +", re.MULTILINE)


def sentences_of(text):
    """Return the sentences of a page, without code, tables, headings, pictures and formulas."""
    text = OUTSIDE.sub("\n", FENCE.sub("\n", SETTINGS.sub("", text)))
    paragraphs = re.split(r"\n\s*\n", START_OF_AN_ITEM.sub("\n\n", text))
    joined = (" ".join(paragraph.replace("*", "").split()) for paragraph in paragraphs)
    parts = [re.split(r"(?<=[.?!:;])\)? (?=\W?[A-Z`])", paragraph) for paragraph in joined]
    return [sentence for paragraph in parts for sentence in paragraph if sentence]


DOCUMENTED = (ast.ClassDef, ast.FunctionDef)
EXAMPLE = re.compile(r"^ *>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)


def documented_in(node):
    """Yield a module, its classes, its functions, and what is defined in those."""
    yield node
    for child in node.body:
        if isinstance(child, DOCUMENTED):
            yield from documented_in(child)


def docstrings_of(source):
    """Return the docstrings of a module as a page: what is indented is a paragraph."""
    nodes = documented_in(parsed(source))
    text = "\n\n".join(EXAMPLE.sub("", ast.get_docstring(node) or "") for node in nodes)
    return re.sub(r"^( *)(\S.*\n)(?!\1\S)", r"\1\2\n", text, flags=re.MULTILINE)


def text_of(path):
    """Return what the path says to a reader."""
    text = path.read_text(encoding="utf-8")
    return docstrings_of(text) if path.suffix == ".py" else text


def habits_in(text):
    """Return (habit, sentence) for every habit that a page has."""
    return [
        (habit, sentence)
        for sentence in sentences_of(text)
        if ANY_HABIT.search(sentence)
        for habit, (pattern, *_) in HABITS.items()
        if re.search(pattern, sentence)
    ]


@pytest.mark.parametrize("place", PLACES)
def test_pages_are_in_plain_english(place):
    pages = [page for names in PLACES[place] for page in (ROOT / place).glob(names)]
    assert pages
    found = {str(page): habits_in(text_of(page)) for page in pages}
    assert {page: habits for page, habits in found.items() if habits} == {}


@pytest.mark.parametrize("habit", HABITS)
def test_a_habit_is_noticed_and_its_plain_form_is_not(habit):
    _, wrong, plain = HABITS[habit]
    assert [found for found, _ in habits_in(f"Text.\n\n- A.\n- {wrong}\n")] == [habit]
    assert habits_in(plain) == []
