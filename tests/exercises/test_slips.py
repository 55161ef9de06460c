"""Wrong answers: each is refused with a place to look, and a slip costs only its own points."""

import functools
import re
from types import SimpleNamespace

import numpy as np
import pytest
from graded import ORDINARY, best_wall
from wrong_submissions import (
    NOTHING,
    checks_of,
    judged,
    loaded,
    outcome_of,
    rows_of,
    solution_of,
    wrong_answers,
)

import course
import screen
from catalogue import speak, told, word
from expect import AnyOf, Call, CrashError, WrongAnswerError, give_all, same
from grader.grading import grade, load_checks
from grader.report import graded_exercise

COURSE = course.read_course()
POSSIBLE = [exercise for exercise in COURSE.exercises if not course.missing(exercise)]
MOST = 0.7  # of the points of an exercise, for anything wrong
TRANSLATED = "14"  # the last exercise whose messages are
# More than one mistake, or a wrong idea that spoils two parts, though the first is a known one.
MORE_THAN_A_SLIP = {
    "knows the answer for the example",
    "gates the scores too",
    "drops the sign",
}
HAN = re.compile("[\u3400-\u9fff]")
ENGLISH = re.compile(r"(?<![\w`'.])(the|is|are|and|of|not|that|has|have|in|by|to)(?![\w`'.(])")
CODE = {"called", "raised", "at", "where", "got", "expected"}  # or values


def test_there_are_many_wrong_answers_and_nearly_each_earns_a_sentence():
    tables = [wrong_answers(exercise) for exercise in POSSIBLE]
    assert min(sum(wrong.named for wrong in table) for table in tables) >= 5
    says = [wrong.says for table in tables for wrong in table]
    assert len(says) >= 750
    assert says.count(NOTHING) <= 0.05 * len(says)


def is_known(exercise, wrong):
    """Whether the first check that fails knows the mistake, so that others keep their points."""
    submission = SimpleNamespace(**vars(loaded(exercise, wrong.source)))
    for check in checks_of(exercise.name, exercise.home, False):
        try:
            check(submission)
        except AssertionError as error:
            return error.kept == 1
        except CrashError:
            return False
    return False


def untranslated(results):
    """Return what is said in English to a reader of Chinese."""
    said = [line for result in results for line in [("", result.sentence), *result.lines]]
    speak("zh")
    labels = [word(label) for label, _ in said if label]
    advice = [told(text) for label, text in said if label not in CODE]
    speak("en")
    mixed = [text for text in advice if ENGLISH.search(text)]
    return [text for text in labels + advice if not HAN.search(text)] + mixed


@pytest.mark.one_in(90)
@pytest.mark.parametrize(
    ("exercise", "wrong"),
    [
        pytest.param(exercise, wrong, id=f"{exercise.number}-{wrong}")
        for exercise in POSSIBLE
        for wrong in wrong_answers(exercise)
    ],
)
def test_a_wrong_answer_is_refused_with_a_place_to_look(exercise, wrong, monkeypatch, capsys):
    outcome = outcome_of(exercise, wrong.source)
    failing = outcome.first_failing
    assert failing is not None, "every check passes"
    assert failing.check.startswith("heldout_" if "(held out)" in wrong.name else "check_")
    assert failing.status == "failed"
    labels = [label for label, _ in failing.lines if label not in ("where", "look at")]
    assert labels in (["called", "got", "expected"], ["called", "raised", "at"])
    if wrong.says != NOTHING:
        assert wrong.says in " ".join(text for _, text in failing.lines)
        assert "look at" in dict(failing.lines) or "raised" in labels
    graded = graded_exercise(outcome)
    assert graded.earned <= MOST * exercise.worth
    if graded.earned < exercise.worth / 2 and wrong.name not in MORE_THAN_A_SLIP:
        assert not is_known(exercise, wrong)
    if exercise.number <= TRANSLATED:
        assert untranslated(outcome.results) == []
    capsys.readouterr()  # some print what they should return
    monkeypatch.setenv("COLUMNS", "60")
    screen.show(COURSE, outcome)
    assert [line for line in capsys.readouterr().out.splitlines() if len(line) > 60] == []


