"""Many calls of the functions of each exercise, wider than its checks: do two files differ?

``same_values`` compares two files in all these calls, as the task allows: another order of
summation is no difference, nor is another share at a tie or another slope at a kink.
"""

import copy
import functools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

NAN, INF = np.nan, np.inf
Calls = Iterator[tuple[Any, ...]]


def draws(seed: int, *shapes: Any) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


def differences() -> Calls:
    functions = (
        lambda x: np.sum(x * x * x),
        lambda x: np.sum(np.exp(x)) - 3 * x.flat[0],
        lambda x: float(np.sum(x[..., :1])),
        lambda x: np.sum(x) * 1e-12,
    )
    for k, shape in enumerate([(), (1,), (5,), (2, 3), (3, 1), (1, 3), (2, 2, 2), (0,)]):
        for h in (0.25, 1e-3, 1e-5):
            for f in functions[: 4 if 0 not in shape else 1]:
                yield f, draws(k, shape)[0] if shape else np.array(0.7), h


def probes_01() -> Calls:
    for f, x, h in differences():
        yield "forward_difference", f, x, h


def probes_02() -> Calls:
    for f, x, h in differences():
        yield "central_difference", f, x, h
    yield "central_difference", np.sum, np.array([1.23e10, -3.3e11]), 1e-5
    a = draws(1, (3, 4))[0]
    for x in draws(2, (4,), (4, 2)):
        yield "array_difference", lambda x: a @ x * (a @ x), x, a @ x - 1, 0.1
    yield "array_difference", lambda x: x * 2, np.array(2.0), np.array(3.0), 0.1


def probes_03() -> Calls:
    a, n = draws(3, (4, 3), (4, 3))
    special = np.array([0.0, NAN, 1e-9, -1e-9, 1e-300, INF, 2.0])
    pairs = [
        (a, n),
        (a, -a),
        (1e-150 * a, 1e-150 * n),
        (1e150 * a, n),
        (np.array(2.0), np.array(1.0)),
    ]
    pairs += [(special, other) for other in (np.roll(special, 1), special, 0 * special, -special)]
    for pair in pairs:
        yield "relative_error", *pair
        for floor in (0.0, 1e-8, 0.5, 1e-300):
            yield "relative_error", *pair, floor
    for largest in (0.0, 1e-9, 1e-7, 1.1e-7, 1e-5, 1e-4, 1.1e-4, 1e-3, 1e-2, 1.1e-2, 1.0, INF, NAN):
        for errors in ([largest], [0.0, largest], [largest, 1e-12], [[largest, 0.0], [0.0, 0.0]]):
            yield "band", np.array(errors)
            for kinks in (True, False):
                yield "band", np.array(errors), kinks
                yield "band", np.array(errors), kinks


def probes_04() -> Calls:
    values = (0.0, 1.0, -1.0, 2.5, -4.0, 1e-9, NAN, INF, -INF)
    for a in values:
        for n in values:
            for rtol, atol in ((0.0, 0.0), (0.5, 0.0), (0.0, 1.5), (0.25, 0.25), (1.0, 2.0)):
                for filler in ([], [1.0, 7.0]):
                    yield "allclose", np.array([*filler, a]), np.array([*filler, n]), rtol, atol
                yield "allclose", np.array(a), np.array(n), rtol, atol
    shapes = (), (1,), (2,), (2, 1), (1, 2), (0,), (0, 3), (3, 0), (1, 0)
    for one in shapes:
        for other in shapes:
            yield "allclose", np.ones(one), np.ones(other), 0.5, 0.5


def probes_05() -> Calls:
    for f, x in (
        (np.sin, 1.0), (np.sin, -40.0), (np.exp, 0.5), (lambda x: 1000 + x * x, 0.7),
        (lambda x: np.sin(20000 * x), 0.7), (lambda x: -np.sin(16 * x) - 50, -0.7),
        (lambda x: 1 / x, 0.7), (lambda x: x, 0.0), (lambda x: 2.5, 0.3), (lambda x: x**3, -1e3),
        (lambda x: np.sin(2 * x), -0.7), (lambda x: 1e-9 * np.cos(x), 2.0),
        (lambda x: np.cos(300 * x) + 10 * x, 3.0),
    ):  # fmt: skip
        yield "adaptive", f, x
        for h in (0.25, 1e-3):
            yield "five_point", f, x, h


