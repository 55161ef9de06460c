"""The sentences about wrong answers, by their numbers alone: each is true of all such answers."""

import itertools

import numpy as np
import pytest
from wrong_submissions import judged

import course
from expect import (
    MOST_SHOWN,
    AnyOf,
    Call,
    after,
    builds_on,
    give_all,
    looks_like,
    plain,
    shown,
)

RIGHT = np.array([[1.0, -2.0, 4.0], [0.5, 8.0, -3.0]])
SQUARE = RIGHT[:, :2]
RELU = course.read_course().find("06")


@pytest.mark.parametrize(
    ("got", "right", "says"),
    [
        (None, RIGHT, "nothing came back"),
        (-RIGHT, RIGHT, "the sign: every entry"),
        (3 * RIGHT, RIGHT, "a factor: every entry is 3 x"),
        (6.0, 3.0, "it is 2 x what it should be"),
        (RIGHT + 10, RIGHT, "every entry is 10 too large"),
        (RIGHT - 0.25, RIGHT, "every entry is 0.25 too small"),
        (np.abs(RIGHT), RIGHT, "that is its absolute value"),
        (RIGHT**2, RIGHT, "that is its square"),
        (np.log(3.0), 3.0, "that is its logarithm"),
        (0.2, 5.0, "that is 1 divided by it"),
        (SQUARE.T, SQUARE, "that is its transpose"),
        (RIGHT[::-1], RIGHT, "in the opposite order along axis 0"),
        (np.roll(RIGHT, 1), RIGHT, "the right numbers are there, in other places"),
        (RIGHT.ravel(), RIGHT, "the numbers are right, but their shape is (6,), and not (2, 3)"),
        (RIGHT[0], RIGHT, "the shape: an array of shape (3,) came back"),
        (RIGHT.sum(), RIGHT, "that is the sum of all entries"),
        (0 * RIGHT, RIGHT, "nothing but zeros"),
        (2, True, "True or False is asked for"),
        (False, True, ""),
        (1.0, "good", "a word is asked for"),
        ("bad", "good", ""),
        (0.0, 5.0, ""),
        (RIGHT + np.arange(6).reshape(2, 3), RIGHT, ""),
    ],
)
def test_a_wrong_answer_is_recognized_by_its_numbers(got, right, says):
    assert looks_like(got, right).startswith(says) or says in looks_like(got, right)
    assert bool(looks_like(got, right)) == bool(says)


@pytest.mark.parametrize(
    ("band", "says"),
    [
        (lambda e: e < 2, "at most: <="),
        (lambda e: e <= 1, "at most: <="),
        (lambda e: e == 1, "2 is at most 2"),  # this, too, gives a mistake's answer to one of them
        (lambda e: None, "nothing came back"),
    ],
    ids=["excludes the limit", "has a mistake", "gives one of its answers", "returns nothing"],
)
def test_a_mistake_is_known_by_all_answers_and_not_by_one(band, says):
    def check(sub):
        rows = [(Call(sub, "band", e), e <= 2, f"{e} is at most 2") for e in (1, 2, 3, 0)]
        give_all(rows, {"at most: <=": AnyOf([True, False, False, True], [False] * 4)})

    (result,) = judged(RELU, {"band": band}, checks=[check]).results
    assert says in dict(result.lines)["look at"]


def test_an_evasion_is_named_and_keeps_nothing():
    def check(sub):
        Call(sub, "f").gives(2.0, {"a slip": 3.0}, evasions={"the same for all": 4.0})

    for answer, says, kept in ((3.0, "a slip", 1.0), (4.0, "the same for all", 0.0)):
        with pytest.raises(AssertionError, match=says) as error:
            check(type("Submission", (), {"f": staticmethod(lambda answer=answer: answer)}))
        assert (error.value.share, error.value.kept) == (0.0, kept)


# --- what depends on another check --------------------------------------------------------------


def half_of_each(sub):
    """Answer for the part that the others build on."""
    Call(sub, "double", 3.0).gives(6.0, {"where is the 2?": 3.0})


def judged_by(check, **functions):
    """Return what there is to say after the part the others build on was judged."""
    checks = [half_of_each, check]
    return judged(RELU, functions, checks=checks, to_the_end=True).results[1]


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


# --- what comes back is read once ----------------------------------------------------------------


class Number(float):
    def __abs__(self):
        return 0.0


class Array(np.ndarray):
    def sum(self, *_, **__):
        return 0.0


class Liar:
    shape, ndim, size = (3, 4), 2, 12

    def sum(self, *_, **__):
        return np.zeros(3)

    def __abs__(self):
        return np.zeros(3)


@pytest.mark.parametrize(
    ("answer", "is_worth"),
    [
        (Number(2), 2.0),
        (np.ones(2).view(Array), np.ones(2)),
        ([Number(1), (Number(2), "a")], [1.0, (2.0, "a")]),
        ({"a": Number(3)}, {"a": 3.0}),
        (np.ma.array([1.0, 2.0], mask=[0, 1]), np.array([1.0, 2.0])),
    ],
    ids=["number", "array", "list", "dict", "masked"],
)
def test_an_answer_is_read_as_plain_numbers(answer, is_worth):
    read = plain(answer)
    assert type(read) is type(is_worth)
    assert str(read) == str(is_worth)


def test_an_object_that_lies_about_itself_is_an_object():
    assert np.shape(Liar()) == (3, 4)
    read = plain(Liar())
    assert (read.shape, read.dtype) == ((), object)


def test_a_huge_answer_is_not_printed_in_full():
    deep = ()
    for _ in range(30):
        deep = (deep, deep)  # 2**30 in all
    for answer in ((0.5,) * 1_000_000, deep):
        assert len(shown(answer)) <= MOST_SHOWN + len(" ...")
    assert shown((0.5, (), np.array([1.0]))) == "(0.5, (), [1])"
