"""What grads, vjp and jvp may hand over, and what they may not do to others."""

import itertools
import re
from functools import partial

import numpy as np
import pytest
from crew_cases import sums_only_here

from gradcheck_ref import check_gradient, check_jvp, check_vjp
from gradcheck_ref.check.judge.together import LINES

X = np.array([0.3, -0.7, 1.1])
W, B = np.array([[0.5, -1.0, 0.2], [0.1, 0.8, -0.4]]), np.array([0.3, -0.2])


def affine(x):
    return W @ x + B


def cubes(x):
    return np.sum(x**3)


# --- structure ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "grads",
    [3 * X**2, (3 * X**2).tolist(), tuple((3 * X**2).tolist()), (3 * X**2,), [3 * X**2]],
    ids=["array", "list-of-numbers", "tuple-of-numbers", "tuple-of-one", "list-of-one"],
)
def test_one_gradient_may_come_as_an_array_as_numbers_or_alone_in_a_tuple(grads):
    report = check_gradient(cubes, X, grads)
    expected = "pass" if np.shape(grads) != (1, 3) or isinstance(grads, tuple) else "fail"
    assert report.verdict == expected


@pytest.mark.parametrize(
    ("grads", "said"),
    [
        ({"w": 2 * X}, ["no gradient for b", "keys 'w', 'b'", "a mapping with the keys 'w'"]),
        ({"w": 2 * X, "b": 1.0, "v": 0}, ["for 'v', an unknown input", "keys 'w', 'b', not"]),
        ((2 * X,), ["no gradient for w, b", "a tuple of 1"]),
        (None, ["no gradient for w, b", "None"]),
    ],
    ids=["missing-key", "extra-key", "tuple-too-short", "nothing"],
)
def test_gradients_of_another_structure_fail_with_the_names(grads, said):
    report = check_gradient(
        lambda w, b: np.sum(w**2) + b, {"w": X, "b": np.array(0.5)}, lambda w, b: grads
    )
    assert (report.verdict, report.reason) == ("fail", "structure")
    assert len(report.faults) == 1
    for words in said:
        assert words in report.faults[0].sentence


def test_a_masked_entry_is_nonfinite():
    claim = np.ma.MaskedArray(3 * X**2, mask=[False, True, False])
    report = check_gradient(cubes, X, claim)
    assert (report.verdict, report.reason, report.worst.name) == ("fail", "nonfinite", "x[1]")
    assert check_gradient(cubes, X, np.ma.MaskedArray(3 * X**2)).verdict == "pass"


@pytest.mark.parametrize(
    ("given", "reason", "words"),
    [
        (np.ones(3), "shape", "shape (3,) instead of (2,)"),
        ((np.ones(2), np.ones(2)), "shape", "instead of one array"),
        (np.ones(2) * 1j, "dtype", "jvp gives complex numbers for output, which is real"),
        (None, "dtype", "jvp must return a number"),
        ("slope", "dtype", "jvp must return a number"),
    ],
    ids=["shape", "tuple", "complex", "none", "text"],
)
def test_a_jvp_with_a_different_structure_or_dtype_than_f_fails(given, reason, words):
    report = check_jvp(affine, X, lambda tangent, x: given)
    assert (report.verdict, report.reason) == ("fail", reason)
    assert words in report.faults[0].sentence


# --- what is handed out ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "matrix", "words"),
    [(check_vjp, W.T, "vjp writes to upstream"), (check_jvp, W, "jvp writes to tangent")],
    ids=["upstream", "tangent"],
)
def test_a_product_that_writes_to_its_upstream_or_tangent_fails(check, matrix, words):
    def product(given, x):
        result = matrix @ given
        given += 1
        return result

    report = check(affine, X, product)
    assert (report.verdict, report.reason) == ("fail", "mutated")
    assert words in report.faults[0].sentence


class AtOnce:
    """A linear function with products for one and for several upstreams, and what was asked."""

    def __init__(self, A, factor=1.0):
        self.A, self.factor, self.asked = A, factor, []

    def __call__(self, x):
        return self.A @ x

    def vjp(self, upstream, x):
        self.asked.append(1)
        return self.A.T @ upstream

    def vjps(self, upstreams, x):
        self.asked.append(len(upstreams))
        return [self.factor * self.A.T @ one for one in upstreams]


WIDE = np.random.default_rng(0).normal(size=(40, 80_000))


@pytest.mark.parametrize(
    ("A", "asked"),
    [(WIDE[:, :3], [40]), (WIDE, [13, 7]), (WIDE[:1, :3], [1])],
    ids=["all", "combinations up to the limit", "one"],
)
def test_the_gradients_of_many_outputs_are_requested_at_once(A, asked):
    f = AtOnce(A)
    assert check_vjp(f, np.ones(A.shape[1])).verdict == "pass"
    assert f.asked[: len(asked)] == asked
    assert set(f.asked[len(asked) :]) == {1}  # once more, and that they add up


