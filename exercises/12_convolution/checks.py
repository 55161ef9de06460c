"""Checks of exercise 12."""

import inspect

import numpy as np

from expect import AnyOf, Call, Part, after, builds_on, is_derived, is_no_measurement

PARTS = ("dx", "dw", "db")
SWAPPED = "that is the other one; the order is dx, dw, db"

# One channel, one filter, small integers, nothing symmetric: by hand, all of it.
X = np.array([[[1.0, 2.0, 0.0], [0.0, 1.0, 3.0], [2.0, 0.0, 1.0]]])
W, B = np.array([[[[1.0, 2.0], [-1.0, 3.0]]]]), np.array([10.0])
UPSTREAM = np.array([[[1.0, 1.0], [2.0, -1.0]]])
FLIPPED = W[:, :, ::-1, ::-1]

# The last window has no positive number.
IMAGE = np.array([[[1.0, 5.0, 2.0, 0.0, -1.0, -4.0], [3.0, 4.0, 7.0, 6.0, -3.0, -2.0]]])
POOLED = np.array([[[5.0, 7.0, -1.0]]])
TO_POOL = np.array([[[10.0, -3.0, 2.0]]])


def check_the_window_slides(sub):
    """One filter on one channel: each place has its weighted sum."""
    y = conv(X, W, B)
    on_zeros = AnyOf(*(conv(padded(X, *by), W, B) for by in ((0, 1), (1, 0), (1, 1))))
    parts = [np.s_[:, :, i] for i in range(2)] + [np.s_[:, :, :, i] for i in range(2)]
    slips = {
        "a row or a column of the filter is left out: do p and q go over all of it?": AnyOf(
            *(y - conv(X, np.where(np.isin(W, W[part]), W, 0), 0 * B) for part in parts)
        ),
        "where is b?": y - B,
        "b is added, not subtracted": y - 2 * B,
        "the products are added to y, not subtracted": 2 * B - y,
        "each p and q has its own weight: w[:, :, p, q]": conv(
            X, np.full_like(W, W[0, 0, 0, 0]), B
        ),
        "w is not flipped: w[p, q] meets x[i + p, j + q]": conv(X, FLIPPED, B),
        "rows and columns of w have changed places": conv(X, W.swapaxes(2, 3), B),
        "b is added once for each place, not for each p and q": y + 3 * B,
        "add up over p and q; only the last pair is left": AnyOf(
            3 * X[:, 1:, 1:] + B, 3 * X[:, 1:, 1:]
        ),
        "the window stays inside the image: y is smaller than x": on_zeros,
    }
    Call(sub, "convolve", X, W, B).gives(y, slips)


@builds_on(check_the_window_slides)
def check_channels_and_filters(sub):
    """Each filter reads all channels, and has its own bias."""
    x, w, b, _ = example(2, 3, (3, 4), (2, 3))
    y, each_b = conv(x, w, b), b[:, None, None]
    slips = {
        "where is b? each filter has its own": y - each_b,
        "a filter sums over all channels, not only over the first": conv(x[:1], w[:, :1], b),
        "the mean over the channels; it is their sum": (y - each_b) / 2 + each_b,
    }
    Call(sub, "convolve", x, w, b).gives(y, slips)
    for sizes in ((3, 2, (5, 3), (2, 2)), (1, 2, (2, 6), (1, 3)), (2, 1, (4, 4), (3, 2))):
        x, w, b, _ = example(*sizes)
        look_at = "right for a square y, but not here: which height and width does y have?"
        Call(sub, "convolve", x, w, b).gives(conv(x, w, b), otherwise=look_at)
        Call(sub, "convolve", x, w, b).gives_in_any_size(conv(x, w, b), 1, 1, 2, of_result=2)


def check_dw_and_db(sub):
    """The gradients dw and db are sums over all places."""
    right = dw_of(UPSTREAM, X, W)
    slips = {
        "flipped: w[p, q] met x[i + p, j + q], with a plus": right[:, :, ::-1, ::-1],
        "rows and columns have changed places": right.swapaxes(2, 3),
        "the sum over all places, not their mean": right / 4,
        "dw is upstream times the block of x, not w times it": dw_of(X[:, :2, :2], X, W),
        SWAPPED: dx_of(UPSTREAM, W),
    }
    part("dw", sub).gives(right, slips)
    one_axis = AnyOf(UPSTREAM.sum(axis=1), UPSTREAM.sum(axis=2))
    slips = {
        "b was added at every place, so its gradient is the sum over them": UPSTREAM,
        "the sum over all places, not their mean": UPSTREAM.mean(axis=(1, 2)),
        "summed over one axis; there are two, height and width": one_axis,
        "where does upstream enter?": AnyOf([1], [UPSTREAM.size]),
    }
    part("db", sub).gives(UPSTREAM.sum(axis=(1, 2)), slips)