# --- every mistake that a check knows ------------------------------------------------------------


def refused(calls, answers, sentence, ask):
    """See that these answers to calls are refused with a sentence, and cost nothing else."""
    for call, answer in zip(calls, answers, strict=True):
        call.run = lambda answer=answer: answer
    with pytest.raises(WrongAnswerError) as refusal:
        ask()
    assert dict(refusal.value.lines)["look at"] == sentence
    assert (refusal.value.share, refusal.value.kept) == (0, 1)
    for call in calls:
        del call.run


def first_of(answers):
    return answers.values[0] if isinstance(answers, AnyOf) else answers


@pytest.mark.one_in(10)
@pytest.mark.parametrize(
    "exercise", [e for e in POSSIBLE if e.kind in ("build", "check")], ids=lambda e: e.name
)
def test_every_known_mistake_has_its_sentence_and_keeps_half(exercise, monkeypatch):
    gives, known = Call.gives, []

    def gives_each(call, expected, mistakes=None, **how):
        for sentence, answer in (mistakes or {}).items():
            if isinstance(answer, AnyOf) or not same(answer, expected):  # or another call shows it
                known.append(sentence)
                ask = lambda: gives(call, expected, mistakes, **how)  # noqa: E731
                refused([call], [first_of(answer)], sentence, ask)
        return gives(call, expected, mistakes, **how)

    def gives_all(rows, mistakes):
        for sentence, answers in mistakes.items():
            known.append(sentence)
            calls = [call for call, *_ in rows]
            refused(calls, first_of(answers), sentence, lambda: give_all(rows, mistakes))
        give_all(rows, mistakes)

    checks = course.load(exercise.folder / "checks.py")
    monkeypatch.setattr(checks, "give_all", gives_all, raising=False)
    monkeypatch.setattr(Call, "gives", gives_each)
    for check, points in exercise.points.items():
        before = len(known)
        getattr(checks, check)(course.load(exercise.folder / "solution.py"))
        if len(known) > before:
            assert exercise.whole + points <= exercise.worth / 2
    assert len(set(known)) >= 5


# --- what builds on a slip -----------------------------------------------------------------------

SLIP = "return e / e.sum(axis=1, keepdims=True)", "return e"
NONSENSE = "return gradient / n", "return np.arange(gradient.size).reshape(gradient.shape)"


def in_this_process(exercise, source, _):
    """Return the points of each check, for a file in this process."""
    return graded_exercise(outcome_of(exercise, source))


def behind_a_wall(exercise, source, folder):
    """Return the points of each check, as for a class."""
    (folder / f"{exercise.name}.py").write_text(source, encoding="utf-8")
    with best_wall() as wall:
        (graded,) = grade(folder, load_checks([exercise]), wall, ORDINARY).exercises
    return graded


@pytest.mark.parametrize(
    "where", [in_this_process, pytest.param(behind_a_wall, marks=pytest.mark.slow)]
)
def test_what_builds_on_a_slip_is_judged_with_a_right_function_in_its_place(where, tmp_path):
    exercise = COURSE.find("07")
    points = exercise.points
    slip = where(exercise, solution_of(exercise, SLIP), tmp_path)
    assert slip.earned == exercise.worth - exercise.whole - points["check_probabilities"]
    nonsense = where(exercise, solution_of(exercise, SLIP, NONSENSE), tmp_path)
    said = {check.id.partition("/")[2]: check for check in nonsense.checks}
    for name in ("check_the_gradient", "check_other_sizes", "heldout_rows_are_examples"):
        assert said[name].earned == 0
    assert said["check_the_gradient"].status == "failed"
    assert "with: a right softmax in the place of yours" in said["check_the_gradient"].message
    assert said["check_large_scores"].earned == points["check_large_scores"]  # of softmax itself


