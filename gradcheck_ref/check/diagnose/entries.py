"""Mistakes that measured entries show, and no repair: lost digits, orders, terms and frames."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.decimals import ROUNDINGS, digits_of, places_of
from gradcheck_ref.check.diagnose.block import FEWEST, Block, Guess
from gradcheck_ref.check.knobs import WIDEST
from gradcheck_ref.check.mistakes.factors import BY_CHANCE, NEARLY, plain, rough
from gradcheck_ref.check.mistakes.gradient import Words
from gradcheck_ref.check.results import FAIL_BARS
from gradcheck_ref.check.words import setting


def zero(block: Block) -> Iterator[Guess]:
    """Find a gradient of zeros only."""
    if not block.claim[block.known | block.fails].any() and not block.others_claimed:
        advice = f"is {block.name} treated as a constant, detached, or its gradient never written?"
        everywhere = " everywhere" if block.others_claimed == 0 else ""
        yield Guess("zero", f"it is zero{everywhere}", advice)


def stairs(block: Block) -> Iterator[Guess]:
    """Find a claim that is not zero where f is a staircase, as that of a smooth function is."""
    stair = block.group[0].given.stair
    is_flat = (np.abs(block.numeric) <= block.slack)[block.fails]
    if stair and is_flat.any() and is_flat.all():
        advice = "is f rounded, quantized or spiking on purpose, and this a straight-through or a "
        advice += "surrogate gradient? Then check it as that of the smooth function behind f"
        yield Guess("not-zero", stair.said, advice)


def copied(block: Block) -> Iterator[Guess]:
    """Find the gradient of another input, which is right there."""
    for other in block.beside:
        mine: Any = block.full
        theirs: Any = other.full  # both are None if they are not known
        if np.array_equal(mine, theirs) and np.any(mine) and not other.fails.any():
            advice = f"is a variable written twice? That of {other.name} is right"
            yield Guess("swapped", f"it is the gradient of {other.name}", advice)
        elif other.claim.shape == block.claim.shape and other.fits(block.claim):
            advice = "are the gradients returned in the order of the inputs?"
            yield Guess("swapped", f"it is the right gradient of {other.name}", advice)


def something_else(block: Block) -> Iterator[Guess]:
    """Find numbers that are no derivative: those of the input, the upstream, or the values of f.

    They are the claims for a number, or those for an element-wise function.
    """
    mine, vector = block.gradient(), "upstream" if block.raw else "tangent"
    rows = np.arange(block.entries) if mine.whole else block.rows
    own, x, of_f, times = mine.values.reshape(len(rows), -1), mine.x.reshape(-1), mine.of_f, ""
    named = {block.name: x, "what f returns": of_f}
    if (outputs := sum(part.size for part in block.outputs)) > 1:
        its = rows[:, None] == block.columns
        if block.entries != outputs or own[~its].any() or not its.any(axis=0).all():
            return
        own, (row, column), times = own[its], np.nonzero(its), f", times the {vector}"
        named = {block.name: x[row], "what f returns": of_f[column]}
        named |= {f"the {vector}": np.ones(len(own))}
    is_no_slope = block.wrong.all() and block.significant.any()
    rounding = ROUNDINGS * np.finfo(float).eps
    for name, values in named.items() if is_no_slope else ():
        alike = values.size == own.size and np.allclose(
            own.flat, values.flat, rtol=rounding, atol=0
        )
        # Whole numbers are equal by chance, but not if each is in its own call.
        is_vector = name == f"the {vector}" and len(own) > 1
        if alike and ((np.real(own) % 1).any() or is_vector):
            everywhere = " everywhere" * (len(own) == block.entries)
            said = f"it is {name} itself{everywhere}, number for number{'' if is_vector else times}"
            yield Guess("local-derivative", said, "is it returned in place of the derivative?")


def phase(block: Block) -> Iterator[Guess]:
    """Find complex numbers with the right absolute value and a wrong phase."""
    if np.iscomplexobj(block.numeric):
        size = np.abs(block.numeric)
        direction = np.where(size > 0, block.numeric / size, 1.0)
        said = "each entry has the right absolute value, and the wrong phase"
        advice = "is |z| used in place of z, or a formula for real numbers?"
        yield Guess("phase", said, advice, direction * np.abs(block.claim))


def in_another_order(block: Block) -> Iterator[Guess]:
    """Find the right numbers in any other order."""
    if not block.shows_order:
        return
    sentence = "the right numbers are in the wrong places"
    advice = "check where each number is written: the order of axes, and indices that start at 0"
    for axis in (0, 1):  # each gradient, or each row, may have its own order
        source = np.empty(block.claim.shape, int)
        sorts = block.claim.argsort(axis, kind="stable")
        np.put_along_axis(source, block.numeric.argsort(axis, kind="stable"), sorts, axis)
        mended = np.take_along_axis(block.claim, source, axis)
        yield Guess("permuted", sentence, advice, mended)


def term_without_upstream(block: Block) -> Iterator[Guess]:
    """Find a term of the product that does not depend on the vector."""
    if not block.raw or block.is_whole or not block.all_columns or block.claim.shape[1] < 3:
        return
    mended = block.numeric + _rest(block.claim - block.numeric, 1)
    said = "one of its terms does not depend on the upstream"
    advice = "does every term have the upstream as a factor? By the chain rule each one must"
    yield Guess("upstream-ignored", said, advice, mended, len(block.rows))


def along_the_input(block: Block) -> Iterator[Guess]:
    """Find an error along the input: another multiple of it for each output."""
    x, name, outputs = block.x[:, None], block.name, block.claim.shape[1]
    if outputs < 2 or not block.all_rows or np.iscomplexobj(block.claim) or (x == x[0]).all():
        return
    off = np.where(block.known, block.claim - block.numeric, 0.0)
    said = f"for each output it is the numeric value plus a multiple of {name}, so it is wrong "
    said += f"along {name} only"
    advice = f"does f divide {name} by its length? Then differentiate that, too"
    yield Guess("not-projected", said, advice, block.numeric + _rest(off, 0, x), outputs)


def factor_for_each(block: Block) -> Iterator[Guess]:
    """Find a factor of its own for each row or column of the input, or for each output."""
    if np.iscomplexobj(block.claim) or not block.is_sharp:
        return
    shape = *block.part.shape, block.claim.shape[1]
    both = np.zeros((2, block.entries, shape[-1]))
    both[:, block.rows] = np.where(block.known, [block.claim, block.numeric], 0.0)
    claim, numeric = both.reshape(2, *shape)
    axes = tuple(range(len(shape)))
    names = [f"slice of {block.name} along axis {axis}" for axis in axes[:-1]]
    if len(names) == 2:
        names = [f"row of {block.name}", f"column of {block.name}"]
    for axis, name in enumerate([*names, "output"]):
        mended = numeric - _rest(numeric, axes[:axis] + axes[axis + 1 :], claim)
        ratios = claim[mended != 0] / mended[mended != 0]
        if ratios.size and np.ptp(ratios) > NEARLY:
            low, high = (plain(one, 0.01 * abs(one)) for one in (ratios.min(), ratios.max()))
            said = f"each {name} is the numeric value times its own number, from {low} to {high}"
            advice = f"is a weight for each {name} left out, or the derivative of its function?"
            mended = mended.reshape(block.entries, -1)[block.rows]
            yield Guess("inner-factor", said, advice, mended, shape[axis])


def mean_and_spread(block: Block) -> Iterator[Guess]:
    """Find an error that looks like the gradient of a mean and a spread along an axis."""
    shape, name = block.part.shape, block.name
    if block.part.is_complex or not (block.all_rows and block.all_columns and shape):
        return
    off, x = (block.claim - block.numeric).reshape(*shape, -1), block.x.reshape(*shape, 1)
    for axis in reversed(range(len(shape))):
        different = np.diff(np.sort(x, axis), axis=axis) != 0
        if (different.sum(axis) < FEWEST - 1).any():
            continue
        rest = _rest(_rest(off, axis), axis, x - x.mean(axis, keepdims=True))
        chosen = int(np.count_nonzero(block.fails) * 2 / shape[axis])
        over = f"along axis {axis}" if len(shape) > 1 else "of all entries"
        sentence = f"the error {over} is a constant plus a multiple of {name}, as in the "
        sentence += "gradient of a mean and a variance"
        advice = "is a mean, a variance or a norm held constant, or is its gradient wrong?"
        mended = block.numeric + rest.reshape(block.claim.shape)
        yield Guess("mean-and-spread", sentence, advice, mended, chosen)


def _rest(off: Array, axis: int | tuple[int, ...], of: Any = 1.0) -> Array:
    """Return what is left of an error without the multiples of an array along an axis."""
    of = np.broadcast_to(of, off.shape)
    square = (of * of).sum(axis, keepdims=True)
    times = (of * off).sum(axis, keepdims=True) / np.where(square > 0, square, 1.0)
    return np.asarray(off - times * of)


def another_frame(block: Block) -> Iterator[Guess]:
    """Find two or three outputs that are turned, as in the frame of a body or of the world."""
    outputs = block.claim.shape[1]
    if not block.all_rows or outputs not in (2, 3) or np.iscomplexobj(block.claim):
        return
    rows = (block.known & np.isfinite(block.claim)).all(axis=1)
    left, _, right = np.linalg.svd(block.claim[rows].T @ block.numeric[rows])
    turn = left @ right  # of all turns the one that fits best
    if np.linalg.det(turn) < 0:
        return
    angle = math.acos(np.clip((np.trace(turn) - outputs + 2) / 2, -1, 1))
    said = f"it is right when the outputs are turned by {math.degrees(angle):.0f} degrees"
    advice = "is it in another frame, that of a body or of the world? Then a rotation is missing, "
    advice += "or there is one too many"
    free = outputs * (outputs - 1) // 2
    yield Guess("another-frame", said, advice, block.claim @ turn, free)


def counted_once(block: Block) -> Iterator[Guess]:
    """Find entries whose slopes are whole multiples of the claims, not all the same."""
    big = block.significant & (block.claim != 0)
    ratios = block.numeric[big] / block.claim[big]
    if np.iscomplexobj(ratios) or ratios.size < 2:
        return
    times = np.round(ratios)
    if not 1 <= times.min() < times.max() <= block.entries:
        return
    mended = block.claim.copy()
    mended[big] *= times
    sentence = "each numeric value is a whole number times the entry, "
    sentence += f"from {times.min():.0f} to {times.max():.0f}"
    advice = f"is an entry of {block.name} used several times, and its gradient assigned, not "
    advice += "added? Use np.add.at, or +=. Or is a whole factor left out, such as an exponent?"
    yield Guess("counted-once", sentence, advice, mended)


def not_zero(block: Block) -> Iterator[Guess]:
    """Find claims that are not zero where the slopes are zero."""
    fails, name = block.fails, block.name
    if (block.bar > WIDEST * np.abs(block.claim))[fails].any():
        return  # with a long bar 0 is only the middle of a range, as between slopes at a kink
    if not (np.abs(block.numeric) <= block.slack / FAIL_BARS)[fails].all():
        return  # it may be small, and not 0, or not known
    advice = f"is {name} overwritten in f, does it cancel, or is this a stationary point?"
    if not block.significant.any() and block.all_columns:
        said = f"every slope along {name} is 0 here, but the claim is not 0"
        yield Guess("not-zero", said, advice)
    count, zeros = np.count_nonzero(fails), np.count_nonzero(block.known & ~block.significant)
    measured = "" if block.all_judged else "measured "
    said = f"it is not 0 at {count} of the {zeros} {measured}entries where the slope is 0"
    said += ", and right where it is not" * bool(block.significant.any())
    advice = "is a mask or a condition of f missing in the gradient, such as that of a relu?"
    yield Guess("not-zero", said, advice)


# Right except for rounding.


def few_digits(block: Block) -> Iterator[Guess]:
    """Find a right gradient that was written with few digits, or stored in a short format."""
    big = block.significant
    claim, numeric, bar = (one[big] for one in (block.claim, block.numeric, block.bar))
    if np.iscomplexobj(claim) or not big[block.fails].all():
        return
    formats, digits = list[tuple[Any, Words]](), digits_of(claim)
    # Numbers with at least three digits, and six digits in all, are not that short by chance.
    if digits >= 3 and digits * claim.size >= 6:
        advice = "write all digits with %.17g: C's %g and %f cut them off"
        words = Words(f"it is right, but has only {digits} digits", advice)
        formats.append((10.0 ** (np.floor(np.log10(np.abs(numeric))) - digits + 1), words))
        if (places := places_of(claim)) is not None:
            formats.append((10.0**-places, words))
    mantissa, exponent = np.frexp(claim)[0], np.frexp(numeric)[1]
    for bits, name in ((11, "float16"), (8, "bfloat16")):
        if (mantissa * 2**bits % 1 == 0).all():
            error = rough(claim / numeric - 1, 1.0)
            advice = f"is something stored in {name}? Compute in float64 while you check"
            words = Words(f"it is right to {error}, as if it were rounded to {name}", advice)
            formats.append((np.ldexp(1.0, exponent - bits), words))
    off = np.abs(claim - numeric)
    for unit, words in formats:
        # Rounding errors vary up to half of the last digit; if all are smaller, it is not rounding.
        largest = ((off + bar) / (unit / 2)).max()
        known = (off <= unit / 2 + bar).all() and (bar <= unit).all()
        if known and largest**claim.size > BY_CHANCE:
            yield Guess("noisy", *words)


def tolerance(block: Block) -> Iterator[Guess]:
    """Find the jump that a solver, or an iteration, makes when it takes another number of steps."""
    jump = max(pair.given.jump for pair in block.group)
    if jump:
        sentence = f"f is smooth at this point, but jumps by {jump:.1g} not far from it"
        advice = "does f stop at a tolerance (a solver, an integral, an iteration)? Then its error "
        advice += f"depends on the number of steps: tighten it, or give a larger {setting('rtol')}"
        yield Guess("tolerance", sentence, advice)
