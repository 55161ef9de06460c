"""Inputs of so many entries that random lines look at all of them at once."""

import numpy as np
from beside import hashed

from gradcheck_ref import check_jvp, check_vjp

from .row import Row

WEIGHTS = np.arange(1, 301)
FEW = {"edits": "doubled, negated"}


def spoilt(gradient, at, value):
    """Return a gradient with some entries replaced, or multiplied: (factor,)."""
    wrong = gradient.copy()
    wrong[at] = value[0] * wrong[at] if isinstance(value, tuple) else value
    return wrong


# A slice of a large input is wrong.

BOX = np.random.default_rng(1).normal(size=(2, 4, 32, 16))
GRID = BOX.reshape(64, 64)
PADDED = np.where(np.arange(64) < 50, GRID, 7.0)  # f ignores entries that are 7


def energy(x):
    return np.sum(np.sin(x) * x * (np.abs(x - 7) > 0.9))


def of_energy(x):
    return (np.cos(x) * x + np.sin(x)) * (x != 7)


def slices(name, x, cases):
    """Return a row of wrong slices: where they are, what is there, and what must be said."""
    right = of_energy(x)
    wrong = {said: spoilt(right, at, value) for said, (at, value) in cases.items()}
    says = {said: f"{said}, and all else is right along 4 random lines" for said in cases}
    # In other units other steps are tried, and one slope of nearly 0 is known less well.
    return Row(name, energy, x, right, edits="", wrong=wrong, says=says, not_as="x and f 2^17")


SLICES = [
    slices("an attention", BOX, {
        "x[:, :, 31, :] is zero": (np.s_[:, :, 31], 0.0),
        "x[:, :, :, 15] is zero": (np.s_[..., 15], 0.0),
        "x[:, 2, :, :] is wrong": (np.s_[:, 2], (1.3,)),
        "x[0, 2, :, :] is wrong": (np.s_[0, 2], (-1.0,)),
        "x[:, :, 24:32, :] is zero": (np.s_[:, :, 24:], 0.0)}),
    slices("a large matrix", GRID, {
        "row 37 of x is wrong": (37, (3.0,)),
        "column 5 of x is wrong": (np.s_[:, 5], (2.0,)),
        "x[16:32, 32:48] is zero": (np.s_[16:32, 32:48], 0.0)}),
    slices("a padded matrix", PADDED, {"x[60:64, :] is zero": (np.s_[60:], 0.0)}),
]  # fmt: skip


# Single entries of a large input are wrong.

X, LOUD = np.random.default_rng(0).normal(size=(2, 1500))


def sines(x):
    return float(np.sum(LOUD[: x.size] * np.sin(x)))


def of_sines(x):
    return LOUD[: x.size] * np.cos(x)


MIDDLE = int(np.argsort(np.abs(of_sines(X)))[750])
ENTRIES = {
    "off by a thousandth": spoilt(of_sines(X), MIDDLE, (1.001,)),
    "left out": spoilt(of_sines(X), MIDDLE, 0.0),
    "infinite": spoilt(of_sines(X), MIDDLE, np.inf),
    "all backwards": of_sines(X)[::-1],
    "all 1 larger": of_sines(X) + 1,
}
NAMED = dict.fromkeys(("off by a thousandth", "left out", "infinite"), f"x[{MIDDLE}]")

# Several inputs.

SHAPES = {"a": (24, 16), "b": (16,), "c": (16, 20), "d": (20,), "e": (20, 12), "f": (12,)}
DATA = np.random.default_rng(1).normal(size=(20, 24))
POINT = tuple(
    np.random.default_rng(k).normal(size=shape) / shape[0] ** 0.5
    for k, shape in enumerate(SHAPES.values())
)


def net(a, b, c, d, e, f):
    return np.mean((np.tanh(np.tanh(DATA @ a + b) @ c + d) @ e + f) ** 2)


