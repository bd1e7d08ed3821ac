"""Pipelines in which several models reply: the contexts are those of the request whose reply is the answer."""

import asyncio
import json
import logging
from typing import Any

import pytest
from haystack import Document, component
from haystack.components.builders import AnswerBuilder
from haystack.components.joiners import BranchJoiner
from haystack.components.routers import ConditionalRouter
from haystack.dataclasses import ChatMessage

from tests.integrations.body_keeping import BodyKeeper, assert_shown
from tests.integrations.haystack.generators import AsyncPipeline
from tests.integrations.haystack.shown.applications import (
    ANSWER,
    CORPUS,
    QUESTION,
    WITHOUT,
    First,
    answering,
    asked,
    asynchronous,
    captured,
    connected,
    llm,
    pipeline_of,
    plain,
    prompt,
    retriever,
    samples,
    skipped,
)

TITLE = "A title: capitals."
FOLLOW_UP = "And what is the capital of Spain?"


def route(name: str, condition: str, output: str, kind: Any = str) -> dict[str, Any]:
    return {"condition": condition, "output": output, "output_name": name, "output_type": kind}


def with_fallback(model: BodyKeeper) -> Any:
    """The pipeline of Haystack's tutorial on fallbacks: where the documents do not help, a model without them."""
    routes = [
        route("ask_again", "{{ 'no_answer' in replies[0].text }}", "{{ query }}"),
        route("answer", "{{ 'no_answer' not in replies[0].text }}", "{{ replies[0].text }}"),
    ]
    return pipeline_of(
        "retriever.documents -> prompt.documents",
        "prompt.prompt -> llm.messages",
        "llm.replies -> router.replies",
        "router.ask_again -> second_prompt.question",
        "second_prompt.prompt -> second_llm.messages",
        retriever=retriever(),
        prompt=prompt(),
        llm=llm(model),
        router=ConditionalRouter(routes, unsafe=True),
        second_prompt=prompt(WITHOUT),
        second_llm=llm(model),
    )


