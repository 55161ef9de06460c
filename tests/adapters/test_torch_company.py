"""Backwards of torch that are right alone, and wrong in company; beside each, a right one."""

import numpy as np
import pytest
from beside import rule, saving

from gradcheck_ref import check_vjp
from gradcheck_ref.adapters import check_module, from_torch
from gradcheck_ref.compat.torch import gradcheck

torch = pytest.importorskip("torch")

A, B = np.random.default_rng(0).normal(size=(2, 3, 4))
IMAGE = np.random.default_rng(1).normal(size=(1, 2, 2, 3))
NUMBER = np.array(0.7)


def memory(t, start=None):
    """Read t as a kernel does that takes it for contiguous; zeros beyond the storage."""
    start = t.storage_offset() if start is None else start
    length = t.untyped_storage().nbytes() // t.element_size() - start
    flat = torch.as_strided(t, (length,), (1,), start)[: t.numel()]
    return torch.cat([flat, flat.new_zeros(t.numel() - flat.numel())]).view(t.shape)


def copied(t):
    return t.clone(memory_format=torch.contiguous_format)


def square(backward):
    """Return x**2, with a backward of the upstream and x."""
    return rule(saving(lambda x: x * x), lambda ctx, g: backward(g, *ctx.saved_tensors))


def product(backward):
    """Return x * y, with a backward of ctx, the upstream, x and y."""
    return rule(saving(lambda x, y: x * y), lambda ctx, g: backward(ctx, g, *ctx.saved_tensors))


def by_layout(is_it, misread):
    """Return a reader that takes one layout for another."""
    return lambda t: misread(t) if is_it(t) else t


def is_last(t):
    return t.is_contiguous(memory_format=torch.channels_last) and not t.is_contiguous()


def writes(ctx, g):
    g *= 3
    return g


def keeping(store, name):
    """Return x**2, with x in ``store(ctx)``."""

    def forward(ctx, x):
        store(ctx)[name] = x.detach().clone() if name == "copy" else x
        return x * x

    return rule(forward, lambda ctx, g: 2 * store(ctx)[name] * g)


def negates_its_input(ctx, x):
    ctx.save_for_backward(x.clone())
    y = x * x
    x.data.neg_()
    return y


def exp_that_saves(ctx, x):
    y = x.exp()
    ctx.save_for_backward(y)
    return y


def exp_in_ctx(ctx, x):
    ctx.y = x.exp()
    return ctx.y


def in_place(ctx, g):
    (y,) = ctx.saved_tensors
    return y.data.mul_(g)


def used_up(ctx, g):
    ctx.factor, factor = 0.0, getattr(ctx, "factor", 3.0)
    return factor * g


BUFFER = torch.zeros(3, 4, dtype=torch.float64)


def two_outputs(unused):
    """Return (x, x * x); ``unused`` is the gradient if the second has no upstream."""

    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.set_materialize_grads(False)
        return x * 1, x * x

    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        if h is None:
            return unused(g)
        return 2 * x * h + (0 if g is None else g)

    return rule(forward, backward)


def filled(early):
    """Return x**2; what backward needs is filled in before, or after, it is saved."""
    held = rule(saving(lambda x, _: x * x), lambda ctx, g: (ctx.saved_tensors[1] * g, None))

    def f(x):
        twice = 2 * x.detach() if early else torch.zeros_like(x)
        y = held(x, twice)
        twice.data.copy_(2 * x.detach())
        return y

    return f


def reads_twice(ctx, g):
    return ctx.saved_tensors[0] * g + ctx.saved_tensors[0] * g


def is_dense_transpose(t):
    return t.t().is_contiguous() and not t.is_contiguous()


def rows(t):
    """Take rows for dense if the numbers of each are side by side."""
    return t if t.stride(-1) != 1 else memory(t)


