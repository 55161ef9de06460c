"""What a report says in words: the verdict first, then the likely mistake and what to try."""

import math
from collections.abc import Iterable, Iterator

import numpy as np

from gradcheck_ref.check.judge.certificate import Certificate
from gradcheck_ref.check.judge.pair import FAIL, PASS, UNSURE, Pair
from gradcheck_ref.check.report.digits import short, tidy
from gradcheck_ref.check.report.found import Found
from gradcheck_ref.check.report.table import numbers_of
from gradcheck_ref.check.report.unsure import not_vouched, undecided, witnesses
from gradcheck_ref.check.report.wider import rtol_for_all, with_rtol
from gradcheck_ref.check.words import setting

# Of a longer list of names only so many are said.
NAMES_SHOWN = 4

# Claims that agree with f to so many digits are not wrong in structure.
DIGITS_ALIKE = 2

# Of an f that is flat, if its gradient is claimed to be 0.
STANDS_STILL = (
    "it stands still near this point, so a gradient of 0 is right. Is that meant, or is something "
    "clipped, rounded or switched off here?"
)

# Large numbers in words, by powers of a thousand.
WORDS = ("", " thousand", " million", " billion", " trillion")


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
    compared = ""
    if found.certificate and found.certificate.entries:
        lines = f"{found.certificate.entries} by {witnesses(found.certificate)}"
        compared = f"{found.looked} of {found.entries} entries looked at, {lines}, "
    elif found.looked < found.entries:
        compared = f"{found.looked} of {found.entries} entries compared, "
    return (
        f"{compared}{found.evaluations} evaluations, noise of f {short(found.noise)}, "
        f"rtol {tidy(f'{found.rtol:g}')}, atol {atol}, seed {found.seed}"
    )


def _listed(names: Iterable[str]) -> str:
    """Join names, each once; of many, the first ones and how many more there are."""
    names = list(dict.fromkeys(names))
    more = len(names) - NAMES_SHOWN
    return ", ".join([*names[:NAMES_SHOWN], f"{more} more"] if more > 1 else names)


# --- pass -------------------------------------------------------------------------------------


def _passed(found: Found) -> str:
    by_lines = found.certificate and found.certificate.entries
    names = _listed(pair.input.name for pair in found.pairs if pair.verdict.size or by_lines)
    count = {1: "the entry agrees", 2: "both entries agree"}.get(
        found.entries, f"all {found.entries} entries agree"
    )
    used = f"using {_share(found)} of the allowed error"
    if found.compared < found.entries:
        agree = "was compared, and agrees" if found.compared == 1 else "were compared, and agree"
        count = f"{found.compared} of {found.entries} entries {agree}"
    if found.certificate and by_lines:
        looked = f": {found.looked} looked at one by one, {used}, and {by_lines}"
        count += (
            f"{looked if found.looked else ', seen'} all at once {_by_lines(found.certificate)}"
        )
    else:
        count += f", {used}"
    return f"PASS  {names}: {count} ({found.evaluations} evaluations, seed {found.seed})"


def _by_lines(certificate: Certificate) -> str:
    """Say what lines have shown, and how surely."""
    sure = certificate.vouched == certificate.entries
    what = "a wrong one" if sure else "an error above the limits said below"
    times = _many(1 / certificate.chance)
    return f"by {witnesses(certificate)}, which miss {what} once in {times} times"


