"""The command line of the oracle: what is asked, of whom, and how it ends."""

import hashlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from beside import status_of

from gradcheck_ref import __main__
from gradcheck_ref.oracle.chosen import chosen
from gradcheck_ref.oracle.commands import listing, two_numbers
from gradcheck_ref.oracle.judge import judge
from gradcheck_ref.oracle.offline import requests
from gradcheck_ref.oracle.protocol import answer_line
from gradcheck_ref.oracle.table import KINDS
from gradcheck_ref.oracle.vectors import load_file, load_notes, load_vectors, vectors_of

VECTORS = {v.id: v for v in load_vectors()}
SLOPE = VECTORS["stencil-001"]
CLIENT = """
import json, sys

def quotient(a, f_a, b, f_b):
    run = float(b) - float(a)
    refused = not 0 < run < float("inf")
    return {"refused": "x or h"} if refused else {"slope": repr((float(f_b) - float(f_a)) / run)}

for line in sys.stdin:
    request = json.loads(line)
    reply = {"protocol": 1, "name": "mine", "answers": ["ANSWERS"]}
    if request["ask"] != "hello":
        reply = REPLY
    print(json.dumps({"id": request["id"], **reply}), flush=True)
"""


def client(answers, reply):
    """Return the command of a program that answers one group or kind."""
    code = CLIENT.replace("ANSWERS", answers).replace("REPLY", reply)
    return ["--", sys.executable, "-I", "-S", "-c", code]


LAZY = client("stencil/central-upstream", '{"slope": "0"}')
LAZY_GROUP = [v.id for v in VECTORS.values() if v.group == "stencil/central-upstream"]
FAILED = [i for i in LAZY_GROUP if judge(VECTORS[i], {"slope": "0"}).status == "failed"]
PLAIN = client("stencil/forward", 'quotient(*request["samples"][2], *request["samples"][3])')
CHECKER = Path(__file__).parents[2] / "docs" / "examples" / "checker.py"
ALL = ["--", sys.executable, str(CHECKER)]


@pytest.fixture
def command(capsys):
    """Return the command line, within the tests, where NumPy is there already."""

    def command(*arguments):
        status = status_of(__main__.main, "oracle", *arguments)
        return subprocess.CompletedProcess(arguments, status, *capsys.readouterr())

    return command


