"""torch's gradcheck in NumPy: its contract, flag by flag. Parity is in ``parity/test_torch.py``."""

import inspect
import re

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from test_architecture import faults_of
from torch_functions import (
    A,
    Changing,
    Counted,
    X,
    Y,
    Z,
    both_modes,
    drifting,
    message_of,
    or_zeros,
    square,
    square_jvp,
    square_vjp,
    two,
    two_jvp,
    two_vjp,
    wants_none,
    writing,
)

from gradcheck_ref.compat import torch as module
from gradcheck_ref.compat.torch import (
    GradcheckError,
    gradcheck,
    gradgradcheck,
)
from gradcheck_ref.compat.torch_calls import Calls
from gradcheck_ref.compat.torch_compare import Fast, Rule, random_unit
from gradcheck_ref.zoo import all_cases

# --- names and signatures --------------------------------------------------------------------


DEFAULTS = {
    "eps": 1e-6, "atol": 1e-5, "rtol": 1e-3, "raise_exception": True, "nondet_tol": 0.0,
    "check_undefined_grad": True, "check_grad_dtypes": False, "check_batched_grad": False,
    "fast_mode": False,
}  # fmt: skip
OF_GRADCHECK = {
    "vjp": None, "jvp": None, "check_batched_forward_grad": False, "check_forward_ad": False,
    "check_backward_ad": True, "masked": None,
}  # fmt: skip
OF_GRADGRADCHECK = {
    "vjp": None, "vjp_vjp": None, "vjp_jvp": None, "gen_non_contig_grad_outputs": False,
    "check_fwd_over_rev": False, "check_rev_over_rev": True, "masked": False,
}  # fmt: skip


@pytest.mark.parametrize(
    ("check", "positional", "keywords"),
    [
        (gradcheck, ["func", "inputs"], DEFAULTS | OF_GRADCHECK),
        (gradgradcheck, ["func", "inputs", "grad_outputs"], DEFAULTS | OF_GRADGRADCHECK),
    ],
)
def test_the_arguments_and_the_defaults_are_those_of_torch(check, positional, keywords):
    parameters = inspect.signature(check).parameters.values()
    assert [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD] == positional
    assert {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY} == keywords


@pytest.mark.parametrize("name", sorted(set(module.__all__) - {"GradcheckError"}))
def test_a_public_function_is_documented_in_full(name):
    assert faults_of(getattr(module, name)) == []


def test_the_error_is_a_runtime_error_as_in_torch():
    assert issubclass(GradcheckError, RuntimeError)


# --- right and wrong, in pairs ---------------------------------------------------------------

# A function and its inputs; a right vjp and a wrong one; a right jvp and a wrong one.
PAIRS = {
    "one array": (square, X, square_vjp, lambda u, x: x * u, square_jvp, lambda t, x: x * t),
    "0-d": (square, np.array(0.5), square_vjp, lambda u, x: -u, square_jvp, lambda t, x: -t),
    "a number of NumPy's": (
        square, np.float64(0.5), square_vjp, lambda u, x: -u, square_jvp, lambda t, x: -t,
    ),
    "a number out": (
        lambda x: float(np.sum(x * x)), X, square_vjp, lambda u, x: x * u,
        lambda t, x: float(2 * x @ t), lambda t, x: float(x @ t),
    ),
    "a list of inputs": (
        lambda x, y: x * y, [X, Y], lambda u, x, y: [y * u, x * u], lambda u, x, y: [x * u, y * u],
        lambda t, x, y: t[0] * y + t[1] * x, lambda t, x, y: t[0] * x + t[1] * y,
    ),
    "a list of outputs": (
        lambda x: [x * x, 3 * x], X, lambda u, x: 2 * x * u[0] + 3 * u[1],
        lambda u, x: 2 * x * u[0], lambda t, x: [2 * x * t, 3 * t],
        lambda t, x: [2 * x * t, None],
    ),
    "a matrix and a vector": (
        lambda A, x: A @ x, (np.array([[1.0, 2.0], [3.0, -4.0], [0.5, 0.25]]), X),
        lambda u, A, x: (np.outer(u, x), A.T @ u),
        lambda u, A, x: (np.outer(u, x[::-1]), A.T @ u),
        lambda t, A, x: t[0] @ x + A @ t[1], lambda t, A, x: t[0] @ x,
    ),
    "constants": (
        lambda x, n, factor, name: factor * x**n, (X, np.array([2, 3]), 0.5, "power"),
        lambda u, x, n, *_: (0.5 * n * x ** (n - 1) * u, None, None, None),
        lambda u, x, n, *_: (0.5 * n * x**n * u, None, None, None),
        lambda t, x, n, *_: 0.5 * n * x ** (n - 1) * t[0],
        lambda t, x, n, *_: 0.5 * n * x**n * t[0],
    ),
    "a gradient for the arrays only": (
        lambda x, n: x**n, (X, 2), lambda u, x, n: 2 * x * u, lambda u, x, n: x * u,
        lambda t, x, n: 2 * x * t[0], lambda t, x, n: x * t[0],
    ),
    "an unused input": (
        lambda x, y: x * x, (X, Y), lambda u, x, y: (2 * x * u, None),
        lambda u, x, y: (None, 2 * x * u), lambda t, x, y: 2 * x * t[0],
        lambda t, x, y: 2 * x * t[1],
    ),
    "integers first": (
        lambda x: (np.sign(x).astype(int), x * x), X, lambda u, x: 2 * x * u[1],
        lambda u, x: 2 * x * u[0], lambda t, x: (None, 2 * x * t), lambda t, x: (t, None),
    ),
    "complex": (
        square, Z, lambda u, z: 2 * z.conj() * u, lambda u, z: 2 * z * u,
        square_jvp, lambda t, z: 2 * z * t.conj(),
    ),
    "complex to real": (
        lambda z: np.abs(z) ** 2, Z, lambda u, z: 2 * z * u, lambda u, z: 2 * z.conj() * u,
        lambda t, z: 2 * (z.conj() * t).real, lambda t, z: 2 * (z * t).real,
    ),
    "real to complex": (
        lambda x: x * (1 + 2j), X, lambda u, x: (u * (1 - 2j)).real,
        lambda u, x: (u * (1 + 2j)).real, lambda t, x: t * (1 + 2j), lambda t, x: t * (1 - 2j),
    ),
    "only an imaginary part wrong": (
        lambda x: x * (1 + 2j), X, lambda u, x: (u * (1 - 2j)).real, lambda u, x: u.real,
        lambda t, x: t * (1 + 2j), lambda t, x: t * (1 + 0j),
    ),
}  # fmt: skip


