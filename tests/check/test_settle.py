"""No right gradient fails, however f misleads; and what can be seen is seen."""

import re

import numpy as np
import pytest

from gradcheck_ref import check_gradient, check_vjp
from gradcheck_ref.check.judge.settle import MOST_STEPS
from gradcheck_ref.check.measure.long_look import LOOK
from gradcheck_ref.check.measure.witness import EACH
from gradcheck_ref.check.results import ALL_STEPS

# A family is made at random: f, a point, and the gradient, all from a generator.
FAMILIES = {}
SEEDS = range(8)


def family(function):
    FAMILIES[function.__name__] = function
    return function


@family
def a_wave_of_any_frequency(rng):
    k, x = 10 ** rng.uniform(2, 10), rng.uniform(-3, 3, 3)
    return lambda x: np.sum(np.sin(k * x)), x, k * np.cos(k * x)


@family
def the_edge_of_a_logarithm(rng):
    a = rng.uniform(1, 5, 3)
    x = a + 10 ** rng.uniform(-10, -1, 3)
    return lambda x: np.sum(np.log(x - a)), x, 1 / (x - a)


@family
def steep_steps(rng):
    k = 10 ** rng.uniform(0, 9, 3)
    x = rng.uniform(-20, 20, 3) / k
    return lambda x: np.sum(np.tanh(k * x)), x, k / np.cosh(k * x) ** 2


@family
def large_numbers(rng):
    x = rng.choice([-1, 1], 3) * 10 ** rng.uniform(0, 15, 3)
    return lambda x: np.sum(x * x), x, 2 * x


@family
def scales_of_all_kinds(rng):
    s, t = 10 ** rng.uniform(-10, 10, 5), rng.normal(size=5)
    return lambda x: np.sum(np.cos(x / s)), s * t, -np.sin(s * t / s) / s


@family
def float32_inside(rng):
    v, W, x = rng.normal(size=6), rng.normal(size=(6, 4)), rng.normal(size=4)
    low = np.float32
    f = lambda x: float(v.astype(low) @ np.tanh(W.astype(low) @ x.astype(low)))  # noqa: E731
    return f, x, W.T @ (v * (1 - np.tanh(W @ x) ** 2))


@family
def pseudo_random_digits(rng):
    a, x = 10 ** rng.uniform(-12, -2), rng.normal(size=4)

    def f(x):
        mixed = float(np.sum(x * [1.0, 1.3, 1.7, 1.9]))
        return np.sum(np.sin(x)) + a * (hash(mixed) % 1000 / 1000 - 0.5)

    return f, x, np.cos(x)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_right_gradient_never_fails(name):
    for seed in SEEDS:
        f, x, gradient = FAMILIES[name](np.random.default_rng(seed))
        report = check_gradient(f, x, gradient)
        assert report.verdict != "fail", f"seed {seed}: {report}"


# How many of the eight seeds fail at least; the edge of the logarithm is down to 1e-10 away.
SEEN = {
    "large_numbers": 6,
    "scales_of_all_kinds": 6,
    "the_edge_of_a_logarithm": 5,
    "steep_steps": 6,
    "float32_inside": 6,
    "a_wave_of_any_frequency": 6,
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "least"), SEEN.items(), ids=SEEN)
def test_an_error_of_a_hundredth_never_passes_and_mostly_fails(name, least):
    verdicts = []
    for seed in SEEDS:
        f, x, gradient = FAMILIES[name](np.random.default_rng(seed))
        gradient[np.argmax(np.abs(gradient))] *= 1.01
        verdicts.append(check_gradient(f, x, gradient).verdict)
    assert "pass" not in verdicts
    assert verdicts.count("fail") >= least


def test_an_infinite_slope_is_beyond_finite_steps():
    x = np.array([0.0, 1.0])
    report = check_gradient(lambda x: np.sum(np.sqrt(x)), x, np.array([np.inf, 0.5]))
    assert (report.verdict, report.reason) == ("unsure", "domain-edge")
    assert [str(r) for r in report.pairs[0].reason[:, 0]] == ["domain-edge", "ok"]
    assert check_gradient(lambda x: np.sum(x * x), x, np.array([np.inf, 2.0])).verdict == "fail"


def test_errors_of_all_sizes_in_one_row_are_confirmed():
    rng = np.random.default_rng(0)
    M, x = rng.normal(size=(20, 5)), rng.normal(size=5)
    wrong = M + 10.0 ** rng.uniform(-9, 0, M.shape)
    report = check_vjp(lambda x: M @ x, x, lambda upstream, x: wrong.T @ upstream)
    (pair,) = report.pairs
    clearly = 3 * pair.allowed < np.abs(wrong - M).T
    assert np.count_nonzero(pair.verdict[clearly] == 2) >= 0.95 * np.count_nonzero(clearly)


