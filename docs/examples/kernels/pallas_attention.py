"""Causal attention as a Pallas kernel, forward and backward by hand.

Each program computes a block of rows, with all keys in its memory. It runs on a GPU or a TPU, and
on any CPU by interpretation.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BLOCK = 16
INTERPRET = jax.default_backend() == "cpu"


def in_float32(*refs):
    return [one[...].astype(jnp.float32) for one in refs]


def scores(q, k, first_row=0, first_key=0):
    """Return scaled products, and -inf where a row may not look."""
    rows = first_row + jnp.arange(len(q))[:, None]
    keys = first_key + jnp.arange(len(k))[None, :]
    return jnp.where(keys <= rows, q @ k.T * q.shape[1] ** -0.5, -jnp.inf)


def forward(q_ref, k_ref, v_ref, out_ref, lse_ref):
    """Compute a block of outputs, and the logarithms of the sums that the softmax divides by."""
    q, k, v = in_float32(q_ref, k_ref, v_ref)
    s = scores(q, k, first_row=BLOCK * pl.program_id(0))
    lse = jax.nn.logsumexp(s, axis=1)
    out_ref[...] = (jnp.exp(s - lse[:, None]) @ v).astype(out_ref.dtype)
    lse_ref[...] = lse


def backward_q(q_ref, k_ref, v_ref, dout_ref, lse_ref, delta_ref, dq_ref):
    """Compute a block of the gradient of q."""
    q, k, v, dout = in_float32(q_ref, k_ref, v_ref, dout_ref)
    s = scores(q, k, first_row=BLOCK * pl.program_id(0))
    ds = jnp.exp(s - lse_ref[...][:, None]) * (dout @ v.T - delta_ref[...][:, None])
    dq_ref[...] = (ds @ k * q.shape[1] ** -0.5).astype(dq_ref.dtype)


def backward_kv(q_ref, k_ref, v_ref, dout_ref, lse_ref, delta_ref, dk_ref, dv_ref):
    """Compute a block of the gradients of k and v."""
    q, k, v, dout = in_float32(q_ref, k_ref, v_ref, dout_ref)
    s = scores(q, k, first_key=BLOCK * pl.program_id(0))
    p = jnp.exp(s - lse_ref[...][:, None])
    ds = p * (dout @ v.T - delta_ref[...][:, None])
    dk_ref[...] = (ds.T @ q * q.shape[1] ** -0.5).astype(dk_ref.dtype)
    dv_ref[...] = (p.T @ dout).astype(dv_ref.dtype)


def launch(kernel, blocks, out_shape, split, *arrays):
    """Run a kernel for one head; those of the arrays that are split, and all outputs, by blocks."""

    def by_block(array):
        rest = array.shape[1:]
        return pl.BlockSpec((BLOCK, *rest), lambda block: (block, *(0 for _ in rest)))

    def whole(array):
        return pl.BlockSpec(array.shape, lambda block: (0,) * array.ndim)

    return pl.pallas_call(
        kernel,
        grid=(blocks,),
        in_specs=[by_block(one) if k in split else whole(one) for k, one in enumerate(arrays)],
        out_specs=jax.tree.map(by_block, out_shape),
        out_shape=out_shape,
        interpret=INTERPRET,
    )(*arrays)


def heads(kernel, blocks, out_shape, split, *arrays):
    return jax.vmap(partial(launch, kernel, blocks, out_shape, split))(*arrays)


@jax.custom_vjp
def attention(q, k, v):
    """softmax(q k' / sqrt(d), causal) v for q, k and v of (heads, n, d); n is a multiple of 16."""
    return run(q, k, v)[0]


def run(q, k, v):
    like, lse = (
        jax.ShapeDtypeStruct(q.shape[1:], q.dtype),
        jax.ShapeDtypeStruct(q.shape[1:2], jnp.float32),
    )
    return heads(forward, q.shape[1] // BLOCK, (like, lse), {0}, q, k, v)


def run_and_keep(q, k, v):
    out, lse = run(q, k, v)
    return out, (q, k, v, out, lse)


def backward(kept, dout):
    q, k, v, out, lse = kept
    delta = jnp.sum(out.astype(jnp.float32) * dout.astype(jnp.float32), axis=-1)
    like, blocks = jax.ShapeDtypeStruct(q.shape[1:], q.dtype), q.shape[1] // BLOCK
    given = q, k, v, dout, lse, delta
    dq = heads(backward_q, blocks, like, {0, 3, 4, 5}, *given)
    dk, dv = heads(backward_kv, blocks, (like, like), {1, 2}, *given)
    return dq, dk, dv


attention.defvjp(run_and_keep, backward)
