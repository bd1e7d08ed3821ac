"""Context relevance: how much of the retrieved text is needed for the question?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import lcm
from typing import Literal

from ragmetrics_core import prompts, scoring
from ragmetrics_core.asking import ask, ask_votes, review, split, together
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import (
    Decision,
    Evidence,
    Judged,
    Labels,
    Measurement,
    majority,
    score,
    undefined,
    valued,
)
from ragmetrics_core.metrics._steps.shares import supported_share
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import INSUFFICIENT, Expected, ExtractedSentences, RelevantSentences, locate
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Retrieved

__all__ = ["ContextRelevance"]

RELEVANT = Labels("relevant", "not relevant")
EXTRACTED = Labels("in the contexts", "not in the contexts")


@dataclass(frozen=True, kw_only=True)
class ContextRelevance(Metric[Retrieved]):
    """Share of the contexts' sentences that are needed to answer the question.

    Range [0, 1], higher is better; 0 when the judge finds the information insufficient; undefined when the
    contexts hold no sentence. The judge names sentences by number; if it gives an invalid number, it is asked
    again. The variant `paper` counts the sentences that the judge copies out, as the paper does: it includes
    invented sentences and can exceed 1. `per-chunk` is the mean of the chunks' own shares, and `by-length`
    the share of the text. The score falls as more text is retrieved, whatever its quality.

    Attributes:
        weight: each "sentence" counts the same; each "chunk" does, and its sentences share its weight; or
            sentences count by their "length" in characters, white space aside.
        select: asks for the numbers of the sentences.
        extract: asks for copies of the sentences instead (the paper).
        at_most_one: cut the score at 1 if copies are counted.
        refusal: "any" spelling of "Insufficient Information" counts as no sentences, or only the "exact"
            phrase with its full stop.
        without_sentences: score if the contexts have no sentence; None for undefined.

    Es et al. (2023), section 3: https://arxiv.org/abs/2309.15217. Equation 5 of Roychowdhury et al.
    (2024), ConRel: https://arxiv.org/abs/2407.12873
    """

    name = "context_relevance"
    inputs = Retrieved
    variants = {
        "strict.1": {},
        "paper.1": {"extract": prompts.PAPER_SENTENCES},
        "ragas-0.1": {
            "extract": prompts.PAPER_SENTENCES,
            "at_most_one": True,
            "refusal": "exact",
            "without_sentences": 0.0,
        },
        "per-chunk.1": {"weight": "chunk"},
        "by-length.1": {"weight": "length"},
    }

    variant: Literal[
        "strict",
        "strict.1",
        "paper",
        "paper.1",
        "ragas-0.1",
        "per-chunk",
        "per-chunk.1",
        "by-length",
        "by-length.1",
    ] = "strict.1"
    weight: Literal["sentence", "chunk", "length"] = "sentence"
    at_most_one: bool = False
    refusal: Literal["any", "exact"] = "any"
    without_sentences: float | None = None
    select: Prompt[RelevantSentences] = prompts.RELEVANT_SENTENCES
    extract: Prompt[ExtractedSentences] | None = None

    def check(self) -> None:
        """Reject a `without_sentences` outside the range, and weights of copied sentences."""
        self.check_score("without_sentences")
        if self.extract is not None and self.weight != "sentence":
            raise ConfigError(
                f"{self.name}: weight={self.weight} needs the numbers of the sentences, but extract asks "
                "for copies: leave out one of them"
            )

    @property
    def exceeds(self) -> bool:
        """Whether the score can exceed 1: the judge may copy out more sentences than there are."""
        return self.extract is not None and not self.at_most_one

    @property
    def idle(self) -> frozenset[str]:
        """The prompt for numbers if copies are asked for, else none."""
        return frozenset({"select"} if self.extract else ())

    def measure(self, sample: Retrieved) -> Steps[Measurement]:
        """Number the contexts' sentences, ask for the relevant ones, take their share."""
        chunks = yield from together(*(split(chunk) for chunk in sample.contexts))
        sentences = tuple(chain.from_iterable(chunks))
        if not sentences and self.without_sentences is not None:
            return valued(self.without_sentences, counts={"sentences": 0}, spelled="no sentence")
        if not sentences:
            return undefined("no_sentences")
        if self.extract is not None:
            return (yield from self._count_copies(self.extract, sample, len(sentences)))

        numbers = Expected(tuple(range(1, len(sentences) + 1)))
        ballots = yield from ask_votes(
            self.select, expected=numbers, question=sample.question, contexts=sample.contexts
        )
        named = [frozenset(ballot.numbers) for ballot in ballots]
        decisions: list[Decision] = []
        for number, text in enumerate(sentences, start=1):
            votes = tuple([number in numbers for numbers in named])
            decisions.append(Decision(text, majority(votes), votes=votes if len(votes) > 1 else ()))
        judged = yield from review(decisions, about="context sentence", labels=RELEVANT)
        if self.weight == "chunk":
            return _share_of_chunks(judged, [len(chunk) for chunk in chunks if chunk])
        if self.weight == "length":
            return _share_of_length(judged, [len("".join(text.split())) for text in sentences])
        return supported_share(judged, "relevant", "sentences")

    def _count_copies(
        self, extract: Prompt[ExtractedSentences], sample: Retrieved, total: int
    ) -> Steps[Measurement]:
        copied = yield from ask(extract, question=sample.question, contexts=sample.contexts)
        is_exact = copied.phrase is not None and copied.phrase.casefold() == f"{INSUFFICIENT}.".casefold()
        # a refusal that is not taken for one is a sentence like any other
        is_sentence = copied.phrase is not None and self.refusal == "exact" and not is_exact
        sentences = (INSUFFICIENT,) if is_sentence else copied.sentences
        spans = [locate(sentence, sample.contexts) for sentence in sentences]
        yield from review(
            [
                Decision(text, span is not None, evidence=(Evidence(quote=text, span=span),))
                for text, span in zip(sentences, spans, strict=True)
            ],
            about="extracted sentence",
            labels=EXTRACTED,
        )
        share = len(sentences) / total
        counts = {"extracted": len(sentences), "sentences": total}
        value = min(share, 1.0) if self.at_most_one else share
        return valued(value, counts=counts, spelled="{extracted} / {sentences}")


def _share_of_chunks(judged: Judged, sizes: Sequence[int]) -> Measurement:
    """Mean of the chunks' shares of needed sentences; `sizes` are their numbers of sentences."""
    common = lcm(*sizes)
    weights = [common // size for size in sizes for _ in range(size)]
    terms: list[str] = []
    first = 0
    for size in sizes:
        terms.append(f"{sum(needed is True for needed in judged.known[first : first + size])}/{size}")
        first += size
    counts = {"relevant": judged.supported, "sentences": len(judged), "chunks": len(sizes)}
    return _weighted(judged, weights, counts, f"({' + '.join(terms)}) / {{chunks}}")


def _share_of_length(judged: Judged, lengths: Sequence[int]) -> Measurement:
    """Share of the characters that are in needed sentences."""
    needed = sum(length for length, known in zip(lengths, judged.known, strict=True) if known)
    counts = {"relevant": judged.supported, "sentences": len(judged)}
    counts |= {"relevant_characters": needed, "characters": sum(lengths)}
    return _weighted(judged, lengths, counts, "{relevant_characters} / {characters}")


def _weighted(
    judged: Judged, weights: Sequence[int], counts: Mapping[str, float], spelled: str
) -> Measurement:
    def formula(needed: Sequence[bool]) -> float | None:
        return scoring.weighted_mean([float(each) for each in needed], weights)

    return score(formula, judged, counts=counts, spelled=spelled)
