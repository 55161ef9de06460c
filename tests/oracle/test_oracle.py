"""The vectors: well formed, frozen, computed from nothing but exact arithmetic, and right."""

import copy
import decimal
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

from gradcheck_ref.oracle.generate import layout
from gradcheck_ref.oracle.generate.drawn import draw
from gradcheck_ref.oracle.generate.escalate import escalate_vectors
from gradcheck_ref.oracle.judge import judge
from gradcheck_ref.oracle.protocol import answer_line
from gradcheck_ref.oracle.table import ASKED, KINDS, protocol_schema, vector_table, vectors_schema
from gradcheck_ref.oracle.vectors import RELEASES, load_file, load_vectors, vectors_of

ROOT = Path(__file__).parents[2]
ORACLE = ROOT / "gradcheck_ref" / "oracle"
FILES = [(r, k) for r in RELEASES for k in KINDS if layout.read(r, k)["groups"]]
SCHEMAS = {"vectors": vectors_schema(), "protocol": protocol_schema()}


def path_of(release, kind):
    """Return where a file of a release stands."""
    return ORACLE / "vectors" / release / f"{kind}.json"


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
    published = [test for release in RELEASES for _, test in each_test(layout.read(release, kind))]
    replaced = {test.get("reimplements") for test in published} - {None}
    assert len(published) == file["count"] == len(list(load_vectors(kind))) + len(replaced)
    assert {test["id"] for test in tests} == {f"{kind}-{n:03}" for n in range(1, len(tests) + 1)}
    assert {flag for test in tests for flag in test["flags"]} == set(file["notes"])
    ambiguous = {flag for flag, note in file["notes"].items() if note["class"] == "AMBIGUOUS"}
    for test in tests:
        assert (test["result"] == "acceptable") == bool(ambiguous.intersection(test["flags"])), test


def test_a_description_states_a_fact_and_is_unique_in_its_group():
    for release, kind in FILES:
        for group in layout.read(release, kind)["groups"]:
            said = [test["description"] for test in group["tests"]]
            assert len(set(said)) == len(said), [d for d in said if said.count(d) > 1]
            assert not [d for d in said if len(d) > 70 or "should" in d]


# --- frozen ----------------------------------------------------------------------------------

# The digest of every file of a release, from the day it is published. Append; never edit one.
PUBLISHED = {
    "v1/stencil": "4e66f6ae293f1027",
    "v1/compare": "0e11e528924aa2a5",
    "v1/escalate": "824b588422c2705b",
    "v1/verdict": "38f436bd34ce9cca",
    "v1.1/stencil": "34a7d07fe7236f18",
    "v1.1/compare": "0169e9c9184f90c0",
    "v1.1/escalate": "4e892026854a2464",
    "v1.1/verdict": "5c4c3b67b470f354",
    "v1.2/stencil": "900d2d768dda5ab3",
    "v1.2/compare": "23fafdd00ebfd2fd",
    "v1.2/escalate": "7cfb47ba5e99a126",
    "v1.2/verdict": "dbde10a9b8a9fa2e",
    "v1.3/stencil": "5be91672e204df79",
    "v1.3/compare": "1c42aae1f3e6feeb",
    "v1.3/escalate": "4addd2f4c5b2e248",
    "v1.3/verdict": "9b3e2aadae7f966a",
    "v1.3/whole": "fddd7e691bce2b5b",
}


def test_published_files_never_change():
    digests = {
        f"{release}/{kind}": hashlib.sha256(path_of(release, kind).read_bytes()).hexdigest()[:16]
        for release, kind in FILES
    }
    assert digests == PUBLISHED


def test_a_published_test_that_is_no_longer_computed_stops_the_generator(monkeypatch):
    known = layout.published("escalate")
    another = {"another": {"id": "escalate-999"}}
    monkeypatch.setattr(layout, "published", lambda kind: {**known, **another})
    with pytest.raises(AssertionError, match=r"no longer computed: \['escalate-999'\]"):
        escalate_vectors()


def test_a_vector_that_was_replaced_is_not_asked():
    file = copy.deepcopy(load_file("stencil"))
    first, second = file["groups"][0]["tests"][:2]
    second["reimplements"] = first["id"]
    before = {v.id for v in load_vectors("stencil")}
    assert {v.id for v in vectors_of(file)} == before - {first["id"]}


# --- generated -------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_generator_reproduces_the_files_without_numpy_or_this_package(tmp_path):
    shutil.copytree(ORACLE / "generate", tmp_path / "oracle" / "generate")
    for release in layout.PUBLISHED:
        shutil.copytree(ORACLE / "vectors" / release, tmp_path / "oracle" / "vectors" / release)
    # -S: no installed package can be imported; -I: neither can the checkout.
    code = "import runpy, sys; sys.path.insert(0, '.'); runpy.run_module('generate.__main__')"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        cwd=tmp_path / "oracle",
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for kind in KINDS:
        again = tmp_path / "oracle" / "vectors" / layout.OPEN / f"{kind}.json"
        assert again.read_bytes() == path_of(layout.OPEN, kind).read_bytes()


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
    assert f"{count} of them have exactly one" in page
    published = sum(load_file(kind)["count"] for kind in KINDS)
    said = f"({published} were published, but {published - total} were replaced"
    assert said in " ".join(page.split())  # wherever its lines break


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
