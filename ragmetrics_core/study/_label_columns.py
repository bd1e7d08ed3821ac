"""The columns of a labelled file: labels, claims, groups."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ragmetrics_core.boundary.shapes import is_list, is_mapping
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.runs import Source, read_rows
from ragmetrics_core.samples import Sample
from ragmetrics_core.samples.columns import COLUMNS, field_named, is_sample_column, spelled
from ragmetrics_core.study._label_vocabulary import (
    Question,
    decoded,
    is_label_name,
    question_named,
    rater_named,
    stem,
)

__all__ = ["ANNOTATORS", "CLAIMS", "CONTENT", "SOURCES", "Cells", "LabelTable", "Row", "fields_of"]

Cells = dict[str, object]

# Beside the columns of samples: how sets of claims and of summaries name theirs.
CLAIMS: Final = ("claim", "statement", "hypothesis")
CONTENT: Final = {
    **dict.fromkeys((*CLAIMS, "summary"), "answer"),
    **dict.fromkeys(("evidence", "premise", "passages", "document"), "contexts"),
    "golden_answer": "reference",
}
# The turns of a conversation are as little independent as the answers about a document.
SOURCES: Final = (*COLUMNS["session"], "source_id", "document_id", "article_id", "doc_id")
_TASKS: Final = ("task_type", "task", "domain", "error_type", "dataset", "source")
ANNOTATORS: Final = ("annotator", "rater", "worker", "annotator_id", "rater_id")
_OURS: Final = frozenset([*CONTENT, *SOURCES, *ANNOTATORS, "claims", "votes"])
_MOST_TASKS = 16


class Row(NamedTuple):
    """The cells of a row, its label, its place, and whether all cells are text."""

    where: str
    cells: Cells
    label: object
    textual: bool

    @property
    def filled(self) -> Cells:
        """The cells that are not empty."""
        return {name: cell for name, cell in self.cells.items() if cell not in (None, "")}


class LabelTable:
    """The rows of a file with normalized column names; invalid rows are kept as problems."""

    def __init__(self, data: Source) -> None:
        self._rows: list[Row] = []
        self.problems: list[str] = []
        for where, row, textual, problem in read_rows(data):
            content = row
            if isinstance(row, Sample):
                content = {**row.model_dump(exclude={"labels"}, exclude_none=True), **row.labels}
            if problem is not None or not is_mapping(content):
                self.problems.append(f"{where}: {problem or 'it is not an object'}")
                continue
            cells = {_column(str(name)): decoded(cell) for name, cell in content.items()}
            raters = {name: rater for name in cells if (rater := rater_named(name)) is not None}
            if raters:  # a column for each annotator
                votes = {rater: cells.pop(name) for name, rater in raters.items()}
                cells.setdefault(
                    "votes", {rater: vote for rater, vote in votes.items() if vote not in (None, "")}
                )
            self._rows.append(Row(where, cells, None, textual))
        self.columns = {name for row in self._rows for name in row.cells}
        self.known = ", ".join(sorted(self.columns))
        self._filled: dict[str, list[object]] = {}
        for row in self._rows:
            for name, cell in row.filled.items():
                self._filled.setdefault(name, []).append(cell)

    def named(self, label: str) -> str:
        """The column of labels with this name.

        Raises:
            ConfigError: there is no such column.
        """
        name = next((one for one in (label, spelled(label), stem(label)) if one in self.columns), label)
        outer, dot, _ = name.partition(".")
        if name not in self.columns and not (dot and outer in self.columns):
            raise ConfigError(f"there is no column {label!r}; there is {self.known}")
        return name

    def label_column(self, question: Question | None) -> str:
        """The column whose name fits labels best.

        Raises:
            ConfigError: no column's name fits.
        """
        filled = self._filled
        if any(map(is_list, filled.get("claims", ()))):
            return "claims.label"
        for name in ("human_ratings", "ratings"):
            if any(map(is_mapping, filled.get(name, ()))):
                return f"{name}.{self._measure(name, question)}"
        names = sorted(name for name in filled if is_label_name(name) or stem(name).startswith("preference"))
        # Words before lists of spans, the overall preference before its parts, what the question names first.
        ranked = sorted(
            (name for name in names if question is None or question_named(name) in (None, question)),
            key=lambda name: (
                question_named(name) is None,
                any(map(is_list, filled[name][:20])) and "preference" not in name,
                "overall" not in name,
            ),
        )
        if ranked or "votes" in filled:
            return ranked[0] if ranked else "votes"
        if names:
            raise ConfigError(f"no label is about {question!r}: there is {', '.join(names)}; choose --label")
        raise ConfigError(
            f"no column holds labels: columns are {self.known or 'none'}; name it with --label, or "
            "call it one of label, faithful, supported, correct, relevant, hallucinated, rating, votes"
        )

    def _measure(self, column: str, question: Question | None) -> str:
        """The rated measure that matches the question, if there are several."""
        ratings = [cell for cell in self._filled[column] if is_mapping(cell)]
        names = dict.fromkeys(str(name) for cell in ratings for name in cell)
        wanted = question or ("faithful" if "contexts" in self._filled else "correct")
        fitting = [name for name in names if question_named(name) == wanted]
        if not fitting:
            raise ConfigError(
                f"{column} has {', '.join(names)}, and none is about {wanted!r}: choose one with "
                f"--label {column}.NAME"
            )
        return fitting[0]

    def task_column(self, label: str) -> str | None:
        """The column of the groups; None if no column has few enough values."""
        groups = {name: set(map(str, self._filled.get(name, ()))) for name in _TASKS if name != label}
        return next((name for name in groups if 1 < len(groups[name]) <= _MOST_TASKS), None)

    @property
    def question(self) -> Question:
        """The question of the labels if no name shows it, from the texts to compare an answer with."""
        fields = {name for row in self._rows for name in fields_of(row.cells)}
        if "contexts" in fields:
            return "faithful"
        return "correct" if fields & {"reference", "references"} else "relevant"

    def labelled(self, column: str) -> Iterator[Row]:
        """The rows with their labels; a list of claims becomes a row for each."""
        for row in self._rows:
            claims = row.cells.get("claims")
            if column != "claims.label" or not is_list(claims):
                yield row._replace(label=_cell(row.cells, column))
                continue
            for number, claim in enumerate(claims, start=1):
                if is_mapping(claim):
                    text = next((claim[name] for name in (*CLAIMS, "text") if name in claim), None)
                    label = next((claim[name] for name in claim if is_label_name(str(name))), "none")
                    of_row = row.cells.get("id")
                    cells = {**row.cells, "claim": text, "id": f"{of_row}#{number}" if of_row else None}
                    yield row._replace(cells=cells, label=label)


def fields_of(cells: Mapping[str, object]) -> set[str | None]:
    """The fields of a sample for which a row has something, under whatever names."""
    names = [name for name, cell in cells.items() if cell not in (None, "", [])]
    return {field_named(name) for name in names} | {CONTENT.get(name) for name in names}


def _cell(cells: Cells, column: str) -> object:
    """A row's value in a column; "outer.inner" is one inside of another."""
    outer, _, inner = column.partition(".")
    value = cells.get(outer)
    return cells[column] if column in cells else value.get(inner) if is_mapping(value) else None


def _column(name: str) -> str:
    is_ours = is_sample_column(name) or spelled(name) in _OURS or is_label_name(spelled(name))
    return spelled(name) if is_ours else name.strip()
