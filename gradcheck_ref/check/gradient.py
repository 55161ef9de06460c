"""Check the gradient of a scalar function."""

from collections.abc import Callable
from typing import Any

from gradcheck_ref.arguments import as_function
from gradcheck_ref.check.claims import ask_gradients_again, from_gradients
from gradcheck_ref.check.evidence import Probe
from gradcheck_ref.check.examine import RTOL, check_knobs, examine
from gradcheck_ref.check.report import Report
from gradcheck_ref.check.structure import Inputs


def check_gradient(
    f: Callable[..., Any],
    inputs: Any,
    grads: Any,
    *,
    rtol: float = RTOL,
    atol: float | None = None,
    max_evaluations: int | None = None,
    seed: int = 0,
) -> Report:
    """Check a claimed gradient of a scalar function."""
    as_function(f, "f")
    rtol, atol = check_knobs(rtol, atol, max_evaluations, seed)
    probe = Probe(f, Inputs(f, inputs), seed)
    if not probe.outputs.scalar:
        raise ValueError(
            "f must return one real number for check_gradient; for arrays, tuples and complex "
            "numbers there is check_vjp"
        )
    claims = from_gradients(probe, grads)
    return examine(
        probe,
        claims,
        lambda claims: ask_gradients_again(probe, claims, grads),
        rtol=rtol,
        atol=atol,
        max_evaluations=max_evaluations,
        seed=seed,
    )
