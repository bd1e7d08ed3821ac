"""Decisions of a record's verdicts, as far as a diagnosis needs them."""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

__all__ = ["DECIDING", "decisions_in", "decisions_stored", "read_decisions"]

DECIDING: Mapping[str, str] = {
    "faithfulness": "answer ",
    "factual_correctness": "answer ",
    "context_recall": "reference ",
    "citation_recall": "sentence that cites ",
}
"""Kinds of text whose verdicts count in a diagnosis, by metric name."""

_DIGITS = 12


def decisions_in(
    metric: str, verdicts: Iterable[tuple[str, str, bool | None]], counts: Mapping[str, Any]
) -> dict[str, bool]:
    """Decisions of a metric that count in a diagnosis, by text.

    With several references, only decisions on the reference that counts.

    Args:
        metric: the metric's name.
        verdicts: kind of text, text and decision of each verdict.
        counts: the numbers that entered the formula.
    """
    about = DECIDING.get(metric)
    if about is None:
        return {}
    several = counts.get("references") and counts.get("reference")
    which = f"(reference {several:g})" if several else ""
    return {
        text: supported
        for kind, text, supported in verdicts
        if supported is not None and kind.startswith(about) and kind.endswith(which)
    }


def decisions_stored(decisions: Mapping[str, bool]) -> str:
    """Decisions in one short line, the texts as digests."""
    return ",".join(f"{supported:d}{_digest(text)}" for text, supported in decisions.items())


def read_decisions(line: str) -> dict[str, bool]:
    """The decisions of a short line, by the digests of their texts."""
    return {each[1:]: each[0] == "1" for each in line.split(",") if each}


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGITS // 2).hexdigest()
