"""Difference quotients, TVM's escalation and comparison rules in plain Python, with an adapter.

    python -m gradcheck_ref oracle test -- python docs/examples/checker.py

It was written from the format alone and needs no library.
"""

import json
import math
import sys

# --8<-- [start:numbers]


class RefusedError(Exception):
    """These arguments are bad, or cannot be compared."""


def reals(value):
    """Read reals, which arrive as strings, and keep their nesting."""
    return [reals(v) for v in value] if isinstance(value, list) else float(value)


def texts(value):
    """Write reals so that they read as the same doubles."""
    return [texts(v) for v in value] if isinstance(value, list) else repr(float(value))


def flat(value):
    """List the entries of an array, row by row; a number is its only entry."""
    return [v for part in value for v in flat(part)] if isinstance(value, list) else [value]


def shape(value):
    """Return the number of parts of an array along each dimension."""
    return [len(value), *(shape(value[0]) if value else [])] if isinstance(value, list) else []


def like(value, entries):
    """Nest entries like the array."""
    return [like(v, entries) for v in value] if isinstance(value, list) else next(entries)


def divide(above, below):
    """Divide as IEEE 754 does: Python stops at 0."""
    return above / below if below else math.nan if above == 0 or above != above else math.inf


# --8<-- [end:numbers]
# --8<-- [start:stencil]


def place_of(q, pairs):
    """Read x and h, and refuse them if no step is possible."""
    x, h = float(q["x"]), float(q["h"])
    places = [float(place) for place, _ in q["samples"]]
    if q["step"] == "taken":
        if not (math.isfinite(x) and 0 < h < math.inf):
            raise RefusedError("x or h")
        for low, high in pairs:
            if not (math.isfinite(places[low]) and math.isfinite(places[high])):
                raise RefusedError("a place is beyond the largest double")
            if places[low] == places[high]:
                raise RefusedError("the step vanishes against x")
    return places, h


def slope_of(q, places, unit, low, high):
    """Weight the outputs with the upstream gradient, subtract, and divide by the step."""
    weights = flat(reals(q.get("upstream", "1")))
    behind, ahead = (flat(reals(q["samples"][k][1])) for k in (low, high))
    step = places[high] - places[low] if q["step"] == "taken" else (high - low) * unit
    rise = weighed(weights, ahead) - weighed(weights, behind)
    return divide(rise, step)


def weighed(weights, values):
    """Sum the outputs, each with its weight."""
    return sum(u * v for u, v in zip(weights, values, strict=True))


def extrapolated(near, far):
    """Extrapolate from two central slopes."""
    return near + (near - far) / 3


PAIRS = {"forward": [(2, 3)], "central": [(1, 3)], "five-point": [(1, 3), (0, 4)]}


def stencil(q):
    """Take a difference quotient."""
    pairs = PAIRS[q["formula"]]
    places, h = place_of(q, pairs)
    slopes = [slope_of(q, places, h, low, high) for low, high in pairs]
    return {"slope": texts(slopes[0] if len(slopes) == 1 else extrapolated(*slopes))}


# --8<-- [end:stencil]
# --8<-- [start:escalate]


def escalate(q):
    """Go from the forward slope to the central one, and on, while they disagree."""
    rtol, atol, claimed = (float(q[key]) for key in ("rtol", "atol", "claimed"))
    places, h = place_of(q, [(2, 4), (0, 4), (1, 3)])
    if q["step"] == "taken":
        check_tolerances(rtol, atol)

    def agrees(slope):
        return math.isfinite(slope) and abs(slope - claimed) < atol + rtol * abs(slope)

    slope, order = slope_of(q, places, h / 2, 2, 4), 1
    if not agrees(slope):
        slope, order = slope_of(q, places, h / 2, 0, 4), 2
    if not agrees(slope):
        slope, order = extrapolated(slope_of(q, places, h / 2, 1, 3), slope), 4
    return {"order": order, "slope": texts(slope)}


def check_tolerances(*tolerances):
    """Refuse a tolerance that is negative, NaN or infinite."""
    if not all(0 <= t < math.inf for t in tolerances):
        raise RefusedError("a tolerance")


# --8<-- [end:escalate]
# --8<-- [start:compare]


def compare(q):
    """Compare two gradients by a rule."""
    analytic, numeric = reals(q["analytic"]), reals(q["numeric"])
    if shape(analytic) != shape(numeric):
        raise RefusedError("the shapes differ")
    pairs = list(zip(flat(analytic), flat(numeric), strict=True))
    rtol, atol, floor = (float(q.get(key, "0")) for key in ("rtol", "atol", "floor"))
    told = RULES[q["rule"]](pairs, rtol, atol, floor)
    close, error, more = (*told, {}) if len(told) == 2 else told
    told = {"error": error, **more}
    for key, value in told.items():
        told[key] = texts(like(analytic, iter(value)) if isinstance(value, list) else value)
    return {"close": close, **told}


def by_sum(same=lambda a, n: a == n, able=lambda a, n: math.isfinite(n), times=lambda pairs: 1):
    """Make a rule: |analytic - numeric| <= atol + rtol |numeric| in every entry."""

    def rule(pairs, rtol, atol, floor):
        size = times(pairs)

        def close(a, n):
            within = abs(a - n) <= size * atol + size * rtol * abs(n)
            return same(a, n) or (able(a, n) and within)

        return all(close(a, n) for a, n in pairs), [abs(a - n) for a, n in pairs]

    return rule


