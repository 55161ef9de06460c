"""Identities of products with a Jacobian. They hold for any f, up to rounding, without a step.

A vjp is linear in its upstream gradient and a jvp in its tangent, and the two are adjoint. Checks
of single entries use vectors with one 1 and zeros, so they test neither.
"""

import math
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.claim.claims import Claims, Product
from gradcheck_ref.check.decimals import COARSE
from gradcheck_ref.check.draws import seed_of
from gradcheck_ref.check.measure.lines import STRETCH, Line
from gradcheck_ref.check.measure.noise import QUIETLY, Noise
from gradcheck_ref.check.words import setting

# A product of a few dozen factors and terms is off by a few dozen roundings at most.
ROUNDINGS_OF_PRODUCT = 64.0

# The noise of a product is measured like that of f, at points that it can tell apart: from a few
# spacings of x up to one of bfloat16, because code may round to that inside. In 800 right products
# of such functions, no identity was off by more than this many standard deviations. Nor is a sum of
# terms with random signs larger than so many times their norm.
NEAREST, FARTHER, FARTHEST = 32.0, 8.0, 2.0**-7
DEVIATIONS, STEADY = 8.0, 3.0

# A change is not rounding if it is larger than this fraction of the product, and than COARSE.
ROUNDING_AT_MOST = 0.05

# A product is linear for vectors of three sizes: 1, and this many times larger and smaller.
LARGE = 1e3
SIZES = 1.0, 1 / LARGE, LARGE

# The subject of a fault of two products, at least one of which is wrong.
NOT_ADJOINT = "jvp and vjp"


