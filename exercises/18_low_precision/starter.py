"""Exercise 18: eight binary digits."""

import numpy as np


def bfloat16(x):
    """Round ``x`` to the nearest numbers with eight binary digits."""
    # --- your code ---
    raise NotImplementedError("exercise 18, task 1: bfloat16")
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
    raise NotImplementedError("exercise 18, task 2: residual")
    # --- end ---


def residuals(f, vjp, x, steps, count, seed):
    """Return ``r, claims``: shape (steps, count) and (count,), along ``count`` random lines."""
    # --- your code ---
    raise NotImplementedError("exercise 18, task 3: residuals")
    # --- end ---


def split(r):
    """Return ``mistake, noise``: two parts of the mean square of two rows of residuals."""
    # --- your code ---
    raise NotImplementedError("exercise 18, task 4: split")
    # --- end ---


def whole(r, claims):
    """Return ``square, margin``: of the relative error of the whole, and its standard error."""
    # --- your code ---
    raise NotImplementedError("exercise 18, task 5: whole")
    # --- end ---


def verdict(square, margin, tolerance):
    """Return ``"pass"``, ``"fail"`` or ``"unsure"``."""
    # --- your code ---
    raise NotImplementedError("exercise 18, task 6: verdict")
    # --- end ---


if __name__ == "__main__":
    rng = np.random.default_rng(18)
    x, W = bfloat16(rng.normal(size=(64, 32)) / np.sqrt(32)), bfloat16(rng.normal(size=(32, 16)))
    kept, last = np.ones((2, *W.shape))
    kept[5, 7], last[-1] = 0, 0
    claims = {"right": 1.0, "5 % too large": 1.05, "one entry lost": kept, "a row lost": last}
    print("claim           steps        noise  error  verdict at 3%")
    for steps in ((0.4, 0.2), (0.1, 0.05), (0.02, 0.01)):
        for name, factor in claims.items():

            def vjp(u, factor=factor):
                """Return the claim about one combination of the outputs."""
                return factor * layer_vjp(u, x, W)

            r, claimed = residuals(lambda W: layer(x, W), vjp, W, steps, 100, seed=0)
            square, margin = whole(r, claimed)
            noise = np.sqrt(split(r)[1] / np.mean(claimed**2))
            error = np.sqrt(max(square, 0))
            told = f"{noise:5.0%}  {error:5.0%}  {verdict(square, margin, 0.03)}"
            print(f"{name:15} {steps!s:12} {told}")
