"""Where does the mistake begin? Thirty torch modules, each with one wrong backward in its middle.

Run it by hand, with torch: ``python tests/tools/where_it_begins.py``, which takes half a minute;
with parts of names, only these modules. With ``-v`` it prints each parameter that the report puts
in the wrong place, with ``--right`` it checks the same modules without the mistake, with
``--truth`` it says which parameters are wrong, and checks nothing. With ``--seeds 3`` each module
has three sets of weights.

In every module one place has a backward of its own, which is wrong: a term of GELU is missing, the
scale of an attention, a mask, a sign. So the gradients of the parameters before it, towards the
input, are wrong, and those after it are right. The truth comes from the same module with torch's
own backward there, in double precision: a parameter is wrong if its gradient is off by more than
1e-6 of its length. One whose gradient is zero but for rounding, such as the bias of the keys of an
attention, is left out.

`check_module` should put each where it belongs: in ``report.inputs``, an input whose gradient is
right passes, and one whose gradient is wrong fails.
"""

import argparse
import sys
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from gradcheck_ref.adapters import check_module

# A gradient is wrong if it is off by more than this share of its length; and there is none if its
# length is less than this share of the longest.
WRONG, NONE = 1e-6, 1e-12

# Errors below this share of a gradient are hard to see; they are counted apart.
FAINT = 1e-3

DOUBLE = torch.float64


