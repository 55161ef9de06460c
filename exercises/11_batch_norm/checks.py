"""Checks of exercise 11."""

import numpy as np

from expect import AnyOf, Call, Part, after, builds_on, is_derived, is_no_measurement, shown

PARTS = ("dx", "dgamma", "dbeta")
PEDESTAL = 2.0**28  # on which X is exact
ZOO_EPS = 1e-3  # with which the zoo's wrong gradients are wrong

# Whoever does one of these in the forward pass does it in the backward pass, too.
SAMPLE = "the variance is a mean over the n rows, not a sum over them divided by n - 1"
NO_ROOT = "x_hat is divided by sqrt(var + eps); where is the root?"
NO_EPS = "x_hat is divided by sqrt(var + eps); where is eps?"
OUTSIDE = "eps is added to the variance, inside the root"

# Variances 3 and 8, so with eps = 1 the columns are divided by 2 and by 3: by hand, all of it.
X = np.array([[-1.0, 7.0], [3.0, 3.0], [3.0, 3.0], [3.0, -1.0]])
GAMMA, BETA, EPS = np.array([2.0, -3.0]), np.array([1.0, 10.0]), 1.0
UPSTREAM = np.array([[4.0, 0.0], [0.0, 9.0], [4.0, 0.0], [-4.0, 18.0]])
RAISED = X[:3] + PEDESTAL  # of three rows the mean is rounded
CENTRED, STD = X - [2.0, 3.0], np.array([2.0, 3.0])
X_HAT = CENTRED / STD
STDS = {
    SAMPLE: np.sqrt(X.var(axis=0, ddof=1) + EPS),
    NO_ROOT: STD**2,
    NO_EPS: np.sqrt([3, 8]),
    OUTSIDE: np.sqrt([3, 8]) + EPS,
}
G = UPSTREAM * GAMMA
OF_MEAN, OF_VARIANCE = G.mean(axis=0), X_HAT * (G * X_HAT).mean(axis=0)
DX = (G - OF_MEAN - OF_VARIANCE) / STD


def check_forward(sub):
    """Each column is normalized, scaled and shifted."""
    of_rows = X - X.mean(axis=1, keepdims=True)
    by_rows = of_rows / np.sqrt((of_rows**2).mean(axis=1, keepdims=True) + EPS)
    var = np.array([3.0, 8.0])

    def by(std):
        return GAMMA * CENTRED / std + BETA

    from_all = X - X.mean()
    of_all = AnyOf(
        by(np.sqrt(var.mean() + EPS)),
        *(GAMMA * from_all / np.sqrt((from_all**2).mean(axis=k) + EPS) + BETA for k in (0, None)),
    )
    slips = {
        "that is x_hat; where do gamma and beta enter?": X_HAT,
        "where is beta?": GAMMA * X_HAT,
        "where is gamma?": X_HAT + BETA,
        **{says: by(std) for says, std in STDS.items()},
        OUTSIDE: AnyOf(by(STDS[OUTSIDE]), by(STDS[NO_EPS]) + EPS),
        "the variance is a mean over the rows, not a sum": by(np.sqrt(4 * var + EPS)),
        "gamma multiplies x_hat; it is not added": GAMMA + X_HAT + BETA,
        "beta is added, not subtracted": GAMMA * X_HAT - BETA,
        "beta is added last: gamma does not multiply it": GAMMA * (X_HAT + BETA),
        "subtract the mean before you square": by(np.sqrt((X * X).mean(axis=0) + EPS)),
        "multiplied by the root; divide by it": by(1 / STD),
        "the mean is not subtracted": GAMMA * X / STD + BETA,
        "a row is normalized; a feature is a column: axis=0": GAMMA * by_rows + BETA,
        "one mean and one variance for all; each column has its own: axis=0": of_all,
    }
    Call(sub, "batch_norm", X, GAMMA, BETA, EPS).gives(by(STD), slips)
    Call(sub, "batch_norm", X, GAMMA, BETA, EPS).gives_in_any_size(by(STD), 1, 1, 1, 2)


@builds_on(check_forward)
def check_a_column_on_a_pedestal(sub):
    """A large constant in a column changes nothing."""
    look_at = "right without 2**28, whose square is 7e16; subtract the mean before you square"
    call = on_a_pedestal(Call(sub, "batch_norm", RAISED, GAMMA, BETA, EPS))
    # Welford's way of adding up rounds a little.
    x = X[:3]
    right = GAMMA * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + EPS) + BETA
    call.gives(right, rtol=1e-6, otherwise=look_at)


