"""Check the gradient of a scalar function."""

from collections.abc import Callable
from typing import Any

from gradcheck_ref.arguments import as_function
from gradcheck_ref.check.claims import ask_gradients_again, from_gradients
from gradcheck_ref.check.examine import examine
from gradcheck_ref.check.knobs import RTOL, check_knobs
from gradcheck_ref.check.probe import Probe
from gradcheck_ref.check.report import Report
from gradcheck_ref.check.structure import Inputs


def check_gradient(
    f: Callable[..., Any],
    inputs: Any,
    grads: Any,
    *,
    rtol: float = RTOL,
    atol: float | None = None,
    max_evaluations: int | None = None,
    seed: int = 0,
) -> Report:
    """Check a claimed gradient of a scalar function.

    Every entry gets a numeric value with an error bar, and passes or fails only where that settles
    it; where it does not, the report says *unsure*, and why.

    Parameters
    ----------
    f : callable
        ``f(x)``, or ``f(*inputs)``, or ``f(**inputs)``, returns one real number. It gets fresh
        copies each time.
    inputs : array_like, sequence or mapping
        The point: one array or number, several in order, or several by name. Floating and complex
        arrays of any shape are differentiated; all else is constant. Never written.
    grads : array_like, sequence, mapping or callable
        The claimed gradient, an array of its input's shape for each input, arranged as the inputs
        are; None stands for the gradient of a constant. Or a function that returns it, called as f.
    rtol : float, default 1e-6
        Allowed error as a fraction of the numeric value.
    atol : float, optional
        Further allowed error, in the unit of the gradient. By default 1e-4 ``rtol`` times the
        largest entry of the gradient with respect to the same input.
    max_evaluations : int, optional
        Most calls of f, at least 40. If they do not suffice for all coordinates, some are drawn at
        random from every input, and the report says how many.
    seed : int, default 0
        For the direction in which noise is measured, and for the coordinates drawn.

    Returns
    -------
    Report
        True if all that was compared passed, and something was compared. ``print`` it.

    Raises
    ------
    TypeError
        If an argument is of the wrong kind, no input can be differentiated, f cannot be called
        with these inputs, or f returns no number.
    ValueError
        If an input is not finite, f returns more than one real number or its result changes shape,
        or a knob is out of range.

    Notes
    -----
    Cost: 9 evaluations of f (up to 21 where f looks noisy), and 6 for each real coordinate, of
    which a complex entry has two; 12 where the first 6 leave a doubt, or the claim looks wrong; at
    most 30, and in all never more than 40 for each coordinate. A callable ``grads`` is called
    twice, both times right after f was called at the point: one that accumulates is right only
    once.

    An entry is allowed the error ``atol + rtol * |numeric|``. It passes if it is within that even
    if the numeric value is off by its whole error bar, and fails if it is outside even if the value
    is off by three bars.

    For complex ``z = x + i y`` the gradient of L is ``dL/dx + i dL/dy``, as in torch: for
    ``L = |z|^2`` it is ``2 z``.

    Sources: the noise is measured as in Moré and Wild (2011), the slopes are extrapolated as in
    Richardson (1911).

    What f or grads raise is passed on, with a note of where they were called. A gradient of the
    wrong shape, dtype or structure raises nothing: that is a verdict, *fail*.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> print(check_gradient(lambda x: np.sum(x**3), x, 3 * x**2).verdict)
    pass
    >>> report = check_gradient(lambda x: np.sum(x**3), x, 3 * x)  # the square was forgotten
    >>> print(report.verdict, report.worst.name, report.worst.analytic)
    fail x[0] 1.5
    >>> print(str(report).split("; ")[0])
    FAIL  x: 2 of 3 entries differ

    Several inputs, by name, with the mean over 2 rows forgotten:

    >>> X, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 2.0])
    >>> def loss(w, b):
    ...     return np.mean((X @ w + b - y) ** 2)
    >>> def gradient(w, b):
    ...     error = X @ w + b - y
    ...     return {"w": 2 * X.T @ error, "b": np.mean(2 * error)}
    >>> report = check_gradient(loss, {"w": np.array([0.5, 0.5]), "b": np.array(0.1)}, gradient)
    >>> for diagnosis in report.diagnoses:
    ...     print(diagnosis.subject, "-", diagnosis.sentence)
    w - every entry is 2 x the numeric value
    """
    as_function(f, "f")
    knobs = check_knobs(rtol, atol, max_evaluations, seed)
    probe = Probe(f, Inputs(f, inputs), seed)
    if not probe.outputs.scalar:
        raise ValueError(
            "f must return one real number for check_gradient; for arrays, tuples and complex "
            "numbers there is check_vjp"
        )
    claims = from_gradients(probe, grads)
    return examine(probe, claims, lambda: ask_gradients_again(probe, claims, grads), knobs)
