"""Check the derivative of a function through its products with vectors: vjp and jvp."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from gradcheck_ref.arguments import as_function
from gradcheck_ref.check.claims import (
    ask_jvp_again,
    ask_vjp_again,
    from_jvp,
    from_vjp,
)
from gradcheck_ref.check.examine import examine
from gradcheck_ref.check.identities import Identities
from gradcheck_ref.check.knobs import RTOL, check_knobs
from gradcheck_ref.check.probe import Probe
from gradcheck_ref.check.report import Report
from gradcheck_ref.check.structure import Inputs


def check_vjp(
    f: Callable[..., Any],
    inputs: Any,
    vjp: Callable[..., Any] | None = None,
    *,
    jvp: Callable[..., Any] | None = None,
    rtol: float = RTOL,
    atol: float | None = None,
    max_evaluations: int | None = None,
    seed: int = 0,
) -> Report:
    """Check every entry of the Jacobian that a vector-Jacobian product gives.

    Parameters
    ----------
    f : callable
        ``f(x)``, ``f(*inputs)`` or ``f(**inputs)`` returns a number, an array of any shape, real
        or complex, or a tuple or list of them; the shapes must not change.
    inputs : array_like, sequence or mapping
        The point, as for `check_gradient`.
    vjp : callable, optional
        ``vjp(upstream, *inputs)``, or ``vjp(upstream, **inputs)`` for a mapping. ``upstream`` has
        the shape of the output, and is a tuple for several outputs. It returns one gradient with
        the shape of the input, or for several inputs a tuple (or mapping) of them, with None for a
        constant. By default the attribute ``f.vjp``.
    jvp : callable, optional
        If given, or if f has an attribute ``jvp``, the adjoint identity of the two is tested first;
        not if that attribute raises NotImplementedError, as where torch has no forward mode.
    rtol, atol, max_evaluations, seed : float, float, int, int
        As for `check_gradient`; the default ``atol`` goes by the largest derivative of each
        output coordinate with respect to that input.

    Returns
    -------
    Report
        True if all that was compared passed, and something was compared. ``print`` it.

    Raises
    ------
    TypeError
        If there is no vjp, an argument is of the wrong kind, no input can be differentiated, f
        cannot be called with these inputs, or f returns something other than numbers.
    ValueError
        If an input is not finite, f changes the shape of its output, or a knob is out of range.

    Notes
    -----
    Cost: that of `check_gradient`, 9 evaluations of f plus 6 for each real coordinate of the inputs
    on ordinary functions; one evaluation serves all outputs. The vjp is called once for each real
    coordinate of the output, right after f was called at the point, and again for the first
    and the last coordinate, right after f: a vjp that accumulates is right only once. One more call
    tests that it is linear. The adjoint identity takes one more call of each product.

    The adjoint identity ``<u, J v> = <J' u, v>`` for random u and v holds for any f, up to
    rounding, and involves no step. Where it fails, a product is wrong; the entries tell which.

    For complex ``z = x + i y`` the gradient of a real L is ``dL/dx + i dL/dy``, as in torch, and
    the vjp returns that of ``L = Re(sum(conj(upstream) * f))``. For ``f = a z`` that is
    ``conj(a) * upstream``.

    What f, vjp or jvp raise is passed on, with a note of where they were called. A gradient of the
    wrong shape, dtype or structure raises nothing: that is a verdict, *fail*.

    Examples
    --------
    >>> import numpy as np
    >>> A, x = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, -1.0])
    >>> print(check_vjp(lambda x: A @ x, x, lambda upstream, x: A.T @ upstream).verdict)
    pass
    >>> report = check_vjp(lambda x: A @ x, x, lambda upstream, x: A @ upstream)  # not transposed
    >>> print(str(report).split("; ")[0])
    FAIL  d output / d x: 2 of 4 entries differ
    >>> print(report.diagnoses[0].kind)
    transposed
    """
    as_function(f, "f")
    knobs = check_knobs(rtol, atol, max_evaluations, seed)
    vjp = _attribute(f, "vjp", vjp)
    other = _attribute(f, "jvp", jvp, required=False)
    probe = Probe(f, Inputs(f, inputs), seed)
    claims = from_vjp(probe, vjp)
    identities = Identities(probe, claims, knobs)
    if other is not None:
        with _optional(jvp):
            identities.adjoint(vjp, other)

    def ask_again() -> None:
        ask_vjp_again(probe, claims, vjp)
        identities.linear_vjp(vjp)

    return examine(probe, claims, ask_again, knobs)


def check_jvp(
    f: Callable[..., Any],
    inputs: Any,
    jvp: Callable[..., Any] | None = None,
    *,
    vjp: Callable[..., Any] | None = None,
    rtol: float = RTOL,
    atol: float | None = None,
    max_evaluations: int | None = None,
    seed: int = 0,
) -> Report:
    """Check every entry of the Jacobian that a Jacobian-vector product gives.

    Parameters
    ----------
    f : callable
        As for `check_vjp`.
    inputs : array_like, sequence or mapping
        The point, as for `check_gradient`.
    jvp : callable, optional
        ``jvp(tangent, *inputs)``, or ``jvp(tangent, **inputs)`` for a mapping. ``tangent`` has the
        shape of the input, and is a tuple for several inputs, in their order, with zeros for the
        constants. It returns what f returns: the derivative of f along the tangent. By default
        the attribute ``f.jvp``.
    vjp : callable, optional
        If given, or if f has an attribute ``vjp``, the adjoint identity of the two is tested first;
        not if that attribute raises NotImplementedError, as where JAX has no reverse mode.
    rtol, atol, max_evaluations, seed : float, float, int, int
        As for `check_vjp`.

    Returns
    -------
    Report
        True if all that was compared passed, and something was compared. ``print`` it.

    Raises
    ------
    TypeError
        If there is no jvp, an argument is of the wrong kind, no input can be differentiated, f
        cannot be called with these inputs, or f returns something other than numbers.
    ValueError
        If an input is not finite, f changes the shape of its output, or a knob is out of range.

    Notes
    -----
    Cost: that of `check_vjp` in evaluations of f. The jvp is called once for each real coordinate
    of the inputs, again for the first and the last, and once to test that it is linear.

    For a complex input the tangents are 1 and i at every entry, and what the jvp returns is the
    derivative of f along the real and the imaginary axis: no conjugation enters.

    What f, jvp or vjp raise is passed on, with a note of where they were called. A jvp that does
    not return the shape of f raises nothing: that is a verdict, *fail*.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> print(check_jvp(np.sin, x, lambda tangent, x: np.cos(x) * tangent).verdict)
    pass
    >>> report = check_jvp(np.sin, x, lambda tangent, x: -np.cos(x) * tangent)
    >>> print(report.verdict, report.diagnoses[0].kind)
    fail sign
    """
    as_function(f, "f")
    knobs = check_knobs(rtol, atol, max_evaluations, seed)
    jvp = _attribute(f, "jvp", jvp)
    other = _attribute(f, "vjp", vjp, required=False)
    probe = Probe(f, Inputs(f, inputs), seed)
    claims = from_jvp(probe, jvp)
    identities = Identities(probe, claims, knobs)
    if other is not None:
        with _optional(vjp):
            identities.adjoint(other, jvp)

    def ask_again() -> None:
        ask_jvp_again(probe, claims, jvp)
        identities.linear_jvp(jvp)

    return examine(probe, claims, ask_again, knobs)


def _optional(given: Any) -> AbstractContextManager[None]:
    """Take an attribute of f that is not implemented for none; what was handed over must work."""
    return suppress(NotImplementedError) if given is None else nullcontext()


def _attribute(f: Callable[..., Any], name: str, given: Any, *, required: bool = True) -> Any:
    """Return the product that was given, or else the attribute of f by that name."""
    product = given if given is not None else getattr(f, name, None)
    if product is None and required:
        raise TypeError(f"f has no attribute {name}: give it, or pass {name}=")
    return product if product is None else as_function(product, name)
