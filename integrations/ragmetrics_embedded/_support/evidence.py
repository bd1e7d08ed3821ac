"""The texts that a statement is looked up in, with an index from words to sentences."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.texts import Writing
from ragmetrics_embedded._support.vocabulary import language_of, script_of
from ragmetrics_embedded._support.words import Sentence, read_sentences

__all__ = ["IndexedTexts", "Vectors", "WordIndex", "amount_of", "read_evidence"]


class Vectors(Protocol):
    """Word vectors: one unit row for each word."""

    def rows(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of casefolded words; a zero row where a word has none."""
        ...


class WordIndex(NamedTuple):
    """The word vectors of some evidence.

    Attributes:
        words: a row for each distinct word of content.
        places: the row of each key.
        sentences: a unit row for each sentence, the mean of its words weighted by how telling they are.
    """

    words: NDArray[np.float32]
    places: Mapping[str, int]
    sentences: NDArray[np.float32]


@lru_cache(maxsize=64)
def read_evidence(texts: tuple[str, ...]) -> "IndexedTexts":
    """The evidence that some texts make up; the same texts are read once."""
    return IndexedTexts(texts)


class IndexedTexts:
    """Some texts, indexed.

    Attributes:
        language: the code of the language that most of their words are of.
        has_language: whether at least two function words show the language.
        scripts: the scripts of their letters.
        sentences: of the plain forms of all texts, those of one text in a row.
        keys: the distinct keys of each sentence.
        places: for each key the sentences that have it, in order.
        words: the casefolded words as they stand.
        pairs: neighbouring keys.
        triples: three keys in a row.
        size: how many tokens there are.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        # in an order of their own, so that nothing depends on the one in which they came
        writings = sorted((Writing.of(text).plain() for text in texts), key=lambda writing: writing.text)
        plain = [writing.text for writing in writings]
        words = [word.casefold() for text in plain for word in text.split()]
        language = language_of(words)
        self.language = language.code
        self.has_language = len(language.stop.intersection(words)) > 1
        self.scripts = frozenset(map(script_of, frozenset[str]().union(*plain)))
        self.sentences: list[Sentence] = []
        # for each sentence its text, and the sentences of that
        self._text_of: list[tuple[Writing, range]] = []
        for writing in writings:
            read = read_sentences(writing.text, self.language)
            start = len(self.sentences)
            self._text_of += [(writing, range(start, start + len(read)))] * len(read)
            self.sentences += read
        self.keys: list[frozenset[str]] = []
        self.places: dict[str, list[int]] = {}
        self.words: set[str] = set()
        self.pairs: set[tuple[str, str]] = set()
        self.triples: set[tuple[str, str, str]] = set()
        for place, sentence in enumerate(self.sentences):
            keys = [token.key for token in sentence.tokens]
            self.keys.append(frozenset(keys))
            for key in {*keys, *chain.from_iterable(token.readings for token in sentence.tokens)}:
                self.places.setdefault(key, []).append(place)
            self.words.update([token.folded for token in sentence.tokens])
            self.pairs.update(pairwise(keys))
            self.triples.update(zip(keys, keys[1:], keys[2:], strict=False))
        self._vectors: WordIndex | None = None
        self.size = sum(len(sentence.tokens) for sentence in self.sentences)

    def as_written(self, place: int) -> str:
        """A sentence as its text writes it."""
        quote = self.sentences[place].text
        writing, _ = self._text_of[place]
        start = writing.text.find(quote)
        if start < 0:  # half a character is replaced when a text is split
            return quote
        first, last = writing.origin(start, start + len(quote))
        return writing.source[first:last]

    def vectors(self, vectors: Vectors, rarity: Mapping[str, int], unseen: int) -> WordIndex:
        """The vectors of its words; looked up once."""
        if self._vectors is None:
            distinct = {token.key: token.folded for sentence in self.sentences for token in sentence.content}
            words = vectors.rows(list(distinct.values()))
            places = {key: row for row, key in enumerate(distinct)}
            sums = np.zeros((len(self.sentences), words.shape[1]), np.float32)
            for place, sentence in enumerate(self.sentences):
                keys = [token.key for token in sentence.content]
                if keys:
                    weights = np.array([rarity.get(key, unseen) for key in keys], np.float32)
                    sums[place] = weights @ words[[places[key] for key in keys]]
            lengths = np.linalg.norm(sums, axis=1, keepdims=True)
            units = sums / np.where(lengths > 0, lengths, 1)
            self._vectors = WordIndex(words, places, units.astype(np.float32, copy=False))
        return self._vectors

    def around(self, place: int, before: int, after: int) -> range:
        """A sentence with up to `before` and `after` neighbours of the same text."""
        _, whole = self._text_of[place]
        return range(max(place - before, whole.start), min(place + after + 1, whole.stop))


def amount_of(reading: str, factor: float) -> str | None:
    """A number in its dimension's base unit, in a form in which equal amounts are equal texts."""
    try:
        return f"{float(reading) * factor:.6g}"
    except ValueError:
        return None
