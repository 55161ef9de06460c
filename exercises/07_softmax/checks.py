"""Checks of exercise 7."""

import numpy as np

from expect import (
    CUT_OFF,
    MEAN,
    AnyOf,
    Call,
    after,
    builds_on,
    few_digits,
    is_derived,
    is_no_measurement,
)

# Logarithms of small integers: the probabilities are fractions one can check by hand.
SCORES = np.log([[1.0, 2.0, 5.0], [6.0, 1.0, 1.0]])
LABELS = np.array([2, 1])
PROBABILITIES = np.array([[1, 2, 5], [6, 1, 1]]) / 8
FAR = 1e6  # which, added to all scores, changes nothing
LOSSES = -np.log([5 / 8, 1 / 8])
GRADIENT = np.array([[1, 2, -3], [6, -7, 1]]) / 16


def check_probabilities(sub):
    """Softmax makes each row a row of probabilities."""
    e = np.exp(SCORES)
    shifted = SCORES - SCORES.max(axis=1, keepdims=True)
    s, outside = np.exp(shifted), e - SCORES.max(axis=1, keepdims=True)
    all_scores, columns = AnyOf(e / e.sum(), s / s.sum()), AnyOf(e / e.sum(0), s / s.sum(0))
    slips = {
        "the exponentials are not divided by anything": e,
        "divided by the sum of all scores; each row has its own: axis=1": all_scores,
        "the sum runs over the rows, axis=0; each example has its own: axis=1": columns,
        "divided by the largest, not by the sum": e / e.max(axis=1, keepdims=True),
        "the scores themselves are divided; where is exp?": AnyOf(
            SCORES / [[np.log(10)], [np.log(6)]], shifted / shifted.sum(axis=1, keepdims=True)
        ),
        "that is a sigmoid, of each score alone; divide exp by the sum of its row": AnyOf(
            e / (1 + e), s / (1 + s)
        ),
        "divided by the length of each row; divide by its sum": (
            e / np.linalg.norm(e, axis=1, keepdims=True)
        ),
        "the largest score is taken off inside exp, not after it": (
            outside / outside.sum(axis=1, keepdims=True)
        ),
        "the sign inside exp: the scores minus the largest": (
            1 / s / (1 / s).sum(axis=1, keepdims=True)
        ),
    }
    Call(sub, "softmax", SCORES).gives(PROBABILITIES, slips, stand_in=softmax)


@builds_on(check_probabilities)
def check_large_scores(sub):
    """Softmax neither overflows nor divides 0 by 0."""
    for scores, right in (
        ([[1000.0, 1000.0]], [[0.5, 0.5]]),
        ([[-1000.0, -1000.0]], [[0.5, 0.5]]),
        ([[1000.0, 1000.0], [0.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]]),
        ([[1000.0, 0.0], [0.0, 1000.0]], [[1.0, 0.0], [0.0, 1.0]]),
        (np.log([[1.0, 2.0]]) + FAR, [[1 / 3, 2 / 3]]),
    ):
        scores = np.array(scores)
        large, small = np.where(scores, np.nan, right), np.where(scores, right, np.nan)
        mistakes = {
            "exp overflows, or all of a row underflows: subtract its largest score": large,
            "subtract each row's own largest score, not the largest of all": small,
        }
        Call(sub, "softmax", scores).gives(right, mistakes, stand_in=softmax)


