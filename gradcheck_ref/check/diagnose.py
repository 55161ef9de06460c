"""The mistake that a wrong gradient looks like.

Every mistake that has a name leaves a pattern: the claim is what the numeric values become when
something is done to them. So each pattern below says what the claim would be, and is believed only
if that is what was claimed, everywhere, and if it accounts for the difference. Patterns go from
specific to general, and for each input the first one counts. Nothing is called here: the evidence
that the verdict needed is enough.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, index_text
from gradcheck_ref.check.claims import Fault
from gradcheck_ref.check.search import FAIL, PASS
from gradcheck_ref.check.structure import Part
from gradcheck_ref.check.verdict import FAIL_BARS, SKIPPED, Pair

# A pattern has to account for this share of the difference, or it is not what was seen. Otherwise
# any pattern would fit a difference that is little more than the tolerance.
EXPLAINED = 0.9

# Right but for noise, rather than wrong: off by at most this share.
NEARLY = 1e-2

# Mean square of successive differences over variance (von Neumann): 2 for noise, 0 for a trend.
NO_TREND = 1.5

# Numbers that are known no better than to this share of the largest cannot be told apart.
UNCERTAIN = 0.1

# Of fewer errors nobody can tell whether they have a trend.
ENOUGH = 8

# A reader takes in so many entries; more than that are a pattern that we do not know.
FEW = 3

# Matching every slice with every other one is quadratic: further than that nobody wants to read.
MOST_SLICES = 64

# A factor of a whole number up to this may be a number of rows; so may its reciprocal.
MOST_ROWS = 1000

# Digits shown of a factor; fewer where fewer are certain.
DIGITS = 4


@dataclass(frozen=True)
class Diagnosis:
    """What a wrong gradient looks like.

    Attributes
    ----------
    kind : str
        sign, factor, zero, transposed, permuted, missing-sum, single-entries, row-or-column, mask,
        conjugate, accumulated, regulariser, mutated or noisy.
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


def diagnose(pairs: Sequence[Pair], faults: Sequence[Fault]) -> tuple[Diagnosis, ...]:
    """Name the mistakes that a failed check looks like.

    Parameters
    ----------
    pairs : sequence of Pair
        The evidence, for every input and output.
    faults : sequence of Fault
        What is wrong besides the numbers.

    Returns
    -------
    tuple of Diagnosis
        Best first: faults, then the more specific patterns; at most one for each input. Empty if
        nothing failed or nothing is recognised.

    Notes
    -----
    Cost: no evaluation of ``f``, and a few passes over the claims.

    Only entries that failed make a diagnosis; entries about which the evidence is unsure contradict
    a pattern only where it lies outside their error bars.

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
    blocks = _blocks(pairs)
    certain = list(_from_faults(blocks, faults))
    settled = {found.subject for found in certain}
    ranked = []
    for block in blocks:
        if block.part.name in settled or not block.fails.any():
            continue
        for rank, pattern in enumerate(_PATTERNS if block.usable else _UNUSABLE):
            found = pattern(block)
            if found:
                ranked.append((rank, Diagnosis(found[0], block.part.name, *found[1:])))
                break
    return (*certain, *(found for _, found in sorted(ranked, key=lambda pair: pair[0])))


# The evidence about one input.

# Kind, sentence and advice.
Found = tuple[str, str, str] | None


@dataclass(frozen=True, eq=False)
class _Block:
    """One input against all outputs: a row per entry of the input, a column per output coordinate.

    The two coordinates of a complex entry of the input are one complex number here.
    """

    part: Part
    outputs: tuple[Part, ...]
    parts: tuple[Part, ...]  # all inputs and outputs, for the lengths of their axes
    x: Array
    claim: Array  # NaN where it cannot be compared
    again: Array  # NaN where not asked again
    usable: bool
    numeric: Array
    bar: Array  # what the estimate may be off by
    slack: Array  # numbers that differ by no more are equal: the allowed error is in it too
    fails: Array
    known: Array  # where there is anything to compare with
    raw: list[Any]

    @property
    def wrong(self) -> Array:
        """Mark the entries of the input that are wrong for some output."""
        return np.asarray(self.fails.any(axis=1))

    @property
    def significant(self) -> Array:
        """Mark the slopes that are surely not zero."""
        return np.asarray(self.known & (np.abs(self.numeric) > 2 * self.slack))

    def shaped(self, columns: Array) -> Array:
        """Give the rows the shape of the input: (shape of the input, columns)."""
        return columns.reshape(*self.part.shape, columns.shape[-1])

    def equal(self, claim: Array, values: Array, slack: Array) -> Array:
        """Tell where a claim equals numeric values within the evidence."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(claim - values) <= slack)

    def fits(self, values: Array, size: float = 1.0) -> bool:
        """Tell whether these values were claimed, and that is no coincidence.

        They are the numeric values, each changed by a factor of absolute value ``size``.
        """
        # The slack of an entry that is zero does not shrink with the factor.
        least = np.where(self.significant, 0.0, self.slack)
        slack = np.maximum(size * self.slack, least)
        return self._fits(values, slack, size * self.bar, self.known)

    def fits_moved(self, move: Callable[[Array], Array]) -> bool:
        """Tell whether the numeric values, moved to other places, were claimed."""
        values, slack, bar, known = map(move, (self.numeric, self.slack, self.bar, self.known))
        with np.errstate(invalid="ignore"):
            vague = slack > np.abs(self.claim - self.numeric)
        return not vague[self.fails].any() and self._fits(values, slack, bar, known)

    def _fits(self, values: Array, slack: Array, bar: Array, known: Array) -> bool:
        compared = known & self.known
        if not compared[self.fails].all():
            return False
        if not self.equal(self.claim, values, slack)[compared].all():
            return False
        return self.accounts_for(values, bar)

    def accounts_for(self, values: Array, bar: Array) -> bool:
        """Tell whether these values leave little of the difference, where the claim is wrong."""
        claim, numeric = self.claim[self.fails], self.numeric[self.fails]
        with np.errstate(invalid="ignore", over="ignore"):
            before = np.abs(claim - numeric)
            left = np.maximum(0.0, np.abs(claim - values[self.fails]) - bar[self.fails])
            return bool(left.sum() <= (1 - EXPLAINED) * before.sum())


