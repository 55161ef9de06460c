"""When is a reply right? Reals as decimals, within what is stated; refusals; ambiguity."""

import jsonschema
import pytest

from gradcheck_ref.oracle.judge import close_enough, judge
from gradcheck_ref.oracle.table import REPLIES, protocol_schema
from gradcheck_ref.oracle.vectors import load_vectors

VECTORS = {v.id: v for v in load_vectors()}


def vector(group, wanted):
    """Return the first vector of a group for which something holds."""
    return next(v for v in VECTORS.values() if v.group == group and wanted(v))


SLOPE = vector("stencil/forward", lambda v: v.expected.get("slope") == "12.765625")
NONFINITE = vector("stencil/forward", lambda v: v.expected.get("slope") == "nonfinite")
BAD_STEP = vector("stencil/forward", lambda v: "refused" in v.expected)
FAR = vector("compare/torch", lambda v: v.description == "the sign is wrong")
NEAR = vector("compare/torch", lambda v: v.description == "equal, one number")
SHAPES = vector("compare/torch", lambda v: "Shape" in v.flags)
OPEN = vector("compare/reference", lambda v: v.expected.get("error") == [None])
MATRIX = vector("compare/torch", lambda v: v.description == "equal, a matrix")
NORM = vector("compare/tvm", lambda v: v.description == "1 of 200 differs")
TABLE = vector("compare/warp", lambda v: v.description == "1 against 2")
WALK = vector("escalate/taken", lambda v: v.expected.get("order") == 4)
RIGHT = vector("verdict/cube", lambda v: v.expected["result"] == "valid")
WRONG = vector("verdict/cube", lambda v: v.expected["result"] == "invalid")
KINK = vector("verdict/relu", lambda v: v.expected["result"] == "acceptable")
LENGTH = vector("whole/products", lambda v: v.description == "a straight f, doubled")
ONE_LINE = vector("whole/products", lambda v: v.description == "one line")
ZEROS = [["0", "0", "0"], ["0", "0", "0"]]

