"""The vectors, computed from scratch: exact fractions, decimals of 60 digits, and nothing else.

Only the standard library is used, never NumPy and never this package, so that no mistake of the
implementation can hide in what it is judged by. From the folder above, with nothing installed:

    python -S -m generate

writes ``vectors/v1/*.json`` again, and changes nothing: the vectors are frozen. New ones are
appended to the end of a kind, so that no id ever moves (FORMAT.md, *Versioning*).
"""

from .compare import compare_vectors
from .escalate import escalate_vectors
from .layout import canonical
from .stencil import stencil_vectors
from .verdict import verdict_vectors

__all__ = ["all_files"]


def all_files() -> dict[str, str]:
    """Compute every vector file anew.

    Returns
    -------
    dict of str
        Text by file name.
    """
    kinds = [stencil_vectors(), compare_vectors(), escalate_vectors(), verdict_vectors()]
    return {f"{kind['kind']}.json": canonical(kind) for kind in kinds}
