"""The functions of the verdict vectors, written again: names and formulas as in the zoo."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

from .dual import exp, log, sin, sqrt
from .layout import mapped

Nested = Any


@dataclass(frozen=True)
class Point:
    """A point of a function: its inputs (integers are constants), and the upstream."""

    inputs: tuple[Nested, ...]
    upstream: Nested


@dataclass(frozen=True)
class Function:
    """A function, and points of it near which questions are drawn, if any are.

    ``number`` says in which arithmetic it is exact. The vector file has the formula in words.
    """

    name: str
    f: Callable[..., Nested]
    points: tuple[Point, ...] = ()
    number: type = Decimal


def each(f: Callable[[Any], Any]) -> Callable[[Nested], Nested]:
    """Apply a function entry by entry."""
    return partial(mapped, f)


def relu(x: Any) -> Any:
    """Cut off the negative."""
    return x if x > 0 else x * 0


def clipped(x: Any) -> Any:
    """Keep within [-1, 1]."""
    return x * 0 + 1 if x > 1 else x * 0 - 1 if x < -1 else x


def sigma(x: Any) -> Any:
    """Logistic function."""
    return 1 / (1 + exp(-x))


def tanh(x: Any) -> Any:
    """Hyperbolic tangent."""
    return 1 - 2 / (exp(x * 2) + 1)


def softmax(row: Nested) -> Nested:
    """Softmax of one row."""
    powers = [exp(v) for v in row]
    return [p / sum(powers) for p in powers]


def logsumexp(row: Nested) -> Any:
    """Logarithm of the sum of exponentials."""
    return log(sum(exp(v) for v in row))


def length(row: Nested) -> Any:
    """Euclidean length."""
    return sqrt(sum(v * v for v in row))


def matmul(a: Nested, b: Nested) -> Nested:
    """Product of two matrices."""
    return [[dot(row, [r[j] for r in b]) for j in range(len(b[0]))] for row in a]


def dot(a: Nested, b: Nested) -> Any:
    """Inner product."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def cross_entropy(scores: Nested, labels: Nested) -> Any:
    """Mean cross-entropy of rows of scores."""
    losses = [logsumexp(row) - row[k] for row, k in zip(scores, labels, strict=True)]
    return sum(losses) / len(losses)


def mean_squared_error(prediction: Nested, target: Nested) -> Any:
    """Mean of the squared differences."""
    squares = [
        (p - t) * (p - t)
        for row, goal in zip(prediction, target, strict=True)
        for p, t in zip(row, goal, strict=True)
    ]
    return sum(squares) / len(squares)


def hinge(scores: Nested, labels: Nested) -> Any:
    """Mean multi-class hinge loss with margin 1."""
    losses = [
        relu(v - row[k] + 1)
        for row, k in zip(scores, labels, strict=True)
        for j, v in enumerate(row)
        if j != k
    ]
    return sum(losses) / len(scores)


def huber(r: Nested) -> Any:
    """Sum of Huber's loss with delta 1."""
    return sum(v * v / 2 if -1 < v.value < 1 else (v if v > 0 else -v) - Fraction(1, 2) for v in r)


def determinant(a: Nested) -> Any:
    """Expand a determinant by its first row."""
    if len(a) == 1:
        return a[0][0]
    minors = [[row[:j] + row[j + 1 :] for row in a[1:]] for j in range(len(a))]
    return sum(a[0][j] * determinant(m) * (-1) ** j for j, m in enumerate(minors))


def running(combine: Callable[[Nested], Any]) -> Callable[[Nested], Nested]:
    """Combine the first, the first two, the first three ..."""
    return lambda x: [combine(x[: i + 1]) for i in range(len(x))]


def divided(a: Nested, b: Nested) -> Nested:
    """Divide rows by a row."""
    return [[x / y for x, y in zip(row, b, strict=True)] for row in a]


def multiplied(a: Nested, b: Nested) -> Nested:
    """Multiply a column with a row."""
    return [[row[0] * y for y in b] for row in a]


def power(x: Nested, p: Nested) -> Nested:
    """Raise to a power, entry by entry."""
    return [exp(log(v) * q) for v, q in zip(x, p, strict=True)]


V = Point(([-1.25, 0.5, 2.0, -0.375],), [1.0, -0.5, 0.75, 2.0])
W = Point(([0.3, -1.1, 0.7],), [1.0, 1.0, 1.0])
POSITIVE = Point(([0.4, 1.3, 2.5],), [1.0, -2.0, 0.5])
NEAR_ONE = Point(([0.9, 1.6],), [0.7, 1.4])
ROWS = Point(([[0.2, -1.0, 0.7], [1.5, 0.3, -0.4]],), [[0.5, -1.0, 2.0], [1.0, 0.25, -0.75]])
MATRIX = [[2.0, -1.0, 0.5], [0.25, 1.5, -0.75], [1.0, 0.5, -2.0]]
SCORES = [[0.3, -0.8, 1.2, 0.1], [-0.5, 0.9, 0.4, -1.1], [1.4, 0.2, -0.3, 0.6]]
WEIGHTS = (0.9, -0.5, 1.4, 0.7, 1.1)

