"""Pairs of which few entries were looked at, and certificates for the others, made by hand."""

import math
from dataclasses import replace

import numpy as np

from gradcheck_ref.check import Report
from gradcheck_ref.check.results import FAIL, PASS, UNSURE, Certificate, Given, Pair, Results
from gradcheck_ref.structure.parts import Part

F64 = np.dtype(float)
OUTPUT = Part("output", (), F64, 0)


def pair_of(name, truth, claim, rows, *, output=OUTPUT, start=0, jvp=False, bar=1e-12, **other):
    """Return a pair that looked at some rows of an input: truth and claim in its shape.

    With several outputs, truth and claim have a last axis more, of all their coordinates.
    """
    truth, claim = np.asarray(truth), np.asarray(claim)
    shape = truth.shape if output is OUTPUT else truth.shape[:-1]
    part = Part(name, shape, truth.dtype if output is OUTPUT else F64, start)
    full = [
        (part.flat(np.asarray(a, part.dtype), F64) if output is OUTPUT else a).reshape(
            part.size, output.size
        )
        for a in (truth, claim)
    ]
    rows = np.asarray(rows, int)
    if part.is_complex:
        rows = np.stack([2 * rows, 2 * rows + 1], axis=1).reshape(-1)
    numeric, analytic = full[0][rows], full[1][rows]
    allowed = 1e-6 * (np.abs(numeric) + 1e-4 * np.abs(full[0]).max(initial=0.0))
    wrong = ~(np.abs(analytic - numeric) <= allowed)
    made = Pair(
        input=part,
        output=output,
        rows=rows,
        columns=np.arange(output.size),
        analytic=analytic,
        numeric=numeric,
        error=np.full(numeric.shape, bar),
        allowed=allowed,
        step=np.full(numeric.shape, 1e-3),
        verdict=np.where(wrong, FAIL, PASS),
        reason=np.where(wrong, "wrong", "ok").astype("<U16"),
        given=Given(
            x=np.linspace(0.5, 2.0, part.size)[rows],
            point=np.linspace(0.5, 2.0, part.size),
            claim=full[1],
            again=np.full(numeric.shape, np.nan),
            raw=[] if jvp else [c.reshape(shape) for c in claim.reshape(-1, output.size).T],
        ),
    )
    return replace(made, **other)


def certified(entries, vouched=None, **other):
    """Return a certificate of 20 lines for so many entries."""
    vouched = entries if vouched is None else vouched
    fields = {"lines": 20, "upstreams": 0, "within": 2e-8, "chance": 2.0**-20, "rtol": 1e-6}
    return Certificate(**fields | {"entries": entries, "vouched": vouched, "verdict": PASS} | other)


def report_of(pairs, certificate=None, **other):
    """Return the report of some pairs."""
    numbers = {"rtol": 1e-6, "atol": None, "seed": 0, "evaluations": 759, "noise": 1e-16}
    return Report(Results(tuple(pairs), certificate), (), **numbers | other)


G = np.random.default_rng(5).normal(size=(100, 104))
B = np.linspace(-1.0, 1.3, 5)


def changed(gradient, index, value):
    gradient = gradient.copy()
    gradient[index] = value
    return gradient


SOME = np.arange(0, 10400, 520)


def two(claim=G, rows=SOME):
    return [pair_of("W", G, claim, rows), pair_of("b", B, B, range(5), start=G.size)]


CERTIFIED = {
    "pass": lambda: report_of(two(), certified(10380)),
    "pass, by lines only": lambda: report_of(two(rows=[])[:1], certified(10400)),
    "pass, outputs combined": lambda: report_of(two(), certified(10380, upstreams=40)),
    "pass, not all vouched for": lambda: report_of(
        two(), certified(10380, 9000, within=3e-7, rtol=8.3e-5)
    ),
    "few lines, which fit": lambda: report_of(
        two(), certified(10380, 0, lines=1, chance=0.5, verdict=UNSURE)
    ),
    "few lines, one does not fit": lambda: report_of(
        two(),
        certified(10380, 0, lines=4, chance=2.0**-4, verdict=UNSURE, against=(7.5, 2.5, 2e-9)),
    ),
    "pass, nothing known of the others": lambda: report_of(two()),
    "precision": lambda: report_of(
        two(), certified(10380, 9000, within=3e-7, rtol=8.3e-5, verdict=UNSURE)
    ),
    "precision, few digits": lambda: report_of(
        two(), certified(10380, 9000, within=3e-7, rtol=8.3e-5, verdict=UNSURE), digits=6
    ),
    "precision, no rtol will do": lambda: report_of(
        two(), certified(10380, 0, within=math.inf, rtol=math.inf, verdict=UNSURE)
    ),
    "precision and kink": lambda: report_of(
        [
            replace(p, verdict=np.full(p.verdict.shape, UNSURE), reason=np.full((5, 1), "kink"))
            if p.input.name == "b" else p
            for p in two()
        ],
        certified(10380, 10379, verdict=UNSURE, rtol=2e-6),
    ),
    "fail": lambda: report_of(two(changed(G, (5, 0), 9.0)), certified(10380)),
    "fail, others held to less": lambda: report_of(
        two(changed(G, (5, 0), 9.0)), certified(10380, 9000, verdict=UNSURE)
    ),
    "fail, nothing known of the others": lambda: report_of(two(3 * G)),
}  # fmt: skip
