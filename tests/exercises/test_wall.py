"""The wall: what it holds, what it does not, and that nothing is left behind."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from graded import ROOT
from hostile_submissions import ATTACKS, NONE, PROBE, WALLS

from grader import traces, wall
from grader.command import SUBMISSION_SECONDS
from grader.handed_in import MOST_BYTES, MOST_BYTES_OF_A_NOTEBOOK
from grader.limits import PATIENCE, Limits
from grader.link import Link
from grader.process import SHOWN
from grader.report import MOST_SAID
from grader.wire import MOST_KEYS

pytestmark = pytest.mark.slow

LIMITS = Limits(answer=1_000_000)
LIMITS_TOLD = ROOT / "exercises" / "grader" / "README.md"


@pytest.fixture(scope="module")
def there():
    """Return a folder as the course, or a class, that anybody could read but for the wall."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("solution.py", "checks.py", "work/06_relu.py"):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text("secret = 'secret'\n")
        for path in (folder, *folder.rglob("*")):
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0))
        yield folder


def put_up_or_skip(stack, kind=wall.BUBBLEWRAP, hidden=()):
    """Put up a wall of this kind; what cannot be put up here is skipped, by name."""
    try:
        return stack.enter_context(wall.put_up(hidden, kind=kind))
    except wall.NoWallError as refusal:
        pytest.skip(f"no wall here of the kind: {refusal}")


@pytest.fixture(scope="module", params=WALLS)
def put_up(request, there):
    with contextlib.ExitStack() as stack:
        it = put_up_or_skip(stack, request.param, [there])
        # Without a wall, as who grades: whether root can be left depends on where Python lies.
        yield it if request.param != NONE else replace(it, users=(0,))


@pytest.fixture(scope="module")
def attempts(put_up, there):
    """Return what became of each attack, all tried in one process."""
    os.environ["SECRET_TOKEN"] = "x"
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as beside:
        own, everybodys = Path(beside) / "own", Path(beside) / "everybodys"
        for file, mode in ((own, 0o600), (everybodys, 0o644), (Path(beside), 0o755)):
            file.is_dir() or file.write_text("text")
            file.chmod(mode)
        known = {"there": str(there), "own": str(own), "everybodys": str(everybodys)}
        known |= {"grader": os.getpid(), "port": server.getsockname()[1]}
        with Link("06_relu.py", PROBE.encode(), LIMITS, put_up) as link:
            attempt = link.submission().attempt
            yield {name: attempt(attack.code, **known) for name, attack in ATTACKS.items()}
    del os.environ["SECRET_TOKEN"]


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_succeeds_only_where_its_row_says_so(attempts, put_up, name):
    attack = ATTACKS[name]
    if put_up.name == NONE and attack.as_root and os.getuid() != 0:
        pytest.skip("it takes a grader who is root")
    assert (attempts[name] == "won") is (put_up.name in attack.through), attempts[name]
    assert not attempts[name].startswith(("NameError", "SyntaxError", "KeyError"))


FOUND = b"""
import asyncio, multiprocessing, os, sqlite3, tempfile
environment, here, there = dict(os.environ), os.getcwd(), os.listdir()
first_to_end = int(open("/proc/self/oom_score_adj").read())
"""


