"""Read the code of a function without calling it: its identity, and whether it has branches."""

import dis
import inspect
from collections.abc import Callable, Hashable
from functools import lru_cache, partial
from itertools import pairwise
from types import CellType, CodeType
from typing import Any

import numpy as np

# Names in code that treats positive and negative numbers differently. Names that contain relu, and
# comparisons with 0, count as well.
BRANCHES = {"abs", "absolute", "fabs", "fmax", "fmin", "heaviside", "maximum", "minimum", "sign"}
BRANCHES |= {"where"}


def identity(f: Any, around: tuple[Any, ...] = ()) -> Any:
    """Return the identity of a function: its code, and the functions, ints and strings it holds.

    A lambda in a loop is a new object each time, and so is a bound method; they still count as the
    same function. Floats and arrays are data, and do not count.

    Parameters
    ----------
    f : callable
        The function.
    around : tuple of callable
        The functions that hold this one.

    Returns
    -------
    hashable
        A value that is equal for equal functions.

    Examples
    --------
    >>> identity(lambda x: x**2) == identity(lambda x: x**3)
    False
    """
    if isinstance(f, int | np.integer | str | type):
        return f
    if not callable(f):
        return type(f)
    if inspect.isfunction(f):  # not a proxy, which may have __wrapped__ without end
        f = inspect.unwrap(f)
    if any(f is one for one in around):  # a function that calls itself
        return type(f)
    what, held = _opened(f)
    return (what, *(identity(one, (*around, f)) for one in held))


def has_branches(f: Callable[..., Any]) -> bool:
    """Whether a function treats negative numbers differently, as abs and relu do.

    This is a guess from the names in its code, in the code of functions that it holds, and in the
    code of functions in the same file that it names.

    Examples
    --------
    >>> import numpy as np
    >>> has_branches(lambda x: np.maximum(x, 0)), has_branches(lambda x: np.sqrt(x))
    (True, False)
    """
    functions = [f]
    for f in functions:  # the list grows meanwhile
        code, near = _opened(f)
        if isinstance(code, CodeType):
            if _names_branches(code):
                return True
            named = [f.__globals__.get(name) for name in code.co_names]
            near += [g for g in named if _file(g) == code.co_filename]
        opened = [g for g in near if callable(g) and not isinstance(g, type)]
        functions += [g for g in opened if not any(g is one for one in functions)]
    return False


def _opened(f: Any) -> tuple[Any, list[Any]]:
    """Return the code of a function, or else its type, and the objects it holds."""
    if inspect.isfunction(f):
        held = [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]
        cells = [cell for cell in f.__closure__ or () if cell != CellType()]
        return f.__code__, held + [cell.cell_contents for cell in cells]
    if inspect.ismethod(f):
        return type(f.__self__), [f.__func__, *getattr(f.__self__, "__dict__", {}).values()]
    if isinstance(f, partial):
        return partial, [f.func, *f.args, *f.keywords.values()]
    try:
        return type(f), [*vars(f).values()]
    except Exception:  # it has no attributes, or a proxy refuses to list them
        return (f if isinstance(f, Hashable) else type(f)), []


@lru_cache  # lambdas from a loop share their code
def _names_branches(code: CodeType) -> bool:
    inner = any(_names_branches(one) for one in code.co_consts if isinstance(one, CodeType))
    names = any(name in BRANCHES or "relu" in name.lower() for name in code.co_names)
    return inner or names or any(_by_sign(*two) for two in pairwise(dis.get_instructions(code)))


def _by_sign(before: dis.Instruction, one: dis.Instruction) -> bool:
    is_zero = isinstance(before.argval, int | float) and before.argval == 0
    return one.opname == "COMPARE_OP" and bool({*"<>"} & {*one.argrepr}) and is_zero


def _file(g: Any) -> str:
    return g.__code__.co_filename if inspect.isfunction(g) else ""
