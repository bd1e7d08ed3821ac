"""Question writing: are the questions that the judge writes on some passages proved by quotes from them?"""

from collections.abc import Mapping
from dataclasses import dataclass

from ragmetrics_core import prompts, scoring
from ragmetrics_core.asking import ask_readable, review
from ragmetrics_core.measurement import Decision, Evidence, Labels, Measurement, score, undefined
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import Expected, WrittenQuestion, WrittenQuestions, locate
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Retrieved

__all__ = ["QuestionWriting"]

QUOTED = Labels("quoted", "not quoted")
_MULTI_HOP = frozenset({"multi_hop_specific", "multi_hop_abstract"})


@dataclass(frozen=True, kw_only=True)
class QuestionWriting(Metric[Retrieved]):
    """Share of the questions written on the contexts whose quotes occur in them word for word.

    Range [0, 1], higher is better; undefined without contexts, if the judge writes no question, and if the
    brief asks for something unknown. `question` is the brief: lines such as `kind: follow_up`, `count: 2`,
    `style: misspelled`, `length: short`, `persona: Ada: an engineer` and `language: de`. A line that is
    missing leaves the judge free; the default kind is single_hop_specific, the default count 1. Each question
    needs a quote, multi-hop questions one from each context. The record keeps questions, answers and quotes;
    `ragmetrics_core.questions.written_in` reads them.

    Attributes:
        single_hop: writes questions that one passage answers.
        multi_hop: writes questions that need a fact from each passage (kind multi_hop_specific).
        abstract: writes questions that compare or connect the passages (kind multi_hop_abstract).
        unanswerable: writes questions whose answer the passage lacks.
        wrong_premise: writes questions that take something for granted that the passage contradicts.
        follow_up: writes questions that need an earlier question and its answer to be understood.

    The kinds of answerable questions, styles and lengths have the names of ragas:
    https://docs.ragas.io/en/stable/concepts/test_data_generation/rag/
    """

    name = "question_writing"
    inputs = Retrieved

    single_hop: Prompt[WrittenQuestions] = prompts.WRITE_SINGLE_HOP
    multi_hop: Prompt[WrittenQuestions] = prompts.WRITE_MULTI_HOP_SPECIFIC
    abstract: Prompt[WrittenQuestions] = prompts.WRITE_MULTI_HOP_ABSTRACT
    unanswerable: Prompt[WrittenQuestions] = prompts.WRITE_UNANSWERABLE
    wrong_premise: Prompt[WrittenQuestions] = prompts.WRITE_WRONG_PREMISE
    follow_up: Prompt[WrittenQuestions] = prompts.WRITE_FOLLOW_UP

    @property
    def _prompt_of_kind(self) -> Mapping[str, Prompt[WrittenQuestions]]:
        return {
            "single_hop_specific": self.single_hop,
            "multi_hop_specific": self.multi_hop,
            "multi_hop_abstract": self.abstract,
            "unanswerable": self.unanswerable,
            "wrong_premise": self.wrong_premise,
            "follow_up": self.follow_up,
        }

    def measure(self, sample: Retrieved) -> Steps[Measurement]:
        """Have the questions written, and look up their quotes."""
        settings, brief = _read(sample.question)
        kind, count = settings.get("kind", "single_hop_specific"), settings.get("count", "1")
        passages, prompt = sample.contexts, self._prompt_of_kind.get(kind)
        is_multi_hop = kind in _MULTI_HOP
        if prompt is None:
            return undefined("unknown_kind")
        if not count.isdecimal() or int(count) < 1:
            return undefined("unknown_count")
        if not all(text.strip() for text in passages) or len(passages) < 1 + is_multi_hop:
            return undefined("no_contexts")

        numbers = tuple(range(1, len(passages) + 1)) if is_multi_hop else ()
        written = yield from ask_readable(
            prompt,
            expected=Expected(numbers, passages, int(count)),
            contexts=passages,
            brief=brief,
            count=int(count),
        )
        if not written.questions:
            return undefined("no_questions")
        judged = yield from review(
            [_decision(each, passages, each_passage=is_multi_hop) for each in written.questions],
            about="written question",
            labels=QUOTED,
        )
        counts = {"quoted": judged.supported, "questions": len(judged)}
        return score(scoring.supported_share, judged, counts=counts, spelled="{quoted} / {questions}")


def _read(brief: str) -> tuple[Mapping[str, str], str]:
    """The kind and the count in a brief, and its other lines."""
    settings: dict[str, str] = {}
    others: list[str] = []
    for line in brief.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("kind", "count"):
            settings[name.strip()] = value.strip()
        else:
            others.append(line)
    return settings, "\n".join(others)


def _decision(written: WrittenQuestion, passages: tuple[str, ...], *, each_passage: bool) -> Decision:
    faults = list(written.faults(passages, each_passage=each_passage))
    evidence = [Evidence(quote=quote, span=locate(quote, passages)) for quote in written.quotes]
    return Decision(written.question, not faults, "; ".join(faults) or None, tuple(evidence))
