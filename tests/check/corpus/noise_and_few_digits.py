"""Functions with noise, and those that compute in float32 or 16 bits, or print few digits."""

from dataclasses import replace

import numpy as np
from beside import hashed
from programs import drawn

from gradcheck_ref import check_vjp

from .row import PRECISIONS, Row, in_precision
from .smooth import X, layer, of_layer
from .transformed import beside_a_penalty as beside_a_smooth_part

SIXTEEN = "float16", "bfloat16"

# Where rounding hides a part of f, 1 % of an entry is too little, or much else.
HIDDEN = {"want": "pass unsure", "hides": {"an entry": "unsure fail pass"}}
HALF_HIDDEN = {"want": "pass unsure", "hides": "unsure fail"}

# All that needs to be tried of a claim in 16 bits: the check is known to a few percent.
FEW = {"edits": "doubled, negated"}

# wrong today: with few evaluations nobody looks for stairs, and the right gradient fails.
NOT_SEEN = "fewer evaluations"

SMOOTH = Row("a tanh layer", layer, X, of_layer, **HIDDEN)


def normal(seed, *shape):
    """Draw numbers of the size of 1, in float32."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


# A layer that rounds each operation.

POINT = normal(0, 8, 6), normal(1, 6, 6) / 3


def rounding_layer(inside):
    """Return tanh(x @ w) with every operation rounded, and its vjp."""
    cast = PRECISIONS[inside]

    def f(x, w):
        return cast(np.tanh(cast(cast(x) @ cast(w))))

    def vjp(u, x, w):
        inner = u * (1 - f(x, w) ** 2)
        return inner @ w.T, x.T @ inner

    return f, vjp


# What is wrong with the gradient of w.
WRONG_PARTS = {
    "the sign of two rows": lambda g: np.vstack([-g[:2], g[2:]]),
    "two rows lost": lambda g: np.vstack([g[:-2], 0 * g[-2:]]),
    "transposed": lambda g: g.T.copy(),
}


def wrong_parts(vjp):
    def with_wrong(spoil):
        def claim(*given):
            by_x, by_w = vjp(*given)
            return by_x, spoil(by_w)

        return claim

    return {name: with_wrong(spoil) for name, spoil in WRONG_PARTS.items()}


def layer_row(inside):
    """Return the layer as a row: its gradient passes as a whole, and wrong inputs are named."""
    f, vjp = rounding_layer(inside)
    says = dict.fromkeys(WRONG_PARTS, "as a whole: w is off by") | {"right": "right as a whole"}
    more = {"wrong": wrong_parts(vjp), "says": says if inside in SIXTEEN else {}}
    return Row(f"a layer in {inside}", f, POINT, vjp, edits="", check=check_vjp, **more)


def loss_row(inside):
    """Return a loss of the layer as a row."""
    f, vjp = rounding_layer(inside)
    u = normal(9, 8, 6)

    def loss(x, w):
        return np.float32(np.sum(f(x, w) * u))

    def gradient(x, w):
        return vjp(u, x, w)

    return Row(f"a loss of a layer in {inside}", loss, POINT, gradient, **FEW)


# What the report says where a part of a gradient is lost in few digits, or a mask is missing.

SMALL = normal(2, 10, 10), normal(3, 10, 6) / 5
SEEN = np.tri(12, dtype=bool)
SLICES = {
    "x[8:10, :] is zero, and all else is right along": np.s_[8:],
    "column 3 of x is zero, and all else is right along": np.s_[:, 3],
    "20 of 100 entries are 0, and some of them should not be": np.s_[::5],
}


def without(lost):
    """Return a vjp of the layer in bfloat16 that loses a part of the gradient of x."""

    def claim(*given):
        by_x, by_w = rounding_layer("bfloat16")[1](*given)
        by_x[lost] = 0
        return by_x, by_w

    return claim


def masked(x, w):
    return np.where(SEEN, cast("bfloat16", np.tanh(x @ w)), np.float32(0))


def of_masked(u, x, w, mask=SEEN):
    inner = u * mask / np.cosh(x @ w) ** 2
    return inner @ w.T, x.T @ inner


def bend(x, w):
    return np.where(x @ w > 0, x @ w, np.float32(0.1) * (x @ w))


def of_bend(u, x, w):
    inner = u * np.where(x @ w > 0, np.float32(1), np.float32(0.1))
    return inner @ w.T, x.T @ inner


# Losses of one value that is rounded.

A, TARGETS = np.random.default_rng(0).normal(size=(2, 100))


def regression(x):
    return np.mean((np.tanh(x) - TARGETS[: x.size]) ** 2)


def of_regression(x):
    t = np.tanh(x)
    return 2 * (t - TARGETS[: x.size]) * (1 - t * t) / x.size


def in_unit(unit):
    """Return a loss whose square would overflow, or vanish."""
    f = lambda x: unit * float(np.float16(regression(x)))  # noqa: E731
    right = lambda x: unit * of_regression(x)  # noqa: E731
    short = "float32, bfloat16"  # their exponents end before
    return Row(f"a loss in float16 of {unit}", f, A[:60], right, **FEW, not_as=short)


def beside_a_penalty(inside, size, **more):
    """Return a loss whose stairs hide it from short steps: along an axis only a penalty moves f."""
    x = np.float32(A[:size])
    f = lambda x: np.float32(cast(inside, regression(x)) + 0.1 * np.mean(x * x))  # noqa: E731
    right = np.float32(of_regression(x) + 0.2 * x / size)
    return Row(f"{size} entries in {inside} beside a penalty", f, x, right, **FEW, **more)


def cast(inside, y):
    return np.float32(PRECISIONS[inside](y))


def equal_entries(inside):
    """Return a sigmoid of equal numbers, which must not stand on one stair."""
    s = np.float32(1 / (1 + np.exp(-0.5)))
    f = lambda x: cast(inside, 1 / (1 + np.exp(-cast(inside, x))))  # noqa: E731
    right = lambda u, x: u * (s * (1 - s))  # noqa: E731
    at = np.full((8, 8), 0.5, np.float32)
    return Row(f"equal entries in {inside}", f, at, right, **FEW, check=check_vjp)


def small_beside_large(inside, size):
    """Return inputs of which a small one is less than what is allowed of the whole."""
    weights = normal(1, 3, 100)
    at = tuple(np.float32(one) * normal(k, 100) for k, one in enumerate((1, 1, size)))

    def f(*x):
        sines = (cast(inside, w * np.sin(cast(inside, y))) for w, y in zip(weights, x, strict=True))
        return np.float32(sum(map(np.sum, sines)))

    right = [w * np.cos(x) for w, x in zip(weights, at, strict=True)]
    wrong = {"the small one doubled": (*right[:2], 2 * right[2])}
    says = {"the small one doubled": "inputs[2] is off by 50 %"}
    name = f"a small input beside large ones in {inside}"
    return Row(name, f, at, tuple(right), edits="", wrong=wrong, says=says)


def beside_a_large_output():
    """Return a layer with an output a thousand times larger than the others."""
    size = np.float32([1000, 1, 1, 1, 1, 1])

    def f(x):
        return size * cast("bfloat16", np.tanh(cast("bfloat16", x @ POINT[1])))

    def with_factor(factor):
        wrong = size * np.float32([1] + 5 * [factor])
        return lambda u, x: POINT[1] @ (u * wrong * (1 - np.tanh(x @ POINT[1]) ** 2))

    wrong = {"the small ones doubled": with_factor(2)}
    at, right = POINT[0][0], with_factor(1)
    return Row("outputs beside a large one", f, at, right, edits="", wrong=wrong, check=check_vjp)


# Functions in float32, and their gradients there.

ONE, LABELS = np.float32(1), np.array([0, 2, 1, 4, 3])


def log_softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


def cross_entropy(z):
    return -np.mean(log_softmax(z)[np.arange(5), LABELS])


def of_cross_entropy(z):
    return (np.exp(log_softmax(z)) - np.eye(5, dtype=z.dtype)[LABELS]) / z.dtype.type(5)


DATA, GOALS = normal(3, 7, 2), normal(4, 7)


def network(v, c, w):
    return np.mean((np.tanh(DATA @ v + c) @ w - GOALS) ** 2)


def of_network(v, c, w):
    hidden = np.tanh(DATA @ v + c)
    error = 2 * (hidden @ w - GOALS) / np.float32(7)
    inner = np.outer(error, w) * (ONE - hidden**2)
    return tuple(part.astype(v.dtype) for part in (DATA.T @ inner, inner.sum(0), hidden.T @ error))


def at_hidden(units):
    """Return the point of a network with so many hidden units, four parameters each."""
    return normal(5, 2, units), normal(6, units), normal(7, units) / np.float32(units**0.5)


def computed_in(dtype, **more):
    """Return functions at points in a short dtype, which their gradients have, too."""
    rows = {
        "cross-entropy": (cross_entropy, normal(1, 5, 5), of_cross_entropy),
        "a network of 120": (network, at_hidden(30), of_network),
        "a network of 480": (network, at_hidden(120), of_network),
    }
    for name, (f, at, right) in rows.items():
        at = tuple(x.astype(dtype) for x in at) if isinstance(at, tuple) else at.astype(dtype)
        yield Row(f"{name} at a point in {dtype}", f, at, right, **more)


# Layers in float16 with kinks.

ACTIVATIONS = {
    "hard tanh": (
        lambda z: np.clip(z, -1, 1) + z * z.dtype.type(0.1),
        lambda z: (abs(z) < 1) + 0.1,
    ),
    "relu": (lambda z: np.maximum(z, 0), lambda z: 1.0 * (z > 0)),
    "leaky relu": (lambda z: np.where(z > 0, z, z / 8), lambda z: np.where(z > 0, 1, 1 / 8)),
    "abs": (np.abs, np.sign),
}


def kinks_in_float16(name, seed, **more):
    rng = np.random.default_rng(seed)
    x, w = np.float16(rng.normal(size=(6, 6))), np.float16(rng.normal(size=(6, 3)))
    u = np.float32(rng.normal(size=(6, 3)))
    activation, slope = ACTIVATIONS[name]

    def f(x, w):
        return np.float32(np.sum(u * np.float32(activation(np.float16(np.float32(x) @ w)))))

    inner = u * slope(x.astype(float) @ w)
    right = np.float16(inner @ w.T), np.float16(x.T @ inner)
    wrong = {"x 5 % too large": (np.float16(1.05) * right[0], right[1])}
    return Row(f"{name} in float16, {seed}", f, (x, w), right, edits="", wrong=wrong, **more)


def program(kind, seed, mistake="", **more):
    """Return a random program with one of its mistakes."""
    f, right, wrong = drawn(kind, seed)
    more["wrong"] = {mistake: wrong[mistake]} if mistake else {}
    return Row(f"{kind}, program {seed}", f, f.x, right, edits="", **more)


# Sums and products.

ROW_OF = np.random.default_rng(2).integers(0, 8, 20)
ORDER = np.random.default_rng(1)


def sums_in_any_order(x):
    """Add rows as atomic additions on a GPU do: in another order in each call."""
    sums, some = np.zeros((8, 8), np.float32), ORDER.permutation(20)
    np.add.at(sums, ROW_OF[some], np.sin(x[some]))
    return sums


def of_sums(u, x, first=ONE):
    gradient = u[ROW_OF] * np.cos(x)
    gradient[0] *= first
    return gradient


def in_tf32(a):
    """Round float32 to the 10 bits of TF32, in which a GPU may compute products."""
    bits = (a.astype(np.float32).view(np.uint32) + 0x1000) & 0xFFFFE000
    return bits.astype(np.uint32).view(np.float32)


def of_product(u, x, w, factor=1.0, lost=0, cast=in_tf32):
    of_w = np.float32(factor) * (cast(x).T @ cast(u))
    of_w[:lost] = 0
    return u @ w.T, of_w


def changed(vjp, **more):
    return lambda *given: vjp(*given, **more)


SQUARES = normal(5, 32, 32), normal(6, 32, 32) / 6

# Stairs, noise, and ends of a domain.

HALF_ZERO = np.where(np.arange(16) < 8, 0, 1).astype(np.float32)
LOGS, LOG_WEIGHTS = np.append(np.exp(normal(4, 40) / 3), np.float32(1e-6)), normal(8, 41)
FIVE = np.random.default_rng(5).normal(size=5)
FORTY = np.random.default_rng(0).normal(size=(2, 40)).astype(np.float32)


def softplus_squared(x, W):
    return float(np.sum(np.float32(np.logaddexp(0, W @ x)) ** 2))


def of_softplus_squared(x, W, inner=lambda z: 1 / (1 + np.exp(-z))):
    z = W @ x
    by_z = 2 * np.logaddexp(0, z) * inner(z)
    return W.T @ by_z, np.outer(by_z, x)


def near_the_end(unit, precision, seed):
    """Return a loss of few times the smallest number of a format; times 2^17 it is none."""
    a, x = np.random.default_rng(seed).normal(size=(2, 30))
    f = lambda x: float(PRECISIONS[precision](unit * np.sum(a * np.sin(x))))  # noqa: E731
    return Row(f"a loss of {unit} in {precision}, {seed}", f, x, lambda x: unit * a * np.cos(x),
               edits="doubled, negated, zero", hides={"zero": "unsure"},
               not_as="float32, bfloat16, f 2^17, x and f 2^17")  # fmt: skip


def of_one_number(seed):
    """Return a layer of eight numbers in bfloat16 of one in float64, which stands still near it."""
    rng, cast = np.random.default_rng(seed), PRECISIONS["bfloat16"]
    a, b, v = rng.normal(size=(3, 8))
    x = rng.normal(size=4)[-2]
    return Row(f"one number, with bfloat16 inside, {seed}",
               lambda x: float(np.sum(v * cast(np.tanh(cast(cast(a) * cast(x) + cast(b)))))),
               x, lambda x: np.sum(v * a * (1 - np.tanh(a * x + b) ** 2)),
               edits="zero", want="pass unsure", hides="unsure fail")  # fmt: skip


def scale_and_shift(inside, seed):
    """Return a loss of six numbers and three parameters, at a point that 16 bits hold."""
    rng = np.random.default_rng(seed)
    x, p = (
        cast(inside, rng.uniform(*ends, size=n)) for ends, n in (((0.5, 2), 6), ((0.3, 1.5), 3))
    )
    w = np.float32(rng.normal(size=6))

    def f(x, p):
        p = cast(inside, p)
        inner = cast(inside, cast(inside, p[0] * cast(inside, x)) + p[1])
        return np.float32(np.sum(w * cast(inside, np.tanh(inner)) * p[2]))

    def right(x, p, of_p=1.0):
        x, p = np.float64(x), np.float64(p)
        y = np.tanh(p[0] * x + p[1])
        by_z = w * (1 - y**2) * p[2]
        by_p = np.sum(by_z * x), np.sum(by_z), np.sum(w * y)
        return np.float32(p[0] * by_z), np.float32(of_p * np.array(by_p))

    parts = {"lost": 0.0, "doubled": 2.0, "negated": -1.0}
    wrong = {f"that of p {how}": changed(right, of_p=factor) for how, factor in parts.items()}
    name = f"scale and shift in {inside}, {seed}"
    return Row(name, f, (x, p), right, wrong=wrong, want="pass unsure", **FEW)


def beside_nothing(seed):
    """Return a loss in float16 of inputs in float64, most of which do nothing."""
    rng = np.random.default_rng(seed)
    X, w, b = rng.normal(size=(16, 8)), rng.normal(size=(8, 6)) / 3, rng.normal(size=120)
    y = rng.normal(size=(16, 6))
    by_z = lambda z: 2 * (z - y) * (1 - z**2) / z.size  # noqa: E731
    return Row(f"a loss in float16 beside 0 of 120 entries, {seed}",
               lambda w, b: float(np.float16(np.mean((np.tanh(X @ w) - y) ** 2) + 0 * b.sum())),
               (w, b), lambda w, b: (X.T @ by_z(np.tanh(X @ w)), 0 * b),
               edits="doubled, zero", want="pass unsure",
               hides={"zero": "unsure fail"})  # fmt: skip


def small_biases(seed, unit, left):
    """Return a linear layer in bfloat16 with small biases, of whose gradient a part is left."""
    cast, draw = PRECISIONS["bfloat16"], np.random.default_rng
    x, y, w, b = (
        cast(draw(seed + n).normal(size=size))
        for n, size in enumerate(((16, 6), (16, 8), (6, 8), 8))
    )
    w, b = w / 2, np.float32(unit) * b

    def f(w, b):
        return cast(4 + np.sum((cast(cast(x @ w) + b) - y) ** 2))

    def right(w, b):
        by_z = 2 * (x @ w + b - y)
        return x.T @ by_z, by_z.sum(axis=0)

    def wrong(w, b):
        by_w, by_b = right(w, b)
        return by_w, np.float32(left) * by_b

    return Row(f"biases of {unit:g} in bfloat16", f, (w, b), right, edits="", want="pass unsure",
               wrong={f"{left:g} of theirs": wrong}, hides="unsure fail", always=True)  # fmt: skip


def zeros_for_a_bias(name, seed, inside="float16", **more):
    """Return a layer in 16 bits whose bias matters as much as other entries do, and has zeros."""
    to = np.float16 if inside == "float16" else PRECISIONS[inside]
    rng = np.random.default_rng(seed)
    n, k, m = rng.integers(3, 9), rng.integers(3, 9), rng.integers(2, 7)
    x, w, b, u = (rng.normal(size=size) for size in ((n, k), (k, m), m, (n, m)))
    at, u = (to(x), to(w), to(0.3 * b)), np.float32(u)
    activation, slope = ACTIVATIONS[name]

    def f(x, w, b):
        return np.sum(u * activation(to(to(x.astype(np.float32) @ w) + b)))

    def right(x, w, b):
        back = u * slope(to(to(x.astype(np.float32) @ w) + b))
        return to(back @ w.T), to(x.T @ back), to(back.sum(axis=0))

    def wrong(*at):
        return *right(*at)[:2], to(np.zeros(m))

    return Row(f"{name} in {inside} and a bias, {seed}", f, at, right, edits="",
               wrong={"zeros for the bias": wrong}, **more)  # fmt: skip


def far_from_zero(seed):
    """Return a hinge on 1000, in float16, of which few values are left."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(10, 20)), rng.normal(size=20) / 20**0.5
    y = rng.integers(0, 2, 10) * 2 - 1

    def right(w):
        z = np.tanh(X @ w)
        return -3 * (X * (y * (1 - y * z > 0) * (1 - z**2))[:, None]).mean(axis=0)

    return Row(f"a hinge on 1000 in float16, {seed}",
               lambda w: np.float16(1e3 + 3 * np.mean(np.maximum(0, 1 - y * np.tanh(X @ w)))),
               w, right, edits="zero", want="pass unsure", hides="unsure fail")  # fmt: skip


