"""``gradcheck-ref check -- ./program``, as a user types it, and the programs of the page."""

import json
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from beside import status_of
from compilers import c, fortran, javascript, rust
from program_child import check, child, noting, products_child

from conftest import noise_hidden
from gradcheck_ref import __main__
from gradcheck_ref.adapters import from_command
from gradcheck_ref.programs import program
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
ENDING = child(value="os._exit(3)")

# (options, program, exit status, what is said)
VERDICTS = {
    "pass": ([], RIGHT, 0, "PASS w, b: all 7 entries agree"),
    "fail": ([], WRONG, 1, "looks like: w: every entry is 2 x the numeric value"),
    "unsure": ([], NOISY, 3, "UNSURE"),
    "a broken program": (
        [], ENDING, 2, "could not be judged: no value at the first point: it ended"),
    "no such program": ([], ["./no-such-program"], 2, "cannot start ./no-such-program"),
    "an echo": (
        [], ["cat"], 2, "reply to hello is wrong: it has no answers and no name. It is {"),
    "a negative rtol": (["--rtol", -1], RIGHT, 2, "--rtol must"),
    "no time": (["--timeout", 0], RIGHT, 2, "--timeout must be a positive number of seconds"),
    "no such file": (["--point", "no.json"], RIGHT, 2, "cannot read no.json: No such file"),
    "no input": (["--inputs", " ,"], RIGHT, 2, "inputs names no input to check; there are w"),
    "few evaluations": (
        ["--max-evaluations", 3], RIGHT, 2, "--max-evaluations must be at least 12, or left out"),
}  # fmt: skip


@pytest.mark.one_in(8)
@pytest.mark.parametrize("what", VERDICTS)
def test_a_verdict_is_in_the_exit_status_in_words_in_junit_and_as_data(what, capsys, tmp_path):
    options, command, status, said = VERDICTS[what]
    junit = tmp_path / "junit.xml"
    assert check(command, "--junit", junit, *options) == status
    out, err = capsys.readouterr()
    assert said in " ".join((err if status == 2 else out).split())
    assert (out if status == 2 else err) == ""
    (suite,) = ElementTree.parse(junit).getroot()
    tags = {0: [], 1: ["failure"], 2: ["error"], 3: ["error"]}[status]
    assert [one.tag for one in suite[0]] == tags
    counts = [str(tags.count("failure")), str(tags.count("error"))]
    assert [suite.get("failures"), suite.get("errors")] == counts
    if status in (1, 3):
        sentence, body = suite[0][0].get("message").split(), suite[0][0].text.split()
        assert body[: len(sentence)] == sentence
        assert body[len(sentence)] in ("seen:", "try:", "right:")

    assert check(command, "--json", *options) == status
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["version"], found["command"]) == (status, 1, command)
    if status == 2:
        assert (found["verdict"], said in found["why"]) == (None, True)
        assert said in suite[0][0].get("message")
    else:
        assert found["verdict"] == found["reports"]["gradient"]["verdict"] == what
        assert found["program"] == "child 1"


def test_every_derivative_of_a_program_is_checked_and_the_worst_verdict_counts(capsys, tmp_path):
    junit = tmp_path / "junit.xml"
    assert check(products_child(wrong=1), "--json", "--junit", junit) == 1
    found = json.loads(capsys.readouterr().out)
    assert {what: one["verdict"] for what, one in found["reports"].items()}["vjp"] == "fail"
    (suite,) = ElementTree.parse(junit).getroot()
    assert suite.get("name") == "two"
    assert [case.get("name") for case in suite] == ["vjp", "jvp"]


