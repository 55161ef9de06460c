"""Exercise 14: a million parameters."""

import numpy as np


def signs(seed, lines, n):
    """Draw +1 and -1, shape (lines, n)."""
    # --- your code ---
    raise NotImplementedError("exercise 14, task 1: signs")
    # --- end ---


def slope_along(f, x, v, h):
    """Central difference of ``f`` at ``x``, shape (n,), as ``x`` moves along ``v``."""
    # --- your code ---
    raise NotImplementedError("exercise 14, task 2: slope_along")
    # --- end ---


def residuals(f, x, claimed, lines, h):
    """For each row of ``lines``: the claimed slope minus the measured slope."""
    # --- your code ---
    raise NotImplementedError("exercise 14, task 3: residuals")
    # --- end ---


def certificate(residuals):
    """Return ``bound, confidence``: no entry is off by more, with at least this probability."""
    # --- your code ---
    raise NotImplementedError("exercise 14, task 4: certificate")
    # --- end ---


def suspect(residuals, lines):
    """Return ``i, error``: the entry whose signs match the residuals best, and its error."""
    # --- your code ---
    raise NotImplementedError("exercise 14, task 5: suspect")
    # --- end ---


def mends(residuals, lines, claimed, repaired, allowed):
    """For each row of ``repaired``, a repair of ``claimed``: whether all lines accept it."""
    # --- your code ---
    raise NotImplementedError("exercise 14, task 6: mends")
    # --- end ---


if __name__ == "__main__":
    n, lines = 100_000, 24  # a million takes half a gigabyte
    rng = np.random.default_rng(14)
    x, weights = rng.normal(size=n), rng.uniform(1, 2, size=n)
    right = weights * np.cos(x)

    one, two = right.copy(), right.copy()
    one[4321] += 0.01
    two[[4321, 77_777]] += 0.01, -0.01
    vs = signs(0, lines, n)
    for name, claimed in {"right": right, "one wrong": one, "two that cancel": two}.items():
        r = residuals(lambda x: weights @ np.sin(x), x, claimed, vs, 1e-4)
        (bound, sure), (i, error) = certificate(r), suspect(r, vs)
        seen = np.sum(np.abs(r) > 0.005)
        print(f"{name:16} no error above {bound:.1e}, with probability {sure:.7f} at least;")
        print(f"{'':16} {seen} of {lines} lines show it, and suspect [{i}], off by {error:.1e}")

    mistakes = [2 * right, -right, np.roll(right, 1), right[::-1]]
    wrong = mistakes[rng.integers(4)]  # which one?
    repairs = {
        "half of it": wrong / 2,
        "minus it": -wrong,
        "rolled back": np.roll(wrong, -1),
        "reversed": wrong[::-1],
    }
    r = residuals(lambda x: weights @ np.sin(x), x, wrong, vs, 1e-4)
    fits = mends(r, vs, wrong, np.stack([*repairs.values()]), 1e-3)
    for name, fit in zip(repairs, fits, strict=True):
        print(f"{name:16} {'mends' if fit else 'does not mend'} the last gradient")
