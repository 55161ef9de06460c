"""What is wrong earns little: every wrong answer, and those that are hardly any."""

import ast
import re
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from wrong_submissions import wrong_answers

import course
import expect
from expect import after

COURSE = course.read_course()
# What exercise 10 gives is a share of bugs, and frozen in test_course_judging.py.
# And the table on the page is the same for those who have torch.
EXERCISES = {e.name: e for e in COURSE.exercises if e.kind != "judge" and not e.package}
MOST = 70  # percent of the points of an exercise
ROOT = Path(__file__).parents[1]


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


class Timed:
    """A call that takes so long by a clock, each time as the next one says."""

    def __init__(self, clock, *seconds):
        self.clock, self.seconds = clock, list(seconds)

    def run(self):
        self.clock.append(self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0])

    def refuse(self, got, expected, look_at):
        raise AssertionError(look_at)


def test_a_way_back_that_is_slow_once_is_not_refused_and_one_that_always_is_is(monkeypatch):
    clock = []
    monkeypatch.setattr(expect, "time", SimpleNamespace(perf_counter=lambda: sum(clock)))
    expect.costs_about_as_much(Timed(clock, 2.0, 0.002), Timed(clock, 0.001))
    expect.costs_about_as_much(Timed(clock, 2.0), Timed(clock, 0.1))
    with pytest.raises(AssertionError, match="is it measured"):
        expect.costs_about_as_much(Timed(clock, 2.0), Timed(clock, 0.001))


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
