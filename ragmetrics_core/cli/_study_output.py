"""What the commands of the study have in common: some options, and how their tables and plots leave."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ragmetrics_core.cli._own import names
from ragmetrics_core.cli._screen import page, remarks, show, write
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._study_files import csv_text, json_text, markdown_text
from ragmetrics_core.report._terminal import study_page
from ragmetrics_core.runs import Run
from ragmetrics_core.runs._writing import write_whole
from ragmetrics_core.study import Scores, StudyTable, named_runs, read_scores

__all__ = [
    "Alpha",
    "Cluster",
    "Plotted",
    "Runs",
    "Seed",
    "Studied",
    "StudyOutput",
    "Tables",
    "Testing",
    "Wanted",
    "open_runs",
    "put",
]

Runs = Annotated[list[Path], typer.Argument(help="Folders of runs.")]
Alpha = Annotated[
    float, typer.Option(min=0.0001, max=0.5, help="Below which p a difference is called significant.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        help="A label whose values say which samples belong together, such as source. Without it: session, "
        "where samples carry it; none takes all samples for independent."
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Of random draws; the same one gives the same intervals.")]
Wanted = Annotated[
    Any,
    typer.Option(
        parser=names,
        metavar="TEXT",
        help="Names or signatures: faithfulness,answer_correctness. Without it: all.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Studied:
    """Of which metrics a study is, and how it draws."""

    metrics: Wanted = None
    cluster: Cluster = None
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Testing(Studied):
    """The same, and what is called significant."""

    alpha: Alpha = 0.05


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Where the tables of a study go, and in which form.

    Raises:
        ConfigError: --format and --json name two forms.
    """

    format_: str | None = None

    json_: bool = False
    """As JSON, for other programs: --format json."""

    out: Path | None = None
    """A file (.csv, .md, .json) to write; a folder gets every table as CSV."""

    table: str | None = None
    """Only the table of this name."""

    def __post_init__(self) -> None:
        if self.json_ and self.format_ not in (None, "json"):
            raise ConfigError(f"--json and --format {self.format_} are two formats: give one")

    def show(self, tables: Iterable[StudyTable], short: Iterable[StudyTable] | None = None) -> None:
        """Show the tables, or write them.

        Args:
            tables: all of them.
            short: those of a terminal, where these are fewer or shorter.

        Raises:
            ConfigError: there is no table of that name, or the file's name does not say its format.
        """
        form, out = "json" if self.json_ else self.format_, self.out
        if short is not None and form in (None, "terminal") and out is None and self.table is None:
            tables = short
        wanted = tables = list(tables)
        if self.table is not None and not (wanted := [each for each in tables if each.name == self.table]):
            raise ConfigError(f"there is no table {self.table!r}; there is {_names(tables)}")
        if out is not None and (out.is_dir() or (not out.suffix and form in (None, "csv"))):
            out.mkdir(parents=True, exist_ok=True)
            for table in wanted:
                write_whole(out / f"{table.name}.csv", csv_text(table))
            remarks().print(f"{len(wanted)} tables written to {out}")
            return
        if form is None and out is not None:
            forms = {".csv": "csv", ".md": "markdown", ".json": "json"}
            if (form := forms.get(out.suffix.lower())) is None:
                raise ConfigError(f"{out} ends in none of {', '.join(forms)}: say the format with --format")
        if form in (None, "terminal"):
            if out is not None:
                raise ConfigError("--format terminal cannot be written to a file")
            show(page(), study_page(wanted))
            return
        if form == "csv" and len(wanted) > 1:
            others = _names(wanted[1:])
            remarks().print(f"a CSV file holds one table: {wanted[0].name}; --table takes also {others}")
        texts = {
            "csv": lambda: csv_text(wanted[0]),
            "markdown": lambda: markdown_text(wanted),
            "json": lambda: json_text(wanted),
        }
        put(texts[form](), out, as_json=form == "json")

    def draw(self, **drawings: Callable[[Path], Any]) -> None:
        """Draw into the files that are wanted, each named by its option."""
        for name, draw in drawings.items():
            if (path := getattr(self, name)) is not None:
                draw(path)
                remarks().print(f"drawn to {path}")


@dataclass(frozen=True, kw_only=True)
class StudyOutput(Tables):
    """The same for most studies."""

    format_: Literal["terminal", "csv", "markdown", "json"] | None = None
    """Without it: what --out ends in, else terminal. CSV and JSON have all digits."""


@dataclass(frozen=True, kw_only=True)
class Plotted(StudyOutput):
    """The same for studies that can be drawn."""

    plot: Path | None = None
    """Draw the result into this file (.svg or .png)."""


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


def _names(tables: Sequence[StudyTable]) -> str:
    return ", ".join(table.name for table in tables)
