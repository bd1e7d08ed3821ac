"""Decisions of a record's verdicts, as far as a diagnosis needs them."""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, Final, Literal

from ragmetrics_core.measurement import EARLIER_ANSWER

__all__ = ["DECIDING", "Decided", "decisions_in", "decisions_stored", "read_decisions"]

DECIDING: Mapping[str, str] = {
    "faithfulness": "answer ",
    "factual_correctness": "answer ",
    "context_recall": "reference ",
    "citation_recall": "sentence that cites ",
    "citation_precision": "sentence that cites a missing chunk",
}
"""Kinds of text whose verdicts count in a diagnosis, by metric name."""

Decided = Literal["supported", "unsupported", "uncited", "dangling", "repeated"]
"""A decision as a diagnosis takes it.

`uncited`, `dangling` and `repeated` (only an earlier answer says it) are unsupported, each for a reason.
"""

_REASONS: Final[Mapping[str, Decided]] = {
    "sentence that cites nothing": "uncited",
    "sentence that cites a missing chunk": "dangling",
}
_CODES: Final[Mapping[Decided, str]] = {
    "supported": "1", "unsupported": "0", "uncited": "u", "dangling": "d", "repeated": "r",
}  # fmt: skip
# A statement about which only text of unknown origin says something has a second verdict with this kind.
_OPEN: Final = "(with text of unknown origin)"
_DECIDED: Final[Mapping[str, Decided]] = {code: decided for decided, code in _CODES.items()}

_DIGITS = 12


def decisions_in(
    metric: str, verdicts: Iterable[tuple[str, str, bool | None, str]], counts: Mapping[str, Any]
) -> dict[str, Decided]:
    """Decisions of a metric that count in a diagnosis, by text.

    With several references, only decisions on the reference that counts.

    Args:
        metric: the metric's name.
        verdicts: kind of text, text, decision and label of each verdict.
        counts: the numbers that entered the formula.
    """
    about = DECIDING.get(metric)
    if about is None:
        return {}
    several = counts.get("references") and counts.get("reference")
    which = f"(reference {several:g})" if several else ""
    decided: dict[str, Decided] = {}
    for kind, text, supported, label in verdicts:
        if supported is None or not (kind.startswith(about) and kind.endswith(which)):
            continue
        if not kind.endswith(_OPEN):
            decided[text] = "supported" if supported else _unsupported(kind, label)
        elif supported:
            decided.pop(text, None)
    return decided


def decisions_stored(decisions: Mapping[str, Decided]) -> str:
    """Decisions in one short line, the texts as digests."""
    return ",".join(f"{_CODES[decided]}{_digest(text)}" for text, decided in decisions.items())


def read_decisions(line: str) -> dict[str, Decided]:
    """The decisions of a short line, by the digests of their texts."""
    return {each[1:]: _DECIDED[each[0]] for each in line.split(",") if each}


def _unsupported(kind: str, label: str) -> Decided:
    if label == EARLIER_ANSWER:
        return "repeated"
    for about, decided in _REASONS.items():
        if kind.startswith(about):
            return decided
    return "unsupported"


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGITS // 2).hexdigest()
