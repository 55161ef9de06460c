"""The gradient of each input as a whole: how far it is off, and how surely."""

import numpy as np
import pytest
from corpus import many_entries, noise_and_few_digits

from gradcheck_ref import check_gradient, check_vjp
from gradcheck_ref.check.judge.looks import CHANCE, proof, quantiles
from gradcheck_ref.check.results import FAIL

SIXTEEN = "float16", "bfloat16"
ALLOWED = {"float32": 1e-3, "float16": 0.05, "bfloat16": 0.1}


def length(parts):
    return np.sqrt(sum(np.sum(np.square(part, dtype=float)) for part in parts))


# --- the numbers ------------------------------------------------------------------------------


def alike(rng, shape):
    """Draw numbers of one unit, so that all count alike."""
    return np.float32(rng.choice([-1, 1], shape) * rng.uniform(1, 1.9, shape))


def spoilt_layer(inside, change, seed=0, **knobs):
    """Check a layer whose gradient of w is changed, and return the report and how far w is off."""
    f, vjp = noise_and_few_digits.rounding_layer(inside)
    rng = np.random.default_rng(seed)
    x, w = (alike(rng, shape) / size for shape, size in (((10, 8), 1), ((8, 8), 4)))

    def claim(u, x, w):
        by_x, by_w = vjp(u, x, w)
        return by_x, np.float32(change(by_w))

    outputs = np.eye(80, dtype=np.float32).reshape(80, 10, 8)
    pairs = [(vjp(u, x, w)[1], claim(u, x, w)[1]) for u in outputs]
    largest = max(length(parts) for parts in zip(*pairs, strict=True))
    return check_vjp(f, (x, w), claim, **knobs), length(
        one - other for one, other in pairs
    ) / largest


@pytest.mark.one_in(4)
@pytest.mark.parametrize("inside", ALLOWED)
@pytest.mark.parametrize("seed", range(2))
def test_a_right_gradient_passes_and_the_report_says_how_closely(inside, seed):
    report, _ = spoilt_layer(inside, lambda g: g, seed)
    assert report.verdict == "pass"
    for one in report.inputs:
        assert one.verdict == "pass"
        assert one.error <= one.limit <= one.allowed <= ALLOWED[inside]


def test_a_demand_asks_for_every_entry():
    f, right = noise_and_few_digits.regression, noise_and_few_digits.of_regression
    x = np.random.default_rng(0).normal(size=60)
    loss = lambda x: float(np.float16(f(x)))  # noqa: E731
    assert check_gradient(loss, x, right).by_whole
    demanded = check_gradient(loss, x, right, rtol=1e-6)
    assert (demanded.verdict, demanded.by_whole) == ("unsure", False)
    assert "as a whole: " in str(demanded)


CHANGES = {
    "30 % larger": lambda g: 1.3 * g,
    "the sign of two rows": lambda g: np.vstack([-g[:2], g[2:]]),
    "two rows lost": lambda g: np.vstack([g[:-2], 0 * g[-2:]]),
    "rolled": lambda g: np.roll(g, 1, axis=1),
}


@pytest.mark.one_in(12)
@pytest.mark.parametrize("inside", SIXTEEN)
@pytest.mark.parametrize("change", CHANGES)
def test_an_error_is_measured_within_its_spread_and_its_limit(change, inside):
    report, off = spoilt_layer(inside, CHANGES[change])
    right, wrong = report.inputs
    assert (right.verdict, wrong.verdict) == ("pass", "fail")
    assert abs(wrong.error - off) <= max(4 * wrong.spread, 0.1 * off)
    assert wrong.limit >= off


def test_the_numbers_survive_json():
    report, _ = spoilt_layer("bfloat16", lambda g: g)
    data = report.to_dict()["inputs"]
    assert [(one["name"], one["verdict"]) for one in data] == [("x", "pass"), ("w", "pass")]
    assert all(0 <= one["error"] <= one["limit"] <= one["proved"] for one in data)


def test_an_empty_input_leaves_nothing_unsure():
    f, vjp = noise_and_few_digits.rounding_layer("bfloat16")
    at = (*noise_and_few_digits.POINT, np.zeros((0, 3), np.float32))
    report = check_vjp(lambda x, w, e: f(x, w), at, lambda u, x, w, e: (*vjp(u, x, w), e))
    assert [one.verdict for one in report.inputs] == ["pass"] * 3


