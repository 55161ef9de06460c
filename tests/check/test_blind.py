"""What a point hides: traps from real issues, and silence where nothing is special."""

import ast
from dataclasses import asdict
from functools import partial
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from corpus.row import to_bfloat16
from zoo_reports import CASES, quietly

from gradcheck_ref import check_gradient, check_jvp, check_vjp, nearby
from gradcheck_ref.zoo.wild import WILD

X = np.array([0.7, -1.2, 0.4, 1.9])
A = np.array([[0.7, -1.2, 0.4], [1.9, 0.3, -0.8], [-0.5, 1.1, 2.2]])


def found(report):
    """Return what a pass says that its point cannot show."""
    assert report
    return {(spot.kind, spot.subject) for spot in report.blind_spots}


# Bugs of the museum: what the point that hides one cannot show, and if `nearby` shows the bug.
TRAPS = {
    "autodiff/hypot-second": ("regulariser", "x", True),
    "calculus.jl/quotient": ("factor", "x", True),
    "candle/upsample": ("regulariser", "x", True),
    "casadi/cosh": ("factor", "x", True),
    "chainrules/arcsecant": ("conjugate", "z", True),
    "chainrules/determinant": ("conjugate", "a", True),
    "gpytorch/matern52-grad": ("factor", "x", True),
    "hips/complex-norm": ("conjugate", "z", True),
    "hips/repeat": ("missing-sum", "x", False),
    "hips/square-root-of-matrix": ("transposed", "A", True),
    "megatron/rms-norm": ("inner-factor", "w", True),
    "ngboost/laplace": ("swapped", "log_b", True),
    "scikit-optimize/hamming": ("regulariser", "theta", True),
    "statsmodels/log-dispersion": ("regulariser", "log_alpha", True),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("name", "kind", "subject", "moves"), [(k, *v) for k, v in TRAPS.items()])
def test_the_report_names_the_blind_spot_at_a_trap(name, kind, subject, moves):
    wild = next(wild for wild in WILD if wild.id == name)
    trap, shows = (x if len(x) > 1 else x[0] for x in (wild.hides, wild.shows))
    for vjp in (wild.right, wild.wrong):
        report = check_vjp(wild.f, trap, vjp)
        assert (kind, subject) in found(report)
        spot = next(one for one in report.blind_spots if (one.kind, one.subject) == (kind, subject))
        said = f"this point cannot show: {spot.sentence} ({spot.reason}); {spot.advice}"
        assert said in " ".join(str(report).split())
        assert said in " ".join(report.table(80).split())
    there = nearby(trap) if moves else shows
    assert (kind, subject) not in found(check_vjp(wild.f, there, wild.right))
    assert check_vjp(wild.f, there, wild.wrong).verdict == "fail"


@pytest.mark.slow
def test_near_the_points_of_the_zoo_every_warning_is_real():
    warned = []
    for case in CASES.values():
        with quietly():
            report = check_vjp(case.f, nearby(case.inputs), case.vjp)
        warned += [case.name] if report.blind_spots else []
    assert warned == ["unused_input"]


# --- points, special and ordinary -------------------------------------------------------------


def bowl(x):
    return np.sum(x**2)


def of_bowl(x):
    return 2 * x


def relu(x):
    return np.maximum(x, 0)


def activation(x):
    return relu(x) * 1


def calls_itself(x, n=3):
    return x if n == 0 else calls_itself(x, n - 1)


class Unbound:
    """A proxy that stands for nothing yet."""

    def __getattr__(self, name):
        raise RuntimeError(f"not bound, so there is no {name}")

    @property
    def __dict__(self):
        raise RuntimeError("not bound, so there are no attributes")

    def __call__(self, x):
        return x


def sines_of(f):
    return lambda x: np.sum(np.sin(f(x)))


JAX = SimpleNamespace(nn=SimpleNamespace(leaky_relu=lambda x: x))
DRAWN = np.random.default_rng(0).normal(size=20)
POSITIVE = np.array([0.7, 1.2, 0.4, 1.9])

