"""The message of a check that rejects an answer: called, got, expected, look at.

A check calls the learner's function through ``Call``, which remembers the call, and then states the
expected result. Common mistakes are data: a sentence, and the result of the mistake. If the learner
got this result, the sentence says where to look.
"""

import contextlib
import copy
import functools
import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from effort import effort
from placed import is_simple, ratio, where_wrong

# Allows another order of summation, and is far below any mistake.
RTOL = 1e-9

# A derivation is off by about 1e-15 of the largest entry, a central difference by 1e-11 or more.
DERIVED = 1e-12

SIGN = "the sign: every entry is minus what it should be"
MEAN = "the loss is a mean over the examples; where is their number?"
FEW = 2, 3, 4, 0.5, 0.25  # factors of a count that are no accident

SHORT = "float16", "float32"  # types of numbers with few digits

SMALL = "these numbers are small: is a number added somewhere, or is something rounded?"
CUT_OFF = "these numbers are large: are large ones cut off?"
# Far from any number that an answer may hold. No powers of 2: those hide that digits are lost.
SIZES = {1e-12: SMALL, 1e12: CUT_OFF}
FIGURES = re.compile(r"[\d.,/()]+")

RESET = "run.py reset"

MOST_PASSES = 100  # forward passes in the time of a backward pass
MOST_GROWTH = 3  # of the time, times the growth of the array; a measurement's is about 6
LEAST_TIME = 1e-5  # seconds; a clock may tell no less

MOST_SHOWN = 240  # characters of an answer: four lines of a narrow terminal

Check = Callable[[Any], None]  # of a submission; it raises its objection
# A right function, or several by their names, where others share the code of the wrong one.
StandIn = Callable[..., Any] | dict[str, Callable[..., Any]] | None


class WrongAnswerError(AssertionError):
    """A wrong answer, in labeled lines: called, (where,) got, expected, look at."""

    share = 0.0  # of the points of the check that are kept
    kept = 0.0  # of the points of each check that depends on it
    function = ""  # that gave the answer
    habit = ""  # a slip that somebody may make again, and that costs points only once

    def __init__(
        self, called: str, got: str, expected: str, look_at: str = "", *, where: str = ""
    ) -> None:
        self.stand_ins: dict[str, Any] = {}  # right functions, with which those are judged
        lines = [("called", called), ("where", where), ("got", got), ("expected", expected)]
        self.lines = tuple((name, text) for name, text in [*lines, ("look at", look_at)] if text)
        super().__init__("\n".join(f"{label}: {text}" for label, text in self.lines))


class NotJudgedError(AssertionError):
    """The message of a check whose prerequisite fails; it names the cause if that passed before.

    If the prerequisite fails by a mistake that it knows, this check keeps its points: a mistake
    costs points only once.
    """

    def __init__(self, first: Check, error: BaseException) -> None:
        self.rests_on = first.__name__
        self.share = self.kept = getattr(error, "kept", 0.0)
        self.function = getattr(error, "function", "")
        self.stand_ins = getattr(error, "stand_ins", {})
        sentence = " ".join((first.__doc__ or self.rests_on).split())
        self.lines = (("not judged", f"it depends on a check that failed: {sentence}"),)
        super().__init__(sentence)


class CrashError(Exception):
    """The learner's function raised an exception, which is the cause of this one."""

    def __init__(self, called: str, where: str = "", function: str = "") -> None:
        self.called, self.where, self.function = called, where, function


class Formula:
    """A function handed to the learner's code, with the formula to show for it.

    If it is ``repeatable`` (the same for the same x, and not counted), a submission in another
    process need not ask for the same value twice.
    """

    def __init__(self, text: str, f: Callable[[Any], Any], *, repeatable: bool = False) -> None:
        self.text, self.f, self.calls, self.repeatable = text, f, 0, repeatable

    def __call__(self, x: Any) -> Any:
        """Evaluate, and count; the caller may change the result."""
        self.calls += 1
        return _copied(self.f(x))


SUM_OF_SQUARES = Formula("sum(x*x)", lambda x: np.sum(x * x))
SUM_OF_CUBES = Formula("sum(x*x*x)", lambda x: np.sum(x * x * x))


