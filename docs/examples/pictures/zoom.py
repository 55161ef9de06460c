"""A curve around a point, magnified until the step fills the picture."""

from pictures import drawing

END = 1.5  # in steps
TALL = 2.0
STEPS = {0.18: "curvature", 0.001: "a straight line", 5.6e-15: "stairs"}


def cube(x):
    """Return the function of stage 1."""
    return x * x * x + 10


def reciprocal(x):
    """Return the function of stage 2."""
    return 1 / x


def panel(f, slope, here, h, x, *, both=False):
    """Draw the curve, the slope of f and the slope that a step measures; return the scales, too."""
    y = drawing.up(-TALL, TALL)
    unit = h * abs(slope)

    def height(t):
        return (f(here + t * h) - f(here)) / unit

    def straight(steep, colour, dashes="", through=(0, 0)):
        # As far as the panel reaches, up and down.
        at, value = through
        reach = sorted(at + (edge - value) / steep for edge in (-TALL, TALL))
        ends = max(-END, reach[0]), min(END, reach[1])
        line = [(x(t), y(value + steep * (t - at))) for t in ends]
        parts.append(drawing.curve(line, colour, dashes))

    fine = 1 if h < 1e-9 else 10  # stairs have corners
    places = [k / 100 - END for k in range(0, 301, fine)]
    curve = [(x(t), y(height(t))) for t in places if abs(height(t)) <= TALL]
    parts = [drawing.curve(curve, drawing.GREY)]
    straight(1 if slope > 0 else -1, drawing.BROWN, "9 3 2 3")
    if both:
        behind = -1, height(-1)
        straight((height(1) - behind[1]) / 2, drawing.RED, "7 3", behind)
        parts.append(drawing.dot(x(-1), y(behind[1]), drawing.RED))
    straight(height(1), drawing.BLUE)
    parts += [drawing.dot(x(t), y(height(t)), drawing.BLUE) for t in (0, 1)]
    for t in (-1, 1) if both else (1,):
        tangent = y(t if slope > 0 else -t)
        parts.append(drawing.line(x(t), tangent, x(t), y(height(t)), drawing.BROWN, width=2))
    return parts, y


def stage_1():
    """Draw three steps side by side: the secant turns into the tangent, and then misses it."""
    parts = []
    for k, (h, words) in enumerate(STEPS.items()):
        x = drawing.across(-END, END, start=16 + 220 * k, end=220 + 220 * k)
        drawn, y = panel(cube, 3 * 0.4 * 0.4, 0.4, h, x)
        ticks = [(0, "x"), (1, f"x + {h:g}")]
        parts += [drawing.line(x(t), y.start, x(t), y.end, drawing.PALE) for t, _ in ticks]
        parts += [drawing.text(x(t), drawing.HEIGHT - 26, name) for t, name in ticks]
        parts += drawn
        parts.append(drawing.text(x(-END), 34, f"h = {h:g}: {words}", anchor="start"))
    return drawing.picture("A secant of a cube, at three steps", parts, font=15)


def stage_2():
    """Draw both secants over one step to each side, and how far the curve is above the slope."""
    x = drawing.across(-END, END)
    drawn, y = panel(reciprocal, -1 / (0.8 * 0.8), 0.8, 0.18, x, both=True)
    ticks = [(-1, "x − h"), (0, "x"), (1, "x + h")]
    parts = [drawing.line(x(t), y.start, x(t), y.end, drawing.PALE) for t, _ in ticks]
    parts += [drawing.text(x(t), drawing.HEIGHT - 26, name) for t, name in ticks]
    parts += drawn
    words = [
        ("slope ahead, from x to x + h", drawing.BLUE),
        ("central, from x − h to x + h", drawing.RED),
        ("slope of 1/x", drawing.BROWN),
    ]
    for k, (said, colour) in enumerate(words):
        parts.append(drawing.text(x(0.15), y(1.5) + 22 * k, said, colour, "start"))
    return drawing.picture("Two secants of 1/x at 0.8", parts, font=15)


def files():
    """Return the text of each file."""
    return {"zoom_1.svg": stage_1(), "zoom_2.svg": stage_2()}
