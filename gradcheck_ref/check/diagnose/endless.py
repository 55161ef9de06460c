"""Claims that are NaN or infinite, where no slope of f is."""

import numpy as np

from gradcheck_ref.check.diagnose.block import Block
from gradcheck_ref.check.diagnose.partly import box
from gradcheck_ref.check.mistakes.gradient import Words
from gradcheck_ref.check.words import words


def no_number(block: Block) -> Words:
    """Count the claims that are NaN or infinite, of all entries or of those that are known."""
    claims = block.claim if block.claims is None else block.claims
    of, nan = claims.size, int(np.count_nonzero(np.isnan(claims)))
    infinite = of - nan - int(np.count_nonzero(np.isfinite(claims)))
    measured = "" if block.all_columns and block.claims is not None else "measured "
    kinds = [f"{word} in {n}" for word, n in (("NaN", nan), ("infinite", infinite)) if n]
    which = f"{' and '.join(kinds)} of {of} {measured}entries"
    if every := {nan: "NaN", infinite: "infinite"}.get(of):
        which = f"{every} in all {of} {measured}entries" if of > 1 else every
    branch = words("a branch of np.where that is not taken", "a branch that is not taken")
    advice = "look for a division by 0, the logarithm or the root of 0, an overflow, or "
    advice += f"{branch}: 0 * inf is NaN, too"
    where = _where(block)
    questions = []
    if nan and where:
        questions.append("Or was this memory never written, such as the last block of a kernel?")
    if infinite:
        questions.append("If the slope of f is infinite there, is its sign right?")
    if questions:
        advice += ". " + " ".join(questions)
    return Words(f"the claim is {which}{where}", advice)


def _where(block: Block) -> str:
    """Name the slice or box of several entries that these are, and say if all else is right."""
    if block.full is None:
        return ""
    bad = ~np.isfinite(block.full)
    entries = np.reshape(bad.any(axis=1), block.part.shape)
    several = 1 < np.count_nonzero(entries) < entries.size
    where = several and (bad == bad[:, :1]).all() and box(block.name, entries)
    said = f", all of {where}" if where else ""
    if block.region and not (block.region.entries & ~entries).any():
        said += f", and all else is right {block.region.said}"
    return said
