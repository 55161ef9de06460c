"""The heart of torch's ``gradcheck``: compare claimed slopes with differences of func.

Slow mode compares every entry of the Jacobian J, ``|analytic - numeric| <= atol + rtol *
|numeric|``.

Fast mode compares one number for each output and input, ``v . (J u)`` with random u and v; for a
jvp the vector ``J u``. If every entry of J may be off by ``atol``, the number may be off by ``atol
* sum(u) * sum(v)``, since no entry of u or v is negative. An error that cancels along u is missed.
"""

from dataclasses import dataclass, replace

import numpy as np

from gradcheck_ref.arguments import Array, index_text
from gradcheck_ref.compat.torch.calls import Calls, GradcheckError
from gradcheck_ref.compat.torch.jacobian import (
    axes,
    by_vjp,
    entries,
    gradient_of_part,
    jvp_along,
    jvp_jacobian,
    numeric_along,
    numeric_jacobian,
    one_hot,
)
from gradcheck_ref.stage4_allclose import Comparison, allclose

# The parts of an output, in torch's order, with the cotangent that picks each; a real output has
# only the last. A complex input is moved along the same numbers.
PARTS = {"imag": 1j, "real": 1}


@dataclass(frozen=True)
class Rule:
    """The step of the differences, and the tolerances of the comparison."""

    eps: float
    rtol: float
    atol: float
    nondet_tol: float

    def compare(self, analytic: Array, numeric: Array, scale: float = 1.0) -> Comparison:
        """Compare entry by entry, with the absolute tolerance times a factor."""
        return allclose(analytic, numeric, rtol=self.rtol, atol=scale * self.atol)


class Slow:
    """Compares every entry of the Jacobians."""

    def __init__(self, calls: Calls, rule: Rule) -> None:
        self.calls, self.rule = calls, rule
        self.numeric = {k: numeric_jacobian(calls, k, rule.eps) for k in calls.checked}

    def compared(self, which: str, number: int, part: str) -> dict[int, Comparison]:
        """Compare the vjp of a part of an output, or the jvp along a part of an input.

        The result has the comparison for each checked input, or each counted output.
        """
        calls, pick = self.calls, PARTS[part]
        if which == "vjp":
            cotangents = one_hot(calls.outputs[number], pick)
            analytic = by_vjp(calls, number, cotangents, self.rule.nondet_tol)
            numeric = [gradient_of_part(self.numeric[k], number, part) for k in calls.checked]
        else:
            analytic = jvp_jacobian(calls, number, pick)
            numeric = [self.numeric[number][pick][j] for j in calls.counted]
        _, (_, _, found) = calls.sides(which)
        return dict(zip(found, map(self.rule.compare, analytic, numeric), strict=True))


class Fast:
    """Compares the Jacobians along random vectors, which are the same in every run."""

    def __init__(self, calls: Calls, rule: Rule) -> None:
        self.calls, self.rule = calls, rule
        rng = np.random.default_rng(0)
        inputs, outputs = calls.inputs, calls.outputs
        self.u = {
            k: {a: random_unit(rng, inputs[k]) for a in axes(inputs[k])} for k in calls.checked
        }
        self.v = {j: random_unit(rng, outputs[j]) for j in calls.counted}
        along = {k: numeric_along(calls, k, self.u[k], rule.eps) for k in calls.checked}
        self.numeric = {k: slopes for k, (slopes, _) in along.items()}
        # The steps are rounded, so the analytic slope is along the directions taken, not along u.
        self.taken = {k: taken for k, (_, taken) in along.items()}

    def compared(self, which: str, number: int, part: str) -> dict[int, Comparison]:
        """Compare like `Slow`, but a single number, or for a jvp a vector."""
        calls, pick, found = self.calls, PARTS[part], {}
        if which == "jvp":
            pushed = jvp_along(calls, number, pick * self.taken[number][pick])
            scale = float(self.u[number][pick].sum())
            for j, slope in zip(calls.counted, pushed, strict=True):
                found[j] = self.rule.compare(slope, self.numeric[number][pick][j], scale)
            return found
        v = self.v[number]
        cotangent = (pick * v).astype(calls.outputs[number].dtype)
        columns = by_vjp(calls, number, [(cotangent, " along v")], self.rule.nondet_tol)
        for k, flat in zip(calls.checked, columns, strict=True):
            taken, column = self.taken[k], flat[:, 0].reshape(calls.inputs[k].shape)
            analytic = np.sum(column.real * taken[1])
            if 1j in taken:
                analytic = analytic + 1j * np.sum(column.imag * taken[1j])
            numeric = gradient_of_part(self.numeric[k], number, part) @ v.reshape(-1)
            scale = float(v.sum() * sum(u.sum() for u in self.u[k].values()))
            found[k] = self.rule.compare(analytic, numeric, scale)
        return found


