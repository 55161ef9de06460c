"""The questions before their answers, in their pages: by keyboard, on a phone, without scripts."""

import re

import pytest

from conftest import FENCE

from .axe import DARK, contrast_faults_of, faults_of
from .conftest import NARROW, ROOT, WIDE, window

pytest.importorskip("playwright", reason="needs playwright, of the extra browser")

NAME = re.compile(r'<div class="predict" data-name="(\w+)"')
INCLUDED = re.compile(r"^exercises/\w+/README\.md$", re.MULTILINE)
DOCS = ROOT / "docs"
ASKED = {}  # the page of each question
for path in sorted({*DOCS.rglob("*.md")} - {*DOCS.glob("zh/**/*.md")}):
    whole = INCLUDED.sub(
        lambda found: (ROOT / found[0]).read_text("utf-8"), path.read_text("utf-8")
    )
    page = f"{path.relative_to(DOCS).with_suffix('').as_posix()}/".removeprefix("index/")
    ASKED |= dict.fromkeys(NAME.findall(FENCE.sub("", whole)), page)


class Question:
    """A question, as a reader handles it."""

    def __init__(self, tab, name):
        self.block = tab.locator(f'.predict[data-name="{name}"]')
        self.button = self.block.locator(".run-bar button")
        self.answer = self.block.locator("details")
        self.inputs = self.block.locator("input, textarea")
        self.status = self.block.locator("[role=status]")


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", ASKED)
def test_a_question_is_answered_by_keyboard_and_then_shows_the_truth_beside_it(page, name):
    tab = page(ASKED[name])
    one = Question(tab, name)
    assert not one.answer.is_visible()
    marked = one.inputs.first.get_attribute("type") == "range"
    assert one.button.is_disabled() == (not marked)
    one.inputs.first.focus()
    tab.keyboard.press("ArrowRight" if marked else "Space")
    one.button.press("Enter")
    assert one.answer.is_visible()
    true = one.answer.locator("strong").first.inner_text().removesuffix(".")
    said = one.status.inner_text()
    assert said.endswith((f"True is {true}.", f"You said so: {true}."))
    shown = one.block.locator(".predict-at.truth, .predict-true")
    assert shown.count() == 1
    tab.reload()
    assert one.status.inner_text() == said
    assert one.answer.is_visible()
    one.button.click()
    assert not one.answer.is_visible()
    assert shown.count() == 0
    tab.reload()
    assert not one.answer.is_visible()


def test_what_follows_a_question_is_folded_until_it_is_answered(page):
    tab = page("check/kinks/", folded=True)
    one = Question(tab, "kink_claim")
    tab.locator("#near-a-kink").wait_for()
    assert tab.locator("#at-a-kink").is_hidden()
    assert one.status.inner_text().startswith("The next part of this page is folded")
    one.inputs.first.check()
    one.button.click()
    assert tab.locator("#at-a-kink").is_visible()
    tab.reload()
    assert tab.locator("#at-a-kink").is_visible()
    one.button.click()
    assert tab.locator("#at-a-kink").is_hidden()
    tab.locator(".md-nav--secondary a[href='#at-a-kink']").last.click()  # who wants to go there can
    tab.locator("#at-a-kink").wait_for()
    for path in ("stages/stage1_forward/", "stages/stage5_adaptive/", "backward_pass/"):
        page(path, folded=True)
        rest = tab.locator(".predict ~ *")
        assert rest.count() > 10
        assert not any(one.is_visible() for one in rest.all())
        said = tab.locator(".predict [role=status]").inner_text()
        assert said.startswith("The rest of this page is folded")


def test_each_choice_has_its_own_reply_and_who_does_not_know_gets_a_hint_first(page):
    tab = page("check/kinks/")
    one = Question(tab, "kink_claim")
    hint = one.block.locator(".predict-hint")
    replies = one.answer.locator("li")
    one.inputs.last.check()
    assert hint.inner_text().startswith("Would you refuse a claim of 1?")
    assert one.answer.is_hidden()
    for n, reply in enumerate(["pass: Torch", "fail: The central", None]):
        one.inputs.nth(n).check()
        assert hint.is_hidden()
        one.button.click()
        told = [one.inner_text() for one in replies.all() if one.is_visible()]
        assert [text.startswith(reply) for text in told] == [True] * bool(reply)
        one.button.click()


def test_a_printed_question_does_not_print_its_answer(page):
    tab = page("check/kinks/", folded=True)
    one = Question(tab, "kink_claim")
    one.inputs.first.check()
    for _ in ("before it is answered", "and after"):
        tab.emulate_media(media="print")
        answers = one.block.locator("details, .predict-hint, .predict-mark, .predict-status")
        printed = [
            tab.locator("#at-a-kink").is_visible(),
            any(a.is_visible() for a in answers.all()),
        ]
        tab.emulate_media(media="screen")
        assert printed == [True, False]
        one.button.click()


def test_an_answer_in_words_stays_and_its_reveal_is_that_of_the_instructor(page):
    tab = page("exercises/07_softmax/")
    for name, words in (
        ("07_softmax_recall", "0, whatever upstream is"),
        ("07_softmax_try", "3 classes"),
    ):
        one = Question(tab, name)
        one.inputs.fill("mine")
        one.button.click()
        assert words in one.answer.inner_text()
        tab.reload()
        assert one.inputs.input_value() == "mine"
        one.button.click()
        assert one.inputs.input_value() == ""


def test_the_answer_on_the_home_page_moves_the_figure(page):
    tab = page("")
    one = Question(tab, "home_long_step")
    one.inputs.first.check()
    one.button.click()
    figure = tab.locator(".figure-live [role=status]")
    assert "UNSURE" in figure.inner_text()
    assert one.status.inner_text() == "You said pass. True is unsure."
    one.button.click()


def test_on_a_phone_a_question_fits_and_can_be_touched(page):
    tab = page("exercises/02_central/")
    tab.set_viewport_size(NARROW)
    for name in ("02_central", "02_central_recall"):
        box = Question(tab, name).block.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= NARROW["width"]
    assert Question(tab, "02_central").inputs.bounding_box()["height"] >= 44
    tab.goto(tab.url.replace("02_central", "01_forward"))
    rows = tab.locator(".predict-options label")
    assert min(row.bounding_box()["height"] for row in rows.all()) >= 44
    tab.set_viewport_size(WIDE)


def test_axe_finds_nothing_serious_in_questions_that_are_answered(page):
    for name in ("01_forward", "02_central"):
        tab = page(f"exercises/{name}/")
        one = Question(tab, name)
        one.inputs.first.press("Space")
        one.button.click()
        assert faults_of(tab) == []
        tab.evaluate(DARK)
        assert contrast_faults_of(tab) == []
        one.button.click()


def test_without_scripts_a_question_and_its_answer_can_be_read(chromium, address):
    with window(chromium, java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(f"{address}exercises/01_forward/")
        one = Question(tab, "01_forward")
        assert one.block.locator("li").all_inner_texts()[2] == "0"
        one.answer.locator("summary").click()
        assert one.answer.locator("strong").is_visible()


def test_the_search_finds_questions_and_no_answers(site):
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "What should a check answer?" in index
    assert "no measurement confirms it" not in index
    assert "in good company" not in index
