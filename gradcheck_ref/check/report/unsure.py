"""What a report says of entries about which the evidence cannot tell, for each reason."""

import math
from collections.abc import Iterator

import numpy as np

from gradcheck_ref.check.judge.certificate import Certificate
from gradcheck_ref.check.judge.pair import UNSURE, Pair
from gradcheck_ref.check.judge.rule import FAIL_BARS
from gradcheck_ref.check.report.digits import alike, short, tidy
from gradcheck_ref.check.report.found import Entry, Found
from gradcheck_ref.check.report.table import numbers_of, worst_of
from gradcheck_ref.check.report.wider import rtol_for, with_rtol
from gradcheck_ref.check.words import setting, words


def undecided(found: Found) -> Iterator[str]:
    """For each reason, say what the evidence is and what to do; the worst entry is the example."""
    groups: dict[str, list[tuple[Pair, int, int]]] = {}
    for pair, row, column in worst_of(found, UNSURE):
        reason = str(pair.reason[row, column])
        if found.digits and reason in ("noise", "kink", "stairs"):
            reason = "rounded"
        groups.setdefault(reason, []).append((pair, row, column))
    head = "UNSURE  "
    for reason, group in groups.items():
        count = f"{len(group)} of {found.compared} entries {'is' if len(group) == 1 else 'are'}"
        sentence, advice = _said(found, reason, *group[0])
        yield f"{head}{count if found.compared > 1 else 'the only entry is'} {sentence}"
        yield f"try: {advice}"
        head = "also: "
    if found.certificate and found.certificate.verdict == UNSURE:
        sentence, advice = _said_of_lines(found, found.certificate)
        yield f"{head}{sentence}"
        yield f"try: {advice}"


def _said_of_lines(found: Found, held: Certificate) -> tuple[str, str]:
    """Say why lines vouch for less than was asked for, and what to do."""
    if few_lines(held):
        as_many = words("None for", "leave it out for") + " as many as it takes"
        return not_vouched(found), f"give it a larger {setting('max_evaluations')}, or {as_many}"
    if held.zero:
        zero = "slope and claim are zero, but for rounding: a factor of 2 would not show"
        elsewhere = "check at another point, as before the optimum is reached"
        return f"along all of {witnesses(held)} {zero}", elsewhere
    digits = f"let f give all its digits, of which its values have {found.digits}; or "
    return not_vouched(found), f"{digits if found.digits else ''}{_larger()}{_accept(held.rtol)}"


def _larger() -> str:
    return f"give it a larger {setting('max_evaluations')}, or fewer inputs at once"


def _accept(rtol: float) -> str:
    wider = with_rtol(rtol)
    return f"; or accept what can be seen, with {wider}" if wider else ""


def few_lines(held: Certificate) -> bool:
    """Tell whether a wrong entry would be missed more than once in a hundred times."""
    return held.chance > 0.01


def not_vouched(found: Found) -> str:
    """Say how far the entries were held that were measured along random lines only."""
    held = found.certificate
    assert held is not None
    lines = witnesses(held)
    count = "1 entry" if held.entries == 1 else f"{held.entries} entries"
    if held.against:
        analytic, numeric, bar = held.against
        numbers = alike(analytic, numeric, bar, abs(analytic - numeric))
        return (
            f"taken together, the claims for {count} do not agree with f: along "
            f"{'' if held.lines == 1 else 'one of '}{lines} analytic {numbers[0]}, numeric "
            f"{numbers[1]} +- {short(bar)}; which of them are wrong was not found out"
        )
    if not held.lines:
        return f"there were no evaluations for {count}"
    if few_lines(held):
        return (
            f"the claims for {count} agree with f along {lines}, but so few miss a wrong one once "
            f"in {round(1 / held.chance)} times: there were no evaluations for more"
        )
    is_ = "is" if held.vouched < 2 else "are"
    said = (
        f"{held.vouched or 'none'} of {count} {is_} shown to be within the error allowed for "
        f"{'its' if held.vouched < 2 else 'their'} own size (rtol {tidy(f'{found.rtol:g}')})"
    )
    if not math.isfinite(held.within):
        return f"{said}; how far off the others may be is not known"
    wider = with_rtol(held.rtol)
    accept = f"; all would pass with {wider}" if wider else ""
    return (
        f"{said}. {lines} show that none is off by more than {short(held.within)} of a typical "
        f"entry, but an entry may be much smaller than that{accept}"
    )


def witnesses(certificate: Certificate) -> str:
    """Say what held many entries at once."""
    lines = f"{certificate.lines} random line{'s' * (certificate.lines != 1)}"
    if certificate.upstreams:
        s = "s" * (certificate.upstreams != 1)
        lines += f" and {certificate.upstreams} random combination{s} of the outputs"
    return lines


