"""Claims that are NaN or infinite: the report says what is true of them, and of the others."""

import numpy as np
import pytest

from gradcheck_ref import check_gradient, check_jacobian, check_jvp, check_vjp
from gradcheck_ref.check.words import for_a_command

RNG = np.random.default_rng(0)
X, LARGE = RNG.normal(size=12), RNG.normal(size=100)
A, Y = RNG.normal(size=(4, 3)), RNG.normal(size=3)
NAN, INF = np.nan, np.inf


def f(x):
    return np.sum(np.sin(x) * np.arange(1, x.size + 1))


def right(x):
    return np.cos(x) * np.arange(1, x.size + 1)


def with_(entries, factor=1.0):
    """Return a gradient with other values at some entries."""

    def gradient(x):
        given = factor * right(x)
        for entry, value in entries.items():
            given[entry] = value
        return given

    return gradient


def layer(x):
    return np.tanh(A @ x)


def of_layer(x, spoil=1.0):
    return spoil * (1 - np.tanh(A @ x) ** 2)[:, None] * A


def first_lines(report):
    """Return the report up to its first advice, as one line."""
    return report.text(1000).split("\ntry: ")[0].replace("\n", " ")


FIRST = {  # the point, the gradient, the first sentence, what it says of the others
    "one": (X, with_({0: NAN}), "x: the claim is NaN in 1 of 12 entries (x[0]); at x[0] analytic"
            " nan, numeric 0.9921", "other entries: 11 agree"),
    "three": (X, with_({0: NAN, 5: NAN, 7: NAN}), "NaN in 3 of 12 entries (x[0], x[5], x[7])",
              "other entries: 9 agree"),
    "all": (X, lambda x: NAN * x, "x: the claim is NaN in all 12 entries; at x[0]", ""),
    "all but one": (X, with_(dict.fromkeys(range(11), NAN)), "in 11 of 12 entries, all of x[0:11];",
                    "other entries: 1 agrees"),
    "infinite": (X, with_({0: INF, 2: -INF}), "is infinite in 2 of 12 entries (x[0], x[2])",
                 "other entries: 10 agree"),
    "both": (X, with_({0: NAN, 3: INF}), "the claim is NaN in 1 and infinite in 1 of 12 entries",
             "other entries: 10 agree"),
    "beside a wrong one": (X, with_({0: NAN, 3: 1.0}), "the claim is NaN in 1 of 12 entries (x[0])",
                           "other entries: 10 agree and 1 differs"),
    "beside twice": (X, with_({0: NAN}, 2), "the claim is NaN in 1 of 12 entries (x[0])",
                     "other entries: 11 differ"),
    "one of many": (LARGE, with_({0: NAN}), "the claim is NaN in 1 of 100 entries, and all else is "
                    "right along 4 random lines; at x[0] analytic nan", ""),
    "two of many": (LARGE, with_({0: NAN, 70: NAN}), "is NaN in 2 of 100 entries (x[0], x[70])",
                    "other entries: 10 of 98 measured alone, 10 agree"),
    "one of many, twice": (LARGE, with_({0: NAN}, 2), "NaN in 1 of 100 entries (x[0]); at x[0]",
                           "other entries: 10 of 99 measured alone, 10 differ"),
    "one of thousands": (np.resize(LARGE, 3000), with_({1000: -INF}), "1 of 3000 entries, and all "
                         "else is right along 4 random lines; at x[1000] ", ""),
    "many of many": (LARGE, with_(dict.fromkeys(range(40), NAN)), "40 of 100 entries, all of x[0:4",
                     "of 60 measured alone, "),
    "one number": (X[:1], lambda x: NAN * x, "x: the claim is NaN; analytic nan, numeric", ""),
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("x", "gradient", "said", "others"), FIRST.values(), ids=FIRST)
def test_the_first_lines_count_the_claims_that_are_no_numbers(x, gradient, said, others):
    report = check_gradient(f, x, gradient)
    assert (report.verdict, report.reason) == ("fail", "nonfinite")
    first = first_lines(report)
    assert said in first
    assert others in first if others else "other entr" not in first
    assert report.diagnoses[0].kind == "nonfinite"
    assert "only" not in report.text(1000).split("entry  ")[0]


