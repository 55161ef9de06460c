"""A whole torch module in one call: its names, what is constant in it, and what is left alone."""

import random
import re
import sys
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields

import numpy as np
import pytest
from beside import power, ran, rule

from gradcheck_ref.adapters import check_module

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn
torch.set_num_threads(1)  # threads that wait for each other take most of the time of small modules

X = np.array([[0.5, -1.25, 2.0], [1.0, 0.25, -0.5], [-2.0, 0.75, 1.5], [0.1, -0.6, 0.9]])
LABELS = torch.tensor([0, 1, 1, 0])


def layer(forward, **attributes):
    """Write a module with this forward, and with these attributes."""
    module = type("Layer", (nn.Module,), {"forward": forward})()
    for name, value in attributes.items():
        setattr(module, name, value)
    return module


def square_with(factor):
    """Write x**2 as a layer with a backward of its own, right for a factor of 2."""
    return layer(lambda self, x: self.square.apply(x), square=power(2, factor))


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
    def __init__(self, where: str):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
        self.register_buffer("shift", torch.tensor([0.5, 0.0, 0.5]))
        self.where = where

    def forward(self, x):
        weight = self.weight.detach() if self.where == "weight" else self.weight
        x_or_constant = x.detach() if self.where == "x" else x
        return (weight * x).sin() + x_or_constant * self.shift


def test_a_parameter_or_an_input_that_was_detached_is_named():
    assert check_module(Detached(""), X)
    for where in ("weight", "x"):
        report = check_module(Detached(where), X)
        assert report.verdict == "fail"
        assert report.ranked[0].input.name == where


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


def test_a_dropout_is_not_noise_and_a_note_says_why():
    module = network(square_with(2), nn.Dropout(0.5))
    report = check_module(module, X, seed=7)
    assert report.verdict == "pass"
    (note,) = report.notes[:-1]
    assert note.startswith("the module draws random numbers")
    assert "torch.manual_seed(7)" in note
    assert check_module(module.eval(), X).notes == report.notes[-1:]
    assert check_module(network(square_with(3), nn.Dropout(0.5)), X).verdict == "fail"


@pytest.mark.parametrize(
    ("module", "dtype", "notes"),
    [
        (nn.Linear(3, 2).bfloat16(), None, ["float64, not in the bfloat16 of the module"]),
        (nn.Linear(3, 2), None, ["float64, not in the float32 of the module"]),
        (
            nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2).half()),
            None,
            ["float64, not in the float16 and float32 of the module"],
        ),
        (nn.Linear(3, 2).bfloat16(), torch.float32, ["float32, not in the bfloat16"]),
        (nn.Linear(3, 2).double(), None, []),
        (nn.Linear(3, 2).bfloat16(), "own", []),
        (nn.Tanh(), None, []),
    ],
)
def test_a_note_says_if_a_module_was_computed_in_another_dtype(module, dtype, notes):
    report = check_module(module, X, dtype=dtype)
    assert report.verdict == "pass"
    assert len(report.notes) == len(notes)
    for note, said in zip(report.notes, notes, strict=True):
        assert note.startswith(f"computed in {said}")
        assert "dtype='own' checks it as it is" in note


class AllShifted(nn.Module):
    """A softmax of a shifted input, which is the softmax of the input."""

    def __init__(self, exact):
        super().__init__()
        self.shift, self.exact = nn.Parameter(torch.zeros(())), exact

    def forward(self, x):
        p = torch.softmax(x + self.shift, -1)
        return p if self.exact else p.detach() * (1 + x + self.shift - (x + self.shift).detach())


def test_a_wrong_gradient_where_f_does_not_change_is_not_blamed_on_hidden_parameters():
    report = check_module(AllShifted(False), X)
    assert report.verdict == "fail"
    (fault,) = report.faults
    assert "Does f read" not in fault.sentence
    assert "or never depends on shift (a shift before softmax)" in fault.sentence
    assert check_module(AllShifted(True), X).verdict == "pass"


def test_a_random_module_does_not_pass():
    assert check_module(layer(lambda self, x: x * random.random()), X).verdict != "pass"


