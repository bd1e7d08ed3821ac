"""A run with `redact` that is killed while replies come, and goes on: nothing private is ever on the disk."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Run, evaluate
from ragmetrics_core.models import OpenAIJudge
from tests.faults import children
from tests.secrets.planted import KEY, NAME, held, without_name
from tests.servers import Answer, OpenAIServer, Seen, chat

ROWS = [
    {"id": str(number), "question": f"{number}?", "answer": f"{NAME} {number}.", "contexts": [f"{NAME}."]}
    for number in range(60)
]


def gossip(seen: Seen) -> Answer:
    """Replies, and every third time an error, that hold the name and the key."""
    if sum(seen.body["messages"][-1]["content"].encode()) % 3 == 0:
        return Answer(status=400, body={"error": {"message": f"{NAME} and {KEY}"}})
    asked = seen.body["messages"][1]["content"]
    if '"statements"' in asked:
        return chat(json.dumps({"statements": [f"It was {NAME}."], "declined": False}))
    if '"relevant"' in asked:
        return chat(json.dumps({"relevant": [1]}))
    verdict = {"number": 1, "reason": f"{NAME} said {KEY}", "evidence": NAME, "verdict": "yes"}
    return chat(json.dumps({"verdicts": [verdict]}))


def measured(out: Path, base_url: str, rows: Any = ROWS) -> Run:
    return evaluate(
        rows,
        metrics=["faithfulness", "context_relevance"],
        judge=OpenAIJudge("judge", base_url=base_url, api_key=KEY),
        out=out,
        concurrency=4,
        redact=without_name,
    )


def test_a_run_that_is_killed_and_goes_on_never_has_what_is_private_on_the_disk(tmp_path: Path):
    pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")
    out = tmp_path / "run"
    with OpenAIServer(gossip) as server:
        for _ in range(2):
            child = children.start(measured, tmp_path / "child", out, server.base_url)
            asked = len(server.seen)
            child.wait_for(lambda asked=asked: len(server.seen) > asked + 25)
            child.kill()
            assert held(tmp_path, NAME, KEY) == {}
        run = measured(out, server.base_url)

    assert (out / "journal.sqlite").stat().st_size > 0
    assert held(tmp_path, NAME, KEY) == {}
    assert len(run) == len(ROWS)
    assert {record.status for record in run.records()} >= {"ok", "model_error"}
    assert dict(run.audit()) == {}