def check_the_loss(sub):
    """The loss is the mean of -log(probability of the right class)."""
    top, own = SCORES.max(axis=1), SCORES[[0, 1], LABELS]
    shifted = SCORES - top[:, None]
    log_sum = LOSSES + own - top  # of the exponentials, the largest score taken off
    of_all = AnyOf(-np.log(PROBABILITIES).mean(), -np.log(PROBABILITIES).sum() / 2)
    both = AnyOf((LOSSES - top).mean(), (LOSSES + top).mean())
    added = AnyOf((log_sum + own - top).mean(), (log_sum + own).mean())
    of_mean = -np.log(np.exp(-LOSSES).mean())
    by_columns = SCORES - SCORES.max(axis=0)
    columns = (np.log(np.exp(by_columns).sum(axis=1)) - by_columns[[0, 1], LABELS]).mean()
    mistakes = {
        "that is the loss of one example; take the mean over all": LOSSES[0],
        "the largest score of each row is taken off, not that of each column: axis=1": columns,
        MEAN: LOSSES.sum(),
        "that is the mean over all scores; there are 2 examples": LOSSES.sum() / SCORES.size,
        "that is one loss for each example; take their mean": LOSSES,
        "that counts all classes; only the right one of each example enters": of_all,
        "that is another logarithm; the natural one is np.log": AnyOf(
            *(LOSSES.mean() / np.log(base) for base in (2, 10)),
            *((log_sum / np.log(base) + top - own).mean() for base in (2, 10)),
        ),
        "the largest score is taken off both, the sum and the score of the right class": both,
        "-log p is a difference: the score of the right class is taken off": added,
        "that is minus the logarithm of the mean; the loss is the mean of the logarithms": of_mean,
        "each example has its own label: [np.arange(len(labels)), labels]": (
            log_sum.mean() - shifted[:, LABELS].mean()
        ),
        "each example has its own sum of exponentials: axis=1": (
            np.log(np.exp(shifted).sum()) - (own - top).mean()
        ),
        "the sum is inside the logarithm: log of the sum, not the sum of the logs": (
            (shifted.sum(axis=1) - own + top).mean()
        ),
        "where is the logarithm of the sum?": (np.exp(log_sum) - own + top).mean(),
        "the mean over the examples, not the largest": LOSSES.max(),
        "the mean of the losses as they are, without squares": AnyOf(
            (LOSSES**2).mean(), np.sqrt((LOSSES**2).mean())
        ),
        "a label is the number of a column: take off the score there, not the label": (
            log_sum - LABELS
        ).mean(),
        "that is for the largest probability; take that of the right class": log_sum.mean(),
        "labels count from 0: column 2 is the third": -np.log([2 / 8, 6 / 8]).mean(),
        "that is the mean probability; where is the logarithm?": AnyOf(3 / 8, -3 / 8, 5 / 8),
    }
    Call(sub, "cross_entropy", SCORES, LABELS).gives(LOSSES.mean(), mistakes)
    scores = np.log([[1.0, 1.0], [1.0, 1.0], [1.0, 7.0]])  # the losses are log(2), log(2), log(8)
    median = {"that is the median of the losses; the loss is their mean": np.log(2)}
    Call(sub, "cross_entropy", scores, np.array([0, 1, 0])).gives(5 / 3 * np.log(2), median)


@builds_on(check_the_loss)
def check_the_loss_of_a_lost_case(sub):
    """The loss is finite even where the probability underflows."""
    scores = np.array([[1000.0, 0.0], [0.0, 0.0]])
    right = (1000 + np.log(2)) / 2
    guarded = AnyOf(*(-np.log([10.0**-k, 0.5]).mean() for k in range(5, 301)))
    mistakes = {
        "log(0): the probability underflowed before the logarithm was taken": np.inf,
        "exp overflowed: subtract the largest score of each row first": np.nan,
        "log(0): subtract from each row its own largest score, not the largest of all": -np.inf,
        "a guard inside the logarithm hides the true loss; no guard is needed": guarded,
    }
    Call(sub, "cross_entropy", scores, np.array([1, 0])).gives(right, mistakes)
    look_at = "is the largest score of its own row taken off each row?"
    for least in (-1100.0, -1e12):
        scores = np.array([[-1000.0, least], [600.0, 500.0]])
        right = (-1000 - least) / 2
        Call(sub, "cross_entropy", scores, np.array([1, 0])).gives(right, otherwise=look_at)
    call = Call(sub, "cross_entropy", np.array([[40.0, 0.0], [0.0, 40.0]]), np.array([0, 1]))
    got = call.run()
    if not np.all(np.abs(got) < 5e-16):  # log(1 + exp(-40)) is 4e-18
        call.refuse(got, 0.0, [*mistakes][-1], known=True)


@builds_on(check_probabilities)
def check_the_gradient(sub):
    """The gradient is right at scores that you can check by hand."""
    n, classes = SCORES.shape
    one_hot = np.eye(classes)[LABELS]
    p, early = PROBABILITIES, np.roll(one_hot, -1, axis=1)
    mistakes = {
        "the column of the right class is like the others; what is missing there?": p,
        "labels count from 0; the 1 is subtracted one column too early": p - early,
        "only the column of the right class has a slope; the others rise with p": (p - 1) * one_hot,
        "p * (1 - p) is the slope of p, and the loss is -log p": p * (1 - p),
        "subtract 1 from p there, -= 1; do not put -1 in its place": np.where(one_hot, -1, p),
        "subtract 1 from p there, -= 1; do not change its sign": np.where(one_hot, -p, p),
        "1 is subtracted in every column; only that of the right class has it": p - 1,
        "those are the scores minus 1; where is softmax?": SCORES - one_hot,
        "softmax is taken twice": softmax(p) - one_hot,
        "the slope is p - 1 or p; do not multiply it by p again": p * (p - one_hot),
        "log(p) is in the loss; its slope has p": np.log(p),
        "exp(scores) is not divided by the sum of its row; where is softmax?": (
            np.exp(SCORES) - one_hot
        ),
    }
    mistakes = {says: AnyOf(wrong, wrong / n) for says, wrong in mistakes.items()}
    mistakes["the last row is left out: how far does the loop run?"] = [GRADIENT[0], [0, 0, 0]]
    whole_columns, minus = p - one_hot.sum(axis=0), one_hot - p
    slips = {
        "gradient[:, labels] takes whole columns; take one entry of each row": whole_columns,
        "1 is added where it should be subtracted: -= 1": p + one_hot,
        "the sign: the score of the right class should go up, so its slope is negative": minus,
    }
    slips = {
        MEAN: n * GRADIENT,
        **{says: AnyOf(wrong, wrong / n) for says, wrong in slips.items()},
        "divide the 1 that is subtracted by n, too; the mean is not of p alone": p / n - one_hot,
        "the 1 that is taken off is divided by n twice": (p - one_hot / n) / n,
        "divided by the number of classes; the mean is over the examples": GRADIENT * n / classes,
        "divided by the number of scores; the mean is over the examples": GRADIENT / classes,
    }
    call = Call(sub, "cross_entropy_backward", SCORES, LABELS)
    call.gives(GRADIENT, slips | mistakes)


