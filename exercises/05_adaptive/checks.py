"""Checks of exercise 5."""

import itertools
from collections import namedtuple

import numpy as np

from expect import AnyOf, Call, Formula, after, builds_on, few_digits, shown

NOTHING = "nothing was kept: is the sum for the first step smaller than best_error?"
NONE = "that is five_point(f, x, h / 2) for none of the STEPS"
FIRST, LAST = 0.1, 0.1 / 4**13
NEAR = 0.05  # of an error bar; the order of the operations changes less, and a mistake more
FUNCTIONS = (
    # that no single step can serve, with a point and the true slope there
    (Formula("sin(x)", np.sin), 1.0, np.cos(1.0)),
    (Formula("1000 + x*x", lambda x: 1000 + x * x), 0.7, 1.4),
    (Formula("sin(20000*x)", lambda x: np.sin(20000 * x)), 0.7, 20000 * np.cos(14000.0)),
)


def check_five_points(sub):
    """A curve of degree 4 has no error left, and one of degree 5 a small one."""
    h = 0.25
    fourth = Formula("x**4", lambda x: x * x * x * x)
    near, half, far = 4 + 4 * h * h, 4 + h * h, 4 + 16 * h * h  # central differences at 1
    slips = {
        "that is the central difference at h; it needs the one at 2*h too": near,
        "that is the central difference at 2*h; it needs the one at h too": far,
        "the 4 belongs to the shorter step": AnyOf((4 * far - near) / 3, (near - 4 * far) / 3),
        "the sum of the weights is 3: divide by it": 4 * near - far,
        "subtract the two, do not add them": AnyOf(
            *((4 * near + far) / n for n in (3, 5)), (near + far) / 2
        ),
        "the weights are 4 and -1": AnyOf(
            *((k * near - far) / n for k in (2, 3, 5) for n in (k - 1, 3))
        ),
        "the longer step is 2*h, not h*h": (4 * near - (4 + 4 * h**4)) / 3,
        "both differences are taken at x": (4 * near - (32 + 8 * h * h)) / 3,
        "the difference of f is not divided by the step": 4 * h,
        "that is / 12 * h, which multiplies by h; add parentheses": 4 * h * h,
        "the second step is twice the first, not half of it": (4 * near - half) / 3,
        "4 minus 1 is 3: divide by 3": AnyOf(*((4 * near - far) / n for n in (2, 4, 5, 6, 12))),
        "that is 4 * central(h) - central(2*h) / 3, as / comes before -; add parentheses": 4 * near
        - far / 3,
    }
    Call(sub, "five_point", fourth, 1.0, h=h).gives(4.0, slips, stand_in=five_point)
    fifth = Formula("x**5", lambda x: x * x * x * x * x)
    mistakes = {"that is the slope by the rule; the task is to measure it": 5.0}
    Call(sub, "five_point", fifth, 1.0, h=h).gives(5 - 4 * h**4, mistakes, stand_in=five_point)


@builds_on(check_five_points)
def check_a_pair_comes_back(sub):
    """A value and its error bar come back, and for sin(x) the value is right."""
    call, value, error = pair(sub, Formula("sin(x)", np.sin), 1.0)
    if abs(error - np.cos(1.0)) < 1e-9:
        look_at = "the value comes first, then its error bar"
        call.refuse((value, error), (error, value), look_at, known=True)
    if not abs(value - np.cos(1.0)) < 1e-9:
        look_at = look_at_the_steps(sub, np.sin, 1.0, value, error)
        call.refuse(
            told(value, error), shown(np.cos(1.0), 9), look_at, known=look_at not in (NONE, NOTHING)
        )


@after(check_a_pair_comes_back)
@builds_on(check_five_points)
def check_the_error_bar_is_honest(sub):
    """The true slope is within the error bar."""
    for f, x, slope in FUNCTIONS:
        call, value, error = pair(sub, f, x)
        off = abs(value - slope)
        if not off <= error:
            look_at = look_at_the_steps(sub, f, x, value, error)
            expected = f"an error bar of at least {shown(off, 2)}, to reach the true slope"
            call.refuse(told(value, error), expected, look_at, known=off <= 1e-6 * abs(slope))


