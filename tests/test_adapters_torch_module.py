"""A whole torch module in one call: its names, what is constant in it, and what is left alone."""

import random

import numpy as np
import pytest

from gradcheck_ref.adapters import check_module

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn

X = np.array([[0.5, -1.25, 2.0], [1.0, 0.25, -0.5], [-2.0, 0.75, 1.5], [0.1, -0.6, 0.9]])
LABELS = torch.tensor([0, 1, 1, 0])


def square_with(factor):
    """Write x**2 as a layer with a backward of its own, right for a factor of 2."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, upstream):
            (x,) = ctx.saved_tensors
            return factor * upstream * x

    class Layer(nn.Module):
        def forward(self, x):
            return Square.apply(x)

    return Layer()


def network(*middle, seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), *middle, nn.Linear(4, 2))


def names(report, verdict):
    worst = {"pass": 0, "unsure": 1, "fail": 2}[verdict]
    return {pair.input.name for pair in report.pairs if pair.verdict.max(initial=0) == worst}


def cross_entropy(output):
    return nn.functional.cross_entropy(output, LABELS)


@pytest.mark.parametrize("loss", [None, cross_entropy], ids=["output", "loss"])
def test_inputs_and_parameters_are_checked_by_name(loss):
    report = check_module(network(square_with(2)), X, loss=loss)
    assert report.verdict == "pass"
    every = {"input", "0.weight", "0.bias", "2.weight", "2.bias"}
    assert {pair.input.name for pair in report.pairs} == every
    wrong = check_module(network(square_with(3)), X, loss=loss)
    assert wrong.verdict == "fail"
    assert names(wrong, "fail") == {"input", "0.weight", "0.bias"}
    assert wrong.diagnoses[0].kind == "factor"


class Detached(nn.Module):
    def __init__(self, where):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
        self.register_buffer("shift", torch.tensor([0.5, 0.0, 0.5]))
        self.where = where

    def forward(self, x):
        weight = self.weight.detach() if self.where == "weight" else self.weight
        return (weight * x).sin() + (x.detach() if self.where == "x" else x) * self.shift


def test_a_parameter_or_an_input_that_was_detached_is_named():
    assert check_module(Detached(None), X)
    for where in ("weight", "x"):
        report = check_module(Detached(where), X)
        assert report.verdict == "fail"
        assert report.worst_pair.input.name == where


def test_frozen_parameters_and_buffers_are_constants():
    module = Detached("weight")
    module.weight.requires_grad_(False)
    report = check_module(module, X)
    assert report.verdict == "pass"
    assert {pair.input.name for pair in report.pairs} == {"x"}


def test_the_module_stays_as_it_was():
    module = network(nn.BatchNorm1d(4), nn.Tanh(), nn.Dropout(0.5))
    before = {name: value.clone() for name, value in module.state_dict().items()}
    random_before = torch.get_rng_state()
    check_module(module, X, loss=cross_entropy)
    after = module.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert all(one.dtype == torch.float32 for one in module.parameters())
    assert all(one.grad is None for one in module.parameters())
    assert torch.equal(random_before, torch.get_rng_state())


def test_a_dropout_is_no_noise_and_a_note_says_why():
    module = network(square_with(2), nn.Dropout(0.5))
    report = check_module(module, X, seed=7)
    assert report.verdict == "pass"
    (note,) = report.notes
    assert note.startswith("the module draws random numbers")
    assert "torch.manual_seed(7)" in note
    assert check_module(module.eval(), X).notes == ()
    assert check_module(network(square_with(3), nn.Dropout(0.5)), X).verdict == "fail"


def test_what_differs_each_time_is_not_passed():
    class Restless(nn.Module):
        def forward(self, x):
            return x * random.random()

    assert check_module(Restless(), X).verdict != "pass"


@pytest.mark.parametrize(
    ("make", "inputs"),
    [
        (lambda: nn.LSTM(3, 2), (X,)),
        (lambda: nn.LSTM(3, 2), (X, (torch.zeros(1, 2), torch.ones(1, 2)))),
        (lambda: nn.Embedding(4, 2), (LABELS,)),
        (lambda: nn.Embedding(4, 2), (np.array([0, 3, 3]),)),
        (lambda: nn.Bilinear(3, 3, 2), (X, torch.from_numpy(X[::-1].copy()).float())),
        (lambda: nn.Conv1d(1, 2, 2), (X[:, None, :],)),
    ],
    ids=[
        "outputs in tuples",
        "states in a tuple",
        "a tensor of integers",
        "an array of integers",
        "float32",
        "conv",
    ],
)
def test_modules_of_torch_pass(make, inputs):
    torch.manual_seed(0)
    assert check_module(make(), *inputs).verdict == "pass"


def test_inputs_in_tuples_and_dicts_are_checked_by_their_keys():
    class Mix(nn.Module):
        def __init__(self, cut):
            super().__init__()
            self.linear, self.cut = nn.Linear(3, 2), cut

        def forward(self, x, more):
            shift, (scale, power, _nothing) = more["shift"], more["rest"]
            scale = scale.detach() if self.cut else scale
            return self.linear(x * scale + shift) ** power

    one = torch.ones(3)
    more = {"shift": one, "rest": (2 * one, 2.0, None)}
    right, wrong = (check_module(Mix(cut), X, more) for cut in (False, True))
    assert (right.verdict, wrong.verdict) == ("pass", "fail")
    shift, scale = "more['shift']", "more['rest'][0]"
    assert names(right, "pass") == {"x", shift, scale, "linear.weight", "linear.bias"}
    assert names(wrong, "fail") == {scale}
    assert more["rest"][0].dtype == torch.float32


def test_numbers_and_flags_are_constants():
    class Power(nn.Module):
        def forward(self, x, exponent, negative):
            return {"power": (-1 if negative else 1) * (x**2) ** exponent, "count": len(x)}

    report = check_module(Power(), X, 1.5, True)
    assert report.verdict == "pass"
    assert {pair.input.name for pair in report.pairs} == {"x"}


def test_an_input_that_is_called_as_a_parameter_is_told_from_it():
    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.x = nn.Parameter(torch.tensor(2.0))

        def forward(self, x):
            return self.x * x.sin()

    report = check_module(Scale(), X)
    assert report.verdict == "pass"
    assert {pair.input.name for pair in report.pairs} == {"inputs[0]", "x"}


def test_what_is_no_module_is_refused():
    with pytest.raises(TypeError, match=r"must be a torch\.nn\.Module.*check_vjp\(from_torch"):
        check_module(torch.sin, X)


def test_a_module_that_returns_no_tensor_is_refused():
    class Number(nn.Module):
        def forward(self, x):
            return x.sum().item()

    with pytest.raises(TypeError, match="fn must return one tensor"):
        check_module(Number(), X)
