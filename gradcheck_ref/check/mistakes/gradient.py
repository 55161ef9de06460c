"""A gradient as a mistake and its repair see it, and the row of a mistake in the table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Gradient:
    r"""The gradient of one input, right or wrong.

    Attributes
    ----------
    name : str
        The name of the input.
    values : ndarray, shape (\\*shape of the input, outputs)
        The gradient of every output, complex for a complex input. If only some entries are known,
        the first axis has these, and ``whole`` is False.
    x : ndarray
        The input, without the last axis.
    others : mapping of str to (x, values)
        The other inputs, and their gradients.
    wrong : set of str
        Which of these are wrong, too.
    outputs : tuple of int
        The shape of the output, if there is one output, and it is known for each of its entries.
    imaginary : ndarray of bool, shape (outputs,)
        Which outputs are imaginary parts.
    lengths : mapping of int to str
        The lengths of axes and the sizes of all inputs and outputs, with a description.
    of_f : ndarray, shape (outputs,)
        The values of f; empty if they are not known.
    is_jacobian : bool
        Whether somebody wrote down the whole Jacobian, and no product with it.
    """

    name: str
    values: Array
    x: Array
    whole: bool = True
    others: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    wrong: frozenset[str] = frozenset()
    outputs: tuple[int, ...] = ()
    imaginary: Array = field(default_factory=lambda: np.zeros(1, bool))
    lengths: Mapping[int, str] = field(default_factory=dict)
    of_f: Array = field(default_factory=lambda: np.zeros(0))
    is_jacobian: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the input, or of its known entries."""
        return self.x.shape


class Words(NamedTuple):
    """A sentence on a mistake, and advice."""

    sentence: str  # what the claim looks like
    advice: str  # a question, or an imperative, that says where to look


class Mend(NamedTuple):
    """A repaired gradient, and what is said if it is right."""

    values: Array
    words: Words


class Fitted(NamedTuple):
    """A repaired gradient ``fixed + c * free``, for the number c that fits best.

    ``words`` is a function of c and of its uncertainty. It returns the exact value of c if that has
    a meaning, else None, and the words; these are None if such a c is no such mistake.
    """

    fixed: Array
    free: Array
    words: Callable[[Any, float], tuple[Any, Words | None]]


@dataclass(frozen=True)
class Mistake:
    """A row of the table.

    Attributes
    ----------
    kind : str
        A short name.
    mend, reshape : callable, optional
        Yield what the right gradient may be, from a wrong one, or from one of the wrong shape.
    moves : bool
        Whether the numbers are right, but not in their places.
    planted, make : str and callable, optional
        The mistake as the audit names it, and a function that returns the wrong gradient for the
        right one, or None if that is impossible.
    read : callable, optional
        Yields what may be read instead of an input. If it is the same, as for a symmetric matrix
        that is transposed, the point cannot show this mistake.
    question, reason : str
        The question that the point leaves open then, and the property of the input.
    of_all : bool
        Whether it leaves that open for the gradients of all inputs, or only for its own.
    """

    kind: str
    mend: Callable[[Gradient], Iterator[Mend | Fitted]] | None = None
    reshape: Callable[[Gradient], Iterator[Mend]] | None = None
    moves: bool = False
    planted: str = ""
    make: Callable[[Gradient], Array | None] | None = None
    read: Callable[[Array], Sequence[Array]] | None = None
    question: str = ""
    reason: str = ""
    of_all: bool = True
