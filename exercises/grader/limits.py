"""The limits of a submission."""

from dataclasses import dataclass

START_SECONDS = 60.0  # for Python and NumPy to start, on a busy machine
PACKAGE_SECONDS = 30.0  # for the packages of an exercise: torch takes 2 on an idle machine


@dataclass(frozen=True)
class Limits:
    """The limits of a submission.

    Attributes
    ----------
    call_seconds : float
        For one call of one function, in elapsed time.
    next_seconds : float
        For each later call, once a call has taken too long: in a class of 200, six endless loops
        would otherwise take longer than all the rest.
    load_seconds : float
        For loading the file, in addition to the time for a call.
    seconds : float
        For all the checks of an exercise.
    memory : int
        Bytes of address space. NumPy alone takes about 0.3e9.
    answer : int
        Bytes of one answer.
    output : int
        Bytes that may be printed.
    """

    call_seconds: float = 5.0
    next_seconds: float = 1.0
    load_seconds: float = 5.0
    seconds: float = 60.0
    memory: int = 2_000_000_000
    answer: int = 4_000_000
    output: int = 200_000