@pytest.mark.parametrize("what", ["pass", "fail", "an echo"])
def test_github_shows_what_is_wrong(what, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.chdir(tmp_path)
    Path("model").touch()
    options, command, status, _ = VERDICTS[what]
    assert check([*command, "model"], *options) == status
    lines = [one for one in capsys.readouterr().err.splitlines() if one.startswith("::error")]
    said = {"fail": "gradient: FAIL  w: 6 of 6 entries differ", "an echo": "cat model could not be"}
    assert len(lines) == (what in said)
    assert all(line.startswith(f"::error file=model,line=1::{said[what]}") for line in lines)


def test_the_knobs_are_those_of_the_check(capsys, tmp_path):
    point = tmp_path / "point.json"
    point.write_text('{"w": [[1, 2, 3], [4, 5, 6]], "b": 0.125}')
    knobs = ["--rtol", "1e-3", "--atol", "1e-5", "--seed", "7", "--max-evaluations", "60"]
    more = ["--point", str(point), "--inputs", "w, b", "--workers", "2"]
    check(RIGHT, "--json", *knobs, *more)
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
        assert status_of(__main__.main, "check", *option, *arguments) == 2
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


@pytest.mark.parametrize(("content", "said"), POINTS.values(), ids=POINTS)
def test_a_file_that_is_not_a_point_is_refused(content, said, capsys, tmp_path):
    point = tmp_path / "point.json"
    point.write_text(content)
    assert check(RIGHT, "--point", point) == 2
    assert said in capsys.readouterr().err


# The same point, in numbers and as the protocol writes it.
WRITTEN = [
    b'{"w": [[0.5, 1, 1.5], [2, -1, 3e-1]], "b": 2}',
    b'\xef\xbb\xbf{"w": [0.5, 1, 1.5, 2, -1, 0.3], "b": [2]}',
    b'{"w": ["0.5", "1", "1.5", "2", "-1.0", "+3E-1"], "b": "2"}',
]


def test_a_point_in_a_file_is_in_numbers_or_as_the_protocol_writes_it():
    command = child(describe="b['dtype'] = 'float32'")
    for content in WRITTEN:
        with from_command(command, point=read_point(content)) as f:
            assert f.inputs["w"].tolist() == [[0.5, 1.0, 1.5], [2.0, -1.0, 0.3]]
            assert (f.point["b"], f.point["b"].dtype) == (2, "float32")
    with pytest.raises(ValueError, match="b holds a value that does not fit in float32"):
        from_command(command, point=read_point(b'{"b": 1e39}'))


def test_nothing_is_checked_if_the_result_cannot_be_written(capsys):
    assert check(["./no-such-program"], "--junit", "no/such/folder.xml", "--json") == 2
    out, err = capsys.readouterr()
    said = "cannot write no/such/folder.xml: No such file or directory"
    assert json.loads(out)["why"] == said
    assert err == f"{said}: nothing was checked\n"


def test_a_result_that_cannot_be_written_is_printed(capsys, tmp_path):
    junit = tmp_path / "results" / "junit.xml"
    junit.parent.mkdir()
    gone = f"import shutil; shutil.rmtree({str(junit.parent)!r})"
    assert check(child(before=gone), "--junit", junit) == 2
    out, err = capsys.readouterr()
    assert "PASS w, b" in " ".join(out.split())
    assert err == f"cannot write {junit}: No such file or directory\n"


def test_an_unfinished_check_leaves_no_old_result(tmp_path):
    junit, seen = tmp_path / "junit.xml", tmp_path / "seen.xml"
    junit.write_text("<testsuites/>")
    keep = f"import shutil; shutil.copy({str(junit)!r}, {str(seen)!r})"
    assert check(child(before=keep), "--junit", junit) == 0
    ((case,),) = ElementTree.parse(seen).getroot()
    assert case[0].get("message") == "the check was stopped, or is still under way"
    ((case,),) = ElementTree.parse(junit).getroot()
    assert len(case) == 0


@pytest.mark.slow
def test_a_silent_program_is_reported_early_and_at_the_end(capsys, monkeypatch):
    monkeypatch.setattr(program, "NO_HELLO", 0.1)
    command = ["sh", "-c", "printf half; sleep 60"]
    assert check(command, "--first-timeout", "0.3") == 2
    early, late = capsys.readouterr().err.splitlines()
    assert ": no hello after 0.1 s, but a line that does not end: half" in early
    assert "Does it read line by line, write a line for each, and flush it? It has" in early
    assert "it gave no reply within 0.3 s, but a line that does not end: half" in late
    assert "and flush it?" in late


@pytest.mark.slow
def test_derivatives_are_asked_of_the_first_program_only(capsys, tmp_path):
    log = tmp_path / "log"
    noted = f"open({str(log)!r}, 'a').write(f'{{os.getpid()}} {{ask}}\\n')"
    command = child(value=noted, gradient=noted)
    assert check(command, "--workers", 3) == 0
    asked = {}
    for line in log.read_text().splitlines():
        process, what = line.split()
        asked.setdefault(what, []).append(process)
    assert len(set(asked["value"])) == 3
    assert set(asked["gradient"]) == {asked["value"][0]}


def test_a_narrow_terminal_is_kept(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "45")
    check(WRONG)
    assert max(len(line) for line in capsys.readouterr().out.splitlines()) <= 45


def test_a_program_cannot_send_control_characters_to_the_terminal(capsys):
    blink = "'\\x1b[5m no \\x07'"
    refusing = f"if b > 0.5: reply = {{'id': reply['id'], 'refused': {blink}}}"
    check(child(hello=f"reply['name'] = {blink}", value=refusing))
    check(child(value=f"sys.exit({blink})"))
    out, err = capsys.readouterr()
    assert ("no" in out, "no" in err) == (True, True)
    assert not {"\x1b", "\x07"} & {*out, *err}


# --- examples --------------------------------------------------------------------------------

# (the program, how it is started, how it writes one)
LANGUAGES = {
    "JavaScript": ("program.js", javascript, "1"),
    "C": ("program.c", c, "1"),
    "Rust": ("program.rs", rust, "1.0"),
    "Fortran": ("program.f90", fortran, "1.0"),
}


def judged(name, made, slips, capsys, folder):
    """Return what is said of a program of the page after changes, and the exit status."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    for right, wrong in slips:
        assert right in text
        text = text.replace(right, wrong)
    folder.mkdir()
    (folder / name).write_text(text, encoding="utf-8")
    return check(made(folder / name)), capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_of_the_page_gets_its_verdict(language, capsys, tmp_path):
    name, made, one = LANGUAGES[language]
    assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) < 80
    status, told = judged(name, made, [], capsys, tmp_path / "right")
    assert (status, told.startswith(f"{name}: gradient")) == (0, True)
    assert "PASS  W, b: all 8 entries agree" in told
    slip = f"({one} - t * t)", f"({one} - t)"
    status, told = judged(name, made, [slip], capsys, tmp_path / "wrong")
    assert (status, "FAIL  W" in told) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "status"), [("+", 0), ("-", 1)], ids=["right", "with a bug"])
def test_the_large_program_of_the_page_is_judged(sign, status, capsys, tmp_path):
    slip = "dw[i + 1] += stretch", f"dw[i + 1] {sign}= stretch"
    smaller = "#define N 1000000", "#define N 100001"  # in files alone, and in a tenth of the time
    found = judged("large.c", c, [slip, smaller], capsys, tmp_path / "large")
    assert (found[0], "large.c: gradient" in found[1]) == (status, True)


def test_the_page_shows_the_real_output(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("COLUMNS", "88")
    slip = "=> 2 * (t - y[i])", "=> (t - y[i])"
    status, said = judged("program.js", javascript, [slip], capsys, tmp_path / "wrong")
    (shown,) = re.findall(r"```text\n(program\.js: .*?)\.\.\.\n```", PAGE.read_text("utf-8"), re.S)
    assert (status, noise_hidden(said).startswith(noise_hidden(shown))) == (1, True)


def test_the_page_shows_a_request_and_its_reply(tmp_path):
    (block,) = re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    request, reply = block.splitlines()
    command, log = javascript(EXAMPLES / "program.js"), tmp_path / "log"
    with from_command(noting(log, command)) as f:
        f(**f.inputs)
    asked = log.read_text("utf-8").splitlines()[-1]
    assert asked == request
    done = subprocess.run(command, input=asked, text=True, stdout=subprocess.PIPE, timeout=20)
    # The last digits of tanh are the machine's.
    told, shown = json.loads(done.stdout), json.loads(reply)
    assert float(told.pop("values")[0]) == pytest.approx(float(shown.pop("values")[0]), rel=1e-14)
    assert told == shown


def test_a_vjp_that_keeps_the_last_point_is_asked_at_another_in_between(capsys):
    *start, code = products_child()
    line = '        x, table = read(request["point"])\n'
    assert code.count(line) == 1
    stale = line + "        x, last = globals().get('last', x), x\n"
    assert check([*start, code.replace(line, stale)]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "they change if vjp is called at another point before" in said
    assert check([*start, code.replace(line, stale)], "--no-company") == 0
