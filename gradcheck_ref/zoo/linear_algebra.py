"""Matrices: products, inverses, norms, and plain rearrangements of entries.

``u`` is the upstream gradient, of the shape of the output.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .case import Array, Bug, Case

SMOOTH = frozenset({"linear-algebra", "smooth"})

# Square, well conditioned, positive determinant, no symmetry and no repeated entry.
SQUARE = np.array([[2.1, -0.4, 0.7], [0.3, 1.6, -0.9], [-0.5, 0.8, 2.4]])


def affine() -> Case:
    """Y = X W + b."""

    def f(X: Array, W: Array, b: Array) -> Any:
        return X @ W + b

    def vjp(u: Any, X: Array, W: Array, b: Array) -> Any:
        return u @ W.T, X.T @ u, u.sum(axis=0)

    kept = np.zeros((3, 4))

    def accumulates(u: Any, X: Array, W: Array, b: Array) -> Any:
        nonlocal kept
        kept = kept + X.T @ u  # wrong: the buffer is never set to zero
        return u @ W.T, kept, u.sum(axis=0)

    def last_column_left_out(u: Any, X: Array, W: Array, b: Array) -> Any:
        dW = X.T @ u
        dW[:, -1] = 0  # wrong: the loop over outputs stopped early
        return u @ W.T, dW, u.sum(axis=0)

    X = np.array([[0.8, -1.2, 0.5], [1.4, 0.6, -0.7]])
    W = np.array([[0.3, -0.9, 1.1, 0.4], [1.3, 0.7, -0.2, -0.8], [-0.6, 0.2, 0.9, 1.5]])
    return Case(
        "affine",
        f,
        (X, W, np.array([0.1, -0.4, 0.6, 0.2])),
        vjp,
        SMOOTH,
        (
            Bug(
                "affine/bias-not-summed",
                "missing-sum",
                lambda u, X, W, b: (u @ W.T, X.T @ u, u),
                "The bias was broadcast over the batch; its gradient must be summed over it.",
                "missing-sum",
            ),
            Bug(
                "affine/bias-forgotten",
                "zero",
                lambda u, X, W, b: (u @ W.T, X.T @ u, np.zeros_like(b)),
                "The bias is added forward and forgotten backward.",
                "zero",
            ),
            Bug(
                "affine/bias-mean",
                "mean-for-sum",
                lambda u, X, W, b: (u @ W.T, X.T @ u, u.mean(axis=0)),
                "Mean over the batch, where the sum belongs.",
                "factor",
            ),
            Bug(
                "affine/weights-averaged",
                "mean-for-sum",
                lambda u, X, W, b: (u @ W.T, X.T @ u / len(X), u.sum(axis=0)),
                "The division by the batch size is done in the layer and in the loss.",
                "factor",
            ),
            Bug(
                "affine/weights-transposed",
                "transpose",
                lambda u, X, W, b: (u @ W.T, u.T @ X, u.sum(axis=0)),
                "The weights are (out, in) in another library.",
                "transposed",
            ),
            Bug(
                "affine/weights-accumulate",
                "accumulation",
                accumulates,
                "Nobody calls zero_grad between two backward passes.",
                "accumulated",
            ),
            Bug(
                "affine/last-column-left-out",
                "loop-bounds",
                last_column_left_out,
                "The loop over the outputs ends one too early.",
                "row-or-column",
            ),
        ),
    )


def matmul() -> Case:
    """Y = A B, both square."""

    def f(A: Array, B: Array) -> Any:
        return A @ B

    def vjp(u: Any, A: Array, B: Array) -> Any:
        return u @ B.T, A.T @ u

    B = np.array([[0.4, -1.1, 0.9], [1.3, 0.2, -0.6], [-0.3, 0.8, 1.7]])
    return Case(
        "matmul",
        f,
        (SQUARE.copy(), B),
        vjp,
        SMOOTH,
        (
            Bug(
                "matmul/right-factor-not-transposed",
                "transpose",
                lambda u, A, B: (u @ B, A.T @ u),
                "B instead of its transpose; square matrices do not object.",
                "transposed",
            ),
            Bug(
                "matmul/left-factor-not-transposed",
                "transpose",
                lambda u, A, B: (u @ B.T, A @ u),
                "A instead of its transpose; square matrices do not object.",
                "transposed",
            ),
            Bug(
                "matmul/wrong-side",
                "order",
                lambda u, A, B: (B.T @ u, A.T @ u),
                "Matrices do not commute.",
                "unknown",
            ),
        ),
    )


def matrix_vector() -> Case:
    """Differentiate y = A x."""

    def f(A: Array, x: Array) -> Any:
        return A @ x

    def vjp(u: Any, A: Array, x: Array) -> Any:
        return np.outer(u, x), A.T @ u

    def diagonal_left_out(u: Any, A: Array, x: Array) -> Any:
        grad = np.outer(u, x)
        np.fill_diagonal(grad, 0)
        return grad, A.T @ u

    return Case(
        "matrix_vector",
        f,
        (SQUARE.copy(), np.array([0.9, -1.3, 0.4])),
        vjp,
        SMOOTH,
        (
            Bug(
                "matrix_vector/not-transposed",
                "transpose",
                lambda u, A, x: (np.outer(u, x), A @ u),
                "The forward matrix is applied to the upstream.",
                "transposed",
            ),
            Bug(
                "matrix_vector/outer-swapped",
                "transpose",
                lambda u, A, x: (np.outer(x, u), A.T @ u),
                "The arguments of the outer product are swapped.",
                "transposed",
            ),
            Bug(
                "matrix_vector/diagonal-left-out",
                "wrong-mask",
                diagonal_left_out,
                "A mask that forbids self-connections, backward only.",
                "mask",
            ),
        ),
    )


def bilinear_form() -> Case:
    """x^T A y, A not square."""

    def f(x: Array, A: Array, y: Array) -> Any:
        return x @ A @ y

    def vjp(u: Any, x: Array, A: Array, y: Array) -> Any:
        return u * (A @ y), u * np.outer(x, y), u * (A.T @ x)

    def corner_left_out(u: Any, x: Array, A: Array, y: Array) -> Any:
        dx, dA, dy = vjp(u, x, A, y)
        dA[-1, -1] = 0  # wrong
        return dx, dA, dy

    A = np.array([[0.7, -0.3, 1.2], [-1.1, 0.6, 0.9]])
    return Case(
        "bilinear_form",
        f,
        (np.array([1.3, -0.8]), A, np.array([0.4, 1.5, -0.6])),
        vjp,
        SMOOTH,
        (
            Bug(
                "bilinear_form/outer-swapped",
                "transpose",
                lambda u, x, A, y: (u * (A @ y), u * np.outer(y, x), u * (A.T @ x)),
                "The arguments of the outer product are swapped.",
                "transposed",
            ),
            Bug(
                "bilinear_form/corner-left-out",
                "loop-bounds",
                corner_left_out,
                "A hand-written loop misses the last corner.",
                "single-entries",
            ),
            Bug(
                "bilinear_form/rolled",
                "off-by-one",
                lambda u, x, A, y: (
                    u * (A @ y),
                    u * np.outer(x, np.roll(y, 1)),
                    u * (A.T @ x),
                ),
                "y[j - 1] where y[j] belongs.",
                "permuted",
            ),
        ),
    )


def quadratic_form() -> Case:
    """x^T A x with A not symmetric."""

    def f(x: Array, A: Array) -> Any:
        return x @ A @ x

    def vjp(u: Any, x: Array, A: Array) -> Any:
        return u * ((A + A.T) @ x), u * np.outer(x, x)

    return Case(
        "quadratic_form",
        f,
        (np.array([0.8, -1.4, 0.5]), SQUARE.copy()),
        vjp,
        SMOOTH,
        (
            Bug(
                "quadratic_form/symmetric-assumed",
                "wrong-rule",
                lambda u, x, A: (u * 2 * A @ x, u * np.outer(x, x)),
                "2 A x holds only for a symmetric A.",
                "unknown",
            ),
            Bug(
                "quadratic_form/one-side",
                "product-rule",
                lambda u, x, A: (u * (A @ x), u * np.outer(x, x)),
                "Only one of the two x is differentiated.",
                "unknown",
            ),
            Bug(
                "quadratic_form/half",
                "factor-half",
                lambda u, x, A: (vjp(u, x, A)[0] / 2, u * np.outer(x, x)),
                "The gradient of half the form.",
                "factor",
            ),
            Bug(
                "quadratic_form/diagonal-only",
                "wrong-mask",
                lambda u, x, A: (vjp(u, x, A)[0], u * np.diag(x**2)),
                "x x^T is written as the matrix of squares.",
                "mask",
            ),
        ),
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

    def scalar_rule(u: Any, A: Array) -> Any:
        return -u / A**2  # wrong: the rule for numbers

    return Case(
        "inverse",
        f,
        (SQUARE.copy(),),
        vjp,
        SMOOTH,
        (
            Bug(
                "inverse/sign",
                "sign",
                lambda u, A: -vjp(u, A),
                "The minus is lost.",
                "sign",
            ),
            Bug(
                "inverse/not-transposed",
                "transpose",
                not_transposed,
                "The formula for the differential, -Y dA Y, is applied to the upstream.",
                "transposed",
            ),
            Bug(
                "inverse/entrywise",
                "wrong-rule",
                scalar_rule,
                "-1 / a^2, entry by entry.",
                "unknown",
            ),
        ),
    )


def solve() -> Case:
    """Solve A x = b."""

    def f(A: Array, b: Array) -> Any:
        return np.linalg.solve(A, b)

    def vjp(u: Any, A: Array, b: Array) -> Any:
        db = np.linalg.solve(A.T, u)
        return -np.outer(db, f(A, b)), db

    return Case(
        "solve",
        f,
        (SQUARE.copy(), np.array([1.1, -0.6, 1.9])),
        vjp,
        SMOOTH,
        (
            Bug(
                "solve/not-transposed",
                "transpose",
                lambda u, A, b: (vjp(u, A, b)[0], np.linalg.solve(A, u)),
                "The same system is solved backward; it should be the transposed one.",
                "transposed",
            ),
            Bug(
                "solve/sign",
                "sign",
                lambda u, A, b: (-vjp(u, A, b)[0], vjp(u, A, b)[1]),
                "The minus of the inverse is lost.",
                "sign",
            ),
            Bug(
                "solve/outer-swapped",
                "transpose",
                lambda u, A, b: (vjp(u, A, b)[0].T, vjp(u, A, b)[1]),
                "The arguments of the outer product are swapped.",
                "transposed",
            ),
            Bug(
                "solve/right-hand-side-for-solution",
                "wrong-place",
                lambda u, A, b: (-np.outer(vjp(u, A, b)[1], b), vjp(u, A, b)[1]),
                "b instead of the solution in the outer product.",
                "unknown",
            ),
        ),
    )


def log_determinant() -> Case:
    """Differentiate log det A, with det A > 0."""

    def f(A: Array) -> Any:
        return np.log(np.linalg.det(A))

    def vjp(u: Any, A: Array) -> Any:
        return u * np.linalg.inv(A).T

    return Case(
        "log_determinant",
        f,
        (SQUARE.copy(),),
        vjp,
        SMOOTH,
        (
            Bug(
                "log_determinant/not-transposed",
                "transpose",
                lambda u, A: u * np.linalg.inv(A),
                "The inverse instead of its transpose; right for symmetric matrices.",
                "transposed",
            ),
            Bug(
                "log_determinant/of-the-inverse",
                "sign",
                lambda u, A: -vjp(u, A),
                "log det of the precision matrix instead of the covariance.",
                "sign",
            ),
            Bug(
                "log_determinant/determinant-left-in",
                "factor",
                lambda u, A: u * np.linalg.det(A) * np.linalg.inv(A).T,
                "The gradient of the determinant, without the outer 1 / det.",
                "factor",
            ),
            Bug(
                "log_determinant/diagonal-only",
                "wrong-mask",
                lambda u, A: u * np.diag(np.diag(np.linalg.inv(A))),
                "Only the diagonal is kept, as for a triangular factor.",
                "mask",
            ),
            Bug(
                "log_determinant/ridge",
                "epsilon",
                lambda u, A: u * np.linalg.inv(A + 1e-5 * np.eye(3)).T,
                "A ridge for stability, in the backward pass only.",
                "unknown",
            ),
        ),
    )


def frobenius_norm() -> Case:
    """Square root of the sum of all squares."""

    def f(A: Array) -> Any:
        return np.sqrt((A * A).sum())

    def vjp(u: Any, A: Array) -> Any:
        return u * A / f(A)

    def first_row_left_out(u: Any, A: Array) -> Any:
        grad = u * A / f(A)
        grad[0] = 0  # wrong: the loop started at 1
        return grad

    def divides_in_place(u: Any, A: Array) -> Any:
        A /= f(A)  # wrong: this is the caller's array
        return u * A

    return Case(
        "frobenius_norm",
        f,
        (np.array([[0.6, -1.3, 0.9, 0.2], [1.7, 0.4, -0.8, 1.2]]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "frobenius_norm/of-the-square",
                "factor",
                lambda u, A: u * 2 * A,
                "The gradient of the squared norm.",
                "factor",
            ),
            Bug(
                "frobenius_norm/not-divided",
                "factor",
                lambda u, A: u * A,
                "The division by the norm is forgotten.",
                "factor",
            ),
            Bug(
                "frobenius_norm/divides-in-place",
                "in-place",
                divides_in_place,
                "A /= norm, on the caller's array.",
                "mutated",
            ),
            Bug(
                "frobenius_norm/first-row-left-out",
                "loop-bounds",
                first_row_left_out,
                "The loop counts rows from 1.",
                "row-or-column",
            ),
            Bug(
                "frobenius_norm/sign-matrix",
                "wrong-rule",
                lambda u, A: u * np.sign(A),
                "The gradient of the sum of absolute values.",
                "unknown",
            ),
        ),
    )


def trace_of_product() -> Case:
    """Trace of A B, A 2 x 3 and B 3 x 2."""

    def f(A: Array, B: Array) -> Any:
        return np.trace(A @ B)

    def vjp(u: Any, A: Array, B: Array) -> Any:
        return u * B.T, u * A.T

    return Case(
        "trace_of_product",
        f,
        (
            np.array([[0.7, -1.2, 0.3], [1.6, 0.5, -0.9]]),
            np.array([[1.1, 0.4], [-0.6, 1.8], [0.2, -1.4]]),
        ),
        vjp,
        SMOOTH,
        (
            Bug(
                "trace_of_product/not-transposed",
                "transpose",
                lambda u, A, B: (u * B, u * A.T),
                "d tr(A B) / dA is B^T, not B.",
                "transposed",
            ),
            Bug(
                "trace_of_product/second-zero",
                "zero",
                lambda u, A, B: (u * B.T, np.zeros_like(B)),
                "The second factor is taken for a constant.",
                "zero",
            ),
            Bug(
                "trace_of_product/second-reversed",
                "order",
                lambda u, A, B: (u * B.T, u * A.T[:, ::-1]),
                "The columns come back in reverse order.",
                "permuted",
            ),
        ),
    )


def outer_product() -> Case:
    """Y[i, j] = a[i] b[j]."""

    def f(a: Array, b: Array) -> Any:
        return a[:, None] * b

    def vjp(u: Any, a: Array, b: Array) -> Any:
        return u @ b, a @ u

    return Case(
        "outer_product",
        f,
        (np.array([0.9, -1.4, 0.5]), np.array([1.2, 0.3, -0.7, 1.6])),
        vjp,
        SMOOTH,
        (
            Bug(
                "outer_product/second-not-summed",
                "missing-sum",
                lambda u, a, b: (u @ b, a[:, None] * u),
                "Each b[j] appears in three entries; the sum over them is forgotten.",
                "missing-sum",
            ),
            Bug(
                "outer_product/first-averaged",
                "mean-for-sum",
                lambda u, a, b: (u @ b / len(b), a @ u),
                "Mean over the columns, where the sum belongs.",
                "factor",
            ),
            Bug(
                "outer_product/last-column-left-out",
                "loop-bounds",
                lambda u, a, b: (u[:, :-1] @ b[:-1], a @ u),
                "The inner loop ends one too early.",
                "mask",
            ),
        ),
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

    return Case(
        "covariance",
        f,
        (np.array([[0.8, -1.1], [1.9, 0.4], [-0.3, 1.7], [0.5, -0.6]]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "covariance/divided-by-n",
                "n-minus-1",
                lambda u, X: vjp(u, X) * (len(X) - 1) / len(X),
                "n instead of n - 1.",
                "factor",
            ),
            Bug(
                "covariance/not-centred",
                "term-dropped",
                lambda u, X: X @ (u + u.T) / (len(X) - 1),
                "The raw data instead of the centred data.",
                "unknown",
            ),
            Bug(
                "covariance/one-side",
                "product-rule",
                lambda u, X: centred(X) @ u / (len(X) - 1),
                "Only one of the two factors is differentiated.",
                "unknown",
            ),
        ),
    )


def squared_distances() -> Case:
    """D[i, j] = |x_i - y_j|^2 for two small clouds of points."""

    def f(X: Array, Y: Array) -> Any:
        return ((X[:, None] - Y) ** 2).sum(axis=2)

    def vjp(u: Any, X: Array, Y: Array) -> Any:
        pull = 2 * u[:, :, None] * (X[:, None] - Y)
        return pull.sum(axis=1), -pull.sum(axis=0)

    def self_forgotten(u: Any, X: Array, Y: Array) -> Any:
        dX = -2 * u @ Y  # wrong: + 2 x_i sum_j u_ij
        return dX, vjp(u, X, Y)[1]

    return Case(
        "squared_distances",
        f,
        (np.array([[0.7, -0.9], [1.8, 0.3]]), np.array([[-0.4, 1.1], [0.2, 2.3], [1.3, -1.6]])),
        vjp,
        SMOOTH,
        (
            Bug(
                "squared_distances/second-sign",
                "sign",
                lambda u, X, Y: (vjp(u, X, Y)[0], -vjp(u, X, Y)[1]),
                "Both points are given the same direction.",
                "sign",
            ),
            Bug(
                "squared_distances/two-forgotten",
                "factor-half",
                lambda u, X, Y: (vjp(u, X, Y)[0] / 2, vjp(u, X, Y)[1]),
                "The exponent is not brought down.",
                "factor",
            ),
            Bug(
                "squared_distances/cross-term-only",
                "term-dropped",
                self_forgotten,
                "|x|^2 - 2 x y + |y|^2 is expanded, and only the middle is differentiated.",
                "unknown",
            ),
            Bug(
                "squared_distances/coordinates-swapped",
                "order",
                lambda u, X, Y: (vjp(u, X, Y)[0], vjp(u, X, Y)[1][:, ::-1]),
                "(row, column) is taken for (x, y).",
                "permuted",
            ),
        ),
    )


def cumulative_sum() -> Case:
    """y[i] = w[0] x[0] + ... + w[i] x[i] with fixed weights."""
    w = np.array([0.9, -0.5, 1.4, 0.7, 1.1])

    def f(x: Array) -> Any:
        return np.cumsum(w * x)

    def vjp(u: Any, x: Array) -> Any:
        return w * np.cumsum(u[::-1])[::-1]

    def exclusive(u: Any, x: Array) -> Any:
        return w * (np.cumsum(u[::-1])[::-1] - u)  # wrong: y[i] depends on x[i] too

    return Case(
        "cumulative_sum",
        f,
        (np.array([0.3, 1.2, -0.8, 0.6, 1.5]),),
        vjp,
        frozenset({"linear-algebra", "smooth"}),
        (
            Bug(
                "cumulative_sum/forward-again",
                "direction",
                lambda u, x: w * np.cumsum(u),
                "The upstream is summed from the front; it must be summed from the back.",
                "unknown",
            ),
            Bug(
                "cumulative_sum/exclusive",
                "off-by-one",
                exclusive,
                "The entry itself is left out of its own sum.",
                "mask",
            ),
            Bug(
                "cumulative_sum/not-summed",
                "missing-sum",
                lambda u, x: w * u,
                "Each entry is taken to matter for its own output only.",
                "mask",
            ),
        ),
    )


def cumulative_product() -> Case:
    """y[i] = x[0] x[1] ... x[i]."""

    def f(x: Array) -> Any:
        return np.cumprod(x)

    def vjp(u: Any, x: Array) -> Any:
        return np.cumsum((u * np.cumprod(x))[::-1])[::-1] / x

    return Case(
        "cumulative_product",
        f,
        (np.array([0.8, -1.3, 1.6, 0.7]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "cumulative_product/not-divided",
                "term-dropped",
                lambda u, x: vjp(u, x) * x,
                "The factor itself is not divided out again.",
                "unknown",
            ),
            Bug(
                "cumulative_product/own-output-only",
                "missing-sum",
                lambda u, x: u * np.cumprod(x) / x,
                "Each factor is taken to matter for its own output only.",
                "mask",
            ),
            Bug(
                "cumulative_product/guarded",
                "epsilon",
                lambda u, x: vjp(u, x) * x / (x + 1e-4),
                "A guard against a factor of 0.",
                "unknown",
            ),
        ),
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

    def one_too_far(u: Any, x: Array, index: Array) -> Any:
        return np.roll(vjp(u, x, index)[0], 1), None

    return Case(
        "gather",
        f,
        (np.array([0.4, 1.1, -0.9]), np.array([2, 0, 2, 1])),
        vjp,
        SMOOTH,
        (
            Bug(
                "gather/last-one-wins",
                "missing-sum",
                last_one_wins,
                "Fancy assignment does not add up repeated indices.",
                "single-entries",
            ),
            Bug(
                "gather/one-too-far",
                "off-by-one",
                one_too_far,
                "Indices counted from 1.",
                "permuted",
            ),
            Bug(
                "gather/weights-forgotten",
                "factor",
                lambda u, x, index: (vjp(u / w, x, index)[0], None),
                "The scatter is right, the weights are left out.",
                "unknown",
            ),
        ),
    )


def axes_permuted() -> Case:
    """Y[k, i, j] = c[k] X[i, j, k]: a transposition of three axes, and a scale."""
    c = np.array([0.6, 1.7])

    def f(X: Array) -> Any:
        return np.transpose(X * c, (2, 0, 1))

    def vjp(u: Any, X: Array) -> Any:
        return np.transpose(u, (1, 2, 0)) * c

    rng = np.random.default_rng(11)
    return Case(
        "axes_permuted",
        f,
        (rng.uniform(0.3, 1.9, (2, 2, 2)),),
        vjp,
        SMOOTH,
        (
            Bug(
                "axes_permuted/same-permutation-again",
                "transpose",
                lambda u, X: np.transpose(u, (2, 0, 1)) * c,
                "The forward permutation is applied again; its inverse is needed.",
                "permuted",
            ),
            Bug(
                "axes_permuted/first-axes-swapped",
                "transpose",
                lambda u, X: np.transpose(u, (2, 1, 0)) * c,
                "Two axes end up swapped.",
                "permuted",
            ),
            Bug(
                "axes_permuted/scale-squared",
                "factor",
                lambda u, X: np.transpose(u, (1, 2, 0)) * c**2,
                "The scale is applied twice.",
                "unknown",
            ),
        ),
    )


def determinant() -> Case:
    """Differentiate det A."""

    def f(A: Array) -> Any:
        return np.linalg.det(A)

    def vjp(u: Any, A: Array) -> Any:
        return u * np.linalg.det(A) * np.linalg.inv(A).T

    return Case(
        "determinant",
        f,
        (SQUARE.copy(),),
        vjp,
        SMOOTH,
        (
            Bug(
                "determinant/of-the-logarithm",
                "factor",
                lambda u, A: u * np.linalg.inv(A).T,
                "The gradient of log det.",
                "factor",
            ),
            Bug(
                "determinant/adjugate",
                "transpose",
                lambda u, A: u * np.linalg.det(A) * np.linalg.inv(A),
                "The adjugate instead of the matrix of cofactors.",
                "transposed",
            ),
            Bug(
                "determinant/minors",
                "sign",
                lambda u, A: np.abs(vjp(u, A)),
                "Minors without their chequerboard of signs.",
                "unknown",
            ),
        ),
    )


def cases() -> Iterator[Case]:
    """Build every case of this module anew."""
    yield affine()
    yield matmul()
    yield matrix_vector()
    yield bilinear_form()
    yield quadratic_form()
    yield inverse()
    yield solve()
    yield log_determinant()
    yield determinant()
    yield frobenius_norm()
    yield trace_of_product()
    yield outer_product()
    yield covariance()
    yield squared_distances()
    yield cumulative_sum()
    yield cumulative_product()
    yield gather()
    yield axes_permuted()
