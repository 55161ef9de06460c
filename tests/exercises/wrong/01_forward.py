"""What students hand in for exercise 1."""

import numpy as np
from wrong_submissions import instead_of


@instead_of("forward_difference", says="divided by the step")
def forgets_to_divide(f, x, h):
    slopes = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] += h
        slopes[i] = f(moved) - f(x)
    return slopes


@instead_of("forward_difference", says="x and x - h; step ahead")
def steps_back(f, x, h):
    slopes = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] -= h
        slopes[i] = (f(x) - f(moved)) / h
    return slopes


@instead_of("forward_difference", says="which of the two comes first")
def subtracts_the_wrong_way_round(f, x, h):
    slopes = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] += h
        slopes[i] = (f(x) - f(moved)) / h
    return slopes


@instead_of("forward_difference", says="is h, not 2*h")
def divides_by_two_h(f, x, h):
    slopes = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] += h
        slopes[i] = (f(moved) - f(x)) / (2 * h)
    return slopes


@instead_of("forward_difference", says="a single number came back")
def moves_everything_at_once(f, x, h):
    return (f(x + h) - f(x)) / h


@instead_of("forward_difference", says="a fresh copy of x")
def never_moves_back(f, x, h):
    slopes = np.zeros(x.shape)
    f_here = f(x)
    moved = x.copy()
    for i in np.ndindex(x.shape):
        moved[i] += h
        slopes[i] = (f(moved) - f_here) / h
    return slopes


@instead_of("forward_difference", says="work on a copy")
def moves_back_by_subtracting(f, x, h):
    slopes = np.zeros(x.shape)
    f_here = f(x)
    for i in np.ndindex(x.shape):
        x[i] += h
        slopes[i] = (f(x) - f_here) / h
        x[i] -= h
    return slopes


@instead_of("forward_difference", says="the last entry was left out")
def stops_one_too_early(f, x, h):
    slopes = np.zeros(x.shape)
    for i in range(len(x) - 1 or 1):
        moved = x.copy()
        moved[i] += h
        slopes[i] = (f(moved) - f(x)) / h
    return slopes


@instead_of("forward_difference", says="a whole row of a matrix")
def moves_whole_rows(f, x, h):
    slopes = np.zeros(x.shape)
    for i in range(len(x)):
        moved = x.copy()
        moved[i] += h
        slopes[i] = (f(moved) - f(x)) / h
    return slopes


@instead_of("forward_difference", says="before the loop")
def asks_for_f_of_x_every_time(f, x, h):
    slopes = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] += h
        slopes[i] = (f(moved) - f(x)) / h
    return slopes


@instead_of("forward_difference", says="call f instead")
def knows_the_answer_for_the_example(f, x, h):
    return 2 * x + h


@instead_of("forward_difference", says="nothing but zeros")
def returns_zeros(f, x, h):
    return np.zeros(x.shape)


@instead_of("forward_difference", says="is there a return?")
def forgets_to_return(f, x, h):
    slopes = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] += h
        slopes[i] = (f(moved) - f(x)) / h


@instead_of("forward_difference", says="IndexError")
def loops_to_one_beyond(f, x, h):
    slopes = np.zeros(x.shape)
    for i in range(len(x) + 1):
        moved = x.copy()
        moved[i] += h
        slopes[i] = (f(moved) - f(x)) / h
    return slopes


@instead_of("forward_difference", says="add parentheses")
def divides_only_one_of_the_two(f, x, h):
    slopes = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] += h
        slopes[i] = f(moved) - f(x) / h
    return slopes


@instead_of("forward_difference", says="use the step h that the call gives")
def has_a_step_of_its_own(f, x, h):
    slopes = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] += 1e-5
        slopes[i] = (f(moved) - f(x)) / 1e-5
    return slopes


@instead_of("forward_difference", says="is the return inside the loop?")
def returns_after_the_first_entry(f, x, h):
    slopes = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] += h
        slopes[i] = (f(moved) - f(x)) / h
        return slopes
