"""What students hand in for exercise 3."""

# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
divides_by_the_numeric_value | np.maximum(np.abs(analytic), np.abs(numeric)) |
    np.abs(numeric) | relative to numeric; divide by the larger
divides_by_the_sum | np.maximum(np.abs(analytic), np.abs(numeric)) |
    np.abs(analytic) + np.abs(numeric) | relative to the sum of the two
forgets_that_slopes_can_be_negative | np.where(size == 0, 1.0, size) |
    np.maximum(np.maximum(analytic, numeric), floor) | the size of -4 is 4
is_an_absolute_error | difference / np.where(size == 0, 1.0, size) |
    difference | what is it relative to?
keeps_the_sign | np.abs(analytic - numeric) | analytic - numeric | take its absolute value
gives_the_largest_only | difference / np.where(size == 0, 1.0, size) |
    np.max(difference / np.where(size == 0, 1.0, size)) | one error for each entry
compares_norms | return difference / np.where(size == 0, 1.0, size) |
    size = max(np.linalg.norm(analytic), np.linalg.norm(numeric), floor);
    return np.linalg.norm(difference) / size | compares the norms
divides_zero_by_zero | np.where(size == 0, 1.0, size) | size | two zeros agree
divides_only_the_second | difference / np.where(size == 0, 1.0, size) |
    np.abs(analytic - numeric / np.where(size == 0, 1.0, size)) | add parentheses
does_without_a_floor | abs(numeric)), floor) | abs(numeric)), 0) | the floor is not used
adds_the_floor | np.maximum(np.maximum(np.abs(analytic), np.abs(numeric)), floor) |
    np.maximum(np.abs(analytic), np.abs(numeric)) + floor | something is added
knows_only_one_floor | abs(numeric)), floor) |
    abs(numeric)), min(floor, 1e-8) and 1e-8) | here it is not 1e-8
sweeps_nan_away | difference / np.where(size == 0, 1.0, size) |
    np.nan_to_num(difference / np.where(size == 0, 1.0, size)) | looks like perfect agreement
excludes_the_limits | <= 1e-7 | < 1e-7 | includes the limit itself: <=
lets_nan_end_at_good | if worst <= 1e-7 | if not worst > 1e-7 | a NaN got through
takes_the_max_of_python | worst = np.max(errors) | worst = max(errors) | a NaN got through
reads_the_mean | = np.max(errors) | = np.mean(errors) | not the mean
takes_no_notice_of_kinks | if kinks and worst | if worst | what is kinks?
prints_the_word | worst = np.max(errors) |
    print("good" if np.max(errors) <= 1e-7 else "wrong"); return | is there a return?
has_another_default_floor | floor=1e-8): | floor=1e-6): | takes the one of the starter
expects_kinks_by_default | kinks=False | kinks=True | there are none, as in the starter
adds_a_little_to_the_size | numeric)), floor) |
    numeric)), floor) + 1e-12 | by the largest of the three
"""
