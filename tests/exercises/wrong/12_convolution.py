"""What students hand in for exercise 12."""

# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
forgets_the_bias | width)) + b[:, None, None] | width)) | where is b?
adds_the_biases_along_the_width | + b[:, None, None] | + b | could not be broadcast
adds_the_bias_in_the_loop | return y |
    return y + b[:, None, None] * (w[0, 0].size - 1) | not for each p and q
flips_the_kernel | "fc,chw->fhw", w[:, :, p, q] |
    "fc,chw->fhw", w[:, :, -1 - p, -1 - q] | w is not flipped
pads_the_image | height, width = x.shape[1] |
    x = np.pad(x, [(0, 0), (1, 0), (1, 0)]); height, width = x.shape[1] | stays inside the image
keeps_the_last_product | y += np.einsum | y = b[:, None, None] + np.einsum |
    only the last pair is left
looks_at_the_first_channel | w[:, :, p, q], block | w[:, :1, p, q], block[:1] | over all channels
forgets_db | dw, upstream.sum(axis=(1, 2)) | dw | 3 arrays: dx, dw, db
does_not_sum_db | upstream.sum(axis=(1, 2)) | upstream | the sum over them
sums_db_over_one_axis | sum(axis=(1, 2)) | sum(axis=1) | there are two, height and width
sums_db_over_all_filters | upstream.sum(axis=(1, 2)) |
    upstream.sum()[None] if len(w) == 1 else upstream.sum() | each has its own bias
flips_dw | dw[:, :, p, q] = | dw[:, :, -1 - p, -1 - q] = | flipped: w[p, q] met
averages_dw | return dx, dw, | return dx, dw / upstream[0].size, | not their mean
returns_dw_first | return dx, dw, | return dw, dx, | the order is dx, dw, db
returns_dw_twice | return dx, dw | return dw, dw | that is dw; the order is
overwrites_what_overlaps | dx[place] += | dx[place] = | += adds, and = keeps only the last one
follows_the_formula_and_flips_again | "fc,fhw->chw", w[:, :, p, q] |
    "fc,fhw->chw", w[:, :, -1 - p, -1 - q] | flipped once too often
forgets_the_border | return dx, dw, |
    dx[:, [0, -1]] = dx[:, :, [0, -1]] = 0; return dx, dw, | the border of x was read, too
spreads_upstream_alone | "fc,fhw->chw", w[:, :, p, q] |
    "fc,fhw->chw", np.ones(w.shape[:2]) | where is w?
takes_the_first_filter_alone | w[:, :, p, q], upstream) |
    w[:1, :, p, q], upstream[:1]) | sum over all of them, not only the first
swaps_filters_and_channels | "fc,fhw->chw", w[:, :, p, q] |
    "fc,fhw->chw", (w.swapaxes(0, 1) if len(w) == len(x) else w)[:, :, p, q] |
    filters and channels have changed places
scales_upstream_in_place | return dx, dw, upstream.sum(axis=(1, 2)) |
    db = upstream.sum(axis=(1, 2)); upstream *= 2; return dx, dw, db | work on a copy
keeps_the_first_image | _, height, width = upstream.shape |
    x = vars(convolve_backward).setdefault(f"{x.shape} {w.shape}", x);
    _, height, width = upstream.shape | the x of the call before is still in use
measures_with_differences | return dx, dw, |
    from gradcheck_ref import central_difference as slopes; b = np.zeros(len(w));
    dx = slopes(lambda x: np.sum(upstream * convolve(x, w, b)), x, h=1.0);
    return dx, dw, | is it measured
pools_rows_alone | (c, h // 2, 2, w // 2, 2).max(axis=(2, 4)) |
    (c, h, w // 2, 2).max(axis=3) | a window has two
takes_four_in_a_row | (c, h // 2, 2, w // 2, 2).max(axis=(2, 4)) |
    (c, h // 2, w // 2, 4).max(axis=3) | are not a window
averages | .max(axis=(2, 4)) | .mean(axis=(2, 4)) | the mean of each window
starts_from_zero | .max(axis=(2, 4)) | .max(axis=(2, 4), initial=0) | may be negative
overlaps_its_windows | return x.reshape(c, h // 2, 2, w // 2, 2).max(axis=(2, 4)) |
    corners = x[:, :-1, :-1], x[:, 1:, :-1], x[:, :-1, 1:], x[:, 1:, 1:];
    return np.maximum.reduce(corners) | do not overlap
returns_the_mask | (shares * upstream[:, :, None, :, None]) | shares | where does upstream enter?
gives_it_to_all | (shares * upstream | (np.ones(shares.shape) * upstream | all four get it
gives_each_a_quarter | (shares * upstream |
    (np.full(shares.shape, 0.25) * upstream | the gradient of a mean
gives_it_to_the_smallest | windows.max( | windows.min( | goes to the smallest
knows_one_winner | shares = winners / winners.sum(axis=(2, 4), keepdims=True) |
    shares = windows == x.max(axis=(1, 2)).reshape(c, 1, 1, 1, 1) | each window has one
multiplies_by_the_largest | (shares * | (shares * windows * | how fast does y grow with it?
pays_every_winner | (shares * | (winners * | the sum is too large
pays_nobody_at_a_tie | (shares * | ((shares == 1) * | one of the winners must get it
returns_zeros | (shares * | (0 * shares * | nothing but zeros
keeps_the_winners_of_the_first_call | windows = x.reshape |
    x = vars(max_pool_backward).setdefault(str(x.shape), x); windows = x.reshape |
    the winners of another x
treats_close_entries_as_winners | windows == windows.max(axis=(2, 4), keepdims=True) |
    np.isclose(windows, windows.max(axis=(2, 4), keepdims=True)) | is no winner
knows_square_outputs_only | width)) + b[:, None, None] |
    height)) + b[:, None, None]; width = height | do not fit
"""
