"""Check the gradient of a scalar function, or assert that it is right."""

from collections.abc import Callable
from typing import Any

from gradcheck_ref.check.examine import examine
from gradcheck_ref.check.knobs import Knobs
from gradcheck_ref.check.report.insist import check_unsure, insist
from gradcheck_ref.check.report.report import Report
from gradcheck_ref.check.words import words


def check_gradient(
    f: Callable[..., Any],
    inputs: Any,
    grads: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    max_evaluations: int | None = None,
    seed: int = 0,
    workers: Any = None,
    progress: Any = None,
) -> Report:
    """Check a claimed gradient of a scalar function.

    Every entry gets a numeric value with an error bar, and passes or fails only where that settles
    it; where it does not, the report says *unsure*, and why. More than 32 entries are first held
    all together, by random lines through the point.

    Parameters
    ----------
    f : callable
        ``f(x)``, or ``f(*inputs)``, or ``f(**inputs)``, returns one real number. It gets fresh
        copies each time.
    inputs : array_like, sequence or mapping
        The point: one array or number, several in order, or several by name. Each may be a tree:
        dicts, lists and tuples in one another, Series and DataFrames; one tree is ``[tree]``.
        Floating and complex arrays of any shape are differentiated; all else is constant, but a
        list of floats is an array. Never written.
    grads : array_like, sequence, mapping or callable
        The claimed gradient, an array of its input's shape for each input, arranged as the inputs
        are, in the same trees; None stands for the gradient of a constant. Or a function that
        returns it, called as f.
    rtol : float, optional
        Allowed error as a fraction of the numeric value. By default 1e-6 in float64, 9e-4 in
        float32, 0.1 in float16.
    atol : float, optional
        Further allowed error, in the unit of the gradient. By default 1e-4 ``rtol`` times the
        largest entry of the gradient with respect to the same input, or what that does to f over
        what the entry is, if that is less. Of an entry that agrees as far as a float32 f shows it,
        1/6 ``rtol`` instead; in float16 ``rtol``.
    max_evaluations : int, optional
        Most calls of f, at least a dozen. With fewer there are fewer lines, and the report says how
        far the entries were held; below 51 they do not suffice for a pass.
    seed : int, default 0
        For the signs of the random lines, and the direction in which noise is measured.
    workers : int, Executor or map-like callable, optional
        Who calls f at the points around x: so many processes (-1 for one on each core), a
        `concurrent.futures.Executor`, or ``workers(function, iterable)`` like `map`. Verdict,
        numbers and calls are the same whoever it is. By default this process. Processes that the
        check starts get f once, and others get it with every few points. They are started as Python
        does it, but not by a fork where JAX runs threads: then f is sent to them, and has to stand
        at the top of a module.
    progress : None, False or callable, optional
        By default checks that take long say how far they are: on a terminal in a line that goes
        away, elsewhere in one every half a minute, on stderr. False for silence. A function is
        called as ``progress(done, total)`` after each evaluation, or few of them, instead.

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
        f.many gives other values than f, or a knob is out of range.
    RuntimeError
        If a process of ``workers`` dies.

    Notes
    -----
    Cost: 2 evaluations of f; and 7 to measure its noise, or 13 if it is loud, unless every claim is
    settled at once. Up to 32 real coordinates, of which a complex entry has two: 6 for each; 12 if
    its claim looks wrong, or if it is smaller than 0.003 and not 0; up to 42 if a doubt remains. In
    all at most 40 for each. From 33 on, 20 lines take 6 each: 122 in all for a smooth f and a right
    gradient, 135 if the noise is measured, and up to 400 if lines meet kinks, or if small entries
    need lines of their own. With one wrong entry of a million, 177 to 309 were counted in all, and
    with several 225 to 279. At most 1000, and less than two for each coordinate from 100 on. A
    callable ``grads`` is called twice, both times right after f was called at the point (one that
    accumulates is right only once). If it looks wrong, it is called a third time, and twice more if
    it rounds.

    An entry that only lines have seen passes by default if it is off by at most 1 % of a typical
    one in what it does to f (4 % in float32), and the report says by how much. An ``rtol`` or
    ``atol`` that is given is a demand: what is not held to it is *unsure*.

    An entry is allowed the error ``atol + rtol * |numeric|``. It passes if it is within that even
    if the numeric value is off by its whole error bar, and fails if it is outside even if the value
    is off by three bars, and a second look from another distance agrees.

    For complex ``z = x + i y`` the gradient of L is ``dL/dx + i dL/dy``, as in torch: for
    ``L = |z|^2`` it is ``2 z``.

    Sources: the noise is measured as in Moré and Wild (2011), the slopes are extrapolated as in
    Richardson (1911), and random lines vouch for entries as random vectors do for a matrix product
    in Freivalds (1977).

    The points around x are asked for many at a time: the six of a witness, all random lines, all
    axes. Where f has an attribute ``many``, it gets them as a list, each arranged as ``inputs`` is,
    and returns a sequence of as many values: with a batch axis, that is one call.

    What f or grads raise is passed on, with a note of where they were called. But where f raises
    ValueError or RuntimeError away from x, and not at x, it is taken to be outside of its domain
    there, as where it returns NaN, and the report notes it. A gradient of the wrong shape, dtype or
    structure raises nothing: that is a verdict, *fail*.

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
    knobs = Knobs(rtol, atol, max_evaluations, seed, workers, progress)
    return examine(f, inputs, knobs, words("grads", "gradient"), grads)


def assert_gradient(
    f: Callable[..., Any],
    inputs: Any,
    grads: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    max_evaluations: int | None = None,
    seed: int = 0,
    workers: Any = None,
    progress: Any = None,
    unsure: str = "warn",
    empty: str = "unsure",
) -> Report:
    """Assert that a claimed gradient of a scalar function is right, in a test suite for one.

    Parameters
    ----------
    f, inputs, grads, rtol, atol, max_evaluations, seed, workers, progress : any
        As for `check_gradient`.
    unsure : {"warn", "fail", "pass"}
        What to do when the evidence cannot tell.
    empty : {"unsure", "pass"}
        What it is when there is nothing to compare, as for a shape of (0, 3).

    Returns
    -------
    Report
        What the check found, if nothing was raised.

    Raises
    ------
    GradientError
        If the gradient is wrong, or the check is unsure and ``unsure="fail"``. An AssertionError
        whose message is the report, and whose attribute ``report`` holds it.
    TypeError, ValueError
        As for `check_gradient`; ValueError also for any other ``unsure`` or ``empty``.

    Warns
    -----
    GradientWarning
        If the check is unsure and ``unsure="warn"``.

    Notes
    -----
    Cost: that of `check_gradient`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> assert_gradient(lambda x: np.sum(x**3), x, 3 * x**2).verdict
    'pass'
    >>> try:
    ...     assert_gradient(lambda x: np.sum(x**3), x, 3 * x)  # the square was forgotten
    ... except AssertionError as error:
    ...     print(error.report.worst.name, error.report.worst.analytic)
    x[0] 1.5
    """
    __tracebackhide__ = True  # pytest shows the line of the test, not ours
    check_unsure(unsure, empty)
    knobs = Knobs(rtol, atol, max_evaluations, seed, workers, progress)
    report = examine(f, inputs, knobs, words("grads", "gradient"), grads)
    return insist(report, unsure, empty)
