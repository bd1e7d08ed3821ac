"""What moved a mean: samples, then statements and verdicts."""

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.study import trace_difference, trace_tables
from tests.study.judging import judge

SAMPLES = [
    {"id": f"s{number}", "question": "?", "contexts": ["c"], "answer": f"{number}"} for number in range(1, 5)
]


def run(verdicts):
    """A run in which the sample s2 has these verdicts on its statements, and the others have "yes yes"."""

    def verdict(item, request):
        return "of 2" not in str(request.variables["items"][0]) or verdicts[item.number - 1] == "yes"

    by = judge(lambda answer: [f"first of {answer}", f"second of {answer}"], verdict)
    return evaluate(SAMPLES, metrics="faithfulness", judge=by)


def test_the_move_of_the_mean_is_told_by_samples_and_then_by_verdicts():
    found = trace_difference(run(("yes", "yes")), run(("yes", "no")), "faithfulness/strict.1")
    (moved,) = found.moved
    assert (moved.sample_id, moved.before, moved.after) == ("s2", 1.0, 0.5)
    # one of four samples fell by a half
    assert found.move == pytest.approx(-0.125)
    assert moved.share == pytest.approx(-0.125)
    assert found.changes == (("verdict turned to no", 1),)
    tables = {table.name: table for table in trace_tables(found)}
    assert tables["statements"].rows == (
        ("s2", "verdict changed", "~ supported → not supported: second of 2"),
    )


def test_equal_runs_have_nothing_that_moved():
    found = trace_difference(run(("yes", "no")), run(("yes", "no")), "faithfulness/strict.1")
    assert (found.moved, found.move, found.n) == ((), 0.0, 4)


def test_only_the_samples_that_moved_most_are_followed():
    found = trace_difference(run(("yes", "yes")), run(("no", "no")), "faithfulness/strict.1", detailed=0)
    assert [each.difference for each in found.moved] == [None]


def test_where_lower_is_better_a_sample_that_rose_is_marked_as_worse():
    def made(word):
        by = judge(lambda answer: [answer], lambda _, __: word == "yes")
        sample = {**SAMPLES[0], "reference": "r"}
        return evaluate([sample], metrics="hallucination", judge=by)

    true, made_up = made("yes"), made("no")
    rose = next(trace_tables(trace_difference(true, made_up, "hallucination/strict.1")))
    fell = next(trace_tables(trace_difference(made_up, true, "hallucination/strict.1")))
    # the one statement is in neither reference nor chunk: from 0 of 1 to 1 of 1
    assert rose.rows[0][-1] == (1.0, "weak")
    assert fell.rows[0][-1] == (-1.0, "good")
