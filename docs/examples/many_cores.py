"""Checks a gradient with two processes, with threads and with an executor."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np

from gradcheck_ref import check_gradient

rng = np.random.default_rng(0)
X, y, w = rng.normal(size=(50, 200)), rng.normal(size=50), rng.normal(size=200)


def loss(w):
    return np.mean((np.tanh(X @ w) - y) ** 2)


def gradient(w):
    t = np.tanh(X @ w)
    return X.T @ (2 * (t - y) * (1 - t**2)) / len(y)


if __name__ == "__main__":
    alone = check_gradient(loss, w, gradient)
    two = check_gradient(loss, w, gradient, workers=2)
    print(two.verdict, two.evaluations, two.to_dict() == alone.to_dict())

    with ThreadPoolExecutor(4) as threads, ProcessPoolExecutor(2) as processes:
        for workers in (threads, processes):
            report = check_gradient(loss, w, gradient, workers=workers)
            print(report.verdict, report.evaluations, report.to_dict() == alone.to_dict())
