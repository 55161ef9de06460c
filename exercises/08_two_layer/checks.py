"""Checks of exercise 8."""

from collections import namedtuple

import numpy as np

from expect import (
    CUT_OFF,
    MEAN,
    SMALL,
    AnyOf,
    Call,
    Part,
    after,
    builds_on,
    is_derived,
    is_no_measurement,
    same,
    shown,
)
from gradcheck_ref.zoo.networks import B1, B2, W1, W2, X_BATCH, Y_BATCH

DERIVATIVES = ("dW1", "db1", "dW2", "db2")
Network = namedtuple("Network", "X labels W1 b1 W2 b2")

# Small integers, and scores that are all 0, so that every probability is 1/3: by hand, all of it.
# The number of examples is no other number here: whoever divides by another one is seen to.
HAND = Network(
    X=np.array([[1.0, 2.0, 0.0], [-1.0, 1.0, 1.0]]),
    labels=np.array([0, 2]),
    W1=np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-3.0, 3.0, 3.0]]),
    b1=np.array([1.0, 1.0, -3.0]),
    W2=np.array([[-2.0, 1.0, 1.0], [1.0, -1.0, 0.0], [-3.0, 2.0, 1.0]]),
    b2=np.array([0.0, 1.0, -1.0]),
)
LARGE = HAND._replace(b2=np.array([0.0, 1.0, 999.0]))
# In one row the scores are near -1000, and in the other one near 1000.
UNLIKE = HAND._replace(
    X=np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    W1=np.array([[1000.0, 0.0, 0.0], [0.0, 1000.0, 0.0], [0.0, 0.0, 0.0]]),
    b1=np.zeros(3),
    W2=np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]),
    b2=np.array([0.0, 1000.0, 0.0]),
)
BEFORE_THE_GATE = np.array([[1.0, 2.0, -1.0], [-2.0, 3.0, 1.0]])
HIDDEN = np.maximum(BEFORE_THE_GATE, 0)
THIRDS = np.full((2, 3), 1 / 3)
D_SCORES = np.array([[-2.0, 1.0, 1.0], [1.0, 1.0, -2.0]]) / 6
D_HIDDEN = np.array([[1.0, -0.5, 1.5], [-0.5, 0.0, -0.5]])  # before the gates
GATED = D_HIDDEN * (HIDDEN > 0)
ONE_HOT = np.eye(3)[HAND.labels]
LEAKY, LEAKS = "a shut unit gives 0, not a part of itself", (0.01, 0.1, 0.2)
GUARDS = 10.0 ** -np.arange(5, 301)
SQUARES = (HAND.W1**2).sum() + (HAND.W2**2).sum()
ALL_SQUARES = SQUARES + (HAND.b1**2).sum() + (HAND.b2**2).sum()


def network_call(sub, name, network, lam=None, part=None):
    """Prepare a call that shows names, and values only if they are few enough to calculate with."""
    given = network._asdict()
    if name == "forward":
        del given["labels"]
        values, told, parts = [*given.values()], [*given], ("hidden", "scores")
    else:
        values, told, parts = [*given.values(), lam], [*given, f"lam={lam:g}"], DERIVATIVES
    call = Part(sub, name, *values, part=part, parts=parts) if part else Call(sub, name, *values)
    call.text = f"{f'{part} of ' if part else ''}{name}({', '.join(told)})"
    if len(network.X) == len(HAND.X):
        call.where = ", ".join(f"{word} = {shown(value)}" for word, value in given.items())
    else:
        n, features = network.X.shape
        units, classes = network.W2.shape
        call.where = f"{n} examples, {features} features, {units} units, {classes} classes"
    return call


