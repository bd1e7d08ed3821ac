"""Shared steps of the citation metrics: the chunks that a sentence cites, and whether they support it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ragmetrics_core import prompts
from ragmetrics_core.asking import ask_each, review, split, together
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Decision, Judged, Labels
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Grounded

__all__ = ["Cited", "CitingMetric"]

SUPPORTED = Labels("supported", "not supported")
# [2], [1, 3], the footnote [^2], and 【2†source】
_MARKER = re.compile(r"\[(\^?\d{1,4}(?:\s?[,;]\s?\^?\d{1,4}){0,20})\]|【(\d{1,4})†[^【】\n]{0,80}】")
_LEADING = re.compile(rf"\s*(?:(?:{_MARKER.pattern})\s*)+")
# "[^2]: Handbook, page 3" says where a footnote leads, and nothing of the answer
_FOOTNOTE = re.compile(r"\[\^\d{1,4}\]:\s")


class Cited(NamedTuple):
    """A sentence of the answer without its markers, and the distinct ranks of its cited chunks."""

    text: str
    ranks: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class CitingMetric(Metric[Grounded]):
    """A metric of the answer's citations.

    Attributes:
        first: number by which the answer cites the first chunk.
        verify: asks whether the chunks that a sentence cites support it.
    """

    inputs = Grounded

    first: int = 1
    verify: Prompt[VerdictList] = prompts.VERDICTS

    def check(self) -> None:
        """Reject a negative `first`."""
        if self.first < 0:
            raise ConfigError(f"{self.name}: first must be 0 or more, not {self.first}")

    def cited(self, answer: str) -> Steps[tuple[Cited, ...]]:
        """The sentences of an answer with their citations."""
        sentences = yield from split(answer)
        return tuple(_cited(answer, sentences, self.first))

    def supported(
        self, wanted: Iterable[Cited], contexts: Sequence[str], about: str = "sentence that cites"
    ) -> Steps[Mapping[Cited, bool | None]]:
        """For each sentence, whether its chunks support it together.

        Sentences with the same chunks share a call. A sentence without chunks, or with a chunk that was not
        retrieved, is not supported, without a call.
        """
        groups: dict[tuple[int, ...], list[str]] = {}
        for text, ranks in dict.fromkeys(wanted):
            groups.setdefault(ranks, []).append(text)
        judged = yield from together(
            *(self._together(ranks, texts, contexts, about) for ranks, texts in sorted(groups.items()))
        )
        return {
            Cited(text, ranks): known
            for (ranks, texts), group in zip(sorted(groups.items()), judged, strict=True)
            for text, known in zip(texts, group.known, strict=True)
        }

    def _together(
        self, ranks: tuple[int, ...], texts: Sequence[str], contexts: Sequence[str], about: str
    ) -> Steps[Judged]:
        shown = tuple(contexts[rank - 1] for rank in ranks if 1 <= rank <= len(contexts))
        numbers = [rank - 1 + self.first for rank in ranks]
        named = f"chunk{'s' * (len(ranks) > 1)} {', '.join(map(str, numbers))}"
        about = f"{about} {named if ranks else 'nothing'}"
        why = None
        if not ranks:
            why = "it cites nothing"
        elif len(shown) < len(ranks):
            beyond = [number for number, rank in zip(numbers, ranks, strict=True) if rank > len(contexts)]
            why = f"there is no chunk {', '.join(map(str, beyond or numbers))}"
        elif not any(chunk.strip() for chunk in shown):
            why = f"{named} {'are' if len(ranks) > 1 else 'is'} blank"
        called = [f"{text} {numbers}" if ranks else text for text in texts]
        if why is not None:
            decisions = [Decision(text, False, why) for text in called]
            return (yield from review(decisions, about=about, labels=SUPPORTED))
        return (
            yield from ask_each(
                self.verify,
                texts,
                called=called,
                about=about,
                labels=SUPPORTED,
                ranks=ranks,
                contexts=shown,
            )
        )


def _cited(answer: str, sentences: Sequence[str], first: int) -> list[Cited]:
    """Each sentence with its citations.

    A marker after a full stop belongs to the sentence before it; a marker at the start of a line belongs to
    the sentence after it.
    """
    cited: list[Cited] = []
    end = 0
    for sentence in sentences:
        start = max(answer.find(sentence, end), end)
        # what the splitter left out before it: a marker that begins a line looks like a list number
        before, end = answer[end:start], start + len(sentence)
        if _FOOTNOTE.match((before + sentence).lstrip()):
            continue
        begins_line = len(f"{before}.".splitlines()) > 1
        match = _LEADING.fullmatch if begins_line else _LEADING.match
        leading = match(sentence) if cited else None
        if leading:
            text, ranks = cited[-1]
            cited[-1] = Cited(text, tuple(dict.fromkeys((*ranks, *_ranks(leading[0], first)))))
        own = sentence[leading.end() :] if leading else sentence
        plain = re.sub(r"\s+([.,;:!?])", r"\1", " ".join(_MARKER.sub(" ", own).split()))
        if any(char.isalnum() for char in plain):
            cited.append(Cited(plain, _ranks(before + own, first)))
    return cited


def _ranks(text: str, first: int) -> tuple[int, ...]:
    numbers = (
        number for marker in _MARKER.finditer(text) for number in re.findall(r"\d+", marker[1] or marker[2])
    )
    return tuple(dict.fromkeys(int(number) - first + 1 for number in numbers))
