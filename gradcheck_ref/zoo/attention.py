"""Attention and embeddings.

``u`` is the upstream gradient, of the shape of the output.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .case import Array, Bug, Case

SMOOTH = frozenset({"attention", "smooth"})


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

    def diagonal_softmax(u: Any, Q: Array, K: Array, V: Array) -> Any:
        A = weights(Q, K)
        dS = A * (1 - A) * (u @ V.T) * scale  # wrong: cross terms of the softmax
        return dS @ K, dS.T @ Q, A.T @ u

    def scores_for_weights(u: Any, Q: Array, K: Array, V: Array) -> Any:
        dQ, dK, _ = vjp(u, Q, K, V)
        return dQ, dK, (Q @ K.T * scale).T @ u  # wrong: after the softmax

    def softmax_skipped(u: Any, Q: Array, K: Array, V: Array) -> Any:
        dS = u @ V.T * scale  # wrong: no softmax
        return dS @ K, dS.T @ Q, weights(Q, K).T @ u

    Q = np.array([[0.7, -1.1, 0.4], [1.3, 0.2, -0.6]])
    K = np.array([[0.5, 0.9, -1.2], [-0.8, 1.4, 0.3], [1.1, -0.4, 0.6], [0.2, 0.7, 1.5]])
    V = np.array([[1.2, -0.5], [0.3, 1.6], [-0.9, 0.8], [0.6, -1.4]])

    def half_precision(u: Any, Q: Array, K: Array, V: Array) -> Any:
        A = weights(Q, K).astype(np.float16).astype(np.float64)
        return *vjp(u, Q, K, V)[:2], A.T @ u

    return Case(
        "dot_product_attention",
        f,
        (Q, K, V),
        vjp,
        SMOOTH,
        (
            Bug(
                "dot_product_attention/query-scale-forgotten",
                "factor",
                lambda u, Q, K, V: (vjp(u, Q, K, V)[0] / scale, *vjp(u, Q, K, V)[1:]),
                "1 / sqrt d is forgotten on the way to the queries.",
                "factor",
            ),
            Bug(
                "dot_product_attention/scale-squared",
                "factor",
                lambda u, Q, K, V: (
                    vjp(u, Q, K, V)[0] * scale,
                    vjp(u, Q, K, V)[1] * scale,
                    vjp(u, Q, K, V)[2],
                ),
                "Divided by d instead of its root, on the way to queries and keys.",
                "factor",
            ),
            Bug(
                "dot_product_attention/diagonal-softmax",
                "term-dropped",
                diagonal_softmax,
                "a (1 - a) is taken for the Jacobian of the softmax.",
                "unknown",
            ),
            Bug(
                "dot_product_attention/scores-for-weights",
                "wrong-place",
                scores_for_weights,
                "The scores before the softmax are used for the values.",
                "unknown",
            ),
            Bug(
                "dot_product_attention/softmax-skipped",
                "term-dropped",
                softmax_skipped,
                "The backward pass of the softmax is left out.",
                "unknown",
            ),
            Bug(
                "dot_product_attention/keys-reversed",
                "order",
                lambda u, Q, K, V: (
                    vjp(u, Q, K, V)[0],
                    vjp(u, Q, K, V)[1][::-1],
                    vjp(u, Q, K, V)[2],
                ),
                "A cache of keys is filled from the back.",
                "permuted",
            ),
            Bug(
                "dot_product_attention/weights-kept-in-float16",
                "precision",
                half_precision,
                "The weights are cached in half precision and reused for the values.",
                "noisy",
            ),
        ),
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
        return dS @ X + dS.T @ X, vjp(u, X, V)[1]

    def as_query_only(u: Any, X: Array, V: Array) -> Any:
        dS = softmax_rows_vjp(u @ V.T, weights(X))
        return dS @ X, vjp(u, X, V)[1]  # wrong: X is the keys too

    def last_step_forgotten(u: Any, X: Array, V: Array) -> Any:
        dX, dV = vjp(u, X, V)
        dV[-1] = 0  # wrong: the last step attends to itself
        return dX, dV

    return Case(
        "causal_self_attention",
        f,
        (np.array([[0.6, -0.9], [1.1, 0.4], [-0.3, 0.8]]), np.array([[0.7], [-1.2], [1.5]])),
        vjp,
        SMOOTH,
        (
            Bug(
                "causal_self_attention/mask-forgotten",
                "mask-dropped",
                mask_forgotten,
                "The backward pass recomputes the weights without the causal mask.",
                "unknown",
            ),
            Bug(
                "causal_self_attention/query-only",
                "product-rule",
                as_query_only,
                "X is used twice, as query and as key; only one path is followed.",
                "unknown",
            ),
            Bug(
                "causal_self_attention/last-value-forgotten",
                "loop-bounds",
                last_step_forgotten,
                "The loop over the steps ends one too early.",
                "single-entries",
            ),
            Bug(
                "causal_self_attention/values-not-transposed",
                "transpose",
                lambda u, X, V: (vjp(u, X, V)[0], weights(X) @ u),
                "A instead of A^T; square matrices do not object.",
                "transposed",
            ),
        ),
    )


def embedding() -> Case:
    """Rows of a table, looked up by integer; row 1 is asked for twice."""

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

    def ids_from_one(u: Any, table: Array, ids: Array) -> Any:
        return np.roll(vjp(u, table, ids)[0], 1, axis=0), None

    def divided_by_count(u: Any, table: Array, ids: Array) -> Any:
        counts = np.bincount(ids, minlength=len(table))
        return vjp(u, table, ids)[0] / np.maximum(counts, 1)[:, None], None

    kept = np.zeros((4, 2))

    def accumulates(u: Any, table: Array, ids: Array) -> Any:
        np.add.at(kept, ids, u)  # wrong: the buffer is never set to zero
        return kept.copy(), None

    table = np.array([[0.4, -1.1], [1.3, 0.8], [-0.6, 0.2], [0.9, 1.7]])
    return Case(
        "embedding",
        f,
        (table, np.array([1, 3, 1, 0])),
        vjp,
        SMOOTH,
        (
            Bug(
                "embedding/last-one-wins",
                "missing-sum",
                last_one_wins,
                "Fancy assignment does not add up repeated ids.",
                "row-or-column",
            ),
            Bug(
                "embedding/ids-from-one",
                "off-by-one",
                ids_from_one,
                "The vocabulary file counts from 1.",
                "permuted",
            ),
            Bug(
                "embedding/divided-by-count",
                "mean-for-sum",
                divided_by_count,
                "Scaled by frequency, as an option of a library does.",
                "row-or-column",
            ),
            Bug(
                "embedding/accumulates",
                "accumulation",
                accumulates,
                "The dense gradient buffer is never cleared.",
                "accumulated",
            ),
        ),
    )


def attention_pooling() -> Case:
    """Weighted mean of the rows of X; the weights are softmax(X q)."""

    def f(X: Array, q: Array) -> Any:
        return softmax_rows(X @ q) @ X

    def vjp(u: Any, X: Array, q: Array) -> Any:
        a = softmax_rows(X @ q)
        ds = softmax_rows_vjp(X @ u, a)
        return np.outer(a, u) + np.outer(ds, q), X.T @ ds

    def weights_constant(u: Any, X: Array, q: Array) -> Any:
        return np.outer(softmax_rows(X @ q), u), vjp(u, X, q)[1]

    def values_constant(u: Any, X: Array, q: Array) -> Any:
        ds = softmax_rows_vjp(X @ u, softmax_rows(X @ q))
        return np.outer(ds, q), X.T @ ds

    return Case(
        "attention_pooling",
        f,
        (np.array([[0.8, -0.5], [0.3, 1.2], [-1.4, 0.6]]), np.array([0.9, -0.7])),
        vjp,
        SMOOTH,
        (
            Bug(
                "attention_pooling/weights-constant",
                "product-rule",
                weights_constant,
                "The path through the weights is forgotten.",
                "unknown",
            ),
            Bug(
                "attention_pooling/values-constant",
                "product-rule",
                values_constant,
                "The direct path is forgotten.",
                "unknown",
            ),
            Bug(
                "attention_pooling/query-zero",
                "zero",
                lambda u, X, q: (vjp(u, X, q)[0], np.zeros_like(q)),
                "The query is detached.",
                "zero",
            ),
            Bug(
                "attention_pooling/query-sign",
                "sign",
                lambda u, X, q: (vjp(u, X, q)[0], -vjp(u, X, q)[1]),
                "The softmax term enters as (mean - value).",
                "sign",
            ),
        ),
    )


def cases() -> Iterator[Case]:
    """Build every case of this module anew."""
    yield dot_product_attention()
    yield causal_self_attention()
    yield embedding()
    yield attention_pooling()
