"""Small LangChain applications whose answer and documents follow from the question, so that mixing shows."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from pydantic import Field

TOPIC = re.compile(r"about (\w+)")


def question(topic: object) -> str:
    return f"Tell me about {topic}?"


def texts(topic: object, *, shelf: str = "shelf") -> tuple[str, str]:
    return (
        f"The first book of the {shelf} is about {topic}.",
        f"The second book of the {shelf} is about {topic}.",
    )


def answer(topic: object) -> str:
    return f"The first book of the shelf is about {topic}."


class Shelf(BaseRetriever):
    """Two documents about the topic of a query; none when it names no topic."""

    shelf: str = "shelf"
    failing: bool = False

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        if self.failing:
            raise ConnectionError("the store is down")
        topics = TOPIC.findall(query)
        return [
            Document(page_content=text, id=f"{self.shelf}-{topic}-{n}")
            for topic in topics[-1:]
            for n, text in enumerate(texts(topic, shelf=self.shelf))
        ]


class Echo(BaseChatModel):
    """Answers about the topic that is named last; streams word by word.

    `replies` are given first, one for each call; `error` is raised in the middle of a reply.
    """

    replies: list[AIMessage] = Field(default_factory=list)
    error: Any = None
    model: str = "echo-1"
    heard: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "echo"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self

    def _reply(self, messages: list[BaseMessage]) -> AIMessage:
        self.heard.append(messages)
        if self.replies:
            return self.replies.pop(0)
        topic = TOPIC.findall("\n".join(str(each.text) for each in messages))[-1]
        usage = {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}
        return AIMessage(answer(topic), usage_metadata=usage, response_metadata={"model_name": "echo-1-2026"})

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if self.error is not None:
            raise self.error
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        reply = self._reply(messages)
        for n, word in enumerate(str(reply.text).split(" ")):
            if n == 2 and self.error is not None:
                raise self.error
            yield ChatGenerationChunk(message=AIMessageChunk(" " * (n > 0) + word))


PROMPT = ChatPromptTemplate.from_messages([("system", "Use only:\n{context}"), ("human", "{question}")])


def join(documents: Sequence[Document]) -> str:
    return "\n".join(document.page_content for document in documents)


def rag_chain(
    retriever: Runnable[str, list[Document]] | None = None, model: Echo | None = None
) -> Runnable[str, str]:
    """The chain of the tutorials: retriever and question, prompt, model, parser."""
    return (
        {"context": (retriever or Shelf()) | RunnableLambda(join), "question": RunnablePassthrough()}
        | PROMPT
        | (model or Echo())
        | StrOutputParser()
    )


def retrieval_chain(retriever: Any = None, model: Echo | None = None) -> Runnable[Any, Any]:
    """The chain of langchain-classic, whose inputs and outputs are mappings."""
    classic = pytest.importorskip("langchain_classic.chains")
    combine = pytest.importorskip("langchain_classic.chains.combine_documents")
    prompt = ChatPromptTemplate.from_messages(
        [("system", "{context}"), MessagesPlaceholder("chat_history", optional=True), ("human", "{input}")]
    )
    documents = combine.create_stuff_documents_chain(model or Echo(), prompt)
    chain: Runnable[Any, Any] = classic.create_retrieval_chain(retriever or Shelf(), documents)
    return chain


def assert_about(sample: Any, topic: object) -> None:
    """A sample has the question, the documents and the answer of a topic."""
    assert sample.question == question(topic)
    assert sample.contexts == texts(topic)
    assert sample.answer == answer(topic)


def expect_skip(handler: Any, reason: str) -> None:
    """The one run that a handler has seen was counted under a reason, and nothing is left of it."""
    assert handler.flush()
    assert handler.results == []
    assert handler.stats.skipped == {reason: 1}
    assert handler.stats.errors == []
    assert handler.open_runs == 0


def found(sample: Any) -> dict[str, Any]:
    """By which rules the parts of a sample were found."""
    return {
        name: value
        for name, value in sample.labels.items()
        if name.startswith("found_") and name != "found_standalone"
    }