def median(x):
    return float(np.median(x))


@pytest.mark.parametrize(
    ("f", "x", "claim"),
    [
        (median, [1.0, 1.0, 1.0], [0.0, 1.0, 0.0]),
        (median, [1.0, 1.0, 1.0, 5.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0]),
        (lambda x: np.sort(x)[1:-1].mean(), [1.0] * 4, [0.0, 0.5, 0.5, 0.0]),
        (lambda x: median(x) + x @ x, [1.0, 1.0, 1.0], [3.0, 2.0, 2.0]),
    ],
    ids=["median", "median-of-five", "trimmed-mean", "median-and-more"],
)
def test_a_tie_that_no_axis_shows_fails_no_gradient(f, x, claim):
    report = check_gradient(f, np.array(x), np.array(claim))
    assert (report.verdict, report.reason, report.faults) == ("unsure", "kink", ())


def test_a_tie_excuses_no_entry_but_those_that_are_tied():
    x = np.array([1.0, 1.0, 1.0, 0.7])
    report = check_gradient(lambda x: median(x[:3]) + x[3] ** 2, x, np.array([0, 1, 0, 2.8]))
    assert (report.verdict, report.worst.name) == ("fail", "x[3]")
    assert "kink" in report.pairs[0].reason


@pytest.mark.parametrize(
    ("f", "x", "slope"),
    [
        (lambda x: 1e10 + 1e-3 * np.sum(np.sin(x)), [0.3, 1.2], lambda x: 1e-3 * np.cos(x)),
        (lambda x: 1e13 + np.sum(np.sin(x)), [0.3, 1.2], np.cos),
        (lambda x: np.sum(np.tanh(x)), [15.0, 18.0], lambda x: 1 / np.cosh(x) ** 2),
    ],
    ids=["1e10", "1e13", "saturated"],
)
def test_a_slope_below_the_rounding_of_f_is_not_mistaken_for_zero(f, x, slope):
    x = np.array(x)
    assert check_gradient(f, x, slope(x)).verdict in ("pass", "unsure")
    assert check_gradient(f, x, 0 * x).verdict == "fail"


# --- scales, steps and bars: a right claim and a wrong one in pairs ---------------------------

KINDS = {}


def kind(name, right="pass", wrong="fail", seeds=range(5)):
    """Name a family, what its right gradient gets (or better), and what a wrong one gets."""

    def add(make):
        KINDS[name] = (make, ["pass", "unsure", "fail"].index(right), wrong.split(), seeds)
        return make

    return add


def printed(pedestal):
    def make(rng):
        x = rng.uniform(-2, 2, 5)
        f = lambda x: float(f"{pedestal + np.sum(np.sin(x)):.6g}")  # noqa: E731
        return f, x, np.cos(x), 0 * x

    return make


for pedestal in (1, 100, 1e4):
    kind(f"six digits of a number of {pedestal:g}", "unsure", "unsure fail")(printed(pedestal))


@kind("six digits, all of them used up", "unsure", "unsure")
def six_digits_of_a_pedestal(rng):
    f, x, right, _ = printed(1e7)(rng)
    return f, x, right, 2 * right  # which is below what six digits show


@kind("a sum in float32 on a pedestal", "unsure")
def a_sum_in_float32_on_a_pedestal(rng):
    x = rng.uniform(-2, 2, 5)
    f = lambda x: float(np.float32(1e4 + np.sum(np.sin(x))))  # noqa: E731
    return f, x, np.cos(x), 0 * x


SCALED = {
    "tanh": (np.tanh, lambda z: 1 - np.tanh(z) ** 2),
    "bump": (lambda z: 1 / (1 + z * z), lambda z: -2 * z / (1 + z * z) ** 2),
}


def in_units(name, w):
    f, slope = SCALED[name]

    def make(rng):
        x = w * rng.uniform(0.3, 2, 4)
        g = slope(x / w) / w
        return lambda x: np.sum(f(x / w)), x, g, g * np.array([1, 1.01, 1, 1])

    return make


for name in SCALED:
    for w in (1e-4, 1e-6, 1e-8):
        kind(f"{name}(x/{w:g}) at about {w:g}", seeds=range(3))(in_units(name, w))