@pytest.mark.parametrize("unit", [1e-320, 1e-318, 1e-170])
@pytest.mark.parametrize(("cast", "n"), [(np.float64, 400), (np.float32, 60)])
def test_where_squares_underflow_no_wrong_gradient_passes(unit, cast, n):
    x, y = np.random.default_rng(4).normal(size=(2, n))

    def f(x, y):
        return float(np.sum(np.sin(cast(x)) * np.tanh(cast(y)))) * unit

    def gradient(x, y, factor=1.0):
        of_y = np.sin(x) * (1 - np.tanh(y) ** 2) * unit
        of_y[np.argmax(np.abs(of_y))] *= factor
        return np.cos(x) * np.tanh(y) * unit, of_y

    assert check_gradient(f, (x, y), gradient).verdict != "fail"
    assert check_gradient(f, (x, y), lambda *at: gradient(*at, factor=1.5)).verdict != "pass"


@pytest.mark.parametrize("inputs", ["t", "t and w"])
@pytest.mark.parametrize("tau", [1e3, 1e5])
def test_where_f_overflows_along_a_line_nothing_warns_and_no_right_gradient_fails(inputs, tau):
    """Time stamps in float32 have no digits for a decay that is far shorter than they are."""
    rng = np.random.default_rng(0)
    start, tau = np.float32(1.7e9), np.float32(tau)
    t = np.float32(start + rng.uniform(0, 3 * tau, 20))
    weights = rng.normal(size=20).astype(np.float32)

    @np.errstate(over="ignore", invalid="ignore")
    def f(t, w=weights):
        return np.sum(w * np.exp(-(t - start) / tau))

    def gradient(t, w=weights):
        decay = np.exp(-(t - start) / tau)
        return (-w * decay / tau, decay)[: 1 + (w is not weights)]

    at = (t, weights.copy()) if inputs == "t and w" else (t,)
    assert check_gradient(f, at, gradient).verdict != "fail"


def test_entries_that_pass_as_a_whole_do_not_pass_by_atol():
    rng = np.random.default_rng(0)
    x, w = rng.uniform(-1, 1, (2, 2)), rng.uniform(-1, 1, (2, 2))
    layer = lambda w: noise_and_few_digits.PRECISIONS["bfloat16"](x @ w)  # noqa: E731
    report = " ".join(str(check_vjp(layer, w, lambda u, w: x.T @ u)).split())
    assert "right as a whole" in report
    assert "because of atol" not in report


# --- which inputs -----------------------------------------------------------------------------


@pytest.mark.one_in(2)
@pytest.mark.parametrize("wrong", ["", "a", "ab", "d", "abc", "f"])
def test_wrong_inputs_are_told_from_right_ones(wrong):
    report = check_gradient(many_entries.net, many_entries.POINT, many_entries.wrong_in(wrong))
    assert report.verdict == ("fail" if wrong else "pass")
    for one in report.inputs:
        assert one.verdict == ("fail" if one.name in wrong else "pass")
        assert one.error == pytest.approx(0.3 if one.name in wrong else 0.0, abs=0.15)
        assert one.lines >= 10
    # A wrong gradient is handed on towards the input, so these two may begin where it goes wrong.
    assert ("towards the input" in str(report)) == (wrong in ("ab", "abc"))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("wrong", [0, 9, 16])
def test_each_of_many_inputs_gets_a_number(wrong):
    """The first ones are doubled, as they are before a wrong step of a backward pass."""
    rng, bf16 = np.random.default_rng(0), noise_and_few_digits.PRECISIONS["bfloat16"]
    x = {f"x{k}": np.float32(rng.normal(size=(10, k + 3))) for k in range(18)}
    w = {name: np.float32(rng.normal(size=one.shape)) for name, one in x.items()}
    loss = lambda **x: sum(np.sum(w[k] * bf16(np.sin(bf16(x[k])))) for k in x)  # noqa: E731
    claim = {k: (2 if int(k[1:]) < wrong else 1) * w[k] * np.cos(x[k]) for k in x}
    report = check_gradient(loss, x, claim)
    verdicts = [one.verdict for one in report.inputs]
    assert verdicts == ["fail"] * wrong + ["pass"] * (18 - wrong)
    assert f"right from x{wrong} on" in str(report) or not wrong


