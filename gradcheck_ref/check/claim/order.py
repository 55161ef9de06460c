"""A product that takes its arguments in another order: vjp(x, upstream), as many write it for JAX.

Called as vjp(upstream, x), it is wrong at almost every point, and not linear. Two calls in the
other order show whether it is right then, or at least linear.
"""

from dataclasses import replace

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.claim.claims import Claims
from gradcheck_ref.check.claim.company import OTHERWISE
from gradcheck_ref.check.claim.identities import NOT_ADJOINT, ROUNDINGS_OF_PRODUCT
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.results import ARGUMENTS, Fault


@QUIETLY
def exchanged(claims: Claims, rows: Array, claimed: Array, slopes: Array, slack: Array) -> None:
    """Replace the faults of a product, such as not being linear, if it is right in another order.

    If it is wrong in that order, too, but linear, a fault asks about the order.

    Cost: if there are such faults, two calls of the product, which may well raise any error.

    Parameters
    ----------
    claims : Claims
        The claims of the product.
    rows : ndarray of int, shape (rows,)
        Coordinates of the inputs.
    claimed, slopes, slack : ndarray, shape (rows, outputs)
        The claims for these, the slopes, and how far a right claim may be off.
    """
    reasons = "wrong", "shape", "dtype", "structure", "nonfinite"
    explained = [fault for fault in claims.faults if fault.reason in reasons]
    if not (explained and claims.who in ("vjp", "jvp") and claims.asks and len(rows)):
        return
    wrong = ~(np.abs(claimed - slopes) <= slack) & (np.abs(slopes) > 2 * slack)
    sizes = np.where(wrong, np.abs(slopes), 0.0)
    row, column = np.unravel_index(np.argmax(sizes), sizes.shape)
    number = int(rows[row]) if claims.by_rows else int(column)
    # A unit vector would not tell the square of the product from itself, nor its absolute value.
    vector = OTHERWISE * claims.vector_for(number)

    def product(first: object, *inputs: object) -> object:
        return claims.given(*inputs, first)

    apart = Claims(claims.ask, claims.who, product)
    try:
        found, once = apart.product(vector) / OTHERWISE, apart.product(vector / OTHERWISE)
    except Exception:
        return
    if apart.faults or not sizes.any():
        return
    off = np.abs(found - once) > ROUNDINGS_OF_PRODUCT * claims.ask.precision * np.abs(once)
    linear = once.any() and not off.any()
    found, at = (found, row) if claims.by_rows else (found[rows], np.s_[:, column])
    names = ", ".join(claims.ask.inputs.forest.trees)
    ours = f"but the check calls {claims.who}({claims.vector}, {names})"
    if (np.abs(found - slopes[at]) <= slack[at]).all():
        said = f"{claims.who}({names}, {claims.vector}) is right, {ours}: the {claims.vector} "
        said += "comes first"
        others = [fault for fault in claims.faults if fault not in explained]
        claims.faults[:] = [Fault("structure", f"{ARGUMENTS}{claims.who}", said), *others]
    elif linear and explained[0].subject != NOT_ADJOINT:
        said = f"{explained[0].sentence} Or does the {claims.vector} come last? "
        said += f"{claims.who}({names}, {claims.vector}) is linear in it, {ours}"
        claims.faults[claims.faults.index(explained[0])] = replace(explained[0], sentence=said)
