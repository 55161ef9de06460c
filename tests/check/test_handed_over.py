"""The forms in which people hand over functions, data and derivatives: taken as they come."""

import re
from functools import partial

import numpy as np
import pytest
from edge_cases import never
from sparse_stand_in import Sparse

from gradcheck_ref import (
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
DATA, NAMED = (W, X, Y), {"W": W, "X": X, "Y": Y}


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


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("check", "assert_", "f", "claim"), CLAIMS.values(), ids=CLAIMS)
@pytest.mark.parametrize(
    ("inputs", "constant"), [(DATA, ("X", "Y")), (DATA, (1, 2)), (NAMED, ("X", "Y"))]
)
def test_data_of_floats_are_left_out_by_name_or_position(
    check, assert_, f, claim, inputs, constant
):
    report = assert_(f, inputs, claim, constant=constant)
    assert (report.verdict, report.compared) == ("pass", 6 * np.size(f(W, X, Y)))
    assert {pair.input.name for pair in report.pairs} == {"W"}
    wrong = check(f, inputs, lambda *a, **k: 2 * claim(*a, **k), constant=constant)
    assert wrong.reason == "wrong"


@pytest.mark.parametrize(
    ("inputs", "gives"),
    [
        (DATA, lambda W, X, Y: (of_squares(W, X, Y), None, None)),
        (DATA, lambda W, X, Y: (of_squares(W, X, Y), np.full_like(X, 7.0), np.zeros(1))),
        (NAMED, lambda W, X, Y: {"W": of_squares(W, X, Y)}),
    ],
    ids=["None", "others, which nobody looks at", "a mapping"],
)
def test_no_gradient_is_needed_for_data_that_are_left_out(inputs, gives):
    assert check_gradient(squares, inputs, gives, constant=("X", "Y")).verdict == "pass"
    assert check_gradient(squares, inputs, gives).verdict == "fail"


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


@pytest.mark.parametrize(
    ("constant", "error"), [("Z", ValueError), (("X", 7), ValueError), (0.5, TypeError)]
)
def test_a_wrong_name_is_refused_before_f_is_called(constant, error):
    for check, assert_, _, claim in CLAIMS.values():
        for one in check, assert_:
            with pytest.raises(error, match=r"constant .*the inputs are W, X, Y"):
                one(lambda W, X, Y: never(), DATA, claim, constant=constant)


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


def value_of(W):
    return squares(W, X, Y)


def right(W):
    return squares(W, X, Y), of_squares(W, X, Y)


def wrong(W):
    return squares(W, X, Y), 2 * of_squares(W, X, Y)


