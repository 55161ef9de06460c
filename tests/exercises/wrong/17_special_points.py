"""What students hand in for exercise 17."""

import numpy as np
from wrong_submissions import instead_of


@instead_of("evidence", says="one call will do for a start")
def shows_nothing():
    return {}


@instead_of("evidence", says="one point for each function")
def shows_one_of_three():
    return {"penalty": (np.array([0.3, -1.2, 2.0]),)}


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
names_the_gradient | "scaled": (np.array([0.3, -1.2, 2.0]), np.array |
    "scaled_gradient": (np.array([0.3, -1.2, 2.0]), np.array | one of scaled, energy, penalty
forgets_the_comma | -1.5, 2.5]),) | -1.5, 2.5])) | a tuple of the arguments, also of one
has_shapes_that_do_not_fit | [[2.0, 0.7], [-0.4, -1.0]] |
    [[2.0, 0.7, 1.0]] | energy and its gradient cannot work with them
has_one_gain_for_all_entries | np.array([0.5, 1.3, -0.8]) |
    0.5 | scaled and its gradient cannot work with them
repeats_an_authors_point | 0.4, -1.5, 2.5 | 0.4, 1.5, 2.5 | what is still special about the point?
takes_zeros | [[2.0, 0.7], [-0.4, -1.0]] |
    [[0.0, 0.0], [0.0, 0.0]] | what is still special about the point?
says_one_word_only | return found | return found[0] if found else "" | a list of words
writes_an_underscore | "one sign" | "one_sign" | the spelling
says_what_is_not | return found |
    return {word: word in found for word in ("zeros", "ones", "equal")} |
    an empty list, to which words are appended
asks_for_any_zero | (x == 0).all() | (x == 0).any() | every entry is 0, not only one
asks_for_any_one | (x == 1).all() | (x == 1).any() | every entry is 1, not only one
stops_at_the_first_word | return found | return found[:1] | two entries or more
calls_one_entry_equal | x.size > 1 and (x == x.flat[0]) |
    (x == x.flat[0]) | two entries or more
compares_neighbors_only_at_the_start | (x == x.flat[0]).all() |
    x.flat[0] == x.flat[1] | two entries or more
compares_the_corners_only | (x == x.T).all() | x[0, 1] == x[1, 0] | a square matrix
calls_a_vector_its_own_transpose |
    x.ndim == 2 and x.shape[0] == x.shape[1] > 1 and (x == x.T).all() |
    x.size > 1 and np.array_equal(x, x.T) | a square matrix
gives_zero_a_sign | (x > 0).all() or (x < 0) |
    (x >= 0).all() or (x <= 0) | two entries or more
forgets_negative_entries | ((x > 0).all() or (x < 0).all()) |
    (x > 0).all() | two entries or more
gives_one_entry_a_sign | x.size > 1 and ((x > 0) | ((x > 0) | two entries or more
takes_columns_for_rows | len(x) == 1 | x.shape[1] == 1 | a matrix
takes_a_vector_for_a_row | x.ndim == 2 and len(x) == 1 |
    x.ndim == 1 or len(x) == 1 | a matrix
sorts_the_array | return found | x.sort(); return found | work on a copy
"""
