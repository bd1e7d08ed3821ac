"""Labelled files: samples with human labels, from columns of many names."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple, get_args

from ragmetrics_core.boundary.shapes import is_list, is_mapping
from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.runs import Source
from ragmetrics_core.samples import Sample
from ragmetrics_core.samples.columns import field_named, is_sample_column
from ragmetrics_core.study._consensus import majority
from ragmetrics_core.study._label_columns import (
    ANNOTATORS,
    CLAIMS,
    CONTENT,
    SOURCES,
    Cells,
    LabelTable,
    Row,
    fields_of,
)
from ragmetrics_core.study._label_vocabulary import (
    LabelReading,
    Question,
    is_absent,
    number_in,
    question_named,
    reading_of,
    stem,
)

__all__ = ["Labelled", "LabelledPair", "LabelledSet", "limited", "read_labelled"]

Kind = Literal["truth", "rating", "preference"]


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A sample with its human label.

    Attributes:
        sample: the sample; a claim is its answer.
        label: whether it is good, or its mean rating; None if undecided.
        kind: the label as the file has it.
        task: group of the sample in the file; "" without groups.
        source: origin of the sample; items of one source are not independent.
        votes: label of each annotator, if the file has them.
        published: values of other metrics in the file, by name.
    """

    sample: Sample
    label: bool | float | None
    kind: str = ""
    task: str = ""
    source: str = ""
    votes: Mapping[str, float] = field(default_factory=dict[str, float])
    published: Mapping[str, float] = field(default_factory=dict[str, float])


class LabelledPair(NamedTuple):
    """Two answers to one question with people's preference: above 0 for the second, below 0 for the first."""

    first: str
    second: str
    value: float


class LabelledSet(NamedTuple):
    """A labelled file as it was read.

    Attributes:
        name: name of the file.
        digest: digest of contents and labels; cards of other digests belong to other sets.
        question: subject of the labels.
        column: column of the labels.
        kind: "truth" for good and bad, "rating" for numbers, "preference" for pairs.
        rows: labelled samples.
        pairs: pairs of a set of preferences.
        claims: whether each answer is one claim.
        source: column or rule that groups items by source.
        dropped: number of rows that do not count, by reason.
    """

    name: str
    digest: str
    question: Question
    column: str
    kind: Kind
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
    """Read a file of labelled samples.

    Content columns are those of samples. A `claim`, or each item of a list `claims`, replaces the answer, and
    `evidence` is contexts. Each row has one annotator (column `annotator`) or all `votes`; the label is the
    majority, or the mean of ratings.

    Args:
        data: path, rows or data frame, as `read_samples` takes them.
        question: subject of the labels. Default: from the label's name, else from the columns.
        label: column of the labels; `human_ratings.faithfulness` for a nested one.
        source: column of the source of an item. Default: `source_id` and the like, else equal contexts, or
            equal questions without contexts.
        by: column of the groups. Default: `task_type`, `domain` and the like.
        good: values that count as good, if they are not among the known words.
        name: name of the set, if it is not a file.

    Raises:
        ConfigError: there is no such column, no column holds labels, or a label has no known meaning.
        SampleError: the file cannot be read, or has no valid row.
    """
    if question is not None and question not in get_args(Question):
        raise ConfigError(f"the question is faithful, correct or relevant, not {question!r}")
    table = LabelTable(data)
    column = table.named(label) if label is not None else table.label_column(question)
    for wanted in (source, by):
        if wanted is not None and wanted not in table.columns:
            raise ConfigError(f"there is no column {wanted!r}; there is {table.known}")
    items = list(table.labelled(column))
    labels = [item.label for item in items]
    values = [value for cell in labels for value in (cell.values() if is_mapping(cell) else [cell])]
    are_pairs = stem(column).startswith("preference") or "answer_b" in table.columns
    kinds: tuple[Kind, ...] = ("preference",) if are_pairs else ("truth", "rating")
    reading = reading_of(column, values, good=good, kinds=kinds)
    kind: Kind = next(each for each in kinds if each == reading.kind)
    source_column = source or next((spelling for spelling in SOURCES if spelling in table.columns), None)
    builder = _Builder(column, reading, source_column, by or table.task_column(column))
    for item in items:
        try:
            (builder.add_pair if kind == "preference" else builder.add)(item)
        except SampleError as error:
            table.problems.append(f"{item.where}: {error}")
    rows = _one_source([row for row in builder.rows.values() if row.label is not None])
    if not rows:
        first = table.problems[0] if table.problems else "no row has a label"
        raise SampleError(f"none of the rows is a labelled sample: {first}")
    builder.dropped["neither good nor bad"] += len(builder.rows) - len(rows)
    return LabelledSet(
        name=name or (Path(data).name.partition(".")[0] if isinstance(data, str | Path) else "rows"),
        digest=_digest(rows, builder.pairs),
        question=question or question_named(column) or table.question,
        column=column,
        kind=kind,
        rows=tuple(rows),
        pairs=tuple(builder.pairs),
        claims=builder.claims or column == "claims.label",
        source=source_column or ("contexts" if any(row.sample.contexts for row in rows) else "question"),
        dropped=dict(Counter({"unreadable row": len(table.problems)}) + builder.dropped),
    )


