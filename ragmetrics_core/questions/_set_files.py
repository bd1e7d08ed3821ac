"""Files of a test set: their names, their texts, and test_set.json."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragmetrics_core.errors import RecordError
from ragmetrics_core.questions._checks import DecidedCandidates, KeptCandidate
from ragmetrics_core.questions._model import Kind, Question
from ragmetrics_core.questions._rows import row_of
from ragmetrics_core.questions._settings import CheckSettings, TestSetSettings, TrafficSettings
from ragmetrics_core.samples import Label
from ragmetrics_core.texts.wording import escaped

__all__ = [
    "CANDIDATES",
    "CORPUS",
    "DROPPED",
    "QUESTIONS",
    "TEST_SET",
    "CellCount",
    "SetSummary",
    "files_of",
    "is_run",
    "lines_of",
    "summary_in",
    "summary_text",
]

CORPUS, QUESTIONS, DROPPED, TEST_SET = "corpus.jsonl", "questions.jsonl", "dropped.jsonl", "test_set.json"
"""Files of a test set."""
CANDIDATES = "candidates.jsonl"
"""File of a checked set: the questions as they were read, and the gold passages that the corpus lacks."""


class CellCount(BaseModel):
    """Number of questions of one kind for one value of a label.

    Attributes:
        label, value: label of the documents; None for all documents.
        kind: kind of the questions; None if unknown.
        asked: number that was asked for.
        kept: number of kept questions.
        why_short: why there are fewer; "" if there are not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    label: str | None
    value: Label
    kind: Kind | None
    asked: int
    kept: int
    why_short: str = ""


class SetSummary(BaseModel):
    """Content of test_set.json.

    Attributes:
        schema_: version of the format (stored as `schema`).
        settings: settings that made the set.
        finished: whether all was tried; False if a budget or a kill stopped it.
        cells: numbers by label value and kind.
        reasons: number of dropped candidates by reason.
        by_first_hit: number of kept questions that BM25's first hit alone answers.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)

    schema_: int = Field(default=1, alias="schema")
    settings: TestSetSettings | CheckSettings | TrafficSettings
    finished: bool = False
    cells: tuple[CellCount, ...] = ()
    reasons: Mapping[str, int] = {}
    by_first_hit: int = 0

    @property
    def asked(self) -> int:
        """Number of questions that were asked for."""
        return sum(cell.asked for cell in self.cells)

    @property
    def kept(self) -> int:
        """Number of kept questions."""
        return sum(cell.kept for cell in self.cells)

    @property
    def is_complete(self) -> bool:
        """Whether there are as many questions as asked for, in each cell, and not too many by first hit."""
        return (
            self.finished
            and self.by_first_hit <= self.most_by_first_hit
            and all(cell.kept >= cell.asked for cell in self.cells)
        )

    @property
    def most_by_first_hit(self) -> int:
        """Maximum number of questions that BM25's first hit alone answers."""
        return int(self.settings.first_hit_share * self.asked + 1e-9)


def summary_in(folder: Path) -> SetSummary:
    """Content of a test set's test_set.json.

    Raises:
        RecordError: the file is missing or damaged.
    """
    file = folder / TEST_SET
    try:
        return SetSummary.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        raise RecordError(f"{folder} holds no test set: it has no {TEST_SET}") from None
    except (OSError, ValidationError) as error:
        raise RecordError(f"{file} cannot be read: {error}") from error


def summary_text(summary: SetSummary) -> str:
    """Text of test_set.json."""
    return f"{summary.model_dump_json(indent=2, by_alias=True)}\n"


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run."""
    return (folder / "manifest.json").is_file()


def lines_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """JSON lines."""
    return "".join(f"{escaped(json.dumps(row, ensure_ascii=False))}\n" for row in rows)


def files_of(summary: SetSummary, decided: DecidedCandidates) -> dict[str, str]:
    """Texts of the files of a test set, by name; test_set.json is last."""
    dropped = [
        {
            **row_of(each.candidate.question, each.records),
            "source": each.candidate.source,
            "not_found": list(each.candidate.not_found),
            "reasons": [reason.model_dump() for reason in each.reasons],
        }
        for each in decided.dropped
    ]
    return {
        QUESTIONS: lines_of(row_of(final_question(each), each.records) for each in decided.kept),
        DROPPED: lines_of(dropped),
        TEST_SET: summary_text(summary),
    }


def final_question(kept: KeptCandidate) -> Question:
    """A kept question with the labels that its checks gave it."""
    question = kept.candidate.question
    labels: dict[str, Label] = dict(question.labels)
    if kept.known is not None:
        labels["known_without_documents"] = kept.known
    if kept.by_first_hit is not None:
        labels["answered_by_first_hit"] = kept.by_first_hit
    return question.model_copy(update={"labels": labels})
