"""Answer the oracle's questions with this package, one line of JSON each.

A stage answers if it can. The rest is here, in NumPy, in a line or two each: steps that are not the
steps taken, and the rules of the peers. ``generate/rules.py`` has the same rules in fractions. That
the two versions agree on every vector is half of the evidence for the vectors; the other half is
that the peers themselves agree. ``gradcheck_ref.compat`` differs from the peers on purpose (no
infinity agrees with itself), so it has a test of its own against the vectors.
"""

import json
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, same_shape
from gradcheck_ref.check import check_gradient
from gradcheck_ref.oracle.table import KINDS, PROTOCOL
from gradcheck_ref.stage1_forward import forward_difference
from gradcheck_ref.stage2_central import central_difference
from gradcheck_ref.stage3_relative import relative_error
from gradcheck_ref.stage4_allclose import allclose
from gradcheck_ref.stage5_adaptive import escalating_difference, five_point_difference
from gradcheck_ref.zoo import all_cases

Request = dict[str, Any]
Reply = dict[str, Any]


def serve(lines: Iterable[str], write: Callable[[str], object], name: str) -> None:
    """Answer one line after the other.

    Parameters
    ----------
    lines : iterable of str
        Requests; usually standard input.
    write : callable
        Gets each reply as a line. It must flush, because the runner waits for the reply.
    name : str
        The name of this implementation.
    """
    for line in lines:
        write(json.dumps(answer_line(line, name), allow_nan=False) + "\n")


def answer_line(line: str, name: str) -> Reply:
    """Answer one line, even if it is not a request."""
    try:
        request = json.loads(line)
        identity = request["id"]
        if not isinstance(identity, str | int):
            raise TypeError("id must be a string")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        return {"id": None, "problem": f"this is no request: {error!r}"}
    try:
        if request.get("ask") == "hello":
            return {"id": identity, "protocol": PROTOCOL, "name": name, "answers": list(KINDS)}
        return {"id": identity, **answer(request)}
    except Exception as error:  # whatever happens, answer the next request
        return {"id": identity, "problem": f"{type(error).__name__}: {error}"}


def answer(request: Request) -> Reply:
    """Answer one request of the oracle.

    Parameters
    ----------
    request : dict
        As in FORMAT.md; reals are strings.

    Returns
    -------
    dict
        The reply without its id.

    Raises
    ------
    KeyError
        If the request lacks something, or names something unknown.

    Examples
    --------
    >>> request = {"ask": "compare", "rule": "torch", "rtol": "0.001", "atol": "1e-05"}
    >>> answer(request | {"analytic": ["1.5", "3"], "numeric": ["1", "3"]})
    {'close': False, 'error': ['0.5', '0.0']}
    """
    kinds = (stencil, compare, escalate, verdict, whole)
    chosen = {kind.__name__: kind for kind in kinds}[request["ask"]]
    if chosen is verdict:  # refusing to judge is not a verdict
        return verdict(request)
    try:
        with np.errstate(all="ignore"):
            return chosen(request)
    except (ValueError, TypeError) as refusal:
        return {"refused": str(refusal)}


# --- reals are strings -----------------------------------------------------------------------


def reals(value: Any) -> Any:
    """Read the reals of a nested list; integers and null stay unchanged."""
    if isinstance(value, list):
        return [reals(part) for part in value]
    return float(value) if isinstance(value, str) else value


def texts(value: Any) -> Any:
    """Write reals so that they can be read again."""
    if isinstance(value, list):
        return [texts(part) for part in value]
    return repr(float(value))


def sampled(samples: Any) -> Callable[[Any], Any]:
    """Turn samples into the function that they are samples of."""
    values = {float(place): np.array(reals(value)) for place, value in samples}
    return lambda x: values[float(x)]


# --- stencil, escalate -----------------------------------------------------------------------


def stencil(request: Request) -> Reply:
    """Take a difference quotient."""
    f, x, h = sampled(request["samples"]), float(request["x"]), float(request["h"])
    if request["step"] == "nominal":
        low, width = {"forward": (x, h), "central": (x - h, 2 * h), "five-point": (x - h, 2 * h)}[
            request["formula"]
        ]
        slope = (f(x + h) - f(low)) / width
        if request["formula"] == "five-point":
            slope = slope + (slope - (f(x + 2 * h) - f(x - 2 * h)) / (4 * h)) / 3
        return {"slope": texts(slope)}
    if "upstream" in request:
        upstream = reals(request["upstream"])
        return {"slope": texts(central_difference(f, x, h=h, upstream=upstream))}
    formulas: dict[str, Callable[..., Array]] = {
        "forward": forward_difference,
        "central": central_difference,
        "five-point": five_point_difference,
    }
    return {"slope": texts(formulas[request["formula"]](f, x, h=h))}


