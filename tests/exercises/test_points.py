"""What is wrong earns little: every wrong answer, and those that are hardly any."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from wrong_submissions import edited, judged, rows_of

import course
import expect
from expect import Call, after, builds_on
from grader.report import graded_exercise

COURSE = course.read_course()
# What exercise 10 gives is a share of bugs, and frozen in test_judging.py.
# And the table on the page is the same for those who have torch.
EXERCISES = {e.name: e for e in COURSE.exercises if e.kind != "judge" and not e.package}
MOST = 70  # percent of the points of an exercise
ROOT = Path(__file__).parents[2]


def test_no_wrong_answer_earns_more_than_seven_tenths():
    table = (ROOT / "docs" / "examples" / "wrong_answers.md").read_text(encoding="utf-8")
    shares = re.findall(r" (\d+)% \|$", table, re.MULTILINE)  # true, test_docs.py sees to it
    assert len(shares) == len(table.splitlines()) - 2 > 400
    assert max(map(int, shares)) <= MOST


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


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", EXERCISES)
def test_a_trivial_answer_earns_nothing(name):
    exercise = EXERCISES[name]
    checks = course.checks_of(exercise, heldout=True)
    path = exercise.folder / "starter.py"
    parts = re.split(r"^def (\w+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    written = zip(parts[1::2], parts[2::2], strict=True)
    tasks = [name for name, body in written if "NotImplementedError" in body]
    for what, answer in TRIVIAL.items():
        functions = vars(course.load(path)) | dict.fromkeys(tasks, answer)
        outcome = judged(exercise, functions, to_the_end=True, checks=checks)
        assert [result.check for result in outcome.results if result.share] == [], what


def test_a_huge_answer_is_not_printed_in_full():
    deep = ()
    for _ in range(30):
        deep = (deep, deep)  # 2**30 in all
    for answer in ((0.5,) * 1_000_000, deep):
        assert len(expect.shown(answer)) <= expect.MOST_SHOWN + len(" ...")
    assert expect.shown((0.5, (), np.array([1.0]))) == "(0.5, (), [1])"


def half_of_each(sub):
    """Answer for the part that the others build on."""
    Call(sub, "double", 3.0).gives(6.0, {"where is the 2?": 3.0})


def judged_by(check, **functions):
    """Return what there is to say after the part the others build on was judged."""
    checks = [half_of_each, check]
    return judged(EXERCISES["01_forward"], functions, checks=checks, to_the_end=True).results[1]


@builds_on(half_of_each)
def asks_for_more(sub):
    """Answer for another number."""
    Call(sub, "double", 5.0).gives(10.0)


@pytest.mark.parametrize(
    ("double", "status", "share"),
    [
        (lambda x: 2 * x, "passed", 1.0),
        (lambda x: x, "not run", 1.0),
        (lambda x: 7.0, "not run", 0.0),
        (lambda x: 10.0, "passed", 1.0),  # by luck: what is right is right
        (lambda x: 6.0, "failed", 0.0),  # the part below it is right, so this is a mistake here
    ],
    ids=["right", "a slip", "nonsense", "lucky", "right below"],
)
def test_a_dependent_part_is_judged_if_its_base_is_right(double, status, share):
    result = judged_by(asks_for_more, double=double)
    assert (result.status, result.share) == (status, share)
    labels = [label for label, _ in result.lines]
    assert (labels == ["not judged"]) == (status == "not run")
    assert (status == "failed") == ("got" in labels)


def test_a_part_that_fails_the_second_time_is_reported_there():
    answers = itertools.chain([6.0], itertools.repeat(3.0))
    result = judged_by(after(half_of_each)(asks_for_more), double=lambda _: next(answers))
    assert result.status == "failed"
    assert ("look at", "where is the 2?") in result.lines


# Besides the wrong answers that students hand in, which the table on the page has the points of.
# Name | what the solution has once | what is in its place | what fails | what is said
SLIPS = """
01 back | moved[i] += h | moved[i] -= h | 01.1 | by -h
01 no more | moved[i] += h | moved[i] = h | 01.1 | and add h
01 an abs | (f(moved) - f_here) | abs(f(moved) - f_here) | 01.2 | an abs
02 brackets | / (ahead[i] - behind[i]) | / 2 * h | 02.1 | multiplies by h
02 early | / (ahead[i] - behind[i]) |
    / (ahead[i] - behind[i]); return slopes | 02.2 | inside the loop
02 an abs | (f(ahead) - f(behind)) | abs(f(ahead) - f(behind)) | 02.5 | an abs
05 no x | abs(x * fine) | abs(fine) | 05.5 | where is |x * slope|
07 plus | -= 1 | += 1 | 07.5 | -= 1
07 twice | -= 1 | -= 1 / n | 07.5 | twice
07 off once | - shifted[np. | - scores[np. | 07.3 | taken off both
07 a sum | - shifted[np. | + shifted[np. | 07.3 | a difference
07 base 10 | return losses.mean() | return losses.mean() / np.log(10) | 07.3 | np.log
07 inside | losses.mean() | -np.log(np.exp(-losses).mean()) | 07.3 | the mean of the
08 no b2 | hidden @ W2 + b2 | hidden @ W2 | 08.1 | where is b2?
08 twice | -= 1 | -= 1 / n | 08.5 | divided by n twice
11 no beta | + eps) + beta | + eps) | 11.1 | where is beta?
12 a sign | dw[:, :, p, q] = np | dw[:, :, p, q] = -np | 12.3 | the sign
13 brackets | / (2 * h) | / 2 * h | 13.4 | multiplies by h
14 brackets | / (2 * h) | / 2 * h | 14.3 | multiplies by h
14 off by one | return i, | return i + 1, | 14.7 | next to it
"""


@pytest.mark.parametrize(
    ("name", "old", "new", "failed", "says"),
    [pytest.param(*row, id=row[0]) for row in rows_of(SLIPS)],
)
def test_one_mistake_costs_only_its_part(name, old, new, failed, says):
    exercise = COURSE.find(name[:2])
    functions, checks = edited(exercise, old, new), course.checks_of(exercise, heldout=True)
    graded = graded_exercise(judged(exercise, functions, checks=checks, to_the_end=True))
    *each, whole = graded.checks
    (lost,) = [check for check in each if check.status == "failed"]
    assert lost.number == failed
    assert says in lost.message
    assert graded.earned == exercise.worth - exercise.whole - lost.points
    assert whole.status == "failed"
    for check in each:
        assert (check.status == "not run") == check.message.startswith("not judged: it depends on")
