"""Functions with a kink at x or near x, and with entries of x that are equal."""

import numpy as np

from .row import Row

ROWS = [
    Row(
        "a relu at 0",
        lambda x: np.maximum(x, 0).sum(),
        [0.0, 1.0, -2.0],
        [0.0, 1, 0],
        also={"1": [1.0, 1, 0], "1/2": [0.5, 1, 0]},
        want="unsure:kink",
        wrong={"above both": [1.2, 1, 0], "below both": [-0.1, 1, 0]},
        says="valid at a kink",
    ),
]
