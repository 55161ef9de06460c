"""What SciPy's sparse matrices and linear operators can do, for tests without SciPy."""

import numpy as np


class Sparse:
    """A matrix that only its own methods write out."""

    __array_ufunc__ = None
    nnz = property(lambda self: np.count_nonzero(self.matrix))
    shape = property(lambda self: self.matrix.shape)
    dtype = property(lambda self: self.matrix.dtype)
    T = property(lambda self: Sparse(self.matrix.T))

    def __init__(self, matrix):
        self.matrix = np.asarray(matrix)

    def toarray(self):
        return self.matrix.copy()

    def tocsr(self, copy=False):
        return Sparse(self.matrix.copy()) if copy else self

    def __getitem__(self, places):
        return Sparse(self.matrix[places])

    def __matmul__(self, other):
        return self.matrix @ other


class Operator:
    """A matrix that is known by its products; it can be called, like those of SciPy."""

    __array_ufunc__ = None
    shape = property(lambda self: self._matrix.shape)
    dtype = property(lambda self: self._matrix.dtype)
    T = property(lambda self: Operator(self._matrix.T))

    def __init__(self, matrix):
        self._matrix = np.asarray(matrix)

    def matvec(self, vector):
        return self._matrix @ vector

    def rmatvec(self, vector):
        return self._matrix.T @ vector

    def __matmul__(self, other):
        return self._matrix @ other

    __call__ = __matmul__
