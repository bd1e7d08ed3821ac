"""What live scoring takes of the application's time: the hooks of a root, in µs.

    python -m benchmarks.live_hooks [--roots N] [--threads K] [--repeat K]

A root begins, a retrieval begins in it and ends, and the root ends and is handed over: four hooks. The judge
answers at once, so the scorer's thread competes for the interpreter all the while. The budget is 1 ms for a
root; the first one starts the scorer's threads and is shown alone.
"""

import argparse
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from ragmetrics_core import Sample
from ragmetrics_core.live import Capture, Collector, LiveScorer, MemorySink

BUDGET = 1000.0
CONTEXTS = ["The session management function selects the user plane function. " * 25] * 5


class Hooks(NamedTuple):
    """Microseconds of one root: its beginning with a retrieval, and its end with the hand-over."""

    start: float
    end: float


class HookCost(NamedTuple):
    """What was measured: the first root, and the middle and the slowest percent of all others.

    Attributes:
        first: µs of the root that starts the threads.
        start, end: µs in the middle, of the hooks up to the last one and of the last one.
        root, slow: µs of a whole root, in the middle and at the 99th percentile.
    """

    first: float
    start: float
    end: float
    root: float
    slow: float


async def replies(text: str) -> str:
    """A judge that answers at once."""
    return '{"statements": [], "declined": false}'


def sample_of(capture: Capture) -> Sample:
    """What the background makes of a capture."""
    return Sample(question=capture.question, contexts=tuple(capture.contexts), answer=capture.answer)


def root(scorer: LiveScorer, collector: Collector, number: int) -> Hooks:
    """The hooks of one root."""
    run, step = (number, "root"), (number, "retriever")
    begin = time.perf_counter_ns()
    collector.start(run, None, {"input": "Which function selects the UPF?"})
    node = collector.start(step, run)
    node.payload = CONTEXTS
    collector.end(step)
    middle = time.perf_counter_ns()
    ended = collector.end(run)
    assert ended is not None
    scorer.submit(
        Capture(
            translate=sample_of,
            question=ended.payload["input"],
            contexts=list(ended.children[0].payload),
            answer="The SMF selects it.",
        )
    )
    return Hooks((middle - begin) / 1e3, (time.perf_counter_ns() - middle) / 1e3)


def measure(*, roots: int = 5000, threads: int = 1) -> HookCost:
    """Time the hooks while the scorer works."""
    collector = Collector()
    with LiveScorer("faithfulness", judge=replies, sinks=[MemorySink(10)], max_pending=roots) as scorer:
        first = root(scorer, collector, -1)
        start = threading.Barrier(threads)

        def work(thread: int) -> list[Hooks]:
            start.wait()
            return [root(scorer, collector, number) for number in range(thread, roots, threads)]

        with ThreadPoolExecutor(threads) as pool:
            found = [each for part in pool.map(work, range(threads)) for each in part]
    whole = [sum(each) for each in found]
    return HookCost(
        first=sum(first),
        start=statistics.median(each.start for each in found),
        end=statistics.median(each.end for each in found),
        root=statistics.median(whole),
        slow=statistics.quantiles(whole, n=100)[-1],
    )


def middle_of(runs: Sequence[HookCost], of: Callable[[HookCost], float]) -> float:
    """The median of several measurements."""
    return statistics.median(map(of, runs))


def main() -> int:
    """Measure and print; the exit code is 1 when the budget is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.live_hooks")
    parser.add_argument("--roots", type=int, default=5000)
    parser.add_argument("--threads", type=int, default=1, help="threads of the application")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    runs = [measure(roots=given.roots, threads=given.threads) for _ in range(given.repeat)]
    whole = middle_of(runs, lambda run: run.root)
    print(f"{given.roots} roots, {given.threads} threads, median of {given.repeat} runs, in µs")
    print(f"  begin, retrieve       {middle_of(runs, lambda run: run.start):8.1f}")
    print(f"  end and hand over     {middle_of(runs, lambda run: run.end):8.1f}")
    print(f"  all hooks of a root   {whole:8.1f}   (budget {BUDGET:.0f})")
    print(f"  99th percentile       {middle_of(runs, lambda run: run.slow):8.1f}")
    print(f"  first root, with the start of all threads {middle_of(runs, lambda run: run.first):.0f}")
    return int(whole > BUDGET)


if __name__ == "__main__":
    sys.exit(main())
