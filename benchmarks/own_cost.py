"""Own cost of ragmetrics per judge call: CPU time around a judge that answers at once.

    python -m benchmarks.own_cost [--samples N] [--contexts K] [--repeat K] [--profile]

Contexts of 200 words, five metrics, prompts rendered, replies parsed, records written to a folder. The
scripted judge's own time is measured alone and taken off. Compare two versions in the same minute.
"""

import argparse
import asyncio
import cProfile
import json
import pstats
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.memory import peak_megabytes
from ragmetrics_core import Sample, aevaluate, evaluate
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.testing import ScriptedJudge

METRICS = ["faithfulness", "factual_correctness", "context_precision", "context_recall", "context_relevance"]
WORDS = (
    "network",
    "function",
    "selects",
    "a",
    "session",
    "and",
    "keeps",
    "its",
    "state",
    "while",
    "the",
    "link",
    "moves",
)


class Cost(NamedTuple):
    """CPU seconds and judge calls of one run."""

    seconds: float
    calls: int


class OwnCost(NamedTuple):
    """Microseconds a call: the scripted judge alone, then what ragmetrics adds."""

    calls: int
    alone: float
    best: float
    middle: float


def text(words: int, chance: random.Random) -> str:
    """Sentences of about twelve words."""
    drawn = [chance.choice(WORDS) for _ in range(words)]
    return " ".join(" ".join(drawn[start : start + 12]).capitalize() + "." for start in range(0, words, 12))


def samples(count: int, contexts: int) -> list[Sample]:
    """Samples of the size that the budget names."""
    chance = random.Random(7)
    return [
        Sample(
            id=f"s{number}",
            question=text(12, chance),
            answer=text(48, chance),
            contexts=tuple(text(200, chance) for _ in range(contexts)),
            reference=text(36, chance),
        )
        for number in range(count)
    ]


def reply(request: Generate[Any]) -> Completion:
    """A reply of the usual size in the form that the prompt asks for."""
    return Completion(text=REPLIES[request.prompt.answer.__name__](request), finish_reason="stop")


def verdicts(request: Generate[Any]) -> str:
    """A verdict with reason and evidence for each item."""
    shown: Any = request.variables.get("contexts") or [request.variables.get("reference", "")]
    quote = " ".join(shown[0].split()[12:18])
    reason = f'"reason": "the second sentence says so", "evidence": "{quote}"'
    one = '{{"number": {}, ' + reason + ', "verdict": "yes"}}'
    items: Any = request.variables["items"]
    return f'{{"verdicts": [{", ".join(one.format(item.number) for item in items)}]}}'


def statements(request: Generate[Any]) -> str:
    """A statement for each sentence, and whether the text declines where the prompt asks for it."""
    expected = request.expected
    entries = [
        {"sentence": number, "kind": "claim", "statements": [text]}
        for number, text in zip(expected.numbers, expected.items, strict=True)
    ]
    declined = {"declined": False, "reason": ""} if '"declined"' in request.prompt.user else {}
    return json.dumps({"sentences": entries} | declined)


REPLIES: dict[str, Callable[[Generate[Any]], str]] = {
    "StatementList": statements,
    "VerdictList": verdicts,
    "RelevantSentences": lambda _: '{"relevant": [1, 4, 7]}',
}


def run(data: Sequence[Sample]) -> Cost:
    """Evaluate once, with the run written to a folder."""
    judge = ScriptedJudge(reply)
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        evaluate(data, metrics=METRICS, judge=judge, out=Path(folder) / "run")
        return Cost(time.process_time() - start, len(judge.asked))


def judge_alone(requests: Sequence[Generate[Any]]) -> float:
    """CPU seconds that the scripted judge itself takes for these requests."""

    async def ask() -> None:
        judge = ScriptedJudge(reply)
        for request in requests:
            await judge.agenerate(request)

    start = time.process_time()
    asyncio.run(ask())
    return time.process_time() - start


def measure(*, count: int = 200, contexts: int = 1, repeat: int = 5) -> OwnCost:
    """Measure several runs, with the judge's own time taken off."""
    data = samples(count, contexts)
    run(data[:5])
    probe = ScriptedJudge(reply)
    evaluate(data, metrics=METRICS, judge=probe)
    alone = min(judge_alone(probe.asked) for _ in range(repeat))
    costs = [run(data) for _ in range(repeat)]
    calls = costs[0].calls
    own = sorted((cost.seconds - alone) / calls * 1e6 for cost in costs)
    return OwnCost(calls=calls, alone=alone / calls * 1e6, best=own[0], middle=own[repeat // 2])


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--samples", type=int, default=200)
    arguments.add_argument("--contexts", type=int, default=1)
    arguments.add_argument("--repeat", type=int, default=5)
    arguments.add_argument("--profile", action="store_true")
    given = arguments.parse_args()
    if given.profile:
        # `evaluate` works in a thread of its own, which a profile of this one would not show
        data = samples(given.samples, given.contexts)
        run(data[:5])
        profile = cProfile.Profile()
        profile.runcall(lambda: asyncio.run(aevaluate(data, metrics=METRICS, judge=ScriptedJudge(reply))))
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
        return
    found = measure(count=given.samples, contexts=given.contexts, repeat=given.repeat)
    print(
        f"{given.samples} samples with {given.contexts} x 200 words of context, "
        f"{len(METRICS)} metrics, {found.calls} judge calls a run"
    )
    print(f"scripted judge alone         {found.alone:7.1f} µs a call")
    for name, own in (("own cost, best run", found.best), ("own cost, middle run", found.middle)):
        print(f"{name:<28} {own:7.1f} µs a call")
    print(f"peak memory                  {peak_megabytes():7.0f} MB")


if __name__ == "__main__":
    main()
