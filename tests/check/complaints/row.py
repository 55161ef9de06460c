"""The row of a table of complaints."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gradcheck_ref import Report


@dataclass(frozen=True, eq=False)
class Complaint:
    """What somebody told in public of a gradient check, and what this check says of the same.

    Attributes
    ----------
    name : str
        A few words that are unique.
    where : str
        A project, the kind of the thread, and its number; or the address of a thread elsewhere.
    what : str
        What happened there.
    check, f, at, claim : callable, callable, any, any
        The check to use, the function, reduced to what matters, the point, and the derivative.
    verdict : str
        The right verdict: *pass* for a right derivative, or *unsure* where there is none.
    said : str
        A part of the report that names the cause.
    """

    name: str
    where: str
    what: str
    check: Callable[..., Report]
    f: Callable[..., Any]
    at: Any
    claim: Any
    verdict: str
    said: str

    @cached_property
    def report(self) -> Report:
        """The report of the check; a page asks for it, too."""
        return self.check(self.f, self.at, self.claim)

    @property
    def address(self) -> str:
        """The address of the thread."""
        if self.where.startswith("http"):
            return self.where
        project, kind, number = self.where.split()
        return f"https://github.com/{project}/{'issues' if kind == 'issue' else kind}/{number}"
