"""Patterns of named mistakes: each predicts the claim that the mistake would make.

A pattern is a function of the block of one input; it returns None, or a kind of the list in
`kinds`, a sentence and advice.
"""

import math
from collections.abc import Iterator
from itertools import chain, combinations, permutations, product

import numpy as np

from gradcheck_ref.arguments import Array, index_text
from gradcheck_ref.check.decimals import digits_of, places_of
from gradcheck_ref.check.diagnose.block import (
    BY_CHANCE,
    NEARLY,
    UNCERTAIN,
    Block,
    Guess,
    equal,
)
from gradcheck_ref.check.diagnose.factors import fit, meaning, plain, rough
from gradcheck_ref.check.words import setting

# At most three wrong entries are named one by one, if they are at most a third of all.
NAMED_ONE_BY_ONE = 3

# Each axis doubles the number of ways to sum axes away, and n axes have n! orders: 120 for 5.
MOST_AXES = 5


# Gradients of the wrong shape.


def reshaped(block: Block) -> Guess:
    """Find the right numbers in another shape, or an array that becomes right when summed."""
    shapes = {np.shape(gradient) for gradient in block.raw}
    if len(block.raw) != len(block.columns) or len(shapes) != 1 or shapes == {block.part.shape}:
        return None
    raw = np.stack(block.raw, axis=-1)  # the last axis is the output
    if raw.dtype.kind not in "fciub" or raw.ndim > MOST_AXES + 1:
        return None
    turned = ((raw.reshape(-1)[places], said) for places, said in _axes(block, raw))
    repairs = chain(turned, _other_shape(block, raw), _missing_sum(block, raw))
    found = next((said for repaired, said in repairs if _is_right(block, repaired)), None)
    return found or _summed_too_often(block, raw)


def _is_right(block: Block, gradients: Array) -> bool:
    gradients = gradients.reshape(block.entries, -1)[block.rows]
    close = equal(gradients, block.numeric, block.slack)
    return bool(block.known.any() and close[block.known].all())


# Repaired gradients, or the places of their numbers; and the diagnosis if the repair is right.
Repairs = Iterator[tuple[Array, tuple[str, str, str]]]


def _axes(block: Block, given: Array) -> Repairs:
    """Propose other orders of the axes of gradients; their last axis is the output."""
    name, shape, n = block.part.name, block.part.shape, given.ndim - 1
    places = np.arange(given.size).reshape(given.shape)
    for order in permutations(range(n)) if 1 < n <= MOST_AXES else ():
        turned = places.transpose(*order, n)
        if turned.shape[:-1] == shape and order != tuple(range(n)):
            kind = "transposed"
            sentence = "it is the transpose of what it should be"
            if n > 2:
                kind = "permuted"
                sentence = f"its axes are in the wrong order: transposed by {order} it is right"
            advice = f"is a .T missing, or one too many? {name} has shape {shape}"
            yield turned, (kind, sentence, advice)


def _other_shape(block: Block, raw: Array) -> Repairs:
    """Propose the same numbers, in order, in the right shape."""
    shape, given = block.part.shape, raw.shape[:-1]
    if math.prod(given) != block.entries:
        return
    advice = "is a reshape missing, or an axis of length 1 kept or dropped? Reshape it to the "
    advice += f"shape of {block.part.name}, {shape}"
    yield raw, ("reshaped", f"its numbers are right, but in the shape {given}", advice)


def _missing_sum(block: Block, raw: Array) -> Repairs:
    """Propose sums, and means, over axes that were broadcast."""
    advice = f"{block.part.name} was broadcast: each entry gets the gradients of all its copies"
    for total, over in _sums(raw):
        if _without_ones(total.shape[:-1]) == _without_ones(block.part.shape):
            copies = raw.size // max(1, total.size)
            for verb, value in (("summed", total), ("averaged", total / copies)):
                yield value, ("missing-sum", f"it is right when {verb} over {over}", advice)