@pytest.mark.parametrize(("outputs", "combinations"), [(1, 0), (LINES, 0), (LINES + 1, LINES)])
def test_there_are_never_more_combinations_than_outputs(outputs, combinations):
    A = np.random.default_rng(0).normal(size=(outputs, 2**18 // min(outputs, LINES) + 1))
    report = check_vjp(lambda x: A @ x, np.ones(A.shape[1]), AtOnce(A).vjp)
    assert report.verdict == "pass"
    assert report.certificate.upstreams == combinations
    off = A.copy()
    off[-1, 17] *= 2
    report = check_vjp(lambda x: A @ x, np.ones(A.shape[1]), AtOnce(off).vjp)
    assert report.verdict == "fail"
    assert report.worst.name.endswith("x[17]")


# Products with the gradient g of a loss that are not linear in the upstream.
NOT_LINEAR = {
    "ignored": lambda upstream, g: g,
    "squared": lambda upstream, g: upstream**2 * g,
    "its sign": lambda upstream, g: np.sign(upstream) * g,
    "its size": lambda upstream, g: abs(upstream) * g,
    "clipped": lambda upstream, g: upstream * g / max(1.0, abs(upstream) * np.linalg.norm(g)),
    "with a penalty": lambda upstream, g: upstream * g + 1e-3,
}


@pytest.mark.parametrize("name", NOT_LINEAR)
@pytest.mark.parametrize("size", [1, 40])
def test_one_more_call_shows_that_the_product_of_a_loss_is_not_linear(name, size):
    x, asked = np.linspace(0.1, 1.0, size), []

    def gradient(upstream, x):
        asked.append(upstream)
        return upstream * 0.01 * np.cos(x)

    def loss(x):
        return 0.01 * np.sum(np.sin(x))

    assert check_vjp(loss, x, gradient).verdict == "pass"
    assert len(asked) == 3  # the claim, the claim once more, and a large upstream
    report = check_vjp(loss, x, lambda u, x: NOT_LINEAR[name](u, gradient(1.0, x)))
    assert report.verdict == "fail"
    assert any("vjp is not linear in upstream" in fault.sentence for fault in report.faults)


def test_a_vjp_argument_takes_precedence_over_f_vjps():
    f = AtOnce(WIDE[:, :3], factor=2.0)
    assert check_vjp(f, X, lambda upstream, x: f.A.T @ upstream).verdict == "pass"
    for report in check_vjp(f, X), check_vjp(f, X, f.vjp):
        assert report.verdict == "fail"
        assert "from f.vjp: the two do not agree" in report.faults[0].sentence


@pytest.mark.parametrize(
    ("gives", "got"),
    [
        (lambda every: every[1:], "39 for 40"),
        (lambda every: None, "None for 40"),
        (lambda every: dict(enumerate(every)), "for 40"),
        (lambda every: (np.array(every), 0), "2 for 40"),
    ],
    ids=["one less", "None", "a dict", "as vmap has it"],
)
def test_there_must_be_gradients_for_each_upstream(gives, got):
    f = AtOnce(WIDE[:, :3])
    every = f.vjps
    f.vjps = lambda upstreams, x: gives(every(upstreams, x))
    with pytest.raises(ValueError, match=f"for each upstream, but it returned .*{re.escape(got)}"):
        check_vjp(f, X)


def test_vjps_must_be_a_function():
    f = AtOnce(WIDE[:, :3])
    f.vjps = 3
    with pytest.raises(TypeError, match="vjps must be a function, not int 3"):
        check_vjp(f, X)


def test_writing_to_one_of_several_upstreams_is_noticed():
    f = AtOnce(WIDE[:, :3])

    def vjps(upstreams, x):
        found = [f.A.T @ one for one in upstreams]
        upstreams[-1][:] = 0
        return found

    f.vjps = vjps
    report = check_vjp(f, X)
    assert (report.verdict, report.reason) == ("fail", "mutated")
    assert report.faults[0].sentence.startswith("f.vjps writes to upstream")


@pytest.mark.parametrize("who", ["f", "grads"])
def test_writing_to_a_constant_is_noticed_though_it_is_not_copied_for_every_call(who):
    labels, seen = np.array([2, 0, 1]), []

    def f(x, labels):
        value = float(np.sum(x * labels))
        seen.append(id(labels))
        if who == "f" and len(seen) > 3:
            labels[0] = 7
        return value

    def grads(x, labels):
        gradient = labels.astype(float)
        if who == "grads":
            labels[:] = 0
        return gradient, None

    report = check_gradient(f, (X, labels), grads)
    assert report.reason == "mutated"
    assert f"{who} writes to its input labels" in report.faults[0].sentence
    assert labels.tolist() == [2, 0, 1]
    if who == "f":
        assert len(set(seen[:3])) == 1


# --- state -------------------------------------------------------------------------------------


class OneBufferEach:
    """Right at first; what an output coordinate was asked before is added to it."""

    def __init__(self, spoilt):
        self.spoilt, self.total = spoilt, np.zeros((2, 3))

    def __call__(self, upstream, x):
        row = int(np.argmax(upstream))
        if row != self.spoilt:
            return W.T @ upstream
        self.total[row] += W.T @ upstream
        return self.total[row].copy()


@pytest.mark.parametrize("spoilt", [0, 1], ids=["first", "last"])
def test_a_reused_buffer_for_the_first_or_the_last_output_is_detected(spoilt):
    report = check_vjp(affine, X, OneBufferEach(spoilt))
    assert (report.verdict, report.reason) == ("fail", "nondeterministic")
    assert report.diagnoses[0].kind == "accumulated"


@pytest.mark.parametrize(("kept", "verdict"), [(False, "pass"), (True, "fail")])
def test_a_list_of_gradients_that_grows_is_right_only_at_the_first_call(kept, verdict):
    found = []

    def gradients(w, b):
        mine = found if kept else []
        mine += [2 * w, np.cos(b)]
        return list(mine)

    point = X, np.array(0.5)
    report = check_gradient(lambda w, b: np.sum(w**2) + np.sin(b), point, gradients)
    assert report.verdict == verdict
    if kept:
        assert report.reason == "nondeterministic"
        assert report.faults[0].sentence.startswith("at the second call grads gives no gradient")


class Noisy:
    """A function that multiplies by random numbers, which its gradient uses again, or others."""

    def __init__(self, of_f, of_gradient):
        self.rng, self.share, self.own = np.random.default_rng(0), of_f, of_gradient
        self.factor = np.ones(3)

    def __call__(self, x):
        self.factor = 1 + self.share * self.rng.normal(size=3)
        return np.sum(self.factor * x**2)

    def gradient(self, x):
        return 2 * x * (self.factor + self.own * self.rng.normal(size=3))


@pytest.mark.parametrize(
    ("of_f", "of_gradient", "verdict"),
    [
        (0.5, 0, "unsure"),
        (1e-3, 0, "unsure"),
        (1e-3, 0.5, "fail"),
        (0, 0.5, "fail"),
        (0, 0, "pass"),
    ],
    ids=["both", "both a little", "the gradient more than f", "the gradient", "neither"],
)
def test_a_gradient_that_changes_as_f_does_is_no_fault(of_f, of_gradient, verdict):
    noisy = Noisy(of_f, of_gradient)
    report = check_gradient(noisy, X, noisy.gradient)
    assert (report.verdict, report.reason) == (
        verdict, "ok" if verdict == "pass" else "nondeterministic"
    )  # fmt: skip


# --- f itself ----------------------------------------------------------------------------------


def test_an_output_that_changes_shape_is_refused_with_the_place():
    with pytest.raises(ValueError, match=r"shape \(2,\) instead of \(3,\) as at x") as caught:
        check_vjp(lambda x: x if x[1] == X[1] else x[:2], X, lambda upstream, x: upstream)
    assert "in gradcheck_ref, calling f at x" in caught.value.__notes__[0]


def test_a_complex_value_of_f_means_that_it_left_its_domain():
    x = np.array([1e-9])
    report = check_gradient(lambda x: np.emath.sqrt(x)[0], x, 0.5 / np.sqrt(x))
    assert report.verdict == "pass"
    report = check_gradient(lambda x: np.emath.sqrt(x)[0], 0 * x, np.array([1.0]))
    assert (report.verdict, report.reason) == ("unsure", "domain-edge")


class UnlikelyError(Exception):
    """An exception of the author's own."""


def refusing(kind, many=False):
    """Return the logarithm of the odds of p, which raises an error outside of (0, 1)."""

    def f(p):
        if p.min() <= 0 or p.max() >= 1:
            raise kind("expected 0 < p < 1\nand more")
        return np.sum(np.log(p) - np.log1p(-p))

    if many:
        f.many = lambda points: [f(point) for point in points]
    return f


@pytest.mark.one_in(4)
@pytest.mark.parametrize("many", [False, True], ids=["one by one", "many"])
@pytest.mark.parametrize(
    "kind",
    [
        *(ValueError, RuntimeError, np.linalg.LinAlgError, TypeError, AssertionError),
        *(ZeroDivisionError, IndexError, KeyError, UnlikelyError),
    ],
)
@pytest.mark.parametrize("size", [3, 50])
def test_an_exception_of_f_outside_its_domain_becomes_a_note(kind, many, size):
    p = np.linspace(0.2, 0.6, size)
    p[1] = 1 - 1e-5
    f, right = refusing(kind, many), 1 / p + 1 / (1 - p)
    report = check_gradient(f, p, right)
    assert report.verdict == "pass"
    (note,) = report.notes
    assert re.match(rf"f raised {kind.__name__} at x .*expected 0 < p < 1.*\): the check ", note)
    assert "note: f raised" in str(report)
    right[1] *= 1.01
    wrong = check_gradient(f, p, right)
    assert (wrong.verdict, wrong.worst.name) == ("fail", "p[1]")
    assert wrong.notes
    inside = check_gradient(f, np.full(3, 0.5), np.full(3, 4.0))
    assert (inside.verdict, inside.notes) == ("pass", ())


@pytest.mark.parametrize("many", [False, True], ids=["one by one", "many"])
@pytest.mark.parametrize("kind", [ValueError, RuntimeError, AssertionError, UnlikelyError])
def test_an_exception_of_f_at_x_is_passed_on(kind, many):
    with pytest.raises(kind, match="expected 0 < p < 1"):
        check_gradient(refusing(kind, many), np.array([0.5, 1.5]), np.zeros(2))


@pytest.mark.parametrize("many", [False, True], ids=["one by one", "many"])
@pytest.mark.parametrize(
    "kind",
    [NotImplementedError, RecursionError, MemoryError, KeyboardInterrupt, SystemExit],
)
def test_exceptions_that_do_not_mean_a_domain_are_passed_on(kind, many):
    with pytest.raises(kind):
        check_gradient(refusing(kind, many), np.array([0.5, 1 - 1e-9]), np.zeros(2))


@pytest.mark.parametrize("size", [2, 50])
@pytest.mark.parametrize("workers", [None, 2], ids=["alone", "two"])
def test_an_error_of_f_at_every_point_but_x_is_quoted(size, workers):
    x = np.linspace(0.5, 1, size)
    report = check_gradient(partial(sums_only_here, size=size), x, 2 * x, workers=workers)
    assert (report.verdict, report.reason) == ("unsure", "isolated")
    (note,) = report.notes
    assert note.startswith("f raised TypeError at x ")
    assert "(unsupported operand type(s) for +: 'float' and 'str'): the check takes" in note
    assert "note: f raised TypeError" in str(report)


def test_each_kind_of_error_is_noted_once():
    def f(x):
        if x[0] < 0.5:
            raise IndexError("too near")
        return x[0] if x[0] == 0.5 else float(x[0]) + ""

    report = check_gradient(f, np.array([0.5]), np.array([1.0]))
    assert [note.split(" at ")[0] for note in report.notes] == [
        "f raised IndexError",
        "f raised TypeError",
    ]


@pytest.mark.parametrize(
    ("knob", "error"),
    [({"seed": None}, TypeError), ({"seed": -1}, ValueError), ({"seed": True}, TypeError)],
    ids=["none", "negative", "bool"],
)
def test_the_seed_is_a_whole_number(knob, error):
    with pytest.raises(error, match="seed must"):
        check_gradient(cubes, X, 3 * X**2, **knob)


@pytest.mark.parametrize(
    ("f", "ignores"),
    [(lambda x, W: np.max(x), True), (lambda x, W: np.max(x) + np.max(W), False)],
    ids=["all of it", "all but the largest"],
)
def test_an_input_is_ignored_by_f_if_none_of_its_entries_moves_f(f, ignores):
    rng = np.random.default_rng(0)
    x, W = rng.normal(size=2), rng.normal(size=(20, 20))
    report = check_gradient(f, (x, W), (np.eye(2)[x.argmax()], np.ones((20, 20))))
    assert report.verdict == "fail"
    assert [fault.reason for fault in report.faults] == ["ignores-input"] * ignores
    assert "W: 11 of 11 measured entries differ" in str(report)


@pytest.mark.parametrize("size", [1, 2, 20, 72])
@pytest.mark.parametrize(
    ("f", "ignores"),
    [(lambda x: 3.0, True), (lambda x: np.maximum(x[0], 1.0), False)],
    ids=["a constant", "a clipped entry"],
)
def test_enough_evaluations_are_left_to_ask_if_f_ignores_an_input(f, ignores, size):
    x = np.arange(1.0, size + 1)
    report = check_gradient(f, x, 2 * x)
    assert report.verdict == "fail"
    assert [fault.reason for fault in report.faults] == ["ignores-input"] * ignores


def test_a_closure_is_named_once_for_all_its_parameters():
    params = {"W": np.ones(2), "b": np.array(0.5)}
    report = check_gradient(
        lambda W, b: np.sum(params["W"] ** 2) + params["b"],
        params,
        lambda W, b: {"W": 2 * W, "b": 1.0},
    )
    assert [fault.reason for fault in report.faults] == ["ignores-input"]
    assert "when W or b was moved" in report.faults[0].sentence
    assert "lambda W: loss({**params, 'W': W})" in report.faults[0].sentence


def test_a_nonfinite_claim_is_not_blamed_on_a_closure():
    report = check_gradient(lambda x: 1.0, X, np.full(3, np.nan))
    assert (report.verdict, report.reason) == ("fail", "nonfinite")
    assert not report.faults


def test_memory_that_nobody_has_written_is_nan_without_a_warning():
    """A kernel that leaves out a block returns what is there: a signaling NaN warns in any sum."""
    unwritten = np.full(3, 0x7F800001, np.uint32).view(np.float32)
    report = check_vjp(lambda x: x**2, np.ones(3, np.float32), lambda u, x: unwritten)
    assert (report.verdict, report.reason) == ("fail", "nonfinite")


def of_one(x, f):
    """Return the check of each kind for f of one number, as functions of the claim."""
    x = np.array([x])
    return {
        "gradient": lambda claim: check_gradient(lambda x: f(x)[0], x, np.array([claim])),
        "vjp": lambda claim: check_vjp(f, x, lambda upstream, x: claim * upstream),
        "jvp": lambda claim: check_jvp(f, x, lambda tangent, x: claim * tangent),
        "both": lambda claim: check_vjp(
            f, x, lambda upstream, x: claim * upstream, jvp=lambda tangent, x: claim * tangent
        ),
    }


INFINITE = {
    "sqrt at 0": (0.0, np.sqrt, 1, "domain-edge"),
    "arcsin at 1": (1.0, np.arcsin, 1, "domain-edge"),
    "arcsin at -1": (-1.0, np.arcsin, 1, "domain-edge"),
    "arccos at 1": (1.0, np.arccos, -1, "domain-edge"),
    "arccos at -1": (-1.0, np.arccos, -1, "domain-edge"),
    "x log x at 0": (0.0, lambda x: x * np.log(x + (x == 0)), -1, "domain-edge"),
    "cube root at 0": (0.0, np.cbrt, 1, "kink"),
}


@pytest.mark.parametrize("kind", of_one(0.0, np.sqrt))
@pytest.mark.parametrize(("x", "f", "sign", "reason"), INFINITE.values(), ids=INFINITE)
def test_an_infinite_claim_is_unsure_if_its_sign_may_be_right(kind, x, f, sign, reason):
    right = of_one(x, f)[kind](sign * np.inf)
    assert (right.verdict, right.reason) == ("unsure", reason)
    assert "the slopes of f are finite at every step, so they cannot confirm it" in str(
        right.text(1000)
    )
    for claim in (-sign * np.inf, np.nan):
        wrong = of_one(x, f)[kind](claim)
        assert (wrong.verdict, wrong.reason) == ("fail", "nonfinite")
    assert "no slope there comes near" in wrong.text(1000)


FINITE = {
    "sine": (1.0, np.sin),
    "at the edge of its domain": (0.0, lambda x: np.where(x < 0, np.nan, x**2 + 3 * x)),
    "close to an edge": (1e-12, np.sqrt),
    "flat": (1.0, lambda x: 0 * x),
}


@pytest.mark.parametrize("kind", of_one(0.0, np.sqrt))
@pytest.mark.parametrize(("x", "f"), FINITE.values(), ids=FINITE)
def test_an_infinite_claim_fails_where_the_slope_is_known(kind, x, f):
    for claim in (np.inf, -np.inf, np.nan):
        report = of_one(x, f)[kind](claim)
        assert (report.verdict, report.reason) == ("fail", "nonfinite")


@pytest.mark.parametrize(("clip", "verdict"), [(np.inf, "unsure"), (0.6, "fail")])
def test_a_product_is_linear_beside_an_entry_that_is_not_finite(clip, verdict):
    x, slopes = np.array([0.0, 1.0, 4.0]), np.array([np.inf, 0.5, 0.25])

    def vjp(upstream, x):
        given = np.multiply(slopes, upstream, where=upstream != 0, out=np.zeros(3))
        return np.append(given[0], np.clip(given[1:], -clip, clip))

    report = check_vjp(np.sqrt, x, vjp)
    assert report.verdict == verdict
    assert ("not linear" in report.text(1000)) == (verdict == "fail")


# --- f on a surface, or in a small domain ------------------------------------------------------


def inside(low, high):
    """Return a function that is 1 between two numbers, and minus infinity elsewhere."""
    return lambda x: 1.0 if low < x < high else -np.inf


@pytest.mark.parametrize(
    ("low", "high", "x"), [(0.2, 1.3, 1.1), (0.2, 1.3, 0.21), (-5.0, 5.0, 4.9)]
)
def test_a_domain_that_only_long_steps_leave_is_no_edge(low, high, x):
    right, wrong = (check_gradient(inside(low, high), x, claim) for claim in (0.0, 1.0))
    assert right.verdict == "pass"
    assert (wrong.verdict, wrong.reason) == ("fail", "wrong")
    at_edge = check_gradient(lambda x: inside(low, high)(x) if x != low else 1.0, low, 0.0)
    assert at_edge.reason == "domain-edge"


def shares(p):
    """Return the sum of cubes of numbers that must add up to 1."""
    assert abs(np.sum(p) - 1) < 1e-15, "the sum must be 1"
    return np.sum(p**3)


def shares_or_nan(p):
    return shares(p) if abs(np.sum(p) - 1) < 1e-15 else np.nan


@pytest.mark.parametrize("size", [4, 64, 128])
@pytest.mark.parametrize("f", [shares, shares_or_nan])
def test_f_on_a_surface_is_isolated_and_can_be_checked_along_a_curve(size, f):
    p, along = np.full(size, 1 / size), np.zeros(size)
    p[:2] *= 1.5, 0.5
    along[:2] = 1, -1
    report = check_gradient(f, p, 3 * p**2)
    assert (report.verdict, report.reason) == ("unsure", "isolated")
    assert "along a curve c on the surface: t -> f(c(t)) at t = 0" in report.text(1000)
    assert len(report.notes) == (f is shares)
    for factor, verdict in ((3, "pass"), (2, "fail")):
        curve = check_gradient(lambda t: f(p + t * along), 0.0, factor * p**2 @ along)
        assert curve.verdict == verdict


def test_a_number_that_must_be_whole_is_isolated():
    report = check_gradient(lambda p: np.power(-2.0, p), 3.0, -5.0)
    assert (report.verdict, report.reason) == ("unsure", "isolated")
    assert "is p a whole number?" in report.text(1000)


# --- identities --------------------------------------------------------------------------------


def slope_of_abs(x, v):
    """Return the derivative of the sign of x along v, as an autograd for complex numbers has it."""
    z, size = x + 0j, np.abs(x)
    return np.real(np.conj(z) * v / size - z * np.real(np.conj(z) * v / size) / size) / size


def its_vjp(upstream, x, v):
    one = upstream / np.abs(x)
    two = np.conj(x + 0j) * one / np.abs(x)
    dx = np.real(one * v / np.abs(x) - 2 * two * v / np.abs(x) + two * v / np.abs(x))
    return dx, np.real(one - two * x / np.abs(x) * np.sign(x))


def its_jvp(tangent, x, v):
    (t, s), size = tangent, np.abs(x)
    one = np.conj(x + 0j) * s / size
    dx = np.real(t * v / size**2 - 2 * x * t * v / size**3 + np.conj(x + 0j) * t * v / size**3)
    return np.real((s - x * one / size) / size + dx)


@pytest.mark.parametrize("seed", range(6))
def test_a_product_that_is_only_rounding_need_not_be_linear(seed):
    x, v = np.random.default_rng(seed).normal((2.5, 0.0))
    for product in ({"vjp": its_vjp}, {"jvp": its_jvp}):
        check = check_vjp if "vjp" in product else check_jvp
        assert not check(slope_of_abs, (x, v), **product).faults


@pytest.mark.parametrize("scale", [1.0, 1e-20])
def test_a_small_function_must_be_linear_too(scale):
    f = lambda x: scale * np.sin(x)  # noqa: E731
    report = check_vjp(f, X, lambda upstream, x: scale * upstream**2 * np.cos(x))
    assert "vjp is not linear in upstream" in report.faults[0].sentence
    assert report.faults[0].sentence.endswith("replaced by its sign?")


def integrated(product, error):
    """Let a product be linear to few digits, as that of a solver is that chooses its steps."""
    return lambda given, x: product(given, x) * (1 + error * np.sin(7 * np.sum(given)))


@pytest.mark.parametrize(("error", "digits", "asks"), [(1e-5, 4, False), (0.02, 1, True)])
def test_a_roughly_linear_product_fails_with_a_sufficient_tolerance_named(error, digits, asks):
    right = lambda given, x: given * np.cos(x)  # noqa: E731
    rough = integrated(right, error)
    for check, products, said in (
        (check_vjp, (rough,), "not linear"),
        (check_jvp, (rough,), "not linear"),
        (check_vjp, (right, rough), "not adjoint"),
    ):
        knobs = {"jvp": products[1]} if len(products) > 1 else {}
        report = check(np.sin, X, products[0], **knobs)
        (sentence,) = [fault.sentence for fault in report.faults]
        assert said in sentence
        agreed = int(re.search("The two agree to ([0-9]+) digit", sentence)[1])
        assert digits <= agreed <= digits + 1
        assert (said == "not linear" and asks) == ("clipped" in sentence)
        rtol = float(re.search("it would pass with rtol=([0-9e.-]*[0-9])", sentence)[1])
        assert not check(np.sin, X, products[0], rtol=rtol, **knobs).faults
        assert check(np.sin, X, products[0], rtol=rtol / 3, **knobs).faults


@np.errstate(invalid="ignore")
def squares_beside_a_log(x):
    return np.concatenate([x**2, np.log(x - 1)])


def their_jvp(factor=1.0, square=1.0):
    """Return their jvp; NaN where the logarithm is."""

    def jvp(tangent, x):
        logs = np.where(x > 1, tangent / (x - 1), np.nan)
        return np.concatenate([factor * square * 2 * x * tangent, factor * logs])

    return jvp


@pytest.mark.parametrize(
    ("jvp", "verdict"),
    [
        (their_jvp(), ("unsure", "nonfinite")),
        (their_jvp(1.01), ("fail", "wrong")),
        (their_jvp(square=np.nan), ("fail", "nonfinite")),
    ],
    ids=["right", "wrong elsewhere", "NaN elsewhere"],
)
def test_a_product_may_be_nonfinite_where_f_is(jvp, verdict):
    report = check_jvp(squares_beside_a_log, np.array([0.5, 2.0, 3.0]), jvp)
    assert (report.verdict, report.reason) == verdict


def products_of(matrix, dtype):
    matrix = matrix.astype(dtype)
    return (
        lambda x: matrix @ x,
        lambda upstream, x: matrix.T @ upstream,
        lambda tangent, x: matrix @ tangent,
    )


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_products_of_low_precision_are_adjoint_to_their_own_rounding(dtype):
    rng = np.random.default_rng(0)
    f, vjp, jvp = products_of(rng.normal(size=(8, 30)), dtype)
    x = rng.normal(size=30).astype(dtype)
    assert check_vjp(f, x, vjp, jvp=jvp).verdict in ("pass", "unsure")
    assert check_vjp(f, x, vjp, jvp=lambda v, x: 2 * jvp(v, x)).reason == "wrong"


def short(numbers, digits):
    """Round to this many binary digits: bfloat16 has 8, float16 has 11."""
    part, power = np.frexp(numbers)
    return np.ldexp(np.rint(np.ldexp(part, digits)), power - digits).astype(
        np.asarray(numbers).dtype
    )


def layer_in_short(digits, mean):
    """Return tanh(W x), its vjp and its jvp, computed in few digits; or the mean of its squares.

    Such a mean does not show that it is of rounded numbers.
    """
    weights = np.random.default_rng(1).normal(size=(20, 6))

    def cut(numbers):
        return short(numbers, digits)

    def rows(x):
        return cut(np.tanh(cut(cut(weights) @ cut(x))))

    def f(x):
        return np.mean(rows(x) ** 2).astype(x.dtype) if mean else rows(x).astype(x.dtype)

    def vjp(upstream, x):
        y = rows(x)
        above = cut(upstream * 2 * y / 20) if mean else cut(upstream)
        return cut(cut(weights).T @ cut(above * cut(1 - cut(y**2)))).astype(x.dtype)

    def jvp(tangent, x):
        y = rows(x)
        along = cut(cut(1 - cut(y**2)) * cut(cut(weights) @ cut(tangent)))
        return (np.mean(2 * y * along) if mean else along).astype(x.dtype)

    return f, vjp, jvp


WRONG = {
    "doubled": lambda product: lambda given, x: 2 * product(given, x),
    "another sign": lambda product: lambda given, x: -product(given, x),
    "vector ignored": lambda product: lambda given, x: product(np.ones_like(given), x),
    "clipped at 1": lambda product: (
        lambda given, x: product(given / max(1.0, np.linalg.norm(given)), x)
    ),
}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("mean", [False, True], ids=["layer", "mean"])
@pytest.mark.parametrize("digits", [8, 11])
@pytest.mark.parametrize(  # where a product rounds is seen for x and the vector of seed 1
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 2))]
)
def test_products_that_round_to_16_bits_inside_satisfy_the_identities(digits, mean, dtype, seed):
    f, vjp, jvp = layer_in_short(digits, mean)
    x = np.random.default_rng(seed).normal(size=6).astype(dtype)
    for check, products in ((check_vjp, {"vjp": vjp, "jvp": jvp}), (check_jvp, {"jvp": jvp})):
        assert not check(f, x, **products, seed=seed).faults


