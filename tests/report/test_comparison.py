"""What the report says of two runs is what the study says of them."""

import json

import pytest

from ragmetrics_core import Run, evaluate
from ragmetrics_core.records._comparison import diff
from ragmetrics_core.report._html.columns import columns
from ragmetrics_core.report._html.overview import overview
from ragmetrics_core.report._html.rows import outcomes_of, table_rows
from ragmetrics_core.report._terminal import difference_page
from ragmetrics_core.report._terminal.text import GOOD, WEAK
from ragmetrics_core.study import compare_runs, read_scores
from ragmetrics_core.testing import ScriptedJudge


def told(*runs: Run) -> dict:
    beside, outcomes = columns(runs), outcomes_of(runs)
    return overview(runs, beside, outcomes, table_rows(runs, beside, outcomes))


def test_differences_and_verdicts_are_those_of_study_compare(telecom, changed):
    shown = told(telecom, changed)["differences"]

    # the page says which samples only one run has, and compares those that both have
    found = compare_runs(read_scores(telecom).only(changed.sample_ids), read_scores(changed)).metrics
    assert [(each["mean"], each["interval"], each["holm"], each["verdict"]) for each in shown] == [
        (each.difference.value, list(each.difference[1:]), each.holm, each.verdict) for each in found
    ]


def test_the_samples_that_moved_are_counted(telecom, changed):
    first = told(telecom, changed)["differences"][1]

    before, after = (read_scores(run).values["factual_correctness/strict.1"] for run in (telecom, changed))
    moves = [after[each] - before[each] for each in before if each in after]
    assert (first["up"], first["down"]) == (sum(m > 0 for m in moves), sum(m < 0 for m in moves))
    assert first["up"] > 0


def test_runs_whose_ids_are_other_questions_are_not_compared(tmp_path):
    def run(question: str) -> Run:
        sample = {"id": "a", "question": question, "answer": "Yes.", "contexts": ["Yes."]}
        return evaluate([sample], metrics=["faithfulness"], judge="embedded", out=tmp_path / question[:-1])

    shown = told(run("Why?"), run("Who?"))
    assert shown["differences"] == [None]
    assert "have other questions in second than in first" in shown["not_compared"]


def test_other_variants_stand_side_by_side_without_a_verdict(telecom, tmp_path):
    sample = telecom.sample("tc-34")
    other = evaluate([sample], metrics=["faithfulness/paper"], judge="embedded", out=tmp_path / "paper")

    assert told(telecom, other)["differences"][0] is None


@pytest.fixture
def noise(tmp_path):
    """Two runs of hallucination, where lower is better: none of two answers is made up, then one of them."""

    def reply(request):
        if request.prompt.name == "statements":
            return {"statements": ["It was in Paris."], "declined": False}
        verdict = "no" if "made up" in json.dumps(request.variables, default=str) else "yes"
        return {"verdicts": [{"number": 1, "verdict": verdict, "reason": "", "evidence": ""}]}

    def run(name: str, *answers: str) -> Run:
        samples = [
            {"id": f"s{n}", "question": "Where?", "answer": a, "contexts": [a], "reference": a}
            for n, a in enumerate(answers)
        ]
        return evaluate(samples, metrics=["hallucination"], judge=ScriptedJudge(reply), out=tmp_path / name)

    return run("before", "Paris", "Paris"), run("after", "Paris", "made up")


def test_where_lower_is_better_the_highest_score_is_listed_first(noise):
    after = noise[1]
    beside, outcomes = columns([after]), outcomes_of([after])
    rows = table_rows([after], beside, outcomes)

    # s1's only statement is neither in the reference nor in a chunk: 1 of 1, the worst end of the range
    assert [(row.sample_id, row.place) for row in rows] == [("s1", 0.0), ("s0", 1.0)]


def test_where_lower_is_better_a_rise_is_what_got_worse(noise):
    beside, outcomes = columns(noise), outcomes_of(noise)
    rows = table_rows(noise, beside, outcomes)

    # s1 rose from 0 to 1: worse by 1; s0 stayed
    assert [(row.sample_id, row.moved) for row in rows] == [("s1", -1.0), ("s0", 0.0)]


def test_where_lower_is_better_a_rise_is_shown_as_bad_in_the_terminal(noise):
    true, made_up = (run.score("s1", "hallucination") for run in noise)
    worst, best = 1.0, 0.0
    rise, fall = (
        next(iter(difference_page(diff(*pair), low=worst, high=best)))
        for pair in ((true, made_up), (made_up, true))
    )
    assert rise.plain.endswith("+1.000")
    assert [str(title.spans[-1].style) for title in (rise, fall)] == [f"bold {WEAK}", f"bold {GOOD}"]
