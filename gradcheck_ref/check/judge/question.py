"""The question of a check: is this the derivative of f at this point."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.claim.alone import GradientAlone
from gradcheck_ref.check.claim.claims import Claims
from gradcheck_ref.check.claim.rounding import shares_of_rounding
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.check.measure.witness import EACH


@dataclass(frozen=True, eq=False)
class Question:
    """A function at a point, the claims about it, what is allowed, and the budget."""

    ask: Ask  # calls f; perhaps for combinations of its outputs
    noise: Noise
    claims: Claims
    rtol: float
    atol: float | None  # None: by the scale of the entries
    seed: int  # for all lines
    demanded: bool  # whether the caller gave a tolerance: then every entry must meet it
    scale_of_claims: Any = 0.0  # of the entries, where the claims are evidence; see `scale`
    alone: GradientAlone | None = None  # takes the gradient from (value, gradient)

    @property
    def size(self) -> int:
        """How many coordinates the inputs have."""
        return self.ask.inputs.size

    @property
    def precision(self) -> float:
        """The precision of f: that of its dtypes, or of a shorter one that its values fit."""
        return float(max(self.ask.precision, (self.noise.eps * self.noise.rounded).max(initial=0)))

    @property
    def affordable(self) -> int:
        """How many witnesses the remaining evaluations allow."""
        return self.ask.budget.times(EACH)

    @cached_property
    def rounding_of_claims(self) -> Array:
        """How far the claims for each input are off by rounding, relative to their length."""
        return shares_of_rounding(self.claims, self.noise, self.seed)

    def claimed_at(self, rows: Array) -> Array:
        """Return the claims for some coordinates, (rows, outputs)."""
        if rows.size:
            self.return_to_x()
        return self.claims.rows(rows)

    def claimed_along(self, lines: Sequence[Line]) -> Array:
        """Return the claims along some lines, (lines, outputs)."""
        self.return_to_x()
        found = [self.claims.along(line) for line in lines]
        return np.array(found).reshape(len(lines), self.ask.here.size)

    def return_to_x(self) -> None:
        """Call f at x before a call of a jvp, which may use values from the last call of f."""
        if self.claims.matrix is None and self.ask.elsewhere and self.affordable:
            self.ask.forward()
