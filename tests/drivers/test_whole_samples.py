"""A budget is spent on whole samples, and a function that hangs does not keep a script from ending."""

import subprocess
import sys

import pytest

from ragmetrics_core import Sample, evaluate
from tests.live.captures import supports
from tests.live.suite import ROOT

ANSWER = "The SMF selects the UPF."


async def answered(text: str) -> str:
    return supports(text)


def numbered(count: int) -> list[Sample]:
    """Samples of two calls each, none of which is shared."""
    return [
        Sample(
            id=f"s{number}",
            question=f"Who selects UPF {number}?",
            contexts=(f"{ANSWER} {number}",),
            answer=ANSWER,
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("limit", [2, 5, 50, 51, 300])
def test_a_limit_on_calls_gives_whole_samples_with_any_number_in_flight(limit: int):
    # two calls a sample: half the limit, and all samples beyond twice their number
    run = evaluate(numbered(60), metrics="faithfulness", judge=answered, concurrency=64, max_calls=limit)
    (mean,) = run.means()
    assert (mean.n, mean.statuses.get("cancelled", 0)) == (min(limit // 2, 60), 60 - min(limit // 2, 60))
    assert run.tally["calls"] <= limit


def test_a_limit_on_tokens_gives_whole_samples_too():
    whole = evaluate(numbered(10), metrics="faithfulness", judge=answered)
    assert whole.means()[0].n == 10
    run = evaluate(numbered(60), metrics="faithfulness", judge=answered, concurrency=64, max_tokens=10_000)
    started = run.tally["calls"]
    assert run.means()[0].n >= started // 2 - 1  # one at the end may be cut


HANGS = """
import threading
from ragmetrics_core import Sample, evaluate

def hangs(text):
    threading.Event().wait()

sample = Sample(question="Who?", contexts=("The SMF.",), answer="The SMF.")
run = evaluate([sample], metrics="faithfulness", judge=hangs, timeout=0.1, attempts=2)
print(run.means()[0].statuses)
"""


def test_a_script_ends_though_its_function_hangs():
    done = subprocess.run(
        [sys.executable, "-c", HANGS], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "{'timeout': 1}\n"
