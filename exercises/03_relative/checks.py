"""Checks of exercise 3."""

import itertools

import numpy as np

from expect import SMALL, AnyOf, Call, after, builds_on, give_all

NAN = np.nan


def check_each_entry(sub):
    """An error of 1 in 4 is 0.25, and every entry has its own."""
    a, n = np.array([4.0, 2.0, 10.0]), np.array([3.0, 2.5, 10.0])
    right, larger, off = np.array([0.25, 0.2, 0.0]), np.maximum(a, n), np.abs(a - n)
    norm = np.linalg.norm
    slips = {
        "that is relative to numeric; divide by the larger of the two": off / n,
        "that is relative to analytic; divide by the larger of the two": off / a,
        "that is relative to the smaller of the two; divide by the larger": off / np.minimum(a, n),
        "the error is divided by itself; divide by the larger of the two": [1.0, 1.0, 0.0],
        "that is relative to the sum of the two; divide by the larger": off / (a + n),
        "that is relative to the mean; divide by the larger of the two": 2 * off / (a + n),
        "that is the error itself; what is it relative to?": off,
        "the error is the difference; those are sums": (a + n) / larger,
        "the error is squared; its absolute value is enough": off**2 / larger,
        "the error is multiplied by the size; divide by it": off * larger,
        "the error has a sign; take its absolute value": AnyOf((a - n) / larger, (n - a) / larger),
        "that is |a - n / size|, as / comes before -; add parentheses": np.abs(a - n / larger),
        "that is the largest error; the task is one error for each entry": right.max(),
        "that is relative to the largest entry of all; each has its own": off / 10,
        "that compares the norms; each entry has its own error": norm(off) / max(norm(a), norm(n)),
    }
    # The floor has a check of its own.
    Call(sub, "relative_error", a, n).gives(right, slips, rtol=1e-6)


@builds_on(check_each_entry)
def check_negative_entries(sub):
    """Slopes may be negative; their size is not."""
    a, n = np.array([-4.0, -2.0, 1.0, -1.0]), np.array([3.0, -1.0, -1.0, -4.0])
    size = np.maximum(a, n)
    signed = AnyOf(np.abs(a - n) / np.maximum(size, 1e-8), np.abs(a - n) / size)
    slips = {
        "the size of -4 is 4: take absolute values before the maximum": signed,
        "the difference of the absolute values hides a wrong sign": [0.25, 0.5, 0.0, 0.75],
    }
    Call(sub, "relative_error", a, n).gives([1.75, 0.5, 2.0, 0.75], slips, rtol=1e-6)


@builds_on(check_each_entry, check_negative_entries)
def check_two_zeros_agree(sub):
    """Two zeros agree, with a floor and without."""
    a, n = np.array([0.0, 0.0, 2.0, 1.0]), np.array([0.0, 2.0, 0.0, 1.0])
    nan = "0 divided by 0 is NaN; two zeros agree, so their error is 0"
    for floor in (1e-8, 0.0):
        call = Call(sub, "relative_error", a, n, floor)
        call.gives([0.0, 1.0, 1.0, 0.0], {nan: [NAN, 1.0, 1.0, 0.0]}, rtol=1e-6)


@builds_on(check_each_entry)
def check_the_floor(sub):
    """Nothing is divided by less than the floor."""
    a, n = np.array([2e-9, 1.0]), np.array([1e-9, 2.0])
    mistakes = {
        "the floor is not used: divide by it where both entries are smaller": [0.5, 0.5],
        "something is added to the size; the floor is only the smallest size to divide by": AnyOf(
            [1e-9 / 1.2e-8, 1 / (2 + 1e-8)], [1e-9 / 2e-8, 1 / (2 + 1e-8)]
        ),
        "entries below the floor are not ignored, they are divided by it": [0.0, 0.5],
    }
    by_three = "divide by the largest of the three: |analytic|, |numeric| and floor"
    Call(sub, "relative_error", a, n, 1e-8).gives([0.1, 0.5], mistakes, otherwise=by_three)
    mistakes = {"the floor is an argument, and here it is not 1e-8": [0.1, 0.5]}
    Call(sub, "relative_error", a, n, 1e-9).gives([0.5, 0.5], mistakes)
    look_at = "a call without a floor takes the one of the starter, 1e-8"
    Call(sub, "relative_error", a, n).gives([0.1, 0.5], otherwise=look_at)
    a, n = np.array([3.0, 3e-9]), np.array([3.0 + 1e-9, 3e-9])
    call = Call(sub, "relative_error", a, n, 0.0)
    call.gives((n - a) / n, otherwise=SMALL)
    call = Call(sub, "relative_error", 3 * a, n, 0.0)
    call.gives_in_any_size(1 - n / (3 * a), 1, 1, of_result=0)


