"""What grads, vjp and jvp may hand over, and what they may not do to others."""

import itertools
import re
from functools import partial

import numpy as np
import pytest
from corpus.row import PRECISIONS
from crew_cases import sums_only_here

from gradcheck_ref import check_gradient, check_jvp, check_vjp

X = np.array([0.3, -0.7, 1.1])
W, B = np.array([[0.5, -1.0, 0.2], [0.1, 0.8, -0.4]]), np.array([0.3, -0.2])


def affine(x):
    return W @ x + B


def cubes(x):
    return np.sum(x**3)


def its_vjp(upstream, x):
    return W.T @ upstream


@pytest.mark.parametrize(
    ("grads", "expected"),
    [(3 * X**2, "pass"), ((3 * X**2).tolist(), "pass"), (tuple(3 * X**2), "pass"),
     ((3 * X**2,), "pass"), ([3 * X**2], "fail"), (np.ma.MaskedArray(3 * X**2), "pass")],
    ids=["array", "list of numbers", "tuple of numbers", "tuple of one", "list of one", "masked"],
)  # fmt: skip
def test_one_gradient_may_come_as_an_array_as_numbers_or_alone_in_a_tuple(grads, expected):
    assert check_gradient(cubes, X, grads).verdict == expected


# --- what does not fit -------------------------------------------------------------------------


def of_w_and_b(claim):
    point = {"w": X, "b": np.array(0.5)}
    return check_gradient(lambda w, b: np.sum(w**2) + b, point, lambda w, b: claim)


def of_a_jvp(claim):
    return check_jvp(affine, X, lambda tangent, x: claim)


def writing(matrix):
    """Return a product that writes to its first argument."""

    def product(given, x):
        result = matrix @ given
        given += 1
        return result

    return product


def at_once(vjps):
    """Return a function with products for one and for several upstreams."""
    f = lambda x: W @ x + B  # noqa: E731
    f.vjp, f.vjps = its_vjp, vjps
    return f


def each(upstreams, x):
    return [W.T @ one for one in upstreams]


def writing_each(upstreams, x):
    found = each(upstreams, x)
    upstreams[-1][:] = 0
    return found


def growing():
    """Return gradients in a list that is right only at the first call."""
    found = []

    def gradients(w, b):
        found.extend((2 * w, 1.0))
        return list(found)

    return gradients


def one_buffer(spoilt):
    """Return a vjp; what it was asked before for one output is added."""
    total = np.zeros(3)

    def vjp(upstream, x):
        if np.argmax(upstream) != spoilt:
            return W.T @ upstream
        total[:] += W.T @ upstream
        return total.copy()

    return vjp


