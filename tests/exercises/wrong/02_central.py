"""What students hand in for exercise 2."""

import numpy as np
from wrong_submissions import instead_of

from gradcheck_ref import central_difference


@instead_of("central_difference", says="the forward difference of exercise 1")
def is_still_a_forward_difference(f, x, h):
    slopes = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        ahead = x.copy()
        ahead[i] += h
        slopes[i] = (f(ahead) - f(x)) / h
    return slopes


@instead_of("central_difference", says="one sample is f(x) itself")
def comes_back_only_halfway(f, x, h):
    slopes = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] += h
        f_ahead = f(moved)
        moved[i] -= h  # to get from x + h to x - h takes 2 * h
        slopes[i] = (f_ahead - f(moved)) / (2 * h)
    return slopes


@instead_of("central_difference", says="which of the two comes first")
def subtracts_the_wrong_way_round(f, x, h):
    return -central_difference(f, x, h=h)


@instead_of("central_difference", says="work on a copy")
def moves_the_array_it_is_given(f, x, h):
    slopes = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        x[i] += h
        f_ahead = f(x)
        x[i] -= 2 * h
        slopes[i] = (f_ahead - f(x)) / (2 * h)
        x[i] += h
    return slopes


@instead_of("central_difference", says="a whole row of a matrix")
def moves_whole_rows(f, x, h):
    slopes = np.zeros(x.shape)
    for i in range(len(x)):
        ahead, behind = x.copy(), x.copy()
        ahead[i] += h
        behind[i] -= h
        slopes[i] = (f(ahead) - f(behind)) / (2 * h)
    return slopes


@instead_of("central_difference", says="nothing but zeros")
def returns_zeros(f, x, h):
    return np.zeros_like(x)


@instead_of("central_difference", says="is h the one you were given?")
def knows_the_derivative_of_the_example(f, x, h):
    return 3 * x**2


@instead_of("array_difference", says="could not be broadcast together")
def weighs_the_slopes(f, x, upstream, h):
    return central_difference(lambda x: np.sum(f(x)), x, h=h) * upstream


@instead_of("array_difference", says="ValueError")
def differentiates_an_array(f, x, upstream, h):
    return central_difference(f, x, h=h)


@instead_of("central_difference", says="add parentheses")
def divides_only_what_is_behind(f, x, h):
    numeric = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        ahead, behind = x.copy(), x.copy()
        ahead[i] += h
        behind[i] -= h
        numeric[i] = f(ahead) - f(behind) / (ahead[i] - behind[i])
    return numeric


@instead_of("central_difference", says="cannot hold fractions")
def keeps_whole_numbers_only(f, x, h):
    return central_difference(f, x, h=h).astype(int)


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
divides_by_h | (ahead[i] - behind[i]) | h | 2*h apart, not h
divides_by_the_step_wished_for | ahead[i] - behind[i] | 2 * h | not how far apart the two places are
adds_the_outputs_up | (lambda x: np.sum(f(x) * upstream), x, h) |
    (lambda x: np.sum(f(x)), x, h=h) | where does upstream enter?
"""
