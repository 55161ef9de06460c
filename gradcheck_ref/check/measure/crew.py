"""Who calls f at many points: this process one by one, f itself all at once, or workers.

A point is sent as a place: a way, and a step along it. Processes that belong to the check get f and
the inputs once, when they start. An executor, or a function like map, gets them with every chunk.
"""

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, described
from gradcheck_ref.check.measure.lines import Units, Way
from gradcheck_ref.check.measure.progress import Progress
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.outputs import AnotherShapeError, Outputs

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
    ``at_places``, that takes places instead, and works out each point when its program is asked.
    """

    f: Callable[..., Any]
    units: Units  # of the coordinates, and the point
    outputs: Outputs  # how what f returns is read
    seconds: float = 0.0  # one evaluation takes about so long

    def values(self, places: Sequence[Place]) -> Answer:
        """Return f at some places, (places, outputs); NaN where f is not finite or not defined."""
        rows = np.empty((len(places), self.outputs.size), self.outputs.dtype)
        outside: list[str] = []
        with np.errstate(all="ignore"):  # the check leaves the domain of f, not the caller
            together = self._together(places)
            for row, (way, t) in enumerate(places):
                if together is None:
                    rows[row] = self._at(way, t, outside)
                else:
                    rows[row] = self.outputs.numbers(together[row])
        rows[~np.isfinite(rows)] = np.nan
        return rows, outside

    def _at(self, way: Way, t: float, outside: list[str]) -> Array | float:
        """Return the numbers that f gives at one place, or NaN where f says it is not defined."""
        inputs = self.units.inputs
        try:
            return self.outputs.numbers(inputs.call(self.f, way.point(t)))
        except BaseException as error:
            note_on(error, way.where(t), inputs, self.f)
            if not (t and _is_outside(error)):
                raise
            said = str(error).strip().split("\n")[0]
            outside.append(f"{type(error).__name__} at {way.where(t)}{said and f' ({said})'}")
            return np.nan

    def _together(self, places: Sequence[Place]) -> list[Any] | None:
        """Call f once for all places, if it can do that, and if it is defined at all of them."""
        if hasattr(self.f, "at_places"):
            given: list[Any] = self.f.at_places(places)
            return given
        if not hasattr(self.f, "many"):
            return None
        points = [self.units.inputs.arranged(way.point(t)) for way, t in places]
        try:
            values = self.f.many(points)
        except BaseException as error:
            error.add_note(f"in gradcheck_ref, calling f.many with {len(points)} points")
            if _is_outside(error) and any(t for _, t in places):
                return None  # f itself tells which of them are outside of its domain
            raise
        return one_for_each(values, len(points), "f.many must return one value for each point")


def _is_outside(error: BaseException) -> bool:
    """Return whether an error may say that f is not defined there, as that of math.sqrt does."""
    other = NotImplementedError | RecursionError | AnotherShapeError
    return isinstance(error, ValueError | RuntimeError) and not isinstance(error, other)


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
    of_framework = "Tensor" in said or " object has no attribute " in said
    of_framework &= isinstance(error, TypeError | AttributeError)
    if of_framework and not hasattr(f, "open_tree"):  # an adapter has it
        note += (
            "; it gets NumPy arrays: if it is made for those of torch or JAX, hand over "
            "from_torch(f) or from_jax(f)"
        )
    error.add_note(note)


class Crew:
    """Calls f for as long as a check takes: in this process, in processes of its own, or by others.

    ``workers`` is None, a number of processes, an Executor, or a function like map; ``tell`` is as
    for `Progress`, which counts the calls.
    """

    def __init__(self, workers: Any = None, tell: Any = False) -> None:
        self.workers, self.progress = workers, Progress(tell)
        self.own: ProcessPoolExecutor | None = None  # started when there is something to do

    def __enter__(self) -> "Crew":
        """Begin."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Leave no process behind, and do not wait for f after an error."""
        self.progress.close()
        if self.own is not None:
            for process in list(self.own._processes.values()) if error is not None else ():
                process.kill()
            self.own.shutdown(cancel_futures=True)

    def values(self, work: Work, places: Sequence[Place]) -> Answer:
        """Return f at all places, (places, outputs), and what it raised outside its domain."""
        each = int(SECONDS_PER_CHUNK / max(work.seconds, 1e-9))
        if hasattr(work.f, "at_places"):
            each = len(places)
        elif hasattr(work.f, "many"):  # last digits may depend on it, but not on workers
            each = NUMBERS_AT_ONCE // max(1, work.units.inputs.size)
        each = max(1, each)
        chunks = [places[start : start + each] for start in range(0, max(1, len(places)), each)]
        found, outside = [], []
        for rows, raised in self._answers(work, chunks):
            self.progress.tick(len(rows))
            found.append(rows)
            outside += raised
        return np.concatenate(found), outside

    def _answers(self, work: Work, chunks: Sequence[Sequence[Place]]) -> Iterable[Answer]:
        """Return the answer for each chunk as it becomes known, whoever gives it."""
        if self.workers is None or self.workers == 1:
            return map(work.values, chunks)
        others: Any = self.workers
        sent: list[Any] = [(work, chunk) for chunk in chunks]
        if isinstance(others, int):
            if self.own is None:
                # A process that is forked has none of JAX's threads, and may wait for them.
                context = multiprocessing.get_context("spawn" if "jax" in sys.modules else None)
                if others < 0:  # one on each core; Linux may have kept this process to some
                    kept = hasattr(os, "sched_getaffinity")
                    others = len(os.sched_getaffinity(0)) if kept else None
                self.own = ProcessPoolExecutor(others, context, _begin, (work,))
            others, sent = self.own, [(None, with_units(None, chunk)) for chunk in chunks]
        return with_advice(others.map if isinstance(others, Executor) else others, sent)


