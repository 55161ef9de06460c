"""Functions of torch tensors at many points at once."""

import pickle

import numpy as np
import pytest
from beside import OneByOne, power, shifted
from edge_cases import Counted

from gradcheck_ref import check_vjp
from gradcheck_ref.adapters import from_torch
from gradcheck_ref.adapters.torch_call import ModuleFunction
from gradcheck_ref.adapters.torch_place import Place

torch = pytest.importorskip("torch", reason="torch is not installed")

LONG = np.linspace(-1, 1.5, 40)


torch.manual_seed(0)
LAYER = torch.nn.Sequential(torch.nn.Linear(40, 5), torch.nn.Tanh()).double()

# What goes through vmap; test_both.py has more.
TOGETHER = {
    "one array": lambda x: torch.sum(torch.tanh(x) ** 2),
    "a module": LAYER,
    "an in-place operation": lambda x: x.mul_(2.0).exp_(),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_many_equals_f_at_each_point_and_does_not_change_the_points(name):
    counted, points = Counted(TOGETHER[name]), shifted(LONG, 9)
    values = from_torch(counted).many(points)
    assert counted.calls == 4  # once to count the numbers, for the batch, and at both ends
    np.testing.assert_array_equal(points, shifted(LONG, 9))
    for value, point in zip(values, points, strict=True):
        np.testing.assert_allclose(value, from_torch(TOGETHER[name])(point), rtol=1e-13)


# What does not go through vmap, and is found out.
class Square(power(2, 2)):
    """One without a rule for vmap, which other processes know by its name."""


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
    "a function without a rule": lambda x: torch.sum(Square.apply(x)),
    "another value in a batch": lambda x: torch.sum(SquareInABatch.apply(x)),
    "a batch norm": Normed(),
    "too large for it": lambda x: torch.sum(torch.cos(torch.zeros(2**22, 1) + x[:1])) + x[1],
    "its own backward inside": lambda x: torch.autograd.grad((x**3).sum(), x, create_graph=True)[0],
}


WRAPS = (lambda f: f, OneByOne)


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_a_function_that_vmap_refuses_is_called_one_by_one(name):
    points = shifted(LONG, 3)
    f, alone = from_torch(ONE_BY_ONE[name]), from_torch(ONE_BY_ONE[name])
    values = [value.tobytes() for value in f.many(points)]
    assert values == [alone(point).tobytes() for point in points]
    assert not hasattr(f, "many")  # it is not tried again
    if name != "too large for it":
        together, alone = (check_vjp(wrap(from_torch(ONE_BY_ONE[name])), LONG) for wrap in WRAPS)
        assert (together.verdict, together.reason) == (alone.verdict, alone.reason)


def test_the_result_of_the_vmap_trial_is_sent_to_other_processes():
    f = from_torch(Square.apply)
    assert hasattr(pickle.loads(pickle.dumps(f)), "many")
    f.many([LONG, LONG])
    assert not hasattr(pickle.loads(pickle.dumps(f)), "many")


class Cut(torch.nn.Module):
    """One that makes a tensor in its forward, and has a parameter."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        return torch.eye(2, 3) @ (self.weight * x)


def test_a_module_that_makes_tensors_goes_through_vmap_in_double():
    f = ModuleFunction(Cut(), (np.array([0.5, 1.5, -1.0]),), {}, None, 0, Place(dtype="float64"))
    points = [{name: one + 0.1 * k for name, one in f.point.items()} for k in range(4)]
    values = f.many(points)
    assert f._together
    for value, point in zip(values, points, strict=True):
        np.testing.assert_allclose(value, (point["weight"] * point["x"])[:2], rtol=1e-14)
