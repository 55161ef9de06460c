"""The pytest plugin, in test runs of its own: what it asserts, counts and writes, and that else it
does nothing."""

import json
import os
import re
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest

from conftest import FENCE
from gradcheck_ref import assert_gradient

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "check" / "pytest.md"

# Right and wrong twins: a cube, a kink that nobody can judge, a product of two entries.
TESTS = """
import numpy as np
import pytest
from gradcheck_ref import check_jvp

X = np.array([0.5, 1.0, 2.0])

@pytest.mark.parametrize("factor", [3, 2])
def test_gradient(gradcheck, factor):
    gradcheck.assert_gradient(lambda x: np.sum(x**3), X, factor * X**2)

@pytest.mark.parametrize("sign", [1, -1])
def test_products(gradcheck, sign):
    gradcheck.assert_vjp(np.sin, X, lambda upstream, x: upstream * np.cos(x))
    gradcheck.assert_jvp(np.sin, X, lambda tangent, x: sign * tangent * np.cos(x))

@pytest.mark.parametrize("factor", [3, 2])
def test_elsewhere(gradcheck, factor):
    gradcheck.insist(check_jvp(lambda x: x**3, X, lambda tangent, x: factor * tangent * x**2))

def test_kink(gradcheck):
    gradcheck.assert_gradient(lambda x: np.sum(np.abs(x)), np.zeros(2), np.zeros(2))
"""
WRONG = ["test_elsewhere[2]", "test_gradient[2]", "test_products[-1]"]
LINE = "gradcheck: 9 checks of 62 entries, 3 wrong, 1 unsure"


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Let processes find the plugin that is tested, whatever is installed."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)


@pytest.fixture
def run(pytester):
    """Run the tests given, with the plugin, as outside of this project."""

    def run(tests, *options, ini=""):
        pytester.makeini(f"[pytest]\nfilterwarnings = default\n{ini}\n")
        pytester.makepyfile(test_it=tests)
        return pytester.runpytest_inprocess("-p", "pytest_gradcheck_ref", *options)

    return run


def failed(result):
    """Return the tests that failed, by name, in order."""
    return sorted(re.findall(r"^FAILED test_it\.py::(\S+)", result.stdout.str(), re.MULTILINE))


def test_right_gradients_pass_and_wrong_ones_fail_and_all_are_counted(run):
    result = run(TESTS)
    assert failed(result) == WRONG
    result.assert_outcomes(passed=4, failed=3, warnings=1)
    result.stdout.fnmatch_lines(["*GradientWarning: UNSURE*", LINE])
    said = result.stdout.str()
    number = TESTS.splitlines().index("def test_kink(gradcheck):") + 1  # makepyfile strips a line
    assert f"test_it.py:{number}: GradientWarning" in said
    assert "pytest_gradcheck_ref.py" not in said
    assert "audit" not in said


def test_the_text_of_an_assertion_is_that_of_the_function(run):
    x = np.array([0.5, 1.0, 2.0])
    said = run(TESTS.replace("factor * X**2)", "factor * X**2, seed=0)"), "-k", "test_gradient")
    with pytest.raises(AssertionError) as caught:
        assert_gradient(lambda x: np.sum(x**3), x, 2 * x**2)
    for line in str(caught.value).splitlines():
        assert line in said.stdout.str()


OTHERS = """
import numpy as np
from gradcheck_ref import assert_gradient

X = np.array([0.5, 1.0, 2.0])

def test_whole(gradcheck):
    gradcheck.assert_jacobian(np.sin, X, lambda x: np.diag(np.cos(x)))

def test_half(gradcheck):
    gradcheck.assert_jacobian(np.sin, X, lambda x: np.diag(np.sin(x)))

def test_without():
    assert_gradient(lambda x: np.sum(np.sin(x)), X, np.sin(X))

def test_both(gradcheck):
    gradcheck.assert_gradient(lambda x: np.sum(np.sin(x)), X, np.cos(X))
    assert_gradient(lambda x: np.sum(np.sin(x)), X, np.sin(X))

def test_something_else():
    error = ValueError()
    error.report = "text"
    raise error
"""


ALONE = """
import numpy as np
import pytest
from gradcheck_ref import assert_gradient

@pytest.mark.parametrize("factor", [1, 2])
def test_without(factor):
    assert_gradient(lambda x: np.sum(np.sin(x)), np.ones(3), factor * np.cos(np.ones(3)))

def test_with(gradcheck):
    if COUNTED:
        gradcheck.assert_gradient(lambda x: np.sum(np.sin(x)), np.ones(3), np.cos(np.ones(3)))
"""


@pytest.mark.parametrize(
    ("counted", "line"),
    [
        (False, "1 check of 3 entries, 1 wrong, 0 unsure; failures only: the fixture * counts all"),
        (True, "2 checks of 6 entries, 1 wrong, 0 unsure"),
    ],
)
def test_the_line_says_if_it_counts_failures_only(run, counted, line):
    result = run(f"COUNTED = {counted}{ALONE}")
    assert failed(result) == ["test_without[2]"]
    result.stdout.fnmatch_lines([f"gradcheck: {line}"])


