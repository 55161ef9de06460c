"""The score of exercise 10: the gate, the share, the hints, the frozen baselines, private cases."""

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from beside import status_of
from graded import finished, start
from wrong_submissions import judged

import course
import judging
import run
from gradcheck_ref.staircase import JUDGES
from gradcheck_ref.zoo import all_cases

EXERCISE = course.read_course().find("10")
CHECKS = course.load(EXERCISE.folder / "checks.py")
SOLUTION = course.load(EXERCISE.folder / "solution.py")


def zoo(name):
    """Build a case of the zoo anew."""
    return [case for case in all_cases() if case.name == name]


CHECKERS = {
    "accept all": lambda f, x, analytic: True,
    "refuse all": lambda f, x, analytic: False,
    **{judge.name: judge.accepts for judge in JUDGES},
    "the solution": SOLUTION.my_check,
}


@pytest.fixture(autouse=True)
def nothing_private(monkeypatch, tmp_path):
    """Leave out what an instructor may have put beside the course."""
    monkeypatch.setattr(judging, "PRIVATE", tmp_path / "private_cases.py")


# --- baselines -----------------------------------------------------------------------------------

GATE = "gate"  # a right gradient is refused, and nothing else counts
ALL = "all"  # every bug is missed
# What is public is frozen in docs/examples/judge_baselines.md, which test_docs.py computes anew.
# That the solution refuses all that is held out is seen on the command line, below; that what is
# public suffices to pass, where the course proves itself.
MISSED = {  # in each part, so that an easy case that is added changes nothing
    "accept all": [ALL, ALL, ALL, ALL, ALL],
    "refuse all": [GATE, GATE, GATE, GATE, GATE],
    "2 central": [0, GATE, GATE, GATE, GATE],
    "4 allclose": [0, GATE, GATE, GATE, GATE],
    "5 adaptive": [0, 2, 0, GATE, GATE],
}


def held_out(part, name="accept all"):
    """Score a checker on what is held out of a part."""
    return judging.score(CHECKERS[name], judging.corpus(part, heldout=True))


def test_something_is_held_out_of_every_part():
    assert min(held_out(part).planted for part in judging.PARTS) >= 5


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("name", "baseline"), MISSED.items(), ids=MISSED)
def test_the_baselines_are_frozen(name, baseline):
    for part, expected in zip(judging.PARTS, baseline, strict=True):
        score = held_out(part, name)
        missed = len(score.missed) if score.caught else ALL
        assert (GATE if score.stopped_at else missed) == expected, part


# --- the corpus ----------------------------------------------------------------------------------


def test_every_hard_case_is_either_shown_or_held_out():
    names = [
        {case.name for part in judging.PARTS for case in judging.corpus(part, heldout=heldout)}
        for heldout in (False, True)
    ]
    assert not names[0] & names[1]
    left_out = [case for case in all_cases() if case.name not in names[0] | names[1]]
    easy = [case for case in left_out if judging.part_of(case) == "ordinary"]
    assert all("complex" in case.tags for case in left_out if case not in easy)


# --- the score -----------------------------------------------------------------------------------


def test_a_checker_that_changes_its_arguments_harms_no_other():
    def vandal(f, x, analytic):
        x[...] = analytic[...] = np.nan
        return True

    (case,) = zoo("cube")
    before = case.inputs[0].copy()
    judging.score(vandal, [case])
    np.testing.assert_array_equal(case.inputs[0], before)


@pytest.mark.parametrize("answer", [None, 1, "True", np.array([True])])
def test_an_answer_that_is_neither_true_nor_false_is_an_error(answer):
    with pytest.raises(TypeError, match="not True or False"):
        judging.score(lambda f, x, analytic: answer, zoo("cube"))


def test_numpys_own_true_and_false_are_answers():
    assert judging.score(lambda f, x, a: np.bool_(True), zoo("cube")).stopped_at is None


def test_a_checker_may_step_out_of_the_domain_without_a_warning():
    def steps_far(f, x, analytic):
        return bool(np.isnan(f(x - 10)))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert judging.score(steps_far, zoo("logarithm_near_zero")).stopped_at is None


# --- hints ---------------------------------------------------------------------------------------


def test_every_hint_can_be_given():
    tags = {tag for case in all_cases() for tag in case.tags}
    diagnoses = {bug.diagnosis for case in all_cases() for bug in case.bugs}
    assert not tags & diagnoses
    assert set(" ".join(judging.MISSED).split()) <= tags | diagnoses
    assert set.union(*judging.PARTS.values()) == set(" ".join(judging.REFUSED).split()) <= tags


def first_entry_only(f, x, analytic):
    return SOLUTION.my_check(lambda first: f(np.append(first, x[1:])), x[:1], analytic[:1])


