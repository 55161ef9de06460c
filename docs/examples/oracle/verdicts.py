"""The checker of a library as a client of the oracle's verdicts.

    python -m gradcheck_ref oracle test -- python docs/examples/oracle/verdicts.py torch

The library judges the loss, sum(upstream * f), with NumPy's f and the claim as its gradient. Where
the library takes a tolerance, it gets the rtol of the question, and it is asked for one input at a
time, so that its absolute tolerance follows the gradient of that input; "-defaults" is one call as
a user types it. Where the library only estimates, an entry may be off by rtol of the largest of its
input. What the library refuses or cannot do counts as a fail; a claim of another shape is refused
here. CHECKERS says in one line how each is called.
"""

import importlib.metadata
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gradcheck_ref import check_gradient
from gradcheck_ref.oracle.protocol import functions

warnings.simplefilter("ignore")
EPS = np.finfo(float).eps
ONE_SIDED = EPS ** (1 / 2)  # 1.5e-8: rounding and truncation are about equal, as in SciPy
CENTRAL = EPS ** (1 / 3)  # 6.1e-6, for the same reason


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

    def each(self):
        """Yield each input by itself: the loss of it, the input, and the claim for it."""
        for k, (x, claim) in enumerate(zip(self.inputs, self.claimed, strict=True)):

            def loss(moved, k=k):
                return self.loss(*self.inputs[:k], moved, *self.inputs[k + 1 :])

            yield loss, x, claim

    def passes(self, ask):
        """Ask about one input after the other: ask(loss, x, claim)."""
        return all(ask(*one) for one in self.each())

    def is_near(self, estimate):
        """Estimate each gradient, estimate(loss, x) of a row x, and compare it with the claim."""

        def near(loss, x, claim):
            slopes = np.ravel(estimate(lambda row: loss(np.reshape(row, x.shape)), x.ravel()))
            return (abs(claim.ravel() - slopes) <= self.rtol * abs(slopes).max(initial=0.0)).all()

        return self.passes(near)


def by_check_gradient(q):
    """Ask this package."""
    return check_gradient(q.loss, tuple(q.inputs), tuple(q.claimed), rtol=q.rtol).verdict == "pass"


def one_sided(q):
    """Take a forward difference."""

    def estimate(f, x):
        h = ONE_SIDED * np.maximum(1, abs(x))
        return [(f(x + e) - f(x)) / e.sum() for e in np.diag(h)]

    return q.is_near(estimate)


def central(q):
    """Take a central difference."""

    def estimate(f, x):
        h = CENTRAL * np.maximum(1, abs(x))
        return [(f(x + e) - f(x - e)) / (2 * e.sum()) for e in np.diag(h)]

    return q.is_near(estimate)


def torch_function(f, claims):
    """Return a function of torch that computes with NumPy and has the claims as its gradients."""
    import torch

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            return torch.tensor(f(*(x.numpy() for x in inputs)))

        @staticmethod
        def backward(ctx, upstream):
            return tuple(upstream * torch.tensor(claim) for claim in claims)

    return Loss.apply


def torch_gradcheck(f, inputs, claims, **knobs):
    """Ask ``torch.autograd.gradcheck``."""
    import torch

    inputs = [torch.tensor(x, requires_grad=True) for x in inputs]
    return torch.autograd.gradcheck(torch_function(f, claims), inputs, **knobs)


def size(array):
    """Return the largest finite entry, without its sign."""
    return float(abs(array[np.isfinite(array)]).max(initial=0.0))


def torch_at_rtol(q):
    """Ask torch with the rtol of the question, of the largest entry of an input's claim."""
    return q.passes(
        lambda f, x, c: torch_gradcheck(f, [x], [c], rtol=q.rtol, atol=q.rtol * size(c))
    )


def torch_with_step(q):
    """Ask torch with a step that follows x, too."""
    return q.passes(
        lambda f, x, c: torch_gradcheck(
            f, [x], [c], rtol=q.rtol, atol=q.rtol * size(c), eps=CENTRAL * size(x)
        )
    )


def jax_check_vjp(f, inputs, claims, **tolerance):
    """Ask ``jax.test_util.check_vjp``."""
    import jax
    from jax import test_util

    jax.config.update("jax_enable_x64", True)

    def vjp(*inputs):
        return f(*inputs), lambda u: tuple(np.asarray(u) * claim for claim in claims)

    test_util.check_vjp(f, vjp, tuple(inputs), **tolerance)
    return True


def hips_check_grads(q):
    """Ask ``autograd.test_util.check_grads``, whose random direction is the same each time."""
    from autograd import test_util
    from autograd.extend import defvjp, primitive

    loss = primitive(q.loss)
    rules = [lambda _, *inputs, k=k: lambda u: u * q.claimed[k] for k in range(len(q.claimed))]
    defvjp(loss, *rules)
    np.random.seed(0)  # noqa: NPY002, it draws from NumPy's old generator
    test_util.check_grads(loss, modes=["rev"], order=1)(*q.inputs)
    return True


