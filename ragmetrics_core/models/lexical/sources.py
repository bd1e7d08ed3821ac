"""The texts that statements are looked up in: their sentences, with an index from words to places."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple

from ragmetrics_core.models.lexical.quantities import Quantity
from ragmetrics_core.models.lexical.tokens import Clause, Sentence, read_sentence
from ragmetrics_core.parsers import split_sentences

__all__ = ["Place", "Source", "read_source", "sentences_of"]

_SHORTEST_PREFIX = 5
_SHORTEST_ABBREVIATION = 3


@lru_cache(maxsize=512)
def sentences_of(text: str, language: str | None = None) -> tuple[Sentence, ...]:
    """The sentences of a text, taken apart."""
    return tuple(map(read_sentence, split_sentences(text, language)))


@lru_cache(maxsize=64)
def read_source(texts: tuple[str, ...]) -> "Source":
    """The source that some texts make up."""
    return Source(texts)


class Place(NamedTuple):
    """A clause, the sentence that it is in, and its number there."""

    sentence: int
    number: int
    clause: Clause


class _Subject(NamedTuple):
    """What a chunk is about: its first sentence, and the names in more than one of its sentences."""

    first: int
    repeated: frozenset[str]


class Source:
    """Some texts as a place to look statements up.

    Args:
        texts: the context chunks, or a single text.

    Attributes:
        sentences: of all texts, in order.
        chunk_of: for each sentence, the number of its text, from 0.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        chunks = [sentences_of(text) for text in texts]
        self.sentences: tuple[Sentence, ...] = tuple(chain.from_iterable(chunks))
        self.chunk_of = tuple(number for number, chunk in enumerate(chunks) for _ in chunk)
        self._places: dict[str, list[int]] = {}
        for place, sentence in enumerate(self.sentences):
            for key in dict.fromkeys(token.key for token in sentence.tokens):
                self._places.setdefault(key, []).append(place)
        self._found: dict[str, str | None] = {}
        self._company: dict[int, frozenset[str]] = {}
        self._clause_company: dict[tuple[int, int], frozenset[str]] = {}

    def places(self, key: str) -> Sequence[int]:
        """The sentences that have a key."""
        return self._places.get(key, ())

    def find(self, key: str, *, loosely: bool) -> str | None:
        """The source's key for a statement's key: the same one, or `loosely` a near relative."""
        if key in self._places:
            return key
        if not loosely:
            return None
        if key not in self._found:
            self._found[key] = self._relative(key)
        return self._found[key]

    def abbreviates(self, initials: str) -> list[int]:
        """The sentences in which words with these initials stand in a row."""
        if len(initials) < _SHORTEST_ABBREVIATION:
            return []
        return [place for place, sentence in enumerate(self.sentences) if initials in sentence.initials]

    @cached_property
    def codes(self) -> frozenset[str]:
        """Keys of the abbreviations and identifiers in the source."""
        return frozenset(
            token.key for sentence in self.sentences for token in sentence.tokens if token.kind == "code"
        )

    @cached_property
    def quantities(self) -> tuple[tuple[int, Quantity], ...]:
        """All numbers, with the sentence that each stands in."""
        return tuple(
            (place, each) for place, sentence in enumerate(self.sentences) for each in sentence.quantities
        )

    def agreeing(self, quantity: Quantity) -> list[tuple[int, Quantity]]:
        """The numbers that can mean the same as a quantity, with the sentences that they stand in.

        A number that a sentence repeats is given once. They are looked up, because a text may be nothing but
        numbers, and comparing each with each would take minutes.
        """
        found = [each for reading in quantity.readings for each in self._by_reading.get(reading, ())]
        if quantity.unit is not None:
            found += self._by_dimension.get(quantity.unit.dimension, ())
        return [each for each in dict.fromkeys(found) if quantity.agrees(each[1])]

    def measures(self, dimension: str) -> bool:
        """Whether it has a number with a unit of this dimension."""
        return dimension in self._by_dimension

    @cached_property
    def _distinct(self) -> list[tuple[int, Quantity]]:
        known = {
            (place, each.readings, each.unit): (place, each) for place, each in reversed(self.quantities)
        }
        return list(known.values())

    @cached_property
    def _by_reading(self) -> dict[str, list[tuple[int, Quantity]]]:
        found: dict[str, list[tuple[int, Quantity]]] = {}
        for each in self._distinct:
            for reading in each[1].readings:
                found.setdefault(reading, []).append(each)
        return found

    @cached_property
    def _by_dimension(self) -> dict[str, list[tuple[int, Quantity]]]:
        found: dict[str, list[tuple[int, Quantity]]] = {}
        for each in self._distinct:
            if each[1].unit is not None:
                found.setdefault(each[1].unit.dimension, []).append(each)
        return found

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages of the sentences, as far as they can be told."""
        return frozenset(sentence.language for sentence in self.sentences if sentence.language is not None)

    def clauses(self, place: int) -> Iterator[Place]:
        """The clauses of a sentence."""
        return (Place(place, number, clause) for number, clause in enumerate(self.sentences[place].clauses))

    def company(self, place: int) -> frozenset[str]:
        """The keys that a sentence may mean without saying them.

        These are names that its chunk repeats and so is about, and all that stands in the sentence before
        when this one says "it", "this" or the like.
        """
        if place not in self._company:
            self._company[place] = self._implied(place)
        return self._company[place]

    def company_of(self, clause: Place) -> frozenset[str]:
        """What a clause may mean without saying it: the same, and the sentence's other clauses.

        A clause that repeats a word of this one stands beside it as a counterpart ("A links B, and C links
        D"): what it names is not said of this one.
        """
        sentence = self.sentences[clause.sentence]
        if len(sentence.clauses) == 1:
            return self.company(clause.sentence)
        address = (clause.sentence, clause.number)
        if address not in self._clause_company:
            words = {token.key for token in sentence.tokens if token.kind in {"word", "weak", "part"}}
            shared = words & clause.clause.keys
            others = (
                other.keys
                for other in sentence.clauses
                if other is not clause.clause and not other.keys & shared
            )
            self._clause_company[address] = self.company(clause.sentence).union(*others)
        return self._clause_company[address]

    def _implied(self, place: int) -> frozenset[str]:
        chunk = self.chunk_of[place]
        first, repeated = self._subjects[chunk]
        if not self.sentences[place].anaphoric or place == first:
            return repeated
        before = {token.key for token in self.sentences[place - 1].tokens}
        return repeated | before | set(_names(self.sentences[first])[:4])

    @cached_property
    def _subjects(self) -> dict[int, _Subject]:
        """For each chunk its first sentence, and the names that it repeats."""
        named: dict[int, Counter[str]] = {}
        first: dict[int, int] = {}
        for place, chunk in enumerate(self.chunk_of):
            first.setdefault(chunk, place)
            named.setdefault(chunk, Counter()).update(set(_names(self.sentences[place])))
        return {
            chunk: _Subject(first[chunk], frozenset(key for key, times in counts.items() if times > 1))
            for chunk, counts in named.items()
        }

    def _relative(self, key: str) -> str | None:
        """The nearest key with a long common beginning."""
        if len(key) < _SHORTEST_PREFIX or not key.isalpha():
            return None
        best, longest = None, 0
        for other in self._by_beginning.get(key[:_SHORTEST_PREFIX], ()):
            common = _common(key, other)
            # one is the other with an ending of at most three letters, or both have short endings
            if common >= max(_SHORTEST_PREFIX, max(len(key), len(other)) - 3) and common > longest:
                best, longest = other, common
        return best

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for key in sorted(self._places):
            if len(key) >= _SHORTEST_PREFIX and key.isalpha():
                found.setdefault(key[:_SHORTEST_PREFIX], []).append(key)
        return found


def _names(sentence: Sentence) -> list[str]:
    return [token.key for token in sentence.tokens if token.kind in {"code", "name"}]


def _common(one: str, two: str) -> int:
    length = 0
    for left, right in zip(one, two, strict=False):
        if left != right:
            break
        length += 1
    return length
