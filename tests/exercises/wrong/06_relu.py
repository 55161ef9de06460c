"""What students hand in for exercise 6."""

import numpy as np
from wrong_submissions import instead_of, right


@instead_of("relu", says="np.maximum works entry by entry")
def takes_the_largest_number(x):
    return np.max(np.append(x, 0))


@instead_of("relu", says="the number itself passes")
def returns_where_it_is_positive(x):
    return (x > 0) * 1.0


@instead_of("relu", says="keeps its place")
def drops_negative_numbers(x):
    return x[x > 0]


@instead_of("relu", says="work on a copy")
def clips_in_place(x):
    x[x < 0] = 0
    return x


@instead_of("relu_backward", says="where does `upstream` enter?")
def returns_the_mask(x, upstream):
    return np.where(x > 0, 1.0, 0.0)


@instead_of("relu_backward", says="which gates are shut?")
def passes_everything_on(x, upstream):
    return upstream


@instead_of("relu_backward", says="how fast does relu(x) grow")
def multiplies_by_the_output(x, upstream):
    return upstream * np.maximum(x, 0)


@instead_of("relu_backward", says="the sign of x decides")
def gates_by_the_sign_of_upstream(x, upstream):
    return np.where(upstream > 0, upstream, 0.0)


@instead_of("relu_backward", says="the other way round")
def inverts_the_mask(x, upstream):
    return np.where(x > 0, 0.0, upstream)


@instead_of("relu_backward", says="it opens at 0, not at 1")
def opens_at_one(x, upstream):
    return upstream * (x > 1)


@instead_of("relu_backward", says="work on a copy")
def writes_into_upstream(x, upstream):
    upstream[x <= 0] = 0
    return upstream


@instead_of("relu_backward", says="the answer to the example before")
def knows_the_answer_for_the_example(x, upstream):
    return np.array([0.0, -4.0, 0.1])


@instead_of("relu_backward", says="nothing but zeros")
def returns_zeros(x, upstream):
    return np.zeros_like(x)


@instead_of("relu_backward", says="division by x")
def divides_by_x(x, upstream):
    return upstream * np.maximum(x, 0) / x


CACHE = {}


@instead_of("relu_backward", says="the mask of the call before is still in use")
def keeps_the_mask_of_the_first_call(x, upstream):
    mask = CACHE.setdefault(x.shape, x > 0)
    return upstream * mask


@instead_of("relu_backward", says="The truth value of an array")
def asks_if_an_array_is_positive(x, upstream):
    if x > 0:
        return upstream
    return 0 * upstream


@instead_of("relu_backward", says="x and upstream have changed places")
def takes_upstream_for_x(x, upstream):
    return x * (upstream > 0)


@instead_of("relu_backward", says="passes nothing, all, or a part of upstream")
def passes_the_opposite_on_at_zero(x, upstream):
    return np.where(x > 0, upstream, np.where(x == 0, -upstream, 0.0))


RELU_WAS_CALLED_WITH = np.array([[-1.0, 2.0, 0.5], [0.0, -0.25, 3.0]])


@instead_of("relu_backward", says="the mask of another x, kept from a call of relu")
def uses_the_mask_that_relu_left(x, upstream):
    return upstream * (RELU_WAS_CALLED_WITH > 0)


@instead_of("relu_backward", says="make the array with dtype=float")
def collects_objects(x, upstream):
    return np.where(x > 0, upstream, 0.0).astype(object)


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


@instead_of("relu_backward", says="no place for fractions")
def keeps_whole_numbers_only(x, upstream):
    return np.where(x > 0, upstream, 0).astype(int)
