"""Texts to statements: sentences without framing, split where two predicates are joined."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ragmetrics_core.models._support.vocabulary import (
    AFTER_VERB,
    AUXILIARIES,
    PRONOUNS,
    SUBORDINATE,
    VERBS,
    language_of,
)
from ragmetrics_core.parsers import split_sentences

__all__ = ["split_subject", "statements_of"]

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
_JOINT = re.compile(r"(?P<comma>,)?\s+(?P<word>and|but|while|whereas)\s+")
_RELATIVE = re.compile(
    r"(?P<name>(?:\b[A-Z][\w/-]*\s+)*\b[A-Z][\w/-]*(?:\s*\([^()]*\))?),\s+(?:which|who)\s+(?P<rest>.+)$"
)
_LISTED = re.compile(
    r"(?:^|,\s*|\s(?:and|or|und|et|y|e)\s+)(?P<item>[^(),;]{2,60}\([^()]+\))(?=\s*(?:,|and\b|or\b|und\b|et\b|[.;]?\s*$))"
)
_NOUN = re.compile(
    r"\b(?:the|a|an)\s+(?P<noun>(?:[\w/()-]+\s+){0,5}[\w-]+),\s+(?:which|who)\s+(?P<rest>.+)$", re.IGNORECASE
)
_PAIRS = frozenset({"both", "between", "either", "neither"})
_WORD = re.compile(r"[\w'’-]+")
_JOINED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff]")
_LONGEST_SUBJECT = 7
_LONGEST = 1500


class Subject(NamedTuple):
    """A sentence cut at its first verb."""

    subject: str
    predicate: str


def statements_of(text: str) -> tuple[str, ...]:
    """The statements of a text, in order, each once.

    Sentences are split at semicolons, at "and", "but" and the like where both sides have a verb of their
    own, at ", which" behind a name, and at the items of a list in which each has its explanation in
    brackets; other languages than English at semicolons only. Where the subject is a name, a second
    predicate and a leading "it" get it as theirs. Phrases like "Based on the given context" and lines that
    only introduce a list are left out.

    >>> statements_of("Answer: The SMF selects a UPF and sends it the rules. (Based on the given context.)")
    ('The SMF selects a UPF.', 'The SMF sends it the rules.')
    """
    sentences = split_sentences(text)
    found: list[str] = []
    subject = ""
    for place, sentence in enumerate(sentences):
        plain = _unframed(sentence)
        if not plain or _introduces_list(plain, is_last=place == len(sentences) - 1):
            continue
        plain = _with_name(plain, subject)
        parts = list(_parts(plain))
        found += parts
        subject = _name_of(parts[0]) or subject if parts else subject
    kept = [part for part in found if not _BARE.fullmatch(part)] or found
    return tuple(dict.fromkeys(kept))


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


def _introduces_list(sentence: str, *, is_last: bool) -> bool:
    """Whether a line only announces what follows: it ends in a colon and has no verb."""
    if is_last or not sentence.endswith((":", "：")):
        return False
    words = [word.casefold() for word in _WORD.findall(sentence)]
    return not any(word in AUXILIARIES or word in VERBS for word in words[1:]) and len(words) < 12


def _parts(sentence: str) -> Iterator[str]:
    subject = ""
    for place, found in enumerate(filter(_has_content, re.split(r"[;；]\s*", sentence))):
        piece = _with_name(_capital(found), subject) if place else found
        subject = _name_of(piece) or subject
        listed = _listed(piece)
        if listed:
            yield from listed
        elif _is_english(piece):
            yield from map(_closed, _clauses(piece.strip()))
        else:
            yield _closed(piece.strip())


def _listed(piece: str) -> list[str]:
    """The items of "There are two: A (which is ...) and B (which is ...)", and the words before the colon."""
    head, colon, tail = piece.partition(":")
    items = [found["item"].strip() for found in _LISTED.finditer(tail.strip())] if colon else []
    if len(items) < 2 or sum(map(len, items)) < 0.7 * len(tail):
        return []
    return [*([_closed(head)] if split_subject(head) or len(head.split()) > 2 else []), *map(_closed, items)]


def _clauses(sentence: str) -> Iterator[str]:
    """Cut at the first joint of two predicates, again and again."""
    first = _WORD.search(sentence)
    if first is None or first[0].casefold() in SUBORDINATE or len(sentence) > _LONGEST:
        yield sentence
        return
    relative = _RELATIVE.search(sentence)
    if (
        relative
        and "," not in relative["rest"]
        and _is_predicate(relative["rest"])
        and split_subject(sentence[: relative.end("name")])
    ):
        yield from _clauses(sentence[: relative.end("name")])
        yield from _clauses(f"{_determined(sentence, relative)} {relative['rest']}")
        return
    noun = _nearest(_NOUN, sentence)
    if (
        noun
        and "," not in noun["rest"]
        and _is_predicate(noun["rest"])
        and split_subject(sentence[: noun.end("noun")])
    ):
        yield from _clauses(sentence[: noun.end("noun")])
        yield from _clauses(f"The {noun['noun']} {noun['rest']}")
        return
    for joint in _JOINT.finditer(sentence):
        left, right = sentence[: joint.start()], sentence[joint.end() :]
        if second := _second_clause(left, right):
            yield left
            yield from _clauses(second)
            return
    yield sentence


def _nearest(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The match that begins last."""
    found = start = None
    while (start := pattern.search(text, 0 if start is None else start.start() + 1)) is not None:
        found = start
    return found


