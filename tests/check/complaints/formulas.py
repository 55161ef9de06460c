"""Wrong derivatives: factors, signs, terms and places."""

import numpy as np

from gradcheck_ref import check_gradient, check_jacobian, check_jvp, check_vjp

from .row import Complaint

RNG = np.random.default_rng(0)

# --- factors ------------------------------------------------------------------------------------

CLOUD = RNG.normal(size=(5, 3))


def nearest(points):
    return ((points[:, None] - CLOUD) ** 2).sum(axis=2)


def chamfer(points):
    """Return the mean squared distance to the nearest point of another cloud, both ways."""
    return nearest(points).min(axis=1).mean() + nearest(points).min(axis=0).mean()


def half_of_chamfer(points):
    given = np.zeros(points.shape)
    for k, there in enumerate(nearest(points).argmin(axis=1)):
        given[k] += (points[k] - CLOUD[there]) / len(points)
    for there, k in enumerate(nearest(points).argmin(axis=0)):
        given[k] += (points[k] - CLOUD[there]) / len(CLOUD)
    return given


NODES = np.array([[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]])


def written_and_not_added(x):
    given = np.zeros(x.size)
    for nodes in NODES:
        given[nodes] = np.cos(x[nodes])
    return given


X, Y = RNG.normal(size=(6, 3)), np.array([0, 1, 1, 0, 1, 0])


def svm(W, reg=0.05):
    scores = X @ W
    margins = np.maximum(0, scores - scores[np.arange(6), Y][:, None] + 1)
    return (margins.sum() - 6) / 6 + reg * np.sum(W**2)


def of_svm(W, reg=0.05):
    scores = X @ W
    counted = (scores - scores[np.arange(6), Y][:, None] + 1 > 0).astype(float)
    counted[np.arange(6), Y] -= counted.sum(axis=1)
    return X.T @ counted / 6 + reg * W  # wrong: 2 * reg


def network(W1, b1, W2, b2):
    """Return the mean loss of a two-layer network with softmax."""
    scores = np.tanh(X @ W1 + b1) @ W2 + b2
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return -np.log(p[np.arange(6), Y]).mean()


def of_network(W1, b1, W2, b2, per=6.0):
    hidden = np.tanh(X @ W1 + b1)
    scores = hidden @ W2 + b2
    d = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    d[np.arange(6), Y] -= 1
    d /= per
    before = d @ W2.T * (1 - hidden**2)
    return X.T @ before, before.sum(axis=0), hidden.T @ d, d.sum(axis=0)


NETWORK = tuple(RNG.normal(size=n) for n in ((3, 4), 4, (4, 2), 2))


# --- signs, conjugates and terms -----------------------------------------------------------------


Z = np.array([0.6 + 0.3j, 0.2 - 0.9j, -0.7 + 0.4j])


def sgn(z):
    return z / np.abs(z)


def jvp_of_sgn(tangent, z):
    along = np.real(np.conj(tangent) * sgn(z)) * sgn(z)
    return np.conj((tangent - along) / np.abs(z))


ANGLES = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 3.0, 4.0, 5.0])
TOKENS = np.array([2, 0, 2, 2, 1])


def last_occurrence(upstream, table):
    given = np.zeros(table.shape)
    given[TOKENS] = upstream  # wrong: np.add.at
    return given


# --- matrices and poses --------------------------------------------------------------------------

SPD = np.array([[2.0, 0.5, 0.3], [0.5, 1.5, -0.4], [0.3, -0.4, 1.0]])


HEADING = 1.57


def position(move):
    """Move a robot in its own frame; return where it is in the world."""
    c, s = np.cos(HEADING + move[2]), np.sin(HEADING + move[2])
    return np.array([2 + c * move[0] - s * move[1], s * move[0] + c * move[1]])


LANDMARK = np.array([2.0, 1.0])


