"""Retrieval, prompt, answer: the recorded contexts are what the request of the answer has of the corpus."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest
from haystack import Document, Pipeline, SuperComponent, component
from haystack.components import generators
from haystack.components.builders import AnswerBuilder, PromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.joiners import DocumentJoiner
from haystack.components.rankers import MetaFieldRanker
from haystack.components.retrievers import SentenceWindowRetriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

from tests.integrations.body_keeping import BodyKeeper, assert_shown
from tests.integrations.haystack.generators import AsyncPipeline
from tests.integrations.haystack.shown.applications import (
    ANSWER,
    CORPUS,
    QUESTION,
    WITH_DOCUMENTS,
    WITHOUT,
    answering,
    asked,
    asynchronous,
    captured,
    llm,
    pipeline_of,
    plain,
    prompt,
    rag,
    retriever,
    store,
    synchronous,
)


class App(NamedTuple):
    """An application, what it is asked, and the contexts to be recorded: how many, or which.

    Attributes:
        unaccounted: the texts of the request that nothing accounts for.
    """

    build: Callable[[BodyKeeper], Any]
    contexts: int | tuple[str, ...] | None
    data: dict[str, Any] = asked()
    reply: Callable[[str], str] = answering
    answer: str = ANSWER
    corpus: tuple[str, ...] = CORPUS
    unaccounted: tuple[str, ...] = ()


def assert_recorded(app: App, **options: Any) -> None:
    with BodyKeeper(app.reply) as model:
        sample = captured(app.build(model), app.data, **options)

    if app.answer in [each.reply for each in model.exchanges]:
        assert_shown(sample, model, app.corpus)
    stage = sample.shown_stage
    assert stage is None or tuple(piece.text for piece in stage.unaccounted or ()) == app.unaccounted
    assert (sample.question, sample.answer) == (QUESTION, app.answer)
    assert (len(sample.contexts or ()) if isinstance(app.contexts, int) else sample.contexts) == app.contexts


def answered(model: BodyKeeper, *edges: str, **options: Any) -> Any:
    """With an answer builder."""
    return plain(model, "llm.replies -> answers.replies", *edges, answers=AnswerBuilder(**options))


def plain_text(model: BodyKeeper) -> Any:
    # Haystack 3 gives the text to a chat generator; before, it had generators of texts
    old = getattr(generators, "OpenAIGenerator", None)
    return pipeline_of(
        "retriever.documents -> prompt.documents",
        f"prompt.prompt -> llm.{'prompt' if old else 'messages'}",
        "llm.replies -> answers.replies",
        retriever=retriever(),
        prompt=PromptBuilder(WITH_DOCUMENTS, required_variables="*"),
        llm=llm(model, old or OpenAIChatGenerator),
        answers=AnswerBuilder(),
    )


def then(model: BodyKeeper, step: Any, top_k: int = 4) -> Any:
    """With a step between retriever and prompt."""
    edges = ("retriever.documents -> step.documents", "step.documents -> prompt.documents")
    return rag(model, *edges, retriever=retriever(top_k), step=step)


def search_in_one(model: BodyKeeper) -> Any:
    search = pipeline_of(
        "retriever.documents -> ranker.documents",
        retriever=retriever(4),
        ranker=MetaFieldRanker(meta_field="place", top_k=2, sort_order="ascending"),
    )
    outputs = {"ranker.documents": "documents"}
    wrapped = SuperComponent(search, input_mapping={"query": ["retriever.query"]}, output_mapping=outputs)
    return plain(model, retriever=wrapped)


@component
class Search:
    """A component of one's own that asks a store."""

    @component.output_types(passages=list[str])
    def run(self, query: str) -> dict[str, Any]:
        return {"passages": [each.content for each in store().filter_documents()[:2]]}


@component
class Web:
    """A search of the web that returns what it found in a form of its own."""

    def __init__(self, form: str) -> None:
        found = {"text": PAGES[0], "texts": list(PAGES), "hits": [{"title": "A page", "text": page} for page in PAGES]}
        self.found = found[form]
        component.set_output_types(self, found=TYPES[form])

    def run(self, query: str) -> dict[str, Any]:
        return {"found": self.found}


