"""Small functions with their vjp and jvp, and tables of what torch's gradcheck says of them.

``parity/test_torch.py`` asks torch itself about the rows of these tables.
"""

import numpy as np
import pytest

from gradcheck_ref.compat.torch import GradcheckError

X, Y = np.array([0.5, 1.5]), np.array([0.75, -1.25])
Z = np.array([0.5 + 1.5j, -0.75 + 0.25j])
A = np.array([[1.0, 2.0], [3.0, -4.0], [0.5, 0.25]])

both_modes = pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])


def square(x):
    return x * x


def square_vjp(u, x):
    return 2 * x * u


def square_jvp(t, x):
    return 2 * x * t


def two(x, y):
    return x * y, x + y


def two_vjp(u, x, y):
    return u[0] * y + u[1], u[0] * x + u[1]


def two_jvp(t, x, y):
    return t[0] * y + t[1] * x, t[0] + t[1]


def message_of(check, *arguments, error=GradcheckError, **flags):
    """Return what a check says when it fails."""
    with pytest.raises(error) as caught:
        check(*arguments, **flags)
    return str(caught.value)


class Counted:
    """A function that counts its calls, and keeps what it was called with."""

    def __init__(self, function):
        self.function, self.calls = function, []

    def __call__(self, *arguments):
        self.calls.append(arguments)
        return self.function(*arguments)


def writing(number, product):
    def writes(*arguments):
        arguments[number][...] += 1
        return product(*arguments)

    return writes


class Changing:
    """A vjp of the square that is off by a factor which depends on the number of the call."""

    def __init__(self, factor):
        self.factor, self.calls = factor, 0

    def __call__(self, u, x):
        self.calls += 1
        return square_vjp(u, x) * self.factor(self.calls)


def drifting():
    return Changing(lambda n: 1 + 1e-6 * n)


def afresh(vjp):
    """Return a vjp that begins to count anew, if it does count."""
    return Changing(vjp.factor) if isinstance(vjp, Changing) else vjp


def wants_none(product):
    """Let a vjp or jvp have None for what is undefined."""
    product.materialize_grads = False
    return product


def or_zeros(given):
    return [np.zeros(2) if one is None else one for one in given]


def raising(error):
    def raises(*arguments):
        raise error

    return raises


def total(x):
    return np.sum(x * x)


def refuses_none(u, x):
    if u is None:
        raise RuntimeError("no upstream")
    return 2 * x * u


def undefined_is_one(u, x, y):
    """A vjp that takes the first cotangent for 1 where there is none and the second is zero."""
    extra = float(u[0] is None and u[1] is not None and not u[1].any())
    return tuple(gradient + extra for gradient in two_vjp(or_zeros(u), x, y))


# --- right and wrong, in pairs ---------------------------------------------------------------

