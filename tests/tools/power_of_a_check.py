"""How well the check sees one wrong entry among many, and what it costs.

Run it by hand: ``python tests/tools/power_of_a_check.py``. Functions of 150 to 5,000 entries
are checked, with the right gradients from HIPS autograd and with planted bugs: is the gradient
refused, is a wrong entry named, and in how many evaluations? ``2 n`` is what plain central
differences take.
"""

import argparse
import importlib.util
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradcheck_ref import check_gradient

Gradient = dict[str, np.ndarray]


# --- what was said -----------------------------------------------------------------------------


def named(report: Any, right: Gradient, claim: Gradient) -> str:
    """Say what the report accuses: a wrong entry, a wrong input, a right one, or nothing."""
    if report.verdict != "fail":
        return "-"
    wrong = {name: claim[name] != right[name] for name in right}
    match = re.fullmatch(r"(\w+)(?:\[([\d, ]+)\])?", report.worst.name if report.worst else "")
    if match and match[1] in wrong:
        index = tuple(int(i) for i in (match[2] or "").split(",") if i.strip())
        if len(index) == wrong[match[1]].ndim and wrong[match[1]][index]:
            return "entry"
    subjects = {diagnosis.subject for diagnosis in report.diagnoses}
    if match:
        subjects.add(match[1])
    found = [name for name in subjects if name in wrong]
    if not found:
        return "none"
    return "input" if all(wrong[name].any() for name in found) else "INNOCENT"


def units(inputs: Gradient) -> Gradient:
    """Return what a like share of each coordinate is: its size, or that of its input's others."""

    def typical(x: np.ndarray) -> float:
        sizes = np.abs(x[x != 0])
        return float(np.median(sizes)) if sizes.size else 1.0

    return {name: np.where(x == 0, typical(x), np.abs(x)) for name, x in inputs.items()}


# --- planted bugs ------------------------------------------------------------------------------


class Flat:
    """A gradient as one vector, and the way back."""

    def __init__(self, inputs: Gradient, gradient: Gradient) -> None:
        self.shapes = {name: np.shape(x) for name, x in inputs.items()}
        self.g = np.concatenate([np.ravel(gradient[name]) for name in inputs]).astype(float)
        unit = units(inputs)
        self.unit = np.concatenate([np.ravel(unit[name]) for name in inputs])
        sizes = [int(np.prod(shape)) for shape in self.shapes.values()]
        ends = np.cumsum([0, *sizes])
        self.where = {
            name: slice(a, b) for name, a, b in zip(inputs, ends[:-1], ends[1:], strict=True)
        }

    def back(self, g: np.ndarray) -> Gradient:
        """Return a vector in the arrangement of the inputs."""
        return {name: g[at].reshape(self.shapes[name]) for name, at in self.where.items()}

    def around(self, low: float, high: float, rng: np.random.Generator, count: int = 1) -> Any:
        """Draw entries between two percentiles of what an entry does to f; zeros do not count."""
        size = np.abs(self.g) * self.unit
        order = np.argsort(size)[np.count_nonzero(size == 0) :]
        chosen = order[int(low * len(order)) : max(int(high * len(order)), 2)]
        return rng.choice(chosen, size=count, replace=False)


