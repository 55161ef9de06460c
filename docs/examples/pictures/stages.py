"""A small picture of each stage, for the home page: in the colours of the page around it."""

from math import exp

WIDTH, HEIGHT = 120, 80


def drawn(*parts):
    """Return the text of a picture; the words beside it say what it shows."""
    opening = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true" focusable="false">'
    return "\n".join([opening, *parts, "</svg>", ""])


def curve(points, kind):
    """Draw a line through points; the page gives each kind its colour."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{kind}" points="{path}"/>'


def dot(x, y, kind="measured"):
    """Mark a point."""
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'


def bend(x):
    """Return the height of a curve, from the top."""
    return 68 - 60 * exp((x - 112) / 38)


def difference(start, end, at):
    """Draw a curve, the slope at a place, and the line through two points of the curve."""

    def line(x, y, steep, kind):
        return curve([(place, y + steep * (place - x)) for place in (x - 26, x + 40)], kind)

    measured = (bend(end) - bend(start)) / (end - start)
    slope = (bend(at + 1e-3) - bend(at - 1e-3)) / 2e-3
    return drawn(
        curve([(x, bend(x)) for x in range(8, 113, 4)], "given"),
        line(at, bend(at), slope, "claimed"),
        line(at, bend(start) + measured * (at - start), measured, "measured"),
        *(dot(x, bend(x)) for x in (start, end)),
    )


def relative():
    """Draw two pairs of bars: as far apart, and beside their sizes far less so."""
    bars = [(14, 14, "given"), (30, 26, "measured"), (70, 54, "given"), (86, 66, "measured")]
    floor = '<line class="given" x1="6" y1="74" x2="114" y2="74"/>'
    return drawn(
        floor,
        *(
            f'<rect class="{kind}" x="{x}" y="{74 - height}" width="14" height="{height}"/>'
            for x, height, kind in bars
        ),
    )


def allowed():
    """Draw what atol and rtol allow together: a band that never closes."""
    band = "8,8 60,34 112,8 112,72 60,46 8,72"
    middle = curve([(8, 40), (112, 40)], "given")
    points = (dot(34, 34), dot(60, 44), dot(90, 24), dot(66, 18, "claimed"))
    return drawn(f'<polygon class="measured" points="{band}"/>', middle, *points)


def chosen():
    """Draw the error against the step, and the step that is chosen."""
    jagged = [(8, 12), (16, 24), (21, 20), (29, 36), (34, 33), (42, 50), (47, 47), (56, 64)]
    return drawn(curve([*jagged, (112, 8)], "given"), dot(56, 64))


def files():
    """Return the texts of the five files."""
    pictures = (difference(66, 102, 66), difference(46, 98, 72), relative(), allowed(), chosen())
    return {f"stage{k}.svg": picture for k, picture in enumerate(pictures, 1)}
