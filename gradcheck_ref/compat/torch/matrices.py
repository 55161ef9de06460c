"""The two Jacobians that torch shows: ``get_numerical_jacobian`` and ``get_analytical_jacobian``.

`gradcheck` gives a verdict; these functions return the matrices for you to look at. torch plans to
remove its own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, as_function, as_step
from gradcheck_ref.compat.torch.calls import Calls, as_tuple, insist_on_floating
from gradcheck_ref.compat.torch.jacobian import (
    apart_in_two_runs,
    gradient_of_part,
    numeric_jacobian,
    one_hot,
    side_by_side,
)

# The step of torch's function, which is older than `gradcheck`.
EPS = 1e-3


def get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, target: Any = None, eps: float = EPS, grad_out: float = 1.0
) -> tuple[Array, ...]:
    """Return the Jacobians of a function's first output by central differences.

    Parameters
    ----------
    fn : callable
        ``fn(inputs)`` takes **one tuple** and returns a real array, or a tuple; only its first
        array counts.
    inputs : ndarray or sequence
        As for `gradcheck`. Never written.
    target : ndarray or sequence, optional
        The inputs to differentiate, as the very same arrays. By default all.
    eps : float, default 1e-3
        The step.
    grad_out : float, default 1
        Only 1 is allowed.

    Returns
    -------
    tuple of ndarray, shapes (entries of the input, entries of the output)
        One for each floating or complex input, or target.

    Raises
    ------
    ValueError
        If fn returns complex numbers, ``grad_out`` is not 1, ``eps`` is not positive, a target is
        not one of the inputs, or nothing can be differentiated.
    GradcheckError
        If a step does not move an entry, or fn writes to its inputs.
    AssertionError
        If fn changes the shape or dtype of its output.

    Notes
    -----
    Cost: 1 evaluation of f, here fn, and 2 for each entry of the inputs, 4 if it is complex.

    The gradient of a real L with respect to ``z = x + i y`` is ``dL/dx + i dL/dy``.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 2.0])
    >>> (jacobian,) = get_numerical_jacobian(lambda inputs: inputs[0] ** 2, x)
    >>> print(np.round(jacobian, 6))
    [[2. 0.]
     [0. 4.]]
    """
    _insist_on_one(grad_out)
    as_function(fn, "fn")
    eps = as_step(eps, "eps")
    given = as_tuple(inputs)
    insist_on_floating(given)
    calls = Calls({"func": lambda *inputs: fn(inputs)}, given)
    _insist_on_real(calls)
    wanted = calls.checked
    if target is not None:
        targets = as_tuple(target)
        wanted = [k for k in calls.checked if any(given[k] is one for one in targets)]
        if len(wanted) < len(targets):
            raise ValueError(
                "target must hold some of the floating or complex inputs, as the very same arrays: "
                "the steps are made on copies of the inputs, so no other array moves"
            )
    return tuple(
        gradient_of_part(numeric_jacobian(calls, k, eps), calls.counted[0], "real") for k in wanted
    )


def get_analytical_jacobian(
    inputs: Any,
    output: Any,
    nondet_tol: float = 0.0,
    grad_out: float = 1.0,
    *,
    vjp: Callable[..., Any],
) -> tuple[tuple[Array, ...], bool, bool, bool]:
    """Return the Jacobians that a vjp claims, and whether its gradients fit the inputs.

    Parameters
    ----------
    inputs : ndarray or sequence
        As for `gradcheck`. Never written.
    output : array_like
        The function's output at the inputs: one real array. Only its shape counts.
    nondet_tol : float, default 0
        The largest difference allowed between two runs.
    grad_out : float, default 1
        Only 1 is allowed.
    vjp : callable
        As for `gradcheck`. (In torch the output carries its backward.)

    Returns
    -------
    jacobians : tuple of ndarray, shapes (entries of the input, entries of the output)
        One for each floating or complex input; NaN if a gradient does not fit its input.
    reentrant : bool
        Whether two runs of the vjp agree.
    correct_grad_sizes : bool
        Whether all gradients have the shapes of their inputs.
    correct_grad_types : bool
        Whether all gradients have the dtypes of their inputs.

    Raises
    ------
    ValueError
        If output is complex, ``grad_out`` is not 1, or nothing can be differentiated.
    GradcheckError
        If vjp writes to its inputs, or does not return one gradient for each.
    TypeError
        If a gradient does not hold numbers.

    Notes
    -----
    Cost: no evaluation of f; the vjp is called twice for each entry of the output.

    torch 2.13 returns the last two in the other order, by mistake.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 2.0])
    >>> (jacobian,), *fits = get_analytical_jacobian(x, x**2, vjp=lambda u, x: 2 * x * u)
    >>> print(jacobian, fits)
    [[2. 0.]
     [0. 4.]] [True, True, True]
    """
    _insist_on_one(grad_out)
    insist_on_floating(as_tuple(inputs))
    functions = {"func": lambda *_: output, "vjp": as_function(vjp, "vjp")}
    calls = Calls(functions, as_tuple(inputs))
    _insist_on_real(calls)
    arrays = [calls.inputs[k] for k in calls.checked]
    runs = [
        [calls.pull({0: unit}, f"for output 0{at}") for unit, at in one_hot(calls.outputs[0], 1)]
        for _ in range(2)
    ]
    pairs = [pair for run in runs for row in run for pair in zip(row, arrays, strict=True)]
    first, second = (
        side_by_side(calls, [list(map(_fitted, row, arrays)) for row in run]) for run in runs
    )
    apart = max(map(apart_in_two_runs, first, second))
    return (
        tuple(first),
        apart <= nondet_tol,
        all(gradient.shape == x.shape for gradient, x in pairs),
        all(gradient.dtype == x.dtype for gradient, x in pairs),
    )


def _fitted(gradient: Array, x: Array) -> Array:
    """Return a gradient, or NaN if it does not fit its input."""
    to_real = gradient.dtype.kind == "c" and x.dtype.kind == "f"
    if gradient.shape == x.shape and not to_real:
        return gradient
    return np.full(x.shape, np.nan)


def _insist_on_one(grad_out: float) -> None:
    if grad_out != 1:
        raise ValueError(f"grad_out must be 1, not {grad_out}: scale the Jacobian yourself")


def _insist_on_real(calls: Calls) -> None:
    """Refuse a complex output, and outputs without a derivative."""
    if any(y.dtype.kind == "c" for y in calls.outputs):
        raise ValueError(
            "the output is complex: make one call for its real part and one for its imaginary part"
        )
    if not calls.counted:
        raise ValueError("the output holds no floating point numbers: it has no derivative")
