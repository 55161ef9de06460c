"""Questions that come before their answer: each has its parts, and its answer is computed here."""

import contextlib
import importlib
import io
import json
import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from conftest import FENCE
from course import load, read_course
from gradcheck_ref import (
    adaptive_difference,
    allclose,
    central_difference,
    check_gradient,
    check_vjp,
    five_point_difference,
    forward_difference,
)
from gradcheck_ref.zoo import load_iris

ROOT = Path(__file__).parents[2]
COURSE = read_course()
ENGLISH = {*ROOT.glob("docs/**/*.md")} - {*ROOT.glob("docs/zh/**/*.md")}
SOURCES = [*sorted(ENGLISH), *ROOT.glob("exercises/*/README.md")]
BLOCK = re.compile(
    r'^<div class="predict" data-name="(?P<name>\w+)"(?P<more>[^>\n]*) markdown="1">\n\n'
    r"(?P<question>(?:(?!- |<).+\n)+)\n(?P<options>(?:- .+\n)*)\n?"
    r'<details markdown="1">\n<summary>(?:Answer|答案)</summary>\n\n'
    r"(?P<answer>(?:(?!</details>|- ).*\n)+)"
    r"(?P<replies>(?:(?!</details>).*\n)*)</details>\n</div>$",
    re.MULTILINE,
)
BLOCKS = [block for path in SOURCES for block in BLOCK.finditer(path.read_text("utf-8"))]
TRUE = {block["name"]: re.match(r"\*\*(.+?)\.?\*\*", block["answer"])[1] for block in BLOCKS}


def options_of(block):
    """Return the options of a question."""
    return re.findall(r"^- (.+)$", block["options"], re.MULTILINE)


def block_of(name):
    """Return the question of this name."""
    return next(block for block in BLOCKS if block["name"] == name)


# --- form ------------------------------------------------------------------------------------


def test_every_question_has_its_parts_and_a_name_of_its_own():
    begun = sum(path.read_text("utf-8").count('<div class="predict"') for path in SOURCES)
    assert len(BLOCKS) == begun
    assert len(TRUE) == len(BLOCKS)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block["name"])
def test_the_true_answer_is_one_of_the_options_or_on_the_scale(block):
    true, options = TRUE[block["name"]], options_of(block)
    if options:
        assert true in options
    else:
        low, high = re.search(r'data-from="(\S+)" data-to="(\S+)"', block["more"]).groups()
        assert float(low) < float(true) < float(high)


@pytest.mark.parametrize(
    ("paths", "unknown", "colon"),
    [
        pytest.param(SOURCES, "I do not know", ": ", id="en"),
        pytest.param(sorted(ROOT.glob("docs/zh/**/*.md")), "不知道", "：", id="zh"),
    ],
)
def test_each_wrong_choice_has_its_own_reply_and_who_does_not_know_a_hint(paths, unknown, colon):
    found = 0
    for block in (block for path in paths for block in BLOCK.finditer(path.read_text("utf-8"))):
        options, named = options_of(block), []
        if options:
            right = re.search(r"\*\*(.+?)[.。]?\*\*", block["answer"])[1]
            named = [*(option for option in options if option != right), unknown]
        replies = re.findall(r"^- (.+(?:\n  .+)*)$", block["replies"], re.MULTILINE)
        assert len(replies) == len(named), block["name"]
        for name, reply in zip(named, replies, strict=True):
            assert reply.startswith(name + colon)
            found += 1
    assert found > 50


@pytest.mark.parametrize("exercise", COURSE.everything, ids=lambda exercise: exercise.name)
def test_every_exercise_asks_before_it_tells(exercise):
    text = (exercise.folder / "README.md").read_text("utf-8")
    assert any(block.start() < text.index("## Tasks") for block in BLOCK.finditer(text))


# --- the answers: that to a question is what the function of its name returns ------------------


def solution(number):
    """Return the solution of an exercise."""
    return load(COURSE.find(number).folder / "solution.py")


def examples_of(page, most=None):
    """Run the first examples of a page, or all; return their names."""
    names = {}
    for fence in [*FENCE.finditer((ROOT / page).read_text("utf-8"))][:most]:
        if fence["language"] == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(fence["source"], names)
    return names


def verdict(report):
    """Return the word."""
    return str(report).split()[0].lower()


def yes(condition):
    """Answer in one word."""
    return "yes" if condition else "no"