# (what is asked, what is said)
NO_RESULT = {
    "nothing": ([], "required: list | answer | test"),
    "no program": (["test"], "Give its command after --"),
    "no time": (["test", "--timeout", "nan", "--", "true"], "--timeout must be a positive number"),
    "none drawn": (["test", "--random", "0", "--", "true"], "--random must be a positive number"),
    "no seconds": (
        ["test", "--max-seconds", "-1", "--", "true"], "--max-seconds must be a positive"),
    "an unknown name": (["test", "--skip", "stencil-0", "--", "true"], "is called stencil-0"),
    "no such program": (["test", "--", "no-such-program"], "cannot start no-such-program"),
    "no --": (
        ["test", "./my-checker", "a"], "./my-checker a; put the program to be judged after --"),
    "an option of the program": (
        ["test", "node", "-x", "f.js"], "as in: oracle test -- node -x f.js"),
    "an unknown option": (["test", "--jsn", "--", "true"], "not understood: --jsn; "),
    "no hello": (["test", "--", "true"], "it does not reply to hello"),
    "a flag": (
        ["test", "--random", "5", "--only", "OneSided", *PLAIN],
        "of OneSided nothing is drawn: --only takes kinds and groups there"),
    "what it does not answer": (
        ["test", "--random", "5", "--only", "compare/torch", *PLAIN],
        "of what it answers nothing is drawn"),
    "no such file": (["judge", "no-such-file"], "cannot read no-such-file: "),
    "a command for the list": (["list", "--", "ls"], "only check and oracle test take a command"),
    "an impossible folder": (["export", "/dev/null/x"], "cannot write to /dev/null/x"),
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize("what", NO_RESULT)
def test_without_a_result_there_is_status_2_a_sentence_and_data(what, command, tmp_path):
    arguments, said = NO_RESULT[what]
    done = command(*arguments)
    assert (done.returncode, said in done.stderr) == (2, True)
    assert "Traceback" not in done.stderr
    if arguments[:1] in (["test"], ["judge"]):
        junit = tmp_path / "junit.xml"
        done = command(arguments[0], "--json", "--junit", junit, *arguments[1:])
        data = json.loads(done.stdout)
        assert (done.returncode, said in done.stderr) == (2, True)
        assert (data["right"], data["of"], data["score"]) == (False, 0, None)
        assert said in data["no_result"]
        assert said in ElementTree.parse(junit).getroot()[0][0][0].get("message")


def test_a_file_that_cannot_be_written_is_an_error(command):
    done = command("test", "--junit", "no/such/folder/x", *LAZY)
    assert (done.returncode, "cannot write no/such/folder/x" in done.stderr) == (2, True)


def test_a_wrong_implementation_ends_with_status_1_and_gives_data(tmp_path, command):
    junit = tmp_path / "junit.xml"
    done = command("test", "--json", "--junit", junit, *LAZY)
    assert (done.returncode, done.stderr) == (1, "")
    data = json.loads(done.stdout)
    assert data["implementation"] == "mine"
    assert data["of"] == len(LAZY_GROUP)
    assert [outcome["id"] for outcome in data["outcomes"]] == FAILED
    assert ElementTree.parse(junit).getroot()[0].get("tests") == str(len(LAZY_GROUP))


def test_skipping_all_failures_gives_status_0_and_skipping_everything_2(command, tmp_path):
    names = tmp_path / "names.txt"
    for skipped, status in [(FAILED, 0), (LAZY_GROUP, 2)]:
        names.write_text("".join(f"{identity}  # not yet\n" for identity in skipped))
        done = command("test", "--skip-file", names, *LAZY)
        assert done.returncode == status
        assert f"\nskipped: {len(skipped)}\n" in done.stdout
        assert ("no result, since all that it answers is skipped" in done.stdout) == (status == 2)
        assert ("nothing was judged" in done.stderr) == (status == 2)


def test_expected_failures_can_be_listed_in_a_file(command, tmp_path):
    known = tmp_path / "known.txt"
    known.write_text("\n".join([*FAILED, "compare/torch", "compare-001"]))
    done = command("test", "--expected", known, *LAZY)
    assert done.returncode == 0
    assert f", {len(FAILED)} expected failure" in done.stdout
    assert "expected to fail, but not asked: compare/torch, compare-001\n" in done.stdout


def test_questions_are_written_to_be_answered_and_replies_judged(command, tmp_path):
    asked = command("requests", "--only", "stencil/central", "--only", "compare-045")
    assert asked.returncode == 0
    lines = asked.stdout.splitlines()
    assert lines == list(requests(chosen(load_vectors(), ["stencil/central", "compare-045"])))
    replies = tmp_path / "replies.jsonl"
    replies.write_text("\n".join(json.dumps(answer_line(line, "me")) for line in lines))
    told = command("judge", "--only", "stencil/central", "--only", "compare-045", replies)
    assert (told.returncode, told.stderr) == (0, "")


@pytest.mark.slow
def test_vectors_can_be_drawn_and_a_failure_can_be_repeated(command):
    right = command("test", "--random", "60", "--seed", "7", *PLAIN)
    assert right.returncode == 0
    assert "v1, 60 drawn from seed 7 (stencil/forward): 60 of 60" in right.stdout
    wrong = [*PLAIN[:-1], PLAIN[-1].replace("/ run", "/ (run * (1 + 1e-9))")]
    done = command("test", "--random", "60", "--seed", "7", *wrong)
    assert done.returncode == 1
    request = json.loads(re.search(r"asked +(\{.*\})\n", done.stdout)[1])
    assert request["id"].startswith("stencil-random-7-")
    asked = command("requests", "--random", "60", "--seed", "7", "--only", "stencil/forward")
    assert request in map(json.loads, asked.stdout.splitlines())


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("count", "missing"), [(1, 21), (2, 20), (64, 0)])
def test_too_few_drawn_vectors_per_group_give_no_result(count, missing, command):
    done = command("test", "--random", str(count), *ALL)
    assert done.returncode == (2 if missing else 0)
    assert ("no result, since " in done.stdout) == bool(missing)
    if missing:
        assert f"no result, since {missing} of 22 groups were not drawn\n" in done.stdout
        assert "--random 64 draws every group" in done.stderr
        (line,) = re.findall("^not drawn: (.*)$", done.stdout, re.MULTILINE)
        assert len(line.split(", ")) == missing
        assert line.endswith("whole/products")
        as_data = command("test", "--json", "--random", str(count), *ALL)
        assert not json.loads(as_data.stdout)["right"]


