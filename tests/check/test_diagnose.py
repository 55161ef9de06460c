"""Every kind of mistake is named, in words that help, and no other mistake gets its name.

A diagnosis sees a claim and slopes, so any f with these slopes will do: `SCALAR` has linear ones.
The bugs of the zoo and of the museum get their diagnoses in the corpus.
"""

import re

import corpus
import numpy as np
import pytest
from corpus.row import claims_of, judged
from energies import MATRIX, VECTOR, energy, energy_gradient

from gradcheck_ref import check_gradient, check_jvp, check_vjp
from gradcheck_ref.check.mistakes.table import KINDS, MISTAKES
from gradcheck_ref.zoo import all_cases


def kinds(report):
    return [found.kind for found in report.diagnoses]


def numbers(*shape):
    """Return a gradient without zeros, symmetry or order."""
    return np.random.default_rng(4).uniform(0.5, 3, shape) * np.resize([1, -1, -1], shape)


def six_digits(gradient):
    """Write numbers as text, and read them again."""
    return np.array([float(f"{v:g}") for v in gradient.ravel()]).reshape(gradient.shape)


def float16(gradient):
    return gradient.astype(np.float16).astype(float)


def changed(gradient, index, value):
    gradient = gradient.copy()
    gradient[index] = value
    return gradient


def rows(gradient, *kept):
    """Keep some rows, and set all others to 0."""
    return changed(0 * gradient, [*kept], gradient[[*kept]])


def lower(gradient):
    """Gather both halves of a gradient in the lower triangle."""
    return np.tril(gradient + gradient.T) - np.diag(np.diag(gradient))


# Points, and gradients of the same shapes, which have a G before the letter of the point.
V, M, S = VECTOR, MATRIX, MATRIX[:3]
C = np.linspace(-1.0, 1.3, 24).reshape(2, 3, 4)
Z = np.array([0.7 + 0.2j, -0.3 + 1.1j, 0.5 - 0.8j])
GV, GM, GS, GC = (numbers(*x.shape) for x in (V, M, S, C))
GZ = numbers(3) + 1j * numbers(3)[::-1]
W = np.random.default_rng(0).normal(size=(50, 80))
B = W.reshape(-1)[:3000].reshape(10, 10, 30)
GW, GB = numbers(50, 80), numbers(10, 10, 30)
WAVES = W[:8] + 1j * W[8:16]
SMALL = np.array([0.103, 0.372, 0.654])