FAULTS = {  # the check, the reason, what is said
    "a missing key": (lambda: of_w_and_b({"w": 2 * X}), "structure",
        ["no gradient for b", "keys 'w', 'b'", "a mapping with the keys 'w'"]),
    "another key": (lambda: of_w_and_b({"w": 2 * X, "b": 1.0, "v": 0}), "structure",
        ["for 'v', an unknown input", "keys 'w', 'b', not"]),
    "a short tuple": (lambda: of_w_and_b((2 * X,)), "structure",
        ["1 gradient for 2 inputs (w, b)", "keys 'w', 'b', not a tuple of 1"]),
    "nothing": (lambda: of_w_and_b(None), "structure", ["no gradient for w, b", "None"]),
    "a scalar for an array": (lambda: of_w_and_b((2.0, 1.0)), "shape",
        ["shape () for w, which has shape (3,)"]),
    "complex": (lambda: of_w_and_b((2j * X, 1.0)), "dtype", ["numbers for w, which is real"]),
    "a jvp of another shape": (lambda: of_a_jvp(X), "shape", ["shape (3,) instead of (2,)"]),
    "a tuple from a jvp": (lambda: of_a_jvp((B, B)), "shape", ["instead of one array"]),
    "complex from a jvp": (lambda: of_a_jvp(1j * B), "dtype",
        ["jvp gives complex numbers for output, which is real"]),
    "None from a jvp": (lambda: of_a_jvp(None), "dtype", ["jvp must return a number"]),
    "text from a jvp": (lambda: of_a_jvp("slope"), "dtype", ["jvp must return a number"]),
    "writes to upstream": (lambda: check_vjp(affine, X, writing(W.T)), "mutated",
        ["vjp writes to upstream"]),
    "writes to tangent": (lambda: check_jvp(affine, X, writing(W)), "mutated",
        ["jvp writes to tangent"]),
    "writes to one of several": (lambda: check_vjp(at_once(writing_each), X), "mutated",
        ["f.vjps writes to upstream"]),
    "a list that grows": (
        lambda: check_gradient(lambda w, b: np.sum(w**2) + b, (X, np.array(0.5)), growing()),
        "nondeterministic", ["at the second call grads gives 4 gradients for 2 inputs"]),
    "a buffer of the first output": (lambda: check_vjp(affine, X, one_buffer(0)),
        "nondeterministic", ["it is right at the first call, and wrong at a later one"]),
    "a buffer of the last output": (lambda: check_vjp(affine, X, one_buffer(1)),
        "nondeterministic", ["it is right at the first call, and wrong at a later one"]),
    "the upstream behind": (lambda: check_vjp(np.sin, X, lambda x, u: u * np.cos(x)), "structure",
        ["vjp(x, upstream) is right, but the check calls vjp(upstream, x)"]),
    "the tangent behind": (lambda: check_jvp(np.sin, X, lambda x, t: t * np.cos(x)), "structure",
        ["jvp(x, tangent) is right, but the check calls jvp(tangent, x)"]),
    "behind two inputs": (
        lambda: check_vjp(np.multiply, (X, 2 * X), lambda a, b, u: (u * b, u * a)), "structure",
        ["vjp(x1, x2, upstream) is right"]),
    "the upstream behind, and wrong": (
        lambda: check_vjp(np.sin, X, lambda x, u: u * np.sin(x)), "wrong",
        ["is not linear in", "come last? vjp(x, upstream) is linear in it"]),
    "the upstream behind, without its sign": (
        lambda: check_vjp(np.sin, X, lambda x, u: np.abs(u) * np.cos(x)), "wrong", ["not linear"]),
    "squared, and only so in order": (
        lambda: check_vjp(lambda x: x**2 / 2, X, lambda u, x: u**2 * x), "wrong", ["not linear"]),
    "a size, and only so in order": (
        lambda: check_vjp(lambda x: x @ x, X, lambda u, x: 2 * u * np.abs(x)), "wrong", ["x[1]"]),
    "a function of the upstream": (lambda: check_vjp(np.sin, X, lambda y, x: lambda u: u), "dtype",
        ["a function for x where a gradient must be"]),
    "two that contradict": (lambda: check_vjp(at_once(lambda us, x: 2 * np.array(each(us, x))), X),
        "nondeterministic", ["from f.vjp: the two do not agree"]),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("report", "reason", "said"), FAULTS.values(), ids=FAULTS)
def test_what_does_not_fit_or_changes_fails_with_a_sentence(report, reason, said):
    report = report()
    assert (report.verdict, report.reason) == ("fail", reason)
    for words in said:
        assert words in " ".join(report.text(1000).split())