# id: f, the point, the right gradient, and what the point cannot show, if anything
POINTS = {
    "equal entries": (bowl, np.full(3, 0.4), of_bowl, "permuted x"),
    "equal rows": (bowl, np.array([[0.4, 0.9]] * 3), of_bowl, "permuted x"),
    "a palindrome": (bowl, np.array([0.7, -1.2, 0.4, -1.2, 0.7]), of_bowl, "permuted x"),
    "ones": (bowl, np.ones(3), of_bowl, "inner-factor x"),
    "ones, by lines": (bowl, np.ones(200), of_bowl, "inner-factor x"),
    "ones in float16": (bowl, np.ones(3, np.float16), of_bowl, "inner-factor x"),
    "ones in longdouble": (bowl, np.ones(3, np.longdouble), of_bowl, "inner-factor x"),
    "tiny numbers": (np.sum, np.full(3, 1e-30, np.float32), np.ones(3), "permuted a"),
    "an optimum": (
        lambda x: bowl(x - 0.7), np.full(3, 0.7), lambda x: of_bowl(x - 0.7), "factor x"),
    "below rounding": (
        lambda x: np.sum(np.tanh(x)), 19 + POSITIVE, lambda x: np.cosh(x) ** -2, "factor x"),
    "a dead relu": (lambda x: np.sum(relu(x)), -POSITIVE, np.zeros(4), "factor x"),
    "equal inputs": (lambda a, b: np.sum(a * b), (X, X), lambda a, b: (b, a), "swapped b"),
    "one row": (lambda x: np.mean(x**2), np.array([0.7]), of_bowl, "missing-sum x"),
    "one sign, and no branch": (bowl, POSITIVE, of_bowl, ""),
    # one sign is special where the code of f has branches
    "a branch": (sines_of(relu), POSITIVE, np.cos, "mask x"),
    "a branch, two functions farther": (sines_of(activation), POSITIVE, np.cos, "mask x"),
    "a branch in a partial": (sines_of(partial(relu)), POSITIVE, np.cos, "mask x"),
    "a comparison with 0": (sines_of(lambda x: x * (x > 0)), POSITIVE, np.cos, "mask x"),
    "a name of another framework": (
        sines_of(lambda x: JAX.nn.leaky_relu(x)), POSITIVE, np.cos, "mask x"),
    "another comparison": (
        sines_of(lambda x, y=X: x * np.size(y[y < 1]) / 3), POSITIVE, np.cos, ""),
    "an equality": (
        sines_of(lambda x: x if x.ndim == 1 else np.log(x)), POSITIVE, np.cos, ""),
    "a function that calls itself": (sines_of(calls_itself), POSITIVE, np.cos, ""),
    "a proxy that has everything": (
        sines_of(MagicMock(side_effect=np.copy)), POSITIVE, np.cos, ""),
    "a proxy that is not bound": (sines_of(Unbound()), POSITIVE, np.cos, ""),
    # ordinary points
    "time stamps": (
        lambda t: np.sum(np.sin((t - 1.7e9) / 60)), 1.7e9 + 60 * DRAWN,
        lambda t: np.cos((t - 1.7e9) / 60) / 60, ""),
    "small beside large, in float32": (
        lambda a, b: np.sum(b**2) + np.float32(1e-4) * np.sum(np.sin(a)),
        (np.float32([0.7, -0.4]), np.float32(DRAWN[:5])),
        lambda a, b: (np.float32(1e-4) * np.cos(a), 2 * b), ""),
    "two signs agree by chance": (np.sum, np.array([2.0, 3.0]), np.ones(2), ""),
    "a power": (lambda x: np.sum(x**3), np.array([0.5, 1.0, 2.0]), lambda x: 3 * x**2, ""),
    "a column of positive numbers": (
        np.std, np.abs(DRAWN[:5, None]), lambda x: (x - x.mean()) / x.size / np.std(x), ""),
    "a bias that is broadcast": (
        lambda X, b: bowl(X + b), (A, A[:1]),
        lambda X, b: (2 * (X + b), 2 * (X + b).sum(axis=0, keepdims=True)), ""),
    "a single output, which is no batch of one": (
        lambda x, w: np.sum(np.sin(x @ w)), (DRAWN[:15].reshape(5, 3), DRAWN[15:18, None]),
        lambda x, w: (np.cos(x @ w) @ w.T, x.T @ np.cos(x @ w)), ""),
    "flat": (lambda x: 7.0 + 0 * np.sum(x), X, np.zeros(4), ""),
    "a number": (lambda x: 2 * x, 3.0, 2.0, ""),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("f", "inputs", "grads", "hidden"), POINTS.values(), ids=POINTS)
