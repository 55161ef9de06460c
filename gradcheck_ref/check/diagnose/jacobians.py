"""Patterns of the derivatives of several outputs: lengths that do not matter, and other frames."""

import math

import numpy as np

from gradcheck_ref.check.diagnose.block import Block, Guess
from gradcheck_ref.check.mistakes.gradient import Words


def along_the_input(block: Block) -> Guess:
    """Find an error along the input: another multiple of it for each output."""
    x, columns = block.x, block.claim.shape[1]
    if columns < 2 or not block.all_rows or np.iscomplexobj(block.claim) or (x == x[:1]).all():
        return None
    off = np.where(block.known, block.claim - block.numeric, 0.0)
    each = x @ off / (x @ x)
    if not block.fits(block.claim - np.outer(x, each), free=columns):
        return None
    name = block.name
    sentence = f"for each output it is the numeric value plus a multiple of {name}"
    advice = f"does f divide {name} by its length? Then differentiate that, too"
    return "not-projected", Words(f"{sentence}, so it is wrong along {name} only", advice)


def another_frame(block: Block) -> Guess:
    """Find two or three outputs that are turned, as in the frame of a body or of the world."""
    columns = block.claim.shape[1]
    if not block.all_rows or columns not in (2, 3) or np.iscomplexobj(block.claim):
        return None
    rows = (block.known & np.isfinite(block.claim)).all(axis=1)
    left, _, right = np.linalg.svd(block.claim[rows].T @ block.numeric[rows])
    turn = left @ right  # of all turns the one that fits best
    free = columns * (columns - 1) // 2
    if np.linalg.det(turn) < 0 or not block.fits(block.claim @ turn, free=free):
        return None
    angle = math.acos(np.clip((np.trace(turn) - columns + 2) / 2, -1, 1))
    sentence = f"it is right when the outputs are turned by {math.degrees(angle):.0f} degrees"
    advice = "is it in another frame, that of a body or of the world? Then a rotation is missing"
    return "another-frame", Words(sentence, f"{advice}, or there is one too many")