# id: the point, the right gradient, the wrong one, kind, what must be said
SCALAR = {
    # in all entries
    "minus": (V, GV, -GV, "sign", "the sign is wrong"),
    "zero": (V, GV, 0 * GV, "zero", "it is zero everywhere"),
    "times-i": (Z, GZ, 1j * GZ, "factor", "is i x"),
    "a-factor-in-part": (M, GM, GM * (1 + 4e-6 + 8e-7 * np.sin(9 * M)), "unknown", ""),
    "conjugate": (Z, GZ, GZ.conj(), "conjugate", "conjugate"),
    "inner-derivative": (M, GM, GM / M, "inner-factor", "divided by x"),
    "inner-derivative-twice": (M, GM, GM * M, "inner-factor", "times x"),
    "square": (M, GM, GM * M**2, "inner-factor", "times the square of x"),
    "exponential-of-a-parameter": (M, GM, GM / np.exp(M), "inner-factor", "divided by exp(x)"),
    "a-weight-for-each-row": (
        M, GM, GM * [[2], [1], [0.5], [-3]], "inner-factor",
        "each row of x is the numeric value times its own number, from -3 to 2"),
    "a-weight-for-each-row-and-one-more": (
        M, GM, changed(GM * [[2], [1], [0.5], [-3]], (0, 1), 1), "unknown", ""),
    "a-weight-for-each-column": (M, GM, GM * [2, 0.4, 3], "inner-factor", "each column of x is"),
    "penalty-forgotten": (V, GV, GV - V / 4, "regulariser", "minus 0.25 times x"),
    "penalty-doubled": (M, GM, GM + 2 * M, "regulariser", "plus 2 times x"),
    "a-constant-too-little": (M, GM, GM - 2, "constant-term", "the numeric value minus 2"),
    "from-a-constant": (M, GM, 3 - GM, "constant-term", "minus the numeric value, plus 3"),
    "a-constant-below-the-digits-of-x": (SMALL, 2 * SMALL + 1e-5, 2 * SMALL, "constant-term", ""),
    "the-label-of-each-row-left-out": (
        M, GM, GM + np.eye(4, 3) / 7, "some-entries", "each is the numeric value plus 0.1429"),
    "the-point": (V, GV, V, "local-derivative", "it is x itself everywhere, number for number"),
    "of-the-square": (V, GV, 2 * (GV @ V) * GV, "factor", "it is the gradient of f squared"),
    "of-the-logarithm": (V, GV, GV / (GV @ V), "factor", "it is the gradient of log f"),
    "half-precision": (M, GM, float16(GM), "noisy", "as if it were rounded to float16"),
    "six-digits": (M, GM, six_digits(GM), "noisy", "it is right, but has only 6 digits"),
    "another-function": (M, GM, np.tanh(M) + 1, "unknown", ""),
    "minus-one-number": (np.array(0.7), np.array(2.0), np.array(-2.0), "sign", ""),
    "another-number": (np.array(0.7), np.array(2.0), np.array(2.1), "unknown", ""),
    # in other places
    "transposed": (S, GS, GS.T, "transposed", "it is the transpose"),
    "transposed-oblong": (M, GM, GM.T, "transposed", "transpose"),
    "column-by-column": (
        C, GC, GC.reshape(-1, order="F").reshape(C.shape), "transposed", "stored column by column"),
    "axes": (C, GC, GC.transpose(2, 0, 1), "permuted", "axes are in the wrong order"),
    "rolled": (V, GV, np.roll(GV, 2), "permuted", "rolled by 2 along axis 0 of x"),
    "reversed": (M, GM, GM[::-1], "permuted", "reversed along axis 0 of x"),
    "shuffled": (V, GV, GV[[2, 0, 1, 4, 3]], "permuted", "wrong places"),
    "transposed-and-doubled": (S, GS, 2 * GS.T, "unknown", ""),
    "minus-or-another-place": (
        V[:2], np.array([1.0, -1.0]), np.array([-1.0, 1.0]),
        "sign", "the sign is wrong; or the right numbers are in the wrong places"),
    "one-triangle": (
        S, lower(GS), (lower(GS) + lower(GS).T) / 2, "symmetric-part", "lower triangle"),
    "not-symmetric": (
        S, GS + GS.T, lower(GS + GS.T), "symmetric-part", "its symmetric part is right"),
    "flattened": (M, GM, GM.reshape(-1), "reshaped", "are right, but in the shape (12,)"),
    "another-shape": (V, GV, np.ones((3, 5)), "unknown", ""),
    "an-axis-too-many-and-wrong": (V, GV, GV[:, None] ** 2, "unknown", ""),
    "complex-for-real": (S, GS, GS + 0j, "unknown", ""),
    # in some entries
    "an-entry": (V, GV, changed(GV, 4, 0.0), "single-entries", "only x[4] is zero, of 5 entries"),
    "three-entries": (
        C, GC, changed(GC, ([0, 0, 1], [1, 2, 1], [3, 0, 3]), 7.0),
        "single-entries", "only x[0, 1, 3], x[0, 2, 0] and x[1, 1, 3] are wrong"),
    "one-in-every-row": (S, GS, changed(GS, ([0, 2, 1], [0, 1, 2]), 5.0), "unknown", ""),
    "nan": (V, GV, changed(GV, 1, np.nan), "nonfinite", "the claim is NaN in 1 of 5 entries"),
    "row": (M, GM, changed(GM, 3, 0.0), "row-or-column", "only row 3 of x is zero, of 4"),
    "slice": (C, GC, changed(GC, np.s_[:, 2], 0), "row-or-column", "only x[:, 2, :] is zero, of 3"),
    "two-rows": (
        M, GM, changed(GM, [0, 2], 3 * GM[[2, 0]]),
        "row-or-column", "only row 0 of x and row 2 of x are wrong, of 4"),
    "mask": (M, GM, GM * (M > 0.2), "mask", "right on 7 of the 12 entries"),
    "a-triangle": (
        W[:4, :4], GW[:4, :4], np.triu(GW[:4, :4]), "mask", "only the upper triangle of x is"),
    "counted-once": (V, V * [1, 2, 3, 2, 1], V, "counted-once", "from 1 to 3"),
    # of many
    "zero-of-many": (W, GW, 0 * GW, "zero", "it is zero everywhere"),
    "axes-of-many": (B, GB, GB.swapaxes(0, 1), "permuted", "transposed by (1, 0, 2)"),
    "conjugate-of-many": (
        WAVES, WAVES, WAVES.conj(), "conjugate", "except for a complex conjugate. Repaired"),
    "times-i-of-many": (WAVES, WAVES, 1j * WAVES, "factor", "is i x the numeric value. Repaired"),
    "six-digits-beside-zeros": (
        M, GM * (M > 0), six_digits(GM * (M > 0)), "noisy", "it is right, but has only 6 digits"),
    "one-zero-among-short-numbers": (
        V[:4], np.array([2e-4, 1, 1, 2]), np.array([0.0, 1, 1, 2]), "single-entries", "x[0]"),
    "of-the-square-of-many": (
        W, GW, 2 * np.vdot(GW, W) * GW, "factor", "the gradient of f squared. Repaired"),
    "half-precision-of-many": (W, GW, float16(GW), "noisy", "as if it were rounded to float16"),
    "a-row-that-alone-moves-f": (
        W, changed(0 * GW, 3, GW[3]), changed(0 * GW, 3, 3 * GW[3]), "factor", "is 3 x"),
    "an-entry-of-many": (
        W, GW, changed(GW, (5, 0), 7.0), "single-entries", "only x[5, 0] is wrong, of 4000"),
    "a-row-of-many": (W, GW, changed(GW, 5, 3 * GW[5]), "row-or-column", "row 5 of x is wrong"),
    "the-last-of-equal-ids-wins": (
        W, rows(GW, 3, 7, 9), rows(GW, 3, 7, 9) - 0.4 * rows(GW, 3, 9),
        "row-or-column", "row 3 of x and row 9 of x are wrong, and all else is right"),
    "zeros-of-many": (W, GW, changed(GW, (5, [0, 7, 20, 40, 66]), 0), "mask", "5 of 4000 entries"),
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("x", "right", "wrong", "kind", "said"), SCALAR.values(), ids=SCALAR)
def test_a_wrong_gradient_is_named_and_the_right_one_is_not(x, right, wrong, kind, said):
    f = lambda x: np.vdot(right, x).real  # noqa: E731
    assert check_gradient(f, x, right).diagnoses == ()
    report = check_gradient(f, x, wrong)
    assert report.verdict == "fail"
    assert kinds(report) == ([] if kind == "unknown" else [kind])
    for found in report.diagnoses:
        assert said in found.sentence
        assert found.subject == "x"
        assert not re.search(r"\d{6}|nan|None|np\.float", found.sentence + found.advice)
        assert len(found.advice) > 20


