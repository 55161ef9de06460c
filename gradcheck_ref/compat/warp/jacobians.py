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
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, as_function, as_numbers, as_step, described
from gradcheck_ref.compat.warp.plot import jacobian_plot
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.outputs import Outputs
from gradcheck_ref.structure.parts import Part

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
    vjp = as_vjp(function, vjp)
    most = limit(max_outputs_per_var, "max_outputs_per_var")
    around = _Around(function, inputs)
    found = around.blank(input_output_mask)
    # Called again for each input, as in Warp, to catch a vjp that adds to its last result.
    for (i, j), matrix in found.items():
        for row in range(len(matrix))[:most]:
            matrix[row] = around.pulled(vjp, around.outputs.parts[j].start + row)[i]
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
    around = _Around(function, inputs)
    found = around.blank(input_output_mask)
    for i in sorted({i for i, _ in found}):
        around.check_step(i, eps, most)
        for column in range(around.inputs.parts[i].size)[:most]:
            f_ahead, x_ahead = around.moved(i, column, +eps)
            f_behind, x_behind = around.moved(i, column, -eps)
            with np.errstate(over="ignore"):
                slopes = (f_ahead - f_behind) / (x_ahead - x_behind)
            for input_, j in found:
                if input_ == i:
                    found[i, j][:, column] = slopes[around.outputs.parts[j].stretch]
    if plot_jacobians:
        title = f"Jacobian of {name_of(function)} by finite differences"
        jacobian_plot(found, function, inputs, title=title)
    return found


