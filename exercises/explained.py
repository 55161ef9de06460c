"""An explanation of an exception in a learner's file, and the place where it was raised.

Only the standard library: the process of a submission has a copy of this file.
"""

import ast
import difflib
import itertools
import linecache
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any

PYTHON = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
MOST_NAMES = 3  # whose shapes are told
SHAPE = r"\((\d[\d,]*|)\)"  # as NumPy writes it: (2,3)


# --- where it was --------------------------------------------------------------------------------


def place(error: BaseException, path: str) -> Iterator[tuple[str, str]]:
    """Name the last line of a file, or of a notebook's cells, that an exception passed through.

    Name also the arrays in it.
    """
    yield from getattr(error, "place", ())  # from another process: it was found there
    linecache.checkcache(path)
    steps = [
        (frame, number)
        for frame, number in traceback.walk_tb(error.__traceback__)
        if _file(frame) == path or "get_ipython" in frame.f_globals  # as all cells have it
    ]
    if isinstance(error, SyntaxError) and error.filename == path:
        yield "at", f"line {error.lineno}: {(error.text or '').strip()}"
    elif steps:
        frame, number = steps[-1]
        callers = [before for before in steps[:-1] if before[1] != number]
        code = linecache.getline(_file(frame), number).strip()
        called = f"line {number}, called in line {callers[-1][1]}: {code}" if callers else ""
        yield "at", called or f"line {number}: {code}"
        if shapes := ", ".join(_shapes(frame, _last(error.__traceback__, frame))):
            yield "shapes", shapes


def _file(frame: FrameType) -> str:
    return frame.f_code.co_filename


def _last(trace: TracebackType | None, frame: FrameType) -> int:
    """Return the instruction at which a frame was left."""
    last = -1
    while trace:
        if trace.tb_frame is frame:
            last = trace.tb_lasti
        trace = trace.tb_next
    return last


def _shapes(frame: FrameType, instruction: int) -> Iterator[str]:
    """Say what shapes the arrays have that stand in the expression that failed."""
    told: list[str] = []
    for node in ast.walk(_expression(frame.f_code, instruction)):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="T"):
                turned = True
            case ast.Name(id=name):
                turned = False
            case _:
                continue
        value: Any = frame.f_locals.get(name, frame.f_globals.get(name))
        is_array = (type(value).__module__, type(value).__name__) == ("numpy", "ndarray")
        if is_array and name not in told and len(told) < MOST_NAMES:
            told.append(name)
            shape = value.shape[::-1] if turned else value.shape
            yield f"{name}{'.T' * turned} {shape}"


def _expression(code: CodeType, instruction: int) -> ast.AST:
    """Return the syntax tree of what an instruction belongs to; an empty one if there is none."""
    nothing = ast.Module([], [])
    places = list(code.co_positions())
    first, last, begin, end = places[instruction // 2] if instruction >= 0 else (None,) * 4
    if first is None or last is None or begin is None or end is None:
        return nothing
    lines = [linecache.getline(code.co_filename, n) for n in range(first, last + 1)]
    rows = [line.encode() for line in lines]  # columns are counted in bytes
    rows[-1] = rows[-1][:end]
    rows[0] = rows[0][begin:]
    try:
        return ast.parse(b"(" + b"".join(rows).strip() + b")")
    except (SyntaxError, ValueError):  # a statement, such as slopes[i] = ...
        try:
            return ast.parse(b"".join(rows).strip())
        except (SyntaxError, ValueError):
            return nothing


# --- what it means -------------------------------------------------------------------------------


def _do_not_fit(found: re.Match[str]) -> str:
    shapes = [_shape(text) for text in re.findall(SHAPE, found.string[found.start() :])]
    for one, other in itertools.combinations(shapes, 2):
        pairs = zip(one[::-1], other[::-1], strict=False)  # NumPy begins with the last axis
        for axis, (here, there) in enumerate(pairs, 1):
            if here != there and 1 not in (here, there):
                where = "the last axes" if axis == 1 else f"axes {-axis}"
                return (
                    f"{one} and {other} do not fit, entry by entry: {where} have {here} and "
                    f"{there} entries"
                )
    return "the shapes do not fit, entry by entry"


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.split(",") if n.strip())


