"""The pictures of the lectures that no other page has, to be read from the last row."""

from fractions import Fraction
from itertools import pairwise, product
from math import cos, exp, pi, sin, sqrt
from random import Random

from pictures import drawing
from pictures.drawing import BLACK, BLUE, BROWN, GREEN, GREY, PALE, RED, box, dot, line, text

FONT = 24
WIDTH = drawing.WIDTH


def picture(title, parts, height):
    """Return the text of a picture."""
    return drawing.picture(title, parts, height=height, font=FONT)


def arrow(x1, y1, x2, y2, colour=GREY):
    """Draw a straight arrow."""
    length = sqrt((x2 - x1) ** 2 + (y2 - y1) ** 2)
    across, down = 14 * (x2 - x1) / length, 14 * (y2 - y1) / length
    sides = [(x2 - across + s * down / 2, y2 - down - s * across / 2) for s in (1, -1)]
    return [line(x1, y1, x2, y2, colour, width=3), drawing.region([(x2, y2), *sides], colour)]


def bar(x, y, half, colour):
    """Draw a measured value and its error bar, lying."""
    ends = [line(x + s * half, y - 10, x + s * half, y + 10, colour, width=3) for s in (-1, 1)]
    return [line(x - half, y, x + half, y, colour, width=3), *ends, dot(x, y, colour)]


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


# --- 4 chain rule ----------------------------------------------------------------------------


def upstream():
    """Draw a layer between its input and the loss: numbers to the right, gradients to the left."""
    parts = []
    for left, words in ((210, "layer"), (440, "the rest")):
        parts.append(f'<rect x="{left}" y="110" width="120" height="90" fill="{PALE}"/>')
        parts.append(text(left + 60, 163, words))
    for x1, x2, words in ((90, 205, "x"), (335, 435, "y"), (565, 660, "loss")):
        parts += [*arrow(x1, 132, x2, 132, BLUE), text((x1 + x2) / 2, 112, words, BLUE)]
        parts += arrow(x2, 178, x1, 178, RED)
    parts += [
        text(148, 218, "the answer", RED),
        text(385, 224, "upstream", RED),
        text(612, 218, "1", RED),
    ]
    parts.append(text(WIDTH / 2, 56, "values: to the right", BLUE))
    parts.append(text(WIDTH / 2, 290, "gradients: to the left", RED))
    return picture("What a layer receives", parts, 310)


def softmax():
    """Draw the shares of three scores, and the slopes of the loss along them."""
    scores, right = (2.0, 1.0, 0.0), 1
    total = sum(exp(s) for s in scores)
    shares = [exp(s) / total for s in scores]
    slopes = [p - (k == right) for k, p in enumerate(shares)]
    parts = []
    for left, values, name in ((40, shares, "p"), (370, slopes, "slope")):
        ground = 230
        parts += [line(left, ground, left + 290, ground), text(left + 145, 36, name)]
        for k, value in enumerate(values):
            colour = GREEN if value < 0 else RED if left > 40 else BLUE
            tall = 160 * abs(value)
            parts.append(
                box(left + 20 + 90 * k, ground if value < 0 else ground - tall, 70, tall, colour)
            )
            over = ground + tall + 28 if value < 0 else ground - tall - 10
            parts.append(text(left + 55 + 90 * k, over, f"{value:.2f}", colour))
    parts.append(text(40 + 145, 262, "the right class"))
    return picture("The shares, and the slopes of the loss", parts, 400)


# --- 5 network -------------------------------------------------------------------------------


def sheet(x, y, rows, columns, colour, side=24):
    """Draw a matrix as a sheet of squares."""
    return [
        box(x + side * j, y + side * i, side - 2, side - 2, colour)
        for i, j in product(range(rows), range(columns))
    ]


