"""The lectures: what each must keep so that it can be shown slide by slide; a page has three."""

import re
from pathlib import Path

import pytest

import course
from conftest import FENCE

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "slides").glob("*.md"))
LINES = 17  # that a projector shows, of what is no note
PYTHON = "```python\n"
NOTES = re.compile(r'^!!! notes "Say"\n+((?: {4}.*\n|\n)+)', re.MULTILINE)


def parts_of(text, heading):
    """Return what stands from one heading to the next."""
    outside = FENCE.sub(lambda fence: fence[0].replace("\n#", "\n\0"), text)
    parts = re.split(f"^(?={heading} )", outside, flags=re.MULTILINE)[1:]
    return [part.replace("\0", "#") for part in parts]


DECKS = [deck for page in PAGES for deck in parts_of(page.read_text("utf-8"), "##")]
by_number = pytest.mark.parametrize("deck", DECKS, ids=range(1, len(DECKS) + 1))


def slides_of(deck):
    """Return the slides of a lecture."""
    return parts_of(deck, "###?")


def faults_of(slide):
    """Return what is wrong with a slide."""
    if len(NOTES.findall(slide)) != 1:
        return ["no notes, or several"]
    shown = [line for line in NOTES.sub("", slide).splitlines() if line.strip("` ")]
    return [f"{len(shown)} lines"] if len(shown) > LINES else []


def bare(slides):
    """Return the slides between the first and the last that show neither a picture nor code."""
    return [one for one in slides[1:-1] if "](../assets/figures/" not in one and PYTHON not in one]


@by_number
def test_every_slide_has_its_notes_and_fits_on_a_screen(deck):
    slides = slides_of(deck)
    assert 5 <= len(slides) <= 12
    assert [(slide, faults_of(slide)) for slide in slides if faults_of(slide)] == []
    assert slides[-1].startswith("### In short\n")
    assert len(deck.splitlines()) <= 130


@by_number
def test_every_deck_shows_its_ideas(deck):
    pictures = re.findall(r"^!\[(.+)\]\(\.\./assets/figures/", deck, re.M)
    assert len(pictures) >= 2
    assert min(map(len, pictures)) > 60
    assert bare(slides_of(deck)) == []


def test_every_exercise_has_its_lecture_and_every_lecture_its_place():
    told = [re.findall(r"exercises/(\w+)\.md", deck.split("!!!")[0]) for deck in DECKS]
    names = [exercise.name for exercise in course.read_course().choose(())]
    assert [name for lecture in told for name in lecture] == names
    plans = (ROOT / "docs/exercises/plans.md").read_text(encoding="utf-8")
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert text.startswith("---\nslides: true\n")
        for title, number in re.findall(r"^## (.+) { #lecture-(\d) }$", text, re.MULTILINE):
            assert f"| [{number} {title}](../slides/{page.name}#lecture-{number}) |" in plans
    assert len(re.findall("#lecture-", plans)) == len(DECKS) == 9
