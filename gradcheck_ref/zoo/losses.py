"""Softmax, its relatives, and the losses built on them.

``u`` is the upstream gradient; for a loss it is one number.
"""

import math
from typing import Any

import numpy as np

from .case import DOUBLED, HALVED, NEGATED, ZERO, Array, Case, accumulated, case, without

SMOOTH = "loss smooth"


def softmax_rows(x: Array) -> Any:
    """Softmax along the last axis; the shift only prevents overflow."""
    e = np.exp(x - x.real.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def one_hot(labels: Array, classes: int) -> Any:
    """One row per label, 1 in the label's column."""
    return (labels[:, None] == np.arange(classes)).astype(np.float64)


def softmax_vjp(u: Any, s: Array) -> Any:
    """Gradient of the softmax of one row, given its output ``s``."""
    return s * (u - (u * s).sum())


def softmax() -> Case:
    """Softmax of each row."""

    def vjp(u: Any, x: Array) -> Any:
        s = softmax_rows(x)
        return s * (u - (u * s).sum(axis=-1, keepdims=True))

    def cross_term_dropped(u: Any, x: Array) -> Any:
        s = softmax_rows(x)
        return s * (1 - s) * u  # wrong: only the diagonal of the Jacobian

    def shifts_in_place(u: Any, x: Array) -> Any:
        x -= x.max(axis=-1, keepdims=True)  # wrong: this is the caller's array
        return vjp(u, x)

    return (
        case("softmax", softmax_rows, vjp, SMOOTH, np.array([[0.7, -0.4, 1.2], [-1.1, 0.3, 0.9]]))
        .bug(
            "cross-term-dropped",
            "s (1 - s), the derivative of the sigmoid, is used as the whole Jacobian.",
        )
        .wrong("term-dropped", "mask", cross_term_dropped)
        .bug("summed-over-batch", "The axis of the sum is forgotten, so rows leak into each other.")
        .wrong("axis", "unknown", lambda u, x: softmax_vjp(u, softmax_rows(x)))
        .bug("normalisation-constant", "The denominator is treated as a constant.")
        .wrong("term-dropped", "local-derivative", lambda u, x: softmax_rows(x) * u)
        .changed("sign", "s_i s_j - s_i instead of s_i - s_i s_j.", NEGATED)
        .bug(
            "shifts-in-place", "x -= max, the usual guard against overflow, on the caller's array."
        )
        .wrong("in-place", "mutated", shifts_in_place)
    )


def softmax_of(T: float) -> tuple[Any, Any]:
    """Softmax of x / T, and its gradient."""
    return lambda x: softmax_rows(x / T), lambda u, x: softmax_vjp(u, softmax_rows(x / T)) / T


def softmax_with_temperature() -> Case:
    """Softmax of x / T with T = 2.5."""
    T = 2.5
    f, vjp = softmax_of(T)

    return (
        case("softmax_with_temperature", f, vjp, SMOOTH, np.array([1.9, -0.8, 0.6, -1.4]))
        .bug("forgotten", "The inner derivative 1 / T is forgotten.")
        .wrong("factor", "factor", lambda u, x: softmax_vjp(u, f(x)))
        .bug("multiplied", "T in the numerator.")
        .wrong("factor", "factor", lambda u, x: softmax_vjp(u, f(x)) * T)
        .bug(
            "recomputed-without",
            "The backward pass recomputes the softmax without the temperature.",
        )
        .wrong("wrong-place", "unknown", lambda u, x: softmax_vjp(u, softmax_rows(x)) / T)
    )


def calibrated_softmax() -> Case:
    """Softmax of x / T with a fitted temperature that happens to be nearly 1."""
    f, vjp = softmax_of(1.00001)

    return (
        case("calibrated_softmax", f, vjp, SMOOTH, np.array([2.4, -0.5, 0.8, -1.3]))
        .bug("factor-forgotten", "A factor of 1.00001 is easy to miss.")
        .wrong("factor", "factor", lambda u, x: softmax_vjp(u, f(x)))
        .bug("temperature-ignored", "The calibration was added to the forward pass only.")
        .wrong("wrong-place", "unknown", lambda u, x: softmax_vjp(u, softmax_rows(x)))
    )


def log_softmax() -> Case:
    """Logarithm of the softmax of each row."""

    def f(x: Array) -> Any:
        shifted = x - x.real.max(axis=-1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))

    def vjp(u: Any, x: Array) -> Any:
        return u - softmax_rows(x) * u.sum(axis=-1, keepdims=True)

    return (
        case("log_softmax", f, vjp, SMOOTH, np.array([[0.4, -1.3, 0.8], [1.5, 0.2, -0.6]]))
        .bug("sum-dropped", "The row sum of the upstream is forgotten.")
        .wrong("missing-sum", "mask", lambda u, x: u - softmax_rows(x) * u)
        .bug("mean-for-sum", "Mean over the classes instead of the sum.")
        .wrong(
            "mean-for-sum",
            "unknown",
            lambda u, x: u - softmax_rows(x) * u.mean(axis=-1, keepdims=True),
        )
        .bug("passed-through", "The normalisation is treated as a constant.")
        .wrong("term-dropped", "local-derivative", lambda u, x: u * np.ones_like(x))
    )


