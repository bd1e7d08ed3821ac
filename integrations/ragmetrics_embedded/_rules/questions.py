"""Questions that a text answers, made from its statements by templates."""

import re
from itertools import chain, zip_longest

from ragmetrics_core.texts import plain_form
from ragmetrics_embedded._rules.refusals import is_missing_remark
from ragmetrics_embedded._rules.statements import split_subject, statements_of
from ragmetrics_embedded._support.vocabulary import (
    OPEN_QUESTIONS,
    OPENING,
    PRONOUNS,
    SUBORDINATE,
    language_of,
)
from ragmetrics_embedded._support.words import read_words

__all__ = ["questions_for"]

_MOST_WORDS = 8
_WORD = re.compile(r"[\w'’]+")
_JOINED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def questions_for(answer: str, count: int) -> tuple[str, ...]:
    """Different questions for an answer, the most telling first; fewer than `count` when it gives no more.

    Of each statement, the subject is asked for ("What allocates the address?"), then what is known of it,
    then what is said about its key words. A text in another language than English is asked about by its key
    words. The words of a question are those of the text, which is what a cosine can compare.
    """
    plain = plain_form(answer)
    statements = statements_of(plain)
    telling = [text for text in statements if not is_missing_remark(text)]
    rounds = [_variants(statement) for statement in telling or statements]
    # First one question of each statement, so that they differ.
    found = dict.fromkeys(chain.from_iterable(zip_longest(*rounds)))
    return tuple(filter(None, found))[:count]


def _variants(statement: str) -> list[str]:
    bare = statement.strip().rstrip(".!。！ ")
    content = {token.folded for token in read_words(statement).tokens if token.kind in {"word", "name"}}
    words = _WORD.findall(bare)
    telling = [word for word in words if word.casefold() in content]
    key_words = " ".join(dict.fromkeys(telling[:_MOST_WORDS]))
    language = "cjk" if _JOINED.search(bare) else language_of([word.casefold() for word in words]).code
    if language != "en":
        subject = bare if language == "cjk" else key_words or bare
        return [OPEN_QUESTIONS[language].format(subject)] if language in OPEN_QUESTIONS else [f"{bare}?"]
    parts = split_subject(bare)
    if parts is not None and (parts.subject.split()[0].casefold() in SUBORDINATE or "(" in parts.subject):
        parts = None
    about = f"What is said about {key_words or bare}?"
    if parts is None:
        return [f"What about {_lowered(bare)}?", about]
    subject = _lowered(parts.subject)
    asked = f"What {parts.predicate}?" if subject.casefold() not in PRONOUNS else about
    return [asked, f"What is known of {subject}?", about]


def _lowered(text: str) -> str:
    """The text as it stands inside a sentence: a capital that is only the sentence's goes."""
    first = text.split(maxsplit=1)[0] if text.split() else ""
    plain = first[1:].islower() and first.casefold() in OPENING
    return text[:1].lower() + text[1:] if plain else text
