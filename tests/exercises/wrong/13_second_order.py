"""What students hand in for exercise 13."""

# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
forgets_the_denominator | (tangent - p @ tangent) | tangent |
    the sum of the exponentials moves, too
takes_the_plain_mean | p @ tangent) | tangent.mean()) | weighted by p
takes_the_diagonal | (tangent - p @ tangent) | (1 - p) * tangent | every p[k] depends on all of z
forgets_the_brackets | (tangent - p @ tangent) | tangent - p @ tangent | multiplies both
subtracts_the_wrong_way | (tangent - p @ tangent) |
    (p @ tangent - tangent) | the sign: every entry is minus
returns_the_probabilities | p * (tangent - p @ tangent) | p | how fast does it move?
makes_a_unit_vector | p = softmax(z) |
    tangent = tangent / np.linalg.norm(tangent); p = softmax(z) | do not make it a unit vector
measures_softmax | p * (tangent - p @ tangent) |
    (softmax(z + 1e-6 * tangent) - softmax(z - 1e-6 * tangent)) / 2e-6 |
    do you measure it by a step along tangent?
takes_a_small_complex_step | p * (tangent - p @ tangent) |
    softmax(z + 1e-30j * tangent).imag / 1e-30 | gives 1e+200 times the answer
stops_at_the_probabilities | A.T @ softmax_jvp(A @ tangent, A @ x) |
    softmax_jvp(A @ tangent, A @ x) | multiply by A.T
swaps_place_and_tangent | softmax_jvp(A @ tangent, A @ x) |
    softmax_jvp(A @ x, A @ tangent) | place and tangent have changed places
returns_the_curvature | A.T @ softmax_jvp | tangent @ A.T @ softmax_jvp | that is one number
returns_the_gradient | softmax_jvp(A @ tangent, A @ x) |
    softmax(A @ x) | how fast does it change along tangent?
takes_softmax_for_exp | @ softmax_jvp(A @ tangent, A @ x) |
    @ (softmax(A @ x) * (A @ tangent)) | softmax_jvp includes that
knows_the_answer_for_the_example | A.T @ softmax_jvp(A @ tangent, A @ x) |
    np.array([-1.25, 3.0]) * tangent[:1] / 4 | the shape
forgets_the_transpose | A.T @ softmax_jvp |
    (A if len(A) == len(x) else A.T) @ softmax_jvp | the gradient begins with A.T, not with A
moves_along_tangent_itself | softmax_jvp(A @ tangent, |
    softmax_jvp(tangent if len(A) == len(x) else A @ tangent, |
    along A @ tangent, and not along tangent
measures_the_gradient | A.T @ softmax_jvp(A @ tangent, A @ x) |
    (gradient(x + 1e-6 * tangent, A) - gradient(x - 1e-6 * tangent, A)) / 2e-6 |
    do you measure it by a step along tangent?
scales_tangent_in_place | return A.T @ softmax_jvp(A @ tangent, |
    moves = A @ tangent; tangent /= 2; return A.T @ softmax_jvp(moves, | work on a copy
divides_by_h | (2 * h) | h | 2*h apart, not h
forgets_more_brackets | return (gradient(x + h * tangent) - gradient(x - h * tangent)) |
    return gradient(x + h * tangent) - gradient(x - h * tangent) | add parentheses
steps_ahead_only | - gradient(x - h * tangent)) / (2 * h) | - gradient(x)) / h | step to both sides
moves_every_entry_by_h | gradient(x + h * tangent) - gradient(x - h * tangent) |
    gradient(x + h) - gradient(x - h) | x moves along tangent, not every entry by h
measures_a_column_for_each_entry | return (gradient(x |
    gradient(x); return (gradient(x | one gradient on each side
moves_x_in_place | return (gradient(x + h * tangent) - gradient(x - h * tangent)) / |
    x += h * tangent; ahead = gradient(x); x -= 2 * h * tangent; return (ahead - gradient(x)) / |
    work on a copy
compares_two_curvatures | a @ hv(b), b @ hv(a) |
    a @ hv(a), b @ hv(b) | which product goes with which?
takes_the_larger_with_its_sign | abs(one), abs(other) | one, other |
    the larger one without its sign
divides_by_the_other | max(abs(one), abs(other)) | abs(other) | not the smaller
divides_by_the_sum | max(abs(one), abs(other)) | abs(one) + abs(other) | not by their sum or mean
does_not_divide | abs(one - other) / larger if larger else 0.0 |
    abs(one - other) | divide by the larger of the two
keeps_the_sign | return abs(one - other) | return (one - other) | absolute value of the difference
divides_nothing_by_nothing | abs(one - other) / larger if larger else 0.0 |
    np.abs(one - other) / np.float64(larger) | 0 divided by 0
has_an_absolute_floor | larger = max(abs(one), abs(other)) |
    larger = max(abs(one), abs(other), 1e-8) | is a number added
"""
