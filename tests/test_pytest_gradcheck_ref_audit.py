"""The audits of the pytest plugin, in test runs of their own."""

import importlib.util
import os
import re
from pathlib import Path

import numpy  # noqa: F401  (a run inside this process would import it, and then forget it)
import pytest

from conftest import FENCE

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "check" / "audit.md").read_text(encoding="utf-8")

if HAS_TORCH := bool(importlib.util.find_spec("torch")):
    import torch  # noqa: F401  (for the same reason)
with_torch = pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed")


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Let processes find the plugin that is tested, whatever is installed."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)


@pytest.fixture
def run(pytester, monkeypatch):
    """Run the tests given, with the plugin, as outside of this project."""

    def run(tests, *options, width=80, package=None, subprocess=False):
        monkeypatch.setenv("COLUMNS", str(width))
        pytester.makeini("[pytest]\nfilterwarnings = default\n")
        pytester.makepyfile(test_it=tests)
        if package:
            pytester.mkpydir("my_package").joinpath("__init__.py").write_text(package)
        how = pytester.runpytest_subprocess if subprocess else pytester.runpytest_inprocess
        return how("-p", "pytest_gradcheck_ref", *options)

    return run


def table(result):
    """Return what stands below the heading of the audit, up to the end of the run."""
    lines = result.stdout.lines
    start = next(k for k, line in enumerate(lines) if " gradcheck audit " in line)
    end = next(k for k in range(start + 1, len(lines)) if lines[k].startswith("==="))
    return lines[start + 1 : end]


TESTS = """
import numpy as np
import pytest
from gradcheck_ref import assert_gradient, assert_vjp

X, ZERO = np.array([0.5, 1.0, -2.0]), np.zeros(3)

def quartic(x):
    return np.sum(x**4)

def test_good():
    assert_vjp(np.sin, X, lambda upstream, x: upstream * np.cos(x))

def test_loose(gradcheck):
    gradcheck.assert_gradient(quartic, X, 4 * X**3, rtol=1e-2)

@pytest.mark.parametrize("n", [2, 3, 4])
def test_ones(n):
    assert_gradient(quartic, np.ones((n, n)), 4 * np.ones((n, n)))

def test_two_points():
    for x in (np.zeros(3), X):
        assert_gradient(lambda x: np.sum(x**4), x, lambda x: 4 * x**3, unsure="pass")

def test_zeros():
    assert_gradient(quartic, ZERO, ZERO, unsure="pass")

def test_two_functions():
    assert_gradient(quartic, X, 4 * X**3)
    assert_gradient(lambda a, b: np.sum(a**2) + 0 * b, (X, 1.0), (2 * X, 0.0))

def test_equal_gradients():
    f = lambda a, b, c, d, e: np.sum((a + b + c + d + e) ** 2)
    assert_gradient(f, 5 * (X,), 5 * (10 * X,))

def test_kink():
    assert_gradient(lambda x: np.sum(np.abs(x)), ZERO, X / 4, unsure="pass")

def test_meant_to_be_empty():
    assert_gradient(quartic, np.zeros(0), np.zeros(0), empty="pass")

def test_without_any():
    pass
"""
WRONG = "\ndef test_wrong():\n    assert_gradient(quartic, X, X)\n"
WIDE = """
8 of 10 tests would also pass with these mistakes in the gradient:
test_it.py::test_equal_gradients     the gradient of another input in a, b and 3 more (the point)
test_it.py::test_kink                any mistake (the error bars)
test_it.py::test_loose               a relative error of 1e-3 (the tolerance)
test_it.py::test_ones[2] and 2 more  the sign lost, a transposition, slices moved by one (the point)
test_it.py::test_two_functions       any mistake in b (the point)
test_it.py::test_zeros               any mistake (the point)
- the point: the mistake changes nothing there. Check at another point, too
- the tolerance: it allows the change that the mistake makes. Give a smaller one
- the error bars: f is noisy, kinked or rounded there. Check where it is smooth, too
"""


STRICT = "The exit status is 1 because of --gradcheck-audit=strict"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("option", "width"), [("=strict", 100), ("", 60)], ids=["strict", "narrow"]
)
def test_the_table_lists_the_mistakes_that_each_test_would_miss(option, width, run):
    result = run(TESTS, f"--gradcheck-audit{option}", width=width)
    result.assert_outcomes(passed=12)
    assert result.ret == bool(option)  # only strict changes it
    if option:
        assert table(result) == [*WIDE.strip().splitlines(), STRICT]
    else:
        narrow = table(result)
        assert " ".join(narrow).split() == WIDE.split()
        assert max(map(len, narrow)) <= width
        assert "    a relative error of 1e-3 (the tolerance)" in narrow


@pytest.mark.slow
def test_the_table_is_the_same_with_xdist(run):
    pytest.importorskip("xdist")
    result = run(TESTS + WRONG, "--gradcheck-audit=strict", "-n", "2", width=100, subprocess=True)
    result.assert_outcomes(passed=12, failed=1)
    assert table(result) == WIDE.strip().splitlines()


