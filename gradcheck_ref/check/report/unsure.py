"""What a report says of entries about which the evidence cannot tell, for each reason."""

import math
from collections.abc import Iterator

import numpy as np

from gradcheck_ref.check.judge.certificate import FEWEST_LINES, Certificate
from gradcheck_ref.check.judge.pair import UNSURE, Pair
from gradcheck_ref.check.judge.rule import FAIL_BARS
from gradcheck_ref.check.report.digits import alike, short, tidy
from gradcheck_ref.check.report.found import Entry, Found
from gradcheck_ref.check.report.table import numbers_of, worst_of
from gradcheck_ref.check.report.wider import rtol_for, with_rtol
from gradcheck_ref.check.words import setting, words

# Beside a jump of the slope, what is so small is 0 but for rounding.
NO_SLOPE = 1e-9

# What few digits in the values of f look like.
BY_ROUNDING = ("noise", "kink", "stairs")
ROUNDED = "rounded"

# As at an optimum.
ZERO = "zero, but for the rounding of f: a factor of 2 would not show"
ELSEWHERE = "check at another point, as before the optimum is reached; here there is nothing to see"


NO_SIDE = "f is not finite everywhere, and where it is its slope does not settle"

# What is said for each reason, and what is to be tried; a jump is a kink without any slopes.
SAID = {
    ROUNDED: (
        "hidden by rounding: no value of f has more than {digits}{if_numbers}",
        "let f give all its digits. A text has them with %.17g, which C's %g and %f cut off"
        "{or_accept}. If f is meant to go in steps, as a share of cases does, it has no gradient "
        "but 0",
    ),
    "kink": (
        "at a kink or jump of f, or at a bend too sharp to resolve: {slopes}",
        "{held_constant}any slope between the two is a valid choice at a kink; to check the "
        "formula, move {moved} away from {here}. If f has no kink there, is something in it "
        "rounded, or float32?",
    ),
    "jump": (
        "at a jump of f, or where it is rough or vertical: at {name} its slope does not settle as "
        "the step shrinks",
        "{held_constant}check at another point: move {moved} away from {here}",
    ),
    "stairs": (
        "on a stair: near {name} f moves in steps, and has another slope from nearby than from "
        "afar{if_seen}",
        "is something in f rounded, or float32? Compute in float64 throughout{or_accept}. If f is "
        "meant to go in steps, as a floor or a count does, it has no gradient but 0",
    ),
    "one look": (
        "refused by one look, and there were no evaluations left for a second one: at {name} "
        "{seen}",
        "{larger}",
    ),
    "precision": (
        "right as far as can be seen, but not to the digits asked for: at {name} {numbers}",
        "{accept}; or compute f with less cancellation, or in a longer dtype",
    ),
    "noise": (
        "hidden by noise in f, or by rounding: at {name} {numbers}",
        "{held_constant}compute f in float64 throughout, without cancellation and without rounding "
        "to few digits{or_accept}",
    ),
    "zero": (ZERO + "; at {name} {seen}", ELSEWHERE),
    "nondeterministic": (
        "hidden because f gives another value when it is called again: at {name} {numbers}",
        "seed the random numbers inside f, so that the same inputs give the same value",
    ),
    "step-underflow": (
        "out of reach: no step that is short enough moves {moved} = {here}, whose neighbours in "
        "{dtype} are {spacing} away",
        "{in_double}rescale {input}, or check it at a smaller value",
    ),
    "domain-edge": (
        "at the edge of the domain of f: near {name} {one_side}",
        "move {moved} away from {here}, to where f is finite on both sides",
    ),
    "nonfinite": (
        "without a slope: {output} is not finite at this point",
        "look at f itself first: a division by 0, the logarithm of 0, an overflow?",
    ),
}


def undecided(found: Found) -> Iterator[str]:
    """For each reason, say what the evidence is and what to do; the worst entry is the example."""
    groups: dict[str, list[tuple[Pair, int, int]]] = {}
    for pair, row, column in worst_of(found, UNSURE):
        reason = str(pair.reason[row, column])
        if found.digits and reason in BY_ROUNDING:
            reason = ROUNDED
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
    if held.lines < FEWEST_LINES:
        as_many = words("None for", "leave it out for") + " as many as it takes"
        return not_vouched(found), f"give it a larger {setting('max_evaluations')}, or {as_many}"
    if held.zero:
        return f"along all of {witnesses(held)} slope and claim are {ZERO}", ELSEWHERE
    wider = with_rtol(held.rtol)
    digits = f"let f give all its digits, of which its values have {found.digits}; or "
    accept = f"accept what can be seen, with {wider}; or " if wider else ""
    return not_vouched(found), f"{digits if found.digits else ''}{accept}{_larger()}"


def _larger() -> str:
    return f"give it a larger {setting('max_evaluations')}, or fewer inputs at once"