def logsumexp() -> Case:
    """Differentiate log sum exp x."""

    def f(x: Array) -> Any:
        m = x.real.max()
        return m + np.log(np.exp(x - m).sum())

    def vjp(u: Any, x: Array) -> Any:
        return u * softmax_rows(x)

    def in_place(u: Any, x: Array) -> Any:
        np.exp(x, out=x)  # wrong: this is the caller's array
        return u * x / x.sum()

    return (
        case("logsumexp", f, vjp, SMOOTH, np.array([0.3, 1.4, -0.7, 0.9]))
        .bug("not-normalised", "The 1 / sum of the outer logarithm is forgotten.")
        .wrong("factor", "factor", lambda u, x: u * np.exp(x))
        .bug("shift-not-normalised", "As above, with the shift.")
        .wrong("factor", "factor", lambda u, x: u * np.exp(x - x.max()))
        .bug("in-place", "exp(x, out=x) saves a temporary, and overwrites the caller's input.")
        .wrong("in-place", "mutated", in_place)
        .bug("hard-max", "The gradient of the maximum, which logsumexp resembles.")
        .wrong("approximate-derivative", "unknown", lambda u, x: u * (x == x.max()))
    )


def cross_entropy() -> Case:
    """Mean cross-entropy of softmax scores with integer labels."""

    def f(scores: Array, labels: Array) -> Any:
        shifted = scores - scores.real.max(axis=1, keepdims=True)
        log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        return -log_p[np.arange(len(labels)), labels].mean()

    def off(p: Any, labels: Array) -> Any:
        return p - one_hot(labels, p.shape[1])

    def vjp(u: Any, scores: Array, labels: Array) -> Any:
        return u * off(softmax_rows(scores), labels) / len(labels), None

    scores = np.array([[0.5, -1.2, 0.8, 0.1], [1.7, 0.3, -0.4, -0.9], [-0.6, 0.2, 1.1, 0.7]])
    return (
        case("cross_entropy", f, vjp, SMOOTH, scores, np.array([2, 1, 3]))
        .bug("missing-mean", "The loss is a mean over the batch, the gradient a sum.")
        .wrong("missing-mean", "factor", lambda u, x, y: vjp(u, x, y)[0] * len(y), part=0)
        .bug(
            "mean-over-classes",
            "Divided by the number of classes instead of the number of examples.",
        )
        .wrong("axis", "factor", lambda u, x, y: vjp(u, x, y)[0] * 3 / 4, part=0)
        .changed("sign", "One-hot minus softmax, instead of the other way round.", NEGATED)
        .bug("label-column-forgotten", "The -1 in the label's column is left out.")
        .wrong("term-dropped", "unknown", lambda u, x, y: u * softmax_rows(x) / len(y), part=0)
        .bug("labels-from-one", "The data set numbers its classes from 1.")
        .wrong("off-by-one", "unknown", lambda u, x, y: vjp(u, x, y - 1))
        .bug("last-row-left-out", "The loop over examples ends one too early.")
        .by(without(-1, "row-or-column"))
        .bug("softmax-over-batch", "The softmax is taken along axis 0.")
        .wrong("axis", "unknown", lambda u, x, y: u * off(softmax_rows(x.T).T, y) / len(y), part=0)
    )


