"""What students hand in for exercise 11."""

# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
stops_at_x_hat | gamma * centred / np.sqrt((centred * centred).mean(axis=0) + eps) + beta |
    centred / np.sqrt((centred * centred).mean(axis=0) + eps) | where do gamma and beta enter?
forgets_eps | .mean(axis=0) + eps) + beta | .mean(axis=0)) + beta | where is eps?
adds_eps_to_the_deviation | np.sqrt((centred * centred).mean(axis=0) + eps) + beta |
    (x.std(axis=0) + eps) + beta | inside the root
takes_the_sample_variance | (centred * centred).mean(axis=0) + eps) + beta |
    x.var(axis=0, ddof=1) + eps) + beta | not a sum over them divided by n - 1
takes_one_variance_for_all | / np.sqrt((centred * centred).mean(axis=0) + eps) + |
    / np.sqrt((centred**2).mean() + eps) + | each column has its own: axis=0
normalizes_rows | return gamma * centred / np.sqrt((centred * centred).mean(axis=0) + eps) + beta |
    centred = x - x.mean(axis=1, keepdims=True);
    return gamma * centred / np.sqrt(x.var(axis=1, keepdims=True) + eps) + beta |
    a feature is a column: axis=0
forgets_the_root | / np.sqrt((centred * centred).mean(axis=0) + eps) + |
    / ((centred * centred).mean(axis=0) + eps) + | where is the root?
subtracts_the_square_of_the_mean | / np.sqrt((centred * centred).mean(axis=0) + eps) + |
    / np.sqrt(np.maximum((x * x).mean(axis=0) - x.mean(axis=0) ** 2, 0) + eps) + |
    subtract the mean before you square
centers_in_place | return gamma * centred | x[...] = centred; return gamma * x | work on a copy
returns_only_dx | return dx, dgamma, dbeta | return dx | 3 arrays: dx, dgamma, dbeta
returns_beta_before_gamma | return dx, dgamma, dbeta |
    return dx, dbeta, dgamma | the order is dx, dgamma, dbeta
does_not_sum_over_the_rows | (upstream * x_hat).sum(axis=0), upstream.sum(axis=0) |
    upstream * x_hat, upstream | its gradient is the sum over the rows
averages_over_the_rows | return dx, dgamma, dbeta |
    return dx, dgamma / len(x), dbeta / len(x) | not their mean
takes_x_for_x_hat | (upstream * x_hat) | (upstream * x) | gamma multiplies x_hat, not x
takes_mean_and_variance_for_constants |
    (g - g.mean(axis=0) - x_hat * (g * x_hat).mean(axis=0)) |
    g | mean and variance depend on x, too
takes_the_variance_for_a_constant | g.mean(axis=0) - x_hat * (g * x_hat).mean(axis=0) |
    g.mean(axis=0) | the variance's share is missing
takes_the_mean_for_a_constant | (g - g.mean(axis=0) - | (g - | the mean's share is missing
forgets_gamma | g = upstream * gamma | g = upstream | where is gamma?
forgets_to_divide | .mean(axis=0)) / std | .mean(axis=0)) | where is the division
adds_the_shares | (g - g.mean(axis=0) - | (g + g.mean(axis=0) + | do not add them
sums_the_shares | g.mean(axis=0) - x_hat * (g * x_hat).mean(axis=0) |
    g.sum(axis=0) - x_hat * (g * x_hat).sum(axis=0) | means over the rows, not sums
divides_by_one_less | (g * x_hat).mean(axis=0) | (g * x_hat).sum(axis=0) / max(len(x) - 1, 1) |
    n - 1
takes_x_minus_mean_for_x_hat | x_hat * (g * x_hat).mean |
    centred * (g * centred).mean | x_hat, not x minus its mean
forgets_eps_on_the_way_back | g = upstream * gamma |
    std = x.std(axis=0); x_hat = centred / std; g = upstream * gamma |
    eps is missing in the backward pass
divides_by_the_variance_alone | dx = (g - g.mean(axis=0) - x_hat * (g * x_hat).mean(axis=0)) |
    with np.errstate(all="ignore"):
    dx = (g - g.mean(axis=0) - x_hat * (g * centred).mean(axis=0) * (x_hat / centred)) |
    did something overflow, or was 0 divided by 0?
trusts_two_rows | return dx, | return 0 * dx, | nothing but zeros
scales_upstream_in_place | g = upstream * gamma | upstream *= gamma; g = upstream | work on a copy
keeps_the_deviation_of_the_first_call | g = upstream * gamma |
    std = vars(batch_norm_backward).setdefault(f"{x.shape} {eps}", std); g = upstream * gamma |
    is something kept from another call?
takes_a_complex_step | return dx, |
    h = 1e-30 * (-1.0) ** 0.5; steps = h * np.eye(x.size).reshape(-1, *x.shape);
    y = [batch_norm(x.astype("D") + step, gamma, 0, eps) for step in steps];
    dx = [np.real(np.sum(upstream * (at - at.conj())) / (2 * h)) for at in y];
    return np.reshape(dx, x.shape), | A complex step is a measurement
measures_with_differences | return dx, |
    from gradcheck_ref import central_difference as slopes;
    return slopes(lambda x: np.sum(upstream * batch_norm(x, gamma, 0, eps)), x, h=1e-5), |
    is it measured
returns_one_entry | return x - x.mean(axis=0) |
    upstream = 0 * x; upstream[0] = 1; return upstream | no part along two columns
returns_ones | return x - x.mean(axis=0) | return np.ones_like(x) | in a column; find another
squares_the_column | return x - x.mean(axis=0) |
    return (x - x.mean(axis=0)) ** 2 | no part along two columns
returns_a_single_column | return x - x.mean(axis=0) | return (x - x.mean(axis=0))[:, 0] | the shape
adds_a_little_to_the_root | (centred * centred).mean(axis=0) + eps) + beta |
    (centred * centred).mean(axis=0) + eps + 1e-8) + beta | is a number added
"""
