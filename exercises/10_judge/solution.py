"""Exercise 10: write your own checker."""

import numpy as np

# --- your code ---
# Steps in units of x, from a third down to where x does not move any more.
LADDER = 3.0 ** -np.arange(1, 27)
EPS = np.finfo(float).eps
RTOL = 1e-6


def slopes(f, x, direction):
    """Return, for each step: the slope ahead, the slope behind, and the noise in them."""
    here, found = f(x), []
    for h in LADDER:
        ahead, behind = f(x + h * direction), f(x - h * direction)
        # Where f does not move, the step is below its last digit, or f does not depend on x.
        if np.isfinite([ahead, behind]).all() and ahead != behind:
            found.append((h, (ahead - here) / h, (here - behind) / h, abs(ahead - behind)))
    h, ahead, behind, moved = np.array(found).reshape(-1, 4).T
    # What is smaller than the last digit of f, or than the least that f ever moves, is noise.
    return ahead, behind, np.maximum(EPS * abs(here), moved.min(initial=np.inf)) / h


def slope(f, x, direction):
    """Return the lowest and the highest slope there may be in a direction, and an error bar."""
    ahead, behind, noise = slopes(f, x, direction)
    if not len(noise):
        return 0.0, 0.0, 0.0
    central = (ahead + behind) / 2
    better = (9 * central[1:] - central[:-1]) / 8  # without the h * h of the truncation
    gap = abs(ahead - behind)
    best = -np.inf, np.inf, np.inf
    for k in range(2, len(better) - 1):
        # Four neighbors that agree have no drift left, and not yet any scatter.
        bar = np.ptp(better[k - 2 : k + 2]) + noise[k + 1]
        if bar < best[2]:
            # A gap between the sides shrinks with the step, except at a kink.
            kink = gap[k + 1] > 0.6 * gap[k] and gap[k + 1] > 20 * bar
            ends = (ahead[k + 1], behind[k + 1]) if kink else (better[k], better[k])
            best = min(ends), max(ends), bar
    return best


# --- end ---


def my_check(f, x, analytic):
    """Say whether ``analytic`` is the gradient of ``f`` at ``x``: True or False."""
    # --- your code ---
    if np.shape(analytic) != np.shape(x) or not np.isfinite(analytic).all():
        return False
    # Each entry by itself, and all at once: at a tie each may be right, and their sum wrong.
    scale = np.where(x == 0, np.abs(x).max() or 1.0, x)
    directions = [np.where(np.arange(x.size) == i, scale.flat, 0) for i in range(x.size)]
    directions = [d.reshape(x.shape) for d in [*directions, scale]]
    low, high, bar = np.array([slope(f, x, d) for d in directions]).T
    claimed = np.array([(analytic * d).sum() for d in directions])
    size = np.maximum(abs(low), abs(high))
    # What is 0 but for the rounding of other entries is measured as next to nothing, not as 0.
    allowed = 3 * bar + RTOL * size + 1e-6 * RTOL * size[np.isfinite(size)].max(initial=0)
    return bool(np.all((low - allowed <= claimed) & (claimed <= high + allowed)))
    # --- end ---
