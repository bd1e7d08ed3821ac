"""Chunks that hold quotes, for any chunking."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from ragmetrics_core.questions._word_forms import places_of, word_form

__all__ = ["ChunkIndex"]

# A shorter part of a quote may be in a chunk by chance: it counts only in the neighbour of another part's.
_ANCHOR: Final = 6


class _HeldRange(NamedTuple):
    """A range of a quote's form that a chunk holds, at its beginning or its end."""

    start: int
    end: int
    chunk: int


class ChunkIndex:
    """The word forms of chunks, and their beginnings and ends."""

    def __init__(self, chunks: Mapping[str, str]) -> None:
        self._ids = list(chunks)
        self._texts = list(chunks.values())
        self._forms = [word_form(text).text for text in self._texts]
        self._joined = "\0".join(self._forms)
        self._offsets: list[int] = []
        self._begins: dict[str, list[int]] = {}
        self._ends: dict[str, list[int]] = {}
        offset = 0
        for chunk, form in enumerate(self._forms):
            self._offsets.append(offset)
            offset += len(form) + 1
            if len(form) >= _ANCHOR:
                self._begins.setdefault(form[:_ANCHOR], []).append(chunk)
                self._ends.setdefault(form[-_ANCHOR:], []).append(chunk)

    def holding(self, quotes: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Ids of few chunks that together hold these quotes, and the quotes that no chunks hold."""
        forms = {quote: word_form(quote).text for quote in quotes}
        holders = {quote: self._holders(form) for quote, form in forms.items()}
        chosen: set[int] = set()
        left: list[set[int]] = [chunks for chunks in holders.values() if chunks]
        while left:
            counts = Counter(chunk for chunks in left for chunk in chunks)
            best = min(counts, key=lambda chunk: (-counts[chunk], chunk))
            chosen.add(best)
            left = [chunks for chunks in left if best not in chunks]
        missing: list[str] = []
        for quote, form in forms.items():
            if not holders[quote]:
                parts = self._covering(form, chosen)
                chosen.update(parts)
                if not parts:
                    missing.append(quote)
        return tuple(self._ids[chunk] for chunk in sorted(chosen)), tuple(missing)

    def _holders(self, form: str) -> set[int]:
        """Chunks that hold a whole quote."""
        holders: set[int] = set()
        at = self._joined.find(form) if form else -1
        while at != -1:
            chunk = bisect_right(self._offsets, at) - 1
            if any(places_of(form, word_form(self._texts[chunk]))):
                holders.add(chunk)
            next_chunk = self._offsets[chunk] + len(self._forms[chunk]) + 1
            at = self._joined.find(form, next_chunk)
        return holders

    def _covering(self, form: str, chosen: set[int]) -> list[int]:
        """Fewest chunks whose parts make a whole quote; empty if there are none."""
        parts = self._parts(form)
        chunks: list[int] = []
        at = 0
        while at < len(form):
            usable = [part for part in parts if part.start <= at < part.end]
            if not usable:
                return []
            before = chunks[-1] if chunks else -1
            best = min(
                usable, key=lambda part: (-part.end, part.chunk not in chosen, abs(part.chunk - before - 1))
            )
            chunks.append(best.chunk)
            at = best.end
            while at < len(form) and not form[at].isalnum():  # signs between numbers, which a border removes
                at += 1
        return chunks

    def _parts(self, form: str) -> list[_HeldRange]:
        parts: list[_HeldRange] = []
        for end in range(_ANCHOR, len(form) + 1):
            for chunk in self._ends.get(form[end - _ANCHOR : end], ()):
                start = max(end - len(self._forms[chunk]), 0)
                if self._forms[chunk].endswith(form[start:end]):
                    parts.append(_HeldRange(start, end, chunk))
        for start in range(len(form) - _ANCHOR + 1):
            for chunk in self._begins.get(form[start : start + _ANCHOR], ()):
                if self._forms[chunk].startswith(form[start:]):
                    parts.append(_HeldRange(start, len(form), chunk))
        return parts + [short for part in parts for short in self._short_parts(form, part)]

    def _short_parts(self, form: str, part: _HeldRange) -> list[_HeldRange]:
        """Parts that are shorter than an anchor, in the neighbours of a chunk."""
        size = len(form)
        short: list[_HeldRange] = []
        if size - part.end < _ANCHOR and part.chunk + 1 < len(self._forms):
            following = self._forms[part.chunk + 1]
            starts = range(size - _ANCHOR + 1, min(part.end, size - 1) + 1)
            short += [
                _HeldRange(start, size, part.chunk + 1)
                for start in starts
                if following.startswith(form[start:])
            ]
        if part.start < _ANCHOR and part.chunk:
            before = self._forms[part.chunk - 1]
            ends = range(max(part.start, 1), _ANCHOR)
            short += [_HeldRange(0, end, part.chunk - 1) for end in ends if before.endswith(form[:end])]
        return short
