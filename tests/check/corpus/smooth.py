"""Smooth functions in float64, of any shape, of one and of several inputs and outputs."""

import numpy as np

from gradcheck_ref import check_jvp, check_vjp

from .row import Row

RNG = np.random.default_rng(2)
A, X = np.random.default_rng(1).normal(size=(20, 20)), RNG.normal(size=20)
M, B = RNG.normal(size=(4, 6)), RNG.normal(size=(4, 4))
Y = np.random.default_rng(3).normal(size=40)
Z = RNG.normal(size=5) + 1j * RNG.normal(size=5)
VJP, JVP = {"check": check_vjp}, {"check": check_jvp}


def layer(x):
    return np.sum(np.tanh(A @ x) ** 2)


def of_layer(x):
    y = np.tanh(A @ x)
    return A.T @ (2 * y * (1 - y**2))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def of_softmax(u, x):
    s = softmax(x)
    return s * (u - np.sum(u * s, axis=-1, keepdims=True))


def network(W, b, v):
    return np.mean((np.tanh(M.T @ W + b) @ v) ** 2)


def of_network(W, b, v):
    h = np.tanh(M.T @ W + b)
    y = 2 * (h @ v) / len(h)
    inner = np.outer(y, v) * (1 - h**2)
    return M @ inner, inner.sum(axis=0), h.T @ y


def normed(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def of_normed(u, x):
    y = normed(x)
    return (u - u.mean(axis=0) - y * (u * y).mean(axis=0)) / x.std(axis=0)


def log_det(K):
    return np.linalg.slogdet(K)[1]


SPD = B @ B.T + 4 * np.eye(4)

ROWS = [
    Row("a tanh layer", layer, X, of_layer),
    Row("a tanh layer, its gradient as numbers", layer, X, of_layer(X)),
    Row("one number", lambda x: x**3, 1.5, lambda x: 3 * x**2),
    Row("one number in an array", lambda x: np.sum(np.exp(x)), [0.3], np.exp),
    Row("a matrix", lambda W: np.sum(np.sin(W @ W)), B,
        lambda W: np.cos(W @ W) @ W.T + W.T @ np.cos(W @ W)),
    Row("a logarithm of a determinant", log_det, SPD, lambda K: np.linalg.inv(K).T),
    Row("a quadratic form", lambda x: x @ SPD @ x / 2, X[:4], lambda x: SPD @ x,
        kind={"doubled": "factor"}),
    Row("a mean of squares", lambda x: np.mean(x**2), X, lambda x: 2 * x / x.size),
    Row("a network of three inputs", network, (B, X[:4], X[4:8]), of_network),
    Row("a rational function", lambda x: np.sum(1 / (1 + x**2)), X,
        lambda x: -2 * x / (1 + x**2) ** 2),
    Row("an exponential of 50 x", lambda x: np.sum(np.exp(50 * x)), X[:5] / 5,
        lambda x: 50 * np.exp(50 * x)),
    Row("a wave of 1e3 x", lambda x: np.sum(np.sin(1e3 * x)), [0.3, 0.7],
        lambda x: 1e3 * np.cos(1e3 * x)),
    Row("a wave of 1e11 x", lambda x: np.sum(np.sin(1e11 * x)), [-1.5760898454352261],
        lambda x: 1e11 * np.cos(1e11 * x), want="unsure", edits="doubled", hides="unsure fail"),
    Row("a wave of 1e4 x", lambda x: np.sum(np.sin(1e4 * x)), X[:5],
        lambda x: 1e4 * np.cos(1e4 * x)),
    Row("a cube at 0", lambda x: np.sum(x**3), [0.0, 0.5], [0.0, 0.75]),
    Row("a fourth power at 0", lambda x: np.sum(x**4), [0.0, 0.5], lambda x: 4 * x**3),
    Row("sines, as a vjp", np.sin, X[:6], lambda u, x: u * np.cos(x), **VJP),
    Row("sines, as a jvp", np.sin, X[:6], lambda t, x: t * np.cos(x), **JVP),
    Row("sines of 60, as a vjp", np.sin, np.linspace(0.1, 1.5, 60),
        lambda u, x: u * np.cos(x), **VJP),
    Row("sines of 60, as a jvp", np.sin, np.linspace(0.1, 1.5, 60),
        lambda t, x: t * np.cos(x), **JVP),
    Row("a product by a matrix", lambda x: M @ x, X[:6], lambda u, x: M.T @ u, **VJP),
    Row("a product of two inputs", lambda x, w: x @ w, (X[:6].reshape(2, 3), X[6:18].reshape(3, 4)),
        lambda u, x, w: (u @ w.T, x.T @ u), **VJP),
    Row("a softmax of rows", softmax, M, of_softmax, **VJP,
        wrong={"only the diagonal": lambda u, x: u * softmax(x) * (1 - softmax(x))}),
    Row("a normalised batch", normed, M, of_normed,
        wrong={"u / std": lambda u, x: u / x.std(axis=0)}, **VJP),
    Row("two outputs", lambda x: (np.sin(x), x @ x), X[:5],
        lambda u, x: u[0] * np.cos(x) + 2 * u[1] * x,
        wrong={"one output": lambda u, x: u[0] * np.cos(x)}, **VJP),
    Row("an integer beside another output", lambda x: (int(np.argmax(x)), x * x), X[:3],
        lambda u, x: 2 * x * u[1], **VJP),
    Row("a complex input", lambda z: np.sum(np.abs(z) ** 2), Z, lambda z: 2 * z,
        wrong={"conjugated": lambda z: 2 * z.conj()}),
    Row("a complex square", lambda z: z**2, Z, lambda u, z: u * np.conj(2 * z),
        wrong={"no conjugate": lambda u, z: u * 2 * z}, **VJP),
]  # fmt: skip


def normed_pair(x, eps):
    return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps)


