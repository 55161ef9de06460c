"""Check the gradient of a scalar function, or assert that it is right."""

from collections.abc import Callable
from typing import Any, Unpack

from gradcheck_ref.check.claim.claims import Product
from gradcheck_ref.check.examine import examine
from gradcheck_ref.check.knobs import Knobs, Options, check_options
from gradcheck_ref.check.report.insist import check_unsure, insist
from gradcheck_ref.check.report.report import Report
from gradcheck_ref.check.words import words
from gradcheck_ref.structure.constants import Constant


def check_gradient(
    f: Callable[..., Any],
    inputs: Any,
    grads: Any = None,
    *,
    constant: Constant = (),
    rtol: float | None = None,
    atol: float | None = None,
    max_evaluations: int | None = None,
    nondet_tol: float | None = None,
    seed: int = 0,
    workers: Any = None,
    progress: Any = None,
) -> Report:
    """Check a claimed gradient of a scalar function.

    Every entry gets a numeric value with an error bar. It passes or fails only if these settle the
    question. If they do not, the report says *unsure*, and why. More than 32 entries are first
    measured together, along random lines through the point.

    Parameters
    ----------
    f : callable
        ``f(x)``, or ``f(*inputs)``, or ``f(**inputs)``, returns one real number. Each call gets
        fresh copies. It may also return a pair (value, gradient), as in CS231n, and as for
        ``jac=True`` in SciPy.
    inputs : array_like, sequence or mapping
        The point: one array or number, several in order, or several by name. Each may be a tree of
        nested dicts, lists and tuples, Series and DataFrames. A single tree is ``[tree]``. The
        check differentiates floating and complex arrays of any shape, and lists of floats, also
        the bfloat16 of ml_dtypes. All other inputs are constant. Never written.
    grads : array_like, sequence, mapping or callable, optional
        The claimed gradient: for each input an array of its shape, in the same order, names and
        trees as the inputs; a sparse matrix of SciPy counts as an array. None stands for the
        gradient of a constant. Or a function that returns
        the gradient, called like f, or a pair (value, gradient). By default the gradient that f
        returns behind its value.
    constant : str, int, or iterable of them, optional
        Inputs of floats that are not differentiated, such as data: by their names, as in
        ``constant=("X", "y")``, or by their positions if the inputs have no names. Also a part of a
        tree: ``"params['mean']"``. f gets them, and no gradient is needed for them.
    rtol : float, optional
        Allowed error as a fraction of the numeric value. By default 1e-6 in float64, 9e-4 in
        float32, 0.1 in float16 and bfloat16.
    atol : float, optional
        Further allowed error, in the unit of the gradient. By default 1e-4 ``rtol`` times the
        largest entry of the gradient with respect to the same input. If entries have different
        units, their effects ``|x_j * slope_j|`` can be compared, and their slopes cannot: the
        largest effect, divided by ``|x_i|``, takes the place of the largest slope where it is less.
        For an entry that agrees as far as a float32 f shows it, 1/6 ``rtol`` instead of 1e-4
        ``rtol``; in float16 ``rtol``.
    max_evaluations : int, optional
        The largest number of calls of f, at least a dozen. With fewer calls there are fewer lines,
        and the report gives the limit for the entries. Below 51 the lines are too few for a pass.
        If the calls run out, the reason is ``budget``, and the report says how many are enough.
    nondet_tol : float, optional
        How much a claim may change from call to call, as with atomic additions on a GPU, relative
        to its largest entry. By default ``rtol``. A smaller change is a note in the report.
    seed : int, default 0
        Seed for the signs of the random lines, and for the direction in which noise is measured.
    workers : int, Executor or map-like callable, optional
        By default this process calls f. A number starts that many processes (-1 for one on each
        core). Or give a `concurrent.futures.Executor`, or ``workers(function, iterable)`` like
        `map`. Verdict, numbers and calls stay the same. Processes that the check starts get f
        once, others get it with every few points. They start in Python's usual way. Beside JAX's
        threads they do not fork, and then f must be at the top of a module.
    progress : None, False or callable, optional
        By default a long check reports its progress on stderr: on a terminal in a line that
        disappears, elsewhere in a line every half a minute. False for silence. A function is called
        as ``progress(done, total)`` after every few evaluations instead.

    Returns
    -------
    Report
        True if every comparison passed and there was at least one. ``print`` it.

    Raises
    ------
    TypeError
        If an argument is of the wrong kind, no input can be differentiated, f cannot be called
        with these inputs, f returns no number, or there are no ``grads`` and f returns no gradient.
    ValueError
        If an input is not finite, constant names no input or every one, f returns more than one
        real number or its result changes shape, f.many gives other values than f, or an option is
        out of range.
    RuntimeError
        If a process of ``workers`` dies.

    Notes
    -----
    Cost: 2 evaluations of f; and 10 for a pilot along a line, which finds the noise of f and the
    best steps, 16 where f is noisy, and up to 40 more where it may have stairs (none if that is
    more than half of your limit). Each of at most 12 inputs has a pilot; if there are more, or up
    to 32 coordinates in all, inputs of like units share one. Up to 32 real coordinates (a complex
    entry has two): 6 for each; 12 if its claim looks wrong, or if its size is far from that of the
    others; up to about 60 if a doubt remains; at most 40 on average, besides 30 for the rest, or
    150 in all if that is more. And 48 more in all if many entries fail but are nearly right: these
    show if f stops at a tolerance, as a solver does. From 33 coordinates on, 20 lines take 6 each:
    about 130 in all for one input of a smooth f and a right gradient, and up to 400 if lines meet
    kinks, or if small entries need lines of their own. One wrong entry of a million took 185 to 279
    in all. At most 1000, and less than two for each coordinate from 200 on.

    A callable ``grads`` is called twice, both times right after a call of f at the point (one that
    accumulates is right only once). If it looks wrong, it is called a third time, and twice more if
    it rounds. These calls are not counted; if f returns the gradient, they are calls of f.

    If f returns a pair of a number and something that is arranged as the inputs are, the number is
    its value. Without ``grads`` the second one is the claim, however it is arranged. Gradients that
    come with a value are taken from it, unless both readings fit: two numbers for two inputs are
    their gradients. If the first of these equals f, that is a ValueError.

    An entry that only lines have measured passes by default if it is off by at most 1 % of a
    typical one in its effect on f (4 % in float32), and the report gives this limit. If you give an
    ``rtol`` or ``atol``, every entry must keep it, or the result is *unsure*.

    Where f has few digits (float32 or a shorter dtype, also inside), and they hide single entries,
    the gradient of each input is judged as a whole: by the length of its error, as a fraction of
    its own length. At most 9e-4 passes in float32, 0.02 in float16 and 0.1 in bfloat16. Where noise
    allows it, only four times the error that it hides passes, but at least a tenth of these. A pass
    says how many typical entries could be lost unseen. This takes about 330 evaluations for all
    inputs; if some are wrong or hard to decide, up to 2000, and 282 for each input. They come on
    top of the 1000, unless you set a limit. If you give an ``rtol`` or ``atol``, you ask for
    entries, and no whole decides.

    The allowed error of an entry is ``atol + rtol * |numeric|``. The entry passes if its error is
    smaller than that even when the whole error bar is added. It fails if its error is larger even
    when three bars are subtracted, and a second measurement at another step agrees.

    For complex ``z = x + i y`` the gradient of L is ``dL/dx + i dL/dy``, as in torch: for
    ``L = |z|^2`` it is ``2 z``.

    Sources: Moré and Wild (2011) for the measurement of noise, Richardson (1911) for the
    extrapolation of slopes, and Freivalds (1977) for random lines, where random vectors verify a
    matrix product.

    The check calls f at many points together: the six of a witness, all random lines, all axes. If
    f has an attribute ``many``, it gets them as a list, each arranged as ``inputs`` is, and returns
    a sequence with one value for each. With a batch axis, that is one call.

    Errors of f or grads are passed on, with a note of where they were called. But if f raises an
    exception away from x, and not at x, the check takes that point for one outside of the domain,
    as if f had returned NaN, and the report quotes it. MemoryError, RecursionError and
    NotImplementedError are always passed on. A gradient of the wrong shape, dtype or structure
    raises no error: that is a verdict, *fail*.

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

    Several inputs by name, and a gradient without the mean over 2 rows:

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
    knobs = Knobs(rtol, atol, max_evaluations, seed, workers, progress, constant, nondet_tol)
    of_f = grads is None or (callable(grads) and grads == f)
    claim = Product("f", f) if of_f else Product(words("grads", "gradient"), grads)
    return examine(f, inputs, knobs, claim)


def assert_gradient(
    f: Callable[..., Any],
    inputs: Any,
    grads: Any = None,
    *,
    unsure: str = "warn",
    empty: str = "unsure",
    **options: Unpack[Options],
) -> Report:
    """Assert that a claimed gradient of a scalar function is right, for use in tests.

    Parameters
    ----------
    f, inputs, grads : any
        As for `check_gradient`.
    unsure : {"warn", "fail", "pass"}
        The action on a verdict *unsure*.
    empty : {"unsure", "pass"}
        The verdict if there is nothing to compare, as for a shape of (0, 3).
    **options : any
        constant, rtol, atol, max_evaluations, nondet_tol, seed, workers and progress: as for
        `check_gradient`.

    Returns
    -------
    Report
        The report of the check, if no error was raised.

    Raises
    ------
    GradientError
        If the gradient is wrong, or the check is unsure and ``unsure="fail"``. It is an
        AssertionError; its message is the report as text, its attribute ``report`` the report.
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
    check_options(assert_gradient, options)
    check_unsure(unsure, empty)
    return insist(check_gradient(f, inputs, grads, **options), unsure, empty)
