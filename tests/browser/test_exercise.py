"""The exercises in their pages, done as a student does them: a mistake first, then the answer."""

import re
import zipfile

import pytest
from graded import finished

from course import read_course
from sketches import PICTURES

from .another_python import give_numpy
from .axe import DARK, contrast_faults_of, faults_of
from .conftest import NARROW, ROOT, WIDE, Watch, node_module, route_numpy_of_one_line, window

pytest.importorskip("playwright", reason="needs playwright, of the extra browser")

NAMES = [exercise.name for exercise in read_course().exercises if not exercise.package]


def solution(name, file="solution.py"):
    """Return the right answer to an exercise, or another of its files."""
    return (ROOT / "exercises" / name / file).read_text(encoding="utf-8")


STARTER, RIGHT = solution("01_forward", "starter.py"), solution("01_forward")
WRONG = RIGHT.replace("(f(moved) - f_here) / h", "f(moved) - f_here")


class Exercise:
    """The editor of an exercise."""

    def __init__(self, tab, address, name="01_forward"):
        self.tab, self.keys = tab, tab.keyboard
        tab.goto(f"{address}exercises/{name}/")
        block = tab.locator(".exercise")
        self.code = block.locator("code").first
        self.status = block.locator(".run-status")
        self.output = block.locator(".run-output:not(.run-report)")
        self.report = block.locator(".run-report")
        self.hints = tab.locator("#hints ~ details")

    def button(self, name):
        """Find a button."""
        return self.tab.locator(".exercise").get_by_role("button", name=name, exact=True)

    @property
    def text(self):
        """What is in the editor."""
        return self.code.inner_text()

    def write(self, source):
        """Write something else."""
        self.code.press("Control+a")
        self.keys.insert_text(source)
        return self

    def press(self, name, until):
        """Press a button, wait for words, and return what the checks say, or what is printed."""
        self.button(name).click()
        self.status.filter(has_text=until).wait_for()
        return (self.report if name == "Check" else self.output).text_content()


def keep(tab, **files):
    """Write the files of exercises, as their pages do."""
    for name, text in files.items():
        tab.evaluate(
            "([name, text]) => localStorage[`gradcheck_ref ${name} exercise`] = "
            "JSON.stringify({text})",
            [name, text],
        )


# --- with NumPy ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def student(chromium, address, tmp_path_factory):
    """Open the window of a student."""
    with window(chromium) as context:
        give_numpy(context, tmp_path_factory.mktemp("course"))
        tab = context.new_page()
        tab.goto(f"{address}assets/checker.js")  # no page, but of this site
        tab.seen = Watch(context, address)
        yield tab


@pytest.fixture
def desk(student):
    """Return the window of a student who was never here; nothing may go wrong."""
    yield student
    student.evaluate("localStorage.clear()")
    assert student.seen.forget() == []


@pytest.fixture
def exercise(desk, address):
    """Open the exercise there."""
    return Exercise(desk, address)


def test_the_editor_begins_with_the_starter_and_loads_nothing_until_asked(exercise):
    assert exercise.text == STARTER
    promise = "Check loads Python and NumPy, about 10 MB, from this site, once."
    assert exercise.status.inner_text() == promise
    assert not [path for path in exercise.tab.seen.fetched if "run/worker" in path or "zip" in path]


def test_a_student_makes_a_mistake_and_corrects_it(exercise):
    said = exercise.press("Check", "0 of 6 checks passed.")
    assert "to do     The slope of x*x at 3 is measured as 6 + h." in said
    said = exercise.write(WRONG).press("Check", "0 of 6 checks passed.")
    assert "  look at   the rise of f is divided by the step; where do you divide?" in said
    said = exercise.write(RIGHT).press("Check", "6 of 6 checks passed.")
    assert "Every check passes." in said


def test_the_checks_speak_the_language_of_the_page(exercise):
    exercise.tab.evaluate("document.documentElement.lang = 'zh'")
    said = exercise.write(WRONG).press("Check", "0 of 6 checks passed.")
    assert "  请看      f 的增量要除以步长；你在哪里除的？\n" in said


