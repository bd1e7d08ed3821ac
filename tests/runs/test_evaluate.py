"""Evaluating: from a script, a thread and a running loop, streamed, and never stopped by one bad sample."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from ragmetrics_core import Run, Sample, aevaluate, as_judge, evaluate
from ragmetrics_core.errors import (
    ConfigError,
    ModelRefused,
    ModelTimeout,
    RecordError,
    RunStopped,
    SampleError,
)
from ragmetrics_core.metrics import AnswerCorrectness, Faithfulness
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge

SAMPLE = {
    "id": "q1",
    "question": "Capital of France?",
    "answer": "Paris.",
    "contexts": ["Paris is the capital."],
}
REFERENCED = {**SAMPLE, "reference": "Paris"}
YES = {"verdicts": [{"number": 1, "verdict": "yes"}]}
NO = {"verdicts": [{"number": 1, "verdict": "no"}]}
ONE = {"statements": ["The capital is Paris."], "declined": False}
REPLIES = {
    "statements": ONE,
    "reference_statements": ONE,
    "verdicts": YES,
    "reference_verdicts": YES,
    "answer_verdicts": NO,
}


def scripted(**replies: Any) -> ScriptedJudge:
    return ScriptedJudge({**REPLIES, **replies})


def many(count: int) -> list[dict[str, Any]]:
    return [{**SAMPLE, "id": f"q{number}"} for number in range(count)]


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
        "the first sample has no reference, so only faithfulness is measured, without factual_correctness",
    )


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


def test_weight_zero_for_similarity_embeds_nothing_and_needs_no_embedder():
    run = evaluate([REFERENCED], metrics=[AnswerCorrectness(weights=(1, 0))], judge=scripted())
    # TP 1, covered 0 of 1: P 1, R 0, F1 0
    assert run.score("q1", "answer_correctness").value == 0.0
    assert run.tally["embedded"] == 0


def test_no_more_calls_are_in_flight_than_allowed():
    class Counting:
        identity = "counting"
        now = most = 0

        async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0.001)
            self.now -= 1
            return [Completion(text=json.dumps(REPLIES[request.prompt.name]))]

    judge = Counting()
    rows = [{**row, "answer": f"Paris, {row['id']}."} for row in many(40)]
    evaluate(rows, metrics="faithfulness", judge=judge, concurrency=7)
    assert judge.most == 7


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


def test_an_asynchronous_function_is_a_judge():
    async def judge(prompt: str) -> str:
        return json.dumps(ONE if "Split the answer" in prompt else YES)

    assert evaluate([SAMPLE], metrics="faithfulness", judge=judge).score("q1", "faithfulness").value == 1.0


def test_as_judge_leaves_a_judge_as_it_is():
    judge = scripted()
    assert as_judge(judge) is judge


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metrics": "faithfullness"}, "there is no metric 'faithfullness'; did you mean 'faithfulness'"),
        ({"metrics": []}, "give at least one metric, or leave metrics out"),
        ({"metrics": ["faithfulness", Faithfulness()]}, "the metric faithfulness/strict.1 is given twice"),
        ({"metrics": [42]}, "a metric is a name or a Metric object, not int"),
        ({"metrics": "faithfulness/lax"}, "faithfulness has no variant 'lax', only strict.1, paper.1"),
        ({"judge": None}, "faithfulness needs a judge: pass judge=..."),
        ({"metrics": "answer_relevance"}, "answer_relevance needs an embedder: pass embedder=..."),
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


def test_a_metric_whose_field_is_absent_is_skipped_with_the_fields_name_and_others_go_on():
    run = evaluate([SAMPLE], metrics=["faithfulness", "factual_correctness"], judge=scripted())
    skipped = run.score("q1", "factual_correctness")
    assert (skipped.status, skipped.reason, skipped.value) == ("skipped", "reference", None)
    assert run.score("q1", "faithfulness").status == "ok"


def test_a_dead_judge_is_a_model_error_with_its_cause():
    def dead(_: str) -> str:
        raise ConnectionRefusedError("nobody listens")

    score = evaluate([SAMPLE], metrics="faithfulness", judge=dead).score("q1", "faithfulness")
    assert (score.status, score.reason) == (
        "model_error",
        "statements.v1: ConnectionRefusedError: nobody listens",
    )


def test_a_refused_key_is_a_model_error():
    judge = scripted(statements=ModelRefused("the server refused the key (401): set OPENAI_API_KEY"))
    score = evaluate([SAMPLE], metrics="faithfulness", judge=judge).score("q1", "faithfulness")
    assert score.reason == "statements.v1: the server refused the key (401): set OPENAI_API_KEY"


def test_a_judge_that_never_answers_times_out():
    class Hanging:
        identity = "hanging"

        async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
            await asyncio.Event().wait()
            raise AssertionError

    run = evaluate([SAMPLE], metrics="faithfulness", judge=Hanging(), timeout=0.01, attempts=1)
    score = run.score("q1", "faithfulness")
    assert (score.status, score.reason) == ("timeout", "statements.v1: no answer within 0.01 s")


def test_a_models_own_timeout_is_a_timeout():
    judge = scripted(statements=ModelTimeout("gave up"))
    score = evaluate([SAMPLE], metrics="faithfulness", judge=judge, attempts=1).score("q1", "faithfulness")
    assert (score.status, score.reason) == ("timeout", "statements.v1: gave up")


def test_the_time_a_call_waits_for_its_turn_is_not_counted():
    class Slow:
        identity = "slow"

        async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
            await asyncio.sleep(0.02)
            return [Completion(text=json.dumps(REPLIES[request.prompt.name]))]

    # 20 samples one call at a time take 0.8 s in all, far more than the 0.5 s that one call may take
    run = evaluate(many(20), metrics="faithfulness", judge=Slow(), concurrency=1, timeout=0.5)
    assert run.mean("faithfulness").n == 20


def test_a_judge_that_answers_nonsense_is_a_parse_error():
    score = evaluate([SAMPLE], metrics="faithfulness", judge=lambda _: "").score("q1", "faithfulness")
    assert (score.status, score.reason) == ("parse_error", "statements.v1: the reply could not be read")


def test_a_statement_list_that_was_cut_is_no_statement_list():
    cut = Completion(text='{"statements": ["Paris is', finish_reason="length")
    score = evaluate([SAMPLE], metrics="faithfulness", judge=scripted(statements=cut)).score(
        "q1", "faithfulness"
    )
    assert (score.status, score.reason) == (
        "parse_error",
        "statements.v1: the reply was cut by the model's length limit",
    )


def test_a_judge_that_returns_no_completion_is_a_model_error():
    class Silent:
        identity = "silent"

        async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
            return []

    score = evaluate([SAMPLE], metrics="faithfulness", judge=Silent()).score("q1", "faithfulness")
    assert (score.status, score.reason) == (
        "model_error",
        "statements.v1: the judge silent returned no reply",
    )


def test_a_function_that_returns_no_text_is_a_model_error():
    def judge(_: str) -> Any:
        return {"a": 1}

    score = evaluate([SAMPLE], metrics="faithfulness", judge=judge).score("q1", "faithfulness")
    assert score.status == "model_error"
    assert "returned dict, not text" in (score.reason or "")


@pytest.mark.parametrize("vectors", [[[1.0]], [[1.0, float("nan")], [1.0, 2.0]], [1.0, 2.0]])
def test_an_embedder_with_wrong_arrays_is_a_model_error(vectors):
    class Wrong:
        identity = "wrong"

        async def aembed(self, texts: Sequence[str]) -> Any:
            return vectors

    score = evaluate([REFERENCED], metrics="answer_similarity", embedder=Wrong()).score(
        "q1", "answer_similarity"
    )
    assert score.status == "model_error"
    assert "the embedder wrong gave an array of shape" in (score.reason or "")


def test_one_failing_sample_does_not_stop_the_others():
    def replies(request: Generate[Any]) -> Any:
        return (
            ModelRefused("no")
            if "q3?" in str(request.variables.get("question"))
            else REPLIES[request.prompt.name]
        )

    rows = [{**row, "question": f"{row['id']}?"} for row in many(6)]
    mean = evaluate(rows, metrics="faithfulness", judge=ScriptedJudge(replies)).mean("faithfulness")
    assert (mean.n, mean.total, mean.statuses) == (5, 6, {"ok": 5, "model_error": 1})


def test_on_error_raise_stops_at_the_first_failure():
    with pytest.raises(
        RunStopped, match=r"faithfulness/strict.1 of sample q1: model_error \(statements.v1: no\)"
    ):
        evaluate(
            [SAMPLE], metrics="faithfulness", judge=scripted(statements=ModelRefused("no")), on_error="raise"
        )


def test_a_bad_row_is_kept_with_its_place_and_the_rest_is_measured():
    run = evaluate(
        [SAMPLE, {"question": 42}, {**SAMPLE, "id": "q2"}], metrics="faithfulness", judge=scripted()
    )
    assert [str(row) for row in run.rejected] == ["row 2: 'question' must be text, got int (42)"]
    assert sorted(run.sample_ids) == ["q1", "q2"]


def test_a_run_that_was_given_no_samples_says_so_until_it_gets_some(tmp_path):
    def measured(rows: Any) -> Run:
        return evaluate(rows, metrics="exact_match", out=tmp_path / "run")

    empty = measured([])
    assert (len(empty), empty.notes) == (0, ("no samples were given, so nothing was measured",))
    assert Run.load(tmp_path / "run").notes == empty.notes
    assert measured([{"answer": "Paris", "reference": "Paris"}]).notes == ()


def test_a_run_whose_rows_are_all_rejected_was_given_some():
    run = evaluate([{"question": 1}], metrics="exact_match")
    assert (len(run.rejected), run.notes) == (1, ())


def test_on_error_raise_stops_at_a_bad_row():
    with pytest.raises(SampleError, match="row 1: 'question' must be text"):
        evaluate([{"question": 42}], metrics="faithfulness", judge=scripted(), on_error="raise")


def test_an_id_that_is_used_twice_is_a_bad_row():
    run = evaluate([SAMPLE, SAMPLE], metrics="faithfulness", judge=scripted())
    assert (len(run), len(run.rejected)) == (1, 1)


def test_prompts_of_the_user_replace_those_of_the_same_name(tmp_path):
    (tmp_path / "statements.v9.md").write_text(
        "## system\nBe brief.\n\n## user\nMINE {{ question }} {{ answer }}", encoding="utf-8"
    )
    judge = scripted()
    run = evaluate([SAMPLE], metrics="faithfulness", judge=judge, prompts=tmp_path)
    assert judge.asked[0].messages[1].content == "MINE Capital of France? Paris."
    assert next(run.record("q1", "faithfulness").generate_steps).prompt == "statements.v9"
    assert list(run.audit()) == []


def test_a_translation_of_the_user_is_asked_for_samples_of_its_language(tmp_path):
    (tmp_path / "statements.v9.de.md").write_text("## user\nTeile {{ question }} {{ answer }}", "utf-8")
    judge = scripted()
    german = {**SAMPLE, "id": "q2", "language": "de"}
    run = evaluate([SAMPLE, german], metrics="faithfulness", judge=judge, prompts=tmp_path)
    asked = {each: next(run.record(each, "faithfulness").generate_steps).prompt for each in ("q1", "q2")}
    assert asked == {"q1": "statements.v1", "q2": "statements.v9.de"}
    assert list(run.audit()) == []


def test_prompts_reach_the_parts_of_a_composite(tmp_path):
    (tmp_path / "reference_verdicts.v2.md").write_text(
        "## user\nMINE {{ question }} {{ reference }} {{ items }}", encoding="utf-8"
    )
    judge = scripted()
    run = evaluate([REFERENCED], metrics=[AnswerCorrectness(weights=(1, 0))], judge=judge, prompts=tmp_path)
    asked = next(request for request in judge.asked if request.prompt.name == "reference_verdicts")
    assert asked.messages[1].content.startswith("MINE")
    assert list(run.audit()) == []


def test_a_prompt_that_no_metric_asks_is_a_mistake(tmp_path):
    (tmp_path / "statement.v1.md").write_text("## user\n{{ answer }}", encoding="utf-8")
    with pytest.raises(
        ConfigError, match="no metric of this run asks the prompt 'statement'; they ask statements, verdicts"
    ):
        evaluate([SAMPLE], metrics="faithfulness", judge=scripted(), prompts=tmp_path)


def test_progress_is_told_after_each_sample():
    seen = []
    evaluate(
        many(3),
        metrics="faithfulness",
        judge=scripted(),
        progress=lambda progress: seen.append(progress.samples),
    )
    assert seen == [1, 2, 3]


def test_a_run_in_a_folder_reads_back_the_same(tmp_path):
    written = evaluate(many(4), metrics="faithfulness", judge=scripted(), out=tmp_path / "run")
    read = Run.load(tmp_path / "run")
    assert read.to_rows() == written.to_rows()
    assert (read.judge, read.tally) == ("scripted", written.tally)


def test_a_folder_that_holds_another_run_is_not_overwritten_by_accident(tmp_path):
    evaluate([SAMPLE], metrics="faithfulness", judge=scripted(), out=tmp_path / "run")
    judge = as_judge(lambda _: "{}")
    differs = "holds another run: its judge is scripted, not callable:.*<lambda>. Choose another folder"
    with pytest.raises(ConfigError, match=differs):
        evaluate([SAMPLE], metrics="faithfulness", judge=judge, out=tmp_path / "run")
    assert Run.load(tmp_path / "run").finished


def test_a_run_is_overwritten_on_request(tmp_path):
    evaluate(many(3), metrics="faithfulness", judge=scripted(), out=tmp_path / "run")
    evaluate([SAMPLE], metrics="faithfulness", judge=scripted(), out=tmp_path / "run", overwrite=True)
    assert list(Run.load(tmp_path / "run").sample_ids) == ["q1"]


def test_a_folder_with_other_things_is_never_touched(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(ConfigError, match="exists and holds no run: choose another folder"):
        evaluate([SAMPLE], metrics="faithfulness", judge=scripted(), out=tmp_path, overwrite=True)
    assert (tmp_path / "thesis.tex").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"the run folder .*file/run cannot be written: Not a directory"):
        evaluate([SAMPLE], metrics="faithfulness", judge=scripted(), out=tmp_path / "file" / "run")


def test_a_folder_without_a_run_is_named(tmp_path):
    with pytest.raises(RecordError, match=r"there is no run in .* \(no manifest.json\)"):
        Run.load(tmp_path / "nowhere")


def test_a_line_cut_by_a_crash_is_left_out_and_repaired_by_the_next_one(tmp_path):
    evaluate(many(2), metrics="faithfulness", judge=scripted(), out=tmp_path / "run")
    file = tmp_path / "run" / "records.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[:-40])
    run = Run.load(tmp_path / "run")
    assert run.mean("faithfulness").total == 1
    kept = next(iter(run.records())).sample_id
    run.correct(kept, "faithfulness", 1, False)
    assert Run.load(tmp_path / "run").score(kept, "faithfulness").value == 0.0


def test_a_broken_line_in_the_middle_is_named_with_its_number(tmp_path):
    evaluate(many(3), metrics="faithfulness", judge=scripted(), out=tmp_path / "run")
    file = tmp_path / "run" / "records.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([lines[0], "{broken", lines[2], ""]), encoding="utf-8")
    with pytest.raises(RecordError, match=r"records.jsonl, line 2: "):
        Run.load(tmp_path / "run")


def test_vectors_are_kept_on_request():
    run = evaluate(
        [REFERENCED], metrics="answer_similarity", embedder=HashEmbedder(dimensions=8), keep_vectors=True
    )
    (step,) = run.record("q1", "answer_similarity").steps
    assert [len(vector) for vector in step.vectors] == [8, 8]


def test_labels_reach_the_rows():
    row = evaluate(
        [{**SAMPLE, "retrieval_correct": True, "model": "m"}], metrics="faithfulness", judge=scripted()
    ).to_rows()[0]
    assert (row["retrieval_correct"], row["model"]) == (True, "m")


def test_rows_become_a_data_frame():
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = evaluate(many(3), metrics="faithfulness", judge=scripted()).to_pandas()
    assert list(frame["faithfulness"]) == [1.0, 1.0, 1.0]


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
    with pytest.raises(ConfigError, match="several metrics 'faithfulness': name one of"):
        run.mean("faithfulness")
    assert run.mean("faithfulness/strict.1(granularity=sentence)").n == 1


def test_what_is_redacted_reaches_neither_the_judge_nor_the_disk(tmp_path):
    judge = scripted()
    row = {**SAMPLE, "answer": "Call 555-0199.", "contexts": ["Tel. 555-0199"], "customer": "555-0199"}
    evaluate(
        [row],
        metrics="faithfulness",
        judge=judge,
        out=tmp_path / "run",
        redact=lambda text: text.replace("555-0199", "[phone]"),
    )
    written = b"".join(file.read_bytes() for file in (tmp_path / "run").iterdir()).decode("latin-1")
    assert "[phone]" in written
    assert "555-0199" not in written + str(judge.asked)
    assert list(Run.load(tmp_path / "run").audit()) == []


INTERRUPTED = """
import asyncio, json, signal, sys
from ragmetrics_core import evaluate
from ragmetrics_core.protocol import Completion

signal.signal(signal.SIGINT, signal.default_int_handler)
REPLIES = {"statements": {"statements": ["S"]}, "verdicts": {"verdicts": [{"number": 1, "verdict": "yes"}]}}

class Judge:
    identity = "hangs at q3"

    async def agenerate(self, request):
        if request.variables.get("question") == "q3":
            print("hanging", flush=True)
            await asyncio.Event().wait()
        return [Completion(text=json.dumps(REPLIES[request.prompt.name]))]

rows = [{"id": f"q{n}", "question": f"q{n}", "answer": "A", "contexts": ["C"]} for n in range(6)]
evaluate(rows, metrics="faithfulness", judge=Judge(), out=sys.argv[1], concurrency=1)
"""


def test_ctrl_c_cancels_the_calls_in_flight_and_keeps_what_was_finished(tmp_path):
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "run")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "hanging\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert err.endswith("KeyboardInterrupt\n")
    run = Run.load(tmp_path / "run")
    assert (list(run.sample_ids), run.finished) == (["q0", "q1", "q2"], False)
    assert list(run.audit()) == []
