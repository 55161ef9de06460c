"""What a point cannot show: mistakes that change the claim by less than what is allowed there.

The diagnosis asks which mistake explains a claim that is wrong. Here the same question is turned
round: which mistake would leave a claim that is right as it is? Some mistakes are made in the claim
itself, such as a factor of 2. Others are made in reading an input, such as a matrix that is read
transposed: if what is read differs by less than rtol, so does what is made of it. Nothing is
called.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.diagnose.block import NEARLY, Block, blocks, equal
from gradcheck_ref.check.diagnose.mistakes import MISTAKES
from gradcheck_ref.check.judge.pair import Pair
from gradcheck_ref.check.knobs import ATOL_FRACTION
from gradcheck_ref.check.points import moved, other_signs, within_range
from gradcheck_ref.structure import Part

# Three signs of an input agree by chance at every fourth point, and eight of all inputs at one in
# 128: such a point was chosen so, knowingly or not, for whatever f.
SOME_SIGNS, MANY_SIGNS = 3, 8


@dataclass(frozen=True)
class BlindSpot:
    """A mistake that a check could not have seen at its point.

    Attributes
    ----------
    kind : str
        factor, mean, penalty, left-out, permuted, transposed, reversed, conjugate, mask or
        mixed-up.
    subject : str
        The name of the input it is about.
    sentence : str
        What the point cannot show, e.g. ``whether gamma multiplies or divides the gradient``.
    reason : str
        What is special about the point, e.g. ``all its entries are 1``.
    advice : str
        Which input to change, and to what.
    """

    kind: str
    subject: str
    sentence: str
    reason: str
    advice: str


class Misreading(NamedTuple):
    """A mistake in reading an input, and what is special about an input that it leaves as it is.

    ``read`` returns what may be read in the place of an array; nothing where that is impossible.
    """

    kind: str
    read: Callable[[Array], Sequence[Array]]
    sentence: str
    reason: str
    of_all: bool = True  # in the gradient of any input, or only in its own


def _rolled(a: Array) -> list[Array]:
    return [np.roll(a, 1, axis) for axis, length in enumerate(a.shape) if length > 1]


def _transposed(a: Array) -> list[Array]:
    square = a.ndim > 1 and a.shape[-1] == a.shape[-2] > 1
    return [np.swapaxes(a, -1, -2)] if square else []


# Where one of the first three fits, the others say less: entries that are all 0 are also all equal.
MISREADINGS = (
    Misreading(
        "penalty",
        lambda a: [2 * a],
        "whether a multiple of {} is missing from the gradient, as of a penalty",
        "all its entries are 0",
        of_all=False,
    ),
    Misreading(
        "left-out",
        lambda a: [np.ones_like(a)],
        "whether {} multiplies or divides the gradient",
        "all its entries are 1",
    ),
    Misreading(
        "permuted",
        _rolled,
        "whether each entry of {} is used in its own place",
        "its entries repeat along an axis",
    ),
    Misreading(
        "transposed",
        _transposed,
        "whether {} is to be transposed in the gradient",
        "it is symmetric",
    ),
    Misreading(
        "reversed",
        lambda a: [np.flip(a)] if a.size > 2 else [],
        "whether {} is to be reversed in the gradient",
        "it is the same backwards",
    ),
    Misreading(
        "conjugate",
        lambda a: [np.conj(a)] if a.dtype.kind == "c" else [],
        "whether {} is to be conjugated in the gradient",
        "all its imaginary parts are 0",
    ),
)


def blind_spots(
    pairs: Sequence[Pair], point: Array, rtol: float, atol: float | None
) -> tuple[BlindSpot, ...]:
    """Name the mistakes that change the claims at this point by less than what is allowed.

    It takes no evaluation of ``f``, and a few passes over the point and the claims.

    Parameters
    ----------
    pairs : sequence of Pair
        The evidence of a check that passed.
    point : ndarray
        The point, as the flat real coordinates of all inputs.
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
    with np.errstate(all="ignore"):  # what is too large to be doubled is not the same
        return tuple(_Place(pairs, point, rtol, atol).spots())


