"""One evaluation against a server, in a process of its own, which then prints its times as JSON.

Run by `throughput`: python -m benchmarks.one_run BASE_URL --in-flight N --samples N [--bare]

With --bare nothing is evaluated: the official client alone posts the bodies of the same calls, as
`OpenAIJudge` and `OpenAIEmbedder` post them, and reads the JSON of the answers.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import openai
from openai import HttpxBinaryResponseContent as Response

from benchmarks.memory import peak_megabytes
from benchmarks.workload import METRICS, LocalEmbedder, LocalJudge, samples
from ragmetrics_core import evaluate
from ragmetrics_core.models import OpenAIEmbedder, OpenAIJudge

__all__ = ["Post", "posts"]


class Post(NamedTuple):
    """A call as the client makes it."""

    path: str
    body: Mapping[str, object]


def posts(count: int) -> list[Post]:
    """The calls that an evaluation of so many samples makes."""
    judge, embedder = LocalJudge(keep=True), LocalEmbedder()
    evaluate(samples(count), metrics=METRICS, judge=judge, embedder=embedder)
    return list(_posts(judge, embedder.asked))


def _posts(judge: LocalJudge, embedded: Sequence[Sequence[str]]) -> Iterator[Post]:
    for request in judge.asked:
        messages = [{"role": each.role, "content": each.content} for each in request.messages]
        yield Post("/chat/completions", {"model": "judge", "messages": messages, "temperature": 0.0})
    for texts in embedded:
        yield Post("/embeddings", {"model": "embedder", "input": texts, "encoding_format": "base64"})


class Times(NamedTuple):
    """Seconds that a run took."""

    wall: float
    cpu: float


class Watch:
    """Measures from when it is made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def times(self) -> Times:
        """The seconds until now."""
        return Times(time.perf_counter() - self._wall, time.process_time() - self._cpu)


async def bare(base_url: str, calls: Sequence[Post], *, in_flight: int) -> Times:
    """Make the calls with the official client alone; what setting it up costs is not the calls' time."""
    left = iter(calls)
    async with openai.AsyncOpenAI(
        base_url=base_url, api_key="-", max_retries=0, http_client=openai.DefaultAioHttpClient()
    ) as client:

        async def post(call: Post) -> None:
            json.loads((await client.post(base_url + call.path, cast_to=Response, body=call.body)).content)

        async def work() -> None:
            for call in left:
                await post(call)

        await post(calls[0])
        watch = Watch()
        await asyncio.gather(*(work() for _ in range(in_flight)))
        return watch.times()


def main() -> None:
    """Run once and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("base_url")
    parser.add_argument("--in-flight", type=int, required=True)
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--bare", action="store_true")
    given = parser.parse_args()
    calls = posts(given.samples) if given.bare else []
    judge = OpenAIJudge("judge", base_url=given.base_url)
    embedder = OpenAIEmbedder("embedder", base_url=given.base_url)
    data = list(samples(given.samples))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        if given.bare:
            times = asyncio.run(bare(given.base_url, calls, in_flight=given.in_flight))
        else:
            watch = Watch()
            run = evaluate(
                data,
                metrics=METRICS,
                judge=judge,
                embedder=embedder,
                concurrency=given.in_flight,
                out=Path(folder) / "run",
            )
            times = watch.times()
            failed = sum(record.status != "ok" for record in run.records())
    json.dump({**times._asdict(), "memory": peak_megabytes(), "failed": failed}, sys.stdout)


if __name__ == "__main__":
    main()
