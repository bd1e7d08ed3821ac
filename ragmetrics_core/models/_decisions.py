"""A decision model as the judge of verdicts and ratings, with another judge for everything else.

A decision model answers typed questions with probabilities, without text. It reads the same prompt as any
other judge; only the questions about it are put in another way.
"""

import json
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple, Protocol

from ragmetrics_core import prompts
from ragmetrics_core.adapting import usage_of
from ragmetrics_core.boundary.shapes import is_sequence
from ragmetrics_core.models._openai_compatible import Served
from ragmetrics_core.models._openai_endpoint import encodable
from ragmetrics_core.models._plugins import rule_judge
from ragmetrics_core.models._verdict_judge import PartJudge
from ragmetrics_core.parsers import (
    NONE_OF_THESE,
    RATED,
    STANCES,
    UNPROVEN,
    Rating,
    StanceList,
    VerdictList,
    sentence_question,
    split_sentences,
)
from ragmetrics_core.prompts import Item, Prompt
from ragmetrics_core.protocol import Completion, Generate, Judge, Usage

__all__ = ["DecisionJudge", "DecisionModel", "DecisionQuestion", "DecisionReply", "DecisionServer"]

# The limit of OpenAI's endpoint.
_MOST_QUESTIONS: Final = 400
# Raised when the wording of a question changes, because replies to another wording are other replies.
_WORDING: Final = "1"
_VERDICT: Final = 'By the rules above, the verdict on number {number} is "yes". Number {number}: {text}'
_STANCE: Final = "By the rules above, the verdict on number {number}. Number {number}: {text}"
_SENTENCE: Final = "The sentence of the contexts that contradicts number {number}. Number {number}: {text}"
# The limit of OpenAI's endpoint, without the choice that no sentence contradicts the statement.
_MOST_SENTENCES: Final = 254
_RATING: Final = "The rating by the rules above."


class DecisionQuestion(NamedTuple):
    """A typed question about a text.

    Attributes:
        name: the name that the answer repeats.
        instructions: a statement to find true or false, the rating to give, or what to choose.
        levels: the ordered levels of a rating, the lowest first; empty for other questions.
        choices: the values of a choice; empty for other questions.
    """

    name: str
    instructions: str
    levels: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()


class DecisionReply(NamedTuple):
    """A model's reply to some questions.

    Attributes:
        body: the JSON text of the reply, as the model's server sent it.
        model: the server's name of the model.
        usage: tokens used by the call.
    """

    body: str
    model: str = ""
    usage: Usage | None = None


class DecisionModel(Protocol):
    """A model that answers typed questions about a text."""

    @property
    def identity(self) -> str:
        """The model and its settings."""
        ...

    @property
    def model(self) -> str:
        """The model's name, which has a price."""
        ...

    def adecide(self, text: str, questions: Sequence[DecisionQuestion]) -> Awaitable[DecisionReply]:
        """Answer at most 400 questions in one call.

        Raises:
            ModelError: the model failed.
        """
        ...


@dataclass(frozen=True, repr=False)
class DecisionServer(Served):
    """A decision model on a server, in OpenAI's wire form or in that of System One.

    An address that ends in `/systemone` takes System One's form, any other one OpenAI's at `/decisions`.

    Attributes:
        model: the model's name on the server.
        base_url: the server's address, such as "https://api.typesafe.ai/v1/systemone". Default:
            OPENAI_BASE_URL, or else OpenAI.
        api_key: the key, as text or as pydantic's `SecretStr`; stored as `SecretStr`. Default:
            OPENAI_API_KEY. Optional with `base_url`.
        asked: False to report a missing package or key only on first use.

    Raises:
        ConfigError: the aiohttp package or the key is missing, or the address is invalid.
    """

    @property
    def identity(self) -> str:
        """Server and model; never the key."""
        return f"decisions:{self.endpoint.url}/{self.model}"

    @cached_property
    def _is_system_one(self) -> bool:
        return self.endpoint.url.endswith("/systemone")

    async def adecide(self, text: str, questions: Sequence[DecisionQuestion]) -> DecisionReply:
        """Answer the questions in one call.

        Raises:
            ModelError: the server failed; the message says why and never holds the key.
        """
        is_whole = self.endpoint.url.endswith(("/systemone", "/decisions"))
        path = "" if is_whole else "/decisions"
        body, reply = await self.endpoint.post_whole(path, self.body(text, questions))
        model = reply.get("model")
        return DecisionReply(body, model if isinstance(model, str) else "", usage_of(reply.get("usage")))

    def body(self, text: str, questions: Sequence[DecisionQuestion]) -> Mapping[str, object]:
        """The JSON body of a request."""
        if self._is_system_one:
            asked = {each.name: _for_system_one(each) for each in questions}
            return {"state": encodable(text), "model": self.model, "questions": asked}
        return {
            "model": self.model,
            "input": encodable(text),
            "questions": [_for_openai(each) for each in questions],
        }


def _for_openai(question: DecisionQuestion) -> dict[str, object]:
    named = {"name": question.name, "instructions": encodable(question.instructions)}
    if question.choices:
        choices = [{"value": encodable(value)} for value in question.choices]
        return {"type": "choice", **named, "choices": choices}
    if not question.levels:
        return {"type": "predicate", **named}
    return {"type": "score", **named, "levels": [{"label": level} for level in question.levels]}


