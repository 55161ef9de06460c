"""The estimators under one signature, and the points and functions that every one must survive.

An edge case is written once, here, and applied to all of them in ``test_edge_cases.py``. A new
estimator is a new row of ``ESTIMATORS``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.lib.stride_tricks import as_strided

from gradcheck_ref import (
    adaptive_difference,
    central_difference,
    escalating_difference,
    five_point_difference,
    forward_difference,
)

H = 2.0**-10


@dataclass(frozen=True)
class Estimator:
    """A way to estimate the gradient of a scalar function.

    ``gradient(f, x, **knobs)`` returns an array of the shape of ``x``; ``here`` and ``per`` say
    what the docstring promises to call: so often at ``x``, and so often per real coordinate
    (None where that depends on ``f``).
    """

    name: str
    gradient: Callable[..., Any]
    here: int
    per: int | None
    order: int
    has_step: bool = True

    def __call__(self, f: Callable[..., Any], x: Any, h: float = H) -> Any:
        return self.gradient(f, x, h=h) if self.has_step else self.gradient(f, x)

    def __str__(self) -> str:
        return self.name


def central_of_array(f, x, **knobs):
    """Treat a scalar function as one that returns a 0-d array."""
    return central_difference(f, x, upstream=1.0, **knobs)


def escalating_to_the_end(f, x, **knobs):
    """Escalate against a claim that nothing agrees with, so that all orders are reached."""
    claimed = np.full(np.shape(np.asarray(x, object)), np.nan)
    return escalating_difference(f, x, claimed, rtol=0.0, atol=0.0, **knobs)[0]


def adaptive_value(f, x, **knobs):
    return adaptive_difference(f, x, **knobs).value


ESTIMATORS = [
    Estimator("forward", forward_difference, here=1, per=1, order=1),
    Estimator("central", central_difference, here=0, per=2, order=2),
    Estimator("central-upstream", central_of_array, here=0, per=2, order=2),
    Estimator("five-point", five_point_difference, here=0, per=4, order=4),
    Estimator("escalating", escalating_to_the_end, here=1, per=4, order=4),
    Estimator("adaptive", adaptive_value, here=1, per=None, order=6, has_step=False),
]
every_estimator = each("estimate", lambda: ESTIMATORS)
every_stepper = each("estimate", lambda: [row for row in ESTIMATORS if row.has_step])
# All but the one for array-valued functions, which refuses other values.
every_scalar_estimator = each(
    "estimate", lambda: [row for row in ESTIMATORS if row.gradient is not central_of_array]
)


class Counted:
    """A function that counts its calls."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.calls = 0

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        self.calls += 1
        return self.f(*inputs, **named)


def with_many(f: Callable[..., Any], many: Callable[[Any], Any]) -> tuple[Any, list[int]]:
    """Return f with an attribute `many`, and the list of how many points it was given."""
    given: list[int] = []

    def of(x: Any) -> Any:
        return f(x)

    def counted(points: Any) -> Any:
        given.append(len(points))
        return many(points)

    of.many = counted  # type: ignore[attr-defined]
    return of, given


def never(*inputs: Any) -> Any:
    """Fail the test that calls it: bad arguments are refused before ``f`` is called."""
    pytest.fail("f was called")


def bowl(x: Any) -> Any:
    """Sum ``(k + 1) x_k^2``: no two entries can be exchanged without changing the gradient."""
    return np.sum(np.arange(1, x.size + 1).reshape(x.shape) * x * x)


def bowl_gradient(x: Any) -> Any:
    x = np.asarray(x)
    return 2 * np.arange(1, x.size + 1).reshape(x.shape) * x


def frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


def unaligned(values: Any) -> Any:
    """Place numbers at an odd address."""
    values = np.asarray(values)
    buffer = np.zeros(values.nbytes + 1, np.uint8)[1:]
    array = buffer.view(values.dtype).reshape(values.shape)
    array[...] = values
    return array


GRID = np.arange(1.0, 13.0).reshape(3, 4) / 4

