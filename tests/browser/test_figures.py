"""The live figures: by mouse and by keyboard, without scripts, on paper."""

import pytest

from .conftest import NARROW, WIDE, window

pytest.importorskip("playwright", reason="needs playwright, of the extra browser")

FIGURES = [
    "",
    "stages/stage1_forward/",
    "stages/stage2_central/",
    "stages/stage4_allclose/",
    "stages/stage5_adaptive/",
    "check/kinks/",
    "check/in_low_precision/",
    "check/a_million_parameters/",
    "zoo/",
]
STILL = "img[data-figure], [data-figure] img"


def said(tab, which=0):
    """Return the sentence that a figure shows, and a screen reader reads, after every change."""
    return tab.locator(".figure-live [role=status]").nth(which).inner_text()


def drag(tab, *places):
    """Press the mouse at the first place and drag it over the others."""
    tab.mouse.move(*places[0])
    tab.mouse.down()
    for place in places[1:]:
        tab.mouse.move(*place, steps=4)
    tab.mouse.up()


def sides_of(part):
    """Return where the left and the right side of a part are in the window, and its middle."""
    part.scroll_into_view_if_needed()
    box = part.bounding_box()
    left, right = box["x"], box["x"] + box["width"]
    return left, right, ((left + right) / 2, box["y"] + box["height"] / 2)


# --- figures and their pictures --------------------------------------------------------------


@pytest.mark.parametrize("path", FIGURES)
def test_a_figure_takes_the_place_of_its_picture_except_on_paper(page, path):
    tab = page(path)
    tab.locator(".figure-live").first.wait_for()
    figures = [*zip(tab.locator(".figure-live").all(), tab.locator(STILL).all(), strict=True)]
    assert not any(still.is_visible() for _, still in figures)
    tab.emulate_media(media="print")
    assert all(still.is_visible() and not live.is_visible() for live, still in figures)
    tab.emulate_media(media="screen")


@pytest.fixture(scope="module")
def without_scripts(chromium):
    """Open a tab that runs no script."""
    with window(chromium, java_script_enabled=False) as context:
        yield context.new_page()


@pytest.mark.parametrize("path", FIGURES)
def test_without_scripts_the_picture_stays(without_scripts, address, path):
    without_scripts.goto(address + path)
    stills = without_scripts.locator(STILL).all()
    assert stills
    for still in stills:
        assert still.is_visible()
        assert still.evaluate("image => image.naturalWidth") > 0


# --- by mouse ----------------------------------------------------------------------------------

# A page, which of its sentences and of its figures that one can drag; what is said at the left end
# and at the right one.
DRAGGED = {
    "stages/stage5_adaptive/": (1, 0, "at h = 1e-16:", "at h = 1:"),
    "check/in_low_precision/": (0, 0, "At h = 1/4096 and 1/8192", "At h = 1 and 1/2"),
    "check/kinks/": (
        *(0, 0, "at x = -1: a fixed step of 0.2 sees 0 and refuses it"),
        "A slope of 1 at x = 1: a fixed step of 0.2 sees 1 and accepts it",
    ),
    "check/a_million_parameters/": (1, 1, "draws of 1 line,", "draws of 20 lines"),
}


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["a desktop", "a phone"])
@pytest.mark.parametrize("path", DRAGGED)
def test_a_figure_is_dragged_and_stays_when_released(page, path, size):
    sentence, figure, at_left, at_right = DRAGGED[path]
    tab = page(path)
    tab.set_viewport_size(size)
    left, right, middle = sides_of(tab.locator(".figure-live > svg").nth(figure))
    drag(tab, middle, (left - 10, middle[1]))
    assert at_left in said(tab, sentence)
    drag(tab, middle, (right + 10, middle[1]))
    assert at_right in said(tab, sentence)
    tab.mouse.move(*middle)  # released, it stays
    assert at_right in said(tab, sentence)


# --- the home page ---------------------------------------------------------------------------


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["a desktop", "a phone"])
def test_the_step_on_the_home_page_is_visible_and_can_be_dragged(page, size):
    tab = page("")
    tab.set_viewport_size(size)
    assert said(tab) == "Measured 3.813 ± 2.3, claimed -1.438: the claim is 5.3 away. FAIL."
    tab.get_by_label("Claim", exact=True).select_option("right")
    assert said(tab).endswith("UNSURE: take a shorter step.")
    tab.evaluate("scrollTo(0, 0)")
    box = tab.locator(".figure-live > svg").bounding_box()
    assert box["y"] + box["height"] < size["height"], "it is not on the first screen"
    step = tab.get_by_role("slider", name="Step")
    step.press("Home")
    assert said(tab) == "Measured 1.691 ± 0.0038, claimed 1.688: the claim is within. PASS."
    tab.get_by_label("Difference").select_option("central")
    assert said(tab).startswith("Measured 1.688 ± 1.5e-6,")
    _, right, middle = sides_of(tab.locator(".figure-live > svg"))
    drag(tab, middle, (right - 25, middle[1]))
    assert step.get_attribute("aria-valuetext") == "h = 1"