def check_hidden_and_scores(sub):
    """Forward gives the hidden units and the scores."""
    slips = {
        LEAKY: AnyOf(*(np.maximum(BEFORE_THE_GATE, k * BEFORE_THE_GATE) for k in LEAKS)),
        "where is the ReLU? hidden is what comes after it": BEFORE_THE_GATE,
        "where is b1?": np.maximum(HAND.X @ HAND.W1, 0),
        "b1 is added before the ReLU, not after it": np.maximum(HAND.X @ HAND.W1, 0) + HAND.b1,
        "that is another activation; hidden is a ReLU of X @ W1 + b1": AnyOf(
            np.tanh(BEFORE_THE_GATE),
            1 / (1 + np.exp(-BEFORE_THE_GATE)),
        ),
        "those are the scores; hidden comes first": np.zeros((2, 3)),
        "the ReLU is around all of X @ W1 + b1": HAND.X @ HAND.W1 + np.maximum(HAND.b1, 0),
        "W1 as it is, not its transpose": np.maximum(HAND.X @ HAND.W1.T + HAND.b1, 0),
    }
    network_call(sub, "forward", HAND, part="hidden").gives(HIDDEN, slips, stand_in=forward)
    b2 = np.array([0.0, 1.0, -3.0])
    mistakes = {"the scores may be negative: no ReLU after the second map": np.zeros((2, 3))}
    slips = {
        "where is b2?": HIDDEN @ HAND.W2,
        "the second map takes the output of the ReLU": AnyOf(
            BEFORE_THE_GATE @ HAND.W2 + b2, HAND.X @ HAND.W2 + b2
        ),
        "the second map has W2, not W1": HIDDEN @ HAND.W1 + b2,
        "W2 as it is, not its transpose": HIDDEN @ HAND.W2.T + b2,
        "the second map has b2, not b1": HIDDEN @ HAND.W2 + HAND.b1,
        "no ReLU on the scores: they may be negative": np.maximum(HIDDEN @ HAND.W2, 0) + b2,
    }
    call = network_call(sub, "forward", HAND._replace(b2=b2), part="scores")
    call.gives([[0, 0, -2], [0, 0, -2]], slips | mistakes, stand_in=forward)


@builds_on(check_hidden_and_scores)
def check_the_loss(sub):
    """The loss is the mean cross-entropy of the scores."""
    mistakes = {
        MEAN: 2 * np.log(3),
        "that is one loss for each example; take their mean": np.log([3, 3]),
        "that is the mean probability; where is the logarithm?": AnyOf(1 / 3, -1 / 3),
        "softmax makes rows of probabilities, not columns: axis=1": np.log(2),
        "the penalty is added to the mean, which it does not multiply": 0,
        "that is log2; the natural logarithm is np.log": np.log2(3),
        "lam is 0 here, so there is no penalty: it multiplies both sums of squares": AnyOf(
            *(
                np.log(3) + k * (w**2).sum()
                for w in (HAND.W1, HAND.W2, np.append(HAND.W1, HAND.W2))
                for k in (0.5, 1)
            )
        ),
    }
    network_call(sub, "loss", HAND, lam=0).gives(np.log(3), mistakes)
    network = random_network((4, 3, 5, 3), seed=2)
    log_p = log_probabilities(network)
    of_all = -log_p[:, network.labels].mean()
    mistakes = {
        "that is the answer to the last example; compute it from the scores": np.log(3),
        "each example has its own label: [np.arange(len(labels)), labels]": of_all,
    }
    right = -log_p[np.arange(4), network.labels].mean()
    network_call(sub, "loss", network, lam=0).gives(right, mistakes)
    guarded = AnyOf(*-np.log(GUARDS) / 2, *-np.log(GUARDS * (1 + GUARDS)) / 2)
    mistakes = {
        "large scores: subtract the largest of each row first, as in exercise 7": np.nan,
        "large scores: subtract the largest of each row first, and take no logarithm of a "
        "probability that has become 0; see exercise 7": np.inf,
        "a guard inside the logarithm hides the true loss; see exercise 7": guarded,
    }
    network_call(sub, "loss", LARGE, lam=0).gives(1000 / 2, mistakes)
    won = network_call(sub, "loss", LARGE._replace(labels=np.array([2, 2])), lam=0)
    won.gives(0.0, {[*mistakes][-1]: AnyOf(*np.log(1 + GUARDS))})
    largest = "each row has its own largest score: scores.max(axis=1, keepdims=True)"
    mistakes = {largest: AnyOf(np.inf, -np.inf, np.nan)}
    network_call(sub, "loss", UNLIKE, lam=0).gives(2000 / 2, mistakes)


