"""A whole Jacobian as the claim: dense, sparse, in blocks, or a function."""

from typing import NamedTuple

import numpy as np
import pytest
from edge_cases import never
from sparse_stand_in import Operator, Sparse

from gradcheck_ref import check_jacobian

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 2))
X, W = RNG.normal(size=3), RNG.normal(size=2)


def layer(x):
    return A @ np.sin(x)


def of_layer(x):
    return A * np.cos(x)


def two_inputs(x, w):
    return A @ np.sin(x) + B @ w**2


def of_two_inputs(x, w):
    return A * np.cos(x), 2 * B * w


# --- one input, one output ---------------------------------------------------------------------

FORMS = {
    "array": np.asarray,
    "list": lambda J: np.asarray(J).tolist(),
    "tuple of rows": lambda J: tuple(map(tuple, np.asarray(J).tolist())),
    "sparse": Sparse,
    "operator": Operator,
    "alone in a tuple": lambda J: (J,),
    "sparse in a list": lambda J: [Sparse(J)],
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("called", [False, True], ids=["itself", "function"])
def test_a_jacobian_is_taken_in_any_form_and_a_wrong_one_fails(form, called):
    wrong = of_layer(X)
    wrong[2, 1] *= 1.01
    for J, verdict in (of_layer(X), "pass"), (wrong, "fail"):
        given = (lambda x, J=J: form(J)) if called else form(J)
        report = check_jacobian(layer, X, given)
        assert (report.verdict, report.compared) == (verdict, 12)
    assert report.worst.name == "d output[2] / d x[1]"


@pytest.mark.parametrize(
    ("f", "x", "J", "shapes"),
    [
        (lambda x: x @ A.T, np.ones((2, 3)), np.einsum("ij,ab->iajb", np.eye(2), A),
         [(2, 4, 2, 3), (8, 6)]),
        (lambda x: np.sum(x**2), X, 2 * X, [(3,), (1, 3)]),
        (lambda x: np.array([x, x**2]), np.array(0.5), np.array([1.0, 1.0]), [(2,), (2, 1)]),
        (lambda x: x**2, np.array(0.5), np.array(1.0), [(), (1, 1)]),
        (lambda x: x**2, 0.5, np.array(1.0), [(), (1, 1)]),
    ],
    ids=["matrices", "number of a vector", "vector of a number", "number", "float"],
)  # fmt: skip
def test_the_shape_is_that_of_output_and_input_or_of_a_matrix(f, x, J, shapes):
    for shape in shapes:
        assert check_jacobian(f, x, J.reshape(shape)).verdict == "pass"
        assert check_jacobian(f, x, 1.01 * J.reshape(shape)).verdict == "fail"
    assert check_jacobian(f, x, J.reshape(1, 1, 1, *shapes[0])).reason == "shape"


SQUARE = RNG.normal(size=(3, 3))
POINTS = {"real": X, "complex": X + 0.5j}
ROWS = np.array([[1.0], [2.0], [1.0]])


@pytest.mark.parametrize(
    ("point", "spoil", "kind", "advice"),
    [
        ("real", np.transpose, "transposed", "row i has the derivatives of output i: the Jacobian"),
        ("real", lambda J: J * ROWS, "some-outputs", "Look at its rows"),
        ("complex", np.conj, "conjugate", "The derivative of a complex output is not conjugated"),
        ("real", lambda J: 0 * J + J.sum(axis=0), "unknown", ""),
        ("real", lambda J: J + ROWS, "unknown", ""),
    ],
    ids=["transposed", "one output", "conjugate", "a sum of outputs", "a number for each output"],
)
def test_a_diagnosis_speaks_of_the_jacobian_and_of_no_product(point, spoil, kind, advice):
    x = POINTS[point]
    J = (SQUARE + 1j * SQUARE.T if point == "complex" else SQUARE) * np.cos(x)
    report = check_jacobian(lambda x: J / np.cos(POINTS[point]) @ np.sin(x), x, spoil(J))
    assert report.verdict == "fail"
    (found,) = [(one.kind, one.advice) for one in report.diagnoses] or [("unknown", "")]
    assert found[0] == kind
    assert advice in found[1]
    assert not [word for word in ("upstream", "vjp", "jvp", "tangent") if word in str(report)]


def test_it_must_be_given_before_f_is_called():
    with pytest.raises(TypeError, match="jacobian must be a matrix, blocks, or a function"):
        check_jacobian(never, X, None)
    with pytest.raises(TypeError, match="f must be a function"):
        check_jacobian(3, X, np.eye(3))


# --- several inputs and outputs ----------------------------------------------------------------

J1, J2 = of_two_inputs(X, W)
OF_TWO = {
    "tuple": (J1, J2),
    "list": [J1, J2.tolist()],
    "named": {"w": J2, "x": J1},
    "sparse and dense": (Sparse(J1), J2),
    "side by side": np.hstack([J1, J2]),
    "sparse, side by side": Sparse(np.hstack([J1, J2])),
    "operator, side by side": Operator(np.hstack([J1, J2])),
    "function": of_two_inputs,
}


@pytest.mark.parametrize("J", OF_TWO.values(), ids=OF_TWO)
def test_there_is_a_block_for_each_input(J):
    point = {"x": X, "w": W} if isinstance(J, dict) else (X, W)
    assert check_jacobian(two_inputs, point, J).verdict == "pass"
    assert check_jacobian(lambda x, w: two_inputs(x, 1.01 * w), point, J).verdict == "fail"


def test_a_constant_input_needs_no_block():
    for J in J2, (None, J2), (J1, J2):
        assert check_jacobian(two_inputs, (X, W), J, constant="x").verdict == "pass"
    assert check_jacobian(two_inputs, (X, W), 2 * J2, constant=0).verdict == "fail"


class Parts(NamedTuple):
    """Two outputs."""

    u: np.ndarray
    v: np.ndarray


def two_outputs(x, w):
    return Parts(A @ x, np.sum(w**2) * x)


OF_PARTS = ((A, np.zeros((4, 2))), (np.sum(W**2) * np.eye(3), 2 * np.outer(X, W)))
OF_BOTH = {
    "tuples": OF_PARTS,
    "named": Parts(*OF_PARTS),
    "None for zeros": ((A, None), OF_PARTS[1]),
    "rows": [np.hstack(row) for row in OF_PARTS],
    "one matrix": np.block([[*row] for row in OF_PARTS]),
    "one sparse matrix": Sparse(np.block([[*row] for row in OF_PARTS])),
}


@pytest.mark.parametrize("J", OF_BOTH.values(), ids=OF_BOTH)
def test_there_is_a_block_for_each_output_and_input(J):
    assert check_jacobian(two_outputs, (X, W), J).verdict == "pass"
    report = check_jacobian(lambda x, w: two_outputs(x, 1.01 * w), (X, W), J)
    assert {pair.output.name for pair in report.pairs if pair.verdict.any()} == {"v"}


def test_outputs_of_integers_need_no_rows():
    def f(x):
        return A @ x, np.arange(2)

    assert check_jacobian(f, X, (A, None)).verdict == "pass"
    assert check_jacobian(f, X, A).verdict == "pass"
    assert check_jacobian(f, X, -A).verdict == "fail"


def two_named(params):
    return {"y": A @ params["x"], "z": params["w"] * 3}


def test_a_tree_of_outputs_has_a_tree_of_rows():
    rows = {"y": [{"x": A, "w": None}], "z": {"x": None, "w": 3 * np.eye(2)}}
    assert check_jacobian(two_named, [{"x": X, "w": W}], rows).verdict == "pass"


# --- complex numbers ---------------------------------------------------------------------------

Z = RNG.normal(size=3) + 1j * RNG.normal(size=3)
C = RNG.normal(size=(4, 3)) + 1j * RNG.normal(size=(4, 3))


@pytest.mark.parametrize(
    ("f", "x", "J"),
    [
        (lambda z: C @ z**2, Z, 2 * C * Z),
        (lambda x: C @ x**2, X, 2 * C * X),
        (lambda z: A @ np.abs(z) ** 2, Z, 2 * A * Z),
    ],
    ids=["complex of complex", "complex of real", "real of complex"],
)
def test_complex_derivatives_and_gradients(f, x, J):
    for form in np.asarray, Sparse:
        assert check_jacobian(f, x, form(J)).verdict == "pass"
        assert check_jacobian(f, x, form(J.conj())).verdict == "fail"


# --- many --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("form", [np.asarray, Sparse], ids=["dense", "sparse"])
def test_many_outputs_are_compared_in_combinations_and_a_wrong_entry_is_found(form):
    x = RNG.normal(size=1200)

    def f(x):
        return np.cumsum(np.sin(x))[::-1]

    J = (np.tri(1200) * np.cos(x))[::-1].copy()
    report = check_jacobian(f, x, lambda x: form(J))
    assert (report.verdict, report.certificate.upstreams > 0) == ("pass", True)
    J[700, 17] += 3.0
    report = check_jacobian(f, x, lambda x: form(J))
    assert report.verdict == "fail"
    assert report.worst.name == "d output[700] / d x[17]"
    assert "upstream" not in str(report)


@pytest.mark.parametrize("form", [np.asarray, Sparse], ids=["dense", "sparse"])
def test_an_infinite_entry_spoils_no_other_one(form):
    J = of_layer(X)
    J[1, 1] = np.inf
    report = check_jacobian(layer, X, lambda x: form(J))
    assert (report.verdict, report.reason) == ("fail", "nonfinite")
    (pair,) = report.pairs
    assert np.argwhere(pair.verdict).tolist() == [[1, 1]]
    assert not report.faults


def test_blocks_of_integers_and_bools_are_taken():
    for dtype in int, bool, np.int8, np.float16:
        for n in 3, 1100:
            assert check_jacobian(lambda x: x[::-1], np.ones(n), np.eye(n, dtype=dtype)[::-1])


def test_the_rounding_of_a_function_is_no_mistake():
    def f(x):
        return (A @ (1e8 + x)) - A @ np.full(3, 1e8)

    for J, verdict in (A, "pass"), (1.5 * A, "fail"):
        report = check_jacobian(f, X, lambda x, J=J: J * (1 + 1e-9 * np.sign(x - X)))
        assert report.verdict == verdict


# --- what does not fit -------------------------------------------------------------------------

RIGHT = of_layer(X)


def writing(x):
    J = of_layer(x)
    x[:] = 0
    return J


def adding():
    """Return a Jacobian that adds to its array."""
    total = np.zeros((4, 3))

    def jacobian(x):
        total[:] += of_layer(x)
        return total

    return jacobian


def fits_once():
    """Return a Jacobian that has another shape from its second call on."""
    shapes = iter([(4, 3), (3, 4), (3, 4)])
    return lambda x: of_layer(x).reshape(next(shapes))


TRANSPOSED = (
    "jacobian gives shape (3, 4) for d output / d x, which has shape (4, 3): "
    "outputs first, then inputs. It is transposed"
)
FAULTS = {  # the function, the point, the claim, the reason, what is said
    "transposed": (layer, X, RIGHT.T, "shape", TRANSPOSED),
    "transposed and sparse": (layer, X, Sparse(RIGHT.T), "shape", TRANSPOSED),
    "square": (layer, X, np.ones((4, 4)), "shape", "shape (4, 3): outputs first, then inputs"),
    "one matrix, transposed": (two_outputs, (X, W), OF_BOTH["one matrix"].T, "shape",
        "(7, 5): outputs first, then inputs. It is transposed"),
    "one matrix of two inputs": (two_inputs, (X, W), np.ones((4, 3)), "shape",
        "shape (4, 3) for x, w, and the shape of all these is (4, 5)"),
    "complex": (layer, X, 1j * RIGHT, "dtype", "complex numbers for d output / d x, which is real"),
    "text": (layer, X, np.full((4, 3), "a"), "dtype", "which holds no numbers"),
    "a mapping": (layer, X, {"x": RIGHT}, "structure", "no gradient for x"),
    "nothing": (layer, X, (), "structure", "no gradient for x"),
    "no block": (two_inputs, {"x": X, "w": W}, {"x": J1}, "structure", "no gradient for w"),
    "no rows": (two_named, [{"x": X, "w": W}], {"y": [{"x": A, "w": None}]}, "structure",
        "jacobian gives no rows for output['z']"),
    "writes": (layer, X, writing, "mutated", "jacobian writes to its input x"),
    "adds up": (layer, X, adding(), "nondeterministic",
        "it is right at the first call, and wrong at a later one"),
    "fits once": (layer, X, fits_once(), "nondeterministic", f"at the second call {TRANSPOSED}"),
}  # fmt: skip


@pytest.mark.parametrize(("f", "x", "claim", "reason", "said"), FAULTS.values(), ids=FAULTS)
def test_what_is_no_jacobian_fails_with_a_sentence(f, x, claim, reason, said):
    report = check_jacobian(f, x, claim)
    assert (report.verdict, report.reason) == ("fail", reason)
    assert said in " ".join(report.text(1000).split())
    assert ("transposed" in report.faults[0].sentence) == ("transposed" in said)


# --- SciPy -------------------------------------------------------------------------------------


def heat(sparse, n):
    """Return the residual of -u'' + u^3 = 1 on n points, its Jacobian, and a wrong one."""
    D = sparse.diags([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1], format="csr")

    def with_factor(c):
        return lambda u: D * n + sparse.diags(c * u**2)

    return lambda u: n * (D @ u) + u**3 - 1, with_factor(3), with_factor(2)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_every_sparse_form_of_scipy_is_taken(form):
    sparse = pytest.importorskip("scipy.sparse", reason="comes with the extra peers")
    residual, right, wrong = heat(sparse, 60)
    u = np.sin(np.linspace(0.1, 3, 60))
    for kind in sparse.csr_matrix, sparse.csr_array:
        assert check_jacobian(residual, u, lambda u, kind=kind: kind(right(u)).asformat(form))
        assert check_jacobian(residual, u, kind(wrong(u)).asformat(form)).verdict == "fail"


def test_a_large_sparse_jacobian_is_never_written_out():
    sparse = pytest.importorskip("scipy.sparse", reason="comes with the extra peers")
    residual, right, _ = heat(sparse, 20_000)
    u = np.sin(np.linspace(0.1, 3, 20_000))
    assert check_jacobian(residual, u, right).verdict == "pass"  # 3.2 GB if it were
    assert check_jacobian(residual, u, lambda u: 1.01 * right(u)).verdict == "fail"


def test_the_functions_of_scipy_fit():
    optimize = pytest.importorskip("scipy.optimize", reason="comes with the extra peers")
    linalg = pytest.importorskip("scipy.sparse.linalg", reason="comes with the extra peers")
    x = np.array([1.3, 0.7, 0.8, 1.9, 1.2])
    assert check_jacobian(optimize.rosen_der, x, optimize.rosen_hess)
    operator = linalg.aslinearoperator(optimize.rosen_hess(x))
    assert check_jacobian(optimize.rosen_der, x, operator)
    assert check_jacobian(optimize.rosen_der, x, 2 * operator).verdict == "fail"