# A function and its inputs; a right vjp and a wrong one; a right jvp and a wrong one.
PAIRS = {
    "one array": (square, X, square_vjp, lambda u, x: x * u, square_jvp, lambda t, x: x * t),
    "0-d": (square, np.array(0.5), square_vjp, lambda u, x: -u, square_jvp, lambda t, x: -t),
    "two in and out": (
        two, (X, Y), two_vjp, lambda u, x, y: (u[0] * x + u[1], u[0] * x + u[1]),
        two_jvp, lambda t, x, y: (t[0] * x + t[1] * x, t[0] + t[1]),
    ),
    "a list of outputs": (
        lambda x: [x * x, 3 * x], X, lambda u, x: 2 * x * u[0] + 3 * u[1],
        lambda u, x: 2 * x * u[0], lambda t, x: [2 * x * t, 3 * t],
        lambda t, x: [2 * x * t, None],
    ),
    "a constant output": (
        lambda x: (x * x, np.ones(3)), X, lambda u, x: 2 * x * u[0], lambda u, x: x * u[0],
        lambda t, x: (2 * x * t, np.zeros(3)), lambda t, x: (2 * x * t, np.ones(3) * t[0]),
    ),
    "a number out": (
        lambda x: float(np.sum(x * x)), X, square_vjp, lambda u, x: x * u,
        lambda t, x: float(2 * x @ t), lambda t, x: float(x @ t),
    ),
    "constants": (
        lambda x, n, factor, name: factor * x**n, (X, np.array([2, 3]), 0.5, "power"),
        lambda u, x, n, *_: (0.5 * n * x ** (n - 1) * u, None, None, None),
        lambda u, x, n, *_: (0.5 * n * x**n * u, None, None, None),
        lambda t, x, n, *_: 0.5 * n * x ** (n - 1) * t[0],
        lambda t, x, n, *_: 0.5 * n * x**n * t[0],
    ),
    "a gradient for the arrays only": (
        lambda x, n: x**n, (X, 2), lambda u, x, n: 2 * x * u, lambda u, x, n: x * u,
        lambda t, x, n: 2 * x * t[0], lambda t, x, n: x * t[0],
    ),
    "an unused input": (
        lambda x, y: x * x, (X, Y), lambda u, x, y: (2 * x * u, None),
        lambda u, x, y: (None, 2 * x * u), lambda t, x, y: 2 * x * t[0],
        lambda t, x, y: 2 * x * t[1],
    ),
    "integers first": (
        lambda x: (np.sign(x).astype(int), x * x), X, lambda u, x: 2 * x * u[1],
        lambda u, x: 2 * x * u[0], lambda t, x: (None, 2 * x * t), lambda t, x: (t, None),
    ),
    "complex": (
        square, Z, lambda u, z: 2 * z.conj() * u, lambda u, z: 2 * z * u,
        square_jvp, lambda t, z: 2 * z * t.conj(),
    ),
    "complex to real": (
        lambda z: np.abs(z) ** 2, Z, lambda u, z: 2 * z * u, lambda u, z: 2 * z.conj() * u,
        lambda t, z: 2 * (z.conj() * t).real, lambda t, z: 2 * (z * t).real,
    ),
    "real to complex": (
        lambda x: x * (1 + 2j), X, lambda u, x: (u * (1 - 2j)).real,
        lambda u, x: (u * (1 + 2j)).real, lambda t, x: t * (1 + 2j), lambda t, x: t * (1 - 2j),
    ),
    "only an imaginary part wrong": (
        lambda x: x * (1 + 2j), X, lambda u, x: (u * (1 - 2j)).real, lambda u, x: u.real,
        lambda t, x: t * (1 + 2j), lambda t, x: t * (1 + 0j),
    ),
    "real and complex": (
        lambda z, x: (z * x, np.abs(z) ** 2), (Z, X),
        lambda u, z, x: (u[0] * x + 2 * z * u[1], (z.conj() * u[0]).real),
        lambda u, z, x: (u[0] * x + 2 * z.real * u[1], (z.conj() * u[0]).real),
        lambda t, z, x: (t[0] * x + z * t[1], 2 * (z.conj() * t[0]).real),
        lambda t, z, x: (t[0] * x + z * t[1], 2 * z.real * t[0].real),
    ),
}  # fmt: skip

# --- edges -----------------------------------------------------------------------------------

FAILS = "GradcheckError"