def not_vouched(found: Found) -> str:
    """Say how far the entries were held that only lines have seen."""
    held = found.certificate
    assert held is not None
    lines, one = witnesses(held), held.entries == 1
    count = "the only entry" if one else f"{held.entries} entries"
    if held.against:
        analytic, numeric, bar = held.against
        numbers = alike(analytic, numeric, bar, abs(analytic - numeric))
        return (
            f"taken together, {count} {'does' if one else 'do'} not agree with f: along "
            f"{'' if held.lines == 1 else 'one of '}{lines} analytic {numbers[0]}, numeric "
            f"{numbers[1]} +- {short(bar)}; it was not found out which are wrong"
        )
    if held.lines < FEWEST_LINES:
        seen = (
            f", and agree{'s' * one} along {'it' if held.lines == 1 else 'them'}, but a wrong one "
            f"is missed so once in {round(1 / held.chance)} times"
        )
        return (
            f"{count} {'was' if one else 'were'} seen by {lines} only{seen if held.lines else ''}: "
            "there were no evaluations for more"
        )
    allowed = f"within what is allowed (rtol {tidy(f'{found.rtol:g}')})"
    off = f"off by at most {short(held.within)} of a typical entry"
    wider = with_rtol(held.rtol)
    if not held.vouched and math.isfinite(held.within):
        return (
            f"{'the entry' if one else f'each of {count}'} is shown by {lines} to be {off}; that "
            f"it is {allowed} cannot be seen{wider and f'; all would pass with {wider}'}"
        )
    are = "is" if held.vouched == 1 else "are"
    said = (
        f"{held.vouched or 'none'} of {held.entries} entries {are} shown by {lines} to be {allowed}"
    )
    if not math.isfinite(held.within):
        others = "the others" if held.vouched else "they"
        return f"{said}; how far off {others} may be is not known"
    rest = "the other one is" if held.entries - held.vouched == 1 else "the others are"
    return f"{said}; {rest} {off}{wider and f', and all would pass with {wider}'}"


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
    shown = math.isfinite(entry.bar)
    if reason == "kink" and not shown:
        reason = "jump"
    if reason == "precision" and entry.error > entry.allowed + FAIL_BARS * entry.bar:
        reason = "one look"
    reasons = BY_ROUNDING if reason == ROUNDED else (reason,)
    wider = with_rtol(max(rtol_for(found, one) for one in reasons))
    accept = f"accept what can be seen, with {wider}" if wider else ""
    x, real = float(pair.x[row]), pair.input.real_dtype
    short_dtype = real.itemsize < np.dtype(float).itemsize
    facts = {
        "name": entry.name,
        "moved": pair.input.entry(int(pair.rows[row])),
        "here": tidy(f"{x:.6g}"),
        "input": pair.input.name,
        "dtype": pair.input.dtype,
        "output": "f" if found.scalar else pair.output.entry(int(pair.columns[column])),
        "numbers": _numbers(entry),
        "seen": numbers_of(entry),
        "slopes": _slopes(entry),
        "if_seen": f"; {numbers_of(entry)}" if shown else "",
        "if_numbers": f"; at {entry.name} {_numbers(entry)}" if shown else "",
        "one_side": f"f is finite on one side only: {_numbers(entry)}" if shown else NO_SIDE,
        "accept": accept or f"give an {setting('atol')} that suits f",
        "or_accept": f"; or {accept}" if accept else "",
        "digits": f"{found.digits} digit{'s' * (found.digits != 1)}",
        "held_constant": _held_constant(found, pair, row, column),
        "spacing": short(abs(float(np.spacing(real.type(x))))),
        # The same formula has neighbours in double that are closer.
        "in_double": f"hand over {pair.input.name} as float64; or " if short_dtype else "",
        "larger": _larger(),
    }
    sentence, advice = SAID[reason]
    return sentence.format_map(facts), advice.format_map(facts)


def _slopes(entry: Entry) -> str:
    """Say where the claim is among the slopes at a kink."""
    ends = entry.numeric - entry.bar, entry.numeric + entry.bar
    left, right = (0.0 if abs(end) < NO_SLOPE * entry.bar else end for end in ends)
    low, high = alike(left, right, 0.0, 2 * entry.bar)
    nearest = min(ends, key=lambda end: abs(end - entry.analytic))
    claim, _ = alike(entry.analytic, nearest, 0.0, abs(entry.analytic - nearest))
    beyond, unseen = entry.error - entry.bar, entry.allowed + (FAIL_BARS - 1) * entry.bar
    if not math.isfinite(entry.analytic):
        where = "may be where they go as the step shrinks"
    elif beyond <= 0:
        where = "lies between"
    else:
        where = f"lies outside of them by {short(beyond)}"
        if beyond > unseen:
            where += f", more than their error of {short(unseen)}, but no second look confirms them"
        else:
            where += f", where {short(unseen)} may be their error"
    return f"at {entry.name} the slopes go from {low} to {high}, and analytic {claim} {where}"


def _numbers(entry: Entry) -> str:
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


def _held_constant(found: Found, pair: Pair, row: int, column: int) -> str:
    """Ask whether an input at which f jumps is one that f compares, or looks up."""
    others = any(one.input is not pair.input for one in found.pairs)
    whole = pair.x.any() and (pair.x == np.rint(pair.x)).all()
    if not others or not whole or np.isfinite(pair.error[row, column]):
        return ""
    pass_them = words("pass them as integers, which are", "describe it as int64, or constant:")
    return (
        f"{pair.input.name} holds whole numbers only: if they are labels or indices, {pass_them} "
        "held constant; else "
    )