@pytest.mark.parametrize(
    ("checker", "case", "hint"),
    [
        (CHECKERS["1 forward"], "determinant", "an ordinary function"),
        (CHECKERS["2 central"], "huge_loss", "must have the unit of the gradient"),
        (CHECKERS["3 relative"], "mixed_magnitudes", "drown in the rounding"),
        (CHECKERS["4 allclose"], "tiny_loss", "your tolerance has no unit"),
        (CHECKERS["4 allclose"], "fast_sine", "f turns within your step"),
        (CHECKERS["5 adaptive"], "relu_at_zero", "any between them is right"),
        (CHECKERS["5 adaptive"], "noisy_sine", "measures the noise"),
        (CHECKERS["accept all"], "maximum_with_tie", "move all of x at once"),
        (first_entry_only, "relu_at_zero", "a slope outside the two sides is wrong"),
        (CHECKERS["accept all"], "noisy_sine", "accepts too much"),
        (CHECKERS["the solution"], "cube", ""),
    ],
)
def test_a_known_misconception_is_named(checker, case, hint):
    score = judging.score(checker, zoo(case))
    assert hint in score.hint
    assert bool(score.hint) == bool(hint)


# --- in the checks of the exercise ---------------------------------------------------------------


def refusal_of(check, my_check):
    with pytest.raises(AssertionError) as refusal:
        check(SimpleNamespace(my_check=my_check))
    return refusal.value, dict(refusal.value.lines)


def test_a_check_leaves_the_share_of_bugs_that_are_refused():
    error, lines = refusal_of(CHECKS.check_scale, CHECKERS["4 allclose"])
    assert error.share == 21 / 30
    assert lines["where"] == "all 11 right gradients are accepted"
    assert lines["got"].startswith("21 of 30 wrong gradients rejected; accepted: ")
    assert not any(bug.id in lines["got"] for case in all_cases() for bug in case.bugs)


def test_a_refused_right_gradient_leaves_no_points_and_is_named_unless_held_out():
    error, lines = refusal_of(CHECKS.check_kinks, CHECKERS["4 allclose"])
    assert error.share == 0
    assert lines["where"].startswith("f is relu_at_zero of the zoo; x = [1.2 0 -0.7 0.6 2.1]")
    assert lines["expected"] == "True: this gradient is right"
    _, lines = refusal_of(CHECKS.heldout_kinks, CHECKERS["4 allclose"])
    assert lines["where"] == "f is elementwise, kink"


# --- cases of one's own --------------------------------------------------------------------------

OWN = """
import numpy as np

from gradcheck_ref.zoo import Bug, Case


def cases():
    yield Case(
        "cubes",
        lambda x: (x * x * x).sum(),
        (np.array([0.5, -1.5]),),
        lambda u, x: u * 3 * x * x,
        frozenset({"kink"}),
        (Bug("cubes/three", "factor", lambda u, x: u * x * x, "Forgotten.", "factor"),),
    )
"""


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own_cases.py"
    path.write_text(OWN)
    return path


def test_private_cases_are_held_out_cases_of_their_part(own, monkeypatch):
    monkeypatch.setattr(judging, "PRIVATE", own)
    parts = [
        (part, heldout)
        for part in judging.PARTS
        for heldout in (False, True)
        if "cubes" in {case.name for case in judging.corpus(part, heldout=heldout)}
    ]
    assert parts == [("kinks", True)]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("u * 3 * x * x,", "u * 2 * x * x,", "the vjp of cubes is wrong: FAIL"),
        ("u * x * x, ", "u * x * x * 3, ", "cubes/three is right when it is called first"),
        ("u * x * x, ", "u * x * x * 3.0000003, ", "cubes/three is too close to the right"),
    ],
)
def test_cases_that_would_be_unfair_are_refused(own, old, new, said):
    assert old in OWN
    own.write_text(OWN.replace(old, new))
    with pytest.raises(ValueError, match=said):
        judging.read_cases(own)


