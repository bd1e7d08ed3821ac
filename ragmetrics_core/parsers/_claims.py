"""Sentences of a text that can state something, and statements that can be theirs."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from ragmetrics_core.parsers._sentences import RULES
from ragmetrics_core.texts.comparing import folded, plain_form

__all__ = ["SourceSentence", "Sources", "content_words", "stating_sentences"]

Places = Sequence[tuple[int, int]]

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t][^\n]*|^[^\n]+\n {0,3}=+[ \t]*$", re.MULTILINE)
# A text without these has neither.
_BLOCK_MARKS = ("#", "=", "```", "~~~")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)", re.MULTILINE)
# Blocks of these hold texts, which may be an answer; so may a block without a language.
_TEXTS = frozenset({"", "markdown", "md", "text", "txt", "plain", "plaintext"})
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_CITATION = re.compile(r"\[\^?\d[\d,;\s–-]*\]")
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_GREEK = re.compile("[\u0370-\u03ff]")
_CLOSERS = "\"'”’»」』）)\\]】》*_ "
_ENDED = re.compile(rf"[.!?。！？।؟][{_CLOSERS}]*$")
_QUESTION = re.compile(rf"[?？؟][{_CLOSERS}]*$")
# Scripts without spaces between words, or with short words and affixes: pairs of letters stand for words.
_UNSPACED = re.compile(
    "[\u0590-\u06ff\u0750-\u077f\uac00-\ud7af\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
# Endings and particles of Japanese.
_KANA = re.compile("[\u3040-\u309f]+")
_SHORTEST = 4
# Words that say nothing by themselves.
_FUNCTION_WORDS = frozenset(RULES["function_words"])


def stating_sentences(text: str, places: Places) -> tuple[tuple[int, int], ...]:
    """The places of the sentences outside headings and blocks of code, or of all if no others exist.

    Args:
        text: the text, perhaps in Markdown.
        places: start and end of each of its sentences.
    """
    if not any(mark in text for mark in _BLOCK_MARKS):
        return tuple(places)
    outside = sorted([*(heading.span() for heading in _HEADING.finditer(text)), *_code_blocks(text)])
    ends = [*accumulate([end for _, end in outside], max)]
    starts = [start for start, _ in outside]
    kept = [
        place for place in places if not ((at := bisect_right(starts, place[0])) and place[0] < ends[at - 1])
    ]
    return tuple(kept or places)


def _code_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Places of the blocks in a programming language that end."""
    first: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if first is None:
            first = fence
        elif fence[1].startswith(first[1]) and not fence[2].strip():
            if first[2].strip().casefold() not in _TEXTS:
                yield first.start(), fence.end()
            first = None


@dataclass(frozen=True)
class Sources:
    """The texts from which a judge may take words for its statements.

    Attributes:
        around: the question and the whole text.
    """

    around: Sequence[str]

    @cached_property
    def words(self) -> frozenset[str]:
        """Their content words."""
        return frozenset(word for text in self.around for word in content_words(text))

    def sentence(self, text: str) -> "SourceSentence":
        """A sentence of the text."""
        return SourceSentence(text, self)


@dataclass(frozen=True)
class SourceSentence:
    """A sentence, and what a statement of it must have in common with it.

    >>> sentence = SourceSentence("It is in Paris.", Sources(["Where is the tower?"]))
    >>> sentence.objection(["The tower is in Rome."])
    'it shares no word with the statement "The tower is in Rome."; use one of its words'
    """

    text: str
    sources: Sources

    @cached_property
    def words(self) -> frozenset[str]:
        """The content words."""
        return frozenset(content_words(self.text))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers."""
        return frozenset(word for word in self.words if word[0].isdigit())

    @property
    def is_question(self) -> bool:
        """Whether it ends with a question mark."""
        text = self.text.rstrip()
        return bool(_QUESTION.search(text)) or (text.endswith((";", "\u037e")) and bool(_GREEK.search(text)))

    @property
    def is_ended(self) -> bool:
        """Whether it ends as a sentence does."""
        return bool(_ENDED.search(self.text.rstrip()))

    def objection(self, statements: Sequence[str], *, is_whole: bool = True) -> str:
        """The reason that the statements cannot be those of the sentence; empty if they can.

        Each has a content word of it, or is a part of it word for word. The statement of a sentence of one
        content word, such as "Absolutely.", may have the words of the question or the text instead, and no
        other. All numbers of the sentence are in its statements, and those of the statements are in the texts
        around.

        Args:
            statements: the statements in other words than the sentence.
            is_whole: whether these are all of its statements.
        """
        told: set[str] = set()
        for statement in statements:
            said = frozenset(content_words(statement))
            told |= said
            if not self._has(said) and _words_of(statement) not in self._written:
                return f'it shares no word with the statement "{statement[:80]}"; use one of its words'
            if invented := [word for word in said - self.sources.words if word[0].isdigit()]:
                return f"the number {min(invented)} of a statement is not in the text"
        if is_whole and (left_out := self.numbers - told):
            return f"the number {min(left_out)} is in none of its statements"
        return ""

    @cached_property
    def _written(self) -> str:
        return _words_of(self.text)

    def _has(self, said: frozenset[str]) -> bool:
        if said & self.words:
            return True
        if not self.words:
            return not said or bool(said & self.sources.words)
        return len(self.words) == 1 and bool(said) and said <= self.sources.words

    def has_most_of(self, statement: str) -> bool:
        """Whether it has more than half of a statement's content words."""
        said = frozenset(content_words(statement))
        return 2 * len(said & self.words) > len(said)


def _words_of(text: str) -> str:
    """All words of a text, with a space before and behind each."""
    return f" {' '.join(_WORD.findall(folded(text)))} "


def content_words(text: str) -> Iterator[str]:
    """The content words of a text without endings and accents, its numbers, and names in capitals."""
    parts = unicodedata.normalize("NFD", plain_form(_CITATION.sub(" ", text)))
    plain = unicodedata.normalize("NFC", "".join([each for each in parts if not unicodedata.combining(each)]))
    for found in _WORD.finditer(_THOUSANDS.sub("", plain)):
        word = found[0]
        key = folded(word)
        capitals = word.removesuffix("s")
        if word[0].isdigit():
            yield key
        elif _UNSPACED.match(word):
            pairs = [key[place : place + 2] for place in range(max(len(key) - 1, 1))]
            yield from (pair for pair in pairs if not _KANA.fullmatch(pair))
        elif len(capitals) > 1 and capitals.isupper():
            yield folded(capitals)
        elif key not in _FUNCTION_WORDS and (len(key) >= _SHORTEST or _is_short_name(word)):
            yield key[:_SHORTEST]


def _is_short_name(word: str) -> bool:
    """Whether a word of three letters has a capital, as names have."""
    return len(word) == _SHORTEST - 1 and word.istitle()