def test_the_home_page_has_four_doors_and_five_pictures_that_lead_on(page, address):
    tab = page("")
    assert tab.locator(".doors li").count() == 4
    cards = tab.locator(".stairs > div")
    assert cards.count() == 5
    for number, card in enumerate(cards.all(), 1):
        assert card.locator("svg").is_visible()
        assert f"stages/stage{number}_" in card.get_by_role("link").get_attribute("href")
    cards.last.click()  # the whole of a card is its link
    tab.wait_for_url(f"{address}stages/stage5_adaptive/")


# --- the zoom --------------------------------------------------------------------------------


def test_the_curve_is_magnified_by_keyboard_until_it_is_a_staircase(page):
    tab = page("stages/stage1_forward/")
    figure = tab.locator(".figure-live").first
    told, step = figure.get_by_role("status"), figure.get_by_role("slider", name="Step")
    assert told.inner_text().startswith("The slope is 0.48. Measured with h = 0.18: forward 0.728")
    step.press("Home")
    assert told.inner_text().endswith("Measured with h = 1e-16: forward 0, off by 100 %.")
    corners = figure.locator("svg polyline").first.get_attribute("points").split()
    assert len({corner.split(",")[1] for corner in corners}) < 5


# --- the digits ------------------------------------------------------------------------------

DIGITS = ".figure-live:has(.figure-digits)"


def test_fewer_digits_agree_with_a_lower_order(page):
    tab = page("stages/stage5_adaptive/")
    assert said(tab) == "five-point: 10 to 11 digits agree, at h = 1e-3 to 1e-6."
    marked = tab.locator(f"{DIGITS} mark")
    assert marked.first.inner_text() == "-2.0"
    tab.locator(DIGITS).get_by_label("Formula").select_option("forward")
    assert said(tab) == "forward: 7 to 8 digits agree, at h = 1e-7 to 1e-10."
    tab.locator(DIGITS).get_by_label("Function").select_option("root")
    assert marked.nth(7).inner_text().startswith("0.59761")


# --- the V-curve -----------------------------------------------------------------------------

CURVE = ".figure-live:has(> svg)"


def test_the_step_of_the_v_curve_moves_by_keyboard(page):
    tab = page("stages/stage5_adaptive/")
    slider = tab.get_by_role("slider", name="Step")
    assert said(tab, 1).startswith("Largest relative error at h = 1e-5: forward 1e-5,")
    for key, h in {"ArrowRight": "1.8e-5", "Home": "1e-16", "End": "1"}.items():
        slider.press(key)
        assert slider.get_attribute("aria-valuetext") == f"h = {h}"
        assert said(tab, 1).startswith(f"Largest relative error at h = {h}:")


def test_the_table_of_the_v_curve_follows_the_choice(page):
    tab = page("stages/stage5_adaptive/")
    row = tab.locator(f"{CURVE} tbody tr").first.locator("td")
    assert row.last.inner_text() == "2e-8 at h = 1e-8"
    tab.get_by_label("Precision").select_option("float32")
    assert row.last.inner_text() == "3e-4 at h = 1e-4"
    tab.locator(CURVE).get_by_label("Function").select_option("exp")
    tab.get_by_label("x", exact=True).select_option("800")
    assert row.all_inner_texts() == ["no slope", "no slope"]


# --- few digits ------------------------------------------------------------------------------


def test_few_digits_follow_the_gradient_the_precision_and_the_steps(page):
    tab = page("check/in_low_precision/")
    assert said(tab).startswith("At h = 1/16 and 1/32 the residuals are 5 % and 6 % of")
    assert said(tab).endswith("leave 5 %. The claim is off by 5 %.")
    tab.get_by_label("Gradient", exact=True).select_option("right")
    assert said(tab).endswith("The claim is off by 0 %.")
    tab.get_by_label("Precision", exact=True).select_option("float32")
    assert "the residuals are 0.6 % and 0.1 % of" in said(tab)
    tab.get_by_role("slider", name="Steps").press("Home")
    assert said(tab).startswith("At h = 1/4096 and 1/8192 the residuals are 0.008 % and 0.01 %")


# --- the kink --------------------------------------------------------------------------------


def test_the_kink_is_reached_by_keyboard_and_judged(page):
    tab = page("check/kinks/")
    assert "a fixed step of 0.2 sees 0.75 and refuses it" in said(tab)
    assert "it says pass" in said(tab)
    point = tab.get_by_role("slider", name="Point")
    point.press("ArrowLeft")
    point.press("ArrowLeft")
    assert "A slope of 1 at x = 0: a fixed step of 0.2 sees 0.5" in said(tab)
    assert "unsure (kink)" in said(tab)
    tab.get_by_label("Slope claimed").select_option("2")
    assert "the check says fail" in said(tab)


