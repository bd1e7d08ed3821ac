"""A sample's texts for its metrics: split into sentences, numbered and rendered once."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from ragmetrics_core.drivers._questions import Places, SharedRequest
from ragmetrics_core.parsers import plain_reply, split_sentences, stating_sentences, without_reasoning
from ragmetrics_core.prompts import Prompt, digest_of, marked_sentences, numbered_sentences
from ragmetrics_core.protocol import Generate, Unread
from ragmetrics_core.samples import Sample

__all__ = ["Segments", "Used"]

Used = dict[str, Places]


class _Split(NamedTuple):
    """A text's digest, positions of its sentences, and the sentences."""

    digest: str
    places: Places
    sentences: tuple[str, ...]


class Segments:
    """A sample's texts for its metrics: split into sentences, numbered and rendered once.

    Args:
        sample: the sample.
        known: recorded sentence positions by digest of the text.

    Attributes:
        judged: the sample without a thought at the start of its answer.
        thought: note on the thought for the records.
    """

    def __init__(self, sample: Sample, known: Mapping[str, Sequence[tuple[int, int]]] | None = None) -> None:
        self.judged, self.thought = _without_thought(sample)
        self._language = sample.language
        self._known = known or {}
        self._texts: dict[str, _Split] = {}
        self._numbered: dict[Sequence[str], str] = {}
        self._questions: dict[Hashable, SharedRequest] = {}

    def sentences(self, text: str, used: Used) -> tuple[str, ...]:
        """Sentences of a text; their positions are added to `used`, by digest of the text."""
        found = self._texts.get(text)
        if found is None:
            digest = digest_of(text)
            spans = self._known.get(digest)
            places = tuple(spans) if spans is not None else _spans(text, self._language)
            sentences = tuple([text[start:end] for start, end in places])
            found = self._texts[text] = _Split(digest, places, sentences)
        used[found.digest] = found.places
        return found.sentences

    def numbered(self, chunks: Sequence[str], used: Used) -> str:
        """The chunks with their sentences numbered; see `sentences`."""
        chunks = tuple(chunks)
        sentences = {chunk: self.sentences(chunk, used) for chunk in chunks}
        known = self._numbered.get(chunks)
        if known is None:
            known = self._numbered[chunks] = numbered_sentences(chunks, sentences.__getitem__)
        return known

    def stating(self, text: str, used: Used) -> tuple[str, ...]:
        """Sentences of a text outside headings and blocks of code; see `sentences`."""
        self.sentences(text, used)
        return tuple([text[start:end] for start, end in stating_sentences(text, self._texts[text].places)])

    def question(self, request: Generate[Any], prompt: Prompt[Any], first_draw: int) -> SharedRequest:
        """The request as sent, with a prompt; equal requests share one object.

        Args:
            request: the request.
            prompt: the prompt.
            first_draw: number of draw 0.
        """
        asked = (
            prompt.digest,
            prompt.id,
            prompt.answer,
            request.draw + first_draw,
            request.draws,
            request.again,
            request.passed_on,
            request.votes,
            request.expected,
            request.follows,
            *request.variables.items(),
        )
        try:
            known = self._questions.get(asked)
        except TypeError:  # a list, which a metric of one's own may hand over, has no hash
            return self._rendered(request, prompt, first_draw)
        if known is None:
            known = self._questions[asked] = self._rendered(request, prompt, first_draw)
        return known

    def _rendered(self, request: Generate[Any], prompt: Prompt[Any], first_draw: int) -> SharedRequest:
        used: Used = {}
        expected = request.expected
        variables = request.variables
        if prompt.numbered is not None and isinstance(text := variables.get(prompt.numbered), str):
            sentences = self.stating(text, used)
            around = (text, *[str(variables[name]) for name in ("question",) if name in variables])
            numbers = tuple(range(1, len(sentences) + 1))
            expected = expected._replace(numbers=numbers, items=sentences, around=around)
        messages = prompt.render(
            variables,
            show=lambda chunks: self.numbered(chunks, used),
            marked=lambda text: marked_sentences(text, self.stating(text, used)),
        )
        for unread in chain.from_iterable(map(_conversation, request.follows)):
            expected = unread.expected
            messages = prompt.follow_up(
                messages, without_reasoning(plain_reply(unread.reply)), unread.objections
            )
        sent = request._replace(
            prompt=prompt,
            expected=expected._replace(form=prompt.user),
            draw=request.draw + first_draw,
            messages=messages,
            digest=digest_of(*[message.content for message in messages]),
        )
        return SharedRequest(sent, used)


def _conversation(last: Unread) -> list[Unread]:
    """Unusable replies of a conversation, up to the last one."""
    return [last] if last.before is None else [*_conversation(last.before), last]


def _spans(text: str, language: str | None) -> Places:
    """Positions of the sentences in a text."""
    spans: list[tuple[int, int]] = []
    position = 0
    for sentence in split_sentences(text, language):
        start = text.index(sentence, position)
        position = start + len(sentence)
        spans.append((start, position))
    return tuple(spans)


def _without_thought(sample: Sample) -> tuple[Sample, tuple[str, ...]]:
    """The sample without its thought, and the note for the record."""
    answer = sample.answer
    if not answer or (said := without_reasoning(answer)) == answer:
        return sample, ()
    note = f"the answer begins with a thought, which is no part of it: {len(answer) - len(said)} characters"
    return sample.model_copy(update={"answer": said}), (note,)
