"""What the pytest plugin has to know of the test that is running: the only state of the check."""

from contextvars import ContextVar
from typing import Any, NamedTuple


class Running(NamedTuple):
    """What has happened so far in the running test."""

    reached: str | None = None  # the name of the current point in a loop over `hard_points`
    asserted: list[Any] | None = None  # the reports of all assertions during an audit, else None


_running = ContextVar("running", default=Running())  # noqa: B039, a named tuple


def running() -> Running:
    """Return what has happened so far."""
    return _running.get()


def now(**what: Any) -> Running:
    """Note what has happened, and return what was known before."""
    before = running()
    _running.set(before._replace(**what))
    return before
