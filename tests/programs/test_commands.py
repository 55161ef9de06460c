"""``gradcheck-ref check -- ./program``, as a user types it, and the programs of the page."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from compilers import c, fortran, javascript, rust
from program_child import child, products_child

from conftest import noise_hidden
from gradcheck_ref import __main__
from gradcheck_ref.adapters import from_command
from gradcheck_ref.conversation.child import Child
from gradcheck_ref.programs import commands, program
from gradcheck_ref.programs.point_file import read_point

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
PAGE = ROOT / "docs" / "check" / "any_language.md"

RIGHT = child()
WRONG = child(gradient="dw = [2 * v for v in dw]")
NOISY = child(
    before="import random; random.seed(1)",
    value="reply['values'] = [repr(float(v) + 1e-7 * random.random()) for v in values]",
)
BROKEN = child(value="os._exit(3)")


def check(*options, command=RIGHT):
    """Return the exit status."""
    return __main__.main(["check", *options, "--", *command])


STATUS = {
    "pass": (RIGHT, 0, "PASS w, b: all 7 entries agree"),
    "fail": (WRONG, 1, "looks like: w: every entry is 2 x the numeric value"),
    "unsure": (NOISY, 3, "UNSURE"),
    "not judged": (BROKEN, 2, "could not be judged: no value at the first point: it ended"),
}


@pytest.mark.parametrize(("command", "status", "said"), STATUS.values(), ids=STATUS)
def test_the_exit_status_is_the_verdict(command, status, said, capsys, tmp_path):
    junit = tmp_path / "junit.xml"
    assert check("--junit", str(junit), command=command) == status
    out, err = capsys.readouterr()
    assert said in " ".join((err if status == 2 else out).split())
    assert (err if status != 2 else out) == ""
    (suite,) = ElementTree.parse(junit).getroot()
    tags = {0: [], 1: ["failure"], 2: ["error"], 3: ["error"]}[status]
    assert [one.tag for one in suite[0]] == tags
    counts = [str(tags.count("failure")), str(tags.count("error"))]
    assert [suite.get("failures"), suite.get("errors")] == counts
    if status in (1, 3):
        sentence, body = suite[0][0].get("message").split(), suite[0][0].text.split()
        assert body[: len(sentence)] == sentence
        assert body[len(sentence)] in ("seen:", "try:", "right:")


@pytest.mark.one_in(4)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to write to")
@pytest.mark.parametrize(
    ("where", "status", "said"),
    [(">/dev/full", 2, "gradcheck-ref: [Errno 28] No space left on device"),
     (">/dev/full 2>/dev/full", 2, ""), (">&-", 0, "")],
)  # fmt: skip
def test_a_verdict_that_cannot_be_written_does_not_fail(where, status, said):
    command = [sys.executable, "-m", "gradcheck_ref", "check", "--", *RIGHT]
    done = subprocess.run(
        f"exec {shlex.join(command)} {where}", shell=True, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.strip()) == (status, said)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("what", ["pass", "fail", "unsure"])
def test_the_result_as_data(what, capsys):
    command, status, _ = STATUS[what]
    assert check("--json", command=command) == status
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["version"]) == (status, 1)
    assert found["verdict"] == found["reports"]["gradient"]["verdict"] == what
    assert (found["program"], found["command"]) == ("child 1", command)


def test_every_derivative_of_a_program_is_checked_and_the_worst_verdict_counts(capsys, tmp_path):
    junit = tmp_path / "junit.xml"
    assert check("--json", "--junit", str(junit), command=products_child(wrong=1)) == 1
    found = json.loads(capsys.readouterr().out)
    assert {what: one["verdict"] for what, one in found["reports"].items()}["vjp"] == "fail"
    (suite,) = ElementTree.parse(junit).getroot()
    assert suite.get("name") == "two"
    assert [case.get("name") for case in suite] == ["vjp", "jvp"]


def test_the_knobs_are_those_of_the_check(capsys, tmp_path):
    point = tmp_path / "point.json"
    point.write_text('{"w": [[1, 2, 3], [4, 5, 6]], "b": 0.125}')
    knobs = ["--rtol", "1e-3", "--atol", "1e-5", "--seed", "7", "--max-evaluations", "60"]
    more = ["--point", str(point), "--inputs", "w, b", "--workers", "2"]
    check("--json", *knobs, *more)
    report = json.loads(capsys.readouterr().out)["reports"]["gradient"]
    assert (report["rtol"], report["atol"], report["seed"]) == (1e-3, 1e-5, 7)
    assert {pair["input"]["name"] for pair in report["pairs"]} == {"w", "b"}
    assert report["evaluations"] <= 60


BAD_USE = {
    "no program": ([], "there is no program to check"),
    "no --": (["./program"], "to be judged after --, as in: check -- ./program"),
    "an unknown option": (["--rtoll", "1", "--", "x"], "not understood: --rtoll 1"),
}


@pytest.mark.parametrize(("arguments", "said"), BAD_USE.values(), ids=BAD_USE)
def test_a_usage_error_is_refused(arguments, said, capsys):
    for option in ([], ["--json"]):
        with pytest.raises(SystemExit) as end:
            __main__.main(["check", *option, *arguments])
        assert end.value.code == 2
        out, err = capsys.readouterr()
        found = json.loads(out)["why"] if option else err
        assert said in found


# What stands in a file: (its text; what is said)
POINTS = {
    "no JSON": ("w", "is not a point: it is not JSON"),
    "no object": ("[1]", 'it is not an object, but [1]; it should be like {"w": [0.5, 1], "b": 2}'),
    "words": ('{"b": "one"}', 'b is "one", which is not a real number'),
    "a number as Fortran writes it": ('{"b": "1.0D+00"}', 'b is "1.0D+00", which has a D in its'),
    "a number that is too large": (f'{{"b": {10**350}}}', "b holds a number too large for a float"),
    "an integer longer than Python reads": (
        '{"b": 1%s}' % ("0" * 5000),
        "has an integer of 5001 dig",
    ),
    "a file": ('{"b": {"file": "b.f64"}}', 'b is {"file": "b.f64"}, not a number'),
    "truth": ('{"w": [[1, true, 3], [4, 5, 6]]}', "w[0][1] is true, not a number"),
    "a ragged list": ('{"w": [[1], [2, 3]]}', "w is a ragged list"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("content", "said"), POINTS.values(), ids=POINTS)
def test_a_file_that_is_not_a_point_is_refused(content, said, capsys, tmp_path):
    point = tmp_path / "point.json"
    point.write_text(content)
    assert check("--point", str(point)) == 2
    assert said in capsys.readouterr().err


# The same point, in numbers and as the protocol writes it.
WRITTEN = {
    "numbers": '{"w": [[0.5, 1, 1.5], [2, -1, 3e-1]], "b": 2}',
    "one list, row by row": '\ufeff{"w": [0.5, 1, 1.5, 2, -1, 0.3], "b": [2]}',
    "reals as in a default": '{"w": ["0.5", "1", "1.5", "2", "-1.0", "+3E-1"], "b": "2"}',
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", WRITTEN)
def test_a_point_in_a_file_is_in_numbers_or_as_the_protocol_writes_it(form):
    with from_command(RIGHT, point=read_point(WRITTEN[form].encode())) as f:
        assert f.inputs["w"].tolist() == [[0.5, 1.0, 1.5], [2.0, -1.0, 0.3]]
        assert (f.inputs["b"].shape, float(f.inputs["b"])) == ((), 2.0)


def test_a_point_has_the_described_dtype():
    command = child(describe="b['dtype'] = 'float32'")
    with pytest.raises(ValueError, match="b holds a value that does not fit in float32"):
        from_command(command, point=read_point(b'{"b": 1e39}'))
    with from_command(command, point=read_point(b'{"b": 2}')) as f:
        assert (f.point["b"], f.point["b"].dtype) == (2, "float32")


NOT_JUDGED = {
    "no such program": ([], ["./no-such-program"], "cannot start ./no-such-program"),
    "an echo": ([], ["cat"], "reply to hello is wrong: it has no answers and no name. It is {"),
    "a negative rtol": (["--rtol", "-1"], RIGHT, "--rtol must"),
    "no time": (["--timeout", "0"], RIGHT, "--timeout must be a positive number of seconds"),
    "no such file": (["--point", "no.json"], RIGHT, "judged: cannot read no.json: No such file"),
    "no input": (["--inputs", " ,"], RIGHT, "inputs names no input to check; there are w"),
    "few evaluations": (
        ["--max-evaluations", "3"], RIGHT, "--max-evaluations must be at least 12, or left out"),
    "nothing to check": (
        [], child(hello="reply['answers'].remove('gradient')"), "it answers no gradient, vjp or"),
}  # fmt: skip


@pytest.mark.parametrize(("options", "command", "said"), NOT_JUDGED.values(), ids=NOT_JUDGED)
def test_a_failure_to_judge_is_printed_and_written(options, command, said, capsys, tmp_path):
    junit = tmp_path / "junit.xml"
    assert check("--json", "--junit", str(junit), *options, command=command) == 2
    out, err = capsys.readouterr()
    assert said in err
    found = json.loads(out)
    assert (found["status"], found["verdict"], said in found["why"]) == (2, None, True)
    ((case,),) = ElementTree.parse(junit).getroot()
    assert said in case[0].get("message")


def test_nothing_is_checked_if_the_result_cannot_be_written(capsys):
    assert check("--junit", "no/such/folder.xml", "--json", command=["./no-such-program"]) == 2
    out, err = capsys.readouterr()
    said = "cannot write no/such/folder.xml: No such file or directory"
    assert json.loads(out)["why"] == said
    assert err == f"{said}: nothing was checked\n"


def test_a_result_that_cannot_be_written_is_printed(capsys, tmp_path):
    junit = tmp_path / "results" / "junit.xml"
    junit.parent.mkdir()
    gone = f"import shutil; shutil.rmtree({str(junit.parent)!r})"
    assert check("--junit", str(junit), command=child(before=gone)) == 2
    out, err = capsys.readouterr()
    assert "PASS w, b" in " ".join(out.split())
    assert err == f"cannot write {junit}: No such file or directory\n"


def test_a_stopped_check_gives_data(capsys, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "from_command", stopped)
    assert check("--json") == 2
    said = json.loads(capsys.readouterr().out)
    assert (said["status"], said["verdict"], said["why"]) == (2, None, "the check was stopped")


def test_an_unfinished_check_leaves_no_old_result(tmp_path):
    junit, seen = tmp_path / "junit.xml", tmp_path / "seen.xml"
    junit.write_text("<testsuites/>")
    keep = f"import shutil; shutil.copy({str(junit)!r}, {str(seen)!r})"
    assert check("--junit", str(junit), command=child(before=keep)) == 0
    ((case,),) = ElementTree.parse(seen).getroot()
    assert case[0].get("message") == "the check was stopped, or is still under way"
    ((case,),) = ElementTree.parse(junit).getroot()
    assert len(case) == 0


def test_a_silent_program_is_reported_early_and_at_the_end(capsys, monkeypatch):
    monkeypatch.setattr(program, "NO_HELLO", 0.1)
    command = ["sh", "-c", "printf half; sleep 60"]
    assert check("--first-timeout", "0.3", command=command) == 2
    early, late = capsys.readouterr().err.splitlines()
    assert ": no hello after 0.1 s, but a line that does not end: half" in early
    assert "Does it read line by line, write a line for each, and flush it? It has" in early
    assert "it gave no reply within 0.3 s, but a line that does not end: half" in late
    assert "and flush it?" in late


# What is wrong, and what is said: in words that who has typed the command knows.
WORDS = {
    "a shape": ({"reply": "reply['gradient']['w'] = ['1']"}, "gradient gives shape (1,) for"),
    "a sum that is missing": (
        {"reply": "d = reply['gradient']['w']; reply['gradient']['w'] = [[d[:3], d[3:]]] * 2"},
        "each entry gets the gradients of all its copies"),
    "another name": (
        {"reply": "reply['gradient'] = {'q': ['1']}"},
        "it must give an object with the keys 'w', 'b', not an object with the keys 'q'"),
    "a little wrong": ({"gradient": "dw[0] *= 1 + 1e-5"}, "would pass with --rtol"),
    "cancellation": (
        {"value": "reply['values'] = [repr(float(v) + 1e7) for v in values]"},
        "accept this precision with --rtol"),
    "a gradient that is printed with %g": (
        {"reply": "reply['gradient']['w'] = ['%g' % v for v in dw]"},
        "w: it is right, but has only 6 digits try: write all digits with %.17g"),
    "an input that is not read": (
        {"value": "reply['values'] = [repr(b) for _ in points]"},
        "Does f read w from somewhere else, and not from the point that it is sent?"),
}  # fmt: skip
PYTHON = re.compile(r"max_evaluations|[ra]tol=|lambda|keepdims|mapping|\bgrads\b|first_timeout")


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("statements", "said"), WORDS.values(), ids=WORDS)
def test_the_command_line_report_uses_the_words_of_the_command_line(statements, said, capsys):
    assert check(command=child(**statements)) in (1, 3)
    out = " ".join(capsys.readouterr().out.split())
    assert said in out
    assert not PYTHON.search(out)


def test_several_programs_give_the_same_words(capsys, monkeypatch):
    monkeypatch.setitem(program.MOST, "silent", 1)
    slow = child(value="if not at_x: time.sleep(60)")
    assert check("--workers", "2", "--timeout", "0.3", "--first-timeout", "0.3", command=slow) == 2
    assert "first_timeout" not in capsys.readouterr().err


def test_derivatives_are_asked_of_the_first_program_only(capsys, tmp_path):
    log = tmp_path / "log"
    noted = f"open({str(log)!r}, 'a').write(f'{{os.getpid()}} {{ask}}\\n')"
    command = child(value=noted, gradient=noted)
    assert check("--workers", "3", command=command) == 0
    asked = {}
    for line in log.read_text().splitlines():
        process, what = line.split()
        asked.setdefault(what, []).append(process)
    assert len(set(asked["value"])) == 3
    assert set(asked["gradient"]) == {asked["value"][0]}


def test_a_narrow_terminal_is_kept(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "45")
    check(command=WRONG)
    assert max(len(line) for line in capsys.readouterr().out.splitlines()) <= 45


def test_a_program_cannot_send_control_characters_to_the_terminal(capsys):
    blink = "'\\x1b[5m no \\x07'"
    refusing = f"if b > 0.5: reply = {{'id': reply['id'], 'refused': {blink}}}"
    check(command=child(hello=f"reply['name'] = {blink}", value=refusing))
    check(command=child(value=f"sys.exit({blink})"))
    out, err = capsys.readouterr()
    assert ("no" in out, "no" in err) == (True, True)
    assert not {"\x1b", "\x07"} & {*out, *err}


# --- examples --------------------------------------------------------------------------------

LANGUAGES = {
    "JavaScript": ("program.js", javascript),
    "C": ("program.c", c),
    "Rust": ("program.rs", rust),
    "Fortran": ("program.f90", fortran),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("right", [True, False], ids=["right", "with a bug"])
def test_a_program_of_the_page_gets_its_verdict(language, right, capsys, tmp_path):
    name, made = LANGUAGES[language]
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert len(text.splitlines()) < 80
    if not right:
        text = text.replace("(1 - t * t)", "(1 - t)").replace("(1.0 - t * t)", "(1.0 - t)")
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert check(command=made(tmp_path / name)) == (0 if right else 1)
    told = capsys.readouterr().out
    assert f"{name}: gradient" in told
    assert ("PASS  W, b: all 8 entries agree" if right else "FAIL  W") in told


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "status"), [("+", 0), ("-", 1)], ids=["right", "with a bug"])
def test_the_large_program_of_the_page_is_judged(sign, status, capsys, tmp_path):
    text = (EXAMPLES / "large.c").read_text(encoding="utf-8")
    assert "dw[i + 1] += stretch" in text
    text = text.replace("dw[i + 1] += stretch", f"dw[i + 1] {sign}= stretch")
    (tmp_path / "large.c").write_text(text, encoding="utf-8")
    assert check(command=c(tmp_path / "large.c")) == status
    assert "large.c: gradient" in capsys.readouterr().out


def test_the_page_shows_the_real_output(monkeypatch, capsys, tmp_path):
    text = (EXAMPLES / "program.js").read_text(encoding="utf-8")
    assert "=> 2 * (t - y[i])" in text
    (tmp_path / "program.js").write_text(text.replace("=> 2 * (t", "=> (t"), encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "88")
    assert check(command=javascript(tmp_path / "program.js")) == 1
    (shown,) = re.findall(r"```text\n(program\.js: .*?)\.\.\.\n```", PAGE.read_text("utf-8"), re.S)
    said = capsys.readouterr().out
    assert noise_hidden(said).startswith(noise_hidden(shown))


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_page_shows_a_request_and_its_reply(monkeypatch):
    (block,) = re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    request, reply = block.splitlines()
    said, say = [], Child.say
    monkeypatch.setattr(Child, "say", lambda self, line: (said.append(line), say(self, line)))
    with from_command(["node", str(EXAMPLES / "program.js")]) as f:
        f(**f.inputs)
    assert said[-1] == request.encode() + b"\n"
    done = subprocess.run(
        ["node", str(EXAMPLES / "program.js")], input=said[-1], stdout=subprocess.PIPE, timeout=20
    )
    # The last digits of tanh are the machine's.
    told, shown = json.loads(done.stdout), json.loads(reply)
    assert float(told.pop("values")[0]) == pytest.approx(float(shown.pop("values")[0]), rel=1e-14)
    assert told == shown
