"""Whatever a program does, the check comes to an end, with a verdict or a sentence."""

import json
import os
import re
import time

import pytest
from processes import assert_it_goes, linux
from program_child import check, child, large_child, products_child

from gradcheck_ref.adapters import from_command
from gradcheck_ref.programs import program


@pytest.fixture(autouse=True)
def file_of_the_child(monkeypatch, tmp_path):
    """Let the child know where it may write a file."""
    monkeypatch.setenv("FILE", str(tmp_path / "file"))


def named(name):
    """Return a child whose second input has another name."""
    return child(
        describe=f"b['name'] = {name!r}",
        before=f"read = lambda p: ([*map(float, p['whole']['w'])], float(p['whole'][{name!r}]))",
        reply=f"reply['gradient'][{name!r}] = reply['gradient'].pop('b')",
    )


def replying(w):
    """Return a child that replies with this for the gradient of w, which it would write as d."""
    return child(reply=f"d = reply['gradient']['w']; reply['gradient']['w'] = {w}")


def valued(value):
    """Return a child that replies with this in place of its values."""
    return child(value=f"reply['values'] = {value}")


REFUSED = "if b > 0.5: reply = {'id': reply['id'], 'refused': 'b is too large'}"
OLD_REPLY = ('reply["gradient"] = ', 'reply["gradient"] = {"base64": "AAAA"}; ')
PASS = "PASS w, b: all 7 entries agree"

# A right gradient passes in every notation: (the program, what is said)
RIGHT = {
    "nested": (replying("[d[:3], d[3:]]"), PASS),
    "in the notation of C": (replying("['%+.17E' % v for v in dw]"), PASS),
    "in a file": (replying("in_file(struct.pack('<6d', *dw))"), PASS),
    "a number in a list": (
        child(reply="reply['gradient']['b'] = [reply['gradient']['b']]"), PASS),
    "with more keys": (child(reply="reply['time'] = 0.1; reply['problem'] = None"), PASS),
    "whole numbers as floats": (
        child(hello="reply['batch'] = 4.0", describe="w['shape'] = [2.0, 3.0]"), PASS),
    "an input called lambda": (named("lambda"), "PASS w, lambda: all 7"),
    "an input called θ-1": (named("θ-1"), "PASS w, θ-1: all 7"),
    "a segmentation fault": (
        child(value="if b > 0.5: os.kill(os.getpid(), 11)"),
        "ended with status -11, by SIGSEGV; that was at"),
    "last words": (
        child(value="if b > 0.5: sys.exit('out of luck')"),
        "ended with status 1; stderr: out of luck"),
    "a point that it refuses": (
        child(value=REFUSED),
        ": b is too large"),
    "a crash in a batch": (
        child(hello="reply['batch'] = 64", value="if any(p[1] > .5 for p in points): os._exit(3)"),
        "ended with status 3; that was at"),
}  # fmt: skip

# A wrong one fails: (the program, what is said)
WRONG = {
    "a point that it refuses": (child(value=REFUSED, gradient="db *= 1.001"), "FAIL b"),
    "adds up": (
        child(before="dw, total = [], [0] * 6",
              gradient="dw = total = [a + v for a, v in zip(total, dw)]"),
        "keeps state between calls"),
    "column by column": (
        child(gradient="dw = [dw[i] for i in (0, 3, 1, 4, 2, 5)]"),
        "it is stored column by column, but read row by row"),
    "transposed": (
        replying("[*zip(d[:3], d[3:])]"), "shape (3, 2) for w, which has shape (2, 3)"),
    "of one entry": (replying("['1']"), "gradient gives shape (1,) for"),
    "of copies": (
        replying("[[d[:3], d[3:]]] * 2"), "each entry gets the gradients of all its copies"),
    "without an input": (child(reply="del reply['gradient']['b']"), "gradient for b"),
    "with a strange input": (child(reply="reply['gradient']['c'] = '1'"), "'c', an unknown"),
    "under another name": (
        child(reply="reply['gradient'] = {'q': ['1']}"),
        "it must give an object with the keys 'w', 'b', not an object with the keys 'q'"),
    "a little": (child(gradient="dw[0] *= 1 + 1e-5"), "would pass with --rtol"),
    "printed with %g": (
        replying("['%g' % v for v in dw]"),
        "w: it is right, but has only 6 digits try: write all digits with %.17g"),
    "an input that is not read": (
        valued("[repr(b) for _ in points]"),
        "Does f read w from somewhere else, and not from the point that it is sent?"),
    "a jvp of another shape": (
        products_child(jvp="del reply['jvp']['y']"), "gives shape () instead of (2,), ()"),
}  # fmt: skip
UNSURE = {
    "cancellation": (
        valued("[repr(float(v) + 1e7) for v in values]"), "accept this precision with --rtol"),
}  # fmt: skip

