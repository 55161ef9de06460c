"""A slope measured with a step, its error bar, and the slope that is claimed."""

from pictures import drawing

X, H = 1.25, 0.5

# In the figure, numbers that end in half a digit are rounded up, and here to an even one.
UP = 1 + 1e-12


def f(x):
    """Return the function of the figure."""
    return x * x * x - 3 * x


def slope(h):
    """Return the slope that a step ahead measures."""
    return (f(X + h) - f(X)) / h


def files():
    """Return the text of the one file."""
    x, y = drawing.across(0, 2.4), drawing.up(-3.6, 3.4)
    ticks = [(value, str(value)) for value in (-2, 0, 1, 2)]
    parts = drawing.grid(x, y, ticks[1:], [ticks[0], ticks[1], ticks[3]], "x", "f(x)")

    def through(steepness, *places):
        return [(x(place), y(f(X) + steepness * (place - X))) for place in places]

    value = slope(H)
    bar = 2 * abs(value - slope(H / 2))
    claimed = X * X - 3  # the factor 3 is forgotten
    # As far as the picture reaches, up and down.
    end = X + (3.4 - f(X)) / (value + bar)
    parts.append(
        drawing.region([*through(value - bar, X, end), *through(value + bar, end)], drawing.BLUE)
    )
    parts.append(drawing.curve([(x(k / 25), y(f(k / 25))) for k in range(55)], drawing.GREY))
    parts.append(drawing.curve(through(claimed, 0.0, 2.4), drawing.RED, "7 3"))
    parts.append(drawing.curve(through(value, 0.95, 2.2), drawing.BLUE))
    for place in (X + H, X):
        parts.append(drawing.dot(x(place), y(f(place)), drawing.BLUE))
    words = [
        (f"measured, {H:g} ahead: {value * UP:.4g} ± {bar * UP:.2g}", drawing.BLUE),
        (f"claimed: {claimed:.4g}", drawing.RED),
    ]
    for k, (said, colour) in enumerate(words):
        parts.append(drawing.text(x(0.6), y(2.8) + 20 * k, said, colour, "start"))
    title = f"The slope of a curve, measured with a step of {H:g}"
    return {"secant.svg": drawing.picture(title, parts)}
