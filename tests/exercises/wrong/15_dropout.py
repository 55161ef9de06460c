"""What students hand in for exercise 15."""

import numpy as np
from wrong_submissions import instead_of

GENERATOR = np.random.default_rng(0)


def masks(seed, shape, p):
    return (np.random.default_rng(seed).random(shape) >= p) / (1 - p)


def both(x, p, seed):
    return masks(seed, (2, *x.shape), p)


def ahead(x, W, first, second):
    return np.tanh((np.tanh(x) * first) @ W) * second


def back(upstream, x, W, first, second, at=None):
    t = np.tanh(x)
    s = np.tanh((t * (first if at is None else at)) @ W)
    return (upstream * second * (1 - s * s)) @ W.T * first * (1 - t * t)


@instead_of("masks", says="draw each entry of each layer independently")
def draws_one_mask_for_both_layers(seed, shape, p):
    return masks(seed, shape[1:], p) * np.ones(shape)


@instead_of("masks", says="draw each entry of each layer independently")
def drops_whole_rows(seed, shape, p):
    return masks(seed, (*shape[:-1], 1), p) * np.ones(shape)


@instead_of("masks", says="is the generator made inside")
def keeps_one_generator(seed, shape, p):
    return (GENERATOR.random(shape) >= p) / (1 - p)


@instead_of("masks", says="does the seed enter?")
def always_takes_seed_0(seed, shape, p):
    return masks(0, shape, p)


@instead_of("forward", says="the first comes first")
def swaps_the_masks(x, W, p, seed):
    first, second = both(x, p, seed)
    return ahead(x, W, second, first)


@instead_of("forward", says="both layers have the same mask")
def begins_again_for_each_layer(x, W, p, seed):
    mask = both(x, p, seed)[0]
    return ahead(x, W, mask, mask)


@instead_of("forward", says="mask of the second layer")
def drops_after_the_first_layer_only(x, W, p, seed):
    return ahead(x, W, both(x, p, seed)[0], 1)


@instead_of("forward", says="after tanh, not before")
def drops_before_tanh(x, W, p, seed):
    first, second = both(x, p, seed)
    return np.tanh(np.tanh(x * first) @ W * second)


@instead_of("forward", says="tanh of tanh")
def has_one_layer(x, W, p, seed):
    return np.tanh(x @ W) * both(x, p, seed)[0]


@instead_of("forward", says="with the seed")
def draws_from_another_seed(x, W, p, seed):
    return ahead(x, W, *both(x, p, seed + 1))


@instead_of("backward", says="its mask was drawn second")
def draws_on_the_way_back(upstream, x, W, p, seed):
    second, first = both(x, p, seed)
    return back(upstream, x, W, first, second)


@instead_of("backward", says="the masks that forward has drawn")
def draws_anew(upstream, x, W, p, seed):
    return back(upstream, x, W, *both(x, p, seed + 100))


@instead_of("backward", says="without dropout")
def forgets_the_masks(upstream, x, W, p, seed):
    return back(upstream, x, W, 1, 1)


@instead_of("backward", says="mask of the first layer")
def forgets_the_first_mask(upstream, x, W, p, seed):
    first, second = both(x, p, seed)
    return back(upstream, x, W, 1, second, at=first)


@instead_of("backward", says="mask of the second layer")
def forgets_the_second_mask(upstream, x, W, p, seed):
    return back(upstream, x, W, both(x, p, seed)[0], 1)


@instead_of("backward", says="where does upstream enter?")
def forgets_upstream(upstream, x, W, p, seed):
    return back(np.ones_like(x), x, W, *both(x, p, seed))


@instead_of("backward", says="with mask 1 in a")
def takes_the_slope_without_the_mask(upstream, x, W, p, seed):
    return back(upstream, x, W, *both(x, p, seed), at=1)


@instead_of("backward", says="that are kept are scaled")
def forgets_the_scale_on_the_way_back(upstream, x, W, p, seed):
    first, second = both(x, p, seed)
    return back(upstream, x, W, first > 0, second > 0, at=first)


@instead_of("backward", says="needs no differences")
def measures_with_central_differences(upstream, x, W, p, seed):
    gradient, h, drawn = np.zeros_like(x), 3e-6, both(x, p, seed)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        rise = ahead(x + step, W, *drawn) - ahead(x - step, W, *drawn)
        gradient[i] = np.sum(rise * upstream) / (2 * h)
    return gradient


@instead_of("backward", says="@ W.T")
def forgets_to_transpose(upstream, x, W, p, seed):
    first, second = both(x, p, seed)
    t = np.tanh(x)
    s = np.tanh((t * first) @ W)
    return (upstream * second * (1 - s * s)) @ W * first * (1 - t * t)


@instead_of("backward", says="changes its argument")
def writes_into_upstream(upstream, x, W, p, seed):
    upstream[...] = back(upstream, x, W, *both(x, p, seed))
    return upstream


@instead_of("repeatable", says="f is called twice")
def calls_once(f, x):
    y = f(x)
    return np.array_equal(y, y)


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
forgets_to_scale | return (np.random.default_rng(seed).random(shape) >= p) / (1 - p) |
    return 1.0 * (np.random.default_rng(seed).random(shape) >= p) | multiplied by 1 / (1 - p)
divides_by_p | (np.random.default_rng(seed).random(shape) >= p) / (1 - p) |
    (np.random.default_rng(seed).random(shape) >= p) / p | that is 1 / p
keeps_with_probability_p | (np.random.default_rng(seed).random(shape) >= p) / (1 - p) |
    (np.random.default_rng(seed).random(shape) < p) / (1 - p) | exchange p and 1 - p
draws_any_number | return (np.random.default_rng(seed).random(shape) >= p) |
    return np.random.default_rng(seed).random(shape) | an entry is dropped, or multiplied
compares_with_a_tolerance | array_equal | allclose | noise in the last digits
answers_entry_by_entry | return np.array_equal(f(x), f(x)) | return f(x) == f(x) | the shape
calls_ten_times | return np.array_equal(f(x), f(x)) |
    return all([np.array_equal(f(x), f(x)) for _ in range(5)]) | call f twice, and compare
counts_those_always_kept | * p**k | * (1 - p) ** k | p is for dropping
counts_those_seen | p**k | (1 - p**k) | counts the entries that are seen
gives_a_probability | return n * p | return p | there are n
adds_probabilities | p**k | p * k | do not add up
"""
