"""What holds for products with a Jacobian whatever f is, to rounding and without a step.

A vjp is linear in its upstream gradient and a jvp in its tangent, and the two are adjoint. Single
entries, which are asked for with a 1 among zeros, show neither.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.claims import Claims, pulled, pushed
from gradcheck_ref.check.measure.ask import Probe

# A product of a few dozen factors and terms is off by so many roundings at most.
ROUNDINGS = 64.0

# Two products that were rounded by chance differ by no more than so many times what one of them
# changes by, a few spacings of x away.
OWN_ROUNDINGS = 16.0
DRAWS = 3

# And it is none if it is more than this share of the product, and more than a million roundings of
# numbers of the size of 1.
ROUNDING_AT_MOST, SMALL_ROUNDING = 0.05, 2e-10

# Upstreams and tangents are tried small and large, for what is clipped looks linear below the clip.
MAGNITUDES = (1.0, 1e-3, 1e3)

# A product that comes so close to the largest number of its dtype, which is 65504 in float16, may
# overflow on the way: that it does is no mistake.
ROOM = 16.0


# The subject of a fault that concerns two products, of which one at least is wrong.
NOT_ADJOINT = "jvp and vjp"


class Identities:
    """Products with random vectors u and v, which must fit the Jacobian that was claimed.

    Parameters
    ----------
    probe : Probe
        For the structure of inputs and outputs.
    claims : Claims
        The Jacobian claimed; faults are noted there.
    rtol : float
        The relative tolerance.
    seed : int
        For u and v.
    """

    def __init__(self, probe: Probe, claims: Claims, rtol: float, seed: int) -> None:
        self.probe, self.claims, self.seed = probe, claims, seed
        rng = np.random.default_rng(seed)
        self.w, self.v = rng.normal(size=probe.here.size), rng.normal(size=probe.x.size)
        for vector in (self.w, self.v):  # one negative entry at least, also where there is but one
            vector[:1] = -np.abs(vector[:1])
        if probe.mix is None:
            self.w = probe.outputs.rounded(self.w)
        # Where f itself is not finite nothing is claimed, and nothing asked for: with combinations
        # of the outputs that is everywhere or nowhere.
        self.defined = np.isfinite(probe.here)
        self.w[~self.defined] = 0.0
        self.v = probe.inputs.rounded(self.v)
        eps = float(probe.eps.max(initial=0.0))  # products of float16 numbers are float16 numbers
        self.left = ROUNDINGS * eps
        self.rtol = max(rtol, self.left)
        # A derivative that is 0 but for rounding has no digits to agree in.
        self.floor = self.left * np.abs(np.nan_to_num(probe.here))

    @property
    def u(self) -> Array:
        """The upstream gradient: a combination of those that were asked for."""
        return self.w if self.probe.mix is None else self.w @ self.probe.mix

    @np.errstate(over="ignore", invalid="ignore")
    def linear_vjp(self, vjp: Callable[..., Any]) -> None:
        """Test that ``vjp(u)`` is what it gives for the entries of u, added up."""
        assert self.claims.matrix is not None
        matrix, w = self.claims.matrix[:, self.defined], self.w[self.defined]
        expected, size = matrix @ w, np.abs(matrix) @ np.abs(w)
        floor = float(self.floor @ np.abs(self.w))
        self._linear("vjp", "upstream", vjp, pulled, self.u, expected, size, floor)

    @np.errstate(over="ignore", invalid="ignore")
    def linear_jvp(self, jvp: Callable[..., Any]) -> None:
        """Test that ``jvp(v)`` is what it gives for the entries, or two parts, of v, added up."""
        matrix = self.claims.matrix
        if matrix is not None:
            matrix = np.where(self.defined, matrix, 0.0)
            expected, size = self.v @ matrix, np.abs(self.v) @ np.abs(matrix)
        else:
            other = np.roll(self.v, 1)
            parts = [self._product("jvp", jvp, one, pushed) for one in (other, self.v - other)]
            expected, size = parts[0] + parts[1], np.abs(parts[0]) + np.abs(parts[1])
        floor = self.floor * np.abs(self.v).max(initial=0.0)
        self._linear("jvp", "tangent", jvp, pushed, self.v, expected, size, floor)

    @np.errstate(over="ignore", invalid="ignore")
    def adjoint(self, vjp: Callable[..., Any], jvp: Callable[..., Any]) -> None:
        """Test ``<u, J v> = <J' u, v>``."""
        back = self._product("vjp", vjp, self.u, pulled)
        along = self._product("jvp", jvp, self.v, pushed)
        if not (np.isfinite(along).all() and np.isfinite(back).all()):
            return
        u, v = np.abs(self.u), np.abs(self.v)
        left, right = float(self.u @ along), float(back @ self.v)
        size = float(u @ np.abs(along) + np.abs(back) @ v)
        if self.claims.matrix is not None:
            size = max(size, float(v @ np.abs(np.nan_to_num(self.claims.matrix)) @ np.abs(self.w)))
        off = abs(left - right) - self.rtol * size - float(self.floor @ np.abs(self.w))
        if off > 0:
            moved = self._next_door(vjp, self.u, pulled, back)
            tilted = self._next_door(jvp, self.v, pushed, along)
            own = float(np.linalg.norm(moved * self.v) + np.linalg.norm(tilted * self.u))
            off -= self._at_most(OWN_ROUNDINGS * own, size)
        if off > 0:
            self.claims.fault(
                "wrong",
                NOT_ADJOINT,
                f"jvp and vjp are not adjoint: <u, J v> = {left:.6g} but <J' u, v> = {right:.6g} "
                "for random u and v. No step is involved: at least one of the two is wrong",
            )

    @staticmethod
    def _at_most(own: Any, size: Any) -> Any:
        """Return what may be rounding: no large share of the product, unless that is tiny, too."""
        return np.minimum(own, np.maximum(ROUNDING_AT_MOST * size, SMALL_ROUNDING))

    def _next_door(
        self, product: Callable[..., Any], vector: Array, ask: Any, given: Array
    ) -> Array:
        """Return by how much a product is another one, a few spacings of x and the vector away.

        Of a product that does not depend on x only the vector tells.
        """
        moved = np.zeros(given.shape)
        for seed in range(self.seed, self.seed + DRAWS):
            bits = np.random.default_rng(seed).integers(-2, 3, vector.shape)
            there = vector + bits * np.spacing(vector)
            found = ask(self.probe, Claims(self.probe), product, there, near=seed)
            moved = np.fmax(moved, np.abs(found - given))
        return moved

    def _product(self, who: str, product: Callable[..., Any], vector: Array, ask: Any) -> Array:
        faults = len(self.claims.faults)
        flat: Array = ask(self.probe, self.claims, product, vector)
        if not self.defined.any():
            return np.zeros(flat.shape)
        if who == "jvp" and self.probe.mix is None:
            flat = np.where(self.defined, flat, 0.0)
        told = len(self.claims.faults) > faults or who in self.claims.spoilt
        if not np.isfinite(flat).all() and not told:
            self.claims.fault(
                "nonfinite", who, f"{who} gives NaN or infinity for a random direction"
            )
        return flat

    def _linear(
        self,
        who: str,
        what: str,
        product: Callable[..., Any],
        ask: Any,
        vector: Array,
        expected: Array,
        size: Array,
        floor: Any,
    ) -> None:
        if self.claims.keeps_state(self.rtol):  # that is not linear either
            return
        # What cancels leaves the rounding of what is larger elsewhere.
        largest = float(size.max(initial=0.0))
        parts = (*self.probe.inputs.parts.values(), *self.probe.outputs.parts.values())
        limit = min(float(np.finfo(part.dtype).max) for part in parts) / ROOM
        for magnitude in MAGNITUDES:
            if magnitude > 1 and magnitude * largest > limit:
                continue
            given = self._product(who, product, magnitude * vector, ask) / magnitude
            with np.errstate(invalid="ignore"):
                error = np.abs(given - expected)
                off = error - self.rtol * size
                off -= (self.left * largest + floor) / min(1.0, magnitude)
                if not (off > 0).any():
                    continue
                moved = self._next_door(product, magnitude * vector, ask, magnitude * given)
                moved /= magnitude  # of some entries nothing, by chance
                own = OWN_ROUNDINGS * np.fmax(moved, np.sqrt(np.mean(moved**2)))
                off -= self._at_most(own, size)
            if not (off > 0).any():
                continue
            worst = int(np.argmax(np.where(off > 0, error, 0)))
            long = "" if magnitude == 1 else f" times {magnitude:g}, divided by that,"
            self.claims.fault(
                "wrong",
                who,
                f"{who} is not linear in {what}: for a random {what}{long} it gives "
                f"{given[worst]:.6g}, and for its single entries what adds up to "
                f"{expected[worst]:.6g}. "
                f"Is {what} left out, clipped, squared, or only looked at for its sign?",
            )
            return
