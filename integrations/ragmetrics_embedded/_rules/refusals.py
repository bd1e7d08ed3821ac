"""Answers that decline to answer, and remarks that something is missing, in several languages."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.texts import plain_form
from ragmetrics_embedded._support.vocabulary import DECLINES

__all__ = ["is_missing_remark", "refusal"]

_LOOKED_AT: Final = 600
_BETWEEN: Final = {"letters": r"\W+(?:[\w'’/-]+\W+){0,3}?", "joined": r"[^。；]{0,12}?"}
# scripts whose words have no border that an expression could see
_JOINED: Final = re.compile("[\u0600-\u06ff\u0900-\u097f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_TURN: Final = re.compile(
    rf"\W*(?:{'|'.join(DECLINES['turns'].split())}|that said|sin embargo|但是|不过|然而)\b", re.IGNORECASE
)


def is_missing_remark(sentence: str) -> bool:
    """Whether a sentence says that something is unknown or not stated."""
    return _reason(sentence) is not None


def refusal(answer: str) -> str | None:
    """The way in which an answer declines, or None if it answers.

    It declines if its first sentence does and no answer follows after a turn ("However, ..."), or if all its
    sentences do.

    >>> refusal("NO ANSWER FOUND. The text is about something else.")
    'it says that no answer was found'
    >>> refusal("Paris. It is not a small town.")
    """
    sentences = split_sentences(answer)
    flags = [_reason(sentence) for sentence in sentences]
    if not sentences or flags[0] is None:
        return None
    turns = any(
        _TURN.match(sentence) and flag is None for sentence, flag in zip(sentences, flags, strict=True)
    )
    return None if turns else flags[0]


def _reason(sentence: str) -> str | None:
    text = plain_form(sentence[:_LOOKED_AT])
    return next((reason for reason, pattern in _patterns() if pattern.search(text)), None)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (reason, re.compile("|".join(map(_pattern, phrases)), re.IGNORECASE))
        for reason, phrases in DECLINES["phrases"].items()
    )


def _pattern(phrase: str) -> str:
    """A phrase of the vocabulary: words or alternatives in a row; an ellipsis is up to three others.

    `^` and `$` are the sentence's ends, and a word in capitals is any word of that list.
    """
    kind = "joined" if _JOINED.search(phrase) else "letters"
    ends = ("", "") if kind == "joined" else (r"(?<!\w)", r"(?!\w)")
    pattern, between = "", ""
    for part in phrase.split(" "):
        if part == "…":
            between = _BETWEEN[kind]
        elif part in {"^", "$"}:
            pattern += r"^\W*" if part == "^" else r"\W*$"
            between = ""
        else:
            words = "|".join(map(re.escape, _words(part)))
            pattern += f"{between}{ends[0]}(?:{words}){ends[1]}"
            between = r"\W+" if kind == "letters" else r"\s*"
    return pattern


def _words(part: str) -> Iterator[str]:
    for word in part.split("|"):
        yield from DECLINES["parts"][word].split() if word in DECLINES["parts"] else [word]
