"""The forms in which people hand over functions, data and derivatives: taken as they come."""

import re
from functools import partial

import numpy as np
import pytest
from sparse_stand_in import Sparse

from gradcheck_ref import (
    GradientError,
    assert_gradient,
    assert_jvp,
    assert_vjp,
    check_gradient,
    check_jacobian,
    check_jvp,
    check_vjp,
    hard_points,
    nearby,
)

RNG = np.random.default_rng(0)

# --- data: constant=("X", "y") -----------------------------------------------------------------

W, X, Y = RNG.normal(size=(3, 2)), RNG.normal(size=(5, 3)), RNG.normal(size=(5, 2))
OF_DATA = {"in order": (W, X, Y), "by name": {"W": W, "X": X, "Y": Y}}


def residual(W, X, Y):
    return X @ W - Y


def squares(W, X, Y):
    return 0.5 * np.sum(residual(W, X, Y) ** 2)


def of_squares(W, X, Y):
    return X.T @ residual(W, X, Y)


def residual_vjp(upstream, W, X, Y):
    return X.T @ upstream


def residual_jvp(tangent, W, X, Y):
    dW = tangent[0] if isinstance(tangent, tuple) else tangent
    return X @ dW


CLAIMS = {
    "gradient": (check_gradient, assert_gradient, squares, of_squares),
    "vjp": (check_vjp, assert_vjp, residual, residual_vjp),
    "jvp": (check_jvp, assert_jvp, residual, residual_jvp),
}


@pytest.mark.parametrize(("check", "assert_", "f", "claim"), CLAIMS.values(), ids=CLAIMS)
@pytest.mark.parametrize(
    ("inputs", "constant"),
    [("in order", ("X", "Y")), ("in order", (1, 2)), ("by name", ("X", "Y"))],
)
def test_data_of_floats_are_left_out_by_name_or_position(
    check, assert_, f, claim, inputs, constant
):
    report = check(f, OF_DATA[inputs], claim, constant=constant)
    assert (report.verdict, report.compared) == ("pass", 6 * np.size(f(W, X, Y)))
    assert {pair.input.name for pair in report.pairs} == {"W"}
    assert assert_(f, OF_DATA[inputs], claim, constant=constant)


@pytest.mark.parametrize(("check", "assert_", "f", "claim"), CLAIMS.values(), ids=CLAIMS)
def test_a_wrong_derivative_beside_data_fails(check, assert_, f, claim):
    def wrong(*given):
        return 2 * claim(*given)

    assert check(f, OF_DATA["in order"], wrong, constant=("X", "Y")).reason == "wrong"
    with pytest.raises(GradientError, match="FAIL"):
        assert_(f, OF_DATA["in order"], wrong, constant=("X", "Y"))


@pytest.mark.parametrize(
    "gives",
    [
        lambda W, X, Y: (of_squares(W, X, Y), None, None),
        lambda W, X, Y: (of_squares(W, X, Y), np.full_like(X, 7.0), np.zeros(1)),
        lambda W, X, Y: {"W": of_squares(W, X, Y)},
    ],
    ids=["None", "others, which nobody looks at", "a mapping"],
)
def test_no_gradient_is_needed_for_data(gives):
    inputs = OF_DATA["by name" if isinstance(gives(W, X, Y), dict) else "in order"]
    assert check_gradient(squares, inputs, gives, constant=("X", "Y")).verdict == "pass"


def test_without_constant_the_gradients_of_the_data_are_missed():
    report = check_gradient(squares, OF_DATA["in order"], lambda *a: (of_squares(*a), None, None))
    assert report.verdict == "fail"


def test_a_sparse_point_is_refused_with_the_call_that_makes_it_dense():
    with pytest.raises(TypeError, match=r"differentiate .*, e\.g\. M\.toarray\(\)$"):
        check_gradient(lambda M: np.sum(M**2), Sparse(np.eye(2)), 2 * np.eye(2))
    assert check_gradient(lambda M: np.sum(M**2), Sparse(np.eye(2)).toarray(), 2 * np.eye(2))


