"""ReLU near its kink, with the three difference quotients of one step."""

from pictures import drawing

X, H = 0.1, 0.2
BEYOND = 0.35  # a secant is drawn on past its samples, to be seen


def relu(x):
    """Return x where it is positive, 0 elsewhere."""
    return max(x, 0.0)


def secant(start, end):
    """Return the slope between two places."""
    return (relu(end) - relu(start)) / (end - start)


def files():
    """Return the text of the one file."""
    x = drawing.across(-1.5, 1.5)
    y = drawing.up(-0.4, 1.2)
    ticks = [(value, str(value)) for value in (-1, 0, 1)]
    parts = drawing.grid(x, y, ticks, ticks[1:], "x", "f(x)")

    def through(*points):
        return [(x(place), y(value)) for place, value in points]

    right, left, central = secant(X, X + H), secant(X - H, X), secant(X - H, X + H)
    parts.append(drawing.curve(through((-1.5, 0), (0, 0), (1.2, 1.2)), drawing.GREY))
    ends = (X - BEYOND, relu(X) - BEYOND * right), (X + H + BEYOND, relu(X + H) + BEYOND * right)
    parts.append(drawing.curve(through(*ends), drawing.BLUE))
    ends = (X - H - BEYOND, -BEYOND * left), (X + BEYOND, relu(X) + BEYOND * left)
    parts.append(drawing.curve(through(*ends), drawing.RED, "7 3"))
    parts.append(
        drawing.curve(through((X - H, relu(X - H)), (X + H, relu(X + H))), drawing.GREEN, "2 3")
    )
    for place, colour in ((X - H, drawing.RED), (X + H, drawing.BLUE), (X, drawing.BROWN)):
        parts.append(drawing.dot(x(place), y(relu(place)), colour))
    for k, (words, colour) in enumerate(
        [
            (f"slope to the right of x = {X:g}: {right:g}", drawing.BLUE),
            (f"slope to the left, {H:g} back: {left:g}", drawing.RED),
            (f"central difference: {central:g}", drawing.GREEN),
        ]
    ):
        parts.append(drawing.text(x(-1.4), y(0.85) + 20 * k, words, colour, "start"))
    title = f"ReLU at {X:g}: a step of {H:g} reaches across the kink"
    return {"kink.svg": drawing.picture(title, parts)}
