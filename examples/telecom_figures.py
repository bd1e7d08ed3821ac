"""Figures 2 and 3 of Roychowdhury et al. (2024) as pages: how the metrics are computed, and six worked cases.

    pip install 'ragmetrics-core[embedded]'
    python examples/telecom_figures.py

Figure 2 is a table of the metrics with their inputs, requests and formulas. Figure 3 is a report with six
cases of the telecom data, which resemble the paper's: it has the statements, verdicts, facts, sentences,
prompts and replies behind each score. The replies are in examples/data/telecom_figure3.json, written by hand
in the form that the prompts ask for, with mistakes like those that the paper found in its judge's replies. So
no model is asked; --judge takes one instead. The embedder compares answer and reference on this machine.
"""

import argparse
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragmetrics_core import evaluate, write_report
from ragmetrics_core.metrics import Metric, get
from ragmetrics_core.protocol import Generate
from ragmetrics_core.testing import ScriptedJudge

DATA = Path(__file__).parent / "data"
METRICS = {
    "FaiFul": ("faithfulness", "verdicts that are yes / statements"),
    "AnsRel": ("answer_relevance", "mean cosine of the question and the written questions"),
    "ConRel": ("context_relevance", "extracted sentences / sentences of the contexts"),
    "AnsSim": ("answer_similarity", "cosine of answer and reference"),
    "FacCor": ("factual_correctness", "TP / (TP + 0.5 (FP + FN))"),
    "AnsCor": ("answer_correctness", "0.75 FacCor + 0.25 AnsSim"),
}
"""The paper's names of the metrics: their names here, and their formulas (equations 3 to 8)."""

RECOMMENDED = ("FaiFul", "FacCor")
"""The metrics that the paper does not criticise in its conclusion; the text has not the marks of figure 2."""

SHOWN = ("FaiFul", "AnsCor", "ConRel")
"""The metrics of figure 3."""


def main() -> None:
    """Write both figures and print the scores of the six cases."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--out", type=Path, default=Path("runs/telecom-figures"), help="folder of the pages")
    options.add_argument("--judge", help="a model in place of the replies by hand, such as openai:MODEL")
    given = options.parse_args()
    shutil.rmtree(given.out, ignore_errors=True)

    cases = six_cases()
    run = evaluate(
        cases,
        metrics=[f"{METRICS[name][0]}/paper" for name in SHOWN],
        judge=given.judge or by_hand(cases),
        embedder="embedded",
        out=given.out / "run",
    )
    (given.out / "figure2.md").write_text("\n".join(figure_2()) + "\n", encoding="utf-8")
    write_report(run, given.out / "figure3.html", everything=True)
    for case in cases:
        scores = (f"{name} {run.score(case['id'], METRICS[name][0]).formula}" for name in SHOWN)
        print(f"{case['question']}\n  " + "\n  ".join(scores))
    print(f"\nFigures: {given.out / 'figure2.md'}, {given.out / 'figure3.html'}")
    print(f"One score: ragmetrics show {given.out / 'run'} tc-02 faithfulness --prompts --replies")


def six_cases() -> list[dict[str, Any]]:
    """The samples that resemble the cases of figure 3."""
    lines = (DATA / "telecom.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["appendix"]]


def by_hand(cases: list[dict[str, Any]]) -> ScriptedJudge:
    """A judge that gives the replies of the file."""
    replies = json.loads((DATA / "telecom_figure3.json").read_text(encoding="utf-8"))

    def reply(request: Generate[Any]) -> Any:
        case = next(row for row in cases if is_about(request.variables, row))
        return replies[case["id"]][request.prompt.name]

    return ScriptedJudge(reply, identity="by hand")


def is_about(variables: Mapping[str, object], case: Mapping[str, Any]) -> bool:
    """Whether a request is about a case: it has its question, its answer or its contexts."""
    shown = (variables.get("question"), variables.get("answer"), variables.get("contexts"))
    return case["question"] in shown or case["answer"] in shown or tuple(case["contexts"]) in shown


def figure_2() -> Iterator[str]:
    """The metrics as lines of a table."""
    yield "| metric | name here | takes | asks for | formula | recommended |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, (metric_name, formula) in METRICS.items():
        metric = get(metric_name, variant="paper")
        takes = ", ".join(metric.inputs.required())
        asks = ", ".join(requests(metric)) or "-"
        recommended = "yes" if name in RECOMMENDED else ""
        yield f"| {name} | `{metric.signature}` | {takes} | {asks} | {formula} | {recommended} |"


def requests(metric: Metric[Any]) -> Iterator[str]:
    """The prompts that a metric asks, or the models that it needs without one."""
    asked = [prompt.id for prompt in metric.prompts_asked.values()]
    asked += [f"{part.metric}/{part.variant}" for part in metric.parts_used]
    yield from asked
    if "embedder" in metric.needs and not metric.parts_used:
        yield "vectors"


if __name__ == "__main__":
    main()
