"""A row in another form: its right claim does not fail there, and a doubled one does not pass.

A form says the same of f and of its slopes in another way. In exact units, and with the entries in
another order, nothing is rounded otherwise. Few bits and a penalty may hide some of f.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gradcheck_ref import check_gradient, check_vjp

from .row import PRECISIONS, Row, each_part, in_precision, numbers, values_of

# What is true of a row.


def is_floating(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "fc"


def inputs_of(row: Row) -> tuple[Any, ...]:
    """Return the inputs of a row as arrays."""
    inputs = row.at if isinstance(row.at, tuple) else (row.at,)
    return tuple(np.asarray(numbers(x)) for x in inputs)


def point_of(inputs: tuple[Any, ...]) -> Any:
    """Return inputs as a row has them: a single one stands alone."""
    return inputs if len(inputs) > 1 else inputs[0]


def is_plain(row: Row) -> bool:
    """Whether a row has the gradient of a number by one real array of float64."""
    inputs = inputs_of(row)
    return row.check is check_gradient and len(inputs) == 1 and inputs[0].dtype == np.float64


def is_scalar(row: Row) -> bool:
    """Whether f returns one real number."""
    value = row.f(*inputs_of(row))
    return not isinstance(value, tuple) and np.ndim(value) == 0 and not np.iscomplexobj(value)


def with_claims(row: Row, change: Callable[..., Any], **changes: Any) -> Row:
    """Return a row with all claims changed, each of them as a function."""

    def changed(claim):
        return change(claim if callable(claim) else lambda *x: numbers(claim))

    def all_of(claims: Mapping[str, Any]):
        return {name: changed(claim) for name, claim in claims.items()}

    claims = {"right": changed(row.right), "also": all_of(row.also), "wrong": all_of(row.wrong)}
    return replace(row, **claims, **changes)


def split_given(row: Row, given: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Split what a claim gets: a vector first, if it is a product, and the inputs."""
    first = 0 if row.check is check_gradient else 1
    return given[:first], given[first:]


# The forms.


def in_units(c: float, d: float) -> Callable[[Row], Row]:
    """Return x -> f(c x) / d at the point x / c: powers of two round nothing."""

    def change(row):
        values = values_of(row)

        def claim(of):
            def scaled(*given):
                vector, inputs = split_given(row, given)
                value = at_multiple(c, inputs, lambda *x: of(*vector, *x))
                return each_part(lambda part: part * (c / d), value)

            return scaled

        def f(*x):
            return each_part(lambda y: y / d, at_multiple(c, x, values))

        at = tuple(x / c if is_floating(x) else x for x in inputs_of(row))
        return with_claims(row, claim, f=f, at=point_of(at), inside="float64")

    return change


def at_multiple(c: float, inputs: tuple[Any, ...], function: Callable[..., Any]) -> Any:
    """Call a function at c x; what it writes to its inputs, which is a bug, reaches x."""
    multiples = [np.asarray(x * c) if is_floating(x) else x for x in inputs]
    before = [np.copy(x) for x in multiples]
    value = function(*multiples)
    for x, now, was in zip(inputs, multiples, before, strict=True):
        if not np.array_equal(now, was, equal_nan=True):
            x[...] = now / c
    return value


def beside_a_penalty(row: Row) -> Row:
    """Add a smooth part that nothing rounds: 0.1 mean(x * x) of each input."""

    def claim(of):
        def both(*given):
            vector, inputs = split_given(row, given)
            upstream = vector[0] if vector else 1.0
            own = [upstream * 0.2 * x / x.size if is_floating(x) else None for x in inputs]
            of_f = of(*given)
            parts = of_f if isinstance(of_f, tuple | list) else [of_f]
            sums = [None if one is None else one + p for one, p in zip(parts, own, strict=True)]
            return point_of(tuple(sums))

        return both

    values = values_of(row)

    def f(*x):
        return float(values(*x)) + sum(0.1 * np.mean(y * y) for y in x if is_floating(y))

    return with_claims(row, claim, f=f, inside="float64")


def with_fewer_evaluations(row: Row) -> Row:
    """Let the evaluations run out."""
    most = 2 * sum(np.size(x) for x in inputs_of(row)) + 40
    return replace(row, options=dict(row.options) | {"max_evaluations": most})


def rearranged(row: Row, into: Callable[[Any], Any], back: Callable[..., Any]) -> Row:
    """Give the one input in another arrangement: as other arrays."""
    (at,) = inputs_of(row)
    return with_claims(
        row,
        lambda of: lambda *given: into(np.asarray(of(back(*given)))),
        f=lambda *given: row.f(back(*given)),
        at=into(at),
    )


def permuted(row: Row) -> Row:
    """Give the entries another order."""
    shape = inputs_of(row)[0].shape
    order = np.random.default_rng(0).permutation(int(np.prod(shape)))
    undo = np.argsort(order)
    return rearranged(
        row, lambda x: x.ravel()[order].reshape(shape), lambda x: x.ravel()[undo].reshape(shape)
    )


def split(row: Row) -> Row:
    """Give the entries as two inputs."""
    (at,) = inputs_of(row)
    return rearranged(
        row,
        lambda x: (x.ravel()[: at.size // 2], x.ravel()[at.size // 2 :]),
        lambda a, b: np.concatenate([a, b]).reshape(at.shape),
    )


def through_check_vjp(row: Row) -> Row:
    """Ask for the gradient as a vjp."""
    return with_claims(row, lambda of: lambda u, x: u * of(x), check=check_vjp)


# The forms in which no number is rounded otherwise, so that the verdict is the same.
EXACT = {
    "x 2^-17": in_units(2.0**17, 1.0),
    "x and f 2^17": in_units(2.0**-17, 2.0**-17),
    "f 2^17": in_units(1.0, 2.0**-17),
}
FORMS: dict[str, Callable[[Row], Row]] = EXACT | {
    "float32": lambda row: in_precision(row, "float32"),
    "bfloat16": lambda row: in_precision(row, "bfloat16"),
    "a penalty": beside_a_penalty,
    "fewer evaluations": with_fewer_evaluations,
    "permuted": permuted,
    "split": split,
    "check_vjp": through_check_vjp,
}


def forms_of(row: Row) -> Iterator[str]:
    """Yield the names of the forms that a row is tried in."""
    for form in FORMS if is_plain(row) else ():
        rounds_again = form in PRECISIONS and row.inside != "float64"
        if not rounds_again and form not in row.not_as.split(", "):
            yield form


def is_zero(row: Row) -> bool:
    """Whether the right gradient of a plain row is zero, so that a doubled one is right, too."""
    return not np.any(row.right(*inputs_of(row)) if callable(row.right) else numbers(row.right))
