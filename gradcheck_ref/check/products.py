"""Check, or assert, the derivative of a function through its products with vectors: vjp, jvp."""

from collections.abc import Callable
from typing import Any, Literal, Unpack

from gradcheck_ref.arguments import as_function, framework_of, is_module
from gradcheck_ref.check.claim.claims import Product
from gradcheck_ref.check.examine import examine
from gradcheck_ref.check.knobs import Knobs, Options, check_options
from gradcheck_ref.check.report.insist import check_unsure, insist
from gradcheck_ref.check.report.report import Report
from gradcheck_ref.structure.constants import Constant
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.trees import leaves_of


def check_vjp(
    f: Callable[..., Any],
    inputs: Any,
    vjp: Callable[..., Any] | None = None,
    *,
    jvp: Callable[..., Any] | Literal[False] | None = None,
    constant: Constant = (),
    rtol: float | None = None,
    atol: float | None = None,
    max_evaluations: int | None = None,
    nondet_tol: float | None = None,
    seed: int = 0,
    workers: Any = None,
    progress: Any = None,
    company: bool | Literal["all"] = True,
) -> Report:
    """Check every entry of the Jacobian behind a vector-Jacobian product.

    Parameters
    ----------
    f : callable
        ``f(x)``, ``f(*inputs)`` or ``f(**inputs)`` returns a number, an array of any shape, real
        or complex, or a tuple, list or dict of them. The shapes must not change. If f has an
        attribute ``constant_outputs`` after a call, the outputs with these numbers are left out,
        and a note names them.
    inputs : array_like, sequence or mapping
        The point, as for `check_gradient`.
    vjp : callable, optional
        ``vjp(upstream, *inputs)``, or ``vjp(upstream, **inputs)`` for a mapping. ``upstream`` has
        the shape of the output: a tuple for several outputs, a tree for a tree. The vjp returns one
        gradient with the shape of the input, perhaps as a sparse matrix, or for several inputs a
        tuple (or mapping) of them, with None for a constant. By default the attribute ``f.vjp``. If
        f also has an attribute ``vjps``, ``vjps(upstreams, *inputs)`` takes a list of several at
        once.
    jvp : callable or False, optional
        If you give one, or if f has an attribute ``jvp``, the check tests the adjoint identity of
        the two first. It does not if the attribute raises NotImplementedError, for example because
        torch has no forward mode there. False leaves the attribute out.
    constant, rtol, atol, max_evaluations, nondet_tol, seed, workers, progress : any
        As for `check_gradient`. The default ``atol`` follows the largest derivative of each
        output coordinate with respect to that input. A function of `from_torch` runs with
        ``constant`` inputs that do not require a gradient.
    company : bool or "all", default True
        If the numbers are right, the vjp is asked again in circumstances that must not matter, such
        as an upstream that is not contiguous, or another call in between. A gradient that changes
        then is a fault, *company*; an error is a note. False leaves this out. "all" tries more: in
        JAX what has to be compiled, and all circumstances for torch's own operations.

    Returns
    -------
    Report
        True if every comparison passed and there was at least one. ``print`` it.

    Raises
    ------
    TypeError, ValueError
        As for `check_gradient`, but f may return any numbers; TypeError also if there is no vjp.

    Notes
    -----
    Cost: that of `check_gradient` in evaluations of f; one evaluation gives all outputs. The vjp
    is called once for each real coordinate of the output, right after a call of f at the point,
    and again for the first and the last one: a vjp that accumulates is right only once. Beyond 1024
    outputs, or 2**18 entries of the Jacobian, it is called for 20 random combinations of the
    outputs instead, unless there are no more than 20, and no matrix is stored: 25 calls for a
    Jacobian of 4000 x 4000. Three more calls test that it is linear, or one for a single output: so
    a loss takes three calls in all. The adjoint identity takes one call of the other product.

    The adjoint identity ``<u, J v> = <J' u, v>`` for random u and v holds for any f, up to
    rounding, and needs no step. If it fails, one product is wrong, and the entries show which. It
    must hold to rtol, and to what the products round: in 16 bits that is two or three digits.

    Layers in float32 and 16 bits are judged as a whole, input by input, as in `check_gradient`. An
    input has one number for all outputs.

    For complex ``z = x + i y`` the gradient of a real L is ``dL/dx + i dL/dy``, as in torch, and
    the vjp returns the gradient of ``L = Re(sum(conj(upstream) * f))``. For ``f = a z`` it is
    ``conj(a) * upstream``.

    If all is right, about 17 more calls of the vjp try it in company. For a function of torch's own
    operations these are four forwards and four backwards, and 20 to 30 if it has a backward of
    its own. They are not counted as evaluations.

    Errors of f, vjp or jvp, and results of the wrong shape, dtype or structure: as in
    `check_gradient`.

    Examples
    --------
    >>> import numpy as np
    >>> A, x = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, -1.0])
    >>> print(check_vjp(lambda x: A @ x, x, lambda upstream, x: A.T @ upstream).verdict)
    pass
    >>> report = check_vjp(lambda x: A @ x, x, lambda upstream, x: A @ upstream)  # not transposed
    >>> print(str(report).split("; ")[0])
    FAIL  d output / d x: 2 of 4 entries differ
    >>> print([diagnosis.kind for diagnosis in report.diagnoses])
    ['transposed']
    """
    knobs = Knobs(
        rtol, atol, max_evaluations, seed, workers, progress, constant, nondet_tol, company
    )
    return _check(f, inputs, knobs, "vjp", vjp, jvp)


