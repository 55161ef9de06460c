"""A notebook that is handed in: what its cells define."""

import ast
import json
from collections.abc import Iterator

OURS = "gradcheck-ref-course"  # the tag of cells that no learner writes
MOST = 1_000_000  # characters of code


def code_of(content: bytes) -> bytes:
    """Return what a notebook defines: imports, functions, classes and constants.

    What a cell merely tries, prints or plots is left out, and so are the cells of the course.

    Raises
    ------
    ValueError
        If it is no notebook, or one with too much code.
    """
    try:
        cells = [cell for cell in json.loads(content)["cells"] if cell["cell_type"] == "code"]
        theirs = [c for c in cells if OURS not in c.get("metadata", {}).get("tags", [])]
        sources = ["".join(cell["source"]) for cell in theirs]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"no notebook: {type(error).__name__}") from None
    if sum(map(len, sources)) > MOST:
        raise ValueError(f"a notebook with more than {MOST:,} characters of code")
    return "\n\n".join(part for source in sources for part in _defined(source)).encode() + b"\n"


def _defined(cell: str) -> Iterator[str]:
    """Yield the statements of a cell that define something."""
    lines = [line if not line.startswith(("%", "!")) else "" for line in cell.split("\n")]
    source = "\n".join(lines)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        if "def " in source:  # it will be said what is wrong with it
            yield source
        return
    whole = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    defines = any(isinstance(node, whole[:2]) for node in tree.body)
    runs: list[tuple[int, int]] = []  # of lines: several statements may stand on one
    for node in tree.body:
        constant = isinstance(node, ast.Assign | ast.AnnAssign) and (
            defines or not any(isinstance(part, ast.Call) for part in ast.walk(node))
        )
        if isinstance(node, whole) or constant:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            end = node.end_lineno or first
            if runs and first <= runs[-1][1]:
                first, _ = runs.pop()
            runs.append((first, end))
    yield from ("\n".join(lines[first - 1 : end]) for first, end in runs)
