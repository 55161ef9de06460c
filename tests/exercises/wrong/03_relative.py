"""What students hand in for exercise 3."""

from enum import StrEnum

import numpy as np
from wrong_submissions import instead_of, right


def size_of(analytic, numeric, floor):
    size = np.maximum(np.maximum(np.abs(analytic), np.abs(numeric)), floor)
    return np.where(size == 0, 1.0, size)


@instead_of("relative_error", says="relative to numeric; divide by the larger")
def divides_by_the_numeric_value(analytic, numeric, floor=1e-8):
    return np.abs(analytic - numeric) / np.maximum(np.abs(numeric), floor)


@instead_of("relative_error", says="relative to the sum of the two")
def divides_by_the_sum(analytic, numeric, floor=1e-8):
    return np.abs(analytic - numeric) / np.maximum(np.abs(analytic) + np.abs(numeric), floor)


@instead_of("relative_error", says="what is it relative to?")
def is_an_absolute_error(analytic, numeric, floor=1e-8):
    return np.abs(analytic - numeric)


@instead_of("relative_error", says="take its absolute value")
def keeps_the_sign(analytic, numeric, floor=1e-8):
    return (analytic - numeric) / size_of(analytic, numeric, floor)


@instead_of("relative_error", says="one error for each entry")
def gives_the_largest_only(analytic, numeric, floor=1e-8):
    return np.max(np.abs(analytic - numeric) / size_of(analytic, numeric, floor))


@instead_of("relative_error", says="compares the norms")
def compares_norms(analytic, numeric, floor=1e-8):
    size = max(np.linalg.norm(analytic), np.linalg.norm(numeric), floor)
    return np.linalg.norm(analytic - numeric) / size


@instead_of("relative_error", says="the size of -4 is 4")
def forgets_that_slopes_can_be_negative(analytic, numeric, floor=1e-8):
    return np.abs(analytic - numeric) / np.maximum(np.maximum(analytic, numeric), floor)


@instead_of("relative_error", says="two zeros agree")
def divides_zero_by_zero(analytic, numeric, floor=1e-8):
    size = np.maximum(np.maximum(np.abs(analytic), np.abs(numeric)), floor)
    return np.abs(analytic - numeric) / size


@instead_of("relative_error", says="the floor is not used")
def does_without_a_floor(analytic, numeric, floor=1e-8):
    return np.abs(analytic - numeric) / size_of(analytic, numeric, 0)


@instead_of("relative_error", says="the floor is added")
def adds_the_floor(analytic, numeric, floor=1e-8):
    size = np.maximum(np.abs(analytic), np.abs(numeric)) + floor
    return np.abs(analytic - numeric) / np.where(size == 0, 1.0, size)


@instead_of("relative_error", says="here it is not 1e-8")
def knows_only_one_floor(analytic, numeric, floor=1e-8):
    return np.abs(analytic - numeric) / size_of(analytic, numeric, min(floor, 1e-8) and 1e-8)


@instead_of("relative_error", says="looks like perfect agreement")
def sweeps_nan_away(analytic, numeric, floor=1e-8):
    return np.nan_to_num(np.abs(analytic - numeric) / size_of(analytic, numeric, floor))


@instead_of("band", says="includes the limit itself: <=")
def excludes_the_limits(errors, kinks=False):
    worst = np.max(errors)
    if worst < 1e-7:
        return "good"
    if kinks and worst < 1e-4:
        return "fine with kinks"
    return "suspicious" if worst < 1e-2 else "wrong"


@instead_of("band", says="a NaN got through")
def lets_nan_end_at_good(errors, kinks=False):
    worst = np.max(errors)
    if worst > 1e-2:
        return "wrong"
    if worst > 1e-4 or (worst > 1e-7 and not kinks):
        return "suspicious"
    return "fine with kinks" if worst > 1e-7 else "good"


@instead_of("band", says="is there a return?")
def prints_the_word(errors, kinks=False):
    print("good" if np.max(errors) <= 1e-7 else "wrong")


@instead_of("relative_error", says="add parentheses")
def divides_only_the_second(analytic, numeric, floor=1e-8):
    return abs(analytic - numeric / np.maximum(np.maximum(abs(analytic), abs(numeric)), floor))


class Band(StrEnum):
    GOOD, KINKS, SUSPICIOUS, WRONG = "good", "fine with kinks", "suspicious", "wrong"


def place(errors, kinks):
    """Count the limits that the largest error is above; NaN is above all of them."""
    limits = np.array([1e-7, 1e-4 if kinks else 1e-7, 1e-2])
    return np.sum(~(np.max(errors) <= limits))


@right("band")
def looks_the_word_up_in_an_array(errors, kinks=False):
    return np.array([*Band])[place(errors, kinks)]


@right("band")
def selects_the_word(errors, kinks=False):
    at = place(errors, kinks)
    return np.select(
        [at == 0, at == 1, at == 2], ["good", "fine with kinks", "suspicious"], "wrong"
    )


@right("band")
def names_the_words(errors, kinks=False):
    return [*Band][place(errors, kinks)]


@right("relative_error")
def asks_for_the_largest_of_three(analytic, numeric, floor=1e-8):
    size = np.max([np.abs(analytic), np.abs(numeric), np.full(analytic.shape, floor)], axis=0)
    return np.divide(np.abs(analytic - numeric), size, out=size * 0.0, where=size != 0)


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
reads_the_mean | = np.max(errors) | = np.mean(errors) | not the mean
takes_no_notice_of_kinks | if kinks and worst | if worst | what is kinks here?
takes_the_max_of_python | worst = np.max(errors) | worst = max(errors) | a NaN got through
"""
