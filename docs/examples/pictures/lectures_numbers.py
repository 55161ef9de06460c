"""The pictures of lectures 1 to 3 that no other page has: rounding, tolerances, steps."""

from itertools import pairwise

from pictures import drawing, lecture
from pictures.drawing import BLACK, BLUE, BROWN, GREEN, GREY, PALE, RED, box, dot, line, text
from pictures.lecture import WIDTH, arrow, bar, picture

# --- 1 rounding ------------------------------------------------------------------------------


def digits():
    """Show the digits of (x + h)^3, and those that are left when x^3 is taken away."""
    x, parts = 1.5, [text(20, 44, "h", anchor="start")]
    before = f"{x * x * x:.15f}"
    for column, words in ((130, "(x + h)³"), (520, "left")):
        parts.append(text(column, 44, words, anchor="start"))
    for row, h in enumerate((1e-1, 1e-4, 1e-8, 1e-12, 1e-15)):
        moved = x + h
        after = f"{moved * moved * moved:.15f}"
        same = next(k for k in range(len(after)) if after[k] != before[k])
        y = 100 + 60 * row
        parts.append(text(20, y, f"{h:.0e}", anchor="start"))
        spread = 'font-family="monospace" textLength="360" lengthAdjust="spacingAndGlyphs"'
        lost, kept = after[:same], f'<tspan fill="{BLUE}" font-weight="bold">{after[same:]}</tspan>'
        parts.append(f'<text x="130" y="{y}" fill="{GREY}" {spread}>{lost}{kept}</text>')
        count = len(after[same:].replace(".", ""))
        parts.append(text(520, y, f"{count} digits" if count > 1 else "1 digit", BLUE, "start"))
    return picture("The digits that are left of a difference", parts, 380)


# --- 2 tolerance -----------------------------------------------------------------------------


def beside():
    """Draw two pairs of numbers, each as high as its larger one; both differ by 0.001."""
    parts = []
    for left, pair in ((60, (1000.001, 1000.000)), (390, (0.003, 0.002))):
        for k, (value, colour) in enumerate(zip(pair, (RED, BLUE), strict=True)):
            tall = 280 * value / max(pair)
            parts.append(box(left + 120 * k, 330 - tall, 90, tall, colour))
            parts.append(text(left + 45 + 120 * k, 362, f"{value:.3f}", colour))
    parts += [line(30, 330, 650, 330), text(165, 34, "analytic, numeric")]
    parts.append(text(495, 34, "analytic, numeric"))
    return picture("The same difference beside two sizes", parts, 390)


def bands():
    """Draw what a relative error is called, for a smooth function and with kinks."""
    x = drawing.Axis(1e-9, 1, 20, WIDTH - 20, log=True)
    good, wrong = (1e-9, GREEN, "good"), (1e-2, RED, "wrong")
    rows = [
        ("a smooth function", [good, (1e-7, BROWN, "suspicious"), wrong]),
        ("with kinks", [good, (1e-7, BLUE, "fine"), (1e-4, BROWN, "suspicious"), wrong]),
    ]
    parts = []
    for row, (name, ranges) in enumerate(rows):
        top = 60 + 150 * row
        parts.append(text(20, top - 14, name, anchor="start"))
        for (low, colour, words), (high, *_) in pairwise([*ranges, (1.0,)]):
            parts.append(box(x(low), top, x(high) - x(low) - 3, 70, colour))
            parts.append(text((x(low) + x(high)) / 2, top + 43, words, "#ffffff"))
    for value in (1e-7, 1e-4, 1e-2):
        parts.append(text(x(value), 328, f"{value:.0e}".replace("-0", "-")))
    parts.append(text(WIDTH / 2, 366, "relative error"))
    return picture("What a relative error is called", parts, 385)


def allowed():
    """Draw the allowed error against the size of the numeric value."""
    atol, rtol = 1e-6, 1e-3
    x = drawing.Axis(1e-7, 10, 90, WIDTH - 20, log=True)
    y = drawing.Axis(1e-8, 1e-1, 350, 20, log=True)
    sizes = [10 ** (k / 10 - 7) for k in range(81)]
    parts = [line(90, 350, WIDTH - 20, 350), line(90, 20, 90, 350)]
    parts.append(drawing.curve([(x(s), y(atol)) for s in sizes], GREEN, "7 5"))
    parts.append(
        drawing.curve([(x(s), y(rtol * s)) for s in sizes if rtol * s > 1e-8], BROWN, "7 5")
    )
    parts.append(drawing.curve([(x(s), y(atol + rtol * s)) for s in sizes], BLUE))
    parts.append(text(x(3e-6), y(atol) - 22, "atol decides", GREEN))
    parts.append(text(x(1e-1) - 20, y(1e-3), "rtol decides", BROWN, "end"))
    parts.append(text(WIDTH / 2, 408, "|numeric|, and above it what is allowed"))
    for value, words in ((1e-6, "1e-6"), (1e-3, "1e-3")):
        parts.append(text(82, y(value) + 8, words, anchor="end"))
    parts += [text(x(1e-6), 374, "1e-6"), text(x(1e-3), 374, "1e-3"), text(x(1), 374, "1")]
    return picture("The allowed error", parts, 425)


