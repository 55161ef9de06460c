"""Wrong clients: the example in Python with one piece of its text changed.

A whole client answers, one question after the other: so its rules, quotients and walks can be
wrong, and what it keeps, reads, refuses and writes. It was written from FORMAT.md, and these are
mistakes that people make in such a program.

Where all vectors that show one mistake show a second one, too, the second is not in the tables:
it can only be missed together with the first. The same holds for ``slips.py``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradcheck_ref.oracle.generate.rules import RULES

SOURCE = Path(__file__).parents[3] / "docs" / "examples" / "checker.py"
Answer = Callable[[dict[str, Any]], dict[str, Any]]
HELPERS = """
kept = {}
def single(v):
    mantissa, exponent = math.frexp(v)
    return math.ldexp(round(mantissa * 2**24), exponent - 24) if math.isfinite(v) else v
def flushed(v): return 0.0 if abs(v) < 2.2250738585072014e-308 else v
def first_64(entries): return list(entries)[:64]
def all_but_last(entries): return (e := list(entries))[:-1] or e
def every_second(entries): return list(entries)[::2]
def mean_size(pairs):
    sizes = [abs(n) for _, n in pairs if math.isfinite(n)]
    return sum(sizes) / len(sizes) if sizes else 0.0
def before(q, key):
    now, was = q.get(key), kept.get(key)
    kept[key] = now
    return {**q, key: was} if now and was else q
def left_out(q, key):
    return {**q, key: kept[key]} if key not in q and key in kept else kept.update(q) or q
def spoilt(reply, q):
    was, kept["nan"] = kept.get("nan"), "nan" in str(q)
    return {**reply, "close": False} if was and reply.get("close") else reply
"""


@dataclass(frozen=True)
class Client:
    """A mistake, the text it changes, what it makes of that, and the groups that must show it."""

    said: str
    old: str
    new: str
    groups: tuple[str, ...] = ()
    kind: str = "clients"

    def start(self) -> Answer:
        """Return the answer of a client that was just started."""
        text = SOURCE.read_text(encoding="utf-8")
        assert text.count(self.old) == 1, (self.said, text.count(self.old))
        names: dict[str, Any] = {"__name__": "client"}
        exec(compile(HELPERS + text.replace(self.old, self.new), self.said, "exec"), names)
        answer: Answer = names["answer"]
        return answer


ANSWERED = 'return ANSWERS[request["ask"]](request)'
READ = 'float(q.get(key, "0")) for key in'
WEIGHTS = 'weights = flat(reals(q.get("upstream", "1")))'
STEP = 'step = places[high] - places[low] if q["step"] == "taken" else (high - low) * unit'
TOLERANCES = 'rtol, atol, floor = (float(q.get(key, "0")) for key in ("rtol", "atol", "floor"))'
PLACES = 'x, h = float(q["x"]), float(q["h"])'
SAMPLES = 'behind, ahead = (flat(reals(q["samples"][k][1])) for k in (low, high))'
RISE = "rise = weighed(weights, ahead) - weighed(weights, behind)"
SHAPES = "if shape(analytic) != shape(numeric):"
ENTRIES = "pairs = list(zip(flat(analytic), flat(numeric), strict=True))"
TOLD = "isinstance(value, list) else value)\n    return"
WITHIN = "within = abs(a - n) <= size * atol + size * rtol * abs(n)"
ALL = "return all(close(a, n) for a, n in pairs), [abs(a - n) for a, n in pairs]"
NORM = "return math.sqrt(sum(v * v for v in entries))"
TIMES = "times=len,"
WEIGHED = "return sum(u * v for u, v in zip(weights, values, strict=True))"
VANISHES = "if places[low] == places[high]:"
FITS = "shape(numeric)[len(shape(numeric)) - len(shape(analytic)) :]"
RESIDUALS = "(c - (a1 - b1) / (2 * h)) / size * ((c - (a2 - b2) / (2 * k)) / size)"
WHOLE = "error = math.sqrt(0.0 if mean < 0 else mean)"
SPREAD = "spread = math.sqrt(squares / (len(products) - 1) / len(products))"
LINES = "if len(lines) < 2 or not any(line[0] for line in lines):"
MEAN = "mean = sum(products) / len(products)"
CENTRAL = "slope, order = slope_of(q, places, h / 2, 0, 4), 2"
LAST = "slope, order = extrapolated(slope_of(q, places, h / 2, 1, 3), slope), 4"
AGREES = "return math.isfinite(slope) and abs(slope - claimed) < atol + rtol * abs(slope)"
WALKS = "place_of(q, [(2, 4), (0, 4), (1, 3)])"


def _with(change: str) -> str:
    """Change the request, and answer that."""
    return f"request = {change}; {ANSWERED}"


def _then(line: str, *more: str) -> tuple[str, str]:
    """Go on after a line, set in as deep as a function's body."""
    return line, "\n    ".join((line, *more))


