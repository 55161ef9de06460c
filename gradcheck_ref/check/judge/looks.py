"""Claims and slopes along dithered lines at two steps, and how long the error of the claim is.

Along a random line the claim and the slope of f differ by r: the error of the claim, and noise. So
the mean of r^2 over many lines is the square of the length of the error, plus that of the noise.
The mean *product* of r at two steps has no noise: the error is the same at both steps, and the
rounding of f at one set of points knows nothing of that at another.

The bounds hold for noise that is independent at two steps, and for errors with many entries.
`proof` has a bound for any errors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.dithered import Dithered
from gradcheck_ref.check.measure.noise import QUIETLY

# One value in a thousand of a normal distribution is farther from its mean, on one side.
Z = 3.09
CHANCE = 1e-3

# Which steps are extrapolated; see `without_bend`.
PAIRS = (0, 1), (0, 2), (2, 3)


class Look(NamedTuple):
    """Claims and slopes along the lines at one step, weighted."""

    claimed: Array  # (lines, columns), like slopes and middles
    slopes: Array
    middles: Array
    steps: Array  # (lines,)


class Square(NamedTuple):
    """A length, squared, and what may be wrong with it, all in the unit of a typical slope."""

    columns: slice  # of one output
    size: float = math.nan  # of the gradient itself
    error: float = math.nan  # of the error of the claim: the mean product of residuals
    noise: float = math.nan  # mean square of the noise in one residual
    slopes: float = math.nan  # mean product of slopes
    spread: float = math.nan  # standard error of `error` over the lines
    averaged: float = 1.0  # how many independent draws of the noise there are, as a square root
    proved: float = math.inf  # the error is not larger, except by CHANCE

    def doubt(self, length: float = 0.0) -> float:
        """Return how far noise may move the mean product, if the error has this square."""
        return Z * math.sqrt((2 * length + self.noise) * self.noise) / self.averaged

    def limit(self, low: float, length: float = 0.0) -> float:
        """Return the square that the error surely does not exceed, if it has this one."""
        return (max(self.error, 0.0) + self.doubt(length)) / low


def quantiles(lines: int, upstreams: int) -> tuple[float, float]:
    """Return how far a mean square of random sums may be below and above its expectation.

    These are quantiles of chi-square (Wilson and Hilferty, 1931). All lines share the combinations
    of the outputs: an error in one output looks small in all lines if it is small in all of them.
    """
    freedom = 1 / (1 / lines + (1 / upstreams if upstreams else 0.0))
    step = math.sqrt(2 / (9 * freedom))
    low, high = (max(0.0, 1 - step**2 + z * step) ** 3 for z in (-Z, Z))
    return low, high


def proof(lines: int) -> float:
    """Return how many times the largest of some random sums the length is, except by CHANCE.

    A sum a . v with random signs has |a . v| >= t |a| with a probability of at least
    (1 - t^2)^2 / 3 (Paley and Zygmund, 1932). The lengths of the moves do not change that.
    """
    share = 1 - 3 * (1 - CHANCE ** (1 / max(lines, 1)))
    return 1 / math.sqrt(1 - math.sqrt(1 - share)) if 0 < share < 1 else math.inf


@dataclass(frozen=True)
class Looks:
    """The slopes along some dithered lines, and the claims there.

    Attributes
    ----------
    lines : sequence of Dithered
        The lines.
    at : sequence of Look
        The same lines at two steps, or three where these are extrapolated; and perhaps one more.
    weight, floor : ndarray, shape (columns,)
        The factor of slopes and claims, and the least noise at the second step, squared.
    groups : sequence of slice
        The columns of each output.
    upstreams : int
        How many random combinations of the outputs there are.
    even : bool
        Whether truncation is a term in step^2, which is extrapolated.
    """

    lines: Sequence[Dithered]
    at: Sequence[Look]
    weight: Array
    floor: Array
    groups: Sequence[slice]
    upstreams: int
    even: bool = True

    @property
    def quantiles(self) -> tuple[float, float]:
        """How far the mean square of so many random sums may be below and above its expectation."""
        return quantiles(len(self.lines), self.upstreams)

    def without_bend(self, values: Sequence[Array]) -> Array:
        """Extrapolate slopes or claims at each step to x, (pairs of steps, lines, columns).

        Where noise is loud, that costs more than it saves, and each step speaks for itself. Else
        truncation is a term in step^2, which two steps eliminate (Richardson, 1911): the longest
        and each of the next two; and then the last two, if there are four. The two results of the
        first pairs share the values at the longest step, but hardly their noise: its covariance is
        1/25 of what one chord at the second step has.
        """
        if not self.even:
            return np.array(values)
        found = []
        for one, other in PAIRS[: len(values) - 1]:
            far, near = (self.at[k].steps[:, None] ** 2 for k in (one, other))
            found.append(values[other] + (values[other] - values[one]) * near / (far - near))
        return np.array(found)

    @property
    def slopes(self) -> Array:
        """The slopes without truncation, see `without_bend`."""
        return self.without_bend([look.slopes for look in self.at])

    def claimed(self, matrix: Array, first: int = 0) -> Array:
        """Return the claims, weighted, for another matrix of claims, (2, lines, columns).

        Its rows begin with the one of the coordinate ``first``.
        """
        products = [
            [line.product(matrix, t, first) for line, t in zip(self.lines, look.steps, strict=True)]
            for look in self.at[: 2 + self.even]
        ]
        return self.without_bend([np.array(one) * self.weight for one in products])

    @QUIETLY
    def square(self, columns: slice, first: int = 0, claimed: Array | None = None) -> Square:
        """Return the length of the error for an output, from the pair of this number and the next.

        Other claims are (2, lines, columns), as `claimed` returns them.
        """
        slopes = self.slopes[first : first + 2]
        if claimed is None:
            claimed = self.without_bend([look.claimed for look in self.at])[first : first + 2]
        both = np.array([claimed, slopes])[..., columns]
        claimed, slopes = both[:, :, np.isfinite(both).all(axis=(0, 1, 3))]  # inside the domain
        _, lines, outputs = slopes.shape
        if 2 * lines < len(self.lines) or not lines:
            return Square(columns)
        one, other = claimed - slopes
        products = np.mean(one * other, axis=1)
        of_slopes = float(np.mean(slopes[0] * slopes[1]))
        largest = np.mean(np.abs(one * other), axis=1)
        if self.upstreams:
            largest = np.abs(one * other).max(axis=1) * proof(self.upstreams) ** 2
        return Square(
            columns,
            size=max(float(np.mean(claimed[0] * claimed[1])), of_slopes),
            error=float(products.mean()),
            noise=float(np.mean((one - other) ** 2)) / 2 + float(np.mean(self.floor[columns])),
            slopes=of_slopes,
            spread=float(products.std()) / math.sqrt(lines),
            averaged=math.sqrt(lines * outputs),
            proved=proof(lines) ** 2 * float(largest.max()),
        )