@pytest.mark.parametrize("mistake", WRONG)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("digits", [8, 11])
def test_a_wrong_product_violates_an_identity_also_in_16_bits(digits, dtype, mistake):
    f, vjp, jvp = layer_in_short(digits, False)
    x = np.random.default_rng(0).normal(size=6).astype(dtype)
    wrong = WRONG[mistake]
    for report in (
        check_vjp(f, x, vjp, jvp=wrong(jvp)),
        check_jvp(f, x, jvp, vjp=wrong(vjp)),
        check_vjp(f, x, wrong(vjp), jvp=jvp),
    ):
        assert (report.verdict, report.reason) == ("fail", "wrong")
        assert report.faults


def rectified(factor=1.0):
    """Return a layer of ReLUs with its vjp, and its jvp times a factor."""
    weights = np.random.default_rng(0).normal(size=(300, 12))
    return (
        lambda x: np.maximum(weights @ x, 0),
        lambda upstream, x: weights.T @ (upstream * (weights @ x > 0)),
        lambda tangent, x: factor * (weights @ tangent) * (weights @ x > 0),
    )


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "pass"), (1.001, "fail")])
def test_a_relu_that_switches_near_x_is_not_taken_for_rounding(factor, verdict):
    f, vjp, jvp = rectified(factor)
    assert check_vjp(f, np.random.default_rng(1).normal(size=12), vjp, jvp=jvp).verdict == verdict