def on_one_stair(row):
    """Return a row beside a penalty, which is all of f that moves next to x."""
    more = {"want": "pass unsure:stairs", "edits": "doubled, negated, zero", "hides": {}}
    name = f"{row.name}, beside a penalty"
    return replace(beside_a_smooth_part(row), name=name, not_as=NOT_SEEN, **more)


def logs(x):
    inside = (x > 0).all()
    return cast("bfloat16", np.sum(LOG_WEIGHTS * np.log(x))) if inside else np.float32(np.nan)


def sines(x):
    return np.sin(x).sum()


def of_sines(u, x):
    return u * np.float16(1e4) * np.cos(x)


def noisy(size):
    """Return a sum of sines with pseudo-random noise."""
    return lambda x: sines(x) * (1 + size * np.sin(1e12 * x.sum()))


def fast(x):
    return sines(x) + 1e-4 * np.sin(1e9 * x.sum())


ROWS = [
    *(in_precision(SMOOTH, inside) for inside in ("float32", *SIXTEEN)),
    Row("six digits", lambda x: float(f"{100 + np.sum(np.sin(x)):.6g}"), [0.3, -1.2, 0.9], np.cos,
        want="unsure pass", hides="unsure fail pass"),
    *(layer_row(inside) for inside in ("float32", *SIXTEEN)),
    *(loss_row(inside) for inside in SIXTEEN),
    Row("lost slices in bfloat16", rounding_layer("bfloat16")[0], SMALL,
        rounding_layer("bfloat16")[1], edits="",
        wrong={said: without(lost) for said, lost in SLICES.items()},
        says={said: said for said in SLICES}, check=check_vjp),
    Row("a mask in bfloat16", masked, (normal(0, 12, 12), normal(1, 12, 12) / 5), of_masked,
        edits="", wrong={"no mask": lambda *given: of_masked(*given, mask=1)},
        says={"no mask": "is a mask or a condition of f missing"}, kind={"no mask": "not-zero"},
        check=check_vjp),
    # No random line has a slope for each of 144 outputs, but each line has some.
    Row("kinks of some outputs in float32", bend, (normal(0, 12, 16), normal(1, 16, 12) / 4),
        of_bend, want="pass unsure", edits="doubled", says={"doubled": "as a whole: x is off by"},
        kind={"doubled": "factor"}, check=check_vjp),
    Row("a layer in float32, to a demanded tolerance", rounding_layer("float32")[0], POINT,
        rounding_layer("float32")[1], want="pass unsure", edits="doubled", options={"rtol": 1e-3},
        check=check_vjp),
    *(in_unit(unit) for unit in (1e-150, 1e150)),
    # wrong today: with some seeds a right one fails, as stairs hide the loss along an axis.
    beside_a_penalty("float16", 80, want="pass unsure fail"),
    beside_a_penalty("bfloat16", 100, want="pass unsure", hides={"doubled": "unsure fail"}),
    *(equal_entries(inside) for inside in SIXTEEN),
    small_beside_large("float16", 0.01),
    small_beside_large("bfloat16", 0.1),
    beside_a_large_output(),
    *computed_in("float32", edits="doubled, an entry"),
    *computed_in("float16", **FEW),
    # A kink near x: the slopes at two long steps are alike, and those next to x are others.
    # wrong today: x 5 % too large is unsure since a kink is shown along each line.
    kinks_in_float16("relu", 1, want="pass unsure", hides="unsure fail", always=True),
    kinks_in_float16("hard tanh", 4, **HALF_HIDDEN),
    # wrong today: a right one fails.
    kinks_in_float16("leaky relu", 18, want="pass unsure fail", hides="unsure fail"),
    program("float32 scales", 5011, want="unsure"),
    # Noise allows few of their slopes to be told from those of another branch.
    program("float32", 10, "no chain rule", want="pass unsure", hides="fail unsure"),
    program("float32", 11, "doubled", want="pass unsure", hides="fail unsure"),
    # wrong today: in other units right ones are unsure at every fourth seed.
    *(program(kind, 3, "times n", inside="bfloat16", not_as="x 2^-17")
      for kind in ("smooth", "kinks")),
    Row("sums in any order", sums_in_any_order, normal(0, 20, 8), of_sums,
        wrong={"a row lost": changed(of_sums, first=0)}, check=check_vjp),
    Row(
        "a product whose gradient is computed in TF32",
        lambda x, w: x @ w,
        SQUARES,
        of_product,
        edits="",
        wrong={
            "1 % too large": changed(of_product, factor=1.01),
            "a row lost": changed(of_product, lost=1),
        },
        says="in fewer digits than f",
        check=check_vjp,
    ),
    Row("a mistake as small as the rounding of TF32, where nothing is rounded", lambda x, w: x @ w,
        SQUARES, changed(of_product, cast=np.asarray), edits="",
        wrong={"0.03 % too large": changed(of_product, cast=np.asarray, factor=1.0003)},
        check=check_vjp),
    Row(
        "a loss of which few digits hide all but stairs",
        lambda x: 1000 + np.mean(np.sin(x)),
        normal(0, 12, 12),
        lambda x: np.cos(x) / x.size,
        want="unsure",
        edits="doubled, zero",
        hides={"doubled": "unsure", "zero": "pass"},  # f is flat there, and the report says so
        inside="bfloat16",
    ),
    Row("outputs that few digits hide", lambda x: np.tanh(x @ POINT[1]) + 1000, POINT[0][:3],
        lambda u, x: (u * (1 - np.tanh(x @ POINT[1]) ** 2)) @ POINT[1].T, edits="doubled",
        inside="bfloat16", check=check_vjp, **HALF_HIDDEN),
    # An error of a few times the noise of f is no rounding of the claim.
    Row("a pedestal of 30 in float16",
        lambda x: cast("float16", 30 + np.sum(FORTY[1] * np.sin(np.float64(x)))), FORTY[0],
        lambda x: FORTY[1] * np.cos(x), edits="doubled",
        wrong={"5 % too large": np.float32(1.05) * FORTY[1] * np.cos(FORTY[0])}, always=True),
    Row("sine of float16, for upstreams that are made large", lambda x: np.float16(1e4) * np.sin(x),
        np.float16([0.5, -1, 2]), of_sines, edits="doubled",
        wrong={"clipped": lambda u, x: np.clip(of_sines(u, x), -100, 100)}, check=check_vjp),
    Row("stairs of 0.1 in float32", lambda x: np.float32(np.sum(np.sin(np.round(x, 1)))),
        normal(0, 50), 0 * normal(0, 50), want="pass unsure",
        wrong={"that of a sine, doubled": 2 * np.cos(normal(0, 50))}, hides="unsure fail"),
    Row("stairs of a quarter in float32", lambda x: np.float32(np.round(4 * np.sum(np.sin(x))) / 4),
        normal(0, 50), np.cos, want="unsure", edits="doubled", hides="unsure fail"),
    Row("logs in bfloat16 near the end of their domain", logs, LOGS, LOG_WEIGHTS / LOGS, **FEW),
    Row("relus at 0 in float16",
        lambda x: np.float32(np.sum(cast("float16", np.maximum(cast("float16", x), 0)))), HALF_ZERO,
        HALF_ZERO, also={"1 at 0": 1 + 0 * HALF_ZERO}, edits="doubled", **HALF_HIDDEN),
    Row(
        "kinks at x in float32",
        lambda x: np.float32(np.sum(np.abs(x))),
        0 * HALF_ZERO,
        np.float32(0.5) + 0 * HALF_ZERO,
        want="unsure",
        edits="doubled",
        hides="unsure",  # 1 is one of the slopes
    ),
    *(Row(f"noise of {size:g}", noisy(size), FIVE, np.cos, **HIDDEN) for size in (1e-8, 1e-4)),
    # The slope next to x is another one, which not all pilots see.
    Row("fast noise in float64", fast, A[:60], np.cos, want="unsure fail",
        hides=HIDDEN["hides"] | dict.fromkeys(("doubled", "zero", "rolled"), "unsure fail")),
    Row("sines at a point in float32", sines, np.float32(FIVE), np.cos),
    Row("sines at a point in float16", sines, np.float16(FIVE), np.cos, **HIDDEN),
    Row("a softplus in float32 inside", softplus_squared, (FIVE[:3], A[:12].reshape(4, 3)),
        of_softplus_squared, wrong={"a sigmoid forgotten": lambda x, W: of_softplus_squared(
            x, W, np.ones_like)}),
    *(of_one_number(seed) for seed in (3, 5)),
    near_the_end(1e-6, "float16", 8),
    near_the_end(1e-6, "float16", 17),
    near_the_end(3e-44, "float32", 7),
    scale_and_shift("float16", 0),
    *(scale_and_shift("bfloat16", seed) for seed in (1, 17, 25)),
    beside_nothing(0),
    # Half of it is within atol entry by entry, and surely off as a whole.
    small_biases(90, 0.25, 0.5),
    # Noise hides such a gradient of the biases beside that of the weights.
    small_biases(100, 1 / 32, 0),
    zeros_for_a_bias("leaky relu", 1007),
    zeros_for_a_bias("abs", 1011),
    # Beside the bias alone, any rounding of f is loud.
    zeros_for_a_bias("leaky relu", 1000, "bfloat16"),
    zeros_for_a_bias("leaky relu", 1013, "bfloat16"),
    # It is zero within 9 % of another one, which is no evidence.
    zeros_for_a_bias("leaky relu", 1003, "bfloat16", options={"seed": 1}, hides="unsure fail"),
    far_from_zero(7),
    *map(on_one_stair, (of_one_number(3), far_from_zero(7))),
    Row("sines in float32 inside", lambda x: float(sines(np.float32(x))), FIVE, np.cos, **HIDDEN),
    Row("sines in float16 inside, beside a penalty",
        lambda x: float(np.float16(sines(np.float16(x)))) + 0.1 * (x**2).sum(), FIVE,
        lambda x: np.cos(x) + 0.2 * x, **HIDDEN),
    Row(
        "an iteration with a tolerance of 1e-6",
        lambda x: np.sum(np.round(np.cos(x) * 1e6) / 1e6 + 1e-7 * np.sin(x)),
        FIVE,
        lambda x: -np.sin(x) + 1e-7 * np.cos(x),
        not_as="x 2^-17",  # there other steps are tried, some within a stair
        **HIDDEN,
    ),
]  # fmt: skip

