"""torch's ``gradcheck`` and ``gradgradcheck``, for NumPy functions with a hand-written derivative.

Idea
    Take central differences with a step of 1e-6 along every entry of the inputs, ask the vjp for
    the same Jacobian, one cotangent (upstream gradient) for each entry of the outputs, and compare
    them entry by entry: ``|analytic - numeric| <= atol + rtol * |numeric|``. Then ask what no
    number shows: is the vjp linear, does it answer the same twice, can it do without a cotangent?
Catches
    Wrong entries of any kind (sign, factor, transpose, mask, missing sum) off by more than 0.1 %
    plus 1e-5, complex conjugates, a vjp that keeps state or writes to its inputs.
Misses
    What is below the tolerances: wrong gradients of ``tiny_loss``, ``square_of_small_x`` and
    ``logarithm_of_large_x`` pass, and so does an error of less than 0.1 %, as in
    ``ridge_regression``. And it blames the gradient for a bad difference: the gradients of
    ``relu_at_zero``, ``square_of_large_x``, ``large_offset``, ``square_root_near_zero``,
    ``float32_layer`` and ``rounded_output`` are right, and fail. Fast mode sees one number for each
    output and input: a mistake in one entry of many may be below its allowance, and one orthogonal
    to its constant vectors is not seen (``very_fast_sine``, ``mixed_magnitudes``). `gradgradcheck`
    does not check the first derivative at all.

*How NumPy says what torch says.* Inputs with ``requires_grad`` are the floating and complex
arrays; to hold one constant, bind it: ``functools.partial``. The backward is ``vjp(upstream,
*inputs)``, the forward derivative ``jvp(tangent, *inputs)``, given or an attribute of func. A
cotangent or tangent that is undefined arrives as zeros, unless the vjp or jvp has an attribute
``materialize_grads`` that is False: then as None. A batch is a new first axis, in one call, where
torch has ``vmap``. A sparse tensor is a masked array.

*Differs on purpose*

- The steps are made on copies: no input is left changed, even if func raises. So func must use its
  argument: what it reads from elsewhere does not move.
- func, vjp or jvp that writes to its inputs fails with that sentence: torch passes, or fails with
  odd numbers.
- Slopes are divided by the step that was taken, ``(x + eps) - (x - eps)``, not by ``2 * eps``: at
  x = 1.23e10 torch gets 1.907 for the identity. A step that does not move x at all fails.
- Nothing compared is a ``ValueError``, also where inputs or outputs are empty: torch passes.
- No infinity agrees with anything; for torch it agrees with itself. NaN in the second of two runs
  is not the same as a number.
- Integer outputs are left out by position, wherever they stand; if there are no others, they must
  not change, in slow mode too.
- Outputs may be numbers; None, a dict or a text is a ``TypeError``, not an ``AttributeError``. A
  jvp may return None for zeros.
- Arrays that overlap themselves are refused whatever their strides; inputs that share memory are
  moved one by one.
- No engine repairs the gradients: a broadcast shape is not summed, and a wrong shape or number of
  gradients, or a complex gradient of a real input, is a ``GradcheckError``, where torch's engine
  has its own ``RuntimeError``. The dtype is converted unless ``check_grad_dtypes`` (a flag that
  torch 2.13 mixes up with that of the size).
- A step that is not positive, or a tolerance that is not finite or negative, is a ``ValueError``
  before anything is called.
- ``grad_outputs`` may hold None, as torch's documentation says, and must be as many as the outputs.
  Integers among them are made floating; torch does not check slopes with respect to those.
  Without an output that has a derivative `gradgradcheck` says so, and not that an argument is
  missing.
- What is random (u and v of fast mode, batches, grad_outputs) comes from NumPy's generator with a
  constant seed: not torch's numbers, and always the same.
- Messages name the worst entry and do not print the matrices; the error on undefined cotangents
  comes without a warning, and nothing warns that ``get_numerical_jacobian`` is deprecated.
"""

from collections.abc import Callable
from typing import Any

from gradcheck_ref.arguments import as_function, as_number, as_step, as_tolerance
from gradcheck_ref.compat.torch_calls import (
    Calls,
    GradcheckError,
    as_tuple,
    insist_on_floating,
    look_at_arrays,
)
from gradcheck_ref.compat.torch_compare import Rule, compare
from gradcheck_ref.compat.torch_demands import (
    insist_on_batched_cotangents,
    insist_on_batched_tangents,
    insist_on_zero_for_undefined,
    insist_on_zero_for_undefined_tangents,
    insist_on_zero_for_zeros,
)
from gradcheck_ref.compat.torch_matrices import get_analytical_jacobian, get_numerical_jacobian
from gradcheck_ref.compat.torch_second_order import SecondOrder, cotangents_for

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "gradcheck",
    "gradgradcheck",
]

