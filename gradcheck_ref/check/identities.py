"""What holds for products with a Jacobian whatever f is, to rounding and without a step.

A vjp is linear in its upstream gradient and a jvp in its tangent, and the two are adjoint. Single
entries, which are asked for with a 1 among zeros, show neither.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.claims import Claims, pulled, pushed
from gradcheck_ref.check.knobs import Knobs
from gradcheck_ref.check.probe import Probe

# A product of a few dozen factors and terms is off by so many roundings at most.
ROUNDINGS = 64.0


class Identities:
    """Products with random vectors u and v, which must fit the Jacobian that was claimed.

    Parameters
    ----------
    probe : Probe
        For the structure of inputs and outputs.
    claims : Claims
        The Jacobian claimed; faults are noted there.
    knobs : Knobs
        For ``rtol`` and the seed.
    """

    def __init__(self, probe: Probe, claims: Claims, knobs: Knobs) -> None:
        self.probe, self.claims = probe, claims
        rng = np.random.default_rng(knobs.seed)
        self.u, self.v = rng.normal(size=probe.here.size), rng.normal(size=probe.x.size)
        for vector in (self.u, self.v):  # one negative entry at least, also where there is but one
            vector[:1] = -np.abs(vector[:1])
        self.u, self.v = probe.outputs.rounded(self.u), probe.inputs.rounded(self.v)
        eps = float(probe.eps.max(initial=0.0))  # products of float16 numbers are float16 numbers
        self.left = ROUNDINGS * eps
        self.rtol = max(knobs.rtol, self.left)
        # A derivative that is 0 but for rounding has no digits to agree in.
        self.floor = self.left * np.abs(np.nan_to_num(probe.here))

    def linear_vjp(self, vjp: Callable[..., Any]) -> Array:
        """Test that ``vjp(u)`` is what it gives for the entries of u, added up; return it."""
        product = self._product("vjp", vjp, self.u, pulled)
        parts = self.claims.matrix * self.u
        floor = float(self.floor @ np.abs(self.u))
        self._compare(
            "vjp", "upstream", product, parts.sum(axis=1), np.abs(parts).sum(axis=1), floor
        )
        return product

    def linear_jvp(self, jvp: Callable[..., Any]) -> Array:
        """Test that ``jvp(v)`` is what it gives for the entries of v, added up; return it."""
        product = self._product("jvp", jvp, self.v, pushed)
        parts = self.claims.matrix * self.v[:, None]
        floor = self.floor * np.abs(self.v).max(initial=0.0)
        self._compare(
            "jvp", "tangent", product, parts.sum(axis=0), np.abs(parts).sum(axis=0), floor
        )
        return product

    def adjoint(self, vjp: Callable[..., Any], jvp: Callable[..., Any]) -> None:
        """Test ``<u, J v> = <J' u, v>``."""
        back = self._product("vjp", vjp, self.u, pulled)
        along = self._product("jvp", jvp, self.v, pushed)
        if not (np.isfinite(along).all() and np.isfinite(back).all()):
            return
        u, v = np.abs(self.u), np.abs(self.v)
        left, right = float(self.u @ along), float(back @ self.v)
        size = max(
            float(u @ np.abs(along) + np.abs(back) @ v),
            float(v @ np.abs(np.nan_to_num(self.claims.matrix)) @ u),
        )
        if abs(left - right) > self.rtol * size + float(self.floor @ u):
            self.claims.fault(
                "wrong",
                "jvp and vjp",
                f"jvp and vjp are not adjoint: <u, J v> = {left:.6g} but <J' u, v> = {right:.6g} "
                "for random u and v. No step is involved: at least one of the two is wrong",
            )

    def _product(self, who: str, product: Callable[..., Any], vector: Array, ask: Any) -> Array:
        faults = len(self.claims.faults)
        flat: Array = ask(self.probe, self.claims, product, vector)
        if not np.isfinite(flat).all() and len(self.claims.faults) == faults:
            self.claims.fault(
                "nonfinite", who, f"{who} gives NaN or infinity for a random direction"
            )
        return flat

    def _compare(
        self, who: str, what: str, product: Array, expected: Array, size: Array, floor: Any
    ) -> None:
        claims = self.claims
        with np.errstate(invalid="ignore"):
            # What cancels leaves the rounding of what is larger elsewhere.
            largest = float(size.max(initial=0.0))
            moved = np.abs(claims.again - claims.matrix)[claims.asked] > self.rtol * largest
            off = np.abs(product - expected) > self.rtol * size + self.left * largest + floor
        if moved.any() or not off.any():  # what keeps state is not linear either
            return
        worst = int(np.argmax(np.where(off, np.abs(product - expected), 0)))
        self.claims.fault(
            "wrong",
            who,
            f"{who} is not linear in {what}: for a random {what} it gives {product[worst]:.6g}, "
            f"and for its single entries what adds up to {expected[worst]:.6g}. "
            f"Is {what} left out, squared, or only looked at for its sign?",
        )
