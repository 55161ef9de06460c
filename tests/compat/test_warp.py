"""Warp's gradcheck, jacobian and jacobian_fd: its contract, and where it differs on purpose."""

import io
from functools import partial

import numpy as np
import pytest
from edge_cases import never
from torch_functions import PAIRS
from warp_functions import STEP, X, pair, pair_vjp, square, square_vjp

from gradcheck_ref.compat.warp import gradcheck, jacobian, jacobian_fd

NAN, INF = np.nan, np.inf


def wrong_vjp(upstream, x):
    return 3 * x * upstream


def quiet(function, inputs, **knobs):
    """Return the verdict: nothing printed, nothing raised for a wrong gradient."""
    return gradcheck(function, inputs, raise_exception=False, show_summary=False, **knobs)


def complaint(function, inputs, **knobs):
    """Return the message for a wrong gradient."""
    with pytest.raises(ValueError, match="Gradient check of") as caught:
        gradcheck(function, inputs, show_summary=False, **knobs)
    return str(caught.value)


# --- the verdict -----------------------------------------------------------------------------

# Besides those of torch's check; a number is an input here, and a constant there.
CASES = {name: row[:4] for name, row in PAIRS.items()} | {
    "inputs by name": (
        lambda a, b: a * b,
        {"b": X, "a": X + 1},
        lambda u, a, b: {"a": u * b, "b": u * a},
        lambda u, a, b: {"a": u * a, "b": u * b},
    ),
    "constants": (
        lambda x, k, word: x**k, (X, np.array([1, 2, 3]), "ignored"),
        lambda u, x, k, word: (u * k * x ** (k - 1), None, None),
        lambda u, x, k, word: (u * k * x**k, None, None),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_right_gradient_passes_and_a_wrong_one_does_not(name):
    function, inputs, right, wrong = CASES[name]
    assert quiet(function, inputs, vjp=right) is True
    assert quiet(function, inputs, vjp=wrong) is False
    assert "do not match" in complaint(function, inputs, vjp=wrong)


def test_the_vjp_may_be_an_attribute_and_the_argument_goes_first():
    def function(x):
        return x * x

    function.vjp = wrong_vjp
    assert not quiet(function, X)
    assert quiet(function, X, vjp=square_vjp)
    assert jacobian(function, X)[0, 0][1, 1] == 6


@pytest.mark.parametrize(
    ("claim", "passes"),
    [(4.0, True), (5.5, True), (np.nextafter(5.5, 6), False), (2.5, True),
     (np.nextafter(2.5, 2), False), (INF, False), (NAN, False)],
)  # fmt: skip
def test_allowed_is_atol_plus_rtol_times_the_numeric_value(claim, passes):
    got = quiet(lambda x: 4 * x, 0.0, vjp=lambda u, x: claim * u, atol=0.5, rtol=0.25, eps=0.5)
    assert got is passes


# --- the table -------------------------------------------------------------------------------

HEAD = "Input | Output   | Max Abs Error       | AD at MAE | FD at MAE | Max Rel Error | Pass"


def test_the_table_has_a_row_for_each_pair_and_the_message_names_the_one_that_fails(capsys):
    def wrong(upstream, x, y):
        return pair_vjp(upstream, x, y)[0], 1.5 * upstream[0] * x

    with pytest.raises(ValueError, match="Gradient check of") as caught:
        gradcheck(pair, (X, X + 1), vjp=wrong, eps=STEP)
    assert capsys.readouterr().out.splitlines() == [
        HEAD,
        "-" * len(HEAD),
        "x     | output_0 | 0.000e+00 at (0, 0) | 2.000e+00 | 2.000e+00 | 0.000e+00     | PASS",
        "x     | output_1 | 0.000e+00 at (0, 0) | 1.000e+00 | 1.000e+00 | 0.000e+00     | PASS",
        "y     | output_0 | 1.500e+00 at (2, 2) | 4.500e+00 | 3.000e+00 | 5.000e-01     | FAIL",
        "y     | output_1 | 0.000e+00 at (0, 0) | 0.000e+00 | 0.000e+00 | 0.000e+00     | PASS",
        "Gradient check for function pair failed",
    ]
    assert str(caught.value) == (
        "Gradient check of pair failed:\n"
        "output_0 (output 0) by y (input 1): AD and FD do not match: 3 of 9 entries differ; worst "
        "at [2, 2]: analytic 4.5, numeric 3, error 1.5, allowed 0.031 by rtol"
    )


@pytest.mark.parametrize(
    ("factor", "slope", "row"),
    [
        ([1, 1, 1], [1, 1, 1], ["0.000e+00 at (0, 0)", "2.000e+00", "2.000e+00", "PASS"]),
        ([1, 1, 2], [1, 1, 1], ["2.000e+00 at (2, 2)", "4.000e+00", "2.000e+00", "FAIL"]),
        ([1, NAN, 1], [1, 1, 1], ["nan at (0, 1)", "nan", "0.000e+00", "NaN"]),
        ([1, 1, 1], [1, NAN, 1], ["nan at (1, 0)", "0.000e+00", "nan", "FAIL"]),
        ([1, NAN, 1], [1, NAN, 1], ["nan at (0, 1)", "nan", "0.000e+00", "NaN"]),
    ],
    ids=["right", "wrong", "NaN in AD", "NaN in FD", "NaN in both"],
)
def test_pass_says_pass_fail_or_nan(factor, slope, row, capsys):
    gradcheck(
        lambda x: 2 * x * slope,
        X,
        vjp=lambda u, x: 2 * u * factor,
        eps=STEP,
        raise_exception=False,
    )
    cells = [cell.strip() for cell in capsys.readouterr().out.splitlines()[2].split("|")]
    assert [*cells[2:5], cells[6]] == row


def test_the_relative_error_is_that_of_warp_with_its_hole_at_minus_1e_8(capsys):
    gradcheck(lambda x: -1e-8 * x, 0.0, vjp=lambda u, x: 0.0 * u, eps=0.5)
    assert "| inf           | PASS" in capsys.readouterr().out


def test_without_a_summary_nothing_is_printed(capsys):
    gradcheck(square, X, vjp=square_vjp, show_summary=False)
    jacobian(square, X, vjp=square_vjp)
    jacobian_fd(square, X)
    assert capsys.readouterr() == ("", "")


def printed(monkeypatch, vjp=wrong_vjp, terminal=True, columns="100", no_color=None):
    """Return what is printed on a terminal of that width."""
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", stream)
        patch.setenv("COLUMNS", columns)
        patch.delenv("NO_COLOR", raising=False)
        if no_color is not None:
            patch.setenv("NO_COLOR", no_color)
        gradcheck(square, X, vjp=vjp, eps=STEP, raise_exception=False)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("vjp", "colour", "verdict", "last"),
    [
        (square_vjp, "\033[92m", "PASS", "passed"),
        (wrong_vjp, "\033[91m", "FAIL", "failed"),
        (lambda u, x: NAN * x, "\033[91m", "NaN", "failed"),
    ],
    ids=["right", "wrong", "nan"],
)
def test_a_terminal_gets_colours(vjp, colour, verdict, last, monkeypatch):
    text = printed(monkeypatch, vjp)
    assert f" {colour}{verdict}\033[0m\n" in text
    assert f"\n{colour}Gradient check for function square {last}\033[0m\n" in text
    assert text.count("\033") == 4


@pytest.mark.parametrize(
    ("terminal", "no_color", "coloured"),
    [(True, None, True), (True, "", True), (True, "1", False), (False, None, False)],
)
def test_a_file_gets_no_colours_and_no_color_turns_them_off(
    terminal, no_color, coloured, monkeypatch
):
    text = printed(monkeypatch, terminal=terminal, no_color=no_color)
    assert ("\033" in text) is coloured


def test_a_table_too_wide_for_the_terminal_becomes_paragraphs(monkeypatch):
    assert printed(monkeypatch, columns="50", no_color="1").splitlines() == [
        "Input: x, Output: output_0,",
        "  Max Abs Error: 3.000e+00 at (2, 2),",
        "  AD at MAE: 9.000e+00, FD at MAE: 6.000e+00,",
        "  Max Rel Error: 5.000e-01, Pass: FAIL",
        "Gradient check for function square failed",
    ]


@pytest.mark.parametrize("columns", ["45", "84", "85", "200"])
def test_no_line_of_the_table_is_wider_than_the_terminal(columns, monkeypatch):
    text = printed(monkeypatch, columns=columns, no_color="1")
    assert max(map(len, text.splitlines())) <= int(columns)
    assert text.startswith("Input | ") is (int(columns) >= len(HEAD))


# --- the message -----------------------------------------------------------------------------


def test_the_message_says_where_there_is_nan_and_where_it_comes_from():
    text = complaint(square, X, vjp=lambda u, x: 2 * x * u * [1, NAN, 1])
    assert text.endswith("the result of vjp contains NaN at [0, 1] (3 of 9 entries)")
    text = complaint(lambda x: np.where(x > 2, INF, x), X, vjp=lambda u, x: u * (x <= 2))
    assert text.endswith(
        "the function is not finite near the point: FD is NaN at [1, 1] (4 of 9 entries)"
    )


def test_a_function_that_ignores_its_argument_gets_a_hint():
    own = X.copy()
    text = complaint(lambda x: own * own, X, vjp=square_vjp)
    assert "does the function compute from its arguments? They are copies." in text
    assert "They are copies" not in complaint(square, X, vjp=wrong_vjp)
    assert "They are copies" not in complaint(lambda x: NAN * x, X, vjp=square_vjp)


def test_a_function_without_a_name_can_be_checked(capsys):
    assert gradcheck(partial(square), X, vjp=square_vjp)
    assert capsys.readouterr().out.endswith("Gradient check for function partial passed\n")


# --- masks and limits ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mask", "pairs"),
    [
        (None, [(0, 0), (0, 1), (1, 0), (1, 1)]),
        ([(0, 0)], [(0, 0)]),
        ([("y", "output_0")], [(1, 0)]),
        ([(1, "output_1"), ("x", 0)], [(0, 0), (1, 1)]),
        ([(1, 1), (0, 1), (1, 1)], [(0, 1), (1, 1)]),
        (((np.int64(0), 1),), [(0, 1)]),
    ],
)
def test_a_mask_selects_pairs_by_name_or_position(mask, pairs, capsys):
    inputs = (X, X + 1)
    assert list(jacobian(pair, inputs, vjp=pair_vjp, input_output_mask=mask)) == pairs
    assert list(jacobian_fd(pair, inputs, input_output_mask=mask)) == pairs
    assert gradcheck(pair, inputs, vjp=pair_vjp, input_output_mask=mask)
    rows = capsys.readouterr().out.splitlines()[2:-1]
    assert [("xy".index(row[0]), int(row.split()[2][-1])) for row in rows] == pairs


