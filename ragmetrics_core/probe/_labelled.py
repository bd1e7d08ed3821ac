"""Labelled files: samples with what people said of them, from columns of many names."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple

from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.probe._label_columns import (
    ANNOTATORS,
    CLAIMS,
    CONTENT,
    SOURCES,
    LabelledRows,
    Row,
    all_values,
    cell_of,
    has_field,
    label_column,
    question_of,
    task_column,
)
from ragmetrics_core.probe._label_words import (
    LabelReading,
    Question,
    is_label_name,
    number_of,
    question_named,
    reading_of,
    stem,
)
from ragmetrics_core.runs._loading import Source
from ragmetrics_core.samples import Sample
from ragmetrics_core.samples._columns import field_named, is_sample_column
from ragmetrics_core.shapes import is_list, is_mapping

__all__ = ["Labelled", "LabelledPair", "LabelledSet", "limited", "read_labelled"]


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A sample and what people said of it.

    Attributes:
        sample: the sample; a claim is its answer.
        label: whether it is good, or its mean rating; None where people said neither.
        kind: the label in the file's own word.
        task: the group of the file that it belongs to; "" without groups.
        source: what it was made from; items of one source are not independent.
        votes: what each annotator said, where the file tells.
        published: values of other metrics that the file has, by their names.
    """

    sample: Sample
    label: bool | float | None
    kind: str = ""
    task: str = ""
    source: str = ""
    votes: Mapping[str, float] = field(default_factory=dict[str, float])
    published: Mapping[str, float] = field(default_factory=dict[str, float])


class LabelledPair(NamedTuple):
    """Two answers to one question and which one people prefer: above 0 the second, below 0 the first."""

    first: str
    second: str
    value: float


class LabelledSet(NamedTuple):
    """A labelled file as it was read.

    Attributes:
        name: of the file.
        digest: of contents and labels; cards of other digests are of other sets.
        question: what people were asked about.
        column: the column of the labels.
        kind: "truth" for good and bad, "rating" for numbers, "preference" for pairs.
        rows: the labelled samples.
        pairs: the pairs of a set of preferences.
        claims: whether each answer is one claim.
        source: by which column, or by what else, the items were put together.
        dropped: how many rows do not count, by reason.
    """

    name: str
    digest: str
    question: Question
    column: str
    kind: Literal["truth", "rating", "preference"]
    rows: tuple[Labelled, ...]
    pairs: tuple[LabelledPair, ...]
    claims: bool
    source: str
    dropped: Mapping[str, int]


def read_labelled(
    data: Source,
    *,
    question: Question | None = None,
    label: str | None = None,
    source: str | None = None,
    by: str | None = None,
    good: Collection[str] = (),
    name: str | None = None,
) -> LabelledSet:
    """Read a file whose rows say what people thought of them.

    Content columns are those of samples; a `claim`, or the items of a list `claims`, is judged in the place
    of the answer, and `evidence` is contexts. A row for each annotator (a column `annotator`) is as good as
    one with all `votes`: the majority is the label, of ratings the mean.

    Args:
        data: what `read_samples` takes: a path, rows, a data frame.
        question: what people were asked about; without it the label's name says, or else the columns.
        label: the column of the labels; `human_ratings.faithfulness` for one inside of another.
        source: the column of what an item was made from; without it `source_id` and the like, or else equal
            contexts, or without contexts equal questions.
        by: the column of the groups that are shown apart; without it `task_type`, `domain` and the like.
        good: the values that are good, where they are not among the words that are known.
        name: of the set, where it is no file.

    Raises:
        ConfigError: there is no such column, none is one of labels, or a label has no meaning.
        SampleError: the file cannot be read, or none of its rows is a sample.
    """
    if question is not None and question not in ("faithful", "correct", "relevant"):
        raise ConfigError(f"the question is faithful, correct or relevant, not {question!r}")
    reader = LabelledRows(data)
    column = label_column(reader, label, question)
    if stem(column).startswith("preference") or "answer_b" in reader.columns:
        kind: Literal["truth", "rating", "preference"] = "preference"
        reading = LabelReading("rating")
    else:
        reading = reading_of(column, all_values(reader, column), good=good)
        kind = reading.kind
    for wanted in (source, by):
        if wanted is not None and wanted not in reader.columns:
            raise ConfigError(f"there is no column {wanted!r}; there is {', '.join(sorted(reader.columns))}")
    source_column = source or next((each for each in SOURCES if each in reader.columns), None)
    asked = question or question_named(column) or question_of(reader)
    builder = _Builder(reader, column, reading, kind, source_column, by or task_column(reader, column))
    rows, pairs = builder.build()
    if not rows:
        first = reader.problems[0] if reader.problems else "no row has a label"
        raise SampleError(f"none of the rows is a labelled sample: {first}")
    return LabelledSet(
        name=name or (Path(data).name.partition(".")[0] if isinstance(data, str | Path) else "rows"),
        digest=_digest(rows, pairs),
        question=asked,
        column=column,
        kind=kind,
        rows=tuple(rows),
        pairs=tuple(pairs),
        claims=builder.claims,
        source=source_column or ("contexts" if any(row.sample.contexts for row in rows) else "question"),
        dropped=dict(Counter({"unreadable row": len(reader.problems)}) + builder.dropped),
    )


