"""The unit of each coordinate: a power of two of about its size.

Along a random line each coordinate moves in its own unit. With a power of two, x plus a short step
is representable.
"""

import math
from collections.abc import Iterable

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.structure.parts import Part

# Entries with a common unit, such as weights, are near their median: of normal ones 0.5 % are below
# SMALL times it. If more than MOST_SMALL are, each entry has its own unit, and moves by its size.
SMALL, MOST_SMALL = 1e-2, 0.1

# Coordinates are computed in pieces of this size, 128 KB, that stay in the processor's cache. Also,
# the median of a sample of this size is within 1 % of that of all entries: 1 / sqrt(2**14).
PIECE = 2**14


def typical_size(x: Array) -> tuple[float, bool]:
    """Return the median size of the numbers that are not 0, and if each has its own unit."""
    size = np.abs(x[:: max(1, x.size // PIECE)])
    size = np.asarray(size[size > 0], float)
    typical = median(size) if size.size else 1.0
    return typical, bool(np.count_nonzero(size < SMALL * typical) > MOST_SMALL * size.size)


def units_of(x: Array, start: int, parts: Iterable[tuple[Part, float, bool]]) -> Array:
    """Return the units of some coordinates, the first of which has the number ``start``.

    ``parts`` has for each input its typical size, and whether each of its entries has its own unit.
    A zero moves by the typical size. If the entries of the input have a common unit, so does every
    smaller coordinate.
    """
    units = np.abs(x)
    for part, typical, own in parts:
        a, b = max(part.start - start, 0), part.start + part.size - start
        if a < len(units) and b > 0:
            least = np.where(units[a:b] == 0, typical, 0.0) if own else typical
            np.maximum(units[a:b], least, out=units[a:b])
    return powers_of_two(units)


def powers_of_two(sizes: Array) -> Array:
    """Round positive numbers down to powers of two, in place if possible."""
    if sizes.dtype != np.float64:
        return np.asarray(np.spacing(sizes) / np.finfo(sizes.dtype).eps)
    bits = sizes.view(np.uint64)
    bits &= np.uint64(0x7FF0000000000000)  # keep the exponent only; subnormals become 0
    return np.maximum(sizes, np.finfo(float).tiny, out=sizes)


def rounded_at_random(numbers: Array, spacing: float, rng: np.random.Generator) -> Array:
    """Round numbers up or down at random, in place if possible, so that the mean stays.

    The spacing is relative to their powers of two, and a power of two itself. A number is rounded
    up with a probability of a multiple of 2**-16.
    """
    if numbers.dtype != np.float64:
        spacings = powers_of_two(np.abs(numbers)) * spacing
        return np.asarray(np.floor(numbers / spacings + rng.random(numbers.size)) * spacings)
    lost = min(round(math.log2(spacing)), 0) + 52  # so many of the last bits
    if lost > 16:
        # Random numbers in these bits carry into the others as often as they should.
        random = np.frombuffer(rng.bytes(2 * numbers.size), np.uint16)
        bits = numbers.view(np.uint64)
        bits += random.astype(np.uint64) << np.uint64(lost - 16)
        bits &= np.uint64(2**64 - 2**lost)
    return numbers


def shortened(powers: Array) -> Array:
    """Keep two bytes of each number: zeros and powers of two have only sign and exponent."""
    if powers.dtype != np.float64:
        return powers
    return (powers.view(np.uint64) >> 48).astype(np.uint16)


def lengthened(short: Array) -> Array:
    """Return the numbers that were shortened, as a new array."""
    if short.dtype != np.uint16:
        return short.copy()
    bits = short.astype(np.uint64)
    bits <<= 48
    return bits.view(np.float64)


def output_weights(moved: Array) -> Array:
    """Return the weight of each output, given how far each one moves.

    No output counts more than a typical one, that is, the median of those that move.
    """
    typical = median(moved[moved > 0]) if (moved > 0).any() else 1.0
    return np.asarray(typical / np.fmax(moved, typical))


def median(some: Array) -> float:
    """Return the median of a few numbers: `np.median` takes ten times as long for these."""
    ordered, half = np.sort(some), some.size // 2
    return float(ordered[half] + ordered[-1 - half]) / 2
