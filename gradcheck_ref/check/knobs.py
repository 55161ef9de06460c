"""The knobs that all checks share, validated before f is called."""

import math
from concurrent.futures import Executor
from numbers import Integral
from typing import Any

from gradcheck_ref.arguments import as_tolerance, described
from gradcheck_ref.check.words import knob, setting, words

# A few orders above the rounding of a well-behaved function, a few below what a bug is worth.
RTOL = 1e-6

# The floor of a fourth-order formula is eps^(4/5). So many times that leave room for a slope that
# is smaller than f: 9e-4 for float32. A wider tolerance is not worth having, even for float16.
ABOVE_FLOOR = 300.0
WIDEST = 0.1

# Small entries are held to rtol too, down to this share of the largest. In float64 the floor is far
# below that; in float32 it is not, and an entry of a hundredth of the largest has fewer digits than
# rtol asks for.
ATOL_FRACTION = 1e-4

# An entry that only lines have seen may, by default, be off by so much of a typical one: what lines
# across the kinks of a large network can see. In short dtypes it is more, but half of it at most.
SEEN_BY_LINES = 1e-2

# In a short dtype the rounding of f leaves so many floors of an entry beside the largest, and so
# many rtol of one that lines have seen among hundreds: 0.04 in float32.
LEFT = 50.0

# Fewer would do for f itself, and hardly a line.
FEWEST_EVALUATIONS = 12


def default_rtol(eps: float) -> float:
    """Return the relative tolerance for numbers of this precision."""
    return max(RTOL, min(ABOVE_FLOOR * math.pow(eps, 4 / 5), WIDEST))


def least_visible(eps: float, rtol: float) -> float:
    """Return the share of rtol times the largest entry that a short dtype hides of the others.

    1e-4 for float64, 1/6 for float32, 1 for float16 (the largest is not allowed more itself). A
    demand for a smaller rtol is one for a smaller share, too.
    """
    floors = LEFT * math.pow(eps, 4 / 5)
    return max(ATOL_FRACTION, min(floors / max(rtol, default_rtol(eps)), 1.0))


def seen_by_lines(eps: float) -> float:
    """Return how far off, as a share of a typical one, an entry may be that only lines have seen.

    1e-2 for float64, 0.04 for float32, 0.5 for float16.
    """
    return max(SEEN_BY_LINES, min(LEFT * default_rtol(eps), 1 / 2))


class Knobs:
    """What the caller may choose, refused if it is not sound; see `check_gradient`."""

    def __init__(
        self, rtol: Any, atol: Any, max_evaluations: Any, seed: Any, workers: Any, progress: Any
    ) -> None:
        self.rtol = None if rtol is None else as_tolerance(rtol, knob("rtol"))
        self.atol = None if atol is None else as_tolerance(atol, knob("atol"))
        if rtol == 0 and not atol:
            raise ValueError(
                f"{setting('rtol', '0')} allows no error at all: give a positive {knob('rtol')} or "
                f"{knob('atol')}"
            )
        if max_evaluations is not None:
            otherwise, name = words(" or None", ", or left out"), knob("max_evaluations")
            max_evaluations = _whole(max_evaluations, name, FEWEST_EVALUATIONS, otherwise)
        self.max_evaluations: int | None = max_evaluations
        if not (progress is None or progress is False or callable(progress)):
            raise TypeError(
                "progress must be None, False or a function progress(done, total), "
                f"not {described(progress)}"
            )
        self.progress, self.seed = progress, check_seed(seed)
        if not (workers is None or isinstance(workers, Executor) or callable(workers)):
            otherwise = ", -1 for all cores, None, an Executor or a function like map"
            workers = -1 if workers == -1 else _whole(workers, "workers", 1, otherwise)
        self.workers = workers


def check_seed(seed: Any) -> int:
    """Return the seed if it is a whole number that is not negative."""
    return _whole(seed, knob("seed"), 0)


def _whole(value: Any, argument: str, least: int, otherwise: str = "") -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{argument} must be a whole number{otherwise}, not {described(value)}")
    if value < least:
        raise ValueError(f"{argument} must be at least {least}{otherwise}, not {value}")
    return int(value)