# --- arrays, by their vjp ---------------------------------------------------------------------

A = np.array([[1.2, -0.7, 0.4], [0.3, 0.9, -1.1], [0.8, 0.5, 1.6]])
X = M[:, :2]
STEPS = np.array([-1.4, 0.9, -0.2, 0.3, -0.7, 1.6, -1.1, 0.5])
UNIT = np.array([0.6, -0.64, 0.48])
ANGLE = np.radians(40)
TURN = np.array([[np.cos(ANGLE), -np.sin(ANGLE)], [np.sin(ANGLE), np.cos(ANGLE)]])


def standardised(x):
    return (x - x.mean()) / x.std()


def standardised_vjp(u, x):
    y = standardised(x)
    return (u - u.mean() - y * np.mean(u * y)) / x.std()


# Functions of some rows: f, where, and the right vjp.
SINH = np.sinh, V, lambda u, x: u * np.cosh(x)
LINEAR = lambda x: A @ x, V[:3], lambda u, x: A.T @ u
SQUARED = lambda z: z**2, Z, lambda u, z: np.conj(2 * z) * u
BENT = (lambda x: np.where(x > 0, x**2, np.sin(x)), STEPS,
        lambda u, x: u * np.where(x > 0, 2 * x, np.cos(x)))  # fmt: skip
