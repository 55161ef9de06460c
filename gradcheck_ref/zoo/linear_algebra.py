"""Matrices: products, inverses, norms, and plain rearrangements of entries.

``u`` is the upstream gradient, of the shape of the output.
"""

from typing import Any

import numpy as np

from .case import HALVED, NEGATED, TRANSPOSED, ZERO, Array, Case, accumulated, case, rolled, without

SMOOTH = "linear-algebra smooth"

# Square, well conditioned, positive determinant, no symmetry and no repeated entry.
SQUARE = np.array([[2.1, -0.4, 0.7], [0.3, 1.6, -0.9], [-0.5, 0.8, 2.4]])


def affine() -> Case:
    """Y = X W + b."""

    def f(X: Array, W: Array, b: Array) -> Any:
        return X @ W + b

    def vjp(u: Any, X: Array, W: Array, b: Array) -> Any:
        return u @ W.T, X.T @ u, u.sum(axis=0)

    X = np.array([[0.8, -1.2, 0.5], [1.4, 0.6, -0.7]])
    W = np.array([[0.3, -0.9, 1.1, 0.4], [1.3, 0.7, -0.2, -0.8], [-0.6, 0.2, 0.9, 1.5]])
    return (
        case("affine", f, vjp, SMOOTH, X, W, np.array([0.1, -0.4, 0.6, 0.2]))
        .bug(
            "bias-not-summed",
            "The bias was broadcast over the batch; its gradient must be summed over it.",
        )
        .wrong("missing-sum", "missing-sum", lambda u, X, W, b: u, part=2)
        .bug("bias-forgotten", "The bias is added forward and forgotten backward.")
        .wrong("zero", "zero", lambda u, X, W, b: (u @ W.T, X.T @ u, np.zeros_like(b)))
        .bug("bias-mean", "Mean over the batch instead of the sum.")
        .wrong("mean-for-sum", "factor", lambda u, X, W, b: (u @ W.T, X.T @ u, u.mean(axis=0)))
        .bug(
            "weights-averaged",
            "The division by the batch size is done in the layer and in the loss.",
        )
        .wrong("mean-for-sum", "factor", lambda u, X, W, b: X.T @ u / len(X), part=1)
        .bug("weights-transposed", "The weights are (out, in) in another library.")
        .wrong("transpose", "transposed", lambda u, X, W, b: (u @ W.T, u.T @ X, u.sum(axis=0)))
        .bug("weights-accumulate", "Nothing calls zero_grad between two backward passes.")
        .by(accumulated(), part=1)
        .bug("last-column-left-out", "The loop over the outputs ends one too early.")
        .by(without(np.s_[:, -1], "row-or-column"), part=1)
    )


def matmul() -> Case:
    """Y = A B, both square."""

    def f(A: Array, B: Array) -> Any:
        return A @ B

    def vjp(u: Any, A: Array, B: Array) -> Any:
        return u @ B.T, A.T @ u

    B = np.array([[0.4, -1.1, 0.9], [1.3, 0.2, -0.6], [-0.3, 0.8, 1.7]])
    return (
        case("matmul", f, vjp, SMOOTH, SQUARE.copy(), B)
        .bug(
            "right-factor-not-transposed",
            "B instead of its transpose; for square matrices the shapes agree.",
        )
        .wrong("transpose", "transposed", lambda u, A, B: u @ B, part=0)
        .bug(
            "left-factor-not-transposed",
            "A instead of its transpose; for square matrices the shapes agree.",
        )
        .wrong("transpose", "transposed", lambda u, A, B: A @ u, part=1)
        .bug("wrong-side", "Matrices do not commute.")
        .wrong("order", "unknown", lambda u, A, B: (B.T @ u, A.T @ u))
    )


def matrix_vector() -> Case:
    """Differentiate y = A x."""

    def f(A: Array, x: Array) -> Any:
        return A @ x

    def vjp(u: Any, A: Array, x: Array) -> Any:
        return np.outer(u, x), A.T @ u

    return (
        case("matrix_vector", f, vjp, SMOOTH, SQUARE.copy(), np.array([0.9, -1.3, 0.4]))
        .bug("not-transposed", "The forward matrix is applied to the upstream.")
        .wrong("transpose", "transposed", lambda u, A, x: (np.outer(u, x), A @ u))
        .bug("outer-swapped", "The arguments of the outer product are swapped.")
        .wrong("transpose", "transposed", lambda u, A, x: (np.outer(x, u), A.T @ u))
        .bug("diagonal-left-out", "A mask that forbids self-connections, backward only.")
        .wrong("wrong-mask", "mask", lambda u, A, x: np.outer(u, x) * (1 - np.eye(3)), part=0)
    )


