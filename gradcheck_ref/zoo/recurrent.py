"""Recurrent cells, single and unrolled.

``u`` is the upstream gradient, of the shape of the output.
"""

from typing import Any

import numpy as np

from .case import REVERSED, ZERO, Array, Case, case

SMOOTH = "recurrent smooth"


def sigma(x: Array) -> Any:
    """Logistic function."""
    return 1 / (1 + np.exp(-x))


def elman_cell() -> Case:
    """Differentiate h' = tanh(W x + U h + b)."""

    def f(x: Array, h: Array, W: Array, U: Array, b: Array) -> Any:
        return np.tanh(W @ x + U @ h + b)

    def vjp(u: Any, x: Array, h: Array, W: Array, U: Array, b: Array) -> Any:
        da = u * (1 - f(x, h, W, U, b) ** 2)
        return W.T @ da, U.T @ da, np.outer(da, x), np.outer(da, h), da

    def overwrites_state(u: Any, x: Array, h: Array, W: Array, U: Array, b: Array) -> Any:
        grads = vjp(u, x, h, W, U, b)
        h[:] = f(x, h, W, U, b)  # wrong: the caller's state
        return grads

    x = np.array([0.7, -1.1, 0.4])
    h = np.array([0.5, -0.8])
    W = np.array([[0.6, -0.2, 0.9], [-0.7, 0.3, 0.5]])
    U = np.array([[0.4, -1.2], [0.8, 0.1]])
    b = np.array([0.2, -0.3])
    return (
        case("elman_cell", f, vjp, SMOOTH, x, h, W, U, b)
        .bug("tanh-forgotten", "The upstream reaches W without passing the tanh.")
        .wrong("term-dropped", "unknown", lambda u, x, *_: np.outer(u, x), part=2)
        .bug("bias-forgotten", "The bias is added forward and forgotten backward.")
        .by(ZERO, part=4)
        .bug("state-not-transposed", "U instead of U^T; U is square, so the shapes agree.")
        .wrong(
            "transpose", "unknown", lambda u, x, h, W, U, b: U @ vjp(u, x, h, W, U, b)[4], part=1
        )
        .bug("new-state-for-old", "The state was overwritten before it was used.")
        .wrong("wrong-place", "unknown", lambda u, *p: np.outer(vjp(u, *p)[4], f(*p)), part=3)
        .bug("overwrites-state", "The cell keeps its new state in the array of the old one.")
        .wrong("in-place", "mutated", overwrites_state)
    )


def unrolled_rnn() -> Case:
    """Three steps of h = tanh(w x_t + U h), the last h returned."""

    def states(X: Array, w: Array, U: Array) -> list[Any]:
        h = [np.zeros(2)]
        for x in X:
            h.append(np.tanh(w * x + U @ h[-1]))
        return h

    def f(X: Array, w: Array, U: Array) -> Any:
        return states(X, w, U)[-1]

    def vjp(u: Any, X: Array, w: Array, U: Array, *, first_step: int = 0) -> Any:
        h = states(X, w, U)
        dX, dw, dU = np.zeros_like(X), np.zeros_like(w), np.zeros_like(U)
        for t in reversed(range(first_step, len(X))):
            da = u * (1 - h[t + 1] ** 2)
            dX[t] = da @ w
            dw += da * X[t]
            dU += np.outer(da, h[t])
            u = U.T @ da
        return dX, dw, dU

    def last_step_only(u: Any, X: Array, w: Array, U: Array) -> Any:
        h = states(X, w, U)
        return np.outer(u * (1 - h[-1] ** 2), h[-2])  # wrong: earlier steps use U too

    def not_transposed(u: Any, X: Array, w: Array, U: Array) -> Any:
        h, dX = states(X, w, U), np.zeros_like(X)
        for t in reversed(range(len(X))):
            da = u * (1 - h[t + 1] ** 2)
            dX[t] = da @ w
            u = U @ da  # wrong: U.T
        return dX

    X = np.array([0.9, -0.6, 1.2])
    w = np.array([0.7, -0.5])
    U = np.array([[0.8, -0.4], [0.3, 0.6]])
    return (
        case("unrolled_rnn", f, vjp, SMOOTH, X, w, U)
        .bug(
            "assigned-not-added", "U is shared by all steps; its gradient must be summed over them."
        )
        .wrong("missing-sum", "unknown", last_step_only, part=2)
        .bug("truncated", "Back-propagation through time is truncated after two of three steps.")
        .wrong("loop-bounds", "unknown", lambda u, *p: vjp(u, *p, first_step=1))
        .bug(
            "time-reversed",
            "The gradients are appended while walking backward, and never reversed.",
        )
        .by(REVERSED, part=0)
        .bug("not-transposed", "U instead of U^T between the steps.")
        .wrong("transpose", "unknown", not_transposed, part=0)
    )


