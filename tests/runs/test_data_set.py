"""A run is the data set of its newest call: what was changed, removed or rejected before does not count."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.workload import LocalJudge
from ragmetrics_core import Run, evaluate
from ragmetrics_core.errors import RecordError, SampleError
from ragmetrics_core.runs import export_wave, import_replies, merge, plan
from ragmetrics_core.samples import Sample

GOOD = [
    {
        "id": f"q{number}",
        "question": f"What colour is house {number}?",
        "answer": f"House {number} is green.",
        "contexts": [f"House {number} is green."],
        "system": "a",
    }
    for number in range(20)
]
WRONG = [{**row, "answer": "The moon is made of cheese."} for row in GOOD]


def without_ids(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "id"} for row in rows]


def measured(rows: Any, out: Path, **settings: Any) -> Run:
    run = evaluate(rows, metrics="faithfulness", judge="embedded", out=out, **settings)
    again = Run.load(out)
    for opened in (run, again):
        assert not list(opened.audit())
        opened.refuse_altered()
    assert str(again) == str(run)
    return again


def mean_and_n(run: Run) -> tuple[float | None, int]:
    mean = run.mean("faithfulness")
    assert mean.total == len(run) == len(list(run.samples())) == len(run.to_rows())
    return mean.value, mean.n


@pytest.mark.parametrize("rows", [lambda rows: rows, without_ids], ids=["ids", "no ids"])
def test_changed_answers_are_measured_and_the_old_scores_do_not_count(rows, tmp_path):
    assert mean_and_n(measured(rows(GOOD), tmp_path / "run")) == (1.0, 20)
    assert mean_and_n(measured(rows(WRONG), tmp_path / "run")) == (0.0, 20)
    assert mean_and_n(measured(rows([*GOOD[:10], *WRONG[10:]]), tmp_path / "run")) == (0.5, 20)


def test_answers_may_change_back_and_forth(tmp_path):
    for rows, value in [(GOOD, 1.0), (WRONG, 0.0)] * 3:
        assert mean_and_n(measured(rows[:3], tmp_path / "run")) == (value, 3)
    (earlier,) = Run.load(tmp_path / "run").history("q0")
    assert earlier.value == 1.0


def test_a_sample_that_is_no_longer_given_does_not_count_and_comes_back_without_a_call(tmp_path):
    judge = LocalJudge(keep=True)
    settings: dict[str, Any] = {"metrics": "faithfulness", "judge": judge, "out": tmp_path / "run"}
    evaluate(GOOD, **settings)
    asked = len(judge.asked)
    assert list(evaluate(GOOD[:5], **settings).sample_ids) == [f"q{number}" for number in range(5)]
    assert len(evaluate(GOOD, **settings)) == 20
    assert len(judge.asked) == asked


def test_add_extends_the_data_set_and_replaces_a_changed_sample(tmp_path):
    measured(GOOD[:4], tmp_path / "run")
    assert mean_and_n(measured(GOOD[4:6], tmp_path / "run", add=True)) == (1.0, 6)
    # of 7 samples, the changed one and the new wrong one are 0: 5 / 7
    run = measured([WRONG[0], WRONG[6]], tmp_path / "run", add=True)
    assert mean_and_n(run) == (pytest.approx(5 / 7), 7)
    assert mean_and_n(measured(GOOD[:4], tmp_path / "run")) == (1.0, 4)


def test_earlier_scores_are_history(tmp_path):
    measured(GOOD, tmp_path / "run")
    run = measured(WRONG[:3], tmp_path / "run")
    (earlier,) = run.history("q0")
    assert (earlier.value, earlier.sample.answer) == (1.0, "House 0 is green.")
    (removed,) = run.history("q7")
    assert removed.value == 1.0
    assert "q7" not in run.sample_ids
    assert measured(GOOD, tmp_path / "run").history("q7") == []


def test_the_labels_of_the_newest_call_count_and_nothing_is_asked_for_them(tmp_path):
    measured(GOOD, tmp_path / "run")
    run = measured([{**row, "system": "b"} for row in GOOD], tmp_path / "run")
    assert {sample.labels["system"] for sample in run.samples()} == {"b"}
    assert run.tally["calls"] == 40


def test_rows_that_were_rejected_belong_to_their_call(tmp_path):
    assert len(measured([*GOOD, {"note": "no sample"}], tmp_path / "run").rejected) == 1
    assert measured(GOOD, tmp_path / "run").rejected == []
    with pytest.raises(SampleError, match="none of the rows"):
        measured([{"note": "no sample"}], tmp_path / "run")
    assert mean_and_n(measured(GOOD, tmp_path / "run")) == (1.0, 20)
    assert len(measured([GOOD[0], {"note": "no sample"}], tmp_path / "run", add=True).rejected) == 1


def test_two_systems_that_answer_alike_are_two_rows_for_each_question(tmp_path):
    # ten questions; eight are answered alike, and system b is wrong on the other two
    rows = without_ids(GOOD[:10]) + [{**row, "system": "b"} for row in without_ids([*GOOD[:8], *WRONG[8:10]])]
    run = measured(rows, tmp_path / "run")
    scores = {"a": [], "b": []}
    for row in run.to_rows():
        scores[row["system"]].append(row["faithfulness"])
    assert {system: (sum(values) / len(values), len(values)) for system, values in scores.items()} == {
        "a": (1.0, 10),
        "b": (0.8, 10),
    }
    assert len(measured([*rows, rows[0]], tmp_path / "run")) == 21


def test_the_manifest_says_which_data_set_it_is(tmp_path):
    first = measured(GOOD, tmp_path / "a").manifest.contents["dataset.jsonl"]
    assert first.count == 20
    reordered = measured(GOOD[::-1], tmp_path / "b").manifest.contents["dataset.jsonl"]
    assert reordered == first
    assert measured(WRONG, tmp_path / "a").manifest.contents["dataset.jsonl"] != first


def test_whoever_edits_or_removes_the_data_set_is_found_out(tmp_path):
    measured([*GOOD[:10], *WRONG[10:]], tmp_path / "run")
    file = tmp_path / "run" / "dataset.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:10]), encoding="utf-8")
    with pytest.raises(RecordError, match=r"dataset\.jsonl .* was changed"):
        Run.load(tmp_path / "run").refuse_altered()
    assert any(key.sample_id == "dataset.jsonl" for key, _ in Run.load(tmp_path / "run").audit())
    file.unlink()
    with pytest.raises(RecordError, match=r"dataset\.jsonl .* was changed"):
        Run.load(tmp_path / "run").refuse_altered()


def test_a_record_of_a_content_that_was_never_given_is_found_by_the_audit(tmp_path):
    measured(GOOD[:2], tmp_path / "run")
    samples = tmp_path / "run" / "samples.jsonl"
    samples.write_text(samples.read_text(encoding="utf-8").replace("green", "black"), encoding="utf-8")
    run = Run.load(tmp_path / "run")
    assert list(run.audit())
    with pytest.raises(RecordError):
        run.refuse_altered()


def test_a_plan_counts_what_changed(tmp_path):
    measured(GOOD, tmp_path / "run")
    arguments: dict[str, Any] = {"metrics": "faithfulness", "judge": "embedded", "out": tmp_path / "run"}
    assert plan(GOOD, **arguments).samples == 0
    assert plan([*WRONG[:3], *GOOD[3:]], **arguments).samples == 3


def test_runs_are_merged_as_their_newest_calls_left_them(tmp_path):
    measured(GOOD, tmp_path / "a")
    measured(WRONG[:5], tmp_path / "a")
    measured(GOOD[5:10], tmp_path / "b")
    both = merge(tmp_path / "a", tmp_path / "b", out=tmp_path / "both")
    assert mean_and_n(both) == (0.5, 10)
    assert not list(both.audit())
    assert mean_and_n(measured(GOOD[:10], tmp_path / "both")) == (1.0, 10)


def test_a_wave_asks_for_changed_samples_alone(tmp_path):
    out, requests, replies = tmp_path / "run", tmp_path / "requests.jsonl", tmp_path / "replies.jsonl"

    def wave(rows: list[dict[str, Any]]) -> Run:
        while True:
            exported = export_wave(rows, requests, metrics="faithfulness", judge="openai:some", out=out)
            if not exported.waiting:
                return exported.run
            lines = map(json.loads, requests.read_text(encoding="utf-8").splitlines())
            replies.write_text("\n".join(map(reply, lines)), encoding="utf-8")
            import_replies(out, replies)

    def reply(request: dict[str, Any]) -> str:
        asked = request["body"]["messages"][-1]["content"]
        said: dict[str, Any] = {"statements": re.findall(r"\[sentence 1\] (.*)", asked)}
        if "<items>" in asked:
            said = {"verdicts": [{"number": 1, "verdict": "yes"}]}
        return json.dumps({"custom_id": request["custom_id"], "reply": json.dumps(said)})

    assert len(wave(GOOD[:4])) == 4
    export_wave([*WRONG[:1], *GOOD[1:3]], requests, metrics="faithfulness", judge="openai:some", out=out)
    assert len(requests.read_text(encoding="utf-8").splitlines()) == 1
    run = wave([*WRONG[:1], *GOOD[1:3]])
    assert list(run.sample_ids) == ["q0", "q1", "q2"]
    assert not list(run.audit())


SCRIPT = """
import csv, json, re, sys, time
from ragmetrics_core import evaluate

