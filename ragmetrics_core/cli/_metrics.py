"""`ragmetrics metrics`: the catalogue."""

from ragmetrics_core.cli._arguments import AsJson
from ragmetrics_core.cli._screen import page, show, write_json
from ragmetrics_core.metrics import METRICS
from ragmetrics_core.metrics.catalogue import metric_class
from ragmetrics_core.report import terminal
from ragmetrics_core.report.json_pages import catalogue_json

__all__ = ["metrics"]


def metrics(name: str | None = None, *, as_json: AsJson = False) -> None:
    """List all metrics, or describe one.

    With a name, shows its definition, its settings with their defaults, and its variants.

    Args:
        name: Name or alias of a metric.
    """
    if as_json:
        write_json(catalogue_json(METRICS.values() if name is None else [metric_class(name)]))
        return
    show(page(), terminal.catalogue_page() if name is None else terminal.metric_page(metric_class(name)))
