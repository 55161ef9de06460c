"""Two rules from the same two tolerances, and the row of Warp's table that tells them apart."""

from pictures import drawing

ATOL, RTOL = 1e-3, 1e-2
ANALYTIC, NUMERIC = 4.840e-05, 2.235e-04
VIEW = 2e-3

RULES = {
    "each tested alone: fails": (lambda n: min(ATOL, RTOL * abs(n)), drawing.RED),
    "both added: passes": (lambda n: ATOL + RTOL * abs(n), drawing.GREEN),
}


def panel(x, words, allowed, colour):
    """Draw the pairs that one rule lets pass, between the places that the axis has."""
    y = drawing.up(-VIEW, VIEW)
    ticks = [(value, f"{value:g}") for value in (-1e-3, 0, 1e-3)]
    first = x.start < 100
    parts = drawing.grid(x, y, ticks, ticks if first else [], "numeric", "analytic" * first)

    # The region is cut off at the upper and at the lower end of the panel.
    corners = [(n, n + allowed(n)) for n in (-VIEW, 0, VIEW)]
    corners += [(n, n - allowed(n)) for n in (VIEW, 0, -VIEW)]
    clip = f"panel-{x.start:.0f}"
    height = drawing.HEIGHT - drawing.TOP - drawing.BOTTOM
    shape = drawing.box(x.start, drawing.TOP, x.end - x.start, height, "none")
    parts.append(f'<clipPath id="{clip}">{shape}</clipPath>')
    parts.append(f'<g clip-path="url(#{clip})">')
    parts.append(drawing.region([(x(n), y(a)) for n, a in corners], colour))
    parts.append("</g>")
    parts.append(drawing.line(x(-VIEW), y(-VIEW), x(VIEW), y(VIEW)))
    parts.append(drawing.dot(x(NUMERIC), y(ANALYTIC), drawing.BROWN))
    parts.append(
        drawing.text(x(NUMERIC) + 9, y(ANALYTIC) + 16, "Warp's row", drawing.BROWN, "start")
    )
    parts.append(drawing.text(x.start + 8, drawing.TOP + 18, words, colour, "start"))
    return parts


def files():
    """Return the text of the one file."""
    left = drawing.across(-VIEW, VIEW, start=78, end=358)
    right = drawing.across(-VIEW, VIEW, start=384, end=664)
    parts = []
    for x, (words, (allowed, colour)) in zip((left, right), RULES.items(), strict=True):
        parts += panel(x, words, allowed, colour)
    title = f"What passes at atol = {ATOL:g}, rtol = {RTOL:g}"
    return {"tolerance_plane.svg": drawing.picture(title, parts)}