def planted(forward: Callable[..., Any], backward: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with this forward and this backward, which gets upstream and inputs."""

    class Planted(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            ctx.inputs = inputs
            ctx.save_for_backward(*[one for one in inputs if isinstance(one, torch.Tensor)])
            return forward(*inputs)

        @staticmethod
        def backward(ctx: Any, upstream: Any) -> Any:
            return backward(upstream, *ctx.inputs)

    return Planted.apply  # type: ignore[no-any-return]


def by_torch(
    forward: Callable[..., Any], change: Callable[[Any], Any] | None = None
) -> Callable[..., Any]:
    """Return a backward by torch, for what ``forward`` computes instead, and then changed."""

    def backward(upstream: Any, *inputs: Any) -> Any:
        with torch.enable_grad():
            leaves = [one.detach().requires_grad_() for one in inputs]
            found = torch.autograd.grad(forward(*leaves), leaves, upstream)
        return change(found) if change else found

    return backward


def scaled(*factors: float) -> Callable[[Any], Any]:
    """Return a change that multiplies each gradient."""
    return lambda found: tuple(c * one for c, one in zip(factors, found, strict=True))


def norm(x: Any) -> Any:
    """Normalize the last axis."""
    return functional.layer_norm(x, x.shape[-1:])


def norm_of_constants(x: Any) -> Any:
    """Normalize as if mean and variance were constants."""
    centre = x.mean(-1, keepdim=True).detach()
    spread = x.var(-1, unbiased=False, keepdim=True).detach()
    return (x - centre) * torch.rsqrt(spread + 1e-5)


def norm_of_constant_mean(x: Any) -> Any:
    """Normalize as if the mean were a constant."""
    centred = x - x.mean(-1, keepdim=True).detach()
    spread = x.var(-1, unbiased=False, keepdim=True)
    return centred * torch.rsqrt(spread + 1e-5)


def later(q: Any) -> Any:
    """Return which keys are hidden from which queries."""
    return torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).triu(1)


def attend(q: Any, k: Any, v: Any) -> Any:
    """Attend to what came before."""
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    return scores.masked_fill(later(q), -torch.inf).softmax(-1) @ v


def attend_unscaled(q: Any, k: Any, v: Any) -> Any:
    """Attend with scores whose gradient lacks the scale."""
    plain = q @ k.transpose(-1, -2)
    scores = plain - (plain - plain / q.shape[-1] ** 0.5).detach()
    return scores.masked_fill(later(q), -torch.inf).softmax(-1) @ v


def attend_unmasked(q: Any, k: Any, v: Any) -> Any:
    """Attend to everything."""
    return (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).softmax(-1) @ v


def attend_without_sum(q: Any, k: Any, v: Any) -> Any:
    """Attend with weights whose sum is a constant."""
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    weights = torch.exp(scores.masked_fill(later(q), -torch.inf))
    return weights / weights.sum(-1, keepdim=True).detach() @ v


def gelu_without_term(x: Any) -> Any:
    """Multiply by a gate that is a constant."""
    return x * (0.5 * (1 + torch.erf(x / 2**0.5))).detach()


def silu_without_term(x: Any) -> Any:
    """Multiply by a gate that is a constant."""
    return x * torch.sigmoid(x).detach()


def cell(x: Any, h: Any) -> Any:
    """Add and squash."""
    return torch.tanh(x + h)


def pooled(x: Any) -> Any:
    """Halve an image."""
    return functional.avg_pool2d(x, 2)


def add(x: Any, y: Any) -> Any:
    """Add a branch."""
    return x + y


def gate(x: Any, y: Any) -> Any:
    """Multiply by a gate."""
    return torch.sigmoid(x) * y


# By name: the function that computes it, and the same with a wrong backward.
SLIPS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "tanh twice": (torch.tanh, by_torch(torch.tanh, scaled(2.0))),
    "tanh without square": (torch.tanh, lambda g, x: g * (1 - torch.tanh(x).abs())),
    "tanh sign": (torch.tanh, by_torch(torch.tanh, scaled(-1.0))),
    "tanh 1 percent": (torch.tanh, by_torch(torch.tanh, scaled(1.01))),
    "gelu term": (functional.gelu, by_torch(gelu_without_term)),
    "silu term": (functional.silu, by_torch(silu_without_term)),
    "norm constants": (norm, by_torch(norm_of_constants)),
    "norm mean": (norm, by_torch(norm_of_constant_mean)),
    "attention scale": (attend, by_torch(attend_unscaled)),
    "attention mask": (attend, by_torch(attend_unmasked)),
    "attention sum": (attend, by_torch(attend_without_sum)),
    "attention value": (attend, by_torch(attend, scaled(1.0, 1.0, 0.5))),
    "cell forgets": (cell, by_torch(cell, scaled(1.0, 0.0))),
    "cell halves": (cell, by_torch(cell, scaled(0.5, 1.0))),
    "pool factor": (pooled, by_torch(pooled, scaled(4.0))),
    "pool rolled": (pooled, by_torch(pooled, lambda found: (found[0].roll(1, -1),))),
    "branch lost": (add, by_torch(add, scaled(1.0, 0.0))),
    "skip lost": (add, by_torch(add, scaled(0.0, 1.0))),
    "branch halved": (add, by_torch(add, scaled(1.0, 0.5))),
    "gate constant": (gate, by_torch(gate, scaled(0.0, 1.0))),
    "weight transposed": (
        functional.linear,
        by_torch(functional.linear, lambda found: (found[0], found[1].T, found[2])),
    ),
    "input transposed": (
        functional.linear,
        lambda g, x, w, b: (g @ w.T, *by_torch(functional.linear)(g, x, w, b)[1:]),
    ),
    "bias mean": (
        functional.linear,
        by_torch(functional.linear, lambda found: (*found[:2], found[2] / 6)),
    ),
}


class Place(nn.Module):
    """A place in a module that computes a function, here and there with a wrong backward.

    Parameters
    ----------
    right : callable
        The function of tensors.
    slip : str, optional
        A key of `SLIPS`, if this is where the mistake is.
    """

    def __init__(self, right: Callable[..., Any], slip: str | None = None) -> None:
        super().__init__()
        self.right, self.wrong = right, False
        self.other = planted(*SLIPS[slip]) if slip else None

    def forward(self, *inputs: Any) -> Any:
        """Compute it."""
        return self.other(*inputs) if self.wrong and self.other else self.right(*inputs)


class Layer(nn.Module):
    """A linear layer, an activation and perhaps a norm, each a place of its own."""

    def __init__(self, inward: int, outward: int, act: Any, slips: dict[str, str]) -> None:
        super().__init__()
        self.linear = nn.Linear(inward, outward)
        self.apply_linear = Place(functional.linear, slips.get("linear"))
        self.norm = Place(norm, slips.get("norm"))
        self.normed = "norm" in slips
        self.act = Place(act, slips.get("act"))

    def forward(self, x: Any) -> Any:
        """Compute it."""
        x = self.apply_linear(x, self.linear.weight, self.linear.bias)
        return self.act(self.norm(x) if self.normed else x)


class Deep(nn.Module):
    """Layers one after another; with ``residual`` each is added to what it gets."""

    def __init__(
        self, depth: int, at: int, squash: Any, residual: bool = False, **slips: str
    ) -> None:
        super().__init__()
        here = [slips if k == at else {} for k in range(depth)]
        self.first = nn.Linear(5, 8)
        self.h = nn.ModuleList([Layer(8, 8, squash, one) for one in here])
        self.add = nn.ModuleList([Place(add, one.get("add")) for one in here])
        self.last, self.residual = nn.Linear(8, 3), residual

    def forward(self, x: Any) -> Any:
        """Compute it."""
        x = self.first(x)
        for layer, adding in zip(self.h, self.add, strict=True):
            x = adding(x, layer(x)) if self.residual else layer(x)
        return self.last(x)


class Images(nn.Module):
    """Convolutions with norms, a pool in the middle, and a linear layer."""

    def __init__(self, depth: int, at: int, **slips: str) -> None:
        super().__init__()
        inward = [2, *[4] * (depth - 1)]
        self.c = nn.ModuleList([nn.Conv2d(one, 4, 3, padding=1) for one in inward])
        self.g = nn.ModuleList([nn.GroupNorm(2, 4) for _ in range(depth)])
        here = [slips if k == at else {} for k in range(depth)]
        self.norm = nn.ModuleList([Place(norm, one.get("norm")) for one in here])
        self.act = nn.ModuleList([Place(functional.gelu, one.get("act")) for one in here])
        self.normed = [at] if "norm" in slips else []
        self.pool, self.at = Place(pooled, slips.get("pool")), at
        self.last = nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        """Compute it."""
        for k, (conv, group, norm_, act) in enumerate(
            zip(self.c, self.g, self.norm, self.act, strict=True)
        ):
            x = group(conv(x))
            x = act(norm_(x) if k in self.normed else x)
            x = self.pool(x) if k == self.at else x
        return self.last(x.mean((-1, -2)))


class Block(nn.Module):
    """One block of a transformer."""

    def __init__(self, width: int, slips: dict[str, str]) -> None:
        super().__init__()
        self.q, self.k = nn.Linear(width, width), nn.Linear(width, width)
        self.v, self.o = nn.Linear(width, width), nn.Linear(width, width)
        self.a, self.b = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.gain, self.gain2 = (nn.Parameter(torch.ones(width)) for _ in range(2))
        self.norm, self.norm2 = Place(norm, slips.get("norm")), Place(norm, slips.get("norm2"))
        self.attend = Place(attend, slips.get("attend"))
        self.act = Place(functional.gelu, slips.get("act"))
        self.add, self.add2 = Place(add, slips.get("add")), Place(add, slips.get("add2"))

    def forward(self, x: Any) -> Any:
        """Compute it."""
        z = self.norm(x) * self.gain
        each = [one(z).unflatten(-1, (2, -1)) for one in (self.q, self.k, self.v)]
        heads = self.attend(*[one.transpose(-2, -3) for one in each])
        x = self.add(x, self.o(heads.transpose(-2, -3).flatten(-2)))
        return self.add2(x, self.b(self.act(self.a(self.norm2(x) * self.gain2))))


class Transformer(nn.Module):
    """Blocks between two linear layers."""

    def __init__(self, blocks: int, at: int, **slips: str) -> None:
        super().__init__()
        self.e = nn.Linear(5, 8)
        self.h = nn.ModuleList([Block(8, slips if k == at else {}) for k in range(blocks)])
        self.f = nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        """Compute it."""
        x = self.e(x)
        for block in self.h:
            x = block(x)
        return self.f(x)


class Recurrent(nn.Module):
    """Recurrent layers on top of one another, with gates between them."""

    def __init__(self, layers: int, at: int, **slips: str) -> None:
        super().__init__()
        here = [slips if k == at else {} for k in range(layers)]
        self.x = nn.ModuleList([nn.Linear(5 if k == 0 else 6, 6) for k in range(layers)])
        self.h = nn.ModuleList([nn.Linear(6, 6, bias=False) for _ in range(layers)])
        self.g = nn.ModuleList([nn.Linear(6, 6) for _ in range(layers)])
        self.cell = nn.ModuleList([Place(cell, one.get("cell")) for one in here])
        self.gate = nn.ModuleList([Place(gate, one.get("gate")) for one in here])
        self.f = nn.Linear(6, 3)

    def forward(self, x: Any) -> Any:
        """Compute it."""
        for k, (inward, own, gating) in enumerate(zip(self.x, self.h, self.g, strict=True)):
            h, steps = x.new_zeros(x.shape[0], 6), []
            for t in range(x.shape[1]):
                h = self.cell[k](inward(x[:, t]), own(h))
                steps.append(self.gate[k](gating(h), h))
            x = torch.stack(steps, 1)
        return self.f(x)


# By name: what builds it, and the shape of what goes in.
ROWS, SEQUENCE, IMAGE = (6, 5), (2, 6, 5), (2, 2, 8, 8)
MODULES: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "mlp-6 tanh twice at 3": (lambda: Deep(6, 3, torch.tanh, act="tanh twice"), ROWS),
    "mlp-8 tanh square at 4": (lambda: Deep(8, 4, torch.tanh, act="tanh without square"), ROWS),
    "mlp-10 gelu term at 5": (lambda: Deep(10, 5, functional.gelu, act="gelu term"), ROWS),
    "mlp-12 silu term at 9": (lambda: Deep(12, 9, functional.silu, act="silu term"), ROWS),
    "mlp-6 tanh sign at 1": (lambda: Deep(6, 1, torch.tanh, act="tanh sign"), ROWS),
    "mlp-7 tanh 1 percent at 3": (lambda: Deep(7, 3, torch.tanh, act="tanh 1 percent"), ROWS),
    "mlp-8 norm constants at 4": (lambda: Deep(8, 4, torch.tanh, norm="norm constants"), ROWS),
    "mlp-8 weight at 4": (lambda: Deep(8, 4, torch.tanh, linear="weight transposed"), ROWS),
    "mlp-8 input at 4": (lambda: Deep(8, 4, torch.tanh, linear="input transposed"), ROWS),
    "mlp-8 bias at 6": (lambda: Deep(8, 6, torch.tanh, linear="bias mean"), ROWS),
    "residual-8 branch lost at 4": (lambda: Deep(8, 4, torch.tanh, True, add="branch lost"), ROWS),
    "residual-8 skip lost at 3": (lambda: Deep(8, 3, torch.tanh, True, add="skip lost"), ROWS),
    "residual-12 gelu term at 6": (
        lambda: Deep(12, 6, functional.gelu, True, act="gelu term"),
        ROWS,
    ),
    "residual-20 branch halved at 10": (
        lambda: Deep(20, 10, torch.tanh, True, add="branch halved"),
        ROWS,
    ),
    "residual-10 norm mean at 8": (lambda: Deep(10, 8, torch.tanh, True, norm="norm mean"), ROWS),
    "conv-4 pool factor at 1": (lambda: Images(4, 1, pool="pool factor"), IMAGE),
    "conv-4 pool rolled at 2": (lambda: Images(4, 2, pool="pool rolled"), IMAGE),
    "conv-5 gelu term at 2": (lambda: Images(5, 2, act="gelu term"), IMAGE),
    "conv-6 norm constants at 3": (lambda: Images(6, 3, norm="norm constants"), IMAGE),
    "transformer-2 mask at 1": (lambda: Transformer(2, 1, attend="attention mask"), SEQUENCE),
    "transformer-2 gelu term at 0": (lambda: Transformer(2, 0, act="gelu term"), SEQUENCE),
    "transformer-3 scale at 1": (lambda: Transformer(3, 1, attend="attention scale"), SEQUENCE),
    "transformer-4 gelu term at 2": (lambda: Transformer(4, 2, act="gelu term"), SEQUENCE),
    "transformer-3 sum at 2": (lambda: Transformer(3, 2, attend="attention sum"), SEQUENCE),
    "transformer-4 norm at 1": (lambda: Transformer(4, 1, norm2="norm constants"), SEQUENCE),
    "transformer-3 value at 1": (lambda: Transformer(3, 1, attend="attention value"), SEQUENCE),
    "transformer-6 skip lost at 3": (lambda: Transformer(6, 3, add2="skip lost"), SEQUENCE),
    "rnn-3 cell forgets at 1": (lambda: Recurrent(3, 1, cell="cell forgets"), SEQUENCE),
    "rnn-4 cell halves at 2": (lambda: Recurrent(4, 2, cell="cell halves"), SEQUENCE),
    "rnn-4 gate constant at 1": (lambda: Recurrent(4, 1, gate="gate constant"), SEQUENCE),
}


@dataclass
class Case:
    """A module with one wrong backward, and the truth about it.

    Attributes
    ----------
    module, x, loss : any
        What `check_module` gets.
    error : dict of str to float
        How far off the gradient of each input is, as a share of its length; NaN if it has none, and
        infinity if only the wrong one is not zero.
    """

    module: Any
    x: Any
    loss: Callable[[Any], Any]
    error: dict[str, float] = field(default_factory=dict)

    def turn(self, wrong: bool) -> None:
        """Turn the mistake on or off."""
        for one in self.module.modules():
            if isinstance(one, Place):
                one.wrong = wrong

    def gradients(self, wrong: bool) -> dict[str, np.ndarray]:
        """Return torch's gradient with respect to each input and parameter."""
        self.turn(wrong)
        x = torch.tensor(self.x, requires_grad=True)
        inputs = {"x": x} | dict(self.module.named_parameters())
        found = torch.autograd.grad(self.loss(self.module(x)), list(inputs.values()))
        return {name: one.numpy() for name, one in zip(inputs, found, strict=True)}


def case_of(name: str, seed: int) -> Case:
    """Build a module, and find out what is wrong with it."""
    build, shape = MODULES[name]
    torch.manual_seed(zlib.crc32(name.encode()) + seed)
    module = build().to(DOUBLE)
    for one in module.parameters():  # initial gains and biases are too regular, and weights small
        with torch.no_grad():
            one.mul_(1.5) if one.ndim > 1 else one.add_(0.3 * torch.randn_like(one))
    x = torch.randn(shape, dtype=DOUBLE)
    target = torch.randn_like(module(x))
    case = Case(module, x.numpy(), lambda y: ((y - target) ** 2).mean())
    right, wrong = case.gradients(False), case.gradients(True)
    longest = max(np.linalg.norm(one) for one in right.values())
    for key, one in right.items():
        length = float(np.linalg.norm(one))
        off = float(np.linalg.norm(wrong[key] - one))
        none = max(length, off) < NONE * longest
        case.error[key] = np.nan if none else np.inf if length < NONE * longest else off / length
    return case


@dataclass
class Tally:
    """What was found in all modules."""

    verdicts: Counter[str] = field(default_factory=Counter)
    put: Counter[tuple[str, str]] = field(default_factory=Counter)
    exact: int = 0
    without_mistake: int = 0
    evaluations: list[int] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)


