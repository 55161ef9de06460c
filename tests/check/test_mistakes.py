"""The table of mistakes: each one is made in earnest, named and mended; and no list has others."""

import re
from pathlib import Path

import numpy as np
import pytest
from zoo_reports import CASES, reports_on_bugs

from course import load
from gradcheck_ref import check_gradient
from gradcheck_ref.adapters import torch_mistakes
from gradcheck_ref.check.mistakes.gradient import Gradient
from gradcheck_ref.check.mistakes.table import KINDS, MISTAKES
from gradcheck_ref.oracle.generate import verdict
from gradcheck_ref.zoo.wild import WILD

ROOT = Path(__file__).parents[2]


def id_of(mistake):
    return mistake.planted or mistake.question or mistake.kind


# --- made in earnest --------------------------------------------------------------------------


def energy(M, N, z):
    """Depend on two matrices and on complex numbers, with gradients of both signs."""
    return np.sum(np.sin(M) * N**2) + np.sum((np.abs(z) ** 4 + (z**3).real) * M[:, :2])


def gradients(M, N, z):
    of_M = np.cos(M) * N**2
    of_M[:, :2] += np.abs(z) ** 4 + (z**3).real
    of_z = (4 * np.abs(z) ** 2 * z + 3 * np.conj(z) ** 2) * M[:, :2]
    return {"M": of_M, "N": 2 * N * np.sin(M), "z": of_z}


def drawn(n):
    """Draw a point with 4 n^2 coordinates or so."""
    rng = np.random.default_rng(0)
    M, N = rng.normal(size=(2, n, n))
    return {"M": M, "N": N, "z": rng.normal(size=(n, 2)) + 1j * rng.normal(size=(n, 2))}


def seen(name, point, claims):
    """Return the gradient of an input as the table sees it, beside those of the others."""
    known = {one: (point[one], claims[one][..., None]) for one in point}
    x, values = known.pop(name)
    return Gradient(name, values, x, others=known)


def planted_in(name, n):
    """Return the wrong gradients of an input, by the names of the mistakes."""
    point = drawn(n)
    right = gradients(**point)
    made = {one.planted: one.make(seen(name, point, right)) for one in MADE}
    return {planted: wrong[..., 0] for planted, wrong in made.items() if wrong is not None}


MADE = [mistake for mistake in MISTAKES if mistake.make]
# The small point has an axis for each entry, and the large one is measured along lines.
PLANTED = [(one, name, n) for n in (3, 12) for name in "MNz" for one in planted_in(name, n)]
# A gradient that is positive everywhere has no sign to lose.
HIDDEN = ("the sign lost", "M", 3)
# These look like something else: a mistake in some entries, or a factor that is nearly 1. Of many
# wrong signs too few are measured on their axes.
EXPECTED = {mistake.planted: [mistake.kind] for mistake in MADE}
EXPECTED |= {"the sign lost": ["some-entries"]}
LARGE = {"the sign lost": [["single-entries"], []]}


@pytest.mark.parametrize(("planted", "name", "n"), PLANTED)
def test_a_planted_mistake_is_refused_and_gets_its_diagnosis(planted, name, n):
    point, wrong = drawn(n), planted_in(name, n)[planted]
    right = gradients(**point)
    report = check_gradient(energy, point, right | {name: wrong})
    if (planted, name, n) == HIDDEN:
        assert (wrong == right[name]).all()
        assert report
        return
    assert report.verdict == "fail"
    assert {found.subject for found in report.diagnoses} <= {name}
    kinds = [found.kind for found in report.diagnoses]
    assert kinds in (LARGE.get(planted) if n == 12 and planted in LARGE else [EXPECTED[planted]])


def test_each_mistake_is_planted_at_both_points():
    assert {(planted, n) for planted, _, n in PLANTED} == {
        (mistake.planted, n) for mistake in MADE for n in (3, 12)
    }


