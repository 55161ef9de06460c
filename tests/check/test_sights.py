"""Repaired claims are judged by what was measured: entries, lines over an input, wholes."""

import re

import numpy as np
import pytest
from rounded import to_bfloat16

from gradcheck_ref import check_gradient, check_vjp

RNG = np.random.default_rng(3)
X, W = RNG.normal(size=(40, 30)), RNG.normal(size=(30, 30)) / 5
CASTS = {
    "float64": lambda a: a,
    "float32": np.float32,
    "float16": lambda a: np.asarray(a).astype(np.float16).astype(np.float32),
    "bfloat16": lambda a: np.float32(to_bfloat16(a)),
}


def layer(cast):
    """Return tanh(x @ w), with every operation rounded, and its vjp."""

    def f(x, w):
        return cast(np.tanh(cast(cast(x) @ cast(w))))

    def vjp(u, x, w):
        g = u * (1 - f(x, w) ** 2)
        return g @ w.T, x.T @ g

    return f, vjp


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


@pytest.mark.parametrize("cast", CASTS.values(), ids=CASTS)
@pytest.mark.parametrize(("spoil", "kind", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_layer_is_named_in_every_precision(cast, spoil, kind, said):
    f, right = layer(cast)
    point = X.astype(cast(X).dtype), W.astype(cast(W).dtype)
    report = check_vjp(f, point, lambda u, x, w: spoil(*right(u, x, w)))
    assert report.verdict == "fail"
    assert [(one.kind, one.subject) for one in report.diagnoses] == [(kind, "w")]
    assert re.search(said, report.diagnoses[0].sentence)
    assert "Repaired, it agrees with f a" in report.diagnoses[0].sentence


@pytest.mark.parametrize("cast", CASTS.values(), ids=CASTS)
def test_a_mistake_that_no_repair_mends_gets_no_name(cast):
    f, right = layer(cast)
    point = X.astype(cast(X).dtype), W.astype(cast(W).dtype)
    noise = np.random.default_rng(8).normal(size=W.shape)

    def wrong(u, x, w):
        gx, gw = right(u, x, w)
        return gx, gw * noise

    report = check_vjp(f, point, wrong)
    assert report.verdict == "fail"
    assert [one.kind for one in report.diagnoses] == []


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
