"""The vectors: well formed, frozen, computed from nothing but exact arithmetic, and right."""

import copy
import decimal
import hashlib
import json
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import jsonschema
import pytest
from beside import ran

from gradcheck_ref.oracle.export import exported
from gradcheck_ref.oracle.generate.drawn import draw
from gradcheck_ref.oracle.judge import judge
from gradcheck_ref.oracle.protocol import answer_line
from gradcheck_ref.oracle.table import ASKED, KINDS, protocol_schema, vector_table, vectors_schema
from gradcheck_ref.oracle.vectors import VERSION, load_file, load_optional, load_vectors

ROOT = Path(__file__).parents[2]
ORACLE = ROOT / "gradcheck_ref" / "oracle"
VECTORS = ORACLE / "vectors"
SCHEMAS = {"vectors": vectors_schema(), "protocol": protocol_schema()}


def schema(name, part=None):
    """Return a validator of a schema, or of one part of it."""
    whole = SCHEMAS[name]
    if part:
        whole = {"$schema": whole["$schema"], "$ref": f"#/$defs/{part}", "$defs": whole["$defs"]}
    return jsonschema.Draft202012Validator(whole)


def each_test(file):
    """Yield (group, test) of a file."""
    for group in file["groups"]:
        for test in group["tests"]:
            yield group, test


def sampled(file):
    """Return a file with the first and last tests of each group: to validate all takes seconds."""
    groups = [{**g, "tests": [*g["tests"][:2], *g["tests"][-2:]]} for g in file["groups"]]
    return {**file, "groups": groups}


# --- files -----------------------------------------------------------------------------------


def test_the_schemas_are_valid():
    for name in SCHEMAS:
        jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.one_in(5)
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_matches_the_schema_and_every_test_its_table(kind):
    schema("vectors").validate(sampled(load_file(kind)))
    table = vector_table(kind)
    for _, test in each_test(load_file(kind)):
        assert table.wrong(test, "the test") == ""


def test_the_schema_refuses_a_number_an_unknown_formula_and_another_version():
    for spoil in (
        lambda f: f["groups"][0]["tests"][0].update(slope=12.5),
        lambda f: f["groups"][0].update(formula="backward"),
        lambda f: f.update(format_version=2),
    ):
        file = copy.deepcopy(sampled(load_file("stencil")))
        spoil(file)
        assert not schema("vectors").is_valid(file)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_numbers_its_tests_and_explains_their_flags_and_ambiguity(kind):
    file = load_file(kind)
    names = [group["group"] for group in file["groups"]]
    assert len(names) == len(set(names))
    tests = [test for _, test in each_test(file)]
    assert len(tests) == file["count"] == len(list(load_vectors(kind)))
    assert [test["id"] for test in tests] == [f"{kind}-{n:03}" for n in range(1, len(tests) + 1)]
    assert {flag for test in tests for flag in test["flags"]} == set(file["notes"])
    ambiguous = {flag for flag, note in file["notes"].items() if note["class"] == "AMBIGUOUS"}
    for test in tests:
        assert (test["result"] == "acceptable") == bool(ambiguous.intersection(test["flags"])), test


def test_a_description_states_a_fact_and_is_unique_in_its_group():
    for kind in KINDS:
        for group in load_file(kind)["groups"]:
            said = [test["description"] for test in group["tests"]]
            assert len(set(said)) == len(said), [d for d in said if said.count(d) > 1]
            assert not [d for d in said if len(d) > 70 or "should" in d]


# --- frozen ----------------------------------------------------------------------------------

# The digest of every file of the release: it is published, so none may ever change. The format
# is not here, because its words may become clearer.
PUBLISHED = {
    "vectors/stencil.json": "06fe0e19c09ebb5b",
    "vectors/compare.json": "23ad40c039bc3c70",
    "vectors/escalate.json": "a6691ca9837aeeb2",
    "vectors/verdict.json": "57ef2528b4242a0b",
    "vectors/whole.json": "f3e4e98e3219351c",
    "schemas/vectors.schema.json": "256c2fe52a3dff1c",
    "schemas/protocol.schema.json": "e122a8e4af01da22",
}


def test_published_files_never_change():
    digests = {
        name: hashlib.sha256(content).hexdigest()[:16]
        for name, content in exported().items()
        if name.startswith(("vectors/", "schemas/"))
    }
    assert (VERSION, digests) == ("v1", PUBLISHED)


