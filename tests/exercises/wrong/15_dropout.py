"""What students hand in for exercise 15."""

# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
forgets_to_scale | >= p) / (1 - p) | >= p) * 1.0 | multiplied by 1 / (1 - p)
divides_by_p | >= p) / (1 - p) | >= p) / p | that is 1 / p
keeps_with_probability_p | (shape) >= p) | (shape) < p) | they are exchanged
draws_any_number | return (np.random.default_rng(seed).random(shape) >= p) |
    return np.random.default_rng(seed).random(shape) | an entry is dropped, or multiplied
draws_one_mask_for_both_layers | (shape) >= p) / (1 - p) |
    (shape[1:]) >= p) / (1 - p) * np.ones(shape) | draw each entry of each layer independently
drops_whole_rows | (shape) >= p) / (1 - p) |
    ((*shape[:-1], 1)) >= p) / (1 - p) * np.ones(shape) |
    draw each entry of each layer independently
keeps_one_generator | np.random.default_rng(seed).random(shape) |
    vars(masks).setdefault("generator", np.random.default_rng(0)).random(shape) |
    is the generator made inside
always_takes_seed_0 | default_rng(seed) | default_rng(0) | does the seed enter?
swaps_the_masks | (np.tanh(x) * first) @ W) * second |
    (np.tanh(x) * second) @ W) * first | the first comes first
begins_again_for_each_layer | @ W) * second | @ W) * first | both layers have the same mask
drops_after_the_first_layer_only | @ W) * second | @ W) | mask of the second layer
drops_before_tanh | (np.tanh(x) * first) | np.tanh(x * first) | after tanh, not before
has_one_layer | np.tanh((np.tanh(x) * first) @ W) * second |
    np.tanh(x @ W) * first | tanh of tanh
draws_from_another_seed | return np.tanh(( |
    first, second = masks(seed + 1, (2, *x.shape), p); return np.tanh(( | with the seed
draws_on_the_way_back | t = np.tanh(x) |
    second, first = first, second; t = np.tanh(x) | its mask was drawn second
draws_other_masks | t = np.tanh(x) |
    first, second = masks(seed + 100, (2, *x.shape), p); t = np.tanh(x) |
    where the masks are those of forward
forgets_the_masks | t = np.tanh(x) | first = second = 1; t = np.tanh(x) | without dropout
forgets_the_first_mask | W.T * first | W.T | mask of the first layer
forgets_the_second_mask | upstream * second | upstream | mask of the second layer
forgets_upstream | (upstream * second | (second | where does upstream enter?
takes_the_slope_without_the_mask | (t * first) @ W | t @ W | with mask 1 in a
forgets_the_scale_on_the_way_back | return (upstream |
    first, second = first > 0, second > 0; return (upstream | that are kept are scaled
forgets_to_transpose | W.T | W | @ W.T
writes_into_upstream | return (upstream * second * (1 - s * s)) @ W.T * first * (1 - t * t) |
    upstream[...] = (upstream * second * (1 - s * s)) @ W.T * first * (1 - t * t);
    return upstream | changes its argument
measures_with_central_differences |
    return (upstream * second * (1 - s * s)) @ W.T * first * (1 - t * t) |
    from gradcheck_ref import central_difference as slopes;
    return slopes(lambda x: forward(x, W, p, seed), x, h=3e-6, upstream=upstream) |
    needs no differences
calls_once | return np.array_equal(f(x), f(x)) |
    y = f(x); return np.array_equal(y, y) | f is called twice
calls_ten_times | np.array_equal(f(x), f(x)) |
    all([np.array_equal(f(x), f(x)) for _ in range(5)]) | call f twice, and compare
compares_with_a_tolerance | array_equal | allclose | noise in the last digits
answers_entry_by_entry | np.array_equal(f(x), f(x)) | f(x) == f(x) | the shape
counts_those_always_kept | * p**k | * (1 - p) ** k | p is for dropping
counts_those_seen | p**k | (1 - p**k) | counts the entries that are seen
gives_a_probability | return n * p | return p | there are n
adds_probabilities | p**k | p * k | do not add up
drops_as_many_in_every_row | (np.random.default_rng(seed).random(shape) >= p) |
    (np.random.default_rng(seed).random(shape).argsort().argsort() >= p * shape[-1]) |
    the number of those kept varies
drops_as_many_in_every_mask | (np.random.default_rng(seed).random(shape) >= p) |
    (np.random.default_rng(seed).permutation(np.prod(shape)).reshape(shape) >= p * np.prod(shape)) |
    the number of those kept varies
compares_what_can_be_stretched | np.array_equal(f(x), f(x)) | bool(np.all(f(x) == f(x))) |
    stretches arrays until they fit
asks_arrays_alone | np.array_equal(f(x), f(x)) | (f(x) == f(x)).all() | AttributeError
"""
