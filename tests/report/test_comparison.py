"""What the report says of two runs is what the study says of them."""

import json

import pytest

from ragmetrics_core import Run, evaluate, write_report
from ragmetrics_core.records.comparison import diff
from ragmetrics_core.report.terminal import difference_page
from ragmetrics_core.report.terminal._text import GOOD, WEAK
from ragmetrics_core.study import compare_runs, read_scores
from ragmetrics_core.testing import ScriptedJudge
from tests.report.conftest import data_of


@pytest.fixture
def told(tmp_path):
    """What the first page of a report on runs says, and its table."""

    def read(run: Run, other: Run | None = None) -> tuple[dict, dict]:
        data = data_of(write_report(run, tmp_path / "report.html", other=other))
        return data["overview"], data["table"]

    return read


def test_differences_and_verdicts_are_those_of_study_compare(told, telecom, changed):
    shown = told(telecom, changed)[0]["differences"]

    # the page says which samples only one run has, and compares those that both have
    found = compare_runs(read_scores(telecom).only(changed.sample_ids), read_scores(changed)).metrics
    assert [(each["mean"], each["interval"], each["holm"], each["verdict"]) for each in shown] == [
        (each.difference.value, list(each.difference[1:]), each.holm, each.verdict) for each in found
    ]


def test_the_samples_that_moved_are_counted(told, telecom, changed):
    first = told(telecom, changed)[0]["differences"][1]

    before, after = (read_scores(run).values["factual_correctness/strict.1"] for run in (telecom, changed))
    moves = [after[each] - before[each] for each in before if each in after]
    assert (first["up"], first["down"]) == (sum(m > 0 for m in moves), sum(m < 0 for m in moves))
    assert first["up"] > 0


def test_runs_whose_ids_are_other_questions_are_not_compared(told, tmp_path):
    def run(question: str) -> Run:
        sample = {"id": "a", "question": question, "answer": "Yes.", "contexts": ["Yes."]}
        return evaluate([sample], metrics=["faithfulness"], judge="embedded", out=tmp_path / question[:-1])

    shown, _ = told(run("Why?"), run("Who?"))
    assert shown["differences"] == [None]
    assert "have other questions in second than in first" in shown["not_compared"]


def test_other_variants_stand_side_by_side_without_a_verdict(told, telecom, tmp_path):
    sample = telecom.sample("tc-49")
    other = evaluate([sample], metrics=["faithfulness/paper"], judge="embedded", out=tmp_path / "paper")

    assert told(telecom, other)[0]["differences"][0] is None


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


def test_where_lower_is_better_what_is_high_or_rose_is_listed_first(told, noise):
    # s1's only statement is neither in the reference nor in a chunk: 1 of 1, the worst end of the range;
    # before it was 0, so that it is worse by 1, while s0 stayed
    for runs in ((noise[1],), noise):
        table = told(*runs)[1]
        assert (table["ids"], table["metrics"][0][-1]["values"]) == (["s1", "s0"], [1.0, 0.0])


def test_where_lower_is_better_a_rise_is_shown_as_bad_in_the_terminal(noise):
    true, made_up = (run.score("s1", "hallucination") for run in noise)
    (entry,) = noise[0].metrics
    rise, fall = (
        next(iter(difference_page(diff(*pair), entry))) for pair in ((true, made_up), (made_up, true))
    )
    assert rise.plain.endswith("+1.000")
    assert [str(title.spans[-1].style) for title in (rise, fall)] == [f"bold {WEAK}", f"bold {GOOD}"]
