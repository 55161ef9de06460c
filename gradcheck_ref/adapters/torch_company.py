"""The circumstances in which a backward of torch is asked again; see `check.claim.company`."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from gradcheck_ref.adapters.calls import Arguments, Returned
from gradcheck_ref.adapters.torch_place import array_of
from gradcheck_ref.adapters.torch_trees import plain
from gradcheck_ref.check.claim.company import (
    NEARBY,
    OTHERWISE,
    Circumstance,
    Company,
    DoesNotApplyError,
    agree,
    alike,
    in_company,
    several,
    size_of,
    tolerance,
)
from gradcheck_ref.check.knobs import RTOL

# A module may have hundreds of parameters, and a function many inputs or outputs: so many groups of
# them are asked for alone. For a module all takes 16 backwards: 5 at once and 6 for the others.
GROUPS, GROUPS_OF_MODULE = 12, 5

Both = tuple[list[Any], list[Any]]


class Tensors:
    """A function of tensors at a point, with its gradient in the plain circumstance.

    Parameters
    ----------
    f : TorchFunction
        The function; ``f.learned``, if it has that, names the parameters of a module.
    arguments : Arguments
        The point.
    change : float
        How much the gradient may change from call to call.
    """

    def __init__(self, f: Any, arguments: Arguments, change: float) -> None:
        self.f, self.arguments, self.torch = f, arguments, f._torch
        self.every = [k for k in arguments.differentiated if k not in f.constant_leaves]
        learned = set(getattr(f, "learned", ()))
        self.parameters = [k for k in self.every if arguments.names[k] in learned]
        self.inputs = [k for k in self.every if k not in self.parameters]
        self.layouts = 2  # so many pairs of LAYOUTS are tried at once
        self.places: list[int] | None = None  # of the outputs that require a gradient
        self.torch.default_generator.manual_seed(0)
        before = self.random_state()
        outputs, leaves, _ = self.forward()
        self.draws = not all(map(self.torch.equal, before, self.random_state()))
        self.draws |= getattr(f, "draws", False)
        dtypes = [one.dtype for one in (*leaves.values(), *outputs)]
        eps = max(self.torch.finfo(dtype).eps for dtype in dtypes)
        self.tolerance = tolerance(eps, change)
        self.upstreams = [self._normal(one) for one in outputs]
        first = self.pull(outputs, leaves, retain_graph=True)
        self.base = numbers(first)
        self.scale = max(size_of(self.base), RTOL * size_of(numbers(outputs)))
        self.plain: Any = outputs, leaves, first
        self.written, self.leaves = f._written(outputs), leaves

    def random_state(self) -> list[Any]:
        """Return the states of the generators of random numbers."""
        torch, device = self.torch, self.f._place.device
        card = getattr(torch, device.type, None) if device.type != "cpu" else None
        return [torch.get_rng_state()] + ([card.get_rng_state(device)] if card else [])

    def _normal(self, like: Any) -> Any:
        generator = self.torch.Generator().manual_seed(0)
        double = self.torch.complex128 if like.is_complex() else self.torch.float64
        made = self.torch.randn(like.shape, generator=generator, dtype=double)
        return made.to(like.device, like.dtype)

    def forward(
        self,
        lay: Callable[[Any], Any] | None = None,
        moving: Iterable[int] | None = None,
        at: Callable[[Any], Any] | None = None,
        wrap: Callable[..., Any] | None = None,
        same: Sequence[int] = (),
        one: bool = False,
    ) -> tuple[list[Any], dict[int, Any], dict[int, Any]]:
        """Call fn; return its outputs, the leaves, and the tensors that it got.

        Parameters
        ----------
        lay : callable, optional
            Lays out an input in memory.
        moving : iterable of int, optional
            The inputs that require a gradient; by default all.
        at : callable, optional
            Moves an input to another point.
        wrap : callable, optional
            Calls fn, as ``torch.utils.checkpoint`` does.
        same : sequence of int
            Inputs that are equal.
        one : bool
            Whether they are one tensor.
        """
        moving = self.every if moving is None else moving
        leaves: dict[int, Any] = {}
        given: dict[int, Any] = {}
        for k in self.arguments.differentiated:
            leaf = self.f._tensor(self.arguments, same[0] if k in same else k)
            leaf = at(leaf) if at and k in self.every else leaf
            if k in moving:
                leaf = leaves[k] = leaf.detach().requires_grad_()
            given[k] = lay(leaf) if lay and k in self.inputs else leaf.clone()
        if one:
            given |= dict.fromkeys(same, given[same[0]])
        fn = self.f._fn if wrap is None else wrap(self.f._fn)
        self.torch.default_generator.manual_seed(0)
        try:
            output = plain(self.arguments.call(fn, self.f._place.tensor, given.values()))
        except Exception as error:
            of_torch = "yet support saved tensor hooks" in str(error)  # in torch.func
            if lay is None and at is None and not same and not of_torch:
                raise
            raise DoesNotApplyError from error  # so nobody gets a wrong gradient
        every = Returned(output, self.torch.Tensor, "tensor", self.f.open_tree).leaves
        if self.places is None:
            self.places = [j for j, y in enumerate(every) if y.requires_grad]
        return [every[j] for j in self.places], leaves, given

    def pull(
        self, outputs: list[Any], leaves: dict[int, Any], upstreams: Any = None, **how: bool
    ) -> list[Any]:
        """Return the gradients for upstreams, by default for copies of our own."""
        given = [one.clone() for one in self.upstreams] if upstreams is None else upstreams
        return self.f._pull_back(outputs, given, list(leaves.values()), **how)  # type: ignore[no-any-return]

    def gradient(self, upstreams: Any = None, **how: Any) -> list[Any]:
        """Return the gradients as arrays, after a forward of their own."""
        outputs, leaves, _ = self.forward(**how)
        return numbers(self.pull(outputs, leaves, upstreams))

    def nearest_first(self) -> list[int]:
        """Return the inputs and parameters, first those that feed a step that is not torch's."""
        if not self.parameters:
            return self.every
        nodes = dict.fromkeys(self.written)
        waiting = list(nodes)
        for node in waiting:  # it grows: the steps behind, in the order of their distance
            new = [one for one, _ in node.next_functions if one is not None and one not in nodes]
            nodes |= dict.fromkeys(new)
            waiting += dict.fromkeys(new)
        ends = [id(getattr(node, "variable", None)) for node in waiting]
        place = {k: ends.index(id(leaf)) for k, leaf in self.leaves.items() if id(leaf) in ends}
        return sorted(self.every, key=lambda k: place.get(k, len(ends)))

    def elsewhere(self) -> None:
        """Call fn at another point, or at one nearby; it may take neither.

        The order of the numbers is reversed, and so that of signs and of the largest: each stays
        where f is defined.
        """
        for at in (lambda x: x.flip(tuple(range(x.dim()))) * NEARBY, lambda x: x * NEARBY):
            with suppress(DoesNotApplyError):
                self.forward(at=at)
                return

    def with_upstream(self, *layouts: Callable[[Any], Any]) -> Both:
        """Ask with an upstream that is laid out in memory."""
        return several(
            self,
            lambda lay: (self.base, self.gradient([lay(one) for one in self.upstreams])),
            layouts,
        )

    def with_inputs(self, *layouts: Callable[[Any], Any]) -> Both:
        """Ask with inputs that are laid out in memory.

        If fn draws random numbers in the order of the memory, it is another function then.
        """
        if self.draws or not self.inputs:
            raise DoesNotApplyError
        return several(self, lambda lay: (self.base, self.gradient(lay=lay)), layouts)


