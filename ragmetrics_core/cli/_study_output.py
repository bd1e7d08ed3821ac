"""What the commands of the study have in common: some options, and how their tables and plots leave."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ragmetrics_core.cli._screen import page, remarks, show, write
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics._catalogue import split_names
from ragmetrics_core.report._plots import draw_curves
from ragmetrics_core.report._study_files import csv_text, json_text, markdown_text
from ragmetrics_core.report._terminal import study_page
from ragmetrics_core.runs import Run
from ragmetrics_core.runs._writing import write_whole
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
_NAMES = "Names or signatures: faithfulness,answer_correctness. Without it: all."
Wanted = Annotated[Any, typer.Option(parser=split_names, metavar="TEXT", help=_NAMES)]


@dataclass(frozen=True, kw_only=True)
class Studied:
    """Of which metrics a study is, and how it draws.

    Attributes:
        cluster: A label whose values say which samples belong together, such as source. Without it: session,
            where samples carry it; none takes all samples for independent.
        seed: Of random draws; the same one gives the same intervals.
    """

    metrics: Wanted = None
    cluster: str | None = None
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Testing(Studied):
    """The same, and what is called significant.

    Attributes:
        alpha: Below which p a difference is called significant.
    """

    alpha: Alpha = 0.05


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Where the tables of a study go, and in which form.

    Attributes:
        json_: As JSON, for other programs: --format json.
        out: A file (.csv, .md, .json) to write; a folder gets every table as CSV.
        table: Only the table of this name.

    Raises:
        ConfigError: --format and --json name two forms.
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
        """Show the tables, or write them, and draw.

        Args:
            tables: all of them.
            short: those of a terminal, where these are fewer or shorter.
            drawings: draw the result into a file, by the option that names it.

        Raises:
            ConfigError: there is no table of that name, or the file's name does not say its format.
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
        """Draw into the files that are wanted, each named by its option."""
        for name, draw in drawings.items():
            if (path := getattr(self, name)) is not None:
                draw(path)
                remarks().print(f"drawn to {path}")


@dataclass(frozen=True, kw_only=True)
class StudyOutput(Tables):
    """The same for most studies.

    Attributes:
        format_: Without it: what --out ends in, else terminal. CSV and JSON have all digits.
    """

    format_: Literal["terminal", "csv", "markdown", "json"] | None = None


@dataclass(frozen=True, kw_only=True)
class Plotted(StudyOutput):
    """The same for studies that can be drawn.

    Attributes:
        plot: Draw the result into this file (.svg or .png).
    """

    plot: Path | None = None


def put(text: str, out: Path | None, *, as_json: bool = False) -> None:
    """Write a text into a file, or to standard output."""
    if out is None:
        write(text, as_json=as_json)
    else:
        write_whole(out, text)
        remarks().print(f"written to {out}")


def open_runs(paths: Sequence[Path]) -> list[Scores]:
    """The scores of runs, each named so that it differs from the others."""
    return [read_scores(Run.load(path), name=name) for name, path in named_runs(paths).items()]


def draw_shares(points: Iterable[tuple[str, float, Estimate]], path: Path, **how: Any) -> None:
    """Draw a curve of each name through its shares, with their intervals as a band."""
    curves: dict[str, list[tuple[float, float]]] = {}
    bands: dict[str, list[tuple[float, float, float]]] = {}
    for name, at, share in points:
        value, low, high = (end or 0.0 for end in share)
        curves.setdefault(name, []).append((at, value))
        bands.setdefault(name, []).append((at, low, high))
    draw_curves(curves, path, bands=bands, **how)