def _said(found: Found, reason: str, pair: Pair, row: int, column: int) -> tuple[str, str]:
    """Complete the sentence *1 of 3 entries is ...*, and say what to do."""
    entry = found.entry(pair, row, column)
    evidence = f"; at {entry.name} {_evidence(entry, reason)}"
    if reason in ("step-underflow", "nonfinite") or not math.isfinite(entry.bar):
        evidence = ""
    reasons = ("noise", "kink", "stairs") if reason == "rounded" else (reason,)
    accept = _accept(max(rtol_for(found, one) for one in reasons))
    sentence, advice = _words_for(found, pair, row, column)[reason]
    return sentence + evidence, advice + accept


def _words_for(found: Found, pair: Pair, row: int, column: int) -> dict[str, tuple[str, str]]:
    """Say for each reason what it means for an entry, and what is to be tried.

    Besides the reasons of the judge: what few digits in the values of f look like is rounded.
    """
    x, name = pair.x[row], found.name(pair, row, column)
    moved = pair.input.entry(int(pair.rows[row]))
    away = f"move {moved} away from {tidy(f'{x:.6g}')}"
    spacing = short(abs(float(np.spacing(pair.input.real_dtype.type(x)))))
    output = "f" if found.scalar else pair.output.entry(int(pair.columns[column]))
    in_steps = "If f is meant to go in steps, as a floor or a share of cases does, it has no "
    in_steps += "gradient but 0"
    in_float64 = (
        "compute f in float64 throughout, without cancellation and without rounding to few "
    )
    in_float64 += "digits"
    return {
        "rounded": (
            f"hidden by rounding: no value of f has more than {found.digits} digits",
            "let f give all its digits: %.17g writes them, while C's %g and %f cut them off. "
            f"{in_steps}",
        ),
        "kink": (
            "at a kink or jump of f, or where it is vertical or bends too sharply to be resolved",
            f"to check the formula, {away}; at a kink any slope between the two is a valid choice. "
            "If f has no kink there, is something in it rounded, or float32? Labels and indices "
            "are held constant if they are integers",
        ),
        "stairs": (
            f"on a stair: near {name} f moves in steps, so that short and long steps give "
            "different slopes",
            f"{in_float64}. {in_steps}",
        ),
        "precision": (
            "not known to the digits asked for",
            "compute f with less cancellation, or in a longer dtype, or give an "
            f"{setting('atol')} that suits f, or a larger {setting('max_evaluations')}",
        ),
        "noise": ("hidden by noise in f, or by rounding", in_float64),
        "zero": (
            "zero, but for the rounding of f: a factor of 2 would not show",
            "check at another point, as before the optimum is reached",
        ),
        "nondeterministic": (
            "hidden because f gives another value when it is called again",
            "seed the random numbers inside f, so that the same inputs give the same value",
        ),
        "step-underflow": (
            f"out of reach: no step that is short enough moves {moved} = {tidy(f'{x:.6g}')}, whose "
            f"neighbours in {pair.input.dtype} are {spacing} away",
            f"rescale {pair.input.name}, check it at a smaller value, or hand it over as float64 "
            "if it is shorter",
        ),
        "domain-edge": (
            f"at the edge of the domain of f: near {name} f is not finite on both sides",
            f"{away}, to where f is finite on both sides",
        ),
        "nonfinite": (
            f"without a slope: {output} is not finite at this point",
            "look at f itself first: a division by 0, the logarithm of 0, an overflow?",
        ),
    }


def _evidence(entry: Entry, reason: str) -> str:
    """Say what was claimed and what was found, and why that does not decide."""
    numbers = numbers_of(entry)
    if reason == "kink":
        return _slopes(entry)
    if reason == "zero":
        return numbers
    if not math.isfinite(entry.analytic):
        return f"{numbers}; finite steps cannot confirm a slope that is not finite"
    if entry.error > entry.allowed + FAIL_BARS * entry.bar:
        return (
            f"{numbers}; they differ, but no second look confirms that: f may be noisy, or move in "
            "stairs or waves"
        )
    allowed, visible = short(entry.allowed), short(entry.allowed + FAIL_BARS * entry.bar)
    return f"{numbers}; only an error above {visible} would show, and {allowed} is allowed"


def _slopes(entry: Entry) -> str:
    """Say where the claim is among the slopes at a kink."""
    ends = entry.numeric - entry.bar, entry.numeric + entry.bar
    # Beside a jump of the slope, what is so small is 0 but for rounding.
    left, right = (0.0 if abs(end) < 1e-9 * entry.bar else end for end in ends)
    low, high = alike(left, right, 0.0, 2 * entry.bar)
    nearest = min(ends, key=lambda end: abs(end - entry.analytic))
    claim, _ = alike(entry.analytic, nearest, 0.0, abs(entry.analytic - nearest))
    where = "between" if entry.error <= entry.bar else "outside, but that is not certain"
    return f"the slopes go from {low} to {high}, and analytic {claim} lies {where}"
