"""TVM's check_numerical_grads: its contract, its calibrated controls, and what differs from it."""

import itertools
import logging
import math
import re

import numpy as np
import pytest
from edge_cases import (
    LAYOUTS,
    NO_POINTS,
    NO_STEPS,
    NO_VALUES,
    Counted,
    bowl,
    bowl_gradient,
    never,
)

from gradcheck_ref.compat.tvm import check_numerical_grads
from gradcheck_ref.zoo import all_cases
from gradcheck_ref.zoo.problem import problems

H = 2.0**-10  # with it, and with numbers of few bits, all slopes below are exact
X = np.array([[0.5, 1.0, 1.5], [2.0, 2.5, 3.0]])


def square(x):
    return np.sum(x * x)


def linear(w):
    """Rise by 1 per unit of every entry: forward, central and five-point slopes are all 1."""
    return np.sum(w)


def refused(*args, **kwargs):
    """Return what an AssertionError says."""
    with pytest.raises(AssertionError) as caught:
        check_numerical_grads(*args, **kwargs)
    return str(caught.value)


# --- calibrated controls: ten functions, alone and in pairs ----------------------------------

ELEMENTWISE = {
    "cube": (lambda x: x**3, lambda x: 3 * x**2),
    "square": (lambda x: x**2, lambda x: 2 * x),
    "absolute": (np.abs, np.sign),
    "log": (lambda x: np.log(np.abs(x)), lambda x: 1 / x),
    "root": (lambda x: np.sqrt(np.abs(x)), lambda x: np.sign(x) / (2 * np.sqrt(np.abs(x)))),
    "reciprocal": (lambda x: 1 / x, lambda x: -1 / x**2),
    "flat": (lambda x: np.sign(np.sin(1 / x)), np.zeros_like),
    "wave": (lambda x: x * np.sin(1 / x), lambda x: np.sin(1 / x) - np.cos(1 / x) / x),
    "fast-wave": (lambda x: np.sin(1 / x), lambda x: -np.cos(1 / x) / x**2),
    "tangent": (np.tan, lambda x: 1 / np.cos(x) ** 2),
}
POINT = np.random.default_rng(0).uniform(0.5, 10, (2, 3, 4))
SPREAD = np.random.default_rng(1).normal(size=(3, 4))
SINGLE = np.eye(3, 4, 2) * np.eye(3)[:, :1]  # all in entry [0, 2]
NOISES = {"spread": SPREAD, "single": SINGLE}


def moved_away(gradient, noise, share):
    """Move a gradient by a share of the distance that is allowed."""
    allowed = 1e-2 * math.sqrt(gradient.size) + 0.1 * np.linalg.norm(gradient)
    return gradient + share * allowed * noise / np.linalg.norm(noise)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize(("f", "slope"), ELEMENTWISE.values(), ids=ELEMENTWISE)
def test_a_gradient_passes_within_the_allowed_distance_and_fails_beyond(f, slope, noise):
    x = POINT[0]

    def loss(x):
        return np.sum(f(x))

    check_numerical_grads(loss, [x], [slope(x)])
    check_numerical_grads(loss, [x], [moved_away(slope(x), noise, 0.5)])
    refused(loss, [x], [moved_away(slope(x), noise, 2)])


PAIRS = {f"{a}-{b}": (a, b) for a, b in itertools.combinations(ELEMENTWISE, 2)}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("first", "second"), PAIRS.values(), ids=PAIRS)
def test_two_inputs_are_told_apart_by_position_and_by_name(first, second):
    (f, f_slope), (g, g_slope) = ELEMENTWISE[first], ELEMENTWISE[second]
    x, y = POINT
    right = f_slope(x), g_slope(y)

    def loss(x, y):
        return np.sum(f(x)) + np.sum(g(y))

    check_numerical_grads(loss, [x, y], right)
    check_numerical_grads(loss, {"y": y, "x": x}, dict(zip("xy", right, strict=True)))
    wrong = right[0], moved_away(right[1], SPREAD, 2)
    assert "respect to '1'" in refused(loss, (x, y), wrong)
    assert "respect to 'y'" in refused(loss, {"y": y, "x": x}, dict(zip("xy", wrong, strict=True)))