def truth_of(error: float) -> str:
    """Say in one word what an error is."""
    return "right" if error <= WRONG else "faint" if error < FAINT else "wrong"


def sorted_out(case: Case, report: Any, tally: Tally, verbose: bool) -> str:
    """Compare the report with the truth, and say how it went."""
    found = {one.name: one for one in report.inputs}
    here: Counter[str] = Counter()
    for name, error in case.error.items():
        if np.isnan(error):
            continue
        truth = truth_of(error)
        verdict = found[name].verdict if name in found else "missing"
        tally.put[truth, verdict] += 1
        expected = "pass" if truth == "right" else "fail"
        good = "well" if verdict == expected else "unsure" if verdict == "unsure" else "badly"
        here[good] += 1
        said = found[name].error if name in found else None
        if truth == "wrong" and verdict == "fail" and said is not None and np.isfinite(error):
            tally.ratios.append(float(said) / error)
        if verbose and good != "well":
            print(f"    {name}: {verdict}, off by {error:.1e} in truth, {said} by the report")
    tally.exact += not here["unsure"] and not here["badly"]
    tally.without_mistake += not here["badly"]
    return f"{here['well']} put well, {here['unsure']} unsure, {here['badly']} badly"


def summary(tally: Tally, modules: int, seconds: float) -> Iterator[str]:
    """Say in a few lines how it went."""
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(tally.verdicts.items()))
    yield f"{modules} modules: {verdicts}; {seconds:.0f} s"
    if tally.evaluations:
        median, largest = int(np.median(tally.evaluations)), max(tally.evaluations)
        yield f"evaluations: median {median}, at most {largest}"
    for truth in ("right", "wrong", "faint"):
        some = {verdict: n for (one, verdict), n in tally.put.items() if one == truth}
        if some:
            listed = ", ".join(f"{n} {verdict}" for verdict, n in sorted(some.items()))
            yield f"parameters that are {truth}: {sum(some.values())}: {listed}"
    if tally.put:
        yield f"located exactly: {tally.exact} of {modules}"
        yield f"none put badly: {tally.without_mistake} of {modules}"
    if tally.ratios:
        low, high = np.percentile(tally.ratios, [5, 95])
        yield f"reported error over the true one, 5 % to 95 %: {low:.2f} to {high:.2f}"


