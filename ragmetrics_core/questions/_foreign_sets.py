"""Test sets of this library and of others, read as questions."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Final, NamedTuple, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from ragmetrics_core.boundary.redaction import Redact, redacted
from ragmetrics_core.boundary.shapes import is_iterable, is_mapping, is_series
from ragmetrics_core.errors import SampleError
from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.questions._documents import Corpus, graph_rows
from ragmetrics_core.questions._filters import Candidate
from ragmetrics_core.questions._model import (
    KINDS,
    LENGTHS,
    STYLES,
    Document,
    Persona,
    Question,
    Quote,
)
from ragmetrics_core.questions._quotes import find_quote, find_quotes, located
from ragmetrics_core.questions._rows import question_id
from ragmetrics_core.runs import BadRow, Source, read_rows
from ragmetrics_core.samples import Label, Sample
from ragmetrics_core.samples.columns import field_named, shown, spelled

__all__ = ["ForeignSet", "read_questions"]

_Value = TypeVar("_Value", bound=str)

# Parts of an object that hold the rows: of LlamaIndex, of DeepEval and of ragas.
_ROWS: Final = ("examples", "goldens", "samples")
# ragas: the part of a row that holds the sample
_NESTED: Final = "eval_sample"
# AutoRAG: ids of the gold passages
_GROUPS: Final = "retrieval_gt"
# labels that say how a question was written: ours, and that of ragas
_KIND: Final = ("kind", "synthesizer_name")
_STYLE: Final = ("style", "query_style")
_LENGTH: Final = ("length", "query_length")
_PERSONA: Final = ("persona", "persona_name")
_ROLE: Final = "persona_role"
# labels that name the document of a gold passage
_FILES: Final = ("source_file", "document", "source")
_SOURCE_ID: Final = "source_id"
# ragas: "single_hop_specific_query_synthesizer", and "<1-hop>" before a passage
_SYNTHESIZER: Final = "_query_synthesizer"
_HOP: Final = re.compile(r"\s*<\d+-hop>\s*")
# DeepEval writes several passages in one cell of a CSV file with the first of these, and reads the second
_SEPARATORS: Final = "|;"
_NO_GOLD: Final = (
    "it has an answer and no gold answer; name the column 'reference' if the answer is the gold answer"
)
_GRAPH: Final = "is a knowledge graph of ragas, which holds no questions; give it as the corpus"
_QUOTES: Final = TypeAdapter(tuple[Quote, ...])


class ForeignSet(NamedTuple):
    """Questions of a test set.

    Attributes:
        candidates: the questions in the order of the rows, with the gold passages that are not in the corpus.
        skipped: rows that are not questions, with the reasons.
    """

    candidates: tuple[Candidate, ...]
    skipped: tuple[BadRow, ...]

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions, with the quotes that were found."""
        return tuple(candidate.question for candidate in self.candidates)


def read_questions(
    source: object, corpus: Corpus | None = None, *, redact: Redact | None = None
) -> ForeignSet:
    """Read a test set of this or another library; the quotes are its gold passages, found in the corpus.

    A source is a file or an object of this library (`questions.jsonl`), ragas (`Testset`), DeepEval (goldens,
    `EvaluationDataset`), LlamaIndex (`LabelledRagDataset`) or AutoRAG (QA data), or any rows that
    `read_samples` takes, with a question, a reference, and reference contexts or ids of documents.

    If gold passages hold every sentence of the gold answer word for word, their sentences that do so are the
    quotes; otherwise the whole passages are. Without a corpus, only this library's own sets have quotes.

    Args:
        source: the test set.
        corpus: its documents.
        redact: function that removes private parts from a text. Pass the same one to `read_corpus`.

    Raises:
        SampleError: the source cannot be read, or holds no question.
    """
    if graph_rows(source) is not None:
        raise SampleError(f"{_name(source)} {_GRAPH}")
    candidates: list[Candidate] = []
    skipped: list[BadRow] = []
    ids: dict[str, str] = {}
    for place in read_rows(_source(source)):
        try:
            if place.problem is not None:
                raise SampleError(place.problem)
            candidate = _candidate(place.row, corpus, redact, textual=place.textual)
            question = candidate.question
            if ids.setdefault(question.id, question.question) != question.question:
                raise SampleError(f"id {question.id!r} is that of another question")
            candidates.append(candidate._replace(source=place.where))
        except SampleError as error:
            # a message quotes values, and may cut them so that `redact` does not know them
            message = str(error) if redact is None else "it cannot be read as a question"
            skipped.append(BadRow(where=place.where, message=message))
    if not candidates:
        raise SampleError(f"{_name(source)} holds no question; its first row: {skipped[0]}")
    return ForeignSet(tuple(candidates), tuple(skipped))