PAGES = (
    "A page on the web says that Paris has been the seat of government since the war",
    "Another page tells of plans to move the ministries into the suburbs in ten years",
)
TYPES: dict[str, Any] = {"text": str, "texts": list[str], "hits": list[dict[str, str]]}
PRINTED = {
    "text": "{{ found }}",
    "texts": "{% for page in found %}{{ page }}\n{% endfor %}",
    "hits": "{% for hit in found %}{{ hit.text }}\n{% endfor %}",
}


def browsing(form: str, model: BodyKeeper, **others: Any) -> Any:
    template = WITH_DOCUMENTS.replace("Question", f"{PRINTED[form]}\nQuestion")
    return plain(model, "web.found -> prompt.found", web=Web(form), prompt=prompt(template), **others)


LONG = tuple(
    f"{each} It has many bridges, and people like to walk there at night. No car may enter." for each in CORPUS
)
"""Documents of three sentences."""


def printed(form: str, model: BodyKeeper) -> Any:
    """With a template that prints a document in this form."""
    template = (
        f"Answer from these notes.\n{{% for doc in documents %}}{form}\n{{% endfor %}}Question: {{{{ question }}}}"
    )
    return plain(model, retriever=retriever(2, LONG), prompt=prompt(template))


TO_ANSWER = "retriever.documents -> answers.documents"
BROWSED = asked() | {"web": {"query": QUESTION}}
WITH_ANSWERS = asked() | {"answers": {"query": QUESTION}}
TWICE = {name: {"query": QUESTION} for name in ("first", "second")} | {"prompt": {"question": QUESTION}}
OF_PASSAGES = "{% for each in passages %}{{ each }}\n{% endfor %}Question: {{ question }}"

APPLICATIONS = {
    "retriever prompt generator answer builder": App(lambda model: answered(model, TO_ANSWER), 2, WITH_ANSWERS),
    # all that the model saw are the contexts, also what it does not refer to
    "an answer builder that keeps only what the answer refers to": App(
        lambda model: answered(model, TO_ANSWER, reference_pattern=r"\[(\d+)\]"),
        2,
        WITH_ANSWERS,
        lambda text: "Paris [1].",
        "Paris [1].",
    ),
    "an answer builder whose pattern takes a part of the reply": App(
        lambda model: answered(model, pattern="Answer: (.*)"),
        2,
        WITH_ANSWERS,
        lambda text: "Let me think. Answer: Paris.",
        "Paris.",
    ),
    "a prompt of plain text": App(plain_text, 2, WITH_ANSWERS),
    "two retrievers and a joiner": App(
        lambda model: rag(
            model,
            "first.documents -> joiner.documents",
            "second.documents -> joiner.documents",
            "joiner.documents -> prompt.documents",
            first=retriever(1),
            second=retriever(2, CORPUS[3:]),
            joiner=DocumentJoiner(join_mode="reciprocal_rank_fusion"),
        ),
        3,
        TWICE,
    ),
    "two retrievers without a joiner": App(
        lambda model: rag(
            model,
            "first.documents -> prompt.laws",
            "second.documents -> prompt.news",
            first=retriever(1),
            second=retriever(2, CORPUS[3:]),
            prompt=prompt("{% for doc in laws + news %}{{ doc.content }}\n{% endfor %}Question: {{ question }}"),
        ),
        3,
        TWICE,
    ),
    # the documents go into the answer, beside what the model wrote without them
    "a prompt that no document reaches": App(
        lambda model: rag(
            model,
            "llm.replies -> answers.replies",
            TO_ANSWER,
            retriever=retriever(),
            prompt=prompt(WITHOUT),
            answers=AnswerBuilder(),
        ),
        (),
        WITH_ANSWERS,
    ),
    "a web search that returns a text beside a retriever": App(
        partial(browsing, "text"), 2, BROWSED, unaccounted=PAGES[:1]
    ),
    "a web search that returns a list of texts beside a retriever": App(
        partial(browsing, "texts"), 4, BROWSED, corpus=(*CORPUS, *PAGES)
    ),
    "retrieval in a super component": App(search_in_one, CORPUS[:2]),
    "documents that the caller brings": App(
        rag,
        CORPUS[:2],
        {"prompt": {"documents": [Document(content=each) for each in CORPUS[:2]], "question": QUESTION}},
    ),
    "a store that is asked in a component of ones own": App(
        lambda model: rag(
            model, "retriever.passages -> prompt.passages", retriever=Search(), prompt=prompt(OF_PASSAGES)
        ),
        2,
    ),
}


