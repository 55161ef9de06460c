"""The functions of the verdict vectors, written again: names and formulas as in the zoo."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import prod
from operator import mul
from typing import Any

from .dual import exp, log, sin, sqrt
from .layout import arranged, mapped

Nested = Any


@dataclass(frozen=True)
class Point:
    """A point of a function: its inputs (integers are constants), and the upstream."""

    inputs: tuple[Nested, ...]
    upstream: Nested


@dataclass(frozen=True)
class Function:
    """A function, its description, and its points.

    ``number`` says in which arithmetic it is exact. ``kinks`` marks functions whose points lie on
    a kink; ``scale`` flags points of unusual size.
    """

    name: str
    formula: str
    f: Callable[..., Nested]
    points: tuple[Point, ...]
    number: type = Decimal
    kinks: bool = False
    flags: tuple[str, ...] = ()


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
DIVISORS = [1.25, -0.5, 2.0, -1.5]
WEIGHTS = (0.9, -0.5, 1.4, 0.7, 1.1)
TINY = Point(([0.5, -1.5, 2.25],), [1e-14, -2e-14, 1.5e-14])
HUGE = Point(([0.5, -1.5, 2.25],), [1e12, -2e12, 1.5e12])

FUNCTIONS: tuple[Function, ...] = (
    Function("square", "y_i = x_i^2", each(lambda x: x * x), (V, W), Fraction),
    Function("cube", "y_i = x_i^3", each(lambda x: x * x * x), (V, W), Fraction),
    Function("reciprocal", "y_i = 1 / x_i", each(lambda x: 1 / x), (V, POSITIVE), Fraction),
    Function("exponential", "y_i = e^(x_i)", each(exp), (V, W)),
    Function("logarithm", "y_i = ln x_i", each(log), (POSITIVE, NEAR_ONE)),
    Function("square_root", "y_i = sqrt(x_i)", each(sqrt), (POSITIVE, NEAR_ONE)),
    Function("sine", "y_i = sin x_i", each(sin), (V, W)),
    Function("hyperbolic_tangent", "y_i = tanh x_i", each(tanh), (V,)),
    Function("sigmoid", "y_i = 1 / (1 + e^(-x_i))", each(sigma), (V,)),
    Function("softplus", "y_i = ln(1 + e^(2 x_i)) / 2", each(lambda x: log(1 + exp(x * 2)) / 2),
        (V,)),
    Function("silu", "y_i = x_i / (1 + e^(-x_i))", each(lambda x: x * sigma(x)), (V,)),
    Function("relu", "y_i = max(x_i, 0)", each(relu), (V,), Fraction),
    Function("leaky_relu", "y_i = x_i if x_i > 0, else x_i / 10",
        each(lambda x: x if x > 0 else x * Fraction(1, 10)), (V,), Fraction),
    Function("absolute_value", "y_i = |x_i|", each(lambda x: x if x > 0 else -x), (V,), Fraction),
    Function("clip", "y_i = x_i, kept within [-1, 1]", each(clipped), (V,), Fraction),
    Function("elu", "y_i = x_i if x_i > 0, else 0.7 (e^(x_i) - 1)",
        each(lambda x: x if x > 0 else (exp(x) - 1) * Decimal("0.7")), (V,)),
    Function("power", "y_i = x_i^(p_i); inputs x and p", power,
        (Point(([0.6, 1.3, 2.2], [2.0, -1.5, 0.7]), [1.0, 0.5, -1.0]),)),
    Function("division", "y_ij = a_ij / b_j; inputs a and b", divided,
        (Point(([[0.75, -1.0, 1.5], [2.0, 0.5, -0.25]], [1.25, -0.5, 2.0]),
            [[1.0, 0.5, -1.0], [-0.25, 2.0, 1.0]]),), Fraction),
    Function("product", "y_ij = a_i1 b_j; inputs a (a column) and b", multiplied,
        (Point(([[0.75], [-1.5]], [1.0, 0.5, -2.0]), [[1.0, -1.0, 0.5], [2.0, 0.25, 1.0]]),),
        Fraction),
    Function("softmax", "y_ij = e^(x_ij) / sum_k e^(x_ik)", lambda x: [softmax(r) for r in x],
        (ROWS,)),
    Function("log_softmax", "y_ij = x_ij - ln sum_k e^(x_ik)",
        lambda x: [[v - logsumexp(row) for v in row] for row in x], (ROWS,)),
    Function("logsumexp", "y = ln sum_i e^(x_i)", logsumexp,
        (Point(([0.3, -1.2, 2.0, 0.8],), 1.0),)),
    Function("cross_entropy",
        "y = mean over rows i of (ln sum_k e^(z_ik) - z_i,label_i); inputs z and the labels, which "
        "count from 0",
        cross_entropy, (Point((SCORES, [2, 0, 3]), 1.0),)),
    Function("mean_squared_error", "y = mean over all entries of (p_ij - t_ij)^2; inputs p and t",
        mean_squared_error,
        (Point(([[1.5, -0.5], [0.25, 2.0]], [[1.0, 0.5], [-0.75, 1.25]]), 1.0),), Fraction),
    Function("hinge",
        "y = sum over rows i and j other than label_i of max(z_ij - z_i,label_i + 1, 0), over the "
        "number of rows; inputs z and the labels, which count from 0",
        hinge, (Point((SCORES, [2, 0, 3]), 1.0),), Fraction),
    Function("huber", "y = sum_i (r_i^2 / 2 if |r_i| < 1, else |r_i| - 1/2)", huber,
        (Point(([0.5, -0.25, 1.75, -3.0],), 1.0),), Fraction),
    Function("cosine_similarity", "y = a . b / (|a| |b|); inputs a and b",
        lambda a, b: dot(a, b) / (length(a) * length(b)),
        (Point(([0.7, -1.2, 0.4], [1.1, 0.3, -0.8]), 1.0),)),
    Function("frobenius_norm", "y = sqrt(sum_ij a_ij^2)",
        lambda a: length([v for row in a for v in row]), (Point((MATRIX,), 1.0),)),
    Function("l2_normalise", "y_i = x_i / sqrt(sum_k x_k^2)", lambda x: [v / length(x) for v in x],
        (V,)),
    Function("matmul", "y = a b, two 3 x 3 matrices; inputs a and b", matmul,
        (Point((MATRIX, [[0.5, 1.0, -1.0], [2.0, 0.25, 1.0], [-0.5, 1.5, 0.75]]),
            [[1.0, -0.5, 0.25], [2.0, 1.0, -1.0], [0.5, 0.75, -2.0]]),), Fraction),
    Function("quadratic_form", "y = sum_ij x_i a_ij x_j, a not symmetric; inputs x and a",
        lambda x, a: dot(x, [dot(row, x) for row in a]), (Point(([1.0, -0.5, 2.0], MATRIX), 1.0),),
        Fraction),
    Function("determinant", "y = det a", determinant, (Point((MATRIX,), 1.0),), Fraction),
    Function("cumulative_sum", "y_i = w_1 x_1 + ... + w_i x_i, w = (0.9, -0.5, 1.4, 0.7, 1.1)",
        lambda x: running(sum)([v * Fraction(w) for v, w in zip(x, WEIGHTS, strict=True)]),
        (Point(([0.5, -1.25, 2.0, 0.75, -1.5],), [1.0, -0.5, 0.25, 2.0, -1.0]),), Fraction),
    Function("cumulative_product", "y_i = x_1 ... x_i", running(prod), (V,), Fraction),
    Function("fast_sine", "y_i = sin(1000 x_i)", each(lambda x: sin(x * 1000)),
        (Point(([0.0004, 0.0021, -0.0013],), [1.0, 0.5, -1.0]),), flags=("Scale",)),
)  # fmt: skip


def named(name: str) -> Function:
    """Return the first function of a name; one in low precision is the same to exact numbers."""
    exactly, _, bits = name.partition("_in_float")
    found = next(function for function in FUNCTIONS if function.name == exactly)
    formula = f"{found.formula}; each step is rounded to float{bits}"
    return replace(found, name=name, formula=formula) if bits else found


def again(name: str, *points: Point, **more: Any) -> Function:
    """Return a function at other points."""
    return replace(named(name), points=points, **more)


# The same functions at points of unusual size, and at their kinks.
FUNCTIONS += (
    again("square", TINY, HUGE, flags=("Scale",)),
    again("cube", Point(([10.0, -20.0, 30.0],), [1.0] * 3),
        Point(([1e-3, 2e-3, -4e-3],), [1.0] * 3), flags=("Scale",)),
    Function("square_on_a_pedestal", "y_i = 1000000 + x_i^2", each(lambda x: x * x + 10**6),
        (Point(([1.5, -0.75],), [1.0, 1.0]),), Fraction, flags=("Scale",)),
    Function("constant_function", "y = 3", lambda x: sum(x) * 0 + 3,
        (Point(([0.5, -1.0, 2.0],), 1.0),), Fraction, flags=("ZeroGradient",)),
    again("relu", Point(([0.0, 1.5, -0.5],), [1.0] * 3), Point(([0.0],), [-2.0]), kinks=True),
    again("absolute_value", Point(([0.0, -1.5],), [1.0] * 2), Point(([0.75, 0.0],), [1.0, 0.5]),
        kinks=True),
    again("leaky_relu", Point(([0.0, 2.0],), [1.0, 1.0]), kinks=True),
    again("clip", Point(([1.0, 0.5],), [1.0, 1.0]), Point(([-1.0],), [1.0]), kinks=True),
)  # fmt: skip


def _spread(count: int, low: float, high: float) -> list[float]:
    """Take numbers between two others, in no order, each a multiple of 1/64, of both signs."""
    steps = round((high - low) * 64)
    return _signed([low + (k * 37 % 101) * steps // 101 / 64 for k in range(count)])


def _signed(values: list[float]) -> list[float]:
    return [v if k % 3 else -v for k, v in enumerate(values)]


def _table(rows: int, columns: int, low: float, high: float) -> list[list[float]]:
    values = _spread(rows * columns, low, high)
    return [values[r * columns : (r + 1) * columns] for r in range(rows)]


def at(name: str, *inputs: Nested, upstream: Nested) -> tuple[Function, Point]:
    """Return a function and another point of it."""
    return named(name), Point(inputs, upstream)


# More entries than a screen shows: a checker that tests only some of them, or a mean, fails.
LONGER = (
    at("square", _spread(20, 0.5, 2.5), upstream=_spread(20, 0.75, 1.5)),
    at("sine", _spread(17, 0.25, 1.25), upstream=[1.0] * 17),
    at("cumulative_product", _spread(14, 0.75, 1.25), upstream=_spread(14, 0.5, 1.5)),
    at("division", _table(5, 4, 0.5, 2.0), DIVISORS, upstream=_table(5, 4, 0.5, 1.5)),
    at("cross_entropy", _table(5, 6, 0.25, 1.5), [2, 0, 5, 3, 1], upstream=1.0),
    at("matmul", _table(4, 5, 0.5, 2.0), _table(5, 3, 0.5, 1.5), upstream=_table(4, 3, 0.5, 1.5)),
)
# So many entries that even a root mean square hides one wrong entry.
LONGEST = at("square", _spread(160, 0.5, 2.5), upstream=[1.0] * 160)
# Equal sizes: a norm or sum of this many entries hides one wrong entry, or refuses small errors.
EVEN, LESS = (at("square", _signed([1.25] * n), upstream=[1.0] * n) for n in (120, 60))
# Two inputs whose gradients have very different sizes: each is compared with its own size.
UNEVEN = (
    at("matmul", _table(3, 4, 0.5, 2.0), _table(4, 2, 256.0, 640.0),
        upstream=_table(3, 2, 0.5, 1.5)),
    at("division", _table(3, 4, 0.001, 0.004), DIVISORS, upstream=_table(3, 4, 0.5, 1.5)),
    at("product", [[0.75], [-1.5]], [1000.0, -700.0, 1600.0],
        upstream=[[1.0, -1.0, 0.5], [2.0, 0.25, 1.0]]),
)  # fmt: skip
# Points with other tolerances than the usual one.
TOLERANT = (
    (named("square"), V),
    (named("sine"), W),
    (named("softmax"), ROWS),
    (named("division"), LONGER[3][1]),
)

# Gradients claimed in other shapes: for rows, matrices, several inputs, and all zeros.
SHAPED = (
    *("square", "division", "product", "softmax", "logsumexp", "cross_entropy"),
    *("matmul", "quadratic_form", "constant_function"),
)
WITH_ZEROS = (
    (named("relu"), V),
    (named("clip"), V),
    at("square", [0.5, -1.25, 2.0], upstream=[0.0, 1.5, 0.0]),
    at("constant_function", [0.5, -1.0, 2.0], upstream=1.0),
)
# No two elements of these upstream gradients are equal, and every element matters.
WEIGHED = tuple(
    at(name, *named(name).points[0].inputs, upstream=upstream)
    for name, upstream in (
        *((n, u) for n in ("logsumexp", "cross_entropy", "huber") for u in (-2.5, 0.375)),
        ("determinant", -0.125),
        ("mean_squared_error", 640.0),
        ("sine", [0.75, -1.5, 2.5, -0.25]),
        ("cube", [0.0] * 4),
        *((n, 0.625) for n in ("frobenius_norm", "cosine_similarity", "quadratic_form", "hinge")),
        ("square_on_a_pedestal", [0.5, -2.0]),
        ("softmax", [[0.5, -1.25, 2.0], [-0.75, 1.5, 0.25]]),
        ("division", [[1.75, 0.5, -1.25], [-0.25, 2.0, -0.75]]),
        ("matmul", [[1.0, -0.5, 0.25], [2.0, 1.25, -1.5], [0.75, -0.25, -2.0]]),
    )
)
NUMBERS = tuple(
    (f"x = {x:g}, upstream {u:g}", *at(name, x, upstream=u))
    for name in ("square", "sine", "exponential", "reciprocal")
    for x, u in ((0.7, 1.0), (-1.25, -2.5))
)
FAR_OUT = (
    ("x about 1e8", *at("square", [1.5e8, -2.25e8, 3e8], upstream=[1.0, -0.5, 2.0])),
    ("x about 1e10", *at("square_root", [1.5e10, 2.5e10], upstream=[1.0, -2.0])),
    ("x about 1e6", *at("logarithm", [1.5e6, 4e6], upstream=[0.5, -1.0])),
    ("x about 1e5", *at("reciprocal", [1.5e5, -2e5], upstream=[1.0, 2.0])),
    ("inputs about 1e7",
        *at("product", [[2.5e7], [-1.5e7]], [1e7, 3e7], upstream=[[1.0, -1.0], [0.5, 2.0]])),
)  # fmt: skip
WHOLE_NUMBERS = (
    ("whole numbers about 6e9", *at("square", [6e9, -7e9, 5e9], upstream=[3.0, -2.0, 4.0])),
    ("whole numbers about 5e9",
        *at("product", [[6e9], [-4e9]], [5e9, 7e9], upstream=[[1.0, -2.0], [3.0, 2.0]])),
)  # fmt: skip
# Where a similar function, or a formula that holds for one point, has another gradient.
ELSEWHERE_ROWS: tuple[tuple[Any, ...], ...] = (
    ("relu", [1.0, -0.5, 0.75], [7.5, -8.0, 120.0]),
    ("absolute_value", [1.0, -0.5], [40.0, -6.5]),
    ("leaky_relu", [1.0, 0.75], [-6.0, 30.0]),
    ("clip", [1.0, -0.5, 2.0], [5.0, -7.0, 0.25]),
    ("elu", [1.0], [-4.0]),
    ("elu", [0.5, -1.0], [8.0, -0.5]),
    ("huber", 1.0, [1.5, -1.25, 0.875, -4.5, 12.0]),
    ("huber", 1.0, [1.0004, 0.9995, -1.0005, -0.9996]),
    ("clip", [1.0, -0.5, 2.0, 0.75], [1.0005, 0.9995, -1.0004, -0.9996]),
    ("hinge", 1.0, [[1.0, 2.0005, 0.5], [0.75, 1.7495, 2.0], [3.0, 2.0004, 1.9996]], [1, 1, 0]),
    ("hinge", 1.0, [[4.0, -3.0, 3.5], [0.5, 0.25, -2.0], [1.0, 6.0, 5.5]], [0, 1, 2]),
    *((name, [1.0], [x]) for name in ("sigmoid", "silu", "softplus") for x in (6.0, -5.5)),
    *(("hyperbolic_tangent", [1.0], [x]) for x in (3.5, -4.0)),
    *(("exponential", [1.0], [x]) for x in (12.0, -15.0)),
    *(("logarithm", [1.0], [x]) for x in (1e-4, 2e3)),
    ("square_root", [1.0], [1e-5]),
    ("sine", [1.0, -2.0], [250.0, -31.5]),
    ("power", [1.0, -0.5], [7.5, 0.2], [3.0, -2.5]),
    *(("reciprocal", [1.0], [x]) for x in (0.02, -50.0)),
    ("division", [[1.0, -0.5]], [[0.5, -2.0]], [0.03, -0.05]),
    ("cross_entropy", 1.0, [[0.3, -0.8, 1.2, 0.1, 0.7], [1.5, 0.2, -0.4, 0.9, -1.1]], [4, 4]),
    ("cumulative_product", [1.0, -0.5, 2.0, 0.75], [0.5, 0.0, 2.0, -1.5]),
    ("mean_squared_error", 1.0, [[1.5, -0.5, 2.0]], [[1.0, 0.5, -0.75]]),
    ("frobenius_norm", 1.0, [[1.5, -0.5, 2.0, 0.25], [0.75, 1.0, -1.25, 3.0]]),
    ("l2_normalise", [1.0, -0.5, 2.0], [0.05, -0.08, 0.02]),
    ("cosine_similarity", 1.0, [0.004, -0.003, 0.002], [1.1, 0.3, -0.8]),
    ("quadratic_form", 1.0, [1.5, -0.5], [[2.0, -1.0], [0.5, 0.25]]),
    ("determinant", 1.0, [[0.0, 2.0], [3.0, 1.0]]),
    ("determinant", 1.0, [[-1.5, 2.0], [0.5, -3.0]]),
    ("determinant", 1.0, [[0.5, 1.0, -2.0], [3.0, -1.0, 0.25], [1.0, 2.0, -1.0]]),
    ("determinant", 1.0, [[-0.5, 1.0, 2.0], [3.0, 0.0, 0.25], [1.0, 2.0, -1.0]]),
    ("determinant", -2.0, [[0.5, 1.0, -2.0, 0.25], [0.0, -1.0, 0.75, 1.0],
        [2.0, 1.5, -1.0, 0.5], [1.0, -0.5, 0.25, 1.5]]),
    ("determinant", 1.0, [[-2.5]]),
    ("softmax", [[0.5, -1.0, 2.0, 1.0, 0.25, -0.75]], [[0.2, -1.0, 0.7, 1.5, 0.3, -0.4]]),
    ("softmax", [[0.5, -1.0, 2.0]], [[60.0, 59.0, 60.5]]),
    ("log_softmax", [[0.5, -1.0, 2.0]], [[-60.0, -59.0, -60.5]]),
    ("logsumexp", 1.0, [80.0, 79.5, 81.0]),
    ("fast_sine", [1.0, -0.5], [0.0304, -0.0213]),
    ("square_on_a_pedestal", [1.0], [0.05]),
)  # fmt: skip
ELSEWHERE = tuple(
    at(name, *inputs, upstream=upstream) for name, upstream, *inputs in ELSEWHERE_ROWS
)
EXTREME = (65536.0, 1e30, 1e-30, 1e200, 1e-200)
WEIGHED_FAR = tuple(
    at(name, *named(name).points[0].inputs, upstream=mapped(partial(mul, w), upstream))
    for name, upstream in (
        ("square", [1.0, -3.0, 0.5, 2.0]),
        ("sine", [1.0, -3.0, 0.5, 2.0]),
        ("logsumexp", -3.0),
        ("determinant", 1.0),
        # No entry of its gradients cancels: a sum of such weights would leave what is rounded.
        ("matmul", [[1.0, -0.75, 0.25], [2.0, 1.0, -1.0], [0.5, 0.75, -2.0]]),
    )
    for w in EXTREME
)


def _four_axes(sizes: tuple[int, ...]) -> Point:
    count = prod(sizes)
    return Point(
        (arranged(_spread(count, 0.5, 2.0), sizes),), arranged(_spread(count, 0.75, 1.5), sizes)
    )


DEEP = tuple(
    (named(name), _four_axes(sizes))
    for name in ("square", "sine", "reciprocal")
    for sizes in ((2, 1, 2, 2), (1, 3, 1, 2))
)


# Where one fixed step does not do.
def _in_units(name: str, c: float) -> tuple[Function, Point]:
    function = named(name)
    point = function.points[0]
    inputs = (mapped(lambda v: v if isinstance(v, int) else v * c, x) for x in point.inputs)
    return function, Point(tuple(inputs), point.upstream)


CURVED = (
    *("square", "cube", "reciprocal", "logarithm", "square_root", "quadratic_form"),
    *("frobenius_norm", "cosine_similarity", "l2_normalise", "division", "mean_squared_error"),
)
STRAIGHT = (
    *("matmul", "determinant", "product", "cumulative_sum", "cumulative_product"),
    *("relu", "leaky_relu", "absolute_value", "hinge", "huber"),
)
IN_UNITS = (
    *(_in_units(name, c) for name in CURVED for c in (1e-8, 1e-5, 1e5, 1e8)),
    *(_in_units(name, c) for name in STRAIGHT for c in (1e5, 1e7)),
)
TAILS = tuple(
    at(name, *inputs, upstream=upstream)
    for name, upstream, *inputs in (
        ("sigmoid", [1.0], [10.0]),
        ("sigmoid", [1.0, -0.5], [8.0, 9.0]),
        ("elu", [1.0], [-10.0]),
        ("elu", [1.0, 2.0], [-12.0, -11.0]),
        ("softmax", [[1.0, -0.5, 2.0]], [[12.0, -1.0, 0.5]]),
        ("logsumexp", 1.0, [1e4, 1e4 + 1, 1e4 - 2]),
        ("log_softmax", [[1.0, -0.5, 2.0]], [[1e3, 1e3 + 1, 1e3 - 2]]),
        ("square_on_a_pedestal", [1.0], [0.01]),
        ("square_on_a_pedestal", [1.0, -2.0], [0.02, 0.03]),
    )
)
EDGES = tuple(
    at(name, *inputs, upstream=upstream)
    for x in (1e-6, 1e-9)
    for name, upstream, *inputs in (
        ("logarithm", [1.0], [x]),
        ("square_root", [1.0], [x]),
        ("reciprocal", [1.0, 2.0], [x, -3 * x]),
        ("power", [1.0], [x], [0.7]),
    )
)
NEAR_KINKS = tuple(
    at(name, *inputs, upstream=upstream)
    for d in (1e-3, 1e-5, 1e-7)
    for name, upstream, *inputs in (
        ("relu", [1.0, -0.5, 2.0], [d, -d, 1.5]),
        ("absolute_value", [1.0, -0.5], [d, -2.0]),
        ("leaky_relu", [1.0, -0.5], [-d, 2.0]),
        ("elu", [1.0, -0.5, 2.0], [d, -d, 1.5]),
        ("clip", [1.0, -0.5, 2.0], [1 - d, -1 - d, 0.5]),
        ("huber", 1.0, [1 - d, -1 - d, 0.5]),
        ("hinge", 1.0, [[1.0 - d, 2.0, 0.5], [0.75, 1.75 - d, 2.0]], [1, 1]),
    )
)
IN_32_BITS = (
    *("square", "cube", "reciprocal", "exponential", "logarithm", "sine", "softplus", "softmax"),
    *("logsumexp", "frobenius_norm", "quadratic_form", "mean_squared_error", "cosine_similarity"),
)
IN_16_BITS = ("exponential", "quadratic_form", "mean_squared_error")
LOW_PRECISION = (
    *((named(f"{name}_in_float32"), 1e-3) for name in IN_32_BITS),
    *((named(f"{name}_in_float16"), 0.04) for name in IN_16_BITS),
)
# The same function three times: unchanged, with another upstream gradient, and at another point.
IN_TURN = tuple(
    (f, Point(here, u), Point(here, v), Point(there, v))
    for f, here, there, u, v in (
        (named("square"), V.inputs, ([0.75, 2.0, -1.5, 1.0],), [1.0] * 4, [0.5, -2.0, 1.5, 3.0]),
        (named("sine"), W.inputs, ([-0.4, 0.9, 1.2],), [1.0] * 3, [2.0, -1.0, 0.25]),
        (named("product"), ([[0.75], [-1.5]], [1.0, 0.5, -2.0]),
            ([[1.25], [0.5]], [-1.0, 2.0, 0.75]),
            [[1.0] * 3] * 2, [[2.0, -0.5, 1.0], [0.25, 1.5, -3.0]]),
    )
)  # fmt: skip