def _blocks(pairs: Sequence[Pair]) -> list[_Block]:
    """Put the outputs of each input side by side."""
    by_input: dict[Part, list[Pair]] = {}
    for pair in pairs:
        by_input.setdefault(pair.input, []).append(pair)
    parts = (*by_input, *dict.fromkeys(pair.output for pair in pairs))
    return [_block(group, parts) for group in by_input.values()]


def _block(group: list[Pair], parts: tuple[Part, ...]) -> _Block:
    part = group[0].input
    usable = all(pair.analytic is not None for pair in group)
    numeric, verdict = _beside(group, "numeric"), _beside(group, "verdict")
    error, allowed = _beside(group, "error"), _beside(group, "allowed")
    missing = np.full(numeric.shape, np.nan)
    claim = _beside(group, "analytic") if usable else missing
    again = _beside(group, "again") if usable else missing
    known = (verdict != SKIPPED) & np.isfinite(numeric) & np.isfinite(error)
    with np.errstate(invalid="ignore"):
        off = np.abs(claim - numeric)
        # An estimate may be off by as many bars as a fail has to exceed; by one alone at a kink,
        # where the bar is the jump of a slope, and so wherever an entry failed with less.
        once = (verdict == FAIL) & (off <= FAIL_BARS * error + allowed)
        once |= (_beside(group, "reason") == "kink") & (error > UNCERTAIN * np.abs(numeric))
    bar = np.where(once, 1.0, FAIL_BARS) * error
    # Passed is passed: there are zeros that are compared with the rounding of f.
    slack = np.where((verdict == PASS) & known, np.fmax(bar + allowed, off), bar + allowed)
    return _Block(
        part=part,
        outputs=tuple(pair.output for pair in group),
        parts=parts,
        x=_entries(part, group[0].x[:, None])[:, 0],
        claim=_entries(part, claim),
        again=_entries(part, again),
        usable=usable,
        numeric=_entries(part, numeric),
        bar=_both(part, bar, np.add),
        slack=_both(part, slack, np.add),
        fails=_both(part, verdict == FAIL, np.logical_or),
        known=_both(part, known, np.logical_and),
        raw=[gradient for pair in group for gradient in pair.raw],
    )


def _beside(group: list[Pair], name: str) -> Array:
    return np.concatenate([getattr(pair, name) for pair in group], axis=1)


def _entries(part: Part, coordinates: Array) -> Array:
    """Turn real and imaginary coordinates into complex numbers; leave real ones."""
    return coordinates[0::2] + 1j * coordinates[1::2] if part.is_complex else coordinates


def _both(part: Part, coordinates: Array, combine: np.ufunc) -> Array:
    """Combine what is known of the two coordinates of a complex number; leave real ones."""
    return combine(coordinates[0::2], coordinates[1::2]) if part.is_complex else coordinates


