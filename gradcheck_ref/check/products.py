"""Check the derivative of a function through its products with vectors: vjp and jvp."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcheck_ref.arguments import as_function
from gradcheck_ref.check.claims import (
    Claims,
    adjoint_identity,
    ask_jvp_again,
    ask_vjp_again,
    from_jvp,
    from_vjp,
)
from gradcheck_ref.check.evidence import Probe
from gradcheck_ref.check.examine import RTOL, check_knobs, examine
from gradcheck_ref.check.report import Report
from gradcheck_ref.check.structure import Inputs


def check_vjp(
    f: Callable[..., Any],
    inputs: Any,
    vjp: Callable[..., Any] | None = None,
    *,
    jvp: Callable[..., Any] | None = None,
    rtol: float = RTOL,
    atol: float | None = None,
    max_evaluations: int | None = None,
    seed: int = 0,
) -> Report:
    """Check a vector-Jacobian product, every entry of the Jacobian."""
    as_function(f, "f")
    rtol, atol = check_knobs(rtol, atol, max_evaluations, seed)
    vjp = _product(f, vjp, "vjp")
    jvp = jvp if jvp is not None else getattr(f, "jvp", None)
    probe = Probe(f, Inputs(f, inputs), seed)
    claims = from_vjp(probe, vjp)
    if jvp is not None:
        adjoint_identity(probe, claims, vjp, jvp, rtol, np.random.default_rng(seed))

    def ask_again(claims: Claims) -> None:
        ask_vjp_again(probe, claims, vjp)

    return examine(
        probe, claims, ask_again, rtol=rtol, atol=atol, max_evaluations=max_evaluations, seed=seed
    )


def check_jvp(
    f: Callable[..., Any],
    inputs: Any,
    jvp: Callable[..., Any] | None = None,
    *,
    vjp: Callable[..., Any] | None = None,
    rtol: float = RTOL,
    atol: float | None = None,
    max_evaluations: int | None = None,
    seed: int = 0,
) -> Report:
    """Check a Jacobian-vector product, every entry of the Jacobian."""
    as_function(f, "f")
    rtol, atol = check_knobs(rtol, atol, max_evaluations, seed)
    jvp = _product(f, jvp, "jvp")
    vjp = vjp if vjp is not None else getattr(f, "vjp", None)
    probe = Probe(f, Inputs(f, inputs), seed)
    claims = from_jvp(probe, jvp)
    if vjp is not None:
        adjoint_identity(probe, claims, vjp, jvp, rtol, np.random.default_rng(seed))

    def ask_again(claims: Claims) -> None:
        ask_jvp_again(probe, claims, jvp)

    return examine(
        probe, claims, ask_again, rtol=rtol, atol=atol, max_evaluations=max_evaluations, seed=seed
    )


def _product(f: Callable[..., Any], given: Any, name: str) -> Callable[..., Any]:
    product = given if given is not None else getattr(f, name, None)
    if product is None:
        raise TypeError(f"f has no attribute {name}: give it, or pass {name}=")
    return as_function(product, name)
