"""Points beside one another, and how a function is called at them; for functions of many points."""

import numpy as np


def shifted(inputs, count):
    """Return points beside one another, arranged as inputs are."""

    def moved(value, k):
        moves = isinstance(value, np.ndarray | float) and np.asarray(value).dtype.kind in "fc"
        return (value + np.asarray(value).dtype.type(0.01 * k)) if moves else value

    if isinstance(inputs, dict):
        return [{name: moved(v, k) for name, v in inputs.items()} for k in range(count)]
    if isinstance(inputs, tuple):
        return [tuple(moved(v, k) for v in inputs) for k in range(count)]
    return [moved(inputs, k) for k in range(count)]


def call(f, point):
    """Call a function at a point, arranged as its inputs are."""
    if isinstance(point, dict):
        return f(**point)
    return f(*point) if isinstance(point, tuple) else f(point)


def arrays(value):
    """Return what a function has returned as a tuple."""
    return value if isinstance(value, tuple) else (value,)


class OneByOne:
    """What an adapter gives, without any ``many``."""

    def __init__(self, adapted):
        self.adapted = adapted
        self.__wrapped__ = adapted.__wrapped__

    def __call__(self, *inputs, **named):
        return self.adapted(*inputs, **named)

    def vjp(self, *inputs, **named):
        return self.adapted.vjp(*inputs, **named)

    def jvp(self, *inputs, **named):
        return self.adapted.jvp(*inputs, **named)


def power(n, factor):
    """Write x**n as a torch.autograd.Function that is right for a factor of n.

    It has a backward of its own, no forward mode, and no rule for vmap.
    """
    import torch

    class Power(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**n

        @staticmethod
        def backward(ctx, upstream):
            (x,) = ctx.saved_tensors
            return factor * upstream * x ** (n - 1)

    return Power