def test_entries_that_are_not_evaluated_are_nan():
    analytic = jacobian(square, X, vjp=square_vjp, max_outputs_per_var=2)[0, 0]
    numeric = jacobian_fd(square, X, max_inputs_per_var=2, eps=STEP)[0, 0]
    whole = np.diag(2 * X)
    np.testing.assert_array_equal(analytic, np.where([[1], [1], [0]], whole, NAN))
    np.testing.assert_array_equal(numeric, np.where([1, 1, 0], whole, NAN))


@pytest.mark.parametrize("most", [0, -7, 3, 99])
def test_a_limit_that_is_large_or_not_positive_evaluates_everything(most):
    limits = {"max_inputs_per_var": most, "max_outputs_per_var": most}
    assert quiet(square, X, vjp=square_vjp, **limits)
    assert not quiet(square, X, vjp=lambda u, x: square_vjp(u, x) + (u[2] == 1), **limits)


@pytest.mark.parametrize("limited", ["max_inputs_per_var", "max_outputs_per_var"])
def test_a_wrong_entry_beyond_the_limit_is_missed(limited):
    def wrong_at(k):
        return lambda u, x: 2 * x * u * np.where(np.arange(3) == k, 5.0, 1.0)

    assert quiet(square, X, vjp=wrong_at(2), **{limited: 2})
    assert not quiet(square, X, vjp=wrong_at(1), **{limited: 2})


