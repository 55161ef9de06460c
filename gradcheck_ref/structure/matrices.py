"""Matrices that are no NumPy arrays: the sparse ones of SciPy and others, and linear operators.

They are known by what they can do. No library is imported for them.
"""

from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array


def is_sparse(value: Any) -> bool:
    """Whether a value is a sparse matrix or array, which can be written out."""
    kind = type(value)
    return hasattr(kind, "toarray") and hasattr(kind, "nnz") and hasattr(value, "shape")


def is_operator(value: Any) -> bool:
    """Whether a value is a linear operator: a matrix known only by its products."""
    kind = type(value)
    return hasattr(kind, "rmatvec") and hasattr(kind, "matvec") and hasattr(value, "shape")


def of_rows(matrix: Any, *, own: bool) -> Any:
    """Return a sparse matrix in a form whose rows can be taken, and a copy if ``own``.

    Other arrays of SciPy with one axis are written out.
    """
    if is_operator(matrix):
        return matrix
    if len(matrix.shape) != 2 or not hasattr(matrix, "tocsr"):
        return np.array(matrix.toarray())
    return matrix.tocsr(copy=own)


def transposed_times(matrix: Any, vectors: Array) -> Array:
    """Return ``matrix.T @ vectors`` as an array.

    If each vector is 1 at one place and 0 elsewhere, rows are taken instead: 0 times infinity would
    be NaN.
    """
    places = None if is_operator(matrix) else _places(vectors)
    if places is None:
        return np.asarray(matrix.T @ vectors)
    rows = matrix[places]
    return np.asarray(rows.toarray() if is_sparse(rows) else rows).T


def _places(vectors: Array) -> Array | None:
    """Return where each column of the vectors is 1, if it is 0 everywhere else; else None."""
    units = (np.count_nonzero(vectors, axis=0) == 1) & (vectors == 1).any(axis=0)
    return np.argmax(vectors == 1, axis=0) if vectors.size and units.all() else None
