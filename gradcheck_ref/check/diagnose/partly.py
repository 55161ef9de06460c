"""Gradients that are wrong in some places, and right in all others: where the mistake is."""

import math

import numpy as np

from gradcheck_ref.arguments import Array, index_text
from gradcheck_ref.check.diagnose.block import Block, Guess
from gradcheck_ref.check.mistakes.factors import BY_CHANCE, NEARLY, meaning, plain
from gradcheck_ref.check.mistakes.gradient import Words

# At most three wrong entries are named one by one, if they are at most a third of all.
NAMED_ONE_BY_ONE = 3


def box(name: str, entries: Array) -> str:
    """Name entries of an array that form a box, such as ``W[2, 4:8, :]``; empty if they do not."""
    if not entries.ndim or not entries.any():
        return ""
    places, ranges = np.nonzero(entries), list[str]()
    for length, place in zip(entries.shape, places, strict=True):
        first, last = int(place.min()), int(place.max())
        several = ":" if last - first + 1 == length else f"{first}:{last + 1}"
        ranges.append(str(first) if first == last else several)
    if math.prod(int(np.ptp(place)) + 1 for place in places) > len(places[0]):
        return ""
    row, *others = ranges
    if others == [":"] and row.isdigit():
        return f"row {row} of {name}"
    if row == ":" and len(others) == 1 and others[0].isdigit():
        return f"column {others[0]} of {name}"
    return f"{name}[{', '.join(ranges)}]"


def place(block: Block) -> Guess:
    """Find wrong entries in one slice or box of an input, or only one, two or three of many."""
    inside, shape = block.inside, block.part.shape
    count = int(np.count_nonzero(inside))
    if not shape or inside.all():
        return None
    lies, of = _slice(block, inside, count)
    names = [lies]
    kind = "row-or-column"
    if not lies and count <= NAMED_ONE_BY_ONE:
        names, of = [block.name + index_text(at) for at in np.argwhere(inside).tolist()], ""
        kind = "single-entries" if 3 * count <= block.entries else "some-entries"
        if not _are_few(block, inside, kind):
            return None
    elif not lies:
        return None
    claim, listed = block.claim_inside, _listed(names)
    advice = f"what is special about {listed}? Look at indices, edges and branches"
    if not claim.any():
        advice = f"does a loop, a slice, a mask or a condition leave {listed} out?"
    elif not (block.region or block.claim[block.fails].any()):
        advice = f"it is right for some outputs, and 0 for others: is {listed} used several times, "
        advice += "and its gradient assigned, not added? Use np.add.at, or +="
    are, how = "is" if len(names) == 1 else "are", "wrong" if claim.any() else "zero"
    only = "only " if block.others_pass else ""
    said = f"{only}{listed} {are} {how}, of {of or f'{block.entries} entries'}{_there(block)}"
    if block.region:
        said = f"{listed} {are} {how}, and all else is right {block.region.said}"
    return kind, Words(said, advice)


def _slice(block: Block, inside: Array, count: int) -> tuple[str, str]:
    """Name the slice or box that wrong entries fill, and say how many slices there are.

    Half of a slice is enough, because some of its entries may be right by chance, such as zeros.
    """
    shape = inside.shape
    for axis, index in enumerate(() if block.region else np.nonzero(inside)):
        slices = np.zeros(shape, bool)
        np.moveaxis(slices, axis, 0)[index[0]] = True
        fills = count > 1 and block.entries <= 2 * count * shape[axis]
        if len(shape) > 1 and shape[axis] > 1 and np.ptp(index) == 0 and fills:
            return box(block.name, slices), f"{shape[axis]}"
    return (box(block.name, inside) if block.region else ""), ""


def _are_few(block: Block, inside: Array, kind: str) -> bool:
    """Whether wrong entries are few of many, or at most half of a vector, as of parameters."""
    shape, places = inside.shape, np.nonzero(inside)
    for length, at in zip(shape, places, strict=True):
        if 2 < length < block.entries and np.unique(at).size == length:
            return False  # one in every row, such as the entry of the label, is another pattern
    right = np.count_nonzero(block.significant.any(axis=1) & ~block.wrong)
    vector = len(shape) == 1 and block.all_rows and len(places[0]) <= right
    return bool(kind == "single-entries" or (vector and block.claim[block.fails].any()))


def by_a_factor(block: Block) -> Guess:
    """Find some entries with the wrong sign, or off by one factor, where all others are right."""
    there = _there(block)
    if not there or block.wrong.all():
        return None
    where = box(block.name, block.inside)
    said = f"{np.count_nonzero(block.wrong)} of {block.entries} entries are wrong{there}"
    advice = f"what is special about {where or 'them'}? Look at how they enter f"
    return "some-entries", Words(said + (f": {where}" if where else ""), advice)