# --- the rule, to the last bit ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "claimed", "passes"),
    [(1, 1.75, True), (1, np.nextafter(1.75, 2), False), (4, 1.75, True), (4, 1.7500001, False)],
)
def test_the_allowance_is_that_of_atol_in_every_entry_plus_rtol_of_the_norm(n, claimed, passes):
    arguments = linear, [np.ones(n)], [np.full(n, claimed)]
    knobs = {"delta": H, "atol": 0.25, "rtol": 0.5}
    if passes:
        check_numerical_grads(*arguments, **knobs)
    else:
        assert f"> 0.25 * {math.sqrt(n)} + 0.5 * {math.sqrt(n)}" in refused(*arguments, **knobs)


def test_the_numeric_gradient_is_the_reference():
    check_numerical_grads(linear, [np.ones(1)], [np.zeros(1)], delta=H, atol=0, rtol=1)
    refused(linear, [np.ones(1)], [np.full(1, 2.5)], delta=H, atol=0, rtol=1)


def forward(x):
    """Slope of the square one step ahead, with the step H."""
    return 2 * x + H


@pytest.mark.parametrize(
    ("gradient", "atol", "per_entry"),
    [
        (forward(X), 1e-9, 1),
        (2 * X, 1e-9, 2),
        (2 * X, H, 2),
        (2 * X, np.nextafter(H, 1), 1),
        (3 * X, 1e-9, 4),
    ],
    ids=["forward-agrees", "central-agrees", "forward-is-off-by-atol", "by-less", "none-agrees"],
)
def test_the_next_formula_is_tried_only_where_the_last_is_not_strictly_close(
    gradient, atol, per_entry
):
    f = Counted(square)
    try:
        check_numerical_grads(f, [X], [gradient], delta=H, atol=atol, rtol=0)
    except AssertionError:
        assert per_entry == 4
    else:
        assert per_entry < 4
    assert f.calls == 1 + per_entry * X.size


def test_the_five_point_formula_is_exact_where_the_others_are_not():
    def quartic(x):
        return np.sum(x**4)

    x, knobs = np.array([0.5, 1.0]), {"delta": 0.25, "atol": 1e-12, "rtol": 0}
    check_numerical_grads(quartic, [x], [4 * x**3], **knobs)
    refused(quartic, [x], [(1 + 1e-9) * 4 * x**3], **knobs)
    # What the central difference says, by mistake, is believed, since it is asked first.
    check_numerical_grads(quartic, [x], [4 * x**3 + 4 * x * 0.25**2], **knobs)


def test_all_variables_share_one_value_at_the_point():
    calls = []

    def loss(x, y):
        calls.append((x, y))
        return np.sum(x) + np.sum(y)

    check_numerical_grads(loss, [np.ones(3), np.ones(2)], [np.ones(3), np.ones(2)], delta=H)
    assert len(calls) == 1 + 3 + 2


@pytest.mark.parametrize("kind", [float, np.float32, np.array], ids=["float", "float32", "0-d"])
def test_a_value_that_is_given_saves_an_evaluation(kind):
    f = Counted(linear)
    check_numerical_grads(f, [np.ones(3)], [np.ones(3)], kind(3.0), delta=H)
    assert f.calls == 3


def test_a_value_that_is_given_is_believed():
    x, claimed = np.ones(3), np.full(3, 2.0)
    # Off by one step's rise, it doubles the forward slope, and what is not there agrees with it.
    check_numerical_grads(linear, [x], [claimed], function_value=3.0 - H, delta=H)
    refused(linear, [x], [claimed], function_value=3.0, delta=H)
    # The central slope does not need it.
    check_numerical_grads(linear, [x], [np.ones(3)], function_value=-7.0, delta=H)


