"""Stage 5: a step with an error bar, and a search for the step whose bar is short.

Idea
    Central differences at ``h`` and ``2h`` have errors in the ratio 1 : 4. In a combination of
    both the ``h^2`` terms cancel and an ``h^4`` term is left: the five-point difference. Two of
    those, at two steps, differ by the truncation, and the rounding is known in advance. The sum is
    an error bar, and its larger part says whether the step is too long or too short.
Catches
    Functions for which no fixed ``h`` works: ``fast_sine`` and ``square_on_a_pedestal``, the edges
    of domains (``logarithm_near_zero``), a kink nearby (``relu_near_zero``).
Misses
    A point with two slopes: at ``relu_at_zero`` it estimates their mean, with an error bar
    that reaches both. A function noisier than its own rounding (``noisy_sine``,
    ``float32_layer``): the error bar shows that only in part, and not at all on a flat stair.
Next
    ``check`` measures the noise, compares the two sides, and says *unsure* where it cannot decide.

There are two ways to adapt. ``escalating_difference`` (TVM's) spends more evaluations only where
the claimed gradient is not yet confirmed. That is cheap, but the claim chooses its own judge, and
a wrong claim gets three chances to agree. ``adaptive_difference`` never sees the claim.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcheck_ref.arguments import Array, as_tolerance
from gradcheck_ref.around import Around

# The steps of one trial are h, h/RATIO and h/RATIO^2. The golden ratio is irrational, so no wave is
# zero at all three; with a ratio of 2, sin(8 pi x / h) looks flat.
RATIO = (1 + math.sqrt(5)) / 2

# The two five-point values of a trial differ by about h^4/370 times the fifth derivative, and by
# about 4 eps f / h of rounding. If f and its derivatives are of size one, the two are equal here.
FIRST_STEP = (1500 * 2.0**-52) ** (1 / 5)

# In units of the spacing of numbers at x. For this step and longer ones, the rounding of x + h
# changes the ratio of the steps by less than 2 %.
SHORTEST = 32

# A thousand times eps^(4/5) = 3e-13, the smallest error of a fourth-order formula, and a thousandth
# of 1e-6, the usual tolerance for gradients.
RTOL = 1e-9

# The first step and seven moves. Moves without other information, by a factor of 64 down or 16 up,
# reach any scale from 1e-15 to 1e5; a move to the size of x can reach others.
MOST_STEPS = 8


@dataclass(frozen=True)
class Estimate:
    """Derivatives with their error bars.

    Attributes
    ----------
    value : ndarray, shape of x
        The derivatives; NaN where no step gave one.
    error : ndarray of float, shape of x
        Error bar of each value, in its unit: truncation plus rounding; inf where the value is NaN.
    step : ndarray of float, shape of x
        Longest step among the samples for each value, in the unit of x.
    evaluations : int
        How often ``f`` was called.
    """

    value: Array
    error: Array
    step: Array
    evaluations: int


def five_point_difference(f: Callable[[Array], Any], x: ArrayLike, *, h: float) -> Array:
    """Estimate the gradient of a scalar function from five points on each axis.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns one real number. Each call gets a fresh copy of ``x``.
    x : array_like of float or complex, any shape
        The point. Never written.
    h : float
        The step, in the unit of ``x``; samples are taken at ``h`` and ``2 h`` on both sides.

    Returns
    -------
    ndarray, shape of x
        ``(4 D(h) - D(2h)) / 3`` with ``D`` the central difference; float64, or wider where
        ``x`` is. For complex ``x``: ``df/d(real) + i df/d(imag)``.

    Raises
    ------
    TypeError
        If ``x`` is not floating or complex, or ``f`` does not return a real number.
    ValueError
        If ``h`` is not positive, or too small to change ``x``; if ``f`` returns several numbers.

    Notes
    -----
    Cost: 4 evaluations of ``f`` per real coordinate (the fifth point, ``x``, has weight zero).

    Error: ``h^4 / 30`` times the fifth derivative. Source: Abramowitz and Stegun (1964), 25.3.6;
    as an extrapolation, Richardson (1911).

    Examples
    --------
    >>> import numpy as np
    >>> g = five_point_difference(lambda x: np.sum(np.exp(x)), np.zeros(3), h=1e-3)
    >>> print(np.round(g, 9))
    [1. 1. 1.]
    """
    around = Around(f, x)  # calls f on copies of x, one entry moved
    h = around.check_step(h, 2)
    slopes = np.empty(around.size, around.dtype)

    # --8<-- [start:five_point_difference]
    for i in range(around.size):
        slopes[i] = _cancel_square(_central(around, i, h), _central(around, i, 2 * h))
    # --8<-- [end:five_point_difference]

    return around.gradient(slopes)


# --8<-- [start:cancel_square]
def _central(around: Around, i: int, h: float) -> Any:
    f_ahead, x_ahead = around.moved(i, +h)
    f_behind, x_behind = around.moved(i, -h)
    return (f_ahead - f_behind) / (x_ahead - x_behind)


def _cancel_square(near: Any, far: Any, ratio: float = 2.0) -> Any:
    """Combine slopes at ``h`` and ``ratio h`` so that their ``h^2`` error terms cancel."""
    return near + (near - far) / (ratio**2 - 1)


# --8<-- [end:cancel_square]


def escalating_difference(
    f: Callable[[Array], Any],
    x: ArrayLike,
    claimed: ArrayLike,
    *,
    h: float,
    rtol: float,
    atol: float,
) -> tuple[Array, NDArray[np.int64]]:
    """Estimate a gradient, with better formulas only where a claimed one disagrees.

    Each coordinate starts with a forward difference. If that disagrees with the claim, a central
    difference replaces it, and if that disagrees too, a five-point one (with ``h`` and ``h/2``).

    Parameters
    ----------
    f : callable
        ``f(x)`` returns one real number. Each call gets a fresh copy of ``x``.
    x : array_like of float or complex, any shape
        The point. Never written.
    claimed : array_like, shape of x
        The gradient to be confirmed.
    h : float
        The longest step, in the unit of ``x``.
    rtol, atol : float
        A slope agrees when ``|slope - claimed| < atol + rtol * |slope|``, strictly.

    Returns
    -------
    values : ndarray, shape of x
        For each entry the first slope that agreed, else the five-point one.
    orders : ndarray of int, shape of x
        The order of that formula: 1, 2 or 4. An entry of order 4 may agree or disagree.

    Raises
    ------
    TypeError
        If ``x`` or ``claimed`` has the wrong dtype, or ``f`` does not return a real number.
    ValueError
        If ``claimed`` and ``x`` differ in shape, a tolerance is negative, ``h`` is not
        positive or too small to change ``x``, or ``f`` returns several numbers.

    Notes
    -----
    Cost: 1 evaluation of ``f``, plus 1, 2 or 4 per real coordinate.

    Source: the rule of TVM's ``check_numerical_grads``, here with the actual step.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 2.0])
    >>> values, orders = escalating_difference(
    ...     lambda x: np.sum(x * x), x, [2.001, 5.0], h=1e-3, rtol=1e-6, atol=1e-4)
    >>> print(np.round(values, 6), orders)
    [2.001 4.   ] [1 4]
    """
    around = Around(f, x)  # calls f on copies of x, one entry moved
    h = around.check_step(h, 1 / 2)
    rtol, atol = as_tolerance(rtol, "rtol"), as_tolerance(atol, "atol")
    claims = around.slopes_from(claimed, "claimed").tolist()  # plain floats overflow quietly
    slopes = np.empty(around.size, around.dtype)
    orders = np.empty(around.size, np.int64)

    # --8<-- [start:escalating_difference]
    f_here = around.value()
    for i, x_here in enumerate(around.places):

        def agrees(slope: Any, claim: Any = claims[i]) -> bool:
            return bool(abs(slope - claim) < atol + rtol * abs(slope))

        f_ahead, x_ahead = around.moved(i, +h)
        slope, order = (f_ahead - f_here) / (x_ahead - x_here), 1
        if not agrees(slope):
            f_behind, x_behind = around.moved(i, -h)
            slope, order = (f_ahead - f_behind) / (x_ahead - x_behind), 2
        if not agrees(slope):
            slope, order = _cancel_square(_central(around, i, h / 2), slope), 4
        slopes[i], orders[i] = slope, order
    # --8<-- [end:escalating_difference]

    return around.gradient(slopes), np.asarray(around.per_entry(orders).max(axis=-1))


def adaptive_difference(
    f: Callable[[Array], Any], x: ArrayLike, *, rtol: float = RTOL, atol: float = 0.0
) -> Estimate:
    """Estimate the gradient of a scalar function, and choose every step by its error.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns one real number; it gets a fresh copy of ``x`` each time. If it has an
        attribute ``many``, that gets the six points of a step in one list, and returns six values.
    x : array_like of float or complex, any shape
        The point. Never written.
    rtol, atol : float
        Stop as soon as the error bar is at most ``atol + rtol * |value|``. If no step reaches
        that, the result is the best one, with its error bar.

    Returns
    -------
    Estimate
        Values, error bars, steps, and the number of evaluations. A non-finite sample makes the
        step shorter. If no step gives finite samples, the value is NaN and the error inf.

    Raises
    ------
    TypeError
        If ``x`` is not floating or complex, or ``f`` does not return a real number.
    ValueError
        If a tolerance is negative, ``x`` is not finite, ``f`` returns several numbers, or
        ``f.many`` does not return one value for each point.

    Notes
    -----
    Cost: 1 evaluation of ``f``, plus 6 per step on each real coordinate: usually one or two steps,
    at most 8. A step with samples that are not finite may take fewer, but ``f.many`` always gets
    all six points. The value at ``x`` comes from ``f`` itself. If ``f.many`` computes another
    function, that looks like a kink, and the bar covers it.

    The error bar of a value is a sum of three parts: the disagreement of two five-point
    differences, at two steps; ``4 eps (|f| + |x f'|) / h`` for the rounding of ``f`` and of its
    argument; and, at a kink, 5/8 of the jump of the slope. The value is an extrapolation of the
    two (order 6), so the bar is usually far too long. On smooth functions it is hardly ever too
    short (tested: less than once in a hundred). Source: Ridders (1982) for extrapolation with an
    error estimate; Press et al., *Numerical Recipes*, section 5.7, for the balance of the errors.

    Examples
    --------
    >>> import numpy as np
    >>> e = adaptive_difference(lambda x: np.sum(np.sin(1000 * x)), np.array([0.0, 0.001]))
    >>> print(np.round(e.value, 5), bool(np.all(e.error < 1e-5)))
    [1000.       540.30231] True
    """
    around = Around(f, x)  # calls f on copies of x, one entry moved
    rtol, atol = as_tolerance(rtol, "rtol"), as_tolerance(atol, "atol")
    f_here = around.value()
    if not math.isfinite(f_here):
        found = [_Trial(step=math.nan)] * around.size
    else:
        found = [_adapt(around, i, f_here, rtol, atol) for i in range(around.size)]

    errors = [float(trial.error) for trial in found]
    return Estimate(
        value=around.gradient([trial.value for trial in found]),
        error=np.asarray(np.hypot.reduce(around.per_entry(errors), axis=-1)),
        step=np.asarray(around.per_entry([trial.step for trial in found]).max(axis=-1)),
        evaluations=around.evaluations,
    )


@dataclass(frozen=True)
class _Trial:
    """A slope from one step, and the parts of its error."""

    step: float
    value: Any = math.nan
    truncation: Any = math.inf
    rounding: Any = 0.0
    too_long: bool = True
    resolved: bool = False

    @property
    def error(self) -> Any:
        return self.truncation + self.rounding

    def better_than(self, other: "_Trial") -> bool:
        """Whether to prefer this trial: the one with the shorter error bar, if the two agree.

        If they do not, the shorter step wins: its samples are closer to x.
        """
        if abs(self.value - other.value) <= self.error + other.error:
            return bool(self.error < other.error)
        return self.step < other.step and self.error < math.inf


# --8<-- [start:adapt]
def _adapt(around: Around, i: int, f_here: Any, rtol: float, atol: float) -> _Trial:
    """Search for a step with a small enough error, in a bracket that closes from both sides."""
    scale = abs(float(around.places[i])) / 100
    best = _Trial(step=math.inf)
    too_short, too_long = 0.0, math.inf
    flat_steps = 0  # a dead ReLU is flat at every step: three are enough
    h = FIRST_STEP
    for _ in range(MOST_STEPS):
        trial = _try_step(around, i, h, f_here)
        if trial.better_than(best):
            best = trial
        target = atol + rtol * abs(best.value)
        flat_steps += trial.value == 0 == trial.truncation
        if best.error <= target or flat_steps == 3:
            break
        if trial.too_long or trial.step > best.step:
            too_long = h
            h = _shorter(trial, target, scale)
        else:
            too_short = h
            h = max(16 * h, scale)
        if not too_short < h < too_long:
            if too_long < 8 * too_short:
                break
            h = math.sqrt(too_short) * math.sqrt(too_long)
    return best


# --8<-- [end:adapt]


def _shorter(trial: _Trial, target: Any, scale: float) -> float:
    """Choose the next step after one that is too long."""
    if trial.resolved:
        # Truncation falls as h^4: aim for the target, or for the rounding if that is larger.
        ratio = 0.7 * math.pow(max(target, trial.rounding) / trial.truncation, 1 / 4)
        return trial.step * min(max(ratio, 1 / 64), 1 / 2)
    # Only the size of x is known. It is the natural scale near the edge of a domain.
    return scale if 0 < scale < trial.step / 16 else trial.step / 64


def _try_step(around: Around, i: int, h: float, f_here: Any) -> _Trial:
    """Estimate one slope from ``f`` at x and at three steps on both sides."""
    if not np.isfinite(around.reach(h, i)).all():
        return _Trial(h)
    steps = (h, h / RATIO, h / RATIO**2)
    if steps[2] < SHORTEST * around.eps * abs(around.places[i]):
        return _Trial(h, truncation=0.0, rounding=math.inf, too_long=False)

    # --8<-- [start:try_step]
    slopes, bends, largest = [], [], 0.0
    both_sides = around.both_sides(i, steps)
    for h_s in steps:
        f_ahead, x_ahead, f_behind, x_behind = both_sides(h_s)
        slopes.append((f_ahead - f_behind) / (x_ahead - x_behind))
        bends.append((f_ahead - f_here) + (f_behind - f_here))
        largest = max(largest, abs(f_ahead), abs(f_behind))
        if not math.isfinite(slopes[-1]):
            return _Trial(h)
    coarse = _cancel_square(slopes[1], slopes[0], RATIO)
    fine = _cancel_square(slopes[2], slopes[1], RATIO)
    value = fine + (fine - coarse) / (RATIO**4 - 1)  # their h^4 terms are in the ratio 1 : RATIO^4

    # Each value of f has eps |f| of rounding, plus eps |x f'| because its argument is rounded, too.
    argument = abs(around.places[i] * value)
    rounding = 4 * (around.eps * largest + around.eps * argument) / h
    # The bend of a smooth f is a h^2 + b h^4 + ...; these terms cancel here, and the rest estimates
    # half the jump of a kink. Next to a kink the rest is up to a fifth too small: times 1.25.
    rest = bends[0] - (RATIO**2 + RATIO**4) * bends[1] + RATIO**6 * bends[2]
    kink = abs(rest) / (2 * (RATIO - 1) * (RATIO**3 - 1) * h)
    truncation = abs(fine - coarse) + 1.25 * max(0.0, kink - rounding)
    # --8<-- [end:try_step]

    # A step that spans several features of f is no evidence, unless all slopes fade to 0.
    fading = all(a * b >= 2.6 * b * b for a, b in pairwise(slopes))
    steepest = max(abs(slope) for slope in slopes)
    if abs(fine - coarse) > 0.1 * steepest + rounding and not fading:
        return _Trial(h, value)
    # If f(x) is small, the rounding comes from its larger neighbors, and falls with the step.
    small_here = largest > 4 * (abs(f_here) + argument)
    return _Trial(
        step=h,
        value=value,
        truncation=truncation,
        rounding=rounding,
        too_long=bool(truncation > 2 * rounding or small_here),
        resolved=bool(rounding < truncation < 0.1 * steepest),
    )
