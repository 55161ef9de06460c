"""The command line, as a user types it."""

import functools
import json
import os
import subprocess
import sys

import pytest

import gradcheck_ref
from gradcheck_ref import __main__


@functools.cache
def run(*arguments, **environment):
    """Run it as a user does; what was run already says the same again."""
    return subprocess.run(
        [sys.executable, "-m", "gradcheck_ref", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


def test_the_tour_ends_with_status_0_and_nothing_on_stderr():
    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    assert "FAIL  b1: 8 of 8 entries differ" in done.stdout


def test_json_gives_the_same_as_data():
    done = run("--json")
    assert (done.returncode, done.stderr) == (0, "")
    seen = json.loads(done.stdout)
    assert seen["passed"]
    assert len(seen["stages"]) == 5


def test_a_pipe_gets_no_colour():
    assert "\x1b" not in run().stdout


def test_the_width_of_the_terminal_is_kept():
    assert max(len(line) for line in run(COLUMNS="45").stdout.splitlines()) <= 45


@pytest.mark.parametrize("arguments", [["--jsn"], ["tuor"]], ids=" ".join)
def test_bad_use_ends_with_status_2_and_says_how(arguments):
    done = run(*arguments)
    assert done.returncode == 2
    assert "usage:" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_version_is_that_of_the_package():
    assert run("--version").stdout.strip() == f"gradcheck-ref {gradcheck_ref.__version__}"


def test_a_tour_that_failed_ends_with_status_1(monkeypatch, capsys):
    seen = {**__main__.tour(), "passed": False}
    monkeypatch.setattr(__main__, "tour", lambda width: seen)
    assert __main__.main([]) == 1


class Terminal:
    """A stdout that says it is a terminal."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_a_terminal_gets_colour_unless_no_color_is_set(monkeypatch, no_color, coloured):
    terminal = Terminal()
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys, "stdout", terminal)
    assert __main__.main([]) == 0
    assert ("\x1b[" in terminal.text) == coloured
