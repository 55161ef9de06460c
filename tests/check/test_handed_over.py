"""The forms in which people hand over functions, data and derivatives: taken as they come."""

import numpy as np
import pytest

from gradcheck_ref import (
    GradientError,
    assert_gradient,
    assert_jvp,
    assert_vjp,
    check_gradient,
    check_jvp,
    check_vjp,
    hard_points,
    nearby,
)

RNG = np.random.default_rng(0)

# --- data: constant=("X", "y") -----------------------------------------------------------------

W, X, Y = RNG.normal(size=(3, 2)), RNG.normal(size=(5, 3)), RNG.normal(size=(5, 2))
OF_DATA = {"in order": (W, X, Y), "by name": {"W": W, "X": X, "Y": Y}}


def residual(W, X, Y):
    return X @ W - Y


def squares(W, X, Y):
    return 0.5 * np.sum(residual(W, X, Y) ** 2)


def of_squares(W, X, Y):
    return X.T @ residual(W, X, Y)


def residual_vjp(upstream, W, X, Y):
    return X.T @ upstream


def residual_jvp(tangent, W, X, Y):
    dW = tangent[0] if isinstance(tangent, tuple) else tangent
    return X @ dW


CLAIMS = {
    "gradient": (check_gradient, assert_gradient, squares, of_squares),
    "vjp": (check_vjp, assert_vjp, residual, residual_vjp),
    "jvp": (check_jvp, assert_jvp, residual, residual_jvp),
}


@pytest.mark.parametrize(("check", "assert_", "f", "claim"), CLAIMS.values(), ids=CLAIMS)
@pytest.mark.parametrize(
    ("inputs", "constant"),
    [("in order", ("X", "Y")), ("in order", (1, 2)), ("by name", ("X", "Y"))],
)
def test_data_of_floats_are_left_out_by_name_or_position(
    check, assert_, f, claim, inputs, constant
):
    report = check(f, OF_DATA[inputs], claim, constant=constant)
    assert (report.verdict, report.compared) == ("pass", 6 * np.size(f(W, X, Y)))
    assert {pair.input.name for pair in report.pairs} == {"W"}
    assert assert_(f, OF_DATA[inputs], claim, constant=constant)


@pytest.mark.parametrize(("check", "assert_", "f", "claim"), CLAIMS.values(), ids=CLAIMS)
def test_a_wrong_derivative_beside_data_fails(check, assert_, f, claim):
    def wrong(*given):
        return 2 * claim(*given)

    assert check(f, OF_DATA["in order"], wrong, constant=("X", "Y")).reason == "wrong"
    with pytest.raises(GradientError, match="FAIL"):
        assert_(f, OF_DATA["in order"], wrong, constant=("X", "Y"))


@pytest.mark.parametrize(
    "gives",
    [
        lambda W, X, Y: (of_squares(W, X, Y), None, None),
        lambda W, X, Y: (of_squares(W, X, Y), np.full_like(X, 7.0), np.zeros(1)),
        lambda W, X, Y: {"W": of_squares(W, X, Y)},
    ],
    ids=["None", "others, which nobody looks at", "a mapping"],
)
def test_no_gradient_is_needed_for_data(gives):
    inputs = OF_DATA["by name" if isinstance(gives(W, X, Y), dict) else "in order"]
    assert check_gradient(squares, inputs, gives, constant=("X", "Y")).verdict == "pass"


def test_without_constant_the_gradients_of_the_data_are_missed():
    report = check_gradient(squares, OF_DATA["in order"], lambda *a: (of_squares(*a), None, None))
    assert report.verdict == "fail"


@pytest.mark.parametrize(("check", "assert_", "f", "claim"), CLAIMS.values(), ids=CLAIMS)
@pytest.mark.parametrize(
    ("constant", "error"), [("Z", ValueError), (("X", 7), ValueError), (0.5, TypeError)]
)
def test_a_wrong_name_is_refused_before_f_is_called(check, assert_, f, claim, constant, error):
    def never(W, X, Y):
        raise LookupError("called")

    for one in check, assert_:
        with pytest.raises(error, match=r"constant .*the inputs are W, X, Y"):
            one(never, OF_DATA["in order"], claim, constant=constant)


def test_a_leaf_of_a_tree_may_be_a_constant():
    params = {"w": np.ones(3), "norm": {"mean": np.arange(3.0), "gain": 2.0}}

    def loss(params):
        norm = params["norm"]
        return norm["gain"] * np.sum(params["w"] * (X - norm["mean"]))

    def gradient(params):
        norm = params["norm"]
        w = norm["gain"] * (X - norm["mean"]).sum(axis=0)
        return {"w": w, "norm": {"gain": np.sum(params["w"] * (X - norm["mean"]))}}

    assert check_gradient(loss, [params], gradient).reason == "structure"
    report = check_gradient(loss, [params], gradient, constant="params['norm']['mean']")
    assert (report.verdict, report.compared) == ("pass", 4)


def test_writing_to_data_is_noticed():
    def f(W, X, Y):
        X[0] = 0.0
        return squares(W, X, Y)

    report = check_gradient(f, OF_DATA["in order"], of_squares, constant=("X", "Y"))
    assert "f writes to its input X" in report.faults[0].sentence


def test_data_stay_at_other_points():
    named = {"W": W, "X": X}
    near = nearby(named, constant="X")
    np.testing.assert_array_equal(near["X"], X)
    assert (near["W"] != W).all()
    for _, (_, data) in hard_points((W, X), constant=1):
        np.testing.assert_array_equal(data, X)
    with pytest.raises(ValueError, match="constant names 'Y', which is no input: the inputs are W"):
        nearby(named, constant="Y")
