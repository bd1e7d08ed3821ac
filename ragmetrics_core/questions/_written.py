"""The questions that a judge wrote, read from records of `question_writing`."""

from ragmetrics_core.parsers import WrittenQuestion, WrittenQuestions
from ragmetrics_core.records import Record

__all__ = ["written_in"]


def written_in(record: Record) -> tuple[WrittenQuestion, ...]:
    """The questions in a record of `question_writing`, in the order of its verdicts.

    Each quote is as its passage has it. The record's verdict on a question says whether all were found, and
    where. Empty if the judge wrote none, or its reply could not be read.
    """
    values = [step.value for step in record.generate_steps if step.value is not None]
    if record.metric != "question_writing" or not values:
        return ()
    return WrittenQuestions.checked(values[-1]).questions
