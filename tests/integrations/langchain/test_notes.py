"""What an application tells of itself: notes of contexts, labels, tools; and what is told to it."""

import logging

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import note_contexts
from ragmetrics_langchain import as_langsmith_evaluator
from tests.integrations.langchain.apps import Echo, answer, question, rag_chain, texts


def reply(asked: str) -> str:
    """As an application that searches by itself."""
    note_contexts([Document(page_content=text) for text in texts("tea")])
    return answer("tea")


def test_what_a_chain_notes_is_its_contexts(handler, only_sample):
    RunnableLambda(reply).invoke(question("tea"), {"callbacks": [handler]})

    sample = only_sample(handler)
    assert sample.contexts == texts("tea")
    assert sample.labels["found_contexts"] == "note_contexts"


def test_metadata_become_labels(make_handler, only_sample):
    handler = make_handler(label_keys=["tenant", "unknown"])
    rag_chain().invoke(question("tea"), {"callbacks": [handler], "metadata": {"tenant": "shop", "more": 1}})

    labels = only_sample(handler).labels
    assert labels["tenant"] == "shop"
    assert "more" not in labels
    assert "unknown" not in labels


def answer_with(handler, **tools):
    """The sample of an agent that calls each of these tools, whose texts are given, and then answers."""
    agents = pytest.importorskip("langchain.agents")
    calls = [{"name": name, "args": {"query": "x"}, "id": name} for name in tools]
    made = [
        tool(name, description="Finds books.")(lambda query, text=text: text) for name, text in tools.items()
    ]
    agents.create_agent(Echo(replies=[AIMessage("", tool_calls=calls)]), made).invoke(
        {"messages": [("human", question("tea"))]}, {"callbacks": [handler]}
    )
    assert handler.flush()
    return handler.results[0].sample


@tool
def kb(query: str) -> str:
    """Finds books."""
    return query


@pytest.mark.parametrize("given", ["kb", ["kb"], kb, [kb]])
def test_tools_are_named_by_a_name_by_names_or_as_objects(make_handler, given):
    first, second = texts("tea")
    assert answer_with(make_handler(context_tools=given), kb=first, web=second).contexts == (first,)
    assert answer_with(make_handler(not_evidence=given), kb=first, web=second).contexts == (second,)


@pytest.mark.parametrize("given", [3, {"kb": 1}, [3], [""], None])
def test_what_is_no_tool_is_one_clear_error(make_handler, given):
    with pytest.raises(ConfigError, match="context_tools takes tools or names, not"):
        make_handler(context_tools=given)


def test_a_handler_that_sees_models_only_says_so_once(handler, caplog):
    with caplog.at_level(logging.WARNING, "ragmetrics.live"):
        for _ in range(3):
            Echo().invoke(question("tea"), {"callbacks": [handler]})

    assert handler.stats.skipped == {"not_traced": 3}
    (told,) = caplog.messages
    assert "attach the handler to the chain, or install(handler)" in told


@pytest.mark.parametrize("outputs", ["Sencha is green.", {"answer": "Sencha is green."}])
def test_the_evaluator_is_called_the_way_of_openevals(outputs):
    evaluator = as_langsmith_evaluator(["faithfulness", "factual_correctness"], judge="embedded")
    first, second = evaluator(
        inputs={"question": "Which tea is green?", "context": ["Sencha is green."]},
        outputs=outputs,
        reference_outputs={"answer": "Sencha is green."},
    )

    assert (first["key"], first["score"]) == ("faithfulness", 1.0)
    assert (second["key"], second["score"]) == ("factual_correctness", 1.0)
    with pytest.raises(ConfigError, match="takes a run and an example, or inputs="):
        evaluator()