def scaled_cosine(factor):
    return lambda tangent, x: factor * tangent * np.cos(x)


@pytest.mark.parametrize(("rtol", "faults"), [(None, 0), (1e-5, 1)])
def test_identities_hold_to_the_tolerance_that_the_report_prints(rtol, faults):
    x = X.astype("f4")
    report = check_vjp(np.sin, x, scaled_cosine(1), jvp=scaled_cosine(1.0003), rtol=rtol)
    assert len(report.faults) == faults
    assert (report.rtol > 3e-4) == (not faults)


@pytest.mark.parametrize(
    ("factor", "said"),
    [(1.02, "The two agree to 2 digits: "), (-1.0, "do not agree to a single digit")],
)
def test_a_fault_of_an_identity_says_to_how_many_digits_it_holds(factor, said):
    report = check_vjp(np.sin, X, scaled_cosine(1.0), jvp=scaled_cosine(factor))
    assert said in report.faults[0].sentence


def test_a_real_result_in_a_complex_array_has_an_imaginary_part_of_zero():
    z = np.array([1 + 2j, 0.3 - 1j])
    right = lambda upstream, z: 2 * z * upstream.real + 1e-17 * upstream.imag  # noqa: E731
    assert check_vjp(lambda z: np.abs(z) ** 2 + 0j, z, right).verdict == "pass"


