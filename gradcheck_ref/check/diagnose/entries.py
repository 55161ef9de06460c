"""Mistakes that the measured entries show, and no repair: lost digits, orders and terms."""

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.decimals import digits_of, places_of
from gradcheck_ref.check.diagnose.block import UNCERTAIN, Block, Guess
from gradcheck_ref.check.mistakes.factors import BY_CHANCE, rough
from gradcheck_ref.check.mistakes.gradient import Words
from gradcheck_ref.check.results import FAIL_BARS
from gradcheck_ref.check.words import setting

# A line through fewer points than this proves nothing: two of its numbers are fitted.
ENOUGH = 4


def zero(block: Block) -> Guess:
    """Find a gradient of zeros only."""
    if block.claim[block.known | block.fails].any() or block.others_claimed:
        return None
    advice = f"is {block.name} treated as a constant, detached, or its gradient never written?"
    everywhere = " everywhere" if block.others_claimed == 0 else ""
    return "zero", Words(f"it is zero{everywhere}", advice)


def copied(block: Block) -> Guess:
    """Find the gradient of another input, which is right there."""
    mine = block.gradient()
    for other in block.beside:
        _, theirs = mine.others[other.name]
        same = theirs.shape == mine.values.shape and (theirs == mine.values).all()
        if mine.whole and same and theirs.any() and not other.fails.any():
            advice = f"is a variable written twice? That of {other.name} is right"
            return "swapped", Words(f"it is the gradient of {other.name}", advice)
    return None


def phase(block: Block) -> Guess:
    """Find complex numbers with the right absolute value and a wrong phase."""
    if not np.iscomplexobj(block.numeric) or np.count_nonzero(block.significant) < 2:
        return None
    size = np.abs(block.numeric)
    direction = np.where(size > 0, block.numeric / size, 1.0)
    if not block.fits(direction * np.abs(block.claim)):
        return None
    advice = "is |z| used in place of z, or a formula for real numbers?"
    return "phase", Words("each entry has the right absolute value, and the wrong phase", advice)


def in_another_order(block: Block) -> Guess:
    """Find the right numbers in any other order: of the slices along an axis, or of all."""
    if not block.shows_order:
        return None
    sentence = "the right numbers are in the wrong places"
    advice = "check where each number is written: the order of axes, and indices that start at 0"
    claim = block.claim.reshape(*block.part.shape, -1)
    for axis in range(len(block.part.shape)):
        order = _nearest(claim, block.numeric.reshape(claim.shape), axis)
        if block.fits(claim.take(np.argsort(order), axis).reshape(block.claim.shape)):
            how = f"the order {order.tolist()}" if len(order) <= 8 else "another order"
            sentence += f": in {how} along axis {axis} of {block.name}"
            return "permuted", Words(sentence, advice)
    for axis in (0, 1):  # each gradient, or each row, may have its own order
        source = np.empty(block.claim.shape, int)
        sorts = block.claim.argsort(axis, kind="stable")
        np.put_along_axis(source, block.numeric.argsort(axis, kind="stable"), sorts, axis)
        if block.fits(np.take_along_axis(block.claim, source, axis)):
            return "permuted", Words(sentence, advice)
    return None


def _nearest(claim: Array, numeric: Array, axis: int) -> Array:
    """Find the nearest slice of the numeric values for each slice of the claim."""
    ours, theirs = (np.nan_to_num(np.moveaxis(array, axis, 0)) for array in (claim, numeric))
    order, taken = np.zeros(len(ours), int), np.zeros(len(ours))
    for place, one in enumerate(ours):
        distance = np.abs(one - theirs).sum(axis=tuple(range(1, ours.ndim)))
        order[place] = np.argmin(distance + taken)
        taken[order[place]] = np.inf
    return order


def term_without_upstream(block: Block) -> Guess:
    """Find a term of the product that does not depend on the vector."""
    if not block.raw or block.is_whole or not block.all_columns or block.claim.shape[1] < 3:
        return None
    same = np.median((block.claim - block.numeric).real, axis=1, keepdims=True)
    if not block.fits(block.claim - same, free=len(same)):
        return None
    advice = "does every term have the upstream as a factor? By the chain rule each one must"
    return "upstream-ignored", Words("one of its terms does not depend on the upstream", advice)


def mean_and_spread(block: Block) -> Guess:
    """Find an error that looks like the gradient of a mean and a spread along an axis."""
    shape, name = block.part.shape, block.name
    if block.part.is_complex or not (block.all_rows and block.all_columns and shape):
        return None
    off, x = (block.claim - block.numeric).reshape(*shape, -1), block.x.reshape(*shape, 1)
    for axis in reversed(range(len(shape))):
        if shape[axis] < ENOUGH:
            continue
        different = np.diff(np.sort(x, axis), axis=axis) != 0
        if (different.sum(axis) < ENOUGH - 1).any():
            continue
        spread = x - x.mean(axis, keepdims=True)
        square = (spread**2).sum(axis, keepdims=True)
        slope = (spread * off).sum(axis, keepdims=True) / np.where(square > 0, square, 1.0)
        line = off.mean(axis, keepdims=True) + slope * spread
        chosen = int(np.count_nonzero(block.fails) * 2 / shape[axis])
        if block.fits(block.claim - line.reshape(block.claim.shape), free=chosen):
            over = f"along axis {axis}" if len(shape) > 1 else "of all entries"
            sentence = f"the error {over} is a constant plus a multiple of {name}, as in the "
            sentence += "gradient of a mean and a variance"
            advice = "is a mean, a variance or a norm held constant, or is its gradient wrong?"
            return "mean-and-spread", Words(sentence, advice)
    return None