def _source(source: object) -> Source:
    """The rows of another library's object; any other source unchanged."""
    if isinstance(source, str | Path) or is_mapping(source):
        return cast("Source", source)
    rows = source
    for name in _ROWS:
        part = getattr(source, name, None)
        if is_iterable(part):
            rows = part
    if is_series(rows):
        return cast("Source", [_fields(row) for row in rows])
    return cast("Source", source)


def _fields(row: object) -> object:
    """The fields of a pydantic model; any other row unchanged."""
    dump = getattr(row, "model_dump", None)
    if isinstance(row, Sample) or not callable(dump):
        return row
    return dump(mode="json")


def _name(source: object) -> str:
    return repr(str(source)) if isinstance(source, str | Path) else f"the {type(source).__name__}"


def _candidate(row: object, corpus: Corpus | None, redact: Redact | None, *, textual: bool) -> Candidate:
    """The question of a row, with its gold passages that are not in the corpus.

    Raises:
        SampleError: the row is not a question with a gold answer.
    """
    if not is_mapping(row):
        raise SampleError(f"a row must be a mapping of columns to values, got {shown(row)}")
    cells = dict(row)
    inner = cells.pop(_NESTED, None)
    cells |= inner if is_mapping(inner) else {}
    written = cells.pop("quotes", None)
    cells.pop("records", None)
    groups = cells.pop(_GROUPS, None)
    sample = Sample.from_mapping(cells, textual=textual, columns=_gold_column(cells))
    if redact is not None:
        sample = sample.redacted(redact)
    if sample.question is None:
        raise SampleError("it has no question")
    if sample.reference is None and sample.answer:
        raise SampleError(_NO_GOLD)
    labels: dict[str, Label] = {name: value for name, value in sample.labels.items() if value is not None}
    missing: tuple[str, ...] = ()
    if written is not None:
        quotes = _written(written, redact)
    elif corpus is not None:
        quotes, missing = _gold(sample, _id_groups(sample, groups, redact), corpus, labels)
    else:
        quotes = ()
    if written is None and not sample.has_derived_id:
        labels[_SOURCE_ID] = sample.id
    is_own = written is not None and not sample.has_derived_id
    question = Question(
        id=sample.id if is_own else question_id(sample.question, sample.reference, quotes),
        question=sample.question,
        answer=sample.reference,
        quotes=quotes,
        history=sample.history or (),
        kind=_taken_as(labels, _KIND, KINDS),
        style=_taken_as(labels, _STYLE, STYLES),
        length=_taken_as(labels, _LENGTH, LENGTHS),
        persona=_persona(labels),
        language=sample.language,
        labels=labels,
    )
    if written is not None and corpus is not None:
        found = located([question], corpus)
        (question,) = found.questions
        missing = found.missing.get(question.id, ())
    return Candidate(question, not_found=missing)


def _gold_column(cells: Mapping[str, object]) -> Mapping[str, str] | None:
    """The column of the gold passages if its name is `context`, as in DeepEval's goldens."""
    names = [name for name in cells if spelled(name) == "context"]
    is_named = any(field_named(name) == "reference_contexts" for name in cells)
    return None if is_named or not names else {"reference_contexts": names[0]}


def _persona(labels: dict[str, Label]) -> Persona | None:
    """The persona that a label names; None if there is none."""
    role = labels.pop(_ROLE, None)
    for label in _PERSONA:
        name = labels.pop(label, None)
        if name is not None:
            return Persona(name=str(name), role_description=str(role or ""))
    return None


def _taken_as(labels: dict[str, Label], names: Sequence[str], allowed: Sequence[_Value]) -> _Value | None:
    """The value of a label if it is one of these, whatever its case; other values stay labels."""
    values = {str(value): value for value in allowed}
    for name in names:
        spelling = spelled(str(labels.get(name))).removesuffix(_SYNTHESIZER).removesuffix("_queries")
        if spelling in values:
            del labels[name]
            return values[spelling]
    return None


def _gold(
    sample: Sample, groups: Sequence[Sequence[str]], corpus: Corpus, labels: Mapping[str, Label]
) -> tuple[tuple[Quote, ...], tuple[str, ...]]:
    """Quotes that prove the gold answer, and gold passages that the corpus does not hold."""
    if sample.reference_contexts is None:
        passages, missing = _by_ids(groups, corpus)
    else:
        near = _near(sample, labels, corpus)
        passages, missing = _by_texts(sample.reference_contexts, corpus, near)
    if missing or sample.reference is None:
        return passages, missing
    return _narrowed(sample.reference, passages, corpus), ()


