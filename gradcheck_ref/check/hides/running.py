"""The state that the pytest plugin keeps of the running test, in one variable."""

from contextvars import ContextVar
from typing import Any, NamedTuple


class Running(NamedTuple):
    """The events so far in the running test."""

    reached: str | None = None  # the name of the current point in a loop over `hard_points`
    asserted: list[Any] | None = None  # the reports of all assertions during an audit, else None


_running = ContextVar("running", default=Running())  # noqa: B039, a named tuple


def running() -> Running:
    """Return the events so far."""
    return _running.get()


def now(**what: Any) -> Running:
    """Note an event, and return the events before it."""
    before = running()
    _running.set(before._replace(**what))
    return before
