"""Checks of questions: the samples of each stage, and the decision on each candidate."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from ragmetrics_core.questions._bm25 import BM25
from ragmetrics_core.questions._documents import Corpus
from ragmetrics_core.questions._filters import (
    Candidate,
    Reason,
    Records,
    are_near_duplicates,
    of_first_hit,
    of_other_passages,
    of_quotes,
    of_texts,
    overlap,
)
from ragmetrics_core.questions._model import Passage, Question
from ragmetrics_core.records import FAILED, Record
from ragmetrics_core.runs import Run
from ragmetrics_core.samples import Sample

__all__ = [
    "CHECKS",
    "METRICS",
    "Checks",
    "DecidedCandidates",
    "DroppedCandidate",
    "KeptCandidate",
    "Stage",
    "StoredRecords",
    "as_one_text",
    "check_metrics",
    "decide",
    "metrics_without",
]

Stage: TypeAlias = Literal["written", "quoted", "without", "first_hit"]
"""Stages of a test set; each is a run in its folder."""

METRICS: Mapping[Stage, tuple[str, ...]] = {
    "written": ("question_writing",),
    "quoted": ("sufficiency", "faithfulness", "question_quality", "closed_book_accuracy"),
    "without": ("sufficiency",),
    "first_hit": ("sufficiency",),
}
"""Metrics of each stage."""

CHECKS: tuple[Stage, ...] = ("quoted", "without", "first_hit")
"""Stages that check a question, in order; a question that fails one is not asked about in the next."""


def metrics_without(left_out: Collection[str]) -> dict[Stage, tuple[str, ...]]:
    """The metrics of all stages, without those that are left out."""
    return {stage: tuple(name for name in names if name not in left_out) for stage, names in METRICS.items()}


def check_metrics(left_out: Collection[str]) -> dict[Stage, tuple[str, ...]]:
    """The metrics of the stages that check a question, without those that are left out."""
    return {stage: names for stage, names in metrics_without(left_out).items() if stage in CHECKS}


# A question that no passage should answer is tried with so many others.
_OTHERS = 3


class KeptCandidate(NamedTuple):
    """A question that passed all checks.

    Attributes:
        candidate: the question before its checks.
        by_first_hit: whether the first hit of BM25 alone answers it; None if that was not asked.
        known: whether the model knows the answer without any document; None if that was not decided.
        records: digests of its records, by stage and metric.
    """

    candidate: Candidate
    by_first_hit: bool | None
    known: bool | None
    records: Mapping[str, str]


class DroppedCandidate(NamedTuple):
    """A question that failed a check, with the reasons, and digests of its records."""

    candidate: Candidate
    reasons: tuple[Reason, ...]
    records: Mapping[str, str]


@dataclass
class DecidedCandidates:
    """Decisions so far, in the order of the candidates, and the ids of their questions."""

    kept: list[KeptCandidate] = field(default_factory=list)
    dropped: list[DroppedCandidate] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)

    @property
    def sources(self) -> list[str]:
        """The writing task of each kept question."""
        return [each.candidate.source for each in self.kept]

    @property
    def by_first_hit(self) -> int:
        """Number of kept questions that the first hit of BM25 alone answers."""
        return sum(each.by_first_hit is True for each in self.kept)

    def keep(self, kept: KeptCandidate) -> None:
        """Add a question that passed."""
        self.kept.append(kept)
        self.ids.add(kept.candidate.question.id)

    def drop(self, candidate: Candidate, reasons: tuple[Reason, ...], records: Mapping[str, str]) -> None:
        """Add a question that failed."""
        self.dropped.append(DroppedCandidate(candidate, reasons, records))
        self.ids.add(candidate.question.id)


class StoredRecords:
    """The records of all stages in the folder of a test set.

    Args:
        folder: the folder; its runs may be missing.
        retry: failed scores count as missing until `note` brings a newer one, so that they are asked again.
        metrics: names of the metrics of each stage.
    """

    def __init__(
        self, folder: Path, *, retry: bool, metrics: Mapping[Stage, tuple[str, ...]] = METRICS
    ) -> None:
        self._folder = folder
        self._metrics = metrics
        self._retry = retry
        self._of: dict[tuple[Stage, str], dict[str, Record]] = {}
        self._noted: set[tuple[Stage, str]] = set()
        for stage in metrics:
            if (folder / stage / "manifest.json").is_file():
                self._add(stage, Run.load(folder / stage))

    def note(self, stage: Stage, run: Run, samples: Iterable[Sample]) -> None:
        """Read the records of samples that were measured just now."""
        ids = {sample.id for sample in samples}
        self._noted |= {(stage, each) for each in ids}
        self._add(stage, run, ids)

    def _add(self, stage: Stage, run: Run, ids: set[str] | None = None) -> None:
        for record in run.records():
            if ids is None or record.sample_id in ids:
                self._of.setdefault((stage, record.sample_id), {})[record.metric] = record

    def of(self, stage: Stage, sample: Sample) -> Records | None:
        """The records of a sample by metric; None if one is missing or of another content."""
        key = stage, sample.id
        records = self._of.get(key, {})
        is_final = not self._retry or key in self._noted
        for metric in self._metrics[stage]:
            record = records.get(metric)
            if record is None or record.sample_digest != sample.digest or record.status == "cancelled":
                return None
            if record.status in FAILED and not is_final:
                return None
        return {metric: records[metric] for metric in self._metrics[stage]}


class Checks:
    """The samples with which the checks of a corpus are made.

    Args:
        corpus: the documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        passages = sorted(corpus.passages(), key=lambda each: (each.document, each.start))
        self.passages: tuple[Passage, ...] = tuple(passages)
        self._bm25 = BM25([passage.text for passage in self.passages])

    def sample(self, stage: Stage, question: Question) -> Sample | None:
        """The sample of a question in a stage; None if the stage does not apply to it.

        The quotes are the contexts of "quoted"; for an unanswerable question, the whole passages are. The
        best passage without a quote is the context of "without"; for an unanswerable question, the best three
        are. The first hit of BM25 is the context of "first_hit".
        """
        contexts = self._contexts(stage, question)
        if not contexts:
            return None
        return Sample(
            id=question.id,
            question=as_one_text(question),
            answer=question.answer if stage == "quoted" else None,
            reference=question.answer if stage == "quoted" else None,
            contexts=contexts,
            language=question.language,
        )

    def _contexts(self, stage: Stage, question: Question) -> tuple[str, ...]:
        is_unanswerable = question.kind == "unanswerable"
        if stage == "quoted":
            quoting = [each for each in self.passages if self._is_quoted(each, question)]
            return tuple([each.text for each in (quoting if is_unanswerable else question.quotes)])
        if question.kind == "wrong_premise" or (stage == "first_hit" and is_unanswerable):
            return ()
        if stage == "first_hit":
            return tuple([each.text for each in self._hits(question, 1)])
        quoted = sum(self._is_quoted(each, question) for each in self.passages)
        most = _OTHERS if is_unanswerable else 1
        others = [each for each in self._hits(question, quoted + most) if not self._is_quoted(each, question)]
        return tuple([each.text for each in others[:most]])

    def _hits(self, question: Question, count: int) -> list[Passage]:
        return [self.passages[index] for index in self._bm25.rank(as_one_text(question), count)]

    def _is_quoted(self, passage: Passage, question: Question) -> bool:
        return any(overlap(passage, quote) for quote in question.quotes)


