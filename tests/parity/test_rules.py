"""The vectors, asked of the peers themselves: each rule is what its peer really does.

Not asked here: CS231n and Ceres, whose rules were read in their sources, and shapes that differ,
where the oracle wants a refusal and NumPy, torch and SciPy broadcast.
"""

import re

import numpy as np
import pytest
from compare_vectors import (
    CENTRAL_STEP,
    FORWARD_STEP,
    by_central_differences,
    by_forward_differences,
    close,
    definite,
    gradients,
    tolerances,
)

from gradcheck_ref.oracle.vectors import load_vectors

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def peer(name, package=None):
    """Return a module of a peer; skip the test if it is not installed."""
    return pytest.importorskip(name, reason=f"the peer {package or name} is not installed")


def numpy_decides(analytic, numeric, **tolerances):
    """Ask ``numpy.allclose``."""
    return np.allclose(analytic, numeric, **tolerances)


def torch_decides(analytic, numeric, **tolerances):
    """Ask ``torch.autograd.gradcheck``, slow mode."""
    torch = peer("torch")
    from in_torch import as_torch, leaves

    def vjp(upstream, x):
        return np.where(upstream, analytic, 0.0)  # nor does torch want 0 * inf

    return torch.autograd.gradcheck(
        as_torch(by_central_differences(numeric), vjp),
        leaves(np.zeros(numeric.shape)),
        eps=CENTRAL_STEP,
        raise_exception=False,
        check_undefined_grad=False,
        **tolerances,
    )


def jax_decides(analytic, numeric, **tolerances):
    """Ask ``jax.test_util.check_jvp``, along the one direction that there is."""
    test_util = peer("jax.test_util", "jax")

    def f(x):
        return numeric if x > 0 else np.zeros(numeric.shape)

    def jvp(primals, tangents):
        assert tangents[0] > 0
        return f(*primals), analytic

    return passes(test_util.check_jvp, f, jvp, (np.array(0.0),), eps=CENTRAL_STEP, **tolerances)


def warp_decides(analytic, numeric, **tolerances):
    """Ask ``warp.autograd.gradcheck``."""
    autograd = peer("warp.autograd", "warp-lang")
    from in_warp import warps

    f = by_central_differences(numeric.reshape(-1))
    quiet = {"raise_exception": False, "show_summary": False}

    def vjp(upstream, x):
        return upstream * analytic.reshape(-1)

    x = np.zeros(numeric.size)
    return passes(warps, autograd.gradcheck, f, vjp, [x], eps=CENTRAL_STEP, **quiet, **tolerances)


def tvm_decides(analytic, numeric, **tolerances):
    """Ask ``tvm.testing.check_numerical_grads``; it has no 0-d arrays."""
    check = peer("tvm.testing", "apache-tvm").check_numerical_grads
    f, x = by_forward_differences(np.atleast_1d(numeric)), np.zeros(np.atleast_1d(numeric).shape)
    return passes(check, f, [x], [np.atleast_1d(analytic)], delta=FORWARD_STEP, **tolerances)


def hips_decides(analytic, numeric, *, rtol, atol):
    """Ask ``autograd.test_util``, which compares one number: here entry by entry."""
    test_util = peer("autograd.test_util", "autograd")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(test_util, "RTOL", rtol)
        patch.setattr(test_util, "TOL", atol)
        pairs = zip(numeric.reshape(-1), analytic.reshape(-1), strict=True)
        return all(test_util.scalar_close(n, a) for n, a in pairs)


def scipy_decides(analytic, numeric, *, rtol, atol):
    """Ask ``scipy.optimize.check_grad``, which knows neither tolerance; atol is the caller's."""
    optimize = peer("scipy.optimize", "scipy")
    f, x = by_forward_differences(numeric.reshape(-1)), np.zeros(numeric.size)
    error = optimize.check_grad(f, lambda x: analytic.reshape(-1), x, epsilon=FORWARD_STEP)
    return error <= atol


def passes(check, *arguments, **knobs):
    """Tell whether a check returns, and not False; a refusal is no pass."""
    try:
        return check(*arguments, **knobs) is not False
    except (AssertionError, ValueError, RuntimeError):
        return False


PEERS = {
    "numpy": numpy_decides,
    "torch": torch_decides,
    "jax": jax_decides,
    "warp": warp_decides,
    "tvm": tvm_decides,
    "hips": hips_decides,
    "scipy": scipy_decides,
}


def otherwise(rule, exchanged=False):
    """Return the descriptions of the vectors of a rule on which its peer decides otherwise."""
    found = set()
    for vector in definite(rule, "Shape"):
        analytic, numeric = gradients(vector)[:: -1 if exchanged else 1]
        if PEERS[rule](analytic, numeric, **tolerances(vector)) != close(vector):
            found.add(vector.description)
    return found


@pytest.mark.parametrize("rule", PEERS)
def test_the_peer_decides_like_the_vectors(rule):
    assert otherwise(rule) == set()


@pytest.mark.parametrize("rule", [rule for rule in PEERS if rule not in ("hips", "scipy")])
def test_the_peer_disagrees_if_analytic_and_numeric_are_swapped(rule):
    assert otherwise(rule, exchanged=True)


def test_tvm_truncates_the_percentage_in_its_message():
    check, told = peer("tvm.testing", "apache-tvm").check_numerical_grads, set()
    for vector in definite("tvm", "Shape"):
        analytic, numeric = gradients(vector)
        if "percent" in vector.expected and not close(vector) and numeric.ndim:
            f, x = by_forward_differences(numeric), np.zeros(numeric.shape)
            with pytest.raises(AssertionError) as failure:
                check(f, [x], [analytic], delta=FORWARD_STEP, **tolerances(vector))
            percent = re.search(r"(\d+)% of elements differ", str(failure.value))[1]
            assert int(percent) == int(float(vector.expected["percent"])), vector
            told.add(percent)
    assert len(told) > 3


# TVM samples f at x, and then once for the forward difference, once more, and twice more.
EVALUATIONS = {2: 1, 3: 2, 5: 4}


def test_tvm_escalates_as_far_as_in_the_vectors():
    check, reached = peer("tvm.testing", "apache-tvm").check_numerical_grads, set()
    for vector in load_vectors("escalate"):
        request, seen = vector.request, []
        if vector.group != "escalate/nominal" or "refused" in vector.expected:
            continue
        values = {float(place): float(value) for place, value in request["samples"]}

        def f(x, values=values, seen=seen):
            seen.append(float(x[0]))
            return values[seen[-1]]

        point, claimed = (np.array([float(request[key])]) for key in ("x", "claimed"))
        passes(check, f, [point], [claimed], delta=float(request["h"]), **tolerances(vector))
        assert EVALUATIONS[len(seen)] == vector.expected["order"], vector
        reached.add(len(seen))
    assert reached == set(EVALUATIONS)
