"""Layers in low precision: which right gradients pass, and which wrong ones are refused.

Run it by hand, with torch: ``python tests/tools/low_precision.py``, which takes three minutes,
and with ``--peers`` six. With names of layers it checks only those, with ``--inside bfloat16`` only
one precision, and with ``-v`` it lists each check that does not say what it should. It prints a
line for each precision.

Nine small layers compute in float32, float16 or bfloat16; their inputs and outputs are float32.
Each is checked with `check_vjp`, and with `check_gradient` as a loss, a random weighted sum of its
outputs. The right gradients are those of torch. A wrong one changes the gradient of one input: it
is doubled, an eighth of it has the other sign, its last row is lost, it is rolled, transposed, or
swapped with that of another input. It counts only if it is off by so much of the length of that
gradient that anybody would call it wrong: 1e-2, 0.1 or 0.2 in the three precisions (`LEAST`).

With ``--peers``, which also needs JAX and SciPy, other checks judge the same claims for the same f:

- torch's ``gradcheck``. It warns that float32 will likely fail, and asks for double precision.
- JAX's ``check_vjp``, which is what ``check_grads`` does in reverse mode.
- SciPy's ``check_grad``, for the losses only. It returns the length of the difference and no
  verdict, so here it refuses if that is more than ``sqrt(eps)`` of the length of the claim, where
  ``eps`` is that of the precision inside f.

Each is run twice. By default it has its own step and tolerances, which depend on the dtype of the
inputs: nothing tells it about 16 bits inside. *Told* has a step for the precision inside, the cube
root of ``eps`` (for SciPy's one-sided differences the square root), and for a tolerance the
smallest mistake that counts, relative and absolute. A user who knows the precision could choose
these. The absolute one fits because outputs and gradients are about 1 here. With ``--scale 1e-3``
they are a thousand times smaller, as the mean over a thousand rows would be.

The layers could also be run in float64, where all of these checks are good. That is better where it
is possible, but it checks another function: it does not see what was written for low precision. All
checks get the same gradients, so no framework's own derivatives are judged.
"""

import argparse
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from gradcheck_ref import check_gradient, check_vjp

Array = np.ndarray
Change = Callable[[Sequence[Array]], tuple[Array, ...]]

# The precisions, with the error of a gradient, relative to its length, from which on it is wrong.
LEAST = {"float32": 1e-2, "float16": 0.1, "bfloat16": 0.2}


# --- layers ------------------------------------------------------------------------------------


def attention(q: Any, k: Any, v: Any) -> Any:
    """Attend to what came before."""
    later = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return scores.masked_fill(later, -torch.inf).softmax(-1) @ v


