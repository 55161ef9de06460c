"""RMS norm of rows of different lengths as a Triton kernel, forward and backward by hand.

Each program takes four rows. It runs on a GPU, and with TRITON_INTERPRET=1 on any CPU.
"""

import torch
import triton
import triton.language as tl

ROWS = 4
EPS = tl.constexpr(1e-6)


@triton.jit
def load(start, at, mask):
    return tl.load(start + at, mask=mask, other=0.0).to(tl.float32)


@triton.jit
def forward(X, W, Lengths, Y, Inverse, m, n, R: tl.constexpr, B: tl.constexpr):
    """Compute four rows of x / rms(x) * w, and 1 / rms(x)."""
    rows, columns = tl.program_id(0) * R + tl.arange(0, R), tl.arange(0, B)
    length = tl.load(Lengths + rows, mask=rows < m, other=1)
    inside = (rows[:, None] < m) & (columns[None, :] < length[:, None])
    at = rows[:, None] * n + columns[None, :]
    x = load(X, at, inside)
    w = load(W, columns, columns < n)
    inverse = 1 / tl.sqrt(tl.sum(x * x, 1) / length + EPS)
    y = x * inverse[:, None] * w[None, :]
    everywhere = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(Y + at, y.to(Y.dtype.element_ty), mask=everywhere)
    tl.store(Inverse + rows, inverse, mask=rows < m)


@triton.jit
def backward(X, W, Lengths, DY, Inverse, DX, DW, m, n, R: tl.constexpr, B: tl.constexpr):
    """Compute four rows of the gradient of x, and what they add to that of w."""
    rows, columns = tl.program_id(0) * R + tl.arange(0, R), tl.arange(0, B)
    length = tl.load(Lengths + rows, mask=rows < m, other=1)
    inside = (rows[:, None] < m) & (columns[None, :] < length[:, None])
    at = rows[:, None] * n + columns[None, :]
    x, dy = load(X, at, inside), load(DY, at, inside)
    w = load(W, columns, columns < n)
    inverse = load(Inverse, rows, rows < m)[:, None]
    normed, dnormed = x * inverse, dy * w[None, :]
    mean = tl.sum(normed * dnormed, 1) / length
    dx = (dnormed - normed * mean[:, None]) * inverse
    everywhere = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(DX + at, dx.to(DX.dtype.element_ty), mask=everywhere)
    tl.store(DW + tl.program_id(0) * n + columns, tl.sum(dy * normed, 0), mask=columns < n)


class Norm(torch.autograd.Function):
    """RMS norm of the first ``lengths[i]`` entries of row i of x, times w; zeros beyond them."""

    @staticmethod
    def forward(ctx, x, w, lengths):
        x, w = x.contiguous(), w.contiguous()  # the kernel takes rows to follow one another
        (m, n), y = x.shape, torch.empty_like(x)
        inverse = x.new_empty(m, dtype=torch.float32)
        width = triton.next_power_of_2(n)
        forward[(triton.cdiv(m, ROWS),)](x, w, lengths, y, inverse, m, n, ROWS, width)
        ctx.save_for_backward(x, w, lengths, inverse)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, w, lengths, inverse = ctx.saved_tensors
        (m, n), dx = x.shape, torch.zeros_like(x)
        blocks = triton.cdiv(m, ROWS)
        dw = x.new_zeros(blocks, n, dtype=torch.float32)
        width = triton.next_power_of_2(n)
        given = x, w, lengths, dy.contiguous(), inverse, dx, dw
        backward[(blocks,)](*given, m, n, ROWS, width)
        return dx, dw.sum(0).to(w.dtype), None
