"""One bad sample, reply or row never stops the others: it is a status, or a rejected row."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from ragmetrics_core import Run, evaluate
from ragmetrics_core.errors import ModelRefused, RunStopped, SampleError
from ragmetrics_core.protocol import Completion, Generate
from tests.runs.capital import REFERENCED, REPLIES, SAMPLE, many, scripted


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
        "statements.v5: ConnectionRefusedError: nobody listens (after 4 attempts)",
    )


def test_a_judge_that_never_answers_times_out():
    class Hanging:
        identity = "hanging"

        async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
            await asyncio.Event().wait()
            raise AssertionError

    run = evaluate([SAMPLE], metrics="faithfulness", judge=Hanging(), timeout=0.01, attempts=1)
    score = run.score("q1", "faithfulness")
    assert (score.status, score.reason) == ("timeout", "statements.v5: no answer within 0.01 s")


def test_the_time_a_call_waits_for_its_turn_is_not_counted():
    class Slow:
        identity = "slow"

        async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
            await asyncio.sleep(0.05)
            return [Completion(text=json.dumps(REPLIES[request.prompt.name]))]

    # 40 samples one call at a time take 4 s in all, more than the 3 s that one call may take
    run = evaluate(many(40), metrics="faithfulness", judge=Slow(), concurrency=1, timeout=3)
    assert run.mean("faithfulness").n == 40


def test_a_statement_list_that_was_cut_is_no_statement_list():
    cut = Completion(text='{"statements": ["Paris is', finish_reason="length")
    score = evaluate([SAMPLE], metrics="faithfulness", judge=scripted(statements=cut)).score(
        "q1", "faithfulness"
    )
    assert score.status == "parse_error"
    assert score.reason.startswith(
        "statements.v5: the reply could not be read: the reply was cut by the model's length limit"
    )


def test_a_judge_that_returns_no_completion_is_a_model_error():
    class Silent:
        identity = "silent"

        async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
            return []

    score = evaluate([SAMPLE], metrics="faithfulness", judge=Silent()).score("q1", "faithfulness")
    assert (score.status, score.reason) == (
        "model_error",
        "statements.v5: the judge silent returned no reply",
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


def test_on_error_raise_stops_at_the_first_failure():
    with pytest.raises(
        RunStopped, match=r"faithfulness/strict.1 of sample q1: model_error \(statements.v5: no\)"
    ):
        evaluate(
            [SAMPLE], metrics="faithfulness", judge=scripted(statements=ModelRefused("no")), on_error="raise"
        )


def test_a_bad_row_is_kept_with_its_place_and_the_rest_is_measured():
    run = evaluate(
        [SAMPLE, {"question": ["Q?"]}, {**SAMPLE, "id": "q2"}], metrics="faithfulness", judge=scripted()
    )
    assert [str(row) for row in run.rejected] == ["row 2: 'question' must be text, got list (['Q?'])"]
    assert sorted(run.sample_ids) == ["q1", "q2"]


def test_a_run_that_was_given_no_samples_says_so_until_it_gets_some(tmp_path):
    def measured(rows: Any) -> Run:
        return evaluate(rows, metrics="exact_match", out=tmp_path / "run")

    empty = measured([])
    assert (len(empty), empty.notes) == (0, ("no samples were given, so nothing was measured",))
    assert Run.load(tmp_path / "run").notes == empty.notes
    assert measured([{"answer": "Paris", "reference": "Paris"}]).notes == ()


def test_rows_of_which_none_is_a_sample_are_an_error():
    with pytest.raises(SampleError, match=r"none of the rows given \(1\) is a sample, the first: row 1: "):
        evaluate([{"question": ["Q?"]}], metrics="exact_match")


def test_on_error_raise_stops_at_a_bad_row():
    with pytest.raises(SampleError, match="row 1: 'question' must be text"):
        evaluate([{"question": ["Q?"]}], metrics="faithfulness", judge=scripted(), on_error="raise")