@builds_on(check_each_entry)
def check_nan_stays_nan(sub):
    """A NaN in either gradient is a NaN in the errors."""
    a, n = np.array([NAN, 1.0, 2.0]), np.array([1.0, NAN, 1.0])
    mistakes = {
        "a NaN was made 0, and looks like perfect agreement": [0.0, 0.0, 0.5],
        "np.fmax and nan_to_num drop NaN; it has to stay": [1.0, 1.0, 0.5],
    }
    Call(sub, "relative_error", a, n).gives([NAN, NAN, 0.5], mistakes)


TABLE = (
    # errors, kinks, and the word
    ([1e-7, 1e-9], False, "good"),
    ([1e-7], True, "good"),
    ([5e-8], False, "good"),  # that is not the limit itself, as others beside a limit
    ([1e-9, 2e-7], False, "suspicious"),
    ([1e-4, 1e-9], True, "fine with kinks"),
    ([5e-5], True, "fine with kinks"),
    ([1e-4], False, "suspicious"),
    ([2e-4, 0.0], True, "suspicious"),
    ([1e-2], False, "suspicious"),
    ([5e-3], False, "suspicious"),
    ([1e-9, 1e-9, 2e-2], False, "wrong"),
    ([2e-2], True, "wrong"),
)
LIMITS = ((1e-7, "good"), (1e-4, "fine with kinks"), (1e-2, "suspicious"))
WORDS = *(word for _, word in LIMITS), "wrong"


def read(error, kinks, limits=LIMITS):
    """Read one error, the right way or a wrong one."""
    for limit, word in limits:
        if error <= limit and (kinks or word != "fine with kinks"):
            return word
    return "wrong"


SLIPS = {
    "the largest error decides, not the first": lambda e, kinks: read(e[0], kinks),
    "the largest error decides, not the last": lambda e, kinks: read(e[-1], kinks),
    "the largest error decides, not the smallest": lambda e, kinks: read(min(e), kinks),
    "the largest error decides, not the mean": lambda e, kinks: read(np.mean(e), kinks),
    "the largest error decides, not the sum": lambda e, kinks: read(sum(e), kinks),
    "the largest error decides, not the median": lambda e, kinks: read(np.median(e), kinks),
    "what is kinks? without kinks, 'fine with kinks' is no answer": (
        lambda e, kinks: read(max(e), True)
    ),
    "'fine with kinks' is never the answer: what is kinks for?": (
        lambda e, kinks: read(max(e), False)
    ),
    "what is kinks here? it counts where it should not": lambda e, kinks: read(max(e), not kinks),
    "with kinks, a small error is still good: ask for the smallest limit first": (
        lambda e, kinks: read(max(e), kinks, LIMITS[1::-1] + LIMITS[2:])
    ),
    "small errors are at most the larger limits, too: ask for the smallest limit first": (
        lambda e, kinks: read(max(e), kinks, LIMITS[::-1])
    ),
}


def check_the_bands(sub):
    """The four bands, by the largest error, limits included."""
    rows = []
    for errors, kinks, right in TABLE:
        call = Call(sub, "band", np.array(errors), kinks)
        got = call.run()
        if isinstance(got, str) and got not in WORDS:
            call.refuse(got, right, f"the spelling; the words are {', '.join(WORDS)}", known=True)
        if isinstance(got, np.ndarray) and got.shape == (len(errors),):
            call.refuse(got, right, "one word for all errors: the largest of them decides")
        told = f"the largest error is {max(errors):g}, {'with' if kinks else 'without'} kinks: "
        rows.append((call, right, told + "which line of the table is that?"))
    mistakes = {says: [by(*row[:2]) for row in TABLE] for says, by in SLIPS.items()}
    below = itertools.product(*(((0.99 * limit, word), (limit, word)) for limit, word in LIMITS))
    excluded = [[read(max(e), kinks, limits) for e, kinks, _ in TABLE] for limits in below]
    give_all(rows, {"'at most' includes the limit itself: <=": AnyOf(*excluded[:-1]), **mistakes})
    look_at = "a call without kinks means that there are none, as in the starter: kinks=False"
    Call(sub, "band", np.array([1e-5])).gives("suspicious", {look_at: "fine with kinks"})


@after(check_the_bands)
def check_nan_is_wrong(sub):
    """A NaN among the errors is wrong, at any place."""
    mistakes = {
        "a NaN got through: take np.max, and let NaN end in the last branch": AnyOf(*WORDS[:-1])
    }
    for errors in ([NAN, 1e-9], [1e-9, NAN], [NAN]):
        Call(sub, "band", np.array(errors)).gives("wrong", mistakes)
