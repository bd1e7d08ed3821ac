"""Options that the studies share, and the output of their tables and plots."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ragmetrics_core.boundary.writing import write_whole
from ragmetrics_core.cli._screen import page, remarks, show, write
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics.catalogue import split_names
from ragmetrics_core.report.plots import draw_curves
from ragmetrics_core.report.study_files import csv_text, json_text, markdown_text
from ragmetrics_core.report.terminal import study_page
from ragmetrics_core.runs import Run
from ragmetrics_core.study import Estimate, Scores, StudyTable, named_runs, read_scores

__all__ = [
    "Alpha",
    "Plotted",
    "Runs",
    "Seed",
    "Studied",
    "StudyOutput",
    "Tables",
    "Testing",
    "Wanted",
    "draw_shares",
    "open_runs",
    "put",
]

Runs = Annotated[list[Path], typer.Argument(help="Folders of runs.")]
Alpha = Annotated[float, typer.Option(min=0.0001, max=0.5)]
Seed = Annotated[int, typer.Option(min=0)]
_NAMES = "Names or signatures of metrics: faithfulness,answer_correctness. Default: all."
Wanted = Annotated[Any, typer.Option(parser=split_names, metavar="TEXT", help=_NAMES)]


@dataclass(frozen=True, kw_only=True)
class Studied:
    """Metrics, clusters and random seed of a study.

    Attributes:
        cluster: Label whose values group dependent samples, such as source. Default: session, if samples have
            it; none treats all samples as independent.
        seed: Random seed; the same seed gives the same intervals.
    """

    metrics: Wanted = None
    cluster: str | None = None
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Testing(Studied):
    """The same with a significance level.

    Attributes:
        alpha: Significance level: a difference with a lower p is significant.
    """

    alpha: Alpha = 0.05


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Destination and format of the tables of a study.

    Attributes:
        json_: Print JSON, as --format json.
        out: File to write (.csv, .md or .json); a folder gets every table as CSV.
        table: Show only the table of this name.

    Raises:
        ConfigError: --format and --json contradict each other.
    """

    format_: str | None = None

    json_: bool = False
    out: Path | None = None
    table: str | None = None

    def __post_init__(self) -> None:
        if self.json_ and self.format_ not in (None, "json"):
            raise ConfigError(f"--json and --format {self.format_} are two formats: give one")

    def show(
        self,
        tables: Iterable[StudyTable],
        short: Iterable[StudyTable] | None = None,
        **drawings: Callable[[Path], Any],
    ) -> None:
        """Show or write the tables, and draw the plots.

        Args:
            tables: all tables.
            short: tables for the terminal, if these are fewer or shorter.
            drawings: functions that draw the result to a file, by the option that names the file.

        Raises:
            ConfigError: there is no table of that name, or the file's name does not determine its format.
        """
        is_plain = not self.json_ and self.format_ in (None, "terminal") and self.out is None
        self._write(list(tables if self.table is not None or not is_plain or short is None else short))
        self.draw(**drawings)

    def _write(self, tables: list[StudyTable]) -> None:
        form, out = "json" if self.json_ else self.format_, self.out
        if self.table is not None:
            known = ", ".join(table.name for table in tables)
            tables = [table for table in tables if table.name == self.table]
            if not tables:
                raise ConfigError(f"there is no table {self.table!r}; there is {known}")
        if out is not None and (out.is_dir() or (not out.suffix and form in (None, "csv"))):
            out.mkdir(parents=True, exist_ok=True)
            for table in tables:
                write_whole(out / f"{table.name}.csv", csv_text(table))
            remarks().print(f"{len(tables)} tables written to {out}")
            return
        if form is None and out is not None:
            forms = {".csv": "csv", ".md": "markdown", ".json": "json"}
            if (form := forms.get(out.suffix.lower())) is None:
                raise ConfigError(f"{out} ends in none of {', '.join(forms)}: say the format with --format")
        match form:
            case "csv":
                if others := ", ".join(table.name for table in tables[1:]):
                    told = f"a CSV file holds one table: {tables[0].name}; --table takes also {others}"
                    remarks().print(told)
                put(csv_text(tables[0]), out)
            case "json":
                put(json_text(tables), out, as_json=True)
            case "markdown":
                put(markdown_text(tables), out)
            case _ if out is not None:
                raise ConfigError("--format terminal cannot be written to a file")
            case _:
                show(page(), study_page(tables))

    def draw(self, **drawings: Callable[[Path], Any]) -> None:
        """Draw to the files that the options name."""
        for name, draw in drawings.items():
            if (path := getattr(self, name)) is not None:
                draw(path)
                remarks().print(f"drawn to {path}")


@dataclass(frozen=True, kw_only=True)
class StudyOutput(Tables):
    """The same for most studies.

    Attributes:
        format_: Output format; csv and json keep all digits. Default: from the ending of --out, else
            terminal.
    """

    format_: Literal["terminal", "csv", "markdown", "json"] | None = None


@dataclass(frozen=True, kw_only=True)
class Plotted(StudyOutput):
    """The same for studies that can be drawn.

    Attributes:
        plot: Draw the result to this file (.svg or .png).
    """

    plot: Path | None = None


def put(text: str, out: Path | None, *, as_json: bool = False) -> None:
    """Write a text to a file, or to standard output."""
    if out is None:
        write(text, as_json=as_json)
    else:
        write_whole(out, text)
        remarks().print(f"written to {out}")


def open_runs(paths: Sequence[Path]) -> list[Scores]:
    """The scores of runs, under unique names."""
    return [read_scores(Run.load(path), name=name) for name, path in named_runs(paths).items()]


def draw_shares(points: Iterable[tuple[str, float, Estimate]], path: Path, **how: Any) -> None:
    """Draw a curve for each name through its shares, with their intervals as a band."""
    curves: dict[str, list[tuple[float, float]]] = {}
    bands: dict[str, list[tuple[float, float, float]]] = {}
    for name, at, share in points:
        value, low, high = (end or 0.0 for end in share)
        curves.setdefault(name, []).append((at, value))
        bands.setdefault(name, []).append((at, low, high))
    draw_curves(curves, path, bands=bands, **how)
