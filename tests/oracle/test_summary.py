"""What a run says, and the command line that says it."""

import json
import math
import struct
from collections import Counter
from xml.etree import ElementTree

import pytest

from gradcheck_ref.oracle.judge import Outcome, judge
from gradcheck_ref.oracle.runner import Run
from gradcheck_ref.oracle.summary import Summary
from gradcheck_ref.oracle.vectors import load_notes, load_vectors

VECTORS = {v.id: v for v in load_vectors()}
GROUPS = Counter(v.group for v in VECTORS.values())
TIE = next(v for v in VECTORS.values() if v.group == "compare/torch" and "ExactTie" in v.flags)
SLOPE = VECTORS["stencil-001"]
KINK = next(v for v in VECTORS.values() if v.expected["result"] == "acceptable")
NAN = next(v for v in VECTORS.values() if v.group == "compare/torch" and "NaN" in v.flags)


def a_run(*outcomes, declined=(), restarts=0, strays=0):
    """Return a run with these outcomes."""
    return Run("my-checker 1.2", list(outcomes), list(declined), restarts, strays)


def passed(vector):
    """Return a good outcome."""
    return Outcome(vector, "passed", "", "{...}")


FAILED = Outcome(TIE, "failed", "close is false, expected true", "{'close': False}")
CRASHED = Outcome(NAN, "error", "it ended with status 3")
MIXED = a_run(
    passed(SLOPE),
    FAILED,
    CRASHED,
    Outcome(KINK, "ambiguous", "", "{...}"),
    declined=[v for v in VECTORS.values() if v.kind == "escalate"],
)


def test_the_text_has_groups_flags_failures_and_the_sentence():
    text = Summary(MIXED).text()
    assert "compare/torch 0 of 2 1 1 0 1" in " ".join(text.split())
    assert "stencil/forward 1 of 1 0 0 0 0" in " ".join(text.split())
    assert "  ExactTie                        1 of 1 wrong" in text
    assert f"FAILED  {TIE.id}  compare/torch: {TIE.description}" in text
    assert json.dumps(TIE.request) in text
    assert '"close": true' in text
    assert "  got       {'close': False}" in text
    assert "  why       close is false, expected true" in text
    note = load_notes()["compare"]["ExactTie"]
    assert f"  ExactTie: {note['description']} When wrong: {note['effect']}" in text
    assert f"ERROR  {NAN.id}" in text
    assert "  got       nothing\n  why       it ended with status 3" in text
    escalate = sum(v.kind == "escalate" for v in VECTORS.values())
    assert f"not asked, since its hello does not promise them: {escalate} escalate" in text
    assert text.endswith(
        "my-checker 1.2 passes gradcheck-ref vectors v1 (compare/torch in part, stencil/central "
        "in part, stencil/forward in part): 1 of 3 (1 by guessing), 2 of 3 groups whole, score "
        "50 %\n"
    )


def test_the_first_of_many_failures_are_printed_in_full():
    many = [Outcome(v, "failed", "no", "{}") for v in list(VECTORS.values())[:40]]
    text = Summary(a_run(*many, FAILED)).text()
    assert text.count("FAILED  ") == 5
    assert text.index("FAILED  stencil-001 ") < text.index(f"FAILED  {TIE.id} ")
    assert text.index(f"FAILED  {TIE.id} ") < text.index("FAILED  stencil-002 ")
    assert "... and 36 more" in text


def test_a_skipped_vector_does_not_count_and_is_named_if_it_passes():
    other = VECTORS["stencil-002"]
    summary = Summary(a_run(passed(SLOPE), FAILED, passed(other)), skip=[TIE.id, SLOPE.id])
    assert summary.right
    assert summary.score == (1, 1)
    assert f"skipped, though it passes: {SLOPE.id}\nskipped: 2" in summary.text()
    assert Summary(a_run(passed(SLOPE), FAILED), skip=[TIE.id]).needless == []


def test_the_restarts_of_a_skipped_vector_do_not_count_but_others_do():
    crashing = passed(SLOPE), CRASHED  # once among others, once alone
    assert Summary(a_run(*crashing, restarts=2), skip=[NAN.id]).right
    assert not Summary(a_run(*crashing, restarts=3), skip=[NAN.id]).right
    assert not Summary(a_run(*crashing, FAILED, restarts=2), skip=[TIE.id]).right
    assert not Summary(a_run(passed(SLOPE), FAILED, restarts=1), skip=[TIE.id]).right


