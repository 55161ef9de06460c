"""The functions of the zoo in fewer bits, and the points at which they are checked.

The right gradient of a rounded function is that of the function before it is rounded: somebody
meant a smooth function, and computes it in float16. A case in fewer bits is a case again.
"""

import functools
import itertools
from dataclasses import replace

import numpy as np
from scaled import as_tuple, each_part, is_floating

from gradcheck_ref import nearby
from gradcheck_ref.zoo import Case

POINTS = 20
SEEDS = 200  # a point near the edge of a domain has few neighbours inside it

# Lengths of steps, in sizes of x, from a rounding of a float32 to far away.
LENGTHS = 2.0 ** np.arange(-24, 6)
RANDOM_LINES = 8

# A claim that ignores the loss is wrong to the eye if the loss has this share of the slopes.
SEEN = 0.05


# Roundings.


def to_bfloat16(y):
    """Round to 8 bits, ties to even. The exponents of bfloat16 are those of float32."""
    bits = np.asarray(y, np.float32).view(np.uint32)
    last_kept = (bits >> 16) & 1
    return ((bits + 0x7FFF + last_kept) & 0xFFFF0000).view(np.float32)


# Operations of a layer in short formats, which float32 holds.
SHORT = {
    "float32": np.float32,
    "float16": lambda a: np.asarray(a).astype(np.float16).astype(np.float32),
    "bfloat16": lambda a: np.float32(to_bfloat16(a)),
}


def tanh_layer(cast):
    """Return tanh(x @ w) with every operation rounded, and its vjp in float32."""

    def f(x, w):
        return cast(np.tanh(cast(cast(x) @ cast(w))))

    def vjp(u, x, w):
        g = u * (1 - f(x, w) ** 2)
        return g @ w.T, x.T @ g

    return f, vjp


ROUNDINGS = {
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": to_bfloat16,
}


@np.errstate(over="ignore")
def rounded(y, rounding):
    """Round a real or complex array, and return it in the precision that it had."""
    y = np.asarray(y)
    if np.iscomplexobj(y):
        return rounded(y.real, rounding) + 1j * rounded(y.imag, rounding)
    return np.asarray(rounding(y)).astype(np.float64)[()]


def with_rounded_values(case, rounding):
    """Return the case with every output of f rounded. The right gradient is still that of f."""

    @functools.wraps(case.f)
    def f(*x):
        return each_part(lambda y: rounded(y, rounding), case.f(*x))

    return replace(case, f=f)


def with_float32_inputs(case):
    """Return the case at a point in float32, with gradients in float32."""

    def shorter(x):
        kinds = {"f": np.float32, "c": np.complex64}
        return np.asarray(x).astype(kinds[x.dtype.kind]) if is_floating(x) else x

    def vjp(u, *x):
        return each_part(shorter, case.vjp(u, *x))

    return replace(case, inputs=tuple(map(shorter, case.inputs)), vjp=vjp)


def penalty(*inputs):
    """Return 0.1 mean(x * x) of every real input, a smooth part that nothing rounds."""
    return sum(0.1 * np.mean(x * x) for x in inputs if is_floating(x))


def penalty_vjp(u, *inputs):
    grads = tuple(u * 0.2 * x / x.size if is_floating(x) else None for x in inputs)
    return grads if len(inputs) > 1 else grads[0]


def with_penalty(case):
    """Return a scalar case with the penalty added to f, and its gradient to the right one."""

    @functools.wraps(case.f)
    def f(*x):
        return float(case.f(*x)) + penalty(*x)

    def vjp(u, *x):
        both = zip(as_tuple(case.vjp(u, *x)), as_tuple(penalty_vjp(u, *x)), strict=True)
        grads = tuple(None if ours is None else ours + of_penalty for ours, of_penalty in both)
        return grads if len(x) > 1 else grads[0]

    return replace(case, f=f, vjp=vjp)


# The cases of the zoo have at most 48 entries. In many entries a rounding hides more of each.


