"""CS231n's functions for gradient checks, as in the ``gradient_check.py`` of its assignments.

Idea
    Central differences that move the caller's own array in place, and restore it. The assignments
    check ``lambda _: model.loss(X, y)[0]`` at ``x = model.params[name]``: that function ignores its
    argument, so moving a copy of ``x`` would have no effect. The arithmetic is that of
    ``central_difference``, but each point is written to ``x`` itself.
Catches
    Mistakes in every entry that it compares, in float64 at a well-scaled point: it takes no
    average. The reader is the judge; ``gradcheck_ref.band`` reads the numbers like CS231n's notes.
Misses
    A fixed step of 1e-5 does not suit every function: the right gradients of ``relu_near_zero``,
    ``logarithm_near_zero`` and ``very_fast_sine`` look wrong. ``rel_error`` treats small values as
    zero: ``tiny_loss/sign`` looks fine. And ``grad_check_sparse`` compares only a few entries.

**Three relative errors.** CS231n has three formulas with that name, and a threshold means nothing
without its formula. For ``a`` and ``n``, the analytic and the numeric value:

- the notes: ``|a - n| / max(|a|, |n|)``, and 0 against 0 is a pass. (Until October 2015 they
  divided by the sum.) This package's ``relative_error`` is that, with a floor;
- ``rel_error`` of the notebooks: ``|a - n| / max(1e-8, |a| + |n|)``, the largest of all entries;
- ``grad_check_sparse``: ``|a - n| / (|a| + |n|)``, for one entry at a time.

| a     | n      | the notes | `rel_error` | `grad_check_sparse` |
| ----- | ------ | --------- | ----------- | ------------------- |
| 2     | 1      | 0.5       | 0.333       | 0.333               |
| 1     | -1     | 2         | 1           | 1                   |
| 1e-12 | -1e-12 | 2         | 0.0002      | 1                   |
| 0     | 0      | pass      | 0           | NaN; here 0         |

The sum is up to twice as large as the maximum, so it can halve the error. The 1e-8 of
``rel_error`` makes a wrong sign look fine if gradients are far below it.

**Differs on purpose**

- ``x`` is always restored. CS231n leaves it moved if ``f`` raises.
- Arrays that cannot be moved in place raise a clear error: integers (CS231n: garbage), entries
  that share memory (garbage), read-only arrays (NumPy's own error), a step too small to
  change ``x`` (zeros), values that are not finite.
- Differences are divided by the actual step, and the result of a complex ``x`` has both directions,
  ``df/d(real) + i df/d(imag)``; CS231n moves along the real one.
- An empty ``x`` has an empty gradient; CS231n stops with ``ValueError``.
- CS231n also calls ``f`` at ``x`` and does not use the result. Here that call is left out.
- ``df``, ``output.diffs``, ``analytic_grad`` and the arguments of ``rel_error`` must have the right
  shape; CS231n broadcasts.
- ``eval_numerical_gradient`` prints at the end, not during the work.
- ``grad_check_sparse`` has its own random generator, with a ``seed``; CS231n uses a global one. It
  also prints the index, and 0 against 0 is 0, not NaN.
"""

from collections.abc import Callable, Sequence
from operator import index
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gradcheck_ref.arguments import (
    Array,
    as_numbers,
    described,
    index_text,
    overlaps_itself,
    same_shape,
)
from gradcheck_ref.stage2_central import central_difference

# CS231n's step. Rounding and truncation balance near eps^(1/3) = 6e-6 if f and x are near 1.
H = 1e-5

# Gradients below this count as zero in rel_error.
FLOOR = 1e-8


def eval_numerical_gradient(
    f: Callable[[Array], Any], x: Array, verbose: bool = True, h: float = H
) -> Array:
    """Estimate the gradient of a scalar function, moving ``x`` in place.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns one real number. It may ignore its argument, and look at ``x`` itself.
    x : ndarray of float or complex, any shape
        The point. Written to, and always put back.
    verbose : bool, default True
        Whether to print every index with its partial derivative.
    h : float, default 1e-5
        The step, in the unit of ``x``.

    Returns
    -------
    ndarray, shape and dtype of x
        ``(f(x + h) - f(x - h)) / 2h`` for each entry.

    Raises
    ------
    TypeError
        If ``x`` is not a floating or complex array, or ``f`` does not return a real number.
    ValueError
        If ``x`` is read-only, not finite, or has entries that share memory; if ``h`` is not
        positive, or vanishes against ``x``; if ``f`` returns several numbers.

    Notes
    -----
    Cost: 2 evaluations of ``f`` per real coordinate. Source: CS231n's assignments,
    ``gradient_check.py``.

    Examples
    --------
    >>> import numpy as np
    >>> class Model:
    ...     params = {"W": np.array([[1.0, 2.0]])}
    ...     def loss(self, X):
    ...         return np.sum((X * self.params["W"]) ** 2)
    >>> model, X = Model(), np.array([[1.0, 0.5]])
    >>> W = model.params["W"]
    >>> gradient = eval_numerical_gradient(lambda _: model.loss(X), W, verbose=False)
    >>> print(np.round(gradient, 6), W)
    [[2. 1.]] [[1. 2.]]
    """
    gradient = _central_in_place(f, x, h)
    if verbose:
        for ix in np.ndindex(x.shape):
            print(ix, gradient[ix])
    return gradient


