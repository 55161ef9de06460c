"""What students hand in for exercise 6."""

import numpy as np
from wrong_submissions import instead_of, right


@instead_of("relu", says="work on a copy")
def clips_in_place(x):
    x[x < 0] = 0
    return x


@instead_of("relu_backward", says="work on a copy")
def writes_into_upstream(x, upstream):
    upstream[x <= 0] = 0
    return upstream


CACHE = {}


@instead_of("relu_backward", says="the mask of the last call is still in use")
def keeps_the_mask_of_the_first_call(x, upstream):
    mask = CACHE.setdefault(x.shape, x > 0)
    return upstream * mask


@instead_of("relu_backward", says="The truth value of an array")
def asks_if_an_array_is_positive(x, upstream):
    if x > 0:
        return upstream
    return 0 * upstream


RELU_WAS_CALLED_WITH = np.array([[-1.0, 2.0, 0.5], [0.0, -0.25, 3.0]])


@instead_of("relu_backward", says="the mask of another x, kept from a call of relu")
def uses_the_mask_that_relu_left(x, upstream):
    return upstream * (RELU_WAS_CALLED_WITH > 0)


@right("relu")
def multiplies_by_the_mask(x):
    return x * (x > 0)


@right("relu")
def clips_from_below(x):
    return np.clip(x, 0, None)


@right("relu_backward")
def writes_into_a_copy(x, upstream):
    gradient = upstream.copy()
    gradient[x < 0] = 0  # at 0 the gate is open
    return gradient


@right("relu_backward")
def takes_half_at_zero(x, upstream):
    return upstream * np.heaviside(x, 0.5)


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
takes_the_largest_number | .maximum(x, 0) | .max(np.append(x, 0)) | np.maximum works entry by entry
returns_where_it_is_positive | np.maximum(x, 0) | (x > 0) * 1.0 | pass the number itself
drops_negative_numbers | np.maximum(x, 0) | x[x > 0] | keeps its place
returns_the_mask | , upstream, | , 1.0, | where does `upstream` enter?
passes_everything_on | np.where(x > 0, upstream, 0.0) | upstream | which gates are shut?
multiplies_by_the_output | return np.where(x > 0, upstream, 0.0) |
    return upstream * np.maximum(x, 0) | how fast does relu(x) grow
gates_by_the_sign_of_upstream | return np.where(x > 0, upstream, 0.0) |
    return np.where(upstream > 0, upstream, 0.0) | the sign of x decides
inverts_the_mask | upstream, 0.0 | 0.0, upstream | changed places
opens_at_one | return np.where(x > 0, upstream, 0.0) |
    return upstream * (x > 1) | it opens at 0, not at 1
knows_the_answer_for_the_example | .where(x > 0, upstream, 0.0) |
    .array([0.0, -4.0, 0.1]) | the answer to the last example
returns_zeros | .where(x > 0, upstream, 0.0) | .zeros_like(x) | nothing but zeros
divides_by_x | np.where(x > 0, upstream, 0.0) | upstream * np.maximum(x, 0) / x | division by x
takes_upstream_for_x | return np.where(x > 0, upstream, 0.0) |
    return x * (upstream > 0) | x and upstream have changed places
passes_the_opposite_on_at_zero | (x > 0, upstream, 0.0) |
    (x > 0, upstream, np.where(x == 0, -upstream, 0.0)) | passes nothing, all, or a part of upstream
collects_objects | (x > 0, upstream, 0.0) |
    (x > 0, upstream, 0.0).astype(object) | make the array with dtype=float
keeps_whole_numbers_only | (x > 0, upstream, 0.0) |
    (x > 0, upstream, 0).astype(int) | cannot hold fractions
"""
