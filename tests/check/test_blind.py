"""What a point hides: traps from real issues, and silence where nothing is special."""

import ast

import numpy as np
import pytest

from gradcheck_ref import check_gradient, check_jvp, check_vjp, nearby
from gradcheck_ref.zoo import all_cases
from gradcheck_ref.zoo.wild import WILD

X = np.array([0.7, -1.2, 0.4, 1.9])
A = np.array([[0.7, -1.2, 0.4], [1.9, 0.3, -0.8], [-0.5, 1.1, 2.2]])


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
    "nnlib/max-pool": ("mask", "x", False),
    "scikit-optimize/hamming": ("regulariser", "theta", True),
    "statsmodels/log-dispersion": ("regulariser", "log_alpha", True),
}


def found(report):
    return {(spot.kind, spot.subject) for spot in report.blind_spots}


@pytest.mark.parametrize(("name", "kind", "subject", "moves"), [(k, *v) for k, v in TRAPS.items()])
def test_the_report_names_the_blind_spot_at_a_trap(name, kind, subject, moves):
    wild = next(wild for wild in WILD if wild.id == name)
    trap, shows = (x if len(x) > 1 else x[0] for x in (wild.hides, wild.shows))
    for vjp in (wild.right, wild.wrong):
        report = check_vjp(wild.f, trap, vjp)
        assert report
        assert (kind, subject) in found(report)
        spot = next(one for one in report.blind_spots if (one.kind, one.subject) == (kind, subject))
        said = f"this point cannot show: {spot.sentence} ({spot.reason}); {spot.advice}"
        assert said in " ".join(str(report).split())
        assert said in " ".join(report.table(80).split())
    there = nearby(trap) if moves else shows
    shown = check_vjp(wild.f, there, wild.right)
    assert shown
    assert (kind, subject) not in found(shown)
    assert check_vjp(wild.f, there, wild.wrong).verdict == "fail"


# --- quiet where nothing is special -----------------------------------------------------------


def drawn(inputs, seed):
    """Return inputs of these shapes and dtypes, drawn from a normal distribution."""
    rng = np.random.default_rng(seed)
    point = []
    for x in inputs:
        drawn = rng.normal(size=x.shape)
        if x.dtype.kind == "c":
            drawn = drawn + 1j * rng.normal(size=x.shape)
        point.append(drawn.astype(x.dtype) if x.dtype.kind in "fc" else x)
    return tuple(point)


def is_real(case, spot):
    """Tell whether the mistake would make a difference at some other point."""
    for seed in range(10, 15):
        point = drawn(case.inputs, seed)
        report = check_vjp(case.f, point, case.vjp)
        for pair in report.pairs if report else ():
            x = pair.given.x[:, None]
            mistaken = {"factor": 2 * pair.analytic, "mask": pair.analytic * (x > 0)}
            if pair.input.name == spot.subject and (mistaken[spot.kind] != pair.analytic).any():
                return True
    return False


def entropy(x):
    return -np.sum(x * np.log(x))


