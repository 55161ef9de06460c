"""Mistakes among many entries and in any precision: a repair is judged by what was measured."""

import re

import numpy as np
import pytest
from corpus.noise_and_few_digits import rounding_layer
from corpus.row import PRECISIONS

from gradcheck_ref import check_gradient, check_vjp

RNG = np.random.default_rng(3)
X, W = RNG.normal(size=(20, 30)), RNG.normal(size=(30, 30)) / 5
# What is wrong in a bfloat16 is wrong in a float16, too, which has more digits.
INSIDE = ("float64", "float32", "bfloat16")


def found(report):
    assert report.verdict == "fail"
    return [(one.kind, one.subject) for one in report.diagnoses]


# id: what is done to the gradient of w, and the kind and the words that are said of it
REPAIRS = {
    "doubled": (lambda w: 2 * w, "factor", "(is|about) 2 x the numeric value"),
    "minus": (lambda w: -w, "sign", "the sign is wrong"),
    "transposed": (lambda w: w.T, "transposed", "it is the transpose"),
    "rolled": (lambda w: np.roll(w, 1, -1), "permuted", "rolled by 1 along axis 1 of w"),
    "reversed": (lambda w: w[::-1], "permuted", "reversed along axis 0 of w"),
    "kernel": (lambda w: w[::-1, ::-1], "permuted", "along the last two axes of w"),
    # In bfloat16 the factor has two digits, and the last one may be off by one.
    "a third": (lambda w: w / 3, "factor", "(1/3|about 0[.]3[34]) x the numeric value"),
    "other numbers": (lambda w: w * np.random.default_rng(8).normal(size=w.shape), "", ""),
}


@pytest.mark.one_in(16)
@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize(("spoil", "kind", "said"), REPAIRS.values(), ids=REPAIRS)
def test_a_mistake_in_a_layer_is_named_in_every_precision(inside, spoil, kind, said):
    f, right = rounding_layer(inside)
    dtype = float if inside == "float64" else np.float32
    point = X.astype(dtype), W.astype(dtype)

    def wrong(u, x, w):
        of_x, of_w = right(u, x, w)
        return of_x, spoil(of_w)

    report = check_vjp(f, point, wrong)
    assert found(report) == ([(kind, "w")] if kind else [])
    for one in report.diagnoses:
        assert re.search(f"{said}.*Repaired, it agrees with f a", one.sentence)


@pytest.mark.slow
def test_where_noise_is_loud_more_lines_show_the_repair():
    """Ten lines refuse a doubled gradient in 8 bits, but do not show that half is right."""
    rng, cast = np.random.default_rng(3), PRECISIONS["bfloat16"]
    f, vjp = rounding_layer("bfloat16")
    x, w, u = (rng.normal(size=(16, 16)).astype(np.float32) / scale for scale in (1, 4, 1))
    gx, gw = vjp(u, x, w)
    report = check_gradient(lambda x, w: np.sum(cast(u * f(x, w))), (x, w), (2 * gx, gw))
    assert found(report) == [("factor", "x")]


def test_a_diagnosis_calls_nothing():
    calls = []

    def f(w):
        calls.append(w)
        return np.sum(np.sin(w))

    report = check_gradient(f, X, lambda w: 2 * np.cos(w))
    before = len(calls)
    assert found(report) == [("factor", "w")]
    assert len(calls) == before


# --- several inputs ---------------------------------------------------------------------------

U, V = RNG.normal(size=(2, 20, 20))


def product(x, y):
    return np.sum(np.sin(x) * y**2)


OF_X, OF_Y = np.cos(U) * V**2, 2 * V * np.sin(U)
OF_SEVERAL = {
    "each other's": ({"x": OF_Y, "y": OF_X}, [("swapped", "x"), ("swapped", "y")]),
    "the more specific first": ({"x": OF_X / 7.3, "y": -OF_Y}, [("sign", "y"), ("factor", "x")]),
    "each another": ({"x": -OF_X, "y": OF_Y.T}, [("sign", "x"), ("transposed", "y")]),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("claims", "kinds"), OF_SEVERAL.values(), ids=OF_SEVERAL)
def test_each_of_several_wrong_inputs_is_judged_along_its_own_lines(claims, kinds):
    assert found(check_gradient(product, {"x": U, "y": V}, claims)) == kinds


def test_gradients_of_each_others_shape_are_swapped():
    W, b = X[:3, :2], X[0, :2]
    swapped = {"W": np.ones(2) * 3, "b": np.cos(W)}
    report = check_gradient(lambda W, b: np.sum(np.sin(W) + b), {"W": W, "b": b}, swapped)
    assert {*found(report)} == {("swapped", "W"), ("swapped", "b")}


def test_shapes_alone_do_not_make_a_swap():
    A, B, C = X[:2, :3], X[2:5, :2], X[5:7, :2]
    f, point = (lambda A, B: np.sum(A @ B * C)), {"A": A, "B": B}
    transposed = {"A": B @ C.T, "B": C.T @ A}  # each has the shape of the other
    kinds = [("transposed", "A"), ("transposed", "B")]
    assert found(check_gradient(f, point, transposed)) == kinds
    assert found(check_gradient(f, point, {"A": np.ones((3, 2)), "B": np.ones((2, 3))})) == []


# --- when to say nothing, or less -------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_a_large_mistake_is_not_repaired_by_scaling_it_away(seed):
    """Of a claim ten times too large, a factor near 0 leaves less than half, in any digits."""
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=(2, 40))
    wrong = 10 * rng.normal(size=40)
    f = lambda x: round(float(np.sin(x) @ w), 3)  # noqa: E731
    assert found(check_gradient(f, x, wrong, seed=seed)) == []


def test_a_few_lines_confirm_no_repair():
    w, weight = np.random.default_rng(0).normal(size=(2, 12, 12))
    wrong = 2 * np.cos(w) * weight
    wrong[3, 4], wrong[5, 6] = wrong[3, 4] + 1, wrong[5, 6] - 1
    report = check_gradient(lambda w: np.sum(np.sin(w) * weight), w, wrong, max_evaluations=110)
    assert report.verdict == "fail"
    assert "Repaired" not in str(report)