def _and(line: str, more: str) -> tuple[str, str]:
    """Go on in the same line."""
    return line, f"{line}; {more}"


def _instead(line: str, old: str, new: str) -> tuple[str, str]:
    """Change a part of a line."""
    return line, line.replace(old, new)


MISTAKES = {
    # what one question gave is kept for the next
    "rtol is that of the question before": (ANSWERED, _with("before(request, 'rtol')")),
    "a floor left out is the last one": (ANSWERED, _with("left_out(request, 'floor')")),
    "NaN in one comparison spoils the next": (
        ANSWERED, 'return spoilt(ANSWERS[request["ask"]](request), request)'),
    # what is read
    "a usual floor where it is left out": _instead(READ, '"0"', '"1e-8"'),
    "tolerances to nine places": (READ, 'round(float(q.get(key, "0")), 9) for key in'),
    "infinity without its sign": ("else float(value)", 'else float(value.replace("-inf", "inf"))'),
    # upstream gradients and places
    "upstream transposed": _then(
        WEIGHTS, 'if len(shape(q.get("upstream"))) == 2:',
        '    weights = [u for row in zip(*reals(q["upstream"])) for u in row]'),
    "upstream that is a number is 1": _and(
        WEIGHTS, 'weights = weights if isinstance(q.get("upstream"), list) else [1.0]'),
    "large x refused": _then(PLACES, "if abs(x) > 1e15: raise RefusedError('x')"),
    "a long step refused": _then(PLACES, "if 1e3 < h < math.inf: raise RefusedError('h')"),
    "2h where x is large": _and(
        STEP, 'step = step if abs(float(q["x"])) < 1e9 else (high - low) * unit'),
    "sums in float32": _and(RISE, "rise = single(rise)"),
    "upstream beyond half precision is infinite": _and(
        WEIGHTS, "weights = [u if abs(u) <= 65504 else math.inf for u in weights]"),
    "upstream of at most 1e20": _and(
        WEIGHTS, "weights = [u if abs(u) <= 1e20 else math.copysign(1e20, u) for u in weights]"),
    "upstream below 1e-20 is 0": _and(
        WEIGHTS, "weights = [0.0 if abs(u) < 1e-20 else u for u in weights]"),
    "an upstream of NaN is 0": _and(WEIGHTS, "weights = [u if u == u else 0.0 for u in weights]"),
    "an infinite upstream is 0": _and(
        WEIGHTS, "weights = [0.0 if abs(u) == math.inf else u for u in weights]"),
    "upstream of four axes by its first half": _and(
        WEIGHTS, 'weights = [u if k < 4 or len(shape(q.get("upstream"))) < 4 else 0.0 '
        "for k, u in enumerate(weights)]"),
    "five-point: h counts as the distance of both": (
        STEP, STEP + '; step = 2 * unit if q["step"] == "nominal" and "claimed" not in q '
        "and (low, high) == (0, 4) else step"),
    "five-point: a nominal step that vanishes is refused": (
        'if q["step"] == "taken":\n        if not', 'if q["step"] == "taken" or len(pairs) == 2:\n'
        "        if not"),
    "an upstream of 0 hides NaN": _instead(WEIGHED, "strict=True)", "strict=True) if u"),
    "with upstream no step is refused": (VANISHES, VANISHES[:-1] + " and 'upstream' not in q:"),
    "five-point looks whether its far places coincide": (
        VANISHES, "if places[pairs[-1][0]] == places[pairs[-1][1]]:"),
    # shapes and entries
    "shapes by the number of entries": (SHAPES, "if len(flat(analytic)) != len(flat(numeric)):"),
    "shapes by the first dimension": (SHAPES, "if shape(analytic)[:1] != shape(numeric)[:1]:"),
    "shapes by the last dimension": (SHAPES, "if shape(analytic)[-1:] != shape(numeric)[-1:]:"),
    "a claim is repeated to the shape of numeric": (
        SHAPES, f"if shape(analytic) == {FITS} != shape(numeric):\n"
        "        pass\n    elif shape(analytic) != shape(numeric):"),
    "only the first row is compared": _and(
        ENTRIES, "pairs = pairs[: shape(analytic)[-1]] if shape(analytic) else pairs"),
    "shapes by the first three dimensions": (
        SHAPES, "if shape(analytic)[:3] != shape(numeric)[:3]:"),
    "ones in a shape do not count": (
        SHAPES, "if [k for k in shape(analytic) if k != 1] != "
        "[k for k in shape(numeric) if k != 1]:"),
    "more than three dimensions refused": (
        SHAPES, "if shape(analytic) != shape(numeric) or len(shape(analytic)) > 3:"),
    "the error is told without its first dimension of four": _instead(
        TOLD, "value)", "value); told[key] = sum(told[key], []) "
        "if len(shape(told[key])) > 3 else told[key]"),
    "a number is told as a list": _instead(
        TOLD, "value)", "value if shape(analytic) else [value])"),
    # rules
    "nothing to compare, whatever the tolerances": _instead(
        "check_tolerances(rtol, atol)\n    rule =", "check", "pairs and check"),
    "rtol at most 10": _and(TOLERANCES, "rtol = min(rtol, 10.0)"),
    "atol at most 100": _and(TOLERANCES, "atol = min(atol, 100.0)"),
    "a floor of at most 1e300": _and(TOLERANCES, "floor = min(floor, 1e300)"),
    "JAX: the difference is to be finite": _instead(
        "able=lambda a, n: math.isfinite(a) and math.isfinite(n),",
        "math.isfinite(a) and math.isfinite(n)", "math.isfinite(a - n)"),
    "JAX: a size of many that is one too large": (
        TIMES, "times=lambda pairs: len(pairs) + (len(pairs) > 6),"),
    "JAX: a size of finite entries": (
        TIMES, "times=lambda pairs: sum(math.isfinite(a - n) for a, n in pairs),"),
    "JAX: a size of entries that are not 0": (
        TIMES, "times=lambda pairs: sum(n != 0 for _, n in pairs) or 1,"),
    "the entry of the largest error decides": _instead(
        ALL, "in pairs)",
        "in sorted(pairs, key=lambda p: (p[0] - p[1] != p[0] - p[1], abs(p[0] - p[1])))[-1:])"),
    # walks
    "walks: rtol at most 10": _instead(AGREES, "rtol *", "min(rtol, 10.0) *"),
    "walks: slopes beyond 1e200 do not agree": _instead(
        AGREES, "math.isfinite(slope)", "abs(slope) < 1e200"),
    "walks: a slack of 1e-20": _instead(AGREES, "atol +", "atol + 1e-20 +"),
    "the central slope never agrees after NaN": (
        CENTRAL, "claimed = claimed if slope == slope else math.nan; " + CENTRAL),
    "order 2 is to be nearer": (
        CENTRAL, f"was = slope; {CENTRAL}; "
        "claimed = math.nan if abs(slope - claimed) > abs(was - claimed) else claimed"),
    "order 4 is to be a number": (
        LAST, f"was = slope, order; {LAST}; slope, order = (slope, 4) if slope == slope else was"),
    "the nearest slope is told": (
        LAST, f"was = slope; {LAST}; slope = min(was, slope, key=lambda s: abs(s - claimed))"),
    "infinity agrees with infinity": _instead(AGREES, "return", "return slope == claimed or"),
    # the whole
    "whole: squares at the first step": (
        RESIDUALS, "((c - (a1 - b1) / (2 * h)) / size) ** 2"),
    "whole: one-sided slopes": _instead(RESIDUALS, "(a1 - b1) / (2 * h)", "(a1 - b2) / (h + k)"),
    "whole: one step for both": _instead(RESIDUALS, "(2 * k)", "(2 * h)"),
    "whole: no root": _instead(WHOLE, "math.sqrt(0.0 if mean < 0 else mean)", "max(mean, 0.0)"),
    "whole: the root of the size": _instead(WHOLE, "0.0 if mean < 0 else mean", "abs(mean)"),
    "whole: divided by the number of lines": _instead(
        SPREAD, "(len(products) - 1)", "len(products)"),
    "whole: the deviation of one line": _instead(SPREAD, " / len(products))", ")"),
    "whole: one line is enough": _instead(LINES, "len(lines) < 2 or ", ""),
    "whole: products below 1e-40 are 0": _instead(
        MEAN, "sum(products)", "sum(p for p in products if abs(p) * size**2 > 1e-40)"),
    "whole: NaN is left out": _instead(
        MEAN, "mean", "products = [p for p in products if p == p]; mean"),
    "half a step that vanishes is taken": _instead(WALKS, ", (1, 3)", ""),
}  # fmt: skip
# Comparisons, quotients and walks, and the groups that must show the mistake.
USUAL = {rule.name: (float(rule.rtol), float(rule.atol)) for rule in RULES}
RULE = {rule.name: f"compare/{rule.name}" for rule in RULES}
SUMS = tuple(RULE[name] for name in ("reference", "numpy", "torch", "warp", "jax"))
MIXED = (*SUMS, RULE["hips"], RULE["tvm"])
ENTRYWISE = tuple(group for name, group in RULE.items() if name not in ("tvm", "scipy"))
NORMS = (RULE["tvm"], RULE["scipy"])
ERROR = 'told = {"error": error, **more}'
FORWARD = ("stencil/forward", "stencil/forward-nominal")
CENTER = ("stencil/central", "stencil/central-nominal")
FIVE_POINT = ("stencil/five-point", "stencil/five-point-nominal")
STENCIL = ("stencil/forward", "stencil/central", "stencil/five-point")
TAKEN = ("escalate/taken",)
WALK = ("escalate/taken", "escalate/nominal")
PLACE = 'places = [float(place) for place, _ in q["samples"]]'
SLOPE = "texts(slopes[0] if len(slopes) == 1 else extrapolated(*slopes))"
BOUND = "atol + rtol * abs(slope)"
CHECKED = "check_tolerances(rtol, atol)\n\n    def agrees"
READS = '(float(q[key]) for key in ("rtol", "atol", "claimed"))'


