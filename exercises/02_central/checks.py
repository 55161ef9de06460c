"""Checks of exercise 2. Most numbers are exact in binary: a slope is right or it is not."""

import numpy as np

from expect import SUM_OF_CUBES, AnyOf, Call, Formula, after, builds_on
from gradcheck_ref import central_difference

H = 0.25
SQUARES = Formula("x*x, entry by entry", lambda x: x * x)
MATRIX = np.array([[1.0, 2.0, 0.0], [-1.0, 0.5, 4.0]])
PRODUCT = Formula("A @ x, A = [[1 2 0] [-1 0.5 4]]", lambda x: MATRIX @ x)


def right_difference(f, x, h):
    """Stand in for the learner's, where another function is judged."""
    return central_difference(f, x, h=h)


def check_one_entry(sub):
    """The slope of x*x*x at 2 is measured as 12 + h*h."""
    mistakes = {
        "that is the forward difference of exercise 1; step to both sides": [13.5625],
        "one sample is f(x) itself, and you divide by 2*h: step to both sides": [6.78125],
        "that is the slope between x - h and x; step to both sides": [10.5625],
        "that is 12, and measured it is 12 + h*h: is h the one you were given?": [12.0],
        "the difference of f is not divided by anything": [6.03125],
    }
    uneven = AnyOf(
        *(
            [(ahead**3 - behind**3) / apart]
            for ahead, behind in ((2.5, 1.75), (2.25, 1.875), (2.125, 1.75), (2.25, 1.5))
            for apart in (ahead - behind, 2 * H)
        )
    )
    no_parentheses = [2.25**3 - 1.75**3 / 0.5]
    slips = {
        "the two places are 2*h apart, not h": [24.125],
        "that is / 2 * h, which multiplies by h; add parentheses": [12.0625 * H * H],
        "that is f ahead - f behind / (2*h), as / comes before -; add parentheses": no_parentheses,
        "the sign: f ahead minus f behind, and the place ahead minus the place behind": [-12.0625],
        "0 divided by 0: are there two copies of x, one moved by +h and one by -h?": [np.nan],
        "the two values of f are added; subtract one from the other": [33.5],
        "the two steps differ: x moves by +h on one side, and by -h on the other": uneven,
        "the steps are half as long as they should be: h to each side": [12.015625],
    }
    call = Call(sub, "central_difference", SUM_OF_CUBES, np.array([2.0]), h=H)
    call.gives([12.0625], slips | mistakes, stand_in=right_difference)


@builds_on(check_one_entry)
def check_any_shape(sub):
    """Each entry gets its own slope, for any shape of x."""
    x = np.array([[1.0, -2.0], [3.0, 0.5]])
    right = 3 * x * x + H * H
    first = np.array([[1, 0], [0, 0]])
    rows = np.repeat(right.sum(axis=1, keepdims=True), 2, axis=1)
    mistakes = {
        "all entries moved at once; move one, leave the others": right.sum(),
        "only the first entry has a slope: the return is inside the loop": right * first,
        "x[i] is a whole row of a matrix; np.ndindex(x.shape) gives every entry": rows,
    }
    Call(sub, "central_difference", SUM_OF_CUBES, x, h=H).gives(
        right, mistakes, stand_in=right_difference
    )
    mistakes = {"the number is right; its shape should be that of x, ()": [12.0625]}
    call = Call(sub, "central_difference", SUM_OF_CUBES, np.array(2.0), h=H)
    call.gives(np.array(12.0625), mistakes, stand_in=right_difference)


@after(check_one_entry)
def check_x_is_left_alone(sub):
    """The caller's x is the same afterwards, to the last bit."""
    x = np.array([0.1, 0.2, 0.3])
    Call(sub, "central_difference", SUM_OF_CUBES, x, h=0.7).leaves_its_arguments()


@builds_on(check_one_entry)
def check_the_step_taken(sub):
    """The slope of x at 12300000000 is 1 if you divide by the step that was really taken."""
    f = Formula("sum(x)", np.sum)
    x, h = np.array([1.23e10]), 1e-5
    wished = ((x + h) - (x - h)) / (2 * h)
    mistakes = {"x + h is rounded here, and 2*h is not how far apart the two places are": wished}
    Call(sub, "central_difference", f, x, h=h).gives([1.0], mistakes)


@builds_on(check_any_shape)
def check_outputs_are_weighted(sub):
    """With upstream, each output counts with its weight, however many inputs there are."""
    x, upstream = np.array([1.0, 2.0, -4.0]), np.array([0.5, -3.0, 2.0])
    mistakes = {
        "every output counts the same here; where does upstream enter?": 2 * x,
        "each slope is divided by its weight": 2 * x / upstream,
        "that is the mean of the weighted outputs; take their sum": 2 * x * upstream / 3,
        "each output has its own weight: multiply first, and add then": 2 * x * upstream.sum(),
        "the place is x; upstream is only for the weights": 2 * upstream * upstream,
    }
    Call(sub, "array_difference", SQUARES, x, upstream, h=H).gives(2 * x * upstream, mistakes)
    x, upstream = np.array([1.0, -2.0, 0.5]), np.array([2.0, -1.0])
    mistakes = {
        "every output counts the same here; where does upstream enter?": MATRIX.sum(axis=0),
        "that is the change of each output; weight the outputs and add them": MATRIX @ x,
    }
    Call(sub, "array_difference", PRODUCT, x, upstream, h=H).gives(upstream @ MATRIX, mistakes)


@builds_on(check_any_shape)
def heldout_second_order(sub):
    """A tenth of the step leaves a hundredth of the error."""
    f = Formula("sum(exp(x))", lambda x: np.sum(np.exp(x)))
    x = np.array([[0.3, -0.7]])
    for h in (1e-2, 1e-3):
        sinh = np.sinh(h) / h
        Call(sub, "central_difference", f, x, h=h).gives(np.exp(x) * sinh, rtol=1e-10)
    Call(sub, "central_difference", f, x, h=h).gives_in_any_size(np.exp(x) * sinh, 1)


@builds_on(check_outputs_are_weighted)
def heldout_a_matrix_of_outputs(sub):
    """The function f may turn a vector into a matrix."""
    x = np.array([1.0, 2.0])
    upstream = np.array([[1.0, -1.0], [0.5, 2.0]])
    f = Formula("outer(x, x)", lambda x: np.outer(x, x))
    right = (upstream + upstream.T) @ x
    Call(sub, "array_difference", f, x, upstream, h=H).gives(right)
    Call(sub, "array_difference", f, x, upstream, h=H).gives_in_any_size(right, 0, 0, 1)
