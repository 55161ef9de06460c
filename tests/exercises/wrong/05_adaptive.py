"""What students hand in for exercise 5."""

# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
is_a_central_difference | (4 * central(f, x, h) - central(f, x, 2 * h)) / 3 |
    central(f, x, h) | it needs the one at 2*h too
swaps_the_weights | 4 * central(f, x, h) - central(f, x, 2 * h) |
    4 * central(f, x, 2 * h) - central(f, x, h) | the 4 belongs to the shorter step
forgets_the_three | (4 * central(f, x, h) - central(f, x, 2 * h)) / 3 |
    4 * central(f, x, h) - central(f, x, 2 * h) | divide by it
halves_the_step | 2 * h | h / 2 | twice the first, not half of it
adds_the_two | h) - central | h) + central | subtract the two
divides_only_the_second | (4 * central(f, x, h) - central(f, x, 2 * h)) |
    4 * central(f, x, h) - central(f, x, 2 * h) | add parentheses
returns_the_value_only | return best_value, best_error | return best_value | return value, error
forgets_to_return | return best_value, best_error | pass | is there a return
swaps_the_pair | return best_value, best_error |
    return best_error, best_value | the value comes first
claims_to_be_certain | return best_value, best_error | return best_value, 0.0 | an error bar of 0
returns_the_last_error | return best_value, best_error |
    return best_value, truncation + rounding | of another step
returns_inside_the_loop | best_value, best_error = fine, truncation + rounding |
    return fine, truncation + rounding | the longest step: is every step tried
believes_that_shorter_is_better | if truncation + rounding < best_error |
    if True | that is the last step
stops_at_the_first_small_error | truncation + rounding < best_error |
    truncation + rounding < 1e-8 * max(1, abs(fine)) and best_error == np.inf |
    a smaller sum was to be had
returns_the_longer_of_the_two | = fine, truncation | = coarse, truncation | five_point(h/2)
counts_truncation_only | rounding = 4 * EPS | rounding = 0 * EPS |
    truncation alone; add
counts_rounding_only | truncation = abs(coarse - fine) |
    truncation = 0 | rounding alone; add
forgets_an_absolute_value | abs(coarse - fine) |
    coarse - fine | is there an abs around each part?
misses_the_abs_around_f | (abs(f(x)) + | (f(x) + | is there an abs around each part
takes_the_larger_of_the_two | abs(x * fine)) / h |
    abs(x * fine)) / h; truncation, rounding = max(truncation, rounding), 0 | add them
"""
