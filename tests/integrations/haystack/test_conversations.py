"""Conversations of Haystack: session, turn, history and the question as it was rewritten."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.agents import Agent
from haystack.components.builders import ChatPromptBuilder
from haystack.components.converters import OutputAdapter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from ragmetrics_core import Sample
from ragmetrics_core.errors import ConfigError

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsAgentHook, RagMetricsLiveEvaluator
from tests.integrations.haystack.connected import connected, samples
from tests.integrations.haystack.mocks import MockChatGenerator
from tests.integrations.running_examples import EXAMPLES, assert_repeated, run_example

SAID = [ChatMessage.from_user("Do you know Paris?"), ChatMessage.from_assistant("It is the capital of France.")]
TYPED = "How old is it?"
REWRITTEN = "How old is Paris?"
ANSWER = "Paris is old."

IN_SESSION = """
import json, sys
from pathlib import Path
from haystack.dataclasses import ChatMessage
from tests.integrations.haystack.connected import connected, samples
from tests.integrations.haystack.test_conversations import TYPED, remembering

store, *questions = Path(sys.argv[1]), *sys.argv[2:]
said = [ChatMessage.from_dict(each) for each in json.loads(store.read_text())] if store.exists() else []
pipeline = remembering(said)
connector = connected(pipeline)
for question in questions:
    inputs = {"memory": {"chat_history_id": "s", "current_messages": [ChatMessage.from_user(question)]}}
    said += [ChatMessage.from_user(question), pipeline.run(inputs)["llm"]["replies"][0]]
store.write_text(json.dumps([each.to_dict() for each in said]))
print(json.dumps([[each.session, each.turn, len(each.history or ())] for each in samples(connector)]))
connector.close()
"""


@component
class Memory:
    """Reads a conversation and adds the current messages, as the retriever of Haystack's experiments does."""

    def __init__(self, said: list[ChatMessage]) -> None:
        self.said = said

    @component.output_types(messages=list[ChatMessage])
    def run(self, chat_history_id: str, current_messages: list[ChatMessage] | None = None) -> dict[str, Any]:
        return {"messages": [*self.said, *(current_messages or [])]}


def remembering(said: list[ChatMessage]) -> Pipeline:
    """A pipeline whose model is sent the conversation."""
    pipeline = Pipeline()
    pipeline.add_component("memory", Memory(said))
    pipeline.add_component("llm", MockChatGenerator(responses=ANSWER))
    pipeline.connect("memory.messages", "llm.messages")
    return pipeline


def rewriting(*, said: list[ChatMessage], reply: str = REWRITTEN, other_query: bool = False) -> Pipeline:
    """A pipeline that rewrites the question by the conversation, and searches with it."""
    store = InMemoryDocumentStore()
    store.write_documents([Document(content="Paris is very old."), Document(content="Rome is older.")])
    template = "{% for each in said %}{{ each.text }}\n{% endfor %}Rewrite: {{ question }}"
    pipeline = Pipeline()
    pipeline.add_component("memory", Memory(said))
    pipeline.add_component("rewrite", ChatPromptBuilder([ChatMessage.from_user(template)], required_variables="*"))
    pipeline.add_component("rewriter", MockChatGenerator(responses=reply))
    pipeline.add_component("query", OutputAdapter("{{ replies[0].text }}", output_type=str))
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=1))
    answer = "{% for each in documents + more %}{{ each.content }}\n{% endfor %}{{ question }}"
    pipeline.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user(answer)], required_variables=[]))
    pipeline.add_component("llm", MockChatGenerator(responses=ANSWER))
    pipeline.connect("memory.messages", "rewrite.said")
    pipeline.connect("rewrite.prompt", "rewriter.messages")
    pipeline.connect("rewriter.replies", "query.replies")
    pipeline.connect("query.output", "retriever.query")
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "llm.messages")
    if other_query:
        pipeline.add_component("second", InMemoryBM25Retriever(store, top_k=1))
        pipeline.connect("second.documents", "prompt.more")
    return pipeline


def asked(pipeline: Pipeline, **more: Any) -> Sample:
    connector = connected(pipeline)
    inputs = {"memory": {"chat_history_id": "s"}, "rewrite": {"question": TYPED}, "prompt": {"question": TYPED}}
    pipeline.run({**inputs, "prompt": {"question": TYPED, "more": []}} | more)
    (sample,) = samples(connector)
    connector.close()
    return sample


def said_before(sample: Sample) -> list[str]:
    return [turn.content for turn in sample.history or ()]


def test_a_component_that_reads_the_conversation_gives_history_session_and_turn():
    sample = asked(rewriting(said=SAID))
    assert (sample.question, sample.session, sample.turn) == (TYPED, "s", 2)
    assert said_before(sample) == [message.text for message in SAID]
    assert sample.standalone == REWRITTEN
    assert sample.labels["found_standalone"] == "reply of rewriter, query of retriever"


