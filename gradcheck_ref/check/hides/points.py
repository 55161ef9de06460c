"""Better points for a check: one near yours at which no entry is special, and some hard ones."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, limits_of
from gradcheck_ref.check.hides.running import running
from gradcheck_ref.check.knobs import check_seed
from gradcheck_ref.structure.constants import Constant
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.parts import Part

# An entry is multiplied or divided by e^0.2 to e^0.7: a factor of 0.5 to 0.8, or 1.2 to 2. So it
# stays near and keeps its sign, and an entry of 1 is clearly not 1 any more.
NEAREST, FARTHEST = 0.2, 0.7

# exp(1000) overflows, but 1000 squared does not, except in float16.
LARGE = 1000.0


def nearby(inputs: Any, *, constant: Constant = (), seed: int = 0) -> Any:
    """Return a point near the given one at which no entry is special.

    No entry is 0 or 1, no two are equal, no matrix is symmetric, and no complex number is real: at
    such a point few mistakes can hide. Signs stay the same, so that logarithms and square roots
    still work. In large arrays of float32 or float16 a few entries round to the same number, or
    to 1.

    Parameters
    ----------
    inputs : array_like, sequence or mapping
        The point, as for `check_gradient`. Never written.
    constant : str, int, or iterable of them, optional
        Inputs of floats that stay, by name or position: as for `check_gradient`. Inputs in order
        have the names ``inputs[0]``, ``inputs[1]``, ...
    seed : int, default 0
        Another seed gives another point.

    Returns
    -------
    array, tuple or dict
        A point arranged as ``inputs`` are: the same shapes, dtypes and trees. Each entry is
        multiplied by 0.5 to 0.8, or by 1.2 to 2. A zero becomes as large as the other entries of
        its array. Constants (integers, booleans and everything that is not a number) stay.

    Raises
    ------
    TypeError
        If inputs holds nothing to differentiate, constant holds no names, or seed is not a whole
        number.
    ValueError
        If an input is not finite, constant names no input, or seed is negative.

    Notes
    -----
    Cost: no evaluation of f. Mistakes that a shape hides, such as a batch of one row, stay hidden.

    Examples
    --------
    >>> import numpy as np
    >>> point = nearby({"gamma": np.ones(3), "labels": np.array([0, 2])})
    >>> bool((point["gamma"] != 1).all()), point["labels"]
    (True, array([0, 2]))
    """
    named = _named(inputs, constant)
    return _with(named, _near(named, check_seed(seed)))


def hard_points(
    inputs: Any, *, constant: Constant = (), seed: int = 0
) -> Iterator[tuple[str, Any]]:
    """Yield points at which gradients are often wrong, each with its name.

    Parameters
    ----------
    inputs : array_like, sequence or mapping
        A point, as for `check_gradient`. It gives shapes, dtypes, trees and constants, and the size
        of a typical entry. Never written.
    constant : str, int, or iterable of them, optional
        As for `nearby`.
    seed : int, default 0
        Another seed gives other points.

    Returns
    -------
    iterator of (str, array, tuple or dict)
        Names, and points arranged as ``inputs`` are: ``zeros``; ``ones``; ``ties``, with pairs
        of equal entries along every axis; ``mixed signs``, which alternate; ``tiny`` and ``large``,
        compared with the inputs; ``saturated``, where a sigmoid is flat; ``away from special
        values``, the point of `nearby`.

    Raises
    ------
    TypeError, ValueError
        As for `nearby`.

    Notes
    -----
    Cost: no evaluation of f. A point may be at a kink of f, where a check is *unsure*, or outside
    of the domain, such as zeros for a logarithm: leave such points out by their names. At an
    optimum, such as zeros for ``cos``, a check is *unsure*, too: give `assert_gradient`
    ``unsure="pass"``. If a test fails inside a loop over these points, the pytest plugin says at
    which one. It cannot tell if you put the points into a list first.

    Examples
    --------
    A common formula for softplus overflows, but only at some points:

    >>> import numpy as np
    >>> from gradcheck_ref import check_gradient
    >>> def f(x):
    ...     return np.sum(np.logaddexp(0, x))
    >>> def gradient(x):
    ...     with np.errstate(all="ignore"):
    ...         return np.exp(x) / (1 + np.exp(x))
    >>> points = hard_points(np.array([0.3, -1.2, 2.0]))
    >>> [name for name, x in points if check_gradient(f, x, gradient).verdict == "fail"]
    ['large']
    """
    return _hard_points(_named(inputs, constant), check_seed(seed))


def _hard_points(named: Inputs, seed: int) -> Iterator[tuple[str, Any]]:
    near = _near(named, seed)
    points: dict[str, Array] = {}
    for part in named.parts.values():
        at = part.stretch
        shape = (*part.shape, 2 if part.is_complex else 1)  # real parts, and imaginary ones
        ones, ties = np.zeros(shape), near[at].reshape(shape)
        ones[..., 0] = 1
        for axis, length in enumerate(part.shape):
            ties = np.take(ties, np.arange(length) // 2 * 2, axis)
        mixed = np.abs(near[at]) * chequered(shape).reshape(-1)
        hard = {
            "zeros": np.zeros(shape),
            "ones": ones,
            "ties": ties,
            "mixed signs": mixed,
            "tiny": mixed * np.sqrt(part.eps),
            "large": mixed * LARGE,
            # exp(-x) is eps there: tanh(x / 2) is 1, and twice that leaves room for small weights.
            "saturated": mixed / typical(named.x[at]) * -np.log(part.eps),
            "away from special values": near[at],
        }
        for name, point in hard.items():
            points.setdefault(name, near.copy())[at] = point.reshape(-1)
    for name, point in points.items():
        running().reached = name
        yield name, _with(named, point)
    running().reached = None


def displaced(x: Array, seed: Any) -> Array:
    """Return flat real coordinates near these, all of them ordinary."""
    rng = np.random.default_rng(seed)
    far = rng.uniform(NEAREST, FARTHEST, x.shape) * rng.choice([-1.0, 1.0], x.shape)
    start = np.where(x == 0, typical(x) * rng.choice([-1.0, 1.0], x.shape), x)
    return np.asarray(start * np.exp(far))


def typical(x: Array) -> float:
    """Return the size of a typical entry that is not 0, or 1 if there is none."""
    sizes = np.abs(x[x != 0])
    return float(np.median(sizes)) if sizes.size else 1.0


def chequered(shape: tuple[int, ...]) -> Array:
    """Return -1 and 1, alternating along every axis."""
    return np.asarray((-1.0) ** (1 + np.indices(shape).sum(axis=0)))


def within_range(part: Part, x: Array) -> Array:
    """Return flat real coordinates as an array, clipped to the range of its dtype."""
    most = float(limits_of(part.dtype).max) / 2
    return part.array(np.clip(x, -most, most))


def _near(named: Inputs, seed: int) -> Array:
    near = named.x.copy()
    for part in named.parts.values():
        near[part.stretch] = displaced(near[part.stretch], (seed, part.start))
    return near


def _named(inputs: Any, constant: Constant) -> Inputs:
    return Inputs(lambda *several, **by_name: None, inputs, constant)


def _with(named: Inputs, x: Array) -> Any:
    """Arrange flat real coordinates like the inputs."""
    values = named.copies()
    for k, part in named.parts.items():
        values[k] = within_range(part, x[part.stretch])
    return named.arranged(values)
