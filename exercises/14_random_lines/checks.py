"""Checks of exercise 14."""

import numpy as np

from expect import (
    SUM_OF_CUBES,
    SUM_OF_SQUARES,
    AnyOf,
    Call,
    Part,
    after,
    builds_on,
    same,
)

H = 0.25
X = np.array([1.0, 2.0, -1.0])
LINES = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [-1.0, 1.0, 1.0], [1.0, 1.0, -1.0]])
ERRORS = np.array([0.0, 0.5, -1.0])
RESIDUALS = LINES @ ERRORS

# A claim that is three times too large. What is measured along four lines is off by OFF.
RIGHT, OFF = np.array([2.0, 4.0, -1.0]), np.array([0.125, -0.125, 0.125, 0.125])
ALONG = LINES[[1, 0, 2, 3]]
OF_CLAIM = ALONG @ (3 * RIGHT) - (ALONG @ RIGHT + OFF)

# On which an error of -3 in entry 4 is to be found, with half of one in entry 0 beside it.
CHOSEN = np.random.default_rng(162).choice([-1.0, 1.0], size=(4, 6))


def check_signs(sub):
    """Each sign is drawn independently, and +1 as often as -1."""
    call = Call(sub, "signs", 0, 60, 50)
    got, expected = call.has_shape((60, 50), signs), "60 rows of 50 signs, each +1 or -1"
    other = np.unique(got[np.abs(got) != 1])
    if other.size:
        drawn_too = "integers(-1, 2) draws 0, too" if -1 in got else "0 has to become -1"
        look_at = "a sign is +1 or -1" if other.any() else drawn_too
        call.refuse(f"entries such as {other[0]:.3g}", expected, look_at)
    if np.ptp(got) == 0:
        look_at = "integers(0, 1) draws 0 only: the upper end does not count"
        call.refuse(f"{got[0, 0]:g}, always", expected, look_at)
    for axis, what in ((got, "lines"), (got.T, "entries")):
        alike = np.abs(axis @ axis.T) / len(axis.T)
        np.fill_diagonal(alike, 0)
        if alike.max() > 0.8:
            look_at = "each entry of each line has its own sign: size=(lines, n)"
            call.refuse(f"two {what} whose signs are the same, or all opposite", expected, look_at)
    if np.abs(got.mean()) > 0.1:
        share = f"{np.mean(got > 0):.0%} of the signs are +1"
        call.refuse(share, "half of them", "is +1 as likely as -1?")
    varies(call, got.sum(axis=1), "line")
    varies(call, got.sum(axis=0), "column")


@after(check_signs)
def check_the_seed(sub):
    """The same seed gives the same signs, and another seed gives others."""
    first = Call(sub, "signs", 1, 8, 40).run()
    again = Call(sub, "signs", 1, 8, 40)
    again.where = "called for the second time"
    if not same(got := again.run(), first):
        again.refuse(got, first, "where does chance come from? np.random.default_rng(seed)")
    other = Call(sub, "signs", 2, 8, 40)
    if np.array_equal(other.run(), first):
        other.refuse("the signs of seed 1", "other signs", "does the seed enter?")
    varies(other, [np.sum(Call(sub, "signs", seed, 60, 50).run()) for seed in range(5)], "draw")


