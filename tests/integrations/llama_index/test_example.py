"""What the example says is what happens."""

import importlib.util
import re
import runpy
import sys
from pathlib import Path

import pytest

from ragmetrics_core import Run
from tests.integrations.llama_index.fakes import FunctionLLM

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.skipif(
    any(importlib.util.find_spec(each) is None for each in ("xllamacpp", "wordllama")),
    reason="needs the extras embedded and llama",
)
def test_the_example_prints_the_table_one_proof_and_live_scores(capsys, monkeypatch):
    example = runpy.run_path(str(ROOT / "examples" / "llama_index_loop.py"), run_name="example")
    # the small model takes minutes where it shares its processors; any model will do here
    example["main"].__globals__["SmallModel"] = lambda: FunctionLLM(lambda prompt: prompt.partition("\n")[0])
    monkeypatch.setattr(sys, "argv", ["llama_index_loop.py", "--questions", "2"])

    example["main"]()

    printed = capsys.readouterr().out
    assert re.search(r"faithfulness +correctness +context recall +LlamaIndex's own", printed)
    assert "computed again from its record: ok" in printed
    assert "is the mean of 2" in printed


@pytest.mark.skipif(
    any(importlib.util.find_spec(each) is None for each in ("xllamacpp", "wordllama", "scipy")),
    reason="needs the extras embedded, llama and study",
)
def test_ways_of_retrieving_are_compared_with_intervals(capsys, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    example = runpy.run_path(str(ROOT / "examples" / "llama_index_multi_query.py"), run_name="example")
    example["main"].__globals__["SmallModel"] = lambda: FunctionLLM(lambda prompt: prompt.partition("\n")[0])
    monkeypatch.setattr(
        sys, "argv", ["llama_index_multi_query.py", "--questions", "2", "--out", str(tmp_path)]
    )

    example["main"]()

    printed = capsys.readouterr().out
    for name in ("multi-query", "reranked"):
        table = printed.partition(f"{name} against plain\n")[2].splitlines()
        assert [line.split()[0].partition("/")[0] for line in table[1:6]] == list(
            example["compare"].__globals__["METRICS"]
        )
        assert all(line.endswith(("cannot tell", "better", "worse")) for line in table[1:6])


@pytest.mark.skipif(
    any(importlib.util.find_spec(each) is None for each in ("xllamacpp", "wordllama", "scipy")),
    reason="needs the extras embedded, llama and study",
)
def test_a_reranker_that_drops_what_was_relevant_is_named(capsys, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    example = runpy.run_path(str(ROOT / "examples" / "llama_index_reranker.py"), run_name="example")
    example["main"].__globals__["SmallModel"] = lambda: FunctionLLM(lambda prompt: prompt.partition("\n")[0])
    arguments = ["--questions", "3", "--keep", "0", "--out", str(tmp_path / "run")]
    monkeypatch.setattr(sys, "argv", ["llama_index_reranker.py", *arguments])

    example["main"]()

    printed = capsys.readouterr().out
    assert re.search(r"retrieved +VectorIndexRetriever +\S+(, \S+){5}\n", printed)
    lost = printed.partition("where they were lost\n")[2].partition("\n\n")[0].splitlines()
    # one relevant passage for each of the three questions; the search finds all, the reranker keeps none
    assert len(lost) == 3
    assert all(line.endswith("filtered ByWords") for line in lost)
    assert all(sample.contexts == () for sample in Run.load(tmp_path / "run").samples())
