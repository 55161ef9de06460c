"""What students hand in for exercise 14."""

# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
draws_one_sign_a_line | (0, 2, size=(lines, n)) - 1 |
    (0, 2, size=(lines, 1)) - np.ones(n) | has its own sign
draws_one_line | (0, 2, size=(lines, n)) - 1 |
    (0, 2, size=n) - np.ones((lines, 1)) | has its own sign
draws_more_of_one_kind | np.random.default_rng(seed).integers(0, 2, size=(lines, n)) |
    (np.random.default_rng(seed).random((lines, n)) < 1 / 3) | is +1 as likely as -1?
draws_zeros | 2.0 * np.random.default_rng(seed).integers(0, 2, size=(lines, n)) - 1 |
    np.random.default_rng(seed).integers(-1, 2, size=(lines, n)) | integers(-1, 2) draws 0, too
draws_any_number | .integers(0, 2, size=(lines, n)) |
    .normal(size=(lines, n)) | a sign is +1 or -1
leaves_zeros_and_ones | 2.0 * np.random.default_rng(seed).integers(0, 2, size=(lines, n)) - 1 |
    np.random.default_rng(seed).integers(0, 2, size=(lines, n)) | 0 has to become -1
forgets_the_seed | default_rng(seed) | default_rng() | where does chance come from?
always_takes_seed_0 | default_rng(seed) | default_rng(0) | does the seed enter?
puts_lines_into_columns | size=(lines, n) | size=(n, lines) | the shape
makes_a_unit_vector | return (f(x + h * v) |
    v = v / np.linalg.norm(v); return (f(x + h * v) | use v as it is
walks_along_the_axes | return (f(x + h * v) |
    [f(x + h * axis) for axis in np.eye(len(x))]; return (f(x + h * v) | all entries move at once
moves_x_in_place | return (f(x + h * v) - f(x - h * v)) / |
    x += h * v; ahead = f(x); x -= 2 * h * v; return (ahead - f(x)) / | work on a copy
divides_by_h | (2 * h) | h | 2*h apart, not h
steps_ahead_only | - f(x - h * v)) / (2 * h) | - f(x)) / h | step to both sides
forgets_the_signs | (f(x + h * v) - f(x - h * v)) / |
    (f(x + h) - f(x - h)) / | every entry moves by h times its own sign
forgets_the_brackets | return (f(x + h * v) - f(x - h * v)) |
    return f(x + h * v) - f(x - h * v) | add parentheses
subtracts_the_claim | claimed @ v - slope_along(f, x, v, h) |
    slope_along(f, x, v, h) - claimed @ v | not the opposite
asks_the_claim_alone | np.array([claimed @ v - slope_along(f, x, v, h) for v in lines]) |
    lines @ claimed | subtract the measured one
asks_f_alone | claimed @ v - slope_along | slope_along | subtract it from the claimed one
drops_the_signs | np.array([claimed | np.abs([claimed | the signs show which entry is wrong
averages_the_lines | np.array([claimed | np.mean([claimed | take no mean
measures_every_line_twice | - slope_along(f, x, v, h) |
    - (slope_along(f, x, v, h) + slope_along(f, x, v, h)) / 2 | the claim takes none
takes_the_largest_with_its_sign | np.abs(residuals).max() |
    residuals.max() | take absolute values
averages_the_residuals | (residuals).max() | (residuals).mean() | the mean is no bound
takes_the_smallest | (residuals).max() | (residuals).min() | an error may show on one line only
returns_the_chance_to_be_wrong | 1 - 0.5 ** | 0.5 ** | return the one that it holds
divides_by_the_number_of_lines | 1 - 0.5 ** | 1 - 1 / | not 1/K
is_certain | 1 - 0.5 ** len(residuals) | 1.0 | the probability is never exactly 1
returns_confidence_first | np.abs(residuals).max(), 1 - 0.5 ** len(residuals) |
    1 - 0.5 ** len(residuals), np.abs(residuals).max() | the bound comes first
returns_the_bound_alone | .max(), 1 - 0.5 ** len(residuals) | .max() | 2 arrays: bound, confidence
looks_for_positive_matches | np.abs(matches) | matches | opposite signs match just as well
returns_a_line | return i, matches[i] |
    i = np.argmax(np.abs(residuals)); return i, residuals[i] | an entry is a column of lines
adds_up_the_lines | residuals @ lines / len(lines) |
    residuals @ lines | the mean over the lines, not the sum
drops_the_sign_of_the_error | return i, matches[i] |
    return i, abs(matches[i]) | the error with its sign
returns_the_error_first | return i, matches[i] |
    return matches[i], i | i comes first, then its error
multiplies_in_place | matches = residuals @ lines / len(lines) |
    lines *= residuals[:, None]; matches = lines.mean(axis=0) | work on a copy
judges_the_claim_itself | np.abs(repaired @ lines.T - slopes) |
    np.abs(residuals + 0 * repaired[:, :1]) | judge each row by its own
adds_the_residuals_to_the_slopes | lines @ claimed - residuals |
    lines @ claimed + residuals | so what is measured?
compares_with_the_slopes_of_the_claim | lines @ claimed - residuals |
    lines @ claimed | its slopes are no reference
takes_residuals_for_slopes | lines @ claimed - residuals | residuals | not slopes
says_true_where_it_does_not_fit | <= allowed | > allowed | True is for a repair that fits
asks_one_line | np.abs(repaired @ lines.T - slopes).max(axis=1) |
    np.abs(repaired @ lines.T - slopes)[:, 0] | one line is not enough
accepts_a_repair_that_any_line_accepts | np.abs(repaired @ lines.T - slopes).max(axis=1) |
    np.abs(repaired @ lines.T - slopes).min(axis=1) | one line is not enough
compares_with_the_sign | np.abs(repaired @ lines.T - slopes).max(axis=1) |
    (repaired @ lines.T - slopes).max(axis=1) | take absolute values
adds_up_over_the_lines | np.abs(repaired @ lines.T - slopes).max(axis=1) |
    np.abs((repaired @ lines.T - slopes).sum(axis=1)) | residuals cancel
averages_over_the_lines | np.abs(repaired @ lines.T - slopes).max(axis=1) |
    np.abs(repaired @ lines.T - slopes).mean(axis=1) | the mean hides a line
picks_the_best_repair | return np.abs(repaired @ lines.T - slopes).max(axis=1) <= allowed |
    off = np.abs(repaired @ lines.T - slopes).max(axis=1); return off == off.min() |
    judge each alone
picks_the_best_of_the_small | return np.abs(repaired @ lines.T - slopes).max(axis=1) <= allowed |
    off = np.abs(repaired @ lines.T - slopes).max(axis=1);
    return off <= max(allowed, off.min()) | the best of them need not fit
returns_the_number_of_the_best | return np.abs(repaired @ lines.T - slopes).max(axis=1) <= allowed |
    return np.argmin(np.abs(repaired @ lines.T - slopes).max(axis=1)) | the shape
keeps_the_slopes_in_residuals | slopes = lines @ claimed - residuals |
    residuals -= lines @ claimed; slopes = -residuals | work on a copy
draws_as_many_of_each | 2.0 * np.random.default_rng(seed).integers(0, 2, size=(lines, n)) - 1 |
    np.random.default_rng(seed).permuted(np.resize([1.0, -1.0], (lines, n)), axis=1) |
    the number of those that are +1 varies
draws_as_many_of_each_in_all |
    2.0 * np.random.default_rng(seed).integers(0, 2, size=(lines, n)) - 1 |
    np.random.default_rng(seed).permutation(np.resize([1.0, -1.0], lines * n)).reshape(lines, n) |
    the number of those that are +1 varies
"""
