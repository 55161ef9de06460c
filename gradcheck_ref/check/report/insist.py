"""An assertion turns a report into an error if a gradient is wrong, or a warning if unsure."""

import warnings
from typing import Any

from gradcheck_ref.check.hides.running import note_assertion
from gradcheck_ref.check.report.report import Report


class GradientError(AssertionError):
    """A gradient is wrong, or unsure with ``unsure="fail"``; the message is the report as text.

    Parameters
    ----------
    report : Report
        The report of the check.

    Attributes
    ----------
    report : Report
        The same.
    """

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report

    def __reduce__(self) -> tuple[type["GradientError"], tuple[Report]]:
        """Pickle the report: errors are sent between processes when tests run in parallel."""
        return type(self), (self.report,)


class GradientWarning(UserWarning):
    """The check cannot tell whether a gradient is right; the message is the report."""


def check_unsure(unsure: Any, empty: Any = "unsure") -> None:
    """Refuse unknown values of the two arguments, before f is called."""
    if unsure not in ("warn", "fail", "pass"):
        raise ValueError(f'unsure must be "warn", "fail" or "pass", not {unsure!r}')
    if empty not in ("unsure", "pass"):
        raise ValueError(f'empty must be "unsure" or "pass", not {empty!r}')


def insist(report: Report, unsure: str, empty: str = "unsure") -> Report:
    """Raise, warn or return the report, depending on the verdict."""
    __tracebackhide__ = True
    if report.reason == "empty" and empty == "pass":
        return report
    if report.verdict == "fail" or (report.verdict == "unsure" and unsure == "fail"):
        raise GradientError(report)
    note_assertion(report)
    if report.verdict == "unsure" and unsure == "warn":
        warnings.warn(GradientWarning(str(report)), stacklevel=3)  # the caller of assert_
    return report
