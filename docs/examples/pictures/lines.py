"""Random lines: how often all of them miss the largest error, and which entry they name."""

from functools import lru_cache
from math import comb

import numpy as np
from pictures import drawing

# As in lines.js: one entry of 64 is off by `size`; so many `others` are off by 1.
ENTRIES, CULPRIT, MOST, DRAWS = 64, 40, 20, 100_000
LINES, SIZE, OTHERS = 20, 6, 31


def hashed(n):
    """Return 32 bits that look random, the same everywhere: C. Wellons's lowbias32."""
    n = n.astype(np.uint32)
    n = (n ^ n >> 16) * np.uint32(0x7FEB352D)
    n = (n ^ n >> 15) * np.uint32(0x846CA68B)
    return n ^ n >> 16


@lru_cache(maxsize=1)  # the same for all errors, and most of the work
def words(draws, seed):
    """Return the signs of all lines of the first draws, 32 to a number: where a bit is set, +1."""
    start = 2 * np.arange(draws * MOST).reshape(draws, MOST) + seed * 0x9E3779B9
    return np.stack([hashed(start), hashed(start + 1)], axis=-1)


def signs(draws, seed):
    """Return the signs of all entries."""
    bits = words(draws, seed)[..., None] >> np.arange(32, dtype=np.uint32) & 1
    return 2 * bits.astype(int).reshape(draws, MOST, ENTRIES) - 1


def residuals(size, others, draws, seed):
    """Return what each line shows: the sum of error times sign."""
    masks = [0, 0]
    for k in range(others):
        entry = (CULPRIT + 27 * (k + 1)) % ENTRIES
        masks[entry // 32] |= 1 << entry % 32
    bits = words(draws, seed)
    plus = np.bitwise_count(bits & np.array(masks, np.uint32)).sum(axis=-1).astype(int)
    culprit = 2 * (bits[..., CULPRIT // 32] >> CULPRIT % 32 & 1).astype(int) - 1
    return size * culprit + 2 * plus - others


def missed(size, others, seed=0):
    """Return in how many draws the first k lines all show less than the largest error."""
    misses = np.abs(residuals(size, others, DRAWS, seed)) < size
    return [DRAWS, *np.logical_and.accumulate(misses, axis=1).sum(axis=0).tolist()]


def chance(size, others):
    """Return the probability that one line does."""
    totals = (others - 2 * minus for minus in range(others + 1))
    return sum(comb(others, (others - t) // 2) for t in totals if 0 < t < 2 * size) / 2**others


def correlations(size, others, lines, draws=1, seed=0):
    """Return the mean of residual times sign, for every entry of every draw."""
    shown = residuals(size, others, draws, seed)[:, :lines]
    return np.einsum("tk,tki->ti", shown, signs(draws, seed)[:, :lines]) / lines


def missing():
    """Draw the share that misses: measured, expected and at most."""
    x = drawing.across(0, MOST + 0.5, start=70, end=350)
    y = drawing.up(3e-8, 1.5, log=True)
    ticks = [(k, str(k)) for k in (1, 4, 8, 12, 16, 20)]
    powers = [(1, "1"), *((10.0**-k, f"1e-{k}") for k in (2, 4, 6))]
    parts = drawing.grid(x, y, ticks, powers, "lines K", "share that misses")
    p = chance(SIZE, OTHERS)
    parts.append(drawing.curve([(x(0), y(1)), (x(MOST), y(0.5**MOST))], drawing.BLUE))
    parts.append(drawing.curve([(x(0), y(1)), (x(MOST), y(p**MOST))], drawing.GREEN, "2 3"))
    for k, count in enumerate(missed(SIZE, OTHERS)):
        if k and count:
            parts.append(drawing.dot(x(k), y(count / DRAWS), drawing.BROWN))
    for k, (said, colour) in enumerate(
        [
            ("at most: 1/2 for every line", drawing.BLUE),
            (f"expected: {p:.2f} for every line", drawing.GREEN),
            (f"measured: {DRAWS} draws", drawing.BROWN),
        ]
    ):
        parts.append(drawing.text(340, 36 + 20 * k, said, colour, "end"))
    return parts


def naming():
    """Draw the mean of residual times sign for every entry."""
    means = np.abs(correlations(SIZE, OTHERS, LINES)[0])
    x = drawing.across(-1, ENTRIES, start=420, end=664)
    y = drawing.up(0, 1.3 * max(SIZE, means.max()))
    ticks = [(entry, str(entry)) for entry in (0, 20, CULPRIT, 63)]
    label = "|mean of residual × sign|"
    parts = drawing.grid(x, y, ticks, [(0, "0"), (SIZE, str(SIZE))], "entry", label)
    for entry, mean in enumerate(means):
        colour = drawing.RED if entry == CULPRIT else drawing.BLUE
        parts.append(drawing.box(x(entry) - 1.2, y(mean), 2.4, y(0) - y(mean), colour))
    said = f"largest error, {LINES} lines"
    parts.append(drawing.text(x(CULPRIT), y(means[CULPRIT]) - 6, said, drawing.RED))
    return parts


def files():
    """Return the text of the one file."""
    title = f"An entry is off by {SIZE} times as much as each of {OTHERS} others"
    return {"lines.svg": drawing.picture(title, missing() + naming())}
