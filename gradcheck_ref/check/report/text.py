"""Prose in lines that fit the terminal, and numbers with the digits that are known."""

import math
import re
import shutil
import textwrap
from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from gradcheck_ref.check.knobs import WIDEST
from gradcheck_ref.check.words import setting

# A line of prose longer than this is hard to read.
LONGEST = 120


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
    lines = textwrap.wrap(text, min(width, LONGEST), subsequent_indent=" " * indent)
    return [line.replace(hard, " ") for line in lines]


def first_sentence(text: str) -> str:
    """Return the first sentence of a report in one line; its further lines are indented."""
    first, *others = text.splitlines()
    goes_on = takewhile(lambda line: line.startswith("      "), others)
    return " ".join([first, *(line.strip() for line in goes_on)])


def entries_that(count: int, of: int, one: str, many: str, kind: str = "") -> str:
    """Count entries: *2 of 3 entries agree*, *1 of 3 entries agrees*, *the only entry agrees*."""
    counted = f"the only {kind}entry" if of == 1 else f"{count} of {of} {kind}entries"
    return f"{counted} {one if count == 1 else many}"


def listed(names: Iterable[str], shown: int = 6) -> str:
    """Join names without repeats; if there are many, the first ones and the number of others."""
    names = list(dict.fromkeys(names))
    more = len(names) - shown
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:shown])} and {more} more"


def random_lines(measured: Any) -> str:
    """Name the random lines, and the combinations of outputs, behind a certificate or a whole."""
    lines = f"{measured.lines} random line{'s' * (measured.lines != 1)}"
    combinations = f" and {measured.upstreams} random combinations of the outputs"
    return f"{lines}{combinations if measured.upstreams else ''}"


# --- numbers ----------------------------------------------------------------------------------


def tidy(text: str) -> str:
    """Write exponents as people do: ``3e-7`` for 3e-07, ``2.0e5`` for 2.0e+05."""
    return re.sub(r"e\+?(-?)0*(\d)", r"e\1\2", text)


def short(value: float, digits: int = 1) -> str:
    """Write a number to a digit or two: ``3e-7``, ``0.02``, ``50``."""
    rounded = float(f"{value:.{digits - 1}e}")
    if rounded == 0 or 0.01 <= abs(rounded) < 1e4:
        return f"{rounded:.10g}"
    return tidy(f"{rounded:.{digits - 1}e}")


def ratio(value: float) -> str:
    """Write error over allowed; a ratio below 0.01 is not worth more digits."""
    if value < 0.01:
        return "<0.01"
    return f"{value:.2f}" if value < 100 else short(value, 2)


def with_rtol(rtol: float) -> str:
    """Write a tolerance, rounded up to one digit; an empty string if it is uselessly wide."""
    if not 0 < rtol < WIDEST:
        return ""
    return setting("rtol", short(rounded_up(rtol)))


def rounded_up(value: float, digits: int = 1) -> float:
    """Round a number up to some digits, if it is positive and finite."""
    if not 0 < value < math.inf:
        return value
    power = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    return math.ceil(value / power * (1 - 1e-12)) * power


def alike(analytic: float, numeric: float, bar: float, error: float) -> tuple[str, str]:
    """Write claim and estimate to the same decimal place.

    That is the fourth digit of the larger one, or a later one if that does not show ``error``, the
    difference; but no digit of the estimate beyond the error bar, nor of the claim, unless it takes
    one to show the difference. A known number that would become 0 gets a digit.

    >>> alike(0.8127, 0.2709, 2e-11, 0.5418)
    ('0.8127', '0.2709')
    >>> alike(0.3, 0.5, 0.02, 0.2)
    ('0.30', '0.50')
    >>> alike(1.5, 0.0, 1.0, 1.5)
    ('1.5', '0')
    """
    sizes = [abs(value) for value in (analytic, numeric) if value and math.isfinite(value)]
    top = _place(max(sizes, default=1.0))
    last = top - 3 if sizes else 0
    if 0 < error < math.inf:
        last = min(last, _place(error) - 1)
    of_claim = last
    if 0 < bar < math.inf:
        last = max(last, min(_place(bar), top))
        of_claim = min(last, _place(error) - 1) if bar < error < math.inf else last
    return _to_place(analytic, of_claim, top, 0.0), _to_place(numeric, last, top, bar)


def _place(size: float) -> int:
    """Return the decimal place of the first digit, as a power of ten."""
    return math.floor(math.log10(size))


def _to_place(value: float, last: int, top: int, bar: float) -> str:
    """Write a number to a decimal place; the larger number's first digit is at ``top``."""
    if not math.isfinite(value):
        return str(value)
    if abs(value) > bar:
        last = min(last, _place(abs(value)))
    elif abs(value) < 10.0**last / 2:
        value = 0.0  # without a sign
    first = _place(abs(value)) if value else top
    if last <= 0 and first >= -4 and top <= 7:
        return f"{value:.{-last}f}"
    return tidy(f"{value:.{max(0, first - last)}e}") if value else "0"