def rms_norm(x: Any, gain: Any) -> Any:
    """Divide each row by its root mean square."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * gain


def lstm(x: Any, w: Any, u: Any, b: Any) -> Any:
    """Return the last output of a recurrent layer."""
    h = c = x.new_zeros(x.shape[1], u.shape[0])
    for now in x:
        inward, forget, new, out = (now @ w + h @ u + b).chunk(4, -1)
        c = forget.sigmoid() * c + inward.sigmoid() * new.tanh()
        h = out.sigmoid() * c.tanh()
    return h


# By name: a function of tensors, and the shapes of its inputs. A matrix of weights divides by the
# root of its rows, and a gain is near 1.
ROWS, SQUARE, ENTRIES, HEADS = (16, 16), (16, 16), (16,), (4, 16, 8)
LAYERS: dict[str, tuple[Callable[..., Any], dict[str, tuple[int, ...]]]] = {
    "linear_tanh": (
        lambda x, w, b: torch.tanh(x @ w + b),
        {"x": ROWS, "weight": SQUARE, "b": ENTRIES},
    ),
    "attention": (attention, {"q": HEADS, "k": HEADS, "v": HEADS}),
    "layer_norm": (
        lambda x, gain, b: functional.layer_norm(x, x.shape[-1:], gain, b),
        {"x": ROWS, "gain": ENTRIES, "b": ENTRIES},
    ),
    "rms_norm": (rms_norm, {"x": ROWS, "gain": ENTRIES}),
    "gelu_mlp": (
        lambda x, a, b: functional.gelu(x @ a) @ b,
        {"x": ROWS, "weight": (16, 32), "weight2": (32, 16)},
    ),
    "conv": (
        lambda x, w, b: functional.conv2d(x, w, b, padding=1),
        {"x": (2, 3, 4, 4), "kernel": (4, 3, 3, 3), "b": (4,)},
    ),
    "swiglu": (
        lambda x, a, b: functional.silu(x @ a) * (x @ b),
        {"x": ROWS, "weight": SQUARE, "weight2": SQUARE},
    ),
    "lstm": (lstm, {"x": (6, 4, 16), "weight": (16, 64), "weight2": (16, 64), "b": (64,)}),
    "log_softmax": (
        lambda x, w: functional.log_softmax(x @ w, -1),
        {"x": ROWS, "weight": SQUARE},
    ),
}


def drawn(shapes: dict[str, tuple[int, ...]], rng: np.random.Generator) -> Iterator[Array]:
    """Draw inputs in their usual sizes."""
    for name, shape in shapes.items():
        x = rng.normal(size=shape)
        if name.startswith("weight"):
            x /= shape[0] ** 0.5
        elif name == "kernel":
            x /= np.prod(shape[1:]) ** 0.5
        elif name == "gain":
            x = 1 + x / 4
        yield x.astype(np.float32)


class Case(NamedTuple):
    """A function, where it is checked, and its right vjp."""

    name: str
    f: Callable[..., Any]
    x: tuple[Array, ...]
    vjp: Callable[..., tuple[Array, ...]]


def cases(name: str, inside: str, scale: float = 1.0) -> Iterator[Case]:
    """Yield a layer as a function of arrays, and as a loss; scale multiplies the outputs."""
    layer, shapes = LAYERS[name]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    x, low = tuple(drawn(shapes, rng)), getattr(torch, inside)

    def run(tensors: Sequence[Any]) -> Any:
        return layer(*(one.to(low) for one in tensors)).float() * scale

    def f(*arrays: Array) -> Array:
        return run([torch.tensor(one) for one in arrays]).numpy()

    @torch.enable_grad()  # torch's check calls it from a backward pass
    def vjp(upstream: Array, *arrays: Array) -> tuple[Array, ...]:
        leaves = [torch.tensor(one, requires_grad=True) for one in arrays]
        found = torch.autograd.grad(run(leaves), leaves, torch.tensor(upstream))
        return tuple(one.numpy() for one in found)

    weights = rng.normal(size=f(*x).shape).astype(np.float32)
    yield Case(f"{name} {inside}", f, x, vjp)
    yield Case(
        f"loss of {name} {inside}",
        lambda *arrays: np.sum(f(*arrays) * weights),
        x,
        lambda upstream, *arrays: vjp(weights * np.float32(upstream), *arrays),
    )


def remembered(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that keeps its results: peers need the same ones for each claim."""
    kept: dict[Any, Any] = {}

    def once(*arrays: Any) -> Any:
        exact = [np.asarray(one, np.float32) for one in arrays]
        key = b"".join(one.tobytes() for one in exact)
        if key not in kept:
            kept[key] = call(*exact)
        return kept[key]

    return once


# --- mistakes ----------------------------------------------------------------------------------


