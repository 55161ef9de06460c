"""Pictures of what a learner's functions return, beside the reference: for a page and a terminal.

A picture is data: words, two axes, and series of points. A page draws it
(docs/assets/run/picture.js), and ``drawn`` turns it into lines of text.
"""

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from math import isnan, log10
from typing import Any

import numpy as np

import gradcheck_ref as reference
from catalogue import told, word
from columns import columns
from course import Exercise
from gradcheck_ref.zoo import load_iris

Points = list[tuple[float, float]]
Picture = dict[str, Any]
STEPS = [10.0 ** (-k / 4) for k in range(2, 65)]  # from 0.3 down to 1e-16


def picture_of(exercise: Exercise, submission: Any) -> Picture | None:
    """Draw what the functions of a submission return; None if they fail, or nothing is drawn."""
    draw = PICTURES.get(exercise.name)
    if draw is None:
        return None
    # What the functions print was heard during the checks; what they raise is in the report.
    silent = contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings()
    with silent[0], silent[1], np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            picture = draw(submission)
            picture["title"] = told(picture["title"])
            for named in (picture["across"], picture["up"]):
                named["label"] = word(named["label"])
            for one in picture["series"]:
                one["name"] = word(one["name"])
                one["points"] = within(one["points"], picture["up"])
        except (Exception, SystemExit):
            return None
    return picture if all(series["points"] for series in picture["series"][:1]) else None


def within(points: Points, up: dict[str, Any]) -> Points:
    """Return the points that are numbers, moved to the edge from above and below: all are seen."""
    low, high = up["from"], up["to"]
    return [(float(x), min(max(float(y), low), high)) for x, y in points if not isnan(y)]


def axis(label: str, low: float, high: float, *, log: bool = False) -> dict[str, Any]:
    """Return an axis."""
    return {"label": label, "from": low, "to": high, "log": log}


def series(name: str, points: Any, *, area: bool = False, beneath: bool = False) -> dict[str, Any]:
    """Return points with a name: a line, one that is seen beneath others, or cells of an area."""
    return {"name": name, "points": list(points), "area": area, "beneath": beneath}


# --- error against step -------------------------------------------------------------------------


def errors(slope: Callable[[float], Any]) -> Points:
    """Return how wrong the slope of exp at 1 is, for each step at which there is a slope."""
    points = []
    for h in STEPS:
        with contextlib.suppress(ValueError):  # the reference refuses a step that vanishes
            points.append((h, abs(float(slope(h)) / np.e - 1)))
    return points


def error_against_step(title: str, *lines: dict[str, Any]) -> Picture:
    """Return the picture of some errors."""
    return {
        "title": f"{title} of exp at 1",
        "across": axis("step h", 1e-16, 1, log=True),
        "up": axis("relative error", 1e-16, 10, log=True),
        "series": lines,
    }


def forward(sub: Any) -> Picture:
    """Draw the V of the forward difference."""
    x = np.array(1.0)
    return error_against_step(
        "Your forward difference",
        series("yours", errors(lambda h: sub.forward_difference(np.exp, x.copy(), h))),
        series(
            "reference",
            errors(lambda h: reference.forward_difference(np.exp, x, h=h)),
            beneath=True,
        ),
    )


def central(sub: Any) -> Picture:
    """Draw the V of the central difference, and that of the forward one."""
    x = np.array(1.0)
    return error_against_step(
        "Your central difference",
        series("yours", errors(lambda h: sub.central_difference(np.exp, x.copy(), h))),
        series(
            "reference",
            errors(lambda h: reference.central_difference(np.exp, x, h=h)),
            beneath=True,
        ),
        series("forward", errors(lambda h: reference.forward_difference(np.exp, x, h=h))),
    )


def adaptive(sub: Any) -> Picture:
    """Draw the V of the five-point formula, and the error bar that ``adaptive`` gives."""
    x = np.array(1.0)
    lines = [
        series("yours", errors(lambda h: sub.five_point(np.exp, 1.0, h))),
        series(
            "reference",
            errors(lambda h: reference.five_point_difference(np.exp, x, h=h)),
            beneath=True,
        ),
    ]
    with contextlib.suppress(Exception):  # not written yet
        _, bar = sub.adaptive(np.exp, 1.0)
        lines.append(series("error bar of your adaptive", [(h, bar / np.e) for h in STEPS]))
    return error_against_step("Your five-point formula", *lines)


# --- the plane of tolerances --------------------------------------------------------------------

PLACES = [k / 12 for k in range(-14, 15)]
RELATIVE, FLOOR = 0.25, 0.5
RTOL, ATOL = 0.25, 0.125
ACCEPTED = {  # by (yours, the reference)
    (True, True): "both accept",
    (True, False): "only yours accepts",
    (False, True): "only the reference accepts",
}


def plane(title: str, rule: Callable[..., bool], right: Callable[..., bool]) -> Picture:
    """Return which pairs a rule accepts, beside those that the reference accepts."""
    found: dict[tuple[bool, bool], Points] = {answers: [] for answers in ACCEPTED}
    for numeric in PLACES:
        for analytic in PLACES:
            pair = np.array([analytic]), np.array([numeric])
            answers = bool(rule(*pair)), bool(right(*pair))
            if any(answers):
                found[answers].append((numeric, analytic))
    drawn = [series(name, found[answers], area=True) for answers, name in ACCEPTED.items()]
    return {
        "title": title,
        "across": axis("numeric", -1.2, 1.2),
        "up": axis("analytic", -1.2, 1.2),
        "series": [one for one in drawn if one["points"]],
    }