def main() -> int:
    """Check what was asked for, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of names of modules; without, all")
    parser.add_argument("--seeds", type=int, default=1, help="sets of weights for each")
    parser.add_argument("--right", action="store_true", help="without the mistakes")
    parser.add_argument("--truth", action="store_true", help="no check")
    parser.add_argument("-v", action="store_true", help="parameters in the wrong place")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    tally, begun, modules = Tally(), time.perf_counter(), 0
    for name in MODULES:
        if options.names and not any(one in name for one in options.names):
            continue
        for seed in range(options.seeds):
            case = case_of(name, seed)
            if options.right:
                case.error = {k: np.nan if np.isnan(e) else 0.0 for k, e in case.error.items()}
            errors = np.array([error for error in case.error.values() if not np.isnan(error)])
            off = errors[errors > WRONG]
            none = len(case.error) - len(errors)
            says = f"{name}: {len(case.error)} inputs, {len(off)} wrong, {none} without"
            if len(off):
                says += f", by {off.min():.0e} to {off.max():.0e}"
            if options.truth:
                print(says)
                if options.v:
                    for key, error in case.error.items():
                        print(f"    {key}: {error:.1e}")
                continue
            modules += 1
            case.turn(not options.right)
            t0 = time.perf_counter()
            try:
                report = check_module(
                    case.module, case.x, loss=case.loss, seed=seed, progress=False
                )
            except Exception as error:
                tally.verdicts["raised"] += 1
                print(f"{says}: raised {type(error).__name__}: {error}", flush=True)
                continue
            tally.verdicts[report.verdict] += 1
            tally.evaluations.append(report.evaluations)
            how = sorted_out(case, report, tally, options.v)
            print(
                f"{says}: {report.verdict}, {report.evaluations} evaluations, "
                f"{time.perf_counter() - t0:.1f} s: {how}",
                flush=True,
            )
    for line in summary(tally, modules, time.perf_counter() - begun) if modules else ():
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
