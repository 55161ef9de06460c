"""Attention and embeddings.

``u`` is the upstream gradient, of the shape of the output.
"""

import math
from typing import Any

import numpy as np

from .case import NEGATED, ZERO, Array, Case, accumulated, case, rolled, without

SMOOTH = "attention smooth"


def softmax_rows(x: Array) -> Any:
    """Softmax along the last axis."""
    e = np.exp(x)
    return e / e.sum(axis=-1, keepdims=True)


def softmax_rows_vjp(u: Any, s: Array) -> Any:
    """Gradient of the softmax, given its output ``s``."""
    return s * (u - (u * s).sum(axis=-1, keepdims=True))


def dot_product_attention() -> Case:
    """softmax(Q K^T / sqrt d) V."""
    scale = 1 / math.sqrt(3)

    def weights(Q: Array, K: Array) -> Any:
        return softmax_rows(Q @ K.T * scale)

    def f(Q: Array, K: Array, V: Array) -> Any:
        return weights(Q, K) @ V

    def vjp(u: Any, Q: Array, K: Array, V: Array) -> Any:
        A = weights(Q, K)
        dS = softmax_rows_vjp(u @ V.T, A) * scale
        return dS @ K, dS.T @ Q, A.T @ u

    def half_precision(u: Any, Q: Array, K: Array, V: Array) -> Any:
        return weights(Q, K).astype(np.float16).astype(np.float64).T @ u

    def scale_squared(u: Any, Q: Array, K: Array, V: Array) -> Any:
        dQ, dK, dV = vjp(u, Q, K, V)
        return dQ * scale, dK * scale, dV

    def diagonal_softmax(u: Any, Q: Array, K: Array, V: Array) -> Any:
        A = weights(Q, K)
        dS = A * (1 - A) * (u @ V.T) * scale  # wrong: cross terms of the softmax
        return dS @ K, dS.T @ Q, A.T @ u

    def softmax_skipped(u: Any, Q: Array, K: Array, V: Array) -> Any:
        dS = u @ V.T * scale  # wrong: no softmax
        return dS @ K, dS.T @ Q, weights(Q, K).T @ u

    Q = np.array([[0.7, -1.1, 0.4], [1.3, 0.2, -0.6]])
    K = np.array([[0.5, 0.9, -1.2], [-0.8, 1.4, 0.3], [1.1, -0.4, 0.6], [0.2, 0.7, 1.5]])
    V = np.array([[1.2, -0.5], [0.3, 1.6], [-0.9, 0.8], [0.6, -1.4]])

    return (
        case("dot_product_attention", f, vjp, SMOOTH, Q, K, V)
        .bug("query-scale-forgotten", "1 / sqrt d is forgotten in the gradient of the queries.")
        .wrong("factor", "factor", lambda u, Q, K, V: vjp(u, Q, K, V)[0] / scale, part=0)
        .bug("scale-squared", "Divided by d instead of its root, for queries and keys.")
        .wrong("factor", "factor", scale_squared)
        .bug("diagonal-softmax", "a (1 - a) is used as the Jacobian of the softmax.")
        .wrong("term-dropped", "unknown", diagonal_softmax)
        .bug("scores-for-weights", "The scores before the softmax are used for the values.")
        .wrong("wrong-place", "unknown", lambda u, Q, K, V: (Q @ K.T * scale).T @ u, part=2)
        .bug("softmax-skipped", "The backward pass of the softmax is left out.")
        .wrong("term-dropped", "unknown", softmax_skipped)
        .bug("keys-reversed", "A cache of keys is filled from the back.")
        .wrong("order", "permuted", lambda u, Q, K, V: vjp(u, Q, K, V)[1][::-1], part=1)
        .bug(
            "weights-kept-in-float16",
            "The weights are cached in half precision and reused for the values.",
        )
        .wrong("precision", "noisy", half_precision, part=2)
    )


