"""Three claims and one error bar: within what a claim allows, across its end, outside."""

from pictures import drawing
from pictures.calls import FONT

LEFT, RIGHT = 20, drawing.WIDTH - 20
SLOPE, BAR, ALLOWED = 310.0, 46.0, 84.0  # places across, in the unit of the picture
ROWS = (
    ("pass", 16.0, drawing.GREEN, "the bar is within the band"),
    ("unsure", -78.0, drawing.BROWN, "the bar crosses its end"),
    ("fail", 244.0, drawing.RED, "even three bars do not reach it"),
)
TALL, GAP, TOP = 56, 64, 54


def files():
    """Return the text of the one file."""
    bottom = TOP + len(ROWS) * (TALL + GAP) - 24
    parts = [
        drawing.text(SLOPE, 26, "the measured slope", drawing.BLUE),
    ]
    for row, (verdict, off, colour, words) in enumerate(ROWS):
        y, claim = TOP + row * (TALL + GAP), SLOPE + off
        low, high = claim - ALLOWED, claim + ALLOWED
        middle = y + TALL / 2
        band = [(low, y), (high, y), (high, y + TALL), (low, y + TALL)]
        parts += [
            drawing.region(band, colour),
            drawing.line(claim, y, claim, y + TALL, colour, width=3),
            drawing.line(SLOPE, y - 8, SLOPE, y + TALL + 4, drawing.BLUE, "4 4"),
            drawing.line(SLOPE - BAR, middle, SLOPE + BAR, middle, drawing.BLUE, width=4),
            *(
                drawing.line(end, middle - 12, end, middle + 12, drawing.BLUE, width=4)
                for end in (SLOPE - BAR, SLOPE + BAR)
            ),
            *[
                drawing.line(
                    SLOPE + BAR, middle, SLOPE + 3 * BAR, middle, drawing.BLUE, "3 3", width=3
                )
            ]
            * (verdict == "fail"),
            drawing.dot(SLOPE, middle, drawing.BLUE),
            drawing.text(LEFT, middle + 7, verdict, colour, "start"),
            drawing.text(min(claim, RIGHT - 165), y + TALL + 26, words, colour),
        ]
    parts.append(drawing.text(LEFT, bottom + 34, "| claim, with what is allowed", anchor="start"))
    parts.append(drawing.text(RIGHT, bottom + 34, "slope, with its error bar", drawing.BLUE, "end"))
    title = "Three claims, three verdicts"
    return {"three_claims.svg": drawing.picture(title, parts, height=bottom + 52, font=FONT)}
