"""Structured citations, in the forms in which providers return them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from pydantic import BaseModel, ConfigDict

from ragmetrics_core.boundary.shapes import field_of, is_mapping, is_series
from ragmetrics_core.errors import SampleError

__all__ = ["Citation", "CitedText", "are_statements", "citations_of", "cited_text", "read_citations"]

Source = int | str


class Citation(BaseModel, frozen=True):
    """A citation of an answer.

    Attributes:
        start, end: its place in the answer, in characters: the claim, the marker in the text, or the point
            after the claim.
        chunks: ranks of the cited chunks, from 1, and names of sources that are not among the contexts.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    start: int
    end: int
    chunks: tuple[Source, ...]


class _NamedSource(NamedTuple):
    """A source as a provider names it.

    Attributes:
        names: its possible ids, the most exact first; a number is a rank from 1.
        rank: its rank, if the provider counts the documents of the request.
        quote: words quoted from it.
    """

    names: tuple[Source, ...] = ()
    rank: int | None = None
    quote: str | None = None


class _Draft(NamedTuple):
    start: int | None
    end: int | None
    text: str | None
    sources: tuple[_NamedSource, ...]


class CitedText(NamedTuple):
    """The text of a reply with its citations, which have their places in this text."""

    text: str
    citations: tuple[_Draft, ...]


# Fields that list sources, and fields that name one.
_LISTS: Final = ("chunks", "cites", "document_ids", "sources", "source_ids", "chunk", "cite", "source")
_NAMES: Final = ("document_id", "id", "file_id", "url", "filename", "title", "document_title")
# Parts of a citation that providers nest, and annotations that are not citations.
_NESTED: Final = ("url_citation", "file_citation", "extras", "value", "location")
_OTHERS: Final = frozenset({"file_path", "container_file_citation"})
_HELD: Final = ("additional_kwargs", "meta", "response_metadata")
_LISTED: Final = ("citations", "annotations")
# Cohere's ids of documents that were sent without one, counted from 0.
_COUNTED: Final = re.compile(r"doc[:_](\d{1,4})")
_SHORT: Final = 60


def are_statements(value: object) -> bool:
    """Whether a value is a list of statements with their citations: `[{"text": ..., "cites": [1]}]`."""
    if not is_series(value) or not value:
        return False
    are_texts = all(isinstance(_part(each, "text"), str) and _part(each, "type") is None for each in value)
    return are_texts and any(_part(each, name) is not None for each in value for name in _LISTS)


def cited_text(value: object) -> CitedText | None:
    """The text and the citations of a provider's reply; None for anything else.

    A reply is a message, a response, a list of content blocks or of statements with citations.
    """
    if isinstance(value, str) or value is None:
        return None
    if is_series(value):
        return _statements(value) if are_statements(value) else _blocks(value)
    if are_statements(statements := _part(value, "statements")):
        return _statements(cast("Sequence[object]", statements))
    for name in ("output", "choices"):
        if is_series(parts := _part(value, name)):
            messages = [each for each in parts if _part(each, "type") in (None, "message")]
            return cited_text(_part(messages[0], "message") or messages[0]) if len(messages) == 1 else None
    message = _part(value, "message")
    if message is not None and not isinstance(message, str):
        return cited_text(message)
    contents = (_part(value, name) for name in ("blocks", "content", "text", "data"))
    content = next((each for each in contents if each is not None), None)
    blocks = CitedText(content, ()) if isinstance(content, str) else _blocks(content)
    if blocks is None:
        return None
    starts = [0]
    for block in cast("Sequence[object]", content) if is_series(content) else ():
        starts.append(starts[-1] + len(_text_of(block)))
    drafts = list(blocks.citations)
    if not drafts:
        for holder in (value, *(_part(value, name) for name in _HELD)):
            if found := _listed(holder):
                drafts = [
                    draft
                    for each in found
                    for draft in _drafts(each, starts[_number(each, "content_index") or 0])
                ]
                break
    return CitedText(blocks.text, tuple(drafts)) if drafts else None


