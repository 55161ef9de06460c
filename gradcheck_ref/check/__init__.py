"""The check people use: a verdict with evidence, built on the five stages."""

from gradcheck_ref.check.gradient import check_gradient
from gradcheck_ref.check.products import check_jvp, check_vjp
from gradcheck_ref.check.report import Report

__all__ = ["Report", "check_gradient", "check_jvp", "check_vjp"]
