"""Pipelines in which several models reply: the contexts are those of the request whose reply is the answer."""

import asyncio
import logging
from functools import partial
from typing import Any

import pytest
from haystack import component
from haystack.components.builders import AnswerBuilder
from haystack.components.joiners import BranchJoiner
from haystack.components.routers import ConditionalRouter
from haystack.dataclasses import ChatMessage

from tests.integrations.body_keeping import BodyKeeper
from tests.integrations.haystack.generators import AsyncPipeline
from tests.integrations.haystack.shown.applications import (
    ANSWER,
    CORPUS,
    QUESTION,
    WITHOUT,
    First,
    asked,
    asynchronous,
    connected,
    llm,
    plain,
    prompt,
    rag,
    retriever,
    samples,
    skipped,
)
from tests.integrations.haystack.shown.test_pipelines import App, assert_recorded

TITLE = "A title: capitals."
GOLD = "The capital of France is made of gold, as everybody there knows."
FOLLOW_UP = "And what is the capital of Spain?"


def router(**conditions: tuple[str, str]) -> ConditionalRouter:
    """Texts that go out where their conditions hold, by the output's name."""
    routes = [
        {"condition": f"{{{{ {condition} }}}}", "output": output, "output_name": name, "output_type": str}
        for name, (condition, output) in conditions.items()
    ]
    return ConditionalRouter(routes, unsafe=True)  # type: ignore[arg-type]


def unless(word: str, name: str, output: str) -> ConditionalRouter:
    """The reply goes out as the answer, unless it has a word."""
    reply = "{{ replies[0].text }}"
    return router(
        **{name: (f"'{word}' in replies[0].text", output), "answer": (f"'{word}' not in replies[0].text", reply)}
    )


def with_fallback(model: BodyKeeper) -> Any:
    """The pipeline of Haystack's tutorial on fallbacks: where the documents do not help, a model without them."""
    return plain(
        model,
        "llm.replies -> router.replies",
        "router.ask_again -> second_prompt.question",
        "second_prompt.prompt -> second_llm.messages",
        router=unless("no_answer", "ask_again", "{{ query }}"),
        second_prompt=prompt(WITHOUT),
        second_llm=llm(model),
    )


def beside(model: BodyKeeper, *edges: str, **others: Any) -> Any:
    """An answer and a title for the page, by two models at once."""
    titles = {"title_prompt": prompt("Find a title for: {{ question }}"), "title": llm(model)}
    return plain(model, "title_prompt.prompt -> title.messages", *edges, kind=AsyncPipeline, **titles | others)


def with_follow_up(model: BodyKeeper, *edges: str, **others: Any) -> Any:
    after = {"more": prompt("Suggest a question after: {{ answers[0].text }}"), "asker": llm(model)}
    return plain(model, "llm.replies -> more.answers", "more.prompt -> asker.messages", *edges, **after | others)


def two_replies(text: str) -> str:
    return TITLE if "title" in text else FOLLOW_UP if "Suggest" in text else ANSWER


def rewriting(model: BodyKeeper) -> Any:
    return plain(
        model,
        "rewrite.prompt -> rewriter.messages",
        "rewriter.replies -> first.replies",
        "first.text -> retriever.query",
        rewrite=prompt("Rewrite for a search: {{ question }}"),
        rewriter=llm(model),
        first=First(),
    )


def two_hops(model: BodyKeeper, *edges: str, **others: Any) -> Any:
    return rag(
        model,
        "one.documents -> next.documents",
        "next.prompt -> hop.messages",
        "hop.replies -> first.replies",
        "first.text -> two.query",
        *edges,
        one=retriever(1),
        next=prompt("Next: {% for doc in documents %}{{ doc.content }} {% endfor %}{{ question }}"),
        hop=llm(model),
        first=First(),
        two=retriever(1, CORPUS[1:3]),
        **others,
    )


@component
class Checked:
    """Sends a reply back until it is right, as the tutorial on self-correcting loops does."""

    @component.output_types(right=str, wrong=str)
    def run(self, replies: list[ChatMessage]) -> dict[str, Any]:
        text = replies[0].text or ""
        return {"right": text} if text.startswith("Paris") else {"wrong": text}


def corrected(model: BodyKeeper) -> Any:
    template = (
        "{% for doc in documents %}{{ doc.content }}\n{% endfor %}Question: {{ question }}"
        "{% if wrong %} This was wrong: {{ wrong }}{% endif %}"
    )
    builder = type(prompt())(template=[ChatMessage.from_user(template)], required_variables=["question"])
    edges = ("llm.replies -> check.replies", "check.wrong -> prompt.wrong")
    return plain(model, *edges, prompt=builder, check=Checked())


def searching_again(model: BodyKeeper) -> Any:
    return plain(
        model,
        "start -> retriever.query",
        "llm.replies -> router.replies",
        "router.again -> start",
        start=BranchJoiner(str),
        retriever=retriever(1),
        router=unless("more", "again", "capital of Germany"),
    )