@both_modes
@pytest.mark.parametrize("row", PAIRS)
def test_a_right_vjp_passes_and_a_wrong_one_fails(row, fast):
    f, inputs, right, wrong, _, _ = PAIRS[row]
    assert gradcheck(f, inputs, vjp=right, fast_mode=fast) is True
    assert message_of(gradcheck, f, inputs, vjp=wrong, fast_mode=fast)
    assert gradcheck(f, inputs, vjp=wrong, fast_mode=fast, raise_exception=False) is False


@both_modes
@pytest.mark.parametrize("row", PAIRS)
def test_a_right_jvp_passes_and_a_wrong_one_fails(row, fast):
    f, inputs, _, _, right, wrong = PAIRS[row]
    flags = {"check_forward_ad": True, "check_backward_ad": False, "fast_mode": fast}
    assert gradcheck(f, inputs, jvp=right, **flags) is True
    assert message_of(gradcheck, f, inputs, jvp=wrong, **flags)
    assert gradcheck(f, inputs, jvp=wrong, **flags, raise_exception=False) is False


def test_the_vjp_and_the_jvp_of_func_itself_are_used():
    class Square:
        __call__ = staticmethod(square)
        vjp = staticmethod(square_vjp)
        jvp = staticmethod(square_jvp)

    assert gradcheck(Square(), X, check_forward_ad=True)
    wrong = Square()
    wrong.jvp = lambda t, x: x * t
    assert gradcheck(wrong, X)
    assert "of jvp" in message_of(gradcheck, wrong, X, check_forward_ad=True)
    assert gradcheck(wrong, X, jvp=square_jvp, check_forward_ad=True)


MISSED = ["tiny_loss", "square_of_small_x", "logarithm_of_large_x", "ridge_regression"]
BLAMED = [
    "relu_at_zero", "square_of_large_x", "large_offset", "square_root_near_zero", "float32_layer",
    "rounded_output",
]  # fmt: skip
MISSED_IN_FAST_MODE = ["very_fast_sine", "mixed_magnitudes"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_it_misses_the_rows_of_the_zoo_that_its_docstring_names():
    zoo = {case.name: case for case in all_cases()}
    misses = re.search(r"^Misses\n(.*?)\n\n", module.__doc__, re.M | re.S)[1]
    assert re.findall(r"``(\w+)``", misses) == MISSED + BLAMED + MISSED_IN_FAST_MODE

    def passed(name, fast=False):
        """Return the bugs of a case that pass, and the case itself if it does."""
        case = zoo[name]
        claims = {name: case.vjp} | {bug.id: bug.vjp for bug in case.bugs}
        flags = {"fast_mode": fast, "raise_exception": False}
        return {k for k, v in claims.items() if gradcheck(case.f, case.inputs, vjp=v, **flags)}

    assert all(passed(name) > {name} for name in MISSED)
    assert not any(name in passed(name) for name in BLAMED)
    assert all(passed(name, fast=True) > passed(name) for name in MISSED_IN_FAST_MODE)


# --- what it says ----------------------------------------------------------------------------


def test_a_mismatch_names_the_pair_the_worst_entry_and_what_is_allowed():
    def vjp(u, x, y):
        return u[0] * y + u[1], np.array([u[0][0] * x[0], 2 * u[0][1] * x[1]]) + u[1]

    assert message_of(gradcheck, two, (X, Y), vjp=vjp) == (
        "Jacobian mismatch of vjp for output 0 with respect to input 1: 1 of 4 entries differ; "
        "worst at [1, 1]: analytic 3, numeric 1.5, error 1.5, allowed 0.0015 by rtol. "
        "Row 1, column 1 is d output 0[1] / d input 1[1]"
    )


def test_rows_are_entries_of_the_input_and_columns_of_the_output():
    A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

    def vjp(u, x):
        return u @ A * [1, 1, 2]

    assert message_of(gradcheck, lambda x: A @ x, np.ones(3), vjp=vjp).endswith(
        "2 of 6 entries differ; worst at [2, 1]: analytic 12, numeric 6, error 6, allowed 0.006 by "
        "rtol. Row 2, column 1 is d output 0[1] / d input 0[2]"
    )


def test_a_mismatch_in_0_d_has_no_index():
    assert message_of(gradcheck, square, np.array(0.5), vjp=lambda u, x: -u).endswith(
        "Row 0, column 0 is d output 0 / d input 0"
    )


@pytest.mark.parametrize(
    ("vjp", "named"),
    [
        (lambda u, z: u.real, "with respect to input 0, imaginary part of the output: "),
        (
            lambda u, z: u.real * 2 + 1j * u.imag,
            "with respect to input 0, real part of the output: ",
        ),
    ],
)
def test_a_mismatch_says_which_part_of_a_complex_output(vjp, named):
    assert named in message_of(gradcheck, lambda z: z * 1, Z, vjp=vjp)


def test_the_imaginary_part_of_the_outputs_comes_first():
    assert "imaginary part" in message_of(gradcheck, square, Z, vjp=lambda u, z: 7 * u)
    flags = {"check_backward_ad": False, "check_forward_ad": True}
    text = message_of(gradcheck, square, Z, jvp=lambda t, z: 7 * t, **flags)
    assert "of jvp for output 0 with respect to input 0, imaginary part of the input: " in text


def test_in_fast_mode_a_mismatch_is_looked_at_again_in_slow_mode():
    text = message_of(gradcheck, square, X, vjp=lambda u, x: x * u, fast_mode=True)
    assert re.fullmatch(
        r"Jacobian mismatch of vjp for output 0 with respect to input 0, in fast mode, where "
        r"v \. \(J u\) is compared: 1 of 1 entries differ; worst: analytic \S+, numeric \S+, error "
        r"\S+, allowed \S+ by \w+\. In slow mode: 2 of 4 entries differ; worst at \[1, 1\]: "
        r"analytic 1\.5, numeric 3, error 1\.5, allowed 0\.003 by rtol\. "
        r"Row 1, column 1 is d output 0\[1\] / d input 0\[1\]",
        text,
    )


def test_in_fast_mode_it_says_if_slow_mode_would_pass():
    # Errors of 90 % of what is allowed, in both entries; fast mode has only rtol for the sum of
    # a large slope and its negative.
    def vjp(u, x):
        return u * np.array([1.0009, -0.9991])

    def f(x):
        return x[0] - x[1]

    calls = Calls({"func": f, "vjp": vjp}, [X])
    assert Fast(calls, Rule(1e-6, 1e-3, 0.0, 0.0)).by_vjp(0, "real")[0].wrong
    text = message_of(gradcheck, f, X, vjp=vjp, fast_mode=True, atol=0.0)
    assert text.endswith("In slow mode all entries agree: pass fast_mode=False")
    assert gradcheck(f, X, vjp=vjp, atol=0.0)


def test_a_func_that_does_not_use_its_argument_is_told_of_the_copies():
    text = message_of(gradcheck, lambda _: X * X, X, vjp=square_vjp)
    assert text.endswith(
        "The output does not change with input 0; if it should, func does not use its argument: "
        "the steps are made on copies"
    )
    assert "copies" not in message_of(gradcheck, square, X, vjp=lambda u, x: x * u)


def test_a_func_that_is_not_finite_a_step_away_is_told_of():
    with np.errstate(invalid="ignore"):
        text = message_of(gradcheck, np.log, np.array([1e-7]), vjp=lambda u, x: u / x)
    assert "numeric nan" in text
    assert text.endswith("func is not finite there: take another eps or point")


def test_what_func_raises_is_passed_on_with_a_note_of_where():
    def f(x):
        if x[1] > 1.5:
            raise KeyError("too far")
        return x * 1

    with pytest.raises(KeyError) as caught:
        gradcheck(f, X, vjp=lambda u, x: u, raise_exception=False)
    assert caught.value.__notes__ == [
        "in gradcheck_ref, calling func with input 0 moved by +1e-06 at [1]"
    ]


@pytest.mark.parametrize(
    ("which", "note"),
    [("vjp", "calling vjp for output 0[0]"), ("jvp", "calling jvp along input 0")],
)
def test_what_a_product_raises_is_passed_on_with_a_note_of_where(which, note):
    def raises(*_):
        raise ZeroDivisionError

    flags = {"check_backward_ad": which == "vjp", "check_forward_ad": which == "jvp"}
    with pytest.raises(ZeroDivisionError) as caught:
        gradcheck(square, X, **flags, **{which: raises}, raise_exception=False)
    assert caught.value.__notes__ == [f"in gradcheck_ref, {note}"]


# --- the step and the cost -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "fast", "evaluations"),
    [
        (X, False, 5),
        (X, True, 3),
        (Z, False, 9),
        (Z, True, 5),
        ((X, Y), False, 9),
        ((X, Y), True, 5),
    ],
    ids=["real", "real, fast", "complex", "complex, fast", "two", "two, fast"],
)
def test_it_costs_as_many_evaluations_of_func_as_it_says(inputs, fast, evaluations):
    f = Counted(lambda *inputs: sum(x * x for x in inputs))

    def vjp(u, *inputs):
        return tuple(2 * np.conj(x) * u for x in inputs)

    assert gradcheck(f, inputs, vjp=vjp, fast_mode=fast)
    assert len(f.calls) == evaluations