@pytest.mark.parametrize(
    ("make", "inputs"),
    [
        (lambda: nn.LSTM(3, 2), (X, (torch.zeros(1, 2), torch.ones(1, 2)))),
        (lambda: nn.Embedding(4, 2), (LABELS,)),
        (lambda: nn.Bilinear(3, 3, 2), (X, torch.from_numpy(X[::-1].copy()).float())),
        (lambda: nn.Conv1d(1, 2, 2), (X[:, None, :],)),
    ],
    ids=["states in a tuple", "a tensor of integers", "float32", "conv"],
)
def test_modules_of_torch_pass(make, inputs):
    torch.manual_seed(0)
    assert check_module(make(), *inputs).verdict == "pass"


def test_inputs_in_tuples_and_dicts_are_checked_by_their_keys():
    def mixed(cut):
        def forward(self, x, more):
            shift, (scale, power, _nothing) = more["shift"], more["rest"]
            return self.linear(x * (scale.detach() if cut else scale) + shift) ** power

        return layer(forward, linear=nn.Linear(3, 2))

    one = torch.ones(3)
    more = {"shift": one, "rest": (2 * one, 2.0, None)}
    right, wrong = (check_module(mixed(cut), X, more) for cut in (False, True))
    assert (right.verdict, wrong.verdict) == ("pass", "fail")
    shift, scale = "more['shift']", "more['rest'][0]"
    assert names(right, "pass") == {"x", shift, scale, "linear.weight", "linear.bias"}
    assert names(wrong, "fail") == {scale}
    assert more["rest"][0].dtype == torch.float32


def test_only_a_module_is_accepted():
    with pytest.raises(TypeError, match=r"must be a torch\.nn\.Module.*check_vjp\(from_torch"):
        check_module(torch.sin, X)


# --- what is called by name, and what comes back ----------------------------------------------


def masked(cut):
    def forward(self, x, *, mask, scale=1.0, bias=None):
        mask = mask.detach() if cut else mask
        return scale * self.linear(x * mask) + (0.0 if bias is None else bias)

    return layer(forward, linear=nn.Linear(3, 2))


def test_keyword_arguments_of_forward_are_passed_by_name():
    mask = np.array([1.0, 0.5, 2.0])
    right, wrong = (check_module(masked(cut), X, mask=mask, scale=3.0) for cut in (False, True))
    assert (right.verdict, wrong.verdict) == ("pass", "fail")
    assert names(right, "pass") == {"x", "mask", "linear.weight", "linear.bias"}
    assert names(wrong, "fail") == {"mask"}
    assert check_module(masked(False), X, mask=mask, rtol=1e-3, seed=5).rtol == 1e-3


def test_an_unknown_keyword_is_named():
    said = r"rtl is not an argument of forward, which takes x, mask, scale, bias, and not a"
    with pytest.raises(TypeError, match=said):
        check_module(masked(False), X, mask=np.ones(3), rtl=1e-3)

    anything = layer(lambda self, x, **more: x * more["x.weight"])
    report = check_module(anything, X, **{"x.weight": np.ones(3)})
    assert {pair.input.name for pair in report.pairs} == {"x", "x.weight"}


def test_an_input_and_a_parameter_may_have_the_same_name():
    def forward(self, x, scale=1.0):
        return self.x * self.scale * x.sin() * scale

    scaled = layer(forward, **{name: nn.Parameter(torch.tensor(2.0)) for name in ("x", "scale")})
    report = check_module(scaled, X, scale=np.array([1.0, 2.0, 3.0]))
    assert report.verdict == "pass"
    assert names(report, "pass") == {"inputs[0]", "x", "inputs['scale']", "scale"}


class ModelOutput(OrderedDict):
    """As those of language models are: a dict and a dataclass, which is not to be changed."""

    def __post_init__(self):
        for one in fields(self):
            if getattr(self, one.name) is not None:
                OrderedDict.__setitem__(self, one.name, getattr(self, one.name))

    def update(self, *_, **__):
        raise AttributeError("it stays as it is")

    __delitem__ = pop = setdefault = update


