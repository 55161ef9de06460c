"""Check the arguments of the public functions, and explain what is wrong with a bad one.

Everything here runs before the user's function is called, and returns the argument in the one
form that the rest of the code relies on.
"""

import math
import sys
from collections.abc import Callable
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def as_function(value: Any, argument: str) -> Callable[..., Any]:
    """Return ``value`` if it can be called."""
    if not callable(value):
        raise TypeError(f"{argument} must be a function, not {described(value)}")
    return value  # type: ignore[no-any-return]


def product_of(f: Callable[..., Any], argument: str, given: Any, name: str) -> Callable[..., Any]:
    """Return the given vjp or jvp of a function, or else its attribute of that name."""
    as_function(f, argument)
    product = given if given is not None else getattr(f, name, None)
    if product is None:
        framework = framework_of(f)
        way = f"use gradcheck_ref.adapters.from_{framework}({argument})"
        hint = way if framework else "give it one"
        raise TypeError(f"{argument} has no attribute {name}: {hint}, or pass {name}=")
    return as_function(product, name)


@lru_cache
def kind_of(dtype: np.dtype[Any]) -> str:
    """Return the kind of a dtype, and f for the bfloat16 of ml_dtypes, which is void for NumPy."""
    return "f" if _of_ml_dtypes(dtype) and dtype.name == "bfloat16" else dtype.kind


@lru_cache
def limits_of(dtype: np.dtype[Any]) -> Any:
    """Return eps, max and so on of a floating or complex dtype, as `numpy.finfo` has them."""
    # An array of that dtype exists, so its module was imported.
    theirs = sys.modules.get("ml_dtypes") if _of_ml_dtypes(dtype) else None
    return theirs.finfo(dtype) if theirs else np.finfo(dtype)


def _of_ml_dtypes(dtype: np.dtype[Any]) -> bool:
    return str(dtype.type.__module__).split(".")[0] == "ml_dtypes"


def as_point(value: Any, argument: str) -> Array:
    """Return a C-ordered copy of a point, whose entries can be moved by a small step."""
    array = _as_array(value, argument)
    if array.dtype.kind in "iub":
        raise TypeError(
            f"{argument} holds {array.dtype} values, which no small step can move: "
            f"pass floating point numbers, e.g. np.asarray({argument}, float)"
        )
    if kind_of(array.dtype) not in "fc":
        raise TypeError(_no_numbers(value, array, argument))
    _finite(array, argument, "a slope needs a finite point")
    return np.array(array, dtype=array.dtype.newbyteorder("="), order="C")


def as_numbers(value: Any, argument: str) -> Array:
    """Return a copy of ``value`` as a floating or complex array of at least double precision."""
    array = _as_array(value, argument)
    if kind_of(array.dtype) not in "fciub":
        raise TypeError(_no_numbers(value, array, argument))
    return array.astype(np.result_type(array.dtype, np.float64))


def as_weights(value: Any, argument: str) -> Array:
    """Return the weights of an output as ``as_numbers`` does; they must be finite."""
    array = as_numbers(value, argument)
    _finite(array, argument, "a weight must be finite")
    return array


def as_tolerance(value: Any, argument: str) -> float:
    """Return a tolerance as a float that is finite and not negative."""
    tolerance = as_number(value, argument)
    if not 0 <= tolerance < math.inf:
        raise ValueError(f"{argument} must be zero or a positive number, not {tolerance}")
    return tolerance


def as_step(value: Any, argument: str) -> float:
    """Return a step as a float that is positive and finite."""
    step = as_number(value, argument)
    if not 0 < step < math.inf:
        raise ValueError(f"{argument} must be a positive, finite step, not {step}")
    return step


def as_number(value: Any, argument: str) -> float:
    """Return one real number as a float."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool) or not isinstance(value, Real):
        raise TypeError(f"{argument} must be one real number, not {described(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(
            f"{argument} must be a number that fits in a float, not {described(value)}"
        ) from None


def same_shape(first: Array, first_name: str, second: Array, second_name: str) -> None:
    """Refuse to compare arrays that would have to be broadcast."""
    if first.shape != second.shape:
        raise ValueError(
            f"{first_name} has shape {first.shape} but {second_name} has shape {second.shape}: "
            "pass equal shapes; they are compared entry by entry and never broadcast"
        )


def overlaps_itself(array: Array) -> bool:
    """Whether entries share memory, as in a broadcast array: moving one would move others."""
    if array.flags.forc:
        return False
    places = np.zeros(1, int)
    for count, stride in zip(array.shape, array.strides, strict=True):
        places = np.add.outer(places, np.arange(count) * stride).reshape(-1)
    return bool(np.any(np.diff(np.sort(places)) < array.itemsize))


def described(value: Any) -> str:
    """Name a value in a message: its type and the start of its repr."""
    if value is None:
        return "None"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"


def framework_of(value: Any) -> str:
    """Return ``torch`` or ``jax`` for a function, an array or a class of theirs, else nothing.

    The answer comes from the names of modules: no framework is imported.
    """
    kinds = list(type(value).__mro__)
    for one in (value, getattr(value, "__self__", None)):  # the class that owns Function.apply
        kinds += one.__mro__ if isinstance(one, type) else ()
    modules = [str(getattr(one, "__module__", "")) for one in (value, *kinds)]
    roots = {module.split(".")[0] for module in modules}
    return "torch" if "torch" in roots else "jax" if roots & {"jax", "jaxlib"} else ""


def is_module(value: Any) -> bool:
    """Whether a value is a ``torch.nn.Module``, without an import of torch."""
    names = {f"{kind.__module__}.{kind.__name__}" for kind in type(value).__mro__}
    return "torch.nn.modules.module.Module" in names


def index_text(index: Any) -> str:
    """Write a multi-index as Python does: ``[0, 2]``, and an empty string for a 0-d array."""
    return f"[{', '.join(str(int(i)) for i in index)}]" if len(index) else ""


def _no_numbers(value: Any, array: Array, argument: str) -> str:
    if array.dtype != object:
        return f"{argument} must hold numbers, but its dtype is {array.dtype}"
    hint = "; pass its value" if hasattr(value, "value") else ""  # an Estimate, for example
    return f"{argument} must hold numbers, not {described(value)}{hint}"


def _finite(array: Array, argument: str, why: str) -> None:
    finite = np.isfinite(array)
    if not finite.all():
        bad = np.argwhere(~finite)[0]
        raise ValueError(f"{argument}{index_text(bad)} is {array[tuple(bad)]}: {why}")


def _as_array(value: Any, argument: str) -> Array:
    """Return ``value`` as an array of any dtype."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{argument} is a masked array, and its mask would be lost: pass its data")
    try:
        return np.asarray(value)
    except ValueError as error:  # NumPy's message for a ragged list does not name the argument
        text = f"{argument} must be an array, not the ragged {described(value)}"
        raise TypeError(text) from error
