"""What stands in a text of verdicts: numbered blocks, "Verdict: ..." in them, reasons and quotes."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._reply_text import ITEM_LABEL, marker_number, squeeze, starts_number, unmarked
from ragmetrics_core.parsers._words import PHRASE, leading_verdict, verdict_word

__all__ = [
    "LINE",
    "NUMBER_NAME",
    "SENTENCE_VERDICT",
    "STATEMENT",
    "VERDICT_LABEL",
    "Block",
    "BlockNotes",
    "CutReply",
    "TextVerdict",
    "VerdictWords",
    "blocks",
    "find_verdict",
    "notes",
]

LINE = 4000
"""How much of a line the verdict rules look at."""
_PLACES = 10
VERDICT_LABEL = (
    r"(?:verdicts?|judg(?:e)?ments?|conclusions?|determination|decision|label|supported|attributed|answer|result|rating"
    r"|urteil|bewertung|ergebnis|fazit|gestützt|veredictos?|conclusi[oó]n|verdetto|giudizio|veredito|conclus[aã]o|oordeel|conclusie"
    r"|判断|结论|判定|裁决|判决|結論|評決|निर्णय|निष्कर्ष)"
)
STATEMENT = (
    r"(?:statements?|claims?|aussage|affirmation|énoncé|declaraci[oó]n|afirmaci[oó]n|affermazione"
    r"|afirmação|bewering|陈述|语句|第|कथन)"
)
NUMBER_NAME = (
    rf"(?:{STATEMENT}|{ITEM_LABEL}|number|nummer|n[uú]mero|numéro|nr|no|n[uú]m|n\.?[°º]|№|\#|编号|番号|क्रमांक)"
)
"""What may stand before the number of a statement."""
_LABEL = lazy(VERDICT_LABEL, re.IGNORECASE)
_ROW = lazy(
    rf"[\s>*_`|•\-]*(?P<name>(?:{NUMBER_NAME}[\s.]{{0,3}}){{1,2}})?[(\[<]?(?P<number>\d{{1,3}})[)\]>*_`]*"
    r"(?P<between>\s*(?:[.:：、．,;=|/]|->|=>|→|[-–—])[\s.:|]*|\s+)(?P<rest>[*_`(\[\"'“]*[^\s\d].*)",
    re.IGNORECASE,
)
_PHRASE = lazy(rf"{PHRASE}[.,;]?", re.IGNORECASE)
# The verdict of a line that is nothing but a number and a verdict.
_SHORT = 60
_VERDICT_LINE = lazy(
    rf"""(?:^|(?<=[.;!?。|>])|(?<=\s[-–—]))[\s*_>\-•+\#(]*(?:[✓✔✅❌✗]\s*)?
    (?:the\ |my\ )?(?:final\ |overall\ |abschließendes\ |endgültiges\ |最终|最終)?
    {VERDICT_LABEL}(?:\ final[e]?)?
    (?:\s+(?:for|on|zu|pour|para|per|voor))?\s*(?:{STATEMENT}?\s*[\#(]?(?P<number>\d{{1,3}})\)?)?[\s*_]*
    (?:[:：=]|[-–—→](?=\s)|\s(?:is|ist|est|es|è|é)(?:\s*[:：]|\s))[\s*_]*(?P<rest>.*)$""",
    re.VERBOSE | re.IGNORECASE,
)
_LABELLED = lazy(
    r"[\s*_>\-•+]*(?P<label>reason(?:ing)?|explanation|rationale|justification|begründung|erklärung|explication|raison|explicaci[oó]n|razón|"
    r"spiegazione|motivo|explicação|uitleg|reden|理由|解释|説明|原因|evidence|quotes?|beleg)[\s*_]*[:：][\s*_]*(?P<text>.+)$",
    re.IGNORECASE,
)
_EVIDENCE_LABELS = frozenset({"evidence", "quote", "quotes", "beleg"})
SENTENCE_VERDICT = lazy(
    rf"[\s*_>#-]*{STATEMENT}\s*\#?(?P<number>\d{{1,3}})[\s*_\"'”]*\s(?:is|was|are|can\s+be|ist|wird|est|es|está|è|é)\s+[*_]*"
    rf"(?P<phrase>{PHRASE})(?!\w)[*_]*(?=\s*(?:$|[.,:;(–—-]|\s(?:by|in|because|since|as|durch|weil|par|por|da|from)\b))(?P<rest>.*)",
    re.IGNORECASE,
)


class Block(NamedTuple):
    """A numbered heading (None before the first one) and the lines that belong to it."""

    number: int | None
    lines: list[str]


class _RowText(NamedTuple):
    """A number and the text with its verdict."""

    number: int
    rest: str


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    """The text cut at its numbered headings; what stands before the first one has no number.

    Blank lines say nothing and are left out: a reply may hold a hundred thousand.
    """
    block = Block(None, [])
    for line in lines:
        if not line or line.isspace():
            continue
        if (sentence := SENTENCE_VERDICT.match(line[:LINE])) is not None:
            yield block
            block = Block(int(sentence["number"]), [line])
        elif (marker := starts_number(line)) is not None:
            yield block
            block = Block(marker_number(marker), [line[marker.end() :]])
        elif (row := _row_of_short(line) if len(line) <= _SHORT else _row(line)) is not None:
            yield block
            block = Block(row.number, [row.rest])
        else:
            block.lines.append(line)
    yield block


def _row(line: str) -> _RowText | None:
    """A line that is a number and its verdict: "1 yes", "Nr. 1: ja", "1 | no".

    A reason may follow where the number is named: "#1 no, the year differs". "No. 1 yes" names no number.
    """
    row = _ROW.fullmatch(line[:LINE].rstrip())
    if row is None:
        return None
    name, rest = (row["name"] or "").strip(" .").casefold(), row["rest"].rstrip("|").rstrip()
    if name == "no" and row["between"].isspace():
        return None
    number = int(row["number"])
    if len(rest) <= _SHORT and (verdict_word(rest) is not None or _PHRASE.fullmatch(rest)):
        return _RowText(number, rest.rstrip(".,; "))
    return _RowText(number, rest) if name and leading_verdict(rest) is not None else None


# The lines of a reply say the same few words over and over.
_row_of_short = lru_cache(maxsize=1024)(_row)


class CutReply(NamedTuple):
    """The judge's own lines, and the same lines as blocks under their numbers."""

    lines: Sequence[str]
    blocks: Sequence[Block]


class TextVerdict(NamedTuple):
    """A verdict in the text; the number and even the verdict may be missing.

    Attributes:
        number: the statement's number.
        supported: the verdict; None for words that decide nothing.
        reason: what the judge says beside it.
        evidence: what it quotes beside it.
        shown: the words that were read.
        disputed: the same place says the contrary as well, so that no other rule may read a verdict there.
    """

    number: int | None
    supported: bool | None
    reason: str | None = None
    evidence: tuple[str, ...] = ()
    shown: str = ""
    disputed: bool = False


class VerdictWords(NamedTuple):
    """The words "Verdict: ..." in a line: the number they name, what follows and what stands before them."""

    number: int | None
    rest: str
    before: str


class BlockNotes(NamedTuple):
    """What a block says beside its verdict."""

    reason: str
    evidence: tuple[str, ...]
    is_labelled: bool


def notes(block: Block) -> BlockNotes:
    """The reason and quotes of a block: those with a label, else all its text but the verdict."""
    labelled: list[str] = []
    evidence: list[str] = []
    plain: list[str] = []
    for line in block.lines:
        if (label := _LABELLED.match(line[:LINE])) is not None:
            is_evidence = label["label"].casefold() in _EVIDENCE_LABELS
            (evidence if is_evidence else labelled).append(unmarked(label["text"]))
        else:
            found = find_verdict(line)
            plain.append(line if found is None else found.before)
    text = unmarked("\n".join(plain)) if block.number is not None else ""
    if labelled:
        text = squeeze(" ".join(labelled))
    return BlockNotes(text.strip("*").rstrip(" -–—:("), tuple(evidence), bool(labelled))


def find_verdict(line: str) -> VerdictWords | None:
    """The last place in a line that says "Verdict: ..." with a verdict behind it."""
    line = line[:LINE]
    places = [found.start() for found in _LABEL.finditer(line)]
    for place in places[:-_PLACES:-1]:
        start = max(place - 24, 0)
        found = _VERDICT_LINE.search(line, start, place + 80)
        if found is None:
            continue
        rest = line[found.start("rest") :]
        if leading_verdict(rest) is not None:
            number = int(found["number"]) if found["number"] else None
            return VerdictWords(number, rest, line[: found.start()])
    return None
