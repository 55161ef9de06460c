"""The vectors: well formed, frozen, computed from nothing but exact arithmetic, and right."""

import functools
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from gradcheck_ref.oracle import vectors as module
from gradcheck_ref.oracle.generate.layout import canonical
from gradcheck_ref.oracle.generate.numbers import text, texts
from gradcheck_ref.oracle.judge import judge
from gradcheck_ref.oracle.protocol import answer_line, serve
from gradcheck_ref.oracle.vectors import KINDS, load_file, load_vectors

ROOT = Path(__file__).parents[1]
ORACLE = ROOT / "gradcheck_ref" / "oracle"
FILES = {kind: ORACLE / "vectors" / "v1" / f"{kind}.json" for kind in KINDS}
SCHEMAS = {
    name: json.loads((ORACLE / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    for name in ("vectors", "protocol")
}


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


# --- files -----------------------------------------------------------------------------------

LEAST = {"stencil": 150, "compare": 300, "escalate": 100, "verdict": 200}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_keeps_the_schema(kind):
    schema("vectors").validate(load_file(kind))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda f: f["groups"][0]["tests"][0].update(slope=12.5),
        lambda f: f["groups"][0]["tests"][0].update(slope="1.0e+5"),
        lambda f: f["groups"][0]["tests"][0].update(sloep="1"),
        lambda f: f["groups"][0]["tests"][0].pop("samples"),
        lambda f: f["groups"][0]["tests"][0].update(refused=True),
        lambda f: f["groups"][0].update(formula="backward"),
        lambda f: f.update(format_version=2),
    ],
    ids=["a number", "another notation", "a misspelt key", "no input", "both", "unknown", "other"],
)
def test_the_schema_refuses(spoil):
    file = load_file("stencil")
    spoil(file)
    with pytest.raises(jsonschema.ValidationError):
        schema("vectors").validate(file)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_written_in_the_one_way_there_is(kind):
    written = FILES[kind].read_text(encoding="utf-8")
    assert written == canonical(json.loads(written))


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_counts_its_tests_and_numbers_them(kind):
    file = load_file(kind)
    ids = [test["id"] for _, test in each_test(file)]
    assert sorted(ids) == [f"{kind}-{n:03}" for n in range(1, file["count"] + 1)]
    assert file["count"] >= LEAST[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_flags_are_used_exactly_when_they_are_explained(kind):
    file = load_file(kind)
    used = {flag for _, test in each_test(file) for flag in test["flags"]}
    assert used == set(file["notes"])


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_acceptable_has_a_flag_that_says_why(kind):
    file = load_file(kind)
    ambiguous = {flag for flag, note in file["notes"].items() if note["class"] == "AMBIGUOUS"}
    for _, test in each_test(file):
        assert (test["result"] == "acceptable") == bool(ambiguous.intersection(test["flags"])), test


@pytest.mark.parametrize("kind", KINDS)
def test_a_description_states_a_fact_and_is_unique_where_it_stands(kind):
    for group in load_file(kind)["groups"]:
        said = [test["description"] for test in group["tests"]]
        assert len(set(said)) == len(said)
        assert not [d for d in said if len(d) > 70 or "should" in d]


def test_the_seeds_numbers_are_among_them():
    warp = next(
        v for v in load_vectors("compare") if v.group == "compare/warp" and "SeedRow" in v.flags
    )
    assert (warp.request["analytic"], warp.request["numeric"]) == (["4.84e-5"], ["0.0002235"])
    assert warp.expected["close"]
    thresholds = {v.request["rtol"] for v in load_vectors("compare") if "Threshold" in v.flags}
    assert thresholds == {"0.01", "0.0001", "1e-7"}


def test_every_rule_meets_every_kind_of_trouble():
    """Each rule has NaN, infinities, signed zeros, subnormals, overflow and shapes."""
    wanted = {
        *("NaNOnBothSides", "NaN", "Infinity", "SignedZero", "Subnormal", "ExtremeScale", "Shape"),
        "SeedRow",
    }
    flags: dict[str, set[str]] = {}
    for group, test in each_test(load_file("compare")):
        flags.setdefault(group["group"], set()).update(test["flags"])
    assert len(flags) == 12
    for group, met in flags.items():
        assert wanted <= met, group
        assert "ExactTie" in met, group


# --- frozen ----------------------------------------------------------------------------------

# The first so many tests of each kind, by id, as they were published. Append lines, never edit one.
PUBLISHED = [
    ("stencil", 249, "8a316cc3ecdca3d4"),
    ("compare", 710, "71adf2c2a063f675"),
    ("escalate", 183, "611109273ae35f9a"),
    ("verdict", 384, "5c6908b383e2673b"),
    ("stencil", 252, "f9927ecb4fa04039"),
    ("compare", 711, "3247e496227f1a68"),
]


def digest(kind, count):
    """Digest the first tests of a kind, with what they share with their group."""
    first = sorted(
        (
            {**{k: v for k, v in group.items() if k not in ("tests", "source")}, **test}
            for group, test in each_test(load_file(kind))
        ),
        key=lambda test: test["id"],
    )[:count]
    return hashlib.sha256(json.dumps(first, sort_keys=True).encode()).hexdigest()[:16]


@pytest.mark.parametrize(("kind", "count", "published"), PUBLISHED)
def test_what_is_published_never_changes(kind, count, published):
    assert digest(kind, count) == published


def test_a_changed_vector_is_noticed(monkeypatch):
    kind, count, published = PUBLISHED[0]
    file = load_file(kind)
    file["groups"][0]["tests"][0]["slope"] = "12.765626"
    monkeypatch.setattr(sys.modules[__name__], "load_file", lambda kind: file)
    assert digest(kind, count) != published


def test_a_vector_that_was_replaced_is_not_asked(monkeypatch):
    file = load_file("stencil")
    first, second = file["groups"][0]["tests"][:2]
    second["reimplements"] = first["id"]
    monkeypatch.setattr(module, "load_file", lambda kind: file)
    asked = [v.id for v in load_vectors("stencil")]
    assert first["id"] not in asked
    assert second["id"] in asked
    assert len(asked) == file["count"] - 1


# --- generated -------------------------------------------------------------------------------


def test_generating_again_without_numpy_and_without_this_package_changes_nothing(tmp_path):
    shutil.copytree(ORACLE / "generate", tmp_path / "oracle" / "generate")
    (tmp_path / "oracle" / "vectors" / "v1").mkdir(parents=True)
    # -S: no installed package can be imported; -I: neither can the checkout.
    code = "import runpy, sys; sys.path.insert(0, '.'); runpy.run_module('generate.__main__')"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        cwd=tmp_path / "oracle",
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for kind, file in FILES.items():
        again = tmp_path / "oracle" / "vectors" / "v1" / f"{kind}.json"
        assert again.read_bytes() == file.read_bytes()


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.1, "0.1"), (-0.0, "-0"), (2.0, "2"), (1e-7, "1e-7"), (1e22, "1e22"), (5e-324, "5e-324")],
)
def test_a_double_is_written_as_its_shortest_text(value, written):
    assert text(value) == written
    assert float(written) == value
    assert texts([value]) == [written]


