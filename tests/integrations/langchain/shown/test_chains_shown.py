"""LCEL chains as tutorials build them: what the answering request held are the contexts."""

import asyncio
from operator import itemgetter
from typing import Any

import httpx
import pytest
from langchain_core.documents import Document
from langchain_core.language_models import LLM
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough, chain
from pydantic import BaseModel

from tests.integrations.langchain.apps import Shelf
from tests.integrations.langchain.shown.trial import (
    ABOUT_TEA,
    BLACK,
    COFFEE,
    CORPUS,
    GREEN,
    PROMPT,
    TEA,
    Trial,
    join,
    openai,
    retriever,
    store,
)

classic = pytest.importorskip("langchain_classic.chains")
combine = pytest.importorskip("langchain_classic.chains.combine_documents")
# the client of `ChatOpenAI` keeps its connections for as long as the process lives
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def two_step(app: Trial, search: Any = None) -> Any:
    """The chain of the tutorials."""
    given = {"context": (search or retriever()) | RunnableLambda(join), "question": RunnablePassthrough()}
    return given | PROMPT | app.model | StrOutputParser()


def test_two_step_chain(start):
    app = start()
    two_step(app).invoke(ABOUT_TEA, app.config)
    assert app.expect(*TEA).question == ABOUT_TEA


def test_two_step_chain_that_is_streamed(start):
    app = start()
    list(two_step(app).stream(ABOUT_TEA, app.config))
    app.expect(*TEA)


def test_two_step_chain_asynchronous(start):
    app = start()
    asyncio.run(two_step(app).ainvoke(ABOUT_TEA, app.config))
    app.expect(*TEA)


def test_two_step_chain_in_a_batch(start):
    app = start()
    two_step(app).batch([ABOUT_TEA, "How is coffee roasted until it cracks?"], app.config)
    by_question = {sample.question: sample for sample in app.samples()}
    app.holds(by_question[ABOUT_TEA], *TEA)
    assert COFFEE in by_question["How is coffee roasted until it cracks?"].contexts
    app.holds(
        by_question["How is coffee roasted until it cracks?"],
        *by_question["How is coffee roasted until it cracks?"].contexts,
    )


def test_a_step_after_the_retriever_drops_every_document(start):
    app = start()
    two_step(app, retriever() | RunnableLambda(lambda documents: [])).invoke(ABOUT_TEA, app.config)
    app.expect()


def test_a_step_after_the_retriever_drops_one_document(start):
    app = start()
    two_step(app, retriever() | RunnableLambda(lambda documents: documents[:1])).invoke(ABOUT_TEA, app.config)
    app.expect(GREEN)


def test_the_formatting_step_drops_every_document(start):
    app = start()
    given = {"context": retriever() | (lambda documents: ""), "question": RunnablePassthrough()}
    (given | PROMPT | app.model | StrOutputParser()).invoke(ABOUT_TEA, app.config)
    app.expect()


def test_the_prompt_takes_the_documents_and_does_not_show_them(start):
    # they may have been said in other words
    app = start()
    unseeing = ChatPromptTemplate.from_template("Answer: {question}")
    given = {"context": retriever(), "question": RunnablePassthrough()}
    (given | unseeing | app.model | StrOutputParser()).invoke(ABOUT_TEA, app.config)
    app.expect_unknown()


def test_a_retriever_that_finds_nothing(start):
    app = start()
    two_step(app, Shelf()).invoke(ABOUT_TEA, app.config)
    app.expect()


def test_after_no_answer_a_second_prompt_without_documents(start):
    app = start({"Use only": "no_answer", "From memory": "Leaves are dried."})
    memory = ChatPromptTemplate.from_template("From memory: {question}") | app.model | StrOutputParser()

    @chain
    def careful(question: str) -> Any:
        reply = two_step(app).invoke(question)
        return memory.invoke({"question": question}) if reply == "no_answer" else reply

    careful.invoke(ABOUT_TEA, app.config)
    app.expect()