@builds_on(check_five_points, check_a_pair_comes_back)
def check_one_setting_for_all(sub):
    """Of a fast wave and a small curve on a large constant, value and bar are right to 6 digits."""
    answers = []
    for f, x, slope in FUNCTIONS:
        call, value, error = pair(sub, f, x)
        answers.append((call, value, error, f, x, 1e-6 * abs(slope)))
        if not abs(value - slope) <= 1e-6 * abs(slope):
            call.refuse(value, slope, look_at_the_steps(sub, f, x, value, error))
    for call, value, error, f, x, allowed in answers:
        if not error <= allowed:
            look_at = look_at_the_steps(sub, f, x, value, error)
            expected = f"an error bar of at most {shown(allowed, 2)}"
            call.refuse(told(value, error), expected, look_at, known=True)


@after(check_a_pair_comes_back)
@builds_on(check_five_points, check_the_error_bar_is_honest, check_one_setting_for_all)
def check_the_best_of_all_steps(sub):
    """The answer is five_point(h/2) where truncation + rounding is smallest, and that sum."""
    for f, x in (
        # At the first two truncation is the larger part: there h and h/2 can be told apart.
        (Formula("-sin(16*x) - 50", lambda x: -np.sin(16 * x) - 50), -0.7),
        (Formula("sin(2*x)", lambda x: np.sin(2 * x)), -0.7),
        (Formula("sin(x)", np.sin), -40.0),
        # The first step of all is the best one, and then the last one.
        (Formula("x*x*x", lambda x: x * x * x), 2.0),
        (Formula("sin(6e6*x)", lambda x: np.sin(6e6 * x)), 0.001),
        (Formula("1e-12 * sin(2*x)", lambda x: 1e-12 * np.sin(2 * x)), -0.7),
        (Formula("1e12 * sin(2*x)", lambda x: 1e12 * np.sin(2 * x)), -0.7),
    ):
        call, value, bar = pair(sub, f, x)
        if not any(is_best(form, f.f, x, value, bar) for form in forms_of(sub, f.f, x)):
            best = min(bars(f.f, x), key=sum_of)
            look_at = look_at_the_steps(sub, f, x, value, bar)
            call.refuse(told(value, bar, 15), told(best.fine, sum_of(best), 15), look_at)


@builds_on(check_the_best_of_all_steps)
def heldout_other_functions(sub):
    """It works for a slope below 0, another fast wave, and another large constant, too."""
    for f, x, slope in (
        (Formula("exp(x)", np.exp), 0.5, np.exp(0.5)),
        (Formula("1/x", lambda x: 1 / x), 0.7, -1 / 0.49),
        (Formula("sin(300*x)", lambda x: np.sin(300 * x)), 0.4, 300 * np.cos(120.0)),
        (Formula("1e5 + exp(x)", lambda x: 1e5 + np.exp(x)), 1.0, np.exp(1.0)),
    ):
        call, value, error = pair(sub, f, x)
        allowed = 1e-5 * abs(slope)
        if not abs(value - slope) <= error <= allowed:
            expected = f"{shown(slope, 9)} within it, and a bar below {shown(allowed, 2)}"
            call.refuse(told(value, error), expected)


def told(value, error, digits=9):
    """Write an answer on one line."""
    return f"{shown(value, digits)} with an error bar of {shown(error, 2)}"


def pair(sub, f, x):
    """Make a call of adaptive, which must give two numbers; return it, and them."""
    call = Call(sub, "adaptive", f, x)
    got = call.run()
    if got is None:
        call.refuse(got, "(value, error)", "nothing came back: is there a return, after the loop?")
    two_in_an_array = isinstance(got, np.ndarray) and got.shape == (2,)
    if not two_in_an_array and not (isinstance(got, tuple | list) and len(got) == 2):
        call.refuse(got, "(value, error)", "two numbers come back: return value, error")
    if says := few_digits(got[0], got[0]):
        call.refuse(got, "float64", says, known=True)
    if not got[1] >= 0:
        look_at = "is there an abs around each part?"
        call.refuse(f"an error bar of {shown(got[1], 2)}", "0 or more", look_at)
    return call, *got


