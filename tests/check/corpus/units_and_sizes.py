"""Numbers that are large, small or far from each other: of x, of f, and of the slopes."""

import numpy as np

from .row import Row

ROWS = [
    Row(
        "a pedestal of 1e10",
        lambda x: 1e10 + 1e-3 * np.sum(np.sin(x)),
        [0.3, 1.2],
        lambda x: 1e-3 * np.cos(x),
        want="pass unsure",
        hides={"an entry": "unsure"},
    ),
]
