"""What a run gives back: rows, labels, vectors, and what it says of a name that it does not have."""

import pytest

from ragmetrics_core import Run, Sample, evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Faithfulness
from tests.runs.capital import SAMPLE, many, scripted


def test_rows_say_what_the_records_say_and_open_none(tmp_path):
    rows = [SAMPLE, {**SAMPLE, "id": "q2", "labels": {"abstained": "no label of ours"}}]
    evaluate(rows, metrics=["faithfulness", "faithfulness/ragas-0.4"], judge=scripted(), out=tmp_path / "run")
    run = Run.load(tmp_path / "run")
    records = [run.scores(sample_id) for sample_id in run.sample_ids]
    (tmp_path / "run" / "records.jsonl").unlink()

    told = run.to_rows()

    assert [row["sample"] for row in told] == ["q1", "q2"]
    for row, scores in zip(told, records, strict=True):
        assert {name: row[name] for name in scores} == {name: each.value for name, each in scores.items()}
        assert {row[f"{name}_status"] for name in scores} == {"ok"}
        assert (row["abstained"], row["diagnosis"]) == (False, "")
    assert told[1]["label_abstained"] == "no label of ours"


def test_rows_become_a_data_frame():
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = evaluate(many(3), metrics="faithfulness", judge=scripted()).to_pandas()
    assert list(frame["faithfulness"]) == [1.0, 1.0, 1.0]


def test_a_printed_run_shows_its_means_and_what_was_left_out():
    run = evaluate(
        [*many(3), {"question": "Q?", "answer": "A.", "contexts": [["C."]]}],
        metrics="faithfulness",
        judge=scripted(),
    )
    size, mean, left_out = str(run).splitlines()
    assert (size, mean) == ("3 samples", f"faithfulness/strict.1: {run.mean('faithfulness')}")
    assert left_out.startswith("1 row was left out: row 4: ")
    assert repr(run) == "<Run in memory>"


def test_an_unknown_sample_is_answered_with_near_ids():
    run = evaluate(
        [Sample(id="tc-01", question="Q", answer="A", contexts=("C",))],
        metrics="faithfulness",
        judge=scripted(),
    )
    with pytest.raises(ConfigError, match="the run has no sample 'tc-1'; there is tc-01"):
        run.score("tc-1", "faithfulness")


def test_a_metric_that_is_not_in_the_run_is_answered_with_those_that_are():
    run = evaluate([SAMPLE], metrics="faithfulness", judge=scripted())
    with pytest.raises(ConfigError, match="the run has no metric 'context_recall'"):
        run.mean("context_recall")


def test_a_bare_name_must_be_unique_in_the_run():
    run = evaluate([SAMPLE], metrics=[Faithfulness(), Faithfulness(granularity="sentence")], judge=scripted())
    with pytest.raises(ConfigError, match="several metrics 'faithfulness': use one of"):
        run.mean("faithfulness")
    assert run.mean("faithfulness/strict.1(granularity=sentence)").n == 1
