"""The vjp as a function that torch's ``gradgradcheck`` can check.

A vjp takes the inputs and a cotangent for each output, and returns gradients. That is a function
like any other. Its slopes along the inputs are the second derivatives of func; along the cotangents
it is linear. Its vjp is called *reverse over reverse*, its jvp *forward over reverse*.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.compat.torch.calls import Calls, as_tuple, look_at_arrays, with_gaps

Function = Callable[..., Any]


class SecondOrder:
    """A vjp as a function of inputs and cotangents, with its own vjp and jvp.

    Parameters
    ----------
    first : Calls
        func at its inputs, with the vjp.
    cotangents : sequence
        The cotangents that become further inputs; None for an output without a cotangent.
    second : dict
        The ``"vjp"`` of the vjp, its ``"jvp"``, or both.

    Attributes
    ----------
    functions : dict
        The functions for `Calls`, with the vjp as ``"func"``. It returns a tuple of gradients,
        without those that are None.
    names : dict
        The names for messages.
    """

    def __init__(
        self, first: Calls, cotangents: Sequence[Any], second: Mapping[str, Function]
    ) -> None:
        self.first = first
        given = {j: one for j, one in enumerate(cotangents) if one is not None}
        where = "with the grad_outputs"
        first.gradients(given, where)  # refuses gradients that do not fit the inputs
        self.returned = first.call("vjp", first.inputs, where, first.arranged("vjp", given))
        listed = first.listed(self.returned)
        self.kept = [i for i, one in enumerate(listed) if one is not None]
        self.functions: dict[str, Function] = {"func": self._gradients}
        if "vjp" in second:
            self.functions["vjp"] = self._pulling(second["vjp"])
        if "jvp" in second:
            self.functions["jvp"] = self._pushing(second["jvp"])
        inputs = [f"input {k}" for k in range(len(first.inputs))]
        by = inputs if len(listed) == len(inputs) else [inputs[k] for k in first.checked]
        self.names = {
            "func": "vjp",
            "vjp": "vjp_vjp",
            "jvp": "vjp_jvp",
            "input": inputs + [f"grad_output {j}" for j in range(len(cotangents))],
            "output": [f"the gradient by {by[i]}" for i in self.kept],
        }

    def _gradients(self, *arguments: Any) -> tuple[Any, ...]:
        """Return the gradients, as a function of the inputs and the cotangents."""
        count = len(self.first.inputs)
        cotangents = {j: one for j, one in enumerate(arguments[count:]) if one is not None}
        upstream = self.first.arranged("vjp", cotangents)
        listed = self.first.listed(self.first.functions["vjp"](upstream, *arguments[:count]))
        return tuple(one for one in listed if one is not None)

    def _pulling(self, vjp_vjp: Function) -> Function:
        """Arrange a tuple of cotangents for ``vjp_vjp``, in the form of vjp's result."""

        def pull(upstream: tuple[Any, ...], *arguments: Any) -> Any:
            arranged: list[Any] = [None] * len(self.first.listed(self.returned))
            for i, one in zip(self.kept, upstream, strict=True):
                arranged[i] = one
            several = isinstance(self.returned, tuple | list)
            given = tuple(arranged) if several else arranged[0]
            return vjp_vjp(given, *self._filled(arguments, vjp_vjp))

        return _with_the_wish_of(vjp_vjp, pull)

    def _pushing(self, vjp_jvp: Function) -> Function:
        """Turn the result of ``vjp_jvp``, which has the form of vjp's, into a tuple of tangents."""

        def push(tangent: Any, *arguments: Any) -> Any:
            listed = self.first.listed(vjp_jvp(tangent, *self._filled(arguments, vjp_jvp)))
            return tuple(listed[i] for i in self.kept if i < len(listed))

        return _with_the_wish_of(vjp_jvp, push)

    def _filled(self, arguments: tuple[Any, ...], function: Function) -> list[Any]:
        """Replace undefined cotangents by zeros, unless the function wants None."""
        filled = list(arguments)
        if getattr(function, "materialize_grads", True):
            for j in self.first.counted:
                place = len(self.first.inputs) + j
                if filled[place] is None:
                    filled[place] = np.zeros_like(self.first.outputs[j])
        return filled


def cotangents_for(first: Calls, given: Any, gaps: bool) -> list[Any]:
    """Return the given cotangents if they fit the outputs of func, or else random ones."""
    if not first.counted:
        raise ValueError(
            "func has no floating or complex output: there is no gradient to differentiate"
        )
    if given is None:
        rng = np.random.default_rng(0)
        return [
            None if j not in first.counted else _between_ones(rng, y, gaps)
            for j, y in enumerate(first.outputs)
        ]
    cotangents = [None if one is None else _floating(np.asarray(one)) for one in as_tuple(given)]
    look_at_arrays(cotangents, "grad_output")
    fits = len(cotangents) == len(first.outputs) and all(
        one is None or (j in first.counted and _fits(one, first.outputs[j]))
        for j, one in enumerate(cotangents)
    )
    if not fits:
        shapes = [None if one is None else np.shape(one) for one in cotangents]
        raise RuntimeError(
            f"grad_outputs must hold one array for each output, of its shape and not complex for a "
            f"real output, or None: they have the shapes {shapes}, and the outputs are "
            f"{[(y.shape, str(y.dtype)) for y in first.outputs]}"
        )
    return cotangents


def _between_ones(rng: np.random.Generator, y: Array, gaps: bool) -> Array:
    """Draw an array like an output from [-1, 1), with gaps in memory or without."""
    drawn = rng.uniform(-1, 1, y.shape)
    if y.dtype.kind == "c":
        drawn = drawn + 1j * rng.uniform(-1, 1, y.shape)
    array = np.asarray(drawn, y.dtype)
    return with_gaps(array) if gaps else array


def _floating(cotangent: Array) -> Array:
    """Make integers floating: as integers they would be constants, and not checked."""
    return cotangent.astype(float) if cotangent.dtype.kind in "iub" else cotangent


def _fits(cotangent: Array, y: Array) -> bool:
    """Whether something may be the cotangent of an output."""
    return cotangent.shape == y.shape and (cotangent.dtype.kind != "c" or y.dtype.kind == "c")


def _with_the_wish_of(function: Function, wrapper: Function) -> Function:
    """Let a wrapper take None for undefined cotangents if its function does."""
    wrapper.materialize_grads = getattr(  # type: ignore[attr-defined]
        function, "materialize_grads", True
    )
    return wrapper
