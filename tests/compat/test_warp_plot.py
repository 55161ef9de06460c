"""Warp's picture of Jacobians."""

import sys

import numpy as np
import pytest
from warp_functions import X, pair, pair_vjp, square

from gradcheck_ref.compat.warp import gradcheck, jacobian, jacobian_fd, jacobian_plot

INPUTS = (X, X + 1)


@pytest.fixture
def shown(matplotlib, monkeypatch):
    """Return a list to which every figure goes that is shown."""
    from matplotlib import pyplot

    figures = []

    def show():
        figures.extend(pyplot.figure(number) for number in pyplot.get_fignums())
        pyplot.close("all")

    monkeypatch.setattr(pyplot, "show", show)
    return figures


def images(figure):
    """Return the images of a figure, row by row; colour bars hold none."""
    return [axes.get_images()[0] for axes in figure.axes if axes.get_images()]


def draw(jacobians, function=pair, inputs=INPUTS, **knobs):
    return jacobian_plot(jacobians, function, inputs, show_plot=False, **knobs)


@pytest.mark.slow
def test_the_grid_has_outputs_downwards_and_inputs_across(matplotlib, tmp_path):
    found = jacobian(pair, INPUTS, vjp=pair_vjp)
    figure = draw(found, title="what it is")
    assert figure.get_suptitle() == "what it is"
    assert [axes.get_ylabel() for axes in figure.axes[:4]] == ["output_0", "", "output_1", ""]
    assert [axes.get_xlabel() for axes in figure.axes[:4]] == ["", "", "x", "y"]
    for image, key in zip(images(figure), [(0, 0), (1, 0), (0, 1), (1, 1)], strict=True):
        np.testing.assert_array_equal(image.get_array(), found[key])
        assert image.origin == "upper"
    figure.savefig(tmp_path / "jacobian.png")
    assert (tmp_path / "jacobian.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_an_image_has_the_proportions_of_its_jacobian_but_is_never_a_line(matplotlib):
    def total(x, y, z):
        return x.sum() + y.sum() + z.sum()

    inputs = (np.ones(100), np.ones(50), np.ones(1))
    grid = draw(jacobian_fd(total, inputs), total, inputs).axes[0].get_gridspec()
    assert grid.get_width_ratios() == [1.0, 0.5, 0.15]
    assert grid.get_height_ratios() == [1.0]


@pytest.mark.slow
def test_a_pair_without_jacobian_is_blank_but_keeps_the_name_at_the_margin(matplotlib):
    found = jacobian(pair, INPUTS, vjp=pair_vjp, input_output_mask=[(0, 0), (1, 1)])
    figure = draw(found)
    assert len(images(figure)) == 2
    blank = figure.axes[2]
    assert (blank.get_xlabel(), blank.get_ylabel()) == ("x", "output_1")
    assert not any(spine.get_visible() for spine in blank.spines.values())


def test_entries_that_were_not_evaluated_are_hatched(matplotlib):
    found = jacobian(pair, INPUTS, vjp=pair_vjp, max_outputs_per_var=1)
    image = images(draw(found))[0]
    np.testing.assert_array_equal(np.ma.getmaskarray(image.get_array())[:, 0], [False, True, True])
    assert image.axes.patch.get_hatch()


def test_all_images_share_one_range_of_colours_with_zero_in_the_middle(matplotlib):
    found = jacobian(lambda x, y: pair(-x, y), INPUTS, vjp=lambda u, x, y: (-u[0] * y, -u[0] * x))
    figure = draw(found)
    assert {(image.norm.vmin, image.norm.vmax) for image in images(figure)} == {(-4.0, 4.0)}
    assert len(figure.axes) == 4 + 1
    assert len(draw(found, show_colorbar=False).axes) == 4


def test_each_image_may_have_its_own_range_and_colour_bar(matplotlib):
    found = jacobian(pair, INPUTS, vjp=pair_vjp)
    figure = draw(found, scale_colors_per_submatrix=True)
    assert [image.norm.vmax for image in images(figure)] == [4.0, 3.0, 1.0, 1.0]
    assert len(figure.axes) == 4 + 4
    assert len(draw(found, show_colorbar=False, scale_colors_per_submatrix=True).axes) == 4


def test_a_logarithmic_scale_shows_magnitudes_and_zero_as_the_smallest(matplotlib):
    found = {(0, 0): np.array([[-1e-3, 0.0, np.nan], [1e-3, 10.0, 1.0], [0.0, 0.0, np.inf]])}
    (image,) = images(draw(found, square, X, log_scale=True))
    assert (image.norm.vmin, image.norm.vmax) == (1e-3, 10.0)
    np.testing.assert_array_equal(
        image.get_array().filled(np.nan),
        [[1e-3, 1e-3, np.nan], [1e-3, 10, 1], [1e-3, 1e-3, np.nan]],
    )


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("value", "log_scale"),
    [(0.0, False), (0.0, True), (np.nan, True), (1e300, False), (5e-324, True)],
)
def test_a_jacobian_of_one_value_can_be_drawn(value, log_scale, matplotlib, tmp_path):
    figure = draw({(0, 0): np.full((3, 3), value)}, square, X, log_scale=log_scale)
    figure.savefig(tmp_path / "one_value.png")


