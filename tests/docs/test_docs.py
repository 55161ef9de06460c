"""The documentation is tested: the examples on pages run, and so do the ones in files.

The pages themselves are collected by conftest.py; here is the proof that it notices a wrong one.
"""

import contextlib
import difflib
import importlib
import io
import json
import os
import re
import runpy
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest
from beside import ran
from sybil import Document
from sybil.example import SybilFailure
from zoo_reports import CASES, kill_matrix, report_on

from conftest import FENCE, examples_on, noise_hidden, skip_without_frameworks
from gradcheck_ref import staircase

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = DOCS / "examples"
PAGES = [
    *(page for page in sorted(DOCS.rglob("*.md")) if page.parent != EXAMPLES),
    *(page for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md") if page.exists()),
]

# The words a fence may open with. A slip (`py`, `python3`) would silently never be run.
RUN = {"python", "pycon"}
NOT_RUN = {
    *("text", "bash", "console", "toml", "yaml", "json", "javascript", "diff", "markdown"),
    "bibtex",
}


def name_of(path):
    """Return the path inside the project, as a test id."""
    return path.relative_to(ROOT).as_posix()


# --- examples on pages -----------------------------------------------------------------------


def run_page(text):
    """Run the examples of a page, as conftest.py has them run; return how many there are."""
    page = Document(text, "page.md")
    for region in examples_on(page):
        page.add(region)
    examples = [*page.examples()]
    for example in examples:
        example.evaluate()
    return len(examples)


def fence(language, *lines):
    """Write a fence."""
    return "\n".join([f"```{language}", *lines, "```", "", ""])


PRINTS_2 = fence("python", "print(1 + 1)")
PRINTS_A_GAP = fence("python", r"print('one\n\n  two')")
RIGHT_PAGES = {
    "blank lines and indentation count": (1, PRINTS_A_GAP + fence("text", "one", "", "  two")),
    "fences share their names": (2, fence("python", "a = 1") + fence("pycon", ">>> a", "1")),
    "every prompt of a session is run": (2, fence("pycon", ">>> a = 1", ">>> a + 1", "2")),
    "an indented fence": (1, "!!! note\n\n    ```python\n    1 + 1\n    ```\n"),
    "error bars are this machine's, and so is where lines end": (
        1,
        fence("python", "print('2 +-\\n1.4e-13')") + fence("console", "2 +- 3e-15"),
    ),
    "other languages are not run": (0, fence("bash", "exit 1") + fence("console", ">>> 1 / 0")),
    "included files are not run": (0, fence("python", "--8<--", "docs/examples/x.py", "--8<--")),
    "a fence about fences is not run": (0, "````markdown\n" + fence("python", "1 / 0") + "````\n"),
}


@pytest.mark.parametrize(("runs", "text"), RIGHT_PAGES.values(), ids=RIGHT_PAGES)
def test_a_right_page_passes(runs, text):
    assert run_page(text) == runs


PRINTS_A_REPORT = fence("python", "print('2 +- 1e-13')")
WRONG_PAGES = {
    "other output": (PRINTS_2 + fence("text", "3"), 3, ["-3", "+2"]),
    "a report that is cut": (PRINTS_A_REPORT + fence("console", "2", "..."), 3, ["-...", "+#"]),
    "output the page does not show": (PRINTS_2, 3, ["+2"]),
    "a session": (fence("pycon", ">>> 1", "1", ">>> 2.0", "2."), 6, ["    2.", "    2.0"]),
    "an exception": (fence("python", "a = 1", "1 / 0"), 5, []),
}


@pytest.mark.parametrize(("text", "line", "said"), WRONG_PAGES.values(), ids=WRONG_PAGES)
def test_a_wrong_page_fails_and_names_its_line(text, line, said):
    with pytest.raises((SybilFailure, ZeroDivisionError)) as failure:
        run_page("Line 1.\n\n" + text)
    if failure.type is SybilFailure:
        assert failure.value.example.line == line
        assert [one for one in said if one not in failure.value.result.splitlines()] == []
    else:
        assert failure.traceback[-1].lineno + 1 == line


NEEDS_TORCH = 'def double(x):\n    """Double it.\n\n    >>> import torch\n    >>> 1\n    2\n    """'


@pytest.mark.parametrize("there", [False, True])
def test_an_example_is_skipped_where_its_framework_is_missing(monkeypatch, pytester, there):
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch") if there else None)
    pytester.makeconftest((ROOT / "conftest.py").read_text(encoding="utf-8"))
    pytester.makefile(".md", page=fence("python", "import torch", "print(2)"))
    module = pytester.makepyfile(NEEDS_TORCH)
    result = pytester.runpytest_inprocess("--doctest-modules", "page.md", module)
    result.assert_outcomes(**{"failed" if there else "skipped": 2})


def unknown_languages(text):
    return [
        f"line {text.count(chr(10), 0, fence.start()) + 1}: {fence['language'] or 'no language'}"
        for fence in FENCE.finditer(text)
        if fence["language"] not in RUN | NOT_RUN
    ]


# What belongs to an item of a list: Python-Markdown wants four blanks, where others take fewer.
TOO_LITTLE = re.compile(r"^ {1,3}(?:[-*]|\d+\.) .*|(?<=\n\n) {1,3}\S.*", re.MULTILINE)
# After a second paragraph of an item, it wants a gap: else the next item is part of the paragraph.
NO_GAP = re.compile(r"(?<=\n\n) {4}.*\n(?: .*\n)*((?:[-*]|\d+\.) .*)")
OF_THE_SITE = [page for page in PAGES if DOCS in page.parents]
INCLUDED = sorted((ROOT / "exercises").glob("*/*.md"))


SETTINGS = re.compile(r"\A---\n.*?\n---\n\n?", re.DOTALL)


def indented_too_little(text):
    return TOO_LITTLE.findall(FENCE.sub("", SETTINGS.sub("", text)))


def items_without_a_gap(text):
    return NO_GAP.findall(FENCE.sub("", text))


# Lines that one reads in a sitting. Some pages are looked up rather than read; they may not grow.
SHORT = 155
LOOKED_UP = {
    "docs/check/your_function.md": 215,
    "docs/glossary.md": 205,
    "docs/reference/rules.md": 190,
    "docs/judge.md": 165,
    "docs/stages/stage5_adaptive.md": 235,  # two of its tables are the evidence, line by line
    "docs/zh/check/reading_a_report.md": 265,  # and every sentence that a report may have
}


# To the answers of a question, of which the page shows the one to the reader's own.
REPLIES = re.compile(r"^- .+\n(?:(?:- |  ).+\n)*\n(?=</details>\n</div>)", re.MULTILINE)


def test_a_page_can_be_read_in_one_sitting():
    # Lectures are shown, and not read; test_slides.py has their limits.
    read_pages = [page for page in OF_THE_SITE if page.parent.name != "slides"]
    texts = {name_of(page): page.read_text(encoding="utf-8") for page in read_pages}
    read = {page: REPLIES.sub("", SETTINGS.sub("", text)) for page, text in texts.items()}
    lines = {page: len(text.splitlines()) for page, text in read.items()}
    english = {page: page.replace("docs/zh/", "docs/") for page in lines}
    most = {page: LOOKED_UP.get(page, LOOKED_UP.get(english[page], SHORT)) for page in lines}
    assert {page: n for page, n in lines.items() if n > most[page]} == {}


# Where an engineer who checks one gradient goes, code and outputs included.
ENGINEER = ("five_minutes", "your_function", "reading_a_report", "pytest")


def test_an_engineer_has_read_what_it_takes_in_a_quarter_of_an_hour():
    pages = [(DOCS / "check" / f"{name}.md").read_text(encoding="utf-8") for name in ENGINEER]
    words = [len(REPLIES.sub("", SETTINGS.sub("", text)).split()) for text in pages]
    assert sum(words) <= 15 * 220  # a minute


def prompts_in_outputs(text):
    return [
        line
        for fence in FENCE.finditer(text)
        if fence["language"] != "pycon"  # of which the site's button copies only the code
        for line in re.findall(r"^ *>>> .*", fence["source"], re.MULTILINE)
    ]


# What ends an example in an error where its bug is mended.
EMPTY_ON_A_PASS = re.compile(r"\.(?:diagnoses|faults)\[.*")
# What ruff takes for Python, and puts blanks into: an included file stands on a line of its own.
QUOTED = re.compile(r"^[ \t]*--?8 ?< ?--?.*[\"'].*", re.MULTILINE)

# A room of the check, or a module in one.
IN_A_ROOM = re.compile(r"`((?:call|measure|claim|judge|diagnose|hides|report)/[\w.]*)`")


def missing_in_the_check(text):
    return [p for p in IN_A_ROOM.findall(text) if not (ROOT / "gradcheck_ref/check" / p).exists()]


# {rule: (where it is kept, what finds faults, a text that has one, the fault)}
RULES = {
    "a language is known": (PAGES, unknown_languages, fence("py", "1"), "line 1: py"),
    "blocks in a list item are indented enough": (
        [*OF_THE_SITE, *INCLUDED],
        indented_too_little,
        "1. One.\n\n   More.\n\n    Right.\n- a\n    1. b\n",
        "   More.",
    ),
    "an item after a second paragraph has a gap before it": (
        [*OF_THE_SITE, *INCLUDED],
        items_without_a_gap,
        "1. One.\n\n    More.\n2. Two.\n\n    More,\n    and more.\n\n3. Three.\n    - a\n",
        "2. Two.",
    ),
    "code to copy has no prompts": (
        PAGES,
        prompts_in_outputs,
        fence("console", ">>> print(1)", "1") + fence("pycon", ">>> 1", "1"),
        ">>> print(1)",
    ),
    "no example uses what only a failing report has": (
        PAGES,
        EMPTY_ON_A_PASS.findall,
        "print(report.diagnoses[0].kind)",
        ".diagnoses[0].kind)",
    ),
    "a module of the check is where the page says": (
        PAGES,
        missing_in_the_check,
        "`judge/rule.py`, `judge/ruler.py` and `report/`",
        "judge/ruler.py",
    ),
    "files are included in three lines": (PAGES, QUOTED.findall, '--8<-- "a.py"', '--8<-- "a.py"'),
}


@pytest.mark.parametrize(("pages", "faults_of", "text", "fault"), RULES.values(), ids=RULES)
def test_every_page_keeps_a_rule_and_a_fault_is_noticed(pages, faults_of, text, fault):
    assert faults_of(text) == [fault]
    found = {name_of(page): faults_of(page.read_text(encoding="utf-8")) for page in pages}
    assert {page: faults for page, faults in found.items() if faults} == {}


# --- the first edit: a reader mends the bug, and presses Run ---------------------------------

# {page: {what stands there: what the reader makes of it}}
MENDED = {
    "README.md": {"X.T @ (X @ w - y)\n": "X.T @ (X @ w - y) / len(y)\n"},
    "docs/index.md": {"return x * x - 3\n": "return 3 * x * x - 3\n"},
    "docs/check/five_minutes.md": {"+ 0.1 * w\n": "+ 0.2 * w\n"},
    "docs/check/your_function.md": {
        '"b": inner}': '"b": inner.sum(axis=0)}',
        'grads["b"][0]': 'grads["b"]',
        'claimed["b"] = claimed["b"].sum(axis=0)\n': "",
        "return model.loss()\n\n\ndef careful": "return loss(W, b)\n\n\ndef careful",
        "return upstream @ W\n": "return upstream @ W.T\n",
        "return W\n": "return W.T\n",
    },
    "docs/check/reading_a_report.md": {
        "d_out @ W2.T\n": "d_out @ W2.T * (hidden > 0)\n",
    },
    "docs/check/what_is_wrong.md": {"return before.T @ X\n": "return X.T @ before\n"},
    "docs/check/second_order.md": {
        "(p * (X @ v))": "(p * (1 - p) * (X @ v))",
        " + np.array([0.1 * v[1], 0.0])": "",
        "np.zeros_like(upstream))": "double_backward(v, x, upstream)[1])",
        "x.detach()": "x",
    },
    "docs/compat/from_torch.md": {
        "upstream * 3 *": "upstream * 2 *",
        "(1 + x * gate)": "(1 + x * (1 - gate))",
    },
    "docs/compat/how_libraries_decide.md": {
        "2 * x * (1 + (np.arange(x.size) == 0))": "2 * x",
        "100 * u[1], -100 * u[0]": "0, 0",
    },
    "docs/backward_pass.md": {
        "u, a: 1 / (1 + a)": "u, a: u / (1 + a)",
        "d_x = d_a * 2": "d_x += d_a * 2",
    },
    "docs/slides/4_to_6.md": {"return 2 * x\n": "return upstream * 2 * x\n"},
}


def printed_by(text):
    """Run the examples of a page; return what each of them prints."""
    names, printed = {"__name__": "__main__"}, []
    for fence in FENCE.finditer(text):
        if fence["language"] == "python" and "--8<--" not in fence["source"]:
            skip_without_frameworks(fence["source"])
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(fence["source"], names)
            printed.append(out.getvalue())
    return printed


@pytest.mark.one_in(8)
@pytest.mark.parametrize("page", MENDED)
def test_an_example_passes_once_its_bug_is_fixed(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    fails = re.compile(r"\bfail\b|\bFAIL\b|\bFalse\b")
    assert any(map(fails.search, printed_by(text)))
    mended = text
    for wrong, right in MENDED[page].items():
        assert text.count(wrong) == 1, f"{text.count(wrong)} times on the page: {wrong}"
        mended = mended.replace(wrong, right)
    printed = printed_by(mended)
    assert not any(map(fails.search, printed))
    for shown in re.findall(r"^```\w+\n(PASS.*?)^```$", text, re.MULTILINE | re.DOTALL):
        assert noise_hidden(shown) in map(noise_hidden, printed)


# --- examples in files -----------------------------------------------------------------------


def stored_output_of(script):
    """Return the one file that holds what the script prints: `.md` for a table, else `.out`."""
    table = script.with_suffix(".md")
    return table if table.exists() else script.with_suffix(".out")


def output_of(script):
    """Run the script as a reader would, with warnings as errors; return what it prints."""
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    done = ran(sys.executable, "-W", "error", script, cwd=ROOT, env=env, encoding="utf-8")
    assert done.returncode == 0, f"{script.name} fails:\n{done.stderr}"
    return done.stdout


def difference(script, printed):
    """Return how what the script prints now differs from what is stored; empty if it does not."""
    stored = stored_output_of(script)
    shown = stored.read_text(encoding="utf-8") if stored.exists() else ""
    names = f"{stored.name} (stored)", f"{script.name} (printed)"
    lines = difflib.unified_diff(shown.splitlines(), printed.splitlines(), *names, lineterm="")
    return "\n".join(lines)


@pytest.fixture
def insist_on_stored(request):
    """Return what fails a test if a script prints something else than what is stored."""

    def insist(script, printed):
        if request.config.getoption("--update-examples"):
            stored_output_of(script).write_text(printed, encoding="utf-8")
        if changed := difference(script, printed):
            pytest.fail(f"if this is wanted, run with --update-examples:\n{changed}", pytrace=False)

    return insist


# What these tell is known where it is tested: they are run in that process.
DETECTION, *OF_STAGES, OF_COMPLAINTS = HERE = [
    EXAMPLES / f"{name}.py" for name in ("detection", "kill_matrix", "figures", "complaints")
]
SLOW = ("judge_baselines", "many_cores", "rules", "weak", "wild")
SCRIPTS = [
    pytest.param(script, marks=[pytest.mark.slow] if script.stem in SLOW else [])
    for script in sorted(EXAMPLES.glob("*.py"))
    if script not in HERE
]


@pytest.fixture
def known(monkeypatch):
    """Let the scripts be run here, and be given the kill matrix."""
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setattr(staircase, "kill_matrix", kill_matrix)


def run_here(script, *words):
    """Run a script in this process, with these words; return what it prints."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as printed,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(sys, "argv", [str(script), *words])
        patch.setattr(sys, "path", sys.path.copy())
        runpy.run_path(str(script), run_name="__main__")
    return printed.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("script", OF_STAGES, ids=name_of)
def test_an_example_of_the_zoo_prints_its_stored_output(script, known, insist_on_stored, request):
    # It makes figures.py draw again what it looks at; the other script does not mind it.
    words = ["write"] if request.config.getoption("--update-examples") else []
    insist_on_stored(script, run_here(script, *words))


@pytest.mark.slow
def test_the_example_of_complaints_prints_its_stored_output(insist_on_stored):
    insist_on_stored(OF_COMPLAINTS, run_here(OF_COMPLAINTS))


@pytest.mark.slow
def test_the_stored_detections_of_the_zoo_are_current(known, monkeypatch, insist_on_stored):
    detection = importlib.import_module(DETECTION.stem)
    for case in map(CASES.get, ("cube", "relu_at_zero")):
        for bug in (None, case.bugs[0]):
            assert detection.by_check(case, bug) == report_on(case.name, bug and bug.id).verdict
    monkeypatch.setattr(
        detection, "by_check", lambda case, bug: report_on(case.name, bug and bug.id).verdict
    )
    insist_on_stored(DETECTION, "\n".join([detection.HEAD, *detection.rows(), ""]))


# After those above: rules.py takes rows from what detection.py has stored.
@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_an_example_prints_its_stored_output(script, insist_on_stored):
    skip_without_frameworks(script.read_text(encoding="utf-8"))
    insist_on_stored(script, output_of(script))


def test_every_stored_output_belongs_to_an_example():
    stored = [path for path in EXAMPLES.glob("*") if path.suffix in {".out", ".md"}]
    assert [path for path in stored if not path.with_suffix(".py").exists()] == []


def test_the_table_of_torch_operators_gives_its_reasons():
    """The table is made by hand, by tests/tools/operators_of_torch.py."""
    table = (EXAMPLES / "torch_operators.txt").read_text(encoding="utf-8")
    assert "not known yet" not in table
    *parts, every = map(int, re.findall(r"^\| [\w ]+ \| (\d+) \| \d+ \|$", table, re.MULTILINE))
    assert sum(parts) == every > 500
    assert re.search(r"Of \d{3,} wrong gradients .*, 0 pass\.$", table, re.MULTILINE)


# --- the site --------------------------------------------------------------------------------


def formulas_on(text):
    """Return the formulas of a page, outside of its fences and inline code: `$...$`, `$$...$$`."""
    prose = re.sub(r"`[^`\n]+`", "", FENCE.sub("", text))
    found = re.findall(r"\$\$(.+?)\$\$|(?<![\\$])\$(?=\S)([^$]+?)(?<=\S)\$", prose, re.DOTALL)
    return [display or inline for display, inline in found]


RENDER = """
const katex = require(process.argv[1]);
const rendered = (formula) => {
  try {
    return katex.renderToString(formula, {throwOnError: true, strict: "error"}) && "";
  } catch (error) {
    return String(error);
  }
};
console.log(JSON.stringify(JSON.parse(require("fs").readFileSync(0, "utf8")).map(rendered)));
"""


@pytest.mark.slow
def test_every_formula_renders_but_one_with_a_typo():
    node = shutil.which("node") or pytest.skip("needs node, to run the vendored KaTeX")
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    formulas = [formula for text in texts for formula in formulas_on(text)]
    asked = json.dumps([*formulas, r"\frac{1}{2"])
    katex = DOCS / "assets" / "katex" / "katex.min.js"
    done = ran(node, "-e", RENDER, katex, input=asked, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    *errors, typo = json.loads(done.stdout)
    assert [pair for pair in zip(formulas, errors, strict=True) if pair[1]] == []
    assert len(formulas) > 100
    assert "ParseError" in typo