@pytest.mark.parametrize("wrong", ["", "a", "ac"])
def test_a_number_of_an_input_is_not_that_of_one_line(wrong):
    """Three inputs of other sizes in float32: a few lines refuse them, but measure nothing."""
    rng, inputs, weights = np.random.default_rng(27), {}, {}
    for name in "abc":
        unit, size = 10.0 ** rng.uniform(-2, 1), int(rng.integers(8, 60))
        inputs[name] = np.float32(unit * rng.normal(size=size))
    for name, x in inputs.items():
        weights[name] = np.float32(rng.normal(size=x.size))
    loss = lambda **x: np.float32(sum(np.sum(weights[k] * np.sin(x[k])) for k in x))  # noqa: E731
    claim = {k: weights[k] * np.cos(x) * (1.42 if k in wrong else 1) for k, x in inputs.items()}
    report = check_gradient(loss, inputs, claim)
    assert report.verdict == ("fail" if wrong else "pass")
    for one in report.inputs:
        truth = 1 - 1 / 1.42 if one.name in wrong else 0.0
        assert abs(one.error - truth) <= one.spread + 1e-3
        assert truth < one.limit < 2


@pytest.mark.parametrize("size", [8, 120])  # on axes, along lines
@pytest.mark.parametrize("factor", [1.2, 0.5, 0.0])
def test_an_error_is_a_share_of_the_longer_of_claim_and_slope(size, factor):
    x = np.random.default_rng(5).normal(size=size)
    (one,) = check_gradient(lambda x: np.sum(np.sin(x)), x, factor * np.cos(x)).inputs
    assert abs(one.error - abs(1 - factor) / max(1, factor)) <= 2 * one.spread + 1e-6


@pytest.mark.parametrize("wrong", ["", "c"])
def test_an_error_that_falls_towards_x_may_be_none(wrong):
    """A network with leaky ReLU in float32: where kinks bend a line, the bar covers the truth."""
    rng, slope = np.random.default_rng(24 if wrong else 11), np.float32(0.1)
    x, y = np.float32(rng.normal(size=(24, 11))), np.float32(rng.normal(size=24))
    weights = {}
    for names, (rows, columns) in (("ab", (11, 8)), ("cd", (8, 8)), ("eg", (8, 1))):
        weights[names[0]] = np.float32(rng.normal(size=(rows, columns)) / rows**0.5)
        weights[names[1]] = np.float32(0.1 * rng.normal(size=columns))

    def layers(a, b, c, d, e, g):
        one = x @ a + b
        two = np.where(one > 0, one, slope * one) @ c + d
        out = np.where(two > 0, two, slope * two) @ e + g
        return one, two, out[:, 0] - y

    def gradients(**w):
        one, two, off = layers(**w)
        by_out = (2 * off / np.float32(24))[:, None]
        by_two = by_out @ w["e"].T * np.where(two > 0, np.float32(1), slope)
        by_one = by_two @ w["c"].T * np.where(one > 0, np.float32(1), slope)
        first, second = (np.where(z > 0, z, slope * z) for z in (one, two))
        found = x.T @ by_one, by_one.sum(0), first.T @ by_two, by_two.sum(0)
        each = dict(zip("abcdeg", (*found, second.T @ by_out, by_out.sum(0)), strict=True))
        return {name: (2 if name in wrong else 1) * one for name, one in each.items()}

    report = check_gradient(lambda **w: np.mean(layers(**w)[2] ** 2), weights, gradients(**weights))
    assert report.verdict == ("fail" if wrong else "unsure")
    for one in report.inputs:
        assert abs(one.error - (one.name in wrong) / 2) <= 3 * one.spread + 1e-3


# --- 16 bits: kinks beside x, and losses beside a penalty ------------------------------------