def counted_once(block: Block) -> Guess:
    """Find entries whose slopes are whole multiples of the claims, not all the same."""
    big = block.significant & (block.claim != 0)
    ratios = block.numeric[big] / block.claim[big]
    if np.iscomplexobj(ratios) or ratios.size < 2:
        return None
    times = np.round(ratios)
    # A random ratio may be half a number off.
    chance = np.minimum(
        1.0, 2 * np.fmax(np.abs(ratios - times), block.bar[big] / np.abs(block.claim[big]))
    )
    mended = block.claim.copy()
    mended[big] *= times
    if (
        times.min() < 1
        or times.max() > block.entries
        or np.unique(times).size < 2
        or chance.prod() > BY_CHANCE
    ):
        return None
    if not block.fits(mended):
        return None
    of = f"from {times.min():.0f} to {times.max():.0f}"
    sentence = f"each numeric value is a whole number times the entry, {of}"
    advice = (
        f"is an entry of {block.name} used several times, and its gradient assigned, not added? "
    )
    return "counted-once", Words(
        sentence,
        f"{advice}Use np.add.at, or +=. Or is a whole factor left out, such as an exponent?",
    )


def not_zero(block: Block) -> Guess:
    """Find claims that are not zero where the slopes are zero."""
    fails, name = block.fails, block.name
    if block.significant[fails].any() or not block.known[fails].all():
        return None
    if (block.bar > UNCERTAIN * np.abs(block.claim))[fails].any():
        return None  # with a long bar 0 is only the middle of a range, as between slopes at a kink
    if (np.abs(block.numeric) > block.slack / FAIL_BARS)[fails].any():
        return None  # it may be small, and not 0
    advice = f"is {name} overwritten in f, does it cancel, or is this a stationary point?"
    if not block.significant.any() and block.all_columns:
        said = f"every slope along {name} is 0 here, but the claim is not 0"
        return "not-zero", Words(said, advice)
    count, zeros = np.count_nonzero(fails), np.count_nonzero(block.known & ~block.significant)
    measured = "" if block.all_judged else "measured "
    said = f"it is not 0 at {count} of the {zeros} {measured}entries where the slope is 0"
    said += ", and right where it is not" * bool(block.significant.any())
    advice = "is a mask or a condition of f missing in the gradient, such as that of a relu?"
    return "not-zero", Words(said, advice)


# Right except for rounding.


def few_digits(block: Block) -> Guess:
    """Find a right gradient that was written with few digits."""
    claim, numeric = block.claim[block.known], block.numeric[block.known]
    if np.iscomplexobj(claim) or not block.known[block.fails].all():
        return None
    digits, places = digits_of(claim), places_of(claim)
    # Numbers with at least three digits, and six digits in all, are not that short by chance.
    if digits < 3 or digits * claim.size < 6:
        return None
    units = [10.0 ** (np.floor(np.log10(np.abs(numeric))) - digits + 1)]
    units += [] if places is None else [np.full(claim.shape, 10.0**-places)]
    off, bar = np.abs(claim - numeric), block.bar[block.known]
    for unit in units:
        # Rounding errors vary up to half of the last digit; if all are smaller, it is not rounding.
        largest = ((off + bar) / (unit / 2)).max()
        known = (off <= unit / 2 + bar).all() and (bar <= unit).all()
        if known and largest**claim.size > BY_CHANCE:
            advice = "write all digits with %.17g: C's %g and %f cut them off"
            return "noisy", Words(f"it is right, but has only {digits} digits", advice)
    return None


def rounded(block: Block) -> Guess:
    """Find the numeric values, rounded to a short format."""
    claim, numeric = block.claim[block.fails], block.numeric[block.fails]
    for bits, name in ((11, "float16"), (8, "bfloat16")):
        if block.fits(block.numeric + block.claim - _rounded(block.numeric, bits)):
            sentence = f"it is right to {rough(claim / numeric - 1, 1.0)}, as if it were rounded "
            advice = f"is something stored in {name}? Compute in float64 while you check"
            return "noisy", Words(f"{sentence}to {name}", advice)
    return None


def _rounded(values: Array, bits: int) -> Array:
    """Round to this many significant bits."""
    if np.iscomplexobj(values):
        return _rounded(values.real, bits) + 1j * _rounded(values.imag, bits)
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits))


def tolerance(block: Block) -> Guess:
    """Find the jump that a solver, or an iteration, makes when it takes another number of steps."""
    if not block.jump:
        return None
    sentence = f"f is smooth at this point, but jumps by {block.jump:.1g} not far from it"
    advice = (
        "does f stop at a tolerance (a solver, an integral, an iteration)? Then its error depends "
        f"on the number of steps: tighten it, or give a larger {setting('rtol')}"
    )
    return "tolerance", Words(sentence, advice)
