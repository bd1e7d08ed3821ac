"""Traces of files as samples: spans are gathered by trace in a temporary file, so memory stays flat."""

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final

import numpy as np

from ragmetrics_core.adapting import Rules
from ragmetrics_core.boundary import Redact, redacted
from ragmetrics_core.boundary.unpacking import kind_of, opened
from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.samples import Sample
from ragmetrics_core.traces._assembly import SkippedTrace, samples_of
from ragmetrics_core.traces._files import rows_of
from ragmetrics_core.traces._formats import FORMATS, format_among
from ragmetrics_core.traces._spans import TraceSpan, packed, unpacked

__all__ = ["Traces", "format_of", "read_traces"]

# Files that hold rows, whatever their content.
_TABLES: Final = frozenset({".csv", ".tsv", ".xlsx", ".parquet"})
# A file that has none of these names at its beginning is not one of traces.
_TELLING: Final = re.compile(
    rb"trace_?id|span_?id|resource_?(?:spans|logs)|run_?type|observation|request_id", re.IGNORECASE
)
_HEAD: Final = 2**20
# How many objects are looked at to find the format.
_LOOKED_AT: Final = 20
_ADVICE: Final = "record their retrieval in a span, or read with system_message=True"
# Spans above this size are kept in a temporary file.
_IN_MEMORY: Final = 2**26
# So many traces are read twice, to know the prompts of the first ones by what later requests share with them.
_READ_TWICE: Final = 4


class Traces:
    """Traces in files, as a source of samples.

    Args:
        source: a file, a folder of files, or several of both. The spans of a trace may be in any order, in
            several files, and twice.
        format: name of the format. Default: found in the first objects of each file.
        documents: texts of documents by id, for conventions that record only ids.
        system_message: use the model's system message as the context if no contexts are found. It also
            contains the instructions.

    Raises:
        ConfigError: there is no such format.
        SampleError: a file is missing.
    """

    def __init__(
        self,
        source: str | Path | Sequence[str | Path],
        *,
        format: str | None = None,
        documents: Mapping[str, str] | None = None,
        system_message: bool = False,
    ) -> None:
        if format is not None and format not in FORMATS:
            raise ConfigError(f"unknown format {format!r}; the formats of traces are {', '.join(FORMATS)}")
        given = [source] if isinstance(source, str | Path) else list(source)
        self.paths = [path for each in given for path in _files_of(Path(each))]
        self._format, self._documents = format, documents or {}
        self._system_message = system_message

    def __str__(self) -> str:
        """The paths of the files."""
        return ", ".join(map(str, self.paths))

    def __iter__(self) -> Iterator[Sample | SkippedTrace]:
        """The samples in order of time, and what gives none."""
        with SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
            gathered = _Gathered(file)
            for path in self.paths:
                yield from self._gather(path, gathered)
            rules = Rules(system_message=self._system_message, advice=_ADVICE)
            places = gathered.places()
            for spans in islice(gathered.traces(places), _READ_TWICE if len(places) > 1 else 0):
                list(samples_of(spans, rules, self._documents))
            for spans in gathered.traces(places):
                yield from samples_of(spans, rules, self._documents)

    def _gather(self, path: Path, gathered: "_Gathered") -> Iterator[SkippedTrace]:
        """Gather the spans of a file; yield what cannot be read."""
        place = f"{path.name}, " if len(self.paths) > 1 else ""
        name = self._format or format_of(path)
        if name is None:
            if len(self.paths) > 1:
                yield SkippedTrace(path.name, "not a file of traces")
                return
            raise SampleError(f"{str(path)!r} is not a file of traces; the formats are {', '.join(FORMATS)}")
        form = FORMATS[name]
        is_other = True  # as long as there is nothing in this format, and nothing broken
        for where, row, problem in rows_of(path):
            if row is None:
                is_other = False
                yield SkippedTrace(place + where, problem)
            elif not form.recognises(row):
                yield SkippedTrace(place + where, f"not in the format {name}")
            else:
                is_other = False
                for span in form.spans_of([row]):
                    if span.trace and span.id:
                        gathered.add(span)
                    else:
                        yield SkippedTrace(place + where, "; ".join(span.problems) or "a span without an id")
        if is_other and len(self.paths) == 1:
            raise SampleError(f"{str(path)!r} has nothing in the format {name}; give no format to find it")


def read_traces(
    source: str | Path | Sequence[str | Path],
    *,
    format: str | None = None,
    documents: Mapping[str, str] | None = None,
    system_message: bool = False,
    redact: Redact | None = None,
) -> Iterator[Sample | SkippedTrace]:
    """Read traces as samples; for the other arguments, see `Traces`.

    `redact` is a function that removes private parts from all texts.

    Yields:
        A sample, or a `SkippedTrace` with the reason.
    """
    traces = Traces(source, format=format, documents=documents, system_message=system_message)
    for each in traces:
        if redact is None:
            yield each
        elif isinstance(each, Sample):
            yield each.redacted(redact)
        else:
            yield each._replace(reason=redacted(redact, each.reason))


def format_of(path: Path) -> str | None:
    """The format of a file of traces; None for any other file.

    Raises:
        SampleError: the first objects are in several formats.
    """
    if not path.is_file() or kind_of(path) in _TABLES:
        return None
    try:
        with opened(path) as file:
            head = file.read(_HEAD)
        is_text = head[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
        if is_text and not _TELLING.search(head):
            return None
        names: dict[str, None] = {}
        for found in islice(rows_of(path), _LOOKED_AT):
            recognised = format_among(found.row)
            if len(recognised) == 1:
                return recognised[0]
            names |= dict.fromkeys(recognised)
    except (SampleError, OSError, EOFError):
        return None
    if names:
        raise SampleError(f"{str(path)!r} may be in several formats: name one of {', '.join(names)}")
    return None


def _files_of(path: Path) -> list[Path]:
    if path.is_dir():
        files = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
        if not files:
            raise SampleError(f"the folder {str(path)!r} has no files")
        return files
    if not path.exists():
        raise SampleError(f"{str(path)!r} does not exist")
    return [path]


class _Gathered:
    """Spans in a file of lines, with the place of each by its trace: 24 bytes a span."""

    def __init__(self, file: "SpooledTemporaryFile[bytes] | IO[bytes]") -> None:
        self._file = file
        self._keys, self._places, self._began = array("Q"), array("Q"), array("q")

    def add(self, span: TraceSpan) -> None:
        key = int.from_bytes(blake2b(span.trace.encode(errors="replace"), digest_size=8).digest())
        self._keys.append(key)
        self._places.append(self._file.tell())
        self._began.append(min(span.began, 2**63 - 1) or 2**63 - 1)
        self._file.write(packed(span).encode("ascii") + b"\n")

    def places(self) -> list[Any]:
        """The places of the spans of each trace; the traces in order of time."""
        keys = np.frombuffer(self._keys, dtype=np.uint64)
        if not len(keys):
            return []
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=keys[order][0] ^ np.uint64(1)))
        began = np.minimum.reduceat(np.frombuffer(self._began, dtype=np.int64)[order], starts)
        groups = np.split(np.frombuffer(self._places, dtype=np.uint64)[order], starts[1:])
        return [groups[number] for number in np.lexsort((keys[order][starts], began))]

    def traces(self, places: Sequence[Any]) -> Iterator[list[TraceSpan]]:
        """The spans of each trace."""
        for group in places:
            spans: list[TraceSpan] = []
            for place in group:
                self._file.seek(int(place))
                spans.append(unpacked(self._file.readline()))
            yield spans
