"""Gradients that are measured, in the forms that students may hide them in: none earns everything.

The format is that of ``right_answers.py``.
"""

MEASURED = {}
MEASURED["06"] = """
# a complex step
def relu_backward(x, upstream):
    z = x + 1e-200j
    return upstream * np.imag(z * (z.real > 0)) * 1e200
"""
MEASURED["07"] = """
# a complex step without the word
def cross_entropy_backward(scores, labels):
    i = (-1) ** 0.5
    i = i - i.real
    h, out = 1e-30, np.zeros(scores.shape)
    for k in np.ndindex(scores.shape):
        moved = scores + 0 * i
        moved[k] += h * i
        out[k] = np.angle(np.exp(cross_entropy(moved, labels) - cross_entropy(scores, labels))) / h
    return out
# a complex step in its own copy of the loss
def cross_entropy_backward(scores, labels):
    out = np.zeros(scores.shape)
    for k in np.ndindex(scores.shape):
        z = np.array(scores, dtype="D")
        z[k] += 1e-30j
        z -= z.real.max(axis=1, keepdims=True)
        losses = np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(labels)), labels]
        out[k] = losses.mean().imag / 1e-30
    return out
# a complex step in a plain copy, for all rows at once
def cross_entropy_backward(scores, labels):
    plain, out = np.asarray(scores, float), np.zeros(scores.shape)
    for k in range(scores.shape[1]):
        z = plain - plain.max(axis=1, keepdims=True) + 1e-30j * (np.arange(scores.shape[1]) == k)
        losses = np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(labels)), labels]
        out[:, k] = losses.imag / 1e-30 / len(labels)
    return out
# a complex step in lists
def cross_entropy_backward(scores, labels):
    import cmath
    out = np.zeros(scores.shape)
    for i, (row, label) in enumerate(zip(scores.tolist(), labels.tolist())):
        for k in range(len(row)):
            z = [s - max(row) + 1e-30j * (j == k) for j, s in enumerate(row)]
            loss = cmath.log(sum(map(cmath.exp, z))) - z[label]
            out[i, k] = loss.imag / 1e-30 / len(labels)
    return out
# a long stencil, with forward passes
def cross_entropy_backward(scores, labels):
    weights, h, out = (3 / 4, -3 / 20, 1 / 60), 0.02, np.zeros(scores.shape)
    for k in np.ndindex(scores.shape):
        for m, weight in enumerate(weights, 1):
            for sign in (1, -1):
                moved = scores.copy()
                moved[k] += sign * m * h
                out[k] += sign * weight * cross_entropy(moved, labels) / h
    return out
# a long stencil, without them
def cross_entropy_backward(scores, labels):
    weights, h, out = (3 / 4, -3 / 20, 1 / 60), 0.02, np.zeros(scores.shape)
    for k in np.ndindex(scores.shape):
        for m, weight in enumerate(weights, 1):
            for sign in (1, -1):
                z = scores.copy()
                z[k] += sign * m * h
                z -= z.max(axis=1, keepdims=True)
                losses = np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(labels)), labels]
                out[k] += sign * weight * losses.mean() / h
    return out
# a long stencil, for all rows at once
def cross_entropy_backward(scores, labels):
    weights, h, out = (3 / 4, -3 / 20, 1 / 60), 0.01, np.zeros(scores.shape)
    for k in range(scores.shape[1]):
        for m, weight in enumerate(weights, 1):
            for sign in (1, -1):
                z = scores - scores.max(axis=1, keepdims=True)
                z[:, k] += sign * m * h
                losses = np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(labels)), labels]
                out[:, k] += sign * weight * losses / h
    return out / len(labels)
"""
MEASURED["08"] = """
# complex steps
def gradient(X, labels, W1, b1, W2, b2, lam):
    def cost(*parameters):
        hidden = X @ parameters[0] + parameters[1]
        hidden = hidden * (hidden.real > 0)
        z = hidden @ parameters[2] + parameters[3]
        z = z - z.real.max(axis=1, keepdims=True)
        losses = np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(labels)), labels]
        return losses.mean() + lam / 2 * ((parameters[0] ** 2).sum() + (parameters[2] ** 2).sum())
    found, parameters = [], [np.array(p, dtype="D") for p in (W1, b1, W2, b2)]
    for p in parameters:
        slopes = np.zeros(p.shape)
        for k in np.ndindex(p.shape):
            p[k] += 1e-30j
            slopes[k] = cost(*parameters).imag / 1e-30
            p[k] = p[k].real
        found.append(slopes)
    return tuple(found)
"""
MEASURED["11"] = """
# complex steps, without the word
def batch_norm_backward(upstream, x, gamma, eps):
    dx = np.zeros(x.shape)
    for k in np.ndindex(x.shape):
        z = x * (1 + (-1.0) ** 0.5 * 0)
        z = z.real + 0 * z
        z[k] += (-1) ** 0.5 * 1e-30
        z[k] = x[k] + (z[k] - z[k].real)
        dx[k] = np.sum(upstream * batch_norm(z, gamma, 0 * gamma, eps)).imag / 1e-30
    x_hat = (x - x.mean(0)) / np.sqrt(x.var(0) + eps)
    return dx, (upstream * x_hat).sum(0), upstream.sum(0)
"""
MEASURED["12"] = """
# steps of one, as it is linear
def convolve_backward(upstream, x, w):
    zero, dx, dw = np.zeros(len(w)), np.zeros(x.shape), np.zeros(w.shape)
    for k in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[k] = 1
        dx[k] = np.sum(upstream * convolve(e, w, zero))
    for k in np.ndindex(w.shape):
        e = np.zeros(w.shape)
        e[k] = 1
        dw[k] = np.sum(upstream * convolve(x, e, zero))
    return dx, dw, upstream.sum(axis=(1, 2))
"""
MEASURED["13"] = """
# a complex step along the direction
def softmax_jvp(tangent, z):
    size = np.abs(tangent).max() or 1.0
    moved = z + 1e-30j * (tangent / size)
    e = np.exp(moved - z.max())
    return (e / e.sum()).imag / 1e-30 * size
"""
MEASURED["15"] = """
# a complex step for every entry
def backward(upstream, x, W, p, seed):
    out = np.zeros(x.shape)
    for k in np.ndindex(x.shape):
        z = x.astype("D")
        z[k] += 1e-30j
        out[k] = np.sum(upstream * forward(z, W, p, seed)).imag / 1e-30
    return out
"""