def check_dx(sub):
    """The gradient dx adds up the shares of all places that read the entry."""
    right, flipped = dx_of(UPSTREAM, W), dx_of(UPSTREAM, FLIPPED)
    last = np.zeros_like(X)
    for p, q in np.ndindex(2, 2):
        last[:, p : p + 2, q : q + 2] = W[0, 0, p, q] * UPSTREAM
    slips = {
        "w is flipped once too often: add at [i + p, j + q], where x was read": flipped,
        "the blocks overlap: += adds, and = keeps only the last one": last,
        "the border of x was read, too": padded(right[:, 1:2, 1:2], 1, 1),
        "rows and columns of w have changed places": dx_of(UPSTREAM, W.swapaxes(2, 3)),
        "where is w? upstream alone is added": dx_of(UPSTREAM, np.ones_like(W)),
        "the mean over p and q; it is their sum": right / 4,
        SWAPPED: dw_of(UPSTREAM, X, W),
    }
    part("dx", sub).gives(right, slips)


@builds_on(check_dw_and_db)
def check_nothing_is_remembered(sub):
    """A second call with other arrays gives another answer."""
    before, right = dw_of(UPSTREAM, X, W), dw_of(2 * UPSTREAM, X[:, ::-1], W)
    part("dw", sub).run()
    mistakes = {
        "that is the answer to the last call; do you keep something from it?": before,
        "the answers of two calls are added; start from zero each time": before + right,
        "the x of the call before is still in use": 2 * before,
    }
    part("dw", sub, 2 * UPSTREAM, X[:, ::-1]).gives(right, mistakes)


@after(check_dw_and_db, check_dx)
@builds_on(check_nothing_is_remembered)
def check_other_sizes(sub):
    """All three are right for other sizes, in all digits: derived, not measured."""
    for sizes in (
        (2, 3, (3, 4), (2, 3)),
        (2, 2, (3, 3), (2, 2)),
        (3, 1, (4, 3), (1, 3)),
        (4, 3, (9, 8), (3, 2)),
        (2, 3, (3, 6), (2, 2)),
    ):
        x, w, _, upstream = example(*sizes)
        first = dx_of(upstream[:1], w[:1])
        added = AnyOf(
            dw_of(upstream, x, w).sum(axis=1, keepdims=True) + np.zeros(w.shape),
            dx_of(upstream, w).sum(axis=0) + np.zeros(x.shape),
        )
        mistakes = {
            "each channel of x has its own w, dw and dx: the channels are not added up": added,
            "every filter reads x: sum over all of them, not only the first": first,
            "that is the sum over all filters; each has its own bias": upstream.sum(),
        }
        if sizes[0] == sizes[1]:
            swapped = dx_of(upstream, w.swapaxes(0, 1))
            mistakes["filters and channels have changed places: w[f, c, p, q]"] = swapped
        for name, right in zip(PARTS, all_of(upstream, x, w), strict=True):
            part(name, sub, upstream, x, w).gives(right, mistakes)
    # y is linear in x, and in w: without large entries differences would have no error either.
    large = upstream, x + 1e9 * (x == x.max()), w + 1e9
    for name, right in zip(PARTS, all_of(*large), strict=True):
        is_derived(part(name, sub, *large), right)
    for name, right in zip(PARTS, all_of(upstream, x, w), strict=True):
        order = 1 if name == "db" else 2
        part(name, sub, upstream, x, w).gives_in_any_size(right, 1, 1, 1, of_result=order)
    calls = []
    for side in (9, 33):
        x, w, b, upstream = example(2, 2, (side, side), (3, 3))
        calls.append(Call(sub, "convolve_backward", upstream, x, w))
        calls[-1].text = "convolve_backward(upstream, x, w)"
        calls[-1].where = f"x of 2 x {side} x {side}, two filters of 2 x 3 x 3"
    is_no_measurement(*calls, Call(sub, "convolve", x, w, b))