def ask_home_long_step():
    text = (ROOT / "docs/assets/figures/secant.js").read_text("utf-8")
    assert 'state = { formula: "forward", h: 0.5' in text
    assert "SHORT = 0.01" in text
    x, h = 1.25, 0.5

    def slope(h):
        return ((x + h) ** 3 - 3 * (x + h) - (x**3 - 3 * x)) / h

    bar = 2 * abs(slope(h) - slope(h / 2))
    assert abs(3 * x * x - 3 - slope(h)) <= bar
    return "unsure" if bar > 0.01 * abs(slope(h)) else "pass"


def ask_five_minutes_line():
    names = examples_of("docs/check/five_minutes.md", most=1)
    loss, w, gradient = names["loss"], names["w"], names["gradient"]
    assert verdict(check_gradient(loss, w, lambda w: gradient(w) + 0.1 * w)) == "pass"
    off = check_gradient(loss, w, gradient).to_dict(entries=True)["pairs"]
    (ratios,) = [np.divide(one["analytic"], one["numeric"]) for one in off]
    assert np.all(abs(ratios - 1) < 0.05)
    return "the line with `return`"


def ask_low_precision_curve():
    """By how many times the residuals of the layer on the page grow, from steps short to long."""
    names = examples_of("docs/check/in_low_precision.md", most=1)
    layer, vjp, W, x, bfloat16 = (names[name] for name in ("layer", "vjp", "W", "x", "bfloat16"))

    def residuals(factor, h):
        rng, found = np.random.default_rng(1), []
        for _ in range(100):
            v, u = rng.normal(size=W.shape), rng.normal(size=x.shape)
            ahead, behind = bfloat16(W + h * v), bfloat16(W - h * v)
            rise = np.sum(u * (layer(ahead) - layer(behind)))
            found.append((np.sum(factor * vjp(u) * (ahead - behind)) - rise) / (2 * h))
        return np.sqrt(np.mean(np.square(found)))

    grown = [residuals(1.05, h) / residuals(1.0, h) for h in (1 / 512, 1 / 16, 1)]
    return ["the left part", "the middle", "the right part"][np.argmax(grown)]


def ask_million_hide():
    """Return the largest share of the lines on which some errors hide; two equal ones have it."""
    signs = (np.arange(32)[:, None] >> np.arange(5) & 1) * 2 - 1
    errors = np.random.default_rng(0).integers(0, 7, size=(2000, 5))
    hidden = np.mean(np.abs(errors @ signs.T) < errors.max(axis=1)[:, None], axis=1)
    two = np.mean(np.abs(signs @ np.array([6, 0, 0, 6, 0])) < 6)
    return "on half" if hidden.max() == two == 0.5 else "on another share"


def ask_report_where():
    """Make each of the mistakes: one alone is wrong in the entries of the report on the page."""
    names = examples_of("docs/check/reading_a_report.md")
    X, y, loss, point = (names[name] for name in ("X", "y", "loss", "point"))

    def gradients(W1, b1, W2, b2, mistake):
        hidden = np.maximum(X @ W1 + b1, 0)
        d_out = 2 * (hidden @ W2 + b2 - y) / len(y)
        if mistake == "in the output layer":
            d_out = d_out / 2
        d_hidden = d_out @ (np.ones_like(W2) if mistake == "on the way back through W2" else W2).T
        if mistake != "at the ReLU":
            d_hidden = d_hidden * (hidden > 0)
        rows = len(y) if mistake == "in the sums over the rows of data" else 1
        first = {"W1": X.T @ d_hidden / rows, "b1": d_hidden.sum(axis=0) / rows}
        return first | {"W2": hidden.T @ d_out, "b2": d_out.sum()}

    def wrong_entries(report):
        return [pair["verdict"] for pair in report.to_dict(entries=True)["pairs"]]

    seen = wrong_entries(names["report"])
    (block,) = (block for block in BLOCKS if block["name"] == "report_where")
    assert "pass" in str(check_gradient(loss, point, partial(gradients, mistake="")).verdict)
    (found,) = (
        mistake
        for mistake in options_of(block)
        if wrong_entries(check_gradient(loss, point, partial(gradients, mistake=mistake))) == seen
    )
    return found


def ask_stage1_shorter():
    x = np.array([0.7, 1.3, 1.9])

    def off(h):
        found = forward_difference(lambda x: np.mean(x * x * x), x, h=h)
        return f"1e{np.log10(np.abs(found / (x * x) - 1).max()):.0f}"

    assert [off(h) for h in (1e-2, 1e-4, 1e-6)] == ["1e-2", "1e-4", "1e-6"]
    return f"about {off(1e-12)}"