# --- the tolerance plane ---------------------------------------------------------------------


def test_the_rule_decides_the_row_of_warp(page):
    tab = page("stages/stage4_allclose/")
    assert "off by 1.751e-4, relative error 0.78" in said(tab)
    assert said(tab).endswith("allows 0.001002: it passes.")
    tab.get_by_label("Rule").select_option("both, each tested alone")
    assert said(tab).endswith("allows 2.235e-6: it fails.")


def test_the_point_of_the_tolerance_plane_is_dragged_and_brought_back(page):
    tab = page("stages/stage4_allclose/")
    _, _, point = sides_of(tab.locator(".figure-live circle.handle"))
    drag(tab, point, (point[0] - 50, point[1] - 150))
    assert said(tab).endswith("it fails.")
    tab.get_by_role("button", name="Back to Warp's row").click()
    assert "Analytic 4.84e-5, numeric 2.235e-4" in said(tab)
    tab.get_by_role("slider", name="analytic").press("End")
    assert "Analytic 0.002," in said(tab)


# --- the signs of five errors, and random lines ----------------------------------------------


def test_a_sign_is_flipped_by_keyboard_and_an_error_cannot_hide_on_most_lines(page):
    tab = page("check/a_million_parameters/")
    assert said(tab).startswith("Residual: +4 +3 −2 +1 +2 = +8. This line shows the largest error")
    tab.get_by_role("button", name="Entry 1 moves up: flip").press("Enter")
    assert said(tab).startswith("Residual: −4 +3 −2 +1 +2 = 0. This line hides the largest error")
    tab.get_by_role("button", name="Entry 1 moves down: flip").press("Space")
    for entry, key in ((2, "Home"), (3, "Home"), (4, "Home"), (5, "Home"), (2, "End"), (1, "End")):
        tab.get_by_role("slider", name=f"Entry {entry}").press(key)
    assert said(tab).endswith("Of all 32 lines, 16 show it.")


def test_a_line_is_chosen_by_mouse(page):
    tab = page("check/a_million_parameters/")
    left, right, middle = sides_of(tab.locator(".figure-live > svg").first)
    drag(tab, (right - 60, middle[1] - 168))
    assert said(tab).startswith("Residual: +4 +3 +2 +1 +2 = +12.")
    drag(tab, middle, (left + 60, middle[1] + 136))
    assert said(tab).startswith("Residual: −4 −3 −2 −1 −2 = −12.")


def test_lines_are_added_by_keyboard(page):
    tab = page("check/a_million_parameters/")
    words = "Of 100000 draws of 12 lines, 16 miss the error; 2^-K allows 24."
    assert said(tab, 1).startswith(words)
    slider = tab.get_by_role("slider", name="Lines")
    for key, k, words in [
        ("Home", 1, "draws of 1 line, 48639 miss the error; 2^-K allows 50000"),
        ("End", 20, "draws of 20 lines, 0 miss the error; 2^-K allows 0.095"),
    ]:
        slider.press(key)
        assert slider.get_attribute("aria-valuetext") == f"K = {k}"
        assert words in said(tab, 1)
    assert "suspects entry 40, the largest error; of 1000 draws 896 name entry 40" in said(tab, 1)


def test_other_signs_change_the_counts_and_every_line_finds_a_single_error(page):
    tab = page("check/a_million_parameters/")
    before = said(tab, 1)
    tab.get_by_role("button", name="Other signs").press("Enter")
    assert said(tab, 1) != before
    one = tab.locator(".figure-live tbody tr").first.locator("td").all_inner_texts()
    assert one == ["0.48", "0.49", "0.5"]
    tab.get_by_label("Other wrong entries").select_option("0")
    tab.get_by_role("slider", name="Lines").press("Home")
    assert "draws of 1 line, 0 miss the error" in said(tab, 1)
    assert "The draw shown cannot tell 64 entries apart" in said(tab, 1)


# --- the staircase ---------------------------------------------------------------------------


def test_the_staircase_is_filtered_and_sorted_by_keyboard(page):
    tab = page("zoo/")
    rows = tab.locator(".figure-live tbody tr")
    tab.get_by_label("Only where stages differ").press("Space")
    assert rows.count() > 100
    tab.get_by_role("searchbox", name="Function").fill("relu near")
    assert rows.count() == 2
    tab.get_by_role("searchbox", name="Function").fill("")
    tab.get_by_label("Kind").select_option("near-kink")
    for direction, worst in (("ascending", rows.first), ("descending", rows.last)):
        tab.get_by_role("button", name="2 central").press("Enter")
        sorted_by = tab.locator(f".figure-live th[aria-sort={direction}]")
        assert sorted_by.inner_text().startswith("2 central")
        assert worst.locator("td").nth(1).inner_text().startswith("refused")
