"""Functions with noise, and those that compute in float32 or 16 bits, or print few digits."""

import numpy as np

from .row import Row, in_precision
from .smooth import X, layer, of_layer

SMOOTH = Row(
    "a tanh layer",
    layer,
    X,
    of_layer,
    want="pass unsure",
    hides="unsure fail pass",
)

ROWS = [
    *(in_precision(SMOOTH, inside) for inside in ("float32", "float16", "bfloat16")),
    Row(
        "six digits",
        lambda x: float(f"{100 + np.sum(np.sin(x)):.6g}"),
        [0.3, -1.2, 0.9],
        np.cos,
        want="unsure pass",
        hides="unsure fail pass",
    ),
]
