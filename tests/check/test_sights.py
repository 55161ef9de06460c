"""Repaired claims are judged by what was measured: entries, lines over an input, wholes."""

import re

import numpy as np
import pytest
from rounded import SHORT, tanh_layer

from gradcheck_ref import check_gradient, check_vjp

RNG = np.random.default_rng(3)
X, W = RNG.normal(size=(40, 30)), RNG.normal(size=(30, 30)) / 5
CASTS = {"float64": lambda a: a} | SHORT
# What is wrong in a float16 is wrong in a bfloat16, too, which has fewer digits.
PRECISIONS = [
    pytest.param(cast, id=name, marks=[pytest.mark.slow] if name == "float16" else [])
    for name, cast in CASTS.items()
]


# id: what is done to the gradients of x and w, and the kind and the words that are said of w
MISTAKES = {
    "doubled": (lambda x, w: (x, 2 * w), "factor", "(is|about) 2 x the numeric value"),
    "minus": (lambda x, w: (x, -w), "sign", "the sign is wrong"),
    "transposed": (lambda x, w: (x, w.T), "transposed", "it is the transpose"),
    "rolled": (lambda x, w: (x, np.roll(w, 1, -1)), "permuted", "rolled by 1 along axis 1 of w"),
    "reversed": (lambda x, w: (x, w[::-1]), "permuted", "reversed along axis 0 of w"),
    "kernel": (lambda x, w: (x, w[::-1, ::-1]), "permuted", "along the last two axes of w"),
    "a third": (lambda x, w: (x, w / 3), "factor", "(1/3|0[.]3+) x the numeric value"),
}


