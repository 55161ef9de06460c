"""What estimating a gradient costs, beyond the evaluations of f that it must make.

Run it by hand: ``python tests/benchmarks/cost_of_a_gradient.py``. A scalar loss of 10,000
parameters that takes about 50 us is differentiated by central differences (2 n evaluations) and
checked (about 6 n). The ratio is the time taken over the time of those evaluations alone. scipy
and torch are measured where they are installed, and named where they are not.
"""

import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcheck_ref import central_difference, check_gradient

PARAMETERS = 10_000
STEP = 1e-5
REPEATS = 5


def loss(x: np.ndarray) -> Any:
    """Mean of a smooth function of every parameter."""
    return np.mean(np.log1p(x * x) * np.tanh(x))


def gradient(x: np.ndarray) -> Any:
    """Derive the gradient of the loss by hand."""
    tanh = np.tanh(x)
    return (2 * x / (1 + x * x) * tanh + np.log1p(x * x) * (1 - tanh * tanh)) / x.size


def cs231n_loop(x: np.ndarray) -> np.ndarray:
    """The loop that CS231n's assignments use: perturb in place, evaluate, restore."""
    gradient = np.zeros_like(x)
    it = np.nditer(x, flags=["multi_index"], op_flags=["readwrite"])
    while not it.finished:
        index = it.multi_index
        kept = x[index]
        x[index] = kept + STEP
        ahead = loss(x)
        x[index] = kept - STEP
        behind = loss(x)
        x[index] = kept
        gradient[index] = (ahead - behind) / (2 * STEP)
        it.iternext()
    return gradient


def scipy_three_point(x: np.ndarray) -> Any:
    """SciPy's Jacobian by central differences, with its own choice of step."""
    from scipy.optimize._numdiff import approx_derivative

    return approx_derivative(loss, x, method="3-point")


def seconds(work: Callable[[], Any]) -> float:
    """Time one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def bare(f: Callable[[Any], Any], x: Any, count: int) -> float:
    """Time so many evaluations and nothing else."""

    def evaluations() -> None:
        for _ in range(count):
            f(x)

    return seconds(evaluations)


def report(
    name: str,
    f: Callable[[Any], Any],
    x: Any,
    work: Callable[[], Any],
    count: int = 2 * PARAMETERS,
) -> None:
    """Print the median over a few runs, each next to its own measurement of the bare cost."""
    pairs = [(seconds(work), bare(f, x, count)) for _ in range(REPEATS)]
    taken = statistics.median(pair[0] for pair in pairs)
    ratio = statistics.median(pair[0] / pair[1] for pair in pairs)
    each = statistics.median(pair[1] for pair in pairs) / count
    print(f"{name:32} {taken:6.2f} s   {ratio:5.2f} x bare   (f takes {each * 1e6:.0f} us)")


def main() -> None:
    """Measure everything that is installed."""
    x = np.random.default_rng(0).normal(size=PARAMETERS)
    report("central_difference", loss, x, lambda: central_difference(loss, x, h=STEP))
    report("CS231n's loop", loss, x, lambda: cs231n_loop(x))
    evaluations = check_gradient(loss, x, gradient).evaluations
    report("check_gradient", loss, x, lambda: check_gradient(loss, x, gradient), evaluations)
    for name in ("scipy", "torch"):
        if not importlib.util.find_spec(name):
            print(f"{name} is not installed: not measured")
    if importlib.util.find_spec("scipy"):
        report("scipy 3-point", loss, x, lambda: scipy_three_point(x))
    if importlib.util.find_spec("torch"):
        import torch

        torch.set_num_threads(1)
        point = torch.from_numpy(x).requires_grad_()

        def torch_loss(x: Any) -> Any:
            return (torch.log1p(x * x) * torch.tanh(x)).mean()

        report(
            "torch gradcheck, slow mode",
            torch_loss,
            point.detach(),
            lambda: torch.autograd.gradcheck(torch_loss, point, eps=STEP),
        )


if __name__ == "__main__":
    main()
