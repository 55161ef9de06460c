"""The steps of a check in order, from the first call of f to the report. No rule is here."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gradcheck_ref.check.call.ask import Ask, asking
from gradcheck_ref.check.call.budget import Budget
from gradcheck_ref.check.claim.alone import GradientAlone
from gradcheck_ref.check.claim.claims import Claims, Product
from gradcheck_ref.check.claim.company import company_of
from gradcheck_ref.check.claim.identities import Identities
from gradcheck_ref.check.claim.jacobian import JacobianClaims
from gradcheck_ref.check.combinations import by_output, combined, too_many
from gradcheck_ref.check.hides.audit import plant
from gradcheck_ref.check.hides.blind import Viewpoint
from gradcheck_ref.check.hides.code import has_branches
from gradcheck_ref.check.hides.running import auditing
from gradcheck_ref.check.judge.doubts import weigh_doubts
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.survey import Findings, budget, explore, usual_cost
from gradcheck_ref.check.judge.verdicts import results_of
from gradcheck_ref.check.judge.whole import ROUNDINGS, has_few_digits, rounded_claims
from gradcheck_ref.check.knobs import Knobs, default_rtol
from gradcheck_ref.check.measure.noise import QUIETLY, Noise
from gradcheck_ref.check.report.report import Report
from gradcheck_ref.check.report.text import short, tidy
from gradcheck_ref.check.results import Fault, Results
from gradcheck_ref.check.words import words

# A constant is large if it is more than LARGE times what f changes by over the size of x. It
# matters if that change is less than so many roundings of f: a slope from steps of a hundredth of x
# needs a million for four digits. With fewer than SEEN of them, f may not have changed at all.
LARGE, VISIBLE, SEEN = 100.0, 1e6, 4.0


def examine(f: Callable[..., Any], inputs: Any, knobs: Knobs, product: Product) -> Report:
    """Examine a gradient, or another product, that somebody claims to be the derivative of f.

    Parameters
    ----------
    f, inputs : callable, and any
        The function and the point, as the caller gave them.
    knobs : Knobs
        The tolerances, the budget, the seed, the workers, and the constants.
    product : Product
        The claim.
    """
    with asking(f, inputs, knobs, product.pairs) as ask:
        question = _question(ask, product, knobs)
        findings = by_output(explore(question), ask)  # measured, and judged by `judge.rule`
        _ask_again(question, product, knobs.nondet_tol)
        findings = weigh_doubts(question, findings)
        results = results_of(question, findings)
        report = _report(f, question, findings, results)
        spent = ask.budget.limited and not ask.budget.left
        if knobs.company and report and not spent:
            report = _in_company(report, question, product, knobs)
        return report


def _question(ask: Ask, product: Product, knobs: Knobs) -> Question:
    """Ask for the claims, and put the question."""
    alone = _with_a_number(ask, product) if product.of_number else None
    given = alone.given if alone else product.given
    # One call of f is needed before the claims are asked for again.
    most = budget(ask.inputs.size, knobs.max_evaluations) - 1
    ask.budget = Budget(ask.progress, most, limited=knobs.max_evaluations is not None)
    ask.progress.total = min(most, usual_cost(ask.inputs.size))
    noise = Noise(ask, knobs.seed)
    if product.who in ("vjp", "jacobian") and too_many(ask):
        noise = combined(noise)
    kind = JacobianClaims if product.who == "jacobian" else Claims
    claims = kind(noise.ask, product.who, given)
    if product.who != "jvp":
        claims.fill(product.vjps)
    return Question(
        ask=noise.ask,
        noise=noise,
        claims=claims,
        rtol=default_rtol(ask.precision) if knobs.rtol is None else knobs.rtol,
        atol=knobs.atol,
        seed=knobs.seed,
        demanded=knobs.rtol is not None or knobs.atol is not None,
        alone=alone,
    )


def _with_a_number(ask: Ask, product: Product) -> GradientAlone:
    """Return the claim about a function of one number, which may return it with its gradient."""
    if product.who == "f" and not ask.outputs.paired:
        raise TypeError(
            f"{words('grads', 'gradient')} is missing: give the gradient, or a function that "
            "returns it, or let f return (value, gradient)"
        )
    if not ask.outputs.scalar:
        raise ValueError(
            "f must return one real number for check_gradient, or (value, gradient) with a "
            "gradient arranged as the inputs are; if it returns an array, a tuple or a complex "
            "number, use check_vjp"
        )
    return GradientAlone(ask, product.who, product.given)


def _ask_again(question: Question, product: Product, nondet_tol: float | None) -> None:
    """Ask for the claims again, after f was called elsewhere; products also for random vectors."""
    ask, claims = question.ask, question.claims
    ask.forward()
    if ask.mutated:
        claims.writes("f", f"its input {ask.mutated}")
    claims.ask_again(question.rtol, question.atol or 0.0, nondet_tol)
    if claims.who in ("vjp", "jvp"):
        # Now it is known how much of f is rounding.
        Identities(claims, question.rtol, question.noise, question.seed).test(product)


def _in_company(report: Report, question: Question, product: Product, knobs: Knobs) -> Report:
    """Ask for a right vjp again in circumstances that must not matter."""
    if question.ask.elsewhere:
        question.ask.forward()
    change = question.rtol if knobs.nondet_tol is None else knobs.nondet_tol
    if has_few_digits(question):  # a backward in 16 bits rounds otherwise in another layout
        change = max(change, ROUNDINGS * float(question.rounding_of_claims.max()))
    everything = knobs.company == "all"
    found = company_of(question.claims, product, question.seed, change, everything)
    faults = (Fault("company", product.who, found.fault),) if found.fault else ()
    notes = (*report.notes, *filter(None, [found.note]))
    calls = question.ask.evaluations
    return replace(report, faults=faults, notes=notes, company=found.tried, evaluations=calls)


def _report(
    f: Callable[..., Any], question: Question, findings: Findings, results: Results
) -> Report:
    ask, noise = question.ask, question.noise
    notes = [*_notes(ask, question.claims, question.alone)]
    if few := rounded_claims(question, results.inputs):
        notes.append(
            f"{question.claims.who} for {' and '.join(few)} is off by about "
            f"{tidy(f'{max(few.values()):.0e}')} of its length, because it is computed in fewer "
            "digits than f, as in TF32 on a GPU"
        )
    report = Report(
        results=results,
        faults=tuple(question.claims.faults),
        rtol=question.rtol,
        atol=question.atol,
        seed=question.seed,
        evaluations=ask.evaluations,
        noise=noise.typical,
        notes=(*notes, *getattr(f, "notes_of_check", ())),
        digits=noise.digits,
        viewpoint=Viewpoint(ask.inputs.x, has_branches(f)),
    )
    # Taken for noise in float64, its rounding hides single entries, and few mistakes are named.
    if report.verdict != "pass" and (noise.short & (noise.eps == np.finfo(np.float32).eps)).any():
        report = replace(report, notes=(_in_float32(), *report.notes))
    if constant := _constant(noise) if report.verdict == "unsure" else "":
        report = replace(report, notes=(constant, *report.notes))
    if auditing() and report.verdict != "fail":
        report = replace(report, planted=plant(f, findings))
    return report


def _in_float32() -> str:
    """Say that f computes in float32, and how to let the check know."""
    dtype = words(
        "pass the inputs as float32, and let f return float32",
        'give the inputs and the output the "dtype": "float32"',
    )
    said = "all values of f are float32 numbers, but the dtype of its inputs has more digits: "
    return f"{said}{dtype}. Then the check takes fewer evaluations, and names more mistakes"


@QUIETLY
def _constant(noise: Noise) -> str:
    """Say that a large constant in f uses its digits up, if rounding is all of its noise."""
    here, slopes = np.abs(noise.ask.here), np.abs(noise.pilots.slope)
    change = slopes.max(axis=0, initial=0.0, where=np.isfinite(slopes))
    if not change.any():
        return ""
    one = int(np.argmax(np.where(change > 0, here / change, 0.0)))
    rounding = float(noise.eps[one] * here[one])
    large = LARGE * change[one] <= here[one]
    large &= SEEN * rounding < change[one] <= VISIBLE * rounding
    if not large or noise.level[one] > rounding:
        return ""
    return (
        f"f is {short(here[one], 3)}, and changes by about {short(change[one])} while x changes by "
        f"its own size, which is {short(change[one] / rounding)} times the rounding of f. Does f "
        "add a large constant? Leave it out: the gradient is the same"
    )


def _notes(ask: Ask, claims: Claims, alone: GradientAlone | None) -> Iterator[str]:
    """Yield what a reader has to know about the check, whatever the verdict."""
    if left_out := ask.outputs.left_out:
        yield (
            f"{' and '.join(left_out)} {'is' if len(left_out) == 1 else 'are'} left out: f gives "
            "no gradient there, perhaps because it is detached or marked as not differentiable"
        )
    if none := [ask.inputs.names[k] for k in claims.none if k not in claims.unusable]:
        yield (
            f"{claims.who} gives None for {' and '.join(none)}, which means a constant: "
            "the check takes this as a gradient of zeros"
        )
    for (given, digits, wanted), names in claims.short.items():
        yield (
            f"the derivative for {' and '.join(names)} is {given}, which holds {digits} digits, "
            f"not {wanted}"
        )
    if claims.change and not claims.random:
        yield (
            f"two calls of {claims.who} differ by up to {tidy(f'{claims.change:.0e}')} of its "
            "largest entry, as sums in another order do"
            f"{words('; nondet_tol= limits how much', '')}"
        )
    yield from alone.notes() if alone else ()
    for kind in sorted({error.split()[0] for error in ask.outside}):
        # The smallest one is the same for any number of workers.
        first = min(error for error in ask.outside if error.split()[0] == kind)
        yield (
            f"f raised {first}: the check takes this as a point outside the domain of f, like NaN"
        )
