"""Right answers in the many forms that students give them: each earns everything.

Each block begins with its name, and its functions take the places of those of the solution.
"""

import re

RIGHT = {}
RIGHT["01"] = """
# while loop over flat indices
def forward_difference(f, x, h):
    out, here, i = np.empty(x.size), f(x.copy()), 0
    while i < x.size:
        y = x.copy().ravel()
        y[i] = y[i] + h
        out[i] = (f(y.reshape(x.shape)) - here) / h
        i += 1
    return out.reshape(x.shape)
# a basis vector, with a comprehension
def forward_difference(f, x, h):
    here, eye = f(x), np.eye(x.size)
    return np.array([(f(x + h * e.reshape(x.shape)) - here) / h for e in eye]).reshape(x.shape)
# nditer, and asarray
def forward_difference(f, x, h):
    x = np.asarray(x, dtype=np.float64)
    here, out = f(x), np.zeros_like(x)
    it = np.nditer(x, flags=["multi_index"])
    for _ in it:
        moved = np.array(x, copy=True)
        moved[it.multi_index] += h
        out[it.multi_index] = (f(moved) - here) / h
    return out
"""
RIGHT["02"] = """
# moved in place, and put back
def central_difference(f, x, h):
    x, out = x.copy(), np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        old = x[i]
        x[i] = old + h
        ahead, fa = float(x[i]), f(x.copy())
        x[i] = old - h
        behind, fb = float(x[i]), f(x.copy())
        x[i] = old
        out[i] = (fa - fb) / (ahead - behind)
    return out
# the weights by einsum
def array_difference(f, x, upstream, h):
    def weighted(y):
        return np.vdot(upstream, f(y))
    return central_difference(weighted, x, h)
# output by output
def array_difference(f, x, upstream, h):
    total = np.zeros(x.shape)
    for k in np.ndindex(upstream.shape):
        total = total + upstream[k] * central_difference(lambda y: f(y)[k], x, h)
    return total
"""
RIGHT["03"] = """
# fmax of a NaN that comes back
def relative_error(analytic, numeric, floor=1e-8):
    size = np.fmax(np.fmax(np.abs(analytic), np.abs(numeric)), floor)
    size = np.where(size > 0, size, 1)
    return np.array([abs(a - n) / s for a, n, s in zip(analytic, numeric, size)])
# a loop with math
def relative_error(analytic, numeric, floor=1e-8):
    import math
    out = np.empty(np.shape(analytic))
    for i in np.ndindex(out.shape):
        a, n = float(analytic[i]), float(numeric[i])
        size = max(abs(a), abs(n), floor)
        if math.isnan(a) or math.isnan(n):
            out[i] = math.nan
        else:
            out[i] = abs(a - n) / size if size else 0.0
    return out
# divide where there is something
def relative_error(analytic, numeric, floor=1e-8):
    size = np.maximum.reduce([np.abs(analytic), np.abs(numeric), np.full_like(numeric, floor)])
    return np.divide(np.abs(numeric - analytic), size, out=np.zeros_like(size), where=size != 0)
# errstate and nan_to_num of zeros alone
def relative_error(analytic, numeric, floor=1e-8):
    with np.errstate(all="ignore"):
        size = np.stack([abs(analytic), abs(numeric), 0 * numeric + floor]).max(axis=0)
        e = abs(analytic - numeric) / size
    e[(analytic == 0) & (numeric == 0)] = 0
    return e
# from the worst on
def band(errors, kinks=False):
    if np.isnan(errors).any() or errors.max() > 1e-2:
        return "wrong"
    if (errors <= 1e-7).all():
        return "good"
    return ("suspicious", "fine with kinks")[bool(kinks and (errors <= 1e-4).all())]
"""
RIGHT["04"] = """
# a loop
def allclose(analytic, numeric, rtol, atol):
    if np.shape(analytic) != np.shape(numeric):
        raise ValueError("two shapes")
    if analytic.size == 0:
        return False
    for a, n in zip(analytic.flat, numeric.flat):
        if not (np.isfinite(a) and np.isfinite(n)):
            return False
        if abs(a - n) > atol + rtol * abs(n):
            return False
    return True
# np.bool, by the other formula
def allclose(analytic, numeric, rtol, atol):
    if analytic.shape != numeric.shape:
        raise ValueError
    finite = np.isfinite(analytic).all() & np.isfinite(numeric).all()
    if not finite or not analytic.size:
        return np.False_
    return np.max(np.abs(analytic - numeric) - rtol * np.abs(numeric)) <= atol
# sums of what is not close
def allclose(analytic, numeric, rtol, atol):
    if analytic.shape != numeric.shape:
        raise ValueError(f"{analytic.shape} is not {numeric.shape}")
    close = np.less_equal(np.abs(numeric - analytic), rtol * np.abs(numeric) + atol)
    close &= ~np.isnan(numeric - analytic) & ~np.isinf(numeric) & ~np.isinf(analytic)
    return 0 < close.sum() == close.size
"""
RIGHT["05"] = """
# numbers in arrays, and argmin
def adaptive(f, x):
    hs = np.array(STEPS)
    fine = np.array([five_point(f, x, h / 2) for h in hs])
    coarse = np.array([five_point(f, x, h) for h in hs])
    bars = np.abs(coarse - fine) + 4 * EPS * (np.abs(f(x)) + np.abs(x * fine)) / hs
    k = bars.argmin()
    return fine[k], bars[k]
# the smallest of pairs, and another arrangement
def five_point(f, x, h):
    near, far = central(f, x, h), central(f, x, 2 * h)
    return near + (near - far) / 3
def adaptive(f, x):
    def at(h):
        fine = five_point(f, x, 0.5 * h)
        rounding = 4 * EPS / h * abs(f(x)) + 4 * EPS / h * abs(x * fine)
        return abs(five_point(f, x, h) - fine) + rounding, fine
    bar, value = min(map(at, STEPS))
    return value, bar
# in a list
def five_point(f, x, h):
    return central(f, x, h) * 4 / 3 - central(f, x, 2 * h) / 3
def adaptive(f, x):
    found = sorted((abs(five_point(f, x, h) - five_point(f, x, h / 2))
        + 4 * EPS * (abs(f(x)) + abs(x * five_point(f, x, h / 2))) / h, i)
        for i, h in enumerate(STEPS))
    bar, i = found[0]
    return [five_point(f, x, STEPS[i] / 2), bar]
"""
RIGHT["06"] = """
# by the mask
def relu(x):
    return x * (x > 0)
def relu_backward(x, upstream):
    grad = upstream.copy()
    grad[x <= 0] = 0
    return grad
# by absolute values, and the sign
def relu(x):
    return (x + np.abs(x)) / 2
def relu_backward(x, upstream):
    return (np.sign(x) + 1) / 2 * upstream
# a loop over entries
def relu(x):
    out = np.array(x, float)
    for i in np.ndindex(out.shape):
        if out[i] < 0: out[i] = 0
    return out
def relu_backward(x, upstream):
    out = np.zeros_like(upstream)
    for i, v in np.ndenumerate(x):
        out[i] = upstream[i] if v > 0 else 0.0
    return out
# multiply into an output
def relu_backward(x, upstream):
    return np.multiply(upstream, np.greater(x, 0), out=np.empty_like(x))
# masked array
def relu_backward(x, upstream):
    return np.ma.masked_where(x <= 0, upstream).filled(0.0)
# says complex without it
def relu_backward(x, upstream):
    complexity = x.size
    marker = "D"
    return (np.reshape(x, complexity) > 0).reshape(x.shape) * np.asarray(upstream)
"""
RIGHT["07"] = """
# logarithms of probabilities
def log_softmax(scores):
    z = scores - np.max(scores, axis=-1, keepdims=True)
    return z - np.log(np.exp(z).sum(-1, keepdims=True))
def softmax(scores):
    return np.exp(log_softmax(scores))
def cross_entropy(scores, labels):
    return -log_softmax(scores)[np.arange(len(labels)), labels].mean()
def cross_entropy_backward(scores, labels):
    one_hot = np.eye(scores.shape[1])[labels]
    return (softmax(scores) - one_hot) / len(scores)
# logaddexp.reduce
def cross_entropy(scores, labels):
    lse = np.logaddexp.reduce(scores, axis=1)
    return np.mean(lse - np.take_along_axis(scores, labels[:, None], 1)[:, 0])
def cross_entropy_backward(scores, labels):
    p = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    p[range(len(p)), labels] -= 1.0
    p /= p.shape[0]
    return p
# row by row, with its own forward pass
def softmax(scores):
    def row(s):
        e = np.exp(s - s.max())
        return e / e.sum()
    return np.array([row(s) for s in scores])
def cross_entropy_backward(scores, labels):
    loss = cross_entropy(scores, labels)
    assert np.isfinite(loss)
    return np.concatenate([
        (softmax(scores[i : i + 1]) - (np.arange(scores.shape[1]) == y)) / len(labels)
        for i, y in enumerate(labels)])
# entry by entry, with a helper for each
def probability(row, k):
    top = max(row)
    total = 0.0
    for s in row:
        total += np.exp(s - top)
    return np.exp(row[k] - top) / total
def softmax(scores):
    out = np.zeros(scores.shape)
    for i in range(scores.shape[0]):
        for k in range(scores.shape[1]):
            out[i, k] = probability(scores[i], k)
    return out
def cross_entropy_backward(scores, labels):
    out = np.zeros(scores.shape)
    for i in range(scores.shape[0]):
        for k in range(scores.shape[1]):
            out[i][k] = (probability(scores[i], k) - (labels[i] == k)) / len(labels)
    return out
# by the Jacobian of softmax
def cross_entropy_backward(scores, labels):
    p = softmax(scores)
    n, c = p.shape
    jacobians = p[:, :, None] * np.eye(c) - p[:, :, None] * p[:, None, :]
    slopes = np.zeros((n, c))
    slopes[np.arange(n), labels] = -1 / np.maximum(p[np.arange(n), labels], 1e-300) / n
    d = np.einsum("nij,nj->ni", jacobians, slopes)
    lost = p[np.arange(n), labels] < 1e-290
    d[lost] = ((p - np.eye(c)[labels]) / n)[lost]
    return d
# in place on a copy, with at
def cross_entropy_backward(scores, labels):
    grad = np.array(scores, dtype=np.float64, copy=True)
    grad -= grad.max(axis=1)[:, np.newaxis]
    np.exp(grad, out=grad)
    grad /= grad.sum(axis=1)[:, np.newaxis]
    np.subtract.at(grad, (np.arange(labels.size), labels), 1)
    grad *= 1 / labels.size
    return grad
# recursion over halves
def cross_entropy_backward(scores, labels):
    def halves(s, y):
        if len(y) == 1:
            return softmax(s) - np.eye(s.shape[1])[y]
        m = len(y) // 2
        return np.vstack([halves(s[:m], y[:m]), halves(s[m:], y[m:])])
    return halves(scores, labels) / len(labels)
# transposed
def softmax(scores):
    t = scores.T
    e = np.exp(t - t.max(axis=0))
    return (e / e.sum(axis=0)).T
# a cell with magic words in its text
def cross_entropy_backward(scores, labels):
    imag, real = "j", "complex128"
    p = softmax(np.ascontiguousarray(scores)).astype("float64")
    p[np.arange(len(labels)), labels] -= 1
    return p / len(labels) if imag and real else None
"""
RIGHT["08"] = """
# a dictionary of what forward has computed, and a list
def gradient(X, labels, W1, b1, W2, b2, lam):
    cache = dict(zip(("hidden", "scores"), forward(X, W1, b1, W2, b2)))
    n, classes = cache["scores"].shape
    p = np.exp(cache["scores"] - cache["scores"].max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    d = (p - (labels[:, None] == np.arange(classes))) / n
    dh = np.where(cache["hidden"] > 0, d.dot(W2.T), 0)
    return [X.T.dot(dh) + lam * W1, dh.sum(0), cache["hidden"].T.dot(d) + lam * W2, d.sum(0)]
# example by example
def gradient(X, labels, W1, b1, W2, b2, lam):
    dW1, db1, dW2, db2 = lam * W1, 0 * b1, lam * W2, 0 * b2
    for x, y in zip(X, labels):
        hidden, scores = forward(x[None], W1, b1, W2, b2)
        e = np.exp(scores[0] - scores.max())
        d = e / e.sum()
        d[y] -= 1
        d = d / len(X)
        back = (W2 @ d) * (hidden[0] > 0)
        dW2 += np.outer(hidden[0], d)
        db2 += d
        dW1 += np.outer(x, back)
        db1 += back
    return dW1, db1, dW2, db2
# loops for the products
def product(A, B):
    out = np.zeros((A.shape[0], B.shape[1]))
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            for k in range(A.shape[1]):
                out[i, j] += A[i, k] * B[k, j]
    return out
def gradient(X, labels, W1, b1, W2, b2, lam):
    hidden, scores = forward(X, W1, b1, W2, b2)
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    d = e / e.sum(axis=1, keepdims=True)
    d[np.arange(len(d)), labels] -= 1
    d /= len(d)
    dh = product(d, W2.T) * (hidden > 0)
    return product(X.T, dh) + lam * W1, dh.sum(0), product(hidden.T, d) + lam * W2, d.sum(0)
# biases as a column of ones
def gradient(X, labels, W1, b1, W2, b2, lam):
    ones = np.ones((len(X), 1))
    A, V1, V2 = np.hstack([X, ones]), np.vstack([W1, b1]), np.vstack([W2, b2])
    z = A @ V1
    H = np.hstack([np.clip(z, 0, None), ones])
    s = H @ V2
    p = np.exp(s - np.logaddexp.reduce(s, axis=1)[:, None])
    g = (p - np.eye(p.shape[1])[labels]) / len(X)
    dV2 = H.T @ g
    dV1 = A.T @ ((g @ W2.T) * np.heaviside(z, 0))
    return dV1[:-1] + lam * W1, dV1[-1], dV2[:-1] + lam * W2, dV2[-1]
"""
RIGHT["09"] = """
# other forms of right passes
def leaky_relu_backward(upstream, x):
    return np.where(x > 0, upstream, upstream * LEAK)
def elu_backward(upstream, x):
    return upstream * np.where(x > 0, 1.0, elu(x) + 1)
def embedding_backward(upstream, table, ids):
    one_hot = np.asarray(ids)[:, None] == np.arange(len(table))
    return one_hot.T.astype(float) @ upstream
# batch norm by its Jacobian
def batch_norm_backward(upstream, x):
    n = len(x)
    out = np.empty_like(x)
    for k in range(x.shape[1]):
        c = x[:, k] - x[:, k].mean()
        s = np.sqrt((c * c).mean() + EPS)
        J = (np.eye(n) - 1 / n - np.outer(c, c) / (n * s * s)) / s
        out[:, k] = J @ upstream[:, k]
    return out
"""
RIGHT["11"] = """
# np.var, and the formula with n
def batch_norm(x, gamma, beta, eps):
    return (x - x.mean(0)) / np.sqrt(x.var(0) + eps) * gamma + beta
def batch_norm_backward(upstream, x, gamma, eps):
    n, inverse = x.shape[0], 1 / np.sqrt(np.var(x, axis=0) + eps)
    x_hat = (x - np.mean(x, axis=0)) * inverse
    dgamma, dbeta = np.sum(upstream * x_hat, axis=0), np.sum(upstream, axis=0)
    return gamma * inverse / n * (n * upstream - dbeta - x_hat * dgamma), dgamma, dbeta
# step by step through the graph
def batch_norm_backward(upstream, x, gamma, eps):
    n = len(x)
    mu = x.sum(0) / n
    xc = x - mu
    var = (xc**2).sum(0) / n
    std = (var + eps) ** 0.5
    dxhat = upstream * gamma
    dxc = dxhat / std
    dstd = -(dxhat * xc / std**2).sum(0)
    dvar = 0.5 * dstd / std
    dxc = dxc + 2 * xc * dvar / n
    return dxc - dxc.mean(0), (upstream * xc / std).sum(0), upstream.sum(0)
# column by column, with its own forward pass
def batch_norm_backward(upstream, x, gamma, eps):
    dx, dgamma, dbeta = np.zeros(x.shape), [], []
    for k in range(x.shape[1]):
        column = x[:, k : k + 1]
        x_hat = batch_norm(column, np.ones(1), np.zeros(1), eps)[:, 0]
        u = upstream[:, k]
        dgamma.append(u @ x_hat)
        dbeta.append(u.sum())
        std = np.sqrt(column.var() + eps)
        dx[:, k] = gamma[k] / std * (u - u.mean() - x_hat * (u @ x_hat) / len(u))
    return dx, np.array(dgamma), np.array(dbeta)
# entry by entry
def batch_norm_backward(upstream, x, gamma, eps):
    n, m = x.shape
    mean, std = x.mean(0), np.sqrt(x.var(0) + eps)
    dx, dgamma, dbeta = np.zeros((n, m)), np.zeros(m), np.zeros(m)
    for k in range(m):
        for i in range(n):
            dgamma[k] += upstream[i, k] * (x[i, k] - mean[k]) / std[k]
            dbeta[k] += upstream[i, k]
        for i in range(n):
            h = (x[i, k] - mean[k]) / std[k]
            dx[i, k] = gamma[k] / std[k] * (upstream[i, k] - dbeta[k] / n - h * dgamma[k] / n)
    return dx, dgamma, dbeta
# by the whole Jacobian of a column
def batch_norm_backward(upstream, x, gamma, eps):
    n = len(x)
    c, std = x - x.mean(0), np.sqrt(x.var(0) + eps)
    h = c / std
    J = np.eye(n)[None] - 1 / n - np.einsum("ik,jk->kij", h, h) / n
    dx = np.einsum("kij,jk->ik", J, upstream * gamma) / std
    return dx, (upstream * h).sum(0), upstream.sum(0)
# another blind upstream
def blind_upstream(x):
    c = x - x.mean(axis=0)
    return 3 * c / np.abs(c).max(axis=0) + 0.5
"""
RIGHT["12"] = """
# seven loops
def convolve(x, w, b):
    F, C, K, L = w.shape
    H, V = x.shape[1] - K + 1, x.shape[2] - L + 1
    y = np.zeros((F, H, V))
    for f in range(F):
        for i in range(H):
            for j in range(V):
                y[f, i, j] = b[f] + np.sum(w[f] * x[:, i : i + K, j : j + L])
    return y
def convolve_backward(upstream, x, w):
    dx, dw, db = np.zeros_like(x), np.zeros_like(w), np.zeros(len(w))
    F, C, K, L = w.shape
    for f in range(F):
        for i in range(upstream.shape[1]):
            for j in range(upstream.shape[2]):
                u = upstream[f, i, j]
                db[f] += u
                dw[f] += u * x[:, i : i + K, j : j + L]
                dx[:, i : i + K, j : j + L] += u * w[f]
    return dx, dw, db
# nothing but loops
def convolve_backward(upstream, x, w):
    dx, dw, db = np.zeros_like(x), np.zeros_like(w), np.zeros(len(w))
    for f, i, j in np.ndindex(*upstream.shape):
        u = upstream[f, i, j]
        db[f] += u
        for c, p, q in np.ndindex(*w.shape[1:]):
            dw[f, c, p, q] += u * x[c, i + p, j + q]
            dx[c, i + p, j + q] += u * w[f, c, p, q]
    return dx, dw, db
# its own forward pass, with a flipped filter on a padded upstream
def convolve_backward(upstream, x, w):
    k, l = w.shape[2:]
    padded = np.pad(upstream, [(0, 0), (k - 1, k - 1), (l - 1, l - 1)])
    dx = convolve(padded, w[:, :, ::-1, ::-1].swapaxes(0, 1), np.zeros(len(x)))
    dw = np.stack([convolve(c[None], upstream[:, None], np.zeros(len(w))) for c in x], axis=1)
    return dx, dw, upstream.sum(axis=(1, 2))
# windows by strides
def convolve(x, w, b):
    v = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(1, 2))
    return np.tensordot(w, v, axes=([1, 2, 3], [0, 3, 4])) + b.reshape(-1, 1, 1)
# columns of windows, and a product
def convolve_backward(upstream, x, w):
    f, c, k, l = w.shape
    _, h, v = upstream.shape
    u = upstream.reshape(f, -1)
    columns = np.array([x[:, p : p + h, q : q + v].reshape(c, -1)
        for p in range(k) for q in range(l)]).swapaxes(0, 1).reshape(c * k * l, -1)
    dw = (u @ columns.T).reshape(w.shape)
    back = (w.reshape(f, -1).T @ u).reshape(c, k, l, h, v)
    dx = np.zeros(x.shape)
    for p in range(k):
        for q in range(l):
            dx[:, p : p + h, q : q + v] += back[:, p, q]
    return dx, dw, u.sum(1)
# the first winner takes it
def max_pool(x):
    a, b = np.maximum(x[:, ::2], x[:, 1::2]), None
    return np.maximum(a[:, :, ::2], a[:, :, 1::2])
def max_pool_backward(upstream, x):
    dx = np.zeros(x.shape)
    for c, i, j in np.ndindex(*upstream.shape):
        window = x[c, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
        p, q = np.unravel_index(window.argmax(), (2, 2))
        dx[c, 2 * i + p, 2 * j + q] += upstream[c, i, j]
    return dx
# window by window, which is slow for a large image
def convolve(x, w, b):
    (k, l), (h, v) = w.shape[2:], x.shape[1:]
    y = np.zeros((len(w), h - k + 1, v - l + 1))
    for i, j in np.ndindex(k, l):
        y += np.einsum("fc,chv->fhv", w[:, :, i, j], x[:, i : i + h - k + 1, j : j + v - l + 1])
    return y + b[:, None, None]
def convolve_backward(upstream, x, w):
    dx, dw, (k, l) = np.zeros(x.shape), np.zeros(w.shape), w.shape[2:]
    for i, j in np.ndindex(upstream.shape[1:]):
        u = upstream[:, i, j]
        dw += u[:, None, None, None] * x[None, :, i : i + k, j : j + l]
        dx[:, i : i + k, j : j + l] += np.tensordot(u, w, 1)
    return dx, dw, upstream.reshape(len(u), -1).sum(-1)
"""
RIGHT["13"] = """
# by the matrix of softmax
def softmax_jvp(tangent, z):
    p = softmax(z)
    return (np.diag(p) - np.outer(p, p)) @ tangent
def hessian_vector(tangent, x, A):
    return softmax_jvp(A @ tangent, A @ x) @ A
# loops, and the rule of quotients
def softmax_jvp(tangent, z):
    e = np.exp(z - np.max(z))
    s = e.sum()
    return (e * tangent * s - e * (e @ tangent)) / s / s
def asymmetry(hv, a, b):
    p, q = np.dot(hv(b), a), np.dot(hv(a), b)
    if p == q == 0:
        return 0.0
    return np.abs(p - q) / np.maximum(np.abs(p), np.abs(q))
def measured(gradient, x, tangent, h):
    ahead = np.asarray(gradient(x + tangent * h))
    behind = np.asarray(gradient(x - tangent * h))
    return 0.5 * (ahead - behind) / h
# entry by entry
def softmax_jvp(tangent, z):
    p = [float(v) for v in softmax(z)]
    mean = sum(a * b for a, b in zip(p, tangent))
    return [a * (t - mean) for a, t in zip(p, tangent)]
def hessian_vector(tangent, x, A):
    return np.dot(A.T, np.array(softmax_jvp(A.dot(tangent), A.dot(x))))
"""
RIGHT["14"] = """
# choice, and integers
def signs(seed, lines, n):
    return np.random.default_rng(seed).choice([-1, 1], size=(lines, n))
def residuals(f, x, claimed, lines, h):
    out = []
    for v in lines:
        out.append(np.dot(claimed, v) - slope_along(f, x, v, h))
    return out
def certificate(residuals):
    return max(abs(r) for r in residuals), 1 - 2.0 ** -len(residuals)
def suspect(residuals, lines):
    best = max(range(lines.shape[1]), key=lambda i: abs(residuals @ lines[:, i]))
    return best, np.mean(residuals * lines[:, best])
def mends(residuals, lines, claimed, repaired, allowed):
    return [bool(np.all(np.abs(residuals + lines @ (r - claimed)) <= allowed)) for r in repaired]
# where a number is small
def signs(seed, lines, n):
    return np.where(np.random.default_rng(seed).random((lines, n)) < 0.5, 1.0, -1.0)
def mends(residuals, lines, claimed, repaired, allowed):
    off = residuals[:, None] + lines @ (repaired - claimed).T
    return (np.abs(off) <= allowed).all(axis=0)
"""
RIGHT["15"] = """
# a mask by multiplication, and loops
def masks(seed, shape, p):
    rng = np.random.default_rng(seed)
    kept = rng.binomial(1, 1 - p, size=shape)
    return kept / (1 - p)
def forward(x, W, p, seed):
    m = masks(seed, (2,) + x.shape, p)
    a = np.tanh(x) * m[0]
    return np.tanh(np.dot(a, W)) * m[1]
def backward(upstream, x, W, p, seed):
    m = masks(seed, (2,) + x.shape, p)
    t = np.tanh(x)
    a = t * m[0]
    s = np.tanh(a @ W)
    du = upstream * m[1]
    du *= 1 - s**2
    da = np.einsum("nk,jk->nj", du, W)
    da *= m[0]
    return da / np.cosh(x) ** 2
def repeatable(f, x):
    one, two = np.asarray(f(x)), np.asarray(f(x))
    return one.shape == two.shape and bool((one == two).all())
def unseen(p, n, k):
    expected = n
    for _ in range(k):
        expected *= p
    return expected
# row by row
def backward(upstream, x, W, p, seed):
    first, second = masks(seed, (2, *x.shape), p)
    rows = []
    for u, r, a, b in zip(upstream, x, first, second):
        t = np.tanh(r)
        s = np.tanh(W.T @ (t * a))
        rows.append(W @ (u * b * (1 - s * s)) * a * (1 - t * t))
    return np.array(rows)
"""
RIGHT["17"] = """
# one line for each word
def special(x):
    a, many = np.asarray(x), np.size(x) > 1
    applies = {
        "zeros": not np.any(a),
        "ones": np.array_equal(a, np.ones_like(a)),
        "equal": many and np.ptp(a) == 0,
        "symmetric": a.ndim == 2 and len(a) > 1 and np.array_equal(a, a.T),
        "one sign": many and abs(np.sign(a).sum()) == a.size,
        "one row": a.ndim == 2 and a.shape[0] == 1,
    }
    return [word for word in applies if applies[word]]
# sets of words
def special(x):
    words, values = set(), {float(v) for v in np.ravel(x)}
    if values == {0.0}: words.add("zeros")
    if values == {1.0}: words.add("ones")
    if np.size(x) >= 2:
        if len(values) == 1: words.add("equal")
        if min(values) > 0 or max(values) < 0: words.add("one sign")
    if np.ndim(x) == 2:
        rows, columns = np.shape(x)
        if rows == columns >= 2 and np.all(np.asarray(x) == np.transpose(x)): words.add("symmetric")
        if rows == 1: words.add("one row")
    return sorted(words)
"""
RIGHT["18"] = """
# by the spacing of the digits
def bfloat16(x):
    x = np.asarray(x, float)
    _, e = np.frexp(x)
    unit = 2.0 ** (e - 8.0)
    return np.rint(x / unit) * unit
def split(r):
    a, b = r
    return a @ b / len(a), ((a - b) ** 2).sum() / len(a) / 2
def whole(r, claims):
    k = r.shape[1]
    products = np.prod(r, axis=0)
    size = claims @ claims / k
    mean = products.mean()
    return mean / size, np.sqrt(((products - mean) ** 2).sum() / (k - 1) / k) / size
def verdict(square, doubt, tolerance):
    if np.isnan(square) or np.isnan(doubt):
        return "unsure"
    limit = tolerance * tolerance
    if square - 3 * doubt > limit:
        return "fail"
    return "pass" if np.clip(square, 0, None) + 3 * doubt <= limit else "unsure"
# line by line
def residuals(f, vjp, x, steps, count, seed):
    rng, columns, claims = np.random.default_rng(seed), [], []
    shape = np.asarray(f(x)).shape
    for _ in range(count):
        v = draw(rng, x.shape)
        u = draw(rng, shape)
        g = vjp(u)
        claims.append((g * v).sum())
        columns.append([residual(f, x, g, v, u, h) for h in steps])
    return np.transpose(columns), np.array(claims)
"""


def forms(table=RIGHT):
    """Yield (exercise, name, functions) for each block."""
    for number, text in table.items():
        blocks = re.split(r"^# (.+)\n", text, flags=re.MULTILINE)[1:]
        yield from ((number, *pair) for pair in zip(blocks[::2], blocks[1::2], strict=True))
