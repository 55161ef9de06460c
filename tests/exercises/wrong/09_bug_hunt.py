"""What students hand in for exercise 9."""

import numpy as np
from wrong_submissions import instead_of

ONES = np.ones((2, 2))
POSITIVE = np.array([[0.5, 3.0], [2.5, 1.5]])
MIXED = np.array([[-0.5, 1.0], [2.0, -1.5], [0.3, 0.7]])
UNEVEN = np.array([[1.0, -2.0], [0.5, 3.0], [-1.5, 0.25]])
RIGHT = {
    "elu": (UNEVEN, MIXED),
    "batch_norm": (UNEVEN, MIXED),
    "embedding": (UNEVEN, MIXED, np.array([0, 2, 0])),
}


# --- evidence that is none -----------------------------------------------------------------------


@instead_of("evidence", says="one layer will do for a start")
def accuses_nobody():
    return {}


@instead_of("evidence", says="what evidence() returns")
def returns_names_only():
    return ["elu", "batch_norm", "embedding"]


@instead_of("evidence", says="the spelling")
def accuses_somebody_unknown():
    return {"batchnorm": (UNEVEN, MIXED)}


@instead_of("evidence", says="elu: (upstream, x)")
def forgets_upstream():
    return {"elu": (MIXED,)}


@instead_of("evidence", says="upstream has the shape of the layer's output, here (3, 2)")
def weights_what_is_not_there():
    return {"elu": (np.ones(4), MIXED)}


@instead_of("evidence", says="embedding cannot work with them")
def looks_up_a_row_that_is_not_there():
    return {"embedding": (ONES, POSITIVE, np.array([0, 2]))}


@instead_of("evidence", says="elu cannot work with them")
def shows_a_number_that_is_not_finite():
    return {"elu": (1.0, np.nan)}


@instead_of("evidence", says="[1 1]], which is right")
def repeats_the_authors_test():
    return {"elu": (ONES, POSITIVE)}


@instead_of("evidence", says="which is right")
def takes_zeros_for_a_bug():
    return {"softmax": (ONES, POSITIVE)}


@instead_of("evidence", says="any slope between the left and the right one is right there")
def accuses_a_layer_at_its_kink():
    return {"leaky_relu": (np.array([1.0, 2.0]), np.array([0.0, 1.0]))}


@instead_of("evidence", says="any slope between the left and the right one is right there")
def accuses_a_layer_at_a_tie():
    return {"max_pool": (np.array([[1.0]]), np.array([[2.0, 2.0]]))}


@instead_of("evidence", says="which is right")
def accuses_all_eight():
    pairs = {"max_pool": (np.ones((3, 1)), MIXED), "mean_squared_error": (1.0, MIXED, UNEVEN)}
    affine = {"affine": (UNEVEN, MIXED, np.eye(2), np.zeros(2))}
    return RIGHT | {name: (UNEVEN, MIXED) for name in ("leaky_relu", "softmax")} | pairs | affine


@instead_of("evidence", says="evidence against elu, embedding")
def finds_two_of_three():
    return {"elu": RIGHT["elu"], "embedding": RIGHT["embedding"]}


# --- repairs that are none ------------------------------------------------------------------------


@instead_of("batch_norm_backward", says="not mended yet")
def leaves_batch_norm_as_it_was(upstream, x):
    return (upstream - upstream.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5)


@instead_of("batch_norm_backward", says="which entries still differ")
def forgets_the_mean_in_the_last_term(upstream, x):
    deviation = np.sqrt(x.var(axis=0) + 1e-5)
    y = (x - x.mean(axis=0)) / deviation
    return (upstream - upstream.mean(axis=0) - y * (upstream * y).sum(axis=0)) / deviation


@instead_of("batch_norm_backward", says="work on a copy: x.copy()")
def centres_in_place(upstream, x):
    x -= x.mean(axis=0)
    deviation = np.sqrt(x.var(axis=0) + 1e-5)
    y = x / deviation
    return (upstream - upstream.mean(axis=0) - y * (upstream * y).mean(axis=0)) / deviation


@instead_of("softmax_backward", says="nothing but zeros")
def returns_zeros(upstream, x):
    return np.zeros_like(x)


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
leaves_elu_as_it_was | (x > 0, 1.0, np.exp(np.minimum(x, 0))) |
    (x > 0, 1.0, np.exp(np.minimum(x, 0)) - 1) | not mended yet
leaves_embedding_as_it_was | np.add.at(gradient, ids, upstream) |
    gradient[ids] = upstream | not mended yet
adds_with_an_index_that_repeats | np.add.at(gradient, ids, upstream) |
    gradient[ids] += upstream | what you changed makes no difference here
shares_between_the_lookups | (gradient, ids, upstream) |
    (gradient, ids, upstream / np.bincount(ids)[ids][:, None]) | which entries still differ
forgets_the_other_branch_of_elu | .where(x > 0, 1.0, np.exp(np.minimum(x, 0))) |
    .exp(x) | which entries still differ
mends_the_layer_instead | (x > 0, x, np.exp(np.minimum(x, 0)) - 1) |
    (x > 0, x, np.exp(np.minimum(x, 0)) - 1 - x) | the layers are right
mends_what_is_not_broken | LEAK * x, 1.0, LEAK |
    0, 1.0, 0.0 | this one was right before you changed it
"""
