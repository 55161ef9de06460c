"""TVM's check_numerical_grads: its contract; ``tvm_edges.py`` says what comes of a call."""

import logging
import math
import re
from contextlib import nullcontext

import numpy as np
import pytest
from edge_cases import Counted, never
from tvm_edges import EDGES, ROWS, X, square

from gradcheck_ref.compat.tvm import check_numerical_grads

H = 2.0**-10  # with it, and with numbers of few bits, all slopes below are exact
ONE = np.ones(1)


def linear(w):
    """Rise by 1 per unit of every entry: forward, central and five-point slopes are all 1."""
    return np.sum(w)


def refused(*args, **kwargs):
    """Return what an AssertionError says."""
    with pytest.raises(AssertionError) as caught:
        check_numerical_grads(*args, **kwargs)
    return str(caught.value)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("_", "kind", "args"), ROWS, ids=EDGES)
def test_each_edge_case_of_tvm_has_the_outcome_in_the_table(_, kind, args):
    with np.errstate(all="ignore"), pytest.raises(kind) if kind else nullcontext() as caught:
        check_numerical_grads(*args)
    assert kind is (caught and caught.type)


# --- the rule, to the last bit ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "claimed", "passes"),
    [(1, 1.75, True), (1, np.nextafter(1.75, 2), False), (4, 1.75, True), (4, 1.7500001, False)],
)
def test_the_allowance_is_atol_per_entry_plus_rtol_times_the_norm(n, claimed, passes):
    arguments = linear, [np.ones(n)], [np.full(n, claimed)]
    knobs = {"delta": H, "atol": 0.25, "rtol": 0.5}
    if passes:
        check_numerical_grads(*arguments, **knobs)
    else:
        assert f"> 0.25 * {math.sqrt(n)} + 0.5 * {math.sqrt(n)}" in refused(*arguments, **knobs)


def test_the_numeric_gradient_is_the_reference():
    check_numerical_grads(linear, [ONE], [0 * ONE], delta=H, atol=0, rtol=1)
    refused(linear, [ONE], [2.5 * ONE], delta=H, atol=0, rtol=1)


def forward(x):
    """Slope of the square one step ahead, with the step H."""
    return 2 * x + H


@pytest.mark.parametrize(
    ("gradient", "atol", "per_entry"),
    [
        (forward(X), 1e-9, 1),
        (2 * X, H, 2),
        (2 * X, np.nextafter(H, 1), 1),
        (3 * X, 1e-9, 4),
    ],
    ids=["forward-agrees", "forward-is-off-by-atol", "by-less", "none-agrees"],
)
def test_the_next_formula_is_tried_only_where_the_last_is_not_strictly_close(
    gradient, atol, per_entry
):
    f = Counted(square)
    with pytest.raises(AssertionError) if per_entry == 4 else nullcontext():
        check_numerical_grads(f, [X], [gradient], delta=H, atol=atol, rtol=0)
    assert f.calls == 1 + per_entry * X.size


def test_the_five_point_formula_is_exact_where_the_others_are_not():
    def quartic(x):
        return np.sum(x**4)

    x, knobs = np.array([0.5, 1.0]), {"delta": 0.25, "atol": 1e-12, "rtol": 0}
    check_numerical_grads(quartic, [x], [4 * x**3], **knobs)
    refused(quartic, [x], [(1 + 1e-9) * 4 * x**3], **knobs)
    # What the central difference says, by mistake, is believed, since it is asked first.
    check_numerical_grads(quartic, [x], [4 * x**3 + 4 * x * 0.25**2], **knobs)


def test_the_first_gradient_that_is_wrong_is_reported_in_the_order_of_the_gradients(caplog):
    caplog.set_level(logging.INFO)
    wrong = 3 * ONE
    inputs, grads = dict.fromkeys("abc", ONE), {"c": ONE, "a": wrong, "b": wrong}
    assert "to 'a'" in refused(lambda a, b, c: np.sum(a + b + c), inputs, grads)
    assert [record.args[0] for record in caplog.records] == ["c"]


# --- the contract ----------------------------------------------------------------------------


def test_success_is_silent_and_leaves_a_record_with_the_distance_and_the_errors(caplog, capsys):
    caplog.set_level(logging.INFO)
    claimed = np.array([[1.0, 1.0, 1.0], [1.0, 1.5, 1.0]])
    assert check_numerical_grads(linear, {"w": X}, {"w": claimed}, delta=H, atol=0.5) is None
    (record,) = caplog.records
    assert record.name == "gradcheck_ref.compat.tvm"
    assert record.args == ("w", (2, 3), 0.5, 0.5, 0.5 / 6)
    assert record.getMessage() == (
        "gradient with respect to 'w' of shape (2, 3): "
        "distance 0.5, largest error 0.5, mean error 0.0833333"
    )
    assert capsys.readouterr() == ("", "")


def test_a_failure_names_the_input_the_difference_and_the_rule():
    claimed = np.ones((2, 6))
    claimed[0] = 4.0
    claimed[1, :5] = -1.0
    text = refused(linear, {"w": np.ones((2, 6))}, {"w": claimed}, delta=H, atol=0.25, rtol=0.5)
    head, *_, places, words, numbers = text.splitlines()
    assert head == ("the gradient with respect to 'w' is wrong: distance 8.602 > allowed 2.598")
    assert str(claimed) in text
    assert str(np.ones((2, 6))) in text
    assert places == (
        "91% of the entries differ, the first at [0, 0], [0, 1], [0, 2], [0, 3], [0, 4], [0, 5], "
        "[1, 0], [1, 1], [1, 2], [1, 3]"
    )
    assert words == "distance = |claimed - numeric|, allowed = atol sqrt(n) + rtol |numeric|"
    root = math.sqrt(12)
    assert numbers == f"{math.hypot(*[3] * 6, *[2] * 5)} > 0.25 * {root} + 0.5 * {root}"