class _Around:
    """A function at a point: sampled with one coordinate moved, and asked for its gradients."""

    def __init__(self, function: Callable[..., Any], inputs: Any) -> None:
        self.function = function
        self.inputs = Inputs(function, inputs)
        if not self.inputs.forest.bare:
            raise TypeError("inputs holds containers; Warp's gradcheck takes arrays: pass those")
        here = self._call(function, self._copies(), "function at x")
        self.outputs = Outputs(here, self.inputs.dtype)

    def _copies(self) -> list[Any]:
        return [v.copy() if isinstance(v, np.ndarray) else v for v in self.inputs.values]

    def blank(self, mask: Mask | None) -> dict[Pair, Array]:
        """Return a Jacobian of NaN for each pair that the mask selects."""
        inputs, outputs = self.inputs.parts, self.outputs.parts
        pairs = [(i, j) for i in inputs for j in outputs]
        if mask is not None:
            wanted = self._selected(mask)
            pairs = [pair for pair in pairs if pair in wanted]
        return {
            (i, j): np.full((outputs[j].size, inputs[i].size), np.nan, self.inputs.dtype)
            for i, j in pairs
        }

    def _selected(self, mask: Mask) -> set[Pair]:
        """Return the pairs of a mask as positions; each must be one that has a Jacobian."""
        inputs = self.inputs.names
        outputs = [f"output_{j}" for j in range(len(self.outputs.shapes))]
        wanted = set()
        for entry in mask if isinstance(mask, Iterable) else [mask]:
            if not isinstance(entry, tuple | list) or len(entry) != 2:
                raise ValueError(
                    f"input_output_mask holds pairs (input, output), not {described(entry)}"
                )
            i, j = _position(entry[0], inputs, "input"), _position(entry[1], outputs, "output")
            if i not in self.inputs.parts or j not in self.outputs.parts:
                constant = outputs[j] if i in self.inputs.parts else inputs[i]
                raise ValueError(
                    f"input_output_mask names {described(entry)}, but {constant} is not a floating "
                    "point array: it has no Jacobian"
                )
            wanted.add((i, j))
        if not wanted:
            raise ValueError("input_output_mask is empty: leave it out to check all pairs")
        return wanted

    def check_step(self, i: int, eps: float, most: int | None) -> None:
        """Refuse a step that does not move an input, or moves it to infinity."""
        part = self.inputs.parts[i]
        x = _coordinates(self.inputs.values[i])[:most]
        with np.errstate(over="ignore"):
            step = (x + eps) - (x - eps)
        lost = np.flatnonzero((step == 0) | ~np.isfinite(step))
        if lost.size:
            at = x[lost[0]]
            raise ValueError(
                f"eps={eps:g} does not move {part.entry(int(lost[0]))} = {at:.6g} to another "
                f"finite {part.real_dtype} (the next is {np.spacing(abs(at)):.2g} away): "
                "rescale the input, or take another step"
            )

    def moved(self, i: int, column: int, h: float) -> tuple[Array, Any]:
        """Return the flat outputs with one coordinate of an input moved, and where that is."""
        values = self._copies()
        coordinates = _coordinates(values[i])
        coordinates[column] += h
        place = self.inputs.dtype.type(coordinates[column])
        entry = self.inputs.parts[i].entry(column)
        where = f"function at x with {entry} moved by {h:+.3g}"
        with np.errstate(all="ignore"):  # the step, not the caller, may push f out of its domain
            value = self._call(self.function, values, where)
        return self.outputs.flat(value), place

    def pulled(self, vjp: Callable[..., Any], row: int) -> dict[int, Any]:
        """Return the flat gradient of one output coordinate with respect to every input."""
        upstream = self.outputs.unflat(np.eye(1, self.outputs.size, row)[0])
        given = self._call(vjp, self._copies(), "vjp at x", upstream)
        inputs = self.inputs
        if inputs.by_name and isinstance(given, Mapping):
            gradients = [given.get(key) for key in inputs.keys]
        elif isinstance(given, tuple) or (isinstance(given, list) and not inputs.single):
            gradients = list(given)
        else:
            gradients = [given]
        if len(gradients) == len(inputs.values):
            gradients = [gradients[i] for i in inputs.parts]
        if len(gradients) != len(inputs.parts):
            raise ValueError(
                f"vjp must give one gradient for each of the {len(inputs.values)} inputs, in the "
                f"same order, not {len(gradients)}"
            )
        parts = inputs.parts.items()
        return {i: self._flat(g, part) for (i, part), g in zip(parts, gradients, strict=True)}

    def _flat(self, gradient: Any, part: Part) -> Any:
        if gradient is None:  # as on Warp's tape, where an unwritten gradient stays zero
            return 0.0
        name = f"the gradient that vjp gives for {part.name}"
        array = as_numbers(gradient, name)
        if array.dtype.kind == "c" and not part.is_complex:
            raise TypeError(f"{name} is complex, but the gradient of a real input is real")
        if array.shape != part.shape:
            raise ValueError(
                f"{name} has shape {array.shape}, but {part.name} has shape {part.shape}"
            )
        return part.flat(array, self.inputs.dtype)

    def _call(self, function: Callable[..., Any], values: list[Any], what: str, *first: Any) -> Any:
        try:
            return self.inputs.call(function, values, *first)
        except BaseException as error:
            error.add_note(f"in gradcheck_ref, calling {what}")
            raise


def _coordinates(array: Array) -> Array:
    """View a C-ordered array as its flat real coordinates."""
    return array.reshape(-1).view(array.real.dtype)


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


def as_vjp(function: Callable[..., Any], vjp: Any) -> Callable[..., Any]:
    """Return the vjp that is given, or the attribute of the function."""
    as_function(function, "function")
    vjp = getattr(function, "vjp", None) if vjp is None else vjp
    if vjp is None:
        raise TypeError("function has no attribute vjp: give it one, or pass vjp=")
    return as_function(vjp, "vjp")


def limit(count: Any, argument: str) -> int | None:
    """Return how many entries to evaluate, None for all of them."""
    try:
        count = operator.index(count)
    except TypeError:
        raise TypeError(f"{argument} must be an integer, not {described(count)}") from None
    return count if count > 0 else None
