"""Pages of a test set: its report, and the sheet on which people review its questions."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ragmetrics_core.boundary.shapes import is_mapping, is_series
from ragmetrics_core.boundary.writing import write_whole
from ragmetrics_core.errors import ConfigError, RagMetricsError
from ragmetrics_core.questions import CODES, Corpus, Question, QuestionSet
from ragmetrics_core.questions.reviewing import (
    QuestionReview,
    coverage_of,
    digest_of_shown,
    draw_questions,
    places_of,
    review_notes,
    shares_of,
)
from ragmetrics_core.records import Record
from ragmetrics_core.report._proof_page import LONG_STEP, ProofPage, SamplePage
from ragmetrics_core.report._text import cut, one_line, words
from ragmetrics_core.report.html.page import as_json, chunk, page
from ragmetrics_core.runs import Run
from ragmetrics_core.texts.wording import number_of

__all__ = ["review_sheet", "write_test_set_report"]

LARGEST = 20_000_000
LONG_TEXT = 20_000
MOST_ROWS = 500
_CHUNK = 400_000
_YES_OR_NO = {1: "yes", 0: "no"}


class _ShownCheck(NamedTuple):
    """A check of questions, in words.

    Attributes:
        key: its stage and metric.
        title: what it asks.
        answers: what its values mean, if they are few.
        wanted: value of a good question; None if any value is good.
    """

    key: str
    title: str
    answers: Mapping[int, str] | None = None
    wanted: float | None = 1.0

    @property
    def stage(self) -> str:
        """Its stage."""
        return self.key.partition("/")[0]

    @property
    def metric(self) -> str:
        """The name of its metric."""
        return self.key.partition("/")[2]


_CHECKS = (
    _ShownCheck("written/question_writing", "Share of the written questions with quotes from their passages"),
    _ShownCheck("quoted/sufficiency", "Do its quotes answer it?", _YES_OR_NO),
    _ShownCheck("quoted/faithfulness", "Share of its answer that the quotes support"),
    _ShownCheck("quoted/question_quality", "Share of the criteria of a good question that it meets"),
    _ShownCheck("without/sufficiency", "Does the best other passage answer it?", _YES_OR_NO, 0.0),
    _ShownCheck("first_hit/sufficiency", "Does the first hit of BM25 alone answer it?", _YES_OR_NO, None),
    _ShownCheck("quoted/closed_book_accuracy", "Does the model know it without documents?", _YES_OR_NO, None),
)
"""The checks, in the order in which they are shown."""

# Checks in which another value is good for questions of a kind.
_WANTED: Mapping[tuple[str, str], float | None] = {
    ("unanswerable", "quoted/sufficiency"): 0.0,
    ("unanswerable", "quoted/faithfulness"): None,
    ("wrong_premise", "quoted/sufficiency"): None,
}


class _Candidate(NamedTuple):
    """A question as it was checked: digests of its records; if it was dropped, why, and its writing task."""

    question: Question
    records: Mapping[str, str]
    reasons: tuple[tuple[str, str], ...] = ()
    source: str = ""


def review_sheet(
    test_set: QuestionSet,
    *,
    sample: int | None = None,
    seed: int = 0,
    annotator: str = "",
    title: str = "Questions to review",
) -> str:
    """HTML page on which a person accepts, edits or rejects questions; it exports JSON.

    Args:
        test_set: the test set; questions are shown as they were before any review.
        sample: number of questions, drawn at random. Default: all.
        seed: seed of the sample and the order.
        annotator: name of the person, who can change it.
        title: title of the sheet.

    Raises:
        ConfigError: the test set has no questions.
    """
    drawn = draw_questions(test_set.checked, sample, seed=seed)
    if not drawn:
        raise ConfigError(f"{test_set.path} has no question to review")
    texts = _Texts(test_set.corpus)
    items = [
        {
            "id": question.id,
            "shown": digest_of_shown(question),
            "raw": {"question": question.question, "answer": question.answer},
            **texts.of(question),
        }
        for question in drawn
    ]
    content = {"title": title, "annotator": annotator, "seed": seed, "total": len(test_set.checked)}
    return page(
        {"overview": chunk({**content, "items": items})},
        {},
        kind="review",
        command=f"questions report {one_line(test_set.path.name)}",
    )


def write_test_set_report(test_set: QuestionSet, path: str | Path) -> Path:
    """Write the report of a test set as one HTML file; see docs/questions.md.

    The file has each question and dropped candidate with its quotes in place, and their proofs up to 20 MB.

    Args:
        test_set: the test set.
        path: file to write, such as "questions.html"; an existing file is replaced.

    Raises:
        ConfigError: scipy is not installed, or the file cannot be written.
        RecordError: a record cannot be read.
    """
    path = Path(path)
    if not path.name or path.is_dir():
        raise ConfigError(f"{path} is a folder: name the file to write, such as {path / 'questions.html'}")
    corpus, review, runs = test_set.corpus, test_set.review, test_set.runs()
    kept = (_Candidate(question, test_set.records[question.id]) for question in test_set.checked)
    candidates = [*kept, *_dropped(test_set)]
    rows = list(_rows(test_set, candidates, _Texts(corpus), review, runs))
    summary = chunk(_overview(test_set, corpus, review))
    room = LARGEST - len(summary) - len(chunk(rows))
    chunks = _packed(candidates, rows, runs, room)
    path.parent.mkdir(parents=True, exist_ok=True)
    proofs = {str(number): data for number, data in enumerate(chunks)}
    command = f"questions coverage {one_line(test_set.path.name)}"
    first = {"overview": summary, "table": chunk(rows)}
    write_whole(path, page(first, proofs, kind="test set", command=command))
    return path


class _Texts:
    """The texts of questions, with their quotes in place."""

    def __init__(self, corpus: Corpus) -> None:
        self._documents = corpus.documents
        self._passages: dict[str, list[Any]] = {}
        for passage in corpus.passages():
            self._passages.setdefault(passage.document, []).append(passage)

    def of(self, question: Question) -> dict[str, Any]:
        """Plain data of a question."""
        places = places_of(question.quotes, self._documents, self._passages)
        return {
            "kind": question.kind,
            "question": cut(question.question or "(no question)", LONG_TEXT),
            "answer": None if question.answer is None else cut(question.answer, LONG_TEXT),
            "history": [(turn.role, words(turn.content)) for turn in question.history],
            "places": [
                {**place._asdict(), "document": one_line(place.document), "text": cut(place.text, LONG_TEXT)}
                for place in places
            ],
        }


def _dropped(test_set: QuestionSet) -> Iterator[_Candidate]:
    for each in test_set.dropped:
        reasons = tuple((reason.code, words(reason.sentence)) for reason in each.reasons)
        yield _Candidate(each.question, each.records, reasons, each.source)


def _rows(
    test_set: QuestionSet,
    candidates: Sequence[_Candidate],
    texts: _Texts,
    review: QuestionReview,
    runs: Mapping[str, Run],
) -> Iterator[dict[str, Any]]:
    """Plain data of each candidate without its proofs."""
    edited = {question.id: question for question in review.questions}
    for candidate in candidates:
        question, reasons = candidate.question, list(candidate.reasons)
        state, outcome = (
            "dropped" if reasons else "kept",
            None if reasons else review.outcomes.get(question.id),
        )
        shown, before = question, None
        decisions = review.decisions.get(question.id, ()) if not reasons else ()
        if outcome == "rejected":
            state = "rejected"
        elif outcome == "edited":
            shown = edited[question.id]
            before = cut(question.question, LONG_TEXT), question.answer and cut(question.answer, LONG_TEXT)
        checks = list(_checks(candidate, runs))
        yield {
            "id": question.id,
            "state": state,
            "outcome": outcome,
            "reasons": reasons,
            "labels": _labels(question),
            **texts.of(shown),
            "before": before,
            "decisions": [
                (one_line(made.annotator), made.decision, words(made.reason)) for made in decisions
            ],
            "checks": [
                {
                    "metric": number,
                    "status": record.status,
                    "value": record.value,
                    "look": _look(question, check, record),
                }
                for number, check, record in checks
            ],
            "commands": [
                f"{one_line(test_set.path.name)}/{check.stage} {record.sample_id}"
                for _, check, record in checks
            ],
            "chunk": -1,
        }


def _labels(question: Question) -> list[tuple[str, str]]:
    labels: dict[str, object] = dict(question.labels)
    labels |= {"style": question.style, "length": question.length, "language": question.language}
    if question.persona is not None:
        labels["persona"] = question.persona.name
    return [
        (one_line(name), _YES_OR_NO[value] if isinstance(value, bool) else one_line(value))
        for name, value in labels.items()
        if value is not None
    ]


def _checks(candidate: _Candidate, runs: Mapping[str, Run]) -> Iterator[tuple[int, _ShownCheck, Record]]:
    """The records of a candidate, with the numbers of their checks."""
    for number, check in enumerate(_CHECKS):
        run = runs.get(check.stage)
        is_written = check.stage == "written"
        sample_id = candidate.source if is_written else candidate.question.id
        # a repeated question shares the id of the first one, but was not checked
        is_own = is_written or check.key in candidate.records
        if run is None or not is_own or sample_id not in run.sample_ids:
            continue
        for record in run.scores(sample_id).values():
            if record.metric == check.metric:
                yield number, check, record


def _look(question: Question, check: _ShownCheck, record: Record) -> str:
    """Whether the check speaks for the question: "yes" or "no"; "none" if any value is good."""
    if record.value is None:
        return "open"
    wanted = _WANTED.get((question.kind or "", check.key), check.wanted)
    if wanted is None:
        return "none"
    return "yes" if record.value == wanted else "no"


def _packed(
    candidates: Sequence[_Candidate], rows: Sequence[dict[str, Any]], runs: Mapping[str, Run], room: int
) -> list[str]:
    """Proofs of the candidates as chunks, until the room is used up; sets the number of each row's chunk."""
    chunks: list[str] = []
    proofs: dict[int, Any] = {}
    size = used = 0
    for number, candidate in enumerate(candidates):
        proofs[number] = [
            _side(place, check, record, runs) for place, check, record in _checks(candidate, runs)
        ]
        size += len(as_json(proofs[number]))
        if size < _CHUNK and number + 1 < len(candidates):
            continue
        data = chunk(proofs)
        used += len(data)
        if used > room:
            break
        for position in proofs:
            rows[position]["chunk"] = len(chunks)
        chunks.append(data)
        proofs, size = {}, 0
    return chunks


