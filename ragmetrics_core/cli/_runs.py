"""`ragmetrics runs`: the runs in a folder."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ragmetrics_core.cli._arguments import AsJson
from ragmetrics_core.cli._screen import page, write_json
from ragmetrics_core.report import _terminal as terminal
from ragmetrics_core.report._json_pages import runs_json
from ragmetrics_core.runs import list_runs

__all__ = ["runs"]

UNFOLDED = 10_000


def runs(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where to look for runs, in folders below too.")
    ] = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """List the runs of a folder: when they began, whether they are finished, and what was measured."""
    found = list(list_runs(folder))
    if as_json:
        write_json(runs_json(found))
        return
    if not found:
        page().print(Text(f"There is no run in {folder}."))
        return
    # a program or a file that reads the list wants the names whole, however long the lines become
    console = page() if page().is_terminal else page(width=UNFOLDED)
    console.print(terminal.runs_table(found))
