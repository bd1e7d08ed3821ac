"""The conversation before a question, as a measurement takes it into account."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ragmetrics_core.asking import ask
from ragmetrics_core.metrics.catalogue import asks_standalone
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import Expected
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Sample, conversation_text, earlier_in, last_turns

__all__ = ["CONVERSATIONS", "STANDALONE_PATH", "Conversation", "conversation_of"]

CONVERSATIONS: Final[Mapping[str, str]] = {"conversations": "1"}
"""Version of these rules; records of samples with a history have had it since the history counts."""

STANDALONE_PATH: Final = (0,)
"""Path of the steps that rewrite the question, before the metric's own."""


class Conversation(NamedTuple):
    """The part of a conversation that counts for a metric.

    Attributes:
        fields: fields of the metric's view that differ from the sample's.
        text: the conversation as the judge is shown it.
        question: the user's question.
        is_read: whether the history counts.
        is_asked: whether the judge is asked to rewrite the question.
    """

    fields: Mapping[str, Any]
    text: str = ""
    question: str = ""
    is_read: bool = False
    is_asked: bool = False

    def steps(self, metric: Metric[Any]) -> Steps[str]:
        """Ask for the question as it can be understood without the history."""
        expected = Expected(texts=(self.text, self.question))
        answer = yield from ask(
            metric.standalone, expected=expected, history=self.text, question=self.question
        )
        return answer.question

    def asking(self, question: str | None) -> Mapping[str, Any]:
        """The fields with this question; None for the sample's own."""
        return self.fields if question is None else {**self.fields, "question": question}


def conversation_of(metric: Metric[Any], sample: Sample, *, is_known: bool) -> Conversation:
    """The part of a sample's conversation that counts for a metric.

    Args:
        metric: the metric.
        sample: the sample.
        is_known: whether histories count at all; they do not in records of earlier versions.
    """
    if sample.history is None or "history" in metric.view.optional():  # a metric that shows the turns itself
        return Conversation({})
    history, turn = last_turns(sample.history, metric.window, sample.turn)
    text, question = conversation_text(history), sample.question or ""
    earlier = earlier_in(history, question, turn)
    if not (is_known and metric.knows_conversations and any(earlier)):
        return Conversation({"earlier": None})
    is_rewritable = bool(text and question.strip()) and sample.rewritten is None
    return Conversation(
        {"earlier": earlier},
        text=text,
        question=question,
        is_read=True,
        is_asked=is_rewritable and asks_standalone(metric),
    )
