"""Gradients that are wrong in some places, and right in all others: where the mistake is."""

import math
from collections.abc import Iterator

import numpy as np

from gradcheck_ref.arguments import Array, index_text
from gradcheck_ref.check.diagnose.block import Block, Guess
from gradcheck_ref.check.mistakes.factors import BY_CHANCE, NEARLY, meaning, plain

# At most three wrong entries are named one by one, if they are at most a third of all.
NAMED_ONE_BY_ONE = 3

# Factors that differ by no more than this belong to one mistake in f, or in a formula.
ALIKE = 2.0


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


def place(block: Block) -> Iterator[Guess]:
    """Find wrong entries in one slice or box of an input, or only one, two or three of many."""
    inside, kind = block.inside, "row-or-column"
    if not inside.ndim or inside.all():
        return
    names, of = _slices(block, inside)
    ways = math.comb(block.entries, np.count_nonzero(inside))
    if names and not (block.region or block.others_pass) and ways * BY_CHANCE < sum(inside.shape):
        return  # so few may fill a slice by chance, beside entries of which nothing is known
    if not names:
        names = [block.name + index_text(at) for at in np.argwhere(inside).tolist()]
        kind = "single-entries" if 3 * len(names) <= block.entries else "some-entries"
        if len(names) > NAMED_ONE_BY_ONE or not _are_few(block, inside, kind):
            return
    claim, listed = block.claim_inside, _listed(names)
    advice = f"what is special about {listed}? Look at indices, edges and branches"
    if kind == "row-or-column" and len(names) > 1:
        advice += ". In g[ids] += u, the last of equal ids wins: use np.add.at"
    if not claim.any():
        advice = f"does a loop, a slice, a mask or a condition leave {listed} out?"
    elif not (block.region or block.claim[block.fails].any()):
        advice = f"it is right for some outputs, and 0 for others: is {listed} used several times, "
        advice += "and its gradient assigned, not added? Use np.add.at, or +="
    said = f"{listed} {'is' if len(names) == 1 else 'are'} {'wrong' if claim.any() else 'zero'}"
    if block.region:
        said += f", and all else is right {block.region.said}"
    else:
        said = f"{'only ' * block.others_pass}{said}, of {of}{_there(block)}"
    yield Guess(kind, said, advice)


def _slices(block: Block, inside: Array) -> tuple[list[str], str]:
    """Name the slices or the box that wrong entries fill, and count all slices, or else entries.

    Half of a slice is enough, because some of its entries may be right by chance, such as zeros.
    """
    shape, count, all_entries = inside.shape, np.count_nonzero(inside), f"{block.entries} entries"
    if block.region and (where := box(block.name, inside)):
        return [where], all_entries
    found = [(len(np.unique(one)), axis) for axis, one in enumerate(np.nonzero(inside))]
    for several, axis in sorted(found) if len(shape) > 1 else ():
        fills = count > 1 and several * block.entries <= 2 * count * shape[axis]
        few = several < shape[axis] if several == 1 else 2 * several <= shape[axis]
        # Several slices of zeros are a mask.
        if fills and few and several <= (NAMED_ONE_BY_ONE if block.claim_inside.any() else 1):
            which = np.indices(shape)[axis]
            names = [box(block.name, which == index) for index in np.unique(which[inside])]
            return names, all_entries if block.region else f"{shape[axis]}"
    return [], all_entries


def _are_few(block: Block, inside: Array, kind: str) -> bool:
    """Whether wrong entries are few of many, or at most half of a vector, as of parameters."""
    shape, places = inside.shape, np.nonzero(inside)
    for length, at in zip(shape, places, strict=True):
        if 2 < length < block.entries and np.unique(at).size == length:
            return False  # one in every row, such as the entry of the label, is another pattern
    right = np.count_nonzero(block.significant.any(axis=1) & ~block.wrong)
    vector = len(shape) == 1 and block.all_rows and len(places[0]) <= right
    return bool(kind == "single-entries" or (vector and block.claim[block.fails].any()))


def by_a_factor(block: Block) -> Iterator[Guess]:
    """Find some entries that are off by one factor, or number, where all others are right."""
    fails, some = block.fails, block.wrong
    if (there := _there(block)) and (block.significant & ~fails).any():
        where = box(block.name, block.inside)
        some = fails if some.all() else some
        said = f"{np.count_nonzero(some)} of {some.size} entries are wrong{there}"
        advice = f"what is special about {where or 'them'}? Look at how they enter f"
        yield Guess("some-entries", said + (f": {where}" if where else ""), advice)


def _there(block: Block) -> str:
    """Say so if all wrong entries are off by one factor with a meaning, or by one number."""
    fails, claim = block.fails, block.claim
    ratios, unsure = claim[fails] / block.numeric[fails], block.slack[fails] / block.numeric[fails]
    if ratios.size < 2:
        return ""
    if np.isfinite(ratios).all():
        best = int(np.argmin(np.abs(unsure)))
        ratio, off = ratios[best], float(np.abs(ratios[best] * unsure[best]))
        value, text, _ = meaning(ratio, off, block.gradient().lengths)
        said = f"{text} x"
        if abs(ratio + 1) <= off:
            value, text, said = -1.0, "-1", "minus"
        if text and block.fits(np.where(fails, claim / value, claim)):
            return f": each is {said} the numeric value"
    more = (claim - block.numeric)[fails].mean()
    if np.iscomplexobj(claim) or not block.fits(np.where(fails, claim - more, claim), 1):
        return ""
    number = plain(abs(more), float(block.slack[fails].min()))
    return f": each is the numeric value {'plus' if more > 0 else 'minus'} {number}"


