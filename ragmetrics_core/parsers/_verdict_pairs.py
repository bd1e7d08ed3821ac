"""Numbers and verdicts in turn and nothing else: "1 yes, 2 no", or "1) 1" above "2) 0"."""

import re
from collections.abc import Sequence

from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._reading import Hints
from ragmetrics_core.parsers._verdict_blocks import LINE, NUMBER_NAME, CutReply, TextVerdict
from ragmetrics_core.parsers._verdict_digits import asks_for_digits
from ragmetrics_core.parsers._words import PHRASE, verdict_word

__all__ = ["verdict_pairs"]

# "1) 0" is a number and its verdict. "1. 0" and "1 0" may be a decimal or two verdicts.
_PAIR = lazy(
    rf"""[\s*_(\[\#<]* (?:{NUMBER_NAME}[\s.:\#]{{0,3}})? (?P<number>\d{{1,3}})
    (?: (?P<sure>[*_]*\s*(?:[)\]:：|=]|->|=>|→|\s[-–—]\s)[*_:.\s]*) | [*_]*(?:[.,、．/]\s*|\s+)[*_]* )
    (?: (?P<phrase>{PHRASE})(?!\w) | (?P<digit>[01])(?![\w/]|[.,]\d) )
    [\s.,;|、，；。)\]"'*_]*""",
    re.VERBOSE | re.IGNORECASE,
)
_LEAD = lazy(r".{0,200}[:：][\s*_]*$")


def verdict_pairs(reply: CutReply, hints: Hints) -> list[TextVerdict] | None:
    """The verdicts of a reply that is all numbers that were asked about, in order, each with its verdict.

    Only what covers all numbers counts: "2 correct, 1 wrong" are counts. Lines of one number and one word are
    left to the rule of numbered lines, which reads a part of them as well.
    """
    lines = [line for line in reply.lines if line.strip(" \t*_`>#|-=")]
    if len(lines) > 1 and _LEAD.fullmatch(lines[0]):
        lines = lines[1:]
    if not lines or sum(map(len, lines)) > LINE:
        return None
    rows = [_pairs(line) for line in lines]
    found = [pair for row in rows for pair in row]
    if not all(rows) or [int(pair["number"]) for pair in found] != [*hints.numbers]:
        return None
    digits = [pair for pair in found if pair["digit"]]
    if digits and len(digits) < len(found):
        return None
    if digits and not all(pair["sure"] for pair in digits):
        # weak marks: the numbers count up beside the verdicts that the prompt asks for
        if len(found) == 1 or not asks_for_digits(hints.form):
            return None
    elif not digits and all(len(row) == 1 for row in rows):
        return None
    return [_verdict(pair) for pair in found]


def _pairs(line: str) -> Sequence[re.Match[str]]:
    """The pairs that a line is made of; none where it holds anything else."""
    text = line.strip().strip("|>`")
    pairs: list[re.Match[str]] = []
    place = 0
    while place < len(text):
        pair = _PAIR.match(text, place)
        if pair is None:
            return ()
        pairs.append(pair)
        place = pair.end()
    return pairs


def _verdict(pair: re.Match[str]) -> TextVerdict:
    word = pair["phrase"] or pair["digit"]
    return TextVerdict(int(pair["number"]), verdict_word(word), shown=pair[0].strip())
