"""Blind spots of a point: mistakes that change the claim by less than the allowed error.

The diagnosis asks which mistake explains a wrong claim. This module asks the opposite: which
mistake would not change a right claim? Some mistakes are in the claim itself, such as a factor of
2. Others are in reading an input, such as a matrix that is read transposed: if the input is the
same then, except for rounding, so is the gradient. No function is called.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.diagnose.block import Block, blocks, equal
from gradcheck_ref.check.hides.points import chequered, displaced, within_range
from gradcheck_ref.check.knobs import ATOL_FRACTION
from gradcheck_ref.check.mistakes.factors import NEARLY
from gradcheck_ref.check.mistakes.gradient import Mistake
from gradcheck_ref.check.mistakes.table import MISTAKES
from gradcheck_ref.check.results import PASS, Pair
from gradcheck_ref.structure.parts import Part

# Numbers that differ by at most so many roundings are the same: the two halves of A @ A.T do.
ROUNDINGS = 64


@dataclass(frozen=True)
class BlindSpot:
    """A mistake that a check could not detect at its point.

    Attributes
    ----------
    kind : str
        A key of `gradcheck_ref.check.mistakes.table.KINDS`, such as ``transposed``.
    subject : str
        The name of the input.
    sentence : str
        The question that the point leaves open, such as ``whether gamma multiplies or divides the
        gradient``.
    reason : str
        The special property of the point, such as ``all its entries are 1``.
    advice : str
        Which input to change, and to what.
    """

    kind: str
    subject: str
    sentence: str
    reason: str
    advice: str


class Viewpoint(NamedTuple):
    """The facts about f at the point of a check, besides the slopes."""

    x: Array  # the flat real coordinates of all inputs
    branches: bool  # whether the code of f treats negative numbers differently


def blind_spots(
    pairs: Sequence[Pair], viewpoint: Viewpoint, rtol: float, atol: float | None
) -> tuple[BlindSpot, ...]:
    """Name the mistakes that change the claims at this point by less than the allowed error.

    Cost: no evaluation of ``f``, and a few passes over the point and the claims.

    Parameters
    ----------
    pairs : sequence of Pair
        The evidence of a check that passed.
    viewpoint : Viewpoint
        The point of the check.
    rtol, atol : float, float or None
        The tolerances of the check.

    Examples
    --------
    >>> import numpy as np
    >>> from gradcheck_ref.check import check_gradient
    >>> x = {"scale": np.ones(3), "x": np.array([0.3, -0.5, 0.9])}
    >>> report = check_gradient(lambda scale, x: np.sum(scale * x**2), x,
    ...                         lambda scale, x: {"scale": x**2, "x": 2 * x})  # without scale
    >>> for spot in report.blind_spots:
    ...     print(spot.sentence, "-", spot.reason)
    whether scale multiplies or divides the gradient - all its entries are 1
    """
    with np.errstate(all="ignore"):  # a number that overflows when doubled counts as changed
        return tuple(_Place(pairs, viewpoint, rtol, atol).spots())


class _Place:
    """The point of a check, and the claims there; each public method but `spots` finds one kind."""

    def __init__(
        self, pairs: Sequence[Pair], viewpoint: Viewpoint, rtol: float, atol: float | None
    ) -> None:
        self.rtol, self.atol = min(rtol, NEARLY), atol
        self.point, self.branches = viewpoint
        inputs = {block.part: block for block in blocks(pairs, True) if block.part.size}
        self.x = {part: part.array(self.point[part.stretch]) for part in inputs}
        self.special = {part: self._special(x) for part, x in self.x.items()}
        self.zero = {part: self._is_zero(block) for part, block in inputs.items()}
        self.moving = {pair.input for pair in pairs if not pair.is_flat}

    def spots(self) -> Iterator[BlindSpot]:
        """Yield the blind spots, the most serious first."""
        for row in (self.factor, self.misread, self.mixed_up, self.mean, self.mask):
            for part in self.x:
                yield from row(part, part.name)

    def factor(self, part: Part, name: str) -> Iterator[BlindSpot]:
        """Find a gradient of zero, which hides any factor; where f is flat it may be intended."""
        zeros = next((other for other, x in self.x.items() if not x.any()), None)
        change = part if self.special[part] or zeros is None else zeros
        if self.zero[part] and (part in self.moving or zeros or self._side(part)):
            what = f"whether the gradient of {name} has the right factor, or the right sign"
            yield BlindSpot("factor", name, what, "it is 0 here", self._try(change))

    def misread(self, part: Part, name: str) -> Iterator[BlindSpot]:
        """Find a special input, which is the same array if it is read wrongly."""
        for found in self.special[part]:
            if not (all(self.zero.values()) if found.of_all else self.zero[part]):
                said = found.question.format(name)
                yield BlindSpot(found.kind, name, said, found.reason, self._try(part))

    def mixed_up(self, part: Part, name: str) -> Iterator[BlindSpot]:
        """Find two equal inputs, which may have been exchanged."""
        for other, x in self.x.items():
            if other == part or self.special[part] or all(self.zero.values()):
                return
            if other.shape == part.shape and self._alike(self.x[part], x):
                said = f"whether the gradient confuses {name} with {other.name}"
                reason = f"it is equal to {other.name}"
                yield BlindSpot("swapped", name, said, reason, self._try(part))
                return

    def mean(self, part: Part, name: str) -> Iterator[BlindSpot]:
        """Find a batch of one, where a mean is a sum: the first array, with a first axis of 1.

        Only the first array counts. Parameters usually come after the data, and may have such an
        axis for one output.
        """
        first = next((one for one in self.x if one.shape), None)
        if part is first and part.shape[0] == 1 and not self.zero[part]:
            said = f"whether the gradient confuses a mean over axis 0 of {name} with a sum"
            advice = f"try {name} of shape {(3, *part.shape[1:])}"
            yield BlindSpot("missing-sum", name, said, "that axis has length 1", advice)

    def mask(self, part: Part, name: str) -> Iterator[BlindSpot]:
        """Find entries of one sign, which take only one branch of abs, relu or max."""
        side = self._side(part)
        if self.branches and side and not (self.special[part] or self.zero[part]):
            other = "negative" if side > 0 else "positive"
            said = f"whether the gradient is right where {name} is {other}, such as in a relu"
            reason = f"all its entries are {'positive' if side > 0 else 'negative'}"
            advice = f"if {name} may be {other}, {self._try(part)}"
            yield BlindSpot("mask", name, said, reason, advice)

    def _special(self, x: Array) -> list[Mistake]:
        """Return the mistakes in reading that do not change the input."""
        reads = ((one, one.read(x)) for one in MISTAKES if one.read)
        found = [one for one, several in reads if any(self._alike(x, y) for y in several)]
        for kind in ("regulariser", "inner-factor", "permuted"):
            # The others add nothing: entries that are all 0 are all equal, too.
            if first := [one for one in found if one.kind == kind]:
                return first[:1]
        return found

    def _alike(self, x: Array, y: Array) -> bool:
        return bool(equal(y, x, ROUNDINGS * np.finfo(x.dtype).eps * np.abs(x)).all())

    def _is_zero(self, block: Block) -> bool:
        """Whether twice the claim would pass, too."""
        claim = block.full
        if claim is None:  # a jvp that was called along lines only
            return False
        size = np.abs(claim)
        least = ATOL_FRACTION * self.rtol * size.max() if self.atol is None else self.atol
        allowed = least + self.rtol * size
        room = block.combined(np.hstack([_room(pair) for pair in block.group]), np.add)
        allowed[block.rows] = np.fmax(allowed[block.rows], room)
        return bool(equal(2 * claim, claim, allowed).all())

    def _side(self, part: Part) -> int:
        """Return 1 or -1 if the entries are several and all have that sign; else 0."""
        x = self.x[part]
        if x.dtype.kind == "c" or x.size < 3:
            return 0  # two signs agree by chance at half of all points
        return int((x > 0).all()) - int((x < 0).all())

    def _try(self, part: Part) -> str:
        """Suggest another value of this input, in numbers that are not special when rounded."""
        for seed in range(20):
            near = displaced(self.point[part.stretch], (seed, part.start))
            if self._side(part) and not self.special[part]:
                near = near * chequered(part.shape).reshape(-1)
            shown = within_range(part, near)[tuple(slice(2) for _ in part.shape)]
            numbers = [f"{abs(number):.2g}" for number in shown.reshape(-1)]
            if len({"0", "1", *numbers}) == 2 + len(numbers):
                break
        return f"try {part.name} = {_written(shown, part.shape)}"


def _room(pair: Pair) -> Array:
    """Return how far each claim may be moved, and pass: by no more than a bar hides.

    A claim that passes without a tolerance, and not with its whole input, is 0 except for rounding.
    """
    error, allowed = pair.error, pair.allowed
    passes = (pair.verdict == PASS) & np.isfinite(pair.numeric) & (pair.reason != "whole")
    longest = np.abs(pair.given.x).max(initial=0.0) or 1.0
    rounding = 2 * pair.output.eps * np.abs(pair.given.value) / longest
    zero = passes & (pair.difference + error > allowed)
    return np.where(zero, rounding, np.fmin(allowed - error, error))


def _written(x: Array, shape: tuple[int, ...]) -> str:
    """Write the first entries of an array of some shape, with two digits."""
    if not shape:
        return f"{x[()]:.2g}"
    return f"[{', '.join([_written(one, shape[1:]) for one in x] + ['...'] * (shape[0] > 2))}]"