def ask_stage2_mean():
    def off(h):
        ahead, behind = ((1 / (0.8 + step) - 1 / 0.8) / step for step in (h, -h))
        return abs(ahead + 1.5625), abs((ahead + behind) / 2 + 1.5625)

    (ahead, mean), (shorter, least) = off(0.01), off(0.001)
    assert (f"{ahead:.5f}", f"{shorter:.5f}") == ("0.01929", "0.00195")
    assert mean / least == pytest.approx(100, rel=1e-3)
    return f"{least:.7f}, a hundredth of before"


def ask_stage3_limit():
    x = np.array([0.3, 1.1, 2.4])
    right, twice = [], []
    for unit in (1e-7, 1.0, 1e8):
        numeric = central_difference(lambda x, u=unit: u * np.sum(np.sqrt(x)), x, h=1e-5)
        claim = unit / (2 * np.sqrt(x))
        right.append(np.abs(claim - numeric).max())
        twice.append(np.abs(2 * claim - numeric).max())
    assert (f"{right[-1]:.0e}", f"{twice[0]:.0e}") == ("1e-02", "9e-08")
    return "none" if max(right) >= min(twice) else "some"


def ask_stage4_sign():
    row = allclose(-2.235e-04, 2.235e-04, rtol=1e-2, atol=1e-3)
    assert f"{row.error:.2e}" == "4.47e-04"
    assert row.ratio < 0.5
    return yes(row)


def ask_backward_upstream():
    return f"{1 / (1 + 3.0 * 3.0):g}"


def ask_network_product():
    """Multiply the shapes, and then the numbers."""
    names = examples_of("docs/network.md")
    A, W, G = (names[name] for name in "AWG")
    numeric = central_difference(lambda W: names["loss"](W, names["b"]), W, h=1e-5)
    assert A.shape[1] != G.shape[0]  # A @ G does not run
    products = {"`A.T @ G`": A.T @ G, "`G.T @ A`": G.T @ A}
    (found,) = (name for name, value in products.items() if value.shape == W.shape)
    assert allclose(products[found], numeric, rtol=1e-6, atol=1e-8)
    return found


def ask_complex_descent():
    """Walk along the conjugate of the gradient 2 z, as JAX has it."""
    z = 1 + 2j
    for _ in range(20):
        z -= 0.1 * (2 * z).conjugate()
    assert f"{z.imag:.0f}" == "77"
    assert abs(z.real) < 0.02
    return "the real part goes to 0, and the imaginary part grows"


def ask_students_learning():
    sys.path.insert(0, str(ROOT / "docs" / "examples"))
    try:
        learning = importlib.import_module("pictures.learning")
    finally:
        sys.path.pop(0)
    trainings = learning.wrong(), learning.right()
    ends = [(f"{losses[-1]:.2f}", f"{share:.0%}") for losses, share in trainings]
    assert ends == [("0.62", "89%"), ("0.17", "97%")]
    losses, _ = trainings[0]
    assert losses[20] < 0.3 * losses[0]  # it looks like learning
    return "the curve does not tell"


def ask_check_second_step():
    """The story of one claim (docs/check/how_it_decides.md): its other numbers, too."""
    x, calls, asked_at = np.array([0.7]), [], []

    def f(x):
        calls.append(x[0])
        return np.sin(x[0])

    def short(x):
        asked_at.append(x)
        return 1 - x**2 / 2 + x**4 / 24

    entry = check_gradient(f, x, short).worst
    moved = [abs(short(at) - short(x)) for at in asked_at.copy() if at != x]
    assert len(moved) > 0
    assert max(moved) < 1e-15
    far = abs(np.array(calls) - 0.7)
    assert 0.16 < max(far) < 0.25  # about 0.36 units of 0.5
    assert 1.2e-12 < entry.bar < 1.35e-12
    assert f"{entry.allowed:.0e}" == "8e-07"
    assert 200 < abs(entry.analytic - np.cos(0.7)) / entry.allowed < 220
    wave = check_gradient(lambda x: np.sin(2e4 * x[0]), x, lambda x: 2e4 * np.cos(2e4 * x))
    assert 5700 < entry.step / wave.worst.step < 5900
    assert check_gradient(lambda x: 1e9 + np.sin(x[0]), x, np.cos).worst.bar > 2e-6
    first, second = np.sort(far[11:17])[::-2], np.sort(far[18:24])[::-2]
    assert [f"{h:.0e}" for h in (*first, *second)] == [
        "4e-02", "1e-02", "2e-03", "6e-04", "1e-04", "3e-05"
    ]  # fmt: skip
    return f"{first[0] / second[0]:.0f} times shorter ones"


