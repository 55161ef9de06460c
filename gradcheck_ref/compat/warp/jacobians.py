"""Jacobians of a NumPy function in two ways: from its vjp, and by central differences.

Idea
    A row of the Jacobian is the gradient of one entry of the output: the vjp gives it for an
    upstream gradient that is 1 there and 0 elsewhere. A column is the slope of the output along one
    entry of the input: two samples of f give it for all outputs at once. Warp's `gradcheck`
    compares the two.

A pair is (position of the input, position of the output). Integer arrays have no Jacobian but keep
their positions. A complex entry is two coordinates, its real and its imaginary part, like a
vector of two in a Warp array.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, as_function, as_step, described, product_of
from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.call.crew import note_on
from gradcheck_ref.check.claim.claims import Claims
from gradcheck_ref.check.measure.lines import Line, taken
from gradcheck_ref.compat.warp.plot import jacobian_plot
from gradcheck_ref.structure.inputs import Inputs

# Warp's own, made for float32, where eps^(1/3) is 5e-3; in float64 that is 6e-6.
EPS = 1e-4

Pair = tuple[int, int]
Mask = Sequence[tuple[str | int, str | int]]


def jacobian(
    function: Callable[..., Any],
    inputs: Any,
    *,
    vjp: Callable[..., Any] | None = None,
    input_output_mask: Mask | None = None,
    max_outputs_per_var: int = -1,
    plot_jacobians: bool = False,
) -> dict[Pair, Array]:
    """Return the Jacobians that a vjp claims.

    Parameters
    ----------
    function, inputs, vjp : callable, array_like, callable
        As for `gradcheck`.
    input_output_mask : sequence of (input, output), optional
        As for `gradcheck`.
    max_outputs_per_var : int, default -1
        Evaluate only this many entries of each output; all, if not positive.
    plot_jacobians : bool, default False
        Show them with `jacobian_plot`.

    Returns
    -------
    dict
        For each (input, output), by position, an array of shape (size of the output, size of the
        input), of float64 at least. Rows that were not evaluated are NaN. A complex entry is two
        coordinates, its real and its imaginary part.

    Raises
    ------
    ValueError, TypeError, ImportError
        As `gradcheck`; empty arrays have an empty Jacobian here.

    Notes
    -----
    Cost: one evaluation of f (two with the plot), and for each pair one call of the vjp for each
    real coordinate of the output that is evaluated.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> found = jacobian(lambda x: A @ x, np.ones(2), vjp=lambda u, x: A.T @ u,
    ...                  max_outputs_per_var=2)
    >>> print(found[0, 0])
    [[ 1.  2.]
     [ 3.  4.]
     [nan nan]]
    """
    vjp = product_of(function, "function", vjp, "vjp")
    most = limit(max_outputs_per_var, "max_outputs_per_var")
    ask = _ask(function, inputs)
    claims = Claims(ask, "vjp", vjp)
    found = _blank(ask, input_output_mask)
    # Called again for each input, as in Warp, to catch a vjp that adds to its last result.
    for (i, j), matrix in found.items():
        for row in range(len(matrix))[:most]:
            upstream = np.eye(1, ask.outputs.size, ask.outputs.parts[j].start + row)[0]
            matrix[row] = claims.product(upstream)[ask.inputs.parts[i].stretch]
    _insist_on_fit(claims)
    if plot_jacobians:
        jacobian_plot(found, function, inputs, title=f"Jacobian of {name_of(function)}")
    return found


def jacobian_fd(
    function: Callable[..., Any],
    inputs: Any,
    *,
    input_output_mask: Mask | None = None,
    max_inputs_per_var: int = -1,
    eps: float = EPS,
    plot_jacobians: bool = False,
) -> dict[Pair, Array]:
    """Return the Jacobians by central differences.

    Parameters
    ----------
    function, inputs : callable, array_like
        As for `gradcheck`.
    input_output_mask : sequence of (input, output), optional
        As for `gradcheck`.
    max_inputs_per_var : int, default -1
        Evaluate only this many entries of each input; all, if not positive.
    eps : float, default 1e-4
        The step, in the unit of the inputs.
    plot_jacobians : bool, default False
        Show them with `jacobian_plot`.

    Returns
    -------
    dict
        As `jacobian`, but NaN marks columns that were not evaluated, and entries for which a
        sample of f is not finite.

    Raises
    ------
    ValueError, TypeError, ImportError
        As `gradcheck`; empty arrays have an empty Jacobian here.

    Notes
    -----
    Cost: 2 evaluations of f for each real coordinate that is moved, and one at the point; one more
    for the plot.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> print(jacobian_fd(lambda x: A @ x, np.zeros(2), eps=0.5)[0, 0])
    [[1. 2.]
     [3. 4.]]
    """
    as_function(function, "function")
    eps = as_step(eps, "eps")
    most = limit(max_inputs_per_var, "max_inputs_per_var")
    ask = _ask(function, inputs)
    found = _blank(ask, input_output_mask)
    for i in sorted({i for i, _ in found}):
        part = ask.inputs.parts[i]
        for column in range(part.size)[:most]:
            slopes = _slopes(ask, part.start + column, eps)
            for input_, j in found:
                if input_ == i:
                    found[i, j][:, column] = slopes[ask.outputs.parts[j].stretch]
    if plot_jacobians:
        title = f"Jacobian of {name_of(function)} by finite differences"
        jacobian_plot(found, function, inputs, title=title)
    return found


def _ask(function: Callable[..., Any], inputs: Any) -> Ask:
    """Call a function at the point, to learn its outputs."""
    given = Inputs(function, inputs)
    if not given.forest.bare:
        raise TypeError("inputs holds containers; Warp's gradcheck takes arrays: pass those")
    given.written_to = {k for k, x in enumerate(given.constants) if isinstance(x, np.ndarray)}
    return Ask(function, given)  # each call gets fresh copies, as if each input were written to


def _blank(ask: Ask, mask: Mask | None) -> dict[Pair, Array]:
    """Return a Jacobian of NaN for each pair that the mask selects."""
    inputs, outputs = ask.inputs.parts, ask.outputs.parts
    wanted = None if mask is None else _selected(ask, mask)
    return {
        (i, j): np.full((outputs[j].size, inputs[i].size), np.nan, ask.inputs.dtype)
        for i in inputs
        for j in outputs
        if wanted is None or (i, j) in wanted
    }


def _selected(ask: Ask, mask: Mask) -> set[Pair]:
    """Return the pairs of a mask as positions; each must be one that has a Jacobian."""
    inputs = ask.inputs.names
    outputs = [f"output_{j}" for j in range(len(ask.outputs.shapes))]
    wanted = set()
    for entry in mask if isinstance(mask, Iterable) else [mask]:
        if not isinstance(entry, tuple | list) or len(entry) != 2:
            raise ValueError(
                f"input_output_mask holds pairs (input, output), not {described(entry)}"
            )
        i, j = _position(entry[0], inputs, "input"), _position(entry[1], outputs, "output")
        if i not in ask.inputs.parts or j not in ask.outputs.parts:
            constant = outputs[j] if i in ask.inputs.parts else inputs[i]
            raise ValueError(
                f"input_output_mask names {described(entry)}, but {constant} is not a floating "
                "point array: it has no Jacobian"
            )
        wanted.add((i, j))
    if not wanted:
        raise ValueError("input_output_mask is empty: leave it out to check all pairs")
    return wanted


def _slopes(ask: Ask, row: int, eps: float) -> Array:
    """Return the central differences of all outputs along the axis of a coordinate."""
    axis, (part, within) = Line(ask.inputs, row, row + 1), ask.inputs.locate(row)
    with np.errstate(all="ignore"):  # the step, not the caller, may push f out of its domain
        ahead, behind = taken([axis], np.array([[eps, -eps]]))[0]
        step = ahead - behind
        if step == 0 or not np.isfinite(step):
            x = part.real_dtype.type(ask.inputs.x[row])
            raise ValueError(
                f"eps={eps:g} does not move {part.entry(within)} = {x:.6g} to "
                f"another finite {part.real_dtype} (the next is "
                f"{np.spacing(abs(x)):.2g} away): rescale the input, or take another step"
            )
        f_ahead, f_behind = (_value(ask, axis, h) for h in (eps, -eps))
        return np.asarray((f_ahead - f_behind) / step)


def _value(ask: Ask, axis: Line, h: float) -> Array:
    """Return the outputs a step away."""
    try:
        return ask.outputs.flat(ask.inputs.call(ask.f, axis.point(h)))
    except BaseException as error:
        note_on(error, axis.where(h), ask.inputs, ask.f)
        raise


def _insist_on_fit(claims: Claims) -> None:
    """Refuse gradients that do not fit their inputs; a vjp may write to its arguments."""
    for fault in claims.faults:
        if fault.reason != "mutated":
            kind = TypeError if fault.reason == "dtype" else ValueError
            raise kind(fault.sentence)


def _position(which: Any, names: Sequence[str], what: str) -> int:
    """Return the position of an input or output that is given by name or by position."""
    if isinstance(which, str) and which in names:
        return names.index(which)
    if isinstance(which, int | np.integer) and 0 <= which < len(names):
        return int(which)
    raise ValueError(
        f"input_output_mask names the {what} {which!r}, but there is only "
        + ", ".join(f"{name} ({k})" for k, name in enumerate(names))
    )


def name_of(function: Callable[..., Any]) -> str:
    """Return what a function is called."""
    return getattr(function, "__name__", type(function).__name__)


def limit(count: Any, argument: str) -> int | None:
    """Return how many entries to evaluate, None for all of them."""
    try:
        count = operator.index(count)
    except TypeError:
        raise TypeError(f"{argument} must be an integer, not {described(count)}") from None
    return count if count > 0 else None
