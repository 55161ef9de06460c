"""A mistake that a check knows costs the points of this check, and what depends on it is kept."""

import functools
import inspect
import sys

import pytest
from graded import ORDINARY, best_wall
from wrong_submissions import judged, loaded

import course
import expect
from grader.grading import grade, load_checks
from grader.report import graded_exercise

COURSE = course.read_course()
EXERCISES = {e.name: e for e in COURSE.exercises if not course.missing(e)}


class Wrongdoer:
    """Answers as the solution does, but where it is told to make one of the known mistakes."""

    def __init__(self, monkeypatch, exercise):
        self.exercise, self.checks = exercise, course.checks_of(exercise, heldout=True)
        self.right = vars(loaded(exercise.folder / "solution.py"))
        self.mistakes = {}  # the check, by the call, what it depends on, and the sentence
        self.chosen, self.at_fault, self.spoiled = None, "", frozenset()
        self.standing_in = False
        self.gives, give_all, standing_in = expect.Call.gives, expect.give_all, expect.standing_in

        def stand_in(sub, functions):
            self.standing_in = bool(functions)
            with standing_in(sub, functions):
                yield
            self.standing_in = False

        for check in self.checks:  # each has its own names
            space = inspect.unwrap(check).__globals__
            if "give_all" in space:
                monkeypatch.setitem(space, "give_all", functools.partial(self.all, give_all))
        monkeypatch.setattr(
            expect.Call, "gives", lambda call, *a, **how: self.each(call, *a, **how)
        )
        monkeypatch.setattr(expect, "standing_in", expect.contextlib.contextmanager(stand_in))

    def each(self, call, expected, mistakes=None, **how):
        """Answer a call that is judged alone."""
        check = running()
        for sentence, value in (mistakes or {}).items():
            key = call.text, call.where, sentence
            if not isinstance(value, expect.AnyOf) and expect.same(value, expected):
                continue  # it does not show in this call
            at_fault = "" if how.get("stand_in") else call.name  # or all that use it
            self.mistakes.setdefault(key, (check, at_fault))
            if key == self.chosen:
                value = value.values[0] if isinstance(value, expect.AnyOf) else value
                call.run = functools.partial(lambda value: value, value)
        if check in self.spoiled and self.at_fault in ("", call.name) and not self.standing_in:
            call.run = lambda: "nonsense"
        return self.gives(call, expected, mistakes, **how)

    def all(self, give_all, rows, mistakes, **how):
        """Answer several calls."""
        for sentence, answers in mistakes.items():
            self.mistakes.setdefault(("", "", sentence), (running(), rows[0][0].name))
            if ("", "", sentence) == self.chosen:
                answers = answers.values[0] if isinstance(answers, expect.AnyOf) else answers
                for (call, *_), answer in zip(rows, answers, strict=True):
                    call.run = functools.partial(lambda answer: answer, answer)
        return give_all(rows, mistakes, **how)

    def outcome(self, chosen=None):
        """Return what the checks say if this mistake is made."""
        self.chosen, self.spoiled = chosen, frozenset()
        if chosen:
            check, self.at_fault = self.mistakes[chosen]
            self.spoiled = dependents(self.checks, check)
        return judged(self.exercise, dict(self.right), checks=self.checks, to_the_end=True)


def running():
    """Return the name of the check that runs."""
    frame = sys._getframe()
    while not frame.f_code.co_name.startswith(("check_", "heldout_")):
        frame = frame.f_back
    return frame.f_code.co_name