def _summed_too_often(block: Block, raw: Array) -> Guess:
    """Find the right gradient, summed over some of its axes by mistake."""
    if not block.all_rows:
        return None
    right, slack = (_sums(a.reshape(*block.part.shape, -1)) for a in (block.numeric, block.slack))
    for (total, over), (most, _) in zip(right, slack, strict=True):
        if _without_ones(total.shape[:-1]) != _without_ones(raw.shape[:-1]):
            continue
        if equal(raw, total.reshape(raw.shape), most.reshape(raw.shape)).all():
            advice = f"each entry of {block.part.name} has a gradient of its own: leave the sum out"
            return "extra-sum", f"it is the right gradient, summed over {over}", advice
    return None


def _sums(array: Array) -> Iterator[tuple[Array, str]]:
    """Sum an array over axes, and name the axes; the last axis, of the outputs, is kept."""
    n = array.ndim - 1
    for axes in chain.from_iterable(combinations(range(n), k + 1) for k in range(n)):
        over = f"ax{'i' if len(axes) == 1 else 'e'}s {', '.join(map(str, axes))}"
        yield array.sum(axis=axes, keepdims=True), over


def _without_ones(shape: tuple[int, ...]) -> list[int]:
    return [n for n in shape if n != 1]


# Every entry changed in the same way.


def zero(block: Block) -> Guess:
    """Find a gradient of zeros only."""
    if block.claim[block.known | block.fails].any() or block.others_claimed:
        return None
    advice = "treated as a constant, detached, or its gradient never written?"
    everywhere = " everywhere" if block.others_claimed == 0 else ""
    return "zero", f"it is zero{everywhere}", f"is {block.part.name} {advice}"


def sign(block: Block) -> Guess:
    """Find minus the gradient."""
    if not block.fits(-block.numeric):
        return None
    advice = "is a minus missing, or one too many, as in target - prediction instead of "
    advice += "prediction - target?"
    return "sign", f"the sign is wrong{' everywhere' if block.all_judged else ''}", advice


def factor(block: Block) -> Guess:
    """Find one factor for all entries, and its likely meaning."""
    big = block.significant
    claim, numeric, slack = block.claim[big], block.numeric[big], block.slack[big]
    if not big.any() or not (c := fit(claim, numeric, slack)):
        return None
    unsure = float((slack / np.abs(numeric)).min()) * abs(c)
    text, advice = meaning(c, unsure, block.parts)
    if not block.fits(c * block.numeric, abs(c), free=0 if text else 1):
        return None
    if claim.size == 1:
        # One number is always a multiple of another, so all other claims must be zero.
        others = np.abs(block.claim[~big & ~block.fails]) > UNCERTAIN * np.abs(claim)
        if not text or others.any() or block.others_claimed != 0:
            return None
    about = "about " if unsure > NEARLY * abs(c) else ""
    if not text:
        left = (np.abs(claim - c * numeric) + abs(c) * block.bar[big]) / np.abs(numeric)
        text = plain(c, float(left.min()))
        if text in ("1", "-1"):  # the entries failed, so the factor is not exactly that
            about, text = "about ", plain(c, 0.0)
    every = "every entry" if block.all_rows else "every measured entry"
    return "factor", f"{every} is {about}{text} x the numeric value", advice


def conjugate(block: Block) -> Guess:
    """Find one conjugate too many or too few: of the gradient, or of the derivative in it.

    If the derivative is not conjugated, the gradient for upstream 1 is the conjugate of the right
    one, and the gradient for upstream i is minus the conjugate.
    """
    odd = np.concatenate(
        [np.arange(part.size) % 2 * part.is_complex for part in block.outputs]
    ).astype(bool)[block.columns]
    conj = block.numeric.conj()
    guesses = product((conj, block.numeric), (-conj, conj, block.numeric))
    if not any(block.fits(np.where(odd, other, even)) for even, other in guesses):
        return None
    advice = "is a conjugate missing, or one too many? A vjp multiplies by the conjugate of the "
    advice += "derivative, np.conj(derivative) * upstream; a jvp does not: derivative * tangent"
    return "conjugate", "it is right except for a complex conjugate", advice


def phase(block: Block) -> Guess:
    """Find complex numbers with the right absolute value and a wrong phase."""
    if not np.iscomplexobj(block.numeric) or np.count_nonzero(block.significant) < 2:
        return None
    size = np.abs(block.claim)
    direction = np.where(size > 0, block.claim / size, 1.0)
    if not block.fits(direction * np.abs(block.numeric)):
        return None
    advice = "is |z| used in place of z, or a formula for real numbers?"
    return "phase", "each entry has the right absolute value, and the wrong phase", advice


