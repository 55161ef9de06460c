"""What holds for products with a Jacobian whatever f is, to rounding and without a step.

A vjp is linear in its upstream gradient and a jvp in its tangent, and the two are adjoint. Single
entries, which are asked for with a 1 among zeros, show neither.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.claims import Claims, pulled, pushed
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.check.words import setting

# A product of a few dozen factors and terms is off by a few dozen roundings at most. And two
# products that were rounded by chance differ by at most this many times what one of them changes
# by, in the larger of DRAWS draws, a few spacings of x away.
ROUNDINGS = 64.0
DRAWS = 3

# A change that is larger than this share of the product is no rounding of it, and neither is one
# that is larger than a million roundings of numbers of the size of 1 (1e6 * 2.2e-16).
ROUNDING_AT_MOST, SMALL_ROUNDING = 0.05, 2e-10

# Vectors are tried small and large, because a product that is clipped is linear below the clip. A
# gradient norm of 1, where most people clip, lies between the first and each of the others.
MAGNITUDES = (1.0, 1e-3, 1e3)

# The subject of a fault that concerns two products, of which one at least is wrong.
NOT_ADJOINT = "jvp and vjp"


class Identities:
    """Products with random vectors, which must fit the Jacobian that was claimed, and each other.

    The faults are noted in ``claims``. ``products`` has a vjp, a jvp, or both, by these names.
    """

    def __init__(
        self,
        claims: Claims,
        products: Mapping[str, Callable[..., Any]],
        rtol: float,
        noise: Noise,
        seed: int,
    ) -> None:
        self.claims, self.products, self.noise, self.seed = claims, products, noise, seed
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
        self.rounding = ROUNDINGS * float(probe.eps.max(initial=0.0))
        self.rtol = max(rtol, self.rounding)

    @property
    def floor(self) -> Array:
        """What rounding leaves of a derivative that is 0, for each output.

        Where f as a whole is nothing but rounding, numbers of the size of 1 may be rounded inside.
        """
        here = np.abs(np.nan_to_num(self.probe.here))
        lost = here.max(initial=0.0) <= ROUNDINGS * self.noise.typical
        return np.asarray(self.rounding * (here + float(lost)))

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
            floor = self.floor @ np.abs(self.w)
            self._adds_up(self.u, matrix @ self.w, np.abs(matrix) @ np.abs(self.w), floor)
            return
        if matrix is not None:
            sums = v @ matrix, np.abs(v) @ np.abs(matrix)
        else:
            other = np.roll(v, 1)
            one, two = self._product("jvp", other), self._product("jvp", v - other)
            sums = one + two, np.abs(one) + np.abs(two)
        self._adds_up(v, *sums, self.floor * np.abs(v).max(initial=0.0))

    @np.errstate(over="ignore", invalid="ignore")
    def adjoint(self) -> None:
        """Test ``<u, J v> = <J' u, v>``."""
        back, along = self._product("vjp", self.u), self._product("jvp", self.v)
        if not (np.isfinite(along).all() and np.isfinite(back).all()):
            return
        left, right = float(self.u @ along), float(back @ self.v)
        size = float(np.abs(self.u) @ np.abs(along) + np.abs(back) @ np.abs(self.v))
        off = abs(left - right) - self.rtol * size - float(self.floor @ np.abs(self.w))
        if off > 0:
            moved = self._next_door("vjp", self.u, back)
            tilted = self._next_door("jvp", self.v, along)
            own = float(np.linalg.norm(moved * self.v) + np.linalg.norm(tilted * self.u))
            off -= float(_rounding(own, size))
        if off > 0:
            self._fault(
                NOT_ADJOINT,
                f"jvp and vjp are not adjoint: <u, J v> = {left:.6g} but <J' u, v> = {right:.6g} "
                "for random u and v. No step is involved: at least one of the two is wrong",
                off / size,
            )

    def _adds_up(self, vector: Array, expected: Array, size: Array, floor: Any) -> None:
        """Fault a product that is not what its parts add up to, at any of several magnitudes."""
        who = self.claims.product
        what = "upstream" if who == "vjp" else "tangent"
        # What cancels leaves the rounding of what is larger elsewhere.
        least = self.rounding * float(size.max(initial=0.0)) + floor
        said, most = "", 0.0
        for magnitude in MAGNITUDES:
            given = self._product(who, magnitude * vector, magnitude <= 1) / magnitude
            if magnitude > 1 and not np.isfinite(given).all():  # it may overflow on the way
                continue
            error = np.abs(given - expected)
            off = error - self.rtol * size - least / min(1.0, magnitude)
            if (off > 0).any():
                moved = self._next_door(who, magnitude * vector, magnitude * given) / magnitude
                # Of some entries nothing moves, by chance.
                off -= _rounding(np.fmax(moved, np.sqrt(np.mean(moved**2))), size)
            wrong = off > 0
            if not wrong.any():
                continue
            if not said:
                worst = int(np.argmax(np.where(wrong, error, 0)))
                long = "" if magnitude == 1 else f" times {magnitude:g}, divided by that,"
                said = (
                    f"{who} is not linear in {what}: for a random {what}{long} it gives "
                    f"{given[worst]:.6g}, and for its single entries what adds up to "
                    f"{expected[worst]:.6g}"
                )
            with np.errstate(divide="ignore"):
                most = max(most, float((off[wrong] / size[wrong]).max()))
        if said:
            question = f". Is {what} left out, clipped, squared, or only looked at for its sign?"
            self._fault(who, said, most, question)

    def _fault(self, subject: str, said: str, beyond: float, question: str = "") -> None:
        """Note an identity that fails, to how many digits it holds, and the rtol that would do."""
        rtol = (self.rtol + beyond) * (1 + 1e-9)
        digits = math.floor(-math.log10(rtol)) if rtol < 1 else 0
        if digits > 0:
            step = 10.0 ** math.floor(math.log10(rtol))
            wider = f"{math.ceil(rtol / step) * step:.1g}".replace("e-0", "e-")
            said += f". The two agree to {digits} digit{'s' * (digits > 1)}: "
            said += f"it would pass with {setting('rtol', wider)}"
        # What is left out, or clipped, does not agree to three digits; what iterates may.
        self.claims.fault("wrong", subject, said + ("" if digits >= 3 else question))

    def _next_door(self, who: str, vector: Array, given: Array) -> Array:
        """Return by how much a product is another one, a few spacings of x and the vector away.

        Of a product that does not depend on x only the vector tells.
        """
        moved = np.zeros(given.shape)
        for seed in range(self.seed, self.seed + DRAWS):
            bits = np.random.default_rng(seed).integers(-2, 3, vector.shape)
            there = vector + bits * np.spacing(vector)
            found = self._asked(Claims(self.probe), who, there, seed)
            moved = np.fmax(moved, np.abs(found - given))
        return moved

    def _product(self, who: str, vector: Array, must_be_finite: bool = True) -> Array:
        """Ask for a product; that it is not finite is a fault, if nothing was said of it before."""
        faults = len(self.claims.faults)
        flat = self._asked(self.claims, who, vector)
        if not self.defined.any():
            return np.zeros(flat.shape)
        if who == "jvp" and self.probe.mix is None:
            flat = np.where(self.defined, flat, 0.0)
        told = len(self.claims.faults) > faults or who in self.claims.spoilt
        if must_be_finite and not np.isfinite(flat).all() and not told:
            self.claims.fault(
                "nonfinite", who, f"{who} gives NaN or infinity for a random direction"
            )
        return flat

    def _asked(self, claims: Claims, who: str, vector: Array, near: int | None = None) -> Array:
        """Ask for a product with a flat vector."""
        ask = pulled if who == "vjp" else pushed
        return ask(claims, self.products[who], vector, near)


def _rounding(moved: Any, size: Any) -> Any:
    """Return what may be rounding: no large share of the product, unless that is tiny, too."""
    return np.minimum(ROUNDINGS * moved, np.maximum(ROUNDING_AT_MOST * size, SMALL_ROUNDING))