# What can be said of no gradient: (the program, what is said)
NOT_JUDGED = {
    "it refuses the point itself": (
        child(value="reply = {'id': reply['id'], 'refused': 'never'}"),
        "no value at the first point: it answers refused: never. Check at another point"),
    "it is not a number at the point itself": (
        valued("['nan']"), "point: it answers nan. Check at another point"),
    "null for a value": (valued("[None]"), "how JavaScript writes NaN"),
    "two values for one point": (child(value="values.append('1')"), "2 values for 1 point"),
    "two numbers": (
        valued("[[values[0], '1']]"), "its value of f has shape (2,), but should have ()"),
    "other names": (valued("[{'a': '1', 'b': '2'}]"), "its value is an object with a, b"),
    "it gives no value at x the second time": (
        child(value="if asked == 5: os._exit(7)"),
        "it gave a value at the point itself, but asked there again, it ended with status 7"),
    "half a line": (
        child(value="os.write(1, b'{\"id\": '); os._exit(4)"),
        'it ended with status 4 in the middle of a line: {"id":'),
    "it ends at the gradient": (child(gradient="os._exit(4)"), "asked for gradient, it ended with"),
    "another id": (
        child(value="reply['id'] = '7'"), 'the id "7" instead of "3": send one reply'),
    "words": (child(value="say('careful')"), "It is: careful. "),
    "an empty line": (child(before="say('')"), "It is: an empty line"),
    "a byte order mark": (
        child(hello="reply = '\\ufeff' + json.dumps(reply)"), "begins with a byte order mark"),
    "a flood": (child(value="os.write(1, b'x' * 10**6); time.sleep(60)"), "more than 10064 bytes"),
    "a flood on stderr": (
        child(value="os.write(2, b'x' * 10**6); os._exit(1)"), "no value at the first point"),
    "a file that is too short": (
        valued("[in_file(bytes(3))]"), "has 3 bytes, but should have 8: is it closed before the"),
    "a float32 in a file": (valued("[in_file(bytes(4))]"), "are its numbers float64"),
    "a device": (valued("[{'file': '/dev/zero'}]"), "no such file can be"),
    "a pipe": (
        child(before="import tempfile; p = tempfile.mkdtemp() + '/p'; os.mkfifo(p)",
              value="reply['values'] = [{'file': p}]"), "no such file can be read"),
    "a reply in an old form": (
        large_child(files=False, slips=[OLD_REPLY]), "Base64 is no longer read. Large arrays now"),
    "several inputs, one gradient": (
        child(reply="reply['gradient'] = ['1']"), "give an object with an array for each of w, b"),
    "a default of another shape": (
        child(describe="w['default'] = ['1']"),
        "the default of w has shape (1,), but should have (2, 3)"),
    "more axes than NumPy has": (child(describe="b['shape'] = [1] * 70"), "which is too large"),
    "two inputs of one name": (child(describe="w['name'] = 'b'"), "two inputs of the same name"),
    "a gradient of an array": (
        child(describe="reply['outputs'] = [{'name': 'y', 'shape': [1]}]"),
        "describes y of shape (1,): describe an output of"),
    "no value in its hello": (
        child(hello="reply['answers'] = ['describe', 'gradient']"), "does not promise value"),
    "nothing to check": (
        child(hello="reply['answers'].remove('gradient')"), "it answers no gradient, vjp or"),
    "a problem with hello": (
        child(hello="reply = {'id': reply['id'], 'problem': 'no licence'}"),
        "it does not reply to hello: it answers problem: no licence"),
    "an end before hello": (child(before="sys.exit('no licence')"), "stderr: no licence"),
    "the first of the batch for all": (
        child(hello="reply['batch'] = 64", value="reply['values'] = values[:1] * len(values)"),
        "depends on the rest of the batch"),
}  # fmt: skip

PROGRAMS = {
    f"{kind}: {what}": (*row, status)
    for status, kind, rows in (
        (0, "right", RIGHT),
        (1, "wrong", WRONG),
        (3, "unsure", UNSURE),
        (2, "not judged", NOT_JUDGED),
    )
    for what, row in rows.items()
}
# Who has typed a command knows options, and nothing of Python.
PYTHON = re.compile(r"max_evaluations|[ra]tol=|lambda \w|keepdims|mapping|\bgrads\b|first_timeout")


