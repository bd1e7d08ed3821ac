"""What `evaluate` takes and what comes back."""

from typing import assert_type

import pandas as pd

from ragmetrics_core import Judge, Record, Run, Sample, aevaluate, diff, evaluate, recompute, rescore
from ragmetrics_core.metrics import Faithfulness, Rubric, get
from ragmetrics_core.models import OpenAIEmbedder, OpenAIJudge
from ragmetrics_core.runs import Mean


async def answer_later(prompt: str) -> str:
    return prompt


def length_of(prompt: str) -> int:
    return len(prompt)


def the_source_is_anything_that_holds_samples(
    samples: list[Sample], rows: list[dict[str, str]], columns: dict[str, list[str]], frame: pd.DataFrame
) -> None:
    evaluate(samples)
    evaluate(rows)
    evaluate(columns)
    evaluate(frame)
    evaluate("data.jsonl")
    evaluate(sample for sample in samples)
    evaluate(7)  # error: arg-type, reportArgumentType
    evaluate([1, 2])  # error: list-item, reportArgumentType


def metrics_are_names_or_objects(samples: list[Sample]) -> None:
    evaluate(samples, metrics="faithfulness")
    evaluate(samples, metrics=["faithfulness", Faithfulness(), get("ndcg@10")])
    evaluate(samples, metrics=[Faithfulness()])
    evaluate(samples, metrics=Faithfulness)  # error: arg-type, reportArgumentType
    evaluate(samples, metrics=[Faithfulness])  # error: list-item, reportArgumentType
    evaluate(samples, ["faithfulness"])  # error: arg-type, call-arg, reportCallIssue


def a_judge_is_a_model_a_function_or_a_name(samples: list[Sample], judge: Judge) -> None:
    evaluate(samples, judge=judge)
    evaluate(samples, judge=OpenAIJudge("gpt-4.1-mini"), embedder=OpenAIEmbedder("text-embedding-3-small"))
    evaluate(samples, judge="embedded", embedder="embedded")
    evaluate(samples, judge=lambda prompt: "yes" if prompt else "no")
    evaluate(samples, judge=answer_later)
    evaluate(samples, panel=[judge, answer_later, "embedded"])
    evaluate(samples, judge=3)  # error: arg-type, reportArgumentType
    evaluate(samples, judge=length_of)  # error: arg-type, reportArgumentType
    evaluate(samples, judge=OpenAIJudge)  # error: arg-type, reportArgumentType
    evaluate(samples, judge=OpenAIEmbedder("m"))  # error: arg-type, reportArgumentType
    evaluate(samples, embedder=OpenAIJudge("m"))  # error: arg-type, reportArgumentType


def settings_have_types(samples: list[Sample]) -> None:
    evaluate(samples, concurrency=4, timeout=None, on_error="raise", out="runs/first")
    evaluate(samples, concurrency="4")  # error: arg-type, reportArgumentType
    evaluate(samples, on_error="ignore")  # error: arg-type, reportArgumentType
    evaluate(samples, metric="faithfulness")  # error: call-arg, reportCallIssue


def a_run_gives_scores_and_means(samples: list[Sample]) -> None:
    run = assert_type(evaluate(samples), Run)
    mean = assert_type(run.mean("faithfulness"), Mean)
    assert_type(mean.value, float | None)
    assert_type(mean.n, int)
    score = assert_type(run.score("tc-49", Faithfulness()), Record)
    assert_type(score.value, float | None)
    assert_type(score, Record)
    print(mean.value + 1)  # error: operator, reportOptionalOperand
    print(score.value + 1)  # error: operator, reportOptionalOperand
    if score.status == "finished":  # error: comparison-overlap, reportUnnecessaryComparison
        return
    print(run.score("tc-49"))  # error: call-arg, reportCallIssue
    print(run.mean("faithfulness", abstention="drop"))  # error: arg-type, reportArgumentType
    run.correct("tc-49", "faithfulness", 2, True)
    score.value = 1.0  # error: misc, reportAttributeAccessIssue


def a_record_gives_its_score_again(record: Record) -> None:
    assert_type(recompute(record), Record)
    assert_type(rescore(record, variant="ragas-0.4").value, float | None)
    assert_type(diff(record, record).before, Record)
    recompute("record")  # error: arg-type, reportArgumentType


async def aevaluate_is_awaited(samples: list[Sample]) -> None:
    assert_type(await aevaluate(samples, metrics="faithfulness", judge=answer_later), Run)
    print(aevaluate(samples).tally)  # error: attr-defined, reportAttributeAccessIssue
    await aevaluate(samples, judges=["embedded"])  # error: call-arg, reportCallIssue


def a_sample_takes_lists_and_does_not_change() -> None:
    sample = Sample(question="Which tea is green?", contexts=["Sencha is green."], labels={"right": True})
    assert_type(sample.contexts, tuple[str, ...] | None)
    Sample(history=[{"role": "user", "content": "Hello"}], reference_context_grades=[2, 1])
    Sample(contexts="Sencha is green.")  # error: arg-type, reportArgumentType
    Sample(ground_truth="Sencha")  # error: call-arg, reportCallIssue
    sample.answer = "Sencha"  # error: misc, reportAttributeAccessIssue


def settings_of_a_metric_have_types() -> None:
    Faithfulness(variant="paper", granularity="sentence")
    Rubric(levels=("rude", "kind"))
    Rubric(levels={1: "rude", 5: "kind"})  # error: arg-type, reportArgumentType
    Faithfulness(variant="nonsense")  # error: arg-type, reportArgumentType
    Faithfulness(granularity="word")  # error: arg-type, reportArgumentType
    Faithfulness(temperature=0)  # error: call-arg, reportCallIssue
    Faithfulness("paper")  # error: call-arg, reportCallIssue
    Faithfulness().variant = "paper.1"  # error: misc, reportAttributeAccessIssue