def ask_unsure_long_bar():
    def f(x):
        return 2e8 + 1 / x[0]

    claims = np.array([-4.0, -4.00001, *np.linspace(-4.01, -3.99, 11)])
    reports = [check_gradient(f, np.array([0.5]), claims[[k]]) for k in range(claims.size)]
    assert reports[0].worst.bar > reports[0].worst.allowed
    given = {report.verdict for report in reports}
    return " and ".join(sorted(given))


def ask_01_forward():
    return str(int(solution("01").forward_difference(np.exp, np.array(1.0), 1e-17)))


def ask_02_central():
    def error(h):
        """Of the worst of some places near 1: rounding is lucky at some place or other."""
        places = 1 + np.arange(9) / 1000
        slopes = [solution("02").central_difference(np.exp, np.array(x), h) for x in places]
        return max(abs(np.array(slopes) / np.exp(places) - 1))

    errors = {h: error(h) for h in 10.0 ** -np.arange(16)}
    return f"1e-{-int(np.log10(min(errors, key=errors.get))):d}"


def ask_03_relative():
    (error,) = solution("03").relative_error(np.array([0.001]), np.array([0.0]), 1e-8)
    return str(round(error))


def ask_04_allclose():
    return f"`{np.allclose(np.ones(3), np.ones((2, 3)))}`"


def ask_stage5_trust():
    """By the error bar of the page, which knows no true slope; the true error says the same."""
    x, offered = np.array(0.7), options_of(block_of("stage5_trust"))
    bars, errors = {}, {}
    for option in offered:
        h = float(option.strip("`").removeprefix("h = "))
        coarse, fine = (five_point_difference(lambda x: 1 / x, x, h=step) for step in (h, h / 2))
        rounding = 4 * 2.0**-52 * (1 / x + abs(x * fine)) / h
        bars[option], errors[option] = abs(coarse - fine) + rounding, abs(fine + 100 / 49)
    assert min(errors, key=errors.get) == min(bars, key=bars.get)
    return min(bars, key=bars.get)


def ask_choosing_too_short():
    """Of the third step that the page prints; the factor is how far from x the search has gone."""
    tried = []

    def resonance(x):
        tried.append(float(x))
        away = (x - 1) / 1e-4
        return 1 / (1 + away * away)

    x = 1.00005
    found = adaptive_difference(resonance, x)
    steps = [max(tried[k : k + 6]) - x for k in range(1, len(tried), 6)]
    assert [f"{h:.0e}" for h in steps] == ["3e-03", "5e-05", "8e-07", "6e-06", "2e-06"]
    assert found.step == pytest.approx(steps[2])
    rounding = 4 * 2.0**-52 * (resonance(x) + abs(x * found.value)) / found.step
    assert 1e-9 * abs(found.value) < found.error < 2 * rounding
    return "its bar was mostly rounding"


def ask_05_formula():
    near, far = 7 + 2.0 * 1, 7 + 2.0 * 4  # the slope 7, and an error of 2 * h * h
    formulas = options_of(block_of("05_formula"))
    places = {"near": near, "far": far}
    (found,) = [one for one in formulas if eval(one.strip("`"), places) == 7]
    return found


def ask_05_rounding():
    """Two values, each off by EPS, in turn with each sign; divided by 2 h."""
    eps, h = 2.0**-52, 2.0**-20
    off = max(abs(a * eps - b * eps) / (2 * h) for a in (1, -1) for b in (1, -1))
    assert off == eps / h
    weighted = 4 / 3 * 2 * eps / (2 * h / 2) + 1 / 3 * 2 * eps / (4 * h / 2)
    assert weighted == pytest.approx(3 * eps / h)  # "gives 3 times"
    return "`EPS * |f(x)| / h`"


def ask_06_relu():
    relu = solution("06")
    x = np.array([-1.0, 2.0, 0.5, 0.0])
    return verdict(check_vjp(relu.relu, x, vjp=lambda u, x: relu.relu_backward(x, u)))


