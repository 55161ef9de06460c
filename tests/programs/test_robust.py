"""Whatever a program does, the check comes to an end, with a verdict or a sentence."""

import os
import time

import numpy as np
import pytest
from processes import assert_it_goes, linux
from program_child import child, large_child

from gradcheck_ref import __main__, check_gradient
from gradcheck_ref.programs import program as module
from gradcheck_ref.programs.description import ProgramError
from gradcheck_ref.programs.function import from_command

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def file_of_the_child(monkeypatch, tmp_path):
    """Let the child know where it may write a file."""
    monkeypatch.setenv("FILE", str(tmp_path / "file"))


# The function of the child.
C = np.array([0.5, -1.25, 2.0, 0.75, -0.5, 1.5])
W = np.array([[0.25, -0.5, 0.75], [1.25, -1.0, 0.5]])
QUICK = {"timeout": 5.0, "first_timeout": 10.0}  # seconds: long for a child that only has to answer


def checked(statements, **how):
    """Return the report on a child with these statements, and the notes."""
    with from_command(child(**statements), **{**QUICK, **how}) as f:
        return check_gradient(f, f.inputs, f.gradient), f.notes


# At some points, on one side of the point, there is no value; the other side suffices.
NO_VALUE = {
    "a segmentation fault": (
        {"value": "if b > 0.5: os.kill(os.getpid(), 11)"},
        "ended with status -11, by SIGSEGV; that was at 7 points, the first is x moved by"),
    "last words": (
        {"value": "if b > 0.5: sys.exit('out of luck')"},
        "ended with status 1; stderr: out of luck"),
    "refused": (
        {"value": "if b > 0.5: reply = {'id': reply['id'], 'refused': 'b is too large'}"},
        "not defined at 7 points, the first is x moved by -0.047 of its size, all coordinates at "
        "once: b is too large"),
    "a crash in a batch": (
        {"hello": "reply['batch'] = 64", "value": "if any(p[1] > .5 for p in points): os._exit(3)"},
        "ended with status 3; that was at",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("statements", "said"), NO_VALUE.values(), ids=NO_VALUE)
def test_a_point_without_a_value_is_noted_and_the_rest_is_judged(statements, said):
    report, notes = checked(statements)
    assert (report.verdict, report.notes) == ("pass", tuple(notes))
    assert said in notes[0]
    assert f"note: {notes[0][:40]}" in report.text(2000)


# At the point itself there was a value, and then there is none: (what it does; what is said)
SECOND = {
    "a crash": ("os._exit(7)", "it ended with status 7"),
    "silence": ("time.sleep(60)", r"it gave no reply within 0\.4 s"),
}


@pytest.mark.parametrize(("does", "said"), SECOND.values(), ids=SECOND)
def test_a_value_that_is_missing_the_second_time_is_reported_as_such(does, said):
    cause = f"^it gave a value at the point itself, but asked there again, {said}"
    with pytest.raises(ProgramError, match=cause):
        checked({"value": f"if asked == 5: {does}"}, timeout=0.4)  # x again, as a batch may be


def test_a_wrong_gradient_fails_though_a_point_has_no_value():
    statements, _ = NO_VALUE["refused"]
    assert checked({**statements, "gradient": "db *= 1.001"})[0].verdict == "fail"


# What can be said of no gradient: (its statements; what is said)
NOT_JUDGED = {
    "it ends where it is asked": (
        {"value": "os._exit(4)"}, "the first point: it ended with status 4"),
    "it refuses the point itself": (
        {"value": "reply = {'id': reply['id'], 'refused': 'never'}"},
        "no value at the first point: it answers refused: never. Check at another point"),
    "it says so of the value": (
        {"value": "reply['values'] = [{'refused': 'never'}]"}, "it answers refused: never. Check"),
    "it is not a number at the point itself": (
        {"value": "reply['values'] = ['nan']"}, "point: it answers nan. Check at another point"),
    "half a line": (
        {"value": "os.write(1, b'{\"id\": '); os._exit(4)"},
        'it ended with status 4 in the middle of a line: {"id": '),
    "it ends at the gradient": ({"gradient": "os._exit(4)"}, "asked for gradient, it ended with"),
    "another id": ({"value": "reply['id'] = '7'"}, 'the id "7" instead of "3": send one reply'),
    "an id that is a number": (
        {"value": "reply['id'] = 3"}, 'the id 3 instead of "3": .* with the same id'),
    "words": ({"value": "say('careful')"}, r"not JSON: .* It is: careful\. .* belongs on stderr"),
    "a flood": ({"value": "os.write(1, b'x' * 10**6); time.sleep(60)"}, "more than 10064 bytes"),
    "a flood on stderr, too": (
        {"value": "os.write(2, b'x' * 10**6); os._exit(1)"}, "no value at the first point"),
    "two values for one point": ({"value": "values.append('1')"}, "2 values for 1 point\n"),
    "a file that is too short": (
        {"value": "reply['values'] = [in_file(bytes(3))]"},
        "the file of .* has 3 bytes, but should have 8: is it closed before the reply"),
    "a device": ({"value": "reply['values'] = [{'file': '/dev/zero'}]"}, "no such file can be"),
    "a pipe": (
        {"before": "import tempfile; p = tempfile.mkdtemp() + '/p'; os.mkfifo(p)",
         "value": "reply['values'] = [{'file': p}]"}, "no such file can be read"),
    "a float32 in a file": (
        {"value": "reply['values'] = [in_file(bytes(4))]"}, "4 bytes.* are its numbers float64"),
    "several inputs, one gradient": (
        {"reply": "reply['gradient'] = ['1']"}, "give an object with an array for each of w, b"),
    "a default of another shape": (
        {"describe": "w['default'] = ['1']"},
        r"the default of w has shape \(1,\), but should have \(2, 3\)"),
    "more axes than NumPy has": (
        {"describe": "b['shape'] = [1] * 70"}, "it describes b of shape .*, which is too large"),
    "two inputs of one name": ({"describe": "w['name'] = 'b'"}, "two inputs of the same name"),
    "no value in its hello": (
        {"hello": "reply['answers'] = ['describe', 'gradient']"}, "does not promise value"),
    "a problem with hello": (
        {"hello": "reply = {'id': reply['id'], 'problem': 'no licence'}"},
        "it does not reply to hello: it answers problem: no licence"),
    "an empty line": ({"before": "say('')"}, "It is: an empty line"),
    "a byte order mark": (
        {"hello": "reply = '\\ufeff' + json.dumps(reply)"}, "begins with a byte order mark"),
    "an end before hello": ({"before": "sys.exit('no licence')"}, "not reply to hello.*no licence"),
    "the first of the batch for all": (
        {"hello": "reply['batch'] = 64", "value": "reply['values'] = values[:1] * len(values)"},
        "depends on the rest of the batch.*last of 6, then alone, at x with w.0, 0. moved by"),
    "a gradient of an array": (
        {"describe": "reply['outputs'] = [{'name': 'y', 'shape': [1]}]"},
        r"describes y of shape \(1,\): describe an output of .*, or answer vjp"),
    "null for a value": ({"value": "reply['values'] = [None]"}, "how JavaScript writes NaN"),
}  # fmt: skip


@pytest.mark.parametrize(("statements", "said"), NOT_JUDGED.values(), ids=NOT_JUDGED)
def test_a_failure_to_judge_is_one_sentence(statements, said):
    with pytest.raises(ProgramError, match=f"(?s){said}"):
        checked(statements)


# What is judged, and wrong: (its statements; the reason; what is said)
JUDGED = {
    "adds up": (
        {"before": "dw, total = [], [0] * 6",
         "gradient": "dw = total = [a + v for a, v in zip(total, dw)]"},
        "nondeterministic", "keeps state between calls"),
    "column by column": (
        {"gradient": "dw = [dw[i] for i in (0, 3, 1, 4, 2, 5)]"},
        "wrong", "it is stored column by column, but read row by row"),
    "transposed, and nested": (
        {"reply": "d = reply['gradient']['w']; reply['gradient']['w'] = list(zip(d[:3], d[3:]))"},
        "shape", "shape (3, 2) for w, which has shape (2, 3)"),
    "one input forgotten": ({"reply": "del reply['gradient']['b']"}, "structure", "gradient for b"),
    "a strange input": ({"reply": "reply['gradient']['c'] = '1'"}, "structure", "'c', an unknown"),
}  # fmt: skip


@pytest.mark.parametrize(("statements", "reason", "said"), JUDGED.values(), ids=JUDGED)
def test_a_wrong_gradient_is_judged(statements, reason, said):
    report, notes = checked(statements)
    assert (report.verdict, report.reason, notes) == ("fail", reason, [])
    assert said in " ".join(str(report).split())


RIGHT = {
    "nested": "d = reply['gradient']['w']; reply['gradient']['w'] = [d[:3], d[3:]]",
    "a number in a list": "reply['gradient']['b'] = [reply['gradient']['b']]",
    "in the notation of C": "reply['gradient']['w'] = ['%+.17E' % v for v in dw]",
    "in a file": "reply['gradient']['w'] = in_file(struct.pack('<6d', *dw))",
    "with more keys": "reply['time'] = 0.1; reply['problem'] = None",
}


@pytest.mark.parametrize("what", RIGHT)
def test_a_right_gradient_is_read_in_every_notation(what):
    with from_command(child(reply=RIGHT[what])) as f:
        found = f.gradient(**f.inputs)
    w, b = W.reshape(-1), 0.5
    np.testing.assert_allclose(found["w"].reshape(-1), b * C * np.cos(C * w), rtol=1e-15)
    np.testing.assert_allclose(found["b"], np.sin(C * w).sum() + 2 * b, rtol=1e-15)
    assert (found["w"].shape, found["b"].shape) == ((2, 3), ())


# --- it comes to an end ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "statement", "said"),
    [
        ("silent", "if not at_x: time.sleep(60)", "was silent 2 times"),
        ("ended", "if not at_x: os._exit(1)", "ended 2 times"),
    ],
)
def test_a_program_that_fails_repeatedly_is_abandoned(limit, statement, said, monkeypatch):
    monkeypatch.setitem(module.MOST, limit, 2)
    with pytest.raises(ProgramError, match=f"{said}.* the check stopped asking"):
        checked({"value": statement}, timeout=0.4)


