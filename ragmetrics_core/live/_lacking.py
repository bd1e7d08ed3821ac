"""Telling that a metric never had what it needs: one that is skipped in silence looks like one that works."""

import logging
from collections import Counter
from collections.abc import Mapping

from ragmetrics_core.live._capture import LiveResult, by_name

__all__ = ["WAYS", "Lacking"]

_LOGGER = logging.getLogger("ragmetrics.live")
# So many captures without a field are no accident any more.
_FIRST = 5

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
        "usual name, such as question; (3) hand over a Capture of your own"
    ),
}
"""How a sample gets what it lacks, by the missing field; an adapter may know better."""


class Lacking:
    """Counts scores that there are none of because samples lack a field, and tells it once for each metric.

    Args:
        ways: how a sample gets a field, in words.
    """

    def __init__(self, ways: Mapping[str, str]) -> None:
        self._ways = ways
        self._heard = 0
        self._lacked: Counter[tuple[str, str]] = Counter()
        self._why: dict[str, str] = {}
        self._seen: set[str] = set()

    def hear(self, result: LiveResult) -> None:
        """Take a result."""
        self._heard += 1
        for name, record in by_name(result.records).items():
            if record.status == "skipped" and record.reason is not None:
                self._lacked[name, record.reason] += 1
                why = str(result.sample.labels.get(f"found_{record.reason}") or "")
                if why.startswith("unknown: "):
                    self._why.setdefault(record.reason, why.removeprefix("unknown: "))
            else:
                self._seen.add(name)
        if self._heard == _FIRST:
            self.tell()

    def hear_skipped(self, names: list[str]) -> None:
        """Take a capture that was left out because it has no contexts."""
        self._heard += 1
        for name in names:
            self._lacked[name, "contexts"] += 1
        if self._heard == _FIRST:
            self.tell()

    def tell(self) -> None:
        """Warn of each metric that no capture so far had the fields for; each once."""
        for (name, field), count in list(self._lacked.items()):
            if name in self._seen or count < self._heard:
                continue
            self._seen.add(name)
            captures = "the first capture" if count == 1 else f"any of the first {count} captures"
            ways = self._ways.get(field) or WAYS.get(field, "see docs/live.md")
            _LOGGER.warning(
                "%s could not be scored for %s: %s. Ways to give it: %s",
                name,
                captures,
                self._why.get(field) or f"there is no field {field!r}",
                ways,
            )

    def shown(self) -> dict[str, int]:
        """How many scores are lacking, by metric and field: {"faithfulness: contexts": 5}."""
        return {f"{name}: {field}": count for (name, field), count in dict(self._lacked).items()}
