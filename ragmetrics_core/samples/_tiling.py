r"""Words of a request that known texts account for: greedy string tiling.

Michael J. Wise (1993), "String similarity via greedy string tiling and running Karp-Rabin matching". Each
word of the request belongs to one text at most; longer runs of shared words are assigned first.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from html import unescape
from itertools import product, takewhile
from math import inf
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.texts.comparing import WORD, Writing, folded

__all__ = [
    "LEAST_RUN",
    "LEAST_STRETCH",
    "RequestPlace",
    "Tiling",
    "part_of",
    "share_of",
    "tile",
    "words_at",
    "words_in",
]

# A shorter run may be there by chance: of 188 pairs of unrelated passages (20,800 words), five shared three
# words in a row and none four. Two scripts have words of one character.
LEAST_RUN: Final = 4
"""Number of words from which a run that two texts share is not there by chance."""
_LEAST_LETTERS: Final = 8
LEAST_STRETCH: Final = 8
"""Number of words from which a stretch without a known source is reported."""

# A run goes on behind so many words that differ, with so many words that do not.
_MOST_CHANGED: Final = 3
_LEAST_CONTINUED: Final = 2
_SKIPS: Final = sorted(product(range(_MOST_CHANGED + 1), repeat=2), key=sum)
# Pairs of words that follow each other in this way are one text with changed words, from so many words on.
_STEPS: Final = sorted(product(range(1, _LEAST_CONTINUED + _MOST_CHANGED + 1), repeat=2), key=sum)
_LEAST_SCATTERED: Final = 6
# A run of words that occurs more often is looked for in its first places only.
_MOST_PLACES: Final = 100
# In the arrays, in place of the number of a word or of a text.
_FREE, _END, _UNKNOWN, _SEPARATOR, _AMBIGUOUS = -1, -2, -3, -4, -5
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")
# A letter with a mark may be the last word of a sentence that is wrapped: it counts nowhere.
_MARKER: Final = re.compile(r"(?m)^[^\w\n]*\d{1,3}[ \t]?[.):\]|](?=\W)|\b[a-zA-Z][ \t]?[.):\]|](?!\w)")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});")
# As JSON and Python write a text.
_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"""|\\(?:u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[nrtbf"'\\/])"""
)
_CONTROL: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_MARKS: Final = re.compile(r"[^\w\s<\[({]+(?!\w)")
# Between two words of one phrase.
_JOINT: Final = re.compile(r"[ \t,'’/&-]*|[.:]")


class RequestPlace(NamedTuple):
    """Position of a text: message number, from 1, and character range."""

    message: int
    start: int
    end: int


class _Words(NamedTuple):
    """The words of a text, folded, and the writing in which each begins and ends."""

    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    writing: Writing

    def place(self, first: int, last: int) -> tuple[int, int]:
        """Range of characters of the words from first to last, in the text itself."""
        return self.writing.origin(self.starts[first], self.ends[last])

    def begins_apart(self, first: int) -> bool:
        """Whether a line, a sentence, a cell or a quoted text begins with this word."""
        return first == 0 or not _JOINT.fullmatch(self.writing.text, self.ends[first - 1], self.starts[first])

    def ends_apart(self, last: int) -> bool:
        """Whether it ends with this word."""
        return last + 1 == len(self.words) or self.begins_apart(last + 1)


class _Run(NamedTuple):
    """Words of a text that are words of the request: both places and the number of words."""

    at: int
    text: int
    start: int
    size: int


class Tiling(NamedTuple):
    """The account of a request.

    Attributes:
        messages: words of each message.
        texts: words of each text.
        offsets: position of the first word of each message among all words.
        owner: for each word of all messages, the text that accounts for it; negative for none.
        covered: for each text, which of its words the request contains.
        runs: the runs, in the order of the request.
        tied: for each run, the texts that share exactly these words and do not account for them.
    """

    messages: Sequence[_Words]
    texts: Sequence[_Words]
    offsets: Sequence[int]
    owner: NDArray[np.int64]
    covered: Sequence[NDArray[np.bool_]]
    runs: Sequence[_Run]
    tied: Sequence[frozenset[int]]

    def share(self, text: int) -> float:
        """Share of a text's words that the request contains; 0 for a text without words."""
        covered = self.covered[text]
        return float(covered.mean()) if len(covered) else 0.0

    def holds(self, text: int, least: float = 1) -> bool:
        """Whether the first message has this share of a text by itself, as a sentence, a cell, a line."""
        words, own = self.messages[0], [run for run in self.runs if run.text == text]
        return (
            self.share(text) >= least
            and any(words.begins_apart(run.at) for run in own)
            and any(words.ends_apart(run.at + run.size - 1) for run in own)
        )

    def places(self, text: int) -> list[RequestPlace]:
        """The places of a text, in order; runs that continue each other are one place."""
        merged: list[_Run] = []
        for run in self.runs:
            last = merged[-1] if merged else None
            if run.text != text:
                continue
            if last and (last.at + last.size, last.start + last.size) == (run.at, run.start):
                merged[-1] = last._replace(size=last.size + run.size)
            else:
                merged.append(run)
        return [self._marked(run) for run in merged]

    def _marked(self, run: _Run) -> RequestPlace:
        """The place of a run, with the marks behind it that the text has as well."""
        place = self._place(run.at, run.at + run.size - 1)
        words = self.texts[run.text]
        end = words.place(run.start, run.start + run.size - 1)[1]
        message, text = self.messages[place.message - 1].writing.source, words.writing.source
        here, there = _marks(message, place.end), _marks(text, end)
        # signs above a letter may belong to the word in one of them only
        if not there.endswith(here):
            same = (one == other for one, other in zip(here, there, strict=False))
            here = here[: sum(takewhile(bool, same))]
        return place._replace(end=place.end + len(here))

    def unaccounted(self, least: int = LEAST_STRETCH) -> list[RequestPlace]:
        """Stretches of a least length in words that no text accounts for."""
        stretches = _stretches(self.owner == _FREE)
        return [self._place(*stretch) for stretch in stretches if stretch[1] - stretch[0] + 1 >= least]

    def accounted_by(self, counts: Sequence[bool]) -> int:
        """Number of words that one of these texts accounts for."""
        owners: list[int] = self.owner[self.owner >= 0].tolist()
        return sum(counts[owner] for owner in owners)

    @property
    def longest_gap(self) -> int:
        """Number of words of the longest stretch that no text accounts for."""
        return max((last - first + 1 for first, last in _stretches(self.owner == _FREE)), default=0)

    def rest(self) -> list[str]:
        """All stretches of the messages that no text accounts for."""
        places = [self._place(*stretch) for stretch in _stretches(self.owner == _FREE)]
        sources = [words.writing.source for words in self.messages]
        return [sources[place.message - 1][place.start : place.end] for place in places]

    @property
    def words(self) -> int:
        """Number of words in the messages."""
        return sum(len(message.words) for message in self.messages)

    @property
    def accounted(self) -> int:
        """Number of words that a text accounts for."""
        return int((self.owner >= 0).sum())

    def _place(self, first: int, last: int) -> RequestPlace:
        message = bisect_left(self.offsets, first + 1) - 1
        offset = self.offsets[message]
        return RequestPlace(message + 1, *self.messages[message].place(first - offset, last - offset))


def tile(messages: Sequence[str], texts: Sequence[str], *, phrases: bool = True) -> Tiling:
    """Account for the words of messages by the texts that share them.

    Case, Unicode forms, white space, markup, numbering and the escapes of JSON, Python and HTML do not count.
    A run of shared words counts from four words with eight letters on. A shorter text counts where it stands
    by itself: as a line, a sentence, a cell or a quoted text.

    Args:
        messages: messages of a request, in order.
        texts: known texts. If several share the same words of the request, a text that is contained with
            all its words accounts for them, and otherwise the one whose other words stand around them; none
            if there is no such text.
        phrases: whether a text counts of which only a phrase in a longer sentence is there.
    """
    requested = [_words_of(message) for message in messages]
    known = [_words_of(text) for text in texts]
    return _Tiler(requested, known).tiling(phrases=phrases)


def words_in(text: str) -> tuple[str, ...]:
    """The folded words of a text, without markup and numbering."""
    return _words_of(text).words


def part_of(text: str, covered: NDArray[np.bool_]) -> str:
    """The part of a text with these words; its pieces are joined by an ellipsis."""
    words = _words_of(text)
    pieces = (words.place(first, last) for first, last in _stretches(covered))
    return " … ".join(text[start:end] + _marks(text, end) for start, end in pieces)


def _marks(text: str, end: int) -> str:
    """The marks that follow a word directly."""
    found = _MARKS.match(text, end)
    return found[0] if found else ""


def words_at(messages: Sequence[str], place: RequestPlace) -> list[str]:
    """The folded words at a place of these messages; empty if there is none."""
    if not 0 < place.message <= len(messages):
        return []
    words = _words_of(messages[place.message - 1])
    if not words.words:
        return []
    first = np.searchsorted(words.writing.starts[list(words.starts)], place.start, side="left")
    last = np.searchsorted(words.writing.ends[[end - 1 for end in words.ends]], place.end, side="right")
    return list(words.words[first:last])


def share_of(text: str, runs: Sequence[Sequence[str]]) -> float | None:
    """Share of a text's words that these runs of words hold; None if one is not a run of the text."""
    words = _words_of(text).words
    covered = np.zeros(len(words), dtype=np.bool_)
    for run in runs:
        size = len(run)
        places = (
            [at for at in range(len(words) - size + 1) if words[at : at + size] == tuple(run)] if run else []
        )
        if not places:
            return None
        best = max(places, key=lambda at: (~covered[at : at + size]).sum())
        covered[best : best + size] = True
    return float(covered.mean()) if len(words) else None


@lru_cache(maxsize=256)
def _words_of(text: str) -> _Words:
    writing = Writing.of(text)
    for _ in range(3):  # a tool's JSON may be a text in another JSON
        before = writing
        if "\\" in writing.text:
            writing = writing.rewritten(_ESCAPE, lambda escape: _unescaped(escape[0]))
        if "&" in writing.text:
            writing = writing.rewritten(_ENTITY, lambda entity: unescape(entity[0]))
        if writing is before:
            break
    writing = writing.plain()
    if "<" in writing.text:
        writing = writing.rewritten(_TAG, lambda _: "\n")
    writing = writing.rewritten(_MARKER, lambda _: " ")
    found = list(WORD.finditer(writing.text))
    words = tuple([folded(match[0]) for match in found])
    return _Words(
        words, tuple([match.start() for match in found]), tuple([match.end() for match in found]), writing
    )


def _unescaped(escape: str) -> str:
    kind = escape[1]
    if kind not in "uUx":
        return _CONTROL.get(kind, kind)
    units = [int(each[1:], 16) for each in escape.split("\\") if each]
    if len(units) == 2:
        return chr(0x10000 + ((units[0] - 0xD800) << 10) + units[1] - 0xDC00)
    return "\ufffd" if 0xD800 <= units[0] < 0xE000 else chr(units[0])


class _Tiler:
    """The state of one tiling."""

    def __init__(self, messages: Sequence[_Words], texts: Sequence[_Words]) -> None:
        self.messages, self.texts = messages, texts
        self.vocabulary: dict[str, int] = {}
        numbers = [[self._number(word) for word in each.words] for each in texts]
        self.known, self.text_offsets = _joined(numbers, separator=_END)
        spoken = [[self.vocabulary.get(word, _UNKNOWN) for word in each.words] for each in messages]
        self.request, self.offsets = _joined(spoken, separator=_SEPARATOR)
        self.owner = np.where(self.request == _SEPARATOR, _SEPARATOR, _FREE)
        self.covered = [np.zeros(len(each.words), dtype=np.bool_) for each in texts]
        self.runs: list[_Run] = []
        self.tied: list[frozenset[int]] = []

    def tiling(self, *, phrases: bool) -> Tiling:
        ambiguous = self._assign(list(self._shared()))
        self._assign_scattered()
        self._settle(ambiguous)
        self._assign_short()
        for text, covered in enumerate(self.covered):
            if covered.any() and not covered.all():
                self._fill(text)
            self._drop_crumbs(text)
        if not phrases:
            self._free_phrases()
        ordered = sorted(range(len(self.runs)), key=lambda number: self.runs[number].at)
        return Tiling(
            self.messages,
            self.texts,
            self.offsets,
            self.owner,
            self.covered,
            [self.runs[number] for number in ordered],
            [self.tied[number] for number in ordered],
        )

    def _number(self, word: str) -> int:
        return self.vocabulary.setdefault(word, len(self.vocabulary))

    def _shared(self) -> Iterator[_Run]:
        """All longest runs that a text shares with the request."""
        request, known = self.request, self.known
        at, start, rank = _matches(request, known, LEAST_RUN)
        may_replace = (at > 0) & (start > 0) & (request[at - 1] == known[start - 1]) & (known[start - 1] >= 0)
        # the run before is listed, unless its words occur too often
        chosen = ~(may_replace & (rank[start - 1] < _MOST_PLACES))
        seen: set[tuple[int, int]] = set()
        triples = zip(at[chosen].tolist(), start[chosen].tolist(), may_replace[chosen].tolist(), strict=True)
        for place, source, is_inside in triples:
            back = _common(request[:place][::-1], known[:source][::-1]) if is_inside else 0
            begin, first_word = place - back, source - back
            if (begin, first_word) not in seen:
                seen.add((begin, first_word))
                size = _common(request[begin:], known[first_word:])
                text = bisect_left(self.text_offsets, first_word + 1) - 1
                yield _Run(begin, text, first_word - self.text_offsets[text], size)

    def _assign(self, runs: list[_Run]) -> list[list[_Run]]:
        """Assign runs to the request, the longest first; the rest of a run that overlaps waits again.

        Returns the runs of several texts of which none is contained whole.
        """
        deferred: list[list[_Run]] = []
        waiting = [(-run.size, run.at, run) for run in runs if self._is_long(run)]
        heapify(waiting)
        while waiting:
            size, at, run = heappop(waiting)
            rivals = [run]
            while waiting and waiting[0][:2] == (size, at):
                rivals.append(heappop(waiting)[2])
            free = self.owner[at : at - size] == _FREE
            if free.all():
                if self._is_ambiguous(rivals):
                    self.owner[at : at - size] = _AMBIGUOUS
                    deferred.append(rivals)
                else:
                    self._take(rivals)
                continue
            for first, last in _stretches(free):
                for rival in rivals:
                    rest = _Run(at + first, rival.text, rival.start + first, last - first + 1)
                    if self._is_long(rest):
                        heappush(waiting, (-rest.size, rest.at, rest))
        return deferred

    def _is_ambiguous(self, rivals: Sequence[_Run]) -> bool:
        """Whether several texts share these words, and none of them is contained whole."""
        texts = {run.text for run in rivals}
        return len(texts) > 1 and not any(run.size == len(self.covered[run.text]) for run in rivals)

    def _settle(self, deferred: Sequence[list[_Run]]) -> None:
        """Assign ambiguous runs to texts whose other words stand around them, the nearest first."""
        for rivals in deferred:
            self.owner[rivals[0].at : rivals[0].at + rivals[0].size] = _FREE
        for rivals in deferred:
            near = [run for run in rivals if self._distance(run) <= len(self.covered[run.text])]
            if near:
                self._take(sorted(near, key=lambda run: (self._is_there(run), self._distance(run))))

    def _is_there(self, run: _Run) -> bool:
        """Whether these words of a text are there by another run."""
        return bool(self.covered[run.text][run.start : run.start + run.size].all())

    def _distance(self, run: _Run) -> float:
        """Number of words from a run to where the nearest other run of its text puts it."""
        own = (other for other in self.runs if other.text == run.text)
        return min((abs((run.at - other.at) - (run.start - other.start)) for other in own), default=inf)

    def _take(self, rivals: Sequence[_Run]) -> None:
        chosen = min(rivals, key=self._preference)
        owned = self.owner[chosen.at : chosen.at + chosen.size]
        owned[owned == _FREE] = chosen.text
        # words before and behind that belong to another text are there as well
        before = self._equal_words(chosen, -1)
        size = before + chosen.size + self._equal_words(chosen, 1)
        run = _Run(chosen.at - before, chosen.text, chosen.start - before, size)
        self.covered[run.text][run.start : run.start + run.size] = True
        self.runs.append(run)
        self.tied.append(frozenset(rival.text for rival in rivals) - {run.text})

    def _equal_words(self, run: _Run, step: int) -> int:
        """Number of words next to a run that the text and the request share."""
        here = run.at + run.size if step > 0 else run.at - 1
        there = run.start + run.size if step > 0 else run.start - 1
        offset, size, count = self.text_offsets[run.text], len(self.covered[run.text]), 0
        while (
            0 <= there < size
            and 0 <= here < len(self.request)
            and self.request[here] == self.known[offset + there]
        ):
            here, there, count = here + step, there + step, count + 1
        return count

    def _preference(self, run: _Run) -> tuple[bool, bool]:
        """Order of texts that share the same words: whole ones that are not there yet come first."""
        covered = self.covered[run.text]
        is_whole, is_there = run.size == len(covered), bool(covered.any())
        return not is_whole, is_whole and is_there

    def _free_phrases(self) -> None:
        """Free the words of texts of which only a phrase in a longer sentence is there."""
        for text, covered in enumerate(self.covered):
            own = [number for number, run in enumerate(self.runs) if run.text == text]
            if len(own) != 1 or covered.all() or self._is_set_off(self.runs[own[0]]):
                continue
            self._free(self.runs[own[0]])
            covered[:] = False

    def _free(self, run: _Run) -> None:
        """Take a run back."""
        number = self.runs.index(run)
        del self.runs[number], self.tied[number]
        owned = self.owner[run.at : run.at + run.size]
        owned[owned == run.text] = _FREE

    def _is_set_off(self, run: _Run) -> bool:
        """Whether a run begins and ends apart, or beside another text.

        A word may be cut off behind it, and most of a text may end anywhere.
        """
        message = bisect_left(self.offsets, run.at + 1) - 1
        words, first = self.messages[message], run.at - self.offsets[message]
        last = first + run.size - 1
        if not words.begins_apart(first) and self.owner[run.at - 1] < 0:
            return False
        if words.ends_apart(last) or self.owner[run.at + run.size] >= 0:
            return True
        if 2 * run.size > len(self.covered[run.text]):
            return True
        text, end = self.texts[run.text].words, run.start + run.size
        return end < len(text) and text[end].startswith(words.words[last + 1])

    def _is_long(self, run: _Run) -> bool:
        if run.size < LEAST_RUN:
            return False
        words = self.texts[run.text].words[run.start : run.start + min(run.size, _LEAST_LETTERS)]
        return sum(map(len, words)) >= _LEAST_LETTERS

    def _assign_short(self) -> None:
        """Assign texts that are too short for a run, where they stand by themselves."""
        short = [text for text, each in enumerate(self.texts) if each.words and not self._is_long_text(text)]
        if not short:
            return
        places: dict[int, list[int]] = {}
        for place, word in enumerate(self.request.tolist()):
            if word >= 0:
                places.setdefault(word, []).append(place)
        by_length = sorted(short, key=lambda number: -len(self.texts[number].words))
        for text in by_length:
            words = [self.vocabulary[word] for word in self.texts[text].words]
            for at in places.get(words[0], ()):
                end = at + len(words)
                if self.request[at:end].tolist() != words or (self.owner[at:end] != _FREE).any():
                    continue
                message = bisect_left(self.offsets, at + 1) - 1
                first = at - self.offsets[message]
                said = self.messages[message]
                if said.begins_apart(first) and said.ends_apart(first + len(words) - 1):
                    same = [other for other in short if self.texts[other].words == self.texts[text].words]
                    self._take([_Run(at, other, 0, len(words)) for other in same])

    def _is_long_text(self, text: int) -> bool:
        return self._is_long(_Run(0, text, 0, len(self.texts[text].words)))

    def _assign_scattered(self) -> None:
        """Assign texts of which every few words are changed, so that no run is long."""
        free = np.where(self.owner == _FREE, self.request, _SEPARATOR)
        missing = self.known.copy()
        for offset, covered in zip(self.text_offsets, self.covered, strict=True):
            missing[offset : offset + len(covered)][covered] = _END
        at, start, _ = _matches(free, missing, _LEAST_CONTINUED)
        if not len(at):
            return
        width = len(missing) + len(_STEPS)
        codes = at * width + start
        next_of: dict[int, int] = {}
        for here, there in reversed(_STEPS):  # the nearest is set last
            wanted = codes + here * width + there
            found = np.isin(wanted, codes)
            next_of |= zip(codes[found].tolist(), wanted[found].tolist(), strict=True)
        for code in codes.tolist():
            pairs = [code]
            while pairs[-1] in next_of:
                pairs.append(next_of.pop(pairs[-1]))
            places = [divmod(pair, width) for pair in pairs]
            text = bisect_left(self.text_offsets, places[0][1] + 1) - 1
            own = [_Run(at, text, first - self.text_offsets[text], _LEAST_CONTINUED) for at, first in places]
            words = self.texts[text].words
            own = [run for run in own if run.start < len(words)]  # the others are of the next text
            shared = {run.start + step for run in own for step in range(_LEAST_CONTINUED)}
            if len(shared) >= _LEAST_SCATTERED <= sum(len(words[place]) for place in shared) / 2:
                for run in own:
                    if not self._is_there(run):
                        self._take([run])

    def _drop_crumbs(self, text: int) -> None:
        """Drop a run that repeats others far away but for few words: it is of a text that quotes this one."""
        own = sorted((run for run in self.runs if run.text == text), key=lambda run: run.size)
        times = np.zeros(len(self.covered[text]), dtype=np.int64)
        for run in own:
            times[run.start : run.start + run.size] += 1
        first = np.array([run.at for run in own])
        last = np.array([run.at + run.size for run in own])
        for run in own:
            gaps = np.maximum(first - run.at - run.size, run.at - last)
            held = times[run.start : run.start + run.size]
            added = int((held == 1).sum())
            if (gaps < LEAST_STRETCH).sum() == 1 and added < min(LEAST_RUN, run.size):
                held -= 1
                if added:
                    self._free(run)
        self.covered[text][:] = times > 0

    def _fill(self, text: int) -> None:
        """Continue runs behind and before a few words that differ, such as a masked name."""
        for run in [run for run in self.runs if run.text == text]:
            for step in (1, -1):
                here = run.at + run.size if step > 0 else run.at - 1
                there = run.start + run.size if step > 0 else run.start - 1
                while (found := self._continued(text, here, there, step)) is not None:
                    self._take([found])
                    here = found.at + found.size if step > 0 else found.at - 1
                    there = found.start + found.size if step > 0 else found.start - 1

    def _continued(self, text: int, here: int, there: int, step: int) -> _Run | None:
        """The next run of `_LEAST_CONTINUED` words or more, at most `_MOST_CHANGED` words further.

        Its words may belong to another text that shares them.
        """
        for skipped, missing in _SKIPS:
            size = 0
            at, start = here + step * skipped, there + step * missing
            while self._is_equal(text, at + step * size, start + step * size):
                size += 1
            if size >= _LEAST_CONTINUED:
                first = 0 if step > 0 else size - 1
                return _Run(at - first, text, start - first, size)
        return None

    def _is_equal(self, text: int, at: int, start: int) -> bool:
        """Whether a word of the request and a word of a text are equal, and the text does not have it yet."""
        covered = self.covered[text]
        return (
            0 <= at < len(self.request)
            and 0 <= start < len(covered)
            and not covered[start]
            and self.request[at] == self.known[self.text_offsets[text] + start]
        )


def _joined(parts: Sequence[Sequence[int]], separator: int) -> tuple[NDArray[np.int64], list[int]]:
    """The parts in one array, each followed by a separator, and where each begins."""
    offsets: list[int] = []
    joined: list[int] = []
    for part in parts:
        offsets.append(len(joined))
        joined += [*part, separator]
    return np.array(joined, dtype=np.int64), offsets


def _matches(
    request: NDArray[np.int64], known: NDArray[np.int64], length: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The places of equal runs of a length in the request and in the known texts.

    Also, for each place in the known texts, how many equal ones are before it.
    """
    here, there = _grams(request, length), _grams(known, length)
    order = np.argsort(there, kind="stable")
    ordered = there[order]
    first = np.searchsorted(ordered, here, side="left")
    counts = np.minimum(np.searchsorted(ordered, here, side="right") - first, _MOST_PLACES)
    at = np.repeat(np.arange(len(here)), counts)
    within = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
    start = order[np.repeat(first, counts) + within]
    is_equal = np.ones(len(at), dtype=np.bool_)
    for step in range(length):
        is_equal &= (request[at + step] == known[start + step]) & (known[start + step] >= 0)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered, side="left")
    return at[is_equal], start[is_equal], rank


def _grams(words: NDArray[np.int64], length: int) -> NDArray[np.uint64]:
    """A hash of each run of a length in words."""
    size = max(0, len(words) - length + 1)
    hashes = np.zeros(size, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for step in range(length):
            hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + words[step : step + size].astype(np.uint64)
    return hashes


def _common(one: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    """Number of equal words from the beginning."""
    size, length = 0, 32
    while True:
        left, right = one[size : size + length], other[size : size + length]
        shorter = min(len(left), len(right))
        differs = (left[:shorter] != right[:shorter]) | (right[:shorter] < 0)
        if differs.any():
            return size + int(differs.argmax())
        size += shorter
        if shorter < length:
            return size
        length *= 2


def _stretches(wanted: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """First and last position of each run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], wanted, [False])).astype(np.int8)))
    for first, end in edges.reshape(-1, 2).tolist():
        yield first, end - 1
