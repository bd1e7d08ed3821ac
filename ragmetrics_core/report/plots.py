"""Plots of a study as SVG or PNG, drawn by matplotlib without a display."""

# matplotlib leaves the types of its keyword arguments open.
# pyright: reportUnknownMemberType=false

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import Any

from ragmetrics_core.boundary.writing import write_whole
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import Estimate, GroupStudy, short

__all__ = ["draw_curves", "draw_groups", "draw_heat_map", "draw_intervals"]

_FORMATS = (".svg", ".png")

# Colours of Okabe and Ito, which people with any colour vision can tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def draw_groups(study: GroupStudy, path: Path) -> None:
    """Means with intervals: a panel for each metric, a line for each group."""
    rows = {
        short(metric, study.metrics): [
            (str(each.group), each.interval) for each in study.measured if each.metric == metric
        ]
        for metric in study.metrics
    }
    draw_intervals(rows, path, title=f"Means by {study.by}" if study.by else "Means", axis="mean")


def draw_intervals(
    panels: Mapping[str, Sequence[tuple[str, Estimate]]],
    path: Path,
    *,
    title: str,
    axis: str,
    zero: bool = False,
) -> None:
    """Figures with their intervals, one below the other; a panel for each name.

    Args:
        panels: for each panel, names and figures; a figure without a value is left out.
        path: the file.
        title: of the whole.
        axis: what the figures are.
        zero: draw a line at zero.
    """
    height = sum(len(rows) for rows in panels.values()) * 0.28 + len(panels) * 0.55 + 0.9
    with _panels(path, panels, height, title=title, axis=axis) as axes:
        for ax, rows in zip(axes, panels.values(), strict=True):
            for place, (colour, (_, each)) in enumerate(zip(cycle(_COLOURS), rows, strict=False)):
                if each.value is not None:
                    low, high = (each.value if end is None else end for end in each[1:])
                    ax.plot([low, high], [place, place], color=colour, linewidth=2)
                    ax.plot([each.value], [place], "o", color=colour, markersize=5)
            ax.set_yticks(range(len(rows)), [_label(label) for label, _ in rows])
            ax.set_ylim(len(rows) - 0.5, -0.5)
            ax.grid(axis="x", alpha=0.3)
            if zero:
                ax.axvline(0, color="black", linewidth=0.8)


def draw_heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    path: Path,
    *,
    title: str,
    low: float = -1.0,
    high: float = 1.0,
) -> None:
    """A table of numbers in colour, each with its number; None stays blank."""
    with _figure(path, 1.8 + 0.95 * len(columns), 1.6 + 0.6 * len(rows)) as figure:
        ax = figure.subplots()
        numbers = [[float("nan") if each is None else each for each in row] for row in values]
        image = ax.imshow(
            numbers, cmap="RdBu_r" if low < 0 else "viridis", vmin=low, vmax=high, aspect="auto"
        )
        ax.set_xticks(range(len(columns)), [_label(each) for each in columns], rotation=30, ha="right")
        ax.set_yticks(range(len(rows)), [_label(each) for each in rows])
        for i, row in enumerate(values):
            for j, each in enumerate(row):
                if each is not None:
                    place = (each - low) / (high - low)
                    dark = abs(place - 0.5) > 0.35 if low < 0 else place < 0.5
                    ax.text(j, i, f"{each:.2f}", ha="center", va="center", color="white" if dark else "black")
        figure.colorbar(image, ax=ax)
        ax.set_title(_label(title))


def draw_curves(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    path: Path,
    *,
    title: str,
    axes: tuple[str, str],
    diagonal: bool = False,
    bands: Mapping[str, Sequence[tuple[float, float, float]]] | None = None,
) -> None:
    """Lines through points, such as ROC and calibration curves.

    Args:
        curves: for each name its points.
        path: the file.
        title: of the whole.
        axes: what x and y are.
        diagonal: draw the line from (0, 0) to (1, 1).
        bands: for each name x, low and high of an interval.
    """
    with _figure(path, 6, 5) as figure:
        ax = figure.subplots()
        for colour, (name, points) in zip(cycle(_COLOURS), curves.items(), strict=False):
            ax.plot(*zip(*points, strict=True), marker="o", markersize=3, color=colour, label=_label(name))
            for x, low, high in (bands or {}).get(name, ()):
                ax.plot([x, x], [low, high], color=colour, alpha=0.5)
        if diagonal:
            ax.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle="--")
        ax.set_xlabel(axes[0])
        ax.set_ylabel(axes[1])
        ax.grid(alpha=0.3)
        ax.legend()
        ax.set_title(_label(title))


@contextmanager
def _panels(
    path: Path, names: Iterable[str], height: float, *, title: str, axis: str
) -> Generator[Sequence[Any]]:
    """Panels below each other, each with its name."""
    names = [*names]
    with _figure(path, 7, height) as figure:
        axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
        for ax, name in zip(axes, names, strict=True):
            ax.set_title(_label(name), loc="left", fontsize=10)
        axes[-1].set_xlabel(axis)
        figure.suptitle(_label(title))
        yield axes


@contextmanager
def _figure(path: Path, width: float, height: float) -> Generator[Any]:
    """A figure that is written when it is drawn; the same data give the same file."""
    if path.suffix.lower() not in _FORMATS:
        raise ConfigError(f"{path}: a plot is a file that ends in {' or '.join(_FORMATS)}")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ConfigError("plots need the matplotlib package: pip install 'ragmetrics-core[study]'") from None
    with matplotlib.rc_context({"svg.hashsalt": "ragmetrics", "svg.fonttype": "none", "text.usetex": False}):
        figure = Figure(figsize=(width, min(height, 60)), layout="constrained")
        yield figure
        metadata = {"Date": None} if path.suffix.lower() == ".svg" else {}
        content = BytesIO()
        kind = path.suffix.removeprefix(".").lower() or "png"
        figure.savefig(content, dpi=150, metadata=metadata, format=kind)
        write_whole(path, content.getvalue())


def _label(text: str) -> str:
    """Text of the data in a plot: short, and never read as a formula."""
    cut = text if len(text) <= 60 else f"{text[:59]}…"
    return cut.replace("$", r"\$")
