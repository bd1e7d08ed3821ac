"""What stands in a text of verdicts: numbered blocks, "Verdict: ..." in them, reasons and quotes."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._reply_text import marker_number, squeeze, starts_number, unmarked
from ragmetrics_core.parsers._words import PHRASE, leading_verdict

__all__ = [
    "LINE",
    "SENTENCE_VERDICT",
    "STATEMENT",
    "Block",
    "BlockNotes",
    "VerdictWords",
    "blocks",
    "find_verdict",
    "notes",
]

LINE = 4000
"""How much of a line the verdict rules look at."""
_PLACES = 10
_VERDICT_LABEL = (
    r"(?:verdicts?|judg(?:e)?ments?|conclusions?|determination|decision|label|supported|attributed|answer|result|rating"
    r"|urteil|bewertung|ergebnis|fazit|gestützt|veredictos?|conclusi[oó]n|verdetto|giudizio|veredito|conclus[aã]o|oordeel|conclusie"
    r"|判断|结论|判定|裁决|判决|結論|評決|निर्णय|निष्कर्ष)"
)
STATEMENT = (
    r"(?:statements?|claims?|aussage|affirmation|énoncé|declaraci[oó]n|afirmaci[oó]n|affermazione"
    r"|afirmação|bewering|陈述|语句|第|कथन)"
)
_LABEL = lazy(_VERDICT_LABEL, re.IGNORECASE)
_NUMBER_AND_VERDICT = lazy(rf"\s*(?P<number>\d{{1,3}})\s+(?P<phrase>{PHRASE})[.,;]?\s*", re.IGNORECASE)
_VERDICT_LINE = lazy(
    rf"""(?:^|(?<=[.;!?。|>])|(?<=\s[-–—]))[\s*_>\-•+\#(]*(?:[✓✔✅❌✗]\s*)?
    (?:the\ |my\ )?(?:final\ |overall\ |abschließendes\ |endgültiges\ |最终|最終)?
    {_VERDICT_LABEL}(?:\ final[e]?)?
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


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    """The text cut at its numbered headings; what stands before the first one has no number."""
    block = Block(None, [])
    for line in lines:
        if (sentence := SENTENCE_VERDICT.match(line[:LINE])) is not None:
            yield block
            block = Block(int(sentence["number"]), [line])
        elif (marker := starts_number(line)) is not None:
            yield block
            block = Block(marker_number(marker), [line[marker.end() :]])
        elif (pair := _NUMBER_AND_VERDICT.fullmatch(line[:LINE])) is not None:
            yield block
            block = Block(int(pair["number"]), [pair["phrase"]])
        else:
            block.lines.append(line)
    yield block


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
