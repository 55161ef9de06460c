"""Exercise 9: bug hunt."""

import inspect
from itertools import zip_longest

import numpy as np

LEAK = 0.1
EPS = 1e-5


# --- your code ---
def affine(x, W, b):
    """Map each row of ``x``, shape (n, inputs), to a row of outputs."""
    return x @ W + b


def affine_backward(upstream, x, W, b):
    return upstream @ W.T, x.T @ upstream, upstream.sum(axis=0)


def leaky_relu(x):
    """Let positive entries pass, and a tenth of the others."""
    return np.maximum(x, LEAK * x)


def leaky_relu_backward(upstream, x):
    return upstream * np.where(x > LEAK * x, 1.0, LEAK)


def elu(x):
    """Let positive entries pass, and bend the others toward -1."""
    return np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1)


def elu_backward(upstream, x):
    # The slope of exp(x) - 1 is exp(x). The layer's own value was taken for it.
    return upstream * np.where(x > 0, 1.0, np.exp(np.minimum(x, 0)))


def softmax(x):
    """Turn each row of ``x`` into probabilities."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def softmax_backward(upstream, x):
    p = softmax(x)
    return p * (upstream - (p * upstream).sum(axis=1, keepdims=True))


def batch_norm(x):
    """Bring each column of ``x`` to mean 0 and variance 1."""
    centred = x - x.mean(axis=0)
    return centred / np.sqrt((centred * centred).mean(axis=0) + EPS)


def batch_norm_backward(upstream, x):
    # The deviation depends on x as well: that is the last term. With an upstream of ones it is
    # the mean of the column, which is 0, and so it was not missed.
    deviation = np.sqrt(x.var(axis=0) + EPS)
    y = batch_norm(x)
    return (upstream - upstream.mean(axis=0) - y * (upstream * y).mean(axis=0)) / deviation


def max_pool(x):
    """Take the larger of every two neighbors in a row; the rows are of even length."""
    return np.maximum(x[:, 0::2], x[:, 1::2])


def max_pool_backward(upstream, x):
    first = x[:, 0::2] >= x[:, 1::2]
    gradient = np.empty_like(x)
    gradient[:, 0::2], gradient[:, 1::2] = upstream * first, upstream * ~first
    return gradient


def embedding(table, ids):
    """Look up rows of ``table``; ``ids`` are integers, one for each row."""
    return table[ids]


def embedding_backward(upstream, table, ids):
    gradient = np.zeros_like(table)
    # A row that was looked up twice is owed both: gradient[ids] = keeps only the last.
    np.add.at(gradient, ids, upstream)
    return gradient


def mean_squared_error(x, y):
    """Average the squares of the differences, over all entries: one number."""
    return ((x - y) ** 2).mean()


def mean_squared_error_backward(upstream, x, y):
    gradient = upstream * 2 * (x - y) / x.size
    return gradient, -gradient


# --- end ---


def evidence():
    """Return, for each of the three layers, arguments at which its backward pass is wrong."""
    # --- your code ---
    x = np.array([[-0.5, 1.0], [2.0, -1.5], [0.3, 0.7]])
    uneven = np.array([[1.0, -2.0], [0.5, 3.0], [-1.5, 0.25]])
    return {
        "elu": (uneven, x),  # the author had no negative entries,
        "batch_norm": (uneven, x),  # no upstream but ones,
        "embedding": (uneven, x, np.array([0, 2, 0])),  # and no row that came twice
    }
    # --- end ---


def examine(name, upstream, *inputs):
    """Check one call of a backward pass; return the report."""
    from gradcheck_ref import check_gradient

    layer, backward = globals()[name], globals()[f"{name}_backward"]
    names = list(inspect.signature(layer).parameters)
    gradients = backward(upstream, *inputs)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    return check_gradient(
        lambda **inputs: np.sum(upstream * layer(**inputs)),
        dict(zip(names, inputs, strict=True)),
        dict(zip_longest(names, gradients)),  # ids are integers, and have no gradient
    )