@dataclass
class Causal(ModelOutput):
    logits: torch.Tensor | None = None
    states: tuple[torch.Tensor, ...] | None = None
    loss: torch.Tensor | None = None


OUTPUTS = {
    "dict": (lambda a, b: {"logits": a, "rest": [b, 3]}, "output['logits']", "output['rest'][0]"),
    "model": (lambda a, b: Causal(a, (b,)), "output['logits']", "output['states'][0]"),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_are_named_by_their_path(name):
    arranged, first, second = OUTPUTS[name]

    def two(factor):
        return layer(lambda self, x: arranged(x.sin(), self.last(x)), last=square_with(factor))

    right, wrong = (check_module(two(factor), X) for factor in (2, 3))
    assert (right.verdict, wrong.verdict) == ("pass", "fail")
    assert [pair.output.name for pair in right.pairs] == [first, second]
    assert wrong.ranked[0].output.name == second


def test_a_packed_sequence_is_checked_by_its_data():
    def recurrent(factor):
        def forward(self, packed):
            return self.gru(type(packed)(self.square(packed[0]), *packed[1:]))[0]

        return layer(forward, gru=nn.GRU(3, 2), square=square_with(factor))

    torch.manual_seed(0)
    padded, lengths = torch.randn(3, 2, 3), torch.tensor([2, 3])
    packed = nn.utils.rnn.pack_padded_sequence(padded, lengths, enforce_sorted=False)
    right, wrong = (check_module(recurrent(factor), packed=packed) for factor in (2, 3))
    assert (right.verdict, wrong.verdict) == ("pass", "fail")
    assert ("packed.data", "output.data") in {(p.input.name, p.output.name) for p in right.pairs}
    assert packed.data.dtype == torch.float32


# --- what is handed over otherwise than it has to be ------------------------------------------


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ([0.5, 1.0, 2.0], r"input is a list, .*, pass np\.array\(input, float\)"),
        (([X[0]], [X[1]]), r"input is a tuple, .*, pass np\.array\(input, float\)"),
        (0.5, r"input is a float, .*, pass np\.array\(input, float\)"),
        ({"x": X}, r"input is a dict, .* write \*\*input"),
        (np.array([[1, 2, 3]]), r"input holds int64, .* pass np\.asarray\(input, float\)"),
        (np.array([[1, 0, 1]]) > 0, r"input holds bool, .* pass np\.asarray\(input, float\)"),
    ],
    ids=["list", "tuple", "number", "dict", "integers", "flags"],
)
def test_an_input_that_is_not_an_array_is_named_with_advice(given, line):
    with pytest.raises((TypeError, RuntimeError)) as caught:
        check_module(nn.Linear(3, 2), given)
    notes = " ".join(caught.value.__notes__)
    assert re.search(line, notes)
    assert "from_torch(f)" not in notes  # it is adapted already


def test_an_error_of_the_module_gets_no_advice_about_lists():
    def forward(self, x, sizes):
        raise TypeError(f"sizes must be three numbers, not {len(sizes)}")

    with pytest.raises(TypeError, match="sizes must be three numbers, not 2") as caught:
        check_module(layer(forward), X, [1, 2])
    assert caught.value.__notes__ == ["in gradcheck_ref, calling f at x"]


def test_a_check_with_nothing_to_differentiate_names_the_inputs():
    frozen = nn.Embedding(4, 2).requires_grad_(False)
    with pytest.raises(TypeError, match=r"nothing to differentiate: input is .*requires_grad_\(\)"):
        check_module(frozen, LABELS)
    with pytest.raises(TypeError, match=r"nothing to differentiate: input is float 0\.5"):
        check_module(nn.Tanh(), 0.5)
    assert check_module(nn.Tanh(), np.float64(0.5))
    assert check_module(frozen.requires_grad_(), LABELS)