def _second_clause(left: str, right: str) -> str | None:
    """The right side of a joint as a sentence of its own; None when the joint only joins words."""
    words = _WORD.findall(right)
    if (
        len(words) < 3
        or _PAIRS & {word.casefold() for word in _WORD.findall(left)}
        or left.count("(") != left.count(")")
    ):
        return None
    subject = split_subject(left)
    if subject is None or len(_WORD.findall(subject.predicate)) < 2:
        return None
    if _is_predicate(right):
        return f"{subject.subject} {right}"
    if words[0] in PRONOUNS and (words[1] in AUXILIARIES or words[1] in VERBS):
        name = _name_of(left)
        return f"{name} {right[right.index(words[0]) + len(words[0]) :].strip()}" if name else _capital(right)
    own = split_subject(right)
    if own is not None and _starts_noun_phrase(own.subject):
        return _capital(right)
    return None


def _is_predicate(text: str) -> bool:
    """Whether a text begins with a verb that has something behind it."""
    words = _WORD.findall(text)
    if len(words) < 2:
        return False
    if words[0] in AUXILIARIES:
        return True
    follows = words[1] in AFTER_VERB or words[1][0].isupper() or words[1][0].isdigit()
    return words[0] in VERBS and words[0].endswith(("s", "ed")) and follows


def _starts_noun_phrase(subject: str) -> bool:
    first = subject.split(maxsplit=1)[0]
    return (
        first.casefold() in {"the", "a", "an", "its", "their", "this", "these", "each", "no", "all"}
        or first[0].isupper()
    )


def _determined(sentence: str, relative: re.Match[str]) -> str:
    """The name before ", which", with the article in front of it and without what is in brackets."""
    before = sentence[: relative.start("name")].split()
    name = re.sub(r"(?<!\s)\s*+\(.*\)", "", relative["name"])
    return f"The {name}" if before and before[-1].casefold() in {"the", "a", "an"} else name


def _with_name(sentence: str, subject: str) -> str:
    """The sentence with the last subject in place of a leading "it" or "they"."""
    words = _WORD.findall(sentence)
    if (
        not subject
        or len(words) < 2
        or words[0] not in {"It", "They"}
        or not (words[1] in AUXILIARIES or words[1] in VERBS)
    ):
        return sentence
    plural = subject[-1] == "s" or " and " in subject
    return (
        f"{subject}{sentence[len(words[0]) :]}"
        if plural == (words[0] == "They") and sentence.startswith(words[0])
        else sentence
    )


def _name_of(statement: str) -> str:
    """The subject of a statement when a name or abbreviation is in it."""
    parts = split_subject(statement)
    if parts is None:
        return ""
    # the first word has a capital anyway, unless it is an article
    words = _WORD.findall(parts.subject)
    first_tells = len(words) == 1 or any(char.isupper() for char in words[0][1:])
    named = any(word[0].isupper() or word[0].isdigit() for word in (words if first_tells else words[1:]))
    return parts.subject if named and words[0] not in {"It", "They", "There", "This", "These"} else ""


def _is_english(text: str) -> bool:
    """Whether a text is in letters, and no other language has more function words in it."""
    return (
        not _JOINED.search(text)
        and language_of([word.casefold() for word in _WORD.findall(text)]).code == "en"
    )


def _closed(part: str) -> str:
    part = part.strip().rstrip(":,：， ").strip()
    return part if not part or part[-1] in ".!?。！？।؟)”\"'」" or not part.isascii() else f"{part}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _has_content(piece: str) -> bool:
    return any(char.isalnum() for char in piece)