class Identities:
    """Products with random vectors, which must agree with the claimed Jacobian and each other.

    Faults are recorded in ``claims``.
    """

    def __init__(self, claims: Claims, rtol: float, noise: Noise, seed: int) -> None:
        self.claims, self.seed = claims, seed
        ask = claims.ask
        self.w = self._vectors(ask.here.size)[0]
        # Outputs that are not finite have no derivative. If outputs are combined, either all
        # combinations are finite or none is.
        self.defined = np.isfinite(ask.here)
        self.w[~self.defined] = 0.0
        # The upstream gradient is a combination of those that give the columns.
        self.u = self.w if ask.mix is None else self.w @ ask.mix
        # For float16 inputs, both the vectors and the products are rounded to float16.
        self.rounding = ROUNDINGS_OF_PRODUCT * ask.precision
        self.rtol = max(rtol, self.rounding)
        # The rounding error of a derivative that is 0, for each output. If all of f is rounding,
        # it may be that of numbers of size 1 inside f.
        here = np.abs(np.nan_to_num(ask.here))
        nothing = here.max(initial=0.0) <= ROUNDINGS_OF_PRODUCT * noise.typical
        unresolved = np.fmax(np.fmax(noise.eps * here, noise.resolution), noise.level)
        self.floor = self.rounding * (here + nothing) + DEVIATIONS * unresolved
        # How far x must move, relative to its size, before f can tell.
        size = float(np.abs(self.w) @ here)
        share = float(np.abs(self.w) @ unresolved) / size if size else 0.0
        self.resolution = max(ask.inputs.eps, share)

    def _vectors(self, *sizes: int) -> list[Array]:
        """Return random vectors with a negative entry each, even if it is the only one."""
        rng = np.random.default_rng(seed_of(self.seed, "vectors"))
        vectors = [rng.normal(size=size) for size in sizes]
        for vector in vectors:
            vector[:1] = -np.abs(vector[:1])
        return vectors

    @property
    def v(self) -> Array:
        """A random direction of the inputs: drawn when it is needed, because it may be large."""
        return self._vectors(self.w.size, self.claims.ask.inputs.size)[1]

    def test(self, product: Product) -> None:
        """Test that the product is linear, and adjoint to the other one, if there is one."""
        if self.claims.random:  # then neither holds
            return
        known = [self._of_one_output()]
        if known[0] is None:
            known = [self._linear()]
        if product.other is not None:
            with nullcontext() if product.sure else suppress(NotImplementedError):
                self._adjoint(product.other, known.pop())

    @QUIETLY
    def _of_one_output(self) -> Array | None:
        """Test a product that has one number as its upstream; None if that needs a closer look.

        One large upstream of the other sign is enough. It shows a product that ignores, squares or
        clips the upstream, and one that takes its sign. Returns the product with u.

        The claims may be millions, so they are compared in pieces.
        """
        claims = self.claims
        if claims.by_rows or claims.matrix is None or self.u.size != 1 or not self.defined.all():
            return None
        claimed, given = claims.matrix[:, 0], claims.product(LARGE * self.u)
        given /= LARGE
        largest = max(claimed.max(initial=0.0), -claimed.min(initial=0.0))
        least = np.abs(self.w) * (self.rounding * largest + self.floor)
        for start in range(0, given.size, STRETCH):
            expected = claimed[start : start + STRETCH] * self.w
            error = np.abs(given[start : start + STRETCH] - expected)
            if not (error <= self.rtol * np.abs(expected) + least).all():
                return None
        return given

    @QUIETLY
    def _linear(self) -> Array | None:
        """Test that the product with a vector is the sum of the products with its entries.

        A jvp along lines is tested with two parts of the vector instead. Vectors are tried small
        and large, because a clipped product is linear below the clip. Most people clip at a
        gradient norm of 1, which lies between the first size and each of the others.

        Returns the product with the vector, if it is finite.
        """
        claims = self.claims
        judged: Array | bool = True
        vector = self.v if claims.by_rows else self.u
        along = vector if claims.by_rows else self.w
        if claims.matrix is None:
            # Entries that are not finite are judged alone: no product with them shows more.
            if not all(np.isfinite(row).all() for row in claims.asked.values()):
                return None
            other = np.roll(vector, 1)
            one, two = self._product(claims, other), self._product(claims, vector - other)
            expected, size = one + two, np.abs(one) + np.abs(two)
        else:
            matrix = np.where(self.defined, claims.matrix, 0.0)
            matrix = matrix.T if claims.by_rows else matrix
            expected, size = matrix @ along, np.abs(matrix) @ np.abs(along)
            judged = np.isfinite(size)
            expected, size = np.where(judged, expected, 0.0), np.where(judged, size, 0.0)
        if claims.by_rows:
            floor = self.floor * np.abs(vector).max(initial=0.0)
        else:
            floor = self.floor @ np.abs(along)
        # Terms that cancel leave rounding errors of the size of larger products.
        least = self.rounding * float(size.max(initial=0.0)) + floor
        said, most, known, noise = "", 0.0, None, None
        for magnitude in SIZES:
            asked = magnitude * vector
            given = self._product(claims, asked, judged, may_overflow=magnitude > 1)
            if magnitude > 1 and not np.isfinite(given).all():
                continue
            if magnitude == 1 and np.all(judged) and np.isfinite(given).all():
                known = given
            error = np.abs(given / magnitude - expected)
            off = error - self.rtol * size - least / min(1.0, magnitude)
            if (off > 0).any():
                # The results for single entries round like the whole. A small entry may be the
                # difference of large ones.
                noise = self.noise_in(claims, vector) if noise is None else noise
                all_terms = np.fmax(size, _typical(size))
                share = _typical(noise) / _typical(given / magnitude)
                off -= _rounding(np.fmax(noise, all_terms * share), all_terms)
            if not said and (off > 0).any():
                worst = int(np.argmax(np.where(off > 0, error, 0)))
                long = "" if magnitude == 1 else f" times {magnitude:g}, scaled back,"
                said = f"{claims.who} is not linear in {claims.vector}: for a random "
                said += f"{claims.vector}{long} it gives {given[worst] / magnitude:.6g}, but the "
                said += f"results for its single entries add up to {expected[worst]:.6g}"
            most = max(most, float(np.max(off / size, where=off > 0, initial=0.0)))
        question = "left out, clipped, squared, or replaced by its sign?"
        self._fault(claims.who, said, most, f". Is the {claims.vector} {question}")
        return known

    @QUIETLY
    def _adjoint(self, second: Callable[..., Any], known: Array | None) -> None:
        """Test ``<u, J v> = <J' u, v>`` for the product and the other one.

        ``known`` is our own product with its vector, unless that is not finite.
        """
        ours, who = self.claims, "vjp" if self.claims.by_rows else "jvp"
        other = Claims(ours.ask, who, second, ours)
        vjp, jvp = (other, ours) if ours.by_rows else (ours, other)
        # If our own product is not finite, its single entries are judged.
        vectors: list[Callable[[], Array]] = [lambda: self.u, lambda: self.v]
        mine, theirs = reversed(vectors) if ours.by_rows else vectors
        own = self._product(ours, mine, may_overflow=True) if known is None else known
        finite, own_side = np.isfinite(own).all(), _side(own, theirs())
        del own, known  # as large as all inputs, perhaps, as is what the other product needs
        others = self._product(other, theirs, may_overflow=not finite)
        if not (finite and np.isfinite(others).all()):
            return
        sides = own_side, _side(others, mine())
        (left, one), (right, two) = sides if ours.by_rows else sides[::-1]
        size = one + two
        off = abs(left - right) - self.rtol * size - float(self.floor @ np.abs(self.w))
        if off > 0:
            noise = [self.noise_in(jvp, self.v) * self.u, self.noise_in(vjp, self.u) * self.v]
            off -= float(_rounding(sum(map(np.linalg.norm, noise)), size))
        said = f"jvp and vjp are not adjoint: <u, J v> = {left:.6g} but <J' u, v> = {right:.6g} "
        said += "for random u and v. No step is involved: at least one of the two is wrong"
        self._fault(NOT_ADJOINT, said, max(0.0, off) / size if size else 0.0)

    def _fault(self, subject: str, said: str, beyond: float, question: str = "") -> None:
        """Record an identity that fails, its number of right digits, and the rtol it would pass."""
        if not beyond:
            return
        rtol = (self.rtol + beyond) * (1 + 1e-9)
        digits = math.floor(-math.log10(rtol)) if rtol < 1 else 0
        if digits <= 0:
            said += ". The two do not agree to a single digit"
        else:
            step = 10.0 ** math.floor(math.log10(rtol))
            wider = f"{math.ceil(rtol / step) * step:.1g}".replace("e-0", "e-")
            said += f". The two agree to {digits} digit{'s' * (digits > 1)}: "
            said += f"it would pass with {setting('rtol', wider)}"
        # A clipped or incomplete product does not agree to three digits; an iteration may.
        self.claims.fault("wrong", subject, said + ("" if digits >= 3 else question))

    @QUIETLY
    def noise_in(self, product: Claims, vector: Array) -> Array:
        """Return the noise of a product: few numbers may round well by chance, but not thrice."""
        each = [self.noise_at(product, size * vector) / size for size in SIZES]
        return np.asarray(np.max(each, axis=0))

    def noise_at(self, product: Claims, vector: Array) -> Array:
        """Return the noise of a product, from a table of products at equidistant points.

        They are so far apart that an eighth of it changes most entries: a product that is computed
        in 16 bits stays the same at closer points. The vector moves, too, because the product may
        not depend on x.
        """
        inputs = self.claims.ask.inputs
        ray = Line(inputs, 0, inputs.size, seed_of(self.seed, "ray"), None, True)
        rng = np.random.default_rng(seed_of(self.seed, "moves"))
        moves = vector * rng.uniform(-1, 1, vector.shape)

        def at(t: float) -> Array:
            return product.product_at(ray.point(t), vector + t * moves)

        here, apart = at(0.0), min(NEAREST * self.resolution, FARTHEST)
        while apart < FARTHEST and np.mean((at(apart / FARTHER) == here) & (here != 0)) > 1 / 2:
            apart = min(FARTHER * apart, FARTHEST)

        def noise(h: float) -> Array:
            table = [here, *(at(k * h) for k in range(1, 7))]
            return np.nan_to_num(noise_of(np.array(table)))

        # Beside terms with many digits, those with few stand still until x has moved far. Their
        # noise is about the same at two distances; what a kink adds grows with the distance.
        far = np.fmin(noise(FARTHEST), STEADY * noise(FARTHEST / FARTHER))
        return np.fmax(noise(apart), far)

    def _product(
        self,
        product: Claims,
        vector: Array | Callable[[], Array],
        judged: Array | bool = True,
        may_overflow: bool = False,
    ) -> Array:
        """Compute a product; if it is not finite, record a fault unless there is one already.

        Numbers that are not judged become 0.
        """
        flat = product.product(vector)
        if not self.defined.any():
            return np.zeros(flat.shape)
        if product.by_rows and self.claims.ask.mix is None:
            flat = np.where(self.defined, flat, 0.0)
        flat = flat if np.all(judged) else np.where(judged, flat, 0.0)
        if not (np.isfinite(flat).all() or may_overflow or product.unusable):
            said = f"{product.who} gives NaN or infinity for a random direction"
            product.fault("nonfinite", product.who, said)
        return flat