def check_gamma_and_beta(sub):
    """The gradients dgamma and dbeta are sums over the rows."""
    mistakes = {
        "beta is added to every row, so its gradient is the sum over the rows": UPSTREAM,
        "the sum over the rows, not their mean": UPSTREAM.mean(axis=0),
        "gamma does not multiply beta": AnyOf(G, G.sum(axis=0)),
        "summed along the wrong axis: beta has one entry for each column": UPSTREAM.sum(axis=1),
        "that is dgamma; the order is dx, dgamma, dbeta": (UPSTREAM * X_HAT).sum(axis=0),
    }
    part("dbeta", sub).gives(UPSTREAM.sum(axis=0), mistakes)
    each = UPSTREAM * X_HAT

    def of_x_hat(other):
        return (UPSTREAM * other).sum(axis=0)

    mistakes = {
        "gamma multiplies every row, so its gradient is the sum over the rows": each,
        "the sum over the rows, not their mean": each.mean(axis=0),
        "gamma multiplies x_hat, not x": AnyOf(*map(of_x_hat, (X, CENTRED, X / STD))),
        "y is linear in gamma: gamma itself does not enter its slope": (G * X_HAT).sum(axis=0),
        **{says: of_x_hat(CENTRED / std) for says, std in STDS.items()},
        "what does gamma multiply? that is dbeta": UPSTREAM.sum(axis=0),
    }
    part("dgamma", sub).gives(each.sum(axis=0), mistakes)


def check_the_gradient(sub):
    """The gradient dx has the entry's own share, the mean's and the variance's."""
    n, over_gamma = len(X), UPSTREAM / GAMMA
    own = UPSTREAM - UPSTREAM.mean(axis=0) - X_HAT * (UPSTREAM * X_HAT).mean(axis=0)  # no gamma
    sample = X_HAT * (G * X_HAT).sum(axis=0) / (n - 1)

    def dx(g=G, mean=OF_MEAN, variance=OF_VARIANCE):
        return (g - mean - variance) / STD

    def with_std(std):
        x_hat = CENTRED / std
        return (G - OF_MEAN - x_hat * (G * x_hat).mean(axis=0)) / std

    def by(one, other):
        return dx(variance=one * (G * other).mean(axis=0))

    std = STDS[SAMPLE]
    samples = (
        with_std(std),
        (G - OF_MEAN - CENTRED / std**2 * (G * CENTRED).sum(axis=0) / (n - 1)) / std,
    )

    def with_shares_times(k):
        mean, variance = k * OF_MEAN, k * OF_VARIANCE
        return AnyOf(dx(G, mean, variance), dx(mean=mean), dx(variance=variance))

    others = ((CENTRED, CENTRED), (CENTRED, X_HAT), (X_HAT, CENTRED), (X / STD, X / STD))
    not_x_hat = AnyOf(*(by(*other) for other in others))
    mistakes = {
        "only the entry's own share: mean and variance depend on x, too": AnyOf(G / STD, G),
        "multiplied by the root; divide by it": AnyOf(G * STD, DX * STD**2),
        "the mean's share is missing: it depends on every row": dx(mean=0),
        "the variance's share is missing: it depends on every row": dx(variance=0),
        **{says: with_std(std) for says, std in STDS.items()},
        SAMPLE: AnyOf(dx(variance=sample), *samples),
        "the variance's share: x_hat, centered and divided by the root, in both places": not_x_hat,
    }
    slips = {
        "where is gamma? g is the gradient with respect to x_hat": AnyOf(own / STD, dx(UPSTREAM)),
        "gamma multiplies upstream; it does not divide it": (
            over_gamma - over_gamma.mean(axis=0) - X_HAT * (over_gamma * X_HAT).mean(axis=0)
        )
        / STD,
        "the variance's share is a mean times x_hat": dx(variance=(G * X_HAT).mean(axis=0)),
        "every share has gamma: g, not upstream": AnyOf(
            dx(mean=UPSTREAM.mean(axis=0)), dx(variance=X_HAT * (UPSTREAM * X_HAT).mean(axis=0))
        ),
        "each column has its own mean: axis=0": AnyOf(
            dx(mean=G.mean()),
            dx(variance=X_HAT * (G * X_HAT).mean()),
            dx(mean=G.mean(), variance=X_HAT * (G * X_HAT).mean()),
        ),
        "multiplied by sqrt(var + eps); divide by it": DX * STD**2,
        "where is the division by sqrt(var + eps)?": DX * STD,
        "divided by var + eps; where is the root?": DX / STD,
        "subtract the shares of mean and variance, do not add them": with_shares_times(-1),
        "the shares of mean and variance are means over the rows, not sums": with_shares_times(n),
    }
    part("dx", sub).gives(DX, slips | mistakes)


@builds_on(check_the_gradient)
def check_nothing_is_remembered(sub):
    """The answer to a call does not depend on earlier calls."""
    # Subtle: eps is the zoo's, whose gradients are wrong there.
    before = part("dx", sub, eps=ZOO_EPS).run()
    if not np.any(before):
        part("dx", sub).gives(DX)
    other = 2 * UPSTREAM, X[::-1] ** 2, GAMMA, ZOO_EPS
    Call(sub, "batch_norm", other[1], GAMMA, BETA, ZOO_EPS).run()
    mistakes = {"that is the answer to the last call; do you keep something from it?": before}
    look_at = "mean and variance are those of this x; is something kept from another call?"
    part("dx", sub, *other).gives(derived(*other)[0], mistakes, otherwise=look_at)
    call = part("dx", sub, eps=ZOO_EPS)
    call.where = "called once before, then with other arrays, and now again as at first"
    call.gives(before, otherwise="you keep something from call to call; start from zero each time")


