"""Stage 4: the sum of an absolute and a relative tolerance.

Idea
    ``|analytic - numeric| <= atol + rtol * |numeric|``. The relative term is for large entries.
    The absolute term is the size below which an entry is noise. The estimate is the reference,
    and not the claim: a wrong claim must not widen its own tolerance.
Catches
    Right gradients pass that stage 3 refuses by mistake: those with entries that are zero except
    for rounding.
Misses
    Errors of the estimate itself: ``fast_sine`` is too fast for the step, and
    ``square_on_a_pedestal`` drowns in rounding. And bugs below ``atol``: ``tiny_loss``.
Next
    ``stage5_adaptive`` chooses the step, and says how good the estimate is.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcheck_ref.arguments import Array, as_numbers, as_tolerance, index_text, same_shape


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of comparing two gradients entry by entry; true when all entries are close.

    Attributes
    ----------
    analytic, numeric : ndarray
        The two gradients.
    rtol, atol : float
        The tolerances.
    error : ndarray of float
        ``|analytic - numeric|``.
    allowed : ndarray of float
        ``atol + rtol * |numeric|``.
    ratio : ndarray of float
        ``error / allowed``, and 0 where both are 0. Close means at most 1.
    close : ndarray of bool
        Which entries are close. NaN and infinity never are.
    """

    analytic: Array
    numeric: Array
    rtol: float
    atol: float
    error: Array
    allowed: Array
    ratio: Array
    close: NDArray[np.bool_]

    def __bool__(self) -> bool:
        """Whether at least one entry was compared, and all are close."""
        return self.count > 0 and self.wrong == 0

    @property
    def count(self) -> int:
        """How many entries were compared."""
        return self.close.size

    @property
    def wrong(self) -> int:
        """How many entries are not close."""
        return int(np.count_nonzero(~self.close))

    @property
    def worst(self) -> tuple[int, ...] | None:
        """Index of the largest ratio (NaN counts as the largest); None if there are no entries."""
        if self.count == 0:
            return None
        index = np.unravel_index(np.argmax(self.ratio), self.ratio.shape)
        return tuple(int(i) for i in index)

    @property
    def term(self) -> str | None:
        """Which tolerance is the larger part of ``allowed`` at ``worst``."""
        if self.worst is None:
            return None
        at = self.worst
        return "rtol" if self.allowed[at] - self.atol > self.atol else "atol"

    def __str__(self) -> str:
        """Say what differs, where, and by how much."""
        if self.worst is None:
            return "nothing was compared: the gradients have no entries"
        at = self.worst
        where = f" at {index_text(at)}" if at else ""
        entries = "the only entry" if self.count == 1 else f"all {self.count} entries"
        if not self.wrong:
            share = f"{self.ratio[at]:.0%}" if self.ratio[at] >= 0.01 else "less than 1%"
            return f"{entries} agree{'s' * (self.count == 1)}; {share} of the tolerance is used"
        analytic, numeric = _told_apart(self.analytic[at], self.numeric[at])
        return (
            f"{self.wrong} of {self.count} entries differ; worst{where}: "
            f"analytic {analytic}, numeric {numeric}, "
            f"error {self.error[at]:.2g}, allowed {self.allowed[at]:.2g} by {self.term}"
        )


def _told_apart(first: Any, second: Any) -> tuple[str, str]:
    """Write two numbers with six digits, or with more if they look equal."""
    for digits in range(6, 18):
        if f"{first:.{digits - 1}g}" != f"{second:.{digits - 1}g}":
            break
    return f"{first:.{digits}g}", f"{second:.{digits}g}"


def allclose(analytic: ArrayLike, numeric: ArrayLike, *, rtol: float, atol: float) -> Comparison:
    """Compare two gradients entry by entry with an absolute plus a relative tolerance.

    Parameters
    ----------
    analytic : array_like of numbers
        The claimed gradient.
    numeric : array_like of numbers, shape of analytic
        Its estimate, and the reference for the relative tolerance.
    rtol : float
        Allowed error as a fraction of ``|numeric|``.
    atol : float
        Allowed error besides that, in the unit of the gradient.

    Returns
    -------
    Comparison
        True when entries were compared and each has ``|analytic - numeric| <= atol + rtol *
        |numeric|``. NaN and infinity never pass, and a comparison without entries does not pass.

    Raises
    ------
    TypeError
        If either holds something other than numbers.
    ValueError
        If the shapes differ, or a tolerance is negative or not finite.

    Notes
    -----
    Cost: no evaluation of ``f``.

    The sum is one rule; *atol or rtol, each tested alone* is another. Warp's documentation once
    described the second, but its code used the first, and the row below puzzled a user. Its
    relative error, 0.78, is far above ``rtol``, but its absolute error is below ``atol``, and that
    is enough. If each were tested alone, the row would fail.

    Source: the rule of ``numpy.allclose``, torch's ``gradcheck`` and Warp's; here, unlike there,
    two equal infinities are not close.

    Examples
    --------
    >>> row = allclose(4.840e-05, 2.235e-04, rtol=1e-2, atol=1e-3)  # Warp's tolerances
    >>> bool(row), row.term, f"{row.error:.3e} of {row.allowed:.3e}"
    (True, 'atol', '1.751e-04 of 1.002e-03')
    >>> print(allclose([1.0, 2.0], [1.0, 2.5], rtol=1e-6, atol=0))
    1 of 2 entries differ; worst at [1]: analytic 2, numeric 2.5, error 0.5, allowed 2.5e-06 by rtol
    """
    a, n = as_numbers(analytic, "analytic"), as_numbers(numeric, "numeric")
    same_shape(a, "analytic", n, "numeric")
    rtol, atol = as_tolerance(rtol, "rtol"), as_tolerance(atol, "atol")

    # --8<-- [start:allclose]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        error = np.abs(a - n)
        allowed = atol + rtol * np.abs(n)
        ratio = np.where(error == 0, 0.0, error / allowed)
    # An infinite estimate would allow any error, so both numbers must be finite.
    close = np.isfinite(a) & np.isfinite(n) & np.isfinite(error) & (error <= allowed)
    # --8<-- [end:allclose]
    return Comparison(a, n, rtol, atol, error, allowed, ratio, close)
