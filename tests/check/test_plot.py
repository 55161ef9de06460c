"""The report as a picture."""

import functools
import sys
from itertools import pairwise

import numpy as np
import pytest
from report_cases import REPORTS as TOLD
from report_cases import A, X, cubes

from gradcheck_ref.check import check_gradient, check_vjp

MATRIX = np.arange(1.0, 7.0).reshape(2, 3)
MIXED = 10.0 ** np.linspace(-8, 4, 25) * (-1) ** np.arange(25)

# How many maps the picture of a report has.
MAPS = {"fail": 0, "fail, one number": 0, "fail, array": 1, "fail, thousands": 0, "kink": 0,
        "lines, one is wrong": 0, "shape": 0, "matrix": 1, "complex matrix": 0, "three axes": 1,
        "nan": 1, "all nan": 1, "all magnitudes and signs": 0, "zero": 1, "empty": 0}  # fmt: skip
MAKE = {
    "matrix": lambda: check_gradient(cubes, MATRIX, lambda x: 3 * x),
    "complex matrix": lambda: check_gradient(
        lambda z: np.sum(np.abs(z) ** 2), MATRIX + 1j, lambda z: z
    ),
    "three axes": lambda: check_gradient(cubes, np.ones((2, 3, 2)), lambda x: 3 * x**2 + 1),
    "nan": lambda: check_gradient(cubes, MATRIX, lambda x: np.where(x > 3, np.nan, 3 * x**2)),
    "all nan": lambda: check_gradient(cubes, MATRIX, lambda x: np.nan * x),
    "all magnitudes and signs": lambda: check_gradient(
        lambda x: np.sum(x * MIXED), np.ones(25), MIXED * (1 - 2 * (np.arange(25) % 6 == 5))
    ),
    "zero": lambda: check_gradient(lambda x: 0 * np.sum(x), MATRIX, np.zeros((2, 3))),
    "empty": lambda: check_gradient(np.sum, np.zeros((0, 3)), np.zeros((0, 3))),
}


@functools.cache
def report_on(name):
    return MAKE[name]() if name in MAKE else TOLD[name]


@functools.cache
def plot_of(name):
    """Return the figure of a report: whoever looks at it changes nothing."""
    return report_on(name).plot()


@pytest.mark.one_in(12)
@pytest.mark.parametrize(("name", "maps"), MAPS.items())
def test_a_picture_has_a_cloud_of_points_and_a_map_for_each_whole_matrix(name, maps, matplotlib):
    figure = plot_of(name)
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert sum(label.startswith("error / allowed") for label in labels) == maps
    assert figure.axes[0].get_ylabel() == "analytic"
    assert report_on(name).verdict.upper() in figure.get_suptitle()


def test_a_picture_is_saved_and_returned_as_well(matplotlib, tmp_path):
    figure = report_on("fail").plot(tmp_path / "report.png")
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")
    assert figure.axes[0].get_ylabel() == "analytic"


@pytest.mark.parametrize(
    ("name", "legend"),
    [("fail", ["pass: 1", "fail: 2"]), ("kink", ["pass: 2", "unsure: 1"]),
     ("nan", ["pass: 3", "fail: 3 (3 not finite)"])],
)  # fmt: skip
def test_the_legend_counts_the_verdicts(name, legend, matplotlib):
    axes = plot_of(name).axes[0]
    counted = [text.get_text() for text in axes.get_legend().get_texts()]
    assert counted == legend


def test_right_entries_lie_on_the_line_and_wrong_ones_do_not(matplotlib):
    axes = plot_of("fail").axes[0]
    drawn = {c.get_label().split(":")[0]: c.lines[0].get_xydata() for c in axes.containers}
    np.testing.assert_allclose(drawn["pass"][:, 0], drawn["pass"][:, 1])
    assert np.all(np.abs(drawn["fail"][:, 0] - drawn["fail"][:, 1]) > 0.1)


# Drawing takes long. These look like others: one map beside the same cloud of points.
LIKE_OTHERS = {"matrix", "complex matrix", "three axes", "fail, array", "fail, thousands"}


@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", [name for name in MAPS if name not in LIKE_OTHERS])
def test_everything_is_drawn_inside_and_no_two_tick_labels_overlap(name, matplotlib):
    figure = plot_of(name)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    for cloud in axes.containers:
        inside = axes.transAxes.inverted().transform(
            axes.transData.transform(cloud.lines[0].get_xydata())
        )
        assert np.all((inside > 0.01) & (inside < 0.99))
    for axis, side in ((axes.xaxis, "x"), (axes.yaxis, "y")):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text()]
        spans = sorted((getattr(box, f"{side}0"), getattr(box, f"{side}1")) for box in boxes)
        assert all(end < start for (_, end), (start, _) in pairwise(spans))


def test_nonfinite_entries_are_black_and_counted_in_the_legend(matplotlib):
    axes, image, bar = plot_of("all nan").axes
    assert axes.get_legend().get_texts()[0].get_text() == "fail: 6 (6 not finite)"
    (image,) = image.get_images()
    assert np.all(image.cmap(image.norm(image.get_array())) == (0, 0, 0, 1))
    assert "black: infinite, or no number" in bar.get_ylabel()


def test_an_unsure_entry_is_marked_on_the_map(matplotlib):
    report = check_gradient(
        lambda x: np.sum(np.abs(x)), MATRIX - 2, np.sign(MATRIX - 2), max_evaluations=1000
    )
    (marks,) = report.plot().axes[1].lines
    np.testing.assert_array_equal(marks.get_xydata(), [[1, 0]])


@pytest.mark.slow
def test_a_name_is_shown_literally_and_not_as_a_formula(matplotlib):
    name = "a$\\foo$b\n"
    report = check_vjp(lambda **k: A @ k[name], {name: X}, lambda u, **k: {name: A.T @ u})
    figure = report.plot()
    figure.draw_without_rendering()  # which reads formulas
    axes = figure.axes[1]
    assert axes.get_xlabel() == "entry of a$\\foo$b\\n"
    assert axes.get_title() == "d output / d a$\\foo$b\\n"


def test_a_jacobian_is_drawn_with_a_row_for_each_output(matplotlib):
    report = check_vjp(lambda x: A @ x, X, lambda u, x: A.T @ u + (u[2] == 1))
    axes = report.plot().axes[1]
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("entry of output", "entry of x")
    wrong = axes.get_images()[0].get_array() > 1
    np.testing.assert_array_equal(wrong, [[False] * 3, [False] * 3, [True] * 3])


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'gradcheck-ref\[plot\]'"):
        report_on("fail").plot()
