"""Filters of a test set: reasons to drop a question, as pure functions of texts and records."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict

from ragmetrics_core.questions._model import Passage, Question
from ragmetrics_core.records import Record
from ragmetrics_core.samples import words_in
from ragmetrics_core.texts.wording import quoted

__all__ = [
    "CODES",
    "MULTI_HOP",
    "Candidate",
    "Code",
    "Reason",
    "Records",
    "are_near_duplicates",
    "of_first_hit",
    "of_other_passages",
    "of_quotes",
    "of_texts",
    "overlap",
]

Code: TypeAlias = Literal[
    "not_a_question",
    "could_not_be_written",
    "no_quotes",
    "quote_not_found",
    "one_passage_only",
    "near_duplicate",
    "not_answered_by_quotes",
    "refers_to_passage",
    "several_questions",
    "answered_without_quotes",
    "answered_by_documents",
    "first_hit_alone",
    "could_not_be_checked",
]

CODES: Mapping[Code, str] = {
    "not_a_question": "the row is not a question",
    "could_not_be_written": "the judge wrote no question",
    "no_quotes": "it has no quote",
    "quote_not_found": "a quote is not in the documents word for word",
    "one_passage_only": "its quotes come from one passage, and it should need two",
    "near_duplicate": "it nearly repeats another question",
    "not_answered_by_quotes": "its quotes do not answer it, or do not support its answer",
    "refers_to_passage": "it cannot be understood without its passage",
    "several_questions": "it asks several things",
    "answered_without_quotes": "the best other passage answers it",
    "answered_by_documents": "the documents answer it, and it should be unanswerable",
    "first_hit_alone": "the first hit of BM25 answers it, and enough questions are like that",
    "could_not_be_checked": "a check has no result",
}
"""Reasons to drop a question, in the order of the filters."""

MULTI_HOP = frozenset({"multi_hop_specific", "multi_hop_abstract"})
"""Kinds that need two passages."""

# Questions with this share of their words in common ask the same thing, if their answers do not differ.
_SAME_WORDS = 0.8
# With quotes in the same place, this share is enough.
_SAME_PLACE = 0.5
_SAME_ANSWER = 0.5

# The code for each criterion of `question_quality` that a question does not meet.
_CRITERIA: Mapping[str, Code] = {"understandable": "refers_to_passage", "one question": "several_questions"}

Records: TypeAlias = Mapping[str, Record]
"""The records of one stage for one question, by the metric's name."""


