"""The Run button, on the real core of Pyodide, which has no NumPy: plain Python runs."""

import functools
import re

import pytest

import gradcheck_ref

from .another_python import play_pyodide
from .axe import faults_of
from .conftest import Watch, node_module, route_numpy_of_one_line

pytest.importorskip("playwright", reason="needs playwright, of the extra browser")

A_PAGE = "check/your_function/"  # any page with a few examples, and no question


class Example:
    """One example of a page, as a reader handles it."""

    def __init__(self, tab, number):
        self.tab = tab
        self.code = tab.locator(".highlight.run code").nth(number)
        bar = tab.locator(".run-bar:not(.predict *)").nth(number)
        self.button = bar.locator("button").first
        self.editor = bar.locator("button").last
        self.status = bar.locator(".run-status")
        self.output = tab.locator(".run-output").nth(number)

    def write(self, source):
        """Put other code in its place, by hand."""
        self.editor.click()
        self.code.press("Control+a")
        self.tab.keyboard.insert_text(source)
        return self

    def run(self, until="Done"):
        """Press Run, and wait for the words."""
        self.button.click()
        self.said(until)
        return self.output.text_content()

    def said(self, words):
        """Wait for words in its status."""
        self.status.filter(has_text=words).wait_for()


# All that the page says below its examples.
NOTED = """() => {
  window.told = [];
  const observer = new MutationObserver(([one]) => told.push(one.target.innerText));
  for (const one of document.querySelectorAll(".run-status")) {
    observer.observe(one, { childList: true });
  }
}"""
# NumPy is asked for as soon as Python is there, and is not in the core.
NO_NUMPY = re.compile(r"404: \S+/pyodide/numpy-\S+\.whl")


@pytest.fixture(scope="module")
def opened(tab, address):
    """Open the page once: Python starts once, and again only when a test has ended it."""
    node_module("pyodide")
    tab.goto(address + A_PAGE)
    tab.evaluate(NOTED)
    return tab


@pytest.fixture
def example(opened, watch):
    """Return a function that finds an example on a page, with a Python that can be loaded."""
    yield functools.partial(Example, opened)
    undo = opened.get_by_role("button", name="Undo edits")
    while undo.count():
        undo.first.click()
    watch.complaints = [c for c in watch.complaints if not NO_NUMPY.fullmatch(c)]


def test_the_examples_above_run_first_quietly_and_from_a_clean_slate(example):
    example(0).write("a = [1]\nprint('above')")
    example(1).write("a.append(2)")
    assert example(2).write("print(a)").run() == "[1, 2]\n"
    assert example(2).run() == "[1, 2]\n"


def test_while_python_loads_it_says_how_much_is_there(example):
    example(0).write("print(1)").run()
    told = example(0).tab.evaluate("told")
    got = [float(m[1]) for m in map(re.compile(r"(\S+) MB are there").search, told) if m]
    assert len(got) > 3
    assert got == sorted(got)
    assert 5 < got[-1] < 20


FOLD = """one => {
  const fold = document.createElement('details');
  one.before(fold);
  fold.append(one);
}"""
UNFOLD = "one => { one.closest('details').replaceWith(one) }"


def test_an_example_that_is_folded_runs_before_those_below(example):
    example(0).write("a = 1")
    folded = example(0).tab.locator(".highlight.run").first
    folded.evaluate(FOLD)
    said = example(1).write("print(a)").run()
    folded.evaluate(UNFOLD)
    assert said == "1\n"


def test_a_traceback_shows_the_reader_s_lines_and_no_others(example):
    example(0).write("def f():\n    return 1 / 0")
    said = example(1).write("print('so far')\nf()").run(until="Ended by ZeroDivisionError.")
    assert said.splitlines() == [
        "so far",
        "Traceback (most recent call last):",
        '  File "<example 2 on this page>", line 2, in <module>',
        "    f()",
        "    ~^^",
        '  File "<example 1 on this page>", line 2, in f',
        "    return 1 / 0",
        "           ~~^~~",
        "ZeroDivisionError: division by zero",
    ]


def test_an_example_prints_and_the_package_is_there_in_this_version(example):
    ask = "from importlib.metadata import version\nprint('é', version('gradcheck_ref'))"
    assert example(0).write(ask).run() == f"é {gradcheck_ref.__version__}\n"
    assert example(0).status.text_content() == "Done."


def test_a_module_that_is_misspelt_or_not_here_has_a_sentence(example):
    said = example(0).write("import mathh").run(until="Ended by ModuleNotFoundError.")
    assert said.endswith("Did you mean math?\n")
    example(0).editor.click()  # undo the edits
    said = example(0).write("import matplotlib.pyplot").run(until="matplotlib could not be loaded")
    assert said.endswith("plot(x, y) draws on this page, without matplotlib.\n")


