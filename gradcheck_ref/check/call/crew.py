"""Calls of f at many points: one by one, by f.many at once, or by workers.

A point is sent as a place: a line, and a step along it. Processes that the check starts get f and
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
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array, described
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.outputs import AnotherShapeError, Outputs

# All points in one call of f.many, or all gradients in one call of f.vjps, have at most this many
# numbers: 8 MB in float64, as much as one gradient of a million parameters.
NUMBERS_AT_ONCE = 2**20

# A chunk takes a worker about this time, in seconds. Sending a chunk takes about 1 ms, which is
# 5 % of it; and at the end no worker waits longer than this for the last one.
SECONDS_PER_CHUNK = 0.02

# A step along a line; and the values of f at some places, with its errors outside its domain. A
# line has ``coordinates(steps)`` and ``points(steps)``, the flat vectors and the inputs at some
# steps, and ``where(t)``, which names the place.
Place = tuple[Any, float]
Answer = tuple[Array, list[str]]


class Work(NamedTuple):
    """Everything that a call of f at any place needs, besides the place.

    If f has an attribute ``many``, f.many takes a list of points. If it has an attribute
    ``at_places``, that takes places instead, and computes each point when its program needs it.
    """

    f: Callable[..., Any]
    inputs: Inputs
    outputs: Outputs  # the structure of the output of f

    def answers(
        self, places: Sequence[Place], chunks: Sequence[Sequence[Place]]
    ) -> Iterator[Answer]:
        """Yield the answer for each chunk of places; steps along one line share its direction."""
        several = hasattr(self.f, "at_places") or hasattr(self.f, "many")
        points = None if several else _each(places, "coordinates")
        for chunk in chunks:
            yield self.values(chunk, points)

    def values(self, places: Sequence[Place], points: Iterator[Array] | None = None) -> Answer:
        """Return f at some places, (places, outputs); NaN where f is not finite or not defined.

        ``points`` has the flat vectors at these places, and perhaps at others after them.
        """
        rows = np.empty((len(places), self.outputs.size), self.outputs.dtype)
        outside: list[str] = []
        with np.errstate(all="ignore"):  # the check, not the caller, may leave the domain of f
            together, f = self._together(places), self.inputs.caller(self.f)
            points = points or _each(places, "coordinates")
            is_number = self.outputs.scalar and not self.outputs.paired
            for k, (line, t) in enumerate(places):
                try:
                    value = f(next(points)) if together is None else together[k]
                    plain = is_number and type(value) is np.float64  # the usual case stays cheap
                    rows[k] = value if plain else self.outputs.numbers(value)
                except BaseException as error:
                    note_on(error, line.where(t), self.inputs, self.f)
                    if not (t and is_outside(error)):
                        raise
                    rows[k] = np.nan
                    said = str(error).strip().split("\n")[0]
                    why = type(error).__name__
                    outside.append(f"{why} at {line.where(t)}{said and f' ({said})'}")
        rows[~np.isfinite(rows)] = np.nan
        return rows, outside

    def _together(self, places: Sequence[Place]) -> list[Any] | None:
        """Call f once for all places, if f can do that and is defined at all of them; else None."""
        if hasattr(self.f, "at_places"):
            return list(self.f.at_places(places))
        if not hasattr(self.f, "many"):
            return None
        points = [self.inputs.arranged(point) for point in _each(places, "points")]
        try:
            values = self.f.many(points)
        except BaseException as error:
            error.add_note(f"in gradcheck_ref, calling f.many with {len(points)} points")
            if is_outside(error) and any(t for _, t in places):
                return None  # calls of f itself will show which points are outside its domain
            raise
        return one_for_each(values, len(points), "f.many must return one value for each point")

    def chunks(self, places: Sequence[Place], seconds: float) -> list[Sequence[Place]]:
        """Divide places into chunks, if one evaluation takes about this many seconds."""
        each = int(SECONDS_PER_CHUNK / max(seconds, 1e-9))
        if hasattr(self.f, "at_places"):
            return [places]
        if hasattr(self.f, "many"):  # last digits may depend on this size, not on the workers
            each = NUMBERS_AT_ONCE // max(1, self.inputs.size)
        starts = range(0, max(1, len(places)), max(1, each))
        return [places[start : start + max(1, each)] for start in starts]


def _each(places: Sequence[Place], what: str) -> Iterator[Any]:
    """Return the point at each place, in this form; steps along one line share its direction."""
    lines = groupby(places, itemgetter(0))
    return chain.from_iterable(getattr(line, what)([t for _, t in some]) for line, some in lines)


def is_outside(error: BaseException) -> bool:
    """Return whether an error may mean that f is not defined there, like that of math.sqrt.

    f may refuse a point by any exception, such as that of an assert or of a division by zero. But
    another shape is a contradiction in f, NotImplementedError is work that is left to do, and the
    other two say that the computer is at its limits. None of these depends on the domain of f.
    """
    other = AnotherShapeError | NotImplementedError | RecursionError | MemoryError
    return isinstance(error, Exception) and not isinstance(error, other)


def one_for_each(given: Any, count: int, must: str) -> list[Any]:
    """Return the results of a function for several arguments, as a list of that length."""
    is_list = np.iterable(given) and not isinstance(given, str | Mapping)
    several = list(given) if is_list else []
    if not is_list or len(several) != count:
        got = len(several) if is_list else described(given)
        raise ValueError(f"{must}, but it returned {got} for {count}")
    return several


def note_on(error: BaseException, where: str, inputs: Inputs, f: Callable[..., Any]) -> None:
    """Add a note to an error of f: where f was called, and a likely cause."""
    note, said = f"in gradcheck_ref, calling f at {where}", str(error)
    # If f has optional parameters, its signature accepts several numbers; only the call fails.
    if isinstance(error, TypeError) and inputs.only_numbers:
        note += "; inputs holds numbers, each an argument: for one array, pass np.array"
    of_framework = "Tensor" in said or " object has no attribute " in said
    of_framework &= isinstance(error, TypeError | AttributeError)
    if of_framework and not hasattr(f, "open_tree"):  # adapters have that attribute
        note += (
            "; f gets NumPy arrays: if it is written for torch or JAX, pass from_torch(f) or "
            "from_jax(f)"
        )
    error.add_note(note)


class Crew(AbstractContextManager["Crew"]):
    """Calls f through workers during one check, or in processes of its own.

    ``workers`` is a number of processes, an Executor, or a function like map.
    """

    def __init__(self, workers: Any) -> None:
        self.workers = workers
        self.own: ProcessPoolExecutor | None = None  # started when there is something to do

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Stop all processes, without waiting for f after an error."""
        if self.own is not None:
            for process in list(self.own._processes.values()) if error is not None else ():
                process.kill()
            self.own.shutdown(cancel_futures=True)

    def answers(self, work: Work, chunks: Sequence[Sequence[Place]]) -> Iterable[Answer]:
        """Return the answer for each chunk as it becomes known."""
        others: Any = self.workers
        sent: list[Any] = [(work, chunk) for chunk in chunks]
        if isinstance(others, int):
            if self.own is None:
                # A forked process has none of JAX's threads, and may wait for them forever.
                context = multiprocessing.get_context("spawn" if "jax" in sys.modules else None)
                if others < 0:  # one on each core that Linux allows this process to use
                    kept = hasattr(os, "sched_getaffinity")
                    others = len(os.sched_getaffinity(0)) if kept else None
                self.own = ProcessPoolExecutor(others, context, _begin, (work,))
            others, sent = self.own, [(None, with_inputs(None, chunk)) for chunk in chunks]
        return with_advice(others.map if isinstance(others, Executor) else others, sent)


