"""Prose in lines that fit the terminal."""

import re
import shutil
import textwrap

# A line of prose longer than this is hard to read.
WIDEST = 120


def fitting(width: int | None) -> int:
    """Return the longest line: the given width, or that of the terminal."""
    columns = shutil.get_terminal_size((80, 24)).columns if width is None else width
    return max(40, columns)  # a shorter line cannot hold two numbers


def visible(text: str) -> str:
    r"""Escape characters that cannot be printed: a newline in a name is shown as ``\n``."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def wrapped(text: str, width: int, indent: int = 6) -> list[str]:
    """Break prose into lines; all but the first are indented."""
    hard = "\N{NO-BREAK SPACE}"
    # Keep together: an index, a number with its name or its error bar, a percentage.
    together = r"\[[\d, ]+\]|\b(analytic|numeric|allowed|above|rtol|atol|seed|verdict) | \+- | %"
    text = re.sub(together, lambda found: found[0].replace(" ", hard), visible(text))
    lines = textwrap.wrap(text, min(width, WIDEST), subsequent_indent=" " * indent)
    return [line.replace(hard, " ") for line in lines]


def entries_that(count: int, of: int, one: str, many: str, kind: str = "") -> str:
    """Count entries: *2 of 3 entries agree*, *1 of 3 entries agrees*, *the only entry agrees*."""
    counted = f"the only {kind}entry" if of == 1 else f"{count} of {of} {kind}entries"
    return f"{counted} {one if count == 1 else many}"