# --- nothing to compare ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "inputs", "error", "words"),
    [
        (square, np.zeros(0), ValueError, r"output_0 \(output 0\) by x \(input 0\): the output or"),
        (lambda x: x[:0], X, ValueError, "nothing to compare"),
        (lambda x, y: y, (np.zeros(0), X), ValueError, r"by x \(input 0\)"),
        (square, np.array([1, 2]), TypeError, "nothing to differentiate"),
        (lambda: 1.0, [], TypeError, "nothing to differentiate"),
        (lambda x: np.sign(x).astype(int), X, TypeError, "it has no derivative"),
    ],
    ids=["empty", "empty output", "one empty", "integers", "none", "int output"],
)
def test_nothing_compared_is_an_error(function, inputs, error, words, capsys):
    def vjp(upstream, *inputs):
        return tuple(np.zeros(np.shape(x)) for x in inputs)

    with pytest.raises(error, match=words):
        gradcheck(function, inputs, vjp=vjp, raise_exception=False)
    assert capsys.readouterr().out == ""


def test_an_empty_input_can_be_left_out():
    inputs = (np.zeros(0), X)
    assert quiet(lambda x, y: y, inputs, vjp=lambda u, x, y: (x, u), input_output_mask=[("y", 0)])


def test_empty_arrays_have_empty_jacobians():
    assert jacobian(square, np.zeros(0), vjp=square_vjp)[0, 0].shape == (0, 0)
    assert jacobian_fd(lambda x: X, np.zeros(0))[0, 0].shape == (3, 0)


