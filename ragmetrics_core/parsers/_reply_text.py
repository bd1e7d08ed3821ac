"""What all text rules share: a cleaned reply, its lines, and the lists in it."""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._reading import Hints, Reading
from ragmetrics_core.parsers._thoughts import has_thoughts, without_thoughts

__all__ = [
    "CUT_TEXT",
    "ITEM_LABEL",
    "ListEntry",
    "Listing",
    "bulleted",
    "clean",
    "few",
    "has_content",
    "is_marker",
    "is_refusal",
    "line_key",
    "listed_lines",
    "numbered",
    "own_lines",
    "plain",
    "sample_lines",
    "squeeze",
    "unfinished",
    "unmarked",
]

ITEM_LABEL = (
    r"(?:statements?|claims?|facts?|sentences?|items?|questions?|entit(?:y|ies)|aussagen?|behauptung|satz|fragen?"
    r"|affirmation|énoncé|phrase|pregunta|afirmaci[oó]n|declaraci[oó]n|enunciado|afirmação|declaração"
    r"|affermazione|dichiarazione|bewering|uitspraak|stelling|陈述|语句|句子|声明|问题|文|主張|質問|कथन|प्रश्न)"
)
"""What judges call a numbered item."""
# A marker is a number that cannot be the start of a decimal or a version: "3.5 GHz" is text, "3. Text" is
# a marker.
_NUMBER = lazy(
    rf"""[\s>#*_|]* (?:[-+•]\s+[*_]*)?
    (?: {ITEM_LABEL}\s*(?:no\.?|nr\.?|n°|\#)?\s*(?P<labelled>\d{{1,3}})
        [*_]* \s* (?:[.):\]：、．）]|[-–—]\s)+ [*_]* \s*
      | (?:[(\[]|\#|第)? (?P<plain>\d{{1,3}})
        (?: [)\]）、．]+[.:：]? [*_]* | [.:：] [*_]* (?=[\s\u3000-\u9fff*_"“]|$)
        | 条[、:：.]?|[-–—]\s) \s* )""",
    re.VERBOSE | re.IGNORECASE,
)
_BULLET = lazy(r"[\s>]*(?:\(?[a-z]\)\s+|[-*+•‣▪◦●○·∙–—]\s+|[•‣▪◦●]\s*)(?:\[[ xX]\]\s+)?")
_CONTENT = lazy(r"[^\W_]")
# Format characters, marks that only change the character before them, and halves of characters.
_INVISIBLE = frozenset({"Cf", "Mn", "Cs"})
_MOST_NOTES = 100
_EDGE_MARKUP = lazy(r"^(?:\*{1,3}|_{1,3}|`+)(.*?)(?:\*{1,3}|_{1,3}|`+)$", re.DOTALL)
_QUOTE_PAIRS = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "'": "'", "‘": "’"}
_PREFACE_END = lazy(r"[:：][\s*_]*$")
_PAIRS = ("()", "[]", "{}", "“”", "«»", "「」", "『』", "【】", "（）")
_LAST_LINE = 4000
_COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
# "Here are the three statements:"
_ANNOUNCED = lazy(
    rf"[^\n]{{0,60}}?(?<![\w.,])(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)})\s+(?:[a-z\-]+\s+){{0,3}}?"
    r"(?:statements|claims|facts|entities|names|questions|sentences|items|verdicts)\b[^\n.?!]{0,60}[:：]\s*\n",
    re.IGNORECASE,
)
_CHATTER = lazy(
    r"\W*(?:let me know|i hope|hope (?:this|that)|please let me|feel free|if you (?:need|want|have)|"
    r"note that i|is there anything|happy to help)\b",
    re.IGNORECASE,
)
_REFUSAL = lazy(
    r"""\W*(?:
      (?:i\W?m|i\ am|we\W?re)\ (?:very\ |so\ |really\ )?(?:sorry|afraid)\b
    | sorry\b | (?:my\ )?apologies\b | i\ apologi[sz]e
    | (?:unfortunately,?\ )?i\ (?:can\W?not|can\W?t|can\ not|won\W?t|will\ not|do\ not|don\W?t\ feel
      |am\ (?:not\ able|unable)|must\ decline)\b
    | i\ (?:don\W?t|do\ not)\ (?:know|have)\b
    | i\W?m\ (?:not\ able|unable|just\ an?\ ai|an?\ ai)\b
    | as\ an?\ (?:ai|large\ language|language)\b
    | es\ tut\ mir\ leid | (?:leider\ )?(?:kann|darf)\ ich\b | ich\ kann\b[^.\n]{0,40}\bnicht
    | (?:je\ suis\ )?d[ée]sol[ée]e?\b | je\ ne\ peux\ pas | je\ m.excuse
    | lo\ siento | no\ puedo\b | perd[oó]n
    | mi\ dispiace | non\ posso\b | desculpe | sinto\ muito | não\ posso\b
    | het\ spijt\ me | ik\ kan\b[^.\n]{0,40}\bniet
    | 抱歉 | 对不起 | 很抱歉 | 我无法 | 我不能 | 申し訳 | すみません | お答えでき | क्षमा\ करें | मुझे\ खेद | माफ
    )""",
    re.VERBOSE | re.IGNORECASE,
)


