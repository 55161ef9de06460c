"""What students hand in for exercise 8."""

import numpy as np
from wrong_submissions import instead_of


def forward(X, W1, b1, W2, b2):
    hidden = np.maximum(X @ W1 + b1, 0)
    return hidden, hidden @ W2 + b2


def softmax(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def cross_entropies(scores, labels):
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(labels)), labels]


def d_scores_of(scores, labels):
    return (softmax(scores) - np.eye(scores.shape[1])[labels]) / len(labels)


def gradient(X, labels, W1, b1, W2, b2, lam):
    hidden, scores = forward(X, W1, b1, W2, b2)
    d_scores = d_scores_of(scores, labels)
    d_hidden = d_scores @ W2.T * (hidden > 0)
    dW1, dW2 = X.T @ d_hidden + lam * W1, hidden.T @ d_scores + lam * W2
    return dW1, d_hidden.sum(axis=0), dW2, d_scores.sum(axis=0)


@instead_of("forward", says="2 arrays: hidden, scores")
def returns_only_the_scores(X, W1, b1, W2, b2):
    return forward(X, W1, b1, W2, b2)[1]


@instead_of("forward", says="hidden comes first")
def returns_scores_first(X, W1, b1, W2, b2):
    return forward(X, W1, b1, W2, b2)[::-1]


@instead_of("forward", says="no ReLU after the second map")
def gates_the_scores_too(X, W1, b1, W2, b2):
    hidden, scores = forward(X, W1, b1, W2, b2)
    return hidden, np.maximum(scores, 0)


@instead_of("loss", says="the loss is their mean")
def adds_the_losses_up(X, labels, W1, b1, W2, b2, lam):
    return cross_entropies(forward(X, W1, b1, W2, b2)[1], labels).sum()


@instead_of("loss", says="large scores")
def does_not_centre(X, labels, W1, b1, W2, b2, lam):
    e = np.exp(forward(X, W1, b1, W2, b2)[1])
    p = e / e.sum(axis=1, keepdims=True)
    return -np.log(p[np.arange(len(labels)), labels]).mean()


@instead_of("loss", says="where is the penalty?")
def forgets_the_penalty(X, labels, W1, b1, W2, b2, lam):
    return cross_entropies(forward(X, W1, b1, W2, b2)[1], labels).mean()


@instead_of("loss", says="lam / 2, not lam")
def forgets_the_half(X, labels, W1, b1, W2, b2, lam):
    data = cross_entropies(forward(X, W1, b1, W2, b2)[1], labels).mean()
    return data + lam * ((W1**2).sum() + (W2**2).sum())


@instead_of("loss", says="the biases are not penalised")
def penalises_biases(X, labels, W1, b1, W2, b2, lam):
    data = cross_entropies(forward(X, W1, b1, W2, b2)[1], labels).mean()
    return data + lam / 2 * sum((p**2).sum() for p in (W1, b1, W2, b2))


@instead_of("loss", says="without a root")
def takes_the_norms(X, labels, W1, b1, W2, b2, lam):
    data = cross_entropies(forward(X, W1, b1, W2, b2)[1], labels).mean()
    return data + lam / 2 * (np.linalg.norm(W1) + np.linalg.norm(W2))


@instead_of("gradient", says="where is the 2?")
def forgets_the_mean(X, labels, W1, b1, W2, b2, lam):
    dW1, db1, dW2, db2 = gradient(X, labels, W1, b1, W2, b2, 0)
    n = len(labels)
    return n * dW1 + lam * W1, n * db1, n * dW2 + lam * W2, n * db2


@instead_of("gradient", says="the gate is missing")
def forgets_the_gate(X, labels, W1, b1, W2, b2, lam):
    hidden, scores = forward(X, W1, b1, W2, b2)
    d_scores = d_scores_of(scores, labels)
    d_hidden = d_scores @ W2.T
    dW1, dW2 = X.T @ d_hidden + lam * W1, hidden.T @ d_scores + lam * W2
    return dW1, d_hidden.sum(axis=0), dW2, d_scores.sum(axis=0)


