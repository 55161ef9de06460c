"""The sentences of a report: the verdict first, then the likely mistake and what to try."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gradcheck_ref.check.hides.blind import BlindSpot
from gradcheck_ref.check.mistakes.factors import NEARLY
from gradcheck_ref.check.report import wholes
from gradcheck_ref.check.report.table import numbers_of
from gradcheck_ref.check.report.text import (
    entries_that,
    listed,
    random_lines,
    short,
    tidy,
    with_rtol,
)
from gradcheck_ref.check.report.unsure import by_lines, undecided
from gradcheck_ref.check.results import FAIL, PASS, UNSURE, Pair


def sentences(report: Any) -> Iterator[str]:
    """Yield the sentences, the most important first; each becomes a paragraph."""
    say = {"pass": _passed, "fail": _failed, "unsure": undecided}
    said = say[report.verdict](report)
    yield f"{report.verdict.upper()}  {next(said)}"
    yield from said
    yield from (f"note: {note}" for note in report.notes)


def how(report: Any) -> str:
    """Say how the check was made, so that somebody can repeat it."""
    compared = ""
    if report.on_axes < report.entries:
        compared = f"{report.on_axes} of {report.entries} entries measured alone, "
    if report.certificate and report.certificate.entries:
        compared += f"{report.certificate.entries} by {random_lines(report.certificate)}, "
    return (
        f"{compared}{report.evaluations} evaluations, noise of f {short(report.noise)}, "
        f"rtol {tidy(f'{report.rtol:g}')}, atol {_atol(report)}, seed {report.seed}"
    )


def _atol(report: Any) -> str:
    return "by scale" if report.atol is None else tidy(f"{report.atol:g}")


# --- pass -------------------------------------------------------------------------------------


def _passed(report: Any) -> Iterator[str]:
    """Say which entries agree and how closely, then what a pass does not prove."""
    names = listed(pair.input.name for pair in report.pairs if pair.entries)
    n, of = report.compared, report.entries
    count = f"all {of} entries agree" if n == of > 1 else entries_that(n, of, "agrees", "agree")
    used, certificate = f", using {_share(report)} of the allowed error", report.certificate
    if certificate and certificate.entries:
        # Lines miss every error below their limit. An entry that is vouched for may be off so much.
        all_vouched = certificate.vouched == certificate.entries
        missed = "a wrong entry" if all_vouched else "an error above the limit in the next line"
        used = f", {f'{certificate.entries} of them ' if report.on_axes else ''}measured together "
        used += f"along {random_lines(certificate)}, which miss {missed} at most one time in "
        used += f"{1 / certificate.chance:,.0f}"
    if report.by_whole:
        worst = wholes.worst_whole(report)
        names = listed(one.name for one in report.inputs if one.code == PASS)
        count = "right as a whole"
        used = f", to {wholes.as_bound(worst.limit)} of the gradient, along {random_lines(worst)}"
    yield f"{names}: {count}{used} ({report.evaluations} evaluations, seed {report.seed})"
    if report.by_whole:
        yield f"but: {wholes.what_could_hide(report)}"
        if any(one.code == UNSURE for one in report.inputs):
            yield wholes.inputs_as_a_whole(report)
        yield from (f"but: {said}" for said, *_ in wholes.zeros(report, PASS))
    elif certificate and certificate.vouched < certificate.entries:
        measures = filter(None, by_lines(report, certificate)[:2])
        yield f"but: {'. The pass uses another measure: '.join(measures)}"
    if small := sum(_by_atol(report, pair) for pair in report.pairs):
        yield (
            f"note: {entries_that(small, report.on_axes, 'agrees', 'agree')} only because of "
            f"atol ({_atol(report)}), which allows any error that small"
        )
    flat = [report.name(p, *at) for p in report.pairs for at in np.argwhere(p.reason == "flat")]
    if certificate and certificate.within == 0:
        flat.append(f"along {random_lines(certificate)}")
    if flat:
        yield (
            f"note: f is flat near this point ({listed(flat)}), so a gradient of 0 is right. Is "
            "this intended, or is something clipped, rounded or switched off?"
        )
    yield from hidden(report)
    if not report.by_whole:
        zero = {spot.subject for spot in report.blind_spots if spot.kind == "factor"}
        moving = {pair.input.name for pair in report.pairs if not pair.is_flat}
        yield from wholes.not_known(report, moving - zero)


def _share(report: Any) -> str:
    """Return the largest part of the allowed error that is used, with the bar, in percent."""
    shares = [report.share(pair) for pair in report.pairs]
    # Entries that are zero except for rounding passed for that reason, not by a tolerance.
    most = max(float(share[share <= 1].max(initial=0.0)) for share in shares)
    return "less than 1 %" if most < 0.01 else f"at most {math.ceil(100 * most)} %"


def _by_atol(report: Any, pair: Pair) -> int:
    """Count the entries that pass only because of atol.

    A zero needs no tolerance, and entries of an input that passes as a whole have none.
    """
    within_rtol = pair.difference + pair.error <= report.rtol * np.abs(pair.numeric)
    zero = np.maximum(np.abs(np.asarray(pair.analytic)), pair.difference) <= pair.error
    return int(np.count_nonzero(~within_rtol & ~zero & (pair.reason != "whole")))


def hidden(report: Any) -> Iterator[str]:
    """Say what the point of a check that passed cannot show, for at most three kinds of mistakes.

    Each kind is described for one input; other inputs with the same reason are only named.
    """
    kinds: dict[tuple[str, str], list[BlindSpot]] = {}
    for spot in report.blind_spots:
        kinds.setdefault((spot.kind, spot.reason), []).append(spot)
    for first, *others in list(kinds.values())[:3]:
        also = f"; the same for {listed(spot.subject for spot in others)}" if others else ""
        yield f"this point cannot show: {first.sentence} ({first.reason}); {first.advice}{also}"


# --- fail -------------------------------------------------------------------------------------


def _failed(report: Any) -> Iterator[str]:
    """Say what is wrong, first faults, then numbers, and what mistake it looks like."""
    # A function that works in its argument may well compute the right numbers.
    agrees = replace(report, faults=()).verdict == "pass"
    agree = f"the numbers agree ({report.compared} compared)" if agrees else ""
    only_written = agree and all(f.reason in ("mutated", "company") for f in report.faults)
    first = f"{agree}, but " if only_written else ""
    for number, fault in enumerate(report.faults):
        yield f"{'also: ' if number else first}{fault.sentence}"
    wrong = [p for p in report.ranked if p.analytic is not None and (p.verdict == FAIL).any()]
    if not wrong and any(one.code == FAIL for one in report.inputs):
        worst = max(report.inputs, key=lambda one: (one.code == FAIL, one.error))
        yield wholes.too_far_off(worst)
        if len(report.inputs) > 1:
            yield wholes.inputs_as_a_whole(report)
        yield from wholes.where_it_begins(report)
    told: list[Pair] = []
    if wrong:
        told = [pair for pair in report.comparable if pair.input.name == wrong[0].input.name]
        if any(_endless(pair).any() for pair in told):
            yield from _no_numbers(report, told)
        else:
            told = wrong[:1]
            yield _differs(report, wrong[0])
        yield from _others(report, told)
        if len(report.inputs) > 1 and any(one.lines for one in report.inputs):
            yield wholes.inputs_as_a_whole(report)
        yield from wholes.where_it_begins(report)
        yield from _but_alike(report)
        if report.certificate and report.certificate.entries:
            said = "; ".join(filter(None, by_lines(report, report.certificate)[:2]))
            yield f"the others: {said}; these lines also found what is wrong"
    elif agree and not only_written:
        yield f"apart from that, {agree}"
    yield from _without_a_value(report)
    yield from _guesses(report, told)


def _differs(report: Any, pair: Pair) -> str:
    """Say how many entries of a pair differ, and show the worst."""
    assert pair.worst is not None
    worst = report.entry(pair, *pair.worst)
    numbers = f"{worst.name}: {_numbers(worst)}"
    if math.isfinite(worst.numeric):
        numbers += f", allowed {short(worst.allowed)}"
    if pair.entries == 1:
        return numbers
    if report.scalar and not pair.input.is_complex:
        numbers = "at " + numbers.removeprefix(pair.input.name)
    wrong, of = int(np.count_nonzero(pair.verdict == FAIL)), pair.verdict.size
    kind = "" if of == pair.entries else "measured "
    count = entries_that(wrong, of, "differs", "differ", kind)
    return f"{report.title(pair)}: {count}; worst {numbers}"


def _numbers(entry: Any) -> str:
    """Write the claim and the estimate, if there is one."""
    if math.isnan(entry.numeric):
        return f"analytic {short(entry.analytic)}, and no slope there comes near"
    return numbers_of(entry.analytic, entry.numeric, entry.bar)


def _endless(pair: Pair) -> Any:
    """Return which measured claims are NaN or infinite, although f has a slope there."""
    return (pair.reason == "nonfinite") & (pair.verdict == FAIL)


def _no_numbers(report: Any, pairs: list[Pair]) -> Iterator[str]:
    """Say where the claims for an input are no numbers, and what is known of its others."""
    name = pairs[0].input.name
    said = next(g.sentence for g in report.diagnoses if (g.kind, g.subject) == ("nonfinite", name))
    fails = [report.entry(pair, *at) for pair in pairs for at in np.argwhere(_endless(pair))]
    measured = [np.asarray(pair.analytic) for pair in pairs]
    claims = [p.given.claim for p in pairs if p.given.claim is not None] or measured
    finite = np.concatenate([np.isfinite(claim).ravel() for claim in claims])
    others = int(np.count_nonzero(finite))
    is_placed, is_alone = ", all of" in said, "all else is right" in said
    if len(fails) == finite.size - others < finite.size and not (is_placed or is_alone):
        said += f" ({listed(one.name for one in fails)})"
    shown = min(fails, key=lambda one: math.isnan(one.numeric))
    at = f"at {shown.name} " if finite.size > 1 else ""
    yield f"{name}: {said}; {at}{_numbers(shown)}"
    if is_alone:
        return
    codes = [pair.verdict[np.isfinite(one)] for pair, one in zip(pairs, measured, strict=True)]
    yield from _the_others(others, np.concatenate(codes))


def _the_others(others: int, codes: Any) -> Iterator[str]:
    """Count the verdicts on other entries, of which perhaps only some were measured."""
    verbs = {PASS: ("agrees", "agree"), FAIL: ("differs", "differ")}
    verbs[UNSURE] = "is unsure", "are unsure"
    counts = [(int(np.count_nonzero(codes == code)), both) for code, both in verbs.items()]
    known = [" and ".join(f"{n} {both[n > 1]}" for n, both in counts if n)] * (codes.size > 0)
    alone = [f"{codes.size} of {others} measured alone"] * (codes.size < others)
    if others:
        yield f"other entries: {', '.join(alone + known)}"


def _without_a_value(report: Any) -> Iterator[str]:
    """Say where f itself is not finite, so that nothing was compared."""
    names, count = list[str](), 0
    for pair in report.pairs:
        rows, columns = np.nonzero((pair.reason == "nonfinite") & (pair.verdict == UNSURE))
        names += [pair.output.entry(int(k)) for k in np.unique(pair.columns[columns])]
        count += rows.size
    if count:
        where = "f" if report.scalar else listed(names)
        entries = f"{count} of {report.entries} entries" if report.entries > 1 else "the only entry"
        yield f"not compared: {entries}, because {where} is not finite at this point"


def _but_alike(report: Any) -> Iterator[str]:
    """Say how many digits agree if the error is small, and what may cause that."""
    rtol = report.rtol_for_all
    if not 0 < rtol <= NEARLY or report.faults:
        return
    digits, wider = -math.ceil(math.log10(rtol)), with_rtol(rtol)
    yield f"analytic and numeric agree to {digits} digits: all would pass with {wider}"
    if not report.diagnoses:
        yield (
            "try: is a small term of f missing, or a constant written with too few digits? If f "
            "stops at a tolerance (a solver, an iteration), tighten it. If f has cancellation or "
            f"an ill-conditioned matrix, f and its gradient round differently: then use {wider}"
        )


def _others(report: Any, told: list[Pair]) -> Iterator[str]:
    """Summarize the other pairs in a line."""
    kinds: dict[str, list[str]] = {}
    doubted = [one.name for one in report.inputs if one.code != PASS]  # as a whole, said elsewhere
    for pair in report.pairs:
        if pair not in told and pair.analytic is not None and pair.worst:
            code = int(pair.verdict[pair.worst])
            if code == PASS and pair.input.name in doubted:
                continue
            count = f" ({np.count_nonzero(pair.verdict == code)} of {pair.verdict.size})"
            kind = {FAIL: "also wrong", UNSURE: "unsure", PASS: "right"}[code]
            kinds.setdefault(kind, []).append(report.title(pair) + count * (code != PASS))
    if kinds:
        yield "; ".join(f"{kind}: {listed(names)}" for kind, names in kinds.items())


def _guesses(report: Any, told: list[Pair]) -> Iterator[str]:
    """Say what mistake it looks like, the most likely one for each input."""
    ignored = [pair for pair in report.pairs if (pair.reason == "ignores-input").any()]
    settled = {pair.input.name for pair in ignored if not pair.given.stair}
    several = len({pair.input.name for pair in report.pairs}) > 1
    kinds: dict[tuple[str, str, str], list[str]] = {}
    for found in report.diagnoses:
        if found.subject not in settled:
            kinds.setdefault((found.kind, found.sentence, found.advice), []).append(found.subject)
    for (kind, sentence, advice), names in kinds.items():
        if kind != "nonfinite" or names != [pair.input.name for pair in told[:1]]:
            yield f"looks like: {f'{listed(names)}: ' if several else ''}{sentence}"
        yield f"try: {advice}"
