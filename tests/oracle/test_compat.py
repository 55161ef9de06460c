"""The peers' functions that people call, in `gradcheck_ref.compat`, held against the vectors.

`oracle answer` states the rules of the peers as they are. What is in ``compat`` differs from them
on purpose in a few places: the vectors that show it are listed here, and must show it.
"""

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

from gradcheck_ref.compat import torch, tvm, warp

# What is not finite agrees with nothing, and nothing compared is no pass.
DIFFERS = {
    "torch": {
        "inf against inf",
        "-inf against -inf, and another is right",
        "no entries",
        "no entries, rtol 0, atol 0",
        "no entries, rtol 16, atol 1e+300",
    },
    "warp": {
        "inf against inf",
        "-inf against -inf, and another is right",
        "the error overflows, the allowance too",
        "inf against 1e308, whose allowance overflows",
    },
    "tvm": set(),
}


def passing(gradcheck, **knobs):
    """Ask compat's ``gradcheck`` of torch or Warp."""

    def passes(f, x, claimed, **tolerances):
        knobs["vjp"] = lambda upstream, x: np.where(upstream, claimed, 0.0)
        return gradcheck(f, x, eps=CENTRAL_STEP, raise_exception=False, **knobs, **tolerances)

    return passes


def tvm_passes(f, x, claimed, **tolerances):
    """Ask compat's ``tvm.check_numerical_grads``."""
    tvm.check_numerical_grads(f, [x], [claimed], delta=FORWARD_STEP, **tolerances)
    return True


CHECKS = {
    "torch": (passing(torch.gradcheck, check_undefined_grad=False), by_central_differences),
    "warp": (passing(warp.gradcheck, show_summary=False), by_central_differences),
    "tvm": (tvm_passes, by_forward_differences),
}


def passes(rule, vector):
    """Tell whether a check passes; what it refuses it does not pass."""
    check, function = CHECKS[rule]
    analytic, numeric = gradients(vector)
    try:
        return check(function(numeric), np.zeros(numeric.shape), analytic, **tolerances(vector))
    except (AssertionError, ValueError):
        return False


@pytest.mark.one_in(3)
@pytest.mark.parametrize("rule", CHECKS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_compat_decides_like_its_peer_except_for_deliberate_differences(rule):
    other = {v.description for v in definite(rule) if passes(rule, v) != close(v)}
    assert other == DIFFERS[rule]
