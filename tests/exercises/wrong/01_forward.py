"""What students hand in for exercise 1."""

import numpy as np
from wrong_submissions import instead_of


@instead_of("forward_difference", says="a fresh copy of x")
def never_moves_back(f, x, h):
    slopes = np.zeros(x.shape)
    f_here = f(x)
    moved = x.copy()
    for i in np.ndindex(x.shape):
        moved[i] += h
        slopes[i] = (f(moved) - f_here) / h
    return slopes


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
forgets_to_divide | (f(moved) - f_here) / h | f(moved) - f_here | divided by the step
steps_back | slopes[i] = (f(moved) - f_here) / h |
    moved[i] -= 2 * h; slopes[i] = (f_here - f(moved)) / h | x and x - h; step ahead
subtracts_the_wrong_way_round | f(moved) - f_here |
    f_here - f(moved) | which of the two comes first
divides_by_two_h | - f_here) / h | - f_here) / (2 * h) | is h, not 2*h
divides_only_one_of_the_two | (f(moved) - f_here) / h | f(moved) - f_here / h | add parentheses
moves_everything_at_once | return slopes | return (f(x + h) - f_here) / h |
    a single number came back
moves_back_by_subtracting | slopes[i] = (f(moved) - f_here) / h |
    x[i] += h; slopes[i] = (f(x) - f_here) / h; x[i] -= h | work on a copy
stops_one_too_early | np.ndindex(x.shape) | range(len(x) - 1 or 1) | the last entry was left out
loops_to_one_beyond | np.ndindex(x.shape) | range(len(x) + 1) | IndexError
moves_whole_rows | np.ndindex(x.shape) | range(len(x)) | a whole row of a matrix
asks_for_f_of_x_every_time | slopes = np.zeros(x.shape) |
    steps = h * np.eye(x.size).reshape(-1, *x.shape);
    return np.reshape([(f(x + step) - f(x)) / h for step in steps], x.shape) | before the loop
knows_the_answer_for_the_example | slopes = np.zeros(x.shape) | return 2 * x + h | call f instead
returns_zeros | slopes = np.zeros(x.shape) | return np.zeros(x.shape) | nothing but zeros
forgets_to_return | return slopes | pass | is there a return?
returns_after_the_first_entry | (f(moved) - f_here) / h |
    (f(moved) - f_here) / h; return slopes | is the return inside the loop?
has_a_step_of_its_own | moved = x.copy() |
    h = 1e-5; moved = x.copy() | use the step h that the call gives
"""
