"""What each entry is allowed: by rtol, by atol, and by what it does to f where units differ."""

import numpy as np
import pytest

from gradcheck_ref import check_gradient, check_jvp, check_vjp
from gradcheck_ref.check.judge import together, tolerance
from gradcheck_ref.check.knobs import ALLOWED_BY_LINES, ATOL_FRACTION, default_rtol, least_visible


@pytest.mark.parametrize(("factor", "verdict"), [(1, "pass"), (1 + 1e-5, "fail")])
def test_an_input_of_large_slopes_allows_the_other_input_nothing(factor, verdict):
    x, ones = np.array([0.5, 1.0, 2.0]), np.ones(3)
    f = lambda a, b: 3 * np.sum(a) + 1e-8 * np.sum(b)  # noqa: E731
    assert check_gradient(f, (x, x), (3 * ones, factor * 1e-8 * ones)).verdict == verdict


@pytest.mark.parametrize(("off", "verdict"), [(0.0, "unsure"), (1e-4, "fail")])
def test_a_kink_of_large_slopes_allows_the_other_entry_nothing(off, verdict):
    f = lambda x: x[0] + 2e7 * np.maximum(x[1] - 1, 0)  # noqa: E731
    assert check_gradient(f, np.ones(2), np.array([1 + off, 1e7])).verdict == verdict


def test_rounding_in_place_of_zero_passes_next_to_nonzero_entries():
    """An output that does not depend on an input: a vjp may leave the rounding of its work."""
    A = np.random.default_rng(0).normal(size=(6, 6))
    left = np.random.default_rng(1).normal(size=(6, 6))
    f, x = (lambda x: np.r_[A @ x, x[:1] * 0 + 2.0]), np.linspace(0.5, 1.5, 6)
    for off, verdict in ((4e-16, "pass"), (1e-9, "fail")):
        report = check_vjp(f, x, lambda u, x, off=off: A.T @ u[:6] + off * left[0] * u[6])
        assert report.verdict == verdict


@pytest.mark.parametrize(("off", "verdict"), [(4e-15, "pass"), (1e-9, "fail")])
def test_rounding_in_place_of_zero_passes_next_to_the_effect_of_another_input(off, verdict):
    """An output that does not depend on an input, though on another: of that is the rounding."""
    x, w = np.linspace(1.0, 3.0, 4), np.array([0.5, 1.5, -1.0])
    norm = lambda x, w: np.sqrt(x @ x)  # noqa: E731
    jvp = lambda t, x, w: x @ t[0] / norm(x, w) + off * np.sum(t[1])  # noqa: E731
    assert check_jvp(norm, (x, w), jvp).verdict == verdict


def normed(x, w, b):
    """A layer, and the norm of each column over the rows: it does not depend on b at all."""
    z = x @ w + b
    return (z - z.mean(axis=0)) / z.std(axis=0)


def normed_vjp(u, x, w, b):
    z = x @ w + b
    y, std = normed(x, w, b), z.std(axis=0)
    dz = (u - u.mean(axis=0) - y * (u * y).mean(axis=0)) / std
    return dz @ w.T, x.T @ dz, dz.sum(axis=0)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("bias", [1.0, 0.0], ids=["a bias", "zeros"])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("off", "verdict"), [(0.0, "pass"), (1e-9, "fail")])
