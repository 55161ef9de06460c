"""Derivatives of the zoo's functions without any checker, and what a wrong one looks like.

The complex step has no truncation error and no cancellation; where a function is not analytic,
Richardson extrapolation serves.
"""

import numpy as np

RIGHT = 1e-9  # a right gradient is right to this, relative to its largest entry
WRONG = 3e-7  # a wrong one is wrong by more than this


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def differentiable(case):
    return [k for k, x in enumerate(case.inputs) if x.dtype.kind in "fc"]


def copies(inputs):
    return tuple(x.copy() for x in inputs)


def outputs(case):
    return [np.asarray(y) for y in as_tuple(case.f(*copies(case.inputs)))]


def packed(case, parts):
    """Give upstream the structure of the output: a number, an array or a tuple."""
    value = case.f(*copies(case.inputs))
    parts = [part if part.ndim else part[()] for part in parts]
    return tuple(parts) if isinstance(value, tuple) else parts[0]


def random_upstream(case, seed):
    rng = np.random.default_rng(seed)
    parts = []
    for y in outputs(case):
        part = rng.uniform(0.5, 1.5, y.shape) * rng.choice([-1, 1], y.shape)
        if y.dtype.kind == "c":
            part = part + 1j * rng.uniform(0.5, 1.5, y.shape)
        parts.append(np.asarray(part))
    return packed(case, parts)


def basis(case):
    """One upstream for every entry of every output; two for a complex entry: 1 and i."""
    shapes = outputs(case)
    for k, y in enumerate(shapes):
        for index in np.ndindex(y.shape):
            for unit in (1, 1j) if y.dtype.kind == "c" else (1,):
                parts = [np.zeros(z.shape, z.dtype) for z in shapes]
                parts[k][index] = unit
                yield packed(case, parts)


def gradients(case, vjp, upstream, inputs=None):
    """Call vjp and return one array per differentiable input."""
    grads = vjp(upstream, *(copies(case.inputs) if inputs is None else inputs))
    if len(case.inputs) > 1:
        assert isinstance(grads, tuple)
        assert len(grads) == len(case.inputs)
        assert all(
            (x.dtype.kind in "fc") or g is None for g, x in zip(grads, case.inputs, strict=True)
        )
    grads = as_tuple(grads)
    return [np.asarray(grads[k]) for k in differentiable(case)]


def claimed_jacobian(case, vjp):
    """Per differentiable input, the gradients for all basis upstreams, stacked."""
    rows = [gradients(case, vjp, upstream) for upstream in basis(case)]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def contract(upstream, value):
    """L = Re sum(conj(upstream) value), over all outputs."""
    return sum(
        float((np.conj(u) * v).real.sum())
        for u, v in zip(as_tuple(upstream), as_tuple(value), strict=True)
    )


def shifted(case, k, index, step):
    inputs = list(copies(case.inputs))
    inputs[k] = inputs[k].astype(np.result_type(inputs[k], type(step)))
    inputs[k][index] += step
    return inputs


def complex_step(f, case, k, index):
    """Derivative of every output along one entry: Im f(x + ih) / h, exact to rounding."""
    h = 1e-30
    return [np.imag(y) / h for y in as_tuple(f(*shifted(case, k, index, 1j * h)))]


def richardson(f, case, k, index, unit=1.0):
    """Derivative of every output along one entry, extrapolated from seven central differences."""
    rows = []
    for level in range(7):
        h = 0.04 / 2**level
        ahead = as_tuple(f(*shifted(case, k, index, h * unit)))
        behind = as_tuple(f(*shifted(case, k, index, -h * unit)))
        row = [[(a - b) / (2 * h) for a, b in zip(ahead, behind, strict=True)]]
        for order in range(level):
            factor = 4.0 ** (order + 1)
            row.append(
                [
                    (factor * new - old) / (factor - 1)
                    for new, old in zip(row[-1], rows[-1][order], strict=True)
                ]
            )
        rows.append(row)
    return rows[-1][-1]


def numeric_jacobian(case, f, *, analytic=True):
    """Return the same arrays as `claimed_jacobian`, from f alone.

    The complex step serves where f is analytic and takes complex numbers, else extrapolation.
    """
    upstreams = list(basis(case))
    result = []
    for k in differentiable(case):
        x = case.inputs[k]
        J = np.zeros((len(upstreams), *x.shape), x.dtype)
        for index in np.ndindex(x.shape):
            if x.dtype.kind == "c":
                along = [
                    (1, richardson(f, case, k, index)),
                    (1j, richardson(f, case, k, index, 1j)),
                ]
            elif not analytic:
                along = [(1, richardson(f, case, k, index))]
            else:
                along = [(1, complex_step(f, case, k, index))]
            for row, upstream in enumerate(upstreams):
                J[(row, *index)] = sum(
                    unit * contract(upstream, tuple(slopes)) for unit, slopes in along
                )
        result.append(J)
    return result


def one_sided_slopes(case, upstream, k, index):
    """Backward and forward quotient; exact where f is linear on either side."""
    h = 2.0**-10
    here, ahead, behind = (
        contract(upstream, case.f(*shifted(case, k, index, step))) for step in (0.0, h, -h)
    )
    return (here - behind) / h, (ahead - here) / h


