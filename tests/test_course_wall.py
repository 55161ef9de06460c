"""The walls: what each holds, what each does not, and that nothing is left behind."""

import itertools
import os
import re
import shutil
import socket
import sqlite3
import struct
import sys
import tempfile
from pathlib import Path

import pytest
from hostile_submissions import ATTACKS, NONE, OTHER_USER, PROBE, WALLS, at_the_top

from grader import cells, traces, wall, worker
from grader.command import SUBMISSION_SECONDS
from grader.handed_in import MOST_BYTES, MOST_BYTES_OF_A_NOTEBOOK
from grader.limits import Limits
from grader.link import Link
from grader.process import SHOWN
from grader.report import MOST_SAID

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
LIMITS = Limits(answer=1_000_000)
PAGE = ROOT / "docs" / "exercises" / "submissions.md"


@pytest.fixture(scope="module")
def there():
    """Return a folder as the course, or a class, that anybody could read but for the wall."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("solution.py", "checks.py", "work/06_relu.py", ".git/objects/pack"):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text("secret = 'secret'\n")
        with sqlite3.connect(folder / "marks.db") as marks:
            marks.execute("create table m (points)")
        marks.close()
        (folder / "own").write_text("for nobody else")
        (folder / "own").chmod(0o600)
        for path in (folder, *folder.rglob("*")):
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0))
        yield folder


def put_up_or_skip(kind, hidden=()):
    """Put up a wall of this kind; what cannot be put up here is skipped, by name."""
    up = wall.put_up(hidden, kinds=[kind])
    try:
        return up, up.__enter__()
    except wall.NoWallError as refusal:
        pytest.skip(f"no wall here of the kind: {refusal}")


@pytest.fixture(scope="module", params=WALLS)
def put_up(request, there):
    up, it = put_up_or_skip(request.param, [there])
    yield it
    up.__exit__(None, None, None)


@pytest.fixture(scope="module")
def attempts(put_up, there):
    """Return what became of each attack, all tried in one process."""
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as beside:
        own, everybodys = Path(beside) / "own", Path(beside) / "everybodys"
        for file, mode in ((own, 0o600), (everybodys, 0o644), (Path(beside), 0o755)):
            file.is_dir() or file.write_text("text")
            file.chmod(mode)
        known = {"there": str(there), "own": str(own), "everybodys": str(everybodys)}
        known |= {"grader": os.getpid(), "port": server.getsockname()[1]}
        with Link("06_relu.py", PROBE.encode(), LIMITS, put_up) as link:
            attempt = link.submission().attempt
            yield {name: attempt(_code(attack), **known) for name, attack in ATTACKS.items()}


def _code(attack):
    import textwrap

    return textwrap.dedent(attack.code)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gets_through_where_the_page_says_so_and_nowhere_else(attempts, put_up, name):
    attack = ATTACKS[name]
    if put_up.name == NONE and attack.root and os.getuid() != 0:
        pytest.skip("it takes a grader who is root")
    assert (attempts[name] == "won") is (put_up.name in attack.through), attempts[name]
    assert not attempts[name].startswith(("NameError", "SyntaxError", "KeyError"))


def test_every_attack_stands_on_the_page_with_what_becomes_of_it():
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", PAGE.read_text(), re.MULTILINE)
    told = {name: cells for name, *cells in rows if name in ATTACKS}
    assert told == {
        name: ["gets through" if kind in attack.through else "held" for kind in WALLS]
        for name, attack in ATTACKS.items()
    }


def test_nothing_is_left_of_a_submission(put_up):
    before = traces.children()
    with Link("06_relu.py", at_the_top("").encode(), LIMITS, put_up) as link:
        link.submission()
        assert link._process is not None
        home = link._process._room.home
        assert home.exists()
    assert not home.exists()
    assert traces.children() == before


def test_a_submission_finds_a_home_and_little_else_in_its_environment(put_up, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    source = b"import os\nfound = dict(os.environ)\nhere = os.getcwd()\nthere = os.listdir()\n"
    with Link("06_relu.py", source, LIMITS, put_up) as link:
        submission = link.submission()
        assert set(submission.found) <= {*wall.KEPT, *wall.ENVIRONMENT} | {
            *("HOME", "TMPDIR", "MPLCONFIGDIR", "PYTHONPATH", "PWD", "LC_CTYPE")
        }
        assert submission.found["HOME"] == submission.found["TMPDIR"] == submission.here
        assert submission.there == []


def test_libraries_that_are_imported_idly_find_what_they_need(put_up):
    pytest.importorskip("matplotlib")
    if str(wall.site()) not in put_up.path:
        pytest.skip("behind this wall there is only a copy of NumPy")
    source = b"import matplotlib.pyplot, asyncio, multiprocessing, tempfile, sqlite3\nfound = True"
    with Link("06_relu.py", source, LIMITS, put_up) as link:
        assert link.submission().found


def test_each_process_is_a_user_of_its_own(put_up):
    if not put_up.users:
        pytest.skip(f"behind this wall ({put_up.name}) all are the same")
    rooms = [put_up.room([]) for _ in range(3)]
    for room in rooms:
        room.leave()
    assert len({room.user for room in rooms}) == 3
    mine, yours = (set(put_up.share(slot, 2).users) for slot in (0, 1))
    assert not mine & yours
    assert mine | yours == set(put_up.users)


def test_two_who_grade_at_a_time_have_different_users(monkeypatch):
    monkeypatch.setattr(wall, "USERS", range(59_000, 59_002))
    monkeypatch.setattr(wall, "BLOCK", 1)
    with wall.some_users() as mine:
        with wall.some_users() as yours:
            assert {*mine, *yours} == {59_000, 59_001}
            with pytest.raises(wall.NoWallError, match="too many"), wall.some_users():
                pass
        with wall.some_users() as again:
            assert list(again) == list(yours)


# --- calls that the system refuses ---------------------------------------------------------------


def answer_to(program, *words):
    """Run a program of the filter, as the kernel does, on what it is told of a call."""
    told, at, seen = struct.pack("=iIQ6Q", *words, *[0] * (9 - len(words))), 0, 0
    while True:
        code, yes, no, number = struct.unpack_from("HBBI", program, 8 * at)
        at += 1
        if code == 0x20:
            (seen,) = struct.unpack_from("=I", told, number)
        elif code == 0x06:
            return "refused" if number != 0x7FFF0000 else "allowed"
        else:
            holds = {0x15: seen == number, 0x35: seen >= number, 0x45: seen & number != 0}[code]
            at += yes if holds else no


@pytest.mark.parametrize("machine", worker.REFUSED)
def test_what_is_refused_is_refused_on_every_processor_and_nothing_else(machine):
    processor, making, refused = worker.REFUSED[machine]
    program = worker.refusing(processor, making, refused)
    for number in range(500):
        expected = "refused" if number in refused else "allowed"
        assert answer_to(program, number, processor, 0) == expected
        assert answer_to(program, number, processor ^ 1, 0) == "refused"  # 32 bits, say
        assert answer_to(program, number | 0x40000000, processor, 0) == "refused"
    for number, argument in making.items():
        for flags, expected in (
            (os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY, "allowed"),
            (os.O_WRONLY | os.O_CREAT, "refused"),
            (os.O_RDWR | os.O_TMPFILE, "refused"),
        ):
            assert answer_to(program, number, processor, 0, *[0] * argument, flags) == expected


def test_where_the_calls_are_not_known_it_is_said(monkeypatch):
    monkeypatch.setattr(worker.platform, "machine", lambda: "vax")
    with pytest.raises(OSError, match="the calls of linux on vax are not known"):
        worker.forgo()


def test_the_limits_on_the_page_are_those_that_hold():
    table = PAGE.read_text().partition("## Limits")[2].partition("## A class")[0]
    limits = Limits()
    assert {int(n.replace(" ", "")) for n in re.findall(r"\b\d[\d ]*\b", table)} == {
        *(limits.call_seconds, limits.next_seconds, limits.seconds, limits.memory / 1e9),
        *(limits.answer, limits.output, SUBMISSION_SECONDS, SHOWN, MOST_SAID),
        *(MOST_BYTES, cells.MOST, MOST_BYTES_OF_A_NOTEBOOK),
        *(60_000, 5000),  # of what somebody hands in
    }


# --- which is chosen, and what if none can be --------------------------------------------------


def test_the_first_wall_that_can_be_put_up_is_taken(monkeypatch):
    with wall.put_up(kinds=["none", "another user"]) as it:
        assert it.name == "none"
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    with pytest.raises(wall.NoWallError) as refusal, wall.put_up():
        pass
    assert str(refusal.value).splitlines() == [
        *["bubblewrap: it is not installed; where apt is: apt-get install bubblewrap"] * 2,
        "another user: you are not root",
    ]


def test_a_wall_behind_which_the_course_can_be_seen_is_none(there):
    with wall.put_up(kinds=[NONE]) as it:
        wall.prove(it, [ROOT])  # nothing is promised
        it.name = "another user"
        with pytest.raises(wall.NoWallError, match="exercises can be seen"):
            wall.prove(it, [ROOT])


def test_a_wall_behind_which_python_does_not_start_is_none():
    with wall.put_up(kinds=[NONE]) as it:
        it.path = (it.path[0], "/nowhere")
        with pytest.raises(wall.NoWallError, match="No module named 'numpy'"):
            wall.prove(it, [ROOT])
        it.python = "/nowhere/python"
        with pytest.raises(wall.NoWallError, match="No such file"):
            wall.prove(it, [ROOT])


def test_where_new_files_are_for_their_owner_a_wall_stands_all_the_same():
    before = os.umask(0o077)
    try:
        up, _ = put_up_or_skip(OTHER_USER)
        up.__exit__(None, None, None)
    finally:
        os.umask(before)


def test_where_numpy_has_to_be_copied_it_need_not_be_compiled_in_every_process(monkeypatch):
    monkeypatch.setattr(
        traces, "reachable", lambda path, closed: path.suffix != "" or path.is_file()
    )
    up, it = put_up_or_skip(OTHER_USER)
    try:
        assert it.path == (str(it.tools / "lib"),)
        copied, here = it.tools / "lib" / "numpy", wall.site() / "numpy"
        names = [
            sorted(path.name for path in home.glob("__pycache__/*.pyc")) for home in (copied, here)
        ]
        assert names[0] == names[1]
    finally:
        up.__exit__(None, None, None)


def test_the_tools_of_a_submission_are_removed_and_hold_no_vectors():
    with wall.put_up(kinds=[NONE]) as it:
        lib = it.tools / "lib"
        assert sorted(path.name for path in (lib / "grader").iterdir()) == [
            *("__init__.py", "wire.py", "worker.py")
        ]
        assert (lib / "gradcheck_ref" / "__init__.py").exists()
        assert not list(lib.rglob("vectors"))
    assert not it.tools.exists()


# --- folders that are closed -------------------------------------------------------------------


def modes(*folders):
    return [oct(folder.stat().st_mode & 0o777) for folder in folders]


def test_folders_are_closed_to_others_and_opened_again(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir(mode=0o755)
    other.mkdir(mode=0o700)
    with traces.closed_to_others([one, other]):
        assert modes(one, other) == ["0o700", "0o700"]
    assert modes(one, other) == ["0o755", "0o700"]


def test_a_folder_that_another_grader_needs_closed_stays_closed(tmp_path):
    first, second = (traces.closed_to_others([tmp_path]) for _ in range(2))
    tmp_path.chmod(0o755)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert modes(tmp_path) == ["0o700"]
    second.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("file", "folder", "closed", "expected"),
    [
        (0o644, 0o755, False, True),
        (0o640, 0o755, False, False),
        (0o644, 0o750, False, False),
        (0o644, 0o755, True, False),
    ],
)
def test_who_can_reach_a_file(file, folder, closed, expected):
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "a" / "file"
        path.parent.mkdir()
        path.write_text("")
        path.chmod(file)
        path.parent.chmod(folder)
        Path(name).chmod(0o755)
        assert traces.reachable(path, [path.parent] if closed else []) is expected


def test_where_the_interpreter_is_out_of_reach_another_of_the_same_version_is_taken(monkeypatch):
    if os.getuid() != 0:
        pytest.skip("it takes a grader who is root")
    monkeypatch.setattr(wall, "same_pythons", lambda: iter(()))
    monkeypatch.setattr(traces, "reachable", lambda path, closed: False)
    with (
        pytest.raises(wall.NoWallError, match="others cannot reach"),
        wall.put_up(kinds=[OTHER_USER]),
    ):
        pass
    assert sys.version_info.minor == int(next(itertools.chain([sys.version.split(".")[1]])))
