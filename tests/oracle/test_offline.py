"""What is asked, and where: names, files instead of a conversation, drawn vectors, an export."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mutants.slips import stencil

from gradcheck_ref import __main__
from gradcheck_ref.oracle.chosen import UnknownNameError, chosen, read_names
from gradcheck_ref.oracle.generate.drawn import drawable
from gradcheck_ref.oracle.offline import judged, requests
from gradcheck_ref.oracle.protocol import answer_line
from gradcheck_ref.oracle.runner import ImplementationError, run
from gradcheck_ref.oracle.summary import Summary
from gradcheck_ref.oracle.table import KINDS
from gradcheck_ref.oracle.vectors import load_file, load_vectors, vectors_of

CENTRAL = [v for v in load_vectors("stencil") if v.group == "stencil/central"]
HELLO = {"id": "hello", "protocol": 1, "name": "by post 1", "answers": ["stencil/central"]}


@pytest.fixture
def command(capsys):
    """Return the command line, within the tests, where NumPy is there already."""

    def command(*arguments):
        try:
            status = __main__.main(["oracle", *map(str, arguments)])
        except SystemExit as end:
            status = end.code
        return subprocess.CompletedProcess(arguments, status, *capsys.readouterr())

    return command


# --- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["stencil-001", "stencil/central", "stencil", "OneSided"], ids=lambda name: name
)
def test_a_name_means_an_id_a_group_a_kind_or_a_flag(name):
    found = chosen(load_vectors("stencil"), [name])
    assert found
    assert all(name in (v.id, v.group, v.kind, *v.flags) for v in found)


def test_several_names_mean_all_that_any_of_them_means_in_order():
    found = chosen(load_vectors("stencil"), ["stencil-009", "stencil-002"])
    assert [v.id for v in found] == ["stencil-002", "stencil-009"]


def test_names_that_mean_nothing_are_told_not_all_of_them():
    with pytest.raises(UnknownNameError, match="called a, b, c and 2 more"):
        chosen(load_vectors("stencil"), ["e", "d", "stencil", "c", "b", "a"])


def test_a_file_of_names_has_remarks():
    assert read_names("# known\n\n  stencil-001  # why\nNaN\n") == ["stencil-001", "NaN"]


# --- by post ---------------------------------------------------------------------------------


def posted(*changed, hello=True):
    """Return replies to the central ones, right but for some changes (position, line)."""
    lines = [json.dumps({"id": v.id, **stencil(v.request)}) for v in CENTRAL]
    for at, line in changed:
        lines[at] = line
    return [line.encode() for line in [*([json.dumps(HELLO)] if hello else []), *lines]]


def statuses(run):
    """Count the outcomes."""
    return {status: sum(o.status == status for o in run.outcomes) for status in ("failed", "error")}


def test_right_replies_pass_and_hello_says_what_is_answered():
    found = judged(posted(), load_vectors(), "file")
    assert (found.name, len(found.outcomes)) == ("by post 1", len(CENTRAL))
    assert statuses(found) == {"failed": 0, "error": 0}
    assert len(found.declined) == len(list(load_vectors())) - len(CENTRAL)
    assert Summary(found).right


def test_without_a_hello_the_kinds_that_are_replied_to_are_meant():
    found = judged(posted(hello=False), load_vectors(), "file")
    assert (found.name, found.answers) == ("file", ["stencil"])
    assert statuses(found)["error"] == len(list(load_vectors("stencil"))) - len(CENTRAL)


POSTED = {
    "a wrong slope": (json.dumps({"id": CENTRAL[0].id, "slope": "0.125"}), "failed", 0),
    "no reply": ("", "error", 0),
    "no JSON": ("{", "error", 1),
    "another's id": (json.dumps({"id": "compare-1", "slope": "1"}), "error", 1),
    "another's reply twice": (json.dumps({"id": CENTRAL[1].id, "slope": "1"}), "error", 0),
    "a second hello": (json.dumps(HELLO), "error", 1),
}


@pytest.mark.parametrize("what", POSTED)
def test_what_is_wrong_in_a_file_is_told(what):
    line, status, strays = POSTED[what]
    found = judged(posted((0, line)), load_vectors(), "file")
    assert found.outcomes[0].status == status
    assert found.strays == strays
    assert not Summary(found).right


# What stands in the place of the reply to one question, or of the first reply, to hello.
SAYS = """
import json, os, sys
lines = json.load(open(sys.argv[1]))
for line in sys.stdin:
    for said in lines[json.loads(line)["id"]]:
        os.write(1, said.encode("latin-1") + b"\\n")