@pytest.mark.one_in(3)
@pytest.mark.parametrize("below", [0.0, 0.1, -1.0])
@pytest.mark.parametrize(("factor", "misjudged"), [(1.0, "fail"), (2.0, "pass")])
def test_two_kinks_whose_jumps_cancel_along_every_line_refuse_nobody(below, factor, misjudged):
    bf16 = pytest.importorskip("ml_dtypes", reason="comes with the extra peers").bfloat16
    rng, single = np.random.default_rng(46), np.float32
    x, w = (rng.normal(size=shape).astype(bf16) for shape in ((6, 6), (6, 3)))
    U = single(rng.normal(size=(6, 3)))

    def f(x, w):
        z = single((single(x) @ single(w)).astype(bf16))
        return np.sum(U * np.where(z > 0, z, single(below) * z))

    x_, w_ = np.float64(x), np.float64(w)
    upstream = factor * U * np.where(x_ @ w_ > 0, 1, below)
    claim = [(upstream @ w_.T).astype(bf16), (x_.T @ upstream).astype(bf16)]
    assert check_gradient(f, (x, w), claim).verdict != misjudged


@pytest.mark.parametrize(("n", "seed"), [(6, 3), (10, 4), (16, 4), (16, 5)])
def test_kinks_that_lines_cross_at_all_steps_are_within_the_spread(n, seed):
    rng, single, half = np.random.default_rng(seed), np.float32, np.float16
    x, w = (single(half(rng.normal(size=(n, n)))) for _ in "xw")
    U = single(rng.normal(size=(n, n)))

    def f(x, w):
        return np.sum(U * np.abs(single(half(single(half(x)) @ single(half(w))))))

    upstream = U * np.sign(np.float64(x) @ np.float64(w))
    claim = [single(upstream @ np.float64(w).T), single(np.float64(x).T @ upstream)]
    for one in check_gradient(f, (x, w), claim).inputs:
        assert one.verdict != "fail"
        assert one.error <= 3 * one.spread


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "pass"), (1.1, "fail")])
def test_the_rounding_of_a_smooth_f_at_x_is_no_kink(seed, factor, verdict):
    rng, bf16 = np.random.default_rng(seed), noise_and_few_digits.PRECISIONS["bfloat16"]
    x, W = bf16(rng.normal(size=(16, 24))), bf16(rng.normal(size=(24, 50)) / 24**0.5)
    b, rows, labels = bf16(0.1 * rng.normal(size=50)), np.arange(16), rng.integers(0, 50, 16)

    def cross_entropy(x, b):
        z = bf16(bf16(x) @ W + bf16(b))
        return np.float32(np.mean(np.log(np.exp(z).sum(axis=1)) - z[rows, labels]))

    share = np.exp(np.float64(x) @ W + b)
    share /= share.sum(axis=1, keepdims=True)
    share[rows, labels] -= 1
    claim = np.float32(factor * share @ W.T / 16), np.float32(share.mean(axis=0))
    assert check_gradient(cross_entropy, (x, b), claim).verdict == verdict


def sines(seed, wide=np.float32):
    rng, half = np.random.default_rng(seed), np.float16
    a, x = np.float32(rng.normal(size=8).astype(half)), wide(rng.normal())

    def f(x):
        z = np.float32((a * np.float32(half(x))).astype(half))
        return wide(half(np.sum(np.sin(z)))) + wide(0.1) * x * x

    return f, x, wide(np.sum(a * np.cos(a * x)) + 0.2 * x)


def sines_in_float64(seed):
    return sines(seed, np.float64)


def on_a_pedestal(seed):
    rng, half = np.random.default_rng(seed), np.float16
    X, y, w = (np.float32(rng.normal(size=shape)) for shape in ((32, 4), 32, 4))
    X_, y_ = np.float32(X.astype(half)), np.float32(y.astype(half))

    def f(w):
        e = np.float32((np.float32((X_ @ w).astype(half)) - y_).astype(half))
        return np.float32(half(np.mean(e**2) + 1000)) + np.float32(1e-3) * np.sum(w**2)

    return f, w, 2 / 32 * X_.T @ (X_ @ w - y_) + 2e-3 * w


