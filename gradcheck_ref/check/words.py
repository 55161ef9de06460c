"""Words for two kinds of readers: those who write Python, and those who type a command.

A C author who has never seen Python reads ``--max-evaluations``, not ``max_evaluations=``. The
code that runs a check for a command says so once, in a ``with`` block around the check.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_typed = ContextVar("typed", default=False)


@contextmanager
def for_a_command() -> Iterator[None]:
    """Use the words for readers who type a command, for everything in the ``with`` block."""
    token = _typed.set(True)
    try:
        yield
    finally:
        _typed.reset(token)


def words(in_python: str, in_a_command: str) -> str:
    """Return the words for the present reader.

    Examples
    --------
    >>> words("grads", "gradient")
    'grads'
    >>> with for_a_command():
    ...     words("grads", "gradient")
    'gradient'
    """
    return in_a_command if _typed.get() else in_python


def knob(name: str) -> str:
    """Name an argument of a check, in Python or on the command line."""
    return words(name, f"--{name.replace('_', '-')}")


def setting(name: str, value: str = "") -> str:
    """Write an argument of a check with its value, or without one.

    Examples
    --------
    >>> setting("max_evaluations"), setting("rtol", "1e-3")
    ('max_evaluations=', 'rtol=1e-3')
    >>> with for_a_command():
    ...     setting("max_evaluations"), setting("rtol", "1e-3")
    ('--max-evaluations', '--rtol 1e-3')
    """
    return f"{knob(name)}{words('=', ' ' if value else '')}{value}"
