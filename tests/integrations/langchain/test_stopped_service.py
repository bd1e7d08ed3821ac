"""A real service under uvicorn that is told to stop: what it captured is scored by the next process, once."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from ragmetrics_core.models import CallableJudge
from ragmetrics_langchain import RagMetricsCallbackHandler

pytest.importorskip("fastapi", reason="fastapi is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")

REQUESTS = 20
# The judge of the service never answers, so nothing is scored before the service ends. The socket is given to
# uvicorn when it already listens: requests wait in its queue until the service is up.
SERVICE = """
import socket, sys, threading
import uvicorn
from fastapi import FastAPI
from langchain_core.runnables import RunnableLambda
from ragmetrics_core.live import note_contexts
from ragmetrics_core.models import CallableJudge
from ragmetrics_langchain import RagMetricsCallbackHandler

judge = CallableJudge(function=lambda prompt: threading.Event().wait(), identity="ours")
handler = RagMetricsCallbackHandler(["faithfulness"], judge=judge, out=sys.argv[1])
app = FastAPI()

@app.get("/ask")
async def ask(question: str):
    async def answer(question):
        note_contexts(["It is red."])
        return "It is red."

    return await RunnableLambda(answer).ainvoke(question, {"callbacks": [handler]})

listening = socket.socket(fileno=int(sys.argv[2]))
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
"""


def replies(prompt: str) -> str:
    if '"verdicts"' in prompt:
        return '{"verdicts": [{"number": 1, "reason": "so", "evidence": "", "verdict": "yes"}]}'
    return '{"statements": ["It is red."], "declined": false}'


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a service that answered all requests and was then told to stop."""
    folder = tmp_path / "run"
    with socket.create_server(("127.0.0.1", 0), backlog=REQUESTS) as listening:
        port = listening.getsockname()[1]
        service = subprocess.Popen(
            [sys.executable, "-c", SERVICE, str(folder), str(listening.fileno())],
            pass_fds=[listening.fileno()],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        try:
            for number in range(REQUESTS):
                with urlopen(f"http://127.0.0.1:{port}/ask?question=Which%20{number}", timeout=60) as answer:
                    assert json.load(answer) == "It is red."
            service.send_signal(signal.SIGTERM)
            service.wait(60)
        finally:
            service.kill()
            service.wait()
    return folder


def samples(run: Path) -> list[str]:
    lines = [
        line
        for path in run.parent.glob(f"{run.name}*/records.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [json.loads(line)["sample_id"] for line in lines]


def test_what_a_service_captured_before_sigterm_is_scored_once_by_the_next_process(run):
    assert samples(run) == []

    judge = CallableJudge(function=replies, identity="ours")
    with RagMetricsCallbackHandler(["faithfulness"], judge=judge, out=run) as handler:
        handler.live.catch_up()
        assert handler.flush(60)

    scored = samples(run)
    assert (len(scored), len(set(scored))) == (REQUESTS, REQUESTS)
