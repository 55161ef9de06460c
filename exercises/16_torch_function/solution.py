"""Exercise 16: a torch Function."""

from functools import partial

import torch


class Softplus(torch.autograd.Function):
    """``log(1 + exp(k * x)) / k``, entry by entry, for a number ``k``."""

    @staticmethod
    def forward(ctx, x, k):
        """Return the values, and keep what ``backward`` needs."""
        # --- your code ---
        ctx.save_for_backward(x)
        ctx.k = k
        return torch.logaddexp(torch.zeros_like(x), k * x) / k
        # --- end ---

    @staticmethod
    def backward(ctx, upstream):
        """Return a gradient for ``x``, and None for ``k``."""
        # --- your code ---
        # From x itself, as torch has to see how the slope depends on it.
        (x,) = ctx.saved_tensors
        return upstream * torch.sigmoid(ctx.k * x), None
        # --- end ---


class Reverse(torch.autograd.Function):
    """``x`` unchanged, but with the gradient reversed on the way back."""

    @staticmethod
    def forward(ctx, x, strength):
        """Return the values of ``x``, and keep what ``backward`` needs."""
        # --- your code ---
        ctx.strength = strength
        return x.clone()
        # --- end ---

    @staticmethod
    def backward(ctx, upstream):
        """Return ``-strength * upstream`` for ``x``, and None for ``strength``."""
        # --- your code ---
        return -ctx.strength * upstream, None
        # --- end ---


# --- the checks call these: NumPy arrays go in and come out ---------------------------------------


def values(function, x, k):
    """Return the values of a function."""
    return function.apply(torch.tensor(x), k).numpy()


def gradient(function, upstream, x, k):
    """Return the gradient that torch gets from a function."""
    x = torch.tensor(x, requires_grad=True)
    (gradient,) = torch.autograd.grad(function.apply(x, k), x, torch.tensor(upstream))
    return gradient.numpy()


def softplus_second(x, k):
    """Return the derivative of the derivative of ``Softplus``, entry by entry."""
    x = torch.tensor(x, requires_grad=True)
    (slope,) = torch.autograd.grad(Softplus.apply(x, k).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x, materialize_grads=True)
    return second.numpy()


softplus, softplus_backward = partial(values, Softplus), partial(gradient, Softplus)
reverse, reverse_backward = partial(values, Reverse), partial(gradient, Reverse)
