"""Exercise 7: softmax with cross-entropy."""

import numpy as np


def softmax(scores):
    """Turn each row of ``scores``, shape (n, classes), into probabilities."""
    # --- your code ---
    raise NotImplementedError("exercise 7, task 1: softmax")
    # --- end ---


def cross_entropy(scores, labels):
    """Mean of ``-log(probability of the right class)``; ``labels``, shape (n,), are integers."""
    # --- your code ---
    raise NotImplementedError("exercise 7, task 2: cross_entropy")
    # --- end ---


def cross_entropy_backward(scores, labels):
    """Gradient of ``cross_entropy(scores, labels)`` with respect to ``scores``."""
    # --- your code ---
    raise NotImplementedError("exercise 7, task 3: cross_entropy_backward")
    # --- end ---


if __name__ == "__main__":
    from gradcheck_ref import check_gradient

    scores, labels = np.array([[0.5, -1.0, 2.0], [1.5, 0.0, -0.5]]), np.array([2, 1])
    gradient = cross_entropy_backward(scores, labels)
    print(check_gradient(lambda scores: cross_entropy(scores, labels), scores, gradient))
