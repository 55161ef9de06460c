"""CS231n's functions: in place, put back, and numbers for the reader to judge."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from edge_cases import LAYOUTS, Counted, bowl, bowl_gradient, frozen, never

from gradcheck_ref import relative_error
from gradcheck_ref.compat.cs231n import (
    eval_numerical_gradient,
    eval_numerical_gradient_array,
    eval_numerical_gradient_blobs,
    grad_check_sparse,
    rel_error,
)

H = 2.0**-10  # with it, and with numbers of few bits, all slopes of squares are exact
NAN, INF = np.nan, np.inf


def scalar(f, x, h=H):
    return eval_numerical_gradient(f, x, verbose=False, h=h)


def array(f, x, h=H):
    return eval_numerical_gradient_array(f, x, 1.0, h=h)


GRADIENTS = {"scalar": scalar, "array": array}
every_gradient = pytest.mark.parametrize("gradient", GRADIENTS.values(), ids=GRADIENTS)


def square(x):
    return np.sum(x * x)


# --- what is estimated -----------------------------------------------------------------------


@every_gradient
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 1, 3), (0,), (2, 0)], ids=str)
def test_the_gradient_has_the_shape_and_dtype_of_x(gradient, shape):
    for dtype in (np.float64, np.float32, np.longdouble):
        x = np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
        got = gradient(square, x)
        assert (got.shape, got.dtype) == (shape, dtype)
        np.testing.assert_allclose(got, 2 * x, rtol=1e-3 if dtype == np.float32 else 0)


@every_gradient
def test_the_quotient_is_central(gradient):
    x = np.array([0.5, 1.0])
    np.testing.assert_array_equal(gradient(lambda x: np.sum(x * x * x), x), 3 * x**2 + H**2)


@pytest.mark.parametrize("df", [1.0, np.ones((3, 1))])
def test_upstream_is_not_broadcast(df):
    with pytest.raises(ValueError, match=r"f returned shape \(3,\), but upstream has shape") as e:
        eval_numerical_gradient_array(lambda x: 2 * x, np.ones(3), df)
    assert e.value.__notes__[-1] == "upstream is called df here"


def blob(*vals, diffs=None):
    return SimpleNamespace(vals=np.array(vals), diffs=diffs)


def test_a_refused_blob_is_named():
    with pytest.raises(TypeError, match="x holds int64") as caught:
        eval_numerical_gradient_blobs(
            lambda a, b, output: None, (blob(1.0), blob(1)), blob(0.0, diffs=np.ones(1))
        )
    assert caught.value.__notes__ == ["x is inputs[1].vals here, upstream is output.diffs"]


@every_gradient
@pytest.mark.parametrize(
    ("f", "slope"),
    [(lambda z: np.sum(np.abs(z) ** 2), 2 * (1 + 2j)), (lambda z: np.sum(z.imag), 1j)],
    ids=["modulus", "imaginary-part"],
)
def test_a_complex_entry_is_moved_both_ways(gradient, f, slope):
    z = np.array([1 + 2j])
    np.testing.assert_array_equal(np.round(gradient(f, z), 9), [slope])
    assert z[0] == 1 + 2j


# --- what is moved, is put back --------------------------------------------------------------

MOVABLE = {
    name: x
    for name, x in LAYOUTS.items()
    if isinstance(x, np.ndarray) and name not in {"read-only", "broadcast-stride-0", "overlapping"}
}


@pytest.mark.one_in(4)
@every_gradient
@pytest.mark.parametrize("x", MOVABLE.values(), ids=MOVABLE)
def test_entries_are_moved_and_restored_in_any_memory_layout(gradient, x):
    x = x.view()
    before = x.tobytes()
    np.testing.assert_array_equal(gradient(lambda _: bowl(x), x), bowl_gradient(x).reshape(x.shape))
    assert x.tobytes() == before


@every_gradient
@pytest.mark.parametrize("call", [1, 2])
def test_x_is_put_back_when_f_raises(gradient, call):
    x = np.array([1.0, 2.0])
    calls = []

    def stumbles(moved):
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt("at last")
        return square(moved)

    with pytest.raises(KeyboardInterrupt, match="at last") as caught:
        gradient(stumbles, x)
    assert x.tolist() == [1, 2]
    assert "moved by" in caught.value.__notes__[0]


@every_gradient
def test_x_is_put_back_when_f_writes_to_it(gradient, capsys):
    x = np.array([1.0, 2.0])

    def greedy(moved):
        value = square(moved)
        moved *= 7
        return value

    assert gradient(greedy, x).tolist() == [2, 4]
    assert x.tolist() == [1, 2]
    grad_check_sparse(greedy, x, x, num_checks=20)
    assert set(re.findall(r"numeric (\d)", capsys.readouterr().out)) == {"2", "4"}


REFUSED = {
    "list": ([1.0], TypeError, "must be a NumPy array, not list [1.0]"),
    "read-only": (frozen(np.ones(2)), ValueError, "it is read-only: pass the array that f reads"),
    "overlapping": (
        np.lib.stride_tricks.as_strided(np.arange(4.0), shape=(3, 2), strides=(8, 8)), ValueError,
        "entries that share memory",
    ),
    "integers": (np.array([1, 2]), TypeError, "x holds int64"),
    "NaN": (np.array([1.0, NAN]), ValueError, "is nan: a slope needs a finite point"),
}  # fmt: skip


@every_gradient
@pytest.mark.parametrize(("x", "error", "words"), REFUSED.values(), ids=REFUSED)
def test_an_array_that_cannot_be_moved_in_place_is_refused_before_f_is_called(
    gradient, x, error, words
):
    with pytest.raises(error, match=re.escape(words)):
        gradient(never, x)


@every_gradient
def test_an_invalid_step_is_refused(gradient):
    with pytest.raises(ValueError, match=r"not -0\.25"):
        gradient(never, np.ones(2), h=-0.25)
    with pytest.raises(ValueError, match="vanishes against x"):
        gradient(square, np.full(2, 1e20))


@every_gradient
def test_a_sample_that_is_not_finite_gives_nan_without_a_warning(gradient):
    x = np.array([0.0, 1.0])
    got = gradient(lambda x: INF if x[0] > 0 else square(x), x)
    np.testing.assert_array_equal(got, [NAN, 2])


# --- what is printed -------------------------------------------------------------------------


def test_the_gradient_of_a_scalar_prints_each_partial_unless_verbose_is_false(capsys):
    x = np.array([[1.0, 2.0]])
    eval_numerical_gradient(square, x, h=H)
    assert capsys.readouterr().out == "(0, 0) 2.0\n(0, 1) 4.0\n"
    eval_numerical_gradient(square, x, verbose=False, h=H)
    assert capsys.readouterr().out == ""
    eval_numerical_gradient(square, np.array(3.0), True, H)
    assert capsys.readouterr().out == "() 6.0\n"


def checked(capsys, *args, **kwargs):
    """Return what a sparse check prints, line by line."""
    assert grad_check_sparse(*args, **kwargs) is None
    return capsys.readouterr().out.splitlines()


def test_the_sparse_check_makes_ten_checks_of_two_evaluations(capsys):
    f = Counted(square)
    x = np.ones((20, 20))
    lines = checked(capsys, f, x, 2 * x)
    assert (len(lines), f.calls) == (10, 20)
    assert len(set(lines)) > 5


def test_the_sparse_check_draws_by_its_seed_and_leaves_shared_generators_alone(capsys):
    x = np.arange(1.0, 401.0).reshape(20, 20)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, again = (checked(capsys, square, x, 2 * x) for _ in range(2))
    other = checked(capsys, square, x, 2 * x, seed=1)
    assert first == again != other
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_every_entry_can_be_drawn(capsys):
    x = np.ones((2, 3))
    lines = checked(capsys, square, x, 2 * x, num_checks=100)
    assert {line.split(":")[0] for line in lines} == {f"x[{i}, {j}]" for i, j in np.ndindex(2, 3)}


# What the sparse check refuses: the point, the claim, and how many checks.
NO_CHECKS = {
    "another shape": (np.ones(3), np.ones((3, 1)), 10, ValueError, "never broadcast"),
    "empty": (np.zeros(0), [], 10, ValueError, "there is nothing to check"),
    "no checks": (np.ones(3), np.ones(3), 0, ValueError, "there is nothing to check"),
    "half a check": (np.ones(3), np.ones(3), 2.5, TypeError, "integer"),
}


@pytest.mark.parametrize(
    ("x", "claim", "num_checks", "error", "words"), NO_CHECKS.values(), ids=NO_CHECKS
)
def test_the_sparse_check_refuses_bad_arguments(x, claim, num_checks, error, words):
    with pytest.raises(error, match=words):
        grad_check_sparse(never, x, claim, num_checks)


def test_an_error_in_a_sparse_check_names_the_entry():
    with pytest.raises(ValueError, match="vanishes") as caught:
        grad_check_sparse(never, np.full((1, 1), 1e20), np.ones((1, 1)))
    assert caught.value.__notes__ == ["checking x[0, 0]"]


# --- three relative errors -------------------------------------------------------------------


def sum_form(a, n, capsys):
    """Return the relative error that the sparse check prints for a slope n and a claim a."""
    (line,) = checked(capsys, lambda x: n * np.sum(x), np.zeros(1), [a], 1, H)
    return float(line.split()[-1])


@pytest.mark.parametrize(
    ("a", "n", "notes", "notebooks", "sparse"),
    [
        (2.0, 1.0, 0.5, 1 / 3, 0.33),
        (1.0, -1.0, 2.0, 1.0, 1.0),
        (1e-12, -1e-12, 2.0, 2e-4, 1.0),
        (0.0, 0.0, 0.0, 0.0, 0.0),
    ],
    ids=["double", "sign", "sign-of-a-tiny-one", "zeros"],
)
def test_the_table_of_the_docstring_is_right(a, n, notes, notebooks, sparse, capsys):
    assert relative_error(a, n, floor=0) == pytest.approx(notes)
    assert rel_error(a, n) == pytest.approx(notebooks)
    assert sum_form(a, n, capsys) == sparse


RELATIVE = {
    "the largest": ([1.0, 1.0, 0.0], [1.0, 3.0, 0.0], 0.5),
    "no overflow": ([1.5e308], [0.5e308], 0.5),
    "no overflow of the difference": ([1.5e308], [-1.5e308], 1),
    "the smallest numbers": ([5e-324], [1e-323], 5e-324 / 1e-8),
    "complex": ([1j], [-1j], 1),
    "integers": ([1], [3], 0.5),
    "NaN": ([NAN, 1.0], [1.0, 1.0], NAN),
    "infinity": ([INF], [INF], NAN),
}


@pytest.mark.parametrize(("x", "y", "expected"), RELATIVE.values(), ids=RELATIVE)
def test_rel_error_is_one_float(x, y, expected):
    found = rel_error(x, y)
    assert type(found) is float
    np.testing.assert_equal(found, expected)


@pytest.mark.parametrize(
    ("x", "y", "error", "words"),
    [
        (np.ones(3), np.ones((3, 1)), ValueError, "never broadcast"),
        ([], [], ValueError, "nothing was compared"),
        (1.0, "ab", TypeError, "y must"),
    ],
    ids=["another shape", "nothing", "text"],
)
def test_rel_error_refuses_bad_arguments(x, y, error, words):
    with pytest.raises(error, match=words):
        rel_error(x, y)