@pytest.mark.parametrize("cast", PRECISIONS)
@pytest.mark.parametrize(("spoil", "kind", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_layer_is_named_in_every_precision(cast, spoil, kind, said):
    f, right = tanh_layer(cast)
    point = X.astype(cast(X).dtype), W.astype(cast(W).dtype)
    report = check_vjp(f, point, lambda u, x, w: spoil(*right(u, x, w)))
    assert report.verdict == "fail"
    assert [(one.kind, one.subject) for one in report.diagnoses] == [(kind, "w")]
    assert re.search(said, report.diagnoses[0].sentence)
    assert "Repaired, it agrees with f a" in report.diagnoses[0].sentence


@pytest.mark.parametrize("cast", PRECISIONS)
def test_a_mistake_that_no_repair_mends_gets_no_name(cast):
    f, right = tanh_layer(cast)
    point = X.astype(cast(X).dtype), W.astype(cast(W).dtype)
    noise = np.random.default_rng(8).normal(size=W.shape)

    def wrong(u, x, w):
        gx, gw = right(u, x, w)
        return gx, gw * noise

    report = check_vjp(f, point, wrong)
    assert report.verdict == "fail"
    assert [one.kind for one in report.diagnoses] == []


@pytest.mark.parametrize("seed", [3, 6])
def test_where_noise_is_loud_more_lines_show_the_repair(seed):
    """Ten lines refuse a doubled gradient in 8 bits, but do not show that half is right."""
    rng, cast = np.random.default_rng(seed), SHORT["bfloat16"]
    f, vjp = tanh_layer(cast)
    x, w, u = (rng.normal(size=(16, 16)).astype(np.float32) / scale for scale in (1, 4, 1))
    gx, gw = vjp(u, x, w)
    report = check_gradient(lambda x, w: np.sum(cast(u * f(x, w))), (x, w), (2 * gx, gw))
    assert [(one.kind, one.subject) for one in report.diagnoses] == [("factor", "x")]
    assert report.inputs[0].lines == 20


def test_a_diagnosis_of_a_large_input_calls_f_no_more_often():
    calls = []

    def f(w):
        calls.append(1)
        return np.sum(np.sin(w))

    report = check_gradient(f, X, lambda w: 2 * np.cos(w))
    before = len(calls)
    assert report.diagnoses[0].sentence.endswith("along all 7 random lines")
    assert len(calls) == before == report.evaluations


def test_two_gradients_in_each_others_place_are_named():
    x, y = RNG.normal(size=(2, 20, 10))
    report = check_gradient(
        lambda x, y: np.sum(np.sin(x) * y**2),
        {"x": x, "y": y},
        lambda x, y: {"x": 2 * y * np.sin(x), "y": np.cos(x) * y**2},
    )
    assert [(d.kind, d.subject) for d in report.diagnoses] == [("swapped", "x"), ("swapped", "y")]
    assert "its right gradient is given for y. Repaired" in report.diagnoses[0].sentence


def test_two_gradients_of_each_others_shape_are_named_before_anything_is_measured():
    W, b = RNG.normal(size=(3, 2)), RNG.normal(size=2)
    report = check_gradient(
        lambda W, b: np.sum(np.sin(W) + b), {"W": W, "b": b},
        lambda W, b: {"W": np.full(2, 3.0), "b": np.cos(W)},
    )  # fmt: skip
    assert {(one.kind, one.subject) for one in report.diagnoses} == {
        ("swapped", "W"),
        ("swapped", "b"),
    }


def test_each_of_several_wrong_inputs_is_judged_along_its_own_lines():
    x, y = RNG.normal(size=(2, 20, 20))
    report = check_gradient(
        lambda x, y: np.sum(np.sin(x) * y**2),
        {"x": x, "y": y},
        lambda x, y: {"x": -np.cos(x) * y**2, "y": (2 * y * np.sin(x)).T},
    )
    assert {(d.kind, d.subject) for d in report.diagnoses} == {("sign", "x"), ("transposed", "y")}


# --- when to say nothing, or less -------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_a_large_mistake_is_not_repaired_by_scaling_it_away(seed):
    """Of a claim ten times too large, a factor near 0 leaves less than half, in any digits."""
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=(2, 40))
    wrong = 10 * rng.normal(size=40)
    report = check_gradient(lambda x: round(float(np.sin(x) @ w), 3), x, wrong, seed=seed)
    assert report.verdict == "fail"
    assert report.diagnoses == ()


@pytest.mark.parametrize("seed", range(3))
def test_a_few_lines_confirm_no_repair(seed):
    w, weight = np.random.default_rng(seed).normal(size=(2, 12, 12))

    def wrong(w):
        g = 2 * np.cos(w) * weight
        g[3, 4], g[5, 6] = g[3, 4] + 1, g[5, 6] - 1
        return g

    report = check_gradient(lambda w: np.sum(np.sin(w) * weight), w, wrong, max_evaluations=110)
    assert "Repaired" not in str(report)


def test_a_complex_factor_is_found_although_lines_are_real():
    z = X[:8, :8] + 1j * X[8:16, :8]
    report = check_gradient(
        lambda z: np.sum(np.abs(z) ** 4 + (z**3).real),
        z,
        lambda z: 1j * (4 * np.abs(z) ** 2 * z + 3 * np.conj(z) ** 2),
    )
    assert "every entry is i x the numeric value" in report.diagnoses[0].sentence
    assert "along all 7 random lines" in report.diagnoses[0].sentence


def test_the_gradient_of_an_input_that_is_right_is_no_swap():
    a, b = X[:2, :6]
    grads = {"a": np.cos(a), "b": np.cos(a + b)}
    report = check_gradient(lambda a, b: np.sum(np.sin(a + b)), {"a": a, "b": b}, grads)
    assert report.verdict == "fail"
    assert "swapped" not in [one.kind for one in report.diagnoses]


def test_shapes_alone_do_not_make_a_swap():
    A, B, C = X[:2, :3], X[2:5, :2], X[5:7, :2]
    grads = {"A": B @ C.T, "B": C.T @ A}  # each is transposed, and has the shape of the other
    report = check_gradient(lambda A, B: np.sum(A @ B * C), {"A": A, "B": B}, grads)
    assert [one.kind for one in report.diagnoses] == ["transposed", "transposed"]
    ones = {"A": np.ones((3, 2)), "B": np.ones((2, 3))}
    assert check_gradient(lambda A, B: np.sum(A @ B * C), {"A": A, "B": B}, ones).diagnoses == ()


def test_two_repairs_that_fit_are_both_named():
    report = check_gradient(lambda x: x[0] - x[1], np.array([0.4, 0.7]), np.array([-1.0, 1.0]))
    said = report.diagnoses[0].sentence
    assert said.startswith("the sign is wrong; or the right numbers are in the wrong places")
