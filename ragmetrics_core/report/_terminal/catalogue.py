"""The metrics of the catalogue as a list, and one of them with everything that can be set."""

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ragmetrics_core.metrics import METRICS, Metric
from ragmetrics_core.report._described_metrics import DescribedMetric, DescribedSetting, described
from ragmetrics_core.report._terminal.text import LABEL, facts, heading, table

__all__ = ["catalogue_page", "metric_page"]


def catalogue_page() -> Iterator[RenderableType]:
    """Each metric with its aliases, what it measures, what it needs, its range and variants."""
    for metric in map(described, METRICS.values()):
        yield _title(metric)
        yield Padding(Group(Text(metric.paragraphs[0]), facts(_properties(metric))), (0, 0, 1, 2))


def metric_page(metric: type[Metric[Any]]) -> Iterator[RenderableType]:
    """One metric: its whole description, its settings with their defaults, and its variants."""
    known = described(metric)
    yield _title(known)
    yield Text()
    for paragraph in known.paragraphs:
        yield Text(paragraph)
        yield Text()
    yield facts(_properties(known))
    yield Text()
    if known.settings:
        yield heading("Settings")
        yield facts((each.name, _setting(each)) for each in known.settings)
        yield Text()
    yield heading("Variants")
    variants = table("variant", "what it sets")
    for variant, values in known.variants.items():
        told = ", ".join(f"{name} = {value}" for name, value in values.items())
        is_default = variant == next(iter(known.variants))
        variants.add_row(
            Text(variant), Text(told or ("the defaults" if is_default else "the same as the default"))
        )
    yield variants


def _title(metric: DescribedMetric) -> Text:
    aliases = ", ".join(metric.aliases)
    return Text.assemble((metric.name, "bold"), (f"  also {aliases}" if aliases else "", LABEL))


def _setting(setting: DescribedSetting) -> RenderableType:
    told = f"default {setting.default}" + (f"; may be {setting.choices}" if setting.choices else "")
    return Group(*([Text(setting.meaning)] if setting.meaning else []), Text(told, LABEL))


def _properties(metric: DescribedMetric) -> Iterator[tuple[str, RenderableType]]:
    yield "needs", Text("; ".join(filter(None, (", ".join(metric.models), ", ".join(metric.inputs)))))
    told = "" if metric.higher_is_better else ", lower is better"
    yield "range", Text(f"{metric.low:g} to {metric.high:g}{told}")
    yield "variants", Text(", ".join(metric.variants))