def pair_norm(eps):
    """Return a batch norm of two examples, which are nearly at -1 and 1 wherever they are."""
    x = B[:2, :3]
    steep = eps / ((x[0] - x[1]) ** 2 / 4 + eps) ** 1.5 / 2
    right = lambda u, x: steep * np.stack([u[0] - u[1], u[1] - u[0]])  # noqa: E731
    wrong = {"u / std": lambda u, x: u / np.sqrt(x.var(axis=0) + eps)}
    f, want = lambda x: normed_pair(x, eps), "pass unsure"
    return Row(f"a normalised pair, {eps:g}", f, x, right, wrong=wrong, want=want, **VJP)


def wave_on_a_square(k, **more):
    def f(x):
        return np.sum(x**2) + 1e-3 * np.sum(np.sin(k * x))

    def right(x):
        return 2 * x + 1e-3 * k * np.cos(k * x)

    name, wrong = f"a wave of {k:g} x on a square", {"without it": lambda x: 2 * x}
    more |= {"want": "pass unsure", "wrong": wrong, "not_as": "float32, bfloat16"}  # no wave there
    return Row(name, f, [0.3, 1.0, 0.7], right, **more)


def carrier(at):
    """Return a carrier of 2.4 GHz on a parabola, a time in seconds."""
    name, k = f"a carrier on a parabola at {at}", 4.8e9 * np.pi
    return short_wave(name, np.square, lambda t: 2 * t, k, [at], 1e-3)


def short_wave(name, slow, its_slope, k, x, amplitude, edits="doubled, zero"):
    """Return a wave far shorter than x on a slow function: long steps take it for noise."""

    def f(x):
        return np.sum(slow(x) + amplitude * np.sin(k * x))

    def right(x):
        return its_slope(x) + amplitude * k * np.cos(k * x)

    more = {"want": "pass unsure", "hides": "unsure fail", "not_as": "float32, bfloat16"}
    return Row(name, f, x, right, edits=edits, **more)


ROWS += [
    *(pair_norm(eps) for eps in (1e-1, 1e-5)),
    wave_on_a_square(1e4),
    wave_on_a_square(1e6, hides={"without it": "unsure fail"}),  # a slope of f from afar
    wave_on_a_square(1e8, hides={"an entry": "unsure fail"}),
    *(carrier(at) for at in (0.13, 1.1, 1.9)),
    *(short_wave(f"a wave of {k:.0e} x on exp", np.exp, np.exp, k, Y, 3 / k, edits="doubled")
      for k in (1e9, 1e10, 1e11)),
    *(short_wave(f"a wave of 1e12 x on a line at {x:.1f}", np.negative, lambda x: 0 * x - 1,
                 1e12, [x], 1e-10) for x in Y[:4]),
    short_wave("a wave on a slow sine of time stamps", lambda t: np.sin(t / 1e9),
               lambda t: np.cos(t / 1e9) / 1e9, 6280.0, 1.7e9 + 60 * Y[:10], 1e-5),
    # Along a line through all inputs f goes otherwise than along each, but hardly.
    Row("a wave of a few roundings on a square", lambda x: x[0] ** 2 + 1e-11 * np.sin(1e9 * x[0]),
        [0.1], lambda x: 2 * x + 1e-2 * np.cos(1e9 * x), want="pass unsure", edits="doubled",
        wrong={"without it": [0.2]}, hides={"without it": "pass unsure fail"},
        not_as="x 2^-17, float32"),
    Row("a fast wave with a ten-thousandth of the slope",
        lambda x: np.sum(x**2) + 2e-9 * np.sum(np.sin(5e4 * x)), [-0.08, 0.37],
        lambda x: 2 * x + 1e-4 * np.cos(5e4 * x), edits="",
        not_as="float32, bfloat16", always=True),
    Row("a wave of which the evaluations ran out", lambda x: np.sum(np.sin(1e3 * x)), np.zeros(6),
        np.full(6, 1e3), edits="", want="unsure:budget", not_as="x and f 2^17",
        options={"max_evaluations": 50}),
]  # fmt: skip