def test_what_a_file_prints_never_hides_the_verdict(exercise):
    said = exercise.write("print(plot([1], [2]), *range(50_000))\n" + WRONG).press("Check", "0 of")
    assert "look at   the rise of f is divided by the step" in said
    assert exercise.report.is_visible()
    assert exercise.output.text_content().startswith("None 0 1 2")
    assert exercise.output.text_content().endswith("... and more, which is not shown\n")
    assert exercise.report.locator(".said-31").first.inner_text().strip() == "NO"
    assert exercise.output.bounding_box()["height"] <= 300


def test_lines_have_numbers_and_backspace_unindents(exercise):
    exercise.write("def f(x):\n    if x:\n        return 1\n")
    numbers = exercise.tab.locator(".line-numbers")
    assert numbers.text_content() == "1\n2\n3\n4"
    exercise.write("if 1:\n        ")
    exercise.keys.press("Backspace")
    assert exercise.text == "if 1:\n    "
    exercise.keys.type("ab")
    exercise.keys.press("Backspace")
    assert exercise.text == "if 1:\n    a"


def test_a_second_tab_skips_to_the_file(exercise, address):
    Exercise(exercise.tab, address)
    exercise.keys.press("Tab")
    exercise.keys.press("Tab")
    exercise.keys.press("Enter")
    assert exercise.code.evaluate("code => code === document.activeElement")


def test_the_page_has_no_words_for_a_terminal(site):
    for name in NAMES:
        page = (site / "exercises" / name / "index.html").read_text(encoding="utf-8")
        words = re.sub(r"<[^>]+>", "", page[page.find("<article") : page.find("</article>")])
        assert not re.search(r"python -m work|run\.py|judging\.py|README", words), name
        assert "work/" not in words.partition("Your file")[0], name


def test_the_answer_is_restored_when_the_page_is_opened_again(exercise, address):
    exercise.write(RIGHT).press("Check", "6 of 6 checks passed.")
    exercise.tab.goto(address)
    again = Exercise(exercise.tab, address)
    assert again.text.rstrip() == RIGHT.rstrip()
    assert again.status.inner_text() == "The last time, 6 of 6 checks passed."
    way = exercise.tab.locator(".md-nav--primary a", has_text="Exercise 01")
    assert " ".join(way.first.inner_text().split()) == "Exercise 01: Forward difference 6/6"


def test_the_file_can_be_downloaded(exercise):
    exercise.write("x = 'é'\n")
    with exercise.tab.expect_download() as download:
        exercise.button("Download").click()
    assert download.value.suggested_filename == "01_forward.py"
    assert download.value.path().read_text(encoding="utf-8").rstrip() == "x = 'é'"


def test_the_files_of_all_exercises_can_be_downloaded(exercise, address):
    exercise.write("a = 'é'\n")
    other = Exercise(exercise.tab, address, "02_central").write("b = 2\n")
    with other.tab.expect_download() as download:
        other.button("Download all").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert archive.testzip() is None
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    expected = {"01_forward.py": "a = 'é'\n", "02_central.py": "b = 2\n"}
    assert {name: text.rstrip() + "\n" for name, text in files.items()} == expected


def test_answers_from_another_version_of_the_site_are_found(exercise, address):
    keep = "([path, text]) => localStorage.setItem(`gradcheck_ref ${path} exercise`, text)"
    for version, text in (("0.1", '{"text": "old", "hash": 1}'), ("0.2", '{"text": "newer"}')):
        path = f"/repo/{version}/exercises/01_forward/"
        exercise.tab.evaluate(keep, [path, text])
    again = Exercise(exercise.tab, address)
    assert again.text == "newer"
    again.write("newest")
    assert Exercise(exercise.tab, address).text == "newest"  # nothing is carried over twice


def test_on_a_phone_the_buttons_are_large_enough_and_the_drawer_lists_tasks(exercise, address):
    exercise.write(RIGHT).press("Check", "6 of 6 checks passed.")
    exercise.tab.set_viewport_size(NARROW)
    exercise.tab.reload()
    heights = [one.bounding_box()["height"] for one in exercise.tab.locator(".run-button").all()]
    assert min(heights) >= 44
    exercise.tab.locator("label.md-header__button[for=__drawer]").click()
    exercise.tab.locator(".md-nav__link", has_text="Tasks").first.wait_for()
    links = exercise.tab.locator(".md-nav--primary a").all_inner_texts()
    assert [" ".join(text.split()) for text in links if "6/6" in text] == [
        "Exercise 01: Forward difference 6/6"
    ]
    exercise.tab.set_viewport_size(WIDE)