def with_an_eighth_negated(g: Array) -> Array:
    """Change the sign of the first entries."""
    g = g.copy()
    g.reshape(-1)[: max(1, g.size // 8)] *= -1
    return g


def without_last_row(g: Array) -> Array:
    """Set the last row to zero."""
    g = g.copy()
    g[..., -1, :] = 0
    return g


def mistakes(right: Sequence[Array]) -> Iterator[tuple[str, Change]]:
    """Yield changes of one gradient, linear in upstream as the right ones are."""
    for number, g in enumerate(right):
        slips: dict[str, Callable[[Array], Array]] = {
            "doubled": lambda g: 2 * g,
            "sign of an eighth": with_an_eighth_negated,
        }
        if g.ndim > 1:
            slips["last row lost"] = without_last_row
            slips["rolled"] = lambda g: np.roll(g, 1, -1)
            if g.shape[-1] == g.shape[-2]:
                slips["transposed"] = lambda g: g.swapaxes(-1, -2).copy()
        for slip, change in slips.items():
            yield f"{number} {slip}", changing(number, change)
        for other in range(number):
            if right[other].shape == g.shape:
                yield f"{other} and {number} swapped", swapping(other, number)


def changing(number: int, change: Callable[[Array], Array]) -> Change:
    """Return a change of the gradient of one input."""
    return lambda found: tuple(change(g) if i == number else g for i, g in enumerate(found))


def swapping(one: int, other: int) -> Change:
    """Return a change of two gradients."""
    place = {one: other, other: one}
    return lambda found: tuple(found[place.get(i, i)] for i in range(len(found)))


def claims(case: Case, least: float) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the right vjp, and those wrong ones that are far enough off."""
    yield "right", case.vjp
    rng = np.random.default_rng(0)
    upstream = rng.normal(size=np.shape(case.f(*case.x))).astype(np.float32)
    right = case.vjp(upstream, *case.x)
    for slip, change in mistakes(right):
        off = [
            np.linalg.norm(wrong - g) / np.linalg.norm(g)
            for wrong, g in zip(change(right), right, strict=True)
        ]
        if max(off) >= least:
            yield slip, lambda *args, change=change: change(case.vjp(*args))


# --- checks ------------------------------------------------------------------------------------


def ours(case: Case, vjp: Callable[..., Any]) -> tuple[str, int]:
    """Return the verdict of this check, and its evaluations."""
    if np.ndim(case.f(*case.x)):
        report = check_vjp(case.f, case.x, vjp, progress=False)
    else:
        report = check_gradient(case.f, case.x, lambda *x: vjp(1.0, *x), progress=False)
    return report.verdict, report.evaluations


def by_torch(case: Case, vjp: Callable[..., Any], **options: float) -> bool:
    """Whether torch's gradcheck accepts a claim, as the backward of a Function."""

    class Claimed(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            ctx.save_for_backward(*inputs)
            return torch.tensor(case.f(*(one.detach().numpy() for one in inputs)))

        @staticmethod
        def backward(ctx: Any, upstream: Any) -> Any:
            found = vjp(upstream.numpy(), *(one.detach().numpy() for one in ctx.saved_tensors))
            return tuple(torch.tensor(one) for one in found)

    leaves = [torch.tensor(one, requires_grad=True) for one in case.x]
    return bool(torch.autograd.gradcheck(Claimed.apply, leaves, raise_exception=False, **options))


def by_jax(case: Case, vjp: Callable[..., Any], **options: float) -> bool:
    """Whether JAX's check_vjp accepts a claim; it takes functions of arrays as they are."""
    from jax.test_util import check_vjp as check_vjp_of_jax

    def both(*x: Array) -> tuple[Array, Callable[[Any], Any]]:
        return case.f(*x), lambda upstream: vjp(np.asarray(upstream), *x)

    try:
        check_vjp_of_jax(case.f, both, case.x, **options)
    except AssertionError:
        return False
    return True


def by_scipy(case: Case, vjp: Callable[..., Any], allowed: float, **options: float) -> bool:
    """Whether SciPy's check_grad finds a claim closer than allowed, relative to its length."""
    from scipy.optimize import check_grad

    ends = np.cumsum([one.size for one in case.x])[:-1]

    def f(flat: Array) -> Any:
        parts = np.split(flat, ends)
        return case.f(*(p.reshape(x.shape) for p, x in zip(parts, case.x, strict=True)))

    claim = np.concatenate([one.ravel() for one in vjp(1.0, *case.x)])
    flat = np.concatenate([one.ravel() for one in case.x])
    return bool(check_grad(f, lambda _: claim, flat, **options) <= allowed * np.linalg.norm(claim))


def peers(inside: str) -> Iterator[tuple[str, Callable[..., bool], dict[str, float]]]:
    """Yield the other checks: what prints, the check, and its options."""
    eps, least = float(torch.finfo(getattr(torch, inside)).eps), LEAST[inside]
    close = {"atol": least, "rtol": least}
    central, forward = eps ** (1 / 3), eps ** (1 / 2)
    yield "torch", by_torch, {}
    yield "torch, told", by_torch, {"eps": central, **close}
    yield "JAX", by_jax, {}
    yield "JAX, told", by_jax, {"eps": central, **close}
    yield "SciPy", by_scipy, {"allowed": forward}
    yield "SciPy, told", by_scipy, {"allowed": least, "epsilon": forward}


# --- what is printed ---------------------------------------------------------------------------


def of_this_check(asked: Sequence[str], inside: str, scale: float, verbose: bool) -> str:
    """Check all layers in one precision, and return the line about it."""
    count: Counter[tuple[str, str]] = Counter()
    evaluations = []
    for name in asked:
        for case in cases(name, inside, scale):
            for slip, vjp in claims(case, LEAST[inside]):
                kind = "right" if slip == "right" else "wrong"
                verdict, n = ours(case, vjp)
                count[kind, verdict] += 1
                evaluations.append(n)
                if verbose and (kind, verdict) not in {("right", "pass"), ("wrong", "fail")}:
                    print(f"    {case.name}, {slip}: {verdict}, {n} evaluations", flush=True)
    each = [
        f"{kind} {', '.join(f'{count[kind, one]} {one}' for one in order)}"
        for kind, order in (
            ("right", ("pass", "unsure", "fail")),
            ("wrong", ("fail", "unsure", "pass")),
        )
    ]
    return f"{'; '.join(each)}; median {np.median(evaluations):.0f} evaluations"


def of_peers(asked: Sequence[str], inside: str, scale: float) -> Iterator[str]:
    """Let the other checks judge the same claims, and yield a line for each."""
    checks = list(peers(inside))
    passed: Counter[tuple[str, bool]] = Counter()
    total: Counter[tuple[str, bool]] = Counter()
    for name in asked:
        for case in cases(name, inside, scale):
            case = case._replace(f=remembered(case.f), vjp=remembered(case.vjp))
            scalar = np.ndim(case.f(*case.x)) == 0
            for slip, vjp in claims(case, LEAST[inside]):
                for peer, check, options in checks:
                    if scalar or check is not by_scipy:
                        passed[peer, slip == "right"] += check(case, vjp, **options)
                        total[peer, slip == "right"] += 1
    for peer, _, _ in checks:
        right, wrong = total[peer, True], total[peer, False]
        yield (
            f"{peer}: right {passed[peer, True]} pass of {right}; "
            f"wrong {wrong - passed[peer, False]} refused of {wrong}"
        )


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("layers", nargs="*", metavar="layer", help=", ".join(LAYERS))
    parser.add_argument("--inside", choices=LEAST, help="one precision")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the outputs")
    parser.add_argument("--peers", action="store_true", help="and torch's, JAX's, SciPy's checks")
    parser.add_argument(
        "-v", action="store_true", help="each check that does not say what it should"
    )
    options = parser.parse_args()
    asked = options.layers or list(LAYERS)
    unknown = sorted(set(asked) - LAYERS.keys())
    if unknown:
        parser.error(f"no layer {', '.join(unknown)}: there are {', '.join(LAYERS)}")
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # torch's, about float32
    for inside in [options.inside] if options.inside else LEAST:
        begun = time.perf_counter()
        line = of_this_check(asked, inside, options.scale, options.v)
        print(f"{inside}: {line}, {time.perf_counter() - begun:.0f} s", flush=True)
        for line in of_peers(asked, inside, options.scale) if options.peers else ():
            print(f"    {line}", flush=True)


if __name__ == "__main__":
    main()
