"""One entry of the museum, and what its points are written with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..case import Array, Bug, Case


class Source(NamedTuple):
    """The public record of a wrong derivative.

    Attributes
    ----------
    where : str
        The project, as GitHub spells it, and the number of the issue, pull request or commit.
    year : int
        When it was reported or corrected.
    lived : str
        How long it was in the code, as far as the tracker or the history tells; else empty.
    """

    where: str
    year: int
    lived: str = ""


@dataclass(frozen=True)
class Wild:
    """A wrong derivative that a library released.

    Attributes
    ----------
    id : str
        Unique and stable: ``"<library>/<function>"``.
    source : Source
        Where it is described, when, and how long it lived.
    f, right, wrong : callable
        The function, its right ``vjp(upstream, *inputs)`` and the wrong one.
    shows : tuple of ndarray
        A point where they differ. Integer inputs are constants.
    unnoticed : str
        Why nobody noticed, in a sentence.
    hides : tuple of ndarray or None
        A point where they agree, if there is one.
    looks : str
        The appearance of the error at the point that shows it: a word of ``gradcheck_ref.zoo``.
    domain : callable or None
        Makes any real numbers, given as inputs, a point that the function accepts.
    """

    id: str
    source: Source
    f: Callable[..., Any]
    right: Callable[..., Any]
    wrong: Callable[..., Any]
    shows: tuple[Array, ...]
    unnoticed: str
    hides: tuple[Array, ...] | None = None
    looks: str = "unknown"
    domain: Callable[..., tuple[Array, ...]] | None = None

    def case(self, inputs: tuple[Array, ...]) -> Case:
        """Return the function at a point, with its one bug."""
        bug = Bug(self.id, "wild", self.wrong, self.unnoticed, self.looks)
        return Case(self.id, self.f, inputs, self.right, frozenset({"wild"}), (bug,))

    def ordinary(self, seed: int) -> tuple[Array, ...]:
        """Draw a point as a test would: standard normal numbers in the same shapes.

        Integers are those of the point that hides the bug, where there is one.
        """
        rng = np.random.default_rng((seed, 1))  # not those of the weights that a judge draws
        point = tuple(
            (self.hides or self.shows)[k] if x.dtype.kind in "iu" else _normal(rng, x)
            for k, x in enumerate(self.shows)
        )
        return self.domain(*point) if self.domain else point


def _normal(rng: np.random.Generator, like: Array) -> Array:
    numbers = rng.normal(size=like.shape)
    return np.asarray(
        numbers + 1j * rng.normal(size=like.shape) if np.iscomplexobj(like) else numbers
    )


def at(*inputs: Any) -> tuple[Array, ...]:
    """Write a point."""
    return tuple(np.asarray(x) for x in inputs)


def positive(*inputs: Array) -> tuple[Array, ...]:
    """Map real numbers to positive ones."""
    return tuple(np.exp(x) for x in inputs)


def between_0_and_1(*inputs: Array) -> tuple[Array, ...]:
    """Map real numbers to probabilities."""
    return tuple(1 / (1 + np.exp(-x)) for x in inputs)


def softmax(x: Array) -> Any:
    """Share of each entry of the last axis."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
