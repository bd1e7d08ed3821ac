"""Question quality: does a question make sense by itself, and does it ask one thing?"""

from dataclasses import dataclass

from ragmetrics_core import prompts, scoring
from ragmetrics_core.asking import ask_each
from ragmetrics_core.measurement import Labels, Measurement, score, undefined
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Posed

__all__ = ["QuestionQuality"]

MET = Labels("met", "not met")
_CRITERIA = {
    "understandable": (
        "Whoever has seen only the conversation before the question, and no document, knows whom or what the "
        "question is about."
    ),
    "one question": "The question asks for one thing.",
}


@dataclass(frozen=True, kw_only=True)
class QuestionQuality(Metric[Posed]):
    """Share of two criteria that the question meets: it makes sense without a document, and asks one thing.

    Range [0, 1], higher is better; undefined when the question is blank. The verdicts in the record are named
    "understandable" and "one question". A question that refers to earlier turns is understandable if
    `history` has them. Grammar and spelling do not count.

    Attributes:
        verify: asks whether the question meets the criteria.
    """

    name = "question_quality"
    inputs = Posed

    verify: Prompt[VerdictList] = prompts.QUESTION_QUALITY

    def measure(self, sample: Posed) -> Steps[Measurement]:
        """Ask in one call whether the question meets the criteria."""
        if not sample.question.strip():
            return undefined("no_question")
        judged = yield from ask_each(
            self.verify,
            list(_CRITERIA.values()),
            about="criterion",
            labels=MET,
            source="question",
            called=list(_CRITERIA),
            question=sample.question,
            history=sample.conversation,
        )
        counts = {"met": judged.supported, "criteria": len(judged)}
        return score(scoring.supported_share, judged, counts=counts, spelled="{met} of {criteria} met")
