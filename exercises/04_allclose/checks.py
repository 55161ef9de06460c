"""Checks of exercise 4. The tolerances are exact in binary, so that a limit can be hit exactly."""

import itertools

import numpy as np

from expect import Call, after, give_all

NAN, INF = np.nan, np.inf

ALLOWED = (
    # analytic, numeric, rtol, atol, and whether they are close
    ([1.0, 2.0], [1.0, 2.0], 0.0, 0.0, True, "no error is allowed, and there is none"),
    ([1.0], [1.25], 0.0, 0.25, True, "0.25 + 0 is allowed, and the error is just that"),
    ([2.1875], [2.0], 0.25, 0.25, True, "0.25 + 0.25 * 2 is allowed, and the error is 0.1875"),
    ([1.5], [1.0], 0.0, 0.25, False, "the error is 0.5, and 0.25 is allowed: are they compared?"),
    ([1.25], [1.0], 0.25, 0.0, True, "0.25 * 1 is allowed, and the error is just that"),
    ([2.5], [2.0], 0.0, 0.25, False, "the error is 0.5, and 0.25 + 0 is allowed"),
    ([5.0], [4.0], 0.25, 0.0, True, "0.25 * 4 is allowed, and the error is just that"),
    ([-4.0], [4.0], 1.0, 0.0, False, "the error is 8, and 1 * 4 is allowed"),
    ([4.0], [-4.0], 1.0, 0.0, False, "the error is 8, and 1 * 4 is allowed"),
    ([-5.0], [-4.0], 0.25, 0.0, True, "0.25 * 4 is allowed, and the error is just that"),
)
SLIPS = {
    "an error of just what is allowed is close: <=": lambda error, n, rtol, atol: (
        abs(error) < atol + rtol * abs(n)
    ),
    "numeric may be negative, and |numeric| is not": lambda error, n, rtol, atol: (
        abs(error) <= atol + rtol * n
    ),
    "an error may be negative: take |analytic - numeric|": lambda error, n, rtol, atol: (
        error <= atol + rtol * abs(n)
    ),
    "the difference of |analytic| and |numeric| hides a wrong sign: take |analytic - numeric|": (
        lambda error, n, rtol, atol: abs(abs(error + n) - abs(n)) <= atol + rtol * abs(n)
    ),
    "where is rtol * |numeric|?": lambda error, n, rtol, atol: abs(error) <= atol,
    "where is atol?": lambda error, n, rtol, atol: abs(error) <= rtol * abs(n),
    "that allows the smaller of the two, or both have to allow it; add them": (
        lambda error, n, rtol, atol: abs(error) <= min(atol, rtol * abs(n).max())
    ),
    "the two are added, not multiplied": lambda error, n, rtol, atol: (
        abs(error) <= atol * rtol * abs(n)
    ),
    "only rtol is multiplied by |numeric|": lambda error, n, rtol, atol: (
        abs(error) <= (atol + rtol) * abs(n)
    ),
    "rtol and atol have changed places": lambda error, n, rtol, atol: (
        abs(error) <= rtol + atol * abs(n)
    ),
    "where is |numeric|? rtol is a fraction of it": lambda error, n, rtol, atol: (
        abs(error) <= atol + rtol
    ),
    "compare the error itself, not the error divided by |numeric|": lambda error, n, rtol, atol: (
        abs(error / n) <= atol + rtol * abs(n)
    ),
    "an error is close if it is at most what is allowed, not at least": (
        lambda error, n, rtol, atol: abs(error) >= atol + rtol * abs(n)
    ),
    "True is for gradients that are close": lambda error, n, rtol, atol: (
        not np.all(abs(error) <= atol + rtol * abs(n))
    ),
}


def judged(sub, analytic, numeric, rtol, atol):
    """Build the call."""
    arrays = np.array(analytic, float), np.array(numeric, float)
    return Call(sub, "allclose", *arrays, rtol=rtol, atol=atol)


