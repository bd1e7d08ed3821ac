"""Verdicts in plain text: final lists, "Verdict:" lines, tables, numbered lines, one bare verdict."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from ragmetrics_core.parsers._copies import judged_lines
from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._numbered_verdict import NumberedVerdict
from ragmetrics_core.parsers._quoting import without_quotes
from ragmetrics_core.parsers._reading import Hints, exactly
from ragmetrics_core.parsers._reply_text import (
    has_content,
    is_marker,
    starts_number,
    unmarked,
)
from ragmetrics_core.parsers._verdict_blocks import (
    LINE,
    SENTENCE_VERDICT,
    STATEMENT,
    VERDICT_LABEL,
    Block,
    CutReply,
    TextVerdict,
    VerdictWords,
    blocks,
    find_verdict,
    notes,
)
from ragmetrics_core.parsers._verdict_digits import asks_for_digits, may_be_numbers
from ragmetrics_core.parsers._verdict_lists import FINAL_HEADING, final_list, line_entries
from ragmetrics_core.parsers._verdict_pairs import verdict_pairs
from ragmetrics_core.parsers._verdict_runs import hides_number, one_each
from ragmetrics_core.parsers._verdict_tallies import without_tallies
from ragmetrics_core.parsers._words import (
    PHRASE,
    LeadingVerdict,
    digit_word,
    leading_verdict,
    takes_back,
    verdict_word,
)

__all__ = ["VerdictText", "read_verdict_text"]

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
_LABELLED_DIGIT = lazy(
    rf"(?P<label>{VERDICT_LABEL}(?:\s*[\#(]?\d{{1,3}}\)?)?[*_\s]*[:：=][\s*_\"']*)(?P<digit>[01])"
    r"(?![\w/%]|[\s.,;|]+\d)",
    re.IGNORECASE,
)
# A verdict at the end of a line is short: only the last characters are searched, which keeps long lines
# linear.
_TAIL = 60


class VerdictText(NamedTuple):
    """What a text rule read, its name, and what did not count."""

    rule: str
    verdicts: tuple[NumberedVerdict, ...]
    dropped: tuple[str, ...] = ()


def read_verdict_text(reply: str, hints: Hints) -> VerdictText | None:
    """Try the text rules in their order; None when none of them reads the reply."""
    # A reply that is one word cannot be copied context, even when the sample has the same line ("Yes.").
    # "1." is no verdict on statement 1: a reply that was cut after the number.
    one_word = len(hints.numbers) == 1 and "\n" not in reply and not is_marker(reply, of=hints.numbers[0])
    if one_word and (verdict := _only_word(reply, hints)) is not None:
        return VerdictText("bare", (NumberedVerdict(number=hints.numbers[0], supported=verdict),))
    own = without_quotes("\n".join(judged_lines(reply, hints)), hints).split("\n")
    lines = [_BOXED.sub(r"\1", _TAG.sub(" ", line)).strip("$") if line else "" for line in own]
    if asks_for_digits(hints.form):
        lines = [_LABELLED_DIGIT.sub(_in_words, line) for line in lines]
    lines = without_tallies(lines, hints)
    cut = CutReply(lines, tuple(blocks(one_each(lines, hints.numbers))))
    rules: tuple[tuple[str, Callable[[CutReply, Hints], list[TextVerdict] | None]], ...] = (
        ("final_list", final_list),
        ("verdict_lines", _verdict_lines),
        ("table", _table),
        ("pairs", verdict_pairs),
        ("numbered", _numbered),
        ("bare", _bare),
    )
    disputed: set[int] = set()
    for rule, read in rules:
        said = [one for one in read(cut, hints) or () if _number(one, hints) not in disputed]
        if said and (found := _settled(rule, said, hints)).verdicts:
            return _undisputed(found, cut, hints) if rule == "final_list" else found
        disputed |= {number for one in said if one.disputed and (number := _number(one, hints)) is not None}
    return None


def _number(verdict: TextVerdict, hints: Hints) -> int | None:
    """The number of a verdict's statement, where it is certain."""
    return hints.numbers[0] if verdict.number is None and len(hints.numbers) == 1 else verdict.number


def _only_word(text: str, hints: Hints) -> bool | None:
    """The verdict that a text on one statement is, and nothing else; the statement's number is none."""
    digit = digit_word(text)
    return None if digit is not None and may_be_numbers([digit], hints) else verdict_word(text)


def _in_words(labelled: re.Match[str]) -> str:
    return labelled["label"] + ("yes" if labelled["digit"] == "1" else "no")


def _undisputed(found: VerdictText, reply: CutReply, hints: Hints) -> VerdictText:
    """A final list without the verdicts that the explanations before it contradict."""
    lines = [line for line in reply.lines if not line_entries(line)]
    reply = CutReply(lines, tuple(blocks(one_each(lines, hints.numbers))))
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


def _settled(rule: str, said: Sequence[TextVerdict], hints: Hints) -> VerdictText:
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
                exactly(
                    NumberedVerdict,
                    number=one.number,
                    supported=one.supported,
                    reason=one.reason,
                    evidence=one.evidence,
                    confidence=None,
                    unsupported=None,
                )
            )
    return VerdictText(rule, tuple(verdicts), tuple(dropped))


