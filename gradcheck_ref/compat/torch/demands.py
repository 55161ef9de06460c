"""Further demands of torch's ``gradcheck`` on a vjp and a jvp, besides the right slopes.

Cotangents of zeros must give gradients of exactly zero: a vjp is linear. Undefined cotangents must
do the same. And a vjp or jvp that promises batches must take two directions at once.

**Batches.** torch runs a backward under ``vmap``. Here a vjp or jvp is called once with a new first
axis on all cotangents, or all tangents, but not on the inputs. Its result must have that axis too,
and equal the results of single calls. If the vjp is only ``upstream * something``, broadcasting
does this.
"""

from collections.abc import Mapping

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.compat.torch.calls import Calls, GradcheckError
from gradcheck_ref.compat.torch.compare import PARTS, random_unit
from gradcheck_ref.compat.torch.jacobian import axes
from gradcheck_ref.stage4_allclose import Comparison, allclose

# The tolerances of torch.allclose, with which two analytic results are compared.
CLOSE_RTOL, CLOSE_ATOL = 1e-5, 1e-8

# How many directions make a batch.
BATCH = 2


def insist_on_batches(calls: Calls, which: str) -> None:
    """Refuse a vjp or jvp that gives other results for two directions at once."""
    rng = np.random.default_rng(0)
    (kind, likes, given), (other, _, found) = calls.sides(which)
    where = "for" if which == "vjp" else "along"
    advice = (
        "The cotangents or tangents have a new first axis, and so must the result; the inputs do "
        "not have it. If you need no batches, pass check_batched_"
        f"{'grad' if which == 'vjp' else 'forward_grad'}=False"
    )
    for number in given:
        directions, at = _normal(rng, likes[number]), f"{where} {calls.name(kind, number)}"
        singles = [calls.product(which, {number: one}, f"one by one {at}") for one in directions]
        try:
            batched = calls.product(which, {number: directions}, f"with a batch {at}", (BATCH,))
        except (TypeError, ValueError, IndexError, RuntimeError) as error:  # wrong axes cause these
            raise GradcheckError(
                f"{calls.name(which)} fails with a batch {at}: {error}. {advice}"
            ) from error
        for i, k in enumerate(found):
            comparison = _close(batched[i], np.array([single[i] for single in singles]))
            if comparison.wrong:
                raise GradcheckError(
                    f"{calls.name(which)} gives different results for a batch {at} and one by one, "
                    f"by {calls.name(other, k)}: {comparison}. {advice}"
                )


def _normal(rng: np.random.Generator, like: Array) -> Array:
    """Draw a batch of random directions."""
    shape = (BATCH, *like.shape)
    drawn = rng.normal(size=shape)
    if 1j in axes(like):
        drawn = drawn + 1j * rng.normal(size=shape)
    return drawn.astype(like.dtype)


def insist_on_zero_for_zeros(calls: Calls) -> None:
    """Refuse a vjp that turns cotangents of zeros into something: it forgot to multiply by them."""
    zeros = {j: np.zeros_like(calls.outputs[j]) for j in calls.counted}
    gradients = calls.gradients(zeros, "with cotangents of zeros")
    for k, gradient in zip(calls.checked, gradients, strict=True):
        # NaN is not 0 either.
        wrong = gradient != 0
        if calls.masked:
            wrong = ~_close(gradient, np.zeros_like(gradient)).close
        if wrong.any():
            raise GradcheckError(
                "Backward is not multiplied by grad_output: with cotangents of zeros "
                f"{calls.name('vjp')} gives {_largest(gradient)} by {calls.name('input', k)}, "
                "and a vjp is linear"
            )


def insist_on_zero_for_undefined(calls: Calls) -> None:
    """Refuse a vjp that fails on undefined cotangents, or gives more than zeros for them.

    First all are undefined; then one at a time, with zeros for the others.
    """
    zeros = {j: np.zeros_like(calls.outputs[j]) for j in calls.counted}
    trials: list[Mapping[int, Array]] = [{}]
    if len(zeros) > 1:
        trials += [{j: zero for j, zero in zeros.items() if j != left_out} for left_out in zeros]
    advice = "None stands for zeros. If you never pass None, pass check_undefined_grad=False"
    for trial in trials:
        undefined = ", ".join(calls.name("output", j) for j in zeros if j not in trial)
        try:
            gradients = calls.gradients(trial, f"without a cotangent for {undefined}")
        except GradcheckError:
            raise
        except RuntimeError as error:
            raise GradcheckError(
                f"{calls.name('vjp')} fails without a cotangent for {undefined}: {error}. {advice}"
            ) from error
        for k, gradient in zip(calls.checked, gradients, strict=True):
            if not np.all(gradient == 0):
                raise GradcheckError(
                    f"without a cotangent for {undefined}, and with zeros for the rest, "
                    f"{calls.name('vjp')} gives {_largest(gradient)} by {calls.name('input', k)}: "
                    f"it must give zeros or None. {advice}"
                )


def insist_on_zero_for_undefined_tangents(calls: Calls) -> None:
    """Refuse a jvp that treats an undefined tangent and zeros differently, input by input."""
    rng = np.random.default_rng(0)
    u = {k: random_unit(rng, calls.inputs[k]) for k in calls.checked}
    for axis in PARTS.values():
        if not any(axis in axes(calls.inputs[k]) for k in calls.checked):
            continue
        tangents = {
            k: (along * (axis if axis in axes(calls.inputs[k]) else 1)).astype(
                calls.inputs[k].dtype
            )
            for k, along in u.items()
        }
        for k in calls.checked:
            name = calls.name("input", k)
            others = {i: tangent for i, tangent in tangents.items() if i != k}
            zero = calls.push(
                {**others, k: np.zeros_like(tangents[k])}, f"with zeros as the tangent of {name}"
            )
            absent = calls.push(others, f"without a tangent of {name}")
            for j, one, other in zip(calls.counted, zero, absent, strict=True):
                if one is None or other is None:
                    continue
                comparison = _close(other, one)
                if comparison.wrong:
                    raise GradcheckError(
                        f"{calls.name('jvp')} gives different results without a tangent of {name} "
                        f"and with zeros, for {calls.name('output', j)}: {comparison}"
                    )


def _close(analytic: Array, numeric: Array) -> Comparison:
    """Compare two analytic results with the tolerances of torch.allclose."""
    return allclose(analytic, numeric, rtol=CLOSE_RTOL, atol=CLOSE_ATOL)


def _largest(gradient: Array) -> str:
    """Write the largest entry of a gradient; NaN counts as the largest."""
    return f"up to {np.max(np.abs(gradient)):.3g}"
