"""Mistakes in the chain rule: a factor or a term that is missing, or that does not belong.

The numbers are in the right places, but each is computed wrongly.
"""

import numpy as np

from gradcheck_ref.check.diagnose.block import NEARLY, Block, Guess
from gradcheck_ref.check.diagnose.factors import plain
from gradcheck_ref.check.diagnose.patterns import one_side

# A line through fewer points than this proves nothing: two of its numbers are fitted.
ENOUGH = 4


def inner_factor(block: Block) -> Guess:
    """Find a factor for each entry that is a simple function of the entry itself."""
    x, name = block.x, block.part.name
    for inner, said in ((x, name), (x**2, f"the square of {name}"), (np.exp(x), f"exp({name})")):
        safe = np.where(np.isfinite(inner) & (inner != 0), inner, 1.0)[:, None]
        for factor, how in ((safe, "times"), (1 / safe, "divided by")):
            if block.fits(factor * block.numeric, float(np.abs(factor).max())):
                advice = "is an inner derivative missing, or applied twice? By the chain "
                advice += "rule the derivative of an inner function is a factor"
                return "inner-factor", f"each entry is the numeric value {how} {said}", advice
    return None


def constant_term(block: Block) -> Guess:
    """Find one number c such that every claim is c plus the slope, or c minus the slope."""
    big = block.significant
    claim, numeric = block.claim[big], block.numeric[big]
    if np.iscomplexobj(claim) or claim.size < 2:
        return None
    for sign, words in ((1, "the numeric value"), (-1, "minus the numeric value,")):
        c = float(np.median(claim - sign * numeric))
        if block.fits(np.where(big, c + sign * block.numeric, block.numeric), free=1):
            certain = float(block.bar[big].max())
            advice = "is a linear term missing, or is there one too many?"
            if sign < 0:
                advice = "is the sign of an exponent wrong, or that of one term of a quotient?"
            added = f"{'plus' if c > 0 else 'minus'} {plain(abs(c), certain)}"
            return "constant-term", f"each entry is {words} {added}", advice
    return None


def mean_and_spread(block: Block) -> Guess:
    """Find an error that looks like the gradient of a mean and a spread along an axis."""
    shape, name = block.part.shape, block.part.name
    if block.part.is_complex or not (block.all_rows and block.all_columns and shape):
        return None
    off, x = (block.claim - block.numeric).reshape(*shape, -1), block.x.reshape(*shape, 1)
    for axis in reversed(range(len(shape))):
        if shape[axis] < ENOUGH:
            continue
        spread = x - x.mean(axis, keepdims=True)
        square = (spread**2).sum(axis, keepdims=True)
        slope = (spread * off).sum(axis, keepdims=True) / np.where(square > 0, square, 1.0)
        line = off.mean(axis, keepdims=True) + slope * spread
        chosen = int(np.count_nonzero(block.fails) * 2 / shape[axis])
        if block.fits(block.numeric + line.reshape(block.claim.shape), free=chosen):
            over = f"along axis {axis}" if len(shape) > 1 else "of all entries"
            sentence = f"the error {over} is a constant plus a multiple of {name}, as in the "
            sentence += "gradient of a mean and a variance"
            advice = "is a mean, a variance or a norm held constant, or is its gradient wrong?"
            return "mean-and-spread", sentence, advice
    return None


def term_without_upstream(block: Block) -> Guess:
    """Find a term of the product that does not depend on the vector."""
    if not block.raw or not block.all_columns or block.claim.shape[1] < 3:
        return None
    same = np.median((block.claim - block.numeric).real, axis=1, keepdims=True)
    if not block.fits(block.numeric + same, free=len(same)):
        return None
    advice = "does every term have the upstream as a factor? By the chain rule each one must"
    return "upstream-ignored", "one of its terms does not depend on the upstream", advice


def local_derivative(block: Block) -> Guess:
    """Find wrong slopes of an element-wise function, each in the right place."""
    big, (rows, columns) = block.significant, block.claim.shape
    if rows != columns or not block.all_rows or (big & ~np.eye(rows, dtype=bool)).any():
        return None
    if np.count_nonzero(block.fails) < 2 or not big[block.fails].all():
        return None
    ratios = block.claim[block.fails] / block.numeric[block.fails]
    # A zero comes from a mask, not from a wrong formula.
    if np.iscomplexobj(ratios) or not (np.abs(ratios - 1) > NEARLY).all() or not ratios.all():
        return None
    low, high = (plain(float(ratio), 0.01 * abs(ratio)) for ratio in (ratios.min(), ratios.max()))
    factors = f"all by a factor {low}" if low == high else f"by factors from {low} to {high}"
    sentence = (
        f"{np.count_nonzero(block.wrong)} of {rows} entries are wrong, {factors}, and none is "
    )
    advice = "is it the derivative of another function or branch, or at another point, or is a "
    sentence += f"misplaced{one_side(block)}"
    return "local-derivative", sentence, f"{advice}term missing?"