ASKED = {
    "f alone": (lambda both: (both,)),
    "a list": (lambda both: (lambda W: list(both(W)),)),
    "grads that returns the value, too": (lambda both: (value_of, both)),
    "the pair itself": (lambda both: (value_of, both(W))),
    "both": (lambda both: (right, both)),
    "f, and the gradient": (lambda both: (right, both(W)[1])),
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_a_gradient_that_comes_with_a_value_is_taken(asked):
    for both, verdict in (right, ("pass", "ok", 6)), (wrong, ("fail", "wrong", 6)):
        f, *grads = asked(both)
        report = check_gradient(f, W, *grads)
        assert (report.verdict, report.reason, report.compared) == verdict


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
    for asked in (lambda W: (value_of(W), W.T),), (value_of, (value_of(W), W.T)):
        report = check_gradient(asked[0], W, *asked[1:])
        assert (report.verdict, report.reason) == ("fail", "shape")
        assert "gives shape (2, 3) for W, which has shape (3, 2)" in report.faults[0].sentence


def test_a_gradient_beside_that_of_f_is_compared_and_the_report_says_so():
    report = check_gradient(wrong, W, lambda W: right(W)[1])
    assert report.verdict == "pass"
    assert report.notes[0].startswith("f returns (value, gradient), and you also give grads: the")


def test_another_value_than_that_of_f_is_noted():
    report = check_gradient(value_of, W, lambda W: (value_of(W) + 1, wrong(W)[1]))
    assert report.verdict == "fail"
    assert "are both of the same function?" in report.notes[0]
    assert f"that of f is {value_of(W):.6g}" in report.notes[0]


def test_two_numbers_are_two_gradients_unless_the_first_is_the_value():
    f, at = lambda x, y: x**2 * y, (1.5, 2.0)
    assert check_gradient(f, at, lambda x, y: (2 * x * y, x**2)).verdict == "pass"
    assert check_gradient(f, at, lambda x, y: (2 * x * y, 7), constant="y").verdict == "pass"
    with pytest.raises(ValueError, match=r"grads gives two numbers, .* or the gradients of x and"):
        check_gradient(f, at, lambda x, y: (f(x, y), 2 * x * y), constant="y")


MISSING = "grads is missing: give the gradient, or a function that"


@pytest.mark.parametrize(
    ("f", "grads", "said"),
    [
        (value_of, (), MISSING),
        (lambda W: X @ W, (), MISSING),
        (lambda W: (value_of(W), W, W), (), MISSING),
        (lambda W: (W, W), (), MISSING),
        (lambda W: (value_of(W), X @ W), (W,), "one real number for check_gradient, or (value, gr"),
        (lambda V: right(V) if V[0, 0] == W[0, 0] else value_of(V), (),
         "instead of a pair (value, gradient) as at x"),
    ],
    ids=["a number", "an array", "three", "two arrays", "a number and an array", "not always"],
)  # fmt: skip
def test_a_function_that_returns_no_pair_is_refused_with_a_sentence(f, grads, said):
    with pytest.raises((TypeError, ValueError), match=re.escape(said)):
        check_gradient(f, W, *grads)


def test_a_pair_is_two_outputs_for_the_products():
    vjp = lambda upstream, x: upstream[0] * 2 * x + upstream[1] * 2  # noqa: E731
    report = check_vjp(lambda x: (np.sum(x**2), 2 * x), np.array([0.5, 2.0]), vjp)
    assert (report.verdict, report.compared) == ("pass", 6)


def test_many_points_at_once_and_workers_may_return_pairs():
    f = lambda x: (np.sum(x**3), 3 * x**2)  # noqa: E731
    f.many = lambda points: [f(x) for x in points]
    assert check_gradient(f, X[0]).verdict == "pass"
    assert check_gradient(right, W, workers=map).verdict == "pass"


def test_a_buffer_that_f_adds_to_is_noticed():
    total = np.zeros(3)

    def f(x):
        total[:] += 2 * x
        return np.sum(x**2), total

    assert check_gradient(f, X[0]).verdict == "fail"


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
    sparse, E = Sparse if kind == "stand-in" else scipys(kind), RNG.normal(size=(4, 2))
    for factor, verdict in (1.0, "pass"), (0.5, "fail"):
        given = sparse(factor * of_embedded(E))
        named = check_gradient(lambda E: embedded(E=E), {"E": E}, {"E": given})
        assert (named.verdict, named.compared) == (verdict, 8)
        for claim in given, lambda E, given=given: given, (embedded(E), given):
            assert check_gradient(embedded, E, claim).verdict == verdict
        assert check_gradient(embedded, (E,), (given,)).verdict == verdict
    assert check_vjp(sparse, E, lambda upstream, E: sparse(upstream)).verdict == "pass"
    report = check_gradient(embedded, E, lambda E: sparse(of_embedded(E).T))
    assert (report.reason, "shape (2, 4)" in report.faults[0].sentence) == ("shape", True)


def test_products_and_f_may_be_sparse():
    E, f = RNG.normal(size=(4, 2)), lambda E: Sparse(np.sin(E))
    product, twice = (lambda given, E, c=c: Sparse(c * given * np.cos(E)) for c in (1, 2))
    assert check_vjp(f, E, product, jvp=product).verdict == "pass"
    assert check_vjp(lambda E: [f(E)], E, lambda up, E: product(up[0], E)).verdict == "pass"
    for check in check_vjp, check_jvp:
        assert check(f, E, product).verdict == "pass"
        assert check(f, E, twice).verdict == "fail"


# --- one product of two ------------------------------------------------------------------------


def half_right(**factors):
    """Return a sine with both products, one of which is wrong."""
    f, asked = lambda x: np.sin(x), []
    for name, factor in factors.items():

        def product(given, x, name=name, factor=factor):
            asked.append(name)
            return factor * given * np.cos(x)

        setattr(f, name, product)
    return f, asked


@pytest.mark.parametrize(
    ("check", "assert_", "name", "other"),
    [(check_vjp, assert_vjp, "vjp", "jvp"), (check_jvp, assert_jvp, "jvp", "vjp")],
    ids=["vjp", "jvp"],
)
def test_false_leaves_the_other_product_out_and_not_the_one_under_test(check, assert_, name, other):
    f, asked = half_right(**{name: 1, other: 2})
    assert check(f, X[0]).verdict == "fail"
    asked.clear()
    assert check(f, X[0], **{other: False}).verdict == "pass"
    assert assert_(f, X[0], **{other: False}).verdict == "pass"
    assert other not in asked
    f, _ = half_right(**{name: 2, other: 1})
    assert check(f, X[0], **{other: False}).verdict == "fail"
    for given in ({name: False}, {name: False, other: np.sin}):
        with pytest.raises(TypeError, match=f"{name}=False leaves out .* use check_{other}"):
            check(f, X[0], **given)


@pytest.mark.parametrize(
    ("check", "other", "ours", "missing"),
    [(check_vjp, check_jvp, "vjp", "jvp"), (check_jvp, check_vjp, "jvp", "vjp")],
)
def test_an_unimplemented_product_is_an_error_only_if_requested(check, other, ours, missing):
    def not_there(given, x):
        raise NotImplementedError(f"no {missing}")

    f, _ = half_right(**{ours: 1})
    setattr(f, missing, not_there)
    assert check(f, X[0]).verdict == "pass"
    with pytest.raises(NotImplementedError, match=f"no {missing}"):
        check(f, X[0], **{missing: not_there})
    with pytest.raises(NotImplementedError, match=f"no {missing}"):
        other(f, X[0])


# --- a function that works in its argument -----------------------------------------------------


def in_place(x):
    x *= x
    return np.sum(x)


def doubled(x):
    x *= 2
    return x


@pytest.mark.parametrize(
    ("f", "grads", "who", "agree"),
    [(in_place, lambda x: 2 * x, "f", True), (in_place, lambda x: 3 * x, "f", False),
     (lambda x: np.sum(x**2), doubled, "grads", True),
     (lambda x: np.sum(np.abs(doubled(x))), lambda x: 2 - (x == 0), "f", False)],
    ids=["right", "wrong", "grads", "unsure"],
)  # fmt: skip
def test_the_first_line_says_that_the_numbers_agree_if_they_do(f, grads, who, agree):
    report = check_gradient(f, np.linspace(0, 2, 50), grads)
    assert (report.verdict, report.reason) == ("fail", "mutated")
    first = "the numbers agree (50 compared), but " * agree
    assert report.text(1000).startswith(f"FAIL  {first}{who} writes to its input x: code that")
    assert ("the numbers agree" in report.text(1000)) == agree


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


PRODUCTS = (
    (check_vjp, lambda upstream, x: of_in_float32(x).T @ upstream.astype(np.float32)),
    (check_jvp, lambda tangent, x: of_in_float32(x) @ tangent.astype(np.float32)),
    (check_jacobian, of_in_float32),
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("rounded", [False, True], ids=["float32 out", "bfloat16 out"])
@pytest.mark.parametrize("size", [1, 5, 12])
def test_a_point_in_bfloat16_is_differentiated(bfloat16, size, rounded):
    x, dtypes = (0.3 * RNG.normal(size=size)).astype(bfloat16), set()

    def f(x):
        dtypes.add(x.dtype)
        y = in_float32(x)
        return y.astype(bfloat16) if rounded else y

    for check, claim in PRODUCTS:
        # If the values are rounded, too, there may be too few digits for any verdict.
        also = {"unsure"} if rounded else set()
        for factor, verdict in (1, "pass"), (-1, "fail"), (2, "fail"):

            def scaled(*given, claim=claim, factor=factor):
                return (factor * claim(*given)).astype(bfloat16)

            assert check(f, x, scaled).verdict in {verdict} | also
    assert dtypes == {np.dtype(bfloat16)}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("size", [3, 40, 300])
def test_wrong_gradients_in_bfloat16_do_not_pass(bfloat16, size):
    x = RNG.normal(size=size).astype(bfloat16)
    f = lambda x: np.sum(np.sin(x.astype(np.float32)))  # noqa: E731
    right = np.cos(x.astype(np.float32))
    assert check_gradient(f, x, right).verdict != "fail"
    assert check_gradient(f, x, -right).verdict == "fail"
    for factor in (0.5, 1.5):
        assert check_gradient(f, x, factor * right).verdict != "pass"


def test_a_number_in_bfloat16_and_points_near_it(bfloat16):
    x = bfloat16(0.5)
    assert check_gradient(lambda x: np.float32(x) ** 2, x, 1.0).verdict == "pass"
    assert check_gradient(lambda x: np.float32(x) ** 2, x, -1.0).verdict == "fail"
    near = nearby(np.ones(4, bfloat16))
    assert near.dtype == bfloat16
    assert (near != 1).all()
    assert {point.dtype for _, point in hard_points(near)} == {np.dtype(bfloat16)}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", [3, 4, 6])
def test_no_step_is_too_short_for_bfloat16_if_the_whole_is_right(bfloat16, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2, 2)).astype(bfloat16)
    w = (0.5 * rng.normal(size=(2, 2))).astype(bfloat16)

    def f(x, w):
        return np.tanh(x.astype(np.float32) @ w.astype(np.float32)).astype(bfloat16)

    def vjp(upstream, x, w):
        x, w, upstream = (one.astype(np.float32) for one in (x, w, np.asarray(upstream)))
        inner = upstream / np.cosh(x @ w) ** 2
        return (inner @ w.T).astype(bfloat16), (x.T @ inner).astype(bfloat16)

    assert check_vjp(f, (x, w), vjp).verdict == "pass"
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