def shapes():
    """Draw dW = A.T @ G and dA = G @ W.T as sheets of n, inputs and outputs."""
    n, inputs, outputs = 6, 4, 2
    parts = []
    for y, one, two, three in (
        (70, ("A.T", inputs, n, BLUE), ("G", n, outputs, RED), ("dW", inputs, outputs, GREEN)),
        (270, ("G", n, outputs, RED), ("W.T", outputs, inputs, BLUE), ("dA", n, inputs, GREEN)),
    ):
        for left, (name, rows, columns, colour) in zip(
            (60, 300, 500), (one, two, three), strict=True
        ):
            parts += sheet(left, y, rows, columns, colour)
            parts.append(text(left + 12 * columns, y - 12, name, colour))
        parts += [text(250, y + 60, "@"), text(440, y + 60, "=")]
    return picture("Only one order of the factors fits", parts, 430)


# --- 6 hiding places -------------------------------------------------------------------------


def branch():
    """Draw a clip, and points that all stand where it does nothing."""
    x, y = drawing.Axis(-2.2, 2.2, 20, WIDTH - 20), drawing.Axis(-1.6, 1.6, 330, 20)
    corners = [(-2.2, -1), (-1, -1), (1, 1), (2.2, 1)]
    parts = [drawing.curve([(x(a), y(b)) for a, b in corners], GREY)]
    parts += [dot(x(k / 10), y(k / 10), BLUE) for k in (-6, -2, 1, 3, 7)]
    parts.append(text(x(0.2), y(-0.45), "every test is here", BLUE, "start"))
    parts += [text(x(1.55), y(1.2), "none here", RED), text(x(-1.6), y(-0.8), "none here", RED)]
    return picture("A branch that no test takes", parts, 350)


# --- 7 checkers ------------------------------------------------------------------------------


def answers():
    """Draw what is allowed about a claim, and three measured slopes with their bars."""
    low, high = 250, 430
    parts = [box(low, 50, high - low, 270, PALE), text(340, 34, "allowed")]
    rows = [(330, 45, GREEN, "pass"), (560, 60, RED, "fail"), (440, 90, BROWN, "unsure")]
    for row, (place, half, colour, words) in enumerate(rows):
        y = 100 + 85 * row
        parts += [*bar(place, y, half, colour), text(30, y + 8, words, colour, "start")]
    parts.append(line(340, 50, 340, 320, BLACK, "7 5", width=2))
    parts.append(text(340, 352, "the claim"))
    return picture("Three answers", parts, 370)


def troubles():
    """Draw noise, the stairs of few digits, and a jump, each about the same line."""
    draw = Random(5)
    curves = {
        "noise": [(k, k + draw.uniform(-3, 3)) for k in range(17)],
        "few digits": [(k / 8, 4 * round(k / 32)) for k in range(129)],
        "a jump": [(k / 8, k / 16 + (8 if k > 64 else 0)) for k in range(129)],
    }
    parts = []
    for place, (name, points) in enumerate(curves.items()):
        x = drawing.Axis(0, 16, 20 + 225 * place, 205 + 225 * place)
        y = drawing.Axis(-3, 19, 290, 60)
        if name == "noise":
            parts += [dot(x(a), y(b), BLUE) for a, b in points]
        else:
            parts.append(drawing.curve([(x(a), y(b)) for a, b in points], BLUE))
        parts.append(text((x.start + x.end) / 2, 40, name))
    return picture("Noise, few digits, a jump", parts, 310)


# --- 8 layers --------------------------------------------------------------------------------


def paths():
    """Draw the three paths from one row of a column to another through batch norm."""
    parts = []
    for y, words, colour in (
        (70, "only if i is j", BLUE),
        (190, "mean", GREEN),
        (310, "var", BROWN),
    ):
        parts += [*arrow(130, 190, 250, y, colour), *arrow(440, y, 560, 190, colour)]
        parts.append(text(345, y + 8, words, colour))
    parts += [text(80, 198, "x[i]"), text(610, 198, "y[j]")]
    return picture("Three paths through batch norm", parts, 370)