def relative(sub: Any) -> Picture:
    """Draw where the learner's relative error is small."""
    return plane(
        f"Pairs with a relative error of at most {RELATIVE}, with a floor of {FLOOR}",
        lambda a, n: bool(sub.relative_error(a, n, FLOOR)[0] <= RELATIVE),
        lambda a, n: bool(abs(a[0] - n[0]) <= RELATIVE * max(abs(a[0]), abs(n[0]), FLOOR)),
    )


def allclose(sub: Any) -> Picture:
    """Draw where the learner's rule says yes."""
    return plane(
        f"Pairs that are close, with rtol = {RTOL} and atol = {ATOL}",
        lambda a, n: sub.allclose(a, n, RTOL, ATOL),
        lambda a, n: bool(reference.allclose(a, n, rtol=RTOL, atol=ATOL)),
    )


# --- a backward pass, and training --------------------------------------------------------------


def relu(sub: Any) -> Picture:
    """Draw the learner's backward pass, beside the slopes of the forward pass."""
    x, upstream = np.linspace(-2, 2, 40), np.linspace(3, 1, 40)
    measured = reference.central_difference(sub.relu, x, h=1e-6, upstream=upstream)
    return {
        "title": "Your backward pass, and the slopes of your relu; upstream falls from 3 to 1",
        "across": axis("x", -2, 2),
        "up": axis("slope", -1, 3),
        "series": [
            series("yours", zip(x, sub.relu_backward(x.copy(), upstream.copy()), strict=True)),
            series("measured", zip(x, measured, strict=True), beneath=True),
        ],
    }


def training(
    loss: Callable[..., Any], network: Any, changed: Callable[..., Any] | None = None
) -> Points:
    """Return the loss while a network learns, with its gradient or a changed one."""
    X, labels = load_iris()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(8)
    parts: Any = (
        *(rng.normal(size=(4, 8)) / 2, np.zeros(8)),
        *(rng.normal(size=(8, 3)) / 2, np.zeros(3)),
    )
    points = []
    for step in range(101):
        points.append((float(step), float(loss(X, labels, *parts, 0.01))))
        gradients = list(network.gradient(X, labels, *parts, 0.01))
        if changed:
            gradients[:2] = changed(network, X, labels, *parts)
        parts = [p - 0.5 * g for p, g in zip(parts, gradients, strict=True)]
    return points


def other_gate(gate: Callable[..., Any]) -> Callable[..., Any]:
    """Return a wrong gradient of the first layer, whose gate is another one."""

    def changed(network: Any, X: Any, labels: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Any:
        hidden, scores = network.forward(X, W1, b1, W2, b2)
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        error = p / p.sum(axis=1, keepdims=True) - (labels[:, None] == np.arange(3))
        through = error @ W2.T * gate(hidden) / len(X)
        return X.T @ through + 0.01 * W1, through.sum(axis=0)

    return changed


def two_layer(sub: Any) -> Picture:
    """Draw the loss of a network that learns with the learner's gradient, and with two bugs."""
    return of_training(sub.loss, sub)


def project(sub: Any) -> Picture:
    """Draw the same, with the loss of the project."""
    return of_training(sub.network_loss, sub.mine("08_two_layer"))


def of_training(loss: Callable[..., Any], network: Any) -> Picture:
    """Return the picture of three trainings."""
    without, around = other_gate(np.ones_like), other_gate(lambda hidden: hidden <= 0)
    return {
        "title": "The loss of the network on the iris flowers, step by step",
        "across": axis("step", 0, 100),
        "up": axis("loss", 0.1, 4, log=True),
        "series": [
            series("with your gradient", training(loss, network)),
            series("without the gate", training(loss, network, without)),
            series("with the gate turned around", training(loss, network, around)),
        ],
    }


PICTURES: dict[str, Callable[[Any], Picture]] = {
    "01_forward": forward,
    "02_central": central,
    "03_relative": relative,
    "04_allclose": allclose,
    "05_adaptive": adaptive,
    "06_relu": relu,
    "08_two_layer": two_layer,
    "08_project": project,
}


# --- as text ------------------------------------------------------------------------------------

MARKS = "*o."
WIDTH, HEIGHT = 48, 15


def place(value: float, axis: dict[str, Any], cells: int) -> int:
    """Return the cell of a value, which may be outside."""
    low, high = axis["from"], axis["to"]
    if axis["log"]:
        value, low, high = log10(value), log10(low), log10(high)
    part: float = (value - low) / (high - low)
    return round(part * (cells - 1))


def drawn(picture: Picture) -> Iterator[str]:
    """Yield the lines of a picture made of text; the learner's marks are on top."""
    across, up = picture["across"], picture["up"]
    cells = [[" "] * WIDTH for _ in range(HEIGHT)]
    for mark, one in reversed(list(zip(MARKS, picture["series"], strict=False))):
        for x, y in one["points"]:
            column, row = place(x, across, WIDTH), place(y, up, HEIGHT)
            if 0 <= column < WIDTH and 0 <= row < HEIGHT:
                cells[HEIGHT - 1 - row][column] = mark
    for number, line in enumerate(cells):
        edge = {0: f"{up['to']:g}", HEIGHT - 1: f"{up['from']:g}"}.get(number, "")
        yield f"{edge:>7} |{''.join(line)}".rstrip()
    yield " " * 8 + "+" + "-" * WIDTH
    ends = f"{across['from']:g}", across["label"], f"{across['to']:g}"
    room = WIDTH - sum(map(len, ends)) - columns(ends[1]) + len(ends[1])
    yield " " * 9 + ends[0] + " " * (room // 2) + ends[1] + " " * (room - room // 2) + ends[2]
    yield " " * 9 + told(f"up: {up['label']}")
    for mark, one in zip(MARKS, picture["series"], strict=False):
        yield f"{'':9}{mark} {one['name']}"
