"""Edges of TVM's check: what comes of each call, here and in TVM (``parity/test_tvm.py``)."""

import numpy as np

X = np.array([[0.5, 1.0, 1.5], [2.0, 2.5, 3.0]])
ONE = np.ones(1)
WAVES = np.linspace(1, 2, 41)


def square(x):
    return np.sum(x * x)


def product(a, b):
    return np.sum(a * b)


def doubled_first(x):
    return 2 * x * np.where(np.arange(x.size) == 0, 2, 1)


# What comes of a call in both, and the call.
SAME = {
    "the right gradient": (None, square, [X], [2 * X]),
    "a wrong one": (AssertionError, square, [X], [3 * X]),
    "two entries wrong": (AssertionError, square, [X], [2 * X + 5 * (X > 2)]),
    "names": (None, product, {"a": X, "b": X[::-1]}, {"b": X, "a": X[::-1]}),
    "a subset of the names": (None, product, {"a": X, "b": X}, {"b": X}),
    "a shorter list": (None, product, [X, X], [X]),
    "rows of an array as inputs": (None, product, X, X[::-1]),
    "integers as a constant": (None, product, [X, np.arange(3)], [0 * X + np.arange(3)]),
    "shape (3,) for (2, 3)": (AssertionError, square, [X], [2 * X[0]]),
    "NaN is claimed": (ValueError, square, [X], [np.nan * X]),
    "infinity is claimed": (ValueError, square, [X], [np.inf * X]),
    "f is NaN": (ValueError, lambda x: np.nan, [X], [X]),
    "f is infinite at x": (ValueError, lambda x: np.log(abs(x[0])), [0 * ONE], [0 * ONE]),
    "f is infinite ahead": (ValueError, lambda x: 1 / (x[0] - 1e-3), [0 * ONE], [0 * ONE]),
    "f ends within the step": (ValueError, lambda x: np.log(x[0]), [1e-7 * ONE], [1e7 * ONE]),
    "the value is NaN": (ValueError, square, [X], [2 * X], np.nan),
    "the value is given": (None, square, [X], [2 * X], square(X)),
    "a wrong value": (None, square, [X], [2 * X], 100.0),
    "a wrong value that helps": (None, np.sum, [ONE], [2 * ONE], 1 - 1e-3),
    "kink, the mean is claimed": (None, lambda x: abs(x[0]), [0 * ONE], [0 * ONE]),
    "kink, the slope ahead": (None, lambda x: abs(x[0]), [0 * ONE], [ONE]),
    "kink, the slope behind": (AssertionError, lambda x: abs(x[0]), [0 * ONE], [-ONE]),
    "a doubled entry of 40": (AssertionError, square, [WAVES[:40]], [doubled_first(WAVES[:40])]),
    "a doubled entry of 41": (None, square, [WAVES], [doubled_first(WAVES)]),
    "9 % too much": (None, square, [X], [1.09 * 2 * X]),
    "below atol": (None, lambda x: 1e-3 * square(x), [X], [0 * X]),
    "f looks elsewhere": (AssertionError, lambda x: square(X), [X], [2 * X]),
    "f raises": (ZeroDivisionError, lambda x: 1 // 0, [X], [X]),
    "f returns a vector": (ValueError, lambda x: x, [X[0]], [X[0]]),
    "f returns None": (TypeError, lambda x: None, [X], [X]),
    "x in Fortran order": (None, square, [np.asfortranarray(X)], [2 * X]),
    "the sum loses the step in float32": (
        AssertionError,
        lambda x: np.sum(x * x),
        [np.arange(1, 100, dtype=np.float32)],
        [2 * np.arange(1.0, 100.0)],
    ),
    "other knobs": (None, square, [X], [2 * X + 0.4], None, 0.01, 0.3, 0.1),
    "other knobs, wrong": (AssertionError, square, [X], [2 * X + 0.4], None, 0.01, 0.03, 0.01),
    "zero tolerance": (AssertionError, square, [X], [2.0001 * X], None, 0.01, 0, 0),
    "a step of zero": (ValueError, square, [X], [2 * X], None, 0),
}

Z = np.array([1.0 + 2.0j, -0.5j])


def modulus(z):
    return np.sum(np.abs(z) ** 2)


# What differs on purpose: what TVM does, what is done here, and the call.
DIFFERENT = {
    "0-d": (TypeError, None, square, [np.array(3.0)], [np.array(6.0)]),
    "0-d, wrong": (TypeError, AssertionError, square, [np.array(3.0)], [np.array(9.0)]),
    "a number": (AttributeError, None, square, [3.0], [6.0]),
    "a number, wrong": (AttributeError, AssertionError, square, [3.0], [9.0]),
    "empty": (ValueError, None, lambda a, b: square(b), [X[:0], X], [X[:0], 2 * X]),
    "nothing to compare": (None, ValueError, square, [X], []),
    "Fortran order": (AssertionError, None, square, [X], [np.asfortranarray(2 * X)]),
    "integers, wrong": (None, TypeError, square, [np.arange(3)], [np.zeros(3, int)]),
    "integer gradient": (
        AssertionError, None, lambda x: 1.6 * np.sum(x), [ONE], [np.array([2])], 1.6, 1e-3, 0.5, 0,
    ),
    "the step is rounded": (
        AssertionError,
        None,
        lambda x: float(x.sum(dtype=float)),
        [np.full(2, 3000.0, np.float32)],
        [np.ones(2)],
        *(None, 1e-3, 0, 0.01),
    ),
    "the step vanishes": (AssertionError, ValueError, np.sum, [1e20 * ONE], [ONE]),
    "half precision": (AssertionError, ValueError, np.sum, [np.full(1, 5, np.float16)], [ONE]),
    "a negative step": (None, ValueError, square, [X], [2 * X], None, -1e-3),
    "a tolerance of NaN": (None, ValueError, square, [X], [9 * X], None, 1e-3, np.nan),
    "an infinite tolerance": (None, ValueError, square, [X], [9 * X], None, 1e-3, np.inf),
    "a negative tolerance": (AssertionError, ValueError, square, [X], [2 * X], None, 1e-3, -1),
    "x is infinite": (None, ValueError, lambda x: np.sum(1 / x), [np.inf * ONE], [0 * ONE]),
    "complex, conjugate": (None, AssertionError, modulus, [Z], [2 * Z.conj()]),
    "complex, off by 100j": (None, AssertionError, modulus, [Z], [2 * Z + 100j]),
    "complex for real": (None, AssertionError, square, [X], [2 * X + 100j]),
    "beyond 1e154": (ValueError, None, lambda x: 1e200 * np.sum(x), [ONE], [1e200 * ONE]),
    "a list with a dict": (AttributeError, TypeError, square, [X], {"x": 2 * X}),
    "a dict with a list": (AttributeError, TypeError, square, {"x": X}, [2 * X]),
}  # fmt: skip

EDGES = {name: (kind, kind, *args) for name, (kind, *args) in SAME.items()} | DIFFERENT
ROWS = [(peer, own, args) for peer, own, *args in EDGES.values()]