# Ill-conditioned functions, whose values and claims round in many digits.

RULER = np.linspace(0, 1, 8)
KERNEL = np.exp(-0.5 * ((RULER[:, None] - RULER) / 0.3) ** 2) + 1e-6 * np.eye(8)
HEIGHTS = np.sin(6 * RULER)


def rounds_by_chance(seed):
    """Return a row of a claim whose rounding shows next door on most entries, by chance not all."""
    x = np.random.default_rng(seed).normal(size=12)
    right = lambda x: 3 * x**2 * (1 + 1e-4 * np.sin(1e17 * x))  # noqa: E731
    f = lambda x: np.sum(x**3)  # noqa: E731
    name = f"a claim that rounds by chance, {seed}"
    return Row(name, f, x, right, edits="doubled, negated, zero", want="pass unsure")


def log_det(smallest, **more):
    """Return a row of a matrix with this singular value."""
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.normal(size=(4, 4)))[0] for _ in range(2))
    A = U @ np.diag([2.0, 1.0, 0.5, smallest]) @ V.T
    f, right = lambda A: np.linalg.slogdet(A)[1], np.linalg.inv(A).T
    name = f"a logarithm of a determinant with a singular value of {smallest:g}"
    return Row(name, f, A, right, wrong={"transposed": right.T}, **more)