def read_citations(what: str, value: object) -> tuple[_Draft, ...]:
    """Citations from a list of them, without their places in the answer checked.

    Raises:
        SampleError: it is not a list, or a citation names no source.
    """
    if not is_series(value):
        raise SampleError(f"{what} must be a list of citations, got {_in_short(value)}")
    drafts: list[_Draft] = []
    for number, each in enumerate(value, start=1):
        own = [] if isinstance(each, str) else list(_drafts(each, 0))
        if not own and not (_is_empty(each) or not _is_citation(each)):
            raise SampleError(
                f"{what} item {number} names no source, got {_in_short(each)}; write "
                '{"start": 0, "end": 10, "chunks": [1]} or {"text": "...", "chunks": ["id"]}'
            )
        drafts += own
    return tuple(drafts)


def citations_of(
    drafts: Sequence[_Draft],
    answer: str,
    *,
    text: str | None = None,
    contexts: Sequence[str] = (),
    ids: Sequence[str] = (),
) -> tuple[Citation, ...]:
    """Citations at their places in an answer, with the ranks of the chunks that they name.

    Args:
        drafts: the citations.
        answer: the answer.
        text: the text in which they have their places. Default: the answer.
        contexts: the chunks, in rank order.
        ids: their ids.

    Raises:
        SampleError: a place or a source is unknown or ambiguous.
    """
    drafts = [draft for draft in drafts if draft.sources]
    if text is not None and text != answer:
        drafts = [_moved(draft, text, answer) for draft in drafts]
    unplaced = [draft.text for draft in drafts if draft.start is None]
    seen: dict[str, int] = {}
    citations: list[Citation] = []
    for number, draft in enumerate(drafts, start=1):
        place = _place(f"citation {number}", draft, answer, unplaced, seen)
        chunks = (
            chunk
            for source in draft.sources
            for chunk in _resolved(f"citation {number}", source, contexts, ids)
        )
        citations.append(Citation(start=place[0], end=place[1], chunks=tuple(dict.fromkeys(chunks))))
    return tuple(citations)


# Forms


def _statements(statements: Sequence[object]) -> CitedText:
    """The statements as one text; each cites its sources as a whole."""
    pieces: list[str] = []
    drafts: list[_Draft] = []
    end = 0
    for each in statements:
        piece = cast("str", field_of(each, "text")).strip()
        start = end + (1 if pieces else 0)
        end = start + len(piece)
        pieces.append(piece)
        drafts.append(_Draft(start, end, piece, tuple(_sources(_flat(each)))))
    return CitedText(" ".join(pieces), tuple(drafts))


def _blocks(blocks: object) -> CitedText | None:
    """The text of content blocks; a citation of a block that has no place stands for the whole block."""
    if not is_series(blocks) or not any(isinstance(_part(each, "text"), str) for each in blocks):
        return None
    pieces: list[str] = []
    drafts: list[_Draft] = []
    start = end = 0
    for block in blocks:
        cited: Sequence[object] = [block] if _part(block, "block_type") == "citation" else _listed(block)
        if text := _text_of(block):
            start, end = end, end + len(text)
            pieces.append(text)
        for each in cited:
            drafts += _drafts(each, start, (start, end))
    return CitedText("".join(pieces), tuple(drafts))


def _text_of(block: object) -> str:
    if isinstance(block, str):
        return block
    text = _part(block, "text")
    kind = _part(block, "type") or _part(block, "block_type")
    return text if isinstance(text, str) and kind in (None, "text", "output_text") else ""


def _listed(holder: object) -> Sequence[object]:
    """The citations under their usual names."""
    lists = (_part(holder, name) for name in _LISTED) if holder is not None else ()
    return next((each for each in lists if is_series(each) and each and not isinstance(each[0], str)), ())