def regulariser(block: Block) -> Guess:
    """Find a difference that is a constant times the input."""
    usable = block.known[:, 0] & (block.x != 0)
    if np.unique(np.abs(block.x[usable])).size < 2:
        return None
    difference, x = (block.claim - block.numeric)[usable, 0], block.x[usable]
    c = fit(difference, x, block.slack[usable, 0])
    real = abs(c.imag) <= NEARLY * abs(c)
    c = float(c.real)
    if not real or not block.fits(block.numeric + c * block.x[:, None], free=1):
        return None
    left = (np.abs(difference - c * x) + block.bar[usable, 0]) / np.abs(x)
    name, size = block.part.name, plain(abs(c), float(left.min()))
    sign, how = ("minus", "missing") if c < 0 else ("plus", "doubled")
    advice = f"is the gradient of a penalty on {name} {how}, or not that of f? If f has none, look "
    advice += f"for another term along {name}, such as that of a division by its length"
    return "regulariser", f"it is the numeric value {sign} {size} times {name}", advice


# Right numbers in wrong places.


def permuted(block: Block) -> Guess:
    """Find the right numbers in wrong places: the first proposed move that fits."""
    if block.full is None:
        return None
    full = block.full.reshape(*block.part.shape, -1)
    moves = chain(_axes(block, full), _moves(block, np.arange(full.size).reshape(full.shape)))
    return next((said for places, said in moves if block.fits_moved(places)), None)


def _moves(block: Block, at: Array) -> Repairs:
    """Propose the place where each number is now, the best-known mistakes first.

    ``at`` numbers the places, in the shape of the input with a last axis for the outputs.
    """
    part, shape, size = block.part, block.part.shape, block.entries
    if len(shape) > 1:
        sentence = "it is stored column by column, but read row by row"
        advice = (
            f"write {part.name} row by row. In Fortran, Julia, R and MATLAB arrays are stored "
            "column by column: transpose it first. In NumPy, check the order of a reshape"
        )
        columns = np.arange(size).reshape(shape, order="F").reshape(-1)
        yield at.reshape(size, -1)[columns], ("transposed", sentence, advice)
    square = len(block.outputs) == 1 and size == math.prod(block.outputs[0].shape) > 1
    if square and block.all_columns:
        sentence = "its Jacobian is the transpose of the right one"
        advice = "for A @ x the vjp is A.T @ upstream, and the jvp A @ tangent: which one has the "
        yield at.reshape(size, size, -1).swapaxes(0, 1), ("transposed", sentence, f"{advice}.T?")
    sentence = "the right numbers are in the wrong places"
    advice = "check where each number is written: the order of axes, and indices that start at 0"
    for axis, length in enumerate(shape):
        for order in _orders(block, axis) if length > 1 else ():
            said = f"{sentence}: {_called(order)} along axis {axis} of {part.name}"
            yield at.take(np.argsort(order), axis), ("permuted", said, advice)
    # With long error bars, as at a kink, almost any order would fit.
    if block.all_rows and (block.slack <= UNCERTAIN * np.abs(block.numeric).max()).all():
        for axis in (0, 1):  # each gradient, or each row, may have its own order
            source = np.empty(block.claim.shape, int)
            order = block.claim.argsort(axis, kind="stable")
            np.put_along_axis(source, block.numeric.argsort(axis, kind="stable"), order, axis)
            places = np.take_along_axis(at.reshape(source.shape), source, axis)
            yield places, ("permuted", sentence, advice)


def _orders(block: Block, axis: int) -> Iterator[Array]:
    """Propose other orders of the slices along an axis, the named ones first."""
    ahead = np.arange(block.part.shape[axis])
    yield from (ahead[::-1], *(np.roll(ahead, by) for by in (1, -1, 2, -2)))
    if block.all_rows:
        yield _nearest(block, axis)