def test_the_colour_map_can_be_chosen(matplotlib):
    found = jacobian_fd(square, X)
    assert images(draw(found, square, X))[0].get_cmap().name == "coolwarm"
    assert images(draw(found, square, X, colormap="viridis"))[0].get_cmap().name == "viridis"


def test_thick_lines_are_between_entries_and_thin_ones_within_a_complex_entry(matplotlib):
    z = np.array([1 + 2j, 3j])
    (image,) = images(draw(jacobian_fd(square, z), square, z))
    widths = [line.get_linewidth() for line in image.axes.get_lines()]
    assert widths == [0.3, 0.9, 0.3] * 2
    (image,) = images(draw(jacobian_fd(square, X), square, X))
    assert [line.get_linewidth() for line in image.axes.get_lines()] == [0.9] * 4


# --- showing ---------------------------------------------------------------------------------


def test_a_figure_is_shown_only_on_request(shown):
    found = jacobian_fd(square, X)
    figure = draw(found, square, X)
    assert shown == []
    assert jacobian_plot(found, square, X) is shown[0]
    assert figure is not shown[0]


def test_jacobians_are_plotted_on_request(shown):
    found = jacobian(pair, INPUTS, vjp=pair_vjp, plot_jacobians=True)
    jacobian_fd(pair, INPUTS, plot_jacobians=True)
    titles = [figure.get_suptitle() for figure in shown]
    assert titles == ["Jacobian of pair", "Jacobian of pair by finite differences"]
    np.testing.assert_array_equal(images(shown[0])[0].get_array(), found[0, 0])


def test_the_errors_are_plotted_before_a_wrong_gradient_is_raised(shown, capsys):
    knobs = {"eps": 0.5, "max_inputs_per_var": 2}
    with pytest.raises(ValueError, match="do not match"):
        gradcheck(square, X, vjp=lambda u, x: (2 * x - 1) * u, plot_relative_error=True,
                  plot_absolute_error=True, **knobs)  # fmt: skip
    capsys.readouterr()
    relative, absolute = shown
    assert {type(image.norm).__name__ for image in images(relative)} == {"LogNorm"}
    assert {type(image.norm).__name__ for image in images(absolute)} == {"LogNorm"}
    assert relative.get_suptitle() == "relative error of the Jacobian of square"
    assert absolute.get_suptitle() == "absolute error of the Jacobian of square"
    errors = images(absolute)[0].get_array().filled(np.nan)
    np.testing.assert_array_equal(np.isnan(errors), [[False, False, True]] * 3)
    assert (errors[0, 0], errors[1, 1]) == (1.0, 1.0)
    errors = images(relative)[0].get_array()
    # The relative error of the table: that of FD + 1e-8, which is 2 and 4 here.
    np.testing.assert_allclose([errors[0, 0], errors[1, 1]], [1 / 2, 1 / 4], rtol=1e-8)


# --- what cannot be drawn --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("jacobians", "x", "words"),
    [
        ({}, X, "jacobians is empty"),
        ({(1, 0): np.eye(3)}, X, r"has the pair \(1, 0\), which the function does not have"),
        ({(0, 1): np.eye(3)}, X, r"has the pair \(0, 1\)"),
        ({(0, 0): np.eye(2)}, X, r"\(0, 0\) has shape \(2, 2\), but .* has shape \(3, 3\)"),
        ({(0, 0): np.eye(0)}, X[:0], r"the Jacobian \(0, 0\) is empty"),
    ],
)
def test_jacobians_must_be_those_of_the_function(jacobians, x, words, matplotlib):
    with pytest.raises(ValueError, match=words):
        draw(jacobians, square, x)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    found = jacobian_fd(square, X)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'gradcheck-ref\[plot\]'"):
        draw(found, square, X)
