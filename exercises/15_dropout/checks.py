"""Checks of exercise 15."""

import numpy as np

from expect import AnyOf, Call, Formula, after, builds_on, is_derived, is_no_measurement, same, slip

P = 0.25
X = np.array([[0.5, -1.0, 2.0, 0.25], [1.5, -0.5, 0.75, -2.0], [0.1, 1.0, -0.2, 0.6]])
W = np.array(
    [[1.0, -0.5, 0.2, 0.4], [0.3, 0.8, -1.0, 0.1], [-0.6, 0.5, 0.9, 0.7], [0.2, -0.3, 0.6, -1.2]]
)
UPSTREAM = np.array([[1.0, -2.0, 3.0, 0.5], [-1.0, 2.0, 1.5, 4.0], [2.5, -3.0, 1.0, -0.5]])
SEEDS = (1, 2, 3)


def check_masks(sub):
    """An entry of the mask is 0 with probability p, and otherwise 1 / (1 - p)."""
    call = Call(sub, "masks", 0, (2, 40, 50), P)
    got, kept = call.has_shape((2, 40, 50), masks), 1 / (1 - P)
    says = slip(got, np.where(got != 0, kept, 0.0))
    got = got.astype(float)
    expected = "an array of 0 and 1 / (1 - p), which is 1.33333"
    for other in np.unique(got[(got != 0) & ~np.isclose(got, kept, rtol=1e-12)])[:1]:
        look_at = {
            1.0: "the mean should stay what it was: the others are multiplied by 1 / (1 - p)",
            1 / P: "that is 1 / p; an entry is kept with probability 1 - p",
            1 - P: "that is 1 - p; the others are divided by it",
        }.get(float(other), says or "an entry is dropped, or multiplied by 1 / (1 - p)")
        known = bool(says) or other in (1, 1 / P, 1 - P)
        call.refuse(f"entries such as {other:.6g}", expected, look_at, known=known, stand_in=masks)
    dropped = np.mean(got == 0)
    if not 0.2 < dropped < 0.3:
        known = 0.7 < dropped < 0.8
        look_at = "an entry is dropped where rng.random(shape) is below p"
        look_at = "p is for dropping, 1 - p for keeping: they are exchanged" if known else look_at
        call.refuse(
            f"{dropped:.0%} of the entries dropped",
            f"about {P:.0%}",
            look_at,
            known=known,
            stand_in=masks,
        )
    rows = got.reshape(80, 50)
    for lines, what in ((got.reshape(2, -1), "layers"), (rows, "rows"), (rows.T, "columns")):
        if len(np.unique(lines, axis=0)) < 0.9 * len(lines):
            look_at = "draw each entry of each layer independently: rng.random(shape)"
            call.refuse(
                f"{what} with the same mask",
                "each with its own",
                look_at,
                known=True,
                stand_in=masks,
            )
    for lines, what in ((rows, "row"), (rows.T, "column")):
        varies(call, np.count_nonzero(lines, axis=1), what)


@after(check_masks)
def check_the_seed(sub):
    """The same seed gives the same masks, and another seed gives others."""
    first = Call(sub, "masks", 1, (2, 30), P).run()
    again = Call(sub, "masks", 1, (2, 30), P)
    again.where = "called for the second time"
    if not same(got := again.run(), first):
        look_at = "is the generator made inside, from the seed?"
        again.refuse(got, first, look_at, known=True, stand_in=masks)
    other = Call(sub, "masks", 2, (2, 30), P)
    if np.array_equal(other.run(), first):
        other.refuse(
            "the masks of seed 1", "others", "does the seed enter?", known=True, stand_in=masks
        )
    drawn = [Call(sub, "masks", seed, (40, 50), P).run() for seed in range(5)]
    varies(other, [np.count_nonzero(mask) for mask in drawn], "mask")


