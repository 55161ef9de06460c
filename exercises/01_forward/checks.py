"""Checks of exercise 1. All numbers are exact in binary, so that a slope is right or it is not."""

import numpy as np

from expect import SUM_OF_SQUARES, AnyOf, Call, Formula, after, builds_on, same

H = 0.25


def check_one_entry(sub):
    """The slope of x*x at 3 is measured as 6 + h."""
    x = np.array([3.0])
    other_steps = AnyOf(*([6 + 10.0**-k] for k in range(1, 7)))  # the rest is lost in rounding
    mistakes = {
        "that is the slope between x and x - h; step ahead, to x + h": [5.75],
        "that is 6 exactly; the measured slope from x to x + h is not": [6.0],
        "use the step h that the call gives; yours is another": other_steps,
    }
    slips = {
        "the rise of f is divided by the step; where do you divide?": [1.5625],
        "the distance between x and x + h is h, not 2*h": [3.125],
        "that is f(x) - f(x + h); which of the two comes first?": [-6.25],
        "x moves by -h, where it should move by +h": [-5.75],
        "x[i] becomes h; start from a copy of x, and add h: +=": [(H * H - 9) / H],
        "x[i] moves by h times itself; add h": [20.25],
        "x[i] moves by half of h; the whole step is h": [3.0625],
        "x[i] moves by 2*h; the step is h": [13.0],
        "the rise of f is divided by x, not by the step": [1.5625 / 3],
        "the rise of f is divided by x + h, not by the step": [1.5625 / 3.25],
        "the rise of f is multiplied by the step; divide by it": [0.390625],
        "that is f(x + h) plus f(x); the rise of f is their difference": [78.25],
        "that is f(x + h) / h - f(x), as / comes before -; add parentheses": [33.25],
        "where is f(x)? the rise of f is f(x + h) - f(x)": [42.25],
        "that is f(x + h) - f(x) / h, as / comes before -; add parentheses": [-25.4375],
    }
    at_once = {"one number for all of x; move one entry at a time, and fill an array like x": 6.25}
    product = Formula("x[0] * x[1]", lambda x: x[0] * x[1])
    added = Call(sub, "forward_difference", product, np.array([1.0, 2.0]), h=H)
    call = Call(sub, "forward_difference", SUM_OF_SQUARES, x, h=H)
    if np.shape(call.run()) == () and same(added.run(), 3.0):
        slips, at_once = slips | {"that is the sum of all entries; return each of them": 6.25}, {}
    call.gives([6.25], slips | mistakes, evasions=at_once)


@builds_on(check_one_entry)
def check_each_entry_has_its_own_slope(sub):
    """Each entry of x gets its own slope."""
    x = np.array([1.0, 2.0, -4.0])
    right = 2 * x + H
    together = np.sum(right)
    mistakes = {
        "all entries moved at once; move one, leave the others": together,
        "every entry is the sum of all slopes; move entry i only, and store its slope at i": (
            np.full(3, together)
        ),
        "the first entry holds the slope of the last: is each slope stored at its own i?": (
            [right[-1], 0, 0]
        ),
        "f takes all of x, not one entry": ((x + H) ** 2 - np.sum(x * x)) / H,
        "entries moved earlier are still moved; start from a fresh copy of x": np.cumsum(right),
        "only the first entry was moved; is the return inside the loop?": [right[0], 0, 0],
        "the last entry was left out; how far does the loop run?": [right[0], right[1], 0],
    }
    Call(sub, "forward_difference", SUM_OF_SQUARES, x, h=H).gives(right, mistakes)


@builds_on(check_each_entry_has_its_own_slope)
def check_any_function(sub):
    """The slopes come from f, for any f."""
    x = np.array([1.0, 2.0, 0.5])
    f = Formula("x[0] * x[1] + 3 * x[2]", lambda x: x[0] * x[1] + 3 * x[2])
    mistakes = {
        "that is the answer for sum(x*x); call f instead": 2 * x + H,
        "that is the derivative of sum(x*x); call f instead": 2 * x,
    }
    Call(sub, "forward_difference", f, x, h=H).gives([2.0, 1.0, 3.0], mistakes)
    f = Formula("x[0] * x[1] - 3 * x[2]", lambda x: x[0] * x[1] - 3 * x[2])
    Call(sub, "forward_difference", f, x, h=H).gives_in_any_size([2.0, 1.0, -3.0], 1)


@builds_on(check_each_entry_has_its_own_slope)
def check_any_shape(sub):
    """A matrix gets a matrix of slopes, and a single number gets one slope."""
    x = np.array([[1.0, 2.0], [-3.0, 0.5]])
    right = 2 * x + H
    rows = np.repeat(right.sum(axis=1, keepdims=True), 2, axis=1)
    mistakes = {
        "x[i] is a whole row of a matrix; np.ndindex(x.shape) gives every entry": rows,
    }
    Call(sub, "forward_difference", SUM_OF_SQUARES, x, h=H).gives(right, mistakes)
    mistakes = {"the number is right; its shape should be that of x, ()": [4.25]}
    call = Call(sub, "forward_difference", SUM_OF_SQUARES, np.array(2.0), h=H)
    call.gives(np.array(4.25), mistakes)


@after(check_one_entry)
def check_x_is_left_alone(sub):
    """The caller's x is the same afterwards, to the last bit."""
    # 0.1 + 0.7 - 0.7 is not 0.1: whoever adds h and subtracts it again leaves something behind.
    x = np.array([0.1, 0.2, 0.3])
    Call(sub, "forward_difference", SUM_OF_SQUARES, x, h=0.7).leaves_its_arguments()


def check_f_is_called_once_per_entry(sub):
    """The function is called once at x, and once more for each entry."""
    call = Call(sub, "forward_difference", SUM_OF_SQUARES, np.array([1.0, 2.0, 3.0, 4.0]), h=H)
    call.calls_f(5, "one at x, before the loop, and one for each of 4 entries")


@builds_on(check_any_shape)
def heldout_a_curved_function(sub):
    """On a curved function the error is about h/2 times the second derivative."""
    x = np.array([[0.3, -0.7, 1.1]])
    h = 2.0**-20
    f = Formula("sum(exp(x))", lambda x: np.sum(np.exp(x)))
    Call(sub, "forward_difference", f, x, h=h).gives(np.exp(x) * (1 + h / 2), rtol=1e-8)
