"""The conversation before a question, as a measurement takes it into account."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ragmetrics_core.asking import ask
from ragmetrics_core.metrics import catalogue
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import Expected
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Sample, conversation_text

__all__ = ["CONVERSATIONS", "STANDALONE_PATH", "Conversation", "conversation_of"]

CONVERSATIONS: Final[Mapping[str, str]] = {"conversations": "1"}
"""Version of these rules; records of samples with a history have had it since the history counts."""

STANDALONE_PATH: Final = (0,)
"""Path of the steps that rewrite the question, before the metric's own."""


class Conversation(NamedTuple):
    """A sample as a metric takes it, and whether its history counts.

    Attributes:
        sample: the sample, with the turns that count.
        is_read: whether the history counts.
        is_asked: whether the judge is asked to rewrite the question.
    """

    sample: Sample
    is_read: bool = False
    is_asked: bool = False

    def steps(self, metric: Metric[Any]) -> Steps[str]:
        """Ask for the question as it can be understood without the history."""
        history, question = conversation_text(self.sample.history or ()), self.sample.question or ""
        expected = Expected(texts=(history, question))
        answer = yield from ask(metric.standalone, expected=expected, history=history, question=question)
        return answer.question


def conversation_of(metric: Metric[Any], sample: Sample, *, is_known: bool) -> Conversation:
    """The sample as a metric takes it, and whether its history counts.

    Args:
        metric: the metric.
        sample: the sample.
        is_known: whether histories count at all; they do not in records of earlier versions.
    """
    if sample.history is None or "history" in metric.view.optional():  # a metric that shows the turns itself
        return Conversation(sample)
    if not (is_known and metric.knows_conversations):
        return Conversation(sample.model_copy(update={"history": None}))
    sample = sample.in_conversation(metric.window)
    has_question = bool((sample.question or "").strip() and conversation_text(sample.history or ()))
    is_asked = has_question and "judge" in metric.needs and _reads_question(metric)
    return Conversation(sample, is_read=True, is_asked=is_asked)


def _reads_question(metric: Metric[Any]) -> bool:
    return metric.reads_question or any(
        _reads_question(catalogue.of_part(part)) for part in metric.parts_used
    )
