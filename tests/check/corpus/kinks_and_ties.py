"""Functions with a kink at x or near x, and with entries of x that are equal."""

import numpy as np

from gradcheck_ref import check_vjp

from .row import Row

# Few digits hide a kink near x, or what is on the way to one: then the slope beyond it may be seen.
FEW_DIGITS = "float32, bfloat16"

# In 16 bits a kink is as flat as a stair, so that a valid choice may fail there.
KINK = {"want": "unsure:kink", "not_as": "bfloat16"}
# A gradient at a tie, changed by a little or entry by entry, may be another valid choice.
ANY_CHOICE = {"want": "unsure", "hides": "unsure fail", "not_as": FEW_DIGITS}

X = np.random.default_rng(5).normal(size=5)
W = np.random.default_rng(6).normal(size=(8, 5))


def relu(x):
    return np.maximum(x, 0).sum()


def nets(x):
    return np.maximum(W @ x, 0) @ np.arange(1, 9)


def of_nets(x):
    return W.T @ ((W @ x > 0) * np.arange(1, 9))


def opposite(slope):
    """Return the vjp of a function of x - y with this slope."""
    return lambda u, x, y: (slope * u, -slope * u)


def beside_a_kink(distance):
    """Return a row of |x - a| beside a smooth part, at a point next to a."""
    at = X + distance

    def f(x):
        return np.abs(x - at).sum() + (x**2).sum()

    left = {"the other side": 1 + 2 * X}
    want = "unsure" if distance < 1e-8 else "pass"  # no step is between, but in noise
    right = lambda x: np.sign(x - at) + 2 * x  # noqa: E731
    name = f"a kink {distance:g} away"
    # In other units the first steps are others, and more of them may be on this side of the kink.
    not_as = f"{FEW_DIGITS}, x and f 2^17"
    return Row(name, f, X, right, want=want, wrong=left, not_as=not_as)


def on_the_way(name, part, slope):
    """Return a row of x^2 with a part that has this slope at x and another one from afar."""
    x, name = np.array([0.7, -0.4]), f"{name} between x and a few thousandths of it"
    wrong = {"without it": 2 * x, "the other side": 2 * x - [slope, 0]}
    f, right = lambda y: np.sum(y * y) + part(y[0] - 0.7), 2 * x + [slope, 0]
    return Row(name, f, x, right, wrong=wrong, not_as=FEW_DIGITS)


GRID = np.linspace(-5, 5, 2001)


def of_table(x):
    k = np.floor((x + 5) / 0.005).astype(int)
    return (np.sin(GRID[k + 1]) - np.sin(GRID[k])) / (GRID[k + 1] - GRID[k])


def table_on_a_pedestal(seed):
    rng = np.random.default_rng(seed)
    at, values = np.sort(rng.uniform(-3, 3, 30)), rng.normal(size=30)
    x = rng.uniform(-2.5, 2.5, 4)
    name, piece = f"linear pieces on a pedestal of 1e7, {seed}", np.searchsorted(at, x) - 1
    f = lambda x: 1e7 + np.sum(np.interp(x, at, values))  # noqa: E731
    right = np.diff(values)[piece] / np.diff(at)[piece]
    return Row(name, f, x, right, want="pass unsure", not_as=f"{FEW_DIGITS}, x 2^-17")


# Ties: every choice that has the right sum is valid, and no other.


def two_windows(x):
    """Pool with weights of both signs: neither convex nor concave."""
    return 2 * x[:2].max() - x[1:3].max()


def tie(name, f, at, right, *others, wrong=(), rolled="unsure", **more):
    """Return a row of a tie; a rolled gradient may be another valid choice."""

    def by_name(claims):
        return {str(list(one)): list(one) for one in claims}

    more = KINK | {"also": by_name(others), "wrong": by_name(wrong)} | more
    return Row(name, f, at, right, hides={"rolled": rolled}, **more)


def quantile(n, q, decimals, seed, **more):
    """Return a row of a quantile of numbers with many ties; the middle of two is not at a tie."""
    x = np.round(np.random.default_rng(seed).normal(size=n), decimals)
    order, at = np.argsort(x, kind="stable"), q * (n - 1)
    g = np.zeros(n)
    for row, share in ((int(at), 1 - at % 1), (int(at) + 1, at % 1)):
        g[order[min(row, n - 1)]] += share
    f = lambda x: float(np.quantile(x, q))  # noqa: E731
    name, wrong = f"the {q:g} quantile of {n} numbers with ties", {"half as much again": 1.5 * g}
    return Row(name, f, x, g, wrong=wrong | {"thrice": 3 * g}, **ANY_CHOICE | more)