@kind("fast in one input, slow and small in another")
def fast_beside_slow(rng):
    a, c = 1e-5 * rng.normal(), rng.normal()
    f = lambda x: 10 * np.sin(1e5 * x[0]) + 1e-5 * np.sin(x[1])  # noqa: E731
    g = np.array([1e6 * np.cos(1e5 * a), 1e-5 * np.cos(c)])
    return f, np.array([a, c]), g, g * [1, 1.01]


@kind("a narrow bump in float32 next to another input")
def a_bump_in_float32(rng):
    w, z = np.float32(1e-5), np.float32(rng.uniform(0.6, 2))
    x = np.array([w * z, rng.uniform(0.5, 2)], np.float32)
    f = lambda x: np.float32(1 / (1 + (x[0] / w) ** 2) + np.sin(x[1]))  # noqa: E731
    g = np.array([-2 * z / w / (1 + z * z) ** 2, np.cos(x[1])], np.float32)
    return f, x, g, g * np.array([0, 1], np.float32)


@kind("a table of linear pieces on a pedestal of 1e7", "unsure", seeds=range(10))
def a_table_on_a_pedestal(rng):
    at, values = np.sort(rng.uniform(-3, 3, 30)), rng.normal(size=30)
    x = rng.uniform(-2.5, 2.5, 4)
    piece = np.searchsorted(at, x) - 1
    g = np.diff(values)[piece] / np.diff(at)[piece]
    return lambda x: 1e7 + np.sum(np.interp(x, at, values)), x, g, 0 * x


def quantile_with_ties(n, q, decimals):
    def make(rng):
        x = np.round(rng.normal(size=n), decimals)
        order, at = np.argsort(x, kind="stable"), q * (n - 1)
        g = np.zeros(n)
        for row, share in ((int(at), 1 - at % 1), (int(at) + 1, at % 1)):
            g[order[min(row, n - 1)]] += share
        return lambda x: float(np.quantile(x, q)), x, g, 1.5 * g

    return make


for n, q, decimals in ((21, 0.5, 1), (36, 0.5, 0), (60, 0.25, 0), (150, 0.3, 1), (301, 0.5, 1)):
    kind(f"the {q:g} quantile of {n} numbers with ties", "unsure", "unsure fail", range(4))(
        quantile_with_ties(n, q, decimals)
    )


@kind("float32 next to 1e8", "unsure", "unsure fail")
def float32_beside_a_large_number(rng):
    x = rng.normal(size=4).astype(np.float32)
    f = lambda x: np.float32(1e8) + np.sum(np.sin(x))  # noqa: E731
    return f, x, np.cos(x), -np.cos(x)


@pytest.mark.parametrize(
    ("slope", "verdict"),
    [(0.5, "unsure"), (-0.5, "unsure"), (0.0, "unsure"), (0.6, "fail"), (-0.6, "fail")],
)
def test_a_slope_between_the_two_at_a_kink_is_valid_though_f_is_curved(slope, verdict):
    report = check_vjp(
        lambda x, y: 0.5 * np.exp(-np.abs(x - y)),
        (0.3, 0.3),
        lambda u, x, y: (u * slope, -u * slope),
    )
    assert report.verdict == verdict


def test_a_kink_at_x_is_settled_once_long_and_short_steps_show_the_same_jump():
    report = check_gradient(lambda x: np.maximum(x, 0).sum(), np.zeros(5), np.zeros(5))
    assert (report.verdict, report.reason) == ("unsure", "kink")
    # Four looks along each axis, three along the line of the five equal entries, a long look that
    # meets the kinks, and the noise.
    assert report.evaluations <= (5 * 4 + 3) * 6 + 2 * LOOK + 15


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", KINDS)
def test_misleading_scales_and_steps_do_not_lead_to_a_wrong_verdict(name):
    make, worst, wanted, seeds = KINDS[name]
    for seed in seeds:
        f, x, right, wrong = make(np.random.default_rng(seed))
        report = check_gradient(f, x, right)
        verdicts = ["pass", "unsure", "fail"][: worst + 1]
        assert report.verdict in verdicts, f"seed {seed}, right: {report}"
        report = check_gradient(f, x, wrong)
        assert report.verdict in wanted, f"seed {seed}, wrong: {report}"


