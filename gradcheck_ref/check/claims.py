"""What is claimed: gradients, a vjp or a jvp, as one flat matrix beside the evidence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, described
from gradcheck_ref.check.probe import Probe


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
    def none(cls, probe: Probe) -> "Claims":
        """Claims of nothing."""
        shape = (probe.x.size, probe.here.size)
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
    _read_column(probe, claims, given, 0, "grads")
    return claims


def ask_gradients_again(probe: Probe, claims: Claims, grads: Any) -> None:
    """Call the gradient a second time, after f was called at other points."""
    if callable(grads):
        _read_again(probe, claims, _call(probe, claims, grads, "grads"), 0, "grads")


def from_vjp(probe: Probe, vjp: Callable[..., Any]) -> Claims:
    """Ask a vjp for the gradient of every output coordinate."""
    claims = Claims.none(probe)
    for column in range(probe.here.size):
        given = _call(probe, claims, vjp, "vjp", probe.outputs.upstream(column))
        _read_column(probe, claims, given, column, "vjp")
    return claims


def ask_vjp_again(probe: Probe, claims: Claims, vjp: Callable[..., Any]) -> None:
    """Ask the vjp a second time for its first column, after f was called at other points."""
    if probe.here.size:
        given = _call(probe, claims, vjp, "vjp", probe.outputs.upstream(0))
        _read_again(probe, claims, given, 0, "vjp")


def from_jvp(probe: Probe, jvp: Callable[..., Any]) -> Claims:
    """Ask a jvp for the derivative of all outputs along every input coordinate."""
    claims = Claims.none(probe)
    for row in range(probe.x.size):
        _read_row(probe, claims, claims.matrix, _pushed(probe, claims, jvp, row), row)
    return claims


def ask_jvp_again(probe: Probe, claims: Claims, jvp: Callable[..., Any]) -> None:
    """Ask the jvp a second time for its first row, after f was called at other points."""
    if probe.x.size:
        _read_row(probe, claims, claims.again, _pushed(probe, claims, jvp, 0), 0)
        claims.asked[0] = True


def adjoint_identity(
    probe: Probe,
    claims: Claims,
    vjp: Callable[..., Any],
    jvp: Callable[..., Any],
    rtol: float,
    rng: np.random.Generator,
) -> None:
    """Test ``<u, J v> = <J' u, v>`` for random u and v, which is exact and takes no step."""
    u, v = rng.normal(size=probe.here.size), rng.normal(size=probe.x.size)
    pulled = Claims.none(probe)
    given = _call(probe, claims, vjp, "vjp", probe.outputs.unflat(u))
    _read_column(probe, pulled, given, 0, "vjp")
    pushed = Claims.none(probe)
    given = _call(probe, claims, jvp, "jvp", _tangent(probe, v))
    _read_row(probe, pushed, pushed.matrix, given, 0)
    for fault in (*pulled.faults, *pushed.faults):
        claims.fault(fault.reason, fault.subject, fault.sentence)
    along, back = pushed.matrix[0], pulled.matrix[:, 0]
    for who, product in (("jvp", along), ("vjp", back)):
        if not np.isfinite(product).all() and not claims.faults:
            claims.fault("nonfinite", who, f"{who} gives NaN or infinity for a random direction")
    if not (np.isfinite(along).all() and np.isfinite(back).all()):
        return
    left, right = float(u @ along), float(back @ v)
    size = float(np.abs(u) @ np.abs(along) + np.abs(back) @ np.abs(v))
    if abs(left - right) > rtol * size:
        claims.fault(
            "wrong",
            "jvp and vjp",
            f"jvp and vjp are not adjoint: <u, J v> = {left:.6g} but <J' u, v> = {right:.6g} for "
            "random u and v. No step is involved: at least one of the two is wrong",
        )