@pytest.mark.parametrize(
    ("f", "fast", "calls"),
    [(square, False, 2 * 2 + 2), (square, True, 2 * 1 + 2), (np.sum, False, 2 + 2)],
)
def test_it_costs_as_many_calls_of_the_vjp_as_it_says(f, fast, calls):
    vjp = Counted(square_vjp if f is square else lambda u, x: u * np.ones(2))
    assert gradcheck(f, X, vjp=vjp, fast_mode=fast)
    assert len(vjp.calls) == calls


def test_several_outputs_are_left_undefined_one_by_one():
    vjp = Counted(two_vjp)
    assert gradcheck(two, (X, Y), vjp=vjp)
    assert len(vjp.calls) == 2 * 4 + 1 + 1 + 2


def test_it_moves_one_entry_by_eps_and_back_first():
    f = Counted(square)
    assert gradcheck(f, X, vjp=square_vjp, eps=0.25)
    moves = [(x - X).tolist() for (x,) in f.calls]
    assert moves == [[0, 0], [-0.25, 0], [0.25, 0], [0, -0.25], [0, 0.25]]


@both_modes
def test_slopes_are_divided_by_the_step_that_was_taken(fast):
    x = np.array([1.23e10])  # moves by 1.9e-6, the distance of two numbers there
    assert gradcheck(lambda x: x * 1, x, vjp=lambda u, x: u, fast_mode=fast)
    assert message_of(gradcheck, lambda x: x * 1, x, vjp=lambda u, x: 1.907 * u, fast_mode=fast)


@both_modes
@pytest.mark.parametrize(
    ("x", "advice"),
    [(1e20, "larger eps"), (-1e20, "larger eps"), (np.inf, "finite"), (np.nan, "finite")],
)
def test_a_step_that_does_not_move_an_entry_fails(x, advice, fast):
    inputs = np.array([1.0, x])
    text = message_of(
        gradcheck, lambda x: np.zeros(2), inputs, vjp=lambda u, x: 0 * u, fast_mode=fast
    )
    assert text.startswith(f"input 0[1] = {x} does not move by ")
    assert advice in text


@pytest.mark.parametrize("dtype", [np.float64, np.longdouble, ">f8"])
def test_it_works_in_double_precision_and_better(dtype):
    x = np.array([0.5, 1.5], dtype)
    f = Counted(square)
    assert gradcheck(f, x, vjp=square_vjp)
    assert {x.dtype for (x,) in f.calls} == {np.dtype(dtype).newbyteorder("=")}


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.complex64])
def test_of_lower_precision_it_warns(dtype):
    with pytest.warns(UserWarning, match=f"input 1 holds {np.dtype(dtype)}, less than double"):
        gradcheck(
            lambda x, y: x * y.real,
            (X, Y.astype(dtype)),
            vjp=lambda u, x, y: (u * y.real, u * x),
            raise_exception=False,
        )


