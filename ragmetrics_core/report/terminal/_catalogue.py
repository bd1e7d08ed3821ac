"""Pages of the catalogue: the list of metrics, and one metric with its settings."""

from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ragmetrics_core.metrics import Metric
from ragmetrics_core.report.json_pages import MetricRow, described
from ragmetrics_core.report.terminal._text import LABEL, facts, heading, table

__all__ = ["catalogue_page", "metric_page"]


def catalogue_page(metrics: Iterable[type[Metric[Any]]]) -> Iterator[RenderableType]:
    """Each metric with its aliases, description, inputs, range and variants."""
    for metric in map(described, metrics):
        yield _title(metric)
        first, *_ = metric.description.split("\n\n")
        yield Padding(Group(Text(first), _properties(metric)), (0, 0, 1, 2))


def metric_page(metric: type[Metric[Any]]) -> Iterator[RenderableType]:
    """One metric: its full description, its settings with their defaults, and its variants."""
    known = described(metric)
    yield _title(known)
    yield Text(f"\n{known.description}\n")
    yield _properties(known)
    yield Text()
    if known.settings:
        yield heading("Settings")
        choices = (f"; may be {each.choices}" if each.choices else "" for each in known.settings)
        yield facts(
            (
                each.name,
                Text(each.meaning and f"{each.meaning}\n").append(f"default {each.default}{choice}", LABEL),
            )
            for each, choice in zip(known.settings, choices, strict=True)
        )
        yield Text()
    yield heading("Variants")
    variants = table("variant", "settings")
    otherwise = "the defaults"
    for variant, values in known.variants.items():
        told = ", ".join(f"{name} = {value}" for name, value in values.items())
        variants.add_row(Text(variant), Text(told or otherwise))
        otherwise = "the same as the default"
    yield variants


def _title(metric: MetricRow) -> Text:
    aliases = f"  also {', '.join(metric.aliases)}" if metric.aliases else ""
    return Text.assemble((metric.name, "bold"), (aliases, LABEL))


def _properties(metric: MetricRow) -> RenderableType:
    end = ", lower is better" if metric.lower_is_better else ""
    told = {
        "needs": "; ".join(filter(None, (", ".join(metric.models), ", ".join(metric.inputs)))),
        "range": f"{metric.low:g} to {metric.high:g}{end}",
        "variants": ", ".join(metric.variants),
    }
    return facts((name, Text(text)) for name, text in told.items())
