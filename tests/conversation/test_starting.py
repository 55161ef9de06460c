"""A program that does not start is told why, and what to do."""

import subprocess
from pathlib import Path

import pytest

from gradcheck_ref.conversation.starting import why_not_started

# How a program may fail to start: (what is made of the file, how it is called; what is said)
STARTS = {
    "not there": (None, "./model", "there is no such program"),
    "in quotes": (None, "python3 model.py", "without quotes: python3 model.py"),
    "no name": (None, "", "its name is empty"),
    "a directory": ("folder", "./model", "it is a directory"),
    "without ./": (0o755, "model", "with ./, as in ./model"),
    "not executable": (0o644, "./model", "it is not executable: chmod +x ./model"),
    "not executable, of a kind": (0o644, "./model.py", "or run it with python3 ./model.py"),
    "a source": (0o644, "./model.c", "it is source code: compile it"),
    "no #!": (0o755, "./model.js", "needs a first line with #! and its interpreter; or run it"),
    "no interpreter": (b"#!/usr/bin/no-such\r\n", "./model", "asks for /usr/bin/no-such, which"),
}


@pytest.mark.parametrize("what", STARTS)
def test_a_program_that_does_not_start_gets_advice(what, tmp_path, monkeypatch):
    made, called, said = STARTS[what]
    monkeypatch.chdir(tmp_path)
    path = tmp_path / (Path(called).name or "model")
    if made == "folder":
        path.mkdir()
    elif made is not None:
        path.write_bytes(made if isinstance(made, bytes) else b"print\n")
        path.chmod(made if isinstance(made, int) else 0o755)
    why = ""
    try:
        subprocess.run([called])
    except OSError as error:
        why = why_not_started([called], error)
    assert why.startswith(f"cannot start {called}: ")
    assert said in why
