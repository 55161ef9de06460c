"""The loss of a network that learns with a wrong gradient, and with the right one."""

import numpy as np
from pictures import drawing

from gradcheck_ref.zoo import load_iris

STEPS = 200
LAM, RATE = 0.01, 0.5


def trained(gate):
    """Train the network of exercise 8; return the losses, and the share of flowers named rightly.

    ``gate(hidden)`` says through which units the gradient goes.
    """
    X, labels = load_iris()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(8)
    W1, b1 = rng.normal(size=(4, 8)) / 2, np.zeros(8)
    W2, b2 = rng.normal(size=(8, 3)) / 2, np.zeros(3)
    losses = []
    for _ in range(STEPS + 1):
        hidden = np.maximum(X @ W1 + b1, 0)
        scores = hidden @ W2 + b2
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        p = e / e.sum(axis=1, keepdims=True)
        penalty = LAM / 2 * ((W1 * W1).sum() + (W2 * W2).sum())
        losses.append(float(-np.log(p[np.arange(len(X)), labels]).mean() + penalty))
        error = (p - (labels[:, None] == np.arange(3))) / len(X)
        through = error @ W2.T * gate(hidden)
        W1, b1 = W1 - RATE * (X.T @ through + LAM * W1), b1 - RATE * through.sum(axis=0)
        W2, b2 = W2 - RATE * (hidden.T @ error + LAM * W2), b2 - RATE * error.sum(axis=0)
    return losses, float(np.mean(scores.argmax(axis=1) == labels))


def wrong():
    """Train with a comparison that is turned around."""
    return trained(lambda hidden: hidden <= 0)


def right():
    """Train with the gradient."""
    return trained(lambda hidden: hidden > 0)


def drawn(*curves):
    """Draw (losses, colour, dashes, name, where the name stands)."""
    x, y = drawing.across(0, STEPS), drawing.up(0, 2.8)
    ticks = [(k, str(k)) for k in range(0, STEPS + 1, 50)]
    parts = drawing.grid(x, y, ticks, [(k, str(k)) for k in (0, 1, 2)], "step", "loss")
    for losses, colour, dashes, name, (at, height) in curves:
        points = [(x(k), y(loss)) for k, loss in enumerate(losses)]
        parts.append(drawing.curve(points, colour, dashes))
        parts.append(drawing.text(x(at), y(height), name, colour))
    return drawing.picture("The loss of a network while it learns", parts, font=17)


def files():
    """Return the text of each file."""
    one = wrong()[0], drawing.RED, "", "", (150, 0.6)
    two = wrong()[0], drawing.RED, "7 3", "with the wrong gradient", (140, 0.75)
    three = right()[0], drawing.BLUE, "", "with the right gradient", (140, 0.3)
    return {"learning.svg": drawn(one), "learning_both.svg": drawn(two, three)}
