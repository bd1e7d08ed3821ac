"""Corpora: documents from folders, files, rows and the objects of frameworks."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, cast

from ragmetrics_core.adapting import chunks_of
from ragmetrics_core.boundary.redaction import Redact, redacted
from ragmetrics_core.boundary.shapes import field_of, is_mapping, is_series
from ragmetrics_core.errors import SampleError
from ragmetrics_core.questions._model import Document, Passage
from ragmetrics_core.questions._passages import passages_of
from ragmetrics_core.questions._word_forms import word_form
from ragmetrics_core.runs import read_rows
from ragmetrics_core.samples import Label
from ragmetrics_core.samples.columns import label_of, labels_in, plain, spelled, valid_text

__all__ = ["Corpus", "CorpusSource", "FoundDocument", "Skipped", "graph_rows", "read_corpus"]

CorpusSource: TypeAlias = str | Path | Iterable[object]
"""A folder, a file, a data frame, or documents: mappings, `Document`, or those of a framework."""

_TEXT_FILES: Final = frozenset({".txt", ".text", ".md", ".markdown"})
_ROW_FILES: Final = frozenset({".jsonl", ".ndjson"})
# In a folder, such files are rarely documents.
_TABLES: Final = frozenset({".json", ".csv", ".tsv", ".parquet"})
_TEXTS: Final = ("text", "page_content", "content", "contents", "body")
_IDS: Final = ("id", "doc_id", "document_id", "node_id")
_LABELS: Final = ("labels", "metadata", "meta")
# In Windows-1252, letters of another script are many in a row, or signs inside of words.
_FOREIGN: Final = re.compile(r"[À-ÖØ-öø-ÿ]{4}|(?<=[^\W\d_])[¡-©«¬®-¶¸¹»-¿×÷](?=[^\W\d_])")


class Skipped(NamedTuple):
    """A document that was left out.

    Attributes:
        where: the file, or the row.
        reason: why it was left out.
    """

    where: str
    reason: str


@dataclass(frozen=True, eq=False)
class Corpus:
    """The documents that questions are made of.

    Attributes:
        documents: the documents by id, in the order in which they were read.
        skipped: documents that were left out, with the reasons.
    """

    documents: Mapping[str, Document]
    skipped: tuple[Skipped, ...] = field(default=())

    def passages(self, words: int = 150) -> tuple[Passage, ...]:
        """Cut the documents into passages of about as many words.

        A passage ends at a heading, else a paragraph, else a sentence. In scripts without spaces, each
        character counts as a word. A sentence is cut only if it is longer than two passages. All that is not
        blank belongs to one passage.
        """
        if words < 1:
            raise SampleError(f"passages have at least 1 word, not {words}")
        return tuple(
            passage for document in self.documents.values() for passage in passages_of(document, words)
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the documents; their order does not matter."""
        lines = [
            json.dumps([document.id, document.text, sorted(document.labels.items())])
            for document in self.documents.values()
        ]
        return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()

    @cached_property
    def word_forms(self) -> Mapping[str, str]:
        """The form of each document in which quotes are looked for, in the order of the ids."""
        return {id: word_form(self.documents[id].text).text for id in sorted(self.documents)}

    @cached_property
    def labels(self) -> Mapping[str, frozenset[Label]]:
        """The values of each label."""
        values: dict[str, set[Label]] = {}
        for document in self.documents.values():
            for name, value in document.labels.items():
                values.setdefault(name, set()).add(value)
        return {name: frozenset(found) for name, found in values.items()}


def read_corpus(source: CorpusSource, *, redact: Redact | None = None) -> Corpus:
    r"""Read the documents of a corpus.

    A file is a text (`.txt`), Markdown (`.md`) or JSON Lines (`.jsonl`); outside of a folder, also JSON
    (`.json`), CSV (`.csv`, `.tsv`), Parquet (`.parquet`), or a knowledge graph of ragas. Line breaks of text
    files become "\n". The first folder inside of a folder is the label `folder`. Hidden files are ignored.

    In rows and mappings, the text is named `text`, `page_content`, `content`, `contents` or `body`, and the
    id `id`, `_id`, `doc_id` or `document_id`; numbers, texts and truth values of other columns and of
    `metadata`, `meta` and `labels` are labels. A document without an id is named by a hash. Equal documents
    count once.

    Args:
        source: a folder, a file, or documents: mappings, a data frame, `Document`, documents of LangChain and
            Haystack, documents and nodes of LlamaIndex.
        redact: function that removes private parts from each id, text and label.

    Raises:
        SampleError: a file cannot be read, an id belongs to two documents, or no document has a text.
    """
    reader = _Reader(redact)
    try:
        return reader.read(source)
    except SampleError as error:
        if redact is None:
            raise
        problem = str(error)
    raise SampleError(redacted(redact, problem))


