"""The mistake that a wrong gradient looks like.

Every mistake that has a name leaves a pattern. Patterns go from specific to general, and for each
input the first one counts: of two that fit, the one that leaves less to chance. Nothing is called
here: the evidence that the verdict needed is enough.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.check.diagnose import calls, patterns
from gradcheck_ref.check.diagnose.block import Block, blocks
from gradcheck_ref.check.judge.claims import Fault
from gradcheck_ref.check.judge.pair import FAIL, Pair

# What can be seen in gradients of the right shape. First what says every number of the claim, with
# nothing to choose; then with one number to choose (a factor); then another order, where there are
# many; then what explains some entries only, and noise, which explains none.
OF_NUMBERS = (
    calls.same_for_all,
    patterns.zero,
    patterns.sign,
    patterns.factor,
    calls.ignores_upstream,
    patterns.conjugate,
    patterns.moved,
    patterns.regulariser,
    patterns.few_digits,
    patterns.row_or_column,
    patterns.single_entries,
    patterns.mask,
    patterns.noisy,
)

# What is said of some entries only, and so may be right where others are vouched for.
OF_SOME = (patterns.row_or_column, patterns.single_entries, patterns.mask)


@dataclass(frozen=True)
class Diagnosis:
    """What a wrong gradient looks like.

    Attributes
    ----------
    kind : str
        sign, factor, zero, transposed, permuted, missing-sum, reshaped, single-entries,
        row-or-column, mask, conjugate, accumulated, regulariser, upstream-ignored,
        tangent-ignored, mutated or noisy.
    subject : str
        The name of the input it is about.
    sentence : str
        What it looks like, e.g. ``every entry is 3 x the numeric value``.
    advice : str
        What to try, as a question or an imperative.
    """

    kind: str
    subject: str
    sentence: str
    advice: str


def diagnose(
    pairs: Sequence[Pair], faults: Sequence[Fault], *, others_held: bool = False
) -> tuple[Diagnosis, ...]:
    """Name the mistakes that a failed check looks like, best first; at most one for each input.

    Faults come before patterns, and the more specific patterns before others. It takes no
    evaluation of ``f``, and a few passes over the claims.

    What is said of a whole input is what the entries that were looked at have in common; of the
    others it is known whether random lines vouch for them (``others_held``). Only entries that
    failed make a diagnosis; those about which the evidence is unsure contradict a pattern only
    where it lies outside their error bars.

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
        for rank, pattern in enumerate(OF_NUMBERS if block.usable else (patterns.reshaped,)):
            if block.others_differ and pattern not in OF_SOME:
                continue
            with np.errstate(over="ignore"):  # twice a slope may be more than the largest number
                found = pattern(block)
            if found:
                ranked.append((rank, _about(block, found)))
                break
    return (*certain, *(found for _, found in sorted(ranked, key=lambda pair: pair[0])))


def _from_faults(by_input: list[Block], faults: Sequence[Fault]) -> Iterator[Diagnosis]:
    """Name the faults that are mistakes with a name: what is written to comes first."""
    for fault in faults:
        if fault.reason == "mutated":
            yield _mutated(by_input, fault)
    changed = [fault.subject for fault in faults if fault.reason == "nondeterministic"]
    for block in by_input:
        if block.part.name in changed and (found := calls.changed_its_mind(block)):
            yield _about(block, found)


def _about(block: Block, found: tuple[str, str, str]) -> Diagnosis:
    kind, sentence, advice = found
    return Diagnosis(kind, block.part.name, sentence, advice)


def _mutated(by_input: list[Block], fault: Fault) -> Diagnosis:
    names = [b.part.name for b in by_input if f"its input {b.part.name}:" in fault.sentence]
    name, what = (names[0], names[0]) if names else (fault.subject, "its input")
    advice = "look for +=, *=, out= and assignments to slices, and let them work on a copy"
    return Diagnosis("mutated", name, f"{fault.subject} overwrites {what}", advice)