def tvm_check(f, x, claim, **tolerance):
    """Ask ``tvm.testing.check_numerical_grads``, which knows no number without a dimension."""
    from tvm import testing

    rows = [np.atleast_1d(x)], [np.atleast_1d(claim)]
    testing.check_numerical_grads(lambda row: f(np.reshape(row, x.shape)), *rows, **tolerance)
    return True


def warp_gradcheck(f, inputs, claims, **tolerance):
    """Ask ``warp.autograd.gradcheck``; arrays have one dimension or more."""
    import warp as wp
    import warp.autograd

    arrays = [wp.array(np.atleast_1d(x), dtype=wp.float64, requires_grad=True) for x in inputs]

    def loss(*moved):
        rows = (m.numpy().reshape(x.shape) for m, x in zip(moved, inputs, strict=True))
        out = wp.array([f(*rows)], dtype=wp.float64, requires_grad=True)
        tape = wp._src.context.runtime.tape  # the one that records, which has no public name
        if tape:

            def backward():
                for m, claim in zip(moved, claims, strict=True):
                    m.grad.assign(m.grad.numpy() + out.grad.numpy()[0] * np.atleast_1d(claim))

            tape.record_func(backward, [*moved, out])
        return out

    return wp.autograd.gradcheck(
        loss, inputs=arrays, show_summary=False, raise_exception=False, **tolerance
    )


def scipy_check_grad(q):
    """Ask ``scipy.optimize.check_grad``; the caller compares with rtol of the largest claim."""
    from scipy.optimize import check_grad

    def ask(f, x, claim):
        error = check_grad(
            lambda row: f(np.reshape(row, x.shape)), lambda _: claim.ravel(), x.ravel()
        )
        return np.isfinite(error) and error <= q.rtol * size(claim)

    return q.passes(ask)


def scipy_approx_fprime(f, x):
    """Ask ``scipy.optimize.approx_fprime``."""
    from scipy.optimize import approx_fprime

    return approx_fprime(x, f)


def scipy_differentiate(f, x):
    """Ask ``scipy.differentiate.jacobian``."""
    from scipy.differentiate import jacobian

    def many(points):  # (size, ...) -> (...)
        rows = points.reshape(x.size, -1).T
        return np.array([f(row) for row in rows]).reshape(points.shape[1:])

    return jacobian(many, x).df


def statsmodels_approx(f, x, *, centered):
    """Ask ``statsmodels.tools.numdiff.approx_fprime``."""
    from statsmodels.tools.numdiff import approx_fprime

    return approx_fprime(x, f, centered=centered)


def numdifftools_gradient(f, x):
    """Ask ``numdifftools.Gradient``."""
    from numdifftools import Gradient

    return Gradient(f)(x)


@dataclass
class Checker:
    """A row of the page: what is called and how, by whom, in one line."""

    name: str
    package: str
    called: str
    passes: Callable[[Question], bool]