def test_the_fallback_without_documents_was_shown_none():
    with BodyKeeper(lambda text: ANSWER if "from what you know" in text else "no_answer") as model:
        sample = captured(with_fallback(model), asked() | {"router": {"query": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert (sample.question, sample.answer, sample.contexts) == (QUESTION, ANSWER, ())


def test_where_the_fallback_is_not_needed_the_first_model_answered():
    with BodyKeeper(answering) as model:
        sample = captured(with_fallback(model), asked() | {"router": {"query": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert (sample.answer, len(sample.contexts or ())) == (ANSWER, 2)


def test_the_fallback_searches_elsewhere():
    elsewhere = ("France has had Paris as its capital since 987.",)
    routes = [
        route("search", "{{ 'no_answer' in replies[0].text }}", "{{ query }}"),
        route("answer", "{{ 'no_answer' not in replies[0].text }}", "{{ replies[0].text }}"),
    ]
    with BodyKeeper(lambda text: ANSWER if "987" in text else "no_answer") as model:
        pipeline = pipeline_of(
            "retriever.documents -> prompt.documents",
            "prompt.prompt -> llm.messages",
            "llm.replies -> router.replies",
            "router.search -> web.query",
            "router.search -> second_prompt.question",
            "web.documents -> second_prompt.documents",
            "second_prompt.prompt -> second_llm.messages",
            retriever=retriever(),
            prompt=prompt(),
            llm=llm(model),
            router=ConditionalRouter(routes, unsafe=True),
            web=retriever(2, elsewhere),
            second_prompt=prompt(),
            second_llm=llm(model),
        )
        sample = captured(pipeline, asked() | {"router": {"query": QUESTION}})

    assert_shown(sample, model, (*CORPUS, *elsewhere))
    assert sample.contexts == elsewhere


def beside(model: BodyKeeper, *, with_answers: bool) -> Any:
    """An answer and a title for the page, by two models at once."""
    pipeline = plain(model, AsyncPipeline, title_prompt=prompt("Find a title for: {{ question }}"), title=llm(model))
    pipeline.connect("title_prompt.prompt", "title.messages")
    if with_answers:
        pipeline.add_component("answers", AnswerBuilder())
        pipeline.connect("llm.replies", "answers.replies")
    return pipeline


def two_replies(text: str) -> str:
    return TITLE if "title" in text else FOLLOW_UP if "Suggest" in text else ANSWER


BESIDE = asked() | {"title_prompt": {"question": QUESTION}}


def test_of_two_models_side_by_side_the_answer_builders_is_the_answer():
    with BodyKeeper(two_replies) as model:
        sample = captured(beside(model, with_answers=True), BESIDE | {"answers": {"query": QUESTION}}, run=asynchronous)

    assert_shown(sample, model, CORPUS)
    assert (sample.answer, len(sample.contexts or ())) == (ANSWER, 2)


@pytest.mark.parametrize(("place", "answer", "contexts"), [("llm", ANSWER, 2), ("title", TITLE, 0)])
def test_of_two_models_side_by_side_the_application_says_which_answers(place: str, answer: str, contexts: int):
    with BodyKeeper(two_replies) as model:
        sample = captured(beside(model, with_answers=False), BESIDE, run=asynchronous, answer_from=place)

    assert_shown(sample, model, CORPUS)
    assert (sample.answer, len(sample.contexts or ())) == (answer, contexts)


async def three_times(pipeline: Any) -> None:
    for _ in range(3):
        await pipeline.run_async(BESIDE)


def test_where_nothing_says_which_of_two_models_answers_it_is_said_once(caplog: pytest.LogCaptureFixture):
    with BodyKeeper(two_replies) as model, caplog.at_level(logging.WARNING):
        pipeline = beside(model, with_answers=False)
        connector = connected(pipeline)
        asyncio.run(three_times(pipeline))
        assert samples(connector) == []

    assert connector.stats.skipped == {"several_answers": 3}
    (told,) = (each.getMessage() for each in caplog.records if "llm" in each.getMessage())
    assert "title" in told
    assert "answer_from='llm'" in told


def with_follow_up(model: BodyKeeper, *, with_answers: bool) -> Any:
    pipeline = plain(model, more=prompt("Suggest a question after: {{ answers[0].text }}"), asker=llm(model))
    pipeline.connect("llm.replies", "more.answers")
    pipeline.connect("more.prompt", "asker.messages")
    if with_answers:
        pipeline.add_component("answers", AnswerBuilder())
        pipeline.connect("llm.replies", "answers.replies")
    return pipeline


def test_a_model_after_the_answer_does_not_answer():
    with BodyKeeper(two_replies) as model:
        sample = captured(with_follow_up(model, with_answers=True), asked() | {"answers": {"query": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert (sample.answer, len(sample.contexts or ())) == (ANSWER, 2)


def test_a_model_after_the_answer_without_an_answer_builder_is_asked_about():
    with BodyKeeper(two_replies) as model:
        assert skipped(with_follow_up(model, with_answers=False), asked()) == {"several_answers": 1}


def test_a_question_that_a_model_rewrote():
    with BodyKeeper(lambda text: "capital of Germany" if "Rewrite" in text else ANSWER) as model:
        pipeline = pipeline_of(
            "rewrite.prompt -> rewriter.messages",
            "rewriter.replies -> first.replies",
            "first.text -> retriever.query",
            "retriever.documents -> prompt.documents",
            "prompt.prompt -> llm.messages",
            rewrite=prompt("Rewrite for a search: {{ question }}"),
            rewriter=llm(model),
            first=First(),
            retriever=retriever(),
            prompt=prompt(),
            llm=llm(model),
        )
        sample = captured(pipeline, {"rewrite": {"question": QUESTION}, "prompt": {"question": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert (sample.question, sample.answer, len(sample.contexts or ())) == (QUESTION, ANSWER, 2)


def test_several_questions_of_a_model():
    @component
    class Questions:
        @component.output_types(queries=list[str])
        def run(self, replies: list[ChatMessage]) -> dict[str, Any]:
            return {"queries": json.loads(replies[0].text or "")}

    @component
    class ForEach:
        def __init__(self) -> None:
            self.retriever = retriever(1)

        @component.output_types(documents=list[Document])
        def run(self, queries: list[str]) -> dict[str, Any]:
            found = [each for query in queries for each in self.retriever.run(query=query)["documents"]]
            return {"documents": list({each.id: each for each in found}.values())}

    questions = json.dumps(["capital of France", "capital of Germany"])
    with BodyKeeper(lambda text: questions if "Expand" in text else ANSWER) as model:
        pipeline = pipeline_of(
            "expand.prompt -> expander.messages",
            "expander.replies -> questions.replies",
            "questions.queries -> retriever.queries",
            "retriever.documents -> prompt.documents",
            "prompt.prompt -> llm.messages",
            expand=prompt("Expand: {{ question }}"),
            expander=llm(model),
            questions=Questions(),
            retriever=ForEach(),
            prompt=prompt(),
            llm=llm(model),
        )
        sample = captured(pipeline, {"expand": {"question": QUESTION}, "prompt": {"question": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert (sample.question, len(sample.contexts or ())) == (QUESTION, 2)


def test_two_hops_whose_documents_both_reach_the_answer():
    template = "{% for doc in before + after %}{{ doc.content }}\n{% endfor %}Question: {{ question }}"
    with BodyKeeper(lambda text: "capital of Germany" if "Next" in text else ANSWER) as model:
        pipeline = pipeline_of(
            "one.documents -> next.documents",
            "next.prompt -> hop.messages",
            "hop.replies -> first.replies",
            "first.text -> two.query",
            "one.documents -> prompt.before",
            "two.documents -> prompt.after",
            "prompt.prompt -> llm.messages",
            one=retriever(1),
            next=prompt("Next: {% for doc in documents %}{{ doc.content }} {% endfor %}{{ question }}"),
            hop=llm(model),
            first=First(),
            two=retriever(1, CORPUS[1:3]),
            prompt=prompt(template),
            llm=llm(model),
        )
        data = {name: {"question": QUESTION} for name in ("next", "prompt")}
        sample = captured(pipeline, data | {"one": {"query": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert sample.contexts == CORPUS[:2]


def test_two_hops_of_which_the_last_reaches_the_answer():
    with BodyKeeper(lambda text: "capital of Germany" if "Next" in text else ANSWER) as model:
        pipeline = pipeline_of(
            "one.documents -> next.documents",
            "next.prompt -> hop.messages",
            "hop.replies -> first.replies",
            "first.text -> two.query",
            "two.documents -> prompt.documents",
            "prompt.prompt -> llm.messages",
            one=retriever(1),
            next=prompt("Next: {% for doc in documents %}{{ doc.content }} {% endfor %}{{ question }}"),
            hop=llm(model),
            first=First(),
            two=retriever(1, CORPUS[1:3]),
            prompt=prompt(),
            llm=llm(model),
        )
        data = {name: {"question": QUESTION} for name in ("next", "prompt")}
        sample = captured(pipeline, data | {"one": {"query": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert sample.contexts == (CORPUS[1],)


@component
class Checked:
    """Sends a reply back until it is right, as the tutorial on self-correcting loops does."""

    @component.output_types(right=str, wrong=str)
    def run(self, replies: list[ChatMessage]) -> dict[str, Any]:
        text = replies[0].text or ""
        return {"right": text} if text.startswith("Paris") else {"wrong": text}


def test_a_loop_that_has_the_reply_corrected():
    template = (
        "{% for doc in documents %}{{ doc.content }}\n{% endfor %}Question: {{ question }}"
        "{% if wrong %} This was wrong: {{ wrong }}{% endif %}"
    )
    with BodyKeeper(lambda text: ANSWER if "was wrong" in text else "Lyon.") as model:
        builder = type(prompt())(template=[ChatMessage.from_user(template)], required_variables=["question"])
        pipeline = pipeline_of(
            "retriever.documents -> prompt.documents",
            "prompt.prompt -> llm.messages",
            "llm.replies -> check.replies",
            "check.wrong -> prompt.wrong",
            retriever=retriever(),
            prompt=builder,
            llm=llm(model),
            check=Checked(),
        )
        sample = captured(pipeline, asked())

    assert_shown(sample, model, CORPUS)
    assert sample.answer == ANSWER


def test_a_loop_that_searches_again():
    routes = [
        route("again", "{{ 'more' in replies[0].text }}", "capital of Germany"),
        route("answer", "{{ 'more' not in replies[0].text }}", "{{ replies[0].text }}"),
    ]
    with BodyKeeper(lambda text: ANSWER if CORPUS[1] in text else "I need more.") as model:
        pipeline = pipeline_of(
            "start -> retriever.query",
            "retriever.documents -> prompt.documents",
            "prompt.prompt -> llm.messages",
            "llm.replies -> router.replies",
            "router.again -> start",
            start=BranchJoiner(str),
            retriever=retriever(1),
            prompt=prompt(),
            llm=llm(model),
            router=ConditionalRouter(routes),
        )
        sample = captured(pipeline, {"start": {"value": QUESTION}, "prompt": {"question": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert (sample.question, sample.answer, sample.contexts) == (QUESTION, ANSWER, (CORPUS[1],))


def test_one_of_two_branches_answers():
    routes = [
        route("known", "{{ 'capital' in query }}", "{{ query }}"),
        route("other", "{{ 'capital' not in query }}", "{{ query }}"),
    ]
    with BodyKeeper(answering) as model:
        pipeline = pipeline_of(
            "router.known -> retriever.query",
            "router.known -> prompt.question",
            "retriever.documents -> prompt.documents",
            "prompt.prompt -> llm.messages",
            "router.other -> chat.question",
            "chat.prompt -> chatting.messages",
            router=ConditionalRouter(routes),
            retriever=retriever(),
            prompt=prompt(),
            llm=llm(model),
            chat=prompt(WITHOUT),
            chatting=llm(model),
        )
        connector = connected(pipeline)
        for question in (QUESTION, "How are you?"):
            pipeline.run({"router": {"query": question}})
        found = {each.question: each for each in samples(connector)}

    # of the two requests each has its own contexts; the same reply answers both
    assert len(found[QUESTION].contexts or ()) == 2
    assert found["How are you?"].contexts == ()


def test_a_draft_that_a_second_model_corrects_with_the_same_documents():
    template = "Correct: {{ draft }}\n{% for doc in documents %}{{ doc.content }}\n{% endfor %}{{ question }}"
    with BodyKeeper(lambda text: ANSWER if "Correct" in text else "Lyon.") as model:
        pipeline = pipeline_of(
            "retriever.documents -> prompt.documents",
            "prompt.prompt -> drafting.messages",
            "drafting.replies -> first.replies",
            "first.text -> correct.draft",
            "retriever.documents -> correct.documents",
            "correct.prompt -> llm.messages",
            retriever=retriever(),
            prompt=prompt(),
            drafting=llm(model),
            first=First(),
            correct=prompt(template),
            llm=llm(model),
        )
        data = {name: {"question": QUESTION} for name in ("prompt", "correct")}
        sample = captured(pipeline, data | {"retriever": {"query": QUESTION}})

    assert_shown(sample, model, CORPUS)
    assert (sample.answer, len(sample.contexts or ())) == (ANSWER, 2)
