"""Is a gradient derived, or measured? A measurement shows in how it is calculated.

A difference, or a complex step, calls the forward pass for every entry, or repeats its work. Both
can be counted. This runs in the process of the learner's code, which could lie; but a file that
does so shows it to anybody who reads it.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

resource: ModuleType | None
try:
    import resource
except ImportError:  # on Windows, and in a page
    resource = None

TINY, DEEP = 1e-6, 3  # a longer complex step is no good one; lists in lists
# What is looked at of all variables, or counting takes longer than the work that is counted: a graph
# of scalars has ten thousands of calls, each with a list of all of them at hand. A complex step shows
# in the first calls of a function.
MOST_LOOKS, MOST_ENTRIES = 100, 100  # at the calls of each function, and at the entries of a list

TRIES, ENOUGH = 3, 0.1  # calls that are timed, unless they have taken so many seconds together


class RealArray(np.ndarray):
    """An array that notes when it, or what is made of it, meets a complex number."""

    met_complex = False  # one of them, since this was last set

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **how: Any
    ) -> Any:
        """Calculate as any array does."""
        if any(map(np.iscomplexobj, (*inputs, *(out or ())))):
            RealArray.met_complex = True
        if out is not None:
            how["out"] = tuple(map(_bare, out))
        result = getattr(ufunc, method)(*map(_bare, inputs), **how)
        if out is not None:
            return out if len(out) > 1 else out[0]
        return tuple(map(_noting, result)) if isinstance(result, tuple) else _noting(result)


def _bare(thing: Any) -> Any:
    return thing.view(np.ndarray) if isinstance(thing, RealArray) else thing


def _noting(thing: Any) -> Any:
    return thing.view(RealArray) if isinstance(thing, np.ndarray) else thing


def effort(
    function: Callable[..., Any], arguments: Sequence[Any], forward: str | None = ""
) -> tuple[int, bool, float]:
    """Call a function, and return what it took.

    That is: how often it called functions named ``forward``; whether it brought its arguments
    together with complex numbers, or any function had one with a complex step; and the least
    processor time of a few calls, in seconds. With ``None`` only the time is taken.
    """
    counted = (0, False) if forward is None else _counted(function, arguments, forward)
    times: list[float] = []
    while len(times) < TRIES and sum(times) < ENOUGH:
        copies = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
        begun = _processor_time()
        function(*copies)
        times.append(_processor_time() - begun)
    return *counted, min(times)


def _counted(
    function: Callable[..., Any], arguments: Sequence[Any], forward: str
) -> tuple[int, bool]:
    """Return the number of calls, and whether there were numbers of another kind."""
    calls, stepped, before = 0, False, sys.getprofile()
    looks = Counter[Any]()

    def count(frame: Any, event: str, _: Any) -> None:
        nonlocal calls, stepped
        if event not in ("call", "return"):
            return
        calls += event == "call" and frame.f_code.co_name == forward
        if not stepped and looks[frame.f_code] < MOST_LOOKS:
            looks[frame.f_code] += 1
            stepped = any(map(_is_stepped, frame.f_locals.values()))

    RealArray.met_complex = False
    guarded = [_noting(np.array(a)) if _is_real(a) else a for a in arguments]
    sys.setprofile(count)
    try:
        function(*guarded)
    except Exception:  # an array of a class of its own may be too much for it, which is no mistake
        calls = 0
    finally:
        sys.setprofile(before)
    return calls, RealArray.met_complex or stepped


def _processor_time() -> float:
    """Return the seconds of all threads.

    Where a limit is set on them, as behind the wall, Linux moves ``time.process_time`` on only a
    few hundred times a second: most calls would take no time at all.
    """
    if resource is None:
        return time.process_time()
    used = resource.getrusage(resource.RUSAGE_SELF)
    return float(used.ru_utime + used.ru_stime)


def _is_stepped(thing: Any) -> bool:
    """Whether numbers have tiny imaginary parts, as of a complex step, and not as of a spectrum."""
    for _ in range(DEEP):
        if isinstance(thing, list | tuple) and thing:
            begin = thing[:MOST_ENTRIES]
            thing = next((one for one in begin if isinstance(one, complex)), begin[0])
    if not isinstance(thing, complex | np.ndarray | np.generic) or not np.iscomplexobj(thing):
        return False
    imaginary, real = (np.abs(part).max(initial=0.0) for part in (np.imag(thing), np.real(thing)))
    return bool(0 < imaginary <= TINY * max(real, 1.0))


def _is_real(thing: Any) -> bool:
    return isinstance(thing, np.ndarray) and thing.dtype.kind == "f"
