"""Retrieval, prompt, answer: the recorded contexts are what the request of the answer has of the corpus."""

from typing import Any

import pytest
from haystack import Document, Pipeline, SuperComponent, component
from haystack.components import generators
from haystack.components.builders import AnswerBuilder, PromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.joiners import DocumentJoiner
from haystack.components.rankers import LostInTheMiddleRanker, MetaFieldRanker
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
    First,
    Keep,
    answering,
    asked,
    asynchronous,
    captured,
    llm,
    pipeline_of,
    plain,
    prompt,
    retriever,
    store,
    synchronous,
)


@pytest.mark.parametrize(("kind", "run"), [(Pipeline, synchronous), (AsyncPipeline, asynchronous)])
def test_retriever_prompt_generator(kind: Any, run: Any):
    with BodyKeeper(answering) as model:
        sample = captured(plain(model, kind), asked(), run=run)

    assert_shown(sample, model, CORPUS)
    assert (sample.question, sample.answer, len(sample.contexts or ())) == (QUESTION, ANSWER, 2)


def test_retriever_prompt_generator_answer_builder():
    with BodyKeeper(answering) as model:
        pipeline = plain(model, answers=AnswerBuilder())
        pipeline.connect("llm.replies", "answers.replies")
        pipeline.connect("retriever.documents", "answers.documents")
        sample = captured(pipeline, asked() | {"answers": {"query": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert len(sample.contexts or ()) == 2


def test_an_answer_builder_that_keeps_only_what_the_answer_refers_to():
    # all that the model saw are the contexts, also what it does not refer to
    with BodyKeeper(lambda text: "Paris [1].") as model:
        pipeline = plain(model, answers=AnswerBuilder(reference_pattern=r"\[(\d+)\]"))
        pipeline.connect("llm.replies", "answers.replies")
        pipeline.connect("retriever.documents", "answers.documents")
        sample = captured(pipeline, asked() | {"answers": {"query": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert len(sample.contexts or ()) == 2


def test_an_answer_builder_whose_pattern_takes_a_part_of_the_reply():
    with BodyKeeper(lambda text: "Let me think. Answer: Paris.") as model:
        pipeline = plain(model, answers=AnswerBuilder(pattern="Answer: (.*)"))
        pipeline.connect("llm.replies", "answers.replies")
        sample = captured(pipeline, asked() | {"answers": {"query": QUESTION}})

    assert (sample.answer, len(sample.contexts or ())) == ("Paris.", 2)


def test_a_prompt_of_plain_text():
    # Haystack 3 gives the text to a chat generator; before, it had generators of texts
    old = getattr(generators, "OpenAIGenerator", None)
    with BodyKeeper(answering) as model:
        pipeline = pipeline_of(
            "retriever.documents -> prompt.documents",
            f"prompt.prompt -> llm.{'prompt' if old else 'messages'}",
            "llm.replies -> answers.replies",
            retriever=retriever(),
            prompt=PromptBuilder(WITH_DOCUMENTS, required_variables="*"),
            llm=llm(model, old or OpenAIChatGenerator),
            answers=AnswerBuilder(),
        )
        sample = captured(pipeline, asked() | {"answers": {"query": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert len(sample.contexts or ()) == 2


def test_a_ranker_that_keeps_fewer():
    with BodyKeeper(answering) as model:
        pipeline = pipeline_of(
            "retriever.documents -> ranker.documents",
            "ranker.documents -> prompt.documents",
            "prompt.prompt -> llm.messages",
            retriever=retriever(4),
            ranker=MetaFieldRanker(meta_field="place", top_k=1, sort_order="ascending"),
            prompt=prompt(),
            llm=llm(model),
        )
        sample = captured(pipeline, asked())

    assert_shown(sample, model, CORPUS)
    assert sample.contexts == (CORPUS[0],)


def test_a_ranker_that_reorders():
    with BodyKeeper(answering) as model:
        pipeline = pipeline_of(
            "retriever.documents -> ranker.documents",
            "ranker.documents -> prompt.documents",
            "prompt.prompt -> llm.messages",
            retriever=retriever(4),
            ranker=LostInTheMiddleRanker(),
            prompt=prompt(),
            llm=llm(model),
        )
        sample = captured(pipeline, asked())

    assert_shown(sample, model, CORPUS)
    shown = model.answering(ANSWER).text
    places = [shown.index(each) for each in sample.contexts or ()]
    assert (len(places), places) == (4, sorted(places))


def test_two_retrievers_and_a_joiner():
    with BodyKeeper(answering) as model:
        pipeline = pipeline_of(
            "first.documents -> joiner.documents",
            "second.documents -> joiner.documents",
            "joiner.documents -> prompt.documents",
            "prompt.prompt -> llm.messages",
            first=retriever(1),
            second=retriever(2, CORPUS[3:]),
            joiner=DocumentJoiner("reciprocal_rank_fusion"),
            prompt=prompt(),
            llm=llm(model),
        )
        data = {name: {"query": QUESTION} for name in ("first", "second")}
        sample = captured(pipeline, data | {"prompt": {"question": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert len(sample.contexts or ()) == 3


def test_two_retrievers_without_a_joiner():
    template = "{% for doc in laws + news %}{{ doc.content }}\n{% endfor %}Question: {{ question }}"
    with BodyKeeper(answering) as model:
        pipeline = pipeline_of(
            "first.documents -> prompt.laws",
            "second.documents -> prompt.news",
            "prompt.prompt -> llm.messages",
            first=retriever(1),
            second=retriever(2, CORPUS[3:]),
            prompt=prompt(template),
            llm=llm(model),
        )
        data = {name: {"query": QUESTION} for name in ("first", "second")}
        sample = captured(pipeline, data | {"prompt": {"question": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert len(sample.contexts or ()) == 3


def test_a_retriever_that_finds_nothing():
    nothing = {"field": "meta.place", "operator": "==", "value": 99}
    with BodyKeeper(answering) as model:
        sample = captured(plain(model, retriever=retriever(filters=nothing)), asked())

    assert_shown(sample, model, CORPUS)
    assert sample.contexts == ()


def test_a_filter_that_drops_every_document():
    with BodyKeeper(answering) as model:
        pipeline = pipeline_of(
            "retriever.documents -> keep.documents",
            "keep.documents -> prompt.documents",
            "prompt.prompt -> llm.messages",
            retriever=retriever(),
            keep=Keep("Atlantis"),
            prompt=prompt(),
            llm=llm(model),
        )
        sample = captured(pipeline, asked())

    assert_shown(sample, model, CORPUS)
    assert sample.contexts == ()


def test_a_prompt_that_shows_one_of_the_documents():
    with BodyKeeper(answering) as model:
        sample = captured(
            plain(model, retriever=retriever(3), prompt=prompt("{{ documents[0].content }} {{ question }}")), asked()
        )

    assert_shown(sample, model, CORPUS)
    assert len(sample.contexts or ()) == 1


def test_a_prompt_that_shows_the_beginning_of_each_document():
    # the chunk does not stand in the request as a whole: what is recorded is not more than what stands there
    long = tuple(f"{each} {'More of the same follows here, at some length. ' * 5}" for each in CORPUS[:2])
    template = "{% for doc in documents %}{{ doc.content[:120] }}\n{% endfor %}Question: {{ question }}"
    with BodyKeeper(answering) as model:
        sample = captured(plain(model, retriever=retriever(2, long), prompt=prompt(template)), asked())

    shown = model.answering(ANSWER).text
    assert sample.contexts is None or all(each in shown for each in sample.contexts)


def test_a_prompt_that_takes_documents_and_shows_none():
    # nobody can know what became of them: rewritten, or not shown
    with BodyKeeper(answering) as model:
        template = "There are {{ documents | length }} documents. Question: {{ question }}"
        sample = captured(plain(model, prompt=prompt(template)), asked())

    assert sample.contexts is None


def test_a_prompt_that_no_document_reaches():
    # the documents go into the answer, beside what the model wrote without them
    with BodyKeeper(answering) as model:
        pipeline = pipeline_of(
            "prompt.prompt -> llm.messages",
            "llm.replies -> answers.replies",
            "retriever.documents -> answers.documents",
            retriever=retriever(),
            prompt=prompt(WITHOUT),
            llm=llm(model),
            answers=AnswerBuilder(),
        )
        sample = captured(pipeline, asked() | {"answers": {"query": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert sample.contexts == ()


def test_windows_of_sentences_around_what_was_retrieved():
    # the prompt shows texts that no document of the retriever has
    kept = InMemoryDocumentStore()
    meta = [{"source_id": "page", "split_id": n} for n in range(len(CORPUS))]
    kept.write_documents([Document(content=text, meta=each) for text, each in zip(CORPUS, meta, strict=True)])
    pages = InMemoryDocumentStore()
    pages.write_documents([Document(content=CORPUS[1], meta=meta[1])])
    template = "{% for each in windows %}{{ each }}\n{% endfor %}Question: {{ question }}"
    with BodyKeeper(answering) as model:
        pipeline = pipeline_of(
            "retriever.documents -> windows.retrieved_documents",
            "windows.context_windows -> prompt.windows",
            "prompt.prompt -> llm.messages",
            retriever=type(retriever())(pages),
            windows=SentenceWindowRetriever(kept, window_size=1),
            prompt=prompt(template),
            llm=llm(model),
        )
        sample = captured(pipeline, asked("What is the capital of Germany?"))

    assert_shown(sample, model, ())
    assert " ".join(sample.contexts or ()).count("capital") == 3


def test_a_summary_of_the_documents_by_a_model():
    summary = "A summary: three capitals were named."
    with BodyKeeper(lambda text: summary if "Sum up" in text else ANSWER) as model:
        pipeline = pipeline_of(
            "retriever.documents -> compress.documents",
            "compress.prompt -> shorten.messages",
            "shorten.replies -> first.replies",
            "first.text -> prompt.summary",
            "prompt.prompt -> llm.messages",
            "llm.replies -> answers.replies",
            retriever=retriever(),
            compress=prompt("Sum up: {% for doc in documents %}{{ doc.content }} {% endfor %}"),
            shorten=llm(model),
            first=First(),
            prompt=prompt("{{ summary }} Question: {{ question }}"),
            llm=llm(model),
            answers=AnswerBuilder(),
        )
        data = {"retriever": {"query": QUESTION}, "answers": {"query": QUESTION}}
        sample = captured(pipeline, data | {"prompt": {"question": QUESTION}})

    assert (sample.answer, sample.contexts) == (ANSWER, (summary,))


@pytest.mark.parametrize("levels", [1, 2])
def test_a_super_component(levels: int):
    with BodyKeeper(answering) as model:
        pipeline = plain(model)
        mapping = {"query": ["retriever.query", "prompt.question"]}
        output = {"llm.replies": "replies"}
        for _ in range(levels):
            inner = SuperComponent(pipeline, input_mapping=mapping, output_mapping=output)
            pipeline = pipeline_of(rag=inner)
            mapping, output = {"query": ["rag.query"]}, {"rag.replies": "replies"}
        sample = captured(pipeline, {"rag": {"query": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert (sample.question, sample.answer, len(sample.contexts or ())) == (QUESTION, ANSWER, 2)


def test_retrieval_in_a_super_component():
    with BodyKeeper(answering) as model:
        search = pipeline_of(
            "retriever.documents -> ranker.documents",
            retriever=retriever(4),
            ranker=MetaFieldRanker(meta_field="place", top_k=2, sort_order="ascending"),
        )
        wrapped = SuperComponent(
            search, input_mapping={"query": ["retriever.query"]}, output_mapping={"ranker.documents": "documents"}
        )
        sample = captured(plain(model, retriever=wrapped), asked())

    assert_shown(sample, model, CORPUS)
    assert sample.contexts == CORPUS[:2]


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


def test_a_conversation():
    history = [ChatMessage.from_system("Be brief."), ChatMessage.from_user("Hello."), ChatMessage.from_assistant("Hi.")]
    with BodyKeeper(answering) as model:
        pipeline = plain(model)
        messages = [*history, ChatMessage.from_user(WITH_DOCUMENTS)]
        sample = captured(
            pipeline,
            {"retriever": {"query": QUESTION}, "prompt": {"template": messages, "question": QUESTION}},
        )

    assert_shown(sample, model, CORPUS)
    assert sample.question == QUESTION


def test_documents_that_the_caller_brings():
    documents = [Document(content=each) for each in CORPUS[:2]]
    with BodyKeeper(answering) as model:
        pipeline = pipeline_of("prompt.prompt -> llm.messages", prompt=prompt(), llm=llm(model))
        sample = captured(pipeline, {"prompt": {"documents": documents, "question": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert sample.contexts == CORPUS[:2]


def test_a_store_that_is_asked_in_a_component_of_ones_own():
    documents = store()

    @component
    class Search:
        @component.output_types(passages=list[str])
        def run(self, query: str) -> dict[str, Any]:
            return {"passages": [each.content for each in documents.filter_documents()[:2]]}

    template = "{% for each in passages %}{{ each }}\n{% endfor %}Question: {{ question }}"
    with BodyKeeper(answering) as model:
        pipeline = pipeline_of(
            "retriever.passages -> prompt.passages",
            "prompt.prompt -> llm.messages",
            retriever=Search(),
            prompt=prompt(template),
            llm=llm(model),
        )
        sample = captured(pipeline, asked())

    assert_shown(sample, model, CORPUS)
    assert len(sample.contexts or ()) == 2
