"""What students hand in for exercise 18."""

# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
cuts_off_instead_of_rounding | np.round(256 * m) | np.trunc(256 * m) | round to the nearest
keeps_seven_digits | np.round(256 * m) / 256 | np.round(128 * m) / 128 | that is seven digits
keeps_nine_digits | np.round(256 * m) / 256 | np.round(512 * m) / 512 | that is nine digits
forgets_the_exponent | np.ldexp(np.round(256 * m) / 256, e) |
    np.round(256 * m) / 256 | ldexp puts m and e together
counts_from_the_point | np.ldexp(np.round(256 * m) / 256, e) |
    np.round(256 * x) / 256 | not from the point
keeps_two_decimals | np.ldexp(np.round(256 * m) / 256, e) |
    np.round(x, 2) | those are decimal digits
takes_float16 | np.ldexp(np.round(256 * m) / 256, e) |
    x.astype(np.float16).astype(float) | which has 11 digits
rounds_in_place | return np.ldexp(np.round(256 * m) / 256, e) |
    x[...] = np.ldexp(np.round(256 * m) / 256, e); return x | work on a copy
takes_the_step_wished_for | predicted = np.sum(claimed * (ahead - behind)) |
    predicted = 2 * h * np.sum(claimed * v) | let the claim predict the step taken
does_not_round_the_places | bfloat16(x + h * v), bfloat16(x - h * v) |
    x + h * v, x - h * v | let the claim predict the step taken
rounds_for_the_claim_alone | f(ahead) - f(behind) |
    f(x + h * v) - f(x - h * v) | round both places
divides_by_h | (f(ahead) - f(behind)))) / (2 * h) |
    (f(ahead) - f(behind)))) / h | 2*h apart, not h
forgets_the_brackets | (f(ahead) - f(behind)))) / (2 * h) |
    (f(ahead) - f(behind)))) / 2 * h | add parentheses
divides_by_nothing | (f(ahead) - f(behind)))) / (2 * h) |
    (f(ahead) - f(behind)))) | not divided by anything
divides_one_part_only | return (predicted - np.sum(u * (f(ahead) - f(behind)))) / (2 * h) |
    return predicted - np.sum(u * (f(ahead) - f(behind))) / (2 * h) |
    the predicted difference by 2*h, too
subtracts_the_claim | return (predicted - np.sum(u * (f(ahead) - f(behind)))) |
    return (np.sum(u * (f(ahead) - f(behind))) - predicted) | not the opposite
drops_the_sign | return (predicted - np.sum(u * (f(ahead) - f(behind)))) / |
    return abs(predicted - np.sum(u * (f(ahead) - f(behind)))) / | a product needs it
