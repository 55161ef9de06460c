"""What students hand in for exercise 4."""

import numpy as np
from wrong_submissions import instead_of


def close(analytic, numeric, rtol, atol):
    if analytic.shape != numeric.shape:
        raise ValueError("shapes differ")
    within = np.abs(analytic - numeric) <= atol + rtol * np.abs(numeric)
    return within & np.isfinite(analytic) & np.isfinite(numeric)


@instead_of("allclose", says="an infinite value allows any error")
def is_the_allclose_of_numpy(analytic, numeric, rtol, atol):
    return np.allclose(analytic, numeric, rtol=rtol, atol=atol)


@instead_of("allclose", says="if none is allowed: <=")
def excludes_the_limit(analytic, numeric, rtol, atol):
    return bool(np.all(np.abs(analytic - numeric) < atol + rtol * np.abs(numeric)))


@instead_of("allclose", says="|numeric| is not: 0.25 * 4")
def forgets_that_slopes_can_be_negative(analytic, numeric, rtol, atol):
    return bool(np.all(np.abs(analytic - numeric) <= atol + rtol * numeric))


@instead_of("allclose", says="with the signs they have")
def forgets_the_absolute_value_of_the_error(analytic, numeric, rtol, atol):
    return bool(np.all(analytic - numeric <= atol + rtol * np.abs(numeric)))


@instead_of("allclose", says="not tried one by one")
def tries_one_tolerance_or_the_other(analytic, numeric, rtol, atol):
    error = np.abs(analytic - numeric)
    return bool(np.all((error <= atol) | (error <= rtol * np.abs(numeric))))


@instead_of("allclose", says="0.25 * 4 is allowed, and the error is just that")
def has_lost_rtol(analytic, numeric, rtol, atol):
    return bool(np.all(np.abs(analytic - numeric) <= atol))


@instead_of("allclose", says="0.25 + 0 is allowed")
def wants_both_tolerances_kept(analytic, numeric, rtol, atol):
    error = np.abs(analytic - numeric)
    return bool(np.all((error <= atol) & (error <= rtol * np.abs(numeric))))


@instead_of("allclose", says="widens its own tolerance")
def takes_the_claim_for_the_reference(analytic, numeric, rtol, atol):
    return bool(np.all(np.abs(analytic - numeric) <= atol + rtol * np.abs(analytic)))


@instead_of("allclose", says="no mean, no norm")
def looks_at_the_mean(analytic, numeric, rtol, atol):
    return bool(np.mean(np.abs(analytic - numeric)) <= atol + rtol * np.mean(np.abs(numeric)))


@instead_of("allclose", says="what is allowed is each entry's own")
def measures_by_the_largest_entry(analytic, numeric, rtol, atol):
    largest = np.abs(numeric).max(initial=0)
    return bool(np.all(np.abs(analytic - numeric) <= atol + rtol * largest))


@instead_of("allclose", says="no mean, no norm")
def is_content_with_one_right_entry(analytic, numeric, rtol, atol):
    return bool(np.any(np.abs(analytic - numeric) <= atol + rtol * np.abs(numeric)))


@instead_of("allclose", says="NaN is close to nothing")
def looks_for_what_is_too_far(analytic, numeric, rtol, atol):
    return not np.any(np.abs(analytic - numeric) > atol + rtol * np.abs(numeric))


@instead_of("allclose", says="compare analytic.shape with numeric.shape")
def lets_numpy_stretch(analytic, numeric, rtol, atol):
    within = np.abs(analytic - numeric) <= atol + rtol * np.abs(numeric)
    return bool(np.all(within & np.isfinite(analytic) & np.isfinite(numeric)))


@instead_of("allclose", says="the shapes, not the sizes")
def compares_sizes(analytic, numeric, rtol, atol):
    if analytic.size != numeric.size:
        raise ValueError("sizes differ")
    return bool(np.all(close(analytic.ravel(), numeric.ravel(), rtol, atol)))


@instead_of("allclose", says="count the entries")
def confirms_what_it_has_not_seen(analytic, numeric, rtol, atol):
    return bool(np.all(close(analytic, numeric, rtol, atol)))


@instead_of(
    "allclose", says="an array of shape (2,) came back, but the answer needs a single number"
)
def returns_an_answer_for_each_entry(analytic, numeric, rtol, atol):
    return close(analytic, numeric, rtol, atol)


@instead_of("allclose", says="the error is 0.5, and 0.25 is allowed")
def always_says_yes(analytic, numeric, rtol, atol):
    return True


@instead_of("allclose", says="that is a text")
def answers_with_a_text(analytic, numeric, rtol, atol):
    return str(bool(np.all(abs(analytic - numeric) <= atol + rtol * abs(numeric))))