ALLOWED = "size * atol + size * rtol * abs(n)"
CLOSE = "return same(a, n) or (able(a, n) and within)"
NEAR = "e < rtol if strictly else e <= rtol"
EVERY = f"return all({NEAR} for e in errors), errors"
ERRORS = "errors = [divide(abs(a - n), size(a, n, floor)) for a, n in something(pairs)]"
EITHER = "e < atol or divide(e, abs(a + n)) < rtol"
TESTED = "tested = zip(pairs, errors, strict=True)"
NORMED = "atol * math.sqrt(len(pairs)) + rtol * size"
TVM = f"close = error <= {NORMED}"
SCIPY = "return error <= atol, error"
QUOTIENT = tuple(RULE[name] for name in ("cs231n-max", "cs231n-sum", "cs231n-unguarded", "ceres"))
HIPS = (RULE["hips"],)
PARTS = {
    "the first 64": "first_64", "all but the last": "all_but_last",
    "every second entry": "every_second",
}  # fmt: skip
SIZES: dict[str, tuple[str, str, dict[str, str]]] = {
    "hips": (EITHER, "abs(a + n)", {
        "|n|": "abs(n)",
        "a + n, without bars": "a + n",
        "max(|a|, |n|)": "max(abs(a), abs(n))",
    }),
    "ceres": ("return 1.0 if a == 0 or n == 0 else max(abs(a), abs(n))",
              "1.0 if a == 0 or n == 0 else max(abs(a), abs(n))", {
        "1 where the claim is 0": "1.0 if a == 0 else max(abs(a), abs(n))",
        "1 where numeric is 0": "1.0 if n == 0 else max(abs(a), abs(n))",
        "1 where one is below 1e-12":
            "1.0 if min(abs(a), abs(n)) < 1e-12 else max(abs(a), abs(n))",
        "|n|": "1.0 if a == 0 or n == 0 else abs(n)",
        "|a|": "1.0 if a == 0 or n == 0 else abs(a)",
    }),
    "cs231n-max": ("return max(abs(a), abs(n), floor) or 1.0",
                   "max(abs(a), abs(n), floor) or 1.0", {
        "|a + n|": "max(abs(a + n), floor) or 1.0",
        "|n|": "max(abs(n), floor) or 1.0",
        "a floor of 1e-8": "max(abs(a), abs(n), 1e-8)",
        "0, so that 0/0 is NaN": "max(abs(a), abs(n), floor)",
    }),
    "cs231n-sum": ("floor: max(abs(a) + abs(n), floor)", "max(abs(a) + abs(n), floor)", {
        "|a + n|": "max(abs(a + n), floor)",
        "|n|": "max(abs(n), floor)",
        "a floor for each size": "max(abs(a), floor) + max(abs(n), floor)",
        "a floor of 1e-8": "max(abs(a) + abs(n), 1e-8)",
        "1 where 0/0 is": "max(abs(a) + abs(n), floor) or 1.0",
    }),
    "cs231n-unguarded": ("floor: abs(a) + abs(n)", "abs(a) + abs(n)", {
        "|a + n|": "abs(a + n)",
        "|n|": "abs(n)",
        "a floor of 1e-8": "max(abs(a) + abs(n), 1e-8)",
        "1 where 0/0 is": "abs(a) + abs(n) or 1.0",
    }),
}  # fmt: skip