def probes_06() -> Calls:
    for k, shape in enumerate([(), (3,), (2, 3), (2, 2, 2), (0,)]):
        x, u = draws(k, shape, shape)
        for times in (1.0, 1e-300, 1e300, 1e-12):
            yield "relu", np.asarray(x * times)
            yield "relu_backward", np.asarray(x * times), np.asarray(u)
    yield "relu", np.array([0.0, -0.0, 1.0])


def probes_07() -> Calls:
    rng = np.random.default_rng(7)
    for n, classes in ((1, 3), (2, 2), (3, 3), (5, 2), (2, 6), (7, 4)):
        for size in (1.0, 30.0, 3000.0):
            scores = size * rng.normal(size=(n, classes)) + size * rng.normal(size=(n, 1))
            labels = rng.integers(classes, size=n)
            yield "softmax", scores
            yield "cross_entropy", scores, labels
            yield "cross_entropy_backward", scores, labels


def probes_08() -> Calls:
    rng = np.random.default_rng(8)
    for n, i, units, classes in (
        (1, 1, 1, 1),
        (1, 3, 2, 4),
        (2, 2, 2, 2),
        (4, 3, 5, 2),
        (5, 5, 5, 5),
        (3, 4, 4, 3),
    ):
        for size in (1.0, 300.0):
            shapes = (n, i), (i, units), units, (units, classes), classes
            X, *weights = (rng.normal(size=shape) for shape in shapes)
            X = X * size * np.arange(1, n + 1)[:, None]
            labels = rng.integers(classes, size=n)
            yield "forward", X, *weights
            for lam in (0.0, 0.3, 2.0):
                yield "loss", X, labels, *weights, lam
                yield "gradient", X, labels, *weights, lam


def probes_09() -> Calls:
    rng = np.random.default_rng(9)
    for rows, columns in ((3, 4), (5, 2), (2, 2), (1, 6), (4, 4)):
        u, x, y = rng.normal(size=(3, rows, columns))
        W, b, v = rng.normal(size=(columns, 3)), rng.normal(size=3), rng.normal(size=(rows, 3))
        yield "affine_backward", v, x, W, b
        for name in ("leaky_relu", "elu", "softmax", "batch_norm"):
            yield f"{name}_backward", u, x
            yield f"{name}_backward", u, 30 * x
        yield "max_pool_backward", u[:, ::2], x
        yield "embedding_backward", u, y, rng.integers(rows, size=rows)
        yield "mean_squared_error_backward", np.array(0.7), x, y


def probes_11() -> Calls:
    rng = np.random.default_rng(11)
    for n, features in ((1, 1), (1, 3), (2, 2), (3, 3), (2, 5), (6, 2), (5, 5)):
        for offset in (0.0, 1e4):
            for eps in (1e-5, 0.5):
                x = rng.normal(size=(n, features)) * np.arange(1, features + 1) + offset
                u, gamma, beta = rng.normal(size=(n, features)), *rng.normal(size=(2, features))
                yield "batch_norm", x, gamma, beta, eps
                yield "batch_norm_backward", u, x, gamma, eps