def _called(order: Array) -> str:
    """Describe an order of slices."""
    length, first = len(order), int(np.flatnonzero(order == 0)[0])
    ahead = np.arange(length)
    if (order == ahead[::-1]).all():
        return "its two halves swapped" if length == 2 else "reversed"
    if (order == np.roll(ahead, first)).all():
        return f"rolled by {first if first <= length // 2 else first - length}"
    return f"in the order {order.tolist()}" if length <= 8 else "in another order"


def _nearest(block: Block, axis: int) -> Array:
    """Find the nearest slice of the numeric values for each slice of the claim."""
    ours, theirs = (
        np.nan_to_num(np.moveaxis(a.reshape(*block.part.shape, -1), axis, 0))
        for a in (block.claim, block.numeric)
    )
    order, taken = np.zeros(len(ours), int), np.zeros(len(ours))
    for place, one in enumerate(ours):
        distance = np.abs(one - theirs).sum(axis=tuple(range(1, ours.ndim)))
        order[place] = np.argmin(distance + taken)
        taken[order[place]] = np.inf
    return order


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
            return "noisy", f"it is right, but has only {digits} digits", advice
    return None


def rounded(block: Block) -> Guess:
    """Find the numeric values, rounded to a short format."""
    claim, numeric = block.claim[block.fails], block.numeric[block.fails]
    for bits, name in ((11, "float16"), (8, "bfloat16")):
        if block.fits(_rounded(block.numeric, bits)):
            sentence = f"it is right to {rough(claim / numeric - 1, 1.0)}, as if it were rounded "
            advice = f"is something stored in {name}? Compute in float64 while you check"
            return "noisy", f"{sentence}to {name}", advice
    return None


def tolerance(block: Block) -> Guess:
    """Find the jump that a solver, or an iteration, makes when it takes another number of steps."""
    if not block.jump:
        return None
    sentence = f"f is smooth at this point, but jumps by {block.jump:.1g} not far from it"
    advice = (
        "does f stop at a tolerance (a solver, an integral, an iteration)? Then its error depends "
        f"on the number of steps: tighten it, or give a larger {setting('rtol')}"
    )
    return "tolerance", sentence, advice


def _rounded(values: Array, bits: int) -> Array:
    """Round to this many significant bits."""
    if np.iscomplexobj(values):
        return _rounded(values.real, bits) + 1j * _rounded(values.imag, bits)
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits))


# Some entries wrong, the others right.


def row_or_column(block: Block) -> Guess:
    """Find wrong entries that fill one slice of a matrix or a larger array.

    Half of the slice is enough, because some of its entries may be right by chance, such as zeros.
    """
    shape, name = block.part.shape, block.part.name
    wrong = block.wrong
    if len(shape) < 2 or np.count_nonzero(wrong) < 2:
        return None
    for axis, place in enumerate(np.unravel_index(block.rows, shape)):
        index, length = place[wrong][0], shape[axis]
        inside = place == index
        others = not inside.all() or (block.others_held and length > 1)
        count = block.entries // length if block.others_held else np.count_nonzero(inside)
        if not others or (wrong & ~inside).any() or 2 * np.count_nonzero(wrong) < count:
            continue
        lies = f"{name}[{', '.join([':'] * axis + [str(index)] + [':'] * (len(shape) - axis - 1))}]"
        if len(shape) == 2:
            lies = f"{('row', 'column')[axis]} {index} of {name}"
        advice = f"what is special about {lies}? Look at its indices and edges"
        if not block.claim[inside].any():
            advice = f"does a loop or a slice leave {lies} out?"
        return "row-or-column", _some(block, [lies], block.claim[inside], f"{length}"), advice
    return None


def single_entries(block: Block) -> Guess:
    """Find few wrong entries among many, or at most half of a vector, perhaps of parameters."""
    wrong, shape = block.wrong, block.part.shape
    if not shape or np.count_nonzero(wrong) > NAMED_ONE_BY_ONE:
        return None
    places = list(zip(*np.unravel_index(block.rows[wrong], shape), strict=True))
    for length, where in zip(shape, zip(*places, strict=True), strict=True):
        if 2 < length < block.entries and len({*where}) == length:
            return None  # one in every row, such as the entry of the label, is another pattern
    names = [block.part.name + index_text(place) for place in places]
    kind = "single-entries"
    advice = f"what is special about {_listed(names)}? An edge, a repeated index, a branch?"
    if not block.claim[wrong].any():
        advice = "does a loop end one step too early, or is a mask or a condition wrong?"
    judged = block.entries if block.all_judged else len(wrong)
    if len(names) > judged / 3:
        right = np.count_nonzero(block.significant.any(axis=1) & ~wrong)
        vector = len(shape) == 1 and block.all_rows and len(names) <= right
        if not vector or not block.claim[block.fails].any():  # zeros are a mask
            return None
        kind = "some-entries"
        advice = f"look at how {_listed(names)} enter{'s' * (len(names) == 1)} f: the others are "
        advice += "right"
    return kind, _some(block, names, block.claim[wrong], f"{block.entries} entries"), advice


