"""What is wrong earns little: every wrong answer, and those that are hardly any."""

import ast
import re
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from wrong_submissions import earned_by, right_answers, wrong_answers

import course
import expect
from expect import Call, after, builds_on
from grader.report import graded_exercise

COURSE = course.read_course()
# What exercise 10 gives is a share of bugs, and frozen in test_course_judging.py.
# And the table on the page is the same for those who have torch.
EXERCISES = {e.name: e for e in COURSE.exercises if e.kind != "judge" and not e.package}
MOST = 70  # percent of the points of an exercise
ROOT = Path(__file__).parents[2]


ROW = re.compile(r"^\| (\d\d) \| `(\w+)` \| ([\w ]+) \| (\d+) % \|$", re.MULTILINE)


def test_no_wrong_answer_earns_more_than_seven_tenths():
    table = (ROOT / "docs" / "examples" / "wrong_answers.md").read_text(encoding="utf-8")
    rows = ROW.findall(table.replace("%", " %"))  # test_docs.py sees to it that they are true
    assert {(number, task, what.replace(" ", "_")) for number, task, what, _ in rows} == {
        (exercise.number, wrong.task, str(wrong))
        for exercise in EXERCISES.values()
        for wrong in wrong_answers(exercise)
    }
    assert len(table.splitlines()) == 2 + len(rows)
    assert max(int(share) for *_, share in rows) <= MOST


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        pytest.param(exercise, answer, id=f"{exercise.number}-{answer}")
        for exercise in EXERCISES.values()
        for answer in right_answers(exercise)
    ],
)
def test_an_unusual_right_answer_earns_everything(exercise, answer):
    assert earned_by(exercise, answer) == 1


def an_array(arguments):
    return next((np.zeros(a.shape) for a in arguments if isinstance(a, np.ndarray)), 0.0)


TRIVIAL = {
    "nothing": lambda *_, **__: None,
    "False": lambda *_, **__: False,
    "True": lambda *_, **__: True,
    "zero": lambda *_, **__: 0.0,
    "zeros": lambda *a, **__: an_array(a),
    "zeros for each": lambda *a, **__: tuple(np.zeros_like(part) for part in a[2:6]),
    "a constant": lambda *_, **__: "wrong",
    "a pair": lambda *_, **__: (0.0, np.inf),
    "no evidence": lambda *_, **__: {},
}


def with_nothing_but(exercise, answer):
    """Return a starter of which every task gives the same."""
    path = exercise.folder / "starter.py"
    source = path.read_text(encoding="utf-8")
    tasks = [
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
        and "NotImplementedError" in ast.get_source_segment(source, node)
    ]
    assert tasks
    return SimpleNamespace(**{**vars(course.load(path)), **dict.fromkeys(tasks, answer)})


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", EXERCISES)
def test_a_trivial_answer_earns_nothing(name):
    exercise = EXERCISES[name]
    checks = course.checks_of(exercise, heldout=True)
    for what, answer in TRIVIAL.items():
        submission = with_nothing_but(exercise, answer)
        outcome = course.judge_loaded(
            exercise, submission, exercise.work, to_the_end=True, checks=checks
        )
        assert [result.check for result in outcome.results if result.share] == [], what


def test_an_answer_of_very_many_parts_is_not_written_out():
    begun = time.process_time()
    deep = ()
    for _ in range(30):
        deep = (deep, deep)  # 2**30 in all
    for answer in ((0.5,) * 1_000_000, deep):
        assert len(expect.shown(answer)) <= expect.MOST_SHOWN + len(" ...")
    assert expect.shown((0.5, (), np.array([1.0]))) == "(0.5, (), [1])"
    assert time.process_time() - begun < 5


def test_a_check_that_rests_on_another_is_worth_nothing_while_that_one_fails():
    def check_first(sub):
        """The first."""
        assert sub.right

    @after(check_first)
    def check_manners(sub):
        """Manners."""
        assert sub.polite

    assert check_manners.__name__ == "check_manners"
    assert check_manners.__doc__ == "Manners."
    check_manners(SimpleNamespace(right=True, polite=True))
    for right, polite in ((False, True), (True, False)):
        with pytest.raises(AssertionError):
            check_manners(SimpleNamespace(right=right, polite=polite))


