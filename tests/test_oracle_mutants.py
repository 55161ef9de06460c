"""Broken implementations are refused, on exactly the vectors that ought to catch them.

A mutant is a copy of this package with one mistake, imported for a while in its place.
"""

import contextlib
import importlib
import json
import math
import shutil
import struct
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

from gradcheck_ref.oracle.judge import close_enough, judge
from gradcheck_ref.oracle.vectors import load_vectors

PACKAGE = Path(__file__).parents[1] / "gradcheck_ref"


@dataclass(frozen=True)
class Mutant:
    """A mistake: where, what stands there, what the mistaken write; and what ought to catch it."""

    said: str
    kinds: tuple[str, ...]
    changes: tuple[tuple[str, str, str], ...]
    caught_by: object  # a predicate on vectors


def flagged(flag, *groups):
    """Catch with the vectors that have a flag, in some groups or in all."""
    return lambda v: flag in v.flags and (not groups or v.group in groups)


def expected_reals(vector):
    """Yield each expected real and its distance."""
    expected, within = vector.expected, vector.expected.get("within", "0")
    distances = within if isinstance(within, dict) else {"slope": within}
    for key in ("slope", "error", "relative", "percent"):
        if key in expected and "refused" not in expected:
            yield from paired(expected[key], distances.get(key, "0"))


def paired(value, within):
    """Flatten two nested lists side by side."""
    if isinstance(value, list):
        for v, w in zip(value, within, strict=True):
            yield from paired(v, w)
    elif value is not None and value != "nonfinite":
        yield value, within