def _side(number: int, check: _ShownCheck, record: Record, runs: Mapping[str, Run]) -> dict[str, Any]:
    """Proof of one check, in the form of a sample's proof in the report of a run."""
    run = runs[check.stage]
    messages: dict[str, int] = {}
    try:
        proof = ProofPage.of_record(run.with_messages(record))
    except RagMetricsError as error:
        proof = ProofPage.of_record(record, problem=str(error))
    return {
        **SamplePage.of_sample(run.sample(record.sample_id)).model_dump(),
        "item": None,
        "records": {number: proof.model_dump(context=messages)},
        "messages": [cut(text, LONG_STEP) for text in messages],
    }


def _overview(test_set: QuestionSet, corpus: Corpus, review: QuestionReview) -> dict[str, Any]:
    """Plain data of the first view."""
    summary, coverage = test_set.summary, coverage_of(test_set.questions, corpus)
    notices: list[str] = []
    if not summary.finished:
        notices.append("The generation is not finished: the same command resumes it.")
    elif not summary.is_complete:
        notices.append(
            f"{summary.kept} of {number_of(summary.asked, 'question')} asked for passed the checks."
        )
    if review.outdated:
        notices.append(
            f"{number_of(len(review.outdated), 'decision')} without effect: the question has changed or is "
            "not in the set."
        )
    rejected = len(test_set.checked) - len(test_set.questions)
    return {
        "name": one_line(test_set.path.resolve().name),
        "folder": one_line(test_set.path),
        "lead": f"{number_of(len(test_set.questions), 'question')} on "
        f"{number_of(len(corpus.documents), 'document')}; {len(test_set.dropped)} dropped by the checks, "
        f"{rejected} rejected by reviewers",
        "notices": notices,
        "metrics": [
            {
                "title": check.title,
                "answers": check.answers,
                "low": 0,
                "high": 1,
                "lower_is_better": check.wanted == 0,
            }
            for check in _CHECKS
        ],
        "cells": [
            {
                **cell.model_dump(include={"kind", "kept", "asked"}),
                "why_short": words(cell.why_short),
                "label": "all" if cell.label is None else one_line(f"{cell.label}: {cell.value}"),
                "filter": {"state": "kept", "kind": cell.kind}
                | (
                    {} if cell.label is None else {"label": f"{one_line(cell.label)}: {one_line(cell.value)}"}
                ),
            }
            for cell in summary.cells
        ],
        "reasons": [
            {"code": code, "sentence": CODES.get(code, code), "count": count}  # type: ignore[call-overload]
            for code, count in test_set.counts.items()
        ],
        "review": {"shares": [each._asdict() for each in shares_of(review)], "notes": review_notes(review)},
        "coverage": {
            "passages": coverage.passages,
            "covered": coverage.covered,
            "documents": [
                {**each._asdict(), "document": one_line(each.document)}
                for each in coverage.documents[:MOST_ROWS]
            ],
            "more_documents": max(0, len(coverage.documents) - MOST_ROWS),
            "uncovered": [
                {
                    "document": one_line(passage.document),
                    "start": passage.start,
                    "end": passage.end,
                    "text": cut(passage.text, 1_000),
                }
                for passage in coverage.uncovered[:MOST_ROWS]
            ],
            "more": max(0, len(coverage.uncovered) - MOST_ROWS),
        },
        "origin": [
            (name.replace("_", " "), one_line(_in_words(value), 500))
            for name, value in summary.settings.model_dump(mode="json").items()
            if value not in (None, False, "", [], {})
        ],
    }


def _in_words(value: Any) -> str:
    """A setting: its names with their values, its items, or the value."""
    if is_mapping(value):
        return ", ".join(f"{name}: {_in_words(each)}" for name, each in value.items())
    if is_series(value):
        return ", ".join(_in_words(each) for each in value)
    return "yes" if value is True else str(value)