def test_a_derivative_that_is_rounding_need_not_be_adjoint():
    left, right = np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 1.0])
    report = check_vjp(
        np.sign,
        np.array([1.0, -2.0, 3.0]),
        lambda upstream, x: 1e-16 * upstream * left,
        jvp=lambda tangent, x: 1e-16 * tangent * right,
    )
    assert not report.faults


def test_the_last_bits_of_a_constant_output_are_not_features():
    rng = np.random.default_rng(0)
    c, x = rng.uniform(0.005, 0.02, 200), np.array([70.0, 1.0])
    report = check_vjp(
        lambda x: (c + x[0]) - x[0] + 0.1 * x[1],
        x,
        lambda upstream, x: np.array([0.0, 0.1 * upstream.sum()]),
    )
    assert report.verdict == "pass"


def test_an_f_that_changes_after_a_while_is_not_said_to_have_kinks():
    calls = itertools.count()
    f = lambda x: np.sum(x**2) * (1 if next(calls) < 20 else 1.001)  # noqa: E731
    report = check_gradient(f, np.ones(50), 2 * np.ones(50))
    assert (report.verdict, report.reason) == ("unsure", "nondeterministic")


def test_the_other_product_must_be_a_function_too():
    with pytest.raises(TypeError, match="jvp must be a function"):
        check_vjp(affine, X, lambda upstream, x: W.T @ upstream, jvp=3)