def test_the_first_gradient_that_is_wrong_is_the_one_reported():
    def loss(a, b, c):
        return np.sum(a) + np.sum(b) + np.sum(c)

    ones, wrong = np.ones(2), np.full(2, 3.0)
    assert "to 'b'" in refused(
        loss, {"a": ones, "b": ones, "c": ones}, {"a": ones, "b": wrong, "c": wrong}
    )
    # The order is that of the gradients.
    assert "to 'c'" in refused(
        loss, {"a": ones, "b": ones, "c": ones}, {"c": wrong, "a": ones, "b": wrong}
    )


# --- the contract ----------------------------------------------------------------------------


def test_success_is_silent(capsys):
    assert check_numerical_grads(square, [X], [2 * X]) is None
    assert capsys.readouterr() == ("", "")


def test_success_leaves_a_record_with_the_distance_and_the_errors(caplog):
    caplog.set_level(logging.INFO)
    claimed = np.array([[1.0, 1.0, 1.0], [1.0, 1.5, 1.0]])
    check_numerical_grads(linear, {"w": X}, {"w": claimed}, delta=H, atol=0.5)
    (record,) = caplog.records
    assert record.name == "gradcheck_ref.compat.tvm"
    assert record.args == ("w", (2, 3), 0.5, 0.5, 0.5 / 6)
    assert record.getMessage() == (
        "gradient with respect to 'w' of shape (2, 3): "
        "distance 0.5, largest error 0.5, mean error 0.0833333"
    )


def test_each_gradient_has_its_record_up_to_the_first_that_fails(caplog):
    caplog.set_level(logging.INFO)
    ones = np.ones(1)
    refused(lambda a, b, c: np.sum(a + b + c), [ones] * 3, [ones, 3 * ones, ones])
    assert [record.args[0] for record in caplog.records] == ["0"]


def test_a_failure_says_what_was_compared_where_it_differs_and_by_what_rule():
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


def test_the_share_of_wrong_entries_is_rounded_down():
    claimed = np.array([1.0, 1.0, 9.0])
    assert "33% of the entries" in refused(linear, [np.ones(3)], [claimed])


@pytest.mark.parametrize("shape", [(), (1,), (3, 1), (1, 3), (4,), (0,)], ids=str)
def test_a_gradient_of_another_shape_is_wrong(shape):
    text = refused(linear, {"w": np.ones(3)}, {"w": np.ones(shape)})
    assert text == (
        f"the gradient with respect to 'w' has shape {shape}, but the input has shape (3,)"
    )


@pytest.mark.parametrize(
    ("inputs", "grads"),
    [([X, X], [X]), ({"a": X, "b": X}, {"a": X}), ([X, "k"], [X]), ([X, 3], [X])],
    ids=["shorter-list", "subset", "a-string-is-constant", "an-integer-is-constant"],
)
def test_inputs_without_a_gradient_are_constants(inputs, grads):
    check_numerical_grads(lambda a, b: np.sum(a * a) / 2, inputs, grads)
    with pytest.raises(AssertionError):
        check_numerical_grads(lambda a, b: np.sum(a * a), inputs, grads)


@pytest.mark.parametrize(
    ("inputs", "grads", "words"),
    [([X], [X, X], "grad_values has 1, but input_values has only 0"),
     ({"a": X}, {"b": X}, "grad_values has 'b', but input_values has only 'a'"),
     ([], [X], "input_values has only nothing")],
    ids=["longer-list", "unknown-name", "no-inputs"],
)  # fmt: skip
def test_a_gradient_without_an_input_is_a_key_error(inputs, grads, words):
    with pytest.raises(KeyError) as caught:
        check_numerical_grads(never, inputs, grads)
    assert words in caught.value.args[0]


@pytest.mark.parametrize(
    ("f", "x", "claimed"),
    [
        (lambda x: math.nan, 1.0, 0.0),
        (lambda x: math.inf, 1.0, 0.0),
        (lambda x: -1 / abs(x) if x else -math.inf, 0.0, 0.0),
        (lambda x: x * x if x <= 1 else math.nan, 1.0, 3.0),
        (lambda x: x * x if x == 1 else math.inf, 1.0, 2.0),
        (square, 1.0, math.nan),
        (square, 1.0, math.inf),
    ],
    ids=["nan", "inf", "inf-at-x-only", "nan-ahead", "inf-around-x", "claims-nan", "claims-inf"],
)  # fmt: skip
def test_what_is_not_finite_is_a_value_error_that_names_the_variable(f, x, claimed):
    with pytest.raises(ValueError, match=r"NaN or infinity .* 'w'\nclaimed:\n.*\nnumeric:\n"):
        check_numerical_grads(lambda w: f(w[0]), {"w": np.array([x])}, {"w": np.array([claimed])})