def wide_cases():
    """Yield a regression with 20 and with 200 parameters, a loss that people compute in 16 bits."""
    for n in (20, 200):
        rng = np.random.default_rng(n)
        x, y = rng.normal(size=n), rng.normal(size=n)
        yield regression(f"regression_of_{n}", x, y)


def regression(name, x, y):
    def f(x):
        return np.mean((np.tanh(x) - y) ** 2)

    def vjp(u, x):
        return u * 2 * (np.tanh(x) - y) * (1 - np.tanh(x) ** 2) / x.size

    return Case(name, f, (x,), vjp, frozenset({"network", "smooth"}))


def is_finite(value):
    return all(np.isfinite(part).all() for part in as_tuple(value) if part is not None)


def upstream_of(case, seed=0):
    """Draw weights for the outputs of a case: a number, an array or a tuple."""
    rng = np.random.default_rng(seed)
    return each_part(lambda y: rng.uniform(0.5, 1.5, np.shape(y))[()], case.f(*case.inputs))


def right_gradient(case):
    """Return the right gradients of the floating inputs, for random weights of the outputs."""
    grads = as_tuple(case.vjp(upstream_of(case), *map(np.copy, case.inputs)))
    return [np.asarray(grad) for grad in grads if grad is not None]


@np.errstate(all="ignore")
def inside(case):
    """Whether f and its right gradient are finite at the point of a case."""
    return is_finite(case.f(*case.inputs)) and is_finite(tuple(right_gradient(case)))


def points_near(case):
    """Yield the case at points around its own at which it is defined."""
    several = len(case.inputs) > 1
    moved = (nearby(case.inputs if several else case.inputs[0], seed=k) for k in range(SEEDS))
    cases = (replace(case, inputs=x if several else (x,)) for x in moved)
    return itertools.islice(filter(inside, cases), POINTS)


@np.errstate(all="ignore")
def moves(case):
    """Whether any step moves f, along an axis or a random line, up to 32 sizes of x away."""
    here = as_tuple(case.f(*case.inputs))
    return any(
        np.isfinite(there).all() and not np.array_equal(there, y)
        for x in steps(case)
        for y, there in zip(here, as_tuple(case.f(*x)), strict=True)
    )


def steps(case):
    """Yield points on axes and on random lines, one input at a time, on both sides of x."""
    rng = np.random.default_rng(0)
    for k, x in enumerate(case.inputs):
        if not is_floating(x):
            continue
        size = np.abs(x).max(initial=0.0) or 1.0
        axes = np.eye(x.size).reshape(-1, *x.shape)
        directions = np.concatenate([axes, rng.normal(size=(RANDOM_LINES, *x.shape))])
        if np.iscomplexobj(x):
            directions = np.concatenate([directions, 1j * directions])
        for direction, length, side in itertools.product(directions, LENGTHS, (1, -1)):
            away = np.asarray(x + side * length * size * direction).astype(x.dtype)
            yield *case.inputs[:k], away, *case.inputs[k + 1 :]


# Claims.


def zeros(case):
    """Return the claim that f is flat."""

    def vjp(u, *inputs):
        grads = tuple(np.zeros_like(x) if is_floating(x) else None for x in inputs)
        return grads if len(inputs) > 1 else grads[0]

    return vjp


def has_slope(case):
    return any(grad.any() for grad in right_gradient(case))


def loss_is_seen(case):
    """Whether the loss has a share in a slope that is among the largest, by its effect on f."""
    inputs = [x for x in case.inputs if is_floating(x)]
    of_loss = right_gradient(case)
    of_penalty = [grad for grad in as_tuple(penalty_vjp(1.0, *case.inputs)) if grad is not None]
    for x, loss, other in zip(inputs, of_loss, of_penalty, strict=True):
        slopes = np.abs(loss + other)
        by_slope = np.abs(loss) > SEEN * slopes.max(initial=0.0)
        by_effect = np.abs(x * loss) > SEEN * np.abs(x * slopes).max(initial=0.0)
        if (by_slope & by_effect).any():
            return True
    return False