@instead_of("gradient", says="not where its gradient is")
def gates_by_the_gradient(X, labels, W1, b1, W2, b2, lam):
    hidden, scores = forward(X, W1, b1, W2, b2)
    d_scores = d_scores_of(scores, labels)
    d_hidden = np.maximum(d_scores @ W2.T, 0)
    dW1, dW2 = X.T @ d_hidden + lam * W1, hidden.T @ d_scores + lam * W2
    return dW1, d_hidden.sum(axis=0), dW2, d_scores.sum(axis=0)


@instead_of("gradient", says="on the way back the weights are transposed")
def forgets_to_transpose(X, labels, W1, b1, W2, b2, lam):
    hidden, scores = forward(X, W1, b1, W2, b2)
    d_scores = d_scores_of(scores, labels)
    d_hidden = d_scores @ W2 * (hidden > 0)
    dW1, dW2 = X.T @ d_hidden + lam * W1, hidden.T @ d_scores + lam * W2
    return dW1, d_hidden.sum(axis=0), dW2, d_scores.sum(axis=0)


@instead_of("gradient", says="the input of the second map is hidden, after the ReLU")
def uses_what_came_before_the_gate(X, labels, W1, b1, W2, b2, lam):
    dW1, db1, _, db2 = gradient(X, labels, W1, b1, W2, b2, lam)
    d_scores = d_scores_of(forward(X, W1, b1, W2, b2)[1], labels)
    return dW1, db1, (X @ W1 + b1).T @ d_scores + lam * W2, db2


@instead_of("gradient", says="an array of shape (2,) came back")
def sums_the_bias_over_the_wrong_axis(X, labels, W1, b1, W2, b2, lam):
    dW1, db1, dW2, _ = gradient(X, labels, W1, b1, W2, b2, lam)
    return dW1, db1, dW2, d_scores_of(forward(X, W1, b1, W2, b2)[1], labels).sum(axis=1)


@instead_of("gradient", says="so add them up")
def does_not_sum_the_bias(X, labels, W1, b1, W2, b2, lam):
    dW1, db1, dW2, _ = gradient(X, labels, W1, b1, W2, b2, lam)
    return dW1, db1, dW2, d_scores_of(forward(X, W1, b1, W2, b2)[1], labels)


@instead_of("gradient", says="the mean is in d_scores already")
def averages_the_bias(X, labels, W1, b1, W2, b2, lam):
    dW1, db1, dW2, db2 = gradient(X, labels, W1, b1, W2, b2, lam)
    return dW1, db1, dW2, db2 / len(labels)


@instead_of("gradient", says="where is the penalty of W1?")
def forgets_the_penalty_on_the_way_back(X, labels, W1, b1, W2, b2, lam):
    return gradient(X, labels, W1, b1, W2, b2, 0)


@instead_of("gradient", says="twice too much")
def doubles_the_penalty(X, labels, W1, b1, W2, b2, lam):
    return gradient(X, labels, W1, b1, W2, b2, 2 * lam)


@instead_of("gradient", says="where is the penalty of W2?")
def penalises_only_the_first_layer(X, labels, W1, b1, W2, b2, lam):
    dW1, db1, dW2, db2 = gradient(X, labels, W1, b1, W2, b2, lam)
    return dW1, db1, dW2 - lam * W2, db2


@instead_of("gradient", says="it is not divided by n")
def averages_the_penalty(X, labels, W1, b1, W2, b2, lam):
    return gradient(X, labels, W1, b1, W2, b2, lam / len(labels))


@instead_of("gradient", says="the biases are not penalised")
def penalises_biases_on_the_way_back(X, labels, W1, b1, W2, b2, lam):
    dW1, db1, dW2, db2 = gradient(X, labels, W1, b1, W2, b2, lam)
    return dW1, db1 + lam * b1, dW2, db2 + lam * b2


@instead_of("gradient", says="4 arrays: dW1, db1, dW2, db2")
def forgets_the_biases(X, labels, W1, b1, W2, b2, lam):
    dW1, _, dW2, _ = gradient(X, labels, W1, b1, W2, b2, lam)
    return dW1, dW2


@instead_of("gradient", says="the order is dW1, db1, dW2, db2")
def returns_weights_in_the_order_of_the_walk(X, labels, W1, b1, W2, b2, lam):
    dW1, db1, dW2, db2 = gradient(X, labels, W1, b1, W2, b2, lam)
    return dW2, db2, dW1, db1