REFUSED = {
    "one less": (lambda: check_vjp(at_once(lambda us, x: each(us, x)[1:]), X), "1 for 2"),
    "None for several": (lambda: check_vjp(at_once(lambda us, x: None), X), "None for 2"),
    "a mapping": (lambda: check_vjp(at_once(lambda us, x: dict(enumerate(us))), X), "for 2"),
    "vjps": (lambda: check_vjp(at_once(3), X), "vjps must be a function, not int 3"),
    "jvp": (lambda: check_vjp(affine, X, its_vjp, jvp=3), "jvp must be a function"),
    "no seed": (lambda: check_gradient(cubes, X, X, seed=None), "seed must"),
    "a negative seed": (lambda: check_gradient(cubes, X, X, seed=-1), "seed must"),
    "a bool as seed": (lambda: check_gradient(cubes, X, X, seed=True), "seed must"),
    "another shape than at x": (
        lambda: check_vjp(lambda x: x if x[1] == X[1] else x[:2], X, lambda upstream, x: upstream),
        "shape (2,) instead of (3,) as at x"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_asked_is_refused_with_a_sentence(call, said):
    with pytest.raises((TypeError, ValueError), match=re.escape(said)) as caught:
        call()
    if "as at x" in said:
        assert "in gradcheck_ref, calling f at x" in caught.value.__notes__[0]


def test_the_gradients_of_several_outputs_are_requested_at_once_but_for_a_vjp_that_is_given():
    asked = []
    f = at_once(lambda upstreams, x: asked.append(len(upstreams)) or each(upstreams, x))
    assert check_vjp(f, X).verdict == "pass"
    assert 2 in asked
    assert check_vjp(at_once(lambda us, x: us), X, lambda u, x: W.T @ u).verdict == "pass"


@pytest.mark.parametrize("who", ["f", "grads"])
@pytest.mark.parametrize(("dtype", "constant"), [(int, ()), (float, "labels")])
def test_writing_to_a_constant_is_noticed_and_does_not_reach_the_caller(who, dtype, constant):
    labels, calls = np.array([2, 0, 1], dtype), itertools.count()

    def f(x, labels):
        value = float(x @ labels)
        if who == "f" and next(calls) > 2:
            labels[0] = 7
        return value

    def grads(x, labels):
        gradient = labels.astype(float)
        if who == "grads":
            labels[:] = 0
        return gradient, None

    report = check_gradient(f, (X, labels), grads, constant=constant)
    assert report.reason == "mutated"
    assert f"{who} writes to its input labels" in report.faults[0].sentence
    assert labels.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("of_f", "of_gradient", "verdict"),
    [(0.5, 0, "unsure"), (1e-3, 0, "unsure"), (1e-3, 0.5, "fail"), (0, 0.5, "fail"),
     (0, 0, "pass")],
    ids=["both", "both a little", "the gradient more than f", "the gradient", "neither"],
)  # fmt: skip
def test_a_gradient_that_changes_as_f_does_is_no_fault(of_f, of_gradient, verdict):
    rng, factor = np.random.default_rng(0), np.ones(3)

    def f(x):
        factor[:] = 1 + of_f * rng.normal(size=3)
        return np.sum(factor * x**2)

    report = check_gradient(f, X, lambda x: 2 * x * (factor + of_gradient * rng.normal(size=3)))
    assert report.verdict == verdict
    assert report.reason == ("ok" if verdict == "pass" else "nondeterministic")


def test_an_f_that_changes_after_a_while_is_not_said_to_have_kinks():
    calls = itertools.count()
    f = lambda x: np.sum(x**2) * (1 if next(calls) < 20 else 1.001)  # noqa: E731
    report = check_gradient(f, np.ones(50), 2 * np.ones(50))
    assert (report.verdict, report.reason) == ("unsure", "nondeterministic")


# --- exceptions of f ---------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("kind", "many", "size"),
    [(ValueError, False, 3), (AssertionError, True, 50), (ZeroDivisionError, False, 50),
     (UnlikelyError, True, 3)],
)  # fmt: skip
def test_an_exception_of_f_outside_its_domain_becomes_a_note(kind, many, size):
    p = np.linspace(0.2, 0.6, size)
    p[1::8] = 1 - 1e-5
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
@pytest.mark.parametrize(
    ("kind", "p"),
    [(ValueError, 1.5), (UnlikelyError, 1.5), (NotImplementedError, 1 - 1e-9),
     (RecursionError, 1 - 1e-9), (MemoryError, 1 - 1e-9), (KeyboardInterrupt, 1 - 1e-9)],
)  # fmt: skip
def test_exceptions_at_x_or_that_do_not_mean_a_domain_are_passed_on(kind, p, many):
    with pytest.raises(kind, match="expected 0 < p < 1"):
        check_gradient(refusing(kind, many), np.array([0.5, p]), np.zeros(2))


@pytest.mark.parametrize(("size", "workers"), [(2, None), (50, 2)])
def test_an_error_of_f_at_every_point_but_x_is_quoted(size, workers):
    x = np.linspace(0.5, 1, size)
    report = check_gradient(partial(sums_only_here, size=size), x, 2 * x, workers=workers)
    assert (report.verdict, report.reason) == ("unsure", "isolated")
    (note,) = report.notes
    assert note.startswith("f raised TypeError at x ")
    assert "(unsupported operand type(s) for +: 'float' and 'str'): the check takes" in note


def test_each_kind_of_error_is_noted_once():
    def f(x):
        if x[0] < 0.5:
            raise IndexError("too near")
        return x[0] if x[0] == 0.5 else float(x[0]) + ""

    notes = check_gradient(f, np.array([0.5]), np.array([1.0])).notes
    assert [note.split(" at ")[0] for note in notes] == [
        "f raised IndexError", "f raised TypeError"
    ]  # fmt: skip


# --- an input that f ignores -------------------------------------------------------------------