def after(*firsts: Check) -> Callable[[Check], Check]:
    """Make a check depend on others, which run first: alone, nonsense would pass it.

    For example, a function that returns zeros leaves its arguments alone, but deserves no points.
    """
    return functools.partial(_resting, firsts, before=True)


def builds_on(*firsts: Check) -> Callable[[Check], Check]:
    """If a check fails, judge it only if others pass, which ask for less.

    A slope that is twice too large is wrong in every shape: that is one mistake, not two.
    """
    return functools.partial(_resting, firsts, before=False)


def _resting(firsts: tuple[Check, ...], check: Check, *, before: bool) -> Check:
    """Let a check rest on others, which run before it, or only if it fails."""

    @functools.wraps(check)
    def resting(sub: Any) -> None:
        if before:
            _run_firsts(firsts, check, sub)
        try:
            check(sub)
        except (AssertionError, CrashError) as failure:
            if not before:
                _run_firsts(firsts, check, sub, failure)
            raise

    return resting


def _run_firsts(
    firsts: tuple[Check, ...], check: Check, sub: Any, failure: BaseException | None = None
) -> None:
    """Run the checks that a check depends on; if one fails, it is not judged, and says so.

    But a known mistake excuses only the function that has it. Any other function is judged, with a
    right one in the place of the wrong one if there is a stand-in.
    """
    failed: list[tuple[Check, BaseException]] = []
    for first in firsts:
        try:
            first(sub)
        except (AssertionError, CrashError) as error:
            failed.append((first, error))
    if not failed:
        return
    first, cause = min(failed, key=lambda pair: getattr(pair[1], "kept", 0.0))
    not_judged = NotJudgedError(first, cause)
    if not_judged.kept == 1:
        excused = {getattr(error, "function", "") for _, error in failed}
        _judge_others(excused, not_judged.stand_ins, check, sub, failure)
    raise not_judged from failure or cause


def _judge_others(
    excused: set[str],
    stand_ins: dict[str, Any],
    check: Check,
    sub: Any,
    failure: BaseException | None,
) -> None:
    """Refuse the wrong answer of a function that is not excused, where right ones stand in."""
    if failure is None or stand_ins:
        failure = None
        with standing_in(sub, stand_ins):
            try:
                check(sub)
            except NotJudgedError as error:
                if error.kept < 1:
                    raise
            except (WrongAnswerError, CrashError) as error:
                failure = error
    if not isinstance(failure, WrongAnswerError | CrashError):
        return
    if failure.function in excused - {*stand_ins}:
        return
    if stand_ins and isinstance(failure, WrongAnswerError):
        told = f"a right {' and '.join(stand_ins)} in the place of yours"
        failure.lines = (("with", told), *failure.lines)
    raise failure


@contextlib.contextmanager
def standing_in(sub: Any, stand_ins: dict[str, Any]) -> Iterator[None]:
    """Put functions in the place of those of a submission, also where it calls them itself."""
    theirs = {name: getattr(sub, name) for name in stand_ins}
    spaces = [getattr(function, "__globals__", {}) for function in theirs.values()]
    put = getattr(sub, "__put__", functools.partial(setattr, sub))  # in another process
    try:
        for name, function in stand_ins.items():
            put(name, function)
            for space in spaces:
                space[name] = function
        yield
    finally:
        for name, function in theirs.items():
            put(name, function)
            for space in spaces:
                space[name] = function


class AnyOf:
    """Several answers that the same mistake gives."""

    def __init__(self, *values: Any) -> None:
        self.values = values


def _each(value: Any) -> tuple[Any, ...]:
    return value.values if isinstance(value, AnyOf) else (value,)


