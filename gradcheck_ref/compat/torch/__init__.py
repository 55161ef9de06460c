"""torch's ``gradcheck`` and ``gradgradcheck``, for NumPy functions with a hand-written derivative.

Idea
    Take central differences with a step of 1e-6 along every entry of the inputs. Ask the vjp for
    the same Jacobian, with one cotangent (upstream gradient) for each entry of the outputs. Compare
    them entry by entry: ``|analytic - numeric| <= atol + rtol * |numeric|``. Then test three
    promises: the vjp is linear, gives the same result twice, and works without a cotangent.
Catches
    Wrong entries of any kind (sign, factor, transpose, mask, missing sum) off by more than 0.1 %
    plus 1e-5, complex conjugates, a vjp that keeps state or writes to its inputs.
Misses
    Errors below the tolerances: wrong gradients of ``tiny_loss``, ``square_of_small_x`` and
    ``logarithm_of_large_x`` pass, and so does an error of less than 0.1 %, as in
    ``ridge_regression``. And it blames the gradient for a bad difference: the gradients of
    ``relu_at_zero``, ``square_of_large_x``, ``large_offset``, ``square_root_near_zero``,
    ``float32_layer`` and ``rounded_output`` are right, and fail. Fast mode compares one number for
    each output and input: a mistake in one entry of many may be below the tolerance, and a mistake
    orthogonal to its constant vectors does not show (``very_fast_sine``, ``mixed_magnitudes``).
    `gradgradcheck` does not check the first derivative at all.

*From torch to NumPy.* The floating and complex arrays stand for the inputs with ``requires_grad``.
To hold one of them constant, bind it with ``functools.partial``. The backward is ``vjp(upstream,
*inputs)``, the forward derivative ``jvp(tangent, *inputs)``; each is an argument or an attribute of
func. An undefined cotangent or tangent arrives as zeros, or as None if the vjp or jvp has an
attribute ``materialize_grads`` that is False. A batch is a new first axis, in one call; torch uses
``vmap``. A masked array stands for a sparse tensor.

*Differs on purpose*

- Copies of the inputs move, so no input changes, even if func raises. So func must use its
  argument: an array that it reads from elsewhere does not move.
- A func, vjp or jvp that writes to its inputs fails with a sentence that says so. torch passes, or
  fails with odd numbers.
- Differences are divided by the actual step, ``(x + eps) - (x - eps)``, not by ``2 * eps``: at
  x = 1.23e10 torch gets 1.907 for the identity. A step that does not move x at all fails.
- Nothing compared is a ``ValueError``, even if inputs or outputs are empty: torch passes.
- Infinity agrees with nothing; in torch it agrees with itself. If the second of two runs gives NaN
  and the first a number, they differ.
- Integer outputs are left out at any position; if there are no other outputs, they must not change,
  in slow mode too.
- Outputs may be numbers; None, a dict or a text is a ``TypeError``, not an ``AttributeError``. A
  jvp may return None for zeros.
- Arrays that overlap themselves are refused whatever their strides; inputs that share memory are
  moved one by one.
- No engine repairs the gradients: a broadcast shape is not summed. A wrong shape or number of
  gradients, or a complex gradient of a real input, is a ``GradcheckError``; torch's engine raises
  its own ``RuntimeError``. The dtype is converted unless ``check_grad_dtypes`` is set (torch 2.13
  confuses this flag with the flag for the size).
- A step that is not positive, or a tolerance that is negative or not finite, is a ``ValueError``
  before anything is called.
- ``grad_outputs`` may hold None, as torch's documentation says, and must be as many as the outputs.
  Integers among them are made floating; torch does not check slopes with respect to those.
  Without an output that has a derivative `gradgradcheck` says so, and not that an argument is
  missing.
- Random numbers (u and v of fast mode, batches, grad_outputs) come from NumPy's generator with a
  constant seed: they are not torch's numbers, and always the same.
- Messages name the worst entry and do not print the matrices; the error on undefined cotangents
  comes without a warning, and nothing warns that ``get_numerical_jacobian`` is deprecated.
"""

from gradcheck_ref.compat.torch.calls import GradcheckError
from gradcheck_ref.compat.torch.first_order import gradcheck
from gradcheck_ref.compat.torch.matrices import get_analytical_jacobian, get_numerical_jacobian
from gradcheck_ref.compat.torch.second_order import gradgradcheck

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "gradcheck",
    "gradgradcheck",
]