def seen_from(pose):
    """Return where a landmark is in the frame of a robot."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.array([[c, s], [-s, c]]) @ (LANDMARK - pose[:2])


def turned_the_other_way(pose):
    c, s = np.cos(pose[2]), np.sin(pose[2])
    J = np.array([[-c, -s, 0], [s, -c, 0]])
    x, y = seen_from(pose)
    J[:, 2] = -y, x  # wrong: y, -x
    return J


def rotated(q):
    """Rotate a point by a quaternion, which is normalised first."""
    w, u = q[0] / np.linalg.norm(q), q[1:] / np.linalg.norm(q)
    return POINT + 2 * np.cross(u, np.cross(u, POINT) + w * POINT)


POINT = np.array([1.0, 2.0, 0.5])


def without_the_norm(q):
    """Differentiate as if q were not normalised."""
    w, v = q[0], q[1:]
    by_w, turned = 2 * np.cross(v, POINT), [np.cross(e, POINT) for e in np.eye(3)]
    by_v = [
        2 * (np.cross(e, np.cross(v, POINT)) + np.cross(v, one) + w * one)
        for e, one in zip(np.eye(3), turned, strict=True)
    ]
    return np.column_stack([by_w, *by_v])


UNIT, T = np.array([0.8, -0.36, 0.48]), np.array([0.0, 0.5, 1.0])


def scaled_late(x):
    y = np.tanh(x)
    y *= 2  # in place: the backward pass reads y
    return y


def of_late(upstream, x):
    return 2 * upstream * (1 - scaled_late(x) ** 2)  # wrong: of y before it was scaled


ROWS = [
    Complaint("half of the numeric gradient", "BVLC/caffe issue 6814",
        "computed 0.02003, estimated 0.04006, and so on: is the checker wrong?",
        check_gradient, chamfer, RNG.normal(size=(4, 3)), half_of_chamfer,
        "fail", "every entry is 1/2 x the numeric value"),
    Complaint("factors of 4 and 3", "coin-or/Ipopt issue 487",
        "grad_f is 0.0476 for 0.1905 at one node, and for 0.1425 at another",
        check_gradient, lambda x: np.sum(np.sin(x)[NODES]), RNG.normal(size=7),
        written_and_not_added,
        "fail", "each numeric value is a whole number times the entry, from 1 to 4"),
    Complaint("a penalty without its 2", "bruceoutdoors/CS231n issue 9",
        "dW adds reg * W, and the loss has reg * sum(W**2)",
        check_gradient, svm, RNG.normal(size=(3, 2)), of_svm,
        "fail", "it is the numeric value minus 0.05 times W"),
    Complaint("a mean on one side only", "dennybritz/nn-from-scratch issue 13",
        "the loss is a mean over the batch, and the gradients are sums",
        check_gradient, network, NETWORK, lambda *parameters: of_network(*parameters, per=1.0),
        "fail", "every entry is 6 x the numeric value"),
    Complaint("a difference of 0.333", "XingxingHuang/deeplearning.ai issue 4",
        "one number for all parameters: is it normal, and where is the bug?",
        check_gradient, network, NETWORK,
        lambda *parameters: tuple(map(np.multiply, (1, 4, 2, 1), of_network(*parameters))),
        "fail", "W2: every entry is 2 x the numeric value"),
    Complaint("a small function", "scipy/scipy issue 7766",
        "check_grad returns an absolute error: is the gradient right, or only small?",
        check_gradient, lambda x: 1e-9 * np.sum(x**3), RNG.normal(size=4), lambda x: 6e-9 * x**2,
        "fail", "every entry is 2 x the numeric value"),
    Complaint("a table of absolute errors", "stan-dev/stan issue 297",
        "among gradients of 1e8, an error of 5.5 in -38942.9 is hard to see",
        check_gradient, lambda x: x @ [5.5e7, -38948.4, 7.9e7], np.array([-1.3, 1.6, -1.5]),
        [5.5e7, -38942.9, 7.9e7],
        "fail", "only x[1] is wrong, of 3 entries"),
    Complaint("twice as much for the outer variable", "NVIDIA/warp issue 1293",
        "in two nested loops the gradient of one input is 2x the correct value",
        check_gradient, lambda parent, angle: np.sin(parent + angle) + 0.3 * parent, (0.4, 0.7),
        lambda parent, angle: (2 * (np.cos(parent + angle) + 0.3), np.cos(parent + angle)),
        "fail", "parent: every entry is 2 x the numeric value"),
    Complaint("4.8e-5 for 2.2e-4", "NVIDIA/warp issue 508",
        "the relative error is 1587, and the check passes",
        check_vjp, lambda actions: 1e-4 * np.sinh(actions), np.array([1.43, 0.2]),
        lambda upstream, actions: 0.2166 * upstream * 1e-4 * np.cosh(actions),
        "fail", "every entry is 0.2166 x the numeric value"),
    Complaint("wrong gradients pass", "chainer/chainer issue 3541",
        "the check compared nothing, because no_grads was a list of False",
        check_vjp, np.square, RNG.normal(size=3), lambda upstream, x: 3 * x * upstream,
        "fail", "every entry is 3/2 x the numeric value"),
    Complaint("approx_fprime fails for arrays", "scipy/scipy issue 2993",
        "check_grad takes no array of angles; without it a minus stays in the derivative",
        check_vjp, lambda angles: 1 + np.sin(np.radians(15) + angles), np.arange(0, 6, 1.0),
        lambda upstream, angles: -upstream * np.cos(np.radians(15) + angles),
        "fail", "the sign is wrong"),
    Complaint("right backward, wrong forward", "pytorch/pytorch issue 77246",
        "gradcheck of angle passes in backward mode and fails in forward mode",
        check_jvp, np.angle, Z,
        lambda tangent, z: np.imag(np.conj(tangent) * np.conj(z)) / np.abs(z) ** 2,
        "fail", "it is right except for a complex conjugate"),
    Complaint("sgn in forward mode", "pytorch/pytorch issue 80924",
        "-0.0658 + 0.2291i is measured, and 0.0658 + 0.2291i is claimed",
        check_jvp, sgn, Z, jvp_of_sgn,
        "fail", "it is right except for a complex conjugate"),
    Complaint("a Fourier transform", "locuslab/pytorch_fft issue 4",
        "gradcheck says False: it may miss a few well-placed transposes, or a conjugate",
        check_vjp, np.fft.fft, Z, lambda upstream, z: np.fft.fft(upstream),
        "fail", "it is right except for a complex conjugate"),
    Complaint("atan2 with its terms flipped", "getkeops/keops pull 155",
        "the two derivatives are in each other's place",
        check_vjp, lambda y, x: np.arctan2(y, x), ANGLES,
        lambda upstream, y, x: (-upstream * y / (x**2 + y**2), upstream * x / (x**2 + y**2)),
        "fail", "y: its right gradient is given for x"),
    Complaint("atan2 without its inputs", "ml-explore/mlx issue 2451",
        "0.2, 0.077, 0.04 in one library, and 0.4, 0.23, 0.16 in another",
        check_vjp, lambda y, x: np.arctan2(y, x), ANGLES,
        lambda upstream, y, x: (upstream / (x**2 + y**2), -upstream / (x**2 + y**2)),
        "fail", "y: each entry is the numeric value divided by x"),
    Complaint("a token that appears three times", "ooples/AiDotNet.Tensors pull 894",
        "the backward pass of gather writes where it must add",
        check_vjp, lambda table: table[TOKENS], RNG.normal(size=(4, 2)), last_occurrence,
        "fail", "is row 2 of table used several times, and its gradient assigned, not added?"),
    Complaint("only False", "pytorch/pytorch issue 2710",
        "a mismatch, a wrong size, or a backward that forgets grad_output? gradcheck does not say",
        check_vjp, np.sin, RNG.normal(size=3), lambda upstream, x: np.cos(x),
        "fail", "it does not depend on the upstream"),
    Complaint("the gradient of a Cholesky factor", "HIPS/autograd pull 56",
        "numeric differences are triangular, the inverse is symmetric: which one is right?",
        check_gradient, lambda A: 2 * np.sum(np.log(np.diag(np.linalg.cholesky(A)))), SPD,
        np.linalg.inv,
        "fail", "f reads only the lower triangle"),
    Complaint("an eigenvalue of a symmetric matrix", "pytorch/pytorch pull 43002",
        "numeric -0.1449 and 0 where -0.0724 and -0.0724 are claimed",
        check_gradient, lambda A: np.linalg.eigvalsh(A)[-1], SPD,
        lambda A: np.outer(*np.linalg.eigh(A)[1].T[[-1, -1]]),
        "fail", "f reads only the lower triangle"),
    Complaint("right only without a heading", "borglab/gtsam issue 704",
        "the Jacobian of a position is right until the robot turns by 90 degrees",
        check_jacobian, position, np.zeros(3), np.eye(2, 3),
        "fail", "it is right when the outputs are turned by 90 degrees"),
    Complaint("three good columns and three bad ones", "strasdat/Sophus issue 260",
        "the translation agrees to 16 digits, and the rotation does not at all",
        check_jacobian, seen_from, np.array([0.5, -0.2, 0.3]), turned_the_other_way,
        "fail", "only pose[2] is wrong"),
    Complaint("a quaternion", "ceres-solver/ceres-solver issue 1037",
        "two Jacobians differ, and the optimiser finds the same rotation with both",
        check_jacobian, rotated, np.array([0.5, 0.5, -0.5, 0.5]), without_the_norm,
        "fail", "does f divide q by its length? Then differentiate that, too"),
    Complaint("slope 1 instead of 2", "pymanopt/pymanopt pull 291",
        "is the check wrong? The gradient was: it was not projected to the sphere",
        check_gradient, lambda x: x @ SPD @ x / (x @ x), UNIT, lambda x: 2 * SPD @ x,
        "fail", "look for another term along x, such as that of a division by its length"),
    Complaint("the transposed Jacobian", "ralna/RALFit issue 61",
        "a checker should see that somebody gave J^T",
        check_jacobian, lambda p: p[0] * np.exp(p[1] * T) + p[2], np.array([1.0, -0.5, 0.3]),
        lambda p: np.array([np.exp(p[1] * T), p[0] * T * np.exp(p[1] * T), np.ones(3)]),
        "fail", "its Jacobian is the transpose of the right one"),
    Complaint("an output that nobody assigned", "OpenMDAO/OpenMDAO pull 928",
        "the numeric derivative is 0, the relative error NaN, and the error is ignored",
        check_jacobian, lambda x: np.array([4.0]), np.array([3.0]), np.array([[2.0]]),
        "fail", "f did not change when x was moved"),
    Complaint("an array that changed before backward", "NVIDIA/warp issue 1350",
        "backward reads the array as it is now, and not as it was in the forward pass",
        check_vjp, scaled_late, RNG.normal(size=4), of_late,
        "fail", "is it the derivative of another function or branch, or at another point"),
]  # fmt: skip
