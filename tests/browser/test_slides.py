"""A lecture: slide by slide on the screen, with notes where they are wanted, and on paper."""

import re

import pytest

from .conftest import ROOT, WIDE

pytest.importorskip("playwright", reason="needs playwright, of the extra browser")

PAGES = sorted((ROOT / "docs" / "slides").glob("*.md"))
DECKS = [(page.stem, lecture) for page in PAGES for lecture in range(3)]

FITS = """() => { const {scrollWidth, scrollHeight} = document.documentElement;
                  return Math.max(scrollWidth - innerWidth, scrollHeight - innerHeight) <= 2; }"""


@pytest.fixture
def shown(page):
    """Return what opens a deck and begins."""

    def begin(deck):
        tab = page(f"slides/{deck[0]}/")
        tab.set_viewport_size(WIDE)
        tab.get_by_role("button", name="Show as slides").nth(deck[1]).click()
        return tab

    return begin


def heading(tab):
    """Return the headings that are to be seen."""
    return [text.strip() for text in tab.locator(".slide > :is(h2, h3):visible").all_inner_texts()]


def test_keys_turn_the_page_and_end_it(shown):
    tab = shown(DECKS[0])
    assert heading(tab) == ["Rounding and truncation"]
    assert not tab.locator(".md-header, .md-sidebar").first.is_visible()
    for key, place, seen in (
        ("ArrowRight", "2 of 8", "A gradient that is wrong, and looks right"),
        ("PageDown", "3 of 8", "Measure it"),
        ("ArrowLeft", "2 of 8", "A gradient that is wrong, and looks right"),
        ("End", "8 of 8", "In short"),
        ("ArrowRight", "8 of 8", "In short"),
    ):
        tab.keyboard.press(key)
        assert tab.locator(".slide-place").inner_text() == place
        assert heading(tab) == [seen]
    assert tab.locator(".admonition.notes:visible").count() == 0
    tab.keyboard.press("Escape")
    assert len(heading(tab)) == tab.locator(".slide").count() > 3 * 5
    assert tab.locator(".md-header").is_visible()


def test_each_lecture_of_a_page_is_shown_alone(shown):
    tab = shown(DECKS[1])
    assert heading(tab) == ["Absolute or relative?"]
    tab.keyboard.press("End")
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Show as slides").nth(2).click()
    assert heading(tab) == ["A step with an error bar"]
    assert not tab.locator("h1").is_visible()


def test_the_notes_are_in_a_window_of_their_own_and_follow(shown):
    tab = shown(DECKS[0])
    said = tab.locator(".admonition.notes").all_text_contents()
    with tab.expect_popup() as popup:
        tab.keyboard.press("n")
    notes = popup.value
    notes.locator(".notes").wait_for()
    assert notes.locator(".notes").all_text_contents() == said[:1]
    tab.keyboard.press("ArrowRight")
    assert notes.locator(".notes").all_text_contents() == said[1:2]
    notes.keyboard.press("ArrowRight")  # keys work in both
    assert tab.locator(".slide-place").inner_text() == "3 of 8"
    assert notes.locator(".notes").all_text_contents() == said[2:3]
    assert tab.locator(".admonition.notes:visible").count() == 0
    notes.close()


def test_keys_in_an_example_are_for_writing(shown):
    tab = shown(DECKS[0])
    tab.keyboard.press("ArrowRight")
    tab.get_by_role("button", name="Edit").locator("visible=true").click()
    tab.keyboard.press("n")
    tab.keyboard.press("ArrowRight")
    assert tab.locator(".slide-place").inner_text() == "2 of 8"
    assert tab.locator(".admonition.notes:visible").count() == 0


# How large the letters are, and how much of the slide's height is used below the heading.
FILLED = """() => {
  const parts = [...document.querySelectorAll(".slide.current .slide-body > *")];
  const boxes = parts.map((part) => part.getBoundingClientRect());
  const letters = parseFloat(getComputedStyle(document.querySelector(".slide.current")).fontSize);
  const used = Math.max(...boxes.map((box) => box.height));
  const body = document.querySelector(".slide.current .slide-body");
  return [letters / innerHeight, used / body.offsetHeight];
}"""


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)], ids=str)
@pytest.mark.parametrize("deck", DECKS, ids=str)
def test_every_slide_fits_and_fills_the_screen_with_letters_for_the_last_row(shown, deck, size):
    tab = shown(deck)
    tab.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    for number in range(int(tab.locator(".slide-place").inner_text().split()[-1])):
        for _ in range(20):  # a live figure takes a moment to find its size
            letters, used = tab.evaluate(FILLED)
            # The title is large by itself.
            seen = [tab.evaluate(FITS), letters >= 0.03, number == 0 or used >= 0.5]
            if all(seen):
                break
            tab.wait_for_timeout(100)
        assert (heading(tab), seen) == (heading(tab), [True] * 3)
        tab.keyboard.press("ArrowRight")


@pytest.mark.parametrize("name", [page.stem for page in PAGES])
def test_every_slide_has_a_page_on_paper(shown, name):
    tab = shown((name, 0))
    tab.keyboard.press("Escape")
    pages = len(re.findall(rb"/Type\s*/Page\b", tab.pdf(prefer_css_page_size=True)))
    assert pages == tab.locator(".slide").count()