def test_python_keeps_running_on_the_next_pages(exercise, address):
    tab, seen = exercise.tab, exercise.tab.seen
    exercise.press("Check", "0 of 6 checks passed.")
    loads = sum("pyodide.mjs" in path for path in seen.fetched)
    tab.evaluate("window.here = true")
    tab.locator(".md-footer__link--next").click()
    tab.locator("h1", has_text="Stage 2").wait_for()
    tab.locator(".figure-live, .katex").first.wait_for()
    tab.locator(".md-footer__link--next").click()
    tab.locator("h1", has_text="02").wait_for()
    assert tab.title().startswith("Exercise 02")
    exercise.press("Check", "0 of 5 checks passed.")
    late = []  # the answer to the first step back comes after that to the second
    tab.route("**/stages/stage2_central/", lambda answer: late.append(answer), times=1)
    tab.go_back()
    tab.wait_for_timeout(100)
    tab.go_back()
    tab.locator("h1", has_text="01").wait_for()
    late.pop().continue_()
    tab.wait_for_timeout(500)
    assert tab.url == f"{address}exercises/01_forward/"
    exercise.write(RIGHT).press("Check", "6 of 6 checks passed.")
    assert tab.evaluate("window.here")
    assert sum("pyodide.mjs" in path for path in seen.fetched) == loads


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", NAMES)
def test_each_exercise_is_checked_in_its_page_and_its_file_can_be_run_after(desk, address, name):
    there = Exercise(desk, address, name)
    total = sum(check.startswith("check_") for check in read_course().find(name).points)
    there.press("Check", f"0 of {total} checks passed.")
    there.write(finished(read_course().find(name)))
    assert "Every check passes." in there.press("Check", f"{total} of {total} checks passed.")
    there.press("Run the file", "Done")


def test_the_project_runs_the_answers_of_other_pages_and_names_missing_ones(desk, address):
    project = read_course().find("project")
    keep(desk, **{name: solution(name) for name in [*project.needs[1:], project.name]})
    there = Exercise(desk, address, project.name)
    assert "nothing is written in exercise 01" in there.press("Check", "0 of 5 checks passed.")
    keep(desk, **{project.needs[0]: RIGHT})
    assert "Every check passes." in there.press("Check", "5 of 5 checks passed.")
    keep(desk, **{project.needs[0]: WRONG})
    assert "called    exercise 01" in there.press("Check", "0 of 5 checks passed.")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", PICTURES)
def test_the_page_draws_what_the_functions_return(desk, address, name):
    chosen = read_course().find(name)
    needed = (*(chosen.needs if chosen.kind == "project" else ()), name)
    keep(desk, **{one: solution(one) for one in needed})
    there = Exercise(desk, address, name)
    picture = there.tab.locator(".own-picture")
    assert picture.count() == 0
    for _ in range(2):
        assert "Every check passes." in there.press("Check", "checks passed.")
        assert picture.count() == 1
    drawn = picture.get_by_role("img")
    assert drawn.get_attribute("aria-label")
    boxes = [mark.bounding_box() for mark in drawn.locator("polyline, circle").all()]
    assert len(boxes) > 1
    assert max(box["width"] for box in boxes) > 3
    beneath = drawn.locator(".beneath")  # the reference, which the reader's line does not hide
    assert beneath.count() == (name in ("01_forward", "02_central", "05_adaptive", "06_relu"))
    there.write("def nothing(): pass").press("Check", " of ")
    assert picture.count() == 0


def test_axe_finds_nothing_serious_in_a_report_and_a_picture(desk, address):
    there = Exercise(desk, address, "04_allclose")
    there.write(
        "print('mine')\n" + solution("04_allclose").replace("atol + rtol * np.abs(numeric)", "atol")
    )
    there.press("Check", "checks passed.")
    there.tab.locator(".own-picture").wait_for()
    assert faults_of(there.tab) == []
    there.tab.evaluate(DARK)
    assert contrast_faults_of(there.tab) == []


def test_each_hint_leads_to_the_next(exercise, address):
    def seen(page):
        return [hint.is_visible() for hint in page.hints.all()]

    assert seen(exercise) == [True, False, False]
    exercise.hints.first.locator("summary").click()
    exercise.hints.nth(1).locator("summary").click()
    assert seen(exercise) == [True, True, True]
    assert seen(Exercise(exercise.tab, address)) == [True, True, True]