def test_the_report_says_how_to_leave_data_out():
    x, y, product = np.array([1.0, 2.0]), np.array([3.0, 4.0]), lambda x, y: np.sum(x * y)
    report = check_gradient(product, {"x": x, "y": y}, {"x": y})
    assert "If y is data, leave it out: constant='y'" in report.faults[0].sentence
    assert check_gradient(product, {"x": x, "y": y}, {"x": y}, constant="y").verdict == "pass"
    misspelt = check_gradient(product, {"x": x, "y": y}, {"x": y, "Y": x})
    assert "constant=" not in misspelt.faults[0].sentence


@pytest.mark.parametrize(("check", "assert_", "f", "claim"), CLAIMS.values(), ids=CLAIMS)
@pytest.mark.parametrize(
    ("constant", "error"), [("Z", ValueError), (("X", 7), ValueError), (0.5, TypeError)]
)
def test_a_wrong_name_is_refused_before_f_is_called(check, assert_, f, claim, constant, error):
    def never(W, X, Y):
        raise LookupError("called")

    for one in check, assert_:
        with pytest.raises(error, match=r"constant .*the inputs are W, X, Y"):
            one(never, OF_DATA["in order"], claim, constant=constant)


def test_a_leaf_of_a_tree_may_be_a_constant():
    params = {"w": np.ones(3), "norm": {"mean": np.arange(3.0), "gain": 2.0}}

    def loss(params):
        norm = params["norm"]
        return norm["gain"] * np.sum(params["w"] * (X - norm["mean"]))

    def gradient(params):
        norm = params["norm"]
        w = norm["gain"] * (X - norm["mean"]).sum(axis=0)
        return {"w": w, "norm": {"gain": np.sum(params["w"] * (X - norm["mean"]))}}

    assert check_gradient(loss, [params], gradient).reason == "structure"
    report = check_gradient(loss, [params], gradient, constant="params['norm']['mean']")
    assert (report.verdict, report.compared) == ("pass", 4)


def test_writing_to_data_is_noticed():
    def f(W, X, Y):
        X[0] = 0.0
        return squares(W, X, Y)

    report = check_gradient(f, OF_DATA["in order"], of_squares, constant=("X", "Y"))
    assert "f writes to its input X" in report.faults[0].sentence


def test_data_stay_at_other_points():
    named = {"W": W, "X": X}
    near = nearby(named, constant="X")
    np.testing.assert_array_equal(near["X"], X)
    assert (near["W"] != W).all()
    for _, (_, data) in hard_points((W, X), constant=1):
        np.testing.assert_array_equal(data, X)
    with pytest.raises(ValueError, match="constant names 'Y', which is no input: the inputs are W"):
        nearby(named, constant="Y")


# --- (value, gradient) -------------------------------------------------------------------------

LABELS = np.array([0, 1, 1, 0, 1])


def svm_loss(W, X, y, reg=0.1, mean=True):
    """Return the loss and its gradient, as in CS231n's assignment 1."""
    n, scores = len(y), X @ W
    margins = np.maximum(0, scores - scores[np.arange(n), y][:, None] + 1)
    margins[np.arange(n), y] = 0
    counted = (margins > 0).astype(float)
    counted[np.arange(n), y] = -counted.sum(axis=1)
    dW = X.T @ counted / (n if mean else 1) + 2 * reg * W
    return margins.sum() / n + reg * np.sum(W**2), dW


def right(W):
    return svm_loss(W, X, LABELS)


def not_a_mean(W):
    return svm_loss(W, X, LABELS, mean=False)


def value_of(W):
    return right(W)[0]


def listed(W):
    return [*right(W)]


ASKED = {
    "f alone": (right, not_a_mean),
    "a list": (listed, lambda W: list(not_a_mean(W))),
    "grads that returns the value, too": ((value_of, right), (value_of, not_a_mean)),
    "the pair itself": ((value_of, right(W)), (value_of, not_a_mean(W))),
    "both": ((right, right), (right, not_a_mean)),
    "f, and the gradient": ((right, right(W)[1]), (right, not_a_mean(W)[1])),
}


@pytest.mark.parametrize(("good", "bad"), ASKED.values(), ids=ASKED)
def test_a_gradient_that_comes_with_a_value_is_taken(good, bad):
    for asked, verdict in (good, "pass"), (bad, "fail"):
        f, *grads = asked if isinstance(asked, tuple) else (asked,)
        report = check_gradient(f, W, *grads)
        assert (report.verdict, report.compared) == (verdict, 6)
        assert report.reason == {"pass": "ok", "fail": "wrong"}[verdict]