def _drafts(citation: object, base: int, whole: tuple[int, int] | None = None) -> Iterator[_Draft]:
    """A citation with its place in the text, if it names a source.

    Args:
        citation: the citation.
        base: place in the text from which it counts.
        whole: its place, if it has none of its own.
    """
    if not _is_citation(citation):
        return
    fields = _flat(citation)
    sources = tuple(_sources(fields))
    if not sources:
        return
    start = _number(fields, "start", "start_index", "index")
    end = _number(fields, "end", "end_index", "index")
    text = fields.get("text")
    text = text if isinstance(text, str) and text.strip() else None
    if start is not None and end is not None:
        yield _Draft(base + start, base + end, text, sources)
    elif whole is not None:
        yield _Draft(*whole, None, sources)
    else:
        yield _Draft(None, None, text, sources)


def _flat(citation: object) -> Mapping[str, Any]:
    """The fields of a citation, with those of its nested parts."""
    names = (
        "type",
        "text",
        "start",
        "end",
        "start_index",
        "end_index",
        "index",
        "document_index",
        "cited_text",
    )
    fields = {name: _part(citation, name) for name in (*names, "cited_content", *_LISTS, *_NAMES)}
    fields = {name: value for name, value in fields.items() if value is not None}
    for name in _NESTED:
        inner = _part(citation, name)
        if inner is not None and not isinstance(inner, str | int):
            fields = {**_flat(inner), **fields}
    return fields


def _is_citation(annotation: object) -> bool:
    """Whether an annotation is a citation; LangChain wraps those that it does not know."""
    return not {_part(each, "type") for each in (annotation, _part(annotation, "value"))} & _OTHERS


def _is_empty(citation: object) -> bool:
    """Whether a citation has a list of sources, with nothing in it."""
    lists = [_part(citation, name) for name in _LISTS]
    return any(is_series(each) for each in lists) and not any(lists)


def _sources(fields: Mapping[str, Any]) -> Iterator[_NamedSource]:
    quote = fields.get("cited_text") or _part(fields.get("cited_content"), "text")
    quote = quote if isinstance(quote, str) and quote.strip() else None
    for name in _LISTS:
        value = fields.get(name)
        if value is None or value == "":
            continue
        if isinstance(value, set | frozenset):  # it has no order of its own
            value = sorted(cast("set[object]", value), key=str)
        for each in value if is_series(value) else [value]:
            inner = _names(each)
            if inner:
                yield _NamedSource(inner, quote=quote)
        return
    index = _number(fields, "document_index")
    names = tuple(fields[name] for name in _NAMES if isinstance(fields.get(name), str) and fields[name])
    if index is not None:
        yield _NamedSource(names, index + 1, quote)
    elif names or quote:
        yield _NamedSource(names, quote=quote)


def _names(source: object) -> tuple[Source, ...]:
    if isinstance(source, str) or (isinstance(source, int) and not isinstance(source, bool)):
        return (source,)
    if isinstance(source, float) and source.is_integer():
        return (int(source),)
    inner = _part(source, "document")
    values = [_part(each, name) for each in (source, inner) if each is not None for name in _NAMES]
    return tuple(value for value in values if isinstance(value, str) and value)


def _number(value: object, *names: str) -> int | None:
    numbers = (_part(value, name) for name in names)
    return next((each for each in numbers if isinstance(each, int) and not isinstance(each, bool)), None)


def _part(value: object, name: str) -> Any:
    if value is None or isinstance(value, str | int | float) or (is_series(value) and not is_mapping(value)):
        return None
    try:
        part: Any = field_of(value, name)
    except (ValueError, TypeError, NotImplementedError):
        return None
    return None if callable(part) else part


# Places


