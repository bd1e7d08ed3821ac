"""From the state of an agent to a sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage

from ragmetrics_core import Sample
from ragmetrics_core.live import Skip
from ragmetrics_langchain._extraction import (
    CONTEXT_KEYS,
    SYSTEM,
    Extracted,
    answer_in,
    contexts_in,
    sample_of,
)
from ragmetrics_langchain._gathering import Gathered
from ragmetrics_langchain._messages import answered, asked, history_of, text_of
from ragmetrics_langchain._seen import documents_in

__all__ = ["StateRules", "is_final"]


@dataclass(frozen=True, kw_only=True)
class StateRules:
    """How the state of an agent becomes a sample.

    Attributes:
        context_tools: names of tools whose text is a context.
        context_key: the entry of the state that holds the contexts.
        answer_key: the entry of the state that is the answer.
        system_message: take the model's system message as context where nothing else is found.
        called: takes the names of the tools that were called where nothing was found.
    """

    context_tools: tuple[str, ...] = ()
    context_key: str | None = None
    answer_key: str | None = None
    system_message: bool = False
    called: set[str] = field(default_factory=set[str])

    def sample(self, state: Mapping[str, Any], gathered: Sequence[Gathered | None]) -> Sample:
        """The sample of the newest turn.

        Args:
            state: of the agent, with its messages.
            gathered: what was seen when each message was made.

        Raises:
            Skip: "no_question" or "no_answer".
        """
        messages: Sequence[BaseMessage] = state["messages"]
        question = asked(messages)
        if question is None or not question.text.strip():
            raise Skip("no_question")
        place = next(n for n, each in enumerate(messages) if each is question)
        answer = answer_in(state, self.answer_key)
        if answer is None or not (text_of(answer.value) or "").strip():
            raise Skip("no_answer")
        return sample_of(
            question=Extracted(question, "last human message of the state"),
            contexts=self._contexts(state, messages[place:], gathered[place:]),
            answer=answer,
            history=history_of(messages[:place]) or None,
        )

    def _contexts(
        self,
        state: Mapping[str, Any],
        messages: Sequence[BaseMessage],
        gathered: Sequence[Gathered | None],
    ) -> Extracted | None:
        if self.context_key is not None:
            found = contexts_in(state, (self.context_key,))
            return found and Extracted(found.value, f"context_key {self.context_key!r}")
        seen = [each for each in gathered if each is not None]
        found = _noted(seen) or _retrieved(messages, gathered) or contexts_in(state, CONTEXT_KEYS)
        if found is None:
            tools = [each for each in messages if isinstance(each, ToolMessage)]
            texts = [str(each.text) for each in tools if each.name in self.context_tools]
            found = Extracted(texts, "texts of tools") if texts else None
            self.called.update(each.name for each in tools if each.name and not texts)
        systems = [each.system for each in seen if each.system]
        if found is None and self.system_message and systems:
            found = Extracted(systems[-1:], SYSTEM)
        return found


def is_final(state: Mapping[str, Any]) -> bool:
    """Whether an agent with this state has answered: it calls no tool, or has its structured response."""
    return state.get("structured_response") is not None or answered(state["messages"]) is not None


def _noted(gathered: Sequence[Gathered]) -> Extracted | None:
    noted = [each.contexts for each in gathered if each.notes.contexts is not None]
    return (
        Extracted([each for found in noted if found for each in found[0]], "note_contexts") if noted else None
    )


def _retrieved(messages: Sequence[BaseMessage], gathered: Sequence[Gathered | None]) -> Extracted | None:
    documents = [
        document
        for message, seen in zip(messages, gathered, strict=True)
        for document in (documents_in(message) or (seen.documents if seen is not None else []))
    ]
    return Extracted(documents, "retrievers") if documents else None
