"""The vectors, computed from scratch: exact fractions, decimals of 60 digits, and nothing else.

Only the standard library is used, never NumPy and never this package, so that no mistake of the
implementation can hide in what it is judged by. From the folder above, with nothing installed:

    python -S -m generate

computes all of them again. What is published it finds as it is, or stops; what is not published
yet it writes, as the open release (``layout.py``).
"""

from .compare import compare_vectors
from .escalate import escalate_vectors
from .layout import OPEN, canonical
from .numbers import with_all_digits
from .stencil import stencil_vectors
from .verdict import verdict_vectors

__all__ = ["all_files"]


@with_all_digits
def all_files() -> dict[str, str]:
    """Compute every vector anew, and the files of those that are not published yet.

    Returns
    -------
    dict of str
        Text by file name, from the folder of the releases.
    """
    kinds = [stencil_vectors(), compare_vectors(), escalate_vectors(), verdict_vectors()]
    return {f"{OPEN}/{kind['kind']}.json": canonical(kind) for kind in kinds}