# --- the Jacobians ---------------------------------------------------------------------------


def test_a_complex_entry_is_two_coordinates():
    expected = [[2.0, -4.0], [4.0, 2.0]]  # of (x + iy)^2 at 1 + 2i
    z = np.array(1 + 2j)
    found = jacobian(lambda z: z * z, z, vjp=lambda u, z: 2 * np.conj(z) * u)[0, 0]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(jacobian_fd(lambda z: z * z, z, eps=STEP)[0, 0], expected)


def test_the_difference_is_of_second_order():
    for h in (0.5, 0.25, 0.125):
        assert jacobian_fd(lambda x: x**3, 2.0, eps=h)[0, 0] == 12 + h * h


def test_an_accumulating_vjp_is_found_by_a_call_per_input():
    kept = np.zeros(3)

    def accumulating(upstream, x, y):
        kept[:] += upstream
        return kept, kept

    def total(x, y):
        return np.sum(x + y)

    assert not quiet(total, (X, X), vjp=accumulating)
    kept[:] = 0
    assert quiet(np.sum, X, vjp=lambda u, x: accumulating(u, x, x)[0]), "called only once"


# --- the step --------------------------------------------------------------------------------


def test_the_step_divided_by_is_the_step_taken():
    assert jacobian_fd(lambda x: x, 1.23e10)[0, 0] == 1.0


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (1e20, r"x\[1\] = 1e\+20 to another finite float64 \(the next is 1.6e\+04 away"),
        (np.float32(3000.0), r"x\[1\] = 3000 to another finite float32"),
        (complex(0, 1e20), r"the imaginary part of x\[1\] = 1e\+20"),
    ],
)
def test_a_step_that_does_not_move_an_input_is_an_error_and_not_a_wrong_gradient(x, words):
    point = np.array([0, x], np.asarray(x).dtype)
    with pytest.raises(ValueError, match=words):
        quiet(square, point, vjp=square_vjp)
    assert quiet(square, point, vjp=lambda u, x: 2 * x * u, max_inputs_per_var=1)


def test_a_step_beyond_the_largest_number_is_an_error():
    with pytest.raises(ValueError, match="to another finite float16"):
        quiet(square, np.ones(1, np.float16), vjp=square_vjp, eps=7e4)


# --- arguments -------------------------------------------------------------------------------