# --- the rule --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("factor", "rtol", "atol", "passes"),
    [
        (1.0009, 1e-3, 0.0, True),
        (1.0011, 1e-3, 0.0, False),
        (1.0011, 1e-3, 1e-3, True),
        (1.0, 0.0, 1e-6, True),
        (1.001, 0.0, 1e-6, False),
        (0.0, 0.0, 1.1, True),
    ],
)
def test_an_error_of_atol_plus_rtol_times_the_numeric_slope_is_allowed(factor, rtol, atol, passes):
    got = gradcheck(
        lambda x: x * 1, X, vjp=lambda u, x: factor * u, rtol=rtol, atol=atol, raise_exception=False
    )
    assert got is passes


@pytest.mark.parametrize(
    ("f", "vjp"),
    [
        (lambda x: x * np.nan, lambda u, x: u * np.nan),
        (lambda x: np.where(x > 0.5, np.inf, 0.0), lambda u, x: np.where(u == 0, 0.0, np.inf)),
    ],
    ids=["NaN", "infinity"],
)
def test_what_is_not_finite_never_agrees(f, vjp):
    assert message_of(gradcheck, f, np.array([0.5]), vjp=vjp)


def test_fast_mode_allows_as_much_as_all_entries_together_may_be_off():
    calls = Calls({"func": lambda x: x * 1, "vjp": lambda u, x: u + 1e-5}, [X])
    mode = Fast(calls, Rule(eps=1e-6, rtol=0.0, atol=1e-5, nondet_tol=0.0))
    comparison = mode.by_vjp(0, "real")[0]
    u, v = mode.u[0][1], mode.v[0]
    np.testing.assert_allclose(comparison.allowed, 1e-5 * u.sum() * v.sum(), rtol=1e-14)


def test_the_vectors_of_fast_mode_are_positive_of_length_1_and_always_the_same():
    calls = Calls({"func": two}, [X, np.ones((2, 2))[0]])
    first, second = (Fast(calls, Rule(1e-6, 1e-3, 1e-5, 0.0)) for _ in range(2))
    for mine, again in ((first.u[0][1], second.u[0][1]), (first.v[1], second.v[1])):
        assert (mine > 0).all()
        np.testing.assert_allclose(np.linalg.norm(mine), 1, rtol=1e-15)
        np.testing.assert_array_equal(mine, again)
    assert not np.array_equal(first.u[0][1], first.u[1][1])
    assert random_unit(np.random.default_rng(0), np.zeros((0, 2))).shape == (0, 2)


def test_fast_mode_does_not_see_an_error_across_its_vector():
    calls = Calls({"func": lambda x: x * 1}, [X])
    u = Fast(calls, Rule(1e-6, 1e-3, 1e-5, 0.0)).u[0][1]
    across = 100 * np.array([u[1], -u[0]])

    def vjp(upstream, x):
        return upstream + upstream.sum() * across

    assert gradcheck(lambda x: x * 1, X, vjp=vjp, fast_mode=True)
    assert message_of(gradcheck, lambda x: x * 1, X, vjp=vjp)


# --- what is left as it was ------------------------------------------------------------------


@both_modes
@pytest.mark.parametrize(
    ("functions", "named"),
    [
        ({"func": writing(1, two)}, "func writes to input 1"),
        ({"vjp": writing(1, two_vjp)}, "vjp writes to input 0"),
        ({"jvp": writing(2, two_jvp)}, "jvp writes to input 1"),
    ],
    ids=["func", "vjp", "jvp"],
)
def test_who_writes_to_an_input_is_named_and_the_array_of_the_caller_is_left(
    functions, named, fast
):
    x, y = X.copy(), Y.copy()
    functions = {"func": two, "vjp": two_vjp, "jvp": two_jvp} | functions
    text = message_of(gradcheck, inputs=(x, y), check_forward_ad=True, fast_mode=fast, **functions)
    assert text.startswith(named)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)


def test_a_constant_that_is_written_to_is_noticed_too():
    n = np.array([2, 2])
    text = message_of(
        gradcheck, writing(1, lambda x, n: x * 1), (X, n), vjp=lambda u, x, n: (u, None)
    )
    assert text.startswith("func writes to input 1")
    np.testing.assert_array_equal(n, [2, 2])


def test_an_upstream_gradient_may_be_written_to():
    def vjp(u, x):
        u *= 2
        u *= x
        return u

    assert gradcheck(square, X, vjp=vjp)


def test_a_buffer_that_is_handed_out_again_and_again_does_no_harm():
    buffer, gradient = np.empty(2), np.empty(2)
    assert gradcheck(
        lambda x: np.multiply(x, x, out=buffer),
        X,
        vjp=lambda u, x: np.multiply(2 * x, u, out=gradient),
    )


LAYOUTS = {
    "Fortran order": np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]),
    "negative strides": np.array([[1.0, 2.0], [3.0, 4.0]])[::-1, ::-1],
    "gaps": np.arange(8.0).reshape(2, 4)[:, ::2],
    "read-only": np.array([[1.0, 2.0], [3.0, 4.0]]),
}
LAYOUTS["read-only"].flags.writeable = False


@both_modes
@pytest.mark.parametrize("row", LAYOUTS)
def test_the_layout_of_an_input_does_not_matter(row, fast):
    x, weights = LAYOUTS[row], np.array([[1.0, 10.0], [100.0, 1000.0]])
    before = x.copy()
    assert gradcheck(lambda x: np.sum(weights * x), x, vjp=lambda u, x: weights * u, fast_mode=fast)
    assert message_of(
        gradcheck, lambda x: np.sum(weights * x), x, vjp=lambda u, x: weights.T * u, fast_mode=fast
    )
    np.testing.assert_array_equal(x, before)


