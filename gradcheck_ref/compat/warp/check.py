"""``gradcheck``: the two Jacobians, entry by entry, and the table that Warp prints."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcheck_ref.arguments import as_tolerance, index_text, product_of
from gradcheck_ref.compat.warp.jacobians import EPS, Mask, jacobian, jacobian_fd, limit, name_of
from gradcheck_ref.compat.warp.plot import jacobian_plot
from gradcheck_ref.compat.warp.table import Row, print_summary, relative_error
from gradcheck_ref.stage4_allclose import allclose
from gradcheck_ref.structure.inputs import Inputs

# Warp's own, made for float32: for a function near 1, rounding adds 6e-8 / EPS = 6e-4 there.
ATOL = 1e-3
RTOL = 1e-2


def gradcheck(
    function: Callable[..., Any],
    inputs: Any,
    *,
    vjp: Callable[..., Any] | None = None,
    eps: float = EPS,
    atol: float = ATOL,
    rtol: float = RTOL,
    raise_exception: bool = True,
    input_output_mask: Mask | None = None,
    max_inputs_per_var: int = -1,
    max_outputs_per_var: int = -1,
    plot_relative_error: bool = False,
    plot_absolute_error: bool = False,
    show_summary: bool = True,
) -> bool:
    """Check the Jacobians of a function, and print a summary.

    Parameters
    ----------
    function : callable
        ``function(x)``, ``function(*inputs)`` or ``function(**inputs)`` returns a number, an array,
        or a tuple of them. It gets fresh copies each time.
    inputs : array_like, sequence or mapping
        The point: one array or number, several in order, or several by name. Floating and complex
        arrays of any shape are differentiated; anything else is constant. Never written.
    vjp : callable, optional
        ``vjp(upstream, *inputs)`` returns the gradient of ``sum(function * upstream)``: an array of
        its input's shape for each input, None for zero. By default the attribute ``function.vjp``.
    eps : float, default 1e-4
        The step, in the unit of the inputs.
    atol, rtol : float, default 1e-3 and 1e-2
        An entry may be off by ``atol + rtol * |FD|``.
    raise_exception : bool, default True
        Whether to raise if the gradient fails; otherwise False is returned.
    input_output_mask : sequence of (input, output), optional
        The pairs to check, each by its name in the table or by its position among the inputs and
        among the outputs; by default all.
    max_inputs_per_var, max_outputs_per_var : int, default -1
        Evaluate only this many entries of each input and each output; all, if not positive.
    plot_relative_error, plot_absolute_error : bool, default False
        Show the errors with `jacobian_plot`.
    show_summary : bool, default True
        Print the table. It has colors only on a terminal, and not if NO_COLOR is set.

    Returns
    -------
    bool
        Whether every entry that was compared is close.

    Raises
    ------
    ValueError
        If the gradient fails; the message names every pair that does (unless
        ``raise_exception=False``). In any case: if there is nothing to compare for a pair, the mask
        names no pair, the vjp gives the wrong number of gradients or a wrong shape, a number is out
        of range, the step is too small to change an input, or an input is not finite.
    TypeError
        If there is no vjp, an argument is of the wrong kind, no input can be differentiated, or
        function or vjp return something other than numbers.
    ImportError
        If you ask for a plot and matplotlib is not installed.

    Notes
    -----
    Cost: 2 evaluations of f for each real coordinate that is moved, 2 at the point, and one more
    for each plot. For each pair one call of the vjp for each real coordinate of the output that is
    evaluated.

    The check does not test the two errors in the table. Until Warp 1.7.0 its documentation said
    that the check fails if the relative *or* the absolute error exceeds its limit, but the code has
    been `numpy.allclose`, which *adds* the limits. So a user got the row of the last example, with
    a relative error of 1587 and PASS, and asked why (issue 508 of NVIDIA/warp). AD and FD in a row
    belong to the largest absolute error: 1.751e-04, of 1.002e-03 allowed. The relative error there
    is 0.78; 1587 belongs to another entry, as in the example, where FD is 0 and AD is 1.587e-05.
    Any error below ``atol`` passes, however large it is relative to the entry. Since 1.7.1 the
    documentation says so.

    The relative error is ``max |(AD - FD) / (FD + 1e-8)|``.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 2.0])
    >>> gradcheck(np.square, x, vjp=lambda upstream, x: 2 * x * upstream, show_summary=False)
    True
    >>> gradcheck(np.square, x, vjp=lambda upstream, x: 3 * x * upstream, raise_exception=False)
    Input | Output   | Max Abs Error       | AD at MAE | FD at MAE | Max Rel Error | Pass
    -------------------------------------------------------------------------------------
    x     | output_0 | 2.000e+00 at (1, 1) | 6.000e+00 | 4.000e+00 | 5.000e-01     | FAIL
    Gradient check for function square failed
    False

    The row of issue 508:

    >>> def f(actions):
    ...     return np.array([2.235e-4, 0.0]) * actions
    >>> def vjp(upstream, actions):
    ...     return np.array([4.840e-5, 1.587e-5]) @ upstream
    >>> gradcheck(f, np.array(0.0), vjp=vjp)
    Input   | Output   | Max Abs Error       | AD at MAE | FD at MAE | Max Rel Error | Pass
    ---------------------------------------------------------------------------------------
    actions | output_0 | 1.751e-04 at (0, 0) | 4.840e-05 | 2.235e-04 | 1.587e+03     | PASS
    Gradient check for function f passed
    True
    """
    vjp = product_of(function, "function", vjp, "vjp")
    rtol, atol = as_tolerance(rtol, "rtol"), as_tolerance(atol, "atol")
    evaluated = np.s_[
        : limit(max_outputs_per_var, "max_outputs_per_var"),
        : limit(max_inputs_per_var, "max_inputs_per_var"),
    ]
    numeric = jacobian_fd(
        function,
        inputs,
        input_output_mask=input_output_mask,
        max_inputs_per_var=max_inputs_per_var,
        eps=eps,
    )
    analytic = jacobian(
        function,
        inputs,
        vjp=vjp,
        input_output_mask=input_output_mask,
        max_outputs_per_var=max_outputs_per_var,
    )
    names = Inputs(function, inputs).names
    rows = []
    for i, j in numeric:
        ad, fd = analytic[i, j][evaluated], numeric[i, j][evaluated]
        rows.append(Row(i, j, names[i], allclose(ad, fd, rtol=rtol, atol=atol)))
    _refuse_empty(rows)

    if show_summary:
        print_summary(name_of(function), rows)
    for name, error in (
        ("relative error", relative_error if plot_relative_error else None),
        ("absolute error", np.subtract if plot_absolute_error else None),
    ):
        if error:
            errors = {pair: np.abs(error(analytic[pair], numeric[pair])) for pair in numeric}
            title = f"{name} of the Jacobian of {name_of(function)}"
            jacobian_plot(errors, function, inputs, title=title, log_scale=True)
    failing = [row for row in rows if not row.compared]
    if failing and raise_exception:
        unmoved = all((row.compared.numeric == 0).all() for row in rows)
        raise ValueError(_message(name_of(function), failing, unmoved))
    return not failing


def _refuse_empty(rows: Sequence[Row]) -> None:
    """Refuse a pair without entries: it would pass with nothing compared."""
    for row in rows:
        if not row.compared.count:
            raise ValueError(
                f"there is nothing to compare for {row.pair}: the output or the input is empty; "
                "leave the pair out with input_output_mask"
            )


def _message(name: str, failing: Sequence[Row], unmoved: bool) -> str:
    """Name every pair that fails, and its worst entry."""
    lines = [f"Gradient check of {name} failed:"]
    for row in failing:
        analytic, numeric = np.isnan(row.compared.analytic), np.isnan(row.compared.numeric)
        if analytic.any():
            why = f"the result of vjp contains NaN {_count(analytic)}"
        elif numeric.any():
            why = f"the function is not finite near the point: FD is NaN {_count(numeric)}"
        else:
            why = f"AD and FD do not match: {row.compared}"
        lines.append(f"{row.pair}: {why}")
    if unmoved:
        lines.append(
            "No output changed with any input. If you expected a change: does the function compute "
            "from its arguments? They are copies."
        )
    return "\n".join(lines)


def _count(nan: NDArray[np.bool_]) -> str:
    """Say where the first NaN is, and how many there are."""
    first = index_text(np.argwhere(nan)[0])
    return f"at {first} ({np.count_nonzero(nan)} of {nan.size} entries)"
