"""Mistakes that have a name: each pattern says what the claim would be, if it were made.

A pattern is a function of the block of one input; it returns kind, sentence and advice, or None.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, combinations, permutations, product

import numpy as np

from gradcheck_ref.arguments import Array, index_text
from gradcheck_ref.check.decimals import FEW as FEW_DIGITS
from gradcheck_ref.check.decimals import digits_of, places_of
from gradcheck_ref.check.diagnose.block import BY_CHANCE, UNCERTAIN, Block, equal
from gradcheck_ref.check.diagnose.calls import NEARLY, Found
from gradcheck_ref.check.diagnose.factors import fit, meaning, plain, rough
from gradcheck_ref.check.words import words

# Mean square of successive differences over variance (von Neumann): 2 for noise, 0 for a trend.
NO_TREND = 1.5

# Of fewer errors that ratio tells nothing: of four random ones in a row, one of three is below it.
ENOUGH = 8

# Noise does not repeat itself, a formula does. Of n random errors sorted into 10 n bins one in 20
# shares a bin; of these, no more than a third may.
REPEATED = 1 / 3

# A reader takes in three entries, if there are three times as many; more are no single entries.
FEW = 3

# A row or column is wrong as a whole if half of it is: some of its entries may be right by chance,
# such as zeros.
MOST_OF_A_SLICE = 1 / 2

# Matching every slice with every other is quadratic, and an order is read up to a few numbers.
MOST_SLICES = 64
LISTED = 8

# The ways to sum axes away double with each axis, and the orders of n axes are n!.
MOST_AXES = 6
MOST_ORDERED = 4

# The bars weigh entries for a fit, but none counts for more than if it were this much better known
# than it is allowed to be wrong.
BETTER_KNOWN = 1e-3

# What has this many digits in one entry, and so many in all, is not that short by chance.
SOME_DIGITS, TOGETHER = 3, 6

# Significant bits of two short formats.
FORMATS = ((11, "float16"), (8, "bfloat16"))

# Complex numbers have no order; real plus imaginary part, unequally weighted, tells them apart.
UNEQUAL = 0.7310585786300049


# Gradients of the wrong shape.


def reshaped(block: Block) -> Found:
    """Find the right numbers in an array of another shape, or one that is right once summed."""
    shapes = {np.shape(gradient) for gradient in block.raw}
    if len(block.raw) != len(block.columns) or len(shapes) != 1 or shapes == {block.part.shape}:
        return None
    raw = np.stack(block.raw, axis=-1)  # the last axis is the output
    if raw.dtype.kind not in "fciub":
        return None
    repairs = chain(_other_axes(block, raw), _other_shape(block, raw), _missing_sum(block, raw))
    return next((said for repaired, said in repairs if _is_right(block, repaired)), None)


def _is_right(block: Block, gradients: Array) -> bool:
    gradients = gradients.reshape(block.entries, -1)[block.rows]
    close = equal(gradients, block.numeric, block.slack)
    return bool(block.known.any() and close[block.known].all())


# A gradient as it would be right, and what is said if it is.
Repairs = Iterator[tuple[Array, tuple[str, str, str]]]


def _other_axes(block: Block, raw: Array) -> Repairs:
    """Propose other orders of the axes."""
    shape = block.part.shape
    if raw.ndim != len(shape) + 1 or len(shape) > MOST_ORDERED:
        return
    for order in permutations(range(len(shape))):
        turned = raw.transpose(*order, len(shape))
        if turned.shape[:-1] != shape:
            continue
        if len(shape) > 2:
            sentence = f"its axes are in another order: transposed by {order} it is right"
            yield turned, ("permuted", sentence, f"is the transposition in f undone? Use {order}")
        sentence = "it is the transpose of what it should be"
        advice = f"return it with the shape of {block.part.name}, {shape}"
        yield turned, ("transposed", sentence, advice)


def _other_shape(block: Block, raw: Array) -> Repairs:
    """Propose the same numbers, in order, in the right shape."""
    shape, given = block.part.shape, raw.shape[:-1]
    if math.prod(given) != block.entries:
        return
    sentence = f"its numbers are right, but in the shape {given}"
    advice = "is a reshape in f undone?"
    if _without_ones(given) == _without_ones(shape):
        much, keep = ("many", False) if len(given) > len(shape) else ("few", True)
        sentence = f"it is right, but for an axis of length 1 too {much}"
        so = words(f"needs keepdims={keep}", f"should {'keep' if keep else 'drop'} that axis")
        advice = f"is there a sum in it that {so}?"
    advice += f" Reshape it to the shape of {block.part.name}, {shape}"
    yield raw, ("reshaped", sentence, advice)


def _missing_sum(block: Block, raw: Array) -> Repairs:
    """Propose sums, and means, over axes that were broadcast."""
    shape = block.part.shape
    if raw.ndim > MOST_AXES + 1:
        return
    for axes in chain.from_iterable(combinations(range(raw.ndim - 1), n) for n in range(raw.ndim)):
        total = raw.sum(axis=axes, keepdims=True)
        if _without_ones(total.shape[:-1]) != _without_ones(shape):
            continue
        copies = math.prod(raw.shape[a] for a in axes)
        over = f"ax{'i' if len(axes) == 1 else 'e'}s {', '.join(map(str, axes))}"
        at = axes[0] if len(axes) == 1 else axes
        keep = ", keepdims=True" if raw.ndim - 1 == len(shape) else ""
        for verb, done, value in (("sum", "summed", total), ("mean", "averaged", total / copies)):
            advice = f"{block.part.name} was broadcast: give each entry all that its copies get"
            advice += words(f", with .{verb}(axis={at}{keep})", f": {verb} over {over}")
            yield value, ("missing-sum", f"{done} over {over} it is right", advice)


def _without_ones(shape: tuple[int, ...]) -> list[int]:
    return [n for n in shape if n != 1]


# Every entry changed in the same way.


def zero(block: Block) -> Found:
    """Find a gradient of nothing but zeros."""
    if block.claim[block.known | block.fails].any() or block.others_claimed:
        return None
    advice = "treated as a constant, detached, or its gradient never written?"
    return "zero", "it is zero everywhere", f"is {block.part.name} {advice}"


def sign(block: Block) -> Found:
    """Find minus the gradient."""
    if not block.fits(-block.numeric):
        return None
    advice = (
        "is a minus missing, or one too many, e.g. target - prediction for prediction - target?"
    )
    return "sign", "the sign is wrong everywhere", advice


def factor(block: Block) -> Found:
    """Find one factor for all entries, and what it may mean."""
    big = block.significant
    claim, numeric, slack = block.claim[big], block.numeric[big], block.slack[big]
    if not big.any() or not np.isfinite(claim).all():
        return None
    c = fit(claim, numeric, slack)
    if c is None or not abs(c):
        return None
    unsure = float((slack / np.abs(numeric)).min()) * abs(c)
    text, advice = meaning(c, unsure, block.parts)
    if not block.fits(c * block.numeric, abs(c), free=0 if text else 1):
        return None
    if claim.size == 1:
        # One number is always some multiple of another; then what may be right must be zero.
        others = np.abs(block.claim[~big & ~block.fails]) > UNCERTAIN * np.abs(claim)
        if not text or others.any() or block.others_claimed != 0:
            return None
    about = "about " if unsure > NEARLY * abs(c) else ""
    if not text:
        left = (np.abs(claim - c * numeric) + abs(c) * block.bar[big]) / np.abs(numeric)
        text = plain(c, float(left.min()))
        if text in ("1", "-1"):  # it failed, so it is another number, however uncertain
            about, text = "about ", plain(c, 0.0)
    every = "every entry" if block.all_rows else "every entry looked at"
    return "factor", f"{every} is {about}{text} x the numeric value", advice


def conjugate(block: Block) -> Found:
    """Find a conjugate too many or too few: of the gradient, or of the derivative in it.

    Without its conjugate the derivative leaves the gradient for upstream 1 conjugated, and minus
    that for upstream i.
    """
    odd = np.concatenate(
        [np.arange(part.size) % 2 * part.is_complex for part in block.outputs]
    ).astype(bool)[block.columns]
    if not (block.part.is_complex or odd.any()):
        return None
    conj = block.numeric.conj()
    guesses = product((conj, block.numeric), (-conj, conj, block.numeric))
    if not any(block.fits(np.where(odd, other, even)) for even, other in guesses):
        return None
    advice = "is a conjugate missing, or one too many? A vjp multiplies by the conjugate of the "
    advice += "derivative, np.conj(derivative) * upstream; a jvp does not: derivative * tangent"
    return "conjugate", "it is right but for a complex conjugate", advice


def regulariser(block: Block) -> Found:
    """Find a difference that is the input itself, times one constant."""
    usable = block.known[:, 0] & (block.x != 0)
    if block.numeric.shape[1] > 1 or np.unique(np.abs(block.x[usable])).size < 2:
        return None
    difference, x = (block.claim - block.numeric)[usable, 0], block.x[usable]
    bar = block.bar[usable, 0]
    if not np.isfinite(difference).all():
        return None
    c = fit(difference, x, np.fmax(bar, BETTER_KNOWN * block.slack[usable, 0]))
    if c is None or abs(c.imag) > NEARLY * abs(c):
        return None
    c = float(c.real)
    if not block.fits(block.numeric + c * block.x[:, None], free=1):
        return None
    best = int(np.argmax(np.abs(x)))
    certain = float((np.abs(difference - c * x) + bar)[best] / np.abs(x[best]))
    name, size = block.part.name, plain(abs(c), certain)
    sign, how = ("minus", "missing") if c < 0 else ("plus", "doubled")
    advice = f"is the gradient of a penalty on {name} {how}, or not that of f? If f has none, look "
    advice += f"for another term along {name}, as of a division by its length"
    return "regulariser", f"it is the numeric value {sign} {size} times {name}", advice


# Right numbers in wrong places.


def _of_entries(block: Block, move: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Make a move of the array that the input is one of all claims, for the entries looked at."""

    def back(values: Array) -> Array:
        places = move(np.arange(block.entries).reshape(block.part.shape)).reshape(-1)
        return np.asarray(values[places[block.rows]])

    return back


