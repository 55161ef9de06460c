"""The residuals of a wrong gradient on twenty random lines, and of four repairs of it."""

import numpy as np
from pictures import drawing

FONT = 20
STEP = 1e-5
COUNT = 20


def residuals():
    """Return {repair: residuals}, as on the page *What is wrong with it?*."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    W, w = rng.normal(size=(2, 2)), rng.normal(size=2)

    def loss(W):
        return np.mean((np.tanh(X @ W) @ w - y) ** 2)

    hidden = np.tanh(X @ W)
    before = np.outer(2 * (hidden @ w - y) / len(y), w) * (1 - hidden**2)
    claim = before.T @ X
    lines = rng.choice([-1.0, 1.0], size=(COUNT, 2, 2))
    slopes = np.array([loss(W + STEP * v) - loss(W - STEP * v) for v in lines]) / (2 * STEP)
    repairs = {
        "as it is": claim,
        "half of it": claim / 2,
        "minus it": -claim,
        "rows exchanged": claim[::-1],
        "its transpose": claim.T,
    }
    return {name: np.sum(lines * one, axis=(1, 2)) - slopes for name, one in repairs.items()}


def drawn(rows):
    """Draw a bar for each residual, and a dot where there is none."""
    longest = max(np.abs(row).max() for row in rows.values())
    x = drawing.across(0, COUNT, start=190)
    parts = []
    for k, (name, row) in enumerate(rows.items()):
        ground = 50 + 76 * k
        right = np.abs(row) < 1e-6
        colour = drawing.GREEN if right.all() else drawing.BLACK
        parts.append(drawing.text(175, ground + 7, name, colour, "end"))
        parts.append(drawing.line(x(0), ground, x(COUNT), ground, drawing.PALE))
        for line, (residual, zero) in enumerate(zip(row, right, strict=True)):
            if zero:
                parts.append(drawing.dot(x(line + 0.5), ground, drawing.GREEN))
                continue
            high = 34 * abs(residual) / longest
            top = ground - high if residual > 0 else ground
            parts.append(drawing.box(x(line) + 5, top, 14, high, drawing.RED))
    return drawing.picture("Residuals of a claim and of its repairs", parts, font=FONT)


def files():
    """Return the text of the picture."""
    return {"repairs.svg": drawn(residuals())}