def check_jvp(
    f: Callable[..., Any],
    inputs: Any,
    jvp: Callable[..., Any] | None = None,
    *,
    vjp: Callable[..., Any] | Literal[False] | None = None,
    constant: Constant = (),
    rtol: float | None = None,
    atol: float | None = None,
    max_evaluations: int | None = None,
    nondet_tol: float | None = None,
    seed: int = 0,
    workers: Any = None,
    progress: Any = None,
) -> Report:
    """Check every entry of the Jacobian behind a Jacobian-vector product.

    Parameters
    ----------
    f, inputs : callable, and array_like, sequence or mapping
        As for `check_vjp`.
    jvp : callable, optional
        ``jvp(tangent, *inputs)``, or ``jvp(tangent, **inputs)`` for a mapping. ``tangent`` has the
        shape of the input. For several inputs it is a tuple, in their order, with zeros for the
        constants. The jvp returns the derivative of f along the tangent, in the shape of the
        output. By default the attribute ``f.jvp``.
    vjp : callable or False, optional
        If you give one, or if f has an attribute ``vjp``, the check tests the adjoint identity of
        the two first. It does not if the attribute raises NotImplementedError, for example because
        JAX has no reverse mode there. False leaves the attribute out.
    constant, rtol, atol, max_evaluations, nondet_tol, seed, workers, progress : any
        As for `check_vjp`.

    Returns
    -------
    Report
        True if every comparison passed and there was at least one. ``print`` it.

    Raises
    ------
    TypeError, ValueError
        As for `check_vjp`.

    Notes
    -----
    Cost: that of `check_vjp` in evaluations of f. Up to 32 real coordinates of the inputs, the jvp
    is called once for each. From 33 on it is called once for each line, and once for each
    coordinate that is measured alone. Before them f is called at the point, because a jvp may use
    arrays that the last call has kept. It is called again for the first and the last coordinate,
    and up to five times to test that it is linear.

    For a complex input the tangents are 1 and i at every entry, and the jvp returns the derivative
    of f along the real and the imaginary axis, without a conjugate.

    Where f has few digits, each input is judged as a whole, as in `check_gradient`. From 33
    coordinates on, the jvp is called twice for each line of this, along the moves that were made.

    A jvp that does not return the shape of f raises no error: that is a verdict, *fail*.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> print(check_jvp(np.sin, x, lambda tangent, x: np.cos(x) * tangent).verdict)
    pass
    >>> report = check_jvp(np.sin, x, lambda tangent, x: -np.cos(x) * tangent)
    >>> print(report.verdict, [diagnosis.kind for diagnosis in report.diagnoses])
    fail ['sign']
    """
    knobs = Knobs(rtol, atol, max_evaluations, seed, workers, progress, constant, nondet_tol)
    return _check(f, inputs, knobs, "jvp", jvp, vjp)