@pytest.mark.one_in(20)
@pytest.mark.parametrize("what", PROGRAMS)
def test_whatever_a_program_does_there_is_a_verdict_or_a_sentence(what, capsys):
    command, said, status = PROGRAMS[what]
    assert check(command) == status
    told = " ".join("".join(capsys.readouterr()).split())
    assert said in told
    assert not PYTHON.search(told)


# --- it comes to an end ----------------------------------------------------------------------

SLOW = "asked == 3 and time.sleep({})"  # as one that compiles what it is asked
SILENT = "if not at_x: time.sleep(60)"
# Silent programs and repeated ends, with how many are borne: (the value, options, what is said)
ENDS = {
    "silent at x, the second time": (
        "if asked == 5: time.sleep(60)", (), {}, "again, it gave no reply within 0.4 s"),
    "silent": (SILENT, (), {"silent": 2}, "was silent 2 times"),
    "silent, one of two": (SILENT, ("--workers", "2"), {"silent": 1}, "was silent"),
    "it ends": ("if not at_x: os._exit(1)", (), {"ended": 2}, "it ended 2 times"),
    "three share the limit": (
        "if b > 0.5: os._exit(1)", ("--workers", "3"), {"ended": 3}, "it ended 3 times"),
    "the first reply takes longer": (SLOW.format(0.6), (), {}, PASS),
    "the first reply takes too long": (SLOW.format(60), (), {}, "gave no reply within 0.8 s"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", ENDS)
def test_a_program_that_is_silent_or_ends_again_and_again_is_abandoned(what, capsys, monkeypatch):
    value, options, most, said = ENDS[what]
    for what_it_does, limit in most.items():
        monkeypatch.setitem(program.MOST, what_it_does, limit)
    patience = ["--timeout", "0.4", "--first-timeout", "0.8"]
    assert check(child(value=value), *patience, *options) == (0 if said == PASS else 2)
    told = " ".join("".join(capsys.readouterr()).split())
    assert said in told
    assert not PYTHON.search(told)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("size", "longest", "asked"), [(300, 4000, True), (100, 1000, False)])
def test_a_program_that_fails_on_a_long_request_is_asked_if_it_can_read_it(
    size, longest, asked, capsys
):
    loop = "for line in sys.stdin:"
    slips = [(loop, f"{loop}\n    if len(line) > {longest}: break")]
    assert check(large_child(size=size, slips=slips)) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "no value at the first point" in told
    assert ("bytes: can it read a line as long as that?" in told) == asked


# It starts a process that goes to a session of its own, and tells of both by their ids.
STARTS_MORE = (
    "import signal, subprocess;"
    "other = subprocess.Popen(['sleep', '60'], start_new_session=True);"
    "open({!r}, 'a').write(f'{{os.getpid()}} {{other.pid}} ')"
)
SIGNAL = "if not at_x: os.kill(os.getppid(), signal.{}); time.sleep(60)"
# One that comes later finds a file, and is silent.
ONE = "if not at_x: os.path.exists(os.environ['FILE']) and time.sleep(60); in_file(b''); say('no')"
LEAVING = {
    "a right program": ("pass", 0),
    "a broken one": ("say('careful')", 2),
    "one that is broken": (ONE, 2),
    **{name: (SIGNAL.format(name), 2) for name in ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")},
}


@linux
@pytest.mark.one_in(7)
@pytest.mark.parametrize("what", LEAVING)
def test_no_process_is_left_after_a_check(what, tmp_path, capsys):
    value, status = LEAVING[what]
    started = tmp_path / "started"
    command, begun = child(before=STARTS_MORE.format(str(started)), value=value), time.monotonic()
    assert check(command, "--json", "--workers", "3") == status
    assert time.monotonic() - begun < 20
    out, err = capsys.readouterr()
    if what.startswith("SIG"):
        found = json.loads(out)
        assert (found["status"], found["why"]) == (2, "the check was stopped")
        assert "Stopped" in err
    processes = started.read_text().split()
    assert len(processes) >= 2
    for process in processes:
        assert_it_goes(process)


def test_a_garbage_collected_function_ends_its_program(tmp_path):
    told = tmp_path / "id"
    f = from_command(child(before=f"open({str(told)!r}, 'w').write(str(os.getpid()))"))
    process = int(told.read_text())
    os.kill(process, 0)
    del f
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
