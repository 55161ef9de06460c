"""Mistakes in the numbers: a factor, a term, a conjugate; each number is in its own place."""

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from gradcheck_ref.check.mistakes.factors import NEARLY, meaning, plain
from gradcheck_ref.check.mistakes.gradient import Array, Fitted, Gradient, Mend, Words

# A gradient that is off by this should be corrected, and few tolerances hide it.
SLIGHT = "a relative error of 1e-3"


def sign(wrong: Gradient) -> Iterator[Mend]:
    """Change the sign."""
    advice = "is a minus missing, or one too many, as in target - prediction instead of "
    advice += "prediction - target?"
    yield Mend(-wrong.values, Words("the sign is wrong", advice))


def factor_with_a_meaning(wrong: Gradient) -> Iterator[Fitted]:
    """Divide by 2, 1/2, a length, or another factor with a meaning."""
    yield _divided(wrong, named=True)


def factor(wrong: Gradient) -> Iterator[Fitted]:
    """Divide by any factor."""
    yield _divided(wrong, named=False)


def _divided(wrong: Gradient, named: bool) -> Fitted:
    def words(c: Any, unsure: float) -> tuple[Any, Words | None]:
        found, unsure = 1 / c, unsure / abs(c) ** 2
        value, text, advice = meaning(found, unsure, wrong.lengths)
        if bool(text) != named:
            return None, None
        about = "about " if unsure > NEARLY * abs(found) else ""
        number = text or plain(found, unsure)
        said = Words(f"every entry is {about}{number} x the numeric value", advice)
        return (1 / value if named else None), said

    return Fitted(np.zeros_like(wrong.values), wrong.values, words)


def conjugate(wrong: Gradient) -> Iterator[Mend]:
    """Take a conjugate: of the gradient, or of the derivative in it.

    If the derivative is not conjugated, the gradient for upstream 1 is the conjugate of the right
    one, and the gradient for upstream i is minus the conjugate.
    """
    advice = "is a conjugate missing, or one too many? A vjp multiplies by the conjugate of the "
    advice += "derivative, np.conj(derivative) * upstream; a jvp does not: derivative * tangent"
    if wrong.is_jacobian:
        advice = "is a conjugate missing, or one too many? The derivative of a complex output is "
        advice += "not conjugated. For a real output, the row is its gradient, dL/dx + 1j * dL/dy"
    said = Words("it is right except for a complex conjugate", advice)
    if not (np.iscomplexobj(wrong.values) or wrong.imaginary.any()):
        return
    conj = wrong.values.conj()
    for even, odd in product((conj, wrong.values), (-conj, conj, wrong.values, -wrong.values)):
        yield Mend(np.where(wrong.imaginary, odd, even), said)


def inner_factor(wrong: Gradient) -> Iterator[Mend]:
    """Divide, or multiply, each entry by a function of the input, or by another input."""
    x, name = wrong.x[..., None], wrong.name
    inner = [(x, name), (x**2, f"the square of {name}"), (np.exp(x), f"exp({name})")]
    for other, (there, _) in wrong.others.items():
        if _spreads(there.shape, wrong.shape):
            inner.append((np.broadcast_to(there, wrong.shape)[..., None], other))
        real = math.prod(wrong.outputs) == wrong.values.shape[-1]  # a complex output has two parts
        if there.size > 1 and wrong.outputs and real and _spreads(there.shape, wrong.outputs):
            inner.append((np.broadcast_to(there, wrong.outputs).reshape(-1), other))
    for factors, said in inner:
        if x.size > 1 and said not in wrong.others and (factors == factors.flat[0]).all():
            continue  # equal numbers are one factor
        usable = np.isfinite(factors) & (factors != 0)
        factors = np.where(usable, factors, 1.0)
        ways = {"times": wrong.values / factors, "divided by": wrong.values * factors}
        for how, mended in ways.items():
            advice = "is an inner derivative missing, or applied twice? By the chain "
            advice += "rule the derivative of an inner function is a factor"
            yield Mend(mended, Words(f"each entry is the numeric value {how} {said}", advice))


def _spreads(shape: tuple[int, ...], over: tuple[int, ...]) -> bool:
    """Whether an array is spread over a larger one by broadcasting."""
    alike = zip(reversed(shape), reversed(over), strict=False)
    return len(shape) <= len(over) and all(n in (1, m) for n, m in alike)


def of_another_function(wrong: Gradient) -> Iterator[Mend]:
    """Divide by 2 f, or multiply by f."""
    if wrong.of_f.size and np.isfinite(wrong.of_f).all() and wrong.of_f.all():
        advice = "does f return something else than the function that was differentiated?"
        squared = Words("it is the gradient of f squared", advice)
        yield Mend(wrong.values / (2 * wrong.of_f), squared)
        yield Mend(wrong.values * wrong.of_f, Words("it is the gradient of log f", advice))


def regulariser(wrong: Gradient) -> Iterator[Fitted]:
    """Take away a multiple of the input."""
    name, x = wrong.name, wrong.x[..., None]
    if np.unique(np.abs(x[x != 0].reshape(-1)[:1000])).size < 2:
        return

    def words(c: Any, unsure: float) -> tuple[Any, Words | None]:
        if abs(np.imag(c)) > NEARLY * abs(c):
            return None, None
        sign, how = ("minus", "missing") if np.real(c) > 0 else ("plus", "doubled")
        advice = f"is the gradient of a penalty on {name} {how}, or not that of f? If f has none, "
        advice += f"look for another term along {name}, such as that of a division by its length"
        size = plain(abs(c), unsure)
        return None, Words(f"it is the numeric value {sign} {size} times {name}", advice)

    yield Fitted(wrong.values, np.broadcast_to(x, wrong.values.shape), words)


def constant_term(wrong: Gradient) -> Iterator[Fitted]:
    """Take away a constant from each entry that is not 0, perhaps with the other sign."""
    if np.iscomplexobj(wrong.values):
        return

    def words(c: Any, unsure: float, is_negative: bool) -> tuple[Any, Words | None]:
        value, advice = "the numeric value", "is a linear term missing, or is there one too many?"
        if is_negative:
            value = "minus the numeric value,"
            advice = "is the sign of an exponent wrong, or that of one term of a quotient?"
        added = f"{'plus' if (c < 0) != is_negative else 'minus'} {plain(abs(c), unsure)}"
        return None, Words(f"each entry is {value} {added}", advice)

    there = (wrong.values != 0).astype(float)
    seen = wrong.values[there > 0][:1000]
    if not (seen != seen[:1]).any():
        return  # equal numbers are not zero, which is all that they show
    yield Fitted(wrong.values, there, lambda c, unsure: words(c, unsure, False))
    yield Fitted(-wrong.values, there, lambda c, unsure: words(c, unsure, True))


# --- from right to wrong --------------------------------------------------------------------------


def sign_lost(right: Gradient) -> Array | None:
    """Take absolute values."""
    return None if np.iscomplexobj(right.values) else np.abs(right.values)


def conjugated(right: Gradient) -> Array | None:
    """Take the conjugate of complex numbers."""
    return right.values.conj() if np.iscomplexobj(right.values) else None


def one_entry_left_out(right: Gradient) -> Array | None:
    """Set one entry to 0: among those that are not 0, the one of median size."""
    wrong, entries = right.values.copy(), np.flatnonzero(right.values)
    order = np.argsort(np.abs(right.values.reshape(-1)[entries]), kind="stable")
    wrong.reshape(-1)[entries[order[entries.size // 2 : entries.size // 2 + 1]]] = 0
    return wrong if right.values.size > 1 else None
