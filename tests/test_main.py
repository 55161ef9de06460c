"""The command line, as a user types it."""

import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from beside import status_of
from program_child import child

import gradcheck_ref
from gradcheck_ref import __main__

CHECK = ["check", "--", *child()]
# (what is asked, where the output goes, the exit status, what is on stderr)
PROCESSES = {
    "the tour": ([], "", 0, ""),
    "a full disk": (CHECK, ">/dev/full", 2, "gradcheck-ref: [Errno 28] No space left on device"),
    "nobody reads on": (["oracle", "list"], ">&{closed}", 2, ""),
    "a full disk for all": (CHECK, ">/dev/full 2>/dev/full", 2, ""),
    "no output": (CHECK, ">&-", 0, ""),
    "nobody reads a verdict": (CHECK, ">&{closed}", 2, ""),
}


@pytest.mark.one_in(6)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to write to")
@pytest.mark.parametrize("what", PROCESSES)
def test_a_result_that_cannot_be_written_is_no_failure_and_no_traceback(what):
    arguments, where, status, said = PROCESSES[what]
    end, closed = os.pipe()
    os.close(end)
    command = shlex.join([sys.executable, "-m", "gradcheck_ref", *arguments])
    done = subprocess.run(
        f"exec {command} {where.format(closed=closed)}",
        shell=True,
        executable="/bin/bash",
        pass_fds=[closed],
        capture_output=True,
        text=True,
    )
    os.close(closed)
    assert (done.returncode, done.stderr.strip()) == (status, said)
    assert bool(done.stdout) == (what == "the tour")
    assert "\x1b" not in done.stdout  # a pipe gets no colour


@pytest.mark.parametrize("arguments", [["--jsn"], ["tuor"]], ids=" ".join)
def test_a_usage_error_ends_with_status_2_and_advice(arguments, capsys):
    assert status_of(__main__.main, *arguments) == 2
    assert "usage:" in capsys.readouterr().err


def test_the_version_is_that_of_the_package(capsys):
    assert status_of(__main__.main, "--version") == 0
    assert capsys.readouterr().out.strip() == f"gradcheck-ref {gradcheck_ref.__version__}"


def test_json_gives_the_tour_as_data(seen, monkeypatch, capsys):
    monkeypatch.setattr(__main__, "tour", lambda width: seen)
    assert __main__.main(["--json"]) == 0
    out, err = capsys.readouterr()
    assert (json.loads(out), err) == (seen, "")
    assert seen["passed"]
    assert len(seen["stages"]) == 5


def test_a_tour_that_failed_ends_with_status_1(seen, monkeypatch, capsys):
    monkeypatch.setattr(__main__, "tour", lambda width: {**seen, "passed": False})
    assert __main__.main([]) == 1


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_a_terminal_gets_colour_unless_no_color_is_set(seen, monkeypatch, no_color, coloured):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(__main__, "tour", lambda width: seen)
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys, "stdout", terminal)
    assert __main__.main([]) == 0
    assert ("\x1b[" in terminal.getvalue()) == coloured
