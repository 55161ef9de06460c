"""A NumPy function with its claimed vjp as a function of Warp arrays.

Warp differentiates its own kernels, but a Python function of Warp arrays may put anything on the
tape: here the vjp. So no kernel has to be compiled.
"""

import inspect
import warnings

import numpy as np
import pytest

warp = pytest.importorskip("warp", reason="the peer warp-lang is not installed")
autograd = pytest.importorskip("warp.autograd", reason="this warp-lang has no warp.autograd")

DTYPES = {np.dtype(np.float32): warp.float32, np.dtype(np.float64): warp.float64}

recording = []  # the tape that Warp records on now, if it does


class Tape(warp.Tape):
    """A tape that can be found while it records."""

    def __enter__(self):
        recording.append(self)
        return super().__enter__()

    def __exit__(self, *error):
        recording.remove(self)
        return super().__exit__(*error)


def is_floating(value):
    return np.asarray(value).dtype.kind in "fc"


def to_warp(value):
    """Return a NumPy array as a flat array of Warp; a complex entry becomes two numbers."""
    flat = np.array(value, order="C").reshape(-1)
    flat = flat.view(flat.real.dtype)
    return warp.array(flat, dtype=DTYPES[flat.dtype], requires_grad=True, device="cpu")


def to_numpy(array, like):
    """Return a flat array of Warp with the shape and dtype of the one it came from."""
    like = np.asarray(like)
    return np.array(array.numpy()).view(like.dtype).reshape(like.shape)


def in_warp(f, vjp, inputs):
    """Return a function of Warp arrays that computes with ``f`` and pulls back with ``vjp``."""

    def function(*arrays):
        values = [
            to_numpy(array, value) if is_floating(value) else value
            for array, value in zip(arrays, inputs, strict=True)
        ]
        output = f(*map(np.copy, values))
        outputs = output if isinstance(output, tuple) else (output,)
        returned = [to_warp(one) if is_floating(one) else one for one in outputs]

        def pull_back():
            upstream = tuple(
                to_numpy(array.grad, one)[()] if is_floating(one) else np.zeros(np.shape(one))
                for array, one in zip(returned, outputs, strict=True)
            )
            upstream = upstream if isinstance(output, tuple) else upstream[0]
            add_gradients(arrays, values, vjp(upstream, *map(np.copy, values)))

        for tape in recording:
            on_it = [a for a in (*arrays, *returned) if isinstance(a, warp.array)]
            tape.record_func(pull_back, on_it)
        return returned

    names = [p.name for p in inspect.signature(f).parameters.values() if p.kind != p.VAR_POSITIONAL]
    names = names if len(names) == len(inputs) else [f"input_{k}" for k in range(len(inputs))]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    function.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])
    function.__name__ = f.__name__
    return function


def add_gradients(arrays, values, given):
    """Add to the gradients on the tape what a vjp gives."""
    given = given if isinstance(given, tuple) else (given,)
    for array, gradient, value in zip(arrays, given, values, strict=True):
        if gradient is not None and is_floating(value):
            if np.shape(gradient) != value.shape:
                raise ValueError(f"a gradient of shape {np.shape(gradient)}, not {value.shape}")
            gradient = to_warp(np.asarray(gradient, value.dtype)).numpy()
            array.grad.assign(array.grad.numpy() + gradient)


def warps(check, f, vjp, inputs, **knobs):
    """Call a function of ``warp.autograd`` for a NumPy function, without its warnings."""
    arrays = [to_warp(value) if is_floating(value) else value for value in inputs]
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setattr(warp, "Tape", Tape)
        return check(in_warp(f, vjp, inputs), inputs=arrays, **knobs)
