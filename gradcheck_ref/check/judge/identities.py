"""What holds for products with a Jacobian whatever f is, to rounding and without a step.

A vjp is linear in its upstream gradient and a jvp in its tangent, and the two are adjoint. Single
entries, which are asked for with a 1 among zeros, show neither.
"""

import math
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.claims import Claims
from gradcheck_ref.check.measure.noise import QUIETLY, Noise
from gradcheck_ref.check.words import setting

# A product of a few dozen factors and terms is off by a few dozen roundings at most. And two
# products that were rounded by chance differ by at most this many times what one of them changes
# by, in the larger of DRAWS draws, a few spacings of x away.
ROUNDINGS = 64.0
DRAWS = 3

# A change that is larger than this share of the product is no rounding of it, and neither is one
# that is larger than a million roundings of numbers of the size of 1 (1e6 * 2.2e-16).
ROUNDING_AT_MOST, SMALL_ROUNDING = 0.05, 2e-10

# The subject of a fault that concerns two products, of which one at least is wrong.
NOT_ADJOINT = "jvp and vjp"


class Identities:
    """Products with random vectors, which must fit the Jacobian that was claimed, and each other.

    The faults are noted in ``claims``.
    """

    def __init__(self, claims: Claims, rtol: float, noise: Noise, seed: int) -> None:
        self.claims, self.seed = claims, seed
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
        rounding = ROUNDINGS * float(probe.eps.max(initial=0.0))
        self.rounding, self.rtol = rounding, max(rtol, rounding)
        # What rounding leaves of a derivative that is 0, for each output. Where f as a whole is
        # nothing but rounding, numbers of the size of 1 may be rounded inside.
        here = np.abs(np.nan_to_num(probe.here))
        self.floor = rounding * (here + (here.max(initial=0.0) <= ROUNDINGS * noise.typical))

    @QUIETLY
    def linear(self) -> None:
        """Test that the product claimed gives for a vector what it gives for its entries, added up.

        A jvp that was asked for line by line is held to two parts of the vector. Vectors are tried
        small and large, because a product that is clipped is linear below the clip. A gradient norm
        of 1, where most people clip, lies between the first and each of the others.
        """
        claims = self.claims
        if claims.random:  # that is not linear either
            return
        vector, along = (self.v, self.v) if claims.by_rows else (self.u, self.w)
        if claims.matrix is None:
            other = np.roll(vector, 1)
            one, two = self._product(claims, other), self._product(claims, vector - other)
            expected, size = one + two, np.abs(one) + np.abs(two)
        else:
            matrix = np.where(self.defined, claims.matrix, 0.0)
            matrix = matrix.T if claims.by_rows else matrix
            expected, size = matrix @ along, np.abs(matrix) @ np.abs(along)
        if claims.by_rows:
            floor = self.floor * np.abs(vector).max(initial=0.0)
        else:
            floor = self.floor @ np.abs(along)
        # What cancels leaves the rounding of what is larger elsewhere.
        least = self.rounding * float(size.max(initial=0.0)) + floor
        said, most = "", 0.0
        for magnitude in (1.0, 1e-3, 1e3):
            asked = magnitude * vector
            given = self._product(claims, asked, may_overflow=magnitude > 1)
            if magnitude > 1 and not np.isfinite(given).all():
                continue
            error = np.abs(given / magnitude - expected)
            off = error - self.rtol * size - least / min(1.0, magnitude)
            if (off > 0).any():
                moved = self._moved(claims, asked, given) / magnitude
                # Of some entries nothing moves, by chance.
                off -= _rounding(np.fmax(moved, np.sqrt(np.mean(moved**2))), size)
            if not said and (off > 0).any():
                worst = int(np.argmax(np.where(off > 0, error, 0)))
                long = "" if magnitude == 1 else f" times {magnitude:g}, divided by that,"
                said = (
                    f"{claims.who} is not linear in {claims.vector}: for a random {claims.vector}"
                    f"{long} it gives {given[worst] / magnitude:.6g}, and for its single entries "
                    f"what adds up to {expected[worst]:.6g}"
                )
            most = max(most, float(np.max(off / size, where=off > 0, initial=0.0)))
        question = "left out, clipped, squared, or only looked at for its sign?"
        self._fault(claims.who, said, most, f". Is {claims.vector} {question}")

    @QUIETLY
    def adjoint(self, other: Claims) -> None:
        """Test ``<u, J v> = <J' u, v>``."""
        vjp, jvp = (other, self.claims) if self.claims.by_rows else (self.claims, other)
        back, along = self._product(vjp, self.u), self._product(jvp, self.v)
        if not (np.isfinite(along).all() and np.isfinite(back).all()):
            return
        left, right = float(self.u @ along), float(back @ self.v)
        size = float(np.abs(self.u) @ np.abs(along) + np.abs(back) @ np.abs(self.v))
        off = abs(left - right) - self.rtol * size - float(self.floor @ np.abs(self.w))
        if off > 0:
            moved = self._moved(vjp, self.u, back) * self.v
            tilted = self._moved(jvp, self.v, along) * self.u
            off -= float(_rounding(np.linalg.norm(moved) + np.linalg.norm(tilted), size))
        said = (
            f"jvp and vjp are not adjoint: <u, J v> = {left:.6g} but <J' u, v> = {right:.6g} "
            "for random u and v. No step is involved: at least one of the two is wrong"
        )
        self._fault(NOT_ADJOINT, said, max(0.0, off) / size if size else 0.0)

    def _fault(self, subject: str, said: str, beyond: float, question: str = "") -> None:
        """Note an identity that fails, to how many digits it holds, and the rtol that would do."""
        if not beyond:
            return
        rtol = (self.rtol + beyond) * (1 + 1e-9)
        digits = math.floor(-math.log10(rtol)) if rtol < 1 else 0
        if digits > 0:
            step = 10.0 ** math.floor(math.log10(rtol))
            wider = f"{math.ceil(rtol / step) * step:.1g}".replace("e-0", "e-")
            said += f". The two agree to {digits} digit{'s' * (digits > 1)}: "
            said += f"it would pass with {setting('rtol', wider)}"
        # What is left out, or clipped, does not agree to three digits; what iterates may.
        self.claims.fault("wrong", subject, said + ("" if digits >= 3 else question))

    def _moved(self, product: Claims, vector: Array, given: Array) -> Array:
        """Return by how much a product is another one, a few spacings of x and the vector away.

        Of a product that does not depend on x only the vector tells.
        """
        moved = np.zeros(given.shape)
        for seed in range(self.seed, self.seed + DRAWS):
            bits = np.random.default_rng(seed).integers(-2, 3, vector.shape)
            found = product.rounded_near(vector + bits * np.spacing(vector), seed)
            moved = np.fmax(moved, np.abs(found - given))
        return moved

    def _product(self, product: Claims, vector: Array, may_overflow: bool = False) -> Array:
        """Ask for a product; that it is not finite is a fault, if nothing was said of it before."""
        flat = product.ask(vector)
        if not self.defined.any():
            return np.zeros(flat.shape)
        if product.by_rows and self.probe.mix is None:
            flat = np.where(self.defined, flat, 0.0)
        if not (np.isfinite(flat).all() or may_overflow or product.unusable):
            said = f"{product.who} gives NaN or infinity for a random direction"
            product.fault("nonfinite", product.who, said)
        return flat


def _rounding(moved: Any, size: Any) -> Any:
    """Return what may be rounding: no large share of the product, unless that is tiny, too."""
    return np.minimum(ROUNDINGS * moved, np.maximum(ROUNDING_AT_MOST * size, SMALL_ROUNDING))
