"""Many points, and many upstream gradients, at once: what the adapters of all frameworks share.

A framework may compute another value in a batch than for one point. So the first and the last of a
batch are computed alone, too, and if they differ, so is every other one.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from gradcheck_ref.adapters.calls import Returned, in_order_and_by_name
from gradcheck_ref.arguments import Array, described

# At most BATCH points go together, with at most NUMBERS intermediate numbers (128 MB). A larger
# function gains nothing, and workers share its points one by one.
BATCH, NUMBERS = 128, 2**24

# A batch may sum in another order than single calls: so many roundings of the largest number.
ROUNDINGS = 1e3

Gradients = dict[int, Array]  # by the number of their input


class AtOnce:
    """A framework's function as a function of arrays, at one point or at many."""

    # Up to so many points, and upstream gradients, cost no more one by one.
    few_points: int
    few_upstreams: int
    # Whether several points have gone through fn together; None if that was not tried.
    _together: bool | None = None

    # What the framework does: it reads the arguments of a call, and computes the outputs and the
    # gradients there. Those for many are None if they cannot be computed at once.
    _arguments: Callable[..., Any]
    _outputs: Callable[..., tuple[Returned, list[Array]]]
    _outputs_at_once: Callable[..., tuple[Returned, list[list[Array]]] | None]
    _gradients: Callable[..., Gradients]
    _gradients_at_once: Callable[..., list[Gradients] | None]

    def __call__(self, /, *inputs: Any, **named: Any) -> Any:
        """Return the value of fn, with NumPy arrays instead of the framework's."""
        returned, arrays = self._outputs(self._arguments(inputs, named))
        return returned.arranged(arrays)

    def _at_many(self, points: Sequence[Any]) -> list[Any]:
        """Return the values of fn at several points."""
        each = "each one input, or a tuple or dict of inputs"
        every = [in_order_and_by_name(point) for point in _listed(points, "point", each)]
        first = self._arguments(*every[0]) if len(every) > self.few_points else None
        if first and BATCH * first.size > NUMBERS:  # one at a time, without a trial
            first, self._together = None, self._together or False
        if first and (stacks := first.stacks(points)):
            found = self._outputs_at_once(first, stacks)
            ends = [self._outputs(self._arguments(*every[k]))[1] for k in (0, -1) if found]
            agree = found and all(map(_close, (found[1][0], found[1][-1]), ends))
            self._together = self._together or bool(agree)
            if found and agree:
                return [found[0].arranged(row) for row in found[1]]
        return [self(*inputs, **named) for inputs, named in every]

    def vjp(self, upstream: Any, /, *inputs: Any, **named: Any) -> Any:
        """Return the gradients of ``Re(sum(conj(upstream) * fn(*inputs)))``, by the framework.

        ``upstream`` has the shape of the output, and is a tuple for several outputs; None stands
        for zeros. An input that fn does not use has a gradient of zeros. A None from the backward
        of a ``torch.autograd.Function`` stays None.

        NotImplementedError if an operation in fn has no reverse mode.
        """
        return self._pulled_back([upstream], inputs, named)[0]

    def vjps(self, upstreams: Sequence[Any], /, *inputs: Any, **named: Any) -> list[Any]:
        """Return the gradients for several upstreams.

        More than a few go back through fn together, by ``jax.vmap`` or torch's
        ``is_grads_batched``, if that agrees with vjp for the first and the last of them. Otherwise
        each goes alone, for example if fn has its own backward, which may keep its arguments.
        """
        return self._pulled_back(upstreams, inputs, named)

    def _pulled_back(
        self, upstreams: Sequence[Any], inputs: tuple[Any, ...], named: dict[str, Any]
    ) -> list[Any]:
        """Return the gradients for several upstreams."""
        every = _listed(upstreams, "upstream", "each as vjp takes it")
        arguments = self._arguments(inputs, named)
        many = len(every) > self.few_upstreams
        rows = self._gradients_at_once(arguments, every) if many else None
        ends = {k: self._gradients(arguments, every[k]) for k in (0, -1) if rows}
        if not rows or not all(_close(rows[k].values(), ends[k].values()) for k in ends):
            rows = [self._gradients(arguments, upstream) for upstream in every]
        return [arguments.arranged(row) for row in rows]


def in_batches(
    function: Callable[[list[Array]], Iterable[Any]], stacks: Sequence[Array]
) -> list[list[Array]] | None:
    """Call a function at many points at once.

    Parameters
    ----------
    function : callable
        Takes the values of each input at some points, one after another, and returns those of each
        output.
    stacks : sequence of ndarray
        The values of each input at all points.

    Returns
    -------
    list of list of ndarray, or None
        The outputs for each point; None if the function raises anything: the call at a single point
        will show if something is wrong.
    """
    rows: list[list[Array]] = []
    try:
        for start in range(0, len(stacks[0]), BATCH):
            some = [stack[start : start + BATCH] for stack in stacks]
            found = [np.asarray(output) for output in function(some)]
            rows += [[np.array(output[k]) for output in found] for k in range(len(some[0]))]
    except Exception:
        return None
    return rows


def apart(columns: Gradients, count: int) -> list[Gradients]:
    """Take apart gradients that have a first axis of this length."""
    return [{k: np.array(column[n]) for k, column in columns.items()} for n in range(count)]


def _listed(given: Any, what: str, each: str) -> list[Any]:
    try:
        return list(given)
    except TypeError:
        raise TypeError(
            f"{what}s must be a list of {what}s, {each}, not {described(given)}: for one {what}, "
            f"pass [{what}]"
        ) from None


def _close(found: Collection[Array], alone: Collection[Array]) -> bool:
    """Whether arrays agree, up to the rounding of sums in another order."""
    if len(found) != len(alone):
        return False
    for a, b in zip(found, alone, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.tobytes() == b.tobytes():  # the usual case
            continue
        eps = float(np.finfo(b.dtype).eps) if b.dtype.kind in "fc" else 0.0
        largest = np.abs(b[np.isfinite(b)]).max(initial=0.0)
        if not np.allclose(a, b, rtol=0.0, atol=ROUNDINGS * eps * largest, equal_nan=True):
            return False
    return True
