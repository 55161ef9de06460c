"""Matrices that are no arrays: what is one, its rows, and products with its transpose."""

import numpy as np
import pytest
from sparse_stand_in import Operator, Sparse

from gradcheck_ref.structure.matrices import is_operator, is_sparse, of_rows, transposed_times

M = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    ("value", "sparse", "operator"),
    [
        (M, False, False),
        (np.ma.MaskedArray(M), False, False),
        (M.tolist(), False, False),
        ({"nnz": 3}, False, False),
        (Sparse, False, False),
        (Sparse(M), True, False),
        (Operator(M), False, True),
    ],
    ids=["array", "masked", "list", "mapping", "class", "sparse", "operator"],
)
def test_a_matrix_is_known_by_what_it_can_do(value, sparse, operator):
    assert (is_sparse(value), is_operator(value)) == (sparse, operator)


def test_rows_are_a_copy_on_request():
    given = Sparse(M.copy())
    own, shared = of_rows(given, own=True), of_rows(given, own=False)
    given.matrix[:] = 7
    np.testing.assert_array_equal(own.toarray(), M)
    assert shared.toarray()[0, 0] == 7


@pytest.mark.parametrize("form", [np.asarray, Sparse, Operator], ids=["dense", "sparse", "op"])
@pytest.mark.parametrize(
    "vectors",
    [np.eye(3), np.eye(3)[:, [2, 0, 2]], np.ones((3, 2)), -np.eye(3), np.zeros((3, 0))],
    ids=["unit", "some", "mixed", "negative", "none"],
)
def test_products_with_the_transpose(form, vectors):
    np.testing.assert_array_equal(transposed_times(form(M), vectors), M.T @ vectors)


@pytest.mark.parametrize("form", [np.asarray, Sparse], ids=["dense", "sparse"])
def test_a_row_is_taken_without_the_infinities_of_others(form):
    endless = M.copy()
    endless[0, 0] = np.inf
    np.testing.assert_array_equal(transposed_times(form(endless), np.eye(3)), endless.T)
