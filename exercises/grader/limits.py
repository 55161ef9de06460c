"""The limits of a submission."""

from dataclasses import dataclass

START_SECONDS = 60.0  # for Python and NumPy to start
PACKAGE_SECONDS = 30.0  # for the packages of an exercise: torch takes 2 on an idle machine
PATIENCE = 10.0  # times the seconds of a limit may pass before the machine is called too busy

QUIET_SECONDS = 60.0  # to wait, at most, until another attempt has a processor for itself


@dataclass(frozen=True)
class Limits:
    """The limits of a submission; all seconds are its own, by ``clock``."""

    call_seconds: float = 5.0  # for one call of one function
    # For each later call, once a call has taken too long: in a class of 200, six endless loops
    # would otherwise take longer than all the rest.
    next_seconds: float = 1.0
    load_seconds: float = 5.0  # for loading the file, in addition to the time for a call
    seconds: float = 60.0  # for all the checks of an exercise; so much for their own work, too
    memory: int = 2_000_000_000  # bytes of address space; NumPy alone takes about 0.3e9
    answer: int = 4_000_000  # bytes of one answer
    output: int = 200_000  # bytes that may be printed
    alone: bool = False  # whether nothing else is graded: if it is killed then, it is the cause
