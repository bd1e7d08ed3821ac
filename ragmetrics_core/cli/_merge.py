"""`ragmetrics merge`: two runs in one."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ragmetrics_core.cli._screen import page, show
from ragmetrics_core.report import _terminal as terminal
from ragmetrics_core.runs import merge as merge_runs

__all__ = ["merge"]


def merge(
    first: Annotated[Path, typer.Argument(metavar="A", help="A run's folder.", show_default=False)],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another run's.", show_default=False)],
    out: Annotated[Path, typer.Option(help="A new folder for both together.")],
    prefer: Annotated[
        Literal["first", "second"] | None,
        typer.Option(help="Which run counts where the two contradict each other.", show_default=False),
    ] = None,
) -> None:
    """Put two runs of the same models into a new folder: other samples, or other metrics of the same ones.

    Corrections and labels of both are kept. Runs that contradict each other are refused with a list of where
    they do, unless --prefer says which counts.
    """
    run = merge_runs(first, second, out=out, prefer=prefer)
    show(page(), (terminal.means_table(run.means(), run.metrics),))
