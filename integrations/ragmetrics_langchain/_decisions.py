"""LangChain decision models, which answer typed questions with probabilities."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from langchain_core.runnables import Runnable

from ragmetrics_core.adapting import ForeignModel, ForeignName, usage_of
from ragmetrics_core.boundary import checked
from ragmetrics_core.models import DecisionQuestion, DecisionReply, foreign_answer
from ragmetrics_langchain._calling import (
    JUDGE_TAG,
    ModelPerLoop,
    answered_apart,
    as_model_error,
    is_asynchronous_only,
    name_of,
)

__all__ = ["LangChainDecisions", "is_decision_model"]


def is_decision_model(model: object) -> bool:
    """Whether an object is LangChain's `BaseDecisionModel`, which older versions of langchain-core lack."""
    module = sys.modules.get("langchain_core.decisions")
    return module is not None and isinstance(model, module.BaseDecisionModel)


def _question(asked: DecisionQuestion) -> Any:
    """A question as LangChain's type."""
    from langchain_core.decisions import Choice, Noul, Score

    if asked.choices:
        return Choice(instructions=asked.instructions, criteria=dict.fromkeys(asked.choices))
    if asked.levels:
        return Score(instructions=asked.instructions, criteria=list(asked.levels))
    return Noul(instructions=asked.instructions)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class LangChainDecisions(ForeignModel):
    """A LangChain decision model (`BaseDecisionModel`) for `DecisionJudge(decisions=...)`.

    Called through its synchronous interface, in threads, like the model of `LangChainJudge`. Needs
    langchain-core 1.8 or later.

    Attributes:
        decisions: the model, or a function without arguments that makes one, called once per event loop. A
            model without a synchronous interface is called on the running loop.
        name: the model's name in records. Default: its class, model, server and settings.

    Raises:
        ConfigError: `decisions` is neither a decision model nor a function.
    """

    decisions: Runnable[Any, Any] | Callable[[], Runnable[Any, Any]]
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _ = self._models

    @property
    def model(self) -> str:
        """The model's name, which has a price."""
        return str(self._models.first.model)

    @cached_property
    def is_asynchronous_only(self) -> bool:
        """Whether there is no synchronous interface, which live scoring needs."""
        return is_asynchronous_only(self._models.first)

    async def adecide(self, text: str, questions: Sequence[DecisionQuestion]) -> DecisionReply:
        """Answer the questions in one call.

        Raises:
            ModelError: the model failed.
        """
        asked = {each.name: _question(each) for each in questions}
        request = {"state": text, "questions": asked}
        config = {"tags": [JUDGE_TAG], "run_name": "ragmetrics.decisions"}
        is_bound = self.is_asynchronous_only
        model = self._models.here() if is_bound else self._models.first
        ask = None if is_bound else partial(model.invoke, request, config)
        call = answered_apart(ask, partial(model.ainvoke, request, config))
        response = await foreign_answer(call, lambda error: as_model_error(error, self.identity, model))
        return DecisionReply(response.model_dump_json(), response.model, usage_of(response.usage))

    @cached_property
    def _models(self) -> ModelPerLoop[Any]:
        from langchain_core.decisions import BaseDecisionModel

        return ModelPerLoop(self.decisions, BaseDecisionModel)

    @cached_property
    def foreign_name(self) -> ForeignName:
        """Class, model, server and settings."""
        return name_of(self._models.first, {})
