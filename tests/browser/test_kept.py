"""What the reader has written stays: with two tabs, without a storage, and after a reload."""

import json
import time
import zipfile

import pytest

from .another_python import play_pyodide
from .conftest import window

pytest.importorskip("playwright", reason="needs playwright, of the extra browser")

from .test_exercise import RIGHT, STARTER, WRONG, Exercise
from .test_predictions import Question

# A tab that no other tab can tell anything, as one that sleeps.
DEAF = "addEventListener('storage', (event) => event.stopImmediatePropagation(), true)"
FORBIDDEN = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("forbidden", "SecurityError"); }
})"""
FULL = """() => {
  const more = (size) => {
    try {
      localStorage.filling = (localStorage.filling ?? "") + "x".repeat(size);
      return true;
    } catch {
      return false;
    }
  };
  for (let size = 2 ** 22; size >= 1; size /= 2) while (more(size));
}"""
EARLIER = """() => [...document.querySelectorAll(".earlier > details")].map((one) => [
  one.querySelector("summary").textContent, one.querySelector("pre").textContent.trim()])"""


def earlier(exercise):
    """Return what the page lists of earlier texts: what is said of each, and the text."""
    if exercise.tab.locator(".earlier").is_hidden():
        return []
    exercise.tab.evaluate("document.querySelector('.earlier').open = true")
    exercise.tab.wait_for_function("document.querySelector('.earlier > details')")
    return exercise.tab.evaluate(EARLIER)


def texts(exercise):
    """Return the earlier texts alone."""
    return [text for _, text in earlier(exercise)]


def shows(exercise, text):
    """Wait until a tab shows a text."""
    exercise.tab.wait_for_function(
        "text => document.querySelector('.exercise code').innerText.trim() === text", arg=text
    )


@pytest.fixture(scope="module")
def pages(chromium):
    """Open three tabs; the last one never hears of what the others do."""
    with window(chromium) as context:
        pages = [context.new_page() for _ in range(3)]
        pages[2].add_init_script(DEAF)
        yield pages


@pytest.fixture
def one(pages, address):
    """Open an exercise in one of them, without a past."""
    for page in pages:
        page.goto(f"{address}assets/checker.js")  # no page, but of this site
    pages[0].evaluate("localStorage.clear()")
    return Exercise(pages[0], address)


@pytest.fixture
def tabs(one, pages, address):
    """Open the same exercise in all of them."""
    return [one, *(Exercise(page, address) for page in pages[1:])]


# --- two tabs --------------------------------------------------------------------------------


def test_a_tab_shows_the_newer_text_and_says_so(tabs):
    first, second, _ = tabs
    first.write("a = 1")
    shows(second, "a = 1")
    assert "Another tab has changed this file" in second.status.inner_text()
    second.write("a = 2")
    shows(first, "a = 2")
    assert texts(first) == []  # each was written over the other


AT_ONCE = """([at, text]) => new Promise((resolve) => setTimeout(() => {
  while (Date.now() < at);
  const code = document.querySelector(".exercise code");
  code.focus();
  getSelection().selectAllChildren(code);
  document.execCommand("insertText", false, text);
  resolve();
}, at - Date.now() - 20))"""


def test_two_tabs_that_write_at_once_keep_both_texts(tabs):
    first, second, _ = tabs
    for n in range(5):
        at = 1000 * time.time() + 300
        both = [f"first {n}", f"second {n}"]
        second.tab.evaluate(f"window.wrote = ({AT_ONCE})({json.dumps([at, both[1]])}), 0")
        first.tab.evaluate(AT_ONCE, [at, both[0]])
        second.tab.evaluate("window.wrote")
        first.tab.wait_for_timeout(200)
        shown = [one.text.strip() for one in (first, second)]
        assert shown[0] == shown[1]
        first.tab.reload()
        assert first.text.strip() == shown[0]
        assert {*both} <= {shown[0], *texts(first)}


def test_an_answer_in_one_tab_is_seen_in_the_other(tabs):
    first, second, deaf = (Question(one.tab, "01_forward") for one in tabs)
    first.inputs.first.check()
    second.block.locator("input:checked").wait_for()
    second.button.click()
    first.answer.wait_for()
    deaf.inputs.nth(1).check()  # it did not see that the answer is shown: nor is it hidden again
    tabs[0].tab.reload()
    assert first.answer.is_visible()
    assert first.inputs.nth(1).is_checked()


# --- earlier texts ---------------------------------------------------------------------------


def test_start_again_twice_brings_the_first_text_back(one):
    assert one.button("Start again").is_disabled()
    for text in ("original", "a letter"):
        one.write(text)
        one.button("Start again").click()
        assert one.text == STARTER
    one.tab.reload()
    assert texts(one) == ["a letter", "original"]
    one.tab.locator(".earlier > details").last.locator("summary").click()
    one.tab.get_by_role("button", name="Take this back").last.click()
    assert one.text.strip() == "original"
    one.tab.reload()
    assert one.text.strip() == "original"


def test_the_last_ten_are_kept_with_their_points_and_downloaded(chromium, address, tmp_path):
    with window(chromium) as context:
        play_pyodide(context, tmp_path)
        one = Exercise(context.new_page(), address)
        for text, passed in ((WRONG, 0), (RIGHT, 6), (WRONG, 0)):
            one.write(text).press("Check", f"{passed} of 6 checks passed.")
        told = [said for said, _ in earlier(one)]
        assert ["0 of 6" in told[0], "6 of 6" in told[1]] == [True, True]
        assert len(told) == 2  # each text once
        for n in range(9):
            one.write(f"n = {n}")
            one.button("Start again").click()
        assert len(earlier(one)) == 10
        assert texts(one)[-1] == WRONG.strip()
        with one.tab.expect_download() as download:
            one.button("Download all").click()
        with zipfile.ZipFile(download.value.path()) as archive:
            files = {name: archive.read(name).decode().strip() for name in archive.namelist()}
        assert len(files) == 11
        (name,) = (name for name, text in files.items() if text == WRONG.strip())
        assert name.startswith("earlier/01_forward/1, 20")
        assert name.endswith("0 of 6.py")


def test_open_files_keeps_what_was_there(one, address):
    Exercise(one.tab, address, "06_relu").write("newer work")
    Exercise(one.tab, address).write("mine")
    names = ("06_relu (1).py", "mine.py")
    files = [{"name": n, "mimeType": "text/x-python", "buffer": n.encode()} for n in names]
    one.tab.locator("input[type=file]").set_input_files(files)
    one.status.filter(has_text="Taken in: 06_relu, 01_forward. What was there").wait_for()
    assert one.text.strip() == "mine.py"
    assert texts(one) == ["mine"]
    one.code.press("Control+z")
    assert one.text.strip() == "mine"
    there = Exercise(one.tab, address, "06_relu")
    assert there.text.strip() == "06_relu (1).py"
    assert texts(there) == ["newer work"]


# --- no storage ------------------------------------------------------------------------------


@pytest.fixture
def refusing(chromium, address, request):
    """Open an exercise where nothing more can be stored."""
    with window(chromium) as context:
        page = context.new_page()
        if request.param == "forbidden":
            page.add_init_script(FORBIDDEN)
        one = Exercise(page, address)
        if request.param == "full":
            one.write("long before\n" * 9)
            one.write("before")
            page.evaluate(FULL)
        yield one


@pytest.mark.parametrize("refusing", ["full", "forbidden"], indirect=True)
def test_a_browser_that_keeps_nothing_says_so_and_asks_before_it_leaves(refusing):
    one = refusing
    one.write("a long text = 1\n" * 20)
    one.tab.get_by_role("alert").filter(has_text="Download your file before you leave.").wait_for()
    one.button("Start again").click()
    assert texts(one)[0] == ("a long text = 1\n" * 20).strip()
    one.write("a long text = 2\n" * 20)
    asked = []
    one.tab.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    one.tab.evaluate("setTimeout(() => location.reload())")
    one.tab.wait_for_timeout(500)
    assert asked == ["beforeunload"]
    assert one.text.strip() == ("a long text = 2\n" * 20).strip()
    with one.tab.expect_download() as download:
        one.button("Download all").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert len(archive.namelist()) == 1 + len(texts(one))


@pytest.mark.parametrize("refusing", ["full"], indirect=True)
def test_once_there_is_room_everything_is_stored(refusing):
    one = refusing
    one.button("Start again").click()
    alert = one.tab.get_by_role("alert")
    alert.wait_for()
    one.tab.on("dialog", lambda dialog: dialog.accept())
    one.tab.reload()
    assert texts(one) == ["before"]  # the last one fits, the one before it did not
    one.write("too long\n" * 20)
    alert.wait_for()
    one.tab.evaluate("delete localStorage.filling")
    one.write("short")
    alert.wait_for(state="hidden")
    one.tab.reload()
    assert one.text.strip() == "short"


# --- a reload at each moment -----------------------------------------------------------------


def test_a_reload_at_each_moment_loses_nothing(chromium, address, tmp_path):
    with window(chromium) as context:
        play_pyodide(context, tmp_path)
        one = Exercise(context.new_page(), address)
        written = ""
        one.code.press("Control+a")
        for letter in "x = 12":
            one.keys.type(letter)
            written += letter
            one.tab.reload()
            assert one.text.strip() == written.strip()
            one.code.press("Control+End")
        one.write(WRONG)
        one.button("Check").click()
        one.tab.reload()  # while Python loads
        shows(one, WRONG.strip())
        one.press("Check", "0 of 6 checks passed.")
        one.tab.reload()
        assert one.status.inner_text() == "The last time, 0 of 6 checks passed."
        assert texts(one) == [WRONG.strip()]
        one.write("longer").write("x")  # most of it is deleted
        one.tab.reload()
        assert [one.text.strip(), *texts(one)] == ["x", "longer", WRONG.strip()]
