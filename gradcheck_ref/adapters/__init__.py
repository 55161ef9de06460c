"""A function of a framework or a program as one of NumPy arrays, for the check to call.

Idea
    ``check_vjp(from_torch(fn), x)`` compares torch's backward of ``fn`` with differences of ``fn``
    itself. What comes in is copied into tensors, what goes out into arrays; nothing is rounded on
    the way, and nothing of the caller's is written. ``from_command`` does the same with a program
    in any language, which is asked in lines of JSON.
Conventions
    Those of the check. ``vjp(upstream, *inputs)`` returns one gradient, or a tuple for several
    inputs, or a dict where they came by name; None for a constant. NumPy's floating and complex
    arrays, and numbers, are differentiated; everything else is a constant. For complex
    ``z = x + i y`` the gradient is ``dL/dx + i dL/dy``, as in torch; JAX gives the conjugate, which
    is undone.
No derivative is made up
    Where an operation has no forward derivative, jvp raises NotImplementedError and does not derive
    one from the backward: the two would agree, whatever the backward is worth.
"""

from gradcheck_ref.adapters.jax import JaxFunction, from_jax
from gradcheck_ref.adapters.torch import TorchFunction, from_torch
from gradcheck_ref.adapters.torch_module import check_module
from gradcheck_ref.programs.function import ProgramFunction, from_command

__all__ = [
    "JaxFunction",
    "ProgramFunction",
    "TorchFunction",
    "check_module",
    "from_command",
    "from_jax",
    "from_torch",
]
