"""A run whose judge answers by file, and somebody who answers."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragmetrics_core import Run
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.runs import Imported, export_wave, import_replies
from ragmetrics_core.testing import HashEmbedder, OverlapScorer, ScriptedJudge

__all__ = [
    "BOTH",
    "OTHERS",
    "ROWS",
    "SAMPLE",
    "STATEMENTS",
    "VERDICTS",
    "ByFile",
    "Give",
    "Post",
    "Requests",
    "batch_line",
    "failed_line",
    "plain_line",
    "requests_in",
    "scripted",
    "write",
]

# the models beside the judge
OTHERS = {"embedder": HashEmbedder(), "scorer": OverlapScorer()}
SAMPLE = {
    "id": "q1",
    "question": "Where was Einstein born?",
    "answer": "Einstein was born in Ulm, and he played the violin.",
    "contexts": ["Albert Einstein was born in Ulm. It lies on the Danube.", "He studied physics in Zurich."],
    "reference": "Einstein was born in Ulm, in Germany, in 1879.",
}
ROWS: list[dict[str, Any]] = [
    SAMPLE,
    {**SAMPLE, "id": "q2", "answer": "In Ulm.", "contexts": ["In Zürich, \U0001f3bb."]},
    {"id": "q3", "question": "Who was born?", "answer": "Nobody knows.", "contexts": ["Nobody."]},
]
STATEMENTS = '{"statements": ["He was born in Ulm."], "declined": false}'
VERDICTS = '{"verdicts": [{"number": 1, "verdict": "yes"}]}'
BOTH = {"statements": STATEMENTS, "verdicts": VERDICTS}

Requests = list[dict[str, Any]]
Give = Callable[[dict[str, Any]], Completion]


class ByFile(ScriptedJudge):
    """A judge that must not be asked by a call; it notes in a request what its reply depends on."""

    def __init__(self, identity: str = "any") -> None:
        super().__init__({}, identity=identity)

    def body(self, request: Generate[Any]) -> Mapping[str, object]:
        return {
            "by": self.identity,
            "digest": request.digest,
            "draw": request.draw,
            "prompt": request.prompt.name,
        }

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        raise AssertionError("the judge is asked by file")


def requests_in(path: Path) -> Requests:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def batch_line(request: Mapping[str, Any], reply: Completion) -> dict[str, Any]:
    """A reply as a batch interface gives it back."""
    assert reply.usage
    choice = {
        "index": 0,
        "finish_reason": reply.finish_reason,
        "message": {"role": "assistant", "content": reply.text},
    }
    body = {"object": "chat.completion", "model": reply.model, "choices": [choice]}
    body["usage"] = {**reply.usage._asdict(), "total_tokens": sum(reply.usage)}
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": request["custom_id"], "response": response, "error": None}


def failed_line(request: Mapping[str, Any], message: str = "overloaded") -> dict[str, Any]:
    response = {"status_code": 500, "body": {"error": {"message": message}}}
    return {"custom_id": request["custom_id"], "response": response, "error": None}


def plain_line(request: Mapping[str, Any], text: str) -> dict[str, Any]:
    return {"custom_id": request["custom_id"], "reply": text}


def write(path: Path, lines: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


class Post:
    """A run that is asked by file: `export`, `take` replies, and so on.

    Args:
        folder: where everything is.
        rows: the samples.
        judges: the judges.
        arguments: the others of the run.
    """

    def __init__(
        self, folder: Path, rows: Sequence[Any] = ROWS, judges: Sequence[Any] = (ByFile(),), **arguments: Any
    ) -> None:
        self.out = folder / "run"
        self.requests = folder / "wave.jsonl"
        self.replies = folder / "replies.jsonl"
        self.rows = rows
        self.arguments = {"panel": judges, **OTHERS, **arguments}
        self.waves = 0
        self.run: Run

    def export(self) -> Requests:
        """The open requests."""
        self.waves += 1
        assert self.waves < 100, "the run never becomes complete"
        wave = export_wave(self.rows, self.requests, out=self.out, **self.arguments)
        found = requests_in(self.requests)
        assert len(found) == wave.waiting
        self.run = wave.run
        return found

    def take(self, *lines: Mapping[str, Any]) -> Imported:
        """Read replies back."""
        return import_replies(self.out, write(self.replies, lines))

    def until_complete(self, give: Give) -> None:
        """Answer wave after wave as a batch interface would."""
        while requests := self.export():
            self.take(*(batch_line(each, give(each["body"])) for each in requests))

    @property
    def status(self) -> str:
        """How the first sample's faithfulness ended."""
        return Run.load(self.out).score("q1", "faithfulness").status


def scripted(request: Mapping[str, Any]) -> dict[str, Any]:
    """The reply of a person to a request of `post`."""
    return plain_line(request, BOTH[request["body"]["prompt"]])