def check_what_is_allowed(sub):
    """An error of at most what is allowed is close, and a larger one is not."""
    rows = [(judged(sub, *given), right, look_at) for *given, right, look_at in ALLOWED]
    answers = {
        says: [
            bool(np.all(close(np.subtract(a, n), np.array(n), rtol, atol)))
            for a, n, rtol, atol, *_ in ALLOWED
        ]
        for says, close in SLIPS.items()
    }
    give_all(rows, answers)


@after(check_what_is_allowed)
def check_the_two_are_added(sub):
    """The two tolerances are added."""
    mistakes = {"1 + 0.125 * 10 = 2.25 is allowed; the two are added, not tried one by one": False}
    judged(sub, [11.5], [10.0], 0.125, 1.0).gives(True, mistakes)
    mistakes = {"an entry that is zero but for rounding is what atol is for": False}
    judged(sub, [1e-17], [0.0], 1e-6, 1e-12).gives(True, mistakes)
    mistakes = {"all these numbers are small: is a number allowed that nobody has given?": True}
    judged(sub, [-1e-12], [1e-12], 0.5, 1e-12).gives(False, mistakes)


@after(check_what_is_allowed)
def check_numeric_is_the_reference(sub):
    """The measured value is the reference, not the claim."""
    mistakes = {"a wrong claim widens its own tolerance: rtol times |numeric|": True}
    judged(sub, [10.0], [1.0], 0.9375, 0.0).gives(False, mistakes)
    mistakes = {"0.5 * |numeric| is 1, and the error is 1: rtol times |numeric|": False}
    judged(sub, [1.0], [2.0], 0.5, 0.0).gives(True, mistakes)


@after(check_what_is_allowed)
def check_every_entry_counts(sub):
    """One wrong entry among many right ones is enough."""
    claimed, measured = np.ones((3, 4)), np.ones((3, 4))
    claimed[2, 1] = 0.5  # below: a tolerance by the claim, another slip, refuses that, too
    mistakes = {"one entry of 12 is wrong: no mean, no norm, and np.all, not np.any": True}
    judged(sub, claimed, measured, 0.25, 0.125).gives(False, mistakes)
    mistakes = {"the small entry is off by half; what is allowed is each entry's own": True}
    judged(sub, [1e6 + 1, 1e-3], [1e6, 2e-3], 1e-5, 0.0).gives(False, mistakes)


@after(check_what_is_allowed)
def check_what_is_not_finite(sub):
    """NaN and infinity are never close."""
    _, *bad = itertools.product((1.0, NAN, INF, -INF), repeat=2)
    for one, other in bad:
        mistakes = {"an infinite value allows any error, and NaN is close to nothing": True}
        judged(sub, [0.0, one], [0.0, other], 0.5, 0.5).gives(False, mistakes)


@after(check_what_is_allowed)
def check_shapes_must_be_equal(sub):
    """Different shapes are an error, even where NumPy could stretch one."""
    look_at = "no answer is right: raise a ValueError if the two shapes differ"
    for one, other in ((np.ones((2, 3)), np.ones(3)), (np.ones(3), np.array(1.0))):
        judged(sub, one, other, 0.5, 0.5).raises(ValueError, look_at)
    look_at = "the shapes, not the sizes: (2, 1) and (1, 2) differ"
    judged(sub, np.ones((2, 1)), np.ones((1, 2)), 0.5, 0.5).raises(ValueError, look_at)


@after(check_what_is_allowed)
def check_nothing_compared(sub):
    """Two empty gradients confirm nothing."""
    for shape in ((0,), (0, 3), (3, 0)):
        mistakes = {"np.all of nothing is True; count the entries": True}
        judged(sub, np.zeros(shape), np.zeros(shape), 1.0, 1.0).gives(False, mistakes)


@after(check_what_is_allowed)
def heldout_a_number(sub):
    """Two single numbers are compared as well."""
    judged(sub, 2.0, 2.0, 0.0, 0.0).gives(True)
    judged(sub, 2.0, 3.0, 0.25, 0.0).gives(False)