def numbers(tensors: Iterable[Any]) -> list[Any]:
    """Return tensors as arrays of our own; None stays None."""
    return [None if one is None else array_of(one.detach().to_dense()) for one in tensors]


def cells(t: Any) -> Any:
    """Store numbers in every second cell of a larger tensor, with the axes in reverse."""
    own = t.detach()
    wide = own.new_full([2 * n for n in reversed(own.shape)], 7)
    view = wide[tuple(slice(None, None, 2) for _ in own.shape)]
    return view.permute(tuple(reversed(range(own.dim())))).zero_().add_(t)


def rows_apart(t: Any) -> Any:
    """Store rows with a gap between them, as a slice of columns has, or a part of a cat."""
    own = t.detach()
    if own.dim() < 2:
        return cells(t)
    wide = own.new_full([*own.shape[:-1], own.shape[-1] + 3], 7)
    return wide[..., :-3].zero_().add_(t)


def transposed(t: Any) -> Any:
    """Store numbers side by side, with the axes in reverse."""
    axes = tuple(reversed(range(t.dim())))
    return t.detach().new_full([t.shape[k] for k in axes], 7).permute(axes).zero_().add_(t)


def behind(t: Any) -> Any:
    """Store numbers behind four others, as a slice of a batch is."""
    own = t.detach()
    return own.new_full((own.numel() + 4,), 7)[4:].view(own.shape).zero_().add_(t)


