"""Is a gradient derived, or measured? A measurement shows in how it is calculated.

A difference, or a complex step, calls the forward pass for every entry, or repeats its work. Both
can be counted. A difference that is right to all digits needs numbers with more of them. This runs
in the process of the learner's code, which could lie; but a file that does so shows it to anybody
who reads it.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

resource: ModuleType | None
try:
    import resource
except ImportError:  # on Windows, and in a page
    resource = None

TINY, DEEP = 1e-6, 3  # a longer complex step is no good one; lists in lists
# Looking at the variables must not take longer than the work: a graph of scalars has many thousand
# calls, each with a list of all its nodes at hand. A step shows in the first calls of a function.
MOST_LOOKS, MOST_ENTRIES = 100, 100  # at the calls of each function, and at the entries of a list

TRIES, ENOUGH = 3, 0.1  # calls that are timed, unless they have taken so many seconds together


class RealArray(np.ndarray):
    """An array that notes when it, or what is made of it, meets a number of another kind."""

    met = ""  # the kind that one of them has met since this was last set

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **how: Any
    ) -> Any:
        """Calculate as any array does."""
        RealArray.met = RealArray.met or _first(map(_kind, (*inputs, *(out or ()))))
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
) -> tuple[int, str, float]:
    """Call a function, and return what it took.

    That is: how often it called functions named ``forward``; with which numbers of another kind,
    ``"complex"`` or ``"long"``, it brought its arguments together, or any function had, complex
    ones with a short step; and the least processor time of a few calls, in seconds. With ``None``
    only the time is taken.
    """
    counted = (0, "") if forward is None else _counted(function, arguments, forward)
    times: list[float] = []
    while len(times) < TRIES and sum(times) < ENOUGH:
        copies = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
        begun = _processor_time()
        function(*copies)
        times.append(_processor_time() - begun)
    return *counted, min(times)


def _counted(
    function: Callable[..., Any], arguments: Sequence[Any], forward: str
) -> tuple[int, str]:
    """Return the number of calls, and the other kind of numbers."""
    calls, kind, before = 0, "", sys.getprofile()
    looks = Counter[Any]()

    def count(frame: Any, event: str, _: Any) -> None:
        nonlocal calls, kind
        if event not in ("call", "return"):
            return
        calls += event == "call" and frame.f_code.co_name == forward
        if not kind and looks[frame.f_code] < MOST_LOOKS:
            looks[frame.f_code] += 1
            kind = _first(map(_kind_of_a_step, frame.f_locals.values()))

    RealArray.met = ""
    guarded = [_noting(np.array(a)) if _is_real(a) else a for a in arguments]
    sys.setprofile(count)
    try:
        function(*guarded)
    except Exception:  # an array of a class of its own may be too much for it, which is no mistake
        calls = 0
    finally:
        sys.setprofile(before)
    return calls, RealArray.met or kind


def _processor_time() -> float:
    """Return the seconds of all threads.

    Where a limit is set on them, as behind the wall, Linux moves ``time.process_time`` on only a
    few hundred times a second: most calls would take no time at all.
    """
    if resource is None:
        return time.process_time()
    used = resource.getrusage(resource.RUSAGE_SELF)
    return float(used.ru_utime + used.ru_stime)


def _kind(thing: Any) -> str:
    """Return the kind of numbers, if it is another than float64."""
    if np.iscomplexobj(thing):
        return "complex"
    return "long" if getattr(getattr(thing, "dtype", None), "char", "") == "g" else ""


def _kind_of_a_step(thing: Any) -> str:
    """Return the kind of numbers; complex ones have a tiny imaginary part, or are of a spectrum."""
    for _ in range(DEEP):
        if isinstance(thing, list | tuple) and thing:
            begin = thing[:MOST_ENTRIES]
            thing = next((one for one in begin if isinstance(one, complex)), begin[0])
    if not isinstance(thing, complex | np.ndarray | np.generic) or _kind(thing) != "complex":
        return _kind(thing) if isinstance(thing, np.ndarray | np.generic) else ""
    imaginary, real = (np.abs(part).max(initial=0.0) for part in (np.imag(thing), np.real(thing)))
    return "complex" if 0 < imaginary <= TINY * max(real, 1.0) else ""


def _first(kinds: Iterable[str]) -> str:
    return next(filter(None, kinds), "")


def _is_real(thing: Any) -> bool:
    return isinstance(thing, np.ndarray) and thing.dtype.kind == "f"