def test_what_has_gaps_is_handed_over_with_gaps():
    f, vjp = Counted(square), Counted(square_vjp)
    assert gradcheck(f, np.arange(4.0)[::2], vjp=vjp)
    assert not any(x.flags.forc for (x,) in f.calls)
    assert not any(x.flags.forc for _, x in vjp.calls)


@pytest.mark.parametrize(
    "x",
    [np.broadcast_to(1.0, 3), as_strided(np.arange(4.0), (3, 2), (8, 8)),
     as_strided(np.arange(4.0), (3,), (4,)), np.broadcast_to(np.ma.array([1.0]), 3)],
    ids=["broadcast", "windows", "half an entry apart", "masked"],
)  # fmt: skip
def test_an_input_that_overlaps_itself_is_refused_before_func_is_called(x):
    f = Counted(square)
    text = message_of(gradcheck, f, (X, x), vjp=square_vjp, error=RuntimeError)
    assert text.startswith("input 1 overlaps itself")
    assert f.calls == []


@pytest.mark.parametrize(("x", "y"), [(X, X), (X, X[::-1])], ids=["the same twice", "two views"])
def test_inputs_that_share_memory_are_moved_one_by_one(x, y):
    assert gradcheck(two, (x, y), vjp=two_vjp)
    assert message_of(gradcheck, two, (x, y), vjp=lambda u, x, y: two_vjp(u, y, x[::-1]))


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ({"check_backward_ad": False}, "nothing to check"),
        (
            {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
            "check_batched_grad needs check_backward_ad",
        ),
        ({"check_batched_forward_grad": True}, "check_batched_forward_grad needs check_forward_ad"),
    ],
)
def test_flags_that_contradict_each_other_are_an_assertion_error(flags, named):
    f = Counted(square)
    flags = {"vjp": square_vjp, "jvp": square_jvp, "raise_exception": False} | flags
    assert message_of(gradcheck, f, X, **flags, error=AssertionError).startswith(named)
    assert f.calls == []


@pytest.mark.parametrize(
    ("flags", "error", "named"),
    [
        ({"eps": 0.0}, ValueError, "eps must be"),
        ({"eps": -1e-6}, ValueError, "eps must be"),
        ({"eps": np.inf}, ValueError, "eps must be"),
        ({"eps": "1e-6"}, TypeError, "eps must be"),
        ({"rtol": -1.0}, ValueError, "rtol must be"),
        ({"atol": np.inf}, ValueError, "atol must be"),
        ({"nondet_tol": -1.0}, ValueError, "nondet_tol must be"),
        ({"nondet_tol": np.nan}, ValueError, "nondet_tol must be"),
        ({"vjp": None}, TypeError, "func has no attribute vjp: give it, or pass vjp="),
        ({"check_forward_ad": True}, TypeError, "func has no attribute jvp"),
        ({"vjp": X}, TypeError, "vjp must be a function"),
    ],
    ids=str,
)
def test_arguments_of_the_wrong_kind_are_refused_before_func_is_called(flags, error, named):
    f = Counted(square)
    flags = {"vjp": square_vjp, "raise_exception": False} | flags
    assert message_of(gradcheck, f, X, error=error, **flags).startswith(named)
    assert f.calls == []


def test_a_func_that_is_none_is_refused():
    assert "func must be a function" in message_of(gradcheck, 3, X, vjp=square_vjp, error=TypeError)


@pytest.mark.parametrize(
    "inputs", [np.array([1, 2]), (), [1.0, 2.0], 0.5, {"x": X}, np.array(["x"])], ids=repr
)
def test_inputs_that_cannot_be_moved_are_a_value_error_before_func_is_called(inputs):
    f = Counted(square)
    text = message_of(gradcheck, f, inputs, vjp=square_vjp, error=ValueError)
    assert text.startswith("inputs holds no array to differentiate by (")
    assert f.calls == []


@both_modes
@pytest.mark.parametrize(
    ("f", "x", "named"),
    [
        (square, np.zeros(0), "the inputs have 0 entries that can be moved, and the outputs 0"),
        (square, np.zeros((2, 0)), "the inputs have 0 entries"),
        (lambda x: x[:0], X, "the inputs have 2 entries that can be moved, and the outputs 0"),
        (lambda x: (), X, "and the outputs 0"),
        (np.sum, np.zeros(0), "the inputs have 0 entries that can be moved, and the outputs 1"),
    ],
)
def test_nothing_compared_is_no_pass(f, x, named, fast):
    text = message_of(gradcheck, f, x, vjp=square_vjp, fast_mode=fast, error=ValueError)
    assert text.startswith("nothing to compare")
    assert named in text


@pytest.mark.parametrize(
    ("returned", "error", "named"),
    [
        (None, TypeError, "output 0 must be an array or a number, not None"),
        ({"y": X}, TypeError, "output 0 must be an array or a number, not dict"),
        ("text", TypeError, "output 0 must be an array or a number, not str"),
        ((X, None), TypeError, "output 1 must be an array or a number, not None"),
        ((X, [[1.0], [1.0, 2.0]]), TypeError, "output 1 must be an array or a number, not list"),
        (np.ma.array(X, mask=[0, 1]), ValueError, "output 0 is a masked array"),
    ],
    ids=str,
)
def test_outputs_that_are_no_arrays_are_refused(returned, error, named):
    text = message_of(
        gradcheck, lambda x: returned, X, vjp=square_vjp, error=error, raise_exception=False
    )
    assert text.startswith(named)


@both_modes
@pytest.mark.parametrize(
    "elsewhere",
    [lambda x: x[:1] * 1, lambda x: x[:, None] * 1, lambda x: x * 1j, lambda x: (x * 1, x * 1),
     lambda x: x.astype(np.float32)],
    ids=["shorter", "a column", "complex", "two", "float32"],
)  # fmt: skip
def test_outputs_that_change_their_kind_are_an_assertion_error(elsewhere, fast):
    def f(x):
        return x * 1 if x[1] <= X[1] else elsewhere(x)

    text = message_of(
        gradcheck, f, X, vjp=lambda u, x: u, fast_mode=fast, error=AssertionError,
        raise_exception=False,
    )  # fmt: skip
    assert text.startswith("func must return the same shapes and dtypes everywhere")
    assert text.endswith("moved by +1e-06 * u" if fast else "moved by +1e-06 at [1]")


