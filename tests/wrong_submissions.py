"""Mark a function as an answer that students really hand in, and that a check must refuse."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Wrong:
    """A function that stands in a submission, otherwise right, in the place of the right one."""

    task: str
    function: Callable[..., Any]
    says: str

    def __str__(self) -> str:
        return self.function.__name__


def instead_of(task, *, says):
    """Mark a wrong answer to a task; ``says`` is part of what the learner must be told."""
    return lambda function: Wrong(task, function, says)
