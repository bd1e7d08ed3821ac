"""Abstention: does the answer decline exactly when the contexts do not contain the answer?"""

from collections.abc import Sequence
from dataclasses import dataclass

from ragmetrics_core import prompts
from ragmetrics_core.asking import ask_each, review, together
from ragmetrics_core.measurement import Decision, Labels, Measurement, score
from ragmetrics_core.metrics._steps.sufficiency import ask_sufficient
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import DecliningVerdict, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Grounded

__all__ = ["Abstention"]

DECLINES = Labels("declines", "answers")


@dataclass(frozen=True, kw_only=True)
class Abstention(Metric[Grounded]):
    """1 when the answer declines and contexts are insufficient, or it answers and they suffice; else 0.

    Range [0, 1], higher is better; never undefined. Blank contexts count as insufficient without a call, and
    a blank answer as declining. The counts tell the four cases apart: rightly declined, wrongly declined,
    rightly answered, wrongly answered. Their means over a run are the shares of the four cases.

    Attributes:
        decline: asks whether the answer declines.
        suffice: asks whether the contexts are sufficient.

    The telecom appendix of Roychowdhury et al. (2024) has such answers ("NO ANSWER FOUND"), to which
    statement metrics give surprising scores: https://arxiv.org/abs/2407.12873
    """

    name = "abstention"
    inputs = Grounded
    scores_blanks = True

    decline: Prompt[DecliningVerdict] = prompts.DECLINING
    suffice: Prompt[VerdictList] = prompts.SUFFICIENCY

    @property
    def reads_answer(self) -> bool:
        """False, because declining may be right."""
        return False

    def measure(self, sample: Grounded) -> Steps[Measurement]:
        """Ask whether the answer declines and whether the contexts suffice; compare the two."""
        remark = "The answer declines to answer the question."
        if sample.answer.strip():
            declining = ask_each(
                self.decline,
                [remark],
                about="remark on the answer",
                labels=DECLINES,
                source="answer",
                declining=True,
                question=sample.question,
                answer=sample.answer,
            )
        else:
            blank = [Decision(remark, True, "it is blank")]
            declining = review(blank, about="remark on the answer", labels=DECLINES, declining=True)

        sufficing = ask_sufficient(self.suffice, sample.question, sample.contexts)
        declined, sufficient = yield from together(declining, sufficing)
        declines, suffices = declined.known[0], sufficient.known[0]
        counts = {
            "declined_rightly": int(declines is True and suffices is False),
            "declined_wrongly": int(declines is True and suffices is True),
            "answered_rightly": int(declines is False and suffices is True),
            "answered_wrongly": int(declines is False and suffices is False),
        }
        case = next((name for name, count in counts.items() if count), "undecided")
        return score(
            _is_right,
            declined,
            sufficient,
            counts=counts,
            spelled=case.replace("_", " "),
            bounds=lambda *known: (0.0, 1.0),
        )


def _is_right(declined: Sequence[bool], sufficient: Sequence[bool]) -> float:
    return float(declined[0] != sufficient[0])
