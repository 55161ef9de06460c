"""The pictures of lectures 4, 5 and 8 that no other page has: layers, and networks of them."""

from itertools import product
from math import exp, log1p, sqrt

from pictures import drawing, lecture
from pictures.drawing import BLUE, BROWN, GREEN, GREY, PALE, RED, box, dot, line, text
from pictures.lecture import WIDTH, arrow, picture, sheet

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


def gate():
    """Draw ReLU, and what a step of 1 to the right does on both sides."""
    x, y = drawing.Axis(-5, 5, 20, WIDTH - 20), drawing.Axis(0, 5, 290, 20)
    parts = [drawing.curve([(x(-5), y(0)), (x(0), y(0)), (x(5), y(5))], GREY)]
    parts += [*arrow(x(3), y(3), x(4), y(3), BLUE), *arrow(x(4), y(3), x(4), y(4), GREEN)]
    parts += arrow(x(-3), y(0), x(-2), y(0), BLUE)
    parts += [dot(x(3), y(3), RED), dot(x(-3), y(0), RED)]
    parts += [text(x(3.5), y(3) + 28, "+1", BLUE), text(x(4.1), y(3.4), "+1", GREEN, "start")]
    parts += [text(x(-2.5), y(0) - 16, "+1", BLUE), text(x(-1.8), y(0) - 16, "+0", GREEN, "start")]
    parts += [text(x(-3), y(0) + 32, "x = −3", RED), text(x(3), y(0) + 32, "x = 3", RED)]
    parts += [
        line(x(3), y(3), x(3), y(0), PALE, "7 5", 2),
        text(x(2.6), y(3.9), "open", anchor="end"),
    ]
    parts.append(text(x(-2.5), y(1), "shut"))
    return picture("A gate, open and shut", parts, 335)


def logarithm():
    """Draw -log p of one of two classes against its score; exp rounds to 0 before the end."""
    x, y = drawing.Axis(-1000, 250, 90, WIDTH - 20), drawing.Axis(0, 1100, 340, 20)
    last = next(score for score in range(-700, -1000, -1) if exp(score) == 0)
    parts = [line(90, 340, WIDTH - 20, 340), line(90, 20, 90, 340)]
    scores = range(-1000, 251, 25)
    parts.append(drawing.curve([(x(s), y(max(-s, 0) + log1p(exp(-abs(s))))) for s in scores], BLUE))
    parts.append(line(x(last), y(-last), x(0), y(0), RED, "9 9", width=6))
    parts += [dot(x(last), y(-last), RED), *arrow(x(last), y(-last), x(last), 24, RED)]
    parts.append(text(x(last) + 16, 50, "p is 0, and −log p is inf", RED, "start"))
    parts.append(text(x(-430), y(560), "log(sum) − s[y]", BLUE, "start"))
    for value in (-1000, -500, 0):
        parts.append(text(x(value), 370, str(value).replace("-", "−")))
    parts += [
        text(82, y(1000) + 8, "1000", anchor="end"),
        text(82, y(500) + 8, "500", anchor="end"),
    ]
    parts.append(text(WIDTH / 2, 402, "score of the right class, beside a 0"))
    return picture("The loss of a score that is far too low", parts, 420)


# --- 5 network -------------------------------------------------------------------------------


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


def network():
    """Draw the shapes of a network of two maps, from the examples to the loss."""
    parts = []
    for left, columns, words in ((20, 4, "X"), (240, 5, "hidden"), (476, 3, "scores")):
        parts += sheet(left, 130, 6, columns, BLUE, 20)
        parts.append(text(left + 10 * columns, 278, words, BLUE))
    parts += [dot(640, 190, BLUE), text(640, 278, "loss", BLUE)]
    for left, rows, columns, words in ((128, 4, 5, "W1"), (378, 5, 3, "W2")):
        parts += sheet(left, 140 - 20 * rows, rows, columns, GREEN, 20)
        parts.append(text(left + 10 * columns, 132 - 20 * rows, words, GREEN))
    parts += [*arrow(112, 190, 232, 190), *arrow(348, 190, 468, 190), *arrow(544, 190, 628, 190)]
    parts += [text(168, 226, "+ b1, relu"), text(408, 226, "+ b2")]
    return picture("The shapes of a network", parts, 295)


