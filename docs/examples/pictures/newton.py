"""Newton's method with a right and with a wrong Hessian: both arrive, one of them late."""

import numpy as np
from pictures import drawing

DOSE = np.arange(1.0, 9.0)
CURED = np.array([0, 0, 1, 0, 1, 0, 1, 1])
X = np.stack([DOSE, np.ones(8)], axis=1)
STEPS, LEAST = 25, 1e-8


def run(forgets):
    """Return the sizes of the gradient at each step, as far down as the picture goes."""
    w, sizes = np.zeros(2), []
    for _ in range(STEPS + 1):
        p = 1 / (1 + np.exp(-X @ w))
        gradient = X.T @ (p - CURED)
        size = np.linalg.norm(gradient)
        if size < LEAST:
            break
        sizes.append(size)
        weights = p if forgets else p * (1 - p)
        w = w - np.linalg.solve(X.T @ (weights[:, None] * X), gradient)
    return sizes


def files():
    """Return the text of the one file."""
    x = drawing.across(-0.5, STEPS + 0.5)
    y = drawing.up(LEAST, 20, log=True)
    x_ticks = [(k, str(k)) for k in range(0, STEPS + 1, 5)]
    y_ticks = [(10.0**k, f"1e{k}" if k else "1") for k in range(-8, 2, 2)]
    parts = drawing.grid(x, y, x_ticks, y_ticks, "steps", "length of the gradient")
    for forgets, colour in ((False, drawing.BLUE), (True, drawing.RED)):
        points = [(x(k), y(size)) for k, size in enumerate(run(forgets))]
        parts.append(drawing.curve(points, colour, "7 3" if forgets else ""))
        parts += [drawing.dot(*point, colour) for point in points]
    for at, size, words, colour in (
        (5, 2e-7, "run A", drawing.BLUE),
        (12, 1.5, "run B", drawing.RED),
    ):
        parts.append(drawing.text(x(at), y(size), words, colour, "start"))
    title = "How fast Newton's method arrives, in two runs"
    return {"newton.svg": drawing.picture(title, parts, font=15)}