def product_of_three(same):
    """Return x * y * z, whose last gradient is zero for some inputs."""

    def backward(ctx, g):
        x, y, z = ctx.saved_tensors
        return g * y * z, g * x * z, g * x * y * (not same(*(t.data_ptr() for t in (x, y, z))))

    return rule(saving(lambda x, y, z: x * y * z), backward)


def half_in_ctx(save):
    """Return (x * y, exp(x)); ctx holds what torch is not asked to save."""

    def forward(ctx, x, y):
        e = x.exp()
        ctx.held, p = save(y, e), x * y
        ctx.save_for_backward(x, p)
        return p, e

    def backward(ctx, g, h):
        (x, _), (y, e) = ctx.saved_tensors, ctx.held
        return g * y + h * e, g * x

    return rule(forward, backward)


def absolute(store):
    def forward(ctx, x):
        store(ctx)["sign"] = x.sign()
        return x.abs()

    return rule(forward, lambda ctx, g: store(ctx)["sign"] * g)


SQUARE = square(lambda g, x: 2 * x * g)
TRIPLE = rule(lambda ctx, x: 3 * x, lambda ctx, g: 3 * g)
EXP = rule(exp_that_saves, lambda ctx, g: ctx.saved_tensors[0] * g)
GATED = product(lambda ctx, g, x, y: (g * y, g * x) if ctx.needs_input_grad[0] else (None, None))

# circumstance: (wrong, right, inputs). Nothing of it shows when it is checked alone.
ROWS = {
    "the upstream is not contiguous": (
        square(lambda g, x: 2 * x * memory(g)),
        square(lambda g, x: 2 * x * memory(g.contiguous())), [A]),
    "the upstream is not contiguous | rows apart": (
        square(lambda g, x: 2 * x * rows(g)), SQUARE, [A]),
    "the upstream is not contiguous | transposed": (
        square(lambda g, x: 2 * x * by_layout(is_dense_transpose, memory)(g)), SQUARE, [A]),
    "the upstream is not contiguous | beside a plain input": (
        square(lambda g, x: 2 * x * (memory(g) if x.is_contiguous() else g)), SQUARE, [A]),
    "the upstream starts behind | a number": (
        rule(saving(lambda x: (x * x).sum()),
             lambda ctx, g: 2 * ctx.saved_tensors[0] * memory(g, 0)),
        rule(saving(lambda x: (x * x).sum()), lambda ctx, g: 2 * ctx.saved_tensors[0] * g), [A]),
    "the upstream is one number": (
        square(lambda g, x: 2 * x * by_layout(lambda t: 0 in t.stride(), memory)(g)), SQUARE, [A]),
    "the upstream starts behind": (
        square(lambda g, x: 2 * x * memory(g.contiguous(), 0)),
        square(lambda g, x: 2 * x * memory(copied(g), 0)), [A]),
    "the upstream is channels_last": (
        square(lambda g, x: 2 * x * by_layout(is_last, memory)(g)), SQUARE, [IMAGE]),
    "another branch reads the upstream": (rule(lambda ctx, x: 3 * x, writes), TRIPLE, [NUMBER]),
    "some inputs need no gradient": (
        GATED,
        product(lambda ctx, g, x, y: (g * y, g * x if ctx.needs_input_grad[1] else None)), [A, B]),
    "an input is not contiguous": (
        square(lambda g, x: 2 * memory(x) * g),
        square(lambda g, x: 2 * memory(x.contiguous()) * g), [A]),
    "an input is not contiguous | one axis": (
        square(lambda g, x: 2 * memory(x) * g), SQUARE, [A[0]]),
    "an input is not contiguous | rows apart": (square(lambda g, x: 2 * rows(x) * g), SQUARE, [A]),
    "an input is not contiguous | transposed": (
        square(lambda g, x: 2 * by_layout(is_dense_transpose, memory)(x) * g), SQUARE, [A]),
    "an input starts behind": (
        square(lambda g, x: 2 * memory(x.contiguous(), 0) * g),
        square(lambda g, x: 2 * memory(copied(x), 0) * g), [A]),
    "an input is channels_last": (
        square(lambda g, x: 2 * by_layout(is_last, memory)(x) * g), SQUARE, [IMAGE]),
    "an input is used after the call": (
        rule(negates_its_input, lambda ctx, g: 2 * ctx.saved_tensors[0] * g), SQUARE, [A]),
    "another step has saved": (rule(exp_that_saves, in_place), EXP, [A]),
    "backward runs twice": (rule(lambda ctx, x: 3 * x, used_up), TRIPLE, [A]),
    "forward runs again": (
        keeping(lambda ctx, module={}: module, "copy"), keeping(vars, "copy"), [A]),
    "forward runs again | the same signs nearby": (
        absolute(lambda ctx, module={}: module), absolute(vars), [A]),
    "another backward runs": (
        square(lambda g, x: torch.mul(2 * x, g, out=BUFFER)),
        square(lambda g, x: torch.mul(2 * x, g)), [A]),
    "the loss uses one output": (two_outputs(lambda g: None), two_outputs(lambda g: g), [A]),
    "one tensor is given for two": (
        product(lambda ctx, g, x, y: (g * y, None if x.data_ptr() == y.data_ptr() else g * x)),
        product(lambda ctx, g, x, y: (g * y, g * x)), [A, B]),
    "one tensor is given for two | the last two": (
        product_of_three(lambda x, y, z: y == z), product_of_three(lambda x, y, z: False),
        [A, B, A + B]),
    "one tensor is given for two | all three": (
        product_of_three(lambda x, y, z: x == y == z), product_of_three(lambda x, y, z: False),
        [A, B, A + B]),
    "saved tensors are copied": (filled(False), filled(True), [A]),
    "an input is changed in place": (keeping(vars, "x"), keeping(vars, "copy"), [A]),
    "an input is changed in place | another is saved": (
        half_in_ctx(lambda y, e: (y, e.clone())),
        half_in_ctx(lambda y, e: (y.clone(), e.clone())), [A, B]),
    "an output is changed in place | another is not kept": (
        half_in_ctx(lambda y, e: (y.clone(), e)),
        half_in_ctx(lambda y, e: (y.clone(), e.clone())), [A, B]),
    "an output is changed in place": (rule(exp_in_ctx, lambda ctx, g: ctx.y * g), EXP, [A]),
}  # fmt: skip

