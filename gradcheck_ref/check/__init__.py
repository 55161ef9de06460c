"""The check to use: a verdict with its evidence, built on the five stages."""

from gradcheck_ref.check.gradient import assert_gradient, check_gradient
from gradcheck_ref.check.hides.points import hard_points, nearby
from gradcheck_ref.check.jacobian import assert_jacobian, check_jacobian
from gradcheck_ref.check.products import assert_jvp, assert_vjp, check_jvp, check_vjp
from gradcheck_ref.check.report.insist import GradientError, GradientWarning
from gradcheck_ref.check.report.report import Report

__all__ = [
    "GradientError",
    "GradientWarning",
    "Report",
    "assert_gradient",
    "assert_jacobian",
    "assert_jvp",
    "assert_vjp",
    "check_gradient",
    "check_jacobian",
    "check_jvp",
    "check_vjp",
    "hard_points",
    "nearby",
]