TWO = (lambda a, b: np.sin(a) + b**3, (V, V[::-1]),
       lambda u, a, b: (u * np.cos(a), u * 3 * b**2))  # fmt: skip

# id: (f, inputs, right vjp), wrong vjp, subject, kind, what must be said
ARRAY = {
    # of which input
    "one-of-the-inputs": (
        (lambda a, b: a * b + np.sin(b), (0.7, 1.2), lambda u, a, b: (u * b, u * (a + np.cos(b)))),
        lambda u, a, b: (u * b, u * a), "b", "single-entries", "only b is wrong, of 2 inputs"),
    "or-f-itself": (
        (lambda a, b: np.sum(a**2 * np.exp(b) + 2 * b), (V, V[::-1]),
         lambda u, a, b: (u * 2 * a * np.exp(b), u * (a**2 * np.exp(b) + 2))),
        lambda u, a, b: (u * 2 * a * np.exp(b), u * (a**2 * np.exp(0.8 * b) + 2)),
        "b", "local-derivative", "only b is wrong, of 2 inputs, at every entry, by factors from"),
    "another-input": (
        TWO, lambda u, a, b: (u * 3 * b**2,) * 2, "a", "swapped", "it is the gradient of b"),
    "in-the-place-of-another-input": (
        TWO, lambda u, a, b: (0 * a, u * np.cos(a)), "a", "swapped", "gradient is given for b"),
    "a-factor-that-is-another-input": (
        (lambda a, s: s * np.sin(a), (V, 2.5),
         lambda u, a, s: (u * s * np.cos(a), np.sum(u * np.sin(a)))),
        lambda u, a, s: (u * np.cos(a), np.sum(u * np.sin(a))),
        "a", "inner-factor", "the numeric value divided by s"),
    "a-scale-left-out-for-each-output": (
        (lambda x, g: (x - x.mean()) * g, (V, 1 + V**2),
         lambda u, x, g: (u * g - np.mean(u * g), u * (x - x.mean()))),
        lambda u, x, g: (u - np.mean(u), u * (x - x.mean())),
        "x", "inner-factor", "the numeric value divided by g"),
    # the shape
    "sum-forgotten-for-a-number": (
        (lambda X, b: np.sin(X) * b, (X, 0.8),
         lambda u, X, b: (u * np.cos(X) * b, (u * np.sin(X)).sum())),
        lambda u, X, b: (u * np.cos(X) * b, u * np.sin(X)),
        "b", "missing-sum", "it is right when summed over axes 0, 1"),
    "sum-over-rows-that-are-kept": (
        (np.sinh, X, SINH[2]), lambda u, x: (u * np.cosh(x)).sum(0, keepdims=True),
        "x", "extra-sum", "summed over axis 0"),
    # the upstream
    "upstream-forgotten": (
        SINH, lambda u, x: np.cosh(x),
        "x", "upstream-ignored", "does not depend on the upstream, or only on its sum"),
    "upstream-forgotten-for-many-outputs": (
        (np.sinh, np.linspace(-1, 1, 60), SINH[2]), lambda u, x: np.cosh(x),
        "x", "upstream-ignored", "it does not depend on the upstream"),
    "the-upstream-alone": (
        SINH, lambda u, x: u, "x", "local-derivative", "it is the upstream itself everywhere"),
    "the-upstream-alone-for-many-outputs": (
        (np.sinh, np.linspace(-1, 1, 600), SINH[2]), lambda u, x: u,
        "x", "local-derivative", "it is the upstream itself, number for number"),
    "another-function-that-is-near-at-one-entry": (
        (np.sinh, np.array([1e-3, 0.4, -0.9, 1.3]), SINH[2]), lambda u, x: u * (1 + x),
        "x", "local-derivative", "4 of 4 entries are wrong, by factors from 0.07 to 1.3"),
    "the-values-of-f": (
        SINH, lambda u, x: u * np.sinh(x), "x", "local-derivative", "it is what f returns itself"),
    "only-the-sum-of-the-upstream": (
        SINH, lambda u, x: np.cosh(x) * u.sum(),
        "x", "upstream-ignored", "does not depend on the upstream, or only on its sum"),
    "a-term-without-upstream": (
        SINH, lambda u, x: u * np.cosh(x) + np.sin(x),
        "x", "upstream-ignored", "one of its terms does not depend on the upstream"),
    "the-same-slope-for-all-outputs-doubled": (
        (lambda x: np.full(3, np.sum(x**2)), V, lambda u, x: 2 * x * u.sum()),
        lambda u, x: 4 * x * u.sum(), "x", "factor", "is 2 x"),
    # the Jacobian
    "jacobian-not-transposed": (LINEAR, lambda u, x: A @ u, "x", "transposed", "Jacobian"),
    "only-the-diagonal": (
        LINEAR, lambda u, x: u * np.diag(A), "x", "mask", "only the diagonal of the Jacobian"),
    "one-of-the-outputs": (
        (lambda x: (A @ x, np.cos(x)), V[:3], lambda u, x: A.T @ u[0] - u[1] * np.sin(x)),
        lambda u, x: A @ u[0] - u[1] * np.sin(x),
        "x", "some-outputs", "it is wrong for output[0], and right for the other outputs"),
    "an-output-left-out": (
        (lambda x: {"a": np.sin(x), "b": x**3}, V,
         lambda u, x: u["a"] * np.cos(x) + u["b"] * 3 * x**2),
        lambda u, x: u["a"] * np.cos(x), "x", "mask", "those of output['b']"),
    "spread-held-constant": (
        (standardised, STEPS, standardised_vjp), lambda u, x: (u - u.mean()) / x.std(),
        "x", "mean-and-spread", "a constant plus a multiple of x"),
    "a-length-that-is-divided-by": (
        (lambda x: A[:2] @ (x / np.linalg.norm(x)), UNIT,
         lambda u, x: (np.eye(3) - np.outer(x, x)) @ A[:2].T @ u),
        lambda u, x: A[:2].T @ u,
        "x", "not-projected", "for each output it is the numeric value plus a multiple of x"),
    "a-weight-for-each-output": (
        LINEAR, lambda u, x: A.T @ (u * [1, 2, 5]), "x", "inner-factor",
        "each output is the numeric value times its own number, from 1 to 5"),
    "in-the-frame-of-the-body": (
        (lambda x: TURN @ A[:2] @ x, V[:3], lambda u, x: (TURN @ A[:2]).T @ u),
        lambda u, x: A[:2].T @ u,
        "x", "another-frame", "right when the outputs are turned by 40 degrees"),
    # complex numbers
    "real-input-complex-output": (
        (lambda x: np.exp(1j * x), V, lambda u, x: (u * np.conj(1j * np.exp(1j * x))).real),
        lambda u, x: (u * 1j * np.exp(1j * x)).real, "x", "conjugate", "conjugate"),
    "a-product-of-conjugates": (
        SQUARED, lambda u, z: np.conj(2 * z * u), "z", "conjugate", "conjugate"),
    "modulus-for-the-number": (
        SQUARED, lambda u, z: u * np.abs(2 * z), "z", "phase", "the wrong phase"),
    # some entries
    "half-of-the-parameters": (
        SINH, lambda u, x: u * np.cosh(x) * [1, 1.3, 1, 0.4, 1],
        "x", "some-entries", "only x[1] and x[3] are wrong, of 5"),
    "some-signs": (
        (lambda x: np.sum(x**2), C.reshape(-1), lambda u, x: 2 * u * x),
        lambda u, x: 2 * u * np.where(np.arange(24) < 10, -x, x),
        "x", "some-entries", "each is minus the numeric value: x[0:10]"),
    "a-mask-that-is-missing": (
        (lambda x: np.maximum(x, 0) ** 2, STEPS, lambda u, x: 2 * u * x * (x > 0)),
        lambda u, x: 2 * u * x, "x", "not-zero", "entries where the slope is 0"),
    "another-function": (
        SINH, lambda u, x: u * np.arctan(x), "x", "local-derivative", "and none is misplaced"),
    "another-branch": (
        BENT, lambda u, x: u * np.where(x > 0, 3 * x, np.cos(x)),
        "x", "local-derivative", "none is misplaced: those where x is 0.3 or more"),
    "a-branch-of-zeros": (
        BENT, lambda u, x: u * np.where(x > 0, 2 * x, 0),
        "x", "mask", "and 0 on the rest: those where x is -0.2 or less"),
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("function", "wrong", "subject", "kind", "said"), ARRAY.values(), ids=ARRAY
)
def test_a_wrong_vjp_is_named_and_the_right_one_is_not(function, wrong, subject, kind, said):
    f, inputs, right = function
    assert check_vjp(f, inputs, right).diagnoses == ()
    found = check_vjp(f, inputs, wrong).diagnoses
    assert {one.kind for one in found} == {kind}
    assert subject in [one.subject for one in found]
    assert said in found[0].sentence