def _there(block: Block) -> str:
    """Say so if all wrong entries are off by one factor with a meaning, and no other."""
    fails = block.fails
    slopes = np.abs(block.numeric[fails])
    ratios, unsure = block.claim[fails] / block.numeric[fails], block.slack[fails] / slopes
    if np.count_nonzero(fails) < 2 or not np.isfinite(ratios).all():
        return ""
    best = int(np.argmin(unsure))
    ratio, off = ratios[best], abs(ratios[best]) * float(unsure[best])
    value, text, _ = meaning(ratio, off, block.gradient().lengths)
    said = f"each is {text} x the numeric value"
    if abs(ratio + 1) <= off:
        value, said = -1.0, "each is minus the numeric value"
    elif not text:
        return ""
    fits = block.fits(np.where(fails, block.claim / value, block.claim))
    return f": {said}" if fits else ""


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
    said = f"it is wrong for {_listed(names)}, and right for the other outputs{_there(block)}"
    look = "at its rows" if block.is_whole else "at how its upstream is used"
    advice = f"what is special about {_listed(names)}? Look {look}"
    return "some-outputs", Words(said, advice)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def mask(block: Block) -> Guess:
    """Find a claim in which every entry is right or zero."""
    if (block.claim_inside if block.region else block.claim[block.fails]).any():
        return None
    right = block.significant & block.agrees & ~block.fails
    others = block.others_held * (block.others_claimed or 0)
    count, wrong = int(np.count_nonzero(right)) + others, int(np.count_nonzero(block.fails))
    if not (count or block.region):
        return None
    said = f"it is right on {count} of the {count + wrong} entries that are not zero, and 0 on the "
    said += f"rest{_of_outputs(block)}"
    if block.region:
        zeros = int(np.count_nonzero(block.inside))
        said = f"{zeros} of {block.entries} entries are 0, and some of them should not be; all "
        said += f"else is right {block.region.said}"
    advice = "which entries does a mask, a condition or a sum leave out? Look at those that are 0"
    if block.all_rows and _only_the_diagonal(block, right):
        said += ": only the diagonal of the Jacobian is present"
        advice = "each entry affects the other outputs, too: add the terms of all outputs"
    elif block.all_rows:
        said += _one_side(block) or _in_a_box(block, right)
    return "mask", Words(said, advice)


def _of_outputs(block: Block) -> str:
    """Name the outputs whose derivatives are all zero, if these are all that is wrong."""
    columns, names = np.asarray(block.fails.any(axis=0)), list[str]()
    for part in block.outputs:
        own = part.holds(block.columns)
        if columns[own].any() and not block.claim[:, own].any():
            names.append(part.name)
            columns = columns & ~own
    several = len(block.outputs) > 1 and names and not columns.any()
    return f": those of {_listed(names)}" if several else ""


def _in_a_box(block: Block, right: Array) -> str:
    """Name the box that the zeros, or the others, form; or the triangle of a matrix."""
    kept = right.any(axis=1).reshape(block.part.shape)
    shape = kept.shape
    if len(shape) > 1 and shape[-1] == shape[-2] and not block.claim[~right].any():
        for name, triangle in (("lower", np.tril), ("upper", np.triu)):
            if not (kept & ~triangle(np.ones(shape, bool))).any() and kept.sum() > max(shape):
                return f": only the {name} triangle of {block.name} is present"
    where = box(block.name, np.asarray(~kept))
    return f": {where}" if where else ""


def _only_the_diagonal(block: Block, right: Array) -> bool:
    if not block.part.shape == block.outputs[0].shape == right.shape[1:]:
        return False
    rows, columns = np.nonzero(right)
    return bool((rows == columns).all() and len(rows) == len(right) > 1)


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
        f"{np.count_nonzero(block.wrong)} of {rows} entries are wrong, {factors}"
        f"{', and none is misplaced' if block.shows_order else ''}{_one_side(block)}"
    )
    advice = "is it the derivative of another function or branch, or at another point, or is a "
    return "local-derivative", Words(sentence, f"{advice}term missing?")


def _one_side(block: Block) -> str:
    """Say so if the wrong entries of an element-wise function are those beyond a threshold."""
    x, wrong = block.x, block.wrong
    if np.iscomplexobj(x) or math.comb(len(x), np.count_nonzero(wrong)) * BY_CHANCE < 2:
        return ""  # so few may be on one side by chance
    bad, good = x[wrong], x[~wrong]
    if bad.min() > good.max():
        return f": those where {block.name} is {bad.min():.4g} or more"
    if bad.max() < good.min():
        return f": those where {block.name} is {bad.max():.4g} or less"
    return ""
