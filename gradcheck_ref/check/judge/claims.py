"""What is claimed: gradients, a vjp or a jvp, as one flat matrix beside the evidence."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array, described
from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.crew import NUMBERS_AT_ONCE, one_for_each
from gradcheck_ref.check.measure.lines import RandomLine
from gradcheck_ref.check.words import words
from gradcheck_ref.structure import Inputs, Part
from gradcheck_ref.trees import Tree


@dataclass(frozen=True)
class Fault:
    """Something wrong that is not a number: it fails the check whatever the entries say.

    Attributes
    ----------
    reason : str
        mutated, nondeterministic, ignores-input, shape, dtype, structure or nonfinite; wrong, for
        products that are not adjoint.
    subject : str
        The name of the input or output concerned, or ``"f"``, ``"vjp"``, ``"jvp"``, ``"grads"``
        (``"gradient"``, where a command is checked).
    sentence : str
        What is wrong and what to do.
    """

    reason: str
    subject: str
    sentence: str


class Twice(NamedTuple):
    """Two answers: of all inputs for one column, or of all outputs for one row."""

    row: int | None
    column: int | None
    first: Array
    second: Array


class Claims:
    """The claimed Jacobian, flat: rows are input coordinates, columns output coordinates."""

    # Which product is asked for the claims, if it is one: vjp or jvp.
    product = ""
    # Whether they came from a vjps that nobody has compared with the vjp.
    together = False

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        # (inputs, outputs): NaN where a claim cannot be compared. None for a jvp asked by lines.
        self.matrix: Array | None = None
        # For each input, the gradients as they came, by columns; empty for those that fit.
        self.raw: dict[int, list[Any]] = {k: [] for k in probe.inputs.parts}
        # For each input whose gradients cannot be compared, the reason.
        self.unusable: dict[int, str] = {}
        # The products that gave what cannot be compared.
        self.spoilt: set[str] = set()
        self.faults: list[Fault] = []
        # What was claimed when asked again, after f had been called elsewhere.
        self.twice: list[Twice] = []
        # For each input for which None came, who gave it: the claim is that f ignores the input.
        self.none: dict[int, str] = {}
        # For dtypes (given, wanted) where a derivative has fewer digits: the names of its parts.
        self.short: dict[tuple[str, str], list[str]] = {}

    def fault(self, reason: str, subject: str, sentence: str) -> None:
        """Note a fault, once."""
        new = Fault(reason, subject, sentence)
        if new not in self.faults:
            self.faults.append(new)

    def writes(self, who: str, what: str) -> None:
        """Note that a function writes to what it is given."""
        self.fault(
            "mutated",
            who,
            f"{who} writes to {what}: whoever uses that array next gets other numbers; "
            "work on a copy",
        )

    def spoil(self, k: int, reason: str, who: str) -> None:
        """Note that a product cannot be compared for an input; the other product still can."""
        self.spoilt.add(who)
        if self.product in ("", who):
            self.unusable[k] = reason

    def refuse_none(self, k: int) -> None:
        """Note that None was given for an input that f depends on."""
        name = self.probe.inputs.names[k]
        self.unusable[k] = "structure"
        self.fault(
            "structure",
            name,
            f"{self.none[k]} gives no gradient for {name} but None, which stands for a constant, "
            "and f depends on it. If it is one, bind it, as in f = lambda x: layer(x, 0.5); if "
            "not, its gradient is missing",
        )

    def see_digits(self, given: np.dtype[Any], part: Part) -> None:
        """Note a derivative that has fewer digits than what it is for."""
        if given.kind not in "fc" or not part.size:
            return
        if np.finfo(given).eps > np.finfo(part.dtype).eps:
            names = self.short.setdefault((str(given), str(part.dtype)), [])
            names += [part.name] if part.name not in names else []

    def rows(self, rows: Array) -> Array:
        """Return what is claimed of some coordinates of the inputs, (rows, outputs)."""
        assert self.matrix is not None
        return np.asarray(self.matrix[rows])

    def along(self, line: RandomLine) -> Array:
        """Return what is claimed of the slopes along a line, (outputs,)."""
        assert self.matrix is not None
        return line.dot(self.matrix)

    def again(self, rows: Array) -> Array:
        """Return what was claimed of some coordinates when asked again; NaN where not asked."""
        again = np.full((len(rows), self.probe.here.size), np.nan)
        for twice in self.twice:
            if twice.row is None:
                again[:, twice.column] = twice.second[rows]
            else:
                again[rows == twice.row] = twice.second
        return again

    def keeps_state(self, rtol: float) -> bool:
        """Return whether what was asked again was answered otherwise."""
        with np.errstate(invalid="ignore"):
            return any(
                (np.abs(t.second - t.first) > rtol * np.nanmax(np.abs(t.first), initial=0.0)).any()
                for t in self.twice
            )

    def ask_again(self) -> None:
        """Ask for claims a second time, after f was called at other points, if they can be."""

    def nearby(self, columns: Array, seed: int) -> Array | None:
        """Return the claims for some columns at a point a few spacings of x away, if they can be.

        The difference is rounding of the claim itself: a derivative changes by some eps of itself
        on that length. A jvp is rounded as f is, whose noise is measured.
        """
        return None


class Columns(Claims):
    """Claims that come as the gradient of one output after the other, in products called who."""

    who: str

    def __init__(self, probe: Probe) -> None:
        super().__init__(probe)
        self.matrix = np.empty((probe.x.size, probe.here.size), probe.x.dtype)
        for number, column in enumerate(self.columns()):
            self.matrix[:, number] = column

    def columns(self) -> Iterator[Array]:
        """Yield the gradient of every output."""
        for number in range(self.probe.here.size):
            yield self.asked(self, number)

    def asked(self, claims: Claims, number: int, near: int | None = None) -> Array:
        """Ask for the gradient of an output, and note in claims what is wrong with it."""
        raise NotImplementedError

    def ask_again(self) -> None:
        """Ask a second time for two columns; the last, too, for each output may keep its own."""
        assert self.matrix is not None
        for number in _first_and_last(self.probe.here.size):
            second, first = Claims(self.probe), self.matrix[:, number]
            column = self.asked(second, number)
            for fault in second.faults:
                if fault not in self.faults:
                    said = f"at the second call {fault.sentence}"
                    self.fault("nondeterministic", fault.subject, said)
            for k in second.unusable:  # that is said already
                part = self.probe.inputs.parts[k]
                column[part.stretch] = first[part.stretch]
            self.twice.append(Twice(None, number, first, column))

    def nearby(self, columns: Array, seed: int) -> Array | None:
        """Ask for these columns a few spacings of x away."""
        quiet = Claims(self.probe)
        return np.array([self.asked(quiet, column, near=seed) for column in columns.tolist()]).T


class Gradients(Columns):
    """The gradients of a scalar function, or a function that returns them."""

    def __init__(self, probe: Probe, grads: Any) -> None:
        self.grads, self.who = grads, words("grads", "gradient")
        super().__init__(probe)

    def asked(self, claims: Claims, number: int, near: int | None = None) -> Array:
        """Call the function for the gradients, or take what was handed over."""
        given = self.grads
        if callable(given):
            given = _call(claims, given, self.who, near=near)
        return _column(claims, given, self.who)

    def ask_again(self) -> None:
        """Call the function a second time; gradients that were handed over are what they are."""
        if callable(self.grads):
            super().ask_again()

    def nearby(self, columns: Array, seed: int) -> Array | None:
        """Call the function once more, a few spacings of x away."""
        return super().nearby(columns, seed) if callable(self.grads) else None


class Vjps(Columns):
    """What a vjp gives for the gradient of every output, or of the combinations of a probe.

    ``vjps`` gives the same for several upstream gradients at once.
    """

    product = who = "vjp"

    def __init__(
        self, probe: Probe, vjp: Callable[..., Any], vjps: Callable[..., Any] | None = None
    ) -> None:
        self.vjp, self.vjps = vjp, vjps
        super().__init__(probe)

    def columns(self) -> Iterator[Array]:
        """Yield the gradient of every output; ask for several at once, where that can be."""
        count, outputs = self.probe.here.size, self.probe.outputs
        each = NUMBERS_AT_ONCE // max(1, self.probe.x.size, outputs.size)
        if self.vjps is None or min(each, count) < 2:
            yield from super().columns()
            return
        # An adapter compares the two itself.
        self.together = not hasattr(self.probe.work.f, "open_tree")
        for start in range(0, count, each):
            numbers = range(start, min(start + each, count))
            upstreams = [outputs.unflat(self._upstream(k)) for k in numbers]
            given = _call(self, self.vjps, "f.vjps", upstreams)
            must = "f.vjps must return a list of what f.vjp gives for each upstream"
            for one in one_for_each(given, len(numbers), must):
                yield _column(self, one, "vjp")

    def asked(self, claims: Claims, number: int, near: int | None = None) -> Array:
        """Call the vjp with the upstream gradient of this output, or combination of outputs."""
        return pulled(claims, self.vjp, self._upstream(number), near)

    def _upstream(self, number: int) -> Array:
        mix = self.probe.mix
        return _one_hot(self.probe.here.size, number) if mix is None else mix[number]


class Jvps(Claims):
    """What a jvp gives for the derivative of all outputs along every input coordinate, or line."""

    product = "jvp"

    def __init__(self, probe: Probe, jvp: Callable[..., Any]) -> None:
        super().__init__(probe)
        self.jvp = jvp
        self.known: dict[int, Array] = {}

    def _row(self, row: int) -> Array:
        """Ask for the derivative along one coordinate."""
        return pushed(self, self.jvp, _one_hot(self.probe.x.size, row))

    def rows(self, rows: Array) -> Array:
        """Return what is claimed of some coordinates, asked for now if it was not before."""
        for row in rows.tolist():
            if row not in self.known:
                self.known[row] = self._row(row)
        found = [self.known[row] for row in rows.tolist()]
        matrix = np.array(found).reshape(len(found), self.probe.here.size)
        if len(found) == self.probe.x.size:
            self.matrix = matrix
        return matrix

    def along(self, line: RandomLine) -> Array:
        """Ask for the derivative along a line."""
        if self.matrix is not None:
            return super().along(line)
        tangent = np.zeros(self.probe.x.size, self.probe.x.dtype)
        tangent[line.start : line.stop] = line.direction
        return pushed(self, self.jvp, tangent)

    def ask_again(self) -> None:
        """Ask the jvp a second time, after f was called at other points, for two of its rows."""
        for row in _first_and_last(self.probe.x.size):
            first = self.rows(np.array([row]))[0]
            self.twice.append(Twice(row, None, first, self._row(row)))


def _first_and_last(size: int) -> list[int]:
    return sorted({0, size - 1}) if size else []


def _one_hot(size: int, place: int) -> Array:
    return np.asarray(np.eye(1, size, place)[0])


def pulled(
    claims: Claims, vjp: Callable[..., Any], upstream: Array, near: int | None = None
) -> Array:
    """Call the vjp with a flat upstream gradient, and return the flat gradient."""
    given = _call(claims, vjp, "vjp", claims.probe.outputs.unflat(upstream), near=near)
    return _column(claims, given, "vjp")


def pushed(
    claims: Claims, jvp: Callable[..., Any], tangent: Array, near: int | None = None
) -> Array:
    """Call the jvp with a flat tangent, and return the flat derivative; NaN if it does not fit."""
    inputs, outputs = claims.probe.inputs, claims.probe.outputs
    given = _call(claims, jvp, "jvp", _tangent(inputs, tangent), near=near)
    try:
        arrays = outputs.derivative(given)
        for j, part in outputs.parts.items():
            claims.see_digits(arrays[j].dtype, part)
        return outputs.joined(arrays)
    except ValueError as error:
        reason, sentence = "shape", f"jvp must return what f returns, but gives {error}"
    except TypeError as error:
        reason, sentence = "dtype", str(error)
    for k in inputs.parts:
        claims.spoil(k, reason, "jvp")
    claims.fault(reason, "jvp", sentence)
    return np.full(claims.probe.here.size, np.nan)


def _tangent(inputs: Inputs, coordinates: Array) -> Any:
    """Arrange a flat tangent as the inputs are: one array or tree, or a tuple for several."""
    leaves = [np.zeros(np.shape(value)) for value in inputs.values]
    for k, part in inputs.parts.items():
        leaves[k] = part.array(coordinates[part.stretch])
    tangents = inputs.forest.built(leaves)
    return tangents[0] if len(tangents) == 1 else tuple(tangents)


def _call(claims: Claims, function: Any, who: str, *first: Any, near: int | None = None) -> Any:
    """Call grads, vjp or jvp at x, and note it if it writes to what it is given."""
    inputs = claims.probe.inputs
    if near is not None:
        with np.errstate(all="ignore"):
            return inputs.call(function, inputs.nearby(near), *first)
    values, before = inputs.copies(), _bytes(first)
    try:
        given = inputs.call(function, values, *first)
    except BaseException as error:
        error.add_note(f"in gradcheck_ref, calling {who} at x")
        raise
    if name := inputs.changed(values):
        claims.writes(who, f"its input {name}")
    elif before != _bytes(first):
        claims.writes(who, "its tangent" if who == "jvp" else "upstream")
    return given


def _bytes(first: tuple[Any, ...]) -> list[bytes]:
    """Return what is in the arrays of an upstream gradient, of several, or of a tangent."""
    leaves = Tree(first, "").leaves(first) if first else ()
    return [np.asarray(one).tobytes() for one in leaves]


def _column(claims: Claims, given: Any, who: str) -> Array:
    """Return gradients of all inputs as a flat column; NaN, and a fault, where they do not fit."""
    x = claims.probe.x
    column = np.full(x.size, np.nan, x.dtype)
    for k, gradient in _by_input(claims, given, who).items():
        part = claims.probe.inputs.parts[k]
        reason, sentence = _why_not(gradient, part, who)
        claims.raw[k].append(np.array(gradient) if reason else np.zeros(0))
        if reason:
            claims.spoil(k, reason, who)
            claims.fault(reason, part.name, sentence)
        else:
            claims.see_digits(gradient.dtype, part)
            column[part.stretch] = part.flat(gradient, x.dtype)
    return column


def _by_input(claims: Claims, given: Any, who: str) -> dict[int, Array]:
    """Sort gradients by input number; note a fault where the structure does not fit."""
    inputs = claims.probe.inputs
    by_argument, unknown = _by_argument(inputs, given)
    found, strange = inputs.forest.picked(by_argument)
    strange = [repr(key) for key in unknown] + strange
    if strange:
        known = [repr(key) for key in inputs.keys] if inputs.forest.bare else inputs.names
        claims.fault(
            "structure",
            who,
            f"{who} gives a gradient for {', '.join(strange)}, "
            f"which is no input; the inputs are {', '.join(known)}",
        )
    if given is not None:
        # None says that f does not depend on it, and that is a claim that can be judged.
        none = [k for k in inputs.parts if k in found and found[k] is None]
        claims.none |= {k: who for k in none}
        found |= {k: np.zeros(inputs.parts[k].shape) for k in none}
    if missing := [k for k in inputs.parts if found.get(k) is None]:
        for k in missing:
            claims.spoil(k, "structure", who)
        names = ", ".join(inputs.names[k] for k in missing)
        wanted = "the same tree as the inputs are"
        if inputs.forest.bare:
            ours = _arrangement(inputs.arranged(inputs.values))
            wanted = f"{ours}, not {_arrangement(given)}"
        sentence = f"{who} gives no gradient for {names}: it must give {wanted}"
        claims.fault("structure", names, sentence)
    return {k: _array(found[k]) for k in inputs.parts if k not in missing}


def _arrangement(value: Any) -> str:
    """Say how gradients, or inputs, are arranged."""
    if isinstance(value, Mapping):
        keys = ", ".join(map(repr, value)) or "of nothing"
        return f"{words('a mapping', 'an object')} with the keys {keys}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    is_array = isinstance(value, np.ndarray | np.generic)
    return f"an array of shape {value.shape}" if is_array else described(value)


def _by_argument(inputs: Inputs, given: Any) -> tuple[dict[int, Any], list[Any]]:
    """Sort gradients by the number of the argument they are for, and list keys that are unknown."""
    wanted = inputs.differentiated
    if isinstance(given, Mapping) and inputs.by_name:
        found = {a: given[inputs.keys[a]] for a in wanted if inputs.keys[a] in given}
        return found, [key for key in given if key not in inputs.keys]
    several = isinstance(given, tuple | list)
    if len(wanted) == 1:
        form = inputs.forest.trees[wanted[0]]
        if form.is_leaf:
            if not isinstance(given, Mapping) and not _one_for_each(given, inputs):
                return {wanted[0]: given}, []
        else:
            # A tree may come by itself, or as one of the arguments, and be a list itself.
            ways = [given]
            if several and len(given) in (1, len(inputs.keys)):
                ways.insert(0, given[0 if len(given) == 1 else wanted[0]])
            return {wanted[0]: max(ways, key=lambda way: len(form.picked(way)[0]))}, []
    if several and len(given) == len(inputs.keys):
        return {a: given[a] for a in wanted}, []
    if several and len(given) == len(wanted):
        return dict(zip(wanted, given, strict=True)), []
    return {}, []


def _one_for_each(given: Any, inputs: Inputs) -> bool:
    """Whether a sequence holds one gradient for each input, rather than the numbers of one."""
    if not isinstance(given, tuple | list):
        return False
    if inputs.single:
        return isinstance(given, tuple) and not (len(given) > 1 and all(map(np.isscalar, given)))
    return len(given) in (1, len(inputs.keys))


def _array(gradient: Any) -> Array:
    """Return a gradient as an array; NaN where it is masked."""
    if isinstance(gradient, np.ma.MaskedArray) and gradient.dtype.kind in "fc":
        gradient = gradient.filled(np.nan)
    try:
        return np.asarray(gradient)
    except ValueError:  # a ragged list
        return np.array(None)


def _why_not(gradient: Array, part: Part, who: str) -> tuple[str, str]:
    """Why a gradient cannot be compared, as a reason and a sentence; empty if it can."""
    if gradient.dtype.kind not in "fciub":
        return "dtype", f"{who} gives {gradient.dtype} for {part.name}, which holds no numbers"
    if gradient.dtype.kind == "c" and not part.is_complex:
        return "dtype", (
            f"{who} gives a complex gradient for the real input {part.name}: "
            "the gradient of a real input is real; take its real part"
        )
    if gradient.shape != part.shape:
        return "shape", (
            f"{who} gives shape {gradient.shape} for {part.name}, which has shape {part.shape}"
        )
    return "", ""