class _Place:
    """The point of a check, and what is claimed there; each method but `spots` is one row."""

    def __init__(
        self, pairs: Sequence[Pair], point: Array, rtol: float, atol: float | None
    ) -> None:
        self.rtol, self.atol, self.point = min(rtol, NEARLY), atol, point
        self.inputs = [block for block in blocks(pairs, True) if block.part.size]
        self.x = {b.part: b.part.array(point[b.part.stretch]) for b in self.inputs}
        self.special = {part: self._special(x) for part, x in self.x.items()}
        self.zero = {block.part: self._is_zero(block) for block in self.inputs}
        moving = {pair.input for pair in pairs if (pair.reason != "flat").any()}
        self.flat = {pair.input for pair in pairs if pair.reason.size} - moving

    def spots(self) -> Iterator[BlindSpot]:
        """Yield what is hidden, the gravest first."""
        for row in (self.factor, self.misread, self.mixed_up, self.mean, self.mask):
            for block in self.inputs:
                yield from row(block, block.part.name)

    def factor(self, block: Block, name: str) -> Iterator[BlindSpot]:
        """Find a gradient of zero, which any factor leaves; but where f is flat it may be meant."""
        part = block.part
        zeros = next((other for other, x in self.x.items() if not x.any()), None)
        change = part if self.special[part] or zeros is None else zeros
        if self.zero[part] and (part not in self.flat or zeros or self._side(part)):
            what = f"whether the gradient of {name} has the right factor, or the right sign"
            yield BlindSpot("factor", name, what, "it is 0 here", self._try(change))

    def misread(self, block: Block, name: str) -> Iterator[BlindSpot]:
        """Find a special input: a gradient that reads it wrongly reads the same."""
        for found in self.special[block.part]:
            if not (all(self.zero.values()) if found.of_all else self.zero[block.part]):
                said = found.sentence.format(name)
                advice = self._try(block.part)
                yield BlindSpot(found.kind, name, said, found.reason, advice)

    def mixed_up(self, block: Block, name: str) -> Iterator[BlindSpot]:
        """Find two inputs that are equal, and may be taken for each other."""
        part, x = block.part, self.x[block.part]
        for other in self.x:
            if other == part or self.special[part] or all(self.zero.values()):
                return
            if other.shape == part.shape and self._alike(x, self.x[other]):
                said = f"whether {name} is taken for {other.name} in the gradient"
                yield BlindSpot("mixed-up", name, said, "the two are equal", self._try(part))
                return

    def mean(self, block: Block, name: str) -> Iterator[BlindSpot]:
        """Find an axis over which a mean is a sum, but none that is broadcast to another."""
        shape, others = block.part.shape, [part.shape for part in block.parts]
        for axis, length in enumerate(shape):
            place = axis - len(shape)
            meant = any(_broadcasts(shape, other) and other[place] > 1 for other in others)
            if length == 1 and not meant and not self.zero[block.part]:
                longer = (*shape[:axis], 3, *shape[axis + 1 :])
                said = f"whether a mean over axis {axis} of {name} is taken for a sum"
                advice = f"try {name} of shape {longer}"
                yield BlindSpot("mean", name, said, f"that axis has length {length}", advice)
                return

    def mask(self, block: Block, name: str) -> Iterator[BlindSpot]:
        """Find entries of one sign: behind abs, relu or max they show one branch only."""
        part = block.part
        side = self._side(part)
        if side and not (self.special[part] or self.zero[part]) and self._has_branches(block):
            other = "negative" if side > 0 else "positive"
            said = f"whether the gradient is right where {name} is {other}, as behind a relu"
            reason = f"all its entries are {'positive' if side > 0 else 'negative'}"
            yield BlindSpot("mask", name, said, reason, self._try(part))

    def _special(self, x: Array) -> list[Misreading]:
        """Return the mistakes that read the same."""
        found = [m for m in MISREADINGS if any(self._alike(x, y) for y in m.read(x))]
        return found[:1] if found and found[0] in MISREADINGS[:3] else found

    def _alike(self, x: Array, y: Array) -> bool:
        return bool(equal(y, x, self.rtol * np.abs(x)).all())

    def _is_zero(self, block: Block) -> bool:
        """Whether twice the claim is as right as the claim is."""
        claim = block.full
        if claim is None:  # a jvp that was asked along lines
            return False
        size = np.abs(claim)
        least = ATOL_FRACTION * self.rtol * size.max() if self.atol is None else self.atol
        allowed = least + self.rtol * size
        allowed[block.rows] = np.fmax(allowed[block.rows], block.slack)
        doubled = MISTAKES["factor"](claim, block.part.shape)
        return doubled is not None and bool(equal(doubled, claim, allowed).all())

    def _side(self, part: Part) -> int:
        """Return 1 or -1 where all entries, of which there are some, have that sign; else 0."""
        x = self.x[part]
        if x.dtype.kind == "c" or x.size < SOME_SIGNS:
            return 0
        return int((x > 0).all()) - int((x < 0).all())

    def _has_branches(self, block: Block) -> bool:
        """Whether f looks like one with branches: linear between them, or no sign is other."""
        signs = np.sign(self.point[self.point != 0])
        if signs.size >= MANY_SIGNS and (signs == signs[0]).all():
            return True
        if block.full is None:
            return False
        like = (x for part, x in self.x.items() if part.shape == block.part.shape)
        for x in (np.ones(block.part.shape), *like):
            slope = np.abs(block.full / np.where(x == 0, np.nan, x).reshape(-1, 1))
            slope = slope[slope > 0]
            if slope.size > 1 and self._alike(slope, np.full(slope.shape, slope[0])):
                return True
        return False

    def _try(self, part: Part) -> str:
        """Say what else this input may be."""
        near = moved(self.point[part.stretch], (0, part.start))
        if self._side(part) and not self.special[part]:
            near = other_signs(near)
        return f"try {part.name} = {_written(within_range(part, near))}"


def _broadcasts(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether an array of this shape may be broadcast to the other one."""
    ends = zip(reversed(shape), reversed(other), strict=False)
    return len(other) >= len(shape) and all(n in (1, m) for n, m in ends)


def _written(x: Array) -> str:
    """Write the first two entries along each axis, with two digits."""
    if not x.ndim:
        return f"{x[()]:.2g}"
    return f"[{', '.join([_written(one) for one in x[:2]] + ['...'] * (len(x) > 2))}]"