UNWRITTEN = 'raise NotImplementedError("exercise 15, task 2: forward")'


def test_a_slip_earns_nothing_for_what_is_not_written_or_wrong_by_itself():
    dropout, earned = COURSE.find("15"), {}
    line = "return np.tanh((np.tanh(x) * first) @ W) * second"
    for what, instead in ("right", line), ("unwritten", UNWRITTEN), ("nonsense", "return x + 1"):
        source = solution_of(dropout, (">= p) / (1 - p)", ">= p)"), (line, instead))
        graded = graded_exercise(outcome_of(dropout, source))
        earned[what] = {check.id.partition("/")[2]: check.earned for check in graded.checks}
    assert earned["right"]["check_masks"] == 0
    assert earned["right"]["check_forward"] == dropout.points["check_forward"]
    assert earned["unwritten"]["check_forward"] == earned["nonsense"]["check_forward"] == 0
    assert earned["nonsense"]["check_backward"] == dropout.points["check_backward"]


# --- a slip costs once, wherever it is made ------------------------------------------------------

# An exercise, the check that loses its points, and what is changed in the solution.
MADE_TWICE = """
01 | one_entry | return slopes | return slopes.sum()
06 | forward | np.maximum(x, 0) | np.maximum(x, 0).sum()
06 | one_entry_at_a_time | upstream, 0.0) | upstream, 0.0).sum()
08 | hidden_and_scores | np.maximum(X @ W1 + b1, 0) | np.maximum(z := X @ W1 + b1, 0.1 * z)
08 | hidden_and_scores | np.maximum(X @ W1 + b1, 0) | np.maximum(z := X @ W1 + b1, 0.1 * z)
    | * (hidden > 0) | * np.where(hidden > 0, 1, 0.1)
08 | the_loss | losses.mean() | losses.sum() | d_scores /= n | d_scores /= 1
11 | forward | np.sqrt((centred * centred).mean(axis=0) + eps) +
    | np.sqrt(x.var(axis=0, ddof=1) + eps) + | std = np.sqrt((centred * centred).mean(axis=0)
    | std = np.sqrt(x.var(axis=0, ddof=1)
11 | forward | np.sqrt((centred * centred).mean(axis=0) + eps) + | (x.var(axis=0) + eps) +
    | std = np.sqrt((centred * centred).mean(axis=0) + eps) | std = x.var(axis=0) + eps
11 | forward | np.sqrt((centred * centred).mean(axis=0) + eps) + | np.sqrt(x.var(axis=0)) +
    | std = np.sqrt((centred * centred).mean(axis=0) + eps) | std = np.sqrt(x.var(axis=0))
12 | dw_and_db | return dx, dw, | return dw, dx,
14 | signs | size=(lines, n) | size=(n, lines)
15 | the_seed | default_rng(seed) | default_rng()
15 | masks | .random(shape) | .random(shape[1:])
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("row", rows_of(MADE_TWICE), ids=" | ".join)
def test_a_slip_that_is_made_twice_costs_one_check(row):
    number, check, *edits = row
    exercise = COURSE.find(number)
    source = solution_of(exercise, *zip(edits[::2], edits[1::2], strict=True))
    checks = graded_exercise(outcome_of(exercise, source)).checks
    lost = {one.id.partition("/")[2]: one.points - one.earned for one in checks}
    expected = {f"check_{check}": exercise.points[f"check_{check}"], "whole": exercise.whole}
    assert {name: points for name, points in lost.items() if points} == expected


def test_another_mistake_beside_a_slip_costs_too():
    exercise = COURSE.find("11")
    slip = "std = np.sqrt((centred * centred).mean(axis=0) + eps)", "std = x.var(axis=0) + eps"
    both = solution_of(exercise, slip, ("upstream.sum(axis=0)", "upstream.mean(axis=0)"))
    other = solution_of(exercise, slip, ("upstream * gamma", "upstream + gamma"))
    one = graded_exercise(outcome_of(exercise, solution_of(exercise, slip))).earned
    assert graded_exercise(outcome_of(exercise, both)).earned < one
    assert graded_exercise(outcome_of(exercise, other)).earned < one


# --- numbers of any size -------------------------------------------------------------------------

LARGE = 1e6
DIGITS_LOST = {
    "large numbers are cut off": lambda x: np.clip(x, -LARGE, LARGE),
    "six digits behind the point": lambda x: np.round(x, 6),
    "float32": np.float32,
}
# What these are given, or return, is never large, or has no digits to lose.
BOUNDED = {
    *("band", "allclose", "five_point", "adaptive", "signs", "masks", "repeatable", "mends"),
    *("unseen", "blind_upstream"),
    *((name, "given") for name in ("measured", "asymmetry", "slope_along", "forward")),
    *((name, "returned") for name in ("relative_error", "softmax", "cross_entropy_backward")),
    *(("asymmetry", "returned"), ("forward", "returned")),
}


def tasks_of(exercise):
    """Return the names of the functions that a learner writes."""
    parts = re.split(r"^def (\w+)", (exercise.folder / "starter.py").read_text("utf-8"), flags=re.M)
    written = zip(parts[1::2], parts[2::2], strict=True)
    return [name for name, body in written if "NotImplementedError" in body]


def numbers(change, thing):
    """Change the numbers in what is given or returned."""
    if isinstance(thing, tuple | list):
        return type(thing)(numbers(change, one) for one in thing)
    return change(thing) if isinstance(thing, np.ndarray | float) else thing


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    ("number", "name", "where", "how"),
    [
        (e.number, name, where, how)
        for e in POSSIBLE
        if e.kind in ("build", "check") and e.number <= "15"
        for name in tasks_of(e)
        for where in ("given", "returned")
        for how in [*DIGITS_LOST][: 1 if where == "given" else None]
        if not {name, (name, where) if how == "large numbers are cut off" else ""} & BOUNDED
    ],
)
def test_who_loses_digits_does_not_earn_everything(number, name, where, how):
    exercise = COURSE.find(number)
    functions, change = vars(loaded(exercise, solution_of(exercise))), DIGITS_LOST[how]
    right = functions[name]

    @functools.wraps(right)
    def losing(*given, **more):
        given = numbers(change, given) if where == "given" else given
        return numbers(change if where == "returned" else lambda x: x, right(*given, **more))

    checks = checks_of(exercise.name, exercise.home, True)
    outcome = judged(exercise, functions | {name: losing}, checks=checks, to_the_end=True)
    assert graded_exercise(outcome).earned < exercise.worth


# --- no work, no points --------------------------------------------------------------------------

TRIVIAL = {
    "nothing": lambda *_, **__: None,
    "True": lambda *_, **__: True,
    "zeros": lambda *a, **__: next((0.0 * x for x in a if isinstance(x, np.ndarray)), 0.0),
    "zeros for each": lambda *a, **__: tuple(np.zeros_like(part) for part in a[2:6]),
    "a pair": lambda *_, **__: (0.0, np.inf),
    "no evidence": lambda *_, **__: {},
    "some that is none": lambda *_, **__: {
        "elu": (),
        "softmax": (np.ones((1, 2)), np.ones((1, 2))),
        "scaled": (),
        "penalty": (np.ones(2),),
    },
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    "exercise", [e for e in POSSIBLE if e.kind != "judge" and not e.package], ids=lambda e: e.name
)
def test_a_trivial_answer_earns_nothing(exercise):
    starter, tasks = exercise.folder / "starter.py", tasks_of(exercise)
    checks = checks_of(exercise.name, exercise.home, True)
    for what, answer in TRIVIAL.items():
        functions = vars(course.load(starter)) | dict.fromkeys(tasks, answer)
        outcome = judged(exercise, functions, to_the_end=True, checks=checks)
        assert [result.check for result in outcome.results if result.share] == [], what