def test_nan_ahead_does_no_harm_where_it_is_not_met():
    def root(x):
        return np.sum(np.sqrt(x)) if np.all(x >= 0) else math.nan

    x = np.array([1e-4])  # a step behind is outside; the step ahead suffices for this claim
    ahead = (math.sqrt(1e-4 + H) - 1e-2) / H
    check_numerical_grads(root, [x], [np.array([ahead])], delta=H)


# --- what it cannot see ----------------------------------------------------------------------


@pytest.mark.parametrize(("n", "caught"), [(10, True), (40, True), (41, False), (1000, False)])
def test_one_doubled_entry_is_diluted_from_41_entries_on(n, caught):
    x = np.linspace(1, 2, n)
    claimed = 2 * x
    claimed[0] *= 2
    if caught:
        refused(square, [x], [claimed])
    else:
        check_numerical_grads(square, [x], [claimed])


@pytest.mark.parametrize(("share", "caught"), [(1.09, False), (1.12, True)])
def test_a_factor_near_one_passes_at_any_size(share, caught):
    x = np.linspace(1, 2, 100)
    if caught:
        refused(square, [x], [share * 2 * x])
    else:
        check_numerical_grads(square, [x], [share * 2 * x])


@pytest.mark.parametrize(("scale", "caught"), [(1e-3, False), (1e-2, True)])
def test_a_gradient_below_atol_may_be_anything(scale, caught):
    if caught:
        refused(lambda x: scale * square(x), [X], [0 * X])
    else:
        check_numerical_grads(lambda x: scale * square(x), [X], [0 * X])


@pytest.mark.parametrize(("claimed", "passes"), [(0.0, True), (1.0, True), (-1.0, False)])
def test_at_a_kink_the_slope_ahead_and_the_mean_pass_and_the_slope_behind_does_not(claimed, passes):
    if passes:
        check_numerical_grads(lambda x: np.sum(np.abs(x)), [np.zeros(1)], [np.array([claimed])])
    else:
        refused(lambda x: np.sum(np.abs(x)), [np.zeros(1)], [np.array([claimed])])


def zoo_gradient(name):
    """Check one of the zoo's gradients, the right one of a case or a bug, input by input."""
    case = next(case for case in all_cases() if case.name == name.split("/")[0])
    vjps = {case.name: case.vjp} | {bug.id: bug.vjp for bug in case.bugs}
    with np.errstate(all="ignore"):
        for problem in problems(case, vjps[name]):
            check_numerical_grads(problem.f, [problem.x], [problem.claimed])


@pytest.mark.parametrize(
    "name",
    ["relu_at_zero", "iris_classifier/first-flower-left-out", "float32_softplus/five-per-cent",
     "tiny_loss/sign", "tiny_loss/zero", "relu_near_zero/slope-half"],
)  # fmt: skip
def test_what_the_docstring_says_to_pass_does(name):
    zoo_gradient(name)


@pytest.mark.parametrize(
    ("name", "error"),
    [("very_fast_sine", AssertionError), ("logarithm_near_zero", ValueError),
     ("relu_at_zero/mask-dropped", AssertionError), ("huge_loss/sign", AssertionError)],
)  # fmt: skip
def test_what_the_docstring_says_to_alarm_does(name, error):
    with pytest.raises(error):
        zoo_gradient(name)


# --- bad arguments ---------------------------------------------------------------------------


