"""Warp's picture of Jacobians: an image for each pair of an output and an input, in one grid.

Idea
    Rows of the grid are outputs, columns are inputs, and the size of an image follows the shape of
    its Jacobian: together they are the Jacobian of the whole function.
Differs on purpose
    Signed values have a range of colors symmetric around zero, so that its middle means zero. The
    rows are numbered from the top, where the first one is drawn; Warp numbers them from below.
    Entries that were not evaluated are hatched. The arguments are a function and its inputs; Warp
    takes a kernel or a record of its arguments.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.outputs import Outputs
from gradcheck_ref.structure.parts import Part

# Beside a Jacobian of 400 rows, a Jacobian of one row would be too thin to see.
SMALLEST_SHARE = 0.15

# An image with more lines than this between its entries would show nothing but lines.
MOST_LINES = 40

# Values more than this many decades below the largest share one color.
DECADES = 12.0


def jacobian_plot(
    jacobians: Mapping[tuple[int, int], Array],
    function: Callable[..., Any],
    inputs: Any,
    *,
    show_plot: bool = True,
    show_colorbar: bool = True,
    scale_colors_per_submatrix: bool = False,
    title: str | None = None,
    colormap: str = "coolwarm",
    log_scale: bool = False,
) -> Any:
    """Draw Jacobians as a grid of images.

    Parameters
    ----------
    jacobians : mapping
        As `jacobian` and `jacobian_fd` return them: for (input, output), by position, an array of
        shape (size of the output, size of the input). Pairs may be missing.
    function, inputs : callable, array_like
        The function and its inputs, for the names and the lines between entries.
    show_plot : bool, default True
        Show the figure with pyplot, which waits until its window is closed.
    show_colorbar : bool, default True
        Draw the scale of the colors.
    scale_colors_per_submatrix : bool, default False
        Give each image its own range of colors; otherwise one range serves all.
    title : str, optional
        The heading.
    colormap : str, default "coolwarm"
        Any of matplotlib's.
    log_scale : bool, default False
        Color the logarithms of the absolute values, instead of the signed values.

    Returns
    -------
    matplotlib.figure.Figure
        The figure. Entries that are not finite, or were not evaluated, are hatched.

    Raises
    ------
    ValueError
        If there are no Jacobians, or one does not fit its input and output.
    ImportError
        If matplotlib is not installed.

    Notes
    -----
    Cost: one evaluation of f.

    Thick lines separate the entries of arrays, thin ones the two coordinates of a complex entry.

    Examples
    --------
    >>> import numpy as np
    >>> from gradcheck_ref.compat.warp import jacobian_fd
    >>> x = np.array([1.0, 2.0])
    >>> found = jacobian_fd(np.square, x)
    >>> figure = jacobian_plot(found, np.square, x, show_plot=False)  # doctest: +SKIP
    >>> figure.savefig("jacobian.png")  # doctest: +SKIP
    """
    given = Inputs(function, inputs)
    outputs = Outputs(given.call(function, given.copies()), given.dtype)
    _check(jacobians, given, outputs)
    columns, rows = sorted({i for i, _ in jacobians}), sorted({j for _, j in jacobians})
    widths = [given.parts[i].size for i in columns]
    heights = [outputs.parts[j].size for j in rows]
    figure = _figure(show_plot, figsize=(_inches(widths) + 1, _inches(heights)))
    grid = figure.subplots(
        len(rows),
        len(columns),
        squeeze=False,
        width_ratios=_shares(widths),
        height_ratios=_shares(heights),
    )
    norm = _norm(list(jacobians.values()), log_scale)
    extend = "min" if log_scale else "neither"
    for row, j in enumerate(rows):
        for column, i in enumerate(columns):
            axis = grid[row, column]
            if row == len(rows) - 1:
                axis.set_xlabel(given.names[i])
            if column == 0:
                axis.set_ylabel(f"output_{j}")
            if (i, j) not in jacobians:
                _leave_blank(axis)
                continue
            if scale_colors_per_submatrix:
                norm = _norm([jacobians[i, j]], log_scale)
            image = _image(axis, jacobians[i, j], norm, colormap)
            _lines(axis.axvline, given.parts[i])
            _lines(axis.axhline, outputs.parts[j])
            if show_colorbar and scale_colors_per_submatrix:
                figure.colorbar(image, ax=axis, extend=extend)
    if show_colorbar and not scale_colors_per_submatrix:
        figure.colorbar(image, ax=grid.ravel().tolist(), extend=extend)
    if title is not None:
        figure.suptitle(title)
    if show_plot:
        from matplotlib import pyplot

        pyplot.show()
    return figure


def _check(jacobians: Mapping[tuple[int, int], Array], given: Inputs, outputs: Outputs) -> None:
    if not jacobians:
        raise ValueError("jacobians is empty: there is nothing to draw")
    for (i, j), matrix in jacobians.items():
        if i not in given.parts or j not in outputs.parts:
            raise ValueError(f"jacobians has the pair {(i, j)}, which the function does not have")
        shape = outputs.parts[j].size, given.parts[i].size
        if np.shape(matrix) != shape:
            raise ValueError(
                f"the Jacobian {(i, j)} has shape {np.shape(matrix)}, but that of this function "
                f"has shape {shape}"
            )
        if not np.size(matrix):
            raise ValueError(f"the Jacobian {(i, j)} is empty: there is nothing to draw")


def _figure(show_plot: bool, **options: Any) -> Any:
    """Make a figure; pyplot knows and keeps it only if pyplot will show it."""
    try:
        from matplotlib import pyplot
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "jacobian_plot needs matplotlib, which is not installed: "
            "pip install 'gradcheck-ref[plot]'"
        ) from error
    return (pyplot.figure if show_plot else Figure)(layout="constrained", **options)


def _inches(sizes: list[int]) -> float:
    """Return room for images of these sizes: a quarter inch for an entry, within reason."""
    return float(np.clip(1.5 + sum(sizes) / 4, 2.0 + len(sizes), 10.0))


def _shares(sizes: list[int]) -> list[float]:
    return [max(size / max(sizes), SMALLEST_SHARE) for size in sizes]


def _norm(matrices: list[Array], log_scale: bool) -> Any:
    """Return the range of colors for all finite values in these matrices."""
    from matplotlib.colors import LogNorm, Normalize

    values = np.abs(np.concatenate([np.ravel(matrix) for matrix in matrices]))
    values = values[np.isfinite(values) & (values > 10**DECADES * np.finfo(float).tiny)]
    most = float(values.max(initial=0.0)) or 1.0
    if not log_scale:
        return Normalize(-most, most)
    least = max(float(values.min(initial=most)), most / 10**DECADES)
    return LogNorm(least if least < most else most / 10, most)


def _image(axis: Any, matrix: Array, norm: Any, colormap: str) -> Any:
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import MaxNLocator

    values = np.asarray(matrix, float)
    if isinstance(norm, LogNorm):  # zero has no logarithm: it gets the smallest value's color
        values = np.clip(np.abs(values), norm.vmin, None)
    axis.patch.set(facecolor="white", edgecolor="0.6", hatch="////")  # shows through NaN
    for one in (axis.xaxis, axis.yaxis):
        one.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    return axis.imshow(values, norm=norm, cmap=colormap, aspect="auto", interpolation="nearest")


def _lines(draw: Callable[..., Any], part: Part) -> None:
    """Draw lines between the entries of an array, thin ones inside a complex entry."""
    if part.size > MOST_LINES:
        return
    for k in range(1, part.size):
        inside = part.is_complex and k % 2
        draw(k - 0.5, color="black", linewidth=0.3 if inside else 0.9)


def _leave_blank(axis: Any) -> None:
    """Draw nothing for a pair without a Jacobian, but keep the names at the margin."""
    axis.set(xticks=[], yticks=[], facecolor="none")
    axis.spines[:].set_visible(False)
