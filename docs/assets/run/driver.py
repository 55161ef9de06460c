"""Runs the examples of a page, and checks exercises, in the reader's browser (see worker.js)."""

import builtins
import contextlib
import difflib
import importlib
import io
import json
import linecache
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from types import FrameType
from typing import Any

MOST_LINES = 3  # that are told apart by their color and their dashes
DRAWN: list[dict[str, Any]] = []
KNOWN = ("numpy", "gradcheck_ref", *sys.stdlib_module_names)


class Silence(io.TextIOBase):
    """Swallows what is printed."""

    def write(self, text: str) -> int:
        """Take the text, and keep nothing of it."""
        return len(text)


def run(sources: Sequence[str]) -> tuple[str, str]:
    """Run examples from top to bottom, in one new namespace; only the last one is heard.

    Parameters
    ----------
    sources : sequence of str
        The examples.

    Returns
    -------
    error : str
        What ended them: the name of the exception, empty where there was none.
    missing : str
        The module that was not there, if that is what ended them.
    """
    names = {"__name__": "__main__", "plot": plot}
    DRAWN.clear()
    for number, source in enumerate(sources, 1):
        name = f"<example {number} on this page>"
        lines = source.splitlines(keepends=True)
        linecache.cache[name] = (len(source), None, lines, name)  # for the lines of a traceback
        heard = number == len(sources)
        try:
            with contextlib.nullcontext() if heard else contextlib.redirect_stdout(Silence()):
                exec(compile(source, name, "exec", dont_inherit=True), names)
        except BaseException as error:  # a SystemExit too: there is nobody to catch it
            # The first frame is this function, which is none of the reader's business.
            own, error.__traceback__ = error.__traceback__, None
            traceback.print_exception(error.with_traceback(own.tb_next))
            missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
            near = difflib.get_close_matches(missing, KNOWN, 1)
            if missing == "matplotlib":
                print("plot(x, y) draws on this page, without matplotlib.")
            elif near and missing not in KNOWN:
                print(f"Did you mean {near[0]}?")
                missing = ""
            return type(error).__name__, missing
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
    return "", ""


def plot(
    x: Sequence[float], *ys: Sequence[float], log: str = "", names: Sequence[str] = ()
) -> None:
    """Draw up to three lines over ``x`` below the code; ``log`` is "x", "y" or "xy"."""
    if not 1 <= len(ys) <= MOST_LINES:
        raise ValueError(f"plot(x, y) draws one to {MOST_LINES} lines over x; here are {len(ys)}")

    def shown(*point: float) -> bool:
        return all(
            isfinite(z) and (z > 0 or way not in log) for z, way in zip(point, "xy", strict=True)
        )

    lines = [[(float(a), float(b)) for a, b in zip(x, y, strict=True)] for y in ys]
    lines = [[point for point in line if shown(*point)] for line in lines]

    def axis(k: int) -> dict[str, Any]:
        values = [point[k] for line in lines for point in line] or [1.0]
        low, high = min(values), max(values)
        room = 0.0 if low < high else abs(low) / 2 or 1.0  # a line that is level
        return {"label": "xy"[k], "from": low - room, "to": high + room, "log": "xy"[k] in log}

    series: list[dict[str, Any]] = [{"points": line} for line in lines]
    for one, name in zip(series, names, strict=False):
        one["name"] = name
    DRAWN.append({"across": axis(0), "up": axis(1), "series": series})


def drawn() -> str:
    """Return what ``plot`` has drawn since the last time, as JSON, and forget it."""
    pictures = json.dumps(DRAWN)
    DRAWN.clear()
    return pictures


def tell_what_runs(tell: Callable[[str], None]) -> None:
    """Have each alarm say which of the reader's lines runs, as in ``line 3: while True:``."""

    def say(_: int, frame: FrameType | None) -> None:
        while frame and not frame.f_code.co_filename.startswith(("<example", "/course/work/")):
            frame = frame.f_back
        if frame:
            linecache.checkcache(frame.f_code.co_filename)
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
            tell(f"line {frame.f_lineno}: {line}")

    signal.signal(signal.SIGALRM, say)


def write(course: str, files: Mapping[str, str]) -> None:
    """Write the reader's files to ``work/``, and forget what was there and was imported."""
    work = Path(course, "work")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for name, source in files.items():
        (work / f"{name}.py").write_text(source, encoding="utf-8")
    for name in [name for name in sys.modules if name.startswith("work.")]:
        del sys.modules[name]
    importlib.invalidate_caches()


def check(course: str, exercise: str, columns: int, language: str = "en") -> str:
    """Check a file as the course does on a learner's computer; print only what the file prints.

    Parameters
    ----------
    course : str
        The folder that the course is in.
    exercise : str
        The name of the exercise, as of its folder.
    columns : int
        How wide the screen is.
    language : str
        The language of the page, as ``<html lang>`` has it.

    Returns
    -------
    json : str
        What ``exercises/in_page.py`` says. Or ``missing``, the module that the checks need and
        that is not there.
    """
    os.chdir(course)
    os.environ |= {"COLUMNS": str(columns), "FORCE_COLOR": "1"}
    place = str(Path(course, "exercises"))
    if place not in sys.path:
        sys.path.insert(0, place)
    builtins.plot = plot  # type: ignore[attr-defined]  # it is not shown, and is no mistake
    try:
        # By the checks: what the learner's file raises is told by them.
        return json.dumps(importlib.import_module("in_page").check(exercise, language))
    except ModuleNotFoundError as error:
        return json.dumps({"missing": error.name or "a module"})
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