COFACTORS = np.array([[-3.0, 6, -3], [6, -12, 6], [-3, 6, -3]])
LOW_RANK = normal(1, 4, 2).astype(float) @ normal(2, 2, 4)

# Slopes that are 0 but for rounding.


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def sum_of_softmax(size):
    x = normal(size, size).astype(float)
    f = lambda x: float(softmax(x).sum())  # noqa: E731
    also = {"its rounding": lambda x: softmax(x) * (1 - softmax(x).sum())}
    wrong = {"the softmax": softmax}
    name = f"a sum of the softmax of {size}"
    return Row(name, f, x, 0 * x, also=also, wrong=wrong, want="pass unsure", not_as="x 2^-17")


def of_shifted(u, a, left=1):
    s = softmax(X + a)
    return np.sum(s * u - left * s * np.sum(u * s)).reshape(a.shape)


# Losses in float16 beside a penalty: of one number, of 50, and of two inputs.


def beside_a_small_penalty(size, seed, penalty, how="in float16", digits=np.float16):
    rng = np.random.default_rng(seed)
    A, b, x = rng.normal(size=(30, size)), rng.normal(size=30), rng.normal(size=size)

    def f(x):
        return float(digits(np.mean((A @ x - b) ** 2))) + penalty * np.sum(x * x) / 2

    right, alone = 2 * A.T @ (A @ x - b) / 30 + penalty * x, {"of the penalty alone": penalty * x}
    name = f"a regression of {size} {how} beside a penalty of {penalty:g}"
    hides = {"of the penalty alone": "unsure:stairs unsure:kink"}
    edits = "doubled, negated, zero, rolled"
    return Row(name, f, x, right, edits=edits, wrong=alone, hides=hides, not_as=NOT_SEEN)