@dataclass
class _Builder:
    """Builder of labelled samples and pairs from rows."""

    column: str
    reading: LabelReading
    source: str | None
    task: str | None
    claims: bool = False
    rows: dict[str, Labelled] = field(default_factory=dict[str, Labelled])
    pairs: list[LabelledPair] = field(default_factory=list[LabelledPair])
    dropped: Counter[str] = field(default_factory=Counter[str])

    def add(self, item: Row) -> None:
        """Add a row; rows of several annotators on one sample become one sample."""
        cells, label = item.filled, item.label
        if is_absent(label):
            self.dropped["no label"] += 1
            return
        are_votes = self.column == "votes" or (self.reading.kind == "rating" and is_mapping(label))
        votes = self._votes(label if are_votes else cells.get("votes"))
        sample, published = self._sample(item), cells.get("published_metrics")
        row = Labelled(
            sample=sample,
            label=self._agreed(votes) if are_votes else self.reading.value(label),
            kind=_kind(label),
            task=str(cells.get(self.task or "", "")),
            source=self._source(cells, sample),
            votes=votes,
            published=_numbers(published) if is_mapping(published) else {},
        )
        people = [str(cells[name]) for name in ANNOTATORS if name in cells]
        first = self.rows.get(sample.id)
        if people and not votes and row.label is not None:
            votes = {**(first.votes if first else {}), people[0]: float(row.label)}
            self.rows[sample.id] = replace(first or row, votes=votes, label=self._agreed(votes))
        elif first is not None:
            self.dropped["the same sample twice"] += 1
        else:
            self.rows[sample.id] = row

    def add_pair(self, item: Row) -> None:
        """Add two answers with a preference."""
        cells, label = item.filled, item.label
        votes = label.values() if is_mapping(label) else label if is_list(label) else [label]
        numbers = [number for vote in votes if (number := self.reading.value(vote)) is not None]
        preference = fmean(numbers) if numbers else 0.0
        if not preference:
            self.dropped["people prefer neither" if numbers else "no label"] += 1
            return
        # Two equal answers can be no pair, and equal texts need ids of their own.
        made = [
            self._sample(item._replace(cells={**cells, "answer": cells.get(name), "id": None}))
            for name in ("answer", "answer_b")
        ]
        base = str(cells.get("id") or made[0].id)
        for sample, side, is_good in zip(made, "ab", (preference < 0, preference > 0), strict=True):
            one = sample.model_copy(update={"id": f"{base}#{side}"})
            self.rows[one.id] = Labelled(sample=one, label=is_good, source=self._source(cells, one))
        self.pairs.append(LabelledPair(f"{base}#a", f"{base}#b", preference))

    def _agreed(self, votes: Mapping[str, float]) -> bool | float | None:
        """The label of several people: the mean of ratings, else the majority."""
        if self.reading.kind == "rating":
            return fmean(votes.values()) if votes else None
        most = majority(votes)
        return None if most is None else bool(most)

    def _votes(self, label: object) -> dict[str, float]:
        if is_list(label):
            label = {str(number): vote for number, vote in enumerate(label, start=1)}
        votes = label.items() if is_mapping(label) else ()
        values = {str(name): self.reading.value(vote) for name, vote in votes}
        return {name: float(value) for name, value in values.items() if value is not None}

    def _sample(self, item: Row) -> Sample:
        row = item.cells
        cells = {name: cell for name, cell in row.items() if is_sample_column(name) and name != "labels"}
        labels = {
            name: cell
            for name, cell in row.items()
            if isinstance(cell, str | int | float | bool) and not is_sample_column(name)
        }
        for name, content in CONTENT.items():
            # a claim is judged in the place of the answer that it is of; else the sample's own name counts
            if name in item.filled and (name in CLAIMS or content not in fields_of(cells)):
                cells = {other: cell for other, cell in cells.items() if field_named(other) != content}
                cells[content] = row[name]
                self.claims |= name in CLAIMS
        for name in ("question", "reference"):
            if cells.get(name) == []:
                del cells[name]
        sample = Sample.from_mapping({**cells, "labels": labels}, textual=item.textual)
        # metrics that need a question measure a claim without one too
        return sample if sample.question is not None else sample.model_copy(update={"question": ""})

    def _source(self, cells: Cells, sample: Sample) -> str:
        if self.source in cells:
            return str(cells[self.source])
        if _hold_text(sample.contexts):
            return hashlib.sha256("\0".join(sample.contexts or ()).encode()).hexdigest()[:16]
        return sample.question or sample.id


