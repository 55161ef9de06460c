"""The check of torch's operators, each as torch's own tests call it, in double precision.

Run it by hand, with torch: ``python tests/tools/operators_of_torch.py``, which takes two
minutes; with names of operators only those, and with ``--reports`` all that is said of what does
not agree. What it prints is the table of docs/found.md, kept in docs/examples:
``... > docs/examples/torch_operators.txt``. It ends with 1 if something is refused, or raised,
for which no reason stands below, or if a wrong gradient passes.

Of every operator some calls are checked whose Jacobian is small, the vjp and the jvp. Where they
agree, a wrong vjp takes its turn, and f has no jvp to compare with: in one call all is 1 + 1e-3
times as large, in the next one entry of the gradient twice as large.
"""

import argparse
import sys
import types
import unittest
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from gradcheck_ref import check_jvp, check_vjp
from gradcheck_ref.adapters import from_torch

# So many calls of each. Their Jacobians have so many entries; where there are not enough of these,
# up to so many; and of what is larger, one.
CALLS, SMALL, LARGE = 2, 400, 5000

# The first of these that an operator takes.
DTYPES = (torch.float64, torch.complex128)

# The entry that is doubled is larger than this share of the largest; and a gradient whose largest
# is less than this is rounding.
SHARE, ROUNDING = 1e-3, 1e-12

# The verdict of an operator is the first of these that one of its calls has.
VERDICTS = ("refused", "raised", "unsure", "agree")
VERDICT_OF = {"fail": "refused", "unsure": "unsure", "pass": "agree"}
NO_REASON = "**not known yet**"

# Why torch is wrong.
DRAWN = "backward: zero, although the drawn numbers move with the mean and the spread"
REFUSED = {
    "as_strided_scatter": "backward: overwritten entries have a gradient, and the others have none",
    "cholesky_inverse": "forward mode: a wrong formula, nearly right next to the identity matrix",
    "nn.functional.max_unpool2d": (
        "backward: if several entries go to one place, the last stays, but all get a gradient"
    ),
    "normal": DRAWN,
    "normal, number_mean": DRAWN,
}

# Why nobody can tell, or not in so few evaluations.
STEPS = "f is a staircase, and the point is close to a step"
LINES = (
    "the smallest calls have many inputs, and lines through all of them see kinks, steps, or a "
    "Jacobian that is mostly zero"
)
UNSURE = {
    "bernoulli": STEPS,
    "round": STEPS,
    "round, decimals_0": STEPS,
    "round, decimals_3": STEPS,
    "nn.functional.hinge_embedding_loss": "its labels are among the inputs: f jumps there",
    "linalg.norm, subgradients_at_zero": "the point is at a kink, the gradient a subgradient",
    "erfc": "the slope is 9e-11, and f is 2, so f shows only three digits of it",
    "__rpow__": "a negative base: f is NaN",
    "nn.functional.multi_head_attention_forward": "a softmax that is 1 or 0 except for rounding",
    "prod": "a product of 125 factors curves too sharply for a line through all of them",
    "nn.functional.cosine_embedding_loss": "its labels are among the inputs: f jumps there",
} | dict.fromkeys(["ceil", "floor", "trunc", "nn.functional.scaled_dot_product_attention"], LINES)

# What from_torch cannot hand over, or a check cannot take.
NO_DTYPE = "NumPy has no such dtype"
RAISED = {
    "bfloat16": NO_DTYPE,
    "chalf": NO_DTYPE,
    "sparse.sampled_addmm": "the output is sparse, and NumPy has no such array",
    "torch.ops.aten._safe_softmax.default": "an infinity among the inputs: no slope exists there",
}