def test_the_denominator_does_not_depend_on_the_replies():
    malformed = Outcome(KINK, "error", "slope is 3", "{'slope': 3}")
    summary = Summary(a_run(passed(SLOPE), malformed))
    assert summary.score == (1, 1)
    assert not summary.right
    said = "1 of 1 (0 by guessing), 1 of 2 groups whole, score 100 %, 1 protocol error"
    assert said in summary.sentence
    assert "ambiguous, but to be answered all the same: 1" in summary.text()


@pytest.mark.parametrize(
    ("outcomes", "restarts", "strays", "count"),
    [([passed(SLOPE)], 0, 2, 2), ([passed(SLOPE)], 1, 0, 1), ([passed(SLOPE), CRASHED], 5, 1, 4)],
    ids=["stray lines", "a start for no reason", "both, and a crash"],
)
def test_a_protocol_error_is_a_failure_and_is_in_the_sentence(outcomes, restarts, strays, count):
    summary = Summary(a_run(*outcomes, restarts=restarts, strays=strays))
    assert not summary.right
    assert f", {count} protocol error" in summary.sentence
    again, no_reply = "started again, after it ended or was silent", "the reply to no question"
    assert (f"{again}: {restarts}" in summary.text()) == bool(restarts)
    assert (f"{no_reply}: {strays}" in summary.text()) == bool(strays)


@pytest.mark.slow
def test_a_program_that_knows_nothing_scores_below_a_third():
    refused = [judge(v, {"refused": "no"}) for v in VECTORS.values() if v.kind != "verdict"]
    asked = [v for v in VECTORS.values() if v.kind == "verdict"]
    passing, failing = ([judge(v, {"verdict": said}) for v in asked] for said in ("pass", "fail"))
    alternating = [pair[k % 2] for k, pair in enumerate(zip(passing, failing, strict=True))]
    for told in (passing, failing, alternating):
        summary = Summary(a_run(*refused, *told))
        assert summary.grade < 1 / 3
        assert summary.whole[0] == 0
        assert f"groups whole, score {math.floor(100 * summary.grade)} %" in summary.sentence


