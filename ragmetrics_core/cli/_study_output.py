"""What the commands of the study share: their arguments, and how their tables and plots leave."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, overload

import typer

from ragmetrics_core.cli._screen import page, remarks, show, write
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._study_files import csv_text, json_text, markdown_text
from ragmetrics_core.report._terminal import study_page
from ragmetrics_core.runs import Run
from ragmetrics_core.runs._writing import write_whole
from ragmetrics_core.study import Scores, StudyTable, named_runs, read_scores

__all__ = [
    "Alpha",
    "AsJson",
    "Cluster",
    "Format",
    "GateFormat",
    "OneTable",
    "Out",
    "Plot",
    "Seed",
    "Wanted",
    "emit",
    "format_of",
    "names",
    "open_runs",
    "save_plot",
]

FormatName = Literal["terminal", "csv", "markdown", "json"]
GateFormat = Literal["terminal", "csv", "markdown", "json", "junit", "github"]


Format = Annotated[
    FormatName | None,
    typer.Option(
        "--format",
        help="Without it: what --out ends in, else terminal. CSV and JSON have all digits.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for other programs: --format json.")]
Out = Annotated[
    Path | None,
    typer.Option(help="A file (.csv, .md, .json) to write; a folder gets every table as CSV."),
]
OneTable = Annotated[str | None, typer.Option("--table", help="Only the table of this name.")]
Plot = Annotated[Path | None, typer.Option(help="Draw the result into this file (.svg or .png).")]
Alpha = Annotated[
    float, typer.Option(min=0.0001, max=0.5, help="Below which p a difference is called significant.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="A label whose values say which samples belong together, such as source. Without it: session, "
        "where samples carry it; none takes all samples for independent.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Of random draws; the same one gives the same intervals.")]
Wanted = Annotated[
    str | None,
    typer.Option("--metrics", help="Names or signatures: faithfulness,answer_correctness. Without it: all."),
]

_SUFFIXES: dict[str, FormatName] = {".csv": "csv", ".md": "markdown", ".json": "json"}


@overload
def format_of(as_format: FormatName | None, as_json: bool) -> FormatName | None: ...
@overload
def format_of(as_format: GateFormat | None, as_json: bool) -> GateFormat | None: ...
def format_of(as_format: GateFormat | None, as_json: bool) -> GateFormat | None:
    """The format that --format and --json name.

    Raises:
        ConfigError: they name two.
    """
    if as_json and as_format not in (None, "json"):
        raise ConfigError(f"--json and --format {as_format} are two formats: give one")
    return "json" if as_json else as_format


def names(text: str | None) -> tuple[str, ...] | None:
    """The names of a list with commas; None when there is none."""
    if text is None:
        return None
    return tuple(name.strip() for name in _split(text) if name.strip())


def open_runs(paths: Sequence[Path]) -> list[Scores]:
    """The scores of runs, each named so that it differs from the others."""
    return [read_scores(Run.load(path), name=name) for name, path in named_runs(paths).items()]


def emit(
    tables: Sequence[StudyTable], *, as_format: FormatName | None, out: Path | None, table: str | None
) -> None:
    """Show the tables, or write them.

    Raises:
        ConfigError: there is no table of that name, or the file's name does not say its format.
    """
    if table is not None:
        chosen = [each for each in tables if each.name == table]
        if not chosen:
            raise ConfigError(
                f"there is no table {table!r}; there is {', '.join(each.name for each in tables)}"
            )
        tables = chosen
    if out is not None and (out.is_dir() or (not out.suffix and as_format in (None, "csv"))):
        _write_folder(tables, out)
        return
    if as_format is None and out is not None:
        if out.suffix.lower() not in _SUFFIXES:
            raise ConfigError(f"{out} ends in none of {', '.join(_SUFFIXES)}: say the format with --format")
        as_format = _SUFFIXES[out.suffix.lower()]
    if as_format in (None, "terminal"):
        if out is not None:
            raise ConfigError("--format terminal cannot be written to a file")
        show(page(), study_page(tables))
        return
    text = _text(tables, as_format)
    if out is None:
        write(text, as_json=as_format == "json")
    else:
        write_whole(out, text)
        remarks().print(f"written to {out}")


def save_plot(draw: Callable[[Path], Any], path: Path | None) -> None:
    """Draw into a file, if one is wanted."""
    if path is not None:
        draw(path)
        remarks().print(f"drawn to {path}")


def _text(tables: Sequence[StudyTable], as_format: FormatName | None) -> str:
    match as_format:
        case "json":
            return json_text(tables)
        case "markdown":
            return markdown_text(tables)
        case _:
            if len(tables) > 1:
                others = ", ".join(each.name for each in tables[1:])
                remarks().print(f"a CSV file holds one table: {tables[0].name}; --table takes also {others}")
            return csv_text(tables[0])


def _write_folder(tables: Sequence[StudyTable], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for each in tables:
        write_whole(out / f"{each.name}.csv", csv_text(each))
    remarks().print(f"{len(tables)} tables written to {out}")


def _split(text: str) -> list[str]:
    """Parts between commas; those within brackets belong to a signature."""
    parts: list[str] = []
    depth, start = 0, 0
    for place, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth <= 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