def test_the_license_goes_with_the_vectors():
    assert (VECTORS / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_what_computes_in_low_precision_is_optional_and_nothing_else():
    low = {v.group for v in load_vectors() if "LowPrecision" in v.flags}
    assert load_optional() == low
    assert all("LowPrecision" in v.flags for v in load_vectors("verdict") if v.group in low)


# --- generated -------------------------------------------------------------------------------


# Flags that the generator finds by itself; the others belong to the question.
FOUND = {
    *("StepTaken", "StepWished", "OneSided", "IgnoredSample", "Overflow"),
    *("NumericIsReference", "WrongSignPasses", "Percentage", "WithinRounding"),
    *("StopsAtForward", "StopsAtCentral", "GoesToTheEnd", "SlopeIsReference", "Nonfinite"),
}
WRONG = {
    "close": lambda close: not close,
    "order": lambda order: 7 - order,
    "result": {"valid": "invalid", "invalid": "valid", "acceptable": "valid"}.get,
}


@pytest.mark.slow
def test_every_answer_is_computed_again_without_numpy_or_this_package(tmp_path):
    shutil.copytree(ORACLE / "generate", tmp_path / "oracle" / "generate")
    shutil.copytree(VECTORS, tmp_path / "oracle" / "vectors")
    for path in (tmp_path / "oracle" / "vectors" / VERSION).iterdir():
        file = json.loads(path.read_text("utf-8"))
        for _, test in each_test(file):  # what the generator must not believe
            for key in ("slope", "error", "relative", "percent", "spread", "within", "refused"):
                test.pop(key, None)
            test |= {key: wrong(test[key]) for key, wrong in WRONG.items() if key in test}
            test["flags"] = [flag for flag in test["flags"] if flag not in FOUND]
        path.write_text(json.dumps(file), encoding="utf-8")
    # -S: no installed package can be imported; -I: neither can the checkout.
    code = "import runpy, sys; sys.path.insert(0, '.'); runpy.run_module('generate.__main__')"
    done = ran(sys.executable, "-I", "-S", "-c", code, cwd=tmp_path / "oracle")
    assert (done.returncode, done.stderr) == (0, "")
    for path in (VECTORS / VERSION).iterdir():
        again = tmp_path / "oracle" / "vectors" / VERSION / path.name
        assert again.read_bytes() == path.read_bytes()


def test_the_generator_does_not_change_the_callers_decimal_context():
    before = decimal.getcontext().prec
    draw(["verdict/sine"], 1, 0)
    assert decimal.getcontext().prec == before


# --- right -----------------------------------------------------------------------------------


def replies(kind):
    """Return what this package answers, with each vector of a kind that is asked.

    Of the verdicts, which take long, it is the first of every group, and one in 40 of the others;
    `.ci/run` has all of them judged.
    """
    met, asked = Counter[str](), []
    for vector in load_vectors(kind):
        if kind != "verdict" or met[vector.group] % 40 == 0:
            asked.append(vector)
        met[vector.group] += 1
    return [(v, answer_line(json.dumps(v.request), "gradcheck_ref")) for v in asked]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("kind", KINDS)
def test_this_package_answers_like_the_oracle_in_the_words_of_the_schema(kind):
    request, reply = schema("protocol", f"ask_{kind}"), schema("protocol", f"reply_{kind}")
    met = set()
    for vector, answered in replies(kind):
        outcome = judge(vector, answered)
        assert outcome.status in ("passed", "ambiguous"), outcome
        told = {k: v for k, v in vector.request.items() if k not in ("id", "ask")}
        assert ASKED[kind].wrong(told, "the request") == ""
        if vector.group not in met:  # to validate all takes seconds
            met.add(vector.group)
            request.validate(vector.request)
            reply.validate(answered)
    assert met == {vector.group for vector in load_vectors(kind)}


# --- documented ------------------------------------------------------------------------------


def test_every_page_states_the_right_number_of_vectors():
    total, told = len(list(load_vectors())), re.compile(r"\b(\d+)\s(?:questions|frozen vectors)")
    for page in ("docs/judge.md", "CHANGELOG.md", "README.md"):
        assert told.findall((ROOT / page).read_text("utf-8")) == [str(total)], page
    count = sum(vector.counts for vector in load_vectors())
    page = (ROOT / "docs" / "judge.md").read_text("utf-8")
    assert f"{count} of them count" in page


def test_the_examples_of_the_format_are_vectors():
    page = (ORACLE / "FORMAT.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    lines = [
        json.loads(line) for block in blocks for line in block.replace("\n ", " ").splitlines()
    ]
    known = {v.id: v for v in load_vectors()}
    assert len(lines) == 6
    for request, reply in zip(lines[::2], lines[1::2], strict=True):
        schema("protocol", "ask").validate(request)
        schema("protocol", "reply").validate(reply)
        if vector := known.get(request["id"]):
            assert request == vector.request
            assert judge(vector, reply).status == "passed"
