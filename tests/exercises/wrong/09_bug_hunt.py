"""What students hand in for exercise 9."""

# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
accuses_nobody | [-1.5, 0.25]]) | [-1.5, 0.25]]); return {} | one call will do for a start
returns_names_only | [-1.5, 0.25]]) |
    [-1.5, 0.25]]); return ["elu", "batch_norm", "embedding"] | what evidence() returns
accuses_somebody_unknown | "batch_norm": | "batchnorm": | the spelling
forgets_upstream | "elu": (uneven, x) | "elu": (x,) | elu: (upstream, x)
gives_upstream_another_shape | "elu": (uneven, x) |
    "elu": (np.ones(4), x) | upstream has the shape of the layer's output, here (3, 2)
looks_up_a_row_that_is_not_there | [0, 2, 0] | [0, 3, 0] | embedding cannot work with them
shows_a_number_that_is_not_finite | "elu": (uneven, x) |
    "elu": (1.0, np.nan) | elu cannot work with them
repeats_the_authors_test | "elu": (uneven, x) | "elu": (np.ones((3, 2)), abs(x)) | which is right
takes_zeros_for_a_bug | [-1.5, 0.25]]) |
    [-1.5, 0.25]]); return {"softmax": (np.ones((3, 2)), x)} | which is right
accuses_a_layer_at_its_kink | [-1.5, 0.25]]) |
    [-1.5, 0.25]]); return {"leaky_relu": (np.ones(2), np.array([0.0, 1.0]))} |
    any slope between the left and the right one is right there
accuses_a_layer_at_a_tie | [-1.5, 0.25]]) |
    [-1.5, 0.25]]); return {"max_pool": (np.ones((1, 1)), np.array([[2.0, 2.0]]))} |
    any slope between the left and the right one is right there
accuses_all_eight | "elu": (uneven, x) |
    "affine": (uneven, x, np.eye(2), np.zeros(2)), "leaky_relu": (uneven, x),
    "softmax": (uneven, x), "max_pool": (uneven[:, :1], x),
    "mean_squared_error": (1.0, x, uneven), "elu": (uneven, x) | which is right
finds_two_of_three | [-1.5, 0.25]]) |
    [-1.5, 0.25]]); return {"elu": (uneven, x), "batch_norm": (uneven, x)} |
    evidence against elu, batch_norm
leaves_batch_norm_as_it_was | upstream.mean(axis=0) - y * (upstream * y).mean(axis=0)) |
    upstream.mean(axis=0)) | not mended yet
forgets_the_mean_in_the_last_term | (upstream * y).mean |
    (upstream * y).sum | not right yet
centers_in_place | y = batch_norm(x) |
    y = batch_norm(x); x -= x.mean(axis=0) | work on a copy: x.copy()
returns_zeros | return p * (upstream | return 0 * (upstream | nothing but zeros
leaves_elu_as_it_was | (x > 0, 1.0, np.exp(np.minimum(x, 0))) |
    (x > 0, 1.0, np.exp(np.minimum(x, 0)) - 1) | not mended yet
leaves_embedding_as_it_was | np.add.at(gradient, ids, upstream) |
    gradient[ids] = upstream | not mended yet
adds_with_an_index_that_repeats | np.add.at(gradient, ids, upstream) |
    gradient[ids] += upstream | what you changed makes no difference here
shares_between_the_lookups | (gradient, ids, upstream) |
    (gradient, ids, upstream / np.bincount(ids)[ids][:, None]) | not right yet
forgets_the_other_branch_of_elu | .where(x > 0, 1.0, np.exp(np.minimum(x, 0))) |
    .exp(x) | not right yet
mends_the_layer_instead | (x > 0, x, np.exp(np.minimum(x, 0)) - 1) |
    (x > 0, x, np.exp(np.minimum(x, 0)) - 1 - x) | the layers are right
mends_what_is_not_broken | LEAK * x, 1.0, LEAK |
    0, 1.0, 0.0 | this one was right before you changed it
"""