def look_at_the_steps(sub, f, x, value, error):
    """Say to which step a value belongs, and what its error bar should be."""
    if np.isnan(value):
        return NOTHING
    every = [list(bars(f, x, form)) for form in forms_of(sub, f, x)]
    for bar in itertools.chain(*every):
        both = bar.truncation + bar.rounding
        if np.isclose(value, bar.fine, rtol=1e-13, atol=0):
            break
        if np.isclose(value, bar.coarse, rtol=1e-13, atol=0) and np.isclose(error, both, atol=0):
            return "that is five_point(h); the shorter one of the two is better: five_point(h/2)"
    else:
        return NONE
    wrong_step = {
        FIRST: "that is the longest step: is every step tried, and the best one kept?",
        LAST: "that is the last step, not the one with the smallest sum: is it returned?",
    }
    for says, wrong in (
        (wrong_step.get(bar.step, "a smaller sum was to be had: try every step"), both),
        (
            "that is the larger one of truncation and rounding, or one alone; add them",
            max(bar.truncation, bar.rounding),
        ),
        ("the error bar is truncation alone; add rounding", bar.truncation),
        ("the error bar is rounding alone; add truncation", bar.rounding),
        ("rounding is 4 * EPS * ...; where is the 4?", bar.truncation + bar.rounding / 4),
        (
            "the error bar of another step: keep value and error together",
            sum_of(every[0][-1]),
        ),
        ("is there an abs around each part? f(x) or x may be negative", bar.without_abs),
        ("where is |x * slope| in rounding?", bar.without_x),
    ):
        if np.isclose(error, wrong, rtol=1e-6, atol=0):
            return says
    parts = f"truncation is {shown(bar.truncation, 2)} and rounding {shown(bar.rounding, 2)}"
    return f"at the step of this value, h = {shown(bar.step, 2)}, {parts}; the bar is their sum"


def five_point(f, x, h):
    """Calculate as the first task has it."""
    near, far = ((f(x + s) - f(x - s)) / ((x + s) - (x - s)) for s in (h, 2 * h))
    return (4 * near - far) / 3


def of_a_book(f, x, h):
    """Calculate by the formula of a book, from the steps wished for."""
    return (f(x - 2 * h) - 8 * f(x - h) + 8 * f(x + h) - f(x + 2 * h)) / (12 * h)


def in_pairs(f, x, h):
    """Calculate by the same formula, the differences first."""
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


def forms_of(sub, f, x):
    """Yield the forms that a learner may choose, also to write them out in adaptive.

    The rounding depends on how the five points are combined, and on whether the steps are those
    taken. The last form is the learner's own five_point, if it differs by rounding only.
    """
    yield from (five_point, of_a_book, in_pairs)

    def theirs(f, x, h):
        return Call(sub, "five_point", f, x, h=h).run()

    both = zip(bars(f, x), bars(f, x, theirs), strict=True)
    if all(abs(one.fine - other.fine) <= one.rounding for one, other in both):
        yield theirs


Bar = namedtuple("Bar", "step truncation rounding fine coarse without_abs without_x")


def bars(f, x, form=five_point):
    """Yield what each step gives, right and wrong."""
    for h in FIRST / 4.0 ** np.arange(14):
        coarse, fine = form(f, x, h), form(f, x, h / 2)
        truncation, unit = abs(coarse - fine), 4 * 2.0**-52 / h
        rounding = unit * (abs(f(x)) + abs(x * fine))
        without_abs = truncation + unit * (f(x) + abs(x * fine))
        without_x = truncation + unit * (abs(f(x)) + abs(fine))
        yield Bar(h, truncation, rounding, fine, coarse, without_abs, without_x)


def sum_of(bar):
    """Add both parts of an error bar."""
    return bar.truncation + bar.rounding


def is_best(form, f, x, value, error):
    """Whether value and error are those of the best step, for one form of the five points."""
    best = min(bars(f, x, form), key=sum_of)
    least = sum_of(best)
    of_the_longer = abs(value - best.coarse) < best.truncation / 4
    off = abs(error - least) > NEAR * least or abs(value - best.fine) > NEAR * least
    return not (off or (best.truncation > least / 2 and of_the_longer))
