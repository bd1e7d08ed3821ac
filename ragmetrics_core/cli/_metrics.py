"""`ragmetrics metrics`: the catalogue."""

from typing import Any

from ragmetrics_core.cli._arguments import AsJson
from ragmetrics_core.cli._screen import page, show, write_json
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import METRICS, Metric
from ragmetrics_core.metrics.catalogue import metric_class
from ragmetrics_core.report import terminal
from ragmetrics_core.report.json_pages import catalogue_json

__all__ = ["metrics"]


def metrics(name: str | None = None, *, no_reference: bool = False, as_json: AsJson = False) -> None:
    """List all metrics, or describe one.

    With a name, shows its definition, its settings with their defaults, and its variants.

    Args:
        name: Name or alias of a metric.
        no_reference: List only metrics that need no reference answer and no reference contexts.
    """
    if name is not None and no_reference:
        raise ConfigError("--no-reference lists metrics, so it takes no name")
    listed = [each for each in METRICS.values() if not (no_reference and needs_reference(each))]
    if as_json:
        write_json(catalogue_json(listed if name is None else [metric_class(name)]))
    elif name is None:
        show(page(), terminal.catalogue_page(listed))
    else:
        show(page(), terminal.metric_page(metric_class(name)))


def needs_reference(metric: type[Metric[Any]]) -> bool:
    """Whether a metric requires a field that people fill in: a reference, or reference contexts."""
    return any(field.startswith("reference") for field in metric.inputs.required())
