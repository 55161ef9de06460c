"""The sentences of a report about entries that are unsure, for each reason."""

import math
from collections.abc import Iterator
from typing import Any

from gradcheck_ref.check.measure.ladder import DOWN, UP, WIDE
from gradcheck_ref.check.report import wholes
from gradcheck_ref.check.report.table import numbers_of, worst_of
from gradcheck_ref.check.report.text import (
    entries_that,
    listed,
    random_lines,
    short,
    tidy,
    with_rtol,
)
from gradcheck_ref.check.results import FAIL_BARS, PASS, UNSURE, Certificate, Pair
from gradcheck_ref.check.words import setting

# The slopes at a kink are known to about five digits of the jump; so many are shown.
SLOPE_DIGITS = 4


def undecided(report: Any) -> Iterator[str]:
    """Describe the evidence for each reason, with the worst entry as example, and what to do."""
    groups: dict[str, list[tuple[Pair, int, int]]] = {}
    for pair, row, column in worst_of(report, UNSURE):
        reason = str(pair.reason[row, column])
        if report.digits and reason in ("noise", "kink", "stairs"):
            reason = "rounded"
        groups.setdefault(reason, []).append((pair, row, column))
    said = [_said(report, *group) for group in groups.items()]
    if report.certificate and report.certificate.verdict == UNSURE:
        said.append(by_lines(report, report.certificate))
    said += wholes.zeros(report, UNSURE)
    if not report.compared:
        nothing = "nothing was compared: the inputs, or the outputs of f, have no entries"
        said.append((nothing, "", "give inputs and outputs that have at least one entry"))
    for number, (sentence, evidence, advice) in enumerate(said):
        yield f"{'also: ' if number else ''}{sentence}"
        yield from [f"seen: {evidence}"] * bool(evidence)
        yield from [f"try: {advice}"] * bool(advice)
    if report.certificate and any(math.isfinite(one.limit) for one in report.inputs):
        yield wholes.inputs_as_a_whole(report)


def by_lines(report: Any, certificate: Certificate) -> tuple[str, str, str]:
    """Say what random lines show about the entries without an axis, and how to learn more."""
    lines = random_lines(certificate)
    more = f"use a larger {setting('max_evaluations')}, or check fewer inputs at once"
    if not certificate.more:
        more = "compute f in more digits, its last steps first, such as a loss"
    if certificate.reason == "kink":
        said = f"{lines} do not decide about {certificate.entries} entries, because f has a kink "
        said += "or a jump at this point, for example where entries are zero or tied"
        seen = certificate.against and f"at worst {numbers_of(*certificate.against)}"
        point, otherwise = "check at another point, such as one without ties", f", or {more}"
        return said, seen or "", point + otherwise * certificate.more
    if certificate.against:
        said = f"taken together, the claims for {certificate.entries} entries disagree with f "
        said += f"along {lines}, but the check did not find which of them are wrong"
        return said, f"at worst {numbers_of(*certificate.against)}", more
    if certificate.chance > 0.01:
        said = f"the claims for {certificate.entries} entries agree with f along {lines}, "
        said += "but so few lines miss a wrong entry up to one time in "
        said += f"{round(1 / certificate.chance)}"
        return said, "", more
    moves = any(one.code == PASS and not one.zero for one in report.inputs)
    if certificate.reason == "zero" and not moves:
        zero = f"along {lines} slopes and claims are zero except for the rounding of f"
        return zero, "", "check at another point, such as one before the optimum"
    asked, wider = setting("rtol", tidy(f"{report.rtol:g}")), with_rtol(certificate.rtol)
    only, evidence = "only " * (certificate.vouched < certificate.entries), ""
    known, of = certificate.vouched, certificate.entries
    said = f"{lines} confirm {only}{known} of {of} entries to {asked}"
    unsure = [one.name for one in report.inputs if one.code == UNSURE]
    if unsure and not known:
        said = f"{lines} agree with the claims, but the gradient of {listed(unsure)} may be wrong "
        said += "as a whole"
    elif only and math.isfinite(certificate.within):
        said += f", and all to {wider}" if wider else ""
    if only and certificate.within < 1:
        evidence = f"no entry is off by more than {short(certificate.within)} of a typical entry, "
        evidence += "but a small entry may be off by a larger share of itself"
    if report.digits:
        all_digits = f"let f return all digits (its values have {report.digits})"
        more = f"{all_digits}, or {more}" if certificate.more else all_digits
    return said, evidence, more + _accept(report)


def _accept(report: Any) -> str:
    """Advise a tolerance if the rule would pass everything with it."""
    wider = with_rtol(report.results.accepted)
    return f"; or accept this precision with {wider}" if wider else ""


def _said(report: Any, reason: str, group: list[tuple[Pair, int, int]]) -> tuple[str, str, str]:
    """Describe the entries with one reason, with the worst as the example."""
    entry = report.entry(*group[0])
    sentence, advice = _words_for(report, reason, group)
    evidence = ""
    if math.isinf(entry.analytic) and reason in ("kink", "domain-edge"):
        evidence = f"nothing contradicts {short(entry.analytic)} at {entry.name}, but the slopes "
        evidence += "of f are finite at every step, so they cannot confirm it"
    elif reason in ("stairs", "rounded") and group[0][0].given.stair:
        evidence = group[0][0].given.stair.said
    elif reason not in ("step-underflow", "isolated", "nonfinite") and math.isfinite(entry.bar):
        evidence = f"at {entry.name} {_evidence(entry, reason)}"
    count = entries_that(len(group), report.compared, "is", "are")
    return f"{count} {sentence}", evidence, advice + _accept(report)