# --- the gradients, as they come -------------------------------------------------------------


@pytest.mark.parametrize(
    ("gradient", "named"),
    [
        (lambda u, x: (2 * x * u)[:, None], "Gradient by input 0 has the wrong size: shape (2, 1)"),
        (lambda u, x: np.ones((4, 1)) * x * u / 2, "Gradient by input 0 has the wrong size"),
        (lambda u, x: 1.0, "Gradient by input 0 has the wrong size: shape () where (2,)"),
        (lambda u, x: 2 * x * u * (1 + 0j), "Gradient by input 0 has the wrong dtype: complex128"),
        (lambda u, x: (2 * x * u, None), "vjp returned 2 gradients for 1 inputs"),
        (lambda u, x: (), "vjp returned 0 gradients for 1 inputs"),
        (lambda u, x: np.ma.array(2 * x * u, mask=[0, 1]), "vjp gives a masked gradient"),
    ],
)
def test_a_gradient_that_does_not_fit_fails(gradient, named):
    assert message_of(gradcheck, square, X, vjp=gradient).startswith(named)
    assert gradcheck(square, X, vjp=gradient, raise_exception=False) is False


@pytest.mark.parametrize("gradient", ["2x", {"x": X}, [[1.0], [1.0, 2.0]]], ids=str)
def test_a_gradient_without_numbers_is_a_type_error(gradient):
    text = message_of(
        gradcheck, square, X, vjp=lambda u, x: gradient, error=TypeError, raise_exception=False
    )
    assert text.startswith("the gradient by input 0 must be an array or a number, not")


@pytest.mark.parametrize(
    ("inputs", "vjp"),
    [
        (X, lambda u, x: (2 * x * u).astype(np.float32)),
        (np.array([1.0, 2.0]), lambda u, x: (2 * x * u).astype(int)),
        (Z.real + 0j, lambda u, z: 2 * u * z.conj() if u.imag.any() else 2 * (u * z.conj()).real),
    ],
    ids=["float32", "integer", "real for complex"],
)
def test_the_dtype_of_a_gradient_is_looked_at_only_if_asked_for(inputs, vjp):
    assert gradcheck(square, inputs, vjp=vjp)
    text = message_of(gradcheck, square, inputs, vjp=vjp, check_grad_dtypes=True)
    assert text.startswith("Gradient by input 0 has the wrong dtype")
    assert gradcheck(square, X, vjp=square_vjp, check_grad_dtypes=True)


@pytest.mark.parametrize(
    ("f", "jvp", "flags", "named"),
    [
        (square, lambda t, x: x * t * 2j, {}, "Tangent of output 0 has the wrong dtype: complex"),
        (square, lambda t, x: t[:1], {}, "Tangent of output 0 has the wrong size: shape (1,)"),
        (lambda x: (x * 1, x * 1), lambda t, x: t, {}, "jvp must return 2 tangents"),
        (
            lambda x: x * (1 + 0j), lambda t, x: t, {"check_grad_dtypes": True},
            "Tangent of output 0 has the wrong dtype: float64 for an output of complex128",
        ),
    ],
)  # fmt: skip
def test_a_tangent_that_does_not_fit_fails(f, jvp, flags, named):
    flags = {"check_forward_ad": True, "check_backward_ad": False} | flags
    assert message_of(gradcheck, f, X, jvp=jvp, **flags).startswith(named)


def test_a_real_tangent_of_a_complex_output_is_fine_unless_asked_for():
    flags = {"check_forward_ad": True, "check_backward_ad": False}
    assert gradcheck(lambda x: x * (1 + 0j), X, jvp=lambda t, x: t, **flags)


# --- reentrancy ------------------------------------------------------------------------------


@both_modes
def test_a_vjp_that_gives_two_answers_fails(fast):
    text = message_of(gradcheck, square, X, vjp=drifting(), fast_mode=fast)
    assert text.startswith("Backward is not reentrant: two runs of vjp with the same inputs")
    assert "for output 0 with respect to input 0; nondet_tol is 0." in text
    assert gradcheck(square, X, vjp=drifting(), fast_mode=fast, nondet_tol=1e-4)
    assert gradcheck(square, X, vjp=drifting(), fast_mode=fast, nondet_tol=np.inf)
    assert message_of(gradcheck, square, X, vjp=drifting(), fast_mode=fast, nondet_tol=1e-7)


def test_a_number_and_then_nan_are_two_answers():
    vjp = Changing(lambda n: np.nan if n == 4 else 1.0)
    assert "differ by up to nan" in message_of(gradcheck, square, X, vjp=vjp)
    assert gradcheck(square, X, vjp=Changing(lambda n: np.nan if n == 99 else 1.0))


def test_whether_two_runs_agree_is_looked_at_before_the_slopes():
    text = message_of(gradcheck, square, X, vjp=Changing(float))
    assert text.startswith("Backward is not reentrant")


# --- integers, zeros, undefined --------------------------------------------------------------


@both_modes
def test_a_function_of_integers_must_stand_still(fast):
    vjp = Counted(square_vjp)
    assert gradcheck(lambda x: np.round(x + 0.25).astype(int), X, vjp=vjp, fast_mode=fast)
    assert vjp.calls == []
    text = message_of(
        gradcheck, lambda x: (1, np.floor(2 * x).astype(np.uint8)), X, vjp=vjp, fast_mode=fast
    )
    assert text.startswith("Numerical gradient expected to be zero: output 1 holds uint8")
    got = gradcheck(
        lambda x: np.floor(2 * x).astype(int), X, vjp=vjp, fast_mode=fast, nondet_tol=1e9,
        raise_exception=False,
    )  # fmt: skip
    assert got is fast  # torch has this tolerance in fast mode only


def test_a_vjp_must_give_zeros_for_zeros():
    text = message_of(gradcheck, np.sum, X, vjp=lambda u, x: np.ones(2))
    assert text.startswith(
        "Backward is not multiplied by grad_output: with cotangents of zeros vjp gives up to 1 by "
        "input 0"
    )
    text = message_of(gradcheck, np.sum, X, vjp=lambda u, x: np.ones(2) if u else x * np.nan)
    assert "gives up to nan by input 0" in text