@instead_of("gradient", says="nothing but zeros")
def returns_zeros(X, labels, W1, b1, W2, b2, lam):
    return tuple(np.zeros_like(p) for p in (W1, b1, W2, b2))


@instead_of("gradient", says="the number of examples is not always 2")
def knows_how_many_examples_there_are(X, labels, W1, b1, W2, b2, lam):
    dW1, db1, dW2, db2 = gradient(X, labels, W1, b1, W2, b2, 0)
    share = len(labels) / 2
    return share * dW1 + lam * W1, share * db1, share * dW2 + lam * W2, share * db2


@instead_of("gradient", says="work on a copy: W1.copy()")
def decays_the_weights_in_place(X, labels, W1, b1, W2, b2, lam):
    answer = gradient(X, labels, W1, b1, W2, b2, lam)
    W1 *= 1 - lam
    return answer


TOTAL = {}


@instead_of("gradient", says="keep something from call to call")
def adds_to_what_is_there(X, labels, W1, b1, W2, b2, lam):
    new = gradient(X, labels, W1, b1, W2, b2, lam)
    old = TOTAL.get(X.shape, [0, 0, 0, 0])
    TOTAL[X.shape] = [one + other for one, other in zip(old, new, strict=True)]
    return tuple(TOTAL[X.shape])


CACHE = {}


@instead_of("gradient", says="keep something from call to call")
def refreshes_the_cache_too_late(X, labels, W1, b1, W2, b2, lam):
    dW1, db1, _, db2 = gradient(X, labels, W1, b1, W2, b2, lam)
    hidden, scores = forward(X, W1, b1, W2, b2)
    hidden, CACHE[X.shape] = CACHE.get(X.shape, hidden), hidden
    return dW1, db1, hidden.T @ d_scores_of(scores, labels) + lam * W2, db2


@instead_of("loss", says="np.arange(len(labels)), labels")
def takes_the_labels_of_all_for_each(X, labels, W1, b1, W2, b2, lam):
    p = softmax(forward(X, W1, b1, W2, b2)[1])
    return -np.log(p[:, labels]).mean() + lam / 2 * ((W1**2).sum() + (W2**2).sum())


@instead_of("loss", says="a guard inside the logarithm")
def guards_the_logarithm(X, labels, W1, b1, W2, b2, lam):
    p = softmax(forward(X, W1, b1, W2, b2)[1])[np.arange(len(labels)), labels]
    return -np.log(p + 1e-12).mean() + lam / 2 * ((W1**2).sum() + (W2**2).sum())


@instead_of("loss", says="take no logarithm of a")
def takes_the_logarithm_of_zero(X, labels, W1, b1, W2, b2, lam):
    p = softmax(forward(X, W1, b1, W2, b2)[1])[np.arange(len(labels)), labels]
    return -np.log(p).mean() + lam / 2 * ((W1**2).sum() + (W2**2).sum())


@instead_of("loss", says="added up, not averaged")
def averages_the_squares(X, labels, W1, b1, W2, b2, lam):
    data = cross_entropies(forward(X, W1, b1, W2, b2)[1], labels).mean()
    return data + lam / 2 * ((W1**2).mean() + (W2**2).mean())


@instead_of("loss", says="W * W squares each entry")
def multiplies_matrices_for_squares(X, labels, W1, b1, W2, b2, lam):
    data = cross_entropies(forward(X, W1, b1, W2, b2)[1], labels).mean()
    return data + lam / 2 * ((W1 @ W1.T).sum() + (W2 @ W2.T).sum())


def from_d_scores(d_scores, X, W1, b1, W2, b2, lam):
    hidden = forward(X, W1, b1, W2, b2)[0]
    d_hidden = d_scores @ W2.T * (hidden > 0)
    dW1, dW2 = X.T @ d_hidden + lam * W1, hidden.T @ d_scores + lam * W2
    return dW1, d_hidden.sum(axis=0), dW2, d_scores.sum(axis=0)


@instead_of("gradient", says="rows of probabilities, not columns")
def makes_columns_of_probabilities(X, labels, W1, b1, W2, b2, lam):
    e = np.exp(forward(X, W1, b1, W2, b2)[1])
    d_scores = (e / e.sum(axis=0) - np.eye(W2.shape[1])[labels]) / len(labels)
    return from_d_scores(d_scores, X, W1, b1, W2, b2, lam)