WITH_DRAFT = "Correct: {{ draft }}\n{% for doc in documents %}{{ doc.content }}\n{% endfor %}{{ question }}"


def drafted(model: BodyKeeper, template: str = WITH_DRAFT) -> Any:
    documents = ["retriever.documents -> correct.documents"] if "documents" in template else []
    answers = {} if documents else {"answers": AnswerBuilder()}
    return plain(
        model,
        "llm.replies -> first.replies",
        "first.text -> correct.draft",
        "correct.prompt -> correcting.messages",
        *documents,
        *(f"correcting.replies -> {name}.replies" for name in answers),
        first=First(),
        correct=prompt(template),
        correcting=llm(model),
        **answers,
    )


def told(*names: str, **data: Any) -> dict[str, Any]:
    """The question for these prompts, and what else is given."""
    return {name: {"question": QUESTION} for name in names} | data


FALLBACK = asked() | {"router": {"query": QUESTION}}
BESIDE = asked() | {"title_prompt": {"question": QUESTION}}
ANSWERS = {"answers": {"query": QUESTION}}
HOPS = told("next", "prompt", one={"query": QUESTION})
TO_ANSWERS = "llm.replies -> answers.replies"

WITH_SEVERAL = {
    "the fallback without documents was shown none": App(
        with_fallback, (), FALLBACK, lambda text: ANSWER if "from what you know" in text else "no_answer"
    ),
    "a model after the answer does not answer": App(
        lambda model: with_follow_up(model, TO_ANSWERS, answers=AnswerBuilder()), 2, asked() | ANSWERS, two_replies
    ),
    "a question that a model rewrote": App(
        rewriting, 2, told("rewrite", "prompt"), lambda text: "capital of Germany" if "Rewrite" in text else ANSWER
    ),
    "two hops of which the last reaches the answer": App(
        lambda model: two_hops(model, "two.documents -> prompt.documents"),
        CORPUS[1:2],
        HOPS,
        lambda text: "capital of Germany" if "Next" in text else ANSWER,
    ),
    "a loop that has the reply corrected": App(
        corrected,
        2,
        asked(),
        lambda text: ANSWER if "was wrong" in text else GOLD,
    ),
    "a loop that searches again": App(
        searching_again,
        CORPUS[1:2],
        told("prompt", start={"value": QUESTION}),
        lambda text: ANSWER if CORPUS[1] in text else "I need more.",
    ),
    "a draft that a second model corrects without the documents": App(
        partial(drafted, template="Correct: {{ draft }}\n{{ question }}"),
        2,
        told("prompt", "correct", retriever={"query": QUESTION}) | ANSWERS,
        lambda text: ANSWER if "Correct" in text else GOLD,
    ),
}


@pytest.mark.parametrize("name", WITH_SEVERAL)
def test_which_of_several_models_answered_is_known(name: str):
    assert_recorded(WITH_SEVERAL[name])


def test_of_two_models_side_by_side_the_answer_builders_is_the_answer():
    app = App(lambda model: beside(model, TO_ANSWERS, answers=AnswerBuilder()), 2, BESIDE | ANSWERS, two_replies)
    assert_recorded(app, run=asynchronous)


@pytest.mark.parametrize(("place", "answer", "contexts"), [("llm", ANSWER, 2), ("title", TITLE, 0)])
def test_of_two_models_side_by_side_the_application_says_which_answers(place: str, answer: str, contexts: int):
    assert_recorded(App(beside, contexts, BESIDE, two_replies, answer), run=asynchronous, answer_from=place)


async def three_times(pipeline: Any) -> None:
    for _ in range(3):
        await pipeline.run_async(BESIDE)


def test_where_nothing_says_which_of_two_models_answers_it_is_said_once(caplog: pytest.LogCaptureFixture):
    with BodyKeeper(two_replies) as model, caplog.at_level(logging.WARNING):
        pipeline = beside(model)
        connector = connected(pipeline)
        asyncio.run(three_times(pipeline))
        assert samples(connector) == []

    assert connector.stats.skipped == {"several_answers": 3}
    (line,) = (each.getMessage() for each in caplog.records if "llm" in each.getMessage())
    assert "title" in line
    assert "answer_from='llm'" in line


def test_a_model_after_the_answer_without_an_answer_builder_is_asked_about():
    with BodyKeeper(two_replies) as model:
        assert skipped(with_follow_up(model), asked()) == {"several_answers": 1}


def test_one_of_two_branches_answers():
    with BodyKeeper(lambda text: ANSWER) as model:
        pipeline = plain(
            model,
            "router.known -> retriever.query",
            "router.known -> prompt.question",
            "router.other -> chat.question",
            "chat.prompt -> chatting.messages",
            router=router(known=("'capital' in query", "{{ query }}"), other=("'capital' not in query", "{{ query }}")),
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
