"""The five stages as five judges, so that they can be compared.

Each stage is used as a textbook suggests: with the usual step for its formula, and with the same
tolerance for every function. The tolerances are equal, so if a row of the kill matrix changes from
one column to the next, the idea of the stage is the reason.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.stage1_forward import forward_difference
from gradcheck_ref.stage2_central import central_difference
from gradcheck_ref.stage3_relative import relative_error
from gradcheck_ref.stage4_allclose import allclose
from gradcheck_ref.stage5_adaptive import adaptive_difference
from gradcheck_ref.zoo import Bug, Case, all_cases
from gradcheck_ref.zoo.problem import problems

# CS231n's "good" band. Rounding in a central difference is about a tenth of it: eps^(2/3) = 4e-11
# for a function of size one, times a few hundred for the size of f.
TOLERANCE = 1e-7
# Stages 4 and 5 allow this error as well: an entry below it counts as rounding.
ATOL = 1e-8

EPS = float(np.finfo(np.float64).eps)
FORWARD_STEP = EPS ** (1 / 2)  # near here h/2 f'' equals 2 eps f / h, for f and f'' of size one
CENTRAL_STEP = EPS ** (1 / 3)  # near here h^2/6 f''' equals eps f / h


@dataclass(frozen=True)
class Judge:
    """A way to estimate a gradient, and a way to compare a claimed one with the estimate."""

    name: str  # number and word of the stage
    # ``estimate(f, x)`` returns the numeric gradient
    estimate: Callable[[Callable[[Array], Any], Array], Array]
    # ``measure(analytic, numeric)`` returns error / allowed for each entry
    measure: Callable[[Array, Array], Any]

    def ratio(self, analytic: Array, numeric: Array) -> float:
        """Largest error / allowed; inf for NaN, and for a gradient of the wrong shape."""
        if analytic.shape != numeric.shape:
            return float("inf")
        ratios = np.asarray(self.measure(analytic, numeric))
        return float(np.where(np.isnan(ratios), np.inf, ratios).max(initial=0.0))

    def accepts(self, f: Callable[[Array], Any], x: Array, analytic: Array) -> bool:
        """Whether this judge accepts ``analytic`` as the gradient of ``f`` at ``x``."""
        return self.ratio(np.asarray(analytic), self.estimate(f, x)) <= 1


def _forward(f: Callable[[Array], Any], x: Array) -> Array:
    return forward_difference(f, x, h=FORWARD_STEP * _scale(x))


def _central(f: Callable[[Array], Any], x: Array) -> Array:
    return central_difference(f, x, h=CENTRAL_STEP * _scale(x))


def _scale(x: Array) -> float:
    return float(np.abs(x).max(initial=1.0))


def _absolutely(analytic: Array, numeric: Array) -> Any:
    return np.abs(analytic - numeric) / TOLERANCE


def _combined(analytic: Array, numeric: Array) -> Any:
    return allclose(analytic, numeric, rtol=TOLERANCE, atol=ATOL).ratio


JUDGES = (
    Judge("1 forward", _forward, _absolutely),
    Judge("2 central", _central, _absolutely),
    Judge("3 relative", _central, lambda a, n: relative_error(a, n) / TOLERANCE),
    Judge("4 allclose", _central, _combined),
    Judge("5 adaptive", lambda f, x: adaptive_difference(f, x).value, _combined),
)


@dataclass(frozen=True)
class Row:
    """One gradient of the zoo, right or wrong, and how far off each judge finds it."""

    case: Case  # the function
    bug: Bug | None  # the mistake in the claimed gradient; None for the right gradient
    # for each judge, the largest error / allowed over all inputs of the function
    ratios: tuple[float, ...]

    def right(self, judge: int) -> bool:
        """Whether the judge at that position accepts a right gradient or rejects a wrong one."""
        return (self.ratios[judge] <= 1) == (self.bug is None)

    def close_call(self, judge: int) -> bool:
        """Whether the ratio is within a factor of 3 of 1: the last bits may change the decision."""
        return 1 / 3 < self.ratios[judge] < 3


def kill_matrix() -> list[Row]:
    """Let every judge decide on every right and every wrong gradient of the zoo.

    Returns
    -------
    list of Row
        Case by case, the right gradient first.
    """
    rows = []
    for case in all_cases():
        # The estimates do not depend on the claim, so they serve all claims of a case.
        estimates = [
            [judge.estimate(problem.f, problem.x) for problem in problems(case, case.vjp)]
            for judge in JUDGES
        ]
        for bug in (None, *case.bugs):
            claims = [problem.claimed for problem in problems(case, bug.vjp if bug else case.vjp)]
            ratios = (
                max(judge.ratio(a, n) for a, n in zip(claims, numeric, strict=True))
                for judge, numeric in zip(JUDGES, estimates, strict=True)
            )
            rows.append(Row(case, bug, tuple(ratios)))
    return rows