def bilinear_form() -> Case:
    """x^T A y, A not square."""

    def f(x: Array, A: Array, y: Array) -> Any:
        return x @ A @ y

    def vjp(u: Any, x: Array, A: Array, y: Array) -> Any:
        return u * (A @ y), u * np.outer(x, y), u * (A.T @ x)

    A = np.array([[0.7, -0.3, 1.2], [-1.1, 0.6, 0.9]])
    return (
        case("bilinear_form", f, vjp, SMOOTH, np.array([1.3, -0.8]), A, np.array([0.4, 1.5, -0.6]))
        .bug("outer-swapped", "The arguments of the outer product are swapped.")
        .by(TRANSPOSED, part=1)
        .bug("corner-left-out", "A hand-written loop misses the last corner.")
        .by(without((-1, -1), "single-entries"), part=1)
        .bug("rolled", "y[j - 1] instead of y[j].")
        .wrong("off-by-one", "permuted", lambda u, x, A, y: u * np.outer(x, np.roll(y, 1)), part=1)
    )


def quadratic_form() -> Case:
    """x^T A x with A not symmetric."""

    def f(x: Array, A: Array) -> Any:
        return x @ A @ x

    def vjp(u: Any, x: Array, A: Array) -> Any:
        return u * ((A + A.T) @ x), u * np.outer(x, x)

    return (
        case("quadratic_form", f, vjp, SMOOTH, np.array([0.8, -1.4, 0.5]), SQUARE.copy())
        .bug("symmetric-assumed", "2 A x holds only for a symmetric A.")
        .wrong("wrong-rule", "unknown", lambda u, x, A: (u * 2 * A @ x, u * np.outer(x, x)))
        .bug("one-side", "Only one of the two x is differentiated.")
        .wrong("product-rule", "unknown", lambda u, x, A: (u * (A @ x), u * np.outer(x, x)))
        .changed("half", "The gradient of half the form.", HALVED, part=0)
        .bug("diagonal-only", "x x^T is written as the matrix of squares.")
        .wrong("wrong-mask", "mask", lambda u, x, A: (vjp(u, x, A)[0], u * np.diag(x**2)))
    )


def inverse() -> Case:
    """Y = A^-1."""

    def f(A: Array) -> Any:
        return np.linalg.inv(A)

    def vjp(u: Any, A: Array) -> Any:
        Y = np.linalg.inv(A)
        return -Y.T @ u @ Y.T

    def not_transposed(u: Any, A: Array) -> Any:
        Y = np.linalg.inv(A)
        return -Y @ u @ Y  # wrong: Y.T

    return (
        case("inverse", f, vjp, SMOOTH, SQUARE.copy())
        .changed("sign", "The minus is lost.", NEGATED)
        .bug(
            "not-transposed",
            "The formula for the differential, -Y dA Y, is applied to the upstream.",
        )
        .wrong("transpose", "transposed", not_transposed)
        .bug("entrywise", "-1 / a^2, entry by entry.")
        .wrong("wrong-rule", "unknown", lambda u, A: -u / A**2)
    )


def solve() -> Case:
    """Solve A x = b."""

    def f(A: Array, b: Array) -> Any:
        return np.linalg.solve(A, b)

    def vjp(u: Any, A: Array, b: Array) -> Any:
        db = np.linalg.solve(A.T, u)
        return -np.outer(db, f(A, b)), db

    return (
        case("solve", f, vjp, SMOOTH, SQUARE.copy(), np.array([1.1, -0.6, 1.9]))
        .bug("not-transposed", "The backward pass solves the same system, not the transposed one.")
        .wrong("transpose", "transposed", lambda u, A, b: (vjp(u, A, b)[0], np.linalg.solve(A, u)))
        .changed("sign", "The minus of the inverse is lost.", NEGATED, part=0)
        .bug("outer-swapped", "The arguments of the outer product are swapped.")
        .wrong("transpose", "transposed", lambda u, A, b: (vjp(u, A, b)[0].T, vjp(u, A, b)[1]))
        .bug("right-hand-side-for-solution", "b instead of the solution in the outer product.")
        .wrong("wrong-place", "unknown", lambda u, A, b: -np.outer(vjp(u, A, b)[1], b), part=0)
    )


