"""A sample's texts as its metrics show them: split into sentences, numbered and rendered once for all."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.prompts import Message, Prompt, digest_of, numbered_sentences
from ragmetrics_core.protocol import Generate

__all__ = ["Segments", "Used"]

Places = tuple[tuple[int, int], ...]
Used = dict[str, Places]


class _Split(NamedTuple):
    """A text's digest, where its sentences stand, and the sentences."""

    digest: str
    places: Places
    sentences: tuple[str, ...]


class _Rendered(NamedTuple):
    """What a request is sent as, the digest of that, and which sentences it shows."""

    messages: tuple[Message, ...]
    digest: str
    used: Used


class Segments:
    """A sample's texts as its metrics show them: split, numbered and rendered once for all of them."""

    def __init__(self, known: Mapping[str, Sequence[tuple[int, int]]] | None = None) -> None:
        self._known = known or {}
        self._texts: dict[str, _Split] = {}
        self._numbered: dict[Sequence[str], str] = {}
        self._rendered: dict[Hashable, _Rendered] = {}

    def sentences(self, text: str, used: Used, language: str | None) -> tuple[str, ...]:
        """The sentences of a text; where they stand is noted in `used`, by the text's digest."""
        found = self._texts.get(text)
        if found is None:
            digest = digest_of(text)
            spans = self._known.get(digest)
            places = tuple(spans) if spans is not None else _spans(text, language)
            sentences = tuple([text[start:end] for start, end in places])
            found = self._texts[text] = _Split(digest, places, sentences)
        used[found.digest] = found.places
        return found.sentences

    def numbered(self, chunks: Sequence[str], used: Used, language: str | None) -> str:
        """The chunks with their sentences numbered; see `sentences`."""
        for chunk in chunks:
            self.sentences(chunk, used, language)
        chunks = tuple(chunks)
        if chunks not in self._numbered:
            self._numbered[chunks] = numbered_sentences(
                chunks, lambda chunk: self.sentences(chunk, used, language)
            )
        return self._numbered[chunks]

    def rendered(self, request: Generate[Any], prompt: Prompt[Any], language: str | None) -> _Rendered:
        """The request's messages, in the words of a prompt."""
        asked = (prompt.digest, request.again, *request.variables.items())
        try:
            known = self._rendered.get(asked)
        except TypeError:  # a list, which a metric of one's own may hand over, has no hash
            return self._render(request, prompt, language)
        if known is None:
            known = self._rendered[asked] = self._render(request, prompt, language)
        return known

    def _render(self, request: Generate[Any], prompt: Prompt[Any], language: str | None) -> _Rendered:
        used: Used = {}
        messages = prompt.render(
            request.variables, show=lambda chunks: self.numbered(chunks, used, language), again=request.again
        )
        return _Rendered(messages, digest_of(*[message.content for message in messages]), used)


def _spans(text: str, language: str | None) -> Places:
    """Where the sentences of a text stand in it."""
    spans: list[tuple[int, int]] = []
    position = 0
    for sentence in split_sentences(text, language):
        start = text.index(sentence, position)
        position = start + len(sentence)
        spans.append((start, position))
    return tuple(spans)
