"""The seed of each random draw: each has a name of its own, so that no two share their numbers."""

from zlib import crc32


def seed_of(seed: int, name: str, *numbers: int) -> tuple[int, ...]:
    """Return the seed for what is drawn under this name, for ``numpy.random.default_rng``.

    Parameters
    ----------
    seed : int
        The one that the caller gave.
    name : str
        Such as "lines" or "pilots".
    numbers : int
        Which of several. The signs and the lengths of one line add another one.
    """
    # NumPy takes a 0 at the end for nothing: without the 1, (7, 0) and (7,) are one seed.
    return seed, crc32(name.encode()), *numbers, 1