def channels_last(t: Any) -> Any:
    """Store the channels of images side by side."""
    import torch

    if t.dim() not in (4, 5):
        return t.clone()
    last = torch.channels_last if t.dim() == 4 else torch.channels_last_3d
    return t.clone(memory_format=last)


# --- the upstream ---------------------------------------------------------------------------------


def _upstream_expanded(s: Tensors) -> Both:
    """Expand one number as the upstream; the reference gets the same numbers in full."""
    one = [like.new_full((), 0.7).expand(like.shape) for like in s.upstreams]
    return s.gradient([u.contiguous().clone() for u in one]), s.gradient(one)


def _upstream_channels_last(s: Tensors) -> Both:
    """Store the upstream as channels_last, and not the inputs."""
    if not any(one.dim() in (4, 5) for one in s.upstreams):
        raise DoesNotApplyError
    return s.with_upstream(channels_last)


def _upstream_kept(s: Tensors) -> Both:
    """Compare the upstream after the backward."""
    given = [one.clone() for one in s.upstreams]
    s.gradient(given)
    return numbers(s.upstreams), numbers(given)


# --- the inputs -----------------------------------------------------------------------------------


def _one_input(s: Tensors) -> Both:
    """Let only the inputs, only the parameters, and only each of them require a gradient."""
    if len(s.every) < 2:
        raise DoesNotApplyError
    groups = [s.inputs, s.parameters] if s.inputs and s.parameters else []
    groups += [[k] for k in s.nearest_first() if [k] not in groups]
    wanted, got = [], []
    for group in groups[: GROUPS_OF_MODULE if s.parameters else GROUPS]:
        wanted += [s.base[s.every.index(k)] for k in group]
        got += s.gradient(moving=group)
    return wanted, got


def _inputs_channels_last(s: Tensors) -> Both:
    """Store each input of four or five dimensions as channels_last."""
    if not any(s.arguments.values[k].ndim in (4, 5) for k in s.inputs):
        raise DoesNotApplyError
    return s.with_inputs(channels_last)


def _forward_keeps(s: Tensors) -> Both:
    """Compare the inputs after the forward, unless torch has counted a write to them."""
    _, _, given = s.forward()
    kept = [k for k, one in given.items() if one._version == 0]
    before = [s.f._tensor(s.arguments, k) for k in kept]
    return numbers(before), numbers(given[k] for k in kept)


def _same_twice(s: Tensors) -> Both:
    """Give one tensor for several inputs; the reference gets equal ones."""

    def ask(same: tuple[int, ...]) -> Both:
        outputs, leaves, _ = s.forward(same=same)
        wanted, values_apart = numbers(s.pull(outputs, leaves)), numbers(outputs)
        outputs, leaves, given = s.forward(same=same, one=True)
        same_values = agree(values_apart, numbers(outputs), s.tolerance, 0.0)
        if not same_values or any(one._version for one in given.values()):
            raise DoesNotApplyError  # fn writes to an input, so f(x, x) is another function
        at = [s.every.index(k) for k in same]
        parts = [wanted[k] for k in at if wanted[k] is not None]
        for k in at:
            wanted[k] = None
        wanted[at[0]] = sum(parts) if parts else None
        return wanted, numbers(s.pull(outputs, leaves))

    values = s.arguments.values
    return several(s, ask, alike({k: (values[k].shape, values[k].dtype) for k in s.inputs}))


# --- the order of calls ---------------------------------------------------------------------------


def _saved_kept(s: Tensors) -> Both:
    """Compare inputs and outputs after the backward."""
    outputs, leaves, given = s.forward()
    before = numbers([*given.values(), *outputs])
    s.pull(outputs, leaves)
    return before, numbers([*given.values(), *outputs])


def _twice(s: Tensors) -> Both:
    """Run the backward twice through one graph."""
    outputs, leaves, _ = s.forward()
    first = numbers(s.pull(outputs, leaves, retain_graph=True))
    return first, numbers(s.pull(outputs, leaves, retain_graph=True))


def _two_forwards(s: Tensors) -> Both:
    """Run a forward at another point before the backward."""
    outputs, leaves, _ = s.forward()
    s.elsewhere()
    return s.base, numbers(s.pull(outputs, leaves))


