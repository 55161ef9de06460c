"""Functions that move in stairs, and points at or near the end of a domain."""

import numpy as np

from .row import Row

ROWS = [
    Row(
        "the end of sqrt",
        lambda x: np.sum(np.sqrt(1 - x)),
        [1.0],
        [-1.0],
        want="unsure:domain-edge",
        hides="unsure fail",
    ),
]