FORM = np.array([[2, -1, 0.5], [0.25, 1.5, -0.75], [1, 0.5, -2]])


def quadratic_form(x, A):
    x, A = x.astype(np.float16), A.astype(np.float16)
    return float(x @ (A @ x))


def of_quadratic_form(x, A, last=1.0):
    by_A = np.outer(x, x)
    by_A[2, 2] *= last
    return (A + A.T) @ x, by_A


def six_digits_of(pedestal, **more):
    f = lambda x: float(f"{pedestal + np.sum(np.sin(x)):.6g}")  # noqa: E731
    return Row(f"six digits of {pedestal:g}", f, [0.3, -1.2, 0.9], np.cos, **more)


def waves_beside(pedestal, seed):
    """Return sines and squares on a pedestal, each of which moves it by a few spacings."""
    rng = np.random.default_rng(seed)
    x, b, w = rng.normal(size=33) + 2, rng.normal(size=2), rng.normal(size=33)
    f = lambda x, b: pedestal + (np.sum(w * np.sin(x)) + np.sum(b**2))  # noqa: E731
    right = lambda x, b: (w * np.cos(x), 2 * b)  # noqa: E731
    name = f"waves beside {pedestal:g}, {seed}"
    return Row(name, f, (x, b), right, edits="doubled", want="unsure", hides="unsure fail")


