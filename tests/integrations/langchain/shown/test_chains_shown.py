"""LCEL chains as tutorials build them: what the answering request held are the contexts."""

import asyncio
from collections.abc import Callable
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


def given(search: Any) -> Any:
    return RunnableParallel(context=search, question=RunnablePassthrough())


def written(app: Trial, text: str) -> Any:
    """What the model says to a prompt."""
    return ChatPromptTemplate.from_template(text) | app.model | StrOutputParser()


def two_step(app: Trial, search: Any = None, model: Any = None) -> Any:
    """The chain of the tutorials."""
    texts = (search or retriever()) | RunnableLambda(join)
    return given(texts) | PROMPT | (model or app.model) | StrOutputParser()


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


def completing(app: Trial) -> Any:
    prompt = PromptTemplate.from_template("Use only:\n{context}\n\n{question}")
    return given(retriever() | join) | prompt | Completing(base_url=app.server.base_url)


def with_sources(app: Trial, shown: int) -> Any:
    texts = RunnablePassthrough.assign(context=lambda sources: join(sources["context"][:shown]))
    return given(retriever()).assign(answer=texts | PROMPT | app.model | StrOutputParser())


def with_title(app: Trial) -> Any:
    answer = PROMPT | app.model | StrOutputParser()
    both = RunnableParallel(answer=answer, title=written(app, "A title for: {question}"))
    return given(retriever() | RunnableLambda(join)) | both


def shortened(app: Trial) -> Any:
    texts = retriever() | RunnableLambda(join) | {"context": RunnablePassthrough()}
    return given(texts | written(app, "Shorten: {context}")) | PROMPT | app.model | StrOutputParser()


def map_reduce(app: Trial) -> Any:
    fields = RunnableLambda(lambda document: {"page_content": document.page_content})
    each = (fields | written(app, "Summarise: {page_content}")).map()
    return {"summaries": retriever() | each | RunnableLambda("\n".join)} | written(
        app, "Combine: {summaries}"
    )


def two_answers(app: Trial) -> Any:
    both = RunnableParallel(
        long=PROMPT | app.model | StrOutputParser(), short=written(app, "Shortly: {first}")
    )
    one = RunnablePassthrough.assign(first=itemgetter("question") | retriever(1) | RunnableLambda(join))
    return given(retriever() | RunnableLambda(join)) | one | both


def with_fallback(app: Trial) -> Any:
    broken = openai.ChatOpenAI(model="x", base_url="http://127.0.0.1:9/v1", api_key="none", max_retries=0)
    return two_step(app, model=broken.with_fallbacks([app.model]))


def formatted(app: Trial, search: Any, text: Any = PROMPT) -> Any:
    return given(search) | text | app.model | StrOutputParser()


def first(number: int) -> Any:
    return retriever() | RunnableLambda(lambda documents: documents[:number])


def nothing(documents: list[Document]) -> str:
    return ""


def beginnings(documents: list[Document]) -> str:
    return "\n".join(document.page_content[:25] for document in documents)


def first_of_two(app: Trial) -> Any:
    # both reply; the clock would take the second
    both = RunnableParallel(first=two_step(app), second=two_step(app, retriever(4)))
    return both | itemgetter("first")


def found(question: str) -> list[Document]:
    return store().similarity_search(question, k=2)


SUMMARIES = {
    f"Summarise: {GREEN}": "Pans are used to dry the green one.",
    f"Summarise: {BLACK}": "The black one withers before all.",
    "Combine": "Tea varies.",
}
# What is built, and what the model is shown of it, None where nobody can know.
CHAINS: dict[str, tuple[Callable[[Trial], Any], Any]] = {
    "two step chain": (two_step, TEA),
    "a step after the retriever drops every document": (lambda app: two_step(app, first(0)), ()),
    "a step after the retriever drops one document": (lambda app: two_step(app, first(1)), (GREEN,)),
    "the formatting step drops every document": (lambda app: formatted(app, retriever() | nothing), ()),
    "the prompt takes the documents and does not show them": (
        lambda app: formatted(app, retriever(), ChatPromptTemplate.from_template("Answer: {question}")),
        (),
    ),
    "a retriever that finds nothing": (lambda app: two_step(app, Shelf()), ()),
    "a completion model": (completing, TEA),
    "the sources are returned beside the answer": (lambda app: with_sources(app, 2), TEA),
    "more sources are returned than were shown": (lambda app: with_sources(app, 1), (GREEN,)),
    "a title is written at the same time": (with_title, TEA),
    "two models answer and the handler is told which": (two_answers, (GREEN,)),
    "the documents are shortened by a model": (shortened, TEA),
    "map reduce over documents": (map_reduce, TEA),
    "each document is cut off": (
        lambda app: formatted(app, retriever() | beginnings),
        ("Green tea is dried in a", "Black tea is left to"),
    ),
    "the store is searched without a retriever": (lambda app: two_step(app, RunnableLambda(found)), TEA),
    # no hook sees what is found in there
    "the store is searched inside a step that gives text": (
        lambda app: formatted(app, RunnableLambda(lambda question: join(found(question)))),
        None,
    ),
    "a model that fails and the one that takes its place": (with_fallback, TEA),
    "the first of two chains is given out": (first_of_two, TEA),
}
REPLIES = {
    "a title is written at the same time": {"A title": "Tea"},
    "two models answer and the handler is told which": {"Shortly": "Dried, in short."},
    "the documents are shortened by a model": {"Shorten": "Green tea is pan-dried."},
    "map reduce over documents": SUMMARIES,
}
OPTIONS = {"two models answer and the handler is told which": {"answer_key": "short"}}


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain(start, name):
    make, contexts = CHAINS[name]
    app = start(REPLIES.get(name), **OPTIONS.get(name, {}))
    make(app).invoke(ABOUT_TEA, app.config)
    if contexts is None:
        app.expect_unknown()
    else:
        assert app.expect(*contexts).question == ABOUT_TEA


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


def test_two_models_answer_and_nothing_says_which(start):
    app = start({"Shortly": "Dried, in short."})
    short = ChatPromptTemplate.from_template("Shortly: {context}") | app.model | StrOutputParser()
    given = RunnableParallel(context=retriever() | RunnableLambda(join), question=RunnablePassthrough())
    both = RunnableParallel(long=PROMPT | app.model | StrOutputParser(), short=short)
    (given | both).invoke(ABOUT_TEA, app.config)
    assert app.handler.flush()
    assert app.handler.results == []
    assert app.handler.stats.skipped == {"several_answers": 1}


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
