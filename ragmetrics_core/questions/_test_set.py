"""A test set in its folder: questions, dropped candidates, and the records that prove both."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import ValidationError

from ragmetrics_core.boundary.writing import put_in_place
from ragmetrics_core.errors import RecordError, SampleError
from ragmetrics_core.questions._checks import METRICS
from ragmetrics_core.questions._decisions import (
    REVIEWED_FILE,
    DecisionFile,
    StoredDecision,
    review_of,
    store_decisions,
    stored_decisions,
)
from ragmetrics_core.questions._derivation import derived
from ragmetrics_core.questions._documents import Corpus, read_corpus
from ragmetrics_core.questions._filters import Reason
from ragmetrics_core.questions._model import Question
from ragmetrics_core.questions._quotes import chunks_with
from ragmetrics_core.questions._rows import question_of, row_of, sample_of
from ragmetrics_core.questions._set_files import CORPUS, DROPPED, QUESTIONS, is_run, lines_of, summary_in
from ragmetrics_core.runs import Run
from ragmetrics_core.samples import Sample
from ragmetrics_core.samples.columns import shown
from ragmetrics_core.texts.wording import number_of

__all__ = ["DroppedQuestion", "QuestionSet"]


class DroppedQuestion(NamedTuple):
    """A candidate that was dropped.

    Attributes:
        question: the candidate, with the quotes that were found.
        reasons: why it was dropped.
        source: id of the writing task that it comes from.
        not_found: quotes that are not in the documents.
        records: digests of its records, by stage and metric.
    """

    question: Question
    reasons: tuple[Reason, ...]
    source: str
    not_found: tuple[str, ...]
    records: Mapping[str, str]


class QuestionSet:
    """A test set in its folder, read when it is opened.

    Args:
        path: the folder.
        waiting: number of open requests of a wave, and the stage that waits.
        stopped: why the generation stopped before its end; "" if it did not.
    """

    def __init__(self, path: str | Path, *, waiting: int = 0, stage: str = "", stopped: str = "") -> None:
        self.path = Path(path)
        self.waiting = waiting
        self.stage = stage
        self.stopped = stopped
        self.summary = summary_in(self.path)
        kept = list(_rows(self.path / QUESTIONS))
        self.checked: tuple[Question, ...] = tuple([_question(row, where) for where, row in kept])
        self.review = review_of(self.checked, stored_decisions(self.path))
        self.records: Mapping[str, Mapping[str, str]] = {row["id"]: row.get("records", {}) for _, row in kept}
        self.dropped: tuple[DroppedQuestion, ...] = tuple(
            [_dropped(row, where) for where, row in _rows(self.path / DROPPED)]
        )

    @classmethod
    def read(cls, folder: str | Path) -> Self:
        """Open the test set in a folder.

        Raises:
            RecordError: there is no test set, or it cannot be read.
        """
        return cls(folder)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions that remain after the decisions of reviewers; `checked` has them before any."""
        return self.review.questions

    @property
    def is_complete(self) -> bool:
        """Whether there are as many questions as asked for."""
        return self.summary.is_complete

    @property
    def counts(self) -> Mapping[str, int]:
        """Number of dropped candidates by reason, the most frequent first."""
        return dict(self.reasons.most_common())

    @property
    def reasons(self) -> Counter[str]:
        """Number of dropped candidates by reason."""
        return Counter(reason.code for each in self.dropped for reason in each.reasons)

    @property
    def corpus(self) -> Corpus:
        """The documents."""
        return read_corpus(self.path / CORPUS)

    def samples(self, chunks: Mapping[str, str] | None = None) -> list[Sample]:
        """A sample for each question, without answer and contexts.

        Args:
            chunks: texts of the chunks of a retriever, by id. Then `reference_context_ids` are the ids of the
                chunks that hold the quotes. Default: the ids of the documents.
        """
        samples = [sample_of(question, self.records[question.id]) for question in self.questions]
        if chunks is None:
            return samples
        return [
            sample.model_copy(update={"reference_context_ids": tuple(chunks_with(question.quotes, chunks))})
            if sample.reference_context_ids
            else sample
            for question, sample in zip(self.questions, samples, strict=True)
        ]

    def decide(self, file: DecisionFile) -> tuple[StoredDecision, ...]:
        """Store the decisions of a reviewer, write reviewed.jsonl, and return the decisions that are new.

        Raises:
            ConfigError: a question is not in the set, or has changed since the sheet was written; nothing is
                stored.
        """
        new = store_decisions(self.path, file, self.checked)
        self.review = review_of(self.checked, stored_decisions(self.path))
        self.write_reviewed()
        return new

    def write_reviewed(self) -> None:
        """Write reviewed.jsonl, the questions that remain, if a reviewer decided on any."""
        if self.review.decisions:
            put_in_place(self.path / REVIEWED_FILE, self._reviewed())

    def _reviewed(self) -> str:
        """Text of reviewed.jsonl."""
        return lines_of(row_of(question, self.records[question.id]) for question in self.questions)

    def runs(self) -> Mapping[str, Run]:
        """The runs of the stages that have begun."""
        places = {stage: self.path / stage for stage in METRICS}
        return {stage: Run.load(place) for stage, place in places.items() if is_run(place)}

    def audit(self) -> list[str]:
        """Recompute every score of all stages, and derive questions and reasons again; list the differences.

        An empty list is a proof.
        """
        found = [
            f"{stage}: {key.sample_id} {key.signature}: {difference}"
            for stage, run in self.runs().items()
            for key, differences in run.audit()
            for difference in differences
        ]
        try:
            texts = derived(self.path)
        except (RecordError, SampleError) as error:
            texts = {}
            found.append(str(error))
        for name, text in texts.items():
            file = self.path / name
            if not file.is_file():
                found.append(f"{name} is missing")
            elif file.read_text(encoding="utf-8") != text:
                found.append(f"{name} is not what the records give")
        reviewed = self.path / REVIEWED_FILE
        if reviewed.exists() and reviewed.read_text(encoding="utf-8") != self._reviewed():
            found.append(f"{reviewed.name} is not what the decisions give")
        return found

    def __len__(self) -> int:
        """The number of questions."""
        return len(self.questions)

    def __repr__(self) -> str:
        """The folder and the number of questions."""
        return f"<QuestionSet of {number_of(len(self), 'question')} in {self.path}>"


def _rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a file of JSON lines with their places; none if there is no file."""
    if not file.is_file():
        return
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            where = f"{file}, line {number}"
            try:
                row = json.loads(line)
            except ValueError as error:
                raise RecordError(f"{where} is not JSON: {error}") from error
            if not isinstance(row, dict):
                raise RecordError(f"{where} is not a JSON object, but {shown(row)}")
            yield where, row


def _question(row: dict[str, Any], where: str) -> Question:
    try:
        return question_of(row)
    except (KeyError, ValidationError) as error:
        raise RecordError(f"{where} is not a question: {error}") from error


def _dropped(row: dict[str, Any], where: str) -> DroppedQuestion:
    try:
        reasons = tuple([Reason.model_validate(each) for each in row["reasons"]])
    except (KeyError, ValidationError) as error:
        raise RecordError(f"{where} has no reasons: {error}") from error
    records = row.get("records", {})
    return DroppedQuestion(_question(row, where), reasons, row["source"], tuple(row["not_found"]), records)
