"""A whole Jacobian as the claim: dense, sparse, in blocks, or a function that returns one.

It is read once into a block for each output and input. A block is a matrix with a row for each
entry of the output. From then on a product with any upstream is a product with these matrices, so
that a large sparse Jacobian is never written out.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, described
from gradcheck_ref.check.claim.claims import Claims, why_not
from gradcheck_ref.structure.matrices import is_operator, is_sparse, of_rows, transposed_times
from gradcheck_ref.structure.parts import Part, as_array
from gradcheck_ref.structure.trees import written_out

# The blocks of a Jacobian, by the numbers of the output and of the input.
Blocks = dict[tuple[int, int], Any]


class JacobianClaims(Claims):
    """The claims of a whole Jacobian; see `Claims`.

    For a complex input, a row for a real output is its gradient, as in `check_gradient`; for a
    complex output, the entries are complex derivatives.
    """

    blocks: Blocks | None = None

    @property
    def asks(self) -> bool:
        """Whether the Jacobian is a function; an operator of SciPy can be called, but is none."""
        return callable(self.given) and not is_operator(self.given)

    def fill(self, vjps: Callable[..., Any] | None = None) -> "JacobianClaims":
        """Compute every column, with one call of the Jacobian."""
        mix, count = self.ask.mix, self.count
        self.matrix = self._products(np.eye(count) if mix is None else mix.T)
        for k in self.ask.inputs.parts.keys() - self.unusable.keys():
            self.raw[k] = [None] * count
        return self

    def product(self, vector: Array | Callable[[], Array]) -> Array:
        """Return the product of an upstream with the Jacobian, which is called at most once."""
        made = vector() if callable(vector) else vector
        return self._products(made[:, None])[:, 0]

    def nearby(self, columns: Array, seed: int) -> Array | None:
        """Return the claims for some columns at a point a few spacings of x away, or None."""
        if not self.asks:
            return None
        with np.errstate(all="ignore"):
            given = self.ask.inputs.call(self.given, self.ask.inputs.nearby(seed))
        there = JacobianClaims(self.ask, self.who, self.given)
        there.blocks = there._read(given)
        return there._products(np.stack([self.vector_for(k) for k in columns.tolist()], axis=1))

    def _products(self, vectors: Array) -> Array:
        """Return the products with some upstreams, (outputs, columns); NaN where none is known."""
        if self.blocks is None:
            given = self._call(self.given, self.who, list) if self.asks else self.given
            self.blocks = self._read(given)
        inputs, outputs = self.ask.inputs, self.ask.outputs
        found = np.zeros((inputs.size, vectors.shape[1]), inputs.dtype)
        for (j, k), block in self.blocks.items():
            output, part = outputs.parts[j], inputs.parts[k]
            upstreams = output.entries(vectors[output.stretch])
            upstreams = upstreams.reshape(block.shape[0], vectors.shape[1])
            if output.is_complex:
                product = transposed_times(block, upstreams.conj()).conj()
            else:
                product = transposed_times(block, upstreams)
            found[part.stretch] += part.coordinates(product if part.is_complex else product.real)
        for k in self.unusable:
            found[inputs.parts[k].stretch] = np.nan
        return found

    # --- reading ----------------------------------------------------------------------------------

    def _read(self, given: Any) -> Blocks:
        """Return the blocks of a Jacobian; a wrong shape or structure is recorded as a fault."""
        blocks: Blocks = {}
        outputs, inputs = self.ask.outputs, self.ask.inputs
        for j, row in self._by_output(given):
            for k, one in self._by_part(row, outputs.parts[j]):
                if one is None:  # a claim that this output does not depend on this input
                    self.none.add(k)
                    continue
                block, reason = self._block(one, outputs.parts[j], inputs.parts[k])
                if reason:
                    self.unusable.setdefault(k, reason)
                else:
                    blocks[j, k] = block
        self.none -= {k for _, k in blocks}
        return blocks

    def _by_output(self, given: Any) -> Iterator[tuple[int, Any]]:
        """Yield the number of each output, and its rows of the Jacobian, arranged by input."""
        outputs, several = self.ask.outputs, self.ask.outputs.several
        parts, forest = outputs.parts, outputs.forest
        by_form: dict[int, Any] | None = None
        if several and isinstance(given, tuple | list) and len(given) == len(forest.forms):
            by_form = dict(enumerate(given))
        elif not (several or forest.bare or is_sparse(given)):
            by_form = {0: given} if isinstance(given, tuple | list | Mapping) else None
        if by_form is not None:
            found = forest.picked(by_form)[0]
            if lacking := [part.name for j, part in parts.items() if j not in found]:
                self._refuse("structure", f"no rows for {', '.join(lacking)}")
            else:
                yield from ((j, found[j]) for j in parts)
        elif len(parts) == 1:
            yield from ((j, given) for j in parts)
        elif (matrix := _as_matrix(given)) is None:
            names = ", ".join(part.name for part in parts.values())
            self._refuse("structure", f"{described(given)}: it must give the rows for {names}")
        else:
            yield from self._split(matrix, parts, [*self.ask.inputs.parts.values()], 0)

    def _by_part(self, row: Any, output: Part) -> Iterator[tuple[int, Any]]:
        """Yield the number of each input, and its block of the rows for an output."""
        parts, is_list = self.ask.inputs.parts, isinstance(row, tuple | list)
        if is_list and len(row) == len(parts) == 1 and _as_matrix(row) is None:
            (row,), is_list = row, False
        matrix = _as_matrix(row)
        if row is None:
            yield from ((k, None) for k in parts)
        elif matrix is None or (is_list and len(parts) > 1):
            yield from self._by_input(row).items()
        elif len(parts) > 1:
            yield from self._split(matrix, parts, [output], 1)
        else:
            ((k, part),) = parts.items()
            fits = not is_list or matrix.shape in _shapes(output, part)
            yield from [(k, matrix)] if fits else self._by_input(row).items()

    def _split(
        self, matrix: Any, parts: Mapping[int, Part], others: list[Part], axis: int
    ) -> Iterator[tuple[int, Any]]:
        """Divide a matrix of all outputs, or of all inputs, along an axis."""
        sizes = [_entries(part) for part in parts.values()]
        rest = sum(map(_entries, others))
        wanted = (sum(sizes), rest) if axis == 0 else (rest, sum(sizes))
        names = ", ".join(part.name for part in parts.values())
        if matrix.shape != wanted:
            said = f"shape {matrix.shape} for {names}, and the shape of all these is {wanted}"
            said += ": outputs first, then inputs"
            self._refuse("shape", said + ". It is transposed" * (matrix.shape == wanted[::-1]))
            return
        if is_operator(matrix):
            matrix = (matrix.T @ np.eye(wanted[0])).T
        matrix = of_rows(matrix, own=False) if is_sparse(matrix) else matrix
        stops = np.cumsum(sizes).tolist()
        pieces = [slice(stop - size, stop) for stop, size in zip(stops, sizes, strict=True)]
        cut = [matrix[piece] if axis == 0 else matrix[:, piece] for piece in pieces]
        yield from zip(parts, cut, strict=True)

    def _block(self, one: Any, output: Part, part: Part) -> tuple[Any, str]:
        """Return a block as a matrix, and the reason why it does not fit, or nothing."""
        is_matrix = is_sparse(one) or is_operator(one)
        block = of_rows(one, own=self.asks) if is_matrix else as_array(one)
        shapes, title = _shapes(output, part), f"d {output.name} / d {part.name}"
        reason, said = why_not(block, title, output.is_complex or part.is_complex, *shapes)
        if reason:
            turned = block.shape in {part.shape + output.shape, shapes[-1][::-1]}
            said += ": outputs first, then inputs" * (reason == "shape")
            said += ". It is transposed" * (turned and reason == "shape")
            self.fault(reason, part.name, f"{self.who} gives {said}")
            return None, reason
        self._note_digits(np.dtype(block.dtype), part)
        if is_matrix:
            return block, ""
        dtype = np.result_type(block.dtype, np.float32)  # which bfloat16 can be multiplied in
        return np.array(block.reshape(shapes[-1]), dtype, copy=True if self.asks else None), ""

    def _refuse(self, reason: str, said: str) -> None:
        """Record a fault of the whole Jacobian."""
        self.unusable |= dict.fromkeys(self.ask.inputs.parts, reason)
        self.fault(reason, self.who, f"{self.who} gives {said}")


def _as_matrix(value: Any) -> Any:
    """Return a matrix, an array, or a list of numbers as an array; None for anything else."""
    if isinstance(value, tuple | list):
        return written_out(value)
    is_matrix = is_sparse(value) or is_operator(value) or isinstance(value, np.ndarray)
    return value if is_matrix else None


def _entries(part: Part) -> int:
    """Return how many entries an array has; a complex one is one entry."""
    return math.prod(part.shape)


def _shapes(output: Part, part: Part) -> list[tuple[int, ...]]:
    """Return the shapes that a block may have; the last one is that of a matrix."""
    return [output.shape + part.shape, (_entries(output), _entries(part))]
