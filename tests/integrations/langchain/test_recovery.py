"""Question, contexts and answer are recovered from chains of every kind."""

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.tools import tool

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
from tests.integrations.langchain.recovered import MakeHandler, OnlySample


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


def shown_to(model: Echo) -> str:
    """The contexts in the prompt that the model was given."""
    return str(model.heard[-1][0].text).removeprefix("Use only:\n")