def test_a_module_without_numbers_is_refused_with_the_reason():
    lazy = nn.LazyLinear(2)
    with pytest.raises(ValueError, match=r"weight has no shape yet, .* call module\(\.\.\.\) once"):
        check_module(lazy, X)
    lazy(torch.ones(1, 3))
    assert check_module(lazy, X)
    with pytest.raises(ValueError, match="weight is on the device meta"):
        check_module(nn.Linear(3, 2, device="meta"), X)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr"])
def test_sparse_tensors_are_constants_and_a_note_says_so(layout):
    def graph(cut):
        def forward(self, x, edges):
            return edges @ (self.linear(x).detach() if cut else self.linear(x))

        return layer(forward, linear=nn.Linear(3, 2))

    edges = getattr(torch.tensor([[0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 3.0]]), layout)()
    right, wrong = (check_module(graph(cut), X, edges) for cut in (False, True))
    assert (right.verdict, wrong.verdict) == ("pass", "fail")
    assert right.notes[0].startswith("edges is a sparse or nested tensor: it was held constant")


@pytest.mark.parametrize(
    "buffer",
    [lambda: torch.eye(3).to_sparse(), lambda: torch.ones(3, 3).to(torch.float8_e4m3fn)],
    ids=["sparse", "float8"],
)
def test_buffers_may_have_dtypes_that_numpy_lacks(buffer):
    fixed = layer(lambda self, x: self.fixed @ x.T)
    fixed.register_buffer("fixed", buffer())
    assert check_module(fixed, X).verdict == "pass"


# --- the precision of what forward makes ------------------------------------------------------


class Cell(nn.Module):
    """A recurrent step from a state that forward makes, and a matrix that is no buffer."""

    def __init__(self, dtype=None, plain=False):
        super().__init__()
        self.cell, self.dtype = nn.GRUCell(3, 2), dtype
        self.matrix = torch.eye(2) if plain else None

    def forward(self, x):
        h = self.cell(x, torch.zeros(len(x), 2, dtype=self.dtype))
        return h if self.matrix is None else h @ self.matrix


def test_tensors_that_forward_makes_without_a_dtype_are_double():
    assert check_module(Cell(), X).verdict == "pass"
    assert torch.get_default_dtype() == torch.float32
    with pytest.raises(RuntimeError):
        check_module(Cell(torch.float32), X)
    assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize(
    ("module", "loss"),
    [
        (Cell(torch.float32), None),
        (Cell(plain=True), None),
        (Cell(), lambda output: (output @ torch.eye(2, dtype=torch.float32)).sum()),
    ],
    ids=["made with a dtype", "no buffer", "loss"],
)
def test_a_tensor_of_another_precision_gets_a_likely_origin(module, loss):
    with pytest.raises(RuntimeError) as caught:
        check_module(module, X, loss=loss)
    assert "it is not a buffer, or is made by .float()" in caught.value.__notes__[0]
    assert "double()" not in caught.value.__notes__[0]  # that it is already


class Checkpointed(nn.Module):
    """Works out its middle once more on the way back."""

    def __init__(self, factor=2, reentrant=False):
        super().__init__()
        self.linear, self.square, self.reentrant = nn.Linear(3, 2), square_with(factor), reentrant
        self.dropout = nn.Dropout(0.5)

    def middle(self, x):
        return self.dropout(self.square(self.linear(x)).tanh() @ torch.ones(2, 2))

    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(self.middle, x, use_reentrant=self.reentrant)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_checkpointed_layers_have_the_same_parameters_in_backward(dtype):
    right, wrong = (check_module(Checkpointed(factor).to(dtype), X) for factor in (2, 3))
    assert (right.verdict, wrong.verdict) == ("pass", "fail")


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
def test_the_reentrant_checkpoint_is_refused_in_favor_of_the_other():
    with pytest.raises(RuntimeError, match="use_reentrant=True") as caught:
        check_module(Checkpointed(reentrant=True), X)
    assert "check with use_reentrant=False" in caught.value.__notes__[0]


# --- modules as they are trained: 16 bits, and a loss in float32 ------------------------------