def judge(prompt):
    time.sleep(0.02)
    if "<items>" in prompt:
        return '{"verdicts": [{"number": 1, "verdict": "yes"}]}'
    return json.dumps({"statements": re.findall(r"\\[sentence 1\\] (.*)", prompt)})

evaluate(sys.argv[1], metrics="faithfulness", judge=judge, out=sys.argv[2], concurrency=2)
"""


def test_a_run_with_changed_data_that_was_killed_goes_on(tmp_path):
    def write(rows: list[dict[str, Any]]) -> None:
        with (tmp_path / "data.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ["id", "question", "answer", "contexts"], extrasaction="ignore")
            writer.writeheader()
            writer.writerows({**row, "contexts": json.dumps(row["contexts"])} for row in rows)

    out = tmp_path / "run"
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "data.csv"), str(out)]
    write(GOOD)
    subprocess.run(command, check=True)
    write(WRONG)
    process = subprocess.Popen(command)
    records = out / "records.jsonl"
    before = records.stat().st_size
    deadline = time.monotonic() + 60
    while records.stat().st_size == before and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()

    killed = Run.load(out)
    assert not killed.finished
    assert 0 < len(killed) < 20
    assert {sample.answer for sample in killed.samples()} == {WRONG[0]["answer"]}
    subprocess.run(command, check=True)
    run = Run.load(out)
    assert (run.finished, len(run)) == (True, 20)
    assert {sample.answer for sample in run.samples()} == {WRONG[0]["answer"]}
    assert not list(run.audit())


def test_samples_in_memory_are_a_data_set_too():
    samples = [Sample(question="Q?", answer="A.", contexts=["A."]) for _ in range(3)]
    run = evaluate(samples, metrics="faithfulness", judge="embedded")
    assert len(run) == 3
    assert len({sample.id for sample in run.samples()}) == 3