"""
FEW = CENTRAL[:6]
RIGHT = {v.id: json.dumps({"id": v.id, **stencil(v.request)}) for v in FEW}
HERE, THERE = FEW[2].id, FEW[4].id
WRONG = json.dumps({"id": HERE, "slope": "0.125"})
ALIKE = {
    "all is right": [RIGHT[HERE]],
    "a wrong slope": [WRONG],
    "an empty line before": ["", RIGHT[HERE], " "],
    "words before": ["let me see", RIGHT[HERE]],
    "words after": [RIGHT[HERE], "done"],
    "words alone": ["let me see"],
    "an unknown id before": ['{"id": "stencil-x", "slope": "1"}', RIGHT[HERE]],
    "an unknown id alone": ['{"id": "stencil-x", "slope": "1"}'],
    "a number for an id": ['{"id": 3, "slope": "1"}', RIGHT[HERE]],
    "an id that is not asked": ['{"id": "compare-001", "close": true}', RIGHT[HERE]],
    "two replies": [RIGHT[HERE], RIGHT[HERE]],
    "two replies, the first wrong": [WRONG, RIGHT[HERE]],
    "a second hello": [json.dumps(HELLO), RIGHT[HERE]],
    "a key twice": [f'{{"id": "{HERE}", "slope": "1", "slope": "1"}}'],
    "UTF-16": [RIGHT[HERE].encode("utf-16").decode("latin-1")],
    "a line of two million bytes": ["x" * 2_000_000],
    "no slope": [f'{{"id": "{HERE}"}}', RIGHT[HERE]],
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("what", ALIKE)
def test_a_conversation_and_a_file_are_judged_alike(what, tmp_path):
    said = {"hello": [json.dumps(HELLO)]} | {i: [line] for i, line in RIGHT.items()}
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
        [json.dumps({**HELLO, "protocol": True}).encode()],
        "protocol is true, not 1",
    ),
    "hello alone": ([json.dumps(HELLO).encode()], "there is no reply"),
    "another seed": (
        [json.dumps(HELLO).encode(), b'{"id": "stencil-random-7-3", "slope": "1"}'],
        "it was drawn from seed 7, --random N --seed 7",
    ),
    "UTF-16": (
        "\n".join(line.decode() for line in posted()).encode("utf-16").split(b"\n"),
        "the first line that is none cannot be read: it is UTF-16, not UTF-8",
    ),
}


@pytest.mark.parametrize("what", NOTHING)
def test_where_nothing_is_replied_there_is_nothing_to_judge(what):
    lines, said = NOTHING[what]
    with pytest.raises(ImplementationError, match=said):
        judged(lines, load_vectors(), "file")


def test_a_reply_to_what_hello_does_not_promise_is_not_looked_at():
    other = next(v for v in load_vectors("verdict"))
    reply = json.dumps({"id": other.id, "problem": "unknown question"}).encode()
    found = judged([*posted(), reply], load_vectors(), "file")
    assert (len(found.outcomes), found.strays) == (len(CENTRAL), 0)
    assert Summary(found).right


def test_questions_are_written_to_be_answered_and_replies_judged(command, tmp_path):
    asked = command("requests", "--only", "stencil/central", "--only", "compare-045")
    assert asked.returncode == 0
    lines = asked.stdout.splitlines()
    assert lines == list(requests(chosen(load_vectors(), ["stencil/central", "compare-045"])))
    replies = tmp_path / "replies.jsonl"
    replies.write_text("\n".join(json.dumps(answer_line(line, "me")) for line in lines))
    told = command("judge", "--only", "stencil/central", "--only", "compare-045", replies)
    assert (told.returncode, told.stderr) == (0, "")
    # What was answered beside what is judged belongs to no question.
    less = command("judge", "--only", "stencil/central", replies)
    assert less.returncode == 1
    assert ", 1 protocol error\n" in less.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["judge", "no-such-file"], "cannot read no-such-file: "),
        (["judge", "/dev/null"], "there is no reply"),
        (["test", "--only", "compare/pytorch", "--", "true"], "is called compare/pytorch"),
        (["test", "--skip-file", "no-such-file", "--", "true"], "cannot read no-such-file"),
        (["test", "--random", "0", "--", "true"], "--random must be a positive number"),
        (["test", "--max-seconds", "-1", "--", "true"], "--max-seconds must be a positive"),
        (["test", "./my-checker", "a"], "./my-checker a; put the program to be judged after --"),
        (["test", "node", "-x", "f.js"], "as in: oracle test -- node -x f.js"),
        (["test", "--only", "stencil", "./it", "--json"], "as in: oracle test -- ./it --json"),
        (["test", "--jsn", "--", "true"], "not understood: --jsn; "),
        (["test", "it", "--", "true"], "not understood: it; "),
        (["list", "more"], "unrecognized arguments: more"),
        (["export", "/dev/null/x"], "cannot write to /dev/null/x"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_use_ends_with_status_2_and_a_sentence(arguments, said, command):
    done = command(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


# --- skipped, expected, drawn ----------------------------------------------------------------

FORWARD = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["ask"] == "hello":
        reply = {"protocol": 1, "name": "plain", "answers": ["stencil/forward"]}
    else:
        a, b = request["samples"][2:4]
        run = float(b[0]) - float(a[0])
        rise = float(b[1]) - float(a[1])
        reply = {"slope": repr(rise / run)} if run > 0 else {"refused": "no step"}
    print(json.dumps({"id": request["id"], **reply}), flush=True)
"""
PLAIN = ["--", sys.executable, "-I", "-S", "-c", FORWARD]


