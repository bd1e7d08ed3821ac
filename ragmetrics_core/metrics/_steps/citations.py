"""Shared steps of the citation metrics: the chunks that a sentence cites, and whether they support it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragmetrics_core import prompts
from ragmetrics_core.asking import ask_each, review, split, together
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Decision, Judged, Labels
from ragmetrics_core.metrics._steps.citation_marks import Cited, cited_sentences, marks_of
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Citing

__all__ = ["Cited", "CitingMetric"]

SUPPORTED = Labels("supported", "not supported")
Sources = tuple[int | str, ...]


@dataclass(frozen=True, kw_only=True)
class CitingMetric(Metric[Citing]):
    """A metric of the answer's citations.

    Attributes:
        first: number by which the answer cites the first chunk.
        verify: asks whether the chunks that a sentence cites support it.
    """

    inputs = Citing

    first: int = 1
    verify: Prompt[VerdictList] = prompts.VERDICTS

    def check(self) -> None:
        """Reject a negative `first`."""
        if self.first < 0:
            raise ConfigError(f"{self.name}: first must be 0 or more, not {self.first}")

    def cited(self, sample: Citing) -> Steps[tuple[Cited, ...]]:
        """The sentences of an answer with their citations."""
        sentences = yield from split(sample.answer)
        return tuple(cited_sentences(sample.answer, sentences, marks_of(sample, self.first)))

    def supported(
        self, wanted: Iterable[Cited], contexts: Sequence[str], about: str = "sentence that cites"
    ) -> Steps[Mapping[Cited, bool | None]]:
        """For each sentence, whether its chunks support it together.

        Sentences with the same chunks share a call. A sentence without chunks, or with a chunk that was not
        retrieved, is not supported, without a call.
        """
        groups: dict[Sources, list[Cited]] = {}
        for sentence in dict.fromkeys(wanted):
            groups.setdefault(sentence.sources, []).append(sentence)
        # by rank; names that lead to no chunk come last
        ordered = sorted(
            groups.items(), key=lambda group: [(isinstance(each, str), each) for each in group[0]]
        )
        judged = yield from together(
            *(self._together(sources, cited, contexts, about) for sources, cited in ordered)
        )
        return {
            sentence: known
            for (_, cited), group in zip(ordered, judged, strict=True)
            for sentence, known in zip(cited, group.known, strict=True)
        }

    def _together(
        self, sources: Sources, cited: Sequence[Cited], contexts: Sequence[str], about: str
    ) -> Steps[Judged]:
        there = [each for each in sources if isinstance(each, int) and 1 <= each <= len(contexts)]
        shown = tuple(contexts[rank - 1] for rank in there)
        numbers = [each if isinstance(each, str) else each - 1 + self.first for each in sources]
        missing = [str(number) for number, each in zip(numbers, sources, strict=True) if each not in there]
        named = f"chunk{'s' * (len(sources) > 1)} {', '.join(map(str, numbers))}"
        called = [f"{sentence.text} [{', '.join(map(str, numbers))}]" for sentence in cited]
        why = None
        if not sources:
            named, why = "nothing", "it cites nothing"
            called = [sentence.text for sentence in cited]
        elif missing:
            named = f"a missing chunk: {', '.join(missing)}"
            why = f"there is no chunk {', '.join(missing)}"
        elif not any(chunk.strip() for chunk in shown):
            why = f"{named} {'are' if len(sources) > 1 else 'is'} blank"
        about = f"{about} {named}"
        if why is not None:
            decisions = [
                Decision(
                    text, False, "; ".join([why, *(f"{each} leads to no chunk" for each in sentence.unknown)])
                )
                for text, sentence in zip(called, cited, strict=True)
            ]
            return (yield from review(decisions, about=about, labels=SUPPORTED))
        return (
            yield from ask_each(
                self.verify,
                [sentence.text for sentence in cited],
                called=called,
                about=about,
                labels=SUPPORTED,
                ranks=tuple(there),
                contexts=shown,
            )
        )
