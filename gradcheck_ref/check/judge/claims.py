"""What is claimed: gradients, a vjp or a jvp, as one flat matrix beside the evidence."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array, described
from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.lines import RandomLine
from gradcheck_ref.check.words import words
from gradcheck_ref.structure import Inputs, Part
from gradcheck_ref.trees import opened

# Gradients that are asked for at once hold no more numbers than this in all, and neither do the
# upstreams: 2 MB.
NUMBERS_AT_ONCE = 2**18


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
    """The claimed Jacobian, flat: rows are input coordinates, columns output coordinates.

    Attributes
    ----------
    matrix : ndarray, shape (inputs, outputs), or None
        NaN where nothing comparable was claimed; None where a jvp is asked line by line.
    raw : dict
        For each input number, the gradients as they came, one for each column; of those that can
        be compared, nothing.
    twice : list of Twice
        What was claimed when asked again after f had been called elsewhere.
    unusable : dict
        For each input whose gradients cannot be compared, the reason.
    faults : list of Fault
        What else is wrong.
    none : dict
        For each input for which None came, who gave it: that f does not depend on it is claimed.
    spoilt : set of str
        Which products have given what cannot be compared.
    short : dict
        For each dtype of fewer digits in which a derivative came, the names of what it was for.
    product : str
        Which product is asked for them: vjp or jvp, if it is one.
    together : bool
        Whether they came from a vjps that nobody has compared with the vjp.
    """

    product = ""
    together = False

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        self.matrix: Array | None = None
        self.raw: dict[int, list[Any]] = {k: [] for k in probe.inputs.parts}
        self.unusable: dict[int, str] = {}
        self.spoilt: set[str] = set()
        self.faults: list[Fault] = []
        self.twice: list[Twice] = []
        self.none: dict[int, str] = {}
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
        """Note that what a product gives for an input cannot be compared.

        What the other product gives says nothing of these claims.
        """
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
        """Tell whether what was asked again was answered otherwise."""
        with np.errstate(invalid="ignore"):
            return any(
                (np.abs(t.second - t.first) > rtol * np.nanmax(np.abs(t.first), initial=0.0)).any()
                for t in self.twice
            )

    def ask_again(self) -> None:
        """Ask for claims a second time, after f was called at other points, if they can be."""

    def nearby(self, columns: Array, seed: int) -> Array | None:
        """Return the claims for some columns at a point a few spacings of x away, if they can be.

        What they are another there is rounding of the claim itself: a derivative changes by some
        eps of itself on that length. A jvp is rounded as f is, whose noise is measured, and numbers
        that are given are what they are.
        """
        return None


class Columns(Claims):
    """Claims that come as the gradient of one output after the other.

    Parameters
    ----------
    probe : Probe
        The function.
    """

    who: str

    def __init__(self, probe: Probe) -> None:
        super().__init__(probe)
        self.matrix = np.empty((probe.x.size, probe.here.size), probe.x.dtype)
        for column, given in enumerate(self.every()):
            self.matrix[:, column] = _column(self, given, self.who)

    def every(self) -> Iterator[Any]:
        """Yield the gradient of every output as it comes."""
        for column in range(self.probe.here.size):
            yield self.given(self, column)

    def asked(self, claims: Claims, column: int, near: int | None = None) -> Array:
        """Ask for the gradient of an output, and note there what is wrong with it."""
        return _column(claims, self.given(claims, column, near), self.who)

    def given(self, claims: Claims, column: int, near: int | None = None) -> Any:
        """Return the gradient of an output as it comes."""
        raise NotImplementedError

    def ask_again(self) -> None:
        """Ask a second time, after f was called at other points, for two of the columns.

        The last one too: state may be kept for each output by itself.
        """
        assert self.matrix is not None
        for number in _first_and_last(self.probe.here.size):
            second, first = Claims(self.probe), self.matrix[:, number]
            column = _column(second, self.given(self, number), self.who)
            for k, reason in second.unusable.items():
                part = self.probe.inputs.parts[k]
                if k not in self.unusable:  # what did not fit before needs no second fault
                    sentence = next(f.sentence for f in second.faults if f.reason == reason)
                    self.fault("nondeterministic", part.name, f"at the second call {sentence}")
                    column[part.stretch] = first[part.stretch]  # it is said already
            self.twice.append(Twice(None, number, first, column))

    def nearby(self, columns: Array, seed: int) -> Array | None:
        """Ask for these columns a few spacings of x away."""
        quiet = Claims(self.probe)
        return np.array([self.asked(quiet, column, near=seed) for column in columns.tolist()]).T


class Gradients(Columns):
    """The gradients of a scalar function, given in the structure of the inputs.

    Parameters
    ----------
    probe : Probe
        The function.
    grads : any
        The gradients, or a function that returns them.
    """

    def __init__(self, probe: Probe, grads: Any) -> None:
        self.grads, self.who = grads, words("grads", "gradient")
        super().__init__(probe)

    def given(self, claims: Claims, column: int, near: int | None = None) -> Any:
        """Call the function for the gradients, or take what was handed over."""
        if not callable(self.grads):
            return self.grads
        return _call(claims, self.grads, self.who, near=near)

    def ask_again(self) -> None:
        """Call the function a second time; gradients that were handed over are what they are."""
        if callable(self.grads):
            super().ask_again()

    def nearby(self, columns: Array, seed: int) -> Array | None:
        """Call the function once more, a few spacings of x away."""
        return super().nearby(columns, seed) if callable(self.grads) else None


class Vjps(Columns):
    """What a vjp gives for the gradient of every output, or of combinations of them.

    Parameters
    ----------
    probe : Probe
        The function; if it combines outputs, these combinations are asked for.
    vjp : callable
        The vector-Jacobian product.
    vjps : callable, optional
        The same for several upstream gradients at once.
    """

    product = who = "vjp"

    def __init__(
        self, probe: Probe, vjp: Callable[..., Any], vjps: Callable[..., Any] | None = None
    ) -> None:
        self.vjp, self.vjps = vjp, vjps
        super().__init__(probe)

    def every(self) -> Iterator[Any]:
        """Yield the gradient of every output as it comes; of several at once, where that can be."""
        count, mix = self.probe.here.size, self.probe.mix
        each = NUMBERS_AT_ONCE // max(1, self.probe.x.size, count if mix is None else mix.shape[1])
        if self.vjps is None or min(each, count) < 2:
            yield from super().every()
            return
        # An adapter compares the two itself.
        self.together = not hasattr(self.probe.work.f, "open_tree")
        for start in range(0, count, each):
            columns = range(start, min(start + each, count))
            given = _call(self, self.vjps, "f.vjps", [self._upstream(k) for k in columns])
            several = list(given) if np.iterable(given) else None
            if several is None or len(several) != len(columns):
                got = described(given) if several is None else len(several)
                raise ValueError(
                    "f.vjps must return a list of the gradients for each upstream, but gives "
                    f"{got} for {len(columns)}"
                )
            yield from several

    def given(self, claims: Claims, column: int, near: int | None = None) -> Any:
        """Call the vjp with the upstream gradient of this output, or combination of outputs."""
        return _call(claims, self.vjp, "vjp", self._upstream(column), near=near)

    def _upstream(self, column: int) -> Any:
        mix = self.probe.mix
        upstream = _one_hot(self.probe.here.size, column) if mix is None else np.array(mix[column])
        return self.probe.outputs.unflat(upstream)


class Jvps(Claims):
    """What a jvp gives for the derivative of all outputs along every input coordinate, or line.

    Parameters
    ----------
    probe : Probe
        The function.
    jvp : callable
        The Jacobian-vector product.
    """

    product = "jvp"

    def __init__(self, probe: Probe, jvp: Callable[..., Any]) -> None:
        super().__init__(probe)
        self.jvp = jvp
        self.known: dict[int, Array] = {}

    def along_one(self, row: int) -> Array:
        """Ask for the derivative along one coordinate."""
        return pushed(self, self.jvp, _one_hot(self.probe.x.size, row))

    def rows(self, rows: Array) -> Array:
        """Return what is claimed of some coordinates, asked for now if it was not before."""
        if self.matrix is not None:
            return super().rows(rows)
        for row in rows.tolist():
            if row not in self.known:
                self.known[row] = self.along_one(row)
        known = [self.known[row] for row in rows.tolist()]
        known_rows = np.array(known).reshape(len(known), self.probe.here.size)
        if len(known) == self.probe.x.size:
            self.matrix = known_rows
        return known_rows

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
            self.twice.append(Twice(row, None, first, self.along_one(row)))


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
    values = inputs.copies()
    before = [np.asarray(one).tobytes() for one in _arrays(first)]
    try:
        given = inputs.call(function, values, *first)
    except BaseException as error:
        error.add_note(f"in gradcheck_ref, calling {who} at x")
        raise
    if name := inputs.changed(values):
        claims.writes(who, f"its input {name}")
    elif before != [np.asarray(one).tobytes() for one in _arrays(first)]:
        claims.writes(who, "its tangent" if who == "jvp" else "upstream")
    return given


def _arrays(first: tuple[Any, ...]) -> list[Any]:
    """List the arrays of an upstream gradient or a tangent."""
    arrays: list[Any] = []
    for one in first:
        inner = opened(one)
        arrays += [one] if inner is None else _arrays(tuple(inner.children))
    return arrays


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


def _by_input(claims: Claims, given: Any, who: str) -> dict[int, Any]:
    """Sort gradients by input number; note a fault where the structure does not fit."""
    inputs = claims.probe.inputs
    by_argument, unknown = _by_argument(inputs, given)
    found, strange = inputs.forest.picked(by_argument)
    strange = [repr(key) for key in unknown] + strange
    if strange:
        ours = [repr(key) for key in inputs.keys] if inputs.forest.bare else inputs.names
        claims.fault(
            "structure",
            who,
            f"{who} gives a gradient for {', '.join(strange)}, "
            f"which is no input; the inputs are {', '.join(ours)}",
        )
    if given is not None:
        # None says that f does not depend on it, and that is a claim that can be judged.
        none = [k for k in inputs.parts if k in found and found[k] is None]
        claims.none |= {k: who for k in none}
        found |= {k: np.zeros(inputs.parts[k].shape) for k in none}
    missing = [k for k in inputs.parts if found.get(k) is None]
    if missing:
        for k in missing:
            claims.spoil(k, "structure", who)
        claims.fault("structure", *_what_is_missing(inputs, missing, given, who))
    return {k: _array(found[k]) for k in inputs.parts if k not in missing}


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


def _what_is_missing(inputs: Inputs, missing: list[int], given: Any, who: str) -> tuple[str, str]:
    """Return whom a missing gradient concerns, and the sentence about it."""
    names = ", ".join(inputs.names[k] for k in missing)
    if not inputs.forest.bare and len(missing) < len(inputs.parts):
        return names, f"{who} gives no gradient for {names}: it must give the same tree"
    if not inputs.forest.bare:
        wanted = "the same tree as the inputs are"
    elif len(inputs.parts) == 1:
        wanted = f"an array of shape {inputs.parts[missing[0]].shape}"
    elif inputs.by_name:
        keys = ", ".join(repr(inputs.keys[k]) for k in inputs.parts)
        wanted = f"{words('a mapping', 'an object')} with the keys {keys}"
    else:
        wanted = f"one array for each of the {len(inputs.values)} inputs, in the same order"
    got = described(given)
    if isinstance(given, tuple | list):
        got = f"a {type(given).__name__} of {len(given)}"
    elif isinstance(given, Mapping):
        got = f"{words('a mapping', 'an object')} with the keys "
        got += ", ".join(map(repr, given)) or "of nothing"
    return names, f"{who} gives no gradient for {names}: it must give {wanted}, not {got}"


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
