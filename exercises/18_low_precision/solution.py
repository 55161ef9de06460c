"""Exercise 18: eight binary digits."""

import numpy as np


def bfloat16(x):
    """Round ``x`` to the nearest numbers with eight binary digits."""
    # --- your code ---
    m, e = np.frexp(x)
    return np.ldexp(np.round(256 * m) / 256, e)
    # --- end ---


def layer(x, W):
    """Return ``tanh(x @ W)``, in bfloat16."""
    return bfloat16(np.tanh(bfloat16(x @ W)))


def layer_vjp(upstream, x, W):
    """Gradient of ``sum(layer(x, W) * upstream)`` with respect to ``W``."""
    return x.T @ (upstream * (1 - np.tanh(x @ W) ** 2))


def draw(rng, shape):
    """Draw random signs times random sizes; the mean square of an entry is 1."""
    signs, sizes = rng.choice([-1.0, 1.0], size=shape), rng.uniform(0.5, 1.5, size=shape)
    return signs * sizes / np.sqrt(13 / 12)


def residual(f, x, claimed, v, u, h):
    """Claimed minus measured slope of ``sum(u * f(x))``, as ``x`` moves along ``v``."""
    # --- your code ---
    ahead, behind = bfloat16(x + h * v), bfloat16(x - h * v)
    predicted = np.sum(claimed * (ahead - behind))
    return (predicted - np.sum(u * (f(ahead) - f(behind)))) / (2 * h)
    # --- end ---


def residuals(f, vjp, x, steps, count, seed):
    """Return ``r, claims``: shape (steps, count) and (count,), along ``count`` random lines."""
    # --- your code ---
    rng, outputs = np.random.default_rng(seed), np.shape(f(x))
    r, claims = np.empty((len(steps), count)), np.empty(count)
    for k in range(count):
        # Every step has the same line and the same combination: so the mistake is the same, too.
        v, u = draw(rng, x.shape), draw(rng, outputs)
        claimed = vjp(u)
        claims[k] = np.sum(claimed * v)
        for i, h in enumerate(steps):
            r[i, k] = residual(f, x, claimed, v, u, h)
    return r, claims
    # --- end ---


def split(r):
    """Return ``mistake, noise``: two parts of the mean square of two rows of residuals."""
    # --- your code ---
    return np.mean(r[0] * r[1]), np.mean((r[0] - r[1]) ** 2) / 2
    # --- end ---


def whole(r, claims):
    """Return ``square, margin``: of the relative error of the whole, and its standard error."""
    # --- your code ---
    products, size = r[0] * r[1], np.mean(claims**2)
    return products.mean() / size, products.std(ddof=1) / np.sqrt(len(products)) / size
    # --- end ---


def verdict(square, margin, tolerance):
    """Return ``"pass"``, ``"fail"`` or ``"unsure"``."""
    # --- your code ---
    if max(square, 0) + 3 * margin <= tolerance**2:
        return "pass"
    if square - 3 * margin > tolerance**2:
        return "fail"
    return "unsure"
    # --- end ---
