"""Check the gradients of random NumPy programs, right ones and wrong ones.

Run it by hand: ``python tests/tools/random_programs.py --count 100``, which takes some
minutes. With ``--kind`` it draws programs of one kind, with ``--seed`` it starts at another one.

A program is a list of about six operations, drawn from the tables below. Each operation has its
derivative beside it, so that reverse mode gives the right gradient of the program. A wrong gradient
has one plausible mistake in the backward pass of one operation. The check must not fail a right
gradient, and must not pass a wrong one. Programs for which it does are listed with their seeds:
``--kind KIND --seed SEED --count 1 --reports`` shows all of what the check says of one. With
``--verdicts`` each program has a word of letters: the verdict on the right gradient, and then those
on the wrong ones (p for pass, f for fail, u for unsure).
"""

import argparse
import sys
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcheck_ref import check_gradient, check_vjp

Array = NDArray[Any]

# A wrong gradient differs by at least this share of the largest thing that an entry does to f. It
# is far above the tolerance: 1e-6 in float64, 9e-4 in float32, 1 % for what only lines have seen.
LEAST_ERROR = 1e-2

# The best entry changes f by at least this share of f, if x changes by its own size.
LEAST_EFFECT = 1e-3

# A program has so many wrong gradients at most.
MISTAKES = 3


@dataclass(frozen=True)
class Op:
    """One operation: ``f(*args)``, and ``backward(u, y, *args)``, a gradient for each of args."""

    name: str
    f: Callable[..., Array]
    backward: Callable[..., tuple[Array, ...]]
    arity: int = 1


def entrywise(name: str, f: Callable[[Array], Any], slope: Callable[..., Any]) -> Op:
    """Make an operation on each entry; its slope is a function of input and output."""
    return Op(name, f, lambda u, y, x: (u * slope(x, y),))


def vector(name: str, f: Callable[[Array], Any], backward: Callable[..., Any]) -> Op:
    """Make an operation on a whole vector, from ``backward(u, y, x)``."""
    return Op(name, lambda x: np.atleast_1d(f(x)), lambda u, y, x: (backward(u, y, x) + 0 * x,))


def binary(name: str, f: Any, by_a: Callable[..., Any], by_b: Callable[..., Any]) -> Op:
    """Make an operation on two vectors, or on a vector and one number."""

    def backward(u: Array, y: Array, a: Array, b: Array) -> tuple[Array, ...]:
        return _summed(u * by_a(a, b, y), a), _summed(u * by_b(a, b, y), b)

    return Op(name, f, backward, 2)


def _summed(gradient: Array, x: Array) -> Array:
    return gradient.sum(keepdims=True) if x.size < gradient.size else gradient


