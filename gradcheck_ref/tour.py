"""The tour that ``python -m gradcheck_ref`` prints: five stages, a network, and a bug."""

import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcheck_ref.check import check_gradient
from gradcheck_ref.staircase import JUDGES, TOLERANCE
from gradcheck_ref.zoo import load_iris
from gradcheck_ref.zoo.networks import mean_cross_entropy, one_hot, softmax_rows

Parameters = dict[str, Any]

HIDDEN = 8
TRAINING_STEPS = 150
LEARNING_RATE = 0.5


def tour(*, width: int = 80) -> dict[str, Any]:
    """Run everything and return the results as data that JSON can hold.

    Parameters
    ----------
    width : int
        Width of the reports, in columns.

    Returns
    -------
    dict
        ``stages``: a row for each stage; ``network``: the trained network, with the report on its
        right gradient (``right``) and on a wrong one (``wrong``); ``passed``: whether the right
        one was accepted and the wrong one caught.
    """
    stages = _five_stages()
    network = _network(width)
    passed = (
        network["right"]["verdict"] == "pass"
        and network["wrong"]["verdict"] == "fail"
        and stages[-1]["accepts_right"]
        and not stages[-1]["accepts_wrong"]
    )
    return {"stages": stages, "network": network, "passed": passed}


def told(data: dict[str, Any], *, width: int, colour: bool) -> str:
    """Write the results of the tour as text.

    Parameters
    ----------
    data : dict
        The result of ``tour``.
    width : int
        Columns of the terminal; lines are wrapped to fit.
    colour : bool
        Whether to also print right answers in green and wrong ones in red.

    Returns
    -------
    str
        The text, without a newline at the end.
    """
    page = _Page(width, colour)
    page.heading("1. Five stages, one function")
    page.paragraph(
        "f(x) = sum(exp(4 x)) has gradients from 4e-08 to 44 here. Each stage checks the right "
        f"gradient, and one whose smallest entry is doubled, at a tolerance of {TOLERANCE:.0e}."
    )
    for row in data["stages"]:
        right, wrong = row["accepts_right"], row["accepts_wrong"]
        what = f"{'accepts' if right else 'refuses'} the right one, "
        what += f"{'accepts' if wrong else 'refuses'} the wrong one: {row['note']}"
        page.item("ok" if right and not wrong else "no", row["stage"], what)

    network = data["network"]
    page.heading("2. A network, trained and checked")
    page.paragraph(
        f"Two layers with ReLU between them on Fisher's iris, {network['flowers']} flowers: "
        f"{TRAINING_STEPS} steps of training bring the loss from {network['first_loss']:.2f} to "
        f"{network['last_loss']:.2f}, and {network['accuracy']:.0%} are classified correctly. Here "
        "is the report of check_gradient on its backpropagation:"
    )
    page.report(network["right"])

    page.heading("3. The same network, with a bug")
    page.paragraph("The gradient now passes through units that are switched off:")
    page.report(network["wrong"])

    page.heading("Next")
    page.paragraph(
        "Read gradcheck_ref/stage1_forward.py, then stage2_central.py: the difference between the "
        "two files is the first lesson."
    )
    return "\n".join(page.lines)


# --- five stages, one function ----------------------------------------------------------------

POINT = np.array([-4.6, -2.0, 0.0, 0.6])
NOTES = {
    "1 forward": "its estimate is too coarse for either",
    "2 central": "more digits, but an error of 4e-08 is small only beside large entries",
    "3 relative": "the error has a scale now, but the smallest entry drowns in rounding",
    "4 allclose": "an absolute plus a relative tolerance; somebody had to choose the step",
    "5 adaptive": "the same, with an error bar and a step that it chose itself",
}


def _sum_of_exp(x: Any) -> Any:
    return np.sum(np.exp(4 * x))


def _five_stages() -> list[dict[str, Any]]:
    right = 4 * np.exp(4 * POINT)
    wrong = right * [2, 1, 1, 1]
    rows = []
    for judge in JUDGES:
        numeric = judge.estimate(_sum_of_exp, POINT)
        rows.append(
            {
                "stage": judge.name,
                "accepts_right": judge.ratio(right, numeric) <= 1,
                "accepts_wrong": judge.ratio(wrong, numeric) <= 1,
                "note": NOTES[judge.name],
            }
        )
    return rows


