"""What several commands take: a run, a sample, a metric."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["MetricName", "RunFolder", "SampleId"]

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.", show_default=False)]
SampleId = Annotated[str, typer.Argument(metavar="SAMPLE", help="A sample's id.", show_default=False)]
MetricName = Annotated[
    str, typer.Argument(metavar="METRIC", help="A metric's name or signature.", show_default=False)
]
