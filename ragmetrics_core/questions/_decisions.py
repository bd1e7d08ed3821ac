"""Decisions of reviewers on questions: random samples, stored decisions, and the questions that remain."""

import json
import random
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.questions._model import Question
from ragmetrics_core.runs.append_only_lines import Lines

__all__ = [
    "DECISIONS",
    "REVIEWED",
    "REVIEWED_FILE",
    "DecisionFile",
    "Outcome",
    "QuestionReview",
    "SheetDecision",
    "StoredDecision",
    "digest_of_shown",
    "draw_questions",
    "read_decisions",
    "review_of",
    "store_decisions",
    "stored_decisions",
]

DECISIONS, REVIEWED_FILE = "decisions.jsonl", "reviewed.jsonl"
"""Files of a test set: the decisions, and the questions that remain after them."""
REVIEWED = "reviewed"
"""Label of a question that reviewers decided on: accepted, edited or disputed."""

Verdict = Literal["accept", "edit", "reject"]
Outcome = Literal["accepted", "edited", "rejected", "disputed"]
_OUTCOMES: Mapping[Verdict, Outcome] = {"accept": "accepted", "edit": "edited", "reject": "rejected"}


class SheetDecision(BaseModel):
    """A decision on one question, as the sheet exports it.

    Attributes:
        question_id: id of the question.
        shown: digest of what the sheet showed; see `digest_of_shown`.
        decision: accept the question, edit it, or reject it.
        reason: why it is rejected or edited.
        question, answer: the edited texts; None if the decision is not an edit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question_id: str
    shown: str
    decision: Verdict
    reason: str = ""
    question: str | None = None
    answer: str | None = None

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.decision == "reject" and not self.reason.strip():
            raise ValueError(f"question {self.question_id} is rejected without a reason: add one")
        if self.decision == "edit" and not (self.question or "").strip():
            raise ValueError(f"the edit of question {self.question_id} leaves no question: reject it instead")
        if self.decision != "edit" and (self.question is not None or self.answer is not None):
            raise ValueError(f"question {self.question_id} has edited texts, but the decision is not an edit")
        return self


class StoredDecision(SheetDecision):
    """A stored decision: a line of decisions.jsonl."""

    annotator: str = Field(min_length=1)


class DecisionFile(BaseModel):
    """Decisions of one annotator, as the sheet exports them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["ragmetrics-question-decisions"]
    version: Literal[1]
    annotator: str = Field(min_length=1)
    items: tuple[SheetDecision, ...]