def assert_vjp(
    f: Callable[..., Any],
    inputs: Any,
    vjp: Callable[..., Any] | None = None,
    *,
    jvp: Callable[..., Any] | Literal[False] | None = None,
    company: bool | Literal["all"] = True,
    unsure: str = "warn",
    empty: str = "unsure",
    **options: Unpack[Options],
) -> Report:
    """Assert that a vector-Jacobian product is right, for use in tests.

    Parameters
    ----------
    f, inputs, vjp, jvp, company : any
        As for `check_vjp`.
    unsure, empty : str
        As for `assert_gradient`.
    **options : any
        constant, rtol, atol, max_evaluations, nondet_tol, seed, workers and progress: as for
        `check_vjp`.

    Returns
    -------
    Report
        The report of the check, if no error was raised.

    Raises
    ------
    GradientError, TypeError, ValueError
        As for `assert_gradient`.

    Warns
    -----
    GradientWarning
        If the check is unsure and ``unsure="warn"``.

    Notes
    -----
    Cost: that of `check_vjp`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> assert_vjp(np.sin, x, lambda upstream, x: upstream * np.cos(x)).verdict
    'pass'
    """
    __tracebackhide__ = True  # pytest shows the line of the test, not ours
    check_options(assert_vjp, options)
    check_unsure(unsure, empty)
    report = check_vjp(f, inputs, vjp, jvp=jvp, company=company, **options)
    return insist(report, unsure, empty)


def assert_jvp(
    f: Callable[..., Any],
    inputs: Any,
    jvp: Callable[..., Any] | None = None,
    *,
    vjp: Callable[..., Any] | Literal[False] | None = None,
    unsure: str = "warn",
    empty: str = "unsure",
    **options: Unpack[Options],
) -> Report:
    """Assert that a Jacobian-vector product is right, for use in tests.

    Parameters
    ----------
    f, inputs, jvp, vjp : any
        As for `check_jvp`.
    unsure, empty : str
        As for `assert_gradient`.
    **options : any
        constant, rtol, atol, max_evaluations, nondet_tol, seed, workers and progress: as for
        `check_jvp`.

    Returns
    -------
    Report
        The report of the check, if no error was raised.

    Raises
    ------
    GradientError, TypeError, ValueError
        As for `assert_gradient`.

    Warns
    -----
    GradientWarning
        If the check is unsure and ``unsure="warn"``.

    Notes
    -----
    Cost: that of `check_jvp`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> assert_jvp(np.sin, x, lambda tangent, x: tangent * np.cos(x)).verdict
    'pass'
    """
    __tracebackhide__ = True  # pytest shows the line of the test, not ours
    check_options(assert_jvp, options)
    check_unsure(unsure, empty)
    return insist(check_jvp(f, inputs, jvp, vjp=vjp, **options), unsure, empty)


def _check(
    f: Callable[..., Any], inputs: Any, knobs: Knobs, name: str, product: Any, other: Any
) -> Report:
    """Check the product of this name; the other one is used for the adjoint identity only."""
    as_function(f, "f")
    theirs = "jvp" if name == "vjp" else "vjp"
    if product is False:
        raise TypeError(
            f"{name}=False leaves out what check_{name} checks: to check the {theirs} alone, use "
            f"check_{theirs}"
        )
    if knobs.constant != () and hasattr(f, "holding"):
        # What is data to the caller is data to f, too: torch takes another path then.
        f = f.holding(Inputs(f, inputs, knobs.constant).fixed)
    given, vjps, company = _attribute(f, name, product, inputs), None, None
    if name == "vjp" and given == getattr(f, "vjp", None):  # these do not fit any other vjp
        vjps = _attribute(f, "vjps", None, inputs, required=False)
        company = getattr(f, "company", None)
    second = None if other is False else _attribute(f, theirs, other, inputs, required=False)
    return examine(f, inputs, knobs, Product(name, given, vjps, second, other is not None, company))


def _attribute(
    f: Callable[..., Any], name: str, given: Any, inputs: Any, *, required: bool = True
) -> Any:
    """Return the product that was given, or else the attribute of f by that name."""
    # The jvp of a jax.custom_jvp, or of a torch.autograd.Function, takes other arguments.
    theirs = framework_of(f if isinstance(f, type) else type(f))
    own = None if theirs else getattr(f, name, None)
    product = given if given is not None else own
    if product is None and required:
        # A lambda belongs to no framework, but its inputs may.
        known = map(framework_of, (f, *leaves_of(inputs)))
        hint = f"define f.{name}"
        if framework := next(filter(None, known), ""):
            hint = f"to check the derivatives of {framework}, write check_{name}(from_{framework}"
            hint += f"(f), inputs), with from gradcheck_ref.adapters import from_{framework}"
        if name == "vjp" and is_module(f):
            hint = "it is a torch.nn.Module: write check_module(f, inputs), with from "
            hint += "gradcheck_ref.adapters import check_module"
        raise TypeError(f"f has no attribute {name}: {hint}, or pass {name}=")
    return product if product is None else as_function(product, name)