class Call:
    """One call of an operator, a function of those of its tensors that require a gradient.

    `point` has these tensors; of a sparse one its values.
    """

    def __init__(self, op: Any, sample: Any) -> None:
        self.op, self.sample = op, sample
        self.leaves, self.form = tree_flatten(((sample.input, *sample.args), sample.kwargs))
        self.moved = {
            k: leaf
            for k, leaf in enumerate(self.leaves)
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad
        }
        self.point = tuple(_array_of(leaf) for leaf in self.moved.values())

    def __call__(self, *tensors: Any) -> Any:
        """Call the operator as torch's gradcheck does, and draw the same numbers each time."""
        leaves = [one.clone() if isinstance(one, torch.Tensor) else one for one in self.leaves]
        for (k, leaf), tensor in zip(self.moved.items(), tensors, strict=True):
            leaves[k] = tensor if leaf.layout == torch.strided else _sparse_like(leaf, tensor)
        inputs, named = tree_unflatten(leaves, self.form)
        torch.default_generator.manual_seed(0)  # a hundred times as quick as torch.manual_seed
        output = self.op.gradcheck_wrapper(self.op.op, *inputs, **named)
        process = self.sample.output_process_fn_grad
        return output if process is None else process(output)


def _array_of(tensor: Any) -> np.ndarray:
    values = tensor.detach() if tensor.layout == torch.strided else tensor.detach().values()
    return np.array(values.resolve_conj().resolve_neg().numpy())


def _sparse_like(tensor: Any, values: Any) -> Any:
    where = tensor.detach()
    return torch.sparse_csr_tensor(where.crow_indices(), where.col_indices(), values, where.shape)


def size_of(tree: Any) -> int:
    """Count the numbers in arrays."""
    return sum(leaf.size for leaf in tree_flatten(tree)[0] if isinstance(leaf, np.ndarray))


