"""What students hand in for exercise 13."""

import numpy as np
from wrong_submissions import instead_of


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def jvp(tangent, z):
    p = softmax(z)
    return p * (tangent - p @ tangent)


def relative(one, other):
    larger = max(abs(one), abs(other))
    return abs(one - other) / larger if larger else 0.0


@instead_of("softmax_jvp", says="the sum of the exponentials moves, too")
def forgets_the_denominator(tangent, z):
    return softmax(z) * tangent


@instead_of("softmax_jvp", says="weighted by p")
def takes_the_plain_mean(tangent, z):
    return softmax(z) * (tangent - tangent.mean())


@instead_of("softmax_jvp", says="the sign: every entry is minus")
def subtracts_the_wrong_way(tangent, z):
    return -jvp(tangent, z)


@instead_of("softmax_jvp", says="how fast does it move?")
def returns_the_probabilities(tangent, z):
    return softmax(z)


@instead_of("softmax_jvp", says="do not make it a unit vector")
def makes_a_unit_vector(tangent, z):
    return jvp(tangent / np.linalg.norm(tangent), z)


@instead_of("softmax_jvp", says="do you measure it by a step along tangent?")
def measures_softmax(tangent, z):
    return (softmax(z + 1e-6 * tangent) - softmax(z - 1e-6 * tangent)) / 2e-6


@instead_of("softmax_jvp", says="do you measure it by a step along tangent?")
def takes_a_small_complex_step(tangent, z):
    e = np.exp(z + 1e-30j * tangent)
    return (e / e.sum()).imag / 1e-30


@instead_of("hessian_vector", says="multiply by A.T")
def stops_at_the_probabilities(tangent, x, A):
    return jvp(A @ tangent, A @ x)


@instead_of("hessian_vector", says="place and tangent have changed places")
def swaps_place_and_tangent(tangent, x, A):
    return A.T @ jvp(A @ x, A @ tangent)


@instead_of("hessian_vector", says="that is one number")
def returns_the_curvature(tangent, x, A):
    return tangent @ A.T @ jvp(A @ tangent, A @ x)


@instead_of("hessian_vector", says="the gradient begins with A.T, not with A")
def forgets_the_transpose(tangent, x, A):
    moves = jvp(A @ tangent, A @ x)
    return A @ moves if A.shape[0] == A.shape[1] else A.T @ moves


@instead_of("hessian_vector", says="along A @ tangent, and not along tangent")
def moves_along_tangent_itself(tangent, x, A):
    square = A.shape[0] == A.shape[1]
    return A.T @ jvp(tangent if square else A @ tangent, A @ x)


@instead_of("hessian_vector", says="do you measure it by a step along tangent?")
def measures_the_gradient(tangent, x, A):
    ahead, behind = (A.T @ softmax(A @ (x + s * tangent)) for s in (1e-6, -1e-6))
    return (ahead - behind) / 2e-6


@instead_of("hessian_vector", says="work on a copy")
def scales_tangent_in_place(tangent, x, A):
    answer = A.T @ jvp(A @ tangent, A @ x)
    tangent /= 2
    return answer


@instead_of("measured", says="x moves along tangent, not every entry by h")
def moves_every_entry_by_h(gradient, x, tangent, h):
    return (gradient(x + h) - gradient(x - h)) / (2 * h)


@instead_of("measured", says="one gradient on each side")
def measures_a_column_for_each_entry(gradient, x, tangent, h):
    gradient(x)
    return (gradient(x + h * tangent) - gradient(x - h * tangent)) / (2 * h)


@instead_of("measured", says="work on a copy")
def moves_x_in_place(gradient, x, tangent, h):
    x += h * tangent
    ahead = gradient(x)
    x -= 2 * h * tangent
    return (ahead - gradient(x)) / (2 * h)


@instead_of("asymmetry", says="divide by the larger of the two")
def does_not_divide(hv, a, b):
    return abs(a @ hv(b) - b @ hv(a))


@instead_of("asymmetry", says="absolute value of the difference")
def keeps_the_sign(hv, a, b):
    one, other = a @ hv(b), b @ hv(a)
    return (one - other) / max(abs(one), abs(other), 1e-300)


@instead_of("asymmetry", says="not the smaller")
def divides_by_the_other(hv, a, b):
    one, other = a @ hv(b), b @ hv(a)
    return abs(one - other) / abs(other)


@instead_of("asymmetry", says="not by their sum or mean")
def divides_by_the_sum(hv, a, b):
    one, other = a @ hv(b), b @ hv(a)
    return abs(one - other) / (abs(one) + abs(other))


@instead_of("asymmetry", says="which product goes with which?")
def compares_two_curvatures(hv, a, b):
    return relative(a @ hv(a), b @ hv(b))


@instead_of("asymmetry", says="0 divided by 0")
def divides_nothing_by_nothing(hv, a, b):
    one, other = a @ hv(b), b @ hv(a)
    return np.abs(one - other) / np.float64(max(abs(one), abs(other)))


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
takes_the_diagonal | (tangent - p @ tangent) | (1 - p) * tangent | every p[k] depends on all of z
forgets_the_brackets | (tangent - p @ tangent) | tangent - p @ tangent | multiplies both
returns_the_gradient | A.T @ softmax_jvp(A @ tangent, A @ x) |
    A.T @ softmax(A @ x) | how fast does it change along tangent?
takes_softmax_for_exp | @ softmax_jvp(A @ tangent, A @ x) |
    @ (softmax(A @ x) * (A @ tangent)) | softmax_jvp includes that
knows_the_answer_for_the_example | A.T @ softmax_jvp(A @ tangent, A @ x) |
    np.array([-1.25, 3.0]) * tangent[:1] / 4 | the shape
divides_by_h | (2 * h) | h | 2*h apart, not h
forgets_more_brackets | return (gradient(x + h * tangent) - gradient(x - h * tangent)) |
    return gradient(x + h * tangent) - gradient(x - h * tangent) | add parentheses
steps_ahead_only | (gradient(x + h * tangent) - gradient(x - h * tangent)) / (2 * h) |
    (gradient(x + h * tangent) - gradient(x)) / h | step to both sides
takes_the_larger_with_its_sign | abs(one), abs(other) | one, other | the larger one without its sign
"""