class Call:
    """A call of a function of the submission, made when a result is expected."""

    def __init__(self, submission: Any, name: str, *arguments: Any, **keywords: Any) -> None:
        self.submission, self.name = submission, name
        self.before, self.keywords = arguments, keywords
        self.arguments: list[Any] = []  # of the last run
        formulas = [f"f(x) = {a.text}" for a in arguments if isinstance(a, Formula)]
        self.where = ", ".join(formulas)

    @functools.cached_property
    def text(self) -> str:
        """The call as the learner sees it; a check may set a better text."""
        words = [f"{word}={_argument(value)}" for word, value in self.keywords.items()]
        return f"{self.name}({', '.join([*map(_argument, self.before), *words])})"

    def run(self) -> Any:
        """Call the function; an exception becomes a ``CrashError``, or a TODO."""
        # The function may change its arguments, so it gets copies.
        self.arguments = [_copied(a) for a in self.before]
        keywords = {word: _copied(value) for word, value in self.keywords.items()}
        try:
            function = getattr(self.submission, self.name, None)  # or why there is none
            if callable(function):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a NaN is judged by the check
                    return plain(function(*self.arguments, **keywords))
        except NotImplementedError:
            raise
        except (Exception, SystemExit) as error:
            raise CrashError(self.text, self.where, self.name) from error
        raise WrongAnswerError(
            self.name,
            "no function of that name in your file",
            f"def {self.name}(...), as in the starter",
            f"check the spelling; {RESET} brings the starter back, and keeps your file",
        )

    def gives(
        self,
        expected: Any,
        mistakes: dict[str, Any] | None = None,
        *,
        evasions: dict[str, Any] | None = None,
        stand_in: StandIn = None,
        rtol: float = RTOL,
        otherwise: str = "",
    ) -> Any:
        """Return the result of the call, or refuse it, naming the mistake that gives the same.

        After a mistake that is known, the checks that depend on this one keep their points, if they
        pass with ``stand_in``, a right function, in the place of this one. ``evasions`` are answers
        that show no work: they are named, too, but keep nothing. ``otherwise`` is said of any other
        answer, so it must be true of all.
        """
        expected = np.asarray(expected) if isinstance(expected, list) else expected
        got = self.run()
        if not same(got, expected, rtol):
            whole = isinstance(got, np.ndarray) and got.dtype.kind in "iu"
            if whole and not isinstance(expected, str) and same(got, np.trunc(expected)):
                cut_off = "an array of integers cannot hold fractions: use dtype=float"
                self.refuse(got, expected, cut_off, known=True, stand_in=stand_in)
            for sentence, value in {**(evasions or {}), **(mistakes or {})}.items():
                if any(same(got, one, rtol) for one in _each(value)):
                    known = sentence not in (evasions or {})
                    self.refuse(got, expected, sentence, known=known, stand_in=stand_in)
            written = next((look_at for look_at, *_ in self._written()), "")
            seen = (
                written
                or looks_like(got, expected)
                or otherwise
                or where_wrong(got, expected, rtol)
            )
            known = bool(seen) and seen == slip(got, expected)
            self.refuse(got, expected, seen, known=known, stand_in=stand_in)
        if np.asarray(expected).dtype.kind == "b" != np.asarray(got).dtype.kind:
            self.refuse(repr(got), expected, "that is a number; the answer is True or False")
        return got

    def gives_in_any_size(self, expected: Any, *powers: int, of_result: int = 1) -> None:
        """Refuse an answer that does not grow with the arguments, as it should.

        The arguments are multiplied by ``powers`` of a small and of a large number, and the result
        that is expected by ``of_result``.
        """
        powers += (0,) * (len(self.before) - len(powers))
        for size, look_at in SIZES.items():
            other, places = copy.copy(self), zip(self._names(), powers, strict=False)
            told = [f"{name} times {size**power:g}" for name, power in places if power]
            other.where = ", ".join(filter(None, [self.where, *told]))
            given = zip(self.before, powers, strict=True)
            other.before = tuple(_times(size**power, one) for one, power in given)
            got, right = other.run(), _times(size**of_result, expected)
            if not same(got, right):
                other.refuse(got, right, few_digits(got, right) or look_at)

    def has_shape(self, shape: tuple[int, ...], stand_in: StandIn = None) -> Any:
        """Return an array of a certain shape, for an answer that may hold any numbers."""
        got = self.run()
        if np.shape(got) != shape:
            known = isinstance(got, np.ndarray) and got.ndim > 0 and bool(np.any(got))
            look_at = looks_like(got, np.ones(shape))
            self.refuse(got, f"an array of shape {shape}", look_at, known=known, stand_in=stand_in)
        return np.asarray(got)

    def leaves_its_arguments(self) -> None:
        """Refuse a call that writes into its arguments, even for a moment."""
        self.run()
        for look_at, name, before, after in self._written():
            told, right = told_apart(after, before)
            self.refuse(f"{name} = {told} afterwards", f"{name} = {right}", look_at)

    def gives_a_new_array(self) -> None:
        """Refuse a call that returns one of its arguments, in which others may write later."""
        got = self.run()
        for name, given in zip(self._names(), self.arguments, strict=False):
            if isinstance(got, np.ndarray) and np.may_share_memory(got, given):
                look_at = f"whoever writes into one changes the other: {name}.copy() is a new array"
                self.refuse(f"{name} itself, not a new array", "a new array", look_at)

    def calls_f(self, times: int, look_at: str) -> None:
        """Refuse a call that calls its ``f`` more or less often."""
        f = next(one for one in self.before if isinstance(one, Formula))
        before = f.calls
        self.run()
        if f.calls - before != times:
            self.refuse(f"{f.calls - before} calls of f", f"{times}", look_at)

    def raises(self, kind: type[Exception], look_at: str = "") -> None:
        """Refuse a call that does not raise this kind of error."""
        try:
            got = shown(self.run())
        except CrashError as crash:
            if isinstance(crash.__cause__, kind):
                return
            got = f"{type(crash.__cause__).__name__}: {crash.__cause__}"
            look_at = f"your function raises an error, but of another kind than {kind.__name__}"
        self.refuse(got, f"a {kind.__name__}, raised by your function", look_at)

    def refuse(
        self,
        got: Any,
        expected: Any,
        look_at: str = "",
        *,
        share: float = 0.0,
        known: bool = False,
        stand_in: StandIn = None,
    ) -> NoReturn:
        """Refuse the result of the call; texts are shown unchanged.

        A ``share`` of the points is kept, here and by the checks that depend on this one, which
        keep all of them if the mistake is ``known``.
        """
        got, expected = told_apart(got, expected)
        error = WrongAnswerError(self.text, got, expected, look_at, where=self.where)
        error.share, error.kept, error.function = share, 1.0 if known else share, self.name
        error.habit = FIGURES.sub("", look_at) if known else ""
        one = {self.name: stand_in} if stand_in else {}
        error.stand_ins = stand_in if isinstance(stand_in, dict) else one
        raise error

    def _names(self) -> list[str]:
        """Return the names of the parameters."""
        return list(inspect.signature(getattr(self.submission, self.name)).parameters)

    def _written(self) -> Iterator[tuple[str, str, Any, Any]]:
        """Say what to do about each argument that the call has changed: name, old, new value."""
        for name, before, after in zip(self._names(), self.before, self.arguments, strict=False):
            if isinstance(before, np.ndarray) and not same(after, before, 0.0):
                look_at = f"your function changes its argument; work on a copy: {name}.copy()"
                yield look_at, name, before, after