def escalate(request: Request) -> Reply:
    """Go from the forward to the central to the five-point difference until one agrees."""
    f, x, h = sampled(request["samples"]), float(request["x"]), float(request["h"])
    claimed, rtol, atol = (float(request[key]) for key in ("claimed", "rtol", "atol"))
    if request["step"] == "taken":
        values, orders = escalating_difference(f, x, claimed, h=h, rtol=rtol, atol=atol)
        return {"order": int(orders), "slope": texts(values)}

    def slope_at(step: float) -> Any:
        return (f(x + step) - f(x)) / step

    slope, order = slope_at(h), 1
    if not abs(slope - claimed) < atol + rtol * abs(slope):
        slope, order = (slope + slope_at(-h)) / 2, 2
    if not abs(slope - claimed) < atol + rtol * abs(slope):
        near = (slope_at(h / 2) + slope_at(-h / 2)) / 2
        slope, order = (4 * near - slope) / 3, 4
    return {"order": order, "slope": texts(slope)}


# --- compare ---------------------------------------------------------------------------------


def compare(request: Request) -> Reply:
    """Compare two gradients by one of the rules."""
    a, n = (np.array(reals(request[side]), dtype=float) for side in ("analytic", "numeric"))
    same_shape(a, "analytic", n, "numeric")
    if a.size == 0 and request["rule"] in NEED_ENTRIES:
        raise ValueError("there is nothing to compare")
    rtol, atol, floor = (float(request.get(key, "0")) for key in ("rtol", "atol", "floor"))
    told = RULES[request["rule"]](a, n, rtol, atol, floor)
    return {
        key: bool(value) if key == "close" else texts(np.asarray(value).tolist())
        for key, value in told.items()
    }


def reference(a: Array, n: Array, rtol: float, atol: float, _: float) -> Reply:
    """Decide as stage 4 does."""
    found = allclose(a, n, rtol=rtol, atol=atol)
    return {"close": found, "error": found.error}


def numpy_rule(a: Array, n: Array, rtol: float, atol: float, _: float) -> Reply:
    """Decide as ``numpy.allclose`` does."""
    return {"close": np.allclose(a, n, rtol=rtol, atol=atol), "error": np.abs(a - n)}


def torch_rule(a: Array, n: Array, rtol: float, atol: float, _: float) -> Reply:
    """Decide as ``torch.allclose`` does: an error that overflows is too large."""
    error = np.abs(a - n)
    close = (a == n) | (np.isfinite(error) & (error <= atol + rtol * np.abs(n)))
    return {"close": close.all(), "error": error}


def warp_rule(a: Array, n: Array, rtol: float, atol: float, _: float) -> Reply:
    """Decide as Warp does, and return the relative error of its table, which decides nothing."""
    relative = np.abs((a - n) / (n + 1e-8))
    return {**numpy_rule(a, n, rtol, atol, _), "relative": relative}


def tvm_rule(a: Array, n: Array, rtol: float, atol: float, _: float) -> Reply:
    """Decide as TVM does: one distance for all entries."""
    distance, size = _length(a - n), _length(n)
    if not np.isfinite([distance, size]).all():
        raise ValueError("NaN or infinity in the gradients, or their squares overflow")
    differ = ~(np.abs(a - n) < atol + rtol * np.abs(n))
    return {
        "close": distance <= atol * np.sqrt(a.size) + rtol * size,
        "error": distance,
        "percent": 100 * np.count_nonzero(differ) / a.size,
    }


def cs231n_max(a: Array, n: Array, rtol: float, _: float, floor: float) -> Reply:
    """Decide as CS231n's notes do."""
    error = np.asarray(relative_error(a, n, floor=floor))
    return {"close": (error <= rtol).all(), "error": error}


def cs231n_sum(a: Array, n: Array, rtol: float, _: float, floor: float) -> Reply:
    """Decide as CS231n's notebooks do; without a floor, as its ``grad_check_sparse``."""
    error = np.abs(a - n) / np.maximum(np.abs(a) + np.abs(n), floor)
    return {"close": (error <= rtol).all(), "error": error}


