"""The corpus: every row gets what is promised, and nothing is judged worse than what is stored."""

import corpus
import numpy as np
import pytest
from corpus import ratchet
from corpus.row import EDITS, Claim, Row, after, claims_of, judged, left_unsaid, missed
from corpus.transformed import EXACT, FORMS, forms_of, is_zero

ALWAYS = [name for name, row in corpus.own_rows().items() if row.always]
IN_TURN = [name for name in corpus.own_rows() if name not in ALWAYS]


def assert_promise(name):
    """Check all claims of a row, and fail with a line for each that gets something else."""
    row, lines = corpus.row_named(name), []
    before = ratchet.stored().get(name, {})
    for claim in claims_of(row):
        report = judged(row, claim.value)
        if line := missed(claim, report):
            lines.append(line)
        elif names := left_unsaid(report):
            lines.append(f"{claim.name}: passes without a word on {names}: {report}")
        elif claim.name not in before:
            lines.append(
                f"{claim.name}: not stored; python tests/tools/ratchet.py --write '{name}'"
            )
        else:
            now, right = ratchet.said(report), ratchet.is_right(row, claim.name)
            if ratchet.compared(before[claim.name], now, right) == "worse":
                lines.append(f"{claim.name}: was {before[claim.name]}, is now {now}")
    if lines:
        pytest.fail("\n".join(lines), pytrace=False)


def one_claim(wanted, says="", kind="", factor=1.0):
    """Return the claim about a square that is right, or wrong by a factor, and the report on it."""
    row = Row("a square", lambda x: x**2, 3.0, 6.0 * factor)
    return Claim("right", row.right, frozenset(wanted.split()), says, kind), judged(row, row.right)


@pytest.mark.parametrize(
    ("given", "is_missed"),
    [
        ({"wanted": "pass"}, False),
        ({"wanted": "unsure fail"}, True),
        ({"wanted": "pass:ok", "says": "the only entry agrees"}, False),
        ({"wanted": "pass", "says": "all is lost"}, True),
        ({"wanted": "fail", "kind": "sign factor", "factor": 2.0}, False),
        ({"wanted": "fail", "kind": "sign", "factor": 2.0}, True),
        ({"wanted": "pass", "kind": "none"}, False),
    ],
)
def test_a_promise_that_is_not_kept_is_missed(given, is_missed):
    assert bool(missed(*one_claim(**given))) == is_missed


@pytest.mark.parametrize(
    ("before", "now", "is_right", "how"),
    [
        (("pass", "ok", "-", "-12"), ("unsure", "noise", "-", "-"), True, "worse"),
        (("pass", "ok", "-", "-12"), ("unsure", "noise", "-", "-"), False, "better"),
        (("fail", "wrong", "sign", "-"), ("fail", "wrong", "-", "-"), False, "worse"),
        (("fail", "wrong", "sign", "-"), ("fail", "wrong", "zero", "-"), False, "other"),
        (("pass", "ok", "-", "-12"), ("pass", "ok", "-", "-10"), True, "same"),
        (("pass", "ok", "-", "-12"), ("pass", "ok", "-", "-9"), True, "worse"),
        (("pass", "ok", "-", "-12"), ("pass", "ok", "-", "inf"), True, "worse"),
        (("unsure", "kink", "-", "-"), ("unsure", "noise", "-", "-"), True, "other"),
    ],
)
def test_an_answer_is_better_or_worse_than_before(before, now, is_right, how):
    said = ratchet.Said(*before), ratchet.Said(*now)
    assert ratchet.compared(*said, is_right) == how


@pytest.mark.parametrize("name", ALWAYS)
def test_a_row_that_notices_what_no_other_does(name):
    assert_promise(name)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", IN_TURN)
def test_every_claim_gets_what_is_promised(name):
    assert_promise(name)


@pytest.mark.one_in(9)
@pytest.mark.parametrize("name", corpus.adapted.names())
def test_the_zoo_the_museum_and_the_complaints_get_what_is_promised(name):
    assert_promise(name)


def test_nothing_is_stored_of_rows_that_are_gone():
    assert ratchet.stored().keys() == set(corpus.names())


IN_FORMS = [
    pytest.param(name, form, id=f"{name}-{form}")
    for name, row in corpus.own_rows().items()
    for form in forms_of(row)
]


@pytest.mark.one_in(60)
@pytest.mark.parametrize(("name", "form"), IN_FORMS)
def test_in_another_form_no_right_claim_fails_and_no_doubled_one_passes(name, form):
    row = corpus.row_named(name)
    other = FORMS[form](row)
    right = judged(other, other.right)
    assert right.verdict != "fail", str(right)
    assert not left_unsaid(right), str(right)
    assert right.evaluations <= other.options.get("max_evaluations", np.inf)
    if form in EXACT:
        assert right.verdict == judged(row, row.right).verdict
    if not is_zero(row):
        doubled = judged(other, after(EDITS["doubled"](), other.right))
        hides = row.hides if isinstance(row.hides, str) else row.hides.get("doubled", "fail")
        assert doubled.verdict != "pass" or "pass" in hides.split(), str(doubled)
