"""Texts to statements: sentences without framing."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ragmetrics_core.parsers import split_sentences
from ragmetrics_embedded._support.vocabulary import (
    AFTER_VERB,
    AUXILIARIES,
    VERBS,
)

__all__ = ["split_subject", "statements_by_sentence", "statements_of"]

_SOURCE = (
    r"(?:contexts?|texts?|passages?|documents?|information|sources?|articles?|excerpts?|search\ results?)"
)
_LABEL = re.compile(
    r"^\W{0,4}(?:final answer|answer|response|antwort|réponse|respuesta|risposta|resposta|antwoord|ответ"
    r"|回答|答案|答)\s*[:：]\W{0,4}\s*",
    re.IGNORECASE,
)
_FRAME = re.compile(
    rf"^(?:based (?:solely |only )?(?:up)?on|according to|as per|as (?:stated|mentioned) in"
    rf"|from|per|given|in|using)"
    rf"\s+(?:the\s+)?(?:(?:given|provided|above|retrieved|supplied|available)\s+)*{_SOURCE}"
    rf"(?:\s+(?:provided|given|above|information|passages))*\s*,\s*",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(
    # from where the spaces begin, so that a text of spaces is not looked through from each of them
    rf"(?<!\s)\s*+\((?:based|taken|from|according|see|source|as)\b[^()]{{0,60}}\b{_SOURCE}\b[^()]{{0,20}}\)",
    re.IGNORECASE,
)
_FRAMING = re.compile(
    rf"""\W*(?: (?:based|taken|from|according)\b.{{0,60}}\b{_SOURCE}\W*
      | sure\b.{{0,60}} | (?:of\ course|certainly|absolutely|great\ question)\W*
      | here\ (?:is|are)\b.{{0,80}} | (?:i\ )?hope\ (?:this|that|it)\b.{{0,80}}
      | let\ me\ know\b.* | (?:please\ )?feel\ free\b.*
      | (?:in\ (?:summary|conclusion|short)|to\ summari[sz]e|overall)\W* | sources?\W* | references?\W* )""",
    re.IGNORECASE | re.VERBOSE,
)  # fmt: skip
_BARE = re.compile(
    r"\W*(?:yes|no|ja|nein|oui|non|sí|si|sim|não|да|нет|是的?|不是|否|はい|いいえ)\W*", re.IGNORECASE
)
_MARKUP = re.compile(r"\*\*|__|`|^#{1,6}\s+|^>\s+")
_SEMICOLON = re.compile("[;；]")
_WORD = re.compile(r"[\w'’-]+")
_LONGEST_SUBJECT = 7


class Subject(NamedTuple):
    """A sentence cut at its first verb."""

    subject: str
    predicate: str


def statements_of(text: str) -> tuple[str, ...]:
    """The statements of a text, in order, each once.

    They are its sentences, cut at semicolons. Phrases like "Based on the given context" and lines that only
    introduce a list are left out, and a bare "yes" beside other statements.

    >>> statements_of("Answer: The SMF selects a UPF; it sends the rules. (Based on the given context.)")
    ('The SMF selects a UPF.', 'it sends the rules.')
    """
    found = statements_by_sentence(split_sentences(text))
    return tuple(dict.fromkeys(part for parts in found for part in parts))


def statements_by_sentence(sentences: Sequence[str]) -> list[tuple[str, ...]]:
    """The statements of each sentence of a text."""
    plain = [_unframed(sentence) for sentence in sentences]
    last = max((place for place, sentence in enumerate(plain) if sentence), default=0)
    found = [
        tuple([_closed(part) for part in _SEMICOLON.split(sentence) if _has_content(part)])
        if place == last or not _introduces_list(sentence)
        else ()
        for place, sentence in enumerate(plain)
    ]
    kept = [tuple([part for part in parts if not _BARE.fullmatch(part)]) for parts in found]
    return kept if any(kept) else found


def split_subject(sentence: str) -> Subject | None:
    """An English sentence at its first verb; None when no short subject stands before a verb."""
    words = list(_WORD.finditer(sentence))
    for place, word in enumerate(words[: _LONGEST_SUBJECT + 1]):
        is_verb = word[0] in AUXILIARIES or word[0] in VERBS
        if (
            place
            and is_verb
            and not (word[0] in VERBS and word[0][-1] != "s" and words[place - 1][0].casefold() in AFTER_VERB)
        ):
            subject = sentence[: word.start()].strip()
            return None if "," in subject or ":" in subject else Subject(subject, sentence[word.start() :])
    return None


def _unframed(sentence: str) -> str:
    plain = _MARKUP.sub("", sentence).strip()
    plain = _LABEL.sub("", plain)
    if _FRAMING.fullmatch(plain):
        return ""
    cut = _FRAME.sub("", plain)
    if cut != plain:
        cut = cut[:1].upper() + cut[1:]
    cut = _IN_BRACKETS.sub("", cut).strip()
    return cut if any(char.isalnum() for char in cut) else ""


def _introduces_list(sentence: str) -> bool:
    """Whether a line only announces what follows: it ends in a colon and has no verb."""
    if not sentence.endswith((":", "：")):
        return False
    words = [word.casefold() for word in _WORD.findall(sentence)]
    return not any(word in AUXILIARIES or word in VERBS for word in words[1:]) and len(words) < 12


def _closed(part: str) -> str:
    part = part.strip().rstrip(":,：， ").strip()
    return part if not part or part[-1] in ".!?。！？।؟)”\"'」" or not part.isascii() else f"{part}."


def _has_content(piece: str) -> bool:
    return any(char.isalnum() for char in piece)
