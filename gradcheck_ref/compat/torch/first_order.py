"""``gradcheck``: compare a vjp or jvp with central differences, and test torch's other demands."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from typing import Any

from gradcheck_ref.arguments import as_function, as_number, as_step, as_tolerance, product_of
from gradcheck_ref.compat.torch.calls import (
    Calls,
    GradcheckError,
    as_tuple,
    insist_on_floating,
    look_at_arrays,
)
from gradcheck_ref.compat.torch.compare import Rule, compare
from gradcheck_ref.compat.torch.demands import (
    insist_on_batches,
    insist_on_zero_for_undefined,
    insist_on_zero_for_undefined_tangents,
    insist_on_zero_for_zeros,
)

# torch's defaults, meant for double precision. With a step of 1e-6 a central difference has about
# 1e-10 of rounding error, and a truncation error far below rtol unless f oscillates fast.
EPS, ATOL, RTOL = 1e-6, 1e-5, 1e-3


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    vjp: Callable[..., Any] | None = None,
    jvp: Callable[..., Any] | None = None,
    eps: float = EPS,
    atol: float = ATOL,
    rtol: float = RTOL,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check a vjp, a jvp or both against central differences, as ``torch.autograd.gradcheck`` does.

    Parameters
    ----------
    func : callable
        ``func(*inputs)`` returns a number or array, real or complex, or a tuple of them. It gets
        fresh copies each time.
    inputs : ndarray or sequence
        One array, or a tuple or list of inputs. Floating and complex arrays (or NumPy scalars)
        are checked; everything else is constant. Never written.
    vjp : callable, optional
        ``vjp(upstream, *inputs)``: ``upstream`` has the shape of the output, and is a tuple for
        several outputs. It returns one gradient for each input, as a tuple for several inputs; None
        for a constant, or for zeros. By default ``func.vjp``.
    jvp : callable, optional
        ``jvp(tangent, *inputs)``: ``tangent`` has the shape of the input, and is a tuple for
        several inputs. It returns arrays like those of func. By default ``func.jvp``.
    eps : float, default 1e-6
        The step, for inputs of any scale.
    atol, rtol : float, default 1e-5, 1e-3
        ``|analytic - numeric| <= atol + rtol * |numeric|`` passes.
    raise_exception : bool, default True
        Whether to raise a `GradcheckError` or return False. Other errors are always raised.
    nondet_tol : float, default 0
        The largest difference allowed between two runs of the vjp.
    check_undefined_grad : bool, default True
        Whether undefined cotangents, and tangents, must count as zeros.
    check_grad_dtypes : bool, default False
        Whether gradients must have the dtypes of the inputs.
    check_batched_grad, check_batched_forward_grad : bool, default False
        Whether the vjp, or the jvp, must take a batch of cotangents, or tangents, in one call:
        arrays with a new first axis, which the results must have and the inputs do not have.
    check_forward_ad : bool, default False
        Whether the jvp is checked.
    check_backward_ad : bool, default True
        Whether the vjp is checked.
    fast_mode : bool, default False
        Whether to compare random projections of the Jacobians instead of all entries.
    masked : bool, optional
        For masked arrays. By default masked entries are 0 and are moved like the others. If True,
        they stay masked, their gradients must be zero, and cotangents of zeros must give zeros only
        up to rounding.

    Returns
    -------
    bool
        True. With ``raise_exception=False``, False if a `GradcheckError` would be raised.

    Raises
    ------
    GradcheckError
        If slopes differ, or the vjp or jvp fails another test. It is a ``RuntimeError``.
    AssertionError
        If the flags contradict each other, or func changes the shape or dtype of its output.
    ValueError
        If nothing can be compared, an output is a masked array, or a tolerance is out of range.
    RuntimeError
        If an input overlaps itself in memory, as broadcast arrays do.
    TypeError
        If the vjp or jvp to be checked is missing, or an array or result does not hold numbers.

    Notes
    -----
    Cost: 1 evaluation of func, and 2 for each entry of the inputs, 4 if it is complex. The vjp is
    called twice for each entry of the outputs, 4 times if it is complex, and twice more, plus once
    for each of several outputs. The jvp is called once for each entry of the inputs and twice more
    for each input; this doubles if the input is complex.

    In fast mode: 1 evaluation of func and 2 for each input, the vjp twice for each output, the jvp
    once for each input, with the same additions and the same factors for complex numbers.

    Order: vjp against differences (imaginary parts of complex outputs first), jvp against
    differences, undefined tangents, batched tangents, batched cotangents, cotangents of zeros,
    undefined cotangents.

    Source: the behavior of ``torch.autograd.gradcheck``, version 2.13.

    Errors of func, vjp or jvp are passed on, with a note that says where the call was. An input of
    less than double precision gives a ``UserWarning``.

    Examples
    --------
    >>> import textwrap
    >>> import numpy as np
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> gradcheck(lambda x: x**3, x, vjp=lambda upstream, x: upstream * 3 * x**2)
    True
    >>> try:
    ...     gradcheck(lambda x: x**3, x, vjp=lambda upstream, x: upstream * 3 * x)
    ... except GradcheckError as error:
    ...     print(textwrap.fill(str(error), 80))
    Jacobian mismatch of vjp for output 0 with respect to input 0: 2 of 9 entries
    differ; worst at [0, 0]: analytic 1.5, numeric 0.75, error 0.75, allowed 0.00076
    by rtol. Row 0, column 0 is d output 0[0] / d input 0[0]
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("nothing to check: set check_forward_ad or check_backward_ad")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("check_batched_grad needs check_backward_ad")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("check_batched_forward_grad needs check_forward_ad")
    functions = {"func": as_function(func, "func")}
    if check_backward_ad:
        functions["vjp"] = product_of(func, "func", vjp, "vjp")
    if check_forward_ad:
        functions["jvp"] = product_of(func, "func", jvp, "jvp")
    rule = as_rule(eps, rtol, atol, nondet_tol)
    inputs = as_tuple(inputs)
    look_at_arrays(inputs, "input")
    insist_on_floating(inputs)
    with nullcontext() if raise_exception else suppress(GradcheckError):
        make_all_tests(
            Calls(functions, inputs, masked=bool(masked), check_grad_dtypes=check_grad_dtypes),
            rule,
            fast_mode,
            check_undefined_grad,
            {"jvp": check_batched_forward_grad, "vjp": check_batched_grad},
        )
        return True
    return False


def make_all_tests(
    calls: Calls, rule: Rule, fast: bool, undefined: bool, batched: Mapping[str, bool]
) -> None:
    """Make all comparisons and tests of the given vjp and jvp, in torch's order."""
    compare(calls, rule, fast)
    if not calls.counted:
        return
    backward, forward = "vjp" in calls.functions, "jvp" in calls.functions
    if forward and undefined:
        insist_on_zero_for_undefined_tangents(calls)
    for which in filter(batched.get, batched):
        insist_on_batches(calls, which)
    if backward:
        insist_on_zero_for_zeros(calls)
    if backward and undefined:
        insist_on_zero_for_undefined(calls)


def as_rule(eps: float, rtol: float, atol: float, nondet_tol: float) -> Rule:
    """Check the step and the tolerances before anything is called."""
    eps, nondet_tol = as_step(eps, "eps"), as_number(nondet_tol, "nondet_tol")
    if not nondet_tol >= 0:
        raise ValueError(f"nondet_tol must be zero or a positive number, not {nondet_tol}")
    return Rule(eps, as_tolerance(rtol, "rtol"), as_tolerance(atol, "atol"), nondet_tol)
