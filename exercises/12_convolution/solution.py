"""Exercise 12: convolution and pooling."""

import numpy as np


def convolve(x, w, b):
    """Slide each filter over the image; shapes (channels, h, w), (filters, channels, k, l)."""
    # --- your code ---
    height, width = x.shape[1] - w.shape[2] + 1, x.shape[2] - w.shape[3] + 1
    y = np.zeros((len(w), height, width)) + b[:, None, None]
    for p in range(w.shape[2]):
        for q in range(w.shape[3]):
            block = x[:, p : p + height, q : q + width]
            y += np.einsum("fc,chw->fhw", w[:, :, p, q], block)
    return y
    # --- end ---


def convolve_backward(upstream, x, w):
    """Gradients of ``sum(upstream * convolve(x, w, b))``: dx, dw, db."""
    # --- your code ---
    _, height, width = upstream.shape
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for p in range(w.shape[2]):
        for q in range(w.shape[3]):
            # The same blocks as forward: what was read there is added to here. They overlap.
            place = np.s_[:, p : p + height, q : q + width]
            dx[place] += np.einsum("fc,fhw->chw", w[:, :, p, q], upstream)
            dw[:, :, p, q] = np.einsum("fhw,chw->fc", upstream, x[place])
    return dx, dw, upstream.sum(axis=(1, 2))
    # --- end ---


def max_pool(x):
    """Return the largest of each 2 x 2 window of ``x``, shape (channels, height, width)."""
    # --- your code ---
    c, h, w = x.shape
    return x.reshape(c, h // 2, 2, w // 2, 2).max(axis=(2, 4))
    # --- end ---


def max_pool_backward(upstream, x):
    """Gradient of ``sum(upstream * max_pool(x))`` with respect to ``x``."""
    # --- your code ---
    c, h, w = x.shape
    windows = x.reshape(c, h // 2, 2, w // 2, 2)
    winners = windows == windows.max(axis=(2, 4), keepdims=True)
    # At a tie any shares that add up to 1 are defensible; equal ones favor nobody.
    shares = winners / winners.sum(axis=(2, 4), keepdims=True)
    return (shares * upstream[:, :, None, :, None]).reshape(c, h, w)
    # --- end ---