LARGEST = np.array([0.1, 0.4])


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("f", "at", "claim", "ignores"),
    [
        (lambda x, W: np.max(x), (LARGEST, np.eye(20)), ([0, 1], np.ones((20, 20))), True),
        (lambda x, W: np.max(x) + W[2, 5], (LARGEST, np.eye(20)), ([0, 1], np.ones((20, 20))),
         False),
        *((lambda x: 3.0, np.arange(1.0, n), 2 * np.ones(n - 1), True) for n in (2, 21, 73)),
        *((lambda x: max(x[0], 1), np.arange(1.0, n), 2 * np.ones(n - 1), False) for n in (2, 73)),
    ],
)  # fmt: skip
def test_an_input_is_ignored_by_f_if_none_of_its_entries_moves_f(f, at, claim, ignores):
    report = check_gradient(f, at, claim)
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


# --- identities --------------------------------------------------------------------------------

OF_SIN = {
    "a loss": (check_vjp, lambda x: 0.01 * np.sum(np.sin(x)), lambda u, x: 0.01 * u * np.cos(x)),
    "tiny": (check_vjp, lambda x: 1e-20 * np.sin(x), lambda u, x: 1e-20 * u * np.cos(x)),
    "vjp": (check_vjp, np.sin, lambda u, x: u * np.cos(x)),
    "jvp": (check_jvp, np.sin, lambda t, x: t * np.cos(x)),
}


def clipped(value):
    return value / max(1.0, np.linalg.norm(value))


NOT_LINEAR = {
    "ignored": lambda product, given: product(np.ones_like(given)),
    "squared": lambda product, given: product(given**2),
    "its sign": lambda product, given: product(np.sign(given)),
    "its size": lambda product, given: product(np.abs(given)),
    "clipped": lambda product, given: product(clipped(given)),
    "each entry clipped": lambda product, given: product(np.clip(given, -100, 100)),
    "with a penalty": lambda product, given: product(given) + 1e-3,
}


@pytest.mark.one_in(12)
@pytest.mark.parametrize("spoil", NOT_LINEAR.values(), ids=NOT_LINEAR)
@pytest.mark.parametrize(("check", "f", "product"), OF_SIN.values(), ids=OF_SIN)
@pytest.mark.parametrize("size", [1, 40])
def test_a_product_must_be_linear(check, f, product, spoil, size):
    x = np.linspace(0.1, 1.0, size)
    assert check(f, x, product).verdict == "pass"
    report = check(f, x, lambda given, x: spoil(lambda one: product(one, x), given))
    assert report.verdict == "fail"
    assert any(" is not linear in " in fault.sentence for fault in report.faults)
    assert not any(" come last?" in fault.sentence for fault in report.faults)


def rough(product, error):
    """Let a product be linear to few digits, as that of a solver is that chooses its steps."""
    return lambda given, x: product(given, x) * (1 + error * np.sin(7 * np.sum(given)))


@pytest.mark.parametrize(("error", "digits", "asks"), [(1e-5, 4, False), (0.02, 1, True)])
@pytest.mark.parametrize("which", ["vjp", "jvp", "both"])
def test_a_roughly_linear_product_fails_with_a_sufficient_tolerance_named(
    which, error, digits, asks
):
    right = OF_SIN["vjp"][2]
    product, jvp = rough(right, error), None
    check = check_jvp if which == "jvp" else check_vjp
    if which == "both":
        product, jvp = right, product
    knobs = {"jvp": jvp} if jvp else {}
    (fault,) = check(np.sin, X, product, **knobs).faults
    assert ("not adjoint" if jvp else "not linear") in fault.sentence
    agreed = int(re.search("The two agree to ([0-9]+) digit", fault.sentence)[1])
    assert digits <= agreed <= digits + 1
    assert ("clipped" in fault.sentence) == (asks and not jvp)
    rtol = float(re.search("it would pass with rtol=([0-9e.-]*[0-9])", fault.sentence)[1])
    assert not check(np.sin, X, product, rtol=rtol, **knobs).faults
    assert check(np.sin, X, product, rtol=rtol / 3, **knobs).faults


def test_two_products_that_contradict_each_other_do_not_agree_to_a_digit():
    right = OF_SIN["vjp"][2]
    (fault,) = check_vjp(np.sin, X, right, jvp=lambda t, x: -right(t, x)).faults
    assert "do not agree to a single digit" in fault.sentence


