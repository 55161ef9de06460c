"""What students hand in for exercise 6."""

# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
clips_in_place | return np.maximum(x, 0) | x[x < 0] = 0; return x | work on a copy
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
asks_if_an_array_is_positive | np.where(x > 0, upstream, 0.0) |
    upstream if x > 0 else 0 * upstream | The truth value of an array
writes_into_upstream | return np.where(x > 0, upstream, 0.0) |
    upstream[x <= 0] = 0; return upstream | work on a copy
keeps_the_mask_of_the_first_call | np.where(x > 0, upstream, 0.0) |
    upstream * vars(relu_backward).setdefault(str(x.shape), x > 0) |
    the mask of the last call is still in use
uses_the_mask_that_relu_left | np.where(x > 0, upstream, 0.0) |
    upstream * [[0, 1, 1], [0, 0, 1]] | the mask of another x, kept from a call of relu
returns_x_itself | return np.maximum(x, 0) |
    return x if np.all(x >= 0) else np.maximum(x, 0) | not a new array
"""
