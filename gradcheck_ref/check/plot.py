"""A report as a picture: analytic against numeric, and where the error is."""

from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.report import Report
from gradcheck_ref.check.search import FAIL, PASS
from gradcheck_ref.check.verdict import SKIPPED, UNSURE, Pair

# Blue, orange and vermilion of Okabe and Ito, told apart by all eyes; and by their markers.
LOOKS = {
    PASS: ("pass", "#0072B2", "o"),
    UNSURE: ("unsure", "#E69F00", "s"),
    FAIL: ("fail", "#D55E00", "X"),
}

# More points hide each other; of those that pass a sample is enough.
MOST_POINTS = 2000
MOST_MAPS = 3

# How far below the limit an error is, is noise.
DECADES_WITHIN = 2.0

TICKS = 7

# Entries that differ by more than this factor are shown on a logarithmic scale.
ONE_SCALE = 1e3


def plot_report(report: Report, path: Any = None) -> Any:
    """Draw a report, and save it if there is a path; see `Report.plot`."""
    figure_class = _figure_class()
    maps = [pair for pair in report._ranked if _is_matrix(pair)][:MOST_MAPS]
    panels = 1 + len(maps)
    figure = figure_class(figsize=(1 + 4.5 * panels, 4.8), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    _scatter(axes[0], report)
    for axis, pair in zip(axes[1:], maps, strict=True):
        _map(figure, axis, pair, report.title(pair))
    figure.suptitle(_headline(report))
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def _figure_class() -> Any:
    # Not through pyplot: that would choose a display, and keep the figure open for good.
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "plot needs matplotlib, which is not installed: pip install 'gradcheck-ref[plot]'"
        ) from error
    return Figure


def _headline(report: Report) -> str:
    return f"{report.verdict.upper()} ({report.reason}): {report.compared} entries compared"


def _scatter(axis: Any, report: Report) -> None:
    """Plot claim over estimate: what is right lies on the diagonal."""
    analytic, numeric, error, verdict = _points(report)
    drawn = np.isfinite(analytic) & np.isfinite(numeric) & np.isfinite(error)
    ends = np.concatenate([analytic[drawn], numeric[drawn]])
    for code, (name, colour, marker) in LOOKS.items():
        of_code = np.flatnonzero(verdict == code)
        shown = np.flatnonzero((verdict == code) & drawn)
        if not of_code.size:
            continue
        label = f"{name}: {of_code.size}"
        if shown.size < of_code.size:
            label += f" ({of_code.size - shown.size} not finite)"
        if shown.size > MOST_POINTS:
            shown = shown[np.linspace(0, shown.size - 1, MOST_POINTS).astype(int)]
            label += f", {MOST_POINTS} shown"
        axis.errorbar(
            numeric[shown],
            analytic[shown],
            xerr=error[shown],
            fmt=marker,
            color=colour,
            label=label,
            markersize=6,
            markeredgecolor="white",
            markeredgewidth=0.5,
            capsize=2,
            elinewidth=1,
            zorder=2 + code,
        )
    sizes = np.abs(ends[ends != 0])
    if sizes.size and sizes.max() > ONE_SCALE * np.median(sizes):
        around_zero = max(float(np.quantile(sizes, 0.1)), float(sizes.max()) * 1e-12)
        axis.set_xscale("symlog", linthresh=around_zero, linscale=2)
        axis.set_yscale("symlog", linthresh=around_zero, linscale=2)
        for one in (axis.xaxis, axis.yaxis):
            one.get_major_locator().set_params(numticks=TICKS)
    limits = [*axis.get_xlim(), *axis.get_ylim()]
    both = min(limits), max(limits)
    axis.plot(both, both, color="0.6", linewidth=1, zorder=1)
    axis.set(xlim=both, ylim=both, box_aspect=1)
    axis.set_xlabel("numeric, with its error bar")
    axis.set_ylabel("analytic")
    axis.set_title("on the line, analytic = numeric")
    if axis.get_legend_handles_labels()[1]:
        axis.legend()


def _points(report: Report) -> tuple[Array, Array, Array, Array]:
    """Return claims, estimates, error bars and verdicts of all that has a claim, flat."""
    pairs = [pair for pair in report.pairs if pair.analytic is not None]
    columns = [
        np.concatenate([np.ravel(getattr(pair, name)) for pair in pairs] or [np.zeros(0)])
        for name in ("analytic", "numeric", "error", "verdict")
    ]
    analytic, numeric, error, verdict = columns
    return analytic, numeric, error, verdict


def _is_matrix(pair: Pair) -> bool:
    if pair.analytic is None or not pair.verdict.size:
        return False
    shape = _ratios(pair)[0].shape
    return len(shape) == 2 and min(shape) > 1


def _ratios(pair: Pair) -> tuple[Array, str, str]:
    """Return error over allowed in two dimensions, and what goes down and across."""
    ratio = np.where(np.isnan(pair.ratio), np.inf, pair.ratio)
    ratio = np.where(pair.verdict == SKIPPED, np.nan, ratio)
    if pair.output.size > 1:
        down, across = (
            f"{'real coordinate' if part.is_complex else 'entry'} of {part.name}"
            for part in (pair.output, pair.input)
        )
        return ratio.T, down, across
    if pair.input.is_complex:
        ratio = ratio.reshape(-1, 2).max(axis=1)
    ratio = ratio.reshape(pair.input.shape)
    if ratio.ndim > 2:
        ratio = ratio.reshape(len(ratio), -1)
    return ratio, "axis 0", "axis 1" if len(pair.input.shape) == 2 else "the other axes"


def _map(figure: Any, axis: Any, pair: Pair, title: str) -> None:
    """Colour every entry by error over allowed: red is too much, white the limit, blue within."""
    from matplotlib.colors import TwoSlopeNorm
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ratio, down, across = _ratios(pair)
    with np.errstate(divide="ignore", invalid="ignore"):
        decades = np.log10(ratio)
    most = max(1.0, float(decades[np.isfinite(decades)].max(initial=0.0)))
    norm = TwoSlopeNorm(vcenter=0.0, vmin=-DECADES_WITHIN, vmax=most)
    decades = np.clip(decades, -DECADES_WITHIN, most)
    image = axis.imshow(decades, norm=norm, cmap="RdBu_r", aspect="auto")
    axis.set_facecolor("0.85")  # shows where an entry was skipped
    axis.set(title=title, xlabel=across, ylabel=down)
    for one in (axis.xaxis, axis.yaxis):
        one.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ticks = MaxNLocator(TICKS, integer=True).tick_values(-DECADES_WITHIN, most)
    figure.colorbar(
        image,
        ax=axis,
        label="error / allowed",
        extend="min",
        ticks=[tick for tick in ticks if -DECADES_WITHIN <= tick <= most],
        format=FuncFormatter(lambda decade, _: f"$10^{{{decade:.0f}}}$"),
    )
