"""What a check costs: in forward passes, in gradients, and beside torch's own check.

Run it by hand, with torch: ``python tests/tools/cost_of_a_check.py``, which takes two minutes; with
the names of some figures, only those. It prints one line for each figure:

- ``memory``: a transformer of 20 million weights. The largest memory of the check beyond that of
  one forward and backward pass, in gradients. It comes first: later the peak may be older.
- ``forward``: a transformer of 929,536 weights with a scalar loss, in float64. The time of
  `check_module`, in bare forward passes times evaluations. Also the number of backward passes.
- ``long``: the same with a forward pass of 50 ms or more.
- ``custom``: a product of matrices as a custom ``Function``, with a tanh and without. The forward
  passes and the time of both checks.
- ``small``: ten small functions. The time of ``check_vjp(from_torch(f), x)`` in that of torch's
  ``gradcheck``, both warm: the median over the functions.

All are ratios within one run, because machines differ. Torch uses one thread, and time is that of
the processor: others may keep the machine busy.
"""

import argparse
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import torch

from gradcheck_ref import check_vjp
from gradcheck_ref.adapters import check_module, from_torch

# Vocabulary, context, width, blocks, batch.
SMALL, LONG, LARGE = (500, 64, 128, 4, 1), (500, 64, 128, 4, 16), (2000, 64, 512, 6, 1)
HEADS = 4


# --- a transformer -----------------------------------------------------------------------------


def transformer(vocabulary: int, context: int, width: int, blocks: int) -> Any:
    """Return a small GPT, in double precision."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.l1, self.l2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            parts = self.qkv(self.a(x)).chunk(3, -1)
            q, k, v = (one.unflatten(-1, (HEADS, -1)).transpose(1, 2) for one in parts)
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).flatten(2))
            return x + self.l2(nn.functional.gelu(self.l1(self.b(x))))

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
            self.h = nn.Sequential(*(Block() for _ in range(blocks)))
            self.f, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

        def forward(self, ids: Any) -> Any:
            x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
            return self.head(self.f(self.h(x)))

    torch.manual_seed(0)
    return Model().double()


def task(size: tuple[int, ...]) -> tuple[Any, Any, Callable[[Any], Any]]:
    """Return a module, its input and its loss."""
    vocabulary, context, width, blocks, batch = size
    module = transformer(vocabulary, context, width, blocks)
    ids = torch.randint(0, vocabulary, (batch, context + 1))
    targets = ids[:, 1:]
    return (
        module,
        ids[:, :-1].numpy(),
        lambda output: torch.nn.functional.cross_entropy(output.flatten(0, 1), targets.flatten()),
    )


def bare(module: Any, ids: Any, loss: Callable[[Any], Any]) -> float:
    """Return how many seconds a forward pass takes: the median of twenty."""
    taken, tokens = [], torch.from_numpy(ids)
    for _ in range(23):
        begun = time.process_time()
        loss(module(tokens))
        taken.append(time.process_time() - begun)
    return statistics.median(taken[3:])


# --- the figures -------------------------------------------------------------------------------


def forward(size: tuple[int, ...] = SMALL) -> str:
    """Compare the time of a check with that of its evaluations."""
    module, ids, loss = task(size)
    check_module(torch.nn.Linear(2, 2), np.ones(2), progress=False)  # imports a part of torch
    before = bare(module, ids, loss)
    begun = time.process_time()
    with mock.patch("torch.autograd.grad", wraps=torch.autograd.grad) as backward:
        report = check_module(module, ids, loss=loss, progress=False)
    took, passes = time.process_time() - begun, backward.call_count
    one = (before + bare(module, ids, loss)) / 2
    weights = sum(each.numel() for each in module.parameters())
    return (
        f"{took / (report.evaluations * one):.2f} times {report.evaluations} forward passes of "
        f"{1e3 * one:.1f} ms, {passes} backward passes, {weights:,} weights ({report.verdict})"
    )


def long() -> str:
    """Compare the same for longer forward passes."""
    return forward(LONG)


def memory() -> str:
    """Compare the peak of a check with the size of a gradient; the first figure of a process."""
    module, ids, loss = task(LARGE)
    check_module(torch.nn.Linear(2, 2), np.ones(2), progress=False)  # imports
    loss(module(torch.from_numpy(ids))).backward()
    module.zero_grad()
    before = peak()
    report = check_module(module, ids, loss=loss, progress=False)
    gradient = 8 * sum(each.numel() for each in module.parameters())
    return (
        f"{(peak() - before) / gradient:.1f} gradients of {gradient / 1e6:.0f} MB beyond the model "
        f"and one backward pass ({report.verdict}, {report.evaluations} evaluations)"
    )


def peak() -> int:
    """Return the largest memory of this process so far, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * (1 if sys.platform == "darwin" else 1024)


