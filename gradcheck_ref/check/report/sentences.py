"""What a report says in words: the verdict first, then the likely mistake and what to try."""

import math
from collections.abc import Iterable, Iterator

import numpy as np

from gradcheck_ref.check.diagnose.blind import BlindSpot
from gradcheck_ref.check.diagnose.block import NEARLY
from gradcheck_ref.check.judge.certificate import Certificate
from gradcheck_ref.check.judge.pair import FAIL, PASS, UNSURE, Pair
from gradcheck_ref.check.report.digits import short, tidy
from gradcheck_ref.check.report.found import Found
from gradcheck_ref.check.report.table import numbers_of
from gradcheck_ref.check.report.unsure import not_vouched, undecided, witnesses
from gradcheck_ref.check.report.wider import rtol_for_all, with_rtol
from gradcheck_ref.check.words import setting


def sentences(found: Found) -> Iterator[str]:
    """Yield what there is to say, most important first; each becomes a paragraph."""
    if found.verdict == "pass":
        yield _passed(found)
        yield from _but(found)
    elif found.verdict == "fail":
        yield from _failed(found)
        yield from _guesses(found)
    elif found.compared:
        yield from undecided(found)
    else:
        parts = [part for pair in found.pairs for part in (pair.input, pair.output)]
        names = _listed(part.name for part in parts if not part.size)
        yield f"UNSURE  nothing was compared{names and f': no entries in {names}'}"
        yield "try: a point where every input and output has at least one entry"
    yield from (f"note: {note}" for note in found.notes)


def how(found: Found) -> str:
    """Say how it was found: what is needed to do it again."""
    atol = "by scale" if found.atol is None else tidy(f"{found.atol:g}")
    compared = f"{found.looked} of {found.entries} entries looked at, "
    compared = compared if found.looked < found.entries else ""
    if lines := _by_lines(found):
        compared += f"{lines.entries} by {witnesses(lines)}, "
    return (
        f"{compared}{found.evaluations} evaluations, noise of f {short(found.noise)}, "
        f"rtol {tidy(f'{found.rtol:g}')}, atol {atol}, seed {found.seed}"
    )


def _listed(names: Iterable[str], shown: int = 4) -> str:
    """Join names, each once; of many, the first ones and how many more there are."""
    names = list(dict.fromkeys(names))
    more = len(names) - shown
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:shown])} and {more} more"


def _by_lines(found: Found) -> Certificate | None:
    """Return what random lines have shown, if there were entries for them."""
    return found.certificate if found.certificate and found.certificate.entries else None


def _still(where: str) -> str:
    """Ask about an f that is flat, if its gradient is claimed to be 0."""
    return (
        f"note: {where}: it stands still near this point, so a gradient of 0 is right. Is that "
        "meant, or is something clipped, rounded or switched off here?"
    )


# --- pass -------------------------------------------------------------------------------------


def _passed(found: Found) -> str:
    lines = _by_lines(found)
    names = _listed(pair.input.name for pair in found.pairs if pair.verdict.size or lines)
    count = {1: "the entry agrees", 2: "both entries agree"}.get(
        found.entries, f"all {found.entries} entries agree"
    )
    if found.compared < found.entries:
        agree = "was compared, and agrees" if found.compared == 1 else "were compared, and agree"
        count = f"{found.compared} of {found.entries} entries {agree}"
    used = f", using {_share(found)} of the allowed error"
    if lines:
        used = f": {found.looked} looked at one by one{used}, and {lines.entries}"
        sure = lines.vouched == lines.entries
        used = (
            f"{used if found.looked else ', seen'} all at once by {witnesses(lines)}, which miss "
            f"{'a wrong one' if sure else 'an error above the limits said below'} once in "
            f"{1 / lines.chance:,.0f} times"
        )
    return f"PASS  {names}: {count}{used} ({found.evaluations} evaluations, seed {found.seed})"


def _share(found: Found) -> str:
    """How much of the allowed error is used at most, error bar included, in whole percents."""
    most = 0.0
    for pair in found.pairs:
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (pair.difference + pair.error) / pair.allowed
        # Entries that are zero but for rounding passed as such, by no tolerance.
        most = max(most, float(share[share <= 1].max(initial=0.0)))
    return "less than 1 %" if most < 0.01 else f"at most {math.ceil(100 * most)} %"


def _but(found: Found) -> Iterator[str]:
    """Say what a pass does not say."""
    if found.certificate and found.certificate.vouched < found.certificate.entries:
        yield f"but: {not_vouched(found)}"
    if found.certificate and found.certificate.within == 0:
        yield _still("f did not move along any of the lines")
    yield from _by_atol(found)
    flat = [found.name(p, *at) for p in found.pairs for at in np.argwhere(p.reason == "flat")]
    if flat:
        yield _still(f"f was flat around {_listed(flat)}")
    yield from hidden(found)


def hidden(found: Found) -> Iterator[str]:
    """Say what the point of a check that passed cannot show, for three kinds of mistakes at most.

    A kind is said of one input, and the others are named.
    """
    kinds: dict[str, list[BlindSpot]] = {}
    for spot in found.blind_spots:
        kinds.setdefault(spot.kind, []).append(spot)
    for first, *others in list(kinds.values())[:3]:
        also = f"; likewise for {_listed(spot.subject for spot in others)}" if others else ""
        yield f"this point cannot show: {first.sentence} ({first.reason}); {first.advice}{also}"