def check_the_slope_along_a_line(sub):
    """Along 1, -1, 1 the slope of sum(x*x*x) at 1, 2, -1 is measured as -6 + h*h."""
    v = np.array([1.0, -1.0, 1.0])
    ahead, at, behind = (np.sum((X + s * v) ** 3) for s in (H, 0, -H))
    unit = AnyOf((-6 + H * H / 3) / np.sqrt(3), *((-6 + H * H) / by for by in (np.sqrt(3), 3, v)))
    no_parentheses = ahead - behind / (2 * H)
    slips = {
        "the two places are 2*h apart, not h": 2 * (-6 + H * H),
        "that is / 2 * h, which multiplies by h; add parentheses": (-6 + H * H) * H * H,
        "that is f ahead - f behind / (2*h), as / comes before -; add parentheses": no_parentheses,
        "that is the forward difference; step to both sides": AnyOf(
            (ahead - at) / H, (ahead - at) / (2 * H)
        ),
        "the difference of f is not divided by anything": ahead - behind,
        "the two values of f are added; subtract one from the other": (ahead + behind) / (2 * H),
        "x moves by h times v, not by v": (np.sum((X + v) ** 3) - np.sum((X - v) ** 3)) / (2 * H),
        "that is f behind minus f ahead; which of the two comes first?": 6 - H * H,
        "every entry moves by h times its own sign": 18 + 3 * H * H,
        "that is the slope along each axis; along a line there is one": 3 * X * X + H * H,
        "that is -6 exactly; the measured slope is off by h*h": -6.0,
        "use v as it is, and divide by 2*h alone": unit,
    }
    Call(sub, "slope_along", SUM_OF_CUBES, X, v, h=H).gives(-6 + H * H, slips, stand_in=slope_along)
    right = 3 * X**2 @ ERRORS + H * H * np.sum(ERRORS**3)
    Call(sub, "slope_along", SUM_OF_CUBES, X, ERRORS, h=H).gives_in_any_size(right, 1)


@builds_on(check_the_slope_along_a_line)
def check_the_residuals(sub):
    """A residual is the sum of the errors, each with its sign."""
    claimed, slopes = 2 * X + ERRORS, LINES @ (2 * X)
    call = Call(sub, "residuals", SUM_OF_SQUARES, X, claimed, LINES, h=H)
    call.where = f"{call.where}, whose slopes are 2 4 -2"
    slips = {
        "that is the claimed slope; subtract the measured one": LINES @ claimed,
        "that is the measured slope; subtract it from the claimed one": LINES @ (2 * X),
        "add the claimed entries up along the line: claimed @ v, one number for each line": AnyOf(
            claimed - slopes[:, None], claimed * LINES - slopes[:, None]
        ),
        "the slope is measured at x, not at the claimed gradient": LINES @ (claimed - 2 * claimed),
        "the measured slope is subtracted, not added": LINES @ claimed + slopes,
        "one residual for each line; take no mean": RESIDUALS.mean(),
    }
    call.gives(RESIDUALS, slips)
    right = RESIDUALS / 3 - H * H * np.sum(LINES**3, axis=1)
    call = Call(sub, "residuals", SUM_OF_CUBES, X, 3 * X**2 + ERRORS / 3, LINES, h=H)
    call.gives_in_any_size(right, 1, 0, 1)


@after(check_the_slope_along_a_line, check_the_residuals)
def check_two_evaluations_a_line(sub):
    """A line takes two evaluations, for any number of entries, and four lines take eight."""
    call = Call(sub, "slope_along", SUM_OF_CUBES, np.linspace(-1, 1, 40), np.ones(40), h=H)
    call.calls_f(2, "all entries move at once")
    call = Call(sub, "residuals", SUM_OF_SQUARES, X, 2 * X, LINES, h=H)
    call.calls_f(8, "two for each line; the claim takes none")


