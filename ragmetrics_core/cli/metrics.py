"""`ragmetrics metrics`: the catalogue."""

from typing import Annotated

import typer

from ragmetrics_core.cli.screen import page, show
from ragmetrics_core.metrics.catalogue import metric_class
from ragmetrics_core.report import terminal

__all__ = ["metrics"]


def metrics(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A name or alias.", show_default=False)
    ] = None,
) -> None:
    """List all metrics, or describe one.

    With a name: its definition, its settings with their defaults, and its variants.
    """
    show(page(), terminal.catalogue_page() if name is None else terminal.metric_page(metric_class(name)))
