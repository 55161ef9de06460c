"""The gradient as a whole: products of residuals at two steps, in any precision."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from rounded import SHORT, tanh_layer, to_bfloat16

from gradcheck_ref import check_gradient, check_vjp
from gradcheck_ref.check.judge.looks import Square
from gradcheck_ref.check.judge.whole import Group, allowed_as_a_whole

ALLOWED = {"float32": 1e-3, "float16": 0.05, "bfloat16": 0.1}


def point(seed=0, n=24):
    rng = np.random.default_rng(seed)
    return [np.float32(rng.normal(size=(n, n))), np.float32(rng.normal(size=(n, n)) / n**0.5)]


WRONG = {
    "doubled": lambda g: 2 * g,
    "the sign of a part": lambda g: np.vstack([-g[:5], g[5:]]),
    "the last rows lost": lambda g: np.vstack([g[:-4], 0 * g[-4:]]),
    "rolled": lambda g: np.roll(g, 1, axis=1),
    "transposed": lambda g: g.T.copy(),
}


# --- right and wrong, in three precisions -----------------------------------------------------


@pytest.mark.one_in(2)
@pytest.mark.parametrize("how", ["vjp", "loss"])
@pytest.mark.parametrize("inside", SHORT)
def test_a_right_gradient_passes_and_the_report_says_how_closely(inside, how):
    (f, vjp), x = tanh_layer(SHORT[inside]), point()
    if how == "vjp":
        report = check_vjp(f, x, vjp)
    else:
        u = np.float32(np.random.default_rng(9).normal(size=f(*x).shape))
        report = check_gradient(lambda *a: np.float32(np.sum(f(*a) * u)), x, lambda *a: vjp(u, *a))
    assert report.verdict == "pass"
    assert [one.name for one in report.inputs] == ["x", "w"] or how == "loss"
    for one in report.inputs:
        assert one.error <= one.limit <= one.allowed <= ALLOWED[inside]
        assert one.verdict == "pass"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("inside", SHORT)
def test_a_wrong_gradient_of_one_input_fails_and_the_other_is_right(inside, wrong):
    (f, vjp), x = tanh_layer(SHORT[inside]), point()

    def claim(u, x, w):
        by_x, by_w = vjp(u, x, w)
        return by_x, WRONG[wrong](by_w)

    report = check_vjp(f, x, claim)
    assert report.verdict == "fail"
    right, bad = report.inputs
    assert (right.verdict, bad.verdict) == ("pass", "fail")
    g = vjp(np.float32(np.random.default_rng(9).normal(size=f(*x).shape)), *x)[1]
    changed = WRONG[wrong](g)
    true = np.linalg.norm(changed - g) / max(np.linalg.norm(changed), np.linalg.norm(g))
    assert bad.error == pytest.approx(true, rel=0.35)


@pytest.mark.parametrize("unit", [1e-150, 1e-30, 1e30, 1e150])
def test_a_loss_in_any_unit_is_judged_as_in_its_own(unit):
    """Its square would overflow, or vanish."""
    x, y = np.random.default_rng(0).normal(size=(2, 60))
    right = 2 * (np.tanh(x) - y) * (1 - np.tanh(x) ** 2) / x.size

    def judged(unit, factor):
        f = lambda x: unit * float(np.float16(np.mean((np.tanh(x) - y) ** 2)))  # noqa: E731
        report = check_gradient(f, x, factor * unit * right)
        return report.verdict, report.by_whole, report.inputs[0].error

    for factor, verdict in ((1, "pass"), (2, "fail")):
        ours, own = judged(unit, factor), judged(1.0, factor)
        assert ours[:2] == own[:2]
        assert ours[0] == verdict
        assert ours[2] == pytest.approx(own[2], rel=1e-3)


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_a_factor_is_seen_at_its_size(share):
    (f, vjp), x = tanh_layer(SHORT["float16"]), point(3)
    report = check_vjp(f, x, lambda u, *a: tuple((1 + share) * g for g in vjp(u, *a)))
    assert report.verdict == "fail"
    for one in report.inputs:
        assert one.error == pytest.approx(share / (1 + share), rel=0.15)


# --- where it must not decide -----------------------------------------------------------------


@pytest.mark.parametrize("inside", ["float16", "bfloat16"])
def test_equal_entries_do_not_stand_on_one_stair(inside):
    cast, x = SHORT[inside], np.full((16, 16), 0.5, np.float32)
    s = 1 / (1 + np.exp(-0.5))
    f = lambda x: cast(1 / (1 + np.exp(-cast(x))))  # noqa: E731
    right = lambda u, x: (u * np.float32(s * (1 - s)),)  # noqa: E731
    assert check_vjp(f, x, lambda u, x: right(u, x)[0]).verdict == "pass"
    assert check_vjp(f, x, lambda u, x: 2 * right(u, x)[0]).verdict == "fail"


def test_a_loss_that_few_digits_hide_is_neither_right_nor_wrong():
    x = point()[0]
    f = lambda x: np.float32(to_bfloat16(1000 + np.mean(np.sin(x))))  # noqa: E731
    for factor in (0.0, 1.0, 2.0):
        report = check_gradient(f, x, factor * np.cos(x) / x.size)
        assert report.verdict == ("unsure" if factor else "pass")  # flat, with a note


@pytest.mark.parametrize(("inside", "size"), [("float16", 0.01), ("bfloat16", 0.02)])
def test_a_small_input_does_not_hide_beside_large_ones(inside, size):
    """A hundredth of the whole is less than what is allowed of it."""
    rng, cast = np.random.default_rng(0), SHORT[inside]
    x = [np.float32(s * rng.normal(size=200)) for s in (1, 1, 1, size)]
    a = np.float32(rng.normal(size=(4, 200)))

    def f(*x):
        return np.float32(sum(np.sum(cast(b * np.sin(cast(y)))) for b, y in zip(a, x, strict=True)))

    def claim(factor):
        right = [b * np.cos(y) for b, y in zip(a, x, strict=True)]
        return [*right[:3], factor * right[3]]

    assert check_gradient(f, x, claim(1)).verdict == "pass"
    report = check_gradient(f, x, claim(2))
    assert [one.verdict for one in report.inputs] == ["pass", "pass", "pass", "fail"]


def test_outputs_do_not_hide_beside_a_large_one():
    rng, cast = np.random.default_rng(0), SHORT["bfloat16"]
    w, x = np.float32(rng.normal(size=(30, 12)) / 5), np.float32(rng.normal(size=30))
    size = np.float32([1000] + [1] * 11)

    def claim(factor):
        wrong = np.float32([1] + [factor] * 11)
        return lambda u, x: w @ (u * size * wrong * (1 - np.tanh(x @ w) ** 2))

    f = lambda x: size * cast(np.tanh(cast(cast(x) @ cast(w))))  # noqa: E731
    assert check_vjp(f, x, claim(1)).verdict == "pass"
    assert check_vjp(f, x, claim(2)).verdict == "fail"


def test_outputs_that_few_digits_hide_refuse_nobody():
    """No value moves, and a step between values is larger than what the claims say."""
    w, x = point(1, 12)
    f = lambda x: SHORT["bfloat16"](np.tanh(x @ w) + 1000)  # noqa: E731
    right = lambda u, x: (u * (1 - np.tanh(x @ w) ** 2)) @ w.T  # noqa: E731
    assert check_vjp(f, x, right).verdict != "fail"


def test_a_demand_asks_for_every_entry():
    (f, vjp), x = tanh_layer(SHORT["bfloat16"]), point()
    assert check_vjp(f, x, vjp).verdict == "pass"
    assert check_vjp(f, x, vjp, rtol=1e-3).verdict != "pass"


def test_a_kink_at_x_refuses_nobody_in_few_digits():
    x = np.zeros(60, np.float32)
    x[30:] = 1.0
    cast = SHORT["float16"]
    f = lambda x: np.float32(np.sum(cast(np.maximum(cast(x), 0))))  # noqa: E731
    for claim in (x > 0, x >= 0):
        assert check_gradient(f, x, np.float32(claim)).verdict != "fail"


def test_zeros_are_the_slope_of_a_staircase():
    x = np.random.default_rng(0).normal(size=50).astype(np.float32)
    f = lambda x: np.float32(np.sum(np.sin(np.round(x, 1))))  # noqa: E731
    assert check_gradient(f, x, 0 * x).verdict != "fail"
    assert check_gradient(f, x, 2 * np.cos(x)).verdict != "pass"


def test_high_stairs_refuse_no_slope():
    x = np.random.default_rng(0).normal(size=50).astype(np.float32)
    f = lambda x: np.float32(np.round(4 * np.sum(np.sin(x))) / 4)  # noqa: E731
    assert check_gradient(f, x, 2 * np.cos(x)).verdict == "unsure"


def test_an_input_that_leaves_the_domain_moves_in_proportion():
    rng, cast = np.random.default_rng(0), SHORT["bfloat16"]
    x = np.float32(np.append(np.exp(rng.normal(size=40) / 3), 1e-6))
    a = np.float32(rng.normal(size=41))
    f = lambda x: cast(np.sum(a * np.log(x)))[()] if (x > 0).all() else np.float32(np.nan)  # noqa: E731
    assert check_gradient(f, x, a / x).verdict == "pass"
    assert check_gradient(f, x, 2 * a / x).verdict == "fail"


def test_an_empty_input_leaves_nothing_unsure():
    (f, vjp), x = tanh_layer(SHORT["bfloat16"]), point()
    empty = np.zeros((0, 3), np.float32)
    report = check_vjp(lambda x, w, _: f(x, w), (*x, empty), lambda u, x, w, _: (*vjp(u, x, w), _))
    assert [one.verdict for one in report.inputs] == ["pass"] * 3
    assert report.verdict == "pass"


# --- the formulas -----------------------------------------------------------------------------


def test_what_is_allowed_follows_the_precision():
    eps = [2.0**-52, 2.0**-23, 2.0**-10, 2.0**-7]
    allowed = [allowed_as_a_whole(one) for one in eps]
    assert allowed == pytest.approx([1e-6, 8.67e-4, 0.0195, 0.1], rel=0.01)
    assert allowed_as_a_whole(2.0**-23, noise=1e-6) == pytest.approx(0.0041, rel=0.01)
    assert allowed_as_a_whole(2.0**-23, noise=1.0) == 0.1


def test_more_lines_make_a_pass_surer_and_do_not_ask_for_more():
    def allowed(lines):
        found = Square(slice(0, 1), noise=2e-4, averaged=math.sqrt(lines), stuck=0.0)
        seen = SimpleNamespace(lines=range(lines))
        group = SimpleNamespace(seen=seen, effects=[], _largest=lambda _: 0.1)
        return Group._allowed(group, found, 1.0)

    assert allowed(10) > allowed(40) > 1.1 * (0.1 / 10) ** 2
    assert allowed(160) == pytest.approx(allowed(40))


@pytest.mark.parametrize("size", [20, 200])
@pytest.mark.parametrize("wrong", [False, True], ids=["right", "wrong"])
def test_sums_in_another_order_are_rounding_and_not_random(size, wrong):
    """Atomic additions on a GPU come in another order in each call."""
    order = np.random.default_rng(1)
    x = np.random.default_rng(0).normal(size=(size, 16)).astype(np.float32)
    row = np.random.default_rng(2).integers(0, 8, size)

    def f(x):
        sums, some = np.zeros((8, 16), np.float32), order.permutation(size)
        np.add.at(sums, row[some], np.sin(x[some]))
        return sums

    def vjp(u, x):
        gradient = u[row] * np.cos(x)
        gradient[0] *= 0 if wrong else 1
        return gradient

    report = check_vjp(f, x, vjp)
    assert report.verdict == ("fail" if wrong else "pass"), str(report)


# --- the claim in fewer digits than f ---------------------------------------------------------


def in_tf32(a):
    """Round float32 to the 10 bits of TF32, in which a GPU may compute products."""
    bits = (a.astype(np.float32).view(np.uint32) + 0x1000) & 0xFFFFE000
    return bits.astype(np.uint32).view(np.float32)


@pytest.mark.parametrize(
    ("factor", "lost", "verdict"),
    [(1.0, 0, "pass"), (1.01, 0, "fail"), (1.0, 1, "fail")],
    ids=["right", "1 % too large", "a row lost"],
)
def test_a_gradient_in_tf32_of_a_function_in_float32_is_not_wrong_for_that(factor, lost, verdict):
    x, w = point(n=32)

    def vjp(u, x, w):
        of_w = factor * in_tf32(x).T @ in_tf32(u)
        of_w[:lost] = 0
        return u @ w.T, of_w

    report = check_vjp(lambda x, w: x @ w, (x, w), vjp)
    assert report.verdict == verdict, str(report)
    of_x, of_w = report.inputs
    assert of_x.verdict == "pass"
    assert of_x.limit < 1e-5
    if verdict == "pass":
        assert 1e-4 < of_w.error < of_w.limit < 1e-3
        assert any("in fewer digits than f" in note for note in report.notes)


def test_a_mistake_as_small_as_the_rounding_of_tf32_is_one_where_nothing_is_rounded():
    report = check_vjp(lambda x, w: x @ w, point(n=32), lambda u, x, w: (u @ w.T, 1.0003 * x.T @ u))
    assert report.verdict == "fail"
    assert [one.verdict for one in report.inputs] == ["pass", "fail"]
    assert not any("fewer digits" in note for note in report.notes)
