"""Warnings about metrics whose required fields are always missing."""

import logging
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from ragmetrics_core.live._capture import LiveResult, by_name

__all__ = ["WAYS", "MissingFields"]

_LOGGER = logging.getLogger("ragmetrics.live")
# So many captures without a field are no accident any more.
_FIRST = 5
_NONE: Mapping[str, object] = MappingProxyType({})

WAYS: Mapping[str, str] = {
    "contexts": (
        "(1) where you retrieve, add one line: note_contexts(documents), from ragmetrics_core.live; "
        "(2) tell the adapter where the contexts are, by its options (context_key, context_tools, extract); "
        "(3) retrieve through the framework's retriever, or add a hook that sees the model's request"
    ),
    "reference": (
        "(1) pass references=..., a mapping from questions to expected answers; (2) pass a function from the "
        "sample to its expected answer; (3) measure with references in a run of evaluate instead"
    ),
    "question": (
        "(1) tell the adapter where the question is, by its options (input_key, extract); (2) put it under a "
        "usual name, such as question; (3) submit your own Capture"
    ),
}
"""Ways to provide a missing field, by field; an adapter may replace them."""


class MissingFields:
    """Count scores that are missing because samples lack a field, and warn once for each metric.

    Args:
        ways: instructions by field; read when the warning is logged.
    """

    def __init__(self, ways: Mapping[str, str]) -> None:
        self._ways = ways
        self._heard = 0
        self._counts: Counter[tuple[str, str]] = Counter()
        self._why: dict[str, str] = {}
        self._told: set[str] = set()

    def hear(self, result: LiveResult) -> None:
        """Take a result."""
        fields = {
            name: record.reason if record.status == "skipped" else None
            for name, record in by_name(result.records).items()
        }
        self.count(fields, result.sample.labels)

    def count(self, fields: Mapping[str, str | None], labels: Mapping[str, object] = _NONE) -> None:
        """Count a sample without a score because it lacks a field, by metric name."""
        self._heard += 1
        for name, field in fields.items():
            if field is None:
                self._told.add(name)
                continue
            self._counts[name, field] += 1
            why = str(labels.get(f"found_{field}") or "")
            if why.startswith("unknown: "):
                self._why.setdefault(field, why.removeprefix("unknown: "))
        if self._heard == _FIRST:
            self.tell()

    def tell(self) -> None:
        """Warn once of each metric whose fields have been missing in all captures so far."""
        for (name, field), count in list(self._counts.items()):
            if name in self._told or count < self._heard:
                continue
            self._told.add(name)
            captures = "the first capture" if count == 1 else f"any of the first {count} captures"
            why = self._why.get(field) or f"there is no field {field!r}"
            ways = self._ways.get(field) or WAYS.get(field, "see docs/live.md")
            _LOGGER.warning(
                "%s could not be scored for %s: %s. Ways to provide it: %s", name, captures, why, ways
            )

    def shown(self) -> dict[str, int]:
        """Number of missing scores by metric and field: {"faithfulness: contexts": 5}."""
        return {f"{name}: {field}": count for (name, field), count in dict(self._counts).items()}
