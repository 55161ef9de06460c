"""How many columns a text takes in a terminal, and where its lines may end."""

import textwrap
from collections.abc import Iterator
from unicodedata import east_asian_width

# A line of Chinese ends anywhere, but none begins with one of the first, or ends with the others.
CLOSING, OPENING = "，。、；：？！）》”’」』…", "（《“‘「『"


def columns(text: str) -> int:
    """Count the columns of a text: a Chinese character takes two."""
    return len(text) + sum(map(_is_wide, text))


def padded(text: str, room: int) -> str:
    """Fill up a text with spaces."""
    return text + " " * (room - columns(text))


def wrapped(text: str, room: int, head: str = "", indent: str = "") -> list[str]:
    """Split a paragraph into lines; the first begins with ``head``, any other with ``indent``."""
    if (head + text).isascii():
        return textwrap.wrap(
            text, room, initial_indent=head, subsequent_indent=indent, break_on_hyphens=False
        )
    lines, line, gap = list[str](), head, ""
    for word in text.split():
        for piece in _pieces(word, room - columns(indent)):
            if line != head and columns(line + gap + piece) > room:
                lines.append(line)
                line, gap = indent, ""
            line += gap + piece
            gap = ""
        gap = " "
    return [*lines, line]


def _pieces(word: str, longest: int) -> Iterator[str]:
    """Split a word where a line may end in it."""
    piece = ""
    for sign in word:
        last = piece[-1:]
        free = _is_wide(sign) or (last and _is_wide(last))
        if (free and sign not in CLOSING and last not in OPENING) or columns(piece) >= longest:
            yield piece
            piece = ""
        piece += sign
    yield piece


def _is_wide(sign: str) -> bool:
    return east_asian_width(sign) in "WF"
