"""Exercise 8: a two-layer network."""

import numpy as np


def forward(X, W1, b1, W2, b2):
    """Return ``hidden``, shape (n, units), and ``scores``, shape (n, classes)."""
    # --- your code ---
    hidden = np.maximum(X @ W1 + b1, 0)
    return hidden, hidden @ W2 + b2
    # --- end ---


def loss(X, labels, W1, b1, W2, b2, lam):
    """Mean cross-entropy of the scores, plus ``lam / 2`` times the squares of the weights."""
    # --- your code ---
    _, scores = forward(X, W1, b1, W2, b2)
    shifted = scores - scores.max(axis=1, keepdims=True)
    losses = np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(labels)), labels]
    return losses.mean() + lam / 2 * ((W1 * W1).sum() + (W2 * W2).sum())
    # --- end ---


def gradient(X, labels, W1, b1, W2, b2, lam):
    """Gradient of the loss: ``dW1, db1, dW2, db2``, each in the shape of its parameter."""
    # --- your code ---
    hidden, scores = forward(X, W1, b1, W2, b2)
    n = len(labels)

    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    d_scores = e / e.sum(axis=1, keepdims=True)
    d_scores[np.arange(n), labels] -= 1
    d_scores /= n  # the loss is a mean over the examples; from here on, examples are added up

    # Weights: input times upstream, summed over the examples. The bias has the input 1.
    dW2 = hidden.T @ d_scores
    db2 = d_scores.sum(axis=0)

    # A unit feeds every class, so what comes back to it is a sum over the classes; and a unit that
    # was shut has fed none.
    d_hidden = (d_scores @ W2.T) * (hidden > 0)
    dW1 = X.T @ d_hidden
    db1 = d_hidden.sum(axis=0)

    # The slope of lam / 2 * w * w is lam * w. It adds to the rest, as the penalty adds to the loss.
    return dW1 + lam * W1, db1, dW2 + lam * W2, db2
    # --- end ---
