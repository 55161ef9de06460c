"""Exercise 14: a million parameters."""

import numpy as np


def signs(seed, lines, n):
    """Draw +1 and -1, shape (lines, n)."""
    # --- your code ---
    return 2.0 * np.random.default_rng(seed).integers(0, 2, size=(lines, n)) - 1
    # --- end ---


def slope_along(f, x, v, h):
    """Central difference of ``f`` at ``x``, shape (n,), as ``x`` moves along ``v``."""
    # --- your code ---
    return (f(x + h * v) - f(x - h * v)) / (2 * h)
    # --- end ---


def residuals(f, x, claimed, lines, h):
    """For each row of ``lines``: the claimed slope minus the measured slope."""
    # --- your code ---
    return np.array([claimed @ v - slope_along(f, x, v, h) for v in lines])
    # --- end ---


def certificate(residuals):
    """Return ``bound, confidence``: no entry is off by more, with at least this probability."""
    # --- your code ---
    # A line shows less than the largest error with probability 1/2 at most, whatever the rest.
    return np.abs(residuals).max(), 1 - 0.5 ** len(residuals)
    # --- end ---


def suspect(residuals, lines):
    """Return ``i, error``: the entry whose signs match the residuals best, and its error."""
    # --- your code ---
    # Where the signs match, every term has the same sign; elsewhere they cancel.
    matches = residuals @ lines / len(lines)
    i = np.argmax(np.abs(matches))
    return i, matches[i]
    # --- end ---


def mends(residuals, lines, claimed, repaired, allowed):
    """For each row of ``repaired``, a repair of ``claimed``: whether all lines accept it."""
    # --- your code ---
    # The slopes are those of f, whatever is claimed: the residuals of the claim contain them.
    slopes = lines @ claimed - residuals
    return np.abs(repaired @ lines.T - slopes).max(axis=1) <= allowed
    # --- end ---
