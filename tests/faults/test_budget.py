"""Limits of calls, tokens and cost while calls fail: the run stops there, and goes on with a higher limit."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.server import ServerProcess, Settings
from ragmetrics_core.runs import Run
from tests.faults import children
from tests.faults.scores import Scores, failed_in, scores_of, undisturbed, written

SAMPLES, IN_FLIGHT = 20, 4
# The judge is asked 160 times. Each answer has 250 tokens; at these prices, for a million of them, it costs
# 200 × 100 + 50 × 400 = 40,000 millionths. A call that failed costs nothing.
PROMPT, COMPLETION = 200, 50
PRICES = {"judge": {"prompt": 100.0, "completion": 400.0}}
COST = 0.04
STEADY = Settings(latency=0.01, prompt_tokens=PROMPT, completion_tokens=COMPLETION)
FAILING = Settings(
    latency=0.01,
    jitter=0.02,
    faults={"429": 0.05, "500": 0.15, "reset": 0.05, "cut": 0.05},
    retry_after=0.05,
    prompt_tokens=PROMPT,
    completion_tokens=COMPLETION,
)


@pytest.fixture(scope="module")
def alone() -> Scores:
    return undisturbed(SAMPLES)


@pytest.mark.parametrize(
    ("option", "limit", "told"),
    [
        ("--max-calls", 60, "the run may make no more than 60 calls"),
        ("--max-tokens", 15_000, "the run may use no more than 15,000 tokens"),
        ("--max-cost", 2.4, "the run may cost no more than 2.4"),
    ],
)
def test_a_limit_holds_while_calls_fail_and_a_higher_one_completes_the_run(
    tmp_path: Path, server: ServerProcess, alone: Scores, option: str, limit: float, told: str
):
    data, out = written(tmp_path, SAMPLES), tmp_path / "run"
    server.set(FAILING)
    ended = evaluated(server, data, out, option, limit).end()
    assert (ended.code, "Traceback" in ended.err) == (0, False)
    assert told in " ".join(ended.out.split())

    counts, run = server.counts(), Run.load(out)
    assert {"429", "500", "reset", "cut"} & set(counts.outcomes)
    assert run.tally["calls"] == counts.chats
    spent = spent_in(run)[option]
    # Calls are counted when they are made. What a call uses is known only after its reply, and one that may
    # fail may also succeed: of those in flight, each may be one too many.
    late = {"--max-calls": 0.0, "--max-tokens": PROMPT + COMPLETION, "--max-cost": COST}[option]
    assert 0.75 * limit < spent <= limit + IN_FLIGHT * late

    # each score has a value or says why it has none, and the rest was cancelled
    assert run.finished
    assert set(run.keys) == alone.keys()
    statuses = Counter(failed_in(run).values())
    assert statuses.keys() <= {"cancelled", "model_error"}
    assert statuses["cancelled"] > 0
    assert scores_of(run).items() <= alone.items()
    assert list(run.audit()) == []

    # nothing is asked beyond a limit that is reached at once
    assert evaluated(server, data, out, option, 0).end().code in {0, 1}
    assert server.counts().chats == counts.chats

    server.set(STEADY)
    assert evaluated(server, data, out, option, 100 * limit).end().code == 0
    again = Run.load(out)
    assert scores_of(again) == alone
    assert list(again.audit()) == []
    # no call was paid for twice
    assert max(server.counts().answered.values()) == 1


def spent_in(run: Run) -> Mapping[str, float]:
    """What the judge was asked and used so far, by the option that limits it."""
    prompt, completion = run.tally["prompt_tokens"], run.tally["completion_tokens"]
    price = PRICES["judge"]
    return {
        "--max-calls": run.tally["calls"],
        "--max-tokens": prompt + completion,
        "--max-cost": (prompt * price["prompt"] + completion * price["completion"]) / 1e6,
    }


def evaluated(server: ServerProcess, data: Path, out: Path, *more: object) -> children.Child:
    """The command that evaluates, with few calls in flight."""
    prices = out.with_name("prices.json")
    prices.write_text(json.dumps(PRICES), encoding="utf-8")
    words = "--prices", prices, "--concurrency", IN_FLIGHT, "--attempts", 2
    return children.evaluated(server, data, out, *words, *more)