def test_constants_may_be_left_out_of_the_gradients():
    def vjp(upstream, w, n):
        return (n * w ** (n - 1) * upstream,)

    assert check_vjp(lambda w, n: w**n, (np.array([1.0, 2.0]), 2), vjp).verdict == "pass"


def test_a_hinge_loss_of_integer_zero_has_slope_zero():
    f = lambda w: max(0, 1 - float(w @ np.ones(3)))  # noqa: E731
    assert type(f(np.ones(3))) is int
    assert check_gradient(f, np.ones(3), np.zeros(3)).verdict == "pass"


def test_a_tolerance_that_allows_no_error_is_refused():
    with pytest.raises(ValueError, match="rtol=0 allows no error"):
        check_gradient(cubes, X, 3 * X**2, rtol=0)
    assert check_gradient(cubes, X, 3 * X**2, rtol=0, atol=1e-6).verdict == "pass"


def test_a_derivative_that_cancels_need_only_be_linear_to_the_rounding_of_its_terms():
    big = np.array([1e3, -1e3, 0.5])

    def jvp(tangent, x):  # adds and takes away what is a thousand times larger
        return np.array([big @ tangent, ((tangent + 1e3) - 1e3)[2] - tangent[2]])

    f = lambda x: np.array([big @ x, 1.0])  # noqa: E731
    assert check_jvp(f, X, jvp).verdict == "pass"


