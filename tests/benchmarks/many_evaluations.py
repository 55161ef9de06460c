"""What it brings to ask for many evaluations at once: of processes, and of f itself.

Run it by hand: ``python tests/benchmarks/many_evaluations.py``. First a NumPy net of which one
evaluation takes about 0.1 ms, 1 ms and 10 ms is checked by this process, by two and by one on each
core, by turns; the best run of each counts. A ratio of 1 to the ideal is as many times as fast as
there are processes. Processes share the cores with whatever else runs: the load of the machine is
printed, and the ideal is what as many busy processes get of it, measured in the same run.

Then a net with a batch axis is checked one point at a time, and by its ``many``.
"""

import argparse
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

# One thread for each process, or they would be in each other's way; NumPy asks when it is loaded.
os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import numpy as np

from gradcheck_ref import check_gradient

# Rows of data for evaluations of about 0.1 ms, 1 ms and 10 ms.
ROWS = (400, 3000, 20_000)

Net = dict[str, np.ndarray]


class Loss:
    """The loss of a net with one hidden layer, and its gradient."""

    def __init__(self, rows: int, hidden: int = 40) -> None:
        rng = np.random.default_rng(0)
        self.X, self.y = rng.normal(size=(rows, 30)), rng.normal(size=rows)
        self.net = {
            "W": rng.normal(size=(30, hidden)) / 6,
            "v": rng.normal(size=hidden) / hidden**0.5,
        }

    def __call__(self, W: np.ndarray, v: np.ndarray) -> Any:
        """Work out the loss."""
        return np.mean((np.tanh(self.X @ W) @ v - self.y) ** 2)

    def gradient(self, W: np.ndarray, v: np.ndarray) -> Net:
        """Work out the gradient by hand."""
        hidden = np.tanh(self.X @ W)
        error = 2 * (hidden @ v - self.y) / len(self.y)
        return {"W": self.X.T @ (np.outer(error, v) * (1 - hidden**2)), "v": hidden.T @ error}


class Recurrent:
    """The loss of a recurrent net with 8 cells, after so many steps; takes many points, too."""

    def __init__(self, steps: int) -> None:
        rng = np.random.default_rng(0)
        self.X = rng.normal(size=(steps, 4, 8))
        self.net = {"W": rng.normal(size=(8, 8)) / 3, "U": rng.normal(size=(8, 8)) / 3}

    def __call__(self, W: np.ndarray, U: np.ndarray) -> Any:
        """Work out the loss; with a leading axis of W and U, that of each of these nets."""
        hidden = np.zeros((4, 8))
        for x in self.X:
            hidden = np.tanh(x @ W + hidden @ U)
        return np.sum(hidden**2, axis=(-2, -1))

    def many(self, points: list[Net]) -> Any:
        """Work out the loss of many nets."""
        return self(*(np.stack([point[name] for point in points]) for name in ("W", "U")))

    def gradient(self, W: np.ndarray, U: np.ndarray) -> Net:
        """Work out the gradient by hand, backwards through all steps."""
        hidden = [np.zeros((4, 8))]
        for x in self.X:
            hidden.append(np.tanh(x @ W + hidden[-1] @ U))
        grads, up = {"W": np.zeros((8, 8)), "U": np.zeros((8, 8))}, 2 * hidden[-1]
        for x, before, after in zip(self.X[::-1], hidden[-2::-1], hidden[:0:-1], strict=True):
            inside = up * (1 - after**2)
            grads = {"W": grads["W"] + x.T @ inside, "U": grads["U"] + before.T @ inside}
            up = inside @ U.T
        return grads


def seconds(work: Callable[[], Any]) -> float:
    """Time one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def evaluate(loss: Loss, times: int) -> None:
    """Keep one process busy."""
    for _ in range(times):
        loss(**loss.net)


def busy(loss: Loss, processes: int, times: int) -> float:
    """Time as many processes that evaluate f, so often in all, once they run."""
    with ProcessPoolExecutor(processes) as pool:
        for future in [pool.submit(time.sleep, 0.1) for _ in range(processes)]:
            future.result()
        each = times // processes

        def together() -> None:
            for future in [pool.submit(evaluate, loss, each) for _ in range(processes)]:
                future.result()

        return seconds(together) * times / (each * processes)


def at_many_processes(repeats: int) -> None:
    """Print the first table."""
    cores = os.cpu_count() or 1
    print(f"{cores} cores, load {os.getloadavg()[0]:.1f}; seconds for a check, best of {repeats}\n")
    print("   f, ms  processes  check, s  speed-up  of the ideal  busy loops alone")
    for rows in ROWS:
        loss = Loss(rows)
        counts = sorted({1, 2, cores})
        best = dict.fromkeys(counts, np.inf)
        bound = dict(best)
        one = min(seconds(lambda loss=loss: loss(**loss.net)) for _ in range(30))
        for _ in range(repeats):
            for count in counts:

                def check(count: int = count, loss: Loss = loss) -> Any:
                    return check_gradient(loss, loss.net, loss.gradient, workers=count)

                report = check()
                best[count] = min(best[count], seconds(check))
                bound[count] = min(bound[count], busy(loss, count, report.evaluations))
        for count in counts:
            gain, possible = best[1] / best[count], bound[1] / bound[count]
            print(
                f"{1e3 * one:8.2f} {count:10} {best[count]:9.3f} {gain:9.2f} {gain / count:13.2f} "
                f"{possible:17.2f}"
            )


def at_once(repeats: int) -> None:
    """Print the second table."""
    print("\n   steps   f, ms  one by one, s  by many, s  factor   of f alone, at 114 points")
    for steps in (1, 10, 100, 1000):
        net = Recurrent(steps)
        points = [net.net] * 114

        def single(W: np.ndarray, U: np.ndarray, net: Recurrent = net) -> Any:
            return net(W, U)

        works: list[Callable[[], Any]] = [
            lambda single=single, net=net: check_gradient(single, net.net, net.gradient),
            lambda net=net: check_gradient(net, net.net, net.gradient),
            lambda net=net, points=points: [net(**point) for point in points],
            lambda net=net, points=points: net.many(points),
        ]
        assert works[0]().verdict == works[1]().verdict == "pass"
        best = [np.inf] * len(works)
        for _ in range(repeats):
            best = [min(b, seconds(work)) for b, work in zip(best, works, strict=True)]
        print(
            f"{steps:8} {1e3 * best[2] / len(points):7.3f} {best[0]:14.4f} {best[1]:11.4f} "
            f"{best[0] / best[1]:7.1f} {best[2] / best[3]:12.1f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    at_many_processes(repeats)
    at_once(repeats)
