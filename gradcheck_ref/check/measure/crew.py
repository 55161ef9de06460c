"""Who calls f at many points: this process one by one, f itself all at once, or workers.

A point is sent as a place: a way, and a step along it. Processes that belong to the check get f and
the inputs once, when they start. An executor, or a function like map, gets them with every chunk.
"""

import math
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, described
from gradcheck_ref.check.measure.lines import Units, Way
from gradcheck_ref.structure import AnotherShapeError, Inputs, Outputs

# The points of one call of f.many, or the gradients of one call of f.vjps, hold at most this many
# numbers together: 8 MB in float64, which is what a gradient of a million parameters takes itself.
NUMBERS_AT_ONCE = 2**20

# A chunk keeps a worker busy for about this time, in seconds. Sending a chunk takes about 1 ms, so
# it costs 5 %; and when one worker is the last to finish, the others wait no longer than this.
SECONDS_PER_CHUNK = 0.02

# A step along a way; and the values of f at some places, with what f raised outside its domain.
Place = tuple[Way, float]
Answer = tuple[Array, list[str]]


@dataclass(frozen=True)
class Work:
    """Everything that is needed to call f at a place; it is the same for every place.

    If f has an attribute ``many``, f.many takes a list of points. If it has an attribute
    ``at_places``, that takes places instead: a program far away is told the step, not the point.
    """

    f: Callable[..., Any]
    units: Units  # of the coordinates, and the point
    outputs: Outputs  # how what f returns is read
    at_x: bool = True  # whether a step of 0 leads to x, where f must be defined
    outside: list[str] = field(default_factory=list)  # what f raised where it is not defined

    def values(self, places: Sequence[Place]) -> Array:
        """Return f at some places, (places, outputs); NaN where f is not finite or not defined."""
        rows = np.empty((len(places), self.outputs.size), self.outputs.dtype)
        with np.errstate(all="ignore"):  # the check leaves the domain of f, not the caller
            for row, numbers in enumerate(self._each(places)):
                rows[row] = numbers
        rows[~np.isfinite(rows)] = np.nan
        return rows

    def value(self, values: list[Any]) -> Array:
        """Call f at x, with these values of the inputs."""
        try:
            return self.outputs.flat(self.units.inputs.call(self.f, values))
        except BaseException as error:
            note_on(error, "x", self.units.inputs, self.f)
            raise

    def _each(self, places: Sequence[Place]) -> Iterable[Array | float]:
        """Return the numbers that f gives at each place."""
        together = None
        if hasattr(self.f, "at_places"):
            together = self.f.at_places(places)
        elif hasattr(self.f, "many"):
            together = self._together(places)
        if together is None:
            return (self._at(way, t) for way, t in places)
        return map(self.outputs.numbers, together)

    def _at(self, way: Way, t: float) -> Array | float:
        """Return the numbers that f gives at one place, or NaN where f says it is not defined."""
        inputs = self.units.inputs
        try:
            return self.outputs.numbers(inputs.call(self.f, way.point(t)))
        except BaseException as error:
            note_on(error, way.where(t), inputs, self.f)
            if not self._is_outside(error, [(way, t)]):
                raise
            said = str(error).strip().split("\n")[0]
            what = f"{type(error).__name__} at {way.where(t)}{said and f' ({said})'}"
            self.outside.append(what)
            return np.nan

    def _together(self, places: Sequence[Place]) -> list[Any] | None:
        """Call f.many; None if a point is outside the domain of f, which only f itself can name."""
        points = [self.units.inputs.arranged(way.point(t)) for way, t in places]
        try:
            values = self.f.many(points)  # type: ignore[attr-defined]
        except BaseException as error:
            error.add_note(f"in gradcheck_ref, calling f.many with {len(points)} points")
            if self._is_outside(error, places):
                return None
            raise
        return one_for_each(values, len(points), "f.many must return one value for each point")

    def _is_outside(self, error: BaseException, places: Sequence[Place]) -> bool:
        """Return whether an error says that f is not defined there, as that of math.sqrt does."""
        other = NotImplementedError | RecursionError | AnotherShapeError
        domain = isinstance(error, ValueError | RuntimeError) and not isinstance(error, other)
        return domain and (not self.at_x or any(t != 0 for _, t in places))


def one_for_each(given: Any, count: int, must: str) -> list[Any]:
    """Return what a function gave for each of several arguments, as a list of that length."""
    is_list = np.iterable(given) and not isinstance(given, str | Mapping)
    several = list(given) if is_list else []
    if not is_list or len(several) != count:
        got = len(several) if is_list else described(given)
        raise ValueError(f"{must}, but gives {got} for {count}")
    return several


def note_on(error: BaseException, where: str, inputs: Inputs, f: Callable[..., Any]) -> None:
    """Add a note to an error of f: where f was called, and a likely cause."""
    note, said = f"in gradcheck_ref, calling f at {where}", str(error)
    if isinstance(error, ArithmeticError) and where != "x":
        note += "; if f is not defined there, let it return NaN, as np.log and np.sqrt do"
    # A function with optional parameters takes several numbers, so no signature told before.
    if isinstance(error, TypeError) and inputs.only_numbers:
        note += "; inputs holds numbers, each an argument: for one array, pass np.array"
    of_framework = isinstance(error, TypeError) and "Tensor" in said
    of_framework |= isinstance(error, AttributeError) and " object has no attribute " in said
    if of_framework and not hasattr(f, "open_tree"):  # an adapter has it
        note += (
            "; it gets NumPy arrays: if it is made for those of torch or JAX, hand over "
            "from_torch(f) or from_jax(f)"
        )
    error.add_note(note)


