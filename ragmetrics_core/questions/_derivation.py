"""Derivation of a test set from its records: the same records give the same questions and reasons."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.questions._checks import (
    Checks,
    DecidedCandidates,
    Stage,
    StoredRecords,
    check_metrics,
    decide,
    metrics_without,
)
from ragmetrics_core.questions._documents import Corpus, read_corpus
from ragmetrics_core.questions._filters import Candidate, Reason
from ragmetrics_core.questions._model import Kind, Question
from ragmetrics_core.questions._quotes import find_quotes
from ragmetrics_core.questions._rows import question_id, question_of, row_of, without_own_names
from ragmetrics_core.questions._set_files import (
    CANDIDATES,
    CORPUS,
    CellCount,
    SetSummary,
    files_of,
    lines_of,
    summary_in,
)
from ragmetrics_core.questions._settings import CheckSettings, TestSetSettings, TrafficSettings
from ragmetrics_core.questions._tasks import Task, Tasks
from ragmetrics_core.questions._written import written_in
from ragmetrics_core.records import Record
from ragmetrics_core.samples import Label, Sample, Turn

__all__ = ["Derived", "State", "candidate_lines", "checked", "derived", "progressed", "summary_of"]


class Derived(NamedTuple):
    """Content of a test set, derived from its records.

    Attributes:
        decided: questions and dropped candidates, up to the open samples.
        work: samples whose records are missing, by stage; empty at the end.
        summary: numbers, for test_set.json.
    """

    decided: DecidedCandidates
    work: Mapping[Stage, Sequence[Sample]]
    summary: SetSummary


class State(NamedTuple):
    """Progress of a generation.

    Attributes:
        decided: questions and dropped candidates, up to the open samples.
        work: samples whose records are missing, by stage; empty at the end.
        tasks: the writing tasks.
    """

    decided: DecidedCandidates
    work: Mapping[Stage, Sequence[Sample]]
    tasks: Tasks


def progressed(corpus: Corpus, settings: TestSetSettings, checks: Checks, stored: StoredRecords) -> State:
    """Derive questions and dropped candidates from the records, up to the first round that lacks some.

    The same records give the same state, so a generation resumes anywhere and can be proved.
    """
    tasks, decided = Tasks(corpus, checks.passages, settings), DecidedCandidates()
    asked = sum(cell.asked for cell in tasks.cells)
    most = int(settings.first_hit_share * asked + 1e-9)
    while round_ := tasks.next_round(decided.sources):
        candidates: list[Candidate] = []
        missing: list[Sample] = []
        for task in round_:
            records = stored.of("written", task.sample)
            if records is None:
                missing.append(task.sample)
                continue
            written = candidates_of(task, records["question_writing"], corpus, settings)
            tasks.note(task, [each.question.question for each in written if not each.fault])
            candidates += written
        if missing:
            return State(decided, {"written": missing}, tasks)
        work = decide(candidates, decided, checks, stored, most_by_first_hit=most)
        if work:
            return State(decided, work, tasks)
    return State(decided, {}, tasks)


def candidates_of(task: Task, record: Record, corpus: Corpus, settings: TestSetSettings) -> list[Candidate]:
    """The candidates that a writing task gave, at most as many as it asked for; one with a fault if none."""
    records = {"written/question_writing": record.digest}
    written = written_in(record)[: task.asked]
    if not written:
        blank = Question(id=task.sample.id, question="", kind=task.cell.kind)
        fault = record.headline
        return [Candidate(blank, task.sample.id, passages=task.passages, fault=fault, records=records)]
    near = tuple(dict.fromkeys(passage.document for passage in task.passages))
    candidates: list[Candidate] = []
    for each in written:
        quotes, not_found = find_quotes(each.quotes, corpus, near=near)
        answer = each.answer.strip() or None
        turns: tuple[Turn, ...] = ()
        if each.earlier_question:
            turns = (
                Turn(role="user", content=each.earlier_question),
                Turn(role="assistant", content=each.earlier_answer or ""),
            )
        question = Question(
            id=question_id(each.question, answer, tuple(quotes)),
            question=each.question,
            answer=answer,
            kind=task.cell.kind,
            quotes=tuple(quotes),
            history=turns,
            style=task.style,
            length=task.length,
            persona=task.persona,
            language=settings.language,
            labels=_labels_of(task, corpus),
        )
        candidates.append(
            Candidate(question, task.sample.id, tuple(not_found), task.passages, records=records)
        )
    return candidates


def _labels_of(task: Task, corpus: Corpus) -> dict[str, Label]:
    """The labels that all documents of a task share, and the label that it is for."""
    first, *others = [corpus.documents[passage.document].labels for passage in task.passages]
    labels = {
        name: value
        for name, value in first.items()
        if all(name in other and other[name] == value for other in others)
    }
    if task.cell.label is not None:
        labels[task.cell.label] = task.cell.value
    return without_own_names(labels)


def summary_of(state: State, settings: TestSetSettings) -> SetSummary:
    """Numbers of a state, for test_set.json."""
    kept = state.tasks.kept(state.decided.sources)
    finished = not state.work
    cells = [
        CellCount(
            **cell._asdict(),
            kept=kept[cell],
            why_short=state.tasks.why_short(cell) if finished and kept[cell] < cell.asked else "",
        )
        for cell in state.tasks.cells
    ]
    reasons = Counter(reason.code for each in state.decided.dropped for reason in each.reasons)
    return SetSummary(
        settings=settings,
        finished=finished,
        cells=tuple(cells),
        reasons=dict(reasons.most_common()),
        by_first_hit=state.decided.by_first_hit,
    )


def derived(folder: Path) -> dict[str, str]:
    """Texts of the files of a test set, derived from its records again.

    Raises:
        RecordError: the documents or the candidates are not those that the records are of.
    """
    settings = summary_in(folder).settings
    if isinstance(settings, TrafficSettings):
        raise ConfigError(
            f"{folder} holds questions of a run, which nothing has checked: run `ragmetrics questions check`"
        )
    corpus = read_corpus(folder / CORPUS)
    if corpus.digest != settings.corpus:
        raise RecordError(f"{folder / CORPUS} has changed since the test set was made: restore the file")
    checks = Checks(corpus)
    if isinstance(settings, CheckSettings):
        stored = StoredRecords(folder, retry=False, metrics=check_metrics(settings.left_out))
        file = folder / CANDIDATES
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        if hashlib.sha256(text.encode()).hexdigest() != settings.questions:
            raise RecordError(f"{file} is missing, or has changed since the check: restore the file")
        found = checked(
            [_candidate(json.loads(line)) for line in text.splitlines()], settings, checks, stored
        )
        return files_of(found.summary, found.decided)
    stored = StoredRecords(folder, retry=False, metrics=metrics_without(settings.left_out))
    state = progressed(corpus, settings, checks, stored)
    return files_of(summary_of(state, settings), state.decided)


def checked(
    candidates: Sequence[Candidate], settings: CheckSettings, checks: Checks, stored: StoredRecords
) -> Derived:
    """Decide on the questions of an existing set as far as the records are there."""
    decided = DecidedCandidates()
    questions: list[Candidate] = []
    for candidate in candidates:
        if fault := _fault(candidate):
            decided.drop(candidate, (Reason(code="not_a_question", sentence=fault),), {})
        else:
            questions.append(candidate)
    work = decide(questions, decided, checks, stored)
    asked: Counter[Kind | None] = Counter(candidate.question.kind for candidate in candidates)
    kept: Counter[Kind | None] = Counter(each.candidate.question.kind for each in decided.kept)
    reasons = Counter(reason.code for each in decided.dropped for reason in each.reasons)
    summary = SetSummary(
        settings=settings,
        finished=not work,
        cells=tuple(
            CellCount(label=None, value=None, kind=kind, asked=asked[kind], kept=kept[kind])
            for kind in sorted(asked, key=str)
        ),
        reasons=dict(reasons.most_common()),
        by_first_hit=decided.by_first_hit,
    )
    return Derived(decided, work, summary)


def _fault(candidate: Candidate) -> str:
    """Reason that a row is not a question with a gold answer; "" if it is one."""
    question = candidate.question
    has_answer = (question.answer or "").strip() or question.kind == "unanswerable"
    return candidate.fault or ("" if has_answer else "it has no gold answer")


def candidate_lines(candidates: Iterable[Candidate]) -> str:
    """Text of candidates.jsonl."""
    return lines_of(
        {
            **row_of(candidate.question),
            "source": candidate.source,
            "not_found": list(candidate.not_found),
            "fault": candidate.fault,
        }
        for candidate in candidates
    )


def _candidate(row: Mapping[str, Any]) -> Candidate:
    return Candidate(question_of(row), row["source"], tuple(row["not_found"]), fault=row["fault"])
