"""Who calls f at many points: this process one by one, f itself all at once, or workers.

A point is a way and a step along it, which is little to send. What is large, f and the inputs, goes
to every process once, and is known there by a key.
"""

import math
import multiprocessing
import os
import pickle
import platform
import signal
import sys
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.lines import Units, Way
from gradcheck_ref.structure import AnotherShapeError, Outputs

# Points handed to f.many hold no more numbers than this in all, 32 MB; and are no more than these.
NUMBERS, POINTS = 2**22, 1024

# A chunk takes a worker about so long, in seconds: long beside the sending, short beside the rest.
A_WHILE = 0.02

# So many functions are remembered by a process that serves several checks.
REMEMBERED = 4

# What is noted on an error that comes from f, or from how it is called.
BY_F = "in a worker of gradcheck_ref"

WHY_IT_DIED = (
    "by a crash in compiled code, or for want of memory? Check with workers=None to see where"
)

# What else it may be that is not forked.
OR_NEVER_CAME = (
    "; or because it could not import f, which was defined in a notebook or at a prompt? Put f "
    "into a module, or hand over a concurrent.futures.ThreadPoolExecutor as workers"
)

# How a function says that a point is outside of its domain, if it can be called at x; and what is
# no such thing, though it is of that kind.
OUTSIDE, INSIDE = (ValueError, RuntimeError), (NotImplementedError, RecursionError)

# A step along a way.
Place = tuple[Way, float]