def test_what_is_special_about_a_point_is_said_and_nothing_else(f, inputs, grads, hidden):
    report = check_gradient(f, inputs, grads)
    assert [" ".join(spot) for spot in found(report)] == ([hidden] if hidden else [])
    assert ("cannot show" in str(report)) == bool(hidden)


# --- what is said -----------------------------------------------------------------------------


def test_only_a_pass_has_blind_spots():
    assert check_gradient(bowl, np.ones(3), lambda x: 3 * x).blind_spots == ()


def test_a_tolerance_can_hide_any_factor():
    report = check_gradient(bowl, 1e-3 * X, lambda x: 4 * x, atol=1e-2)  # 2 would be right
    assert ("factor", "x") in found(report)


def test_a_jvp_has_blind_spots_too():
    f = lambda scale, x: scale * np.sin(x)  # noqa: E731

    def jvp(tangent, scale, x):
        return tangent[0] * np.sin(x) + tangent[1] * np.cos(x)  # without the scale

    assert found(check_jvp(f, (np.ones(4), X), jvp)) == {("inner-factor", "scale")}
    assert check_jvp(f, nearby((np.ones(4), X)), jvp).verdict == "fail"


def test_several_inputs_share_one_line_and_three_lines_are_the_most():
    def f(a, b, c, d, e):
        return np.sum(a * b * c + d) + np.sum(e**2) + np.sum(a * X)

    def grads(a, b, c, d, e):
        return b * c + X, a * c, a * b, np.ones(4), 2 * e

    point = np.ones(4), np.ones(4), np.ones(4), np.zeros(4), np.array([[0.3, 0.5], [0.5, -0.4]])
    report = check_gradient(f, point, grads)
    lines = str(report).replace("\n      ", " ").splitlines()
    assert [line for line in lines if "the same for b, c" in line]
    assert sum("this point cannot show" in line for line in lines) == 3
    assert len(report.blind_spots) == 5


def test_likewise_joins_only_blind_spots_with_the_same_reason():
    def f(a, b, c):
        return np.sum(np.maximum(a, 0)) + np.sum(np.abs(b)) + np.sum(np.abs(c))

    point = np.abs(X), -np.abs(X), -np.abs(A)
    text = " ".join(str(check_gradient(f, point, tuple(map(np.sign, point)))).split())
    assert "(all its entries are positive); if a may be negative, try a = [" in text
    assert text.endswith("; the same for c")
    assert text.count("the same for") == 1


@pytest.mark.parametrize("special", [0.0, 1.0, 0.56, 5e-324], ids=str)
@pytest.mark.parametrize("shape", [(), (3, 3)], ids=str)
def test_the_advised_point_is_not_special(shape, special):
    for before in (2, 8):  # the numbers that are advised depend on where an input stands
        point = {"a": DRAWN[:before], "g": np.full(shape, special), "h": np.full(shape, special)}

        def f(a, g, h):
            return np.sum(np.sin(a)) + np.sum(np.sin(g) * np.cos(h))

        def gradient(a, g, h):
            return {"a": np.cos(a), "g": np.cos(g) * np.cos(h), "h": -np.sin(g) * np.sin(h)}

        for spot in check_gradient(f, point, gradient).blind_spots:
            numbers = np.ravel(ast.literal_eval(spot.advice.split("= ")[1].replace(", ...", "")))
            assert np.unique(np.abs(numbers)).size == numbers.size or special == 5e-324
            assert not np.isin(np.abs(numbers), [0, 1]).any()


def test_blind_spots_are_data():
    report = check_gradient(bowl, np.ones(3), lambda x: 2 * x)
    (spot,) = report.blind_spots
    assert (spot.kind, spot.reason) == ("inner-factor", "all its entries are 1")
    assert report.to_dict()["blind_spots"] == [asdict(spot)]


def test_in_few_digits_no_gradient_is_said_to_be_0_because_noise_would_hide_twice_of_it():
    for seed in range(1, 4):
        rng = np.random.default_rng(seed)
        w, x, c = (np.float32(rng.normal(size=size)) for size in (6, 6, 3))

        def loss(x, c, w=w):
            return to_bfloat16(np.sum(w * np.tanh(x))) + np.float32(0.1) * (x @ x + c @ c)

        gradient = w / np.cosh(x) ** 2 + np.float32(0.2) * x, np.float32(0.2) * c
        spots = check_gradient(loss, (x, c), gradient).blind_spots
        assert "it is 0 here" not in [spot.reason for spot in spots]
