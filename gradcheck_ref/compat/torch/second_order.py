"""``gradgradcheck``: the tests of ``gradcheck``, with the vjp in place of the function."""

from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

from gradcheck_ref.arguments import as_function, product_of
from gradcheck_ref.compat.torch.calls import (
    Calls,
    GradcheckError,
    as_tuple,
    insist_on_floating,
    look_at_arrays,
)
from gradcheck_ref.compat.torch.first_order import ATOL, EPS, RTOL, as_rule, make_all_tests
from gradcheck_ref.compat.torch.gradient_function import SecondOrder, cotangents_for


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    vjp: Callable[..., Any] | None = None,
    vjp_vjp: Callable[..., Any] | None = None,
    vjp_jvp: Callable[..., Any] | None = None,
    eps: float = EPS,
    atol: float = ATOL,
    rtol: float = RTOL,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check the derivative of a vjp, as ``torch.autograd.gradgradcheck`` does.

    It runs the tests of `gradcheck` on the vjp, which is a function of the inputs and of the
    cotangents of the outputs. **The vjp itself is not checked**: if the vjp is wrong and its
    derivative is the derivative of that wrong vjp, the check passes.

    Parameters
    ----------
    func : callable
        As for `gradcheck`. Called once, for the shapes of its outputs.
    inputs : ndarray or sequence
        As for `gradcheck`.
    grad_outputs : ndarray or sequence, optional
        The cotangents: one for each output, None for an undefined cotangent or an integer output.
        By default random numbers in [-1, 1).
    vjp : callable, optional
        As for `gradcheck`.
    vjp_vjp : callable, optional
        ``vjp_vjp(upstream, *inputs, *grad_outputs)``, the vjp of ``vjp``: ``upstream`` has the form
        of ``vjp``'s result, with None at the same places. It returns a tuple with a gradient for
        each input and each of the grad_outputs. Undefined grad_outputs arrive as zeros, or as None
        if it has an attribute ``materialize_grads`` that is False; those of integer outputs always
        arrive as None. By default ``func.vjp_vjp``.
    vjp_jvp : callable, optional
        ``vjp_jvp(tangent, *inputs, *grad_outputs)``, the jvp of ``vjp``: ``tangent`` is a tuple. It
        returns arrays like those of ``vjp``. By default ``func.vjp_jvp``.
    eps, atol, rtol : float, default 1e-6, 1e-5, 1e-3
        As for `gradcheck`.
    gen_non_contig_grad_outputs : bool, default False
        Whether the random grad_outputs have gaps in memory.
    raise_exception, nondet_tol, check_undefined_grad : bool, float, bool, default True, 0, True
        As for `gradcheck`.
    check_grad_dtypes, check_batched_grad : bool, default False
        As for `gradcheck`.
    check_fwd_over_rev : bool, default False
        Whether ``vjp_jvp`` is checked.
    check_rev_over_rev : bool, default True
        Whether ``vjp_vjp`` is checked.
    fast_mode, masked : bool, default False
        As for `gradcheck`.

    Returns
    -------
    bool
        True. With ``raise_exception=False``, False if a `GradcheckError` would be raised.

    Raises
    ------
    GradcheckError, AssertionError, ValueError, RuntimeError, TypeError
        As for `gradcheck`. Also an ``AssertionError`` if ``check_undefined_grad`` or
        ``check_batched_grad`` is on and ``check_rev_over_rev`` is off, a ``RuntimeError`` if
        grad_outputs do not fit the outputs, and a ``ValueError`` if no output has a derivative.

    Notes
    -----
    Cost: 1 evaluation of func, and the cost of `gradcheck` with ``vjp`` in place of func and the
    grad_outputs among the inputs.

    Source: the behavior of ``torch.autograd.gradgradcheck``, version 2.13.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> gradgradcheck(
    ...     lambda x: x**3,
    ...     x,
    ...     vjp=lambda upstream, x: upstream * 3 * x**2,
    ...     vjp_vjp=lambda upstream, x, u: (upstream * 6 * x * u, upstream * 3 * x**2),
    ... )
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("nothing to check: set check_fwd_over_rev or check_rev_over_rev")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError(
            "check_undefined_grad needs check_rev_over_rev: set it to False for vjp_jvp alone"
        )
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("check_batched_grad needs check_rev_over_rev")
    functions = {"func": as_function(func, "func"), "vjp": product_of(func, "func", vjp, "vjp")}
    second = {}
    if check_rev_over_rev:
        second["vjp"] = product_of(func, "func", vjp_vjp, "vjp_vjp")
    if check_fwd_over_rev:
        second["jvp"] = product_of(func, "func", vjp_jvp, "vjp_jvp")
    rule = as_rule(eps, rtol, atol, nondet_tol)
    inputs = as_tuple(inputs)
    look_at_arrays(inputs, "input")
    insist_on_floating(inputs)
    with nullcontext() if raise_exception else suppress(GradcheckError):
        first = Calls(functions, inputs)
        cotangents = cotangents_for(first, grad_outputs, gen_non_contig_grad_outputs)
        order = SecondOrder(first, cotangents, second)
        make_all_tests(
            Calls(
                order.functions,
                (*inputs, *cotangents),
                masked=masked,
                check_grad_dtypes=check_grad_dtypes,
                names=order.names,
            ),
            rule,
            fast_mode,
            check_undefined_grad,
            {"vjp": check_batched_grad},
        )
        return True
    return False