@builds_on(check_the_loss)
def check_the_penalty(sub):
    """The penalty is lam / 2 times the squares of both weight matrices."""
    data = np.log(3)

    def plus(of):
        return data + 0.1 * (of(HAND.W1) + of(HAND.W2))

    for_each = AnyOf(data + 0.05 * SQUARES, data + 0.4 * SQUARES)
    one_matrix = AnyOf(*(data + 0.1 * (w**2).sum() for w in (HAND.W1, HAND.W2)))
    multiplied = AnyOf(plus(lambda w: (w @ w.T).sum()), plus(lambda w: (w.T @ w).sum()))
    rooted = AnyOf(data + 0.1 * np.sqrt(SQUARES), plus(np.linalg.norm))
    mistakes = {
        "where is the penalty?": data,
        "lam / 2, where lam is not squared": AnyOf(data + 0.02 * SQUARES, data + 0.04 * SQUARES),
        "each weight is squared, and then they are added up": AnyOf(
            plus(lambda w: w.sum() ** 2), data + 0.1 * (HAND.W1.sum() + HAND.W2.sum()) ** 2
        ),
        "the squares are added up, not the absolute values": plus(lambda w: np.abs(w).sum()),
        "lam / 2, not lam": data + 0.2 * SQUARES,
        "the biases are not penalized": AnyOf(data + 0.1 * ALL_SQUARES, data + 0.2 * ALL_SQUARES),
        "the penalty is added once, not once for each example": for_each,
        "both weight matrices are penalized": one_matrix,
        "the sign: the penalty makes the loss larger": data - 0.1 * SQUARES,
        "the squares themselves are added up, without a root": rooted,
        "the weights are squared before they are added up": plus(np.sum),
        "the squares are added up, not averaged": plus(lambda w: (w**2).mean()),
        "W * W squares each entry; the matrix product W @ W.T does not": multiplied,
    }
    network_call(sub, "loss", HAND, lam=0.2).gives(data + 0.1 * SQUARES, mistakes)
    network_call(sub, "loss", HAND, lam=1e12).gives(data + 5e11 * SQUARES, otherwise=CUT_OFF)
    small = HAND._replace(X=0 * HAND.X, W1=1e-4 * HAND.W1, b1=0 * HAND.b1, W2=1e-4 * HAND.W2)
    right = np.log(np.exp(HAND.b2).sum()) - HAND.b2[HAND.labels].mean() + 1e8 / 2 * 1e-8 * SQUARES
    network_call(sub, "loss", small, lam=1e8).gives(right, otherwise=SMALL)


@builds_on(check_hidden_and_scores)
def check_nothing_is_remembered(sub):
    """The gradient depends on its arguments, not on earlier calls."""
    moved = HAND._replace(b1=np.array([2.0, 1.0, -3.0]), b2=np.array([0.0, 1.0, 1.0]))
    calls = [network_call(sub, "gradient", at, lam=0, part="dW2") for at in (HAND, moved, HAND)]
    first, other, again = ([np.copy(one) for one in call.answers().values()] for call in calls)
    if not np.any(first[2]):
        calls[0].gives(HIDDEN.T @ D_SCORES)
    if all(map(same, first, other)):
        got = "the same answer as for b1 = [1 1 -3], b2 = [0 1 -1]"
        look_at = "hidden and scores are those of an earlier call; compute them anew each time"
        calls[1].refuse(got, "another answer: hidden and scores changed", look_at)
    for name, one, same_again in zip(DERIVATIVES, first, again, strict=True):
        if not same(same_again, one, 0.0):
            call = network_call(sub, "gradient", HAND, lam=0, part=name)
            call.where = "called once, then with other biases, and now again as at first"
            look_at = "you keep something from call to call; start from zero each time"
            call.refuse(same_again, f"{shown(one)}, as at first", look_at)


