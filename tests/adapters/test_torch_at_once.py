"""Functions of torch tensors at many points at once."""

import numpy as np
import pytest
from beside import assert_one_by_one, power

from gradcheck_ref.adapters import from_torch

torch = pytest.importorskip("torch", reason="torch is not installed")

LONG = np.linspace(-1, 1.5, 40)


# What does not go through vmap, and is found out.
class SquareInABatch(torch.autograd.Function):
    """One whose rule for vmap is wrong."""

    @staticmethod
    def forward(x):
        return x**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, upstream):
        return upstream * 2 * ctx.saved_tensors[0]

    @staticmethod
    def vmap(info, in_dims, x):
        return 2 * x**2, in_dims[0]


class Normed(torch.nn.Module):
    """One that learns from what it is called with: its state is another one afterwards."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4).double()

    def forward(self, x):
        return self.norm(x.reshape(10, 4))


ONE_BY_ONE = {
    "control flow on values": lambda x: torch.sum(x**2) if x[0] < 0 else torch.sum(x**3),
    "numpy inside": lambda x: torch.sum(x) + float(np.sum(x.detach().numpy())),
    "a function without a rule": lambda x: torch.sum(power(2, 2).apply(x)),
    "another value in a batch": lambda x: torch.sum(SquareInABatch.apply(x)),
    "a batch norm": Normed(),
    "too large for it": lambda x: torch.sum(torch.cos(torch.zeros(2**22, 1) + x[:1])) + x[1],
    "its own backward inside": lambda x: torch.autograd.grad((x**3).sum(), x, create_graph=True)[0],
}


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_a_function_that_vmap_refuses_is_called_one_by_one(name):
    checked = name != "too large for it"
    assert_one_by_one(lambda: from_torch(ONE_BY_ONE[name]), LONG, 3, checked)
