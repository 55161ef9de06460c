"""Check a gradient against finite differences: five small steps, each a complete checker.

The staircase, one module a step, each fixing what the one before gets wrong:

1. ``forward_difference``: the definition of a derivative without the limit.
2. ``central_difference``: a step to both sides, and the error falls with ``h^2``.
3. ``relative_error`` and ``band``: an error measured by the size of the gradient, as in CS231n.
4. ``allclose``: an absolute and a relative tolerance, added, as in NumPy, torch and Warp.
5. ``five_point_difference``, ``escalating_difference`` (as in TVM) and ``adaptive_difference``:
   the step is chosen, and the estimate knows its own error.

Examples
--------
>>> import numpy as np
>>> from gradcheck_ref import adaptive_difference, allclose
>>> x = np.array([0.5, 1.0, 2.0])
>>> estimate = adaptive_difference(lambda x: np.sum(x**3), x)
>>> print(allclose(3 * x, estimate.value, rtol=1e-6, atol=0))  # the square was forgotten
2 of 3 entries differ; worst at [0]: analytic 1.5, numeric 0.75, error 0.75, allowed 7.5e-07 by rtol
"""

from gradcheck_ref.stage1_forward import forward_difference
from gradcheck_ref.stage2_central import central_difference
from gradcheck_ref.stage3_relative import band, relative_error
from gradcheck_ref.stage4_allclose import Comparison, allclose
from gradcheck_ref.stage5_adaptive import (
    Estimate,
    adaptive_difference,
    escalating_difference,
    five_point_difference,
)

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "Estimate",
    "adaptive_difference",
    "allclose",
    "band",
    "central_difference",
    "escalating_difference",
    "five_point_difference",
    "forward_difference",
    "relative_error",
]