def test_what_is_undefined_arrives_as_zeros_or_as_none_if_that_is_wanted():
    filled, none = Counted(two_vjp), Counted(lambda u, x, y: two_vjp(or_zeros(u), x, y))
    assert gradcheck(two, (X, Y), vjp=filled)
    assert gradcheck(two, (X, Y), vjp=wants_none(none))
    assert not any(one is None for u, _, _ in filled.calls for one in u)
    undefined = [tuple(one is None for one in u) for u, _, _ in none.calls]
    slow = [(False, True)] * 2 + [(True, False)] * 2
    assert sorted(undefined[:8]) == sorted(slow * 2)
    assert undefined[8:] == [(False, False), (True, True), (True, False), (False, True)]
    assert [u[0].any() for u, _, _ in none.calls[-4:] if u[0] is not None] == [False, False]


def refuses_none(error):
    def vjp(u, x):
        if u is None:
            raise error
        return np.ones(2) * u

    return wants_none(vjp)


def one_for_none(u, x, y):
    """A vjp that is wrong only if the first cotangent is undefined and the second is zeros."""
    wrong = u[0] is None and u[1] is not None and not u[1].any()
    return tuple(g + wrong for g in two_vjp(or_zeros(u), x, y))


@pytest.mark.parametrize(
    ("f", "inputs", "vjp", "named"),
    [
        (
            np.sum, X, refuses_none(RuntimeError("no upstream")),
            "vjp fails without a cotangent for output 0: no upstream. None stands for zeros. If it "
            "need not, pass check_undefined_grad=False",
        ),
        (
            np.sum, X, wants_none(lambda u, x: np.ones(2) * (3 if u is None else u)),
            "without a cotangent for output 0, and with zeros for the rest, vjp gives up to 3 by "
            "input 0: it must give zeros or None",
        ),
        (
            two, (X, Y), wants_none(one_for_none),
            "without a cotangent for output 0, and with zeros for the rest, vjp gives up to 1",
        ),
    ],
    ids=["refused", "taken for 3", "only the first"],
)  # fmt: skip
def test_an_undefined_cotangent_must_stand_for_zeros(f, inputs, vjp, named):
    assert message_of(gradcheck, f, inputs, vjp=vjp).startswith(named)
    assert gradcheck(f, inputs, vjp=vjp, check_undefined_grad=False)
    assert gradcheck(f, inputs, vjp=vjp, raise_exception=False) is False


def test_no_gradient_for_no_cotangent_is_fine():
    vjp = wants_none(lambda u, x: None if u is None else np.ones(2) * u)
    assert gradcheck(np.sum, X, vjp=vjp)


def test_other_errors_than_runtime_errors_are_passed_on():
    with pytest.raises(LookupError):
        gradcheck(np.sum, X, vjp=refuses_none(LookupError()), raise_exception=False)
    with pytest.raises(TypeError):
        gradcheck(two, (X, Y), vjp=wants_none(lambda u, x, y: two_vjp(u, x, y)))


def test_an_undefined_tangent_must_stand_for_zeros():
    flags = {"check_backward_ad": False, "check_forward_ad": True}
    right = Counted(lambda t, x, y: two_jvp(or_zeros(t), x, y))
    assert gradcheck(two, (X, Y), jvp=wants_none(right), **flags)
    undefined = [tuple(one is None for one in t) for t, _, _ in right.calls]
    assert undefined == [(False, False)] * 5 + [(True, False), (False, False), (False, True)]
    wrong = wants_none(lambda t, x, y: two_jvp([1 if one is None else one for one in t], x, y))
    assert message_of(gradcheck, two, (X, Y), jvp=wrong, **flags).startswith(
        "jvp gives something else without a tangent of input 0 than with zeros, for output 0: "
    )
    assert gradcheck(two, (X, Y), jvp=wrong, check_undefined_grad=False, **flags)
    silent = wants_none(
        lambda t, x, y: (None, None) if any(one is None for one in t) else two_jvp(t, x, y)
    )
    assert gradcheck(two, (X, Y), jvp=silent, **flags)


@pytest.mark.parametrize("part", ["imag", "real"])
def test_a_complex_input_is_left_undefined_along_both_axes(part):
    flags = {"check_backward_ad": False, "check_forward_ad": True}

    def jvp(t, z, x):
        dz, dx = (0 if one is None else one for one in t)
        wrong = t[1] is None and getattr(dz, part).any()  # along one axis of z only
        return dz * x + z * dx + wrong

    def f(z, x):
        return z * x

    assert gradcheck(f, (Z, X), jvp=jvp, **flags)
    text = message_of(gradcheck, f, (Z, X), jvp=wants_none(jvp), **flags)
    assert "without a tangent of input 1" in text


# --- batches ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "inputs", "vjp", "jvp"),
    [
        (square, X, square_vjp, square_jvp),
        (square, np.array(0.5), square_vjp, square_jvp),
        (two, (X, Y), two_vjp, two_jvp),
        (square, Z, lambda u, z: 2 * z.conj() * u, square_jvp),
        (lambda x: A @ x, X, lambda u, x: u @ A, lambda t, x: t @ A.T),
        (
            lambda x: (x * x, np.ones(3)),
            X,
            lambda u, x: 2 * x * u[0],
            lambda t, x: (2 * x * t, None),
        ),
        (lambda x, n: x**n, (X, 2), lambda u, x, n: 2 * x * u, lambda t, x, n: 2 * x * t[0]),
    ],
    ids=["an array", "0-d", "two", "complex", "a matrix", "a constant output", "a constant"],
)
def test_a_product_that_takes_a_batch_passes(f, inputs, vjp, jvp):
    flags = {"check_batched_grad": True, "check_forward_ad": True}
    vjp, jvp = Counted(vjp), Counted(jvp)
    assert gradcheck(f, inputs, vjp=vjp, jvp=jvp, **flags, check_batched_forward_grad=True)
    several = isinstance(inputs, tuple)
    upstream = [u if isinstance(u, tuple) else (u,) for u, *_ in vjp.calls]
    outputs = f(*inputs) if several else f(inputs)
    shapes = [np.shape(y) for y in (outputs if isinstance(outputs, tuple) else (outputs,))]
    assert [(2, *shape) for shape in shapes] in [[np.shape(one) for one in u] for u in upstream]
    if inputs is Z:
        assert any(one.real.all() and one.imag.all() for u in upstream for one in u)


