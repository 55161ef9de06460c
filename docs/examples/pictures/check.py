"""What happens in a check: lines, witnesses, the rule, and the verdict with its certificate."""

from math import cos, pi, sin

from pictures import drawing

FONT = 20  # so that a phone, half as wide as the picture, shows it at 10
TALL, GAP = 116, 46
LEFT, MIDDLE, RIGHT = 14, 196, 616  # where boxes begin, where their words do, where they end
POWER = '2<tspan dy="-7" font-size="14">K</tspan><tspan dy="7">\u200b</tspan>'
STEPS = [
    ("Lines", "up to 32 entries: an axis for each;", "more entries: 20 random lines"),
    ("Witnesses", "six values of f along each line", "give a slope with an error bar"),
    ("The rule", "compares slope, bar and claim:", "accepted, refused or not settled"),
    (
        "The verdict",
        "with a certificate: K random lines miss",
        f"a wrong entry at most once in {POWER} draws",
    ),
]


def top(step):
    """Return the upper edge of a box."""
    return 12 + step * (TALL + GAP)


def arrow(points, colour=drawing.GREY):
    """Draw a line through points, with a head at its end; the last part is straight up or down."""
    x, y = points[-1]
    tail = 12 if points[-2][1] < y else -12
    head = drawing.region([(x, y), (x - 6, y - tail), (x + 6, y - tail)], colour)
    return [drawing.curve(points, colour), head]


def lines(x, y):
    """Draw two axes and a random line through a point."""
    ends = [(56 * cos(a), 40 * sin(a)) for a in (0, pi / 2, -pi / 5)]
    colours = drawing.GREY, drawing.GREY, drawing.BLUE
    return [
        *(
            drawing.line(x - dx, y - dy, x + dx, y + dy, c, width=2)
            for (dx, dy), c in zip(ends, colours, strict=True)
        ),
        drawing.dot(x, y, drawing.BROWN),
    ]


def witness(x, y):
    """Draw a curve with its six samples, and the slope that they give."""

    def at(t):
        return x + 60 * t, y + 12 - 34 * (t + 0.55 * t * t)

    samples = [sign * ratio for sign in (-1, 1) for ratio in (1, 0.62, 0.38)]
    return [
        drawing.curve([at(k / 10) for k in range(-11, 12)], drawing.GREY),
        drawing.line(x - 48, y + 12 + 27, x + 48, y + 12 - 27, drawing.BLUE, width=2),
        *(drawing.dot(*at(t), drawing.BROWN) for t in samples),
    ]


def rule(x, y):
    """Draw a claim, what is allowed around it, an error bar inside of that and one outside."""
    parts = [
        drawing.region(
            [(x - 30, y - 44), (x + 30, y - 44), (x + 30, y + 44), (x - 30, y + 44)], drawing.GREEN
        )
    ]
    for place, height, half, colour in ((4, -20, 16, drawing.GREEN), (58, 20, 14, drawing.RED)):
        parts.append(
            drawing.line(
                x + place - half, y + height, x + place + half, y + height, colour, width=3
            )
        )
        parts.append(drawing.dot(x + place, y + height, colour))
    return [*parts, drawing.line(x, y - 44, x, y + 44, drawing.GREEN, "4 4")]


def verdict(x, y):
    """Write the three verdicts."""
    words = ("pass", drawing.GREEN), ("fail", drawing.RED), ("unsure", drawing.BROWN)
    return [
        drawing.text(x, y - 23 + 30 * k, word, colour) for k, (word, colour) in enumerate(words)
    ]


def files():
    """Return the text of the one file."""
    parts = []
    for step, ((name, *words), draw) in enumerate(
        zip(STEPS, (lines, witness, rule, verdict), strict=True)
    ):
        y = top(step)
        frame = [(LEFT, y), (RIGHT, y), (RIGHT, y + TALL), (LEFT, y + TALL), (LEFT, y)]
        parts.append(drawing.curve(frame, drawing.PALE))
        parts += draw((LEFT + MIDDLE) / 2 - 6, y + TALL / 2)
        parts.append(drawing.text(MIDDLE, y + 33, name, drawing.BLUE, "start"))
        parts += [
            drawing.text(MIDDLE, y + 64 + 28 * k, line, anchor="start")
            for k, line in enumerate(words)
        ]
        if step:
            parts += arrow([(LEFT + 60, y - GAP), (LEFT + 60, y)])
    side, rules = 650, top(2)
    parts += arrow([(RIGHT - 30, rules), (RIGHT - 30, rules - GAP)])
    parts.append(
        drawing.text(RIGHT - 44, rules - 17, "not settled: measure at another step", anchor="end")
    )
    around = [(RIGHT, rules + TALL / 2), (side, rules + TALL / 2), (side, top(1) - 16)]
    parts += arrow([*around, (RIGHT - 30, top(1) - 16), (RIGHT - 30, top(1) - GAP)])
    parts.append(
        drawing.text(RIGHT - 44, top(1) - 17, "refused by a random line: halve it", anchor="end")
    )
    title = "A check: lines, witnesses, the rule, and the verdict"
    return {"check.svg": drawing.picture(title, parts, height=top(4) - GAP + 12, font=FONT)}
