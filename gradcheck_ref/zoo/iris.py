"""Fisher's iris data, 150 flowers: facts, and small enough to ship."""

from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

SPECIES = ("setosa", "versicolor", "virginica")


def load_iris() -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the iris data.

    Returns
    -------
    features : ndarray of float64, shape (150, 4)
        Length and width of sepal and petal, in centimeters.
    labels : ndarray of int, shape (150,)
        Index into `SPECIES`; 50 flowers of each species, in order.

    Notes
    -----
    R. A. Fisher, "The use of multiple measurements in taxonomic problems", Annals of Eugenics 7
    (1936), 179-188. The numbers are those of Fisher's table, as in R and in scikit-learn. The
    copy in the UCI repository differs from it in two flowers (counted from 1): the 35th has
    4.9, 3.1, 1.5, 0.2 here and 0.1 as the last number there; the 38th has 4.9, 3.6, 1.4, 0.1
    here and 4.9, 3.1, 1.5, 0.1 there.

    Examples
    --------
    >>> features, labels = load_iris()
    >>> print(features.shape, features[37], SPECIES[labels[37]])
    (150, 4) [4.9 3.6 1.4 0.1] setosa
    """
    text = files(__package__).joinpath("iris.csv").read_text(encoding="utf-8")
    rows = [line.split(",") for line in text.splitlines()[1:]]
    features = np.array([row[:4] for row in rows], dtype=np.float64)
    labels = np.array([SPECIES.index(row[4]) for row in rows])
    return features, labels