@pytest.mark.parametrize(
    "pipeline",
    [
        lambda: rewriting(said=[]),
        lambda: rewriting(said=SAID, reply=TYPED),
        lambda: rewriting(said=SAID, reply="Paris is two thousand years old. It is a city."),
    ],
)
def test_a_first_turn_the_typed_question_and_a_passage_are_not_the_stand_alone_question(pipeline: Any):
    sample = asked(pipeline())
    assert sample.standalone is None
    assert sample.turn == (2 if sample.history else 1)


def test_several_queries_are_not_the_stand_alone_question():
    inputs = {"prompt": {"question": TYPED}, "second": {"query": "the age of cities"}}
    assert asked(rewriting(said=SAID, other_query=True), **inputs).standalone is None


@pytest.mark.parametrize(
    "inputs",
    [
        {"chat_history_id": "s", "current_messages": [ChatMessage.from_user(TYPED)]},
        {"chat_history_id": "x", "current_messages": [ChatMessage.from_user(TYPED, meta={"session_id": "s"})]},
    ],
)
def test_the_socket_names_the_session_before_a_message_does(inputs: dict[str, Any]):
    pipeline = remembering(SAID)
    connector = connected(pipeline)
    pipeline.run({"memory": inputs})
    (sample,) = samples(connector)
    assert (sample.question, sample.session, sample.turn) == (TYPED, inputs["chat_history_id"], 2)
    assert said_before(sample) == [message.text for message in SAID]


def test_a_mapping_of_a_tracer_or_a_message_names_the_session():
    @component
    class TracerLike:
        @component.output_types(name=str)
        def run(self, invocation_context: dict[str, Any] | None = None) -> dict[str, Any]:
            return {"name": "trace"}

    for more in ({"tracer": {"invocation_context": {"session_id": 7}}}, {}):
        pipeline = Pipeline()
        pipeline.add_component("tracer", TracerLike())
        pipeline.add_component("llm", MockChatGenerator(responses=ANSWER))
        connector = connected(pipeline)
        asking = ChatMessage.from_user(TYPED, meta={} if more else {"conversation_id": "m"})
        pipeline.run({"llm": {"messages": [*SAID, asking]}} | more)
        (sample,) = samples(connector)
        assert (sample.session, sample.turn) == ("7" if more else "m", 2)


def test_extract_names_the_place_of_the_session():
    pipeline = remembering(SAID)
    connector = connected(pipeline, extract={"session": "memory.chat_history_id"})
    pipeline.run({"memory": {"chat_history_id": "own", "current_messages": [ChatMessage.from_user(TYPED)]}})
    (sample,) = samples(connector)
    assert sample.session == "own"

    wrong = remembering(SAID)
    wrong.add_component(
        "scores", type(connector)("faithfulness", "embedded", extract={"session": "memory.current_messages"})
    )
    with pytest.raises(ConfigError, match="session"):
        wrong.warm_up()


def test_an_agent_has_the_session_of_its_state_and_the_number_of_its_turn():
    hook = RagMetricsAgentHook("faithfulness", chat_generator="embedded")
    agent = Agent(
        chat_generator=MockChatGenerator(responses=ANSWER),
        state_schema={"session_id": {"type": str}},
        hooks={"after_run": [hook]},
    )
    agent.run(messages=[*SAID, ChatMessage.from_user(TYPED)], session_id="s")
    assert hook.flush()
    (result,) = hook.live.results
    assert (result.sample.session, result.sample.turn) == ("s", 2)
    hook.close()


def test_a_wired_evaluator_has_the_conversation_of_its_run():
    pipeline = rewriting(said=SAID)
    scores = RagMetricsLiveEvaluator("faithfulness", chat_generator="embedded")
    pipeline.add_component("live", scores)
    pipeline.connect("llm.replies", "live.replies")
    pipeline.connect("retriever.documents", "live.documents")
    pipeline.run(
        {
            "memory": {"chat_history_id": "s"},
            "rewrite": {"question": TYPED},
            "prompt": {"question": TYPED, "more": []},
            "live": {"query": TYPED},
        }
    )
    connected(Pipeline()).close()
    assert scores.flush()
    (result,) = scores.live.results
    assert (result.sample.session, result.sample.question) == ("s", TYPED)
    scores.close()


def test_a_session_continues_in_a_new_process(tmp_path: Path):
    def asked(*questions: str) -> Any:
        command = [sys.executable, "-c", IN_SESSION, str(tmp_path / "store.json"), *questions]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=EXAMPLES.parent)  # noqa: S603
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert asked("Do you know Paris?", TYPED) == [["s", 1, 0], ["s", 2, 2]]
    assert asked("Is it big?") == [["s", 3, 4]]


def test_the_example_prints_what_the_second_answer_repeats(capsys: Any, monkeypatch: pytest.MonkeyPatch):
    run_example(monkeypatch, "conversation_haystack", instead={})
    assert_repeated(capsys.readouterr().out)