def _verdict_lines(reply: CutReply, hints: Hints) -> list[TextVerdict] | None:
    """Lines that say "Verdict: ...", each under its numbered heading, or one for each statement in order."""
    said: list[TextVerdict] = []
    for block in reply.blocks:
        found = [(place, words) for place, line in enumerate(block.lines) if (words := find_verdict(line))]
        after = 0
        for place, words in found:
            line = block.lines[place]
            heading = FINAL_HEADING.match(line[:LINE])
            led = leading_verdict(words.rest)
            if led is None or (heading and len(line_entries(line[heading.end() :])) > 1):
                continue  # a final list that was too short to count
            contrary = _is_contrary(find_verdict(led.rest), words.number, led)
            beside = notes(block if len(found) == 1 else Block(block.number, block.lines[after : place + 1]))
            after = place + 1
            reason = beside.reason if beside.is_labelled else unmarked(led.rest) or beside.reason
            number = words.number or block.number
            verdict = None if contrary else led.supported
            said.append(TextVerdict(number, verdict, reason or None, beside.evidence, words.rest, contrary))
    if said and any(one.number is None for one in said) and len(said) == len(hints.numbers):
        # The numbers may be those of another list: with one verdict for each statement, their order decides.
        numbers = [one.number for one in said if one.number is not None]
        if numbers != sorted(set(numbers)):
            return [one._replace(number=None) for one in said]
    return said


def _is_contrary(later: VerdictWords | None, number: int | None, led: LeadingVerdict) -> bool:
    """Whether a line says another verdict on the same statement further on: "Verdict: yes. Verdict: no."."""
    second = None if later is None or later.number not in {None, number} else leading_verdict(later.rest)
    return second is not None and second.supported != led.supported


def _table(reply: CutReply, hints: Hints) -> list[TextVerdict] | None:
    """The rows of a markdown table: a cell with the number, a cell that is a verdict."""
    said: list[TextVerdict] = []
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
                said.append(TextVerdict(int(number[1]), None, shown=cells[-1]))
            continue
        answers = {verdict_word(cell) for cell in verdicts}
        said.append(
            TextVerdict(
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
    return led is not None and (bool(led.rest) or (led.supported is not None and marker is not None))


def _numbered(reply: CutReply, hints: Hints) -> list[TextVerdict] | None:
    """Numbered lines whose verdict stands at their start, or alone at their end."""
    said: list[TextVerdict] = []
    for block in reply.blocks:
        if block.number is not None:
            got = _item_verdict(block)
            if got is not None:
                said.append(got)
    return said if any(one.supported is not None for one in said) else None


def _item_verdict(block: Block) -> TextVerdict | None:
    text = [line for line in block.lines if line.strip()]
    if not text:
        return None
    sentence = SENTENCE_VERDICT.match(text[0][:LINE])
    if sentence is not None:
        verdict, rest = _phrase_led(sentence)
        return TextVerdict(block.number, verdict, rest or None, shown=text[0])
    led = leading_verdict("\n".join(text)[:LINE]) or _self_verdict(text[0])
    ends = [None if hides_number(text[0]) else _ending(text[0])]
    ends += [_word_of_short(line) if len(line) <= _TAIL else _word(line) for line in text[1:]]
    found = {verdict for verdict in ends if verdict is not None}
    if led is not None:
        conflict = led.supported is not None and bool(found - {led.supported})
        return TextVerdict(block.number, None if conflict else led.supported, led.rest or None, shown=text[0])
    if not ends[1:] and digit_word(text[0]) is None and (verdict := verdict_word(text[0])) is not None:
        return TextVerdict(block.number, verdict, shown=text[0])  # "yes ✅"
    if len(found) == 1:
        return TextVerdict(block.number, found.pop(), shown=text[0])
    return TextVerdict(block.number, None, shown=text[0]) if found else None


def _word(line: str) -> bool | None:
    """The verdict that a line is, with nothing but markup around it."""
    return verdict_word(unmarked(line))


# The lines of a reply say the same few words over and over.
_word_of_short = lru_cache(maxsize=1024)(_word)


def _self_verdict(text: str) -> LeadingVerdict | None:
    """The verdict of "The statement is not supported by ..."."""
    found = _SELF_VERDICT.match(text[:LINE])
    return None if found is None else _phrase_led(found)


def _phrase_led(found: re.Match[str]) -> LeadingVerdict:
    """The verdict phrase of a sentence and what follows it."""
    verdict, rest = verdict_word(found["phrase"]), unmarked(found["rest"].lstrip(" .,:;-–—"))
    return LeadingVerdict(None if takes_back(verdict, rest) else verdict, rest)


def _ending(line: str) -> bool | None:
    return _ending_of(line.rstrip()[-_TAIL:])


@lru_cache(maxsize=1024)
def _ending_of(tail: str) -> bool | None:
    ends = _MARKED_TRAILING.search(tail) or _TRAILING.search(tail)
    # "Fig. 1" ends in a figure's number.
    if ends is None or ends["phrase"].isdigit():
        return None
    verdict, before = verdict_word(ends["phrase"]), tail[: ends.start()].rstrip()
    first = verdict_word(before) if (last := _ending_of(before)) is None else last
    return None if first is not None and first is not verdict else verdict  # "yes -> no"


def _bare(reply: CutReply, hints: Hints) -> list[TextVerdict] | None:
    """The verdict that the whole reply is or begins with, when one statement was asked about."""
    if len(hints.numbers) != 1:
        return None
    # a number alone is what a copied statement left behind
    text = "\n".join([line for line in reply.lines if not is_marker(line)]).strip()
    if (verdict := _only_word(text, hints)) is not None:
        return [TextVerdict(None, verdict, shown=text)]
    led = leading_verdict(text) or _self_verdict(text)
    return [TextVerdict(None, led.supported, led.rest or None, shown=text)] if led else None
