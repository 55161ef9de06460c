"""Checks of exercise 13."""

import numpy as np

from expect import CUT_OFF, AnyOf, Call, Formula, after, builds_on, is_no_measurement, shown

# Logarithms of small integers: the probabilities are fractions one can check by hand.
Z, T = np.log([1.0, 2.0, 5.0]), np.array([8.0, 16.0, -16.0])
P = np.array([1.0, 2.0, 5.0]) / 8
P_MOVES = np.array([1.625, 5.25, -6.875])

A = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
X, ALONG = np.log([4.0, 2.0]), np.array([4.0, 8.0])  # the probabilities are 1/2, 1/4, 1/4
Q, MOVED = np.array([2.0, 1.0, 1.0]) / 4, np.array([4.0, 8.0, -4.0])
HV = np.array([-1.25, 3.0])

H = 0.25
CUBES = Formula("x*x*x, entry by entry", lambda x: x * x * x)
MATRIX = np.array([[1.0, 2.0], [4.0, 3.0]])
U, V = np.array([1.0, 2.0]), np.array([2.0, 1.0])
ONE, OTHER = 26.0, 20.0  # U @ MATRIX @ V, and V @ MATRIX @ U


def check_softmax_moves(sub):
    """The probabilities move as a calculation by hand says, for a tangent of any length."""
    call = Call(sub, "softmax_jvp", T, Z)
    call.text = f"softmax_jvp({shown(T)}, log([1 2 5]))"
    there, jacobian = np.exp(Z + T), np.diag(P) - np.outer(P, P)
    slips = {
        "the sum of the exponentials moves, too: p is a quotient": P * T,
        "the mean that is subtracted is weighted by p": P * (T - T.mean()),
        "the mean that is subtracted is weighted by p; that is a sum": P * (T - T.sum()),
        "every p[k] depends on all of z, not only on z[k]": P * (1 - P) * T,
        "the mean is subtracted, not added": P * (T + P @ T),
        "the mean that is subtracted is weighted by p, not by z": P * (T - Z @ T),
        "the mean that is subtracted is weighted by p, not by tangent": P * (T - T @ T),
        "tangent less its mean: the tangent itself is missing": P * (1 - P @ T),
        "p * (1 - p) is how fast p[k] grows with z[k] alone; where is tangent?": P * (1 - P),
        "that is softmax of tangent; take it at z": np.exp(T - 16) / np.exp(T - 16).sum(),
        "that is the Jacobian, a matrix; multiply it by tangent, with @": AnyOf(
            jacobian, jacobian * T
        ),
        "that is the mean of tangent, one number; each p[k] moves by itself": P @ T,
        "where is the p in front?": AnyOf(T - P @ T, T - P * (P @ T)),
        "the p in front multiplies both": P * T - P @ T,
        "the mean is subtracted from tangent": P * T * (1 - P @ T),
        "that is p; how fast does it move?": P,
        "p is divided by the sum; the exponentials alone move like this": 8 * P * (T - P @ T),
        "use tangent as it is; do not make it a unit vector": P_MOVES / 24,
        "that is softmax at the new place; how fast does it move there?": there / there.sum(),
    }
    call.gives(P_MOVES, slips, stand_in=jvp_of)
    any_length(sub, "softmax_jvp", T, Z, right=P_MOVES)


@builds_on(check_softmax_moves)
def check_the_hessian(sub):
    """The Hessian times a direction is right where you can check it by hand."""
    call = Call(sub, "hessian_vector", ALONG, X, A)
    call.text = f"hessian_vector({shown(ALONG)}, log([4 2]), {shown(A)})"
    elsewhere = AnyOf(*(A.T @ jvp_of(MOVED, z) for z in (np.zeros(3), MOVED)))
    mistakes = {
        "that is the gradient; how fast does it change along tangent?": A.T @ Q,
        "the sum of the exponentials moves, too; softmax_jvp includes that": A.T @ (Q * MOVED),
        "that is how the probabilities move; multiply by A.T": Q * (MOVED - Q @ MOVED),
        "take the jvp at A @ x, as in the gradient": elsewhere,
        "that is the gradient times tangent, entry by entry": A.T @ Q * ALONG,
        "where is softmax? its jvp is between A and A.T": A.T @ A @ ALONG,
        "A.T @ the jvp, with @ and not *": A.T * (Q * (MOVED - Q @ MOVED)),
        "place and tangent have changed places": A.T @ jvp_of(A @ X, A @ ALONG),
        "that is one number, the curvature along tangent; return an array like x": ALONG @ HV,
    }
    call.gives(HV, mistakes)
    any_length(sub, "hessian_vector", ALONG, X, A, right=HV)