# Errors are loud, so they are notes: (function, what it says, inputs).
LOUD = {
    "refuses a strided upstream": (
        square(lambda g, x: (2 * x.view(-1) * g.view(-1)).view(x.shape)),
        "vjp raises if the upstream is not contiguous, as after .t(), a slice or cat: RuntimeError",
        [A]),
    "reads its saved tensors twice": (
        rule(saving(lambda x: x * x), reads_twice),
        "vjp raises if forward runs under torch.utils.checkpoint: CheckpointError", [A]),
    "knows one of two gradients": (
        product(lambda ctx, g, x, y: (g * y, g * x) if all(ctx.needs_input_grad) else undefined),  # noqa: F821
        "vjp raises if some inputs need no gradient", [A, B]),
}  # fmt: skip


def of(fn, inputs, **knobs):
    return check_vjp(from_torch(fn), inputs, jvp=False, **knobs)


@pytest.mark.parametrize("circumstance", ["the upstream is not contiguous", "forward runs again"])
def test_torch_s_rule_knows_no_company(circumstance):
    wrong, _, inputs = ROWS[circumstance]
    tensors = [torch.tensor(x, requires_grad=True) for x in inputs]
    assert torch.autograd.gradcheck(wrong, tensors)
    assert gradcheck(from_torch(wrong), tuple(inputs))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("circumstance", ROWS)
