"""Texts that an application puts into its requests: templates, system prompts, descriptions of tools."""

# LlamaIndex leaves the parameters of tools open.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

import re
from collections.abc import Iterator
from dataclasses import dataclass

from llama_index.core.agent.workflow import AgentWorkflow, BaseWorkflowAgent, ReActAgent
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.prompts import BasePromptTemplate, ChatPromptTemplate, SelectorPromptTemplate
from llama_index.core.tools import BaseTool

__all__ = ["WRITERS", "Instructions"]

WRITERS = (AgentWorkflow, BaseWorkflowAgent, BaseChatEngine)
"""Classes whose objects have texts for their requests."""

# A variable or a block, as LlamaIndex and Jinja write them.
_VARIABLE = re.compile(r"\{%.*?%\}|\{\{?\s*[A-Za-z_][\w.]*\s*(?:\|[^{}]*)?\}\}?", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Instructions:
    """A prompt template, or an object with texts for its requests; they are read in the background.

    Attributes:
        source: the template, or an object of `WRITERS`.
        llm: the model that a template is for.
    """

    source: object
    llm: object = None

    def pieces(self) -> list[str]:
        """The texts without their variables."""
        return [piece for text in self._texts() if text for piece in _VARIABLE.split(text)]

    def _texts(self) -> Iterator[str | None]:
        match self.source:
            case BasePromptTemplate():
                yield from _texts_of_template(self.source, self.llm)
                yield getattr(self.llm, "system_prompt", None)
            case AgentWorkflow():
                for prompt in self.source.get_prompts().values():
                    yield from _texts_of_template(prompt)
                for agent in self.source.agents.values():
                    yield from _texts_of_agent(agent)
            case BaseWorkflowAgent():
                yield from _texts_of_agent(self.source)
            case _:
                for value in vars(self.source).values():
                    if isinstance(value, BasePromptTemplate):
                        yield from _texts_of_template(value)
                for message in getattr(self.source, "_prefix_messages", ()):
                    yield message.content


def _texts_of_agent(agent: BaseWorkflowAgent) -> Iterator[str | None]:
    yield agent.system_prompt
    for prompt in agent.get_prompts().values():
        yield from _texts_of_template(prompt)
    if isinstance(agent, ReActAgent):
        for tool in agent.tools or ():
            if isinstance(tool, BaseTool):
                yield tool.metadata.description
                yield str(tool.metadata.get_parameters_dict())


def _texts_of_template(prompt: BasePromptTemplate, llm: object = None) -> Iterator[str]:
    """The texts of a template; of a chat, its first message and those with variables: others are history."""
    model = llm if isinstance(llm, BaseLLM) else None
    while isinstance(prompt, SelectorPromptTemplate):
        prompt = prompt.select(model)
    if not isinstance(prompt, ChatPromptTemplate):
        yield prompt.get_template(model)
        return
    for number, message in enumerate(prompt.message_templates):
        text = message.content or ""
        if number == 0 or _VARIABLE.search(text):
            yield text