def test_the_assertion_needs_no_gradients_either():
    assert assert_gradient(svm_loss, (W, X, LABELS), constant="X").verdict == "pass"
    with pytest.raises(GradientError):
        assert_gradient(not_a_mean, W)


def by_name(w, b):
    return np.sum(w**2) * b, {"w": 2 * w * b, "b": np.sum(w**2)}


@pytest.mark.parametrize(
    ("f", "inputs"),
    [
        (by_name, {"w": X, "b": 0.5}),
        (lambda w, b: (by_name(w, b)[0], tuple(by_name(w, b)[1].values())), (X, 0.5)),
        (lambda params: by_name(**params), [{"w": X, "b": 0.5}]),
        (lambda x: (x**3, 3 * x**2), 1.5),
        (lambda x, k: (x**k, k * x ** (k - 1)), (1.5, 3)),
        (lambda x, y: (x * y, (y, x)), (1.5, 2.0)),
    ],
    ids=["names", "order", "tree", "one number", "a number and an integer", "two numbers"],
)
def test_the_gradient_is_arranged_as_the_inputs_are(f, inputs):
    report = check_gradient(f, inputs)
    assert (report.verdict, report.notes) == ("pass", ())
    report = check_gradient(lambda *a, **k: (1.01 * f(*a, **k)[0], f(*a, **k)[1]), inputs)
    assert report.verdict == "fail"


def test_a_gradient_of_another_shape_is_a_verdict():
    for asked in (lambda W: (value_of(W), right(W)[1].T),), (value_of, (value_of(W), W.T)):
        report = check_gradient(asked[0], W, *asked[1:])
        assert (report.verdict, report.reason) == ("fail", "shape")
        assert "gives shape (2, 3) for W, which has shape (3, 2)" in report.faults[0].sentence


def test_a_gradient_beside_that_of_f_is_compared_and_the_report_says_so():
    report = check_gradient(right, W, lambda W: right(W)[1])
    assert report.notes[0].startswith("f returns (value, gradient), and you also give grads: the")
    assert check_gradient(not_a_mean, W, lambda W: right(W)[1]).verdict == "pass"


def test_another_value_than_that_of_f_is_noted():
    report = check_gradient(value_of, W, lambda W: svm_loss(W, X, LABELS, reg=0.0))
    assert report.verdict == "fail"
    assert "are both of the same function?" in report.notes[0]
    assert f"that of f is {value_of(W):.6g}" in report.notes[0]


def test_two_numbers_are_two_gradients_unless_the_first_is_the_value():
    def f(x, y):
        return x**2 * y

    assert check_gradient(f, (1.5, 2.0), lambda x, y: (2 * x * y, x**2)).verdict == "pass"
    assert check_gradient(f, (1.5, 2.0), lambda x, y: (2 * x * y, 7), constant="y").verdict == (
        "pass"
    )
    with pytest.raises(ValueError, match=r"grads gives two numbers, .* or the gradients of x and"):
        check_gradient(f, (1.5, 2.0), lambda x, y: (f(x, y), 2 * x * y), constant="y")


@pytest.mark.parametrize(
    "f",
    [value_of, lambda W: X @ W, lambda W: (value_of(W), W, W), lambda W: (W, W)],
    ids=["a number", "an array", "three", "two arrays"],
)
def test_without_gradients_f_must_return_one(f):
    with pytest.raises(TypeError, match="grads is missing: give the gradient, or a function that"):
        check_gradient(f, W)


def test_a_number_with_something_else_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match=r"one real number for check_gradient, or \(value, grad"):
        check_gradient(lambda W: (value_of(W), X @ W), W, lambda W: right(W)[1])


def test_a_pair_is_two_outputs_for_the_products():
    def vjp(upstream, x):
        return upstream[0] * 2 * x + upstream[1] * 2

    x = np.array([0.5, 2.0])
    report = check_vjp(lambda x: (np.sum(x**2), 2 * x), x, vjp)
    assert (report.verdict, report.compared) == ("pass", 6)


def test_f_must_go_on_to_return_pairs():
    with pytest.raises(ValueError, match=r"instead of a pair \(value, gradient\) as at x"):
        check_gradient(lambda x: (x**2, 2 * x) if x == 1.5 else x**2, 1.5)


