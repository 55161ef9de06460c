"""The sentences about the gradient of each input as a whole."""

import math
from collections.abc import Container, Iterator
from typing import Any

from gradcheck_ref.check.report.text import listed, rounded_up, short
from gradcheck_ref.check.results import FAIL, PASS, UNSURE, Whole
from gradcheck_ref.check.words import setting

# The order of the inputs tells where a mistake begins if there are so many wrong ones, and right
# ones.
SEVERAL = 2


def as_share(value: float) -> str:
    """Write a part of the whole: in percent, or as a small number."""
    return f"{short(100 * value, 2 if value >= 0.1 else 1)} %" if value >= 1e-3 else short(value)


def as_bound(value: float) -> str:
    """Write a part of the whole that is not exceeded: rounded up."""
    return as_share(rounded_up(value, 2 if value >= 0.1 else 1))


def worst_whole(report: Any) -> Whole:
    """Return the result for the input with the largest limit, of those that pass as a whole."""
    return max(_passing(report), key=lambda one: one.limit)


def _passing(report: Any) -> list[Whole]:
    return [one for one in report.inputs if one.code == PASS and not one.zero]


def zeros(report: Any, code: int) -> Iterator[tuple[str, str, str]]:
    """Say which gradients are 0 as far as f shows, how far that is, and what to do about it."""
    found = [one for one in report.inputs if one.zero and one.code == code]
    if found:
        most, names = max(one.limit for one in found), [one.name for one in found]
        said = f"the gradient of {listed(names)} is zero within {as_bound(most)} of that of "
        said += "another input, the smallest that is right, so it has no relative error"
        quoted = ", ".join(f'"{name}"' for name in names) + "," * (len(names) == 1)
        yield said, "", f"{setting('constant', f'({quoted})')}, or compute f in float64"


def what_could_hide(report: Any) -> str:
    """Say how many entries could be wrong unseen, in the input where these are most."""
    one = max(_passing(report), key=lambda one: one.hidden)
    where = f" of {one.name}" if len(report.inputs) > 1 else ""
    hides = "noise hides the errors of single entries"
    if report.digits:
        hides = f"no value of f has more than {report.digits} digits, too few for single entries"
    most = _most(one)
    if not most:
        return f"{hides}; a typical entry{where} that is lost would show, but a small one would not"
    return f"{hides}; up to {most:,} of {one.entries:,} typical entries{where} could be lost unseen"


def could_hide(one: Whole) -> str:
    """Count the entries of typical size that could be lost unseen, in a few words."""
    most = _most(one)
    return f"{most:,} of {one.entries:,} typical entries could hide" if most else "none could hide"


def _most(one: Whole) -> int:
    return math.ceil(min(one.hidden, one.entries)) if one.hidden >= 1 else 0


def in_the_table(report: Any) -> Iterator[str]:
    """Yield the numbers of each input that lines have measured as a whole."""
    for one in report.inputs:
        if one.lines and math.isfinite(one.error) and not one.zero:
            said = f"{one.name} as a whole: off by {as_share(one.error)} +- "
            said += f"{as_share(one.spread)}, "
            if one.code != FAIL:
                said += f"surely below {as_bound(one.limit)}, {could_hide(one)}; "
            yield f"{said}allowed {as_share(one.allowed)}"


def too_far_off(one: Whole) -> str:
    """Say how far the gradient of an input is off, and what is allowed."""
    off = f"{one.name}: the gradient is off by {as_share(one.error)} +- {as_share(one.spread)}"
    return f"{off} of its length, and {as_share(one.allowed)} is allowed"


def inputs_as_a_whole(report: Any) -> str:
    """List how far the gradient of each input is off, the wrong ones first.

    One with a claim that is NaN or infinite is off by no number.
    """
    endless = {found.subject for found in report.diagnoses if found.kind == "nonfinite"}
    names: dict[int, list[str]] = {FAIL: [], PASS: [], UNSURE: []}
    for one in report.inputs:
        off = f" is off by {as_share(one.error)}" if math.isfinite(one.error) else " is wrong"
        to = f" to {as_bound(one.limit)}" if one.limit < math.inf else ""
        more = {FAIL: off, PASS: to, UNSURE: _within(one)}
        if one.zero:
            more = dict.fromkeys(names, f", which is zero within {as_bound(one.limit)}")
        if one.code != UNSURE or one.name not in endless:
            names[one.code].append(one.name + more[one.code])
    heads = {FAIL: "", PASS: "right {} ", UNSURE: "unsure {} "}
    said = (
        heads[code].format("are" if len(of_code) > 1 else "is") + listed(of_code)
        for code, of_code in names.items()
        if of_code
    )
    return f"as a whole: {'; '.join(said)}"


def not_known(report: Any, moving: Container[str]) -> Iterator[str]:
    """Name those inputs that pass, but are unsure as a whole, of the ones with a gradient."""
    found = [one for one in report.inputs if one.code == UNSURE and one.name in moving]
    if found:
        names = listed(one.name + _within(one) for one in found)
        yield f"note: not known to be right as a whole: {names}"


def _within(one: Whole) -> str:
    if one.error - one.spread > one.allowed:
        off = f"{as_share(one.error)} +- {as_share(one.spread)}"
        return f" (perhaps off by {off}, and {as_share(one.allowed)} is allowed)"
    return f" (within {as_bound(one.limit)})" if one.limit < 1 and not one.zero else ""


def where_it_begins(report: Any) -> Iterator[str]:
    """Say where a backward pass goes wrong, if all wrong inputs come before all right ones."""
    known = [one for one in report.inputs if one.code != UNSURE]
    codes = [one.code for one in known]
    wrong, right = codes.count(FAIL), codes.count(PASS)
    if min(wrong, right) >= SEVERAL and codes == [FAIL] * wrong + [PASS] * right:
        last, first = known[wrong - 1].name, known[wrong].name
        yield (
            f"the gradient is right from {first} on, and wrong from {last} on towards the input: "
            "look at the backward of what lies between"
        )
