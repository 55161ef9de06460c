"""A right slope and a wrong one against the gain: where the curves cross, the wrong one passes."""

from math import cos, pi

from pictures import drawing

X = 0.8  # an entry of the layer's input on the page
FONT = 20  # so that a phone, half as wide as the picture, shows it at 10
GAINS = (0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 2.15)
ALIKE = pi / 2 / X  # where the slope is 0


def right(gain):
    """Return the slope of sin(gain x) in x."""
    return gain * cos(gain * X)


def claimed(gain):
    """Return the same without the gain."""
    return cos(gain * X)


def files():
    """Return the text of the one file."""
    x, y = drawing.across(0, 2.3), drawing.up(-0.75, 1.1)
    gains = [(gain, f"{gain:g}") for gain in (0, 0.5, 1, 1.5, 2)]
    slopes = [(0, "0"), (0.5, "0.5"), (1, "1")]
    parts = drawing.grid(x, y, gains, slopes, "gain", "slope")
    many = [k / 40 for k in range(89)]
    parts.append(drawing.curve([(x(g), y(right(g))) for g in many], drawing.BLUE))
    parts.append(drawing.curve([(x(g), y(claimed(g))) for g in many], drawing.RED, "7 3"))
    for gain in sorted((*GAINS, ALIKE)):
        passes = abs(right(gain) - claimed(gain)) < 1e-9
        if not passes:
            parts.append(drawing.line(x(gain), y(right(gain)), x(gain), y(claimed(gain))))
        else:
            parts.append(drawing.dot(x(gain), y(right(gain)), drawing.GREEN))
        word, colour = ("pass", drawing.GREEN) if passes else ("fail", drawing.RED)
        parts.append(drawing.text(x(gain), y(-0.64), word, colour))
    parts.append(drawing.text(x(0.6), y(0.97), "claimed", drawing.RED, "start"))
    parts.append(drawing.text(x(0.2), y(0.06), "right", drawing.BLUE, "start"))
    parts.append(drawing.text(x(1.05), y(0.78), "gain 1", drawing.GREEN, "start"))
    parts.append(drawing.text(x(ALIKE + 0.04), y(0.04), "both 0", drawing.GREEN, "start"))
    title = "A right slope and a wrong one cross"
    return {"crossing.svg": drawing.picture(title, parts, font=FONT)}