@after(check_the_gradient)
@builds_on(check_gamma_and_beta)
def check_other_sizes(sub):
    """All three are right for two rows and for more, in all digits: derived, not measured."""
    of_the_zoo = (5, 2, ZOO_EPS), (4, 2, ZOO_EPS)
    for n, features, eps in ((2, 3, 0.5), *of_the_zoo, (3, 4, 1e-2), (40, 9, 1)):
        rng = np.random.default_rng(n)
        upstream, x = rng.normal(size=(2, n, features)).round(1)
        arguments = upstream, x, rng.uniform(0.5, 2, size=features).round(1), eps
        for name, right in zip(PARTS, derived(*arguments), strict=True):
            is_derived(part(name, sub, *arguments), right)
            part(name, sub, *arguments).gives_in_any_size(right, 1, 1, 1, 2)
    calls = []
    for features in (16, 256):
        arrays = *rng.normal(size=(2, 16, features)), rng.uniform(0.5, 2, size=features)
        calls.append(Call(sub, "batch_norm_backward", *arrays, EPS))
        calls[-1].text = "batch_norm_backward(upstream, x, gamma, eps)"
        calls[-1].where = f"x of 16 x {features}"
    _, x, gamma = arrays
    is_no_measurement(*calls, Call(sub, "batch_norm", x, gamma, gamma, EPS))


@after(check_the_gradient)
def check_the_blind_upstream(sub):
    """The upstream changes within each column, and its dx almost vanishes."""
    rng = np.random.default_rng(4)
    for n in (4, 7):
        x = rng.normal(size=(n, 2)).round(1) * [1, 10] + [0, 3]
        call = Call(sub, "blind_upstream", x)
        got = call.has_shape(x.shape)
        size = np.abs(got).max(axis=0)
        spread = np.ptp(got, axis=0)
        if not np.all(spread > 1e-9 * size):
            look_at = "you know the upstream that is constant in a column; find another"
            call.refuse(got, "other entries in each row of a column", look_at)
        # A constant adds nothing to dx, so what counts is how far a column spreads.
        largest = np.abs(derived(got, x, 1.0, 1e-5)[0] * x.std(axis=0) / spread).max()
        if not largest < 1e-2:
            got = f"an upstream for which dx is as large as {largest:.2g} of its spread / std"
            look_at = "dx has no part along two columns; use the one that is not constant"
            call.refuse(got, "less than 0.01 everywhere", look_at)


@after(check_forward, check_the_gradient)
def check_inputs_are_left_alone(sub):
    """No function changes its arguments."""
    Call(sub, "batch_norm", X, GAMMA, BETA, EPS).leaves_its_arguments()
    part("dx", sub).leaves_its_arguments()


@after(check_the_gradient)
def heldout_a_column_that_does_not_change(sub):
    """The answers are finite for a constant column, and for a single row."""
    x = np.array([[5.0, 1.0], [5.0, -1.0]])
    upstream = np.array([[3.0, 0.0], [1.0, 0.0]])
    part("dx", sub, upstream, x, GAMMA, 0.25).gives([[4.0, 0.0], [-4.0, 0.0]])
    part("dx", sub, upstream[:1], x[:1], GAMMA, 0.25).gives([[0.0, 0.0]])


@after(check_the_gradient)
def heldout_a_pedestal_on_the_way_back(sub):
    """A large constant in a column changes no gradient."""
    right, *_ = derived(UPSTREAM[:3], X[:3], GAMMA, EPS)
    on_a_pedestal(part("dx", sub, UPSTREAM[:3], RAISED, GAMMA, EPS)).gives(right, rtol=1e-6)


def part(name, sub, upstream=UPSTREAM, x=X, gamma=GAMMA, eps=EPS):
    """Prepare a call, to look at one of its answers."""
    return Part(sub, "batch_norm_backward", upstream, x, gamma, eps, part=name, parts=PARTS)


def on_a_pedestal(call):
    """Show the learner where the constant is: with six digits all entries would look the same."""
    start, _, rest = call.text.partition(f"{shown(RAISED)}")
    call.text = f"{start}2**28 + {shown(X[:3])}{rest}"
    return call


def derived(upstream, x, gamma, eps):
    """Return the right gradients."""
    std = np.sqrt(x.var(axis=0) + eps)
    x_hat, g = (x - x.mean(axis=0)) / std, upstream * gamma
    dx = (g - g.mean(axis=0) - x_hat * (g * x_hat).mean(axis=0)) / std
    return dx, (upstream * x_hat).sum(axis=0), upstream.sum(axis=0)


def answers_of(vjp):
    """Answer as a submission would that has this vjp, right or wrong, from the zoo.

    The zoo knows one eps; with another the answer is right.
    """

    def backward(upstream, x, gamma, eps):
        if eps == ZOO_EPS:
            return vjp(upstream, x, gamma, np.zeros_like(gamma))
        return derived(upstream, x, gamma, eps)

    return {"batch_norm_backward": backward}
