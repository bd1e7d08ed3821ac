"""Answer relevance: does the answer address the question?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import prompts, scoring
from ragmetrics_core.asking import ask, ask_draws, review, similar
from ragmetrics_core.measurement import Decision, Labels, Measurement, undefined, valued
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import Expected, GeneratedQuestion, QuestionList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Answered

__all__ = ["AnswerRelevance"]

COMMITTAL = Labels("committal", "noncommittal")


@dataclass(frozen=True, kw_only=True)
class AnswerRelevance(Metric[Answered]):
    """Mean cosine between the question and generated questions that the answer would answer.

    Range [-1, 1], never clipped, higher is better; undefined when the judge writes no question or a vector is
    zero. A cosine says little by itself: random pairs of texts can have a high cosine, and every embedder has
    its own scale. Compare only scores of the same embedder.

    Attributes:
        n_questions: number of questions to generate.
        noncommittal: "ignore" the judge's flags for evasive answers (the paper), or score 0 when "any", "all"
            or the "majority" of the questions are flagged.
        separate: draw the questions one by one (the paper) instead of asking for all of them in one call.
        without_questions: score if the judge writes no question; None for undefined.

    Es et al. (2023), section 3: https://arxiv.org/abs/2309.15217. Equation 4 of Roychowdhury et al.
    (2024), AnsRel: https://arxiv.org/abs/2407.12873
    """

    name = "answer_relevance"
    inputs = Answered
    needs = frozenset({"judge", "embedder"})
    low = -1.0
    variants = {
        "strict.1": {},
        "paper.1": {"generate": prompts.PAPER_QUESTION, "separate": True},
        "ragas-0.1": {"noncommittal": "any"},
        "ragas-0.4": {"noncommittal": "all", "without_questions": 0.0},
    }

    variant: Literal["strict", "strict.1", "paper", "paper.1", "ragas-0.1", "ragas-0.4"] = "strict.1"
    n_questions: int = 3
    noncommittal: Literal["ignore", "any", "all", "majority"] = "ignore"
    separate: bool = False
    without_questions: float | None = None
    generate: Prompt[QuestionList] = prompts.QUESTIONS

    def check(self) -> None:
        """Reject `n_questions` below 1 and a `without_questions` that is outside the range."""
        self.check_score("without_questions")
        self.check_count("n_questions")

    def measure(self, sample: Answered) -> Steps[Measurement]:
        """Generate questions for the answer, compare each with the question, take the mean."""
        written = yield from self._questions(sample.answer)
        if not written and self.without_questions is not None:
            return valued(self.without_questions, counts={"questions": 0}, spelled="no question")
        if not written:
            return undefined("no_questions")

        cosines = yield from similar(sample.question, [each.question for each in written])
        judged = yield from review(
            [
                Decision(each.question, not each.noncommittal, cosine=cosine)
                for each, cosine in zip(written, cosines, strict=True)
            ],
            about="generated question",
            labels=COMMITTAL,
        )
        mean = scoring.weighted_mean(cosines, [1.0] * len(cosines))
        flagged = len(judged) - judged.supported
        counts = {"questions": len(judged), "noncommittal": flagged}
        if mean is None:
            return undefined("zero_vector", **counts)
        if self._evades(flagged, len(judged)):
            return valued(
                0.0,
                counts=counts,
                spelled=f"{{noncommittal}} of {{questions}} noncommittal ({self.noncommittal})",
            )
        shown = " + ".join(f"{cosine:.3f}" for cosine in cosines if cosine is not None)
        return valued(mean, counts=counts, spelled=f"({shown}) / {{questions}}")

    def _questions(self, answer: str) -> Steps[Sequence[GeneratedQuestion]]:
        if self.separate:
            one = Expected(size=1)
            draws = yield from ask_draws(self.generate, self.n_questions, expected=one, answer=answer)
            return [question for draw in draws for question in draw.questions]
        several = Expected(size=self.n_questions)
        asked = yield from ask(self.generate, expected=several, answer=answer, count=self.n_questions)
        return asked.questions

    def _evades(self, flagged: int, questions: int) -> bool:
        match self.noncommittal:
            case "ignore":
                return False
            case "any":
                return flagged > 0
            case "all":
                return flagged == questions
            case "majority":
                return flagged > questions / 2
