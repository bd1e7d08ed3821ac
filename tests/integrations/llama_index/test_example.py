"""What the example says is what happens."""

import re

from ragmetrics_core import Run
from tests.integrations.llama_index.fakes import FunctionLLM
from tests.integrations.running_examples import assert_compared, assert_lost, needs, run_example

MODEL = {"SmallModel": lambda: FunctionLLM(lambda prompt: prompt.partition("\n")[0])}
needs_models = needs("xllamacpp", "wordllama")
needs_study = needs("xllamacpp", "wordllama", "scipy")


@needs_models
def test_the_example_prints_the_table_one_proof_and_live_scores(capsys, monkeypatch):
    run_example(monkeypatch, "llama_index_loop", "--questions", "2", instead=MODEL)

    printed = capsys.readouterr().out
    assert re.search(r"faithfulness +correctness +context recall +LlamaIndex's own", printed)
    assert "computed again from its record: ok" in printed
    assert "is the mean of 2" in printed


@needs_study
def test_ways_of_retrieving_are_compared_with_intervals(capsys, monkeypatch, tmp_path):
    arguments = ["--questions", "2", "--out", str(tmp_path)]
    example = run_example(monkeypatch, "llama_index_multi_query", *arguments, instead=MODEL)

    assert_compared(capsys.readouterr().out, example, "multi-query", "reranked")


@needs_study
def test_a_reranker_that_drops_what_was_relevant_is_named(capsys, monkeypatch, tmp_path):
    arguments = ["--questions", "3", "--keep", "0", "--out", str(tmp_path / "run")]
    run_example(monkeypatch, "llama_index_reranker", *arguments, instead=MODEL)

    printed = capsys.readouterr().out
    assert re.search(r"retrieved +VectorIndexRetriever +\S+(, \S+){5}\n", printed)
    assert_lost(printed, "filtered ByWords")
    # nothing is left, so no model is called
    assert all(sample.contexts is None for sample in Run.load(tmp_path / "run").samples())
