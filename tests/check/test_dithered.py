"""Points that are off any grid inside f, and what a claim predicts for them."""

import numpy as np
import pytest

from gradcheck_ref.check.measure.dithered import FEW, Dithered
from gradcheck_ref.check.measure.lines import STRETCH
from gradcheck_ref.structure.inputs import Inputs

N = 4000


def dithered(x, seed=(0,), **more):
    inputs = Inputs(lambda x: 0.0, x)
    return Dithered(inputs, 0, inputs.size, seed, **more)


def move(line, t):
    return next(line.coordinates([t])) - line.inputs.x


def test_a_place_is_always_the_same_point():
    one, other = dithered(np.ones(9)), dithered(np.ones(9))
    assert (move(one, 0.1) == move(other, 0.1)).all()
    assert (move(one, 0.1) != move(dithered(np.ones(9), (1,)), 0.1)).any()


@pytest.mark.parametrize("size", [9, FEW + 1], ids=["kept", "drawn again"])
def test_what_f_does_to_a_point_changes_no_other(size):
    line = dithered(np.ones(size))
    points = list(line.coordinates([0.1, -0.1]))
    expected = [point.copy() for point in points]
    apart = line.between(0.1)
    for point in points:
        point[:] = np.nan
    assert (np.array(list(line.coordinates([0.1, -0.1]))) == expected).all()
    assert (line.between(0.1) == apart).all()
    assert (apart == (expected[0] - expected[1]) / 0.2).all()


@pytest.mark.parametrize("t", [0.5, -0.1, 0.003])
def test_moves_have_the_length_of_the_step_and_different_sizes(t):
    moves = move(dithered(np.ones(N)), t) / t
    assert np.mean(moves**2) == pytest.approx(1.0, abs=0.02)
    assert np.mean(moves) == pytest.approx(0.0, abs=0.05)
    assert 0.2 < np.std(np.abs(moves)) < 0.4


@pytest.mark.parametrize(("t", "bits"), [(0.5, 4), (0.1, 7), (-0.1, 7), (0.01, 10)])
def test_points_have_so_few_bits_that_short_floats_inside_f_hold_them(t, bits):
    x = np.random.default_rng(0).normal(size=N)
    there = next(dithered(x).coordinates([t]))
    fraction = np.frexp(there)[0] * 2.0 ** (bits + 1)
    assert (fraction == np.rint(fraction)).all()


def test_rounding_at_random_has_no_bias():
    moves = [move(dithered(np.full(N, 0.7), rounds=rounds), 0.05) for rounds in (True, False)]
    apart = moves[0] - moves[1]
    assert np.abs(apart).max() > 1e-3
    assert abs(apart.mean()) < 5 * apart.std() / np.sqrt(N)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_points_are_numbers_of_the_dtype_of_x(dtype):
    x = np.random.default_rng(0).normal(size=50).astype(dtype)
    there = next(dithered(x, rounds=False).coordinates([1e-3]))
    assert (there == there.astype(dtype)).all()
    assert (there != x).mean() > 0.5


def test_only_some_coordinates_move():
    moves = np.isin(np.arange(10), [2, 3, 7])
    line = dithered(np.full(10, 1.1), moves=np.packbits(moves))
    assert np.flatnonzero(move(line, 0.25)).tolist() == [2, 3, 7]


def test_long_lines_are_measured_in_pieces():
    line = dithered(np.random.default_rng(0).normal(size=3 * STRETCH // 2))
    there = next(line.coordinates([0.1]))
    assert (there != line.inputs.x).all()
    assert np.array_equal(line.between(0.1) * 0.2, there - next(line.coordinates([-0.1])))


def test_by_its_own_size_no_coordinate_leaves_the_domain_of_a_logarithm():
    x = np.array([1e-6, 1e-3, 1.0, 2.0])
    assert (next(dithered(x, in_proportion=True).coordinates([-0.5])) > 0).all()
    assert (next(dithered(x[1:], in_proportion=True).coordinates([0.5])) > 0).all()


def test_a_claim_is_applied_to_the_moves_that_were_made():
    rng = np.random.default_rng(0)
    matrix, line = rng.normal(size=(30, 4)), dithered(rng.normal(size=30))
    points = np.array([*line.coordinates([0.2, -0.2])])
    expected = (points[0] - points[1]) @ matrix / 0.4
    assert line.product(matrix, 0.2) == pytest.approx(expected, rel=1e-12)
    assert line.between(0.2) @ matrix == pytest.approx(expected, rel=1e-12)