def test_a_whole_jacobian_and_the_plain_assertions_are_counted_too(run):
    result = run(OTHERS)
    assert failed(result) == ["test_both", "test_half", "test_something_else", "test_without"]
    result.stdout.fnmatch_lines(["gradcheck: 5 checks of 27 entries, 3 wrong, 0 unsure"])
    result.stdout.no_fnmatch_line("*insist.py*")  # our own frames tell nothing


IN_GROUPS = """
import numpy as np
import pytest
from hypothesis import given, strategies
from gradcheck_ref import assert_gradient

def check(gradcheck, size, factor):
    x = np.linspace(0.5, 2, size)
    gradcheck.assert_gradient(lambda x: np.sum(x**3), x, factor * x**2)

def test_caught(gradcheck):
    with pytest.raises(AssertionError):
        check(gradcheck, 2, 1)

def test_in_a_group(gradcheck):
    errors = []
    for factor in (1, 3, 2):
        try:
            check(gradcheck, factor, factor)
        except AssertionError as error:
            errors.append(error)
    raise ExceptionGroup("two of three", errors)

@given(strategies.booleans())
def test_of_hypothesis(whole):
    x = np.array([0.5, 1.0])
    if whole:
        assert_gradient(lambda x: np.sum(x**3), x, 2 * x**2)
    raise ValueError
"""


def test_failures_in_groups_are_counted_once_and_the_summary_shows_their_verdicts(run, monkeypatch):
    monkeypatch.setenv("CI", "1")  # or the summary is cut
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    result = run(IN_GROUPS)
    assert failed(result) == ["test_in_a_group", "test_of_hypothesis"]
    result.stdout.fnmatch_lines([
        "::error file=test_it.py,line=14::FAIL  x[[]0[]]: analytic 0.25*; FAIL  x: 2 of*",
        "::error file=test_it.py,line=*::FAIL  x: 2 of 2 entries differ;*",
        "gradcheck: 5 checks of 10 entries, 4 wrong, 0 unsure",
        "FAILED test_it.py::test_in_a_group - FAIL  x*; FAIL  x: 2 of 2 entries differ*",
        "FAILED test_it.py::test_of_hypothesis - FAIL  x: 2 of 2 entries differ*",
    ])  # fmt: skip
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert "::error" not in run(IN_GROUPS).stdout.str()


# --- what is unsure ----------------------------------------------------------------------------

