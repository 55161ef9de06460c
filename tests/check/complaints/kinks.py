"""Points without a derivative, or where f does not move: kinks, ties, stairs and zeros."""

import numpy as np

from gradcheck_ref import check_gradient, check_vjp

from .row import Complaint

RNG = np.random.default_rng(0)


def relu_at(x):
    return lambda x: np.maximum(x, 0), x, lambda upstream, x: upstream * (x > 0)


def corner(box):
    """Return the smallest and the largest corner of a box, from its 8 vertices."""
    return np.array([box.min(axis=0), box.max(axis=0)])


def of_corner(upstream, box):
    """Share the upstream gradient among all vertices that are tied."""
    least, most = box == box.min(axis=0), box == box.max(axis=0)
    return least / least.sum(axis=0) * upstream[0] + most / most.sum(axis=0) * upstream[1]


BOX = np.array([[x, y, z] for x in (0.0, 2.0) for y in (1.0, 4.0) for z in (-1.0, 0.5)])
POOLED = np.array([[0.5, 0.5, -1.0, 0.2], [0.3, 0.9, 0.1, 0.9]])


def of_pooled(upstream, x):
    given = np.zeros(x.shape)
    given[np.arange(len(x)), x.argmax(axis=1)] = upstream
    return given


SCORES, LABEL = np.array([1.5, 2.5, 0.2]), 0  # the margin of class 1 is exactly 2, of class 2 -0.3


def hinge(scores, margin=-1.0):
    margins = np.maximum(0, scores - scores[LABEL] + margin)
    margins[LABEL] = 0
    return np.sum(margins)


def of_hinge(scores, margin=-1.0):
    given = (scores - scores[LABEL] + margin > 0).astype(float)
    given[LABEL] = 0
    given[LABEL] = -given.sum()
    return given


def softmax(scores):
    e = np.exp(scores - scores.max())
    return e / e.sum()


def of_loss(scores):
    return softmax(scores) - np.eye(len(scores))[0]


NORM = np.array([[0.5, -1.0, 0.3, 0.9], [1.0, 0.2, -0.4, 2.0]])


def standardised(X):
    return (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)


def of_standardised(upstream, X):
    y, std = standardised(X), X.std(axis=1, keepdims=True)
    mean = upstream.mean(axis=1, keepdims=True)
    return (upstream - mean - y * (upstream * y).mean(axis=1, keepdims=True)) / std


ROWS = [
    Complaint("a relu at 0", "pytorch/pytorch issue 114234",
        "torch.empty gives tiny numbers: the slope is 1, and 0.5 is measured everywhere",
        check_vjp, *relu_at(np.full((2, 3), 1e-310)),
        "unsure", "analytic 1 lies between them, which is valid at a kink"),
    Complaint("an axis-aligned box", "kornia/kornia pull 4184",
        "four tied vertices get 1/4 each, and 1/2 is measured: nobody could use it from 2021 on",
        check_vjp, corner, BOX, of_corner,
        "unsure", "analytic 0.25 lies between them, which is valid at a kink"),
    Complaint("a max pooling with ties", "facebookresearch/CrypTen pull 90",
        "in 0.2 % of the cases two libraries give the gradient to different entries",
        check_vjp, lambda x: x.max(axis=1), POOLED, of_pooled,
        "unsure", "analytic 1 lies between them, which is valid at a kink"),
    Complaint("a threshold of a model", "climate-analytics-lab/jax-gcm issue 813",
        "the slopes on both sides differ a thousandfold, and the gradient is one of them",
        check_gradient, lambda richardson: np.sum(1e-4 * np.maximum(1 - richardson / 0.2, 0)),
        np.array([0.1, 0.2, 0.5]), lambda richardson: -5e-4 * (richardson < 0.2),
        "unsure", "to check the formula, move richardson[1] away from 0.2"),
    Complaint("a margin of exactly 0", "cs231n/cs231n.github.io issue 274",
        "once in a while a dimension of the SVM loss does not match: a reason for concern?",
        check_gradient, hinge, SCORES, of_hinge,
        "unsure", "2 of 3 entries are at a kink or jump of f"),
    Complaint("numbers close to 0", "apache/mxnet issue 12377",
        "a relu test with a step of 0.01 fails for random numbers near 0",
        check_vjp, *relu_at(np.array([0.003, -0.0004, 0.4, -0.7])),
        "pass", "x: all 16 entries agree"),
    Complaint("a subgradient that is none", "BVLC/caffe issue 1334",
        "at a kink the checker should compare with the slopes on both sides",
        check_gradient, lambda x: np.sum(np.abs(x)), np.array([0.0, 1.0]),
        lambda x: np.sign(x) + 1.5 * (x == 0),
        "fail", "analytic 1.5, numeric 0 +- 1"),
    Complaint("a comparison", "mlc-ai/relax issue 135",
        "the gradient of a > b is 0, but the test fails now and then",
        check_vjp, lambda a, b: (a > b).astype(float), tuple(RNG.uniform(1, 2, (2, 9))),
        lambda upstream, a, b: (0 * a, 0 * b),
        "pass", "f is flat near this point"),
    Complaint("a clipped softmax", "deeplearning4j/deeplearning4j pull 3827",
        "the loss clips probabilities, its gradient does not, and checks fail now and then",
        check_gradient, lambda scores: -np.log(np.clip(softmax(scores), 1e-10, None)[0]),
        np.array([-30.0, 1.0, 2.0]), of_loss,
        "fail", "every slope along scores is 0 here, but the claim is not 0"),
    Complaint("analytic 1e-12, numeric 0", "karpathy/neuraltalk issue 19",
        "VAL SMALL WARNING for words that hardly matter",
        check_gradient, lambda scores: 10 - np.log(softmax(scores)[0]),
        np.array([1.0, 0.5, -0.2, -27.0]), of_loss,
        "pass", "scores: all 4 entries agree"),
    Complaint("the sum of a normalisation", "HomericIntelligence/Mnemosyne pull 730",
        "with an upstream gradient of ones the analytic gradient is 0, and the numeric one 0.009",
        check_gradient, lambda X: np.sum(standardised(X)), NORM,
        lambda X: of_standardised(np.ones(X.shape), X),
        "unsure", "compute f in float64 throughout, without cancellation"),
    Complaint("a model compiled for integers", "stan-dev/stan issue 295",
        "diagnose shows finite differences of 0 or 1 for a normal density",
        check_gradient, lambda x: -0.5 * np.trunc(x) ** 2, 1.17019, lambda x: -x,
        "unsure", "on a staircase: f changes in steps, so near and far points disagree"),
]  # fmt: skip
