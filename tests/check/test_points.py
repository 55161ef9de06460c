"""Better points: what they keep, what is special about each, and that nothing is about one."""

from collections import namedtuple

import numpy as np
import pytest

from gradcheck_ref import check_gradient, hard_points, nearby

Layer = namedtuple("Layer", "W b")
LABELS = np.array([0, 2, 1])
TREE = {
    "net": {"layers": [Layer(np.ones((2, 3), np.float32), np.zeros(3)), (np.ones(2),)], "depth": 2},
    "z": np.array([1.0, 0.0]).astype(complex),
    "labels": LABELS,
    "name": "relu",
    "rate": 0.5,
    "half": np.ones(4, np.float16),
}


def form(point):
    """Return containers as they are, constants, and the shapes and dtypes of finite arrays."""
    if isinstance(point, dict):
        return {key: form(one) for key, one in point.items()}
    if isinstance(point, list | tuple):
        return [type(point), *map(form, point)]
    x = np.asarray(point)
    return (x.shape, x.dtype, np.isfinite(x).all() if x.dtype.kind in "fc" else x.tolist())


def every_point(inputs):
    return [("nearby", nearby(inputs)), *hard_points(inputs)]


def test_trees_shapes_dtypes_and_constants_are_kept():
    for name, point in every_point(TREE):
        assert form(point) == form(TREE), name


@pytest.mark.parametrize("value", [0.0, 1.0, -3.0, 1e-4, 1e4])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex128])
def test_nearby_is_near_and_nothing_is_special_there(value, dtype):
    x = np.full((3, 3), value).astype(dtype)
    near = nearby(x)
    assert np.unique(near).size == 9
    assert not np.isin(near, [0, 1]).any()
    assert (near != near.T).sum() == 6
    if value and dtype != np.complex128:
        assert ((near / x > 0.49) & (near / x < 2.02)).all()
        assert (np.abs(near / x - 1) > 0.17).all()


def test_each_hard_point_matches_its_name():
    x = np.array([[0.5, -2.0, 1.0], [3.0, 0.0, -1.0]])
    points = dict(hard_points(x))
    assert not points["zeros"].any()
    assert (points["ones"] == 1).all()
    assert np.unique(points["ties"]).size == 2
    assert (points["mixed signs"] > 0).sum() == (points["mixed signs"] < 0).sum() == 3
    assert 0 < np.abs(points["tiny"]).max() < 1e-6
    assert np.abs(points["large"]).min() > 100
    assert (np.tanh(points["saturated"]) == np.sign(points["saturated"])).all()
    assert (points["away from special values"] == nearby(x)).all()
    assert len(points) == 8


@pytest.mark.parametrize("shape", [(4, 4), (6, 2), (3, 5), (4, 1), (2, 2, 2)], ids=str)
@pytest.mark.parametrize("dtype", [float, complex])
def test_every_axis_has_ties_and_both_signs(shape, dtype):
    points = dict(hard_points(np.random.default_rng(0).normal(size=shape).astype(dtype)))
    for axis in (axis for axis, length in enumerate(shape) if length > 1):
        ordered = np.sort(points["ties"], axis=axis)
        assert (np.diff(ordered, axis=axis) == 0).any(axis=axis).all()
        for name in ("mixed signs", "tiny", "large", "saturated"):
            for side in (points[name].real, points[name].imag)[: 1 + (dtype is complex)]:
                assert ((side > 0).any(axis=axis) & (side < 0).any(axis=axis)).all()


def test_a_seed_gives_the_same_points_and_another_seed_others():
    x = np.ones(4)
    assert (nearby(x, seed=3) == nearby(x, seed=3)).all()
    assert (nearby(x, seed=3) != nearby(x, seed=4)).all()
    first, second = (dict(hard_points(x, seed=seed)) for seed in (3, 4))
    assert (first["large"] != second["large"]).all()


def test_the_inputs_are_never_written():
    x = np.ones(3)
    for _, point in every_point({"x": x}):
        point["x"][:] = 7.0
    assert (x == 1).all()


@pytest.mark.parametrize("make", [nearby, hard_points])
@pytest.mark.parametrize(
    ("inputs", "seed", "error", "said"),
    [
        (LABELS, 0, TypeError, "nothing to differentiate"),
        (np.array([np.nan]), 0, ValueError, "finite"),
        (np.ones(2), -1, ValueError, "seed must be at least 0"),
        (np.ones(2), 1.5, TypeError, "seed must be a whole number"),
    ],
)
def test_an_invalid_point_is_refused_at_once(make, inputs, seed, error, said):
    with pytest.raises(error, match=said):
        make(inputs, seed=seed)


def logistic(x):
    return np.exp(-np.logaddexp(0, -x))


def half_wrong_at_zero(x):
    """Return the gradient of softplus, but 0 at 0, as in jax-ml/jax#2107."""
    return np.where(x == 0, 0.0, logistic(x))


def test_hard_points_show_bugs_that_no_ordinary_point_shows():
    x = np.array([0.7, -1.2, 0.4])

    def verdict(point, gradient):
        return check_gradient(lambda x: np.sum(np.logaddexp(0, x)), point, gradient).verdict

    assert verdict(x, half_wrong_at_zero) == "pass"
    points = list(hard_points(x))
    failed = [name for name, point in points if verdict(point, half_wrong_at_zero) == "fail"]
    assert failed == ["zeros"]
    assert {verdict(point, logistic) for _, point in points} == {"pass"}
