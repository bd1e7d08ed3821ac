"""Evaluating: from a script, a thread and a running loop, streamed, calls shared, mistakes told at once."""

import asyncio
import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from ragmetrics_core import Run, aevaluate, as_judge, evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.runs import Progress
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge
from tests.runs.capital import ONE, REFERENCED, REPLIES, SAMPLE, YES, many, scripted


def test_a_script_gets_a_run():
    run = evaluate([SAMPLE], metrics="faithfulness", judge=scripted())
    assert run.score("q1", "faithfulness").value == 1.0


def test_a_notebook_cell_with_a_running_loop_gets_a_run():
    async def cell() -> Run:
        return evaluate([SAMPLE], metrics="faithfulness", judge=scripted())

    assert asyncio.run(cell()).score("q1", "faithfulness").value == 1.0


def test_a_thread_gets_a_run():
    found: list[Run] = []
    thread = threading.Thread(
        target=lambda: found.append(evaluate([SAMPLE], metrics="faithfulness", judge=scripted()))
    )
    thread.start()
    thread.join()
    assert found[0].score("q1", "faithfulness").value == 1.0


def test_asynchronous_callers_await_a_run():
    run = asyncio.run(aevaluate([SAMPLE], metrics="faithfulness", judge=scripted()))
    assert run.score("q1", "faithfulness").value == 1.0


def test_an_asynchronous_source_is_streamed():
    async def source():
        for row in many(3):
            yield row

    assert len(evaluate(source(), metrics="faithfulness", judge=scripted())) == 3


def test_a_generator_is_not_collected_before_work_starts():
    judge = scripted()
    asked_when_taken = []

    def source():
        for row in many(6):
            asked_when_taken.append(len(judge.asked))
            yield row

    evaluate(source(), metrics="faithfulness", judge=judge, concurrency=1)
    assert asked_when_taken[-1] > 0


def test_the_default_is_the_recommended_pair():
    run = evaluate([REFERENCED], judge=scripted())
    assert [entry.name for entry in run.metrics] == ["faithfulness", "factual_correctness"]


def test_without_references_the_default_is_faithfulness_and_the_run_says_so():
    run = evaluate([SAMPLE], judge=scripted())
    assert [entry.name for entry in run.metrics] == ["faithfulness"]
    assert run.notes == (
        "no sample has a reference: faithfulness is measured, and factual_correctness is not",
    )


def test_one_reference_anywhere_is_enough_for_the_recommended_pair():
    run = evaluate([SAMPLE, {**REFERENCED, "id": "other"}], judge=scripted())
    assert run.mean("factual_correctness").statuses == {"skipped": 1, "ok": 1}


def test_rows_that_can_be_read_only_once_are_measured_with_both():
    run = evaluate(iter([SAMPLE]), judge=scripted())
    assert run.mean("factual_correctness").statuses == {"skipped": 1}


def test_metrics_that_need_the_answers_statements_share_one_call():
    judge = scripted()
    run = evaluate([REFERENCED], judge=judge)
    assert judge.count("statements") == 1
    assert run.tally["shared"] == 1


def test_the_parts_of_a_composite_share_calls_with_the_metric_itself():
    judge = scripted()
    evaluate(
        [REFERENCED],
        metrics=["factual_correctness", "answer_correctness"],
        judge=judge,
        embedder=HashEmbedder(),
    )
    assert {name: judge.count(name) for name in ("statements", "reference_verdicts")} == {
        "statements": 1,
        "reference_verdicts": 1,
    }


def test_no_more_calls_are_in_flight_than_allowed():
    class Counting:
        identity = "counting"
        now = most = 0

        async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0.01)
            self.now -= 1
            return [Completion(text=json.dumps(REPLIES[request.prompt.name]))]

    judge = Counting()
    rows = [{**row, "answer": f"Paris, {row['id']}."} for row in many(40)]
    evaluate(rows, metrics="faithfulness", judge=judge, concurrency=7)
    assert judge.most == 7