@builds_on(check_the_hessian)
def check_other_sizes(sub):
    """The Hessian times a direction is right for other sizes."""
    rng = np.random.default_rng(13)
    for rows, columns in ((4, 3), (3, 3), (2, 5)):
        a = rng.normal(size=(rows, columns)).round(1)
        x, along = rng.normal(size=(2, columns)).round(1)
        moves = jvp_of(a @ along, a @ x)
        mistakes = {}
        if rows == columns:
            mistakes = {
                "A @ x moves along A @ tangent, and not along tangent": a.T @ jvp_of(along, a @ x),
                "the gradient begins with A.T, not with A": a @ moves,
                "where is A.T? that is how the probabilities move": moves,
            }
        Call(sub, "hessian_vector", along, x, a).gives(a.T @ moves, mistakes)


def check_the_difference_of_two_gradients(sub):
    """For the gradient x*x*x, the measured change is 3*x*x*tangent + h*h*tangent**3."""
    x, along = np.array([1.0, -2.0]), np.array([2.0, -1.0])
    right = 3 * x * x * along + H * H * along**3
    by_axes = np.array([3.0625, 12.0625])
    rise = CUBES.f(x + H * along) - CUBES.f(x)
    no_parentheses = CUBES.f(x + H * along) - CUBES.f(x - H * along) / (2 * H)
    unit = (3 * x * x * along + H * H * along**3 / 5) / np.sqrt(5)
    slips = {
        "the two places are 2*h apart, not h": 2 * right,
        "that is / 2 * h, which multiplies by h; add parentheses": right * H * H,
        "that is f ahead - f behind / (2*h), as / comes before -; add parentheses": no_parentheses,
        "the difference is not divided by anything": 2 * H * right,
        "that is a forward difference; step to both sides": rise / H,
        "one place is x itself, and you divide by 2*h; step to both sides": rise / (2 * H),
        "x moves by h times tangent, not by tangent": (CUBES.f(x + along) - CUBES.f(x - along))
        / (2 * H),
        "the two gradients are added; subtract one from the other": (
            CUBES.f(x + H * along) + CUBES.f(x - H * along)
        )
        / (2 * H),
        "no product with tangent at the end: one number for each entry": right @ along,
        "x moves along tangent, not every entry by h": AnyOf(by_axes, by_axes * along),
        "that is the rule, without h; the task is to measure": 3 * x * x * along,
        "use tangent as it is; do not make it a unit vector": unit,
        "divide by 2*h alone, for any tangent": AnyOf(right / along, right / np.sqrt(5)),
    }
    Call(sub, "measured", CUBES, x, along, h=H).gives(right, slips)
    Call(sub, "measured", CUBES, x, along, h=H).gives_in_any_size(right, 1)


@after(check_the_difference_of_two_gradients)
def check_two_gradients_are_enough(sub):
    """The gradient is called twice, for any number of entries."""
    call = Call(sub, "measured", CUBES, np.linspace(-1, 1, 40), np.ones(40), h=H)
    call.calls_f(2, "one direction needs one gradient on each side")


