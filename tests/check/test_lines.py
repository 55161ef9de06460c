"""Ways through a point: axes and random lines, their steps, units and signs."""

from itertools import combinations

import numpy as np
import pytest

from gradcheck_ref.check.measure.lines import STRETCH, Line, taken
from gradcheck_ref.structure.inputs import Inputs


def inputs_of(*arrays):
    return Inputs(lambda *given: 0.0, tuple(arrays))


def line_over(inputs, start=0, stop=None, number=0, seed=0):
    stop = inputs.size if stop is None else stop
    return Line(inputs, start, stop, (seed, number))


def spread(size, seed=0, digits=6):
    rng = np.random.default_rng(seed)
    return rng.normal(size=size) * 10.0 ** rng.uniform(-digits, digits, size)


# --- axes -------------------------------------------------------------------------------------


def test_an_axis_knows_its_size_and_its_spacing():
    inputs = inputs_of(np.array([-3.0, 0.0]), np.float32([0.25]))
    axes = [Line(inputs, i, i + 1) for i in range(3)]
    assert [axis.size for axis in axes] == [3, 0, 0.25]
    assert [axis.spacing for axis in axes] == [2.0**-52, 2.0**-52, 2.0**-23]
    # For a zero that of the others in its input.
    assert [axis.unit for axis in axes] == [4, 4, 0.25]


def test_a_zero_in_an_input_of_zeros_has_the_typical_size_of_all_inputs():
    inputs = inputs_of(np.array([800.0, 900.0]), np.zeros(2), np.array([700.0]))
    assert [Line(inputs, i, i + 1).unit for i in range(5)] == [1024, 1024, 1024, 1024, 512]
    assert [inputs.typical_beside(i) for i in range(5)] == [850, 850, 800, 800, 700]
    assert inputs_of(np.zeros(2), np.zeros(1)).typical_beside(2) == 1.0


@pytest.mark.parametrize("beside", [(), (np.array([1.0]),)], ids=["alone", "beside float64"])
def test_a_step_counts_as_far_as_it_moves_x_in_its_own_precision(beside):
    inputs = inputs_of(*beside, np.float32([0.1]))
    axes = [Line(inputs, i, i + 1) for i in range(inputs.size)]
    steps = np.full((len(axes), 2), [-1e-4, 1e-4])
    moved = taken(axes, steps)
    x = np.float32(0.1)
    assert (moved[-1] == np.float64(np.float32(x + steps[-1])) - np.float64(x)).all()
    assert (moved[-1] != steps[-1]).all()
    assert (abs(moved[:-1] - steps[:-1]) < 1e-15).all()


# --- units ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "units"),
    [
        ([1.0, 1.5, 3.9, -5.0], [2, 2, 2, 4]),  # the median, 2.7, is the least
        ([0.0, 0.0, 0.0], [1, 1, 1]),
        ([0.0, 8.0, 8.5, 9.0], [8, 8, 8, 8]),  # a zero moves by the typical size
        ([1e6, 1e-12], [2.0**19, 2.0**-40]),  # entries of their own units move by no more
        ([1e6, 0.0, 1e-12], [2.0**19, 2.0**18, 2.0**-40]),
        ([1.0] * 19 + [1e-9], [1] * 20),  # one of many that are alike is a small weight
        ([5e-324, 0.0], None),
    ],
    ids=["alike", "zeros", "a zero", "two units", "units and a zero", "a small one", "subnormal"],
)
def test_a_unit_is_a_power_of_two_of_about_the_size_of_the_coordinate(x, units):
    inputs = inputs_of(np.array(x))
    got = inputs.units(0, inputs.size)
    assert (got > 0).all()
    np.testing.assert_array_equal(np.frexp(got)[0], 0.5)
    if units is not None:
        np.testing.assert_array_equal(got, units)


def test_a_ray_moves_small_entries_by_their_own_size_and_keeps_zeros():
    inputs = inputs_of(np.array([1.0] * 19 + [1e-9, 0.0]))
    sizes = np.abs(Line(inputs, 0, 21, (0,), in_proportion=True).direction)
    np.testing.assert_array_equal(sizes, [1] * 19 + [2.0**-30, 0])
    of_zeros = Line(inputs_of(np.zeros(3)), 0, 3, (0,), in_proportion=True)
    np.testing.assert_array_equal(np.abs(of_zeros.direction), 1)


# --- random lines -----------------------------------------------------------------------------


@pytest.mark.parametrize("size", [5, 3 * STRETCH + 1])
@pytest.mark.parametrize("how", [{}, {"in_proportion": True}, {"tied": 0.0}])
def test_a_step_is_a_multiple_of_the_direction_to_the_last_bit(size, how):
    inputs = inputs_of(np.append(spread(size), 0.0), spread(3))
    line = Line(inputs, 1, inputs.size - 1, (0, 4), **how)
    steps, kept = [0.1, -0.3, 1e-9], []
    for t, point in zip(steps, line.coordinates(steps), strict=True):
        there = inputs.x.copy()
        there[1:-1] += t * line.direction
        np.testing.assert_array_equal(point, there)
        point[:] = np.nan  # f may write to its point, and keep it
        kept.append(point)
    assert not any(np.shares_memory(one, other) for one, other in combinations(kept, 2))


def test_signs_are_the_same_for_a_line_and_for_its_halves():
    inputs = inputs_of(spread(300), spread(77))
    line = line_over(inputs, number=4)
    stretches = [line]
    while stretches:
        one = stretches.pop()
        np.testing.assert_array_equal(one.direction, line.direction[one.start : one.stop])
        if one.stop - one.start > 1:
            first, second = one.halves()
            assert (first.start, first.stop, second.stop) == (one.start, second.start, one.stop)
            assert first.start < first.stop < second.stop
            stretches += [first, second]


@pytest.mark.parametrize("start", [0, 3])
def test_a_complex_entry_is_never_torn_in_two(start):
    inputs = inputs_of(np.ones(start), spread(11) + 1j)
    stretches = [line_over(inputs)]
    while stretches:
        one = stretches.pop()
        assert one.start <= start or (one.start - start) % 2 == 0
        if one.stop - one.start > (2 if one.start >= start else 1):
            stretches += one.halves()


@pytest.mark.parametrize("size", [10, STRETCH + 10], ids=["one piece", "several"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_does_not_move_has_no_part_in_a_product(size, bad):
    inputs, moves = inputs_of(spread(size)), np.ones(size, bool)
    moves[[3, size - 2]] = False
    line = Line(inputs, 0, size, (0, 1), np.packbits(moves))
    matrix = np.random.default_rng(0).normal(size=(size, 2))
    right = line.dot(matrix)
    matrix[~moves] = bad
    np.testing.assert_allclose(line.dot(matrix), right, rtol=1e-12)
    matrix[0, 0] = bad  # which moves
    assert np.isfinite(line.dot(matrix)).tolist() == [False, True]