def eval_numerical_gradient_array(
    f: Callable[[Array], Any], x: Array, df: ArrayLike, h: float = H
) -> Array:
    """Estimate the gradient of ``sum(f(x) * df)``, moving ``x`` in place.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns an array. It may ignore its argument, and return the same buffer each time.
    x : ndarray of float or complex, any shape
        The point. Written to, and always put back.
    df : array_like, shape of f(x)
        The upstream gradient: the gradient of the loss with respect to ``f(x)``.
    h : float, default 1e-5
        The step, in the unit of ``x``.

    Returns
    -------
    ndarray, shape and dtype of x
        ``sum((f(x + h) - f(x - h)) * df) / 2h`` for each entry.

    Raises
    ------
    TypeError, ValueError
        As for ``eval_numerical_gradient``; and ``ValueError`` if the shape of ``df`` is not that
        of ``f(x)``, or ``df`` is not finite.

    Notes
    -----
    Cost: 2 evaluations of ``f`` per real coordinate. Source: CS231n's assignments,
    ``gradient_check.py``.

    Examples
    --------
    >>> import numpy as np
    >>> x, df = np.array([1.0, 2.0]), np.array([1.0, 10.0])
    >>> print(np.round(eval_numerical_gradient_array(lambda x: x**2, x, df), 6))
    [ 2. 40.]
    """
    return _central_in_place(f, x, h, upstream=df, note="upstream is called df here")


def eval_numerical_gradient_blobs(
    f: Callable[..., Any], inputs: Sequence[Any], output: Any, h: float = H
) -> list[Array]:
    """Estimate the gradients of a function that writes its result, moving its inputs in place.

    Parameters
    ----------
    f : callable
        ``f(*inputs, output)`` reads the ``vals`` of the inputs, and writes to those of the output.
    inputs : sequence of blobs
        Each has its numbers in ``vals``. Written to, and always put back.
    output : blob
        Has the upstream gradient in ``diffs``. Its ``vals`` are left as ``f`` last wrote them.
    h : float, default 1e-5
        The step, in the unit of the inputs.

    Returns
    -------
    list of ndarray
        For each input the gradient of ``sum(output.vals * output.diffs)``, of the shape and dtype
        of its ``vals``.

    Raises
    ------
    TypeError, ValueError
        As for ``eval_numerical_gradient_array``.

    Notes
    -----
    Cost: 2 evaluations of ``f`` per real coordinate of all inputs. Source: CS231n's assignments,
    ``gradient_check.py``; blobs are Caffe's arrays with room for a gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace as Blob
    >>> a, b = Blob(vals=np.array([1.0, 2.0])), Blob(vals=np.array([3.0, 4.0]))
    >>> output = Blob(vals=np.zeros(2), diffs=np.ones(2))
    >>> def multiply(a, b, output):
    ...     output.vals[:] = a.vals * b.vals
    >>> print(np.round(eval_numerical_gradient_blobs(multiply, (a, b), output), 6))
    [[3. 4.]
     [1. 2.]]
    """

    def result(_: Array) -> Any:
        f(*inputs, output)
        return output.vals

    notes = [f"x is inputs[{k}].vals here, upstream is output.diffs" for k, _ in enumerate(inputs)]
    return [
        _central_in_place(result, blob.vals, h, upstream=output.diffs, note=note)
        for blob, note in zip(inputs, notes, strict=True)
    ]