OF_ONE = {"a transposition", "slices moved by one", "one entry left at 0"}
IMPOSSIBLE = {
    "no entry": (np.zeros(0), OF_ONE),
    "one number": (np.array(0.7), OF_ONE),
    "not square": (np.arange(6.0).reshape(2, 3), {"a transposition"}),
    "complex": (1j * np.arange(3.0), {"a transposition", "the sign lost"}),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_a_mistake_that_cannot_be_made_is_left_out(what):
    x, impossible = IMPOSSIBLE[what]
    made = {one.planted: one.make(Gradient("x", x[..., None], x)) for one in MADE}
    expected = impossible | {"the gradient of another input"}
    expected |= set() if np.iscomplexobj(x) else {"a conjugate"}
    assert {planted for planted, wrong in made.items() if wrong is None} == expected


def test_making_a_mistake_leaves_the_right_gradient_as_it_is():
    point = drawn(3)
    right = gradients(**point)
    for name in point:
        for mistake in MADE:
            mistake.make(seen(name, point, right))
    again = gradients(**point)
    assert all((right[name] == again[name]).all() for name in point)


# --- and mended -------------------------------------------------------------------------------


def lower(values):
    """Gather both halves of a gradient in the lower triangle."""
    return np.tril(values + values.T) - np.diag(np.diag(values))


X = np.array([[0.7, -1.2, 0.4], [1.9, 0.3, -0.8], [-0.5, 1.1, 2.2]])
RIGHT, OTHER = np.cos(X), np.arctan(X) + 2
SYMMETRIC = RIGHT + RIGHT.T
# Of every row that has a repair: a right gradient, and wrong ones. OTHER is that of another input.
MENDED = {
    "sign": (RIGHT, [-RIGHT]),
    "factor": (RIGHT, [2 * RIGHT, RIGHT / 3, 0.61803 * RIGHT]),
    "conjugate": (RIGHT + 1j * X, [RIGHT - 1j * X]),
    "swapped": (OTHER, [RIGHT]),
    "transposed": (RIGHT, [RIGHT.T]),
    "permuted": (RIGHT, [np.roll(RIGHT, 1, 0), np.flip(RIGHT, 1), np.flip(RIGHT)]),
    "symmetric-part": (SYMMETRIC, [lower(SYMMETRIC), SYMMETRIC + X - X.T]),
    "inner-factor": (RIGHT, [RIGHT * X, RIGHT / X, RIGHT * X**2, RIGHT / np.exp(X)]),
    "regulariser": (RIGHT, [RIGHT - 0.3 * X, RIGHT + 2 * X]),
    "constant-term": (RIGHT, [RIGHT + 0.3, 3 - RIGHT]),
    "leaked": (RIGHT, [RIGHT + 0.3 * OTHER]),
}  # fmt: skip


def candidates(mistake, wrong, right):
    """Yield the gradients that a repair proposes; a number in it is fitted to the right one."""
    others = {"other": (X, OTHER[..., None])}
    wrong_too = frozenset(others)
    for mend in mistake.mend(Gradient("x", wrong[..., None], X, others=others, wrong=wrong_too)):
        if mend.free is None:
            yield mend.fixed[..., 0]
            continue
        fixed = 0 if mend.fixed is None else mend.fixed[..., 0]
        free = mend.free[..., 0]
        yield fixed + np.vdot(free, right - fixed) / np.vdot(free, free) * free


WRONG = [(kind, right, wrong) for kind, (right, every) in MENDED.items() for wrong in every]


@pytest.mark.parametrize(("kind", "right", "wrong"), WRONG)
def test_a_repair_mends_the_mistake(kind, right, wrong):
    rows = [mistake for mistake in MISTAKES if mistake.kind == kind and mistake.mend]
    assert not np.allclose(wrong, right)
    assert any(np.allclose(one, right) for row in rows for one in candidates(row, wrong, right))


def test_no_repair_mends_other_numbers():
    wrong = RIGHT * np.random.default_rng(0).uniform(-2, 2, RIGHT.shape)
    rows = [mistake for mistake in MISTAKES if mistake.mend]
    assert not any(np.allclose(one, RIGHT) for row in rows for one in candidates(row, wrong, RIGHT))


def test_every_row_that_has_a_repair_is_mended():
    assert {mistake.kind for mistake in MISTAKES if mistake.mend} == MENDED.keys()


# --- what a row holds -------------------------------------------------------------------------


@pytest.mark.parametrize("mistake", MISTAKES, ids=id_of)
def test_a_row_is_complete(mistake):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", mistake.kind)
    assert re.fullmatch(r"[A-Za-z].*\.", KINDS[mistake.kind])
    assert bool(mistake.planted) == bool(mistake.make)
    assert bool(mistake.question) == bool(mistake.reason) == bool(mistake.read)
    assert not mistake.question or "{}" in mistake.question


def test_a_planted_mistake_has_a_name_of_its_own_which_the_page_explains():
    names = [mistake.planted for mistake in MADE]
    assert len({*names}) == len(names)
    page = (ROOT / "docs" / "check" / "audit.md").read_text(encoding="utf-8")
    table = page.split("## The mistakes")[1].split("## ")[0]
    assert [name for name in names if name not in table] == []


# --- other lists of mistakes ------------------------------------------------------------------

# {word of another list: the kind of the table}. A new word fails until it has a row.
OF_THE_ORACLE = {
    "the sign is wrong": "sign",
    "one entry off by 1 in 1000": "single-entries",
    "twice the truth": "factor",
    "all off by 1 in 10 000": "factor",
    "the upstream gradient forgotten": "upstream-ignored",
    "one entry zero": "single-entries",
    "NaN in one entry": "nonfinite",
    "half the truth": "factor",
    "all off by 2 in 100 000": "factor",
    "entries reversed": "permuted",
    "all zero": "zero",
    "one sign wrong": "single-entries",
    "transposed": "transposed",
    "one entry off by 2 in 100 000": "single-entries",
    "infinity in one entry": "nonfinite",
}
OF_TORCH = {"times 2": "factor", "zeros": "zero", "upstream ignored": "upstream-ignored"}
OF_THE_HUNT = {"elu": "single-entries", "batch_norm": "", "embedding": "row-or-column"}
# A step in another direction and a rounded input: the zoo has no word for them, and the check says
# nothing.
UNNAMED = {"direction", "dtype"}


def test_the_table_has_every_word_of_the_zoo_and_of_the_museum():
    words = {bug.diagnosis for case in CASES.values() for bug in case.bugs}
    words |= {wild.looks for wild in WILD}
    assert words - {"unknown"} <= KINDS.keys()


def test_a_bug_of_every_misconception_in_the_zoo_has_a_row():
    misconceptions, named = set(), set()
    for bug, report in reports_on_bugs():
        misconceptions.add(bug.kind)
        if {bug.diagnosis, *(found.kind for found in report.diagnoses)} & KINDS.keys():
            named.add(bug.kind)
    assert misconceptions - named == UNNAMED


@pytest.mark.parametrize("said", verdict.MISTAKES)
def test_the_table_has_every_mistake_of_the_oracle(said):
    kind = OF_THE_ORACLE[said]
    assert kind in KINDS
    if kind == "upstream-ignored":
        return  # it is made from a function of the oracle
    weights = np.arange(1.0, 10).reshape(3, 3)
    _, mistaken = verdict.MISTAKES[said]
    claim = np.array(mistaken((weights * np.cos(X)).tolist()))
    (found,) = check_gradient(lambda x: np.sum(weights * np.sin(x)), X, claim).diagnoses
    assert found.kind == kind


def test_the_table_has_every_mistake_that_is_planted_into_torch():
    assert {*torch_mistakes.MISTAKES} == OF_TORCH.keys()
    assert {*OF_TORCH.values()} <= KINDS.keys()


def test_the_table_has_the_mistakes_of_the_bug_hunt():
    """Of those that its evidence shows; the check has no name for the missing term of a mean."""
    folder = ROOT / "exercises" / "09_bug_hunt"
    wrong, evidence = load(folder / "starter.py"), load(folder / "solution.py").evidence()
    reports = {layer: wrong.examine(layer, *call) for layer, call in evidence.items()}
    found = {layer: [one.kind for one in report.diagnoses] for layer, report in reports.items()}
    assert found == {layer: [kind] if kind else [] for layer, kind in OF_THE_HUNT.items()}
    assert {*OF_THE_HUNT.values()} - {""} <= KINDS.keys()
