"""The command line, as a user types it."""

import io
import json
import subprocess
import sys

import pytest

import gradcheck_ref
from gradcheck_ref import __main__
from gradcheck_ref.tour import tour


def test_the_tour_ends_with_status_0_and_nothing_on_stderr():
    done = subprocess.run(
        [sys.executable, "-m", "gradcheck_ref"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "FAIL  b1: 8 of 8 entries differ" in done.stdout
    assert "\x1b" not in done.stdout  # a pipe gets no colour


def test_the_width_of_the_terminal_is_kept(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "45")
    assert __main__.main([]) == 0
    assert max(len(line) for line in capsys.readouterr().out.splitlines()) <= 45


@pytest.mark.parametrize("arguments", [["--jsn"], ["tuor"]], ids=" ".join)
def test_a_usage_error_ends_with_status_2_and_advice(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        __main__.main(arguments)
    assert end.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as end:
        __main__.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out.strip() == f"gradcheck-ref {gradcheck_ref.__version__}"


@pytest.fixture(scope="module")
def seen():
    """Make the tour once, for all to whom only matters what is made of it."""
    return tour()


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


class Terminal(io.StringIO):
    """A stdout that says it is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_a_terminal_gets_colour_unless_no_color_is_set(seen, monkeypatch, no_color, coloured):
    terminal = Terminal()
    monkeypatch.setattr(__main__, "tour", lambda width: seen)
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys, "stdout", terminal)
    assert __main__.main([]) == 0
    assert ("\x1b[" in terminal.getvalue()) == coloured
