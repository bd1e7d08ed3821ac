"""What an agent's tools returned: documents one by one, and nothing that a model wrote."""

from collections.abc import Callable
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import ComponentTool, PipelineTool, Tool, create_tool_from_function
from ragmetrics_core import Sample
from ragmetrics_core.live import note_contexts

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsAgentHook, RagMetricsConnector
from tests.integrations.haystack.connected import QUESTION
from tests.integrations.haystack.generators import TEXTS, rag_pipeline, retriever
from tests.integrations.haystack.mocks import MockChatGenerator

try:
    from haystack.tools import AgentTool
except ImportError:  # haystack-ai before it had agents as tools
    AgentTool = None

ANSWER = "Paris is the capital of France."
EARLIER = [
    ChatMessage.from_user("And of Spain?"),
    ChatMessage.from_assistant(tool_calls=[ToolCall("search", {"query": "Spain"})]),
    ChatMessage.from_tool("Madrid is the capital of Spain.", origin=ToolCall("search", {"query": "Spain"})),
    ChatMessage.from_assistant("Madrid."),
]


def component_tool() -> Tool:
    return ComponentTool(retriever(), name="search", description="Search.")


def pipeline_tool() -> Tool:
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever())
    return PipelineTool(
        pipeline,
        name="search",
        description="Search.",
        input_mapping={"query": ["retriever.query"]},
        output_mapping={"retriever.documents": "documents"},
    )


def tool_of_several_outputs() -> Tool:
    return ComponentTool(
        retriever(),
        name="search",
        description="Search.",
        outputs_to_string={"found": {"source": "documents"}},
    )


def tool_of_its_own_words() -> Tool:
    return ComponentTool(
        retriever(),
        name="search",
        description="Search.",
        outputs_to_string={"source": "documents", "handler": lambda found: f"I found {len(found)} passages."},
    )


def documents_tool() -> Tool:
    def search(query: str) -> list[Document]:
        """Search."""
        return [Document(content=each) for each in TEXTS[:2]]

    return create_tool_from_function(search)


def text_tool() -> Tool:
    def search(query: str) -> str:
        """Search."""
        return TEXTS[0]

    return create_tool_from_function(search)


def json_tool() -> Tool:
    def search(query: str) -> dict[str, str]:
        """Search."""
        return {"capital": "Paris"}

    return create_tool_from_function(search)


def failing_tool() -> Tool:
    def search(query: str) -> str:
        """Search."""
        msg = "the index is down"
        raise RuntimeError(msg)

    return create_tool_from_function(search)


def agent_tool() -> Tool:
    if AgentTool is None:
        pytest.skip("this version of haystack-ai has no AgentTool")
    inner = Agent(chat_generator=MockChatGenerator(responses="It is Paris, I believe."))
    return AgentTool(inner, name="search", description="Ask an expert.")


def generator_tool() -> Tool:
    @component
    class Writer:
        @component.output_types(replies=list[ChatMessage])
        def run(self, query: str) -> dict[str, Any]:
            return {"replies": [ChatMessage.from_assistant("It is Paris, I believe.")]}

    return ComponentTool(Writer(), name="search", description="Write.")


def answering_tool() -> Tool:
    return PipelineTool(
        rag_pipeline(with_answers=True),
        name="search",
        description="Answer.",
        input_mapping={"query": ["retriever.query", "prompt_builder.question", "answer_builder.query"]},
        output_mapping={"answer_builder.answers": "answers"},
    )


def agent(made: Tool, *, hooks: Any = None, is_silent: bool = False) -> Agent:
    # an agent as a tool takes a message, the others a query
    given = (
        {"messages": [{"role": "user", "content": QUESTION}]}
        if AgentTool is not None and isinstance(made, AgentTool)
        else {"query": QUESTION}
    )
    replies = [
        ChatMessage.from_assistant(tool_calls=[ToolCall(made.name, given)]),
        ChatMessage.from_assistant(ANSWER),
    ]
    generator = MockChatGenerator(responses=ANSWER if is_silent else replies)
    return Agent(chat_generator=generator, tools=[made], hooks=hooks)


def by_hook(made: Tool, messages: list[ChatMessage], rules: Any = None, **options: Any) -> Sample:
    hook = RagMetricsAgentHook(chat_generator="embedded", **rules or {})
    agent(made, hooks={"after_run": [hook]}, **options).run(messages)
    return only(hook)


def by_connector(made: Tool, messages: list[ChatMessage], rules: Any = None, **options: Any) -> Sample:
    pipeline = Pipeline()
    pipeline.add_component("agent", agent(made, **options))
    connector = RagMetricsConnector(chat_generator="embedded", **rules or {})
    pipeline.add_component("scores", connector)
    pipeline.run({"agent": {"messages": messages}})
    return only(connector)