def is_derived(call: Call, right: Any, mistakes: dict[str, Any] | None = None) -> None:
    """Refuse a gradient that is wrong, or measured: differences are right to only a few digits."""
    got = call.run()
    short = np.asarray(got).dtype.name in SHORT  # which has a sentence of its own
    if not short and same(got, right, 1e-5) and not same(got, right, DERIVED):
        off = np.abs(got - right).max() / np.abs(right).max()
        call.refuse(
            f"a gradient that is off by {off:.1g} of its largest entry",
            "all digits",
            "is it measured? A derived gradient needs no differences, and has no such error",
        )
    sizes = "right in the calls before this one, but not here, where sizes and numbers are others"
    call.gives(right, mistakes, evasions={sizes: 0 * right}, rtol=DERIVED, otherwise=sizes)


def give_all(
    rows: Sequence[tuple[Call, Any, str]], mistakes: dict[str, Any], rtol: float = RTOL
) -> None:
    """Refuse the first wrong answer of several; one answer alone may have many causes.

    A row is a call, its result, and what to look at, which must be true of any wrong answer. A
    mistake is known if all answers are the ones that it gives.
    """
    answers = [call.run() for call, *_ in rows]
    for got, (call, expected, look_at) in zip(answers, rows, strict=True):
        if not same(got, expected, rtol):
            for sentence, value in mistakes.items():
                if any(all(map(same, answers, theirs)) for theirs in _each(value)):
                    call.refuse(got, expected, sentence, known=True)
            call.refuse(got, expected, looks_like(got, expected) or look_at)


