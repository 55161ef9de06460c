"""The diagnosis: the mistake that a wrong gradient looks like.

Idea
    A named mistake has a repair. It is applied to the claim, and the repaired claim is judged
    along the axes and random lines that were measured for the verdict. A wrong repair survives K
    random lines with a probability of at most 1 in 2^K.
Where a repair cannot help
    The values of a row of zeros are unknown. But if all other entries are right, the place of the
    wrong ones says where to look.

For each input the first repair that fits counts. No function is called.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.check.diagnose import calls, endless, entries, partly
from gradcheck_ref.check.diagnose.block import Block, Guess, blocks
from gradcheck_ref.check.diagnose.repairs import repaired, reshaped
from gradcheck_ref.check.diagnose.sights import Blurred, Sharp
from gradcheck_ref.check.results import ARGUMENTS, FAIL, Fault, Results

# What yields guesses at the mistake, the most likely first.
Pattern = Callable[[Block], Iterator[Guess]]


@dataclass(frozen=True)
class Diagnosis:
    """A guess at the mistake in a wrong gradient.

    Attributes
    ----------
    kind : str
        A key of `gradcheck_ref.check.mistakes.table.KINDS`, such as ``factor`` or ``transposed``.
    subject : str
        The name of the input.
    sentence : str
        The mistake, e.g. ``every entry is 3 x the numeric value``, and along how many random
        lines the repaired claim agrees with f.
    advice : str
        A question or an imperative that says where to look.
    """

    kind: str
    subject: str
    sentence: str
    advice: str


@np.errstate(all="ignore")  # twice a slope may overflow, and claims may be NaN
def diagnose(
    results: Results, faults: Sequence[Fault], *, others_held: bool = False
) -> tuple[Diagnosis, ...]:
    """Name the mistakes that a failed check looks like, best first; at most one for each input.

    Faults come before numbers, and the more specific mistakes before others. Cost: no evaluation
    of ``f``, and a few passes over the claims for each repair.

    Only inputs with a wrong entry, or that are wrong as a whole, lead to a diagnosis. An unsure
    entry contradicts a repair only if it is outside its error bar. ``others_held`` tells if random
    lines confirm the entries that were not measured.

    Examples
    --------
    >>> import numpy as np
    >>> from gradcheck_ref.check import check_gradient
    >>> x = np.array([0.2, 0.5, 0.9])
    >>> report = check_gradient(lambda x: np.mean(x**2), x, 2 * x)
    >>> found = diagnose(report.results, report.faults)[0]
    >>> print(found.kind, "-", found.sentence)
    factor - every entry is 3 x the numeric value
    >>> print(found.advice)
    is f a mean over 3 entries? 3 is the length of x.
    """
    if any(fault.subject.startswith(ARGUMENTS) for fault in faults):
        return ()
    wrong = {one.name for one in results.inputs if one.code == FAIL}
    by_input = blocks(results.pairs, others_held)
    certain = list(_from_faults(by_input, faults))
    settled = {found.subject for found in certain}
    for block in by_input:
        block.is_wrong = bool(block.fails.any()) or block.name in wrong
        block.region = results.regions.get(block.name)
        if block.endless.any():  # another mistake of this input shows when they are numbers
            certain.append(Diagnosis("nonfinite", block.name, *endless.no_number(block)))
            settled |= {block.name}
    ranked = []
    for block in by_input:
        # Where noise hides single entries, only inputs that are wrong as a whole are told.
        fails = block.fails.any() and not results.looks
        if block.name in settled or not (fails or block.name in wrong):
            continue
        for rank, found in enumerate(_guesses(block, results)):
            if found:
                ranked.append((rank, _about(block, found)))
                break
    return (*certain, *(found for _, found in sorted(ranked, key=lambda pair: pair[0])))


def _guesses(block: Block, results: Results) -> Iterator[Guess | None]:
    """Yield what an input looks like, or None, the most specific guess first."""
    if not block.usable:
        yield reshaped(block)
        return
    if results.looks and block.region:
        yield _first(partly.place, block)
        yield _first(partly.mask, block)
        return
    if not results.looks:
        yield _first(entries.stairs, block)
    along = results.along.get(block.name)
    if along and not block.is_whole:
        yield calls.the_same_for_all(along.claims[block.part.stretch])
    exact, fitted = _repaired(block, results)
    yield None if exact else _first(entries.zero, block)
    yield exact
    if results.looks:
        yield fitted
        yield from _each(block, entries.not_zero)  # zeros have no noise
        return
    # Patterns that no repair has: those without a fitted number come before all others.
    yield from _each(block, calls.ignores_upstream, entries.copied, entries.in_another_order)
    yield fitted
    yield from _each(block, entries.something_else, entries.phase)
    yield from _each(block, entries.term_without_upstream, entries.few_digits)
    yield from _each(block, entries.tolerance, entries.along_the_input)
    yield from _each(block, entries.another_frame)
    # All other entries must be known to be right.
    if block.others_agree and (block.all_rows or block.others_held or block.region):
        yield from _each(block, partly.place, partly.mask, entries.not_zero, partly.some_outputs)
        yield from _each(block, partly.local_derivative, partly.by_a_factor, entries.counted_once)
    # Patterns with many numbers that are fitted, and one without any.
    for pattern in (entries.factor_for_each, entries.mean_and_spread, partly.one_input):
        yield _first(pattern, block)


def _each(block: Block, *patterns: Pattern) -> Iterator[Guess | None]:
    return (_first(pattern, block) for pattern in patterns if block.fails.any())


def _first(pattern: Pattern, block: Block) -> Guess | None:
    """Return the first guess of a pattern; if it mends the claim, the slopes must confirm it."""
    guesses = pattern(block)
    return next((g for g in guesses if g.mended is None or block.fits(g.mended, g.free)), None)


def _repaired(block: Block, results: Results) -> tuple[Guess | None, Guess | None]:
    """Find the repairs of the claim that fit, by all that was measured of its input."""
    looks = results.looks.get(block.name)
    if looks and results.claims is not None:
        whole = next(one for one in results.inputs if one.name == block.name)
        return repaired(Blurred(block, looks, results.claims, whole))
    return repaired(Sharp(block, results.along.get(block.name)))


def _from_faults(by_input: list[Block], faults: Sequence[Fault]) -> Iterator[Diagnosis]:
    """Name the faults that have a diagnosis: overwritten inputs come first."""
    for fault in faults:
        if fault.reason == "mutated":
            names = [b.name for b in by_input if f"its input {b.name}:" in fault.sentence]
            written = f"{fault.subject} overwrites {names[0] if names else 'its input'}"
            advice = "look for +=, *=, out= and assignments to slices, and let them work on a copy"
            yield Diagnosis("mutated", (names or [fault.subject])[0], written, advice)
    changed = [fault.subject for fault in faults if fault.reason == "nondeterministic"]
    for block in by_input:
        if block.name in changed and (found := calls.changes_between_calls(block)):
            yield _about(block, found)


def _about(block: Block, found: Guess) -> Diagnosis:
    """Add the number of measured entries to a diagnosis, if they were not all entries."""
    sentence = found.sentence
    said = any(word in sentence for word in ("measured", "everywhere", "random lines"))
    if not (block.all_judged or said):
        all_entries = block.entries * sum(part.size for part in block.outputs)
        sentence += f" in all {block.claim.size} measured entries, of {all_entries}"
    return Diagnosis(found.kind, block.name, sentence, found.advice)
