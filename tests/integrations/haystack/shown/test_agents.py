"""Agents: what their tools returned stands in the request of the last step; a search that finds nothing is nothing."""

from collections.abc import Iterator
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage
from haystack.tools import ComponentTool, PipelineTool, Tool, create_tool_from_function

from tests.integrations.body_keeping import BodyKeeper, Call, Reply, assert_shown
from tests.integrations.haystack.generators import AsyncPipeline
from tests.integrations.haystack.shown.applications import (
    ANSWER,
    CORPUS,
    QUESTION,
    Keep,
    answering,
    asynchronous,
    captured,
    connected,
    llm,
    pipeline_of,
    prompt,
    retriever,
    samples,
    synchronous,
)

FINDS = {"query": "capital of France"}
# no document of the corpus has this word
MISSES = {"query": "Atlantis"}
INSTRUCTIONS = "You guide people through the capitals of Europe. Be polite, be brief, and keep off the weather."


def searching(arguments: dict[str, Any]) -> Any:
    """A model that searches once and then answers."""
    replies: Iterator[Reply] = iter([Call("search", arguments)])
    return lambda text: next(replies, ANSWER)


def agent(model: BodyKeeper, *tools: Any, **options: Any) -> Agent:
    return Agent(chat_generator=llm(model), tools=list(tools), system_prompt="Use the tool.", **options)


def asked(*before: ChatMessage) -> dict[str, Any]:
    return {"agent": {"messages": [*before, ChatMessage.from_user(QUESTION)]}}


@component
class Search:
    """A search that finds nothing it does not know."""

    def __init__(self) -> None:
        self.retriever = retriever(2)
        self.keep = Keep("capital")

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """
        Search.

        :param query: The words.
        """
        found = self.retriever.run(query=query)["documents"] if "capital" in query else []
        return self.keep.run(found)


def of_component() -> Tool:
    return ComponentTool(Search(), name="search", description="Search.")


def of_pipeline() -> Tool:
    return PipelineTool(
        pipeline_of(search=Search()),
        name="search",
        description="Search.",
        input_mapping={"query": ["search.query"]},
        output_mapping={"search.documents": "documents"},
    )


def of_function() -> Tool:
    inner = Search()

    def search(query: str) -> list[str]:
        """Search."""
        return [each.content for each in inner.run(query)["documents"]]

    return create_tool_from_function(search)


def of_documents() -> Tool:
    inner = Search()

    def search(query: str) -> list[Document]:
        """Search."""
        return inner.run(query)["documents"]

    return create_tool_from_function(search)


def of_text() -> Tool:
    inner = Search()

    def search(query: str) -> str:
        """Search."""
        return "\n".join(each.content for each in inner.run(query)["documents"])

    return create_tool_from_function(search)


TOOLS = pytest.mark.parametrize("tool", [of_component, of_pipeline, of_documents])


@TOOLS
@pytest.mark.parametrize(("kind", "run"), [(Pipeline, synchronous), (AsyncPipeline, asynchronous)])
def test_a_search_that_finds(tool: Any, kind: Any, run: Any):
    with BodyKeeper(searching(FINDS)) as model:
        sample = captured(pipeline_of(agent=agent(model, tool()), kind=kind), asked(), run=run)

    assert_shown(sample, model, CORPUS)
    assert (sample.question, sample.answer, sample.contexts) == (QUESTION, ANSWER, (CORPUS[0],))


@pytest.mark.parametrize("tool", [of_component, of_pipeline, of_documents, of_function, of_text])
def test_a_search_that_finds_nothing(tool: Any):
    with BodyKeeper(searching(MISSES)) as model:
        sample = captured(pipeline_of(agent=agent(model, tool())), asked())

    assert sample.answer == ANSWER
    assert sample.contexts == ()


@pytest.mark.parametrize("tool", [of_text, of_function])
def test_a_tool_of_texts(tool: Any):
    with BodyKeeper(searching(FINDS)) as model:
        sample = captured(pipeline_of(agent=agent(model, tool())), asked())

    shown = model.answering(ANSWER).text
    assert sample.contexts
    # the texts come one by one or together, as the tool wrote them
    assert all(each in " ".join(sample.contexts) for each in CORPUS if each in shown)


def test_two_searches_in_one_step():
    calls: list[Call] = [Call("search", FINDS), Call("search", {"query": "capital of Peru"})]
    with BodyKeeper(lambda text: ANSWER if CORPUS[3] in text else calls) as model:
        sample = captured(pipeline_of(agent=agent(model, of_component())), asked())

    assert_shown(sample, model, CORPUS)
    assert CORPUS[3] in (sample.contexts or ())


def test_an_agent_after_a_retriever():
    with BodyKeeper(answering) as model:
        pipeline = pipeline_of(
            "retriever.documents -> prompt.documents",
            "prompt.prompt -> agent.messages",
            retriever=retriever(),
            prompt=prompt(),
            agent=agent(model, of_component()),
        )
        data = {"retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}}
        sample = captured(pipeline, data)

    assert_shown(sample, model, CORPUS)
    assert len(sample.contexts or ()) == 2


def test_an_agent_with_instructions_that_answers_without_a_search():
    with BodyKeeper(answering) as model:
        guide = Agent(chat_generator=llm(model), tools=[of_component()], system_prompt=INSTRUCTIONS)
        pipeline = pipeline_of(agent=guide)
        connector = connected(pipeline)
        for question in ("What is the capital of Spain?", QUESTION):
            pipeline.run({"agent": {"messages": [ChatMessage.from_user(question)]}})
            assert connector.flush()
        first, second = samples(connector)

    # the second request shows which words belong to the instructions
    assert (first.contexts, second.contexts) == (None, ())