# --- a network on the iris data ----------------------------------------------------------------


def _network(width: int) -> dict[str, Any]:
    features, labels = load_iris()
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    parameters = _initial_parameters(np.random.default_rng(0))
    first_loss = _loss(parameters, features, labels)
    for _ in range(TRAINING_STEPS):
        for name, gradient in _gradient(parameters, features, labels).items():
            parameters[name] = parameters[name] - LEARNING_RATE * gradient
    scores, _ = _forward_pass(parameters, features)

    def loss(**parameters: Any) -> Any:
        return _loss(parameters, features, labels)

    return {
        "flowers": len(labels),
        "first_loss": float(first_loss),
        "last_loss": float(loss(**parameters)),
        "accuracy": float(np.mean(scores.argmax(axis=1) == labels)),
        "right": _checked(width, loss, parameters, _gradient(parameters, features, labels)),
        "wrong": _checked(
            width, loss, parameters, _gradient(parameters, features, labels, gate=False)
        ),
    }


def _initial_parameters(rng: np.random.Generator) -> Parameters:
    return {
        "W1": rng.normal(size=(4, HIDDEN)) / 2,
        "b1": np.zeros(HIDDEN),
        "W2": rng.normal(size=(HIDDEN, 3)) / 2,
        "b2": np.zeros(3),
    }


def _forward_pass(p: Parameters, X: Any) -> tuple[Any, Any]:
    hidden = np.maximum(X @ p["W1"] + p["b1"], 0)
    return hidden @ p["W2"] + p["b2"], hidden


def _loss(p: Parameters, X: Any, y: Any) -> Any:
    return mean_cross_entropy(_forward_pass(p, X)[0], y)


def _gradient(p: Parameters, X: Any, y: Any, *, gate: bool = True) -> Parameters:
    """Backpropagate. The bug is to leave out the gate: units that are off pass the gradient on."""
    scores, hidden = _forward_pass(p, X)
    d_scores = (softmax_rows(scores) - one_hot(y, 3)) / len(y)
    d_hidden = d_scores @ p["W2"].T
    if gate:
        d_hidden = d_hidden * (hidden > 0)
    return {
        "W1": X.T @ d_hidden,
        "b1": d_hidden.sum(axis=0),
        "W2": hidden.T @ d_scores,
        "b2": d_scores.sum(axis=0),
    }


def _checked(
    width: int, loss: Callable[..., Any], parameters: Parameters, gradient: Parameters
) -> dict[str, Any]:
    report = check_gradient(loss, parameters, gradient)
    return {
        "verdict": report.verdict,
        "compared": report.compared,
        "evaluations": report.evaluations,
        "text": report.text(width),
    }


# --- the page ---------------------------------------------------------------------------------

GREEN, RED, PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[0m"


class _Page:
    """Lines of text that fit a terminal."""

    def __init__(self, width: int, colour: bool) -> None:
        self.width = min(max(width, 40), 88)
        self.colour = colour
        self.lines: list[str] = []

    def heading(self, text: str) -> None:
        self.lines += [*([""] if self.lines else []), text, "-" * min(len(text), self.width)]

    def paragraph(self, text: str) -> None:
        self.lines += textwrap.wrap(text, self.width)

    def report(self, checked: dict[str, Any]) -> None:
        """Add the report of a check, with its verdict in color."""
        verdict, _, rest = checked["text"].partition(" ")
        hue = GREEN if checked["verdict"] == "pass" else RED
        mark = f"{hue}{verdict}{PLAIN}" if self.colour else verdict
        self.lines += ["", *f"{mark} {rest}".splitlines()]

    def item(self, verdict: str, label: str, text: str) -> None:
        """Add a verdict and its subject, with a remark beside them."""
        head = f"{verdict:5}{label:12}"
        indent = " " * len(head)
        body = textwrap.wrap(text, self.width, initial_indent=head, subsequent_indent=indent)
        if self.colour:
            hue = GREEN if verdict in ("ok", "PASS") else RED
            body[0] = f"{hue}{verdict}{PLAIN}{body[0][len(verdict) :]}"
        self.lines += body
