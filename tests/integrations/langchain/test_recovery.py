"""Question, contexts and answer are recovered from chains of every kind."""

from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda

from tests.integrations.langchain.apps import (
    PROMPT,
    Echo,
    Shelf,
    assert_about,
    join,
    question,
    texts,
)


def test_two_hops_give_the_documents_of_both_each_once(handler, only_sample):
    def hop(given: str) -> str:
        first = Shelf().invoke(given)
        second = Shelf().invoke(question("milk")) + Shelf().invoke(given)
        return Echo().invoke(f"{join([*first, *second])} {given}").text

    RunnableLambda(hop).invoke(question("tea"), {"callbacks": [handler]})

    assert only_sample(handler).contexts == (*texts("tea"), *texts("milk"))


def test_a_document_that_the_application_passes_twice_counts_once(handler, only_sample):
    given = {"context": Shelf().invoke(question("tea")) * 2, "question": question("tea")}
    (PROMPT | Echo() | StrOutputParser()).invoke(given, {"callbacks": [handler]})

    sample = only_sample(handler)
    assert sample.contexts == texts("tea")
    assert sample.context_ids == ("shelf-tea-0", "shelf-tea-1")


def test_documents_that_the_application_looked_up_itself_are_found_in_the_inputs(handler, only_sample):
    chain = PROMPT | Echo() | StrOutputParser()
    chain.invoke(
        {"context": Shelf().invoke(question("tea")), "question": question("tea")}, {"callbacks": [handler]}
    )

    sample = only_sample(handler)
    assert_about(sample, "tea")
