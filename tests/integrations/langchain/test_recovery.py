"""Question, contexts and answer are recovered from chains of every kind, and as the user says."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.tools import tool

from ragmetrics_core import Sample
from ragmetrics_core.live import Skip
from ragmetrics_langchain import RagMetricsCallbackHandler, RootRun
from tests.integrations.langchain.apps import (
    PROMPT,
    Echo,
    Shelf,
    answer,
    assert_about,
    expect_skip,
    join,
    question,
    rag_chain,
    retrieval_chain,
    texts,
)

OnlySample = Callable[[RagMetricsCallbackHandler], Sample]
MakeHandler = Callable[..., RagMetricsCallbackHandler]

FOUND_IN_LCEL = {
    "found_question": "the inputs",
    "found_contexts": "retrievers",
    "found_answer": "the output",
}


def found(sample: Sample) -> dict[str, Any]:
    return {name: value for name, value in sample.labels.items() if name.startswith("found_")}


# Kinds of chains


def test_create_retrieval_chain_gives_question_documents_answer_and_history(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    history = [HumanMessage("Hello"), AIMessage("Good day")]
    retrieval_chain().invoke({"input": question("tea"), "chat_history": history}, {"callbacks": [handler]})
    history.append(HumanMessage("said after the answer"))

    sample = only_sample(handler)
    assert_about(sample, "tea")
    assert [(turn.role, turn.content) for turn in sample.history or ()] == [
        ("user", "Hello"),
        ("assistant", "Good day"),
    ]


def test_a_history_aware_retriever_keeps_the_question_that_was_asked(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    classic = pytest.importorskip("langchain_classic.chains")
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("human", "{input}")])
    rewriter = Echo(replies=[AIMessage(question("tea"))])
    retriever = classic.create_history_aware_retriever(rewriter, Shelf(), prompt)
    model = Echo(replies=[AIMessage(answer("tea"))])

    retrieval_chain(retriever, model).invoke(
        {"input": "What of it?", "chat_history": [HumanMessage(question("tea"))]}, {"callbacks": [handler]}
    )

    sample = only_sample(handler)
    assert sample.question == "What of it?"
    assert sample.contexts == texts("tea")


def test_a_multi_query_retriever_counts_once_with_what_it_returned(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    retrievers = pytest.importorskip("langchain_classic.retrievers")
    writer = Echo(replies=[AIMessage(f"{question('tea')}\n{question('milk')}\n{question('tea')}")])
    retriever = retrievers.MultiQueryRetriever.from_llm(Shelf(), writer)

    rag_chain(retriever).invoke(question("tea"), {"callbacks": [handler]})

    assert only_sample(handler).contexts == (*texts("tea"), *texts("milk"))


def test_an_ensemble_counts_once_in_its_own_order(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    retrievers = pytest.importorskip("langchain_classic.retrievers")
    retriever = retrievers.EnsembleRetriever(retrievers=[Shelf(), Shelf(shelf="cellar")], weights=[0.2, 0.8])
    model = Echo()

    rag_chain(retriever, model).invoke(question("tea"), {"callbacks": [handler]})

    sample = only_sample(handler)
    # the heavier retriever's first document comes first, then its second
    assert (sample.contexts or ())[0] == texts("tea", shelf="cellar")[0]
    assert "\n".join(sample.contexts or ()) == shown_to(model)


def test_a_compression_retriever_counts_with_what_it_kept(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    retrievers = pytest.importorskip("langchain_classic.retrievers")
    compressors = pytest.importorskip("langchain_classic.retrievers.document_compressors")
    extract = compressors.LLMChainExtractor.from_llm(
        Echo(replies=[AIMessage("NO_OUTPUT"), AIMessage("Only this of the second.")])
    )
    retriever = retrievers.ContextualCompressionRetriever(base_compressor=extract, base_retriever=Shelf())
    model = Echo()

    rag_chain(retriever, model).invoke(question("tea"), {"callbacks": [handler]})

    sample = only_sample(handler)
    assert sample.contexts == ("Only this of the second.",)
    assert "\n".join(sample.contexts or ()) == shown_to(model)


def test_two_hops_give_the_documents_of_both_each_once(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    def hop(given: str) -> str:
        first = Shelf().invoke(given)
        second = Shelf().invoke(question("milk")) + Shelf().invoke(given)
        return Echo().invoke(f"{join([*first, *second])} {given}").text

    RunnableLambda(hop).invoke(question("tea"), {"callbacks": [handler]})

    assert only_sample(handler).contexts == (*texts("tea"), *texts("milk"))


def test_documents_that_a_later_step_drops_or_reorders_count_as_the_model_saw_them(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    reversed_first = RunnableLambda(lambda documents: documents[::-1][:1])

    rag_chain(Shelf() | reversed_first).invoke(question("tea"), {"callbacks": [handler]})

    sample = only_sample(handler)
    assert sample.contexts == texts("tea")[1:]
    assert sample.labels["found_contexts"] == "retrievers, then documents that became text"


def test_documents_that_were_ordered_anew_keep_the_new_order(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    rerank = RunnableLambda(lambda documents: documents[::-1])

    rag_chain(Shelf() | rerank).invoke(question("tea"), {"callbacks": [handler]})

    assert only_sample(handler).contexts == texts("tea")[::-1]


def test_a_retrieval_of_which_a_step_dropped_everything_is_no_context(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    model = Echo()
    both = RunnableParallel(shelf=Shelf(), cellar=Shelf(shelf="cellar"))
    rerank = RunnableLambda(lambda found: found["cellar"])

    rag_chain(both | rerank, model).invoke(question("tea"), {"callbacks": [handler]})

    sample = only_sample(handler)
    # what the model saw is what the second retriever found
    assert sample.contexts == texts("tea", shelf="cellar")
    assert "\n".join(sample.contexts) == shown_to(model)
    assert sample.labels["found_contexts"] == "retrievers, then documents that became text"


def test_documents_that_were_all_rewritten_in_place_are_those_of_the_retrievers(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    rewrite = RunnableLambda(lambda found: [Document(page_content="Rewritten.") for _ in found])

    rag_chain(Shelf() | rewrite).invoke(question("tea"), {"callbacks": [handler]})

    assert only_sample(handler).contexts == texts("tea")


def test_a_document_that_the_application_passes_twice_counts_once(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    given = {"context": Shelf().invoke(question("tea")) * 2, "question": question("tea")}
    (PROMPT | Echo() | StrOutputParser()).invoke(given, {"callbacks": [handler]})

    sample = only_sample(handler)
    assert sample.contexts == texts("tea")
    assert sample.context_ids == ("shelf-tea-0", "shelf-tea-1")


def test_documents_picked_for_another_purpose_do_not_narrow_the_contexts(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    chain = RunnablePassthrough.assign(context=(lambda given: given["question"]) | Shelf()).assign(
        sources=lambda given: given["context"][:1], answer=PROMPT | Echo() | StrOutputParser()
    )

    chain.invoke({"question": question("tea")}, {"callbacks": [handler]})

    assert_about(only_sample(handler), "tea")


def test_a_retrieval_that_found_nothing_is_a_sample_without_contexts(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    chain = rag_chain(model=Echo(replies=[AIMessage("I do not know.")]))
    chain.invoke("What is this?", {"callbacks": [handler]})

    assert only_sample(handler).contexts == ()


def test_documents_that_the_application_looked_up_itself_are_found_in_the_inputs(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    chain = PROMPT | Echo() | StrOutputParser()
    chain.invoke(
        {"context": Shelf().invoke(question("tea")), "question": question("tea")}, {"callbacks": [handler]}
    )

    sample = only_sample(handler)
    assert_about(sample, "tea")
    assert sample.labels["found_contexts"] == "inputs['context']"


def test_a_search_without_a_retriever_is_found_where_its_documents_became_text(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    search = RunnableLambda(lambda given: [Document(page_content=text) for text in texts("tea")])

    rag_chain(search).invoke(question("tea"), {"callbacks": [handler]})

    sample = only_sample(handler)
    assert_about(sample, "tea")
    assert sample.labels["found_contexts"] == "documents that became text"


def test_a_tool_that_returns_documents_beside_its_text_is_a_retrieval(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    @tool(response_format="content_and_artifact")
    def look_up(query: str) -> tuple[str, list[Document]]:
        """Look something up."""
        documents = [Document(page_content=text) for text in texts("tea")]
        return join(documents), documents

    def agent(given: str) -> str:
        call = {"name": "look_up", "args": {"query": given}, "id": "1", "type": "tool_call"}
        return Echo().invoke(f"{look_up.invoke(call).text} {given}").text

    RunnableLambda(agent).invoke(question("tea"), {"callbacks": [handler]})

    assert_about(only_sample(handler), "tea")


def test_the_text_of_a_tool_that_was_named_is_a_context(make_handler: MakeHandler, only_sample: OnlySample):
    @tool
    def look_up(query: str) -> str:
        """Look something up."""
        return "Tea is a drink."

    def agent(given: str) -> str:
        return f"{look_up.invoke({'query': given})}"

    handler = make_handler(context_tools=["look_up"])
    RunnableLambda(agent).invoke("What is tea?", {"callbacks": [handler]})

    sample = only_sample(handler)
    assert sample.contexts == ("Tea is a drink.",)
    assert sample.labels["found_contexts"] == "texts of tools"


def test_a_model_that_ends_the_chain_answers_with_a_message(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    chain = RunnablePassthrough.assign(context=(lambda given: given["query"]) | Shelf()) | RunnableLambda(
        lambda given: Echo().invoke(f"{join(given['context'])} {given['query']}")
    )
    list(chain.stream({"query": question("tea")}, {"callbacks": [handler]}))

    sample = only_sample(handler)
    assert_about(sample, "tea")
    assert sample.labels["found_answer"] == "last message of the model"


# What the user can say


def test_keys_that_are_given_win_over_the_rules(make_handler: MakeHandler, only_sample: OnlySample):
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


def test_a_key_that_is_not_there_is_not_replaced_by_a_rule(make_handler: MakeHandler):
    handler = make_handler(context_key="passages", needs_contexts=True)
    chain = RunnableLambda(
        lambda given: {"answer": answer("tea"), "context": Shelf().invoke(given["question"])}
    )
    chain.invoke({"question": question("tea")}, {"callbacks": [handler]})

    expect_skip(handler, "no_contexts")


def test_extract_sees_the_run_and_says_what_it_wants_the_rest_is_left_to_the_rules(
    make_handler: MakeHandler, only_sample: OnlySample
):
    def extract(run: RootRun) -> dict[str, Any]:
        (retrieval,) = run.retrievals
        return {
            "contexts": retrieval.documents[:1],
            "reference": f"what {retrieval.name} should say",
            "customer": run.metadata["customer"],
        }

    handler = make_handler(extract=extract)
    rag_chain().invoke(question("tea"), {"callbacks": [handler], "metadata": {"customer": "gold"}})

    sample = only_sample(handler)
    assert sample.contexts == texts("tea")[:1]
    assert sample.reference == "what Shelf should say"
    assert sample.labels["customer"] == "gold"
    assert found(sample) == FOUND_IN_LCEL | {"found_contexts": "extract"}


def test_extract_may_use_any_name_that_a_samples_columns_have(
    make_handler: MakeHandler, only_sample: OnlySample
):
    def extract(run: RootRun) -> dict[str, Any]:
        return {
            "user_input": HumanMessage("Which tea?"),
            "response": AIMessage("Green."),
            "retrieved_contexts": [Document(page_content="Tea is green.")],
            "ground_truth": "Green tea.",
            "tenant": "books",
        }

    handler = make_handler(extract=extract)
    RunnableLambda(lambda given: {"n": 1}).invoke({"n": 0}, {"callbacks": [handler]})

    sample = only_sample(handler)
    assert (sample.question, sample.answer) == ("Which tea?", "Green.")
    assert (sample.contexts, sample.reference) == (("Tea is green.",), "Green tea.")
    assert sample.labels["tenant"] == "books"
    assert found(sample) == dict.fromkeys(FOUND_IN_LCEL, "extract")


def test_extract_may_give_conversations(make_handler: MakeHandler, only_sample: OnlySample):
    def extract(run: RootRun) -> dict[str, Any]:
        said = [HumanMessage("Hello"), AIMessage("Good day")]
        return {"question": [*said, HumanMessage("Which tea?")], "history": said}

    handler = make_handler(extract=extract)
    rag_chain().invoke(question("tea"), {"callbacks": [handler]})

    sample = only_sample(handler)
    assert sample.question == "Which tea?"
    assert [(turn.role, turn.content) for turn in sample.history or ()] == [
        ("user", "Hello"),
        ("assistant", "Good day"),
    ]


def test_extract_that_says_one_thing_twice_and_differently_is_a_mistake(make_handler: MakeHandler):
    handler = make_handler(extract=lambda run: {"question": "Which tea?", "user_input": "Which milk?"})
    rag_chain().invoke(question("tea"), {"callbacks": [handler]})

    assert handler.flush()
    assert handler.stats.failed == 1
    assert "'question' and 'user_input' both mean question and disagree" in handler.stats.errors[0]


def test_extract_may_leave_a_run_out_and_its_mistakes_are_only_counted(make_handler: MakeHandler):
    def leave_out(run: RootRun) -> None:
        raise Skip("internal_user")

    def mistake(run: RootRun) -> dict[str, Any]:
        return {"contexts": [run]}

    handlers = [make_handler(extract=leave_out), make_handler(extract=mistake)]
    assert rag_chain().invoke(question("tea"), {"callbacks": handlers}) == answer("tea")

    assert all(handler.flush() for handler in handlers)
    assert handlers[0].stats.skipped == {"internal_user": 1}
    assert handlers[1].stats.failed == 1
    assert "contexts that are neither texts nor documents" in handlers[1].stats.errors[0]


def test_references_reach_the_metrics_that_need_one(make_handler: MakeHandler):
    handler = make_handler("context_recall", references={question("tea"): texts("tea")[0]})
    rag_chain().batch([question("tea"), question("milk")], {"callbacks": [handler]})

    handler.flush()
    status = {result.sample.question: result.records[0].status for result in handler.results}
    assert status == {question("tea"): "ok", question("milk"): "skipped"}


def test_an_answer_without_contexts_has_records_that_say_so_or_is_left_out(make_handler: MakeHandler):
    rag_only, everything = make_handler(needs_contexts=True), make_handler()
    chain = ChatPromptTemplate.from_template("{question}") | Echo() | StrOutputParser()
    chain.invoke({"question": question("tea")}, {"callbacks": [rag_only, everything]})

    assert rag_only.flush()
    assert everything.flush()
    assert rag_only.stats.skipped == {"no_contexts": 1}
    (result,) = everything.results
    assert result.sample.contexts is None
    assert [(record.status, record.reason) for record in result.records] == [("skipped", "contexts")]


def test_a_retriever_alone_is_no_answer(handler: RagMetricsCallbackHandler):
    Shelf().invoke(question("tea"), {"callbacks": [handler]})

    expect_skip(handler, "no_answer")


def shown_to(model: Echo) -> str:
    """The contexts in the prompt that the model was given."""
    return str(model.heard[-1][0].text).removeprefix("Use only:\n")


@pytest.mark.parametrize(
    "last",
    [
        AIMessage("I look it up.", tool_calls=[{"name": "search", "args": {}, "id": "1"}]),
        HumanMessage("Any news?"),
    ],
    ids=["a call of a tool", "a person"],
)
def test_a_conversation_that_does_not_end_with_the_models_words_has_no_answer(
    handler: RagMetricsCallbackHandler, last: Any
):
    def talk(given: dict[str, Any]) -> dict[str, Any]:
        Shelf().invoke(question("tea"))
        return {"messages": [*given["messages"], AIMessage("Wait."), last]}

    RunnableLambda(talk).invoke({"messages": [HumanMessage(question("tea"))]}, {"callbacks": [handler]})

    expect_skip(handler, "no_answer")


def test_parallel_branches_that_answer_apart_are_not_mixed_into_one_sample(
    handler: RagMetricsCallbackHandler,
):
    chain = RunnableParallel(first=rag_chain(), second=rag_chain())
    chain.invoke(question("tea"), {"callbacks": [handler]})

    expect_skip(handler, "no_answer")
