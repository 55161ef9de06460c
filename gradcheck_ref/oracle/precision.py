"""Numbers that were right once, and were rounded: told as that, and blamed on no trap.

Who prints 15 digits, or computes in single precision, is wrong by a little wherever a number is
told, and where a trap is small, too: StepTaken, say, which has nothing to do with it.
"""

import math
import re
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from gradcheck_ref.oracle.judge import Outcome, close_enough, real

TOLD = ("slope", "error", "relative", "percent")
FEWEST = 3  # wrong numbers, before anything is said
SINGLE = 2.0**-20  # a few operations in single precision lose no more than that


def rounded_numbers(outcomes: Sequence[Outcome]) -> tuple[str, list[Outcome]]:
    """Say what all wrong numbers look like, and of which outcomes that is true.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Failed ones.

    Returns
    -------
    str, list of Outcome
        A sentence, empty if they do not look like anything; and whose numbers it explains.
    """
    numbers = {id(o): list(_wrong_numbers(o)) for o in outcomes}
    with_numbers = [o for o in outcomes if numbers[id(o)]]
    everything = [pair for o in with_numbers for pair in numbers[id(o)]]
    if len(everything) < FEWEST:
        return "", []
    digits = max(_digits(got) for got, _ in everything)
    if digits < 17 and all(_is_rounded(got, right, digits) for got, right in everything):
        said = f"right to the {digits} digits that are written: write 17 (%.17g), or the shortest"
        return f"{said} text that reads as the same double", with_numbers
    if all(_is_single(got, right) for got, right in everything):
        return "computed, or read, in single precision (float32): take doubles", with_numbers
    return "", []


def _wrong_numbers(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Yield each number that is too far off, and what is expected."""
    expected = outcome.vector.expected
    distances = expected.get("within", "0")
    for key in TOLD:
        if expected.get(key) is not None and outcome.reply.get(key) is not None:
            within = distances.get(key, "0") if isinstance(distances, dict) else distances
            yield from _apart(outcome.reply[key], expected[key], within)


def _apart(got: Any, expected: Any, within: Any) -> Iterator[tuple[str, str]]:
    if isinstance(got, list) and isinstance(expected, list):
        same = within if isinstance(within, list) else [within] * len(expected)
        for g, e, w in zip(got, expected, same, strict=False):
            yield from _apart(g, e, w)
    elif isinstance(got, str) and isinstance(expected, str) and expected != "nonfinite":
        if not close_enough(got, expected, within):
            yield got, expected


def _digits(written: str) -> int:
    """Count the significant digits of a number."""
    mantissa = re.split("e", written.lower())[0]
    return len(re.sub(r"[^0-9]", "", mantissa).lstrip("0").rstrip("0"))


def _is_rounded(got: str, right: str, digits: int) -> bool:
    value, truth = real(got), float(right)
    if not (math.isfinite(value) and math.isfinite(truth)):
        return False
    return abs(value - truth) <= 0.51 * 10.0 ** (_exponent(truth) - digits + 1)


def _exponent(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else -400


def _is_single(got: str, right: str) -> bool:
    value, truth = real(got), float(right)
    if abs(truth) > 3.4e38 or 0 < abs(truth) < 1.2e-38:
        return not math.isfinite(value) or abs(value) < 1.2e-38
    near = abs(value - truth) <= SINGLE * max(abs(truth), 1.0)
    return near and _single(value) == value


def _single(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)