def ask_07_softmax():
    with np.errstate(over="ignore", invalid="ignore"):
        e = np.exp(np.array([1000.0, 0.0]))
        return str((e / e.sum())[0])


def trained(gradient):
    """Train the network of exercise 8 as its file does; return the losses, and the share right."""
    network = solution("08_two_layer")
    X, labels = load_iris()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(8)
    parameters = rng.normal(size=(4, 8)) / 2, np.zeros(8), rng.normal(size=(8, 3)) / 2, np.zeros(3)
    losses = [network.loss(X, labels, *parameters, 0.01)]
    for _ in range(200):
        steps = gradient(network, X, labels, *parameters, 0.01)
        parameters = [p - 0.5 * step for p, step in zip(parameters, steps, strict=True)]
        losses.append(network.loss(X, labels, *parameters, 0.01))
    right = np.mean(network.forward(X, *parameters)[1].argmax(axis=1) == labels)
    return losses, right


def right_gradient(network, *arguments):
    """Return the gradient of the solution."""
    return network.gradient(*arguments)


def gateless(network, X, labels, W1, b1, W2, b2, lam):
    """Leave out the gate of the ReLU."""
    _, scores = network.forward(X, W1, b1, W2, b2)
    _, _, dW2, db2 = network.gradient(X, labels, W1, b1, W2, b2, lam)
    through = solution("07").cross_entropy_backward(scores, labels) @ W2.T
    return X.T @ through + lam * W1, through.sum(axis=0), dW2, db2


def ask_08_two_layer():
    (losses, right), (wrong_losses, wrong) = trained(right_gradient), trained(gateless)
    assert f"{losses[0]:.2f} {losses[-1]:.2f} {wrong_losses[-1]:.2f}" == "2.53 0.17 0.18"
    assert f"{right:.0%} {wrong:.0%}" == "97% 97%"
    return "it falls, nearly as far as with the right gradient"


def ask_08_project():
    project = solution("project")
    project.mine = lambda name: solution(name)
    calls = []

    def f(x):
        calls.append(x)
        return np.sum(x * x)

    x = np.random.default_rng(0).normal(size=(4, 8))
    wrong = 2 * x
    wrong[1, 2] *= 1.01
    assert project.wrong_entries(f, x, wrong) == [(1, 2)]
    assert len(calls) == 223  # "With a single wrong entry"
    calls.clear()
    assert project.wrong_entries(f, x, 2 * x) == []
    return f"{len(calls)} times"


def ask_09_bug_hunt():
    softmax = solution("09").softmax
    x = np.array([[0.5, 3.0, 2.0, 1.0], [2.5, 1.5, 0.2, 4.0]])
    numeric = central_difference(softmax, x, h=1e-6, upstream=np.ones((2, 4)))
    return yes(not np.allclose(np.zeros_like(x), numeric))


def ask_10_judge():
    table = (ROOT / "docs/examples/judge_baselines.md").read_text("utf-8")  # which a test computes
    rows = dict(re.findall(r"^\| (.+?) \|(.+)\|$", table, re.MULTILINE))
    gates = {name: 5 - cells.count("gate") for name, cells in rows.items()}
    assert [gates["stage 4 allclose"], gates["stage 5 adaptive"]] == [2, 3]
    return str(gates["stage 2 central"])


def ask_11_batch_norm():
    batch_norm = partial(solution("11").batch_norm, gamma=np.ones(1), beta=np.zeros(1), eps=1e-12)
    y, moved = (batch_norm(np.array([[1.0], [other]])) for other in (3.0, 5.0))
    return "nearly nothing" if np.allclose(y, moved, atol=1e-9) else "it moves"


def ask_12_convolution():
    source = (COURSE.find("12").folder / "solution.py").read_text("utf-8")
    wrong = load(COURSE.find("12").folder / "solution.py", source.replace("] +=", "] =").encode())
    rng = np.random.default_rng(12)

    def word(size):
        shapes = (2, 5, 4), (3, 2, size, size), 3
        inputs = tuple(rng.normal(size=shape) for shape in shapes)
        return verdict(
            check_vjp(
                wrong.convolve, inputs, vjp=lambda u, x, w, b: wrong.convolve_backward(u, x, w)
            )
        )

    assert word(2) == "fail"
    return yes(word(1) == "fail")


