"""The residuals of a layer in few digits, against the step: noise, truncation and the mistake."""

import numpy as np
from pictures import drawing
from pictures.lines import hashed

# As in low_precision.js. Nothing but + - * / sqrt, in the same order: the numbers are the same to
# the last bit on every machine.
N, LINES = 16, 40
STEPS = 2.0 ** -np.arange(14)
DIGITS = {"float32": 24, "float16": 11, "bfloat16": 8}
CLAIMS = ("right", "large", "entry")
LOST = 5, 7  # this entry of W, in the claim "entry"


def uniform(count, seed, stream):
    """Return numbers between -1 and 1, the same for the same seed and stream."""
    first = seed * 0x9E3779B9 + stream * 0x1000000
    return 2 * (hashed((np.arange(count) + first) % 2**32) / 2.0**32) - 1


def drawn(seed, stream):
    """Return N x N random signs, times sizes between 1/2 and 3/2."""
    u = uniform(N * N, seed, stream)
    return np.where(u < 0, u - 0.5, u + 0.5).reshape(N, N)


def rounded(x, digits):
    """Keep this many binary digits: Veltkamp's splitting."""
    large = (2.0 ** (53 - digits) + 1) * x
    return large - (large - x)


def place(x, digits, seed, stream):
    """Round at random, up or down: each of these many places meets the roundings elsewhere."""
    up_or_down = uniform(x.size, seed, stream).reshape(x.shape)
    return rounded(x * (1 + up_or_down * 2.0**-digits), digits)


def total(terms):
    """Add up along the last axis, from the first term to the last."""
    return np.add.accumulate(terms, axis=-1)[..., -1]


def product(x, W):
    """Return x @ W, added up in this order, for a stack of matrices W."""
    return total(x[:, None, :] * np.swapaxes(W, -1, -2)[..., None, :, :])


def layer(x, W, digits):
    """Return z / sqrt(1 + z * z) for z = x @ W, both in few digits."""
    z = rounded(product(x, W), digits)
    return rounded(z / np.sqrt(1 + z * z), digits)


def residuals(claim, precision, seed=0):
    """Return the residuals, (steps, lines), the claimed slopes, and the error of the claim."""
    x, W = drawn(0, 0) / 4, drawn(0, 1)
    z = product(x, W)
    slope = 1 / ((1 + z * z) * np.sqrt(1 + z * z))
    factor = np.full((N, N), 1.05 if claim == "large" else 1.0)
    if claim == "entry":
        factor[LOST] = 0.0
    # The sum of squares of the Jacobian of the outputs, for each entry of W.
    squares = total(np.swapaxes((x[:, :, None] * slope[:, None, :]) ** 2, 0, -1)).T
    wrong, claim_itself = ((part * part * squares).ravel() for part in (factor - 1, factor))
    error = np.sqrt(total(wrong) / total(claim_itself))
    found, claimed = np.empty((len(STEPS), LINES)), np.empty(LINES)
    for k in range(LINES):
        v, u = drawn(seed, 2 * k + 2), drawn(seed, 2 * k + 3)
        vjp = factor * product(x.T, u * slope)
        claimed[k] = total((vjp * v).ravel())
        h = STEPS[:, None, None]
        ahead, behind = (
            place(W + t * v, DIGITS[precision], seed, 2 * (LINES + k) + i)
            for i, t in enumerate((h, -h), 2)
        )
        rise = u * (layer(x, ahead, DIGITS[precision]) - layer(x, behind, DIGITS[precision]))
        predicted = total((vjp * (ahead - behind)).reshape(len(STEPS), -1))
        found[:, k] = (predicted - total(rise.reshape(len(STEPS), -1))) / (2 * STEPS)
    return found, claimed, error


def numbers(claim, precision, seed=0):
    """Return what the figure draws, all in parts of the claimed slopes.

    The root mean square of the residuals at each step, the mean product of each two neighbors and
    its standard error, and the error of the claim.
    """
    r, claimed, error = residuals(claim, precision, seed)
    size = total(claimed * claimed) / LINES
    rms = np.sqrt(total(r * r) / LINES / size)
    products = r[:-1] * r[1:] / size
    mean = total(products) / LINES
    off = products - mean[:, None]
    doubt = np.sqrt(total(off * off) / (LINES - 1) / LINES)
    return rms, mean, doubt, error


def files():
    """Return the text of the one file: a gradient that is 5 % too large, in bfloat16."""
    rms, mean, _, error = numbers("large", "bfloat16")
    x, y = drawing.across(1e-4, 1.3, log=True), drawing.up(1e-2, 20, log=True)
    ticks = [(h, f"1/{1 / h:.0f}" if h < 1 else "1") for h in STEPS[::3]]
    percents = [(0.01, "1"), (0.1, "10"), (1, "100"), (10, "1000")]
    parts = drawing.grid(x, y, ticks, percents, "step h", "% of the whole")
    parts.append(drawing.curve([(x(1e-4), y(error)), (x(1.3), y(error))], drawing.GREEN, "2 3"))
    parts.append(
        drawing.curve([(x(h), y(e)) for h, e in zip(STEPS, rms, strict=True)], drawing.BLUE)
    )
    for h, square in zip(STEPS, mean, strict=False):
        if square > 0:
            parts.append(drawing.dot(x(h / np.sqrt(2)), y(np.sqrt(square)), drawing.RED))
    for h, part, words, colour, anchor in (
        (1e-3, 1.5, "noise falls as 1/h", drawing.BLUE, "start"),
        (1.2e-4, 0.055, "the mistake stays: 5 %", drawing.GREEN, "start"),
        (0.35, 0.4, "truncation grows as h²", drawing.BLUE, "end"),
        (0.01, 0.025, "products of two neighbors", drawing.RED, "start"),
    ):
        parts.append(drawing.text(x(h), y(part), words, colour, anchor))
    return {"low_precision.svg": drawing.picture("Residuals against the step, in bfloat16", parts)}
