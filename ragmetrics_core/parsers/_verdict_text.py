"""Verdicts in plain text: final lists, "Verdict:" lines, tables, numbered lines, one bare verdict."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from ragmetrics_core.parsers._copies import judged_lines
from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._numbered_verdict import NumberedVerdict
from ragmetrics_core.parsers._quoting import without_quotes
from ragmetrics_core.parsers._reading import Hints
from ragmetrics_core.parsers._reply_text import (
    has_content,
    is_marker,
    marker_number,
    starts_bullet,
    starts_number,
    unmarked,
)
from ragmetrics_core.parsers._verdict_blocks import (
    LINE,
    SENTENCE_VERDICT,
    STATEMENT,
    Block,
    blocks,
    find_verdict,
    notes,
)
from ragmetrics_core.parsers._words import PHRASE, LeadingVerdict, leading_verdict, verdict_word

__all__ = ["VerdictText", "read_verdict_text"]

_FINAL_HEADING = lazy(
    r"""[\s\#*_>\-]*(?:\d{1,2}[.)]\s*)?(?:(?:so|thus|therefore|hence),?\ )?
    (?:here\ (?:are|is)\ the\ |(?:die\ |les\ |los\ |the\ |i\ |as\ |os\ |de\ )?)
    (?: final\ (?:verdicts?|answers?|list|judg(?:e)?ments?) | verdicts?\ in\ order | verdicts
      | (?:endgültige[sn]?|abschließende[sn]?|finale[sn]?)\ (?:urteile?|bewertung(?:en)?|liste) | endurteile?
      | verdicts?\ fina(?:l|ls|ux) | veredictos?\ fina(?:l|les|is) | vereditos?\ fina(?:l|is)
      | (?:verdett[oi]|giudizi?o?)\ final[ei]
      | (?:eindoordeel|eindoordelen|(?:definitieve|finale)\ oordelen)
      | 最终(?:判断|裁决|结论|判定|判决|结果) | 最終(?:判定|判断|評決|結論) | अंतिम\ (?:निर्णय|फ़?ैसला|फैसले) )
    [^:：\n]{0,80} (?: [:：][\s*_]* | [\s*_]*$ )""",
    re.VERBOSE | re.IGNORECASE,
)
_ENTRY = lazy(
    rf"(?:[(\[]?(?:{STATEMENT}|s)?\s*\#?(?P<number>\d{{1,3}})\s*(?:[.):\]：、=\-–—]|->|→)+\s*)?(?P<phrase>{PHRASE})(?!\w)[\s.,;|、，；。)\]\"']*",
    re.IGNORECASE,
)
_SELF_VERDICT = lazy(
    rf"[\s*_>#-]*(?:(?:so|thus|therefore|hence),?\s+)?(?:the|this)\s+(?:statement|claim|verdict|answer)\s+(?:is|was|can\s+be)\s+[*_]*"
    rf"(?P<phrase>{PHRASE})(?!\w)[*_]*(?=\s*(?:$|[.,;(–—]|\s(?:by|in|because|since|as|from)\b))(?P<rest>.*)",
    re.IGNORECASE,
)
_TAG = lazy(r"</?[A-Za-z][\w-]{0,20}\s?/?>")
_BOXED = lazy(r"\\boxed\{(?:\\text\{)?([^{}\\]{1,40})\}{1,2}")
_TRAILING = lazy(
    rf"(?:[:：–—→|。]|->|=>|\s-|[.?!](?=\s))\s*[*_(\[]{{0,4}}(?P<phrase>{PHRASE})[*_)\]]{{0,4}}\s*[.!。]?\s*$",
    re.IGNORECASE,
)
_MARKED_TRAILING = lazy(
    rf"(?:\*\*|__|[(\[])\s*(?P<phrase>{PHRASE})\s*[.!]?(?:\*\*|__|[)\]])\s*[.!。]?\s*$", re.IGNORECASE
)
_DECIMAL = lazy(r"\d[.]\d")
_OTHER_NUMBERED = lazy(r"\W*\d")
# A verdict at the end of a line is short: only the last characters are searched, which keeps long lines
# linear.
_TAIL = 60
# The verdicts of 200 statements on one line.
_LONGEST_LIST = 1200


class VerdictText(NamedTuple):
    """What a text rule read, its name, and what did not count."""

    rule: str
    verdicts: tuple[NumberedVerdict, ...]
    dropped: tuple[str, ...] = ()


class _Reply(NamedTuple):
    """The judge's own lines, and the same lines as blocks under their numbers."""

    lines: Sequence[str]
    blocks: Sequence[Block]


class _Said(NamedTuple):
    """A verdict in the text; the number and even the verdict may be missing."""

    number: int | None
    supported: bool | None
    reason: str | None = None
    evidence: tuple[str, ...] = ()
    shown: str = ""


def read_verdict_text(reply: str, hints: Hints) -> VerdictText | None:
    """Try the text rules in their order; None when none of them reads the reply."""
    # A reply that is one word cannot be copied context, even when the sample has the same line ("Yes.").
    # "1." is no verdict on statement 1: a reply that was cut after the number.
    one_word = len(hints.numbers) == 1 and "\n" not in reply and not is_marker(reply, of=hints.numbers[0])
    if one_word and (verdict := verdict_word(reply)) is not None:
        return VerdictText("bare", (NumberedVerdict(number=hints.numbers[0], supported=verdict),))
    own = without_quotes("\n".join(judged_lines(reply, hints)), hints).split("\n")
    lines = [_BOXED.sub(r"\1", _TAG.sub(" ", line)).strip("$") for line in own]
    cut = _Reply(lines, tuple(blocks(lines)))
    rules: tuple[tuple[str, Callable[[_Reply, Hints], list[_Said] | None]], ...] = (
        ("final_list", _final_list),
        ("verdict_lines", _verdict_lines),
        ("table", _table),
        ("numbered", _numbered),
        ("bare", _bare),
    )
    for rule, read in rules:
        if (said := read(cut, hints)) and (found := _settled(rule, said, hints)).verdicts:
            return _undisputed(found, cut, hints) if rule == "final_list" else found
    return None


def _undisputed(found: VerdictText, reply: _Reply, hints: Hints) -> VerdictText:
    """A final list without the verdicts that the explanations before it contradict."""
    lines = [line for line in reply.lines if not _line_entries(line)]
    reply = _Reply(lines, tuple(blocks(lines)))
    before = [
        (one.number, one.supported)
        for rule, read in (("verdict_lines", _verdict_lines), ("numbered", _numbered))
        for one in _settled(rule, read(reply, hints) or (), hints).verdicts
    ]
    contrary = {one.number for one in found.verdicts if (one.number, not one.supported) in before}
    if not contrary:
        return found
    kept = tuple([one for one in found.verdicts if one.number not in contrary])
    notes = [f"verdict {number}: the reply gives two contrary ones" for number in sorted(contrary)]
    return VerdictText(found.rule, kept, (*found.dropped, *notes))


def _settled(rule: str, said: Sequence[_Said], hints: Hints) -> VerdictText:
    """Give unnumbered verdicts their places where those are certain; leave out what is no verdict."""
    dropped: list[str] = []
    if all(one.number is None for one in said):
        if len(said) != len(hints.numbers):
            return VerdictText(rule, ())
        said = [one._replace(number=hints.numbers[place]) for place, one in enumerate(said)]
    verdicts: list[NumberedVerdict] = []
    for one in said:
        if one.number is None:
            dropped.append(f"a verdict without a number among numbered ones: {one.shown[:60]}")
        elif one.supported is None:
            dropped.append(f"verdict {one.number}: {one.shown[:60]!r} is no verdict")
        else:
            verdicts.append(
                NumberedVerdict(
                    number=one.number, supported=one.supported, reason=one.reason, evidence=one.evidence
                )
            )
    return VerdictText(rule, tuple(verdicts), tuple(dropped))


def _final_list(reply: _Reply, hints: Hints) -> list[_Said] | None:
    """The entries under the last heading of a final list, or the verdict words that end the reply."""
    lines = reply.lines
    for place in range(len(lines) - 1, -1, -1):
        heading = _FINAL_HEADING.match(lines[place][:LINE])
        if heading is None:
            continue
        said = _entries([lines[place][heading.end() :], *lines[place + 1 :]])
        if said and _is_certain(said, hints):
            return _reasoned(said, lines[:place], hints)
        break
    most = max(200, 3 * len(hints.numbers))
    ending = _word_lines(reversed(lines), most)
    # Lines of a number and a word are the numbered rule's.
    if ending and all(len(got) == 1 and starts_number(line) for line, got in ending):
        return None
    rows = ending[::-1] or _word_lines(lines, most)
    if _are_numbers(rows, lines):
        return None
    said = [one for _, got in rows for one in got]
    if not said or not _is_certain(said, hints) or (not ending and len(said) == 1):
        return None
    return None if len(said) == 1 and _disagrees(lines, said[0]) else said


def _are_numbers(rows: Sequence[tuple[str, list[_Said]]], lines: Sequence[str]) -> bool:
    """Whether rows of 1 and 0 may be numbers with a verdict each: "1. 0", or "1 0" above "2 1"."""
    digits = [line for line, got in rows if len(got) > 1 and all(one.shown in {"0", "1"} for one in got)]
    below = [line for line in lines if line.strip()][len(rows) :] if digits else []
    return any(map(starts_number, digits)) or any(map(_OTHER_NUMBERED.match, below))


def _word_lines(lines: Iterable[str], most: int) -> list[tuple[str, list[_Said]]]:
    """The first lines that hold nothing but verdicts, with these; none when there are too many."""
    rows: list[tuple[str, list[_Said]]] = []
    total = 0
    for line in lines:
        if not line.strip():
            continue
        got = _line_entries(line)
        total += len(got)
        if not got:
            break
        if total > most:
            return []
        rows.append((line, got))
    return rows


def _reasoned(said: Sequence[_Said], lines: Sequence[str], hints: Hints) -> list[_Said]:
    """The entries of a final list with the explanations that stand before it under the same numbers."""
    reasons = {block.number: notes(block) for block in blocks(lines) if block.number is not None}
    numbers = [one.number for one in said]
    placed = hints.numbers if None in numbers else numbers
    found = [reasons.get(number) for number in placed if number is not None]
    return [
        one
        if note is None or one.reason
        else one._replace(reason=note.reason or None, evidence=note.evidence)
        for one, note in zip(said, found, strict=True)
    ]


def _disagrees(lines: Sequence[str], last: _Said) -> bool:
    """Whether a reply on one statement begins with another verdict than it ends with, or is just one."""
    first = leading_verdict("\n".join(lines)[:LINE])
    return first is not None and (
        first.supported != last.supported or len([line for line in lines if line.strip()]) == 1
    )


def _is_certain(said: Sequence[_Said], hints: Hints) -> bool:
    numbers = sum(one.number is not None for one in said)
    return numbers == len(said) or (numbers == 0 and len(said) == len(hints.numbers))


def _entries(lines: Sequence[str]) -> list[_Said]:
    """The verdicts of a list that may be on one line or on many; what follows the list is no part of it."""
    said: list[_Said] = []
    for line in lines:
        if not line.strip(" \t*_`>#-|="):
            continue
        got = _line_entries(line) or _reasoned_entry(line)
        if not got:
            break
        said += got
    return said


@lru_cache(maxsize=1024)
def _phrase_verdict(phrase: str) -> bool | None:
    return verdict_word(phrase)


def _line_entries(line: str) -> list[_Said]:
    """The verdicts of a line that holds nothing but verdicts and their numbers; none of any other line."""
    text = re.sub(r"[*`]|(?<!\w)_+|_+(?!\w)", "", line).strip().strip("|[]()>").strip()
    if len(text) > _LONGEST_LIST:
        return []
    if (bullet := starts_bullet(text)) is not None:
        text = text[bullet.end() :]
    words = [word for word in re.split(r"[\s.,;|、，；。]+", text) if word]
    binary = len(words) > 0 and all(word in {"0", "1"} for word in words)
    if binary and not _DECIMAL.search(text):
        return [_Said(None, word == "1", shown=word) for word in words]
    said: list[_Said] = []
    position = 0
    while position < len(text):
        entry = _ENTRY.match(text, position)
        if entry is None:
            return []
        number = int(entry["number"]) if entry["number"] else None
        said.append(_Said(number, _phrase_verdict(entry["phrase"]), shown=entry["phrase"]))
        position = entry.end()
    return said


def _reasoned_entry(line: str) -> list[_Said]:
    marker = starts_number(line)
    if marker is None or (led := leading_verdict(line[marker.end() :])) is None:
        return []
    return [_Said(marker_number(marker), led.supported, led.rest or None, shown=line[marker.end() :])]


def _verdict_lines(reply: _Reply, hints: Hints) -> list[_Said] | None:
    """Lines that say "Verdict: ...", each under its numbered heading, or one for each statement in order."""
    said: list[_Said] = []
    for block in reply.blocks:
        found = [(place, words) for place, line in enumerate(block.lines) if (words := find_verdict(line))]
        after = 0
        for place, words in found:
            line = block.lines[place]
            heading = _FINAL_HEADING.match(line[:LINE])
            led = leading_verdict(words.rest)
            if led is None or (heading and len(_line_entries(line[heading.end() :])) > 1):
                continue  # a final list that was too short to count
            beside = notes(block if len(found) == 1 else Block(block.number, block.lines[after : place + 1]))
            after = place + 1
            reason = beside.reason if beside.is_labelled else unmarked(led.rest) or beside.reason
            number = words.number or block.number
            said.append(_Said(number, led.supported, reason or None, beside.evidence, words.rest))
    if said and any(one.number is None for one in said) and len(said) == len(hints.numbers):
        # The numbers may be those of another list: with one verdict for each statement, their order decides.
        numbers = [one.number for one in said if one.number is not None]
        if numbers != sorted(set(numbers)):
            return [one._replace(number=None) for one in said]
    return said


def _table(reply: _Reply, hints: Hints) -> list[_Said] | None:
    """The rows of a markdown table: a cell with the number, a cell that is a verdict."""
    said: list[_Said] = []
    for line in reply.lines:
        if line.count("|") < 2 or len(line) > LINE:
            continue
        if not has_content(line):
            said.clear()  # the rule below the table's head: "Supported" above it is no verdict
            continue
        if _begins_with_verdict(line):
            continue  # "1. no. It says | yes |": the bars belong to what is quoted
        cells = [unmarked(cell) for cell in line.strip().strip("|").split("|")]
        verdicts = [cell for cell in cells[1:] if verdict_word(cell) is not None]
        number = re.fullmatch(rf"{STATEMENT}?\s*[#(]?(\d{{1,3}})[.)]?", cells[0], re.IGNORECASE)
        if not verdicts:
            if number is not None and cells[-1]:
                said.append(_Said(int(number[1]), None, shown=cells[-1]))
            continue
        answers = {verdict_word(cell) for cell in verdicts}
        said.append(
            _Said(
                int(number[1]) if number else None,
                answers.pop() if len(answers) == 1 else None,
                shown=line.strip(),
            )
        )
    return said if any(one.supported is not None for one in said) else None


def _begins_with_verdict(line: str) -> bool:
    """Whether a line that opens no table's row says its verdict before the first bar."""
    if line.lstrip().startswith("|"):
        return False
    first = line.partition("|")[0]
    marker = starts_number(first)
    led = leading_verdict(first[marker.end() :] if marker is not None else first)
    return led is not None and led.supported is not None and (marker is not None or bool(led.rest))


def _numbered(reply: _Reply, hints: Hints) -> list[_Said] | None:
    """Numbered lines whose verdict stands at their start, or alone at their end."""
    said: list[_Said] = []
    for block in reply.blocks:
        if block.number is not None:
            got = _item_verdict(block)
            if got is not None:
                said.append(got)
    return said if any(one.supported is not None for one in said) else None


def _item_verdict(block: Block) -> _Said | None:
    text = [line for line in block.lines if line.strip()]
    if not text:
        return None
    sentence = SENTENCE_VERDICT.match(text[0][:LINE])
    if sentence is not None:
        return _Said(
            block.number,
            verdict_word(sentence["phrase"]),
            unmarked(sentence["rest"].lstrip(" .,:;-–—")) or None,
            shown=text[0],
        )
    led = leading_verdict("\n".join(text)[:LINE]) or _self_verdict(text[0])
    ends = [_ending(line) for line in text[:1]]
    ends += [verdict_word(unmarked(line)) for line in text[1:]]
    found = {verdict for verdict in ends if verdict is not None}
    if led is not None:
        conflict = led.supported is not None and bool(found - {led.supported})
        return _Said(block.number, None if conflict else led.supported, led.rest or None, shown=text[0])
    if len(found) == 1:
        return _Said(block.number, found.pop(), shown=text[0])
    return _Said(block.number, None, shown=text[0]) if found else None


def _self_verdict(text: str) -> LeadingVerdict | None:
    """The verdict of "The statement is not supported by ..."."""
    found = _SELF_VERDICT.match(text[:LINE])
    if found is None:
        return None
    return LeadingVerdict(verdict_word(found["phrase"]), unmarked(found["rest"].lstrip(" .,:;-–—")))


def _ending(line: str) -> bool | None:
    return _ending_of(line.rstrip()[-_TAIL:])


@lru_cache(maxsize=1024)
def _ending_of(tail: str) -> bool | None:
    ends = _MARKED_TRAILING.search(tail) or _TRAILING.search(tail)
    # "Fig. 1" ends in a figure's number.
    return verdict_word(ends["phrase"]) if ends and not ends["phrase"].isdigit() else None


def _bare(reply: _Reply, hints: Hints) -> list[_Said] | None:
    """The verdict that the whole reply is or begins with, when one statement was asked about."""
    if len(hints.numbers) != 1:
        return None
    # a number alone is what a copied statement left behind
    text = "\n".join([line for line in reply.lines if not is_marker(line)]).strip()
    if (verdict := verdict_word(text)) is not None:
        return [_Said(None, verdict, shown=text)]
    led = leading_verdict(text) or _self_verdict(text)
    return [_Said(None, led.supported, led.rest or None, shown=text)] if led else None