NOT_PASSED = """
import numpy as np
import pytest
from gradcheck_ref import assert_gradient

ONES = lambda x: np.sum(x**3), np.ones((2, 2)), 3 * np.ones((2, 2))

def test_other_failure():
    assert_gradient(*ONES)
    assert False

@pytest.mark.xfail
def test_known_failure():
    assert_gradient(*ONES)
    assert False

@pytest.fixture
def broken():
    yield
    assert False

def test_failure_afterwards(broken):
    assert_gradient(*ONES)

def test_failure_in_part(subtests):
    with subtests.test():
        assert_gradient(*ONES)
    with subtests.test():
        assert False
"""


PRAISED = "2 tests would notice every mistake that was planted"
NONE = "no passing test called assert_gradient, assert_vjp, assert_jvp or ass"
# (the tests, which of them are run, the exit status, what is said instead of a table)
WITHOUT_A_TABLE = {
    "nothing to list": (TESTS, "good or two_points", 0, PRAISED),
    "a test fails": (TESTS + WRONG, "good or two_points or wrong", 1, PRAISED),
    "all fail": (NOT_PASSED, "failure", 1, NONE),
    "no test": (TESTS, "nothing", 5, NONE),
    "nothing asserted": (TESTS, "without", 1, NONE),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("what", WITHOUT_A_TABLE)
def test_without_a_mistake_to_list_the_exit_status_is_told_apart(what, run):
    tests, which, status, said = WITHOUT_A_TABLE[what]
    result = run(tests, "--gradcheck-audit=strict", "-k", which)
    assert result.ret == status
    assert " ".join(table(result)).startswith(said)
    assert (STRICT in result.stdout.lines) == (what == "nothing asserted")


def test_the_name_of_a_test_is_not_taken_as_the_value_of_the_option(run):
    result = run(TESTS, "--gradcheck-audit", "test_it.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*takes only strict, not 'test_it.py': write names of tests*"])


# --- torch.autograd.Function ------------------------------------------------------------------

PACKAGE = """
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, upstream):
        (x,) = ctx.saved_tensors
        return 2 * x * upstream

class Sine(Function):
    @staticmethod
    def forward(x):
        return torch.sin(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def vjp(ctx, upstream):
        (x,) = ctx.saved_tensors
        return torch.cos(x) * upstream

class Scale(Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return factor * x

    @staticmethod
    def backward(ctx, upstream):
        return ctx.factor * upstream, None

class Product(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    @once_differentiable
    def backward(ctx, upstream):
        x, y = ctx.saved_tensors
        return upstream * y, upstream * x

class Total(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.sum()

    @staticmethod
    def backward(ctx, upstream):
        return upstream.expand(ctx.shape)

class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, upstream):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * upstream
"""
# Total is run only, and Cube compared where its sum is the loss, so that upstream is 1.
FUNCTION_TESTS = """
import torch
from gradcheck_ref import assert_vjp
from gradcheck_ref.adapters import from_torch
from my_package import Cube, Product, Scale, Sine, Square, Total

def point():
    return torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64, requires_grad=True)

def test_square():
    assert torch.autograd.gradcheck(Square.apply, point())

def test_sine(gradcheck):
    gradcheck.assert_vjp(from_torch(Sine.apply), point().detach().numpy())

def test_scale():
    x = point()
    Scale.apply(x, 3.0).backward(torch.tensor([1.0, -1.0, 0.5]))
    assert x.grad.tolist() == [3.0, -3.0, 1.5]

def test_product():
    assert torch.autograd.gradcheck(Product.apply, (point(), point()))

def test_total():
    x = point()
    Total.apply(x).backward()
    assert x.grad.shape == x.shape

def test_cube():
    x = point()
    Cube.apply(x).sum().backward()
    assert torch.allclose(x.grad, 3 * x**2)
"""
AUDIT = "--gradcheck-audit-functions=my_package"
LISTED = [
    "2 of 6 torch.autograd.Functions in my_package can be wrong while tests pass:",
    "my_package.Cube   upstream ignored: not noticed by test_it.py::test_cube",
    "my_package.Total  times 2, zeros, upstream ignored: not noticed by",
    "                  test_it.py::test_total",
]


@with_torch
def test_two_of_six_functions_are_not_really_tested(run):
    result = run(FUNCTION_TESTS, AUDIT, package=PACKAGE)
    result.assert_outcomes(passed=6)
    assert result.ret == 0
    assert table(result) == LISTED
    assert "gradcheck: 1 check of 9 entries, 0 wrong, 0 unsure" in result.stdout.lines


@with_torch
@pytest.mark.slow
def test_the_functions_are_the_same_with_xdist(run):
    pytest.importorskip("xdist")
    options = AUDIT, "--gradcheck-audit=strict", "-n", "2"
    result = run(FUNCTION_TESTS, *options, package=PACKAGE, subprocess=True)
    result.assert_outcomes(passed=6)
    assert result.ret == 1
    assert table(result) == [*LISTED, STRICT]


