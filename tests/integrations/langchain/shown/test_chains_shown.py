"""LCEL chains as tutorials build them: what the answering request held are the contexts."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import httpx
import pytest
from langchain_core.language_models import LLM
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough, chain
from pydantic import BaseModel

from tests.integrations.langchain.shown.trial import (
    ABOUT_TEA,
    COFFEE,
    GREEN,
    PROMPT,
    TEA,
    Trial,
    join,
    openai,
    retriever,
    store,
)


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


def two_answers(app: Trial) -> Any:
    both = RunnableParallel(
        long=PROMPT | app.model | StrOutputParser(), short=written(app, "Shortly: {first}")
    )
    one = RunnablePassthrough.assign(first=itemgetter("question") | retriever(1) | RunnableLambda(join))
    return given(retriever() | RunnableLambda(join)) | one | both


def with_fallback(app: Trial) -> Any:
    broken = openai.ChatOpenAI(model="x", base_url="http://127.0.0.1:9/v1", api_key="none", max_retries=0)
    return two_step(app, model=broken.with_fallbacks([app.model]))


def first_of_two(app: Trial) -> Any:
    # both reply; the clock would take the second
    both = RunnableParallel(first=two_step(app), second=two_step(app, retriever(4)))
    return both | itemgetter("first")


# What is built, and what the model is shown of it.
CHAINS: dict[str, tuple[Callable[[Trial], Any], Any]] = {
    "two step chain": (two_step, TEA),
    "a completion model": (completing, TEA),
    "two models answer and the handler is told which": (two_answers, (GREEN,)),
    "a model that fails and the one that takes its place": (with_fallback, TEA),
    "the first of two chains is given out": (first_of_two, TEA),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain(start, name):
    make, contexts = CHAINS[name]
    # only the chain with two answers writes a short one
    app = start({"Shortly": "Dried, in short."}, **({"answer_key": "short"} if make is two_answers else {}))
    make(app).invoke(ABOUT_TEA, app.config)
    assert app.expect(*contexts).question == ABOUT_TEA


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