def planted(inputs: Gradient, right: Gradient, seed: int) -> Iterator[tuple[str, Gradient]]:
    """Yield the names of bugs, and the gradients that have them."""
    flat, rng = Flat(inputs, right), np.random.default_rng(seed)
    g, where = flat.g, flat.where
    median, small = flat.around(0.4, 0.6, rng)[0], flat.around(0.08, 0.12, rng)[0]

    def scaled(at: Any, by: float) -> Gradient:
        wrong = g.copy()
        wrong[at] *= by
        return flat.back(wrong)

    yield "a median entry doubled", scaled(median, 2)
    yield "a median entry off by 1e-2", scaled(median, 1.01)
    yield "a median entry off by 1e-3", scaled(median, 1.001)
    yield "a small entry's sign", scaled(small, -1)
    i, j = flat.around(0.4, 0.6, rng, 2)
    wrong = g.copy()
    wrong[i] += g[i]
    wrong[j] -= g[i] * flat.unit[i] / flat.unit[j]
    yield "two errors that cancel", flat.back(wrong)
    largest = max(inputs, key=lambda name: inputs[name].size)
    inside = np.arange(g.size)[where[largest]]
    i, j = rng.choice(inside[g[inside] != 0], size=2, replace=False)
    wrong = g.copy()
    wrong[[i, j]] = g[[j, i]]
    yield "two entries swapped", flat.back(wrong)
    yield "rolled by one", right | {largest: np.roll(right[largest], 1)}
    yield "everything doubled", flat.back(2 * g)
    if len(inputs) > 1:
        one = str(rng.choice([name for name in inputs if right[name].any()]))
        yield f"{one} doubled", right | {one: 2 * right[one]}
    yield f"1 % on half of {largest}", scaled(inside[: inside.size // 2], 1.01)
    if inputs[largest].ndim > 1:
        # Of a row that is zero already nothing would be wrong.
        row = rng.choice(np.flatnonzero(right[largest].any(axis=1)))
        zeroed = right[largest].copy()
        zeroed[row] = 0
        yield f"row {row} of {largest} zeroed", right | {largest: zeroed}
    for name, x in inputs.items():
        if x.ndim == 2 and x.shape[0] == x.shape[1]:
            yield f"{name} transposed", right | {name: right[name].T}
            break


# --- functions of some hundred entries ---------------------------------------------------------


def functions() -> Iterator[tuple[str, Callable[..., Any], Gradient]]:
    """Yield functions written for autograd, each with its name and the point to check it at."""
    import autograd.numpy as anp

    rng = np.random.default_rng(0)

    def normal(*shape: int, by: float = 1.0) -> Any:
        return by * rng.normal(size=shape)

    def softmax_loss(scores: Any, labels: Any) -> Any:
        scores = scores - anp.max(scores, axis=1, keepdims=True)
        logp = scores - anp.log(anp.sum(anp.exp(scores), axis=1, keepdims=True))
        return -anp.mean(anp.sum(logp * labels, axis=1))

    def labels(rows: int, classes: int) -> Any:
        return np.eye(classes)[rng.integers(classes, size=rows)]

    X1, y1 = normal(500, 400), normal(500)

    def linear_regression(w: Any, b: Any) -> Any:
        return anp.mean((anp.dot(X1, w) + b - y1) ** 2)

    yield "linear regression", linear_regression, {"w": normal(400), "b": np.array(0.3)}

    X2, y2 = normal(200, 300), np.sign(normal(200))

    def logistic_regression(w: Any, b: Any) -> Any:
        return anp.mean(anp.log1p(anp.exp(-y2 * (anp.dot(X2, w) + b)))) + 1e-3 * anp.sum(w**2)

    yield "logistic regression", logistic_regression, {"w": normal(300, by=0.1), "b": np.array(0.1)}

    def net(d: int, h: int, c: int, activation: Any) -> tuple[Callable[..., Any], Gradient]:
        X, T = normal(24, d), labels(24, c)

        def f(W1: Any, b1: Any, W2: Any, b2: Any) -> Any:
            return softmax_loss(anp.dot(activation(anp.dot(X, W1) + b1), W2) + b2, T)

        point = {
            "W1": normal(d, h, by=d**-0.5),
            "b1": normal(h, by=0.1),
            "W2": normal(h, c, by=h**-0.5),
            "b2": normal(c, by=0.1),
        }
        return f, point

    yield "tanh net", *net(20, 30, 10, anp.tanh)
    yield "ReLU net", *net(40, 60, 10, lambda x: anp.maximum(x, 0))

    X3, T3 = normal(12, 16), normal(12, 16)

    def attention(Wq: Any, Wk: Any, Wv: Any, Wo: Any) -> Any:
        Q, K, V = anp.dot(X3, Wq), anp.dot(X3, Wk), anp.dot(X3, Wv)
        scores = anp.dot(Q, K.T) / 4
        weights = anp.exp(scores - anp.max(scores, axis=1, keepdims=True))
        weights = weights / anp.sum(weights, axis=1, keepdims=True)
        return anp.mean((anp.dot(anp.dot(weights, V), Wo) - T3) ** 2)

    yield "attention", attention, {f"W{k}": normal(16, 16, by=0.25) for k in "qkvo"}

    X4, T4 = normal(8, 6, 8), labels(6, 5)

    def rnn(Wx: Any, Wh: Any, b: Any, Wo: Any) -> Any:
        h = anp.zeros((6, 20))
        for x in X4:
            h = anp.tanh(anp.dot(x, Wx) + anp.dot(h, Wh) + b)
        return softmax_loss(anp.dot(h, Wo), T4)

    shapes = {"Wx": (8, 20, 0.35), "Wh": (20, 20, 0.22), "b": (20, 0.1), "Wo": (20, 5, 0.22)}
    yield "RNN", rnn, {name: normal(*shape, by=by) for name, (*shape, by) in shapes.items()}

    def log_determinant(A: Any) -> Any:
        return anp.linalg.slogdet(anp.dot(A, A.T) + np.eye(20))[1]

    yield "log determinant", log_determinant, {"A": normal(20, 20)}

    def entropy(z: Any) -> Any:
        p = anp.exp(z - anp.max(z))
        p = p / anp.sum(p)
        return -anp.sum(p * anp.log(p))

    yield "entropy", entropy, {"z": normal(500)}

    # Every entry has its own unit, and does about as much to f as the others.
    size = 10.0 ** rng.uniform(-6, 6, size=150)
    mix = normal(30, 150) / 150**0.5

    def own_units(x: Any) -> Any:
        return anp.sum(anp.tanh(anp.dot(mix, x / size)) ** 2) + anp.mean((x / size) ** 2)

    yield "units from 1e-6 to 1e6", own_units, {"x": size * rng.uniform(0.5, 2, size=150)}

    inner, point = net(10, 14, 4, anp.tanh)
    yield "pedestal of 1e4", lambda **inputs: 1e4 + inner(**inputs), point
    small, point = net(12, 12, 6, anp.tanh)
    yield "loss of 1e-12", lambda **inputs: 1e-12 * small(**inputs), point

    R = normal(250, 250)

    def factorisation(U: Any, V: Any) -> Any:
        return anp.mean((anp.dot(U, V.T) - R) ** 2)

    yield "matrix factorisation", factorisation, {"U": normal(250, 10), "V": normal(250, 10)}


def by_autograd(f: Callable[..., Any], inputs: Gradient) -> Gradient:
    """Return the gradient that autograd derives."""
    from autograd import grad

    return {k: np.asarray(v) for k, v in grad(lambda p: f(**p))(inputs).items()}


def measure(only: str, seeds: int) -> None:
    """Print a table for each function, and a summary."""
    refused = asked = told = alarms = doubts = of = passed = 0
    most, seconds = 0.0, time.perf_counter()
    for name, f, inputs in functions():
        if not re.search(only, name):
            continue
        right = by_autograd(f, inputs)
        n = sum(x.size for x in inputs.values())
        print(f"\n{name}: {n} entries ({', '.join(f'{k} {v.shape}' for k, v in inputs.items())})")
        print(f"  {'':32} {'verdict':18} {'named':9} {'evaluations':>11} {'/ 2n':>7}")
        for seed in range(seeds):
            if seed == 0:
                report = check_gradient(f, inputs, right, seed=seed)
                of, alarms = of + 1, alarms + (report.verdict == "fail")
                doubts += report.verdict == "unsure"
                most = max(most, _row("right", report, "", n))
            for bug, claim in planted(inputs, right, seed):
                report = check_gradient(f, inputs, claim, seed=seed)
                found = named(report, right, claim)
                asked, refused = asked + 1, refused + (report.verdict == "fail")
                passed += report.verdict == "pass"
                told += found == "entry"
                most = max(most, _row(bug, report, found, n))
    print(
        f"\n{refused} of {asked} planted bugs refused, {passed} passed; a wrong entry "
        f"named in {told} of {refused}; {alarms} false alarms and {doubts} unsure of {of} right "
        f"gradients; at most {most:.2f} x 2n evaluations; {time.perf_counter() - seconds:.0f} s"
    )


def _row(label: str, report: Any, found: str, n: int) -> float:
    share = report.evaluations / (2 * n)
    verdict = report.verdict if report.verdict == "pass" else f"{report.verdict} ({report.reason})"
    print(f"  {label:32} {verdict:18} {found:9} {report.evaluations:11,} {share:7.3f}", flush=True)
    return share


def main() -> None:
    """Measure the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--function", default="", help="a regular expression for the names")
    options = parser.parse_args()
    if importlib.util.find_spec("autograd"):
        measure(options.function, options.seeds)
    else:
        print("autograd is not installed: nothing is measured")


if __name__ == "__main__":
    main()