@pytest.mark.parametrize(("x", "error", "words"), NO_POINTS.values(), ids=NO_POINTS)
@pytest.mark.parametrize("key", [0, "w"])
def test_what_is_no_point_is_refused_by_name(x, error, words, key):
    inputs, grads = ([x], [1.0]) if key == 0 else ({"w": x}, {"w": 1.0})
    with pytest.raises(error) as caught:
        check_numerical_grads(never, inputs, grads)
    for word in words:
        assert re.sub(r"\bx\b", f"input_values[{key!r}]", word) in str(caught.value)


@pytest.mark.parametrize("bad", ["ab", None, [None], [[1.0], [1.0, 2.0]]], ids=repr)
def test_what_is_no_gradient_is_refused_by_name(bad):
    with pytest.raises(TypeError, match=r"grad_values\['w'\] must"):
        check_numerical_grads(never, {"w": X}, {"w": bad})


@pytest.mark.parametrize(("delta", "error", "words"), NO_STEPS.values(), ids=NO_STEPS)
def test_what_is_no_step_is_refused(delta, error, words):
    with pytest.raises(error, match=re.escape(words)) as caught:
        check_numerical_grads(never, [X], [X], delta=delta)
    assert str(caught.value).startswith("delta must be")


@pytest.mark.parametrize("name", ["atol", "rtol"])
@pytest.mark.parametrize(
    ("value", "error"),
    [(-1.0, ValueError), (math.nan, ValueError), (math.inf, ValueError), ("1", TypeError)],
)
def test_a_tolerance_is_one_number_zero_or_positive(name, value, error):
    with pytest.raises(error, match=f"{name} must be"):
        check_numerical_grads(never, [X], [X], **{name: value})


@pytest.mark.parametrize("value", ["1", [1.0], np.ones(1), 1j, True], ids=repr)
def test_a_function_value_is_one_real_number(value):
    with pytest.raises(TypeError, match="function_value must be one real number"):
        check_numerical_grads(never, [X], [X], function_value=value)


@pytest.mark.parametrize(("f", "error", "words"), NO_VALUES.values(), ids=NO_VALUES)
def test_what_is_no_value_of_a_scalar_function_is_refused_in_words(f, error, words):
    with pytest.raises(error, match=re.escape(words)):
        check_numerical_grads(f, [np.ones(3)], [np.ones(3)])


@pytest.mark.parametrize("bad", [None, "f", X], ids=["None", "string", "array"])
def test_what_is_no_function_is_refused(bad):
    with pytest.raises(TypeError, match="function must be a function"):
        check_numerical_grads(bad, [X], [X])


@pytest.mark.parametrize(
    ("inputs", "grads"), [([X], {"x": X}), ({"x": X}, [X])], ids=["list-dict", "dict-list"]
)
def test_a_sequence_and_a_dict_do_not_go_together(inputs, grads):
    with pytest.raises(TypeError, match="both sequences or both dicts"):
        check_numerical_grads(never, inputs, grads)


@pytest.mark.parametrize("bad", [None, 1.0, np.array(1.0)], ids=repr)
def test_inputs_come_in_a_sequence_or_a_dict(bad):
    with pytest.raises(TypeError, match="input_values must be a sequence or a dict of arrays"):
        check_numerical_grads(never, bad, [X])
    with pytest.raises(TypeError, match="grad_values must be a sequence or a dict of arrays"):
        check_numerical_grads(never, [X], bad)


def test_what_the_function_raises_is_passed_on_with_the_place():
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


NOT_EMPTY = {name: x for name, x in LAYOUTS.items() if np.size(x)}


@pytest.mark.parametrize("x", NOT_EMPTY.values(), ids=NOT_EMPTY)
def test_wherever_the_numbers_lie_the_right_gradient_passes_and_a_wrong_one_fails(x):
    before = np.array(x, copy=True)
    right = bowl_gradient(x)
    for claimed in (right, np.array(right, order="F")):
        check_numerical_grads(bowl, [x], [claimed])
        refused(bowl, [x], [-claimed])
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("empty", [np.zeros(0), np.zeros((2, 0)), []], ids=["(0,)", "(2, 0)", "[]"])
def test_an_empty_input_passes_beside_others_and_never_alone(empty, caplog):
    caplog.set_level(logging.INFO)

    def loss(x, y):
        return np.sum(x) + np.sum(y)

    check_numerical_grads(loss, [empty, np.ones(2)], [empty, np.ones(2)])
    assert caplog.records[0].args[2:] == (0, 0, 0)
    refused(loss, [empty, np.ones(2)], [empty, np.zeros(2)])
    with pytest.raises(ValueError, match="nothing was compared"):
        check_numerical_grads(loss, [empty, np.ones(2)], [empty])