def sines_beside(pedestal, seed):
    """Return sines on a pedestal, which move it by more than a few spacings: it is not flat."""
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=5), rng.normal(size=5)
    f, right = lambda x: pedestal + np.sum(w * np.sin(x)), lambda x: w * np.cos(x)
    more = {"want": "unsure", "hides": "unsure fail", "not_as": "float32, bfloat16"}
    return Row(f"sines beside {pedestal:g}, {seed}", f, x, right, edits="zero, negated", **more)


def lines_beside(pedestal, **more):
    """Return a sum in float32 on a pedestal, which moves by a few spacings along an entry."""
    rng = np.random.default_rng(0)
    x, w = np.float32(rng.normal(size=6)), rng.normal(size=6)
    f = lambda x: np.float32(pedestal + np.sum(w * x))  # noqa: E731
    name = f"a sum in float32 beside {pedestal:g}"
    return Row(name, f, x, lambda x: np.float32(w), want="unsure", edits="zero, doubled", **more)


def logarithms_beside(pedestal):
    """Return small logarithms of float32 numbers, which f shows with the digits of float64."""
    x = np.float32(np.random.default_rng(0).normal(size=40))
    f = lambda x: pedestal + 0.02 * np.sum(np.log1p(np.float64(x) ** 2))  # noqa: E731
    right = lambda x: 0.04 * np.float64(x) / (1 + np.float64(x) ** 2)  # noqa: E731
    name = f"logarithms of float32 beside {pedestal:g}"
    return Row(name, f, x, right, want="pass unsure", edits="doubled, negated, zero",
               not_as="float32, float16, bfloat16")  # fmt: skip