def moved(block: Block) -> Found:
    """Find the right numbers in wrong places: the first of the moves proposed that fits."""
    return next((said for back, said in _moves(block) if block.fits_moved(back)), None)


def _moves(block: Block) -> Iterator[tuple[Callable[[Array], Array], tuple[str, str, str]]]:
    """Propose the ways back from wrong places, and what is said of them, the best known first."""
    part, shape, size = block.part, block.part.shape, block.entries

    def jacobian(values: Array) -> Array:
        turned = values.reshape(size, size, -1).swapaxes(0, 1)
        return turned[block.rows].reshape(block.claim.shape)

    if len(shape) == 2 and shape[0] == shape[1] > 1:
        sentence = "it is the transpose of what it should be"
        advice = "is a .T missing, or one too many? A square matrix raises no error for it"
        yield _of_entries(block, np.transpose), ("transposed", sentence, advice)
    if len(shape) > 1:
        sentence = "it is written column by column, so that it reads transposed"
        advice = (
            f"write {part.name} row by row. In Fortran, Julia, R and MATLAB arrays are kept column "
            "by column: transpose it first. In NumPy, mind the order of a reshape"
        )
        back = _of_entries(block, lambda a: a.reshape(-1).reshape(shape, order="F"))
        yield back, ("transposed", sentence, advice)
    square = len(block.outputs) == 1 and size == math.prod(block.outputs[0].shape) > 1
    if square and block.all_columns:
        sentence = "its Jacobian is transposed the wrong way round"
        advice = "for A @ x the vjp is A.T @ upstream, and the jvp A @ tangent: "
        yield jacobian, ("transposed", sentence, f"{advice}which one has the .T?")
    sentence = "the right numbers are in the wrong places"
    advice = "check where each number is written: the order of axes and indices, from 0 on"
    for how, move in _orders(block):
        said = "permuted", f"{sentence}: {how} of {part.name}", advice
        yield _of_entries(block, move), said
    for back in _sortings(block):
        yield back, ("permuted", sentence, advice)


