"""Call func, its vjp and its jvp for torch's ``gradcheck``.

In torch an engine calls the backward. It fills in missing cotangents, treats a missing gradient as
zero, casts gradients to the dtype of the input and refuses gradients of the wrong shape. NumPy has
no engine; this module does its work.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, described, framework_of, overlaps_itself

# The inputs or the outputs: their kind, the arrays, and the numbers of those that count.
Side = tuple[str, Sequence[Any], list[int]]


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` if the derivative fails; says where and why."""


class Calls:
    """A function at its inputs, with its claimed vjp and jvp.

    Each call gets fresh copies and must not change them.

    Parameters
    ----------
    functions : dict
        ``"func"``, and ``"vjp"``, ``"jvp"`` or both.
    inputs : sequence
        The inputs: floating and complex arrays are checked, anything else is constant.
    masked : bool
        Whether the masked entries of a masked array stay as they are.
    check_grad_dtypes : bool
        Whether a gradient must have the dtype of its input.
    names : dict, optional
        Names for messages, in place of ``"func"``, ``"vjp"``, ``"jvp"``, ``"input"``, ``"output"``.

    Attributes
    ----------
    inputs : list
        Our own copies.
    moving : list
        The inputs that the differences move: the same, but with masked entries set to 0 unless
        ``masked``.
    checked : list of int
        The numbers of the inputs that are checked.
    outputs : list of ndarray
        The outputs of func at the inputs.
    several : bool
        Whether func returns a tuple.
    counted : list of int
        The numbers of the outputs that have a derivative: integer outputs have none.
    """

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        inputs: Sequence[Any],
        *,
        masked: bool = False,
        check_grad_dtypes: bool = False,
        names: Mapping[str, Any] | None = None,
    ) -> None:
        self.functions = functions
        self.names = names or {}
        self.masked = masked
        self.check_grad_dtypes = check_grad_dtypes
        self.inputs = [_own(x) for x in inputs]
        self.moving = self.inputs if masked else [_unmasked(x) for x in self.inputs]
        self.checked = [k for k, x in enumerate(self.inputs) if is_checked(x)]
        returned = self.call("func", self.inputs, "at the inputs")
        self.several = isinstance(returned, tuple | list)
        self.outputs = self._read(returned)
        self.counted = [j for j, y in enumerate(self.outputs) if y.dtype.kind in "fc"]

    def sides(self, which: str) -> tuple[Side, Side]:
        """Return where the vectors of a product belong, and where its results belong."""
        inputs: Side = "input", self.inputs, self.checked
        outputs: Side = "output", self.outputs, self.counted
        return (outputs, inputs) if which == "vjp" else (inputs, outputs)

    def name(self, kind: str, number: int | None = None) -> str:
        """Name a function, an input or an output in a message."""
        named = self.names.get(kind, kind)
        if number is None:
            return str(named)
        return f"{kind} {number}" if isinstance(named, str) else str(named[number])

    def call(self, which: str, inputs: Sequence[Any], where: str, *first: Any) -> Any:
        """Call a function with fresh copies of the inputs."""
        copies = [fresh(x) for x in inputs]
        try:
            returned = self.functions[which](*first, *copies)
        except BaseException as error:
            error.add_note(f"in gradcheck_ref, calling {self.name(which)} {where}")
            raise
        for k, (before, after) in enumerate(zip(inputs, copies, strict=True)):
            if isinstance(before, np.ndarray) and _bytes(before) != _bytes(after):
                raise GradcheckError(
                    f"{self.name(which)} writes to {self.name('input', k)}: the next use of that "
                    "array gets other numbers. Work on a copy"
                )
        return returned

    def at(self, k: int, moved: Array, where: str) -> list[Array]:
        """Return the outputs with another array in the place of input ``k``."""
        inputs = [*self.moving[:k], moved, *self.moving[k + 1 :]]
        outputs = self._read(self.call("func", inputs, where))
        here, there = ([(y.shape, y.dtype) for y in each] for each in (self.outputs, outputs))
        if here != there:
            said = [[(shape, str(dtype)) for shape, dtype in each] for each in (here, there)]
            raise AssertionError(
                f"{self.name('func')} must return the same shapes and dtypes everywhere: it "
                f"returned {said[0]} at the inputs and {said[1]} {where}"
            )
        return outputs

    def pull(
        self, cotangents: Mapping[int, Any], where: str, batch: tuple[int, ...] = ()
    ) -> list[Array]:
        """Return the vjp's gradient for each checked input, without changes.

        ``cotangents`` maps the number of an output to its cotangent; ``batch`` holds axes that come
        first in each cotangent, and so in each gradient.
        """
        given = self.call("vjp", self.inputs, where, self.arranged("vjp", cotangents, batch))
        gradients = []
        for k, gradient in self._by_input(given).items():
            x = self.inputs[k]
            if gradient is None:  # like torch's allow_unused: no gradient means zeros
                gradient = np.zeros(batch + x.shape, x.dtype)
            elif isinstance(gradient, np.ma.MaskedArray):
                if not isinstance(x, np.ma.MaskedArray):
                    raise GradcheckError(
                        f"{self.name('vjp')} gives a masked gradient for {self.name('input', k)}, "
                        "which is not masked: its mask would be lost. Fill it"
                    )
                gradient = gradient.filled(0)
            gradients.append(_numbers(gradient, f"the gradient by {self.name('input', k)}"))
        return gradients

    def gradients(
        self, cotangents: Mapping[int, Any], where: str, batch: tuple[int, ...] = ()
    ) -> list[Array]:
        """Return the vjp's gradients, with the shapes and dtypes of the inputs."""
        pulled = self.pull(cotangents, where, batch)
        for i, k in enumerate(self.checked):
            self._insist_on_fit(pulled[i], "Gradient by", "input", k, batch)
            pulled[i] = pulled[i].astype(self.inputs[k].dtype)
        return pulled

    def push(
        self, tangents: Mapping[int, Any], where: str, batch: tuple[int, ...] = ()
    ) -> list[Array | None]:
        """Return the jvp's tangent of each counted output; None stands for zeros."""
        given = self.call("jvp", self.inputs, where, self.arranged("jvp", tangents, batch))
        listed = as_tuple(given) if self.several else (given,)
        if len(listed) != len(self.outputs):
            raise GradcheckError(
                f"{self.name('jvp')} must return {len(self.outputs)} tangents, one for each "
                f"output, not {described(given)}"
            )
        pushed: list[Array | None] = []
        for j in self.counted:
            tangent = listed[j]
            if tangent is not None:
                tangent = _numbers(tangent, f"the tangent of {self.name('output', j)}")
                self._insist_on_fit(tangent, "Tangent of", "output", j, batch)
            pushed.append(tangent)
        return pushed

    def product(
        self, which: str, vectors: Mapping[int, Any], where: str, batch: tuple[int, ...] = ()
    ) -> list[Array]:
        """Return what the vjp or the jvp gives, with zeros for None."""
        if which == "vjp":
            return self.gradients(vectors, where, batch)
        pushed = zip(self.counted, self.push(vectors, where, batch), strict=True)
        shapes = [y.shape for y in self.outputs]
        return [np.zeros(batch + shapes[j]) if one is None else one for j, one in pushed]

    def _insist_on_fit(
        self, given: Array, what: str, kind: str, number: int, batch: tuple[int, ...]
    ) -> None:
        """Refuse a gradient or tangent of another dtype or shape than its input or output."""
        like = (self.inputs if kind == "input" else self.outputs)[number]
        what = f"{what} {self.name(kind, number)}"
        is_complex = given.dtype.kind == "c"
        differs = given.dtype != like.dtype
        if kind == "output":
            differs = is_complex != (like.dtype.kind == "c")
        if (is_complex and like.dtype.kind == "f") or (self.check_grad_dtypes and differs):
            raise GradcheckError(
                f"{what} has the wrong dtype: {given.dtype} for an {kind} of {like.dtype}"
            )
        if given.shape != batch + like.shape:
            raise GradcheckError(
                f"{what} has the wrong size: shape {given.shape} where {batch + like.shape} is "
                "expected"
            )

    def _read(self, returned: Any) -> list[Array]:
        """Return the outputs of func as a list of our own arrays."""
        for j, one in enumerate(as_tuple(returned)):
            if isinstance(one, np.ma.MaskedArray):
                raise ValueError(
                    f"{self.name('output', j)} is a masked array, which is not supported: "
                    "fill it before it is returned"
                )
        return [_numbers(one, self.name("output", j)) for j, one in enumerate(as_tuple(returned))]

    def _by_input(self, given: Any) -> dict[int, Any]:
        """Sort the vjp's gradients by input: one for each input, or one for each checked input."""
        listed = self.listed(given)
        if len(listed) == len(self.inputs):
            return {k: listed[k] for k in self.checked}
        if len(listed) == len(self.checked):
            return dict(zip(self.checked, listed, strict=True))
        raise GradcheckError(
            f"{self.name('vjp')} returned {len(listed)} gradients for {len(self.inputs)} inputs: "
            "it must return one for each input, None for a constant"
        )

    def listed(self, given: Any) -> tuple[Any, ...]:
        """Return the vjp's result as a tuple; for one input, a list is the gradient itself."""
        several = isinstance(given, tuple | list if len(self.inputs) > 1 else tuple)
        return tuple(given) if several else (given,)

    def arranged(self, which: str, given: Mapping[int, Any], batch: tuple[int, ...] = ()) -> Any:
        """Arrange cotangents for a call of the vjp, or tangents for one of the jvp.

        A missing one is undefined. It becomes zeros, or None if the vjp or jvp has an attribute
        ``materialize_grads`` that is False (named after torch's set_materialize_grads).
        """
        _, likes, _ = self.sides(which)[0]
        several = self.several if which == "vjp" else len(likes) > 1
        filled = getattr(self.functions[which], "materialize_grads", True)
        listed = []
        for number, like in enumerate(likes):
            one = given.get(number)
            if one is None and filled:
                dtype = like.dtype if is_checked(like) else float
                one = np.zeros(batch + np.shape(like), dtype)
            # Subtle: a copy, since the vjp or jvp may write to it; [()] makes 0-d arrays numbers.
            listed.append(one if one is None else fresh(one)[()])
        return tuple(listed) if several else listed[0]