def half_of_each(sub):
    """Answer for the part that the others build on."""
    Call(sub, "double", 3.0).gives(6.0, slips={"where is the 2?": 3.0})


def judged_by(check, **functions):
    """Return what there is to say after the part the others build on was judged."""
    checks = [half_of_each, check]
    exercise = EXERCISES["01_forward"]
    submission = SimpleNamespace(**functions)
    return course.judge_loaded(
        exercise, submission, exercise.work, checks=checks, to_the_end=True
    ).results[1]


@builds_on(half_of_each)
def asks_for_more(sub):
    """Answer for another number."""
    Call(sub, "double", 5.0).gives(10.0)


@pytest.mark.parametrize(
    ("double", "status", "share"),
    [
        (lambda x: 2 * x, "passed", 1.0),
        (lambda x: x, "not run", 0.5),
        (lambda x: 7.0, "not run", 0.0),
        (lambda x: 1 / 0, "not run", 0.0),
        (lambda x: 10.0, "passed", 1.0),  # by luck: what is right is right
        (lambda x: 6.0, "failed", 0.0),  # the part below it is right, so this is a mistake here
    ],
    ids=["right", "a slip", "nonsense", "a crash", "lucky", "right below"],
)
def test_what_builds_on_a_part_is_judged_if_that_part_is_right(double, status, share):
    result = judged_by(asks_for_more, double=double)
    assert (result.status, result.share) == (status, share)
    labels = [label for label, _ in result.lines]
    assert (labels == ["not judged"]) == (status == "not run")
    assert (status == "failed") == ("got" in labels)


def test_a_part_that_fails_only_when_it_is_asked_again_is_told_there():
    answers = iter([6.0, 3.0])
    result = judged_by(after(half_of_each)(asks_for_more), double=lambda _: next(answers))
    assert result.status == "failed"
    assert ("look at", "where is the 2?") in result.lines


def central_for_all(*, apart, sign=1):
    """Build both functions of exercise 2 on one, as students do."""

    def central_difference(f, x, h):
        slopes = np.zeros(x.shape)
        for i in np.ndindex(x.shape):
            ahead, behind = x.copy(), x.copy()
            ahead[i] += h
            behind[i] -= h
            slopes[i] = sign * (f(ahead) - f(behind)) / apart(ahead[i] - behind[i])
        return slopes

    def array_difference(f, x, upstream, h):
        return central_difference(lambda x: np.sum(f(x) * upstream), x, h)

    return {"central_difference": central_difference, "array_difference": array_difference}


SLIPS = {
    "no slip": ("02_central", central_for_all(apart=lambda step: step), 13, []),
    "h for 2*h": ("02_central", central_for_all(apart=lambda step: step / 2), 5, ["02.1"]),
    "a sign": ("02_central", central_for_all(apart=lambda step: step, sign=-1), 5, ["02.1"]),
    "no upstream": ("06_relu", {"relu_backward": lambda x, _: 1.0 * (x > 0)}, 5.5, ["06.2"]),
    "the gate": ("06_relu", {"relu_backward": lambda x, u: u * (x <= 0)}, 5.5, ["06.2"]),
    "zeros": ("06_relu", {"relu_backward": lambda x, _: np.zeros(x.shape)}, 1, ["06.2"]),
}


@pytest.mark.parametrize(("name", "functions", "earned", "failed"), SLIPS.values(), ids=SLIPS)
def test_one_slip_costs_its_part_and_accuses_nothing_else(name, functions, earned, failed):
    exercise = EXERCISES[name]
    solution = vars(course.load(exercise.folder / "solution.py"))
    submission = SimpleNamespace(**{**solution, **functions})
    graded = graded_exercise(
        course.judge_loaded(exercise, submission, exercise.work, heldout=True, to_the_end=True)
    )
    assert graded.earned == earned
    *each, whole = graded.checks
    assert [check.number for check in each if check.status == "failed"] == failed
    assert whole.status == ("failed" if failed else "passed")
    assert not any("afterwards" in check.message for check in each)
    for check in each:
        assert (check.status == "not run") == check.message.startswith("not judged: it rests on")
