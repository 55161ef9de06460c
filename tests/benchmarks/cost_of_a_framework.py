"""How long a check of a framework's function takes, beside the framework's own check.

Run it by hand: ``python tests/benchmarks/cost_of_a_framework.py [torch] [jax]``. Each is checked as
by somebody who checks a function once: it is adapted anew every time. Both are timed in turns, and
the best of each counts, in processor time: on a busy machine only what is short has the luck not to
be interrupted. ``jax.test_util.check_grads``
looks along one random line, backward alone and both ways (which is its default); torch's gradcheck
at every entry; ours at every entry, or along 20 lines that hold all of them. A ratio below 1 says
that ours is the faster one. *At first* is the first check of all, where JAX compiles every
operation for the shapes it meets, for check_grads and for ours, each from empty caches.
"""

import importlib.util
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcheck_ref import check_vjp
from gradcheck_ref.adapters import from_jax, from_torch

SIZES = (3, 30, 100, 1000)
MOST_OUTPUTS = 100
REPEATS = 6


def functions(m: Any, softmax: Callable[..., Any], size: int) -> dict[str, Callable[..., Any]]:
    """Return a scalar, a vector and a small net, of torch or jax.numpy."""
    weights = np.random.default_rng(0).normal(size=(size, 20))
    weights = m.asarray(weights)
    table = {
        "scalar": lambda x: m.sum(m.tanh(x) ** 2) * m.exp(-x[0]),
        "vector": lambda x: m.tanh(x) * m.exp(-x[0]),
        "net": lambda x: m.sum(softmax(m.tanh(x @ weights), -1) ** 2),
    }
    if size > MOST_OUTPUTS:
        del table["vector"]
    return table


def milliseconds(work: Callable[[], Any]) -> float:
    """Time one call."""
    start = time.process_time()
    work()
    return 1e3 * (time.process_time() - start)


def in_turns(*works: Callable[[], Any]) -> list[float]:
    """Time each as often as the others, one after the other, and return the best of each."""
    rounds = [[milliseconds(work) for work in works] for _ in range(REPEATS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def ours(adapt: Callable[..., Any], fn: Callable[..., Any], x: np.ndarray) -> None:
    """Check a function that nobody has met before."""
    assert check_vjp(adapt(lambda x: fn(x)), x)


def measure_torch() -> None:
    """Print a row for each function of torch."""
    import torch

    print(f"{'torch':16}{'gradcheck':>12}{'ours':>12}{'ratio':>8}")
    for size in SIZES:
        x = np.linspace(0.1, 1, size)
        for name, fn in functions(torch, torch.softmax, size).items():

            def theirs(fn: Any = fn, x: np.ndarray = x) -> None:
                leaf = torch.tensor(x, requires_grad=True)
                assert torch.autograd.gradcheck(fn, (leaf,))

            them, us = in_turns(theirs, lambda fn=fn, x=x: ours(from_torch, fn, x))
            print(f"{name:8}{size:8}{them:9.1f} ms{us:9.1f} ms{us / them:8.2f}", flush=True)


def measure_jax() -> None:
    """Print a row for each function of JAX."""
    import jax
    from jax.test_util import check_grads

    jax.config.update("jax_enable_x64", True)
    print(
        f"{'JAX':16}{'check_grads':>12}{'both ways':>12}{'ours':>12}{'ratio':>8}{'both':>6}"
        f"   {'at first':>10}{'ours':>10}{'ratio':>8}"
    )
    for size in SIZES:
        x = np.linspace(0.1, 1, size)
        for name, fn in functions(jax.numpy, jax.nn.softmax, size).items():

            def one_way(fn: Any = fn, x: np.ndarray = x) -> None:
                check_grads(fn, (x,), 1, modes=("rev",))

            def both_ways(fn: Any = fn, x: np.ndarray = x) -> None:
                check_grads(fn, (x,), 1)

            def mine(fn: Any = fn, x: np.ndarray = x) -> None:
                ours(from_jax, fn, x)

            cold = []
            for work in (one_way, mine):
                jax.clear_caches()
                cold.append(milliseconds(work))
            one, both, us = in_turns(one_way, both_ways, mine)
            print(
                f"{name:8}{size:8}{one:9.1f} ms{both:9.1f} ms{us:9.1f} ms{us / one:8.2f}"
                f"{us / both:6.2f}   {cold[0]:7.0f} ms{cold[1]:7.0f} ms{cold[1] / cold[0]:8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    measures = {"torch": measure_torch, "jax": measure_jax}
    for module in sys.argv[1:] or measures:
        if importlib.util.find_spec(module) is None:
            print(f"{module}: not installed")
        else:
            measures[module]()
