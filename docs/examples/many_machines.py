"""Checks a gradient on a cluster of dask: here two processes on this machine."""

import dask.distributed
import numpy as np

from gradcheck_ref import check_gradient

X = np.random.default_rng(0).normal(size=(50, 200))
w = np.random.default_rng(1).normal(size=200)


def loss(w):
    return np.sum(np.tanh(X @ w) ** 2)


def gradient(w):
    t = np.tanh(X @ w)
    return X.T @ (2 * t * (1 - t**2))


def sign_lost(w):
    return np.abs(gradient(w))


if __name__ == "__main__":
    with (
        dask.distributed.LocalCluster(n_workers=2, dashboard_address=":0") as cluster,
        dask.distributed.Client(cluster) as client,
    ):
        for claim in (gradient, sign_lost):
            alone = check_gradient(loss, w, claim)
            there = check_gradient(loss, w, claim, workers=client.get_executor())
            print(there.verdict, there.evaluations, there.to_dict() == alone.to_dict())