def test_the_rounding_of_an_input_that_cancels_passes(seed, bias, off, verdict):
    """Its numeric slopes, too, are rounding; some are larger than their bars."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(8, 4)), rng.normal(size=(4, 4)), bias * rng.normal(size=4)
    shift = off * np.ones(4)

    def vjp(u, x, w, b):
        dx, dw, db = normed_vjp(u, x, w, b)
        return dx, dw, db + shift * u.sum()

    assert check_vjp(normed, inputs, vjp).verdict == verdict


# --- units, in earnest ------------------------------------------------------------------------


def exponential(x):
    return float(np.exp(-1e-6 / (x[0] * x[1])))


def charge(x):
    V, t, R, C = x
    return float(V * (1 - np.exp(-t / (R * C))))


def slopes_of_charge(x):
    V, t, R, C = x
    q = t / (R * C)
    e = V * np.exp(-q) * q
    return np.array([1 - np.exp(-q), e / t, -e / R, -e / C])


def resonance(x):
    return float(1 / (2 * np.pi * np.sqrt(x[0] * x[1])))


UNITS = {
    "exp(-1e-6/(x0 x1))": (
        exponential, np.array([1e6, 1e-12]), lambda x: exponential(x) * 1e-6 / (x[0] * x[1]) / x),
    "charging a capacitor": (charge, np.array([5.0, 1e-6, 1e6, 1e-12]), slopes_of_charge),
    "LC resonance": (resonance, np.array([1e-9, 1e-12]), lambda x: -resonance(x) / 2 / x),
}  # fmt: skip
WRONG = {"sign": -1.0, "double": 2.0, "1 %": 1.01, "zero": 0.0}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("factor", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize(("f", "x", "slopes"), UNITS.values(), ids=UNITS)
def test_an_error_is_found_in_every_unit(f, x, slopes, factor):
    assert check_gradient(f, x, slopes(x)).verdict == "pass"
    for i in range(len(x)):
        wrong = slopes(x)
        wrong[i] *= factor
        report = check_gradient(f, x, wrong)
        assert (report.verdict, report.worst.name) == ("fail", f"x[{i}]")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("factor", WRONG.values(), ids=WRONG)
def test_an_error_among_many_entries_is_found_in_every_unit(factor):
    rng = np.random.default_rng(0)
    s = 10.0 ** rng.uniform(-6, 6, 300)
    x = s * rng.uniform(0.5, 2, 300)
    report = check_gradient(lambda x: np.sum(np.log1p(x / s)), x, 1 / (s + x))
    assert report.verdict == "pass"
    for i in (3, 150, 299):
        wrong = 1 / (s + x)
        wrong[i] *= factor
        report = check_gradient(lambda x: np.sum(np.log1p(x / s)), x, wrong)
        assert (report.verdict, report.worst.name) == ("fail", f"x[{i}]")


@pytest.mark.parametrize(
    ("dtype", "rtol"), [("f8", 1e-6), ("g", 1e-6), ("f4", 8.7e-4), ("f2", 0.1)]
)
def test_the_default_rtol_fits_the_dtype(dtype, rtol):
    assert default_rtol(float(np.finfo(dtype).eps)) == pytest.approx(rtol, rel=0.01)
    x = np.array([0.5, 1.0, 2.0]).astype(dtype)
    report = check_gradient(lambda x: np.sum(np.sin(x)), x, np.cos(x))
    assert report.rtol == pytest.approx(rtol, rel=0.01)
    assert report.verdict != "fail"
    doubled = check_gradient(lambda x: np.sum(np.sin(x)), x, 2 * np.cos(x))
    assert doubled.verdict in (("fail",) if dtype != "f2" else ("fail", "unsure"))


# --- functions that people compute in float32, and their gradients there ------------------------

ONE = np.float32(1)


def numbers(seed, *shape):
    """Draw numbers of the size of 1, in float32."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def log_softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


LABELS = np.array([0, 2, 1, 4, 3])


def cross_entropy(z):
    return -np.mean(log_softmax(z)[np.arange(5), LABELS])


def cross_entropy_gradient(z):
    return ((np.exp(log_softmax(z)) - np.eye(5, dtype=np.float32)[LABELS]) / np.float32(5),)


WEIGHTS = numbers(9, 4, 8)


def normalised(x):
    centred = x - x.mean(axis=1, keepdims=True)
    root = np.sqrt((centred**2).mean(axis=1, keepdims=True) + np.float32(1e-5))
    return centred / root, root


def layer_norm(x, g, b):
    return np.sum(WEIGHTS * (normalised(x)[0] * g + b))


def layer_norm_gradient(x, g, b):
    y, root = normalised(x)
    by_y = WEIGHTS * g
    by_x = by_y - by_y.mean(axis=1, keepdims=True) - y * (by_y * y).mean(axis=1, keepdims=True)
    return by_x / root, (WEIGHTS * y).sum(axis=0), WEIGHTS.sum(axis=0)


DATA, TARGETS = numbers(3, 7, 2), numbers(4, 7)


def network(v, c, w):
    return np.mean((np.tanh(DATA @ v + c) @ w - TARGETS) ** 2)


def network_gradient(v, c, w):
    hidden = np.tanh(DATA @ v + c)
    error = 2 * (hidden @ w - TARGETS) / np.float32(7)
    inner = np.outer(error, w) * (ONE - hidden**2)
    return DATA.T @ inner, inner.sum(axis=0), hidden.T @ error


def windows(x):
    return np.lib.stride_tricks.sliding_window_view(x, (3, 3))


def convolution(x, w):
    return np.sum(np.tanh(np.einsum("ijkl,kl->ij", windows(x), w)))


def convolution_gradient(x, w):
    by_product = ONE - np.tanh(np.einsum("ijkl,kl->ij", windows(x), w)) ** 2
    by_x = np.einsum("ijkl,kl->ij", windows(np.pad(by_product, 2)), w[::-1, ::-1])
    return by_x, np.einsum("ij,ijkl->kl", by_product, windows(x))


def of_network(hidden):
    """Return the point of a network with so many hidden units, four parameters each."""
    w = numbers(7, hidden) / np.float32(np.sqrt(hidden))
    return numbers(5, 2, hidden), numbers(6, hidden), w


