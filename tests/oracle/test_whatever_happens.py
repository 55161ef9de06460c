"""Whatever a program replies and whatever happens: data, and a reason where there is no result."""

import json
import os
import signal
import sys
from xml.etree import ElementTree

import pytest
from beside import status_of

from gradcheck_ref import __main__
from gradcheck_ref.oracle import commands
from gradcheck_ref.oracle.vectors import load_vectors

GROUPS = ("stencil/forward", "compare/tvm", "escalate/taken")
VECTORS = [v for v in load_vectors("stencil", "compare", "escalate") if v.group in GROUPS]
HELLO = {
    "id": "hello",
    "protocol": 1,
    "name": "mine",
    "answers": ["stencil", "compare", "escalate"],
}

# A number as some languages write it, and what is said of it where they are known for it.
HINTS = {
    '"0,5"': "the decimal point is a point",
    '"1.5D+01"': "has a D in its exponent",
    '"0x1.8p+1"': "is hexadecimal",
    '"2.5f64"': "has an f",
    '"1.#INF"': "an old C library",
    '"13/2"': "is a fraction",
    '"1.5-101"': "has an exponent without a letter",
    '"***"': "a field is too narrow",
    '"NA"': 'is a missing value: write "nan"',
    '" 1.5"': "has blanks around it: remove them",
}
# No number that a reader of a reply has.
FOREIGN = [
    *(*HINTS, '"2.5f0"', '"-1.#IND00"', '"13//2"', '"+inf.0"'),
    *('"1.5 "', '"1_000"', '"1.5\\n"', '""', '"\u0661"', '"\u00bd"', '"1e"', '"e5"'),
    *('"--1"', '"1e5.5"', '"\\ud800"', '"\\u0000"', '"true"', '"1+2i"', "1.5", "1e999", "-0"),
    *("true", "false", "null", "[]", "{}", '[["1"]]', '["1", null]', '{"re": "1"}', '"x" * 5000'),
    *("'1'", "1,5", '"1' + "0" * 500 + '"', "1" * 500, "NaN", "Infinity", "[" * 200 + "]" * 200),
]  # fmt: skip
# These may be the right answer, if a double has no such exponent.
HUGE = ['"1e-999999999999999999999"', '"9e999999999999"', '"0e99999999999999999999"']


@pytest.fixture
def judged(capsys, tmp_path):
    """Return what the command line makes of replies: its status, its data, and its JUnit file."""

    def judged(lines, vectors):
        replies, junit = tmp_path / "replies", tmp_path / "junit.xml"
        replies.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
        asked = [word for vector in vectors for word in ("--only", vector.id)]
        given = [*asked, "--json", "--junit", str(junit), str(replies)]
        status = status_of(__main__.main, "oracle", "judge", *given)
        data = json.loads(capsys.readouterr().out)
        return status, data, ElementTree.parse(junit).getroot()

    return judged


def test_a_number_in_a_foreign_form_is_an_error_with_a_hint(judged):
    """Each stands for every number of a reply, in each of the groups."""
    answers = {
        "stencil": '"slope": {0}',
        "compare": '"close": true, "error": {0}, "percent": {0}',
        "escalate": '"order": 4, "slope": {0}',
    }
    asked, lines = {}, [json.dumps(HELLO)]
    for group in GROUPS:
        vectors = [v for v in VECTORS if v.group == group and v.counts]
        for vector, said in zip(vectors, [*FOREIGN, *HUGE], strict=False):
            asked[vector.id] = said
            lines.append(f'{{"id": "{vector.id}", {answers[vector.kind].format(said)}}}')
    assert set(asked.values()) == {*FOREIGN, *HUGE}
    vectors = [v for v in VECTORS if v.id in asked]
    status, data, junit = judged(lines, vectors)
    assert (status, data["no_result"], len(junit)) == (1, "", len(GROUPS))
    outcomes = {o["id"]: (o["status"], o["why"]) for o in data["outcomes"]}
    for identity, said in asked.items():
        status, why = outcomes.get(identity, ("passed", ""))
        assert status in ("error", "failed") or said in HUGE, said
        assert HINTS.get(said, "") in why


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
        'print(json.dumps({"id": q["id"], "slope": "1"}), flush=True); time.sleep(0.3); ',
        "it was stopped after 1 of ",
    ),
}


@pytest.mark.one_in(8)
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs the signals of POSIX")
@pytest.mark.parametrize("when", STOPS)
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_what_is_stopped_leaves_data_and_no_program(when, how, capsys, tmp_path, request):
    before, why = STOPS[when]
    junit, alive = tmp_path / "junit.xml", tmp_path / "alive"
    number, handled = getattr(signal, how), signal.SIG_DFL
    if how == "SIGINT":
        handled = signal.default_int_handler
    # Behind nohup, or in the background, a signal may be ignored.
    ours = signal.signal(number, handled)
    request.addfinalizer(lambda: signal.signal(number, ours))
    child = (
        "import json, os, signal, time; input(); "
        f"open({str(alive)!r}, 'w').write(str(os.getpid())); {before}"
        f"os.kill(os.getppid(), signal.{how}); time.sleep(60)"
    )
    asked = [word for group in GROUPS for word in ("--only", group)]
    program = ["--", sys.executable, "-I", "-S", "-c", child]
    assert __main__.main(["oracle", "test", "--json", "--junit", str(junit), *asked, *program]) == 2
    out, err = capsys.readouterr()
    assert err == "\nStopped.\n"
    data = json.loads(out)
    assert data["no_result"].startswith(why)
    assert [o["status"] for o in data["outcomes"]] == ["failed"] * (when != "before hello")
    assert ElementTree.parse(junit).getroot()[0].get("name") == "the run"
    assert signal.getsignal(number) == handled
    with pytest.raises(ProcessLookupError):
        os.kill(int(alive.read_text()), 0)