def leaky_memory() -> Case:
    """m_t = a m_(t-1) + x_t, for a number a; all four m_t are returned."""

    def f(x: Array, a: Array) -> Any:
        memory = [x[0]]
        for x_t in x[1:]:
            memory.append(a * memory[-1] + x_t)
        return np.stack(memory)

    def vjp(u: Any, x: Array, a: Array) -> Any:
        m = f(x, a)
        dx, da = np.zeros_like(x), 0.0
        g = 0.0
        for t in reversed(range(len(x))):
            g = u[t] + a * g
            dx[t] = g
            da += g * m[t - 1] if t > 0 else 0.0
        return dx, np.asarray(da)

    return (
        case("leaky_memory", f, vjp, SMOOTH, np.array([1.1, -0.7, 0.5, 1.6]), np.array(0.8))
        .bug("one-step-back", "Only the previous step gets a gradient.")
        .wrong("truncated", "mask", lambda u, x, a: u + a * np.append(u[1:], 0), part=0)
        .bug("inputs-for-memory", "x_(t-1) instead of m_(t-1).")
        .wrong(
            "wrong-place", "unknown", lambda u, x, a: (vjp(u, x, a)[0][1:] * x[:-1]).sum(), part=1
        )
        .bug("decay-direct-only", "The decay gets only the gradient of the current step.")
        .wrong("truncated", "unknown", lambda u, x, a: (u[1:] * f(x, a)[:-1]).sum(), part=1)
        .bug("decay-not-summed", "One gradient per step is returned for one number.")
        .wrong(
            "missing-sum", "missing-sum", lambda u, x, a: vjp(u, x, a)[0][1:] * f(x, a)[:-1], part=1
        )
    )


def lstm_cell() -> Case:
    """Gates (rows: input, forget, candidate, output, before activation) and cell c to (h, c')."""

    def activated(z: Array) -> Any:
        return sigma(z[0]), sigma(z[1]), np.tanh(z[2]), sigma(z[3])

    def f(z: Array, c: Array) -> Any:
        i, fg, g, o = activated(z)
        c_new = fg * c + i * g
        return o * np.tanh(c_new), c_new

    def vjp(u: Any, z: Array, c: Array) -> Any:
        u_h, u_c = u
        i, fg, g, o = activated(z)
        t = np.tanh(fg * c + i * g)
        dc = u_c + u_h * o * (1 - t**2)
        dz = [
            dc * g * i * (1 - i),
            dc * c * fg * (1 - fg),
            dc * i * (1 - g**2),
            u_h * t * o * (1 - o),
        ]
        return np.stack(dz), dc * fg

    def output_gate_of_cell(u: Any, z: Array, c: Array) -> Any:
        dz, _ = vjp(u, z, c)
        i, fg, g, o = activated(z)
        dz[3] = u[0] * (fg * c + i * g) * o * (1 - o)  # wrong: tanh of the cell
        return dz

    z = np.array([[0.4, -0.7], [0.9, 0.2], [-0.5, 1.1], [0.3, -0.8]])
    return (
        case("lstm_cell", f, vjp, SMOOTH, z, np.array([0.6, -1.2]))
        .bug("through-cell-only", "The upstream of h never reaches the old cell.")
        .wrong("term-dropped", "mask", lambda u, z, c: u[1] * sigma(z[1]), part=1)
        .bug("tanh-of-cell-forgotten", "The second tanh is overlooked.")
        .wrong(
            "term-dropped",
            "unknown",
            lambda u, z, c: (u[1] + u[0] * sigma(z[3])) * sigma(z[1]),
            part=1,
        )
        .bug("output-gate-of-cell", "The output gate multiplies tanh(c'), not c'.")
        .wrong("wrong-place", "row-or-column", output_gate_of_cell, part=0)
        .bug("gates-swapped", "Libraries order the gates differently.")
        .wrong("order", "permuted", lambda u, z, c: vjp(u, z, c)[0][[1, 0, 2, 3]], part=0)
        .changed("memory-forgotten", "The old cell is detached.", ZERO, part=1)
    )


def gru_cell() -> Case:
    """Gates a (rows: update, reset, candidate, before activation), state h, matrix U."""

    def parts(a: Array, h: Array, U: Array) -> Any:
        z, r = sigma(a[0]), sigma(a[1])
        return z, r, np.tanh(a[2] + U @ (r * h))

    def f(a: Array, h: Array, U: Array) -> Any:
        z, _, n = parts(a, h, U)
        return (1 - z) * n + z * h

    def vjp(u: Any, a: Array, h: Array, U: Array) -> Any:
        z, r, n = parts(a, h, U)
        dn = u * (1 - z) * (1 - n**2)
        drh = U.T @ dn
        da = np.stack([u * (h - n) * z * (1 - z), drh * h * r * (1 - r), dn])
        return da, u * z + drh * r, np.outer(dn, r * h)

    a = np.array([[0.5, -0.9], [0.2, 0.7], [-0.4, 1.1]])
    h = np.array([0.8, -0.6])
    U = np.array([[0.9, -0.3], [0.4, 1.2]])
    return (
        case("gru_cell", f, vjp, SMOOTH, a, h, U)
        .bug("update-sign", "Papers disagree on which of z and 1 - z keeps the old state.")
        .wrong("sign", "row-or-column", lambda u, *p: vjp(u, *p)[0] * [[-1], [1], [1]], part=0)
        .bug(
            "copy-path-only",
            "The state gets the gradient of being copied, but not that of the candidate.",
        )
        .wrong("term-dropped", "unknown", lambda u, a, h, U: u * sigma(a[0]), part=1)
        .bug("reset-forgotten", "The reset gate is left out of the gradient of U.")
        .wrong(
            "term-dropped", "unknown", lambda u, a, h, U: np.outer(vjp(u, a, h, U)[0][2], h), part=2
        )
    )


CASES = (
    elman_cell, unrolled_rnn, leaky_memory, lstm_cell, gru_cell,
)  # fmt: skip