def is_no_measurement(small: Call, large: Call | None = None, forward: Call | None = None) -> None:
    """Refuse a gradient that costs what a measurement costs, or calculates with other numbers.

    ``small`` and ``large`` are calls at two sizes; ``forward`` is the forward pass at the large
    size. A loop over the entries is slow, too, but its time grows with the array, and that of a
    measurement with the square of it.
    """
    calls, kind, time = _effort(small, forward.name if forward else "")
    if kind == "long":
        small.refuse(
            "a calculation in long double",
            "a gradient that is derived",
            "is it measured? A derived gradient needs no more digits than float64 has",
        )
    if kind:
        small.refuse(
            "a calculation with complex numbers",
            "a gradient that is derived",
            "is it measured? A complex step is a measurement, too",
        )
    if large is None or forward is None:
        return
    if calls > MOST_PASSES:
        look_at = "is it measured? A derived gradient does not need a forward pass for every entry"
        got = f"{calls} calls of {forward.name}"
        small.refuse(got, "only a few: a gradient that is derived", look_at)
    longer = _effort(large, None)[2]
    passes = longer / max(_effort(forward, None)[2], LEAST_TIME)
    growth = max(_growths(small, large))
    if passes > MOST_PASSES and longer > MOST_GROWTH * growth * max(time, LEAST_TIME):
        large.refuse(
            f"as long as {passes:.0f} forward passes, and {longer / max(time, LEAST_TIME):.0f} "
            f"times as long for {growth:.0f} times as many entries",
            f"at most {MOST_PASSES} forward passes",
            "is it measured? A step for every entry repeats the forward pass for every entry",
        )