def _one_source(rows: Sequence[Labelled]) -> list[Labelled]:
    """The rows, with equal contexts in one source even if some rows do not name it."""
    by_contexts: dict[tuple[str, ...], str] = {}
    for row in sorted(rows, key=lambda row: len(row.source)):
        if _hold_text(row.sample.contexts):
            by_contexts.setdefault(row.sample.contexts or (), row.source)
    return [replace(row, source=by_contexts.get(row.sample.contexts or (), row.source)) for row in rows]


def _hold_text(contexts: Sequence[str] | None) -> bool:
    """Whether the contexts hold text; blank contexts do not make samples dependent."""
    return any(text.strip() for text in contexts or ())


def _numbers(cells: Mapping[object, object]) -> dict[str, float]:
    numbers = {str(name): number_in(cell) for name, cell in cells.items()}
    return {name: number for name, number in numbers.items() if number is not None}


def _kind(label: object) -> str:
    if is_list(label):
        return "+".join(sorted(map(str, label))) if all(isinstance(word, str) for word in label) else ""
    return "" if is_mapping(label) else str(label)


def limited(labelled: LabelledSet, limit: int) -> LabelledSet:
    """Some of the items, always the same ones and from the whole set; pairs stay whole."""

    def place(sample_id: str) -> bytes:
        return hashlib.sha256(sample_id.encode()).digest()

    pairs = tuple(sorted(labelled.pairs, key=lambda pair: place(pair.first))[:limit])
    ids = {sample_id for pair in pairs for sample_id in pair[:2]}
    if labelled.pairs:
        rows = tuple(row for row in labelled.rows if row.sample.id in ids)
    else:
        rows = tuple(sorted(labelled.rows, key=lambda row: place(row.sample.id))[:limit])
    return labelled._replace(rows=rows, pairs=pairs, digest=_digest(rows, pairs))


def _digest(rows: Sequence[Labelled], pairs: Sequence[LabelledPair]) -> str:
    content = [[row.sample.digest, row.label, row.source] for row in rows] + [list(pair) for pair in pairs]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
