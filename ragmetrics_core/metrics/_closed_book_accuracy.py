"""Closed-book accuracy: does the judge answer the question correctly without any document?"""

from dataclasses import dataclass

from ragmetrics_core import prompts, scoring
from ragmetrics_core.asking import ask, ask_each, review
from ragmetrics_core.measurement import Decision, Labels, Measurement, score, undefined
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.parsers import ClosedBookAnswer, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Quizzed

__all__ = ["ClosedBookAccuracy"]

KNOWN = Labels("known", "not known")


@dataclass(frozen=True, kw_only=True)
class ClosedBookAccuracy(ReferenceMetric[Quizzed]):
    """1 when the judge's answer without documents contains the reference, else 0.

    Range [0, 1], higher is better; undefined when question or reference is blank. It is a property of the
    question and of the model, not of an answer under test: a question with 1 measures no retrieval with this
    model. If the judge says that it does not know, the score is 0 without a second call.

    Attributes:
        references: count the "best" of several references, or only the "first".
        answer: asks for the answer.
        compare: asks whether the answer contains the reference.

    Petroni et al. (2019), Language Models as Knowledge Bases?: https://arxiv.org/abs/1909.01066. Roberts et
    al. (2020), closed-book question answering: https://arxiv.org/abs/2002.08910
    """

    name = "closed_book_accuracy"
    inputs = Quizzed

    answer: Prompt[ClosedBookAnswer] = prompts.CLOSED_BOOK
    compare: Prompt[VerdictList] = prompts.ANSWER_VERDICTS

    def against(self, sample: Quizzed) -> Steps[Measurement]:
        """Ask for an answer, then compare it with the reference."""
        if not sample.question.strip():
            return undefined("no_question")
        reply = yield from ask(self.answer, question=sample.question, history=sample.conversation)
        about = "reference"
        if reply.known:
            judged = yield from ask_each(
                self.compare,
                [sample.reference],
                about=about,
                labels=KNOWN,
                source="answer",
                question=sample.question,
                answer=reply.answer,
            )
        else:
            unknown = [Decision(sample.reference, False, "the judge does not know the answer")]
            judged = yield from review(unknown, about=about, labels=KNOWN)
        spelled = "undecided" if judged.missing else KNOWN.of(judged.known[0])
        return score(scoring.supported_share, judged, counts={"known": judged.supported}, spelled=spelled)
