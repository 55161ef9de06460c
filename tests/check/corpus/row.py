"""A row of the corpus: a function, a point, and what a check must say of claims about its slopes.

A row has a right claim, or several, and wrong ones. Most of the wrong ones are made from the right
one by `EDITS`, and all must fail, but for those that ``hides`` names. A row says nothing of how a
check finds its verdict, so it binds any check.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from gradcheck_ref import Report, check_gradient

# What rounds to a precision, as the values of f or the operations of a layer are rounded.


def to_bfloat16(y):
    """Round to 8 bits, ties to even. The exponents of bfloat16 are those of float32."""
    bits = np.asarray(y, np.float32).view(np.uint32)
    last_kept = (bits >> 16) & 1
    return ((bits + 0x7FFF + last_kept) & 0xFFFF0000).view(np.float32)


PRECISIONS = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": lambda y: np.float32(np.float16(y)),
    "bfloat16": to_bfloat16,
}


def rounded(y, precision):
    """Round a real or complex array."""
    if np.iscomplexobj(y):
        return rounded(y.real, precision) + 1j * rounded(y.imag, precision)
    return precision(y)[()]


def each_part(change, value):
    """Change a number, an array, or each part of a tuple or list; None stands for no gradient."""
    if isinstance(value, tuple | list):
        return tuple(each_part(change, part) for part in value)
    return None if value is None else change(value)


def largest_entry(parts):
    """Return the part with the largest entry, and where that entry is."""
    sizes = [-1 if part is None else np.abs(part).max(initial=-1) for part in parts]
    part = int(np.argmax(sizes))
    return part, int(np.argmax(np.abs(parts[part])))


class OneEntry:
    """Change the largest entry of a gradient by 1 %; of other gradients of the row, the same one.

    A vjp is asked for several upstreams, and the mistake stays in its place.
    """

    def __init__(self):
        self.at = None

    def __call__(self, gradient):
        several = isinstance(gradient, tuple | list)
        parts = list(gradient) if several else [gradient]
        part, entry = self.at = self.at or largest_entry(parts)
        spoilt = np.array(parts[part], order="C")
        spoilt.reshape(-1)[entry] *= 1.01
        parts[part] = spoilt
        return tuple(parts) if several else spoilt


def rolled(part):
    return np.roll(part, 1)


# What makes a gradient wrong. Each value makes such an edit, as one of them remembers a place.
EDITS = {
    "doubled": lambda: lambda g: each_part(lambda part: 2 * part, g),
    "negated": lambda: lambda g: each_part(lambda part: -part, g),
    "zero": lambda: lambda g: each_part(lambda part: 0 * part, g),
    "an entry": OneEntry,
    "rolled": lambda: lambda g: each_part(rolled, g),
}


@dataclass(frozen=True, eq=False)
class Row:
    """A function, a point, claims about its slopes there, and what these must get.

    Attributes
    ----------
    name : str
        A few words that are unique.
    f, at : callable, any
        The function and the point: a number, an array, or a tuple of them.
    right : any
        The right claim as ``check`` takes it: a gradient, a tuple of gradients, or a callable.
    want : str
        What right claims must get: one or several of ``pass``, ``unsure``, or with a reason, as
        ``unsure:kink``, with spaces between them.
    also : dict
        Other right claims, by name.
    edits : str
        The names of `EDITS` to try, with commas between them.
    wrong : dict
        Wrong claims besides the edits, by name.
    hides : str, or dict by the name of an edit or claim
        What wrong claims may get, if it is not ``fail``; a string holds for all of them. The reason
        stands in the name of the row, or in a comment.
    says : str, or dict by the name of a claim
        Words that the report must contain; a string is about the right claim.
    kind : dict
        By the name of a claim: the kind of the diagnosis that must come first, or several of which
        it is one. "none" stands for no diagnosis.
    inside : str
        The precision to which the values of f are rounded, from `PRECISIONS`.
    check : callable
        `check_gradient`, `check_vjp` or `check_jvp`.
    options : dict
        Arguments of the check besides f, point and claim.
    not_as : str
        The forms of `transformed` in which it is not asked for, with commas between them; a comment
        says why.
    always : bool
        Whether the quick tests have it each time: no other row notices some mistake in the check.
    source : str
        Where it was met, if not here.
    """

    name: str
    f: Callable[..., Any]
    at: Any
    right: Any
    _: KW_ONLY
    want: str = "pass"
    also: Mapping[str, Any] = field(default_factory=dict)
    edits: str = ", ".join(EDITS)
    wrong: Mapping[str, Any] = field(default_factory=dict)
    hides: Mapping[str, str] | str = field(default_factory=dict)
    says: Mapping[str, str] | str = field(default_factory=dict)
    kind: Mapping[str, str] = field(default_factory=dict)
    inside: str = "float64"
    check: Callable[..., Report] = check_gradient
    options: Mapping[str, Any] = field(default_factory=dict)
    not_as: str = ""
    always: bool = False
    source: str = ""


class Claim(NamedTuple):
    """A claim of a row, and what it must get."""

    name: str
    value: Any
    wanted: frozenset[str]
    says: str
    kind: str


def claims_of(row: Row) -> Iterator[Claim]:
    """Yield the claims of a row: the right ones, the edits that change the right one, the wrong."""
    says = {"right": row.says} if isinstance(row.says, str) else row.says
    named = {"right", *row.also, *row.edits.split(", "), *row.wrong}
    for names in (says, row.kind, {} if isinstance(row.hides, str) else row.hides):
        assert names.keys() <= named | EDITS.keys(), f"{row.name}: {names.keys() - named}"

    def claim(name, value, wanted):
        wanted = frozenset(wanted.split())
        return Claim(name, numbers(value), wanted, says.get(name, ""), row.kind.get(name, ""))

    def wrong(name, value):
        hides = row.hides if isinstance(row.hides, str) else row.hides.get(name, "fail")
        return claim(name, value, hides)

    for name, value in ({"right": row.right} | dict(row.also)).items():
        yield claim(name, value, row.want)
    for name in filter(None, row.edits.split(", ")):
        edited = after(EDITS[name](), row.right)
        one_number = name == "rolled" and not isinstance(row.at, tuple) and np.size(row.at) == 1
        if not one_number and (callable(edited) or not same(edited, numbers(row.right))):
            yield wrong(name, edited)
    for name, value in row.wrong.items():
        yield wrong(name, value)


def after(edit, claim):
    """Edit a claim, or what it returns."""
    if callable(claim):
        return lambda *given: edit(claim(*given))
    return edit(each_part(np.asarray, numbers(claim)))


def same(a, b):
    """Whether two gradients are the same numbers."""
    if isinstance(a, tuple | list):
        return all(map(same, a, b))
    return a is b or np.array_equal(a, b, equal_nan=True)


def values_of(row: Row) -> Callable[..., Any]:
    """Return f with its values rounded to the precision of the row."""
    precision = PRECISIONS[row.inside]
    if row.inside == "float64":
        return row.f
    return lambda *x: each_part(lambda y: rounded(y, precision), row.f(*x))


def judged(row: Row, claim: Any, seed: int = 0) -> Report:
    """Check a claim of a row, as a user would; what f warns of outside its domain is ignored."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        return row.check(
            values_of(row), numbers(row.at), claim, **{"seed": seed} | dict(row.options)
        )