def check_the_largest_of_four(sub):
    """Max pooling keeps the largest of each 2 x 2 window."""
    windows = IMAGE.reshape(1, 1, 2, 3, 2)
    mistakes = {
        "that is the mean of each window": windows.mean(axis=(2, 4)),
        "that is the sum of each window": windows.sum(axis=(2, 4)),
        "that is one corner of each window": AnyOf(
            *(IMAGE[:, i::2, j::2] for i, j in np.ndindex(2, 2))
        ),
        "a window is of neighbors: reshape to (c, h // 2, 2, w // 2, 2)": (
            IMAGE.reshape(1, 2, 1, 2, 3).max(axis=(1, 3))
        ),
        "that is the smallest of each window": windows.min(axis=(2, 4)),
        "the largest of a window may be negative": np.maximum(POOLED, 0),
        "the largest of each row; a window has two": IMAGE.reshape(1, 2, 3, 2).max(axis=3),
        "the largest of each column; a window has two": IMAGE.max(axis=1, keepdims=True),
        "the windows do not overlap: the next one begins two entries later": [[[5, 7, 7, 6, -1]]],
        "four neighbors in memory are not a window": IMAGE.reshape(1, 1, 3, 4).max(axis=3),
    }
    Call(sub, "max_pool", IMAGE).gives(POOLED, mistakes)
    x = np.random.default_rng(5).permutation(48).reshape(3, 4, 4) / 3 - 7
    Call(sub, "max_pool", x).gives(pooled(x))
    Call(sub, "max_pool", x[:, :2]).gives_in_any_size(pooled(x[:, :2]), 1)


def check_the_winner_takes_it(sub):
    """The largest of each window gets its upstream, and the others get 0."""
    right = np.array([[[0.0, 10.0, 0.0, 0.0, 2.0, 0.0], [0.0, 0.0, -3.0, 0.0, 0.0, 0.0]]])
    to_the_smallest = pooled_back(TO_POOL, -IMAGE)
    spread = TO_POOL.repeat(2, axis=1).repeat(2, axis=2)
    mistakes = {
        "you returned the mask; where does upstream enter?": right != 0,
        "upstream is multiplied by the share of each entry, not added": spread + (right != 0),
        "all four get it; only the largest moved the output": spread,
        "a quarter for each entry is the gradient of a mean": spread / 4,
        "that goes to the smallest": to_the_smallest,
        "upstream times the largest; how fast does y grow with it?": right * IMAGE,
        "there is only one winner; each window has one": spread * (IMAGE == 7),
        "the largest of a window may be negative": right * (IMAGE > 0),
    }
    Call(sub, "max_pool_backward", TO_POOL, IMAGE).gives(right, mistakes)
    close = np.array([[[1.0, 1.0 - 2.0**-53], [0.0, 0.0]]])
    call = Call(sub, "max_pool_backward", np.array([[[3.0]]]), close)
    call.where = "the second entry is smaller than the first, by 2**-53"
    look_at = "an entry that is smaller, if only in the last digit, is no winner and gets nothing"
    call.gives([[[3.0, 0.0], [0.0, 0.0]]], otherwise=look_at)
    mistakes = {"those are the winners of another x, kept from a call before": right}
    Call(sub, "max_pool_backward", TO_POOL, -IMAGE).gives(to_the_smallest, mistakes)
    x = np.random.default_rng(6).permutation(32).reshape(2, 4, 4) / 4 - 3
    upstream = np.arange(-3.5, 4.0).reshape(2, 2, 2)
    for channels in (2, 1):
        up, at = upstream[:channels], x[:channels]
        Call(sub, "max_pool_backward", up, at).gives(pooled_back(up, at))
    Call(sub, "max_pool_backward", up, at).gives_in_any_size(pooled_back(up, at), 1, 1)


@builds_on(check_the_winner_takes_it)
def check_a_tie_is_paid_once(sub):
    """If several entries are the largest, they share upstream, and their shares add up to it."""
    for window, winners in (
        ([[2.0, 0.0], [1.0, 2.0]], [[True, False], [False, True]]),
        ([[0.0, 0.0], [0.0, 0.0]], [[True, True], [True, True]]),
    ):
        call = Call(sub, "max_pool_backward", np.array([[[6.0]]]), np.array([window]))
        got = call.has_shape((1, 2, 2))
        expected = "shares of 6 for the largest, which add up to 6, and 0 for the others"
        if not np.all(got >= 0) or got[0][~np.array(winners)].any():
            call.refuse(got, expected, "a share is from 0 to 1, and only the largest have one")
        if not np.isclose(got.sum(), 6):
            look_at = "one of the winners must get it"
            if got.sum() > 6:
                look_at = "x == max marks every winner; if each gets all, the sum is too large"
            call.refuse(got, expected, look_at)


