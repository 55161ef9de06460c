"""The cases of the zoo in other units, and what the reports on them tell.

A case in other units is a case again, so that one function checks them all.
"""

import functools
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gradcheck_ref import check_gradient, check_vjp
from gradcheck_ref.check.results import VERDICTS

# Numbers, arrays, tuples.


def is_floating(x):
    return np.asarray(x).dtype.kind in "fc"


def each_part(change, value):
    """Change a number, an array, or each part of a tuple; None stands for no gradient."""
    if isinstance(value, tuple | list):
        return tuple(each_part(change, part) for part in value)
    return None if value is None else change(value)


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def is_scalar(case):
    value = case.f(*case.inputs)
    return not isinstance(value, tuple) and np.ndim(value) == 0 and not np.iscomplexobj(value)


# Units.


class Units(NamedTuple):
    """The units c of x and d of f, as they are written and as numbers."""

    name: str
    c: float
    d: float


def units_of(written):
    """Return all pairs of these units, without that of 1 and 1, where nothing changes."""
    pairs = [(c, d) for c in written for d in written if (written[c], written[d]) != (1, 1)]
    return [Units(f"c={c}-d={d}", written[c], written[d]) for c, d in pairs]


def in_units(case, units):
    """Return x -> f(c x) / d at the point x / c, where every claim is c / d times what it was."""

    def claim(vjp):
        return functools.wraps(vjp)(
            lambda u, *x: times(units.c / units.d, at_multiple(units.c, x, lambda *cx: vjp(u, *cx)))
        )

    @functools.wraps(case.f)
    def f(*x):
        return times(1 / units.d, at_multiple(units.c, x, case.f))

    return replace(
        case,
        f=f,
        inputs=tuple(x / units.c if is_floating(x) else x for x in case.inputs),
        vjp=claim(case.vjp),
        bugs=tuple(replace(bug, vjp=claim(bug.vjp)) for bug in case.bugs),
    )


def times(factor, value):
    return each_part(lambda part: part * factor, value)


def at_multiple(c, inputs, function):
    """Call a function at c x; what it writes to its inputs, which is a bug, reaches x."""
    multiples = [np.asarray(x * c) if is_floating(x) else x for x in inputs]
    before = [np.copy(x) for x in multiples]
    value = function(*multiples)
    for x, now, was in zip(inputs, multiples, before, strict=True):
        if now is not x and not np.array_equal(now, was, equal_nan=True):
            x[...] = now / c
    return value


# Checks.


def checked(case, vjp):
    """Check a claim as a user would: a scalar function with `check_gradient`."""
    inputs = case.inputs if len(case.inputs) > 1 else case.inputs[0]
    if is_scalar(case):
        return check_gradient(case.f, inputs, lambda *x: vjp(1.0, *x))
    return check_vjp(case.f, inputs, vjp)


# Entries whose errors exceed what is allowed by almost the same multiple: rounding decides which of
# them is the worst.
AS_BAD = 0.99


# These mistakes are recognised by a factor such as x, 1 / x or 2. In other units of x it is another
# number, so that another mistake may be named, or none.
A_NUMBER = {"inner-factor", "local-derivative"}


class Told(NamedTuple):
    """What a report tells: its verdict, the entries that it names, and the likely mistakes."""

    verdict: str
    reason: str
    entries: frozenset[str]
    worst: frozenset[str]
    diagnoses: frozenset[tuple[str, str]]

    def __str__(self):
        return f"{self.verdict}/{self.reason}"


def told(report):
    entries = [
        report.entry(pair, row, column)
        for pair in report.comparable
        for row, column in np.ndindex(pair.verdict.shape)
        if VERDICTS[int(pair.verdict[row, column])] == report.verdict != "pass"
    ]
    largest = max((entry.ratio for entry in entries), default=0.0)
    return Told(
        report.verdict,
        report.reason,
        frozenset(entry.name for entry in entries),
        frozenset(entry.name for entry in entries if not entry.ratio < AS_BAD * largest),
        frozenset((diagnosis.kind, diagnosis.subject) for diagnosis in report.diagnoses),
    )


def differences(here, there):
    """Say where two reports differ, and no more once the verdict or the entries do.

    The worst entry counts only in a refusal: elsewhere its error is rounding.
    """
    if here.verdict != there.verdict:
        return ["verdict"]
    if here.entries != there.entries:
        return ["entries " + some_of(here.entries ^ there.entries)]
    found, both = [], here.diagnoses | there.diagnoses
    if here.diagnoses != there.diagnoses and not any(kind in A_NUMBER for kind, _ in both):
        kinds = {f"{kind} of {subject}" for kind, subject in here.diagnoses ^ there.diagnoses}
        found.append("diagnosis " + some_of(kinds))
    if here.verdict == "fail" and here.entries and here.worst.isdisjoint(there.worst):
        found.append("worst entry " + some_of(there.worst))
    return found


def opposites(here, there):
    """Say where one report passes and the other fails."""
    return ["verdict"] if {here.verdict, there.verdict} == {"pass", "fail"} else []


def some_of(names):
    """Name two, and the number of the others."""
    first, others = sorted(names)[:2], len(names) - 2
    return ", ".join(first) + (f" and {others} more" if others > 0 else "")