@instead_of("gradient", says="np.arange(len(labels)), labels")
def takes_one_off_for_the_labels_of_all(X, labels, W1, b1, W2, b2, lam):
    d_scores = softmax(forward(X, W1, b1, W2, b2)[1])
    d_scores[:, labels] -= 1
    return from_d_scores(d_scores / len(labels), X, W1, b1, W2, b2, lam)


@instead_of("gradient", says="a label is the number of a column")
def subtracts_the_labels(X, labels, W1, b1, W2, b2, lam):
    p = softmax(forward(X, W1, b1, W2, b2)[1])
    return from_d_scores((p - labels[:, None]) / len(labels), X, W1, b1, W2, b2, lam)


@instead_of("gradient", says="size 2 is different from 3")
def forgets_to_transpose_what_came_in(X, labels, W1, b1, W2, b2, lam):
    hidden, scores = forward(X, W1, b1, W2, b2)
    _, db1, dW2, db2 = gradient(X, labels, W1, b1, W2, b2, lam)
    d_hidden = d_scores_of(scores, labels) @ W2.T * (hidden > 0)
    return X @ d_hidden + lam * W1, db1, dW2, db2


@instead_of("gradient", says="that is db1; the order is dW1, db1, dW2, db2")
def returns_weights_before_biases(X, labels, W1, b1, W2, b2, lam):
    dW1, db1, dW2, db2 = gradient(X, labels, W1, b1, W2, b2, lam)
    return dW1, dW2, db1, db2


@instead_of("gradient", says="work on a copy: W1.copy()")
def makes_the_slope_of_the_penalty_in_place(X, labels, W1, b1, W2, b2, lam):
    dW1, db1, dW2, db2 = gradient(X, labels, W1, b1, W2, b2, 0)
    W1 *= lam
    W2 *= lam
    return dW1 + W1, db1, dW2 + W2, db2


FIRST = {}


@instead_of("gradient", says="hidden and scores are those of an earlier call")
def never_refreshes_the_cache(X, labels, W1, b1, W2, b2, lam):
    if not FIRST or FIRST["scores"].shape[0] != len(X) or len(b1) != len(FIRST["hidden"][0]):
        FIRST["hidden"], FIRST["scores"] = forward(X, W1, b1, W2, b2)
    d_scores = d_scores_of(FIRST["scores"], labels)
    d_hidden = d_scores @ W2.T * (FIRST["hidden"] > 0)
    dW1, dW2 = X.T @ d_hidden + lam * W1, FIRST["hidden"].T @ d_scores + lam * W2
    return dW1, d_hidden.sum(axis=0), dW2, d_scores.sum(axis=0)


@instead_of("gradient", says="len(X); is X.shape[1]")
def divides_by_the_features(X, labels, W1, b1, W2, b2, lam):
    steps = gradient(X, labels, W1, b1, W2, b2, 0.0)
    dW1, db1, dW2, db2 = (step * len(X) / X.shape[1] for step in steps)
    return dW1 + lam * W1, db1, dW2 + lam * W2, db2


@instead_of("gradient", says="is it measured")
def measures_with_differences(X, labels, W1, b1, W2, b2, lam):
    parameters = [W1, b1, W2, b2]
    steps = []
    for k, parameter in enumerate(parameters):
        step = np.zeros(parameter.shape)
        for i in np.ndindex(parameter.shape):
            sides = []
            for h in (1e-5, -1e-5):
                W1, b1, W2, b2 = moved = [p.copy() for p in parameters]
                moved[k][i] += h
                data = cross_entropies(forward(X, W1, b1, W2, b2)[1], labels).mean()
                sides.append(data + lam / 2 * ((W1**2).sum() + (W2**2).sum()))
            step[i] = (sides[0] - sides[1]) / 2e-5
        steps.append(step)
    return steps


@instead_of("gradient", says="does anything depend on the sizes?")
def measures_where_that_is_cheap(X, labels, W1, b1, W2, b2, lam):
    if W1.size > 100:
        return [0 * parameter for parameter in (W1, b1, W2, b2)]
    return measures_with_differences.function(X, labels, W1, b1, W2, b2, lam)


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
forgets_the_relu | np.maximum(X @ W1 + b1, 0) | X @ W1 + b1 | where is the ReLU?
"""
