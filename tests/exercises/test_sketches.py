"""Pictures of what a learner's functions return: right and wrong answers look different."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from course import load, read_course
from sketches import HEIGHT, PICTURES, drawn, picture_of

COURSE = read_course()


def submission(name, *edit):
    """Return the solution of an exercise, or an edit of it, with the other solutions beside it."""
    path = COURSE.find(name).folder / "solution.py"
    source = path.read_text(encoding="utf-8")
    if edit:
        assert source.count(edit[0]) == 1
        source = source.replace(*edit)
    module = load(path, source.encode())
    module.mine = lambda other: submission(other)
    return module


def picture(name, *edit):
    """Return the picture of a solution or of an edit of it, and its series by name."""
    found = picture_of(COURSE.find(name), submission(name, *edit))
    return {one["name"]: dict(map(tuple, one["points"])) for one in found["series"]}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", PICTURES)
def test_a_right_answer_has_a_picture_that_a_page_and_a_terminal_can_draw(name):
    found = picture_of(COURSE.find(name), submission(COURSE.find(name).name))
    assert json.loads(json.dumps(found, allow_nan=False))["title"] == found["title"]
    lines = list(drawn(found))
    assert max(map(len, lines)) <= 60
    assert len(lines) == HEIGHT + 3 + len(found["series"])
    assert "*" in "".join(lines[:HEIGHT])


@pytest.mark.parametrize("name", PICTURES)
def test_a_starter_has_no_picture(name):
    exercise = COURSE.find(name)
    assert picture_of(exercise, load(exercise.folder / "starter.py")) is None


BROKEN = {
    "nothing is written": ("01", {}),
    "no number": ("01", {"forward_difference": lambda *_: "no number"}),
    "NaN": ("01", {"forward_difference": lambda *_: np.nan}),
    "a row for each entry": (
        "06",
        {"relu": lambda x: np.maximum(x, 0), "relu_backward": lambda x, u: np.outer(x > 0, u)},
    ),
    "no picture": ("07", {}),
}


@pytest.mark.parametrize(("number", "broken"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_drawn_harms_nothing(number, broken):
    assert picture_of(COURSE.find(number), SimpleNamespace(**broken)) is None


@pytest.mark.parametrize(("slope", "edge"), [(np.inf, 10), (1e30, 10), (np.e, 1e-16)])
def test_a_line_outside_the_picture_is_drawn_at_its_edge(slope, edge):
    answer = SimpleNamespace(forward_difference=lambda *_: slope)
    found = picture_of(COURSE.find("01"), answer)
    assert {y for _, y in found["series"][0]["points"]} == {edge}
    assert "*****" in "".join(drawn(found))


@pytest.mark.parametrize("name", ["01_forward", "02_central", "05_adaptive"])
def test_a_right_difference_lies_on_the_reference(name):
    found = picture(name)
    for h in (h for h in found["yours"] if h > 1e-2):  # beyond, rounding is another on each machine
        assert found["yours"][h] == pytest.approx(found["reference"][h], rel=0.1)


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("01_forward", ("(f(moved) - f_here) / h", "f(moved) - f_here")),
        ("05_adaptive", ("/ 3", "/ 4")),
    ],
)
def test_a_wrong_difference_leaves_the_reference(name, edit):
    found = picture(name, *edit)
    h = min(found["reference"], key=found["reference"].get)
    assert found["yours"][h] > 1000 * found["reference"][h]


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("03_relative", ("np.maximum(np.abs(analytic), np.abs(numeric))", "np.abs(numeric)")),
        ("04_allclose", ("atol + rtol * np.abs(numeric)", "atol")),
    ],
)
def test_another_rule_accepts_other_pairs(name, edit):
    assert list(picture(name)) == ["both accept"]
    assert len(picture(name, *edit)) > 1


def test_an_inverted_gate_leaves_the_measured_slopes():
    right, wrong = picture("06_relu"), picture("06_relu", "x > 0, upstream", "x < 0, upstream")
    assert right["yours"] == pytest.approx(right["measured"], abs=1e-6)
    assert max(abs(wrong["yours"][x] - wrong["measured"][x]) for x in wrong["yours"]) > 1


@pytest.mark.slow
def test_training_tells_little_of_a_missing_gate_and_more_of_one_turned_around():
    found = picture("08_two_layer")
    ends = [points[100.0] for points in found.values()]
    assert all(points[100.0] < 0.4 * points[0.0] for points in found.values())
    assert ends[1] < 1.2 * ends[0] < 2 * ends[0] < ends[2]
    assert np.allclose(
        list(picture("project")["with your gradient"].values()),
        list(found["with your gradient"].values()),
    )