def calls_of(op: Any, dtype: Any) -> list[Call | Exception]:
    """Choose calls with a small Jacobian, as different as the list is long."""
    found: list[tuple[int, Call | Exception]] = []
    torch.manual_seed(0)
    for sample in op.sample_inputs("cpu", dtype, requires_grad=True):
        try:
            call = Call(op, sample)
            inputs = size_of(call.point)
            entries = inputs and inputs * size_of(from_torch(call)(*call.point))
        except Exception as error:
            found.append((1, error))
            continue
        if entries:
            found.append((entries, call))
    small = [call for entries, call in found if entries <= SMALL]
    if len(small) >= CALLS:
        return [small[k * len(small) // CALLS] for k in range(CALLS)]
    found.sort(key=lambda one: one[0])
    return [call for k, (entries, call) in enumerate(found[:CALLS]) if k == 0 or entries <= LARGE]


def wrong_vjp(f: Any, point: tuple[np.ndarray, ...], which: int) -> Any:
    """Spoil a vjp in one of two ways; None if it is zero everywhere, but for rounding."""
    output = f(*point)
    if any(one.dtype.char in "efF" for one in tree_flatten(output)[0]):
        return None  # a slip of 1e-3 is none in a short dtype
    rng = np.random.default_rng(0)
    upstream = tree_map(lambda one: rng.normal(size=np.shape(one)), output)
    sizes = [np.abs(one) for one in _listed(f.vjp(upstream, *point))]
    largest = max(one.max(initial=0.0) for one in sizes)
    large = [
        (k, index)
        for k, one in enumerate(sizes)
        for index in np.ndindex(one.shape)
        if one[index] > max(SHARE * largest, ROUNDING)
    ]
    if not large:
        return None
    number, index = large[rng.integers(len(large))]

    def wrong(upstream: Any, *inputs: Any) -> Any:
        given = [np.array(one) for one in _listed(f.vjp(upstream, *inputs))]
        if which % 2:
            given[number][index] *= 2
        else:
            given = [(1 + 1e-3) * one for one in given]
        return tuple(given) if len(point) > 1 else given[0]

    return wrong


def _listed(gradients: Any) -> list[Any]:
    return list(gradients) if isinstance(gradients, tuple) else [gradients]


class Found(NamedTuple):
    """What became of a call of an operator, all that was said, and the verdict on a wrong vjp."""

    name: str
    verdict: str
    said: str = ""
    wrong: str = ""


def look_at(name: str, call: Call | Exception, which: int) -> Found:
    """Check one call, and a wrong vjp where it agrees."""
    try:
        if isinstance(call, Exception):
            raise call
        f = from_torch(call)
        reports = [check_vjp(f, call.point, progress=False)]
        with suppress(NotImplementedError):  # it has no forward mode
            reports.append(check_jvp(f, call.point, progress=False))
        worst = min((VERDICT_OF[one.verdict] for one in reports), key=VERDICTS.index)
        if worst != "agree":
            said = [one for one in reports if VERDICT_OF[one.verdict] == worst]
            return Found(name, worst, "\n".join(map(str, said)))
        vjp = wrong_vjp(f, call.point, which)
        if vjp is None:
            return Found(name, worst)
        alone = lambda *inputs: f(*inputs)  # noqa: E731  (without the products of f)
        alone.constant_outputs = f.constant_outputs
        report = check_vjp(alone, call.point, vjp, progress=False)
        return Found(name, worst, str(report) * (report.verdict != "fail"), report.verdict)
    except Exception as error:
        return Found(name, "raised", f"{type(error).__name__}: {error}")


def operators() -> Iterator[Any]:
    """Go through those of torch's operators that have a backward, each with its dtype."""
    # What torch's table imports for its own tests needs a package of which nothing is used here.
    sys.modules.setdefault("expecttest", types.ModuleType("expecttest"))
    sys.modules["expecttest"].TestCase = unittest.TestCase
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        kinds = [one for one in DTYPES if op.supports_dtype(one, "cpu")]
        if op.supports_autograd and kinds:
            yield op, kinds[0]


def table(found: list[Found]) -> Iterator[str]:
    """Write what was found as Markdown."""
    by_name: dict[str, list[Found]] = {}
    for one in found:
        by_name.setdefault(one.name, []).append(one)
    worst = {
        name: next(verdict for verdict in VERDICTS if any(one.verdict == verdict for one in some))
        for name, some in by_name.items()
    }
    yield f"| torch {torch.__version__.split('+')[0]} | operators | calls |"
    yield "| --- | ---: | ---: |"
    for verdict in reversed(VERDICTS):
        calls = [one for one in found if one.verdict == verdict]
        yield f"| {verdict} | {list(worst.values()).count(verdict)} | {len(calls)} |"
    yield f"| in all | {len(worst)} | {len(found)} |"
    yield ""
    wrong = [one.wrong for one in found if one.wrong]
    names = {one.name for one in found if one.wrong}
    yield (
        f"Of {len(wrong)} wrong gradients of {len(names)} operators {wrong.count('fail')} are "
        f"refused, {wrong.count('unsure')} unsure, {wrong.count('pass')} pass."
    )
    for verdict, reasons in (("refused", REFUSED), ("unsure", UNSURE), ("raised", RAISED)):
        yield ""
        yield f"| {verdict} | why |"
        yield "| --- | --- |"
        names = [
            name for name, some in by_name.items() if any(one.verdict == verdict for one in some)
        ]
        for reason in dict.fromkeys(reasons.get(name, NO_REASON) for name in names):
            every = ", ".join(f"`{one}`" for one in names if reasons.get(one, NO_REASON) == reason)
            yield f"| {every} | {reason} |"


def main() -> int:
    """Check what was asked for, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="operators; all without")
    parser.add_argument("--reports", action="store_true", help="what is said of each, to stderr")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    found = []
    for op, dtype in operators():
        if options.names and op.name not in options.names:
            continue
        name = op.name + (f", {op.variant_test_name}" if op.variant_test_name else "")
        for k, call in enumerate(calls_of(op, dtype)):
            found.append(look_at(name, call, k))
            if options.reports and found[-1].said:
                print(f"--- {name}: {found[-1].verdict}\n{found[-1].said}", file=sys.stderr)
    print("\n".join(table(found)))
    given = {"refused": REFUSED, "unsure": UNSURE, "raised": RAISED}
    unexplained = [one for one in found if one.name not in given.get(one.verdict, {one.name})]
    return int(bool(unexplained) or any(one.wrong == "pass" for one in found))


if __name__ == "__main__":
    sys.exit(main())