# --- derivatives of fewer digits --------------------------------------------------------------


def rounded(product):
    """Let a product round what it gives."""
    return lambda *given: product(*given).astype(np.float32)


PRODUCTS = {
    "gradient": (check_gradient, lambda x: np.sum(np.sin(x)), np.cos),
    "vjp": (check_vjp, np.sin, lambda upstream, x: upstream * np.cos(x)),
    "jvp": (check_jvp, np.sin, lambda tangent, x: tangent * np.cos(x)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_passing_derivative_of_lower_precision_gets_a_note(name):
    check, f, derivative = PRODUCTS[name]
    report = check(f, X, rounded(derivative))
    assert report.verdict == "pass"
    (note,) = report.notes
    of = "output" if name == "jvp" else "x"
    assert note == f"the derivative for {of} is float32, which holds 6 digits, not float64"
    assert f"note: the derivative for {of} is float32" in str(report)
    assert check(f, X, derivative).notes == ()


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_derivative_with_the_precision_of_its_input_gets_no_note(name):
    check, f, derivative = PRODUCTS[name]
    x = X.astype(np.float32)
    assert check(f, x, rounded(derivative)).notes == ()
    assert check(f, x, lambda *given: derivative(*given).astype(float)).notes == ()


def test_inputs_with_low_precision_gradients_are_named_together():
    short = np.cos(X).astype(np.float32)
    report = check_gradient(
        lambda a, b, c: np.sum(np.sin(a) + np.sin(b) + np.sin(c)),
        (X, X, X),
        (short, np.cos(X), short),
    )
    (note,) = report.notes
    assert note.startswith("the derivative for a and c is float32")


def test_a_product_of_the_wrong_shape_does_not_keep_the_other_from_being_judged():
    f, x, slope = np.sin, np.array([0.3, 1.2, -0.4]), np.cos
    cut = {"vjp": lambda u, x: (u * slope(x))[:2], "jvp": lambda t, x: (t * slope(x))[:2]}
    whole = {"vjp": lambda u, x: u * slope(x), "jvp": lambda t, x: t * slope(x)}
    for check, ours, other in ((check_vjp, "vjp", "jvp"), (check_jvp, "jvp", "vjp")):
        report = check(f, x, **{ours: whole[ours], other: cut[other]})
        assert (report.verdict, report.reason, report.compared) == ("fail", "shape", 9)
        assert [fault.reason for fault in report.faults] == ["shape"]
        assert "apart from that, the numbers agree" in str(report)
        assert check(f, x, **{ours: cut[ours], other: whole[other]}).compared == 0