class Classifier(nn.Module):
    """Something, then a linear layer, and the cross entropy of its output in float32."""

    def __init__(self, first, features, classes=20, factor=1.0, autocast=False):
        super().__init__()
        self.first, self.last = first, nn.Linear(features, classes)
        # The identity, with a backward that multiplies.
        self.times = rule(lambda ctx, x: x.clone(), lambda ctx, upstream: upstream * factor)
        self.autocast = torch.autocast("cpu", torch.float16, enabled=autocast)

    def forward(self, x, labels):
        with self.autocast:
            logits = self.last(self.times(self.first(x)))
        return nn.functional.cross_entropy(logits.float(), labels)


TRAINED = {
    "head": lambda factor: (
        Classifier(nn.LayerNorm(16), 16, factor=factor), torch.randn(8, 16)),
    "perceptron": lambda factor: (
        Classifier(nn.Sequential(nn.Linear(16, 32), nn.GELU()), 32, factor=factor),
        torch.randn(16, 16)),
    "deep": lambda factor: (
        Classifier(nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(),
                                 nn.Linear(32, 16), nn.SiLU()), 16, factor=factor),
        torch.randn(16, 16)),
    "embedding": lambda factor: (
        Classifier(nn.Embedding(12, 8), 8, factor=factor), torch.randint(0, 12, (10,))),
}  # fmt: skip


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "pass"), (2.0, "fail")])
def test_a_scaled_loss_under_autocast_is_judged_as_it_is_trained(factor, verdict):
    torch.manual_seed(0)
    first = nn.Sequential(nn.Linear(8, 16), nn.Tanh())
    module = Classifier(first, 16, 10, factor, autocast=True)
    x, labels = torch.randn(8, 8), torch.randint(0, 10, (8,))
    report = check_module(module, x, labels, dtype="own", loss=lambda loss: 1024 * loss)
    assert report.verdict == verdict, str(report)


@pytest.mark.parametrize("name", TRAINED)
def test_a_module_in_bfloat16_passes_as_it_is_trained_and_a_doubled_layer_fails(name):
    for factor, verdict in ((1.0, "pass"), (2.0, "fail")):
        torch.manual_seed(0)
        module, x = TRAINED[name](factor)
        x = x.bfloat16() if x.is_floating_point() else x
        labels = torch.randint(0, 20, (len(x),))
        report = check_module(module.bfloat16(), x, labels, dtype="own")
        assert report.verdict == verdict, str(report)


class Head(Classifier):
    """The factor is one of the gradient of the last bias alone."""

    def forward(self, x, labels):
        bias = self.times(self.last.bias)
        logits = nn.functional.linear(self.first(x), self.last.weight, bias)
        return nn.functional.cross_entropy(logits.float(), labels)


@pytest.mark.parametrize(("factor", "verdicts"), [(1.0, {"pass"}), (1.03, {"unsure", "fail"})])
@pytest.mark.parametrize("seed", range(2))
def test_a_bias_that_is_3_percent_off_does_not_hide_in_a_group(seed, factor, verdicts):
    torch.manual_seed(seed)
    module = Head(nn.LayerNorm(64), 64, 200, factor).bfloat16()
    x, labels = torch.randn(16, 64).bfloat16(), torch.randint(0, 200, (16,))
    report = check_module(module, x, labels, dtype="own")
    assert report.verdict in verdicts, str(report)


class Scores(nn.Module):
    """A convolution with kinks, then a linear layer, and a weighted sum in float32."""

    def __init__(self, factor):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.last = nn.Linear(64, 10)
        self.times = rule(lambda ctx, x: x.clone(), lambda ctx, upstream: upstream * factor)

    def forward(self, x, weights):
        return (self.last(self.times(self.first(x))).float() * weights).sum()


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "pass"), (2.0, "fail")])
def test_few_digits_beside_kinks_are_judged_at_the_steps_that_tell_most(factor, verdict):
    torch.manual_seed(0)
    module, x, weights = Scores(factor).bfloat16(), torch.randn(4, 3, 4, 4), torch.randn(4, 10)
    report = check_module(module, x.bfloat16(), weights, dtype="own", constant="weights")
    assert report.verdict == verdict, str(report)


