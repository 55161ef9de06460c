"""Warp's gradient check: the whole Jacobian, `numpy.allclose`, and a table.

Idea
    Compare the Jacobian of every output with respect to every input, entry by entry, with central
    differences at one step for all: ``|AD - FD| <= atol + rtol * |FD|``. AD comes from the vjp, FD
    from differences of the function. Print a row for each pair, even if it passes.
Catches
    Any single entry that is off by more than the tolerance: there is no norm to dilute it.
Misses
    The defaults are made for float32. Errors of less than one percent pass (zoo: ``huge_loss``,
    ``sine_of_turns``), and so does any error below ``atol`` (``tiny_loss``,
    ``square_of_small_x``). A vjp that writes to its inputs passes (``relu/in-place``), and so does
    one that is right only the first time, if it is called once
    (``mean_squared_error/accumulates``). A right gradient is refused if the difference is a bad
    estimate: at and near kinks (``relu_at_zero``, ``relu_near_zero``), at the edge of the domain
    (``logarithm_near_zero``), and for a function that oscillates within a step
    (``very_fast_sine``).
Differs on purpose
    - The message names the pairs that fail, and the worst entry of each; Warp's names the last pair
      of the table. If there is NaN, it says so, and where it comes from; Warp's never does.
    - Nothing to compare is an error: no array to differentiate, an empty array, a mask with
      unknown names. Warp passes, or fails for an unrelated reason.
    - NaN and infinity never pass. Warp lets an infinite AD equal an infinite FD.
    - Differences are divided by the actual step. A step that does not move an input is an error;
      Warp blames the gradient. A step that is not positive is an error, too, and so is a tolerance
      that is negative or not finite, or a point that is not finite.
    - One evaluation of the function gives all outputs; Warp evaluates again for each pair.
    - The arithmetic is in float64 at least; Warp's is in the dtype of the arrays.
    - Numbers are differentiated like arrays, and a complex entry is two real coordinates. Warp
      has no complex arrays, and differentiates the arrays that have ``requires_grad``.
    - There are no colors in a file or with NO_COLOR. If the terminal is narrower than the table,
      each row becomes a paragraph. The table says *function*, not *kernel*.
    - The plots of errors show magnitudes on a logarithmic scale, and the relative error of the
      table; Warp plots a signed error relative to AD.
"""

from gradcheck_ref.compat.warp.check import gradcheck
from gradcheck_ref.compat.warp.jacobians import jacobian, jacobian_fd
from gradcheck_ref.compat.warp.plot import jacobian_plot

__all__ = ["gradcheck", "jacobian", "jacobian_fd", "jacobian_plot"]