def test_after_no_answer_a_second_prompt_with_other_documents(start):
    app = start({"tea": "no_answer"})

    @chain
    def careful(question: str) -> Any:
        two_step(app).invoke(question)
        return two_step(app, store().as_retriever(search_kwargs={"k": 1})).invoke(
            "How is coffee roasted until it cracks?"
        )

    careful.invoke(ABOUT_TEA, app.config)
    app.expect(COFFEE)


def test_create_retrieval_chain(start):
    app = start()
    prompt = ChatPromptTemplate.from_messages([("system", "{context}"), ("human", "{input}")])
    documents = combine.create_stuff_documents_chain(app.model, prompt)
    classic.create_retrieval_chain(retriever(), documents).invoke({"input": ABOUT_TEA}, app.config)
    app.expect(*TEA)


def test_create_retrieval_chain_with_a_history_aware_retriever(start):
    app = start({"Rewrite": "Is green tea dried in a pan?"})
    rewriting = ChatPromptTemplate.from_messages(
        [("system", "Rewrite the question."), MessagesPlaceholder("chat_history"), ("human", "{input}")]
    )
    aware = classic.create_history_aware_retriever(app.model, retriever(1), rewriting)
    prompt = ChatPromptTemplate.from_messages(
        [("system", "{context}"), MessagesPlaceholder("chat_history"), ("human", "{input}")]
    )
    documents = combine.create_stuff_documents_chain(app.model, prompt)
    given = {"input": "Is it dried?", "chat_history": [("human", "What is green tea?"), ("ai", "A drink.")]}
    classic.create_retrieval_chain(aware, documents).invoke(given, app.config)
    sample = app.expect(GREEN)
    assert sample.question == "Is it dried?"


def test_retrieval_qa(start):
    app = start()
    classic.RetrievalQA.from_chain_type(app.model, retriever=retriever()).invoke(
        {"query": ABOUT_TEA}, app.config
    )
    app.expect(*TEA)