@after(check_the_seed)
def check_forward(sub):
    """Each layer is multiplied by its own mask."""
    mistakes = {
        "there are two layers: tanh of tanh(x) @ W": AnyOf(np.tanh(X @ W), np.tanh(X)),
        "tanh comes after W, not before": np.tanh(np.tanh(X)) @ W,
        "where is the second tanh?": np.tanh(X) @ W,
        "W as it is, not its transpose": ahead(X, 1, 1, W.T),
        "a mask multiplies; it is not added": np.tanh((np.tanh(X) + 1) @ W) + 1,
        "0 divided by 0: p = 0 drops nothing; are p and 1 - p exchanged?": np.full(X.shape, np.nan),
    }
    Call(sub, "forward", X, W, 0.0, 1).gives(ahead(X, 1, 1), mistakes)
    for seed in SEEDS:
        first, second = drawn(sub, seed)
        inside, swapped = np.tanh(X * first), ahead(X, second, first)
        same_mask = AnyOf(ahead(X, first, first), ahead(X, second, second))
        before = AnyOf(np.tanh(inside @ W * second), np.tanh(inside @ W) * second)
        slips = {
            "the masks are in the order of the layers: the first comes first": swapped,
            "both layers have the same mask": same_mask,
            "where is the mask of the second layer?": ahead(X, first, 1),
            "where is the mask of the first layer?": ahead(X, 1, second),
            "a mask comes after tanh, not before": before,
        }
        look_at = f"is it masks(seed, (2, *x.shape), p), with the seed {seed}?"
        call = Call(sub, "forward", X, W, P, seed)
        call.gives(ahead(X, first, second), slips, otherwise=look_at)


@after(check_the_seed)
def check_backward(sub):
    """The backward pass uses the masks of the forward pass."""
    for seed in SEEDS:
        first, second = drawn(sub, seed)
        kept, t = (first > 0, second > 0), np.tanh(X)
        s = np.tanh((t * first) @ W)

        def by(*masks, upstream=UPSTREAM, **how):
            return back(upstream, X, *masks, **how)

        swapped = AnyOf(by(second, first), by(second, first, at=first))
        slips = {
            "backward, the second layer comes first; its mask was drawn second": swapped,
            "both layers have the same mask; each has its own": AnyOf(
                by(first, first), by(second, second)
            ),
            "that is the gradient without dropout": by(1, 1),
            "where is the mask of the first layer?": AnyOf(by(1, second), by(1, second, at=first)),
            "where is the mask of the second layer?": by(first, 1),
            "where does upstream enter?": by(first, second, upstream=1),
            "take the slope of the second tanh at a @ W, with mask 1 in a": by(first, second, at=1),
            "the entries that are kept are scaled, forward and backward": by(*kept, at=first),
            "the slope of the first tanh is 1 - tanh(x)**2": AnyOf(
                *(by(first, second, inner=slope) for slope in (1 - X * X, 1 - t, 1 + t * t, t))
            ),
            "where is the slope of the first tanh, 1 - tanh(x)**2?": by(first, second, inner=1),
            "the first mask comes after tanh, so its slope has none": (
                by(first, second, inner=1 - (t * first) ** 2)
            ),
            "the slope of the second tanh is 1 - tanh(a @ W)**2": AnyOf(
                *(by(first, second, outer=slope) for slope in (1 - s, 1 + s * s, s))
            ),
            "where is the slope of the second tanh?": by(first, second, outer=1),
            "the second tanh has a @ W inside, not x @ W": (
                by(first, second, outer=1 - np.tanh(X @ W) ** 2)
            ),
            "the second mask comes after tanh, so its slope has none": (
                by(first, second, outer=1 - (s * second) ** 2)
            ),
            "the step back through W is @ W.T": by(first, second, again=W),
        }
        look_at = (
            "six factors: upstream, mask 2, 1 - s*s, W.T, mask 1 and 1 - t*t, where the masks "
        )
        look_at += "are those of forward"
        call = Call(sub, "backward", UPSTREAM, X, W, P, seed)
        call.gives(by(first, second), slips, otherwise=look_at)
    call.gives_in_any_size(by(first, second), 1)


@after(check_backward)
def check_the_way_back_is_no_measurement(sub):
    """The gradient is derived, not measured, and is right for other sizes."""
    rng = np.random.default_rng(6)
    x, w = rng.normal(size=(20, 10)), rng.normal(size=(10, 10)) / 3
    first, second = drawn(sub, 4, x)
    right = back(x, x, first, second, there=w, again=w.T)
    is_derived(Call(sub, "backward", x, x, w, P, 4), right)
    w = rng.normal(size=(16, 16)) / 4
    few, many = rng.normal(size=(16, 16)), rng.normal(size=(256, 16))
    small, large = (Call(sub, "backward", x, x, w, P, 4) for x in (few, many))
    for call, n in ((small, 16), (large, 256)):
        call.text, call.where = "backward(upstream, x, W, p, seed)", f"x of {n} x 16"
    is_no_measurement(small, large, Call(sub, "forward", many, w, P, 4))


@after(check_backward)
def check_inputs_are_left_alone(sub):
    """Neither x nor W nor upstream is changed."""
    Call(sub, "forward", X, W, P, 1).leaves_its_arguments()
    Call(sub, "backward", UPSTREAM, X, W, P, 1).leaves_its_arguments()


