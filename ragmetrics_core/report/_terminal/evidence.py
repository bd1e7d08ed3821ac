"""Texts with the evidence marked in them."""

from collections.abc import Iterable
from itertools import groupby

from rich.text import Text

from ragmetrics_core.measurement import Verdict
from ragmetrics_core.report._evidence import Mark
from ragmetrics_core.report._terminal.text import GOOD, OPEN, WEAK
from ragmetrics_core.wording import visible

__all__ = ["marked", "style_of"]


def style_of(verdict: Verdict) -> str:
    """The colour of a decision."""
    return OPEN if verdict.supported is None else GOOD if verdict.supported else WEAK


def marked(text: str, wanted: Iterable[Mark]) -> Text:
    """The text with the marks' pieces underlined, and the verdicts' numbers after each."""
    result = Text(visible(text))
    within = sorted(
        (mark for mark in wanted if mark.start < mark.end <= len(text)),
        key=lambda mark: (mark.end, mark.verdict.number),
    )
    for mark in within:
        result.stylize(f"underline {style_of(mark.verdict)}", mark.start, mark.end)
    ends = [(end, list(group)) for end, group in groupby(within, key=lambda mark: mark.end)]
    pieces = result.divide([end for end, _ in ends])
    whole = Text()
    for position, piece in enumerate(pieces):
        whole.append_text(piece)
        if position < len(ends):
            group = ends[position][1]
            numbers = " ".join(dict.fromkeys(_raised(mark.verdict.number) for mark in group))
            whole.append(f"⁽{numbers}⁾", style_of(group[0].verdict))
    return whole


def _raised(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
