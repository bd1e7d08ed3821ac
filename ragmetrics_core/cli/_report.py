"""`ragmetrics report`: a run, or two side by side, as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._arguments import RunFolder
from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.cli._study_output import Cluster
from ragmetrics_core.report._html import write_report
from ragmetrics_core.runs import Run

__all__ = ["report"]


def report(
    run: RunFolder,
    other: Annotated[
        Path | None,
        typer.Argument(metavar="RUN_B", help="A second run on the same samples.", show_default=False),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = Path("report.html"),
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="The proofs of all samples; those without room go into a folder beside it."
        ),
    ] = False,
    cluster: Cluster = None,
) -> None:
    """Write a run as one HTML file to open in a browser, or two runs side by side.

    The file needs no network. It has every sample; with many samples it has the proofs of the worst ones.
    """
    beside = Run.load(other) if other is not None else None
    written = write_report(Run.load(run), out, other=beside, everything=everything, cluster=cluster)
    remarks().print(f"{written} written, {written.stat().st_size / 1e6:,.1f} MB")