def test_many_points_at_once_and_workers_may_return_pairs():
    def f(x):
        return np.sum(x**3), 3 * x**2

    f.many = lambda points: [f(x) for x in points]
    assert check_gradient(f, X[0]).verdict == "pass"
    assert check_gradient(right, W, workers=map).verdict == "pass"


def test_a_buffer_that_f_adds_to_is_noticed():
    total = np.zeros(3)

    def f(x):
        total[:] += 2 * x
        return np.sum(x**2), total

    report = check_gradient(f, X[0])
    assert report.verdict == "fail"


# --- sparse matrices ---------------------------------------------------------------------------

WORDS = np.array([1, 1, 0])  # of an embedding with 4 rows


def embedded(E):
    return np.sum(np.sin(E[WORDS]))


def of_embedded(E):
    found = np.zeros(E.shape)
    np.add.at(found, WORDS, np.cos(E[WORDS]))
    return found


def scipys(kind):
    """Return a sparse class of SciPy."""
    return getattr(pytest.importorskip("scipy.sparse", reason="comes with the extra peers"), kind)


@pytest.mark.parametrize(
    "kind", ["stand-in", "csr_matrix", "csr_array", "coo_matrix", "dok_matrix", "lil_array"]
)
def test_a_sparse_gradient_is_an_array(kind):
    sparse = Sparse if kind == "stand-in" else scipys(kind)
    E = RNG.normal(size=(4, 2))
    for factor, verdict in (1.0, "pass"), (0.5, "fail"):

        def gradient(E, factor=factor):
            return sparse(factor * of_embedded(E))

        report = check_gradient(embedded, E, gradient)
        assert (report.verdict, report.compared) == (verdict, 8)
        assert check_gradient(embedded, E, gradient(E)).verdict == verdict
        assert check_gradient(embedded, (E,), (gradient(E),)).verdict == verdict
        assert check_gradient(lambda E: embedded(E=E), {"E": E}, {"E": gradient(E)}).verdict == (
            verdict
        )
        assert check_gradient(embedded, E, (embedded(E), gradient(E))).verdict == verdict
    assert check_vjp(lambda E: sparse(E), E, lambda upstream, E: sparse(upstream)).verdict == "pass"
    report = check_gradient(embedded, E, lambda E: sparse(of_embedded(E).T))
    assert (report.reason, "shape (2, 4)" in report.faults[0].sentence) == ("shape", True)


def test_products_and_f_may_be_sparse():
    def f(E):
        return Sparse(np.sin(E))

    E = RNG.normal(size=(4, 2))
    vjp = {c: lambda upstream, E, c=c: Sparse(c * upstream * np.cos(E)) for c in (1, 2)}
    assert check_vjp(f, E, vjp[1], jvp=vjp[1]).verdict == "pass"
    assert check_vjp(lambda E: [f(E)], E, lambda up, E: vjp[1](up[0], E)).verdict == "pass"
    assert check_vjp(f, E, vjp[2]).verdict == "fail"
    assert check_jvp(f, E, vjp[1]).verdict == "pass"
    assert check_jvp(f, E, vjp[2]).verdict == "fail"


# --- one product of two ------------------------------------------------------------------------


class HalfRight:
    """A function with both products, one of which is wrong."""

    def __init__(self, vjp, jvp):
        self.factors, self.asked = (vjp, jvp), []

    def __call__(self, x):
        return np.sin(x)

    def vjp(self, upstream, x):
        self.asked.append("vjp")
        return self.factors[0] * upstream * np.cos(x)

    def jvp(self, tangent, x):
        self.asked.append("jvp")
        return self.factors[1] * tangent * np.cos(x)


@pytest.mark.parametrize(
    ("check", "assert_", "factors", "left_out"),
    [(check_vjp, assert_vjp, (1, 2), "jvp"), (check_jvp, assert_jvp, (2, 1), "vjp")],
    ids=["vjp", "jvp"],
)
def test_false_leaves_the_other_product_out(check, assert_, factors, left_out):
    f = HalfRight(*factors)
    assert check(f, X[0]).verdict == "fail"
    f.asked.clear()
    assert check(f, X[0], **{left_out: False}).verdict == "pass"
    assert assert_(f, X[0], **{left_out: False}).verdict == "pass"
    assert left_out not in f.asked
    assert check(HalfRight(*factors[::-1]), X[0], **{left_out: False}).verdict == "fail"