BETTER = """
def test_total_and_cube():
    assert torch.autograd.gradcheck(lambda x: (Total.apply(x), Cube.apply(x)), point())

def test_total_by_its_upstream():
    x = point()
    Total.apply(x).backward(torch.tensor(2.0))
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
"""


SHARED = """
import pytest
import torch
from my_package import Square

@pytest.fixture(scope="module")
def gradient():
    x = torch.ones(2, requires_grad=True)
    Square.apply(x).sum().backward()
    return x.grad

def test_first(gradient):
    assert gradient.tolist() == [2.0, 2.0]

def test_second(gradient):
    assert gradient.tolist() == [2.0, 2.0]
"""


FAILING = FUNCTION_TESTS.replace("== [3.0, -3.0, 1.5]", "== []")
NOTICED = {
    "a better test": (
        FUNCTION_TESTS + BETTER,
        "--gradcheck-audit=strict",
        "a test notices every mistake in 6 torch.autograd.Functions in my_package",
    ),
    "no test calls it": (
        FUNCTION_TESTS,
        "-k=not sine",
        "my_package.Sine   no test calls its backward",
    ),
    "its test fails": (FAILING, "-q", "my_package.Scale  no test calls its backward"),
    "a shared fixture": (SHARED, "-W=error", "my_package.Square   no test calls its backward"),
}


@with_torch
@pytest.mark.parametrize("what", NOTICED)
def test_the_table_lists_the_functions_that_no_passing_test_calls_itself(what, run):
    tests, option, said = NOTICED[what]
    result = run(tests, AUDIT, option, package=PACKAGE)
    assert said in result.stdout.lines
    assert result.ret == (tests == FAILING)


SUBTESTS = """
import unittest
import torch

def point():
    return torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)

def test_subtests(subtests):
    from other_package.lazy import Square
    for name in "ab":
        with subtests.test(name):
            assert torch.autograd.gradcheck(Square.apply, point())

class TestCase(unittest.TestCase):
    def test_subtest(self):
        from other_package.lazy import Cube
        with self.subTest("a"):
            assert torch.autograd.gradcheck(Cube.apply, point())
"""


@with_torch
def test_subtests_and_functions_that_they_import_are_noticed_without_other_output(run, pytester):
    # Of a name of its own: functions of packages of earlier tests are still in this process.
    pytester.mkpydir("other_package").joinpath("lazy.py").write_text(PACKAGE)
    result = run(SUBTESTS, "--gradcheck-audit-functions=other_package", "-rA", "-x")
    result.assert_outcomes(passed=2)
    assert result.ret == 0
    assert "FAILED" not in result.stdout.str()
    heading, *rows = table(result)
    assert heading.startswith("4 of 6")
    names = ("Product", "Scale", "Sine", "Total")
    assert [row.split()[0] for row in rows] == [f"other_package.lazy.{name}" for name in names]


@with_torch
@pytest.mark.parametrize(("options", "status"), [([], 0), (["--gradcheck-audit=strict"], 1)])
def test_a_package_without_functions_is_reported(options, status, run):
    misspelt = "--gradcheck-audit-functions=your_package"
    result = run("import my_package\ndef test_none(): pass\n", misspelt, *options, package=PACKAGE)
    assert result.ret == status
    said = "your_package has no torch.autograd.Function that the tests have imported"
    assert said in result.stdout.lines


@with_torch
def test_with_another_checker_strict_is_only_about_functions(run, pytester):
    square = PACKAGE[: PACKAGE.index("class Sine")]
    pytester.mkpydir("square_package").joinpath("lazy.py").write_text(square)
    tests = SUBTESTS.replace("Cube", "Square").replace("other_package", "square_package")
    options = "--gradcheck-audit-functions=square_package", "--gradcheck-audit=strict"
    assert run(tests, *options).ret == 0


def test_without_torch_functions_cannot_be_found(run, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "torch" else found(name)
    )
    result = run("def test_none():\n    pass\n", AUDIT)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*needs torch, *: pip install 'gradcheck-ref?torch?'*"])


# --- the page ---------------------------------------------------------------------------------


def shown_after(command):
    """Return the table that the page shows for a command, in one line."""
    fences = (fence["source"] for fence in FENCE.finditer(PAGE) if fence["language"] == "console")
    shown = next(text for text in fences if command in text.splitlines()[0])
    return re.sub(r"\s+", " ", shown.split(" gradcheck audit ")[1].lstrip("=").strip())


def test_the_page_shows_the_real_audit(run, pytester):
    source = next(
        fence["source"] for fence in FENCE.finditer(PAGE) if "def test_symmetric" in fence["source"]
    )
    pytester.makepyfile(test_loss=source)
    result = run("", "--gradcheck-audit")
    result.assert_outcomes(passed=3)
    assert re.sub(r"\s+", " ", " ".join(table(result))) == shown_after("--gradcheck-audit")


def test_the_page_shows_the_real_audit_of_functions():
    said = re.sub(r"\s+", " ", " ".join(LISTED))
    assert said == shown_after("--gradcheck-audit-functions")
