"""Functions that mislead: the verdicts that may be given, right and wrong claims in pairs.

Rows are added by topic; a wanted answer is a verdict, or ``verdict:reason``. Where two verdicts are
wanted, nothing that can be seen decides between them: there it counts that the third is not given.
"""

import numpy as np
import pytest
from beside import hashed

from gradcheck_ref import check_gradient, check_jvp, check_vjp

ROWS = {}
PASS, FAIL, UNSURE = {"pass"}, {"fail"}, {"unsure"}
NOT_FAIL, NOT_PASS = PASS | UNSURE, FAIL | UNSURE
X3, X5 = np.array([0.7, 1.1, -0.4]), np.array([0.3, 2.4, 0.9, 1.7, 0.6])


def row(name, wanted, f, x, claim, check=check_gradient, **more):
    assert name not in ROWS, name
    ROWS[name] = (wanted, lambda: check(f, np.asarray(x, float), claim, **more))


def pair(name, f, x, g, *, right=NOT_FAIL, wrong=FAIL, factor=2.0):
    """Add a right gradient, and the same with one entry that is another one."""
    g, spoilt = np.asarray(g, float), np.array(g, float)
    spoilt.flat[g.size // 2] *= factor
    row(f"{name}: right", right, f, x, g)
    row(f"{name}: wrong", wrong, f, x, spoilt)


def of(f):
    """Make a function of one number one of an array."""
    return lambda x: float(f(x[0]))


def kernel(t, length, jitter, scale=1.0):
    return scale * np.exp(-0.5 * ((t[:, None] - t) / length) ** 2) + jitter * np.eye(len(t))


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def ill_conditioned():
    # What a claim rounds shows next door on most of its entries, and on some by chance not.
    for seed in range(8):
        x = np.random.default_rng(seed).normal(size=12)
        claim = lambda x: 3 * x**2 * (1 + 1e-4 * np.sin(1e17 * x))  # noqa: E731
        cubes = lambda x: float(np.sum(x**3))  # noqa: E731
        row(f"rounds by chance, {seed}", NOT_FAIL, cubes, x, claim)
        row(f"rounds by chance, {seed}: twice", FAIL, cubes, x, lambda x, g=claim: 2 * g(x))
    for n, length, jitter in ((8, 0.3, 1e-6), (12, 0.2, 1e-8)):
        t = np.linspace(0, 1, n)
        K, y = kernel(t, length, jitter), np.sin(6 * t)
        name = f"kernel {n}, {jitter:g}"
        a = np.linalg.solve(K, y)
        f = lambda y, K=K: float(y @ np.linalg.solve(K, y))  # noqa: E731
        row(f"{name}: y'K^-1y: right", NOT_FAIL, f, y, 2 * a)
        row(f"{name}: y'K^-1y: doubled", FAIL, f, y, 4 * a)
        f = lambda K, y=y: float(y @ np.linalg.solve(K, y))  # noqa: E731
        row(f"{name}: y'K^-1y by K: right", NOT_FAIL, f, K, -np.outer(a, a))
        row(f"{name}: y'K^-1y by K: doubled", FAIL, f, K, -2 * np.outer(a, a))
        solve = lambda y, K=K: np.linalg.solve(K, y)  # noqa: E731
        for by, wanted in ((1, NOT_FAIL), (2, FAIL)):
            vjp = lambda u, y, K=K, by=by: by * np.linalg.solve(K, u)  # noqa: E731
            row(f"{name}: solve(K, y) times {by}", wanted, solve, y, vjp, check_vjp)
    for k, smallest in enumerate((1e-2, 1e-6, 1e-10)):
        rng = np.random.default_rng(k)
        U, V = (np.linalg.qr(rng.normal(size=(4, 4)))[0] for _ in range(2))
        A = U @ np.diag([2.0, 1.0, 0.5, smallest]) @ V.T
        f, g = (lambda A: float(np.linalg.slogdet(A)[1])), np.linalg.inv(A).T
        row(f"slogdet, {smallest:g}: right", NOT_FAIL if smallest < 1e-9 else PASS, f, A, g)
        # At 1e-10 f is rough from afar and rounded from nearby.
        wanted = NOT_PASS if smallest < 1e-9 else FAIL
        row(f"slogdet, {smallest:g}: doubled", wanted, f, A, 2 * g)
        row(f"slogdet, {smallest:g}: transposed", wanted, f, A, g.T)
    det = lambda A: float(np.linalg.det(A))  # noqa: E731
    A = np.arange(1.0, 10).reshape(3, 3)
    cofactors = np.array([[-3.0, 6, -3], [6, -12, 6], [-3, 6, -3]])
    row("det of 1..9: right", NOT_FAIL, det, A, cofactors)
    row("det of 1..9: doubled", FAIL, det, A, 2 * cofactors)
    row("det of rank 2 of 4: ones", FAIL, det, np.arange(1.0, 17).reshape(4, 4), np.ones((4, 4)))


def zero_but_for_rounding():
    for n in (3, 50):
        x = np.random.default_rng(n).normal(size=n)
        s = softmax(x)
        f = lambda x: float(softmax(x).sum())  # noqa: E731
        row(f"zero: sum(softmax), {n}: 0", NOT_FAIL, f, x, 0 * x)
        row(f"zero: sum(softmax), {n}: its rounding", NOT_FAIL, f, x, s - s * s.sum())
        row(f"zero: sum(softmax), {n}: s", FAIL, f, x, s)
        row(f"zero: sum(softmax) - 1, {n}: 0", NOT_FAIL, lambda x, f=f: f(x) - 1, x, 0 * x)
        shifted = lambda a, x=x: softmax(x + a)  # noqa: E731

        def vjp(u, a, x=x, left=1):
            s = softmax(x + a)
            return np.sum(s * u - left * s * np.sum(u * s)).reshape(a.shape)

        row(f"zero: softmax(x + a), {n}: right", NOT_FAIL, shifted, [0.7], vjp, check_vjp)
        row(f"zero: softmax(x + a), {n}: half of it", FAIL, shifted, [0.7],
            lambda u, a, vjp=vjp: vjp(u, a, left=0), check_vjp)  # fmt: skip
    centre = np.array([1.0, -2.0, 3.0, 0.0])
    for offset in (0.0, 1e4):
        bowl = lambda x, o=offset: float(o + np.sum((x - centre) ** 2))  # noqa: E731
        right = NOT_FAIL if offset == 0 else PASS  # at the value 0 nothing tells what is small
        row(f"zero: bowl + {offset:g}: 0", right, bowl, centre, 0 * centre)
        row(f"zero: bowl + {offset:g}: 0.1", FAIL, bowl, centre, 0 * centre + 0.1)
    for claim, wanted in ((0.0, PASS), (4 * np.exp(-40.0), PASS), (1e-3, FAIL), (1.0, FAIL)):
        row(f"zero: tanh(20): {claim:g}", wanted, of(np.tanh), [20.0], [claim])


def batch_norm():
    x = np.random.default_rng(1).normal(size=(2, 3))
    for eps in (1e-1, 1e-5):
        slope = eps / ((x[0] - x[1]) ** 2 / 4 + eps) ** 1.5 / 2
        norm = lambda x, eps=eps: (x - x.mean(0)) / np.sqrt(x.var(0) + eps)  # noqa: E731
        right = lambda u, x, s=slope: s * np.stack([u[0] - u[1], u[1] - u[0]])  # noqa: E731
        half = lambda u, x, eps=eps: u / np.sqrt(x.var(0) + eps)  # noqa: E731
        name = f"batch norm of two, {eps:g}"
        row(f"{name}: right", NOT_FAIL, norm, x, right, check_vjp)
        row(f"{name}: doubled", FAIL, norm, x, lambda u, x, g=right: 2 * g(u, x), check_vjp)
        row(f"{name}: u / s", FAIL, norm, x, half, check_vjp)


def flat_and_stairs():
    for name, f, x in (("sign", np.sign, 2.3), ("floor", np.floor, 2.5), ("round", np.round, 1.2)):
        row(f"flat: {name}: 0", {"pass"}, of(f), [x], [0.0])
        # The slope from afar of a floor is 1, as a straight-through gradient has it. A quarter of x
        # away from 1.2 is no stair of round yet.
        row(f"flat: {name}: 1", {"unsure:stairs"} if name == "floor" else FAIL, of(f), [x], [1.0])
    scores = np.array([0.3, 1.9, -0.4, 0.8])
    row("flat: argmax: 0", PASS, lambda x: float(np.argmax(x)), scores, 0 * scores)
    row("flat: argmax: 1", FAIL, lambda x: float(np.argmax(x)), scores, 0 * scores + 1)
    row("flat: floor of four: 0", PASS, np.floor, X5[:4], lambda u, x: 0 * u, check_vjp)
    row("flat: floor of four: 1", {"unsure:stairs"}, np.floor, X5[:4], lambda u, x: u, check_vjp)
    treads = {
        "floor(500x)/500": (lambda x: np.floor(500 * x) / 500, 3.3003, 1.0),
        "round(sin x, 4)": (lambda x: np.round(np.sin(x), 4), 0.7, np.cos(0.7)),
        "round(x^2, 1)": (lambda x: np.round(x * x, 1), 40.0, 80.0),
        "float32(sin x)": (lambda x: np.float32(np.sin(x)), 0.7, np.cos(0.7)),
        "sin(float32(x))": (lambda x: np.sin(np.float64(np.float32(x))), 0.7, np.cos(0.7)),
        "float16(sin x)": (lambda x: np.float16(np.sin(x)), 0.7, np.cos(0.7)),
    }
    for name, (f, x, slope) in treads.items():
        # From both sides alike, stairs of x^2 look like a kink, too.
        why = {"unsure:stairs", "unsure:kink"} if x == 40.0 else {"unsure:stairs"}
        # With seven digits f was meant to be smooth: 0 is a mistake.
        why = FAIL if name == "float32(sin x)" else why
        row(f"stairs: {name}: 0", why, of(f), [x], [0.0])
        # Stairs of a short float, or of four digits, are rounding: the gradient as a whole passes.
        smooth = UNSURE if name in ("round(x^2, 1)", "sin(float32(x))") else PASS
        row(f"stairs: {name}: the smooth slope", smooth, of(f), [x], [slope])


def rough():
    for power in (2, 4, 6, 8):  # a shorter wave is noise to the check, and was given up
        k = 10.0**power
        x = np.array([0.3, 1.0, 0.7])
        f = lambda x, k=k: float(np.sum(x**2) + 1e-3 * np.sum(np.sin(k * x)))  # noqa: E731
        row(f"wave on x^2, {k:g}: right", NOT_FAIL, f, x, 2 * x + 1e-3 * k * np.cos(k * x))
        if k > 1e3:
            row(f"wave on x^2, {k:g}: without it", NOT_PASS, f, x, 2 * x)
    # Along a line through all inputs f goes otherwise than along each, but hardly.
    f = of(lambda x: x**2 + 1e-11 * np.sin((1e9 + 7) * x))
    pair("wave of a few roundings on x^2", f, [0.1], [0.2], wrong=NOT_PASS)
    for d in (0.1, 1e-4, 1e-8, -1e-4):
        pair(f"pole: 1/(x - 2), {d:g}", of(lambda x: 1 / (x - 2)), [2 + d],
             [-1 / (2 + d - 2) ** 2], wrong=NOT_PASS)  # fmt: skip
    at = np.pi / 2 - 1e-4
    pair("pole: tan", of(np.tan), [at], [1 + np.tan(at) ** 2], wrong=NOT_PASS, factor=-1.0)
    for w in (1e-3, 1e-6, 1e-9):
        f = of(lambda x, w=w: np.exp(-(((x - 1) / w) ** 2)))
        z = 0.7
        at = 1 + z * w
        z = (at - 1) / w
        row(f"spike {w:g}: top, 0", NOT_FAIL, f, [1.0], [0.0])
        row(f"spike {w:g}: top, 1/w", NOT_PASS, f, [1.0], [1 / w])
        pair(f"spike {w:g}: flank", f, [at], [-2 * z / w * np.exp(-z * z)], wrong=NOT_PASS)
        row(f"spike {w:g}: flank, 0", NOT_PASS, f, [at], [0.0])


def noise():
    for size in (1e-12, 1e-8, 1e-4):
        f = lambda x, s=size: float(np.sum(np.sin(x)) + s * hashed(x))  # noqa: E731
        pair(f"noise of {size:g}", f, X3, np.cos(X3), wrong=FAIL if size < 1e-9 else NOT_PASS)
        row(f"noise of {size:g}: 0", NOT_PASS, f, X3, 0 * X3)
    row("nothing but noise: 0", UNSURE, lambda x: hashed(x), X3, 0 * X3)
    row("nothing but noise: 1", UNSURE, lambda x: hashed(x), X3, 0 * X3 + 1)
    f = lambda x: 1 + 5e-9 * np.sum(x) + 1e-3 * hashed(x)  # noqa: E731
    row("a slope below the noise, at a large x: 0", UNSURE, f, 2e5 * X3, 0 * X3)
    f = lambda x: np.array([1 + np.tanh(x[0]), x[1] ** 2 + 1e-9 * np.sin(1e8 * x[1])])  # noqa: E731
    vjp = lambda u, x: np.array([u[0] / np.cosh(x[0]) ** 2, 2 * u[1] * x[1]])  # noqa: E731
    for x in ([-17.0, 0.3], [-16.0, 0.3], [-15.0, 0.3]):
        row(f"last bits next to a wave: {x[0]}", PASS | UNSURE, f, x, vjp, check_vjp, rtol=1e-4)


def many():
    """The same of many coordinates, which lines see first."""
    rng = np.random.default_rng(7)
    x, w = rng.uniform(0.5, 2.5, 240), rng.normal(size=240)
    f, g = (lambda x: float(1e-12 * (w @ np.sin(x)))), 1e-12 * w * np.cos(x)
    pair("many: a loss of 1e-12", f, x, g, right=PASS, factor=1.001)
    f = lambda x: float(np.sum(np.sin(x)) + 1e-6 * hashed(x))  # noqa: E731
    pair("many: noise", f, x, np.cos(x), wrong=NOT_PASS)
    f = lambda x: float(np.sum(np.sin(x.astype(np.float32))))  # noqa: E731
    pair("many: float32", f, x, np.cos(x), wrong=NOT_PASS)
    f = lambda x: float(np.sum(np.abs(x - x0)))  # noqa: E731
    x0 = np.where(np.arange(240) == 100, x, 1.0)
    pair("many: one kink", f, x, np.sign(x - x0), wrong=NOT_PASS)
    row("many: softmax: 0", NOT_FAIL, lambda x: float(softmax(x).sum()), x, 0 * x)
    row("many: softmax: s", FAIL, lambda x: float(softmax(x).sum()), x, softmax(x))
    row("many: floor: 0", NOT_FAIL, lambda x: float(np.sum(np.floor(x))), x, 0 * x)
    row("many: floor: 1", NOT_PASS, lambda x: float(np.sum(np.floor(x))), x, 0 * x + 1)


with np.errstate(all="ignore"):
    for topic in (
        ill_conditioned, zero_but_for_rounding, batch_norm, flat_and_stairs, rough,
        noise, many,
    ):  # fmt: skip
        topic()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of f, where it is led out of its domain
def test_the_verdict_follows_from_the_evidence(name):
    wanted, run = ROWS[name]
    report = run()
    assert wanted & {report.verdict, f"{report.verdict}:{report.reason}"}, str(report)


# Of a function whose slopes are 1e308 times these: what is claimed of them.
LARGEST = {"too small": lambda slopes: slopes, "too large": lambda slopes: 1e308 * np.sign(slopes)}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("claim", LARGEST)
def test_slopes_near_the_largest_number_are_judged_without_a_warning(claim):
    x, k = np.array([0.3, -0.7, 1.1, 0.2]), np.arange(1, 5)
    claimed = LARGEST[claim](k * np.cos(x * k))
    report = check_gradient(lambda x: float(np.sum(np.sin(x * k))) * 1e308, x, claimed)
    assert report.verdict == "fail"
    assert str(report).startswith("FAIL  x: ")


# Where the least numbers there are make up f: (x, its dtype, the answers).
SMALLEST = {
    "all numbers are there": (1e-150, np.float64, {"pass"}),
    "f has few numbers": (1e-155, np.float64, {"pass", "unsure"}),
    "f has some bits": (1e-160, np.float64, {"unsure"}),
    "f is zero": (1e-200, np.float64, {"unsure"}),
    "x has some bits": (1e-310, np.float64, {"unsure"}),
    "all numbers of float32 are there": (1e-18, np.float32, {"pass"}),
    "f is zero in float32": (1e-30, np.float32, {"unsure"}),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("what", SMALLEST)
def test_a_right_slope_does_not_fail_where_f_underflows(what):
    x, dtype, wanted = SMALLEST[what]
    at = np.array([x], dtype)
    assert check_gradient(lambda x: x[0] ** 2, at, 2 * at).verdict in wanted
    wrong = check_gradient(lambda x: x[0] ** 2, at, 3 * at).verdict
    assert wrong in ({"fail"} if wanted == {"pass"} else {"unsure", "fail"})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("claim", "verdict"), [(-4e-27, "unsure"), (-1e-3, "fail")])
def test_rounding_inside_f_hides_a_slope_beside_the_end_of_the_domain(claim, verdict):
    def hidden(x):  # log(1 - x**12 / 12!), where 1 hides the power; a long step leaves the domain
        return np.log(1 - x**12 / 4.79e8) if x >= 0 else np.nan

    x = 0.02
    assert check_gradient(hidden, x, claim).verdict == verdict


@pytest.mark.parametrize("x", [0.0, 0.05, 1e5], ids=str)
@pytest.mark.parametrize("check", [check_gradient, check_vjp, check_jvp])
def test_without_outputs_there_is_nothing_to_compare_in_any_unit(check, x):
    x = np.array([x, 1.0])
    if check is check_gradient:
        report = check(lambda x: np.sum(x**2), x[:0], x[:0])
    elif check is check_vjp:
        report = check(lambda x: x[:0], x, lambda u, x: 0 * x)
    else:
        report = check(lambda x: x[:0], x, lambda t, x: t[:0])
    assert (report.verdict, report.reason) == ("unsure", "empty")