@pytest.mark.parametrize(
    ("size", "longest", "said"),
    [(300, 4000, r" \(the request had 6\d+ bytes: can it read a line as long as that\?\)"),
     (100, 1000, "")],
    ids=["a long one", "a short one"],
)  # fmt: skip
def test_a_program_that_fails_on_a_long_request_is_asked_if_it_can_read_it(size, longest, said):
    loop = "for line in sys.stdin:"
    slips = [(loop, f"{loop}\n    if len(line) > {longest}: break")]
    with (
        from_command(large_child(size=size, slips=slips)) as f,
        pytest.raises(ProgramError, match=rf"no value at the first point[^(]*{said}\Z"),
    ):
        f(**f.inputs)


def test_several_programs_share_one_limit_of_failures(monkeypatch):
    monkeypatch.setitem(module.MOST, "ended", 3)
    with pytest.raises(ProgramError, match="it ended 3 times"):
        checked({"value": "if points[0][1] > 0.5: os._exit(1)"}, workers=3)


def test_the_first_reply_may_take_longer():
    slow = {"value": "asked == 3 and time.sleep(0.8)"}  # as one that compiles what it is asked
    assert checked(slow, timeout=0.4)[0].verdict == "pass"
    with pytest.raises(ProgramError, match=r"gave no reply within 0\.8 s"):
        checked({"value": "asked == 3 and time.sleep(60)"}, timeout=0.4, first_timeout=0.8)