# Faults.


def _from_faults(blocks: list[_Block], faults: Sequence[Fault]) -> Iterator[Diagnosis]:
    for fault in faults:
        if fault.reason == "mutated":
            yield _mutated(blocks, fault)
    for fault in faults:
        if fault.reason == "nondeterministic":
            for block in blocks:
                if block.part.name == fault.subject:
                    found = _changed_its_mind(block)
                    if found:
                        yield Diagnosis(found[0], fault.subject, *found[1:])


def _mutated(blocks: list[_Block], fault: Fault) -> Diagnosis:
    names = [b.part.name for b in blocks if f"its input {b.part.name}:" in fault.sentence]
    subject = names[0] if names else fault.subject
    return Diagnosis(
        "mutated",
        subject,
        f"{fault.subject} overwrites " + (subject if names else "its input"),
        "look for +=, *=, out= and assignments to slices, and let them work on a copy",
    )


def _changed_its_mind(block: _Block) -> Found:
    """Tell random from stateful: right at first and wrong later, or a little wrong every time."""
    asked = np.isfinite(block.again) & block.known
    if not asked.any():
        return None
    first, second = block.claim[asked], block.again[asked]
    if (first == second).all():
        return None
    numeric, slack = block.numeric[asked], block.slack[asked]
    scale = np.abs(numeric).max()
    nearly = (np.maximum(np.abs(first - numeric), np.abs(second - numeric)) <= NEARLY * scale).all()
    right = block.equal(first, numeric, slack).all()
    if nearly or not right:
        text = f", by up to {_rough(first - second, scale)} of it" if nearly else ""
        return (
            "noisy",
            f"it is another one at every call{text}",
            "is there dropout, noise or an unseeded random number in it? Switch it off, or fix the "
            "seed",
        )
    sentence = "it is right at the first call, and wrong at a later one"
    factor = _fit(second, numeric, slack)
    if factor is not None and block.equal(second, factor * numeric, 2 * abs(factor) * slack).all():
        seen = "0" if abs(factor) < NEARLY else f"{_plain(factor, 1e-3)} x that"
        sentence = f"it is right at the first call, and {seen} at a later one"
    return (
        "accumulated",
        sentence,
        "does it add to a buffer with +=, or keep something from the last call? Start every call "
        "afresh",
    )


# Gradients of the wrong shape.


def _returned(block: _Block) -> Array | None:
    """Stack the gradients as they came, last axis the output; None if they do not fit together."""
    shapes = {np.shape(gradient) for gradient in block.raw}
    if len(block.raw) != block.numeric.shape[1] or len(shapes) != 1:
        return None
    stacked = np.stack(block.raw, axis=-1)
    return stacked if stacked.dtype.kind in "fciub" else None


def _is_right(block: _Block, gradients: Array) -> bool:
    flat = gradients.reshape(block.numeric.shape)
    close = block.equal(flat, block.numeric, block.slack)
    return bool(block.known.any() and close[block.known].all())


def _transposed_shape(block: _Block) -> Found:
    raw, shape = _returned(block), block.part.shape
    if raw is None or raw.ndim != len(shape) + 1:
        return None
    if len(shape) == 2 and raw.shape[1::-1] == shape and _is_right(block, raw.swapaxes(0, 1)):
        return (
            "transposed",
            "it is the transpose of what it should be",
            f"return its transpose: it must have the shape of {block.part.name}, {shape}",
        )
    if 3 <= len(shape) <= 4:
        for order in permutations(range(len(shape))):
            turned = raw.transpose(*order, len(shape))
            if turned.shape[:-1] == shape and _is_right(block, turned):
                return (
                    "permuted",
                    f"its axes are in another order: transposed by {order} it is right",
                    f"did you undo the transposition of f? Transpose it by {order}",
                )
    return None


def _missing_sum(block: _Block) -> Found:
    raw, shape = _returned(block), block.part.shape
    size = math.prod(shape)
    if raw is None or raw[..., 0].size <= size or raw.ndim > 7:
        return None
    for count in range(1, raw.ndim):
        for axes in combinations(range(raw.ndim - 1), count):
            total = raw.sum(axis=axes, keepdims=True)
            if [n for n in total.shape[:-1] if n > 1] != [n for n in shape if n > 1]:
                continue
            copies = math.prod(raw.shape[a] for a in axes)
            over = f"axis {axes[0]}" if count == 1 else f"axes {', '.join(map(str, axes))}"
            keep = ", keepdims=True" if raw.ndim - 1 == len(shape) else ""
            at = axes[0] if count == 1 else axes
            for verb, value in (("sum", total), ("mean", total / copies)):
                if _is_right(block, value):
                    return (
                        "missing-sum",
                        f"{'summed' if verb == 'sum' else 'averaged'} over {over} it is right",
                        f"{block.part.name} was broadcast: give each entry all that its copies "
                        f"get, with .{verb}(axis={at}{keep})",
                    )
    return None


