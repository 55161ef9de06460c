"""What is claimed: gradients, a vjp or a jvp, as one flat matrix beside the evidence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, described
from gradcheck_ref.check.probe import Probe
from gradcheck_ref.check.structure import Inputs, Part


@dataclass(frozen=True)
class Fault:
    """Something wrong that is not a number: it fails the check whatever the entries say.

    Attributes
    ----------
    reason : str
        mutated, nondeterministic, ignores-input, shape, dtype, structure or nonfinite; wrong, for
        products that are not adjoint.
    subject : str
        The name of the input or output concerned, or ``"f"``, ``"vjp"``, ``"jvp"``, ``"grads"``.
    sentence : str
        What is wrong and what to do.
    """

    reason: str
    subject: str
    sentence: str


@dataclass
class Claims:
    """The claimed Jacobian, flat: rows are input coordinates, columns output coordinates.

    Attributes
    ----------
    matrix : ndarray, shape (inputs, outputs)
        NaN where nothing comparable was claimed.
    again : ndarray, shape (inputs, outputs)
        What was claimed when asked again after f had been called elsewhere; NaN where not asked.
    raw : dict
        For each input number, the gradients as they came, one for each column.
    unusable : dict
        For each input whose gradients cannot be compared, the reason.
    faults : list of Fault
        What else is wrong.
    asked : ndarray of bool, shape (inputs, outputs)
        What was asked for again.
    """

    matrix: Array
    again: Array
    raw: dict[int, list[Any]] = field(default_factory=dict)
    unusable: dict[int, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    asked: Array = field(init=False)

    def __post_init__(self) -> None:
        """Nothing has been asked for again yet."""
        self.asked = np.zeros(self.matrix.shape, bool)

    @classmethod
    def none(cls, probe: Probe, columns: int | None = None) -> "Claims":
        """Claims of nothing, about all outputs or so many of them."""
        shape = (probe.x.size, probe.here.size if columns is None else columns)
        return cls(
            np.full(shape, np.nan), np.full(shape, np.nan), {k: [] for k in probe.inputs.parts}
        )

    def fault(self, reason: str, subject: str, sentence: str) -> None:
        """Note a fault, once."""
        new = Fault(reason, subject, sentence)
        if new not in self.faults:
            self.faults.append(new)


def from_gradients(probe: Probe, grads: Any) -> Claims:
    """Read the gradients of a scalar function, given in the structure of the inputs."""
    claims = Claims.none(probe)
    given = _call(probe, claims, grads, "grads") if callable(grads) else grads
    claims.matrix[:, 0] = _column(probe, claims, given, "grads")
    return claims


def ask_gradients_again(probe: Probe, claims: Claims, grads: Any) -> None:
    """Call the gradient a second time, after f was called at other points."""
    if callable(grads):
        _column_again(probe, claims, _call(probe, claims, grads, "grads"), 0, "grads")


def from_vjp(probe: Probe, vjp: Callable[..., Any]) -> Claims:
    """Ask a vjp for the gradient of every output coordinate."""
    claims = Claims.none(probe)
    for column in range(probe.here.size):
        claims.matrix[:, column] = pulled(probe, claims, vjp, _one_hot(probe.here.size, column))
    return claims


def ask_vjp_again(probe: Probe, claims: Claims, vjp: Callable[..., Any]) -> None:
    """Ask the vjp a second time, after f was called at other points, for two of its columns.

    The last one too: state may be kept for each output by itself.
    """
    for column in _first_and_last(probe.here.size):
        upstream = probe.outputs.unflat(_one_hot(probe.here.size, column))
        _column_again(probe, claims, _call(probe, claims, vjp, "vjp", upstream), column, "vjp")


def from_jvp(probe: Probe, jvp: Callable[..., Any]) -> Claims:
    """Ask a jvp for the derivative of all outputs along every input coordinate."""
    claims = Claims.none(probe)
    for row in range(probe.x.size):
        claims.matrix[row] = pushed(probe, claims, jvp, _one_hot(probe.x.size, row))
    return claims


def ask_jvp_again(probe: Probe, claims: Claims, jvp: Callable[..., Any]) -> None:
    """Ask the jvp a second time, after f was called at other points, for two of its rows."""
    for row in _first_and_last(probe.x.size):
        claims.again[row] = pushed(probe, claims, jvp, _one_hot(probe.x.size, row))
        claims.asked[row] = True


def _first_and_last(size: int) -> list[int]:
    return sorted({0, size - 1}) if size else []


def _one_hot(size: int, place: int) -> Array:
    return np.asarray(np.eye(1, size, place)[0])


def pulled(probe: Probe, claims: Claims, vjp: Callable[..., Any], upstream: Array) -> Array:
    """Call the vjp with a flat upstream gradient, and return the flat gradient."""
    given = _call(probe, claims, vjp, "vjp", probe.outputs.unflat(upstream))
    return _column(probe, claims, given, "vjp")


def pushed(probe: Probe, claims: Claims, jvp: Callable[..., Any], tangent: Array) -> Array:
    """Call the jvp with a flat tangent, and return the flat derivative; NaN if it does not fit."""
    given = _call(probe, claims, jvp, "jvp", _tangent(probe, tangent))
    try:
        derivative: Array = probe.outputs.derivative(given)
        return derivative
    except ValueError as error:
        reason, sentence = "shape", f"jvp must return what f returns, but gives {error}"
    except TypeError as error:
        reason, sentence = "dtype", str(error)
    claims.unusable.update(dict.fromkeys(probe.inputs.parts, reason))
    claims.fault(reason, "jvp", sentence)
    return np.full(probe.here.size, np.nan)


def _tangent(probe: Probe, coordinates: Array) -> Any:
    """Arrange a flat tangent as the inputs are: one array, or a tuple for several inputs."""
    tangents = [
        probe.inputs.parts[k].array(coordinates[probe.inputs.parts[k].stretch])
        if k in probe.inputs.parts
        else np.zeros(np.shape(value))
        for k, value in enumerate(probe.inputs.values)
    ]
    return tangents[0] if len(tangents) == 1 else tuple(tangents)


def _call(probe: Probe, claims: Claims, function: Any, who: str, *first: Any) -> Any:
    """Call grads, vjp or jvp at x, and note it if it writes to what it is given."""
    values = probe.inputs.copies()
    before = [np.array(array) for array in _arrays(first)]
    try:
        given = probe.inputs.call(function, values, *first)
    except BaseException as error:
        error.add_note(f"in gradcheck_ref, calling {who} at x")
        raise
    name = probe.inputs.changed(values)
    if name:
        written = f"its input {name}"
    elif not all(map(np.array_equal, before, _arrays(first))):
        written = {"vjp": "upstream", "jvp": "its tangent"}[who]
    else:
        return given
    claims.fault(
        "mutated",
        who,
        f"{who} writes to {written}: whoever uses that array next gets other numbers; "
        "work on a copy",
    )
    return given


def _arrays(first: tuple[Any, ...]) -> list[Any]:
    """List the arrays of an upstream gradient or a tangent."""
    return [array for one in first for array in (one if isinstance(one, tuple) else (one,))]


def _column(probe: Probe, claims: Claims, given: Any, who: str) -> Array:
    """Return gradients of all inputs as a flat column; NaN, and a fault, where they do not fit."""
    column = np.full(probe.x.size, np.nan, probe.x.dtype)
    for k, gradient in _by_input(probe, claims, given, who).items():
        part = probe.inputs.parts[k]
        claims.raw[k].append(gradient)
        reason, sentence = _why_not(gradient, part, who)
        if reason:
            claims.unusable[k] = reason
            claims.fault(reason, part.name, sentence)
        else:
            column[part.stretch] = part.flat(gradient, probe.x.dtype)
    return column


def _column_again(probe: Probe, claims: Claims, given: Any, number: int, who: str) -> None:
    """Keep a second answer; what did not fit the first time needs no second fault."""
    second = Claims.none(probe, columns=0)
    claims.again[:, number] = _column(probe, second, given, who)
    claims.asked[:, number] = True
    for k, reason in second.unusable.items():
        name = probe.inputs.names[k]
        if k not in claims.unusable:
            sentence = next(f.sentence for f in second.faults if f.reason == reason)
            claims.fault("nondeterministic", name, f"at the second call {sentence}")
            claims.asked[probe.inputs.parts[k].stretch, number] = False


def _by_input(probe: Probe, claims: Claims, given: Any, who: str) -> dict[int, Any]:
    """Sort gradients by input number; note a fault where the structure does not fit."""
    inputs = probe.inputs
    wanted = list(inputs.parts)
    found: dict[int, Any] = {}
    if isinstance(given, Mapping):
        if inputs.by_name:
            found = {k: given[inputs.keys[k]] for k in wanted if inputs.keys[k] in given}
            strange = [key for key in given if key not in inputs.keys]
            if strange:
                claims.fault(
                    "structure",
                    who,
                    f"{who} gives a gradient for {', '.join(map(repr, strange))}, "
                    f"which is no input; the inputs are {', '.join(map(repr, inputs.keys))}",
                )
    elif len(wanted) == 1 and not _one_for_each(given, inputs):
        found = {wanted[0]: given}
    elif isinstance(given, tuple | list):
        if len(given) == len(inputs.values):
            found = {k: given[k] for k in wanted}
        elif len(given) == len(wanted):
            found = dict(zip(wanted, given, strict=True))
    missing = [k for k in wanted if found.get(k) is None]
    for k in missing:
        found.pop(k, None)
        claims.unusable[k] = "structure"
    if missing:
        claims.fault("structure", *_what_is_missing(inputs, missing, given, who))
    return {k: _copy(gradient) for k, gradient in found.items()}


def _one_for_each(given: Any, inputs: Inputs) -> bool:
    """Whether a sequence holds one gradient for each input, rather than the numbers of one."""
    if not isinstance(given, tuple | list):
        return False
    if inputs.single:
        return isinstance(given, tuple) and not (len(given) > 1 and all(map(np.isscalar, given)))
    return len(given) in (1, len(inputs.values))


def _what_is_missing(inputs: Inputs, missing: list[int], given: Any, who: str) -> tuple[str, str]:
    """Return whom a missing gradient concerns, and the sentence about it."""
    names = ", ".join(inputs.names[k] for k in missing)
    if len(inputs.parts) == 1:
        wanted = f"an array of shape {inputs.parts[missing[0]].shape}"
    elif inputs.by_name:
        wanted = f"a mapping with the keys {', '.join(repr(inputs.keys[k]) for k in inputs.parts)}"
    else:
        wanted = f"one array for each of the {len(inputs.values)} inputs, in the same order"
    got = described(given)
    if isinstance(given, tuple | list):
        got = f"a {type(given).__name__} of {len(given)}"
    elif isinstance(given, Mapping):
        got = f"a mapping with the keys {', '.join(map(repr, given)) or 'of nothing'}"
    return names, f"{who} gives no gradient for {names}: it must give {wanted}, not {got}"


def _copy(gradient: Any) -> Array:
    """Return our own copy, for a vjp may hand out the same buffer every time; NaN where masked."""
    if isinstance(gradient, np.ma.MaskedArray) and gradient.dtype.kind in "fc":
        gradient = gradient.filled(np.nan)
    try:
        return np.array(gradient)
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
