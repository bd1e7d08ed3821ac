"""Earlier versions of prompts whose variables were others: their words, asked by the metrics of today."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeVar

from ragmetrics_core import prompts
from ragmetrics_core.metrics import AnswerAccuracy, GroundednessRating, Metric, get
from ragmetrics_core.parsers import Answer
from ragmetrics_core.prompts import Message, Prompt, load_version

__all__ = ["Earlier", "earlier", "metric_of"]

A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, kw_only=True)
class Earlier(Prompt[Any]):
    """A version from before its variables got their names of today, or before there were so many.

    Attributes:
        text: the version as the library has it.
        given: the variables of today, which a metric gives.
        called: what a variable of the text is called today, where the name is another.
    """

    text: Prompt[Any]
    given: frozenset[str]
    called: Mapping[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def variables(self) -> frozenset[str]:
        """Those of today."""
        return self.given

    def render(self, variables: Mapping[str, object], **how: Any) -> tuple[Message, ...]:
        """The text with the variables that it shows."""
        own = {name: variables[self.called.get(name, name)] for name in self.text.variables}
        return self.text.render(own, **how)


def earlier(written: str, today: Prompt[A], **called: str) -> Earlier:
    """A version of the library, `accuracy_grade.v1`, in the place of today's; its digest is its own."""
    text = load_version(written, usual=today)
    same = {each.name: getattr(text, each.name) for each in fields(text)}
    return Earlier(**same, text=text, given=today.variables, called=called)


def metric_of(written: str) -> Metric[Any]:
    """A metric by its name with settings; versions that it cannot take by name stand in this file."""
    match written:
        case "answer_accuracy(rate=accuracy_grade.v1)":
            prompt = earlier("accuracy_grade.v1", prompts.ACCURACY_GRADE, answer="first", reference="second")
            return AnswerAccuracy(rate=prompt)
        case "groundedness_rating(rate=sentence_rating.v1)":
            return GroundednessRating(rate=earlier("sentence_rating.v1", prompts.SENTENCE_RATING))
        case _:
            return get(written)