class FoundDocument(NamedTuple):
    """A document as it was found."""

    where: str
    content: object
    textual: bool = False


class _Reader:
    """Collects the documents of a source."""

    def __init__(self, redact: Redact | None) -> None:
        self._redact = redact
        self._documents: dict[str, Document] = {}
        self._places: dict[str, str] = {}
        self._skipped: list[Skipped] = []

    def read(self, source: CorpusSource) -> Corpus:
        for row, defaults in self._rows(source):
            try:
                document = _document(row, defaults)
            except _NotADocument as error:
                self._skip(row.where, str(error))
            else:
                self._add(row.where, document)
        if not self._documents:
            found = "; ".join(f"{where}: {reason}" for where, reason in self._skipped[:3])
            raise SampleError(f"the corpus has no document with a text{f' ({found})' if found else ''}")
        return Corpus(self._documents, tuple(self._skipped))

    def _rows(self, source: CorpusSource) -> Iterator[tuple[FoundDocument, Mapping[str, Label]]]:
        """Documents as they are found, with default labels."""
        if isinstance(source, str | Path):
            path = Path(source)
            if path.is_dir():
                for file in self._files(path):
                    parts = file.relative_to(path).parts
                    labels = {"folder": parts[0]} if len(parts) > 1 else {}
                    yield from ((row, labels) for row in self._of_file(file, "/".join(parts)))
            elif not path.exists():
                raise SampleError(f"{str(path)!r} does not exist")
            elif (graph := graph_rows(path)) is not None:
                yield from ((row, {}) for row in graph)
            elif path.suffix.lower() in _TEXT_FILES | _ROW_FILES | _TABLES:
                yield from ((row, {}) for row in self._of_file(path, path.name))
            else:
                raise SampleError(
                    f"{str(path)!r} is not a corpus; give a folder, or a .txt, .md, .jsonl, .json, .csv or "
                    ".parquet file"
                )
        elif (graph := graph_rows(source)) is not None:
            yield from ((row, {}) for row in graph)
        else:
            rows = [source] if _of_object(source) is not None else source
            for found in read_rows(cast("Iterable[Mapping[str, object]]", rows)):
                where = found.where.replace("row", "document")
                yield FoundDocument(where, found.row, found.textual), {}

    def _files(self, folder: Path) -> Iterator[Path]:
        """The files in a folder that are not hidden, in order of their paths."""
        for parent, folders, names in os.walk(folder, onerror=_refuse):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if not name.startswith("."):
                    yield Path(parent, name)

    def _of_file(self, path: Path, name: str) -> Iterator[FoundDocument]:
        kind = path.suffix.lower()
        if kind in _ROW_FILES | _TABLES:
            if path.stat().st_size == 0:
                self._skip(name, "empty")
                return
            for row in read_rows(path):
                where = f"{name}, {row.where}"
                if row.problem is not None:
                    raise SampleError(f"{where}: {row.problem}")
                yield FoundDocument(where, row.row, row.textual)
            return
        try:
            content = path.read_bytes() if path.is_file() else b"\0"
        except OSError as error:
            raise SampleError(f"cannot read {str(path)!r}: {error}") from error
        text = _decoded(content)
        if text is None:
            self._skip(name, "not text, or not in UTF-8")
        elif kind not in _TEXT_FILES:
            self._skip(name, "not a .txt, .md or .jsonl file")
        else:
            yield FoundDocument(name, {"id": name, "text": text})

    def _add(self, where: str, document: Document) -> None:
        if self._redact is not None:
            document = _redacted(self._redact, document)
        known = self._documents.setdefault(document.id, document)
        place = self._places.setdefault(document.id, where)
        if known != document:
            differs = "text" if known.text != document.text else "labels"
            raise SampleError(
                f"{where}: the id {document.id!r} is that of {place}, which has another {differs}; "
                "give each document an id of its own"
            )

    def _skip(self, where: str, reason: str) -> None:
        if self._redact is not None:
            where, reason = redacted(self._redact, where), redacted(self._redact, reason)
        self._skipped.append(Skipped(where, reason))


class _NotADocument(Exception):
    """The reason why a document is left out."""


def _document(row: FoundDocument, defaults: Mapping[str, Label]) -> Document:
    content = row.content
    if isinstance(content, Document):
        fields: Mapping[str, object] = {"id": content.id, "text": content.text, "labels": content.labels}
    elif is_mapping(content):
        fields = content
    elif isinstance(content, str):
        raise SampleError(f'{row.where} is a text; write it as {{"id": "...", "text": "..."}}')
    else:
        fields = _of_object(content) or {}
    columns = {str(column): value for column, value in fields.items()}
    text_column = _text_column(row.where, columns)
    text = columns.pop(text_column)
    try:
        text = valid_text("the text", text)
        if not text.strip():
            raise _NotADocument("empty")
        id = _id(columns)
        labels = {**defaults, **_labels(columns, textual=row.textual)}
    except SampleError as error:
        raise _NotADocument(str(error)) from None
    if id is None:
        content_hash = hashlib.sha256(json.dumps([text, sorted(labels.items())]).encode())
        id = f"d-{content_hash.hexdigest()[:16]}"
    return Document(id=id, text=text, labels=labels)