@dataclass(frozen=True, kw_only=True)
class QuestionReview:
    """Questions after the decisions of the reviewers.

    Attributes:
        original: the questions before the review.
        decisions: the latest decision of each annotator, by question id.
        outdated: decisions on questions that changed since, or are not in the set; they have no effect.
    """

    original: tuple[Question, ...]
    decisions: Mapping[str, tuple[StoredDecision, ...]]
    outdated: tuple[StoredDecision, ...] = ()

    @cached_property
    def outcomes(self) -> Mapping[str, Outcome]:
        """Outcome by question id; disputed if annotators differ in decision or edit."""
        return {question_id: _outcome(made) for question_id, made in self.decisions.items()}

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The questions that remain: without rejected ones, with edits, and with the label `reviewed`.

        A question keeps its id, which names its records. A disputed question keeps its texts.
        """
        remaining = (question for question in self.original if self.outcomes.get(question.id) != "rejected")
        return tuple(self._decided(question) for question in remaining)

    def _decided(self, question: Question) -> Question:
        outcome = self.outcomes.get(question.id)
        if outcome is None:
            return question
        labelled = question.model_copy(update={"labels": {**question.labels, REVIEWED: outcome}})
        if outcome != "edited":
            return labelled
        edit = self.decisions[question.id][0]
        return labelled.model_copy(update={"question": edit.question, "answer": edit.answer})


def digest_of_shown(question: Question) -> str:
    """Digest of the texts of a question that a reviewer sees: question, answer, earlier turns and quotes."""
    content = question.model_dump(include={"question", "answer", "kind", "history", "quotes"}, mode="json")
    return digest_of(json.dumps(content, sort_keys=True))


def draw_questions(
    questions: Sequence[Question], count: int | None = None, *, seed: int = 0
) -> tuple[Question, ...]:
    """A simple random sample of questions, in random order; all if `count` is None or too large.

    A larger count with the same seed draws the same questions first.
    """
    order = sorted(questions, key=lambda question: question.id)
    random.Random(seed).shuffle(order)
    return tuple(order[:count])


def read_decisions(path: Path) -> DecisionFile:
    """Read a file that the review sheet exported.

    Raises:
        ConfigError: the file is not an export of a review sheet.
    """
    try:
        return DecisionFile.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        (first, *_) = error.errors()
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{path} is not an export of a review sheet: {place}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not JSON: {error}") from error


def store_decisions(
    folder: Path, file: DecisionFile, questions: Collection[Question]
) -> tuple[StoredDecision, ...]:
    """Append the decisions to the test set's decisions.jsonl; returns those that were not stored yet.

    Args:
        folder: folder of the test set.
        file: the decisions.
        questions: the questions before any review.

    Raises:
        ConfigError: a question is not in the set, has changed since the sheet was written, or is edited
            without a change or without an answer; nothing is stored.
    """
    by_id = {question.id: question for question in questions}
    for item in file.items:
        _check(item, by_id.get(item.question_id), folder)
    stored = {(each.question_id, each.annotator): each for each in stored_decisions(folder)}
    annotator = file.annotator.strip()
    decisions = [StoredDecision(annotator=annotator, **item.model_dump()) for item in file.items]
    new = tuple(each for each in decisions if stored.get((each.question_id, annotator)) != each)
    with closing(Lines(folder / DECISIONS)) as lines:
        if new:
            lines.append(*(each.model_dump_json() for each in new))
    return new


def stored_decisions(folder: Path) -> tuple[StoredDecision, ...]:
    """All stored decisions, in the order of their import.

    Raises:
        RecordError: a line of decisions.jsonl cannot be read.
    """
    lines = Lines(folder / DECISIONS)
    return tuple(decision for decision, _ in lines.read(StoredDecision.model_validate_json))


def review_of(questions: Sequence[Question], decisions: Sequence[StoredDecision]) -> QuestionReview:
    """The review of a test set. A later decision of an annotator replaces the earlier one.

    Args:
        questions: the questions before any review.
        decisions: stored decisions, in order.
    """
    shown = {question.id: digest_of_shown(question) for question in questions}
    latest = {(made.question_id, made.annotator): made for made in decisions}
    current: dict[str, list[StoredDecision]] = {}
    outdated: list[StoredDecision] = []
    for made in latest.values():
        if shown.get(made.question_id) == made.shown:
            current.setdefault(made.question_id, []).append(made)
        else:
            outdated.append(made)
    return QuestionReview(
        original=tuple(questions),
        decisions={question_id: tuple(each) for question_id, each in current.items()},
        outdated=tuple(outdated),
    )


def _check(made: SheetDecision, question: Question | None, folder: Path) -> None:
    if question is None:
        raise ConfigError(f"question {made.question_id} is not in {folder}: give the folder of the sheet")
    if made.shown != digest_of_shown(question):
        raise ConfigError(
            f"question {made.question_id} has changed since the sheet was written: write a new sheet with "
            f"ragmetrics questions review {folder}"
        )
    if made.decision != "edit":
        return
    if (made.question, made.answer) == (question.question, question.answer):
        raise ConfigError(f"the edit of question {made.question_id} changes nothing: accept it instead")
    if question.answer is not None and not (made.answer or "").strip():
        raise ConfigError(
            f"the edit of question {made.question_id} leaves no answer: write one, or reject it"
        )


def _outcome(decisions: Sequence[StoredDecision]) -> Outcome:
    ways = {(made.decision, made.question, made.answer) for made in decisions}
    return _OUTCOMES[decisions[0].decision] if len(ways) == 1 else "disputed"