def two_losses_in_float16(seed):
    """Return two sums in float16, of which one has hardly an effect on the other's few digits."""
    rng = np.random.default_rng(seed)
    a, b = np.float32(rng.normal(size=6)), np.float32(rng.normal(size=40))
    half = np.float16

    def f(a, b):
        large = half(30 * np.sum(half(a) ** 2, dtype=half))
        return large + half(np.log(np.sum(np.exp(np.float32(half(b))))) - np.float32(half(b[0])))

    def right(a, b):
        return 60 * a, np.exp(b) / np.sum(np.exp(b)) - np.eye(40, dtype=np.float32)[0]

    wrong = {
        name: lambda a, b, k=k: (60 * a, np.float32(k) * right(a, b)[1])
        for name, k in {"negated b": -1, "twice b": 2, "no b": 0}.items()
    }
    return Row(f"two losses in float16, {seed}", f, (a, b), right, want="pass unsure", edits="",
               wrong=wrong, hides="unsure fail", not_as="float32, float16, bfloat16",
               options={"seed": 1})  # fmt: skip


MUCH = np.float32(1e8)
FLAT = {"doubled": "unsure:stairs", "zero": "pass"}

ROWS += [
    *(rounds_by_chance(seed) for seed in (0, 3)),
    Row("a kernel by its heights", lambda y: y @ np.linalg.solve(KERNEL, y), HEIGHTS,
        2 * np.linalg.solve(KERNEL, HEIGHTS), want="pass unsure"),
    Row("a kernel by its matrix", lambda K: HEIGHTS @ np.linalg.solve(K, HEIGHTS), KERNEL,
        -np.outer(*2 * [np.linalg.solve(KERNEL, HEIGHTS)]), want="pass unsure",
        not_as="x 2^-17, x and f 2^17, bfloat16", edits="doubled, zero"),
    Row("a solved kernel", lambda y: np.linalg.solve(KERNEL, y), HEIGHTS,
        lambda u, y: np.linalg.solve(KERNEL, u), want="pass unsure", check=check_vjp),
    log_det(1e-2),
    # wrong today: in bfloat16 a spike at x looks like noise around a slope of 0.
    log_det(1e-6, not_as="bfloat16"),
    # f is rough from afar and rounded from nearby.
    log_det(1e-10, want="unsure", hides={"an entry": "unsure fail", "transposed": "unsure fail"},
        not_as="float32, bfloat16"),
    Row("a determinant of 1 to 9", np.linalg.det, np.arange(1.0, 10).reshape(3, 3), COFACTORS,
        want="pass unsure"),
    Row("a determinant of rank 2 of 4", np.linalg.det, LOW_RANK, np.zeros((4, 4)),
        want="pass unsure", wrong={"1": np.ones((4, 4))}, not_as="x 2^-17, f 2^17"),
    *(sum_of_softmax(size) for size in (3, 50)),
    Row("a softmax of shifted numbers", lambda a: softmax(X + a), [0.7], of_shifted,
        want="pass unsure", edits="", check=check_vjp,
        wrong={"half of it": lambda u, a: of_shifted(u, a, left=0)}),
    Row("float16 beside a square", lambda x: float(np.float16(np.sin(x[0]))) + x[0] ** 2 / 2, [1.1],
        lambda x: np.cos(x) + x, edits="doubled, zero", wrong={"of the square alone": lambda x: x},
        hides={"of the square alone": "unsure"}, not_as=NOT_SEEN),
    # Of 50 entries there are not enough evaluations to look at each from afar.
    beside_a_small_penalty(20, 3, 0.02),
    beside_a_small_penalty(50, 0, 0.2),
    beside_a_small_penalty(20, 0, 0.1, "of three decimals", lambda y: np.round(y, 3)),
    Row("a quadratic form in float16", quadratic_form, (np.array([1, -0.5, 2]), FORM),
        of_quadratic_form, options={"rtol": 0.03}, want="pass unsure:stairs", edits="doubled, zero",
        hides={"zero": "unsure:stairs"},
        wrong={"half of an entry": changed(of_quadratic_form, last=0.5)}),
    Row("an empty input in float32", lambda x, e: np.sum(np.sin(x)) + np.sum(e),
        (normal(1, 3), np.zeros(0, np.float32)), lambda x, e: (np.cos(x), np.ones_like(e)),
        edits="doubled, zero"),
    six_digits_of(1, want="pass unsure:stairs"),
    six_digits_of(1e4, want="pass unsure:stairs", edits="doubled, negated, zero",
                  hides={"doubled": "unsure fail", "zero": "unsure fail"}),
    # All digits are used up, so that f seems to be flat, and a penalty to be all that there is.
    six_digits_of(1e7, want="unsure:stairs", edits="doubled, zero", hides=FLAT,
                  not_as="x 2^-17, a penalty"),
    Row("float32 beside 1e8", lambda x: MUCH + np.sum(np.sin(x)), normal(3, 4), np.cos,
        want="unsure:stairs", edits="doubled, zero", hides=FLAT),
    # At steps longer than a wave its slopes are close to 0, and noise hides how they change.
    waves_beside(3e14, 1),
    waves_beside(3e15, 0),
    *(sines_beside(pedestal, seed) for pedestal, seed in ((3e14, 1), (1e15, 0), (1e15, 2))),
    # A slope of 0 is no less than the others if all are below the rounding of the pedestal.
    *(lines_beside(pedestal) for pedestal in (1e5, 1e6)),
    lines_beside(3e6, hides="unsure fail"),
    logarithms_beside(1e6),
    # With a limit for all entries of another size, these would pass.
    two_losses_in_float16(2),
    # Short steps are within a stair of the rounded sum, and agree on a slope that is too small.
    # Long ones show that it is not that of f. wrong today: with few evaluations nothing does.
    Row("a sum that was added to 1e9 for a while",
        lambda x: (1e9 + np.sum(np.sin(x))) - 1e9 + np.sum(x), [0.3, -1.2, 0.9],
        lambda x: np.cos(x) + 1, want="pass unsure", hides={"an entry": "unsure fail"},
        always=True),
    Row("nothing but noise", hashed, [0.7, 1.1, -0.4], [0.0, 0, 0], want="unsure",
        wrong={"1": [1.0, 1, 1]}, hides="unsure"),
    Row("pseudo-random digits of 1e-12", lambda x: np.sum(np.sin(x)) + 1e-12 * hashed(x),
        [0.7, 1.1, -0.4], np.cos, hides={"an entry": "unsure fail"}),
    Row("a slope below the noise at a large x", lambda x: 1 + 5e-9 * np.sum(x) + 1e-3 * hashed(x),
        [1.4e5, 2.2e5, -8e4], [5e-9, 5e-9, 5e-9], edits="zero", want="unsure", hides="unsure"),
    # The first output has a few roundings of 1, which are no float32.
    Row("last bits of an output beside a wave",
        lambda x: np.array([1 + np.tanh(x[0]), x[1] ** 2 + 1e-9 * np.sin(1e8 * x[1])]),
        [-17.0, 0.3], lambda u, x: np.array([u[0] / np.cosh(x[0]) ** 2, 2 * u[1] * x[1]]),
        edits="", want="pass unsure", check=check_vjp, options={"rtol": 1e-4}),
]  # fmt: skip