def test_a_backward_that_is_right_alone_fails_in_one_circumstance(circumstance):
    wrong, right, inputs = ROWS[circumstance]
    report = of(wrong, inputs)
    assert (report.verdict, report.reason) == ("fail", "company")
    first = str(report.text(1000)).splitlines()[0]
    assert first.startswith("FAIL  the numbers agree (")
    assert f", but they change if {circumstance.partition(' | ')[0]}" in first
    assert of(wrong, inputs, company=False)
    report = of(right, inputs)
    assert (report.verdict, report.notes) == ("pass", ())
    assert len(report.company) == 20


@pytest.mark.parametrize("name", LOUD)
def test_an_error_in_a_circumstance_is_a_note(name):
    fn, said, inputs = LOUD[name]
    report = of(fn, inputs)
    assert report
    (note,) = report.notes
    assert note.startswith(said)


def test_a_backward_that_writes_to_its_upstream_is_found_without_company():
    for company in (True, False):
        report = of(rule(lambda ctx, x: 3 * x, writes), [A], company=company)
        assert (report.reason, len(report.faults)) == ("mutated", 1)
        assert "vjp writes to upstream" in str(report)
    upstream = np.ones((3, 4))
    from_torch(lambda x: 3 * x).vjp(upstream, A)
    assert (upstream == 1).all()


def test_a_function_that_refuses_another_point_is_asked_all_else():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        assert x.max() <= 1
        return x * x

    point = [A / A.max() - 0.1]
    right = of(rule(forward, lambda ctx, g: 2 * ctx.saved_tensors[0] * g), point)
    assert right
    assert all(note.startswith("f raised AssertionError") for note in right.notes)
    report = of(rule(forward, lambda ctx, g: 2 * ctx.saved_tensors[0] * memory(g)), point)
    assert "they change if the upstream is not contiguous" in report.text(1000)


def test_company_says_nothing_about_wrong_numbers():
    report = of(square(lambda g, x: 3 * x * memory(g)), [A])
    assert (report.reason, report.company) == ("wrong", ())


def seeded_dropout(x):
    torch.manual_seed(3)
    return torch.nn.functional.dropout(x) * (2 * x)


def wants_rows(ctx, x):
    assert x.is_contiguous()
    ctx.save_for_backward(x)
    return x * x


def seventh(ctx, x):
    """Return a seventh of x, or of an upstream, computed in float32 inside."""
    return (x.float() / 7).double()