MAY_BE_ZERO = {"zero": "pass unsure fail"} | dict.fromkeys(
    ("doubled", "negated", "an entry", "rolled", "half as much again", "thrice"), "unsure fail"
)


def clipped_triangles(x):
    z = np.clip(np.sort(x), -1, 1)
    return np.abs(z % 2 - 1) @ np.cos(np.arange(x.size))


def of_clipped_triangles(x):
    y = np.sort(x)
    g = np.sign(np.clip(y, -1, 1) % 2 - 1) * (np.abs(y) < 1) * np.cos(np.arange(x.size))
    back = np.empty(x.size)
    back[np.argsort(x, kind="stable")] = g
    return back


def bilinear(image, place):
    """Return the value of an image between its pixels."""
    (i, j), (a, b) = place.astype(int), place % 1
    top = (1 - b) * image[i, j] + b * image[i, j + 1]
    return (1 - a) * top + a * ((1 - b) * image[i + 1, j] + b * image[i + 1, j + 1])


def whole_offsets(dtype):
    """Return a row of a deformable convolution at offsets of 0, where each pixel has a kink."""
    rng = np.random.default_rng(0)
    image, at = rng.normal(size=(6, 6)).astype(dtype), rng.integers(1, 4, (5, 2))
    weights = rng.normal(size=5).astype(dtype)

    def f(offsets):
        places = at.astype(dtype) + offsets
        return sum(w * bilinear(image, p) for w, p in zip(weights, places, strict=True))

    i, j = at.T
    ahead = np.stack([image[i + 1, j] - image[i, j], image[i, j + 1] - image[i, j]], axis=1)
    name = f"offsets of whole pixels in {np.dtype(dtype)}"
    more = KINK | {"edits": "doubled, zero", "hides": {"zero": "unsure:kink"}}
    return Row(name, f, np.zeros((5, 2), dtype), weights[:, None] * ahead, **more)