# Patterns over all entries.


def _stale(block: _Block) -> Found:
    """Find what was right when asked first, and is handed out unchanged ever after."""
    claim, fails = block.claim, block.fails
    if not block.raw:  # a vjp is asked column by column, a jvp row by row
        claim, fails = claim.T, fails.T
        if block.part.start or block.part.is_complex:
            return None  # the first row belongs to another input, or is half an entry
    same = claim.shape[1] > 1 and (claim == claim[:, :1]).all()
    if not same or fails[:, 0].any() or not claim.any():
        return None
    return (
        "accumulated",
        "it is right at the first call, and the same at every later one",
        "is something kept from the first call? Compute it anew at every call",
    )


def _zero(block: _Block) -> Found:
    if block.claim[block.known | block.fails].any():
        return None
    name = block.part.name
    return (
        "zero",
        "it is zero everywhere",
        f"is {name} treated as a constant, detached, or its gradient never written?",
    )


def _sign(block: _Block) -> Found:
    if not block.fits(-block.numeric):
        return None
    return (
        "sign",
        "the sign is wrong everywhere",
        "is a minus missing, or one too many, e.g. target - prediction for prediction - target?",
    )


def _factor(block: _Block) -> Found:
    big = block.significant
    if not big.any() or not np.isfinite(block.claim[big]).all():
        return None
    factor = _fit(block.claim[big], block.numeric[big], block.slack[big])
    if factor is None or not abs(factor):
        return None
    if not block.fits(factor * block.numeric, abs(factor)):
        return None
    with np.errstate(divide="ignore"):
        unsure = float((block.slack[big] / np.abs(block.numeric[big])).min()) * abs(factor)
    text, advice = _known_factor(factor, unsure, block)
    if np.count_nonzero(big) == 1:
        # One number is always some multiple of another; then what may be right must be zero.
        others = np.abs(block.claim[~big & ~block.fails]) > UNCERTAIN * np.abs(block.claim[big])
        if not text or others.any():
            return None
    if not text:
        best = int(np.argmin(block.slack[big] / np.abs(block.numeric[big])))
        claim, numeric, bar = block.claim[big][best], block.numeric[big][best], block.bar[big][best]
        left = abs(claim - factor * numeric) + abs(factor) * bar
        text = _plain(factor, float(left / abs(numeric)))
        if text in ("1", "-1"):  # it failed, so it is another number, however uncertain
            text = f"about {_plain(factor, 0.0)}"
    about = "about " if unsure > NEARLY * abs(factor) and "about" not in text else ""
    return "factor", f"every entry is {about}{text} x the numeric value", advice


def _transposed(block: _Block) -> Found:
    shape, columns = block.part.shape, block.numeric.shape[1]
    if len(shape) == 2 and shape[0] == shape[1] > 1:

        def matrix(values: Array) -> Array:
            return block.shaped(values).swapaxes(0, 1).reshape(values.shape)

        if block.fits_moved(matrix):
            return (
                "transposed",
                "it is the transpose of what it should be",
                "is a .T missing or one too many? Square matrices do not object",
            )
    rows = block.numeric.shape[0]
    out = sum(math.prod(part.shape) for part in block.outputs)
    if rows != out or rows < 2 or columns % out or len(block.outputs) > 1:
        return None

    def jacobian(values: Array) -> Array:
        return values.reshape(rows, out, -1).swapaxes(0, 1).reshape(values.shape)

    if not block.fits_moved(jacobian):
        return None
    return (
        "transposed",
        "it is made with the Jacobian where its transpose belongs",
        "multiply the upstream gradient by the transpose, e.g. A.T @ upstream for A @ x",
    )


