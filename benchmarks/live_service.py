"""What a live handler costs a busy LangChain application, beside no handler and LangChain's own tracer.

    python -m benchmarks.live_service [--requests N] [--rounds K]

All requests are started at once, so that the machine is saturated: each retrieves four documents, formats
them and asks a model that answers after 20 ms. Rounds of the four handlers alternate in one process, and what
a round leaves to be scored is scored before the next one begins. The judge answers at once, so what competes
with the application is the scorer itself: prompts, parsers, records and files.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

from ragmetrics_langchain import RagMetricsCallbackHandler

DOCUMENTS = [
    Document(page_content="The session management function selects the user plane function. " * 15)
] * 4
QUESTION = "Which function selects the user plane function?"


class Round(NamedTuple):
    """Milliseconds of one round's requests."""

    median: float
    slow: float
    whole: float


def application() -> Runnable[str, str]:
    """A chain as tutorials write it, with parts that answer by themselves."""

    async def retrieve(question: str) -> list[Document]:
        await asyncio.sleep(0.005)
        return DOCUMENTS

    async def answer(prompt: object) -> str:
        await asyncio.sleep(0.02)
        return "The session management function selects it."

    def text(documents: Sequence[Document]) -> str:
        return "\n\n".join(each.page_content for each in documents)

    prompt = ChatPromptTemplate.from_template("Answer from this:\n{context}\n\n{question}")
    found = {"context": RunnableLambda(retrieve) | text, "question": RunnablePassthrough()}
    return found | prompt | RunnableLambda(answer)


def replies(prompt: str) -> str:
    """A judge that answers at once."""
    if '"verdicts"' in prompt:
        return '{"verdicts": [{"number": 1, "reason": "it says so", "verdict": "yes"}]}'
    return '{"statements": ["The session management function selects it."], "declined": false}'


async def served(app: Runnable[str, str], requests: int, handler: BaseCallbackHandler | None) -> Round:
    """Answer all requests at once."""
    config: Any = {"callbacks": [handler]} if handler else {}

    async def request() -> float:
        start = time.perf_counter()
        await app.ainvoke(QUESTION, config)
        return (time.perf_counter() - start) * 1e3

    start = time.perf_counter()
    times = await asyncio.gather(*(request() for _ in range(requests)))
    whole = (time.perf_counter() - start) * 1e3
    return Round(statistics.median(times), statistics.quantiles(times, n=100)[-1], whole)


def handlers(folder: Path) -> dict[str, Callable[[], BaseCallbackHandler | None]]:
    """What is compared."""
    ours = RagMetricsCallbackHandler("faithfulness", judge=replies, out=folder / "run", max_pending=100_000)
    return {
        "no handler": lambda: None,
        "an empty handler": BaseCallbackHandler,
        "LangChain's tracer": RunCollectorCallbackHandler,
        "ragmetrics": lambda: ours,
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.live_service")
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    app = application()
    rounds: dict[str, list[Round]] = {}
    with tempfile.TemporaryDirectory() as folder:
        compared = handlers(Path(folder))
        for number in range(given.rounds + 1):
            for name, make in compared.items():
                handler = make()
                measured = asyncio.run(served(app, given.requests, handler))
                if isinstance(handler, RagMetricsCallbackHandler):
                    handler.flush(120)
                if number:  # the first round loads modules and starts threads
                    rounds.setdefault(name, []).append(measured)
        handler = compared["ragmetrics"]()
        assert isinstance(handler, RagMetricsCallbackHandler)
        handler.flush(120)
        scored = handler.stats
        handler.close()
    base = statistics.median(each.median for each in rounds["no handler"])
    print(f"{given.requests} requests at once, {given.rounds} rounds, in ms")
    print(f"{'':20}{'median':>9}{'ratio':>8}{'99 %':>9}{'all':>9}")
    for name, all_measured in rounds.items():
        median, slow, whole = (statistics.median(values) for values in zip(*all_measured, strict=True))
        print(f"{name:20}{median:9.1f}{median / base:8.2f}{slow:9.1f}{whole:9.1f}")
    print(f"of the captures: {scored}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