def check_the_certificate(sub):
    """The largest residual bounds every error, except in one of 2**K draws at most."""
    for r in (np.array([0.5, -1.5, 0.25, 1.25]), np.array([-2.0, 1.0, 0.5])):
        k, of_one = len(r), AnyOf(0.5, 1 - 0.5 / len(r))
        mistakes = {
            "take absolute values: the largest may be negative": r.max(),
            "that is the place of the largest; return its size": np.argmax(np.abs(r)),
            "the root of the sum of squares is a bound; the largest alone is one": (
                np.linalg.norm(r)
            ),
            "that is the smallest; an error may show on one line only": np.abs(r).min(),
            "the mean is no bound: half of the lines may show less": np.abs(r).mean(),
            "the sum is a bound, and a bad one": np.abs(r).sum(),
            "the bound comes first, then the probability": 1 - 0.5**k,
        }
        certificate("bound", sub, r).gives(np.abs(r).max(), mistakes)
        mistakes = {
            "that is the probability that the bound is wrong; return the one that it holds": 0.5**k,
            "one line misses with probability 1/2 at most; all lines have to miss": of_one,
            "1/2 to the power of K, not 1/2 times K": AnyOf(1 - 0.5 * k, 0.5 * k),
            "1/2 to the power of K, not 1/K": AnyOf(1 - 1 / k, 1 / k),
            "the probability is never exactly 1": 1.0,
            "a probability, from 0 to 1, not percent": 100 * (1 - 0.5**k),
        }
        certificate("confidence", sub, r).gives(1 - 0.5**k, mistakes)
    many = np.arange(1.0, 41.0)
    certificate("bound", sub, many).gives_in_any_size(40.0, 1)
    certificate("confidence", sub, many[:25]).gives(1 - 0.5**25, rtol=1e-14)


def check_the_suspect(sub):
    """The error is in the entry whose signs match the residuals."""
    r = -3 * CHOSEN[:, 4] - 0.5 * CHOSEN[:, 0]
    matches = r @ CHOSEN / 4
    slips = {
        "the entry that matches best, not worst": np.argmin(np.abs(matches)),
        "yours is the one next to it: are entries counted from 0?": AnyOf(3, 5),
        "opposite signs match just as well: take the largest absolute value": np.argmax(matches),
        "that is a line; an entry is a column of lines": np.argmax(np.abs(r)),
        "i comes first, then its error": matches[4],
    }
    found("i", sub, r, CHOSEN).gives(4, slips)
    slips = {
        "that is one residual; the error is the mean of residuals times signs": AnyOf(
            np.abs(r).max(), *r
        ),
        "the mean over the lines, not the sum": AnyOf(4 * matches[4], -4 * matches[4]),
        "divided by the number of entries; the mean is over the lines": 4 * matches[4] / 6,
    }
    found("error", sub, r, CHOSEN).gives(matches[4], slips)
    found("error", sub, r, CHOSEN).gives_in_any_size(matches[4], 1)


@builds_on(check_the_residuals, check_the_suspect)
def check_one_of_a_thousand_is_found(sub):
    """On 24 lines one wrong entry of a thousand is found."""
    for seed, at, off in ((1, 613, 0.25), (2, 7, -2.0)):
        lines = drawn(seed, 24, 1000)
        f, x = SUM_OF_SQUARES, np.random.default_rng(seed).normal(size=1000).round(1)
        claimed = 2 * x
        claimed[at] += off
        call = Call(sub, "residuals", f, x, claimed, lines, h=H)
        call.where = f"{call.where}, entry {at} is off by {off:g}"
        r = call.gives(off * lines[:, at], rtol=1e-6)
        found("i", sub, r, lines).gives(at)
        found("error", sub, r, lines).gives(off, rtol=1e-6)


def check_the_repaired_slopes(sub):
    """The slopes of f are those that the claim gives, minus its residuals."""
    evasions = {"the first repair fits on every line: judge each row by its own": np.zeros(4)}
    mistakes = {
        "claimed minus measured is the residual, so what is measured?": [False, False, False, True],
        "the claim is wrong, so its slopes are no reference": [False, False, True, False],
        "residuals are differences of slopes, not slopes": [False, True, False, False],
    }
    slips = {"True is for a repair that fits": [False, True, True, True]}
    expected = np.array([True, False, False, False])
    repairs(sub, RIGHT * [[1], [2], [3], [5]]).gives(expected, slips | mistakes, evasions=evasions)


