"""Warp's summary: a row for each pair of an input and an output, and a last line.

Idea
    Seven columns: where the absolute error is largest, the two values there, and the largest
    relative error, which in general is at *another* entry. Neither error decides the verdict;
    `gradcheck_ref.compat.warp.gradcheck` tells of a user who was puzzled by that.
"""

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.stage4_allclose import Comparison

COLUMNS = ("Input", "Output", "Max Abs Error", "AD at MAE", "FD at MAE", "Max Rel Error", "Pass")
BAR = " | "

# Warp adds this to FD so that it can divide by an FD of zero. An FD of -1e-8 still breaks it.
ADDED_TO_FD = 1e-8

GREEN, RED, PLAIN = "\033[92m", "\033[91m", "\033[0m"

# Keeps a name and its number on the same line.
NO_BREAK = "\xa0"


@dataclass(frozen=True)
class Row:
    """The comparison of one pair, and its row in the table.

    Attributes
    ----------
    i, j : int
        The positions of the input and of the output.
    input : str
        The name of the input.
    compared : Comparison
        The comparison of those entries of the two Jacobians that were evaluated.
    """

    i: int
    j: int
    input: str
    compared: Comparison

    @property
    def output(self) -> str:
        """The name of the output."""
        return f"output_{self.j}"

    @property
    def pair(self) -> str:
        """The pair in a sentence."""
        return f"{self.output} (output {self.j}) by {self.input} (input {self.i})"

    @property
    def verdict(self) -> str:
        """PASS, FAIL, or NaN where the analytic Jacobian has one."""
        if np.isnan(self.compared.analytic).any():
            return "NaN"
        return "PASS" if self.compared else "FAIL"

    def cells(self) -> list[str]:
        """Write the seven columns."""
        analytic, numeric = self.compared.analytic, self.compared.numeric
        error = self.compared.error
        at = np.unravel_index(np.argmax(error), error.shape)  # NaN first, if there is any
        return [
            self.input,
            self.output,
            f"{error[at]:.3e} at ({at[0]}, {at[1]})",
            f"{analytic[at]:.3e}",
            f"{numeric[at]:.3e}",
            f"{relative_error(analytic, numeric).max():.3e}",
            self.verdict,
        ]


def relative_error(analytic: Array, numeric: Array) -> Array:
    """Return Warp's relative error, ``|(AD - FD) / (FD + 1e-8)|``."""
    with np.errstate(all="ignore"):
        return np.abs((analytic - numeric) / (numeric + ADDED_TO_FD))


def print_summary(name: str, rows: Sequence[Row]) -> None:
    """Print the table and the verdict; on a terminal, in color and no wider than the terminal."""
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else None
    text = summary(name, rows, width)
    print(_coloured(text) if terminal and not os.environ.get("NO_COLOR") else text)


def summary(name: str, rows: Sequence[Row], width: int | None = None) -> str:
    """Write the table; if it is wider than ``width``, as one paragraph for each row."""
    cells = [row.cells() for row in rows]
    widths = [max(map(len, column)) for column in zip(COLUMNS, *cells, strict=True)]
    lines = [BAR.join(map(str.ljust, line, widths)).rstrip() for line in (list(COLUMNS), *cells)]
    lines.insert(1, "-" * (sum(widths) + len(BAR) * (len(widths) - 1)))
    if width is not None and len(lines[1]) > width:
        lines = [line for row in cells for line in _paragraph(row, width)]
    passed = all(row.verdict == "PASS" for row in rows)
    lines.append(f"Gradient check for function {name} {'passed' if passed else 'failed'}")
    return "\n".join(lines)


def _paragraph(cells: Sequence[str], width: int) -> list[str]:
    """Write a row as a list of `column: cell`, broken only between cells."""
    pieces = [
        f"{title}: {cell}".replace(" ", NO_BREAK)
        for title, cell in zip(COLUMNS, cells, strict=True)
    ]
    lines = textwrap.wrap(", ".join(pieces), width, subsequent_indent="  ")
    return [line.replace(NO_BREAK, " ") for line in lines]


def _coloured(text: str) -> str:
    """Color the verdicts: the last word of each line, and all of the last line."""
    colours = {"PASS": GREEN, "FAIL": RED, "NaN": RED, "passed": GREEN, "failed": RED}
    *lines, last = text.split("\n")
    for k, line in enumerate(lines):
        before, gap, word = line.rpartition(" ")
        if word in colours:
            lines[k] = f"{before}{gap}{colours[word]}{word}{PLAIN}"
    colour = colours[last.rpartition(" ")[2]]
    return "\n".join([*lines, f"{colour}{last}{PLAIN}"])
