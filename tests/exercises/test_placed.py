"""Where an answer is wrong, and by which factor."""

import numpy as np
import pytest

from expect import RTOL, looks_like
from placed import is_simple, ratio, where_wrong

BOX = np.arange(1.0, 61).reshape(3, 4, 5)
GRID = BOX[0]
SUM = GRID.sum(axis=0)


def wrong_in(part, array=GRID):
    """Return an array that is wrong in a part of it."""
    changed = array.copy()
    changed[part] += np.arange(1, changed[part].size + 1).reshape(changed[part].shape)
    return changed


@pytest.mark.parametrize(
    ("got", "right", "says"),
    [
        (wrong_in(np.s_[1, 1:2]), GRID, "wrong at [1, 1]; right elsewhere"),
        (wrong_in(np.s_[0]), GRID[0:1] * 0 + GRID, "all wrong in [0, :]; right elsewhere"),
        (wrong_in(np.s_[:, 3]), GRID, "all wrong in [:, 3]; right elsewhere"),
        (wrong_in(np.s_[[0, 2]]), GRID, "all wrong in [[0, 2], :]; right elsewhere"),
        (wrong_in(np.s_[:, 1], BOX), BOX, "all wrong in [:, 1, :]; right elsewhere"),
        (wrong_in(np.s_[1, 2:, 3:], BOX), BOX, "all wrong in [1, 2:4, 3:5]; right elsewhere"),
        (np.pad(GRID[:3, :4], ((0, 1), (0, 1))), GRID, "all right in [0:3, 0:4]; wrong elsewhere"),
        (GRID + 9 * np.eye(4, 5), GRID, "4 entries are wrong, all of them in [:, 0:4]"),
        (wrong_in(np.s_[1:6], SUM), SUM, "wrong at [1], [2], [3], and 1 more; right elsewhere"),
        (GRID + SUM, GRID, "off by the same number all along axis 0"),
        (GRID * SUM, GRID, "a factor that is the same all along axis 0"),
        (GRID + np.arange(4.0)[:, None] + 1, GRID, "off by the same number all along axis 1"),
        (GRID**2, GRID - 1, ""),
        (GRID, GRID, ""),
        (SUM + SUM[::-1], SUM, ""),
        (BOX, GRID, ""),
        ("words", GRID, ""),
        (None, GRID, ""),
        ([[1], [2, 3]], GRID, ""),
    ],
)
def test_the_wrong_part_of_an_array_is_told(got, right, says):
    told = where_wrong(got, right, RTOL)
    assert told.startswith(says)
    assert bool(told) == bool(says)


@pytest.mark.parametrize("factor", [2.0, 10.0, 1 / 3, 1 / 6, 1 / 150, 2 / 3, -2.0, 0.5])
def test_a_number_that_is_a_factor_off_is_named_whatever_its_last_digit(factor):
    for right in np.random.default_rng(0).uniform(-3, 3, size=50):
        assert looks_like(factor * right, right) == f"it is {ratio(factor)} x what it should be"


@pytest.mark.parametrize(
    "factor", [1.0, 1.2345678, np.pi, 1 / 1.0001, 13 / 17, 5000.0, 0.0, np.nan]
)
def test_no_accident_is_a_factor(factor):
    assert not is_simple(factor)


def test_a_factor_is_written_as_people_write_it():
    found = [ratio(factor) for factor in (2, 0.5, 1 / 3, 1 / 150, 2 / 3, -1 / 3, np.pi, 0.123456)]
    assert found == ["2", "0.5", "1/3", "1/150", "2/3", "-1/3", "3.142", "0.1235"]


def test_a_count_is_no_factor_off():
    assert looks_like(33, 1) == ""
    assert looks_like(64, 32) == "it is 2 x what it should be"