def _for_system_one(question: DecisionQuestion) -> dict[str, object]:
    instructions = encodable(question.instructions)
    if question.choices:
        criteria = {encodable(value): None for value in question.choices}
        return {"type": "choice", "criteria": criteria, "instructions": instructions}
    if not question.levels:
        return {"type": "noul", "instructions": instructions}
    return {"type": "score", "criteria": list(question.levels), "instructions": instructions}


@dataclass(frozen=True, kw_only=True)
class DecisionJudge(PartJudge):
    """Give verdicts and ratings with a decision model; ask another judge everything else.

    A verdict on a numbered item is one question, a rating is one question with the numbers of its scale as
    levels. A verdict is "yes" if its probability is above 0.5; a rating is the expected level, which may lie
    between two numbers of the scale. A verdict in three ways is a choice; a second call asks which sentence
    contradicts each contradicted statement. The record keeps the bodies of the model's replies. A question
    without exactly one usable answer has no verdict.

    Attributes:
        decisions: the model.
        others: the judge that splits texts into statements and answers all other prompts. Default: the rules
            of "embedded".
    """

    kind: ClassVar[str] = "a decision model"

    decisions: DecisionModel
    others: Judge | None = field(default_factory=rule_judge)

    @property
    def identity(self) -> str:
        """The model, the version of the questions and the other judge."""
        return f"{self.decisions.identity},questions {_WORDING}{self.beside}"

    @property
    def model(self) -> str:
        """The model, whose price counts."""
        return self.decisions.model

    @property
    def cacheable(self) -> bool:
        """Whether replies may be kept for later runs."""
        return super().cacheable and bool(getattr(self.decisions, "cacheable", True))

    def answers(self, name: str) -> bool:
        """Whether the library's prompt asks for verdicts or a rating; unknown prompts are not checked."""
        of_library: list[Any] = [each for each in vars(prompts).values() if isinstance(each, Prompt)]
        answer = {prompt.name: prompt.answer for prompt in of_library}.get(name)
        return answer is None or issubclass(answer, VerdictList | Rating)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """The model's answers on the request, the same for each draw.

        Raises:
            ModelError: a model failed.
        """
        questions = _questions(request)
        if not questions:
            return await self.aothers(request)
        # without the earlier replies of a conversation: the model is asked anew
        text = "\n\n".join([message.content for message in request.messages[:2]])
        replies = await self._replies(text, questions)
        if issubclass(request.prompt.answer, StanceList):
            replies += await self._replies(text, _sentence_questions(request, _reply_of(replies)))
        first = Completion(
            _reply_of(replies),
            replies[0].model or self.model,
            usage=_sum_of([reply.usage for reply in replies]),
            finish_reason="stop",
            held_to="graded",
        )
        return [first, *[replace(first, usage=None)] * (request.draws - 1)]

    async def _replies(self, text: str, questions: Sequence[DecisionQuestion]) -> list[DecisionReply]:
        return [
            await self.decisions.adecide(text, questions[start : start + _MOST_QUESTIONS])
            for start in range(0, len(questions), _MOST_QUESTIONS)
        ]


def _reply_of(replies: Sequence[DecisionReply]) -> str:
    return json.dumps({"decisions": [reply.body for reply in replies]}, ensure_ascii=False)


def _sentence_questions(request: Generate[Any], reply: str) -> list[DecisionQuestion]:
    """For each contradicted statement, the question which sentence contradicts it."""
    expected = request.expected._replace(graded=True)
    reading = request.prompt.answer.read(reply, expected)
    verdicts = reading.value.verdicts if isinstance(reading.value, VerdictList) else ()
    shown = request.expected.texts
    sentences = tuple(dict.fromkeys(sentence for text in shown for sentence in split_sentences(text)))
    blocks = [
        (*sentences[start : start + _MOST_SENTENCES], NONE_OF_THESE)
        for start in range(0, len(sentences), _MOST_SENTENCES)
    ]
    texts = dict(zip(expected.numbers, expected.items, strict=True))
    return [
        DecisionQuestion(
            sentence_question(number, block),
            _SENTENCE.format(number=number, text=texts[number]),
            choices=choices,
        )
        for number in [verdict.number for verdict in verdicts if verdict.verdict == UNPROVEN]
        for block, choices in enumerate(blocks, start=1)
    ]


def _questions(request: Generate[Any]) -> list[DecisionQuestion]:
    """The questions of a prompt that asks for verdicts on numbered items or for a rating."""
    answer, expected = request.prompt.answer, request.expected
    if issubclass(answer, Rating) and expected.scale is not None:
        return [DecisionQuestion(RATED, _RATING, tuple(map(str, expected.scale.numbers)))]
    items = request.variables.get("items")
    if not issubclass(answer, VerdictList) or not is_sequence(items):
        return []
    texts = {item.number: item.text for item in items if isinstance(item, Item)}
    if not texts.keys() >= {*expected.numbers}:
        return []
    is_stance = issubclass(answer, StanceList)
    wording, choices = (_STANCE, STANCES) if is_stance else (_VERDICT, ())
    return [
        DecisionQuestion(str(number), wording.format(number=number, text=texts[number]), choices=choices)
        for number in expected.numbers
    ]


def _sum_of(usages: Sequence[Usage | None]) -> Usage | None:
    counted = [usage for usage in usages if usage is not None]
    if len(counted) < len(usages):
        return None
    return Usage(sum(each.prompt_tokens for each in counted), sum(each.completion_tokens for each in counted))