@pytest.mark.parametrize(("inputs", "grads"), [([X], []), ({"x": X}, {}), ([], [])], ids=repr)
def test_without_a_gradient_nothing_is_compared_and_that_is_no_pass(inputs, grads):
    with pytest.raises(ValueError, match="nothing was compared: grad_values holds no entries"):
        check_numerical_grads(lambda *x, **y: 1.0, inputs, grads)


def test_an_integer_gradient_is_compared_as_it_is():
    check_numerical_grads(square, [np.array([1.0, 2.0])], [np.array([2, 4])])
    refused(lambda x: np.sum(0.4 * x), [np.array([1.0])], [np.array([0])])


def test_slopes_are_divided_by_the_step_taken():
    # In float32 near 3000, 1e-3 is 4.1 spacings: the step taken is shorter by 2 %.
    x = np.full(2, 3000.0, np.float32)
    check_numerical_grads(lambda x: float(x.sum(dtype=float)), [x], [np.ones(2)], rtol=1e-9, atol=0)
    refused(lambda x: float(x.sum(dtype=float)), [x], [np.full(2, 0.9766)], rtol=1e-9, atol=0)


@pytest.mark.parametrize("x", [np.array([1e20]), np.array([1e5], np.float32)], ids=["1e20", "f32"])
def test_a_step_that_vanishes_is_refused(x):
    with pytest.raises(ValueError, match=r"h=0.001 .*vanishes against x\[0\]") as caught:
        check_numerical_grads(linear, {"w": x}, {"w": np.ones(1)})
    assert "h is its delta" in caught.value.__notes__[-1]


def test_both_directions_of_a_complex_input_count():
    def loss(z):
        return np.sum(np.abs(z) ** 2)

    z = np.array([1.0 + 2.0j, -0.5j])
    check_numerical_grads(loss, [z], [2 * z])
    refused(loss, [z], [2 * z.conj()])
    refused(loss, [z], [2 * z + 100j])


def test_a_complex_gradient_of_a_real_input_is_wrong():
    assert "is complex, but the input is real" in refused(square, [X], [2 * X + 0j])


def test_the_norm_of_large_gradients_does_not_overflow():
    x = np.array([1.0, 2.0])
    right = np.full(2, 1e200)
    check_numerical_grads(lambda x: 1e200 * np.sum(x), [x], [right])
    refused(lambda x: 1e200 * np.sum(x), [x], [-right])


@pytest.mark.parametrize("claimed", [1.5e308, -1.5e308])
def test_a_norm_beyond_the_largest_float_is_infinite(claimed):
    with pytest.raises(ValueError, match="NaN or infinity"):
        check_numerical_grads(lambda x: 1.5e308 * np.sum(x), [np.zeros(2)], [np.full(2, claimed)])


def test_infinity_does_not_agree_with_itself():
    def cliff(x):
        """Fall on both sides of 0, too far for a slope, but only beyond half a step."""
        return 1e308 * float(np.sign(x[0])) * (abs(x[0]) > 0.75 * H)

    with pytest.raises(ValueError, match=r"NaN or infinity(.|\n)*numeric:\n\[-inf\]"):
        check_numerical_grads(cliff, [np.zeros(1)], [np.array([-math.inf])], delta=H)


def test_a_function_that_writes_to_its_arguments_reaches_neither_the_caller_nor_the_verdict():
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


def test_a_function_that_looks_elsewhere_is_asked_about_it():
    assert refused(lambda _: square(X), [X], [2 * X]).endswith("does it use its argument?")
    assert "argument?" not in refused(square, [X], [-2 * X])