def _gradient_kept(s: Tensors) -> Both:
    """Run another backward before the gradient is read."""
    outputs, leaves, _ = s.forward()
    first = s.pull(outputs, leaves)
    s.gradient([OTHERWISE * one for one in s.upstreams])
    return s.base, numbers(first)


def _one_output(s: Tensors) -> Both:
    """Use each output alone; torch passes zeros or None for the others."""
    if not 2 <= len(s.upstreams) <= GROUPS:
        raise DoesNotApplyError
    total: list[Any] = [None] * len(s.every)
    for j in range(len(s.upstreams)):
        alone = [one.clone() if i == j else None for i, one in enumerate(s.upstreams)]
        for k, gradient in enumerate(s.gradient(alone)):
            if gradient is not None:
                total[k] = gradient if total[k] is None else total[k] + gradient
    return s.base, total


def _checkpointed(s: Tensors) -> Both:
    """Run the forward again in the backward, under torch.utils.checkpoint."""
    from torch.utils.checkpoint import checkpoint

    def wrap(fn: Any) -> Any:
        # Subtle: checkpoint has names of its own, such as debug.
        return lambda *args, **named: checkpoint(
            lambda *same: fn(*same, **named), *args, use_reentrant=False
        )

    return s.base, s.gradient(wrap=wrap)


def _saved_copied(s: Tensors) -> Both:
    """Copy what is saved for the backward at that time."""
    with s.torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        outputs, leaves, _ = s.forward()
    return s.base, numbers(s.pull(outputs, leaves))


def _changed(
    s: Tensors, groups: Sequence[Any], which: Callable[[Any, Any, Any], Sequence[Any]]
) -> Both:
    """Change some tensors after the forward: torch refuses, or the gradient stays the same.

    One group at a time, since an error for one tensor hides another that torch does not watch.
    """

    def ask(group: Any) -> Both:
        outputs, leaves, given = s.forward()
        try:
            with s.torch.no_grad():
                for one in which(group, given, outputs):
                    one.detach().mul_(1.5)
            return s.base, numbers(s.pull(outputs, leaves))
        except RuntimeError:
            raise DoesNotApplyError from None  # torch refuses, as it should

    return several(s, ask, groups[:GROUPS])


def _input_changed(s: Tensors) -> Both:
    """Change an input in place after the forward, or all parameters."""
    groups = [s.inputs, s.parameters] if s.parameters else [[k] for k in s.inputs]
    return _changed(s, groups, lambda group, given, _: [given[k] for k in group])


def _output_changed(s: Tensors) -> Both:
    """Change an output in place after the forward."""
    return _changed(s, range(len(s.upstreams)), lambda j, _, outputs: [outputs[j]])


def _at_once(s: Tensors) -> Both:
    """Try nine circumstances, with one more forward and backward for each pair of layouts."""
    # The graph of the base once more, after another forward, and for another upstream.
    outputs, leaves, first = s.plain
    s.plain = None
    s.elsewhere()
    other = [behind(OTHERWISE * one) for one in s.upstreams]
    wanted = [None if one is None else OTHERWISE * one for one in s.base] + s.base
    got = numbers(s.pull(outputs, leaves, other)) + numbers(first)
    for of_input, of_upstream in LAYOUTS[: s.layouts]:
        try:
            outputs, leaves, given = s.forward(lay=None if s.draws else of_input)
        except DoesNotApplyError:
            outputs, leaves, given = s.forward()
        kept = numbers([*given.values(), *outputs])
        upstreams = [of_upstream(one) for one in s.upstreams]
        got += numbers(s.pull(outputs, leaves, upstreams))
        wanted += s.base + kept + numbers(s.upstreams)
        got += numbers([*given.values(), *outputs, *upstreams])
    return wanted, got


# A strided upstream hides an offset, torch copies the gradient of a strided input, and some code
# takes another way for inputs that are contiguous. So these are tried together, first the likely.
LAYOUTS = (behind, cells), (cells, rows_apart), (rows_apart, transposed), (transposed, cells)
STRIDED = cells, rows_apart, transposed

