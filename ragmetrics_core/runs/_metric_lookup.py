"""Lookup of a run's metrics by name or signature, and of their repetitions."""

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Metric, get, signature_of
from ragmetrics_core.runs._manifest import OF_THE_METRIC, MetricEntry

__all__ = ["as_the_metric_says", "entry_of", "nearest", "repetitions_of"]

_DERIVED = ("reads_answer", "by_reference")
_REPETITION = re.compile(r"(?<=\()repetition=\d+,?|,repetition=\d+")


def as_the_metric_says(entry: MetricEntry, metric: Metric[Any] | None) -> MetricEntry:
    """The entry with the metric's own range and direction, if the metric is known.

    Args:
        entry: the entry as the manifest has it.
        metric: its metric; None to look it up in the catalogue.
    """
    if metric is None:
        with suppress(ConfigError, ValueError, TypeError):
            metric = get(entry.signature)
    if metric is None:  # of prompts that were replaced it has digests, which build none
        with suppress(ConfigError):
            usual = MetricEntry.of(get(entry.signature.partition("(")[0]))
            return _updated(entry, usual, ("higher_is_better", *_DERIVED))
    if metric is None or metric.name != entry.name:
        return entry
    return _updated(entry, MetricEntry.of(metric), (*OF_THE_METRIC, *_DERIVED))


def _updated(entry: MetricEntry, known: MetricEntry, names: Sequence[str]) -> MetricEntry:
    return entry.model_copy(update={name: getattr(known, name) for name in names})


def entry_of(metric: str | Metric[Any], entries: Sequence[MetricEntry]) -> MetricEntry:
    """Find the entry of a metric.

    Args:
        metric: a name that is unique in the run, a signature, or the metric itself.
        entries: the entries of the run.

    Raises:
        ConfigError: the run has no such metric, or several with this name.
    """
    name = signature_of(metric) if isinstance(metric, str) else metric.signature
    found = [
        entry
        for entry in entries
        if name == entry.signature or (name == entry.name and entry.repetition == 1)
    ]
    if len(found) > 1:
        signatures = ", ".join(entry.signature for entry in found)
        raise ConfigError(f"the run has several metrics {name!r}: use one of {signatures}")
    if not found:
        names = [each for entry in entries for each in (entry.name, entry.signature)]
        raise ConfigError(f"the run has no metric {name!r}{nearest(name, names)}")
    return found[0]


def repetitions_of(entry: MetricEntry, entries: Sequence[MetricEntry]) -> tuple[MetricEntry, ...]:
    """The entries of all repetitions of a metric (`full_repeats`), the first one first."""
    wanted = _without_repetition(entry)
    found = (each for each in entries if _without_repetition(each) == wanted)
    return tuple(sorted(found, key=lambda each: each.repetition))


def nearest(name: str, names: Collection[str]) -> str:
    """End of a message: the nearest names."""
    near = get_close_matches(name, names, n=3) or list(names)[:5]
    return f"; there is {', '.join(near)}" if near else "; it has none"


def _without_repetition(entry: MetricEntry) -> str:
    """The signature that all repetitions of a metric share."""
    return _REPETITION.sub("", entry.signature).replace("()", "")
