"""The metrics of the catalogue as a list, and one of them with everything that can be set."""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields
from textwrap import dedent
from typing import Any, Literal, NamedTuple, get_args, get_origin

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ragmetrics_core.metrics import ALIASES, METRICS, Metric
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Part
from ragmetrics_core.report.terminal.text import LABEL, facts, heading, table
from ragmetrics_core.shapes import is_tuple

__all__ = ["catalogue_page", "metric_page"]


def catalogue_page(metrics: Mapping[str, type[Metric[Any]]] = METRICS) -> Iterator[RenderableType]:
    """Each metric with its aliases, what it measures, what it needs, its range and variants."""
    for name, metric in metrics.items():
        aliases = _aliases(name)
        yield Text.assemble((name, "bold"), (f"  also {aliases}" if aliases else "", LABEL))
        yield Padding(Group(Text(_described(metric).paragraphs[0]), facts(_properties(metric))), (0, 0, 1, 2))


def metric_page(metric: type[Metric[Any]]) -> Iterator[RenderableType]:
    """One metric: its whole description, its settings with their defaults, and its variants."""
    aliases = _aliases(metric.name)
    yield Text.assemble((metric.name, "bold"), (f"  also {aliases}" if aliases else "", LABEL))
    yield Text()
    described = _described(metric)
    for paragraph in described.paragraphs:
        yield Text(paragraph)
        yield Text()
    yield facts(_properties(metric))
    yield Text()
    settings = [each for each in fields(metric) if each.init and each.name != "variant"]
    if settings:
        yield heading("Settings")
        yield facts((each.name, _setting(each, described.settings.get(each.name, ""))) for each in settings)
        yield Text()
    yield heading("Variants")
    variants = table("variant", "what it sets")
    for variant, values in metric.variants.items():
        told = ", ".join(f"{name} = {_shown(value)}" for name, value in values.items())
        is_default = variant == next(iter(metric.variants))
        variants.add_row(
            Text(variant), Text(told or ("the defaults" if is_default else "the same as the default"))
        )
    yield variants


class _Described(NamedTuple):
    """A metric's docstring, its lines joined: the paragraphs, and the meaning of each setting."""

    paragraphs: list[str]
    settings: dict[str, str]


def _described(metric: type[Metric[Any]]) -> _Described:
    paragraphs: list[str] = []
    settings: dict[str, str] = {}
    for block in inspect.cleandoc(metric.__doc__ or "").split("\n\n"):
        title, _, listed = block.partition("\n")
        if title != "Attributes:":
            paragraphs.append(" ".join(block.split()))
            continue
        for entry in re.split(r"\n(?=\S)", dedent(listed)):
            names, _, meaning = entry.partition(":")
            settings.update((name.strip(), " ".join(meaning.split())) for name in names.split(","))
    return _Described(paragraphs, settings)


def _setting(field: Field[Any], meaning: str) -> RenderableType:
    choices = _choices(field.type)
    told = f"default {_shown(field.default)}" + (f"; may be {choices}" if choices else "")
    return Group(*([Text(meaning)] if meaning else []), Text(told, LABEL))


def _properties(metric: type[Metric[Any]]) -> Iterator[tuple[str, RenderableType]]:
    models = ", ".join(sorted(metric.needs, key=("judge", "embedder", "scorer").index))
    yield "needs", Text("; ".join(filter(None, (models, ", ".join(metric.inputs.required())))))
    told = "" if metric.higher_is_better else ", lower is better"
    yield "range", Text(f"{metric.low:g} to {metric.high:g}{told}")
    yield "variants", Text(", ".join(metric.variants))


def _aliases(name: str) -> str:
    return ", ".join(alias for alias, metric in ALIASES.items() if metric == name)


def _shown(value: object) -> str:
    """A setting's value as one would write or name it."""
    match value:
        case Prompt():
            return f"prompt {value.id}"
        case Part():
            return value.metric + (f"/{value.variant}" if value.variant else "")
        case _ if is_tuple(value):
            return ", ".join(map(_shown, value))
        case bool() | None:
            return {True: "yes", False: "no", None: "none"}[value]
        case float():
            return f"{value:g}"
        case _:
            return str(value)


def _choices(kind: object) -> str:
    """What a setting may be, from its type."""
    if get_origin(kind) is Literal:
        return " | ".join(map(str, get_args(kind)))
    names = {bool: "yes | no", int: "a whole number", float: "a number"}
    members = [each for each in get_args(kind) if each is not type(None)] or [kind]
    told = [names[each] for each in members if each in names]
    if told and type(None) in get_args(kind):
        told.append("none")
    return " | ".join(told)