# Points that differ in how their numbers lie in memory, if they lie in an array at all.
LAYOUTS = {
    "C-order": GRID.copy(),
    "Fortran-order": np.asfortranarray(GRID),
    "transposed": GRID.copy().T,
    "negative-strides": GRID.copy()[::-1, ::-1],
    "read-only": frozen(GRID.copy()),
    "broadcast-stride-0": np.broadcast_to(GRID[0], (3, 4)),
    "overlapping": as_strided(GRID.copy(), shape=(5, 3), strides=(8, 8)),
    "three-axes-permuted": GRID.copy().reshape(3, 2, 2).transpose(1, 2, 0),
    "big-endian": GRID.astype(">f8"),
    "unaligned": unaligned(GRID),
    "nested-list": GRID.tolist(),
    "tuple": (0.5, 1.5),
    "list-of-0-d-arrays": [np.array(0.5), np.array(1.5)],
    "0-d": np.array(0.5),
    "float": 0.5,
    "numpy-float": np.float64(0.5),
    "empty": np.zeros(0),
    "empty-matrix": np.zeros((0, 3)),
    "empty-list": [],
    "subclass": GRID.view(np.memmap),
}
every_layout = pytest.mark.parametrize("x", LAYOUTS.values(), ids=list(LAYOUTS))

# What is no point: why, and what the message has to say.
NO_POINTS = {
    "integers": (np.array([1, 2]), TypeError, ["x", "int64", "np.asarray(x, float)"]),
    "Python-int": (3, TypeError, ["int64", "np.asarray(x, float)"]),
    "bools": (np.array([True]), TypeError, ["bool", "np.asarray(x, float)"]),
    "ragged": ([[1.0], [1.0, 2.0]], TypeError, ["x must be an array", "ragged"]),
    "None": (None, TypeError, ["x must hold numbers"]),
    "None-inside": ([1.0, None], TypeError, ["x must hold numbers", "must hold numbers, not list"]),
    "function": (np.sin, TypeError, ["x must hold numbers"]),
    "dates": (np.array(["2020-01-01"], "M8[D]"), TypeError, ["x must hold numbers", "datetime64"]),
    "masked": (np.ma.array([1.0, 2.0], mask=[0, 1]), TypeError, ["x is a masked array"]),
    "NaN": ([[1.0, 2.0, np.nan]], ValueError, ["x[0, 2]", "nan", "finite"]),
    "inf": ([1.0, np.inf], ValueError, ["x[1]", "inf", "finite"]),
    "NaN-in-the-imaginary-part": ([1j, complex(0, np.nan)], ValueError, ["x[1]", "nan"]),
}
every_no_point = pytest.mark.parametrize(
    ("x", "error", "words"), NO_POINTS.values(), ids=list(NO_POINTS)
)

# What is no step. Whatever Real numbers can do, these cannot.
NO_STEPS = {
    "zero": (0, ValueError, "not 0.0"),
    "minus-zero": (-0.0, ValueError, "not -0.0"),
    "NaN": (np.nan, ValueError, "not nan"),
    "inf": (np.inf, ValueError, "not inf"),
    "bool": (True, TypeError, "not bool True"),
    "string": ("1e-3", TypeError, "not str '1e-3'"),
    "None": (None, TypeError, "not None"),
    "list": ([0.25], TypeError, "not list [0.25]"),
    "one-entry-array": (np.array([0.25]), TypeError, "not ndarray array([0.25])"),
    "complex": (0.25j, TypeError, "not complex 0.25j"),
    "0-d-bool": (np.array(True), TypeError, "not bool np.True_"),
    "0-d-complex": (np.array(0.25j), TypeError, "not complex128 np.complex128(0.25j)"),
    "Decimal": (Decimal(2), TypeError, "not Decimal Decimal('2')"),
    "too-large-for-a-float": (10**400, ValueError, f"not int 1{'0' * 36}..."),
    "a-text-that-just-fits": ("a" * 38, TypeError, f"not str '{'a' * 38}'"),
    "a-long-text": ("a" * 39, TypeError, f"not str '{'a' * 36}..."),
}
every_no_step = pytest.mark.parametrize(
    ("h", "error", "words"), NO_STEPS.values(), ids=list(NO_STEPS)
)

# What is no value of a scalar function.
NO_VALUES = {
    "None": (lambda x: None, TypeError, "not None"),
    "string": (lambda x: "1.0", TypeError, "not str '1.0'"),
    "complex": (lambda x: 1 + 2j, TypeError, "not the complex (1+2j)"),
    "mapping": (lambda x: {"loss": 1.0}, TypeError, "not dict"),
    "vector": (lambda x: x, ValueError, "not an array of shape (3,)"),
    "empty": (lambda x: x[:0], ValueError, "not an array of shape (0,)"),
    "list": (lambda x: [1.0], ValueError, "not an array of shape (1,)"),
    "ragged-list": (lambda x: [1.0, [2.0]], TypeError, "not list [1.0, [2.0]]"),
}
every_no_value = pytest.mark.parametrize(
    ("f", "error", "words"), NO_VALUES.values(), ids=list(NO_VALUES)
)
