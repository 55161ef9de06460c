"""A notebook as a submission: the code of its cells, one after the other."""

import json

OURS = "gradcheck-ref-course"  # the tag of cells that the course wrote
MARK = "# %%"  # the line before each cell, as editors write it
MOST = 1_000_000  # characters of code


def code_of(content: bytes) -> bytes:
    """Return the code of a notebook, without the cells of the course.

    Raises
    ------
    ValueError
        If it is not a notebook, or has too much code.
    """
    try:
        cells = [cell for cell in json.loads(content)["cells"] if cell["cell_type"] == "code"]
        theirs = [c for c in cells if OURS not in c.get("metadata", {}).get("tags", [])]
        sources = ["".join(cell["source"]) for cell in theirs]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"no notebook: {type(error).__name__}") from None
    if sum(map(len, sources)) > MOST:
        raise ValueError(f"a notebook with more than {MOST:,} characters of code")
    return "".join(f"{MARK}\n{source}\n" for source in sources).encode(errors="replace")