def with_advice(apply: Callable[..., Iterable[Answer]], chunks: list[Any]) -> Iterator[Answer]:
    """Let others work, and note on an error what to do if they cannot."""
    try:
        yield from apply(run, chunks)
    except Exception as error:
        if isinstance(error, BrokenExecutor):
            error.add_note(
                "a worker process died while it called f, by a crash in compiled code or for want "
                "of memory; or before, as it could not import f. Where processes are not forked, "
                'what starts them must stand under if __name__ == "__main__":, and f in a module, '
                "not in a notebook or at a prompt. Or check with workers=None"
            )
        elif "pickle" in str(error):
            error.add_note(
                "f and its inputs are sent to other processes: define f at the top of a module, "
                "or hand over a ThreadPoolExecutor as workers"
            )
        raise


# In a process that the check has started: what it was started for.
_own_work: Work


def run(chunk: tuple[Work | None, Sequence[Place]]) -> Answer:
    """Return f at some places, in whatever process or thread this is."""
    work, places = chunk
    if work is None:
        work, places = _own_work, with_units(_own_work.units, places)
    try:
        return work.values(places)
    except Exception as error:
        try:
            told = error
            pickle.loads(pickle.dumps(error))
        except Exception:
            told = RuntimeError(f"{type(error).__name__}: {error}")
            told.__notes__ = getattr(error, "__notes__", [])
    raise told  # outside of the handler, so that it has no context that is sent as well


def with_units(units: Any, places: Sequence[Place]) -> list[Place]:
    """Return the same places of other units: None to send them, and the units to use them."""
    ways = {id(way): replace(way, units=units) for way, _ in places}
    return [(ways[id(way)], t) for way, t in places]


def _begin(work: Work) -> None:
    """Prepare a process: ignore interrupts, use no threads of torch, and end with the parent."""
    global _own_work
    _own_work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets them, too
    # Torch runs threads. A process that is forked has none of them and would wait for them for
    # ever, unless it is told to do without. Processes side by side need no more threads anyway.
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    multiprocessing.parent_process().join()  # type: ignore[union-attr]
    os._exit(1)
