"""The result as a badge: one small SVG, which needs no server."""

from html import escape

from gradcheck_ref.oracle.summary import Summary
from gradcheck_ref.oracle.vectors import VERSION

WIDE, NARROW = 6.6, 3.7  # of a letter, in pixels, at 11 pixels: near enough for any sans-serif
NARROW_ONES = frozenset(".,:;'!|ijlrtfI1 ")
COLOURS = {True: "#2c7a3f", False: "#a4373a"}


def badge(summary: Summary) -> str:
    """Draw a badge: which vectors, and how many of how many.

    Returns
    -------
    str
        SVG, with a title for who hears it rather than sees it.
    """
    passed, of = summary.score
    left, right = f"gradcheck-ref {VERSION}", f"{passed} of {of}"
    a, b = (round(_width(said)) + 12 for said in (left, right))
    texts = "".join(
        f'<text x="{x}" y="14" textLength="{width - 12}">{escape(said)}</text>'
        for said, x, width in ((left, 6, a), (right, a + 6, b))
    )
    title = escape("".join(c for c in summary.sentence if c.isprintable()))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{a + b}" height="20" role="img">'
        f"<title>{title}</title>"
        f'<clipPath id="r"><rect width="{a + b}" height="20" rx="3"/></clipPath>'
        f'<g clip-path="url(#r)"><rect width="{a}" height="20" fill="#444"/>'
        f'<rect x="{a}" width="{b}" height="20" fill="{COLOURS[summary.right]}"/></g>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{texts}</g>'
        "</svg>\n"
    )


def _width(said: str) -> float:
    return sum(NARROW if letter in NARROW_ONES else WIDE for letter in said)
