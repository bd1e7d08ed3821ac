"""The columns of a labelled file: which is the label, and what people were asked about."""

from collections.abc import Mapping
from typing import Final

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.probe._label_words import Question, decoded, is_label_name, question_named, stem
from ragmetrics_core.runs._loading import Source, read_rows
from ragmetrics_core.samples import Sample
from ragmetrics_core.samples._columns import field_named, is_sample_column, spelled
from ragmetrics_core.shapes import is_list, is_mapping

__all__ = [
    "ANNOTATORS",
    "CLAIMS",
    "CONTENT",
    "SOURCES",
    "LabelledRows",
    "Row",
    "all_values",
    "cell_of",
    "has_field",
    "label_column",
    "question_of",
    "task_column",
]

# Beside the columns of samples: how sets of claims and of summaries name theirs.
CONTENT: Final = {
    "claim": "answer",
    "statement": "answer",
    "hypothesis": "answer",
    "summary": "answer",
    "golden_answer": "reference",
    "evidence": "contexts",
    "premise": "contexts",
    "passages": "contexts",
    "document": "contexts",
}
CLAIMS: Final = ("claim", "statement", "hypothesis")
SOURCES: Final = ("source_id", "document_id", "article_id", "doc_id")
_TASKS: Final = ("task_type", "task", "domain", "error_type", "dataset", "source")
ANNOTATORS: Final = ("annotator", "rater", "worker", "annotator_id", "rater_id")
_MOST_TASKS = 16

Row = dict[str, object]


class LabelledRows:
    """The rows of a file, their columns in one spelling; rows that are none are kept as problems."""

    def __init__(self, data: Source) -> None:
        self.rows: list[tuple[str, Row, bool]] = []
        self.problems: list[str] = []
        for found in read_rows(data):
            row = found.row
            if isinstance(row, Sample):
                row = {**row.model_dump(exclude={"labels"}, exclude_none=True), **row.labels}
            if found.problem is not None or not is_mapping(row):
                self.problems.append(f"{found.where}: {found.problem or 'it is no object'}")
                continue
            cells = {_column(str(key)): decoded(value) for key, value in row.items()}
            self.rows.append((found.where, cells, found.textual))
        self.columns = set[str]().union(*(row for _, row, _ in self.rows))
        self.filled = {
            name for _, row, _ in self.rows for name, value in row.items() if value not in (None, "")
        }


def label_column(reader: LabelledRows, label: str | None, question: Question | None) -> str:
    """The column of the labels: the one that is named, or the one whose name says it best.

    Raises:
        ConfigError: there is no such column, or none that is one of labels.
    """
    if label is not None:
        outer = label.partition(".")[0]
        for name in (label, spelled(label), stem(label)):
            if name in reader.columns or (outer in reader.columns and "." in label):
                return name if name in reader.columns else label
        raise ConfigError(f"there is no column {label!r}; there is {', '.join(sorted(reader.columns))}")
    if "claims" in reader.filled and any(is_list(row.get("claims")) for _, row, _ in reader.rows):
        return "claims.label"
    ratings = next((each for each in ("human_ratings", "ratings") if _is_mapped(reader, each)), None)
    if ratings is not None:
        return f"{ratings}.{_measure(reader, ratings, question)}"
    names = [each for each in reader.filled if is_label_name(each) or stem(each).startswith("preference")]
    fitting = [each for each in names if question is None or question_named(each) in (None, question)]
    # Words before lists of spans, the overall preference before its parts, and what the question names first.
    ranked = sorted(
        fitting,
        key=lambda each: (
            question_named(each) is None,
            any(is_list(row.get(each)) for _, row, _ in reader.rows[:20]) and "preference" not in each,
            "overall" not in each,
            each,
        ),
    )
    if ranked:
        return ranked[0]
    if "votes" in reader.filled:
        return "votes"
    known = "label, faithful, supported, correct, relevant, hallucinated, rating, votes"
    if names:
        raise ConfigError(
            f"no label is about {question!r}: there is {', '.join(sorted(names))}; choose --label"
        )
    raise ConfigError(
        f"no column says what people thought: there is {', '.join(sorted(reader.columns)) or 'none'}; "
        f"name it with --label, or call it one of {known}"
    )


def _is_mapped(reader: LabelledRows, name: str) -> bool:
    return any(is_mapping(row.get(name)) for _, row, _ in reader.rows)


def _measure(reader: LabelledRows, column: str, question: Question | None) -> str:
    """Which of several rated measures a question is about."""
    names: list[str] = []
    for _, row, _ in reader.rows:
        if is_mapping(value := row.get(column)):
            names += [str(name) for name in value if name not in names]
    wanted = question or ("faithful" if "contexts" in reader.filled else "correct")
    fitting = [name for name in names if question_named(name) == wanted]
    if not fitting:
        raise ConfigError(
            f"{column} has {', '.join(names)}, and none is about {wanted!r}: choose one with "
            f"--label {column}.NAME"
        )
    return fitting[0]


def all_values(reader: LabelledRows, column: str) -> list[object]:
    """All that a column of labels says."""
    if column == "claims.label":
        claims = [each for _, row, _ in reader.rows if is_list(value := row.get("claims")) for each in value]
        mappings = [each for each in claims if is_mapping(each)]
        return [value for each in mappings for name, value in each.items() if is_label_name(str(name))]
    values = [cell_of(row, column) for _, row, _ in reader.rows]
    return [
        inner
        for value in values
        for inner in (list(value.values()) if is_mapping(value) else [value])
    ]  # fmt: skip


def task_column(reader: LabelledRows, label: str) -> str | None:
    """The column of the groups that are shown apart; None where there is none with a few values."""
    for name in _TASKS:
        if name in reader.columns and name != label:
            groups = {str(row.get(name)) for _, row, _ in reader.rows if row.get(name) not in (None, "")}
            if 1 < len(groups) <= _MOST_TASKS:
                return name
    return None


def question_of(reader: LabelledRows) -> Question:
    """What people were asked about, where no name says it: what there is to compare an answer with."""
    rows = [row for _, row, _ in reader.rows]
    if any(has_field(row, "contexts") for row in rows):
        return "faithful"
    return (
        "correct"
        if any(has_field(row, "reference") or has_field(row, "references") for row in rows)
        else "relevant"
    )


def has_field(row: Mapping[str, object], wanted: str) -> bool:
    """Whether a row has something for a field of a sample, under whatever name."""
    names = (name for name, value in row.items() if value not in (None, "", []))
    return any(field_named(name) == wanted or CONTENT.get(name) == wanted for name in names)


def cell_of(row: Row, column: str) -> object:
    """A row's value in a column; "outer.inner" is one inside of another."""
    if column in row:
        return row[column]
    outer, _, inner = column.partition(".")
    value = row.get(outer)
    return value.get(inner) if is_mapping(value) else None


def _column(name: str) -> str:
    known = is_sample_column(name) or spelled(name) in {*CONTENT, *SOURCES, *ANNOTATORS, "claims", "votes"}
    return spelled(name) if known or is_label_name(spelled(name)) else name.strip()
