"""What students hand in for exercise 8."""

# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
returns_only_the_scores | return hidden, hidden @ W2 | return hidden @ W2 |
    2 arrays: hidden, scores
returns_scores_first | return hidden, hidden @ W2 + b2 |
    return hidden @ W2 + b2, hidden | hidden comes first
gates_the_scores_too | hidden @ W2 + b2 |
    np.maximum(hidden @ W2 + b2, 0) | no ReLU after the second map
forgets_the_relu | np.maximum(X @ W1 + b1, 0) | X @ W1 + b1 | where is the ReLU?
adds_the_losses_up | losses.mean() | losses.sum() | the loss is their mean
does_not_center | shifted = scores - scores.max(axis=1, keepdims=True) | shifted = scores |
    large scores
takes_the_labels_of_all_for_each | shifted[np.arange(len(labels)), labels] |
    shifted[:, labels] | np.arange(len(labels)), labels
guards_the_logarithm | losses.mean() |
    -np.log(np.exp(-losses) + 1e-12).mean() | a guard inside the logarithm
takes_the_logarithm_of_zero | losses.mean() |
    -np.log(np.exp(-losses)).mean() | take no logarithm of a
forgets_the_penalty | losses.mean() + lam / 2 * ((W1 * W1).sum() + (W2 * W2).sum()) |
    losses.mean() | where is the penalty?
forgets_the_half | + lam / 2 * | + lam * | lam / 2, not lam
penalizes_biases | (W2 * W2).sum()) | (W2 * W2).sum() + b1 @ b1 + b2 @ b2) |
    biases are not penalized
takes_the_norms | ((W1 * W1).sum() + (W2 * W2).sum()) |
    (np.linalg.norm(W1) + np.linalg.norm(W2)) | without a root
averages_the_squares | ((W1 * W1).sum() + (W2 * W2).sum()) |
    ((W1 * W1).mean() + (W2 * W2).mean()) | added up, not averaged
multiplies_matrices_for_squares | ((W1 * W1).sum() + (W2 * W2).sum()) |
    ((W1 @ W1.T).sum() + (W2 @ W2.T).sum()) | W * W squares each entry
makes_columns_of_probabilities | e / e.sum(axis=1, keepdims=True) |
    np.exp(scores) / np.exp(scores).sum(axis=0) | rows of probabilities, not columns
takes_one_off_for_the_labels_of_all | d_scores[np.arange(n), labels] |
    d_scores[:, labels] | np.arange(len(labels)), labels
subtracts_the_labels | d_scores[np.arange(n), labels] -= 1 |
    d_scores -= labels[:, None] | a label is the number of a column
forgets_the_mean | d_scores /= n | pass | where is the 2?
knows_how_many_examples_there_are | d_scores /= n |
    d_scores /= 2 | the number of examples is not always 2
divides_by_the_features | d_scores /= n | d_scores /= X.shape[1] | len(X); is X.shape[1]
uses_what_came_before_the_gate | hidden.T @ d_scores |
    (X @ W1 + b1).T @ d_scores | the input of the second map is hidden, after the ReLU
sums_the_bias_over_the_wrong_axis | d_scores.sum(axis=0) |
    d_scores.sum(axis=1) | an array of shape (2,) came back
does_not_sum_the_bias | d_scores.sum(axis=0) | d_scores | so add them up
averages_the_bias | d_scores.sum(axis=0) |
    d_scores.mean(axis=0) | the mean is in d_scores already
forgets_the_gate | (d_scores @ W2.T) * (hidden > 0) | d_scores @ W2.T | the gate is missing
gates_by_the_gradient | (d_scores @ W2.T) * (hidden > 0) |
    np.maximum(d_scores @ W2.T, 0) | not where its gradient is
forgets_to_transpose | @ W2.T | @ W2 | on the way back the weights are transposed
forgets_to_transpose_what_came_in | X.T @ | X @ | size 2 is different from 3
answers_only_where_it_is_small | X.T @ d_hidden |
    X.T @ d_hidden * (W1.size < 100) | where sizes and numbers are others
forgets_the_penalty_on_the_way_back | dW1 + lam * W1, db1, dW2 + lam * W2, db2 |
    dW1, db1, dW2, db2 | where is the penalty of W1?
penalizes_only_the_first_layer | dW2 + lam * W2, db2 | dW2, db2 | where is the penalty of W2?
doubles_the_penalty | return dW1 + lam | lam *= 2; return dW1 + lam | twice too much
averages_the_penalty | return dW1 + lam | lam /= n; return dW1 + lam | it is not divided by n
penalizes_biases_on_the_way_back | db1, dW2 + lam * W2, db2 |
    db1 + lam * b1, dW2 + lam * W2, db2 + lam * b2 | the biases are not penalized
makes_the_slope_of_the_penalty_in_place | return dW1 + lam * W1 |
    W1 *= lam; return dW1 + W1 | work on a copy: W1.copy()
forgets_the_biases | dW1 + lam * W1, db1, dW2 + lam * W2, db2 |
    dW1 + lam * W1, dW2 + lam * W2 | 4 arrays: dW1, db1, dW2, db2
returns_gradients_in_backward_order | return dW1 + lam * W1, db1, dW2 + lam * W2, db2 |
    return dW2 + lam * W2, db2, dW1 + lam * W1, db1 | the order is dW1, db1, dW2, db2
returns_weights_before_biases | return dW1 + lam * W1, db1, dW2 + lam * W2, db2 |
    return dW1 + lam * W1, dW2 + lam * W2, db1, db2 | that is db1; the order is dW1, db1, dW2, db2
returns_zeros | return dW1 + lam * W1, db1, dW2 + lam * W2, db2 |
    return [np.zeros(p.shape) for p in (W1, b1, W2, b2)] | nothing but zeros
adds_to_what_is_there | db2 = d_scores.sum(axis=0) |
    db2 = vars(gradient).setdefault(str(X.shape), np.zeros(b2.shape));
    db2 += d_scores.sum(axis=0) | keep something from call to call
never_refreshes_the_cache | hidden, scores = forward(X, W1, b1, W2, b2) |
    hidden, scores = vars(gradient).setdefault(f"{X.shape} {b1.shape}",
    forward(X, W1, b1, W2, b2)) | hidden and scores are those of an earlier call
measures_with_differences | return dW1 + lam * W1, db1, dW2 + lam * W2, db2 |
    from gradcheck_ref import central_difference as slopes; return (
    slopes(lambda W1: loss(X, labels, W1, b1, W2, b2, lam), W1, h=1e-5),
    slopes(lambda b1: loss(X, labels, W1, b1, W2, b2, lam), b1, h=1e-5),
    slopes(lambda W2: loss(X, labels, W1, b1, W2, b2, lam), W2, h=1e-5),
    slopes(lambda b2: loss(X, labels, W1, b1, W2, b2, lam), b2, h=1e-5)) | is it measured
centers_the_loss_by_the_largest_of_all | shifted = scores - scores.max(axis=1, keepdims=True) |
    shifted = scores - scores.max() | each row has its own largest score
centers_by_the_largest_of_all | e = np.exp(scores - scores.max(axis=1, keepdims=True)) |
    e = np.exp(scores - scores.max()) | not finite
"""
