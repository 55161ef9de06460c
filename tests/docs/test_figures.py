"""The live figures: their numbers are Python's, and each has a picture for where no script runs.

The scripts are run by node, without a page. What they look like, and how they answer to mouse and
keyboard, is for a browser.
"""

import functools
import importlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gradcheck_ref import (
    allclose,
    central_difference,
    check_gradient,
    five_point_difference,
    forward_difference,
    relative_error,
)
from gradcheck_ref.staircase import JUDGES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FOLDER = DOCS / "assets" / "figures"
CONFIGURATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
SCRIPTS = [
    DOCS / path
    for path in re.findall(r"^  - (assets/\S+\.js)$", CONFIGURATION, re.MULTILINE)
    if path == "assets/checker.js" or path.startswith("assets/figures/")
]

# As a browser has it: no require, no module, no process. NaN and infinity become null. One process
# makes a page for each expression, a line, that it is sent.
PAGES = """
const [fs, vm, readline] = [require("fs"), require("vm"), require("readline")];
const scripts = process.argv.slice(1).map((path) => new vm.Script(fs.readFileSync(path, "utf8")));
readline.createInterface({input: process.stdin}).on("line", (line) => {
  const answer = {};
  try {
    const page = vm.createContext({});
    for (const script of scripts) script.runInContext(page);
    answer.value = vm.runInContext(JSON.parse(line), page);
  } catch (error) {
    answer.thrown = String(error);
  }
  console.log(JSON.stringify(answer));
});
"""