# What both say: the function, its vjp, its inputs and the flags, and the outcome.
SAME = {
    "a tuple of one": (lambda x: (x * x,), lambda u, x: 2 * x * u[0], X, {}, True),
    "no gradient": (square, lambda u, x: None, X, {}, FAILS),
    "an integer input": (
        lambda x, n: x**n, lambda u, x, n: (n * x ** (n - 1) * u, None), (X, np.array([2, 3])), {},
        True,
    ),
    "False": (square, lambda u, x: x * u, X, {"raise_exception": False}, False),
    "a kink": (lambda x: np.maximum(x, 0), lambda u, x: u * (x > 0), np.zeros(2), {}, FAILS),
    "outside the domain": (np.log, lambda u, x: u / x, np.array([1e-7]), {}, FAILS),
    "nan": (lambda x: x * np.nan, lambda u, x: u * np.nan, X, {}, FAILS),
    "an infinite point": (square, square_vjp, np.array([np.inf]), {}, FAILS),
    "0.09 %": (square, lambda u, x: 2.0018 * x * u, X, {"atol": 0.0}, True),
    "0.11 %": (square, lambda u, x: 2.0022 * x * u, X, {"atol": 0.0}, FAILS),
    "a tiny function": (lambda x: 1e-6 * x * x, lambda u, x: 0 * x, X, {}, True),
    "without atol": (lambda x: 1e-6 * x * x, lambda u, x: 0 * x, X, {"atol": 0.0}, FAILS),
    "a long step": (lambda x: x**3, lambda u, x: 3 * x * x * u, X, {"eps": 0.1}, FAILS),
    "a vjp with state": (square, drifting(), X, {}, FAILS),
    "cotangent forgotten": (total, lambda u, x: 2 * x, X, {}, FAILS),
    "0 * inf": (total, lambda u, x: 2 * x * u * (np.inf if u == 0 else 1), X, {}, FAILS),
    "None handled": (
        two, wants_none(lambda u, x, y: two_vjp(or_zeros(u), x, y)), (X, Y), {}, True,
    ),
    "None not handled": (
        two, wants_none(lambda u, x, y: two_vjp(u, x, y)), (X, Y), {}, "TypeError",
    ),
    "None refused": (total, wants_none(refuses_none), X, {}, FAILS),
    "None is one": (two, wants_none(undefined_is_one), (X, Y), {}, FAILS),
    "func raises": (raising(KeyError("x")), square_vjp, X, {"raise_exception": False}, "KeyError"),
    "vjp raises": (square, raising(KeyError("x")), X, {"raise_exception": False}, "KeyError"),
    "the shape changes": (
        lambda x: x[:1] * 1.0 if x[0] > X[0] else x * 1.0, square_vjp, X,
        {"raise_exception": False}, "AssertionError",
    ),
    "the dtype changes": (
        lambda x: x * 1.0 if x[0] <= X[0] else x * (1 + 0j), square_vjp, X,
        {"raise_exception": False}, "AssertionError",
    ),
    "no floating input": (square, square_vjp, np.array([1, 2]), {}, "ValueError"),
    "nothing asked for": (square, square_vjp, X, {"check_backward_ad": False}, "AssertionError"),
    "(float, integer)": (
        lambda x: (x * x, np.round(x).astype(int)), lambda u, x: 2 * x * u[0], X + 0.1, {}, True,
    ),
    "only integers": (lambda x: np.round(x).astype(int), square_vjp, X + 0.1, {}, True),
}  # fmt: skip

# Where we differ on purpose: what we say, and what torch says in slow and in fast mode.
DIFFERENT = {
    "(integer, float)": (
        lambda x: (np.round(x).astype(int), x * x), lambda u, x: 2 * x * u[1], X + 0.1, {},
        True, "IndexError", True,
    ),
    "integers that change": (
        lambda x: np.floor(2 * x).astype(int), square_vjp, X, {}, FAILS, True, FAILS,
    ),
    "empty": (square, square_vjp, np.zeros(0), {}, "ValueError", True, True),
    "a step that does not move x": (
        lambda x: 0 * x, lambda u, x: 0 * x, np.array([1e20]), {}, FAILS, True, True,
    ),
    "a step that is rounded": (
        lambda x: x * 1.0, lambda u, x: u * 1.0, np.array([1.23e10]), {}, True, FAILS, FAILS,
    ),
    "infinity agrees with itself": (
        lambda x: np.where(x > 0, np.inf, 0.0), lambda u, x: np.where(u == 0, 0.0, np.inf),
        np.array([0.0]), {}, FAILS, True, True,
    ),
    "NaN the second time": (
        total, Changing(lambda n: np.nan if n == 2 else 1), X, {}, FAILS, True, True,
    ),
    "one gradient too many": (
        square, lambda u, x: (2 * x * u, x), X, {}, FAILS, "RuntimeError", "RuntimeError",
    ),
    "a complex gradient": (
        square, lambda u, x: 2 * x * u * (1 + 0j), X, {}, FAILS, "RuntimeError", "RuntimeError",
    ),
    "a column for a row": (
        square, lambda u, x: (2 * x * u)[:, None], X, {}, FAILS, "RuntimeError", "RuntimeError",
    ),
    "a gradient not summed": (
        square, lambda u, x: np.ones((4, 1)) * (2 * x * u) / 4, X, {}, FAILS, True, True,
    ),
    "no step": (square, square_vjp, X, {"eps": 0.0}, "ValueError", FAILS, FAILS),
    "a negative tolerance": (
        square, square_vjp, X, {"rtol": -1.0}, "ValueError", "RuntimeError", "RuntimeError",
    ),
    "an infinite tolerance": (square, square_vjp, X, {"atol": np.inf}, "ValueError", True, True),
    "NaN as a tolerance": (
        square, square_vjp, X, {"nondet_tol": np.nan}, "ValueError", True, True,
    ),
}  # fmt: skip
EDGES = {name: (*row, row[-1], row[-1]) for name, row in SAME.items()} | DIFFERENT

