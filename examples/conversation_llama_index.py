"""A conversation in LlamaIndex, scored live: what the second answer takes from the first one.

    pip install 'ragmetrics-core[embedded,llama-index]'
    python examples/conversation_llama_index.py

A `CondensePlusContextChatEngine` rewrites a question by the conversation in its memory, and searches with it.
The memory's `session_id` becomes the session. No key, no network: see conversation.py.
"""

# LlamaIndex leaves the types of its decorators open.
# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false, reportUnknownVariableType=false

from collections.abc import Sequence
from typing import Any

from conversation import REPLIES, REWRITE, SESSION, nearest, reply, show
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.chat_engine import CondensePlusContextChatEngine
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.memory import Memory
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from ragmetrics_llama_index import instrument

CONDENSE = REWRITE + "\n{chat_history}\nLast question: {question}"


class ScriptedLLM(CustomLLM):
    """A chat model that looks its replies up."""

    @property
    def metadata(self) -> LLMMetadata:
        """Names the model."""
        return LLMMetadata(model_name="scripted", is_chat_model=True)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Reply to a prompt."""
        return CompletionResponse(text=reply(prompt))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """Reply to a prompt, in one piece."""
        yield CompletionResponse(text=reply(prompt), delta=reply(prompt))

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Reply to messages."""
        text = reply("\n".join(each.content or "" for each in messages))
        return ChatResponse(message=ChatMessage(role="assistant", content=text))


class Documents(BaseRetriever):
    """The document that is nearest to a query."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=nearest(query_bundle.query_str)), score=1.0)]


def main() -> None:
    """Ask the questions in one session, and print the scores."""
    scores = instrument("faithfulness", "embedded")
    chat = CondensePlusContextChatEngine.from_defaults(
        Documents(),
        llm=ScriptedLLM(),
        memory=Memory.from_defaults(session_id=SESSION),
        condense_prompt=CONDENSE,
    )
    for each in REPLIES:
        chat.chat(each.question)
    scores.flush()
    show(scores.results)
    scores.close()


if __name__ == "__main__":
    main()
