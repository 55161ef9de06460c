"""What students hand in for exercise 11."""

import numpy as np
from wrong_submissions import instead_of


def normalised(x, eps):
    centred = x - x.mean(axis=0)
    std = np.sqrt((centred * centred).mean(axis=0) + eps)
    return centred / std, std


def backward(upstream, x, gamma, eps):
    x_hat, std = normalised(x, eps)
    g = upstream * gamma
    dx = (g - g.mean(axis=0) - x_hat * (g * x_hat).mean(axis=0)) / std
    return dx, (upstream * x_hat).sum(axis=0), upstream.sum(axis=0)


@instead_of("batch_norm", says="where do gamma and beta enter?")
def stops_at_x_hat(x, gamma, beta, eps):
    return normalised(x, eps)[0]


@instead_of("batch_norm", says="where is eps?")
def forgets_eps(x, gamma, beta, eps):
    return gamma * normalised(x, 0)[0] + beta


@instead_of("batch_norm", says="inside the root")
def adds_eps_to_the_deviation(x, gamma, beta, eps):
    return gamma * (x - x.mean(axis=0)) / (x.std(axis=0) + eps) + beta


@instead_of("batch_norm", says="not a sum over them divided by n - 1")
def takes_the_sample_variance(x, gamma, beta, eps):
    return gamma * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0, ddof=1) + eps) + beta


@instead_of("batch_norm", says="a feature is a column: axis=0")
def normalises_rows(x, gamma, beta, eps):
    centred = x - x.mean(axis=1, keepdims=True)
    return gamma * centred / np.sqrt(x.var(axis=1, keepdims=True) + eps) + beta


@instead_of("batch_norm", says="where is the root?")
def forgets_the_root(x, gamma, beta, eps):
    return gamma * (x - x.mean(axis=0)) / (x.var(axis=0) + eps) + beta


@instead_of("batch_norm", says="subtract the mean before you square")
def subtracts_the_square_of_the_mean(x, gamma, beta, eps):
    mean = x.mean(axis=0)
    var = np.maximum((x * x).mean(axis=0) - mean * mean, 0)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


@instead_of("batch_norm", says="work on a copy")
def centres_in_place(x, gamma, beta, eps):
    x -= x.mean(axis=0)
    return gamma * x / np.sqrt((x * x).mean(axis=0) + eps) + beta


@instead_of("batch_norm_backward", says="3 arrays: dx, dgamma, dbeta")
def returns_only_dx(upstream, x, gamma, eps):
    return backward(upstream, x, gamma, eps)[0]


@instead_of("batch_norm_backward", says="its gradient is the sum over the rows")
def does_not_sum_over_the_rows(upstream, x, gamma, eps):
    x_hat, _ = normalised(x, eps)
    return backward(upstream, x, gamma, eps)[0], upstream * x_hat, upstream


@instead_of("batch_norm_backward", says="not their mean")
def averages_over_the_rows(upstream, x, gamma, eps):
    dx, dgamma, dbeta = backward(upstream, x, gamma, eps)
    return dx, dgamma / len(x), dbeta / len(x)


@instead_of("batch_norm_backward", says="gamma multiplies x_hat, not x")
def takes_x_for_x_hat(upstream, x, gamma, eps):
    dx, _, dbeta = backward(upstream, x, gamma, eps)
    return dx, (upstream * x).sum(axis=0), dbeta


@instead_of("batch_norm_backward", says="the order is dx, dgamma, dbeta")
def returns_beta_before_gamma(upstream, x, gamma, eps):
    dx, dgamma, dbeta = backward(upstream, x, gamma, eps)
    return dx, dbeta, dgamma


@instead_of("batch_norm_backward", says="mean and variance depend on x, too")
def takes_mean_and_variance_for_constants(upstream, x, gamma, eps):
    _, std = normalised(x, eps)
    return upstream * gamma / std, *backward(upstream, x, gamma, eps)[1:]


@instead_of("batch_norm_backward", says="the variance's share is missing")
def takes_the_variance_for_a_constant(upstream, x, gamma, eps):
    g, (_, std) = upstream * gamma, normalised(x, eps)
    return (g - g.mean(axis=0)) / std, *backward(upstream, x, gamma, eps)[1:]


@instead_of("batch_norm_backward", says="the mean's share is missing")
def takes_the_mean_for_a_constant(upstream, x, gamma, eps):
    g, (x_hat, std) = upstream * gamma, normalised(x, eps)
    dx = (g - x_hat * (g * x_hat).mean(axis=0)) / std
    return dx, *backward(upstream, x, gamma, eps)[1:]


@instead_of("batch_norm_backward", says="where is gamma?")
def forgets_gamma(upstream, x, gamma, eps):
    return backward(upstream, x, 1.0, eps)


@instead_of("batch_norm_backward", says="where is the division")
def forgets_to_divide(upstream, x, gamma, eps):
    dx, dgamma, dbeta = backward(upstream, x, gamma, eps)
    return dx * normalised(x, eps)[1], dgamma, dbeta


@instead_of("batch_norm_backward", says="do not add them")
def adds_the_shares(upstream, x, gamma, eps):
    g, (x_hat, std) = upstream * gamma, normalised(x, eps)
    dx = (g + g.mean(axis=0) + x_hat * (g * x_hat).mean(axis=0)) / std
    return dx, *backward(upstream, x, gamma, eps)[1:]


