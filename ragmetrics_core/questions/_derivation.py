"""Derivation of a test set from its records: the same records give the same questions and reasons."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ragmetrics_core.questions._checks import Checks, DecidedCandidates, Stage, StoredRecords, decide
from ragmetrics_core.questions._documents import Corpus, read_corpus
from ragmetrics_core.questions._filters import Candidate
from ragmetrics_core.questions._model import Question
from ragmetrics_core.questions._quotes import find_quotes
from ragmetrics_core.questions._rows import question_id, without_own_names
from ragmetrics_core.questions._set_files import CORPUS, CellCount, SetSummary, files_of, summary_in
from ragmetrics_core.questions._settings import TestSetSettings
from ragmetrics_core.questions._tasks import Task, Tasks
from ragmetrics_core.questions._written import written_in
from ragmetrics_core.records import Record
from ragmetrics_core.samples import Label, Sample, Turn

__all__ = ["State", "derived", "progressed", "summary_of"]


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
    """The candidates that a writing task gave; one with a fault if it gave none."""
    records = {"written/question_writing": record.digest}
    written = written_in(record)
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
    """Texts of the files of a test set, derived from its records again."""
    settings = summary_in(folder).settings
    corpus = read_corpus(folder / CORPUS)
    state = progressed(corpus, settings, Checks(corpus), StoredRecords(folder, retry=False))
    return files_of(summary_of(state, settings), state.decided)
