"""Checks of exercise 6."""

import numpy as np

from expect import AnyOf, Call, after, builds_on, is_no_measurement, looks_like, rounded
from gradcheck_ref import central_difference

SHOWN_TO_RELU = np.array([[-1.0, 2.0, 0.5], [0.0, -0.25, 3.0]])
X = np.array([-1.0, 2.0, 0.5])
UPSTREAM = np.array([3.0, -4.0, 0.1])


def check_forward(sub):
    """Positive numbers pass, and the others become 0."""
    x = SHOWN_TO_RELU
    mistakes = {
        "that is the mask, 1 where x is positive; pass the number itself": x > 0,
        "np.max gives one number; np.maximum works entry by entry": 3.0,
        "that is |x|; negative numbers become 0": np.abs(x),
        "that is min(x, 0), the other half": np.minimum(x, 0),
        "that is softplus; a negative number becomes 0": np.log(1 + np.exp(x)),
        "that is max(-x, 0), the other half: positive numbers pass": np.maximum(-x, 0),
        "np.max(x, 0) is the largest along axis 0; np.maximum works entry by entry": x.max(axis=0),
        "numbers above 1 are cut off; a positive number passes as it is": np.clip(x, 0, 1),
        "a negative number becomes 0, not a part of itself": AnyOf(
            *(np.maximum(x, leak * x) for leak in (0.01, 0.1, 0.2))
        ),
        "a negative number becomes 0, and keeps its place": x[x > 0],
    }
    Call(sub, "relu", x).gives([[0, 2, 0.5], [0, 0, 3]], mistakes)


def check_one_entry_at_a_time(sub):
    """An open gate passes upstream on, a shut gate passes 0."""
    out, of_upstream = np.maximum(X, 0), np.maximum(UPSTREAM, 0)
    kept, late = UPSTREAM * (SHOWN_TO_RELU > 0), UPSTREAM * (X > 1)
    mistakes = {
        "you returned upstream; which gates are shut?": UPSTREAM,
        "that is upstream * relu(x); how fast does relu(x) grow, where x is 2?": UPSTREAM * out,
        "that is upstream * x; how fast does relu(x) grow, where x is 2?": UPSTREAM * X,
        "that is relu of upstream; the sign of x decides, not the sign of upstream": of_upstream,
        "a shut gate passes 0, not -1 times upstream: that is |x|": UPSTREAM * np.sign(X),
        "you returned relu(x), the forward pass": out,
        "x and upstream have changed places": X * (UPSTREAM > 0),
        "that is the mask of another x, kept from a call of relu; make it from this x": kept,
    }
    slips = {
        "you returned the mask; where does `upstream` enter?": X > 0,
        "the mask and upstream are added; multiply them": (X > 0) + UPSTREAM,
        "that is relu(x * upstream); x alone decides": np.maximum(X * UPSTREAM, 0),
        "a shut gate passes 0, and not x": np.where(X > 0, UPSTREAM, X),
        "a shut gate passes 0, and not a part of upstream": AnyOf(
            *(np.where(X > 0, UPSTREAM, leak * UPSTREAM) for leak in (0.01, 0.1, 0.2))
        ),
        "upstream may be negative: an open gate passes it as it is": of_upstream * (X > 0),
        "upstream is divided by x; the slope of an open gate is 1": UPSTREAM * (X > 0) / X,
        "that is upstream * relu(upstream); the sign of x decides": UPSTREAM * of_upstream,
        "an open gate passes upstream, and a shut one 0": AnyOf(
            *(np.where(X > 0, passed, UPSTREAM) for passed in (1, X, X * UPSTREAM))
        ),
        "the open gates and the shut ones have changed places": UPSTREAM * (X <= 0),
        "where x is 0.5 the gate is open: it opens at 0, not at 1; is x an integer?": late,
    }
    Call(sub, "relu_backward", X, UPSTREAM).gives([0.0, -4.0, 0.1], slips | mistakes)


@builds_on(check_one_entry_at_a_time)
def check_finite_differences_agree(sub):
    """Your gradient agrees with finite differences, away from zero."""
    rng = np.random.default_rng(6)
    for shape in ((4,), (3, 5), (2, 2, 3)):
        x = rng.choice([-1.0, 1.0], size=shape) * rng.uniform(0.5, 2.0, size=shape).round(1)
        upstream = rng.normal(size=shape).round(1)
        numeric = central_difference(lambda x: np.maximum(x, 0), x, h=1e-3, upstream=upstream)
        mistakes = {"that is the answer to the last example; compute it from x": [0.0, -4.0, 0.1]}
        Call(sub, "relu_backward", x, upstream).gives(rounded(numeric), mistakes, rtol=1e-6)


@after(check_one_entry_at_a_time)
def check_zero_is_a_subgradient(sub):
    """At x = 0 the slope may be anything from 0 to 1."""
    call = Call(sub, "relu_backward", np.array([0.0]), np.array([2.0]))
    got = call.run()
    one_number = np.shape(got) == (1,)
    if not one_number or not 0 <= got[0] <= 2:
        look_at = "at 0 the gate passes nothing, all, or a part of upstream"
        if not one_number:
            look_at = looks_like(got, [1.0])
        elif np.isnan(got[0]):
            look_at = "is there a division by x, which is 0 here?"
        call.refuse(got, "[slope * 2] with a slope from 0 to 1", look_at)


@builds_on(check_one_entry_at_a_time)
def check_nothing_is_remembered(sub):
    """A second call with other arrays gives another answer."""
    Call(sub, "relu_backward", X, UPSTREAM).run()
    mistakes = {
        "that is the answer to the last call; do you keep something from it?": [0.0, -4.0, 0.1],
        "the answers of two calls are added; start from zero each time": [6.0, -4.0, 0.1],
        "the mask of the last call is still in use": [0.0, -8.0, 0.2],
    }
    Call(sub, "relu_backward", -X, 2 * UPSTREAM).gives([6.0, 0.0, 0.0], mistakes)


@after(check_one_entry_at_a_time)
def check_inputs_are_left_alone(sub):
    """Neither function changes its arguments."""
    Call(sub, "relu", X).leaves_its_arguments()
    Call(sub, "relu", np.abs(X)).gives_a_new_array()
    Call(sub, "relu_backward", X, UPSTREAM).leaves_its_arguments()


@builds_on(check_forward, check_one_entry_at_a_time)
def heldout_large_and_small(sub):
    """The gate depends on the sign of x, not on its size."""
    x, upstream = np.array([1e-300, -1e-300, 1e300, -1e300]), np.array([1e3, 2e3, 3e3, 4e3])
    Call(sub, "relu_backward", x, upstream).gives([1e3, 0.0, 3e3, 0.0])
    x = np.array([5e-324, -5e-324, 1.7e308, -1.7e308])  # where no number is half as large, or more
    no_step = {
        "is it measured? A step of a part of x is exact for relu, but not here": [
            np.nan,
            np.nan,
            np.inf,
            0.0,
        ]
    }
    Call(sub, "relu_backward", x, upstream).gives([1e3, 0.0, 3e3, 0.0], evasions=no_step)
    is_no_measurement(Call(sub, "relu_backward", X, UPSTREAM))
    x, upstream = np.array([1.1, -2.0]), np.array([0.7, 3.0])
    Call(sub, "relu", x).gives_in_any_size([1.1, 0.0], 1)
    Call(sub, "relu_backward", x, upstream).gives_in_any_size([0.7, 0.0], 1, 1)


def answers_of(vjp):
    """Answer as a submission would that has this vjp, right or wrong, from the zoo."""
    return {"relu_backward": lambda x, upstream: vjp(upstream, x)}
