"""What students hand in for exercise 7."""

import numpy as np
from wrong_submissions import instead_of


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


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
divides_by_the_sum_of_all | e / e.sum(axis=1, keepdims=True) |
    e / e.sum() | each row has its own: axis=1
sums_over_the_examples | return e / e.sum(axis=1, keepdims=True) |
    e = np.exp(scores); return e / e.sum(axis=0) | axis=0; each example has its own
centers_in_place | return e / |
    scores -= scores.max(axis=1, keepdims=True); return e / | work on a copy
does_not_center | (scores - scores.max(axis=1, keepdims=True)) | (scores) | exp overflows
centers_by_the_largest_of_all | (scores - scores.max(axis=1, keepdims=True)) |
    (scores - scores.max()) | own largest score
saves_memory | exp(scores - scores.max(axis=1, keepdims=True)) |
    exp((scores - scores.max(axis=1, keepdims=True)).astype(np.float32)) | float32 has few digits
adds_the_losses_up | losses.mean() | losses.sum() | the loss is their mean
forgets_the_minus | losses.mean() | -losses.mean() | the sign
takes_the_mean_over_all_classes | losses.mean() |
    -np.log(softmax(scores)).mean() | only the right one of each example enters
takes_the_logarithm_of_a_probability | losses.mean() |
    -np.log(np.exp(-losses)).mean() | the probability underflowed
guards_the_logarithm | losses.mean() |
    -np.log(np.exp(-losses) + 1e-300).mean() | a guard inside the logarithm
counts_labels_from_one | - shifted[np.arange(len(labels)), labels] |
    - shifted[np.arange(len(labels)), labels - 1] | labels count from 0
forgets_the_mean | gradient / n | gradient | where is the 2?
divides_by_the_classes | gradient / n | gradient / scores.shape[1] |
    divided by the number of classes
knows_how_many_examples_there_are | gradient / n | gradient / 2 | not always 2
answers_only_where_it_is_small | gradient / n |
    gradient / n * (scores.size < 100) | where sizes and numbers are others
forgets_the_label | gradient[np.arange(n), labels] -= 1 | pass | what is missing there?
subtracts_the_probabilities | gradient / n | -gradient / n | the sign
takes_one_off_a_column_too_early | [np.arange(n), labels] |
    [np.arange(n), labels - 1] | labels count from 0
takes_one_off_whole_columns | [np.arange(n), labels] | [:, labels] | takes whole columns
divides_only_the_probabilities | -= 1 | -= n | divide the 1 that is subtracted
moves_only_the_right_class | gradient / n |
    gradient * np.eye(scores.shape[1])[labels] / n | the others rise with p
takes_the_slope_of_a_sigmoid | return gradient / n |
    p = softmax(scores); return p * (1 - p) / n | p * (1 - p) is the slope of p
stops_one_too_early | return gradient / n |
    gradient[-1] = 0; return gradient / n | the last row is left out
does_not_center_on_the_way_back | gradient = softmax(scores) |
    e = np.exp(scores); gradient = e / e.sum(axis=1, keepdims=True) | did something overflow
knows_the_answer_for_the_example | gradient / n |
    np.array([[1, 2, -3], [6, -7, 1]]) / 16 | the answer to the last example
returns_zeros | gradient / n | 0 * gradient | nothing but zeros
takes_a_complex_step | return gradient / n |
    steps = 1e-30j * np.eye(scores.size).reshape(-1, *scores.shape);
    losses = [cross_entropy(scores + step, labels) for step in steps];
    return np.imag(losses).reshape(scores.shape) / 1e-30 | is it measured
centers_the_loss_by_the_largest_of_all | shifted = scores - scores.max(axis=1, keepdims=True) |
    shifted = scores - scores.max() | each row its own largest score
"""