@builds_on(check_the_gradient)
def check_other_sizes(sub):
    """The gradient is right for other sizes, in all digits: it is derived, not measured."""
    rng = np.random.default_rng(7)
    for n, classes in ((1, 2), (3, 4), (5, 3), (40, 9)):
        scores, labels = rng.normal(size=(n, classes)).round(1), rng.integers(classes, size=n)
        e = np.exp(scores)
        right = (e / e.sum(axis=1, keepdims=True) - np.eye(classes)[labels]) / n
        mistakes = {
            "that is the answer to the last example; compute it from the scores": GRADIENT,
            f"the number of examples is not always 2, here it is {n}": right * n / 2,
        }
        is_derived(Call(sub, "cross_entropy_backward", scores, labels), right, mistakes)
    scores[0] = 0  # with a loss so large that no step of another score can be seen in the sum
    scores[0, labels[0]] = -1e9
    e = np.exp(scores)
    right = (e / e.sum(axis=1, keepdims=True) - np.eye(classes)[labels]) / n
    is_derived(Call(sub, "cross_entropy_backward", scores, labels), right)
    sizes = [(rng.normal(size=(n, 16)), rng.integers(16, size=n)) for n in (16, 256)]
    small, large = (Call(sub, "cross_entropy_backward", *arrays) for arrays in sizes)
    for call, n in ((small, 16), (large, 256)):
        call.text, call.where = "cross_entropy_backward(scores, labels)", f"scores of {n} x 16"
    is_no_measurement(small, large, Call(sub, "cross_entropy", *sizes[1]))


@builds_on(check_the_gradient, check_large_scores)
def check_large_scores_backward(sub):
    """The gradient is finite where the scores are large."""
    scores = np.array([[1000.0, 0.0], [-1000.0, -1000.0]])
    call = Call(sub, "cross_entropy_backward", scores, np.array([1, 0]))
    call.gives([[0.5, -0.5], [-0.25, 0.25]])
    Call(sub, "cross_entropy_backward", SCORES + FAR, LABELS).gives(GRADIENT, otherwise=CUT_OFF)


@after(check_probabilities, check_the_gradient)
def check_inputs_are_left_alone(sub):
    """The scores and the labels stay the same."""
    Call(sub, "softmax", SCORES).leaves_its_arguments()
    for name in ("cross_entropy", "cross_entropy_backward"):
        Call(sub, name, SCORES, LABELS).leaves_its_arguments()


@after(check_the_gradient)
def heldout_rows_are_examples(sub):
    """Each row is its own example: the gradient of each row sums to 0."""
    scores = np.array([[0.3, -2.0, 1.0, 0.0], [50.0, 49.0, 48.0, 0.0], [0.0, 0.0, 0.0, -700.0]])
    labels = np.array([3, 0, 3])
    call = Call(sub, "cross_entropy_backward", scores, labels)
    got = call.run()
    if says := few_digits(got, got):
        call.refuse(got, "float64", says, known=True)
    if np.shape(got) != (3, 4) or not np.all(np.abs(np.sum(got, axis=1)) < 1e-12):
        call.refuse(got, "rows that add up to 0", "a shift of a whole row changes no loss")


def softmax(scores):
    """Stand in for the learner's, where another function is judged."""
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def answers_of(vjp):
    """Answer as a submission would that has this vjp, right or wrong, from the zoo."""
    return {"cross_entropy_backward": lambda scores, labels: vjp(1.0, scores, labels)[0]}