@pytest.mark.parametrize(
    ("check", "name", "other"), [(check_vjp, "vjp", "jvp"), (check_jvp, "jvp", "vjp")]
)
def test_the_product_under_test_cannot_be_left_out(check, name, other):
    for given in ({name: False}, {name: False, other: np.sin}):
        with pytest.raises(TypeError, match=f"{name}=False leaves out .* use check_{other}"):
            check(HalfRight(1, 1), X[0], **given)


# --- a function that works in its argument -----------------------------------------------------


def in_place(x):
    x *= x
    return np.sum(x)


@pytest.mark.parametrize("size", [3, 50])
def test_the_first_line_says_that_the_numbers_agree_if_they_do(size):
    x = np.linspace(0.5, 2, size)
    report = check_gradient(in_place, x, 2 * x)
    assert (report.verdict, report.reason) == ("fail", "mutated")
    first = f"FAIL  the numbers agree ({size} compared), but f writes to its input x: code that"
    assert report.text(1000).startswith(first)
    assert "apart from that" not in report.text(1000)
    report = check_gradient(in_place, x, 3 * x)
    assert report.text(1000).startswith("FAIL  f writes to its input x: code that")
    assert "the numbers agree" not in report.text(1000)


def test_a_gradient_that_works_in_its_argument_may_be_right_too():
    def gradient(x):
        x *= 2
        return x

    said = check_gradient(lambda x: np.sum(x**2), X[0], gradient).text(1000)
    assert said.startswith("FAIL  the numbers agree (3 compared), but grads writes to its input x")


def test_unsure_numbers_are_not_said_to_agree():
    def f(x):
        x *= np.sign(x)
        return np.sum(x)

    x = np.array([0.0, 1.0])
    assert "the numbers agree" not in check_gradient(f, x, np.array([0.5, 1.0])).text(1000)


# --- bfloat16 ----------------------------------------------------------------------------------


@pytest.fixture
def bfloat16():
    """Return the dtype of ml_dtypes, which comes with JAX."""
    return pytest.importorskip("ml_dtypes", reason="comes with the extra peers").bfloat16


MIXED = RNG.normal(size=(6, 12)).astype(np.float32)


def in_float32(x):
    return np.tanh(MIXED[:, : x.size] @ x.astype(np.float32))


def of_in_float32(x):
    return (1 - in_float32(x) ** 2)[:, None] * MIXED[:, : x.size]


def vjp_in_float32(upstream, x):
    return of_in_float32(x).T @ upstream.astype(np.float32)


def jvp_in_float32(tangent, x):
    return of_in_float32(x) @ tangent.astype(np.float32)


@pytest.mark.parametrize("rounded", [False, True], ids=["float32 out", "bfloat16 out"])
@pytest.mark.parametrize("size", [1, 5, 12])
def test_a_point_in_bfloat16_is_differentiated(bfloat16, size, rounded):
    x = (0.3 * RNG.normal(size=size)).astype(bfloat16)
    dtypes = set()

    def f(x):
        dtypes.add(x.dtype)
        y = in_float32(x)
        return y.astype(bfloat16) if rounded else y

    for check, claim in (
        (check_vjp, vjp_in_float32),
        (check_jvp, jvp_in_float32),
        (check_jacobian, of_in_float32),
    ):
        # If the values are rounded, too, there may be too few digits for any verdict.
        also = {"unsure"} if rounded else set()
        for factor, verdicts in (1, {"pass"}), (-1, {"fail"}), (2, {"fail"}):

            def scaled(*given, claim=claim, factor=factor):
                return (factor * claim(*given)).astype(bfloat16)

            assert check(f, x, scaled).verdict in verdicts | also
    assert dtypes == {np.dtype(bfloat16)}


@pytest.mark.parametrize("size", [3, 40, 300])
def test_wrong_gradients_in_bfloat16_do_not_pass(bfloat16, size):
    x = RNG.normal(size=size).astype(bfloat16)

    def f(x):
        return np.sum(np.sin(x.astype(np.float32)))

    def gradient(x):
        return np.cos(x.astype(np.float32))

    assert check_gradient(f, x, gradient).verdict != "fail"
    for factor in (-1.0, 0.5, 1.5):
        assert check_gradient(f, x, factor * gradient(x)).verdict != "pass"
    assert check_gradient(f, x, -gradient(x)).verdict == "fail"


