"""The knobs that all checks share, validated before f is called."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

from gradcheck_ref.arguments import as_tolerance, described

# A few orders above the rounding of a well-behaved function, a few below what a bug is worth.
RTOL = 1e-6

# Fewer would not do for the noise of f and one coordinate.
FEWEST_EVALUATIONS = 40


@dataclass(frozen=True)
class Knobs:
    """What the caller may choose.

    Attributes
    ----------
    rtol, atol : float, float or None
        The tolerances; without atol, it goes by the scale of the gradient.
    max_evaluations : int or None
        Most calls of f.
    seed : int
        Of all randomness in the check.
    """

    rtol: float
    atol: float | None
    max_evaluations: int | None
    seed: int


def check_knobs(rtol: Any, atol: Any, max_evaluations: Any, seed: Any) -> Knobs:
    """Return the knobs if they are sound."""
    rtol = as_tolerance(rtol, "rtol")
    atol = None if atol is None else as_tolerance(atol, "atol")
    if rtol == 0 and not atol:
        raise ValueError("rtol=0 allows no error at all: give a positive rtol or atol")
    if max_evaluations is not None:
        max_evaluations = _whole(max_evaluations, "max_evaluations", " or None")
        if max_evaluations < FEWEST_EVALUATIONS:
            raise ValueError(
                f"max_evaluations must be at least {FEWEST_EVALUATIONS}, or None, "
                f"not {max_evaluations}"
            )
    seed = _whole(seed, "seed")
    if seed < 0:
        raise ValueError(f"seed must not be negative, not {seed}")
    return Knobs(rtol, atol, max_evaluations, seed)


def _whole(value: Any, argument: str, otherwise: str = "") -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{argument} must be a whole number{otherwise}, not {described(value)}")
    return int(value)
