"""The rule of a library, by the library itself: an adapter for the oracle.

    python -m gradcheck_ref oracle test -- python docs/examples/oracle/peers.py torch

It answers the comparisons of one rule: numpy, torch, jax, scipy or hips. The library decides; where
it tells no error, the error is told here. Shapes that differ are refused, as the oracle wants it,
though NumPy, torch and SciPy would broadcast.
"""

import importlib.metadata
import json
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")


def by_numpy(a, n, rtol, atol):
    """Ask ``numpy.allclose``."""
    return np.allclose(a, n, rtol=rtol, atol=atol), abs(a - n)


def by_torch(a, n, rtol, atol):
    """Ask ``torch.allclose``, by which ``torch.autograd.gradcheck`` compares."""
    import torch

    return torch.allclose(torch.tensor(a), torch.tensor(n), rtol=rtol, atol=atol), abs(a - n)


def by_jax(a, n, rtol, atol):
    """Ask ``jax.test_util.check_jvp``, along the one direction that there is."""
    from jax import test_util

    def f(x):
        return n if x > 0 else np.zeros(n.shape)

    try:  # with this step the numeric slope is n, to the last bit
        test_util.check_jvp(
            f, lambda x, t: (f(*x), a), (np.array(0.0),), eps=0.5, rtol=rtol, atol=atol
        )
    except AssertionError:
        return False, abs(a - n)
    return True, abs(a - n)


def by_scipy(a, n, _, atol):
    """Ask ``scipy.optimize.check_grad``; the threshold is the caller's."""
    from scipy.optimize import check_grad

    def f(x):  # at 0, and with a step of 1, its slopes are n
        moved = np.flatnonzero(x)
        return n.reshape(-1)[moved[0]] * x[moved[0]] if moved.size else np.float64(0)

    error = check_grad(f, lambda x: a.reshape(-1), np.zeros(n.size), epsilon=1.0)
    return error <= atol, np.float64(error)


def by_hips(a, n, rtol, atol):
    """Ask ``autograd.test_util``, which compares one number: entry by entry."""
    from autograd import test_util

    test_util.RTOL, test_util.TOL = rtol, atol
    pairs = zip(n.reshape(-1), a.reshape(-1), strict=True)
    return all(test_util.scalar_close(x, y) for x, y in pairs), abs(a - n)


RULES = {
    "numpy": (by_numpy, "numpy"),
    "torch": (by_torch, "torch"),
    "jax": (by_jax, "jax"),
    "scipy": (by_scipy, "scipy"),
    "hips": (by_hips, "autograd"),
}


def main(rule):
    """Answer one line after the other."""
    decide, package = RULES[rule]
    hello = {"protocol": 1, "name": f"{package} {importlib.metadata.version(package)}"}
    for line in sys.stdin:
        request = json.loads(line)
        reply = hello | {"answers": [f"compare/{rule}"]}
        if request["ask"] == "compare":
            a, n = (np.array(request[side], dtype=float) for side in ("analytic", "numeric"))
            if a.shape == n.shape:
                close, error = decide(a, n, float(request["rtol"]), float(request["atol"]))
                reply = {"close": bool(close), "error": texts(error.tolist())}
            else:
                reply = {"refused": "the shapes differ"}
        print(json.dumps({"id": request["id"], **reply}), flush=True)


def texts(value):
    """Write reals as the text that reads as the same doubles."""
    return [texts(v) for v in value] if isinstance(value, list) else repr(float(value))


if __name__ == "__main__":
    main(sys.argv[1])