def _orders(block: Block) -> Iterator[tuple[str, Callable[[Array], Array]]]:
    """Propose other orders of axes, and of the slices along each axis, those with a name first.

    Each comes with the way back.
    """
    shape = block.part.shape
    for a, b in combinations(range(len(shape)), 2):
        if shape[a] == shape[b] > 1:
            yield f"swapped are axes {a} and {b}", partial(np.swapaxes, axis1=a, axis2=b)
    for axis, length in enumerate(shape):
        if length < 2:
            continue
        turn = "its two halves swapped" if length == 2 else "reversed"
        yield f"{turn} along axis {axis}", partial(np.flip, axis=axis)
        order = _order(block, axis) if block.all_rows and length <= MOST_SLICES else []
        far = [-order[0] % length] if order and order[0] else []
        for k in dict.fromkeys([1, length - 1, *far]):
            signed = k if k <= length // 2 else k - length
            yield f"rolled by {signed} along axis {axis}", partial(np.roll, shift=-k, axis=axis)
        if order:
            listed = f"in the order {order}" if length <= LISTED else "in another order"
            back = np.argsort(order)
            yield f"{listed} along axis {axis}", partial(np.take, indices=back, axis=axis)


def _order(block: Block, axis: int) -> list[int]:
    """For each slice of the claim the slice of the numeric values that is nearest."""
    ours, theirs = (
        np.nan_to_num(np.moveaxis(values.reshape(*block.part.shape, -1), axis, 0))
        for values in (block.claim, block.numeric)
    )
    left, order = list(range(len(ours))), []
    for one in ours:
        distance = [float(np.abs(one - theirs[k]).sum()) for k in left]
        order.append(left.pop(int(np.argmin(distance))))
    return order