class Attention(nn.Module):
    """Attention to what came before, and the cross entropy of a linear layer, under autocast."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.last = nn.Linear(16, 48), nn.Linear(16, 16), nn.Linear(16, 20)

    def forward(self, x, labels):
        with torch.autocast("cpu", torch.bfloat16):
            parts = self.qkv(x).chunk(3, -1)
            mixed = nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
            logits = self.last(self.out(mixed))
        return nn.functional.cross_entropy(logits.float().flatten(0, 1), labels.flatten())


def test_in_company_a_backward_in_16_bits_may_round_otherwise():
    torch.manual_seed(0)
    module, x, labels = Attention(), torch.randn(2, 8, 16), torch.randint(0, 20, (2, 8))
    report = check_module(module, x, labels, dtype="own")
    assert report.verdict == "pass", str(report)


# --- other ways to come by a module -----------------------------------------------------------


@pytest.mark.filterwarnings("ignore:`torch.jit.:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor", "ignore:Complex modules are")
@pytest.mark.parametrize(
    "made",
    [
        torch.jit.script,
        lambda module: nn.Sequential(nn.Tanh(), torch.jit.trace(module, torch.ones(4, 3))),
        nn.DataParallel,
        lambda module: torch.compile(module, backend="aot_eager"),
        lambda module: nn.utils.parametrizations.weight_norm(module, dim=None),
        lambda module: nn.Sequential(module, module),
        lambda module: module.bfloat16(),
        lambda module: module.to(torch.complex64),
    ],
    ids=["script", "trace", "parallel", "compiled", "weight norm", "twice", "bfloat16", "complex"],
)
def test_wrapped_and_compiled_modules_are_checked(made):
    right, wrong = (check_module(made(Detached(where)), X) for where in ("", "weight"))
    assert (right.verdict, wrong.verdict) == ("pass", "fail")


def test_tied_parameters_count_as_one():
    linear, other = nn.Linear(3, 3), nn.Linear(3, 3)
    other.weight = linear.weight
    report = check_module(layer(lambda self, x: self.b(self.a(x).tanh()), a=linear, b=other), X)
    assert report.verdict == "pass"
    assert {one.input.name for one in report.pairs} == {"x", "a.weight", "a.bias", "b.bias"}


def test_the_backward_is_checked_although_forward_mode_fails():
    class Forward(torch.autograd.Function):
        """As some operations of torch: right on the way back, and an error on the way forward."""

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, upstream):
            return upstream * Forward.factor

        @staticmethod
        def jvp(ctx, tangent):
            raise RuntimeError("the sizes do not fit")

    for Forward.factor, verdict in ((2, "pass"), (3, "fail")):
        assert check_module(layer(lambda self, x: Forward.apply(x)), X).verdict == verdict


# --- several at a time ------------------------------------------------------------------------


def test_threads_share_a_module_without_conflict():
    module = network(nn.Tanh(), nn.Dropout(0.5))
    with ThreadPoolExecutor(4) as threads:
        assert check_module(module, X, workers=threads).verdict == "pass"
    assert all(one.dtype == torch.float32 for one in module.parameters())


@pytest.mark.slow
def test_worker_processes_work_despite_the_threads_of_torch(tmp_path):
    script = tmp_path / "checks.py"
    script.write_text(
        "import numpy as np, torch\n"
        "from gradcheck_ref.adapters import check_module\n"
        "def cube(y): return (y @ torch.ones(600, 600)).sum() ** 3\n"
        "if __name__ == '__main__':\n"
        "    torch.manual_seed(0)\n"
        "    torch.set_num_threads(2)\n"
        "    torch.ones(600, 600) @ torch.ones(600, 600)\n"
        "    module = torch.nn.Linear(2, 600).requires_grad_(False)\n"
        "    report = check_module(module, np.ones((1, 2)), loss=cube, workers=2)\n"
        "    print(report.verdict)\n"
    )
    assert ran(sys.executable, script, timeout=120, check=True).stdout == "pass\n"
