"""Question, contexts and answer are recovered from chains of every kind."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from ragmetrics_langchain import RagMetricsCallbackHandler
from tests.integrations.langchain.apps import (
    PROMPT,
    Echo,
    Shelf,
    answer,
    assert_about,
    join,
    question,
    rag_chain,
    retrieval_chain,
    texts,
)
from tests.integrations.langchain.recovered import OnlySample


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


def test_a_model_that_ends_the_chain_answers_with_a_message(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    chain = RunnablePassthrough.assign(context=(lambda given: given["query"]) | Shelf()) | RunnableLambda(
        lambda given: Echo().invoke(f"{join(given['context'])} {given['query']}")
    )
    list(chain.stream({"query": question("tea")}, {"callbacks": [handler]}))

    sample = only_sample(handler)
    assert_about(sample, "tea")
    assert sample.labels["found_answer"] == "the output, by Echo"


def shown_to(model: Echo) -> str:
    """The contexts in the prompt that the model was given."""
    return str(model.heard[-1][0].text).removeprefix("Use only:\n")
