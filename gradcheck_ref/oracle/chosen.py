"""Choose vectors by id, group, kind or flag; on the command line or in a file."""

from collections.abc import Iterable

from gradcheck_ref.oracle.vectors import Vector


class UnknownNameError(Exception):
    """No vector has this name."""


def chosen(vectors: Iterable[Vector], names: Iterable[str]) -> list[Vector]:
    """Choose the vectors that have one of these names.

    Parameters
    ----------
    vectors : iterable of Vector
        To choose from.
    names : iterable of str
        Ids, groups, kinds and flags, in any mixture.

    Returns
    -------
    list of Vector
        In the order of the vectors.

    Raises
    ------
    UnknownNameError
        If no vector has one of the names.

    Examples
    --------
    >>> from gradcheck_ref.oracle.vectors import load_vectors
    >>> [v.id for v in chosen(load_vectors("stencil"), ["stencil-001", "Overflow"])]
    ['stencil-001', 'stencil-113', 'stencil-192', 'stencil-454', 'stencil-521']
    """
    wanted, vectors = set(names), list(vectors)
    met = {name for v in vectors for name in names_of(v)}
    if unknown := sorted(wanted - met):
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise UnknownNameError(
            f"no vector, group, kind or flag is called {', '.join(unknown[:3])}{more}"
        )
    return [v for v in vectors if wanted.intersection(names_of(v))]


def names_of(vector: Vector) -> tuple[str, ...]:
    """List all names of a vector."""
    return (vector.id, vector.group, vector.kind, *vector.flags)


def read_names(text: str) -> list[str]:
    """Read names from a text, one per line; a # begins a comment.

    Examples
    --------
    >>> read_names("compare-507  # as our allclose has it" + chr(10) + "compare/tvm")
    ['compare-507', 'compare/tvm']
    """
    names = (line.partition("#")[0].strip() for line in text.splitlines())
    return [name for name in names if name]
