"""Retrieved documents as texts: strings, mappings and any framework's documents, found by their fields."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from math import isfinite, nan
from typing import Any, NamedTuple, TypeGuard

from ragmetrics_core.boundary.shapes import field_of, is_mapping, is_tuple

__all__ = ["Chunk", "chunks_of"]

# By framework: LangChain; Haystack, and mappings as most servers send them; LlamaIndex; mappings.
_TEXTS = ("page_content", "content", "text", "contents", "chunk")
_IDS = ("id", "node_id", "id_", "doc_id", "document_id", "chunk_id")
# What holds documents: a retriever's output, a response with its sources.
_HOLDERS = ("documents", "source_nodes", "source_documents", "nodes", "contexts")
_DEEPEST = 6


class Chunk(NamedTuple):
    """A retrieved text at the moment of reading.

    Attributes:
        text: the text.
        id: the document's id, or None.
        score: score from a search or a ranker.
        others: other texts of the document that may be shown instead, such as a window around it.
        is_added: whether the application noted it beside the contexts that hooks find.
    """

    text: str
    id: str | None = None
    score: float | None = None
    others: tuple[str, ...] = ()
    is_added: bool = False


def chunks_of(documents: object) -> tuple[list[Chunk], list[str]]:
    """The texts of documents, in order, and the names of the types without text.

    Takes a text, a document or a collection: objects and mappings with a text under a common name
    (LangChain's `page_content`, Haystack's `content`, LlamaIndex's `get_content()` or `text`), pairs of a
    document and its score, nodes with a score, and outputs that hold documents. Documents without text (an
    image, an empty page) are left out. Iterators are not consumed, so they have no text.

    >>> chunks, unknown = chunks_of(["a", {"id": 7, "content": "b"}, ({"text": "c"}, 0.9), 4.2])
    >>> [(chunk.text, chunk.id, chunk.score) for chunk in chunks], unknown
    ([('a', None, None), ('b', '7', None), ('c', None, 0.9)], ['float'])
    """
    unknown: list[str] = []
    found = [chunk for chunk in _chunks(documents, unknown, _DEEPEST) if chunk.text.strip()]
    return found, unknown


def _chunks(value: object, unknown: list[str], depth: int) -> Iterator[Chunk]:
    if isinstance(value, Chunk):
        yield value
    elif isinstance(value, str):
        yield Chunk(str(value))
    elif value is None:
        return
    elif depth and is_tuple(value) and len(value) == 2 and _is_number(value[1]):
        score = _number(value[1])
        yield from (chunk._replace(score=score) for chunk in _chunks(value[0], unknown, depth - 1))
    elif depth and _is_collection(value):
        for each in value:
            yield from _chunks(each, unknown, depth - 1)
    elif (chunk := _chunk(value)) is not None:
        yield chunk
    elif depth and (held := _first(value, _HOLDERS)) is not None:
        yield from _chunks(held, unknown, depth - 1)
    else:
        unknown.append(type(value).__name__)


def _chunk(document: object) -> Chunk | None:
    score = _number(field_of(document, "score"))
    inner = field_of(document, "node")  # LlamaIndex: a node with its score
    document = document if inner is None else inner
    read = field_of(document, "get_content")
    if not callable(read) and not any(_has(document, name) for name in _TEXTS):
        return None
    texts = (field_of(document, name) for name in _TEXTS)
    text: object = next((each for each in texts if isinstance(each, str)), None)
    if text is None and callable(read):
        text = read()
    id = _first(document, _IDS)
    if id is None and is_mapping(meta := _first(document, ("metadata", "meta"))):
        id = _first(meta, _IDS)
    return Chunk(text if isinstance(text, str) else "", None if id is None else str(id), score)


def _first(document: object, names: Iterable[str]) -> object:
    return next((value for name in names if (value := field_of(document, name)) is not None), None)


def _has(document: object, name: str) -> bool:
    return name in document if is_mapping(document) else hasattr(document, name)


def _is_collection(value: object) -> TypeGuard[Collection[object]]:
    return isinstance(value, Collection) and not isinstance(value, Mapping | bytes | bytearray)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) or hasattr(value, "__float__")


def _number(value: Any) -> float | None:
    """A finite number as a float; None for anything else."""
    try:
        number = float(value) if _is_number(value) else nan
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None
