"""A row in another form: its right claim does not fail there, and a doubled one does not pass.

A form says the same of f and of its slopes in another way. In exact units, and with the entries in
another order, nothing is rounded otherwise. Few bits and a penalty may hide some of f.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gradcheck_ref import check_gradient, check_vjp

from .row import Row, in_precision


def is_plain(row: Row) -> bool:
    """Whether a row has a number of one real array of float64."""
    at = np.asarray(row.at) if not isinstance(row.at, tuple) else None
    return row.check is check_gradient and at is not None and at.dtype == np.float64


def gradient_of(row: Row) -> Callable[[np.ndarray], np.ndarray]:
    """Return the right claim as a function of x; as numbers it is that of the point alone."""
    if callable(row.right):
        return row.right
    return lambda x: np.asarray(row.right, float)


def in_units(c: float, d: float) -> Callable[[Row], Row]:
    """Return x -> f(c x) / d at the point x / c: powers of two round nothing."""

    def change(row):
        g = gradient_of(row)
        return replace(
            row,
            f=lambda x: row.f(c * x) / d,
            at=np.asarray(row.at, float) / c,
            right=lambda x: g(c * x) * (c / d),
        )

    return change


def beside_a_penalty(row: Row) -> Row:
    """Add a smooth part that nothing rounds."""
    g = gradient_of(row)
    return replace(
        row,
        f=lambda x: row.f(x) + 0.1 * np.mean(x * x),
        right=lambda x: g(x) + 0.2 * x / x.size,
    )


def with_fewer_evaluations(row: Row) -> Row:
    """Let the evaluations run out."""
    most = 2 * np.size(row.at) + 40
    return replace(row, options=dict(row.options) | {"max_evaluations": most})


def permuted(row: Row) -> Row:
    """Give the entries another order."""
    at, g = np.asarray(row.at, float), gradient_of(row)
    order = np.random.default_rng(0).permutation(at.size)
    back = np.argsort(order)

    def undo(x):
        return x.ravel()[back].reshape(at.shape)

    def do(x):
        return np.asarray(x).ravel()[order].reshape(at.shape)

    return replace(row, f=lambda x: row.f(undo(x)), at=do(at), right=lambda x: do(g(undo(x))))


def split(row: Row) -> Row:
    """Give the entries as two inputs."""
    at, g = np.asarray(row.at, float), gradient_of(row)
    half = at.size // 2

    def joined(a, b):
        return np.concatenate([a, b]).reshape(at.shape)

    def parts(x):
        flat = np.asarray(x).ravel()
        return flat[:half], flat[half:]

    return replace(
        row,
        f=lambda a, b: row.f(joined(a, b)),
        at=parts(at),
        right=lambda a, b: parts(g(joined(a, b))),
    )


def through_check_vjp(row: Row) -> Row:
    """Ask for the gradient as a vjp."""
    g = gradient_of(row)
    return replace(row, right=lambda u, x: u * g(x), check=check_vjp)


# The forms in which no number is rounded otherwise, so that the verdict is the same.
EXACT = ("x 2^-17", "x 2^17, f 2^-17", "f 2^17")

FORMS: dict[str, Callable[[Row], Row]] = {
    "x 2^-17": in_units(2.0**-17, 1.0),
    "x 2^17, f 2^-17": in_units(2.0**17, 2.0**-17),
    "f 2^17": in_units(1.0, 2.0**17),
    "float32": lambda row: in_precision(row, "float32"),
    "bfloat16": lambda row: in_precision(row, "bfloat16"),
    "a penalty": beside_a_penalty,
    "fewer evaluations": with_fewer_evaluations,
    "permuted": permuted,
    "split": split,
    "check_vjp": through_check_vjp,
}
