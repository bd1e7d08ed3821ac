"""Traces whose spans are still coming, in bounded memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Final, Literal

from ragmetrics_core.adapting import Rules
from ragmetrics_core.samples import Sample
from ragmetrics_core.traces._assembly import SkippedTrace, samples_of
from ragmetrics_core.traces._spans import packed, unpacked
from ragmetrics_core.traces.tail import NewSpan

__all__ = ["UnfinishedTraces"]

# Finished traces that are remembered, to know late spans.
_REMEMBERED: Final = 10_000
_DIGEST: Final = 8
_SPAN_DIGEST: Final = 4


@dataclass
class _Trace:
    """An unfinished trace.

    Attributes:
        lines: its spans, packed, without copies.
        begins: the first place in each file.
        touched: time of its newest span.
        has_ended: whether a root has ended.
        size: length of its lines.
    """

    lines: dict[str, None] = field(default_factory=dict[str, None])
    begins: dict[int, int] = field(default_factory=dict[int, int])
    touched: float = 0.0
    has_ended: bool = False
    size: int = 0


class UnfinishedTraces:
    """Gather spans by trace until the traces are finished.

    A trace is due when its root has ended and no span came for `settle` seconds, or when none came for
    `give_up` seconds. Of a finished trace only digests are kept.

    Args:
        settle, give_up: seconds.
        most: maximum number of unfinished traces.
        most_bytes: maximum size of their spans, as JSON.
        finished: digests of traces that an earlier process finished.
        ages: seconds since the last span of traces that an earlier process left, by digest.
    """

    def __init__(
        self,
        *,
        settle: float,
        give_up: float,
        most: int = 10_000,
        most_bytes: int = 2**26,
        finished: Iterable[str] = (),
        ages: Mapping[str, float] | None = None,
    ) -> None:
        self._settle, self._give_up = settle, give_up
        self._most, self._most_bytes = most, most_bytes
        self._open: dict[str, _Trace] = {}
        self._size = 0
        # digests of the spans one after the other; None for a trace of an earlier process
        self._finished: dict[bytes, bytes | None] = {bytes.fromhex(each): None for each in finished}
        self._ages = {bytes.fromhex(key): age for key, age in (ages or {}).items()}

    def __len__(self) -> int:
        return len(self._open)

    @property
    def ended(self) -> set[str]:
        """The unfinished traces whose root has ended."""
        return {name for name, trace in self._open.items() if trace.has_ended}

    @property
    def surplus(self) -> str | None:
        """The trace that waits longest, if there are too many or they are too large."""
        is_over = len(self._open) > self._most or self._size > self._most_bytes
        return next(iter(self._open)) if is_over else None

    def has_ended(self, name: str) -> bool:
        """Whether the root of an unfinished trace has ended."""
        return self._open[name].has_ended

    def add(self, new: NewSpan, now: float) -> Literal["added", "repeated", "late"]:
        """Add a span at a time; "late" if its trace is finished and had no such span."""
        span, place, age = new
        key, line = _digest(span.trace, _DIGEST), packed(span)
        if key in self._finished:
            digests = self._finished[key]
            if digests is None:
                return "repeated" if place.is_known else "late"
            digest = _digest(line, _SPAN_DIGEST)
            starts = range(0, len(digests), _SPAN_DIGEST)
            return "repeated" if any(digests[n : n + _SPAN_DIGEST] == digest for n in starts) else "late"
        trace = self._open.get(span.trace)
        if trace is None:
            trace = self._open[span.trace] = _Trace()
        trace.begins[place.file] = min(place.offset, trace.begins.get(place.file, place.offset))
        if line in trace.lines:
            return "repeated"
        trace.lines[line] = None
        trace.size += len(line)
        self._size += len(line)
        trace.has_ended |= not span.parent and span.ended is not None
        written = now - (self._ages.get(key, age) if place.is_known else age)
        if written >= trace.touched or len(trace.lines) == 1:
            trace.touched = written
            self._open[span.trace] = self._open.pop(span.trace)  # the one that waits longest comes first
        return "added"

    def due(self, now: float) -> list[str]:
        """The traces that are due at a time."""
        waited = ((name, trace, now - trace.touched) for name, trace in self._open.items())
        return [
            name
            for name, trace, seconds in waited
            if seconds >= self._give_up or (trace.has_ended and seconds >= self._settle)
        ]

    def samples(
        self, name: str, rules: Rules, documents: Mapping[str, str]
    ) -> Iterator[Sample | SkippedTrace]:
        """The samples in an unfinished trace as it is."""
        return samples_of(map(unpacked, self._open[name].lines), rules, documents)

    def finish(self, name: str) -> Mapping[int, int]:
        """Forget the spans of a trace; return the first place in each file."""
        trace = self._open.pop(name)
        self._size -= trace.size
        digests = b"".join(_digest(line, _SPAN_DIGEST) for line in trace.lines)
        self._finished[_digest(name, _DIGEST)] = digests
        if len(self._finished) > _REMEMBERED:
            del self._finished[next(iter(self._finished))]
        return trace.begins

    def begins(self) -> Iterator[Mapping[int, int]]:
        """The first place in each file, of each unfinished trace."""
        return (trace.begins for trace in self._open.values())

    def finished(self) -> Sequence[str]:
        """Digests of the newest finished traces."""
        return [key.hex() for key in islice(self._finished, len(self._finished))]

    def ages(self, now: float) -> dict[str, float]:
        """Seconds since the last span, by digest of the trace."""
        return {_digest(name, _DIGEST).hex(): now - trace.touched for name, trace in self._open.items()}


def _digest(text: str, size: int) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=size).digest()