def label_smoothing() -> Case:
    """Cross-entropy with 10 % of the probability spread over all classes."""
    eps = 0.1

    def target(labels: Array, classes: int) -> Any:
        return (1 - eps) * one_hot(labels, classes) + eps / classes

    def f(scores: Array, labels: Array) -> Any:
        log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return -(target(labels, scores.shape[1]) * log_p).sum() / len(labels)

    def vjp(u: Any, scores: Array, labels: Array) -> Any:
        t = target(labels, scores.shape[1])
        return u * (softmax_rows(scores) - t) / len(labels), None

    def smoothing_forgotten(u: Any, scores: Array, labels: Array) -> Any:
        return u * (softmax_rows(scores) - one_hot(labels, scores.shape[1])) / len(labels), None

    def shared_among_others(u: Any, scores: Array, labels: Array) -> Any:
        hot, classes = one_hot(labels, scores.shape[1]), scores.shape[1]
        t = (1 - eps) * hot + eps / (classes - 1) * (1 - hot)  # wrong: the label gets a share too
        return u * (softmax_rows(scores) - t) / len(labels), None

    scores = np.array([[0.4, 1.1, -0.7], [-0.2, 0.6, 1.3]])
    return (
        case("label_smoothing", f, vjp, SMOOTH, scores, np.array([1, 0]))
        .bug("forgotten", "The gradient of the loss without smoothing.")
        .wrong("term-dropped", "unknown", smoothing_forgotten)
        .bug("shared-among-the-others", "The other convention: the label itself gets no share.")
        .wrong("n-minus-1", "unknown", shared_among_others)
        .bug("missing-mean", "The loss is a mean over the batch, the gradient a sum.")
        .wrong("missing-mean", "factor", lambda u, x, y: vjp(u, x, y)[0] * len(y), part=0)
    )


def mean_squared_error() -> Case:
    """Mean of (prediction - target)^2 over all entries; both are differentiated."""

    def f(prediction: Array, target: Array) -> Any:
        return ((prediction - target) ** 2).mean()

    def vjp(u: Any, prediction: Array, target: Array) -> Any:
        grad = u * 2 * (prediction - target) / prediction.size
        return grad, -grad

    def scaled(factor: float) -> Any:
        return lambda u, p, t: vjp(u * factor, p, t)

    prediction = np.array([[0.7, -1.1], [1.9, 0.4], [-0.6, 1.2]])
    target = np.array([[0.2, -0.7], [1.1, 0.9], [0.5, 0.3]])
    return (
        case("mean_squared_error", f, vjp, SMOOTH, prediction, target)
        .changed("two-forgotten", "The gradient of half the loss.", HALVED)
        .bug("accumulates", "+= into a buffer that is not cleared between two backward passes.")
        .by(accumulated(), part=0)
        .bug("missing-mean", "The division by the number of entries is forgotten.")
        .wrong("missing-mean", "factor", scaled(6))
        .bug("mean-over-rows", "Divided by the number of rows instead of the number of entries.")
        .wrong("axis", "factor", scaled(2))
        .changed("target-constant", "The target is treated as a constant.", ZERO, part=1)
        .changed("target-sign", "The same array is returned for both arguments.", NEGATED, part=1)
    )


