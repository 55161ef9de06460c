"""The pictures of lectures 6, 7 and 9 that no other page has: tests, checkers, lines."""

from fractions import Fraction
from itertools import product
from math import cos, exp, pi, sin, sqrt
from random import Random

from pictures import drawing, lecture
from pictures.drawing import BLACK, BLUE, BROWN, GREEN, GREY, PALE, RED, box, dot, line, text
from pictures.lecture import WIDTH, arrow, bar, numbers, picture, sheet

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


def transposed():
    """Lay transposed matrices over the shape that is asked for: one fits, and one sticks out."""
    side, colours = 48, (BLUE, RED, GREEN, BROWN)
    parts = []
    for left, rows, columns, words in ((50, 3, 3, "3 by 3"), (400, 2, 4, "2 by 4")):
        parts.append(text(left + side * columns / 2, 36, words))
        some = {(i, j): colours[j] for i, j in product(range(columns), range(rows))}
        parts += sheet(left, 70, columns, rows, PALE, side, some)
        wide, tall = side * columns + 6, side * rows + 6
        frame = f'x="{left - 4}" y="66" width="{wide}" height="{tall}" stroke="{BLACK}"'
        parts.append(f'<rect {frame} fill="none" stroke-width="4" stroke-dasharray="9 6"/>')
    parts.append(text(122, 306, "the transpose fits,"))
    parts.append(text(122, 338, "and nobody sees it"))
    parts += [text(480, 306, "it sticks out,"), text(480, 338, "and NumPy says so")]
    return picture("A transpose is seen where sizes differ", parts, 355)


def zeros():
    """Draw the gradient of softmax and twice it, for two upstreams: one shows nothing."""
    weights = [exp(score) for score in (2.0, 1.0, 0.0)]
    shares = [weight / sum(weights) for weight in weights]
    parts = []
    for left, upstream in ((20, (1, -2, 0.5)), (360, (1, 1, 1))):
        mean = sum(p * u for p, u in zip(shares, upstream, strict=True))
        gradient = [p * (u - mean) for p, u in zip(shares, upstream, strict=True)]
        ground = 190
        parts.append(line(left, ground, left + 300, ground, BLACK, width=2))
        for k, value in enumerate(gradient):
            for place, (factor, colour) in enumerate(((1, BLUE), (2, RED))):
                tall = 110 * factor * abs(value)
                top = ground if value < 0 else ground - tall
                parts.append(box(left + 10 + 100 * k + 40 * place, top, 38, tall, colour))
        said = ", ".join(f"{u:g}" for u in upstream).replace("-", "−")
        parts.append(text(left + 150, 34, f"upstream {said}"))
    parts.append(text(510, 176, "0, 0, 0", BLUE))
    parts.append(text(510, 222, "2 times that", RED))
    parts += [text(20, 340, "right", BLUE, "start"), text(90, 340, "doubled", RED, "start")]
    return picture("Where a doubled gradient is right", parts, 360)


def evidence():
    """Draw a claim far from a measured slope, and one within a bar that a kink makes wide."""
    parts = []
    for top, low, high, ticks, measured, half, claim, colour, words in (
        (60, -6, 12, (-3, 9), 9, 0.1, -3, RED, "evidence: x² at −1.5, upstream −3"),
        (220, -0.5, 1.5, (0.1, 1), 0.55, 0.45, 0.3, BROWN, "no evidence: leaky ReLU at 0"),
    ):
        x = drawing.Axis(low, high, 30, WIDTH - 30)
        parts += [
            text(30, top - 26, words, colour, "start"),
            line(30, top + 30, WIDTH - 30, top + 30),
        ]
        parts += bar(x(measured), top + 30, abs(x(half) - x(0)), BLUE)
        parts.append(dot(x(claim), top + 30, RED))
        parts += [text(x(t), top + 70, f"{t:g}".replace("-", "−")) for t in ticks]
    parts += [text(137, 72, "the answer", RED), text(551, 72, "measured", BLUE)]
    return picture("What is evidence, and what is not", parts, 310)


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


def claims():
    """Draw ReLU at 0 and three claimed slopes: two lie between those of its sides, one does not."""
    x, y = drawing.Axis(-1, 1, 20, WIDTH - 20), drawing.Axis(-0.4, 1, 350, 20)
    wedge = [(x(0), y(0)), (x(1), y(0)), (x(1), y(1))]
    parts = [drawing.region(wedge, BROWN)]
    parts.append(
        drawing.region([(x(0), y(0)), (x(-1), y(0)), (x(-1), y(-0.4)), (x(-0.4), y(-0.4))], BROWN)
    )
    parts.append(line(x(-1), y(0), x(0), y(0), BLUE, width=4))
    parts.append(line(x(0), y(0), x(1), y(1), BLUE, width=4))
    for claim, end, colour in ((0, 1, BROWN), (0.5, 1, BROWN), (2, 0.5, RED)):
        start = max(-1, -0.4 / claim) if claim else -1
        ends = (x(start), y(claim * start), x(end), y(claim * end))
        parts.append(line(*ends, colour, "9 6", width=3))
    parts += [text(x(0.42), y(0.9), "2: fail", RED, "end"), dot(x(0), y(0), BLUE)]
    parts.append(text(x(0.98), y(0.12), "0.5: unsure", BROWN, "end"))
    parts.append(text(x(0.98), y(0) + 32, "0: unsure", BROWN, "end"))
    return picture("Three claims about a corner", parts, 370)


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


