"""Inputs of so many entries that random lines look at all of them at once."""

import numpy as np

from .row import Row

WEIGHTS = np.arange(1, 301)

ROWS = [
    Row(
        "300 entries",
        lambda x: np.sum(np.sin(x) * WEIGHTS),
        np.linspace(0.1, 3, 300),
        lambda x: np.cos(x) * WEIGHTS,
    ),
]