@builds_on(check_the_repaired_slopes)
def check_the_repair_fits_all_lines(sub):
    """A repair mends the claim only if all lines accept it; several repairs may, or none."""
    errors = np.array([[0, 0, 0], [2, -2, 0], [-1, -1, -1], [1, 2, 1], [-0.25, -0.25, -0.25]])
    off = errors @ ALONG.T - OFF
    mistakes = {
        "one line is not enough: errors cancel; all lines have to accept it": AnyOf(
            (np.abs(off) <= 0.5).any(axis=1), *(np.abs(off[:, [0, -1]]) <= 0.5).T
        ),
        "take absolute values: -3 is below the allowed 0.5, too": (off <= 0.5).all(axis=1),
        "in a sum or a mean over the lines residuals cancel": AnyOf(
            np.abs(off.sum(axis=1)) <= 0.5, np.abs(off.mean(axis=1)) <= 0.5
        ),
        "the mean hides a line that refuses": np.abs(off).mean(axis=1) <= 0.5,
    }
    expected = np.array([True, False, False, False, False])
    repairs(sub, RIGHT + errors).gives(expected, mistakes)
    mistakes = {"several repairs may fit: judge each alone": [False, True, False]}
    near = RIGHT + np.array([[0.25, 0, 0], [0, 0, 0], [0, 0, 1]])
    repairs(sub, near).gives(np.array([True, True, False]), mistakes)
    fits = np.array([True, True, False])
    repairs(sub, near).gives_in_any_size(fits, 1, 0, 1, 1, 1, of_result=0)
    none = repairs(sub, near[2:])
    none.gives(np.array([False]), {"the best of them need not fit": [True]})


@after(check_the_residuals, check_the_suspect, check_the_repair_fits_all_lines)
def check_inputs_are_left_alone(sub):
    """No function changes its arguments."""
    Call(sub, "slope_along", SUM_OF_SQUARES, X, LINES[1], h=H).leaves_its_arguments()
    Call(sub, "residuals", SUM_OF_SQUARES, X, 2 * X, LINES, h=H).leaves_its_arguments()
    Call(sub, "certificate", -RESIDUALS).leaves_its_arguments()
    found("i", sub, -RESIDUALS, LINES).leaves_its_arguments()
    repairs(sub, RIGHT * [[1], [2]]).leaves_its_arguments()


@after(check_one_of_a_thousand_is_found)
@builds_on(check_the_repaired_slopes)
def heldout_many_entries(sub):
    """One wrong entry of 5000 is found, too, and one line and one entry are enough to run."""
    lines = drawn(3, 24, 5000)
    found("i", sub, -0.5 * lines[:, 4999], lines).gives(4999)
    found("error", sub, np.array([2.0]), np.array([[-1.0]])).gives(-2.0)
    right = np.random.default_rng(4).normal(size=5000)
    repaired = np.stack([right, right[::-1], -right])
    call = Call(sub, "mends", lines @ (-2 * right), lines, -right, repaired, 1e-6)
    call.gives(np.array([True, False, False]))


def varies(call, sums, what):
    """Refuse signs of which a fixed number is +1."""
    if not np.ptp(sums):
        look_at = "each sign is drawn independently, so the number of those that are +1 varies"
        call.refuse(f"as many +1 in every {what}", "sometimes more, sometimes fewer", look_at)


def drawn(seed, lines, n):
    """Draw signs, so that what is looked at does not depend on how the learner draws them."""
    return np.random.default_rng(seed).choice([-1.0, 1.0], size=(lines, n))


def signs(seed, lines, n):
    """Stand in for the learner's, where another function is judged."""
    return drawn(seed, lines, n)


def slope_along(f, x, v, h):
    """Stand in for the learner's, where another function is judged."""
    return (f(x + h * v) - f(x - h * v)) / (2 * h)


def certificate(name, sub, r):
    """Prepare a call, to look at one of its two numbers."""
    return Part(sub, "certificate", r, part=name, parts=("bound", "confidence"))


def repairs(sub, repaired):
    """Prepare a call, to judge repairs of the claim that is three times too large."""
    return Call(sub, "mends", OF_CLAIM, ALONG, 3 * RIGHT, repaired, 0.5)


def found(name, sub, r, lines):
    """Prepare a call, to look at one of its two numbers."""
    return Part(sub, "suspect", r, lines, part=name, parts=("i", "error"))
