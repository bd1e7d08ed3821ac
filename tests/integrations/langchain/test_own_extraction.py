"""Question, contexts and answer are where the user says."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda

from ragmetrics_core.live import Skip
from ragmetrics_langchain import RootRun
from tests.integrations.langchain.apps import (
    Echo,
    Shelf,
    answer,
    expect_skip,
    found,
    question,
    rag_chain,
    texts,
)

FOUND_IN_LCEL = {
    "found_question": "the inputs",
    "found_contexts": "Shelf, shown to Echo",
    "found_answer": "the output, by Echo",
}


def test_keys_that_are_given_win_over_the_rules(make_handler, only_sample):
    handler = make_handler(input_key="asks", context_key="passages", answer_key="says")
    chain = RunnableLambda(
        lambda given: {"says": "Green tea.", "answer": "no", "passages": ["Tea is green."], "context": "no"}
    )
    chain.invoke({"asks": "Which tea?", "question": "no"}, {"callbacks": [handler]})

    sample = only_sample(handler)
    assert (sample.question, sample.contexts, sample.answer) == (
        "Which tea?",
        ("Tea is green.",),
        "Green tea.",
    )
    assert found(sample) == {
        "found_question": "input_key 'asks'",
        "found_contexts": "context_key 'passages'",
        "found_answer": "answer_key 'says'",
    }


def test_extract_sees_the_run_and_says_what_it_wants_the_rest_is_left_to_the_rules(make_handler, only_sample):
    def extract(run: RootRun) -> dict[str, Any]:
        (retrieval,) = run.retrievals
        return {
            "contexts": retrieval.documents[:1],
            "reference": f"what {retrieval.name} should say",
            "labels": {"customer": run.metadata["customer"]},
        }

    handler = make_handler(extract=extract)
    rag_chain().invoke(question("tea"), {"callbacks": [handler], "metadata": {"customer": "gold"}})

    sample = only_sample(handler)
    assert sample.contexts == texts("tea")[:1]
    assert sample.reference == "what Shelf should say"
    assert sample.labels["customer"] == "gold"
    assert found(sample) == FOUND_IN_LCEL | {"found_contexts": "extract"}


def test_extract_may_leave_a_run_out_and_its_mistakes_are_only_counted(make_handler):
    def leave_out(run: RootRun) -> None:
        raise Skip("internal_user")

    def mistake(run: RootRun) -> dict[str, Any]:
        return {"contexts": [object()]}

    handlers = [make_handler(extract=leave_out), make_handler(extract=mistake)]
    assert rag_chain().invoke(question("tea"), {"callbacks": handlers}) == answer("tea")

    assert all(handler.flush() for handler in handlers)
    assert handlers[0].stats.skipped == {"internal_user": 1}
    assert handlers[1].stats.failed == 1
    assert "contexts without text: object" in handlers[1].stats.errors[0]


def test_references_reach_the_metrics_that_need_one(make_handler):
    handler = make_handler("context_recall", references={question("tea"): texts("tea")[0]})
    rag_chain().batch([question("tea"), question("milk")], {"callbacks": [handler]})

    handler.flush()
    status = {result.sample.question: result.records[0].status for result in handler.results}
    assert status == {question("tea"): "ok", question("milk"): "skipped"}


def test_an_answer_without_contexts_has_records_that_say_so_or_is_left_out(make_handler):
    rag_only, everything = make_handler(needs_contexts=True), make_handler()
    chain = ChatPromptTemplate.from_template("{question}") | Echo() | StrOutputParser()
    chain.invoke({"question": question("tea")}, {"callbacks": [rag_only, everything]})

    assert rag_only.flush()
    assert everything.flush()
    assert rag_only.stats.skipped == {"no_contexts": 1}
    (result,) = everything.results
    assert result.sample.contexts == ()


def test_a_retriever_alone_is_no_answer(handler):
    Shelf().invoke(question("tea"), {"callbacks": [handler]})

    expect_skip(handler, "no_answer")


@pytest.mark.parametrize(
    "last",
    [
        AIMessage("I look it up.", tool_calls=[{"name": "search", "args": {}, "id": "1"}]),
        HumanMessage("Any news?"),
    ],
    ids=["a call of a tool", "a person"],
)
def test_a_conversation_that_does_not_end_with_the_models_words_has_no_answer(handler, last):
    def talk(given: dict[str, Any]) -> dict[str, Any]:
        Shelf().invoke(question("tea"))
        return {"messages": [*given["messages"], AIMessage("Wait."), last]}

    RunnableLambda(talk).invoke({"messages": [HumanMessage(question("tea"))]}, {"callbacks": [handler]})

    expect_skip(handler, "no_answer")
