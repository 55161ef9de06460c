"""Check a gradient against finite differences: a staircase, and a check to use.

The staircase has five modules. Each fixes something that the one before it gets wrong:

1. ``forward_difference``: the definition of a derivative without the limit.
2. ``central_difference``: a step to both sides, and the error falls with ``h^2``.
3. ``relative_error`` and ``band``: an error relative to the size of the gradient, as in CS231n.
4. ``allclose``: an absolute and a relative tolerance, added, as in NumPy, torch and Warp.
5. ``five_point_difference``, and two that build on it: ``adaptive_difference`` chooses the step
   and returns an error bar; ``escalating_difference`` (as in TVM) keeps the step and changes the
   formula.

The check to use is built on them: ``check_gradient`` (with ``check_vjp``, ``check_jvp`` and
``check_jacobian`` for arrays) answers pass, fail or *unsure*, with an error bar for every entry,
and names the likely mistake. It checks large gradients along random lines through the point, at a
cost that hardly grows with their size. ``assert_gradient`` and its twins do the same inside a test
suite.

Examples
--------
>>> import numpy as np
>>> from gradcheck_ref import check_gradient
>>> x = np.array([0.5, 1.0, 2.0])
>>> report = check_gradient(lambda x: np.mean(x**2), x, 2 * x)
>>> report.verdict, [diagnosis.sentence for diagnosis in report.diagnoses]
('fail', ['every entry is 3 x the numeric value'])
"""

from gradcheck_ref.check import (
    GradientError,
    GradientWarning,
    Report,
    assert_gradient,
    assert_jacobian,
    assert_jvp,
    assert_vjp,
    check_gradient,
    check_jacobian,
    check_jvp,
    check_vjp,
    hard_points,
    nearby,
)
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
    "GradientError",
    "GradientWarning",
    "Report",
    "adaptive_difference",
    "allclose",
    "assert_gradient",
    "assert_jacobian",
    "assert_jvp",
    "assert_vjp",
    "band",
    "central_difference",
    "check_gradient",
    "check_jacobian",
    "check_jvp",
    "check_vjp",
    "escalating_difference",
    "five_point_difference",
    "forward_difference",
    "hard_points",
    "nearby",
    "relative_error",
]
