"""The order of events in a check, from the first call of f to the report; it decides nothing."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.certificate import LINES
from gradcheck_ref.check.judge.claims import Claims
from gradcheck_ref.check.judge.doubts import tied, weigh_own_rounding
from gradcheck_ref.check.judge.evidence import Case, Evidence
from gradcheck_ref.check.judge.identities import NOT_ADJOINT, Identities
from gradcheck_ref.check.judge.pair import FAIL, PASS, UNSURE, Pair
from gradcheck_ref.check.judge.survey import Seen, Survey, budget, usual_cost
from gradcheck_ref.check.judge.tolerance import Tolerance
from gradcheck_ref.check.knobs import Knobs, default_rtol
from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.crew import Crew
from gradcheck_ref.check.measure.lines import RandomLine, random_signs
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.check.measure.progress import Progress
from gradcheck_ref.check.report.report import Report
from gradcheck_ref.check.words import words
from gradcheck_ref.structure import Inputs, Part

# Up to so many outputs are asked for one by one, more in random combinations; and so many entries
# of a claimed Jacobian are held.
OUTPUTS_EACH, DENSE = 1024, 2**18

# An f that does not change as all entries of an input move by so much of their sizes ignores it.
FAR_AND_NEAR = 2.0**-3, 2.0**-10


class Examination:
    """A function at a point, its noise, and how much of it is to be asked.

    Parameters
    ----------
    context : ExitStack
        Where those are let go who call f, and tell how far they are.
    f : callable
        The function. It is called at the point, and for its noise.
    inputs : any
        The point, as the caller gave it.
    knobs : Knobs
        The tolerances, the budget, the seed, and who calls f.
    """

    def __init__(
        self, context: ExitStack, f: Callable[..., Any], inputs: Any, knobs: Knobs
    ) -> None:
        self.f, self.knobs, self.before = f, knobs, _notes_of(f)
        named = Inputs(f, inputs)
        if hasattr(f, "while_checked"):  # what f keeps for a check it keeps no longer
            context.enter_context(f.while_checked())
        progress = context.enter_context(Progress(knobs.progress))
        crew = context.enter_context(Crew(knobs.workers))
        self.probe = probe = Probe(f, named, crew, progress)
        size = probe.x.size
        # f is called once more before the claims are asked for again.
        self.most = budget(size, knobs.max_evaluations) - 1
        progress.expect(int(min(self.most, usual_cost(size))), probe.seconds)
        self.noise = Noise(probe, knobs.seed, self.most)
        self.single = probe, self.noise
        self.eps = float(probe.eps.max(initial=0.0))
        self.rtol = default_rtol(self.eps) if knobs.rtol is None else knobs.rtol

    def forward(self) -> None:
        """Call f at x, where the claims are asked next; a difference is noise, too."""
        self.probe.forward()

    def combine_outputs(self) -> None:
        """Ask for random combinations of the outputs, where there are too many of them.

        An error of one entry of the Jacobian hides from half of the combinations at most, as it
        does from half of the lines. Every output counts in its own unit.
        """
        size, outputs = self.probe.x.size, self.probe.here.size
        if outputs <= OUTPUTS_EACH and size * outputs <= DENSE:
            return
        line = RandomLine(self.probe.units, (self.knobs.seed, 0), 0, size)
        moved = np.nan_to_num(np.abs(self.probe.many([(line, 2.0**-10)])[0] - self.probe.here))
        typical = np.median(moved[moved > 0]) if (moved > 0).any() else 1.0
        unit = typical / np.fmax(moved, typical)
        signs = random_signs((self.knobs.seed, 1), 0, LINES * outputs).reshape(LINES, outputs)
        self.forward()
        self.probe = self.probe.combined(np.where(signs, -unit, unit))
        self.noise = self.noise.combined(self.probe)

    def report(self, claims: Claims, identities: Identities | None = None) -> Report:
        """Measure, judge, ask for the claims once more, and report."""
        knobs, probe = self.knobs, self.probe
        case = Case(
            probe=probe,
            noise=self.noise,
            claims=claims,
            tolerance=Tolerance(
                probe.inputs, probe.outputs, probe.here.size, self.rtol, knobs.atol, self.eps
            ),
            seed=knobs.seed,
            most=self.most,
            limited=knobs.max_evaluations is not None,
            demanded=knobs.rtol is not None or knobs.atol is not None,
        )
        single = case
        if probe.mix is not None:
            single = replace(case, probe=self.single[0], noise=self.single[1])
        seen = Survey(case, single).look_around()
        probe.forward()
        if probe.mutated:
            claims.writes("f", f"its input {probe.mutated}")
        claims.ask_again()
        if identities is not None:
            identities.linear()
        return self._written(case, seen)

    def _written(self, case: Case, seen: Seen) -> Report:
        """Put everything that was found into a report."""
        probe, noise, claims, looked = case.probe, case.noise, case.claims, seen.looked
        if seen.claims is claims and (looked.ruling.verdict == FAIL).any():
            weigh_own_rounding(looked)
        verdict = looked.ruling.verdict
        reason = looked.reasons()
        if seen.claims is claims:
            nowhere = ~np.isfinite(probe.here)
            if nowhere.any():
                verdict[:, nowhere], reason[:, nowhere] = UNSURE, "nonfinite"
            wrong = (verdict == FAIL) & np.isfinite(looked.claimed)
            if wrong.any():
                otherwise = tied(looked) & wrong
                why = np.where(looked.claimed == 0, "stairs", "kink")
                verdict[otherwise], reason[otherwise] = UNSURE, why[otherwise]
            _compare_again(claims, looked)
            _refuse_none(claims, looked)
            _note_ignored(claims, looked, reason)
        self._blame(claims, seen)
        return Report(
            pairs=tuple(self._pairs(claims, seen, reason)),
            faults=tuple(claims.faults),
            rtol=self.rtol,
            atol=self.knobs.atol,
            seed=case.seed,
            evaluations=probe.evaluations,
            noise=noise.typical,
            certificate=seen.certificate,
            notes=(*_notes(probe, claims), *(n for n in _notes_of(self.f) if n not in self.before)),
            digits=probe.digits,
        )

    def _blame(self, claims: Claims, seen: Seen) -> None:
        """Say of two products that do not fit which of them the numbers speak against."""
        unfit = [k for k, fault in enumerate(claims.faults) if fault.subject == NOT_ADJOINT]
        if not unfit:
            return
        verdict, certificate = seen.looked.ruling.verdict, seen.certificate
        asked, other = claims.product, "jvp" if claims.product == "vjp" else "vjp"
        whole = certificate is None or certificate.verdict == PASS
        if (verdict == FAIL).any():
            blame = f". The numbers speak against {asked}"
        elif verdict.size + (certificate is not None) and whole and (verdict == PASS).all():
            blame = f". The numbers agree with {asked}, and so speak against {other}"
        else:
            return
        for k in unfit:
            fault = claims.faults[k]
            claims.faults[k] = replace(fault, sentence=fault.sentence + blame)

    def _pairs(self, claims: Claims, seen: Seen, reason: Array) -> list[Pair]:
        """Sort what was looked at by inputs and outputs."""
        probe, looked = self.probe, seen.looked
        verdict, at = looked.ruling.verdict, looked.best
        again = seen.claims.again(looked.rows)
        nowhere = ~np.isfinite(probe.here).all()
        pairs = []
        for k, source in probe.inputs.parts.items():
            mine = source.holds(looked.rows) & (looked.reached | nowhere)
            unusable = claims.unusable.get(k)
            for target, stretch, columns in seen.outputs:
                block = np.flatnonzero(mine)[:, None], np.arange(verdict.shape[1])[stretch]
                if unusable:
                    verdict[block], reason[block] = FAIL, unusable
                whole = seen.claims.matrix
                pair = Pair(
                    input=source,
                    output=target,
                    rows=looked.rows[mine] - source.start,
                    columns=columns,
                    x=probe.x[looked.rows[mine]],
                    claim=None if whole is None else whole[source.stretch, stretch],
                    analytic=looked.claimed[block],
                    again=again[block],
                    raw=seen.claims.raw[k][stretch],
                    numeric=at.slope[block],
                    error=at.bar[block],
                    allowed=looked.ruling.allowed[block],
                    step=at.step[block],
                    verdict=verdict[block],
                    reason=reason[block],
                )
                if unusable:
                    pair = replace(pair, claim=None, analytic=None, again=None)
                pairs.append(pair)
        return pairs


def _notes_of(f: Callable[..., Any]) -> list[str]:
    """Return the notes of a function that is worked out elsewhere, and may have had trouble there.

    As with ``at_places``, another function's attribute of this name is its own affair.
    """
    return list(getattr(f, "notes", ())) if hasattr(f, "at_places") else []


def _notes(probe: Probe, claims: Claims) -> Iterator[str]:
    """Say what a reader has to know of what was checked, and how, whatever came of it."""
    if left_out := probe.outputs.left_out:
        are, them = ("is", "it") if len(left_out) == 1 else ("are", "them")
        yield (
            f"{' and '.join(left_out)} {are} left out: f gives no gradient for {them}, as where it "
            "is detached or marked as not differentiable"
        )
    if none := [probe.inputs.names[k] for k in claims.none if k not in claims.unusable]:
        yield (
            f"{next(iter(claims.none.values()))} gives None for {' and '.join(none)}, which stands "
            "for a constant: it was taken for a gradient of zeros"
        )
    for (given, wanted), names in claims.short.items():
        yield (
            f"the derivative for {' and '.join(names)} comes as {given}, which holds "
            f"{np.finfo(given).precision} digits, and not as {wanted}"
        )
    if probe.work.outside:
        # Whoever calls f, the same one is told.
        yield (
            f"f raised {min(probe.work.outside)}, and that is taken for the outside of its domain, "
            "as NaN would be"
        )


def _compare_again(claims: Claims, looked: Evidence) -> None:
    """Fault the first entry of each input that is too much another one when asked again."""
    for row, column, first, second in claims.twice:
        most = np.full(first.shape, 1e-6 * np.nanmax(np.abs(first), initial=0.0))
        if row is None:
            most[looked.rows] = looked.ruling.allowed[:, column]
        elif row in looked.rows:
            most = looked.ruling.allowed[looked.rows == row][0]
        with np.errstate(invalid="ignore"):
            changed = np.flatnonzero(np.isfinite(first) & ~(np.abs(second - first) <= most))
        told = set()
        for place in changed.tolist():
            k, within = claims.probe.inputs.locate(place if row is None else row)
            if k in told:
                continue
            told.add(k)
            part = claims.probe.inputs.parts[k]
            calls, why = ("at the first call", "at the second"), ""
            if claims.together:
                calls, why = ("from f.vjps", "from f.vjp"), "the two do not agree, or "
            claims.fault(
                "nondeterministic",
                part.name,
                f"the gradient of {part.entry(within)} was {first[place]:.6g} {calls[0]} "
                f"and {second[place]:.6g} {calls[1]}: {why}it is random, or keeps state "
                "between calls (a buffer that adds up, a cache of another point)",
            )


def _refuse_none(claims: Claims, looked: Evidence) -> None:
    """Fault None for an input where the numbers speak against zeros."""
    for k in claims.none:
        mine = claims.probe.inputs.parts[k].holds(looked.rows)
        if (looked.ruling.verdict[mine] == FAIL).any():
            claims.refuse_none(k)


def _ignores(looked: Evidence, part: Part, mine: Array) -> bool:
    """Tell whether f ignores an input of which some entries were looked at, and did not move it.

    The others might, as the largest of all entries moves their maximum.
    """
    if np.count_nonzero(mine) == part.size:
        return True
    if not looked.case.affordable:
        return False
    probe = looked.case.probe
    line = RandomLine(probe.units, (looked.case.seed,), part.start, part.start + part.size)
    return bool((probe.many([(line, step) for step in FAR_AND_NEAR]) == probe.here).all())


def _note_ignored(claims: Claims, looked: Evidence, reason: Array) -> None:
    """Fault an f that never changes with inputs whose gradient is claimed not to be zero."""
    verdict, ignored = looked.ruling.verdict, []
    if not (verdict == FAIL).any():
        return
    unmoved = looked.unmoved
    for part in claims.probe.inputs.parts.values():
        mine = part.holds(looked.rows)
        fails = (verdict[mine] == FAIL) & np.isfinite(looked.claimed[mine])
        if mine.any() and unmoved[mine].all() and fails.any() and _ignores(looked, part, mine):
            reason[mine] = np.where(fails, "ignores-input", reason[mine])
            ignored.append(part.name)
    if not ignored:
        return
    names = ", ".join(ignored[:-1]) + (" or " if len(ignored) > 1 else "") + ignored[-1]
    word = ignored[0] if ignored[0].isidentifier() else "W"
    elsewhere = words(
        f"such as the params of a model? Then hand it over, as in f = lambda {word}: "
        f"loss({{**params, '{word}': {word}}})",
        "and not from the point that it is sent? Then take it from there",
    )
    claims.fault(
        "ignores-input",
        names,
        f"f gave the same value however {names} was moved, but the gradient is claimed not to be "
        f"zero. Does f read {word} from somewhere else, {elsewhere}. If not, f is "
        "flat here: a dead unit, a clipped or a rounded value; then the gradient is zero",
    )
