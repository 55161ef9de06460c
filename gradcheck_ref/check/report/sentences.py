"""The sentences of a report: the verdict first, then the likely mistake and what to try."""

import math
from collections.abc import Iterable, Iterator

import numpy as np

from gradcheck_ref.check.diagnose.blind import BlindSpot
from gradcheck_ref.check.diagnose.block import NEARLY
from gradcheck_ref.check.judge.pair import FAIL, PASS, UNSURE, Pair
from gradcheck_ref.check.report.digits import short, tidy, with_rtol
from gradcheck_ref.check.report.found import Found
from gradcheck_ref.check.report.prose import entries_that
from gradcheck_ref.check.report.table import numbers_of
from gradcheck_ref.check.report.unsure import by_lines, undecided, witnesses


def sentences(found: Found) -> Iterator[str]:
    """Yield the sentences, the most important first; each becomes a paragraph."""
    say = {"pass": _passed, "fail": _failed, "unsure": undecided}
    said = say[found.verdict](found)
    yield f"{found.verdict.upper()}  {next(said)}"
    yield from said
    yield from (f"note: {note}" for note in found.notes)


def how(found: Found) -> str:
    """Say how the check was made, so that somebody can repeat it."""
    compared = ""
    if found.looked < found.entries:
        compared = f"{found.looked} of {found.entries} entries measured alone, "
    if found.certificate and found.certificate.entries:
        compared += f"{found.certificate.entries} by {witnesses(found.certificate)}, "
    return (
        f"{compared}{found.evaluations} evaluations, noise of f {short(found.noise)}, "
        f"rtol {tidy(f'{found.rtol:g}')}, atol {_atol(found)}, seed {found.seed}"
    )


def _atol(found: Found) -> str:
    return "by scale" if found.atol is None else tidy(f"{found.atol:g}")


def _listed(names: Iterable[str], shown: int = 4) -> str:
    """Join names without repeats; if there are many, the first ones and the number of others."""
    names = list(dict.fromkeys(names))
    more = len(names) - shown
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:shown])} and {more} more"


# --- pass -------------------------------------------------------------------------------------


def _passed(found: Found) -> Iterator[str]:
    """Say which entries agree and how closely, then what a pass does not prove."""
    names = _listed(pair.input.name for pair in found.pairs if pair.entries)
    n, of = found.compared, found.entries
    count = f"all {of} entries agree" if n == of > 1 else entries_that(n, of, "agrees", "agree")
    used, held = f", using {_share(found)} of the allowed error", found.certificate
    if held and held.entries:
        used = (
            f", {f'{held.entries} of them ' if found.looked else ''}measured together along "
            f"{witnesses(held)}, which miss a wrong entry one time in {1 / held.chance:,.0f}"
        )
    yield f"{names}: {count}{used} ({found.evaluations} evaluations, seed {found.seed})"
    if held and held.vouched < held.entries:
        measures = filter(None, by_lines(found, held)[:2])
        yield f"but: {'. The pass uses another measure: '.join(measures)}"
    if small := sum(_by_atol(found, pair) for pair in found.pairs):
        yield (
            f"note: {entries_that(small, found.looked, 'agrees', 'agree')} only because of "
            f"atol ({_atol(found)}), which allows any error that small"
        )
    flat = [found.name(p, *at) for p in found.pairs for at in np.argwhere(p.reason == "flat")]
    if held and held.within == 0:
        flat.append(f"along {witnesses(held)}")
    if flat:
        yield (
            f"note: f is flat near this point ({_listed(flat)}), so a gradient of 0 is right. Is "
            "this intended, or is something clipped, rounded or switched off?"
        )
    yield from hidden(found)


def _share(found: Found) -> str:
    """Return the largest part of the allowed error that is used, with the bar, in percent."""
    shares = [found.share(pair) for pair in found.pairs]
    # Entries that are zero except for rounding passed for that reason, not by a tolerance.
    most = max(float(share[share <= 1].max(initial=0.0)) for share in shares)
    return "less than 1 %" if most < 0.01 else f"at most {math.ceil(100 * most)} %"


def _by_atol(found: Found, pair: Pair) -> int:
    """Count the entries that pass only because of atol; a zero needs no tolerance."""
    within_rtol = pair.difference + pair.error <= found.rtol * np.abs(pair.numeric)
    zero = np.maximum(np.abs(np.asarray(pair.analytic)), pair.difference) <= pair.error
    return int(np.count_nonzero(~within_rtol & ~zero))


