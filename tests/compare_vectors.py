"""The compare vectors as questions to a whole gradient check, which takes a function and a claim.

A check estimates the slopes itself. At zero, and with the step that is named, it finds for each of
these functions the numeric gradient of the vector, to the last bit: so what is judged is how it
compares, and which of the two it takes for the reference.
"""

import numpy as np

from gradcheck_ref.oracle.vectors import load_vectors

CENTRAL_STEP = 0.5
FORWARD_STEP = 1.0


def definite(rule, *left_out):
    """Return the vectors of a rule that have one answer, but for those with certain flags."""
    return [
        v
        for v in load_vectors("compare")
        if v.request["rule"] == rule
        and v.expected["result"] != "acceptable"
        and not set(v.flags).intersection(left_out)
    ]


def close(vector):
    """Tell whether a check must pass; what is refused does not pass."""
    return vector.expected.get("close", False)


def gradients(vector):
    """Return analytic and numeric."""
    return tuple(np.array(vector.request[side], dtype=float) for side in ("analytic", "numeric"))


def tolerances(vector):
    """Return rtol and atol by name."""
    return {name: float(vector.request[name]) for name in ("rtol", "atol")}


def by_central_differences(numeric):
    """Return a function whose central differences are numeric: 1/2 ahead, and 0 behind."""

    def f(x):
        ahead = np.flatnonzero(np.ravel(x) > 0)
        return np.ravel(numeric)[ahead[0]] if ahead.size else np.float64(0)

    return f


def by_forward_differences(numeric):
    """Return a function whose forward differences, central ones and so on are numeric."""

    def f(x):
        moved = np.flatnonzero(x)
        return np.ravel(numeric)[moved[0]] * np.ravel(x)[moved[0]] if moved.size else np.float64(0)

    return f