@pytest.mark.parametrize("command", ["grade", "export"])
def test_wrong_private_cases_are_refused_before_grading(
    own, command, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(judging, "PRIVATE", own)
    (tmp_path / "out").mkdir()
    for text, said in (
        (OWN.replace("u * 3 * x * x,", "u * 2 * x * x,"), "the vjp of cubes is wrong: FAIL"),
        ("import nunpy", "own_cases.py cannot be read: ModuleNotFoundError"),
    ):
        own.write_text(text)
        assert run.main([command, "--only", "10", str(tmp_path / "out")]) == 2
        assert said in " ".join(capsys.readouterr().out.split())


# --- on the command line -------------------------------------------------------------------------


def written(tmp_path, body):
    file = tmp_path / "mine.py"
    file.write_text(f"def my_check(f, x, analytic):\n    {body}\n")
    return str(file)


@pytest.mark.slow
def test_all_parts_are_scored_at_once(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert judging.main([str(EXERCISE.folder / "solution.py"), "--heldout"]) == 0
    planted = {part: held_out(part).planted for part in judging.PARTS}
    assert list(planted) == ["ordinary", "scale", "steps", "kinks", "noise"]
    assert capsys.readouterr().out.splitlines() == [
        f"{part:10}{bugs} of {bugs} wrong gradients refused" for part, bugs in planted.items()
    ]


def test_a_weak_part_is_reported_with_its_hint(tmp_path, capsys):
    assert judging.main([written(tmp_path, "return False"), "--heldout"]) == 1
    assert "noise     refuses a right gradient: float32_layer\n" in capsys.readouterr().out


def test_a_file_of_private_cases_can_be_scored(tmp_path, own, capsys):
    assert judging.main([str(EXERCISE.folder / "solution.py"), "--cases", str(own)]) == 0
    assert capsys.readouterr().out == "kinks     1 of 1 wrong gradients refused\n"
    assert judging.main([written(tmp_path, "return True"), "--cases", str(own)]) == 1


def test_an_unwritten_checker_gives_a_task_and_no_traceback(capsys):
    assert judging.main([str(EXERCISE.folder / "starter.py")]) == 1
    assert capsys.readouterr().out == "to do     exercise 10, task 1: my_check\n"


def test_a_missing_file_is_a_usage_error(capsys):
    assert status_of(judging.main, "nowhere.py") == 2
    assert "there is no file nowhere.py" in capsys.readouterr().err


# --- strangers ---------------------------------------------------------------------------------


class SameAsFirst:
    """Says yes to what is claimed first at a point, and then to the same again."""

    def __init__(self):
        self.first = {}

    def __call__(self, f, x, analytic):
        first = self.first.setdefault(x.tobytes(), analytic)
        return first.shape == analytic.shape and bool((first == analytic).all())


@pytest.mark.parametrize("part", judging.PARTS)
def test_a_checker_that_remembers_claims_earns_nothing(part):
    cases, rng = judging.corpus(part, heldout=False), np.random.default_rng(0)
    assert judging.score(SameAsFirst(), cases).enough  # as it was when right claims came first
    stranger = SameAsFirst()
    assert judging.score(stranger, cases, rng, stranger.first.clear).share == 0


@pytest.mark.slow
@pytest.mark.parametrize("part", judging.PARTS)
def test_the_solution_is_as_good_at_other_points(part):
    cases, rng = judging.corpus(part, heldout=False), np.random.default_rng(len(part))
    assert judging.score(SOLUTION.my_check, cases, rng, lambda: None).enough


def test_points_are_moved_slightly_unless_their_place_is_special():
    moved = set()
    for case in all_cases():
        varied = judging.varied(case, np.random.default_rng(0))
        for old, new in zip(case.inputs, varied.inputs, strict=True):
            old, new = np.asarray(old), np.asarray(new)
            assert new.dtype == old.dtype
            if not np.array_equal(new, old):
                assert old.dtype.kind == "f"
                assert not case.tags & judging.AS_THEY_ARE
                assert np.all(abs(new - old) <= 1.01 * judging.SHIFT * abs(old))
                moved.add(case.name)
    assert "softmax" in moved


def test_a_list_of_the_first_answers_earns_next_to_nothing():
    answers = iter([])

    def forget():
        nonlocal answers
        answers = iter([True, False, True, False, False, False, False])

    stranger = {"my_check": lambda *_: next(answers, True), "__forget__": forget}
    outcome = judged(EXERCISE, stranger, to_the_end=True)
    # In a part with few cases there is luck.
    assert max(result.share for result in outcome.results) < 0.25


def test_the_same_answer_gets_the_same_points_in_a_fresh_process():
    checks = course.load(EXERCISE.folder / "checks.py")

    def ask(source):
        asked, forgotten = [], []
        stranger = SimpleNamespace(
            my_check=lambda f, x, analytic: asked.append((x.tobytes(), analytic.tobytes())) or True,
            __source__=source,
            __forget__=lambda: forgotten.append(len(asked)),
        )
        with pytest.raises(AssertionError, match="0 of 30 wrong gradients rejected"):
            checks.check_scale(stranger)
        assert forgotten == [*range(judging.FRESH - 1, len(asked), judging.FRESH)]
        return asked

    assert ask("one") == ask("one") != ask("other")


# --- one's own network -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("gate", "refused"), [(" * (hidden > 0)", 0), ("", 2)])
def test_a_learners_checker_judges_the_learners_network(tmp_path, gate, refused):
    home = EXERCISE.home
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "10_judge.py").write_text(finished(EXERCISE), encoding="utf-8")
    network = (home / "08_two_layer" / "solution.py").read_text(encoding="utf-8")
    mine = network.replace(" * (hidden > 0)", gate)
    (tmp_path / "work" / "08_two_layer.py").write_text(mine, encoding="utf-8")
    done = start([sys.executable, "-m", "work.10_judge"], tmp_path, PYTHONPATH=str(home.parent))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("of your network is refused") == refused
    assert done.stdout.count("of your network is accepted") == 4 - refused