def dependents(checks, name):
    """Return the names of the checks that depend on this one."""
    found = {name}
    for check in checks:  # in the order of the file
        while hasattr(check, "__wrapped__"):
            firsts = inspect.getclosurevars(check).nonlocals["firsts"]
            if any(first.__name__ in found for first in firsts):
                found.add(check.__name__)
            check = check.__wrapped__
    return frozenset(found - {name})


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", [n for n, e in EXERCISES.items() if e.kind in ("build", "check")])
def test_every_known_mistake_costs_only_the_points_of_its_check(monkeypatch, name):
    student = Wrongdoer(monkeypatch, EXERCISES[name])
    assert student.outcome().done
    assert len(student.mistakes) >= 5
    for chosen, (check, _) in list(student.mistakes.items()):
        outcome = student.outcome(chosen)
        said = {result.check: result for result in outcome.results}
        assert (said[check].status, said[check].share) == ("failed", 0), chosen
        assert dict(said[check].lines)["look at"] == chosen[-1]
        for result in outcome.results:
            if result.check != check:
                assert result.share == 1, (chosen, result)
                assert (result.status == "passed") or result.check in student.spoiled
        graded = graded_exercise(outcome)
        assert graded.earned >= graded.points / 2, chosen


# --- what another function builds on --------------------------------------------------------------

SLIP = "return e / e.sum(axis=1, keepdims=True)", "return e"
NONSENSE = "return gradient / n", "return np.arange(gradient.size).reshape(gradient.shape)"


def in_this_process(exercise, source):
    """Return the points of each check, for a file in this process."""
    module = course.load(exercise.folder / "solution.py", source.encode())
    checks = course.checks_of(exercise, heldout=True)
    outcome = course.judge(
        exercise, exercise.work, load=lambda _: module, checks=checks, to_the_end=True
    )
    return graded_exercise(outcome)


def behind_a_wall(exercise, source, folder):
    """Return the points of each check, as for a class."""
    (folder / f"{exercise.name}.py").write_text(source, encoding="utf-8")
    with best_wall() as wall:
        (graded,) = grade(folder, load_checks([exercise]), wall, ORDINARY).exercises
    return graded


@pytest.mark.parametrize("where", [in_this_process, behind_a_wall])
def test_what_builds_on_a_slip_is_judged_with_a_right_function_in_its_place(where, tmp_path):
    exercise = EXERCISES["07_softmax"]
    source = (exercise.folder / "solution.py").read_text(encoding="utf-8").replace(*SLIP)
    given = [tmp_path] * (where is behind_a_wall)
    points = exercise.points
    slip = where(exercise, source, *given)
    assert slip.earned == exercise.worth - exercise.whole - points["check_probabilities"]
    nonsense = where(exercise, source.replace(*NONSENSE), *given)
    said = {check.id.partition("/")[2]: check for check in nonsense.checks}
    for name in ("check_the_gradient", "check_other_sizes", "heldout_rows_are_examples"):
        assert said[name].earned == 0
    assert said["check_the_gradient"].status == "failed"
    assert "with: a right softmax in the place of yours" in said["check_the_gradient"].message
    assert said["check_large_scores"].earned == points["check_large_scores"]  # of softmax itself


UNWRITTEN = 'raise NotImplementedError("exercise 15, task 2: forward")'


def test_a_slip_earns_nothing_for_what_is_not_written_or_wrong_by_itself():
    dropout, points = EXERCISES["15_dropout"], EXERCISES["15_dropout"].points
    source = (dropout.folder / "solution.py").read_text(encoding="utf-8")
    source = source.replace(">= p) / (1 - p)", ">= p)")
    line = "return np.tanh((np.tanh(x) * first) @ W) * second"
    earned = {}
    for what, instead in ("right", line), ("unwritten", UNWRITTEN), ("nonsense", "return x + 1"):
        graded = in_this_process(dropout, source.replace(line, instead))
        earned[what] = {check.id.partition("/")[2]: check.earned for check in graded.checks}
    assert earned["right"]["check_masks"] == 0
    assert earned["right"]["check_forward"] == points["check_forward"]
    assert earned["unwritten"]["check_forward"] == earned["nonsense"]["check_forward"] == 0
    assert earned["nonsense"]["check_backward"] == points["check_backward"]