@pytest.mark.parametrize(("rtol", "faults"), [(None, 0), (1e-5, 1)])
def test_identities_hold_to_the_tolerance_that_the_report_prints(rtol, faults):
    right = OF_SIN["vjp"][2]
    jvp = lambda tangent, x: 1.0003 * right(tangent, x)  # noqa: E731
    report = check_vjp(np.sin, X.astype("f4"), right, jvp=jvp, rtol=rtol)
    assert len(report.faults) == faults
    assert (report.rtol > 3e-4) == (not faults)


def layer_in(precision, mean):
    """Return tanh(W x), its vjp and its jvp, computed in few digits; or the mean of its squares.

    Such a mean does not show that it is of rounded numbers.
    """
    cut = PRECISIONS[precision]
    weights = cut(np.random.default_rng(1).normal(size=(20, 6)))

    def rows(x):
        return cut(np.tanh(cut(weights @ cut(x))))

    def f(x):
        return (np.mean(rows(x) ** 2) if mean else rows(x)).astype(x.dtype)

    def vjp(upstream, x):
        y = rows(x)
        above = cut(upstream * 2 * y / 20) if mean else cut(upstream)
        return cut(weights.T @ cut(above * cut(1 - cut(y**2)))).astype(x.dtype)

    def jvp(tangent, x):
        y = rows(x)
        along = cut(cut(1 - cut(y**2)) * cut(weights @ cut(tangent)))
        return (np.mean(2 * y * along) if mean else along).astype(x.dtype)

    return f, vjp, jvp


def of_layer(precision, dtype, mean=False, spoil=lambda product, given: product(given)):
    """Yield what each check of a layer of few digits says, if a product is spoilt."""
    f, vjp, jvp = layer_in(precision, mean)
    x = np.random.default_rng(0).normal(size=6).astype(dtype)

    def spoilt(product):
        return lambda given, x: spoil(lambda one: product(one, x), given)

    yield check_vjp(f, x, vjp, jvp=spoilt(jvp))
    yield check_jvp(f, x, jvp, vjp=spoilt(vjp))
    yield check_vjp(f, x, spoilt(vjp), jvp=jvp)


FEW_DIGITS = [("float16", "f2"), ("float16", "f4"), ("bfloat16", "f4"), ("bfloat16", "f8")]


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "dtype"), FEW_DIGITS)
@pytest.mark.parametrize("mean", [False, True], ids=["layer", "mean"])
def test_products_of_few_digits_satisfy_the_identities(precision, dtype, mean):
    for report in of_layer(precision, dtype, mean):
        assert not report.faults


def a_layer_beside_its_input(seed, factor):
    """Return the check of a layer of few digits, added to its inputs of many."""
    cut, rng = PRECISIONS["bfloat16"], np.random.default_rng(seed)
    W, x = cut(rng.normal(size=(4, 6)) / 4).astype(float), rng.normal(size=6)

    def layer(x):
        return cut(np.tanh(cut(W @ cut(x)))).astype(float)

    def vjp(upstream, x):
        product = cut(W.T @ cut(cut(factor(upstream)) * cut(1 - cut(layer(x) ** 2)))).astype(float)
        return product + np.append(upstream, [0, 0])

    def jvp(tangent, x):
        return cut(cut(1 - cut(layer(x) ** 2)) * cut(W @ cut(tangent))) + tangent[:4]

    f = lambda x: layer(x) + x[:4]  # noqa: E731
    return check_vjp(f, x, vjp, jvp=jvp, max_evaluations=40)


def test_products_that_only_small_vectors_make_underflow_have_no_fewer_digits_than_f():
    x, c = np.float16(np.random.default_rng(0).normal(size=(6, 4))), np.float16(3e-4)

    def vjp(upstream, x):
        return np.float16(upstream) * (c * (1 - np.tanh(x) ** 2))

    report = check_vjp(lambda x: np.float32(np.sum(c * np.tanh(x))), x, vjp)
    assert (report.verdict, report.notes) == ("pass", ())


@pytest.mark.slow
def test_with_few_evaluations_too_rounding_violates_no_identity():
    for seed in range(40):
        assert not a_layer_beside_its_input(seed, lambda upstream: upstream).faults
    for factor in (lambda upstream: 0.8 * upstream, np.sign, lambda upstream: 0 * upstream):
        assert a_layer_beside_its_input(0, factor).faults


