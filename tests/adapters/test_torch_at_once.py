"""Functions of torch tensors at many points at once."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from beside import OneByOne, arrays, call, power, shifted

from gradcheck_ref import check_jvp, check_vjp
from gradcheck_ref.adapters import from_torch
from gradcheck_ref.adapters.torch_at_once import BATCH
from gradcheck_ref.adapters.torch_call import ModuleFunction

torch = pytest.importorskip("torch", reason="torch is not installed")

LONG = np.linspace(-1, 1.5, 40)


class Calls:
    """A function that counts how often it is called."""

    def __init__(self, fn):
        self.fn, self.calls = fn, 0

    def __call__(self, *inputs, **named):
        self.calls += 1
        return self.fn(*inputs, **named)


torch.manual_seed(0)
LAYER = torch.nn.Sequential(torch.nn.Linear(40, 5), torch.nn.Tanh()).double()
RNG = np.random.default_rng(0)

# What goes through vmap: the function, and a point.
TOGETHER = {
    "one array": (lambda x: torch.sum(torch.tanh(x) ** 2), LONG),
    "a matrix": (lambda x: x @ x, np.linspace(0, 1, 36).reshape(6, 6)),
    "several inputs": (lambda a, b: torch.sin(a) * b, (LONG, np.array(0.5))),
    "by name": (lambda w, b: torch.tanh(w * b), {"w": LONG, "b": np.array(0.5)}),
    "several outputs": (lambda x: (torch.sum(x), torch.cos(x)), LONG),
    "an integer output": (lambda x: (torch.argmax(x), x * x), LONG),
    "constants": (
        lambda a, n, up, k: (a[k] ** n)[:3] if up else a,
        (LONG, 2, True, np.array([30, 33, 35])),
    ),
    "float32": (lambda x: torch.sin(x) * x[0], LONG.astype(np.float32)),
    "complex": (lambda z: z * z.conj() + torch.exp(z), LONG + 1j * LONG[::-1]),
    "an output that is constant": (lambda x: (torch.ones(2), torch.sum(x)), LONG),
    "a module": (LAYER, LONG),
    "what is written to": (lambda x: x.mul_(2.0).exp_(), LONG),
}


@pytest.mark.parametrize(
    ("name", "count"),
    [(name, 9) for name in TOGETHER] + [("several inputs", count) for count in (0, 1, 2, 300)],
)
def test_many_gives_what_f_gives_at_each_point_whatever_their_number(name, count):
    fn, inputs = TOGETHER[name]
    counted = Calls(fn)
    points = shifted(inputs, count)
    values = from_torch(counted).many(points)
    # Once to count the numbers, for every batch, and at both ends.
    assert counted.calls == (1 + -(-count // BATCH) + 2 if count > 1 else count)
    assert len(values) == count
    for value, point in zip(values, points, strict=True):
        alone = call(from_torch(fn), point)
        assert isinstance(value, tuple) == isinstance(alone, tuple)
        for one, other in zip(arrays(value), arrays(alone), strict=True):
            assert type(one) is np.ndarray
            assert one.flags.writeable
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            eps = np.finfo(other.dtype).eps if other.dtype.kind in "fc" else 0
            np.testing.assert_allclose(one, other, rtol=1e2 * eps, atol=1e2 * eps)


def test_the_numbers_are_counted_once_for_inputs_of_one_shape():
    counted = Calls(torch.tanh)
    f, calls = from_torch(counted), []
    for inputs in (LONG, LONG, LONG[:2], LONG[:2]):
        before = counted.calls
        f.many(shifted(inputs, 9))
        calls.append(counted.calls - before)
    assert calls == [4, 3, 4, 3]  # for all points, at both ends, and to count


def test_many_leaves_the_points_as_they_were():
    points = shifted(LONG, 5)
    before = [point.copy() for point in points]
    from_torch(lambda x: x.mul_(2.0)).many(points)
    np.testing.assert_array_equal(points, before)


@pytest.mark.parametrize(
    ("check", "name"),
    [(check_vjp, name) for name in TOGETHER]
    + [(check_jvp, name) for name in ("several inputs", "several outputs", "complex")],
)
def test_a_check_finds_the_same_all_at_once_as_one_by_one(check, name):
    fn, inputs = TOGETHER[name]
    counted, alone_counted = Calls(fn), Calls(fn)
    together, alone = (
        check(from_torch(counted), inputs),
        check(OneByOne(from_torch(alone_counted)), inputs),
    )
    assert (together.verdict, together.reason) == (alone.verdict, alone.reason) == ("pass", "ok")
    fewer = alone_counted.calls - counted.calls  # those for the products included
    assert fewer > together.evaluations / 2


def twice_at(k, product):
    """Make a product wrong, in one entry of what it gives."""

    def wrong(given, *inputs):
        right = np.array(product(given, *inputs))
        right.flat[k] *= 2
        return right

    return wrong


@pytest.mark.parametrize("kind", ["vjp", "jvp"])
def test_a_wrong_entry_is_found_and_named(kind):
    f = from_torch(lambda x: torch.sin(x) * torch.exp(x[0]))
    wrong = twice_at(7, getattr(f, kind))
    report = (check_vjp if kind == "vjp" else check_jvp)(f, LONG, wrong)
    assert report.verdict == "fail"
    assert ("x[7]" if kind == "vjp" else "output[7]") in report.worst.name


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


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_what_cannot_go_through_vmap_is_called_one_by_one(name):
    points = shifted(LONG, 3)
    f, alone = from_torch(ONE_BY_ONE[name]), from_torch(ONE_BY_ONE[name])
    values = [value.tobytes() for value in f.many(points)]
    assert values == [alone(point).tobytes() for point in points]
    assert not hasattr(f, "many")  # it is not tried again


def test_what_was_found_out_is_known_in_other_processes_too():
    f = from_torch(Square.apply)
    assert hasattr(pickle.loads(pickle.dumps(f)), "many")
    f.many([LONG, LONG])
    assert not hasattr(pickle.loads(pickle.dumps(f)), "many")


@pytest.mark.parametrize("name", [name for name in ONE_BY_ONE if name != "too large for it"])
def test_a_check_of_what_cannot_go_through_vmap_has_the_verdict_it_has_one_by_one(name):
    fn = ONE_BY_ONE[name]
    together, alone = check_vjp(from_torch(fn), LONG), check_vjp(OneByOne(from_torch(fn)), LONG)
    assert (together.verdict, together.reason) == (alone.verdict, alone.reason)


def test_points_that_differ_in_a_constant_are_called_one_by_one():
    f = from_torch(lambda x, n, k: x**n + k)
    points = [(LONG, n, np.array(n)) for n in range(10)]
    for n, value in enumerate(f.many(points)):
        np.testing.assert_allclose(value, LONG**n + n, rtol=1e-14)
    points = [(LONG, 2, np.array(n)) for n in (1, 5, 1)]
    for (_, _, n), value in zip(points, f.many(points), strict=True):
        np.testing.assert_allclose(value, LONG**2 + n, rtol=1e-14)
    assert hasattr(f, "many")  # which says nothing of fn


@pytest.mark.parametrize(
    "draw",
    [lambda: 1e-6 * torch.rand(()), lambda: 1e-6 * RNG.random()],
    ids=["torch's", "NumPy's"],
)
def test_random_numbers_drawn_by_fn_are_drawn_at_every_point(draw):
    f = from_torch(lambda x: torch.sum(x) + draw())
    assert len({float(value) for value in f.many([LONG] * 20)}) == 20


def test_an_error_at_one_of_many_points_is_raised():
    def fn(x):
        if x[0] > 0:
            raise ArithmeticError("not there")
        return torch.sum(x)

    with pytest.raises(ArithmeticError, match="not there"):
        from_torch(fn).many([LONG, -LONG])


def test_a_tree_goes_through_fn_as_a_whole():
    f = from_torch(lambda params: {"y": torch.tanh(params["w"]) * params["b"][0]})
    point = {"w": LONG, "b": [np.array(0.5)]}
    points = [{"w": LONG + 0.01 * k, "b": [np.array(0.5)]} for k in range(5)]
    for value, params in zip(f.many([(point,) for point in points]), points, strict=True):
        np.testing.assert_allclose(value["y"], f(params)["y"], rtol=1e-14)
    assert f._together
    assert check_vjp(f, [point])


class Cut(torch.nn.Module):
    """One that makes a tensor in its forward, and has a parameter."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        return torch.eye(2, 3) @ (self.weight * x)


def test_a_module_goes_through_vmap_in_double_with_what_it_makes_itself():
    f = ModuleFunction(Cut(), (np.array([0.5, 1.5, -1.0]),), {}, None, 0)
    points = [{name: one + 0.1 * k for name, one in f.point.items()} for k in range(4)]
    values = f.many(points)
    assert f._together
    for value, point in zip(values, points, strict=True):
        np.testing.assert_allclose(value, (point["weight"] * point["x"])[:2], rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one array", "control flow on values"])
def test_workers_give_the_same_numbers_though_torch_has_worked_with_threads_before(name):
    program = f"""
import sys
sys.path[:0] = {[str(folder) for folder in Path(__file__).parents[:2]]!r}
from test_torch_at_once import LONG, ONE_BY_ONE, TOGETHER, check_vjp, from_torch
fn = TOGETHER[{name!r}][0] if {name!r} in TOGETHER else ONE_BY_ONE[{name!r}]
reports = [check_vjp(from_torch(fn), LONG, workers=workers) for workers in (None, 2)]
assert reports[0], reports[0]
numbers = [[pair.numeric.tobytes() for pair in report.pairs] for report in reports]
assert numbers[0] == numbers[1]
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