def of_a_number(inside, seed):
    rng = np.random.default_rng(seed)
    a, y, x = (np.float32(rng.normal(size=size)) for size in (20, 20, 1))

    def f(x):
        loss = noise_and_few_digits.cast(inside, np.mean((np.tanh(a * x) - y) ** 2))
        return loss + np.float32(0.5) * x[0] ** 2

    z = np.tanh(a * x)
    return f, x, np.mean(2 * (z - y) * (1 - z**2) * a) + x


def in_bfloat16(seed):
    return of_a_number("bfloat16", seed)


def in_float16(seed):
    return of_a_number("float16", seed)


def across_a_power_of_two(seed):
    rng = np.random.default_rng(seed)
    x, w = np.float32(rng.normal(size=6)), rng.normal(size=6)

    def f(x):
        squares = np.sum(np.float64(x) ** 2)
        return np.float64(np.float16(np.sum(w * np.sin(np.float64(x))))) + 0.5 * squares

    return f, x, np.float32(w * np.cos(x) + x)


# Where one side goes down, because f curves; where terms cancel, so that the stairs of numbers
# inside f are high beside f; where single entries cross no stair; where the penalty curves more
# than a stair is high; where steps are too few to refuse, but longer ones follow the claim; where
# the claim is less than a tenth off the slope of the penalty; and where stairs are not alike.
BESIDE = [(sines, 32), (sines, 37), (sines_in_float64, 14), (on_a_pedestal, 1), (on_a_pedestal, 4),
          (in_bfloat16, 1), (in_bfloat16, 23), (in_bfloat16, 31), (in_float16, 1), (in_float16, 22),
          (across_a_power_of_two, 40)]  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("loss", "seed"), BESIDE)
@pytest.mark.parametrize(("factor", "verdicts"), [(1, ["pass", "unsure"]), (2, ["fail"])])
def test_a_loss_in_16_bits_beside_a_penalty(loss, seed, factor, verdicts):
    f, x, right = loss(seed)
    assert check_gradient(f, x, factor * right).verdict in verdicts


# Where the sharpest slopes are those of long steps; where loss and penalty cancel, at 9 and 18; and
# where one entry follows its claim at steps at which others do not.
@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", [0, 9, 18, 11])
@pytest.mark.parametrize(("of_x", "of_c", "wrong"), [(1, 1, ""), (2, 1, "x"), (1, 1.5, "c")])
def test_beside_a_penalty_the_input_that_is_wrong_is_named(seed, of_x, of_c, wrong):
    rng, single = np.random.default_rng(seed), np.float32
    w, x, c = (single(rng.normal(size=size)) for size in (6, 6, 3))

    def f(x, c):
        loss = noise_and_few_digits.cast("bfloat16", np.sum(w * np.tanh(x)))
        return loss + single(0.1) * np.sum(c * c) + single(0.1) * np.sum(x * x)

    right = {"x": w / np.cosh(x) ** 2 + single(0.2) * x, "c": single(0.2) * c}
    claim = {"x": single(of_x) * right["x"], "c": single(of_c) * right["c"]}
    report = check_gradient(f, {"x": x, "c": c}, claim)
    assert report.verdict == ("fail" if wrong else "pass")
    assert [one.name for one in report.inputs if one.code == FAIL] == [*wrong]


# --- the formulas -----------------------------------------------------------------------------


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("lines", "upstreams"), [(40, 0), (10, 0), (40, 20)])
def test_quantiles_hold_for_sums_with_random_signs(lines, upstreams):
    """For an error of rank one, which combinations of the outputs show least evenly."""
    rng, trials = np.random.default_rng(0), 4000
    a, b = rng.normal(size=50), rng.normal(size=30)
    along = rng.choice([-1.0, 1.0], size=(trials, lines, 50)) @ (a / np.linalg.norm(a))
    squares = np.mean(along**2, axis=1)
    if upstreams:
        across = rng.choice([-1.0, 1.0], size=(trials, upstreams, 30)) @ (b / np.linalg.norm(b))
        squares = squares * np.mean(across**2, axis=1)
    low, high = quantiles(lines, upstreams)
    assert np.mean(squares < low) <= 4e-3
    assert np.mean(squares > high) <= 4e-3


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "error",
    [np.eye(1, 60)[0], np.eye(1, 60)[0] + np.eye(1, 60, 1)[0], 2.0 ** -np.arange(60)],
    ids=["one entry", "two entries", "halves"],
)
@pytest.mark.parametrize("lines", [20, 40])
def test_what_is_proved_holds_for_any_error(error, lines):
    rng, factor = np.random.default_rng(0), proof(lines)
    moves = rng.choice([-1.0, 1.0], size=(2000, lines, 60)) * rng.uniform(0.5, 1.5, size=(1, 1, 60))
    largest = np.abs(moves @ error).max(axis=1)
    size = np.linalg.norm(error) * (13 / 12) ** 0.5
    assert np.mean(factor * largest < size * 0.5) <= CHANCE
    assert proof(5) == np.inf


