"""The rounding of a claim: how far its numbers are off because it was computed in few digits.

A GPU may compute a gradient in fewer digits than f: in TF32, for example, which keeps 10 bits of a
float32. That is no mistake of the claim, and no noise of f.
"""

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.claim.claims import Claims
from gradcheck_ref.check.claim.identities import ROUNDING_AT_MOST, Identities
from gradcheck_ref.check.decimals import COARSE
from gradcheck_ref.check.measure.noise import QUIETLY, Noise


@QUIETLY
def shares_of_rounding(claims: Claims, noise: Noise, seed: int) -> Array:
    """Return how far the claims for each input are off by rounding, relative to their length.

    A jvp, and claims that are not functions, have 0, because their rounding is not measured.

    Cost: about 20 products, but no evaluation of f.
    """
    parts = claims.ask.inputs.parts.values()
    if claims.by_rows or claims.random or not claims.asks:
        return np.zeros(len(parts))
    identities = Identities(claims, 0.0, noise, seed)
    whole = claims.product_at(claims.ask.inputs.copies(), identities.u)
    # Of small vectors the products may underflow in float16.
    off = identities.noise_at(claims, identities.u)
    lengths = np.array([[np.linalg.norm(v[part.stretch]) for part in parts] for v in (off, whole)])
    shares = np.nan_to_num(lengths[0] / lengths[1], posinf=0.0)
    return np.where(shares <= ROUNDING_AT_MOST, shares, 0.0)  # more is a switch next to x


def rounding_of_claims(
    claims: Claims, columns: Array, rows: Array, claimed: Array, sizes: Array, seed: int
) -> Array | None:
    """Return how much some claims change at a point a few spacings of x away, as rounding.

    Parameters
    ----------
    claims : Claims
        The claims; None is returned for those that cannot be asked for elsewhere.
    columns, rows : ndarray of int
        Which outputs, and which coordinates.
    claimed : ndarray, shape (rows, columns)
        The claims at x.
    sizes : ndarray, shape (rows,)
        The sizes of the coordinates.
    seed : int
        Another seed gives another point.
    """
    there, size = claims.nearby(columns, seed), sizes[:, None]
    if there is None:
        return None
    own = np.nan_to_num(np.abs(there[rows] - claimed))
    largest = np.abs(claimed).max(axis=0), (np.abs(claimed) * size).max(axis=0) / size
    scale = np.fmin(*largest)
    # One entry may stay equal by chance, but the others change.
    share = np.nan_to_num(own / scale)
    own = np.fmax(own, scale * np.sqrt(np.mean(share**2, axis=0)))
    # A completely different claim next to x is not rounding: it is a switch.
    switch = own > np.fmax(ROUNDING_AT_MOST * scale, COARSE / np.fmax(1.0, size))
    return np.where(switch, 0.0, own)