@after(check_the_winner_takes_it)
@builds_on(check_dw_and_db)
def check_inputs_are_left_alone(sub):
    """No function changes its arguments."""
    Call(sub, "convolve", X, W, B).leaves_its_arguments()
    part("dx", sub).leaves_its_arguments()
    Call(sub, "max_pool", IMAGE).leaves_its_arguments()
    Call(sub, "max_pool_backward", TO_POOL, IMAGE).leaves_its_arguments()


@after(check_dx)
@builds_on(check_dw_and_db, check_other_sizes)
def heldout_a_window_as_large_as_the_image(sub):
    """A filter may be one entry, or all of the image."""
    for window in ((1, 1), (3, 2)):
        x, w, _, upstream = example(2, 3, (3, 2), window)
        part("dx", sub, upstream, x, w).gives(dx_of(upstream, w))
        part("dw", sub, upstream, x, w).gives(dw_of(upstream, x, w))


def part(name, sub, upstream=UPSTREAM, x=X, w=W):
    """Prepare a call, to look at one of its answers."""
    return Part(sub, "convolve_backward", upstream, x, w, part=name, parts=PARTS)


def example(channels, filters, image, window):
    """Draw an image, filters, biases and an upstream, in round numbers."""
    rng = np.random.default_rng(channels + filters)
    places = [side - k + 1 for side, k in zip(image, window, strict=True)]
    shapes = (channels, *image), (filters, channels, *window), (filters,), (filters, *places)
    return [rng.normal(size=shape).round(1) for shape in shapes]


def windows(x, w):
    """Return the window of x that each place sees, in the last two axes."""
    return np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(1, 2))


def conv(x, w, b):
    """Convolve."""
    return np.einsum("cijpq,fcpq->fij", windows(x, w), w) + b[:, None, None]


def dx_of(upstream, w):
    """Return the gradient by the image: each entry meets w backward in the windows it is in."""
    around = [(0, 0), *((side - 1, side - 1) for side in w.shape[2:])]
    return np.einsum("fijpq,fcpq->cij", windows(np.pad(upstream, around), w), w[:, :, ::-1, ::-1])


def dw_of(upstream, x, w):
    """Return the gradient by the filters."""
    return np.einsum("fij,cijpq->fcpq", upstream, windows(x, w))


def all_of(upstream, x, w):
    """Return all three gradients."""
    return dx_of(upstream, w), dw_of(upstream, x, w), upstream.sum(axis=(1, 2))


def padded(x, before, behind):
    """Put zeros around an image."""
    return np.pad(x, [(0, 0), (before, behind), (before, behind)])


def pooled(x):
    """Pool."""
    c, h, w = x.shape
    return x.reshape(c, h // 2, 2, w // 2, 2).max(axis=(2, 4))


def pooled_back(upstream, x):
    """Return the gradient of pooling, where there is no tie."""
    up, largest = (a.repeat(2, axis=1).repeat(2, axis=2) for a in (upstream, pooled(x)))
    return up * (x == largest)


def answers_of(vjp):
    """Answer as a submission would that has this vjp, right or wrong, from the zoo.

    The zoo's have two channels and two filters, or one image of 4 x 4; elsewhere it is right.
    """

    def convolve_backward(upstream, x, w):
        dx, dw, db = all_of(upstream, x, w)
        return *(vjp(upstream, x, w) if w.shape == (2, 2, 2, 2) else (dx, dw)), db

    def max_pool_backward(upstream, x):
        if x.shape == (1, 4, 4):
            return vjp(upstream[0], x[0])[None]
        if x.shape == (1, 2, 2):  # perhaps a tie
            return np.where(np.arange(4).reshape(1, 2, 2) == x.argmax(), upstream, 0.0)
        return pooled_back(upstream, x)

    if len(inspect.signature(vjp).parameters) == 2:  # upstream, x
        return {"max_pool_backward": max_pool_backward}
    return {"convolve_backward": convolve_backward}