def log_determinant() -> Case:
    """Differentiate log det A, with det A > 0."""

    def f(A: Array) -> Any:
        return np.log(np.linalg.det(A))

    def vjp(u: Any, A: Array) -> Any:
        return u * np.linalg.inv(A).T

    return (
        case("log_determinant", f, vjp, SMOOTH, SQUARE.copy())
        .bug(
            "not-transposed", "The inverse instead of its transpose; right for symmetric matrices."
        )
        .by(TRANSPOSED)
        .bug("of-the-inverse", "log det of the precision matrix instead of the covariance.")
        .wrong("sign", "sign", lambda u, A: -vjp(u, A))
        .bug("determinant-left-in", "The gradient of the determinant, without the outer 1 / det.")
        .wrong("factor", "factor", lambda u, A: u * np.linalg.det(A) * np.linalg.inv(A).T)
        .bug("diagonal-only", "Only the diagonal is kept, as for a triangular factor.")
        .wrong("wrong-mask", "mask", lambda u, A: u * np.diag(np.diag(np.linalg.inv(A))))
        .bug("ridge", "A ridge for stability, in the backward pass only.")
        .wrong("epsilon", "unknown", lambda u, A: u * np.linalg.inv(A + 1e-5 * np.eye(3)).T)
    )


def frobenius_norm() -> Case:
    """Square root of the sum of all squares."""

    def f(A: Array) -> Any:
        return np.sqrt((A * A).sum())

    def vjp(u: Any, A: Array) -> Any:
        return u * A / f(A)

    def divides_in_place(u: Any, A: Array) -> Any:
        A /= f(A)  # wrong: this is the caller's array
        return u * A

    A = np.array([[0.6, -1.3, 0.9, 0.2], [1.7, 0.4, -0.8, 1.2]])
    return (
        case("frobenius_norm", f, vjp, SMOOTH, A)
        .bug("of-the-square", "The gradient of the squared norm.")
        .wrong("factor", "factor", lambda u, A: u * 2 * A)
        .bug("not-divided", "The division by the norm is forgotten.")
        .wrong("factor", "factor", lambda u, A: u * A)
        .bug("divides-in-place", "A /= norm, on the caller's array.")
        .wrong("in-place", "mutated", divides_in_place)
        .changed("first-row-left-out", "The loop counts rows from 1.", without(0, "row-or-column"))
        .bug("sign-matrix", "The gradient of the sum of absolute values.")
        .wrong("wrong-rule", "unknown", lambda u, A: u * np.sign(A))
    )


def trace_of_product() -> Case:
    """Trace of A B, A 2 x 3 and B 3 x 2."""

    def f(A: Array, B: Array) -> Any:
        return np.trace(A @ B)

    def vjp(u: Any, A: Array, B: Array) -> Any:
        return u * B.T, u * A.T

    A = np.array([[0.7, -1.2, 0.3], [1.6, 0.5, -0.9]])
    B = np.array([[1.1, 0.4], [-0.6, 1.8], [0.2, -1.4]])
    return (
        case("trace_of_product", f, vjp, SMOOTH, A, B)
        .changed("not-transposed", "d tr(A B) / dA is B^T, not B.", TRANSPOSED, part=0)
        .changed("second-zero", "The second factor is treated as a constant.", ZERO, part=1)
        .bug("second-reversed", "The columns come back in reverse order.")
        .wrong("order", "permuted", lambda u, A, B: (u * B.T, u * A.T[:, ::-1]))
    )


