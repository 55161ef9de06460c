"""Patterns in the order of the calls: state, noise, an ignored upstream.

A vjp is called for one column of the Jacobian after the other, a jvp for one row after the other.
Then some of these calls are repeated, after f was called elsewhere.
"""

from collections.abc import Iterator

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.diagnose.block import Block, Guess, equal
from gradcheck_ref.check.mistakes.factors import NEARLY, rough


def _by_call(block: Block, *names: str) -> list[Array]:
    """Return arrays of a block, transposed if needed, so that each column is one call."""
    return [getattr(block, name) if block.raw else getattr(block, name).T for name in names]


def changes_between_calls(block: Block) -> Guess | None:
    """Tell random products, wrong at every call, from stateful ones, right only at first."""
    claim, again, numeric = _by_call(block, "claim", "again", "numeric")
    slack, known, significant = _by_call(block, "slack", "known", "significant")
    asked = np.isfinite(again) & known
    again = np.where(np.isnan(again), claim, again)  # fill in the entries that were the same
    first, second = claim[asked], again[asked]
    if (first == second).all():
        return None
    scale = np.abs(numeric[asked]).max()
    off = np.maximum(np.abs(first - numeric[asked]), np.abs(second - numeric[asked]))
    if (off <= NEARLY * scale).all():
        size = rough(first - second, scale)
        sentence = f"two calls give different values, which differ by up to {size} of the largest"
        advice = "is there a random number in it, or a number left over from the last call of f? "
        return Guess("noisy", sentence, f"{advice}Fix the seed, and compute everything again")
    nonzero = np.asarray(significant.any(axis=0))  # only these calls can show a mistake
    firsts = np.all(equal(claim, numeric, slack) | ~known, axis=0)[nonzero]
    laters = np.all(equal(again, numeric, slack) | ~known, axis=0)[asked.any(axis=0) & nonzero]
    twice = first.any() and np.allclose(second, 2 * first, rtol=1e-9, atol=0.0)
    if twice or _right_at_first(firsts, laters):
        advice = "does it add to a buffer with +=, or keep something from the last call?"
        sentence = "it is right at the first call, and wrong at a later one"
        if twice:
            sentence = "a later call gives 2 x the result of the first one"
        return Guess("accumulated", sentence, f"{advice} Start every call afresh")
    advice = "is there dropout, noise or an unseeded random number in it? Switch it off, or "
    advice += "fix the seed"
    return Guess("noisy", "every call gives a different value", advice)


def _right_at_first(firsts: Array, laters: Array) -> bool:
    """Tell whether calls were right first and then always wrong; random products mix both."""
    right = np.concatenate([firsts, laters])
    if not right.size or not right[0] or right.all():
        return False
    return bool(firsts.all() or not right[np.argmin(right) :].any())


def the_same_for_all(claims: Array) -> Guess | None:
    """Find a vjp that is the same for all combinations of the outputs, (size, combinations)."""
    if claims.shape[1] < 2 or not claims.any() or (claims != claims[:, :1]).any():
        return None
    return _ignored("upstream", "")


def _ignored(vector: str, more: str) -> Guess:
    where = f"where does the {vector} enter? By the chain rule the derivative is multiplied by it"
    return Guess(f"{vector}-ignored", f"it does not depend on the {vector}{more}", where)


def ignores_upstream(block: Block) -> Iterator[Guess]:
    """Find a product that does not depend on its vector."""
    names = "claim", "numeric", "slack", "known", "fails"
    claim, numeric, slack, known, fails = _by_call(block, *names)
    repeats = claim.shape[1] > 1 and claim.any() and (claim == claim[:, :1]).all()
    differs = known.all() and not equal(numeric, numeric[:, :1], slack).all()
    if block.is_whole or not (repeats and differs):
        return
    calls = block.columns if block.raw else block.rows + block.part.start
    if not calls[0] and not fails[:, 0].any():
        sentence = "it is right at the first call, and the same at every later one"
        advice = "is something kept from the first call? Compute it again"
        yield Guess("accumulated", sentence, advice)
        return
    vector = "upstream" if block.raw else "tangent"
    every_call = block.all_columns if block.raw else block.all_rows
    total = every_call and equal(claim[:, 0], numeric.sum(axis=1), slack.sum(axis=1)).all()
    more = ", and is right if that is 1 everywhere" if total else ""
    yield _ignored(vector, f", or only on its sum{more}")
