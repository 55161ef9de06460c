"""Whatever a program replies and whatever happens: data, and a reason where there is no result."""

import json
import os
import random
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from gradcheck_ref import __main__
from gradcheck_ref.oracle import commands
from gradcheck_ref.oracle.vectors import load_vectors

ORACLE = [sys.executable, "-m", "gradcheck_ref", "oracle"]
GROUPS = ("stencil/forward", "compare/tvm", "escalate/taken")
ASKED = [word for group in GROUPS for word in ("--only", group)]
VECTORS = [v for v in load_vectors("stencil", "compare", "escalate") if v.group in GROUPS]
FEW = VECTORS[::16]  # of every group, where all get the same reply
HELLO = {
    "id": "hello",
    "protocol": 1,
    "name": "mine",
    "answers": ["stencil", "compare", "escalate"],
}

# A number as some languages write it, and as no reader of a reply has it.
FOREIGN = [
    *('"0,5"', '"1.5D+01"', '"1.5-101"', '"0x1.8p+1"', '"2.5f64"', '"2.5f0"', '"1.#INF"'),
    *('"-1.#IND00"', '"13/2"', '"13//2"', '"NA"', '"+inf.0"', '"***"', '" 1.5"', '"1.5 "'),
    *('"1_000"', '"1.5\\n"', '""', '"\u0661"', '"\u00bd"', '"1e"', '"e5"', '"--1"', '"1e5.5"'),
    *('"\\ud800"', '"\\u0000"', '"true"', '"1+2i"', "1.5", "1e999", "-0", "true", "false", "null"),
    *("[]", "{}", '[["1"]]', '["1", null]', '{"re": "1"}', '"1e-999999999999999999999"'),
    *('"9e999999999999"', '"0e99999999999999999999"', '"1' + "0" * 500 + '"', "1" * 500),
    *("NaN", "Infinity", '"' + "x" * 5000 + '"', "'1'", "1,5", "[" * 200 + "]" * 200),
]  # fmt: skip
KEYS = ("slope", "close", "error", "percent", "order", "refused", "problem", "id")


@pytest.fixture
def judged(capsys, tmp_path):
    """Return what the command line makes of replies: its status, its data, and its JUnit file."""

    def judged(lines, vectors=VECTORS):
        replies, junit = tmp_path / "replies", tmp_path / "junit.xml"
        replies.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
        asked = [word for vector in vectors for word in ("--only", vector.id)]
        given = [*asked, "--json", "--junit", str(junit), str(replies)]
        try:
            status = __main__.main(["oracle", "judge", *given])
        except SystemExit as end:
            status = end.code
        data = json.loads(capsys.readouterr().out)
        return status, data, ElementTree.parse(junit).getroot()

    return judged


def replies_with(said):
    """Write a reply to each of a few questions in which this stands for every number."""
    answers = {
        "stencil": f'"slope": {said}',
        "compare": f'"close": true, "error": {said}, "percent": {said}',
        "escalate": f'"order": 4, "slope": {said}',
    }
    for vector in FEW:
        yield f'{{"id": "{vector.id}", {answers[vector.kind]}}}'