FORMS = {
    "vjp": lambda J, x: check_vjp(layer, x, lambda u, x: u @ J(x)),
    "jvp": lambda J, x: check_jvp(layer, x, lambda t, x: J(x) @ t),
    "jacobian": lambda J, x: check_jacobian(layer, x, J),
    # Of second order: a Hessian is the Jacobian of a gradient, and a vjp of a vjp its product.
    "hessian": lambda J, x: check_jacobian(
        lambda x: x * layer(x)[:3], x, lambda x: np.diag(layer(x)[:3]) + x[:, None] * J(x)[:3]
    ),
    "vjp of a vjp": lambda J, x: check_vjp(
        lambda x: x * layer(x)[:3], x, lambda u, x: u * layer(x)[:3] + (u * x) @ J(x)[:3]
    ),
}
NO_NUMBERS = {
    "a row": np.array([[NAN], [1], [1], [1]]),
    "a column": np.array([[1, NAN, 1]]),
    "everything": np.full((4, 3), NAN),
    "infinite": np.array([[INF, 1, 1]]),  # 0 * inf makes some of these NaN
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("check", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("spoil", NO_NUMBERS.values(), ids=NO_NUMBERS)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_every_check_says_so_and_passes_the_right_one(check, spoil):
    assert check(of_layer, Y).verdict == "pass"
    report = check(lambda x: of_layer(x, spoil), Y)
    assert (report.verdict, report.reason) == ("fail", "nonfinite")
    first = first_lines(report)
    assert first.startswith("FAIL  x: the claim is ")
    assert {one.kind for one in report.diagnoses} == {"nonfinite"}
    claim = np.concatenate([pair.analytic for pair in report.pairs], axis=1)
    for word, count in ("NaN", np.isnan(claim).sum()), ("infinite", np.isinf(claim).sum()):
        assert (f"{word} in {'all ' if count == claim.size else ''}{count} " in first) == (
            count > 0
        )


def two(a, b):
    return f(a) * np.sum(b**2)


@pytest.mark.parametrize(("factor", "kinds"), [(2, ["nonfinite"]), (1, ["nonfinite", "factor"])])
def test_another_input_is_told_apart(factor, kinds):
    def gradients(a, b):
        return with_({0: NAN})(a) * np.sum(b**2), factor * b * f(a)

    report = check_gradient(two, (X, Y), gradients)
    assert [one.kind for one in report.diagnoses] == kinds
    assert report.text(1000).split("\n")[2] == (
        "right: b" if factor == 2 else "also wrong: b (3 of 3)"
    )


def test_no_input_is_the_only_wrong_one_beside_nan():
    claims = (with_({0: NAN})(X) * 0.5, 1.5 * f(X) + 0.1)
    assert "only" not in str(check_gradient(lambda a, b: f(a) * b, (X, 0.5), claims))


# --- f itself is not finite --------------------------------------------------------------------


def with_a_nan(x):
    return layer(x) + np.array([0, NAN, 0, 0])


NOT_F = "not compared: 3 of 12 entries, because output[1] is not finite at this point"


def test_the_claim_is_not_blamed_for_a_value_of_f():
    report = check_jacobian(with_a_nan, Y, of_layer)
    assert (report.verdict, report.reason) == ("unsure", "nonfinite")
    report = check_jacobian(with_a_nan, Y, lambda x: of_layer(x, 2))
    assert [one.kind for one in report.diagnoses] == ["factor"]
    assert "claim is" not in report.text(1000)
    assert NOT_F in report.text(1000)


def test_a_nan_of_f_in_the_claim_for_other_outputs_is_told_with_its_cause():
    spoil = np.array([[1], [NAN], [1], [1]])  # a product with any upstream is NaN, too
    report = check_vjp(with_a_nan, Y, lambda u, x: u @ of_layer(x, spoil))
    assert "x: the claim is NaN in all 12 entries" in first_lines(report)
    assert NOT_F in report.text(1000)


def test_the_parts_of_complex_entries_are_counted():
    z = np.array([0.5 + 1j, -1 + 0.2j, 2 - 1j])
    report = check_gradient(
        lambda z: np.sum(np.abs(z) ** 2), z, lambda z: np.where(np.arange(3) == 1, NAN, 2 * z)
    )
    first = first_lines(report)
    assert "the claim is NaN in 1 of 6 entries" in first
    assert "other entries: 4 agree and 1 differs" in first
    assert {one.kind for one in report.diagnoses} == {"nonfinite"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("shape", [(4, 3), (40, 50)], ids=["small", "large"])
@pytest.mark.parametrize(
    ("entries", "where"),
    [(np.s_[3], ", all of row 3 of W"), (np.s_[:, 1], ", all of column 1 of W"),
     (np.s_[1:3, :2], ", all of W[1:3, 0:2]"), (([0, 2], [0, 1]), "")],
    ids=["row", "column", "box", "here and there"],
)  # fmt: skip
def test_the_slice_of_these_claims_is_named(shape, entries, where):
    W = RNG.normal(size=shape)
    claim = np.cos(W)
    claim[entries] = NAN
    report = check_gradient(lambda W: np.sum(np.sin(W)), W, claim)
    said = f"the claim is NaN in {np.isnan(claim).sum()} of {W.size} entries{where}"
    assert said in report.diagnoses[0].sentence
    assert said in first_lines(report)
    assert ", all of" in said or ", all of" not in first_lines(report)


WEIGHTS = [RNG.normal(size=(8, 8)) / 4 for _ in range(4)]


@pytest.mark.parametrize("factor", [1, 2], ids=["all right", "another one doubled"])
def test_the_other_inputs_of_a_large_check_are_judged_as_wholes(factor):
    def network(a, b, c, d):
        return np.sum(np.sin(a) + np.sin(b) * np.sin(c) + np.sin(d))

    def gradients(a, b, c, d):
        of_c = np.sin(b) * np.cos(c)
        of_c[3, 5] = NAN
        return factor * np.cos(a), np.cos(b) * np.sin(c), of_c, np.cos(d)

    report = check_gradient(network, WEIGHTS, gradients)
    codes = [one.verdict for one in report.inputs]
    assert codes == ["pass" if factor == 1 else "fail", "pass", "unsure", "pass"]
    assert "c: the claim is NaN in 1 of 64 entries" in first_lines(report)
    whole = next(line for line in report.text(1000).split("\n") if line.startswith("as a whole"))
    assert "c" not in whole.replace(",", "").split()
    assert ("a is off by" in whole) == (factor == 2)
    assert {one.kind for one in report.diagnoses} == {"nonfinite", *["factor"][: factor - 1]}


def test_an_infinite_slope_beside_a_wrong_one_leaves_other_patterns_alone():
    report = check_jacobian(
        lambda x: np.array([np.cbrt(x[0]) + x[1], np.sin(x[2])]),
        np.array([0.0, 0.5, 0.7]),
        np.array([[INF, 1.0, 0.0], [0.0, 0.0, 3.0]]),
    )
    assert (report.verdict, report.reason) == ("fail", "wrong")
    assert {one.kind for one in report.diagnoses}.isdisjoint({"another-frame", "nonfinite"})


def test_a_reader_who_types_a_command_reads_nothing_of_numpy():
    with for_a_command():
        report = check_gradient(f, X, with_({0: NAN}))
        advice = report.diagnoses[0].advice
    assert advice.endswith("or a branch that is not taken: 0 * inf is NaN, too")


def test_questions_after_the_advice_are_sentences_of_their_own():
    for values in ({3: NAN, 4: NAN, 5: INF}, {3: NAN, 4: NAN, 5: NAN}, {3: INF}):
        text = " ".join(check_gradient(f, X, with_(values)).text(1000).split())
        assert "?." not in text
    unwritten = check_gradient(f, X, with_({3: NAN, 4: INF, 5: INF})).diagnoses[0].advice
    assert "the last block of a kernel? If the slope of f is infinite there" in unwritten


def test_a_nonfinite_claim_is_not_blamed_on_a_closure():
    assert not check_gradient(lambda x: 1.0, X, NAN * X).faults


def test_memory_that_nobody_has_written_is_nan_without_a_warning():
    """A kernel that leaves out a block returns what is there: a signaling NaN warns in any sum."""
    unwritten = np.full(3, 0x7F800001, np.uint32).view(np.float32)
    report = check_vjp(lambda x: x**2, np.ones(3, np.float32), lambda u, x: unwritten)
    assert (report.verdict, report.reason) == ("fail", "nonfinite")


def test_a_masked_entry_is_no_number():
    report = check_gradient(f, X, np.ma.MaskedArray(right(X), mask=np.arange(12) == 1))
    assert (report.verdict, report.reason, report.worst.name) == ("fail", "nonfinite", "x[1]")