class Reason(BaseModel):
    """Reason to drop a question.

    Attributes:
        code: one of `CODES`.
        sentence: the reason in words, with its numbers and names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    code: Code
    sentence: str


class Candidate(NamedTuple):
    """A question before its checks.

    Attributes:
        question: the question with the quotes that were found.
        source: id of the writing task or row that it comes from.
        not_found: quotes that are not in the documents.
        passages: passages that it was written for; empty if unknown.
        fault: why there is no question to check; "" if there is one.
        records: digest of the record that it was written in, by stage and metric; empty if there is none.
    """

    question: Question
    source: str = ""
    not_found: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    fault: str = ""
    records: Mapping[str, str] = {}


def of_texts(candidate: Candidate) -> tuple[Reason, ...]:
    """Reasons that need no model: nothing was written, or its quotes prove nothing."""
    question = candidate.question
    if candidate.fault:
        return (Reason(code="could_not_be_written", sentence=candidate.fault),)
    if not question.question.strip():
        return (Reason(code="could_not_be_written", sentence="the question is blank"),)
    if not (question.answer or "").strip() and question.kind != "unanswerable":
        return (Reason(code="could_not_be_written", sentence="it has no answer"),)
    if candidate.not_found:
        listed = ", ".join(quoted(_shortened(each)) for each in candidate.not_found)
        return (Reason(code="quote_not_found", sentence=f"the documents do not contain {listed}"),)
    if not question.quotes:
        return (_reason("no_quotes"),)
    if question.kind in MULTI_HOP and len(candidate.passages) > 1:
        quoting = [
            any(overlap(passage, quote) for quote in question.quotes) for passage in candidate.passages
        ]
        if not all(quoting):
            return (_reason("one_passage_only"),)
    return ()


def of_quotes(question: Question, records: Records) -> tuple[Reason, ...]:
    """Reasons from the checks of a question on its quotes."""
    return tuple(_of_quotes(question, records))


def of_other_passages(question: Question, records: Records) -> tuple[Reason, ...]:
    """Reasons from the check with the best passages that contain no quote."""
    value, reasons = _value(records, "sufficiency")
    if value == 1 and question.kind == "unanswerable":
        return (Reason(code="answered_by_documents", sentence="another passage answers it"),)
    return (_reason("answered_without_quotes"),) if value == 1 else reasons


def of_first_hit(records: Records) -> bool | tuple[Reason, ...]:
    """Whether the first hit of BM25 alone answers the question, or reasons that it is unknown."""
    value, reasons = _value(records, "sufficiency")
    return reasons or value == 1


def are_near_duplicates(one: Question, other: Question) -> bool:
    """Whether two questions ask the same thing in nearly the same words.

    Words are compared without case and order. Questions with the same words are duplicates. Others are
    duplicates if they share 80 % of their words (of all words in either question), or 50 % if their quotes
    overlap, and their answers share 50 %. So the same question about another name or year is not a duplicate.
    """
    shared = _shared_words(_asked(one), _asked(other))
    if shared == 1:
        return True
    if _shared_words(one.answer or "", other.answer or "") < _SAME_ANSWER:
        return False
    places = any(overlap(mine, its) for mine in one.quotes for its in other.quotes)
    return shared >= (_SAME_PLACE if places else _SAME_WORDS)


def overlap(one: Passage, other: Passage) -> bool:
    """Whether two stretches share a character of a document."""
    return one.document == other.document and one.start < other.end and other.start < one.end


def _of_quotes(question: Question, records: Records) -> Iterator[Reason]:
    if question.kind == "unanswerable":
        value, reasons = _value(records, "sufficiency")
        yield from reasons
        if value == 1:
            yield _reason("answered_by_documents")
    elif question.kind == "wrong_premise":
        yield from _unfaithful(records)
    else:
        value, reasons = _value(records, "sufficiency")
        yield from reasons
        if value == 0:
            yield Reason(code="not_answered_by_quotes", sentence="its quotes do not answer it")
        yield from _unfaithful(records)
    yield from _unclear(records)


def _unfaithful(records: Records) -> Iterator[Reason]:
    """The reason that the quotes do not support each statement of the answer."""
    record = records["faithfulness"]
    most = record.value if record.bounds is None else record.bounds[1]
    if most is not None and most < 1:
        yield Reason(
            code="not_answered_by_quotes",
            sentence=f"its quotes do not support its answer ({record.headline})",
        )
    elif record.value is None:
        yield _unchecked(record)


def _unclear(records: Records) -> Iterator[Reason]:
    """Reasons from the criteria of a good question: verdicts of `question_quality`, if it was measured."""
    record = records.get("question_quality")
    if record is None:
        return
    failed = [each for each in record.verdicts if each.supported is False and each.text in _CRITERIA]
    for criterion in failed:
        code = _CRITERIA[criterion.text]
        why = f": {criterion.reason}" if criterion.reason else ""
        yield Reason(code=code, sentence=f"{CODES[code]}{why}")
    if record.value is None and not failed:
        yield _unchecked(record)


def _value(records: Records, metric: str) -> tuple[float | None, tuple[Reason, ...]]:
    """Value of a metric, or the reason that it has none."""
    record = records[metric]
    return record.value, () if record.value is not None else (_unchecked(record),)


def _unchecked(record: Record) -> Reason:
    why = f" ({record.reason})" if record.reason else ""
    return Reason(code="could_not_be_checked", sentence=f"{record.metric} has no value: {record.status}{why}")


def _reason(code: Code) -> Reason:
    return Reason(code=code, sentence=CODES[code])


def _asked(question: Question) -> str:
    """The words of a question, with those of the conversation before it."""
    return "\n".join([*(turn.content for turn in question.history), question.question])


def _shared_words(one: str, other: str) -> float:
    """Jaccard's index of the words of two texts, with repetitions; 1 if neither has words."""
    mine, its = Counter(words_in(one)), Counter(words_in(other))
    either = (mine | its).total()
    return (mine & its).total() / either if either else 1.0


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