@dataclass(frozen=True)
class Work:
    """All that is needed to work out f at a place; the same for every place.

    Where f has an attribute ``many``, that takes a list of points; where it has an attribute
    ``at_places``, that takes places: who sends a point far away would rather know how it came
    about.
    """

    f: Callable[..., Any]
    units: Units  # of the coordinates, and the point
    outputs: Outputs  # how what f returns is read
    at_x: bool = True  # whether a step of 0 leads to x, where f must be defined
    outside: list[str] = field(default_factory=list)  # what f raised where it is not defined
    key: str = field(default_factory=lambda: uuid.uuid4().hex)  # what other processes know it by

    def values(self, places: Sequence[Place]) -> Array:
        """Work out f at some places, (places, outputs).

        NaN for what is not finite, and where f raises what says that it is not defined there.
        """
        rows = np.empty((len(places), self.outputs.size), self.outputs.dtype)
        with np.errstate(all="ignore"):  # that f leaves its domain is our doing, not the caller's
            if hasattr(self.f, "at_places"):
                for row, value in enumerate(self.f.at_places(places)):
                    rows[row] = self.outputs.numbers(value)
            elif hasattr(self.f, "many"):
                each = max(1, min(POINTS, NUMBERS // max(1, self.units.inputs.size)))
                for start in range(0, len(places), each):
                    self._together(places[start : start + each], rows[start : start + each])
            else:
                self._one_by_one(places, rows)
        rows[~np.isfinite(rows)] = np.nan
        return rows

    def value(self, values: list[Any]) -> Array:
        """Call f at x, with these values of the inputs; an error gets a note of where that was."""
        try:
            return self.outputs.flat(self.units.inputs.call(self.f, values))
        except BaseException as error:
            error.add_note(note_on(error, "x", self.units.inputs.only_numbers, self.f))
            raise

    def _one_by_one(self, places: Sequence[Place], rows: Array) -> None:
        """Put values in rows; NaN where f says that it is not defined, unless that is x."""
        inputs, outputs = self.units.inputs, self.outputs
        for row, (way, t) in enumerate(places):
            point = way.point(t)
            try:
                rows[row] = outputs.numbers(inputs.call(self.f, point))
            except BaseException as error:
                error.add_note(note_on(error, way.where(t), inputs.only_numbers, self.f))
                inside = isinstance(error, (*INSIDE, AnotherShapeError))
                if inside or not isinstance(error, OUTSIDE) or not self._any_away([(way, t)]):
                    raise
                said = str(error).strip().split("\n")[0]
                what = f"{type(error).__name__} at {way.where(t)}{said and f' ({said})'}"
                self.outside.append(what)
                rows[row] = np.nan
            del point  # before there is another: it may be large

    def _any_away(self, places: Sequence[Place]) -> bool:
        return not self.at_x or any(t != 0 for _, t in places)

    def _together(self, places: Sequence[Place], rows: Array) -> None:
        """Put values in rows, with one call of f.many."""
        try:
            values = self._many(places)
        except OUTSIDE as error:  # of which point, only the points one by one can tell
            if isinstance(error, (*INSIDE, NotOneForEachError)) or not self._any_away(places):
                raise
            self._one_by_one(places, rows)
            return
        for row, value in enumerate(values):
            rows[row] = self.outputs.numbers(value)

    def _many(self, places: Sequence[Place]) -> Sequence[Any]:
        points = [self.units.inputs.arranged(way.point(t)) for way, t in places]
        try:
            values = self.f.many(points)  # type: ignore[attr-defined]
        except BaseException as error:
            error.add_note(f"in gradcheck_ref, calling f.many with {len(points)} points")
            raise
        try:
            count = len(values)
        except TypeError:
            count = -1
        if count != len(points):
            got = "what has no length" if count < 0 else f"{count} values"
            raise NotOneForEachError(
                f"f.many must return one value for each point, but gives {got} for {len(points)}"
            )
        return list(values)


class NotOneForEachError(ValueError):
    """What `many` of a function gives has no value for each point."""


def note_on(error: BaseException, where: str, only_numbers: bool, f: Callable[..., Any]) -> str:
    """Say where f was called when it raised an error, and what may be behind it."""
    note = f"in gradcheck_ref, calling f at {where}"
    if isinstance(error, ArithmeticError) and where != "x":
        note += "; if f is not defined there, let it return NaN, as np.log and np.sqrt do"
    # A function with optional parameters takes them, so that no signature told before.
    if isinstance(error, TypeError) and only_numbers:
        note += "; inputs holds numbers, each an argument: for one array, pass np.array"
    if hasattr(f, "open_tree"):  # it is adapted already
        return note
    if isinstance(error, TypeError) and "Tensor" in str(error):
        note += "; it gets NumPy arrays: if it is made for torch tensors, hand over from_torch(f)"
    elif isinstance(error, AttributeError) and " object has no attribute " in str(error):
        note += (
            "; it gets NumPy arrays: if it is made for those of torch or JAX, hand over "
            "from_torch(f) or from_jax(f)"
        )
    return note


class Chunk:
    """Some places for a worker. Sent to another process it takes the key of the work along.

    Only a whole one takes the work itself along. It may be sent by way of others, as through the
    scheduler of a cluster, who do nothing with it. It is no dataclass: dask hashes all fields of
    these, but of other things only what is sent.
    """

    def __init__(
        self, work: Work | None, key: str, places: Sequence[Place], whole: bool = False
    ) -> None:
        self.work, self.key, self.places, self.whole = work, key, places, whole

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave at home what all places have in common."""
        work = self.work if self.whole else None
        return Chunk, (work, self.key, _with_units(None, self.places), self.whole)


class Stranger(NamedTuple):
    """The answer of a process that does not know the work."""

    host: str
    process: int


class Answer(NamedTuple):
    """The answer of one who knows it: the values, and what f raised where it is not defined."""

    values: Array
    outside: list[str]


_known: dict[str, Work] = {}


def _remember(work: Work) -> None:
    _known.pop(work.key, None)
    _known[work.key] = work
    for key in list(_known)[:-REMEMBERED]:
        _known.pop(key, None)  # a process may have many threads


def _with_units(units: Units | None, places: Sequence[Place]) -> list[Place]:
    """Return the same places of these units; a way stays one, for it keeps what it works out."""
    ways = {id(way): way for way, _ in places}
    for key, way in ways.items():
        if way.units is not units:
            ways[key] = replace(way, units=units)  # type: ignore[type-var]
    return [(ways[id(way)], t) for way, t in places]


def run(chunk: Chunk) -> Answer | Stranger:
    """Work out a chunk, perhaps in another process, which may not know the work."""
    work = chunk.work or _known.get(chunk.key)
    if work is None:
        return Stranger(platform.node(), os.getpid())
    if chunk.whole:
        _remember(work)
    work = replace(work, outside=[])  # several may be at it in one process
    try:
        return Answer(work.values(_with_units(work.units, chunk.places)), work.outside)
    except Exception as error:
        error.add_note(BY_F)
        told = _to_be_sent(error)
    raise told  # out here, where it gets no context that would have to be sent along


def _to_be_sent(error: Exception) -> Exception:
    """Return an error itself, or what can be said of it where it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        told = RuntimeError(f"{type(error).__name__}: {error}")
        for note in error.__notes__:
            told.add_note(note)
        return told


class Crew:
    """Those who call f, for as long as a check takes.

    They are this process for None or 1, so many processes, or whoever else does the work.
    """

    def __init__(self, workers: Any = None) -> None:
        self.workers = workers
        self.executor = workers if isinstance(workers, Executor) else None
        # How many share the work, as far as one can know.
        self.hands: int = getattr(workers, "_max_workers", 1)
        if isinstance(workers, int):
            self.hands = workers if workers > 0 else available_cores()
        self.own: ProcessPoolExecutor | None = None
        self.processes: list[Any] = []
        self.forked = True  # so that they know what this process does

    def __enter__(self) -> "Crew":
        """Begin; processes are started when there is something to do."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Leave no process behind, however this ends."""
        if self.own is not None:
            self.own.shutdown(wait=error is None, cancel_futures=True)
            if error is not None:
                for process in self.processes:
                    process.terminate()
                for process in self.processes:
                    while process.is_alive():  # until the executor, that waits too, has noted it
                        process.join(0.01)

    def values(
        self, work: Work, places: Sequence[Place], seconds: float, tick: Callable[[int], None]
    ) -> Array:
        """Return f at all places, (places, outputs), in their order.

        One evaluation takes about so many seconds; ``tick`` is told how many more are done.
        """
        if not places:
            return work.values([])
        parts = self._parts(work, places, seconds)
        found: list[Array] = []
        if self.workers is None or self.workers == 1:
            for part in parts:
                found.append(work.values(part))
                tick(len(part))
            return np.concatenate(found)
        if isinstance(self.workers, int) and self.own is None:
            self._start(work)
        found = self._spread(work, [Chunk(work, work.key, part) for part in parts])
        tick(len(places))
        return np.concatenate(found)

    def _parts(self, work: Work, places: Sequence[Place], seconds: float) -> list[Sequence[Place]]:
        """Part the places so that nobody waits long for whoever is last."""
        size = len(places)
        if hasattr(work.f, "many"):  # how many are asked for at once may touch the last digits
            return [places[start : start + POINTS] for start in range(0, size, POINTS)]
        count = self.hands * math.ceil(size * max(seconds, 1e-9) / A_WHILE / self.hands)
        count = min(count, size)
        ends = [size * k // count for k in range(count + 1)]
        return [places[start:end] for start, end in pairwise(ends)]

    def _spread(self, work: Work, chunks: list[Chunk]) -> list[Array]:
        try:
            found = self._ask(chunks)
            while missing := [k for k, rows in enumerate(found) if isinstance(rows, Stranger)]:
                # Each process gets the work once and keeps it; so the other chunks do without.
                strangers = len({found[k] for k in missing})
                again = [
                    Chunk(work, work.key, chunks[k].places, whole=n < strangers)
                    for n, k in enumerate(missing)
                ]
                for k, rows in zip(missing, self._ask(again), strict=True):
                    found[k] = rows
        except BrokenExecutor as error:
            raise RuntimeError(
                f"a worker process died while it called f, {WHY_IT_DIED}"
                f"{'' if self.forked else OR_NEVER_CAME}"
            ) from error
        except Exception as error:
            if BY_F not in getattr(error, "__notes__", ()):
                _explain_if_it_cannot_be_sent(work, error)
                error.add_note(
                    f"raised by the workers, not by f; if one of them died: {WHY_IT_DIED}"
                )
            raise
        answers = [rows for rows in found if not isinstance(rows, Stranger)]
        for answer in answers:
            work.outside.extend(answer.outside)
        return [answer.values for answer in answers]

    def _ask(self, chunks: list[Chunk]) -> list[Answer | Stranger]:
        if self.executor is None:
            return list(self.workers(run, chunks))
        with warnings.catch_warnings():
            # So dask says of what is more than 10 MB; but each process gets it once.
            warnings.filterwarnings("ignore", "Sending large graph")
            futures: list[Future[Answer | Stranger]] = [
                self.executor.submit(run, chunk) for chunk in chunks
            ]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()

    def _start(self, work: Work) -> None:
        _remember(work)  # processes that are forked know it
        before = set(multiprocessing.active_children())
        context = way_to_start()
        self.forked = context.get_start_method() == "fork"
        self.own = self.executor = ProcessPoolExecutor(self.hands, context, initializer=_begin)
        # The processes are started by the first thing they are given to do.
        try:
            for future in [self.own.submit(time.sleep, 0) for _ in range(self.hands)]:
                future.result()
        except BrokenExecutor as error:
            raise RuntimeError(
                "no worker process came up. One that is not forked imports the script anew: what "
                'starts processes there must stand under if __name__ == "__main__":'
            ) from error
        self.processes = [p for p in multiprocessing.active_children() if p not in before]


def way_to_start() -> Any:
    """Return how to start processes: as Python does here, but not by a fork beside JAX.

    JAX runs threads that are not Python's. A process that is forked has none of them, and what one
    of them had locked stays locked: it may hang for ever.
    """
    context = multiprocessing.get_context()
    if context.get_start_method() == "fork" and "jax" in sys.modules:
        return multiprocessing.get_context("spawn")
    return context


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _begin() -> None:
    """Leave interrupts to the parent, do without torch's threads, and go when the parent goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Subtle: torch runs threads, too, which a process that is forked lacks and waits for for ever,
    # unless it is told to do without. Processes beside each other want no more of them anyway.
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _explain_if_it_cannot_be_sent(work: Work, error: Exception) -> None:
    """Raise a TypeError if f, or an input, is what cannot be sent to another process."""
    for argument, value in (("f", work.f), ("inputs", work.units)):
        try:
            pickle.dumps(value)
        except Exception as why:
            if str(why) == str(error):
                raise TypeError(
                    f"{argument} cannot be sent to another process ({error}): define f at the top "
                    "of a module, or hand over a concurrent.futures.ThreadPoolExecutor as workers"
                ) from error
