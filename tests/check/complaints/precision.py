"""Right gradients that were refused: float32, 16 bits, and steps that do not fit."""

import numpy as np

from gradcheck_ref import check_gradient, check_jacobian, check_vjp

from .row import Complaint

RNG = np.random.default_rng(0)


def single(*arrays):
    return tuple(np.asarray(one, np.float32) for one in arrays)


# --- float32 and float16 ------------------------------------------------------------------------

HEAT, MILLE = np.float32(1004.7), np.float32(1e3)
IMAGE = RNG.normal(size=9).astype(np.float32)


def sampled(offsets):
    """Sample between the pixels of a row, as a deformable convolution does."""
    places = np.arange(1, 8, dtype=np.float32) + offsets
    left = np.floor(places).astype(int)
    share = places - left
    return (1 - share) * IMAGE[left] + share * IMAGE[left + 1]


def of_sampled(upstream, offsets):
    left = np.floor(np.arange(1, 8) + offsets).astype(int)
    return upstream * (IMAGE[left + 1] - IMAGE[left])


def of_linear(upstream, x, W, b):
    return W.T @ upstream, np.outer(upstream, x), upstream


def tree(W, x):
    """Compose three cells of a recurrent network."""
    for _ in range(3):
        x = np.tanh(W @ x)
    return np.sum(x)


def of_tree(W, x):
    states = [x]
    for _ in range(3):
        states.append(np.tanh(W @ states[-1]))
    dx, dW = np.ones_like(x), np.zeros_like(W)
    for before, after in zip(states[-2::-1], states[:0:-1], strict=True):
        dx = dx * (1 - after**2)
        dW += np.outer(dx, before)
        dx = W.T @ dx
    return dW, dx


def of_squared_error(output, target):
    given = 2 * (output - target) / np.float32(output.size)
    return given, -given


def normalised(x, gamma, beta, mean, std):
    return gamma * (x - mean) / std + beta


def of_normalised(upstream, x, gamma, beta, mean, std):
    u = upstream
    at = u * (x - mean) / std
    return u * gamma / std, at, u, -u * gamma / std, -gamma * at / std


# --- steps --------------------------------------------------------------------------------------

CENTRE = RNG.uniform(size=1000)


def camera(point):
    """Project a point; the divisor is in float32."""
    inverse = float(np.float32(1 / point[2]))
    return np.array([500 * point[0] * inverse, 500 * point[1] * inverse, inverse])


def of_camera(point):
    x, y, z = point
    return np.array(
        [[500 / z, 0, -500 * x / z**2], [0, 500 / z, -500 * y / z**2], [0, 0, -1 / z**2]]
    )


def of_bearing(p):
    r = np.hypot(p[0], p[1])
    return np.array([[-p[1] / r**2, p[0] / r**2], [p[0] / r, p[1] / r]])


def gated(x, W, b):
    return 1 / (1 + np.exp(-(W @ x + b)))


def of_gated(upstream, x, W, b):
    y = gated(x, W, b)
    return of_linear(upstream * y * (1 - y), x, W, b)


def hundred_times(f, _, vjp):
    """Check a layer with random numbers; return the first report that is no pass, or the last."""
    rng = np.random.default_rng(1)
    points = [tuple(rng.normal(size=n) for n in (5, (2, 5), 2)) for _ in range(100)]
    for point in points:
        report = check_vjp(f, point, vjp)
        if not report:
            break
    return report


def footstep(x):
    """Return the height of a foot along a cubic spline between nodes, and its speed."""
    t, (start, end, v0, v1) = 0.3, x
    height = start + v0 * t + (3 * (end - start) - 2 * v0 - v1) * t**2
    height += (v0 + v1 - 2 * (end - start)) * t**3
    return np.array([height, np.sin(height)])


def of_footstep(x):
    t = 0.3
    row = np.array([1 - 3 * t**2 + 2 * t**3, 3 * t**2 - 2 * t**3, t - 2 * t**2 + t**3, t**3 - t**2])
    return np.array([row, np.cos(footstep(x)[0]) * row])


def two_convolutions(k1, k2):
    """Return half the square of what two convolutions make of an image, with a relu between."""
    hidden = np.maximum(np.convolve(SIGNAL, k1, "valid"), 0)
    return 0.5 * np.sum(np.convolve(hidden, k2, "valid") ** 2)