def _near(sample: Sample, labels: Mapping[str, Label], corpus: Corpus) -> tuple[str, ...]:
    """Documents of the corpus that the row names: by id, or by the name of their file."""
    named = [*(sample.reference_context_ids or ()), *(str(labels[name]) for name in _FILES if name in labels)]
    wanted = {part for name in named for part in (name, PurePath(name).name)}
    return tuple(id for id in sorted(corpus.documents) if id in wanted or PurePath(id).name in wanted)


def _by_texts(
    texts: Sequence[str], corpus: Corpus, near: Sequence[str]
) -> tuple[tuple[Quote, ...], tuple[str, ...]]:
    """Passages with these texts."""
    passages: list[Quote] = []
    missing: list[str] = []
    for text in texts:
        found = _found(_HOP.sub("", text, count=1) if _HOP.match(text) else text, corpus, near)
        passages += found
        if not found:
            missing.append(text)
    return tuple(dict.fromkeys(passages)), tuple(missing)


def _found(text: str, corpus: Corpus, near: Sequence[str]) -> list[Quote]:
    """Places of a text, or of all its parts if it is a list in one cell; empty if one is not found."""
    for separator in ("", *_SEPARATORS):
        parts = text.split(separator) if separator else [text]
        quotes, missing = find_quotes([part for part in parts if part.strip()], corpus, near=near)
        if quotes and not missing:
            return quotes
    return []


def _id_groups(sample: Sample, groups: object, redact: Redact | None) -> list[list[str]]:
    """Ids of gold passages; of each group one passage is enough.

    Raises:
        SampleError: the ids cannot be read.
    """
    if groups is None:
        return [[id] for id in sample.reference_context_ids or ()]
    listed = _listed(groups)
    if all(isinstance(id, str) for id in listed):
        listed = [listed]
    return [[without(redact, str(id)) for id in _listed(group)] for group in listed]


def _listed(value: object) -> Sequence[object]:
    """A list of ids in any form: a list, an array, JSON text, or one id."""
    if callable(convert := getattr(value, "tolist", None)):
        value = convert()
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise SampleError(f"{_GROUPS!r} is not valid JSON: {error}") from None
    return value if is_series(value) else [value]


def _by_ids(groups: Sequence[Sequence[str]], corpus: Corpus) -> tuple[tuple[Quote, ...], tuple[str, ...]]:
    """Whole documents with these ids."""
    passages: list[Quote] = []
    missing: list[str] = []
    for group in groups:
        ids = [id for id in group if id in corpus.documents]
        if ids:
            document = corpus.documents[ids[0]]
            text = document.text
            passages.append(Quote(document=document.id, start=0, end=len(text), text=text))
        else:
            missing += group
    return tuple(passages), tuple(missing)


def _narrowed(answer: str, passages: Sequence[Quote], corpus: Corpus) -> tuple[Quote, ...]:
    """The sentences of the passages that hold the answer, if they hold all its sentences; else the passages.

    Each passage must hold a sentence of the answer: a passage that the gold answer needs is never left out.
    """
    quotes: list[Quote] = []
    used: set[int] = set()
    for sentence in split_sentences(answer):
        for number, passage in enumerate(passages):
            found = find_quote(sentence, Document(id=passage.document, text=passage.text))
            if found is not None:
                used.add(number)
                quotes += _whole_sentences(passage, found)
                break
        else:
            return tuple(passages)
    return tuple(dict.fromkeys(quotes)) if len(used) == len(passages) else tuple(passages)


def _whole_sentences(passage: Quote, part: Quote) -> Iterator[Quote]:
    """The sentences of a passage that a part of it touches."""
    end = 0
    for sentence in split_sentences(passage.text):
        start = passage.text.index(sentence, end)
        end = start + len(sentence)
        if start < part.end and part.start < end:
            place = passage.start
            yield Quote(document=passage.document, start=place + start, end=place + end, text=sentence)


def _written(value: object, redact: Redact | None) -> tuple[Quote, ...]:
    """The quotes in a row of this library's own test set.

    Raises:
        SampleError: they are not quotes.
    """
    try:
        quotes = _QUOTES.validate_json(value) if isinstance(value, str) else _QUOTES.validate_python(value)
    except ValidationError as error:
        raise SampleError(f"'quotes' cannot be read: {error.errors()[0]['msg']}") from None
    return tuple(
        quote.model_copy(
            update={"document": without(redact, quote.document), "text": without(redact, quote.text)}
        )
        for quote in quotes
    )


def without(redact: Redact | None, text: str) -> str:
    """A text without its private parts."""
    return text if redact is None else redacted(redact, text)
