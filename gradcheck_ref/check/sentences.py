"""What a report says in words: the verdict first, then the likely mistake and what to try."""

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from gradcheck_ref.check.digits import short, tidy
from gradcheck_ref.check.search import FAIL, PASS
from gradcheck_ref.check.table import looked, numbers_of
from gradcheck_ref.check.unsure import undecided
from gradcheck_ref.check.verdict import SKIPPED, UNSURE, Pair

if TYPE_CHECKING:
    from gradcheck_ref.check.report import Report

# Of a longer list of names only so many are said.
NAMES_SHOWN = 4


def sentences(report: "Report") -> Iterator[str]:
    """Yield what there is to say, most important first; each becomes a paragraph."""
    if report.verdict == "pass":
        yield _passed(report)
        yield from _by_atol(report)
    elif report.verdict == "fail":
        yield from _failed(report)
        yield from _guesses(report)
    elif report.compared:
        yield from undecided(report)
    else:
        parts = [part for pair in report.pairs for part in (pair.input, pair.output)]
        names = _listed(part.name for part in parts if not part.size)
        yield f"UNSURE  nothing was compared{names and f': no entries in {names}'}"
        yield "try: a point where every input and output has at least one entry"


def how(report: "Report") -> str:
    """Say how it was found: what is needed to do it again."""
    atol = "by scale" if report.atol is None else tidy(f"{report.atol:g}")
    compared = f"{report.compared} of {report.entries} entries compared, "
    return (
        f"{compared if report.compared < report.entries else ''}{report.evaluations} evaluations, "
        f"noise of f {short(report.noise)}, rtol {tidy(f'{report.rtol:g}')}, atol {atol}, "
        f"seed {report.seed}"
    )


def _listed(names: Iterable[str]) -> str:
    """Join names, each once; of many, the first ones and how many more there are."""
    names = list(dict.fromkeys(names))
    more = len(names) - NAMES_SHOWN
    return ", ".join([*names[:NAMES_SHOWN], f"{more} more"] if more > 1 else names)


# --- pass -------------------------------------------------------------------------------------


def _passed(report: "Report") -> str:
    names = _listed(pair.input.name for pair in report.pairs if looked(pair))
    count = {1: "the entry agrees", 2: "both entries agree"}.get(
        report.entries, f"all {report.entries} entries agree"
    )
    if report.compared < report.entries:
        agree = "was compared, and agrees" if report.compared == 1 else "were compared, and agree"
        count = f"{report.compared} of {report.entries} entries {agree}"
    return (
        f"PASS  {names}: {count}, using {_share(report)} of the allowed error "
        f"({report.evaluations} evaluations, seed {report.seed})"
    )


def _share(report: "Report") -> str:
    """How much of the allowed error is used at most, error bar included, in whole percents."""
    most = 0.0
    for pair in report.pairs:
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (pair.difference + pair.error) / pair.allowed
        # Entries that are zero but for rounding passed as such, by no tolerance.
        by_tolerance = (pair.verdict == PASS) & (share <= 1)
        most = max(most, float(share[by_tolerance].max(initial=0.0)))
    return "less than 1 %" if most < 0.01 else f"at most {math.ceil(100 * most)} %"


def _by_atol(report: "Report") -> Iterator[str]:
    """Say where it is only the caller's atol that lets entries pass."""
    count, small = 0, []
    for pair in report.pairs if report.atol else ():
        claims = np.asarray(pair.analytic)
        within_rtol = pair.difference + pair.error <= report.rtol * np.abs(pair.numeric)
        zero = (claims == 0) & (pair.difference <= pair.error)
        by_atol = (pair.verdict == PASS) & ~within_rtol & ~zero
        count += int(by_atol.sum())
        if by_atol.any() and np.abs(claims[pair.verdict == PASS]).max() <= report.atol:
            small.append(report.title(pair))
    if count:
        shown = f"; every value of {_listed(small)} is below that, and others as small pass too"
        yield (
            f"but: {count} of {report.compared} entries agree{'s' * (count == 1)} only by "
            f"atol={tidy(f'{report.atol:g}')}{shown if small else ''}"
        )


# --- fail -------------------------------------------------------------------------------------


def _failed(report: "Report") -> Iterator[str]:
    """Say what is wrong: the faults, and the numbers of the worst pair."""
    head = "FAIL  "
    for fault in report.faults:
        yield head + fault.sentence
        head = "also: "
    wrong = [p for p in report._ranked if p.analytic is not None and (p.verdict == FAIL).any()]
    if wrong:
        yield ("" if report.faults else head) + _differs(report, wrong[0])
        yield from _others(report, wrong[0])
    elif report.compared and all(np.isin(p.verdict, (PASS, SKIPPED)).all() for p in report.pairs):
        count = f"{report.compared} entr{'y' if report.compared == 1 else 'ies'}"
        yield f"apart from that, the numbers agree ({count})"


def _differs(report: "Report", pair: Pair) -> str:
    """Say how many entries of a pair differ, and show the worst."""
    assert pair.worst is not None
    worst = report.entry(pair, *pair.worst)
    numbers = f"{numbers_of(worst)}, allowed {short(worst.allowed)}"
    if pair.verdict.size == 1:
        return f"{worst.name}: {numbers}"
    name = worst.name
    if report._scalar and not pair.input.is_complex:
        name = "at " + name.removeprefix(pair.input.name)
    wrong, of = np.count_nonzero(pair.verdict == FAIL), looked(pair)
    count = f"{wrong} of {of} entr{'y' if of == 1 else 'ies'} differ{'s' if wrong == 1 else ''}"
    return f"{report.title(pair)}: {count}; worst {name}: {numbers}"


def _others(report: "Report", told: Pair) -> Iterator[str]:
    """Say in a line how the other pairs fared."""
    names: dict[int, list[str]] = {FAIL: [], UNSURE: [], PASS: []}
    for pair in report._ranked:
        if pair is told or pair.worst is None or pair.analytic is None:
            continue
        code = int(pair.verdict[pair.worst])
        count = f" ({np.count_nonzero(pair.verdict == code)} of {looked(pair)})"
        names[code].append(report.title(pair) + (count if code != PASS else ""))
    kinds = zip(("also wrong", "unsure", "right"), names.values(), strict=True)
    said = [f"{kind}: {_listed(those)}" for kind, those in kinds if those]
    if said:
        yield "; ".join(said)


def _guesses(report: "Report") -> Iterator[str]:
    """Say what mistake it looks like, the likeliest for each input."""
    # What a fault has told, or explains, is not guessed at again.
    told = {fault.reason for fault in report.faults}
    settled = {p.input.name for p in report.pairs if (p.reason == "ignores-input").any()}
    broken: dict[str, bool] = {}
    for pair in report._ranked:
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
    for guess in report.diagnoses:
        if guess.kind not in told and guess.subject not in settled:
            settled.add(guess.subject)
            kinds.setdefault((guess.sentence, guess.advice), []).append(guess.subject)
    several = len({pair.input.name for pair in report.pairs}) > 1
    for (sentence, advice), names in kinds.items():
        yield f"looks like: {f'{_listed(names)}: ' if several else ''}{sentence}"
        yield f"try: {advice}"
