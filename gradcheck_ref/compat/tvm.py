"""TVM's ``check_numerical_grads``, for NumPy: stop at the first formula that agrees.

Idea
    Forward, central, five-point: each coordinate moves on to the next formula only where the last
    one disagrees with the claim. Then norms give one verdict for each variable. The allowed
    error is ``atol`` in every entry, plus ``rtol`` times the norm of the estimate.
Catches
    Mistakes of a tenth of a gradient's norm and more, usually with one evaluation per coordinate.
    Kinks seldom cause a false alarm: one of three formulas probably agrees (``relu_at_zero``).
Misses
    Diluted errors: one wrong row among many (``iris_classifier/first-flower-left-out``), a few
    percent everywhere (``float32_softplus/five-per-cent``). Errors below ``atol``: ``tiny_loss``
    may have any tiny gradient. At a kink, a mean of two slopes (``relu_near_zero/slope-half``). And
    its fixed step refuses right gradients of functions that are fast (``very_fast_sine``) or end
    within the step (``logarithm_near_zero``).

**Differs on purpose**

- 0-d arrays and numbers are inputs like any other; TVM stops with ``TypeError`` or
  ``AttributeError``.
- Empty arrays pass beside others; TVM stops with ``ValueError``. If nothing at all is compared,
  this function raises ``ValueError``; TVM accepts an empty ``grad_values``.
- A gradient in Fortran order is judged like any other; TVM loses its own estimates and fails it.
- An integer input with a gradient is refused with ``TypeError``; TVM's step is truncated to
  0, and wrong gradients pass. Without a gradient it is a constant in both. An integer
  gradient is compared with real numbers, not with truncated ones.
- Differences are divided by the actual step, which is not ``delta`` where ``x`` is large. If
  ``delta`` or its half is too small to change ``x``, that is a ``ValueError``, not a gradient of
  zeros. So is a ``delta`` that is not positive, a tolerance that is negative, infinite or NaN, and
  an ``x`` that is not finite.
- Complex inputs are moved along both axes, the gradient is ``df/d(real) + i df/d(imag)``, and the
  norm uses absolute values. TVM moves along the real axis and sums squares without a modulus, so
  an imaginary error of any size passes. A complex gradient of a real input is an
  ``AssertionError``.
- The norms do not overflow: a gradient of 1e200 is finite.
- The function gets fresh copies of all arrays, so it cannot change the caller's. TVM passes the
  caller's own.
- A function that returns an array raises a clear error; TVM's error is about sequences or truth
  values. A mixture of a list and a dict is a ``TypeError``; in TVM an ``AttributeError``.
- The log record comes from this module's logger, and the root logger stays unchanged.
"""

import logging
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradcheck_ref.arguments import (
    Array,
    as_function,
    as_number,
    as_numbers,
    as_point,
    as_step,
    as_tolerance,
    described,
    index_text,
)
from gradcheck_ref.stage5_adaptive import escalating_difference

# TVM's defaults, meant for float32: rounding near 1 is 6e-8 there, so with a step of 1e-3 a slope
# near 1 has an error of 1e-4, and a longer sum has more.
DELTA = 1e-3
ATOL = 1e-2
RTOL = 0.1

MOST_POSITIONS = 10  # wrong entries that a message lists

NO_CHANGE = "\nthe function did not change at any step: does it use its argument?"

logger = logging.getLogger(__name__)


