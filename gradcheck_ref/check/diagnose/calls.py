"""What shows when the claims stand in the order of the calls: state, noise, upstream ignored.

A vjp is asked for one column of the Jacobian after the other, a jvp for one row after the other;
then some of them again, after f was called elsewhere.
"""

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.diagnose.block import Block, equal
from gradcheck_ref.check.diagnose.factors import fit, rough

# Random numbers that make a gradient noisy rather than wrong: off by at most this share.
NEARLY = 1e-2

# Two answers of one function that are the same but for rounding, as a share of the largest.
ROUNDING = 1e-9
DECIMALS = 8  # and so many of them are certain in a number of the size of 1

# Kind, sentence and advice; or nothing, where the pattern is not seen.
Found = tuple[str, str, str] | None


def _by_call(block: Block, *arrays: Array) -> tuple[Array, ...]:
    """Turn arrays so that each column is one call."""
    return arrays if block.raw else tuple(array.T for array in arrays)


def changed_its_mind(block: Block) -> Found:
    """Tell random from stateful: wrong or a little wrong every time, or right at first only."""
    claim, again, numeric, slack = _by_call(
        block, block.claim, block.again, block.numeric, block.slack
    )
    known, seen = _by_call(block, block.known, block.significant)
    asked = np.isfinite(again) & known
    again = np.where(np.isnan(again), claim, again)  # of a second answer, what was the same
    first, second = claim[asked], again[asked]
    if (first == second).all():
        return None
    scale = np.abs(numeric[asked]).max()
    off = np.maximum(np.abs(first - numeric[asked]), np.abs(second - numeric[asked]))
    if (off <= NEARLY * scale).all():
        advice = "is there a random number in it, or one that the last call of f left behind? "
        size = rough(first - second, scale)
        sentence = f"it is another one at every call, by up to {size} of it"
        return "noisy", sentence, f"{advice}Fix the seed, and compute everything anew"
    told = np.asarray(seen.any(axis=0))  # the calls that have something to show; were they right?
    firsts = np.all(equal(claim, numeric, slack) | ~known, axis=0)[told]
    laters = np.all(equal(again, numeric, slack) | ~known, axis=0)[asked.any(axis=0) & told]
    times = _times(first, second)
    if not firsts.all() and _adds_up(claim, numeric, slack, known):
        sentence = "every call adds to what the calls before it gave"
    elif _spoilt(firsts, laters):
        later = "wrong" if times is None else f"{times:.4g} x that" if times else "0"
        sentence = f"it is right at the first call, and {later} at a later one"
    elif times and times > 1 and times == round(times):
        sentence = f"a later call gives {times:.0f} x what the first one gave"
    else:
        advice = "is there dropout, noise or an unseeded random number in it? Switch it off, or fix"
        return "noisy", "it is another one at every call", f"{advice} the seed"
    advice = "does it add to a buffer with +=, or keep something from the last call?"
    return "accumulated", sentence, f"{advice} Start every call afresh"


def _adds_up(claim: Array, numeric: Array, slack: Array, known: Array) -> bool:
    """Tell whether each answer is the one before it, and the right one added."""
    step = np.diff(claim, axis=1)
    rounding = ROUNDING * np.abs(claim).max(initial=0.0)
    right = equal(step, numeric[:, 1:], slack[:, 1:] + rounding) | ~known[:, 1:]
    return bool(step.size and right.all())


def _spoilt(firsts: Array, laters: Array) -> bool:
    """Tell whether calls were right until they were wrong; by chance, as under a mask, they mix."""
    right = np.concatenate([firsts, laters])
    if not right.size or not right[0] or right.all():
        return False
    return bool(firsts.all() or not right[np.argmin(right) :].any())


def _times(first: Array, second: Array) -> float | None:
    """Return the real number that the second answers are the first ones times, if there is one."""
    times = fit(second, first, np.ones(first.shape))
    close = ROUNDING * max(np.abs(first).max(), np.abs(second).max())
    if times is None or not equal(second, times * first, np.full(first.shape, close)).all():
        return None
    times = round(float(times.real), DECIMALS)
    # One number is always some multiple of another.
    return times if np.count_nonzero(first) > 1 or times == round(times) else None


def _repeats(claim: Array) -> bool:
    """Tell whether every call got one and the same answer, and that is not zero."""
    return bool(claim.shape[1] > 1 and claim.any() and (claim == claim[:, :1]).all())


def same_for_all(block: Block) -> Found:
    """Find the answer to the first call handed out at every call."""
    claim, fails = _by_call(block, block.claim, block.fails)
    calls = block.columns if block.raw else block.rows
    if not block.raw and (block.part.start or block.part.is_complex):
        return None  # the first row belongs to another input, or is half an entry
    if not _repeats(claim) or calls[0] or fails[:, 0].any():
        return None
    advice = "is something kept from the first call? Compute it anew at every call"
    return "accumulated", "it is right at the first call, and the same at every later one", advice


def ignores_upstream(block: Block) -> Found:
    """Find a product that does not depend on the vector it is to be multiplied with."""
    claim, numeric, slack, known = _by_call(
        block, block.claim, block.numeric, block.slack, block.known
    )
    if not _repeats(claim) or not known.all() or equal(numeric, numeric[:, :1], slack).all():
        return None
    vector, kind = ("upstream", "upstream-ignored") if block.raw else ("tangent", "tangent-ignored")
    every_call = block.all_columns if block.raw else block.all_rows
    total = every_call and equal(claim[:, 0], numeric.sum(axis=1), slack.sum(axis=1)).all()
    sentence = f"it is the same whatever the {vector} is"
    advice = (
        f"where does the {vector} enter? By the chain rule the derivative is multiplied with it"
    )
    return kind, sentence + (": right if that is 1 everywhere" if total else ""), advice