CUT_TEXT: Reading[Any] = Reading(None, "unread", ("the reply ends in the middle of its list",), cut=True)
"""How a list in plain text is read that shows that it was cut."""


class ListEntry(NamedTuple):
    """One entry of a list in a reply, with its number when the list is numbered."""

    number: int | None
    text: str


class Listing(NamedTuple):
    """The entries of a list, and the lines around it that are no entries."""

    items: tuple[ListEntry, ...]
    dropped: tuple[str, ...]


def plain(text: str) -> str:
    r"""The text without what nobody can see.

    Byte order marks and zero-width characters go, line ends become "\n", and lone surrogates become U+FFFD,
    since no file could hold them.
    """
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        text = re.sub("[\ufeff\u200b\u2060\u200e\u200f]", "", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.strip()


def clean(text: str) -> str:
    """A plain text without thoughts: how a line of the sample looks once a reader of replies has cut it."""
    text = plain(text)
    return without_thoughts(text).strip() if has_thoughts(text) else text


def squeeze(text: str) -> str:
    """The text with single spaces between its words."""
    return " ".join(text.split())


def has_content(text: str) -> bool:
    """Whether there is a letter or a digit in any script."""
    return text[:1].isalnum() or _CONTENT.search(text) is not None


def unmarked(text: str) -> str:
    """The text without markdown emphasis or quotes that enclose all of it."""
    text = squeeze(text)
    for _ in range(3):
        inner = _EDGE_MARKUP.sub(r"\1", text) if text[:1] in "*_`" else text
        if (
            inner == text
            and len(text) > 2
            and _QUOTE_PAIRS.get(text[0]) == text[-1]
            and text[-1] not in text[1:-1]
        ):
            inner = text[1:-1]
        if inner == text:
            break
        text = inner.strip()
    return text


def few(notes: Sequence[str], more: int = 0) -> tuple[str, ...]:
    """The first hundred notes on what was dropped, and how many more there are, to keep records readable."""
    kept = tuple(notes[:_MOST_NOTES])
    more = max(more, 0) + len(notes) - len(kept)
    return (*kept, f"and {more} more") if more else kept


def is_refusal(text: str) -> bool:
    """Whether the reply is a model that declines to do the task (in any of ten languages)."""
    return _REFUSAL.match(text) is not None


def unfinished(text: str, hints: Hints, entries: int | None = None) -> bool:
    """Whether plain text shows that it was cut: its end is missing, or a part of what it announced.

    A fence, bracket or quote that its last line opens and nothing closes, and a list that is shorter than its
    introduction says. Where the provider says that the model stopped by itself, the text is whole.

    Args:
        text: the reply.
        hints: whether the model stopped by itself.
        entries: how many entries were read from it, where it is a list.
    """
    if hints.stopped:
        return False
    if text.count("```") % 2:
        return True
    last = text.rstrip().rpartition("\n")[2][-_LAST_LINE:]
    opened = any(last.count(pair[0]) > last.count(pair[1]) for pair in _PAIRS)
    if opened or last.count('"') % 2:
        return True
    announced = None if entries is None else _ANNOUNCED.match(text[:200])
    if announced is None or entries is None:
        return False
    word = announced["count"].casefold()
    return entries < (int(word) if word.isdigit() else _COUNTS.index(word) + 2)


def own_lines(text: str, hints: Hints) -> list[str]:
    """The lines of the reply that are no lines of the sample: a judge that copies them says nothing by it."""
    copied = sample_lines(hints.sample) if hints.sample else frozenset[str]()
    lines = html.unescape(text).split("\n") if "&" in text else text.split("\n")
    return [line for line in lines if not line or not copied or line_key(line) not in copied]


@lru_cache(maxsize=64)
def sample_lines(texts: tuple[str, ...]) -> frozenset[str]:
    """The keys of the texts' lines, in every way in which a reader of replies may come to cut them."""
    forms = [form for text in texts for form in (text, clean(text), html.unescape(clean(text)))]
    lines = {line for form in dict.fromkeys(forms) for line in (*form.split("\n"), *form.splitlines())}
    cut = [clean(line) for line in lines if "<" in line or "[/" in line]
    return frozenset({line_key(line) for line in (*lines, *cut)} - {""})


def line_key(line: str) -> str:
    """The line as copies are recognised by: no case, spaces, entities and characters that cannot be seen.

    The mark that prompts put in place of the "<" of a fence counts as one, so that a copy of what was shown
    is a copy of the sample.
    """
    if "&" in line:
        line = html.unescape(line)
    if not line.isascii():
        line = unicodedata.normalize("NFKC", line).replace("‹", "<")
        line = "".join(char for char in line if unicodedata.category(char) not in _INVISIBLE)
    return " ".join(line.split()).casefold()


def starts_number(line: str) -> re.Match[str] | None:
    """The numbered marker at the start of a line ("1.", "(2)", "Statement 3:", "第4条"), if there is one."""
    return _NUMBER.match(line)


def marker_number(match: re.Match[str]) -> int:
    """The number of a marker that `starts_number` found."""
    return int(match["labelled"] or match["plain"])


def is_marker(line: str, *, of: int | None = None) -> bool:
    """Whether a line is a numbered marker and nothing else: "1.", "(2)"; with `of`, that number's."""
    marker = starts_number(line)
    if marker is None or has_content(line[marker.end() :]):
        return False
    return of is None or marker_number(marker) == of


def starts_bullet(line: str) -> re.Match[str] | None:
    """The bullet at the start of a line, if there is one; a line of dashes is a rule, not a bullet."""
    found = _BULLET.match(line)
    return found if found and has_content(line[found.end() :]) else None


def numbered(lines: Iterable[str]) -> Listing:
    """The entries of a numbered list; lines that follow an entry belong to it until a blank line.

    An entry that only introduces bullets below it gives way to its bullets.
    """
    return _collect(lines, numbers=True)


def bulleted(lines: Iterable[str]) -> Listing:
    """The entries of a bulleted list; indented lines that follow an entry belong to it."""
    return _collect(lines, numbers=False)


class _Open(NamedTuple):
    number: int | None
    parts: list[str]
    bullets: list[list[str]]


def _collect(lines: Iterable[str], *, numbers: bool) -> Listing:
    found: list[_Open] = []
    around: list[str] = []
    inside = False
    for line in lines:
        if not line.strip():
            inside = inside and bool(found) and not has_content("".join(found[-1].parts))
            continue
        marker = starts_number(line) if numbers else starts_bullet(line)
        if marker is not None:
            number = marker_number(marker) if numbers else None
            found.append(_Open(number, [line[marker.end() :]], []))
            inside = True
        elif numbers and found and (bullet := starts_bullet(line)) is not None:
            found[-1].bullets.append([line[bullet.end() :]])
        elif inside and not (not numbers and not line[0].isspace()) and not _CHATTER.match(line):
            (found[-1].bullets[-1] if found[-1].bullets else found[-1].parts).append(line)
        elif has_content(line):
            around.append(line)
    dropped = [f"not an entry of the list: {_short(line)}" for line in around[:_MOST_NOTES]] if found else []
    return Listing(tuple(_items(found, dropped)), few(dropped, len(around) - _MOST_NOTES))


def _items(found: list[_Open], dropped: list[str]) -> Iterator[ListEntry]:
    for entry in found:
        text = unmarked("\n".join(entry.parts))
        if entry.bullets:
            if has_content(text):
                dropped.append(f"introduces the bullets below it: {_short(text)}")
            yield from (ListEntry(entry.number, unmarked("\n".join(parts))) for parts in entry.bullets)
        else:
            yield ListEntry(entry.number, text)


def listed_lines(lines: Iterable[str]) -> Listing:
    """Every line is an entry, apart from blank ones, fences, an introduction and closing chatter."""
    items: list[ListEntry] = []
    dropped: list[str] = []
    for line in lines:
        if not line or not has_content(line) or line.lstrip().startswith("```"):
            continue
        text = unmarked(line.lstrip("#> \t"))
        if _PREFACE_END.search(text) and not items:
            dropped.append(f"an introduction: {_short(text)}")
        elif _CHATTER.match(text):
            dropped.append(f"not an entry of the list: {_short(text)}")
        else:
            items.append(ListEntry(None, text))
    return Listing(tuple(items), few(dropped))


def _short(text: str, limit: int = 80) -> str:
    text = squeeze(text[: limit * 4])
    return text if len(text) <= limit else text[: limit - 1] + "…"