def jax_rule(a: Array, n: Array, rtol: float, atol: float, _: float) -> Reply:
    """Decide as JAX does: tolerances grow with the size, and NaN and infinity equal themselves."""
    close = np.isclose(a, n, rtol=rtol * a.size, atol=atol * a.size, equal_nan=True)
    return {"close": (close & (np.isinf(a) == np.isinf(n))).all(), "error": np.abs(a - n)}


def hips_rule(a: Array, n: Array, rtol: float, atol: float, _: float) -> Reply:
    """Decide as HIPS autograd does: absolute or relative, strictly."""
    error = np.abs(a - n)
    return {"close": ((error < atol) | (error / np.abs(a + n) < rtol)).all(), "error": error}


def scipy_rule(a: Array, n: Array, _: float, atol: float, __: float) -> Reply:
    """Decide as a caller of ``scipy.optimize.check_grad`` does."""
    distance = _length(a - n)
    return {"close": distance <= atol, "error": distance}


def ceres_rule(a: Array, n: Array, rtol: float, _: float, __: float) -> Reply:
    """Decide as Ceres does: relative, but absolute where one of the two is exactly zero."""
    error = np.abs(a - n)
    error = np.where((a == 0) | (n == 0), error, error / np.maximum(np.abs(a), np.abs(n)))
    return {"close": (error < rtol).all(), "error": error}


RULES: dict[str, Callable[[Array, Array, float, float, float], Reply]] = {
    "reference": reference,
    "numpy": numpy_rule,
    "torch": torch_rule,
    "warp": warp_rule,
    "tvm": tvm_rule,
    "cs231n-max": cs231n_max,
    "cs231n-sum": cs231n_sum,
    "cs231n-unguarded": cs231n_sum,
    "jax": jax_rule,
    "hips": hips_rule,
    "scipy": scipy_rule,
    "ceres": ceres_rule,
}
NEED_ENTRIES = ("warp", "tvm", "cs231n-max", "cs231n-sum", "cs231n-unguarded", "ceres")


def _length(array: Array) -> Any:
    return np.sqrt(np.sum(array * array))


# --- verdict ---------------------------------------------------------------------------------


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """Return the zoo's functions by name, and the same in lower precision."""
    exactly = {case.name: case.f for case in all_cases()}
    return exactly | {
        f"{name}_in_{np.dtype(dtype).name}": _inside(dtype, f)
        for name, f in exactly.items()
        for dtype in (np.float16, np.float32)
    }


def _inside(dtype: type[np.floating[Any]], f: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function compute in lower precision, and return doubles."""
    return lambda *inputs: np.asarray(f(*(np.asarray(x, dtype) for x in inputs)), dtype).astype(
        float
    )


def verdict(request: Request) -> Reply:
    """Check a claimed gradient of a function of the zoo."""
    f, upstream = functions()[request["function"]], np.array(reals(request["upstream"]))
    inputs = tuple(np.array(reals(x)) for x in request["inputs"])
    claimed = tuple(None if g is None else np.array(reals(g)) for g in request["claimed"])

    def loss(*moved: Array) -> Any:
        return np.sum(upstream * f(*moved))

    report = check_gradient(loss, inputs, claimed, rtol=float(request["rtol"]))
    return {"verdict": report.verdict}


# --- whole -----------------------------------------------------------------------------------


def whole(request: Request) -> Reply:
    """Measure the error of a whole gradient along lines, as ``check.judge.whole`` does."""
    steps = np.array(reals(request["steps"]))
    if not (np.isfinite(steps) & (steps > 0)).all() or steps[0] == steps[1]:
        raise ValueError("the steps must be two positive numbers")
    lines = np.array(reals(request["lines"]), float).reshape(-1, 5)
    claimed, samples = lines[:, 0], lines[:, 1:].reshape(-1, 2, 2)
    if len(lines) < 2 or not claimed.any():
        raise ValueError("it takes two lines, and a claim that is not 0")
    residuals = claimed[:, None] - (samples[:, :, 1] - samples[:, :, 0]) / (2 * steps)
    largest = abs(claimed).max()  # divide by it first, so that no square leaves the range
    size = largest * np.sqrt(np.mean((claimed / largest) ** 2))
    products = np.prod(residuals / size, axis=1)
    error = np.sqrt(np.fmax(products.mean(), 0.0)) if np.isfinite(products).all() else np.nan
    spread = products.std(ddof=1) / np.sqrt(len(lines))
    return {"error": texts(error), "spread": texts(spread)}
