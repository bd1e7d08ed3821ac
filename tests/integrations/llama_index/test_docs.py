"""What the page and the example say is what happens."""

import importlib.util
import re
import runpy
import sys
from pathlib import Path

import pytest
from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY

from tests.integrations.llama_index.fakes import (
    FunctionLLM,
    FunctionRetriever,
    WordEmbedding,
    judge_llm,
    qa_engine,
)

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "llama_index.md").read_text(encoding="utf-8")


def test_every_snippet_of_the_page_runs_and_prints_what_it_says(capsys):
    snippets = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    texts = ["The tower is 300 m high."]
    names = {
        "llm": judge_llm(),
        "embed_model": WordEmbedding(),
        "query_engine": qa_engine(lambda question: texts[0], lambda question: texts),
        "retriever": FunctionRetriever(lambda question: texts),
    }
    before = dict(METRIC_REGISTRY)
    try:
        for snippet in snippets:
            exec(compile(snippet, "docs/llama_index.md", "exec"), names)
    finally:
        METRIC_REGISTRY.clear()
        METRIC_REGISTRY.update(before)

    printed = capsys.readouterr().out
    promised = re.findall(r"^print\(.*\)  # (.*)$", "\n".join(snippets), re.MULTILINE)
    assert len(snippets) >= 10
    assert len(promised) >= 3
    assert [each for each in promised if each not in printed] == []


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