CHECKERS = {
    "check_gradient": Checker(
        "`check_gradient`",
        "gradcheck-ref",
        "check_gradient(loss, inputs, claims, rtol=rtol)",
        by_check_gradient,
    ),
    "one-sided": Checker(
        "a one-sided difference",
        "numpy",
        "(f(x + h e) - f(x)) / h, h = 1.5e-8 max(1, |x|)",
        one_sided,
    ),
    "central": Checker(
        "a central difference",
        "numpy",
        "(f(x + h e) - f(x - h e)) / (2 h), h = 6.1e-6 max(1, |x|)",
        central,
    ),
    "torch-defaults": Checker(
        "torch `gradcheck`, its defaults",
        "torch",
        "gradcheck(loss, inputs)",
        lambda q: torch_gradcheck(q.loss, q.inputs, q.claimed),
    ),
    "torch": Checker(
        "torch `gradcheck`, rtol of the question",
        "torch",
        "gradcheck(loss, x, rtol=rtol, atol=rtol * max|claim|), eps is 1e-6",
        torch_at_rtol,
    ),
    "torch-step": Checker(
        "torch `gradcheck`, rtol of the question, a step that follows x",
        "torch",
        "gradcheck(loss, x, rtol=rtol, atol=rtol * max|claim|, eps=6.1e-6 * max|x|)",
        torch_with_step,
    ),
    "jax-defaults": Checker(
        "JAX `check_vjp`, its defaults",
        "jax",
        "check_vjp(loss, vjp, inputs)",
        lambda q: jax_check_vjp(q.loss, q.inputs, q.claimed),
    ),
    "jax": Checker(
        "JAX `check_vjp`, rtol of the question",
        "jax",
        "check_vjp(loss, vjp, (x,), rtol=rtol, atol=0)",
        lambda q: q.passes(lambda f, x, c: jax_check_vjp(f, [x], [c], rtol=q.rtol, atol=0.0)),
    ),
    "jax-step": Checker(
        "JAX `check_vjp`, rtol of the question, a step that follows x",
        "jax",
        "check_vjp(loss, vjp, (x,), rtol=rtol, atol=0, eps=6.1e-6 * max|x|)",
        lambda q: q.passes(
            lambda f, x, c: jax_check_vjp(f, [x], [c], rtol=q.rtol, atol=0.0, eps=CENTRAL * size(x))
        ),
    ),
    "hips": Checker(
        "HIPS autograd `check_grads`",
        "autograd",
        'check_grads(loss, modes=["rev"], order=1)(*inputs)',
        hips_check_grads,
    ),
    "tvm": Checker(
        "TVM `check_numerical_grads`, rtol of the question",
        "apache-tvm",
        "check_numerical_grads(loss, [x], [claim], rtol=rtol, atol=0), delta is 1e-3",
        lambda q: q.passes(lambda f, x, c: tvm_check(f, x, c, rtol=q.rtol, atol=0.0)),
    ),
    "tvm-step": Checker(
        "TVM `check_numerical_grads`, rtol of the question, a step that follows x",
        "apache-tvm",
        "check_numerical_grads(loss, [x], [claim], rtol=rtol, atol=0, delta=1.2e-5 * max|x|)",
        lambda q: q.passes(
            lambda f, x, c: tvm_check(f, x, c, rtol=q.rtol, atol=0.0, delta=2 * CENTRAL * size(x))
        ),
    ),
    "warp": Checker(
        "Warp `gradcheck`, rtol of the question",
        "warp-lang",
        "gradcheck(loss, inputs=[x], rtol=rtol, atol=rtol * max|claim|), eps is 1e-4",
        lambda q: q.passes(
            lambda f, x, c: warp_gradcheck(f, [x], [c], rtol=q.rtol, atol=q.rtol * size(c))
        ),
    ),
    "warp-step": Checker(
        "Warp `gradcheck`, rtol of the question, a step that follows x",
        "warp-lang",
        "gradcheck(loss, inputs=[x], rtol=rtol, atol=rtol * max|claim|, eps=6.1e-6 * max|x|)",
        lambda q: q.passes(
            lambda f, x, c: warp_gradcheck(
                f, [x], [c], rtol=q.rtol, atol=q.rtol * size(c), eps=CENTRAL * size(x)
            )
        ),
    ),
    "check_grad": Checker(
        "SciPy `check_grad`",
        "scipy",
        "check_grad(loss, gradient, x) <= rtol * max|claim|",
        scipy_check_grad,
    ),
    "approx_fprime": Checker(
        "SciPy `approx_fprime`",
        "scipy",
        "approx_fprime(x, loss)",
        lambda q: q.is_near(scipy_approx_fprime),
    ),
    "differentiate": Checker(
        "SciPy `differentiate.jacobian`",
        "scipy",
        "jacobian(loss, x).df",
        lambda q: q.is_near(scipy_differentiate),
    ),
    "statsmodels": Checker(
        "statsmodels `approx_fprime`",
        "statsmodels",
        "approx_fprime(x, loss)",
        lambda q: q.is_near(lambda f, x: statsmodels_approx(f, x, centered=False)),
    ),
    "statsmodels-centered": Checker(
        "statsmodels `approx_fprime`, centered",
        "statsmodels",
        "approx_fprime(x, loss, centered=True)",
        lambda q: q.is_near(lambda f, x: statsmodels_approx(f, x, centered=True)),
    ),
    "numdifftools": Checker(
        "numdifftools `Gradient`",
        "numdifftools",
        "Gradient(loss)(x)",
        lambda q: q.is_near(numdifftools_gradient),
    ),
}


def read(value):
    """Read reals, which are strings; labels are integers already."""
    if isinstance(value, list):
        return [read(v) for v in value]
    return float(value) if isinstance(value, str) else value


def verdict(passes, request):
    """Return the verdict of a checker."""
    q = Question(request)
    if any(claim.shape != x.shape for claim, x in zip(q.claimed, q.inputs, strict=True)):
        return "fail"
    try:
        return "pass" if passes(q) else "fail"
    except (ArithmeticError, AssertionError, IndexError, RuntimeError, TypeError, ValueError):
        return "fail"


def main(name):
    """Answer one line after the other."""
    checker, replies = CHECKERS[name], sys.stdout
    sys.stdout = sys.stderr  # for what a library prints
    said = f"{checker.package} {importlib.metadata.version(checker.package)} {name}"
    hello = {"protocol": 1, "name": said, "answers": ["verdict"]}
    for line in sys.stdin:
        request = json.loads(line)
        asked = request["ask"] == "verdict"
        with np.errstate(all="ignore"):
            reply = {"verdict": verdict(checker.passes, request)} if asked else hello
        print(json.dumps({"id": request["id"], **reply}), file=replies, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