class Completing(LLM):
    """A model that takes a text and gives a text."""

    base_url: str

    @property
    def _llm_type(self) -> str:
        return "completing"

    def _call(self, prompt: str, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> str:
        body = {"messages": [{"role": "user", "content": prompt}]}
        reply = httpx.post(f"{self.base_url}/chat/completions", json=body).json()
        return str(reply["choices"][0]["message"]["content"])


def test_a_completion_model(start):
    app = start()
    prompt = PromptTemplate.from_template("Use only:\n{context}\n\n{question}")
    given = {"context": retriever() | join, "question": RunnablePassthrough()}
    (given | prompt | Completing(base_url=app.server.base_url)).invoke(ABOUT_TEA, app.config)
    app.expect(*TEA)


def test_the_sources_are_returned_beside_the_answer(start):
    app = start()
    generate = RunnablePassthrough.assign(context=lambda given: join(given["context"])) | PROMPT | app.model
    sources = RunnableParallel(context=retriever(), question=RunnablePassthrough())
    sources.assign(answer=generate | StrOutputParser()).invoke(ABOUT_TEA, app.config)
    app.expect(*TEA)


def test_more_sources_are_returned_than_were_shown(start):
    app = start()
    first = RunnablePassthrough.assign(context=lambda given: join(given["context"][:1])) | PROMPT | app.model
    sources = RunnableParallel(context=retriever(), question=RunnablePassthrough())
    sources.assign(answer=first | StrOutputParser()).invoke(ABOUT_TEA, app.config)
    app.expect(GREEN)


def test_a_title_is_written_at_the_same_time(start):
    app = start({"A title": "Tea"})
    title = ChatPromptTemplate.from_template("A title for: {question}") | app.model | StrOutputParser()
    given = RunnableParallel(context=retriever() | RunnableLambda(join), question=RunnablePassthrough())
    (given | RunnableParallel(answer=PROMPT | app.model | StrOutputParser(), title=title)).invoke(
        ABOUT_TEA, app.config
    )
    app.expect(*TEA)


def test_further_questions_are_written_after_the_answer(start):
    app = start({"Further questions": "And coffee?"})
    further = ChatPromptTemplate.from_template("Further questions to: {answer}") | app.model
    generate = RunnablePassthrough.assign(context=itemgetter("question") | retriever() | join)
    generate = generate.assign(answer=PROMPT | app.model | StrOutputParser())
    generate.assign(further=further | StrOutputParser()).invoke({"question": ABOUT_TEA}, app.config)
    app.expect(*TEA)


def test_the_answer_is_checked_by_a_model_and_given_out_unchanged(start):
    app = start({"Is this right": "yes"})
    check = ChatPromptTemplate.from_template("Is this right? {answer}") | app.model | StrOutputParser()

    @chain
    def checked(question: str) -> Any:
        answer = two_step(app).invoke(question)
        check.invoke({"answer": answer})
        return answer

    checked.invoke(ABOUT_TEA, app.config)
    app.expect(*TEA)


def test_the_answer_is_translated_by_a_second_model(start):
    # what was shown to the call that made the answer: the first answer, and no document
    app = start({"Translate": "Du thé séché.", "Use only": "Pans are used to dry the tea."})
    translate = ChatPromptTemplate.from_template("Translate: {answer}") | app.model | StrOutputParser()
    ({"answer": two_step(app)} | translate).invoke(ABOUT_TEA, app.config)
    app.expect("Pans are used to dry the tea.")


def test_two_models_answer_and_nothing_says_which(start):
    app = start({"Shortly": "Dried, in short."})
    short = ChatPromptTemplate.from_template("Shortly: {context}") | app.model | StrOutputParser()
    given = RunnableParallel(context=retriever() | RunnableLambda(join), question=RunnablePassthrough())
    both = RunnableParallel(long=PROMPT | app.model | StrOutputParser(), short=short)
    (given | both).invoke(ABOUT_TEA, app.config)
    assert app.handler.flush()
    assert app.handler.results == []
    assert app.handler.stats.skipped == {"several_answers": 1}


def test_two_models_answer_and_the_handler_is_told_which(start):
    app = start({"Shortly": "Dried, in short."}, answer_key="short")
    short = ChatPromptTemplate.from_template("Shortly: {first}") | app.model | StrOutputParser()
    given = RunnableParallel(
        context=retriever() | RunnableLambda(join),
        first=retriever(1) | RunnableLambda(join),
        question=RunnablePassthrough(),
    )
    both = RunnableParallel(long=PROMPT | app.model | StrOutputParser(), short=short)
    (given | both).invoke(ABOUT_TEA, app.config)
    app.expect(GREEN)


def test_the_documents_are_shortened_by_a_model(start):
    app = start({"Shorten": "Green tea is pan-dried."})
    shorten = ChatPromptTemplate.from_template("Shorten: {context}") | app.model | StrOutputParser()
    search = retriever() | RunnableLambda(join) | {"context": RunnablePassthrough()} | shorten
    ({"context": search, "question": RunnablePassthrough()} | PROMPT | app.model | StrOutputParser()).invoke(
        ABOUT_TEA, app.config
    )
    app.expect("Green tea is pan-dried.")


def test_map_reduce_over_documents(start):
    app = start(
        {
            f"Summarise: {GREEN}": "Pans are used to dry the green one.",
            f"Summarise: {BLACK}": "The black one withers before all.",
            "Combine": "Tea varies.",
        }
    )
    summarise = ChatPromptTemplate.from_template("Summarise: {page_content}") | app.model | StrOutputParser()
    fields = RunnableLambda(lambda document: {"page_content": document.page_content})
    combined = ChatPromptTemplate.from_template("Combine: {summaries}") | app.model | StrOutputParser()
    mapped = retriever() | (fields | summarise).map() | RunnableLambda("\n".join)
    ({"summaries": mapped} | combined).invoke(ABOUT_TEA, app.config)
    app.expect("Pans are used to dry the green one.", "The black one withers before all.")


def test_each_document_is_cut_off(start):
    app = start()
    given = {
        "context": retriever() | (lambda documents: "\n".join(each.page_content[:25] for each in documents)),
        "question": RunnablePassthrough(),
    }
    (given | PROMPT | app.model | StrOutputParser()).invoke(ABOUT_TEA, app.config)
    app.expect(GREEN[:25].strip(), BLACK[:25].strip())


def test_the_store_is_searched_without_a_retriever(start):
    app = start()
    search = RunnableLambda(lambda question: store().similarity_search(question, k=2))
    two_step(app, search).invoke(ABOUT_TEA, app.config)
    app.expect(*TEA)


def test_the_store_is_searched_inside_a_step_that_gives_text(start):
    # no hook sees what is found in there
    app = start()
    search = RunnableLambda(lambda question: join(store().similarity_search(question, k=2)))
    ({"context": search, "question": RunnablePassthrough()} | PROMPT | app.model | StrOutputParser()).invoke(
        ABOUT_TEA, app.config
    )
    app.expect_unknown()


def test_the_answer_is_a_field_of_a_form(start):
    class Form(BaseModel):
        """The answer."""

        answer: str

    app = start({"Use only": '{"answer": "Dried."}'})
    model = app.model.with_structured_output(Form, method="json_schema")
    given = {"context": retriever() | RunnableLambda(join), "question": RunnablePassthrough()}
    (given | PROMPT | model).invoke(ABOUT_TEA, app.config)
    sample = app.sample()
    assert (sample.answer, sample.contexts) == ("Dried.", TEA)


def test_the_answer_is_finished_by_a_step(start):
    app = start({"Use only": "Dried."})
    (two_step(app) | (lambda answer: f"{answer} [1]")).invoke(ABOUT_TEA, app.config)
    sample = app.sample()
    assert (sample.answer, sample.contexts) == ("Dried. [1]", TEA)


def test_the_answer_of_one_of_two_models_is_cleaned_by_a_step(start):
    app = start({"Rewrite": ABOUT_TEA, "Use only": "Dried [1]. Then rolled [2]."})
    rewrite = ChatPromptTemplate.from_template("Rewrite: {question}") | app.model | StrOutputParser()
    clean = two_step(app) | (lambda answer: answer.replace(" [1]", "").replace(" [2]", ""))
    ({"question": RunnablePassthrough()} | rewrite | clean).invoke("Tea?", app.config)
    sample = app.sample()
    assert (sample.answer, sample.contexts) == ("Dried. Then rolled.", TEA)
    assert set(sample.shown) == {"verified"}


def test_a_model_that_fails_and_the_one_that_takes_its_place(start):
    app = start()
    broken = openai.ChatOpenAI(model="x", base_url="http://127.0.0.1:9/v1", api_key="none", max_retries=0)
    given = {"context": retriever() | RunnableLambda(join), "question": RunnablePassthrough()}
    (given | PROMPT | broken.with_fallbacks([app.model]) | StrOutputParser()).invoke(ABOUT_TEA, app.config)
    app.expect(*TEA)


def test_the_first_of_two_chains_is_given_out(start):
    # both reply; the clock would take the second
    app = start()
    both = RunnableParallel(first=two_step(app), second=two_step(app, retriever(4)))
    (both | itemgetter("first")).invoke(ABOUT_TEA, app.config)
    app.expect(*TEA)


def test_documents_are_numbered_and_wrapped(start):
    app = start()

    def numbered(documents: list[Document]) -> str:
        return "".join(
            f"[{n}]   {each.page_content.replace(' ', chr(10))}\n" for n, each in enumerate(documents)
        )

    given = {"context": retriever(4) | numbered, "question": RunnablePassthrough()}
    (given | PROMPT | app.model | StrOutputParser()).invoke(ABOUT_TEA, app.config)
    sample = app.sample()
    assert set(sample.contexts or ()) == set(CORPUS)