@dataclass
class _Builder:
    """Makes labelled samples of rows."""

    rows: LabelledRows
    column: str
    reading: LabelReading
    kind: str
    source: str | None
    task: str | None
    claims: bool = False
    dropped: Counter[str] = field(default_factory=Counter)

    def build(self) -> tuple[list[Labelled], list[LabelledPair]]:
        items: dict[str, list[Labelled]] = {}
        pairs: list[LabelledPair] = []
        for where, row, textual in self.rows.rows:
            try:
                if self.kind == "preference":
                    self._pair(row, textual, items, pairs)
                    continue
                for each in self._items(row, textual):
                    self._add(each, row, items)
            except SampleError as error:
                self.rows.problems.append(f"{where}: {error}")
        merged = [_merged(each, rating=self.reading.kind == "rating") for each in items.values()]
        labelled = [each for each in merged if each.label is not None]
        self.dropped["neither good nor bad"] += len(merged) - len(labelled)
        return _one_source(labelled), pairs

    def _items(self, row: Row, textual: bool) -> Iterator[Labelled]:
        claims = row.get("claims")
        if is_list(claims) and self.column == "claims.label":
            self.claims = True
            for number, claim in enumerate(claims, start=1):
                if is_mapping(claim):
                    text = next((claim[name] for name in (*CLAIMS, "text") if name in claim), None)
                    given = next((claim[name] for name in claim if is_label_name(str(name))), None)
                    made = {**row, "claim": text, "id": f"{row['id']}#{number}" if row.get("id") else None}
                    yield self._labelled(made, given, textual)
            return
        given = cell_of(row, self.column)
        if given in (None, ""):
            self.dropped["no label"] += 1
            return
        yield self._labelled(row, given, textual)

    def _labelled(self, row: Row, given: object, textual: bool) -> Labelled:
        sample = self._sample(row, textual)
        votes = {}
        if self.reading.kind == "rating" and is_mapping(given):
            votes = _votes(given, self.reading)
            value: bool | float | None = fmean(votes.values()) if votes else None
        elif self.column == "votes":
            votes = _votes(given, self.reading)
            value = _majority(list(votes.values()))
        else:
            votes = _votes(row.get("votes"), self.reading)
            value = self.reading.value(given)
        published = row.get("published_metrics")
        return Labelled(
            sample=sample,
            label=value,
            kind=_kind(given),
            task=str(row.get(self.task) or "") if self.task else "",
            source=self._source(row, sample),
            votes=votes,
            published=_numbers(published) if is_mapping(published) else {},
        )

    def _add(self, item: Labelled, row: Row, items: dict[str, list[Labelled]]) -> None:
        annotator = next((str(row[name]) for name in ANNOTATORS if row.get(name) not in (None, "")), None)
        if annotator is not None and not item.votes and item.label is not None:
            item = replace(item, votes={annotator: float(item.label)})
            items.setdefault(item.sample.id, []).append(item)
        elif item.sample.id in items:
            self.dropped["the same sample twice"] += 1
        else:
            items[item.sample.id] = [item]

    def _sample(self, row: Row, textual: bool) -> Sample:
        cells = {name: value for name, value in row.items() if is_sample_column(name) and name != "labels"}
        simple = {name: value for name, value in row.items() if name not in cells and _is_label(name, value)}
        for name, content in CONTENT.items():
            # a claim is judged in the place of the answer that it is of; else the sample's own name counts
            if row.get(name) not in (None, "") and (name in CLAIMS or not has_field(cells, content)):
                cells = {each: value for each, value in cells.items() if field_named(each) != content}
                cells[content] = row[name]
                self.claims |= name in CLAIMS
        if not has_field(cells, "question"):
            cells = {each: value for each, value in cells.items() if field_named(each) != "question"}
            cells["question"] = ""
        if cells.get("reference") in ("", []):
            del cells["reference"]
        if is_list(history := cells.get("history")):
            cells["history"] = [_turn(each) for each in history]
        return Sample.from_mapping({**cells, "labels": simple}, textual=textual)

    def _source(self, row: Row, sample: Sample) -> str:
        if self.source is not None and row.get(self.source) not in (None, ""):
            return str(row[self.source])
        if _hold_text(sample.contexts):
            return hashlib.sha256("\0".join(sample.contexts or ()).encode()).hexdigest()[:16]
        return sample.question or sample.id

    def _pair(
        self, row: Row, textual: bool, items: dict[str, list[Labelled]], pairs: list[LabelledPair]
    ) -> None:
        numbers = _numbers_in(cell_of(row, self.column))
        if not numbers:
            self.dropped["no label"] += 1
            return
        preference = fmean(numbers)
        if preference == 0:
            self.dropped["people prefer neither"] += 1
            return
        made = [
            self._sample({**row, "answer": row.get(name), "id": None}, textual)
            for name in ("answer", "answer_b")
        ]
        # Two equal answers can be no pair, and equal texts need ids of their own.
        base = str(row.get("id") or made[0].id)
        first, second = (
            sample.model_copy(update={"id": f"{base}#{side}"})
            for sample, side in zip(made, "ab", strict=True)
        )
        for sample, good in ((first, preference < 0), (second, preference > 0)):
            items[sample.id] = [Labelled(sample=sample, label=good, source=self._source(row, sample))]
        pairs.append(LabelledPair(first.id, second.id, preference))


