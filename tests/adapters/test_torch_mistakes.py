"""Mistakes in the backward of a torch.autograd.Function."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from gradcheck_ref.adapters.torch_mistakes import Planter  # noqa: E402


class Product(torch.autograd.Function):
    """x times y; nothing for a constant."""

    @staticmethod
    def forward(ctx, x, y, name):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, upstream):
        x, y = ctx.saved_tensors
        return upstream * y, upstream * x, None


class Twin(Product):
    """The same, with the backward of the other."""


class Halves(torch.autograd.Function):
    """Its upstream gradients come in a list, or not at all."""

    boxed_grads_call = True

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x / 2, x / 2

    @staticmethod
    def backward(ctx, upstream):
        return sum(one / 2 for one in upstream if one is not None)


@pytest.fixture
def planter():
    """Step in front of the backwards of this file, and step back at the end."""
    with Planter(__name__) as planter:
        yield planter


def gradients(function, count, *constants, outputs=slice(None)):
    """Return the gradients of 5 times what a function gives for 2, or for 2 and 3."""
    inputs = [torch.tensor(2.0 + k, requires_grad=True) for k in range(count)]
    given = function.apply(*inputs, *constants)
    results = given[outputs] if isinstance(given, tuple) else (given,)
    sum(5 * one for one in results).backward()
    return [one.grad.item() for one in inputs]


WRONG = {"": [15.0, 10.0], "times 2": [30.0, 20.0], "zeros": [0.0, 0.0]}
WRONG |= {"upstream ignored": [3.0, 2.0]}


@pytest.mark.parametrize("mistake", WRONG)
@pytest.mark.parametrize("function", [Product, Twin])
def test_a_backward_makes_the_planted_mistake(function, mistake, planter):
    planter.planted[f"{__name__}.Product"] = mistake
    assert gradients(function, 2, "name") == WRONG[mistake]
    assert planter.called == {f"{__name__}.Product"}


@pytest.mark.skipif(
    tuple(map(int, torch.__version__.split(".")[:2])) < (2, 13),
    reason="torch 2.11 has no such call",
)
@pytest.mark.parametrize(
    ("outputs", "mistake", "expected"),
    [
        (slice(2), "", [5.0]),
        (slice(2), "upstream ignored", [1.0]),
        (slice(1), "upstream ignored", [0.5]),
    ],
    ids=["right", "ignored", "ignored, one output unused"],
)
def test_upstream_gradients_may_come_in_a_list_or_be_none(outputs, mistake, expected, planter):
    planter.planted[f"{__name__}.Halves"] = mistake
    assert gradients(Halves, 1, outputs=outputs) == expected


def made():
    class Made(Product):
        @staticmethod
        def backward(ctx, upstream):
            return (*Product.backward(ctx, upstream)[:2], None)

    return Made


def test_functions_that_are_made_later_belong_to_it(planter):
    name = f"{__name__}.made.<locals>.Made"
    planter.planted[name] = "times 2"
    for _ in range(2):  # each is another class with the same name
        assert gradients(made(), 2, "name") == WRONG["times 2"]
        assert name in planter.called & planter.names
        planter.called.clear()
    planter.planted = {}
    assert gradients(made(), 2, "name") == WRONG[""]