def _rows(left: str, right: str) -> str:
    return f"`@` needs as many columns on its left as rows on its right; here {left} and {right}"


def _out_of_bounds(found: re.Match[str]) -> str:
    index, axis, size = found.groups()
    if size == "0":
        return f"axis {axis} has no entries, so there is no index {index}"
    return f"axis {axis} has the indices 0 to {int(size) - 1}; {index} is none of them"


def _no_axis(found: re.Match[str]) -> str:
    axis, axes = found[1], int(found[2])
    if axes == 0:
        return f"a single number has no axes; there is no axis {axis}"
    there = "one axis, 0" if axes == 1 else f"{axes} axes, 0 to {axes - 1}"
    return f"the array has {there}; there is no axis {axis}"


def _no_module(found: re.Match[str]) -> str:
    near = difflib.get_close_matches(found[1], ("numpy", *sys.stdlib_module_names), 1, 0.8)
    if near:
        return f"did you mean {near[0]}?"
    return "put your own code into this file; the only package you need is NumPy"


def _too_many(found: re.Match[str]) -> str:
    axes = (
        "1 axis takes 1 index" if found[1] == "1" else f"{found[1]} axes takes {found[1]} indices"
    )
    return f"an array with {axes}, and here are {found[2]}"


# Patterns of Python's and NumPy's messages, and what they mean: true whenever the message is this.
PUZZLING: dict[str, str | Callable[[re.Match[str]], str]] = {
    # These occur only in grading, not in run.py.
    "File too large|Read-only file system": "this exercise needs no files: none can be written "
    "while you are graded",
    "Temporary failure in name resolution": "there is no network while you are graded",
    "Resource temporarily unavailable|can't start new thread": "no program, and no thread, can be "
    "started while you are graded; no exercise needs any",
    # input() raises the first of these in a terminal's pipe, and the second in a browser.
    "EOF when reading a line|I/O error": "nobody types while your file is checked: write the value "
    "in place of input()",
    r"No module named '(\w+)": _no_module,
    "maximum recursion depth": "a function calls itself without an end; does it call the one you "
    "mean, and when does it stop?",
    "^TabError": "some lines begin with tabs and others with spaces: use four spaces for each "
    "level",
    r"non-printable character U\+(00A0|202F|2007)": "a no-break space, as web pages have it, looks "
    "like a space: delete it, and type one",
    "^SyntaxError: invalid character": "this character only looks like one of Python's, or comes "
    "from another keyboard: type it again, with an English one",
    r"missing \d+ required positional": "the checks leave this argument out: does it have the "
    "default of the starter?",
    "unexpected keyword argument": "do the parameters have the names of the starter?",
    "passed as keyword": "the checks name some arguments: leave the `/` out of the parameters",
    "encountered in": "np.seterr, or a filter of warnings, makes an error of this; leave it out",
    # Shapes.
    rf"indexing arrays could not be broadcast together with shapes {SHAPE} {SHAPE}": lambda found: (
        "one index from each array picks one entry, so both need the same length; here "
        f"{_shape(found[1])} and {_shape(found[2])}"
    ),
    rf"operands could not be broadcast together with shapes {SHAPE} {SHAPE}": _do_not_fit,
    rf"non-broadcastable output operand with shape {SHAPE} doesn't match the broadcast shape "
    rf"{SHAPE}": lambda found: (
        f"an array of shape {_shape(found[2])} is put into one of shape {_shape(found[1])}"
    ),
    rf"could not broadcast input array from shape {SHAPE} into shape {SHAPE}": lambda found: (
        f"an array of shape {_shape(found[1])} is put where one of shape {_shape(found[2])} is"
    ),
    r"matmul: .*\(size (\d+) is different from (\d+)\)": lambda found: _rows(found[2], found[1]),
    r"not aligned: (\d+) \(dim \d+\) != (\d+) \(dim \d+\)": lambda found: _rows(found[1], found[2]),
    "matmul: .* does not have enough dimensions": "`@` is for arrays; a single number takes *",
    r"cannot reshape array of size (\d+) into shape \(([\d,]+)\)": lambda found: (
        f"an array of {found[1]} entries cannot have the shape {_shape(found[2])}"
    ),
    "inhomogeneous": "the rows have different lengths, or some entries are arrays and others not",
    # Axes and indices.
    r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)": _out_of_bounds,
    r"axis (-?\d+) is out of bounds for array of dimension (\d+)": _no_axis,
    r"array is (\d+)-dimensional, but (\d+) were indexed": _too_many,
    r"only integers, slices": "an index is a whole number, or several; an entry of an array of "
    "floats is none, nor is a float",
    "arrays used as indices must be of integer": "an array of indices holds whole numbers, and "
    "this one holds floats",
    "list indices must be integers or slices, not tuple": "a list takes one index; an array, "
    "np.array(...), takes [i, j]",
    # One number, or an answer for each entry.
    "setting an array element with a sequence|only (length-1|0-dimensional) arrays can be "
    "converted": "an array is put where one number belongs; if a function returns an array, make "
    "one number of it",
    "truth value of an array": "`if`, `and`, Python's `max` and `all` want one answer for the "
    "whole array; np.where and np.maximum give one for each entry",
    "only integer scalar arrays": "is an array where a number belongs? np.max(0, x) takes x for an "
    "axis; np.maximum(0, x) compares",
    "return arrays must be of ArrayType": "a third argument, as in np.maximum(a, b, c), is where "
    "the result goes; for three arrays call it twice",
    "zero-size array to reduction": "an array without entries has no largest and no smallest one",
    # Types.
    "Cannot cast ufunc": "an array of integers cannot hold fractions: use dtype=float",
    "Integers to negative integer powers": "a power of a whole number with a negative exponent: "
    "write the number as a float, 2.0 and not 2",
    r"ufunc '(\w+)' not supported for the input types": lambda found: (
        f"np.{found[1]} cannot take these types: are its arguments in the right order?"
    ),
    r"unsupported operand type\(s\) for .*'list' and|'list' and 'list'": "lists are not "
    "calculated with entry by entry; make arrays of them, np.array(...)",
    r"NoneType": "something here is None: a function without a return gives None",
    r"too many values to unpack \(expected (\d+)": lambda found: (
        f"more values on the right than names on the left, which are {found[1]}"
    ),
    r"not enough values to unpack \(expected (\d+), got (\d+)\)": lambda found: (
        f"{found[1]} values are needed for the names on the left, and {found[2]} are on the right"
    ),
    # Of torch.
    r"incorrect number of gradients \(expected (\d+), got (\d+)\)": lambda found: (
        f"backward returns a value for each input of forward: {found[1]} of them, not {found[2]}"
    ),
    "returned a gradient different than None at position": "backward returns its values in the "
    "order of the inputs of forward, and None for a number",
}
LOSES_AN_AXIS = re.compile("axis=(?!.*keepdims)")
ABOUT_SHAPES = re.compile("broadcast|matmul|not aligned|reshape|out of bounds|were indexed")


def look_at(what: str, line: str, shapes: str) -> Iterator[str]:
    """Say what to look at for an exception with this name and message, if its message is known."""
    for pattern, meaning in PUZZLING.items():
        if found := re.search(pattern, what):
            said = meaning if isinstance(meaning, str) else meaning(found)
            if shapes and ABOUT_SHAPES.search(what):
                said = f"{said} (shapes: {shapes})"
            if meaning is _do_not_fit and LOSES_AN_AXIS.search(line):
                said = f"{said}; keepdims=True keeps the axis of a sum or a mean"
            yield said
            return


def message_of(error: BaseException) -> str:
    """Write an exception on one line, without what only NumPy's authors understand."""
    text = str(error)
    if isinstance(error, SyntaxError):  # perhaps a later Python has this syntax
        text = f"{error.msg}, in {PYTHON}"
    text = re.sub(r", with gufunc signature \S+| \(has \d, gufunc core .*\)", "", text)
    nothing = text in ("", "None")  # a bare assert; exit()
    return " ".join((type(error).__name__ + f": {text}" * (not nothing)).split())