def some_outputs(block: Block) -> Iterator[Guess]:
    """Find outputs with wrong derivatives only, if those of the other outputs are right."""
    wrong, nonzero = block.fails.any(axis=0), block.significant.any(axis=0)
    if not block.all_rows or 2 * np.count_nonzero(wrong) > np.count_nonzero(nonzero | wrong):
        return
    names, columns = list[str](), block.columns[wrong]
    for part in block.outputs:
        own = (columns[part.holds(columns)] - part.start).tolist()
        names += [part.name] if 0 < len(own) == part.size else map(part.entry, own)
    if len(names) > NAMED_ONE_BY_ONE:
        return
    said = f"it is wrong for {_listed(names)}, and right for the other outputs{_there(block)}"
    look = "at its rows" if block.is_whole else "at how its upstream is used"
    advice = f"what is special about {_listed(names)}? Look {look}"
    yield Guess("some-outputs", said, advice)


def _silent_outputs(block: Block) -> str:
    """Name the outputs whose derivatives are all zero, if these are all that is wrong."""
    names, others = list[str](), np.asarray(block.fails.any(axis=0))
    for part in block.outputs:
        own = part.holds(block.columns)
        if others[own].any() and not block.claim[:, own].any():
            names.append(part.name)
            others = others & ~own
    several = len(block.outputs) > 1 and names and not others.any()
    return f": those of {_listed(names)}" if several else ""


def one_input(block: Block) -> Iterator[Guess]:
    """Find the only wrong input of several: a number, or one that is off smoothly everywhere."""
    said, ask = f"only {block.name} is wrong, of {len(block.beside) + 1} inputs", _or_is_f(block)
    if not ask:
        return
    kind = "single-entries"
    if block.entries > 1:
        kind, ratios = "local-derivative", block.claim[block.fails] / block.numeric[block.fails]
        if np.iscomplexobj(ratios) or not (np.abs(ratios - 1) > NEARLY).any():
            return
        if not 0 < ratios.max() <= ALIKE * ratios.min():
            return
        said += f", at every entry, {_by_factors(ratios)}"
    yield Guess(kind, said, f"is a term of f with {block.name} missing, or counted twice?{ask}")


def _or_is_f(block: Block) -> str:
    """Ask if f itself is wrong, where only this input of several is, at every entry."""
    right = [b.significant.any() and not (b.fails | b.endless).any() for b in block.beside]
    if not (right and all(right) and block.all_rows and block.wrong.all()):
        return ""
    return (
        " Or is f itself wrong, and this the derivative of the right function? Compare a value of "
        "f with a known one"
    )


def _by_factors(ratios: Array) -> str:
    low, high = (plain(float(ratio), 0.01 * abs(ratio)) for ratio in (ratios.min(), ratios.max()))
    return f"all by a factor {low}" if low == high else f"by factors from {low} to {high}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def mask(block: Block) -> Iterator[Guess]:
    """Find a claim in which every entry is right or zero."""
    right = block.significant & block.agrees & ~block.fails
    count = np.count_nonzero(right) + block.others_held * (block.others_claimed or 0)
    claimed = block.claim_inside if block.region else block.claim[block.fails]
    if claimed.any() or not (block.region or count):
        return
    if block.region:
        zeros = int(np.count_nonzero(block.inside))
        said = f"{zeros} of {block.entries} entries are 0, and some of them should not be; all "
        said += f"else is right {block.region.said}"
    else:
        of = count + np.count_nonzero(block.fails)
        said = f"it is right on {count} of the {of} entries that are not zero, and 0 on the rest"
        said += _silent_outputs(block)
    advice = "which entries does a mask, a condition or a sum leave out? Look at those that are 0"
    if block.all_rows and _only_the_diagonal(block, right):
        said += ": only the diagonal of the Jacobian is present"
        advice = "each entry affects the other outputs, too: add the terms of all outputs"
    elif block.all_rows:
        said += _one_side(block) or _in_a_box(block, np.asarray(right.any(axis=1)))
    yield Guess("mask", said, advice)


def _in_a_box(block: Block, right: Array) -> str:
    """Name the box that the zeros form, or the triangle of a matrix that the others are in."""
    kept = right.reshape(block.part.shape)
    is_square = kept.ndim > 1 and kept.shape[-2] == kept.shape[-1]
    for which, triangle in (("lower", np.tril), ("upper", np.triu)) if is_square else ():
        if (kept == triangle(kept)).all() and kept.sum() > max(kept.shape):
            return f": only the {which} triangle of {block.name} is present"
    where = box(block.name, ~kept)
    return f": {where}" if where else ""


def _only_the_diagonal(block: Block, right: Array) -> bool:
    if not block.part.shape == block.outputs[0].shape == right.shape[1:]:
        return False
    rows, columns = np.nonzero(right)
    return bool((rows == columns).all() and len(rows) == len(right) > 1)


def local_derivative(block: Block) -> Iterator[Guess]:
    """Find wrong slopes of an element-wise function, each in the right place."""
    big, (rows, columns) = block.significant, block.claim.shape
    if rows != columns or not block.all_rows or (big & ~np.eye(rows, dtype=bool)).any():
        return
    if np.count_nonzero(block.fails) < 2 or not big[block.fails].all():
        return
    ratios = block.claim[block.fails] / block.numeric[block.fails]
    # A zero comes from a mask, not from a wrong formula.
    if np.iscomplexobj(ratios) or not np.median(np.abs(ratios - 1)) > NEARLY or not ratios.all():
        return
    sentence = f"{np.count_nonzero(block.wrong)} of {rows} entries are wrong, {_by_factors(ratios)}"
    sentence += f"{', and none is misplaced' if block.shows_order else ''}{_one_side(block)}"
    advice = "is it the derivative of another function or branch, or at another point, or is a "
    advice += f"term missing?{_or_is_f(block)}"
    yield Guess("local-derivative", sentence, advice)


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