def _words_for(report: Any, reason: str, group: list[tuple[Pair, int, int]]) -> tuple[str, str]:
    """Say what a reason means for some entries, with the first as example, and what to try.

    Besides the reasons of the judge there is ``rounded``, for values of f with few digits.
    """
    pair, row, column = group[0]
    x, name = tidy(f"{pair.given.x[row]:.6g}"), pair.input.entry(int(pair.rows[row]))
    output = "f" if report.scalar else pair.output.entry(int(pair.columns[column]))
    in_steps = "If f is meant to change in steps, such as a floor, a count, a quantized or a "
    in_steps += "spiking layer, its slope is 0: only the smooth function behind it can be checked"
    in_float64 = "compute f in float64 throughout, without cancellation or rounding to few digits"
    on_surface = "is f defined on a surface only, such as a sphere, or numbers that add up to 1? "
    on_surface += "Then check it as a function of free coordinates, or along a curve c on the "
    on_surface += "surface: t -> f(c(t)) at t = 0, whose derivative is the claim times that of c"
    whole_number = f"is {name} a whole number? Then it has no derivative: pass it as an int"
    # Where several entries are at kinks, one of them alone does not leave the others.
    moves = f"{name} away from {x}"
    if len({(one.input.name, at) for one, at, _ in group}) > 1:
        there = {one.input.name for one, *_ in group}
        inputs = dict.fromkeys(one.input.name for one in report.pairs if one.input.name in there)
        moves = f"all of {' and '.join(inputs)} by random numbers"
    meaning = {
        "rounded": f"hidden by rounding: no value of f has more than {report.digits} digits",
        "kink": "at a kink or jump of f, or where f is vertical or bends too sharply to measure",
        "stairs": f"on a staircase: {output} changes in steps, so near and far points disagree",
        "budget": f"not settled, because {report.evaluations} evaluations of f were not enough",
        "noise": "hidden by noise in f, or by rounding",
        "zero": "zero except for the rounding of f: a factor of 2 would not show",
        "nondeterministic": "hidden because f gives a different value when it is called again",
        "step-underflow": f"out of reach: a step that is short enough cannot change {name} = {x}",
        "domain-edge": f"at the edge of the domain of f: f is finite on one side of {name} only",
        "isolated": (
            f"out of reach: {output} is not defined, or not finite, wherever {name} alone moves "
            f"from {x}"
        ),
        "nonfinite": f"without a slope: {output} is not finite at this point",
    }
    advice = {
        "rounded": f"let f return all its digits: write %.17g, not %g or %f. {in_steps}",
        "kink": (
            f"to check the formula, move {moves}. If f has no kink there, look for rounding or "
            "float32, and pass labels as integers"
        ),
        "stairs": f"{in_float64}. {in_steps}",
        "budget": f"{_more_evaluations(report)}, or check fewer inputs at once",
        "noise": in_float64,
        "zero": "check at another point, such as one before the optimum",
        "nondeterministic": (
            "seed the random numbers in f, or let every call begin in the same state, so that "
            "equal inputs give equal values"
        ),
        "step-underflow": (
            f"rescale {pair.input.name}, check it at a smaller value, or pass it as float64 if "
            "its dtype is shorter"
        ),
        "domain-edge": f"move {name} away from {x}, to where f is finite on both sides",
        "isolated": on_surface if report.entries > 1 else whole_number,
        "nonfinite": "look at f first: a division by 0, the logarithm of 0, an overflow?",
    }
    return meaning[reason], advice[reason]


def _more_evaluations(report: Any) -> str:
    """Say how many evaluations are enough, if lines do not leave more entries to measure."""
    if report.certificate and report.certificate.verdict == UNSURE:
        return f"use a larger {setting('max_evaluations')}"
    left = set[tuple[str, int]]()
    for pair in report.pairs:
        rows = pair.rows[(pair.reason == "budget").any(axis=1)].tolist()
        left |= {(pair.input.name, row) for row in rows}
    # On both sides the rungs of windows, a third of all, and eight between them.
    needed = report.evaluations + len(left) * 2 * ((UP + DOWN) // WIDE + 8)
    enough = setting("max_evaluations", f"{needed}")
    return f"use {enough}, which is enough for every step that the check tries"


def _evidence(entry: Any, reason: str) -> str:
    """Write the claim and the estimate, and say why they do not decide."""
    numbers = numbers_of(entry.analytic, entry.numeric, entry.bar)
    visible = entry.allowed + FAIL_BARS * entry.bar
    if reason == "kink" and (slopes := _slopes(entry)):
        return slopes
    if reason == "zero" or not math.isfinite(entry.analytic):
        return numbers
    why = f"only an error above {short(visible)} would show, and {short(entry.allowed)} is allowed"
    if entry.error > visible:
        why = "they differ, but a second look did not confirm that: is f noisy, or a staircase?"
    return f"{numbers}; {why}"


def _slopes(entry: Any) -> str:
    """Say where the claim is among the slopes at a kink; nothing if these are nearly the same.

    The digits that are shown decide: beyond them both ends are rounded.
    """
    # A slope that is tiny compared with the jump is 0 except for rounding.
    ends = entry.numeric - entry.bar, entry.numeric + entry.bar
    tiny = 10.0 ** -(SLOPE_DIGITS + 1) * entry.bar
    shown = (0.0 if abs(one) < tiny else one for one in (*ends, entry.analytic))
    low, high, claim = (short(one, SLOPE_DIGITS) for one in shown)
    if len({short(end, SLOPE_DIGITS // 2) for end in ends}) == 1:  # f is more likely noisy there
        return ""
    where = "outside, but that is not certain"
    if float(low) <= float(claim) <= float(high):
        where = "between them, which is valid at a kink"
    return f"the slopes go from {low} to {high}, and analytic {claim} lies {where}"