def reference(pairs, rtol, atol, floor):
    """Decide as gradcheck_ref's allclose."""
    check_tolerances(rtol, atol)
    rule = by_sum(same=lambda a, n: False, able=lambda a, n: math.isfinite(a - n))
    close, error = rule(pairs, rtol, atol, floor)
    return close and bool(pairs), error


def warp(pairs, rtol, atol, floor):
    """Decide as NumPy does, and return Warp's relative error, too."""
    relative = [abs(divide(a - n, n + 1e-8)) for a, n in something(pairs)]
    return (*by_sum()(pairs, rtol, atol, floor), {"relative": relative})


def tvm(pairs, rtol, atol, floor):
    """Compare one distance with one size."""
    error, size = norm(a - n for a, n in something(pairs)), norm(n for _, n in pairs)
    if not math.isfinite(error + size):
        raise RefusedError("a norm is not finite")
    differ = sum(not abs(a - n) < atol + rtol * abs(n) for a, n in pairs)
    close = error <= atol * math.sqrt(len(pairs)) + rtol * size
    return close, error, {"percent": 100 * differ / len(pairs)}


def scipy(pairs, rtol, atol, floor):
    """Compare one distance with the caller's number."""
    error = norm(a - n for a, n in pairs)
    return error <= atol, error


def norm(entries):
    """Return the Euclidean length, from the sum of squares."""
    return math.sqrt(sum(v * v for v in entries))


def by_quotient(size, strictly=False):
    """Make a rule: the error over a size is within rtol in every entry."""

    def rule(pairs, rtol, atol, floor):
        errors = [divide(abs(a - n), size(a, n, floor)) for a, n in something(pairs)]
        return all(e < rtol if strictly else e <= rtol for e in errors), errors

    return rule


def largest(a, n, floor):
    """Divide by the larger of two, at least by the floor; 0 over 0 is 0."""
    return max(abs(a), abs(n), floor) or 1.0


def zero_is_absolute(a, n, floor):
    """Divide by the larger of two, or by 1 if one of them is 0."""
    return 1.0 if a == 0 or n == 0 else max(abs(a), abs(n))


def hips(pairs, rtol, atol, floor):
    """Accept an entry if either strict test holds."""
    errors = [abs(a - n) for a, n in pairs]
    tested = zip(pairs, errors, strict=True)
    return all(e < atol or divide(e, abs(a + n)) < rtol for (a, n), e in tested), errors


def something(pairs):
    """Refuse to compare nothing."""
    if not pairs:
        raise RefusedError("there is nothing to compare")
    return pairs


RULES = {
    "reference": reference,
    "numpy": by_sum(),
    "torch": by_sum(able=lambda a, n: math.isfinite(a - n)),
    "warp": warp,
    "tvm": tvm,
    "cs231n-max": by_quotient(largest),
    "cs231n-sum": by_quotient(lambda a, n, floor: max(abs(a) + abs(n), floor)),
    "cs231n-unguarded": by_quotient(lambda a, n, floor: abs(a) + abs(n)),
    "jax": by_sum(
        same=lambda a, n: a == n or (a != a and n != n),
        able=lambda a, n: math.isfinite(a) and math.isfinite(n),
        times=len,
    ),
    "hips": hips,
    "scipy": scipy,
    "ceres": by_quotient(zero_is_absolute, strictly=True),
}

# --8<-- [end:compare]


def whole(q):
    """Measure the error of a whole gradient: products of residuals at two steps have no noise."""
    h, k = map(float, q["steps"])
    lines = reals(q["lines"])
    if not (0 < h < math.inf and 0 < k < math.inf) or h == k:
        raise RefusedError("the steps")
    if len(lines) < 2 or not any(line[0] for line in lines):
        raise RefusedError("too few lines, or no claim")
    size = math.hypot(*(line[0] for line in lines)) / math.sqrt(len(lines))
    products = [
        (c - (a1 - b1) / (2 * h)) / size * ((c - (a2 - b2) / (2 * k)) / size)
        for c, b1, a1, b2, a2 in lines
    ]
    mean = sum(products) / len(products)
    squares = sum((p - mean) ** 2 for p in products)
    spread = math.sqrt(squares / (len(products) - 1) / len(products))
    error = math.sqrt(0.0 if mean < 0 else mean)
    return {"error": texts(error), "spread": texts(spread)}


# --8<-- [start:adapter]

ANSWERS = {"stencil": stencil, "escalate": escalate, "compare": compare, "whole": whole}


def answer(request):
    """Answer any request."""
    if request["ask"] == "hello":
        return {"protocol": 1, "name": "checker.py", "answers": list(ANSWERS)}
    try:
        return ANSWERS[request["ask"]](request)
    except RefusedError as why:
        return {"refused": str(why)}
    except Exception as why:
        return {"problem": repr(why)}


def main():
    """Answer one line after the other, until the input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"id": request["id"], **answer(request)}), flush=True)


if __name__ == "__main__":
    main()
# --8<-- [end:adapter]
