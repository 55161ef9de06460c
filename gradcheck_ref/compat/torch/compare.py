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

    def by_vjp(self, j: int, part: str) -> dict[int, Comparison]:
        """Compare the vjp of a part of output ``j``, for each checked input."""
        cotangents = one_hot(self.calls.outputs[j], PARTS[part])
        analytic = by_vjp(self.calls, j, cotangents, self.rule.nondet_tol)
        return {
            k: self.rule.compare(matrix, gradient_of_part(self.numeric[k], j, part))
            for k, matrix in zip(self.calls.checked, analytic, strict=True)
        }

    def by_jvp(self, k: int, part: str) -> dict[int, Comparison]:
        """Compare the jvp along a part of input ``k``, for each counted output."""
        analytic = jvp_jacobian(self.calls, k, PARTS[part])
        return {
            j: self.rule.compare(matrix, self.numeric[k][PARTS[part]][j])
            for j, matrix in zip(self.calls.counted, analytic, strict=True)
        }


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

    def by_vjp(self, j: int, part: str) -> dict[int, Comparison]:
        """Compare the vjp of a part of output ``j``, for each checked input."""
        v, found = self.v[j], {}
        cotangent = (PARTS[part] * v).astype(self.calls.outputs[j].dtype)
        columns = by_vjp(self.calls, j, [(cotangent, " along v")], self.rule.nondet_tol)
        for k, column in zip(self.calls.checked, columns, strict=True):
            taken = {axis: along.reshape(-1) for axis, along in self.taken[k].items()}
            analytic = taken[1] @ column[:, 0].real
            if 1j in taken:
                analytic = analytic + 1j * (taken[1j] @ column[:, 0].imag)
            numeric = gradient_of_part(self.numeric[k], j, part) @ v.reshape(-1)
            scale = self._sum_of_u(k) * float(v.sum())
            found[k] = self.rule.compare(analytic, numeric, scale)
        return found

    def by_jvp(self, k: int, part: str) -> dict[int, Comparison]:
        """Compare the jvp along a part of input ``k``, for each counted output."""
        axis = PARTS[part]
        analytic = jvp_along(self.calls, k, axis * self.taken[k][axis])
        scale = float(self.u[k][axis].sum())
        return {
            j: self.rule.compare(slope, self.numeric[k][axis][j], scale)
            for j, slope in zip(self.calls.counted, analytic, strict=True)
        }

    def _sum_of_u(self, k: int) -> float:
        return float(sum(u.sum() for u in self.u[k].values()))


def random_unit(rng: np.random.Generator, like: Array) -> Array:
    """Draw an array without negative entries, of length 1; masked entries are 0."""
    drawn = np.zeros(like.shape)
    # Subtle: an entry of exactly 0 would not be checked; 1 - [0, 1) is never 0.
    drawn[~np.ma.getmaskarray(like)] = 1 - rng.random(np.ma.count(like))
    if length := np.linalg.norm(drawn.reshape(-1)):
        drawn /= length  # in place: with `/`, a 0-d array becomes a number
    return drawn


def compare(calls: Calls, rule: Rule, *, backward: bool, forward: bool, fast: bool) -> None:
    """Compare the slopes claimed by the vjp, the jvp or both, for every output and input."""
    _insist_on_something(calls, calls.inputs if fast else calls.moving)
    mode = Fast(calls, rule) if fast else Slow(calls, rule)
    if not calls.counted:
        _insist_on_zero(calls, mode, rule.nondet_tol if fast else 0.0)
    for part in PARTS if backward else ():
        for j in calls.counted:
            if PARTS[part] in axes(calls.outputs[j]):
                for k, comparison in mode.by_vjp(j, part).items():
                    _insist_on_close(mode, comparison, j, k, part, "vjp")
    for part in PARTS if forward else ():
        for k in calls.checked:
            if PARTS[part] in axes(calls.inputs[k]):
                for j, comparison in mode.by_jvp(k, part).items():
                    _insist_on_close(mode, comparison, j, k, part, "jvp")


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


def _insist_on_close(
    mode: Slow | Fast, comparison: Comparison, j: int, k: int, part: str, by: str
) -> None:
    """Raise if something differs, and say where, by how much, and why that may be."""
    if not comparison.wrong:
        return
    calls = mode.calls
    split, what = (calls.outputs[j], "output") if by == "vjp" else (calls.inputs[k], "input")
    which = f" of {calls.name(by)} for {calls.name('output', j)} with respect to "
    which += calls.name("input", k)
    if 1j in axes(split):
        which += f", {'imaginary' if part == 'imag' else part} part of the {what}"
    if isinstance(mode, Slow):
        raise GradcheckError(f"Jacobian mismatch{which}: {_entry(calls, comparison, j, k)}")
    # The test of two runs has passed; here it could only hide the mismatch.
    slow = Slow(calls, replace(mode.rule, nondet_tol=np.inf))
    again = slow.by_vjp(j, part)[k] if by == "vjp" else slow.by_jvp(k, part)[j]
    projection = "v . (J u)" if by == "vjp" else "J u"
    raise GradcheckError(
        f"Jacobian mismatch{which}, in fast mode, where {projection} is compared: {comparison}. "
        + (
            f"In slow mode: {_entry(calls, again, j, k)}"
            if again.wrong
            else "In slow mode all entries agree: pass fast_mode=False"
        )
    )


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
