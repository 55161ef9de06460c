"""The residuals of all lines over five errors, in pairs: one of each pair shows the largest."""

from itertools import product

from pictures import drawing

# As in flips.js: how far five entries are off.
ERRORS = (4, 3, 2, 1, 2)


def residuals(errors):
    """Return the residuals of all lines, in pairs in which only the largest error has another sign.

    Sorted by what the other errors add up to.
    """
    largest = max(errors)
    others = list(errors)
    others.remove(largest)
    sums = (
        sum(sign * error for sign, error in zip(signs, others, strict=True))
        for signs in product((-1, 1), repeat=len(others))
    )
    return [(total - largest, total + largest) for total in sorted(sums)]


def showing(errors):
    """Return how many of the lines show at least the largest error."""
    return sum(abs(residual) >= max(errors) for pair in residuals(errors) for residual in pair)


def files():
    """Return the text of the one file."""
    pairs, most, end = residuals(ERRORS), max(ERRORS), sum(ERRORS) + 1
    x, y = drawing.across(-end, end), drawing.up(-1, len(pairs))
    ticks = [(-most, f"−{most}"), (0, "0"), (most, f"+{most}")]
    parts = drawing.grid(x, y, ticks, [], "residual", "pairs of lines")
    corners = [(x(side), y(k)) for side, k in ((-most, -1), (most, -1), (most, 16), (-most, 16))]
    parts.append(drawing.region(corners, drawing.BROWN))
    for k, pair in enumerate(pairs):
        parts.append(drawing.line(x(pair[0]), y(k), x(pair[1]), y(k)))
        for residual in pair:
            colour = drawing.BLUE if abs(residual) >= most else drawing.RED
            parts.append(drawing.dot(x(residual), y(k), colour))
    count = showing(ERRORS)
    for at, words, colour in (
        (0, "hidden", drawing.BROWN),
        (-10, f"{count} of 32 lines", drawing.BLUE),
    ):
        parts.append(drawing.text(x(at), y(15) + 4, words, colour))
    parts.append(drawing.text(x(-10), y(14) + 4, f"show at least {most}", drawing.BLUE))
    said = ", ".join(map(str, ERRORS))
    return {"flips.svg": drawing.picture(f"Five entries are off by {said}: all 32 lines", parts)}