# Functions of positive numbers: a gradient of them, and f. Whether an entry is negative is nothing
# that they could be asked.
POSITIVE = {
    "sqrt": (lambda x: np.sum(np.sqrt(x)), lambda x: 0.5 / np.sqrt(x)),
    "entropy of shares": (
        lambda x: entropy(x / x.sum()),
        lambda x: -(np.log(x / x.sum()) + entropy(x / x.sum())) / x.sum(),
    ),
    "standard deviation": (np.std, lambda x: (x - x.mean()) / x.size / np.std(x)),
}
SHAPES = [(3,), (8,), (5, 1), (4, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_positive_numbers_and_columns_are_not_special(shape):
    passed, unreal = 0, []
    for name, (f, gradient) in POSITIVE.items():
        for seed in range(5):
            x = np.random.default_rng(seed).uniform(0.1, 2, size=shape)
            report = check_gradient(f, x, gradient)
            passed += bool(report)
            unreal += [name] if report.blind_spots else []
    assert passed >= 4 * len(POSITIVE)
    assert len(unreal) <= passed / 50, unreal


def test_a_single_output_is_not_a_batch_of_one():
    def f(x, W, b, V):
        return np.sum(np.sin((x @ W + b) @ V.T))

    def gradient(x, W, b, V):
        back = np.cos((x @ W + b) @ V.T) @ V
        return {
            "x": back @ W.T,
            "W": x.T @ back,
            "b": back.sum(axis=0),
            "V": np.cos((x @ W + b) @ V.T).T @ (x @ W + b),
        }

    rng = np.random.default_rng(0)
    shapes = {"x": (5, 3), "W": (3, 1), "b": (1,), "V": (1, 1)}
    point = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    assert check_gradient(f, point, gradient).blind_spots == ()
    one = check_gradient(f, point | {"x": point["x"][:1]}, gradient)
    assert found(one) == {("missing-sum", "x")}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_at_random_points_almost_every_warning_is_real():
    passed, warned, unreal = 0, [], []
    for case in all_cases():
        for point in (nearby(case.inputs), drawn(case.inputs, seed=1)):
            report = check_vjp(case.f, point, case.vjp)
            passed += bool(report)
            spots = report.blind_spots
            warned += [case.name] if spots else []
            unreal += [case.name] if any(not is_real(case, spot) for spot in spots) else []
    assert passed > 200
    assert len(unreal) <= passed / 50, unreal
    assert len(warned) <= passed / 20, warned


BOWL = lambda x: np.sum(x**2)  # noqa: E731


@pytest.mark.parametrize(
    ("f", "inputs", "grads"),
    [
        (np.sum, np.array([2.0, 3.0]), np.ones(2)),
        (lambda x: np.sum(x**3), np.array([0.5, 1.0, 2.0]), lambda x: 3 * x**2),
        (lambda x: np.sum(np.log(x)), np.array([0.5, 1.0, 2.0]), lambda x: 1 / x),
        (lambda X, b: np.sum((X + b) ** 2), (A, np.array([[0.3, -0.2, 0.9]])),
         lambda X, b: (2 * (X + b), 2 * (X + b).sum(axis=0, keepdims=True))),
        (lambda x: 7.0 + 0 * np.sum(x), X, np.zeros(4)),
        (lambda x: 2 * x, 3.0, 2.0),
    ],
    ids=["two signs agree by chance", "a power", "a logarithm", "a bias that is broadcast",
         "flat", "a number"],
)  # fmt: skip
def test_an_ordinary_point_has_no_blind_spots(f, inputs, grads):
    report = check_gradient(f, inputs, grads)
    assert report
    assert report.blind_spots == ()
    assert "cannot show" not in str(report)


def test_only_a_pass_has_blind_spots():
    assert check_gradient(BOWL, np.ones(3), lambda x: 3 * x).blind_spots == ()
    assert found(check_gradient(BOWL, np.ones(3), lambda x: 2 * x)) == {("inner-factor", "x")}


# --- each kind --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "inputs", "grads", "seen"),
    [
        (BOWL, np.full(3, 0.4), lambda x: 2 * x, ("permuted", "x")),
        (BOWL, np.array([[0.4, 0.9]] * 3), lambda x: 2 * x, ("permuted", "x")),
        (lambda x: np.sum((x - 0.7) ** 2), np.full(3, 0.7), lambda x: 2 * (x - 0.7),
         ("factor", "x")),
        (lambda x: np.sum(np.maximum(x, 0)), -np.abs(X), np.zeros(4), ("factor", "x")),
        (lambda a, b: np.sum(a * b), (X, X), lambda a, b: (b, a), ("swapped", "b")),
        (lambda x: np.mean(x**2), np.array([0.7]), lambda x: 2 * x, ("missing-sum", "x")),
        (BOWL, np.array([0.7, 1.2, 0.4]), lambda x: 2 * x, ("mask", "x")),
        (BOWL, np.array([0.7, -1.2, 0.4, -1.2, 0.7]), lambda x: 2 * x, ("permuted", "x")),
        (lambda x: np.sum(np.abs(x) * np.arange(1, 10)), np.linspace(0.2, 1.7, 9),
         np.arange(1.0, 10), ("mask", "x")),
        (lambda z: np.sum(np.abs(z) ** 2), X.astype(complex), lambda z: 2 * z, ("conjugate", "z")),
        (lambda x: np.mean((np.maximum(x, 0) - X) ** 2), np.abs(X), lambda x: (x - X) / 2,
         ("mask", "x")),
        (BOWL, np.ones(200), lambda x: 2 * x, ("inner-factor", "x")),
        (BOWL, np.ones(3, np.float32), lambda x: 2 * x, ("inner-factor", "x")),
    ],
    ids=["equal entries", "equal rows", "an optimum", "a dead relu", "equal inputs", "one row",
         "one sign", "a palindrome", "one sign of many", "real numbers",
         "a relu inside a loss", "by lines", "float32"],
)  # fmt: skip
def test_a_special_point_is_named(f, inputs, grads, seen):
    report = check_gradient(f, inputs, grads)
    assert report
    assert seen in found(report)


def test_a_tolerance_can_hide_any_factor():
    report = check_gradient(BOWL, 1e-3 * X, lambda x: 4 * x, atol=1e-2)  # 2 would be right
    assert report
    assert ("factor", "x") in found(report)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, np.complex64])