def _many(number: float) -> str:
    """Write a large number in words: 1048576 is a million."""
    power = min(int(math.log10(number)) // 3, len(WORDS) - 1)
    digits = f"{number / 1000**power:.1g}" if power else f"{number:.2g}"
    return f"{'a' if power and digits == '1' else f'{float(digits):g}'}{WORDS[power]}"


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
        yield f"note: f did not move along any of the lines: {STANDS_STILL}"
    yield from _by_atol(found)
    flat = [(pair, *at) for pair in found.pairs for at in np.argwhere(pair.reason == "flat")]
    count = len(flat)
    if flat:
        more = f" and {count - NAMES_SHOWN} more" if count > NAMES_SHOWN + 1 else ""
        names = (found.name(*one) for one in (flat[:NAMES_SHOWN] if more else flat))
        yield f"note: f was flat around {', '.join(names)}{more}: {STANDS_STILL}"
    if count < found.looked and _at_an_optimum(found):
        yield (
            "note: the gradient is zero here, as far as can be seen, and what is left of it is "
            "rounding: it would pass with a factor of 2 as well. Check at another point, too"
        )


def _by_atol(found: Found) -> Iterator[str]:
    """Say where it is only atol that lets entries pass."""
    count, small = 0, []
    for pair in found.pairs:
        claims = np.abs(np.asarray(pair.analytic))
        within_rtol = pair.difference + pair.error <= found.rtol * np.abs(pair.numeric)
        # By itself a zero needs no tolerance; the default one forgives the rounding of zero, too.
        zero = claims <= (pair.error if found.atol is None else 0.0)
        by_atol = ~within_rtol & ~(zero & (pair.difference <= pair.error))
        count += int(by_atol.sum())
        if by_atol.any() and claims.max() <= (found.atol or 0.0):
            small.append(found.title(pair))
    if count and found.atol is None:
        one = ("is", "it was") if count == 1 else ("are", "they were")
        yield (
            f"note: {count} of {found.looked} entries {one[0]} so small beside the others that "
            f"{one[1]} held to atol, not to rtol"
        )
    elif count:
        shown = f"; every value of {_listed(small)} is below that, and others as small pass too"
        yield (
            f"but: {count} of {found.looked} entries agree{'s' * (count == 1)} only by "
            f"{setting('atol', tidy(f'{found.atol:g}'))}{shown if small else ''}"
        )


def _at_an_optimum(found: Found) -> bool:
    """Whether all claims and estimates are zero, as far as rounding lets anybody tell."""
    # Where some were seen by lines only, lines vouched for them: so they are not zero.
    return found.looked == found.entries and all(
        (np.abs(pair.numeric) <= pair.error).all()
        and (np.abs(np.asarray(pair.analytic)) <= pair.error + pair.allowed).all()
        for pair in found.pairs
    )


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
    elif found.compared and all((pair.verdict == PASS).all() for pair in found.pairs):
        count = f"{found.compared} entr{'y' if found.compared == 1 else 'ies'}"
        yield f"apart from that, the numbers agree ({count})"
    if wrong and found.certificate and found.certificate.entries:
        yield _rest(found.certificate, found.looked)


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
    entries = f"entr{'y' if of == 1 else 'ies'}{looked}"
    count = f"{wrong} of {of} {entries} differ{'s' if wrong == 1 else ''}"
    return f"{found.title(pair)}: {count}; worst {name}: {numbers}"


def _but_alike(found: Found) -> Iterator[str]:
    """Say to how many digits claims agree with f that are little off, and what may be behind it."""
    rtol = rtol_for_all(found)
    if not 0 < rtol <= 10.0**-DIGITS_ALIKE or found.faults:
        return
    digits = -math.ceil(math.log10(rtol))
    yield f"the two agree to {digits} digits: all would pass with {with_rtol(rtol)}"
    if not found.diagnoses:
        yield (
            "try: is a small term of f left out, or a constant written with few digits? If f "
            "solves with an ill-conditioned matrix, or cancels, it rounds otherwise than its "
            "gradient does, and they "
            f"agree to no more digits than that leaves: then {with_rtol(rtol)} is what can be asked"
        )


def _others(found: Found, told: Pair) -> Iterator[str]:
    """Say in a line how the other pairs fared."""
    names: dict[int, list[str]] = {FAIL: [], UNSURE: [], PASS: []}
    for pair in found.ranked:
        if pair is told or pair.worst is None or pair.analytic is None:
            continue
        code = int(pair.verdict[pair.worst])
        count = f" ({np.count_nonzero(pair.verdict == code)} of {pair.verdict.size})"
        names[code].append(found.title(pair) + (count if code != PASS else ""))
    kinds = zip(("also wrong", "unsure", "right"), names.values(), strict=True)
    said = [f"{kind}: {_listed(those)}" for kind, those in kinds if those]
    if said:
        yield "; ".join(said)


def _rest(certificate: Certificate, looked: int) -> str:
    """Say of a report that fails what is known of the entries that nobody looked at."""
    was = "1 entry was" if looked == 1 else f"{looked} entries were"
    others = "the other one is" if certificate.entries == 1 else "the others are"
    known = "vouched for"
    if certificate.vouched < certificate.entries:
        known = f"off by at most {short(certificate.within)} of a typical entry, as seen"
    return f"{was} looked at one by one; {others} {known} by {witnesses(certificate)}"


def _guesses(found: Found) -> Iterator[str]:
    """Say what mistake it looks like, the likeliest for each input."""
    # What a fault has told, or explains, is not guessed at again.
    told = {fault.reason for fault in found.faults}
    settled = {p.input.name for p in found.pairs if (p.reason == "ignores-input").any()}
    broken: dict[str, bool] = {}
    for pair in found.ranked:
        beyond = pair.difference[(pair.verdict == FAIL) & (pair.reason == "nonfinite")]
        if beyond.size and pair.input.name not in settled:
            broken[pair.input.name] = bool(np.isinf(beyond).any())
    if broken:
        settled.update(broken)
        yield f"looks like: the claim for {_listed(broken)} is not finite everywhere"
        steep = ". If the slope of f is infinite there, check at another point"
        yield (
            "try: look for a division by 0, the logarithm of 0 or an overflow in its formula"
            f"{steep if any(broken.values()) else ''}"
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
