"""The same command again goes on: finished scores are kept, and no answered call is paid for twice."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.prompts import ANSWER_VERDICTS, STATEMENTS, PromptText
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge
from tests.lines import plain

REPLIES = {
    "statements": {"statements": ["The capital is Paris."], "declined": False},
    "verdicts": {"verdicts": [{"number": 1, "verdict": "yes"}]},
    "reference_statements": {"statements": ["Paris is it."]},
    "reference_verdicts": {"verdicts": [{"number": 1, "verdict": "yes"}]},
    "answer_verdicts": {"verdicts": [{"number": 1, "verdict": "no"}]},
}


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"q{number}",
            "question": f"Question {number}?",
            "answer": f"Paris {number}.",
            "contexts": [f"Paris {number} is the capital."],
            "reference": f"Paris {number}",
        }
        for number in range(count)
    ]


def scripted(**replies: Any) -> ScriptedJudge:
    return ScriptedJudge({**REPLIES, **replies})


def lines(run: Path) -> dict[tuple[str, str], str]:
    """The last line of each score."""
    found = [plain(line) for line in (run / "records.jsonl").read_text().splitlines()]
    return {(each["sample_id"], each["signature"]): json.dumps(each) for each in found}


def test_a_finished_run_again_makes_no_call(tmp_path):
    evaluate(rows(3), judge=scripted(), out=tmp_path / "run")
    judge = scripted()
    run = evaluate(rows(3), judge=judge, out=tmp_path / "run")
    assert judge.asked == []
    assert (len(run), len(run.keys), run.finished) == (3, 6, True)


def test_new_samples_are_added_and_only_they_are_asked_about(tmp_path):
    evaluate(rows(2), metrics="faithfulness", judge=scripted(), out=tmp_path / "run")
    judge = scripted()
    run = evaluate(rows(3), metrics="faithfulness", judge=judge, out=tmp_path / "run")
    assert len(judge.asked) == 2  # statements and verdicts of the third sample
    # two calls a sample, over both parts of the run
    assert run.tally["calls"] == 6


def test_what_failed_is_asked_again_and_what_was_answered_is_not(tmp_path):
    broken = scripted(verdicts=ModelError("down"))
    first = evaluate(rows(1), metrics="faithfulness", judge=broken, out=tmp_path / "run")
    assert first.score("q0", "faithfulness").status == "model_error"
    judge = scripted()
    again = evaluate(rows(1), metrics="faithfulness", judge=judge, out=tmp_path / "run")
    assert again.score("q0", "faithfulness").value == 1.0
    assert [request.prompt.name for request in judge.asked] == ["verdicts"]


def test_a_reply_that_could_not_be_read_is_never_served_again(tmp_path):
    first = evaluate(rows(1), metrics="faithfulness", judge=scripted(statements="%"), out=tmp_path / "run")
    assert first.score("q0", "faithfulness").status == "parse_error"
    judge = scripted()
    again = evaluate(rows(1), metrics="faithfulness", judge=judge, out=tmp_path / "run")
    assert again.score("q0", "faithfulness").value == 1.0
    assert judge.count("statements") == 1


@pytest.mark.parametrize("useless", ['{"rating": 11}', '{"reason": "good"}', "Sorry."])
def test_a_reply_without_a_rating_on_the_scale_is_never_served_again(tmp_path, useless):
    def measured(reply: str) -> Any:
        judge = ScriptedJudge({"answer_rating": reply})
        run = evaluate(rows(1), metrics="answer_relevance_rating", judge=judge, out=tmp_path / "run")
        return run.score("q0", "answer_relevance_rating"), judge

    assert measured(useless)[0].status == "parse_error"
    again, judge = measured('{"rating": 7}')
    # 7 of 10
    assert (again.value, judge.count("answer_rating")) == (0.7, 1)


@pytest.mark.parametrize("cacheable", [True, False])
def test_a_reply_that_is_no_text_fails_its_sample_alone_and_is_not_kept(tmp_path, cacheable):
    class Textless(ScriptedJudge):
        async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
            (reply,) = await super().agenerate(request)
            return [replace(reply, text=None) if "Question 1?" in str(request.messages) else reply]  # type: ignore[arg-type]

    broken = Textless(REPLIES)
    broken.cacheable = cacheable  # type: ignore[attr-defined]
    run = evaluate(rows(3), metrics="faithfulness", judge=broken, out=tmp_path / "run")
    statuses = [run.score(f"q{number}", "faithfulness").status for number in range(3)]
    assert statuses == ["ok", "model_error", "ok"]
    assert "the judge" in run.score("q1", "faithfulness").reason
    if cacheable:  # else it may be another one by then, and the run does not go on
        again = evaluate(rows(3), metrics="faithfulness", judge=scripted(), out=tmp_path / "run")
        assert again.mean("faithfulness").statuses == {"ok": 3}


def test_vectors_without_a_number_fail_their_sample_and_are_not_kept(tmp_path):
    class Empty(HashEmbedder):
        async def aembed(self, texts: Sequence[str]) -> Any:
            return np.zeros((len(texts), 0))

    arguments: dict[str, Any] = {"metrics": "answer_similarity", "out": tmp_path / "run"}
    run = evaluate(rows(1), embedder=Empty(), **arguments)
    assert run.score("q0", "answer_similarity").status == "model_error"
    again = evaluate(rows(1), embedder=HashEmbedder(), **arguments)
    assert again.score("q0", "answer_similarity").status == "ok"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"metrics": "context_recall"}, "it does not measure context_recall/strict.1"),
        ({"repeats": 3}, "its repeats is 1, not 3"),
        ({"judge": ScriptedJudge({}, identity="other")}, "its judge is scripted, not other"),
    ],
)
def test_another_run_is_refused_with_what_differs(tmp_path, change, told):
    evaluate(rows(1), metrics="faithfulness", judge=scripted(), out=tmp_path / "run")
    with pytest.raises(ConfigError, match=told):
        evaluate(rows(1), out=tmp_path / "run", **{"metrics": "faithfulness", "judge": scripted(), **change})


def test_a_run_with_other_prompts_of_a_metrics_parts_is_refused_with_what_differs(tmp_path):
    words = {
        prompt.name: PromptText(prompt.name, 1, None, "Be brief.", prompt.user, prompt.again)
        for prompt in (STATEMENTS, ANSWER_VERDICTS)
    }
    metric = "answer_correctness(weights=1:0)"

    def run(prompts: dict[str, PromptText] | None) -> None:
        evaluate(rows(1), metrics=metric, judge=scripted(), prompts=prompts, out=tmp_path / "run")

    run({"statements": words["statements"]})
    signature = (
        "answer_correctness/strict.1("
        f"factual=factual_correctness/strict.1(statements.v1@{words['statements'].digest[:8]}),weights=1:0)"
    )
    for other in (None, {"answer_verdicts": words["answer_verdicts"]}, words):
        with pytest.raises(ConfigError, match=re.escape(f"it also measures {signature}")):
            run(other)
    run({"statements": words["statements"]})


def test_a_shared_cache_pays_for_nothing_twice(tmp_path):
    evaluate(rows(2), judge=scripted(), out=tmp_path / "a", cache=tmp_path / "cache.sqlite")
    judge = scripted()
    evaluate(rows(2), judge=judge, out=tmp_path / "b", cache=tmp_path / "cache.sqlite")
    assert judge.asked == []
    assert lines(tmp_path / "a") == lines(tmp_path / "b")


def test_scores_of_another_function_of_the_same_name_are_never_taken_over(tmp_path):
    def measured(verdict: str, **arguments: Any) -> Any:
        def judge(prompt: str) -> str:
            if "Split the answer" in prompt:
                return json.dumps({"statements": re.findall(r"\[sentence 1\] (.*)", prompt)})
            return json.dumps({"verdicts": [{"number": 1, "verdict": verdict}]})

        return evaluate(rows(1), metrics="faithfulness", judge=judge, out=tmp_path / "run", **arguments)

    assert measured("yes").score("q0", "faithfulness").value == 1.0
    told = "its judge is callable:.*measured.<locals>.judge#[0-9a-f]{16}, not callable:"
    with pytest.raises(ConfigError, match=told):
        measured("no")
    assert measured("no", overwrite=True).score("q0", "faithfulness").value == 0.0