def with_advice(apply: Callable[..., Iterable[Answer]], chunks: list[Any]) -> Iterator[Answer]:
    """Call f through workers; if that fails, add a note to the error that says what to do."""
    try:
        yield from apply(run, chunks)
    except Exception as error:
        if isinstance(error, BrokenExecutor):
            error.add_note(
                "a worker process died: compiled code crashed, memory ran out, or the process "
                "could not import f. Where processes are not forked, put the code that starts "
                'them under if __name__ == "__main__":, and define f in a module, not in a '
                "notebook or at a prompt. Or check with workers=None"
            )
        elif "pickle" in str(error):
            error.add_note(
                "f and its inputs are sent to other processes: define f at the top of a module, "
                "or pass a ThreadPoolExecutor as workers"
            )
        raise


# The work of a process that the check has started.
_own_work: Work


def run(chunk: tuple[Work | None, Sequence[Place]]) -> Answer:
    """Return f at some places. This runs in any process or thread."""
    work, places = chunk
    if work is None:
        work, places = _own_work, with_inputs(_own_work.inputs, places)
    try:
        return work.values(places)
    except Exception as error:
        try:
            sendable = error
            pickle.loads(pickle.dumps(error))
        except Exception:
            sendable = RuntimeError(f"{type(error).__name__}: {error}")
            sendable.__notes__ = getattr(error, "__notes__", [])
    raise sendable  # outside the handler, so that no other exception is sent along as its context


def with_inputs(inputs: Inputs | None, places: Sequence[Place]) -> list[Place]:
    """Return the same places with other inputs: None to send them, the real ones to use them."""
    several = {id(line): line for line, _ in places}
    lines = {key: replace(line, inputs=inputs) for key, line in several.items()}
    return [(lines[id(line)], t) for line, t in places]


def _begin(work: Work) -> None:
    """Prepare a process: ignore interrupts, use no threads of torch, and end with the parent."""
    global _own_work
    _own_work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets them, too
    # A forked process has none of torch's threads and would wait for them forever. And several
    # processes side by side need no threads.
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    multiprocessing.parent_process().join()  # type: ignore[union-attr]
    os._exit(1)
