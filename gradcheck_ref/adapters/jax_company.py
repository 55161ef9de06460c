"""The circumstances in which a rule of JAX is asked again; see `check.claim.company`."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from gradcheck_ref.check.claim.company import (
    NEARBY,
    OTHERWISE,
    Circumstance,
    Company,
    DoesNotApplyError,
    alike,
    in_company,
    several,
    size_of,
    tolerance,
)
from gradcheck_ref.check.knobs import RTOL

Both = tuple[list[Any], list[Any]]
Transformed = tuple[Callable[..., Any], tuple[Any, Any], list[Any]]

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
        self.scale = max(size_of(self.base), RTOL * size_of(outputs))

    def moving(self, *point: Any) -> list[Any]:
        """Return the outputs that have a derivative."""
        return [one for one in self.call(list(point)) if one.dtype.kind in "fc"]

    def pull(self, fn: Any = None, point: Any = None) -> Any:
        """Return the pull-back of a function, by default this one, at a point."""
        return self.jax.vjp(fn or self.moving, *(self.point if point is None else point))[1]

    def gradient(self, fn: Any = None, point: Any = None, upstreams: Any = None) -> list[Any]:
        """Return the gradients as arrays."""
        return arrays(self.pull(fn, point)(self.upstreams if upstreams is None else upstreams))


def arrays(given: Any) -> list[Any]:
    """Return arrays of NumPy with their own memory."""
    return [np.array(one) for one in given]


def _two_forwards(s: JaxArrays) -> Both:
    """Call the function at another point before the pull-back: reversed, or at one nearby."""
    pull = s.pull()
    for order in (s.jax.numpy.flip, s.jax.numpy.asarray):
        with suppress(Exception):  # it may refuse that point
            s.pull(point=[order(one) * NEARBY for one in s.point])
            break
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
    """Give one array for several inputs."""

    def ask(same: tuple[int, ...]) -> Both:
        point = [s.point[same[0]] if k in same else one for k, one in enumerate(s.point)]
        wanted = s.gradient(point=point)

        def once(x: Any) -> list[Any]:
            return s.moving(*(x if k in same else one for k, one in enumerate(point)))

        return [sum(wanted[k] for k in same)], s.gradient(once, [point[same[0]]])

    return several(s, ask, alike({k: (one.shape, one.dtype) for k, one in enumerate(s.point)}))


# --- transformations: a function, its arguments, and the right result -----------------------------


def _both(s: JaxArrays, fn: Any = None) -> Callable[[Any, Any], Any]:
    """Return the gradients of a function as a function, to be transformed by JAX."""
    return lambda point, upstreams: list(s.pull(fn, point)(upstreams))


def _jit(s: JaxArrays) -> Transformed:
    """Compile the gradient."""
    return s.jax.jit(_both(s)), (s.point, s.upstreams), s.base


def _vmap(s: JaxArrays) -> Transformed:
    """Send two points and two upstreams through together."""
    nearby = [x * NEARBY for x in s.point]
    others = [u * OTHERWISE for u in s.upstreams]
    pairs = zip(s.base, s.gradient(None, nearby, others), strict=True)
    wanted = [np.stack(pair) for pair in pairs]
    points, upstreams = (
        [s.jax.numpy.stack(pair) for pair in zip(*two, strict=True)]
        for two in ((s.point, nearby), (s.upstreams, others))
    )
    return s.jax.vmap(_both(s)), (points, upstreams), wanted


def _scan(s: JaxArrays) -> Transformed:
    """Run the function as the body of a scan of one step, as a layer of a network is."""

    def body(carry: Any, _: Any) -> Any:
        return carry, s.moving(*carry)

    def scanned(*xs: Any) -> list[Any]:
        return [one[0] for one in s.jax.lax.scan(body, list(xs), None, length=1)[1]]

    return _both(s, scanned), (s.point, s.upstreams), s.base


def _checkpoint(s: JaxArrays) -> Transformed:
    """Run the forward again in the backward."""
    return _both(s, s.jax.checkpoint(s.moving)), (s.point, s.upstreams), s.base


def _transformed(
    name: str, transform: Callable[[JaxArrays], Transformed], when: str, cure: str
) -> Iterator[Circumstance]:
    """Yield a circumstance that only traces, so that nothing is compiled, and one that computes."""

    def traced(s: JaxArrays) -> Both:
        fn, arguments, _ = transform(s)
        s.jax.make_jaxpr(fn)(*arguments)
        return [], []  # it may only raise

    def computed(s: JaxArrays) -> Both:
        fn, arguments, wanted = transform(s)
        return wanted, arrays(fn(*arguments))

    yield Circumstance(name, traced, when, cure)
    yield Circumstance(f"{name}, computed", computed, when, cure, thorough=True)


RESIDUALS = "take what bwd needs from the residuals, and not from anywhere else"
IN_ANOTHER_CALL = (
    Circumstance("two forwards", _two_forwards,
                 "the function is called again before the pull-back", RESIDUALS),
    Circumstance("one input moves", _one_input, "the other inputs are constants",
                 "look at the right symbolic zero, or at perturbed of the right input"),
    Circumstance("one output used", _one_output, "the loss uses one output only",
                 "the cotangent of an output that is not used is zeros"),
    Circumstance("same array twice", _same_twice, "f(x, x) gets one array for two inputs",
                 "do not tell inputs apart by identity"),
)  # fmt: skip
TRANSFORMED = (
    *_transformed("under jit", _jit, "it runs under jax.jit",
                  "do not look at numbers with if, float() or NumPy in a rule"),
    *_transformed("under vmap", _vmap, "it runs under jax.vmap",
                  "give a callback a vmap_method, and keep the examples of a batch apart"),
    *_transformed("inside scan", _scan, "it runs inside lax.scan",
                  "pass every traced array to the custom_vjp as an argument"),
    *_transformed("under checkpoint", _checkpoint, "it runs under jax.checkpoint", RESIDUALS),
)  # fmt: skip


def company_of_jax(
    jax: Any, call: Callable[..., Any], point: list[Any], everything: bool, change: float
) -> Company:
    """Try the circumstances of a function of JAX arrays that has rules of its own, or a callback.

    If it cannot be traced, it is not made for transformations.
    """
    circumstances = [*IN_ANOTHER_CALL, *TRANSFORMED]
    try:
        traced = str(jax.make_jaxpr(call)(point))
        if not everything and not any(word in traced for word in WRITTEN):
            return Company()
    except Exception:  # of many types: it branches on values, say
        circumstances = [*IN_ANOTHER_CALL]
    subject = JaxArrays(jax, call, point, change)
    if not subject.upstreams:
        return Company()
    return in_company(subject, [one for one in circumstances if everything or not one.thorough])