# --- right -----------------------------------------------------------------------------------


@functools.cache
def replies(kind):
    """Return what this package answers, with each vector of a kind."""
    return [(v, answer_line(json.dumps(v.request), "gradcheck_ref")) for v in load_vectors(kind)]


@pytest.mark.parametrize("group", sorted({v.group for v in load_vectors()}))
def test_this_package_answers_as_the_oracle_does(group):
    for vector, reply in replies(group.split("/")[0]):
        if vector.group == group:
            outcome = judge(vector, reply)
            assert outcome.status in ("passed", "ambiguous"), outcome


def arrays(vector):
    """Return both gradients and both tolerances."""
    request = vector.request
    a, n = (np.array(request[side], dtype=float) for side in ("analytic", "numeric"))
    return a, n, float(request["rtol"]), float(request["atol"])


@pytest.mark.parametrize(
    "vector",
    [v for v in load_vectors("compare") if v.group == "compare/jax" and "Shape" not in v.flags],
    ids=lambda v: v.description,
)
def test_the_rule_of_jax_is_what_it_calls(vector):
    """JAX calls numpy's testing function, with both tolerances multiplied by the size."""
    a, n, rtol, atol = arrays(vector)
    close = True
    with np.errstate(over="ignore"):
        try:
            np.testing.assert_allclose(a, n, rtol=rtol * n.size, atol=atol * a.size)
        except AssertionError:
            close = False
    assert vector.expected["result"] == "acceptable" or vector.expected["close"] == close


@pytest.mark.parametrize("kind", KINDS)
def test_requests_and_replies_keep_the_schema(kind):
    request, reply = schema("protocol", "request"), schema("protocol", "reply")
    for vector, answered in replies(kind):
        request.validate(vector.request)
        reply.validate(answered)


@pytest.mark.parametrize(
    "line",
    [
        {"id": "stencil-001", "slope": 12.5},
        {"id": "stencil-001", "slope": "12.5.0"},
        {"id": "compare-001", "close": "true", "error": []},
        {"id": "escalate-001", "order": 3, "slope": "1"},
        {"id": "verdict-001", "verdict": "ok"},
        {"id": "verdict-001", "refused": False},
        {"id": "verdict-001", "refused": ""},
        {"slope": "1"},
    ],
    ids=str,
)
def test_the_schema_of_the_protocol_refuses(line):
    with pytest.raises(jsonschema.ValidationError):
        schema("protocol").validate(line)


# --- documented ------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["docs/judge.md", "CHANGELOG.md", "README.md"])
def test_the_number_of_vectors_is_the_same_wherever_it_is_told(page):
    total = sum(load_file(kind)["count"] for kind in KINDS)
    assert re.findall(
        r"\b(\d+)\s(?:questions|frozen vectors)", (ROOT / page).read_text("utf-8")
    ) == [str(total)]


def test_the_examples_of_the_format_are_vectors():
    page = (ORACLE / "FORMAT.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    lines = [
        json.loads(line) for block in blocks for line in block.replace("\n ", " ").splitlines()
    ]
    known = {v.id: v for v in load_vectors()}
    assert len(lines) == 6
    for request, reply in zip(lines[::2], lines[1::2], strict=True):
        schema("protocol", "request").validate(request)
        schema("protocol", "reply").validate(reply)
        if vector := known.get(request["id"]):
            assert request == vector.request
            assert judge(vector, reply).status == "passed"


@pytest.mark.parametrize(
    "line",
    ["", "{", "null", '"a"', "{}", "[" * 100_000, '{"id": NaN}', '{"id": 1e999}', '{"id": []}'],
    ids=lambda line: line[:12] or "blank",
)
def test_a_line_that_is_no_request_is_answered_and_so_is_the_next(line):
    replies = []
    serve([line, '{"id": "hello", "ask": "hello", "protocol": 1}'], replies.append, "mine")
    first, second = map(json.loads, replies)
    assert first["id"] is None
    assert first["problem"].startswith("this is no request: ")
    assert (second["id"], second["name"]) == ("hello", "mine")