@pytest.fixture(scope="module", autouse=True)
def browser():
    """Start node, if it is there, and end it after the tests."""
    node = shutil.which("node")
    if node is None:
        yield
        return
    pipe = subprocess.PIPE
    command = [node, "-e", PAGES, *map(str, SCRIPTS)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8") as running:
        numbers.in_node = running
        yield
        running.stdin.close()
    del numbers.in_node
    assert running.returncode == 0


def numbers(expression):
    """Return the value of a JavaScript expression on a page with the figures, as JSON has it."""
    if not hasattr(numbers, "in_node"):
        pytest.skip("needs node, to run the live figures' arithmetic")
    print(json.dumps(expression), file=numbers.in_node.stdin, flush=True)
    answer = json.loads(numbers.in_node.stdout.readline())
    assert "thrown" not in answer, answer
    return answer["value"]


# --- the V-curve -----------------------------------------------------------------------------

FORMULAS = {
    "forward": forward_difference,
    "central": central_difference,
    "five-point": five_point_difference,
}
EXACT = {
    "cube": (lambda x: x * x * x, lambda x: 3 * x * x),
    "reciprocal": (lambda x: 1 / x, lambda x: -1 / (x * x)),
    "root": (np.sqrt, lambda x: 0.5 / np.sqrt(x)),
}
POINTS = [0.008, 0.8, 1.0, 7.3, 800.0]
STEPS = [float(f"{m}e-{k}") for k in range(16, 0, -1) for m in (1, 1.8, 3.2, 5.6)] + [1.0]


def slope(formula, f, x, h):
    """Return the slope by gradcheck_ref; None without one, or where the step vanishes."""
    if x + x.dtype.type(h) == x or x - x.dtype.type(h) == x:
        return None
    with np.errstate(all="ignore"):
        value = float(FORMULAS[formula](f, x, h=h))
    return value if np.isfinite(value) else None  # as JSON.stringify writes it


@pytest.mark.slow
def test_the_steps_and_slopes_of_the_v_curve_are_bit_identical():
    assert numbers("figures.vCurve.steps") == STEPS
    asked = [
        {"formula": formula, "name": name, "precision": precision, "x": x}
        for formula in FORMULAS
        for name in EXACT
        for precision in ("float64", "float32")
        for x in POINTS
    ]
    each = "figures.vCurve.steps.map((h) => figures.vCurve.slope({ ...asked, h }))"
    found = numbers(f"{json.dumps(asked)}.map((asked) => {each})")
    for one, slopes in zip(asked, found, strict=True):
        x = np.dtype(one["precision"]).type(one["x"])
        f = EXACT[one["name"]][0]
        assert slopes == [slope(one["formula"], f, x, h) for h in STEPS], one


def test_the_errors_of_the_v_curve_are_bit_identical():
    x = np.array([0.8 + 0.8 * k / 64 for k in range(9)])
    for name, (f, derivative) in EXACT.items():
        asked = json.dumps({"formula": "central", "name": name, "precision": "float64", "x": 0.8})
        for h in (1e-9, 1e-5, 0.1):
            slopes = np.array([central_difference(f, at, h=h) for at in x])
            worst = relative_error(derivative(x), slopes, floor=0).max()
            assert numbers(f"figures.vCurve.error({{...{asked}, h: {h}}})") == worst, (name, h)


@pytest.mark.parametrize(("name", "f"), [("exp", np.exp), ("sine", np.sin)])
def test_the_other_slopes_agree_where_truncation_dominates(name, f):
    asked = {"formula": "forward", "name": name, "precision": "float64", "x": 0.8, "h": 0.01}
    found = numbers(f"figures.vCurve.slope({json.dumps(asked)})")
    assert found == pytest.approx(float(forward_difference(f, 0.8, h=0.01)), rel=1e-12)


# --- the zoom --------------------------------------------------------------------------------

ZOOMED = {
    "forward": (lambda x: x * x * x + 10, 3 * 0.4 * 0.4, 0.4),
    "central": (lambda x: 1 / x, -1 / (0.8 * 0.8), 0.8),
}


@pytest.mark.parametrize("scene", ZOOMED)
def test_the_slopes_of_the_zoom_are_bit_identical_and_so_are_its_stairs(scene):
    f, truth, x = ZOOMED[scene]
    found = numbers(
        "figures.zoom.steps.map((h) => ({ h, ...figures.zoom.seen("
        f"figures.zoom.scenes.{scene}, h) }}))"
    )
    assert len(found) > 60
    for at in found:
        h = at["h"]
        assert at["truth"] == pytest.approx(truth, rel=1e-15)
        for told in at["measured"]:
            assert told["value"] == slope(told["formula"], f, np.float64(x), h), (scene, h)
            (from_, low), (to, high) = told["points"]
            steep = (high - low) / (to - from_) * abs(truth)
            assert steep == pytest.approx(told["value"], rel=1e-9, abs=1e-9)
        t, height = at["curve"][280]
        assert height == pytest.approx((f(x + t * h) - f(x)) / (h * abs(truth)), rel=1e-12)


# --- the digits ------------------------------------------------------------------------------


@pytest.fixture
def drawn_digits(monkeypatch):
    """Return the module that draws the digits for paper."""
    monkeypatch.syspath_prepend(str(DOCS / "examples"))
    return importlib.import_module("pictures.digits")


def digits_of(difference, f, steps):
    """Return the slope of f at 0.7 as the figure writes it, for each step."""
    return [f"{difference(f, 0.7, h=float(h)):.12f}" for h in steps]


@pytest.mark.parametrize("name", ["reciprocal", "root"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_the_digits_are_those_of_python_and_of_the_picture(drawn_digits, formula, name):
    texts = digits_of(FORMULAS[formula], EXACT[name][0], drawn_digits.STEPS)
    shared = drawn_digits.agreeing(texts)
    rows = zip(drawn_digits.STEPS, texts, shared, drawn_digits.words(shared), strict=True)
    found = numbers(f"figures.digits.lines({{formula: '{formula}', name: '{name}'}})")
    assert [tuple(line.values()) for line in found] == list(rows)


def test_a_better_formula_has_more_digits_that_agree(drawn_digits):
    f, steps = EXACT["reciprocal"][0], drawn_digits.STEPS
    best = [max(drawn_digits.agreeing(digits_of(one, f, steps))) for one in FORMULAS.values()]
    assert best[0] < best[1] < best[2]


# --- the secant ------------------------------------------------------------------------------


def cubic(x):
    """Return the function of the figure."""
    return x * x * x - 3 * x


def test_the_slopes_of_the_secant_are_bit_identical():
    found = numbers(
        "figures.secant.steps.map((h) => [h, figures.secant.measured('forward', h),"
        " figures.secant.measured('central', h)])"
    )
    assert len(found) == 14
    for h, *both in found:
        for formula, told in zip((forward_difference, central_difference), both, strict=True):
            value, half = (float(formula(cubic, 1.25, h=step)) for step in (h, h / 2))
            assert (told["value"], told["bar"]) == (value, 2 * abs(value - half))
            assert abs(told["value"] - 1.6875) <= told["bar"], "the bar is too short"


def test_the_claims_of_the_secant_are_judged_as_the_check_judges_them():
    found = numbers(
        "Object.entries(figures.secant.claims).map(([name, { slope }]) => [name, slope,"
        " figures.secant.steps.map((h) =>"
        " figures.secant.verdict(figures.secant.measured('forward', h), slope))])"
    )
    assert [name for name, *_ in found] == ["right", "power", "term", "sign"]
    for name, slope, verdicts in found:
        assert check_gradient(cubic, 1.25, slope).verdict == verdicts[0]  # by the shortest step
        assert (verdicts[0] == "pass") == (name == "right")
        long = [verdict for verdict in verdicts if verdict != verdicts[0]]
        assert set(long) <= {"unsure"}, "a long step may not know, but never says the opposite"


# --- the kink --------------------------------------------------------------------------------

RELU = functools.partial(np.maximum, 0.0)


def test_the_slopes_of_the_kink_are_bit_identical():
    found = numbers(
        "figures.kink.points.flatMap((x) => figures.kink.steps.map("
        "(h) => ({ x, h, ...figures.kink.slopes(x, h) })))"
    )
    assert len(found) == 41 * 7
    for at in found:
        x, h = float(at["x"]), at["h"]
        assert at["central"] == central_difference(RELU, x, h=h), at
        assert at["right"] == forward_difference(RELU, x, h=h), at
        # To the left is ahead, when seen in a mirror.
        assert at["left"] == -forward_difference(lambda x: RELU(-x), -x, h=h), at


@pytest.mark.slow
def test_the_verdicts_at_the_kink_are_the_checks():
    # Those beside the kink, and of the others one in four.
    found = numbers(
        "figures.kink.points.filter((x, k) => k % 4 === 0 || Math.abs(k - 20) === 1).flatMap("
        "(x) => [0, 0.5, 1, 2, -0.5].map((claim) => [x, claim, figures.kink.verdict(x, claim)]))"
    )
    for x, claim, verdict in found:
        report = check_gradient(RELU, float(x), float(claim))
        assert report.verdict == verdict, (x, claim)
        assert (report.reason == "kink") == (verdict == "unsure"), (x, claim)
    assert {verdict for _, _, verdict in found} == {"pass", "fail", "unsure"}


# --- the tolerance plane ---------------------------------------------------------------------


def by_rule(a, n, atol, rtol):
    """Return {rule: (what gradcheck_ref allows, which pass)} for numbers or arrays."""
    compared = {
        "atol": allclose(a, n, rtol=0, atol=atol),
        "rtol": allclose(a, n, rtol=rtol, atol=0),
        "sum": allclose(a, n, rtol=rtol, atol=atol),
    }
    found = {rule: (row.allowed, row.close) for rule, row in compared.items()}
    pairs = list(zip(found["atol"], found["rtol"], strict=True))
    return found | {"each": (np.minimum(*pairs[0]), np.logical_and(*pairs[1]))}


def test_the_verdicts_on_the_tolerance_plane_are_those_of_stage_4():
    values = [-2e-3, -1e-3, -4.84e-5, 0.0, 4.84e-5, 2.235e-4, 1e-3, 1.01e-3, 2e-3]
    pairs = [
        {"a": a, "n": n, "atol": atol, "rtol": rtol}
        for a in values
        for n in values
        for atol in (0, 1e-3)
        for rtol in (0, 1e-2, 0.5)
    ]
    found = numbers(
        f"{json.dumps(pairs)}.map((p) => Object.fromEntries(Object.keys(figures.tolerance.passes)"
        ".map((rule) => [rule, [figures.tolerance.allowed[rule](p.n, p),"
        " figures.tolerance.passes[rule](p.a, p.n, p)]])))"
    )
    for pair, rules in zip(pairs, found, strict=True):
        expected = by_rule(*pair.values())
        assert {rule: tuple(cell) for rule, cell in rules.items()} == expected, pair


@pytest.mark.parametrize("rule", ["atol", "rtol", "each", "sum"])
def test_exactly_the_points_in_the_region_pass(rule):
    given = {"atol": 0.2, "rtol": 0.5}
    corners = numbers(f"figures.tolerance.region('{rule}', {json.dumps(given)}, 1)")
    upper, lower = corners[: len(corners) // 2], corners[len(corners) // 2 :][::-1]
    a, n = (
        grid.ravel() for grid in np.meshgrid(np.linspace(-1.6, 1.6, 65), np.linspace(-1, 1, 41))
    )
    high, low = (np.interp(n, *np.transpose(side)) for side in (upper, lower))
    clear = np.minimum(np.abs(a - low), np.abs(a - high)) > 1e-9  # of the border
    passes = by_rule(a, n, **given)[rule][1]
    np.testing.assert_array_equal(passes[clear], ((low < a) & (a < high))[clear])


# --- the signs of five errors ----------------------------------------------------------------

# The ones at the start, one alone, two that cancel, five alike, and none.
FIVE = [(4, 3, 2, 1, 2), (0, 3, 0, 0, 0), (0, 6, 0, 0, 6), (1, 1, 1, 1, 1), (0, 0, 0, 0, 0)]


def test_the_lines_that_show_the_largest_error_are_the_same_in_python(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "examples")
    flips = importlib.import_module("pictures.flips")
    counts = numbers(f"{json.dumps(FIVE)}.map((errors) => figures.flips.showing(errors))")
    residuals = numbers(
        f"{json.dumps(FIVE)}.map((errors) => figures.flips.pairs(errors)"
        ".map((pair) => pair.map((line) => figures.flips.residual(errors, line))))"
    )
    signs = (np.arange(32)[:, None] >> np.arange(5) & 1) * 2 - 1
    for errors, count, pairs in zip(FIVE, counts, residuals, strict=True):
        assert count == flips.showing(errors)
        assert count == np.sum(np.abs(signs @ errors) >= max(errors))
        assert list(map(tuple, pairs)) == flips.residuals(errors)
        assert sorted(np.ravel(pairs)) == sorted(signs @ errors)
    assert counts == [20, 32, 16, 32, 32]


# --- random lines ----------------------------------------------------------------------------

# (size, others): the worst there is, nothing that could cancel, few, many, and all entries alike.
ERRORS = [(1, 1), (1, 0), (3, 7), (6, 31), (20, 63), (1, 63)]


@pytest.fixture
def lines(monkeypatch):
    """Import the module that draws the picture: its numbers are the figure's, by NumPy."""
    monkeypatch.syspath_prepend(DOCS / "examples")
    return importlib.import_module("pictures.lines")


def lines_in_javascript(call):
    """Return the value of a call, for each of the errors."""
    asked = json.dumps([{"size": size, "others": others} for size, others in ERRORS])
    return numbers(f"{asked}.map((errors) => figures.lines.{call})")


@pytest.mark.slow
def test_the_draws_that_miss_are_the_same_in_python(lines):
    found = lines_in_javascript("missed(errors, 3)")
    assert found == [lines.missed(*errors, 3) for errors in ERRORS]


def test_the_probability_of_a_miss_is_the_share_of_all_sums_of_signs(lines):
    found = lines_in_javascript("chance(errors)")
    for (size, others), probability in zip(ERRORS, found, strict=True):
        assert probability == pytest.approx(lines.chance(size, others), rel=1e-12)
        assert probability <= 0.5
        if others < 10:
            rows = (np.arange(2**others)[:, None] >> np.arange(others) & 1) * 2 - 1
            assert probability == np.mean(np.abs(size + rows.sum(axis=1)) < size)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 20])
def test_the_bars_and_their_labels_are_the_same_in_python(lines, count):
    bars = lines_in_javascript(f"correlations(errors, 2, 7, {count})")
    named = lines_in_javascript(f"named(errors, 2, {count})")
    for errors, means, right in zip(ERRORS, bars, named, strict=True):
        expected = np.abs(lines.correlations(*errors, count, draws=1000, seed=2))
        assert np.abs(means).tolist() == expected[7].tolist()
        first = np.delete(expected, lines.CULPRIT, axis=1).max(axis=1)
        assert right == np.sum(expected[:, lines.CULPRIT] > first)


# --- few digits ------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_numbers_of_few_digits_are_bit_identical(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "examples")
    few = importlib.import_module("pictures.low_precision")
    for asked in (("right", "bfloat16", 0), ("large", "float16", 1), ("entry", "float32", 2)):
        words = json.dumps(dict(zip(("claim", "precision", "seed"), asked, strict=True)))
        found = numbers(f"figures.lowPrecision.numbers({words})")
        drawn = dict(zip(("rms", "mean", "doubt", "error"), few.numbers(*asked), strict=True))
        assert found == {name: np.asarray(value).tolist() for name, value in drawn.items()}


@pytest.mark.parametrize(("precision", "kind"), [("float32", np.float32), ("float16", np.float16)])
def test_few_digits_are_those_of_numpy(monkeypatch, precision, kind):
    monkeypatch.syspath_prepend(DOCS / "examples")
    few = importlib.import_module("pictures.low_precision")
    x = np.random.default_rng(0).normal(size=1000)
    assert few.rounded(x, few.DIGITS[precision]).tolist() == x.astype(kind).tolist()


# --- the staircase ---------------------------------------------------------------------------


def kill_matrix_in_javascript():
    """Return the rows of the committed data, which is JSON after an assignment."""
    text = (FOLDER / "kill_matrix.js").read_text(encoding="utf-8")
    return json.loads(re.fullmatch(r"//[^\n]*\nfigures\.killMatrix = (.*);\n", text, re.DOTALL)[1])


def test_the_rows_make_a_staircase_in_the_order_of_the_picture():
    rows = {row[0]: row for row in kill_matrix_in_javascript()}
    differing = numbers(
        "figures.staircase.sorted(figures.staircase.filtered(figures.staircase.rows(), "
        '{text: "", tag: "", differing: true}), "stairs", false).map((row) => row.name)'
    )
    picture = (FOLDER / "kill_matrix.svg").read_text(encoding="utf-8")
    assert [word for word in re.findall(r">(\w+)</text>", picture) if word in rows] == differing


def test_the_stages_and_totals_of_the_staircase_are_the_judges_and_those_of_its_picture():
    assert numbers("figures.staircase.stages") == [judge.name for judge in JUDGES]
    found = numbers("figures.staircase.totals(figures.staircase.rows())")
    picture = (FOLDER / "staircase.svg").read_text(encoding="utf-8")
    right = [int(count) for count in re.findall(r">(\d+) of \d+ right<", picture)]
    bugs = [int(count) for count in re.findall(r">(\d+) of \d+ bugs<", picture)]
    assert [row["accepted"] for row in found] == right
    assert [row["caught"] for row in found] == bugs
    assert right == sorted(right)


# --- pictures and pages ----------------------------------------------------------------------


def figures_on_pages():
    """Return (name of the figure, what else stands in its tag) for every figure."""
    return [
        (name, line)
        for page in DOCS.rglob("*.md")
        if "zh" not in page.parts
        for line in page.read_text(encoding="utf-8").splitlines()
        for name in re.findall(r"data-figure=\"?(\w+)", line)
    ]


def test_every_figure_is_on_a_page_and_every_page_figure_exists():
    sources = "".join(script.read_text(encoding="utf-8") for script in SCRIPTS)
    made = set(re.findall(r'^figures\.add\("(\w+)"', sources, re.MULTILINE))
    assert {name for name, _ in figures_on_pages()} == made


def test_the_stored_pictures_are_the_ones_drawn():
    # What the script prints is compared in test_docs.py.
    told = (DOCS / "examples" / "figures.out").read_text(encoding="utf-8")
    assert "not as drawn" not in told, "run: python docs/examples/figures.py write"


def test_every_picture_is_on_a_page():
    lines = "".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
    names = {path.name.replace(".zh.", ".") for path in FOLDER.glob("*.svg")}
    assert {name for name in names if name not in lines} == set()


# {colour: the same in the dark}, as the variables of the live figures say.
VARIABLES = re.findall(
    r"(--\w+): (#[0-9a-f]{6});", (FOLDER / "figures.css").read_text(encoding="utf-8")
)
COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl)a?\(")
NAMED = re.compile(r"(?:fill|stroke)=\"(?!none|#|url)[^\"]+\"")


def test_no_figure_has_a_colour_of_its_own(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "examples")
    drawing = importlib.import_module("pictures.drawing")
    light = {name: colour for name, colour in reversed(VARIABLES)}
    dark = dict(VARIABLES)
    assert all(light[name] != dark[name] for name in light), "each variable has two colours"
    for script in FOLDER.glob("*.js"):
        assert COLOUR.findall(script.read_text(encoding="utf-8")) == [], script.name
    rules = (FOLDER / "figures.css").read_text(encoding="utf-8")
    rules = re.sub(r"--\w+: #[0-9a-f]{6};", "", rules)
    assert COLOUR.findall(rules) == []
    # Pictures are inverted in the dark (assets/site.css): they have the light colours, and greys.
    allowed = {*light.values(), drawing.BLACK, drawing.GREY, drawing.PALE, drawing.FAINT, "#ffffff"}
    for picture in FOLDER.glob("*.svg"):
        text = picture.read_text(encoding="utf-8")
        assert set(COLOUR.findall(text)) <= allowed, picture.name
        assert NAMED.findall(text) == [], picture.name


def test_every_picture_has_a_description():
    pictures = [line for _, line in figures_on_pages() if line.startswith("!")]
    assert [line for line in pictures if len(re.match(r"!\[(.*)\]\(", line)[1]) <= 60] == []


def test_the_figures_are_loaded_and_small_and_fetch_nothing():
    assert sorted(FOLDER.glob("*.js")) == sorted(s for s in SCRIPTS if s.parent == FOLDER)
    files = [*FOLDER.glob("*.js"), *FOLDER.glob("*.css")]
    code = [file for file in files if file.name != "kill_matrix.js"]  # which grows with the zoo
    assert sum(file.stat().st_size for file in code) < 77_000
    for file in files:
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//cdn|\bfetch\(|XMLHttpRequest|\bimport\b", text), file.name