ROWS = [
    Row("a relu at 0", relu, [0.0, 1.0, -2.0], [0.0, 1, 0],
        also={"1": [1.0, 1, 0], "1/2": [0.5, 1, 0]}, says="valid at a kink",
        wrong={"above both": [1.2, 1, 0], "below both": [-0.1, 1, 0]}, **KINK),
    Row("five relus at 0", relu, np.zeros(5), np.zeros(5), wrong={"2": np.full(5, 2)}, **KINK),
    # An entry that is 1 % off is between the two sides.
    Row("a kink at x beside a smooth part", lambda x: np.abs(x - X).sum() + (x**2).sum(), X, 2 * X,
        also={"behind": 2 * X - 1, "ahead": 2 * X + 1}, wrong={"beyond": 2 * X + 1.1},
        hides={"an entry": "unsure:kink"}, **KINK),
    Row("a kink at x beside a bend", lambda x, y: 0.5 * np.exp(-np.abs(x - y)), (0.3, 0.3),
        opposite(0), also={"1/2": opposite(0.5), "-1/2": opposite(-0.5)}, edits="",
        wrong={"0.6": opposite(0.6), "-0.6": opposite(-0.6)}, check=check_vjp, **KINK),
    Row("a network with relu", nets, X, of_nets),
    *(beside_a_kink(distance) for distance in (1e-3, 1e-6, 1e-9)),
    Row("a branch 1e-2 away", lambda x: np.where(x > X + 1e-2, 3 * x, x**2).sum(), X, 2 * X,
        wrong={"of the other branch": 3 + 0 * X}),
    # wrong today: in float32 right ones fail, for the slopes of the next pieces count as that of x.
    Row("a fine table of linear pieces", lambda x: np.sum(np.interp(x, GRID, np.sin(GRID))), X,
        of_table, not_as="float32"),
    *(table_on_a_pedestal(seed) for seed in range(2)),
    on_the_way("a kink", lambda t: np.abs(t - 1e-4), -1.0),
    on_the_way("a wave", lambda t: 1e-3 * np.sin(1e4 * t), 10.0),
    on_the_way("a triangle wave", lambda t: np.abs((t - 3e-4) % 1e-2 - 5e-3), 1.0),
    on_the_way("a faster triangle wave", lambda t: np.abs((t - 3e-5) % 1e-3 - 5e-4), 1.0),
    # wrong today: 0 should be unsure, because a kink is as near as that.
    Row("a relu beside a number of 1e-310", relu, [1.0, 1e-310, -0.5], [1.0, 1, 0],
        wrong={"0": [1.0, 0, 0]}, hides={"0": "pass unsure"}, **KINK),
    Row("a relu beside the least number", relu, [1.0, 5e-324, -0.5], [1.0, 1, 0], **KINK),
    Row("a relu beside a small number", relu, [1.0, 1e-3, -0.5], [1.0, 1, 0]),
    Row("kinks that were seen before the evaluations ran out", lambda x: np.abs(x).sum(),
        np.zeros(6), np.zeros(6), options={"max_evaluations": 50}, **KINK),
    *(whole_offsets(dtype) for dtype in (np.float32, np.float64)),
    tie("a maximum with a tie", np.max, [3, 3, 1], [1, 0, 0], [0, 1, 0], [0.5, 0.5, 0],
        wrong=([1, 1, 0], [0, 0, 0], [0.5, 0, 0], [2, -1, 0]),
        says={"[1, 1, 0]": "the slope 1, but the claims for them add up to 2"}),
    tie("a maximum of three with ties", np.max, [3, 3, 3, 1], [1, 0, 0, 0], [0.2, 0.3, 0.5, 0],
        wrong=([1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0])),
    tie("a largest size with a tie", lambda x: np.abs(x).max(), [-2, 1, 2], [-1, 0, 0], [0, 0, 1],
        [-0.5, 0, 0.5], wrong=([-1, 0, 1], [0, 0, 0]), rolled="fail",
        says={"[-1, 0, 1]": "are equal in size"}),
    tie("a median with ties", np.median, [3, 3, 3, 1, 5], [1, 0, 0, 0, 0], [0, 0, 1, 0, 0],
        [0.5, 0.25, 0.25, 0, 0],
        wrong=([2, 0, 0, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0], [-1, 0, 0, 0, 0])),
    # The reason may be noise, too: f is 0, so nothing tells what is small.
    tie("a median of zeros", np.median, [0, 0, 0], [1, 0, 0], [0.5, 0.5, 0],
        wrong=([0, 0, 0], [1, 1, 0]), want="unsure", not_as=FEW_DIGITS),
    tie("a quantile with ties", lambda x: np.quantile(x, 0.75), [1, 1, 1, 1, 2, 0],
        [0.25, 0.75, 0, 0, 0, 0], [0, 0, 0.5, 0.5, 0, 0],
        wrong=([0.5, 1.5, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0])),
    tie("windows of both signs with ties", two_windows, [1, 1, 1, 0], [2, -1, 0, 0], [0, 1, 0, 0],
        [0, 2, -1, 0], wrong=([2, 1, -1, 0], [4, -2, 0, 0])),
    tie("a median of three equal numbers", np.median, [1, 1, 1], [0, 1, 0]),
    tie("a median of five, three of them equal", np.median, [1, 1, 1, 5, 0], [0, 1, 0, 0, 0]),
    tie("a trimmed mean of equal numbers", lambda x: np.sort(x)[1:-1].mean(), [1, 1, 1, 1],
        [0, 0.5, 0.5, 0]),
    tie("a median of equal numbers beside a smooth part", lambda x: np.median(x) + x @ x, [1, 1, 1],
        [3, 2, 2]),
    tie("a median with ties beside another entry", lambda x: np.median(x[:3]) + x[3] ** 2,
        [1, 1, 1, 0.7], [0, 1, 0, 1.4], wrong=([0, 1, 0, 2.8],), rolled="fail",
        says={"[0, 1, 0, 2.8]": "worst at [3]"}),
    # Any slope between the two on both sides is right for each, although f is smooth if both
    # entries move together.
    tie("two kinks of their own at equal entries", lambda x: max(x[0], 0.0) + min(x[1], 0.0),
        [0, 0], [0, 0], [1, 1], [1, 0], wrong=([1.2, -0.2],)),
    Row("equal entries of a smooth function", lambda x: np.arange(1, 5) @ np.sin(x), np.ones(4),
        lambda x: np.arange(1, 5) * np.cos(x),
        wrong={"exchanged": np.arange(4, 0, -1) * np.cos(1.0)}),
    Row("a kink along the line of tied entries", clipped_triangles,
        np.round(np.random.default_rng(9).normal(size=60), 1), of_clipped_triangles, **ANY_CHOICE),
    quantile(21, 0.5, 1, 0),
    # wrong today: zeros pass, although the slopes of tied entries must add up to 1.
    quantile(60, 0.25, 0, 0, hides=MAY_BE_ZERO),
    quantile(151, 0.3, 1, 0),
    quantile(301, 0.5, 1, 0),
]  # fmt: skip