def both_products():
    """Draw a matrix with v above and u at its left, both products, and what they have in common."""
    matrix, u, v = ((1, 0, 2), (3, -1, 1)), (2, -1), (1, 2, 1)
    jvp = [sum(a * b for a, b in zip(row, v, strict=True)) for row in matrix]
    vjp = [
        sum(a * b for a, b in zip(column, u, strict=True)) for column in zip(*matrix, strict=True)
    ]
    side, left, top = 56, 150, 120
    right, below = left + 3 * side + 70, top + 2 * side + 60
    parts = numbers(left, top, matrix, GREY, side)
    parts += numbers(left, 36, [v], BLUE, side) + numbers(40, top, [[a] for a in u], RED, side)
    parts += numbers(right, top, [[a] for a in jvp], BLUE, side) + numbers(
        left, below, [vjp], RED, side
    )
    parts += [text(left - 16, 72, "v", BLUE, "end"), text(67, top - 12, "u", RED)]
    parts += [
        text(right + 27, top - 12, "jvp(v)", BLUE),
        text(left - 12, below + 36, "vjp(u)", RED, "end"),
    ]
    parts += arrow(left + 3 * side + 6, top + side, right - 8, top + side, BLUE)
    parts += arrow(left + 1.5 * side, top + 2 * side + 6, left + 1.5 * side, below - 8, RED)
    for y, one, two, words in (
        (top + 64, u, jvp, "u @ jvp(v)"),
        (below + 36, v, vjp, "v @ vjp(u)"),
    ):
        total = sum(a * b for a, b in zip(one, two, strict=True))
        parts.append(text(WIDTH - 20, y, f"{words} = {total}", GREEN, "end"))
    return picture("One matrix from both sides", parts, 370)


def hessian():
    """Draw the gradients of a quadratic at both ends of a step along v, and their difference."""
    matrix = ((1.0, 0.6), (0.6, 2.0))

    def gradient(point):
        return [sum(a * b for a, b in zip(row, point, strict=True)) for row in matrix]

    def place(point):
        return 330 + 150 * point[0], 260 - 150 * point[1]

    parts = []
    low = 0.6  # the lower triangle of the Cholesky factor: 1, 0.6 and the root of 2 - 0.36
    for size in (0.5, 1.0, 1.5, 2.0):
        turn = [2 * pi * k / 60 for k in range(61)]
        ends = [(size * cos(t), size * sin(t) / sqrt(2 - low**2)) for t in turn]
        parts.append(drawing.curve([place((a - low * b, b)) for a, b in ends], PALE))
    x, v = (0.75, 0.45), (0.4, -0.35)
    tips, feet = [], []
    for side, words in ((-1, "x − h v"), (1, "x + h v")):
        foot = [a + side * b for a, b in zip(x, v, strict=True)]
        slope = [0.45 * a for a in gradient(foot)]
        feet.append(place(foot))
        tips.append(slope)
        parts += arrow(*place(foot), *place([a + b for a, b in zip(foot, slope, strict=True)]), RED)
        parts.append(dot(*place(foot), BLUE))
        anchor = "start" if side > 0 else "end"
        parts.append(text(feet[-1][0] + 12 * side, feet[-1][1] + 26, words, BLUE, anchor))
    parts += [line(*feet[0], *feet[1], BLUE, width=2), dot(*place(x), BLACK)]
    # both arrows from one foot: what is between their tips is 2 h H v
    foot = (-1.8, -0.8)
    ends = [place([a + b for a, b in zip(foot, tip, strict=True)]) for tip in tips]
    for end in ends:
        parts += arrow(*place(foot), *end, RED)
    parts += arrow(*ends[0], *ends[1], GREEN)
    parts.append(text(ends[1][0] + 12, ends[1][1] - 40, "2 h H v", GREEN, "start"))
    return picture("How the gradient changes along a line", parts, 420)


def signs():
    """Draw the signs of 24 residuals, of the entry that alone is wrong, and of four others."""
    draw, wrong = Random(1), 2
    entries = [[draw.choice((-1, 1)) for _ in range(24)] for _ in range(5)]
    residuals = entries[wrong]
    parts = []
    for row, (words, some) in enumerate(
        [("residual", residuals), *((f"v[{i}]", some) for i, some in enumerate(entries))]
    ):
        y = 24 + 46 * row + (26 if row else 0)
        colour = GREEN if row == wrong + 1 else BLACK
        parts.append(text(106, y + 26, words, colour, "end"))
        parts += [
            box(
                114 + 20 * k, y, 18, 36, (GREEN if row == wrong + 1 else BLUE) if sign > 0 else PALE
            )
            for k, sign in enumerate(some)
        ]
        same = sum(a == b for a, b in zip(some, residuals, strict=True))
        parts.append(text(WIDTH - 12, y + 26, "same" if not row else same, colour, "end"))
    return picture("Whose signs are those of the residuals", parts, 340)


def files():
    """Return the text of the pictures."""
    return lecture.files(
        branch,
        transposed,
        zeros,
        evidence,
        answers,
        troubles,
        claims,
        along,
        half,
        both_products,
        hessian,
        signs,
    )