def causal_self_attention() -> Case:
    """Three steps attend to themselves and their past; queries and keys are X, values are V."""
    allowed = np.tril(np.ones((3, 3)))

    def weights(X: Array) -> Any:
        e = np.exp(X @ X.T) * allowed
        return e / e.sum(axis=1, keepdims=True)

    def f(X: Array, V: Array) -> Any:
        return weights(X) @ V

    def vjp(u: Any, X: Array, V: Array) -> Any:
        A = weights(X)
        dS = softmax_rows_vjp(u @ V.T, A)
        return dS @ X + dS.T @ X, A.T @ u

    def mask_forgotten(u: Any, X: Array, V: Array) -> Any:
        A = softmax_rows(X @ X.T)  # wrong: the future is visible
        dS = softmax_rows_vjp(u @ V.T, A)
        return dS @ X + dS.T @ X

    def as_query_only(u: Any, X: Array, V: Array) -> Any:
        dS = softmax_rows_vjp(u @ V.T, weights(X))
        return dS @ X  # wrong: X is the keys too

    X = np.array([[0.6, -0.9], [1.1, 0.4], [-0.3, 0.8]])
    V = np.array([[0.7], [-1.2], [1.5]])
    return (
        case("causal_self_attention", f, vjp, SMOOTH, X, V)
        .bug("mask-forgotten", "The backward pass recomputes the weights without the causal mask.")
        .wrong("mask-dropped", "unknown", mask_forgotten, part=0)
        .bug("query-only", "X is used twice, as query and as key; only one path is followed.")
        .wrong("product-rule", "unknown", as_query_only, part=0)
        .bug("last-value-forgotten", "The loop over the steps ends one too early.")
        .by(without(-1, "single-entries"), part=1)
        .bug("values-not-transposed", "A instead of A^T; for square matrices the shapes agree.")
        .wrong("transpose", "transposed", lambda u, X, V: (vjp(u, X, V)[0], weights(X) @ u))
    )


def embedding() -> Case:
    """Rows of a table, looked up by integer; row 1 is looked up twice."""

    def f(table: Array, ids: Array) -> Any:
        return table[ids]

    def vjp(u: Any, table: Array, ids: Array) -> Any:
        grad = np.zeros_like(table)
        np.add.at(grad, ids, u)
        return grad, None

    def last_one_wins(u: Any, table: Array, ids: Array) -> Any:
        grad = np.zeros_like(table)
        grad[ids] = u  # wrong: repeated ids overwrite each other
        return grad, None

    def divided_by_count(u: Any, table: Array, ids: Array) -> Any:
        counts = np.bincount(ids, minlength=len(table))
        return vjp(u, table, ids)[0] / np.maximum(counts, 1)[:, None], None

    table = np.array([[0.4, -1.1], [1.3, 0.8], [-0.6, 0.2], [0.9, 1.7]])
    return (
        case("embedding", f, vjp, SMOOTH, table, np.array([1, 3, 1, 0]))
        .bug("last-one-wins", "Fancy assignment does not add up repeated ids.")
        .wrong("missing-sum", "row-or-column", last_one_wins)
        .changed("ids-from-one", "The vocabulary file counts from 1.", rolled(axis=0))
        .bug("divided-by-count", "Scaled by frequency, like an option of a library.")
        .wrong("mean-for-sum", "row-or-column", divided_by_count)
        .changed("accumulates", "The dense gradient buffer is never cleared.", accumulated())
    )


def attention_pooling() -> Case:
    """Weighted mean of the rows of X; the weights are softmax(X q)."""

    def f(X: Array, q: Array) -> Any:
        return softmax_rows(X @ q) @ X

    def vjp(u: Any, X: Array, q: Array) -> Any:
        a = softmax_rows(X @ q)
        ds = softmax_rows_vjp(X @ u, a)
        return np.outer(a, u) + np.outer(ds, q), X.T @ ds

    def values_constant(u: Any, X: Array, q: Array) -> Any:
        return np.outer(softmax_rows_vjp(X @ u, softmax_rows(X @ q)), q)

    X = np.array([[0.8, -0.5], [0.3, 1.2], [-1.4, 0.6]])
    q = np.array([0.9, -0.7])
    return (
        case("attention_pooling", f, vjp, SMOOTH, X, q)
        .bug("weights-constant", "The path through the weights is forgotten.")
        .wrong("product-rule", "unknown", lambda u, X, q: np.outer(softmax_rows(X @ q), u), part=0)
        .bug("values-constant", "The direct path is forgotten.")
        .wrong("product-rule", "unknown", values_constant, part=0)
        .changed("query-zero", "The query is detached.", ZERO, part=1)
        .changed("query-sign", "The softmax term enters as (mean - value).", NEGATED, part=1)
    )


CASES = (
    dot_product_attention, causal_self_attention, embedding, attention_pooling,
)  # fmt: skip