def in_single_precision(value):
    """Round as float32 does."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def needs_double(vector):
    """Tell whether float32 cannot hold the answer."""
    return any(
        not close_enough(repr(in_single_precision(float(value))), value, within)
        for value, within in expected_reals(vector)
    )


def tells_central_from_forward(vector):
    """Tell whether the central quotient of a forward vector is another."""
    if vector.request["formula"] != "forward" or "refused" in vector.expected:
        return False
    (_, _), (behind, f_behind), _, (ahead, f_ahead), _ = (
        map(float, sample) for sample in vector.request["samples"]
    )
    nominal = 2 * float(vector.request["h"])
    step = ahead - behind if vector.request["step"] == "taken" else nominal
    finite = math.isfinite(f_ahead) and math.isfinite(f_behind)
    slope = (f_ahead - f_behind) / step if finite else math.nan
    return not close_enough(
        repr(slope), vector.expected["slope"], vector.expected.get("within", "0")
    )


def loosened(vector):
    """Tell whether NaN stands against NaN under a rule that the mutant loosens."""
    return "NaNOnBothSides" in vector.flags and vector.group in ("compare/numpy", "compare/warp")


PROTOCOL, STAGE4, STAGE5 = "oracle/protocol.py", "stage4_allclose.py", "stage5_adaptive.py"
ARGUMENTS = "arguments.py"
LESS = ("compare/torch", "compare/tvm", "compare/scipy")
QUOTIENTS = ("compare/cs231n-max", "compare/cs231n-sum", "compare/cs231n-unguarded")
MUTANTS = [
    Mutant(
        "rounds to float32",
        ("stencil", "compare", "escalate"),
        ((PROTOCOL, "return repr(float(value))", "return repr(float(np.float32(value)))"),),
        needs_double,
    ),
    Mutant(
        "central instead of forward",
        ("stencil",),
        (
            (PROTOCOL, '"forward": forward_difference', '"forward": central_difference'),
            (PROTOCOL, '"forward": (x, h)', '"forward": (x - h, 2 * h)'),
        ),
        tells_central_from_forward,
    ),
    Mutant(
        "swaps analytic and numeric",
        ("compare",),
        ((PROTOCOL, '("analytic", "numeric"))\n', '("numeric", "analytic"))\n'),),
        flagged("NumericIsReference"),
    ),
    Mutant(
        "< for <= in the reference",
        ("compare",),
        ((STAGE4, "error <= allowed", "error < allowed"),),
        flagged("ExactTie", "compare/reference"),
    ),
    Mutant(
        "< for <= in the rules of torch, TVM and SciPy",
        ("compare",),
        ((PROTOCOL, "error <= atol", "error < atol"), (PROTOCOL, "distance <= ", "distance < ")),
        flagged("ExactTie", *LESS),
    ),
    Mutant(
        "< for <= in the rules of CS231n",
        ("compare",),
        ((PROTOCOL, "(error <= rtol)", "(error < rtol)"),),
        flagged("ExactTie", *QUOTIENTS),
    ),
    Mutant(
        "<= for < in the rules of HIPS and Ceres",
        ("compare",),
        (
            (
                PROTOCOL,
                "(error < atol) | (error / np.abs(a + n) < rtol)",
                "(error <= atol) | (error / np.abs(a + n) <= rtol)",
            ),
            (PROTOCOL, "(error < rtol)", "(error <= rtol)"),
        ),
        flagged("ExactTie", "compare/hips", "compare/ceres"),
    ),
    Mutant(
        "no bars around the sum in the rule of HIPS",
        ("compare",),
        ((PROTOCOL, "error / np.abs(a + n)", "error / (a + n)"),),
        lambda v: v.group == "compare/hips" and v.description.startswith("both negative"),
    ),
    Mutant(
        "takes a negative step",
        ("stencil", "escalate"),
        ((ARGUMENTS, "not 0 < step < math.inf", "not 0 < abs(step) < math.inf"),),
        lambda v: "BadArgument" in v.flags and v.request["h"].startswith("-"),
    ),
    Mutant(
        "NaN equals NaN",
        ("compare",),
        (
            (
                PROTOCOL,
                "np.allclose(a, n, rtol=rtol, atol=atol)",
                "np.allclose(a, n, rtol=rtol, atol=atol, equal_nan=True)",
            ),
        ),
        loosened,
    ),
    Mutant(
        "truncates the percentage",
        ("compare",),
        ((PROTOCOL, "np.count_nonzero(differ) / a.size", "np.count_nonzero(differ) // a.size"),),
        flagged("Percentage"),
    ),
    Mutant(
        "escalates once too few",
        ("escalate",),
        ((STAGE5, "slope, order = _cancel_square(_central(around, i, h / 2), slope), 4", "pass"),),
        flagged("GoesToTheEnd", "escalate/taken"),
    ),
    Mutant(
        "<= for < while escalating",
        ("escalate",),
        ((STAGE5, "< atol + rtol * abs(slope)", "<= atol + rtol * abs(slope)"),),
        flagged("ExactTie", "escalate/taken"),
    ),
    Mutant(
        "the claim is the reference while escalating",
        ("escalate",),
        ((STAGE5, "< atol + rtol * abs(slope)", "< atol + rtol * abs(claim)"),),
        flagged("SlopeIsReference", "escalate/taken"),
    ),
    Mutant(
        "divides by the step wished for",
        ("stencil",),
        (("stage2_central.py", "/ (x_ahead - x_behind)", "/ (2 * h)"),),
        lambda v: "StepTaken" in v.flags and v.request["formula"] == "central",
    ),
    Mutant(
        "broadcasts",
        ("compare",),
        (
            (
                PROTOCOL,
                'same_shape(a, "analytic", n, "numeric")\n',
                "a, n = np.broadcast_arrays(a, n)\n",
            ),
        ),
        lambda v: "Shape" in v.flags,
    ),
    Mutant(
        "passes everything",
        ("verdict",),
        ((PROTOCOL, "    report = check_gradient(loss, ", '    return {"verdict": "pass"}  # ('),),
        lambda v: v.expected["result"] == "invalid",
    ),
    Mutant(
        "fails everything",
        ("verdict",),
        ((PROTOCOL, "    report = check_gradient(loss, ", '    return {"verdict": "fail"}  # ('),),
        lambda v: v.expected["result"] == "valid",
    ),
]


def of_the_package():
    """Return the modules of the package that are imported, by name."""
    return {n: m for n, m in sys.modules.items() if n.partition(".")[0] == "gradcheck_ref"}


@contextlib.contextmanager
def mutated(changes, folder):
    """Copy the package and put the mistakes in; give the function that answers as the copy does."""
    copy = folder / "gradcheck_ref"
    ignored = shutil.ignore_patterns("vectors", "generate", "FORMAT.md")
    shutil.copytree(PACKAGE, copy, ignore=ignored)
    for name, old, new in changes:
        source = (copy / name).read_text(encoding="utf-8")
        assert old in source, f"{name} has changed: the mistake has no place any more"
        (copy / name).write_text(source.replace(old, new), encoding="utf-8")
        # Subtle: what was compiled of the others is as good as theirs, of this one it is not.
        for compiled in copy.rglob(f"__pycache__/{Path(name).stem}.*.pyc"):
            compiled.unlink()
    ours = of_the_package()
    for name in ours:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        with warnings.catch_warnings(action="ignore"):  # a mistake may well divide by zero
            protocol = importlib.import_module("gradcheck_ref.oracle.protocol")
            assert {Path(m.__file__).is_relative_to(copy) for m in of_the_package().values()} == {
                True
            }
            yield lambda request: protocol.answer_line(json.dumps(request), "mutant")
    finally:
        sys.path.remove(str(folder))
        for name in of_the_package():
            del sys.modules[name]
        sys.modules.update(ours)


def outcomes(changes, folder, vectors):
    """Judge what a mutant answers."""
    with mutated(changes, folder) as answer:
        replies = [json.loads(json.dumps(answer(v.request), allow_nan=False)) for v in vectors]
    return [judge(vector, reply) for vector, reply in zip(vectors, replies, strict=True)]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.said)
def test_a_broken_implementation_is_refused_on_the_vectors_that_ought_to_catch_it(mutant, tmp_path):
    vectors = list(load_vectors(*mutant.kinds))
    found = outcomes(mutant.changes, tmp_path, vectors)
    refused = {o.vector.id for o in found if o.status in ("failed", "error")}
    definite = [v for v in vectors if v.expected["result"] != "acceptable"]
    assert refused == {v.id for v in definite if mutant.caught_by(v)}
    assert refused


def test_an_unbroken_copy_is_not_refused_and_is_gone_afterwards(tmp_path):
    before = of_the_package()
    found = outcomes((), tmp_path, list(load_vectors("stencil", "compare", "escalate")))
    assert {o.status for o in found} == {"passed", "ambiguous"}
    assert of_the_package() == before
    assert str(tmp_path) not in sys.path