def probes_12() -> Calls:
    rng = np.random.default_rng(12)
    for c, f, image, window in (
        (1, 1, (3, 3), (2, 2)), (2, 3, (3, 4), (2, 3)), (2, 2, (5, 3), (2, 2)),
        (3, 1, (4, 3), (1, 3)), (1, 2, (4, 6), (3, 1)), (2, 2, (2, 2), (2, 2)),
        (3, 3, (6, 6), (3, 3)), (2, 4, (1, 5), (1, 2)),
    ):  # fmt: skip
        places = [s - k + 1 for s, k in zip(image, window, strict=True)]
        x, w, b = rng.normal(size=(c, *image)), rng.normal(size=(f, c, *window)), rng.normal(size=f)
        yield "convolve", x, w, b
        yield "convolve_backward", rng.normal(size=(f, *places)), x, w
    for c, h, w in ((1, 2, 2), (1, 4, 4), (2, 2, 6), (3, 4, 2), (2, 6, 8)):
        for shift in (0, -60):
            x = rng.permutation(c * h * w).reshape(c, h, w) / 2.0 + shift
            yield "max_pool", x
            yield "max_pool_backward", rng.normal(size=(c, h // 2, w // 2)), x


def probes_13() -> Calls:
    rng = np.random.default_rng(13)
    for n, m in ((1, 1), (1, 3), (3, 1), (2, 2), (4, 3), (3, 5), (4, 4)):
        for size in (1.0, 1e-160, 1e100):
            z, t, A, x, v = (rng.normal(size=shape) for shape in (n, n, (n, m), m, m))
            yield "softmax_jvp", size * t, z
            yield "softmax_jvp", size * t, z + 1000
            yield "softmax_jvp", size * t, 300 * z
            yield "hessian_vector", size * v, x, A
            yield "measured", lambda x: x * x * x, x, v, 0.1
            yield "measured", lambda x, A=A: A.T @ np.tanh(A @ x), x, v, 1e-4
            M = size * rng.normal(size=(m, m))
            a, b = rng.normal(size=(2, m))
            for H in (M, M + M.T, 0 * M, -M, M - M.T, np.triu(M)):
                yield "asymmetry", lambda x, H=H: H @ x, a, b
                yield "asymmetry", lambda x, H=H: H @ x, np.eye(m)[0], np.eye(m)[-1]
                yield "asymmetry", lambda x, H=H: H @ x, np.eye(m)[-1], np.eye(m)[0]


def probes_14() -> Calls:
    rng = np.random.default_rng(14)
    for lines, n in ((1, 1), (3, 2), (2, 3), (4, 4), (6, 9), (1, 5)):
        yield "signs", 3, lines, n
        V = rng.choice([-1.0, 1.0], size=(lines, n))
        x, c, w, e = rng.normal(size=(4, n))
        for f in (lambda x, w=w: w @ x**3, lambda x: float(np.sum(np.exp(x)))):
            yield "slope_along", f, x, V[0], 0.1
            yield "slope_along", f, x, 3 * e, 0.01
            yield "residuals", f, x, c, V, 0.1
        r = V @ e
        for residuals in (r, -r, 1e-9 * r, np.abs(r)):
            yield "certificate", residuals
            yield "suspect", residuals, V
            yield "suspect", V[:, 0] * e[0], V
            repaired = np.array([c, 2 * c, c - e, -c, c - 1.01 * e])
            for allowed in (0.0, 1e-6, 0.1, 100.0):
                yield "mends", residuals, V, c, repaired, allowed
                yield "mends", residuals, V, c, repaired[2:3], allowed


def probes_15() -> Calls:
    rng = np.random.default_rng(15)
    for n, features in ((1, 1), (1, 4), (3, 3), (5, 2), (2, 6)):
        x, u, W = *rng.normal(size=(2, n, features)), rng.normal(size=(features, features))
        for p in (0.0, 0.1, 0.5, 0.9):
            for seed in (0, 1, 12):
                yield "masks", seed, (2, n, features), p
                yield "forward", x, W, p, seed
                yield "backward", u, x, W, p, seed
    for p, n, k in ((0.25, 1024, 3), (0.5, 8, 5), (0.9, 10, 1), (0.0, 5, 2), (1.0, 5, 2)):
        yield "unseen", p, n, k
    for make in (
        lambda: lambda x: x,
        lambda: lambda x: float(x[0]),
        lambda: functools.partial(lambda c, x: x + 1e-15 * next(c), iter(range(9))),
        lambda: functools.partial(lambda c, x: np.ones(next(c)), iter((1, 3))),
        lambda: functools.partial(lambda c, x: 1.0 * next(c), iter((1, 3))),
        lambda: functools.partial(lambda c, x: x * np.array([1, 1, next(c)]), iter((1, 3))),
        lambda: functools.partial(lambda c, x: x * np.array([next(c), 1, 1]), iter((1, 3))),
    ):
        yield "repeatable", make(), np.array([1.0, -2.0, 3.0])


def probes_16() -> Calls:
    for x, u in (draws(16, 5, 5), draws(17, (3, 4), (3, 4)), draws(18, (), ())):
        for k in (0.5, 1.0, 3.0, -2.0):
            for size in (1.0, 500.0):
                x, u = np.asarray(size * x), np.asarray(u)
                for name in ("softplus", "softplus_second", "reverse"):
                    yield name, x, k
                yield "softplus_backward", u, x, k
                yield "reverse_backward", u, x, k


def probes_17() -> Calls:
    entries = (0.0, 1.0, -1.0, 2.0, 1e-300)
    for shape in (
        (),
        (1,),
        (2,),
        (3,),
        (1, 1),
        (1, 3),
        (3, 1),
        (2, 2),
        (3, 3),
        (2, 3),
        (1, 2, 2),
        (2, 2, 2),
        (1, 1, 2),
    ):
        for entry in entries:
            yield "special", np.full(shape, entry)
        rng = np.random.default_rng(17)
        for _ in range(6):
            yield "special", rng.integers(-1, 2, size=shape).astype(float)
            yield "special", rng.integers(0, 3, size=shape).astype(float)
        if len(shape) == 2 and shape[0] == shape[1]:
            a = rng.normal(size=shape)
            for other in (a + a.T, a - a.T, np.abs(a), a):
                yield "special", other
                yield "special", other.round()


def probes_18() -> Calls:
    yield "bfloat16", np.array([[3.14159, -0.1, 1002.7], [0.0, 1.5, -2e-5]])
    yield "bfloat16", np.concatenate([1e30 * draws(1, 40)[0], 1e-30 * draws(2, 40)[0]])
    yield "bfloat16", np.array(1.001)
    rng = np.random.default_rng(18)
    for n, m in ((1, 1), (3, 2), (4, 4)):
        A, x, v, u = (rng.normal(size=s) for s in ((n, m), m, m, n))
        for f in (lambda x, A=A: A @ x, lambda x, A=A: np.tanh(A @ x)):
            for h in (0.5, 0.01):
                yield "residual", f, x, A.T @ u + 0.1, v, u, h
            yield "residuals", f, lambda u, A=A: A.T @ u + 0.1, x, (0.5, 0.25), 5, 3
            yield "residuals", f, lambda u, A=A: A.T @ u + 0.1, x, (0.1, 0.2, 0.3), 2, 3
        k = n + 2
        r, claims = rng.normal(size=(2, k)), rng.normal(size=k)
        for rows in (r, r * [[1], [-1]], 1e-100 * r, r + 5):
            yield "split", rows
            yield "whole", rows, claims
            yield "whole", rows, 1e-100 * claims
    for square in (0.0, 0.0004, 0.0025, 0.01, -0.001, -0.01, NAN, 1.0):
        for doubt in (0.0, 0.0001, 0.0004, 0.002, NAN):
            for tolerance in (0.05, 0.5, 2.0):
                yield "verdict", square, doubt, tolerance


@functools.cache
def calls_of(number: str) -> list[tuple[Any, ...]]:
    return list(globals()[f"probes_{number}"]())


def answers(number: str, functions: dict[str, Any]) -> Iterator[Any]:
    """Yield what a file answers to each call; an exception is an answer, too."""
    for name, *given in copy.deepcopy(calls_of(number)):
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                yield given, functions[name](*given)
        except Exception as error:
            yield None, type(error)


def same_values(number: str, one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two files answer alike, and leave their arguments alike."""
    pairs = zip(answers(number, one), answers(number, other), strict=True)
    return all(map(alike, *zip(*((a, b) for a, b in pairs), strict=True)))


def alike(a: Any, b: Any) -> bool:
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if callable(a) or callable(b):
        return a is b or not (isinstance(a, type) or isinstance(b, type))
    if isinstance(a, str) or a is None or b is None:
        return type(a) is type(b) and a == b
    try:
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or (a.dtype.kind == "f") != (b.dtype.kind == "f"):
            return False
        if a.dtype.kind in "OU":
            return bool((a == b).all())
        if a.dtype != b.dtype and a.dtype.kind == "f":
            return False
        size = np.abs(a[np.isfinite(a)]).max(initial=0.0)
        return bool(np.allclose(a, b, rtol=1e-9, atol=1e-9 * size, equal_nan=True))
    except (TypeError, ValueError):
        return False