def check_the_asymmetry(sub):
    """The asymmetry is a difference, divided by the larger of the two."""
    f = Formula("M @ x, M = [[1 2] [4 3]]", lambda x: MATRIX @ x)
    right = (ONE - OTHER) / ONE
    curved = sorted([U @ MATRIX @ U, V @ MATRIX @ V])
    same_twice = AnyOf(1 - curved[0] / curved[1], 0.0)
    mistakes = {
        "divide by the larger of the two": ONE - OTHER,
        "the difference of the two, not their sum": (ONE + OTHER) / ONE,
        "divide by the larger of the two, not the smaller": 6 / OTHER,
        "divide by the larger of the two, not by their sum or mean": AnyOf(6 / 46, 6 / 23),
        "take the absolute value of the difference": AnyOf(-right, -6 / OTHER, OTHER - ONE),
        "which product goes with which? a with hv(b), and b with hv(a)": same_twice,
    }
    for a, b in ((U, V), (V, U)):
        Call(sub, "asymmetry", f, a, b).gives(right, mistakes)
    negative = Formula("-M @ x, M = [[1 2] [4 3]]", lambda x: -MATRIX @ x)
    mistakes = {"both may be negative: the larger one without its sign": AnyOf(0.3, -0.3, -right)}
    for a, b in ((U, V), (V, U)):
        Call(sub, "asymmetry", negative, a, b).gives(right, mistakes)
    corner = np.array([[0.0, 1.0], [0.0, 0.0]])
    half = Formula("M @ x, M = [[0 1] [0 0]]", lambda x: corner @ x)
    mistakes = {"only one of the two is 0 here, so they differ": AnyOf(0.0, np.nan)}
    for a, b in (np.eye(2), np.eye(2)[::-1]):
        Call(sub, "asymmetry", half, a, b).gives(1.0, mistakes)
    small = Formula("1e-160 * (M @ x), M = [[1 2] [4 3]]", lambda x: 1e-160 * (MATRIX @ x))
    Call(sub, "asymmetry", small, U, V).gives_in_any_size(right, 1, of_result=0)


@after(check_the_asymmetry)
def check_a_symmetric_matrix_has_none(sub):
    """A symmetric matrix has asymmetry 0, and so has a matrix of zeros."""
    f = Formula("M @ x, M = [[2 6] [6 6]]", lambda x: (MATRIX + MATRIX.T) @ x)
    Call(sub, "asymmetry", f, U, V).gives(0.0)
    nothing = Formula("0 * x", lambda x: 0 * x)
    mistakes = {"0 divided by 0: if both are 0, they are equal": np.nan}
    Call(sub, "asymmetry", nothing, U, V).gives(0.0, mistakes)


@after(check_the_hessian)
def check_inputs_are_left_alone(sub):
    """No function changes its arguments."""
    Call(sub, "softmax_jvp", T, Z).leaves_its_arguments()
    Call(sub, "hessian_vector", ALONG, X, A).leaves_its_arguments()
    Call(sub, "measured", CUBES, X, ALONG, h=H).leaves_its_arguments()


@after(check_the_hessian)
@builds_on(check_other_sizes)
def heldout_columns_and_large_scores(sub):
    """Along the axes you get the columns of the Hessian, and nothing overflows."""
    x = np.array([0.3, -0.7])
    for axis in np.eye(2):
        right = A.T @ jvp_of(A @ axis, A @ x)
        Call(sub, "hessian_vector", axis, x, A).gives(right)
    z = np.array([1000.0, 1000.0, 0.0])
    Call(sub, "softmax_jvp", np.array([1.0, 0.0, 5.0]), z).gives([0.25, -0.25, 0.0])
    Call(sub, "softmax_jvp", T, Z + 1e6).gives(P_MOVES, otherwise=CUT_OFF)
    right = A[:2].T @ jvp_of(A[:2] @ ALONG, X)
    Call(sub, "hessian_vector", ALONG, X + 1000, A[:2]).gives(right, rtol=1e-6)
    is_no_measurement(Call(sub, "softmax_jvp", T, Z))
    is_no_measurement(Call(sub, "hessian_vector", ALONG, X, A))


def jvp_of(tangent, z):
    """Return how fast softmax moves."""
    p = np.exp(z - z.max())
    p /= p.sum()
    return p * (tangent - p @ tangent)


def any_length(sub, name, tangent, *place, right):
    """Refuse what is not linear in the tangent."""
    stand_in = jvp_of if name == "softmax_jvp" else None
    for times in (2.0, 1e-200, 1e200):
        mistakes = {
            "that is the answer to the last tangent; compute it from this one": right,
            "nothing moved: do you measure it by a step along tangent? derive it": 0 * right,
            "use tangent as it is; do not make it a unit vector": right / np.linalg.norm(tangent),
        }
        look_at = (
            f"{times:g} times the tangent gives {times:g} times the answer: it is linear in it"
        )
        call = Call(sub, name, times * tangent, *place)
        call.gives(times * right, mistakes, stand_in=stand_in, otherwise=look_at)