def _sortings(block: Block) -> Iterator[Callable[[Array], Array]]:
    """Propose the order in which each gradient, or each row, has its numeric values."""
    if not (block.all_rows and block.known.all() and np.isfinite(block.claim).all()):
        return
    if (block.slack > UNCERTAIN * np.abs(block.numeric).max()).any():
        return  # at a kink almost any order would do
    claim, numeric = (a.real + UNEQUAL * a.imag for a in (block.claim, block.numeric))
    for axis in (0, 1):
        source = np.empty(claim.shape, int)
        sources = claim.argsort(axis, kind="stable")
        np.put_along_axis(source, numeric.argsort(axis, kind="stable"), sources, axis)
        yield partial(np.take_along_axis, indices=source, axis=axis)


# Some entries wrong, the others right.


def _of(block: Block) -> str:
    """Say among how many: only those that somebody has judged count."""
    some = "" if block.judged.all() else " looked at"
    return f"{np.count_nonzero(block.judged)} entries{some}"


def row_or_column(block: Block) -> Found:
    """Find wrong entries that fill one slice of a matrix or a larger array."""
    shape, wrong, judged = block.part.shape, block.wrong, block.judged
    if len(shape) < 2 or np.count_nonzero(wrong) < 2 or not block.others_agree:
        return None
    for axis, where in enumerate(np.nonzero(wrong)):
        index, length = int(where[0]), shape[axis]
        inside = np.count_nonzero(judged.take(index, axis))
        if length < 2 or (where != index).any() or len(where) < MOST_OF_A_SLICE * inside:
            continue
        if inside == np.count_nonzero(judged):
            continue  # of the others nothing is known
        slices = [":"] * len(shape)
        slices[axis] = str(index)
        lies = f"{block.part.name}[{', '.join(slices)}]"
        if len(shape) == 2:
            lies = f"{('row', 'column')[axis]} {index} of {block.part.name}"
        sentence, advice = "wrong", f"what is special about {lies}? Look at its indices and edges"
        inside_it = np.unravel_index(block.rows, shape)[axis] == index
        if not block.claim[inside_it].any():
            sentence, advice = "zero", f"does a loop or a slice leave {lies} out?"
        of = str(length) if judged.all() else f"{length}, as far as {_of(block)} tell"
        return "row-or-column", f"only {lies} is {sentence}, of {of}", advice
    return None


def single_entries(block: Block) -> Found:
    """Find few wrong entries among many."""
    wrong, name, shape = np.flatnonzero(block.wrong), block.part.name, block.part.shape
    most = min(FEW, np.count_nonzero(block.judged) / 3)
    if not 0 < len(wrong) <= most or not block.others_agree:
        return None
    places = np.unravel_index(wrong, shape)
    for length, where in zip(shape, places, strict=True):
        if 2 < length < block.entries and np.unique(where).size == length:
            return None  # one in every row, such as the label's: a pattern, but not this one
    names = [name + index_text(place) for place in zip(*places, strict=True)]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    how, advice = "wrong", f"what is special about {listed}? An edge, a repeated index, a branch?"
    if not block.claim[block.fails.any(axis=1)].any():
        how, advice = "zero", "does a loop end one too early, or a mask or a condition go wrong?"
    verb = "is" if len(names) == 1 else "are"
    return "single-entries", f"only {listed} {verb} {how}, of {_of(block)}", advice