def binary_cross_entropy() -> Case:
    """Mean of log(1 + e^x) - t x: binary cross-entropy with logits."""
    t = np.array([1.0, 0.0, 1.0, 0.0, 1.0])

    def sigma(x: Array) -> Any:
        return 1 / (1 + np.exp(-x))

    def f(logits: Array) -> Any:
        return (np.log1p(np.exp(logits)) - t * logits).mean()

    def vjp(u: Any, logits: Array) -> Any:
        return u * (sigma(logits) - t) / len(t)

    def sigmoid_twice(u: Any, logits: Array) -> Any:
        s = sigma(logits)
        return u * (s - t) * s * (1 - s) / len(t)  # wrong: s (1 - s) has already canceled

    return (
        case("binary_cross_entropy", f, vjp, SMOOTH, np.array([0.8, -0.5, -1.4, 1.1, 0.3]))
        .changed("sign", "Target minus prediction.", NEGATED)
        .bug("missing-mean", "The division by n is forgotten.")
        .wrong("missing-mean", "factor", lambda u, x: u * (sigma(x) - t))
        .bug("sigmoid-twice", "The derivative of the sigmoid is multiplied in once more.")
        .wrong("wrong-rule", "unknown", sigmoid_twice)
        .bug("positives-only", "Only -t log s is differentiated; (1 - t) log(1 - s) is forgotten.")
        .wrong("term-dropped", "mask", lambda u, x: u * t * (sigma(x) - t) / len(t))
    )


def hinge() -> Case:
    """Mean multi-class hinge (SVM) loss with margin 1, away from its kinks."""

    def margins(scores: Array, labels: Array) -> Any:
        rows = np.arange(len(labels))
        m = scores - scores[rows, labels][:, None] + 1
        m[rows, labels] = 0
        return m

    def f(scores: Array, labels: Array) -> Any:
        return np.maximum(margins(scores, labels), 0).sum() / len(labels)

    def violated(scores: Array, labels: Array) -> Any:
        return (margins(scores, labels) > 0).astype(np.float64)

    def vjp(u: Any, scores: Array, labels: Array) -> Any:
        grad = violated(scores, labels)
        grad[np.arange(len(labels)), labels] = -grad.sum(axis=1)
        return u * grad / len(labels), None

    def correct_class_once(u: Any, scores: Array, labels: Array) -> Any:
        grad = violated(scores, labels)
        grad[np.arange(len(labels)), labels] = -1  # wrong: once per violated margin
        return u * grad / len(labels), None

    scores = np.array([[0.9, 0.4, -1.2, 0.3], [0.2, 1.1, 0.9, 1.6], [2.4, 0.7, 0.1, 1.9]])
    return (
        case("hinge", f, vjp, SMOOTH, scores, np.array([1, 3, 0]))
        .bug("correct-class-forgotten", "Only the wrong classes get a gradient.")
        .wrong("term-dropped", "mask", lambda u, x, y: u * violated(x, y) / len(y), part=0)
        .bug(
            "correct-class-once",
            "-1 in the label's column, instead of minus the number of violated margins.",
        )
        .wrong("missing-sum", "single-entries", correct_class_once)
        .bug("missing-mean", "The loss is a mean over the batch, the gradient a sum.")
        .wrong("missing-mean", "factor", lambda u, x, y: vjp(u, x, y)[0] * len(y), part=0)
        .bug("sign", "Another book defines the margin as right score minus wrong score.")
        .by(NEGATED)
    )