MARKED = """
import numpy as np
import pytest

def kink(gradcheck, **knobs):
    gradcheck.assert_gradient(lambda x: np.sum(np.abs(x)), np.zeros(2), np.zeros(2), **knobs)

@pytest.mark.gradcheck(unsure="fail")
class TestMarked:
    def test_outer(self, gradcheck):
        kink(gradcheck)

    @pytest.mark.gradcheck(unsure="pass")
    def test_inner(self, gradcheck):
        kink(gradcheck)

    def test_said(self, gradcheck):
        kink(gradcheck, unsure="pass")

    def test_right(self, gradcheck):
        gradcheck.assert_gradient(lambda x: np.sum(x**3), np.ones(2), 3 * np.ones(2))

def test_unmarked(gradcheck):
    kink(gradcheck)
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("setting", ["warn", "fail", "pass"])
def test_the_effect_of_unsure_is_a_setting_and_a_mark_sets_it_for_one_test(run, setting):
    result = run(MARKED, "--strict-markers", ini=f"gradcheck_unsure = {setting}")
    also = ["test_unmarked"] if setting == "fail" else []
    assert failed(result) == ["TestMarked::test_outer", *also]
    assert result.parseoutcomes().get("warnings", 0) == (setting == "warn")
    result.stdout.fnmatch_lines(["gradcheck: 5 checks of 10 entries, 0 wrong, 4 unsure"])


# (the setting, the mark; what is said)
MISTAKES = {
    "a setting": ("ignore", "usefixtures()", "*gradcheck_unsure in *: unsure must be*not *ignore*"),
    "a mark": (
        "warn",
        'gradcheck(unsure="ignore")',
        '*test_it.py::test_one: unsure must be "warn",*',
    ),
    "another mark": (
        "warn",
        "gradcheck(rtol=1)",
        "*::test_one: the mark gradcheck takes only unsure*",
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("what", MISTAKES)
def test_an_unknown_setting_or_mark_is_an_error_that_names_it(run, what):
    setting, mark, said = MISTAKES[what]
    source = f"import pytest\n@pytest.mark.{mark}\ndef test_one(gradcheck): pass\n"
    result = run(source, ini=f"gradcheck_unsure = {setting}")
    result.stdout.fnmatch_lines([said])
    assert result.ret != 0


# --- the report --------------------------------------------------------------------------------


def report_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_the_report_is_the_same_in_every_run_also_with_xdist(run, pytester):
    pytest.importorskip("xdist")
    alone, shared = pytester.path / "alone.json", pytester.path / "shared.json"
    run(TESTS, f"--gradcheck-report={alone}")
    result = pytester.runpytest_subprocess(
        "-p", "pytest_gradcheck_ref", "-n", "2", f"--gradcheck-report={shared}"
    )
    assert failed(result) == WRONG
    result.stdout.fnmatch_lines([LINE])
    data = report_of(alone)
    assert data == report_of(shared)
    counts = [data[key] for key in ("checks", "entries", "pass", "fail", "unsure")]
    assert counts == [9, 62, 5, 3, 1]
    wrong = [one["test"] for one in data["tests"] if one["report"]["verdict"] == "fail"]
    assert [name.removeprefix("test_it.py::") for name in wrong] == WRONG
    seeds = {what: [] for what in ("gradient", "vjp", "jvp", "report")}
    for one in data["tests"]:
        seeds[one["check"]].append(one["report"]["seed"])
    assert len(set(seeds["gradient"])) == 3  # a test has its own
    assert set(seeds["report"]) == {0}  # not ours to seed


def test_a_report_without_checks_is_empty(run, pytester):
    run("def test_nothing():\n    pass", "--gradcheck-report=empty.json")
    data = report_of(pytester.path / "empty.json")
    assert (data["checks"], data["tests"]) == (0, [])


def test_a_report_that_cannot_be_written_stops_before_any_test(run):
    result = run(TESTS, "--gradcheck-report=there/is/none.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--gradcheck-report=there/is/none.json: there is no such folder"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "modules"),
    [([], {"numpy", "gradcheck_ref"}), (["--gradcheck-audit"], {"torch"})],
    ids=["none", "audit"],
)
def test_nothing_is_imported_that_is_not_used(options, modules, pytester):
    pytester.makepyfile(
        f"import sys\ndef test_nothing():\n    assert not {modules} & set(sys.modules)\n"
    )
    result = pytester.runpytest_subprocess("-p", "pytest_gradcheck_ref", *options)
    result.assert_outcomes(passed=1)
    said = result.stdout.str().split("collected")[1]
    assert ("gradcheck" in said) == bool(options)


def test_the_installed_package_brings_the_plugin():
    found = [point for point in entry_points(group="pytest11") if "gradcheck" in point.name]
    if not found:
        pytest.skip("gradcheck-ref is not installed in this environment")
    assert {(point.name, point.value) for point in found} == {("pytest_gradcheck_ref",) * 2}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("wrong", [False, True], ids=["right", "wrong"])
def test_the_example_on_the_page_is_run_and_finds_its_mistake(wrong, run):
    page = PAGE.read_text(encoding="utf-8")
    source, shown = (
        next(fence["source"] for fence in FENCE.finditer(page) if fence["language"] == language)
        for language in ("python", "console")
    )
    assert "np.sum(upstream * y" in source
    result = run(source.replace("np.sum(upstream * y", "np.sum(upstream") if wrong else source)
    # Of one entry the softmax is 1, and its derivative 0 either way; of none there is nothing.
    result.assert_outcomes(**({"failed": 6, "passed": 4} if wrong else {"passed": 10}))
    if not wrong:
        result.stdout.fnmatch_lines(shown.splitlines()[-1])


LOOPS = """
import asyncio
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from gradcheck_ref import assert_gradient, hard_points

X = np.array([0.7, -1.2, 0.4])

def loss(x):
    return np.sum(np.logaddexp(0, x))

def gradient(x):
    return 1 / (1 + np.exp(-x))

def loop():
    for name, x in hard_points(np.ones(3)):
        assert name != "ties"

def test_another_failure():
    assert False

def test_assertion_in_a_thread():
    with ThreadPoolExecutor(1) as executor:
        executor.submit(assert_gradient, np.sum, np.ones(3), np.ones(3), rtol=1e-2).result()

def test_in_a_task():
    async def run():
        loop()
    asyncio.run(run())

def test_in_a_thread():
    with ThreadPoolExecutor(1) as executor:
        executor.submit(loop).result()

def test_raises_when_large():
    for name, x in hard_points(X):
        assert np.abs(x).max() < 100

def test_wrong_at_zero():
    for name, x in hard_points(X):
        assert_gradient(loss, x, lambda x: np.where(x == 0, 0.0, gradient(x)))
"""


def test_a_test_that_fails_at_a_hard_point_names_the_point_also_in_threads_and_tasks(run):
    result = run(LOOPS, "--gradcheck-audit")
    others = ["test_in_a_task", "test_in_a_thread", "test_raises_when_large", "test_wrong_at_zero"]
    assert failed(result) == ["test_another_failure", *others]
    said = re.findall(r"ended at the point '(.*)'", result.stdout.str())
    assert said == ["ties", "ties", "large", "zeros"]
    assert "1 of 1 test would also pass with these mistakes" in result.stdout.str()