def check_numerical_grads(
    function: Callable[..., Any],
    input_values: Any,
    grad_values: Any,
    function_value: Any = None,
    delta: float = DELTA,
    atol: float = ATOL,
    rtol: float = RTOL,
) -> None:
    """Check claimed gradients of a scalar function; return if they are right, raise if not.

    Parameters
    ----------
    function : callable
        ``function(*input_values)``, or ``function(**input_values)`` for a dict, returns one real
        number. It gets fresh copies each time.
    input_values : sequence or dict of array_like
        The point, by position or by name. Never written.
    grad_values : sequence or dict of array_like
        The claimed gradients, each of the shape of its input: a sequence for a sequence, a dict for
        a dict. Inputs without a gradient are constants, of any type.
    function_value : float, optional
        The value of ``function`` at the point, to save one evaluation. It is not checked.
    delta : float, default 1e-3
        The step, in the unit of the inputs.
    atol : float, default 1e-2
        Allowed root mean square error of a gradient's entries.
    rtol : float, default 0.1
        Additional allowed error, as a fraction of the norm of the numeric gradient.

    Returns
    -------
    None
        If all agree. Each gradient adds an INFO record to the log ``gradcheck_ref.compat.tvm``:
        its name and shape, the distance, and the largest and the mean error of an entry.

    Raises
    ------
    AssertionError
        If a gradient differs in shape from its input, is complex although the input is real, or is
        further than ``atol sqrt(n) + rtol |numeric|`` from the numeric one, in the 2-norm over its
        ``n`` entries. The error reports the first such gradient, and the check stops there.
    ValueError
        If an input, the function or a gradient is NaN or infinite; if nothing is
        compared; if ``delta`` or a tolerance is out of range, or ``delta`` is too small to
        change an input; if the function returns several numbers.
    TypeError
        If an input with a gradient is not floating or complex, ``function`` does not return a real
        number, or ``input_values`` and ``grad_values`` are not of the same kind.
    KeyError
        If a gradient has no input.

    Notes
    -----
    Cost: 1 evaluation of ``function`` (none with ``function_value``), plus 1, 2 or 4 per real
    coordinate: forward difference with ``delta``, central with ``delta``, five-point with ``delta``
    and ``delta / 2``, until one has ``|estimate - claimed| < atol + rtol |estimate|``. The last
    estimate is the numeric value, even if it does not agree: see ``escalating_difference``.

    The verdict depends on norms, so an error is diluted: with the defaults, ``2 x`` with its first
    entry doubled passes at ``x = np.linspace(1, 2, 41)``. And three formulas are three chances to
    agree: at the kink of ``|x|`` both 0 and 1 pass, but -1, which is as plausible as 1, fails.

    Source: the behavior of ``tvm.testing.check_numerical_grads`` of apache-tvm 0.27.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 2.0])
    >>> check_numerical_grads(lambda x: np.sum(x * x), [x], [2 * x])
    >>> W = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> def loss(W, x):
    ...     return np.sum((W @ x) ** 2)
    >>> check_numerical_grads(loss, {"W": W, "x": x}, {"x": 2 * W @ (W @ x)})
    Traceback (most recent call last):
        ...
    AssertionError: the gradient with respect to 'x' is wrong: distance 24.16 > allowed 13.22
    ...
    """
    as_function(function, "function")
    inputs, claims = _by_key(input_values, grad_values)
    delta = as_step(delta, "delta")
    atol, rtol = as_tolerance(atol, "atol"), as_tolerance(rtol, "rtol")
    inputs |= {key: as_point(inputs[key], f"input_values[{key!r}]") for key in claims}
    claims = {key: as_numbers(claims[key], f"grad_values[{key!r}]") for key in claims}

    def at(moved: dict[Any, Array]) -> Any:
        values = {key: _own(value) for key, value in inputs.items()} | moved
        by_name = isinstance(input_values, Mapping)
        return function(**values) if by_name else function(*values.values())

    # A copy, since a function may return the same buffer each time.
    f0 = _own(at({})) if function_value is None else as_number(function_value, "function_value")
    for key, claimed in claims.items():
        _check_kind(key, claimed, inputs[key])
        f = _along(at, key, inputs[key], f0)
        try:
            numeric, _ = escalating_difference(
                f, inputs[key], claimed, h=delta, rtol=rtol, atol=atol
            )
        except Exception as error:
            error.add_note(f"x is input_values[{key!r}] of check_numerical_grads, h is its delta")
            raise
        if not np.isfinite(f0):
            numeric[...] = np.nan  # an infinite f0 spoils every estimate, even central ones
        _judge(key, claimed, numeric, atol, rtol)
    if not any(claimed.size for claimed in claims.values()):
        raise ValueError("nothing was compared: grad_values holds no entries")


