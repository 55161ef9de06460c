"""Turn a function of a framework or a program into one of NumPy arrays that the check can call.

Idea
    ``check_vjp(from_torch(fn), x)`` compares torch's backward of ``fn`` with differences of ``fn``
    itself. Inputs are copied into tensors and outputs into arrays, without rounding, and the
    caller's arrays are never written. ``from_command`` does the same with a program in any
    language, through lines of JSON.
Conventions
    The conventions of the check. ``vjp(upstream, *inputs)`` returns one gradient, or a tuple for
    several inputs, or a dict for inputs by name; None for a constant. NumPy's floating and complex
    arrays, and numbers, are differentiated. Everything else is a constant. For complex
    ``z = x + i y`` the gradient is ``dL/dx + i dL/dy``, as in torch. JAX gives the conjugate, and
    the adapter undoes that.
No derivative is made up
    If an operation has no forward derivative, jvp raises NotImplementedError. It does not derive
    one from the backward: the two would agree even if the backward is wrong.
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