def blame(claims: Claims, right: bool, wrong: bool) -> None:
    """If the adjoint identity fails, say which of the two products disagrees with the numbers."""
    if right or wrong:
        said = f". The measured slopes disagree with {claims.who}"
        if right:
            said = f". The measured slopes agree with {claims.who}, so the error is in "
            said += "vjp" if claims.by_rows else "jvp"
        for k, fault in enumerate(claims.faults):
            if fault.subject == NOT_ADJOINT:
                claims.faults[k] = replace(fault, sentence=fault.sentence + said)


def _side(product: Array, vector: Array) -> tuple[float, float]:
    """Return one side of the adjoint identity, and the size of its terms."""
    total = absolute = squares = 0.0
    for start in range(0, product.size, STRETCH):
        terms = product[start : start + STRETCH] * vector[start : start + STRETCH]
        total += float(terms.sum())
        absolute += float(np.abs(terms).sum())
        squares = math.hypot(squares, float(np.linalg.norm(terms)))
    return total, min(absolute, DEVIATIONS * squares)


def _typical(numbers: Array) -> Any:
    """Return the root mean square."""
    return np.sqrt(np.mean(numbers**2))


def _rounding(noise: Any, size: Any) -> Any:
    """Return the error that noise explains, if it is rounding: a small part of the product."""
    return np.minimum(DEVIATIONS * noise, np.maximum(ROUNDING_AT_MOST * size, COARSE))


@QUIETLY
def noise_of(table: Array) -> Array:
    """Estimate the noise of each column of values at seven equidistant points.

    The differences of a smooth function get smaller from order to order, while those of noise do
    not (Hamming; Moré and Wild, 2011).

    The estimate is the root mean square of the differences of order k, scaled so that it is right
    for white noise: the mean square of these is (2k choose k) times the variance.
    """
    size = np.abs(table).max(axis=0)  # without it the squares might overflow
    differences = np.diff(table / np.where(size > 0, size, 1.0), 2, axis=0)
    orders = []
    for k in range(3, 7):
        differences = np.diff(differences, axis=0)
        orders.append(size * np.sqrt(np.mean(differences**2, axis=0) / math.comb(2 * k, k)))
    # The median: the last order has only one difference, which may be small by chance.
    return np.asarray(np.median(orders, axis=0))