def look_at_arrays(arrays: Sequence[Any], kind: str) -> None:
    """Warn of low precision, and refuse arrays that overlap themselves."""
    for k, x in enumerate(arrays):
        if not is_checked(x):
            continue
        if np.finfo(x.dtype).eps > np.finfo(np.float64).eps:
            warnings.warn(
                f"{kind} {k} holds {x.dtype}, less than double precision: the check will likely "
                "fail, because the differences are mostly rounding errors",
                UserWarning,
                stacklevel=3,
            )
        if overlaps_itself(x):
            raise RuntimeError(
                f"{kind} {k} overlaps itself: several of its entries share memory, as in a "
                "broadcast array, so they cannot be moved one at a time. Pass a copy"
            )


def insist_on_floating(inputs: Sequence[Any]) -> None:
    """Refuse inputs if none of them can be moved."""
    if not any(is_checked(x) for x in inputs):
        given = ", ".join(map(described, inputs)) or "nothing"
        framework = next(filter(None, map(framework_of, inputs)), "")
        ways = {"torch": "x.detach().numpy()", "jax": "np.asarray(x)"}
        raise ValueError(
            f"inputs holds no array to differentiate by ({given}): pass floating point or complex "
            f"arrays, e.g. {ways.get(framework, 'np.asarray(x, float)')}"
        )


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return a tuple or list as a tuple, and anything else as a tuple of one."""
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def is_checked(value: Any) -> bool:
    """Whether an input is differentiated: a floating or complex array, or a NumPy number."""
    return isinstance(value, np.ndarray | np.inexact) and value.dtype.kind in "fc"


def fresh(value: Any) -> Any:
    """Return a copy of an array, so that writing to it does no harm; or anything else unchanged.

    The copy of an array with gaps in memory has gaps: a func that cannot take gaps must fail here.
    """
    if not isinstance(value, np.ndarray):
        return value
    if value.flags.forc:
        return value.copy(order="K")
    return with_gaps(value)


def with_gaps(array: Array) -> Array:
    """Return a copy whose entries are not next to each other in memory."""
    return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array.copy()


def _own(value: Any) -> Any:
    """Return our own copy of an input, in the byte order of this machine."""
    if is_checked(value):
        array = value if isinstance(value, np.ma.MaskedArray) else np.asarray(value)
        return fresh(array.astype(array.dtype.newbyteorder("="), copy=False))
    return fresh(value)


def _unmasked(value: Any) -> Any:
    """Return a masked array without masked entries, 0 in their place."""
    if not isinstance(value, np.ma.MaskedArray):
        return value
    return np.ma.array(value.filled(0), mask=np.zeros(value.shape, bool))


def _bytes(array: Array) -> tuple[bytes, bytes]:
    """Return the data of an array and its mask, so that NaN equals NaN."""
    if not isinstance(array, np.ma.MaskedArray):
        return array.tobytes(), b""
    return array.data.tobytes(), np.ma.getmaskarray(array).tobytes()


def _numbers(value: Any, name: str) -> Array:
    """Return our own copy of an array or number, since it may be the same buffer every time."""
    try:
        array = np.array(value)
    except ValueError:  # a ragged list
        array = np.array(None)
    if array.dtype.kind not in "fciub":
        raise TypeError(f"{name} must be an array or a number, not {described(value)}")
    return array
