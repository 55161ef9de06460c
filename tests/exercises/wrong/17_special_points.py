"""What students hand in for exercise 17."""

import numpy as np
from wrong_submissions import instead_of

X = np.array([0.3, -1.2, 2.0])
SQUARE = np.array([[2.0, 0.7], [-0.4, -1.0]])
RIGHT = {
    "scaled": (X, np.array([0.5, 1.3, -0.8])),
    "energy": (X[:2], SQUARE),
    "penalty": (X,),
}


# --- evidence that is none -----------------------------------------------------------------------


@instead_of("evidence", says="one function will do for a start")
def shows_nothing():
    return {}


@instead_of("evidence", says="one of scaled, energy, penalty")
def names_the_gradient():
    return {"scaled_gradient": RIGHT["scaled"]}


@instead_of("evidence", says="a tuple of the arguments, also of one")
def forgets_the_comma():
    return {**RIGHT, "penalty": X}


@instead_of("evidence", says="energy and its gradient cannot work with them")
def has_shapes_that_do_not_fit():
    return {**RIGHT, "energy": (X, SQUARE)}


@instead_of("evidence", says="scaled and its gradient cannot work with them")
def has_one_gain_for_all_entries():
    return {**RIGHT, "scaled": (X, 0.5)}


@instead_of("evidence", says="one point for each function")
def shows_one_of_three():
    return {"penalty": RIGHT["penalty"]}


@instead_of("evidence", says="what is still special about the point?")
def repeats_the_authors_points():
    return {
        "scaled": (X, np.ones(3)),
        "energy": (X[:2], np.eye(2)),
        "penalty": (np.array([0.4, 1.5, 2.5]),),
    }


@instead_of("evidence", says="what is still special about the point?")
def changes_the_wrong_input():
    return {**RIGHT, "scaled": (np.array([0.7, 0.1, -3.0]), np.ones(3))}


@instead_of("evidence", says="what is still special about the point?")
def takes_zeros():
    return {**RIGHT, "energy": (np.zeros(2), SQUARE)}


# --- words ---------------------------------------------------------------------------------------


def words(
    x,
    zeros=lambda x: (x == 0).all(),
    ones=lambda x: (x == 1).all(),
    equal=lambda x: x.size > 1 and (x == x.flat[0]).all(),
    symmetric=lambda x: x.ndim == 2 and x.shape[0] == x.shape[1] > 1 and (x == x.T).all(),
    one_sign=lambda x: x.size > 1 and ((x > 0).all() or (x < 0).all()),
    one_row=lambda x: x.ndim == 2 and len(x) == 1,
):
    holds = {"zeros": zeros, "ones": ones, "equal": equal, "symmetric": symmetric}
    holds |= {"one sign": one_sign, "one row": one_row}
    return [word for word, condition in holds.items() if condition(x)]


@instead_of("special", says="a list of words")
def says_one_word_only(x):
    return words(x)[0] if words(x) else ""


@instead_of("special", says="the spelling")
def writes_an_underscore(x):
    return [word.replace(" ", "_") for word in words(x)] + ["one_sign"] * (x.size == 4)


@instead_of("special", says="an empty list, to which words are appended")
def says_what_is_not(x):
    return {word: word in words(x) for word in ("zeros", "ones", "equal")}


@instead_of("special", says="every entry is 0, not only one")
def asks_for_any_zero(x):
    return words(x, zeros=lambda x: (x == 0).any())


@instead_of("special", says="every entry is 1, not only one")
def asks_for_any_one(x):
    return words(x, ones=lambda x: (x == 1).any())


@instead_of("special", says='"equal": two entries or more')
def stops_at_the_first_word(x):
    return words(x)[:1]


@instead_of("special", says='"equal": two entries or more')
def calls_one_entry_equal(x):
    return words(x, equal=lambda x: (x == x.flat[0]).all())


@instead_of("special", says='"equal": two entries or more')
def compares_neighbours_only_at_the_start(x):
    return words(x, equal=lambda x: x.size > 1 and x.flat[0] == x.flat[1])


@instead_of("special", says='"symmetric": a square matrix')
def compares_the_corners_only(x):
    return words(
        x, symmetric=lambda x: x.ndim == 2 and x.shape[0] == x.shape[1] and x[0, 1] == x[1, 0]
    )


@instead_of("special", says='"symmetric": a square matrix')
def calls_a_vector_its_own_transpose(x):
    return words(x, symmetric=lambda x: np.array_equal(x, x.T) and x.size > 1)


@instead_of("special", says='"one sign": two entries or more')
def gives_zero_a_sign(x):
    return words(x, one_sign=lambda x: x.size > 1 and ((x >= 0).all() or (x <= 0).all()))


@instead_of("special", says='"one sign": two entries or more')
def forgets_negative_entries(x):
    return words(x, one_sign=lambda x: x.size > 1 and (x > 0).all())


@instead_of("special", says='"one sign": two entries or more')
def gives_one_entry_a_sign(x):
    return words(x, one_sign=lambda x: (x > 0).all() or (x < 0).all())


@instead_of("special", says='"one row": a matrix')
def takes_columns_for_rows(x):
    return words(x, one_row=lambda x: x.ndim == 2 and x.shape[1] == 1)


@instead_of("special", says='"one row": a matrix')
def takes_a_vector_for_a_row(x):
    return words(x, one_row=lambda x: x.ndim == 1 or len(x) == 1)


@instead_of("special", says="work on a copy")
def sorts_the_array(x):
    found = words(x)
    x.sort()
    return found
