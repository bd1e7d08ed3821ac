"""`study funnel`: which component lost the relevant chunks."""

import json

from ragmetrics_core import evaluate

ROW = {
    "question": "When do ferries cross?",
    "answer": "At seven.",
    "contexts": ["The mill grinds rye."],
    "reference_context_ids": ["gold"],
    "stages": [
        {
            "name": "retrieved",
            "component": "search",
            "chunks": [
                {"text": "Ferries cross the sound at seven.", "id": "gold", "rank": 1},
                {"text": "The mill grinds rye.", "id": "other", "rank": 2},
            ],
        },
        {
            "name": "reranked",
            "component": "ranker",
            "chunks": [{"text": "The mill grinds rye.", "id": "other", "rank": 1}],
        },
    ],
    "request_messages": [{"role": "user", "content": "The mill grinds rye. When do ferries cross?"}],
}


def test_the_ranker_that_drops_the_relevant_chunk_is_named(command, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(ROW), encoding="utf-8")
    evaluate(str(file), metrics="faithfulness", judge="embedded", out=tmp_path / "run")
    outcome = command("study funnel", tmp_path / "run", "--table lost --format csv")
    assert outcome.out.splitlines() == ["stage,component,lost", "reranked,ranker,1"]


def test_the_page_of_a_sample_shows_its_stages_and_where_each_context_stands(command, tmp_path):
    evaluate([ROW], metrics="faithfulness", judge="embedded", out=tmp_path / "run")
    page = command("show", tmp_path / "run", "s-", "--width 120").out
    assert "1 chunk, 1 verified" in page
    assert "1 chunk by ranker" in page
    assert "verified in message 1, 0 to 20" in command("show", tmp_path / "run", "s-", "faithfulness").out


def test_the_audit_tells_contexts_that_the_model_was_not_sent(command, tmp_path):
    row = {**ROW, "contexts": ["Owls hunt by ear in the dark."]}
    evaluate([row], metrics="faithfulness", judge="embedded", out=tmp_path / "run")
    outcome = command("audit", tmp_path / "run")
    assert outcome.code == 0
    assert "1 absent" in outcome.out
    assert "context 1 not in what the model was sent" in outcome.out


def test_with_strict_shown_such_contexts_have_no_score(command, tmp_path):
    row = {**ROW, "contexts": ["Owls hunt by ear in the dark."]}
    run = evaluate([row], metrics="faithfulness", judge="embedded", strict_shown=True)
    (record,) = run.records()
    assert (record.status, record.value) == ("unverified_contexts", None)
