"""`ragmetrics verdicts`: the flat log of all verdicts of a run."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ragmetrics_core.cli._arguments import RunFolder
from ragmetrics_core.cli._screen import Output, remarks
from ragmetrics_core.runs import Run
from ragmetrics_core.runs._verdict_log import verdict_rows, write_csv, write_jsonl
from ragmetrics_core.runs._writing import replacing
from ragmetrics_core.wording import number_of

__all__ = ["verdicts"]


def verdicts(
    run: RunFolder,
    as_format: Annotated[
        Literal["jsonl", "csv"] | None,
        typer.Option(
            "--format", help="Without it: what the file's name ends in, else jsonl.", show_default=False
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A file to write. Without it: standard output.")] = None,
) -> None:
    """Write all verdicts as JSON lines or CSV.

    One row for each verdict: sample, metric, text, decision, reason, evidence and where it stands.
    """
    is_csv = as_format == "csv" or (as_format is None and out is not None and out.suffix.lower() == ".csv")
    write = write_csv if is_csv else write_jsonl
    rows = verdict_rows(Run.load(run).records())
    if out is None:
        write(rows, Output(as_json=not is_csv))
        return
    with replacing(out, encoding="utf-8", newline="") as file:
        count = write(rows, file)
    remarks().print(f"{number_of(count, 'verdict')} written to {out}")
