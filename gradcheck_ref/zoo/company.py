"""Backward passes that are right alone, and wrong in company: a kind of mistake of its own.

Each was reported for a library. Here it is reduced to NumPy: the facts come from the tracker, but
the code does not. Asked with fresh arrays that are stored row by row, the vjp gives the right
numbers, so a check by numbers passes it. It is wrong if an array lies otherwise in memory, if
another call comes in between, or if somebody reads an array that it has written to.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .case import Array, Bug, Case


@dataclass(frozen=True)
class InCompany:
    """A vjp that is right alone.

    Attributes
    ----------
    id : str
        Unique and stable: ``"<library>/<function>"``.
    report : str
        The public report: the project, as GitHub spells it, and the number.
    circumstance : str
        What changes the gradient: ``columns``, ``slice`` or ``constant`` upstream, ``columns`` or
        ``slice`` input, ``another point``, ``gradient kept``, ``same array`` or ``written``.
    f, right : callable
        The function, and its right ``vjp(upstream, *inputs)``.
    wrong : callable
        Makes the wrong vjp, without state.
    inputs : tuple of ndarray
        The point.
    why : str
        How people come to write it.
    """

    id: str
    report: str
    circumstance: str
    f: Callable[..., Any]
    right: Callable[..., Any]
    wrong: Callable[[], Callable[..., Any]]
    inputs: tuple[Array, ...]
    why: str

    def case(self) -> Case:
        """Return the function with its one bug, in the form of the rest of the zoo."""
        bug = Bug(self.id, "company", self.wrong(), self.why, "unknown")
        return Case(self.id, self.f, self.inputs, self.right, frozenset({"company"}), (bug,))


_rng = np.random.default_rng(5)
MATRIX, OTHER = _rng.normal(size=(2, 4, 6))
IMAGE = _rng.normal(size=(2, 4, 4))
VECTOR, SECOND = _rng.normal(size=(2, 5))
LABELS = np.array([2, 0, 5, 1])
WORDS = np.array([3, 1, 1, 0])


# --- how code reads an array that it takes for dense ----------------------------------------------


def in_memory(a: Array) -> Array:
    """Read the numbers in the order of the memory."""
    return a.ravel(order="K").reshape(a.shape)


def from_pointer(a: Array) -> Array:
    """Read as many numbers as there are from the first address on."""
    base = a if a.base is None else a.base
    start = (a.ctypes.data - base.ctypes.data) // a.itemsize if base.flags.forc else 0
    flat = base.ravel(order="K")
    return np.resize(flat[start : start + a.size], a.shape)


def one_per_row(u: Array) -> Array:
    """Read one number for each row, with a step of 1 if there is more than one number."""
    if u.size > 1 and 0 in u.strides:  # beyond the only number is other memory
        return np.concatenate([u.ravel()[:1], np.full(u.size - 1, 7.0)]).reshape(u.shape)
    return u


# --- functions and their right gradients ----------------------------------------------------------


def softmax(z: Array) -> Array:
    """Softmax of rows."""
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def softmax_vjp(u: Array, z: Array) -> Array:
    """Multiply by the Jacobian of each row."""
    s = softmax(z)
    return np.asarray(s * (u - (u * s).sum(axis=-1, keepdims=True)))


def cross_entropies(z: Array) -> Array:
    """Return the loss of each row."""
    return np.asarray(-np.log(softmax(z)[np.arange(len(LABELS)), LABELS]))


def cross_entropies_vjp(u: Array, z: Array) -> Array:
    """Softmax minus one at the label, times the upstream of the row."""
    p = softmax(z)
    p[np.arange(len(LABELS)), LABELS] -= 1
    return u[:, None] * p


def pooled(x: Array) -> Array:
    """Return the maximum of each 2 x 2 window."""
    return np.asarray(x.reshape(2, 2, 2, 2, 2).max(axis=(2, 4)))


def pooled_vjp(u: Array, x: Array) -> Array:
    """Send the upstream to the maximum of each window."""
    wide = np.repeat(np.repeat(pooled(x), 2, 1), 2, 2)
    return np.where(x == wide, np.repeat(np.repeat(u, 2, 1), 2, 2), 0.0)


def lookup(table: Array) -> Array:
    """Return the rows of some words."""
    return np.asarray(table[WORDS])


def lookup_vjp(u: Array, table: Array) -> Array:
    """Add the upstreams of each word."""
    gradient = np.zeros_like(table, order="C")
    np.add.at(gradient, WORDS, u)
    return gradient


def silu(x: Array) -> Array:
    """Return x times its sigmoid."""
    return np.asarray(x / (1 + np.exp(-x)))


def silu_vjp(u: Array, x: Array) -> Array:
    """Differentiate the product."""
    s = 1 / (1 + np.exp(-x))
    return np.asarray(u * s * (1 + x * (1 - s)))


def similarity(x: Array) -> Array:
    """Compare each row with the one below, as a window of an image."""
    return np.asarray(np.tanh(x[1:] * x[:-1]))


def similarity_vjp(u: Array, x: Array) -> Array:
    """Each row is in two products."""
    inner = u / np.cosh(x[1:] * x[:-1]) ** 2
    gradient = np.zeros(x.shape)
    gradient[1:] += inner * x[:-1]
    gradient[:-1] += inner * x[1:]
    return gradient


def density(x: Array) -> Array:
    """Logarithm of a normal density, without its constant."""
    return np.asarray(-(x**2) / 2)


def product(x: Array, y: Array) -> Array:
    """Multiply entry by entry."""
    return x * y


def product_vjp(u: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """Each factor is the slope of the other."""
    return u * y, u * x


# --- mistakes with a state, or that write ---------------------------------------------------------


def keeps_the_last_point() -> Callable[..., Any]:
    """Compute the slope at the end of a call, for the next one."""
    slope: list[Array] = []

    def vjp(u: Array, x: Array) -> Any:
        slope.append(2 * x)
        return u * slope[max(0, len(slope) - 2)]

    return vjp


def shares_its_buffer() -> Callable[..., Any]:
    """Return the same array at each call."""
    buffer = np.zeros(MATRIX.shape)

    def vjp(u: Array, x: Array) -> Array:
        buffer[:] = silu_vjp(u, x)
        return buffer

    return vjp


def adds_into_its_buffer() -> Callable[..., Any]:
    """Zero the array at the next call, and not when it is given away."""
    buffer = np.zeros(VECTOR.shape)

    def vjp(u: Array, x: Array) -> Array:
        buffer[:] = 0
        buffer[:] += 2 * x * u
        return buffer

    return vjp


def scales_its_upstream() -> Callable[..., Any]:
    """Save memory by writing to the upstream."""

    def vjp(u: Array, x: Array) -> Array:
        u *= 2 * x
        return u

    return vjp


def writes_to_its_input() -> Callable[..., Any]:
    """Save memory by returning the logits."""

    def vjp(u: Array, z: Array) -> Array:
        z[...] = cross_entropies_vjp(u, z)
        return z

    return vjp


def writes_to_its_gate() -> Callable[..., Any]:
    """Store both gradients where the inputs were."""

    def vjp(u: Array, x: Array, y: Array) -> tuple[Array, Array]:
        gradient = u * x
        x[...], y[...] = u * y, gradient
        return x, y

    return vjp


def by_identity(u: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """Add up gradients in a table by the identity of the input."""
    table: dict[int, Array] = {}
    for one, gradient in ((x, u * y), (y, u * x)):
        table[id(one)] = gradient
    return table[id(x)], np.zeros_like(y) if x is y else table[id(y)]


def mixed_orders(u: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """Multiply buffers if both inputs are dense, whatever their orders are."""
    if x.flags.forc and y.flags.forc:
        return in_memory(y) * u, in_memory(x) * u
    return product_vjp(u, x, y)


def in_x_strides(u: Array, x: Array) -> Array:
    """Read the upstream with the strides of x."""
    return silu_vjp(from_pointer(u) if u.strides != x.strides else u, x)


def fills_a_buffer_like_x(u: Array, x: Array) -> Array:
    """Fill a buffer that has the layout of x as if it were dense."""
    gradient = np.zeros_like(x)
    gradient.ravel(order="K")[:] = similarity_vjp(u, x).ravel()
    return gradient


COMPANY: tuple[InCompany, ...] = (
    InCompany("flash-attention/out", "Dao-AILab/flash-attention#355", "columns upstream",
        softmax, softmax_vjp, lambda: lambda u, z: softmax_vjp(in_memory(u), z), (MATRIX,),
        "The kernel takes dout for contiguous, and heads are transposed behind it."),
    InCompany("lua-torch/mean", "torch/nn#345", "columns upstream",
        lambda x: x.mean(axis=2), lambda u, x: np.repeat(u[:, :, None] / 4, 4, 2),
        lambda: lambda u, x: np.repeat(in_memory(u)[:, :, None] / 4, 4, 2), (IMAGE,),
        "Two means in a row: the gradient of one is expanded, and the other reads it as dense."),
    InCompany("mmcv/roi-align", "open-mmlab/mmcv#737", "columns upstream",
        pooled, pooled_vjp, lambda: lambda u, x: pooled_vjp(in_memory(u), x), (IMAGE,),
        "A head that transposes its features passes such an upstream."),
    InCompany("lua-torch/max-pooling", "torch/cunn#68", "columns upstream",
        pooled, pooled_vjp, lambda: lambda u, x: pooled_vjp(from_pointer(u), x), (IMAGE,),
        "The kernel counts the windows in memory."),
    InCompany("triton/after-cat", "pytorch/pytorch#194719", "slice upstream",
        silu, silu_vjp, lambda: in_x_strides, (MATRIX,),
        "The upstream is read with the strides of x, and behind cat it has others."),
    InCompany("fbgemm/embedding", "pytorch/FBGEMM#1553", "columns upstream",
        lookup, lookup_vjp, lambda: lambda u, t: lookup_vjp(in_memory(u), t), (MATRIX,),
        "The kernel expects a contiguous gradient, and nobody makes it so."),
    InCompany("fbgemm/pack-segments", "pytorch/FBGEMM#3006", "columns upstream",
        lambda x: np.concatenate([x[:2], x[2:]], axis=1),
        lambda u, x: np.concatenate([u[:, :6], u[:, 6:]]),
        lambda: lambda u, x: np.concatenate([in_memory(u)[:, :6], in_memory(u)[:, 6:]]), (MATRIX,),
        "Packing only moves numbers, so it moves bytes."),
    InCompany("transformer-engine/cross-entropy", "ROCm/TransformerEngine#623", "constant upstream",
        cross_entropies, cross_entropies_vjp,
        lambda: lambda u, z: cross_entropies_vjp(one_per_row(u), z), (MATRIX,),
        "loss.sum() passes one number with stride 0, and the kernel steps by 1."),
    InCompany("torch/dlpack", "pytorch/pytorch#70992", "constant upstream",
        silu, silu_vjp, lambda: lambda u, x: silu_vjp(one_per_row(u), x), (MATRIX,),
        "The upstream goes to another library, which does not know strides of 0."),
    InCompany("k2/ragged-sum", "k2-fsa/k2#1101", "constant upstream",
        lambda x: x[:, :3].sum(axis=1), lambda u, x: np.outer(u, np.arange(6) < 3),
        lambda: lambda u, x: np.outer(one_per_row(u), np.arange(6) < 3), (MATRIX,),
        "A sum behind a sum passes a stride of 0."),
    InCompany("fused-ssim/image", "MrNeRF/optimized-fused-ssim#1", "columns input",
        similarity, similarity_vjp, lambda: lambda u, x: similarity_vjp(u, in_memory(x)), (MATRIX,),
        "A permuted image is a view, and the kernel reads it as dense."),
    InCompany("fused-ssim/buffers", "rahul-goel/fused-ssim#44", "columns input",
        similarity, similarity_vjp, lambda: fills_a_buffer_like_x, (MATRIX,),
        "zeros_like keeps the strides of the image, and the kernel fills a dense array."),
    InCompany("pymc/normal", "pymc-devs/pymc#8", "columns input",
        density, lambda u, x: -u * x, lambda: lambda u, x: -u * in_memory(x), (MATRIX,),
        "A Fortran routine and C disagree about which index runs first."),
    InCompany("numexpr/transposed", "pydata/numexpr#18", "columns input",
        np.exp, lambda u, x: np.exp(x) * u, lambda: lambda u, x: np.exp(from_pointer(x)) * u,
        (MATRIX,), "A transposed view has the buffer of the original."),
    InCompany("scikit-cuda/multiply", "lebedov/scikit-cuda#213", "columns input",
        product, product_vjp, lambda: mixed_orders, (MATRIX, OTHER),
        "Both arrays are dense, but not in the same order."),
    InCompany("pyadolc/gradient", "b45ch1/pyadolc#7", "slice input",
        lambda x: x**3, lambda u, x: 3 * x**2 * u,
        lambda: lambda u, x: 3 * from_pointer(x) ** 2 * u, (VECTOR,),
        "x is taken for contiguous, and a slice is not."),
    InCompany("pyop2/dat", "OP2/PyOP2#224", "columns input",
        np.sin, lambda u, x: np.cos(x) * u, lambda: lambda u, x: np.cos(in_memory(x)) * u,
        (MATRIX,), "An array in Fortran order is taken over as it lies."),
    InCompany("tensorflow/recompute-grad", "tensorflow/tensorflow#36999", "same array",
        product, product_vjp, lambda: by_identity, (VECTOR, SECOND),
        "Gradients are collected by the identity of the inputs."),
    InCompany("resnet/share-grad-input", "facebookarchive/fb.resnet.torch#11", "gradient kept",
        silu, silu_vjp, shares_its_buffer, (MATRIX,),
        "Layers share a buffer for their gradients to save memory."),
    InCompany("torch/accumulated", "pytorch/pytorch#119334", "gradient kept",
        lambda x: x**2, lambda u, x: 2 * x * u, adds_into_its_buffer, (VECTOR,),
        "Whoever accumulates may keep the array that was given."),
    InCompany("torch/self", "pytorch/pytorch#16947", "another point",
        lambda x: x**2, lambda u, x: 2 * x * u, keeps_the_last_point, (VECTOR,),
        "What backward needs is kept in the object, and not with the call."),
    InCompany("torch/in-place-upstream", "pytorch/pytorch#81417", "written",
        lambda x: x**2, lambda u, x: 2 * x * u, scales_its_upstream, (MATRIX,),
        "The upstream looks like an array of one's own, but another branch reads it."),
    InCompany("liger/swiglu", "linkedin/Liger-Kernel#254", "written",
        product, product_vjp, writes_to_its_gate, (MATRIX, OTHER),
        "Gradients are stored in the inputs, which another step has saved."),
    InCompany("liger/cross-entropy", "linkedin/Liger-Kernel#272", "written",
        cross_entropies, cross_entropies_vjp, writes_to_its_input, (MATRIX,),
        "The gradient takes the place of the logits, which softmax has saved."),
)  # fmt: skip


def company_cases() -> Iterator[Case]:
    """Yield each of them, in the form of the rest of the zoo.

    Examples
    --------
    >>> case = next(company_cases())
    >>> print(case.name, "-", case.bugs[0].why)
    flash-attention/out - The kernel takes dout for contiguous, and heads are transposed behind it.
    """
    for one in COMPANY:
        yield one.case()
