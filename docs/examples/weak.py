"""Prints, as Markdown, cases in which the check is weak: its verdicts at 20 random points each."""

from collections import Counter

import numpy as np

from gradcheck_ref import check_gradient

POINTS = 20


def point(number, size=2):
    """Return a random point, the same one for all cases."""
    return np.random.default_rng(number).uniform(0.5, 1.5, size)


def one_at_a_kink(number):
    """Put one of many entries at a kink; another one is doubled."""
    x = point(number, 240)
    x[17] = 0.0
    claim = np.sign(x) * 1.0
    claim[100] *= 2
    return lambda x: np.sum(np.abs(x)), x, claim


def tied_median(number):
    """Round many numbers, so that the middle ones are equal; their gradient is doubled."""
    x = np.round(point(number, 200), 1)
    middle = x == np.median(x)
    return np.median, x, 2 * middle / middle.sum()


def wave(number):
    """Add a short wave to a slow function."""
    x = point(number)
    claim = np.exp(x) + 2e6 * np.cos(2e9 * x)
    return lambda x: np.sum(np.exp(x) + 1e-3 * np.sin(2e9 * x)), x, claim


def floors(number):
    """Take the floor of many numbers."""
    return lambda x: np.sum(np.floor(x)), 10 * point(number, 150), np.zeros(150)


def floor(number):
    """Take the floor of one number, and claim the slope of the whole staircase."""
    return lambda x: np.sum(np.floor(x)), 10 * point(number, 1), np.ones(1)


def tiny(number):
    """Square numbers whose squares underflow; the gradient is doubled."""
    return lambda x: np.sum(x**2), 1e-160 * point(number), 4e-160 * point(number)


# The function, the claim, and how both are made.
CASES = (
    ("`exp(x) + 1e-3 * sin(2e9 * x)`, a short wave on a slow function", "right", wave),
    ("`sum(floor(x))` of 150 entries", "right, 0", floors),
    ("`floor(x)` of one number", "1, the slope of the staircase", floor),
    ("`x**2` at 1e-160", "doubled", tiny),
    ("`sum(abs(x))` of 240 entries, one of them 0", "another entry doubled", one_at_a_kink),
    ("the median of 200 numbers, many of them equal", "doubled", tied_median),
)

print("| `f` | claim | pass / unsure / fail |\n| --- | --- | --- |")
for case, claim, at in CASES:
    found = Counter(check_gradient(*at(k), seed=k).verdict for k in range(POINTS))
    counts = (str(found[verdict]) for verdict in ("pass", "unsure", "fail"))
    print(f"| {case} | {claim} | {' / '.join(counts)} |")
