"""What students hand in for exercise 5."""

import numpy as np
from wrong_submissions import instead_of, right

EPS = 2.0**-52
STEPS = [0.1 / 4**k for k in range(14)]


def central(f, x, h):
    ahead, behind = x + h, x - h
    return (f(ahead) - f(behind)) / (ahead - behind)


def five_point(f, x, h):
    return (4 * central(f, x, h) - central(f, x, 2 * h)) / 3


def bars(f, x):
    """Give (value, truncation, rounding) for every step."""
    for h in STEPS:
        coarse, fine = five_point(f, x, h), five_point(f, x, h / 2)
        yield fine, abs(coarse - fine), 4 * EPS * (abs(f(x)) + abs(x * fine)) / h


@instead_of("adaptive", says="return value, error")
def returns_the_value_only(f, x):
    return min(bars(f, x), key=lambda bar: bar[1] + bar[2])[0]


@instead_of("adaptive", says="is there a return")
def forgets_to_return(f, x):
    best_error = np.inf
    for _, truncation, rounding in bars(f, x):
        if truncation + rounding < best_error:
            best_error = truncation + rounding


@instead_of("adaptive", says="the longest step: is every step tried")
def returns_inside_the_loop(f, x):
    best_error = np.inf
    for value, truncation, rounding in bars(f, x):
        if truncation + rounding < best_error:
            best_error = truncation + rounding
        return value, best_error


@instead_of("adaptive", says="drowned in rounding")
def believes_that_shorter_is_better(f, x):
    *_, (value, truncation, rounding) = bars(f, x)
    return value, truncation + rounding


@instead_of("adaptive", says="are truncation and rounding added")
def counts_truncation_only(f, x):
    value, truncation, _ = min(bars(f, x), key=lambda bar: bar[1])
    return value, truncation


@instead_of("adaptive", says="the longest step: is every step tried")
def counts_rounding_only(f, x):
    value, _, rounding = min(bars(f, x), key=lambda bar: bar[2])
    return value, rounding


@instead_of("adaptive", says="is there an abs around each part?")
def forgets_an_absolute_value(f, x):
    best = np.inf, np.inf
    for h in STEPS:
        coarse, fine = five_point(f, x, h), five_point(f, x, h / 2)
        error = coarse - fine + 4 * EPS * (abs(f(x)) + abs(x * fine)) / h
        if error < best[1]:
            best = fine, error
    return best


@instead_of("adaptive", says="or of the last one?")
def returns_the_last_error(f, x):
    best_value, best_error = np.nan, np.inf
    for value, truncation, rounding in bars(f, x):
        error = truncation + rounding
        if error < best_error:
            best_value, best_error = value, error
    return best_value, error


@instead_of("adaptive", says="drowned in rounding")
def never_updates_the_best_error(f, x):
    best_value, best_error = np.nan, np.inf
    for value, truncation, rounding in bars(f, x):
        if truncation + rounding < best_error:
            best_value = value
    return best_value, truncation + rounding


@instead_of("adaptive", says="an error bar of 0")
def claims_to_be_certain(f, x):
    return min(bars(f, x), key=lambda bar: bar[1] + bar[2])[0], 0.0


@instead_of("adaptive", says="the value comes first")
def swaps_the_pair(f, x):
    value, truncation, rounding = min(bars(f, x), key=lambda bar: bar[1] + bar[2])
    return truncation + rounding, value


@right("adaptive")
def returns_an_array(f, x):
    value, truncation, rounding = min(bars(f, x), key=lambda bar: bar[1] + bar[2])
    return np.array([value, truncation + rounding])


@instead_of("adaptive", says="a smaller sum was to be had")
def stops_at_the_first_small_error(f, x):
    return next((v, t + r) for v, t, r in bars(f, x) if t + r < 1e-8 * max(1, abs(v)))


@instead_of("adaptive", says="five_point(h/2)")
def returns_the_longer_of_the_two(f, x):
    h = min(STEPS, key=lambda h: error(f, x, h))
    return five_point(f, x, h), error(f, x, h)


def error(f, x, h):
    coarse, fine = five_point(f, x, h), five_point(f, x, h / 2)
    return abs(coarse - fine) + 4 * EPS * (abs(f(x)) + abs(x * fine)) / h


@instead_of("adaptive", says="is there an abs around each part")
def misses_the_abs_around_f(f, x):
    def error(h):
        coarse, fine = five_point(f, x, h), five_point(f, x, h / 2)
        return abs(coarse - fine) + 4 * EPS * (f(x) + abs(x * fine)) / h

    h = min(STEPS, key=error)
    return five_point(f, x, h / 2), error(h)


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
is_a_central_difference | (4 * central(f, x, h) - central(f, x, 2 * h)) / 3 |
    central(f, x, h) | it needs the one at 2*h too
swaps_the_weights | (4 * central(f, x, h) - central(f, x, 2 * h)) / 3 |
    (4 * central(f, x, 2 * h) - central(f, x, h)) / 3 | the 4 belongs to the shorter step
forgets_the_three | (4 * central(f, x, h) - central(f, x, 2 * h)) / 3 |
    4 * central(f, x, h) - central(f, x, 2 * h) | divide by it
halves_the_step | 2 * h | h / 2 | twice the first, not half of it
adds_the_two | 4 * central(f, x, h) - central(f, x, 2 * h) |
    4 * central(f, x, h) + central(f, x, 2 * h) | subtract the two
divides_only_the_second | return (4 * central(f, x, h) - central(f, x, 2 * h)) |
    return 4 * central(f, x, h) - central(f, x, 2 * h) | add parentheses
"""
