"""A test set of questions serves to compare retrievers of the three frameworks."""

import json

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.questions import generate_questions
from tests.integrations.running_examples import needs, run_example
from tests.questions.towers import Towers, documents


@pytest.mark.parametrize(
    ("example", "retrievers"),
    [
        pytest.param(
            "questions_langchain",
            ("short", "long"),
            marks=needs("wordllama", "langchain", "xllamacpp", "langchain_text_splitters"),
        ),
        pytest.param(
            "questions_llama_index",
            ("short", "long"),
            marks=needs("wordllama", "llama_index", "xllamacpp"),
        ),
        pytest.param(
            "questions_haystack", ("bm25", "vectors"), marks=needs("wordllama", "haystack", "xllamacpp")
        ),
    ],
)
def test_chunks_of_any_splitter_are_compared_by_the_quotes_of_a_set(
    example, retrievers, monkeypatch, tmp_path
):
    # six documents of one sentence: each is a chunk, and the right one is among the three best
    judge = Towers().judge
    generate_questions(
        documents(), judge=judge, per={"country": 2}, out=tmp_path / "set", first_hit_share=1.0
    )
    arguments = [str(tmp_path / "set"), str(tmp_path), "--k", "3"]
    run_example(monkeypatch, example, *arguments, instead={})

    for name in retrievers:
        file = tmp_path / f"{name}.jsonl"
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        assert [len(row["context_ids"]) for row in rows] == [3, 3, 3, 3]
        assert [len(row["reference_context_ids"]) for row in rows] == [1, 1, 1, 1]
        assert evaluate(file, metrics="retrieval_recall").mean("retrieval_recall").value == 1.0


@needs("aiohttp", "wordllama")
def test_the_replay_of_a_small_models_run_keeps_the_questions_that_its_quotes_prove(
    monkeypatch, tmp_path, capsys
):
    run_example(monkeypatch, "questions_replay", str(tmp_path / "set"), instead={})

    printed = capsys.readouterr().out
    assert printed.startswith("This is a replay")
    assert "7 questions kept, 5 candidates dropped" in printed
    assert "Computed again from the records: the same" in printed
