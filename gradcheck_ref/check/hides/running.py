"""Facts about the running test, for the pytest plugin. The check has no other state."""

from contextvars import ContextVar
from typing import Any


class Running:
    """The events in the running test so far.

    Attributes
    ----------
    reached : str or None
        The name of the current point in a loop over `hard_points`.
    asserted : list of Report, or None
        The reports of all assertions during an audit; None without an audit.
    """

    def __init__(self) -> None:
        self.reached: str | None = None
        self.asserted: list[Any] | None = None


# One object for all threads and tasks of a test: a new thread has the default of the variable.
_running = ContextVar("running", default=Running())  # noqa: B039


def running() -> Running:
    """Return the events so far."""
    return _running.get()


def auditing() -> bool:
    """Tell whether an audit is going on."""
    return running().asserted is not None


def note_assertion(report: Any) -> None:
    """Note the report of an assertion during an audit."""
    asserted = running().asserted
    if asserted is not None:
        asserted.append(report)
