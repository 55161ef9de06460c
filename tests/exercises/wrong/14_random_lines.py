"""What students hand in for exercise 14."""

import numpy as np
from wrong_submissions import instead_of


def signs(seed, lines, n):
    return 2.0 * np.random.default_rng(seed).integers(0, 2, size=(lines, n)) - 1


def slope_along(f, x, v, h):
    return (f(x + h * v) - f(x - h * v)) / (2 * h)


def residuals(f, x, claimed, lines, h):
    return np.array([claimed @ v - slope_along(f, x, v, h) for v in lines])


def matches(r, lines):
    return r @ lines / len(lines)


@instead_of("signs", says="has its own sign")
def draws_one_sign_a_line(seed, lines, n):
    return signs(seed, lines, 1) * np.ones(n)


@instead_of("signs", says="has its own sign")
def draws_one_line(seed, lines, n):
    return np.ones((lines, 1)) * signs(seed, 1, n)


@instead_of("signs", says="has its own sign")
def starts_anew_for_each_line(seed, lines, n):
    return np.array([signs(seed, 1, n)[0] for _ in range(lines)])


@instead_of("signs", says="is +1 as likely as -1?")
def draws_more_of_one_kind(seed, lines, n):
    return np.where(np.random.default_rng(seed).random((lines, n)) < 1 / 3, 1.0, -1.0)


@instead_of("signs", says="where does chance come from?")
def forgets_the_seed(seed, lines, n):
    return signs(None, lines, n)


@instead_of("signs", says="does the seed enter?")
def always_takes_seed_0(seed, lines, n):
    return signs(0, lines, n)


@instead_of("signs", says="the shape")
def puts_lines_into_columns(seed, lines, n):
    return signs(seed, n, lines)


@instead_of("slope_along", says="use v as it is")
def makes_a_unit_vector(f, x, v, h):
    return slope_along(f, x, v / np.linalg.norm(v), h)


@instead_of("slope_along", says="all entries move at once")
def walks_along_the_axes(f, x, v, h):
    for axis in np.eye(len(x)):
        f(x + h * axis)
    return slope_along(f, x, v, h)


@instead_of("slope_along", says="work on a copy")
def moves_x_in_place(f, x, v, h):
    x += h * v
    ahead = f(x)
    x -= 2 * h * v
    return (ahead - f(x)) / (2 * h)


@instead_of("residuals", says="not the opposite")
def subtracts_the_claim(f, x, claimed, lines, h):
    return -residuals(f, x, claimed, lines, h)


@instead_of("residuals", says="the signs show which entry is wrong")
def drops_the_signs(f, x, claimed, lines, h):
    return np.abs(residuals(f, x, claimed, lines, h))


@instead_of("residuals", says="take no mean")
def averages_the_lines(f, x, claimed, lines, h):
    return residuals(f, x, claimed, lines, h).mean()


@instead_of("residuals", says="the claim takes none")
def measures_every_line_twice(f, x, claimed, lines, h):
    residuals(f, x, claimed, lines, h)
    return residuals(f, x, claimed, lines, h)


@instead_of("certificate", says="the size of -1.5 is above 1")
def takes_the_largest_with_its_sign(r):
    return r.max(), 1 - 0.5 ** len(r)


@instead_of("certificate", says="the mean is no bound")
def averages_the_residuals(r):
    return np.abs(r).mean(), 1 - 0.5 ** len(r)


@instead_of("certificate", says="an error may show on one line only")
def takes_the_smallest(r):
    return np.abs(r).min(), 1 - 0.5 ** len(r)


@instead_of("certificate", says="return the one that it holds")
def returns_the_chance_to_be_wrong(r):
    return np.abs(r).max(), 0.5 ** len(r)


@instead_of("certificate", says="not 1/K")
def divides_by_the_number_of_lines(r):
    return np.abs(r).max(), 1 - 1 / len(r)


@instead_of("certificate", says="the probability is never exactly 1")
def is_certain(r):
    return np.abs(r).max(), 1.0


@instead_of("certificate", says="the bound comes first")
def returns_confidence_first(r):
    return 1 - 0.5 ** len(r), np.abs(r).max()


@instead_of("certificate", says="2 arrays: bound, confidence")
def returns_the_bound_alone(r):
    return np.abs(r).max()


@instead_of("suspect", says="opposite signs match just as well")
def looks_for_positive_matches(r, lines):
    i = np.argmax(matches(r, lines))
    return i, matches(r, lines)[i]


@instead_of("suspect", says="an entry is a column of lines")
def returns_a_line(r, lines):
    i = np.argmax(np.abs(r))
    return i, r[i]


@instead_of("suspect", says="the mean over the lines, not the sum")
def adds_up_the_lines(r, lines):
    i = np.argmax(np.abs(r @ lines))
    return i, (r @ lines)[i]


@instead_of("suspect", says="the error with its sign")
def drops_the_sign_of_the_error(r, lines):
    i = np.argmax(np.abs(matches(r, lines)))
    return i, abs(matches(r, lines)[i])


@instead_of("suspect", says="i comes first, then its error")
def returns_the_error_first(r, lines):
    i = np.argmax(np.abs(matches(r, lines)))
    return matches(r, lines)[i], i


@instead_of("suspect", says="work on a copy")
def multiplies_in_place(r, lines):
    lines *= r[:, None]
    found = lines.mean(axis=0)
    i = np.argmax(np.abs(found))
    return i, found[i]


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
draws_zeros | 2.0 * np.random.default_rng(seed).integers(0, 2, size=(lines, n)) - 1 |
    np.random.default_rng(seed).integers(-1, 2, size=(lines, n)) | integers(-1, 2) draws 0, too
draws_any_number | 2.0 * np.random.default_rng(seed).integers(0, 2, size=(lines, n)) - 1 |
    np.random.default_rng(seed).normal(size=(lines, n)) | a sign is +1 or -1
leaves_zeros_and_ones | 2.0 * np.random.default_rng(seed).integers(0, 2, size=(lines, n)) - 1 |
    np.random.default_rng(seed).integers(0, 2, size=(lines, n)) | 0 has to become -1
divides_by_h | (2 * h) | h | 2*h apart, not h
steps_ahead_only | (f(x + h * v) - f(x - h * v)) / (2 * h) |
    (f(x + h * v) - f(x)) / h | step to both sides
forgets_the_signs | return (f(x + h * v) - f(x - h * v)) / (2 * h) |
    return (f(x + h) - f(x - h)) / (2 * h) | every entry moves by h times its own sign
forgets_the_brackets | return (f(x + h * v) - f(x - h * v)) |
    return f(x + h * v) - f(x - h * v) | add parentheses
asks_the_claim_alone | np.array([claimed @ v - slope_along(f, x, v, h) for v in lines]) |
    lines @ claimed | subtract the measured one
asks_f_alone | return np.array([claimed @ v - slope_along(f, x, v, h) for v in lines]) |
    return np.array([slope_along(f, x, v, h) for v in lines]) | subtract it from the claimed one
"""