def failures(done):
    """Return the ids of what failed, of a run told as data."""
    return [o["id"] for o in json.loads(done.stdout)["outcomes"] if o["status"] == "failed"]


@pytest.mark.slow
def test_what_is_skipped_or_expected_may_stand_in_a_file(command, tmp_path):
    failed = failures(command("test", "--json", *PLAIN))
    assert failed  # it takes what ought to be refused
    known = tmp_path / "known.txt"
    known.write_text("".join(f"{identity}  # not yet\n" for identity in failed))
    assert command("test", "--skip-file", known, *PLAIN).returncode == 0
    done = command("test", "--expected", known, *PLAIN)
    assert done.returncode == 0
    assert f", {len(failed)} expected failure" in done.stdout
    known.write_text(known.read_text() + "compare/torch\ncompare-001")
    done = command("test", "--expected", known, *PLAIN)
    assert done.returncode == 0
    assert "expected to fail, but not asked: compare/torch, compare-001\n" in done.stdout
    known.write_text(known.read_text() + "\nstencil-001")
    done = command("test", "--expected", known, *PLAIN)
    assert done.returncode == 1
    assert "expected to fail, and passes: stencil-001" in done.stdout


@pytest.mark.parametrize(
    ("only", "said"),
    [
        ("OneSided", "of OneSided nothing is drawn: --only takes kinds and groups there"),
        ("verdict/relu", "of verdict/relu nothing is drawn"),
        ("compare/torch", "of what it answers nothing is drawn"),
    ],
)
def test_where_nothing_can_be_drawn_it_is_said(only, said, command):
    done = command("test", "--random", "5", "--only", only, *PLAIN)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.slow
def test_vectors_may_be_drawn_and_a_failure_can_be_sent_again(command):
    right = command("test", "--random", "60", "--seed", "7", *PLAIN)
    assert right.returncode == 0
    assert "v1.2, 60 drawn from seed 7 (stencil/forward): 60 of 60" in right.stdout
    wrong = [*PLAIN[:-1], PLAIN[-1].replace("rise / run", "rise / (run * (1 + 1e-9))")]
    done = command("test", "--random", "60", "--seed", "7", *wrong)
    assert done.returncode == 1
    request = json.loads(re.search(r"asked +(\{.*\})\n", done.stdout)[1])
    assert request["id"].startswith("stencil-random-7-")
    asked = command("requests", "--random", "60", "--seed", "7", "--only", "stencil/forward")
    assert request in map(json.loads, asked.stdout.splitlines())


CHECKER = Path(__file__).parents[2] / "docs" / "examples" / "checker.py"
PASSES = """
import json, sys
for line in sys.stdin:
    id = json.loads(line)["id"]
    hello = {"protocol": 1, "name": "passes", "answers": ["verdict"]}
    print(json.dumps({"id": id, **(hello if id == "hello" else {"verdict": "pass"})}), flush=True)
"""
PASSING = [sys.executable, "-I", "-S", "-c", PASSES]
ALL = ["--", sys.executable, str(CHECKER)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("count", "missing"), [(2, 18), (34, 1), (35, 0)])
def test_too_few_drawn_for_each_group_are_no_result(count, missing, command):
    done = command("test", "--random", str(count), *ALL)
    assert done.returncode == (2 if missing else 0)
    assert ("no result, since " in done.stdout) == bool(missing)
    if missing:
        assert f"no result, since {missing} of 20 groups were not drawn\n" in done.stdout
        assert "--random 35 draws every group" in done.stderr
        (line,) = re.findall("^not drawn: (.*)$", done.stdout, re.MULTILINE)
        assert len(line.split(", ")) == missing
        assert line.endswith("compare/ceres" if missing == 1 else "escalate/nominal")


def test_groups_that_are_never_drawn_are_named(command):
    done = command("test", "--random", "27", "--only", "verdict", "--", *PASSING)
    (line,) = re.findall("^only frozen, never drawn: (.*)$", done.stdout, re.MULTILINE)
    assert set(line.split(", ")) == {v.group for v in load_vectors("verdict")} - set(drawable())


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


def test_an_export_is_whole_and_says_so_itself(command, tmp_path):
    done = command("export", tmp_path / "out")
    assert done.returncode == 0
    written = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*.*")}
    assert len(done.stdout.splitlines()) == len(written)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["sha256"]) == written - {"manifest.json"}
    for name, digest in manifest["sha256"].items():
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == digest
    for kind in KINDS:
        file = json.loads((tmp_path / "out" / "vectors" / f"{kind}.json").read_text("utf-8"))
        assert manifest["counts"][kind] == file["count"] == load_file(kind)["count"]
        assert vectors_of(file) == list(load_vectors(kind))