def as_one_text(question: Question) -> str:
    """The question, after the earlier turns if there are any, so that it can be read alone."""
    if not question.history:
        return question.question
    turns = [f"{turn.role}: {turn.content}" for turn in question.history]
    return "\n".join([*turns, f"user: {question.question}"])


def decide(
    candidates: Sequence[Candidate],
    decided: DecidedCandidates,
    checks: Checks,
    stored: StoredRecords,
    *,
    most_by_first_hit: int | None = None,
) -> dict[Stage, list[Sample]]:
    """Decide on candidates in order, as far as their records are there; return what must be measured.

    A question that nearly repeats an earlier one waits until that one is decided. Of the questions that the
    first hit alone answers, the first `most_by_first_hit` in order are kept, with those of earlier calls.
    If anything must be measured, `decided` is incomplete: measure, then decide again from the start.
    """
    work: dict[Stage, list[Sample]] = {}
    waiting: list[Candidate] = []
    for candidate in candidates:
        question = candidate.question
        reasons = of_texts(candidate)
        if not reasons and question.id in decided.ids:
            reasons = (Reason(code="near_duplicate", sentence=f"it repeats {question.id}"),)
        if not reasons:
            twin = _twin(candidate, [*(kept.candidate for kept in decided.kept), *waiting])
            if twin in waiting:
                waiting.append(candidate)
                continue
            if twin is not None:
                sentence = f"it nearly repeats {twin.question.id}: {twin.question.question}"
                reasons = (Reason(code="near_duplicate", sentence=sentence),)
        if reasons:
            decided.drop(candidate, reasons, candidate.records)
            continue
        outcome = _checked(candidate, checks, stored)
        if isinstance(outcome, _Open):
            work.setdefault(outcome.stage, []).append(outcome.sample)
            waiting.append(candidate)
        elif outcome.reasons:
            decided.drop(candidate, outcome.reasons, outcome.records)
        elif outcome.by_first_hit and waiting:
            waiting.append(candidate)
        elif (
            outcome.by_first_hit
            and most_by_first_hit is not None
            and decided.by_first_hit >= most_by_first_hit
        ):
            limit = f"BM25's first hit answers it, and {most_by_first_hit} such questions are kept"
            reasons = (Reason(code="first_hit_alone", sentence=limit),)
            decided.drop(candidate, reasons, outcome.records)
        else:
            decided.keep(KeptCandidate(candidate, outcome.by_first_hit, outcome.known, outcome.records))
    return work


class _Open(NamedTuple):
    """A sample whose records are missing."""

    stage: Stage
    sample: Sample


class _Outcome(NamedTuple):
    """The checks of one question that were made."""

    reasons: tuple[Reason, ...]
    by_first_hit: bool | None
    known: bool | None
    records: Mapping[str, str]


def _checked(candidate: Candidate, checks: Checks, stored: StoredRecords) -> _Open | _Outcome:
    """The checks of a question up to the first that it fails or that is missing."""
    question, digests = candidate.question, dict(candidate.records)
    reasons: tuple[Reason, ...] = ()
    by_first_hit = known = None
    for stage in CHECKS:
        sample = checks.sample(stage, question)
        if sample is None:
            continue
        records = stored.of(stage, sample)
        if records is None:
            return _Open(stage, sample)
        digests |= {f"{stage}/{name}": records[name].digest for name in records}
        if stage == "quoted":
            reasons = of_quotes(question, records)
            closed_book = records.get("closed_book_accuracy")
            if closed_book is not None and closed_book.value is not None:
                known = closed_book.value == 1
        elif stage == "without":
            reasons = of_other_passages(question, records)
        else:
            answered = of_first_hit(records)
            by_first_hit, reasons = (answered, ()) if isinstance(answered, bool) else (None, answered)
        if reasons:
            break
    return _Outcome(reasons, by_first_hit, known, digests)


def _twin(candidate: Candidate, others: Iterable[Candidate]) -> Candidate | None:
    """The first of the others that asks the same."""
    return next((each for each in others if are_near_duplicates(each.question, candidate.question)), None)