def blocks():
    """Draw how many blocks of a filter of 2 by 2 contain each entry of an image of 3 by 3."""
    count = {place: 0 for place in product(range(3), repeat=2)}
    for i, j, p, q in product(range(2), repeat=4):
        count[i + p, j + q] += 1
    side, parts = 104, []
    for (row, column), times in count.items():
        left, top = 184 + side * column, 24 + side * row
        colour = {1: GREY, 2: BLUE, 4: RED}[times]
        parts += [box(left, top, side - 4, side - 4, colour)]
        parts.append(text(left + side / 2 - 2, top + side / 2 + 8, times, "#ffffff"))
    parts.append(text(WIDTH / 2, 372, "blocks that contain the entry"))
    return picture("Blocks overlap", parts, 390)


def windows():
    """Draw two windows and what goes back: to the largest entry, or to four that are equal."""
    parts = []
    for left, values in ((40, (1, 3, 0, 2)), (390, (0, 0, 0, 0))):
        winners = [value == max(values) for value in values]
        for k, (value, wins) in enumerate(zip(values, winners, strict=True)):
            x, y = left + 125 * (k % 2), 30 + 125 * (k // 2)
            parts += [box(x, y, 120, 120, BLUE if wins else GREY)]
            parts.append(text(x + 60, y + 52, value, "#ffffff"))
            share = "1" if sum(winners) == 1 else f"1/{sum(winners)}"
            parts.append(text(x + 60, y + 92, f"gets {share if wins else 0}", "#ffffff"))
    parts += [text(162, 320, "one winner"), text(512, 320, "four winners")]
    return picture("Who gets what comes back", parts, 340)


# --- 9 lines ---------------------------------------------------------------------------------


def along():
    """Draw the contours of a function of two variables, two axes and one random line."""
    parts = []
    for size in (40, 85, 135, 190):
        turn = [2 * pi * k / 60 for k in range(61)]
        round_ = [(340 + 1.6 * size * cos(t), 200 + 0.9 * size * sin(t)) for t in turn]
        parts.append(drawing.curve(round_, PALE))
    x, y = 420.0, 130.0
    parts += [line(x - 190, y, x + 190, y, GREY, width=2), line(x, 20, x, 320, GREY, width=2)]
    parts += [*arrow(x - 200, y - 100, x + 200, y + 100, BLUE), dot(x, y, RED)]
    parts += [text(x + 30, y - 20, "x", RED), text(x + 150, y + 125, "x + t v", BLUE, "end")]
    return picture("A line through a point", parts, 390)


def half():
    """Draw the two residuals that the last sign allows; one is outside, wherever the rest is."""
    x = drawing.Axis(-3, 3, 20, WIDTH - 20)
    parts = [box(x(-1), 50, x(1) - x(-1), 250, PALE), text(x(0), 34, "less than M")]
    for row, rest in enumerate((Fraction(0), Fraction(3, 5), Fraction(-7, 5))):
        y = 100 + 75 * row
        parts.append(line(x(rest - 1), y, x(rest + 1), y, GREY, width=2))
        for residual in (rest - 1, rest + 1):
            parts.append(dot(x(residual), y, GREEN if abs(residual) >= 1 else RED))
        parts.append(text(x(rest), y - 12, "2 M"))
    parts += [text(x(-1), 330, "-M"), text(x(1), 330, "M"), text(x(0), 330, "0")]
    parts.append(text(x(0), 366, "green: the line shows at least M"))
    return picture("At most one of two signs hides", parts, 380)


def files():
    """Return the text of the pictures."""
    drawn = (
        *(digits, beside, bands, allowed, no_step, extrapolated, upstream, softmax, shapes),
        *(branch, answers, troubles, paths, blocks, windows, along, half),
    )
    return {f"lecture_{draw.__name__}.svg": draw() for draw in drawn}
