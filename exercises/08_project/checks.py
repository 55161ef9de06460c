"""Checks of the project: what the learner wrote in exercises 1 to 8 is there, right, and used."""

import sys
from pathlib import Path

import numpy as np

from course import quietly_judge, read_course
from expect import SUM_OF_SQUARES, Call, Formula, WrongAnswerError
from gradcheck_ref.zoo import load_iris

COURSE = read_course(Path(__file__).parents[1])
NEEDS = [COURSE.find(name) for name in COURSE.projects[0].needs]
LAM = 0.01


def flowers():
    """Return the iris data, every column with mean 0 and variance 1, and a network's parameters."""
    X, labels = load_iris()
    rng = np.random.default_rng(5)
    parameters = rng.normal(size=(4, 5)) / 2, np.zeros(5), rng.normal(size=(5, 3)) / 2, np.zeros(3)
    return (X - X.mean(axis=0)) / X.std(axis=0), labels, parameters


def uses(call, *names):
    """Make a call, and refuse it if a file of the learner's was not asked for anything."""
    ran = set()
    sys.setprofile(lambda frame, *_: ran.add((frame.f_code.co_filename, frame.f_code.co_name)))
    try:
        got = call.run()
    finally:
        sys.setprofile(None)
    asked = {Path(file).stem for file, function in ran if function != "<module>"}
    if idle := [name for name in names if name not in asked]:
        look_at = f'mine("{idle[0]}") is your file, with its functions'
        call.refuse(f"no call of your {idle[0]}", "your own function is called", look_at)
    return got


def check_what_you_wrote_is_there_and_right(sub):
    """Your files of exercises 1 to 8 are there, and their checks pass."""
    for exercise in NEEDS:
        file = f"work/{exercise.work.name}"
        if not exercise.begun:
            raise WrongAnswerError("", f"no {file}", "your file", f"exercise {exercise.number}")
        outcome = quietly_judge(exercise)
        if failing := outcome.first_failing:
            look_at = f"exercise {exercise.number}, whose own checks say more"
            raise WrongAnswerError(file, f"NO: {failing.sentence}", "every check passes", look_at)


def check_the_loss(sub):
    """Your relu and your cross-entropy make the loss of exercise 8."""
    X, labels, parameters = flowers()
    hidden = np.maximum(X @ parameters[0] + parameters[1], 0)
    scores = hidden @ parameters[2] + parameters[3]
    right = scores[np.arange(len(labels)), labels]
    expected = np.mean(np.log(np.sum(np.exp(scores), axis=1)) - right)
    expected += LAM / 2 * (np.sum(parameters[0] ** 2) + np.sum(parameters[2] ** 2))
    call = Call(sub, "network_loss", X, labels, *parameters, LAM)
    call.text = "network_loss(X, labels, W1, b1, W2, b2, 0.01)"
    call.gives(float(expected), {"the penalty: lam / 2, and only the weights": expected * 2})
    uses(call, "06_relu", "07_softmax")


def check_a_right_gradient(sub):
    """In a right gradient no entry is wrong, even if the loss is much larger than its slopes."""
    x = np.array([0.5, -1.5, 2.0])
    for text, f in {
        "sum(x*x)": lambda x: np.sum(x * x),
        "sum(x*x) + 1e11": lambda x: np.sum(x * x) + 1e11,
    }.items():
        call = Call(sub, "wrong_entries", Formula(text, f), x, 2 * x)
        if (got := call.run()) != []:
            measured = "what 01 and 02 measure is rounded: ask 05 for a value with an error bar"
            call.refuse(got, [], measured)


def check_wrong_entries(sub):
    """All your files together find the wrong entries, the largest relative error first."""
    x = np.array([[0.5, -1.5], [2.0, 1.0]])
    claimed = 2 * x
    claimed[0, 1] *= 1.001
    claimed[1, 0] *= -1
    call = Call(sub, "wrong_entries", SUM_OF_SQUARES, x, claimed)
    if (got := call.run()) != [(1, 0), (0, 1)]:
        call.refuse(got, [(1, 0), (0, 1)], "-1 and 1.001 times: sort by your relative_error")
    uses(call, *(exercise.name for exercise in NEEDS[:5]))


def check_training(sub):
    """After 200 steps down your gradient, the network names more than 95% of the flowers right."""
    X, labels, parameters = flowers()
    call = Call(sub, "train", X, labels, parameters, LAM, rate=0.5, steps=200)
    call.text = "train(X, labels, (W1, b1, W2, b2), 0.01, rate=0.5, steps=200)"
    W1, b1, W2, b2 = uses(call, "08_two_layer")
    scores = np.maximum(X @ W1 + b1, 0) @ W2 + b2
    right = np.mean(scores.argmax(axis=1) == labels)
    if not right > 0.95:
        call.refuse(f"{right:.0%} named rightly", "more than 95%", "p - rate * gradient, each time")
    if not np.all(parameters[1] == 0):
        call.refuse("b1 changed", "b1 as it was", "p - rate * g makes a new array, p -= does not")
