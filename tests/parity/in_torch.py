"""A NumPy function with its claimed vjp or jvp as a function of torch."""

import warnings

import numpy as np
import pytest
from zoo_slopes import as_tuple

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip(
        "torch", reason="the peer torch is missing: pip install torch==2.13.0"
    )
    # At its first use, forward mode imports a part of torch that torch deprecates.
    with torch.autograd.forward_ad.dual_level():
        torch.autograd.forward_ad.make_dual(torch.ones(1), torch.ones(1))


def as_torch(f, vjp=None, jvp=None, backward=None):
    """Wrap NumPy functions as one of tensors; ``backward`` takes tensors in the place of vjp."""

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)
            ctx.set_materialize_grads(getattr(vjp, "materialize_grads", True))
            output = f(*map(as_array, inputs))
            ctx.several = isinstance(output, tuple)
            tensors = tuple(map(as_tensor, as_tuple(output)))
            return tensors if ctx.several else tensors[0]

        @staticmethod
        def backward(ctx, *cotangents):
            if backward is not None:
                return as_tuple(backward(*ctx.saved_tensors, *cotangents))
            listed = tuple(map(as_array, cotangents))
            upstream = listed if ctx.several else listed[0]
            return tuple(map(as_tensor, as_tuple(vjp(upstream, *map(as_array, ctx.saved_tensors)))))

        @staticmethod
        def jvp(ctx, *tangents):
            listed = tuple(map(as_array, tangents))
            tangent = listed if len(listed) > 1 else listed[0]
            pushed = as_tuple(jvp(tangent, *map(as_array, ctx.saved_tensors)))
            tensors = tuple(map(as_tensor, pushed))
            return tensors if ctx.several else tensors[0]

    return Function.apply


def as_array(tensor):
    """Return the memory of a tensor as an array, so that torch sees what is written to it."""
    return None if tensor is None else tensor.detach().numpy()[()]


def as_tensor(array):
    return None if array is None else torch.tensor(np.array(array))


def leaves(inputs):
    """Return the inputs as tensors, of which those that can be differentiated require it."""
    tensors = [as_tensor(x) if isinstance(x, np.ndarray) else x for x in as_tuple(inputs)]
    for tensor in tensors:
        if torch.is_tensor(tensor) and (tensor.is_floating_point() or tensor.is_complex()):
            tensor.requires_grad_()
    return tuple(tensors)


def outcome(check, *arguments, **flags):
    """Return True or False, or the name of what is raised."""
    try:
        return check(*arguments, **flags)
    except Exception as error:
        return type(error).__name__