def _conjugate(block: _Block) -> Found:
    """Find a conjugate too many or too few: of the gradient, or of the derivative in it.

    Without its conjugate the derivative leaves the gradient for upstream 1 conjugated, and minus
    that for upstream i.
    """
    odd = np.concatenate(
        [np.arange(part.size) % 2 * part.is_complex for part in block.outputs]
    ).astype(bool)
    if not (block.part.is_complex or odd.any()):
        return None

    conj = block.numeric.conj()
    for even, signs in ((conj, (-1, 1, None)), (block.numeric, (-1, 1))):
        for sign in signs:
            other = block.numeric if sign is None else sign * conj
            if not block.fits(np.where(odd, other, even)):
                continue
            return (
                "conjugate",
                "it is right but for a complex conjugate",
                "conjugate the derivative before you multiply by the upstream gradient: "
                "np.conj(derivative) * upstream",
            )
    return None


# Right numbers in wrong places.


def _permuted(block: _Block) -> Found:
    name, shape, outputs = block.part.name, block.part.shape, block.outputs

    def of_input(move: Callable[[Array], Array]) -> Callable[[Array], Array]:
        return lambda values: move(block.shaped(values)).reshape(values.shape)

    for axes, move in _swaps(shape):
        if block.fits_moved(of_input(move)):
            return (
                "permuted",
                f"axes {axes[0]} and {axes[1]} of {name} are swapped",
                "did you undo the transposition of f, or repeat it? Use its inverse",
            )
    for text, move in _moves(block.shaped(block.claim), block.shaped(block.numeric), shape):
        if block.fits_moved(of_input(move)):
            return _moved(f"{text} of {name}")
    if len(outputs) == 1 and outputs[0].shape:
        each = (*outputs[0].shape, 2) if outputs[0].is_complex else outputs[0].shape

        def of_output(move: Callable[[Array], Array]) -> Callable[[Array], Array]:
            return lambda values: move(values.T.reshape(*each, -1)).reshape(values.T.shape).T

        claim, numeric = (a.T.reshape(*each, -1) for a in (block.claim, block.numeric))
        for text, move in _moves(claim, numeric, outputs[0].shape):
            if block.fits_moved(of_output(move)):
                return _moved(f"{text} of {outputs[0].name}")
    for axis in (0, 1):
        change = _sorting(block, axis)
        if change is not None and block.fits_moved(change):
            return _moved("")
    return None


def _moved(how: str) -> Found:
    return (
        "permuted",
        "the right numbers are in the wrong places" + (f": {how}" if how else ""),
        "check where each number is written: indices, their order, and whether they start at 0",
    )


def _swaps(shape: tuple[int, ...]) -> Iterator[tuple[tuple[int, int], Callable[[Array], Array]]]:
    if len(shape) > 2:
        for a, b in combinations(range(len(shape)), 2):
            if shape[a] == shape[b] > 1:
                yield (a, b), partial(np.swapaxes, axis1=a, axis2=b)


def _moves(
    claim: Array, numeric: Array, shape: tuple[int, ...]
) -> Iterator[tuple[str, Callable[[Array], Array]]]:
    """Propose other orders of the slices along each axis of ``shape``, those with a name first."""
    for axis, length in enumerate(shape):
        if length < 2:
            continue
        turn = "its two halves swapped" if length == 2 else "reversed"
        yield f"{turn} along axis {axis}", partial(np.flip, axis=axis)
        order = _order(claim, numeric, axis) if length <= MOST_SLICES else []
        far = [-order[0] % length] if order and order[0] else []
        for k in dict.fromkeys([1, length - 1, *far]):
            signed = k if k <= length // 2 else k - length
            yield f"rolled by {signed} along axis {axis}", partial(np.roll, shift=k, axis=axis)
        if order:
            listed = f"in the order {order}" if length <= 8 else "in another order"
            text = f"{listed} along axis {axis}"
            yield text, partial(np.take, indices=order, axis=axis)


def _order(claim: Array, numeric: Array, axis: int) -> list[int]:
    """For each slice of the claim the slice of the numeric values that is nearest."""
    length = claim.shape[axis]
    ours = np.nan_to_num(np.moveaxis(claim, axis, 0).reshape(length, -1))
    theirs = np.nan_to_num(np.moveaxis(numeric, axis, 0).reshape(length, -1))
    left, order = list(range(length)), []
    for one in ours:
        distance = [float(np.abs(one - theirs[k]).sum()) for k in left]
        order.append(left.pop(int(np.argmin(distance))))
    return order