def mask(block: Block) -> Found:
    """Find a claim that is right or zero."""
    right = block.significant & block.agrees & ~block.fails
    others = block.others_held * (block.others_claimed or 0)
    if block.claim[block.fails].any() or not block.others_agree or not (right.any() or others):
        return None
    count, total = (int(np.count_nonzero(a)) + others for a in (right, right | block.fails))
    among = f"the {total} entries{'' if block.judged.all() else ' looked at'}"
    sentence = f"it is right on {count} of {among} that are not zero, and 0 on the rest"
    advice = (
        "which entries does a mask, a condition or a sum leave out? Look at the ones that are 0"
    )
    rows, columns = np.nonzero(right)
    if len(block.outputs) == 1 and len(block.part.shape) == 1 == len(block.outputs[0].shape):
        each = 2 if block.outputs[0].is_complex else 1
        diagonal = block.rows[rows] == block.columns[columns] // each
        if block.all_rows and diagonal.all() and len(rows) == len(block.fails) > 1:
            sentence += ": only the diagonal of the Jacobian is there"
            advice = "each entry acts on the other outputs too: add up what all of them give back"
    return "mask", sentence, advice


# Right but for noise.


def few_digits(block: Block) -> Found:
    """Find a gradient that is right but for being written with few digits."""
    claim, numeric = block.claim[block.known], block.numeric[block.known]
    if np.iscomplexobj(claim) or not block.known[block.fails].all():
        return None
    digits, places = digits_of(claim), places_of(claim)
    if not SOME_DIGITS <= digits <= FEW_DIGITS or digits * claim.size < TOGETHER:
        return None
    with np.errstate(divide="ignore"):
        last = np.floor(np.log10(np.abs(numeric))) - digits + 1
    units = [10.0**last, *([] if places is None else [np.full(claim.shape, 10.0**-places)])]
    off, bar = np.abs(claim - numeric), block.bar[block.known]
    for unit in units:
        # Errors of rounding are anything up to half of the last digit; smaller ones are others.
        with np.errstate(divide="ignore", invalid="ignore"):
            chances = np.minimum(1.0, (off + bar) / (unit / 2))
        if (off <= unit / 2 + bar).all() and chances.max() ** claim.size > BY_CHANCE:
            advice = "write all digits, as %.17g does, where C's %g and %f cut them off"
            return "noisy", f"it is right, but has no more than {digits} digits", advice
    return None


def noisy(block: Block) -> Found:
    """Find errors that are small everywhere and show no trend, or are those of rounding."""
    claim, numeric = block.claim[block.fails], block.numeric[block.fails]
    if not (np.abs(claim - numeric) <= NEARLY * np.abs(numeric)).all():
        return None
    text = f"it scatters around the numeric value, by up to {rough(claim / numeric - 1, 1.0)}"
    for bits, name in FORMATS:
        if (claim == _rounded(claim, bits)).all() and block.fits(_rounded(block.numeric, bits)):
            advice = f"is something kept in {name}? Compute in float64 while you check"
            return "noisy", f"{text}, as if it were rounded to {name}", advice
    if np.iscomplexobj(claim) or not _without_trend(block):
        return None
    advice = "is it itself computed with a tiny step, in low precision, or with random numbers?"
    return "noisy", f"{text}, without a pattern", advice


def _without_trend(block: Block) -> bool:
    """Tell whether relative errors jump up and down, in whatever order they are looked at."""
    rows, columns = np.nonzero(block.fails)
    numeric = block.numeric[block.fails]
    error = block.claim[block.fails] / numeric - 1
    if error.size < ENOUGH or not error.min() < 0 < error.max():
        return False
    for keys in ((rows,), (rows, columns), (block.x[rows],), (numeric,), (np.abs(numeric),)):
        along = error[np.lexsort(keys)]
        if np.mean(np.diff(along) ** 2) < NO_TREND * np.var(along):
            return False
    bins = np.round(10 * error.size * error / np.ptp(error))
    return np.unique(bins).size > (1 - REPEATED) * error.size


def _rounded(values: Array, bits: int) -> Array:
    """Round to so many significant bits."""
    if np.iscomplexobj(values):
        return _rounded(values.real, bits) + 1j * _rounded(values.imag, bits)
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits))