# what; the vector; the reply; how it is judged
CASES = [
    ("the slope", SLOPE, {"slope": "12.765625"}, "passed"),
    ("in another notation", SLOPE, {"slope": "+1.2765625E+01"}, "passed"),
    ("an ulp away", SLOPE, {"slope": "12.765625000000002"}, "passed"),
    ("too far away", SLOPE, {"slope": "12.76562500000001"}, "failed"),
    ("refused in vain", SLOPE, {"refused": "no"}, "failed"),
    ("nothing finite: NaN", NONFINITE, {"slope": "NaN"}, "passed"),
    ("nothing finite: refused", NONFINITE, {"refused": "NaN in the samples"}, "passed"),
    ("nothing finite: a number", NONFINITE, {"slope": "0"}, "failed"),
    ("refused as it must be", BAD_STEP, {"refused": "h is 0"}, "passed"),
    ("refused without a reason", BAD_STEP, {"refused": " "}, "error"),
    ("refused: false", NEAR, {"refused": False, "close": True, "error": "0"}, "passed"),
    ("no problem, in so many words", SLOPE, {"problem": "", "slope": "12.765625"}, "passed"),
    ("null where nothing is", SLOPE, {"slope": "12.765625", "refused": None}, "passed"),
    ("not refused", BAD_STEP, {"slope": "nan"}, "failed"),
    ("far", FAR, {"close": False, "error": ["2", "4"]}, "passed"),
    ("far, and refused", FAR, {"refused": "no"}, "passed"),
    ("far, but called close", FAR, {"close": True, "error": ["2", "4"]}, "failed"),
    ("far, with another error", FAR, {"close": False, "error": ["2", "3"]}, "failed"),
    ("near", NEAR, {"close": True, "error": "-0"}, "passed"),
    ("near, as a list", NEAR, {"close": True, "error": ["0"]}, "failed"),
    ("near, and refused", NEAR, {"refused": "no"}, "failed"),
    ("shapes, refused", SHAPES, {"refused": "shapes"}, "passed"),
    ("shapes, not close", SHAPES, {"close": False, "error": ["1"]}, "failed"),
    ("any error where it is open", OPEN, {"close": False, "error": ["inf"]}, "passed"),
    ("a matrix", MATRIX, {"close": True, "error": ZEROS}, "passed"),
    ("a flattened matrix", MATRIX, {"close": True, "error": ["0"] * 6}, "failed"),
    ("a norm", NORM, {"close": True, "error": "0.5", "percent": "0.5"}, "passed"),
    ("a truncated percentage", NORM, {"close": True, "error": "0.5", "percent": "0"}, "failed"),
    ("the walk", WALK, {"order": 4, "slope": WALK.expected["slope"]}, "passed"),
    ("another order", WALK, {"order": 2, "slope": WALK.expected["slope"]}, "failed"),
    ("no order there is", WALK, {"order": 3, "slope": "12"}, "error"),
    ("right", RIGHT, {"verdict": "pass"}, "passed"),
    ("right, but blamed", RIGHT, {"verdict": "fail"}, "failed"),
    ("right, but unsure", RIGHT, {"verdict": "unsure"}, "failed"),
    ("wrong", WRONG, {"verdict": "fail"}, "passed"),
    ("wrong, but passed", WRONG, {"verdict": "pass"}, "failed"),
    ("the whole", LENGTH, {"error": "0.5", "spread": LENGTH.expected["spread"]}, "passed"),
    ("the whole, its square", LENGTH, {"error": "0.25", "spread": "0"}, "failed"),
    ("the whole, refused in vain", LENGTH, {"refused": "no"}, "failed"),
    ("one line, refused", ONE_LINE, {"refused": "one line"}, "passed"),
    ("one line, measured", ONE_LINE, {"error": "0.5", "spread": "nan"}, "failed"),
    ("a kink, passed", KINK, {"verdict": "pass"}, "ambiguous"),
    ("a kink, and no answer", KINK, {"slope": "1"}, "error"),
    ("a kink, and a problem", KINK, {"problem": "no ReLU"}, "error"),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("asked", "reply", "status"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_reply_is_judged(asked, reply, status):
    outcome = judge(asked, {"id": asked.id, **reply})
    assert outcome.status == status, outcome.why
    assert bool(outcome.why) == (status in ("failed", "error"))


@pytest.mark.parametrize(
    ("got", "expected", "within", "close"),
    [
        ("0.10000000000000001", "0.1", "0", True),  # the same double
        ("0.30000000000000004", "0.3", "5e-17", True),
        ("0.30000000000000004", "0.3", "3e-17", False),
        ("0.333333333333333333333333333334", "0.333333333333333333333333333333", "1e-30", True),
        ("-0", "0", "0", True),
        ("-nan(ind)", "nan", "0", True),
        ("nan", "1", "1e300", False),
        ("inf", "-inf", "0", False),
        ("1e999", "1", "1e300", False),
        ("1e-999999999", "0", "0", True),  # a double is no smaller
        ("1e-99999999999999999999", "1", "0.5", False),  # nor can decimals write it
        ("5e-324", "1e-323", "0", False),
    ],
)
def test_reals_are_compared_as_decimals(got, expected, within, close):
    assert close_enough(got, expected, within) is close


# --- schema and judge ------------------------------------------------------------------------

EXCUSED = [
    *({"refused": said} for said in ("no", "", " ", False, True, 3, [], None)),
    *({"problem": said} for said in ("broke", "", False, {}, None)),
    {"refused": "no", "problem": "broke"},
    {"refused": "", "problem": "broke"},
    {"refused": "no", "slope": 3},
]
REPLIES_TO = {
    "stencil": (SLOPE, [{"slope": said} for said in ("1", "-nan(ind)", 1, "big", ["1"])]),
    "escalate": (WALK, [{"order": said, "slope": "1"} for said in (4.0, 3, True)]),
    "compare": (FAR, [{"close": said, "error": ["1"]} for said in (True, "true", 0)]),
    "compare/warp": (TABLE, [{"close": True, "error": "1", "relative": s} for s in ("1", 1, None)]),
    "compare/tvm": (NORM, [{"close": True, "error": "1", "percent": s} for s in ("1", 1, None)]),
    "verdict": (RIGHT, [{"verdict": said} for said in ("unsure", "ok", True, None)]),
    "whole": (LENGTH, [{"error": said, "spread": "1"} for said in ("1", 1, None)]),
}


@pytest.mark.parametrize("name", REPLIES)
def test_the_schema_and_the_judge_agree_on_every_reply(name):
    vector, replies = REPLIES_TO[name]
    whole = protocol_schema()
    part = f"#/$defs/reply_{name.replace('/', '_')}"
    right = jsonschema.Draft202012Validator(
        {"$schema": whole["$schema"], "$ref": part, "$defs": whole["$defs"]}
    )
    agreed = set()
    for reply in [*replies, *EXCUSED, {}]:
        judged = judge(vector, {"id": vector.id, **reply})
        # A problem is told as it should be, and is an error all the same.
        malformed = judged.status == "error" and not judged.why.startswith("the implementation has")
        assert right.is_valid({"id": vector.id, **reply}) == (not malformed), (reply, judged.why)
        agreed.add(malformed)
    assert agreed == {True, False}
