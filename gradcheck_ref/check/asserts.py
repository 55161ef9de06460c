"""The check for a test suite: an error where a gradient is wrong, a warning where one is unsure."""

import warnings
from collections.abc import Callable
from typing import Any

from gradcheck_ref.check.gradient import check_gradient
from gradcheck_ref.check.knobs import RTOL
from gradcheck_ref.check.products import check_jvp, check_vjp
from gradcheck_ref.check.report import Report

UNSURE_MEANS = ("warn", "fail", "pass")


class GradientError(AssertionError):
    """A gradient is wrong, or unsure where that counts as wrong; the message is the report.

    Parameters
    ----------
    report : Report
        What the check found.

    Attributes
    ----------
    report : Report
        The same, for programs.
    """

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report

    def __reduce__(self) -> tuple[type["GradientError"], tuple[Report]]:
        """Pickle by the report: an error crosses processes when tests run in several."""
        return type(self), (self.report,)


class GradientWarning(UserWarning):
    """The evidence cannot tell whether a gradient is right; the message is the report."""


def assert_gradient(
    f: Callable[..., Any],
    inputs: Any,
    grads: Any,
    *,
    rtol: float = RTOL,
    atol: float | None = None,
    max_evaluations: int | None = None,
    seed: int = 0,
    unsure: str = "warn",
) -> Report:
    """Assert that a claimed gradient of a scalar function is right.

    Parameters
    ----------
    f, inputs, grads, rtol, atol, max_evaluations, seed : any
        As for `check_gradient`.
    unsure : {"warn", "fail", "pass"}
        What to do when the evidence cannot tell.

    Returns
    -------
    Report
        What the check found, if nothing was raised.

    Raises
    ------
    GradientError
        If the gradient is wrong, or the check is unsure and ``unsure="fail"``. An AssertionError
        whose message is the report, and whose attribute ``report`` holds it.
    TypeError, ValueError
        As for `check_gradient`; ValueError also for any other ``unsure``.

    Warns
    -----
    GradientWarning
        If the check is unsure and ``unsure="warn"``.

    Notes
    -----
    Cost: that of `check_gradient`, about 9 evaluations of f plus 6 per coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> assert_gradient(lambda x: np.sum(x**3), x, 3 * x**2).verdict
    'pass'
    >>> try:
    ...     assert_gradient(lambda x: np.sum(x**3), x, 3 * x)  # the square was forgotten
    ... except AssertionError as error:
    ...     print(error.report.worst.name, error.report.worst.analytic)
    x[0] 1.5
    """
    __tracebackhide__ = True  # pytest shows the line of the test, not ours
    _check_unsure(unsure)
    report = check_gradient(
        f, inputs, grads, rtol=rtol, atol=atol, max_evaluations=max_evaluations, seed=seed
    )
    return _insist(report, unsure)


def assert_vjp(
    f: Callable[..., Any],
    inputs: Any,
    vjp: Callable[..., Any] | None = None,
    *,
    jvp: Callable[..., Any] | None = None,
    rtol: float = RTOL,
    atol: float | None = None,
    max_evaluations: int | None = None,
    seed: int = 0,
    unsure: str = "warn",
) -> Report:
    """Assert that a vector-Jacobian product is right.

    Parameters
    ----------
    f, inputs, vjp, jvp, rtol, atol, max_evaluations, seed : any
        As for `check_vjp`.
    unsure : {"warn", "fail", "pass"}
        What to do when the evidence cannot tell.

    Returns
    -------
    Report
        What the check found, if nothing was raised.

    Raises
    ------
    GradientError
        If the product is wrong, or the check is unsure and ``unsure="fail"``.
    TypeError, ValueError
        As for `check_vjp`; ValueError also for any other ``unsure``.

    Warns
    -----
    GradientWarning
        If the check is unsure and ``unsure="warn"``.

    Notes
    -----
    Cost: that of `check_vjp`, about 9 evaluations of f plus 6 per coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> assert_vjp(np.sin, x, lambda upstream, x: upstream * np.cos(x)).verdict
    'pass'
    """
    __tracebackhide__ = True
    _check_unsure(unsure)
    report = check_vjp(
        f,
        inputs,
        vjp,
        jvp=jvp,
        rtol=rtol,
        atol=atol,
        max_evaluations=max_evaluations,
        seed=seed,
    )
    return _insist(report, unsure)


def assert_jvp(
    f: Callable[..., Any],
    inputs: Any,
    jvp: Callable[..., Any] | None = None,
    *,
    vjp: Callable[..., Any] | None = None,
    rtol: float = RTOL,
    atol: float | None = None,
    max_evaluations: int | None = None,
    seed: int = 0,
    unsure: str = "warn",
) -> Report:
    """Assert that a Jacobian-vector product is right.

    Parameters
    ----------
    f, inputs, jvp, vjp, rtol, atol, max_evaluations, seed : any
        As for `check_jvp`.
    unsure : {"warn", "fail", "pass"}
        What to do when the evidence cannot tell.

    Returns
    -------
    Report
        What the check found, if nothing was raised.

    Raises
    ------
    GradientError
        If the product is wrong, or the check is unsure and ``unsure="fail"``.
    TypeError, ValueError
        As for `check_jvp`; ValueError also for any other ``unsure``.

    Warns
    -----
    GradientWarning
        If the check is unsure and ``unsure="warn"``.

    Notes
    -----
    Cost: that of `check_jvp`, about 9 evaluations of f plus 6 per coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> assert_jvp(np.sin, x, lambda tangent, x: tangent * np.cos(x)).verdict
    'pass'
    """
    __tracebackhide__ = True
    _check_unsure(unsure)
    report = check_jvp(
        f,
        inputs,
        jvp,
        vjp=vjp,
        rtol=rtol,
        atol=atol,
        max_evaluations=max_evaluations,
        seed=seed,
    )
    return _insist(report, unsure)


def _check_unsure(unsure: Any) -> None:
    if unsure not in UNSURE_MEANS:
        raise ValueError(f'unsure must be "warn", "fail" or "pass", not {unsure!r}')


def _insist(report: Report, unsure: str) -> Report:
    """Raise, warn or return, as the verdict demands."""
    __tracebackhide__ = True
    if report.verdict == "fail" or (report.verdict == "unsure" and unsure == "fail"):
        raise GradientError(report)
    if report.verdict == "unsure" and unsure == "warn":
        warnings.warn(GradientWarning(str(report)), stacklevel=3)  # the caller of assert_
    return report