def huber() -> Case:
    """Sum of Huber's loss with delta = 1: r^2 / 2 in the middle, linear outside."""

    def f(prediction: Array) -> Any:
        size = np.where(prediction.real < 0, -prediction, prediction)
        return np.where(size.real < 1, prediction**2 / 2, size - 0.5).sum()

    def vjp(u: Any, prediction: Array) -> Any:
        return u * np.clip(prediction, -1, 1)

    return (
        case("huber", f, vjp, SMOOTH, np.array([-1.6, -0.4, 0.3, 0.7, 1.4, 2.3]))
        .bug("not-clipped", "The gradient of the squared error.")
        .wrong("wrong-mask", "unknown", lambda u, r: u * r)
        .bug("outliers-dropped", "Outside delta the gradient is set to 0 instead of +-delta.")
        .wrong("wrong-mask", "mask", lambda u, r: u * r * (np.abs(r) < 1))
        .bug("sign-only", "The gradient of the absolute error.")
        .wrong("approximate-derivative", "unknown", lambda u, r: u * np.sign(r))
        .changed("two", "The derivative of r^2, forgetting the 1/2.", DOUBLED)
    )


def cosine_similarity() -> Case:
    """Differentiate a . b / (|a| |b|)."""

    def norm(a: Array) -> Any:
        return np.sqrt((a * a).sum())

    def f(a: Array, b: Array) -> Any:
        return (a * b).sum() / (norm(a) * norm(b))

    def vjp(u: Any, a: Array, b: Array) -> Any:
        c = f(a, b)
        return (
            u * (b / (norm(a) * norm(b)) - c * a / norm(a) ** 2),
            u * (a / (norm(a) * norm(b)) - c * b / norm(b) ** 2),
        )

    def norm_of_the_other(u: Any, a: Array, b: Array) -> Any:
        return u * (a / (norm(a) * norm(b)) - f(a, b) * b / norm(a) ** 2)

    a = np.array([0.9, -0.4, 1.3])
    b = np.array([0.5, 1.1, 0.8])
    return (
        case("cosine_similarity", f, vjp, SMOOTH, a, b)
        .bug("second-term-dropped", "The norm of a is treated as a constant.")
        .wrong("term-dropped", "regulariser", lambda u, a, b: u * b / (norm(a) * norm(b)), part=0)
        .bug("norm-of-the-other", "|a|^2 is copied from the line above instead of |b|^2.")
        .wrong("wrong-place", "regulariser", norm_of_the_other, part=1)
        .bug("unit-vectors-assumed", "The gradient with respect to the normalised a.")
        .wrong("factor", "factor", lambda u, a, b: (vjp(u, a, b)[0] * norm(a), vjp(u, a, b)[1]))
    )


def kl_divergence() -> Case:
    """Sum of p log(p / q), both differentiated."""

    def f(p: Array, q: Array) -> Any:
        return (p * np.log(p / q)).sum()

    def vjp(u: Any, p: Array, q: Array) -> Any:
        return u * (np.log(p / q) + 1), -u * p / q

    p = np.array([0.2, 0.5, 0.3])
    q = np.array([0.4, 0.25, 0.35])
    return (
        case("kl_divergence", f, vjp, SMOOTH, p, q)
        .bug("one-dropped", "Half of the product rule for p log p.")
        .wrong("product-rule", "unknown", lambda u, p, q: (u * np.log(p / q), -u * p / q))
        .changed("q-sign", "log(p / q) has q in the denominator.", NEGATED, part=1)
        .bug("weight-dropped", "The factor p in front of the logarithm is forgotten.")
        .wrong("term-dropped", "inner-factor", lambda u, p, q: (u * (np.log(p / q) + 1), -u / q))
        .bug("base-two", "In bits, while the function is in nats.")
        .wrong("factor", "factor", lambda u, p, q: -u * p / q / math.log(2), part=1)
    )


CASES = (
    softmax, softmax_with_temperature, calibrated_softmax, log_softmax, logsumexp,
    cross_entropy, label_smoothing, mean_squared_error, binary_cross_entropy, hinge, huber,
    cosine_similarity, kl_divergence,
)  # fmt: skip
