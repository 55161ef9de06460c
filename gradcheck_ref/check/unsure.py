"""What a report says of entries about which the evidence cannot tell, for each reason."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gradcheck_ref.check.digits import alike, short, tidy
from gradcheck_ref.check.table import numbers_of, worst_of
from gradcheck_ref.check.verdict import FAIL_BARS, UNSURE, Pair

if TYPE_CHECKING:
    from gradcheck_ref.check.report import Entry, Report

# Beside a jump of the slope, what is so small is 0 but for rounding.
NO_SLOPE = 1e-9

# With a wider tolerance a check is not worth having.
WIDEST_RTOL = 0.1


def undecided(report: "Report") -> Iterator[str]:
    """For each reason, say what the evidence is and what to do; the worst entry is the example."""
    groups: dict[str, list[tuple[Pair, int, int]]] = {}
    for pair, row, column in worst_of(report, UNSURE):
        groups.setdefault(str(pair.reason[row, column]), []).append((pair, row, column))
    head = "UNSURE  "
    for reason, group in groups.items():
        count = f"{len(group)} of {report.compared} entries {'is' if len(group) == 1 else 'are'}"
        sentence, advice = _said(report, reason, *group[0])
        yield f"{head}{count if report.compared > 1 else 'the only entry is'} {sentence}"
        yield f"try: {advice}"
        head = "also: "


def _said(report: "Report", reason: str, pair: Pair, row: int, column: int) -> tuple[str, str]:
    """Complete the sentence *1 of 3 entries is ...*, and say what to do."""
    entry = report.entry(pair, row, column)
    moved, x = pair.input.entry(row), float(pair.x[row])
    here = tidy(f"{x:.6g}")
    match reason:
        case "kink" if math.isfinite(entry.bar):
            return (
                f"at a kink or jump of f, or at a bend too sharp to resolve: {_slopes(entry)}",
                "any slope between the two is a valid choice at a kink; to check the formula, move "
                f"{moved} away from {here}. If f has no kink there, is something in it rounded, or "
                "float32?",
            )
        case "kink":
            return (
                f"at a jump of f, or where it is rough or vertical: at {entry.name} its slope does "
                "not settle as the step shrinks",
                f"check at another point: move {moved} away from {here}",
            )
        case "noise":
            return (
                f"hidden by noise in f, or by rounding: at {entry.name} {_numbers(entry)}",
                f"{_held_constant(pair)}compute f in float64 throughout, without "
                f"cancellation and without rounding to few digits{_wide_enough(report)}",
            )
        case "nondeterministic":
            return (
                "hidden because f gives another value when it is called again: "
                f"at {entry.name} {_numbers(entry)}",
                "seed the random numbers inside f, so that the same inputs give the same value",
            )
        case "step-underflow":
            spacing = abs(float(np.spacing(pair.input.real_dtype.type(x))))
            return (
                f"out of reach: no step that is short enough moves {moved} = {here}, whose "
                f"neighbours in {pair.input.dtype} are {short(spacing)} away",
                f"rescale {pair.input.name}, or check it at a smaller value",
            )
        case "domain-edge":
            one_side = f"f is finite on one side only: {_numbers(entry)}"
            no_slope = "f is not finite everywhere, and where it is its slope does not settle"
            return (
                "at the edge of the domain of f: near "
                f"{entry.name} {one_side if math.isfinite(entry.bar) else no_slope}",
                f"move {moved} away from {here}, to where f is finite on both sides",
            )
        case _:  # nonfinite
            output = "f" if report._scalar else pair.output.entry(column)
            return (
                f"without a slope: {output} is not finite at this point",
                "look at f itself first: a division by 0, the logarithm of 0, an overflow?",
            )


def _slopes(entry: "Entry") -> str:
    """Say where the claim is among the slopes at a kink."""
    ends = entry.numeric - entry.bar, entry.numeric + entry.bar
    left, right = (0.0 if abs(end) < NO_SLOPE * entry.bar else end for end in ends)
    low, high = alike(left, right, 0.0, 2 * entry.bar)
    nearest = min(ends, key=lambda end: abs(end - entry.analytic))
    claim, _ = alike(entry.analytic, nearest, 0.0, abs(entry.analytic - nearest))
    if not math.isfinite(entry.analytic):
        where = "may be where they go as the step shrinks"
    elif entry.error <= entry.bar:
        where = "lies between"
    else:
        where = "is too close to them to be called wrong"
    return f"at {entry.name} the slopes go from {low} to {high}, and analytic {claim} {where}"


def _numbers(entry: "Entry") -> str:
    """Say what was claimed and what was found, and why that does not decide."""
    visible = entry.allowed + FAIL_BARS * entry.bar
    if not math.isfinite(entry.analytic):
        but = "finite steps cannot confirm a slope that is not finite"
    elif entry.error > visible:
        but = (
            "they differ, but f is so noisy, or moves in such stairs or waves, that it may be the "
            "estimate that is wrong"
        )
    else:
        but = f"only an error above {short(visible)} would show"
        but += f", and {short(entry.allowed)} is allowed"
    return f"{numbers_of(entry)}; {but}"


def _held_constant(pair: Pair) -> str:
    """Ask whether an input that alone makes f noisy is one that f compares, or looks up."""
    if not pair.noisy_alone or not (pair.x == np.rint(pair.x)).all():
        return ""
    return (
        f"{pair.input.name} holds whole numbers only: if they are labels or indices, pass them as "
        "integers, which are held constant; else "
    )


def _wide_enough(report: "Report") -> str:
    """Name the tolerance that would let all pass that noise hides, if it is worth having."""
    most = 0.0
    for pair in report.pairs:
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (pair.difference + pair.error) / np.abs(pair.numeric)
        most = max(most, float(share[pair.reason == "noise"].max(initial=0.0)))
    if not 0 < most < WIDEST_RTOL:
        return ""
    power = 10.0 ** math.floor(math.log10(most))
    return f"; or accept what can be seen, with rtol={short(math.ceil(most / power) * power)}"