@pytest.mark.parametrize("shape", [(), (3, 1), (0,)], ids=str)
def test_a_gradient_of_another_shape_is_wrong(shape):
    text = refused(linear, {"w": np.ones(3)}, {"w": np.ones(shape)})
    assert text == (
        f"the gradient with respect to 'w' has shape {shape}, but the input has shape (3,)"
    )


def test_a_complex_gradient_of_a_real_input_is_wrong():
    assert "is complex, but the input is real" in refused(square, [X], [2 * X + 0j])


def test_a_constant_function_is_asked_if_it_uses_its_argument():
    assert refused(lambda _: square(X), [X], [2 * X]).endswith("does it use its argument?")
    assert "argument?" not in refused(square, [X], [-2 * X])


# What is refused: the call, the error, and what it says.
REFUSED = {
    "a longer list": (
        (never, [X], [X, X]), KeyError, "grad_values has 1, but input_values has only 0",
    ),
    "an unknown name": (
        (never, {"a": X}, {"b": X}), KeyError, "grad_values has 'b', but input_values has only 'a'",
    ),
    "no inputs": ((never, [], [X]), KeyError, "input_values has only nothing"),
    "NaN": (
        (lambda w: math.nan, {"w": X}, {"w": X}), ValueError,
        r"NaN or infinity .* 'w'\nclaimed:\n(.|\n)*\nnumeric:\n",
    ),
    "an integer input": (
        (never, [np.arange(3)], [X]), TypeError, r"input_values\[0\] holds int64",
    ),
    "an infinite input": (
        (never, {"w": [1.0, np.inf]}, {"w": X}), ValueError, r"input_values\['w'\]\[1\] is inf",
    ),
    "no gradient": ((never, {"w": X}, {"w": "ab"}), TypeError, r"grad_values\['w'\] must"),
    "no step": ((never, [X], [X], None, 0.0), ValueError, "delta must be"),
    "no atol": ((never, [X], [X], None, H, -1.0), ValueError, "atol must be"),
    "no rtol": ((never, [X], [X], None, H, 1.0, "1"), TypeError, "rtol must be"),
    "no value": ((never, [X], [X], ONE), TypeError, "function_value must be one real number"),
    "a vector": ((lambda x: x, [np.ones(3)], [np.ones(3)]), ValueError, r"not an array of shape"),
    "None": ((lambda x: None, [ONE], [ONE]), TypeError, "not None"),
    "no function": ((None, [X], [X]), TypeError, "function must be a function"),
    "a list and a dict": ((never, [X], {"x": X}), TypeError, "both sequences or both dicts"),
    "no sequence of inputs": (
        (never, 1.0, [X]), TypeError, "input_values must be a sequence or a dict of arrays",
    ),
    "no sequence of gradients": (
        (never, [X], None), TypeError, "grad_values must be a sequence or a dict of arrays",
    ),
    "nothing to compare": (
        (lambda *x: 1.0, [np.zeros(0), X], [np.zeros(0)]), ValueError,
        "nothing was compared: grad_values holds no entries",
    ),
    "a norm beyond the largest float": (
        (lambda x: 1.5e308 * np.sum(x), [np.zeros(2)], [np.full(2, 1.5e308)]), ValueError,
        "NaN or infinity",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("args", "error", "words"), REFUSED.values(), ids=REFUSED)
def test_each_refusal_has_its_words(args, error, words):
    with pytest.raises(error) as caught:
        check_numerical_grads(*args)
    assert re.search(words, caught.value.args[0])


def test_a_string_without_a_gradient_is_a_constant():
    check_numerical_grads(lambda x, how: square(x) if how == "k" else None, [X, "k"], [2 * X])


def test_an_exception_of_the_function_is_passed_on_with_the_place():
    def stumbles(w):
        if w[1] > 2:
            raise ZeroDivisionError("at last")
        return np.sum(w)

    with pytest.raises(ZeroDivisionError, match="at last") as caught:
        check_numerical_grads(stumbles, {"w": np.array([1.0, 2.0])}, {"w": np.ones(2)})
    assert caught.value.__notes__ == [
        "in gradcheck_ref, calling f at x with x[1] moved by +0.001",
        "x is input_values['w'] of check_numerical_grads, h is its delta",
    ]


# --- differs on purpose ----------------------------------------------------------------------


def test_both_directions_of_a_complex_input_count():
    z = np.array([1.0 + 2.0j, -0.5j])
    check_numerical_grads(lambda z: np.sum(np.abs(z) ** 2), [z], [2 * z])


def test_a_function_that_writes_to_its_arguments_does_no_harm():
    def greedy(x, y):
        value = np.sum(x * y)
        x += 1
        y *= 2
        return value

    x, y = X.copy(), X[::-1].copy()
    check_numerical_grads(greedy, [x, y], [y, x])
    check_numerical_grads(greedy, [x, y], [y])
    refused(greedy, [x, y], [y, 2 * x])
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, X[::-1])


def test_a_function_may_return_the_same_buffer_each_time():
    buffer = np.zeros(())

    def loss(x, y):
        buffer[...] = np.sum(x) + 2 * np.sum(y)
        return buffer

    check_numerical_grads(loss, [X, X], [np.ones(X.shape), np.full(X.shape, 2.0)])
    refused(loss, [X, X], [np.ones(X.shape), np.ones(X.shape)])