@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_application_is_recorded_as_its_model_saw_it(name: str):
    assert_recorded(APPLICATIONS[name])


def test_a_component_that_answers_with_other_words_than_the_model():
    @component
    class Other:
        @component.output_types(replies=list[str])
        def run(self, replies: list[ChatMessage]) -> dict[str, Any]:
            return {"replies": ["Rome was founded by twins, as the old stories have it."]}

    with BodyKeeper(answering) as model:
        edges = ("llm.replies -> other.replies", "other.replies -> answers.replies")
        sample = captured(plain(model, *edges, other=Other(), answers=AnswerBuilder()), WITH_ANSWERS)

    # the edges say who answers, and the words contradict
    assert sample.contexts
    assert str(sample.labels["found_answer"]).endswith("by llm; 0 of 11 words of the answer are in the reply")


@pytest.mark.parametrize(("kind", "run"), [(Pipeline, synchronous), (AsyncPipeline, asynchronous)])
def test_retriever_prompt_generator(kind: Any, run: Any):
    assert_recorded(App(lambda model: plain(model, kind=kind), 2), run=run)


@pytest.mark.parametrize("levels", [1, 2])
def test_a_super_component(levels: int):
    def wrapped(model: BodyKeeper) -> Any:
        pipeline = plain(model)
        mapping = {"query": ["retriever.query", "prompt.question"]}
        output = {"llm.replies": "replies"}
        for _ in range(levels):
            inner = SuperComponent(pipeline, input_mapping=mapping, output_mapping=output)
            pipeline = pipeline_of(rag=inner)
            mapping, output = {"query": ["rag.query"]}, {"rag.replies": "replies"}
        return pipeline

    assert_recorded(App(wrapped, 2, {"rag": {"query": QUESTION}}))


def test_windows_of_sentences_around_what_was_retrieved():
    # the prompt shows texts that no document of the retriever has
    kept, pages = InMemoryDocumentStore(), InMemoryDocumentStore()
    meta = [{"source_id": "page", "split_id": n} for n in range(len(CORPUS))]
    kept.write_documents([Document(content=text, meta=each) for text, each in zip(CORPUS, meta, strict=True)])
    pages.write_documents([Document(content=CORPUS[1], meta=meta[1])])
    with BodyKeeper(answering) as model:
        pipeline = rag(
            model,
            "retriever.documents -> windows.retrieved_documents",
            "windows.context_windows -> prompt.passages",
            retriever=type(retriever())(pages),
            windows=SentenceWindowRetriever(kept, window_size=1),
            prompt=prompt(OF_PASSAGES),
        )
        sample = captured(pipeline, asked("What is the capital of Germany?"))

    assert_shown(sample, model, ())
    assert " ".join(sample.contexts or ()).count("capital") == 3


def test_a_generator_of_ones_own_that_takes_the_documents():
    @component
    class Own:
        @component.output_types(replies=list[str])
        def run(self, documents: list[Document], query: str) -> dict[str, Any]:
            return {"replies": [f"{len(documents)} documents about {query}"]}

    pipeline = pipeline_of("retriever.documents -> own.documents", retriever=retriever(), own=Own())
    sample = captured(pipeline, {"retriever": {"query": QUESTION}, "own": {"query": QUESTION}})

    # what it did with them, nobody sees
    assert len(sample.contexts or ()) == 2
    assert sample.answer == f"2 documents about {QUESTION}"