def check_repeatable(sub):
    """A function is repeatable if a second call gives exactly the same."""
    calls = iter(range(1000))
    for text, f, expected, look_at in (
        ("x*x", lambda x: x * x, True, "twice the same x gives twice the same entries"),
        ("x + n, at its n-th call", lambda x: x + next(calls), False, "f is called twice"),
        (
            "x, whose last entry changes by 1e-12 in each call",
            lambda x: x + 1e-12 * next(calls) * np.eye(4)[3],
            False,
            "exactly the same, in every entry: noise in the last digits is noise",
        ),
        (
            "x * (1 + n * 1e-15), at its n-th call",
            lambda x: x * (1 + 1e-15 * next(calls)),
            False,
            "exactly the same: noise in the last digits is noise",
        ),
        (
            "x[0] * x[1], a number",
            lambda x: float(x[0] * x[1]),
            True,
            "f may return a number: np.array_equal compares numbers, too",
        ),
        (
            "1 at every second call, and otherwise [1 1 1]",
            lambda x: np.ones(1 + 2 * (next(calls) % 2)),
            False,
            "NumPy stretches arrays until they fit; np.array_equal compares their shapes, too",
        ),
    ):
        call = Call(sub, "repeatable", Formula(text, f), X[0])
        call.gives(expected, otherwise=look_at)


@after(check_repeatable)
def check_two_calls_are_enough(sub):
    """Repeatable calls f twice."""
    call = Call(sub, "repeatable", Formula("x*x", lambda x: x * x), X[0])
    call.calls_f(2, "call f twice, and compare")


def check_unseen(sub):
    """An entry that every mask drops is invisible to every check."""
    for p, n, k in ((0.25, 1024, 3), (0.625, 10, 2), (0.1, 50, 9), (0.3, 10**5, 3)):
        mistakes = {
            "that counts the entries that are always kept; p is for dropping": n * (1 - p) ** k,
            "that counts the entries that are seen": AnyOf(n * (1 - p**k), n * (1 - p) * k),
            "that is the probability for one entry; there are n": p**k,
            "n multiplies; it is not in the exponent": p ** (n * k),
            "that is with one seed; with k of them the probabilities multiply": n * p,
            "the probabilities multiply, they do not add up": AnyOf(n * p * k, n * p / k),
        }
        if n * p**k > 1:
            mistakes["a mean need not be a whole number"] = np.floor(n * p**k)
        Call(sub, "unseen", p, n, k).gives(n * p**k, mistakes)


@after(check_backward)
@builds_on(check_forward)
def heldout_another_shape_and_another_p(sub):
    """There may be one row, and any p."""
    rng = np.random.default_rng(5)
    for shape, p in (((1, 9), 0.8), ((6, 2), 0.1)):
        x, w = rng.normal(size=shape), rng.normal(size=(shape[1], shape[1]))
        first, second = drawn(sub, 11, x, p)
        Call(sub, "forward", x, w, p, 11).gives(ahead(x, first, second, w))
        expected = back(x, x, first, second, there=w, again=w.T)
        Call(sub, "backward", x, x, w, p, 11).gives(expected)


def varies(call, counts, what):
    """Refuse masks that keep a fixed number of entries."""
    if not np.ptp(counts):
        look_at = "each entry is drawn independently, so the number of those kept varies"
        got = f"{counts[0]} entries kept in every {what}"
        call.refuse(got, "sometimes more, and sometimes fewer", look_at, known=True, stand_in=masks)


def masks(seed, shape, p):
    """Stand in for the learner's, where another function is judged."""
    kept = np.random.default_rng(seed).random(shape) >= p
    return kept / (1 - p)


def drawn(sub, seed, x=X, p=P):
    """Have both masks drawn by the learner: what is looked at does not depend on how."""
    call = Call(sub, "masks", seed, (2, *x.shape), p)
    got = call.has_shape((2, *x.shape), masks).astype(float)
    if p == P and not all(np.mean(mask != 0) > 0 for mask in got):
        call.refuse("masks that drop everything", f"about {1 - p:.0%} of the entries kept")
    return got


def ahead(x, first, second, w=W):
    """Go forward, with these masks."""
    return np.tanh((np.tanh(x) * first) @ w) * second


def back(upstream, x, first, second, *, at=None, there=W, again=W.T, inner=None, outer=None):
    """Go back; ``at`` is the mask with which the second layer was reached, if another one.

    ``inner`` and ``outer`` are the slopes of the two tanh, if others.
    """
    t = np.tanh(x)
    s = np.tanh((t * (first if at is None else at)) @ there)
    inner = 1 - t * t if inner is None else inner
    outer = 1 - s * s if outer is None else outer
    return (upstream * second * outer) @ again * first * inner
