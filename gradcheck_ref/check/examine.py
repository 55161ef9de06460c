"""The steps of a check in order, from the first call of f to the report. No rule is here."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, as_function
from gradcheck_ref.check.call.ask import Probe
from gradcheck_ref.check.call.crew import Crew
from gradcheck_ref.check.claim.claims import Claims
from gradcheck_ref.check.claim.identities import NOT_ADJOINT, Identities
from gradcheck_ref.check.hides import audit
from gradcheck_ref.check.hides.code import has_branches
from gradcheck_ref.check.judge.certificate import LINES
from gradcheck_ref.check.judge.doubts import tied, weigh_own_rounding
from gradcheck_ref.check.judge.settle import Case, Evidence
from gradcheck_ref.check.judge.survey import Findings, Survey, budget, usual_cost
from gradcheck_ref.check.judge.tolerance import Tolerance
from gradcheck_ref.check.knobs import RTOL, Knobs
from gradcheck_ref.check.measure.lines import RandomLine, random_signs
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.check.report.report import Report
from gradcheck_ref.check.results import FAIL, PASS, UNSURE, Pair
from gradcheck_ref.check.words import words
from gradcheck_ref.structure.inputs import Inputs

# The vjp is called for each output up to this many outputs, or this many entries of the Jacobian;
# beyond them, for random combinations of the outputs.
OUTPUTS_EACH, DENSE = 1024, 2**18

# A step, relative to x, that shows how f changes when all entries of an input move.
FAR = 2.0**-3


def examine(
    f: Callable[..., Any],
    inputs: Any,
    knobs: Knobs,
    who: str,
    given: Any,
    vjps: Callable[..., Any] | None = None,
    other: Callable[..., Any] | None = None,
    sure: bool = True,
) -> Report:
    """Check a claim.

    Parameters
    ----------
    f, inputs : callable, and any
        The function and the point, as the caller gave them.
    knobs : Knobs
        The tolerances, the budget, the seed, and the workers.
    who, given : str and any
        The name of the claim, which is "vjp", "jvp" or the argument of gradients; and the claim.
    vjps : callable, optional
        Computes the vjp for several upstream gradients at once.
    other : callable, optional
        The other product, for the adjoint identity.
    sure : bool
        Whether the caller gave ``other``. If False, it is an attribute of f, and may raise
        NotImplementedError.
    """
    known, named = _notes_of(as_function(f, "f")), Inputs(f, inputs)
    with ExitStack() as context:
        if hasattr(f, "while_checked"):  # f may keep something for as long as a check runs
            context.enter_context(f.while_checked())
        crew = context.enter_context(Crew(knobs.workers, knobs.progress))
        probe = Probe(f, named, crew)
        if who not in ("vjp", "jvp") and not probe.outputs.scalar:
            raise ValueError(
                "f must return one real number for check_gradient; if it returns an array, a tuple "
                "or a complex number, use check_vjp"
            )
        # One call of f is needed before the claims are asked for again.
        most = budget(probe.x.size, knobs.max_evaluations) - 1
        crew.progress.total = int(min(most, usual_cost(probe.x.size)))
        noise = Noise(probe, knobs.seed, most)
        single = probe, noise
        if who == "vjp":
            probe, noise = _combined(probe, noise, knobs.seed)
        claims = Claims(probe, who, given)
        if who != "jvp":
            claims.fill(vjps)
        exact = RTOL if knobs.rtol is None else knobs.rtol  # identities hold up to rounding
        if other is not None:
            second = Claims(probe, "jvp" if who == "vjp" else "vjp", other, claims)
            with nullcontext() if sure else suppress(NotImplementedError):
                Identities(claims, exact, noise, knobs.seed).adjoint(second)
        case = Case(
            probe=probe,
            noise=noise,
            claims=claims,
            tolerance=Tolerance(named, probe.outputs, probe.here.size, knobs.rtol, knobs.atol),
            seed=knobs.seed,
            most=most,
            limited=knobs.max_evaluations is not None,
            demanded=knobs.rtol is not None or knobs.atol is not None,
        )
        survey = Survey(case, replace(case, probe=single[0], noise=single[1]))
        findings = survey.explore()
        probe.forward()
        if probe.mutated:
            claims.writes("f", f"its input {probe.mutated}")
        claims.ask_again(case.tolerance.rtol, knobs.atol or 0.0)
        identities = None
        if who in ("vjp", "jvp"):
            identities = Identities(claims, exact, noise, knobs.seed)
            identities.linear()
        reason = _reasons(findings.looked)
        if other is not None:
            _name_wrong_product(claims, findings)
        pairs = tuple(_pairs(case, findings, reason))
        notes = *_notes(probe, claims), *(n for n in _notes_of(f) if n not in known)
        report = Report(
            pairs=pairs,
            faults=tuple(claims.faults),
            rtol=case.tolerance.rtol,
            atol=knobs.atol,
            seed=knobs.seed,
            evaluations=probe.evaluations,
            noise=noise.typical,
            certificate=findings.certificate,
            notes=notes,
            digits=probe.digits,
            point=probe.x,
            branches=has_branches(f),
        )
        if audit.asserted is not None and report.verdict != "fail":
            evidence = [findings.looked, *survey.agreeing]
            report = replace(report, planted=audit.plant(f, case, evidence, identities))
        return report


def _combined(probe: Probe, noise: Noise, seed: int) -> tuple[Probe, Noise]:
    """Replace the outputs by random combinations of them, if there are too many.

    An error in one entry of the Jacobian hides from at most half of the combinations, just as it
    hides from at most half of the lines. Each output is measured in its own unit.
    """
    size, outputs = probe.x.size, probe.here.size
    if outputs <= OUTPUTS_EACH and size * outputs <= DENSE:
        return probe, noise
    line = RandomLine(probe.units, (seed, 0), 0, size)
    moved = np.nan_to_num(np.abs(probe.many([(line, FAR)])[0] - probe.here))
    typical = np.median(moved[moved > 0]) if (moved > 0).any() else 1.0
    unit = typical / np.fmax(moved, typical)
    signs = random_signs((seed, 1), 0, LINES * outputs).reshape(LINES, outputs)
    probe.forward()  # the vjp is called next, and may need a call of f at x before it
    combined = probe.combined(np.where(signs, -unit, unit))
    return combined, noise.combined(combined)


def _reasons(evidence: Evidence) -> Array:
    """Settle the verdicts that need more than slopes along lines; return the reasons of all."""
    if (evidence.ruling.verdict == FAIL).any():
        weigh_own_rounding(evidence)
    verdict, reason = evidence.ruling.verdict, evidence.reasons()
    nowhere = ~np.isfinite(evidence.case.probe.here)
    verdict[:, nowhere], reason[:, nowhere] = UNSURE, "nonfinite"
    wrong = (verdict == FAIL) & np.isfinite(evidence.claimed)
    if wrong.any():
        otherwise = tied(evidence)
        why = np.where(evidence.claimed == 0, "stairs", "kink")
        verdict[otherwise], reason[otherwise] = UNSURE, why[otherwise]
        _note_ignored(evidence, reason)
    return reason


def _note_ignored(evidence: Evidence, reason: Array) -> None:
    """Report a fault if f never changes with an input whose claimed gradient is not zero."""
    case, unmoved, ignored = evidence.case, evidence.unmoved, []
    fails = (evidence.ruling.verdict == FAIL) & np.isfinite(evidence.claimed)
    for part in case.probe.inputs.parts.values():
        mine = part.holds(evidence.rows)
        if not (fails[mine].any() and unmoved[mine].all()):
            continue
        # All entries together may change f, as only the largest changes a max.
        line = RandomLine(case.probe.units, (case.seed,), part.start, part.start + part.size)
        if not case.affordable or (case.probe.many([(line, FAR)]) != case.probe.here).any():
            continue
        reason[mine] = np.where(fails[mine], "ignores-input", reason[mine])
        ignored.append(part.name)
    if not ignored:
        return
    names = " or ".join(ignored)
    word = ignored[0] if ignored[0].isidentifier() else "W"
    elsewhere = words(
        f"such as the params of a model? Then pass it to f, as in f = lambda {word}: "
        f"loss({{**params, '{word}': {word}}})",
        "and not from the point that it is sent? Then take it from there",
    )
    case.claims.fault(
        "ignores-input",
        names,
        f"f did not change when {names} was moved, but the claimed gradient is not zero. Does f "
        f"read {word} from somewhere else, {elsewhere}. If not, f is flat here "
        "(a dead unit, a clipped or a rounded value), and the gradient is zero",
    )


def _name_wrong_product(claims: Claims, findings: Findings) -> None:
    """If the adjoint identity fails, say which of the two products disagrees with the numbers."""
    verdict, certificate = findings.looked.ruling.verdict, findings.certificate
    if (verdict == FAIL).any():
        blame = f". The measured slopes disagree with {claims.who}"
    elif (verdict == PASS).all() and (certificate.verdict == PASS if certificate else verdict.size):
        blame = f". The measured slopes agree with {claims.who}, so the error is in "
        blame += "vjp" if claims.by_rows else "jvp"
    else:
        return
    for k, fault in enumerate(claims.faults):
        if fault.subject == NOT_ADJOINT:
            claims.faults[k] = replace(fault, sentence=fault.sentence + blame)


def _pairs(case: Case, findings: Findings, reason: Array) -> Iterator[Pair]:
    """Arrange the findings in one pair for each input and output."""
    probe, claims, looked = case.probe, findings.claims, findings.looked
    verdict, at, again = looked.ruling.verdict, looked.best, claims.again(looked.rows)
    nowhere = ~np.isfinite(probe.here).all()
    for k, source in probe.inputs.parts.items():
        mine = source.holds(looked.rows) & (looked.reached | nowhere)
        unusable = case.claims.unusable.get(k)
        for target, stretch, columns in findings.outputs:
            block = mine, stretch
            if unusable:
                verdict[block], reason[block] = FAIL, unusable
            whole = None if unusable else claims.matrix
            yield Pair(
                input=source,
                output=target,
                rows=looked.rows[mine] - source.start,
                columns=columns,
                x=probe.x[looked.rows[mine]],
                claim=None if whole is None else whole[source.stretch, stretch],
                analytic=None if unusable else looked.claimed[block],
                again=None if unusable else again[block],
                raw=claims.raw[k][stretch],
                numeric=at.slope[block],
                error=at.bar[block],
                allowed=looked.ruling.allowed[block],
                step=at.step[block],
                verdict=verdict[block],
                reason=reason[block],
            )


def _notes_of(f: Callable[..., Any]) -> list[str]:
    """Return the notes of a function that is computed by a program, on any trouble there.

    Only such a function has ``at_places``. Other functions may use the name ``notes`` freely.
    """
    return list(getattr(f, "notes", ())) if hasattr(f, "at_places") else []


def _notes(probe: Probe, claims: Claims) -> Iterator[str]:
    """Yield what a reader has to know about the check, whatever the verdict."""
    if left_out := probe.outputs.left_out:
        yield (
            f"{' and '.join(left_out)} {'is' if len(left_out) == 1 else 'are'} left out: f gives "
            "no gradient there, perhaps because it is detached or marked as not differentiable"
        )
    if none := [probe.inputs.names[k] for k in claims.none if k not in claims.unusable]:
        yield (
            f"{claims.who} gives None for {' and '.join(none)}, which means a constant: "
            "the check takes this as a gradient of zeros"
        )
    for (given, wanted), names in claims.short.items():
        yield (
            f"the derivative for {' and '.join(names)} is {given}, which holds "
            f"{np.finfo(given).precision} digits, not {wanted}"
        )
    if probe.outside:
        # The smallest one is the same for any number of workers.
        yield (
            f"f raised {min(probe.outside)}: the check takes this as a point outside the domain "
            "of f, like NaN"
        )