def graph_rows(source: object) -> list[FoundDocument] | None:
    """Documents of a knowledge graph of ragas, or else its chunks; None for any other source."""
    graph = source
    if isinstance(source, str | Path):
        if Path(source).suffix.lower() != ".json":
            return None
        try:
            graph = json.loads(Path(source).read_bytes())
        except (OSError, ValueError):  # its reader says what is wrong
            return None
    nodes = field_of(graph, "nodes")
    if not is_series(nodes) or not is_series(field_of(graph, "relationships")):
        return None
    rows: dict[str, list[FoundDocument]] = {"document": [], "chunk": []}
    for number, node in enumerate(nodes, start=1):
        kind, properties = field_of(node, "type"), field_of(node, "properties")
        kind = getattr(kind, "value", kind)
        if kind in rows and is_mapping(properties) and properties.get("page_content"):
            fields = {
                "id": str(field_of(node, "id")),
                "text": properties["page_content"],
                "metadata": properties.get("document_metadata"),
            }
            rows[kind].append(FoundDocument(f"node {number}", fields))
    return rows["document"] or rows["chunk"]


def _of_object(value: object) -> Mapping[str, object] | None:
    """Text, id and metadata of a framework's document or node; None for anything else."""
    if isinstance(value, Document):
        return {"id": value.id, "text": value.text, "labels": value.labels}
    if isinstance(value, str | list | tuple) or is_mapping(value):
        return None
    chunks, _ = chunks_of(value)
    if len(chunks) != 1:
        return None
    inner = field_of(value, "node")
    holder = value if inner is None else inner
    ids = (field_of(holder, name) for name in ("id", "id_", "node_id"))
    metadata = (field_of(holder, name) for name in ("metadata", "meta"))
    return {
        "id": next((id for id in ids if id is not None), None),
        "text": chunks[0].text,
        "metadata": next((each for each in metadata if each is not None), None),
    }


def _text_column(where: str, columns: Mapping[str, object]) -> str:
    """The column of the text."""
    named = {spelled(column): column for column in columns if isinstance(columns[column], str)}
    found = [named[name] for name in _TEXTS if name in named]
    texts = {columns[column] for column in found}
    if not found:
        raise _NotADocument(f"no text under any of {', '.join(_TEXTS)}")
    if len(texts) > 1:
        raise SampleError(
            f"{where} has texts that differ under {' and '.join(map(repr, found))}; keep one of them"
        )
    return found[0]


def _id(columns: dict[str, object]) -> str | None:
    """Take the id out of the columns; None if they have none."""
    named = {spelled(column): column for column in reversed(columns)}
    for name in _IDS:
        value = plain(columns.pop(named[name])) if name in named else None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is not None and value != "":
            return valid_text("the id", value if isinstance(value, str) else str(value))
    return None


def _labels(columns: Mapping[str, object], *, textual: bool) -> dict[str, Label]:
    """The scalars among the columns, and in their metadata."""
    labels: dict[str, Label] = {}
    for column, value in columns.items():
        inner = labels_in(column, value) if spelled(column) in _LABELS else {column: value}
        for name, label in inner.items():
            scalar = plain(label)
            if scalar is not None and not is_mapping(scalar) and not isinstance(scalar, list | tuple | set):
                labels.setdefault(valid_text("a label's name", name), label_of(name, scalar, textual=textual))
    return labels


def _redacted(redact: Redact, document: Document) -> Document:
    labels = {
        redacted(redact, name): redacted(redact, value) if isinstance(value, str) else value
        for name, value in document.labels.items()
    }
    return Document(id=redacted(redact, document.id), text=redacted(redact, document.text), labels=labels)


def _decoded(content: bytes) -> str | None:
    r"""The text of a file in UTF-8, UTF-16 with a mark, or Windows-1252; None if it is none of these."""
    is_wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = content.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError:
        try:
            text = content.decode("cp1252")
        except UnicodeDecodeError:
            return None
        if _FOREIGN.search(text):
            return None
    return None if "\0" in text else text.replace("\r\n", "\n").replace("\r", "\n")


def _refuse(error: OSError) -> None:
    raise SampleError(f"cannot read the folder {str(error.filename)!r}: {error.strerror}") from error
