"""The path of a student through the pages: stage, exercise, and no word before its time."""

import functools
import re
from pathlib import Path

import pytest

from conftest import FENCE
from course import read_course

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CONFIGURATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
LEARN = re.search(r"^  - Learn:\n((?: {6}.*\n)+)", CONFIGURATION, re.MULTILINE)[1]
PATH = [DOCS / page for page in re.findall(r": (\S+\.md)$", LEARN, re.MULTILINE)]


@functools.cache
def prose_of(page):
    """Return what a page says, and what it includes; not its headings, code, formulas, pictures."""
    text = re.sub(
        r"^--8<--\n(exercises/\S+README\.md)\n--8<--$",
        lambda included: (ROOT / included[1]).read_text(encoding="utf-8"),
        page.read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    text = re.sub(r"^#.*$", "", FENCE.sub("", text), flags=re.MULTILINE)
    return re.sub(r"\$\$.*?\$\$|!\[.*?\]\(.*?\)", "", text, flags=re.DOTALL)


def first_paragraph_with(words, texts):
    """Return the first paragraph that has the words."""
    paragraphs = (part for text in texts for part in text.split("\n\n"))
    return next(part for part in paragraphs if re.search(words, part, re.IGNORECASE))


# {what is said: where the glossary explains it}
EXPLAINED = {
    "secant": "secant",
    "Taylor": "taylor-series",
    "truncat": "truncation",
    "rounding": "rounding",
    "epsilon": "machine-epsilon",
    r"\bkink": "kink",
    "backward pass": "backward-pass",
    "upstream": "upstream",
    r"\bfloor": "floor",
    "softmax": "softmax",
    "error bar": "error-bar",
}


@pytest.mark.parametrize("words", EXPLAINED)
def test_a_word_is_explained_where_a_student_first_meets_it(words):
    anchor = EXPLAINED[words]
    assert f"glossary.md#{anchor})" in first_paragraph_with(words, map(prose_of, PATH))
    assert f"{{ #{anchor} }}" in (DOCS / "glossary.md").read_text(encoding="utf-8")


# Terms of the check, on the way through *Learn* and *Check*.
CHECK = re.search(r"^  - Check:\n((?: {6}.*\n)+)", CONFIGURATION, re.MULTILINE)[1]
GUIDE = [*PATH, *(DOCS / page for page in re.findall(r": (\S+\.md)$", CHECK, re.MULTILINE))]
TERMS = {
    r"\bresiduals?\b": "residual",
    r"\bits \W*units?\b|\bunits? of its own": "unit",
    r"\bresolution\b": "resolution",
    r"\b(?:un)?settled\b": "settled",
    r"\b(?:an?|one|two|each|per|every) \W*draws?\b": "draw",
    r"\bbudget\b": "budget",
    r"\bfaults?\b": "fault",
    r"\bfloor\b": "floor",
    r"\bstencil\b": "stencil",
    r"\btypical\b": "typical",
    r"\bwitness(?:es)?\b": "witness",
}


@functools.cache
def sentences_of(page):
    """Return the prose of a page without settings, tables and addresses but the glossary's."""
    text = re.sub(r"\A---\n.*?\n---\n", "", prose_of(page), flags=re.DOTALL)
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\]\((?!\S*glossary\.md)[^)]*\)", "]", text)


@pytest.mark.parametrize("words", TERMS)
def test_a_term_of_the_check_has_an_entry_with_an_example_and_is_explained_at_first(words):
    anchor = TERMS[words]
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    entry = re.search(rf"{{ #{anchor} }}\n((?:.+\n)+)", glossary)[1]
    assert "for example" in entry.lower()
    pages = [text for text in map(sentences_of, GUIDE) if re.search(words, text, re.IGNORECASE)]
    if pages:  # else it is for the reference only
        said = first_paragraph_with(words, pages)
        assert f"glossary.md#{anchor})" in said or re.search(rf"\*{anchor}", said)


TAUGHT = [page for page in PATH if page.parent.name != "exercises"]


@pytest.mark.parametrize("page", TAUGHT, ids=lambda page: page.stem)
def test_a_teaching_page_opens_with_why_and_ends_with_a_summary_and_a_task(page):
    text = page.read_text(encoding="utf-8")
    why = re.search(r"^# .*\n\n((?:[^#\n].*\n)+)\n## ", text, re.MULTILINE)[1]
    assert 2 <= len(re.findall(r"[.?](?=\s)", why)) <= 4
    points, last = re.search(r"\n## In short\n\n((?:- .*\n(?:  .*\n)*)+)\n(.*)\n\Z", text).groups()
    assert points.count("\n- ") == 2
    assert last.startswith(("**Your turn:** [exercise", "**Next:** ["))


# --- one name and one number for a topic -----------------------------------------------------

NAVIGATION = {
    path: name
    for name, path in re.findall(r'^ +- "?([^"\n]+?)"?: (\S+\.md)$', CONFIGURATION, re.MULTILINE)
}
NUMBERED = [path for path, name in NAVIGATION.items() if re.match(r"(?:Stage |Exercise )?\d", name)]


def plain(name):
    """Return a name as it is compared: number, then words without *Stage*, *the* and capitals."""
    name = re.sub(r"^(?:stage|exercise) ", "", name.lower()).replace(":", "")
    return re.sub(r"^(\d+ )the ", r"\1", name)


def title_of(path):
    """Return the title of a page, or of the exercise that it includes."""
    text = (DOCS / path).read_text(encoding="utf-8")
    if included := re.search(r"^exercises/\S+README\.md$", text, re.MULTILINE):
        text = (ROOT / included[0]).read_text(encoding="utf-8")
    return re.search(r"^# (.+)$", text, re.MULTILINE)[1]


@pytest.mark.parametrize("path", NUMBERED)
def test_a_page_has_one_name_and_one_number_in_the_navigation_and_as_its_title(path):
    assert plain(title_of(path)) == plain(NAVIGATION[path])


@pytest.mark.parametrize("exercise", read_course().everything, ids=lambda e: e.name)
def test_an_exercise_is_called_in_a_terminal_as_on_its_page(exercise):
    title = title_of(f"exercises/{exercise.name}.md").replace("Project: i", "project I")
    assert title == f"{exercise.number} {exercise.title}"


@pytest.mark.parametrize("number", range(1, 6))
def test_a_stage_and_its_exercise_have_the_same_name(number):
    (stage,) = (path for path in NAVIGATION if path.startswith(f"stages/stage{number}_"))
    (exercise,) = (path for path in NAVIGATION if path.startswith(f"exercises/0{number}_"))
    assert plain(title_of(exercise)) == f"0{plain(title_of(stage))}"
    name = NAVIGATION[stage].replace("Stage ", "").replace(":", "")
    assert f"[{name}]({stage})" in (DOCS / "index.md").read_text(encoding="utf-8")
