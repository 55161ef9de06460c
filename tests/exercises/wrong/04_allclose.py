"""What students hand in for exercise 4."""

# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
is_the_allclose_of_numpy | error = np.abs(analytic - numeric) |
    return np.allclose(analytic, numeric, rtol=rtol, atol=atol) | an infinite value allows any error
excludes_the_limit | error <= allowed | error < allowed | an error of just what is allowed
forgets_that_slopes_can_be_negative | rtol * np.abs(numeric) |
    rtol * numeric | and |numeric| is not
forgets_the_absolute_value_of_the_error | np.abs(analytic - numeric) |
    analytic - numeric | an error may be negative
tries_one_tolerance_or_the_other | atol + rtol * np.abs(numeric) |
    np.maximum(atol, rtol * np.abs(numeric)) | not tried one by one
wants_both_tolerances_kept | atol + rtol * np.abs(numeric) |
    np.minimum(atol, rtol * np.abs(numeric)) | the smaller of the two
forgets_rtol | atol + rtol * np.abs(numeric) |
    atol | where is rtol * |numeric|?
takes_the_claim_for_the_reference | * np.abs(numeric) |
    * np.abs(analytic) | widens its own tolerance
measures_by_the_largest_entry | * np.abs(numeric) |
    * np.abs(numeric).max(initial=0) | what is allowed is each entry's own
looks_at_the_mean | (error <= allowed) | (error.mean() <= allowed.mean()) | no mean, no norm
is_content_with_one_right_entry | close.all() | close.any() | no mean, no norm
looks_for_what_is_too_far | (error <= allowed) & np.isfinite(analytic) & np.isfinite(numeric) |
    ~(error > allowed) | NaN is close to nothing
lets_numpy_stretch | analytic.shape != numeric.shape |
    False | raise a ValueError if
compares_sizes | analytic.shape != numeric.shape |
    analytic.size != numeric.size | the shapes, not the sizes
accepts_empty_arrays | close.size > 0 and close.all() | close.all() | count the entries
returns_an_answer_for_each_entry | bool(close.size > 0 and close.all()) |
    close | an array of shape (2,) came back, but the answer needs a single number
always_says_yes | close.size > 0 and close.all() | True | the error is 0.5, and 0.25 is allowed
answers_with_a_text | return bool( | return str( | that is a text
looks_for_nan_by_equality | np.isfinite(analytic) & np.isfinite(numeric) |
    (analytic != np.nan) & (numeric != np.inf) | an infinite value allows any error
counts_the_rows | close.size > 0 and | len(close) > 0 and | count the entries
allows_a_little_more | allowed = atol + | allowed = 1e-8 + atol + | that nobody has given
"""