# id: f, x, wrong jvp, kind, words of the sentence or of the advice
JVP = {
    "transposed": (*LINEAR[:2], lambda t, x: A.T @ t, "transposed", "the jvp A @ tangent"),
    "ignored": (*SINH[:2], lambda t, x: np.cosh(x), "tangent-ignored", "it does not depend on"),
    "conjugate": (
        lambda z: z**3, Z, lambda t, z: t * np.conj(3 * z**2),
        "conjugate", "a jvp does not: derivative * tangent"),
}  # fmt: skip


@pytest.mark.parametrize(("f", "x", "wrong", "kind", "said"), JVP.values(), ids=JVP)
def test_a_wrong_jvp_is_named(f, x, wrong, kind, said):
    (found,) = check_jvp(f, x, wrong).diagnoses
    assert found.kind == kind
    assert said in found.sentence + found.advice


# --- ties, noise and chance -------------------------------------------------------------------

TIED = {
    "sign": ([0, -1, 0, 0], "sign"),
    "doubled": ([0, 2, 0, 0], "factor"),
    "to the loser": ([0, 0, 1, 0], "permuted"),
    "another factor": ([0, 1.37, 0, 0], "single-entries"),
}


@pytest.mark.parametrize("last", [0.9, 1.0], ids=["no tie", "a tie"])
@pytest.mark.parametrize(("claim", "kind"), TIED.values(), ids=TIED)
def test_a_repair_is_judged_by_the_sum_of_tied_entries(last, claim, kind):
    """Both slopes of the two largest are 0 and 1; only their sum is known."""
    x = np.array([0.2, 1.0, 0.3, last])
    assert kinds(check_gradient(np.max, x, np.array(claim, float))) == [kind]