def _sampled(change: str) -> tuple[str, str]:
    """Change every sample."""
    return _then(SAMPLES, f"behind, ahead = ([{change} for v in s] for s in (behind, ahead))")


def _told(change: str) -> tuple[str, str]:
    """Change the slope that is told."""
    return SLOPE, f"texts((lambda v: {change})({SLOPE[6:-1]}))"


def _error(change: str) -> tuple[str, str]:
    """Change the error that is told."""
    changed = f"change = lambda v: {change}"
    each = "error = list(map(change, error)) if isinstance(error, list) else change(error)"
    return ERROR, f"{changed}; {each}; {ERROR}"


def _entries(change: str) -> tuple[str, str]:
    """Change the entries of both gradients."""
    return _and(ENTRIES, f"pairs = [tuple({change} for v in pair) for pair in pairs]")


COMPARISONS: list[tuple[str, ...]] = [
    *(
        (part, *change, *groups)
        for part, taken in PARTS.items()
        for *change, groups in (
            (*_instead(ALL, "in pairs), [", f"in {taken}(pairs)), ["), SUMS),
            (*_instead(EVERY, "errors), errors", f"{taken}(errors)), errors"), QUOTIENT),
            (TESTED, f"tested = {taken}(zip(pairs, errors, strict=True))", HIPS),
        )
    ),
    ("the sum", *_instead(ALL, "for a, n in pairs), [", f"for a, n in pairs) and sum(divide("
     f"abs(a - n), {ALLOWED}) for a, n in pairs if a != n) <= 1, ["), *SUMS),
    ("the sum", EVERY, "return sum(errors) <= rtol, errors", *QUOTIENT[:3]),
    ("the other of < and <=", *_instead(WITHIN, "<=", "<"), *SUMS),
    ("the other of < and <=", *_instead(EVERY, NEAR, "e <= rtol if strictly else e < rtol"),
     *QUOTIENT),
    ("the other of < and <=", *_instead(EITHER, "<", "<="), *HIPS),
    ("the other of < and <=", "close = error <= atol", "close = error < atol", RULE["tvm"]),
    ("the other of < and <=", SCIPY, "return error < atol, error", RULE["scipy"]),
    ("<= for <, atol", *_instead(EITHER, "e < atol", "e <= atol"), *HIPS),
    ("<= for <, rtol", *_instead(EITHER, "< rtol", "<= rtol"), *HIPS),
    *(
        (said, *change, *groups)
        for said, more in (("slack of 1 in 1e12", "* (1 + 1e-12)"), ("slack of 1e-16", "+ 1e-16"))
        for *change, groups in (
            (*_instead(WITHIN, ALLOWED, f"({ALLOWED}) {more}"), SUMS),
            (*_instead(EVERY, "rtol", f"rtol {more}"), QUOTIENT),
            (EITHER, f"e < atol {more} or divide(e, abs(a + n)) < rtol {more}", HIPS),
            (*_instead(TVM, NORMED, f"({NORMED}) {more}"), NORMS[:1]),
            (*_instead(SCIPY, "atol", f"atol {more}"), NORMS[1:]),
        )
    ),
    ("fails only where error > allowed", CLOSE, f"return same(a, n) or not abs(a - n) > {ALLOWED}",
     *SUMS),
    ("fails only where error > allowed",
     *_instead(EVERY, NEAR, "not e >= rtol if strictly else not e > rtol"), *QUOTIENT),
    ("fails only where error > allowed", EITHER,
     "not e >= atol or not divide(e, abs(a + n)) >= rtol", *HIPS),
    ("NaN equals NaN", *_instead(CLOSE, "return", "return (a != a and n != n) or"), *SUMS[:4]),
    ("NaN equals nothing", "same=lambda a, n: a == n or (a != a and n != n),",
     "same=lambda a, n: a == n,", RULE["jax"]),
    ("equal infinities pass", "same=lambda a, n: False", "same=lambda a, n: a == n", SUMS[0]),
    ("equal infinities do not pass",
     *_instead(CLOSE, "same(a, n)", "(same(a, n) and abs(a) != math.inf)"), *SUMS[1:]),
    ("whatever is infinite is allowed", *_instead(CLOSE, "able(a, n) and within", "within"), *SUMS),
    ("max(atol, rtol |numeric|)",
     *_instead(WITHIN, ALLOWED, "size * max(atol, rtol * abs(n))"), *SUMS),
    ("rtol |analytic|", *_instead(WITHIN, "abs(n)", "abs(a)"), *SUMS),
    ("rtol without |numeric|", *_instead(WITHIN, " * abs(n)", ""), *SUMS),
    ("rtol numeric, without bars", *_instead(WITHIN, "abs(n)", "n"), *SUMS),
    ("atol + atol |numeric|", *_instead(WITHIN, "rtol", "atol"), *SUMS),
    ("rtol times the mean |numeric|", *_instead(WITHIN, "abs(n)", "mean_size(pairs)"), *SUMS),
    ("max(rtol, atol)", *_and(ERRORS, "rtol = max(rtol, atol)"), *QUOTIENT),
    ("nor may the error exceed atol", *_instead(
        EVERY, ", errors", " and (not atol or all(abs(a - n) <= atol for a, n in pairs)), errors"),
     *QUOTIENT),
    ("one test for all entries", f"all({EITHER} for (a, n), e in tested)",
     "(all(e < atol for e in errors) or all(divide(e, abs(a + n)) < rtol for (a, n), e in tested))",
     *HIPS),
    *(
        (f"over {said}", *_instead(line, right, size), RULE[rule])
        for rule, (line, right, sizes) in SIZES.items()
        for said, size in sizes.items()
    ),
    ("float32 entries", *_entries("single(v)"), *RULE.values()),
    ("subnormal entries are 0", *_entries("flushed(v)"), *ENTRYWISE),
    ("subnormal errors are 0",
        *_error("flushed(v)"), *(g for g in ENTRYWISE if g != RULE["cs231n-unguarded"])),
    ("15 digits", *_error("float(f'{v:.15g}')"), *RULE.values()),
    ("rtol above 1 refused",
        *_then(TOLERANCES, "if rtol > 1: raise RefusedError('rtol')"), *RULE.values()),
    ("rtol at most 1",
        *_and(TOLERANCES, "rtol = min(rtol, 1.0)"), *MIXED, RULE["ceres"], RULE["cs231n-max"]),
    ("the usual rtol",
        *_and(TOLERANCES, f"rtol = {USUAL}[q['rule']][0]"), *ENTRYWISE, RULE["tvm"]),
    ("the usual atol",
        *_and(TOLERANCES, f"atol = {USUAL}[q['rule']][1]"), *MIXED, RULE["scipy"]),
    ("rtol and atol exchanged", *_and(TOLERANCES, "rtol, atol = atol, rtol"), *MIXED),
    ("the claim is the reference",
        *_instead(ENTRIES, "flat(analytic), flat(numeric)", "flat(numeric), flat(analytic)"),
        *SUMS, RULE["tvm"]),
    ("JAX: a size of 16 at most",
        TIMES, "times=lambda pairs: min(16, len(pairs)),", RULE["jax"]),
    ("JAX: a size of 2 at least", TIMES, "times=lambda pairs: max(2, len(pairs)),", RULE["jax"]),
    ("JAX: only rtol times the size",
        *_instead(WITHIN, "size * atol", "atol"), RULE["jax"]),
    ("1-norm for 2-norm", *_instead(NORM, "math.sqrt(sum(v * v", "(sum(abs(v)"), *NORMS),
    ("largest entry for 2-norm",
        *_instead(NORM, NORM[7:], "max((abs(v) for v in entries), default=0.0)"), *NORMS),
    *(
        (f"{part} for the 2-norm", NORM, f"entries = {taken}(entries); {NORM}", *NORMS)
        for part, taken in PARTS.items()
    ),
    ("norm of numeric in float32",
        "norm(n for _, n in pairs)", "norm(single(n) for _, n in pairs)", RULE["tvm"]),
    ("the larger tolerance of both",
        "close = error <= atol * math.sqrt(len(pairs)) + rtol * size",
        "close = error <= max(atol * math.sqrt(len(pairs)), rtol * size)", RULE["tvm"]),
    ("SciPy: atol + rtol (2-norm of numeric)",
        "return error <= atol, error",
        "return error <= atol + rtol * norm(n for _, n in pairs), error", RULE["scipy"]),
]  # fmt: skip
QUOTIENTS: dict[str, tuple[str, ...]] = {
    "central for forward": (*_instead('"forward": [(2, 3)]', "2", "1"), *FORWARD),
    "backward for forward": (*_instead('"forward": [(2, 3)]', "2, 3", "1, 2"), *FORWARD),
    "two steps for one, forward": (*_instead('"forward": [(2, 3)]', "3", "4"), *FORWARD),
    "forward for central": (*_instead('"central": [(1, 3)]', "1", "2"), *CENTER),
    "backward for central": (*_instead('"central": [(1, 3)]', "1, 3", "1, 2"), *CENTER),
    "two steps for one, central": (*_instead('"central": [(1, 3)]', "1, 3", "0, 4"), *CENTER),
    "five-point: one-sided far": (*_instead("(0, 4)]}", "0", "2"), *FIVE_POINT),
    "halves for thirds": (
        *_instead("near + (near - far) / 3", "3", "2"), *FIVE_POINT, *WALK),
    "five-point: near's distance for both": (  # the textbook's sum over 12 s
        *_and(STEP, 'step = 2 * (places[3] - places[1]) if (low, high, q.get("step")) == '
              '(0, 4, "taken") and "claimed" not in q else step'), "stencil/five-point"),
    "the step wished for": (STEP, "step = (high - low) * unit", *STENCIL, *TAKEN),
    "the step taken": (
        STEP, "step = places[high] - places[low]", FORWARD[1], CENTER[1], FIVE_POINT[1],
        "escalate/nominal"),
    **{
        f"takes it though {why}": (
            *_then(PLACE, f"if {holds}:\n        return places, h"), *STENCIL, *TAKEN)
        for why, holds in {
            "h = 0": "h == 0",
            "h < 0": "h < 0",
            "h is NaN": "h != h",
            "h is infinite": "h == math.inf",
            "x is NaN": "x != x",
            "x + h is too large":
                "math.isfinite(x) and h < math.inf and math.inf in map(abs, places)",
        }.items()
    },
    "takes it though rtol is bad": (*_instead(CHECKED, "rtol, ", ""), *TAKEN),
    "takes it though atol is bad": (*_instead(CHECKED, ", atol", ""), *TAKEN),
    "the first twelve outputs": (
        *_instead(WEIGHED, "values, strict=True", "values[:12], strict=False"),
        "stencil/central-upstream"),
    "samples: float32": (*_sampled("single(v)"), *STENCIL, *WALK),
    "slopes: float32": _told("single(v)"),
    "slopes: subnormals are 0": _told("flushed(v)"),
    "slopes: 15 digits": _told("float(f'{v:.15g}')"),
    "slopes: infinity is a large number": _told("max(min(v, 1e308), -1e308)"),
    "max(atol, rtol |slope|)": (*_instead(AGREES, BOUND, "max(atol, rtol * abs(slope))"), *WALK),
    "rtol |claim|": (*_instead(AGREES, "abs(slope)", "abs(claimed)"), *WALK),
    "rtol slope, without bars": (*_instead(AGREES, "abs(slope)", "slope"), *WALK),
    "<= for <": (*_instead(AGREES, "<", "<="), *WALK),
    "a slack of 1 in 1e12": (*_instead(AGREES, BOUND, f"({BOUND}) * (1 + 1e-12)"), *WALK),
    "tight by 1e-12": (*_instead(AGREES, "<", "+ 1e-12 <"), *WALK),
    "NaN agrees": (AGREES, f"return not abs(slope - claimed) >= {BOUND}", *WALK),
    "no central slope": (
        f"if not agrees(slope):\n        {LAST}", f"if order == 2:\n        {LAST}", *WALK),
    "subnormal slopes of walks told as 0": (
        *_instead('"slope": texts(slope)', "slope)", "flushed(slope))"), *TAKEN),
    "rtol above 1 refused": (*_then(READS, "if rtol > 1: raise RefusedError('rtol')"), *WALK),
}  # fmt: skip
ORDERS = {  # other orders of evaluation, each as right as any
    "as it is": ("import sys", "import sys"),
    "weighed after subtracting": (
        RISE, "rise = weighed(weights, [a - b for a, b in zip(ahead, behind, strict=True)])"),
    "weighed from the right, in a loop": (
        WEIGHED, "rise = 0.0\n    for u, v in zip(weights[::-1], values[::-1], strict=True):\n"
        "        rise += u * v\n    return rise"),
    "weighed exactly": _instead(WEIGHED, "sum(", "math.fsum("),
    "weights over the step": (
        RISE, "if 'upstream' in q and step:\n"
        f"        weights, step = [u / step for u in weights], 1.0\n    {RISE}"),
    "slopes first": (
        RISE, "slopes = [divide(a - b, step) for a, b in zip(ahead, behind, strict=True)]\n"
        f"    if step:\n        return weighed(weights, slopes)\n    {RISE}"),
    "(4 near - far) / 3": ("return near + (near - far) / 3", "return (4 * near - far) / 3"),
    "thirds by themselves": ("return near + (near - far) / 3", "return near * 4 / 3 - far / 3"),
    "a norm that is scaled": _instead(
        NORM, "math.sqrt(sum(v * v for v in entries))", "math.hypot(*entries)"),
    "a norm of exact sums": _instead(NORM, "sum(", "math.fsum("),
    "the size last": _instead(
        WITHIN, "size * atol + size * rtol * abs(n)", "(rtol * abs(n) + atol) * size"),
    "a quotient of the percentage": ("100 * differ / len(pairs)", "differ / len(pairs) * 100"),
}  # fmt: skip
RIGHT = [Client(said, *change) for said, change in ORDERS.items()]
CLIENTS = (
    *(
        Client(said, old, new, tuple(groups), kind)
        for kind, table in (
            ("comparisons", COMPARISONS),
            ("quotients and walks", [(said, *row) for said, row in QUOTIENTS.items()]),
        )
        for said, old, new, *groups in table
    ),
    *(Client(said, *change) for said, change in MISTAKES.items()),
)