def sigmoid(x: Array) -> Any:
    """Return 1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def centred(x: Array) -> Any:
    """Return x without its mean."""
    return x - x.mean()


def softmax(x: Array) -> Any:
    """Return the softmax of a vector."""
    e = np.exp(x - x.max())
    return e / e.sum()


def normalised(x: Array) -> Any:
    """Return x with mean 0 and deviation 1."""
    return centred(x) / np.sqrt(x.var() + 1e-5)


def ranks(x: Array) -> Any:
    """Return the place of each entry in the sorted vector."""
    return np.argsort(np.argsort(x, kind="stable"))


def middle(x: Array, cut: int) -> Any:
    """Return the gradient of the mean of what is left without the ``cut`` least and largest."""
    return ((ranks(x) >= cut) & (ranks(x) < x.size - cut)) / (x.size - 2 * cut)


def piece(x: Array) -> Any:
    """Return which piece of the table an entry is on; the last one is flat and is outside."""
    at = np.searchsorted(GRID, x, side="right") - 1
    return np.where((at >= 0) & (at < GRID.size - 1), at, GRID.size - 1)


GRID = np.linspace(-4, 4, 161)
VALUES = np.sin(GRID) + 0.02 * np.random.default_rng(0).normal(size=GRID.size)
PIECES = np.append(np.diff(VALUES) / np.diff(GRID), 0.0)

# fmt: off
SMOOTH = [
    entrywise("sin", np.sin, lambda x, y: np.cos(x)),
    entrywise("cos", np.cos, lambda x, y: -np.sin(x)),
    entrywise("tan", np.tan, lambda x, y: 1 + y * y),
    entrywise("exp", np.exp, lambda x, y: y),
    entrywise("expm1", np.expm1, lambda x, y: y + 1),
    entrywise("log", np.log, lambda x, y: 1 / x),
    entrywise("log1p", np.log1p, lambda x, y: 1 / (1 + x)),
    entrywise("sqrt", np.sqrt, lambda x, y: 0.5 / y),
    entrywise("square", np.square, lambda x, y: 2 * x),
    entrywise("cube", lambda x: x**3, lambda x, y: 3 * x * x),
    entrywise("power 1.5", lambda x: x**1.5, lambda x, y: 1.5 * x**0.5),
    entrywise("reciprocal", lambda x: 1 / x, lambda x, y: -y * y),
    entrywise("tanh", np.tanh, lambda x, y: 1 - y * y),
    entrywise("arctan", np.arctan, lambda x, y: 1 / (1 + x * x)),
    entrywise("sinh", np.sinh, lambda x, y: np.cosh(x)),
    entrywise("arcsin", np.arcsin, lambda x, y: 1 / np.sqrt(1 - x * x)),
    entrywise("sigmoid", sigmoid, lambda x, y: y * (1 - y)),
    entrywise("softplus", lambda x: np.logaddexp(0, x), lambda x, y: sigmoid(x)),
    entrywise("gauss", lambda x: np.exp(-x * x), lambda x, y: -2 * x * y),
    entrywise("bump", lambda x: 1 / (1 + x * x), lambda x, y: -2 * x * y * y),
    entrywise("fast sine", lambda x: np.sin(40 * x), lambda x, y: 40 * np.cos(40 * x)),
    entrywise("shrink", lambda x: 1e-3 * x, lambda x, y: 1e-3),
    binary("add", np.add, lambda a, b, y: 1, lambda a, b, y: 1),
    binary("subtract", np.subtract, lambda a, b, y: 1, lambda a, b, y: -1),
    binary("multiply", np.multiply, lambda a, b, y: b, lambda a, b, y: a),
    binary("divide", np.divide, lambda a, b, y: 1 / b, lambda a, b, y: -y / b),
    binary("power", np.power, lambda a, b, y: b * y / a, lambda a, b, y: y * np.log(a)),
    binary("hypot", np.hypot, lambda a, b, y: a / y, lambda a, b, y: b / y),
    binary("logaddexp", np.logaddexp, lambda a, b, y: np.exp(a - y), lambda a, b, y: np.exp(b - y)),
    binary("arctan2", np.arctan2, lambda a, b, y: b / (a * a + b * b),
           lambda a, b, y: -a / (a * a + b * b)),
    vector("reverse", lambda x: x[::-1], lambda u, y, x: u[::-1]),
    vector("cumsum", np.cumsum, lambda u, y, x: np.cumsum(u[::-1])[::-1]),
    vector("diff", lambda x: np.diff(x, append=x[:1]), lambda u, y, x: np.roll(u, 1) - u),
    vector("centre", centred, lambda u, y, x: centred(u)),
    vector("softmax", softmax, lambda u, y, x: y * (u - u @ y)),
    vector("log softmax", lambda x: np.log(softmax(x)), lambda u, y, x: u - np.exp(y) * u.sum()),
    vector("layer norm", normalised,
           lambda u, y, x: (centred(u) - y * np.mean(u * y)) / np.sqrt(x.var() + 1e-5)),
    vector("unit length", lambda x: x / np.sqrt(x @ x),
           lambda u, y, x: (u - y * (u @ y)) / np.sqrt(x @ x)),
    vector("sum", np.sum, lambda u, y, x: u),
    vector("variance", np.var, lambda u, y, x: u * 2 * centred(x) / x.size),
    vector("deviation", np.std, lambda u, y, x: u * centred(x) / (x.size * y)),
    vector("norm", lambda x: np.sqrt(x @ x), lambda u, y, x: u * x / y),
    vector("product", np.prod, lambda u, y, x: u * y / x),
    vector("log sum exp", np.logaddexp.reduce, lambda u, y, x: u * np.exp(x - y)),
]
KINKED = [
    entrywise("abs", np.abs, lambda x, y: np.sign(x)),
    entrywise("relu", lambda x: np.maximum(x, 0), lambda x, y: x > 0),
    entrywise("clip", lambda x: np.clip(x, -1, 1), lambda x, y: np.abs(x) < 1),
    entrywise("Huber", lambda x: np.where(np.abs(x) < 1, x * x / 2, np.abs(x) - 0.5),
              lambda x, y: np.clip(x, -1, 1)),
    entrywise("soft threshold", lambda x: x - np.clip(x, -0.3, 0.3), lambda x, y: np.abs(x) > 0.3),
    entrywise("triangle", lambda x: np.abs(x % 2 - 1), lambda x, y: np.sign(x % 2 - 1)),
    binary("maximum", np.maximum, lambda a, b, y: a >= b, lambda a, b, y: a < b),
    binary("minimum", np.minimum, lambda a, b, y: a <= b, lambda a, b, y: a > b),
    vector("largest", np.max, lambda u, y, x: u * (np.arange(x.size) == np.argmax(x))),
    vector("sort", np.sort, lambda u, y, x: u[ranks(x)]),
    vector("median", np.median, lambda u, y, x: u * middle(x, (x.size - 1) // 2)),
    vector("trimmed mean", lambda x: np.sort(x)[x.size // 4 : x.size - x.size // 4].mean(),
           lambda u, y, x: u * middle(x, x.size // 4)),
]
TABLES = [
    entrywise("table", lambda x: np.interp(x.astype(float), GRID, VALUES),
              lambda x, y: PIECES[piece(x)]),
    entrywise("nearest", lambda x: np.rint(32 * x) / 32, lambda x, y: 0),
    entrywise("step", lambda x: (x > 0) * 1.0, lambda x, y: 0),
    entrywise("floor", np.floor, lambda x, y: 0),
]
ROUGH = [
    entrywise("fast wave", lambda x: np.sin(1e6 * x), lambda x, y: 1e6 * np.cos(1e6 * x)),
    entrywise("faint wave", lambda x: x + 1e-9 * np.sin(1e8 * x),
              lambda x, y: 1 + 0.1 * np.cos(1e8 * x)),
    entrywise("corner", lambda x: np.hypot(x, 1e-3), lambda x, y: x / y),
    entrywise("sharp corner", lambda x: np.hypot(x, 1e-6), lambda x, y: x / y),
    entrywise("sharp bump", lambda x: 1 / (1 + (1e4 * x) ** 2), lambda x, y: -2e8 * x * y * y),
    entrywise("steep step", lambda x: np.tanh(1e5 * x), lambda x, y: 1e5 * (1 - y * y)),
]
# fmt: on
LOWER = entrywise("float32", lambda x: x.astype(np.float32), lambda x, y: 1)
RAISE = entrywise("float64", lambda x: x.astype(float), lambda x, y: 1)

# The operations of each kind.
BOTH = SMOOTH + KINKED
KINDS = {
    "smooth": SMOOTH,
    **dict.fromkeys(["kinks", "near kinks", "ties"], SMOOTH + 3 * KINKED),
    "rough": BOTH + 4 * ROUGH,
    **dict.fromkeys(["scales", "weights", "pedestal", "float32", "float32 scales"], BOTH),
    "float32 inside": BOTH + 12 * [LOWER] + 4 * [RAISE],
    **dict.fromkeys(["noise", "digits", "outputs", "many"], BOTH),
    "tables": BOTH + 8 * TABLES,
    "many ties": SMOOTH + 6 * KINKED,
    "many scales": SMOOTH,
}


@dataclass(frozen=True)
class Program:
    """A program, a point, and where its gradient is taken.

    Attributes
    ----------
    x, units : ndarray
        The point, and what the program divides it by at its beginning.
    rounded_near : ndarray
        The gradient is that at ``x + rounded_near``. At a tie it is thus one of the subgradients.
    weights : ndarray
        The value is their product with the last result.
    steps : tuple
        ``(op, numbers of its arguments)``; number 0 is ``x / units``.
    end : callable
        What becomes of the value, e.g. rounding to six digits.
    """

    x: Array
    units: Array
    rounded_near: Array
    weights: Array
    steps: tuple[tuple[Op, tuple[int, ...]], ...] = ()
    end: Callable[[Any, Array], Any] = lambda value, x: value

    def results(self, x: Array, *, exact: bool = False) -> list[Array]:
        """Return the results of all steps, without a rounding to float32 if exact."""
        values = [x / self.units]
        for op, args in self.steps:
            same = exact and op in (LOWER, RAISE)
            values.append(values[args[0]] if same else op.f(*(values[k] for k in args)))
        return values

    def outputs(self, x: Array) -> Array:
        """Return the last result."""
        return self.results(x)[-1]

    def __call__(self, x: Array) -> Any:
        """Return the value."""
        last = self.outputs(x)
        return self.end(np.sum(last * self.weights.astype(last.dtype)), x)

    def gradient(self, upstream: Array, slip: tuple[str, int] = ("", 0), lowered: float = 1) -> Any:
        """Return the gradient, with a mistake in one step; float32 has the slope ``lowered``."""
        values = self.results(self.x.astype(np.longdouble) + self.rounded_near, exact=True)
        gradients = [np.zeros_like(value) for value in values]
        gradients[-1] = np.asarray(upstream, np.longdouble)
        for k in range(len(self.steps), 0, -1):
            op, args = self.steps[k - 1]
            given = gradients[k], values[k], *(values[i] for i in args)
            parts = spoilt(slip[0], op, *given) if k == slip[1] else op.backward(*given)
            for i, part in zip(args, parts, strict=True):
                gradients[i] = gradients[i] + part * (lowered if op is LOWER else 1)
        return (gradients[0] / self.units).astype(self.x.dtype)


SPOILT: dict[str, Callable[[Array], Any]] = {
    "sign": lambda g: -g,
    "doubled": lambda g: 2 * g,
    "half": lambda g: g / 2,
    "5 % more": lambda g: 1.05 * g,
    "times n": lambda g: g * g.size,
    "rolled": lambda g: np.roll(g, 1),
    "half masked": lambda g: np.where(np.arange(g.size) < g.size // 2, 0, g),
}
SLIPS = [*SPOILT, "value for input", "missing term", "no chain rule", "swapped"]


def spoilt(slip: str, op: Op, u: Array, y: Array, *args: Array) -> tuple[Array, ...]:
    """Return what the backward pass of an operation gives with a mistake."""
    right = op.backward(u, y, *args)
    if slip == "value for input" and y.shape == args[0].shape:
        return op.backward(u, y, y, *args[1:])
    if slip == "missing term":
        return (0 * right[0], *right[1:])
    if slip == "no chain rule" and u.shape == right[0].shape:
        return (u, *right[1:])
    if slip == "swapped" and len(right) == 2 and right[0].shape == right[1].shape:
        return right[1], right[0]
    return tuple(SPOILT.get(slip, np.asarray)(part) for part in right)


def drawn(kind: str, seed: int) -> Program:
    """Draw a program of a kind, a point, and an end that the kind has."""
    rng = np.random.default_rng([zlib.crc32(kind.encode()), seed])
    while True:
        n = int(rng.integers(33, 400) if "many" in kind else rng.integers(1, 13))
        z, parts = _point(kind, n, rng), 10.0 ** rng.uniform(-6, 6, 4)
        units = parts[np.arange(n) * 4 // n] if "scales" in kind else np.ones(n)
        dtype = np.float32 if kind in ("float32", "float32 scales") else np.float64
        near = 1e-12 * units * rng.normal(size=n) * ("ties" in kind)
        program = Program((z * units).astype(dtype), units.astype(dtype), near, np.ones(1))
        program = _grown(program, KINDS[kind], rng)
        weights = rng.normal(size=program.outputs(program.x).size)
        if kind == "weights":
            weights *= 10.0 ** rng.uniform(-6, 6, weights.size)
        program = replace(program, weights=weights)
        value = abs(float(program(program.x)))
        effect = np.abs(program.gradient(weights) * z * units)
        if (
            program.steps
            and np.isfinite(effect).all()
            and effect.max() > LEAST_EFFECT * max(value, 1e-3)
        ):
            return replace(program, end=_end(kind, value, rng))


def _point(kind: str, n: int, rng: np.random.Generator) -> Any:
    """Draw a point of size 1, which has ties or is close to kinks if the kind says so."""
    z = rng.normal(size=n) if rng.random() < 0.7 else rng.uniform(0.2, 2, n)
    if kind in ("near kinks", "rough"):
        at = rng.choice([-1, 0, 0, 0.3, 1], n)
        near = at + rng.normal(size=n) / 10 ** rng.uniform(1, 12, n)
        z = np.where(rng.random(n) < 0.5, near, z)
    return np.round(z, 1) + 0.0 if "ties" in kind else z


def _grown(program: Program, operations: list[Op], rng: np.random.Generator) -> Program:
    """Append operations whose results are neither large nor outside of a domain."""
    for _ in range(int(rng.integers(3, 10))):
        op = operations[rng.integers(len(operations))]
        latest = len(program.steps)
        args = (latest, *(int(k) for k in rng.integers(latest + 1, size=op.arity - 1)))
        longer = replace(program, steps=(*program.steps, (op, args)))
        try:
            y = longer.outputs(program.x)
        except ValueError:  # the shapes do not fit
            continue
        if np.isfinite(y).all() and 1e-4 < np.max(np.abs(y)) < 1e4:
            program = longer
    return program


def _end(kind: str, value: float, rng: np.random.Generator) -> Callable[[Any, Array], Any]:
    """Return what a kind does to the value at the end."""
    pedestal, digits = value * 10.0 ** rng.uniform(1, 9), int(rng.integers(4, 13))
    size = value * 10.0 ** rng.uniform(-13, -3)
    ends: dict[str, Callable[[Any, Array], Any]] = {
        "pedestal": lambda value, x: pedestal + value,
        "digits": lambda value, x: float(f"{value:.{digits}g}"),
        "noise": lambda value, x: value + size * (zlib.crc32(x.tobytes()) / 2**31 - 1),
    }
    return ends.get(kind, lambda value, x: value)


def slips(program: Program, kind: str, seed: int) -> Iterator[tuple[str, int]]:
    """Yield mistakes, each with its step, that make the gradient wrong enough."""
    # At a tie, other choices may be as right. Close enough to x, float32 has the slope 0.
    names = ["sign", "doubled"] if "ties" in kind else SLIPS
    right, flat = (program.gradient(program.weights, lowered=slope) for slope in (1, 0))
    effect, found = np.abs(program.x), 0
    steps = [(name, k + 1) for name in names for k in range(len(program.steps))]
    for at in np.random.default_rng([seed, 1]).permutation(len(steps)):
        wrong = program.gradient(program.weights, steps[at])
        error = min(np.max(np.abs(wrong - one) * effect) for one in (right, flat))
        if np.isfinite(wrong).all() and error > LEAST_ERROR * np.max(np.abs(right) * effect):
            yield steps[at]
            found += 1
        if found == MISTAKES:
            return


def checks(kind: str, seed: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield "right" and the names of mistakes, each with what checks that gradient."""
    with np.errstate(all="ignore"):
        program = drawn(kind, seed)
        for slip in [("", 0), *slips(program, kind, seed)]:

            def run(slip: tuple[str, int] = slip) -> Any:
                if kind == "outputs":
                    vjp = lambda u, x: program.gradient(u, slip)  # noqa: E731
                    return check_vjp(program.outputs, program.x, vjp)
                claim = program.gradient(program.weights, slip)
                return check_gradient(program, program.x, claim)

            op = program.steps[slip[1] - 1][0]
            yield f"{slip[0]} in {op.name}" if slip[0] else "right", run