def test_only_is_not_said_beside_an_entry_that_is_unsure():
    x = np.array([0.0, 0.7, -1.2, 0.4, 1.9, 0.3])
    wrong = lambda x: np.array([0.5, 7, -1, 1, 1, 1])  # noqa: E731
    (found,) = check_gradient(lambda x: np.sum(np.abs(x)), x, wrong).diagnoses
    assert found.sentence == "x[1] is wrong, of 6 entries"


def test_a_difference_that_changes_between_calls_is_noise():
    x, rng = np.linspace(-2.0, 2.3, 30), np.random.default_rng(2)
    once = 1 + rng.uniform(-1e-3, 1e-3, x.shape)
    same = check_gradient(energy, x, lambda x: energy_gradient(x) * once)
    assert (same.verdict, same.diagnoses) == ("fail", ())
    another = check_gradient(
        energy, x, lambda x: energy_gradient(x) * (1 + rng.uniform(-1e-3, 1e-3, x.shape))
    )
    (found,) = another.diagnoses
    assert found.kind == "noisy"
    assert "two calls give different values, which differ by up to" in found.sentence


def noisy_sine(rng):
    return lambda x: 0.05 * np.sin(x) + 1e-5 * rng.normal()


def logistic(x):
    return 1 / (1 + np.exp(-x))


