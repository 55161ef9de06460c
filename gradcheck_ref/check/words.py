"""Whom a sentence addresses: who writes Python, or who types a command. Each has words of its own.

A C author who has never seen Python is to be told ``--max-evaluations``, and not
``max_evaluations=``. Whoever runs a check for a command says so once, around it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_typed = ContextVar("typed", default=False)


@contextmanager
def for_a_command() -> Iterator[None]:
    """Address who has typed a command, in all that is said inside."""
    token = _typed.set(True)
    try:
        yield
    finally:
        _typed.reset(token)


def words(in_python: str, in_a_command: str) -> str:
    """Return the words of whoever is addressed.

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
    """Name an argument of a check as it is called."""
    return words(name, f"--{name.replace('_', '-')}")


def setting(name: str, value: str = "") -> str:
    """Write an argument of a check with its value, or with room for one.

    Examples
    --------
    >>> setting("max_evaluations"), setting("rtol", "1e-3")
    ('max_evaluations=', 'rtol=1e-3')
    >>> with for_a_command():
    ...     setting("max_evaluations"), setting("rtol", "1e-3")
    ('--max-evaluations', '--rtol 1e-3')
    """
    return f"{knob(name)}{words('=', ' ' if value else '')}{value}"
