"""Draws the figure of docs/check/how_it_decides.md; says whether the stored one is the same.

`python docs/examples/error_bar.py write` stores it anew.
"""

import sys
from math import log10, sqrt
from pathlib import Path

FIGURE = Path(__file__).parents[1] / "check" / "error_bar.svg"

GOLDEN = (1 + sqrt(5)) / 2
EPS = 2.0**-52

WIDTH, HEIGHT = 720, 430
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 20, 60
SHORTEST, LONGEST = -8, 0  # powers of ten
LOWEST, HIGHEST = -15, -3

BLUE, RED, GREY, GREEN, BLACK = "#3f51b5", "#c62828", "#9e9e9e", "#2e7d32", "#212121"


def across(exponent):
    """Where a step of that power of ten stands."""
    return LEFT + (exponent - SHORTEST) / (LONGEST - SHORTEST) * (WIDTH - LEFT - RIGHT)


def up(exponent):
    """Where an error of that power of ten stands."""
    return HEIGHT - BOTTOM - (exponent - LOWEST) / (HIGHEST - LOWEST) * (HEIGHT - TOP - BOTTOM)


def truncation(h, speed=1.0):
    """Disagreement of two five-point differences, for a fifth derivative of speed^4."""
    return (speed * h) ** 4 / 120 * (GOLDEN**-2 - GOLDEN**-6)


def rounding(h):
    """Sixteen standard deviations of the rounding of f, which are 0.3 eps, for f of size 1."""
    return 16 * 0.3 * EPS / h


def curve(error, colour, *, width=2, dashes=""):
    """Draw an error against the step."""
    points = []
    for k in range(161):
        exponent = SHORTEST + k / 160 * (LONGEST - SHORTEST)
        height = log10(error(10**exponent))
        if LOWEST <= height <= HIGHEST:
            points.append(f"{across(exponent):.1f},{up(height):.1f}")
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    path = " ".join(points)
    return (
        f'<polyline fill="none" stroke="{colour}" stroke-width="{width}"{dashed} points="{path}"/>'
    )


def line(x1, y1, x2, y2, colour, dashes=""):
    """Draw a straight line."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashed}/>'
    )


def text(x, y, words, colour=BLACK, anchor="middle"):
    """Write words."""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{words}</text>'


def drawing():
    """Return the whole figure."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        "<title>The error bar against the step</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#ffffff"/>',
    ]
    for exponent in range(SHORTEST, LONGEST + 1, 2):
        parts.append(line(across(exponent), up(LOWEST), across(exponent), up(HIGHEST), "#eeeeee"))
        parts.append(text(across(exponent), HEIGHT - BOTTOM + 18, f"1e{exponent}"))
    for exponent in range(LOWEST, HIGHEST + 1, 3):
        parts.append(line(across(SHORTEST), up(exponent), across(LONGEST), up(exponent), "#eeeeee"))
        parts.append(text(LEFT - 8, up(exponent) + 4, f"1e{exponent}", anchor="end"))
    parts.append(text(across(-4), HEIGHT - 14, "step h"))
    parts.append(
        f'<text transform="translate(16 {up(-9):.1f}) rotate(-90)" text-anchor="middle" '
        f'fill="{BLACK}">error, for a slope of 1</text>'
    )
    parts.append(line(across(SHORTEST), up(-6), across(LONGEST), up(-6), GREEN, "6 4"))
    parts.append(text(across(-3.9), up(-6) - 7, "allowed: rtol x 1", GREEN))
    parts.append(curve(lambda h: truncation(h, 100), GREY, dashes="3 4"))
    parts.append(text(across(-2.55), up(-3.9), "truncation, if f changes", GREY, "end"))
    parts.append(text(across(-2.55), up(-3.9) + 16, "100 times as fast", GREY, "end"))
    parts.append(curve(rounding, RED, dashes="8 4"))
    parts.append(text(across(-6.9), up(-9.6), "rounding ~ 1/h", RED))
    parts.append(curve(truncation, RED, dashes="2 3"))
    parts.append(text(across(-0.95), up(-9.6), "truncation", RED, "start"))
    parts.append(text(across(-0.95), up(-9.6) + 16, "~ h^4", RED, "start"))
    parts.append(curve(lambda h: truncation(h) + rounding(h), BLUE, width=3))
    best = (16 * 0.3 * EPS / (truncation(1.0))) ** (1 / 5)
    height = log10(truncation(best) + rounding(best))
    parts.append(
        f'<circle cx="{across(log10(best)):.1f}" cy="{up(height):.1f}" r="5" fill="{BLUE}"/>'
    )
    parts.append(text(across(-6.5), up(-12.4), "the error bar is the sum of both;", BLUE))
    parts.append(text(across(-6.5), up(-12.4) + 16, "the first step is at the dot", BLUE))
    return "\n".join([*parts, "</svg>", ""])


if sys.argv[1:] == ["write"]:
    FIGURE.write_text(drawing(), encoding="utf-8")
same = FIGURE.read_text(encoding="utf-8") == drawing()
print(f"docs/check/{FIGURE.name} is {'as' if same else 'not as'} drawn here")