def _by_atol(found: Found) -> Iterator[str]:
    """Say where it is only atol that lets entries pass."""
    count = 0
    for pair in found.pairs:
        claims = np.abs(np.asarray(pair.analytic))
        within_rtol = pair.difference + pair.error <= found.rtol * np.abs(pair.numeric)
        # By itself a zero needs no tolerance; the default one forgives the rounding of zero, too.
        zero = claims <= (pair.error if found.atol is None else 0.0)
        by_atol = ~within_rtol & ~(zero & (pair.difference <= pair.error))
        count += int(by_atol.sum())
    of = f"{count} of {found.looked} entries"
    if count and found.atol is None:
        yield (
            f"note: {of} {'is' if count == 1 else 'are'} so small beside the others that atol "
            "applies, not rtol"
        )
    elif count:
        atol = setting("atol", tidy(f"{found.atol:g}"))
        yield f"but: {of} agree{'s' * (count == 1)} only by {atol}, which passes any claim so small"


# --- fail -------------------------------------------------------------------------------------


def _failed(found: Found) -> Iterator[str]:
    """Say what is wrong: the faults, and the numbers of the worst pair."""
    head = "FAIL  "
    for fault in found.faults:
        yield head + fault.sentence
        head = "also: "
    wrong = [p for p in found.ranked if p.analytic is not None and (p.verdict == FAIL).any()]
    if wrong:
        yield ("" if found.faults else head) + _differs(found, wrong[0])
        yield from _others(found, wrong[0])
        yield from _but_alike(found)
        yield from _rest(found)
    elif found.compared and all((pair.verdict == PASS).all() for pair in found.pairs):
        yield f"apart from that, the numbers agree ({found.compared} compared)"


def _differs(found: Found, pair: Pair) -> str:
    """Say how many entries of a pair differ, and show the worst."""
    assert pair.worst is not None
    worst = found.entry(pair, *pair.worst)
    numbers = f"{numbers_of(worst)}, allowed {short(worst.allowed)}"
    if pair.entries == 1:
        return f"{worst.name}: {numbers}"
    name = worst.name
    if found.scalar and not pair.input.is_complex:
        name = "at " + name.removeprefix(pair.input.name)
    wrong, of = np.count_nonzero(pair.verdict == FAIL), pair.verdict.size
    looked = "" if of == pair.entries else " looked at"
    count = f"{wrong} of {of} entries{looked} differ{'s' if wrong == 1 else ''}"
    return f"{found.title(pair)}: {count}; worst {name}: {numbers}"


def _but_alike(found: Found) -> Iterator[str]:
    """Say to how many digits claims agree with f that are little off, and what may be behind it."""
    rtol = rtol_for_all(found)
    if not 0 < rtol <= NEARLY or found.faults:
        return
    yield (
        f"the two agree to {-math.ceil(math.log10(rtol))} digits: all would pass with "
        f"{with_rtol(rtol)}"
    )
    if not found.diagnoses:
        yield (
            "try: is a small term of f left out, or a constant written with few digits? Or does f "
            "cancel, or solve with an ill-conditioned matrix? Then f and its gradient round "
            f"differently, and {with_rtol(rtol)} is what can be asked"
        )


def _others(found: Found, told: Pair) -> Iterator[str]:
    """Say in a line how the other pairs fared."""
    said = []
    for code, kind in ((FAIL, "also wrong"), (UNSURE, "unsure"), (PASS, "right")):
        names = [
            found.title(p) + f" ({count} of {p.verdict.size})" * (code != PASS)
            for p in found.ranked
            if p is not told and p.analytic is not None and p.verdict.max(initial=-1) == code
            for count in [np.count_nonzero(p.verdict == code)]
        ]
        said += [f"{kind}: {_listed(names)}"] if names else []
    if said:
        yield "; ".join(said)


def _rest(found: Found) -> Iterator[str]:
    """Say of a report that fails what is known of the entries that nobody looked at."""
    lines = _by_lines(found)
    if lines:
        was = "1 entry was" if found.looked == 1 else f"{found.looked} entries were"
        known = "vouched for by"
        if lines.against:
            known = "not vouched for: some of them are wrong, too, according to"
        elif lines.vouched < lines.entries:
            known = f"off by at most {short(lines.within)} of a typical entry, according to"
        yield f"{was} looked at one by one; the others are {known} {witnesses(lines)}"


def _guesses(found: Found) -> Iterator[str]:
    """Say what mistake it looks like, the likeliest for each input."""
    # What a fault has told, or explains, is not guessed at again.
    told = {fault.reason for fault in found.faults}
    settled = {p.input.name for p in found.pairs if (p.reason == "ignores-input").any()}
    broken = {p.input.name for p in found.pairs if (p.reason == "nonfinite").any()} - settled
    if broken:
        settled |= broken
        yield f"looks like: the claim for {_listed(sorted(broken))} is not finite everywhere"
        yield (
            "try: look for a division by 0, the logarithm of 0 or an overflow in its formula. If "
            "the slope of f is infinite there, check at another point"
        )
    kinds: dict[tuple[str, str], list[str]] = {}
    for guess in found.diagnoses:
        if guess.kind not in told and guess.subject not in settled:
            settled.add(guess.subject)
            kinds.setdefault((guess.sentence, guess.advice), []).append(guess.subject)
    several = len({pair.input.name for pair in found.pairs}) > 1
    for (sentence, advice), names in kinds.items():
        yield f"looks like: {f'{_listed(names)}: ' if several else ''}{sentence}"
        yield f"try: {advice}"
