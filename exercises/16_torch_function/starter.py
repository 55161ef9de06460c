"""Exercise 16: a torch Function."""

from functools import partial

import torch


class Softplus(torch.autograd.Function):
    """``log(1 + exp(k * x)) / k``, entry by entry, for a number ``k``."""

    @staticmethod
    def forward(ctx, x, k):
        """Return the values, and keep what ``backward`` needs."""
        # --- your code ---
        raise NotImplementedError("exercise 16, task 1: Softplus.forward")
        # --- end ---

    @staticmethod
    def backward(ctx, upstream):
        """Return a gradient for ``x``, and None for ``k``."""
        # --- your code ---
        raise NotImplementedError("exercise 16, task 2: Softplus.backward")
        # --- end ---


class Reverse(torch.autograd.Function):
    """``x`` unchanged, but with the gradient reversed on the way back."""

    @staticmethod
    def forward(ctx, x, strength):
        """Return the values of ``x``, and keep what ``backward`` needs."""
        # --- your code ---
        raise NotImplementedError("exercise 16, task 4: Reverse.forward")
        # --- end ---

    @staticmethod
    def backward(ctx, upstream):
        """Return ``-strength * upstream`` for ``x``, and None for ``strength``."""
        # --- your code ---
        raise NotImplementedError("exercise 16, task 4: Reverse.backward")
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


if __name__ == "__main__":
    from gradcheck_ref import check_vjp
    from gradcheck_ref.adapters import from_torch

    x = torch.tensor([-1.5, 0.25, 2.0], dtype=torch.float64, requires_grad=True)
    functions = {
        "Softplus": lambda x: Softplus.apply(x, 2.0),
        "Reverse": lambda x: Reverse.apply(x, 2),
    }
    for name, f in functions.items():
        first = torch.autograd.gradcheck(f, x, raise_exception=False)
        second = torch.autograd.gradgradcheck(f, x, raise_exception=False)
        print(f"--- {name}: torch says {first}, and {second} to second order")
        print(check_vjp(from_torch(f), x.detach().numpy()), "\n")