def grad_check_sparse(
    f: Callable[[Array], Any],
    x: Array,
    analytic_grad: ArrayLike,
    num_checks: int = 10,
    h: float = H,
    *,
    seed: int = 0,
) -> None:
    """Print numeric and analytic values of a gradient at a few random entries, without a verdict.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns one real number. It may ignore its argument, and look at ``x`` itself.
    x : ndarray of float or complex, any shape
        The point. Written to, and always put back.
    analytic_grad : array_like, shape of x
        The claimed gradient.
    num_checks : int, default 10
        How many entries are drawn. The same entry may be drawn again.
    h : float, default 1e-5
        The step, in the unit of ``x``.
    seed : int, default 0
        Another seed draws other entries.

    Returns
    -------
    None
        A line is printed for each entry; its relative error is ``|a - n| / (|a| + |n|)``.

    Raises
    ------
    TypeError, ValueError
        As for ``eval_numerical_gradient``; and ``ValueError`` if the shape of ``analytic_grad`` is
        not that of ``x``, or there is nothing to check.

    Notes
    -----
    Cost: 2 evaluations of ``f`` per check. Source: CS231n's assignments, ``gradient_check.py``.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.5, 1.0, 1.5], [2.0, 2.5, 3.0]])
    >>> wrong = 3 * x  # 2 x would be right
    >>> grad_check_sparse(lambda x: np.sum(x * x), x, wrong, num_checks=2)
    x[1, 1]: numeric 5, analytic 7.5, relative error 0.2
    x[1, 0]: numeric 4, analytic 6, relative error 0.2
    """
    analytic = as_numbers(analytic_grad, "analytic_grad")
    same_shape(analytic, "analytic_grad", np.asarray(x), "x")
    num_checks = index(num_checks)
    if num_checks < 1 or not analytic.size:
        raise ValueError(
            f"there is nothing to check: num_checks is {num_checks}, x.size is {analytic.size}"
        )
    rng = np.random.default_rng(seed)
    for _ in range(num_checks):
        ix = tuple(int(rng.integers(length)) for length in analytic.shape)
        entry = f"x{index_text(ix)}"
        a, n = analytic[ix], _central_in_place(f, x, h, ix=ix, note=f"checking {entry}")
        error = float(_relative_to_sum(a, n))
        print(f"{entry}: numeric {n:.6g}, analytic {a:.6g}, relative error {error:.2g}")


def rel_error(x: ArrayLike, y: ArrayLike) -> float:
    """Return the largest relative error, by the formula of the assignments' notebooks.

    Parameters
    ----------
    x, y : array_like of numbers, of one shape
        Two gradients.

    Returns
    -------
    float
        The largest of ``|x - y| / max(1e-8, |x| + |y|)``; NaN if any entry is.

    Raises
    ------
    TypeError
        If either holds something other than numbers.
    ValueError
        If the shapes differ, or there are no entries.

    Notes
    -----
    Cost: no evaluation of ``f``. Source: CS231n's notebooks. This is one of three formulas of that
    name: see the docstring of this module.

    Examples
    --------
    >>> rel_error([1.0, 0.0], [3.0, 0.0])
    0.5
    """
    x, y = as_numbers(x, "x"), as_numbers(y, "y")
    same_shape(x, "x", y, "y")
    if not x.size:
        raise ValueError("x and y are empty: nothing was compared")
    return float(np.max(_relative_to_sum(x, y, FLOOR)))


def _relative_to_sum(a: Any, b: Any, floor: Any = 0.0) -> Any:
    """Return ``|a - b| / max(floor, |a| + |b|)``, and 0 for 0/0."""
    with np.errstate(invalid="ignore"):
        # Quartering leaves the quotient unchanged and keeps the sum below the largest float. A
        # subnormal number is not quartered, because that would round it.
        part = np.where(np.maximum(np.abs(a), np.abs(b)) > 1, 0.25, 1.0)
        a, b, floor = part * a, part * b, part * floor
        size = np.maximum(floor, np.abs(a) + np.abs(b))
        return np.abs(a - b) / np.where(size == 0, 1.0, size)


def _central_in_place(
    f: Callable[[Array], Any],
    x: Array,
    h: float,
    *,
    upstream: ArrayLike | None = None,
    ix: tuple[int, ...] | EllipsisType = ...,
    note: str = "",
) -> Array:
    """Return the central difference of ``f`` along ``x``, or only ``x[ix]``, moved in place."""
    _check_movable(x)
    original = x.copy()

    def at(moved: Array) -> Any:
        x[...] = original  # f may have written to it
        x[ix] = moved
        return f(x)

    try:
        slopes = central_difference(at, original[ix], h=h, upstream=upstream)
    except Exception as error:
        if note:
            error.add_note(note)
        raise
    finally:
        x[...] = original
    return slopes.astype(x.dtype)


def _check_movable(x: Any) -> None:
    """Refuse an array whose entries cannot be moved in place one at a time."""
    if not isinstance(x, np.ndarray):
        raise TypeError(f"x is moved in place, so it must be a NumPy array, not {described(x)}")
    if not x.flags.writeable:
        raise ValueError("x is moved in place, but it is read-only: pass the array that f reads")
    if overlaps_itself(x):
        raise ValueError(
            "x has entries that share memory, so they cannot be moved one at a time: "
            "pass x.copy() if f reads its argument"
        )