# id: f, x, a wrong claim, and a kind that is not said of it
NOT_SAID = {
    "a kink": (lambda x: np.abs(x).sum(), np.zeros(3), np.full(3, 3.0), "not-zero"),
    "a slope that noise leaves open": (
        noisy_sine(np.random.default_rng(0)), 0.3, -0.65, "not-zero"),
    "two values": (
        lambda x: logistic(x).sum(), np.array([1.0, 0, 1, 1, 0, 0]), logistic, "mean-and-spread"),
    "one entry that is not zero": (
        lambda x: energy(x) + np.sum(x**2), np.array([0.5, 0.0]), energy_gradient, "regulariser"),
    "eps in the gradient": (
        lambda x: np.sum(np.log(x)), np.linspace(0.2, 3.0, 40), lambda x: 1 / (x + 1e-4), "noisy"),
    "a constant cut short": (
        lambda x: np.sum(np.tanh(0.7978845608 * x)), 3 * V,
        lambda x: 0.798 / np.cosh(0.798 * x) ** 2, "noisy"),
}  # fmt: skip


@pytest.mark.parametrize(("f", "x", "wrong", "kind"), NOT_SAID.values(), ids=NOT_SAID)
def test_a_kind_is_not_said_of_what_only_resembles_it(f, x, wrong, kind):
    report = check_gradient(f, x, wrong)
    assert report.verdict == "fail"
    assert kind not in kinds(report)


SHAPES = [(), (1,), (2,), (3,), (6,), (2, 2), (3, 3), (2, 2, 3), (30,)]

# id: a gradient made wrong at random, and the kinds that may be said of it
RANDOM = {
    "other-numbers": (lambda g, rng: rng.normal(size=g.shape), set()),
    "a-factor-for-each": (lambda g, rng: g * rng.uniform(-2, 2, g.shape), set()),
    "something-added": (lambda g, rng: g + rng.normal(0, 0.1, g.shape), set()),
    "some-entries": (
        lambda g, rng: np.where(rng.random(g.shape) < 0.5, g * rng.uniform(-2, 2, g.shape), g),
        {"single-entries", "row-or-column", "some-entries"},
    ),
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("spoil", "true"), RANDOM.values(), ids=RANDOM)
@pytest.mark.parametrize("noise_of_f", [0.0, 1e-7, 1e-4], ids=str)
def test_random_wrong_gradients_get_no_false_diagnosis(noise_of_f, spoil, true):
    # Noise of 1e-4 hides most entries, and no pattern is to be seen in the others.
    rng, noise = np.random.default_rng(3), np.random.default_rng(5)
    found = []
    for shape in SHAPES[1:8:2] if noise_of_f else SHAPES:
        x = rng.normal(size=shape)
        wrong = spoil(energy_gradient(x), rng)
        report = check_gradient(lambda x: energy(x) * (1 + noise_of_f * noise.normal()), x, wrong)
        found += kinds(report)
    assert {*found} <= true


# --- the list of kinds ------------------------------------------------------------------------


def test_slopes_with_long_bars_show_no_number_for_each_column():
    row = corpus.row_named("offsets of whole pixels in float32")
    doubled = next(claim for claim in claims_of(row) if claim.name == "doubled")
    assert kinds(judged(row, doubled.value)) == []


def test_each_kind_is_described_in_one_sentence():
    for kind, sentence in KINDS.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", kind)
        assert re.fullmatch(r"[A-Zf][^.]*\.", sentence)
    assert len({*KINDS.values()}) == len(KINDS)


def test_every_kind_has_an_example():
    shown = {row[-2] for table in (SCALAR, ARRAY, JVP) for row in table.values()} - {"unknown"}
    of_the_zoo = {bug.diagnosis for case in all_cases() for bug in case.bugs} - {"unknown"}
    of_a_solver = "tolerance"  # tests/check/corpus/stairs_and_edges.py
    assert shown | of_the_zoo | {of_a_solver} == KINDS.keys()
    assert {row.kind for row in MISTAKES if row.mend or row.reshape} <= shown
