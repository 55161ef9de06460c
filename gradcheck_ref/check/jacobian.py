"""Check, or assert, a whole Jacobian: a matrix, blocks by input and output, or a function."""

from collections.abc import Callable
from typing import Any, Unpack

from gradcheck_ref.check.claim.claims import Product
from gradcheck_ref.check.examine import examine
from gradcheck_ref.check.knobs import Knobs, Options, check_options
from gradcheck_ref.check.report.insist import check_unsure, insist
from gradcheck_ref.check.report.report import Report
from gradcheck_ref.structure.constants import Constant


def check_jacobian(
    f: Callable[..., Any],
    inputs: Any,
    jacobian: Any,
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
    """Check every entry of a claimed Jacobian.

    Parameters
    ----------
    f : callable
        ``f(x)``, ``f(*inputs)`` or ``f(**inputs)`` returns a number, an array of any shape, or a
        tuple, list or dict of them, as for `check_vjp`.
    inputs : array_like, sequence or mapping
        The point, as for `check_gradient`.
    jacobian : array_like, sparse matrix, sequence, mapping or callable
        The claimed Jacobian: an array with the shape of the output, followed by the shape of the
        input, or a matrix with a row for each output entry and a column for each input entry. A
        sparse matrix or array of SciPy, or a LinearOperator, will do. For several inputs it is a
        tuple or a mapping with one for each, as gradients are; for several outputs a tuple, or a
        tree as f returns it, of these. Or one matrix for all inputs, or for all outputs, side by
        side. None stands for zeros. Or a function that returns any of these, called like f.
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
    Cost: that of `check_vjp` in evaluations of f. A function is called three times, each time right
    after a call of f at the point: one that reuses an array is right only once. If it looks wrong
    and rounds, it is called a few times more.

    Beyond 1024 outputs, or 2**18 entries, 20 random combinations of the rows are compared, so that
    a large sparse Jacobian is never written out.

    For a complex output, the entries are complex derivatives. For a complex input and a real
    output, a row is a gradient ``dL/dx + i dL/dy``, as in `check_gradient`.

    A Jacobian of the wrong shape, dtype or structure raises no error: that is a verdict, *fail*.
    The report says which shape was given, which one it must be, and if it is transposed.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.5, -1.0])
    >>> def f(x):
    ...     return np.array([x[0] * x[1], x[0] ** 2, np.sin(x[1])])
    >>> def jacobian(x):
    ...     return [[x[1], x[0]], [2 * x[0], 0], [0, np.cos(x[1])]]
    >>> print(check_jacobian(f, x, jacobian).verdict)
    pass
    >>> report = check_jacobian(f, x, np.transpose(jacobian(x)))
    >>> print(report.faults[0].sentence.split(": ")[1])
    outputs first, then inputs. It is transposed
    """
    knobs = Knobs(rtol, atol, max_evaluations, seed, workers, progress, constant, nondet_tol)
    if jacobian is None:
        raise TypeError(
            "jacobian must be a matrix, blocks, or a function that returns it, not None"
        )
    return examine(f, inputs, knobs, Product("jacobian", jacobian))


def assert_jacobian(
    f: Callable[..., Any],
    inputs: Any,
    jacobian: Any,
    *,
    unsure: str = "warn",
    empty: str = "unsure",
    **options: Unpack[Options],
) -> Report:
    """Assert that a Jacobian is right, for use in tests.

    Parameters
    ----------
    f, inputs, jacobian : any
        As for `check_jacobian`.
    unsure, empty : str
        As for `assert_gradient`.
    **options : any
        constant, rtol, atol, max_evaluations, nondet_tol, seed, workers and progress: as for
        `check_jacobian`.

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
    Cost: that of `check_jacobian`.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> assert_jacobian(lambda x: A @ x, np.array([0.5, -1.0]), A).verdict
    'pass'
    """
    __tracebackhide__ = True  # pytest shows the line of the test, not ours
    check_options(assert_jacobian, options)
    check_unsure(unsure, empty)
    return insist(check_jacobian(f, inputs, jacobian, **options), unsure, empty)
