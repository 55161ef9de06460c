"""The claim to be checked: gradients, a vjp or a jvp, as one flat matrix."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array, described, kind_of, limits_of
from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.call.crew import NUMBERS_AT_ONCE, is_outside, one_for_each
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.results import Fault
from gradcheck_ref.check.words import words
from gradcheck_ref.structure.gradients import by_argument
from gradcheck_ref.structure.inputs import same_bytes
from gradcheck_ref.structure.parts import Part, as_array
from gradcheck_ref.structure.trees import Opener, leaves_of

# A gradient may change from call to call by this many times the share that f changes by: random
# numbers, or a state, of f are in its gradient, too.
LIKE_F = 10.0


class Product(NamedTuple):
    """A function, or an array, that somebody gives as the derivative of f.

    Attributes
    ----------
    who, given : str and any
        The name of the claim, which is "vjp", "jvp", "jacobian" or the argument of gradients, or
        "f" if f returns (value, gradient); and the claim.
    vjps : callable, optional
        Computes the vjp for several upstream gradients at once.
    other : callable, optional
        The other product, for the adjoint identity.
    sure : bool
        Whether the caller gave ``other``. If False, it is an attribute of f, and may raise
        NotImplementedError.
    company : callable or tuple of str, optional
        Asks for a vjp again in circumstances that only f knows, as an adapter does; or the names of
        those circumstances of NumPy arrays that apply to f.
    """

    who: str
    given: Any
    vjps: Callable[..., Any] | None = None
    other: Callable[..., Any] | None = None
    sure: bool = True
    company: Any = None

    @property
    def of_number(self) -> bool:
        """Whether f must return one number."""
        return self.who not in ("vjp", "jvp", "jacobian")

    @property
    def pairs(self) -> str:
        """Which pairs that f returns are a value and a gradient: any, fitting ones, or none."""
        return ("any" if self.who == "f" else "fitting") if self.of_number else "none"


class Claims:
    """The claimed Jacobian, flat: rows are input coordinates, columns output coordinates.

    A jvp gives it by rows, a vjp by columns. A gradient is the result of a vjp for the upstream
    gradient 1, which is not passed to it.

    Parameters
    ----------
    ask : Ask
        Calls f.
    who : str
        The name of the claim: "vjp", "jvp", or the argument of gradients.
    given : callable or any
        The product, or the gradients, or a function that returns them.
    beside : Claims, optional
        The claims of another product of the same f. Both add their faults to one list.
    """

    def __init__(self, ask: Ask, who: str, given: Any, beside: "Claims | None" = None) -> None:
        self.ask, self.who, self.given = ask, who, given
        # (inputs, outputs): NaN where a claim cannot be compared. None for a jvp along lines.
        self.matrix: Array | None = None
        self.asked: dict[int, Array] = {}  # rows of a jvp, as long as there is no matrix
        # Names of the first and of the second answer, for a message if they differ.
        self.calls = "at the first call", "at the second:"
        # For each input, the gradients as they were returned, by columns; empty for those that fit.
        self.raw: dict[int, list[Any]] = {k: [] for k in ask.inputs.parts}
        self.unusable: dict[int, str] = {}  # why the claims for an input cannot be compared
        self.none: set[int] = set()  # inputs with the gradient None: a claim that f ignores them
        # The number and the second answer of a row or column, after f was called elsewhere.
        self.twice: list[tuple[int, Array]] = []
        self.change = 0.0  # the largest one between two answers, relative to the largest entry
        self.faults: list[Fault] = beside.faults if beside else []
        # Inputs or outputs whose derivative has a shorter dtype, by (given, digits, wanted).
        self.short: dict[tuple[str, int, Any], dict[str, None]] = beside.short if beside else {}

    @property
    def by_rows(self) -> bool:
        """Whether a call of the product gives a row."""
        return self.who == "jvp"

    @property
    def vector(self) -> str:
        """The name of the vector that the product takes."""
        return "tangent" if self.by_rows else "upstream"

    @property
    def asks(self) -> bool:
        """Whether the claim is a function, which may say something else at another call."""
        return callable(self.given)

    def of(self, ask: Ask) -> "Claims":
        """Return what the same product claims once more, perhaps for other outputs of f."""
        return type(self)(ask, self.who, self.given, self)

    @property
    def count(self) -> int:
        """The number of rows, or of columns."""
        return self.ask.inputs.size if self.by_rows else self.ask.here.size

    @property
    def random(self) -> bool:
        """Whether a second answer differed."""
        return any(fault.reason == "nondeterministic" for fault in self.faults)

    # --- what is claimed --------------------------------------------------------------------------

    def fill(self, vjps: Callable[..., Any] | None = None) -> "Claims":
        """Compute every column; several at once if there is a function for that."""
        ask, count = self.ask, self.count
        each = NUMBERS_AT_ONCE // max(1, ask.inputs.size, ask.outputs.size)
        if vjps is None or min(each, count) < 2:
            if count == 1:  # the column of a million entries is not copied
                self.matrix = self.product(self.vector_for(0))[:, None]
                return self
            columns = np.empty((count, ask.inputs.size), ask.inputs.dtype)
            for number, column in enumerate(columns):
                column[:] = self.product(self.vector_for(number))
            self.matrix = columns.T
            return self
        self.matrix = np.empty((ask.inputs.size, count), ask.inputs.dtype)
        who = self.who
        if not ask.opens_trees:  # an adapter compares the two itself
            self.calls = "from f.vjps", "from f.vjp: the two do not agree, or"
            who = "f.vjps"
        for start in range(0, count, each):
            numbers = range(start, min(start + each, count))
            given = self._call(vjps, who, partial(self._upstreams, numbers))
            must = "f.vjps must return a list with the result of f.vjp for each upstream"
            for number, one in zip(numbers, one_for_each(given, len(numbers), must), strict=True):
                self.matrix[:, number] = self._gradient(one)
        return self

    def _upstreams(self, numbers: range) -> list[Any]:
        """Return the argument of vjps for some columns."""
        return [[self.ask.outputs.unflat(self.vector_for(k)) for k in numbers]]

    def rows(self, rows: Array) -> Array:
        """Return the claims for some coordinates, computed now if they were not before."""
        if self.matrix is not None:
            return np.asarray(self.matrix[rows])
        found = np.array([self._claim(row) for row in rows.tolist()])
        found = found.reshape(len(rows), self.ask.here.size)
        if len(rows) == self.ask.inputs.size:
            self.matrix = found
        return found

    def _claim(self, number: int) -> Array:
        """Return a row of a jvp, or a column of a vjp."""
        if self.matrix is not None:
            return self.matrix[number] if self.by_rows else self.matrix[:, number]
        if number not in self.asked:
            self.asked[number] = self.product(self.vector_for(number))
        return self.asked[number]

    def along(self, line: Line) -> Array:
        """Return the claimed slopes along a line, (outputs,)."""
        if self.matrix is not None:
            return line.dot(self.matrix)
        tangent = np.zeros(self.ask.inputs.size, self.ask.inputs.dtype)
        for start, stop, piece in line.pieces():
            tangent[start:stop] = piece
        return self.product(tangent)

    def vector_for(self, number: int) -> Array:
        """Return the vector whose product is the row or column of this number."""
        if self.ask.mix is not None and not self.by_rows:
            return np.asarray(self.ask.mix[number])
        return np.asarray(np.eye(1, self.count, number)[0])

    # --- when asked again -------------------------------------------------------------------------

    def ask_again(self, rtol: float, atol: float, nondet_tol: float | None = None) -> None:
        """Compute the first and the last row or column again: each may have its own buffer.

        If an entry changes by more than atol + rtol x the largest, or more than nondet_tol x the
        largest, that is a fault of its input; but not if f changes from call to call, too, by about
        as large a share of its value.
        """
        count = self.count if self.asks else 0
        change_of_f = float(np.nanmax(self.ask.nondeterminism, initial=0.0))
        size_of_f = float(np.nanmax(np.abs(self.ask.first), initial=np.finfo(float).tiny))
        share = LIKE_F * change_of_f / size_of_f
        for number in range(0, count, max(1, count - 1)):
            first = self._claim(number)
            apart, known = self.of(self.ask), len(self.faults)
            second = apart.product(self.vector_for(number))
            for fault in self.faults[known:]:
                self.faults.remove(fault)
                said = f"at the second call {fault.sentence}"
                self.fault("nondeterministic", fault.subject, said)
            if apart.unusable:  # there is a fault for that already
                second = np.where(np.isnan(second), first, second)
            if np.array_equal(first, second):  # the usual case, which needs no more memory
                self.twice.append((number, first))
                continue
            self.twice.append((number, second))
            largest = float(np.nanmax(np.fmax(np.abs(first), np.abs(second)), initial=0.0))
            most = atol + max(rtol, share) * largest
            if nondet_tol is not None:
                most = nondet_tol * largest
            with np.errstate(invalid="ignore"):
                change = second - first
                np.abs(change, out=change)  # in place, for a million entries
            if 0 < largest < np.inf:
                self.change = max(self.change, float(np.nanmax(change, initial=0.0)) / largest)
            others = np.flatnonzero(np.isfinite(first) & ~(change <= most))
            rows = np.full(others.size, number) if self.by_rows else others
            why = "a buffer that adds up, a cache of another point"
            for part in self.ask.inputs.parts.values():
                for at in np.flatnonzero(part.holds(rows))[:1]:
                    entry = part.entry(int(rows[at]) - part.start)
                    both = _told_apart(first[others[at]], second[others[at]])
                    said = f"the gradient of {entry} was {both[0]} {self.calls[0]} and {both[1]} "
                    said += f"{self.calls[1]} it is random, or keeps state between calls ({why})"
                    self.fault("nondeterministic", part.name, said)

    def again(self, rows: Array) -> Array:
        """Return the second claims for some coordinates; NaN where there is none."""
        again = np.full((len(rows), self.ask.here.size), np.nan)
        for number, second in self.twice:
            if self.by_rows:
                again[rows == number] = second
            else:
                again[:, number] = second[rows]
        return again

    def product_at(self, values: list[Any], vector: Array) -> Array:
        """Return the product at another point; NaN where it raises. Faults are not recorded."""
        try:
            with np.errstate(all="ignore"):
                given = self.ask.inputs.call(self.given, values, *self._arguments(vector))
        except Exception as error:
            if not is_outside(error):
                raise
            size = self.ask.here.size if self.by_rows else self.ask.inputs.size
            return np.full(size, np.nan)
        return Claims(self.ask, self.who, self.given).read(given)

    def nearby(self, columns: Array, seed: int) -> Array | None:
        """Return the claims for some columns at a point a few spacings of x away, or None.

        The difference is the rounding of the claim: over that distance a derivative changes by
        some eps of itself only. A jvp rounds as f does, whose noise is measured anyway.
        """
        if self.by_rows or not callable(self.given):
            return None
        near, vectors = self.ask.inputs.nearby, map(self.vector_for, columns.tolist())
        return np.array([self.product_at(near(seed), one) for one in vectors]).T

    # --- asking -----------------------------------------------------------------------------------

    def product(self, vector: Array | Callable[[], Array]) -> Array:
        """Return the product with a flat vector at x, flat; NaN if its structure is wrong.

        A wrong structure is recorded as a fault. A long vector need not be kept during the call: it
        may be a function that makes it.
        """
        if not callable(self.given):
            return self.read(self.given)
        make = vector if callable(vector) else lambda: vector
        return self.read(self._call(self.given, self.who, lambda: self._arguments(make())))

    def read(self, given: Any) -> Array:
        """Return a result of the product, flat."""
        return self._derivative(given) if self.by_rows else self._gradient(given)

    def _arguments(self, vector: Array) -> list[Any]:
        """Arrange a flat vector as an argument of the product; gradients take none."""
        inputs = self.ask.inputs
        if self.who == "vjp":
            return [self.ask.outputs.unflat(vector)]
        if not self.by_rows:
            return []
        leaves = [np.zeros(np.shape(value)) for value in inputs.values]
        for k, part in inputs.parts.items():
            leaves[k] = part.array(vector[part.stretch])
        tangents = inputs.forest.built(leaves)
        return [tangents[0] if len(tangents) == 1 else tuple(tangents)]

    def _call(self, function: Any, who: str, arguments: Callable[[], list[Any]]) -> Any:
        """Call a function at x, and record a fault if it writes to its arguments.

        ``arguments`` makes those before the inputs.
        """
        inputs = self.ask.inputs
        values, first = inputs.copies(), arguments()
        try:
            given = inputs.call(function, values, *first)
        except BaseException as error:
            order = "" if self.who not in ("vjp", "jvp") else f" with the {self.vector} first,"
            error.add_note(f"in gradcheck_ref, calling {who}{order} at x")
            raise
        if name := inputs.changed(values):
            self.writes(who, f"its input {name}")
        elif not _same(first, arguments(), inputs.forest.opener):
            self.writes(who, self.vector)
        return given

    # --- what does not fit ------------------------------------------------------------------------

    def fault(self, reason: str, subject: str, sentence: str) -> None:
        """Record a fault, once."""
        new = Fault(reason, subject, sentence)
        if new not in self.faults:
            self.faults.append(new)

    def writes(self, who: str, what: str) -> None:
        """Record that a function writes to its arguments."""
        said = "code that uses this array later gets other numbers; work on a copy"
        self.fault("mutated", who, f"{who} writes to {what}: {said}")

    def ignored(self, inputs: Sequence[str]) -> None:
        """Record that f never changes with inputs whose claimed gradient is not zero."""
        names = " or ".join(inputs)
        word = inputs[0] if inputs[0].isidentifier() else "W"
        elsewhere = words(
            f"such as the params of a model? Then pass it to f, as in f = lambda {word}: "
            f"loss({{**params, '{word}': {word}}})",
            "and not from the point that it is sent? Then take it from there",
        )
        said = f"f did not change when {names} was moved, but the claimed gradient is not zero. "
        if not self.ask.reads_only_its_inputs:
            said += f"Does f read {word} from somewhere else, {elsewhere}. If not, "
        said += "f is flat here (a dead unit, a clipped or a rounded value), or never depends on "
        said += f"{names} (a shift before softmax), and the gradient is zero"
        self.fault("ignores-input", names, said)

    def _note_digits(self, given: np.dtype[Any], part: Part) -> None:
        """Record a derivative that has fewer digits than its input or output."""
        is_float = part.size and kind_of(given) in "fc"
        if is_float and limits_of(given).eps > limits_of(part.dtype).eps:
            name, digits = str(given), int(limits_of(given).precision)
            if self.ask.gradients_in and given.kind == "f" and not self.by_rows:
                name, digits = self.ask.gradients_in
            self.short.setdefault((name, digits, part.dtype), {})[part.name] = None

    def _derivative(self, given: Any) -> Array:
        """Return the derivative of all outputs as a flat vector."""
        outputs = self.ask.outputs
        try:
            arrays = outputs.derivative(given)
        except (ValueError, TypeError) as error:
            shape = isinstance(error, ValueError)
            said = f"jvp must return what f returns, but gives {error}" if shape else str(error)
            reason = "shape" if shape else "dtype"
            self.unusable = dict.fromkeys(self.ask.inputs.parts, reason)
            self.fault(reason, "jvp", said)
            return np.full(self.ask.here.size, np.nan)
        for j, part in outputs.parts.items():
            self._note_digits(arrays[j].dtype, part)
        return outputs.joined(arrays)

    def _gradient(self, given: Any) -> Array:
        """Return the gradients of all inputs as a flat vector."""
        x = self.ask.inputs.x
        column = np.full(x.size, np.nan, x.dtype)
        for k, one in self._by_input(given).items():
            part = self.ask.inputs.parts[k]
            if one is None:  # a claim that f does not depend on this input; that can be checked
                self.none.add(k)
            gradient = np.zeros(part.shape) if one is None else as_array(one)
            reason, said = why_not(gradient, part.name, part.is_complex, part.shape)
            if callable(one):
                maker = f", with the {self.vector} if it is made for defvjp" * (self.who == "vjp")
                said = f"a function for {part.name} where a gradient must be: call it{maker}"
            self.raw[k].append(np.array(gradient) if reason else np.zeros(0))
            if reason:
                self.unusable[k] = reason
                self.fault(reason, part.name, f"{self.who} gives {said}")
            else:
                self._note_digits(gradient.dtype, part)
                column[part.stretch] = part.flat(gradient, x.dtype)
        return column

    def _by_input(self, given: Any) -> dict[int, Any]:
        """Sort gradients by input number; record a fault if the structure is wrong."""
        inputs = self.ask.inputs
        arguments, unknown = by_argument(inputs, given)
        found, strange = inputs.forest.picked(arguments)
        missing = [k for k in inputs.parts if k not in found or given is None]
        strange = [*map(repr, unknown), *strange]
        if missing or strange:
            self.unusable |= dict.fromkeys(missing, "structure")
            names = ", ".join(inputs.names[k] for k in missing)
            some = len(given) if isinstance(given, tuple | list) and not found else 0
            count = f"{some} gradient{'s' * (some > 1)} for {len(missing)} inputs ({names})"
            what = [count if some else f"no gradient for {names}"] if missing else []
            what += [f"a gradient for {', '.join(strange)}, an unknown input"] if strange else []
            must = "the same tree as the inputs"
            if inputs.forest.bare:
                ours = inputs.arranged(inputs.values)
                must = f"{_arrangement(ours)}, not {_arrangement(given)}"
            said = f"{self.who} gives {' and '.join(what)}: it must give {must}"
            if found and len(missing) == 1 and not strange:
                said += words(f". If {names} is data, leave it out: constant={names!r}", "")
            self.fault("structure", names or self.who, said)
        return {k: found[k] for k in inputs.parts if k not in missing}


def _told_apart(was: Any, now: Any) -> tuple[str, str]:
    """Write two numbers with as many digits as show that they differ, 6 at least."""
    written = ((f"{was:.{digits}g}", f"{now:.{digits}g}") for digits in range(6, 18))
    return next((both for both in written if both[0] != both[1]), (str(was), str(now)))


def _same(first: list[Any], again: list[Any], opener: Opener | None) -> bool:
    """Whether all arrays in an upstream gradient or a tangent have the same bytes as before."""
    if not all(isinstance(one, np.ndarray) for one in first):
        first, again = leaves_of(first, opener), leaves_of(again, opener)
    same = map(same_bytes, map(np.asarray, first), map(np.asarray, again))
    return len(first) == len(again) and all(same)


def _arrangement(value: Any) -> str:
    """Describe how gradients, or inputs, are arranged."""
    if isinstance(value, Mapping):
        keys = ", ".join(map(repr, value)) or "of nothing"
        return f"{words('a mapping', 'an object')} with the keys {keys}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    is_array = isinstance(value, np.ndarray | np.generic)
    return f"an array of shape {value.shape}" if is_array else described(value)


def why_not(given: Array, name: str, is_complex: bool, *shapes: tuple[int, ...]) -> tuple[str, str]:
    """Return why an array cannot be compared, as a reason and in words; empty if it can."""
    if kind_of(np.dtype(given.dtype)) not in "fciub":
        return "dtype", f"{given.dtype} for {name}, which holds no numbers"
    if np.dtype(given.dtype).kind == "c" and not is_complex:
        return "dtype", f"complex numbers for {name}, which is real: take their real part"
    if given.shape not in shapes:
        wanted = " or ".join(map(str, dict.fromkeys(shapes)))
        return "shape", f"shape {given.shape} for {name}, which has shape {wanted}"
    return "", ""