# f, its gradients, and the point.
IN_FLOAT32 = {
    "cross-entropy": (cross_entropy, cross_entropy_gradient, (numbers(1, 5, 5),)),
    "layer norm": (
        layer_norm,
        layer_norm_gradient,
        (numbers(1, 4, 8), numbers(2, 8), numbers(3, 8)),
    ),
    "network of 120": (network, network_gradient, of_network(30)),
    "network of 480": (network, network_gradient, of_network(120)),
    "convolution": (convolution, convolution_gradient, (numbers(1, 8, 8), numbers(2, 3, 3))),
}


def off_by(factor, only=None):
    """Make gradients wrong by a factor: all of them, or those of one input."""

    def wrong(gradients):
        return tuple(
            (np.asarray(factor, g.dtype) * g if only in (None, k) else g)
            for k, g in enumerate(gradients)
        )

    return wrong


def one_entry(gradients):
    """Double the largest entry."""
    first = gradients[0].copy()
    first.flat[np.argmax(np.abs(first))] *= 2
    return (first, *gradients[1:])


WRONG_CLAIMS = {
    "1 %": off_by(1.01),
    "a factor of 2": off_by(2.0),
    "the sign": off_by(-1.0),
    "5 % in the first input": off_by(1.05, only=0),
    "one entry": one_entry,
}


# --- float32 and float16 ---------------------------------------------------------------------


def judged_in(dtype, name, wrong=lambda gradients: gradients):
    """Check a function of `single_precision` and a claim, both computed in a short dtype."""
    f, gradients, point = IN_FLOAT32[name]
    point = tuple(x.astype(dtype) for x in point)
    claimed = [np.asarray(g, dtype) for g in wrong(gradients(*point))]
    return check_gradient(f, point, tuple(claimed))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", IN_FLOAT32)
def test_a_right_gradient_in_float32_passes(name):
    report = judged_in(np.float32, name)
    assert report.verdict == "pass"
    assert report.rtol == pytest.approx(8.7e-4, rel=0.01)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("wrong", WRONG_CLAIMS.values(), ids=list(WRONG_CLAIMS))
@pytest.mark.parametrize("name", IN_FLOAT32)
def test_a_wrong_gradient_in_float32_fails(name, wrong):
    assert judged_in(np.float32, name, wrong).verdict == "fail"


@pytest.mark.slow
def test_right_float32_gradients_need_the_allowance_for_rounding(monkeypatch):
    monkeypatch.setattr(tolerance, "least_visible", lambda eps, rtol: ATOL_FRACTION)
    monkeypatch.setattr(together, "allowed_by_lines", lambda eps: ALLOWED_BY_LINES)
    reports = [judged_in(np.float32, name) for name in IN_FLOAT32]
    # Without it, only the gradients as wholes pass.
    assert sum(report.verdict == "unsure" or report.by_whole for report in reports) >= 4
    assert "fail" not in {report.verdict for report in reports}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", IN_FLOAT32)
def test_in_float16_right_gradients_never_fail_and_doubled_ones_never_pass(name):
    assert judged_in(np.float16, name).verdict != "fail"
    assert judged_in(np.float16, name, WRONG_CLAIMS["a factor of 2"]).verdict != "pass"
    assert judged_in(np.float16, name, WRONG_CLAIMS["the sign"]).verdict != "pass"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_low_precision_is_not_reported_as_a_kink(dtype):
    for name in IN_FLOAT32:
        for pair in judged_in(dtype, name).pairs:
            assert "kink" not in pair.reason
    kink = np.array([0.0, 0.5], dtype)
    report = check_gradient(lambda x: np.sum(np.abs(x)), kink, np.array([0.5, 1.0], dtype))
    assert (report.verdict, report.reason) == ("unsure", "kink")


@pytest.mark.parametrize(
    ("dtype", "share"), [("f8", 1e-4), ("g", 1e-4), ("f4", 0.167), ("f2", 1.0)]
)
def test_a_dtype_hides_small_entries_below_a_known_share(dtype, share):
    eps = float(np.finfo(dtype).eps)
    rtol = default_rtol(eps)
    assert least_visible(eps, rtol) == pytest.approx(share, rel=0.01)
    assert least_visible(eps, rtol / 100) == least_visible(eps, rtol)  # a demand is one
    assert least_visible(eps, 1.0) <= share


def test_a_vjp_in_float16_may_overflow_for_upstreams_that_are_made_large():
    x = np.array([0.5, -1.0, 2.0], np.float16)
    cosine = lambda upstream, x: upstream * np.float16(1e4) * np.cos(x)  # noqa: E731
    f = lambda x: np.float16(1e4) * np.sin(x)  # noqa: E731
    assert check_vjp(f, x, cosine).verdict == "pass"
    for wrong in (lambda u, x: 2 * cosine(u, x), lambda u, x: np.clip(cosine(u, x), -100, 100)):
        assert check_vjp(f, x, wrong).verdict == "fail"
