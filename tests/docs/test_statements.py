"""Numbers on pages that no example prints: each is quoted from its page, and measured here."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from gradcheck_ref import central_difference, check_gradient, forward_difference, nearby
from gradcheck_ref.check.judge.whole import allowed_as_a_whole
from gradcheck_ref.check.knobs import default_rtol

ROOT = Path(__file__).parents[2]
ROWS = []
RNGS = [np.random.default_rng(seed) for seed in range(4)]


def said(page, words, *marks):
    """Enter a function that says whether the words of a page are true."""

    def entered(is_true):
        ROWS.append(pytest.param(page, words, is_true, id=is_true.__name__, marks=marks))
        return is_true

    return entered


def best_step(formula, f, slope):
    """Return the step with the least error, in the mean over sixty places: rounding is random."""
    places, steps = np.linspace(1, 1.6, 60), 10.0 ** np.arange(-10, -3, 0.1)
    errors = [
        sum((float(formula(f, np.array(x), h=h)) / slope(x) - 1) ** 2 for x in places)
        for h in steps
    ]
    return steps[np.argmin(errors)]


def verdicts(f, x, claim, **options):
    """Check a claim with four seeds; return the letters of the verdicts, and the evaluations."""
    reports = [check_gradient(f, x, claim, seed=seed, **options) for seed in range(4)]
    return "".join(one.verdict[0] for one in reports), [one.evaluations for one in reports]


@said("docs/stages/stage2_central.md", "a little shorter: 2e-6 to 6e-6")
def the_best_central_step():
    functions = (np.exp, np.exp), (lambda x: 1 / x, lambda x: -1 / x**2), (np.log, lambda x: 1 / x)
    steps = [float(f"{best_step(central_difference, *pair):.0e}") for pair in functions]
    return min(steps) >= 2e-6 and max(steps) <= 6e-6


@said("exercises/02_central/README.md", "about 400 times longer than the best step of a forward")
def the_best_steps_of_exp():
    forward, central = (
        best_step(formula, np.exp, np.exp) for formula in (forward_difference, central_difference)
    )
    return 250 < central / forward < 600


@said(
    "docs/stages/stage2_central.md", "the estimate of a slope of 4e8 is right to nine or ten digits"
)
def the_digits_of_a_huge_slope():
    numeric = central_difference(lambda x: 1e8 / x, np.array(0.5), h=1e-5)
    return 9 <= -np.log10(abs(numeric + 4e8) / 4e8) < 10


@said("docs/check/kinks.md", "with more than about sixty it is *unsure*, because some step nearly")
def floors():
    found = {
        n: [
            check_gradient(
                lambda x: np.sum(np.floor(x)), rng.uniform(-5, 5, n), np.zeros(n)
            ).verdict
            for rng in RNGS
        ]
        for n in (5, 100)
    }
    return found == {5: ["pass"] * 4, 100: ["unsure"] * 4}


@said("docs/check/noise.md", "a gradient of the rope that is 1 % wrong passes")
def a_strong_penalty():
    def loss(x):
        return np.sum(np.sqrt(1 + x * x)) + 1e7 * np.sum(x**2)

    return check_gradient(loss, 0.7, 1.01 * 0.7 / 1.49**0.5 + 2e7 * 0.7).verdict == "pass"


@said("docs/check/reading_a_report.md", "with the first row they are 1, 0 and 1, the")
def quotients_of_a_forgotten_relu():
    text = (ROOT / "docs/check/reading_a_report.md").read_text("utf-8")
    call = re.search(r"`(central_difference\([^`]+)`", text)[1].replace("\n", " ")
    names = {"central_difference": central_difference}
    for source in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[:2]:
        exec(source, names)
    found = [eval(call, names).round(1).tolist()]
    names |= {"X": names["X"][:1], "y": names["y"][:1]}
    found.append(eval(call, names).round(1).tolist())
    return found == [[1, -2.6, 3.6], [1, 0, 1]]


@said("docs/check/noise.md", "in float32, 1e4 is enough to make the right gradients of small net")
def a_large_constant_in_float32():
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(8, 3)), rng.normal(size=8)
        point = [*(rng.normal(size=shape) for shape in ((3, 4), 4, 4)), np.array(0.0)]

        def loss(*inputs, c=1e4, dtype=np.float32, X=X, y=y):
            W, b, w, d = (np.asarray(one, dtype) for one in inputs)
            hidden = np.maximum(X.astype(dtype) @ W + b, 0)
            return dtype(c) + np.mean((hidden @ w + d - y.astype(dtype)) ** 2, dtype=dtype)

        def gradient(W, b, w, d, X=X, y=y):
            z = X @ W + b
            u = 2 * (np.maximum(z, 0) @ w + d - y) / len(y)
            back = np.outer(u, w) * (z > 0)
            return X.T @ back, back.sum(0), np.maximum(z, 0).T @ u, u.sum()

        singles = [np.asarray(one, np.float32) for one in point]
        found += [
            check_gradient(partial(loss, dtype=np.float64), point, gradient).verdict == "pass",
            check_gradient(loss, point, gradient).verdict == "unsure",
            check_gradient(loss, point, gradient, rtol=0.03).verdict == "unsure",
            check_gradient(loss, singles, gradient).verdict == "unsure",
        ]
    return all(found)


@said("docs/check/noise.md", "A *factor* such as 1e-100 or 1e14 does no harm")
def a_factor():
    def found(c, k):
        return verdicts(lambda x: c * np.sin(x), 0.7, k * c * np.cos(0.7))[0]

    return all((found(c, 1), found(c, 2)) == ("pppp", "ffff") for c in (1e-100, 1e14))


@said(
    "docs/check/kinks.md", "about 1e-13 for 3 points, and 1e-9 for half a million", pytest.mark.slow
)
def the_bars_of_a_mean_absolute_error():
    def bar(n):
        rng = np.random.default_rng(0)
        data, target, w = rng.normal(size=(n, 3)), rng.normal(size=n), np.array([0.5, -1.0, 0.2])
        slope = data.T @ np.sign(data @ w - target) / n
        return check_gradient(lambda w: np.mean(np.abs(data @ w - target)), w, slope).worst.bar

    return [round(np.log10(bar(n))) for n in (3, 500_000)] == [-13, -9]


@said(
    "docs/check/what_a_point_hides.md",
    "Signs stay, because a logarithm needs them, and so do shapes",
)
def nearby_points():
    found = set()
    for x in np.ones((3, 3)), np.zeros((2, 2)), -np.ones((1, 3)):
        report = check_gradient(
            lambda x: np.sum(np.maximum(x, 0)), nearby(x), lambda x: 1.0 * (x > 0)
        )
        found |= {spot.kind for spot in report.blind_spots}
    return found == {"mask", "factor"}  # of one sign, and with a gradient of 0


@said("docs/check/in_low_precision.md", "0.1 of the length in bfloat16, 0.02 in float16, 9e-4")
def what_a_whole_may_be_off_by():
    digits = 2.0**-7, 2.0**-10, 2.0**-23
    found = [float(f"{allowed_as_a_whole(eps):.0e}") for eps in digits]
    return found == [0.1, 0.02, 9e-4] and f"{default_rtol(digits[2]):.0e}" == "9e-04"


@said(
    "docs/check/what_it_is_worth.md", "takes at least about 60 evaluations, because it needs seven"
)
def the_least_for_a_pass():
    x = np.linspace(0.5, 2, 200)
    found = [verdicts(lambda x: np.sum(np.sin(x)), x, np.cos, max_evaluations=n) for n in (50, 60)]
    return [letters for letters, _ in found] == ["uuuu", "pppp"]


@said(
    "docs/check/what_it_is_worth.md",
    "about 36 are enough to fail a gradient that is wrong everywhere",
)
def the_least_for_a_fail():
    x = np.linspace(0.5, 2, 200)
    doubled = 2 * np.cos(x)
    return verdicts(lambda x: np.sum(np.sin(x)), x, doubled, max_evaluations=36)[0] == "ffff"


@said("docs/check/what_it_is_worth.md", "| about $6 n + 12$ |")
def the_usual_cost_of_few_entries():
    return all(
        verdicts(lambda x: np.sum(np.sin(x)), np.linspace(0.5, 2, n), np.cos)[1] == [6 * n + 12] * 4
        for n in (3, 10, 32)
    )


def costs(n):
    """Return the evaluations for a mean of squares, and those if one entry is doubled."""
    x = RNGS[0].normal(size=n)
    one = np.arange(n) == n // 3
    return [verdicts(lambda x: np.mean(x * x), x, (1 + k * one) * 2 * x / n) for k in (0, 1)]


@said("docs/check/what_it_is_worth.md", "| mean of $x^2$ | 1,000 | 132 | 145 to 160 |")
def a_thousand_entries():
    (right, low), (wrong, high) = costs(1000)
    return (right, wrong, {*low}) == ("pppp", "ffff", {132}) and 145 <= min(high) <= max(
        high
    ) <= 160


@said("docs/check/what_it_is_worth.md", "| | 1,000,000 | 143 | 185 to 279 |", pytest.mark.slow)
def a_million_entries():
    (right, low), (wrong, high) = costs(1_000_000)
    return (right, wrong, {*low}) == ("pppp", "ffff", {143}) and 185 <= min(high) <= max(
        high
    ) <= 279


@pytest.mark.parametrize(("page", "words", "is_true"), ROWS)
def test_a_number_on_a_page_is_as_measured(page, words, is_true):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert words in re.sub(r"\s+", " ", text)
    assert is_true()