# torch's defaults, meant for double precision. A step of 1e-6 leaves a central difference about
# 1e-10 of rounding error, and a truncation error far below rtol unless f is fast.
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
        several. It returns one gradient for each input, as a tuple for several; None for a
        constant, or for zeros. By default ``func.vjp``.
    jvp : callable, optional
        ``jvp(tangent, *inputs)``: ``tangent`` has the shape of the input, and is a tuple for
        several. It returns what func returns. By default ``func.jvp``.
    eps : float, default 1e-6
        The step, for inputs of any scale.
    atol, rtol : float, default 1e-5, 1e-3
        ``|analytic - numeric| <= atol + rtol * |numeric|`` passes.
    raise_exception : bool, default True
        Whether to raise a `GradcheckError`, or return False in its place. All else is raised.
    nondet_tol : float, default 0
        By how much two runs of the vjp may differ.
    check_undefined_grad : bool, default True
        Whether undefined cotangents, and tangents, must count as zeros.
    check_grad_dtypes : bool, default False
        Whether gradients must have the dtypes of the inputs.
    check_batched_grad, check_batched_forward_grad : bool, default False
        Whether the vjp, or the jvp, must take a batch of cotangents, or tangents, in one call:
        arrays with a new first axis, which the inputs have not and the results must have.
    check_forward_ad : bool, default False
        Whether the jvp is checked.
    check_backward_ad : bool, default True
        Whether the vjp is checked.
    fast_mode : bool, default False
        Whether to compare random projections of the Jacobians in the place of all entries.
    masked : bool, optional
        For masked arrays. By default masked entries are 0 and are moved like the others; if True
        they stay masked, their gradients must be zero, and cotangents of zeros need to give zeros
        only up to rounding.

    Returns
    -------
    bool
        True. With ``raise_exception=False``, False where a `GradcheckError` would be raised.

    Raises
    ------
    GradcheckError
        If slopes differ, or the vjp or jvp fails another test. A ``RuntimeError``.
    AssertionError
        If the flags contradict each other, or func changes the shape or dtype of its output.
    ValueError
        If nothing can be compared, an output is a masked array, or a tolerance is out of range.
    RuntimeError
        If an input overlaps itself in memory, as broadcast arrays do.
    TypeError
        If the vjp or jvp that is to be checked is missing, or something holds no numbers.

    Notes
    -----
    Cost: 1 evaluation of func, and 2 for each entry of the inputs, 4 if it is complex. The vjp is
    called twice for each entry of the outputs, 4 times if it is complex, and twice more, plus once
    for each of several outputs; the jvp once for each entry of the inputs and twice more for each
    input, all doubled if it is complex.

    In fast mode: 1 evaluation of func and 2 for each input, the vjp twice for each output, the jvp
    once for each input, with the same additions, and factors for complex numbers.

    Order: vjp against differences (imaginary parts of complex outputs first), jvp against
    differences, undefined tangents, batched tangents, batched cotangents, cotangents of zeros,
    undefined cotangents.

    Source: the behaviour of ``torch.autograd.gradcheck``, version 2.13.

    What func, vjp or jvp raise is passed on, with a note of where they were called. An input of
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
        functions["vjp"] = _product(func, vjp, "vjp")
    if check_forward_ad:
        functions["jvp"] = _product(func, jvp, "jvp")
    rule = _rule(eps, rtol, atol, nondet_tol)
    inputs = as_tuple(inputs)
    look_at_arrays(inputs, "input")
    insist_on_floating(inputs)
    try:
        _check(
            Calls(functions, inputs, masked=bool(masked), check_grad_dtypes=check_grad_dtypes),
            rule,
            undefined=check_undefined_grad,
            batched=check_batched_grad,
            batched_forward=check_batched_forward_grad,
            fast=fast_mode,
        )
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


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

    What `gradcheck` does with a function of the inputs, this does with the vjp, a function of the
    inputs and the cotangents of the outputs. **The vjp itself is not checked**: if it is wrong, and
    its derivative is that of the wrong one, the check passes.

    Parameters
    ----------
    func : callable
        As for `gradcheck`. Called once, for the shapes of its outputs.
    inputs : ndarray or sequence
        As for `gradcheck`.
    grad_outputs : ndarray or sequence, optional
        The cotangents: one for each output, None for one that is to be undefined or for an integer
        output. By default random numbers in [-1, 1).
    vjp : callable, optional
        As for `gradcheck`.
    vjp_vjp : callable, optional
        ``vjp_vjp(upstream, *inputs, *grad_outputs)``, the vjp of ``vjp``: ``upstream`` is arranged
        as what ``vjp`` returns, with None where that is None. It returns a tuple with a gradient
        for each input and each of the grad_outputs. Undefined grad_outputs arrive as zeros, unless
        it has an attribute ``materialize_grads`` that is False; those of integer outputs as None.
        By default ``func.vjp_vjp``.
    vjp_jvp : callable, optional
        ``vjp_jvp(tangent, *inputs, *grad_outputs)``, the jvp of ``vjp``: ``tangent`` is a tuple. It
        returns what ``vjp`` returns. By default ``func.vjp_jvp``.
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
        True. With ``raise_exception=False``, False where a `GradcheckError` would be raised.

    Raises
    ------
    GradcheckError, AssertionError, ValueError, RuntimeError, TypeError
        As `gradcheck` does. Also an ``AssertionError`` if ``check_undefined_grad`` or
        ``check_batched_grad`` is on and ``check_rev_over_rev`` is not, a ``RuntimeError`` if
        grad_outputs do not fit the outputs, and a ``ValueError`` if no output has a derivative.

    Notes
    -----
    Cost: 1 evaluation of func; else that of `gradcheck`, with ``vjp`` in the place of func and the
    grad_outputs among the inputs.

    Source: the behaviour of ``torch.autograd.gradgradcheck``, version 2.13.

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
    functions = {"func": as_function(func, "func"), "vjp": _product(func, vjp, "vjp")}
    second = {}
    if check_rev_over_rev:
        second["vjp"] = _product(func, vjp_vjp, "vjp_vjp")
    if check_fwd_over_rev:
        second["jvp"] = _product(func, vjp_jvp, "vjp_jvp")
    rule = _rule(eps, rtol, atol, nondet_tol)
    inputs = as_tuple(inputs)
    look_at_arrays(inputs, "input")
    insist_on_floating(inputs)
    try:
        first = Calls(functions, inputs)
        cotangents = cotangents_for(first, grad_outputs, gen_non_contig_grad_outputs)
        order = SecondOrder(first, cotangents, second)
        _check(
            Calls(
                order.functions,
                (*inputs, *cotangents),
                masked=masked,
                check_grad_dtypes=check_grad_dtypes,
                names=order.names,
            ),
            rule,
            undefined=check_undefined_grad,
            batched=check_batched_grad,
            batched_forward=False,
            fast=fast_mode,
        )
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check(
    calls: Calls,
    rule: Rule,
    *,
    undefined: bool,
    batched: bool,
    batched_forward: bool,
    fast: bool,
) -> None:
    """Make all comparisons and tests, in torch's order, of the vjp and the jvp that there are."""
    backward, forward = "vjp" in calls.functions, "jvp" in calls.functions
    compare(calls, rule, backward=backward, forward=forward, fast=fast)
    if not calls.counted:
        return
    if forward and undefined:
        insist_on_zero_for_undefined_tangents(calls)
    if batched_forward:
        insist_on_batched_tangents(calls)
    if batched:
        insist_on_batched_cotangents(calls)
    if backward:
        insist_on_zero_for_zeros(calls)
    if backward and undefined:
        insist_on_zero_for_undefined(calls)


def _rule(eps: float, rtol: float, atol: float, nondet_tol: float) -> Rule:
    """Look at the numbers, before anything is called."""
    eps, nondet_tol = as_step(eps, "eps"), as_number(nondet_tol, "nondet_tol")
    if not nondet_tol >= 0:
        raise ValueError(f"nondet_tol must be zero or a positive number, not {nondet_tol}")
    return Rule(eps, as_tolerance(rtol, "rtol"), as_tolerance(atol, "atol"), nondet_tol)


def _product(func: Callable[..., Any], given: Any, name: str) -> Callable[..., Any]:
    """Return the vjp or jvp that is given, or else that of func."""
    product = given if given is not None else getattr(func, name, None)
    if product is None:
        raise TypeError(f"func has no attribute {name}: give it, or pass {name}=")
    return as_function(product, name)