def of_net(a, b, c, d, e, f):
    p = np.tanh(DATA @ a + b)
    q = np.tanh(p @ c + d)
    g = 2 * (q @ e + f) / (20 * 12)
    s = g @ e.T * (1 - q * q)
    t = s @ c.T * (1 - p * p)
    return DATA.T @ t, t.sum(axis=0), p.T @ s, s.sum(axis=0), q.T @ g, g.sum(axis=0)


def wrong_in(names):
    """Return the gradient of the net with some inputs 30 % too small."""
    return tuple(
        part * (0.7 if name in names else 1)
        for name, part in zip(SHAPES, of_net(*POINT), strict=True)
    )


def two_layers(name, activation, slope):
    """Return the loss of a net with a label for each row, at a point of 549 parameters."""
    rng = np.random.default_rng(0)
    rows, truth = rng.normal(size=(24, 40)), np.eye(5)[rng.integers(5, size=24)]
    at = rng.normal(size=(40, 12)) / 5, np.zeros(12), rng.normal(size=(12, 5)) / 3, np.zeros(5)

    def forward(w, b, v, c):
        hidden = activation(rows @ w + b)
        scores = hidden @ v + c
        return hidden, scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def loss(*weights):
        return -np.mean(np.sum(truth * forward(*weights)[1], axis=1))

    hidden, logs = forward(*at)
    of_scores = (np.exp(logs) - truth) / 24
    inner = of_scores @ at[2].T * slope(hidden)
    right = rows.T @ inner, inner.sum(axis=0), hidden.T @ of_scores, of_scores.sum(axis=0)
    wrong = {"v[7, 3] doubled": (*right[:2], spoilt(right[2], (7, 3), (2.0,)), right[3])}
    says = {"v[7, 3] doubled": "inputs[2]: the only measured entry differs; worst at [7, 3]"}
    options = {"rtol": 1e-6}
    return Row(name, loss, at, right, edits="doubled", wrong=wrong, says=says, options=options)


def system(rng, condition):
    """Draw a matrix and the right side of a linear system, and weights for its solution."""
    (left, _), (right, _) = (np.linalg.qr(rng.normal(size=(8, 8))) for _ in "AB")
    A = left * np.geomspace(1, 1 / condition, 8) @ right
    return (A, rng.normal(size=8)), rng.normal(size=8)


def of_solution(by_y, A, b):
    back = np.linalg.solve(A.T, by_y)
    return -np.outer(back, np.linalg.solve(A, b)), back


def solve(condition):
    """Return a linear loss of the solution."""
    at, w = system(np.random.default_rng(0), condition)
    by_a, by_b = of_solution(w, *at)
    wrong = {"an entry of A 1 % too large": (spoilt(by_a, (3, 4), (1.01,)), by_b)}
    f = lambda A, b: w @ np.linalg.solve(A, b)  # noqa: E731
    name = f"a solution of condition {condition:g}"
    return Row(name, f, at, (by_a, by_b), edits="doubled", wrong=wrong)


def waves(seed, **more):
    """Return waves of the solution. Along some axes they are so fast that long steps see none."""
    rng = np.random.default_rng(seed)
    condition, speed = 10.0 ** rng.uniform(3.9, 4.9), 10.0 ** rng.uniform(-1, 1)
    at, w = system(rng, condition)

    def f(A, b):
        y = np.linalg.solve(A, b)
        return np.sum(w * (np.sin(speed * y) + y * speed / 30))

    y = np.linalg.solve(*at)
    right = of_solution(w * speed * (np.cos(speed * y) + 1 / 30), *at)
    return Row(f"fast waves of a solution, {seed}", f, at, right, edits="doubled", **more)


# Kinks.