def test_a_submission_has_a_home_and_little_else_and_leaves_nothing_behind(put_up, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    before = traces.children()
    with Link("06_relu.py", FOUND, LIMITS, put_up) as link:
        found = link.submission()
        assert link._process is not None
        home = link._process._room.home
        assert home.exists()
        assert set(found.environment) <= {*wall.KEPT, *wall.ENVIRONMENT} | {
            *("HOME", "TMPDIR", "PYTHONPATH", "PWD", "LC_CTYPE")
        }
        assert found.environment["HOME"] == found.environment["TMPDIR"] == found.here
        assert found.there == []
        assert found.first_to_end == 1000  # when memory runs out
    assert not home.exists()
    assert traces.children() == before


GRADER = """
from grader import wall
from grader.limits import Limits
from grader.link import Link

limits = Limits(call_seconds=60, seconds=98765)
source = b"import time; time.sleep(99)"
with wall.put_up() as it, Link("06_relu.py", source, limits, it) as link:
    link.submission()
"""


def until(true, seconds):
    """Wait until something is true; return whether it is."""
    end = time.monotonic() + seconds
    while not (found := true()) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def workers_of_it():
    """Return the processes that are started with its seconds: bubblewrap's and the worker."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # gone again
            found += [path] * (b"grader.worker\x0098766\x00" in path.read_bytes())
    return found


def test_a_grader_that_is_killed_takes_the_submission_with_it(tmp_path):
    with contextlib.ExitStack() as stack:
        put_up_or_skip(stack)
    places = [str(ROOT), str(ROOT / "exercises"), os.environ.get("PYTHONPATH", "")]
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "TMPDIR": str(tmp_path)}
    tmp_path.chmod(0o711)
    running = subprocess.Popen([sys.executable, "-c", GRADER], env=known)
    assert until(lambda: len(workers_of_it()) >= 2, seconds=60)
    time.sleep(2)  # for it to have become who it is
    assert len(workers_of_it()) >= 2
    running.kill()
    running.wait()
    assert until(lambda: not workers_of_it(), seconds=10)


def test_a_folder_of_the_system_that_is_to_be_hidden_is_empty_and_stays_so():
    hidden = Path("/usr/share")
    with contextlib.ExitStack() as stack:
        it = put_up_or_skip(stack, hidden=[hidden])
        with Link("06_relu.py", PROBE.encode(), LIMITS, it) as link:
            attempt = link.submission().attempt
            assert attempt(f"won = os.listdir({str(hidden)!r}) == []") == "won"
            assert "Read-only" in attempt(f"os.mkdir('{hidden}/new')")


@pytest.mark.parametrize("kind", WALLS)
def test_if_root_grades_each_process_has_its_own_user(kind):
    found = set()
    with contextlib.ExitStack() as stack:
        it = put_up_or_skip(stack, kind)
        if it.users == (0,):
            pytest.skip("it takes a grader who is root, and a Python that others can start")
        for _ in range(2):
            with Link("06_relu.py", b"import os\nwho = os.getresuid()", LIMITS, it) as link:
                found.add(link.submission().who)
    assert len(found) > 1  # of 20,000
    assert all(len({*who}) == 1 and who[0] in wall.USERS for who in found)


def test_the_limits_that_are_told_are_the_real_ones():
    table = LIMITS_TOLD.read_text().partition("## Limits")[2].partition("## What a")[0]
    limits = Limits()
    assert {int(n.replace(" ", "")) for n in re.findall(r"\b\d[\d ]*\b", table)} == {
        *(limits.call_seconds, limits.next_seconds, limits.seconds, limits.memory / 1e9),
        *(limits.call_seconds + limits.load_seconds, limits.answer, limits.output),
        *(SUBMISSION_SECONDS, PATIENCE * limits.seconds, SHOWN, MOST_SAID, MOST_KEYS),
        *(MOST_BYTES, MOST_BYTES_OF_A_NOTEBOOK),
        *(60_000, 5000),  # of what somebody hands in
    }


# --- if it cannot be put up ----------------------------------------------------------------------


def test_a_forbidden_bubblewrap_is_reported(monkeypatch, tmp_path):
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(wall.NoWallError, match="bwrap: No permissions"), wall.put_up():
        pass


def test_a_wall_that_does_not_work_is_refused(monkeypatch):
    with wall.put_up(kind=NONE) as it:
        wall.prove(it, [])
        with pytest.raises(wall.NoWallError, match="exercises can be seen"):
            wall.prove(replace(it, users=(0,)), [ROOT / "exercises"])
        with pytest.raises(wall.NoWallError, match="No module named 'numpy'"):
            wall.prove(replace(it, path=(it.path[0], "/nowhere")), [])
        monkeypatch.setattr(wall, "PYTHON", "/nowhere/python")
        with pytest.raises(wall.NoWallError, match="No such file"):
            wall.prove(it, [])


def test_a_wall_works_with_a_strict_umask():
    before = os.umask(0o077)
    try:
        with contextlib.ExitStack() as stack:
            put_up_or_skip(stack)
    finally:
        os.umask(before)


def test_the_tools_of_a_submission_are_removed_and_hold_no_vectors():
    with wall.put_up(kind=NONE) as it:
        lib = it.tools / "lib"
        assert sorted(path.name for path in (lib / "grader").iterdir()) == [
            *("__init__.py", "clock.py", "kernel.py", "wire.py", "worker.py")
        ]
        assert (lib / "gradcheck_ref" / "__init__.py").exists()
        assert not list(lib.rglob("vectors"))
    assert not it.tools.exists()