def random_unit(rng: np.random.Generator, like: Array) -> Array:
    """Draw an array without negative entries, of length 1; masked entries are 0."""
    drawn = np.zeros(like.shape)
    # Subtle: an entry of exactly 0 would not be checked; 1 - [0, 1) is never 0.
    drawn[~np.ma.getmaskarray(like)] = 1 - rng.random(np.ma.count(like))
    if length := np.linalg.norm(drawn.reshape(-1)):
        drawn /= length  # in place: with `/`, a 0-d array becomes a number
    return drawn


def compare(calls: Calls, rule: Rule, fast: bool) -> None:
    """Compare the slopes claimed by the vjp, the jvp or both, for every output and input."""
    _insist_on_something(calls, calls.inputs if fast else calls.moving)
    mode = Fast(calls, rule) if fast else Slow(calls, rule)
    if not calls.counted:
        _insist_on_zero(calls, mode, rule.nondet_tol if fast else 0.0)
    for which in ("vjp", "jvp"):
        (_, likes, numbers), _ = calls.sides(which)
        for part in PARTS if which in calls.functions else ():
            for number in numbers:
                if PARTS[part] in axes(likes[number]):
                    for other, comparison in mode.compared(which, number, part).items():
                        if comparison.wrong:
                            raise GradcheckError(
                                _mismatch(mode, comparison, which, number, other, part)
                            )


def _insist_on_something(calls: Calls, points: list[Array]) -> None:
    """Refuse a check that would compare nothing."""
    rows = sum(len(entries(points[k])) for k in calls.checked)
    counted = calls.counted or range(len(calls.outputs))
    columns = sum(calls.outputs[j].size for j in counted)
    if not rows * columns:
        raise ValueError(
            f"nothing to compare: the inputs have {rows} entries that can be moved, and the "
            f"outputs {columns}. An empty check is no check"
        )


def _insist_on_zero(calls: Calls, mode: Slow | Fast, limit: float) -> None:
    """Refuse integer outputs that change: without a derivative they must stay constant."""
    for k in calls.checked:
        for slopes in mode.numeric[k].values():
            for j, slope in enumerate(slopes):
                if np.max(np.abs(slope), initial=0.0) > limit:
                    raise GradcheckError(
                        f"Numerical gradient expected to be zero: {calls.name('output', j)} holds "
                        f"{calls.outputs[j].dtype} and has no derivative, but it changes with "
                        f"{calls.name('input', k)}"
                    )


def _mismatch(
    mode: Slow | Fast, comparison: Comparison, which: str, number: int, other: int, part: str
) -> str:
    """Say what differs, where, by how much, and why that may be."""
    calls = mode.calls
    (kind, likes, _), _ = calls.sides(which)
    j, k = (number, other) if which == "vjp" else (other, number)
    text = (
        f"Jacobian mismatch of {calls.name(which)} for {calls.name('output', j)} with respect to "
    )
    text += calls.name("input", k)
    if 1j in axes(likes[number]):
        text += f", {'imaginary' if part == 'imag' else part} part of the {kind}"
    if isinstance(mode, Slow):
        return f"{text}: {_entry(calls, comparison, j, k)}"
    # The test of two runs has passed; here it could only hide the mismatch.
    slow = Slow(calls, replace(mode.rule, nondet_tol=np.inf))
    again = slow.compared(which, number, part)[other]
    projection = "v . (J u)" if which == "vjp" else "J u"
    text += f", in fast mode, where {projection} is compared: {comparison}. In slow mode"
    if again.wrong:
        return f"{text}: {_entry(calls, again, j, k)}"
    return f"{text} all entries agree: pass fast_mode=False"


def _entry(calls: Calls, comparison: Comparison, j: int, k: int) -> str:
    """Say what differs in a Jacobian, which entry is the worst, and why that may be."""
    row, column = comparison.worst or (0, 0)
    x, y = calls.inputs[k], calls.outputs[j]
    text = (
        f"{comparison}. Row {row}, column {column} is "
        f"d {calls.name('output', j)}{index_text(np.unravel_index(column, y.shape))} / "
        f"d {calls.name('input', k)}{index_text(np.unravel_index(row, x.shape))}"
    )
    if not np.isfinite(comparison.numeric[row, column]):
        return f"{text}. {calls.name('func')} is not finite there: take another eps or point"
    if not comparison.numeric.any():
        return (
            f"{text}. The output does not change with {calls.name('input', k)}; if it should, "
            f"{calls.name('func')} does not use its argument: the steps are made on copies"
        )
    return text