# In a process that the check has started: what it was started for.
_own_work: Work | None = None


def run(chunk: tuple[Work | None, Sequence[Place]]) -> Answer:
    """Return f at some places, in whatever process or thread this is."""
    work = chunk[0] or _own_work
    assert work is not None
    work = replace(work, outside=[])  # several threads may use it
    try:
        return work.values(with_units(work.units, chunk[1])), work.outside
    except Exception as error:
        told = _to_be_sent(error)
    raise told  # outside of the handler, so that it has no context that is sent as well


def with_units(units: Any, places: Sequence[Place]) -> list[Place]:
    """Return the same places of other units: None to send them, and the units to use them."""
    ways = {id(way): way for way, _ in places}
    ways = {key: replace(way, units=units) for key, way in ways.items()}
    return [(ways[id(way)], t) for way, t in places]


def _to_be_sent(error: Exception) -> Exception:
    """Return an error, or its text as a RuntimeError if pickle cannot send the error itself."""
    if not _why_it_cannot_be_sent(error):
        return error
    told = RuntimeError(f"{type(error).__name__}: {error}")
    told.__notes__ = getattr(error, "__notes__", [])
    return told


def _why_it_cannot_be_sent(value: Any) -> str:
    """Return what pickle says of a value that it cannot send to another process, else nothing."""
    try:
        pickle.loads(pickle.dumps(value))
        return ""
    except Exception as error:
        return str(error) or type(error).__name__


class Crew:
    """Calls f for as long as a check takes: in this process, in processes of its own, or by others.

    ``workers`` is None, a number of processes, an Executor, or a function like map.
    """

    def __init__(self, workers: Any = None) -> None:
        self.workers = workers
        self.own: ProcessPoolExecutor | None = None
        # How many share the work, as far as that can be known.
        self.hands: int = getattr(workers, "_max_workers", 1)
        if isinstance(workers, int):
            self.hands = workers if workers > 0 else available_cores()

    def __enter__(self) -> "Crew":
        """Begin; processes are started when there is something to do."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Leave no process behind, and do not wait for f after an error."""
        if self.own is not None:
            busy = list(self.own._processes.values()) if error is not None else []
            self.own.shutdown(wait=error is None, cancel_futures=True)
            for process in busy:
                process.kill()
                while process.is_alive():  # until the executor, which waits too, has noted it
                    process.join(0.01)

    def values(
        self, work: Work, places: Sequence[Place], seconds: float, tick: Callable[[int], None]
    ) -> Array:
        """Return f at all places, (places, outputs), in their order.

        One evaluation takes about ``seconds``; ``tick`` is told how many more are done.
        """
        chunks = self._chunks(work, places, seconds)
        found = []
        for chunk, (rows, outside) in zip(chunks, self._answers(work, chunks), strict=True):
            found.append(rows)
            work.outside.extend(outside)
            tick(len(chunk))
        return np.concatenate(found)

    def _chunks(self, work: Work, places: Sequence[Place], seconds: float) -> list[Sequence[Place]]:
        """Divide the places so that nobody waits long for the last worker."""
        each = size = max(1, len(places))
        if not hasattr(work.f, "many"):
            quick = max(1, int(SECONDS_PER_CHUNK / max(seconds, 1e-9)))
            each = min(quick, math.ceil(size / self.hands))
        elif not hasattr(work.f, "at_places"):  # last digits may depend on it, but not on workers
            each = max(1, NUMBERS_AT_ONCE // max(1, work.units.inputs.size))
        return [places[start : start + each] for start in range(0, size, each)]

    def _answers(self, work: Work, chunks: Sequence[Sequence[Place]]) -> Iterator[Answer]:
        """Yield the answer for each chunk, whoever gives it."""
        if self.workers is None or self.workers == 1:
            yield from ((work.values(chunk), []) for chunk in chunks)
            return
        try:
            if isinstance(self.workers, int) and self.own is None:
                self.own = ProcessPoolExecutor(self.hands, way_to_start(), _begin, (work,))
            others: Any = self.own or self.workers
            apply = others.map if isinstance(others, Executor) else others
            known = None if self.own else work
            yield from apply(run, [(known, with_units(None, chunk)) for chunk in chunks])
        except BrokenExecutor as error:
            said = "by a crash in compiled code, or for want of memory? Check with workers=None"
            if self.own and way_to_start().get_start_method() != "fork":
                said = (
                    "or before: it imports the script anew, so what starts processes there must "
                    'stand under if __name__ == "__main__":, and f in a module, not in a notebook '
                    "or at a prompt. Or hand over a ThreadPoolExecutor; or check with workers=None"
                )
            raise RuntimeError(f"a worker process died while it called f, {said}") from error
        except Exception as error:
            for name, value in (("f", work.f), ("inputs", work.units)):
                why = _why_it_cannot_be_sent(value)
                if why and why == str(error):
                    raise TypeError(
                        f"{name} cannot be sent to another process ({error}): define f at the top "
                        "of a module, or hand over a ThreadPoolExecutor as workers"
                    ) from error
            raise


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


def _begin(work: Work) -> None:
    """Prepare a process: ignore interrupts, use no threads of torch, and end with the parent."""
    global _own_work
    _own_work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets them, too
    # Torch runs threads. A process that is forked has none of them and would wait for them for
    # ever, unless it is told to do without. Processes side by side need no more threads anyway.
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