CONTIGUOUS = "read it with its strides, or call .contiguous()"
CIRCUMSTANCES = (
    Circumstance("upstream strided", lambda s: s.with_upstream(*STRIDED),
                 "the upstream is not contiguous, as after .t(), a slice or cat", CONTIGUOUS,
                 at_once=True),
    Circumstance("upstream expanded", _upstream_expanded,
                 "the upstream is one number for all outputs (stride 0), as after .sum()",
                 "call .contiguous() before a kernel reads it"),
    Circumstance("upstream offset", lambda s: s.with_upstream(behind),
                 "the upstream starts behind the beginning of its storage, as a slice of a batch",
                 "use data_ptr(), not the storage", at_once=True),
    Circumstance("upstream channels last", _upstream_channels_last,
                 "the upstream is channels_last, and the input is not", CONTIGUOUS),
    Circumstance("upstream kept", _upstream_kept,
                 "another branch reads the upstream later, as in a residual block",
                 "backward writes to it; work on a copy", at_once=True),
    Circumstance("one input needs a gradient", _one_input,
                 "some inputs need no gradient, as frozen weights, in LoRA or in a first layer",
                 "look at the right ctx.needs_input_grad"),
    Circumstance("inputs strided", lambda s: s.with_inputs(*STRIDED),
                 "an input is not contiguous, as after .t() or a slice",
                 "read it and return its gradient with strides, or call .contiguous()",
                 at_once=True),
    Circumstance("inputs offset", lambda s: s.with_inputs(behind),
                 "an input starts behind the beginning of its storage, as a slice of a batch",
                 "use data_ptr(), not the storage", at_once=True),
    Circumstance("inputs channels last", _inputs_channels_last,
                 "an input is channels_last, and the upstream is not", CONTIGUOUS),
    Circumstance("forward keeps its inputs", _forward_keeps,
                 "an input is used after the call",
                 "forward writes to it, and torch does not know; call ctx.mark_dirty, or work on "
                 "a copy"),
    Circumstance("backward keeps what was saved", _saved_kept,
                 "another step has saved an input or an output, too",
                 "backward writes to it; work on a copy", at_once=True),
    Circumstance("backward twice", _twice,
                 "backward runs twice through one graph, as with retain_graph",
                 "do not consume or change what forward has saved", at_once=True),
    Circumstance("two forwards", _two_forwards,
                 "forward runs again before the backward, as in a layer that is used twice",
                 "keep what backward needs in ctx, not in the module or in a global", at_once=True),
    Circumstance("gradient kept", _gradient_kept,
                 "another backward runs before the gradient is read",
                 "return a new tensor each time, not the same buffer", at_once=True),
    Circumstance("one output used", _one_output,
                 "the loss uses one output only",
                 "the upstream of an output that is not used is None, or zeros"),
    Circumstance("same tensor twice", _same_twice,
                 "one tensor is given for two inputs, as in f(x, x)",
                 "do not tell inputs apart by their memory or identity"),
    Circumstance("saved tensors copied", _saved_copied,
                 "saved tensors are copied when they are saved, as by save_on_cpu",
                 "save a tensor after it is filled"),
    Circumstance("checkpointed", _checkpointed,
                 "forward runs under torch.utils.checkpoint",
                 "pass what backward needs to ctx.save_for_backward, and let forward be the same "
                 "at the second call"),
    Circumstance("input changed afterwards", _input_changed,
                 "an input is changed in place before the backward, as by an optimizer",
                 "torch raises only for ctx.save_for_backward(x), not for ctx.x = x"),
    Circumstance("output changed afterwards", _output_changed,
                 "an output is changed in place before the backward, as by relu_",
                 "torch raises only for ctx.save_for_backward(y), not for ctx.y = y"),
)  # fmt: skip
TOGETHER = Circumstance("at once", _at_once, "", "")


def company_of_torch(f: Any, arguments: Arguments, everything: bool, change: float) -> Company:
    """Try the circumstances of a function of tensors.

    All of them if a step of its backward is not torch's own. Otherwise only those that are tried
    at once, in four forwards and four backwards, and nothing is a fault. None if it is compiled:
    with other strides that takes seconds once more.
    """
    if any(hasattr(one, "_torchdynamo_orig_callable") for one in (f._fn, f._module)):
        return Company()
    with f._torch.random.fork_rng(devices=[]):
        subject = Tensors(f, arguments, change)
        if not subject.places:
            return Company()
        every = bool(subject.written) or everything
        if every:
            subject.layouts = 3 if subject.parameters else 4
        tried = [one for one in CIRCUMSTANCES if every or one.at_once]
        return in_company(subject, tried, TOGETHER, fails=bool(subject.written))
