"""All vectors, computed again, and the files of those that are not published yet."""

from .compare import compare_vectors
from .escalate import escalate_vectors
from .layout import OPEN, canonical
from .numbers import with_all_digits
from .stencil import stencil_vectors
from .verdict import verdict_vectors
from .whole import whole_vectors


@with_all_digits
def all_files() -> dict[str, str]:
    """Compute every vector, find the published ones, and write the files of the open release.

    Returns
    -------
    dict of str
        Text by file name, from the folder of the releases.
    """
    kinds = [stencil_vectors(), compare_vectors(), escalate_vectors(), verdict_vectors()]
    kinds.append(whole_vectors())
    return {f"{OPEN}/{kind['kind']}.json": canonical(kind) for kind in kinds}
