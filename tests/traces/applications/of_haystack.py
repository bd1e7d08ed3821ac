"""Applications of Haystack, as its tutorials build them."""

from typing import Any

from haystack.components.builders import AnswerBuilder
from haystack.components.rankers import MetaFieldRanker
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from openinference.instrumentation import using_session

from tests.integrations.body_keeping import BodyKeeper, Call
from tests.integrations.haystack.shown.applications import (
    ANSWER,
    CORPUS,
    QUESTION,
    asked,
    asynchronous,
    llm,
    pipeline_of,
    plain,
    rag,
    retriever,
)
from tests.integrations.haystack.shown.test_agents import agent as agent_of
from tests.integrations.haystack.shown.test_agents import asked as asked_agent
from tests.integrations.haystack.shown.test_agents import of_component
from tests.integrations.haystack.shown.test_several_generators import drafted, two_replies, with_follow_up
from tests.traces.applications.served import Application, replying

DRAFT = "The city on the Seine, which everybody knows."


def pipeline(server: BodyKeeper) -> None:
    """A retriever, a prompt, a generator and an answer builder."""
    edges = ("llm.replies -> answers.replies", "retriever.documents -> answers.documents")
    plain(server, *edges, answers=AnswerBuilder()).run(asked() | {"answers": {"query": QUESTION}})


def atlas(country: str) -> str:
    """Reads the atlas."""
    return CORPUS[3]


TOOLS = [Call("search", {"query": "capital of France"}), Call("atlas", {"country": "Peru"})]


def agent(server: BodyKeeper) -> None:
    """An agent with a component that returns documents and a function that returns a text."""
    tools = [of_component(), create_tool_from_function(atlas)]
    pipeline_of(agent=agent_of(server, *tools)).run(asked_agent())


def ranker(server: BodyKeeper) -> None:
    """A pipeline that is run asynchronously and streams, with a ranker that keeps half of what was found."""

    async def hear(chunk: Any) -> None:
        assert chunk

    asynchronous(
        rag(
            server,
            "retriever.documents -> ranker.documents",
            "ranker.documents -> prompt.documents",
            retriever=retriever(4),
            ranker=MetaFieldRanker(meta_field="place", top_k=2, sort_order="descending"),
            llm=llm(server, streaming_callback=hear),
        ),
        asked(),
    )


def draft(server: BodyKeeper) -> None:
    """Two generators: the second corrects what the first wrote, and is shown the documents too."""
    data: dict[str, Any] = asked() | {"correct": {"question": QUESTION}}
    with using_session("capitals"):
        drafted(server).run(data)


def follow_up(server: BodyKeeper) -> None:
    """A model that suggests a question after the answer."""
    made = with_follow_up(server, "llm.replies -> answers.replies", answers=AnswerBuilder())
    made.run(asked() | {"answers": {"query": QUESTION}})


def messages(server: BodyKeeper) -> None:
    """A generator without documents, in a pipeline."""
    pipeline_of(llm=llm(server)).run({"llm": {"messages": [ChatMessage.from_user(QUESTION)]}})


APPLICATIONS = {
    "haystack_pipeline": Application(pipeline, replying(otherwise=ANSWER)),
    "haystack_agent": Application(agent, replying((CORPUS[3], ANSWER), otherwise=TOOLS)),
    "haystack_ranker": Application(ranker, replying(otherwise="It is one of those in the texts.")),
    "haystack_draft": Application(draft, replying((DRAFT, ANSWER), otherwise=DRAFT)),
    "haystack_follow_up": Application(follow_up, two_replies),
    "haystack_messages": Application(messages, replying(otherwise=ANSWER)),
}