def only(live: Any) -> Sample:
    assert live.flush()
    (result,) = live.live.results
    live.close()
    return result.sample


DOORS = pytest.mark.parametrize("sample_of", [by_hook, by_connector])
SampleOf = Callable[..., Sample]


TOOLS_WITH_DOCUMENTS = [
    component_tool,
    pipeline_tool,
    tool_of_several_outputs,
    documents_tool,
]


@DOORS
@pytest.mark.parametrize("made", TOOLS_WITH_DOCUMENTS)
def test_the_documents_of_a_tool_are_chunks_with_their_ids(made: Callable[[], Tool], sample_of: SampleOf):
    sample = sample_of(made(), [ChatMessage.from_user(QUESTION)])

    assert set(sample.contexts or ()) == set(TEXTS[:2])
    assert len(sample.context_ids or ()) == 2
    assert str(sample.labels["found_contexts"]).endswith(", shown to agent")


@DOORS
@pytest.mark.parametrize(("made", "text"), [(text_tool, TEXTS[0]), (json_tool, '{"capital": "Paris"}')])
def test_the_text_of_a_tool_that_has_no_documents_is_a_context(
    made: Callable[[], Tool], text: str, sample_of: SampleOf
):
    sample = sample_of(made(), [ChatMessage.from_user(QUESTION)])

    assert sample.contexts == (text,)
    assert sample.labels["found_contexts"] == "search, shown to agent"


@DOORS
@pytest.mark.parametrize(
    ("rules", "contexts"),
    [
        ({"context_tools": ["search"]}, (TEXTS[0],)),
        ({"context_tools": "calculator"}, None),
        ({"not_evidence": ["search"]}, None),
    ],
)
def test_options_say_which_tools_are_evidence(rules: dict[str, Any], contexts: Any, sample_of: SampleOf):
    sample = sample_of(text_tool(), [ChatMessage.from_user(QUESTION)], rules)

    assert (sample.contexts or None) == contexts


@DOORS
@pytest.mark.parametrize("made", [failing_tool, agent_tool, generator_tool])
def test_failures_and_what_a_model_wrote_are_no_contexts(made: Callable[[], Tool], sample_of: SampleOf):
    assert not sample_of(made(), [ChatMessage.from_user(QUESTION)]).contexts


@DOORS
def test_the_words_of_a_tool_are_a_context_and_the_documents_that_they_replace_are_named(sample_of: SampleOf):
    sample = sample_of(tool_of_its_own_words(), [ChatMessage.from_user(QUESTION)])

    assert sample.contexts == ("I found 2 passages.",)
    documents = (sample.stages or ())[0].chunks
    assert len(documents) == 2
    absent = ", ".join(str(chunk.id) for chunk in documents)
    assert str(sample.labels["found_contexts"]).endswith(f"; not shown: {absent}")


@DOORS
def test_of_a_tool_that_answers_the_documents_count_and_not_the_answer(sample_of: SampleOf):
    sample = sample_of(answering_tool(), [ChatMessage.from_user(QUESTION)])

    assert set(sample.contexts or ()) == set(TEXTS[:2])


@DOORS
@pytest.mark.parametrize("of_this_turn", [(TEXTS[0],), ()])
def test_what_tools_returned_in_earlier_turns_counts_while_the_request_has_it(
    of_this_turn: tuple[str, ...], sample_of: SampleOf
):
    sample = sample_of(text_tool(), [*EARLIER, ChatMessage.from_user(QUESTION)], is_silent=not of_this_turn)

    assert (sample.question, sample.contexts) == (QUESTION, ("Madrid is the capital of Spain.", *of_this_turn))
    assert [turn.content for turn in sample.history or ()] == [
        "And of Spain?",
        "",  # it calls the tool
        "Madrid is the capital of Spain.",
        "Madrid.",
    ]


@DOORS
def test_what_a_tool_notes_are_the_contexts(sample_of: SampleOf):
    def search(query: str) -> str:
        """Search."""
        note_contexts([TEXTS[0], TEXTS[1]])
        return "I found something."

    sample = sample_of(create_tool_from_function(search), [ChatMessage.from_user(QUESTION)])

    assert sample.contexts == TEXTS[:2]
    assert sample.labels["found_contexts"] == "note_contexts"


def test_a_gate_decides_about_what_was_noted():
    def search(query: str) -> str:
        """Search."""
        note_contexts(ANSWER)
        return "I found something."

    hook = RagMetricsAgentHook(chat_generator="embedded", gate={"faithfulness": 1.0})
    said = agent(create_tool_from_function(search), hooks={"after_run": [hook]}).run([ChatMessage.from_user(QUESTION)])
    hook.close()

    assert said["last_message"].text == ANSWER