@builds_on(check_hidden_and_scores)
def check_the_second_layer(sub):
    """Without a penalty: dW2 and db2 are right."""
    right = HIDDEN.T @ D_SCORES
    minus, label_off = AnyOf(-right, -2 * right), THIRDS - HAND.labels[:, None]
    of_d_scores = {
        "subtract 1 for the right class": THIRDS,
        "1 is added where it should be subtracted: -= 1": THIRDS + ONE_HOT,
        "divide the 1 that is subtracted by n, too": THIRDS - 2 * ONE_HOT,
        "each row has one label: d_scores[np.arange(len(labels)), labels]": THIRDS - [1, 0, 1],
        "a label is the number of a column: subtract 1 in that column, not the label": label_off,
        "softmax makes rows of probabilities, not columns: axis=1": 1 / 2 - ONE_HOT,
    }
    mistakes = {says: AnyOf(HIDDEN.T @ d / 2, HIDDEN.T @ d) for says, d in of_d_scores.items()}
    mistakes |= {
        "the input of the second map is hidden, after the ReLU": BEFORE_THE_GATE.T @ D_SCORES,
        "the input of the second map is hidden, not X": HAND.X.T @ D_SCORES,
        "lam is 0 here, and so is lam * W2": AnyOf(
            *(right + k * w for w in (HAND.W1, HAND.W2) for k in (0.5, 1, 2))
        ),
        "that is dW1; the order is dW1, db1, dW2, db2": HAND.X.T @ GATED,
        "that is db1; the order is dW1, db1, dW2, db2": GATED.sum(axis=0),
    }
    slips = {
        MEAN: 2 * right,
        "divided by n twice": right / 2,
        "the 1 that is taken off is divided by n twice": right + HIDDEN.T @ ONE_HOT / 4,
        "n is the number of examples, len(X); is X.shape[1] the number of features?": right * 2 / 3,
        "the sign: the score of the right class should go up, so its slope is negative": minus,
    }
    network_call(sub, "gradient", HAND, lam=0, part="dW2").gives(right, slips | mistakes)
    rows = AnyOf(D_SCORES, 2 * D_SCORES)
    mistakes = {
        "one row for each example; the bias is added to all rows, so add them up": rows,
        "the mean is in d_scores already; add the rows up": D_SCORES.mean(axis=0),
        MEAN: 2 * D_SCORES.sum(axis=0),
        "a single number: each class has its own bias": D_SCORES.sum(),
        "the rows of d_scores are added up, not those of hidden": HIDDEN.sum(axis=0),
        "that is db1; the order is dW1, db1, dW2, db2": AnyOf(
            GATED.sum(axis=0), D_HIDDEN.sum(axis=0)
        ),
    }
    network_call(sub, "gradient", HAND, lam=0, part="db2").gives(D_SCORES.sum(axis=0), mistakes)


