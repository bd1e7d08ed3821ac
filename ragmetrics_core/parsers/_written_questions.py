"""Questions on passages, with their answers and the quotes that prove them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, FailFast, StringConstraints

from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.parsers._answer import (
    OBJECTIONS,
    Answer,
    Expected,
    Reading,
    Schema,
    Text,
    example_of,
    list_of,
    object_of,
)
from ragmetrics_core.parsers._evidence import at_words, comparable, locate
from ragmetrics_core.parsers._reply import NotRead
from ragmetrics_core.parsers._sentences import split_sentences
from ragmetrics_core.scoring import words_of

__all__ = ["WrittenQuestion", "WrittenQuestions"]

_TEXT: Schema = {"type": "string"}
# A quote in a plan's reply, in words.
_USUAL_QUOTE = 30

# A number that the prompt put before a sentence; a citation follows its word without a space.
_SENTENCE_NUMBER = re.compile(r"(?<!\S)\[\d{1,4}\]\s")

_EMPHASIS = re.compile(r"[*_`]+")
# A quote with fewer letters and digits may be found by chance.
_SHORTEST = 8
_LONGEST_HINT = 400

_Free = Annotated[str, StringConstraints(strip_whitespace=True)]


class WrittenQuestion(BaseModel):
    """A question on some passages, with its answer and quotes.

    Attributes:
        question: the question.
        answer: the answer; empty if the passages do not have one.
        quotes: the words of the passages that prove the answer; as the judge wrote them if no passage has
            them.
        earlier_question: the question before a follow-up question; None for other questions.
        earlier_answer: its answer.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    question: Text
    answer: _Free = ""
    quotes: Annotated[tuple[_Free, ...], FailFast()]
    earlier_question: _Free | None = None
    earlier_answer: _Free | None = None

    def located(self, passages: Sequence[str]) -> Self:
        """The question with its distinct quotes, each as its passage has it."""
        quotes = dict.fromkeys([_as_it_stands(each, passages) for each in self.quotes])
        return self.model_copy(update={"quotes": tuple(quotes)})

    def faults(self, passages: Sequence[str], *, each_passage: bool) -> Iterator[str]:
        """Reasons that its quotes do not prove it.

        Args:
            passages: the passages.
            each_passage: whether it must quote each of them.
        """
        if not self.quotes:
            yield "it has no quote"
        for quote in self.quotes:
            if locate(quote, passages) is None:
                nearest = _nearest(quote, passages)
                hint = f'; the nearest sentence is "{nearest[:_LONGEST_HINT]}"' if nearest else ""
                yield f'no chunk contains the quote "{quote[:80]}" word for word{hint}'
        for number, passage in enumerate(passages, start=1) if each_passage else ():
            if not any(locate(quote, [passage]) for quote in self.quotes):
                yield f"it has no quote from chunk {number}"


class WrittenQuestions(Answer):
    """The questions of one reply: {"questions": [{"quotes": ["..."], "question": "...", "answer": "..."}]}.

    `Expected.items` are the passages, and `Expected.numbers` those that each question must quote. A reply
    that has the form is read also if there are objections, so that no question is lost.
    """

    questions: Annotated[tuple[WrittenQuestion, ...], FailFast()]

    @classmethod
    def of_value(cls, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """Read the questions; object to missing answers, and to quotes that are in no passage."""
        answer = cls.checked(value)
        if expected.items:
            located = tuple([each.located(expected.items) for each in answer.questions])
            answer = answer.model_copy(update={"questions": located})
        for name in ("answer", "earlier_question", "earlier_answer"):
            if not expected.shows(name) and any(getattr(each, name) for each in answer.questions):
                raise NotRead(f'"{name}" was not asked for')
        return Reading(answer, tuple(islice(answer.objections(expected), OBJECTIONS)))

    def objections(self, expected: Expected) -> Iterator[str]:
        """Object to a wrong number of questions, empty texts, and quotes that are in no passage."""
        if expected.size is not None and len(self.questions) != expected.size:
            yield f"there are {len(self.questions)} questions, but {expected.size} were asked for"
        for number, each in enumerate(self.questions, start=1):
            for name in ("answer", "earlier_question", "earlier_answer"):
                if f'"{name}"' in expected.form and not getattr(each, name):
                    yield f'question {number}: "{name}" is empty'
            if expected.items:
                for fault in each.faults(expected.items, each_passage=bool(expected.numbers)):
                    yield f"question {number}: {fault}"

    @classmethod
    def reply_schema(cls, expected: Expected) -> Schema:
        """The JSON schema of the form, with the number of questions."""
        names = ("question", "answer", "earlier_question", "earlier_answer")
        question = object_of(expected, {"quotes": list_of(_TEXT), **dict.fromkeys(names, _TEXT)})
        return object_of(expected, {"questions": list_of(question, expected.size)})

    @classmethod
    def filled(cls, expected: Expected) -> str:
        """A reply that quotes the beginning of each passage."""
        value: dict[str, Any] = example_of(cls.reply_schema(expected))
        if expected.items:
            quotes = [" ".join(passage.split()[:_USUAL_QUOTE]) for passage in expected.items]
            for question in value["questions"]:
                question["quotes"] = quotes
        return cls.laid_out(value, expected)


def _as_it_stands(quote: str, passages: Sequence[str]) -> str:
    """The words of the passage that a quote copies; the quote itself if no passage has them."""
    for words in (quote, _SENTENCE_NUMBER.sub(" ", quote)):
        span = locate(words, passages)
        if span is not None:
            return passages[span.chunk - 1][span.start : span.end]
        for passage in passages:
            if place := _without_emphasis(words, passage):
                return passage[slice(*place)]
    return quote


def _without_emphasis(quote: str, passage: str) -> tuple[int, int] | None:
    """The place of a quote in a passage, if only emphasis of Markdown differs."""
    form = comparable(quote).rewritten(_EMPHASIS, lambda _: "").spaced().text.strip()
    text = comparable(passage).rewritten(_EMPHASIS, lambda _: "").spaced()
    at = text.text.find(form) if sum(map(str.isalnum, form)) >= _SHORTEST else -1
    if at == -1:
        return None
    start, end = text.origin(at, at + len(form))
    return (start, end) if at_words(passage, start, end) else None


def _nearest(quote: str, passages: Sequence[str]) -> str:
    """The sentence that has most words of a quote, if it has more than half of them; else ""."""
    words = set(words_of(quote))
    sentences = [sentence for passage in passages for sentence in split_sentences(passage)]
    shared = [len(words & set(words_of(sentence))) for sentence in sentences]
    most = max(shared, default=0)
    return sentences[shared.index(most)] if 2 * most > len(words) else ""
