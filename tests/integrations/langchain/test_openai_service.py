"""A FastAPI service with the real `ChatOpenAI`, which also judges: the service answers as without us.

`RAGMETRICS_ROUNDS=10` runs all ten rounds.
"""

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from ragmetrics_langchain import RagMetricsCallbackHandler
from tests.servers import Answer, OpenAIServer, Seen, chat, closed_port

langchain_openai = pytest.importorskip("langchain_openai")
fastapi = pytest.importorskip("fastapi")
responses = pytest.importorskip("fastapi.responses")
uvicorn = pytest.importorskip("uvicorn")

ROUNDS = int(os.environ.get("RAGMETRICS_ROUNDS", "1"))
REQUESTS = 200
CONTEXT = "The SMF selects the UPF."


def model_server(seen: Seen) -> Answer:
    """Answers as an application's model, and as its judge: one statement, supported."""
    text = " ".join(str(message["content"]) for message in seen.body["messages"])
    if "Answer from the context" in text:
        return streamed(CONTEXT) if seen.body.get("stream") else chat(CONTEXT)
    if "Split the answer" in text:
        return chat(json.dumps({"statements": [CONTEXT], "declined": False}))
    return chat(json.dumps({"verdicts": [{"number": 1, "reason": "it says so", "verdict": "yes"}]}))


def streamed(text: str) -> Answer:
    parts = [{"content": word + " "} for word in text.split()]
    chunks = [
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "served-model",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }
        for delta, reason in [*((part, None) for part in parts), ({}, "stop")]
    ]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    return Answer(body=body.encode(), content_type="text/event-stream")


def service(model: Any, handlers: list[RagMetricsCallbackHandler]) -> Any:
    """A chain as tutorials write it, behind three doors."""
    app = fastapi.FastAPI()
    prompt = ChatPromptTemplate.from_template("Answer from the context. {context}\n\n{question}")
    retrieve = RunnableLambda(lambda _: [CONTEXT])
    chain = (
        RunnablePassthrough.assign(context=retrieve).assign(answer=prompt | model | StrOutputParser())
    ).with_config(callbacks=list(handlers))

    @app.get("/ask")
    async def ask(number: int) -> str:
        return str((await chain.ainvoke({"question": f"Question {number}?"}))["answer"])

    @app.get("/stream")
    async def stream(number: int) -> Any:
        async def words() -> AsyncIterator[str]:
            async for chunk in chain.astream({"question": f"Question {number}?"}):
                yield chunk.get("answer", "")

        return responses.StreamingResponse(words())

    @app.get("/batch")
    async def batch(number: int) -> list[str]:
        replies = await asyncio.gather(
            *(chain.ainvoke({"question": f"Question {number}-{part}?"}) for part in range(2))
        )
        return [str(reply["answer"]) for reply in replies]

    return app


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The application in a uvicorn of its own."""
    port = closed_port()
    server = uvicorn.Server(
        uvicorn.Config(app, port=port, log_level="error", lifespan="off", loop="asyncio", http="h11")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    waiting = threading.Event()
    while not server.started:
        waiting.wait(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


async def statuses(url: str, count: int) -> list[int]:
    """The status codes of so many requests at once."""
    limits = httpx.Limits(max_connections=count)
    async with httpx.AsyncClient(timeout=120, limits=limits) as client:
        replies = await asyncio.gather(*(client.get(url, params={"number": n}) for n in range(count)))
        return [reply.status_code for reply in replies if CONTEXT.split(maxsplit=1)[0] in reply.text]


@pytest.mark.parametrize(
    ("door", "samples_each", "count"), [("ask", 1, 1), ("stream", 1, 1), ("batch", 2, 1), ("ask", 1, 2)]
)
def test_the_applications_own_model_judges_and_every_request_is_answered(door, samples_each, count):
    with OpenAIServer(model_server) as models:
        settings: dict[str, Any] = {"base_url": models.base_url, "api_key": "none", "max_retries": 0}
        model = langchain_openai.ChatOpenAI(model="served-model", **settings)
        handlers = [
            RagMetricsCallbackHandler("faithfulness", judge=model, max_pending=10_000) for _ in range(count)
        ]
        with served(service(model, handlers)) as address:
            for _ in range(ROUNDS):
                codes = asyncio.run(statuses(f"{address}/{door}", REQUESTS))
                assert codes == [200] * REQUESTS
            for handler in handlers:
                assert handler.flush(timeout=300)

        for handler in handlers:
            assert handler.stats.scored == ROUNDS * REQUESTS * samples_each
            assert handler.means["faithfulness"] == (1.0, ROUNDS * REQUESTS * samples_each)
            handler.close()