WRONG = {
    "doubled": lambda product, given: 2 * product(given),
    "another sign": lambda product, given: -product(given),
    "ignored": NOT_LINEAR["ignored"],
    "clipped": NOT_LINEAR["clipped"],
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("precision", "dtype"), FEW_DIGITS[1:3])
@pytest.mark.parametrize("spoil", WRONG.values(), ids=WRONG)
def test_a_wrong_product_of_few_digits_violates_an_identity(precision, dtype, spoil):
    for report in of_layer(precision, dtype, spoil=spoil):
        assert (report.verdict, report.reason) == ("fail", "wrong")
        assert report.faults


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "pass"), (1.001, "fail")])
def test_a_relu_that_switches_near_x_is_not_taken_for_rounding(factor, verdict):
    V = np.random.default_rng(0).normal(size=(300, 12))
    report = check_vjp(
        lambda x: np.maximum(V @ x, 0),
        np.random.default_rng(1).normal(size=12),
        lambda upstream, x: V.T @ (upstream * (V @ x > 0)),
        jvp=lambda tangent, x: factor * (V @ tangent) * (V @ x > 0),
    )
    assert report.verdict == verdict


def test_a_derivative_that_is_rounding_need_not_be_adjoint_or_linear():
    x, noise = np.array([1.0, -2.0, 3.0]), 1e-16 * np.array([1.0, 2.0, 3.0])
    rolled = lambda tangent, x: tangent * np.roll(noise, 1)  # noqa: E731
    assert not check_vjp(np.sign, x, lambda upstream, x: upstream * noise, jvp=rolled).faults
    assert not check_jvp(np.sign, x, lambda tangent, x: np.abs(tangent) * noise).faults


def test_a_derivative_that_cancels_need_only_be_linear_to_the_rounding_of_its_terms():
    big = np.array([1e3, -1e3, 0.5])

    def jvp(tangent, x):  # adds and takes away what is a thousand times larger
        return np.array([big @ tangent, ((tangent + 1e3) - 1e3)[2] - tangent[2]])

    f = lambda x: np.array([big @ x, 1.0])  # noqa: E731
    assert check_jvp(f, X, jvp).verdict == "pass"


@pytest.mark.parametrize(
    ("check", "ours", "other"), [(check_vjp, "vjp", "jvp"), (check_jvp, "jvp", "vjp")]
)
def test_a_product_of_the_wrong_shape_does_not_keep_the_other_from_being_judged(check, ours, other):
    whole = OF_SIN["vjp"][2]
    cut = lambda given, x: whole(given, x)[:2]  # noqa: E731
    report = check(np.sin, X, **{ours: whole, other: cut})
    assert (report.verdict, report.reason, report.compared) == ("fail", "shape", 9)
    assert [fault.reason for fault in report.faults] == ["shape"]
    assert "apart from that, the numbers agree" in str(report)
    assert check(np.sin, X, **{ours: cut, other: whole}).compared == 0


# --- derivatives of other dtypes ---------------------------------------------------------------


def test_a_real_result_in_a_complex_array_has_an_imaginary_part_of_zero():
    z = np.array([1 + 2j, 0.3 - 1j])
    right = lambda upstream, z: 2 * z * upstream.real + 1e-17 * upstream.imag  # noqa: E731
    assert check_vjp(lambda z: np.abs(z) ** 2 + 0j, z, right).verdict == "pass"


@pytest.mark.parametrize(
    ("check", "f", "product"),
    [(check_gradient, lambda x: np.sum(np.sin(x)), np.cos), OF_SIN["vjp"], OF_SIN["jvp"]],
    ids=["gradient", "vjp", "jvp"],
)
def test_a_passing_derivative_of_lower_precision_gets_a_note(check, f, product):
    def single(*given):
        return product(*given).astype(np.float32)

    report = check(f, X, single)
    (note,) = report.notes
    of = "output" if check is check_jvp else "x"
    assert note == f"the derivative for {of} is float32, which holds 6 digits, not float64"
    assert f"note: the derivative for {of} is float32" in str(report)
    assert report.verdict == "pass"
    assert check(f, X, product).notes == ()
    assert check(f, X.astype(np.float32), single).notes == ()


def test_inputs_with_low_precision_gradients_are_named_together():
    short, f = np.cos(X).astype(np.float32), lambda a, b, c: np.sum(np.sin(a + b + c))
    (note,) = check_gradient(f, (X, 0 * X, 0 * X), (short, np.cos(X), short)).notes
    assert note.startswith("the derivative for a and c is float32")
