"""What the pictures share: axes, lines and words, as the text of an SVG file."""

from math import log10

WIDTH, HEIGHT = 680, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 48

BLUE, RED, GREEN, BROWN = "#3949ab", "#b71c1c", "#1b6b28", "#7a4f00"
BLACK, GREY, PALE, FAINT = "#212121", "#757575", "#e0e0e0", "#f5f5f5"


class Axis:
    """From numbers to places between two ends of the picture."""

    def __init__(self, low, high, start, end, *, log=False):
        self.measure = log10 if log else float
        self.low, self.high = self.measure(low), self.measure(high)
        self.start, self.end = start, end

    def __call__(self, value):
        part = (self.measure(value) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)


def across(low, high, *, log=False, start=LEFT, end=WIDTH - RIGHT):
    """Return a horizontal axis."""
    return Axis(low, high, start, end, log=log)


def up(low, high, *, log=False):
    """Return a vertical axis."""
    return Axis(low, high, HEIGHT - BOTTOM, TOP, log=log)


def text(x, y, words, colour=BLACK, anchor="middle"):
    """Write words."""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{words}</text>'


def line(x1, y1, x2, y2, colour=GREY, dashes="", width=1):
    """Draw a straight line."""
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"{dashed}/>'


def curve(points, colour, dashes=""):
    """Draw a line through points."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline fill="none" stroke="{colour}" stroke-width="2"{dashed} points="{path}"/>'


def region(points, colour):
    """Fill what is between points."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polygon fill="{colour}" fill-opacity="0.22" stroke="{colour}" points="{path}"/>'


def box(x, y, width, height, colour):
    """Fill a rectangle."""
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{colour}"/>'


def dot(x, y, colour):
    """Mark a point."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'


def grid(x, y, x_ticks, y_ticks, x_label, y_label):
    """Draw the lines and the words of two axes; ticks are (value, words)."""
    parts = []
    for value, words in x_ticks:
        parts.append(line(x(value), y.start, x(value), y.end, PALE))
        parts.append(text(x(value), HEIGHT - BOTTOM + 18, words))
    for value, words in y_ticks:
        parts.append(line(x.start, y(value), x.end, y(value), PALE))
        parts.append(text(x.start - 7, y(value) + 4, words, anchor="end"))
    parts.append(text((x.start + x.end) / 2, HEIGHT - 10, x_label))
    turned = f"translate({x.start - 50:.1f} {(TOP + HEIGHT - BOTTOM) / 2:.1f}) rotate(-90)"
    parts.append(f'<text transform="{turned}" text-anchor="middle" fill="{BLACK}">{y_label}</text>')
    return parts


def picture(title, parts, height=HEIGHT, font=13):
    """Return the text of the file. White behind it, so that it can be read on a dark page."""
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="{font}">'
    )
    ground = f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff"/>'
    return "\n".join([opening, f"<title>{title}</title>", ground, *parts, "</svg>", ""])
