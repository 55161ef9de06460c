"""The search for a step: one start, and two functions whose best steps are far apart."""

from pictures import drawing

import gradcheck_ref.stage5_adaptive as stage5
from gradcheck_ref.around import Around

FONT = 21  # so that a phone, half as wide as the picture, shows it at 11
# As decimals: the same on every machine, unlike a power.
STEPS = [float(f"{m}e{k}") for k in range(-9, 3) for m in (1, 1.3, 1.8, 2.4, 3.2, 4.2, 5.6, 7.5)]
LOWEST, HIGHEST = 1e-11, 1e2


def resonance(x):
    """Return a peak at 1 that is a ten-thousandth wide."""
    away = (x - 1) / 1e-4
    return 1 / (1 + away * away)


def pedestal(x):
    """Return a parabola on a large constant."""
    return 1e6 + x * x


# Function, point, colour, dashes, and where its name stands.
SEARCHED = {
    "resonance": (resonance, 1.00005, drawing.BLUE, "", (1.3e-4, 3e-2)),
    "1000000 + x²": (pedestal, 0.3, drawing.RED, "7 3", (5e-2, 1e-6)),
}


def error_bar(f, x, h):
    """Return the error bar of one step, as a part of the slope."""
    around = Around(f, x)
    trial = stage5._try_step(around, 0, h, around.value())
    return trial.error / abs(trial.value)


def tries(f, x):
    """Return the steps that the search tries, in order."""
    places = []

    def watched(point):
        places.append(abs(float(point) - x))
        return f(point)

    stage5.adaptive_difference(watched, x)
    return [max(places[k : k + 6]) for k in range(1, len(places), 6)]


def files():
    """Return the text of the one file."""
    x = drawing.across(STEPS[0], STEPS[-1], log=True, start=76)
    y = drawing.up(LOWEST, HIGHEST, log=True)
    parts = drawing.grid(
        x,
        y,
        [(10.0**k, f"1e{k}" if k else "1") for k in range(-8, 4, 2)],
        [(10.0**k, f"1e{k}" if k else "1") for k in range(-9, 1, 3)],
        "step h",
        "",
    )
    parts.append(drawing.text(x.start + 10, y.end + 22, "error bar / slope", anchor="start"))
    start = stage5.FIRST_STEP
    parts.append(drawing.line(x(start), y.start, x(start), y.end, drawing.GREY, "2 4", 2))
    parts.append(drawing.text(x(start) + 24, y.end + 22, "the first step", drawing.GREY, "start"))
    for name, (f, at, colour, dashes, where) in SEARCHED.items():
        bars = [(h, error_bar(f, at, h)) for h in STEPS]
        seen = [(x(h), y(bar)) for h, bar in bars if LOWEST < bar < HIGHEST]
        parts.append(drawing.curve(seen, colour, dashes))
        parts.append(drawing.text(x(where[0]), y(where[1]), name, colour, "start"))
        for number, h in enumerate(tries(f, at), 1):
            place = x(h), y(min(error_bar(f, at, h), HIGHEST))
            parts.append(
                f'<circle cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="13" fill="{colour}"/>'
            )
            parts.append(drawing.text(place[0], place[1] + 7, number, "#ffffff"))
    title = "Two searches from one start: each finds the valley of its function"
    return {"search.svg": drawing.picture(title, parts, font=FONT)}