HARD = {
    "smooth": lambda x: np.sum(np.sin(x)),
    "kinks": lambda x: np.sum(np.abs(x - 0.01)),
    "waves": lambda x: np.sum(np.sin(1e6 * x)),
    "six digits": lambda x: float(f"{1e3 + np.sum(np.sin(x)):.6g}"),
    "stairs": lambda x: np.sum(np.floor(10 * x)),
    "float32": lambda x: float(np.sum(np.exp(x).astype(np.float32))),
    "noise": lambda x: np.sum(x * x) + 1e-3 * (hash(x.tobytes()) % 1000),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("size", [33, 99])
@pytest.mark.parametrize("name", HARD)
def test_a_check_of_up_to_99_entries_takes_at_most_1000_evaluations(name, size):
    x = np.random.default_rng(size).normal(size=size)
    for claim in (np.zeros(size), np.cos(x), -x):
        report = check_gradient(HARD[name], x, claim)
        # Where f has few digits, as many as 2000 more measure the input as a whole, or refused
        # entries together. On stairs that took 0 to 500 more, for ten seeds.
        more = name == "stairs" or any(one.lines for one in report.inputs)
        assert report.evaluations <= (3000 if more else 1000)


# --- the evaluations run out ------------------------------------------------------------------

# Right gradients that take more than one look at an entry.
COSTLY = {
    "waves": (lambda x: np.sum(np.sin(1e3 * x)), lambda x: 1e3 * np.cos(1e3 * x)),
    "a large offset": (lambda x: 1e6 + np.sum(np.sin(x)), np.cos),
}


def test_the_number_counts_every_step_that_the_check_may_try():
    assert ALL_STEPS == MOST_STEPS * EACH


@pytest.mark.parametrize(("size", "most"), [(1, 12), (3, 30), (8, 60)])
@pytest.mark.parametrize("name", COSTLY)
def test_the_number_of_evaluations_that_a_report_names_is_enough(name, size, most):
    f, slope = COSTLY[name]
    x = np.random.default_rng(0).normal(size=size)
    short = check_gradient(f, x, slope, max_evaluations=most)
    assert (short.verdict, short.reason) == ("unsure", "budget")
    named = re.search(r"use max_evaluations=(\d+), which is enough", " ".join(str(short).split()))
    assert check_gradient(f, x, slope, max_evaluations=int(named[1])).verdict == "pass"


@pytest.mark.parametrize(
    ("f", "claim", "reason"),
    [(lambda x: np.abs(x).sum(), 0.0, "kink"), (lambda x: np.sin(1e3 * x).sum(), 1e3, "budget")],
    ids=["a kink", "a wave"],
)
def test_a_kink_that_was_seen_is_the_reason_though_the_evaluations_ran_out(f, claim, reason):
    report = check_gradient(f, np.zeros(6), np.full(6, claim), max_evaluations=50)
    assert (report.verdict, set(report.pairs[0].reason.flat)) == ("unsure", {reason})


def bilinear(image, place):
    """Return the value of an image between its pixels."""
    (i, j), (a, b) = place.astype(int), place % 1
    top = (1 - b) * image[i, j] + b * image[i, j + 1]
    return (1 - a) * top + a * ((1 - b) * image[i + 1, j] + b * image[i + 1, j + 1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
def test_slopes_at_a_whole_offset_are_at_a_kink_and_not_zero(seed, dtype):
    rng = np.random.default_rng(seed)
    image, at = rng.normal(size=(6, 6)).astype(dtype), rng.integers(1, 4, (5, 2))
    weights, offsets = rng.normal(size=5).astype(dtype), np.zeros((5, 2), dtype)

    def f(offsets):
        places = at.astype(dtype) + offsets
        return sum(w * bilinear(image, p) for w, p in zip(weights, places, strict=True))

    i, j = at.T
    claim = np.stack([image[i + 1, j] - image[i, j], image[i, j + 1] - image[i, j]], axis=1)
    report = check_gradient(f, offsets, weights[:, None] * claim)
    assert (report.verdict, set(report.pairs[0].reason.flat)) == ("unsure", {"kink"})


@pytest.mark.parametrize(("tiny", "reason"), [(1e-310, "kink"), (5e-324, "kink"), (1e-3, "ok")])
def test_a_relu_beside_a_denormal_number_has_a_kink_and_no_edge(tiny, reason):
    x = np.array([1.0, tiny, -0.5])
    report = check_gradient(lambda x: np.maximum(x, 0).sum(), x, 1.0 * (x > 0))
    assert report.reason == reason


def test_a_number_beside_the_edge_of_a_domain_keeps_its_reason():
    report = check_gradient(lambda x: np.sum(np.sqrt(1 - x)), np.array([1.0]), np.array([-1.0]))
    assert (report.verdict, report.reason) == ("unsure", "domain-edge")
