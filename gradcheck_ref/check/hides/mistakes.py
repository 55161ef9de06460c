"""The wrong claims that named mistakes make from a right claim. A check should refuse them."""

from collections.abc import Callable, Iterator

import numpy as np

from gradcheck_ref.arguments import Array

# A derivative with this relative error should be corrected, and few tolerances should hide it.
SLIGHTLY_OFF = "a relative error of 1e-3"

Shape = tuple[int, ...]


def _single(claim: Array, shape: Shape) -> Array | None:
    """Set one entry to 0: among those that are not 0, the one of median size."""
    wrong, entries = claim.copy(), np.flatnonzero(claim)
    order = np.argsort(np.abs(claim.reshape(-1)[entries]), kind="stable")
    wrong.reshape(-1)[entries[order[entries.size // 2 : entries.size // 2 + 1]]] = 0
    return wrong if claim.size > 1 else None


def _transposed(claim: Array, shape: Shape) -> Array | None:
    """Swap the last two axes of the gradient of every output."""
    n = len(shape)
    if n < 2 or shape[-1] != shape[-2] or shape[-1] == 1:
        return None
    axes = claim.reshape(*shape, -1, claim.shape[1])  # a complex entry has two coordinates
    return np.asarray(np.swapaxes(axes, n - 2, n - 1).reshape(claim.shape))


# Functions from the right claim for an input, (entries, outputs), and the shape of the input to
# the wrong claim; None if the mistake is impossible.
MISTAKES: dict[str, Callable[[Array, Shape], Array | None]] = {
    "a factor of 2": lambda claim, shape: 2 * claim,
    "the wrong sign": lambda claim, shape: -claim,
    "zeros": lambda claim, shape: 0 * claim,
    "one entry left at 0": _single,
    "a transposition": _transposed,
    SLIGHTLY_OFF: lambda claim, shape: 1.001 * claim,
}


def mistaken(claim: Array, shape: Shape) -> Iterator[tuple[str, Array]]:
    """Yield the wrong claims that named mistakes make, each with the name of the mistake.

    Mistakes that are impossible for this shape are left out. If a mistake does not change the
    claim, no check at this point can detect it.

    Parameters
    ----------
    claim : ndarray, shape (entries, outputs)
        The right claim for one input.
    shape : tuple of int
        The shape of that input.

    Examples
    --------
    >>> import numpy as np
    >>> for name, wrong in mistaken(np.array([[2.0], [3.0]]), (2,)):
    ...     print(f"{name:25} {wrong[:, 0]}")
    a factor of 2             [4. 6.]
    the wrong sign            [-2. -3.]
    zeros                     [0. 0.]
    one entry left at 0       [2. 0.]
    a relative error of 1e-3  [2.002 3.003]
    """
    for name, make in MISTAKES.items():
        if claim.size and (wrong := make(claim, shape)) is not None:
            yield name, wrong