def of_two_convolutions(k1, k2):
    before = np.convolve(SIGNAL, k1, "valid")
    hidden = np.maximum(before, 0)
    up = np.convolve(hidden, k2, "valid")
    back = np.convolve(up, k2[::-1]) * (before > 0)
    return (
        np.convolve(SIGNAL, back[::-1], "valid")[::-1],
        np.convolve(hidden, up[::-1], "valid")[::-1],
    )


SIGNAL = RNG.normal(size=24)
OPTIMUM = np.array([0.8, 1.5, 2.2])


STATS = "https://stats.stackexchange.com/questions/184220/"
STATS += "numeric-gradient-checking-how-close-is-close-enough"
JULIA = "https://discourse.julialang.org/t/"
JULIA += "why-does-forward-diff-yield-totally-different-gradients-compared-to-my-manual-"
JULIA += "perturbation/127918"
IPOPT = "http://list.coin-or.org/pipermail/ipopt/attachments/20140918/02ef3969/attachment.html"
STAN = "https://discourse.mc-stan.org/t/"
STAN += "relative-delta-in-finite-difference-approximations-of-derivatives/9224"

ROWS = [
    Complaint("a deformable convolution in float32", "CharlesShang/DCNv2 issue 13",
        "gradcheck reports a Jacobian mismatch; the answer is to switch to double",
        check_vjp, sampled, RNG.uniform(0.2, 0.8, 7).astype(np.float32), of_sampled,
        "pass", "offsets: all 49 entries agree"),
    Complaint("a linear layer in float32", "pytorch/pytorch issue 5351",
        "nn.Linear(2, 1) has -0.3512, and gradcheck measures -0.3576",
        check_vjp, lambda x, W, b: W @ x + b, single([0.3, 0.5], [[-0.4, 0.3]], [0.1]), of_linear,
        "pass", "x, W, b: all 5 entries agree"),
    Complaint("a convolution in float32", "intel/ipex-llm issue 833",
        "the gradient checker passes with double, and fails with float",
        check_vjp, lambda x, kernel: np.convolve(x, kernel, "valid"),
        single(RNG.uniform(size=32), RNG.normal(size=5)),
        lambda u, x, kernel: (np.convolve(u, kernel[::-1]), np.convolve(x, u[::-1], "valid")[::-1]),
        "pass", "x, kernel: all 1036 entries agree"),
    Complaint("an inner product of 200 numbers in float32", "PaddlePaddle/Paddle issue 4283",
        "rounding is larger than the tolerance of the unit test, even for x @ y",
        # How `x @ y` adds depends on the processor.
        check_gradient, lambda x, y: np.cumsum(x * y)[-1], single(*RNG.uniform(size=(2, 200))),
        lambda x, y: (y, x),
        "pass", "x, y: all 400 entries agree"),
    Complaint("a tree of cells, the larger the worse", "chainer/chainer issue 3046",
        "the check passes with 5 inputs and fails with 20, or with 30 in float64",
        check_gradient, tree, single(RNG.normal(size=(30, 30)) / 5, RNG.normal(size=30)), of_tree,
        "pass", "W, x: all 930 entries agree"),
    Complaint("numeric gradients of exactly 0", "automan000/Convolutional_LSTM_PyTorch issue 6",
        "all numeric entries that gradcheck shows are 0",
        check_gradient, lambda output, target: np.mean((output - target) ** 2),
        single(RNG.normal(size=48), np.ones(48)), of_squared_error,
        "pass", "output, target: all 96 entries agree"),
    Complaint("a step that float16 rounds away", "jax-ml/jax pull 39821",
        "check_grads moves x by 1e-4, less than float16 can hold, and measures 0",
        check_vjp, np.sin, RNG.normal(size=64).astype(np.float16),
        lambda upstream, x: upstream * np.cos(x),
        "pass", "x: right as a whole"),
    Complaint("a batch norm with small variances", "Theano/Theano issue 6803",
        "337197 for 257521 in the gradient of the deviation, with random numbers in float32",
        check_vjp, normalised, single(*RNG.uniform(2e-3, 1, (5, 9))), of_normalised,
        "pass", "x, gamma, beta, mean, std: all 405 entries agree"),
    Complaint("inputs that never move", "climate-analytics-lab/jax-gcm pull 847",
        "a step of 1e-3 does not change a float32 of 3e5, so the check says nothing",
        # dry static energies, in J/kg
        check_gradient, lambda temperature: np.sum(HEAT * temperature + temperature**2 / MILLE),
        RNG.uniform(2e5, 3e5, 20).astype(np.float32),
        lambda temperature: HEAT + 2 * temperature / MILLE,
        "pass", "temperature: all 20 entries agree"),
    Complaint("false errors of a sum of squares", "stevengj/nlopt issue 328",
        "check.derivatives finds 72 errors in sum((x - a)**2) of 1000 numbers",
        check_gradient, lambda x: np.sum((x - CENTRE) ** 2), np.arange(1.0, 1001),
        lambda x: 2 * (x - CENTRE),
        "pass", "x: all 1000 entries agree"),
    Complaint("a constant error of 0.54 %", "SauersML/gam issue 2461",
        "the step is a fifth of the scale of f: (h/s)**2 / 6 is blamed on the gradient",
        check_gradient, lambda x: np.sin(x / 1.6647e-3), 0.4,
        lambda x: np.cos(x / 1.6647e-3) / 1.6647e-3,
        "pass", "x: the only entry agrees"),
    Complaint("small and large inputs", STAN,
        "a step of 1e-3 is too long for small inputs and too short for large ones",
        check_jacobian, lambda x: np.array([np.exp(-1e6 * x[0]), np.log(x[1]), np.sin(x[2])]),
        np.array([1e-6, 1e6, 1.0]),
        lambda x: np.diag([-1e6 * np.exp(-1e6 * x[0]), 1 / x[1], np.cos(x[2])]),
        "pass", "all 9 entries agree"),
    Complaint("a float inside of double", "RainerKuemmerle/g2o issue 541",
        "the numeric Jacobian of a projection disagrees; 1 / z is a float",
        check_jacobian, camera, np.array([0.3, -0.2, 1.7]), of_camera,
        "pass", "right as a whole"),
    Complaint("a tolerance of 1e-9 for a step of 1e-5", "borglab/gtsam issue 168",
        "tests compare with numeric derivatives more closely than these are right",
        check_jacobian, lambda p: np.array([np.arctan2(p[1], p[0]), np.hypot(p[0], p[1])]),
        np.array([1.2, -0.7]), of_bearing,
        "pass", "using less than 1 % of the allowed error"),
    Complaint("three failures in 100 runs", "FluxML/Flux.jl issue 172",
        "the same test of a sigmoid layer fails for some random numbers",
        hundred_times, gated, None, of_gated,
        "pass", "x, W, b: all 34 entries agree"),
    Complaint("are errors of 0.01 inevitable?", "ethz-adrl/towr issue 83",
        "Ipopt's derivative test shows entries that differ a little",
        check_jacobian, footstep, np.array([0.1, 0.4, -0.5, 0.8]), of_footstep,
        "pass", "using less than 1 % of the allowed error"),
    Complaint("is it my adjoint, or the checker?", "FluxML/Zygote.jl pull 464",
        "ngradient has an error of 1e-7 in a sum of sines",
        check_gradient, lambda x: np.sum(np.sin(x)), np.arange(1, 100, 0.1), np.cos,
        "pass", "all 990 entries agree"),
    Complaint("how close is close enough?", STATS,
        "13 digits match in most layers of a network, but only 3 in its first convolution",
        check_gradient, two_convolutions, (RNG.normal(size=5), RNG.normal(size=3)),
        of_two_convolutions,
        "pass", "k1, k2: all 8 entries agree"),
    Complaint("a perturbation of 3 %", JULIA,
        "forward mode and the slope within 3 % of each parameter are totally different",
        # it bends within 3 % of the optimum
        check_gradient, lambda p: np.sum(np.cosh(40 * (p / OPTIMUM - 1.001))), OPTIMUM,
        lambda p: 40 * np.sinh(40 * (p / OPTIMUM - 1.001)) / OPTIMUM,
        "pass", "p: all 3 entries agree"),
    Complaint("what does the derivative checker do?", IPOPT,
        "it reports errors in the gradient of a sum of 50 squares, which is 2 * x",
        check_gradient, lambda x: np.sum(x**2), np.arange(50.0), np.arange(0, 100, 2.0),
        "pass", "x: all 50 entries agree"),
]  # fmt: skip