def test_plot_draws_lines_until_the_next_run(example):
    first = example(0).write(
        "x = [10.0**-k for k in range(1, 9)]\n"
        "plot(x, [h * h for h in x], [1e-16 / h for h in x], log='xy', names=['truncation'])"
    )
    first.run()
    picture = first.tab.locator(".own-picture")
    assert picture.locator("polyline").count() == 2
    assert min(line.bounding_box()["width"] for line in picture.locator("polyline").all()) > 100
    assert picture.locator(".figure-key").all_inner_texts() == ["truncation", "second"]
    assert faults_of(first.tab) == []
    first.code.press("Control+a")
    first.tab.keyboard.insert_text("print(1)")
    first.run()
    assert picture.count() == 0


def test_a_printing_endless_loop_shows_its_output_and_the_running_line(example):
    first = example(0).write("for i in range(3):\n    print(i)\nwhile True:\n    pass")
    first.button.click()
    first.said("Still running, line")
    assert first.output.text_content() == "0\n1\n2\n"
    assert first.button.text_content() == "Stop"
    assert example(1).button.is_disabled()
    first.button.click()
    first.said("Stopped.")
    assert example(1).button.is_enabled()
    first.editor.click()  # undo the edits
    first.write("while True:\n    print('flood')").button.click()
    first.said("Still running, line")
    assert first.output.text_content().endswith("... and more, which is not shown\n")
    first.button.click()
    first.said("Stopped.")


def test_tab_indents_and_escape_leaves(example):
    first = example(0).write("if 1:\na = 1\nb = 2")
    keys = first.tab.keyboard
    keys.press("Tab")  # to the next multiple of four
    assert first.code.inner_text() == "if 1:\na = 1\nb = 2   "
    keys.press("Shift+ArrowUp")
    keys.press("Tab")
    keys.press("Tab")
    keys.press("Shift+Tab")
    assert first.code.inner_text() == "if 1:\n    a = 1\n    b = 2   "
    keys.press("Control+z")
    assert first.code.inner_text() == "if 1:\n        a = 1\n        b = 2   "
    keys.press("Escape")
    assert first.button.evaluate("button => button === document.activeElement")
    keys.press("Tab")
    assert first.editor.evaluate("button => button === document.activeElement")


def test_an_exit_of_python_is_reported_and_python_can_be_started_again(example):
    first = example(0).write("import os\nprint('so far')\nos._exit(3)")
    assert first.run(until="Python was ended by what it ran") == "so far\n"
    first.editor.click()  # undo the edits
    assert first.write("print('again')").run() == "again\n"


def test_an_example_says_if_numpy_is_missing_and_uses_it_once_it_loads(example):
    first = example(0)
    said = first.run(until="numpy could not be loaded, so this cannot run here.")
    assert said.splitlines()[-1] == "ModuleNotFoundError: No module named 'numpy'"
    context = first.tab.context
    route_numpy_of_one_line(context)
    assert first.write("import numpy as np\nprint(np.maximum(1, 2))").run() == "2\n"
    context.unroute_all()


def test_edits_are_restored_when_the_page_is_opened_again_until_undone(example):
    first = example(0)
    before = first.code.inner_html()
    first.write("a = 'kept'\nprint(a)\n")
    first.tab.reload()
    assert first.code.inner_text().rstrip() == "a = 'kept'\nprint(a)"
    assert first.editor.text_content() == "Undo edits"
    assert example(1).editor.text_content() == "Edit"
    first.editor.click()
    assert first.code.inner_html() == before
    assert first.code.get_attribute("contenteditable") == "false"
    first.tab.reload()
    assert first.editor.text_content() == "Edit"
    assert "example" not in first.tab.evaluate("Object.keys(localStorage).join()")


def test_a_changed_original_replaces_old_edits(example):
    first = example(0)
    before = first.code.inner_html()
    first.write("of an older page")
    first.tab.evaluate(
        """for (const [key, value] of Object.entries(localStorage)) {
             localStorage.setItem(key, value.replace(/"hash":\\d+/, '"hash":1'));
           }"""
    )
    first.tab.reload()
    assert first.code.inner_html() == before
    assert first.editor.text_content() == "Edit"


def test_files_are_fetched_on_run_and_failed_ones_again(context, address, tmp_path):
    watch = Watch(context, address)
    context.route("**/pyodide/**", lambda route: route.fulfill(status=404))
    tab = context.new_page()
    tab.goto(address + A_PAGE, wait_until="networkidle")
    promise = "Run loads Python and NumPy, about 10 MB, from this site, once."
    assert tab.locator(".run-status").all_inner_texts().count(promise) == 1
    assert not [path for path in watch.fetched if re.search(r"pyodide|worker\.js|whl|driver", path)]
    first = Example(tab, 0)
    first.button.click()
    first.said("Python could not be loaded")
    assert "assets/run/worker.js" in watch.fetched
    assert first.button.text_content() == "Run"
    assert first.output.is_hidden()
    context.unroute("**/pyodide/**")
    play_pyodide(context, tmp_path)
    assert first.write("print(1)").run() == "1\n"


def test_without_a_network_it_says_so_at_once(context, address):
    tab = context.new_page()
    tab.goto(address + A_PAGE)
    context.set_offline(True)
    first = Example(tab, 0)
    first.button.click()
    first.said("You are offline, and Python is not loaded yet.")
    context.set_offline(False)
