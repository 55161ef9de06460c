"""Checks of exercise 16. The functions take and return arrays of NumPy, and call torch."""

import numpy as np

from expect import AnyOf, Call, after

X = np.array([-1.5, -0.25, 0.0, 0.5, 2.0])
UPSTREAM = np.array([2.0, -1.0, 3.0, 0.5, -4.0])
LARGE = np.array([-500.0, -40.0, 40.0, 500.0])
K = 2.0


def check_softplus(sub):
    """The values of softplus."""
    e = np.exp(K * X)
    slips = {
        "divided by k at the end": np.log(1 + e),
        "where is k? exp(k * x)": AnyOf(np.log(1 + np.exp(X)), np.log(1 + np.exp(X)) / K),
        "where is the 1?": X,
        "log(exp(a) + exp(b)): the 1 is exp(0)": np.log(np.e + e) / K,
    }
    Call(sub, "softplus", X, K).gives(np.log(1 + e) / K, slips)


@after(check_softplus)
def check_softplus_of_large_numbers(sub):
    """Softplus is x far to the right, and 0 far to the left."""
    right = np.maximum(LARGE, 0) + np.log1p(np.exp(-K * np.abs(LARGE))) / K
    mistakes = {"that overflows: torch.logaddexp calculates with care": [0, 0, 40, np.inf]}
    Call(sub, "softplus", LARGE, K).gives(right, mistakes)


@after(check_softplus)
def check_softplus_backward(sub):
    """The slope of softplus, times upstream."""
    s = sigmoid(K * X)
    slips = {
        "where does upstream enter?": s,
        "the k of the chain rule and the 1/k of the function cancel": UPSTREAM * s * K,
        "that is divided by k; the chain rule multiplies by k": UPSTREAM * s / K,
        "where is k? the slope at k * x": UPSTREAM * sigmoid(X),
        "that is the slope of the slope": UPSTREAM * s * (1 - s),
        "upstream multiplies the sigmoid; it is not inside": sigmoid(UPSTREAM * K * X),
        "that is tanh; the slope of softplus is a sigmoid": UPSTREAM * np.tanh(K * X),
        "the sign of x": UPSTREAM * (1 - s),
    }
    stand_ins = {"softplus_backward": slope, "softplus_second": second}  # one method
    call = Call(sub, "softplus_backward", UPSTREAM, X, K)
    call.gives(UPSTREAM * s, slips, stand_in=stand_ins)


@after(check_softplus_backward)
def check_the_slope_of_large_numbers(sub):
    """Far to the right the slope is 1, far to the left 0."""
    overflowed = [0, sigmoid(-40 * K), 1, np.nan]
    mistakes = {"infinity divided by infinity: torch.sigmoid avoids that": overflowed}
    Call(sub, "softplus_backward", np.ones(4), LARGE, K).gives(sigmoid(K * LARGE), mistakes)


@after(check_softplus_backward)
def check_the_second_derivative(sub):
    """Your backward pass can be differentiated once more."""
    s = sigmoid(K * X)
    look_at = "a result of forward is a constant; compute it in backward, from the x that was saved"
    Call(sub, "softplus_second", X, K).gives(K * s * (1 - s), {look_at: np.zeros(5)})


def check_reverse(sub):
    """The values are those of x."""
    mistakes = {
        "forward leaves x as it is; only backward reverses the sign": AnyOf(-X, -0.5 * X),
        "strength is for backward": 0.5 * X,
    }
    Call(sub, "reverse", X, 0.5).gives(X, mistakes)


@after(check_reverse)
def check_reverse_backward(sub):
    """The backward pass reverses the gradient."""
    slips = {
        "that is the true gradient; reverse it, and multiply by strength": UPSTREAM,
        "the sign: backward reverses it": 0.5 * UPSTREAM,
        "where does strength enter?": -UPSTREAM,
        "where does upstream enter?": np.full(5, -0.5),
        "strength multiplies upstream": AnyOf(0.5 - UPSTREAM, -0.5 - UPSTREAM, UPSTREAM - 0.5),
        "x does not enter the backward pass": -0.5 * UPSTREAM * X,
    }
    Call(sub, "reverse_backward", UPSTREAM, X, 0.5).gives(-0.5 * UPSTREAM, slips)


@after(check_softplus_backward, check_reverse_backward)
def check_inputs_are_left_alone(sub):
    """Neither function changes its arguments."""
    Call(sub, "softplus", X, K).leaves_its_arguments()
    Call(sub, "softplus_backward", UPSTREAM, X, K).leaves_its_arguments()
    Call(sub, "reverse_backward", UPSTREAM, X, 0.5).leaves_its_arguments()


@after(check_the_second_derivative, check_reverse_backward)
def heldout_other_numbers(sub):
    """Any shape will do, and any k."""
    x = np.linspace(-2, 3, 12).reshape(3, 4)
    for k in (0.5, 3.0):
        s = sigmoid(k * x)
        Call(sub, "softplus", x, k).gives(np.log1p(np.exp(k * x)) / k)
        Call(sub, "softplus_backward", x, x, k).gives(x * s)
        Call(sub, "softplus_second", x, k).gives(k * s * (1 - s))
        Call(sub, "reverse_backward", x, x, k).gives(-k * x)


def slope(upstream, x, k):
    """Stand in for the learner's, where another function is judged."""
    return upstream * sigmoid(k * x)


def second(x, k):
    """Stand in for the learner's, where another function is judged."""
    return k * sigmoid(k * x) * (1 - sigmoid(k * x))


def sigmoid(z):
    """Calculate exp(z) / (1 + exp(z)), of any z."""
    return np.exp(np.minimum(z, 0)) / (1 + np.exp(-np.abs(z)))
