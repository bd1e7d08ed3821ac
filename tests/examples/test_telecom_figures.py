"""Figures 2 and 3 of the telecom paper as pages: the scores of six cases, and all that they rest on."""

import json
import sys

import pytest

pytest.importorskip("wordllama", reason="needs the extra embedded: pip install 'ragmetrics-core[embedded]'")

from examples.telecom_figures import METRICS, figure_2, main, six_cases
from ragmetrics_core import Run
from tests.report.conftest import data_of

# FaiFul; TP, FP, FN; ConRel: counted in examples/data/telecom_figure3.json and in the contexts of the samples
CASES = {
    "tc-01": ("0 / 3 = 0", (1, 0, 0), "1 / 6 = 0.167"),
    "tc-02": ("0 / 1 = 0", (1, 0, 0), "2 / 10 = 0.2"),
    "tc-03": ("0 / 3 = 0", (0, 2, 1), "0 / 6 = 0"),
    "tc-04": ("2 / 2 = 1", (1, 0, 1), "0 / 5 = 0"),
    "tc-05": ("3 / 3 = 1", (1, 0, 0), "1 / 12 = 0.083"),
    "tc-06": ("2 / 2 = 1", (1, 0, 0), "1 / 7 = 0.143"),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    out = tmp_path_factory.mktemp("figures") / "pages"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["telecom_figures.py", "--out", str(out)])
        main()
    return out


@pytest.mark.parametrize("case", CASES)
def test_each_case_has_the_scores_of_its_intermediate_outputs(pages, case):
    run = Run.load(pages / "run")
    faithful, counts, relevant = CASES[case]
    correctness = run.score(case, "answer_correctness")
    parts = {part.metric: part for part in correctness.parts}
    facts = parts["factual_correctness"].counts
    tp, fp, fn = counts
    assert run.score(case, "faithfulness").formula == faithful
    assert tuple(facts[name] for name in ("num_tp", "num_fp", "num_fn")) == counts
    assert run.score(case, "context_relevance").formula == relevant
    similarity = parts["answer_similarity"].value
    assert correctness.value == pytest.approx(0.75 * tp / (tp + 0.5 * (fp + fn)) + 0.25 * similarity)


def test_the_page_of_figure_3_has_every_case_and_the_invented_sentence_is_marked(pages):
    page = json.dumps(data_of(pages / "figure3.html"), ensure_ascii=False)
    assert all(case["question"] in page for case in six_cases())
    score = Run.load(pages / "run").score("tc-02", "context_relevance")
    assert [verdict.supported for verdict in score.verdicts] == [True, False]
    assert score.verdicts[1].text in page


def test_figure_2_has_the_papers_metrics_with_its_recommendation(pages):
    rows = [line.strip("| ").split(" | ") for line in figure_2()][2:]
    assert [row[0] for row in rows] == list(METRICS)
    assert [row[0] for row in rows if row[-1] == "yes"] == ["FaiFul", "FacCor"]
    assert (pages / "figure2.md").read_text(encoding="utf-8").splitlines() == list(figure_2())