def _sorting(block: _Block, axis: int) -> Callable[[Array], Array] | None:
    """Propose the order in which each gradient (axis 0) has the numeric values of its own."""
    if not block.known.all() or not np.isfinite(block.claim).all() or block.fails.shape[axis] < 2:
        return None
    if (block.slack > UNCERTAIN * np.abs(block.numeric).max()).any():
        return None  # at a kink almost any order would do
    # Complex numbers have no order; the sum of their parts, unequally weighted, tells them apart.
    claim, numeric = (a.real + 0.7310585786300049 * a.imag for a in (block.claim, block.numeric))
    places, values = claim.argsort(axis, kind="stable"), numeric.argsort(axis, kind="stable")
    source = np.empty_like(places)
    np.put_along_axis(source, places, values, axis)
    return lambda array: np.take_along_axis(array, source, axis)


# Patterns of the difference.


def _regulariser(block: _Block) -> Found:
    usable = block.known[:, 0] & (block.x != 0)
    if block.numeric.shape[1] > 1 or np.unique(np.abs(block.x[usable])).size < 2:
        return None
    difference, x = (block.claim - block.numeric)[usable, 0], block.x[usable]
    if not np.isfinite(difference).all():
        return None
    slack, bar = block.slack[usable, 0], block.bar[usable, 0]
    c = _fit(difference, x, np.fmax(bar, 1e-3 * slack))
    if c is None or abs(c.imag) > NEARLY * abs(c):
        return None
    c = float(c.real)
    expected = block.numeric + c * block.x[:, None]
    if not block.equal(block.claim, expected, block.slack)[block.known].all():
        return None
    if not block.accounts_for(expected, block.bar):
        return None
    best = int(np.argmax(np.abs(x)))
    certain = float((np.abs(difference - c * x) + bar)[best] / np.abs(x[best]))
    name, size = block.part.name, _plain(abs(c), certain)
    if c < 0:
        advice = f"is the gradient of a penalty on {name} missing or too small?"
    else:
        advice = f"is the gradient of a penalty on {name} doubled, or not in f?"
    return "regulariser", f"{size} times {name} is {'missing' if c < 0 else 'too much'}", advice


def _row_or_column(block: _Block) -> Found:
    """Find wrong entries that fill one slice of a matrix or a larger array."""
    shape = block.part.shape
    if len(shape) < 2 or np.count_nonzero(block.wrong) < 2:
        return None
    wrong = block.wrong.reshape(shape)
    for axis, where in enumerate(np.nonzero(wrong)):
        index = int(where[0])
        line = wrong.take(index, axis)
        if shape[axis] < 2 or (where != index).any() or 2 * np.count_nonzero(line) < line.size:
            continue
        lies = _slice_name(block.part, axis, index)
        if not block.shaped(block.claim).take(index, axis).any():
            return (
                "row-or-column",
                f"only {lies} is zero, of {shape[axis]}",
                f"does a loop or a slice leave {lies} out?",
            )
        return (
            "row-or-column",
            f"only {lies} is wrong, of {shape[axis]}",
            f"what is special about {lies}? Look at how indices and edges are handled",
        )
    return None


def _slice_name(part: Part, axis: int, index: int) -> str:
    if len(part.shape) == 2:
        return f"{('row', 'column')[axis]} {index} of {part.name}"
    slices = [":"] * len(part.shape)
    slices[axis] = str(index)
    return f"{part.name}[{', '.join(slices)}]"


def _single_entries(block: _Block) -> Found:
    wrong = np.flatnonzero(block.wrong)
    if not len(wrong) or len(wrong) > FEW or 3 * len(wrong) > block.wrong.size:
        return None
    marked = block.wrong.reshape(block.part.shape)
    for axis, length in enumerate(marked.shape):
        if 2 < length < block.wrong.size and np.unique(np.nonzero(marked)[axis]).size == length:
            return None  # one in every row, such as the label's: a pattern, but not this one
    names = [
        block.part.name + index_text(np.unravel_index(int(i), block.part.shape)) for i in wrong
    ]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    verb = "is" if len(names) == 1 else "are"
    zero = not block.claim[wrong].any()
    return (
        "single-entries",
        f"only {listed} {verb} {'zero' if zero else 'wrong'}, of {block.wrong.size} entries",
        "does a loop end one too early, or a mask or condition go wrong there?"
        if zero
        else f"what is special about {listed}? An edge, a repeated index, a branch, a clip?",
    )