FUNCTIONS: tuple[Function, ...] = (
    Function("square", each(lambda x: x * x), (V, W), Fraction),
    Function("cube", each(lambda x: x * x * x), (V, W), Fraction),
    Function("reciprocal", each(lambda x: 1 / x), (V, POSITIVE), Fraction),
    Function("exponential", each(exp), (V, W)),
    Function("logarithm", each(log), (POSITIVE, NEAR_ONE)),
    Function("square_root", each(sqrt), (POSITIVE, NEAR_ONE)),
    Function("sine", each(sin), (V, W)),
    Function("hyperbolic_tangent", each(tanh), (V,)),
    Function("sigmoid", each(sigma), (V,)),
    Function("softplus", each(lambda x: log(1 + exp(x * 2)) / 2), (V,)),
    Function("silu", each(lambda x: x * sigma(x)), (V,)),
    Function("relu", each(relu), number=Fraction),
    Function("leaky_relu", each(lambda x: x if x > 0 else x * Fraction(1, 10)), number=Fraction),
    Function("absolute_value", each(lambda x: x if x > 0 else -x), number=Fraction),
    Function("clip", each(clipped), number=Fraction),
    Function("elu", each(lambda x: x if x > 0 else (exp(x) - 1) * Decimal("0.7"))),
    Function("power", power, (Point(([0.6, 1.3, 2.2], [2.0, -1.5, 0.7]), [1.0, 0.5, -1.0]),)),
    Function("division", divided,
        (Point(([[0.75, -1.0, 1.5], [2.0, 0.5, -0.25]], [1.25, -0.5, 2.0]),
            [[1.0, 0.5, -1.0], [-0.25, 2.0, 1.0]]),), Fraction),
    Function("product", multiplied,
        (Point(([[0.75], [-1.5]], [1.0, 0.5, -2.0]), [[1.0, -1.0, 0.5], [2.0, 0.25, 1.0]]),),
        Fraction),
    Function("softmax", lambda x: [softmax(r) for r in x], (ROWS,)),
    Function("log_softmax", lambda x: [[v - logsumexp(row) for v in row] for row in x], (ROWS,)),
    Function("logsumexp", logsumexp, (Point(([0.3, -1.2, 2.0, 0.8],), 1.0),)),
    Function("cross_entropy", cross_entropy, (Point((SCORES, [2, 0, 3]), 1.0),)),
    Function("mean_squared_error", mean_squared_error,
        (Point(([[1.5, -0.5], [0.25, 2.0]], [[1.0, 0.5], [-0.75, 1.25]]), 1.0),), Fraction),
    Function("hinge", hinge, number=Fraction),
    Function("huber", huber, number=Fraction),
    Function("cosine_similarity", lambda a, b: dot(a, b) / (length(a) * length(b)),
        (Point(([0.7, -1.2, 0.4], [1.1, 0.3, -0.8]), 1.0),)),
    Function("frobenius_norm", lambda a: length([v for row in a for v in row]),
        (Point((MATRIX,), 1.0),)),
    Function("l2_normalise", lambda x: [v / length(x) for v in x], (V,)),
    Function("matmul", matmul,
        (Point((MATRIX, [[0.5, 1.0, -1.0], [2.0, 0.25, 1.0], [-0.5, 1.5, 0.75]]),
            [[1.0, -0.5, 0.25], [2.0, 1.0, -1.0], [0.5, 0.75, -2.0]]),),
        Fraction),
    Function("quadratic_form", lambda x, a: dot(x, [dot(row, x) for row in a]),
        (Point(([1.0, -0.5, 2.0], MATRIX), 1.0),), Fraction),
    Function("determinant", determinant, (Point((MATRIX,), 1.0),), Fraction),
    Function("cumulative_sum",
        lambda x: running(sum)([v * Fraction(w) for v, w in zip(x, WEIGHTS, strict=True)]),
        (Point(([0.5, -1.25, 2.0, 0.75, -1.5],), [1.0, -0.5, 0.25, 2.0, -1.0]),), Fraction),
    Function("cumulative_product", running(prod), (V,), Fraction),
    Function("fast_sine", each(lambda x: sin(x * 1000))),
    Function("square_on_a_pedestal", each(lambda x: x * x + 10**6), number=Fraction),
    Function("constant_function", lambda x: sum(x) * 0 + 3, number=Fraction),
)  # fmt: skip


def named(name: str) -> Function:
    """Return the function of a name; one in low precision is the same to exact numbers."""
    exactly = name.partition("_in_float")[0]
    return next(function for function in FUNCTIONS if function.name == exactly)
