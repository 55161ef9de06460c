"""What is asked, and where: names, files instead of a conversation, drawn vectors, an export."""

import json
import sys

import pytest
from mutants.clients import RIGHT

from gradcheck_ref.oracle.chosen import UnknownNameError, chosen
from gradcheck_ref.oracle.offline import judged
from gradcheck_ref.oracle.runner import ImplementationError, run
from gradcheck_ref.oracle.summary import Summary
from gradcheck_ref.oracle.vectors import load_vectors

ANSWER = RIGHT[0].start()
CENTRAL = [v for v in load_vectors("stencil") if v.group == "stencil/central"]
HELLO = {"id": "hello", "protocol": 1, "name": "by post 1", "answers": ["stencil/central"]}


# --- names -----------------------------------------------------------------------------------


def test_a_name_means_an_id_a_group_a_kind_or_a_flag_and_the_first_unknown_ones_are_listed():
    for name in ("stencil-001", "stencil/central", "stencil", "OneSided"):
        found = chosen(load_vectors("stencil"), [name])
        assert found
        assert all(name in (v.id, v.group, v.kind, *v.flags) for v in found)
    with pytest.raises(UnknownNameError, match="called a, b, c and 2 more"):
        chosen(load_vectors("stencil"), ["e", "d", "stencil", "c", "b", "a"])


# --- by post ---------------------------------------------------------------------------------


def posted():
    """Return hello and right replies to the central ones."""
    replies = [HELLO, *({"id": v.id, **ANSWER(v.request)} for v in CENTRAL)]
    return [json.dumps(reply).encode() for reply in replies]


def test_right_replies_pass_and_hello_names_the_answered_kinds():
    found = judged(posted(), load_vectors(), "file")
    assert (found.name, len(found.outcomes)) == ("by post 1", len(CENTRAL))
    assert len(found.declined) == len(list(load_vectors())) - len(CENTRAL)
    assert Summary(found).right


def test_without_a_hello_the_replies_decide_which_kinds_count():
    found = judged(posted()[1:], load_vectors(), "file")
    assert (found.name, found.answers) == ("file", ["stencil"])
    unanswered = [o for o in found.outcomes if o.status == "error"]
    assert len(unanswered) == len(list(load_vectors("stencil"))) - len(CENTRAL)


# What stands in the place of the reply to one question, or of the first reply, to hello.
SAYS = """
import json, os, sys
lines = json.load(open(sys.argv[1]))
for line in sys.stdin:
    for said in lines[json.loads(line)["id"]]:
        os.write(1, said.encode("latin-1") + b"\\n")
"""
FEW = CENTRAL[:6]
REPLIES = {v.id: json.dumps({"id": v.id, **ANSWER(v.request)}) for v in FEW}
HERE = FEW[2].id
WRONG = json.dumps({"id": HERE, "slope": "0.125"})
ALIKE = {
    "all is right": [REPLIES[HERE]],
    "a wrong slope": [WRONG],
    "an empty line before": ["", REPLIES[HERE], " "],
    "words before": ["let me see", REPLIES[HERE]],
    "words alone": ["let me see"],
    "an unknown id": ['{"id": "stencil-x", "slope": "1"}'],
    "an id that is not asked": ['{"id": "compare-001", "close": true}', REPLIES[HERE]],
    "two replies": [REPLIES[HERE], REPLIES[HERE]],
    "a second hello": [json.dumps(HELLO), REPLIES[HERE]],
    "UTF-16": [REPLIES[HERE].encode("utf-16").decode("latin-1")],
    "a line of two million bytes": ["x" * 2_000_000],
    "no slope": [f'{{"id": "{HERE}"}}', REPLIES[HERE]],
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("what", ALIKE)
def test_a_conversation_and_a_file_get_the_same_judgment(what, tmp_path):
    said = {"hello": [json.dumps(HELLO)]} | {i: [line] for i, line in REPLIES.items()}
    said[HERE] = ALIKE[what]
    (tmp_path / "said.json").write_text(json.dumps(said))
    lines = [line.encode("latin-1") for lines in said.values() for line in lines]
    by_post = judged(lines, FEW, "file")
    program = [sys.executable, "-I", "-S", "-c", SAYS, str(tmp_path / "said.json")]
    live = run(program, FEW, timeout=2)
    for found in (by_post, live):
        assert [o.vector for o in found.outcomes] == FEW
    assert [o.status for o in live.outcomes] == [o.status for o in by_post.outcomes]
    assert (live.strays, live.first_stray) == (by_post.strays, by_post.first_stray)
    assert Summary(live).sentence == Summary(by_post).sentence
    assert Summary(live).right == (what in ("all is right", "an empty line before"))


NOTHING = {
    "no lines": ([], "there is no reply to anything that is asked$"),
    "no id": ([b"{}"], "the first line that is none has the id null"),
    "another protocol": (
        [json.dumps({**HELLO, "protocol": True}).encode()], "protocol is true, not 1"),
    "another seed": (
        [json.dumps(HELLO).encode(), b'{"id": "stencil-random-7-3", "slope": "1"}'],
        "it was drawn from seed 7, --random N --seed 7"),
}  # fmt: skip


@pytest.mark.parametrize("what", NOTHING)
def test_a_file_without_replies_is_an_error(what):
    lines, said = NOTHING[what]
    with pytest.raises(ImplementationError, match=said):
        judged(lines, load_vectors(), "file")


def test_a_reply_to_a_kind_that_hello_does_not_promise_is_ignored():
    other = next(v for v in load_vectors("verdict"))
    reply = json.dumps({"id": other.id, "problem": "unknown question"}).encode()
    found = judged([*posted(), reply], load_vectors(), "file")
    assert (len(found.outcomes), found.strays) == (len(CENTRAL), 0)
    assert Summary(found).right