def test_a_broken_program_ends_all_the_others(tmp_path):
    first = f"os.open({str(tmp_path / 'first')!r}, os.O_CREAT | os.O_EXCL)"  # raises afterwards
    breaks = f"""
        if not at_x:
            try:
                {first}
            except FileExistsError:
                time.sleep(60)
            time.sleep(0.3)
            say('careful')"""
    begun = time.monotonic()
    with from_command(child(value=breaks), workers=3, timeout=30.0) as f:
        with pytest.raises(ProgramError, match="careful"):
            check_gradient(f, f.inputs, f.gradient)
        assert f.notes == []  # the others did not end by themselves
    assert time.monotonic() - begun < 10


# Each starts a process that goes to a session of its own, and tells of all by their ids.
STARTS_MORE = (
    "import signal, subprocess;"
    "other = subprocess.Popen(['sleep', '60'], start_new_session=True);"
    "open({!r}, 'a').write(f'{{os.getpid()}} {{other.pid}} ')"
)


@linux
@pytest.mark.parametrize("workers", ["1", "3"])
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"])
def test_a_signal_leaves_no_process_behind(name, workers, tmp_path, capsys):
    started = tmp_path / "started"
    signalled = f"if not at_x: os.kill(os.getppid(), signal.{name}); time.sleep(60)"
    command = child(before=STARTS_MORE.format(str(started)), value=signalled)
    assert __main__.main(["check", "--workers", workers, "--", *command]) == 2
    assert "Stopped" in capsys.readouterr().err
    processes = started.read_text().split()
    assert len(processes) >= 2
    for process in processes:
        assert_it_goes(process)


@linux
@pytest.mark.parametrize("value", ["pass", "say('careful')"], ids=["right", "broken"])
def test_no_process_is_left_after_a_check(value, tmp_path):
    started = tmp_path / "started"
    command = child(before=STARTS_MORE.format(str(started)), value=value)
    status = __main__.main(["check", "--workers", "2", "--", *command])
    assert status == (2 if "say" in value else 0)
    for process in started.read_text().split():
        assert_it_goes(process)


def test_a_garbage_collected_function_ends_its_program(tmp_path):
    told = tmp_path / "id"
    f = from_command(child(before=f"open({str(told)!r}, 'w').write(str(os.getpid()))"))
    process = int(told.read_text())
    os.kill(process, 0)
    del f
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