def max_over(decimals, name, **more):
    """Return a maximum over pairs, which are equal where few decimals are left."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(132, 2)).round(decimals), rng.normal(size=132)
    right = w[:, None] * (np.arange(2) == x.argmax(axis=1)[:, None])
    return Row(name, lambda x: w @ x.max(axis=1), x, right, **FEW, **more)


def of_relus(u, x, w, factor=1.0):
    back = u * (x @ w > 0)
    return back @ w.T, spoilt(x.T @ back, (3, 1), (factor,))


def leaky_relu(x):
    return np.where(x > 0, x, 0.01 * x)


def of_leaky_relu(u, x):
    return u * np.where(x > 0, 1, 0.01)


# Most slopes are 0.

STEPS = np.concatenate([np.linspace(-2.0, 2.0, 150), np.linspace(20.0, 25.0, 50)])


def of_steps(u, x):
    return u / np.cosh(x) ** 2


def largest(t, x):
    return t[np.argmax(x)]


def leaks(t, x):
    return largest(t, x) + 0.01 * t[np.argmax(x) - 1]


UNITS = 10.0 ** np.random.default_rng(0).uniform(-6, 6, 300)
AT_UNITS = UNITS * np.random.default_rng(1).uniform(0.5, 2, 300)
COMPLEX = GRID[:20, :20] + 1j * GRID[20:40, :20]

ROWS = [
    Row("300 entries", lambda x: np.sum(np.sin(x) * WEIGHTS), np.linspace(0.1, 3, 300),
        lambda x: np.cos(x) * WEIGHTS),
    *SLICES,
    Row("1,500 entries", sines, X, of_sines, wrong=ENTRIES, says=NAMED),
    # Claims and slopes agree along lines to more digits than the rounding of f leaves.
    Row("400 sines beside 1e3, to more digits than f shows", lambda x: 1e3 + np.sum(np.sin(x)),
        X[:400], np.cos, want="unsure", edits="",
        wrong={"1e-8 too large": (1 + 1e-8) * np.cos(X[:400])}, options={"rtol": 2e-9},
        always=True),
    Row("300 entries of many units", lambda x: np.sum(np.log1p(x / UNITS)), AT_UNITS,
        1 / (UNITS + AT_UNITS),
        wrong={f"x[{k}] {how}": spoilt(1 / (UNITS + AT_UNITS), k, (factor,))
               for k in (3, 150, 299)
               for how, factor in {"lost": 0.0, "1 % too large": 1.01}.items()}),
    Row("a net of three layers", net, POINT, of_net,
        wrong={names: wrong_in(names) for names in ("ab", "abc", "d")},
        says={"ab": "right from c on, and wrong from b on towards the input",
              "d": "as a whole: d is off by"}),
    two_layers("two layers with tanh", np.tanh, lambda h: 1 - h * h),
    two_layers("two layers with relus", lambda z: np.maximum(z, 0), lambda h: h > 0),
    *(solve(condition) for condition in (1e2, 1e4)),
    # Lines exclude an error of three times what they show at most, which long steps seem to show.
    waves(1053, want="unsure", hides="unsure fail", always=True),
    waves(1119, want="pass unsure", hides="unsure fail"),
    max_over(1, "a maximum over pairs with ties", want="unsure:kink"),
    max_over(15, "a maximum over pairs without ties"),
    Row("relus of a product", lambda x, w: np.maximum(x @ w, 0),
        (X[:144].reshape(6, 24), X[144:240].reshape(24, 4) / 4), of_relus, edits="doubled",
        wrong={"w[3, 1] 0.1 % too large": lambda *given: of_relus(*given, factor=1.001)},
        says={"w[3, 1] 0.1 % too large": "w[3, 1]:"}, check=check_vjp),
    Row("leaky relus of a tenth of a percent too much", leaky_relu,
        np.random.default_rng(9).uniform(-9, 9, size=(10, 10)), of_leaky_relu, edits="",
        wrong={"0.1 % too large": lambda u, x: 1.001 * of_leaky_relu(u, x)}, check=check_vjp),
    *(
        Row(f"a power of {power} with its kinks at x",
            lambda x, power=power: np.sum(np.abs(x - X[:200]) ** power), X[:200], 0 * X[:200],
            want="unsure", edits="")
        for power in (0.5, 1)
    ),
    Row("the largest of 1,500, along tangents", np.max, X, largest, edits="doubled",
        wrong={"another entry leaks": leaks},
        says={"another entry leaks": f"worst at [{np.argmax(X) - 1}]"}, check=check_jvp),
    *(
        Row(f"saturated outputs, {check.__name__}", np.tanh, STEPS, of_steps, edits="", check=check,
            wrong={"0.1 % too large": lambda u, x: 1.001 * of_steps(u, x),
                   "a leak of 1e-6": lambda u, x: of_steps(u, x) + 1e-6 * u * (x == STEPS[180])},
            hides={"a leak of 1e-6": "unsure fail"})
        for check in (check_vjp, check_jvp)
    ),
    Row("a complex matrix", lambda z: np.sum(np.abs(z) ** 2), COMPLEX, lambda z: 2 * z,
        edits="doubled", wrong={"a row lost": spoilt(2 * COMPLEX, 4, 0.0)},
        says={"a row lost": "row 4 of z is zero, and all else is right"}),
]  # fmt: skip

SPREAD = np.random.default_rng(7).uniform(0.5, 2.5, 240)
SIGNS = np.random.default_rng(8).normal(size=240)
AT_ONE = np.where(np.arange(240) == 100, SPREAD, 1.0)


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


MANY_OUTPUTS = np.random.default_rng(0).normal(size=(1100, 10))
ONE_NEAR_ZERO = np.random.default_rng(1).normal(size=101)
ONE_NEAR_ZERO[3], HALF = 1e-5, np.arange(101) % 2 == 0


def of_many_outputs(u, x):
    return MANY_OUTPUTS.T @ (u * (1 - np.tanh(MANY_OUTPUTS @ x) ** 2))


def exchanged(u):
    u = u.copy()
    u[[5, 42]] = u[[42, 5]]
    return u


ROWS += [
    Row("240 entries of a loss of 1e-12", lambda x: 1e-12 * (SIGNS @ np.sin(x)), SPREAD,
        lambda x: 1e-12 * SIGNS * np.cos(x)),
    Row("240 entries and noise of 1e-6", lambda x: np.sum(np.sin(x)) + 1e-6 * hashed(x), SPREAD,
        np.cos),
    Row("240 entries of which one is at a kink", lambda x: np.sum(np.abs(x - AT_ONE)), SPREAD,
        np.sign(SPREAD - AT_ONE), want="unsure:kink", hides={"an entry": "unsure:kink"}),
    Row("a sum of the softmax of 240", lambda x: float(softmax(x).sum()), SPREAD, 0 * SPREAD,
        want="pass unsure", wrong={"the softmax": softmax}),
    Row("a floor of 240", lambda x: float(np.sum(np.floor(x))), SPREAD, 0 * SPREAD,
        want="pass unsure", wrong={"1": 0 * SPREAD + 1}, hides="unsure fail"),
    # Upstreams are exchanged between two of many outputs: in their sum, nothing is wrong.
    Row("tanh of 1,100 outputs", lambda x: np.tanh(MANY_OUTPUTS @ x), np.full(10, 0.1),
        of_many_outputs, edits="doubled",
        wrong={"two exchanged": lambda u, x: of_many_outputs(exchanged(u), x)},
        check=check_vjp),
    # One entry has by far the largest effect.
    Row("101 logarithms, one of them near 0", lambda x: np.sum(np.log(np.abs(x))), ONE_NEAR_ZERO,
        lambda x: 1 / x, edits="doubled", not_as="bfloat16",  # few digits hide all but the one
        wrong={"half of them 0": np.where(HALF, 0, 1 / ONE_NEAR_ZERO)},
        hides={"half of them 0": "unsure fail"}),
]  # fmt: skip
