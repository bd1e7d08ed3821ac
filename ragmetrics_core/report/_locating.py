"""Where a statement stands in the text that it was made from."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ragmetrics_core.parsers import locate, split_sentences

__all__ = ["LocatedText", "Sought"]

ALIKE = 0.6
LONGEST = 20_000
# A word, or one character of a script that writes no spaces.
_WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|\w+")


class LocatedText(NamedTuple):
    """A piece of the text; `exact` when it is the statement itself, else the sentence closest to it."""

    start: int
    end: int
    exact: bool


@dataclass(frozen=True)
class Sought:
    """A text in which statements are looked up."""

    text: str

    def find(self, statement: str) -> LocatedText | None:
        """The place of the statement, else of the sentence with most of its words; None when there is none.

        >>> Sought("He lived in Ulm. He was born in 1879.").find("Einstein was born in 1879.")
        LocatedText(start=17, end=37, exact=False)
        """
        if span := locate(statement, [self.text]):
            return LocatedText(span.start, span.end, True)
        words = _words(statement)
        if not words or len(self.text) > LONGEST:
            return None
        best = max(self._sentences, key=lambda place: len(words & self._sentences[place]), default=None)
        if best is None or len(words & self._sentences[best]) < ALIKE * len(words):
            return None
        return LocatedText(*best, False)

    @cached_property
    def _sentences(self) -> dict[tuple[int, int], frozenset[str]]:
        """The words of each sentence, by its place."""
        found: dict[tuple[int, int], frozenset[str]] = {}
        at = 0
        for sentence in split_sentences(self.text):
            start = self.text.find(sentence, at)
            if start >= 0:
                at = start + len(sentence)
                found[start, at] = _words(sentence)
        return found


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
