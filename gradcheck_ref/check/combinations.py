"""Combinations of the outputs, where there are too many outputs to ask the vjp for each.

There are never more combinations than outputs. Up to as many outputs are each a combination of one:
a scalar loss of any size has one row of claims.

An error in one entry of the Jacobian hides from at most half of the combinations, just as it hides
from at most half of the lines. The check judges the combinations as if they were the outputs of f.
If one is wrong, the outputs are halved down to a wrong one.
"""

from copy import copy
from dataclasses import replace

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.claim.claims import Claims
from gradcheck_ref.check.decimals import shortest_spacing
from gradcheck_ref.check.draws import seed_of
from gradcheck_ref.check.judge.doubts import FAR
from gradcheck_ref.check.judge.evidence import axes
from gradcheck_ref.check.judge.localise import MORE_LINES
from gradcheck_ref.check.judge.steps import settled
from gradcheck_ref.check.judge.survey import Findings
from gradcheck_ref.check.judge.together import LINES
from gradcheck_ref.check.measure.ladder import Table
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.check.measure.witness import read
from gradcheck_ref.check.results import FAIL
from gradcheck_ref.structure.units import output_weights

# The vjp is called for each output up to this many outputs, or this many entries of the Jacobian;
# beyond them, for random combinations of the outputs, or for each if that is less.
OUTPUTS_EACH, DENSE = 1024, 2**18


def too_many(ask: Ask) -> bool:
    """Tell whether there are too many outputs to ask for each."""
    return ask.here.size > OUTPUTS_EACH or ask.inputs.size * ask.here.size > DENSE


def combined(noise: Noise) -> Noise:
    """Replace the outputs by random combinations of them: each is measured in its own unit."""
    ask, outputs = noise.ask, noise.ask.here.size
    line = Line(ask.inputs, 0, ask.inputs.size, seed_of(noise.seed, "outputs"))
    ask.try_many(line)
    if outputs <= LINES:
        return _mixed(noise, np.eye(outputs))
    moved = np.nan_to_num(np.abs(ask.many([(line, FAR)])[0] - ask.here))
    unit = output_weights(moved)
    rng = np.random.default_rng(seed_of(noise.seed, "combinations"))
    signs = rng.integers(0, 2, (LINES, outputs)) == 1
    ask.forward()  # the vjp is called next, and may need a call of f at x before it
    return _mixed(noise, np.where(signs, -unit, unit))


def _mixed(noise: Noise, mix: Array) -> Noise:
    """Return the noise of combinations of the outputs, with no further evaluation.

    ``mix`` has the shape (combinations, outputs). The result asks f for the combinations, too.
    """
    ask = copy(noise.ask)
    ask.mix, ask.here, ask.first = mix, mix @ ask.here, mix @ ask.first
    ask.nondeterminism = np.abs(mix) @ ask.nondeterminism
    new = Noise(ask, noise.seed)
    # Combinations hide that f has few digits. So many values do not fit a short format by chance.
    values = noise.ask.here[np.isfinite(noise.ask.here)]
    new.short |= np.unique(values).size > 8 and shortest_spacing(values) > np.finfo(float).eps
    noise.notice(noise.ask.here[None])
    new.inherited = np.sqrt(mix**2 @ noise.spacing**2)
    # The rounding of a sum is that of its largest terms.
    size = np.abs(mix) @ (noise.eps * np.abs(noise.ask.here))
    with np.errstate(divide="ignore", invalid="ignore"):
        new.eps = np.fmax(size / np.abs(ask.here), noise.eps.max(initial=0.0))
    return new


def by_output(findings: Findings, ask: Ask) -> Findings:
    """Judge the wrong outputs themselves, if combinations of them are wrong.

    ``ask`` calls f for the outputs themselves. If there is no wrong output, the combinations are
    reported.
    """
    evidence, question = findings.on_axes, findings.on_axes.question
    wrong = np.flatnonzero((evidence.ruling.verdict == FAIL).any(axis=1))
    wrong = wrong[: min(MORE_LINES, max(0, question.affordable - 1))]
    if not (question.ask.combines and wrong.size):
        return findings
    single, rows = Noise(ask, question.seed), evidence.rows[wrong]
    along = [evidence.lines[row] for row in wrong.tolist()]
    table = Table(ask, along)
    wanted = table.window(evidence.best.start[wrong].max(axis=1))
    table, _ = table.asked(wanted)
    slopes = read(table, single).slope[0]
    ask.forward()  # the vjp is called next
    each = zip(rows.tolist(), np.nan_to_num(slopes), strict=True)
    columns = {_halve(question.claims, row, numeric) for row, numeric in each}
    one_by_one = np.zeros((len(columns), ask.here.size))
    one_by_one[np.arange(len(columns)), sorted(columns)] = 1
    noise = _mixed(single, one_by_one)
    noise.fly(few=True)
    claims = question.claims.of(noise.ask).fill()
    instead = replace(question, ask=noise.ask, noise=noise, claims=claims, scale_of_claims=0.0)
    found = settled(axes(instead, rows))
    if not (found.ruling.verdict == FAIL).any():
        return findings  # halving can go wrong if errors cancel
    return findings._replace(on_axes=found)


def _halve(claims: Claims, row: int, numeric: Array) -> int:
    """Halve the outputs down to one with a wrong derivative by a coordinate of the inputs.

    ``numeric`` has the measured derivatives, (outputs,). Cost: one vjp for each halving.
    """
    signs = np.where(np.random.default_rng(0).integers(0, 2, numeric.size) == 0, -1.0, 1.0)

    def off(stretch: Array) -> float:
        upstream = np.zeros(numeric.size)
        upstream[stretch] = signs[stretch]
        return float(claims.product(upstream)[row] - upstream @ numeric)

    stretch = np.arange(numeric.size)
    total = off(stretch)
    while stretch.size > 1:
        first, second = np.array_split(stretch, 2)
        ours = off(first)
        is_first = abs(ours) >= abs(total - ours)
        stretch, total = (first, ours) if is_first else (second, total - ours)
    return int(stretch[0])
