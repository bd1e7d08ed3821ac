"""A journal whose contents somebody wrote: counts, names and replies that no server could have sent."""

import json
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Run, evaluate
from ragmetrics_core.errors import RagMetricsError
from ragmetrics_core.models import CallableJudge

ROW = {"id": "1", "question": "Where?", "answer": "In Ulm.", "contexts": ["In Ulm."]}


def said(prompt: str) -> str:
    if "statements" in prompt and "verdicts" not in prompt:
        return '{"statements": ["In Ulm."], "declined": false}'
    return '{"verdicts": [{"number": 1, "reason": "so", "evidence": "In Ulm.", "verdict": "yes"}]}'


def evaluated(place: Path) -> Run:
    judge = CallableJudge(function=said, identity="mine")
    return evaluate(
        [ROW], metrics="faithfulness", judge=judge, out=place / "run", cache=place / "calls.sqlite"
    )


def craft(place: Path, change: Any) -> None:
    """Change each answer and sign it as the journal does; the run itself goes."""
    with closing(sqlite3.connect(place / "calls.sqlite")) as database, database:
        for address, body in database.execute("SELECT address, body FROM calls").fetchall():
            changed = change(json.loads(body))
            made = changed if isinstance(changed, bytes) else json.dumps(changed).encode()
            seal = sha256(address + made).digest()[:16]
            database.execute("UPDATE calls SET body = ?, digest = ? WHERE address = ?", (made, seal, address))
    for file in (place / "run").iterdir():
        file.unlink()


CONTENTS: dict[str, Any] = {
    "huge counts": {"usage": [10**400, -5]},
    "negative counts": {"usage": [-(10**6), -1]},
    "counts that are texts": {"usage": ["a", {}]},
    "an object of counts": {"usage": {"a": 1, "b": 2}},
    "a list for a name": {"model": ["x"]},
    "a megabyte of a name": {"model": "x" * 10**6},
    "a name that steers": {"model": "\x1b[2J\ud800"},
    "an object for a reason": {"finish_reason": {"a": 1}},
    "a megabyte of a reason": {"finish_reason": "y" * 10**6},
    "half a character": {"finish_reason": "\ud800", "text": "\ud800"},
    "no text": {"text": None},
    "a list of a text": {"text": ["x"]},
    "another kind": {"kind": "rating", "rating": 1.0},
    "what is unknown": {"more": [[[]]] * 1000},
}


@pytest.mark.parametrize("how", CONTENTS)
def test_whatever_a_journal_holds_a_run_ends_with_scores_or_a_sentence_and_opens(how: str, tmp_path: Path):
    evaluated(tmp_path)
    craft(tmp_path, lambda body: body | CONTENTS[how])

    try:
        run = evaluated(tmp_path)
    except RagMetricsError as error:
        told = str(error)
        assert len(told) < 600, told[:600]
        return
    again = Run.load(tmp_path / "run")
    assert all(0 <= count < 2**63 for count in again.tally.values())
    assert [difference for _, found in again.audit() for difference in found] == []
    assert all(len(step.model or "") <= 300 for record in run.records() for step in record.steps)


@pytest.mark.parametrize(
    "body", [b"", b"[" * 100_000, b"\xff", b'{"kind":"reply","text":', b"vector <f8 <f4\n123"]
)
def test_an_answer_that_is_none_is_asked_again_or_told(body: bytes, tmp_path: Path):
    evaluated(tmp_path)
    craft(tmp_path, lambda _: body)

    try:
        statuses = [record.status for record in evaluated(tmp_path).records()]
    except RagMetricsError as error:
        statuses = [str(error)]
    assert statuses == ["ok"] or len(statuses[0]) < 600
