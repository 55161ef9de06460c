"""The runner survives whatever an implementation does, and blames the right vector for it."""

import dataclasses
import sys
import time

import pytest

from gradcheck_ref.oracle import runner as module
from gradcheck_ref.oracle.runner import ImplementationError, run
from gradcheck_ref.oracle.summary import Summary
from gradcheck_ref.oracle.vectors import load_vectors

VECTORS = [v for v in load_vectors("stencil") if v.group == "stencil/forward"][:8]
CENTRAL = [v for v in load_vectors("stencil") if v.group == "stencil/central"]
BAD = VECTORS[3]  # the request at which the child misbehaves; others are on the way behind it

# A right implementation of the forward difference, but for what it does at one request.
CHILD = """
import json, os, sys, time

def say(reply):
    print(reply if isinstance(reply, str) else json.dumps(reply), flush=True)

for line in sys.stdin:
    request = json.loads(line)
    id = request["id"]
    if request["ask"] == "hello":
        say({"id": id, "protocol": 1, "name": "child", "answers": ["stencil/forward"]})
        AFTER_HELLO
        continue
    (_, _), (_, _), (x, here), (ahead, there), _ = (map(float, s) for s in request["samples"])
    right = {"id": id, "slope": repr((there - here) / (ahead - x))}
    if id == BAD:
        MISBEHAVE
    else:
        say(right)
"""


def child(misbehave="say(right)", after_hello="pass"):
    """Return the command of a child that does this at the request BAD."""
    code = CHILD.replace("AFTER_HELLO", after_hello).replace("MISBEHAVE", misbehave)
    return [sys.executable, "-I", "-S", "-c", code.replace("BAD", repr(BAD.id))]


def outcomes_of(found):
    """Return the statuses by id."""
    return {o.vector.id: o.status for o in found.outcomes}


ALL_RIGHT = {v.id: "passed" for v in VECTORS}


def test_a_right_implementation_passes_and_is_asked_what_hello_promises():
    seen = []
    found = run(child(), [*VECTORS, *CENTRAL], progress=lambda *told: seen.append(told))
    assert seen[-1] == (len(VECTORS), len(VECTORS))
    assert outcomes_of(found) == ALL_RIGHT
    assert found.declined == CENTRAL
    assert (found.name, found.restarts, found.strays) == ("child", 0, 0)


# What ends it: (its code; the status of the vector; what is said)
FATAL = {
    "a segmentation fault": ("os.kill(os.getpid(), 11)", "error", "ended with status -11"),
    "an exit that looks like success": ("sys.exit(0)", "error", "ended with status 0"),
    "silence": ("time.sleep(60)", "error", "no reply within 1 s"),
    "closed output": ("os.close(1); time.sleep(60)", "error", "closed its output"),
    "half a reply": ("os.write(1, b'{\"id'); os._exit(1)", "error", 'middle of a line: {"id'),
    "a reply of two million bytes": ("say('x' * 2000000)", "error", "more than 1000000"),
}
# What it survives, and in the end what is its right.
SURVIVED = {
    "a line of words": ("say('let me see')", "error", "not JSON"),
    "another id": ("say({**right, 'id': 'stencil-x'})", "error", "the id stencil-x"),
    "a number for an id": ("say({**right, 'id': 4})", "error", "the id 4"),
    "a list for an id": ("say({**right, 'id': [id]})", "error", 'the id ["'),
    "no id": ("say({'slope': '1'})", "error", "the id null"),
    "no slope": ("say({'id': id})", "error", "no slope"),
    "a problem": ("say({'id': id, 'problem': 'no idea'})", "error", "no idea"),
    "two replies": ("say(right); say(right)", "error", "replied to twice"),
    "NaN as a string": ("say({**right, 'slope': 'nan'})", "failed", "slope is nan"),
    "a wrong slope": ("say({**right, 'slope': '1'})", "failed", "slope is 1, expected"),
    "a refusal": ("say({'id': id, 'refused': 'no'})", "failed", "there is an answer"),
    "further keys": ("say({**right, 'took': 3})", "passed", ""),
    "a flood on stderr": ("sys.stderr.write('e' * 5_000_000); say(right)", "passed", ""),
    "a child of its own": ("os.system('sleep 60 &'); say(right)", "passed", ""),
    "empty lines": ("say(''); say(' '); say(right); say('')", "passed", ""),
    "a reply in pieces": (
        "[os.write(1, bytes([b])) for b in (json.dumps(right) + '\\n').encode()]", "passed", ""),
}  # fmt: skip


@pytest.mark.one_in(8)
@pytest.mark.parametrize("table", [FATAL, SURVIVED], ids=["it ends", "it goes on"])
def test_misbehavior_is_blamed_only_on_its_request(table):
    """One child does all of it, each at a request of its own; right ones between."""
    vectors = [renamed(VECTORS[n % len(VECTORS)], n) for n in range(2 * len(table))]
    odd = {v.id: code for v, (code, *_) in zip(vectors[::2], table.values(), strict=True)}
    code = CHILD.replace("AFTER_HELLO", "pass").replace(
        "    if id == BAD:\n        MISBEHAVE\n", f"    if id in {odd}: exec({odd}[id])\n"
    )
    before = time.monotonic()
    found = run([sys.executable, "-I", "-S", "-c", code], vectors, timeout=1.0)
    assert time.monotonic() - before < 30
    assert bool(found.restarts) == (table is FATAL)
    assert {o.status for o in found.outcomes[1::2]} == {"passed"}
    for outcome, (_, status, said) in zip(found.outcomes[::2], table.values(), strict=True):
        assert (outcome.status, said in outcome.why) == (status, True), outcome


