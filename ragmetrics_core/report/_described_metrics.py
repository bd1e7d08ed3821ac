"""What is known of each metric of the catalogue, from its class: for pages and for programs."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import Field, fields
from textwrap import dedent
from typing import Any, Literal, NamedTuple, get_args, get_origin

from ragmetrics_core.metrics import ALIASES, Metric
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Part
from ragmetrics_core.shapes import is_tuple

__all__ = ["DescribedMetric", "DescribedSetting", "described"]


class DescribedSetting(NamedTuple):
    """A setting of a metric: what it means, its default, and what it may be ("" where no type says it)."""

    name: str
    meaning: str
    default: str
    choices: str


class DescribedMetric(NamedTuple):
    """A metric of the catalogue.

    Attributes:
        name: its name.
        aliases: its other names.
        paragraphs: its description; the first one says what it is.
        models: which kinds of models it needs.
        inputs: the fields that a sample must have.
        low, high: the ends of its range.
        higher_is_better: whether the high end is the good one.
        settings: what can be set, without the variant.
        variants: for each variant what it sets; the first one is the default.
    """

    name: str
    aliases: tuple[str, ...]
    paragraphs: tuple[str, ...]
    models: tuple[str, ...]
    inputs: tuple[str, ...]
    low: float
    high: float
    higher_is_better: bool
    settings: tuple[DescribedSetting, ...]
    variants: dict[str, dict[str, str]]


def described(metric: type[Metric[Any]]) -> DescribedMetric:
    """What its class says of a metric."""
    paragraphs: list[str] = []
    meanings: dict[str, str] = {}
    for block in inspect.cleandoc(metric.__doc__ or "").split("\n\n"):
        title, _, listed = block.partition("\n")
        if title != "Attributes:":
            paragraphs.append(" ".join(block.split()))
            continue
        for entry in re.split(r"\n(?=\S)", dedent(listed)):
            names, _, meaning = entry.partition(":")
            meanings.update((name.strip(), " ".join(meaning.split())) for name in names.split(","))
    return DescribedMetric(
        name=metric.name,
        aliases=tuple(alias for alias, name in ALIASES.items() if name == metric.name),
        paragraphs=tuple(paragraphs),
        models=tuple(sorted(metric.needs, key=("judge", "embedder", "scorer").index)),
        inputs=tuple(metric.inputs.required()),
        low=metric.low,
        high=metric.high,
        higher_is_better=metric.higher_is_better,
        settings=tuple(_settings(metric, meanings)),
        variants={
            variant: {name: _shown(value) for name, value in values.items()}
            for variant, values in metric.variants.items()
        },
    )


def _settings(metric: type[Metric[Any]], meanings: dict[str, str]) -> Iterator[DescribedSetting]:
    own: tuple[Field[Any], ...] = fields(metric)
    for each in own:
        if each.init and each.name != "variant":
            yield DescribedSetting(
                each.name, meanings.get(each.name, ""), _shown(each.default), _choices(each.type)
            )


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
