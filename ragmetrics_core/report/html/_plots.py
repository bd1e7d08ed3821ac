"""Plots as SVG, drawn by matplotlib, which is imported only here.

Colours are placeholders, which the page replaces for its dark or light theme.
"""

# matplotlib leaves the types of its keyword arguments open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._text import Picture, one_line
from ragmetrics_core.study import PairedMetric

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIRST", "LINE", "SECOND", "TEXT", "difference_plot", "distribution_plot", "funnel_plot"]

TEXT, LINE, FIRST, SECOND = "#010101", "#020202", "#030303", "#040404"
BINS = 20


def distribution_plot(values: Sequence[Sequence[float]], *, low: float, high: float) -> Picture | None:
    """Distribution of each run's values over the metric's range, with their mean; None if there are none."""
    if not any(values):
        return None
    figure = _figure(3.2, 1.05)
    axes = figure.add_axes((0.02, 0.24, 0.96, 0.72))
    least = min(min(each) for each in values if each)
    left = low if low >= 0 or least < 0 else 0.0
    step = (high - left) / BINS
    edges = [left + step * number for number in range(BINS + 1)]
    for number, each in enumerate(values):
        if not each:
            continue
        colour = SECOND if number else FIRST
        within = [min(max(value, left), high) for value in each]
        if len(values) == 1:
            axes.hist(within, bins=edges, color=colour, alpha=0.85, rwidth=0.9)
        else:
            axes.hist(within, bins=edges, color=colour, alpha=0.35)
            axes.hist(within, bins=edges, histtype="step", color=colour, linewidth=1.4)
        mean = sum(each) / len(each)
        axes.axvline(mean, color=colour if number else TEXT, linewidth=1.2, linestyle="--" if number else "-")
    axes.set_xlim(left - step / 2, high + step / 2)
    axes.set_yticks([])
    ticks = (left, (left + high) / 2, high)
    axes.set_xticks(ticks, [f"{each:g}" for each in ticks])
    _plain(axes)
    return _svg(figure)


def difference_plot(compared: PairedMetric, *, reach: float) -> Picture | None:
    """A mean difference with its interval and the line of no difference; None if there is no interval.

    Args:
        compared: compared metric.
        reach: end of the axis on either side, the same for all metrics so that they can be compared.
    """
    mean, low, high = compared.difference
    if mean is None or low is None or high is None:
        return None
    figure = _figure(3.2, 0.62)
    axes = figure.add_axes((0.03, 0.42, 0.94, 0.55))
    axes.axvline(0, color=LINE, linewidth=1)
    is_clear = compared.verdict != "cannot tell"
    axes.plot([low, high], [0, 0], color=FIRST, linewidth=2.2, solid_capstyle="butt")
    axes.plot([mean], [0], "o", color=FIRST, markersize=6, markerfacecolor=FIRST if is_clear else "none")
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-1, 1)
    axes.set_yticks([])
    ticks = (-reach, 0.0, reach)
    axes.set_xticks(ticks, [f"{each:+.2g}" if each else "0" for each in ticks])
    first, _, last = axes.get_xticklabels()
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")
    _plain(axes)
    return _svg(figure)


def funnel_plot(stages: Sequence[tuple[str, float | None]]) -> Picture | None:
    """Share of relevant chunks after each stage, as bars; None if no stage has one."""
    known = [(name, share) for name, share in stages if share is not None]
    if not known:
        return None
    height = 0.3 * len(known) + 0.35
    figure = _figure(6.4, height)
    axes = figure.add_axes((0.42, 0.3 / height, 0.54, 0.95 - 0.3 / height))
    axes.barh(range(len(known)), [share for _, share in known], color=FIRST, height=0.62)
    axes.set_yticks(range(len(known)), [one_line(name, 43) for name, _ in known])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    _plain(axes)
    return _svg(figure)


def _figure(width: float, height: float) -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigError(
            "a report needs matplotlib: install it with pip install 'ragmetrics-core[report]'"
        ) from error
    return Figure(figsize=(width, height))


def _plain(axes: Any) -> None:
    """Remove all frame lines except the lower one; colours are placeholders."""
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(LINE)
    axes.tick_params(colors=TEXT, labelsize=9, length=3, color=LINE)
    axes.tick_params(axis="y", length=0)


def _svg(figure: "Figure") -> Picture:
    from matplotlib import rc_context

    out = io.StringIO()
    # "path" draws the letters themselves: the plot looks the same wherever it is opened
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": "ragmetrics", "path.simplify": True}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return Picture(re.sub(r"<!--.*?-->|\s*\n\s*", " ", text[text.index("<svg") :], flags=re.DOTALL))
