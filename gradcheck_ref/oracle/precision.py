"""Find numbers that are right but rounded, so that the report does not blame a trap.

A program that prints 15 digits, or computes in single precision, is slightly wrong in each number.
So it also fails vectors with a small trap, such as StepTaken, but the trap is not the reason.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradcheck_ref.conversation.messages import as_float
from gradcheck_ref.oracle.judge import Outcome, close_enough

TOLD = ("slope", "error", "relative", "percent", "spread")
FEWEST = 3  # wrong numbers, before the report says anything
FEWEST_DIGITS = 3  # a number with fewer digits, such as 0, was not cut off
MOST = 0.9  # of the wrong numbers; a few may be wrong for another reason
NEAR = 1e-4  # relative: most numbers rounded to single precision are nearer than this


def rounded_numbers(outcomes: Sequence[Outcome]) -> tuple[str, list[Outcome]]:
    """Describe all wrong numbers, and list the outcomes that this explains.

    Parameters
    ----------
    outcomes : sequence of Outcome
        The outcomes that are wrong.

    Returns
    -------
    str, list of Outcome
        A sentence, empty if there is no pattern; and the outcomes whose numbers it explains.
    """
    # In a malformed reply, and beside a refusal, nothing need be a number.
    outcomes = [o for o in outcomes if o.status == "failed" and "refused" not in o.reply]
    numbers = {id(o): list(_wrong_numbers(o)) for o in outcomes}
    with_numbers = [o for o in outcomes if numbers[id(o)]]
    everything = [pair for o in with_numbers for pair in numbers[id(o)]]
    if len(everything) < FEWEST:
        return "", []
    digits = max(_digits(got) for got, _ in everything)
    if FEWEST_DIGITS <= digits < 17 and _share(
        everything, lambda got, right: _is_rounded(got, right, digits)
    ):
        said = f"right to the {digits} digits that are written: write 17 (%.17g), or the shortest"
        return f"{said} text that reads as the same double", with_numbers
    if _share(everything, _is_single) and _share(everything, _is_near, 0.5):
        return "computed in single precision (float32): take doubles", with_numbers
    return "", []


def _share(
    pairs: Sequence[tuple[str, str]], holds: Callable[[str, str], bool], least: float = MOST
) -> bool:
    return sum(holds(*pair) for pair in pairs) >= least * len(pairs)


def _wrong_numbers(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Yield each number that is too far off, and the expected one."""
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
    elif (
        isinstance(got, str)
        and isinstance(expected, str)
        and expected != "nonfinite"
        and not close_enough(got, expected, within)
    ):
        yield got, expected


def _digits(written: str) -> int:
    """Count the significant digits of a number."""
    mantissa = re.split("e", written.lower())[0]
    return len(re.sub(r"[^0-9]", "", mantissa).lstrip("0").rstrip("0"))


def _is_rounded(got: str, right: str, digits: int) -> bool:
    value, truth = as_float(got), float(right)
    if not (math.isfinite(value) and math.isfinite(truth)):
        return False
    exponent = math.floor(math.log10(abs(truth))) if truth else -400
    return abs(value - truth) <= 0.6 * 10.0 ** (exponent - digits + 1)


def _is_single(got: str, right: str) -> bool:
    """Whether a number is in float32, or has no more digits than a float32 needs."""
    value = as_float(got)
    with np.errstate(over="ignore"):
        return _digits(got) <= 9 or value != value or float(np.float32(value)) == value


def _is_near(got: str, right: str) -> bool:
    return abs(as_float(got) - float(right)) <= NEAR * abs(float(right))