@pytest.mark.parametrize("size", [1e-30, 1.0, 6e4])
def test_blind_spots_work_for_every_dtype_and_size(dtype, size):
    x = np.full((2, 3), size).astype(dtype)
    report = check_gradient(lambda x: np.sum(np.abs(x), dtype=np.longdouble), x, np.ones((2, 3)))
    if report:
        assert report.blind_spots[0].advice.startswith("try x = [[")


def test_a_jvp_has_blind_spots_too():
    f = lambda scale, x: scale * np.sin(x)  # noqa: E731

    def jvp(tangent, scale, x):
        return tangent[0] * np.sin(x) + tangent[1] * np.cos(x)  # without the scale

    report = check_jvp(f, (np.ones(4), X), jvp)
    assert found(report) == {("inner-factor", "scale")}
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


@pytest.mark.parametrize("special", [0.0, 1.0, 0.56, 1.37, 5e-324], ids=str)
@pytest.mark.parametrize("shape", [(), (3, 3)], ids=str)
def test_the_advised_point_is_not_special(shape, special):
    for before in range(2, 12, 3):  # the numbers that are advised depend on where an input stands
        other = np.random.default_rng(before).normal(size=before)
        point = {"a": other, "g": np.full(shape, special), "h": np.full(shape, special)}

        def f(a, g, h):
            return np.sum(np.sin(a)) + np.sum(np.sin(g) * np.cos(h))

        def gradient(a, g, h):
            return {"a": np.cos(a), "g": np.cos(g) * np.cos(h), "h": -np.sin(g) * np.sin(h)}

        for spot in check_gradient(f, point, gradient).blind_spots:
            numbers = np.ravel(ast.literal_eval(spot.advice.split("= ")[1].replace(", ...", "")))
            assert np.unique(np.abs(numbers)).size == numbers.size or special == 5e-324
            assert not np.isin(np.abs(numbers), [0, 1]).any()


def test_blind_spots_are_data():
    report = check_gradient(BOWL, np.ones(3), lambda x: 2 * x)
    (spot,) = report.to_dict()["blind_spots"]
    assert spot == {
        "kind": "inner-factor",
        "subject": "x",
        "sentence": "whether x multiplies or divides the gradient",
        "reason": "all its entries are 1",
        "advice": report.blind_spots[0].advice,
    }
