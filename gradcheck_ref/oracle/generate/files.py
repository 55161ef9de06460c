"""All vectors, computed again."""

from .compare import compare_vectors
from .escalate import escalate_vectors
from .layout import RELEASE, canonical
from .numbers import with_all_digits
from .stencil import stencil_vectors
from .verdict import verdict_vectors
from .whole import whole_vectors


@with_all_digits
def all_files() -> dict[str, str]:
    """Compute every vector.

    Returns
    -------
    dict of str
        Text by file name, from the folder of the releases.
    """
    kinds = [stencil_vectors(), compare_vectors(), escalate_vectors(), verdict_vectors()]
    kinds.append(whole_vectors())
    return {f"{RELEASE}/{kind['kind']}.json": canonical(kind) for kind in kinds}