def _by_key(input_values: Any, grad_values: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return inputs and claims by name, or by position where they have no names."""
    if isinstance(input_values, Mapping) != isinstance(grad_values, Mapping):
        raise TypeError(
            "input_values and grad_values must be both sequences or both dicts, not "
            f"{described(input_values)} and {described(grad_values)}"
        )
    inputs, claims = _keyed(input_values, "input_values"), _keyed(grad_values, "grad_values")
    for key in claims:
        if key not in inputs:
            known = ", ".join(repr(name) for name in inputs) or "nothing"
            raise KeyError(f"grad_values has {key!r}, but input_values has only {known}")
    return inputs, claims


def _keyed(values: Any, argument: str) -> dict[Any, Any]:
    if isinstance(values, Mapping):
        return dict(values)
    try:
        return dict(enumerate(values))
    except TypeError:
        text = f"{argument} must be a sequence or a dict of arrays, not {described(values)}"
        raise TypeError(text) from None


def _own(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _along(at: Callable[..., Any], key: Any, x: Array, f0: Any) -> Callable[[Array], Any]:
    """Return the function of one input alone; its value at ``x`` is known already."""
    return lambda moved: f0 if np.array_equal(moved, x) else at({key: moved})


def _check_kind(key: Any, claimed: Array, x: Array) -> None:
    if claimed.shape != x.shape:
        raise AssertionError(
            f"the gradient with respect to '{key}' has shape {claimed.shape}, "
            f"but the input has shape {x.shape}"
        )
    if claimed.dtype.kind == "c" and x.dtype.kind != "c":
        raise AssertionError(
            f"the gradient with respect to '{key}' is complex, but the input is real"
        )


def _judge(key: Any, claimed: Array, numeric: Array, atol: float, rtol: float) -> None:
    """Compare one gradient as a whole; raise, or log how close it is."""
    with np.errstate(over="ignore", invalid="ignore"):  # the code below finds NaN and infinity
        error = np.abs(claimed - numeric)
        distance, size = _norm(error), _norm(numeric)
        # If each entry is off by atol, the distance is atol sqrt(n).
        allowed = atol * math.sqrt(claimed.size) + rtol * size
    if not (math.isfinite(distance) and math.isfinite(size)):
        raise ValueError(
            f"NaN or infinity in the gradient with respect to '{key}'\n{_both(claimed, numeric)}"
        )
    if distance > allowed:
        wrong = np.argwhere(~(error < atol + rtol * np.abs(numeric))).tolist()
        raise AssertionError(
            f"the gradient with respect to '{key}' is wrong: "
            f"distance {distance:.4g} > allowed {allowed:.4g}\n{_both(claimed, numeric)}\n"
            # Entry by entry, for the reader only: the verdict depends on norms.
            f"{100 * len(wrong) // claimed.size}% of the entries differ, the first at "
            f"{', '.join(index_text(index) or '()' for index in wrong[:MOST_POSITIONS])}\n"
            "distance = |claimed - numeric|, allowed = atol sqrt(n) + rtol |numeric|\n"
            f"{distance} > {atol} * {math.sqrt(claimed.size)} + {rtol} * {size}"
            f"{NO_CHANGE if size == 0 else ''}"
        )
    logger.info(
        "gradient with respect to '%s' of shape %s: distance %g, largest error %g, mean error %g",
        *(str(key), claimed.shape, distance),
        *(error.max(initial=0.0), error.sum() / max(error.size, 1)),
    )


def _both(claimed: Array, numeric: Array) -> str:
    return f"claimed:\n{claimed}\nnumeric:\n{numeric}"


def _norm(array: Array) -> float:
    """Return the 2-norm over all entries; unlike a sum of squares, it does not overflow."""
    return math.hypot(*np.abs(array).flat)