def test_each_group_has_the_same_weight_and_guesses_earn_nothing():
    right = {"stencil/forward": len, "compare/torch": lambda vectors: len(vectors) // 2}
    outcomes = []
    for group, share in right.items():
        vectors = [v for v in VECTORS.values() if v.group == group and v.counts]
        vectors.sort(key=lambda v: v.expected["result"] == "invalid")  # those that are close first
        for k, vector in enumerate(vectors):
            outcomes.append(Outcome(vector, "passed" if k < share(vectors) else "failed", "", "{}"))
    torch = [v for v in VECTORS.values() if v.group == "compare/torch" and v.counts]
    guessed = sum(judge(v, {"refused": "no"}).status == "passed" for v in torch)
    known = max(0, len(torch) // 2 - guessed) / (len(torch) - guessed)
    assert Summary(a_run(*outcomes)).grade == (1 + known) / 2
    assert Summary(a_run(passed(NAN))).grade is None
    assert "score" not in Summary(a_run(passed(NAN))).sentence


def test_an_optional_group_has_a_score_of_its_own():
    sine, low = (
        [v for v in VECTORS.values() if v.group == group and v.counts]
        for group in ("verdict/sine", "verdict/sine_in_float32")
    )
    missed = [Outcome(v, "failed", "", "{}") for v in low]
    summary = Summary(a_run(*map(passed, sine), *missed))
    assert (summary.grade, summary.optional_grade) == (1, 0)
    assert ", score 100 %, score of optional groups 0 %" in summary.sentence
    assert Summary(a_run(*missed)).grade is None


def test_an_expected_failure_is_accepted_and_its_passing_is_not():
    run = a_run(passed(SLOPE), FAILED)
    summary = Summary(run, expected=[TIE.id])
    assert summary.right
    said = "1 of 2 (0 by guessing), 1 of 2 groups whole, score 50 %, 1 expected failure"
    assert said in summary.sentence
    assert "FAILED" not in summary.text()
    assert "<failure" not in summary.junit()
    summary = Summary(run, expected=[TIE.id, SLOPE.id])
    assert not summary.right
    assert f"expected to fail, and passes: {SLOPE.id}" in summary.text()


def test_a_failure_without_a_flag_names_the_question():
    plain = {v.group: v for v in VECTORS.values() if not v.flags}
    asked = plain["compare/torch"], plain["stencil/forward"]
    text = Summary(a_run(*(Outcome(v, "failed", "no", "{}") for v in asked))).text()
    assert "  no trap: close if in every entry analytic = numeric, or" in text
    assert "  no trap: the plain case" in text


def rounded(vector, written):
    """Return the outcome of a reply whose numbers are written so."""
    value = float(vector.expected["slope"])
    return judge(vector, {"id": vector.id, "slope": written(value)})


SLOPES = [
    v
    for v in VECTORS.values()
    if v.kind == "stencil" and v.counts and v.expected.get("slope", "nonfinite") != "nonfinite"
]
WRITTEN = {
    "15 digits": (lambda v: f"{v:.15g}", "look right to the 15 digits that are written"),
    "6 digits": (lambda v: f"{v:g}", "look right to the 6 digits that are written"),
    "float32": (
        lambda v: repr(struct.unpack("f", struct.pack("f", v))[0]) if abs(v) < 3e38 else "inf",
        "look computed in single precision",
    ),
    "17 digits": (lambda v: f"{v:.17g}", ""),
    "small ones written as 0": (lambda v: repr(v if abs(v) > 1e-9 else 0.0), ""),
    "twice as much": (lambda v: repr(2 * v), ""),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("how", WRITTEN)
def test_rounded_numbers_are_reported_as_rounded_and_not_as_a_trap(how):
    written, said = WRITTEN[how]
    summary = Summary(a_run(*(rounded(v, written) for v in SLOPES)))
    text = summary.text()
    assert ("the numbers of " in text) == bool(said)
    assert said in text
    if said:
        assert "StepTaken   " not in text
    assert ("StepTaken   " in text) == (how in ("twice as much", "small ones written as 0"))


def test_a_promised_name_that_is_not_a_group_is_reported():
    found = a_run(passed(SLOPE))
    found.answers = ["stencil", *(f"compare/{n}" for n in range(10_000)), "compare/torch"]
    summary = Summary(found)
    assert "promised by its hello, but no group: compare/0, compare/1," in summary.text()
    assert "compare/9 and 9990 more" in summary.text()
    assert summary.to_dict()["unknown"][-1] == "compare/9999"
    assert summary.right


def test_no_implementation_can_send_control_characters_to_the_terminal():
    found = a_run(passed(SLOPE), Outcome(NAN, "error", "\x1b[2J\ud800 says é"))
    found.name = "mine\n\x1b[31m 7"
    text = Summary(found).text()
    assert "why       ?[2J? says é\n" in text
    assert text.splitlines()[-1].startswith("mine ?[31m 7 passes")


def test_part_of_a_kind_is_named_by_its_groups():
    asked = [v for v in VECTORS.values() if v.kind == "stencil" or v.group == "compare/torch"]
    summary = Summary(a_run(*map(passed, asked)))
    of = len([v for v in asked if v.counts])
    assert f"v1 (stencil, compare/torch): {len(asked)} of {of}" in summary.sentence
    first = [line.split()[0] for line in summary.text().splitlines()[1:3]]
    assert first == ["stencil:", "compare/torch"]


def test_the_data_holds_everything_that_did_not_pass():
    data = json.loads(json.dumps(Summary(MIXED, skip=[NAN.id]).to_dict(), allow_nan=False))
    assert (data["passed"], data["of"], data["ambiguous"], data["right"]) == (1, 2, 1, False)
    assert [o["id"] for o in data["outcomes"]] == [TIE.id, NAN.id, KINK.id]
    assert data["outcomes"][0]["request"] == TIE.request
    assert data["outcomes"][0]["why"] == "close is false, expected true"
    assert data["groups"]["compare/torch"] == {"failed": 1, "of": 1, "guessed": 0}
    assert data["flags"]["ExactTie"] == {"failed": 1}
    assert data["skipped"] == [NAN.id]
    assert len(data["declined"]) == sum(v.kind == "escalate" for v in VECTORS.values())


def test_junit_has_a_suite_for_each_group_and_a_case_for_each_vector():
    strange = Outcome(TIE, "failed", "got \x00 and <b> & so on", "\ufffe")
    root = ElementTree.fromstring(
        Summary(a_run(passed(SLOPE), strange, CRASHED), skip=[NAN.id]).junit()
    )
    suites = {suite.get("name"): suite for suite in root}
    assert set(suites) == {"stencil/forward", "compare/torch"}
    torch = suites["compare/torch"]
    counts = [torch.get(key) for key in ("tests", "failures", "errors", "skipped")]
    assert counts == ["2", "1", "0", "1"]
    assert torch[0].find("failure").get("message") == "got ? and <b> & so on"
    assert torch[1].find("skipped") is not None