def small():
    """Draw what is allowed around a numeric value, and a claim that is off by more than 4 times."""
    analytic, numeric, rtol, atol = 4.84e-05, 2.235e-04, 1e-2, 1e-3
    allowed = atol + rtol * numeric
    x = drawing.Axis(-1e-3, 1.45e-3, 30, WIDTH - 30)
    low, high = x(numeric - allowed), x(numeric + allowed)
    parts = [box(low, 50, high - low, 180, PALE), text((low + high) / 2, 34, "allowed")]
    for y, value, words, colour in (
        (100, analytic, "analytic", RED),
        (180, numeric, "numeric", BLUE),
    ):
        parts += [line(x(0), y, x(value), y, colour, width=3), dot(x(value), y, colour)]
        parts.append(text(x(value) + 16, y + 8, words, colour, "start"))
    parts.append(line(x(0), 50, x(0), 230, BLACK, "7 5", width=2))
    for value in (-5e-4, 0, 5e-4, 1e-3):
        parts.append(line(x(value), 230, x(value), 240))
        parts.append(text(x(value), 268, f"{value:g}".replace("-", "−")))
    return picture("Both are small beside what is allowed", parts, 285)


# --- 3 step ----------------------------------------------------------------------------------


def no_step():
    """Draw bounds on the error of a central difference at 0.7, for two functions."""
    x = drawing.Axis(1e-11, 1e-2, 90, WIDTH - 20, log=True)
    y = drawing.Axis(1e-15, 10, 350, 20, log=True)

    def fast(h):  # sin(20000x): h^2 f'''/6, and the rounding of its argument, 14000
        return (20000 * h) ** 2 / 6 + 2.0**-40 / (20000 * h)

    def high(
        h,
    ):  # 1000 + x^2: no truncation, but the rounding of values near 1000; its slope is 1.4
        return 2.0**-44 / h / 1.4

    parts = [line(90, 350, WIDTH - 20, 350), line(90, 20, 90, 350)]
    for curve, colour in ((fast, BLUE), (high, RED)):
        steps = [10 ** (k / 10 - 11) for k in range(91)]
        inside = [h for h in steps if 1e-15 < curve(h) < 10]
        parts.append(drawing.curve([(x(h), y(curve(h))) for h in inside], colour))
    parts.append(line(90, y(1e-7), WIDTH - 20, y(1e-7), GREEN, "7 5", width=2))
    parts.append(text(WIDTH - 24, y(1e-7) - 10, "seven digits", GREEN, "end"))
    parts.append(text(x(1.5e-9), y(3e-14), "sin(20000x)", BLUE))
    parts.append(text(x(4e-10), y(1e-2), "1000 + x²", RED))
    for value in (1e-10, 1e-7, 1e-4):
        parts.append(text(x(value), 376, f"{value:.0e}"))
    parts.append(text(WIDTH - 24, 376, "step h", anchor="end"))
    for value, words in ((1e-14, "1e-14"), (1e-7, "1e-7"), (1, "1")):
        parts.append(text(82, y(value) + 8, words, anchor="end"))
    return picture("No step suits both", parts, 395)


def extrapolated():
    """Draw two estimates whose errors are 1 and 4, and where they point."""
    x = drawing.Axis(-0.6, 4.6, 20, WIDTH - 20)
    parts = [line(20, 60, WIDTH - 20, 60)]
    for value, colour, words in ((0, GREEN, "slope"), (1, BLUE, "h"), (4, BROWN, "2 h")):
        parts += [dot(x(value), 60, colour), text(x(value), 34, words, colour)]
    parts += [*arrow(x(4), 110, x(1), 110, BROWN), text(x(2.5), 150, "the gap: 3 parts")]
    parts += [*arrow(x(1), 110, x(0), 110, GREEN), text(x(0.5), 150, "1 more", GREEN)]
    return picture("Where two estimates point", parts, 175)


def court():
    """Draw three estimates with their bars, and a wrong claim that the worst of them allows."""
    at = 0.7

    def five_point(h):
        one, two = ((1 / (at + k) - 1 / (at - k)) / (2 * k) for k in (h, 2 * h))
        return (4 * one - two) / 3

    x = drawing.Axis(-2.13, -1.95, 20, WIDTH - 20)
    claim, slope = -1.98, -1 / at**2
    parts = [line(x(slope), 50, x(slope), 300, GREEN, width=2)]
    parts.append(line(x(claim), 50, x(claim), 300, RED, "7 5", width=2))
    parts += [text(x(slope), 34, "slope", GREEN), text(x(claim), 34, "wrong claim", RED)]
    for row, h in enumerate((0.2, 0.1, 0.05)):
        value, y = five_point(h / 2), 90 + 80 * row
        parts += bar(x(value), y, abs(x(value) - x(five_point(h))), BLUE)
        parts.append(text(20, y - 18, f"h = {h}", BLUE, "start"))
    parts.append(text(x(claim), 332, "stops at the first", RED))
    parts.append(text(x(slope), 332, "the shortest bar", GREEN))
    return picture("Who stops at the first estimate that agrees", parts, 350)


def level():
    """Draw |x| and its chords from -h to h, for three steps: all are level."""
    x, y = drawing.Axis(-1, 1, 20, WIDTH - 20), drawing.Axis(0, 1, 300, 20)
    parts = [drawing.curve([(x(-1), y(1)), (x(0), y(0)), (x(1), y(1))], GREY)]
    for h, words in ((0.8, "h"), (0.4, "h / 2"), (0.2, "h / 4")):
        parts.append(line(x(-h), y(h), x(h), y(h), BLUE, width=3))
        parts += [dot(x(side), y(h), BLUE) for side in (-h, h)]
        parts.append(text(x(h) + 16, y(h) + 14, words, BLUE, "start"))
    parts.append(text(20, 308, "slope 0, each time", BLUE, "start"))
    parts += [dot(x(0), y(0), RED), text(x(0) + 20, 318, "none here", RED, "start")]
    return picture("Each chord of a corner is level", parts, 335)


def files():
    """Return the text of the pictures."""
    return lecture.files(digits, beside, bands, allowed, small, no_step, extrapolated, court, level)
