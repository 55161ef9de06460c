"""The error bar of the check against its step: truncation and rounding, and where they meet."""

from math import sqrt

from pictures import drawing

GOLDEN = (1 + sqrt(5)) / 2
EPS = 2.0**-52

STEPS = [10 ** (k / 20) for k in range(-160, 1)]
LEAST, MOST = 1e-15, 1e-3


def truncation(h, speed=1.0):
    """Disagreement of two five-point differences, for a fifth derivative of speed^4."""
    return (speed * h) ** 4 / 120 * (GOLDEN**-2 - GOLDEN**-6)


def rounding(h):
    """Sixteen standard deviations of the rounding of f, which are 0.3 eps, for f of size 1."""
    return 16 * 0.3 * EPS / h


def files():
    """Return the text of the one file."""
    x = drawing.across(STEPS[0], STEPS[-1], log=True)
    y = drawing.up(LEAST, MOST, log=True)
    x_ticks = [(10.0**k, f"1e{k}" if k else "1") for k in range(-8, 1, 2)]
    y_ticks = [(10.0**k, f"1e{k}") for k in range(-15, -2, 3)]
    parts = drawing.grid(x, y, x_ticks, y_ticks, "step h", "error, for a slope of 1")

    def bar(error, colour, dashes=""):
        seen = [(x(h), y(error(h))) for h in STEPS if LEAST <= error(h) <= MOST]
        parts.append(drawing.curve(seen, colour, dashes))

    def words(h, error, *lines, colour, anchor="middle"):
        for k, line in enumerate(lines):
            parts.append(drawing.text(x(h), y(error) + 19 * k, line, colour, anchor))

    parts.append(drawing.line(x.start, y(1e-6), x.end, y(1e-6), drawing.GREEN, "6 4"))
    words(1e-6, 2e-6, "allowed: rtol × 1", colour=drawing.GREEN)
    bar(lambda h: truncation(h, 100), drawing.GREY, "3 4")
    words(
        2e-3,
        2e-4,
        "truncation, if f changes",
        "100 times as fast",
        colour=drawing.GREY,
        anchor="end",
    )
    bar(rounding, drawing.RED, "8 4")
    words(1.5e-7, 2e-10, "rounding ~ 1/h", colour=drawing.RED)
    bar(truncation, drawing.RED, "2 3")
    words(0.05, 2e-10, "truncation", "~ h^4", colour=drawing.RED, anchor="start")
    bar(lambda h: truncation(h) + rounding(h), drawing.BLUE)
    first = (16 * 0.3 * EPS / truncation(1.0)) ** (1 / 5)  # where the two are equal
    parts.append(drawing.dot(x(first), y(truncation(first) + rounding(first)), drawing.BLUE))
    words(
        3e-7,
        5e-13,
        "the error bar is their sum;",
        "the first step is at the dot",
        colour=drawing.BLUE,
    )
    return {"error_bar.svg": drawing.picture("The error bar against the step", parts, font=15)}
