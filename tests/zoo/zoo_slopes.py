"""Derivatives of the zoo's functions without any checker.

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


def complex_step(f, case, k, index, unit=1):
    """Derivative of every output along one real entry: Im f(x + ih) / h, exact to rounding."""
    h = 1e-30
    return [np.imag(y) / h for y in as_tuple(f(*shifted(case, k, index, 1j * h * unit)))]


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
        slope = complex_step if analytic and x.dtype.kind != "c" else richardson
        units = (1, 1j) if x.dtype.kind == "c" else (1,)
        J = np.zeros((len(upstreams), *x.shape), x.dtype)
        for index in np.ndindex(x.shape):
            for unit in units:
                along = tuple(slope(f, case, k, index, unit))
                for row, upstream in enumerate(upstreams):
                    J[(row, *index)] += unit * contract(upstream, along)
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