identity = rule(lambda ctx, x: x * 1, lambda ctx, g: g)
QUIET = {
    "draws in the order of the memory": (lambda x: identity(seeded_dropout(x)), [A]),
    "refuses a layout loudly": (rule(wants_rows, lambda ctx, g: 2 * ctx.saved_tensors[0] * g), [A]),
    "float32 inside": (rule(seventh, seventh), [A]),
    "a constant upstream cancels": (
        lambda x: identity(torch.nn.functional.batch_norm(x, None, None, training=True)), [A]),
    "f(x, x) is another function": (lambda x, y: identity(x.mul_(2).add_(y)), [A, B]),
    "an output needs no gradient if others are frozen": (lambda x, y: (identity(x), 2 * y), [A, B]),
    "a gradient of zeros": (lambda x: identity(torch.corrcoef(x)), [A[0]]),
    "16 bits come out": (lambda x: identity(x).bfloat16(), [A]),
    "complex numbers": (lambda x: identity(x) * x.conj(), [A + 1j * B]),
    "torch.func has no hooks for saved tensors": (
        lambda x: torch.func.vmap(torch.func.grad(lambda r: (r**3).sum()))(identity(x)), [A]),
    "a name that checkpoint has, too": (
        lambda x, debug: identity(x) * debug, {"x": A, "debug": B}),
    "integers beside": (lambda x, k: identity(x)[k], [A, np.array([2, 0])]),
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", QUIET)
def test_a_right_function_has_no_finding(name):
    fn, inputs = QUIET[name]
    report = of(fn, inputs)
    assert report.faults == ()
    assert not any("changes if" in note or "raises" in note for note in report.notes)
    if report:
        assert len(report.company) == 20


def test_a_custom_operator_is_not_torch_s_own():
    @torch.library.custom_op("gradcheck_ref_tests::square", mutates_args=())
    def operator(x: torch.Tensor) -> torch.Tensor:
        return x * x

    def save(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    operator.register_autograd(
        lambda ctx, g: 2 * ctx.saved_tensors[0] * memory(g), setup_context=save
    )
    assert "they change if the upstream is not contiguous" in of(operator, [A]).text(1000)


@pytest.mark.slow  # torch takes seconds to import its compiler
@pytest.mark.filterwarnings("ignore")
def test_a_compiled_function_is_not_asked_again():
    fn = torch.compile(lambda x: x * x, backend="eager")
    assert of(fn, [A]).company == ()
    assert check_module(torch.compile(torch.nn.Tanh(), backend="eager"), A).company == ()


def test_what_torch_itself_gets_wrong_is_a_note():
    report = of(torch.kron, [A, B], company="all")
    assert report
    (note,) = report.notes
    assert note.startswith("the gradient changes if an input is changed in place")


def test_functions_of_torch_alone_are_asked_at_once_only():
    def calls(fn, **knobs):
        count = []
        report = of(lambda x: (count.append(x.requires_grad), fn(x))[1], [A], **knobs)
        return report, sum(count)

    for fn, circumstances, more in ((torch.sin, 9, 4), (identity, 20, 20)):
        report, with_it = calls(fn)
        _, without = calls(fn, company=False)
        assert len(report.company) == circumstances
        assert with_it - without <= more


class Scaled(torch.nn.Module):
    def __init__(self, function, count=12):
        super().__init__()
        ones = [torch.nn.Parameter(torch.full((4,), 1.0 + k / 8)) for k in range(count)]
        self.scales, self.function = torch.nn.ParameterList(ones), function

    def forward(self, x):
        for scale in self.scales:
            x = self.function(x, scale.expand(x.shape))
        return x


def test_a_module_with_many_parameters_takes_sixteen_backwards():
    backwards = []

    def backward(ctx, g, x, y):
        backwards.append(g)
        return g * y, g * x

    module = Scaled(product(backward))
    known = []
    for company in (False, True):
        assert check_module(module, A[:1, :2].repeat(2, 1), loss=torch.sum, company=company)
        known.append(len(backwards) / len(module.scales))
    assert known[1] - 2 * known[0] <= 16


def test_a_frozen_layer_is_found_in_a_module():
    report = check_module(Scaled(GATED, 1), A)
    assert "but they change if some inputs need no gradient" in report.text(1000)
    report = check_module(Scaled(GATED, 1), A, constant="x")
    assert report.verdict == "fail"  # that is the case which the caller has


def test_parameters_beside_a_step_that_is_not_torch_s_own_come_first():
    def backward(ctx, g, x, y):
        return g * y, g * x if ctx.needs_input_grad[0] else None

    class Layered(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name in "abcdef":
                setattr(self, name, torch.nn.Parameter(torch.ones(3, 4)))

        def forward(self, x):
            return product(backward)(x * self.a * self.b, self.f) + self.c * self.d * self.e

    assert "some inputs need no gradient" in check_module(Layered(), A).text(1000)


def test_constants_do_not_require_a_gradient():
    needs = set()

    def f(x, y):
        needs.add((x.requires_grad, y.requires_grad))
        return x * y

    assert of(f, [A, B], constant=0)
    assert needs == {(False, True), (False, False)}  # vmap needs none
    assert of(GATED, [A, B], constant=1, company=False)
    assert of(GATED, [A, B], constant=0, company=False).verdict == "fail"


def test_the_layout_of_the_point_reaches_f():
    strides = set()

    def f(x):
        if x.requires_grad:
            strides.add(x.stride())
        return 2 * x

    assert of(f, [A.T], company=False)
    assert strides == {(1, 4)}
    wrong = square(lambda g, x: 2 * memory(x) * g)
    assert of(wrong, [A], company=False)
    assert of(wrong, [A.T], company=False).verdict == "fail"