def test_the_code_is_coloured_while_it_is_written(exercise):
    exercise.write('def f():  # def\n    """as\n    if"""\n    return \'#\' + str(1e-3)\n')
    coloured = exercise.tab.evaluate(
        "Object.fromEntries([...CSS.highlights].map(([name, all]) => [name, [...all].map(String)]))"
    )
    assert coloured == {
        "code-comment": ["# def"],
        "code-string": ['"""as\n    if"""', "'#'"],
        "code-keyword": ["def", "return"],
        "code-number": ["1e-3"],
    }


def test_an_exercise_can_be_done_without_a_mouse(exercise):
    exercise.code.focus()
    exercise.keys.press("Control+a")
    # After a colon the next line is indented, but not after a comment's.
    exercise.keys.type("def f(x):  # f: x\n# x:\nreturn (\n")
    exercise.keys.press("Tab")
    exercise.keys.type("x)\n")
    exercise.keys.press("Shift+Tab")
    exercise.keys.press("Shift+Tab")
    exercise.keys.type("y = 1")
    written = "def f(x):  # f: x\n    # x:\n    return (\n        x)\ny = 1"
    assert exercise.text == written
    exercise.keys.press("Escape")
    assert exercise.button("Check").evaluate("one => one === document.activeElement")
    exercise.code.focus()
    exercise.keys.press("Control+Enter")
    exercise.status.filter(has_text="0 of 6 checks passed.").wait_for()


# --- in the Python of a browser, which has no NumPy here -------------------------------------


@pytest.fixture(scope="module")
def real(chromium, address):
    """Open the exercise once: Python starts once, and again only when a test has ended it."""
    node_module("pyodide")
    with window(chromium) as context:
        route_numpy_of_one_line(context)  # all that is needed until a check asks for more
        yield Exercise(context.new_page(), address)


def test_the_browsers_python_loads_reports_and_stops_a_file(real):
    said = real.write("def f(:").press("Check", "0 of 6 checks passed.")
    assert "NO        Your file can be imported." in said
    assert "raised    SyntaxError" in said
    # The checks work in another folder than Python began in.
    found = 'import importlib.util\nprint(importlib.util.find_spec("gradcheck_ref").origin)'
    assert real.write(found).press("Run the file", "Done.").endswith("/__init__.py\n")
    real.write("import importlib\n\nwhile True:\n    pass\n")
    real.button("Check").click()
    real.status.filter(has_text="Checking").wait_for()
    assert real.button("Run the file").is_disabled()
    silent = re.compile(r"Still running, line [34]: (while True:|pass) \(Stop ends it\)")
    real.status.filter(has_text=silent).wait_for()
    real.press("Stop", "Stopped.")
    # What was written in another page can be imported.
    keep(real.tab, **{"02_central": "a = 6"})
    real.write("import importlib\nprint(importlib.import_module('work.02_central').a)")
    assert real.press("Run the file", "Done.") == "6\n"
    assert real.write("print(6 * 7)").press("Run the file", "Done.") == "42\n"


def test_what_a_file_changes_in_numpy_is_gone_when_python_is_started_anew(real):
    real.write("import numpy\nnumpy.ndindex = None").press("Run the file", "Done;")
    real.write("import numpy\nprint(hasattr(numpy, 'ndindex'))")
    assert real.press("Run the file", "Done.") == "True\n"
    real.press("Restart Python", "The next run starts it anew.")
    assert real.press("Run the file", "Done.") == "False\n"


# --- the site --------------------------------------------------------------------------------


def test_the_site_has_no_solution_and_no_held_out_check(site):
    line = "slopes[i] = (f(moved) - f_here) / h"
    readable = {".html", ".json", ".js", ".py", ".zip"}
    files = {path: path.read_bytes() for path in site.rglob("*") if path.suffix in readable}
    archives = [path for path in files if path.suffix == ".zip" and "pyodide" not in path.parts]
    assert len(archives) > 8
    for path in archives:
        with zipfile.ZipFile(path) as archive:
            assert not [name for name in archive.namelist() if name.endswith("solution.py")]
            files |= {path / name: archive.read(name) for name in archive.namelist()}
    assert [path for path, content in files.items() if line.encode() in content] == []
    checks = [content for path, content in files.items() if path.name == "checks.py"]
    assert not [content for content in checks if b"def heldout" in content]