def test_a_sample_begins_when_a_call_can_be_made_for_it_and_no_sooner():
    begun: list[str] = []
    open_samples: list[int] = []
    in_flight = [0]
    most_calls: list[int] = []
    done = [0]

    async def judge(prompt: str) -> str:
        name = prompt.partition("The fact number ")[2].partition(" ")[0]
        if name not in begun:
            begun.append(name)
        in_flight[0] += 1
        most_calls.append(in_flight[0])
        open_samples.append(len(begun) - done[0])
        await asyncio.sleep(0.002)
        in_flight[0] -= 1
        return '{"verdicts": [{"number": 1, "reason": "", "evidence": "", "verdict": "yes"}]}'

    def finished(progress: Progress) -> None:
        done[0] = progress.samples

    samples = [
        {
            "id": f"s{number}",
            "question": "What is it?",
            "contexts": [f"The fact number {number} is told in {part}." for part in "abcd"],
            "reference": "It is told.",
        }
        for number in range(12)
    ]
    run = evaluate(
        samples,
        metrics="context_precision(chunks=alone)",
        judge=as_judge(judge),
        concurrency=4,
        progress=finished,
    )

    assert [record.value for record in run.records()] == [1.0] * 12
    # four calls a sample, side by side: no call waits for a sample, and no sample for long
    assert max(most_calls) == 4
    assert sum(count == 4 for count in most_calls) >= 12
    assert max(open_samples) <= 3


def test_a_judge_that_answers_one_call_at_a_time_is_asked_one_at_a_time():
    class Single:
        identity = "single"
        concurrency = 1
        now = most = 0

        async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0.001)
            self.now -= 1
            return [Completion(text=json.dumps(REPLIES[request.prompt.name]))]

    judge = Single()
    evaluate(many(8), metrics="faithfulness", judge=judge, concurrency=16)
    assert judge.most == 1


def test_a_synchronous_function_is_a_judge_and_runs_beside_the_loop():
    threads = set()

    def judge(prompt: str) -> str:
        threads.add(threading.current_thread())
        return json.dumps(ONE if "Split the answer" in prompt else YES)

    assert evaluate([SAMPLE], metrics="faithfulness", judge=judge).score("q1", "faithfulness").value == 1.0
    assert not any(thread.name == "ragmetrics-evaluate" for thread in threads)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metrics": "faithfullness"}, "there is no metric 'faithfullness'; did you mean 'faithfulness'"),
        ({"metrics": []}, "give at least one metric, or omit metrics"),
        ({"metrics": ["faithfulness", Faithfulness()]}, "the metric faithfulness/strict.1 is given twice"),
        ({"metrics": [42]}, "a metric must be a name or a Metric object, not int"),
        (
            {"metrics": "faithfulness/lax"},
            "faithfulness has no variant 'lax', only strict.1, strict.2",
        ),
        (
            {"judge": None},
            "faithfulness needs a judge, and none was given: judge=... takes one. Use ",
        ),
        (
            {"metrics": "answer_relevance"},
            "answer_relevance needs an embedder, and none was given: embedder=...",
        ),
        ({"judge": ScriptedJudge}, "a judge is an object, not the class ScriptedJudge: call it first"),
        (
            {"judge": 42},
            "a judge is an object with `identity` and `agenerate`, or a function from text to text, not int",
        ),
        ({"concurrency": 0}, "concurrency must be at least 1, not 0"),
        ({"timeout": 0}, "timeout must be above 0 seconds, or None, not 0"),
    ],
)
def test_a_mistake_is_named_before_the_first_call(arguments, message):
    judge = scripted()
    with pytest.raises(ConfigError) as error:
        evaluate([SAMPLE], **{"metrics": "faithfulness", "judge": judge, **arguments})
    assert message in str(error.value)
    assert judge.asked == []


def test_the_progress_counts_samples_that_are_done_and_not_those_that_were_begun():
    seen: list[tuple[int, int]] = []

    def judge(prompt: str) -> str:
        return '{"statements": [], "declined": false}'

    run = evaluate(
        many(8),
        metrics="faithfulness",
        judge=judge,
        concurrency=4,
        progress=lambda progress: seen.append((progress.samples, len(seen) + 1)),
    )
    assert len(run) == 8
    # one more with each call: what is in flight beside it is not counted
    assert [done for done, _ in seen] == [call for _, call in seen]