def _place(
    what: str, draft: _Draft, answer: str, unplaced: Sequence[str | None], seen: dict[str, int]
) -> tuple[int, int]:
    """The place of a citation in the answer; a text that is given with it must be there."""
    start, end, text = draft.start, draft.end, draft.text
    if start is not None and end is not None:
        if 0 <= start <= end <= len(answer) and (text is None or answer[start:end].strip() == text.strip()):
            return start, end
        if text is None:
            raise SampleError(
                f"{what} has the place {start} to {end}, but the answer has {len(answer)} characters"
            )
    if text is None:
        raise SampleError(f"{what} has no place in the answer: give its start and end, or its text")
    places = [match.start() for match in re.finditer(re.escape(text.strip()), answer)]
    number = seen.get(text, 0)
    seen[text] = number + 1
    if len(places) == 1:
        number = 0
    elif not places:
        raise SampleError(f"{what} is about {_in_short(text)}, which is not in the answer")
    elif start is not None or unplaced.count(text) != len(places):
        raise SampleError(
            f"{what} is about {_in_short(text)}, which is in the answer {len(places)} times: "
            "give its start and end"
        )
    return places[number], places[number] + len(text.strip())


def _moved(draft: _Draft, text: str, answer: str) -> _Draft:
    """A citation of a text at the same place of an answer that differs only in blanks around and inside."""
    if draft.start is None or draft.end is None:
        return draft
    at = answer.find(text)
    if at >= 0:
        return draft._replace(start=at + draft.start, end=at + draft.end)
    if "".join(text.split()) != "".join(answer.split()):
        if draft.text is None:
            raise SampleError("the citations belong to a text that is not the answer")
        return draft._replace(start=None, end=None)
    places = [place for place, char in enumerate(answer) if not char.isspace()]
    before, inside = (
        len("".join(part.split())) for part in (text[: draft.start], text[draft.start : draft.end])
    )
    if not inside:
        end = places[before - 1] + 1 if before else 0
        return draft._replace(start=end, end=end, text=None)
    return draft._replace(start=places[before], end=places[before + inside - 1] + 1, text=None)


# Sources


def _resolved(
    what: str, source: _NamedSource, contexts: Sequence[str], ids: Sequence[str]
) -> tuple[Source, ...]:
    """Ranks of the chunks that a source names; its name if it is not among them."""
    quoting = _quoting(source.quote, contexts)
    if source.rank is not None:
        if not contexts or source.rank in quoting or source.quote is None:
            return (source.rank,)
        if len(quoting) == 1:
            return tuple(quoting)
        raise SampleError(
            f"{what} quotes {_in_short(source.quote)} from document {source.rank}, but "
            f"{'no chunk has' if not quoting else 'several other chunks have'} these words"
        )
    for name in source.names:
        ranks = [rank for rank, id in enumerate(ids, start=1) if id == str(name)]
        number = int(name) if isinstance(name, int) or (name.isdecimal() and len(name) <= 4) else None
        if isinstance(name, int) and ranks and ranks != [name]:
            raise SampleError(
                f"{what}: {name} is the rank of one chunk and the id of another; write the id as a text"
            )
        if ranks:
            return tuple(rank for rank in ranks if rank in quoting) or tuple(ranks)
        if number is not None:
            return (number if number >= 1 else str(number),)
        if not ids and (match := _COUNTED.fullmatch(str(name))):
            return (int(match[1]) + 1,)
    if len(quoting) > 1:
        raise SampleError(f"{what} quotes {_in_short(source.quote)}, which {len(quoting)} chunks have")
    return tuple(quoting) or tuple(str(name) for name in source.names[:1]) or (_in_short(source.quote),)


def _quoting(quote: str | None, contexts: Sequence[str]) -> list[int]:
    """Ranks of the chunks that have these words."""
    words = " ".join((quote or "").split())
    if not words:
        return []
    return [rank for rank, chunk in enumerate(contexts, start=1) if words in " ".join(chunk.split())]


def _in_short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 3]}..."