def test_replies_may_come_in_any_order():
    keep = "if id in (BAD, %r): kept.append(right) if id == BAD else [say(right), say(kept[0])]"
    code = CHILD.replace("AFTER_HELLO", "kept = []").replace(
        "    if id == BAD:\n        MISBEHAVE\n", f"    {keep % VECTORS[4].id}\n"
    )
    command = [sys.executable, "-I", "-S", "-c", code.replace("BAD", repr(BAD.id))]
    found = run(command, VECTORS)
    assert (outcomes_of(found), found.strays) == (ALL_RIGHT, 0)


# What it does instead of replying: (its code; how long it may take; the last thing said).
HOPELESS = {
    "it is slow": ("time.sleep(600)", {"longest": 0.8}, "the time that all of it may take is over"),
    "it never reads": ("time.sleep(600)", {"timeout": 0.5}, "it was silent 3 times in a row"),
    "it always ends": ("os._exit(1)", {}, "it ended 8 times in a row without a reply"),
    "a flood of lines": ("while True: say('spam')", {}, ""),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("what", HOPELESS)
def test_a_hopeless_child_is_abandoned_and_each_vector_is_an_error(what, monkeypatch):
    code, limits, said = HOPELESS[what]
    monkeypatch.setattr(module, "MOST_ENDS", 8)  # each is a process started again
    many = [renamed(VECTORS[0], n) for n in range(2000)]  # more than a pipe holds
    before = time.monotonic()
    seen = []
    found = run(child(after_hello=code), many, **limits, progress=lambda *told: seen.append(told))
    assert time.monotonic() - before < 30
    assert seen[-1] == (2000, 2000)
    assert (len(found.outcomes), {o.status for o in found.outcomes}) == (2000, {"error"})
    assert found.outcomes[-1].why.endswith(said and f"not asked: {said}")


# What it does once its input has ended: (its code; lines that are no reply; how it ended).
WHOLE, ONE_WRONG = ALL_RIGHT, {**ALL_RIGHT, VECTORS[-1].id: "error"}
LEAVING = {
    "nothing": ("pass", WHOLE, 0, ""),
    "an empty line": ("say('')", WHOLE, 0, ""),
    "words without an end of line": ("os.write(1, b'bye')", WHOLE, 1, ""),
    "another reply": ("say(right)", ONE_WRONG, 0, ""),
    "exit status 3": ("sys.exit(3)", WHOLE, 0, "ended with status 3"),
    "words, late": ("time.sleep(0.1); say('bye')", WHOLE, 1, ""),
    "no end": ("time.sleep(60)", WHOLE, 0, ""),
    "a line of two million bytes": ("os.write(1, b'x' * 2000000)", WHOLE, 1, ""),
    "words, for ever": ("while True: print('bye')", WHOLE, range(1, 200_000), ""),
    "empty lines, for ever": ("while True: print()", WHOLE, 0, ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", LEAVING)
def test_misbehavior_after_the_last_question_counts(what):
    code, outcomes, strays, ending = LEAVING[what]
    command, before = child(), time.monotonic()
    found = run([*command[:-1], f"{command[-1]}\n{code}\n"], VECTORS)
    assert time.monotonic() - before < 10
    assert outcomes_of(found) == outcomes
    assert found.strays in (strays if isinstance(strays, range) else [strays])
    assert found.ending.startswith(ending)
    assert bool(found.ending) == bool(ending)
    assert Summary(found).right == (outcomes is WHOLE and not strays and not ending)
    assert ("protocol error" in Summary(found).sentence) == bool(strays or ending)


def test_a_single_crash_is_reported_though_all_replies_are_right(tmp_path):
    code = f"open({str(tmp_path / 'once')!r}, 'x')"  # raises the second time
    once = f"try: {code}\n        except OSError: say(right)\n        else: os._exit(1)"
    found = run(child(once), VECTORS)
    assert outcomes_of(found) == ALL_RIGHT
    assert found.restarts == 1


# --- hello -----------------------------------------------------------------------------------

HELLO = "import sys, time, os; line = sys.stdin.readline(); {}; sys.stdout.flush(); time.sleep(60)"
NO_HELLO = {
    "nothing": ("pass", "no reply to hello within 0.5 s"),
    "a crash": ("sys.exit('dying')", "dying"),
    "no JSON": ("print('Loading ...')", r"is not JSON: .* It is: Loading .* belongs on stderr"),
    "an echo": ("print(line)", "has no answers and no name"),
    "another protocol": (
        "print(line.replace('\"protocol\": 1', '\"protocol\": 2'))", '"protocol": 1'),
    "answers of another kind": (
        "print(line.replace('ask', 'name').replace('}', ', \"answers\": [\"magic\"]}'))",
        "none of that is asked"),
    "too much": ("print('x' * 2000000)", "more than 1000000 bytes"),
    "empty lines, for ever": ("[print() for _ in iter(int, 1)]", "no reply to hello within 0.5 s"),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize("what", NO_HELLO)
def test_without_a_right_hello_there_is_nothing_to_judge(what):
    code, said = NO_HELLO[what]
    timeout = 0.5 if "within 0.5 s" in said else 10
    with pytest.raises(ImplementationError, match=said):
        run([sys.executable, "-I", "-S", "-c", HELLO.format(code)], VECTORS, timeout=timeout)


def renamed(vector, n):
    """Return the vector with an id of its own."""
    identity = f"{vector.id}-{n}"
    return dataclasses.replace(vector, id=identity, request={**vector.request, "id": identity})
