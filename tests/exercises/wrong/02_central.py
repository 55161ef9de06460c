"""What students hand in for exercise 2."""

# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
is_still_a_forward_difference | (f(ahead) - f(behind)) / (ahead[i] - behind[i]) |
    (f(ahead) - f(x)) / h | the forward difference of exercise 1
comes_back_only_halfway | (f(ahead) - f(behind)) / (ahead[i] - behind[i]) |
    (f(ahead) - f(x)) / (2 * h) | one sample is f(x) itself
subtracts_the_wrong_way_round | f(ahead) - f(behind) |
    f(behind) - f(ahead) | the sign
divides_only_the_second_value | (f(ahead) - f(behind)) | f(ahead) - f(behind) | add parentheses
divides_by_h | (ahead[i] - behind[i]) | h | 2*h apart, not h
divides_by_the_intended_step | ahead[i] - behind[i] | 2 * h |
    not how far apart the two places are
moves_the_array_it_is_given | slopes[i] = (f(ahead) - f(behind)) / (ahead[i] - behind[i]) |
    x[i] += h; f_ahead = f(x); x[i] -= 2 * h; slopes[i] = (f_ahead - f(x)) / (2 * h); x[i] += h |
    work on a copy
moves_whole_rows | np.ndindex(x.shape) | range(len(x)) | a whole row of a matrix
keeps_whole_numbers_only | return slopes | return slopes.astype(int) | cannot hold fractions
returns_zeros | slopes = np.zeros(x.shape) | return np.zeros(x.shape) | nothing but zeros
knows_the_derivative_of_the_example | slopes = np.zeros(x.shape) |
    return 3 * x**2 | is h the one you were given?
weighs_the_slopes | (lambda x: np.sum(f(x) * upstream), x, h) |
    (lambda x: np.sum(f(x)), x, h) * upstream | do not fit
differentiates_an_array | lambda x: np.sum(f(x) * upstream) | f | ValueError
adds_the_outputs_up | np.sum(f(x) * upstream) | np.sum(f(x)) | where does upstream enter?
"""
