"""The wrong claims that named mistakes make from a right claim. A check should refuse them."""

from collections.abc import Callable, Iterator

import numpy as np

from gradcheck_ref.arguments import Array

# A derivative with this relative error should be corrected, and few tolerances should hide it.
SLIGHTLY = 1e-3


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
    "factor": lambda claim, shape: 2 * claim,
    "sign": lambda claim, shape: -claim,
    "zero": lambda claim, shape: 0 * claim,
    "single-entries": _single,
    "transposed": _transposed,
    "slightly-off": lambda claim, shape: (1 + SLIGHTLY) * claim,
}


def mistaken(claim: Array, shape: Shape) -> Iterator[tuple[str, Array]]:
    """Yield the wrong claims that named mistakes make, each with the kind of its diagnosis.

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
    >>> for kind, wrong in mistaken(np.array([[2.0], [3.0]]), (2,)):
    ...     print(f"{kind:15} {wrong[:, 0]}")
    factor          [4. 6.]
    sign            [-2. -3.]
    zero            [0. 0.]
    single-entries  [2. 0.]
    slightly-off    [2.002 3.003]
    """
    for kind, make in MISTAKES.items():
        if claim.size and (wrong := make(claim, shape)) is not None:
            yield kind, wrong