@builds_on(check_the_second_layer)
def check_the_first_layer(sub):
    """Without a penalty: dW1 and db1 are right."""
    right = HAND.X.T @ GATED
    own_sign, as_ahead = np.maximum(D_HIDDEN, 0), D_SCORES @ HAND.W2
    of_d_hidden = {
        "the gate is missing: a unit that was shut passes nothing back": D_HIDDEN,
        "the gate is open where the unit was positive, not where its gradient is": own_sign,
        "the slope of an open gate is 1, not the value that passes": D_HIDDEN * HIDDEN,
        "on the way back the weights are transposed: which classes does a unit feed?": as_ahead,
        "W2 is missing: the classes are not the units": D_SCORES,
        "the scores were made with W2, so they go back through W2": D_SCORES @ HAND.W1.T,
    }
    mistakes = {
        says: AnyOf(HAND.X.T @ d, HAND.X.T @ (d * (HIDDEN > 0))) for says, d in of_d_hidden.items()
    }
    leaky = (D_HIDDEN * np.where(HIDDEN > 0, 1, k) for k in LEAKS)
    mistakes |= {
        LEAKY: AnyOf(*(HAND.X.T @ d for d in leaky)),
        MEAN: 2 * right,
        "the input of the first map is X, not hidden": AnyOf(
            *(HIDDEN.T @ d for d in (GATED, D_HIDDEN))
        ),
    }
    shut = "every gate is shut: hidden is never below 0, so ask for hidden > 0"
    network_call(sub, "gradient", HAND, lam=0, part="dW1").gives(
        right, mistakes, evasions={shut: 0 * right}
    )
    wrong_axis = AnyOf(GATED.sum(axis=1), D_HIDDEN.sum(axis=1))
    mistakes = {
        "the gate is missing: a unit that was shut passes nothing back": D_HIDDEN.sum(axis=0),
        "one row for each example; the bias is added to all rows, so add them up": GATED,
        "added up along the wrong axis: a bias has one entry for each unit": wrong_axis,
        "the mean is in d_scores already; add the rows up": GATED.mean(axis=0),
        "that is db2; db1 adds up the rows of d_hidden": D_SCORES.sum(axis=0),
    }
    network_call(sub, "gradient", HAND, lam=0, part="db1").gives(GATED.sum(axis=0), mistakes)


@builds_on(check_the_second_layer, check_the_first_layer)
def check_the_penalty_on_the_way_back(sub):
    """The penalty adds lam times the weights, and nothing to the biases."""
    for part, weights, other, data in (
        ("dW1", HAND.W1, HAND.W2, HAND.X.T @ GATED),
        ("dW2", HAND.W2, HAND.W1, HIDDEN.T @ D_SCORES),
    ):
        slope, of_size = 0.2 * weights, 0.2 * np.sign(weights)
        mistakes = {
            f"where is the penalty of {part[1:]}?": data,
            "twice too much: the slope of lam / 2 * w * w is lam * w": data + 2 * slope,
            # With 2 examples two mistakes look the same.
            "half of the penalty: it is not divided by n, and lam / 2 * w * w has the slope "
            "lam * w": data + slope / 2,
            "the sign: the penalty adds to the loss, and its slope to the gradient": data - slope,
            "that is the slope of |w|; the penalty is made of squares": data + of_size,
            f"that is the penalty of the other matrix; {part} has its own": data + 0.2 * other,
            "the slope of w * w has w in it once, not twice": data + 0.2 * weights**2,
        }
        if weights.sum():  # that of W2 is 0
            said = "each weight has a slope of its own, without a sum"
            mistakes[said] = data + 0.2 * weights.sum()
        network_call(sub, "gradient", HAND, lam=0.2, part=part).gives(data + slope, mistakes)
    for part, bias, data in (("db1", HAND.b1, GATED), ("db2", HAND.b2, D_SCORES)):
        right = data.sum(axis=0)
        wrong = [right + k * b for k in (0.2, 0.4) for b in (bias, bias.sum(), bias.mean())]
        mistakes = {"the biases are not penalized": AnyOf(*wrong)}
        network_call(sub, "gradient", HAND, lam=0.2, part=part).gives(right, mistakes)


@builds_on(check_the_second_layer, check_the_first_layer, check_the_penalty_on_the_way_back)
def check_other_sizes(sub):
    """The gradient is right for other sizes, in all digits: it is derived, not measured."""
    for network, lam in (
        (ZOO, 0.0),
        (random_network((5, 3, 4, 2), seed=0), 0.5),
        (random_network((5, 3, 4, 2), seed=1), 0.01),
        (random_network((30, 20, 12, 10), seed=2), 0.1),
    ):
        n, unpenalised = len(network.X), derived(network, 0)
        for name, right in derived(network, lam).items():
            as_for_two = right + (n / 2 - 1) * unpenalised[name]
            call = network_call(sub, "gradient", network, lam=lam, part=name)
            known = {f"the number of examples is not always 2, here it is {n}": as_for_two}
            is_derived(call, right, known)
    network_call(sub, "gradient", UNLIKE, lam=0, part="db2").gives([-0.5, 1.0, -0.5])
    narrow, wide = (random_network((16, features, 16, 4), seed=3) for features in (16, 256))
    small, large = (network_call(sub, "gradient", one, lam=0.1) for one in (narrow, wide))
    is_no_measurement(small, large, network_call(sub, "loss", wide, lam=0.1))


