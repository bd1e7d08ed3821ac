"""Review of a test set in numbers: share of good questions, and coverage of the corpus."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from ragmetrics_core.questions._decisions import Outcome, QuestionReview
from ragmetrics_core.questions._documents import Corpus
from ragmetrics_core.questions._model import Passage, Question
from ragmetrics_core.questions._quotes import uncovered
from ragmetrics_core.study import Column, Estimate, StudyTable, TableColumn, plain_table, score_mean, table_of
from ragmetrics_core.texts.wording import number_of

__all__ = [
    "Coverage",
    "DocumentCoverage",
    "ReviewShare",
    "coverage_of",
    "coverage_tables",
    "review_notes",
    "review_tables",
    "shares_of",
]


class ReviewShare(NamedTuple):
    """Share of questions with an outcome.

    Attributes:
        outcome: the outcome, in words.
        share: the share with its interval.
        questions: number of questions with the outcome.
        n: number of questions that reviewers decided on without a conflict.
    """

    outcome: str
    share: Annotated[Estimate, Column("share (95% interval)")]
    questions: int
    n: int


class DocumentCoverage(NamedTuple):
    """Coverage of one document.

    Attributes:
        document: its id.
        questions: number of questions with a quote from it.
        passages: number of its passages.
        covered: number of these that a quote touches.
    """

    document: str
    questions: int
    passages: int
    covered: int

    @property
    def share(self) -> Annotated[float | None, Column("share covered", "number")]:
        """Share of the passages that a quote touches; None if there are none."""
        return self.covered / self.passages if self.passages else None


class Coverage(NamedTuple):
    """Coverage of a corpus by questions.

    Attributes:
        documents: coverage of each document, in the order of the corpus.
        uncovered: passages that no quote touches, longest first.
    """

    documents: tuple[DocumentCoverage, ...]
    uncovered: tuple[Passage, ...]

    @property
    def passages(self) -> int:
        """Number of passages of the corpus."""
        return sum(each.passages for each in self.documents)

    @property
    def covered(self) -> int:
        """Number of passages that a quote touches."""
        return sum(each.covered for each in self.documents)


def coverage_of(questions: Sequence[Question], corpus: Corpus) -> Coverage:
    """The passages of the corpus that the quotes of the questions touch."""
    untouched = uncovered(questions, corpus)
    passages = Counter(passage.document for passage in corpus.passages())
    left = Counter(passage.document for passage in untouched)
    asked = Counter(name for each in questions for name in {quote.document for quote in each.quotes})
    rows = [
        DocumentCoverage(name, asked[name], passages[name], passages[name] - left[name])
        for name in corpus.documents
    ]
    return Coverage(tuple(rows), untouched)


def coverage_tables(coverage: Coverage) -> tuple[StudyTable, StudyTable]:
    """Tables of the documents, the least covered first, and of the passages that no question covers."""
    note = f"{coverage.covered} of {number_of(coverage.passages, 'passage')} have a quote of a question"
    rows = sorted(coverage.documents, key=lambda row: row.share or 0.0)
    columns = "document questions passages covered share"
    documents = table_of("documents", "Coverage by document", DocumentCoverage, rows, columns, [note])
    texts = [
        (passage.document, passage.start, passage.end, " ".join(passage.text.split()))
        for passage in coverage.uncovered
    ]
    heads = "document", TableColumn("start", "count"), TableColumn("end", "count"), "text"
    return documents, plain_table("uncovered", "Passages that no question covers", heads, texts)


def shares_of(review: QuestionReview) -> tuple[ReviewShare, ...]:
    """Share of questions that reviewers accepted as written, and share that they accepted or edited."""
    decided = _decided(review)
    outcomes = [review.outcomes[question.id] for question in decided]
    return (
        _share("accepted as written", [each == "accepted" for each in outcomes], decided),
        _share("accepted or edited", [each != "rejected" for each in outcomes], decided),
    )


def review_notes(review: QuestionReview) -> tuple[str, ...]:
    """Remarks on the shares: their basis, and what they leave out."""
    decided = _decided(review)
    notes = [
        f"{len(review.decisions)} of {number_of(len(review.original), 'question')} have a decision; the "
        "shares hold for all questions if these were drawn at random, as on a sheet"
    ]
    if disputed := sum(outcome == "disputed" for outcome in review.outcomes.values()):
        notes.append(f"{number_of(disputed, 'question')} left out, because annotators differ")
    if len(decided) > 1 and score_mean([1.0] * len(decided), _clusters(decided)).low is None:
        notes.append(
            "the questions are on too few documents for intervals by document: these treat questions as "
            "independent, and may be too narrow"
        )
    if review.outdated:
        notes.append(
            f"{number_of(len(review.outdated), 'decision')} without effect: the question has changed or is "
            "not in the set"
        )
    return tuple(notes)


def _decided(review: QuestionReview) -> tuple[Question, ...]:
    """The questions that annotators decided on without a conflict."""
    return tuple(each for each in review.original if review.outcomes.get(each.id, "disputed") != "disputed")


def review_tables(review: QuestionReview) -> tuple[StudyTable, ...]:
    """Tables of a review: share of good questions, disputed questions, and rejected ones."""
    columns = "outcome share questions n"
    shares = table_of(
        "shares", "Share of good questions", ReviewShare, shares_of(review), columns, review_notes(review)
    )
    return (
        shares,
        *_decision_table("disputed", "Questions on which annotators differ", review),
        *_decision_table("rejected", "Rejected questions", review),
    )


def _decision_table(outcome: Outcome, title: str, review: QuestionReview) -> Sequence[StudyTable]:
    texts = {question.id: question.question for question in review.original}
    rows = [
        (question_id, made.annotator, made.decision, made.question or texts[question_id], made.reason)
        for question_id, each in review.decisions.items()
        if review.outcomes[question_id] == outcome
        for made in each
    ]
    columns = "id", "annotator", "decision", "question", "reason"
    return [plain_table(outcome, title, columns, rows)] if rows else []


def _share(outcome: str, flags: Sequence[bool], questions: Sequence[Question]) -> ReviewShare:
    """A share with its interval: by document, or by question if there are too few documents."""
    share = score_mean(flags, _clusters(questions))
    if share.low is None:
        share = score_mean(flags)
    return ReviewShare(outcome, share, sum(flags), len(flags))


def _clusters(questions: Sequence[Question]) -> list[str]:
    """Cluster of each question: its documents, and all that are linked to them by a question."""
    leader: dict[str, str] = {}

    def leader_of(document: str) -> str:
        while leader.setdefault(document, document) != document:
            document = leader[document]
        return document

    documents = [[f"document {quote.document}" for quote in each.quotes] for each in questions]
    for names in documents:
        for name in names[1:]:
            leader[leader_of(name)] = leader_of(names[0])
    return [
        leader_of(names[0]) if names else f"question {question.id}"
        for names, question in zip(documents, questions, strict=True)
    ]