# --- inputs without effect --------------------------------------------------------------------


def shifted(spoil=lambda name, gradient: gradient, unit=1.0, **knobs):
    """Check a classifier in float32, in which s shifts all scores of a row, so it has no effect."""
    rng = np.random.default_rng(0)
    rows, right = rng.normal(size=(8, 40)).astype(np.float32), np.eye(5)[rng.integers(5, size=8)]
    W = (rng.normal(size=(40, 5)) * unit / 6).astype(np.float32)
    point = {"W": W, "c": rng.normal(size=5).astype(np.float32)}
    point["s"] = rng.normal(size=8).astype(np.float32)

    def p(W, c, s):
        scores = rows @ (W / np.float32(unit)) + c + s[:, None]
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    def loss(W, c, s):
        logs = np.log((p(W, c, s) * right).sum(axis=1))
        return np.float32(300) - np.float32(np.mean(logs))

    def gradient(W, c, s):
        off = ((p(W, c, s) - right) / 8).astype(np.float32)
        found = {"W": rows.T @ off / np.float32(unit), "c": off.sum(axis=0), "s": off.sum(axis=1)}
        return {name: spoil(name, one) for name, one in found.items()}

    return check_gradient(loss, point, gradient, **knobs)


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
def test_a_claim_of_zero_passes_beside_inputs_that_are_right(unit):
    report = shifted(unit=unit)
    assert (report.verdict, report.by_whole) == ("pass", True)
    zero = report.inputs[2]
    assert (zero.name, zero.zero, zero.verdict) == ("s", True, "pass")
    assert "but: the gradient of s is zero within" in report.text(200)


SPOILT = {
    "forgotten": ("c", lambda g: 0 * g, "fail"),
    "the larger one is forgotten": ("W", lambda g: 0 * g, "fail"),
    "a claim without an effect": ("s", lambda g: g + np.float32(0.05), "fail"),
    "a smaller one": ("s", lambda g: g + np.float32(1e-5), "unsure"),
}


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
@pytest.mark.parametrize("spoilt", SPOILT)
def test_a_wrong_gradient_does_not_pass_beside_others(spoilt, unit):
    wrong, spoil, verdict = SPOILT[spoilt]
    report = shifted(lambda name, g: spoil(g) if name == wrong else g, unit)
    assert report.verdict == verdict
    assert not next(one for one in report.inputs if one.name == wrong).zero


def test_in_float64_the_report_says_from_where_on_a_deep_network_is_right():
    rng = np.random.default_rng(0)
    x, layers = rng.normal(size=(5, 12)), range(12)
    weights = {f"W{k}": rng.normal(size=(12, 12)) / 12**0.5 for k in layers}

    def forward(weights):
        values = [x]
        for k in layers:
            values.append(np.tanh(values[-1] @ weights[f"W{k}"]))
        return values

    def gradient(**weights):
        values, found = forward(weights), {}
        off = 2 * values[-1] / values[-1].size
        for k in reversed(layers):
            off = off * (1 - values[k + 1] ** (1 if k == 5 else 2))  # the square is forgotten once
            found[f"W{k}"] = values[k].T @ off
            off = off @ weights[f"W{k}"].T
        return found

    report = check_gradient(lambda **w: np.mean(forward(w)[-1] ** 2), weights, gradient)
    assert [one.verdict for one in report.inputs] == ["fail"] * 6 + ["pass"] * 6
    assert "is right from W6 on, and wrong from W5 on towards the input" in report.text(200)
