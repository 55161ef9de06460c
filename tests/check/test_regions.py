"""A wrong slice of a large input is found by lines over all that is beside it."""

import numpy as np
import pytest
from rounded import to_bfloat16

from gradcheck_ref import check_gradient, check_vjp
from gradcheck_ref.check.judge import regions

BOX = np.random.default_rng(1).normal(size=(2, 4, 64, 32))
GRID = BOX.reshape(128, 128)
PADDED = np.where(np.arange(128) < 100, GRID, 7.0)  # f ignores entries that are 7


def energy(x):
    return np.sum(np.sin(x) * x * (np.abs(x - 7) > 0.9))


def gradient(x):
    return (np.cos(x) * x + np.sin(x)) * (x != 7)


def spoiled(at, value):
    """Return the gradient with some entries replaced, or multiplied by a function's value."""

    def wrong(x):
        g = gradient(x)
        g[at] = value(g[at]) if callable(value) else value
        return g

    return wrong


# id: the input, where it is wrong, what is there, what is said
SLICES = {
    "a row of an attention": (BOX, np.s_[:, :, 63], 0.0, "x[:, :, 63, :] is zero"),
    "a column of an attention": (BOX, np.s_[..., 31], 0.0, "x[:, :, :, 31] is zero"),
    "a head": (BOX, np.s_[:, 2], lambda g: 1.3 * g, "x[:, 2, :, :] is wrong"),
    "a head of one batch": (BOX, np.s_[0, 2], lambda g: -g, "x[0, 2, :, :] is wrong"),
    "a row of a matrix": (GRID, np.s_[77], lambda g: g + 1, "row 77 of x is wrong"),
    "a column of a matrix": (GRID, np.s_[:, 5], lambda g: 2 * g, "column 5 of x is wrong"),
    "the last block": (BOX, np.s_[:, :, 48:], 0.0, "x[:, :, 48:64, :] is zero"),
    "a block of two": (GRID, np.s_[32:64, 64:96], 0.0, "x[32:64, 64:96] is zero"),
    "rows beside zeros that are right": (PADDED, np.s_[120:], 0.0, "x[120:128, :] is zero"),
    "scattered zeros": (
        GRID,
        GRID > 0.8,
        0.0,
        "entries are 0, and some of them should not be; all else is right",
    ),
}


@pytest.mark.parametrize("x", [BOX, GRID, PADDED], ids=["box", "grid", "padded"])
def test_the_right_gradient_passes(x):
    assert check_gradient(energy, x, gradient)


@pytest.mark.parametrize(("x", "at", "value", "said"), SLICES.values(), ids=SLICES)
def test_a_slice_is_named_and_all_else_is_right(x, at, value, said):
    report = check_gradient(energy, x, spoiled(at, value))
    assert report.verdict == "fail"
    (found,) = report.diagnoses
    assert said in found.sentence
    assert "along 4 random lines" in found.sentence
    assert report.evaluations < 360


def test_a_slice_is_named_for_combinations_of_outputs():
    def vjp(u, x):
        g = u * gradient(x)
        g[:, 9] = 0
        return g

    report = check_vjp(lambda x: np.sin(x) * x, GRID, vjp)
    assert "column 9 of x is zero, and all else is right" in report.diagnoses[0].sentence


@pytest.mark.parametrize(
    "spoil", [lambda g: np.where(np.arange(128) % 2, g, 1.3 * g), lambda g: np.cos(9 * g)],
    ids=["every other column", "everywhere"],
)  # fmt: skip
def test_a_mistake_in_no_slice_is_not_called_one(spoil):
    report = check_gradient(energy, GRID, lambda x: spoil(gradient(x)))
    assert report.verdict == "fail"
    assert "all else is right" not in str(report)


def test_two_wrong_slices_are_not_called_one():
    def wrong(x):
        g = gradient(x)
        g[3], g[:, 8] = -g[3], 2 * g[:, 8]
        return g

    report = check_gradient(energy, GRID, wrong)
    assert report.verdict == "fail"
    assert "all else is right" not in str(report)


def test_a_complex_slice_is_named():
    z = GRID + 1j * GRID[::-1]

    def wrong(z):
        g = 2 * z
        g[4] = 0
        return g

    report = check_gradient(lambda z: np.sum(np.abs(z) ** 2), z, wrong)
    assert "row 4 of z is zero, and all else is right" in report.diagnoses[0].sentence


def test_lines_that_chose_a_slice_do_not_confirm_it(monkeypatch):
    numbers = []

    def right(together, part, entries, which):
        numbers.append(list(which))
        return True

    monkeypatch.setattr(regions, "_is_right", right)
    check_gradient(energy, GRID, spoiled(np.s_[77], 0.0))
    *chosen, confirmed = numbers
    assert len(confirmed) == regions.CONFIRMED
    assert not {*confirmed} & {number for one in chosen for number in one}


def test_a_slice_of_zeros_is_named_beside_zeros_that_are_right():
    W = np.random.default_rng(3).normal(size=(60, 50))
    W[:, [4, 17]] = 0  # the gradient is 0 there

    def wrong(W):
        g = 3 * W**2
        g[7] = 0
        return g

    report = check_gradient(lambda W: np.sum(W**3), W, wrong)
    assert "row 7 of W is zero, and all else is right" in report.diagnoses[0].sentence


# --- where f has few digits -------------------------------------------------------------------


def layer(x, w):
    return np.float32(to_bfloat16(np.tanh(to_bfloat16(x @ w))))


def layer_vjp(upstream, x, w):
    inner = upstream / np.cosh(x @ w) ** 2
    return inner @ w.T, x.T @ inner


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        (np.s_[8:], "x[8:10, :] is zero, and all else is right along"),
        (np.s_[:, 3], "column 3 of x is zero, and all else is right along"),
        (np.s_[::5], "20 of 100 entries are 0, and some of them should not be"),
    ],
    ids=["last block", "column", "every fifth row"],
)
def test_lost_slices_are_named_in_few_digits(lost, said):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(10, 10)).astype(np.float32)
    w = (0.2 * rng.normal(size=(10, 6))).astype(np.float32)

    def vjp(upstream, x, w):
        dx, dw = layer_vjp(upstream, x, w)
        dx[lost] = 0
        return dx, dw

    assert check_vjp(layer, (x, w), layer_vjp).verdict == "pass"
    report = check_vjp(layer, {"x": x, "w": w}, lambda upstream, x, w: vjp(upstream, x, w))
    assert report.verdict == "fail"
    assert [one.subject for one in report.diagnoses] == ["x"]
    assert said in report.diagnoses[0].sentence


def test_zeros_are_not_blamed_if_others_are_wrong_in_few_digits():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(10, 10)).astype(np.float32)
    w = (0.2 * rng.normal(size=(10, 6))).astype(np.float32)

    def vjp(upstream, x, w):
        dx, dw = layer_vjp(upstream, x, w)
        dx[8:] = 0
        return 2 * dx, dw

    report = check_vjp(layer, {"x": x, "w": w}, vjp)
    assert report.verdict == "fail"
    assert not any("is zero" in one.sentence for one in report.diagnoses)
