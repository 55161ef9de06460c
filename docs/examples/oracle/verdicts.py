"""The checker of a library as a client of the oracle's verdicts.

    python -m gradcheck_ref oracle test -- python docs/examples/oracle/verdicts.py torch

The library judges the loss, sum(upstream * f), with NumPy's f and the claim as its gradient. Where
the library takes a tolerance, it gets the rtol of the question; "-defaults" leaves it as it is.
Where the library only estimates, an entry may be off by rtol of the largest. What the library
refuses or cannot do counts as a fail; a claim of another shape is refused here.
"""

import importlib.metadata
import json
import sys
import warnings

import numpy as np

from gradcheck_ref.oracle.protocol import functions

warnings.simplefilter("ignore")
STEP = 1.5e-8  # the square root of a double's epsilon, as in scipy


class Question:
    """The loss of a question, its inputs, the claimed gradients and the tolerance."""

    def __init__(self, request):
        self.given = [np.array(read(x)) for x in request["inputs"]]
        self.moved = [k for k, x in enumerate(self.given) if x.dtype.kind == "f"]
        self.inputs = [self.given[k] for k in self.moved]
        self.claimed = [np.array(read(request["claimed"][k])) for k in self.moved]
        self.upstream, self.rtol = np.array(read(request["upstream"])), float(request["rtol"])
        self.f = functions()[request["function"]]

    def loss(self, *inputs):
        """Return the loss, with the constants in their places."""
        given = list(self.given)
        for k, x in zip(self.moved, inputs, strict=True):
            given[k] = np.array(x, float)
        return np.sum(self.upstream * self.f(*given))

    def one(self):
        """Return the loss of one flat vector, the vector, and the claim for it."""
        splits = np.cumsum([x.size for x in self.inputs])[:-1]

        def loss(flat):
            parts = np.split(np.asarray(flat), splits)
            return self.loss(*(p.reshape(x.shape) for p, x in zip(parts, self.inputs, strict=True)))

        return loss, *(np.concatenate([a.ravel() for a in s]) for s in (self.inputs, self.claimed))

    def is_close(self, estimate):
        """Compare each input's claim with an estimate: off by at most rtol of the largest."""
        splits = np.cumsum([x.size for x in self.inputs])[:-1]
        return all(
            (np.abs(claim.ravel() - part) <= self.rtol * np.abs(part).max(initial=0.0)).all()
            for claim, part in zip(self.claimed, np.split(estimate, splits), strict=True)
        )


def one_sided(q):
    """Take a forward difference with a fixed step."""
    loss, x, _ = q.one()
    here = loss(x)
    return q.is_close(np.array([(loss(x + STEP * e) - here) / STEP for e in np.eye(x.size)]))


def torch_gradcheck(q, **tolerance):
    """Ask ``torch.autograd.gradcheck``."""
    import torch

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            return torch.tensor(q.loss(*(x.numpy() for x in inputs)))

        @staticmethod
        def backward(ctx, upstream):
            return tuple(upstream * torch.tensor(claim) for claim in q.claimed)

    inputs = [torch.tensor(x, requires_grad=True) for x in q.inputs]
    return torch.autograd.gradcheck(Loss.apply, inputs, **tolerance)


def torch_at_rtol(q):
    """Ask torch with the rtol of the question, of the largest entry."""
    atol = q.rtol * max((np.abs(c).max(initial=0.0) for c in q.claimed), default=0.0)
    return torch_gradcheck(q, rtol=q.rtol, atol=float(atol))


def jax_check_vjp(q, **tolerance):
    """Ask ``jax.test_util.check_vjp``."""
    import jax
    from jax import test_util

    jax.config.update("jax_enable_x64", True)

    def vjp(*inputs):
        return q.loss(*inputs), lambda u: tuple(np.asarray(u) * claim for claim in q.claimed)

    test_util.check_vjp(q.loss, vjp, tuple(q.inputs), **tolerance)
    return True


def hips_check_grads(q):
    """Ask ``autograd.test_util.check_grads``."""
    from autograd import test_util
    from autograd.extend import defvjp, primitive

    loss = primitive(q.loss)
    rules = [lambda _, *inputs, k=k: lambda u: u * q.claimed[k] for k in range(len(q.claimed))]
    defvjp(loss, *rules)
    test_util.check_grads(loss, modes=["rev"], order=1)(*q.inputs)
    return True


def scipy_check_grad(q):
    """Ask ``scipy.optimize.check_grad``; the caller compares with rtol of the claim's length."""
    from scipy.optimize import check_grad

    loss, x, claim = q.one()
    return check_grad(loss, lambda _: claim, x) <= q.rtol * np.linalg.norm(claim)


def scipy_approx_fprime(q):
    """Ask ``scipy.optimize.approx_fprime``."""
    from scipy.optimize import approx_fprime

    loss, x, _ = q.one()
    return q.is_close(approx_fprime(x, loss))


def scipy_differentiate(q):
    """Ask ``scipy.differentiate.jacobian``."""
    from scipy.differentiate import jacobian

    loss, x, _ = q.one()

    def many(points):  # (size, ...) -> (...)
        flat = points.reshape(x.size, -1).T
        return np.array([loss(point) for point in flat]).reshape(points.shape[1:])

    return q.is_close(np.atleast_1d(jacobian(many, x).df).ravel())


CHECKERS = {
    "one-sided": (one_sided, "numpy"),
    "torch-defaults": (torch_gradcheck, "torch"),
    "torch": (torch_at_rtol, "torch"),
    "jax-defaults": (jax_check_vjp, "jax"),
    "jax": (lambda q: jax_check_vjp(q, rtol=q.rtol, atol=0.0), "jax"),
    "hips": (hips_check_grads, "autograd"),
    "check_grad": (scipy_check_grad, "scipy"),
    "approx_fprime": (scipy_approx_fprime, "scipy"),
    "differentiate": (scipy_differentiate, "scipy"),
}


def read(value):
    """Read reals, which are strings; labels are integers already."""
    if isinstance(value, list):
        return [read(v) for v in value]
    return float(value) if isinstance(value, str) else value


def verdict(check, request):
    """Return the verdict of a checker."""
    q = Question(request)
    if any(claim.shape != x.shape for claim, x in zip(q.claimed, q.inputs, strict=True)):
        return "fail"
    try:
        return "pass" if check(q) else "fail"
    except (ArithmeticError, AssertionError, RuntimeError, TypeError, ValueError):
        return "fail"


def main(name):
    """Answer one line after the other."""
    check, package = CHECKERS[name]
    said = f"{package} {importlib.metadata.version(package)} {name}"
    hello = {"protocol": 1, "name": said, "answers": ["verdict"]}
    for line in sys.stdin:
        request = json.loads(line)
        with np.errstate(all="ignore"):
            reply = {"verdict": verdict(check, request)} if request["ask"] == "verdict" else hello
        print(json.dumps({"id": request["id"], **reply}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