def _turn(given: object) -> object:
    """A message; that of a transcript has a speaker and a text."""
    if is_mapping(given) and "role" not in given and "speaker" in given:
        return {"role": given["speaker"], "content": given.get("text", "")}
    return given


def _votes(given: object, reading: LabelReading) -> dict[str, float]:
    if is_list(given):
        given = {str(number): each for number, each in enumerate(given, start=1)}
    if not is_mapping(given):
        return {}
    values = {str(name): reading.value(each) for name, each in given.items()}
    return {name: float(value) for name, value in values.items() if value is not None}


def _one_source(items: Sequence[Labelled]) -> list[Labelled]:
    """The items, those of equal contexts in one source, also where some rows do not name it."""
    by_contexts: dict[tuple[str, ...], str] = {}
    for item in sorted(items, key=lambda each: len(each.source)):
        if _hold_text(item.sample.contexts):
            by_contexts.setdefault(item.sample.contexts or (), item.source)
    return [replace(item, source=by_contexts.get(item.sample.contexts or (), item.source)) for item in items]


def _hold_text(contexts: Sequence[str] | None) -> bool:
    """Whether there is anything in the contexts: two samples with blank ones have nothing in common."""
    return any(text.strip() for text in contexts or ())


def _majority(votes: Sequence[float]) -> bool | None:
    yes = sum(votes)
    return None if not votes or 2 * yes == len(votes) else 2 * yes > len(votes)


def _merged(items: Sequence[Labelled], *, rating: bool) -> Labelled:
    """One item of the rows of several annotators."""
    first = items[0]
    if len(items) == 1:
        return first
    votes = {name: value for item in items for name, value in item.votes.items()}
    label = fmean(votes.values()) if rating else _majority(list(votes.values()))
    return replace(first, votes=votes, label=label)


def _numbers_in(given: object) -> list[float]:
    values = list(given.values()) if is_mapping(given) else given if is_list(given) else [given]
    return [number for each in values if (number := number_of(each)) is not None]


def _numbers(given: Mapping[object, object]) -> dict[str, float]:
    numbers = {str(name): number_of(value) for name, value in given.items()}
    return {name: value for name, value in numbers.items() if value is not None}


def _kind(given: object) -> str:
    if is_list(given):
        return "+".join(sorted(map(str, given))) if all(isinstance(each, str) for each in given) else ""
    return "" if is_mapping(given) else str(given)


def _is_label(name: str, value: object) -> bool:
    return isinstance(value, str | int | float | bool) and not is_sample_column(name)


def limited(labelled: LabelledSet, limit: int) -> LabelledSet:
    """Some of the items, the same ones each time and from all over the set; pairs stay whole."""

    def place(sample_id: str) -> bytes:
        return hashlib.sha256(sample_id.encode()).digest()

    pairs = tuple(sorted(labelled.pairs, key=lambda each: place(each.first))[:limit])
    ids = {each for pair in pairs for each in pair[:2]}
    if labelled.pairs:
        rows = tuple(row for row in labelled.rows if row.sample.id in ids)
    else:
        rows = tuple(sorted(labelled.rows, key=lambda each: place(each.sample.id))[:limit])
    return labelled._replace(rows=rows, pairs=pairs, digest=_digest(rows, pairs))


def _digest(rows: Sequence[Labelled], pairs: Sequence[LabelledPair]) -> str:
    content = [[row.sample.digest, row.label, row.source] for row in rows] + [list(pair) for pair in pairs]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