def _mask(block: _Block) -> Found:
    right = block.significant & block.equal(block.claim, block.numeric, block.slack) & ~block.fails
    if block.claim[block.fails].any() or not right.any():
        return None
    count, total = np.count_nonzero(right), np.count_nonzero(right | block.fails)
    sentence = f"it is right on {count} of the {total} entries that are not zero, and 0 on the rest"
    rows, columns = np.nonzero(right)
    if len(block.outputs) == 1 and (len(block.part.shape) == 1 == len(block.outputs[0].shape)):
        each = 2 if block.outputs[0].is_complex else 1
        if (rows == columns // each).all() and len(rows) == len(block.fails) > 1:
            return (
                "mask",
                f"{sentence}: only the diagonal of the Jacobian is there",
                "each entry acts on the other outputs too: add up what comes back from all of them",
            )
    return (
        "mask",
        sentence,
        "which entries does a mask, a condition or a sum leave out? Look at the ones that are 0",
    )


def _noisy(block: _Block) -> Found:
    """Find errors that are small everywhere and show no trend, or are those of rounding."""
    claim, numeric = block.claim[block.fails], block.numeric[block.fails]
    if not np.isfinite(claim).all():
        return None
    off = np.abs(claim - numeric)
    scale = np.abs(numeric).max(initial=0.0)
    if (off > NEARLY * np.abs(numeric)).any():
        return None
    text = f"it scatters around the numeric value, by up to {_rough(off / np.abs(numeric), 1.0)}"
    for bits, name in ((11, "float16"), (8, "bfloat16")):
        if (claim == _rounded(claim, bits)).all() and block.fits(_rounded(block.numeric, bits)):
            return (
                "noisy",
                f"{text}, as if it were rounded to {name}",
                f"is something kept in {name}? Compute in float64 while you check",
            )
    if not scale or np.iscomplexobj(claim) or not _without_trend(block):
        return None
    return (
        "noisy",
        f"{text}, without a pattern",
        "is it itself computed with a tiny step, in low precision, or with random numbers?",
    )


def _without_trend(block: _Block) -> bool:
    """Tell whether relative errors jump up and down, in whatever order they are looked at."""
    rows, columns = np.nonzero(block.fails)
    numeric = block.numeric[block.fails]
    error = block.claim[block.fails] / numeric - 1
    if error.size < ENOUGH or not ((error > 0).any() and (error < 0).any()):
        return False
    for keys in ((rows,), (rows, columns), (block.x[rows],), (numeric,), (np.abs(numeric),)):
        along = error[np.lexsort(keys)]
        successive = np.mean(np.diff(along) ** 2)
        if successive < NO_TREND * np.var(along):
            return False
    # Noise does not repeat itself, a formula does.
    quarter, three_quarters = np.quantile(error, [0.25, 0.75])
    usual = 2 * (three_quarters - quarter) / error.size
    return bool(np.mean(np.diff(np.sort(error)) < usual / 10) < 1 / 3)


def _rounded(values: Array, bits: int) -> Array:
    """Round to so many significant bits."""
    if np.iscomplexobj(values):
        return _rounded(values.real, bits) + 1j * _rounded(values.imag, bits)
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits))


_UNUSABLE = (_transposed_shape, _missing_sum)
_PATTERNS = (
    _stale,
    _zero,
    _sign,
    _factor,
    _transposed,
    _conjugate,
    _permuted,
    _regulariser,
    _row_or_column,
    _single_entries,
    _mask,
    _noisy,
)


# Numbers.


def _fit(claim: Array, numeric: Array, slack: Array) -> Any:
    """Fit the c of claim = c numeric by least squares, each entry weighted by its certainty."""
    weight = 1 / np.maximum(slack, np.finfo(float).tiny)
    ours, theirs = claim * (weight / weight.max(initial=0)), numeric * (weight / weight.max())
    size = np.abs(theirs).max(initial=0.0)
    if not size:
        return None
    ours, theirs = ours / size, theirs / size
    factor = (np.conj(theirs) * ours).sum() / (np.abs(theirs) ** 2).sum()
    return factor if np.isfinite(factor) else None


def _known_factor(factor: Any, unsure: float, block: _Block) -> tuple[str, str]:
    """Return how a factor that means something is written, or nothing; and what to try."""
    for value, text, advice in _meanings(block.parts):
        if unsure > NEARLY * abs(factor) / 10 and value not in (2, 1 / 2):
            break  # among so many numbers one is always near
        for sign, minus in ((1, ""), (-1, "-")):
            if abs(factor - sign * value) <= unsure:
                return minus + text, advice + (" And is the sign right?" if minus else "")
    whole = round(abs(factor)) if abs(factor) >= 1 else round(1 / abs(factor))
    value = whole if abs(factor) >= 1 else 1 / whole
    if 1 < whole <= MOST_ROWS and abs(abs(factor.real) - value) <= min(unsure, value / whole / 10):
        minus = "-" if factor.real < 0 else ""
        if abs(factor) > 1:
            return f"{minus}{whole}", f"is f a mean over {whole} rows, or divided by {whole}?"
        return f"{minus}1/{whole}", f"is it divided by {whole} once too often?"
    return "", "which constant is left out, applied twice, or written with too few digits?"