def hidden(found: Found) -> Iterator[str]:
    """Say what the point of a check that passed cannot show, for at most three kinds of mistakes.

    Each kind is described for one input; other inputs with the same reason are only named.
    """
    kinds: dict[tuple[str, str], list[BlindSpot]] = {}
    for spot in found.blind_spots:
        kinds.setdefault((spot.kind, spot.reason), []).append(spot)
    for first, *others in list(kinds.values())[:3]:
        also = f"; the same for {_listed(spot.subject for spot in others)}" if others else ""
        yield f"this point cannot show: {first.sentence} ({first.reason}); {first.advice}{also}"


# --- fail -------------------------------------------------------------------------------------


def _failed(found: Found) -> Iterator[str]:
    """Say what is wrong, first faults, then numbers, and what mistake it looks like."""
    for number, fault in enumerate(found.faults):
        yield f"{'also: ' if number else ''}{fault.sentence}"
    wrong = [p for p in found.ranked if p.analytic is not None and (p.verdict == FAIL).any()]
    if wrong:
        yield _differs(found, wrong[0])
        yield from _others(found, wrong[0])
        yield from _but_alike(found)
        if found.certificate and found.certificate.entries:
            yield f"the others: {'; '.join(filter(None, by_lines(found, found.certificate)[:2]))}"
    elif found.compared and all((pair.verdict == PASS).all() for pair in found.pairs):
        yield f"apart from that, the numbers agree ({found.compared} compared)"
    yield from _guesses(found)


def _differs(found: Found, pair: Pair) -> str:
    """Say how many entries of a pair differ, and show the worst."""
    assert pair.worst is not None
    worst = found.entry(pair, *pair.worst)
    numbers = numbers_of(worst.analytic, worst.numeric, worst.bar)
    numbers = f"{worst.name}: {numbers}, allowed {short(worst.allowed)}"
    if pair.entries == 1:
        return numbers
    if found.scalar and not pair.input.is_complex:
        numbers = "at " + numbers.removeprefix(pair.input.name)
    wrong, of = int(np.count_nonzero(pair.verdict == FAIL)), pair.verdict.size
    kind = "" if of == pair.entries else "measured "
    count = entries_that(wrong, of, "differs", "differ", kind)
    return f"{found.title(pair)}: {count}; worst {numbers}"


def _but_alike(found: Found) -> Iterator[str]:
    """Say how many digits agree if the error is small, and what may cause that."""
    rtol = found.rtol_for_all
    if not 0 < rtol <= NEARLY or found.faults:
        return
    digits, wider = -math.ceil(math.log10(rtol)), with_rtol(rtol)
    yield f"analytic and numeric agree to {digits} digits: all would pass with {wider}"
    if not found.diagnoses:
        yield (
            "try: is a small term of f missing, or a constant written with too few digits? If f "
            "has cancellation or an ill-conditioned matrix, f and its gradient round differently: "
            f"then use {wider}"
        )


def _others(found: Found, told: Pair) -> Iterator[str]:
    """Summarize the other pairs in a line."""
    kinds: dict[str, list[str]] = {}
    for pair in found.ranked:
        if pair is not told and pair.analytic is not None and pair.worst:
            code = int(pair.verdict[pair.worst])
            count = f" ({np.count_nonzero(pair.verdict == code)} of {pair.verdict.size})"
            kind = {FAIL: "also wrong", UNSURE: "unsure", PASS: "right"}[code]
            kinds.setdefault(kind, []).append(found.title(pair) + count * (code != PASS))
    if kinds:
        yield "; ".join(f"{kind}: {_listed(names)}" for kind, names in kinds.items())


def _guesses(found: Found) -> Iterator[str]:
    """Say what mistake it looks like, the most likely one for each input."""
    settled = {p.input.name for p in found.pairs if (p.reason == "ignores-input").any()}
    advice = (
        "look for a division by 0, the logarithm of 0 or an overflow in its formula. If the slope "
        "of f is infinite there, check at another point"
    )
    guesses = [
        (pair.input.name, "the claim has entries that are NaN or infinite", advice)
        for pair in found.pairs
        if (pair.reason == "nonfinite").any()
    ]
    guesses += [(g.subject, g.sentence, g.advice) for g in found.diagnoses]
    kinds: dict[tuple[str, str], list[str]] = {}
    for subject, sentence, advice in guesses:
        if subject not in settled:
            settled.add(subject)
            kinds.setdefault((sentence, advice), []).append(subject)
    several = len({pair.input.name for pair in found.pairs}) > 1
    for (sentence, advice), names in kinds.items():
        yield f"looks like: {f'{_listed(names)}: ' if several else ''}{sentence}"
        yield f"try: {advice}"
