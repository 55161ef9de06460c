"""What students hand in for exercise 12."""

import numpy as np
from wrong_submissions import instead_of


def blocks(x, w):
    height, width = x.shape[1] - w.shape[2] + 1, x.shape[2] - w.shape[3] + 1
    for p, q in np.ndindex(w.shape[2:]):
        yield p, q, np.s_[:, p : p + height, q : q + width]


def convolve(x, w, b):
    y = 0
    for p, q, at in blocks(x, w):
        y = y + np.einsum("fc,chw->fhw", w[:, :, p, q], x[at])
    return y + b[:, None, None]


def backward(upstream, x, w):
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for p, q, at in blocks(x, w):
        dx[at] += np.einsum("fc,fhw->chw", w[:, :, p, q], upstream)
        dw[:, :, p, q] = np.einsum("fhw,chw->fc", upstream, x[at])
    return dx, dw, upstream.sum(axis=(1, 2))


def windows(x):
    c, h, w = x.shape
    return x.reshape(c, h // 2, 2, w // 2, 2)


def pool_back(upstream, x):
    cut = windows(x)
    winners = cut == cut.max(axis=(2, 4), keepdims=True)
    shares = winners / winners.sum(axis=(2, 4), keepdims=True)
    return (shares * upstream[:, :, None, :, None]).reshape(x.shape)


@instead_of("convolve", says="where is b?")
def forgets_the_bias(x, w, b):
    return convolve(x, w, 0 * b)


@instead_of("convolve", says="w is not flipped")
def flips_the_kernel(x, w, b):
    return convolve(x, w[:, :, ::-1, ::-1], b)


@instead_of("convolve", says="not for each p and q")
def adds_the_bias_in_the_loop(x, w, b):
    return convolve(x, w, b * w.shape[2] * w.shape[3])


@instead_of("convolve", says="stays inside the image")
def pads_the_image(x, w, b):
    return convolve(np.pad(x, [(0, 0), (1, 0), (1, 0)]), w, b)


@instead_of("convolve", says="only the last pair is left")
def keeps_the_last_product(x, w, b):
    for p, q, at in blocks(x, w):
        y = np.einsum("fc,chw->fhw", w[:, :, p, q], x[at])
    return y + b[:, None, None]


@instead_of("convolve", says="over all channels")
def looks_at_the_first_channel(x, w, b):
    return convolve(x[:1], w[:, :1], b)


@instead_of("convolve", says="could not be broadcast")
def adds_the_biases_along_the_width(x, w, b):
    return convolve(x, w, 0 * b) + b if len(b) > 1 else convolve(x, w, b)


@instead_of("convolve_backward", says="3 arrays: dx, dw, db")
def forgets_db(upstream, x, w):
    return backward(upstream, x, w)[:2]


@instead_of("convolve_backward", says="flipped: w[p, q] met")
def flips_dw(upstream, x, w):
    dx, dw, db = backward(upstream, x, w)
    return dx, dw[:, :, ::-1, ::-1], db


@instead_of("convolve_backward", says="not their mean")
def averages_dw(upstream, x, w):
    dx, dw, db = backward(upstream, x, w)
    return dx, dw / upstream[0].size, db


@instead_of("convolve_backward", says="the sum over them")
def does_not_sum_db(upstream, x, w):
    dx, dw, _ = backward(upstream, x, w)
    return dx, dw, upstream


@instead_of("convolve_backward", says="there are two, height and width")
def sums_db_over_one_axis(upstream, x, w):
    dx, dw, _ = backward(upstream, x, w)
    return dx, dw, upstream.sum(axis=1)


@instead_of("convolve_backward", says="each has its own bias")
def sums_db_over_all_filters(upstream, x, w):
    dx, dw, _ = backward(upstream, x, w)
    return dx, dw, np.array([upstream.sum()]) if len(w) == 1 else upstream.sum()


@instead_of("convolve_backward", says="the order is dx, dw, db")
def returns_dw_first(upstream, x, w):
    dx, dw, db = backward(upstream, x, w)
    return dw, dx, db


@instead_of("convolve_backward", says="+= adds, and = keeps only the last one")
def overwrites_what_overlaps(upstream, x, w):
    _, dw, db = backward(upstream, x, w)
    dx = np.zeros(x.shape)
    for p, q, at in blocks(x, w):
        dx[at] = np.einsum("fc,fhw->chw", w[:, :, p, q], upstream)
    return dx, dw, db


@instead_of("convolve_backward", says="flipped once too often")
def follows_the_formula_and_flips_again(upstream, x, w):
    _, dw, db = backward(upstream, x, w)
    return backward(upstream, x, w[:, :, ::-1, ::-1])[0], dw, db


@instead_of("convolve_backward", says="the border of x was read, too")
def forgets_the_border(upstream, x, w):
    dx, dw, db = backward(upstream, x, w)
    inside = np.zeros_like(dx)
    inside[:, 1:-1, 1:-1] = dx[:, 1:-1, 1:-1]
    return inside, dw, db


@instead_of("convolve_backward", says="where is w?")
def spreads_upstream_alone(upstream, x, w):
    _, dw, db = backward(upstream, x, w)
    return backward(upstream, x, np.ones_like(w))[0], dw, db


@instead_of("convolve_backward", says="sum over all of them, not only the first")
def takes_the_first_filter_alone(upstream, x, w):
    _, dw, db = backward(upstream, x, w)
    return backward(upstream[:1], x, w[:1])[0], dw, db


@instead_of("convolve_backward", says="filters and channels have changed places")
def swaps_filters_and_channels(upstream, x, w):
    dx, dw, db = backward(upstream, x, w)
    if w.shape[0] == w.shape[1]:  # elsewhere NumPy says that it does not fit
        dx = backward(upstream, x, w.swapaxes(0, 1))[0]
    return dx, dw, db


@instead_of("convolve_backward", says="work on a copy")
def scales_upstream_in_place(upstream, x, w):
    answer = backward(upstream, x, w)
    upstream *= 2
    return answer


CACHE = {}


@instead_of("convolve_backward", says="the x of the call before is still in use")
def keeps_the_first_image(upstream, x, w):
    dx, _, db = backward(upstream, x, w)
    return dx, backward(upstream, CACHE.setdefault((x.shape, w.shape), x), w)[1], db


@instead_of("max_pool", says="the mean of each window")
def averages(x):
    return windows(x).mean(axis=(2, 4))


@instead_of("max_pool", says="may be negative")
def starts_from_zero(x):
    return np.maximum(windows(x).max(axis=(2, 4)), 0)


@instead_of("max_pool", says="do not overlap")
def overlaps_its_windows(x):
    return np.maximum.reduce([x[:, :-1, :-1], x[:, 1:, :-1], x[:, :-1, 1:], x[:, 1:, 1:]])


@instead_of("max_pool_backward", says="where does upstream enter?")
def returns_the_mask(upstream, x):
    return pool_back(np.ones_like(upstream), x)


@instead_of("max_pool_backward", says="all four get it")
def gives_it_to_all(upstream, x):
    return upstream.repeat(2, axis=1).repeat(2, axis=2)


@instead_of("max_pool_backward", says="the gradient of a mean")
def gives_each_a_quarter(upstream, x):
    return upstream.repeat(2, axis=1).repeat(2, axis=2) / 4


@instead_of("max_pool_backward", says="goes to the smallest")
def gives_it_to_the_smallest(upstream, x):
    return pool_back(upstream, -x)


@instead_of("max_pool_backward", says="each window has one")
def knows_one_winner(upstream, x):
    return upstream.repeat(2, axis=1).repeat(2, axis=2) * (x == x.max(axis=(1, 2), keepdims=True))


@instead_of("max_pool_backward", says="how fast does y grow with it?")
def multiplies_by_the_largest(upstream, x):
    return pool_back(upstream, x) * x


@instead_of("max_pool_backward", says="the sum is too large")
def pays_every_winner(upstream, x):
    largest, spread = (
        a.repeat(2, axis=1).repeat(2, axis=2) for a in (windows(x).max(axis=(2, 4)), upstream)
    )
    return spread * (x == largest)


@instead_of("max_pool_backward", says="one of the winners must get it")
def pays_nobody_at_a_tie(upstream, x):
    cut = windows(x)
    winners = cut == cut.max(axis=(2, 4), keepdims=True)
    alone = winners & (winners.sum(axis=(2, 4), keepdims=True) == 1)
    return (alone * upstream[:, :, None, :, None]).reshape(x.shape)


@instead_of("max_pool_backward", says="nothing but zeros")
def returns_zeros(upstream, x):
    return np.zeros_like(x)


WINNERS = {}


@instead_of("max_pool_backward", says="the winners of another x")
def keeps_the_winners_of_the_first_call(upstream, x):
    return pool_back(upstream, WINNERS.setdefault(x.shape, x))


@instead_of("max_pool_backward", says="not np.isclose")
def takes_who_is_close_for_a_winner(upstream, x):
    cut = windows(x)
    winners = np.isclose(cut, cut.max(axis=(2, 4), keepdims=True))
    shares = winners / winners.sum(axis=(2, 4), keepdims=True)
    return (shares * upstream[:, :, None, :, None]).reshape(x.shape)


@instead_of("convolve_backward", says="is it measured")
def measures_with_differences(upstream, x, w):
    _, dw, db = backward(upstream, x, w)
    dx, zero = np.zeros(x.shape), np.zeros(len(w))
    for i in np.ndindex(x.shape):
        sides = []
        for h in (1.0, -1.0):
            moved = x.copy()
            moved[i] += h
            sides.append(np.sum(upstream * convolve(moved, w, zero)))
        dx[i] = (sides[0] - sides[1]) / 2
    return dx, dw, db


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
returns_dw_twice | return dx, dw | return dw, dw | that is dw; the order is
pools_rows_alone | (c, h // 2, 2, w // 2, 2).max(axis=(2, 4)) |
    (c, h, w // 2, 2).max(axis=3) | a window has two
takes_four_in_a_row | (c, h // 2, 2, w // 2, 2).max(axis=(2, 4)) |
    (c, h // 2, w // 2, 4).max(axis=3) | are not a window
"""