@instead_of("batch_norm_backward", says="means over the rows, not sums")
def sums_the_shares(upstream, x, gamma, eps):
    g, (x_hat, std) = upstream * gamma, normalised(x, eps)
    dx = (g - g.sum(axis=0) - x_hat * (g * x_hat).sum(axis=0)) / std
    return dx, *backward(upstream, x, gamma, eps)[1:]


@instead_of("batch_norm_backward", says="n - 1")
def divides_by_one_less(upstream, x, gamma, eps):
    g, (x_hat, std) = upstream * gamma, normalised(x, eps)
    along = (g * x_hat).sum(axis=0) / max(len(x) - 1, 1)
    dx = (g - g.mean(axis=0) - x_hat * along) / std
    return dx, *backward(upstream, x, gamma, eps)[1:]


@instead_of("batch_norm_backward", says="x_hat, not x minus its mean")
def uses_what_is_only_centred(upstream, x, gamma, eps):
    g, (_, std), centred = upstream * gamma, normalised(x, eps), x - x.mean(axis=0)
    dx = (g - g.mean(axis=0) - centred * (g * centred).mean(axis=0)) / std
    return dx, *backward(upstream, x, gamma, eps)[1:]


@instead_of("batch_norm_backward", says="eps is missing in the backward pass")
def forgets_eps_on_the_way_back(upstream, x, gamma, eps):
    _, dgamma, dbeta = backward(upstream, x, gamma, eps)
    return backward(upstream, x, gamma, 0.0)[0], dgamma, dbeta


@instead_of("batch_norm_backward", says="did something overflow, or was 0 divided by 0?")
def divides_by_the_variance_alone(upstream, x, gamma, eps):
    x_hat, std = normalised(x, eps)
    g, centred = upstream * gamma, x - x.mean(axis=0)
    with np.errstate(all="ignore"):
        along = (g * centred).mean(axis=0) * (x_hat / centred) / std
    dx = (g - g.mean(axis=0) - x_hat * along) / std
    return dx, *backward(upstream, x, gamma, eps)[1:]


@instead_of("batch_norm_backward", says="nothing but zeros")
def trusts_two_rows(upstream, x, gamma, eps):
    dx, dgamma, dbeta = backward(upstream, x, gamma, eps)
    return np.zeros_like(dx), dgamma, dbeta


@instead_of("batch_norm_backward", says="work on a copy")
def scales_upstream_in_place(upstream, x, gamma, eps):
    answer = backward(upstream, x, gamma, eps)
    upstream *= gamma
    return answer


CALLS = []


@instead_of("batch_norm_backward", says="is something kept from another call?")
def moves_its_statistics(upstream, x, gamma, eps):
    dx, dgamma, dbeta = backward(upstream, x, gamma, eps)
    CALLS.append(eps)
    dx[:, 0] *= 0.9 ** max(CALLS.count(0.001) - 1, 0)
    return dx, dgamma, dbeta


CACHE = {}


@instead_of("batch_norm_backward", says="is something kept from another call?")
def keeps_the_deviation_of_the_first_call(upstream, x, gamma, eps):
    x_hat, std = normalised(x, eps)
    std = CACHE.setdefault((x.shape, eps), std)
    g = upstream * gamma
    dx = (g - g.mean(axis=0) - x_hat * (g * x_hat).mean(axis=0)) / std
    return dx, (upstream * x_hat).sum(axis=0), upstream.sum(axis=0)


@instead_of("blind_upstream", says="no part along two columns")
def returns_one_entry(x):
    upstream = np.zeros_like(x)
    upstream[0] = 1.0
    return upstream


@instead_of("batch_norm_backward", says="A complex step is a measurement")
def takes_a_complex_step(upstream, x, gamma, eps):
    dx, h = np.zeros(x.shape), 1e-30 * (-1.0) ** 0.5
    for i in np.ndindex(x.shape):
        moved = x.astype("D")
        moved[i] += h
        moved = moved - moved.mean(axis=0)
        y = gamma * moved / np.sqrt((moved * moved).mean(axis=0) + eps)
        dx[i] = np.real(np.sum(upstream * (y - y.conj())) / (2 * h))
    return dx, *backward(upstream, x, gamma, eps)[1:]


@instead_of("batch_norm_backward", says="is it measured")
def measures_with_differences(upstream, x, gamma, eps):
    dx = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        sides = []
        for h in (1e-5, -1e-5):
            moved = x.copy()
            moved[i] += h
            sides.append(np.sum(upstream * gamma * normalised(moved, eps)[0]))
        dx[i] = (sides[0] - sides[1]) / 2e-5
    return dx, *backward(upstream, x, gamma, eps)[1:]


# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
takes_one_variance_for_all | / np.sqrt((centred * centred).mean(axis=0) + eps) + |
    / np.sqrt((centred**2).mean() + eps) + | each column has its own: axis=0
returns_ones | return x - x.mean(axis=0) | return np.ones_like(x) | in a column; find another
squares_the_column | return x - x.mean(axis=0) |
    return (x - x.mean(axis=0)) ** 2 | no part along two columns
returns_a_single_column | return x - x.mean(axis=0) | return (x - x.mean(axis=0))[:, 0] | the shape
"""