# What is refused before anything is called: the argument, the error, and what it says.
REFUSED = {
    "no step": ({"eps": 0.0}, ValueError, "eps must be"),
    "no rtol": ({"rtol": -1.0}, ValueError, "rtol must be"),
    "no vjp": ({"vjp": None}, TypeError, "give it one, or pass vjp="),
    "a vjp that is none": ({"vjp": 3}, TypeError, "vjp must be a function"),
    "no function": ({"function": 3}, TypeError, "function must be a function"),
    "a limit of inputs": (
        {"max_inputs_per_var": 2.0}, TypeError, "max_inputs_per_var must be an integer",
    ),
    "a limit of outputs": (
        {"max_outputs_per_var": None}, TypeError, "max_outputs_per_var must be an integer",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("knobs", "error", "words"), REFUSED.values(), ids=REFUSED)
def test_bad_arguments_are_refused_before_anything_is_called(knobs, error, words):
    with pytest.raises(error, match=words):
        gradcheck(**({"function": never, "inputs": X, "vjp": never} | knobs))


# What a mask may not hold.
MASKS = {
    "nothing": ([], "is empty"),
    "an unknown name": (
        [("z", 0)], r"the input 'z', but there is only x \(0\), y \(1\), k \(2\)",
    ),
    "an unknown output": (
        [(0, "output_2")], r"output 'output_2', but there is only output_0 \(0\), output_1 \(1\)",
    ),
    "an unknown position": ([(0, 0), (3, 0)], "the input 3"),
    "a negative one": ([(-1, 0)], "the input -1"),
    "a fraction": ([(0.0, 0)], "the input 0.0"),
    "an input of integers": ([(2, 0)], "k is not a floating point array"),
    "an output of integers": ([(0, 1)], "output_1 is not a floating point array"),
    "a pair alone": (("x", "output_0"), "not str 'x'"),
    "no sequence": (3, "not int 3"),
    "one": ([(0,)], r"not tuple \(0,\)"),
}  # fmt: skip


@pytest.mark.parametrize(("mask", "words"), MASKS.values(), ids=MASKS)
def test_a_mask_with_an_unknown_name_is_an_error(mask, words):
    with pytest.raises(ValueError, match=words):
        jacobian_fd(lambda x, y, k: (x * y, k), (X, X, np.array([1, 2])), input_output_mask=mask)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (lambda u, x, y: (u * y, (u * x)[:, None]), ValueError, r"shape \(3, 1\) for y, which"),
        (lambda u, x, y: u * y, ValueError, "no gradient for x, y: it must give a tuple of 2"),
        (lambda u, x, y: (u * y, 1j * u), TypeError, "complex numbers for y, which is real"),
    ],
    ids=["column", "one", "complex"],
)
def test_a_gradient_of_another_shape_or_kind_is_always_an_error(given, error, words):
    with pytest.raises(error, match=words):
        quiet(lambda x, y: x * y, (X, X), vjp=given)


@pytest.mark.parametrize("dtype", [np.float32, np.longdouble, np.complex64])
def test_other_precisions_are_checked_and_computed_in_float64_at_least(dtype):
    x = X.astype(dtype) / 4
    found = jacobian_fd(square, x, eps=STEP)[0, 0]
    assert found.dtype == (np.longdouble if dtype == np.longdouble else np.float64)
    assert quiet(square, x, vjp=lambda u, x: 2 * np.conj(x) * u, eps=STEP)
    assert not quiet(square, x, vjp=lambda u, x: 3 * np.conj(x) * u, eps=STEP)


# --- the caller's arrays ---------------------------------------------------------------------


def test_the_callers_arrays_are_never_written_and_each_call_gets_fresh_copies():
    def scribbling(x, y):
        value = x * y
        y[:] = 99 if x[0] != 1 else y
        return value

    def scribbling_vjp(upstream, x, y):
        gradients = y * upstream, x * upstream
        x[:] = upstream[:] = 99
        return gradients

    x, y = X.copy(), X + 1
    assert quiet(scribbling, (x, y), vjp=scribbling_vjp)
    np.testing.assert_array_equal([x, y], [X, X + 1])


def test_an_exception_leaves_the_point_unchanged_and_names_its_origin():
    def fragile(x):
        if x[1] < 2:
            raise KeyboardInterrupt("no")
        return x * x

    x = X.copy()
    with pytest.raises(KeyboardInterrupt) as caught:
        gradcheck(fragile, x, vjp=square_vjp)
    np.testing.assert_array_equal(x, X)
    assert caught.value.__notes__ == ["in gradcheck_ref, calling f at x with x[1] moved by -0.0001"]