@pytest.mark.parametrize(
    "said", FOREIGN, ids=lambda said: said[:20].encode("unicode_escape").decode()
)
def test_a_number_in_a_foreign_form_is_an_error_with_a_hint(said, judged):
    status, data, junit = judged([json.dumps(HELLO), *replies_with(said)], FEW)
    assert not data["right"]
    assert (status, bool(data["no_result"])) in ((1, False), (2, True))
    assert len(junit) == (len(GROUPS) if status == 1 else 1)


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ('"0,5"', "the decimal point is a point"),
        ('"1.5D+01"', "has a D in its exponent"),
        ('"0x1.8p+1"', "is hexadecimal"),
        ('"2.5f64"', "has an f"),
        ('"1.#INF"', "an old C library"),
        ('"13/2"', "is a fraction"),
    ],
)
def test_the_hint_for_a_foreign_form_is_in_the_data(said, hint, judged):
    _, data, _ = judged([json.dumps(HELLO), *replies_with(said)], FEW)
    assert all(hint in o["why"] for o in data["outcomes"] if o["status"] == "error")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_any_reply_at_all_leaves_data(seed, judged):
    chance = random.Random(seed)
    values = [*FOREIGN, '"1"', "true", '["1", "2"]', '"inf"', '"nan"', '"1.2345678"']
    lines = [json.dumps(HELLO)]
    for vector in VECTORS:
        keys = chance.sample(KEYS, chance.randint(0, 5))
        told = ", ".join(
            [f'"id": "{vector.id}"', *(f'"{k}": {chance.choice(values)}' for k in keys)]
        )
        lines.append(f"{{{told}}}"[: chance.choice((None, None, None, -1, 20))])
    status, data, junit = judged(lines)
    assert (status, data["no_result"]) == (1, "")
    assert sum(int(suite.get("tests")) for suite in junit) == len(VECTORS)
    hello = {**HELLO, chance.choice(["id", "name", "answers", "protocol"]): json.loads('"\\ud800"')}
    status, data, junit = judged([json.dumps(hello), *lines[1:]])
    assert status in (1, 2)
    assert (status == 2) == bool(data["no_result"])


# --- no result -----------------------------------------------------------------------------------

# What is given after `oracle`; the reason in the data.
NOTHING = {
    "no program": (["test", "--", "no-such-program"], "cannot start no-such-program"),
    "an option nobody knows": (["test", "--jsn", "--", "true"], "not understood: --jsn"),
    "a name nobody knows": (["test", "--skip", "x", "--", "true"], "is called x"),
    "no hello": (["test", "--", "true"], "it does not reply to hello"),
    "no time": (["test", "--timeout", "nan", "--", "true"], "--timeout must be"),
    "no file": (["judge", "no-such-file"], "cannot read no-such-file"),
}


@pytest.mark.parametrize("case", NOTHING)
def test_without_a_result_the_data_say_why(case, capsys, tmp_path):
    (action, *rest), why = NOTHING[case]
    junit = tmp_path / "junit.xml"
    with pytest.raises(SystemExit) as end:
        __main__.main(["oracle", action, "--json", "--junit", str(junit), *rest])
    told = capsys.readouterr()
    data = json.loads(told.out)
    assert (end.value.code, data["right"], data["of"], data["score"]) == (2, False, 0, None)
    assert why in data["no_result"]
    assert why in told.err
    assert why in ElementTree.parse(junit).getroot()[0][0][0].get("message")


def test_a_mistake_in_the_runner_leaves_data_and_a_traceback(monkeypatch, capsys):
    def breaks(*_, **__):
        raise RuntimeError("never")

    monkeypatch.setattr(commands, "run", breaks)
    with pytest.raises(RuntimeError):
        __main__.main(["oracle", "test", "--json", "--", "true"])
    assert "it broke: RuntimeError('never')" in json.loads(capsys.readouterr().out)["no_result"]


STOPS = {
    "before hello": ("", "it was stopped before anything was asked"),
    "at the second question": (
        f"print({json.dumps(json.dumps(HELLO))}, flush=True); q = json.loads(input()); "
        'print(json.dumps({"id": q["id"], "slope": "1"}), flush=True); time.sleep(1); ',
        "it was stopped after 1 of ",
    ),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("when", STOPS)
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM"])
def test_what_is_stopped_leaves_data(when, how, tmp_path):
    before, why = STOPS[when]
    junit = tmp_path / "junit.xml"
    child = (
        f"import json, os, signal, time; input(); {before}"
        f"os.kill(os.getppid(), signal.{how}); time.sleep(60)"
    )
    given = ["test", "--json", "--junit", str(junit), *ASKED, "--", sys.executable, "-c", child]
    listening = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", listening, *ORACLE, *given],
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert (done.returncode, done.stderr) == (2, "\nStopped.\n")
    data = json.loads(done.stdout)
    assert data["no_result"].startswith(why)
    assert [o["status"] for o in data["outcomes"]] == ["failed"] * (when != "before hello")
    assert ElementTree.parse(junit).getroot()[0].get("name") == "the run"