def outer_product() -> Case:
    """Y[i, j] = a[i] b[j]."""

    def f(a: Array, b: Array) -> Any:
        return a[:, None] * b

    def vjp(u: Any, a: Array, b: Array) -> Any:
        return u @ b, a @ u

    a = np.array([0.9, -1.4, 0.5])
    b = np.array([1.2, 0.3, -0.7, 1.6])
    return (
        case("outer_product", f, vjp, SMOOTH, a, b)
        .bug(
            "second-not-summed",
            "Each b[j] appears in three entries; the sum over them is forgotten.",
        )
        .wrong("missing-sum", "missing-sum", lambda u, a, b: a[:, None] * u, part=1)
        .bug("first-averaged", "Mean over the columns instead of the sum.")
        .wrong("mean-for-sum", "factor", lambda u, a, b: (u @ b / len(b), a @ u))
        .bug("last-column-left-out", "The inner loop ends one too early.")
        .wrong("loop-bounds", "mask", lambda u, a, b: (u[:, :-1] @ b[:-1], a @ u))
    )


def covariance() -> Case:
    """Sample covariance of the columns of X."""

    def centred(X: Array) -> Any:
        return X - X.mean(axis=0)

    def f(X: Array) -> Any:
        C = centred(X)
        return C.T @ C / (len(X) - 1)

    def vjp(u: Any, X: Array) -> Any:
        return centred(X) @ (u + u.T) / (len(X) - 1)

    X = np.array([[0.8, -1.1], [1.9, 0.4], [-0.3, 1.7], [0.5, -0.6]])
    return (
        case("covariance", f, vjp, SMOOTH, X)
        .bug("divided-by-n", "n instead of n - 1.")
        .wrong("n-minus-1", "factor", lambda u, X: vjp(u, X) * (len(X) - 1) / len(X))
        .bug("not-centred", "The raw data instead of the centred data.")
        .wrong("term-dropped", "unknown", lambda u, X: X @ (u + u.T) / (len(X) - 1))
        .bug("one-side", "Only one of the two factors is differentiated.")
        .wrong("product-rule", "unknown", lambda u, X: centred(X) @ u / (len(X) - 1))
    )


def squared_distances() -> Case:
    """D[i, j] = |x_i - y_j|^2 for two small clouds of points."""

    def f(X: Array, Y: Array) -> Any:
        return ((X[:, None] - Y) ** 2).sum(axis=2)

    def vjp(u: Any, X: Array, Y: Array) -> Any:
        pull = 2 * u[:, :, None] * (X[:, None] - Y)
        return pull.sum(axis=1), -pull.sum(axis=0)

    X = np.array([[0.7, -0.9], [1.8, 0.3]])
    Y = np.array([[-0.4, 1.1], [0.2, 2.3], [1.3, -1.6]])
    return (
        case("squared_distances", f, vjp, SMOOTH, X, Y)
        .changed("second-sign", "Both points get the same direction.", NEGATED, part=1)
        .changed("two-forgotten", "The exponent is not brought down.", HALVED, part=0)
        .bug(
            "cross-term-only",
            "|x|^2 - 2 x y + |y|^2 is expanded, and only the middle is differentiated.",
        )
        .wrong("term-dropped", "unknown", lambda u, X, Y: -2 * u @ Y, part=0)
        .bug("coordinates-swapped", "(row, column) is taken for (x, y).")
        .wrong("order", "permuted", lambda u, X, Y: (vjp(u, X, Y)[0], vjp(u, X, Y)[1][:, ::-1]))
    )


def cumulative_sum() -> Case:
    """y[i] = w[0] x[0] + ... + w[i] x[i] with fixed weights."""
    w = np.array([0.9, -0.5, 1.4, 0.7, 1.1])

    def f(x: Array) -> Any:
        return np.cumsum(w * x)

    def vjp(u: Any, x: Array) -> Any:
        return w * np.cumsum(u[::-1])[::-1]

    x = np.array([0.3, 1.2, -0.8, 0.6, 1.5])
    return (
        case("cumulative_sum", f, vjp, SMOOTH, x)
        .bug(
            "forward-again",
            "The upstream is summed from the front; it must be summed from the back.",
        )
        .wrong("direction", "unknown", lambda u, x: w * np.cumsum(u))
        .bug("exclusive", "The entry itself is left out of its own sum.")
        .wrong("off-by-one", "mask", lambda u, x: w * (np.cumsum(u[::-1])[::-1] - u))
        .bug("not-summed", "Each entry is assumed to affect only its own output.")
        .wrong("missing-sum", "mask", lambda u, x: w * u)
    )