forgets_the_combination | np.sum(u * (f(ahead) |
    np.sum((f(ahead) | where is the combination u?
weights_the_claim_twice | predicted = np.sum(claimed * |
    predicted = np.sum(u * claimed * | u is in claimed already
asks_the_claim_alone | return (predicted - np.sum(u * (f(ahead) - f(behind)))) |
    return predicted | subtract the measured one
draws_a_line_for_every_step | r[i, k] = residual(f, x, claimed, v, u, h) |
    v = draw(rng, x.shape); r[i, k] = residual(f, x, claimed, v, u, h) |
    before the loop over the steps
draws_a_combination_for_every_step | r[i, k] = residual(f, x, claimed, v, u, h) |
    u = draw(rng, outputs); r[i, k] = residual(f, x, vjp(u), v, u, h) |
    before the loop over the steps
draws_one_line_for_all | v, u = draw(rng, x.shape), draw(rng, outputs) |
    v, u = draw(np.random.default_rng(seed), x.shape), draw(rng, outputs) | its own line
draws_one_combination_for_all | v, u = draw(rng, x.shape), draw(rng, outputs) |
    v, u = draw(rng, x.shape), draw(np.random.default_rng(seed), outputs) | its own combination
takes_ones_for_a_combination | v, u = draw(rng, x.shape), draw(rng, outputs) |
    v, u = draw(rng, x.shape), np.ones(outputs) | its own combination
forgets_the_seed | default_rng(seed) | default_rng() | where does chance come from?
always_takes_seed_0 | default_rng(seed) | default_rng(0) | does the seed enter?
fills_in_nothing | r[i, k] = residual(f, x, claimed, v, u, h) |
    residual(f, x, claimed, v, u, h); r[i, k] = 0 | is each residual stored
puts_lines_into_rows | return r, claims | return r.T, claims | a row for each step
returns_no_claims | return r, claims | return r | arrays: r, claims
claims_without_the_vjp | claims[k] = np.sum(claimed * v) | claims[k] = np.sum(u * v) |
    sum(vjp(u) * v)
squares_one_step | return np.mean(r[0] * r[1]), | return np.mean(r[0] ** 2), | multiply two rows
takes_the_mean_square | return np.mean(r[0] * r[1]), | return np.mean(r**2), | noise included
takes_absolute_values | return np.mean(r[0] * r[1]), |
    return np.mean(np.abs(r[0] * r[1])), | cancel only if they keep their signs
multiplies_the_means | return np.mean(r[0] * r[1]), |
    return r[0].mean() * r[1].mean(), | not the product of the means
makes_negative_means_zero | return np.mean(r[0] * r[1]), |
    return max(np.mean(r[0] * r[1]), 0.0), | it may be negative
forgets_the_half | (r[0] - r[1]) ** 2) / 2 | (r[0] - r[1]) ** 2) | half of it
squares_the_mean | np.mean((r[0] - r[1]) ** 2) | np.mean(r[0] - r[1]) ** 2 | square each difference
returns_the_noise_alone | return np.mean(r[0] * r[1]), np.mean( | return np.mean( |
    arrays: mistake, noise
divides_by_the_residuals | np.mean(claims**2) | np.mean(r**2) | not of the residuals
squares_one_row | products, size = r[0] * r[1], | products, size = r[1] ** 2, | multiply two rows
squares_the_mean_claim | np.mean(claims**2) | np.mean(claims) ** 2 | not the square of their mean
divides_by_the_claim_itself | np.mean(claims**2) | np.mean(np.abs(claims)) |
    a square is divided by a square
divides_line_by_line | return products.mean() / size |
    return np.mean(products / claims**2) | one claim alone may be nearly 0
forgets_the_claims | return products.mean() / size | return products.mean() |
    where are the claimed slopes?
returns_the_root | return products.mean() / size |
    return np.sqrt(products.mean() / size) | return the square
makes_a_negative_square_zero | return products.mean() / size |
    return max(products.mean(), 0.0) / size | a negative square is no mistake
returns_the_spread_of_one | / np.sqrt(len(products)) | / 1 | divide by the root of k
divides_the_spread_by_k | / np.sqrt(len(products)) | / len(products) | not by k
uses_ddof_0 | .std(ddof=1) | .std() | use ddof=1
takes_the_spread_of_the_claims | products.std(ddof=1) | claims.std(ddof=1) | not the claims
compares_the_square_with_the_tolerance | + 3 * doubt <= tolerance**2 |
    + 3 * doubt <= tolerance | is above 0.05**2
takes_the_root_without_the_doubt | max(square, 0) + 3 * doubt <= tolerance**2 |
    max(square, 0) ** 0.5 + 3 * doubt <= tolerance | with three doubts more
never_passes_below_zero | max(square, 0) + 3 * doubt <= tolerance**2 |
    0 <= square <= tolerance**2 - 3 * doubt | a square below 0 counts as 0
has_no_doubts | max(square, 0) + 3 * doubt | max(square, 0) | with three doubts more
fails_without_a_doubt | square - 3 * doubt | square | with three doubts less
counts_below_zero | max(square, 0) | square | a square below 0 counts as 0
takes_nan_for_zero | max(square, 0) | max(0, square) | max(0, NaN) is 0
knows_two_verdicts | return "unsure" | return "pass" | with three doubts
is_never_unsure_of_nan | if square - 3 * doubt > tolerance**2: |
    if not square - 3 * doubt <= tolerance**2: | a NaN is no evidence
"""