def numbers(written):
    """Return a point or a claim with arrays for lists; tuples are of several inputs."""
    if isinstance(written, tuple):
        return tuple(map(numbers, written))
    return np.array(written, float) if isinstance(written, list) else written


def missed(claim: Claim, report: Report) -> str:
    """Return what a report does not say of a claim that it must say, or nothing."""
    if not claim.wanted & {report.verdict, f"{report.verdict}:{report.reason}"}:
        wanted = " or ".join(sorted(claim.wanted))
        return f"{claim.name}: {report.verdict}:{report.reason}, wanted {wanted}: {report}"
    if claim.says and claim.says not in " ".join(report.text(1000).split()):
        return f"{claim.name}: does not say {claim.says!r}: {report}"
    first = report.diagnoses[0].kind if report.diagnoses else "none"
    if claim.kind and first not in claim.kind.split():
        return f"{claim.name}: diagnosis {first}, wanted {claim.kind}: {report}"
    return ""


def left_unsaid(report: Report) -> list[str]:
    """Return the inputs of which a pass does not say that they are unsure as a whole, or flat."""
    words = "as a whole: ", "it is 0 here", "f is flat near"
    said = [" ".join(one.split()) for one in re.split(r"\n(?=\S)", report.text(1000))]
    said = [sentence for sentence in said if any(word in sentence for word in words)]
    unsure = [one.name for one in report.inputs if one.verdict == "unsure"]
    return [name for name in unsure if report.verdict == "pass" and name not in str(said)]


# A row seen otherwise: the same promise, and another way to ask for it.


def in_precision(row: Row, inside: str, **changes: Any) -> Row:
    """Return the row with values of f that are rounded; the right gradient is that of f before."""
    return replace(row, name=f"{row.name} in {inside}", inside=inside, **changes)
