"""The options that all checks share, validated before f is called."""

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import signature
from numbers import Integral
from typing import Any, TypedDict

from gradcheck_ref.arguments import as_tolerance, described
from gradcheck_ref.check.words import knob, setting, words
from gradcheck_ref.structure.constants import Constant

# Far above the rounding of a well-behaved function, and far below the error of a typical bug.
RTOL = 1e-6

# A fourth-order formula has an error of at least eps^(4/5). This factor allows for a slope that is
# smaller than f: 9e-4 for float32. A number that is off by WIDEST of itself has no certain digit: a
# wider tolerance is useless, even for float16.
ABOVE_FLOOR = 300.0
WIDEST = 0.1

# Entries down to this fraction of the largest must agree to rtol, too. Float64 has the digits for
# that. Float32 does not: there an entry of 1/100 of the largest has fewer digits than rtol needs.
ATOL_FRACTION = 1e-4

# The default error of an entry that only lines have measured, as a fraction of a typical entry:
# lines across the kinks of a large network can show that much. In short dtypes it is up to half.
ALLOWED_BY_LINES = 1e-2

# In a short dtype the rounding of f hides errors of this many eps^(4/5) times the largest entry,
# and of this many rtol of an entry that lines measured among hundreds: 0.04 in float32.
LEFT = 50.0

# f itself takes fewer, but that leaves hardly one line.
FEWEST_EVALUATIONS = 12


def default_rtol(eps: float) -> float:
    """Return the relative tolerance for numbers of this precision."""
    return max(RTOL, min(ABOVE_FLOOR * math.pow(eps, 4 / 5), WIDEST))


def least_visible(eps: float, rtol: float) -> float:
    """Return the error of a small entry that f cannot show, over rtol times the largest entry.

    1e-4 for float64, 1/6 for float32, 1 for float16 (no entry is allowed more than the largest).
    An rtol below the default does not raise it, so a caller who wants less error gets less.
    """
    floors = LEFT * math.pow(eps, 4 / 5)
    return max(ATOL_FRACTION, min(floors / max(rtol, default_rtol(eps)), 1.0))


def allowed_by_lines(eps: float) -> float:
    """Return the allowed error, in typical entries, of an entry that only lines have measured.

    1e-2 for float64, 0.04 for float32, 0.5 for float16.
    """
    return max(ALLOWED_BY_LINES, min(LEFT * default_rtol(eps), 1 / 2))


class Options(TypedDict, total=False):
    """The options that an assertion hands on to its check; see `check_gradient`."""

    constant: Constant
    rtol: float | None
    atol: float | None
    max_evaluations: int | None
    nondet_tol: float | None
    seed: int
    workers: Any
    progress: Any


def check_options(function: Callable[..., Any], options: Options) -> None:
    """Refuse unknown options of an assertion, in its name and not in that of its check."""
    known = Options.__annotations__
    for name in sorted(options.keys() - known.keys()):
        meant = get_close_matches(name, (*known, *signature(function).parameters), 1)
        hint = f"; did you mean {meant[0]}=?" if meant else ""
        said = f"{function.__name__}() got an unexpected keyword argument {name!r}{hint}"
        raise TypeError(said)


@dataclass
class Knobs:
    """The options of a check; see `check_gradient`. Values that make no sense raise an error."""

    rtol: float | None
    atol: float | None
    max_evaluations: int | None
    seed: int
    workers: Any
    progress: Any
    constant: Any = ()
    nondet_tol: float | None = None
    company: Any = False

    def __post_init__(self) -> None:
        """Check the values, and convert them to numbers of Python."""
        for name in ("rtol", "atol", "nondet_tol"):
            if getattr(self, name) is not None:
                setattr(self, name, as_tolerance(getattr(self, name), knob(name)))
        if self.rtol == 0 and not self.atol:
            raise ValueError(
                f"{setting('rtol', '0')} allows no error at all: give a positive {knob('rtol')} or "
                f"{knob('atol')}"
            )
        if self.max_evaluations is not None:
            otherwise, name = words(" or None", ", or left out"), knob("max_evaluations")
            self.max_evaluations = _whole(self.max_evaluations, name, FEWEST_EVALUATIONS, otherwise)
        if not (self.progress is None or self.progress is False or callable(self.progress)):
            raise TypeError(
                "progress must be None, False or a function progress(done, total), "
                f"not {described(self.progress)}"
            )
        self.seed = check_seed(self.seed)
        workers = self.workers
        if not (workers is None or isinstance(workers, Executor) or callable(workers)):
            otherwise = ", -1 for all cores, None, an Executor or a function like map"
            self.workers = -1 if workers == -1 else _whole(workers, "workers", 1, otherwise)
        if not (isinstance(self.company, bool) or self.company == "all"):
            raise ValueError(f'company must be True, False or "all", not {described(self.company)}')


def check_seed(seed: Any) -> int:
    """Return the seed if it is a whole number that is not negative."""
    return _whole(seed, knob("seed"), 0)


def _whole(value: Any, argument: str, least: int, otherwise: str = "") -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{argument} must be a whole number{otherwise}, not {described(value)}")
    if value < least:
        raise ValueError(f"{argument} must be at least {least}{otherwise}, not {value}")
    return int(value)
