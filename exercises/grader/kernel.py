"""Run a submission as a kernel runs cells: statement by statement, and go on after a failure.

A plot that cannot be drawn, ``input()`` or ``sys.exit()`` take nothing away from the functions.
"""

import __future__

import ast
import linecache
import re
import sys
import textwrap
from types import ModuleType

from grader.clock import Clock, TooSlowError, no_longer_than

MARK = "# %%"  # the line before each cell, as editors write it
# Lines that a kernel understands and Python does not: %timeit f(x), !ls, names = !ls, f?, ?f
FOR_THE_KERNEL = re.compile(r"(\s*)([%!?].*|[\w.]+\s*=\s*[%!].*|.*\?\s*)")
NOTHING = (SyntaxError, ValueError, RecursionError, MemoryError)  # code that has no syntax tree


class Kernel:
    """The names that a submission defines: a module, or the cells of a notebook.

    ``path`` is the name of its file, for messages. Each statement may take half of the ``seconds``
    that are left; the statements at the lines ``skipped`` took too long before.
    """

    def __init__(self, path: str, source: bytes, seconds: float, skipped: list[int]) -> None:
        self.path = path
        self.slow = [*skipped]  # lines of all statements that took too long
        self.first_failure: BaseException | None = None  # in a notebook failing cells are common
        self.module = ModuleType(f"submission_{path.partition('.')[0]}")
        self.module.__file__ = path
        self._clock, self._end = Clock(), seconds
        self.failed: dict[str, BaseException] = {}  # by the names that it would define
        self._flags = 0  # of __future__
        sys.modules[self.module.__name__] = self.module  # dataclasses look up their module
        text = source.decode("utf-8", errors="replace")
        linecache.cache[path] = (len(source), None, text.splitlines(keepends=True), path)
        if not path.endswith(".ipynb"):
            self._run(ast.parse(source, path), text)
            self.first_failure = next(iter(self.failed.values()), None)
            return
        line = 0
        for cell in re.split(f"^{MARK}$", text, flags=re.MULTILINE):
            try:
                self._run(ast.increment_lineno(_tree(cell, path), line), cell)
            except NOTHING as error:
                if isinstance(error, SyntaxError):
                    error.lineno = (error.lineno or 1) + line
                self._has_failed(cell, error)
            line += cell.count("\n")

    def _run(self, tree: ast.Module, text: str) -> None:
        for node in tree.body:
            if node.lineno in self.slow:
                continue
            try:
                code = compile(ast.Module([node], []), self.path, "exec", self._flags, True)
                self._flags |= code.co_flags & __future__.annotations.compiler_flag
                seconds = (self._end - self._clock.read()) / 2
                with no_longer_than(seconds, self._clock.read):
                    exec(code, vars(self.module))
            except BaseException as error:
                if isinstance(error, TooSlowError):
                    self.slow.append(node.lineno)
                self._has_failed(ast.unparse(node), error)

    def _has_failed(self, text: str, error: BaseException) -> None:
        for word in re.findall(r"\w+", text):
            if word != getattr(error, "name", ""):  # "it is missing" is not a reason
                self.failed.setdefault(word, error)


def _tree(cell: str, path: str) -> ast.Module:
    """Parse a cell, without the lines that only a kernel understands."""
    lines = textwrap.dedent(cell).split("\n")
    while True:
        try:
            return ast.parse("\n".join(lines), path)
        except SyntaxError as error:
            at = min(error.lineno or 1, len(lines)) - 1
            found = FOR_THE_KERNEL.fullmatch(lines[at])
            if not found:
                raise
            lines[at] = f"{found[1]}pass"