@pytest.mark.parametrize(
    ("vjp", "named"),
    [
        (lambda u, x: A.T @ u, "vjp fails with a batch for output 0: matmul: "),
        (lambda u, x: float(u[0]) * A[0] + u[1:] @ A[1:], "vjp fails with a batch for output 0: "),
        (
            lambda u, x: u @ A if u.ndim == 1 else (u @ A)[0],
            "vjp fails with a batch for output 0: Gradient by input 0 has the wrong size: shape "
            "(2,) where (2, 2) is expected",
        ),
        (
            lambda u, x: u @ A if u.ndim == 1 else u @ A + u.sum(),
            "vjp gives something else for a batch for output 0 than one by one, by input 0: 4 of 4",
        ),
    ],
)
def test_a_vjp_that_cannot_take_a_batch_fails_only_if_that_is_asked_for(vjp, named):
    def f(x):
        return A @ x

    assert gradcheck(f, X, vjp=vjp)
    text = message_of(gradcheck, f, X, vjp=vjp, check_batched_grad=True)
    assert text.startswith(named)
    assert text.endswith("If it need not, pass check_batched_grad=False")


def test_a_jvp_that_cannot_take_a_batch_fails_only_if_that_is_asked_for():
    flags = {"check_backward_ad": False, "check_forward_ad": True}
    assert gradcheck(lambda x: A @ x, X, jvp=lambda t, x: A @ t, **flags)
    text = message_of(
        gradcheck,
        lambda x: np.append(A, A[:1], axis=0) @ x,
        X,
        jvp=lambda t, x: np.append(A, A[:1], axis=0) @ t,
        check_batched_forward_grad=True,
        **flags,
    )
    assert text.startswith("jvp fails with a batch along input 0: ")
    assert text.endswith("If it need not, pass check_batched_forward_grad=False")


# --- masked arrays ---------------------------------------------------------------------------

MASK = np.array([[True, False], [False, True]])
SPARSE = np.ma.array([[7.0, 2.0], [3.0, 7.0]], mask=MASK)
W = np.array([[1.0, 2.0], [3.0, 4.0]])


def weighted(x):
    return np.sum(x.filled(0) * W)


@pytest.mark.parametrize("masked", [None, False, True])
@pytest.mark.parametrize(
    ("vjp", "of_all"),
    [
        (lambda u, x: u * W, True),
        (lambda u, x: np.ma.array(u * W, mask=MASK), False),
        (lambda u, x: u * W * ~MASK, False),
    ],
    ids=["of all", "masked", "zero where masked"],
)
def test_masked_entries_are_zeros_that_move_or_do_not_count(vjp, of_all, masked):
    x = SPARSE.copy()
    got = gradcheck(weighted, x, vjp=vjp, masked=masked, raise_exception=False)
    assert got is (of_all != bool(masked))
    assert gradcheck(weighted, x, vjp=vjp, masked=masked, fast_mode=True)
    np.testing.assert_array_equal(x.data, SPARSE.data)
    np.testing.assert_array_equal(x.mask, MASK)


@both_modes
@pytest.mark.parametrize("masked", [False, True])
def test_a_wrong_gradient_of_an_entry_that_is_not_masked_fails(masked, fast):
    def vjp(u, x):
        return np.ma.array(u * W.T, mask=x.mask) if masked else u * W.T

    assert message_of(gradcheck, weighted, SPARSE, vjp=vjp, masked=masked, fast_mode=fast)


def test_a_masked_array_arrives_as_one_and_its_masked_entries_stay_masked_if_asked_for():
    for masked, expected in ((True, MASK), (False, np.zeros((2, 2), bool))):
        f = Counted(weighted)
        vjp = (lambda u, x: u * W * ~MASK) if masked else (lambda u, x: u * W)
        assert gradcheck(f, SPARSE, vjp=vjp, masked=masked)
        assert len(f.calls) == 1 + 2 * (~expected).sum()
        first, *moved = [x for (x,) in f.calls]
        np.testing.assert_array_equal(first.mask, MASK)
        assert all((x.mask == expected).all() for x in moved)
        assert {float(x.data[0, 0]) for x in moved} <= ({7.0} if masked else {0.0, 1e-6, -1e-6})


def test_a_mask_that_is_changed_is_noticed():
    def f(x):
        x[0, 0] = np.ma.masked
        return weighted(x)

    text = message_of(gradcheck, f, np.ma.array(W), vjp=lambda u, x: u * W)
    assert text.startswith("func writes to input 0")


def test_a_jvp_of_a_masked_array_is_asked_for_the_entries_that_count():
    flags = {"check_backward_ad": False, "check_forward_ad": True, "masked": True}
    jvp = Counted(lambda t, x: np.sum(t * W))
    assert gradcheck(weighted, SPARSE, jvp=jvp, check_undefined_grad=False, **flags)
    assert len(jvp.calls) == 2


@pytest.mark.parametrize(("fast", "masked"), [(False, True), (True, True), (True, False)])
def test_an_array_of_which_all_is_masked_leaves_nothing_to_compare(fast, masked):
    x = np.ma.array(W, mask=True)
    text = message_of(
        gradcheck, weighted, x, vjp=lambda u, x: u * W, masked=masked, fast_mode=fast,
        error=ValueError,
    )  # fmt: skip
    assert text.startswith("nothing to compare: the inputs have 0 entries")


def test_zeros_may_be_rounded_only_if_masked():
    def vjp(u, x):
        return u * W + 1e-12

    x = np.ma.array(W)
    assert gradcheck(weighted, x, vjp=vjp, masked=True, check_undefined_grad=False)
    assert "not multiplied by grad_output" in message_of(
        gradcheck, weighted, x, vjp=vjp, check_undefined_grad=False
    )
