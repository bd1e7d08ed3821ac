"""Citations in an answer: where they stand, which chunks they name, and which sentence they belong to."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragmetrics_core.samples import Citing

__all__ = ["CitationMark", "Cited", "cited_sentences", "marks_of"]

Source = int | str
"""The rank of a chunk from 1, or a name or number that leads to no chunk."""

# [2], [[2]](https://a.example), [^2], 【2†source】
_BRACKETS = re.compile(
    r"\[\[([^\[\]\n]{1,200})\]\](?:\([^\s()]{1,500}\))?"
    r"|\[([^\[\]\n]{1,200})\](?:\([^\s()]{1,500}\))?"
    r"|【([^【】\n]{1,200})】"
)
_WORD = (
    r"(?:doc(?:ument)?|source|ref(?:erence)?|chunk|context|passage|citation|cite|note"
    r"|quelle|fuente|fonte|bron|источник)s?"
)
_NUMBER = re.compile(
    rf"\^?(?:{_WORD}\s?[._:#-]?\s?)?\^?(\d{{1,4}})(?:\s?[-‐-―]\s?\^?(\d{{1,4}}))?", re.IGNORECASE
)
_EMPTY = re.compile(r"[(（][\s,;，；、]*[)）]")
_LONGEST_RANGE = 50
# A number of four digits is more likely a year; without a chunk of this number it is not a citation.
_SHORT = 3
_LABEL = re.compile(r"\s*(?:[-*•]\s+)?(?:\[\^?([^\[\]\n]{1,200})\]|【([^【】\n]{1,200})】)\s*(:?)")
_HEADING = re.compile(r"\s*(?:#{1,6}\s.{1,80}|(\*\*|__).{1,80}\1:?|[^.!?]{1,80}[:：](?:\*\*|__)?)\s*")


class Cited(NamedTuple):
    """A sentence of the answer without its citations.

    Attributes:
        text: the sentence.
        sources: the distinct ranks of its cited chunks, and the names that lead to no chunk.
        unknown: brackets that may or may not be citations.
    """

    text: str
    sources: tuple[Source, ...]
    unknown: tuple[str, ...] = ()


class CitationMark(NamedTuple):
    """A citation, or brackets that may be one.

    Attributes:
        start, end: its place in the answer.
        sources: what it names; None if it is not known to be a citation.
        is_claim: whether the place is the claim itself and not a marker beside it.
        is_read: whether it counts; otherwise it is only left out of the sentence.
    """

    start: int
    end: int
    sources: tuple[Source, ...] | None
    is_claim: bool = False
    is_read: bool = True


def marks_of(sample: Citing, first: int) -> list[CitationMark]:
    """The citations of an answer.

    If the sample has citations of its own, only they count, and markers in the answer are left out.

    Args:
        sample: the answer and its chunks.
        first: number by which the answer cites the first chunk.
    """
    answer = sample.answer
    markers = _markers(sample, first)
    if not sample.citations:
        return markers
    placed: list[CitationMark] = []
    for citation in sample.citations:
        covered = answer[citation.start : citation.end].strip()
        is_marker = not covered or (covered[0] in "([【（" and covered[-1] in ")]】）")
        placed.append(CitationMark(citation.start, citation.end, citation.chunks, not is_marker))
    return [*(mark._replace(is_read=False) for mark in markers if mark.sources is not None), *placed]


def _markers(sample: Citing, first: int) -> list[CitationMark]:
    """Brackets in the text.

    A short number is a citation. Anything else, such as `[2019]` or `[sic]`, is a citation if it names a
    chunk, or if it has the form of one that does: beside `[doc-1]`, `[doc-9]` leads to no chunk.
    """
    found: list[tuple[re.Match[str], str, tuple[Source, ...], bool]] = []
    forms: set[str] = set()
    for match in _BRACKETS.finditer(sample.answer):
        inner = (match[1] or match[2] or match[3]).partition("†")[0].strip()
        sources, is_plain = _sources(inner, sample, first)
        form = re.sub(r"\d+", lambda digits: "#" * max(_SHORT, len(digits[0])), inner)
        form = f"{match[0][0]}{form}"
        if all(isinstance(each, int) and 1 <= each <= len(sample.contexts) for each in sources):
            forms.add(form)
            is_plain = True
        found.append((match, form, sources, is_plain or (match[0].startswith("【") and "†" in match[0])))
    return [
        CitationMark(match.start(), match.end(), sources if is_plain or form in forms else None)
        for match, form, sources, is_plain in found
    ]


def _sources(inner: str, sample: Citing, first: int) -> tuple[tuple[Source, ...], bool]:
    """Sources that brackets name, and whether all of them are short numbers."""
    ids = sample.context_ids
    if inner in ids:
        return tuple(rank for rank, each in enumerate(ids, start=1) if each == inner), True
    sources: list[Source] = []
    is_plain = True
    for part in re.split(r"\s*[,;，；、]\s*", inner):
        numbers = _numbers(part)
        ranks = [number - first + 1 for number in numbers]
        named = [rank for rank, each in enumerate(ids, start=1) if each == part]
        if named and not all(1 <= rank <= len(sample.contexts) for rank in ranks or [0]):
            sources += named
        elif numbers:
            sources += ranks
            is_plain = is_plain and max(numbers) < 10**_SHORT
        else:
            sources.append(part)
            is_plain = False
    return tuple(dict.fromkeys(sources)), is_plain


def _numbers(part: str) -> list[int]:
    """The numbers of `2`, `^2`, `doc 2` or `1-3`; empty for anything else."""
    match = _NUMBER.fullmatch(part)
    if match is None:
        return []
    start, end = int(match[1]), int(match[2] or match[1])
    return list(range(start, end + 1)) if start <= end < start + _LONGEST_RANGE else []


def cited_sentences(answer: str, sentences: Sequence[str], marks: Sequence[CitationMark]) -> Iterator[Cited]:
    """The sentences of an answer with their citations; footnotes are not sentences.

    A marker belongs to the sentence before it. At the start of a line it belongs to the sentence after it.
    """
    footnotes = _footnotes(answer, marks)
    read = [mark for mark in marks if not any(start <= mark.start < end for start, end in footnotes)]
    left_out = [(mark.start, mark.end) for mark in read if mark.sources is not None and not mark.is_claim]
    visible = _without(answer, [*footnotes, *left_out])
    texts: list[tuple[int, int]] = []
    letters: list[int] = []
    owners: list[int] = []
    end = 0
    for sentence in sentences:
        start = max(answer.find(sentence, end), end)
        end = start + len(sentence)
        own = [at for at in range(start, min(end, len(visible))) if visible[at].isalnum()]
        if own:
            letters += own
            owners += [len(texts)] * len(own)
            texts.append((start, end))
    marked: list[list[CitationMark]] = [[] for _ in texts]
    for mark in read if texts else []:
        for number in _owners(mark, visible, letters, owners) if mark.is_read else ():
            marked[number].append(mark)
    for (start, end), own_marks in zip(texts, marked, strict=True):
        plain = visible[start:end]
        if plain != answer[start:end]:
            plain = _EMPTY.sub(" ", plain)
        plain = re.sub(r"\s+([.,;:!?。、，；：！？])", r"\1", " ".join(plain.split()))
        sources = (source for mark in own_marks for source in mark.sources or ())
        unknown = (answer[mark.start : mark.end] for mark in own_marks if mark.sources is None)
        yield Cited(plain, tuple(dict.fromkeys(sources)), tuple(dict.fromkeys(unknown)))


def _owners(mark: CitationMark, visible: str, letters: Sequence[int], owners: Sequence[int]) -> Sequence[int]:
    """The sentences that a mark belongs to.

    Args:
        mark: the mark.
        visible: the answer without markers.
        letters: places of the letters of all sentences.
        owners: the sentence of each letter.
    """
    before = bisect_left(letters, mark.start)
    after = bisect_left(letters, mark.end)
    if (mark.is_claim or mark.sources is None) and before < after:
        return list(dict.fromkeys(owners[before:after]))
    if before > 0 and (mark.start == mark.end or "\n" not in visible[letters[before - 1] : mark.start]):
        return [owners[before - 1]]
    if after < len(letters) and "\n" not in visible[mark.end : letters[after]]:
        return [owners[after]]
    return [owners[max(before - 1, 0)]]


def _without(text: str, places: Sequence[tuple[int, int]]) -> str:
    """The text with blanks in place of these parts, so that all else keeps its place."""
    characters = list(text)
    for start, end in places:
        characters[start:end] = [" " if char != "\n" else char for char in characters[start:end]]
    return "".join(characters)


def _footnotes(answer: str, marks: Sequence[CitationMark]) -> list[tuple[int, int]]:
    """Places of footnotes: lines like `[^2]: Handbook`, and a list of sources at the end.

    A list of sources begins each line with a citation of the text before it. There is a heading or a blank
    line before it.
    """
    lines: list[tuple[int, int]] = []
    end = 0
    for line in answer.splitlines(keepends=True):
        lines.append((end, end + len(line)))
        end += len(line)
    labels = [_LABEL.match(answer[start:end]) for start, end in lines]
    footnotes = [place for place, label in zip(lines, labels, strict=True) if label and label[3]]
    by_start = {mark.start: mark for mark in marks if mark.sources and not mark.is_claim}
    first = len(lines)
    for number in range(len(lines) - 1, -1, -1):
        start, end = lines[number]
        if labels[number] is not None:
            first = number
        elif answer[start:end].strip():
            break
    entries = [number for number in range(first, len(lines)) if labels[number] is not None]
    if not entries or first == 0:
        return footnotes
    heading = first - 1
    while heading > 0 and not answer[slice(*lines[heading])].strip():
        heading -= 1
    begin = lines[first][0]
    text = answer[slice(*lines[heading])]
    has_heading = _HEADING.fullmatch(text) is not None and not any(
        lines[heading][0] <= start < lines[heading][1] for start in by_start
    )
    if has_heading:
        begin = lines[heading][0]
    cited = {
        source for mark in marks if mark.start < begin and not mark.is_claim for source in mark.sources or ()
    }
    named: list[Source] = []
    for number in entries:
        start, end = lines[number]
        own = [mark for place, mark in by_start.items() if start <= place < end]
        if len(own) != 1:
            return footnotes
        named += own[0].sources or ()
    is_list = len(set(named)) == len(named) and (
        cited & set(named) if has_heading else heading < first - 1 and cited >= set(named)
    )
    return [*footnotes, (begin, len(answer))] if is_list else footnotes
