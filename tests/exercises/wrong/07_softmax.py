"""What students hand in for exercise 7."""

import numpy as np
from wrong_submissions import instead_of


def softmax(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def picked(array, labels):
    return array[np.arange(len(labels)), labels]


@instead_of("softmax", says="each row has its own: axis=1")
def divides_by_the_sum_of_all(scores):
    e = np.exp(scores)
    return e / e.sum()


@instead_of("softmax", says="axis=0; each example has its own")
def sums_over_the_examples(scores):
    e = np.exp(scores)
    return e / e.sum(axis=0)


@instead_of("softmax", says="work on a copy")
def centres_in_place(scores):
    scores -= scores.max(axis=1, keepdims=True)
    e = np.exp(scores)
    return e / e.sum(axis=1, keepdims=True)


@instead_of("cross_entropy", says="the loss is their mean")
def adds_the_losses_up(scores, labels):
    return -np.log(picked(softmax(scores), labels)).sum()


@instead_of("cross_entropy", says="the sign")
def forgets_the_minus(scores, labels):
    return np.log(picked(softmax(scores), labels)).mean()


@instead_of("cross_entropy", says="only the right one of each example enters")
def takes_the_mean_over_all_classes(scores, labels):
    return -np.log(softmax(scores)).mean()


@instead_of("cross_entropy", says="the probability underflowed")
def takes_the_logarithm_of_a_probability(scores, labels):
    return -np.log(picked(softmax(scores), labels)).mean()


@instead_of("cross_entropy", says="a guard inside the logarithm")
def guards_the_logarithm(scores, labels):
    return -np.log(picked(softmax(scores), labels) + 1e-300).mean()


@instead_of("cross_entropy", says="labels count from 0")
def counts_labels_from_one(scores, labels):
    return -np.log(picked(softmax(scores), labels - 1)).mean()


@instead_of("cross_entropy_backward", says="where is the 2?")
def forgets_the_mean(scores, labels):
    gradient = softmax(scores)
    gradient[np.arange(len(labels)), labels] -= 1
    return gradient


@instead_of("cross_entropy_backward", says="divided by the number of classes")
def divides_by_the_classes(scores, labels):
    gradient = softmax(scores)
    gradient[np.arange(len(labels)), labels] -= 1
    return gradient / scores.shape[1]


@instead_of("cross_entropy_backward", says="what is missing there?")
def forgets_the_label(scores, labels):
    return softmax(scores) / len(labels)


@instead_of("cross_entropy_backward", says="the sign")
def subtracts_the_probabilities(scores, labels):
    one_hot = np.eye(scores.shape[1])[labels]
    return (one_hot - softmax(scores)) / len(labels)


@instead_of("cross_entropy_backward", says="labels count from 0")
def takes_one_off_a_column_too_early(scores, labels):
    gradient = softmax(scores)
    gradient[np.arange(len(labels)), labels - 1] -= 1
    return gradient / len(labels)


@instead_of("cross_entropy_backward", says="divide the 1 that is subtracted")
def divides_only_the_probabilities(scores, labels):
    gradient = softmax(scores) / len(labels)
    gradient[np.arange(len(labels)), labels] -= 1
    return gradient


@instead_of("cross_entropy_backward", says="the others rise with p")
def moves_only_the_right_class(scores, labels):
    one_hot = np.eye(scores.shape[1])[labels]
    return (softmax(scores) - 1) * one_hot / len(labels)


@instead_of("cross_entropy_backward", says="p * (1 - p) is the slope of p")
def takes_the_slope_of_a_sigmoid(scores, labels):
    p = softmax(scores)
    return p * (1 - p) / len(labels)


@instead_of("cross_entropy_backward", says="takes whole columns")
def takes_one_off_whole_columns(scores, labels):
    gradient = softmax(scores)
    gradient[:, labels] -= 1
    return gradient / len(labels)


@instead_of("cross_entropy_backward", says="not always 2")
def knows_how_many_examples_there_are(scores, labels):
    gradient = softmax(scores)
    gradient[np.arange(len(labels)), labels] -= 1
    return gradient / 2


@instead_of("cross_entropy_backward", says="the last row is left out")
def stops_one_too_early(scores, labels):
    gradient = softmax(scores)
    gradient[np.arange(len(labels)), labels] -= 1
    gradient[-1] = 0
    return gradient / len(labels)


@instead_of("cross_entropy_backward", says="did something overflow")
def does_not_centre_on_the_way_back(scores, labels):
    e = np.exp(scores)
    gradient = e / e.sum(axis=1, keepdims=True)
    gradient[np.arange(len(labels)), labels] -= 1
    return gradient / len(labels)


@instead_of("cross_entropy_backward", says="the answer to the last example")
def knows_the_answer_for_the_example(scores, labels):
    return np.array([[1, 2, -3], [6, -7, 1]]) / 16


@instead_of("cross_entropy_backward", says="nothing but zeros")
def returns_zeros(scores, labels):
    return np.zeros_like(scores)


@instead_of("cross_entropy_backward", says="is it measured")
def takes_a_complex_step(scores, labels):
    gradient = np.zeros(scores.shape)
    for i in np.ndindex(scores.shape):
        moved = scores.astype(complex)
        moved[i] += 1e-30j
        moved -= scores.max(axis=1, keepdims=True)
        loss = np.log(np.exp(moved).sum(axis=1)) - moved[np.arange(len(labels)), labels]
        gradient[i] = loss.mean().imag / 1e-30
    return gradient


@instead_of("cross_entropy_backward", says="is it measured")
def measures_all_rows_at_once(scores, labels):
    gradient, rows, h = np.zeros(scores.shape), np.arange(len(labels)), 1e-4
    for k in range(scores.shape[1]):
        step = h * (np.arange(scores.shape[1]) == k)
        sides = []
        for moved in (scores - 2 * step, scores - step, scores + step, scores + 2 * step):
            moved = moved - scores.max(axis=1, keepdims=True)
            sides.append(np.log(np.exp(moved).sum(axis=1)) - moved[rows, labels])
        gradient[:, k] = (sides[0] - 8 * sides[1] + 8 * sides[2] - sides[3]) / (12 * h * len(rows))
    return gradient


@instead_of("cross_entropy_backward", says="does anything depend on the sizes?")
def measures_where_that_is_cheap(scores, labels):
    return takes_a_complex_step.function(scores, labels) if scores.size < 100 else 0 * scores


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
does_not_centre | (scores - scores.max(axis=1, keepdims=True)) | (scores) | exp overflows
centres_by_the_largest_of_all | (scores - scores.max(axis=1, keepdims=True)) |
    (scores - scores.max()) | own largest score
saves_memory | exp(scores - scores.max(axis=1, keepdims=True)) |
    exp((scores - scores.max(axis=1, keepdims=True)).astype(np.float32)) | float32 has few digits
"""
