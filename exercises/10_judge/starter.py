"""Exercise 10: write your own checker."""

import numpy as np

# --- your code ---
# Functions that help my_check go here, if you like.
# --- end ---


def my_check(f, x, analytic):
    """Say whether ``analytic`` is the gradient of ``f`` at ``x``: True or False."""
    # --- your code ---
    raise NotImplementedError("exercise 10, task 1: my_check")
    # --- end ---


if __name__ == "__main__":
    import warnings
    from importlib import import_module
    from pathlib import Path

    from gradcheck_ref.zoo import all_cases
    from gradcheck_ref.zoo.problem import problems

    warnings.simplefilter("ignore")
    for case in all_cases():
        for p in problems(case, case.vjp):
            if "complex" not in case.tags and not my_check(p.f, p.x.copy(), p.claimed.copy()):
                print(f"refuses a right gradient: {case.name} ({', '.join(sorted(case.tags))})")

    if Path("work/08_two_layer.py").exists():
        network = import_module("work.08_two_layer")
        rng = np.random.default_rng(10)
        data = rng.normal(size=(6, 4)), rng.integers(3, size=6)
        parts = [rng.normal(size=size) for size in ((4, 5), 5, (5, 3), 3)]
        for k, gradient in enumerate(network.gradient(*data, *parts, lam=0.01)):

            def loss(moved, k=k):
                """Move one of the parameters."""
                return network.loss(*data, *parts[:k], moved, *parts[k + 1 :], lam=0.01)

            word = "accepted" if my_check(loss, parts[k].copy(), gradient) else "refused"
            print(f"{('dW1', 'db1', 'dW2', 'db2')[k]} of your network is {word}")