def small_functions() -> Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Yield ten functions as people check them, each with its inputs."""
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return rng.normal(size=shape)

    one = torch.nn.functional
    yield torch.sin, (normal(4, 5),)
    yield one.gelu, (normal(4, 5),)
    yield lambda x: torch.softmax(x, -1), (normal(3, 8),)
    yield lambda x: one.cross_entropy(x, torch.arange(8)), (normal(8, 10),)
    yield lambda x, w: torch.tanh(x @ w), (normal(3, 4), normal(4, 5))
    yield lambda x, w, b: one.layer_norm(x, (6,), w, b), (normal(4, 6), normal(6), normal(6))
    yield lambda x, w: one.conv2d(x, w), (normal(1, 2, 5, 5), normal(2, 2, 3, 3))
    yield one.scaled_dot_product_attention, (normal(4, 3), normal(5, 3), normal(5, 3))
    network = normal(5, 4), normal(4, 6), normal(6, 2)
    yield lambda x, v, w: (torch.relu(x @ v) @ w).square().mean(), network
    yield lambda a, b: torch.linalg.solve(a, b), (normal(4, 4) + 4 * np.eye(4), normal(4, 2))


def small() -> str:
    """Compare the time of a check with that of torch's gradcheck, function by function."""
    ratios, times = [], []
    for f, inputs in small_functions():
        tensors = [torch.from_numpy(one).requires_grad_() for one in inputs]

        def ours(f: Any = f, inputs: Any = inputs) -> Any:
            return check_vjp(from_torch(f), inputs, progress=False).verdict

        def theirs(f: Any = f, tensors: Any = tensors) -> Any:
            return torch.autograd.gradcheck(f, tensors)

        mine, other = fastest(ours), fastest(theirs)
        ratios.append(mine / other)
        times.append(1e3 * mine)
    each = " ".join(f"{one:.1f}" for one in ratios)
    return (
        f"{statistics.median(ratios):.2f} times torch's gradcheck ({each}), "
        f"{statistics.median(times):.1f} ms"
    )


def custom() -> str:
    """Compare forward passes and times of both checks for a custom Function."""
    rng, said = np.random.default_rng(0), []
    inputs = rng.normal(size=(8, 6)), rng.normal(size=(6, 5))
    tensors = [torch.from_numpy(one).requires_grad_() for one in inputs]
    for name, tanh in (("tanh(a @ b)", True), ("a @ b", False)):
        f, passes = product_of(tanh)
        checks = {
            "ours": lambda f=f: check_vjp(from_torch(f), inputs, progress=False),
            "torch": lambda f=f: torch.autograd.gradcheck(f, tensors),
        }
        counts = []
        for whose, check in checks.items():
            check()
            passes.clear()
            check()
            counts.append(f"{whose} {len(passes)} passes, {1e3 * fastest(check):.0f} ms")
        said.append(f"{name}: {', '.join(counts)}")
    return "; ".join(said)


def product_of(tanh: bool) -> tuple[Callable[..., Any], list[None]]:
    """Return a custom Function, and a list that gets longer with each forward pass."""
    passes: list[None] = []

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            passes.append(None)
            y = torch.tanh(a @ b) if tanh else a @ b
            ctx.save_for_backward(a, b, y)
            return y

        @staticmethod
        def backward(ctx: Any, upstream: Any) -> Any:
            a, b, y = ctx.saved_tensors
            inner = upstream * (1 - y**2) if tanh else upstream
            return inner @ b.T, a.T @ inner

    return Product.apply, passes


def fastest(call: Callable[[], Any], times: int = 15) -> float:
    """Return the least time of a warm call, in seconds: all else is the load of the machine."""
    taken = []
    for _ in range(times):
        begun = time.process_time()
        call()
        taken.append(time.process_time() - begun)
    return min(taken[2:])


FIGURES = {"memory": memory, "forward": forward, "long": long, "custom": custom, "small": small}


def main() -> None:
    """Print the figures."""
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("figures", nargs="*", metavar="figure", help=", ".join(FIGURES))
    asked = parser.parse_args().figures
    warnings.simplefilter("ignore")
    for name, figure in FIGURES.items():
        if not asked or name in asked:
            print(f"{name}: {figure()}", flush=True)


if __name__ == "__main__":
    main()
