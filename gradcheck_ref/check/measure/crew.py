"""Who calls f at many points: this process one by one, f itself all at once, or workers.

A point is a way and a step along it, which is little to send. What is large, f and the inputs, goes
to every process once, and is known there by a key.
"""

import multiprocessing
import os
import pickle
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.lines import Units, Way
from gradcheck_ref.structure import Outputs

# Points handed to f.many hold no more numbers than this in all, 32 MB; and are no more than these.
NUMBERS, POINTS = 2**22, 1024

# A chunk takes a worker about so long, in seconds: long beside the sending, short beside the rest.
A_WHILE = 0.02

# So many functions are remembered by a process that serves several checks.
REMEMBERED = 4

# A step along a way.
Place = tuple[Way, float]


@dataclass(frozen=True)
class Work:
    """All that is needed to work out f at a place; the same for every place.

    Attributes
    ----------
    f : callable
        The function; where it has an attribute ``many``, that takes a list of points.
    units : Units
        The point, and the units of its coordinates.
    outputs : Outputs
        How what f returns is read.
    key : str
        What it is known by in other processes.
    """

    f: Callable[..., Any]
    units: Units
    outputs: Outputs
    key: str = field(default_factory=lambda: uuid.uuid4().hex)

    def values(self, places: Sequence[Place]) -> Array:
        """Work out f at some places, (places, outputs); NaN for what is not finite."""
        many = getattr(self.f, "many", None)
        rows = np.empty((len(places), self.outputs.size), self.outputs.dtype)
        with np.errstate(all="ignore"):  # that f leaves its domain is our doing, not the caller's
            if many is None:
                for row, (way, t) in enumerate(places):
                    rows[row] = self.value(way.point(t), way, t)
                return rows
            each = max(1, min(POINTS, NUMBERS // max(1, self.units.inputs.size)))
            for start in range(0, len(places), each):
                some = places[start : start + each]
                for row, value in enumerate(self._together(many, some), start):
                    rows[row] = self.outputs.flat(value)
        return rows

    def value(self, values: list[Any], way: Way | None = None, t: float = 0.0) -> Array:
        """Call f with these values of the inputs; an error gets a note of where that was."""
        try:
            flat: Array = self.outputs.flat(self.units.inputs.call(self.f, values))
            return flat
        except BaseException as error:
            where = "x" if way is None else way.where(t)
            error.add_note(note_on(error, where, self.units.inputs.only_numbers))
            raise

    def _together(self, many: Callable[[list[Any]], Any], places: Sequence[Place]) -> Sequence[Any]:
        points = [self.units.inputs.arranged(way.point(t)) for way, t in places]
        try:
            values = many(points)
        except BaseException as error:
            error.add_note(f"in gradcheck_ref, calling f.many with {len(points)} points")
            raise
        try:
            count = len(values)
        except TypeError:
            count = -1
        if count != len(points):
            got = "what has no length" if count < 0 else f"{count} values"
            raise ValueError(
                f"f.many must return one value for each point, but gives {got} for {len(points)}"
            )
        return list(values)


def note_on(error: BaseException, where: str, only_numbers: bool) -> str:
    """Say where f was called when it raised an error, and what may be behind it."""
    note = f"in gradcheck_ref, calling f at {where}"
    if isinstance(error, ArithmeticError | ValueError) and where != "x":
        note += "; if f is not defined there, let it return NaN, as np.log and np.sqrt do"
    # A function with optional parameters takes them, so that no signature told before.
    if isinstance(error, TypeError) and only_numbers:
        note += "; inputs holds numbers, each an argument: for one array, pass np.array"
    return note


@dataclass(frozen=True)
class Chunk:
    """Some places for a worker. Sent to another process it takes the key of the work along.

    Attributes
    ----------
    work : Work or None
        What is to be done; None where a process does not know it yet.
    places : sequence of (Way, float)
        Where.
    whole : bool
        Whether the work itself is sent along.
    """

    work: Work | None
    places: Sequence[Place]
    whole: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave at home what all places have in common."""
        assert self.work is not None
        places = [(replace(way, units=None), t) for way, t in self.places]  # type: ignore[type-var]
        return _arrived, (self.work.key, places, self.work if self.whole else None)


_known: dict[str, Work] = {}


def _remember(work: Work) -> None:
    _known.pop(work.key, None)
    _known[work.key] = work
    while len(_known) > REMEMBERED:
        del _known[next(iter(_known))]


def _arrived(key: str, places: Sequence[Place], work: Work | None) -> Chunk:
    """Put a chunk together again, in another process."""
    if work is not None:
        _remember(work)
    work = _known.get(key)
    if work is None:
        return Chunk(None, places)
    units = work.units
    return Chunk(work, [(replace(way, units=units), t) for way, t in places])  # type: ignore[type-var]


def run(chunk: Chunk) -> Array | None:
    """Work out a chunk, perhaps in another process; None if the work is not known there."""
    if chunk.work is None:
        return None
    try:
        return chunk.work.values(chunk.places)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            told = RuntimeError(f"{type(error).__name__}: {error}")
            for note in error.__notes__:
                told.add_note(note)
            raise told from None
        raise


class Crew:
    """Those who call f, for as long as a check takes.

    Parameters
    ----------
    workers : None, int, Executor or map-like callable
        None or 1 for this process; so many processes; or whoever else does the work.
    """

    def __init__(self, workers: Any = None) -> None:
        self.workers = workers
        self.executor = workers if isinstance(workers, Executor) else None
        self.own: ProcessPoolExecutor | None = None
        self.processes: list[Any] = []

    def __enter__(self) -> "Crew":
        """Begin; processes are started when there is something to do."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave no process behind, however this ends."""
        if self.own is not None:
            self.own.shutdown(wait=error is None, cancel_futures=True)
            if error is not None:
                for process in self.processes:
                    process.terminate()
                for process in self.processes:
                    process.join()

    def values(
        self, work: Work, places: Sequence[Place], seconds: float, tick: Callable[[int], None]
    ) -> Array:
        """Return f at all places, (places, outputs), in their order.

        Parameters
        ----------
        work : Work
            What to work out.
        places : sequence of (Way, float)
            Where.
        seconds : float
            How long one evaluation takes, more or less.
        tick : callable
            Told how many more evaluations are done.
        """
        each = POINTS if hasattr(work.f, "many") else max(1, int(A_WHILE / max(seconds, 1e-9)))
        parts = [places[start : start + each] for start in range(0, len(places), each)]
        chunks = [Chunk(work, part) for part in parts]
        found = []
        for part, rows in zip(parts, self._results(work, chunks), strict=True):
            tick(len(part))
            found.append(rows)
        return np.concatenate(found) if found else work.values([])

    def _results(self, work: Work, chunks: list[Chunk]) -> Iterable[Array]:
        if self.workers is None or self.workers == 1:
            return (work.values(chunk.places) for chunk in chunks)
        if isinstance(self.workers, int) and self.own is None:
            self._start(work)
        return self._spread(work, chunks)

    def _spread(self, work: Work, chunks: list[Chunk]) -> Iterator[Array]:
        try:
            found = list(self._ask(chunks))
            # Who did not know the work gets it, and keeps it.
            missing = [k for k, rows in enumerate(found) if rows is None]
            again = self._ask([replace(chunks[k], whole=True) for k in missing])
            for k, rows in zip(missing, again, strict=True):
                found[k] = rows
        except BrokenExecutor as error:
            raise RuntimeError(
                "a worker process died while it called f: a crash in compiled code, or killed for "
                "want of memory? Check with workers=None to see where"
            ) from error
        except Exception as error:
            _explain_if_it_cannot_be_sent(work, error)
            raise
        for rows in found:
            assert rows is not None
            yield rows

    def _ask(self, chunks: list[Chunk]) -> Iterator[Array | None]:
        if self.executor is None:
            yield from self.workers(run, chunks)
            return
        futures: list[Future[Array | None]] = [self.executor.submit(run, one) for one in chunks]
        try:
            for future in futures:
                yield future.result()
        finally:
            for future in futures:
                future.cancel()

    def _start(self, work: Work) -> None:
        _remember(work)  # processes that are forked know it
        count = self.workers if self.workers > 0 else available_cores()
        before = set(multiprocessing.active_children())
        self.own = self.executor = ProcessPoolExecutor(count, initializer=_begin)
        # The processes are started by the first thing they are given to do.
        for future in [self.own.submit(time.sleep, 0) for _ in range(count)]:
            future.result()
        self.processes = [p for p in multiprocessing.active_children() if p not in before]


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _begin() -> None:
    """Leave interrupts to the parent, and go when it goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
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