def test_a_number_in_bfloat16_and_points_near_it(bfloat16):
    x = bfloat16(0.5)
    assert check_gradient(lambda x: np.float32(x) ** 2, x, 1.0).verdict == "pass"
    assert check_gradient(lambda x: np.float32(x) ** 2, x, -1.0).verdict == "fail"
    near = nearby(np.ones(4, bfloat16))
    assert near.dtype == bfloat16
    assert (near != 1).all()
    assert {point.dtype for _, point in hard_points(near)} == {np.dtype(bfloat16)}


@pytest.mark.parametrize("seed", [3, 4, 6])
def test_no_step_is_too_short_for_bfloat16_if_the_whole_is_right(bfloat16, seed):
    rng = np.random.default_rng(seed)
    x, w = (
        rng.normal(size=(2, 2)).astype(bfloat16),
        (0.5 * rng.normal(size=(2, 2))).astype(bfloat16),
    )

    def f(x, w):
        return np.tanh(x.astype(np.float32) @ w.astype(np.float32)).astype(bfloat16)

    def vjp(upstream, x, w):
        x, w, upstream = (one.astype(np.float32) for one in (x, w, np.asarray(upstream)))
        inner = upstream / np.cosh(x @ w) ** 2
        return (inner @ w.T).astype(bfloat16), (x.T @ inner).astype(bfloat16)

    report = check_vjp(f, (x, w), vjp)
    assert (report.verdict, report.reason) == ("pass", "ok")
    doubled = check_vjp(f, (x, w), lambda *given: tuple(2 * one for one in vjp(*given)))
    assert doubled.verdict != "pass"


def test_a_gradient_in_bfloat16_holds_two_digits(bfloat16):
    x = np.array([0.5, 1.0, 2.0])
    report = check_gradient(lambda x: np.sum(x**2), x, lambda x: (2 * x).astype(bfloat16))
    assert report.notes == ("the derivative for x is bfloat16, which holds 2 digits, not float64",)


# --- claims that change from call to call -----------------------------------------------------


def atomics(size):
    """Return a vjp of sin whose last digits depend on the order of its additions."""
    rng = np.random.default_rng(0)
    return lambda upstream, x: upstream * np.cos(x) * (1 + size * rng.uniform(-1, 1, x.shape))


@pytest.mark.parametrize(
    ("size", "given", "verdict"),
    [
        (0.0, {}, "pass"),
        (1e-9, {}, "pass"),
        (1e-9, {"nondet_tol": 1e-6}, "pass"),
        (1e-9, {"nondet_tol": 1e-12}, "fail"),
        (0.0, {"nondet_tol": 0.0}, "pass"),
        (1e-9, {"nondet_tol": 0.0}, "fail"),
        (1e-3, {}, "fail"),
        (1e-3, {"nondet_tol": 1e-2, "rtol": 1e-2}, "pass"),
        (1e-3, {"nondet_tol": 1e-6, "rtol": 1e-2}, "fail"),
    ],
)
def test_a_claim_may_change_as_much_as_the_caller_allows(size, given, verdict):
    x = np.linspace(0.1, 0.9, 6)
    for report in (
        check_vjp(np.sin, x, atomics(size), **given),
        check_gradient(lambda x: np.sum(np.sin(x)), x, partial(atomics(size), 1.0), **given),
    ):
        assert report.verdict == verdict
        noted = any("two calls of" in note for note in report.notes)
        assert noted == (size > 0 and verdict == "pass")
        assert (report.reason == "nondeterministic") == (verdict == "fail")


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-9, 1e-12])
def test_two_numbers_that_differ_are_written_so_that_they_do(size):
    report = check_vjp(np.sin, np.linspace(0.1, 0.9, 6), atomics(size), nondet_tol=0.0)
    said = re.findall(r"was (\S+) at the first call and (\S+) at the second", str(report.faults))
    assert said
    assert all(was != now for was, now in said)


def test_a_tolerance_for_changes_must_be_one():
    with pytest.raises(ValueError, match="nondet_tol must"):
        check_vjp(np.sin, np.ones(2), atomics(0.0), nondet_tol=-1.0)
