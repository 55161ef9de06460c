"""What several test files use: points beside one another, how f is called at them, and noise."""

import subprocess

import numpy as np

from gradcheck_ref import check_vjp


def ran(*command, **how):
    """Run a command to its end, and keep what it prints."""
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, **how)


def status_of(main, *words):
    """Return the status with which a command line ends, within the tests."""
    try:
        return main([str(word) for word in words])
    except SystemExit as end:
        return end.code


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


def assert_one_by_one(adapted, x, count, checked):
    """Have a function called at some points, and checked, with the numbers that it has alone."""
    points = shifted(x, count)
    values = [value.tobytes() for value in adapted().many(points)]
    assert values == [adapted()(point).tobytes() for point in points]
    if checked:
        together, alone = check_vjp(adapted(), x), check_vjp(OneByOne(adapted()), x)
        assert (together.verdict, together.reason) == (alone.verdict, alone.reason)


def function(forward, backward):
    """Make a torch.autograd.Function of two functions of (ctx, ...)."""
    import torch

    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Made", (torch.autograd.Function,), methods)


def rule(forward, backward):
    """Return what calls such a Function."""
    return function(forward, backward).apply


def saving(compute):
    """Return a forward that saves its inputs."""

    def forward(ctx, *tensors):
        ctx.save_for_backward(*tensors)
        return compute(*tensors)

    return forward


def power(n, factor):
    """Write x**n as a torch.autograd.Function that is right for a factor of n.

    It has a backward of its own, no forward mode, and no rule for vmap.
    """
    return function(
        saving(lambda x: x**n),
        lambda ctx, upstream: factor * upstream * ctx.saved_tensors[0] ** (n - 1),
    )


def hashed(x):
    """Return a number in [-1, 1] that has nothing to do with its neighbours."""
    bits = 0
    for word in np.ascontiguousarray(x, float).view(np.uint64).tolist():
        bits = (bits ^ word) * 0x9E3779B97F4A7C15 % 2**64
        bits ^= bits >> 29
        bits = bits * 0xBF58476D1CE4E5B9 % 2**64
        bits ^= bits >> 32
    return bits / 2**63 - 1
