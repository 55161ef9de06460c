"""Which tolerance would let pass what the tolerance asked for does not."""

import math
from collections.abc import Iterable

import numpy as np

from gradcheck_ref.check.judge.pair import FAIL
from gradcheck_ref.check.knobs import WIDEST
from gradcheck_ref.check.report.digits import short
from gradcheck_ref.check.report.found import Found
from gradcheck_ref.check.words import setting


def rtol_for(found: Found, reasons: Iterable[str]) -> float:
    """Return the rtol with which the entries would pass that have one of these reasons."""
    most = 0.0
    for pair in found.pairs:
        with np.errstate(divide="ignore", invalid="ignore"):
            off = pair.difference + pair.error
            if found.atol is None:  # then what is allowed is proportional to rtol
                share = found.rtol * off / pair.allowed
            else:
                share = (off - found.atol) / np.abs(pair.numeric)
        most = max(most, float(share[np.isin(pair.reason, [*reasons])].max(initial=0.0)))
    return most


def rtol_for_all(found: Found) -> float:
    """Return the rtol with which everything would pass that failed, or that lines have refused."""
    held = found.certificate
    if any((pair.verdict[pair.reason != "wrong"] == FAIL).any() for pair in found.pairs):
        return math.inf
    return max(rtol_for(found, ["wrong"]), held.rtol if held and held.entries else 0.0)


def with_rtol(rtol: float) -> str:
    """Write a tolerance that is no smaller, with one digit; nothing if it is not worth having."""
    if not 0 < rtol < WIDEST:
        return ""
    power = 10.0 ** math.floor(math.log10(rtol))
    return setting("rtol", short(math.ceil(rtol / power * (1 - 1e-12)) * power))