def _meanings(parts: Sequence[Part]) -> Iterator[tuple[complex, str, str]]:
    """Yield factors that mean something: value, text, advice; the most common first."""
    lengths = _lengths(parts)
    note = f" Or a mean? 2 is the {lengths[2]}." if 2 in lengths else ""
    yield 2, "2", f"is something counted twice, or a 1/2 in f forgotten?{note}"
    yield 1 / 2, "1/2", f"is the 2 of a square forgotten?{note}"
    yield 1j, "i", "is there an i too many, or the conjugate of one?"
    for (m, is_m), (n, is_n) in permutations(lengths.items(), 2):
        if math.gcd(m, n) < min(m, n):
            yield m / n, f"{m}/{n}", f"is it divided by {n} ({is_n}) instead of {m} ({is_m})?"
    for n, where in lengths.items():
        rows = "rows" if where.startswith("length of axis 0 of") else "entries"
        is_n = f"{n} is the {where}."
        yield n, f"{n}", f"is f a mean over {n} {rows}? {is_n}"
        yield (
            1 / n,
            f"1/{n}",
            f"is it divided by {n} once too often, or averaged for summed? {is_n}",
        )
        yield (
            n / (n - 1),
            f"{n}/{n - 1}",
            f"does f divide by {n}, and the gradient by {n - 1}? {is_n}",
        )
        yield (
            (n - 1) / n,
            f"{n - 1}/{n}",
            f"does f divide by {n - 1}, and the gradient by {n}? {is_n}",
        )
        yield math.sqrt(n), f"sqrt({n})", f"is a division by sqrt({n}) forgotten? {is_n}"
        yield 1 / math.sqrt(n), f"1/sqrt({n})", f"is it divided by sqrt({n}) once more? {is_n}"
    for base in (2, 10):
        log = f"is a logarithm to base {base} mixed up with the natural one?"
        yield math.log(base), f"ln({base})", log
        yield 1 / math.log(base), f"1/ln({base})", log
    for upper, lower in ((2, 3), (3, 2)):
        text = f"{upper}/{lower}"
        yield upper / lower, text, "does the derivative of a power bring down another exponent?"
    yield 2 * math.pi, "2 pi", "is an angle taken for a number of turns, or the other way round?"
    yield 0.5 / math.pi, "1/(2 pi)", "is an inner derivative of 2 pi forgotten?"
    degrees = "are degrees and radians mixed?"
    yield math.pi / 180, "pi/180", degrees
    yield 180 / math.pi, "180/pi", degrees


def _lengths(parts: Sequence[Part]) -> dict[int, str]:
    """Say what each number greater than 1 is: a length of an axis (first axes first), or a size."""
    found: dict[int, str] = {}
    for axis in range(max(len(part.shape) for part in parts)):
        for part in parts:
            if axis < len(part.shape):
                of = "length of" if len(part.shape) == 1 else f"length of axis {axis} of"
                found.setdefault(part.shape[axis], f"{of} {part.name}")
    for part in parts:
        found.setdefault(math.prod(part.shape), f"number of entries of {part.name}")
    return {n: where for n, where in found.items() if n > 1}


def _plain(number: Any, unsure: float) -> str:
    """Write a number with DIGITS digits, or as few as are certain, or as tell it from 1."""
    number = complex(number)
    if abs(number.imag) > max(unsure, 1e-12 * abs(number)):
        imaginary = _plain(abs(number.imag), unsure)
        return f"({_plain(number.real, unsure)} {'+' if number.imag > 0 else '-'} {imaginary}i)"
    size = abs(number.real)
    if size <= unsure:
        return "0"
    certain = math.floor(-math.log10(max(unsure / size, 1e-16)))
    wanted = DIGITS
    if 0 < abs(size - 1) < 0.1:
        wanted = max(wanted, 2 - math.floor(math.log10(abs(size - 1))))
    return f"{number.real:.{max(1, min(certain, wanted, 12))}g}"


def _rough(errors: Array, scale: float) -> str:
    """Write the largest error, relative to a scale, with one digit."""
    return f"{float(np.abs(errors).max(initial=0.0)) / scale:.0e}".replace("e-0", "e-")