def main() -> None:
    """Check programs of all kinds, or of those asked for, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=100, help="programs of each kind")
    parser.add_argument("--seed", type=int, default=0, help="of the first one")
    parser.add_argument("--kind", choices=KINDS, action="append", help="default: all")
    parser.add_argument("--reports", action="store_true", help="print every report")
    parser.add_argument("--verdicts", action="store_true", help="print them for each program")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    alarms, start = [], time.perf_counter()
    print(f"{'':15}right: pass  unsure    fail  wrong: fail  unsure    pass  evaluations")
    for kind in options.kind or KINDS:
        counts: Counter[tuple[bool, str]] = Counter()
        evaluations, words = 0, []
        for seed in range(options.seed, options.seed + options.count):
            words.append("")
            for name, run in checks(kind, seed):
                report, is_right = run(), name == "right"
                counts[is_right, report.verdict] += 1
                words[-1] += report.verdict[0]
                evaluations += report.evaluations
                if report.verdict == ("fail" if is_right else "pass"):
                    alarms.append(f"{kind}, seed {seed}, {name}: {report.verdict}")
                if options.reports:
                    print(f"\n{kind}, seed {seed}, {name}\n{report}")
        right = "".join(f"{counts[True, v]:>8}" for v in ("pass", "unsure", "fail"))
        wrong = "".join(f"{counts[False, v]:>8}" for v in ("fail", "unsure", "pass"))
        print(f"{kind:18}{right}{wrong:>29}{evaluations:>13,}", flush=True)
        for k in range(0, options.count if options.verdicts else 0, 10):
            print(f"{options.seed + k:6}: {' '.join(words[k : k + 10])}")
    seconds = time.perf_counter() - start
    print(f"{seconds:.0f} s; wrong verdicts: {len(alarms)}", *alarms, sep="\n  ")
    sys.exit(bool(alarms))


if __name__ == "__main__":
    main()
