"""The diagnosis: the mistake that a wrong gradient looks like.

Every named mistake leaves a pattern. Patterns are tried from specific to general, and for each
input the first one that fits counts, because it fits by chance less often. No function is called:
the evidence for the verdict is enough.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.check.diagnose import calls, chain, patterns
from gradcheck_ref.check.diagnose.block import Block, Guess, blocks
from gradcheck_ref.check.results import FAIL, Fault, Pair

# Patterns of all entries. The first predict every number without a fit; then come those with one
# fitted number (a factor), then reordered numbers, then rounding.
OF_ALL = (
    patterns.zero,
    patterns.sign,
    patterns.factor,
    calls.ignores_upstream,
    patterns.conjugate,
    patterns.phase,
    patterns.permuted,
    chain.inner_factor,
    patterns.regulariser,
    chain.constant_term,
    chain.term_without_upstream,
    patterns.few_digits,
    patterns.rounded,
    patterns.tolerance,
)

# Patterns of some entries. They need the other entries to be right.
OF_SOME = (
    patterns.row_or_column,
    patterns.single_entries,
    patterns.mask,
    patterns.some_outputs,
    chain.local_derivative,
    patterns.not_zero,
)


@dataclass(frozen=True)
class Diagnosis:
    """A guess at the mistake in a wrong gradient.

    Attributes
    ----------
    kind : str
        A key of `gradcheck_ref.check.diagnose.kinds.KINDS`, such as ``factor`` or ``transposed``.
    subject : str
        The name of the input.
    sentence : str
        The pattern, e.g. ``every entry is 3 x the numeric value``.
    advice : str
        A question or an imperative that says where to look.
    """

    kind: str
    subject: str
    sentence: str
    advice: str


@np.errstate(all="ignore")  # twice a slope may overflow, and claims may be NaN
def diagnose(
    pairs: Sequence[Pair], faults: Sequence[Fault], *, others_held: bool = False
) -> tuple[Diagnosis, ...]:
    """Name the mistakes that a failed check looks like, best first; at most one for each input.

    Faults come before patterns, and the more specific patterns before others. Cost: no evaluation
    of ``f``, and a few passes over the claims.

    A diagnosis of a whole input describes the entries that were measured, and gives their number;
    ``others_held`` tells if random lines confirm the others. Only entries that failed lead to a
    diagnosis. An unsure entry contradicts a pattern only if the pattern is outside its error bar.

    Examples
    --------
    >>> import numpy as np
    >>> from gradcheck_ref.check import check_gradient
    >>> x = np.array([0.2, 0.5, 0.9])
    >>> report = check_gradient(lambda x: np.mean(x**2), x, 2 * x)
    >>> found = diagnose(report.pairs, report.faults)[0]
    >>> print(found.kind, "-", found.sentence)
    factor - every entry is 3 x the numeric value
    >>> print(found.advice)
    is f a mean over 3 entries? 3 is the length of x.
    """
    if not faults and not any((pair.verdict == FAIL).any() for pair in pairs):
        return ()
    by_input = blocks(pairs, others_held)
    certain = list(_from_faults(by_input, faults))
    settled = {found.subject for found in certain}
    ranked = []
    for block in by_input:
        if block.part.name in settled or not block.fails.any():
            continue
        for rank, pattern in enumerate(_patterns(block)):
            if found := pattern(block):
                ranked.append((rank, _about(block, found)))
                break
        else:
            if found := _only_number(block, by_input):
                ranked.append((len(OF_ALL), _about(block, found)))
    return (*certain, *(found for _, found in sorted(ranked, key=lambda pair: pair[0])))


def _patterns(block: Block) -> tuple[Callable[[Block], Guess], ...]:
    """Return the patterns that may apply to an input."""
    if not block.usable:
        return (patterns.reshaped,)
    whole = () if block.others_differ else OF_ALL
    some = OF_SOME if block.others_agree else ()
    return (*whole, *some, chain.mean_and_spread)  # the last fits many numbers


def _only_number(block: Block, by_input: list[Block]) -> Guess:
    """Find an input that is one number, and the only wrong input of several."""
    others = [other for other in by_input if other is not block]
    right = all(not other.fails.any() and other.significant.any() for other in others)
    if block.entries > 1 or not others or not right or not block.fails.any():
        return None
    name = block.part.name
    advice = f"is a term of f with {name} missing, or counted twice?"
    return "single-entries", f"only {name} is wrong, of {len(by_input)} inputs", advice


def _from_faults(by_input: list[Block], faults: Sequence[Fault]) -> Iterator[Diagnosis]:
    """Name the faults that have a diagnosis: overwritten inputs come first."""
    for fault in faults:
        if fault.reason == "mutated":
            names = [b.part.name for b in by_input if f"its input {b.part.name}:" in fault.sentence]
            written = f"{fault.subject} overwrites {names[0] if names else 'its input'}"
            advice = "look for +=, *=, out= and assignments to slices, and let them work on a copy"
            yield Diagnosis("mutated", (names or [fault.subject])[0], written, advice)
    changed = [fault.subject for fault in faults if fault.reason == "nondeterministic"]
    for block in by_input:
        if block.part.name in changed and (found := calls.changes_between_calls(block)):
            yield _about(block, found)


def _about(block: Block, found: tuple[str, str, str]) -> Diagnosis:
    """Add the number of measured entries to a diagnosis, if they were not all entries."""
    kind, sentence, advice = found
    if not (block.all_judged or "measured" in sentence or "everywhere" in sentence):
        all_entries = block.entries * sum(part.size for part in block.outputs)
        sentence += f" in all {block.claim.size} measured entries, of {all_entries}"
    return Diagnosis(kind, block.part.name, sentence, advice)
