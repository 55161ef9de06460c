"""Exercise 4: absolute plus relative."""

import numpy as np


def allclose(analytic, numeric, rtol, atol):
    """Whether two gradients, arrays of float of equal shapes, are close in every entry.

    ``numeric`` is measured: the reference. ``rtol`` is the allowed error as a fraction of
    ``|numeric|``, ``atol`` the allowed error in addition. Returns True if entries were compared and
    all of them are close.
    """
    # --- your code ---
    if analytic.shape != numeric.shape:
        raise ValueError(f"analytic has shape {analytic.shape}, numeric has {numeric.shape}")
    error = np.abs(analytic - numeric)
    allowed = atol + rtol * np.abs(numeric)
    # An infinite numeric value would allow any error, so finite values are asked for.
    close = (error <= allowed) & np.isfinite(analytic) & np.isfinite(numeric)
    # np.all of nothing is True, and nothing compared is nothing confirmed.
    return bool(close.size > 0 and close.all())
    # --- end ---
