"""What holds for products with a Jacobian whatever f is, to rounding and without a step.

A vjp is linear in its upstream gradient and a jvp in its tangent, and the two are adjoint. Single
entries, which are asked for with a 1 among zeros, show neither.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.claims import Claims, pulled, pushed

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

# What each product is linear in, and how it is asked for.
LINEAR_IN = {"vjp": "upstream", "jvp": "tangent"}
ASK = {"vjp": pulled, "jvp": pushed}


class Identities:
    """Products with random vectors u and v, which must fit the Jacobian that was claimed.

    Parameters
    ----------
    claims : Claims
        The Jacobian claimed; faults are noted there.
    products : mapping
        The vjp, the jvp, or both, by these names.
    rtol : float
        The relative tolerance.
    seed : int
        For u and v.
    """

    def __init__(
        self, claims: Claims, products: Mapping[str, Callable[..., Any]], rtol: float, seed: int
    ) -> None:
        self.claims, self.products, self.seed = claims, products, seed
        self.probe = probe = claims.probe
        rng = np.random.default_rng(seed)
        self.w, self.v = rng.normal(size=probe.here.size), rng.normal(size=probe.x.size)
        for vector in (self.w, self.v):  # one negative entry at least, also where there is but one
            vector[:1] = -np.abs(vector[:1])
        # Where f itself is not finite nothing is claimed, and nothing asked for: with combinations
        # of the outputs that is everywhere or nowhere.
        self.defined = np.isfinite(probe.here)
        self.w[~self.defined] = 0.0
        # The upstream gradient is a combination of those that were asked for.
        self.u = self.w if probe.mix is None else self.w @ probe.mix
        # Products of float16 numbers are float16 numbers, as the vectors are that are handed over.
        self.left = ROUNDINGS * float(probe.eps.max(initial=0.0))
        self.rtol = max(rtol, self.left)
        # A derivative that is 0 but for rounding has no digits to agree in.
        self.floor = self.left * np.abs(np.nan_to_num(probe.here))

    @np.errstate(over="ignore", invalid="ignore")
    def linear(self) -> None:
        """Test that the product claimed gives for a vector what it gives for its entries, added up.

        A jvp that was asked for line by line is held to two parts of the vector.
        """
        if self.claims.keeps_state(self.rtol):  # that is not linear either
            return
        matrix, v = self.claims.matrix, self.v
        if matrix is not None:
            matrix = np.where(self.defined, matrix, 0.0)
        if self.claims.product == "vjp":
            assert matrix is not None
            self._adds_up("vjp", self.u, matrix @ self.w, np.abs(matrix) @ np.abs(self.w))
        elif matrix is not None:
            self._adds_up("jvp", v, v @ matrix, np.abs(v) @ np.abs(matrix))
        else:
            other = np.roll(v, 1)
            parts = self._product("jvp", other), self._product("jvp", v - other)
            self._adds_up("jvp", v, parts[0] + parts[1], np.abs(parts[0]) + np.abs(parts[1]))

    @np.errstate(over="ignore", invalid="ignore")
    def adjoint(self) -> None:
        """Test ``<u, J v> = <J' u, v>``."""
        back, along = self._product("vjp", self.u), self._product("jvp", self.v)
        if not (np.isfinite(along).all() and np.isfinite(back).all()):
            return
        u, v = np.abs(self.u), np.abs(self.v)
        left, right = float(self.u @ along), float(back @ self.v)
        size = float(u @ np.abs(along) + np.abs(back) @ v)
        off = abs(left - right) - self.rtol * size - float(self.floor @ np.abs(self.w))
        if off > 0:
            moved = self._next_door("vjp", self.u, back)
            tilted = self._next_door("jvp", self.v, along)
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

    def _next_door(self, who: str, vector: Array, given: Array) -> Array:
        """Return by how much a product is another one, a few spacings of x and the vector away.

        Of a product that does not depend on x only the vector tells.
        """
        moved = np.zeros(given.shape)
        for seed in range(self.seed, self.seed + DRAWS):
            bits = np.random.default_rng(seed).integers(-2, 3, vector.shape)
            there = vector + bits * np.spacing(vector)
            found = ASK[who](Claims(self.probe), self.products[who], there, near=seed)
            moved = np.fmax(moved, np.abs(found - given))
        return moved

    def _product(self, who: str, vector: Array) -> Array:
        """Ask for a product; that it is not finite is a fault, if nothing was said of it before."""
        faults = len(self.claims.faults)
        flat: Array = ASK[who](self.claims, self.products[who], vector)
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

    def _adds_up(self, who: str, vector: Array, expected: Array, size: Array) -> None:
        """Fault a product that is not what its parts add up to, at any of several magnitudes."""
        what = LINEAR_IN[who]
        # What cancels leaves the rounding of what is larger elsewhere.
        largest = float(size.max(initial=0.0))
        if who == "vjp":
            floor = self.floor @ np.abs(self.w)
        else:
            floor = self.floor * np.abs(self.v).max(initial=0.0)
        parts = (*self.probe.inputs.parts.values(), *self.probe.outputs.parts.values())
        limit = min(float(np.finfo(part.dtype).max) for part in parts) / ROOM
        for magnitude in MAGNITUDES:
            if magnitude > 1 and magnitude * largest > limit:
                continue
            given = self._product(who, magnitude * vector) / magnitude
            error = np.abs(given - expected)
            off = error - self.rtol * size
            off -= (self.left * largest + floor) / min(1.0, magnitude)
            if (off > 0).any():
                moved = self._next_door(who, magnitude * vector, magnitude * given) / magnitude
                # Of some entries nothing moves, by chance.
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
