"""The circumstances in which a rule of JAX is asked again; see `check.claim.company`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcheck_ref.check.claim.company import (
    ALL_ROUNDING,
    NEARBY,
    OTHERWISE,
    Circumstance,
    Company,
    DoesNotApplyError,
    alike_pair,
    in_company,
    size_of,
    tolerance,
)

Both = tuple[list[Any], list[Any]]

# The words of a traced function that may have more than JAX's own rules.
WRITTEN = "custom_vjp_call", "custom_jvp_call", "callback"


class JaxArrays:
    """A function of JAX arrays at a point, with its gradient in the plain circumstance.

    Parameters
    ----------
    jax : module
        JAX.
    call : callable
        Takes the list of arrays to differentiate, and returns a tuple of outputs.
    point : list
        These arrays.
    change : float
        How much the gradient may change from call to call.
    """

    def __init__(
        self, jax: Any, call: Callable[[list[Any]], Any], point: list[Any], change: float
    ) -> None:
        self.jax, self.call, self.point = jax, call, point
        rng = np.random.default_rng(0)
        outputs = self.moving(*point)
        self.upstreams = [jax.numpy.asarray(rng.normal(size=y.shape), y.dtype) for y in outputs]
        eps = max(float(jax.numpy.finfo(one.dtype).eps) for one in (*point, *outputs))
        self.tolerance = tolerance(eps, change)
        self.base = self.gradient()
        self.scale = max(size_of(self.base), ALL_ROUNDING * size_of(outputs))

    def moving(self, *point: Any) -> list[Any]:
        """Return the outputs that have a derivative."""
        return [one for one in self.call(list(point)) if one.dtype.kind in "fc"]

    def pull(self, fn: Any = None, point: Any = None) -> Any:
        """Return the pull-back of a function, by default this one, at a point."""
        return self.jax.vjp(fn or self.moving, *(self.point if point is None else point))[1]

    def gradient(self, fn: Any = None, point: Any = None, upstreams: Any = None) -> list[Any]:
        """Return the gradients as arrays."""
        return arrays(self.pull(fn, point)(self.upstreams if upstreams is None else upstreams))

    def traced(self, fn: Callable[..., Any], *arguments: Any) -> Both:
        """Trace a function, which compiles nothing: nothing can differ, but it may raise."""
        self.jax.make_jaxpr(fn)(*arguments)
        return [], []

    def both(self, point: list[Any], upstreams: list[Any]) -> list[Any]:
        """Return the gradients, to be transformed by JAX."""
        return list(self.pull(None, point)(upstreams))

    def two(self) -> tuple[list[Any], list[Any]]:
        """Return two points and two upstreams, stacked, for `both`."""
        stack = self.jax.numpy.stack
        points = [stack([one, one * NEARBY]) for one in self.point]
        return points, [stack([one, one * OTHERWISE]) for one in self.upstreams]


def arrays(given: Any) -> list[Any]:
    """Return arrays of NumPy with their own memory."""
    return [np.array(one) for one in given]


def _two_forwards(s: JaxArrays) -> Both:
    """Call the function at a nearby point before the pull-back."""
    pull = s.pull()
    s.pull(point=[one * NEARBY for one in s.point])
    return s.base, arrays(pull(s.upstreams))


def _one_input(s: JaxArrays) -> Both:
    """Differentiate one input only; the others are closed over."""
    if len(s.point) < 2:
        raise DoesNotApplyError
    got = []
    for k, x in enumerate(s.point):
        got += s.gradient(lambda one, k=k: s.moving(*s.point[:k], one, *s.point[k + 1 :]), [x])
    return s.base, got


def _one_output(s: JaxArrays) -> Both:
    """Use each output alone."""
    if len(s.upstreams) < 2:
        raise DoesNotApplyError
    alone = [
        s.gradient(lambda *xs, j=j: [s.moving(*xs)[j]], upstreams=[one])
        for j, one in enumerate(s.upstreams)
    ]
    return s.base, [sum(column) for column in zip(*alone, strict=True)]


def _same_twice(s: JaxArrays) -> Both:
    """Give one array for two inputs."""
    i, j = alike_pair({k: (one.shape, one.dtype) for k, one in enumerate(s.point)})
    point = [s.point[i] if k == j else one for k, one in enumerate(s.point)]
    wanted = s.gradient(point=point)

    def once(x: Any) -> list[Any]:
        return s.moving(*(x if k in (i, j) else one for k, one in enumerate(point)))

    return [wanted[i] + wanted[j]], s.gradient(once, [point[i]])


def _scanned(s: JaxArrays) -> Callable[..., list[Any]]:
    """Return the function as the body of a scan of one step, as a layer of a network is."""

    def body(carry: Any, _: Any) -> Any:
        return carry, s.moving(*carry)

    def scanned(*xs: Any) -> list[Any]:
        return [one[0] for one in s.jax.lax.scan(body, list(xs), None, length=1)[1]]

    return scanned


def _traced_jit(s: JaxArrays) -> Both:
    """Trace the gradient, as jax.jit does."""
    return s.traced(s.both, s.point, s.upstreams)


def _traced_vmap(s: JaxArrays) -> Both:
    """Trace the gradient for two points and two upstreams at once."""
    return s.traced(s.jax.vmap(s.both), *s.two())


def _traced_scan(s: JaxArrays) -> Both:
    """Trace the gradient of a scan of one step."""
    return s.traced(lambda *xs: s.pull(_scanned(s), xs)(s.upstreams), *s.point)


def _traced_checkpoint(s: JaxArrays) -> Both:
    """Trace the gradient under jax.checkpoint."""
    return s.traced(lambda *xs: s.pull(s.jax.checkpoint(s.moving), xs)(s.upstreams), *s.point)


def _jit(s: JaxArrays) -> Both:
    """Compile the gradient."""
    return s.base, arrays(s.jax.jit(s.both)(s.point, s.upstreams))


def _vmap(s: JaxArrays) -> Both:
    """Send two points and two upstreams through together."""
    nearby = s.gradient(None, [x * NEARBY for x in s.point], [OTHERWISE * u for u in s.upstreams])
    wanted = [np.stack(pair) for pair in zip(s.base, nearby, strict=True)]
    return wanted, arrays(s.jax.vmap(s.both)(*s.two()))


def _scan(s: JaxArrays) -> Both:
    """Run the function as the body of a scan of one step."""
    return s.base, s.gradient(_scanned(s))


def _checkpoint(s: JaxArrays) -> Both:
    """Run the forward again in the backward."""
    return s.base, s.gradient(s.jax.checkpoint(s.moving))


RESIDUALS = "take what bwd needs from the residuals, and not from anywhere else"
LOOKS = "do not look at numbers with if, float() or NumPy in a rule"
CIRCUMSTANCES = (
    Circumstance("two forwards", _two_forwards,
                 "the function is called again before the pull-back", RESIDUALS),
    Circumstance("one input moves", _one_input, "the other inputs are constants",
                 "look at the right symbolic zero, or at perturbed of the right input"),
    Circumstance("one output used", _one_output, "the loss uses one output only",
                 "the cotangent of an output that is not used is zeros"),
    Circumstance("same array twice", _same_twice, "f(x, x) gets one array for two inputs",
                 "do not tell inputs apart by identity"),
    Circumstance("under jit", _traced_jit, "it runs under jax.jit", LOOKS),
    Circumstance("under vmap", _traced_vmap, "it runs under jax.vmap",
                 "give a callback a vmap_method"),
    Circumstance("inside scan", _traced_scan, "it runs inside lax.scan",
                 "pass every traced array to the custom_vjp as an argument"),
    Circumstance("under checkpoint", _traced_checkpoint, "it runs under jax.checkpoint", RESIDUALS),
    Circumstance("compiled", _jit, "it runs under jax.jit", LOOKS, thorough=True),
    Circumstance("several at once", _vmap, "it runs under jax.vmap",
                 "do not mix the examples of a batch in a rule or a callback", thorough=True),
    Circumstance("scanned", _scan, "it runs inside lax.scan", RESIDUALS, thorough=True),
    Circumstance("checkpointed", _checkpoint, "it runs under jax.checkpoint", RESIDUALS,
                 thorough=True),
)  # fmt: skip


def company_of_jax(
    jax: Any, call: Callable[..., Any], point: list[Any], everything: bool, change: float
) -> Company:
    """Try the circumstances of a function of JAX arrays that has rules of its own, or a callback.

    Nothing is tried if it cannot be traced: then it is not made for any of them.
    """
    try:
        traced = str(jax.make_jaxpr(call)(point))
    except Exception:
        return Company()
    if not everything and not any(word in traced for word in WRITTEN):
        return Company()
    subject = JaxArrays(jax, call, point, change)
    if not subject.upstreams:
        return Company()
    tried = [one for one in CIRCUMSTANCES if everything or not one.thorough]
    return in_company(subject, tried)