@pytest.mark.slow
def test_questions_may_be_asked_in_another_order(command):
    def asked(*options):
        return command("requests", "--only", "stencil", *options).stdout.splitlines()

    plain, other = asked(), asked("--shuffle", "--seed", "3")
    assert plain[0] == other[0]  # hello
    assert sorted(plain) == sorted(other) != other
    assert asked("--shuffle", "--seed", "3") == other != asked("--shuffle", "--seed", "4")
    done = command("test", "--shuffle", "--seed", "3", *PLAIN)
    assert done.stdout.splitlines()[:2] == command("test", *PLAIN).stdout.splitlines()[:2]


# --- to take along ---------------------------------------------------------------------------


def test_an_export_is_complete_and_has_checksums(command, tmp_path):
    done = command("export", tmp_path / "out")
    assert done.returncode == 0
    written = {
        p.relative_to(tmp_path / "out").as_posix()
        for p in (tmp_path / "out").rglob("*")
        if p.is_file()
    }
    assert len(done.stdout.splitlines()) == len(written)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["sha256"]) == written - {"manifest.json"} > {"LICENSE"}
    for name, digest in manifest["sha256"].items():
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == digest
    for kind in KINDS:
        file = json.loads((tmp_path / "out" / "vectors" / f"{kind}.json").read_text("utf-8"))
        assert manifest["counts"][kind] == file["count"] == load_file(kind)["count"]
        assert vectors_of(file) == list(load_vectors(kind))


def test_words_that_stdout_cannot_show_are_no_traceback(monkeypatch, capsys):
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, "ascii"))
    strange = client("stencil/central", "{'problem': 'ü \\ud800'}")
    strange[-1] = strange[-1].replace("mine", "prüfer")
    assert __main__.main(["oracle", "test", "--only", "stencil-100", *strange]) == 1
    assert b"pr\\xfcfer passes" in shown.getvalue()
    assert capsys.readouterr().err == ""


def test_the_list_names_groups_states_their_rules_and_explains_flags(command):
    listed = command("list")
    assert (listed.returncode, listed.stdout) == (0, listing())
    counting = sum(v.counts for v in VECTORS.values())
    assert f"{len(VECTORS)} are asked. {counting} have exactly one" in two_numbers()
    for group in {v.group for v in VECTORS.values()}:
        assert listed.stdout.count(f"  {group} ") == 1
    assert re.search(
        r"compare/hips +\d+\n      close if in every entry \|analytic - ", listed.stdout
    )
    assert re.search(r"verdict/relu +\d+\n      y_i = max\(x_i, 0\)\n", listed.stdout)
    assert re.search(r"verdict/sine_in_float32 +\d+  optional\n", listed.stdout)
    assert Path(listed.stdout.split()[-1]).is_file()
    flags = [item for notes in load_notes().values() for item in notes.items()]
    assert all(f"  {flag}: {note['description']}" in listed.stdout for flag, note in flags)


def test_answer_survives_nonsense(command, monkeypatch):
    lines = [
        '{"id": "hello", "ask": "hello", "protocol": 1}',
        "nonsense",
        "[]",
        "[" * 100_000,
        '{"id": NaN}',
        '{"ask": "stencil"}',
        '{"id": "a", "ask": "magic"}',
        '{"id": "b", "ask": "compare", "rule": "mine", "analytic": "1", "numeric": "1"}',
        json.dumps(SLOPE.request),
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
    done = command("answer")
    assert (done.returncode, done.stderr) == (0, "")
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert replies[0]["answers"] == list(KINDS)
    assert [reply["id"] for reply in replies] == ["hello", *[None] * 5, "a", "b", SLOPE.id]
    assert ["problem" in reply for reply in replies] == [False, *[True] * 7, False]
    assert float(replies[-1]["slope"]) == 12.765625


def test_the_progress_line_is_gone_at_the_end(command, monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    command("test", *LAZY)
    lines = terminal.getvalue().split("\r")
    assert f" of {len(LAZY_GROUP)}" in lines[2]
    assert lines[-1] == ""