def _call(probe: Probe, claims: Claims, function: Any, who: str, *first: Any) -> Any:
    values = probe.inputs.copies()
    try:
        given = probe.inputs.call(function, values, *first)
    except BaseException as error:
        error.add_note(f"in gradcheck_ref, calling {who} at x")
        raise
    name = probe.inputs.changed(values)
    if name:
        claims.fault(
            "mutated",
            who,
            f"{who} writes to its input {name}: whoever uses that array next gets other numbers; "
            "work on a copy",
        )
    return given


def _read_column(probe: Probe, claims: Claims, given: Any, column: int, who: str) -> None:
    for k, gradient in _by_input(probe, claims, given, who).items():
        part = probe.inputs.parts[k]
        claims.raw[k].append(gradient)
        reason, sentence = _why_not(gradient, part, who)
        if reason:
            claims.unusable[k] = reason
            claims.fault(reason, part.name, sentence)
        else:
            claims.matrix[part.stretch, column] = part.flat(gradient, probe.x.dtype)


def _read_again(probe: Probe, claims: Claims, given: Any, column: int, who: str) -> None:
    for k, gradient in _by_input(probe, claims, given, who).items():
        part = probe.inputs.parts[k]
        reason, sentence = _why_not(gradient, part, who)
        if not reason:
            claims.again[part.stretch, column] = part.flat(gradient, probe.x.dtype)
        elif k not in claims.unusable:
            claims.fault("nondeterministic", part.name, f"at the second call {sentence}")
    claims.asked[:, column] = True


def _by_input(probe: Probe, claims: Claims, given: Any, who: str) -> dict[int, Any]:
    """Sort gradients by input number; note a fault where the structure does not fit."""
    inputs = probe.inputs
    wanted = list(inputs.parts)
    if isinstance(given, Mapping) and inputs.by_name:
        found = {k: given[inputs.keys[k]] for k in wanted if inputs.keys[k] in given}
    elif isinstance(given, tuple | list) and not (inputs.single and isinstance(given, list)):
        if len(given) == len(inputs.values):
            found = {k: given[k] for k in wanted}
        elif len(given) == len(wanted):
            found = dict(zip(wanted, given, strict=True))
        else:
            found = {}
    elif len(wanted) == 1:
        found = {wanted[0]: given}
    else:
        found = {}
    for k in wanted:
        if found.get(k) is None:
            found.pop(k, None)
            claims.unusable[k] = "structure"
            name = inputs.names[k]
            claims.fault(
                "structure",
                name,
                f"{who} gives no gradient for {name}: it must give "
                + (
                    "an array"
                    if len(wanted) == 1
                    else "one array for each input, in the same order"
                )
                + f", not {described(given)}",
            )
    return {k: _copy(gradient) for k, gradient in found.items()}


def _copy(gradient: Any) -> Array:
    """Return our own copy: a vjp may hand out the same buffer every time."""
    try:
        return np.array(gradient)
    except ValueError:  # a ragged list
        return np.array(None)


def _why_not(gradient: Array, part: Any, who: str) -> tuple[str, str]:
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


def _tangent(probe: Probe, coordinates: Array) -> Any:
    """Arrange a flat tangent as the inputs are: one array, or a tuple for several inputs."""
    tangents = [
        probe.inputs.parts[k].array(coordinates[probe.inputs.parts[k].stretch])
        if k in probe.inputs.parts
        else np.zeros(np.shape(value))
        for k, value in enumerate(probe.inputs.values)
    ]
    return tangents[0] if len(tangents) == 1 else tuple(tangents)


def _pushed(probe: Probe, claims: Claims, jvp: Callable[..., Any], row: int) -> Any:
    tangent = _tangent(probe, np.eye(1, probe.x.size, row)[0])
    return _call(probe, claims, jvp, "jvp", tangent)


def _read_row(probe: Probe, claims: Claims, matrix: Array, given: Any, row: int) -> None:
    try:
        matrix[row] = probe.outputs.flat(given)
    except (TypeError, ValueError) as error:
        claims.unusable.update(dict.fromkeys(probe.inputs.parts, "shape"))
        claims.fault("shape", "jvp", f"jvp must return what f returns: {error}")
