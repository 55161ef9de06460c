"""Two kernels with right and wrong backwards, judged by this check and by what is used otherwise.

Prints a table. A kernel runs in its interpreter if there is no GPU.
"""

import os
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np

os.environ.setdefault("TRITON_INTERPRET", "1")  # before triton is imported

import jax
import torch
import triton
from jax.test_util import check_grads

sys.path.insert(0, str(Path(__file__).parent / "kernels"))
from mistakes import MISTAKES, kernel

from gradcheck_ref import check_vjp
from gradcheck_ref.adapters import from_jax, from_torch

RNG = np.random.default_rng(0)
DTYPES = "float32", "bfloat16"
DEVICE = "cuda" if torch.cuda.is_available() and not triton.knobs.runtime.interpret else "cpu"

# Six rows, of which the second block has two.
ROWS = {
    "x": RNG.normal(size=(6, 12)).astype(np.float32),
    "w": RNG.uniform(0.5, 1.5, size=12).astype(np.float32),
    "lengths": np.array([12, 5, 9, 12, 7, 10]),
}
HEADS = {name: RNG.normal(size=(2, 32, 16)).astype(np.float32) for name in "qkv"}


def norm_by_torch(x, w, lengths):
    inside = torch.arange(x.shape[1], device=x.device) < lengths[:, None]
    x32 = torch.where(inside, x.float(), 0.0)
    inverse = torch.rsqrt((x32**2).sum(1, keepdim=True) / lengths[:, None] + 1e-6)
    return (x32 * inverse * w.float()).to(x.dtype)


def attention_by_jax(q, k, v):
    q, k, v = (one.astype("float32") for one in (q, k, v))
    scores = q @ k.swapaxes(1, 2) * q.shape[-1] ** -0.5
    seen = jax.numpy.tril(jax.numpy.ones(scores.shape[1:], bool))
    return jax.nn.softmax(jax.numpy.where(seen, scores, -np.inf)) @ v


def close(found, expected):
    """Compare with a reference, as authors of kernels do."""
    pairs = zip(found, expected, strict=True)
    return all(np.allclose(a, b, rtol=1e-2, atol=1e-2) for a, b in pairs)


def judged_norm(module, dtype):
    """Return the report, and whether gradcheck and a comparison accept the RMS norm."""

    def norm(x, w, lengths):
        return module.Norm.apply(x, w, lengths)

    report = check_vjp(from_torch(norm, DEVICE, dtype), ROWS)
    lengths = torch.tensor(ROWS["lengths"], device=DEVICE)
    point = [torch.tensor(ROWS[one], device=DEVICE, dtype=getattr(torch, dtype)) for one in "xw"]
    for one in point:
        one.requires_grad_()
    accepts = partial(torch.autograd.gradcheck, raise_exception=False)
    with warnings.catch_warnings(action="ignore"):  # that these are not in double precision
        by_peer = accepts(partial(norm, lengths=lengths), point)
    upstream = 0.1 * torch.tensor(RNG.normal(size=(6, 12))).to(point[0])
    both = [
        [one.float().cpu() for one in torch.autograd.grad(f(*point, lengths), point, upstream)]
        for f in (norm, norm_by_torch)
    ]
    return report, by_peer, close(*both)


def judged_attention(module, dtype):
    """Return the report, and whether check_grads and a comparison accept the attention."""

    def attention(q, k, v):
        return module.attention(*(one.astype(dtype) for one in (q, k, v)))

    report = check_vjp(from_jax(jax.jit(attention)), HEADS)
    point = tuple(jax.numpy.asarray(one, dtype) for one in HEADS.values())
    try:
        check_grads(module.attention, point, order=1, modes=["rev"])
        by_peer = True
    except AssertionError:
        by_peer = False
    upstream = jax.numpy.asarray(0.1 * RNG.normal(size=(2, 32, 16)), dtype)
    both = []
    for f in (module.attention, attention_by_jax):
        out, pull_back = jax.vjp(f, *point)
        both.append([np.asarray(one, np.float32) for one in pull_back(upstream.astype(out.dtype))])
    return report, by_peer, close(*both)


KERNELS = {
    "triton_norm": ("RMS norm in Triton", judged_norm),
    "pallas_attention": ("attention in Pallas", judged_attention),
}


def words(accepted):
    return "accepts" if accepted else "refuses"


def rows():
    for name, (title, judged) in KERNELS.items():
        for mistake in (None, *MISTAKES[name]):
            module, cells = kernel(name, mistake), []
            for dtype in DTYPES:
                report, by_peer, by_reference = judged(module, dtype)
                # In 16 bits the noise of this machine decides what can be named.
                known = report.diagnoses if dtype == "float32" else ()
                named = "; ".join(f"{one.subject}: {one.kind}" for one in known)
                verdict = report.verdict + (f", {named}" if named else "")
                cells.append((verdict, words(by_peer), words(by_reference)))
            pairs = (
                one if one == other else f"{one} / {other}"
                for one, other in zip(*cells, strict=True)
            )
            yield f"| {title}, {mistake or 'right'} | {' | '.join(pairs)} |"


if __name__ == "__main__":
    print("| float32 / bfloat16 | this check | gradcheck, check_grads | a reference |")
    print("| --- | --- | --- | --- |")
    for row in rows():
        print(row, flush=True)
