"""The check itself: evidence against claims, from the first call of f to the report."""

from collections.abc import Callable

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.claims import Claims
from gradcheck_ref.check.evidence import NOISE_UNITS, Evidence
from gradcheck_ref.check.knobs import Knobs
from gradcheck_ref.check.probe import Probe
from gradcheck_ref.check.progress import Progress
from gradcheck_ref.check.report import Report
from gradcheck_ref.check.search import FAIL, gather
from gradcheck_ref.check.verdict import SKIPPED, UNSURE, Pair, Tolerance, reasons

# Where f has a derivative the slopes add up, but for their error bars, the curvature and the noise;
# this share of them is for what these miss.
TIE = 1e-3

# Most coordinates are settled by 6 evaluations, doubtful ones by 12.
EVALUATIONS_EACH = 12


def examine(probe: Probe, claims: Claims, ask_again: Callable[[], None], knobs: Knobs) -> Report:
    """Gather evidence, judge every entry, ask for the claims once more, and report."""
    tolerance = Tolerance(probe, claims.matrix, knobs.rtol, knobs.atol)
    probe.listen_to_each_input(claims.matrix, knobs.max_evaluations)
    rows = _rows_within(probe, knobs)
    with Progress(len(rows), 6 * len(rows), probe.seconds) as progress:
        evidence, rows, confirmed = gather(
            probe, tolerance, rows, claims.matrix, knobs.max_evaluations, progress.tick
        )
    probe.forward()
    with np.errstate(invalid="ignore"):
        verdict, allowed = tolerance(evidence)
    unconfirmed = (verdict == FAIL) & ~confirmed & np.isfinite(claims.matrix)
    verdict[unconfirmed] = UNSURE
    skipped = np.ones(len(verdict), bool)
    skipped[rows] = False
    verdict[skipped] = SKIPPED
    reason = reasons(probe, evidence, verdict, claims.matrix)
    reason[unconfirmed & (reason == "kink")] = "noise"  # the one trial was sharp enough, and alone
    tied = verdict == FAIL
    tied &= _tied(probe, evidence, skipped) & np.isfinite(claims.matrix)
    verdict[tied], reason[tied] = UNSURE, "kink"

    if probe.mutated:
        claims.fault(
            "mutated",
            "f",
            f"f writes to its input {probe.mutated}: whoever uses that array next gets other "
            "numbers; work on a copy",
        )
    ask_again()
    _compare_again(probe, claims, allowed)
    _note_ignored(probe, claims, evidence, verdict, reason, skipped)
    pairs = []
    for number, (k, source) in enumerate(probe.inputs.parts.items()):
        for target in probe.outputs.parts.values():
            block = np.s_[source.stretch, target.stretch]
            unusable = claims.unusable.get(k)
            if unusable:
                verdict[block] = np.where(verdict[block] == SKIPPED, SKIPPED, FAIL)
                reason[block] = unusable
            pairs.append(
                Pair(
                    input=source,
                    output=target,
                    x=probe.x[source.stretch],
                    analytic=None if unusable else claims.matrix[block],
                    again=None if unusable else claims.again[block],
                    raw=claims.raw[k][target.stretch],
                    numeric=evidence.value[block],
                    error=evidence.error[block],
                    allowed=allowed[block],
                    step=evidence.step[block],
                    verdict=verdict[block],
                    reason=reason[block],
                    noisy_alone=probe.noisy_alone(number, target.stretch),
                )
            )
    return Report(
        pairs=tuple(pairs),
        faults=tuple(claims.faults),
        rtol=knobs.rtol,
        atol=knobs.atol,
        seed=knobs.seed,
        evaluations=probe.evaluations,
        noise=float(probe.noise.max(initial=0.0)),
    )


def _rows_within(probe: Probe, knobs: Knobs) -> Array:
    """All coordinates, or as many of every input, drawn at random, as the evaluations allow."""
    size = probe.x.size
    if knobs.max_evaluations is None:
        return np.arange(size)
    affordable = max(1, (knobs.max_evaluations - probe.evaluations) // EVALUATIONS_EACH)
    if affordable >= size:
        return np.arange(size)
    rng = np.random.default_rng(knobs.seed)
    drawn = []
    for part in probe.inputs.parts.values():
        count = min(part.size, max(1, round(affordable / size * part.size)))
        drawn.append(part.start + rng.choice(part.size, count, replace=False))
    return np.sort(np.concatenate(drawn))


def _tied(probe: Probe, evidence: Evidence, skipped: Array) -> Array:
    """Whether f moves otherwise along all inputs at once than the slopes along each add up to.

    It has no derivative there, though it may have one along every axis: three equal numbers have a
    median that moves only when two of them do.
    """
    if skipped.any():
        return np.zeros(probe.here.shape, bool)
    way, (here, next_to, beyond, *_) = probe.line
    with np.errstate(invalid="ignore", over="ignore"):
        missing = np.abs(next_to - here - way @ evidence.value)
        curvature = 2 * np.abs(beyond - 2 * next_to + here)
        bar = np.abs(way) @ evidence.error + curvature + 4 * NOISE_UNITS * probe.noises[-1]
        off = missing > bar + TIE * (np.abs(way) @ np.abs(evidence.value))
    return np.asarray(off & (probe.noises[0] <= probe.quiet))  # of noise the line tells nothing


def _compare_again(probe: Probe, claims: Claims, allowed: Array) -> None:
    """Fault a claim that is another one when asked again, by more than is allowed."""
    with np.errstate(invalid="ignore"):
        moved = np.abs(claims.again - claims.matrix)
    differs = claims.asked & np.isfinite(claims.matrix) & ~(moved <= allowed)
    for part in probe.inputs.parts.values():
        where = np.argwhere(differs[part.stretch])
        if len(where):
            i, j = where[0]
            first, second = claims.matrix[part.start + i, j], claims.again[part.start + i, j]
            claims.fault(
                "nondeterministic",
                part.name,
                f"the gradient of {part.entry(int(i))} was {first:.6g} at the first call and "
                f"{second:.6g} at the second: it is random, or keeps state between calls (a buffer "
                "that adds up, a cache of another point)",
            )


def _note_ignored(
    probe: Probe, claims: Claims, evidence: Evidence, verdict: Array, reason: Array, skipped: Array
) -> None:
    """Fault an f that never changes with inputs whose gradient is claimed not to be zero."""
    unmoved = evidence.flat & ~evidence.moved
    ignored = []
    for part in probe.inputs.parts.values():
        rows = part.stretch
        looked = ~skipped[rows]
        fails = (verdict[rows] == FAIL) & np.isfinite(claims.matrix[rows])
        if looked.any() and unmoved[rows][looked].all() and fails.any():
            reason[rows][fails] = "ignores-input"
            ignored.append(part.name)
    if not ignored:
        return
    names = ", ".join(ignored[:-1]) + (" or " if len(ignored) > 1 else "") + ignored[-1]
    word = ignored[0] if ignored[0].isidentifier() else "W"
    claims.fault(
        "ignores-input",
        names,
        f"f gave the same value however {names} was moved, but the gradient is claimed not to be "
        f"zero. Does f read {word} from somewhere else, such as the params of a model? Then hand "
        f"it over, as in f = lambda {word}: loss({{**params, '{word}': {word}}}). If not, f is "
        "flat here: a dead unit, a clipped or a rounded value; then the gradient is zero",
    )