def cumulative_product() -> Case:
    """y[i] = x[0] x[1] ... x[i]."""

    def f(x: Array) -> Any:
        return np.cumprod(x)

    def vjp(u: Any, x: Array) -> Any:
        return np.cumsum((u * np.cumprod(x))[::-1])[::-1] / x

    return (
        case("cumulative_product", f, vjp, SMOOTH, np.array([0.8, -1.3, 1.6, 0.7]))
        .bug("not-divided", "The factor itself is not divided out again.")
        .wrong("term-dropped", "inner-factor", lambda u, x: vjp(u, x) * x)
        .bug("own-output-only", "Each factor is assumed to affect only its own output.")
        .wrong("missing-sum", "mask", lambda u, x: u * np.cumprod(x) / x)
        .bug("guarded", "A guard against a factor of 0.")
        .wrong("epsilon", "unknown", lambda u, x: vjp(u, x) * x / (x + 1e-4))
    )


def gather() -> Case:
    """Differentiate y = w x[index] with a repeated index and fixed weights."""
    w = np.array([1.2, -0.7, 0.5, 1.6])

    def f(x: Array, index: Array) -> Any:
        return w * x[index]

    def vjp(u: Any, x: Array, index: Array) -> Any:
        grad = np.zeros_like(x)
        np.add.at(grad, index, w * u)
        return grad, None

    def last_one_wins(u: Any, x: Array, index: Array) -> Any:
        grad = np.zeros_like(x)
        grad[index] = w * u  # wrong: repeated indices overwrite each other
        return grad, None

    return (
        case("gather", f, vjp, SMOOTH, np.array([0.4, 1.1, -0.9]), np.array([2, 0, 2, 1]))
        .bug("last-one-wins", "Fancy assignment does not add up repeated indices.")
        .wrong("missing-sum", "single-entries", last_one_wins)
        .changed("one-too-far", "Indices counted from 1.", rolled())
        .bug("weights-forgotten", "The scatter is right, the weights are left out.")
        .wrong("factor", "unknown", lambda u, x, index: (vjp(u / w, x, index)[0], None))
    )


def axes_permuted() -> Case:
    """Y[k, i, j] = c[k] X[i, j, k]: a transposition of three axes, and a scale."""
    c = np.array([0.6, 1.7])

    def f(X: Array) -> Any:
        return np.transpose(X * c, (2, 0, 1))

    def vjp(u: Any, X: Array) -> Any:
        return np.transpose(u, (1, 2, 0)) * c

    rng = np.random.default_rng(11)
    return (
        case("axes_permuted", f, vjp, SMOOTH, rng.uniform(0.3, 1.9, (2, 2, 2)))
        .bug(
            "same-permutation-again",
            "The forward permutation is applied again; its inverse is needed.",
        )
        .wrong("transpose", "permuted", lambda u, X: np.transpose(u, (2, 0, 1)) * c)
        .bug("first-axes-swapped", "Two axes end up swapped.")
        .wrong("transpose", "permuted", lambda u, X: np.transpose(u, (2, 1, 0)) * c)
        .bug("scale-squared", "The scale is applied twice.")
        .wrong("factor", "unknown", lambda u, X: np.transpose(u, (1, 2, 0)) * c**2)
    )


def determinant() -> Case:
    """Differentiate det A."""

    def f(A: Array) -> Any:
        return np.linalg.det(A)

    def vjp(u: Any, A: Array) -> Any:
        return u * np.linalg.det(A) * np.linalg.inv(A).T

    return (
        case("determinant", f, vjp, SMOOTH, SQUARE.copy())
        .bug("of-the-logarithm", "The gradient of log det.")
        .wrong("factor", "factor", lambda u, A: u * np.linalg.inv(A).T)
        .changed("adjugate", "The adjugate instead of the matrix of cofactors.", TRANSPOSED)
        .bug("minors", "Minors without their chequerboard of signs.")
        .wrong("sign", "unknown", lambda u, A: np.abs(vjp(u, A)))
    )


CASES = (
    affine, matmul, matrix_vector, bilinear_form, quadratic_form, inverse, solve,
    log_determinant, determinant, frobenius_norm, trace_of_product, outer_product, covariance,
    squared_distances, cumulative_sum, cumulative_product, gather, axes_permuted,
)  # fmt: skip