def worst_error(claimed, numeric):
    """Largest error of each array relative to the largest entry of the numeric one."""
    worst = 0.0
    for c, n in zip(claimed, numeric, strict=True):
        if c.shape != n.shape:
            return np.inf
        error, scale = np.abs(c - n).max(), np.abs(n).max()
        worst = max(worst, error / scale if scale else (np.inf if error else 0.0))
    return worst


# What a bug looks like, from the claimed and the true Jacobian.


def same(a, b, scale):
    return a.shape == b.shape and bool(np.abs(a - b).max(initial=0.0) <= 1e-9 * scale)


def is_multiple(wrong, right, scale):
    """Return c with wrong = c right, or None."""
    if not np.abs(right).max():
        return None
    at = np.unravel_index(np.abs(right).argmax(), right.shape)
    c = wrong[at] / right[at]
    return c if same(wrong, c * right, max(scale, np.abs(wrong).max())) else None


def is_transposed(wrong, right, scale):
    if right.ndim == 3 and same(wrong, right.swapaxes(1, 2), scale):
        return True
    if wrong.shape != right.shape:
        return False
    flat = right.reshape(len(right), -1)
    square = flat.shape[0] == flat.shape[1] > 1
    return square and same(wrong.reshape(flat.shape), flat.T, scale)


def is_unsummed(wrong, right, scale):
    """Surplus or stretched axes, and summed over them the gradient is right."""
    if wrong.shape == right.shape or wrong.size <= right.size:
        return False
    missing = wrong.ndim - right.ndim
    padded = (len(right), *(1,) * missing, *right.shape[1:])
    axes = tuple(a for a in range(1, wrong.ndim) if wrong.shape[a] != padded[a])
    for axis in (axes, tuple(range(1, wrong.ndim))[-missing:] if missing else axes):
        summed = wrong.sum(axis=axis, keepdims=True)
        if summed.size == right.size and same(summed.reshape(right.shape), right, scale):
            return True
    return False


def wrong_entries(wrong, right, scale):
    """Mark the entries of the input that are wrong for any upstream."""
    return (np.abs(wrong - right) > 1e-9 * scale).any(axis=0)


def looks_like(wrong, right, x, scalar):
    """Name the simplest pattern, for one input."""
    scale = np.abs(right).max() or np.abs(wrong).max()
    if wrong.shape != right.shape:
        if is_transposed(wrong, right, scale):
            return "transposed"
        return "missing-sum" if is_unsummed(wrong, right, scale) else "unknown"
    if not wrong.any():
        return "zero"
    factor = is_multiple(wrong, right, scale)
    if factor is not None:
        return "sign" if abs(factor + 1) < 1e-9 else "factor"
    if is_transposed(wrong, right, scale):
        return "transposed"
    conjugates = (right, right.conj(), -right.conj())
    if right.dtype.kind == "c" and all(
        any(same(w, c, scale) for c in choices)
        for w, *choices in zip(wrong, *conjugates, strict=True)
    ):
        return "conjugate"
    flat_wrong, flat_right = (a.reshape(len(a), -1) for a in (wrong, right))
    if any(same(np.sort(flat_wrong, a), np.sort(flat_right, a), scale) for a in (0, 1)):
        return "permuted"
    if scalar and is_multiple((wrong - right)[0], x, np.abs(wrong - right).max()) is not None:
        return "regulariser"
    marked = wrong_entries(wrong, right, scale)
    lined_up = x.ndim > 1 and any(len(set(where)) == 1 for where in np.nonzero(marked))
    if lined_up and marked.sum() > 1:
        return "row-or-column"
    if (marked.sum() == 1 and marked.size >= 3) or (marked.sum() == 2 and marked.size >= 6):
        return "single-entries"
    good = np.abs(wrong - right) <= 1e-9 * scale
    if (good & (np.abs(right) > 0)).any() and not wrong[~good].any():
        return "mask"
    error = (wrong - right)[right != 0] / right[right != 0]
    if error.size and (np.abs(error) < 1e-2).all():
        return "unknown or noisy"
    return "unknown"


def diagnosis(case, bug):
    """Name what a careful analyst would say of this bug."""
    upstream, other = random_upstream(case, 1), random_upstream(case, 2)
    inputs = copies(case.inputs)
    first = gradients(case, bug.vjp, upstream, inputs)
    if any(not np.array_equal(a, b) for a, b in zip(inputs, case.inputs, strict=True)):
        return "mutated"
    if worst_error(first, gradients(case, case.vjp, upstream)) <= RIGHT:
        again = [
            worst_error(gradients(case, bug.vjp, u), gradients(case, case.vjp, u))
            for u in (upstream, other)
        ]
        return "accumulated" if max(again) > WRONG else "none: it is right"
    wrongs, rights = claimed_jacobian(case, bug.vjp), claimed_jacobian(case, case.vjp)
    scalar = not isinstance(case.f(*copies(case.inputs)), tuple) and not outputs(case)[0].ndim
    names = {
        looks_like(wrong, right, case.inputs[k], scalar)
        for wrong, right, k in zip(wrongs, rights, differentiable(case), strict=True)
        if worst_error([wrong], [right]) > RIGHT
    }
    if names == {"sign", "factor"}:
        return "factor"
    return names.pop() if len(names) == 1 else "unknown"