@after(check_the_second_layer)
def check_inputs_are_left_alone(sub):
    """Neither the data nor the parameters are changed."""
    network_call(sub, "forward", HAND).leaves_its_arguments()
    for name in ("loss", "gradient"):
        network_call(sub, name, HAND, lam=0.2).leaves_its_arguments()


@builds_on(check_the_second_layer, check_the_first_layer, check_the_penalty_on_the_way_back)
@builds_on(check_other_sizes)
def heldout_other_networks(sub):
    """Scores may be large, a batch may be a single example, and a layer a single unit."""
    network_call(sub, "gradient", LARGE, lam=0, part="db2").gives([-0.5, 0.0, 0.5], rtol=1e-6)
    for sizes in ((1, 3, 2, 4), (3, 1, 1, 2)):
        network = random_network(sizes, seed=5)
        for name, right in derived(network, 0.3).items():
            network_call(sub, "gradient", network, lam=0.3, part=name).gives(right)
    # A ReLU lets any factor through: what X and b1 are multiplied by W2 may be divided by.
    by = 1, 0, 0, 1, -1, 0
    for name, power in zip(DERIVATIVES, (0, -1, 1, 0), strict=True):
        call, right = network_call(sub, "gradient", HAND, lam=0, part=name), derived(HAND, 0)[name]
        call.gives_in_any_size(right, *by, of_result=power)
    hidden = network_call(sub, "forward", HAND, part="hidden")
    hidden.gives_in_any_size(HIDDEN, 1, 0, 1, -1)


def random_network(sizes, seed):
    """Draw a network of (examples, features, units, classes)."""
    n, features, units, classes = sizes
    rng = np.random.default_rng(seed)
    shapes = (n, features), (features, units), units, (units, classes), classes
    X, W1, b1, W2, b2 = (rng.normal(size=shape) for shape in shapes)
    return Network(X, rng.integers(classes, size=n), W1, b1, W2, b2)


# The network of the zoo, at which it has wrong gradients to show.
ZOO = Network(X_BATCH, Y_BATCH, W1, B1, W2, B2)


def forward(X, W1, b1, W2, b2):
    """Stand in for the learner's, where another function is judged."""
    hidden = (X @ W1 + b1).clip(0)
    return hidden, hidden @ W2 + b2


def log_probabilities(network):
    """Return the logarithm of each probability, a row for each example."""
    _, scores = forward(network.X, *network[2:])
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def derived(network, lam):
    """Return the gradient by the names of its parts."""
    hidden = np.maximum(network.X @ network.W1 + network.b1, 0)
    p = np.exp(log_probabilities(network))
    d_scores = (p - np.eye(p.shape[1])[network.labels]) / len(p)
    gated = (d_scores @ network.W2.T) * (hidden > 0)
    return {
        "dW1": network.X.T @ gated + lam * network.W1,
        "db1": gated.sum(axis=0),
        "dW2": hidden.T @ d_scores + lam * network.W2,
        "db2": d_scores.sum(axis=0),
    }


def answers_of(vjp):
    """Answer as a submission would that has this vjp, right or wrong, from the zoo.

    The zoo's gradients are of one network; any other is answered rightly.
    """

    def gradient(X, labels, W1, b1, W2, b2, lam):
        network = Network(X, labels, W1, b1, W2, b2)
        if lam == 0 and all(map(np.array_equal, network, ZOO)):
            return vjp(1.0, W1, b1, W2, b2)
        return tuple(derived(network, lam).values())

    return {"gradient": gradient}