def _effort(call: Call, forward: str | None = "") -> tuple[int, str, float]:
    function = getattr(call.submission, call.name)
    measure = getattr(function, "__effort__", None) or functools.partial(effort, function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measure([_copied(a) for a in call.before], forward)


def _growths(small: Call, large: Call) -> Iterator[float]:
    """Yield how many times as large each array is."""
    for one, other in zip(small.before, large.before, strict=True):
        if isinstance(one, np.ndarray):
            yield other.size / one.size


class Part(Call):
    """A call that returns several arrays, of which the check tests one."""

    def __init__(
        self, submission: Any, name: str, *arguments: Any, part: str, parts: tuple[str, ...]
    ) -> None:
        super().__init__(submission, name, *arguments)
        self.part, self.parts, self.text = part, parts, f"{part} of {self.text}"

    def run(self) -> Any:
        """Call the function, and return the part; an answer that ends too early may have it."""
        return self.answers(self.part)[self.part]

    def answers(self, needed: str = "") -> dict[str, Any]:
        """Call the function; return its results by the names of the parts, up to one at least."""
        got, needed = super().run(), needed or self.parts[-1]
        if isinstance(got, np.ndarray) and got.ndim == 1:  # several numbers, in an array
            got = [*got]
        several = isinstance(got, tuple | list)
        named = dict(zip(self.parts, got, strict=False)) if several else {}
        if needed not in named or len(got) > len(self.parts):
            self.refuse(
                f"{len(got)} things" if several else got,
                f"{len(self.parts)} arrays: {', '.join(self.parts)}",
                "the return at the end of your function",
            )
        return named


def evidence_of(
    sub: Any, words: dict[str, list[str]], what: str, read: Any, share: Any, *, each: bool
) -> dict[str, Any]:
    """Return the calls that ``evidence()`` gives as evidence, by the names of the functions.

    ``words`` has the names of the arguments of each, and ``what`` says whose names these are, "name
    of the layer". ``read(name, given)`` returns arrays, and a complaint if no call can be made of
    them. Evidence that holds no call is refused, or with ``each`` one that holds something else,
    too; ``share(found, given)`` of the points is kept.
    """
    call = Call(sub, "evidence")
    got = call.run()
    if not isinstance(got, dict) or not got:
        form = f'{{"{what}": ({next(iter(words.values()))[0]}, ...), ...}}'
        call.refuse(got, form, "what evidence() returns; one call will do for a start")
    found, refusal = {}, None
    for name, given in got.items():
        try:
            if name not in words:
                call.refuse(f"evidence for {name!r}", f"one of {', '.join(words)}", "the spelling")
            problem = "a tuple of the arguments, also of one"
            if isinstance(given, tuple | list) and len(given) == len(words[name]):
                found[name], problem = read(name, given)
            if problem:
                found.pop(name, None)
                wanted = f"{name}: ({', '.join(words[name])}{',' * (len(words[name]) == 1)})"
                call.refuse(f"{name}: {shown(given)}", wanted, problem)
        except WrongAnswerError as error:
            refusal = refusal or error
    if refusal and (each or not found):
        refusal.share = refusal.kept = share(found, got)
        raise refusal
    return found


def shows(report: Any) -> bool:
    """Whether a report is evidence: the answer is surely wrong, and in its numbers."""
    in_numbers = ("wrong", "ignores-input")  # the second where f is flat, and the claim is not
    return bool(report.verdict == "fail" and report.reason in in_numbers)


def _times(factor: float, value: Any) -> Any:
    """Multiply a number, an array or what a formula gives."""
    if factor == 1:
        return value
    if isinstance(value, Formula):
        return Formula(f"{factor:g} * ({value.text})", lambda x: factor * value.f(x))
    return factor * np.asarray(value) if isinstance(value, list) else factor * value


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def plain(answer: Any) -> Any:
    """Return an answer as what it is worth: numbers, texts, arrays, and containers of them.

    An object of a class of the learner's may say anything of itself: to ``np.shape`` and ``np.sum``
    it tells its own shape and sum. So it is read here, once, and nothing asks it again.
    """
    if answer is None or type(answer) in (bool, int, float, complex):
        return answer
    if isinstance(answer, np.ndarray | np.generic):
        array = np.asarray(answer)
        return array if isinstance(answer, np.ndarray) else array[()]
    if isinstance(answer, str):
        return str.__str__(answer)
    kind: Any
    for kind in (int, float, complex):
        if isinstance(answer, kind):
            return kind.__pos__(answer)
    if isinstance(answer, dict):
        return {plain(key): plain(value) for key, value in dict.items(answer)}
    for kind in (list, tuple):
        if isinstance(answer, kind):
            return kind(map(plain, kind.__iter__(answer)))
    if hasattr(type(answer), "__array__"):  # as a tensor has it
        return plain(np.asarray(answer))
    unknown = np.empty((), dtype=object)
    unknown[()] = answer
    return unknown


def same(got: Any, expected: Any, rtol: float = RTOL) -> bool:
    """Whether two answers agree in shape and value; NaN agrees with NaN."""
    try:
        got = np.asarray(got)
        if isinstance(expected, str):
            return got.dtype.kind == "U" and not got.shape and str(got) == expected
        expected = np.asarray(expected, float)
        if got.dtype.kind not in "fiub" or got.shape != expected.shape:
            return False
    except ValueError:  # a ragged list
        return False
    size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    return bool(np.allclose(got, expected, rtol=rtol, atol=rtol * size, equal_nan=True))


def rounded(numeric: Any, digits: int = 9) -> Any:
    """Round a numeric gradient to this many digits of its largest entry: the rest is noise."""
    size = np.abs(numeric).max(initial=0.0)
    return np.round(numeric, digits - int(np.floor(np.log10(size)))) if size else numeric


def looks_like(got: Any, expected: Any) -> str:
    """Say what a wrong answer looks like, if the numbers alone show it."""
    if got is None:
        return "nothing came back: is there a return?"
    if isinstance(got, str) and isinstance(expected, bool):
        return f"that is a text; write {expected} without quotes"
    if isinstance(expected, str):
        return "" if isinstance(got, str) else "a word is asked for, as a text in quotes"
    if known := slip(got, expected):
        return known
    try:
        got, right = np.asarray(got), np.asarray(expected, float)
    except ValueError:
        return ""
    if got.dtype == object:
        return "an array of objects, of dtype object: make the array with dtype=float"
    if got.dtype.kind not in "fiub":
        return ""
    if got.shape != right.shape:
        return f"the shape: {_shape(got)} came back, but the answer needs {_shape(right)}"
    if isinstance(expected, bool):
        return "" if got.dtype == bool else "that is a number; True or False is asked for"
    if not np.isfinite(got).all() and np.isfinite(right).all():
        return "a number that is not finite: did something overflow, or was 0 divided by 0?"
    if not got.any() and got.shape:
        return "nothing but zeros: does your function fill in the result?"
    return ""


def slip(got: Any, expected: Any) -> str:
    """Name a slip by which all of a wrong answer comes from the right one; it is known, always."""
    if isinstance(expected, str | bool):
        return ""
    try:
        got, right = np.asarray(got), np.asarray(expected, float)
    except ValueError:
        return ""
    if got.dtype.kind not in "fiub" or not got.any() or not right.any():
        return ""
    if not np.isfinite(got).all() and np.isfinite(right).all():
        return ""
    if says := few_digits(got, right):
        return says
    if got.shape != right.shape:
        if not got.shape and got.dtype.kind != "b" and right.size > 1 and same(got, right.sum()):
            return "that is the sum of all entries; return each of them"
        if right.ndim == 2 and same(got, right.T):
            return "that is its transpose"
        if (right.size > 1 or (got.shape and right.shape)) and same(got.ravel(), right.ravel()):
            return f"the numbers are right, but their shape is {got.shape}, and not {right.shape}"
        return ""
    if same(got, -right, 1e-6):
        return SIGN
    if np.asarray(expected).dtype == bool:
        return ""
    at = np.unravel_index(np.argmax(np.abs(right)), right.shape)
    factor = float(got[at] / right[at])
    if right.size > 1 and abs(factor - 1) > 1e-3 and factor and same(got, factor * right, 1e-6):
        return f"a factor: every entry is {ratio(factor)} x what it should be"
    if said := _of_the_right_one(got, right):
        return said
    if right.size == 1 and is_simple(factor) and (factor in FEW or (got % 1).any()):
        return f"it is {ratio(factor)} x what it should be"
    return ""


def few_digits(got: Any, right: Any) -> str:
    """Say so if the numbers are right, but of a type with few digits."""
    name = np.asarray(got).dtype.name
    if name in SHORT and same(got, right, 1e-2):
        return f"{name} has few digits: leave the numbers as they are, float64"
    return ""


def _of_the_right_one(got: Any, right: Any) -> str:
    """Say how an answer comes from the right one, if it does, in a way that many slips have."""
    with np.errstate(all="ignore"):
        ways = {
            "that is its absolute value; the sign is to be kept": np.abs(right),
            "that is its logarithm": np.log(right),
            "that is its exponential": np.exp(right),
            "that is its square": right**2,
            "that is its root": np.sqrt(right),
            "that is 1 divided by it": 1 / right,
        }
    if right.ndim == 2:
        ways["that is its transpose"] = right.T
    for axis in range(right.ndim):
        ways[f"the entries are in the opposite order along axis {axis}"] = np.flip(right, axis)
    if right.size > 1:
        off = float((got - right).flat[0])
        ways[f"every entry is {abs(off):.4g} too {'large' if off > 0 else 'small'}"] = right + off
    for sentence, value in ways.items():
        if same(got, value):
            return sentence
    if right.size > 2 and same(np.sort(got, axis=None), np.sort(right, axis=None)):
        return "the right numbers are there, in other places"
    return ""


def shown(value: Any, digits: int = 6) -> str:
    """Write an answer on one line, numbers with this many digits."""
    if isinstance(value, tuple):
        told: list[str] = []
        for part in value:  # as far as it will be shown
            told.append(shown(part, digits))
            if sum(map(len, told)) > MOST_SHOWN:
                break
        value = f"({', '.join(told)})"
    if isinstance(value, list):  # of NumPy's numbers, as plain ones
        value = [part.item() if isinstance(part, np.generic) else part for part in value]
    if isinstance(value, float | np.floating):
        return f"{value + 0.0:.{digits}g}"
    if isinstance(value, np.ndarray):
        number: Any = {"float_kind": lambda entry: f"{entry + 0.0:.{digits}g}"}  # -0 is 0
        value = np.array2string(value, threshold=40, edgeitems=4, formatter=number)
    text = " ".join(str(value).split())
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + " ..."


def told_apart(got: Any, expected: Any) -> tuple[str, str]:
    """Write both with six digits, or with as many as show that they differ."""
    for digits in range(6, 18):
        texts = shown(got, digits), shown(expected, digits)
        if texts[0] != texts[1]:
            break
    return texts


def _shape(array: Any) -> str:
    return f"an array of shape {array.shape}" if array.shape else "a single number"


def _argument(value: Any) -> str:
    return "f" if isinstance(value, Formula) else shown(value)
