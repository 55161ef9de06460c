"""The judges of a repaired claim: entry by entry and along lines, or the input as a whole.

No function is called. A repaired claim predicts the slopes that were measured for the verdict.
"""

import math
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.diagnose.block import FEWEST, Block, Slopes
from gradcheck_ref.check.judge.looks import Looks
from gradcheck_ref.check.knobs import WIDEST
from gradcheck_ref.check.mistakes.factors import NEARLY
from gradcheck_ref.check.results import FAIL_BARS, FEWEST_LINES, REMAINDER, Along, Whole

# A claim that was computed in 16 bits may be off by this many times what is allowed for a pass.
ROUNDED = 2.0


class Sharp:
    """Slopes with error bars: on the axes of entries, and along lines over the input."""

    def __init__(self, block: Block, along: Along | None) -> None:
        # If outputs were combined, the axes may belong to single ones, and say less.
        self.on_axes = along is None or along.claims.shape[1] == len(block.columns)
        self.block, self.along = block, along
        self.gradient = block.gradient(along.claims if along and not self.on_axes else None)
        self.slopes = block.slopes
        if along:
            self.known = np.isfinite(along.numeric + along.error)
            numeric, bar = along.numeric[self.known], FAIL_BARS * along.error[self.known]
            slack, claimed = bar + along.allowed[self.known], self._along(self.gradient.values)
            lines = Slopes(claimed, numeric, bar, slack, np.abs(claimed - numeric) > slack)
            both = zip(self.slopes, lines, strict=True)
            self.slopes = Slopes(*map(np.concatenate, both)) if self.on_axes else lines

    def _along(self, values: Array) -> Array:
        assert self.along is not None
        part = self.block.part
        coordinates = part.coordinates(values)
        found = np.array([line.dot(coordinates, part.start) for line in self.along.lines])
        return np.asarray(found[self.known])

    def predict(self, values: Array) -> Array:
        """Return the slopes that a gradient predicts: of known entries, then along lines."""
        found, block = list[Array](), self.block
        if self.on_axes:
            rows = values.reshape(block.entries, -1)[block.rows] if self.gradient.whole else values
            found.append(rows[block.known])
        if self.along:
            found.append(self._along(values))
        return np.concatenate(found)

    def fit(self, fixed: Array, free: Array) -> tuple[Any, float]:
        """Fit c by weighted least squares; accurate slopes weigh more."""
        there = free != 0
        numeric, slack = self.slopes.numeric, self.slopes.slack
        if self.on_axes and np.iscomplexobj(numeric):
            # Along a real line, a complex factor is no factor.
            there[np.count_nonzero(self.block.known) :] = False
        if not there.any():
            return 0.0, math.inf
        slack = np.maximum(slack[there], np.finfo(float).tiny)
        weight = slack.min() / slack
        theirs = free[there] * weight
        size = np.abs(theirs).max()
        ours = (numeric[there] - fixed[there]) * weight / size
        c = np.vdot(theirs / size, ours) / np.vdot(theirs / size, theirs / size)
        return c if np.isfinite(c) else 0.0, float((slack / np.abs(free[there])).min())

    def agrees(self, predicted: Array, free: int) -> bool:
        """Tell whether every slope agrees, not by chance, and all that was refused is explained."""
        is_known = not self.on_axes or self.block.known[self.block.fails].all()
        return bool(is_known and self.slopes.confirm(predicted, free))

    @property
    def is_nearly_right(self) -> bool:
        """Whether the claim has two right digits: then no number is in a wrong place."""
        claimed, numeric, *_, fails = self.slopes
        return bool((np.abs(claimed - numeric) <= NEARLY * np.abs(numeric))[fails].all())

    @property
    def is_alone(self) -> bool:
        """Whether one number is all that is known not to be zero: a factor always fits that."""
        big, claimed = self.slopes.big, np.abs(self.slopes.claimed)
        if np.count_nonzero(big) != 1:
            return False
        more = (claimed[~big & ~self.slopes.fails] > WIDEST * claimed[big]).any()
        return bool(more or self.block.others_claimed != 0)

    @property
    def measures(self) -> str:
        """By how many random lines it judges, for a sentence; empty if by too few."""
        lines = int(np.count_nonzero(self.known.any(axis=1))) if self.along else 0
        return f"along all {lines} random lines" if lines >= FEWEST_LINES else ""


class Blurred:
    """Mean products of what claims and slopes differ by: only the whole input is known."""

    def __init__(self, block: Block, looks: Looks, claims: Array, whole: Whole) -> None:
        self.block, self.looks = block, looks
        self.allowed = ROUNDED * whole.allowed
        self.gradient = block.gradient(claims)
        self.claimed = self.predict(self.gradient.values)

    def predict(self, values: Array) -> Array:
        """Return the slopes that a gradient predicts, (steps, lines, columns)."""
        part = self.block.part
        return self.looks.claimed(part.coordinates(values), part.start)

    def fit(self, fixed: Array, free: Array) -> tuple[Any, float]:
        """Fit c by least squares; a right gradient may be off by what is allowed."""
        slopes = self.looks.slopes[:2]
        there = np.isfinite(slopes)
        ours, theirs = (slopes - fixed)[there], free[there]
        square = float(theirs @ theirs)
        if not square > 0:
            return 0.0, math.inf
        c = float(theirs @ ours) / square
        noise = float(np.mean((ours - c * theirs) ** 2))
        return c, max(3 * math.sqrt(noise / square), self.allowed * abs(c) / 4)

    def agrees(self, predicted: Array, free: int) -> bool:
        """Tell whether the error that is left is surely small."""
        if self.block.entries < FEWEST + free:
            return False
        low, _ = self.looks.quantiles
        for columns in self.looks.groups:
            before = self.looks.square(columns).error
            found = self.looks.square(columns, claimed=predicted)
            allowed = self.allowed**2 * found.slopes
            most = max(allowed, REMAINDER**2 * min(before, found.slopes))
            too_much = found.error > allowed + found.doubt(allowed)
            if too_much or not found.limit(low, most) <= most:
                return False
        return True

    is_alone = is_nearly_right = False

    @property
    def measures(self) -> str:
        """By how many random lines it judges, for a sentence."""
        return f"as a whole, along {len(self.looks.lines)} random lines"


# What judges a repaired claim. Both predict the slopes that a gradient means, fit the number c of
# ``fixed + c * free`` to the slopes, and tell if predictions agree with them.
Sight = Sharp | Blurred