# --- the second derivative -------------------------------------------------------------------


def square_vjp_vjp(w, x, u):
    return 2 * u * w, 2 * x * w


def square_vjp_jvp(t, x, u):
    return 2 * u * t[0] + 2 * x * t[1]


def two_vjp_vjp(w, x, y, u, v):
    return u * w[1], u * w[0], y * w[0] + x * w[1], w[0] + w[1]


def two_vjp_jvp(t, x, y, u, v):
    return y * t[2] + u * t[1] + t[3], x * t[2] + u * t[0] + t[3]


# A function, its vjp, the vjp and the jvp of that, and the inputs.
SECOND = {
    "one array": (square, square_vjp, square_vjp_vjp, square_vjp_jvp, (X,)),
    "two in and out": (two, two_vjp, two_vjp_vjp, two_vjp_jvp, (X, Y)),
    "a number out": (
        lambda x: float(np.sum(x * x)), square_vjp, lambda w, x, u: (2 * u * w, 2 * x @ w),
        square_vjp_jvp, (X,),
    ),
    "complex": (
        square, lambda u, z: 2 * z.conj() * u, lambda w, z, u: (2 * w.conj() * u, 2 * z * w),
        lambda t, z, u: 2 * z.conj() * t[1] + 2 * t[0].conj() * u, (Z,),
    ),
    "a constant": (
        lambda x, n: x**n, lambda u, x, n: (n * x ** (n - 1) * u, None),
        lambda w, x, n, u: (n * (n - 1) * x ** (n - 2) * u * w[0], None, n * x ** (n - 1) * w[0]),
        lambda t, x, n, u: (n * (n - 1) * x ** (n - 2) * u * t[0] + n * x ** (n - 1) * t[2], None),
        (X, np.array([2, 3])),
    ),
    "a gradient for the arrays only": (
        lambda n, x: x**n, lambda u, n, x: n * x ** (n - 1) * u,
        lambda w, n, x, u: (None, n * (n - 1) * x ** (n - 2) * u * w, n * x ** (n - 1) * w),
        lambda t, n, x, u: n * (n - 1) * x ** (n - 2) * u * t[1] + n * x ** (n - 1) * t[2],
        (3, X),
    ),
    "an integer output": (
        lambda x: (np.sign(x).astype(int), x * x), lambda u, x: 2 * x * u[1],
        lambda w, x, _, u: (2 * u * w, None, 2 * x * w),
        lambda t, x, _, u: 2 * u * t[0] + 2 * x * t[2], (X,),
    ),
}  # fmt: skip


def tripled(product, number):
    """Make one of the results of a vjp or jvp three times as large."""

    def wrong(*arguments):
        results = product(*arguments)
        if not isinstance(results, tuple):
            return 3 * results
        return tuple(3 * r if i == number else r for i, r in enumerate(results))

    return wrong
