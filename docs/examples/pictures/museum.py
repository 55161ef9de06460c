"""How many of the released bugs a random point would have shown, by what they are about."""

from pictures import drawing
from wild import shown

from gradcheck_ref.zoo import wild

DRAWS = 100
ROOMS = {
    "signs and factors": wild.SIGNS_AND_FACTORS,
    "the chain rule": wild.THE_CHAIN_RULE,
    "special points": wild.SPECIAL_POINTS,
    "branches": wild.BRANCHES,
    "places": wild.PLACES,
    "distributions": wild.DISTRIBUTIONS_AND_COMPLEX_NUMBERS,
}
COLOURS = {"always": drawing.GREEN, "by chance": drawing.BROWN, "never": drawing.RED}


def counts(room):
    """Return how many bugs of a room all draws show, and some, and none."""
    draws = [shown(piece, DRAWS) for piece in room]
    always, never = draws.count(DRAWS), draws.count(0)
    return {"always": always, "by chance": len(draws) - always - never, "never": never}


def bars(rooms):
    """Draw a bar for each room, and one for all."""
    by_room = {name: counts(room) for name, room in rooms.items()}
    longest = max(sum(row.values()) for row in by_room.values())
    start, width = 150, 420
    parts = []
    for k, (words, colour) in enumerate(COLOURS.items()):
        parts.append(drawing.box(start + 135 * k, 14, 12, 12, colour))
        parts.append(drawing.text(start + 135 * k + 18, 25, words, anchor="start"))
    for k, (name, row) in enumerate(by_room.items()):
        top, place = 44 + 36 * k, start
        parts.append(drawing.text(start - 10, top + 16, name, anchor="end"))
        for words, count in row.items():
            length = width * count / longest
            parts.append(drawing.box(place, top, length, 22, COLOURS[words]))
            place += length
        caught = f"{row['always']} of {sum(row.values())}"
        parts.append(drawing.text(place + 8, top + 16, caught, anchor="start"))
    return drawing.picture("Released bugs that a random point shows", parts, height=270)


def files():
    """Return the text of the picture."""
    return {"museum.svg": bars(ROOMS)}
