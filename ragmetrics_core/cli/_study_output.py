"""The commands of the study: their common options, and how their tables and plots leave."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, overload

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
    "GateFormat",
    "OneTable",
    "Out",
    "Plot",
    "Runs",
    "Seed",
    "StudyAnswer",
    "Wanted",
    "command_of",
    "emit",
    "format_of",
    "names",
    "open_runs",
    "save_plot",
]

FormatName = Literal["terminal", "csv", "markdown", "json"]
GateFormat = Literal["terminal", "csv", "markdown", "json", "junit", "github"]


def names(text: str) -> tuple[str, ...]:
    """The names of a list with commas; those within brackets belong to a signature."""
    parts, depth = [""], 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return tuple(name.strip() for name in parts if name.strip())


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
    Path | None, typer.Option(help="A file (.csv, .md, .json) to write; a folder gets every table as CSV.")
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
    Any,
    typer.Option(
        "--metrics",
        parser=names,
        metavar="TEXT",
        help="Names or signatures: faithfulness,answer_correctness. Without it: all.",
    ),
]
Runs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.", show_default=False)]

_SUFFIXES: dict[str, FormatName] = {".csv": "csv", ".md": "markdown", ".json": "json"}


class StudyAnswer(NamedTuple):
    """What a study says.

    Attributes:
        tables: its tables.
        plots: how each plot is drawn, by its option.
        short: the tables of a terminal, where these are fewer or shorter.
    """

    tables: Iterable[StudyTable]
    plots: Mapping[str, Callable[[Path], Any]] = {}
    short: Iterable[StudyTable] | None = None


def command_of(study: Callable[..., StudyAnswer], plots: Mapping[str, Any]) -> Callable[..., None]:
    """A command that shows what a study says: it takes the study's parameters, and where the answer goes.

    A parameter whose type is a named tuple stands for its fields, each an option.
    """
    grouped: dict[str, Any] = {}
    parameters: list[Parameter] = []
    for each in signature(study).parameters.values():
        if not hasattr(each.annotation, "_fields"):
            parameters.append(each.replace(kind=Parameter.KEYWORD_ONLY))
            continue
        grouped[each.name] = each.annotation
        defaults, hints = each.annotation._field_defaults, each.annotation.__annotations__
        parameters += (_option(name, hints[name], defaults.get(name)) for name in each.annotation._fields)
    output = {"as_format": Format, "as_json": AsJson, "out": Out, "table": OneTable, **plots}
    parameters += (_option(name, hint, False if hint is AsJson else None) for name, hint in output.items())

    @wraps(study)
    def command(**given: Any) -> None:
        as_format: FormatName | None = given.pop("as_format")
        as_json, out, table = (given.pop(name) for name in ("as_json", "out", "table"))
        drawn = {name: given.pop(name) for name in plots}
        chosen = format_of(as_format, as_json)
        for name, kind in grouped.items():
            given[name] = kind(*(given.pop(field) for field in kind._fields))
        answer = study(**given)
        is_short = chosen in (None, "terminal") and out is None and table is None
        tables = answer.short if is_short and answer.short is not None else answer.tables
        emit(list(tables), as_format=chosen, out=out, table=table)
        for name, path in drawn.items():
            save_plot(answer.plots[name], path)

    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _option(name: str, hint: Any, default: object) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


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
        known = ", ".join(each.name for each in tables)
        tables = [each for each in tables if each.name == table]
        if not tables:
            raise ConfigError(f"there is no table {table!r}; there is {known}")
    if out is not None and (out.is_dir() or (not out.suffix and as_format in (None, "csv"))):
        out.mkdir(parents=True, exist_ok=True)
        for each in tables:
            write_whole(out / f"{each.name}.csv", csv_text(each))
        remarks().print(f"{len(tables)} tables written to {out}")
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
    if as_format == "csv" and len(tables) > 1:
        others = ", ".join(each.name for each in tables[1:])
        remarks().print(f"a CSV file holds one table: {tables[0].name}; --table takes also {others}")
    if as_format == "csv":
        text = csv_text(tables[0])
    else:
        text = json_text(tables) if as_format == "json" else markdown_text(tables)
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