def moves():
    """Draw Y = A @ W twice: which entries of Y move with one of W, and with one of A."""
    n, inputs, outputs, side = 5, 3, 4, 30
    column = {(i, 1): GREEN for i in range(n)}
    row = {(1, k): GREEN for k in range(outputs)}
    cases = (
        ("W[j, k]", column, {(1, 2): RED}, {(i, 2): BLUE for i in range(n)}),
        ("A[i, j]", {(2, 1): RED}, row, {(2, k): BLUE for k in range(outputs)}),
    )
    parts = []
    for place, (words, of_a, of_w, of_y) in enumerate(cases):
        y = 62 + 210 * place
        for left, name, rows, columns, some in (
            (130, "A", n, inputs, of_a),
            (290, "W", inputs, outputs, of_w),
            (490, "Y", n, outputs, of_y),
        ):
            parts += sheet(left, y, rows, columns, PALE, side, some)
            parts.append(text(left + side * columns / 2, y - 12, name))
        parts += [
            text(255, y + 55, "@"),
            text(450, y + 55, "="),
            text(14, y + 55, words, RED, "start"),
        ]
    parts += [text(185, 448, "by", GREEN), text(550, 448, "move", BLUE)]
    return picture("What moves with one entry, and by how much", parts, 460)


def back():
    """Draw the gradients of a network of two maps, from the loss to the weights, in five steps."""
    scores, hidden, gates = 540, 330, 160
    shut = {(i, j): PALE for i, j in product(range(6), range(5)) if (i + 2 * j) % 3 == 0}
    parts = [dot(660, 226, RED), *arrow(650, 226, scores + 68, 226, RED), text(630, 212, "1")]
    for left, columns, some, words in (
        (scores, 3, {}, "d_scores"),
        (hidden, 5, {}, "d_hidden"),
        (gates, 5, shut, "gates"),
    ):
        parts += sheet(left, 166, 6, columns, RED, 20, some)
        parts.append(text(left + 10 * columns, 312, words, RED))
    parts += [*arrow(scores - 8, 226, hidden + 108, 226, RED), text(485, 256, "2")]
    parts += [*arrow(hidden - 8, 226, gates + 108, 226, RED), text(295, 256, "3")]
    parts += [*arrow(gates - 8, 206, 80, 144, RED), text(112, 206, "4")]
    parts += [*arrow(scores - 8, 206, 480, 154, RED)]
    for left, rows, columns, words in ((20, 4, 5, "dW1"), (440, 5, 3, "dW2")):
        parts += sheet(left, 140 - 20 * rows, rows, columns, GREEN, 20)
        parts.append(text(left + 10 * columns, 132 - 20 * rows, words, GREEN))
    for left in (126, 506):
        parts.append(text(left, 106, "+ lam W", anchor="start"))
        parts.append(text(left + 45, 76, "5"))
    return picture("Back through a network in five steps", parts, 328)


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


def three_terms():
    """Draw upstream over a column of four as the sum of what batch norm removes, and what is left.

    The column is 3, 1, -1, -3: its mean is 0, its variance 5.
    """
    column, upstream = (3, 1, -1, -3), (2, -1, 3, 0)
    size = sqrt(5)
    shift = sum(upstream) / 4
    along = sum(g * x / size for g, x in zip(upstream, column, strict=True)) / 4
    terms = [
        ("g", upstream, BLUE),
        ("along ones", [shift] * 4, GREY),
        ("along x_hat", [along * x / size for x in column], GREY),
    ]
    left = [g - a - b for g, a, b in zip(*(values for _, values, _ in terms), strict=True)]
    parts = []
    for place, (name, values, colour) in enumerate([*terms, ("left", left, GREEN)]):
        start, ground = 10 + 176 * place, 160
        parts.append(line(start, ground, start + 130, ground))
        for k, value in enumerate(values):
            tall = 36 * abs(value)
            parts.append(box(start + 2 + 32 * k, ground - max(36 * value, 0), 30, tall, colour))
        parts.append(text(start + 65, 28, name, colour))
        if place:
            parts.append(text(start - 23, ground + 8, "−" if place < 3 else "="))
    return picture("What batch norm removes on the way back", parts, 250)


def convolution():
    """Draw one term of a convolution: a block of the image, the filter, and one output."""
    side = 52
    block = {(i, j): BLUE for i, j in product((1, 2), repeat=2)}
    parts = []
    for left, top, size, some, name in (
        (20, 60, 4, block, "x"),
        (300, 112, 2, dict.fromkeys(product((0, 1), repeat=2), GREEN), "w"),
        (500, 86, 3, {(1, 1): RED}, "y"),
    ):
        parts += sheet(left, top, size, size, PALE, side, some)
        parts.append(text(left + side * size / 2, top - 14, name))
    parts += [*arrow(180, 140, 290, 140, BLUE), *arrow(410, 140, 545, 150, BLUE)]
    parts += [*arrow(545, 186, 410, 190, RED), *arrow(290, 190, 180, 190, RED)]
    parts += [text(345, 36, "forward: reads", BLUE), text(345, 300, "backward: adds to both", RED)]
    return picture("What one output reads, it adds to", parts, 320)


def files():
    """Return the text of the pictures."""
    return lecture.files(
        upstream,
        softmax,
        gate,
        logarithm,
        shapes,
        network,
        moves,
        back,
        paths,
        blocks,
        windows,
        three_terms,
        convolution,
    )