def some_outputs(block: Block) -> Guess:
    """Find outputs with wrong derivatives only, if those of the other outputs are right."""
    wrong, nonzero = block.fails.any(axis=0), block.significant.any(axis=0)
    if not block.all_rows or 2 * np.count_nonzero(wrong) > np.count_nonzero(nonzero | wrong):
        return None
    names, columns = list[str](), block.columns[wrong]
    for part in block.outputs:
        own = (columns[part.holds(columns)] - part.start).tolist()
        names += [part.name] if 0 < len(own) == part.size else map(part.entry, own)
    if len(names) > NAMED_ONE_BY_ONE:
        return None
    said = f"it is wrong for {_listed(names)}, and right for the other outputs"
    advice = f"what is special about {_listed(names)}? Look at how its upstream is used"
    return "some-outputs", said, advice


def _some(block: Block, names: list[str], claim: Array, of: str) -> str:
    """Say that entries are wrong, and say *only* if all others are known to be right."""
    are, how = "is" if len(names) == 1 else "are", "wrong" if claim.any() else "zero"
    if block.all_judged:
        return f"only {_listed(names)} {are} {how}, of {of}"
    return f"{_listed(names)} {are} {how}, judging by the {len(block.rows)} measured entries"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def mask(block: Block) -> Guess:
    """Find a claim in which every entry is right or zero."""
    right = block.significant & block.agrees & ~block.fails
    others = block.others_held * (block.others_claimed or 0)
    if block.claim[block.fails].any() or not (right.any() or others):
        return None
    count, total = (int(np.count_nonzero(a)) + others for a in (right, right | block.fails))
    entries = f"the {total} {'' if block.all_judged else 'measured '}entries"
    sentence = f"it is right on {count} of {entries} that are not zero, and 0 on the rest"
    advice = (
        "which entries does a mask, a condition or a sum leave out? Look at the ones that are 0"
    )
    if block.all_rows and _only_the_diagonal(block, right):
        sentence += ": only the diagonal of the Jacobian is present"
        advice = "each entry affects the other outputs, too: add the terms of all outputs"
    elif block.all_rows:
        sentence += one_side(block)
    return "mask", sentence, advice


def _only_the_diagonal(block: Block, right: Array) -> bool:
    if not block.part.shape == block.outputs[0].shape == right.shape[1:]:
        return False
    rows, columns = np.nonzero(right)
    return bool((rows == columns).all() and len(rows) == len(right) > 1)


def not_zero(block: Block) -> Guess:
    """Find claims that are not zero where all slopes are zero."""
    if block.significant.any() or not block.known.all():
        return None
    if (block.bar > UNCERTAIN * np.abs(block.claim))[block.fails].any():
        return None  # with a long bar 0 is only the middle of a range, as between slopes at a kink
    name = block.part.name
    advice = f"is {name} overwritten in f, does it cancel, or is this a stationary point?"
    return "not-zero", f"every slope along {name} is 0 here, but the claim is not 0", advice


def one_side(block: Block) -> str:
    """Say so if the wrong entries of an element-wise function are those beyond a threshold."""
    x, wrong = block.x, block.wrong
    if np.iscomplexobj(x) or math.comb(len(x), np.count_nonzero(wrong)) * BY_CHANCE < 2:
        return ""  # so few may be on one side by chance
    bad, good = x[wrong], x[~wrong]
    if bad.min() > good.max():
        return f": those where {block.part.name} is {bad.min():.4g} or more"
    if bad.max() < good.min():
        return f": those where {block.part.name} is {bad.max():.4g} or less"
    return ""
