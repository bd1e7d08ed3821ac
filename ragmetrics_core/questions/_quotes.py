"""Quotes: their places in documents, and the passages without any."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ragmetrics_core.parsers import ELLIPSIS, split_sentences
from ragmetrics_core.questions._chunks import ChunkIndex
from ragmetrics_core.questions._documents import Corpus
from ragmetrics_core.questions._model import Document, Passage, Question, Quote
from ragmetrics_core.questions._word_forms import places_of, word_form
from ragmetrics_core.scoring import words_of
from ragmetrics_core.texts.comparing import UNSPACED

__all__ = ["Located", "chunks_with", "find_quote", "find_quotes", "located", "uncovered"]

_FEWEST_WORDS: Final = 3
_BEGINNING: Final = re.compile(r"(?:\A|[\n\r.!?:…。！？])[^\w\n]*\Z")
_CHARACTER: Final = re.compile(f"[{UNSPACED}]")
# A sentence that has fewer words is not longer.
_NEAR: Final = 200


class Located(NamedTuple):
    """Questions on another corpus, or on other chunks.

    Attributes:
        questions: the questions; in another corpus, with the places of the quotes that were found there.
        chunks: by question, ids of the chunks that hold its quotes; empty for a corpus.
        missing: by question, texts of the quotes that were not found. Questions without any are left out.
    """

    questions: tuple[Question, ...]
    chunks: Mapping[str, tuple[str, ...]]
    missing: Mapping[str, tuple[str, ...]]


def find_quote(text: str, document: Document) -> Quote | None:
    r"""Find a quote in a document, word for word; None if it is not there.

    Spaces, line breaks, hyphenation, punctuation, quotation marks, dashes, emphasis, case and Unicode form
    may differ; words, numbers and their signs may not. It must have 3 words (6 characters in scripts without
    spaces), or be a whole sentence, heading or line. Of several places, one with the same case is preferred,
    otherwise the first. The result has the document's own text.

    >>> find_quote("the “limit” is 5 W", Document(id="a", text="So: the limit\nis **5 W**.")).text
    'the limit\nis **5 W'
    """
    form = word_form(text).text
    is_long = _is_long(text)
    first = None
    for words in places_of(form, word_form(document.text)):
        if not is_long and not _is_apart(document.text, *words):
            continue
        start, end = _with_marks(text, document.text, *words)
        place = Quote(document=document.id, start=start, end=end, text=document.text[start:end])
        if _letters(place.text) == _letters(text):
            return place
        first = first or place
    return first


def find_quotes(
    texts: Iterable[str], corpus: Corpus, near: Iterable[str] = ()
) -> tuple[list[Quote], list[str]]:
    """Find quotes in a corpus, as `find_quote` does; returns them and the texts that were not found.

    A quote with an ellipsis that is not there as a whole is as many quotes as it has parts, and each must be
    there. Of several documents with a quote, one with the same case is preferred, otherwise the first by id.

    Args:
        texts: the quotes.
        corpus: the documents.
        near: ids of documents that are preferred, the first most.
    """
    quotes: list[Quote] = []
    missing: list[str] = []
    preferred = list(near)
    for text in texts:
        found = _whole_or_parts(text, corpus, preferred)
        quotes += found
        if not found:
            missing.append(text)
    return quotes, missing


def chunks_with(quotes: Iterable[Quote], chunks: Mapping[str, str]) -> tuple[str, ...]:
    """Ids of chunks that together hold these quotes, as few as possible, in the order of the chunks.

    Of several chunks that hold a quote, the one with most of the quotes is taken, otherwise the first. A
    quote that is cut by a border is held by the fewest chunks that together have all its words, at their
    ends. A quote that no chunks hold adds none; `located` reports it.

    Args:
        quotes: the quotes.
        chunks: text of each chunk by id, from any splitter.
    """
    ids, _ = ChunkIndex(chunks).holding([quote.text for quote in quotes])
    return ids


def located(questions: Iterable[Question], target: Corpus | Mapping[str, str]) -> Located:
    """Find the quotes of questions again, in a changed corpus or in chunks.

    Args:
        questions: the questions.
        target: the corpus, or the text of each chunk by id.
    """
    questions = tuple(questions)
    missing: dict[str, tuple[str, ...]] = {}
    if isinstance(target, Corpus):
        moved: list[Question] = []
        for question in questions:
            quotes, absent = _moved(question.quotes, target)
            moved.append(question.model_copy(update={"quotes": quotes}))
            if absent:
                missing[question.id] = absent
        return Located(tuple(moved), {}, missing)
    index = ChunkIndex(target)
    chunks: dict[str, tuple[str, ...]] = {}
    for question in questions:
        chunks[question.id], absent = index.holding([quote.text for quote in question.quotes])
        if absent:
            missing[question.id] = absent
    return Located(questions, chunks, missing)


def uncovered(questions: Iterable[Question], corpus: Corpus, words: int = 150) -> tuple[Passage, ...]:
    """Passages of the corpus that no quote of the questions touches, longest first.

    Args:
        questions: questions on this corpus.
        corpus: the corpus.
        words: size of the passages, as in `Corpus.passages`.
    """
    ranges: dict[str, list[tuple[int, int]]] = {}
    for question in questions:
        for quote in question.quotes:
            ranges.setdefault(quote.document, []).append((quote.start, quote.end))
    untouched = [passage for passage in corpus.passages(words) if not _touches(passage, ranges)]
    return tuple(sorted(untouched, key=lambda passage: -len(passage.text)))


def _touches(passage: Passage, ranges: Mapping[str, Sequence[tuple[int, int]]]) -> bool:
    return any(start < passage.end and passage.start < end for start, end in ranges.get(passage.document, ()))


def _whole_or_parts(text: str, corpus: Corpus, near: Sequence[str]) -> list[Quote]:
    """The quote, or its parts between ellipses; empty if one is not there."""
    whole = _in_corpus(text, corpus, near)
    if whole is not None:
        return [whole]
    parts = [part for part in ELLIPSIS.split(text) if word_form(part).text]
    quotes: list[Quote] = []
    for part in parts if len(parts) > 1 else ():
        quote = _in_corpus(part, corpus, [*(quote.document for quote in quotes), *near])
        if quote is None:
            return []
        quotes.append(quote)
    return quotes


def _in_corpus(text: str, corpus: Corpus, near: Sequence[str]) -> Quote | None:
    for id in near:
        document = corpus.documents.get(id)
        if document is not None and (quote := find_quote(text, document)) is not None:
            return quote
    form = word_form(text).text
    first = None
    for id, document_form in corpus.word_forms.items():
        if form and form in document_form and (quote := find_quote(text, corpus.documents[id])) is not None:
            if _letters(quote.text) == _letters(text):
                return quote
            first = first or quote
    return first


def _moved(quotes: Iterable[Quote], corpus: Corpus) -> tuple[tuple[Quote, ...], tuple[str, ...]]:
    """Quotes in another corpus, and the texts of those that are not there."""
    moved: list[Quote] = []
    missing: list[str] = []
    for quote in quotes:
        document = corpus.documents.get(quote.document)
        if document is not None and document.text[quote.start : quote.end] == quote.text:
            moved.append(quote)
            continue
        found, absent = find_quotes([quote.text], corpus, near=[quote.document])
        moved += found
        missing += absent
    return tuple(moved), tuple(missing)


def _is_long(text: str) -> bool:
    """Whether a quote has 3 words; two characters of a script without spaces count as one."""
    sizes = (0.5 if _CHARACTER.match(word) else 1.0 for word in words_of(text, rules="names"))
    return sum(sizes) >= _FEWEST_WORDS


def _is_apart(text: str, start: int, end: int) -> bool:
    """Whether a place is a whole line, or a whole sentence of it."""
    if not _BEGINNING.search(text, max(start - 10, 0), start):
        return False
    form = word_form(text[start:end]).text
    first = max(text.rfind("\n", 0, start) + 1, start - _NEAR)
    last = text.find("\n", end, end + _NEAR)
    line = text[first : last if last != -1 else end + _NEAR]
    at = first
    for part in (line, *split_sentences(line)):
        found = text.find(part, at)
        if found <= start < found + len(part) and word_form(part).text == form:
            return True
    return False


def _with_marks(quote: str, text: str, start: int, end: int) -> tuple[int, int]:
    """The place with the marks around it that the quote has as well."""
    bare = quote.strip()
    words = [place for place, char in enumerate(bare) if char.isalnum()]
    for mark in bare[words[-1] + 1 :]:
        if text[end : end + 1] != mark or mark.isspace():
            break
        end += 1
    for mark in reversed(bare[: words[0]]):
        if text[start - 1 : start] != mark or mark.isspace():
            break
        start -= 1
    return start, end


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))