def ask_13_second_order():
    second = solution("13")
    A, x, a, b = (np.random.default_rng(13).normal(size=s) for s in ((4, 3), 3, 3, 3))
    return yes(second.asymmetry(lambda v: second.hessian_vector(v, x, A) / 2, a, b) > 1e-9)


def ask_14_random_lines():
    lines = solution("14").signs(0, 10, 50)
    error = np.zeros(50)
    error[7] = 0.001
    return "on all 10" if np.all(abs(lines @ error) == 0.001) else "not on all"


def ask_noise_differences():
    weights = np.diff(np.eye(7), n=6, axis=0)[0]
    assert max(weights**2) == 20**2
    return f"it becomes about {np.sqrt(np.sum(weights**2)):.0f} times as large"


def ask_newton_end():
    names = examples_of("docs/check/second_order.md", most=1)
    gradient, product = names["gradient"], names["hessian_times"]

    def right(v, w):
        p = 1 / (1 + np.exp(-names["X"] @ w))
        return names["X"].T @ (p * (1 - p) * (names["X"] @ v))

    ends = []
    for times, steps in ((right, 5), (product, 100)):
        w = np.zeros(2)
        for _ in range(steps):
            hessian = np.stack([times(v, w) for v in np.eye(2)])
            w = w - np.linalg.solve(hessian, gradient(w))
        ends.append(w)
    return "at the right weights" if np.allclose(*ends, rtol=1e-6) else "at wrong weights"


def ask_15_dropout():
    return f"{solution('15').unseen(0.5, 1000, 3):.0f}"


def ask_16_torch_function():
    torch = pytest.importorskip("torch")
    function = solution("16")
    x = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    found = torch.autograd.gradcheck(
        lambda x: function.Reverse.apply(x, 2.0), (x,), raise_exception=False
    )
    return yes(found)


def ask_point_why():
    names = examples_of("docs/check/what_a_point_hides.md")
    layer, gradient = names["new_layer"], names["gradient"]
    x, gamma, beta = layer
    right = gamma * np.cos(gamma * x + beta)
    for options in ({"rtol": 1e-9}, {"seed": 1}):
        assert verdict(check_gradient(names["loss"], layer, gradient, **options)) == "pass"
    assert np.array_equal(gradient(*layer)[0], right)
    return "there the gradient is right"


def ask_kink_claim():
    report = check_gradient(lambda x: np.maximum(x, 0.0), np.array(0.0), np.array(0.0))
    assert report.reason == "kink"
    return report.verdict


def ask_17_special_points():
    return yes(
        verdict(check_gradient(lambda x: np.sum(x * x * x), np.ones(3), 3 * np.ones(3))) == "pass"
    )


def ask_18_low_precision():
    return str(int(solution("18").bfloat16(np.array([257.0]))[0]))


def ask_kill_matrix_brings():
    data = (ROOT / "docs" / "assets" / "figures" / "kill_matrix.js").read_text("utf-8")
    brings = dict.fromkeys(range(1, 6), 0)
    for _, _, bugs, cells, agree in json.loads(data.partition("killMatrix = ")[2].rstrip(";\n")):
        wrong = [stage for stage, cell in enumerate(cells.split(), 1) if cell != f"a{bugs}"]
        if not agree and max(wrong, default=0) < 5:
            brings[max(wrong, default=0) + 1] += 1
    answer = block_of("kill_matrix_brings")["answer"]
    assert [int(n) for n in re.findall(r"\d+", answer.partition(":")[2])] == [
        *(brings[5], 2, 3, 4),
        *(brings[stage] for stage in (2, 3, 4)),
    ]
    most = str(max(brings, key=brings.get))
    return next(o for o in options_of(block_of("kill_matrix_brings")) if o.startswith(most))


ASK = {name.removeprefix("ask_"): ask for name, ask in globals().items() if name[:4] == "ask_"}


def test_every_question_is_asked_here():
    assert sorted(ASK) == sorted(TRUE)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", ASK)
def test_the_answer_is_true(name):
    assert ASK[name]() == TRUE[name]


def test_torch_has_three_slopes_of_relu_at_zero():
    """The page on kinks says so."""
    torch = pytest.importorskip("torch")
    zero = torch.zeros(())

    def slope(f):
        x = torch.zeros((), requires_grad=True)
        f(x).backward()
        return x.grad.item()

    ways = torch.relu, lambda x: x.clamp(min=0), lambda x: torch.maximum(x, zero)
    assert [slope(f) for f in ways] == [0, 1, 0.5]
