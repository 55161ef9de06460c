"""A report as a picture: analytic against numeric, and a map of the error."""

from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.report.text import visible
from gradcheck_ref.check.results import FAIL, PASS, UNSURE, VERDICTS, Pair

# Blue, orange and vermilion of Okabe and Ito, which everybody can tell apart, and three markers.
LOOKS = {PASS: ("#0072B2", "o"), UNSURE: ("#E69F00", "s"), FAIL: ("#D55E00", "X")}


def plot_report(report: Any, path: Any = None) -> Any:
    """Draw a report, and save it if there is a path; see `Report.plot`."""
    # Without pyplot, which would choose a display and keep the figure open.
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "plot needs matplotlib, which is not installed: pip install 'gradcheck-ref[plot]'"
        ) from error
    maps = [pair for pair in report.ranked if _is_matrix(pair)][:3]
    panels = 1 + len(maps)
    figure = Figure(figsize=(1 + 4.5 * panels, 4.8), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    _scatter(axes[0], report)
    for axis, pair in zip(axes[1:], maps, strict=True):
        _map(figure, axis, pair)
        axis.set_title(visible(report.title(pair)), parse_math=False)
    verdict = f"{report.verdict.upper()} ({report.reason})"
    figure.suptitle(f"{verdict}, {report.on_axes} entries measured")
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def _scatter(axis: Any, report: Any) -> None:
    """Plot claim over estimate: right entries are on the diagonal."""
    analytic, numeric, error, verdict = (
        np.concatenate([np.zeros(0), *(np.ravel(getattr(p, name)) for p in report.comparable)])
        for name in ("analytic", "numeric", "error", "verdict")
    )
    drawn = np.isfinite(analytic) & np.isfinite(numeric) & np.isfinite(error)
    for code in np.unique(verdict).astype(int):
        (colour, marker), shown = LOOKS[code], (verdict == code) & drawn
        count = np.count_nonzero(verdict == code)
        label = f"{VERDICTS[code]}: {count}"
        if missing := count - np.count_nonzero(shown):
            label += f" ({missing} not finite)"
        bars = {"xerr": error[shown], "elinewidth": 1, "fmt": marker, "color": colour}
        edge = {"markeredgecolor": "white", "markeredgewidth": 0.5, "zorder": 2 + code}
        axis.errorbar(numeric[shown], analytic[shown], label=label, **bars, **edge)
    axis.set(xlabel="numeric, with its error bar", ylabel="analytic", box_aspect=1)
    axis.set_title("on the line, analytic = numeric")
    if verdict.size:
        axis.legend()
    _scale(axis, np.concatenate([analytic[drawn], numeric[drawn]]))


def _scale(axis: Any, values: Array) -> None:
    """Give both axes the same scale and limits, logarithmic if sizes differ by a thousand."""
    sizes = np.abs(values[values != 0])
    if sizes.size and sizes.max() > 1e3 * np.median(sizes):
        around_zero = max(float(np.quantile(sizes, 0.1)), float(sizes.max()) * 1e-12)
        axis.set_xscale("symlog", linthresh=around_zero, linscale=2)
        axis.set_yscale("symlog", linthresh=around_zero, linscale=2)
        # There is room for three ticks on each side of zero.
        first, last = np.floor(np.log10([around_zero, sizes.max()]))
        decades = 10.0 ** np.arange(last, first + 0.5, -max(1, np.ceil((last - first) / 3)))
        axis.set(xticks=[*-decades, 0, *decades], yticks=[*-decades, 0, *decades])
        axis.minorticks_off()
    axis.plot(np.sort(values), np.sort(values), color="0.6", linewidth=1, zorder=1)
    limits = np.array([*axis.get_xlim(), *axis.get_ylim()])
    axis.set(xlim=(limits.min(), limits.max()), ylim=(limits.min(), limits.max()))


def _is_matrix(pair: Pair) -> bool:
    """Tell whether a pair has rows and columns, and every entry was measured."""
    whole = pair.analytic is not None and 0 < pair.verdict.size == pair.entries
    return whole and min(_image(pair, pair.ratio).shape) > 1


def _image(pair: Pair, values: Array) -> Array:
    """Arrange the values of a pair as an image, with the outputs or the first axis downward."""
    if pair.output.size > 1 or pair.input.is_complex:
        return values.T
    return values.reshape(*pair.input.shape[:1], -1)


def _map(figure: Any, axis: Any, pair: Pair) -> None:
    """Color every entry by error over allowed: red is above 1, white is 1, blue is below."""
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm

    ratio = _image(pair, pair.ratio)
    finite = np.isfinite(ratio)
    most = max(100.0, float(ratio[finite].max(initial=0.0)))
    # Far below the limit the size of an error is noise.
    image = axis.imshow(
        np.where(finite, np.fmax(ratio, 1 / most), 2 * most),
        norm=LogNorm(1 / most, most),
        cmap=colormaps["RdBu_r"].with_extremes(over="black"),
        aspect="auto",
    )
    unsure = np.argwhere(_image(pair, pair.verdict) == UNSURE)
    colour, marker = LOOKS[UNSURE]
    axis.plot(unsure[:, 1], unsure[:, 0], marker, color=colour, markeredgecolor="white")
    if pair.output.size > 1:
        axis.set_ylabel(f"entry of {visible(pair.output.name)}", parse_math=False)
        axis.set_xlabel(f"entry of {visible(pair.input.name)}", parse_math=False)
    for one in (axis.yaxis, axis.xaxis):
        one.get_major_locator().set_params(integer=True, min_n_ticks=1)
    label = "error / allowed (black: infinite, or no number)"
    figure.colorbar(image, ax=axis, label=label, extend="both")
